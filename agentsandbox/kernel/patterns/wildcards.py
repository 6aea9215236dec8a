"""Where a shell pattern with stars matches, in linear time.

What stands between two stars has a fixed length, so the first place of each piece, or the last, is
all that matters.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Stars:
    """A pattern without extended operators as the pieces of fixed length between its stars: no
    search in it goes back.
    """

    __slots__ = ("_made", "flags", "lengths", "pieces", "texts")

    def __init__(self, pieces: list[list[str]], flags: int) -> None:
        self.flags = flags
        self._made: dict[str, re.Pattern[str]] = {}
        self.lengths = [len(piece) for piece in pieces]
        self.pieces = ["".join(piece) for piece in pieces]
        self.texts = [None if flags & re.IGNORECASE else _plain_text(piece) for piece in pieces]
        """The pieces that are nothing but text: those are found without an expression."""

    def _find(self, index: int, text: str, start: int, limit: int) -> int:
        """Where a piece between `start` and `limit` begins first; -1 for nowhere."""
        plain = self.texts[index]
        if plain is not None:
            return text.find(plain, start, limit)
        match = self.compiled(self.pieces[index]).search(text, start, limit)
        return match.start() if match is not None else -1

    def _last(self, index: int, text: str, limit: int) -> int:
        """Where a piece that ends at `limit` or before begins at the latest; -1 for nowhere."""
        plain = self.texts[index]
        if plain is not None:
            return text.rfind(plain, 0, limit)
        match = self.compiled(f".*{self.pieces[index]}").match(text, 0, limit)
        return match.end() - self.lengths[index] if match is not None else -1

    def compiled(self, piece: str) -> re.Pattern[str]:
        """A piece as an expression, made once."""
        found = self._made.get(piece)
        if found is None:
            found = self._made[piece] = re.compile(piece, self.flags)
        return found

    def _stands_at(self, index: int, text: str, start: int) -> bool:
        """Whether a piece stands there."""
        plain = self.texts[index]
        if plain is not None:
            return text.startswith(plain, start)
        return self.compiled(self.pieces[index]).match(text, start) is not None

    def _behind(self, text: str, *, at_end: bool) -> tuple[int, int] | None:
        """Where the pieces behind the first star begin at the latest, and where a match ends at the
        latest.
        """
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
        """Each longest match that is not empty. With a star there is one at most: it reaches to the
        last possible end.
        """
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
            return len(text) == self.lengths[0] and self._stands_at(0, text, 0)
        end = len(text) - self.lengths[-1]
        if (
            end < self.lengths[0]
            or not self._stands_at(0, text, 0)
            or not self._stands_at(len(self.pieces) - 1, text, end)
        ):
            return False
        return self._forward(text, end, range(1, len(self.pieces) - 1)) >= 0

    def _forward(self, text: str, limit: int, indices: range) -> int:
        """Where these pieces, one behind the other from the first on, end at the earliest; -1 if
        they do not fit.
        """
        position = self.lengths[0]
        for index in indices:
            start = self._find(index, text, position, limit)
            if start < 0:
                return -1
            position = start + self.lengths[index]
        return position

    def prefix_end(self, text: str, *, longest: bool) -> int:
        """Where the shortest or longest beginning of `text` that matches ends; -1 for none."""
        if not self._stands_at(0, text, 0):
            return -1
        if not longest:
            return self._forward(text, len(text), range(1, len(self.pieces)))
        if len(self.pieces) == 1:
            return self.lengths[0]
        found = self._behind(text, at_end=False)
        return found[1] if found is not None and self.lengths[0] <= found[0] else -1

    def suffix_start(self, text: str, *, longest: bool) -> int:
        """Where the shortest or longest end of `text` that matches starts; -1 for none."""
        if len(self.pieces) == 1:
            start = len(text) - self.lengths[0]
            return start if start >= 0 and self._stands_at(0, text, start) else -1
        found = self._behind(text, at_end=True)
        if found is None:
            return -1
        return self._find(0, text, 0, found[0]) if longest else self._last(0, text, found[0])


def _plain_text(piece: list[str]) -> str | None:
    """The text that a piece without wildcards and brackets stands for."""
    if all(
        (len(char) == 1 and char != ".") or (len(char) == 2 and char[0] == "\\") for char in piece
    ):
        return "".join(char[-1] for char in piece)
    return None
