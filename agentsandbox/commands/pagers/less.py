"""`less`: show files. Without a terminal it copies them, as the real one does."""

from __future__ import annotations

import re

from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.contract.usage import parse_usage
from agentsandbox.kernel.streams import InputError, encode


@command(
    "less",
    manners=Manners(
        Release("NAME 590 (GNU regular expressions)", "-V, --version"),
        write_error=SILENT,
    ),
    raw=True,
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
      -V, --version                show the release that this command follows
      -x, --tabs=N                 where tab stops are
      -X, --no-init                do not initialise the terminal
      -#, --shift=N                columns to shift
          --help                   display this help and exit
    """,
)
def less(ctx: CommandContext, args: Arguments) -> int:
    for word in args.operands:
        if word in ("--help", "-?"):
            ctx.print(less.usage, end="")
            return 0
        if word in ("--version", "-V"):
            ctx.stdout.write(encode(less.version()))
            return 0
    names = _files(ctx, list(args.operands)) or ["-"]
    for name in dict.fromkeys(names):  # as the real one, each file once
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


def _files(ctx: CommandContext, words: list[str]) -> list[str]:
    """Return the words after options, first commands ("+G") and sizes ("-5").

    Wrong options are reported; they are no failure.
    """
    options = {name: each for each in parse_usage(less.usage) for name in each.spellings}
    takes = {name: bool(option.takes) for name, option in options.items()}
    while words:
        word = words.pop(0)
        if word == "--":
            return words
        if word.startswith("+") and len(word) > 1:
            continue
        if not word.startswith("-") or word == "-":
            return [word, *words]
        if word.startswith("--"):
            name, equals, _ = word.partition("=")
            name = next((full for full in takes if full.startswith(name)), "")
            needs_value = takes.get(name, False) and not equals
            unknown = "" if name else word[2:]
        else:
            letters = re.sub(r"[0-9~]", "", word[1:])
            at = next(
                (at for at, letter in enumerate(letters) if takes.get(f"-{letter}", True)), None
            )
            name = f"-{letters[at]}" if at is not None else "-s"
            unknown = "" if name in takes else name
            needs_value = not unknown and at == len(letters) - 1 and word.endswith(name[1])
        if unknown:
            ctx.stderr.write(encode(f'There is no {unknown} option ("less --help" for help)\n'))
        elif needs_value and words:
            words.pop(0)
        elif needs_value:
            ctx.stderr.write(encode(f"Value is required after {name} (--{options[name].key})\n"))
            return []
    return []
