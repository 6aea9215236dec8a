"""`xz`, `unxz` and `xzcat` (XZ Utils): files compressed with LZMA."""

from __future__ import annotations

import os
import stat as stat_module

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
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_SUFFIXES = {".xz": "", ".lzma": "", ".txz": ".tar", ".tlz": ".tar"}
_PROBLEMS = {
    "format": "File format not recognized",
    "end": "Unexpected end of input",
    "data": "Compressed data is corrupt",
}


class _Xz:
    """One run over all operands: status 1 for errors, 2 for warnings."""

    def __init__(self, ctx: CommandContext, args: Arguments, *, expand: bool, stdout: bool) -> None:
        self.ctx = ctx
        mode = args.last("decompress", "compress", "test")
        self.expand = mode == "decompress" or (mode is None and expand)
        self.test = mode == "test"
        self.stdout = stdout or args.flag("stdout")
        self.keep = args.flag("keep") or self.stdout
        self.force = args.flag("force")
        self.quiet = args.flag("quiet")
        self.silent = sum(key == "quiet" for key, _ in args.given) > 1
        self.verbose = args.flag("verbose")
        self.forgiving = args.flag("no-warn")
        self.check = args.value("check", "crc64") or ""
        if self.check not in ("none", "crc32", "crc64", "sha256"):
            raise CommandError(f"{self.check}: Unsupported integrity check type")
        self.suffix = args.value("suffix") or ""
        level = args.last("fast", "best", *"012345678")
        self.level = (
            {"fast": 0, "best": 9, None: 6}.get(level)
            if level in ("fast", "best", None)
            else int(level or 6)
        )
        self.format = {"alone": "lzma"}.get(
            args.value("format", "auto") or "", args.value("format", "auto")
        )
        if self.format not in ("auto", "xz", "lzma"):
            raise CommandError(f"{self.format}: Unknown file format type")
        if args.flag("suffix") and (not self.suffix or "/" in self.suffix):
            raise CommandError(f"{self.suffix}: Invalid filename suffix")

    def error(self, message: str) -> None:
        if not self.silent:
            self.ctx.stderr.write(encode(f"{self.ctx.name}: {message}\n"))
        self.ctx.status = 1

    def caution(self, message: str) -> None:
        """A warning, which -q silences."""
        if not self.quiet:
            self.ctx.stderr.write(encode(f"{self.ctx.name}: {message}\n"))
        if not self.forgiving:
            self.ctx.status = self.ctx.status or 2

    def run(self, operands: list[str]) -> int:
        for name in operands:
            self.ctx.budget.step()
            if name == "-":
                self.stream(self.ctx.stdin, None if self.test else self.ctx.stdout, "(stdin)")
                continue
            try:
                self.operand(name)
            except OSError as error:
                self.error(f"{name}: {os.strerror(error.errno or 5)}")
        return self.ctx.status

    def operand(self, name: str) -> None:
        info = self.ctx.fs.stat(self.ctx.path(name), follow=self.force or self.keep or self.test)
        if info.is_dir:
            self.caution(f"{name}: Is a directory, skipping")
        elif info.is_link:
            self.caution(f"{name}: Is a symbolic link, skipping")
        elif not info.is_file:
            self.caution(f"{name}: Not a regular file, skipping")
        elif not (self.force or self.keep or self.test) and (problem := _unwanted(info)):
            self.caution(f"{name}: {problem}, skipping")
        else:
            self.regular_file(name, info)

    def output_name(self, name: str) -> str | None:
        suffixes = {self.suffix: "", **_SUFFIXES} if self.suffix else _SUFFIXES
        suffix = next(
            (suffix for suffix in suffixes if name.endswith(suffix) and len(name) > len(suffix)),
            None,
        )
        if self.expand:
            if suffix is not None:
                return name[: -len(suffix)] + suffixes[suffix]
            self.caution(f"{name}: Filename has an unknown suffix, skipping")
            return None
        if suffix is not None:
            self.caution(f"{name}: File already has `{suffix}' suffix, skipping")
            return None
        return name + (self.suffix or (".lzma" if self.format == "lzma" else ".xz"))

    def regular_file(self, name: str, info: Stat) -> None:
        fs = self.ctx.fs
        to_file = not self.stdout and not self.test
        file = fs.open(self.ctx.path(name), "r")
        try:
            if not to_file:
                self.stream(file, None if self.test else self.ctx.stdout, name)
                return
            source = Source(file)
            if self.expand and not self.knows(source):
                self.error(f"{name}: {_PROBLEMS['format']}")
                return
            output = self.output_name(name)
            if output is None:
                return
            path = self.ctx.path(output)
            if fs.exists(path, follow=False):
                if not self.force:
                    self.error(f"{output}: File exists")
                    return
                fs.unlink(path)
            file.seek(0)
            self.write_file(name, path, file, info)
        finally:
            file.release()

    def write_file(self, name: str, path: str, file: ByteReader, info: Stat) -> None:
        fs = self.ctx.fs
        target = fs.open(path, "x", permissions=info.permissions & 0o777)
        done = False
        try:
            done = self.stream(file, target, name)
        finally:
            target.release()
            if not done:
                fs.unlink(path)
        if done:
            fs.chmod(path, info.permissions & 0o777)
            fs.utime(path, info.mtime)
            if not self.keep:
                fs.unlink(self.ctx.path(name))

    def stream(self, reader: ByteReader, target: ByteWriter | None, name: str) -> bool:
        """Whether it went well."""
        if not self.expand and not self.test:
            assert target is not None
            self.squeeze(reader, target, name)
            return True
        source = Source(reader)
        try:
            if not self.knows(source):
                if self.force and self.stdout and target is not None:
                    while block := source.block():
                        self.ctx.budget.step()
                        target.write(block)
                    return True
                raise CompressionError("format")
            self.write_expanded(source, target, name)
        except CompressionError as error:
            problem = "end" if error.problem == "garbage" else error.problem
            self.error(f"{name}: {_PROBLEMS[problem]}")
            return False
        return True

    def knows(self, source: Source) -> bool:
        """Whether the data is in a format that may be expanded."""
        found = detect(source.peek(6))
        return found in (("xz", "lzma") if self.format == "auto" else (self.format,))

    def write_expanded(self, source: Source, target: ByteWriter | None, name: str) -> None:
        size = 0
        for block in decompress(source, detect(source.peek(6)) or "xz", self.ctx.budget):
            size += len(block)
            if target is not None:
                target.write(block)
        if self.verbose:
            self.tell_sizes(name, source.taken, size)

    def squeeze(self, reader: ByteReader, target: ByteWriter, name: str) -> None:
        held = self.ctx.budget.hold(memory_of_compressor("xz", self.level))
        packer = compressor("lzma" if self.format == "lzma" else "xz", self.level, check=self.check)
        before, after = compress_stream(
            packer, reader, target, self.ctx.budget, block=16384, steps=500
        )
        del held
        if self.verbose:
            self.tell_sizes(name, after, before)

    def tell_sizes(self, name: str, compressed: int, plain: int) -> None:
        ratio = (
            f"= {compressed / plain:.3f}" if plain and compressed / plain <= 9.999 else "> 9.999"
        )
        self.ctx.stderr.write(encode(f"{name}: {compressed} B / {plain} B {ratio}\n"))


def _unwanted(info: Stat) -> str:
    """Why a file is left alone unless -f or -k is given; "" for most."""
    if info.mode & (stat_module.S_ISUID | stat_module.S_ISGID):
        return "File has setuid or setgid bit set"
    if info.mode & stat_module.S_ISVTX:
        return "File has sticky bit set"
    return "Input file has more than one hard link" if info.nlink > 1 else ""


_OPTIONS = """
      -z, --compress           force compression
      -d, --decompress, --uncompress  force decompression
      -t, --test               test compressed file integrity
      -k, --keep               keep (do not delete) input files
      -f, --force              force overwrite of output file and compress links
      -c, --stdout, --to-stdout  write to standard output and do not delete input files
      -S, --suffix=SUF         use the suffix SUF on compressed files
      -F, --format=FMT         auto (default), xz or lzma (or alone)
      -0, --fast               compress fastest
      -1                       a preset between
      -2                       a preset between
      -3                       a preset between
      -4                       a preset between
      -5                       a preset between
      -6                       the default preset; those beyond need more memory, and are taken as this one
      -7                       see -6
      -8                       see -6
      -9, --best               see -6
      -C, --check=NAME         none, crc32, crc64 (default) or sha256
      -e, --extreme            accepted: it trades time for little
      -M, --memlimit=LIMIT     accepted: the sandbox limits memory itself
      -Q, --no-warn            a warning does not make the status 2
      -H, --long-help          the same as --help
      -T, --threads=NUM        accepted: a sandbox has one thread
      -q, --quiet              suppress warnings
      -v, --verbose            be verbose
      -h, --help               display this help and exit

    With no FILE, or when FILE is -, read standard input.
"""


def _run(
    made: Command,
    ctx: CommandContext,
    args: Arguments,
    *,
    expand: bool,
    stdout: bool,
    lzma: bool = False,
) -> int:
    given = []
    for variable in ("XZ_DEFAULTS", "XZ_OPT"):
        given += made.parser().parse(ctx.env.get(variable, "").split()).given
    args.given[:0] = [(key, value) for key, value in given if key]
    if args.flag("long-help"):
        ctx.print(made.usage, end="")
        return 0
    if lzma and args.value("format") is None:
        args.given.append(("format", "lzma"))
    return _Xz(ctx, args, expand=expand, stdout=stdout).run(args.operands or ["-"])


_RELEASE = Release("xz (XZ Utils) 5.4.1", "-V, --version")
_MANNERS = Manners(
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
)
_LZMA_MANNERS = Manners(
    _RELEASE,
    long_options="""
        stdout decompress compress keep force test suffix quiet verbose help license
        version fast best
    """,
)
_HINT = "NAME: Try `NAME --help' for more information."


@command(
    "xz",
    usage=f"    Usage: xz [OPTION]... [FILE]...\n    Compress or decompress FILEs in the .xz format.\n{_OPTIONS}",
    hint=_HINT,
    manners=_MANNERS,
)
def xz(ctx: CommandContext, args: Arguments) -> int:
    return _run(xz, ctx, args, expand=False, stdout=False)


@command(
    "unxz",
    usage=f"    Usage: unxz [OPTION]... [FILE]...\n    Decompress FILEs in the .xz format.\n{_OPTIONS}",
    hint=_HINT,
    manners=_MANNERS,
)
def unxz(ctx: CommandContext, args: Arguments) -> int:
    return _run(unxz, ctx, args, expand=True, stdout=False)


@command(
    "xzcat",
    usage=f"    Usage: xzcat [OPTION]... [FILE]...\n    Decompress FILEs to standard output.\n{_OPTIONS}",
    hint=_HINT,
    manners=_MANNERS,
)
def xzcat(ctx: CommandContext, args: Arguments) -> int:
    return _run(xzcat, ctx, args, expand=True, stdout=True)


@command(
    "lzma",
    usage=f"    Usage: lzma [OPTION]... [FILE]...\n    Compress or decompress FILEs in the .lzma format.\n{_OPTIONS}",
    hint=_HINT,
    manners=_LZMA_MANNERS,
)
def lzma(ctx: CommandContext, args: Arguments) -> int:
    return _run(lzma, ctx, args, expand=False, stdout=False, lzma=True)


@command(
    "unlzma",
    usage=f"    Usage: unlzma [OPTION]... [FILE]...\n    Decompress FILEs in the .lzma format.\n{_OPTIONS}",
    hint=_HINT,
    manners=_LZMA_MANNERS,
)
def unlzma(ctx: CommandContext, args: Arguments) -> int:
    return _run(unlzma, ctx, args, expand=True, stdout=False, lzma=True)


@command(
    "lzcat",
    usage=f"    Usage: lzcat [OPTION]... [FILE]...\n    Decompress FILEs to standard output.\n{_OPTIONS}",
    hint=_HINT,
    manners=_LZMA_MANNERS,
)
def lzcat(ctx: CommandContext, args: Arguments) -> int:
    return _run(lzcat, ctx, args, expand=True, stdout=True, lzma=True)
