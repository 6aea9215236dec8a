"""`less`: show files. Without a terminal it copies them, as the real one does."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.manners import SILENT, Manners, Release
from agentsandbox.streams import InputError, encode
from agentsandbox.usage import parse_usage


@command(
    "less",
    manners=Manners(
        Release("NAME 590 (GNU regular expressions)", "-V, --version"),
        write_error=SILENT,
    ),
    raw=True,
    usage="""
    Usage: less [option]... [file]...
    Show files. Output is no terminal, so they are copied as they are: options are about the screen and change nothing.

      -a, --search-skip-screen     where searches start
      -A, --SEARCH-SKIP-SCREEN     the same
      -b, --buffers=N              space for buffers
      -B, --auto-buffers           none for pipes
      -c, --clear-screen           clear the screen first
      -d, --dumb                   the terminal is a simple one
      -D, --color=COLOR            colors of what is shown
      -e, --quit-at-eof            quit at the second end of file
      -E, --QUIT-AT-EOF            quit at the first
      -f, --force                  open what is no file
      -F, --quit-if-one-screen     quit if all fits on one screen
      -g, --hilite-search          show the last match in another way
      -G, --HILITE-SEARCH          show none in another way
      -h, --max-back-scroll=N      limit for scrolling back
      -i, --ignore-case            ignore case in searches
      -I, --IGNORE-CASE            the same, always
      -j, --jump-target=N          where on the screen found lines appear
      -J, --status-column          a column for marks
      -k, --lesskey-file=FILE      keys of one's own: there are none to press
      -K, --quit-on-intr           quit at an interrupt
      -L, --no-lessopen            no preprocessor
      -m, --long-prompt            a prompt
      -M, --LONG-PROMPT            a long prompt
      -n, --line-numbers           do not use line numbers
      -N, --LINE-NUMBERS           show line numbers
      -o, --log-file=FILE          a log of what comes from a pipe: none is written without a terminal
      -O, --LOG-FILE=FILE          the same
      -p, --pattern=PATTERN        where to start
      -P, --prompt=PROMPT          the prompt
      -q, --quiet, --silent        no bell
      -Q, --QUIET, --SILENT        no bell at all
      -r, --raw-control-chars      show control characters
      -R, --RAW-CONTROL-CHARS      show color sequences
      -s, --squeeze-blank-lines    show several blank lines as one
      -S, --chop-long-lines        chop long lines
      -t, --tag=TAG                start at a tag
      -T, --tag-file=FILE          where tags are
      -u, --underline-special      how backspaces are shown
      -U, --UNDERLINE-SPECIAL      the same
      -V, --version                show the release that this command follows
      -w, --hilite-unread          show new lines in another way
      -W, --HILITE-UNREAD          the same
      -x, --tabs=N                 where tab stops are
      -X, --no-init                do not initialise the terminal
      -y, --max-forw-scroll=N      limit for scrolling
      -z, --window=N               lines of the screen
      -#, --shift=N                columns to shift
          --file-size              tell the size of the file
          --follow-name            follow the name of a file
          --incsearch              search while typing
          --line-num-width=N       columns of line numbers
          --mouse                  use the mouse
          --no-keypad              do not initialise the keypad
          --no-histdups            no line twice in the history
          --rscroll=C              the mark of chopped lines
          --save-marks             keep marks
          --status-col-width=N     columns of the status column
          --tilde                  no tildes after the end
          --use-backslash          backslashes in prompts
          --use-color              use colors
          --wheel-lines=N          lines of a turn of the wheel
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
    for name in dict.fromkeys(_files(ctx, list(args.operands)) or ["-"]):  # as the real one, each file once
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
    """The words behind options, first commands ("+G") and sizes ("-5"); what is wrong with an option is told, and no error."""
    takes = {spelling: bool(option.takes) for option in parse_usage(less.usage) for spelling in option.spellings}
    while words:
        word = words.pop(0)
        if word == "--":
            return words
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            found = [full for full in takes if full == name] or [full for full in takes if full.startswith(name)]
            if not found:
                _tell_unknown(ctx, word[2:])
            elif takes[found[0]]:
                if not equals and not words:
                    ctx.stderr.write(encode(f"Value is required after {found[0]}\n"))
                    return []
                value = value if equals else words.pop(0)
                if found[0] == "--lesskey-file":
                    _tell_bad_keys(ctx, value)
        elif len(word) > 1 and word[0] == "-":
            _read_letters(ctx, word[1:], takes, words)
        elif not (len(word) > 1 and word[0] == "+"):
            return [word, *words]
    return []


_NUMBERS = {"b": "", "h": "", "y": "", "z": "", "j": "Invalid line number", "#": "Invalid column number"}
"""Options whose value is a number, and what is said of another one."""


def _both_names(letter: str) -> str:
    """The option as messages name it."""
    option = next(option for option in parse_usage(less.usage) if f"-{letter}" in option.spellings)
    return f"-{letter} (--{option.key})"


def _read_letters(ctx: CommandContext, letters: str, takes: dict[str, bool], words: list[str]) -> None:
    """One word of short options; the value of the last one may be the next word."""
    while letters := re.sub(r"^[0-9~+]+", "", letters):
        letter, letters = letters[0], letters[1:]
        if f"-{letter}" not in takes:
            _tell_unknown(ctx, f"-{letter}")
            return
        if takes[f"-{letter}"]:
            if not letters and not words:
                ctx.stderr.write(encode(f"Value is required after {_both_names(letter)}\n"))
                return
            value = letters or words.pop(0)
            if letter in _NUMBERS and not re.match("[ \t]*-?[0-9]" if letter in "bhyz" else "[ \t]*[-.0-9]", value):
                message = f"Number is required after {_both_names(letter)}" if letter in "bhyz" else _NUMBERS[letter]
                ctx.stderr.write(encode(f"{message}\n"))
                return
            if letter == "k":
                _tell_bad_keys(ctx, value)
            if letter not in "bhjxyz#":
                return
            letters = re.sub(r"^[-.,0-9]+", "", letters)


def _tell_unknown(ctx: CommandContext, name: str) -> None:
    ctx.stderr.write(encode(f'There is no {name} option ("less --help" for help)\n'))


def _tell_bad_keys(ctx: CommandContext, name: str) -> None:
    """No file here is one that `lesskey` has made."""
    ctx.stderr.write(encode(f'Cannot use lesskey file "{name}"\n'))
