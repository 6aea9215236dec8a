"""The options of `ls`."""

from __future__ import annotations

import re
from operator import attrgetter

from agentsandbox.commands._files.block_sizes import SizeFormat, block_size_from, parse_block_size
from agentsandbox.commands._files.listing import Colors, knows_colors
from agentsandbox.commands._text.choices import choice_of, choose
from agentsandbox.commands._text.quoting import STYLES, quote, style_of_environment
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.patterns.filenames import compile_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.fs.base import Stat

_FORMAT_WORDS = (
    ("verbose", "long"), ("commas",), ("horizontal", "across"), ("vertical",), ("single-column",),
)  # fmt: skip
_SORTS = (("none",), ("time",), ("size",), ("extension",), ("version",), ("width",))
_TIMES = (("atime", "access", "use"), ("ctime", "status"), ("birth", "creation"))
_WHEN = (("always", "yes", "force"), ("never", "no", "none"), ("auto", "tty", "if-tty"))
_INDICATORS = (("none",), ("slash",), ("file-type",), ("classify",))
_QUOTING = tuple((name,) for name in STYLES)
_LONG = frozenset(("l", "g", "o", "numeric-uid-gid", "full-time"))
_NUMBER = lazily(r"\s*\+?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)\Z", re.ASCII)
_DIGITS, _LARGEST = 40, 2**63 - 1
_RECENT = 31556952 // 2
"""Half a Gregorian year: older files are shown with their year."""
_STYLES = {
    "full-iso": ("%Y-%m-%d %H:%M:%S.%N %z", "%Y-%m-%d %H:%M:%S.%N %z"),
    "long-iso": ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M"),
    "iso": ("%Y-%m-%d ", "%m-%d %H:%M"),
    "locale": ("%b %e  %Y", "%b %e %H:%M"),
}


def _number(text: str) -> int | None:
    """Return a whole number in decimal, octal or hexadecimal; None for anything else."""
    found = _NUMBER.match(text)
    if found is None:
        return None
    digits = found[1][:_DIGITS]
    return int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10)


def _width(text: str) -> int:
    number = _number(text)
    if number is None:
        raise CommandError(f"invalid line width: {quote(text)}", 2)
    return 0 if number > _LARGEST else number


READERS: dict[str, Callable[[str], object]] = {
    "block-size": lambda text: parse_block_size(text, "--block-size", 2),
    "classify": choice_of("--classify", _WHEN),
    "color": choice_of("--color", _WHEN),
    "format": choice_of("--format", _FORMAT_WORDS),
    "indicator-style": choice_of("--indicator-style", _INDICATORS),
    "quoting-style": choice_of("--quoting-style", _QUOTING),
    "sort": choice_of("--sort", _SORTS),
    "time": choice_of("--time", _TIMES),
    "width": _width,
}
"""Check the values of options in the order of the words."""


class Options:
    """Each option's effect; the last of contradicting options wins, as in GNU ls."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.all = args.flag("all") or args.flag("f")
        almost = args.last("all", "almost-all", "f")
        if almost == "almost-all":
            self.all = False
        self._hidden = almost is not None
        self.directory = args.flag("directory")
        self.recursive = args.flag("recursive") and not self.directory
        self.reverse = args.flag("reverse")
        self.directories_first = args.flag("group-directories-first")
        self.inode = args.flag("inode")
        self.blocks = args.flag("size")
        self.context = args.flag("context")
        self.numeric = args.flag("numeric-uid-gid")
        self.owner = not args.flag("g")
        self.group = not (args.flag("no-group") or args.flag("o"))
        self.end = "\0" if args.flag("zero") else "\n"
        self.form = self._choose_form(args)
        self.quoting = self._choose_quoting(ctx, args)
        self.aligns_quotes = self.quoting in ("shell", "shell-escape")
        """Whether a blank takes the place of the quote before names without quotes."""
        control = args.last("hide-control-chars", "show-control-chars")
        self.hide_control = control == "hide-control-chars" and self.quoting == "literal"
        self.indicators = self._choose_indicators(args)
        self.time = self._choose_time(args)
        self.time_of: Callable[[Stat], float] = attrgetter(
            self.time if self.time in ("atime", "ctime") else "mtime"
        )
        """Return the time to sort by and to show."""
        self.sort = self._choose_sort(args)
        self.sizes, self.block_sizes = self._choose_sizes(ctx, args)
        self.formats = self._choose_time_style(ctx, args)
        self.now = ctx.host.clock()
        self.colors = self._choose_colors(ctx, args)
        text = args.value("width") or ctx.env.get("COLUMNS", "")
        self.line = _width(text) if args.flag("width") or _number(text) is not None else 80
        if self.form in ("single-column", "commas") or (self.form != "long" and not self.line):
            self.aligns_quotes = False
        self.tab = 8 if self.colors is None else 0
        self._patterns = [
            compile_glob(text, period=True, extglob=False) for text in args.values("ignore")
        ]
        if args.flag("ignore-backups"):
            self._patterns += [compile_glob(text, extglob=False) for text in ("*~", ".*~")]
        self.dereference = args.last("dereference", "dereference-command-line") == "dereference"
        self.dereference_operands = self._choose_dereference(args)

    @property
    def needs_total(self) -> bool:
        """Whether a directory's listing begins with its sum of blocks."""
        return self.form == "long" or self.blocks

    @property
    def needs_stat(self) -> bool:
        """Whether more than the names of files must be known."""
        return (
            self.form == "long" or self.blocks or self.inode or self.recursive
            or self.directories_first or self.indicators != "none" or self.colors is not None
            or self.context or self.sort in ("time", "size")
        )  # fmt: skip

    @property
    def needs_target(self) -> bool:
        """Whether to look where links lead."""
        return self.form == "long" or self.colors is not None or self.directories_first

    @property
    def leaves_out_some(self) -> bool:
        """Whether `leaves_out` is true of any name."""
        return not self._hidden or bool(self._patterns)

    def leaves_out(self, name: str) -> bool:
        """Whether a name in a directory is not listed."""
        if name.startswith(".") and not self._hidden:
            return True
        return bool(self._patterns) and any(pattern.match(name) for pattern in self._patterns)

    def time_format(self, when: float) -> str:
        """Return the format for a time; recent times have their own."""
        return self.formats[1 if self.now - _RECENT < when <= self.now else 0]

    def _choose_form(self, args: Arguments) -> str:
        letters = {"C": "vertical", "x": "horizontal", "m": "commas"}
        asked = ""
        for key, value in args.given:
            if key in letters:
                asked = letters[key]
            elif key in _LONG:
                asked = "long"
            elif key == "format":
                chosen = choose(value or "", "--format", _FORMAT_WORDS)
                asked = "long" if chosen == "verbose" else chosen
            elif key in ("1", "zero") and asked != "long":
                asked = "single-column"
            elif key == "f" and asked == "long":
                asked = ""
        return asked or "single-column"

    def _choose_quoting(self, ctx: CommandContext, args: Arguments) -> str:
        letters = {"escape": "escape", "literal": "literal", "quote-name": "c", "zero": "literal"}
        chosen = None
        for key, value in args.given:
            if key in letters:
                chosen = letters[key]
            elif key == "quoting-style":
                chosen = choose(value or "", "--quoting-style", _QUOTING)
        return chosen or style_of_environment(ctx) or "literal"

    def _choose_indicators(self, args: Arguments) -> str:
        style = "none"
        for key, value in args.given:
            if key == "p":
                style = "slash"
            elif key == "file-type":
                style = "file-type"
            elif key == "indicator-style":
                style = choose(value or "", "--indicator-style", _INDICATORS)
            elif key == "F" or (
                key == "classify"
                and (value is None or choose(value, "--classify", _WHEN) == "always")
            ):
                style = "classify"
        return style

    def _choose_time(self, args: Arguments) -> str:
        time = "mtime"
        for key, value in args.given:
            if key == "time":
                time = choose(value or "", "--time", _TIMES)
            elif key in ("c", "u"):
                time = "ctime" if key == "c" else "atime"
        return time

    def _choose_sort(self, args: Arguments) -> str:
        letters = {
            "t": "time", "S": "size", "X": "extension", "v": "version", "U": "none", "f": "none",
        }  # fmt: skip
        sort = ""
        for key, value in args.given:
            if key in letters:
                sort = letters[key]
            elif key == "sort":
                sort = choose(value or "", "--sort", _SORTS)
        if sort:
            return sort
        return "time" if self.form != "long" and args.last("c", "u", "time") else "name"

    def _choose_sizes(self, ctx: CommandContext, args: Arguments) -> tuple[SizeFormat, SizeFormat]:
        """Return the formats of sizes and of disk usage."""
        sizes, blocks = SizeFormat(1), SizeFormat(1024)
        given = args.last("human-readable", "si", "block-size")
        if given == "block-size":
            text = args.value("block-size") or ""
            found = parse_block_size(text, "--block-size", 2)
            return found, found
        if given:
            human = SizeFormat(human=True, base=1000 if given == "si" else 1024)
            return human, human
        from_env = block_size_from(ctx.env, "LS_BLOCK_SIZE")
        if from_env is not None:
            if "LS_BLOCK_SIZE" in ctx.env or "BLOCK_SIZE" in ctx.env:
                sizes = from_env
            if not args.flag("kibibytes"):
                blocks = from_env
        return sizes, blocks

    def _choose_time_style(self, ctx: CommandContext, args: Arguments) -> tuple[str, str]:
        """Return the formats of old or future times and of recent ones."""
        if self.form != "long":
            return _STYLES["locale"]
        style = args.value("time-style")
        if args.last("time-style", "full-time") == "full-time":
            style = "full-iso"
        if style is None:
            style = ctx.env.get("TIME_STYLE", "locale")
        style = style.removeprefix("posix-")  # which is for the locale POSIX, not for this one
        if style.startswith("+"):
            old, newline, recent = style[1:].partition("\n")
            return (old, recent) if newline else (old, old)
        names = [name for name in _STYLES if name == style] or [
            name for name in _STYLES if name.startswith(style)
        ]
        if len(names) != 1:
            problem = "ambiguous" if names else "invalid"
            listed = "".join([f"\n  - [posix-]{name}" for name in _STYLES])
            raise UsageError(
                f"{problem} argument {quote(style)} for {quote('time style')}\n"
                f"Valid arguments are:{listed}\n"
                "  - +FORMAT (e.g., +%H:%M) for a 'date'-style format"
            )
        return _STYLES[names[0]]

    def _choose_colors(self, ctx: CommandContext, args: Arguments) -> Colors | None:
        colors = False
        for key, value in args.given:
            if key == "color":
                colors = value is None or choose(value, "--color", _WHEN) == "always"
            elif key in ("f", "zero"):
                colors = False
        if not colors or not knows_colors(ctx.env):
            return None
        try:
            return Colors(ctx.env)
        except CommandError as error:
            ctx.warn(error.message, ctx.status)
            return None

    def _choose_dereference(self, args: Arguments) -> str:
        """Return which operands that are links are followed: "all", "directories" or "none"."""
        if args.last("dereference", "dereference-command-line"):
            return "all"
        if self.directory or self.indicators == "classify" or self.form == "long":
            return "none"
        return "directories"
