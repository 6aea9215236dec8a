"""`pr` (POSIX 1003.1-2017, GNU coreutils): files in pages and columns for printing."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import read_all, shown_name
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.commands._text.sizes import parse_number
from agentsandbox.commands.pages.page_layout import Layout, Pages
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import InputError, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_DIGITS = "digits"
"""Digits among the options, which are a number of columns."""
_PAGES = re.compile(r"\+?([0-9]{1,18}+)(?::([0-9]{1,18}+))?\Z")
_TAKES_VALUE = re.compile(r"-[a-zA-Z0-9]*?[hlow]\Z|--(?:header|length|indent|width)\Z")
_MEASURES = {
    "length": ("'-l PAGE_LENGTH' invalid number of lines", 1),
    "width": ("'-w PAGE_WIDTH' invalid number of characters", 1),
    "indent": ("'-o MARGIN' invalid line offset", 0),
}
"""What messages call the values, and the least of each."""


def _rewrite(words: Sequence[str]) -> list[str]:
    """Rewrite `+2:5` as `--pages=2:5`, unless it is no range of pages."""
    rewritten: list[str] = []
    for at, word in enumerate(words):
        is_value = at > 0 and _TAKES_VALUE.match(words[at - 1]) is not None
        if word == "--" and not is_value:
            return [*rewritten, *words[at:]]
        pages = word.startswith("+") and not is_value and _PAGES.match(word) is not None
        rewritten.append(f"--pages={word[1:]}" if pages else word)
    return rewritten


def _pages(text: str) -> tuple[int, int | None]:
    found = _PAGES.match(text)
    first = int(found[1]) if found is not None else 0
    last = int(found[2]) if found is not None and found[2] else None
    if not first or (last is not None and last < first):
        raise CommandError(f"invalid page range {quote(text)}")
    return first, last


def _lettered_number(letter: str, text: str, character: str, number: int) -> tuple[str, int]:
    """Return (character, number) of `-e[CHAR[WIDTH]]`, `-i[CHAR[WIDTH]]` or `-n[SEP[DIGITS]]`."""
    if text and not text[0].isdigit():
        character, text = text[0], text[1:]
    if text and not (re.fullmatch("[0-9]{1,9}", text) and int(text)):
        wrong = f"'-{letter}' extra characters or invalid number in the argument"
        raise UsageError(f"{wrong}: {quote(text)}")
    return character, int(text or number)


def _measure(args: Arguments, option: str, default: int) -> int:
    what, low = _MEASURES[option]
    text = args.value(option)
    if text is None:
        return default
    try:
        return parse_number(text, "", low=low, high=2**31 - 1)
    except CommandError as error:
        raise CommandError(error.message.replace("invalid ", what, 1)) from None


def _columns(args: Arguments) -> int:
    """Return the number of columns: the last run of digits, which may be several words."""
    digits = before = ""
    for key, value in args.given:
        if key == _DIGITS:
            digits = digits + (value or "") if before == _DIGITS else value or ""
        before = key
    text = digits or args.value("columns", "1") or ""
    return parse_number(text, "number of columns", low=1, high=2**31 - 1)


def _layout(ctx: CommandContext, args: Arguments) -> Layout:
    layout = Layout()
    layout.columns = _columns(args)
    layout.across, layout.merged = args.flag("across"), args.flag("merge")
    explicit = args.last("columns", _DIGITS) is not None
    if layout.merged and explicit:
        raise CommandError("cannot specify number of columns when printing in parallel")
    if layout.merged and layout.across:
        raise CommandError("cannot specify both printing across and printing in parallel")
    layout.double = args.flag("double-space")
    layout.form_feed = args.flag("form-feed")
    layout.header = args.value("header")
    layout.length = _measure(args, "length", 66)
    layout.width = _measure(args, "width", 72)
    layout.margin = _measure(args, "indent", 0)
    layout.bare = bool(args.last("omit-header", "omit-pagination")) or layout.length <= 10
    last = args.last("omit-header", "omit-pagination")
    layout.keeps_form_feeds = layout.length <= 10 or last == "omit-header"
    layout.first_page, layout.last_page = _pages(args.value("pages", "1") or "")
    if args.flag("number-lines"):
        layout.numbers = _lettered_number("n", args.value("number-lines") or "", "\t", 5)
    if args.flag("expand-tabs"):
        layout.tabs_in = _lettered_number("e", args.value("expand-tabs") or "", "\t", 8)
    if args.flag("output-tabs"):
        layout.tabs_out = _lettered_number("i", args.value("output-tabs") or "", "\t", 8)
    layout.joined = args.flag("separator") and not args.flag("width")
    default = "\t" if layout.joined else " "
    layout.separator = args.value("separator", default) or default
    charged = layout.length + layout.width + layout.margin + layout.numbers[1]
    ctx.budget.charge(charged + layout.columns * 8)
    return layout


def _read(ctx: CommandContext, name: str, *, quiet: bool) -> str | None:
    """Return the text, None for a file that cannot be opened; one that cannot be read is fatal."""
    try:
        return decode(read_all(ctx.budget, ctx.open_input(name)))
    except (InputError, IsADirectoryError) as error:
        shown = quote_always("standard input") if name == "-" else shown_name(name)
        raise CommandError(f"{shown}: {error.strerror}") from None
    except OSError as error:
        ctx.status = 1
        if not quiet:
            ctx.warn_os(error, shown_name(name))
        return None


@command(
    "pr",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            pages columns across show-control-chars double-space date-format expand-tabs
            form-feed header output-tabs join-lines length merge number-lines
            first-line-number indent no-file-warnings separator sep-string omit-header
            omit-pagination show-nonprinting width page-width help version
        """,
        read_error=("NAME: 'standard input': REASON", 1),
    ),
    rewrite=_rewrite,
    digits=_DIGITS,
    values={"pages": _pages},
    usage="""
    Usage: pr [OPTION]... [FILE]...
    Write the FILEs in pages, each with a header of date, name and page number: all of them, or
    those from +FIRST[:LAST]. -COLUMNS is a number of columns.

    With no FILE, or when FILE is -, read standard input.

          --pages=FIRST[:LAST]    print only these pages
          --columns=COLUMNS       COLUMNS columns, filled downwards (also -COLUMNS)
      -a, --across                fill columns across
      -d, --double-space          an empty line after each line
      -e, --expand-tabs[=TABS]    tabs become blanks; TABS is CHAR (TAB), and the width (8)
      -F, -f, --form-feed         pages end with form feeds
      -h, --header=HEADER         HEADER stands for the name
      -i, --output-tabs[=TABS]    blanks become tabs; TABS as for -e
      -l, --length=LINES          lines of a page (66); up to 10 there is no header
      -m, --merge                 all files in parallel, one in each column
      -n, --number-lines[=FORM]  number the lines; FORM is SEP (TAB), and the number of digits (5)
      -o, --indent=MARGIN         indent each line by MARGIN spaces
      -r, --no-file-warnings      no messages about files that cannot be read
      -s, --separator[=CHAR]      CHAR (TAB) between columns, without alignment unless -w is given
      -t, --omit-header           no headers and trailers
      -T, --omit-pagination       the same, and no form feeds
      -w, --width=WIDTH           width of a page (72) of several columns
          --help                  display this help and exit
    """,
)
def pr(ctx: CommandContext, args: Arguments) -> int:
    layout = _layout(ctx, args)
    names = args.operands or ["-"]
    quiet = args.flag("no-file-warnings")
    if layout.merged:
        layout.columns = len(names)
    if layout.column_width < 1:
        raise CommandError("page width too narrow")
    if layout.merged:
        texts = [text for name in names if (text := _read(ctx, name, quiet=quiet)) is not None]
        if texts:
            Pages(ctx, layout, "", ctx.host.clock()).merge(texts)
        return ctx.status
    for name in names:
        text = _read(ctx, name, quiet=quiet)
        if text is not None:
            is_input = name == "-"
            time = ctx.host.clock() if is_input else ctx.fs.stat(ctx.path(name)).mtime
            Pages(ctx, layout, "" if is_input else name, time).write(text)
    return ctx.status
