"""`less`: show files. Without a terminal it copies them, as the real one does."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.streams import InputError, encode


@command(
    "less",
    usage="""
    Usage: less [option]... [file]...
    Show files. Output is no terminal, so they are copied as they are; options about the screen change nothing.

      -E, --QUIT-AT-EOF            quit at end of file
      -e, --quit-at-eof            quit at the second end of file
      -F, --quit-if-one-screen     quit if all fits on one screen
      -i, --ignore-case            ignore case in searches
      -I, --IGNORE-CASE            the same, always
      -M, --LONG-PROMPT            a long prompt
      -m, --long-prompt            a prompt
      -n, --line-numbers           do not use line numbers
      -R, --RAW-CONTROL-CHARS      show color sequences
      -r, --raw-control-chars      show control characters
      -S, --chop-long-lines        chop long lines
      -X, --no-init                do not initialise the terminal
          --help                   display this help and exit
    """,
)
def less(ctx: CommandContext, args: Arguments) -> int:
    for name in dict.fromkeys(args.operands or ["-"]):  # as the real one, each file once
        try:
            source = ctx.open_input(name)
            for block in source.blocks():
                ctx.budget.step()
                ctx.stdout.write(block)
        except InputError:
            ctx.stdout.write(b"read error\n")
        except IsADirectoryError:
            ctx.stdout.write(encode(f"{name} is a directory\n"))
        except OSError as error:
            ctx.stdout.write(encode(f"{describe_os_error(error, name)}\n"))
    return 0
