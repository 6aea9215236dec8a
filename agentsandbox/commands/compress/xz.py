"""`xz`, `unxz`, `xzcat` (XZ Utils), and the same for the older format .lzma."""

from __future__ import annotations

import os

from agentsandbox.commands._files.compressed_files import (
    LEVELS,
    CompressionRun,
    find_obstacle,
    split_suffix,
)
from agentsandbox.commands._files.compression import (
    CompressionError,
    Source,
    compress_stream,
    compressor,
    decompress,
    detect,
    memory_of_compressor,
)
from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_SUFFIXES = {".xz": "", ".lzma": "", ".txz": ".tar", ".tlz": ".tar"}
_OBSTACLES = {
    "directory": "Is a directory",
    "link": "Is a symbolic link",
    "special": "Not a regular file",
    "names": "Input file has more than one hard link",
}
_PROBLEMS = {
    "format": "File format not recognized",
    "end": "Unexpected end of input",
    "garbage": "Unexpected end of input",
    "data": "Compressed data is corrupt",
}


class _Xz(CompressionRun):
    """One run: status 1 for errors, 2 for warnings."""

    def __init__(
        self, ctx: CommandContext, args: Arguments, format: str, *, expand: bool, stdout: bool
    ) -> None:
        super().__init__(ctx)
        mode = args.last("decompress", "compress", "test")
        self.expand = mode == "decompress" or (mode is None and expand)
        self.test = mode == "test"
        self.stdout = stdout or args.flag("stdout")
        self.keep = args.flag("keep") or self.stdout
        self.force = args.flag("force")
        self.quiet = sum(key == "quiet" for key, _ in args.given)
        self.verbose = args.flag("verbose")
        self.format = format
        level = args.last("fast", "best", *"12345678") or "6"
        self.level = 0 if level == "fast" else 9 if level == "best" else int(level)

    def error(self, message: str) -> None:
        if self.quiet < 2:
            self.ctx.stderr.write(encode(f"{self.ctx.name}: {message}\n"))
        self.ctx.status = 1

    def caution(self, message: str) -> None:
        """Report a file that is skipped, unless -q is given."""
        if not self.quiet:
            self.ctx.stderr.write(encode(f"{self.ctx.name}: {message}, skipping\n"))
        self.ctx.status = self.ctx.status or 2

    def report(self, name: str, error: OSError) -> None:
        self.error(f"{name}: {os.strerror(error.errno or 5)}")

    def report_existing(self, output: str) -> None:
        self.error(f"{output}: File exists")

    def operand(self, name: str) -> None:
        follow = self.force or self.keep or self.test
        info = self.ctx.fs.stat(self.ctx.path(name), follow=follow)
        obstacle = find_obstacle(info, _OBSTACLES, links=not follow)
        if obstacle:
            self.caution(f"{name}: {obstacle}")
            return
        output = "(stdout)"
        if not self.stdout and not self.test:
            if self.expand and not self.knows_file(name):
                self.error(f"{name}: {_PROBLEMS['format']}")
                return
            output = self.output_name(name)
        if output:
            self.convert(name, info, output)

    def output_name(self, name: str) -> str:
        """Return the name of the output, "" after a message that the file is skipped."""
        found = split_suffix(name, _SUFFIXES)
        if self.expand and found is None:
            self.caution(f"{name}: Filename has an unknown suffix")
        elif found is None:
            return f"{name}.{self.format}"
        elif self.expand:
            return found[0]
        else:
            self.caution(f"{name}: File already has `{found[1]}' suffix")
        return ""

    def knows_file(self, name: str) -> bool:
        """Whether a file begins as compressed data does."""
        file = self.ctx.fs.open(self.ctx.path(name), "r")
        try:
            return self.detect(Source(file)) is not None
        finally:
            file.release()

    def detect(self, source: Source) -> str | None:
        """Return the format of the data, None if unknown; the lzma commands know only .lzma."""
        found = detect(source.peek(6))
        return found if found == "lzma" or (found == "xz" and self.format == "xz") else None

    def stream(self, reader: ByteReader, target: ByteWriter | None, name: str, output: str) -> bool:
        if not self.expand and not self.test:
            assert target is not None
            self.compress(reader, target, name)
            return True
        source = Source(reader)
        format = self.detect(source)
        size = 0
        try:
            if format is not None:
                blocks = decompress(source, format, self.ctx.budget)
            elif self.force and self.stdout:
                blocks = source.blocks()
            else:
                raise CompressionError("format")
            for block in blocks:
                self.ctx.budget.step()
                size += len(block)
                if target is not None:
                    target.write(block)
        except CompressionError as error:
            self.error(f"{name}: {_PROBLEMS[error.problem]}")
            return False
        if self.verbose:
            self.tell_sizes(name, source.taken, size)
        return True

    def compress(self, reader: ByteReader, target: ByteWriter, name: str) -> None:
        held = self.ctx.budget.hold(memory_of_compressor("xz", self.level))
        packer = compressor(self.format, self.level)
        before, after = compress_stream(
            packer, reader, target, self.ctx.budget, block=16384, steps=500
        )
        del held
        if self.verbose:
            self.tell_sizes(name, after, before)

    def tell_sizes(self, name: str, compressed: int, plain: int) -> None:
        ratio = compressed / plain if plain else 10
        shown = f"= {ratio:.3f}" if ratio <= 9.999 else "> 9.999"
        self.tell(f"{name}: {compressed} B / {plain} B {shown}\n")


_USAGE = f"""
Usage: NAME [OPTION]... [FILE]...
SUMMARY

  -z, --compress           force compression
  -d, --decompress, --uncompress  force decompression
  -t, --test               test compressed file integrity
  -k, --keep               keep (do not delete) input files
  -f, --force              force overwrite of output file and compress links
  -c, --stdout, --to-stdout  write to standard output and do not delete input files
  -0, --fast               compress fastest
  -1                  a level between
{LEVELS}  -9, --best               those above 6 need more memory, and are taken as 6, the default
  -e, --extreme            accepted: it trades time for little
  -T, --threads=NUM        accepted: a sandbox has one thread
  -q, --quiet              suppress warnings; twice, errors too
  -v, --verbose            print sizes
  -h, -H, --help, --long-help  display this help and exit

With no FILE, or when FILE is -, read standard input.
"""
_RELEASE = Release("xz (XZ Utils) 5.4.1", "-V, --version")
_MANNERS = {
    "xz": Manners(
        _RELEASE,
        long_options="""
            compress decompress uncompress test list keep force stdout to-stdout
            single-stream no-sparse suffix files files0 format check ignore-check
            block-size block-list memlimit-compress memlimit-decompress
            memlimit-mt-decompress memlimit memory no-adjust threads flush-timeout
            extreme fast best lzma1 lzma2 x86 powerpc ia64 arm armthumb arm64 sparc
            delta quiet verbose no-warn robot info-memory help long-help version
        """,
        read_error=("NAME: (stdin): Read error: REASON", 1),
        write_error=("NAME: (stdout): Write error: REASON", 1),
    ),
    "lzma": Manners(
        _RELEASE,
        long_options="""
            stdout decompress compress keep force test suffix quiet verbose help license
            version fast best
        """,
    ),
}


def _xz_command(name: str, format: str, *, expand: bool = False, stdout: bool = False) -> Command:
    """Return one of the six commands; they differ in what they do without options."""
    doing = "Decompress" if expand else "Compress or decompress"
    summary = f"{doing} FILEs in the .{format} format{' to standard output' if stdout else ''}."

    @command(
        name,
        usage=_USAGE.replace("NAME", name).replace("SUMMARY", summary),
        hint="NAME: Try `NAME --help' for more information.",
        manners=_MANNERS[format],
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        return _Xz(ctx, args, format, expand=expand, stdout=stdout).run(args.operands)

    return run


xz = _xz_command("xz", "xz")
unxz = _xz_command("unxz", "xz", expand=True)
xzcat = _xz_command("xzcat", "xz", expand=True, stdout=True)
lzma = _xz_command("lzma", "lzma")
unlzma = _xz_command("unlzma", "lzma", expand=True)
lzcat = _xz_command("lzcat", "lzma", expand=True, stdout=True)
