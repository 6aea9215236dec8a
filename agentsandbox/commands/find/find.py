"""`find` (POSIX 1003.1-2017, GNU findutils): search trees for files.

The expression becomes one closure (`parser`), made of tests (`tests`) and actions (`actions`) that
`predicates` knows by name. `search` walks the trees, in the order of names, and calls the closure
with a `Visit` for each file.
"""

from __future__ import annotations

import re

from agentsandbox.commands._processes.programs import find_problem
from agentsandbox.commands.find.parser import parse_expression, starts_expression
from agentsandbox.commands.find.search import Search
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

USAGE = """
Usage: find [-H] [-L] [-P] [-Olevel] [PATH]... [EXPRESSION]
Search each PATH (default: the current directory) for files for which EXPRESSION (default: -print)
is true.

Links: -P never followed (default), -L always followed, -H followed if they are a PATH.
-O changes nothing: every order of tests is fast here.

Operators, by precedence:
  ( EXPR )   ! EXPR  -not EXPR   EXPR1 [-a|-and] EXPR2   EXPR1 -o|-or EXPR2   EXPR1 , EXPR2

Options: -daystart -depth -d -follow -ignore_readdir_race -maxdepth N -mindepth N -mount -noleaf
  -noignore_readdir_race -nowarn -regextype TYPE -xdev

Tests (N may be +N or -N): -amin N -anewer FILE -atime N -cmin N -cnewer FILE -ctime N -empty
  -executable -false -fstype TYPE -gid N -group NAME -iname PATTERN -inum N
  -ipath PATTERN -iregex PATTERN -iwholename PATTERN -links N -lname PATTERN -mmin N -mtime N
  -name PATTERN -newer FILE -newerXY REFERENCE -nogroup -nouser -path PATTERN -perm [-/]MODE
  -readable -regex PATTERN -samefile FILE -size N[bcwkMG] -true -type [bcdpfls] -uid N -used N
  -user NAME -wholename PATTERN -writable -xtype [bcdpfls]

Actions: -delete -exec COMMAND ; -exec COMMAND {} + -execdir COMMAND ; -execdir COMMAND {} +
  -fprint FILE -fprint0 FILE -fprintf FILE FORMAT -ls -ok COMMAND ; -okdir COMMAND ; -print -print0
  -printf FORMAT -prune -quit
"""


@command(
    "find",
    manners=Manners(
        pure=True,
        unbuffered=True,
        read_error=("NAME: ‘(standard input)’: read error: REASON", 1),
        write_error=("NAME: ‘standard output’: REASON\nfind: write error", 1),
        closed_write_error=("NAME: ‘standard output’: REASON\nfind: write error: REASON", 1),
    ),
    usage=USAGE,
    raw=True,
)
def find(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    search = Search(ctx, lambda name, cwd: find_problem(ctx, name, cwd=cwd))
    position = _read_options(search, words)
    start = position
    while position < len(words) and not starts_expression(words[position], leading=True):
        position += 1
    if position < len(words) and words[position] in ("-help", "--help"):
        ctx.stdout.write(encode(USAGE.lstrip()))
        return 0
    if position < len(words) and words[position] in ("-version", "--version"):
        ctx.print("find (agentsandbox), in the manner of GNU findutils 4.9.0")
        return 0
    tops = list(words[start:position])
    test = parse_expression(search, words[position:])
    return search.run(tops or ["."], test)


def _read_options(search: Search, words: list[str]) -> int:
    """Read the options before the starting points; return the position behind them."""
    position = 0
    while position < len(words):
        word = words[position]
        if word in ("-H", "-L", "-P"):
            search.follow = word[1]
        elif word.startswith("-O"):
            if word == "-O":
                raise CommandError(
                    "The -O option must be immediately followed by a decimal integer"
                )
            if not re.fullmatch(r"-O[0-9]+", word):
                raise CommandError("Please specify a decimal number immediately after -O")
        elif word == "--":
            return position + 1
        elif word == "-E":
            search.ctx.warn(f"unknown predicate `{word}'")
            search.ctx.advise_macos(
                "-E is macOS's; GNU find has -regextype posix-extended before -regex"
            )
            raise CommandError("")
        else:
            break
        position += 1
    return position
