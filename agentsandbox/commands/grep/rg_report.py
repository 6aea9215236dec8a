"""Write what rg finds: as grep does, and with replacements and shortened lines.

Two habits of ripgrep 13 differ from grep's: an empty match at the end of a text without a final
newline does not count, and behind the last line that -m allows, context lines that match are marked
as matches.
"""

from __future__ import annotations

import re

from agentsandbox.commands.grep.line_report import FileSearch, Report
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.lines import LineSearch
    from agentsandbox.kernel.streams import ByteReader

_GROUP = lazily(r"\$(?:\$|(\w+)|\{(\w+)\})")


def read_whole(source: ByteReader, budget: Budget) -> bytes:
    """Return all of a file; like any value, it is limited by `value_bytes`."""
    pieces: list[bytes] = []
    size = 0
    for block in source.blocks():
        size += len(block)
        budget.charge(size)
        pieces.append(block)
    return b"".join(pieces)


class RgReport(Report):
    """The options of rg beyond those of grep."""

    def __init__(self) -> None:
        super().__init__()
        self.replacement: str | None = None
        self.max_columns: int | None = None
        self.count_matches = False

    @property
    def edits(self) -> bool:
        """Whether lines are printed otherwise than they are in the file."""
        return self.replacement is not None or self.max_columns is not None

    @property
    def summarizes(self) -> bool:
        """Whether no lines are printed, only names or counts."""
        return self.only_first or self.count or self.count_matches


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
        """The number of the last line of the block if it has no newline."""
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
        """Return the matches in a line; `is_open` if it is the last one and has no newline."""
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
            out.append(self._prefix(number, ":") + line[start:stop] + self.end)

    def _say_binary(self) -> None:
        name = f"{self.name}: " if self.report.with_filename else ""
        self.ctx.stdout.write(
            encode(f'{name}binary file matches (found "\\0" byte around offset {self._null_at})\n')
        )

    def _mark(self, line: str) -> str:
        return ":" if self.stopped and self.search.test(line) is not self.report.invert else "-"

    def _line(self, out: list[str], number: int, offset: int, line: str, separator: str) -> None:
        report = self.report
        selected = separator == ":" and not report.invert
        if not (report.only_matching and not selected) and not report.edits:
            super()._line(out, number, offset, line, separator)
            return
        self.last_shown = number
        report.something_written = True
        spans: list[tuple[int, int]] = []
        if report.only_matching and selected:
            spans = self._spans(line, is_open=number == self.open_number)
        if spans:
            shown = [self._part(line, start, stop) for start, stop in spans]
        elif report.only_matching and report.invert and separator != ":":
            shown = [self._shortened(line[start:stop]) for start, stop in self.search.spans(line)]
        else:
            shown = [self._shortened(self._replaced(line) if selected else line)]
        out += [self._prefix(number, separator) + part + self.end for part in shown]

    def _prefix(self, number: int, separator: str) -> str:
        return self.report.prefix(self.name, number, 0, separator)

    def _shortened(self, line: str) -> str:
        """Return the line, or what -M prints in its place."""
        most = self.report.max_columns
        if most is None or len(encode(line)) <= most:
            return line
        if not self.report.only_matching:
            return "[Omitted long matching line]"
        count = sum(1 for _ in self.search.spans(line))
        return f"[Omitted long line with {count} matches]"

    def _replaced(self, line: str) -> str:
        """Return the line with each match replaced as -r says."""
        if self.report.replacement is None:
            return line
        regex = self.search.of(line).regexes[0]
        out: list[str] = []
        position = size = 0
        for match in regex.finditer(line, 0, self.ctx.budget):
            start, end = match.span()
            piece = self._expanded(match)
            size += len(piece) + start - position
            self.ctx.budget.charge(size)
            out += [line[position:start], piece]
            position = end
        return "".join([*out, line[position:]])

    def _part(self, line: str, start: int, stop: int) -> str:
        """Return a match, or its replacement."""
        if self.report.replacement is None:
            return line[start:stop]
        match = self.search.of(line).regexes[0].search(line, start, self.ctx.budget)
        return self._expanded(match)

    def _expanded(self, match: object) -> str:
        """Return the replacement of a match, with its groups filled in."""
        return _GROUP.sub(lambda found: self._group(found, match), self.report.replacement or "")

    def _group(self, found: re.Match[str], match: object) -> str:
        name = found[1] or found[2]
        if name is None:
            return "$"
        try:
            key = int(name) if name.isdecimal() and len(name) < 6 else name
            value = match.group(key)  # type: ignore[attr-defined]
        except (IndexError, KeyError):
            return ""
        return value or ""

    def count_all(self, source: ByteReader) -> int:
        """Return the number of matches, and count the selected lines in `selected`."""
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
