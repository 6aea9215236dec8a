"""How `ls` prints files: long lines, columns, commas."""

from __future__ import annotations

import stat
from itertools import islice

from agentsandbox.commands._files.block_sizes import disk_usage
from agentsandbox.commands._files.listing import Entry, indicator
from agentsandbox.commands._files.modes import format_mode
from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._text.quoting import printable, quote_as
from agentsandbox.commands._text.widths import text_width
from agentsandbox.commands._time.times import LocalTime, nanoseconds
from agentsandbox.commands.ls.columns import lay_out, separate
from agentsandbox.kernel.streams import bytewise, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.commands._files.listing import Colors
    from agentsandbox.commands.ls.options import Options
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Stat

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
        self._bare = (
            options.colors is None and options.indicators == "none" and options.quoting == "literal"
            and not (options.hide_control or self.bytewise)
        )  # fmt: skip
        """Whether names are shown as they are."""

    def quoted(self, name: str) -> str:
        """Return a name as it is shown, without colour and indicator."""
        if self.bytewise and not name.isascii():
            if self.options.quoting == "literal" and not self.options.hide_control:
                return name
            name = bytewise(name)  # as in the locale C, where these bytes do not print
        if self.options.quoting == "literal":
            if not self.options.hide_control:
                return name
            if self.bytewise:
                name = "".join([letter if letter.isascii() else "\x7f" for letter in name])
            return printable(name)
        shown = quote_as(name, self.options.quoting)
        return f"'{shown[1:-1]}'" if self.bytewise and shown[0] == "‘" else shown

    def total(self, entries: Sequence[Entry]) -> str:
        """Return the sum of the blocks for the line "total"."""
        return self.options.block_sizes.show(
            sum([disk_usage(e.info) for e in entries if e.info is not None])
        )

    def print_header(self, name: str, *, first: bool) -> None:
        """Write the line above a directory's listing."""
        start = "" if first else "\n"
        self.ctx.stdout.write(encode(f"{start}{self.quoted(name)}:\n"))

    def print_gap(self) -> None:
        """Write the empty line between files and directories that are operands."""
        self.ctx.stdout.write(b"\n")

    def print_files(
        self, entries: Sequence[Entry], *, total: str | None = None, beside: Sequence[Entry] = ()
    ) -> None:
        """Print the listing of a directory, or of the operands that are files.

        The entries of `beside` are not printed, but widen the columns.
        """
        end = self.options.end
        options = self.options
        if options.aligns_quotes:
            self._some_quoted = any(
                self.quoted(entry.name) != entry.name for entry in [*entries, *beside]
            )
        if total is not None:
            self.ctx.stdout.write(encode(f"total {total}{end}"))
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
                lines = lay_out(
                    cells, widths, line=options.line, tab=options.tab,
                    by_columns=options.form == "vertical", budget=self.ctx.budget,
                )  # fmt: skip
        colors = options.colors
        while block := list(islice(lines, _LINES)):
            self.ctx.budget.step(len(block))
            if colors is not None:
                block = [colors.begin(line) for line in block]
            self.ctx.stdout.write(encode(end.join(block) + end))

    def _print_names(self, entries: Sequence[Entry]) -> None:
        """Print names alone, one a line: nearly every script asks for that."""
        end = self.options.end
        self.ctx.budget.step(len(entries) // 16 + 1)
        if entries:
            self.ctx.stdout.write(
                encode(end.join([self.quoted(entry.name) for entry in entries]) + end)
            )

    def _cells(
        self, entries: Sequence[Entry], beside: Sequence[Entry]
    ) -> tuple[list[str], list[int]]:
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
        """Return the inode numbers and blocks, if they are asked for."""
        options = self.options
        infos = [entry.info for entry in entries]
        inodes, blocks = [], []
        if options.inode:
            inodes = [str(info.ino) if info is not None else "?" for info in infos]
        if options.blocks:
            show = options.block_sizes.show
            blocks = [show(disk_usage(info)) if info is not None else "?" for info in infos]
        return inodes, blocks

    def _name(self, entry: Entry, colors: Colors | None) -> tuple[str, int]:
        """Return (the name with its colour and indicator, the columns it takes)."""
        shown = self.quoted(entry.name)
        mark = indicator(entry.info, self.options.indicators)
        if self.options.form == "long" and entry.target is not None:
            mark = ""
        padding = self._padding(entry, shown)
        width = len(padding) + text_width(shown) + len(mark)
        if colors is not None:
            shown = colors.paint(shown, colors.code(entry, entry.info, entry.name))
        return padding + shown + mark, width

    def _padding(self, entry: Entry, shown: str) -> str:
        """Return a blank for a name without quotes if others have quotes."""
        return " " if self._some_quoted and shown == entry.name else ""

    def _long_lines(self, entries: Sequence[Entry], beside: Sequence[Entry]) -> Iterator[str]:
        if not entries and not beside:
            return
        colors = self.options.colors
        starts = map(" ".join, zip(*self._columns([*entries, *beside]), strict=True))
        for entry, start in zip(entries, starts, strict=False):
            plain = self._bare and entry.target is None
            yield f"{start} {entry.name if plain else self._long_name(entry, colors)}"

    def _columns(self, entries: Sequence[Entry]) -> list[list[str]]:
        """Return the columns before the names, each a list of aligned cells."""
        columns: dict[int, list[str]] = {}
        for start in range(0, len(entries), _LINES):
            group = entries[start : start + _LINES]
            self.ctx.budget.step(len(group))
            infos = [entry.info for entry in group if entry.info is not None]
            for number, cells in self._cells_before(infos):
                if len(infos) < len(group):
                    known = iter(cells)
                    cells = [
                        next(known) if entry.info is not None else _unknown(number, entry)
                        for entry in group
                    ]
                columns.setdefault(number, []).extend(cells)
        return [self._aligned(number, cells) for number, cells in columns.items()]

    def _cells_before(self, infos: Sequence[Stat]) -> Iterator[tuple[int, list[str]]]:
        """Yield (number, cells) of each column before the names."""
        options = self.options
        if options.inode:
            yield _INODE, [str(info.ino) for info in infos]
        if options.blocks:
            yield _BLOCKS, [options.block_sizes.show(disk_usage(info)) for info in infos]
        yield _MODE, [format_mode(info.mode) for info in infos]
        yield _LINKS, [str(info.nlink) for info in infos]
        if options.owner:
            yield _OWNER, self._owner_names([info.uid for info in infos], "user")
        if options.group:
            yield _GROUP, self._owner_names([info.gid for info in infos], "group")
        if options.context:
            yield _CONTEXT, ["?"] * len(infos)
        yield _SIZE, [self._size(info) for info in infos]
        yield _TIME, self._times_of(list(map(options.time_of, infos)))

    def _size(self, info: Stat) -> str:
        if stat.S_IFMT(info.mode) in _DEVICES:
            return f"{info.rdev >> 8}, {info.rdev & 255:3d}"
        return self.options.sizes.show(info.size)

    def _aligned(self, number: int, column: Sequence[str]) -> list[str]:
        """Return the cells of one column, all as wide as the widest."""
        left = number in (_MODE, _CONTEXT) or (number in _NAMES and not self.options.numeric)
        if not all(map(str.isascii, column)):
            width = max(map(text_width, column))
            paddings = [" " * (width - text_width(text)) for text in column]
            return [
                text + padding if left else padding + text
                for text, padding in zip(column, paddings, strict=True)
            ]
        widths = set(map(len, column))
        width = max(widths)
        if len(widths) == 1:
            return list(column)
        if number == _TIME:
            return [text if text != "?" else text.rjust(width) for text in column]
        return [text.ljust(width) if left else text.rjust(width) for text in column]

    def _long_name(self, entry: Entry, colors: Colors | None) -> str:
        name, _ = self._name(entry, colors)
        if entry.target is None:
            return name
        target = self.quoted(entry.target)
        looked_at = self.options.indicators in ("classify", "file-type") or (
            colors is not None and colors.shows_targets
        )
        mark = indicator(entry.target_info, self.options.indicators) if looked_at else ""
        if colors is not None and looked_at:
            target = colors.paint(target, colors.code(entry, entry.target_info, entry.target))
        return f"{name} -> {target}{mark}"

    def _times_of(self, whens: Sequence[float]) -> list[str]:
        """Return times as text; each second is formatted once."""
        options, known = self.options, self._times
        exact = "N" in "".join(options.formats)
        keys = [(options.time_format(when), when if exact else when // 1) for when in whens]
        for format, when in set(keys).difference(known):
            known[format, when] = self.local.show(format, nanoseconds(when))
        return [known[key] for key in keys]

    def _owner_names(self, numbers: Sequence[int], kind: str) -> list[str]:
        """Return the name of each user or group, or its number."""
        if self.options.numeric:
            return [str(number) for number in numbers]
        if self._owners is None:
            self._owners = Owners(self.ctx)
        show = self._owners.user if kind == "user" else self._owners.group
        names = {number: show(number) for number in set(numbers)}
        return [names[number] for number in numbers]


_INODE, _BLOCKS, _MODE, _LINKS, _OWNER, _GROUP, _CONTEXT, _SIZE, _TIME = range(9)
_NAMES = (_OWNER, _GROUP)
_DEVICES = frozenset((stat.S_IFCHR, stat.S_IFBLK))


def _unknown(number: int, entry: Entry) -> str:
    """Return the cell of a column for a file that could not be examined."""
    return entry.kind + "?" * 9 if number == _MODE else "?"
