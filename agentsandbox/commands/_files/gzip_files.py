"""What `gzip`, `gunzip` and `zcat` do to files."""

from __future__ import annotations

import os
import posixpath
import re
import stat as stat_module

from agentsandbox.commands._files.compression import (
    CompressionError,
    Source,
    compress_stream,
    compressor,
    read_gzip_header,
)
from agentsandbox.commands._files.gzip_members import MemberError, Members
from agentsandbox.commands._time.times import nanoseconds
from agentsandbox.kernel.fs.base import File, Timestamp
from agentsandbox.kernel.streams import BytesReader, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_SUFFIXES = {
    ".gz": "",
    "-gz": "",
    ".z": "",
    "-z": "",
    "_z": "",
    ".Z": "",
    ".tgz": ".tar",
    ".taz": ".tar",
}
_KNOWN = (b"\x1f\x8b", b"PK")
_SYMLINK = "Too many levels of symbolic links"


class GzipOptions:
    """The flags by their names, the level, the suffix, and how often -v was given."""

    __slots__ = (
        "decompress",
        "force",
        "keep",
        "level",
        "list",
        "name",
        "quiet",
        "recursive",
        "stdout",
        "suffix",
        "test",
        "verbose",
    )

    def __init__(self) -> None:
        self.decompress = self.force = self.keep = self.list = self.quiet = self.recursive = (
            self.stdout
        ) = self.test = False
        self.name: bool | None = None
        self.verbose = 0
        self.level = 6
        self.suffix = ".gz"


class Gzip:
    """One run over all operands. Warnings make the status 2, errors 1."""

    def __init__(self, ctx: CommandContext, options: GzipOptions) -> None:
        self.ctx = ctx
        self.options = options
        self.headed = False
        self.totals = [0, 0]
        self.members: Members | None = None
        """What was expanded last."""
        self.ended = False
        """Whether something was so wrong that no other operand is looked at."""

    def error(self, message: str) -> None:
        self.ctx.stderr.write(encode(f"gzip: {message}\n"))
        self.ctx.status = 1

    def caution(self, message: str) -> None:
        """A warning, which -q silences."""
        if not self.options.quiet:
            self.ctx.stderr.write(encode(f"gzip: {message}\n"))
        self.ctx.status = self.ctx.status or 2

    def tell(self, text: str) -> None:
        self.ctx.stderr.write(encode(text))

    def problem(self, name: str, error: MemberError) -> None:
        """Word what is wrong with compressed data."""
        if not (error.warns and self.options.quiet):
            self.tell(error.text.replace("NAME", name))
        if error.warns:
            self.ctx.status = self.ctx.status or 2
            return
        self.ctx.status = 1
        self.ended = error.ends or (
            "invalid" in error.text and not self.options.test and not self.options.list
        )

    # operands

    def run(self, operands: list[str]) -> int:
        """Work on every operand, stdin for "-" or none."""
        for name in operands or ["-"]:
            self.ctx.budget.step()
            if name == "-":
                self.standard_input()
            else:
                self.operand(name)
            if self.ended:
                return self.ctx.status
        if self.options.list and len(operands) > 1:
            self.list_totals()
        return self.ctx.status

    def standard_input(self) -> None:
        if self.options.list:
            self.list_stream(self.ctx.stdin, "stdin", None, "stdout")
        elif self.options.decompress or self.options.test:
            done = self.expand_to(
                None if self.options.test else self.ctx.stdout, self.ctx.stdin, "stdin"
            )
            if self.options.test and self.options.verbose and done:
                self.tell(" OK\n")
        else:
            stdin = self.ctx.stdin
            mtime = (
                self.stored_time(stdin.stat())
                if isinstance(stdin, File) and stdin.stat().is_file
                else 0
            )
            before, after = self.squeeze_to(self.ctx.stdout, stdin, b"", mtime)
            if self.options.verbose:
                self.tell(f"{_ratio(before - after, before)}\n")

    def find(self, name: str) -> tuple[str, Stat] | None:
        """The file an operand means: when decompressing, with a suffix if it is not there
        without.
        """
        options, fs = self.options, self.ctx.fs
        follow = options.stdout or options.test or options.list or options.force
        candidates = [name]
        reads = options.decompress or options.list or options.test
        if reads:
            candidates += [
                name + suffix for suffix in dict.fromkeys([options.suffix, ".gz", ".z", "-z", ".Z"])
            ]
        for candidate in candidates:
            try:
                info = fs.stat(self.ctx.path(candidate), follow=follow)
            except OSError as error:
                if error.errno != 2:
                    self.error(f"{candidate}: {os.strerror(error.errno or 5)}")
                    return None
                continue
            return candidate, info
        missing = name if not reads or self.strip(name) is not None else name + options.suffix
        self.error(f"{missing}: No such file or directory")
        return None

    def operand(self, name: str) -> None:
        found = self.find(name)
        if found is None:
            return
        name, info = found
        if info.is_dir:
            if self.options.recursive:
                for entry in self.ctx.fs.listdir(self.ctx.path(name)):
                    self.ctx.budget.deeper()
                    try:
                        self.operand(posixpath.join(name, entry))
                    finally:
                        self.ctx.budget.shallower()
            else:
                self.caution(f"{name} is a directory -- ignored")
            return
        if info.is_link:
            self.error(f"{name}: {_SYMLINK}")
            return
        if not info.is_file:
            self.caution(f"{name} is not a directory or a regular file - ignored")
            return
        if (
            not self.options.force
            and not self.options.stdout
            and not self.options.test
            and not self.options.list
        ):
            problem = _unwanted(info)
            if problem:
                self.caution(f"{name} {problem}")
                return
        try:
            self.regular_file(name, info)
        except OSError as error:
            shown = name if error.filename in (None, self.ctx.path(name)) else error.filename
            self.error(f"{shown}: {os.strerror(error.errno or 5)}")

    def strip(self, name: str) -> str | None:
        """The name without its suffix; None when it has none."""
        options = self.options
        if (
            options.suffix != ".gz"
            and name.endswith(options.suffix)
            and len(posixpath.basename(name)) > len(options.suffix)
        ):
            return name[: -len(options.suffix)]
        for suffix, instead in _SUFFIXES.items():
            if name.endswith(suffix) and len(posixpath.basename(name)) > len(suffix):
                return name[: -len(suffix)] + instead
        return None

    def regular_file(self, name: str, info: Stat) -> None:
        options = self.options
        reads = options.decompress or options.test or options.list
        stripped = self.strip(name)
        if not options.stdout and not options.test and not options.list:
            if reads and stripped is None:
                self.ctx.fs.open(self.ctx.path(name), "r").release()
                if options.verbose or not options.recursive:
                    self.caution(f"{name}: unknown suffix -- ignored")
                return
            if not reads and stripped is not None:
                if options.verbose or not (options.quiet or options.recursive):
                    suffix = re.sub(r"^.*(?=[-._])", "", name)
                    self.tell(f"gzip: {name} already has {suffix} suffix -- unchanged\n")
                return
        file = self.ctx.fs.open(self.ctx.path(name), "r")
        try:
            if options.list:
                self.list_stream(file, name, info, stripped or name)
            elif options.test:
                if self.expand_to(None, file, name, told=True) and options.verbose:
                    self.tell(" OK\n")
            elif options.stdout:
                self.to_stdout(file, name, info)
            elif reads:
                self.expand_file(file, name, stripped or name, info)
            else:
                self.squeeze_file(file, name, info)
        finally:
            file.release()

    # work

    def to_stdout(self, file: ByteReader, name: str, info: Stat) -> None:
        if self.options.decompress:
            if self.expand_to(self.ctx.stdout, file, name, told=True):
                self.report_expanded(info, "stdout")
            return
        self.begin(name)
        before, after = self.squeeze_to(
            self.ctx.stdout, file, self.stored_name(name), self.stored_time(info)
        )
        self.report(before, after, "stdout")

    def stored_name(self, name: str) -> bytes:
        return b"" if self.options.name is False else encode(posixpath.basename(name))

    def stored_time(self, info: Stat) -> int:
        return 0 if self.options.name is False else nanoseconds(info.mtime) // 1_000_000_000

    def expand_to(
        self,
        target: ByteWriter | None,
        reader: ByteReader | Source,
        name: str,
        *,
        told: bool = False,
    ) -> bool:
        """Decompress; whether all went well. With -f what is not compressed is copied as it is.
        `told`: -v names the file.
        """
        source = reader if isinstance(reader, Source) else Source(reader)
        self.members = None
        copies = self.options.force and (self.options.stdout or name == "stdin")
        if copies and source.peek(2) not in _KNOWN:
            while block := source.block():
                self.ctx.budget.step()
                if target is not None:
                    target.write(block)
            return False
        try:
            self.members = Members(
                source, self.ctx.budget, verbose=bool(self.options.verbose), copies=copies
            )
            blocks = self.members.start()
            if told:
                self.begin(name)
            for block in blocks:
                if target is not None:
                    target.write(block)
        except MemberError as error:
            self.problem(name, error)
            return error.warns
        return True

    def squeeze_to(
        self, target: ByteWriter, reader: ByteReader, name: bytes, mtime: int
    ) -> tuple[int, int]:
        """Compress; the sizes before and after, without the header."""
        packer = compressor("gzip", self.options.level, name=name, mtime=mtime)
        before, after = compress_stream(
            packer, reader, target, self.ctx.budget, block=131072, steps=200
        )
        return before, after - 18 - (len(name) + 1 if name else 0)

    def create(self, name: str, info: Stat) -> ByteWriter | None:
        """The output file; None when there is one already and it stays."""
        path = self.ctx.path(name)
        if self.ctx.fs.exists(path, follow=False):
            if not self.options.force:
                self.tell(f"gzip: {name} already exists;\tnot overwritten\n")
                self.ctx.status = self.ctx.status or 2
                return None
            self.ctx.fs.unlink(path)
        return self.ctx.fs.open(path, "x", permissions=info.permissions & 0o777)

    def squeeze_file(self, file: ByteReader, name: str, info: Stat) -> None:
        output = name + self.options.suffix
        target = self.create(output, info)
        if target is None:
            return
        self.begin(name)
        try:
            before, after = self.squeeze_to(
                target, file, self.stored_name(name), self.stored_time(info)
            )
        finally:
            target.release()  # type: ignore[attr-defined]
        self.finish(name, output, info, info.mtime)
        self.report(before, after, output)

    def expand_file(self, file: ByteReader, name: str, output: str, info: Stat) -> None:
        mtime: float = info.mtime
        source = Source(file)
        if self.options.name:
            start = source.peek(4096)
            try:
                header = read_gzip_header(Source(BytesReader(start)))
            except CompressionError:
                header = None
            if header is not None and header.name:
                output = posixpath.join(
                    posixpath.dirname(name), posixpath.basename(decode(header.name))
                )
            if header is not None and header.mtime:
                mtime = Timestamp.from_ns(header.mtime * 1_000_000_000)
        self.members = Members(source, self.ctx.budget, verbose=bool(self.options.verbose))
        target: ByteWriter | None = None
        done = False
        try:
            blocks = self.members.start()
            target = self.create(output, info)
            if target is None:
                return
            self.begin(name)
            for block in blocks:
                target.write(block)
            done = True
        except MemberError as error:
            self.problem(name, error)
            done = error.warns
        finally:
            if target is not None:
                target.release()  # type: ignore[attr-defined]
                if not done:
                    self.ctx.fs.unlink(self.ctx.path(output))
        if done:
            self.finish(name, output, info, mtime)
            self.report_expanded(info, output)

    def finish(self, name: str, output: str, info: Stat, mtime: float) -> None:
        """Give the output the input's mode and time; remove the input unless it is kept."""
        path = self.ctx.path(output)
        self.ctx.fs.chmod(path, info.permissions & 0o777)
        self.ctx.fs.utime(path, mtime)
        if not self.options.keep:
            self.ctx.fs.unlink(self.ctx.path(name))

    # telling

    def begin(self, name: str) -> None:
        if self.options.verbose:
            self.tell(f"{name}:\t")

    def report(self, before: int, after: int, output: str) -> None:
        if self.options.verbose:
            done = f" -- {'created' if self.options.keep and not self.options.stdout else 'replaced with'} {output}"
            self.tell(f"{_ratio(before - after, before)}{done}\n")

    def report_expanded(self, info: Stat, output: str) -> None:
        if self.members is not None:
            self.report(self.members.length, info.size - self.members.overhead, output)

    def list_stream(self, reader: ByteReader, name: str, info: Stat | None, shown: str) -> None:
        source = Source(reader)
        if not self.expand_to(None, source, name):
            return
        members = self.members
        if members is None:
            return
        if members.trailed:
            self.list_totals()
            return
        size = source.taken if info is None else info.size
        if self.options.name and members.name:
            shown = posixpath.join(
                posixpath.dirname(shown), posixpath.basename(decode(members.name))
            )
        details = None
        if self.options.verbose:
            seconds = members.mtime or (
                nanoseconds(info.mtime) // 1_000_000_000
                if info is not None
                else int(self.ctx.host.clock())
            )
            crc = "f" * 16 if members.crc is None else f"{members.crc:08x}"
            details = f"defla {crc} ", seconds
        self.totals[0] += size
        self.totals[1] += members.length
        self.list_line(size, members.length, shown, details)

    def list_totals(self) -> None:
        if self.totals[0] > 0 and self.totals[1] > 0:
            self.list_line(self.totals[0], self.totals[1], "(totals)", None)

    def list_line(
        self, compressed: int, length: int, name: str, details: tuple[str, int] | None
    ) -> None:
        from agentsandbox.kernel.formats.strftime import strftime  # only -lv shows one

        verbose = bool(self.options.verbose)
        if not self.headed:
            self.headed = True
            if verbose:
                self.ctx.print("method  crc     date  time  ", end="")
            if not self.options.quiet:
                self.ctx.print("         compressed        uncompressed  ratio uncompressed_name")
        prefix = ""
        if verbose:
            prefix = "                            "
            if details is not None:
                prefix = f"{details[0]}{strftime(details[1], '%b %e %H:%M', self.ctx.env.get('TZ', ''))} "
        saved = length - compressed + (self.members.overhead if self.members is not None else 0)
        self.ctx.print(f"{prefix}{compressed:>19} {length:>19} {_ratio(saved, length)} {name}")


def _unwanted(info: Stat) -> str:
    """Why a file is left alone unless -f is given; "" for most."""
    if info.mode & stat_module.S_ISUID:
        return "is set-user-ID on execution - ignored"
    if info.mode & stat_module.S_ISGID:
        return "is set-group-ID on execution - ignored"
    if info.mode & stat_module.S_ISVTX:
        return "has the sticky bit set - file ignored"
    if info.nlink > 1:
        return f"has {info.nlink - 1} other link{'s' if info.nlink > 2 else ''} -- file ignored"
    return ""


def _ratio(saved: int, whole: int) -> str:
    """The part saved, as a percentage of six characters."""
    if whole <= 0:
        return "  0.0%"
    tenths = (2000 * abs(saved) + whole) // (2 * whole)
    return f"{('-' if saved < 0 else '') + f'{tenths // 10}.{tenths % 10}':>5}%"
