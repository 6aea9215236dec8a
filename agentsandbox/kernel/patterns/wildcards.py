"""Shell patterns with stars, matched in linear time.

The pieces between two stars have fixed lengths. If the first piece is at the beginning, each
further piece may be taken at its first place behind the one before: any later place leaves less
room for the rest. So no search goes back. From the end, the last place of each piece is the best
one.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Stars:
    """A pattern without extended operators, as the pieces between its stars."""

    __slots__ = ("_made", "flags", "lengths", "pieces", "texts")

    def __init__(self, pieces: list[list[str]], flags: int) -> None:
        self.flags = flags
        self._made: dict[str, re.Pattern[str]] = {}
        self.lengths = [len(piece) for piece in pieces]
        self.pieces = ["".join(piece) for piece in pieces]
        self.texts = [None if flags & re.IGNORECASE else _plain_text(piece) for piece in pieces]
        """The pieces that are plain text: `str.find` finds these; None for others."""

    def _find(self, index: int, text: str, start: int, limit: int) -> int:
        """Return the first place of a piece between `start` and `limit`, or -1."""
        plain = self.texts[index]
        if plain is not None:
            return text.find(plain, start, limit)
        match = self.compiled(self.pieces[index]).search(text, start, limit)
        return match.start() if match is not None else -1

    def _last(self, index: int, text: str, limit: int) -> int:
        """Return the last place of a piece that ends by `limit`, or -1."""
        plain = self.texts[index]
        if plain is not None:
            return text.rfind(plain, 0, limit)
        match = self.compiled(f".*{self.pieces[index]}").match(text, 0, limit)
        return match.end() - self.lengths[index] if match is not None else -1

    def compiled(self, piece: str) -> re.Pattern[str]:
        """Return a piece as a regular expression, compiled once."""
        found = self._made.get(piece)
        if found is None:
            found = self._made[piece] = re.compile(piece, self.flags)
        return found

    def _matches_at(self, index: int, text: str, start: int) -> bool:
        """Whether a piece matches at `start`."""
        plain = self.texts[index]
        if plain is not None:
            return text.startswith(plain, start)
        return self.compiled(self.pieces[index]).match(text, start) is not None

    def _behind(self, text: str, *, at_end: bool) -> tuple[int, int] | None:
        """Return the last place where the pieces behind the first star fit, and their end."""
        limit = end = len(text)
        last = len(self.pieces) - 1
        for index in range(last, 0, -1):
            if not self.lengths[index]:
                continue
            start = self._last(index, text, limit)
            if start < 0:
                return None
            if index == last:
                end = start + self.lengths[index]
                if at_end and end != limit:
                    return None
            limit = start
        return limit, end

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield each longest match that is not empty; with a star there is at most one."""
        if len(self.pieces) > 1:
            found = self._behind(text, at_end=False)
            start = -1 if found is None else self._find(0, text, 0, found[0])
            if found is not None and 0 <= start < found[1]:
                yield start, found[1]
        elif self.lengths[0]:
            for match in self.compiled(self.pieces[0]).finditer(text):
                yield match.span()

    def match(self, text: str) -> bool:
        """Whether the pattern matches all of `text`."""
        if len(self.pieces) == 1:
            return len(text) == self.lengths[0] and self._matches_at(0, text, 0)
        end = len(text) - self.lengths[-1]
        if (
            end < self.lengths[0]
            or not self._matches_at(0, text, 0)
            or not self._matches_at(len(self.pieces) - 1, text, end)
        ):
            return False
        return self._forward(text, end, range(1, len(self.pieces) - 1)) >= 0

    def _forward(self, text: str, limit: int, indices: range) -> int:
        """Return the earliest end of these pieces behind the first one, or -1."""
        position = self.lengths[0]
        for index in indices:
            start = self._find(index, text, position, limit)
            if start < 0:
                return -1
            position = start + self.lengths[index]
        return position

    def prefix_end(self, text: str, *, longest: bool) -> int:
        """Return the end of the shortest or longest prefix that matches, or -1."""
        if not self._matches_at(0, text, 0):
            return -1
        if not longest:
            return self._forward(text, len(text), range(1, len(self.pieces)))
        if len(self.pieces) == 1:
            return self.lengths[0]
        found = self._behind(text, at_end=False)
        return found[1] if found is not None and self.lengths[0] <= found[0] else -1

    def suffix_start(self, text: str, *, longest: bool) -> int:
        """Return the start of the shortest or longest suffix that matches, or -1."""
        if len(self.pieces) == 1:
            start = len(text) - self.lengths[0]
            return start if start >= 0 and self._matches_at(0, text, start) else -1
        found = self._behind(text, at_end=True)
        if found is None:
            return -1
        return self._find(0, text, 0, found[0]) if longest else self._last(0, text, found[0])


def _plain_text(piece: list[str]) -> str | None:
    """Return the text of a piece without wildcards and brackets, or None."""
    if all(
        (len(char) == 1 and char != ".") or (len(char) == 2 and char[0] == "\\") for char in piece
    ):
        return "".join(char[-1] for char in piece)
    return None
