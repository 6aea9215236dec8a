"""`gzip`, `gunzip` and `zcat` (GNU gzip): files compressed with deflate."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._gzip import Gzip, GzipOptions

_OPTIONS = """
      -a, --ascii        accepted, with a warning: text needs no conversion here
      -c, --stdout       write on standard output, keep original files
      -d, --decompress   decompress
      -f, --force        force overwrite of output file and compress links
      -h, --help         give this help
      -k, --keep         keep (do not delete) input files
      -l, --list         list compressed file contents
      -n, --no-name      do not save or restore the original name and timestamp
      -N, --name         save or restore the original name and timestamp
      -q, --quiet        suppress all warnings
      -r, --recursive    operate recursively on directories
      -S, --suffix=SUF   use suffix SUF on compressed files
          --rsyncable    accepted: it makes no difference to what comes out
          --synchronous  accepted: nothing is written later
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


_HINT = "Try `gzip --help' for more information."


def _options(ctx: CommandContext, args: Arguments) -> GzipOptions:
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
        elif key == "ascii":
            ctx.stderr.write(b"gzip: option --ascii ignored on this system\n")
        elif key.isdecimal():
            options.level = int(key)
        elif key in options.__slots__:
            setattr(options, key, True)
    return options


@command(
    "gzip",
    usage=f"""
    Usage: gzip [OPTION]... [FILE]...
    Compress or uncompress FILEs (by default, compress FILES in-place).
    {_OPTIONS}{_LEVELS}
    With no FILE, or when FILE is -, read standard input.
    """,
    hint=_HINT,
)
def gzip(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(gzip.usage, end="")
        return 0
    return Gzip(ctx, _options(ctx, args)).run(args.operands)


@command(
    "gunzip",
    usage=f"""
    Usage: gunzip [OPTION]... [FILE]...
    Uncompress FILEs (by default, in-place).
    {_OPTIONS}
    With no FILE, or when FILE is -, read standard input.
    """,
    hint=_HINT,
)
def gunzip(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(gunzip.usage, end="")
        return 0
    options = _options(ctx, args)
    options.decompress = True
    return Gzip(ctx, options).run(args.operands)


@command(
    "zcat",
    usage=f"""
    Usage: zcat [OPTION]... [FILE]...
    Uncompress FILEs to standard output.
    {_OPTIONS}
    With no FILE, or when FILE is -, read standard input.
    """,
    hint=_HINT,
)
def zcat(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(zcat.usage, end="")
        return 0
    options = _options(ctx, args)
    options.decompress = options.stdout = True
    return Gzip(ctx, options).run(args.operands)
