"""`zstd`, `unzstd` and `zstdcat`: files compressed with Zstandard, where the host has installed the extra `zstd`."""

from __future__ import annotations

import posixpath

from agentsandbox.commands._files.compression import (
    CompressionError,
    Source,
    compress_stream,
    compressor,
    decompress,
    detect,
    load_zstandard,
    memory_of_compressor,
)
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_SUFFIXES = {
    ".zst": "", ".tzst": ".tar", ".gz": "", ".tgz": ".tar", ".lzma": "", ".xz": "", ".txz": ".tar", ".lz4": "", ".tlz4": ".tar",
}  # fmt: skip

_PROBLEMS = {
    "end": "Read error (39) : premature end",
    "data": "Decoding error (36) : Data corruption detected",
    "check": "Decoding error (36) : Restored data doesn't match checksum",
}

_RELEASE = "*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***"
_HIGHEST, _ULTRA, _FASTEST = 19, 22, 131072


class _Zstd:
    """One run over all operands."""

    def __init__(self, ctx: CommandContext, args: Arguments, *, expand: bool, stdout: bool) -> None:
        load_zstandard()
        self.ctx = ctx
        mode = args.last("decompress", "compress", "test")
        self.test = mode == "test"
        self.expand = mode == "decompress" or (mode is None and expand)
        self.output = args.value("output")
        to_file = args.last("output", "stdout") == "output" and self.output != "-"
        self.stdout = not to_file and (stdout or args.flag("stdout") or self.output == "-")
        self.force = args.flag("force")
        self.remove = args.last("rm", "keep") == "rm"
        self.silent = args.flag("quiet")
        self.quiet = self.stdout or self.silent
        self.pass_through = self.force or stdout
        self.recursive = args.flag("r")
        self.check = args.last("no-check", "check") != "no-check"
        self.level = self._level(args)

    def _level(self, args: Arguments) -> int:
        key = args.last("level", "fast")
        text = (args.value(key) or ("3" if key == "level" else "1")) if key is not None else "3"
        if not text.isdecimal() or len(text) > 6 or (key == "fast" and not int(text)):
            raise UsageError("Incorrect parameters")
        if key == "fast":
            return -min(int(text), _FASTEST)
        most = _ULTRA if args.flag("ultra") else _HIGHEST
        if int(text) > most and not self.silent:
            self.ctx.stderr.write(encode(f"Warning : compression level higher than max, reduced to {most} \n"))
        return min(int(text), most) or 3

    def warn(self, message: str) -> None:
        self.ctx.stderr.write(encode(f"{message}\n"))
        self.ctx.status = 1

    def tell(self, message: str) -> None:
        if not self.quiet:
            self.ctx.stderr.write(encode(f"{message}\n"))

    def run(self, operands: list[str]) -> int:
        names = self.below(operands) if self.recursive else operands or ["-"]
        if len(names) > 1 and self.output is not None and not self.stdout and not self.test:
            raise CommandError("several files are not joined into one output in this sandbox", 1)
        sizes = [size for name in names if (size := self.operand(name, alone=len(names) == 1)) is not None]
        if len(names) > 1 and not self.expand and not self.test:
            before, after = (sum(column) for column in zip(*sizes, strict=True)) if sizes else (0, 0)
            ratio = 100 * after / before if before else 0.0
            shown = f"{_size(before, 4)} => {_size(after, 4)}"
            self.tell(f"{len(sizes):3d} files compressed : {ratio:.2f}% ({shown})")
        elif len(names) > 1:
            self.tell(f"{len(sizes)} files decompressed :{sum(after for _, after in sizes):7d} bytes total ")
        return self.ctx.status

    def below(self, operands: list[str]) -> list[str]:
        """The operands, and in the place of directories all files below them."""
        names: list[str] = []
        pending = operands[::-1]
        while pending:
            name = pending.pop()
            self.ctx.budget.step()
            path = self.ctx.path(name)
            if self.ctx.fs.is_dir(path):
                pending += [posixpath.join(name, entry) for entry in reversed(self.ctx.fs.listdir(path))]
            else:
                names.append(name)
        return names

    def operand(self, name: str, *, alone: bool) -> tuple[int, int] | None:
        """The sizes before and after; None where it did not go well."""
        fs = self.ctx.fs
        if name == "-" and self.output is not None and not self.stdout and not self.test:
            stdin = "/*stdin*\\"
            return self.to_file(self.ctx.stdin, self.output, stdin, 0o666 & ~self.ctx.umask, self.ctx.host.clock(), alone=alone)
        if name == "-":
            return self.stream(self.ctx.stdin, None if self.test else self.ctx.stdout, "/*stdin*\\", "stdout", alone=False)
        path = self.ctx.path(name)
        target = None if self.test or self.stdout else self.target_name(name)
        if target is None and self.expand and not (self.test or self.stdout):
            return None
        try:
            if not self.force and not self.stdout and fs.stat(path, follow=False).is_link:
                self.warn(f"Warning : {name} is a symbolic link, ignoring ")
                return None
            info = fs.stat(path)
        except OSError as error:
            self.warn(f"zstd: can't stat {name} : {error.strerror} -- ignored ")
            return None
        if info.is_dir:
            self.warn(f"zstd: {name} is a directory -- ignored ")
            return None
        try:
            source = fs.open(path, "r")
        except OSError as error:
            self.warn(f"zstd: {name}: {error.strerror} ")
            return None
        try:
            if target is None:
                return self.stream(source, None if self.test else self.ctx.stdout, name, "stdout", alone=alone and self.test)
            sizes = self.to_file(source, target, name, info.permissions, info.mtime, alone=alone)
        finally:
            source.release()
        if sizes is not None and self.remove:
            fs.unlink(path)
        return sizes

    def target_name(self, name: str) -> str | None:
        if self.output is not None:
            return self.output
        if not self.expand:
            return f"{name}.zst"
        suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix) and len(name) > len(suffix)), None)
        if suffix is None:
            self.warn(
                f"zstd: {name}: unknown suffix ({'/'.join(_SUFFIXES)} expected). Can't derive the output file name. "
                "Specify it with -o dstFileName. Ignoring."
            )
            return None
        return name[: -len(suffix)] + _SUFFIXES[suffix]

    def to_file(self, source: ByteReader, target: str, name: str, permissions: int, mtime: float, *, alone: bool) -> tuple[int, int] | None:
        fs = self.ctx.fs
        path = self.ctx.path(target)
        if fs.exists(path, follow=False):
            if not self.force and not self.may_overwrite(target):
                return None
            fs.unlink(path)
        file = fs.open(path, "x", permissions=permissions)
        sizes = None
        try:
            sizes = self.stream(source, file, name, target, alone=alone)
        finally:
            file.release()
            if sizes is None:
                fs.unlink(path)
        if sizes is not None:
            fs.utime(path, mtime)
        return sizes

    def may_overwrite(self, target: str) -> bool:
        if self.silent:
            self.warn(f"zstd: {target} already exists; not overwritten  ")
            return False
        self.ctx.stderr.write(encode(f"zstd: {target} already exists; overwrite (y/n) ? "))
        if self.ctx.stdin.readline()[:1] in (b"y", b"Y"):
            return True
        self.warn("Not overwritten  \n ")
        return False

    def stream(self, source: ByteReader, target: ByteWriter | None, name: str, shown: str, *, alone: bool) -> tuple[int, int] | None:
        if self.expand or self.test:
            return self.unpack(Source(source), target, name, alone=alone)
        assert target is not None
        size = source.stat().size if isinstance(source, File) and source.stat().is_file else -1
        held = self.ctx.budget.hold(memory_of_compressor("zstd", self.level, size))
        packer = compressor("zstd", self.level, checksum=self.check, size=size)
        steps = 100 + 100 * max(self.level, 0)
        before, after = compress_stream(packer, source, target, self.ctx.budget, block=65536, steps=steps)
        del held
        if alone:
            ratio = f"{100 * after / before:6.2f}%" if before else "  0.00%"
            self.tell(f"{name:<20} :{ratio}   ({_size(before)} => {_size(after)}, {shown}) ")
        return before, after

    def unpack(self, source: Source, target: ByteWriter | None, name: str, *, alone: bool) -> tuple[int, int] | None:
        size = 0
        start = source.peek(6)
        passes = self.pass_through and self.stdout and target is not None
        format = detect(start)
        try:
            if start and passes and format in (None, "bzip2"):
                raise CompressionError("format")
            for block in decompress(source, "zstd" if format in (None, "bzip2") else format, self.ctx.budget):
                size += len(block)
                if target is not None:
                    target.write(block)
        except CompressionError as error:
            if error.problem == "format" and start and passes and target is not None:
                while block := source.block():
                    self.ctx.budget.step()
                    size += len(block)
                    target.write(block)
                return source.taken, size
            if error.problem == "format":
                self.warn(f"zstd: {name}: {'unknown header' if len(source.peek(4)) < 4 else 'unsupported format'} ")
            elif start:
                self.warn(f"{name} : {_PROBLEMS.get(error.problem, _PROBLEMS['data'])} ")
            else:
                self.warn(f"zstd: {name}: unexpected end of file ")
            return None
        if alone:
            self.tell(f"{name:<20}: {size} bytes ")
        return source.taken, size


def _size(size: int, unit_width: int = 0) -> str:
    """A size as zstd shows it: six columns and a unit."""
    number, unit = str(size), " B"
    for scale, name in ((1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB")):
        if size >= scale:
            value = size / scale
            digits = 0 if value >= 100 or value == size else 1 if value >= 10 else 2
            number, unit = f"{value:.{digits}f}", name
            break
    return f"{number:>6}{unit:>{unit_width}}"


_OPTIONS = """
      -z, --compress           compress (the default of zstd)
      -d, --decompress, --uncompress  decompress
      -t, --test               test compressed files
      -o, --output=FILE        write to FILE
      -c, --stdout             write to standard output
      -k, --keep               keep input files (the default)
          --rm                 remove input files that went well
      -f, --force              overwrite without asking; with -dc pass on what is not compressed
          --level=N            compress more (1 to 19, default 3), also as -N
          --ultra              levels to 22
          --fast[=N]           compress less, but faster
      -T, --threads=N          accepted: a sandbox has one thread
      -q, --quiet              no summary
          --no-progress        accepted: no progress is shown
          --check              add a checksum (the default)
          --no-check           add none
      -r                       directories stand for all files below them
      -v, --verbose            tell the release first
      -V, --version            print the release and exit
          --long[=N]           accepted: memory is limited by the sandbox
      -h, -H, --help               display this help and exit

    With no FILE, or when FILE is -, read standard input and write standard output.
"""


def _run(ctx: CommandContext, args: Arguments, usage: str, *, expand: bool, stdout: bool) -> int:
    if args.flag("help"):
        ctx.print(usage, end="")
        return 0
    if args.flag("version"):
        ctx.print(_RELEASE)
        return 0
    if args.flag("verbose"):
        ctx.stderr.write(encode(f"{_RELEASE}\n"))
    try:
        return _Zstd(ctx, args, expand=expand, stdout=stdout).run(args.operands)
    except CommandError as error:
        if error.status != 2:
            raise
        raise CommandError(error.message, 127) from None


@command(
    "zstd",
    manners=Manners(
        read_error=("NAME: error 37 : Read error ", 37),
        write_error=("NAME: /*stdout*\\: REASON ", 1),
    ),
    usage=f"    Usage: zstd [OPTION]... [FILE]...\n    Compress or expand FILEs with Zstandard.\n{_OPTIONS}",
    digits="level",
)
def zstd(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, args, zstd.usage, expand=False, stdout=False)


@command("unzstd", usage=f"    Usage: unzstd [OPTION]... [FILE]...\n    Decompress FILEs.\n{_OPTIONS}", digits="level")
def unzstd(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, args, unzstd.usage, expand=True, stdout=False)


@command(
    "zstdcat",
    manners=Manners(read_error=("zstd: error 37 : Read error ", 37)),
    usage=f"    Usage: zstdcat [OPTION]... [FILE]...\n    Decompress FILEs to standard output.\n{_OPTIONS}",
    digits="level",
)
def zstdcat(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, args, zstdcat.usage, expand=True, stdout=True)
