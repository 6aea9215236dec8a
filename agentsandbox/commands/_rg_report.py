"""Writes what rg finds: as grep does, and with columns, replacements, trimmed and cut lines."""

from __future__ import annotations

import re

from agentsandbox.commands._line_report import FileSearch, Report
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext
    from agentsandbox.limits import Budget
    from agentsandbox.regexps.lines import LineSearch
    from agentsandbox.streams import ByteReader

__all__ = ["RgReport", "RgSearch", "read_whole"]

_GROUP = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})")


def read_whole(source: ByteReader, budget: Budget) -> bytes:
    """All of a file; also a regular one is limited like any value, because it is searched in one piece."""
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
        self.preview = False
        """Whether the beginning of a line that is too long is shown."""
        self.count_matches = False
        self.passthru = False
        self.multiline = False

    @property
    def edits(self) -> bool:
        """Whether lines are printed otherwise than as they are."""
        return self.columns or self.each_match or self.replacement is not None or self.trim or self.max_columns is not None


class RgSearch(FileSearch):
    """The search of one file."""

    report: RgReport

    def __init__(self, ctx: CommandContext, search: LineSearch, report: RgReport, name: str) -> None:
        super().__init__(ctx, search, report, name)
        self.matches = 0
        self._null_at = 0
        self.saw_binary = False
        if report.edits or report.count_matches or report.passthru or report.multiline:
            self.simple = self.plain_matches = False

    def run(self, source: ByteReader) -> int:
        if not self.report.multiline:
            return super().run(source)
        whole = read_whole(source, self.ctx.budget)
        if whole:
            if self._looks_binary(whole):
                if self.report.binary == "without-match":
                    return 0
                self.binary = True
            self._block(whole)
        return self.selected

    def _looks_binary(self, block: bytes) -> bool:
        if not super()._looks_binary(block):
            return False
        self._null_at = self.bytes_before + block.index(b"\0")
        self.saw_binary = True
        return True

    def _decode(self, block: memoryview) -> tuple[str, bool]:
        return decode(block), True

    def _say_binary(self) -> None:
        name = f"{self.name}: " if self.report.with_filename else ""
        self.ctx.stdout.write(encode(f'{name}binary file matches (found "\\0" byte around offset {self._null_at})\n'))

    def _detailed(self, text: str, clean: bool) -> None:
        if self.report.passthru:
            self._pass_through(text)
        else:
            super()._detailed(text, clean)

    def _pass_through(self, text: str) -> None:
        out: list[str] = []
        selected = set(self.search.places(text))
        position = 0
        for number, line in enumerate(text.split(self.end), self.lines_before + 1):
            self.ctx.budget.step()
            hit = (position, position + len(line)) in selected
            self.selected += hit
            self._line(out, number, self._offset(text, position), line, ":" if hit else "-")
            position += len(line) + 1
        self._write(out)

    def _line(self, out: list[str], number: int, offset: int, line: str, separator: str) -> None:
        report = self.report
        if report.count_matches or not (report.edits or report.only_matching) or (report.only_matching and not report.edits):
            super()._line(out, number, offset, line, separator)
            return
        self.last_shown = number
        report.something_written = True
        if separator != ":" or report.invert:
            out.append(self._prefix(number, offset, separator, 0) + self._shaped(line) + self.end)
            return
        ascii_line = line.isascii()
        spans = list(self.search.spans(line))
        if not (report.each_match or report.only_matching):
            column = spans[0][0] if spans else 0
            column = column if ascii_line else len(encode(line[:column]))
            out.append(self._prefix(number, offset, separator, column + 1) + self._shaped(self._replaced(line)) + self.end)
            return
        for start, stop in spans:
            column = start if ascii_line else len(encode(line[:start]))
            shown = self._replaced(line[start:stop]) if report.only_matching else self._shaped(self._replaced(line))
            out.append(self._prefix(number, offset + (column if report.only_matching else 0), separator, column + 1) + shown + self.end)

    def _prefix(self, number: int, offset: int, separator: str, column: int) -> str:
        prefix = self.report.prefix(self.name, number, offset, separator)
        if not self.report.columns or not column:
            return prefix
        if not self.report.byte_offsets:
            return f"{prefix}{column}{separator}"
        head = prefix[: -len(f"{offset}{separator}")]
        return f"{head}{column}{separator}{offset}{separator}"

    def _shaped(self, line: str) -> str:
        report = self.report
        if report.trim:
            line = line.lstrip(" \t\r\n\f\v")
        if report.max_columns is not None and len(encode(line)) > report.max_columns:
            if report.preview:
                start = decode(encode(line)[: report.max_columns])
                return f"{start} [... omitted end of long line]"
            count = sum(1 for _ in self.search.spans(line))
            return "[Omitted long matching line]" if not report.only_matching else f"[Omitted long line with {count} matches]"
        return line

    def _replaced(self, line: str) -> str:
        """The line with each match replaced as -r says."""
        template = self.report.replacement
        if template is None:
            return line
        regex = self.search.regexes[0]
        out: list[str] = []
        position = size = 0
        for match in regex.finditer(line, 0, self.ctx.budget):
            start, end = match.span()

            def group(found: re.Match[str], match: object = match) -> str:
                return self._group(found, match)

            piece = _GROUP.sub(group, template)
            size += len(piece) + start - position
            self.ctx.budget.charge(size)
            out.append(line[position:start])
            out.append(piece)
            position = end
        out.append(line[position:])
        return "".join(out)

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
        """The number of single matches (--count-matches)."""
        total = 0
        for block in source.line_blocks():
            if b"\0" in block and self.report.binary == "without-match":
                self.saw_binary = True
                return 0
            text = decode(block).removesuffix("\n")
            for start, stop in self.search.places(text):
                self.ctx.budget.step()
                total += sum(1 for _ in self.search.spans(text[start:stop]))
        return total
