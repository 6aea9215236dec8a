"""`gzip`, `gunzip`, `uncompress` and `zcat` (GNU gzip): files compressed with deflate."""

from __future__ import annotations

from agentsandbox.commands._files.compressed_files import LEVELS
from agentsandbox.commands._files.gzip_files import Gzip, GzipOptions
from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import Manners, Release

_USAGE = f"""
Usage: NAME [OPTION]... [FILE]...
SUMMARY

  -c, --stdout, --to-stdout  write on standard output, keep original files
  -d, --decompress, --uncompress  decompress
  -f, --force        force overwrite of output file and compress links
  -h, --help         give this help
  -k, --keep         keep (do not delete) input files
  -l, --list         list compressed file contents
  -n, --no-name      do not save or restore the original name and timestamp
  -N, --name         save or restore the original name and timestamp
  -q, --quiet, --silent  suppress all warnings
  -r, --recursive    operate recursively on directories
  -t, --test         test compressed file integrity
  -v, --verbose      verbose mode
  -1, --fast         compress faster
{LEVELS}  -9, --best         compress better

With no FILE, or when FILE is -, read standard input.
"""
_LONG_OPTIONS = """
    ascii to-stdout stdout decompress uncompress force help keep list license
    no-name name -presume-input-tty quiet silent synchronous recursive suffix
    test verbose version fast best lzw bits rsyncable
"""


def _options(args: Arguments) -> GzipOptions:
    options = GzipOptions()
    for key, _ in args.given:
        if key in ("no-name", "name"):
            options.name = key == "name"
        elif key == "fast" or key == "best":
            options.level = 1 if key == "fast" else 9
        elif key.isdecimal():
            options.level = int(key)
        elif key in options.__slots__:
            setattr(options, key, True)
    return options


def _gzip_command(
    name: str, summary: str, *, expand: bool = False, stdout: bool = False
) -> Command:
    """Return one of the three commands; messages of all of them name `gzip`."""

    @command(
        name,
        usage=_USAGE.replace("NAME", name).replace("SUMMARY", summary),
        hint="Try `gzip --help' for more information.",
        raw=expand,
        manners=Manners(
            Release("NAME (gzip) 1.12" if expand else "NAME 1.12", "-V, --version"),
            long_options=_LONG_OPTIONS,
            read_error=("\ngzip: stdin: REASON", 1),
            closed_read_error=("gzip: standard input: REASON", 1),
            write_error=("\ngzip: stdout: REASON", 1),
        ),
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        if expand:
            ctx.name = "gzip"
            args = run.parser().parse(args.operands)
        if args.flag("help") or args.flag("version"):
            ctx.print(run.usage if args.flag("help") else run.version(), end="")
            return 0
        options = _options(args)
        options.decompress |= expand
        options.stdout |= stdout
        return Gzip(ctx, options).run(args.operands)

    return run


gzip = _gzip_command("gzip", "Compress or uncompress FILEs (by default, compress FILES in-place).")
gunzip = _gzip_command("gunzip", "Uncompress FILEs (by default, in-place).", expand=True)
zcat = _gzip_command("zcat", "Uncompress FILEs to standard output.", expand=True, stdout=True)
uncompress = _gzip_command("uncompress", "Uncompress FILEs (by default, in-place).", expand=True)
