"""`rg -U`: matches that may span lines, and what is written about them.

Lines that matches touch are taken together as long as one match ends on the line, or right before the line, where the next
one begins: such a group is what -m counts and what -r edits in one piece.
"""

from __future__ import annotations

import re

from agentsandbox.commands.grep.rg_report import RgSearch, read_whole
from agentsandbox.kernel.regexps.lines import LineSearch
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands.grep.rg_report import RgReport
    from agentsandbox.kernel.regexps.matcher import Match
    from agentsandbox.kernel.streams import ByteReader

__all__ = ["MultilineSearch", "WholeSearch", "spans_lines"]

_PARTS = re.compile(
    r"(?P<dotall>\(\?[a-zA-Z]*s)|(?P<bytes>\\[pP](?:\{[^}]*\}|.)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]])*\]|\n)|(?P<anchor>[\^$])|(?P<dot>\.)",
    re.DOTALL,
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def spans_lines(pattern: str, *, dotall: bool) -> bool:
    """Whether a pattern of the usual kind can match a newline, or has an anchor: only then -U makes a difference."""
    dots = False
    for part in _PARTS.finditer(pattern):
        text = part[0]
        dotall = dotall or part["dotall"] is not None
        dots = dots or part["dot"] is not None
        if part["anchor"] or text in ("\\A", "\\z", "\n") or (part["bytes"] and _takes_newline(text)):
            return True
    return dots and dotall


def _takes_newline(atom: str) -> bool:
    if atom in ("\\b", "\\B"):
        return False
    import regex  # it knows the properties

    return regex.compile(atom, regex.V1).match("\n") is not None


class WholeSearch(LineSearch):
    """The search of a text in one piece."""

    def matches_from(self, text: str, start: int, end: int) -> Iterator[Match]:
        """The matches that begin in a part of the text; no empty one directly after another."""
        position, last = start, -1
        budget = self.budget
        while position < end:
            budget.step()
            found = self.regexes[0].search(text, position, budget)
            if found is None or found.start() >= end:
                return
            begin, stop = found.span()
            position = max(stop, begin + 1)
            if begin < stop or stop != last:
                yield found
                last = stop

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        return (match.span() for match in self.matches_from(line, 0, len(line)))

    def groups(self, text: str) -> Iterator[tuple[int, int, int | None]]:
        """(where a group of lines that match begins, where it ends with its last newline, how much has been searched: None for all)."""
        group: tuple[int, int] | None = None
        position = 0
        while position < len(text):
            found = self._lines_at(text, position)
            if found is None:
                break
            start, end, position = found
            if group is not None and group[1] < start:
                yield *group, min(position, len(text))
                group = None
            group = (start if group is None else group[0], end)
        if group is not None:
            yield *group, None

    def _lines_at(self, text: str, position: int) -> tuple[int, int, int] | None:
        """(begin, end) of the lines of the next match, and where to look for the one after it."""
        self.budget.step()
        found = self.regexes[0].search(text, position, self.budget)
        if found is None:
            return None
        begin, stop = found.span()
        start = text.rfind("\n", 0, begin) + 1
        end = stop
        if stop == start or text[stop - 1] != "\n":
            end = text.find("\n", stop) + 1 or len(text)
        return start, end, max(stop, begin + 1)

    def others(self, text: str) -> Iterator[tuple[int, int, int | None]]:
        """The lines that no match touches, as `groups`; the next match is looked for after the lines of the one before."""
        position = 0
        while position < len(text):
            found = self._lines_at(text, position)
            start, end = (len(text), len(text)) if found is None else found[:2]
            after = max(end, start + 1)
            for line in _LINE.finditer(text, position, start):
                self.budget.step()
                yield *line.span(), min(after, len(text))
            position = after


class Piece:
    """Something to print: a group of lines that match, a line beside them, or the gap between groups (kind ":", "-" or "").

    `number` is that of its first line, `searched` how much of the text has been searched.
    """

    __slots__ = ("end", "kind", "number", "searched", "start")

    def __init__(self, kind: str, number: int, start: int, end: int, searched: int) -> None:
        self.kind = kind
        self.number = number
        self.start = start
        self.end = end
        self.searched = searched


def pieces_of(search: LineSearch, text: str, report: RgReport, limit: int | None) -> Iterator[Piece]:
    """What is printed of a text, up to `limit` groups and the lines after the last."""
    whole = search.of(text)
    assert isinstance(whole, WholeSearch)
    return _Pieces(whole, text, report, limit).each()


def matches_in(search: LineSearch, text: str, piece: Piece) -> list[Match]:
    """The matches that begin in a piece; beside lines that do not match (-v), they are looked for in the line alone."""
    whole = search.of(text)
    assert isinstance(whole, WholeSearch)
    if piece.kind == "-":
        return list(whole.matches_from(text[: piece.end], piece.start, piece.end))
    return list(whole.matches_from(text, piece.start, piece.end))


class _Pieces:
    """The lines around groups."""

    def __init__(self, search: WholeSearch, text: str, report: RgReport, limit: int | None) -> None:
        self.search = search
        self.text = text
        self.report = report
        self.limit = limit
        self.number = 1
        self.visited = 0
        """Where the first line begins that was not printed nor passed over."""
        self.counted = 0
        """Up to where the lines are counted in `number`."""
        self.after = 0
        """Lines after the last group still to print."""
        self.left = 0
        """How many of them, and of the groups after the last that is counted, go before the end."""
        self.groups = 0
        self.searched = 0

    def each(self) -> Iterator[Piece]:
        report, text = self.report, self.text
        groups = self.search.others(text) if report.invert else self.search.groups(text)
        for start, end, searched in groups:
            self.searched = len(text) if searched is None else searched
            for piece in self._between(start):
                yield piece
                if self._is_done():
                    if searched is None:
                        yield piece
                    return
            if start == end:  # an empty match behind the last newline is not told
                break
            if self._is_gap(start):
                yield self._piece("", start, start)
            yield self._piece(":", start, end)
            self.groups += 1
            self.visited = end
            self.after = report.after
            self.left = report.after if self.limit is None or self.groups <= self.limit else max(self.left - 1, 0)
            if self._is_done():
                return
        self.searched = len(text)
        for piece in self._between(len(text), at_end=True):
            yield piece
            if self._is_done():
                return

    def _is_done(self) -> bool:
        return self.limit is not None and self.groups >= self.limit and not self.left

    def _is_gap(self, start: int) -> bool:
        return self.report.context and self.groups > 0 and self.visited < start

    def _piece(self, kind: str, start: int, end: int) -> Piece:
        self.number += self.text.count("\n", self.counted, start)
        self.counted = start
        return Piece(kind, self.number, start, end, self.searched)

    def _lines(self, start: int, end: int) -> Iterator[Piece]:
        for line in _LINE.finditer(self.text, start, end):
            self.search.budget.step()
            self.visited = line.end()
            yield self._piece("-", *line.span())

    def _between(self, upto: int, *, at_end: bool = False) -> Iterator[Piece]:
        """The lines beside groups, before the place where one begins."""
        if self.after:
            for piece in self._lines(self.visited, upto):
                self.after -= 1
                self.left = max(self.left - 1, 0)
                yield piece
                if not self.after:
                    break
        start = upto
        for _ in range(0 if at_end else self.report.before):
            if start <= self.visited:
                break
            start = self.text.rfind("\n", self.visited, start - 1) + 1 or self.visited
        if start < upto:
            if self._is_gap(start):
                yield self._piece("", start, start)
            yield from self._lines(start, upto)


class MultilineSearch(RgSearch):
    """The search of one file, its lines all at once."""

    def run(self, source: ByteReader) -> int:
        report = self.report
        if report.max_count == 0:
            return 0
        data = read_whole(source, self.ctx.budget)
        self.binary = self._looks_binary(data)
        if self.binary and report.binary == "without-match":
            return 0
        text = decode(data)
        if report.summarizes:
            return self._count(text)
        out: list[str] = []
        offsets = Offsets(text)
        for piece in pieces_of(self.search, text, report, report.max_count):
            if not piece.kind:
                self._separate(out)
                continue
            self.selected += piece.kind == ":"
            if self.binary:
                self._say_binary()
                break
            if not self.last_shown and report.context and report.something_written:
                self._separate(out)
            self.last_shown = piece.number
            report.something_written = True
            self._group_of_lines(out, text, piece, offsets)
            if len(out) > 1000:
                self._write(out)
        self._write(out)
        return self.selected

    def count_all(self, source: ByteReader) -> int:
        return self.run(source)

    def _count(self, text: str) -> int:
        """The number of matches, which -c tells too; as many as are needed."""
        report = self.report
        total = 0
        for piece in pieces_of(self.search, text, report, None):
            if piece.kind == ":":
                total += len(matches_in(self.search, text, piece))
                if report.only_first or (report.max_count is not None and total >= report.max_count):
                    break
        return total

    def _separate(self, out: list[str]) -> None:
        if self.report.separator is not None:
            out.append(self.report.separator + "\n")

    def _group_of_lines(self, out: list[str], text: str, piece: Piece, offsets: Offsets) -> None:
        """Write the lines of a piece: whole, or the parts and lines that -o and --vimgrep ask for."""
        report = self.report
        body = text[piece.start : piece.end]
        offset = offsets.at(piece.start)
        spans: list[tuple[int, int]] = []
        if report.needs_matches and (piece.kind == ":" or report.invert):
            matches = matches_in(self.search, text, piece)
            spans = [(match.start() - piece.start, match.end() - piece.start) for match in matches]
            if report.replacement is not None:
                body, spans = self._with_replacements(body, piece.start, matches)
        if spans and report.only_matching:
            self._parts(out, body, spans, piece, offset)
        elif spans and report.each_match:
            self._first_lines(out, body, spans, piece, offset)
        else:
            column = len(encode(body[: spans[0][0]])) + 1 if spans else 0
            for number, line in enumerate(_LINE.finditer(body), piece.number):
                shown = self._shaped(self._colored_part(body, *_trim(body, *line.span()), spans))
                out.append(self._prefix(number, offset, piece.kind, column) + shown + "\n")
                offset += len(encode(line[0])) if report.byte_offsets else 0

    def _with_replacements(self, body: str, begin: int, matches: list[Match]) -> tuple[str, list[tuple[int, int]]]:
        """Return lines with their matches replaced, and where the new texts are."""
        out: list[str] = []
        spans: list[tuple[int, int]] = []
        position = size = 0
        for match in matches:
            start, new = match.start() - begin, self._expanded(match)
            out += [body[position:start], new]
            size += start - position + len(new)
            self.ctx.budget.charge(size)
            spans.append((size - len(new), size))
            position = match.end() - begin
        return "".join([*out, body[position:]]), spans

    def _parts(self, out: list[str], body: str, spans: list[tuple[int, int]], piece: Piece, offset: int) -> None:
        """-o: the parts of each line that belong to matches; empty ones are not shown."""
        at = 0
        offsets = Offsets(body)
        for number, line in enumerate(_LINE.finditer(body), piece.number):
            position, end = _trim(body, *line.span())
            while position < end and at < len(spans):
                self.ctx.budget.step()
                start, stop = spans[at]
                if stop <= position:
                    at += 1
                    continue
                if start < end:
                    before = offsets.at(start)
                    shown = self.report.paint("match", body[max(start, position) : min(end, stop)])
                    place = self._prefix(number, offset + before, piece.kind, before + 1)
                    out.append(place + self._shaped(shown) + "\n")
                position = max(position, min(end, stop if start < end else end))

    def _first_lines(self, out: list[str], body: str, spans: list[tuple[int, int]], piece: Piece, offset: int) -> None:
        """--vimgrep: for each match the line where it begins."""
        lines = [line.span() for line in _LINE.finditer(body)]
        offsets = Offsets(body)
        at = 0
        for span in spans:
            self.ctx.budget.step()
            while at < len(lines) and lines[at][1] <= span[0]:
                at += 1
            if at == len(lines) or lines[at][0] >= span[1]:
                continue
            begin = offsets.at(lines[at][0])
            column = len(encode(body[lines[at][0] : span[0]])) + 1
            shown = self._shaped(self._colored_part(body, *_trim(body, *lines[at]), [span]))
            out.append(self._prefix(piece.number + at, offset + begin, piece.kind, column) + shown + "\n")

    def _colored_part(self, body: str, start: int, end: int, spans: list[tuple[int, int]]) -> str:
        """A part of the lines, with the matches in it in color."""
        if not self.report.painted:
            return body[start:end]
        out: list[str] = []
        colored = ""
        position = start
        for first, last in spans:
            if last <= position:
                continue
            if first >= end:
                break
            if first > position:
                out += [self.report.paint("match", colored), body[position:first]]
                colored = ""
            colored += body[max(first, position) : min(last, end)]
            position = min(last, end)
        return "".join([*out, self.report.paint("match", colored), body[position:end]])


class Offsets:
    """The places of a text in bytes; they are asked for from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._plain = text.isascii()
        self._seen = self._bytes = 0

    def at(self, position: int) -> int:
        """The bytes before a place."""
        if self._plain:
            return position
        if position < self._seen:
            self._seen = self._bytes = 0
        self._bytes += len(encode(self.text[self._seen : position]))
        self._seen = position
        return self._bytes


def _trim(body: str, start: int, end: int) -> tuple[int, int]:
    """A line's place without its newline."""
    return start, end - body.endswith("\n", start, end)
