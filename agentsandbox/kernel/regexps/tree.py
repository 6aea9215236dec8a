"""The tree of a regular expression.

Every node knows its size, the lengths of its matches, and the set of characters that a match may
begin with. These sets are bit masks: bit N for the ASCII character N, bit 128 for all other
characters.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ANY_MASK = (1 << 129) - 1
_OTHER = 1 << 128

_CLASSES: dict[str, str] = {
    "alpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "digit": "0123456789",
    "alnum": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "lower": "abcdefghijklmnopqrstuvwxyz",
    "space": " \t\n\r\f\v",
    "blank": " \t",
    "punct": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "print": "".join(map(chr, range(32, 127))),
    "graph": "".join(map(chr, range(33, 127))),
    "cntrl": "".join(map(chr, range(32))) + "\x7f",
    "xdigit": "0123456789ABCDEFabcdef",
    "word": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_",
}
_ASCII_ONLY = frozenset(("digit", "xdigit"))
CLASS_NAMES = frozenset(_CLASSES) - {"word"}
"""The names that may be written as `[:name:]`."""


def class_mask(name: str) -> int:
    """Return the mask of a character class."""
    mask = 0 if name in _ASCII_ONLY else _OTHER
    for character in _CLASSES[name]:
        mask |= 1 << ord(character)
    return mask


def _range_mask(low: int, high: int) -> int:
    mask = _OTHER if high > 127 else 0
    if low < 128:
        top = min(high, 127)
        mask |= (1 << (top + 1)) - (1 << low)
    return mask


def _fold(mask: int) -> int:
    """Return the mask with both cases of each letter."""
    upper = (mask >> 65) & 0x3FFFFFF
    lower = (mask >> 97) & 0x3FFFFFF
    both = upper | lower
    return mask | both << 65 | both << 97


class Node:
    """A part of a pattern.

    `low`, `high`   the least and the greatest length of a match; `high` is None without a bound.
    `first`         the mask of the characters that a match may begin with.
    `size`          the number of nodes, with counted repeats written out.
    """

    __slots__ = ("first", "high", "low", "size")

    def __init__(self, low: int, high: int | None, first: int, size: int) -> None:
        self.low = low
        self.high = high
        self.first = first
        self.size = size

    @property
    def fixed(self) -> bool:
        """Whether all matches have the same length."""
        return self.low == self.high


class CharSet(Node):
    """One character of `ranges` (pairs of code points) and `classes`; if `negated`, any other."""

    __slots__ = ("classes", "negated", "newline", "ranges")

    def __init__(
        self,
        ranges: Sequence[tuple[int, int]],
        classes: Sequence[str] = (),
        *,
        negated: bool = False,
        newline: bool = True,
        ignore_case: bool = False,
    ) -> None:
        self.ranges = tuple(ranges)
        self.classes = tuple(classes)
        self.negated = negated
        self.newline = newline
        """Whether it may match a newline."""
        mask = 0
        for low, high in self.ranges:
            mask |= _range_mask(low, high)
        for name in self.classes:
            mask |= class_mask(name)
        if ignore_case:
            mask = _fold(mask)
        if negated:
            mask = ANY_MASK & ~mask | _OTHER
        if not newline:
            mask &= ~(1 << 10)
        super().__init__(1, 1, mask, 1)

    @property
    def literal(self) -> str | None:
        """The character, if it matches only one (or both cases of one)."""
        if self.negated or self.classes or len(self.ranges) != 1:
            return None
        low, high = self.ranges[0]
        if low == 10 and not self.newline:
            return None
        return chr(low) if low == high else None


class Assertion(Node):
    """A condition on a place. `kind` is one of ^ $ ` ' b B < > ( ).

    "(" means that no word character precedes, ")" that none follows.
    """

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(0, 0, 0, 1)


class LookAround(Assertion):
    """A look-around of a bounded length, in the syntax of `re`."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        super().__init__("look")
        self.source = source


class BackReference(Node):
    """The text that group `number` matched."""

    __slots__ = ("number",)

    def __init__(self, number: int, group: Node) -> None:
        self.number = number
        super().__init__(group.low, group.high, group.first, 1)


class Group(Node):
    """A subexpression in parentheses; `number` counts from 1."""

    __slots__ = ("body", "number")

    def __init__(self, number: int, body: Node) -> None:
        self.number = number
        self.body = body
        super().__init__(body.low, body.high, body.first, body.size + 1)


class Concatenation(Node):
    """A sequence of parts; without parts it matches the empty string."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Node]) -> None:
        self.parts = tuple(parts)
        low, size, first = 0, 1, 0
        high: int | None = 0
        for part in self.parts:
            if low == 0:
                first |= part.first
            low += part.low
            high = None if high is None or part.high is None else high + part.high
            size += part.size
        super().__init__(low, high, first, size)


class Alternation(Node):
    """A choice between branches."""

    __slots__ = ("branches",)

    def __init__(self, branches: Sequence[Node]) -> None:
        self.branches = tuple(branches)
        highs = [branch.high for branch in self.branches]
        first = 0
        for branch in self.branches:
            first |= branch.first
        super().__init__(
            min(branch.low for branch in self.branches),
            None if None in highs else max(high for high in highs if high is not None),
            first,
            sum(branch.size for branch in self.branches) + 1,
        )


class Repeat(Node):
    """A repetition of `body`, at least `least` and at most `most` times (None: any number)."""

    __slots__ = ("body", "least", "most")

    def __init__(self, body: Node, least: int, most: int | None) -> None:
        self.body = body
        self.least = least
        self.most = most
        if body.high == 0 or most == 0:
            high: int | None = 0
        else:
            high = None if most is None or body.high is None else body.high * most
        super().__init__(
            body.low * least,
            high,
            body.first if most != 0 else 0,
            body.size * max(least, most or 0, 1) + 1,
        )
