"""`zstd`, `unzstd` and `zstdcat`: files compressed with Zstandard, where the host has installed the
extra `zstd`.
"""

from __future__ import annotations

from agentsandbox.commands._files.compression import (
    CompressionError,
    Source,
    compress_stream,
    compressor,
    decompress,
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

_SUFFIXES = {".zst": "", ".tzst": ".tar"}
_KNOWN = ".zst/.tzst/.gz/.tgz/.lzma/.xz/.txz/.lz4/.tlz4"
_PROBLEMS = {
    "end": "Read error (39) : premature end",
    "data": "Decoding error (36) : Data corruption detected",
    "check": "Decoding error (36) : Restored data doesn't match checksum",
}
_STDIN = "/*stdin*\\"
_RELEASE = "*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***"
_HIGHEST, _ULTRA, _FASTEST = 19, 22, 131072


class _Zstd:
    """One run over all operands."""

    def __init__(self, ctx: CommandContext, args: Arguments, *, expand: bool, stdout: bool) -> None:
        load_zstandard()
        self.ctx = ctx
        mode = args.last("decompress", "compress", "test")
        self.test = mode == "test"
        self.expand = self.test or mode == "decompress" or (mode is None and expand)
        self.output = args.value("output")
        to_file = args.last("output", "stdout") == "output" and self.output != "-"
        self.stdout = not to_file and (stdout or args.flag("stdout") or self.output == "-")
        self.force = args.flag("force")
        self.remove = args.last("rm", "keep") == "rm"
        self.quiet = self.stdout or args.flag("quiet") or len(args.operands) > 1
        self.check = args.last("no-check", "check") != "no-check"
        self.level = _level(args)

    def warn(self, message: str) -> None:
        self.ctx.stderr.write(encode(f"{message}\n"))
        self.ctx.status = 1

    def run(self, operands: list[str]) -> int:
        """Work on every operand, stdin for "-" or none."""
        if len(operands) > 1 and self.output is not None and not self.stdout and not self.test:
            raise CommandError("several files are not joined into one output in this sandbox", 1)
        for name in operands or ["-"]:
            self.ctx.budget.step()
            if name == "-":
                self.standard_input()
            else:
                self.operand(name)
        return self.ctx.status

    def standard_input(self) -> None:
        if self.test or self.stdout or self.output is None:
            target = None if self.test else self.ctx.stdout
            self.stream(self.ctx.stdin, target, _STDIN, "stdout", told=False)
        else:
            permissions = 0o666 & ~self.ctx.umask
            self.to_file(self.ctx.stdin, self.output, _STDIN, permissions, self.ctx.host.clock())

    def operand(self, name: str) -> None:
        fs, path = self.ctx.fs, self.ctx.path(name)
        target = None if self.test or self.stdout else self.target_name(name)
        if target is None and self.expand and not (self.test or self.stdout):
            return
        try:
            if not self.force and not self.stdout and fs.stat(path, follow=False).is_link:
                self.warn(f"Warning : {name} is a symbolic link, ignoring ")
                return
            info = fs.stat(path)
        except OSError as error:
            self.warn(f"zstd: can't stat {name} : {error.strerror} -- ignored ")
            return
        if info.is_dir:
            self.warn(f"zstd: {name} is a directory -- ignored ")
            return
        try:
            source = fs.open(path, "r")
        except OSError as error:
            self.warn(f"zstd: {name}: {error.strerror} ")
            return
        try:
            if target is None:
                output = None if self.test else self.ctx.stdout
                self.stream(source, output, name, "stdout", told=self.test)
                return
            done = self.to_file(source, target, name, info.permissions, info.mtime)
        finally:
            source.release()
        if done and self.remove:
            fs.unlink(path)

    def target_name(self, name: str) -> str | None:
        if self.output is not None:
            return self.output
        if not self.expand:
            return f"{name}.zst"
        for suffix, instead in _SUFFIXES.items():
            if name.endswith(suffix) and len(name) > len(suffix):
                return name[: -len(suffix)] + instead
        self.warn(
            f"zstd: {name}: unknown suffix ({_KNOWN} expected). "
            "Can't derive the output file name. Specify it with -o dstFileName. Ignoring."
        )
        return None

    def to_file(
        self, source: ByteReader, target: str, name: str, permissions: int, mtime: float
    ) -> bool:
        fs, path = self.ctx.fs, self.ctx.path(target)
        if fs.exists(path, follow=False):
            if not self.force:
                self.warn(f"zstd: {target} already exists; not overwritten  ")
                return False
            fs.unlink(path)
        file = fs.open(path, "x", permissions=permissions)
        done = False
        try:
            done = self.stream(source, file, name, target, told=True)
        finally:
            file.release()
            if not done:
                fs.unlink(path)
        if done:
            fs.utime(path, mtime)
        return done

    def stream(
        self, source: ByteReader, target: ByteWriter | None, name: str, shown: str, *, told: bool
    ) -> bool:
        """Compress or expand one file, and say its sizes; whether it went well."""
        if self.expand:
            size = self.unpack(Source(source), target, name)
            said = f"{name:<20}: {size} bytes "
        else:
            assert target is not None
            size = source.stat().size if isinstance(source, File) and source.stat().is_file else -1
            held = self.ctx.budget.hold(memory_of_compressor("zstd", self.level, size))
            packer = compressor("zstd", self.level, checksum=self.check, size=size)
            steps = 100 + 100 * max(self.level, 0)
            size, after = compress_stream(
                packer, source, target, self.ctx.budget, block=65536, steps=steps
            )
            del held
            ratio = f"{100 * after / size:6.2f}%" if size else "  0.00%"
            said = f"{name:<20} :{ratio}   ({_size(size)} => {_size(after)}, {shown}) "
        if told and size is not None and not self.quiet:
            self.ctx.stderr.write(encode(f"{said}\n"))
        return size is not None

    def unpack(self, source: Source, target: ByteWriter | None, name: str) -> int | None:
        """Expand one file; the size of its data, None where the file is wrong."""
        size = 0
        start = source.peek(4)
        try:
            for block in decompress(source, "zstd", self.ctx.budget):
                size += len(block)
                if target is not None:
                    target.write(block)
        except CompressionError as error:
            if not start:
                self.warn(f"zstd: {name}: unexpected end of file ")
            elif error.problem == "format":
                known = len(source.peek(4)) == 4
                self.warn(f"zstd: {name}: {'unsupported format' if known else 'unknown header'} ")
            else:
                self.warn(f"{name} : {_PROBLEMS.get(error.problem, _PROBLEMS['data'])} ")
            return None
        return size


def _level(args: Arguments) -> int:
    key = args.last("level", "fast")
    text = "3" if key is None else args.value(key) or ("3" if key == "level" else "1")
    if not text.isdecimal() or len(text) > 6 or (key == "fast" and not int(text)):
        raise UsageError("Incorrect parameters")
    if key == "fast":
        return -min(int(text), _FASTEST)
    return min(int(text), _ULTRA if args.flag("ultra") else _HIGHEST) or 3


def _size(size: int) -> str:
    """A size as zstd shows it: six columns and a unit."""
    for scale, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= scale:
            value = size / scale
            digits = 0 if value >= 100 or value == size else 1 if value >= 10 else 2
            return f"{value:6.{digits}f} {unit}"
    return f"{size:>6} B"


_OPTIONS = """
      -z, --compress           compress (the default of zstd)
      -d, --decompress, --uncompress  decompress
      -t, --test               test compressed files
      -o, --output=FILE        write to FILE
      -c, --stdout             write to standard output
      -k, --keep               keep input files (the default)
          --rm                 remove input files that went well
      -f, --force              overwrite what is there
          --level=N            compress more (1 to 19, default 3), also as -N
          --ultra              levels to 22
          --fast[=N]           compress less, but faster
      -T, --threads=N          accepted: a sandbox has one thread
      -q, --quiet              no summary
          --no-progress        accepted: no progress is shown
          --check              add a checksum (the default)
          --no-check           add none
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


@command(
    "unzstd",
    usage=f"    Usage: unzstd [OPTION]... [FILE]...\n    Decompress FILEs.\n{_OPTIONS}",
    digits="level",
)
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
