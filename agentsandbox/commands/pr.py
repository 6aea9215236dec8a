"""`pr` (POSIX 1003.1-2017, GNU coreutils): files in pages and columns for printing."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import read_all, shown_name
from agentsandbox.commands._pr_pages import Layout, Pages
from agentsandbox.commands._quoting import quote, quote_always
from agentsandbox.commands._sizes import parse_number, parse_signed
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.streams import InputError, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PAGES = re.compile(r"\+([0-9]+)(?::([0-9]+))?\Z")


_TAKES_VALUE = re.compile(r"-[a-zA-Z0-9]*?[DhlNoWw]\Z|--(?:date-format|header|length|first-line-number|indent|width|page-width)\Z")


def _rewrite(words: Sequence[str]) -> list[str]:
    """`+2:5` is `--pages=2:5`."""
    rewritten: list[str] = []
    is_value = False
    for at, word in enumerate(words):
        if word == "--" and not is_value:
            return [*rewritten, *words[at:]]
        rewritten.append(f"--pages={word[1:]}" if _PAGES.match(word) and not is_value else word)
        is_value = not is_value and _TAKES_VALUE.match(word) is not None
    return rewritten


def _pages(text: str | None) -> tuple[int, int | None]:
    if text is None:
        return 1, None
    found = _PAGES.match(f"+{text}")
    first = int(found[1][:18]) if found is not None else 0
    last = int(found[2][:18]) if found is not None and found[2] else None
    if not first or (last is not None and last < first):
        raise CommandError(f"invalid page range {quote(text)}")
    return first, last


def _numbering(text: str, layout: Layout) -> None:
    """`-n[SEP[DIGITS]]`."""
    layout.numbered = True
    if text and not text[0].isdigit():
        layout.number_separator, text = text[0], text[1:]
    if text:
        if not re.fullmatch("[0-9]{1,9}", text) or not int(text):
            raise UsageError(f"'-n' extra characters or invalid number in the argument: {quote(text)}")
        layout.number_digits = int(text)


def _layout(ctx: CommandContext, args: Arguments) -> Layout:
    layout = Layout()
    number = parse_number(args.value("columns", "1") or "", "number of columns", low=1, high=2**31 - 1)
    layout.columns = number
    layout.across, layout.merged = args.flag("across"), args.flag("merge")
    if layout.merged and args.flag("columns"):
        raise CommandError("cannot specify number of columns when printing in parallel")
    if layout.merged and layout.across:
        raise CommandError("cannot specify both printing across and printing in parallel")
    layout.double = args.flag("double-space")
    layout.form_feed = args.flag("form-feed")
    layout.header = args.value("header")
    layout.length = _measure(args, "length", "'-l PAGE_LENGTH' invalid number of lines", 66)
    layout.width = _measure(args, "width", "'-w PAGE_WIDTH' invalid number of characters", 72)
    layout.margin = _measure(args, "indent", "'-o MARGIN' invalid line offset", 0, low=0)
    if args.flag("page-width"):
        layout.width = _measure(args, "page-width", "'-W PAGE_WIDTH' invalid number of characters", 72)
        layout.truncated = True
    layout.bare = args.flag("omit-header") or args.flag("omit-pagination") or layout.length <= 10
    layout.keeps_form_feeds = args.flag("omit-header") and not args.flag("omit-pagination")
    layout.first_page, layout.last_page = _pages(args.value("pages"))
    layout.date_format = args.value("date-format", "%Y-%m-%d %H:%M") or ""
    layout.start = _measure(args, "first-line-number", "'-N NUMBER' invalid starting line number", 1, low=-(2**31))
    if args.flag("number-lines"):
        _numbering(args.value("number-lines") or "", layout)
    layout.joined = args.flag("join-lines")
    layout.octal, layout.carets = args.flag("show-nonprinting"), args.flag("show-control-chars")
    layout.tabs_in = _tabs(args, "expand-tabs", "-e")
    layout.tabs_out = _tabs(args, "output-tabs", "-i")
    _set_separator(args, layout)
    ctx.budget.charge(layout.length + layout.width + layout.margin + layout.number_digits + layout.columns * 8)
    return layout


def _tabs(args: Arguments, key: str, letter: str) -> tuple[str, int] | None:
    """(character, width) of `-e[CHAR[WIDTH]]`."""
    if not args.flag(key):
        return None
    text = args.value(key) or ""
    character = "\t"
    if text and not text[0].isdigit():
        character, text = text[0], text[1:]
    if text and not (re.fullmatch("[0-9]{1,4}", text) and int(text)):
        raise UsageError(f"'{letter}' extra characters or invalid number in the argument: {quote(text)}")
    return character, int(text or "8")


def _set_separator(args: Arguments, layout: Layout) -> None:
    for key, value in args.given:
        if key == "separator":
            layout.separator = value or "\t"
            layout.joined = layout.joined or not (args.flag("width") or args.flag("page-width"))
        elif key == "sep-string":
            layout.separator = value or ""
    if layout.separator is None:
        layout.separator = "\t" if layout.joined else " "


def _measure(args: Arguments, option: str, what: str, default: int, *, low: int = 1) -> int:
    text = args.value(option)
    if text is None:
        return default
    try:
        return parse_signed(text, "", low=low, high=2**31 - 1)
    except CommandError as error:
        raise CommandError(error.message.replace("invalid ", what, 1)) from None


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
    rewrite=_rewrite,
    digits="columns",
    usage="""
    Usage: pr [OPTION]... [FILE]...
    Write the FILEs in pages, each with a header of date, name and page number: all of them, or those from +FIRST[:LAST].
    -COLUMNS is a number of columns.

    With no FILE, or when FILE is -, read standard input.

          --pages=FIRST[:LAST]    print only these pages
          --columns=COLUMNS       COLUMNS columns, filled downwards (also -COLUMNS)
      -a, --across                fill columns across
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
    for name in names:
        if name.startswith("+"):
            raise CommandError(f"invalid + argument '{name[1:]}'")
    quiet = args.flag("no-file-warnings")
    if layout.merged:
        texts = [(name, text) for name in names if (text := _read(ctx, name, quiet=quiet)) is not None]
        if texts:
            title = ""
            layout.columns, layout.places = len(texts), len(names)
            pages = Pages(ctx, layout, title, ctx.host.clock())
            pages.merge([text for _, text in texts])
            pages.complain_of_range()
        return ctx.status
    for name in names:
        found = _read(ctx, name, quiet=quiet)
        if found is not None:
            pages = Pages(ctx, layout, "" if name == "-" else name, _time_of(ctx, name))
            pages.write(found)
            pages.complain_of_range()
    return ctx.status
