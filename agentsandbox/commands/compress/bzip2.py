"""`bzip2`, `bunzip2` and `bzcat`: files compressed by block sorting."""

from __future__ import annotations

import os

from agentsandbox.commands._files.compressed_files import (
    LEVELS,
    CompressionRun,
    find_obstacle,
    split_suffix,
)
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
    from collections.abc import Sequence

    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_SUFFIXES = {".bz2": "", ".bz": "", ".tbz2": ".tar", ".tbz": ".tar"}
_OBSTACLES = {
    "directory": "is a directory.",
    "link": "is not a normal file.",
    "special": "is not a normal file.",
    "names": "has COUNT.",
}
_WRONG = {"format": "bad magic number (file not created by bzip2)", "end": "file ends unexpectedly"}
"""What -t says of damaged data."""


class _Bzip2(CompressionRun):
    """One run: the status is the worst of 0, 1 (files) and 2 (damaged data)."""

    def __init__(self, ctx: CommandContext, args: Arguments, *, expand: bool, stdout: bool) -> None:
        super().__init__(ctx)
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
        self.width = max([7, *map(len, args.operands)])

    def warn(self, message: str, status: int = 1) -> None:
        self.tell(f"{self.ctx.name}: {message}\n", status)

    def report(self, name: str, error: OSError) -> None:
        what = "input" if self.test else "input file"
        self.warn(f"Can't open {what} {name}: {os.strerror(error.errno or 5)}.")

    def report_existing(self, output: str) -> None:
        self.warn(f"Output file {output} already exists.")

    def run(self, operands: Sequence[str]) -> int:
        status = super().run(operands)
        if self.ended and self.left:
            me = self.ctx.name
            self.tell(
                f"{me}: WARNING: some files have not been processed:\n"
                f"{me}:    {len(operands)} specified on command line, "
                f"{self.left} not processed yet.\n\n"
            )
        return status

    def operand(self, name: str) -> None:
        to_file = not self.stdout and not self.test
        info = self.ctx.fs.stat(self.ctx.path(name), follow=self.force or not to_file)
        obstacle = find_obstacle(info, _OBSTACLES, links=to_file and not self.force)
        if obstacle:
            self.warn(f"Input file {name} {obstacle}")
            return
        output = self.output_name(name) if to_file else "(stdout)"
        if output:
            self.convert(name, info, output)

    def output_name(self, name: str) -> str:
        """Return the name of the output, "" after a message that the file is skipped."""
        found = split_suffix(name, _SUFFIXES)
        if self.expand:
            if found is None and not self.quiet:
                self.warn(f"Can't guess original name for {name} -- using {name}.out", 0)
            return f"{name}.out" if found is None else found[0]
        if found is not None:
            self.warn(f"Input file {name} already has {found[1]} suffix.")
            return ""
        return f"{name}.bz2"

    def stream(self, reader: ByteReader, target: ByteWriter | None, name: str, output: str) -> bool:
        if self.verbose:
            self.tell(f"  {name}: {' ' * (self.width - len(name))}")
        if not self.expand and not self.test:
            assert target is not None
            self.compress(reader, target)
            return True
        source = Source(reader)
        is_plain = self.force and target is not None and source.peek(3) not in (b"", b"BZh")
        blocks = source.blocks() if is_plain else decompress(source, "bzip2", self.ctx.budget)
        try:
            for block in blocks:
                self.ctx.budget.step()
                if target is not None:
                    target.write(block)
        except CompressionError as error:
            return self.problem(error.problem, name, output)
        if self.verbose:
            self.tell("ok\n" if self.test else "done\n")
        return True

    def compress(self, reader: ByteReader, target: ByteWriter) -> None:
        packer = compressor("bzip2", self.level)
        before, after = compress_stream(
            packer, reader, target, self.ctx.budget, block=131072, steps=500
        )
        if self.verbose and not before:
            self.tell(" no data compressed.\n")
        elif self.verbose:
            self.tell(
                f"{before / after:6.3f}:1, {8 * after / before:6.3f} bits/byte, "
                f"{100 * (1 - after / before):5.2f}% saved, {before} in, {after} out.\n"
            )

    def problem(self, problem: str, name: str, output: str) -> bool:
        """Report damaged data; whether the output is good all the same."""
        me = self.ctx.name
        if problem == "garbage":
            if not self.quiet:
                self.tell(f"\n{me}: {name}: trailing garbage after EOF ignored\n")
            return True
        if self.test:
            text = _WRONG.get(problem, "data integrity (CRC) error in data")
            self.tell(f"{'' if self.verbose else f'{me}: {name}: '}{text}\n\n{RECOVER}\n", 2)
        elif problem == "format":
            text = "not a bzip2 file." if self.verbose else f"{me}: {name} is not a bzip2 file."
            self.tell(f"{text}\n", 2)
        else:
            what = "Data integrity error when decompressing."
            if problem == "end":
                reason = "No such file or directory"  # what errno happens to hold
                if output == "(stdout)":
                    reason = "Inappropriate ioctl for device" if name == "(stdin)" else "Success"
                what = (
                    "Compressed file ends unexpectedly;\n"
                    f"\tperhaps it is corrupted?  *Possible* reason follows.\n{me}: {reason}"
                )
            files = f"\tInput file = {name}, output file = {output}"
            self.tell(f"\n{me}: {what}\n{files}\n\n{CORRUPT}\n", 2)
            self.ended = True
            if output != "(stdout)":
                self.tell(f"{me}: Deleting output file {output}, if it exists.\n")
        return False


_USAGE = f"""
Usage: NAME [flags and input files in any order]
SUMMARY

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
{LEVELS}  -9, --best          blocks of 900k
"""
_MANNERS = Manners(
    Release("NAME, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.", "-V, --version")
)


def _bzip2_command(
    name: str, summary: str, *, expand: bool = False, stdout: bool = False
) -> Command:
    """Return one of the three commands; they differ in what they do without options."""
    usage = _USAGE.replace("NAME", name).replace("SUMMARY", summary)

    @command(name, usage=usage, raw=True, manners=_MANNERS)
    def run(ctx: CommandContext, words: Arguments) -> int:
        try:
            args = run.parser().parse(words.operands)
        except UsageError as error:
            long = error.message.startswith("unrecognized option")
            letters = (w for w in words.operands if w[:1] == "-" and not w.startswith("--"))
            flag = error.message.split("'")[1] if long else next(letters, "")
            ctx.stderr.write(encode(f"{ctx.name}: Bad flag `{flag}'\n{run.usage}"))
            return 1
        if args.flag("version") or args.flag("help"):
            ctx.stderr.write(encode(bzip2.version() if args.flag("version") else run.usage))
            return 0
        if stdout and args.last("decompress", "compress", "test") == "test":
            ctx.stderr.write(encode(f"{ctx.name}: -c and -t cannot be used together.\n"))
            return 1
        return _Bzip2(ctx, args, expand=expand, stdout=stdout).run(args.operands)

    return run


bzip2 = _bzip2_command("bzip2", "Compress files by block sorting.")
bunzip2 = _bzip2_command("bunzip2", "Decompress what bzip2 made.", expand=True)
bzcat = _bzip2_command("bzcat", "Decompress to standard output.", expand=True, stdout=True)
