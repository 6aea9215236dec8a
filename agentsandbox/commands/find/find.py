"""`find` (POSIX 1003.1-2017, GNU findutils): search trees for files. Directories are read in the
order of names.
"""

from __future__ import annotations

import errno
import os
import re

from agentsandbox.commands._files.names import quote
from agentsandbox.commands._processes.programs import find_problem
from agentsandbox.commands.find.parser import parse_expression, starts_expression
from agentsandbox.commands.find.search import Search
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import InputError, decode, encode

USAGE = """
Usage: find [-H] [-L] [-P] [-Olevel] [PATH]... [EXPRESSION]
Search each PATH (default: the current directory) for files for which EXPRESSION (default: -print) is true.

Links: -P never followed (default), -L always followed, -H followed if they are a PATH. -O is accepted: every order of tests
is fast here.

Operators, by precedence: ( EXPR )   ! EXPR  -not EXPR   EXPR1 [-a|-and] EXPR2   EXPR1 -o|-or EXPR2   EXPR1 , EXPR2

Options: -daystart -depth -d -files0-from FILE -follow -ignore_readdir_race -maxdepth N -mindepth N -mount -noleaf
  -noignore_readdir_race -nowarn -regextype TYPE -warn -xdev

Tests (N may be +N or -N): -amin N -anewer FILE -atime N -cmin N -cnewer FILE -ctime N -empty -executable -false -fstype TYPE
  -gid N -group NAME -ilname PATTERN -iname PATTERN -inum N -ipath PATTERN -iregex PATTERN -iwholename PATTERN -links N
  -lname PATTERN -mmin N -mtime N -name PATTERN -newer FILE -newerXY REFERENCE -nogroup -nouser -path PATTERN
  -perm [-/]MODE -readable -regex PATTERN -samefile FILE -size N[bcwkMG] -true -type [bcdpfls] -uid N -used N -user NAME
  -wholename PATTERN -writable -xtype [bcdpfls]

Actions: -delete -exec COMMAND ; -exec COMMAND {} + -execdir COMMAND ; -execdir COMMAND {} + -fls FILE -fprint FILE
  -fprint0 FILE -fprintf FILE FORMAT -ls -ok COMMAND ; -okdir COMMAND ; -print -print0 -printf FORMAT -prune -quit
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
    test, file = parse_expression(search, words[position:])
    if file is not None:
        if tops:
            raise CommandError(
                f"extra operand {quote(tops[0])}\n{ctx.name}: file operands cannot be combined with -files0-from"
            )
        tops = _read_tops(ctx, file)
    elif not tops:
        tops = ["."]
    return search.run(tops, test)


def _read_tops(ctx: CommandContext, file: str) -> list[str]:
    """The starting points that `file` lists, each ended by a NUL."""
    shown = quote("(standard input)" if file == "-" else file)
    try:
        names = decode(ctx.open_input(file).read()).split("\0")
    except (InputError, IsADirectoryError) as error:
        raise CommandError(f"{shown}: read error: {error.strerror}") from None
    except OSError as error:
        raise CommandError(
            f"cannot open {shown} for reading: {os.strerror(error.errno or errno.EIO)}"
        ) from None
    if not names[-1]:
        names.pop()
    for number, name in enumerate(names, 1):
        if not name:
            ctx.warn(f"{shown}:{number}: invalid zero-length file name")
    return [name for name in names if name]


def _read_options(search: Search, words: list[str]) -> int:
    """Options that stand before the starting points; returns where those begin."""
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
        elif word == "-D":
            position += 1
            _check_debug_flags(search, words[position : position + 1])
        elif word == "--":
            return position + 1
        else:
            break
        position += 1
    return position


def _check_debug_flags(search: Search, words: list[str]) -> None:
    """Flags that there are not are ignored, the others refused."""
    if not words:
        raise CommandError(
            f"Missing argument after the -D option.\nTry '{search.ctx.name} --help' for more information."
        )
    for flag in words[0].split(","):
        if flag in ("exec", "opt", "rates", "search", "stat", "time", "tree", "all", "help"):
            raise CommandError("the debugging output of -D is not available here")
        search.ctx.warn(f"Ignoring unrecognised debug flag {quote(flag)}", search.ctx.status)
