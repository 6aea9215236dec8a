"""Many small files searched as one text: for grep, where a call for each would cost more than the search."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from operator import itemgetter

from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.command import CommandContext
    from agentsandbox.commands._line_report import Report
    from agentsandbox.regexps.lines import LineSearch

__all__ = ["SMALL", "FileBatch"]

SMALL = 8192
"""Bytes of a file that is worth to be gathered."""
_FULL = 131072
_GROUP = 256
_LAST = itemgetter(-1)


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
        self.needle = b"" if account is not None or report.list_files is False else search.needle
        """What a file must hold for anything to be said about it."""
        self.names: list[str] = []
        self.contents: list[bytes] = []
        self.sizes: list[int] = []
        self.weight = 0
        self.found = False

    def add(self, name: str, data: bytes) -> None:
        """One more file, a small one."""
        self._append([name], [data], [len(data)])

    def extend(self, names: list[str], contents: Sequence[bytes | None]) -> bool:
        """More files, if the contents of all of them are known and small; whether they are."""
        try:
            sizes = list(map(len, contents))  # type: ignore[arg-type]
        except TypeError:
            return False
        if max(sizes, default=0) > SMALL:
            return False
        for start in range(0, len(names), _GROUP):
            stop = start + _GROUP
            self._append(names[start:stop], contents[start:stop], sizes[start:stop])  # type: ignore[arg-type]
        return True

    def _append(self, names: list[str], contents: Sequence[bytes], sizes: list[int]) -> None:
        self.names += names
        self.contents += contents
        self.sizes += sizes
        self.weight += sum(sizes) + 64 * len(sizes)
        if self.weight > _FULL:
            self.flush()

    def flush(self) -> bool:
        """Search what was gathered; whether a line of any file so far was selected."""
        names, contents, sizes = self.names, self.contents, self.sizes
        if names:
            self.ctx.budget.step(len(names) + (self.weight >> 10))
            self.names, self.contents, self.sizes, self.weight = [], [], [], 0
            whole = b"".join(contents)
            if self.needle and whole.find(self.needle) < 0:
                return self.found
            joined = _joined(whole, contents, sizes)
            if joined is not None:
                self._search(names, *joined)
            else:
                for name, data in zip(names, contents, strict=True):
                    self.found |= self.search_one(name, data)
        return self.found

    def _search(self, names: list[str], whole: str, ends: list[int]) -> None:
        report = self.report
        text = whole[:-1]
        if report.list_files is not None:
            found = self.search.pieces(text, ends) if whole else []
            self.found |= bool(found)
            chosen = found if report.list_files else sorted({*range(len(names))}.difference(found))
            if chosen:
                self.ctx.stdout.write(encode("".join([report.name_suffix(names[at]) for at in chosen])))
            return
        places = self.search.places(text) if whole else []
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


def _joined(whole: bytes, contents: list[bytes], sizes: list[int]) -> tuple[str, list[int]] | None:
    """All as one text, each ending with a newline unless it is empty, and where each ends; None when one is not plain text."""
    if 0 in whole:
        return None
    if whole.isascii() and set(map(_LAST, filter(None, contents))) <= {10}:
        return decode(whole), list(accumulate(sizes))
    try:
        texts = [str(data, "utf-8") for data in contents]
    except UnicodeDecodeError:
        return None
    texts = [text if not text or text.endswith("\n") else f"{text}\n" for text in texts]
    return "".join(texts), list(accumulate(map(len, texts)))
