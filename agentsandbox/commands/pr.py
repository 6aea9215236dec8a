"""`pr` (POSIX 1003.1-2017, GNU coreutils): files in pages and columns for printing."""

from __future__ import annotations

import re
from functools import partial

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import read_all, shown_name
from agentsandbox.commands._pr_pages import Layout, Pages
from agentsandbox.commands._quoting import quote, quote_always
from agentsandbox.commands._sizes import parse_number, parse_signed
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import Manners
from agentsandbox.streams import InputError, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DIGITS = "digits"
"""Digits among the options, which are a number of columns."""
_NUMBER = re.compile(r"[ \t\n\v\f\r]*\+?([0-9]+)")
_TOO_LARGE = "Value too large for defined data type"
_TAKES_VALUE = re.compile(r"-[a-zA-Z0-9]*?[DhlNoWw]\Z|--(?:date-format|header|length|first-line-number|indent|width|page-width)\Z")


def _rewrite(words: Sequence[str]) -> list[str]:
    """`+2:5` is `--pages=2:5`, unless there are pages before it or these are none: then it is a file."""
    rewritten: list[str] = []
    is_value = chosen = False
    for at, word in enumerate(words):
        if word == "--" and not is_value:
            return [*rewritten, *words[at:]]
        obsolete = word.startswith("+") and not (is_value or chosen) and _range(word[1:], "+") is not None
        chosen = chosen or obsolete or word.startswith("--pages=")
        rewritten.append(f"--pages={word[1:]}" if obsolete else word)
        is_value = not is_value and _TAKES_VALUE.match(word) is not None
    return rewritten


def _pages(text: str | None) -> tuple[int, int | None]:
    if text is None:
        return 1, None
    found = _range(text, "--pages")
    if found is None:
        raise CommandError(f"invalid page range {quote(text)}")
    return found


def _range(text: str, option: str) -> tuple[int, int | None] | None:
    """FIRST[:LAST]; None where the first page is 0, the last before it, or something stands behind them."""
    first, end = _page_number(text, 0, option)
    last: int | None = None
    if first and text[end : end + 1] == ":":
        last, end = _page_number(text, end + 1, option)
        if end < len(text):
            raise CommandError(f"invalid suffix in {option} argument '{text}'")
    if not first or end < len(text) or (last is not None and last < first):
        return None
    return first, last


def _page_number(text: str, start: int, option: str) -> tuple[int, int]:
    """A number, and where it ends."""
    found = _NUMBER.match(text, start)
    if found is None:
        raise CommandError(f"invalid {option} argument '{text}'")
    if len(found[1]) > 40 or int(found[1]) >= 2**64:
        raise CommandError(f"{option} argument '{text}' too large")
    return int(found[1]), found.end()


def _numbering(text: str, layout: Layout) -> None:
    """`-n[SEP[DIGITS]]`."""
    layout.numbered = True
    if text and not text[0].isdigit():
        layout.number_separator, text = text[0], text[1:]
    if text:
        if re.fullmatch("[0-9]+", text) and int(text[:40]) >= 2**31:
            raise UsageError(f"'-n' extra characters or invalid number in the argument: {quote(text)}: {_TOO_LARGE}")
        if not re.fullmatch("[0-9]+", text) or not int(text):
            raise UsageError(f"'-n' extra characters or invalid number in the argument: {quote(text)}")
        layout.number_digits = int(text)


def _columns(text: str) -> int:
    return parse_number(text, "number of columns", low=1, high=2**31 - 1)


def _digits(args: Arguments) -> str:
    """The last run of digits, over as many words as follow each other."""
    digits = before = ""
    for key, value in args.given:
        if key == _DIGITS:
            digits = digits + (value or "") if before == _DIGITS else value or ""
        before = key
    return digits


def _layout(ctx: CommandContext, args: Arguments) -> Layout:
    layout = Layout()
    layout.columns = _columns(_digits(args) or args.value("columns", "1") or "")
    layout.across, layout.merged = args.flag("across"), args.flag("merge")
    explicit = args.last("columns", _DIGITS) is not None
    if layout.merged and explicit:
        raise CommandError("cannot specify number of columns when printing in parallel")
    if layout.merged and layout.across:
        raise CommandError("cannot specify both printing across and printing in parallel")
    layout.double = args.flag("double-space")
    layout.form_feed = args.flag("form-feed")
    layout.header = args.value("header")
    layout.length = _measure("length", args.value("length", "66") or "")
    layout.width = _measure("width", args.value("width", "72") or "")
    layout.margin = _measure("indent", args.value("indent", "0") or "")
    if args.flag("page-width"):
        layout.width = _measure("page-width", args.value("page-width") or "")
        layout.truncated = True
    layout.bare = args.flag("omit-header") or args.flag("omit-pagination") or layout.length <= 10
    layout.keeps_form_feeds = layout.length <= 10 or args.last("omit-header", "omit-pagination") == "omit-header"
    layout.first_page, layout.last_page = _pages(args.value("pages"))
    layout.date_format = args.value("date-format", "%Y-%m-%d %H:%M") or ""
    layout.start = _measure("first-line-number", args.value("first-line-number", "1") or "")
    for text in args.values("number-lines"):
        _numbering(text, layout)
    layout.joined = args.flag("join-lines")
    layout.octal, layout.carets = args.flag("show-nonprinting"), args.flag("show-control-chars")
    layout.tabs_in = _tabs(args, "expand-tabs", "-e")
    layout.tabs_out = _tabs(args, "output-tabs", "-i")
    _set_separator(args, layout, explicit=explicit or layout.merged)
    ctx.budget.charge(layout.length + layout.width + layout.margin + layout.number_digits + layout.columns * 8)
    return layout


def _tabs(args: Arguments, key: str, letter: str) -> tuple[str, int] | None:
    """(character, width) of `-e[CHAR[WIDTH]]`."""
    form = None
    for text in args.values(key):
        form = _tab_form(text, letter, form)
    return form


def _tab_form(text: str, letter: str, before: tuple[str, int] | None = None) -> tuple[str, int]:
    character, width = before or ("\t", 8)
    if text and not text[0].isdigit():
        character, text = text[0], text[1:]
    if re.fullmatch("[0-9]+", text) and int(text[:40]) >= 2**31:
        raise UsageError(f"'{letter}' extra characters or invalid number in the argument: {quote(text)}: {_TOO_LARGE}")
    if text and not (re.fullmatch("[0-9]+", text) and int(text)):
        raise UsageError(f"'{letter}' extra characters or invalid number in the argument: {quote(text)}")
    return character, int(text or width)


def _set_separator(args: Arguments, layout: Layout, *, explicit: bool) -> None:
    """What stands between columns, and whether they are aligned: -s and -w mean other things together than alone."""
    given = old = False
    separator = ""
    for key, value in args.given:
        if key == "separator":
            old = True
            separator = value if value and not given else separator
        elif key == "sep-string":
            given, old, separator = True, False, value or ""
    if args.last("width", "page-width") == "width":
        layout.truncated = layout.truncated or explicit
        given = given or (old and explicit)
    elif old and explicit and not given:
        layout.joined = layout.joined or not layout.truncated
        given = layout.truncated or bool(separator)
    if not given or (separator == "\t" and not layout.joined):
        separator = "\t" if layout.joined else " "
    layout.separator = separator


_MEASURES = {
    "length": ("'-l PAGE_LENGTH' invalid number of lines", 1),
    "width": ("'-w PAGE_WIDTH' invalid number of characters", 1),
    "page-width": ("'-W PAGE_WIDTH' invalid number of characters", 1),
    "indent": ("'-o MARGIN' invalid line offset", 0),
    "first-line-number": ("'-N NUMBER' invalid starting line number", -(2**31)),
}
"""What messages call the values, and the least of each."""


def _measure(option: str, text: str) -> int:
    what, low = _MEASURES[option]
    try:
        return parse_signed(text, "", low=low, high=2**31 - 1)
    except CommandError as error:
        raise CommandError(error.message.replace("invalid ", what, 1)) from None


_READERS: dict[str, Callable[[str], object]] = {
    "columns": _columns,
    "pages": _pages,
    "expand-tabs": lambda text: _tab_form(text, "-e"),
    "output-tabs": lambda text: _tab_form(text, "-i"),
    "number-lines": lambda text: _numbering(text, Layout()),
}
_READERS |= {option: partial(_measure, option) for option in _MEASURES}


def _read(ctx: CommandContext, name: str, *, quiet: bool) -> str | None:
    """The text; None for a file that cannot be opened. One that cannot be read ends the program."""
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


def _time_of(ctx: CommandContext, name: str) -> float:
    """When a file was changed last; now for standard input."""
    return ctx.host.clock() if name == "-" else ctx.fs.stat(ctx.path(name)).mtime


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
    values=_READERS,
    usage="""
    Usage: pr [OPTION]... [FILE]...
    Write the FILEs in pages, each with a header of date, name and page number: all of them, or those from +FIRST[:LAST].
    -COLUMNS is a number of columns.

    With no FILE, or when FILE is -, read standard input.

          --pages=FIRST[:LAST]    print only these pages
          --columns=COLUMNS       COLUMNS columns, filled downwards (also -COLUMNS)
      -a, --across                fill columns across
      -b                          (columns are always balanced on the last page)
      -c, --show-control-chars    control characters as ^G, others that do not print as \\octal
      -d, --double-space          an empty line after each line
      -D, --date-format=FORMAT    the date of the header
      -e, --expand-tabs[=TABS]    tabs become blanks; TABS is CHAR (TAB), and the width (8)
      -F, -f, --form-feed         pages end with form feeds
      -h, --header=HEADER         HEADER stands for the name
      -i, --output-tabs[=TABS]    blanks become tabs; TABS as for -e
      -J, --join-lines            whole lines in columns, without alignment
      -l, --length=LINES          lines of a page (66); up to 10 there is no header
      -m, --merge                 all files in parallel, one in each column
      -n, --number-lines[=FORM]  number the lines; FORM is SEP (TAB), and the number of digits (5)
      -N, --first-line-number=NUM count lines from NUM
      -o, --indent=MARGIN         indent each line by MARGIN spaces
      -r, --no-file-warnings      no messages about files that cannot be read
      -s, --separator[=CHAR]      CHAR (TAB) between columns, without alignment unless -w is given
      -S, --sep-string[=STRING]   STRING between columns
      -t, --omit-header           no headers and trailers
      -T, --omit-pagination       the same, and no form feeds
      -v, --show-nonprinting      what does not print as \\octal
      -w, --width=WIDTH           width of a page (72) of several columns
      -W, --page-width=WIDTH      width of any page: longer lines are cut
          --help                  display this help and exit
    """,
)
def pr(ctx: CommandContext, args: Arguments) -> int:
    layout = _layout(ctx, args)
    names = args.operands or ["-"]
    quiet = args.flag("no-file-warnings")
    layout.places = len(names) if layout.merged else 0
    if layout.column_width < 1:
        raise CommandError("page width too narrow")
    if layout.merged:
        _merge(ctx, names, layout, quiet=quiet)
        return ctx.status
    for name in names:
        found = _read(ctx, name, quiet=quiet)
        if found is not None:
            pages = Pages(ctx, layout, "" if name == "-" else name, _time_of(ctx, name))
            pages.write(found)
            pages.complain_of_range()
    return ctx.status


def _merge(ctx: CommandContext, names: Sequence[str], layout: Layout, *, quiet: bool) -> None:
    """`-m`: what cannot be read ends the program where the first line of it would stand."""
    texts: list[str] = []
    failure: CommandError | None = None
    for name in names:
        try:
            text = _read(ctx, name, quiet=quiet)
        except CommandError as error:
            failure = failure or error
            continue
        if text is not None and failure is None:
            texts.append(text)
    if texts:
        layout.columns = len(texts) + (failure is not None)
        pages = Pages(ctx, layout, "", ctx.host.clock())
        pages.merge(texts, broken=failure is not None)
        if failure is None:
            pages.complain_of_range()
    if failure is not None:
        raise failure
