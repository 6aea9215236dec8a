"""Archives of several volumes: `-M`, `-L`, `-F` and `--volno-file` of GNU tar.

A member may go on in the next volume, which then begins with a header that tells how much of it is left.
"""

from __future__ import annotations

from agentsandbox.commands._block_sizes import parse_scaled
from agentsandbox.commands._compression import Source
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._tar_format import BLOCK, continuation_header, read_continuation
from agentsandbox.commands._tar_names import show_in_message
from agentsandbox.commands._tar_stream import ArchiveReader, ArchiveWriter
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.fs.base import File
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from agentsandbox.commands._tar_checkpoints import Checkpoints
    from agentsandbox.commands._tar_format import Member
    from agentsandbox.commands._tar_options import TarOptions
    from agentsandbox.streams import ByteReader, ByteWriter

    Opened = TypeVar("Opened")

__all__ = ["VolumeReader", "VolumeWriter", "Volumes", "tape_length"]

_FATAL = "Error is not recoverable: exiting now"
_NO_ARCHIVE = "This does not look like a tar archive"
_HELP = (
    " n name        Give a new file name for the next (and subsequent) volume(s)\n"
    " q             Abort tar\n"
    " y or newline  Continue operation\n"
)
_SHELL_HELP = " !             Spawn a subshell\n"
_SCRIPT_DESCRIPTOR = 5
_UNITS = "bBcGgkKMmPTtw"


def tape_length(options: TarOptions) -> int:
    """The size of volumes, 0 for one without end. `UsageError` for options that do not go with several volumes."""
    if not options.multi_volume:
        raise UsageError("Multiple archive files require '-M' option", 2)
    text = options.args.value("tape-length") or "0"
    size = parse_scaled(text, _UNITS)
    if size is None:
        raise UsageError(f"{text}: Invalid tape length", 2)
    length = size if text[-1] in _UNITS else size * 1024
    if options.args.flag("verify"):
        raise UsageError("Cannot verify multi-volume archives", 2)
    if options.format is not None or options.args.flag("auto-compress"):
        raise UsageError("Cannot use multi-volume compressed archives", 2)
    if 0 < length < options.record:
        raise UsageError("Volume length cannot be less than record size", 2)
    if options.style.form in ("ustar", "v7"):
        raise UsageError("GNU features wanted on incompatible archive format", 2)
    return length


class Volumes:
    """The names of the volumes, used one after the other; when all were, a script or standard input says what is next."""

    def __init__(self, options: TarOptions) -> None:
        self._ctx = options.ctx
        self._names = options.archives or ["-"]
        self._at = 0
        self._used_all = False
        self._writes = options.action == "c"
        self._action = f"-{options.action}"
        self._record = options.record
        self._script = options.args.value("info-script")
        self._restricted = options.args.flag("restrict")
        self._file = options.args.value("volno-file")
        self.number = 1
        """Of the volume in work, in this run."""
        self._counted = self._first_number()

    def _first_number(self) -> int:
        if self._file is None:
            return 1
        try:
            text = self._ctx.fs.read_bytes(self._ctx.path(self._file))
        except FileNotFoundError:
            return 1
        digits = text.split()[:1]
        if not digits or not digits[0][:15].isdigit():
            raise CommandError(f"{self._file}: contains invalid volume number\ntar: {_FATAL}", 2)
        return int(digits[0][:15])

    def reader(self, options: TarOptions, first: ByteReader, checkpoints: Checkpoints | None) -> VolumeReader:
        """All volumes as one archive."""
        return VolumeReader(options, self, first, checkpoints)

    def save_number(self) -> None:
        """Write the number of the last volume to the file of --volno-file."""
        if self._file is None:
            return
        try:
            self._ctx.fs.write_bytes(self._ctx.path(self._file), b"%d\n" % self._counted)
        except OSError as error:
            self._ctx.warn(f"{self._file}: Cannot open: {error.strerror}", 2)

    def count(self) -> None:
        """A further volume has begun."""
        self.number += 1
        self._counted += 1

    def open_next(self, open_volume: Callable[[str], Opened]) -> Opened:
        """The next volume that can be opened."""
        self._at += 1
        if self._at == len(self._names):
            self._at = 0
            self._used_all = True
        asks = self._used_all
        while True:
            self._ctx.budget.step()
            if asks:
                self._find_name()
            name = self._names[self._at]
            try:
                return open_volume(name)
            except OSError as error:
                self._ctx.warn(f"{show_in_message(name)}: Warning: Cannot open: {error.strerror}", self._ctx.status)
                asks = True

    def _find_name(self) -> None:
        if self._script:
            self.save_number()
            self._run_script(self._script)
        else:
            self._ask()

    def _run_script(self, script: str) -> None:
        """The script may write a new name to the descriptor $TAR_FD."""
        ctx = self._ctx
        facts = {
            "TAR_VERSION": "1.34", "TAR_ARCHIVE": self._names[self._at], "TAR_VOLUME": str(self._counted + 1), "TAR_FORMAT": "gnu",
            "TAR_BLOCKING_FACTOR": str(self._record // BLOCK), "TAR_SUBCOMMAND": self._action, "TAR_FD": str(_SCRIPT_DESCRIPTOR),
        }  # fmt: skip
        answer = f"/tmp/tar.{ctx.host.random.getrandbits(48):012x}"
        words = ["sh", "-c", f'eval "$1" {_SCRIPT_DESCRIPTOR}>"$2"', "sh", script, answer]
        try:
            if ctx.run(words, env={**ctx.env, **facts}):
                raise CommandError(f"{quote(script)} command failed\ntar: {_FATAL}", 2)
            line = ctx.fs.read_text(answer).partition("\n")[0]
        finally:
            if ctx.fs.exists(answer):
                ctx.fs.unlink(answer)
        if line:
            self._names[self._at] = line

    def _tell(self, text: str) -> None:
        self._ctx.stderr.write(encode(text))

    def _ask(self) -> None:
        while True:
            self._ctx.budget.step()
            self._tell(f"\aPrepare volume #{self._counted + 1} for {quote(self._names[self._at])} and hit return: ")
            line = self._ctx.stdin.readline()
            if not line:
                self._give_up("EOF where user reply was expected")
            letter = line[:1]
            if letter in (b"\n", b"y", b"Y"):
                return
            if letter == b"?":
                self._tell(_HELP + ("" if self._restricted else _SHELL_HELP) + " ?             Print this list\n")
            elif letter == b"q":
                self._give_up("No new volume; exiting.\n")
            elif letter == b"n":
                name = line[1:].rstrip(b"\n").lstrip(b" \t")
                if name:
                    self._names[self._at] = decode(name)
                    return
                self._tell("File name not specified. Try again.\n")
            elif letter != b"!" or self._restricted:  # a subshell would find an input that has been read to its end
                self._tell("Invalid input. Type ? for help.\n")

    def _give_up(self, reason: str) -> None:
        incomplete = "WARNING: Archive is incomplete\ntar: " if self._writes else ""
        raise CommandError(f"{reason}\ntar: {incomplete}{_FATAL}", 2)


class VolumeReader(ArchiveReader):
    """Reads on in the next volume where one ends before the archive does."""

    def __init__(
        self,
        options: TarOptions,
        volumes: Volumes,
        reader: ByteReader,
        checkpoints: Checkpoints | None,
    ) -> None:
        super().__init__(options.ctx, reader, None, checkpoints, options.record)
        self._volumes = volumes
        self._lost = False
        self._rest = b""

    def _more(self) -> bytes:
        while True:
            rest, self._rest = self._rest, b""
            found = rest or super()._more()
            if found or self.format is not None:
                return found
            while not self._enter_next():
                self._ctx.budget.step()

    def _open_volume(self, name: str) -> ByteReader:
        return self._ctx.stdin if name == "-" else self._ctx.fs.open(self._ctx.path(name), "r")

    def _enter_next(self) -> bool:
        """Go to the next volume; False if it is not the one that is wanted."""
        self._source = Source(self._volumes.open_next(self._open_volume))
        self.changes += 1
        found = super()._more()
        if not found or self._lost:
            self._lost = True
            self._ctx.warn(_NO_ARCHIVE, self._ctx.status)
            return False
        used, continued = read_continuation(found)
        self._rest = found[used:]
        self.position += used
        problem = self._problem(continued) if self._content and self.member is not None else ""
        if problem:
            self._rest = b""
            self._ctx.warn(problem, self._ctx.status)
            return False
        self._volumes.count()
        return True

    def _problem(self, continued: tuple[str, int, int] | None) -> str:
        """Why the volume does not go on with the current member; "" if it does."""
        assert self.member is not None
        name, total = self.member.name, self.member.size
        if continued is None:
            return f"{quote(name)} is not continued on this volume"
        found, size, offset = continued
        if found != name:
            if len(encode(name)) < 100 or encode(name)[:100] != encode(found):
                return f"{quote(name)} is not continued on this volume"
            self._ctx.warn(
                f"{quote(name)} is possibly continued on this volume: header contains truncated name", self._ctx.status
            )  # fmt: skip
        if size + offset != total:
            return f"{quote(found)} is the wrong size ({total} != {size} + {offset})"
        if total - self._content != offset:
            return f"This volume is out of sequence ({total} - {self._content} != {offset})"
        return ""


class VolumeWriter(ArchiveWriter):
    """Writes whole records, and goes on in the next volume where one is full."""

    def __init__(
        self,
        options: TarOptions,
        volumes: Volumes,
        target: ByteWriter,
        label: Callable[[int], bytes],
        checkpoints: Checkpoints | None,
    ) -> None:
        """`label` gives the header that names a volume."""
        super().__init__(options.ctx, target, None, options.record, checkpoints)
        self._volumes = volumes
        self._label = label
        self._length = options.tape_length
        self._written = 0
        """How much the volume holds."""
        self._done = 0
        self._buffer = bytearray()
        self._begin = 0
        """Where the buffer begins, in bytes of the archive without the headers that volumes begin with."""
        self._headers = 0
        """How many bytes of such headers the buffer begins with."""
        self._files: list[tuple[str, int, int]] = []
        """Name, begin and end of the contents that may go on in the next volume."""
        self._switches = 0

    def write(self, data: bytes) -> None:
        self.size += len(data)
        self._buffer += data
        self._reach()
        while len(self._buffer) > self._record:  # a full record waits for what comes behind it, which may be a content that begins
            self._ctx.budget.step()
            self._write_record()

    def _reach(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.reach(self.size + self._switches * self._record)

    def begin_content(self, member: Member) -> None:
        if member.kind == "file" or member.is_dump:
            begin = self._begin + len(self._buffer) - self._headers
            self._files.append((member.name, begin, begin + member.size))

    def _write_record(self) -> None:
        if self._length and self._written >= self._length:
            self._switch()
        record = bytes(self._buffer[: self._record])
        del self._buffer[: self._record]
        self._target.write(record.ljust(self._record, b"\0"))
        self._written += self._record
        self._done += self._record
        self._begin += self._record - self._headers
        self._headers = 0
        self._files = [file for file in self._files if file[2] > self._begin or file[1] > self._begin]

    def _open_volume(self, name: str) -> ByteWriter:
        ctx = self._ctx
        return ctx.stdout if name == "-" else ctx.fs.open(ctx.path(name), "w", permissions=0o666 & ~ctx.umask)

    def _switch(self) -> None:
        if isinstance(self._target, File):
            self._target.release()
        self._target = self._volumes.open_next(self._open_volume)
        self._volumes.count()
        self._switches += 1
        self._written = 0
        headers = self._label(self._volumes.number)
        if self._files and self._files[0][1] <= self._begin + self._record:
            name, begin, end = self._files[0]
            if len(encode(name)) > 100:
                self._ctx.warn(
                    f"{show_in_message(name)}: file name too long to be stored in a GNU multivolume header, truncated", self._ctx.status
                )
            done = max(self._begin - begin, 0)
            headers += continuation_header(name, end - begin - done, done)
        self._headers = len(headers)
        self._buffer[:0] = headers
        self.size += len(headers)
        self._reach()

    def finish(self) -> None:
        self.write(bytes(2 * BLOCK))
        while self._buffer:
            self._write_record()
        self.size = self._done
        self._reach()
        if isinstance(self._target, File):
            self._target.release()
