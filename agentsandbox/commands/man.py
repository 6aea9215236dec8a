"""`man` (man-db): the help text of a command, and what commands there are about a subject."""

from __future__ import annotations

import re
from pkgutil import get_data

from agentsandbox.command import Arguments, Command, CommandContext, command
from agentsandbox.commands import find_command, names
from agentsandbox.regexps import RegexError, compile_posix
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SECTION = "1"
_NOT_FOUND = 16
_SECTIONS = frozenset("1 2 3 4 5 6 7 8 9 n l 0 1p 3p".split())


@command(
    "man",
    usage="""
    Usage: man [OPTION...] [SECTION] PAGE...
    Show the help text of each command PAGE: a sandbox has no other manual, and all of it is in section 1.

      -k, --apropos         one line about each command whose name or subject matches a regular expression
      -f, --whatis          one line about each command PAGE
      -w, --where, --path, --location  tell that a page is there: it is built in, and in no file
      -a, --all             all pages of a name: there is one
      -s, -S, --sections=LIST  search these sections, with colons or commas between them
      -i, --ignore-case     names in large letters are found too (the default)
      -I, --match-case      they are not
      -P, --pager=PAGER     how pages are shown on a terminal: there is none
      -r, --prompt=STRING   the prompt of the pager
          --nh, --no-hyphenation  no hyphens: there are none
          --nj, --no-justification  a ragged right margin, as always
      -h, -?, --help        display this help and exit
    """,
    hint="Try 'NAME --help' or 'NAME --usage' for more information.",
)
def man(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(man.usage, end="")
        return 0
    pages = list(args.operands)
    if args.flag("apropos") or args.flag("whatis"):
        chosen = args.last("apropos", "whatis") or ""
        if not pages:
            ctx.print(f"{chosen} what?")
            return 1
        return _tell(ctx, pages, _matching(ctx) if chosen == "apropos" else _named)
    section = pages.pop(0) if pages and pages[0] in _SECTIONS else ""
    if not pages:
        if section:
            ctx.stderr.write(encode(f"No manual entry for {section}\n"))
            ctx.stderr.write(encode(f"(Alternatively, what manual page do you want from section {section}?)\n"))
        else:
            ctx.stderr.write(b"What manual page do you want?\n")
        ctx.stderr.write(b"For example, try 'man man'.\n")
        return 1
    listed = (args.value("sections") or "").replace(",", ":").split(":") if args.flag("sections") else [_SECTION]
    for page in pages:
        ctx.budget.step()
        found = _find(page, match_case=args.last("ignore-case", "match-case") == "match-case")
        if found is None or section not in ("", _SECTION) or _SECTION not in listed:
            ctx.stderr.write(encode(f"No manual entry for {page}{f' in section {section}' if section else ''}\n"))
            ctx.status = _NOT_FOUND
        elif args.flag("where"):
            ctx.print(f"{found.name}({_SECTION}) is built in")
        else:
            ctx.print(found.usage, end="")
    return ctx.status


def _find(page: str, *, match_case: bool) -> Command | None:
    """The command of a page, which may be called `ls.1` or `ls(1)`."""
    for ending in ("", f".{_SECTION}", f"({_SECTION})"):
        name = page.removesuffix(ending)
        found = find_command(name) or (None if match_case else find_command(name.lower()))
        if found is not None and (not ending or name != page):
            return found
    return None


def _summary(name: str) -> str:
    """The first line about a command. It is read from the source: all commands together take a second to import."""
    source = decode(get_data("agentsandbox.commands", f"{name}.py") or b"")
    usage = re.search(rf'@command\(\s*"{re.escape(name)}",.*?usage=f?"""(.*?)"""', source, re.DOTALL)
    for line in usage[1].splitlines() if usage is not None else ():
        if line.strip() and not line.strip().lower().startswith(("usage:", "or:")):
            if "{" in line or "\\" in line:
                break
            return line.strip()
    found = find_command(name)
    return "" if found is None else found.summary


def _tell(ctx: CommandContext, words: Sequence[str], find: Callable[[str], list[tuple[str, str]]]) -> int:
    """One line about each command that a word finds; 16 if no word finds any."""
    lines: dict[str, None] = {}
    for word in words:
        ctx.budget.step()
        found = find(word)
        if not found:
            ctx.stderr.write(encode(f"{word}: nothing appropriate.\n"))
        lines |= dict.fromkeys([f"{f'{name} ({_SECTION})':<20} - {summary}\n" for name, summary in found])
    ctx.print("".join(sorted(lines)), end="")
    return 0 if lines else _NOT_FOUND


def _named(word: str) -> list[tuple[str, str]]:
    found = find_command(word.lower())
    return [] if found is None else [(word.lower(), found.summary)]


def _matching(ctx: CommandContext) -> Callable[[str], list[tuple[str, str]]]:
    """A function that finds all commands with a match in their name or summary."""
    known: list[tuple[str, str]] = []
    for name in sorted(names()):
        ctx.budget.step(100)
        known.append((name, _summary(name)))

    def find(word: str) -> list[tuple[str, str]]:
        try:
            regex = compile_posix(word, ignore_case=True)
        except RegexError as error:
            ctx.warn(f"fatal: regex `{word}': {error.message}")
            return []
        return [each for each in known if any(regex.test(text, ctx.budget) for text in each)]

    return find
