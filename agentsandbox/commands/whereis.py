"""`whereis` (util-linux): where the program, the sources and the manual pages of a name are."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import SILENT, Manners
from agentsandbox.streams import encode

_USUAL = {"b": ("/usr/bin", "/usr/local/bin"), "m": (), "s": ()}
_KINDS = {"B": "b", "M": "m", "S": "s"}
_TITLES = {"b": "bin", "m": "man", "s": "src"}
_COMPRESSED = re.compile(r"\.(?:Z|gz|bz2|xz|zst)\Z")


class _Search:
    """What to look for, and where."""

    def __init__(self) -> None:
        self.directories: dict[str, list[str]] = {kind: list(usual) for kind, usual in _USUAL.items()}
        self.kinds = ""
        self.only_unusual = False

    def find(self, ctx: CommandContext, name: str) -> list[str]:
        found: list[str] = []
        for kind, directories in self.directories.items():
            if kind not in (self.kinds or "bms"):
                continue
            for directory in directories:
                found += [f"{directory}/{file}" for file in _files(ctx, directory) if _matches(kind, name, file)]
        return found


def _files(ctx: CommandContext, directory: str) -> list[str]:
    try:
        files = ctx.fs.listdir(ctx.path(directory))
    except OSError:
        return []
    ctx.budget.step(len(files) or 1)
    return files


def _matches(kind: str, name: str, file: str) -> bool:
    """Programs by their whole name; manual pages and sources with one suffix, and ".C" behind it."""
    if kind == "b":
        return file == name
    if kind == "m":
        file = _COMPRESSED.sub("", file)
    while True:
        if file == name:
            return True
        if file.startswith(f"{name}."):
            suffix, dot, behind = file[len(name) + 1 :].partition(".")
            if not dot or (behind == "C" and suffix):
                return True
        if kind == "m" or not file.startswith("s."):
            return False
        file = file[2:]


def _take_directories(ctx: CommandContext, words: list[str]) -> list[str]:
    """The directories up to the next option, by their real paths; those that aren't there are left out."""
    found: list[str] = []
    while words and not words[0].startswith("-"):
        ctx.budget.step()
        name = words.pop(0)
        if name and ctx.fs.is_dir(ctx.path(name)):
            found.append(ctx.fs.realpath(ctx.path(name)))
    return list(dict.fromkeys(found))


@command(
    "whereis",
    manners=Manners(UTIL_LINUX, closed_write_error=SILENT),
    raw=True,
    usage="""
    Usage: whereis [options] [-BMS DIR... -f] NAME...
    Print where programs, sources and manual pages are. A sandbox has programs only; -S and -M tell where others are.

      -b          only programs
      -B DIRS     look for programs there
      -m          only manual pages
      -M DIRS     look for manual pages there
      -s          only sources
      -S DIRS     look for sources there
      -f          end of the directories of -B, -M, -S
      -u          only names with several entries
      -l          print the directories that are searched
      -h, --help  display this help and exit
    """,
)
def whereis(ctx: CommandContext, args: Arguments) -> int:
    words = list(args.operands)
    if words[:1] in (["-h"], ["--help"]):
        ctx.print(whereis.usage, end="")
        return 0
    if words[:1] in (["-V"], ["--version"]):
        ctx.stdout.write(encode(whereis.version()))
        return 0
    if not words:
        raise UsageError("not enough arguments")
    search = _Search()
    needs_end = False
    fresh = False
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            if needs_end:
                raise CommandError("option -f is missing")
            _show(ctx, search, word)
            fresh = True
            continue
        if fresh:
            search.kinds, fresh = "", False
        for letter in word[1:]:
            if letter in _KINDS:
                search.directories[_KINDS[letter]] = _take_directories(ctx, words)
                needs_end = True
            elif letter == "f":
                needs_end = False
            elif letter in "bms":
                search.kinds += letter
            elif letter == "u":
                search.only_unusual = True
            elif letter == "l":
                _list(ctx, search)
            else:
                raise UsageError("bad usage")
    if needs_end:
        raise CommandError("option -f is missing")
    return 0


def _list(ctx: CommandContext, search: _Search) -> None:
    for kind, directories in search.directories.items():
        for directory in directories:
            if ctx.fs.is_dir(directory):
                ctx.print(f"{_TITLES[kind]}: {directory}")


def _show(ctx: CommandContext, search: _Search, word: str) -> None:
    name = word.rpartition("/")[2]
    found = search.find(ctx, name)
    if not search.only_unusual or len(found) > 1:
        ctx.print(" ".join([f"{name}:", *found]))
