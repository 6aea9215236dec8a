"""`rg -U`: matches that may span lines.

The search is one over the whole text (`WholeSearch`), since no line is known to hold a match
entirely. The unit of the output is a *group*: the lines that matches touch, as long as each match
begins on the line, or right after the line, where the one before ended. A group is what -m counts
and what -r edits in one piece. `MultilineSearch` prints groups with their context.

Most patterns cannot match a newline; `spans_lines` finds them, and they are searched line by line.
"""

from __future__ import annotations

import re
from itertools import chain, islice

from agentsandbox.commands.grep.rg_report import RgSearch, read_whole
from agentsandbox.kernel.regexps.lines import LineSearch
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.regexps.matcher import Match
    from agentsandbox.kernel.streams import ByteReader

_PARTS = re.compile(
    r"""
    (?P<dotall> \(\?[a-zA-Z]*s )
    | (?P<set> \\[pP](?:\{[^}]*\}|.) | \\. | \[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]])*\] | \n )
    | (?P<anchor> [\^$] )
    | (?P<dot> \. )
    """,
    re.DOTALL | re.VERBOSE,
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def spans_lines(pattern: str, *, dotall: bool) -> bool:
    """Whether a pattern can match a newline, or has an anchor: else -U makes no difference."""
    dots = False
    for part in _PARTS.finditer(pattern):
        text = part[0]
        dotall = dotall or part["dotall"] is not None
        dots = dots or part["dot"] is not None
        if part["anchor"] or text in ("\\A", "\\z", "\n") or (part["set"] and _takes_newline(text)):
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
        """Yield the matches that begin in a part of the text; no empty one behind another."""
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

    def groups(self, text: str, *, apart: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the places of the groups. With `apart`, the search continues behind each group."""
        begin = end = position = 0
        while position < len(text):
            self.budget.step()
            found = self.regexes[0].search(text, position, self.budget)
            if found is None:
                break
            start, stop = found.span()
            position = max(stop, start + 1)
            start = text.rfind("\n", 0, start) + 1
            if end < start:
                if begin < end:
                    yield begin, end
                begin = start
            end = stop
            if stop == start or text[stop - 1] != "\n":
                end = text.find("\n", stop) + 1 or len(text)
            position = max(position, end if apart else 0)
        if begin < end:
            yield begin, end

    def others(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the places of the lines that no match touches, one by one."""
        position = 0
        for start, end in chain(self.groups(text, apart=True), [(len(text), len(text))]):
            for line in _LINE.finditer(text, position, start):
                self.budget.step()
                yield line.span()
            position = end


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
        whole = self.search.of(text)
        assert isinstance(whole, WholeSearch)
        if report.summarizes:
            return self._count(whole, text)
        out: list[str] = []
        number, counted = 1, 0
        begun = not (report.context and report.something_written)
        for kind, start, end in self._pieces(whole, text):
            self.selected += kind == ":"
            if self.binary and kind:
                self._say_binary()
                break
            if not kind or not begun:
                out.append("" if report.separator is None else report.separator + "\n")
            begun = True
            if kind:
                number += text.count("\n", counted, start)
                counted = start
                report.something_written = True
                matches: list[Match] = []
                if kind == ":" and report.needs_matches and not report.invert:
                    matches = list(whole.matches_from(text, start, end))
                self._lines(out, kind, number, text[start:end], start, matches)
            if len(out) > 1000:
                self._write(out)
        self._write(out)
        return self.selected

    def count_all(self, source: ByteReader) -> int:
        return self.run(source)

    def _count(self, whole: WholeSearch, text: str) -> int:
        """Return the number of matches, with -v of lines, up to what is needed."""
        report = self.report
        if report.invert:
            found: Iterator[object] = whole.others(text)
        else:
            found = whole.matches_from(text, 0, len(text))
        limit = 1 if report.only_first else report.max_count
        return sum(1 for _ in islice(found, limit))

    def _pieces(self, whole: WholeSearch, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield (kind, start, end) of groups (":"), the lines beside them ("-") and gaps ("")."""
        report = self.report
        shown = count = 0
        for start, end in whole.others(text) if report.invert else whole.groups(text):
            for line in islice(_LINE.finditer(text, shown, start), report.after if count else 0):
                yield "-", *line.span()
                shown = line.end()
            before = start
            for _ in range(report.before):
                if before <= shown:
                    break
                before = text.rfind("\n", shown, before - 1) + 1 or shown
            if report.context and count and shown < before:
                yield "", before, before
            for line in _LINE.finditer(text, before, start):
                yield "-", *line.span()
            yield ":", start, end
            shown = end
            count += 1
            if count == report.max_count:
                break
        for line in islice(_LINE.finditer(text, shown), report.after if count else 0):
            yield "-", *line.span()

    def _lines(
        self, out: list[str], kind: str, number: int, body: str, begin: int, matches: list[Match]
    ) -> None:
        """Write lines, the first of which has this number: whole, or with -o what matches.

        `body` begins at `begin` in the text that the matches refer to.
        """
        spans = [(match.start() - begin, match.end() - begin) for match in matches]
        if self.report.replacement is not None:
            body, spans = self._with_replacements(body, begin, matches)
        only_parts = self.report.only_matching and spans
        for line, parts in _parts_of_lines(body, spans):
            for first, last in parts if only_parts else [line]:
                out.append(self._prefix(number, kind) + self._shortened(body[first:last]) + "\n")
            number += 1

    def _with_replacements(
        self, body: str, begin: int, matches: list[Match]
    ) -> tuple[str, list[tuple[int, int]]]:
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


def _parts_of_lines(
    body: str, spans: list[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], list[tuple[int, int]]]]:
    """Yield the place of each line without its newline, and the parts of it that are in `spans`."""
    at = 0
    for line in _LINE.finditer(body):
        start, end = line.start(), line.end() - line[0].endswith("\n")
        parts: list[tuple[int, int]] = []
        while at < len(spans) and spans[at][0] < end:
            match, stop = spans[at]
            if max(start, match) < min(end, stop):
                parts.append((max(start, match), min(end, stop)))
            if stop > line.end():
                break
            at += 1
        yield (start, end), parts
