"""How `ls` prints files: long lines, columns, commas."""

from __future__ import annotations

import posixpath
import re
import stat
from contextlib import suppress

from agentsandbox.commands._block_sizes import disk_usage
from agentsandbox.commands._columns import lay_out, separate
from agentsandbox.commands._listing import Entry, indicator
from agentsandbox.commands._quoting import printable, quote_as
from agentsandbox.commands._times import LocalTime, nanoseconds
from agentsandbox.commands._widths import text_width
from agentsandbox.languages.modes import format_mode
from agentsandbox.languages.owners import Owners
from agentsandbox.streams import bytewise, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.command import CommandContext
    from agentsandbox.commands._listing import Colors
    from agentsandbox.commands._ls_options import Options
    from agentsandbox.fs.base import Stat

__all__ = ["Printer"]

_UNSAFE = re.compile(rb"[^A-Za-z0-9/._~-]")
_LINES = 256  # that are written at a time


class Printer:
    """Prints entries in the form that the options ask for."""

    def __init__(self, ctx: CommandContext, options: Options) -> None:
        self.ctx = ctx
        self.options = options
        self.bytewise = ctx.is_bytewise()
        self.local = LocalTime(ctx)
        self._owners: Owners | None = None
        self._times: dict[tuple[str, float], str] = {}
        self._some_quoted = False
        self._at = 0
        """With --dired, how many bytes are written; those of colours do not count."""
        self._names_at: list[int] = []
        self._headers_at: list[int] = []

    def quoted(self, name: str) -> str:
        """A name as it is shown, without colour and indicator."""
        if self.bytewise and not name.isascii():
            if self.options.quoting == "literal" and not self.options.hide_control:
                return name
            name = bytewise(name)  # as in the locale C, where these bytes do not print
        if self.options.quoting == "literal":
            if not self.options.hide_control:
                return name
            return printable("".join([character if character.isascii() else "\x7f" for character in name]) if self.bytewise else name)
        shown = quote_as(name, self.options.quoting)
        return f"'{shown[1:-1]}'" if self.bytewise and shown[0] == "‘" else shown

    def linked(self, shown: str, path: str) -> str:
        """What is shown of a file as a link to it, where that is asked for."""
        if not self.options.hyperlink:
            return shown
        full = self.ctx.path(path)
        try:
            full = self.ctx.fs.realpath(full)
        except OSError:  # a link that leads nowhere
            with suppress(OSError):
                full = posixpath.normpath(posixpath.join(posixpath.dirname(full), self.ctx.fs.readlink(full)))
        escaped = decode(_UNSAFE.sub(lambda found: b"%%%02x" % found[0][0], encode(full)))
        return f"\x1b]8;;file://{self.ctx.host.hostname}{escaped}\a{shown}\x1b]8;;\a"

    def total(self, entries: Sequence[Entry]) -> str:
        """The sum of the blocks, as the line "total" shows it."""
        return self.options.block_sizes.show(sum([disk_usage(e.info) for e in entries if e.info is not None]))

    def print_header(self, name: str, *, first: bool) -> None:
        """The line above a directory's listing."""
        start, shown = "" if first else "\n", self.quoted(name)
        if self.options.dired:
            self._at += len(start) + 2
            self._mark(self._headers_at, shown)
            self._at += 2
            start += "  "
        self.ctx.stdout.write(encode(f"{start}{self.linked(shown, name)}:\n"))

    def _mark(self, places: list[int], shown: str) -> None:
        """Remember where a name begins and ends."""
        self.ctx.budget.charge(16 * len(places))
        places.append(self._at)
        self._at += len(encode(shown))
        places.append(self._at)

    def print_places(self) -> None:
        """What --dired says at the end: where in the output the names are."""
        for title, places in (("//DIRED//", self._names_at), ("//SUBDIRED//", self._headers_at)):
            if places:
                self.ctx.stdout.write(encode(f"{title} {' '.join(map(str, places))}\n"))
        self.ctx.stdout.write(encode(f"//DIRED-OPTIONS// --quoting-style={self.options.quoting}\n"))

    def print_files(self, entries: Sequence[Entry], *, total: str | None = None, beside: Sequence[Entry] = ()) -> None:
        """One listing: a directory's, or that of the operands that are files; `beside` are operands that widen columns."""
        end = self.options.end
        options = self.options
        if options.aligns_quotes:
            self._some_quoted = any(self.quoted(entry.name) != entry.name for entry in [*entries, *beside])
        if total is not None:
            line = f"{'  ' if options.dired else ''}total {total}{end}"
            self._at += len(line)
            self.ctx.stdout.write(encode(line))
        if options.form == "long":
            lines: Iterator[str] = self._long_lines(entries, beside)
        elif options.form == "single-column" and not options.needs_stat:
            self._print_names(entries)
            return
        else:
            cells, widths = self._cells(entries, beside)
            if options.form == "single-column":
                lines = iter(cells)
            elif options.form == "commas":
                lines = separate(cells, widths, ",", line=options.line)
            else:
                by_columns = options.form == "vertical"
                lines = lay_out(cells, widths, line=options.line, tab=options.tab, by_columns=by_columns, budget=self.ctx.budget)
        block: list[str] = []
        colors = options.colors
        for line in lines:
            self.ctx.budget.step()
            block.append((line if colors is None else colors.begin(line)) + end)
            if len(block) >= _LINES:
                self.ctx.stdout.write(encode("".join(block)))
                block.clear()
        if block:
            self.ctx.stdout.write(encode("".join(block)))

    def _print_names(self, entries: Sequence[Entry]) -> None:
        """Names alone, one a line: what nearly every script asks for."""
        end = self.options.end
        self.ctx.budget.step(len(entries) // 16 + 1)
        if entries:
            self.ctx.stdout.write(encode(end.join([self.quoted(entry.name) for entry in entries]) + end))

    def _cells(self, entries: Sequence[Entry], beside: Sequence[Entry]) -> tuple[list[str], list[int]]:
        inodes, blocks = self._frills([*entries, *beside])
        wide = self.options.form != "commas"
        inode_width = max(map(len, inodes), default=0) if wide else 0
        block_width = max(map(len, blocks), default=0) if wide else 0
        cells, widths = [], []
        for number, entry in enumerate(entries):
            self.ctx.budget.step()
            prefix = f"{inodes[number]:>{inode_width}} " if inodes else ""
            prefix += f"{blocks[number]:>{block_width}} " if blocks else ""
            prefix += "? " if self.options.context else ""
            name, width = self._name(entry, self.options.colors)
            cells.append(prefix + name)
            widths.append(len(prefix) + width)
        return cells, widths

    def _frills(self, entries: Sequence[Entry]) -> tuple[list[str], list[str]]:
        """Inode numbers and blocks, where asked for."""
        options = self.options
        inodes = [str(e.info.ino) if e.info is not None else "?" for e in entries] if options.inode else []
        blocks = []
        if options.blocks:
            blocks = [options.block_sizes.show(disk_usage(e.info)) if e.info is not None else "?" for e in entries]
        return inodes, blocks

    def _name(self, entry: Entry, colors: Colors | None) -> tuple[str, int]:
        """(the name with its colour and indicator, the columns it takes)."""
        shown = self.quoted(entry.name)
        mark = indicator(entry.info, self.options.indicators)
        if self.options.form == "long" and entry.target is not None:
            mark = ""
        padding = self._padding(entry, shown)
        width = len(padding) + text_width(shown) + len(mark)
        if self.options.hyperlink:
            shown = self.linked(shown, entry.path)
        if colors is not None:
            shown = colors.paint(shown, colors.code(entry, entry.info, entry.name))
        return padding + shown + mark, width

    def _padding(self, entry: Entry, shown: str) -> str:
        """A blank before a name without quotes, where others have them."""
        return " " if self._some_quoted and shown == entry.name else ""

    def _long_lines(self, entries: Sequence[Entry], beside: Sequence[Entry]) -> Iterator[str]:
        rows = [self._long_row(entry) for entry in [*entries, *beside]]
        if not rows:
            return
        columns: list[list[str]] = []
        for number, column in enumerate(zip(*rows, strict=True)):
            if any(column) or number == _TIME:
                columns.append(self._aligned(number, column))
        for entry, cells in zip(entries, zip(*columns, strict=True), strict=False):
            start = f"{' '.join(cells)} "
            if self.options.dired:
                start = f"  {start}"
                self._place(start, entry)
            yield start + self._long_name(entry, self.options.colors)

    def _place(self, start: str, entry: Entry) -> None:
        """Remember where in the line of an entry its name is."""
        line = len(encode(start + self._long_name(entry, None))) + 1
        end = self._at + line
        shown = self.quoted(entry.name)
        self._at += len(encode(start + self._padding(entry, shown)))
        self._mark(self._names_at, shown)
        self._at = end

    def _aligned(self, number: int, column: Sequence[str]) -> list[str]:
        """The cells of one column, all as wide as the widest."""
        left = number in (_MODE, _CONTEXT) or (number in _NAMES and not self.options.numeric)
        if not all(map(str.isascii, column)):
            width = max(map(text_width, column))
            paddings = [" " * (width - text_width(text)) for text in column]
            return [text + padding if left else padding + text for text, padding in zip(column, paddings, strict=True)]
        width = max(map(len, column))
        if number == _TIME:
            return [text if text != "?" else text.rjust(width) for text in column]
        return [text.ljust(width) for text in column] if left else [text.rjust(width) for text in column]

    def _long_row(self, entry: Entry) -> tuple[str, ...]:
        """The columns before the name; "" in all rows for a column that is not shown."""
        self.ctx.budget.step()
        options, info = self.options, entry.info
        context = "?" if options.context else ""
        if info is None:
            unknown = "?"
            return (
                "?" if options.inode else "", "?" if options.blocks else "", entry.kind + "?" * 9, unknown, "?" if options.owner else "",
                "?" if options.group else "", "?" if options.author else "", context, unknown, unknown,
            )  # fmt: skip
        return (
            str(info.ino) if options.inode else "",
            options.block_sizes.show(disk_usage(info)) if options.blocks else "",
            format_mode(info.mode),
            str(info.nlink),
            self._user(info.uid) if options.owner else "",
            self._group(info.gid) if options.group else "",
            self._user(info.uid) if options.author else "",
            context,
            self._size(info),
            self._time(options.time_of(info)),
        )

    def _long_name(self, entry: Entry, colors: Colors | None) -> str:
        name, _ = self._name(entry, colors)
        if entry.target is None:
            return name
        target = self.linked(self.quoted(entry.target), entry.path)
        mark = indicator(entry.target_info, self.options.indicators)
        if colors is not None and (colors.shows_targets or self.options.indicators in ("classify", "file-type")):
            target = colors.paint(target, colors.code(entry, entry.target_info, entry.target))
        return f"{name} -> {target}{mark}"

    def _size(self, info: Stat) -> str:
        if stat.S_ISCHR(info.mode) or stat.S_ISBLK(info.mode):
            return f"{info.rdev >> 8}, {info.rdev & 255:3d}"
        return self.options.sizes.show(info.size)

    def _time(self, when: float) -> str:
        format = self.options.time_format(when)
        key = (format, when if "N" in format else when // 1)
        shown = self._times.get(key)
        if shown is None:
            shown = self._times[key] = self.local.show(format, nanoseconds(when))
        return shown

    def _user(self, number: int) -> str:
        return str(number) if self.options.numeric else self._names().user(number)

    def _group(self, number: int) -> str:
        return str(number) if self.options.numeric else self._names().group(number)

    def _names(self) -> Owners:
        if self._owners is None:
            self._owners = Owners(self.ctx)
        return self._owners


_MODE, _CONTEXT, _TIME = 2, 7, 9
_NAMES = (4, 5, 6)
