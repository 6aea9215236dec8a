"""`sha512sum` (GNU coreutils): print or check SHA512 digests."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._checksums import run_checksum


@command(
    "sha512sum",
    usage="""
    Usage: sha512sum [OPTION]... [FILE]...
    Print or check SHA512 digests (512 bits).

    With no FILE, or when FILE is -, read standard input.

      -b, --binary           mark the files as binary (*)
      -c, --check            read digests from the FILEs and check them
          --tag              print lines as BSD does
      -t, --text             mark the files as text (the default)
      -z, --zero             end each line with NUL, and do not escape names

    Options for --check:

          --ignore-missing   do not fail for missing files
          --quiet            do not print OK for each good file
          --status           print nothing: the status tells
          --strict           fail for lines that are not well formed
      -w, --warn             warn about lines that are not well formed
          --help             display this help and exit
    """,
)
def sha512sum(ctx: CommandContext, args: Arguments) -> int:
    return run_checksum(ctx, args, "sha512", tag=args.flag("tag"))
