"""`sha384sum` (GNU coreutils): print or check SHA384 digests."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._checksums import run_checksum


@command(
    "sha384sum",
    usage="""
    Usage: sha384sum [OPTION]... [FILE]...
    Print or check SHA384 digests (384 bits).

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
def sha384sum(ctx: CommandContext, args: Arguments) -> int:
    return run_checksum(ctx, args, "sha384", tag=args.flag("tag"))
