"""Writes what rg finds: as grep does, and with columns, replacements, trimmed and cut lines."""

from __future__ import annotations

import re

from agentsandbox.commands.grep.line_report import FileSearch, Report
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.lines import LineSearch
    from agentsandbox.kernel.streams import ByteReader

_BLANKS = " \t\r\n\f\v"
_COLORS = {
    "path": "\33[0m\33[35m",
    "line": "\33[0m\33[32m",
    "column": "\33[0m",
    "match": "\33[0m\33[1m\33[31m",
}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_GROUP = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})")


def read_whole(source: ByteReader, budget: Budget) -> bytes:
    """All of a file; also a regular one is limited like any value, because it is searched in one
    piece.
    """
    pieces: list[bytes] = []
    size = 0
    for block in source.blocks():
        size += len(block)
        budget.charge(size)
        pieces.append(block)
    return b"".join(pieces)


class RgReport(Report):
    """rg's options beyond grep's."""

    def __init__(self) -> None:
        super().__init__()
        self.columns = False
        self.each_match = False
        """--vimgrep: a line for each match."""
        self.replacement: str | None = None
        self.trim = False
        self.max_columns: int | None = None
        self.count_matches = False
        self.multiline = False
        """Whether matches may span lines, and the patterns can."""
        self.painted = False
        """Whether names, numbers and matches are in color."""

    @property
    def edits(self) -> bool:
        """Whether lines are printed otherwise than as they are."""
        special = (
            self.columns
            or self.each_match
            or self.replacement is not None
            or self.trim
            or self.max_columns is not None
        )
        return special or self.painted

    @property
    def needs_matches(self) -> bool:
        """Whether what is printed depends on where the matches are."""
        special = (
            self.columns or self.each_match or self.replacement is not None or self.only_matching
        )
        return special or self.painted

    @property
    def summarizes(self) -> bool:
        """Whether no lines are printed, only what there is to say of each file."""
        return self.only_first or self.count or self.count_matches

    def paint(self, kind: str, text: str) -> str:
        """The text in the color of its kind, if there are colors."""
        return f"{_COLORS[kind]}{text}\33[0m" if self.painted and text else text

    def name_suffix(self, name: str) -> str:
        return self.paint("path", name) + ("\0" if self.null_names else "\n")

    def prefix(
        self,
        name: str,
        number: int,
        offset: int,
        separator: str,
        column: int = 0,
        *,
        is_empty: bool = False,
    ) -> str:
        pieces: list[str] = []
        if self.with_filename:
            pieces += [self.paint("path", name), "\0" if self.null_names else separator]
        if self.line_numbers:
            pieces += [self.paint("line", str(number)), separator]
        if self.columns and column:
            pieces += [self.paint("column", str(column)), separator]
        if self.byte_offsets:
            pieces += [self.paint("column", str(offset)), separator]
        return "".join(pieces)


class RgSearch(FileSearch):
    """The search of one file."""

    report: RgReport

    def __init__(
        self, ctx: CommandContext, search: LineSearch, report: RgReport, name: str
    ) -> None:
        super().__init__(ctx, search, report, name)
        self._null_at = 0
        self.saw_binary = False
        self.open_number: int | None = None
        """The number of the last line of the block if nothing ends it."""
        if report.edits or report.count_matches:
            self.simple = self.plain_matches = self.by_lines = False

    def _looks_binary(self, block: bytes) -> bool:
        if not super()._looks_binary(block):
            return False
        self._null_at = self.bytes_before + block.index(b"\0")
        self.saw_binary = True
        return True

    def _decode(self, block: memoryview) -> tuple[str, bool]:
        return decode(block), True

    def _block(self, block: bytes) -> None:
        is_open = not block.endswith(encode(self.end))
        self.open_number = (
            self.lines_before + block.count(encode(self.end)) + 1 if is_open else None
        )
        super()._block(block)

    def _spans(self, line: str, *, is_open: bool) -> list[tuple[int, int]]:
        """The matches in a line; as in ripgrep 13, an empty one at the end of a text that nothing
        ends is none.
        """
        spans = list(self.search.spans(line))
        if is_open and self.report.replacement is None and spans and spans[-1][0] == len(line):
            spans.pop()
        return spans

    def _only_matches(self, text: str) -> bool:
        return self.open_number is None and super()._only_matches(text)

    def _matches(self, out: list[str], number: int, offset: int, line: str) -> None:
        if number != self.open_number:
            super()._matches(out, number, offset, line)
            return
        for start, stop in self._spans(line, is_open=True) or [(0, len(line))]:
            place = offset + len(encode(line[:start])) if self.report.byte_offsets else offset
            out.append(self._prefix(number, place, ":", 0) + line[start:stop] + self.end)

    def _say_binary(self) -> None:
        name = f"{self.name}: " if self.report.with_filename else ""
        self.ctx.stdout.write(
            encode(f'{name}binary file matches (found "\\0" byte around offset {self._null_at})\n')
        )

    def _mark(self, line: str) -> str:
        """As in ripgrep 13, lines that match are shown as such also behind the last one that
        counts.
        """
        return ":" if self.stopped and self.search.test(line) is not self.report.invert else "-"

    def _line(self, out: list[str], number: int, offset: int, line: str, separator: str) -> bool:
        report = self.report
        if report.only_matching and (report.invert or separator != ":"):
            self.last_shown = number
            report.something_written = True
            parts = (
                [line[start:stop] for start, stop in self.search.spans(line)]
                if report.invert and separator != ":"
                else [line]
            )
            out += [
                self._prefix(number, offset, separator, 0) + self._shaped(part) + self.end
                for part in parts
            ]
            return True
        if (
            report.count_matches
            or not (report.edits or report.only_matching)
            or (report.only_matching and not report.edits)
        ):
            return super()._line(out, number, offset, line, separator)
        self.last_shown = number
        report.something_written = True
        if separator != ":" or report.invert:
            out.append(self._prefix(number, offset, separator, 0) + self._shaped(line) + self.end)
            return True
        ascii_line = line.isascii()
        spans = self._spans(line, is_open=number == self.open_number)
        if not spans or not (report.each_match or report.only_matching):
            column = spans[0][0] if spans else -1
            column = column if ascii_line or not spans else len(encode(line[:column]))
            out.append(
                self._prefix(number, offset, separator, column + 1)
                + self._shaped(self._replaced(line))
                + self.end
            )
            return True
        longer = 0
        for start, stop in spans:
            column = (start if ascii_line else len(encode(line[:start]))) + longer
            if report.only_matching:
                shown = self._part(line, start, stop)
                shown = shown.lstrip(_BLANKS) if report.trim else shown
            elif report.each_match and report.painted and report.replacement is None:
                shown = self._shaped(
                    line[:start] + report.paint("match", line[start:stop]) + line[stop:]
                )
            else:
                shown = self._shaped(self._replaced(line))
            out.append(
                self._prefix(
                    number, offset + (column if report.only_matching else 0), separator, column + 1
                )
                + shown
                + self.end
            )
            if report.replacement is not None:
                longer += len(encode(self._part(line, start, stop))) - len(encode(line[start:stop]))
        return True

    def _prefix(self, number: int, offset: int, separator: str, column: int) -> str:
        return self.report.prefix(self.name, number, offset, separator, column)

    def _shaped(self, line: str) -> str:
        report = self.report
        if report.trim:
            line = line.lstrip(_BLANKS)
        plain = line if not report.painted else _ESCAPES.sub("", line)
        if report.max_columns is not None and len(encode(plain)) > report.max_columns:
            count = sum(1 for _ in self.search.spans(line))
            return (
                "[Omitted long matching line]"
                if not report.only_matching
                else f"[Omitted long line with {count} matches]"
            )
        return line

    def _replaced(self, line: str) -> str:
        """The line with each match replaced as -r says."""
        template = self.report.replacement
        if template is None:
            return self._painted(line) if self.report.painted else line
        regex = self.search.of(line).regexes[0]
        out: list[str] = []
        painted: list[str] = []
        position = size = 0
        for match in regex.finditer(line, 0, self.ctx.budget):
            start, end = match.span()
            piece = self._expanded(match)
            size += len(piece) + start - position
            self.ctx.budget.charge(size)
            if start == position and painted:
                painted.append(piece)  # side by side with the one before, in one color
            else:
                out += [
                    self.report.paint("match", "".join(painted)) if painted else "",
                    line[position:start],
                ]
                painted = [piece]
            position = end
        out += [self.report.paint("match", "".join(painted)) if painted else "", line[position:]]
        return "".join(out)

    def _part(self, line: str, start: int, stop: int) -> str:
        """A match, or what -r puts in its place."""
        if self.report.replacement is None:
            return self.report.paint("match", line[start:stop])
        match = self.search.of(line).regexes[0].search(line, start, self.ctx.budget)
        return self.report.paint("match", self._expanded(match))

    def _expanded(self, match: object) -> str:
        """What -r puts in the place of a match."""
        return _GROUP.sub(lambda found: self._group(found, match), self.report.replacement or "")

    def _painted(self, line: str) -> str:
        """The line with its matches in color, those side by side as one."""
        if self.report.trim:
            line = line.lstrip(_BLANKS)
        if self.report.max_columns is not None and len(encode(line)) > self.report.max_columns:
            return line
        out: list[str] = []
        position = 0
        spans = list(self.search.spans(line))
        for at, (start, stop) in enumerate(spans):
            if at + 1 < len(spans) and spans[at + 1][0] == stop and not self.report.only_matching:
                spans[at + 1] = (start, spans[at + 1][1])
                continue
            out += [line[position:start], self.report.paint("match", line[start:stop])]
            position = stop
        return "".join([*out, line[position:]])

    def _group(self, found: re.Match[str], match: object) -> str:
        name = found[1] or found[2]
        if name is None:
            return "$"
        try:
            value = match.group(int(name) if name.isdecimal() and len(name) < 6 else name)  # type: ignore[attr-defined]
        except (IndexError, KeyError):
            return ""
        return value or ""

    def count_all(self, source: ByteReader) -> int:
        """The number of single matches; `selected` is that of the lines with one, or with -v of
        those without.
        """
        report = self.report
        total = 0
        for block in source.line_blocks():
            if b"\0" in block and report.binary == "without-match":
                self.saw_binary = True
                return 0
            is_open = not block.endswith(b"\n")
            text = decode(block).removesuffix("\n")
            places = self.search.places(text)
            if report.invert:
                self.selected += text.count("\n") + 1 - len(places)
                continue
            for start, stop in places:
                self.ctx.budget.step()
                self.selected += 1
                total += len(self._spans(text[start:stop], is_open=is_open and stop == len(text)))
                if self.selected == report.max_count:
                    self.ended_at = self.bytes_before + min(
                        len(encode(text[:stop])) + 1, len(block)
                    )
                    break
            if self.ended_at is not None:
                break
            self.bytes_before += len(block)
        if report.invert and report.max_count is not None:
            self.selected = min(self.selected, report.max_count)
        return total
