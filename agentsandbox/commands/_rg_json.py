"""`rg --json`: what is found as lines of JSON. The times that it tells are all 0."""

from __future__ import annotations

import base64
import json

from agentsandbox.commands._rg_multiline import Offsets, matches_in, pieces_of
from agentsandbox.commands._rg_report import read_whole
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext
    from agentsandbox.commands._rg_report import RgReport
    from agentsandbox.regexps.lines import LineSearch
    from agentsandbox.streams import ByteReader

__all__ = ["JsonPrinter"]

_NO_TIME = {"secs": 0, "nanos": 0, "human": "0.000000s"}
_COUNTS = ("searches", "searches_with_match", "bytes_searched", "bytes_printed", "matched_lines", "matches")


def _text(text: str) -> dict[str, str]:
    """Text as it is, or its bytes in base64 when they are not UTF-8."""
    data = encode(text)
    try:
        return {"text": str(data, "utf-8")}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(data).decode("ascii")}


def _line(kind: str, data: dict[str, object]) -> bytes:
    return encode(json.dumps({"type": kind, "data": data}, ensure_ascii=False, separators=(",", ":")) + "\n")


class JsonPrinter:
    """Prints the matches of one file after the other, and a summary at the end."""

    def __init__(self, ctx: CommandContext, search: LineSearch, report: RgReport) -> None:
        self.ctx = ctx
        self.search = search
        self.report = report
        self.totals = dict.fromkeys(_COUNTS, 0)

    def file(self, source: ByteReader, name: str) -> bool:
        """Search a file; whether something was found."""
        data = read_whole(source, self.ctx.budget)
        nul = data.find(b"\0")
        if nul >= 0 and self.report.binary == "without-match":
            return False
        found = self._groups if self.report.multiline else self._lines
        out, counts, seen = found(decode(data), _text(name))
        if not counts["matched_lines"]:
            return False
        counts.update(searches=1, searches_with_match=1, bytes_searched=seen, bytes_printed=sum(map(len, out)))
        for key in _COUNTS:
            self.totals[key] += counts[key]
        offset = None if nul < 0 or self.report.binary == "text" else nul
        stats = {"elapsed": _NO_TIME, **{key: counts[key] for key in _COUNTS}}
        out.append(_line("end", {"path": _text(name), "binary_offset": offset, "stats": stats}))
        self.ctx.stdout.write(b"".join(out))
        return True

    def _lines(self, text: str, path: dict[str, str]) -> tuple[list[bytes], dict[str, int], int]:
        """The lines that match and those around them, how many there are, and how many bytes were looked at."""
        report, budget = self.report, self.ctx.budget
        body = text.removesuffix("\n")
        selected = set(self.search.places(body)) if text else set()
        counts = dict.fromkeys(_COUNTS, 0)
        out = [_line("begin", {"path": path})]
        waiting: list[tuple[int, int, str]] = []
        position = offset = after = 0
        lines = body.split("\n") if text else []
        for number, line in enumerate(lines, 1):
            budget.step()
            whole = line + "\n" if number < len(lines) or text.endswith("\n") else line
            hit = ((position, position + len(line)) in selected) is not report.invert
            full = report.max_count is not None and counts["matched_lines"] >= report.max_count
            if hit and (after or not full):
                out += [self._entry("context", path, *entry) for entry in waiting]
                waiting = []
                spans = [] if report.invert else list(self.search.spans(line))
                if spans and whole == line and spans[-1][0] == len(line):
                    spans.pop()  # an empty match at an end without a newline is none
                counts["matched_lines"] += 1
                counts["matches"] += len(spans)
                out.append(self._entry("match", path, number, offset, whole, spans))
                after = after - 1 if full else report.after
            elif after:
                after -= 1
                out.append(self._entry("context", path, number, offset, whole))
            elif full:
                break
            elif report.before:
                waiting = [*waiting, (number, offset, whole)][-report.before :]
            position += len(line) + 1
            offset += len(encode(whole))
        return out, counts, offset

    def _groups(self, text: str, path: dict[str, str]) -> tuple[list[bytes], dict[str, int], int]:
        """As `_lines`, where matches may span them: those that are printed in one piece are one entry."""
        report = self.report
        counts = dict.fromkeys(_COUNTS, 0)
        out = [_line("begin", {"path": path})]
        offsets = Offsets(text)
        searched = len(text)
        for piece in pieces_of(self.search, text, report, report.max_count):
            searched = piece.searched
            if not piece.kind:
                continue
            lines = text[piece.start : piece.end]
            matches = matches_in(self.search, text, piece) if piece.kind == ":" or report.invert else []
            spans = [(match.start() - piece.start, match.end() - piece.start) for match in matches]
            if piece.kind == ":":
                counts["matched_lines"] += lines.count("\n") + (not lines.endswith("\n"))
                counts["matches"] += len(spans)
            kind = "match" if piece.kind == ":" else "context"
            out.append(self._entry(kind, path, piece.number, offsets.at(piece.start), lines, spans))
        return out, counts, Offsets(text).at(searched)

    def _entry(
        self, kind: str, path: dict[str, str], number: int, offset: int, line: str, spans: list[tuple[int, int]] | None = None
    ) -> bytes:
        offsets = Offsets(line)
        matches = [{"match": _text(line[start:stop]), "start": offsets.at(start), "end": offsets.at(stop)} for start, stop in spans or []]
        data = {"path": path, "lines": _text(line), "line_number": number, "absolute_offset": offset, "submatches": matches}
        return _line(kind, data)

    def finish(self) -> None:
        """The summary."""
        elapsed = dict(sorted(_NO_TIME.items()))
        stats = dict(sorted({"elapsed": elapsed, **self.totals}.items()))
        summary = {"data": {"elapsed_total": elapsed, "stats": stats}, "type": "summary"}
        self.ctx.stdout.write(encode(json.dumps(summary, separators=(",", ":")) + "\n"))
