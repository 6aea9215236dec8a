"""What `gzip`, `gunzip` and `zcat` do to files; `zgrep` expands its files by it."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.commands._files.compressed_files import (
    CompressionRun,
    find_obstacle,
    split_suffix,
)
from agentsandbox.commands._files.compression import (
    CompressionError,
    Source,
    compress_stream,
    compressor,
    read_gzip_header,
)
from agentsandbox.commands._files.gzip_members import MemberError, Members
from agentsandbox.commands._time.times import nanoseconds
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import BytesReader, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
_OBSTACLES = {
    "directory": "is a directory -- ignored",
    "link": "Too many levels of symbolic links",
    "special": "is not a directory or a regular file - ignored",
    "names": "has COUNT -- file ignored",
}


class GzipOptions:
    """The flags by their names, the level and the suffix."""

    __slots__ = (
        "decompress", "force", "keep", "level", "list", "name", "quiet", "recursive", "stdout",
        "test", "verbose",
    )  # fmt: skip

    def __init__(self) -> None:
        self.decompress = self.force = self.keep = self.list = self.quiet = False
        self.recursive = self.stdout = self.test = self.verbose = False
        self.name: bool | None = None
        self.level = 6


class Gzip(CompressionRun):
    """One run over all operands. Warnings make the status 2, errors 1."""

    def __init__(self, ctx: CommandContext, options: GzipOptions) -> None:
        super().__init__(ctx)
        self.options = options
        self.test = options.test
        self.list = options.list
        self.expand = options.decompress or self.test or self.list
        self.stdout = options.stdout and not self.test and not self.list
        self.keep = options.keep
        self.force = options.force
        self.verbose = options.verbose
        self._headed = False
        self._totals = [0, 0]
        self._members: Members | None = None
        """What was expanded last."""

    def error(self, message: str) -> None:
        self.ctx.stderr.write(encode(f"gzip: {message}\n"))
        self.ctx.status = 1

    def caution(self, message: str) -> None:
        """Print a warning, unless -q is given."""
        if not self.options.quiet:
            self.ctx.stderr.write(encode(f"gzip: {message}\n"))
        self.ctx.status = self.ctx.status or 2

    def report_existing(self, output: str) -> None:
        self.tell(f"gzip: {output} already exists;\tnot overwritten\n")
        self.ctx.status = self.ctx.status or 2

    def problem(self, name: str, error: MemberError) -> bool:
        """Report damaged data; whether the output is good all the same."""
        if not (error.warns and self.options.quiet):
            self.tell(error.text.replace("NAME", name))
        if error.warns:
            self.ctx.status = self.ctx.status or 2
            return True
        self.ctx.status = 1
        reads_only = self.test or self.list
        self.ended = error.ends or ("invalid" in error.text and not reads_only)
        return False

    # operands

    def run(self, operands: Sequence[str]) -> int:
        super().run(operands)
        if self.list and len(operands) > 1 and not self.ended:
            self.list_totals()
        return self.ctx.status

    def standard_input(self) -> None:
        stdin = self.ctx.stdin
        if self.list:
            self.list_stream(stdin, "stdin", None, "stdout")
        elif self.expand:
            done = self.expand_to(None if self.test else self.ctx.stdout, Source(stdin), "stdin")
            if self.test and self.verbose and done:
                self.tell(" OK\n")
        else:
            is_file = isinstance(stdin, File) and stdin.stat().is_file
            info = stdin.stat() if isinstance(stdin, File) and is_file else None
            self.compress_to(self.ctx.stdout, stdin, b"", info, "")

    def operand(self, name: str) -> None:
        self.ctx.budget.step(4)
        found = self.find(name)
        if found is None:
            return
        name, info = found
        if info.is_dir and self.options.recursive:
            for entry in self.ctx.fs.listdir(self.ctx.path(name)):
                self.ctx.budget.deeper()
                try:
                    self.operand(posixpath.join(name, entry))
                finally:
                    self.ctx.budget.shallower()
            return
        in_place = not (self.force or self.stdout or self.test or self.list)
        obstacle = find_obstacle(info, _OBSTACLES, links=in_place)
        if info.is_link:
            self.error(f"{name}: {obstacle}")
        elif obstacle:
            self.caution(f"{name} {obstacle}")
        else:
            try:
                self.regular_file(name, info)
            except OSError as error:
                self.report(name, error)

    def find(self, name: str) -> tuple[str, Stat] | None:
        """Return the file of an operand, with a suffix if needed; None after a message."""
        names = [name]
        if self.expand:
            names += [name + suffix for suffix in (".gz", ".z", "-z", ".Z")]
        follow = self.options.stdout or self.test or self.list or self.force
        for candidate in names:
            try:
                return candidate, self.ctx.fs.stat(self.ctx.path(candidate), follow=follow)
            except FileNotFoundError:
                continue
            except OSError as error:
                self.report(candidate, error)
                return None
        has_suffix = not self.expand or split_suffix(name, _SUFFIXES) is not None
        self.error(f"{name if has_suffix else name + '.gz'}: No such file or directory")
        return None

    def regular_file(self, name: str, info: Stat) -> None:
        found = split_suffix(name, _SUFFIXES)
        in_place = not (self.stdout or self.test or self.list)
        if in_place and self.expand and found is None:
            self.ctx.fs.open(self.ctx.path(name), "r").release()
            if self.verbose or not self.options.recursive:
                self.caution(f"{name}: unknown suffix -- ignored")
            return
        if in_place and not self.expand and found is not None and not self.force:
            if self.verbose or not (self.options.quiet or self.options.recursive):
                suffix = re.sub(r"^.*(?=[-._])", "", name)
                self.tell(f"gzip: {name} already has {suffix} suffix -- unchanged\n")
            return
        output = name if found is None else found[0]
        file = self.ctx.fs.open(self.ctx.path(name), "r")
        try:
            if self.list:
                self.list_stream(file, name, info, output)
            elif self.test:
                if self.expand_to(None, Source(file), name, begin=name) and self.verbose:
                    self.tell(" OK\n")
            elif self.stdout:
                self.to_stdout(file, name, info)
            elif self.expand:
                self.expand_file(file, name, output, info)
            else:
                self.compress_file(file, name, info)
        finally:
            file.release()

    # work

    def to_stdout(self, file: ByteReader, name: str, info: Stat) -> None:
        if not self.expand:
            self.compress_to(self.ctx.stdout, file, encode(name), info, "stdout")
        elif self.expand_to(self.ctx.stdout, Source(file), name, begin=name):
            self.report_expanded(info, "stdout")

    def expand_to(
        self, target: ByteWriter | None, source: Source, name: str, *, begin: str = ""
    ) -> bool:
        """Expand; return whether it succeeded. -v prints `begin` first, -f copies plain data."""
        self._members = None
        copies = self.force and (self.options.stdout or name == "stdin")
        if copies and source.peek(2) not in _KNOWN:
            for block in source.blocks():
                self.ctx.budget.step()
                if target is not None:
                    target.write(block)
            return False
        try:
            self._members = Members(source, self.ctx.budget, verbose=self.verbose, copies=copies)
            blocks = self._members.start()
            self.begin(begin)
            for block in blocks:
                if target is not None:
                    target.write(block)
        except MemberError as error:
            return self.problem(name, error)
        return True

    def compress_to(
        self, target: ByteWriter, reader: ByteReader, name: bytes, info: Stat | None, output: str
    ) -> bool:
        """Compress; the header gets the name and the time of `info`."""
        self.begin(decode(name))
        base = posixpath.basename(name)
        if self.options.name is False:
            base, info = b"", None
        mtime = 0 if info is None else nanoseconds(info.mtime) // 1_000_000_000
        packer = compressor("gzip", self.options.level, name=base, mtime=mtime)
        before, after = compress_stream(
            packer, reader, target, self.ctx.budget, block=131072, steps=200
        )
        header = 18 + (len(base) + 1 if base else 0)
        self.report_ratio(before, after - header, output)
        return True

    def compress_file(self, file: ByteReader, name: str, info: Stat) -> None:
        output = f"{name}.gz"
        if self.vacate(output):
            self.make(
                output,
                info.permissions & 0o777,
                info.mtime,
                lambda target: self.compress_to(target, file, encode(name), info, output),
            )
            self.remove(name)

    def remove(self, name: str) -> None:
        """Remove an input, unless -k is given."""
        if not self.keep:
            self.ctx.fs.unlink(self.ctx.path(name))

    def expand_file(self, file: ByteReader, name: str, output: str, info: Stat) -> None:
        mtime: float = info.mtime
        source = Source(file)
        if self.options.name:
            try:
                header = read_gzip_header(Source(BytesReader(source.peek(4096))))
            except CompressionError:
                header = None
            if header is not None and header.name:
                base = posixpath.basename(decode(header.name))
                output = posixpath.join(posixpath.dirname(name), base)
            if header is not None and header.mtime:
                mtime = header.mtime
        self._members = members = Members(source, self.ctx.budget, verbose=self.verbose)

        def write(target: ByteWriter) -> bool:
            self.begin(name)
            try:
                for block in blocks:
                    target.write(block)
            except MemberError as error:
                return self.problem(name, error)
            return True

        try:
            blocks = members.start()
        except MemberError as error:
            self.problem(name, error)
            return
        if self.vacate(output) and self.make(output, info.permissions & 0o777, mtime, write):
            self.remove(name)
            self.report_expanded(info, output)

    # messages

    def begin(self, name: str) -> None:
        """Begin the line of -v."""
        if self.verbose and name:
            self.tell(f"{name}:\t")

    def report_ratio(self, before: int, after: int, output: str) -> None:
        """End the line of -v."""
        if self.verbose:
            kept = self.keep and not self.options.stdout
            done = f" -- {'created' if kept else 'replaced with'} {output}" if output else ""
            self.tell(f"{_ratio(before - after, before)}{done}\n")

    def report_expanded(self, info: Stat, output: str) -> None:
        if self._members is not None:
            self.report_ratio(self._members.length, info.size - self._members.overhead, output)

    def list_stream(self, reader: ByteReader, name: str, info: Stat | None, shown: str) -> None:
        """List one file."""
        source = Source(reader)
        if not self.expand_to(None, source, name) or self._members is None:
            return
        members = self._members
        if members.trailed:
            self.list_totals()
            return
        size = source.taken if info is None else info.size
        if self.options.name and members.name:
            base = posixpath.basename(decode(members.name))
            shown = posixpath.join(posixpath.dirname(shown), base)
        self._totals[0] += size
        self._totals[1] += members.length
        self.list_line(size, members.length, shown)

    def list_totals(self) -> None:
        if self._totals[0] > 0 and self._totals[1] > 0:
            self.list_line(self._totals[0], self._totals[1], "(totals)")

    def list_line(self, compressed: int, length: int, name: str) -> None:
        if not self._headed and not self.options.quiet:
            self.ctx.print("         compressed        uncompressed  ratio uncompressed_name")
        self._headed = True
        saved = length - compressed + (self._members.overhead if self._members is not None else 0)
        self.ctx.print(f"{compressed:>19} {length:>19} {_ratio(saved, length)} {name}")


def _ratio(saved: int, whole: int) -> str:
    """Return the part saved, as a percentage of six characters."""
    if whole <= 0:
        return "  0.0%"
    tenths = (2000 * abs(saved) + whole) // (2 * whole)
    return f"{('-' if saved < 0 else '') + f'{tenths // 10}.{tenths % 10}':>5}%"
