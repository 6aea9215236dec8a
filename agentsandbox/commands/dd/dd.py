"""`dd` (POSIX 1003.1-2017, GNU coreutils): copy and convert in blocks."""

from __future__ import annotations

import errno
import os
import stat

from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.commands.dd.options import DdOptions
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import Stream, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_MANNERS = Manners(
    Release("NAME (coreutils) 9.1"), bytewise=True, long_options="help version", unbuffered=True
)
_PARSER = OptionParser(
    "      --help  display this help and exit\n      --version  print the release\n",
    name="dd",
    long_options=_MANNERS.long_options,
)
_LARGEST = 2**63 - 1
_PIECE = 1 << 20
"""Bytes that are moved at a time, however large the blocks are."""

USAGE = """
Usage: dd [OPERAND]...
Copy a file, converting it as the operands say.

  bs=BYTES      read and write up to BYTES at a time (default: 512); overrides ibs and obs
  cbs=BYTES     the size of records for conv=block and conv=unblock
  conv=CONVS    conversions, separated by commas
  count=N       copy only N input blocks
  ibs=BYTES     read up to BYTES at a time
  if=FILE       read from FILE, not from standard input
  iflag=FLAGS   fullblock: read on until a block is full; count_bytes, skip_bytes: N counts bytes
  obs=BYTES     write BYTES at a time
  of=FILE       write to FILE, not to standard output
  oflag=FLAGS   append; seek_bytes: N counts bytes
  seek=N        leave out N output blocks at the start
  skip=N        leave out N input blocks at the start
  status=LEVEL  none: no statistics; noxfer: without the time; progress

N and BYTES may end in c (1), w (2), b (512), kB, K, MB, M and so on, N also in B (bytes); 2x3 is 6.
CONVS: block unblock lcase ucase sparse swab sync excl nocreat notrunc noerror fdatasync fsync
"""


class _Copy:
    """One run: streams, converters, and the count of records."""

    def __init__(self, ctx: CommandContext, options: DdOptions) -> None:
        self.ctx = ctx
        self.options = options
        self.started = ctx.host.clock()
        self.full_in = self.part_in = self.full_out = self.part_out = self.truncated = 0
        self.written = 0
        self.waiting = bytearray()
        self.column = 0  # conv=block: bytes of the record that is being filled
        self.pending_spaces = 0  # conv=unblock
        self.odd = b""  # conv=swab: a byte that waits for its neighbour
        self.source: ByteReader = ctx.stdin
        self.target: ByteWriter = ctx.stdout

    # opening

    def open(self) -> bool:
        """Open both files; return whether the input can be read."""
        options, ctx = self.options, self.ctx
        readable = True
        if options.input is not None:
            try:
                self.source = ctx.fs.open(ctx.path(options.input), "r")
            except IsADirectoryError:
                readable = False
            except OSError as error:
                raise CommandError(
                    f"failed to open {quote_always(options.input)}: {describe_os_error(error, '')}"
                ) from None
        if options.output is not None:
            try:
                self.target = self._open_target(options.output)
            except OSError as error:
                raise CommandError(
                    f"failed to open {quote_always(options.output)}: {describe_os_error(error, '')}"
                ) from None
        return readable

    def _open_target(self, name: str) -> File:
        conversions = self.options.conversions
        fs, path = self.ctx.fs, self.ctx.path(name)
        permissions = 0o666 & ~self.ctx.umask
        if "excl" in conversions:
            return fs.open(path, "x", permissions=permissions)
        if "nocreat" in conversions and not fs.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if "append" in self.options.output_flags:
            if "notrunc" not in conversions:
                fs.open(path, "w", permissions=permissions).release()
            return fs.open(path, "a", permissions=permissions)
        offset = self._seek_offset()
        if "notrunc" not in conversions and not offset:
            return fs.open(path, "w", permissions=permissions)
        if not fs.exists(path) or (
            "notrunc" not in conversions and offset < self.options.output_size
        ):
            fs.open(path, "w", permissions=permissions).release()
        file = fs.open(path, "r+")
        if "notrunc" not in conversions:
            file.truncate(offset)
        if offset:
            file.seek(offset)
        return file

    def _seek_offset(self) -> int:
        return self.options.seek * (
            1 if "seek_bytes" in self.options.output_flags else self.options.output_size
        )

    def seek(self) -> None:
        """Leave out the start of standard output."""
        if self.options.output is not None or not self.options.seek:
            return
        wrong = "'standard output': cannot seek"
        if self._seek_offset() > _LARGEST:
            raise CommandError(wrong)
        if not isinstance(self.target, Stream):
            raise CommandError(f"{wrong}: Illegal seek")
        try:
            self.target.seek(self._seek_offset(), os.SEEK_CUR)
        except OSError as error:
            raise CommandError(f"{wrong}: {describe_os_error(error, '')}") from None

    def close(self) -> None:
        """Release what was opened."""
        if self.options.input is not None and isinstance(self.source, Stream):
            self.source.release()
        if self.options.output is not None and isinstance(self.target, Stream):
            self.target.release()

    # reading

    def skip(self) -> None:
        """Skip the start of the input; a warning if it is shorter than that."""
        left = self.options.skip * (
            1 if "skip_bytes" in self.options.input_flags else self.options.input_size
        )
        if not left:
            return
        source = self.source
        name = self.options.input if self.options.input is not None else "'standard input'"
        if left > _LARGEST:
            raise CommandError(f"{name}: cannot skip: {os.strerror(errno.EOVERFLOW)}")
        if isinstance(source, File):
            try:
                info = source.stat()
                if stat.S_ISCHR(info.mode):
                    return
                size = info.size
                here = source.seek(0, os.SEEK_CUR)
                source.seek(min(here + left, max(size, here)))
                left -= min(left, max(0, size - here))
            except OSError:
                pass
        while left > 0:
            self.ctx.budget.step()
            block = source.read(min(left, _PIECE))
            if not block:
                if self.options.status != "none":
                    self.ctx.warn(f"{name}: cannot skip to specified offset", self.ctx.status)
                return
            left -= len(block)

    def copy(self) -> None:
        """Copy block by block."""
        options = self.options
        left = options.count
        in_bytes = "count_bytes" in options.input_flags
        while left is None or left > 0:
            self.ctx.budget.step()
            size = options.input_size
            if left is not None and in_bytes:
                size = min(size, left)
            got = self._copy_block(size)
            if not got:
                break
            if got == options.input_size:
                self.full_in += 1
            else:
                self.part_in += 1
            if left is not None:
                left -= got if in_bytes else 1
        self._finish()

    def _copy_block(self, size: int) -> int:
        """Read one block, convert it and pass it on; return the number of bytes read."""
        whole = "fullblock" in self.options.input_flags or isinstance(self.source, File)
        got = 0
        pieces: list[bytes] = []
        while got < size:
            piece = self._read(min(size - got, _PIECE))
            if not piece:
                break
            got += len(piece)
            pieces.append(piece)
            if len(pieces) > 1 or got >= _PIECE:
                self.ctx.budget.step()
                if self.options.one_buffer and "sync" not in self.options.conversions:
                    self._write(b"".join(pieces))
                    pieces.clear()
                else:
                    self.ctx.budget.charge(got)
            if not whole:
                break
        if not got:
            return 0
        data = b"".join(pieces)
        if "sync" in self.options.conversions and got < self.options.input_size:
            self.ctx.budget.charge(self.options.input_size)
            fill = b" " if self.options.conversions & {"block", "unblock"} else b"\0"
            data += fill * (self.options.input_size - got)
        if self.options.one_buffer:
            self._write(data)
            if got == self.options.output_size or len(data) == self.options.output_size:
                self.full_out += 1
            else:
                self.part_out += 1
        else:
            self._collect(self._convert(data))
        return got

    def _read(self, size: int) -> bytes:
        try:
            return self.source.read(size)
        except OSError as error:
            name = self.options.input if self.options.input is not None else "standard input"
            self.ctx.warn(f"error reading {quote_always(name)}: {describe_os_error(error, '')}")
            if self.source is self.ctx.stdin and error.errno == errno.EBADF:
                raise CommandError(
                    f"closing input file {quote_always(name)}: Bad file descriptor"
                ) from None
            return b""

    # converting

    def _convert(self, data: bytes) -> bytes:
        conversions = self.options.conversions
        if "lcase" in conversions:
            data = data.lower()
        elif "ucase" in conversions:
            data = data.upper()
        if "swab" in conversions:
            data = self.odd + data
            self.odd = data[len(data) // 2 * 2 :]
            swapped = bytearray(data[: len(data) // 2 * 2])
            swapped[::2], swapped[1::2] = swapped[1::2], swapped[::2]
            data = bytes(swapped)
        if "block" in conversions:
            return self._block(data)
        if "unblock" in conversions:
            return self._unblock(data)
        return data

    def _block(self, data: bytes) -> bytes:
        """Return lines as records of fixed size, filled with blanks or cut."""
        size = self.options.record_size
        self.ctx.budget.charge(size * (data.count(b"\n") + 1))
        parts: list[bytes] = []
        lines = data.split(b"\n")
        for number, line in enumerate(lines):
            self.ctx.budget.step()
            last = number == len(lines) - 1
            room = size - self.column
            if room > 0:
                parts.append(line[:room])
            if self.column <= size < self.column + len(line):
                self.truncated += 1
            self.column += len(line)
            if not last:
                parts.append(b" " * max(0, size - self.column))
                self.column = 0
        return b"".join(parts)

    def _unblock(self, data: bytes) -> bytes:
        """Return records of fixed size as lines, without the blanks at their end."""
        size = self.options.record_size
        parts: list[bytes] = []
        position = 0
        while position < len(data):
            self.ctx.budget.step()
            piece = data[position : position + size - self.column]
            position += len(piece)
            stripped = piece.rstrip(b" ")
            if stripped:
                self.ctx.budget.charge(self.pending_spaces + len(stripped))
                parts.append(b" " * self.pending_spaces + stripped)
                self.pending_spaces = 0
            self.pending_spaces += len(piece) - len(stripped)
            self.column += len(piece)
            if self.column == size:
                parts.append(b"\n")
                self.column = self.pending_spaces = 0
        return b"".join(parts)

    # writing

    def _collect(self, data: bytes) -> None:
        """Write full output blocks, keep the rest."""
        size = self.options.output_size
        waiting = self.waiting
        waiting += data
        full = len(waiting) // size
        if full:
            self._write(bytes(waiting[: full * size]))
            del waiting[: full * size]
            self.full_out += full
        elif len(waiting) >= _PIECE:
            self.ctx.budget.charge(len(waiting))

    def _finish(self) -> None:
        conversions = self.options.conversions
        if self.odd:
            odd, self.odd = self.odd, b""
            self._collect(odd)
        if "block" in conversions and self.column:
            self._collect(b" " * max(0, self.options.record_size - self.column))
        if "unblock" in conversions and self.column:
            self._collect(b"\n")
        if self.waiting:
            self._write(bytes(self.waiting))
            self.part_out += 1
            self.waiting.clear()
        self._synchronize()

    def _synchronize(self) -> bool:
        """Whether the output can be synchronized, if that was asked for."""
        if isinstance(self.target, File) or not self.options.conversions & {"fdatasync", "fsync"}:
            return True
        shown = self.options.output if self.options.output is not None else "standard output"
        self.ctx.warn(f"fsync failed for {quote_always(shown)}: Invalid argument")
        return False

    def quit(self) -> None:
        """End before anything was copied."""
        if self._synchronize():
            self.report()

    def _write(self, data: bytes) -> None:
        try:
            self.target.write(data)
        except OSError as error:
            name = self.options.output if self.options.output is not None else "standard output"
            self.ctx.warn(f"error writing {quote_always(name)}: {describe_os_error(error, '')}")
            self.full_in += 1
            self.report()
            raise CommandError("") from None
        self.written += len(data)

    # statistics

    def report(self) -> None:
        """Write the statistics, unless `status` forbids it."""
        status = self.options.status
        if status == "none":
            return
        lines = f"{self.full_in}+{self.part_in} records in\n"
        lines += f"{self.full_out}+{self.part_out} records out\n"
        if self.truncated:
            lines += f"{self.truncated} truncated record{'' if self.truncated == 1 else 's'}\n"
        if status != "noxfer":
            lines += self._speed()
        self.ctx.stderr.write(encode(lines))

    def _speed(self) -> str:
        seconds = max(self.ctx.host.clock() - self.started, 1e-6)
        size = self.written
        amount = f"{size} byte{'' if size == 1 else 's'}"
        if size >= 1000:
            amount += f" ({_human(size, 1000)}"
            amount += f", {_human(size, 1024)})" if size >= 1024 else ")"
        return f"{amount} copied, {seconds:g} s, {_rate(size / seconds)}/s\n"


def _rate(speed: float) -> str:
    """Return bytes a second in units of at least a kilobyte: "0.4 kB", "62.5 MB", "105 MB"."""
    power = 1
    while speed >= 1000 ** (power + 1) and power < 8:
        power += 1
    value = speed / 1000**power
    shown = f"{value:.1f}"
    return f"{shown if len(shown) <= 4 else f'{value:.0f}'} {'kMGTPEZY'[power - 1]}B"


def _human(size: int, base: int) -> str:
    """Return a size, rounded: "3.1 MB", "3.0 MiB"."""
    if size < base:
        return f"{size} B"
    value, power = float(size), 0
    while value >= base and power < 8:
        value /= base
        power += 1
    number = f"{value:.1f}" if value < 9.95 else f"{value:.0f}"
    letter = "KMGTPEZY"[power - 1]
    unit = f"{letter}iB" if base == 1024 else f"{letter.replace('K', 'k')}B"
    return f"{number} {unit}"


@command("dd", usage=USAGE, raw=True, manners=_MANNERS)
def dd(ctx: CommandContext, args: Arguments) -> int:
    given = _PARSER.parse(args.operands)
    if given.last("help", "version") == "help":
        ctx.stdout.write(encode(USAGE.lstrip()))
        return 0
    if given.flag("version"):
        ctx.stdout.write(encode(dd.version()))
        return 0
    copy = _Copy(ctx, DdOptions(given.operands, lambda text: ctx.warn(text, ctx.status)))
    try:
        readable = copy.open()
        try:
            copy.skip()
            copy.seek()
        except CommandError as error:
            ctx.warn(error.message)
            copy.quit()
            return 1
        if readable:
            copy.copy()
        else:
            ctx.warn(f"error reading {quote_always(copy.options.input or '')}: Is a directory")
        copy.report()
    finally:
        copy.close()
    return ctx.status
