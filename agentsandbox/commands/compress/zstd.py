"""`zstd`, `unzstd` and `zstdcat`, if the host has installed the extra `zstd`."""

from __future__ import annotations

from agentsandbox.commands._files.compressed_files import CompressionRun, split_suffix
from agentsandbox.commands._files.compression import (
    CompressionError,
    Source,
    compress_stream,
    compressor,
    decompress,
    load_zstandard,
    memory_of_compressor,
)
from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
_HIGHEST = 19


class _Zstd(CompressionRun):
    """One run over all operands."""

    def __init__(self, ctx: CommandContext, args: Arguments, *, expand: bool, stdout: bool) -> None:
        super().__init__(ctx)
        load_zstandard()
        mode = args.last("decompress", "compress", "test")
        self.test = mode == "test"
        self.expand = self.test or mode == "decompress" or (mode is None and expand)
        self.output = args.value("output")
        to_file = args.last("output", "stdout") == "output" and self.output != "-"
        self.stdout = not to_file and (stdout or args.flag("stdout") or self.output == "-")
        self.force = args.flag("force")
        self.keep = args.last("rm", "keep") != "rm"
        self.quiet = self.stdout or args.flag("quiet") or len(args.operands) > 1
        level = args.value("level") or "3"
        if not level.isdecimal() or len(level) > 6:
            raise UsageError("Incorrect parameters")
        self.level = min(int(level), _HIGHEST) or 3

    def warn(self, message: str) -> None:
        self.tell(f"{message}\n", 1)

    def report(self, name: str, error: OSError) -> None:
        self.warn(f"zstd: {name}: {error.strerror} ")

    def report_existing(self, output: str) -> None:
        self.warn(f"zstd: {output} already exists; not overwritten  ")

    def run(self, operands: Sequence[str]) -> int:
        if len(operands) > 1 and self.output is not None and not self.stdout and not self.test:
            raise CommandError("several files are not joined into one output in this sandbox", 1)
        return super().run(operands)

    def standard_input(self) -> None:
        stdin, output = self.ctx.stdin, self.output
        if self.test or self.stdout or output is None:
            self.quiet = True
            self.stream(stdin, None if self.test else self.ctx.stdout, _STDIN, "stdout")
        elif self.vacate(output):
            self.make(
                output,
                0o666 & ~self.ctx.umask,
                self.ctx.host.clock(),
                lambda target: self.stream(stdin, target, _STDIN, output),
            )

    def operand(self, name: str) -> None:
        to_file = not self.stdout and not self.test
        output = self.output_name(name) if to_file else "stdout"
        if not output:
            return
        fs, path = self.ctx.fs, self.ctx.path(name)
        try:
            info = fs.stat(path, follow=self.force or self.stdout)
            if info.is_link:
                self.warn(f"Warning : {name} is a symbolic link, ignoring ")
                return
        except OSError as error:
            self.warn(f"zstd: can't stat {name} : {error.strerror} -- ignored ")
            return
        if info.is_dir:
            self.warn(f"zstd: {name} is a directory -- ignored ")
            return
        self.convert(name, info, output)

    def output_name(self, name: str) -> str:
        """Return the name of the output, "" after a message that the file is skipped."""
        if self.output is not None:
            return self.output
        if not self.expand:
            return f"{name}.zst"
        found = split_suffix(name, _SUFFIXES)
        if found is not None:
            return found[0]
        self.warn(
            f"zstd: {name}: unknown suffix ({_KNOWN} expected). "
            "Can't derive the output file name. Specify it with -o dstFileName. Ignoring."
        )
        return ""

    def stream(self, reader: ByteReader, target: ByteWriter | None, name: str, output: str) -> bool:
        if self.expand:
            size = self.unpack(Source(reader), target, name)
            if size is None:
                return False
            said = f"{name:<20}: {size} bytes "
        else:
            assert target is not None
            before, after = self.compress(reader, target)
            ratio = f"{100 * after / before:6.2f}%" if before else "  0.00%"
            said = f"{name:<20} :{ratio}   ({_size(before)} => {_size(after)}, {output}) "
        if not self.quiet:
            self.tell(f"{said}\n")
        return True

    def compress(self, reader: ByteReader, target: ByteWriter) -> tuple[int, int]:
        is_file = isinstance(reader, File) and reader.stat().is_file
        size = reader.stat().size if isinstance(reader, File) and is_file else -1
        held = self.ctx.budget.hold(memory_of_compressor("zstd", self.level, size))
        packer = compressor("zstd", self.level, size=size)
        steps = 100 + 100 * self.level
        sizes = compress_stream(packer, reader, target, self.ctx.budget, block=65536, steps=steps)
        del held
        return sizes

    def unpack(self, source: Source, target: ByteWriter | None, name: str) -> int | None:
        """Expand one stream; return the size of its data, None if it is damaged."""
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
                self.warn(f"{name} : {_PROBLEMS[error.problem]} ")
            return None
        return size


def _size(size: int) -> str:
    """Return a size as zstd shows it: six columns and a unit."""
    for scale, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= scale:
            value = size / scale
            digits = 0 if value >= 100 or value == size else 1 if value >= 10 else 2
            return f"{value:6.{digits}f} {unit}"
    return f"{size:>6} B"


_USAGE = """
Usage: NAME [OPTION]... [FILE]...
SUMMARY

  -z, --compress           compress (the default of zstd)
  -d, --decompress, --uncompress  decompress
  -t, --test               test compressed files
  -o, --output=FILE        write to FILE
  -c, --stdout             write to standard output
  -k, --keep               keep input files (the default)
      --rm                 remove input files that went well
  -f, --force              overwrite existing files
      --level=N            compress more (1 to 19, default 3), also as -N
  -T, --threads=N          accepted: a sandbox has one thread
  -q, --quiet              no summary
  -V, --version            print the release and exit
  -h, -H, --help           display this help and exit

With no FILE, or when FILE is -, read standard input and write standard output.
"""


def _zstd_command(
    name: str,
    summary: str,
    *,
    expand: bool = False,
    stdout: bool = False,
    manners: Manners | None = None,
) -> Command:
    """Return one of the three commands; they differ in what they do without options."""

    @command(
        name,
        usage=_USAGE.replace("NAME", name).replace("SUMMARY", summary),
        digits="level",
        manners=manners or Manners(),
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        if args.flag("help"):
            ctx.print(run.usage, end="")
            return 0
        if args.flag("version"):
            ctx.print(_RELEASE)
            return 0
        try:
            return _Zstd(ctx, args, expand=expand, stdout=stdout).run(args.operands)
        except CommandError as error:
            if error.status != 2:
                raise
            raise CommandError(error.message, 127) from None

    return run


zstd = _zstd_command(
    "zstd",
    "Compress or expand FILEs with Zstandard.",
    manners=Manners(
        read_error=("NAME: error 37 : Read error ", 37),
        write_error=("NAME: /*stdout*\\: REASON ", 1),
    ),
)
unzstd = _zstd_command("unzstd", "Decompress FILEs.", expand=True)
zstdcat = _zstd_command(
    "zstdcat",
    "Decompress FILEs to standard output.",
    expand=True,
    stdout=True,
    manners=Manners(read_error=("zstd: error 37 : Read error ", 37)),
)
