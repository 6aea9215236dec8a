"""`less`: show files. Without a terminal it copies them, as the real one does."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.kernel.streams import InputError, encode


@command(
    "less",
    manners=Manners(
        Release("NAME 590 (GNU regular expressions)", "-V, --version"), write_error=SILENT
    ),
    digits="shift",
    permute=False,
    rewrite=lambda words: [word for word in words if not (word.startswith("+") and len(word) > 1)],
    usage="""
    Usage: less [option]... [file]...
    Show files. There is no terminal, so they are copied: options are about the screen.

      -e, --quit-at-eof            quit at the second end of file
      -E, --QUIT-AT-EOF            quit at the first
      -f, --force                  open what is no file
      -F, --quit-if-one-screen     quit if all fits on one screen
      -g, --hilite-search          show the last match in another way
      -i, --ignore-case            ignore case in searches
      -I, --IGNORE-CASE            the same, always
      -j, --jump-target=N          where on the screen found lines appear
      -m, --long-prompt            a prompt
      -M, --LONG-PROMPT            a long prompt
      -n, --line-numbers           do not use line numbers
      -N, --LINE-NUMBERS           show line numbers
      -p, --pattern=PATTERN        where to start
      -P, --prompt=PROMPT          the prompt
      -q, --quiet, --silent        no bell
      -r, --raw-control-chars      show control characters
      -R, --RAW-CONTROL-CHARS      show color sequences
      -s, --squeeze-blank-lines    show several blank lines as one
      -S, --chop-long-lines        chop long lines
      -x, --tabs=N                 where tab stops are
      -X, --no-init                do not initialise the terminal
      -#, --shift=N                columns to shift
      -?, --help                   display this help and exit
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
