"""`bzip2`, `bunzip2` and `bzcat`: files compressed by block sorting."""

from __future__ import annotations

import os

from agentsandbox.commands._files.compression import (
    CORRUPT,
    RECOVER,
    CompressionError,
    Source,
    compress_stream,
    compressor,
    decompress,
)
from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_SUFFIXES = {".bz2": "", ".bz": "", ".tbz2": ".tar", ".tbz": ".tar"}


class _Bzip2:
    """One run over all operands: the status is the worst of 0, 1 (files) and 2 (corrupt data)."""

    def __init__(self, ctx: CommandContext, args: Arguments, *, expand: bool, stdout: bool) -> None:
        self.ctx = ctx
        mode = args.last("decompress", "compress", "test")
        self.expand = mode == "decompress" or (mode is None and expand)
        self.test = mode == "test"
        self.stdout = stdout or args.flag("stdout")
        self.keep = args.flag("keep")
        self.force = args.flag("force")
        self.quiet = args.flag("quiet")
        self.verbose = args.flag("verbose")
        level = args.last("fast", "best", *"2345678")
        self.level = {"fast": 1, "best": 9, None: 9}.get(level) or int(level or 9)
        self.ended = False
        """Whether a file was so corrupt that no other operand is looked at."""
        self.width = max([7, *map(len, args.operands)])

    def tell(self, text: str, status: int = 0) -> None:
        self.ctx.stderr.write(encode(text))
        self.ctx.status = max(self.ctx.status, status)

    def warn(self, message: str, status: int = 1) -> None:
        self.tell(f"{self.ctx.name}: {message}\n", status)

    def run(self, operands: list[str]) -> int:
        for number, name in enumerate(operands, 1):
            self.ctx.budget.step()
            try:
                self.operand(name)
            except OSError as error:
                self.warn(
                    f"Can't open input{'' if self.test else ' file'} {name}: {os.strerror(error.errno or 5)}."
                )
            if self.ended:
                left = len(operands) - number
                if left:
                    me = self.ctx.name
                    self.tell(f"{me}: WARNING: some files have not been processed:\n")
                    self.tell(
                        f"{me}:    {len(operands)} specified on command line, {left} not processed yet.\n\n"
                    )
                break
        if not operands:
            self.stream(
                self.ctx.stdin, None if self.test else self.ctx.stdout, "(stdin)", "(stdout)"
            )
        return self.ctx.status

    def operand(self, name: str) -> None:
        info = self.ctx.fs.stat(self.ctx.path(name), follow=self.force or self.stdout or self.test)
        if info.is_dir:
            self.warn(f"Input file {name} is a directory.")
            return
        if not info.is_file:
            self.warn(f"Input file {name} is not a normal file.")
            return
        if info.nlink > 1 and not self.force and not self.stdout and not self.test:
            self.warn(
                f"Input file {name} has {info.nlink - 1} other link{'s' if info.nlink > 2 else ''}."
            )
            return
        output = self.output_name(name)
        if output is None:
            return
        if (
            not self.stdout
            and not self.test
            and self.ctx.fs.exists(self.ctx.path(output), follow=False)
        ):
            if not self.force:
                self.warn(f"Output file {output} already exists.")
                return
            self.ctx.fs.unlink(self.ctx.path(output))
        self.regular_file(name, output, info)

    def output_name(self, name: str) -> str | None:
        if self.stdout or self.test:
            return "(stdout)"
        suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), None)
        if not self.expand:
            if suffix is not None:
                self.warn(f"Input file {name} already has {suffix} suffix.")
                return None
            return f"{name}.bz2"
        if suffix is not None:
            return name[: -len(suffix)] + _SUFFIXES[suffix]
        if not self.quiet:
            self.warn(f"Can't guess original name for {name} -- using {name}.out", 0)
        return f"{name}.out"

    def regular_file(self, name: str, output: str, info: Stat) -> None:
        fs, path = self.ctx.fs, self.ctx.path(output)
        file = fs.open(self.ctx.path(name), "r")
        to_file = not self.stdout and not self.test
        target = fs.open(path, "x", permissions=info.permissions) if to_file else None
        done = False
        try:
            done = self.stream(
                file, target or (None if self.test else self.ctx.stdout), name, output
            )
        finally:
            file.release()
            if target is not None:
                target.release()
                if not done:
                    fs.unlink(path)
        if target is not None and done:
            fs.chmod(path, info.permissions)
            fs.utime(path, info.mtime)
            if not self.keep:
                fs.unlink(self.ctx.path(name))

    def begin(self, name: str) -> None:
        if self.verbose:
            self.tell(f"  {name}: {' ' * (self.width - len(name))}")

    def stream(self, reader: ByteReader, target: ByteWriter | None, name: str, output: str) -> bool:
        """Whether it went well."""
        self.begin(name)
        if not self.expand and not self.test:
            assert target is not None
            self.squeeze(reader, target)
            return True
        source = Source(reader)
        plain = self.force and target is not None and source.peek(3) not in (b"", b"BZh")
        try:
            for block in (
                _as_it_is(source) if plain else decompress(source, "bzip2", self.ctx.budget)
            ):
                self.ctx.budget.step()
                if target is not None:
                    target.write(block)
        except CompressionError as error:
            return self.problem(error.problem, name, output)
        if self.verbose:
            self.tell("ok\n" if self.test else "done\n")
        return True

    def squeeze(self, reader: ByteReader, target: ByteWriter) -> None:
        packer = compressor("bzip2", self.level)
        before, after = compress_stream(
            packer, reader, target, self.ctx.budget, block=131072, steps=500
        )
        if self.verbose and not before:
            self.tell(" no data compressed.\n")
        elif self.verbose:
            self.tell(
                f"{before / after:6.3f}:1, {8 * after / before:6.3f} bits/byte, {100 * (1 - after / before):5.2f}% saved, "
                f"{before} in, {after} out.\n"
            )

    def problem(self, problem: str, name: str, output: str) -> bool:
        """Word what is wrong with compressed data; whether the output is good all the same."""
        me = self.ctx.name
        if problem == "garbage":
            if not self.quiet:
                self.tell(f"\n{me}: {name}: trailing garbage after EOF ignored\n")
            return True
        if self.test:
            text = {
                "format": "bad magic number (file not created by bzip2)",
                "end": "file ends unexpectedly",
            }.get(problem, "data integrity (CRC) error in data")
            self.tell(f"{'' if self.verbose else f'{me}: {name}: '}{text}\n\n{RECOVER}\n", 2)
        elif problem == "format":
            self.tell(
                "not a bzip2 file.\n" if self.verbose else f"{me}: {name} is not a bzip2 file.\n", 2
            )
        else:
            from_file = "Success" if name != "(stdin)" else "Inappropriate ioctl for device"
            reason = (
                from_file if output == "(stdout)" else "No such file or directory"
            )  # whatever errno held before
            what = "Data integrity error when decompressing."
            if problem == "end":
                what = f"Compressed file ends unexpectedly;\n\tperhaps it is corrupted?  *Possible* reason follows.\n{me}: {reason}"
            self.tell(
                f"\n{me}: {what}\n\tInput file = {name}, output file = {output}\n\n{CORRUPT}\n", 2
            )
            self.ended = True
            if output != "(stdout)":
                self.tell(f"{me}: Deleting output file {output}, if it exists.\n")
        return False


def _as_it_is(source: Source) -> Iterator[bytes]:
    while block := source.block():
        yield block


def _run(
    made: Command, ctx: CommandContext, words: list[str], *, expand: bool, stdout: bool
) -> int:
    try:
        args = made.parser().parse(words)
    except UsageError as error:
        long = error.message.startswith("unrecognized option")
        letters = (word for word in words if word[:1] == "-" and not word.startswith("--"))
        flag = error.message.split("'")[1] if long else next(letters, "")
        ctx.stderr.write(encode(f"{ctx.name}: Bad flag `{flag}'\n{made.usage}"))
        return 1
    if args.flag("version"):
        ctx.stderr.write(encode(bzip2.version()))
        return 0
    if args.flag("help"):
        ctx.stderr.write(encode(made.usage))
        return 0
    if stdout and args.last("decompress", "compress", "test") == "test":
        ctx.stderr.write(encode(f"{ctx.name}: -c and -t cannot be used together.\n"))
        return 1
    return _Bzip2(ctx, args, expand=expand, stdout=stdout).run(args.operands)


_OPTIONS = """
       -h, --help          print this message
       -V, --version       display the release that this command follows
       -d, --decompress    force decompression
       -z, --compress      force compression
       -k, --keep          keep (do not delete) input files
       -f, --force         overwrite existing output files
       -t, --test          test compressed file integrity
       -c, --stdout        output to standard out
       -q, --quiet         suppress noncritical error messages
       -v, --verbose       be verbose
       -s, --small         accepted: memory is small in any case
       -1, --fast          blocks of 100k
       -2                  blocks of 200k
       -3                  blocks of 300k
       -4                  blocks of 400k
       -5                  blocks of 500k
       -6                  blocks of 600k
       -7                  blocks of 700k
       -8                  blocks of 800k
       -9, --best          blocks of 900k
"""


_MANNERS = Manners(
    Release("NAME, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.", "-V, --version"),
)


@command(
    "bzip2",
    usage=f"Usage: bzip2 [flags and input files in any order]\nCompress files by block sorting.\n{_OPTIONS}",
    raw=True,
    manners=_MANNERS,
)
def bzip2(ctx: CommandContext, args: Arguments) -> int:
    return _run(bzip2, ctx, args.operands, expand=False, stdout=False)


@command(
    "bunzip2",
    usage=f"Usage: bunzip2 [flags and input files in any order]\nDecompress what bzip2 made.\n{_OPTIONS}",
    raw=True,
    manners=_MANNERS,
)
def bunzip2(ctx: CommandContext, args: Arguments) -> int:
    return _run(bunzip2, ctx, args.operands, expand=True, stdout=False)


@command(
    "bzcat",
    usage=f"Usage: bzcat [flags and input files in any order]\nDecompress to standard output.\n{_OPTIONS}",
    raw=True,
    manners=_MANNERS,
)
def bzcat(ctx: CommandContext, args: Arguments) -> int:
    return _run(bzcat, ctx, args.operands, expand=True, stdout=True)
