"""`man` (man-db): the help text of a command, and what commands there are about a subject."""

from __future__ import annotations

from agentsandbox.commands import find_command, names
from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.kernel.regexps import RegexError, compile_posix
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SECTION = "1"
_SECTIONS = frozenset("1 2 3 4 5 6 7 8 9 n l 0 1p 3p".split())
_NOT_FOUND = 16


@command(
    "man",
    manners=Manners(
        Release("man 2.11.2", "-V, --version"),
        long_options="""
            config-file debug default warnings whatis apropos global-apropos where path
            location where-cat location-cat local-file catman recode locale systems
            manpath sections extension ignore-case match-case regex wildcard names-only
            all update no-subpages pager prompt ascii encoding no-hyphenation nh
            no-justification nj preprocessor troff troff-device html gxditview ditroff
            help usage program-name HANG version
        """,
        write_error=SILENT,
    ),
    usage="""
    Usage: man [OPTION...] [SECTION] PAGE...
    Show the help text of each command PAGE: there is no other manual. All is in section 1.

      -k, --apropos     one line about each command whose name or subject matches
      -f, --whatis      one line about each command PAGE
      -w, --where, --path, --location  tell that a page is there: it is built in, and in no file
      -a, --all         all pages of a name: there is one
      -P, --pager=PAGER  how pages are shown on a terminal: there is none
      -h, -?, --help    display this help and exit
    """,
    hint="Try 'NAME --help' or 'NAME --usage' for more information.",
)
def man(ctx: CommandContext, args: Arguments) -> int:
    pages = list(args.operands)
    chosen = args.last("apropos", "whatis")
    if chosen is not None:
        if not pages:
            ctx.print(f"{chosen} what?")
            return 1
        return _tell(ctx, pages, by_name=chosen == "whatis")
    section = pages.pop(0) if pages and pages[0] in _SECTIONS else ""
    if not pages:
        wanted = "What manual page do you want?\n"
        if section:
            wanted = f"(Alternatively, what manual page do you want from section {section}?)\n"
            wanted = f"No manual entry for {section}\n{wanted}"
        ctx.stderr.write(encode(f"{wanted}For example, try 'man man'.\n"))
        return 1
    for page in pages:
        ctx.budget.step()
        found = _find(page) if section in ("", _SECTION) else None
        if found is None:
            where = f" in section {section}" if section else ""
            ctx.stderr.write(encode(f"No manual entry for {page}{where}\n"))
            ctx.status = _NOT_FOUND
        elif args.flag("where"):
            ctx.print(f"{found.name}({_SECTION}) is built in")
        else:
            ctx.print(found.usage, end="")
    return ctx.status


def _find(page: str) -> Command | None:
    """Return the command of a page, which may be called `ls.1` or `ls(1)`."""
    name = page.removesuffix(f".{_SECTION}").removesuffix(f"({_SECTION})")
    return find_command(name) or find_command(name.lower())


def _tell(ctx: CommandContext, words: Sequence[str], *, by_name: bool) -> int:
    """Print one line about each command that a word names or, else, whose line it matches."""
    lines: set[str] = set()
    for word in words:
        try:
            regex = compile_posix(word, ignore_case=True)
        except RegexError as error:
            ctx.warn(f"fatal: regex `{word}': {error.message}")
            continue
        count = len(lines)
        for name in [word.lower()] if by_name else sorted(names()):
            ctx.budget.step(100)
            ctx.budget.breathe()
            found = find_command(name)
            if found is None:
                continue
            if by_name or any(regex.test(text, ctx.budget) for text in (name, found.summary)):
                lines.add(f"{f'{name} ({_SECTION})':<20} - {found.summary}\n")
        if len(lines) == count:
            ctx.stderr.write(encode(f"{word}: nothing appropriate.\n"))
    ctx.print("".join(sorted(lines)), end="")
    return 0 if lines else _NOT_FOUND
