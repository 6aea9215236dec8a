"""`cksum` (POSIX 1003.1-2017, GNU coreutils): checksums of all kinds."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choose
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.commands.checksums.checking import (
    NAMES,
    blake_bits,
    read_bits,
    refuse_check_options,
    run_checksum,
)
from agentsandbox.commands.checksums.sums import bsd_sum, posix_crc, sysv_sum
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError

_SUMS = {"bsd": bsd_sum, "sysv": sysv_sum, "crc": posix_crc}
_FORMATS = {"bsd": ("{:05d} {:5d}", 1024), "sysv": ("{} {}", 512), "crc": ("{} {}", 1)}


def _print_sums(ctx: CommandContext, args: Arguments, algorithm: str) -> int:
    end = "\0" if args.flag("zero") else "\n"
    shape, unit = _FORMATS[algorithm]
    names = args.operands or ["-"]
    for name in names:
        try:
            source = ctx.open_input(name)
        except IsADirectoryError as error:
            if algorithm == "crc":  # the real one does not check that it could read
                ctx.print(f"4294967295 0 {name}" if args.operands else "4294967295 0", end)
            else:
                ctx.warn_os(error, shown_name(name))
            continue
        except OSError as error:
            ctx.warn_os(error, shown_name(name))
            continue
        total, size = _SUMS[algorithm](ctx, source)
        line = shape.format(total, -(-size // unit))
        ctx.print(f"{line} {name}" if args.operands else line, end)
    return ctx.status


def _algorithm(text: str) -> str:
    return choose(text, "--algorithm", [(name,) for name in (*_SUMS, *NAMES)])


@command(
    "cksum",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            length check ignore-missing quiet status warn strict tag zero algorithm
            debug untagged help version
        """,
        unreadable_is_empty=("", None),
        closing_error="NAME: standard input: REASON",
        full_write_error=("NAME: write error", 1),
    ),
    values={"algorithm": _algorithm, "length": lambda text: read_bits("cksum", text)},
    usage="""
    Usage: cksum [OPTION]... [FILE]...
    Print or check checksums: by default the CRC of POSIX and the size of each FILE.

    With no FILE, or when FILE is -, read standard input.

      -a, --algorithm=TYPE   bsd, sysv, crc, md5, sha1, sha224, sha256, sha384, sha512, blake2b, sm3
      -c, --check            read digests from the FILEs and check them
          --debug            tell on stderr how the CRC is computed
      -l, --length=BITS      digest length of blake2b, a multiple of 8
          --tag              print lines as BSD does (the default)
          --untagged         print lines without the name of the digest
      -z, --zero             end each line with NUL, and do not escape names

    Options for --check:

          --ignore-missing   do not fail for missing files
          --quiet            do not print OK for each good file
          --status           print nothing, only set the status
          --strict           fail for lines that are not well formed
      -w, --warn             warn about lines that are not well formed
          --help             display this help and exit
    """,
)
def cksum(ctx: CommandContext, args: Arguments) -> int:
    given = args.value("algorithm")
    algorithm = None if given is None else _algorithm(given)
    if args.flag("length") and algorithm != "blake2b" and blake_bits(ctx, args, most=None):
        raise CommandError("--length is only supported with --algorithm=blake2b")
    if algorithm in _SUMS and args.flag("check"):
        raise CommandError("--check is not supported with --algorithm={bsd,sysv,crc}")
    if not args.flag("check") and (algorithm is None or algorithm in _SUMS):
        refuse_check_options(args)
        if args.flag("debug") and algorithm in (None, "crc"):
            ctx.warn("pclmul support not detected", ctx.status)
        return _print_sums(ctx, args, algorithm or "crc")
    return run_checksum(ctx, args, algorithm, tag=args.last("tag", "untagged") != "untagged")
