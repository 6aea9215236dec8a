"""`man` (man-db): the help text of a command, and what commands there are about a subject."""

from __future__ import annotations

from agentsandbox.command import Arguments, Command, CommandContext, command, describe_os_error
from agentsandbox.commands import find_command, names
from agentsandbox.globs import compile_glob
from agentsandbox.manners import SILENT, Manners, Release
from agentsandbox.regexps import RegexError, compile_posix
from agentsandbox.streams import BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SECTION = "1"
_NOT_FOUND, _CHILD_FAILED = 16, 3
_PREPROCESSORS = "eptgrv"
_SECTIONS = frozenset("1 2 3 4 5 6 7 8 9 n l 0 1p 3p".split())


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
    Show the help text of each command PAGE: a sandbox has no other manual, and all of it is in section 1.

      -K, --global-apropos  pages with this text in them
      -k, --apropos         one line about each command whose name or subject matches a regular expression
      -f, --whatis          one line about each command PAGE
      -w, --where, --path, --location  tell that a page is there: it is built in, and in no file
      -W, --where-cat, --location-cat  the same
      -l, --local-file      pages are files: they are not shown, for they need groff; with -w their names
      -R, --recode=ENCODING  a page in another encoding
      -E, --encoding=ENCODING  the same, with something like it for what the encoding lacks
      -M, --manpath=PATH    look for pages in directories, where there are none
      -m, --systems=SYSTEM  pages of other systems: there are none
      -L, --locale=LOCALE   pages in a language: all are in one
      -e, --extension=EXTENSION  pages of this extension, which is 1
          --regex           all pages whose name or subject matches a regular expression
          --wildcard        all pages that match a pattern of the shell
          --names-only      --regex and --wildcard look at names only
      -u, --update          look at files anew: pages are in none
          --no-subpages     `man foo bar` is two pages, as always
      -7, --ascii           accepted: pages are in ASCII
      -p, --preprocessor=STRING  run preprocessors (e, p, t, g, r, v): pages need none
          --warnings[=KINDS]  accepted: nothing is formatted
      -D, --default         forget the options before it
      -t, --troff           refused, as the other three: they need groff
      -T, --troff-device[=DEVICE]
      -H, --html[=BROWSER]
      -X, --gxditview[=RESOLUTION]
      -Z, --ditroff
      -a, --all             all pages of a name: there is one
      -s, -S, --sections=LIST  search these sections, with colons or commas between them
      -i, --ignore-case     names in large letters are found too (the default)
      -I, --match-case      they are not
      -P, --pager=PAGER     how pages are shown on a terminal: there is none
      -r, --prompt=STRING   the prompt of the pager
          --nh, --no-hyphenation  no hyphens: there are none
          --nj, --no-justification  a ragged right margin, as always
          --usage           display the first line of this help and exit
      -h, -?, --help        display this help and exit
    """,
    hint="Try 'NAME --help' or 'NAME --usage' for more information.",
)
def man(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(man.usage, end="")
        return 0
    if args.flag("usage"):
        ctx.print(man.usage.partition("\n")[0])
        return 0
    if args.flag("default"):
        keys = [key for key, _ in args.given]
        args.given = args.given[len(keys) - keys[::-1].index("default") :]
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
    if args.flag("local-file"):
        return _local_files(ctx, pages, where=args.flag("where") or args.flag("where-cat"))
    listed = (args.value("sections") or "").replace(",", ":").split(":") if args.flag("sections") else [_SECTION]
    hidden = (
        section not in ("", _SECTION) or _SECTION not in listed or args.value("extension", _SECTION) != _SECTION or args.flag("manpath")
    )
    find = _finder(ctx, args)
    for page in pages:
        ctx.budget.step()
        found = [] if hidden else find(page)
        if not found:
            ctx.stderr.write(encode(f"No manual entry for {page}{f' in section {section}' if section else ''}\n"))
            ctx.status = _NOT_FOUND
        for each in found:
            _show(ctx, args, each)
    return ctx.status


def _finder(ctx: CommandContext, args: Arguments) -> Callable[[str], list[Command]]:
    """What finds the pages of an operand."""
    match_case = args.last("ignore-case", "match-case") == "match-case"
    if args.flag("global-apropos"):
        return lambda text: _containing(ctx, text, match_case=match_case)
    if args.flag("regex") or args.flag("wildcard"):
        find = _matching(ctx, wildcard=args.last("regex", "wildcard") == "wildcard", names_only=args.flag("names-only"))
        return lambda word: [known for name, _ in find(word) if (known := find_command(name)) is not None]

    def by_name(page: str) -> list[Command]:
        found = _find(page, match_case=match_case)
        return [] if found is None else [found]

    return by_name


def _show(ctx: CommandContext, args: Arguments, page: Command) -> None:
    if args.flag("where") or args.flag("where-cat"):
        ctx.print(f"{page.name}({_SECTION}) is built in")
        return
    for letter in args.value("preprocessor") or "":
        if letter not in _PREPROCESSORS:
            ctx.stderr.write(encode(f"man: ignoring unknown preprocessor `{letter}'\n"))
    device = args.last("troff", "troff-device", "html", "gxditview", "ditroff")
    if device is not None:
        ctx.stderr.write(b"man: can't execute groff: No such file or directory\nman: command exited with status 127: groff -mandoc\n")
        ctx.status = _CHILD_FAILED
        return
    kind = args.last("recode", "encoding")
    words = ["iconv", "-c", "-f", "UTF-8", "-t", f"{args.value(kind)}{'//TRANSLIT' if kind == 'encoding' else ''}"] if kind else []
    if not words:
        ctx.print(page.usage, end="")
    elif ctx.run(words, stdin=BytesReader(encode(page.usage))):
        ctx.stderr.write(encode(f"man: command exited with status 1: {' '.join(words)}\n"))
        ctx.status = _CHILD_FAILED


def _local_files(ctx: CommandContext, names: Sequence[str], *, where: bool) -> int:
    """`-l`: files that would be formatted."""
    for name in names:
        try:
            ctx.fs.stat(ctx.path(name))
        except OSError as error:
            ctx.stderr.write(encode(f"man: {describe_os_error(error, name)}\n"))
            ctx.status = _NOT_FOUND
            continue
        if where:
            ctx.print(name)
        else:
            ctx.stderr.write(encode(f"man: {name}: can't execute groff: No such file or directory\n"))
            ctx.status = _CHILD_FAILED
    return ctx.status


def _pages(ctx: CommandContext) -> Iterator[tuple[str, Command]]:
    """Yield each name in the table of commands with its command, sorted. Importing all takes 0.3 s."""
    for name in sorted(names()):
        ctx.budget.step(100)
        page = find_command(name)
        if page is not None:
            yield name, page


def _containing(ctx: CommandContext, text: str, *, match_case: bool) -> list[Command]:
    """`-K`: the commands with a text in their help."""
    if match_case:
        return [page for _, page in _pages(ctx) if text in page.usage]
    return [page for _, page in _pages(ctx) if text.casefold() in page.usage.casefold()]


def _find(page: str, *, match_case: bool) -> Command | None:
    """The command of a page, which may be called `ls.1` or `ls(1)`."""
    for ending in ("", f".{_SECTION}", f"({_SECTION})"):
        name = page.removesuffix(ending)
        found = find_command(name) or (None if match_case else find_command(name.lower()))
        if found is not None and (not ending or name != page):
            return found
    return None


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


def _matching(ctx: CommandContext, *, wildcard: bool = False, names_only: bool = False) -> Callable[[str], list[tuple[str, str]]]:
    """A function that finds all commands with a match in their name or summary."""
    known = [(name, page.summary) for name, page in _pages(ctx)]

    def find(word: str) -> list[tuple[str, str]]:
        if wildcard:
            pattern = compile_glob(word, ignore_case=True, extglob=False)
            return [each for each in known if any(pattern.match(text) for text in each[: 1 if names_only else 2])]
        try:
            regex = compile_posix(word, ignore_case=True)
        except RegexError as error:
            ctx.warn(f"fatal: regex `{word}': {error.message}")
            return []
        return [each for each in known if any(regex.test(text, ctx.budget) for text in each[: 1 if names_only else 2])]

    return find
