"""Many small files searched as one text: for grep, where a call for each would cost more than the search."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.command import CommandContext
    from agentsandbox.commands._line_report import Report
    from agentsandbox.regexps.lines import LineSearch

__all__ = ["SMALL", "FileBatch"]

SMALL = 8192
"""Bytes of a file that is worth to be gathered."""
_FULL = 131072


class FileBatch:
    """Files in the order given. `flush` writes their selected lines and tells whether there were any."""

    def __init__(
        self,
        ctx: CommandContext,
        search: LineSearch,
        report: Report,
        search_one: Callable[[str, bytes], bool],
        account: Callable[[int, str], bool] | None = None,
    ) -> None:
        self.ctx = ctx
        self.search = search
        self.report = report
        self.search_one = search_one
        """Searches a file by itself: one that is not plain text."""
        self.account = account
        """Told how many lines of each file were selected, where no line is written."""
        self.names: list[str] = []
        self.contents: list[bytes] = []
        self.size = 0
        self.found = False

    def add(self, name: str, data: bytes) -> None:
        """One more file."""
        self.names.append(name)
        self.contents.append(data)
        self.size += len(data) + 64
        if self.size > _FULL:
            self.flush()

    def extend(self, names: list[str], contents: list[bytes]) -> None:
        """More files, all of them small."""
        self.names += names
        self.contents += contents
        self.size += sum(map(len, contents)) + 64 * len(contents)
        if self.size > _FULL:
            self.flush()

    def flush(self) -> bool:
        """Search what was gathered; whether a line of any file so far was selected."""
        names, contents = self.names, self.contents
        if names:
            self.ctx.budget.step(len(names) + (self.size >> 10))
            self.names, self.contents, self.size = [], [], 0
            joined = _joined(contents)
            if joined is not None:
                self._search(names, *joined)
            else:
                for name, data in zip(names, contents, strict=True):
                    self.found |= self.search_one(name, data)
        return self.found

    def _search(self, names: list[str], whole: str, ends: list[int]) -> None:
        places = self.search.places(whole[:-1]) if whole else []
        if self.account is not None:
            starts = [start for start, _ in places]
            before = 0
            for name, end in zip(names, ends, strict=True):
                after = bisect_left(starts, end)
                self.found |= self.account(after - before, name)
                before = after
        elif places:
            self.found = True
            self._write(names, whole, places, ends)

    def _write(self, names: list[str], whole: str, places: list[tuple[int, int]], ends: list[int]) -> None:
        report = self.report
        mark = "\0" if report.null_names else ":"
        out: list[str] = []
        count = whole.count
        prefix = ""
        limit = number = position = 0
        for start, stop in places:
            if start >= limit:
                at = bisect_right(ends, start)
                position, limit, number = ends[at - 1] if at else 0, ends[at], 1
                if report.with_filename:
                    prefix = names[at] + mark
            if report.line_numbers:
                number += count("\n", position, start)
                position = start
                out.append(f"{prefix}{number}:{whole[start:stop]}\n")
            else:
                out.append(f"{prefix}{whole[start:stop]}\n")
        self.ctx.stdout.write(encode("".join(out)))


def _joined(contents: list[bytes]) -> tuple[str, list[int]] | None:
    """All as one text, each ending with a newline unless it is empty, and where each ends; None when one is not plain text."""
    whole = b"".join(contents)
    if 0 in whole:
        return None
    if whole.isascii() and not [data for data in contents if data and data[-1] != 10]:
        return decode(whole), list(accumulate(map(len, contents)))
    try:
        texts = [str(data, "utf-8") for data in contents]
    except UnicodeDecodeError:
        return None
    texts = [text if not text or text.endswith("\n") else f"{text}\n" for text in texts]
    return "".join(texts), list(accumulate(map(len, texts)))
