"""Many small files searched as one text.

A recursive grep visits thousands of small files, and to search each by itself costs more than the
search. A batch joins their contents, with an empty line between two files if no match can be empty,
and searches the text once. The ends of the files (`_ends`) are needed only if there is a match: a
binary search in them finds the file of a place. A batch with a file that is not plain text, or is
not UTF-8, is searched file by file.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from itertools import accumulate
from operator import itemgetter, sub

from agentsandbox.commands.grep.options import SMALL
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.commands.grep.line_report import Report
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.regexps.lines import LineSearch

_FULL = 65536
"""Characters that are searched at once: a larger text would not stay in the processor's cache."""
_GROUP = 32
_LAST = itemgetter(-1)


class FileBatch:
    """Files in the order given. `flush` writes their selected lines."""

    def __init__(
        self,
        ctx: CommandContext,
        search: LineSearch,
        report: Report,
        search_one: Callable[[str, bytes], bool],
    ) -> None:
        self.ctx = ctx
        self.search = search
        self.report = report
        self.search_one = search_one
        """The search of a single file, for one that is not plain text."""
        self.counts = report.count and not report.only_first
        self.selective = bool(search.needle) and not self.counts and report.list_files is not False
        """Whether nothing is printed about files without the needle."""
        self.spaced = search.never_empty()
        """Whether an empty line may separate files: an empty line is never selected."""
        self.names: list[str] = []
        self.prefixes: list[tuple[int, str]] = []
        """(index of a name, directory of the names from there on)"""
        self.contents: list[bytes] = []
        self.weight = 0
        self.found = False

    def add(self, name: str, data: bytes) -> None:
        """Add one small file."""
        self._append("", [name], [data], len(data))

    def extend(self, prefix: str, names: list[str], contents: Sequence[bytes | None]) -> bool:
        """Add the files of a directory; return False if one is large or its contents unknown."""
        if None in contents:
            return False
        known: Sequence[bytes] = contents  # type: ignore[assignment]
        sizes = list(map(len, known))
        if sum(sizes) <= _FULL:
            self._append(prefix, names, known, sum(sizes))
            return True
        if max(sizes) > SMALL:
            return False
        for start in range(0, len(names), _GROUP):
            part = slice(start, start + _GROUP)
            self._append(prefix, names[part], known[part], sum(sizes[part]))
        return True

    def _append(self, prefix: str, names: list[str], contents: Sequence[bytes], size: int) -> None:
        if not self.prefixes or self.prefixes[-1][1] != prefix:
            self.prefixes.append((len(self.names), prefix))
        self.names += names
        self.contents += contents
        self.weight += size + 64 * len(names)
        if self.weight > _FULL:
            self.flush()

    def flush(self) -> bool:
        """Search the batch; return whether a line of any file so far was selected."""
        names, contents = self.names, self.contents
        if names:
            self.ctx.budget.step(len(names) + (self.weight >> 10))
            shown = names if self.prefixes == [(0, "")] else _Names(names, self.prefixes)
            self.names, self.prefixes, self.contents, self.weight = [], [], [], 0
            whole = (b"\n" if self.spaced else b"").join(contents)
            if self.selective and not self.search.may_match(whole):
                return self.found
            plain = _plain(whole, contents, spaced=self.spaced)
            if plain is not None:
                text, files = plain
                self._search(shown, text, functools.partial(_ends, files, spaced=self.spaced))
            else:
                for name, data in zip(shown, contents, strict=True):
                    self.found |= self.search_one(name, data)
        return self.found

    def _search(
        self, names: Sequence[str] | _Names, whole: str, ends: Callable[[], list[int]]
    ) -> None:
        report = self.report
        text = whole if self.spaced else whole.removesuffix("\n")
        if report.list_files is not None:
            found = self.search.pieces(text, ends) if whole else []
            self.found |= bool(found)
            chosen = found if report.list_files else sorted({*range(len(names))}.difference(found))
            if chosen:
                self.ctx.stdout.write(
                    encode("".join([report.name_line(names[at]) for at in chosen]))
                )
            return
        places = self.search.places(text) if whole else []
        if self.counts:
            self.found |= bool(places)
            starts = [start for start, _ in places]
            before = [bisect_left(starts, end) for end in ends()]
            numbers = map(sub, before, [0, *before])
            self.ctx.stdout.write(
                encode(
                    "".join(
                        [
                            report.count_line(name, number)
                            for name, number in zip(names, numbers, strict=True)
                        ]
                    )
                )
            )
        elif places:
            self.found = True
            self._write(names, whole, places, ends())

    def _write(
        self,
        names: Sequence[str] | _Names,
        whole: str,
        places: list[tuple[int, int]],
        ends: list[int],
    ) -> None:
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


class _Names:
    """The names of the files in a batch, joined with their directories on demand."""

    def __init__(self, names: list[str], prefixes: list[tuple[int, str]]) -> None:
        self._names = names
        self._starts = [start for start, _ in prefixes]
        self._prefixes = [prefix for _, prefix in prefixes]

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        for start, stop, prefix in zip(
            self._starts, [*self._starts[1:], len(self._names)], self._prefixes, strict=True
        ):
            for name in self._names[start:stop]:
                yield prefix + name

    def __getitem__(self, at: int) -> str:
        return self._prefixes[bisect_right(self._starts, at) - 1] + self._names[at]


def _plain(
    whole: bytes, contents: list[bytes], *, spaced: bool
) -> tuple[str, Sequence[bytes | str]] | None:
    """Return all files as one text, and the files; None if one of them is not plain text.

    In the text every file is empty or ends with a newline. `whole` is the files joined, with a
    newline between two of them if `spaced`.
    """
    if 0 in whole:
        return None
    if whole.isascii() and (spaced or set(map(_LAST, filter(None, contents))) <= {10}):
        return decode(whole), contents
    try:
        texts = [str(data, "utf-8") for data in contents]
    except UnicodeDecodeError:
        return None
    if not spaced:
        texts = [text if not text or text.endswith("\n") else f"{text}\n" for text in texts]
    return ("\n" if spaced else "").join(texts), texts


def _ends(files: Sequence[bytes | str], *, spaced: bool) -> list[int]:
    """Return the end of each file in the text, with the newline after it."""
    ends = accumulate(map(len, files))
    return [end + at for at, end in enumerate(ends, 1)] if spaced else list(ends)
