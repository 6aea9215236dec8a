"""`gzip`, `gunzip` and `zcat` (GNU gzip): files compressed with deflate."""

from __future__ import annotations

from agentsandbox.commands._files.gzip_files import Gzip, GzipOptions
from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.kernel.streams import encode

_OPTIONS = """
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
      -S, --suffix=SUF   use suffix SUF on compressed files
          --rsyncable    accepted: it makes no difference to what comes out
      -t, --test         test compressed file integrity
      -v, --verbose      verbose mode
"""
_LEVELS = """\
      -1, --fast         compress faster
      -2                 a level between
      -3                 a level between
      -4                 a level between
      -5                 a level between
      -6                 the default
      -7                 a level between
      -8                 a level between
      -9, --best         compress better
"""


_LONGEST_SUFFIX = 30
_HINT = "Try `gzip --help' for more information."


def _gzip(
    made: Command,
    ctx: CommandContext,
    args: Arguments,
    *,
    expand: bool = False,
    stdout: bool = False,
) -> int:
    if args.flag("help"):
        ctx.print(made.usage, end="")
        return 0
    if args.flag("version"):
        ctx.print(made.version(), end="")
        return 0
    options = _options(args)
    options.decompress |= expand
    options.stdout |= stdout
    if not options.suffix or len(options.suffix) > _LONGEST_SUFFIX:
        ctx.stderr.write(encode(f"gzip: invalid suffix '{options.suffix}'\n"))
        return 1
    return Gzip(ctx, options).run(args.operands)


def _options(args: Arguments) -> GzipOptions:
    options = GzipOptions()
    for key, value in args.given:
        if key in ("no-name", "name"):
            options.name = key == "name"
        elif key == "verbose":
            options.verbose += 1
        elif key == "suffix":
            options.suffix = value or ""
        elif key == "fast" or key == "best":
            options.level = 1 if key == "fast" else 9
        elif key.isdecimal():
            options.level = int(key)
        elif key in options.__slots__:
            setattr(options, key, True)
    return options


@command(
    "gzip",
    manners=Manners(
        Release("NAME 1.12", "-V, --version"),
        long_options="""
            ascii to-stdout stdout decompress uncompress force help keep list license
            no-name name -presume-input-tty quiet silent synchronous recursive suffix
            test verbose version fast best lzw bits rsyncable
        """,
        read_error=("\ngzip: stdin: REASON", 1),
        closed_read_error=("gzip: standard input: REASON", 1),
        write_error=("\ngzip: stdout: REASON", 1),
    ),
    usage=f"""
    Usage: gzip [OPTION]... [FILE]...
    Compress or uncompress FILEs (by default, compress FILES in-place).
    {_OPTIONS}{_LEVELS}
    With no FILE, or when FILE is -, read standard input.
    """,
    hint=_HINT,
)
def gzip(ctx: CommandContext, args: Arguments) -> int:
    return _gzip(gzip, ctx, args)


@command(
    "gunzip",
    manners=Manners(
        Release("NAME (gzip) 1.12", "-V, --version"),
        long_options="""
            ascii to-stdout stdout decompress uncompress force help keep list license
            no-name name -presume-input-tty quiet silent synchronous recursive suffix
            test verbose version fast best lzw bits rsyncable
        """,
        read_error=("\ngzip: stdin: REASON", 1),
        closed_read_error=("gzip: standard input: REASON", 1),
        write_error=("\ngzip: stdout: REASON", 1),
    ),
    usage=f"""
    Usage: gunzip [OPTION]... [FILE]...
    Uncompress FILEs (by default, in-place).
    {_OPTIONS}{_LEVELS}
    With no FILE, or when FILE is -, read standard input.
    """,
    hint=_HINT,
    raw=True,
)
def gunzip(ctx: CommandContext, args: Arguments) -> int:
    ctx.name = "gzip"  # a script that runs it
    return _gzip(gunzip, ctx, gunzip.parser().parse(args.operands), expand=True)


@command(
    "zcat",
    manners=Manners(
        Release("NAME (gzip) 1.12", "-V, --version"),
        long_options="""
            ascii to-stdout stdout decompress uncompress force help keep list license
            no-name name -presume-input-tty quiet silent synchronous recursive suffix
            test verbose version fast best lzw bits rsyncable
        """,
        read_error=("\ngzip: stdin: REASON", 1),
        closed_read_error=("gzip: standard input: REASON", 1),
        write_error=("\ngzip: stdout: REASON", 1),
    ),
    usage=f"""
    Usage: zcat [OPTION]... [FILE]...
    Uncompress FILEs to standard output.
    {_OPTIONS}{_LEVELS}
    With no FILE, or when FILE is -, read standard input.
    """,
    hint=_HINT,
    raw=True,
)
def zcat(ctx: CommandContext, args: Arguments) -> int:
    ctx.name = "gzip"
    return _gzip(zcat, ctx, zcat.parser().parse(args.operands), expand=True, stdout=True)
