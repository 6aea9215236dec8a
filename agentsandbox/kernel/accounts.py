"""Memory accounting: what the scripts of one sandbox hold at this moment.

No single value may be larger than `value_bytes`, and all values together not larger than
`VALUES * value_bytes` (see `budget`). Values are counted in two ways. Neither costs anything per
step of a script:

* A *holder* is an object or a container that holds values while it lives: a shell, the words of a
command whose substitutions still run, a pipe that waits for its reader. Code enters it in
`holders` where it begins to hold values and removes it in a `finally`. The budget looks at
holders only after `2 * value_bytes` were made since its last look.
* A *hold* is a number of bytes. Its owner keeps a `Held` object as long as it keeps the bytes: a
heredoc that a file descriptor reads, the input that a command has read.

Variables, arguments and copies of a shell share strings. A `Scale` therefore counts each long
string once, by its identity. Short strings count as entries of their container.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    Marks = tuple[object, str, bytearray]
    """A pattern, a text, and for each place of it whether a match begins there."""

LARGE = 65536
"""Values of at least this many bytes get an entry of their own."""

_MANY = 256
"""A list with more strings than this counts as large without looking at each of them."""
_ENTRY = 100
"""Bytes that a short value takes in a collection, including its name."""
_LONG = 512
"""Strings of at least this length are weighed by themselves."""


def is_large(texts: list[str]) -> bool:
    """Whether the strings are many, or one of them is large, and so need an entry of their own."""
    return bool(texts) and (len(texts) > _MANY or max(map(len, texts)) > LARGE)


class Scale:
    """Adds up bytes, each object once."""

    __slots__ = ("seen", "total")

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.total = 0

    def is_new(self, value: object) -> bool:
        """Whether this is the first call with this object."""
        if id(value) in self.seen:
            return False
        self.seen.add(id(value))
        return True

    def add(self, value: object) -> None:
        """Add a string, a collection, or an object with `weigh(scale)`; ignore all others."""
        if isinstance(value, (str, bytes, bytearray)):
            if len(value) > _LONG and self.is_new(value):
                self.total += sys.getsizeof(value)
        elif isinstance(value, dict):
            if self.is_new(value):
                self._entries(value)
                self._entries(value.values())
        elif isinstance(value, (list, tuple)):
            if self.is_new(value):
                self._entries(value)
        elif (weigh := getattr(type(value), "weigh", None)) is not None and self.is_new(value):
            weigh(value, self)

    def _entries(self, values: Collection[object]) -> None:
        self.total += _ENTRY * len(values) // 2
        seen = self.seen
        for value in values:
            kind = type(value)
            if kind is str or kind is bytes:
                if len(value) > _LONG and id(value) not in seen:  # type: ignore[arg-type]
                    seen.add(id(value))
                    self.total += sys.getsizeof(value)
            elif kind is not int:
                self.add(value)


class Held:
    """A number of bytes that count until `release`, or until this object is freed."""

    __slots__ = ("_accounts", "size")

    def __init__(self, accounts: Accounts, size: int) -> None:
        self._accounts = accounts
        self.size = size
        accounts.held += size

    def grow(self, size: int) -> None:
        """Hold `size` bytes more."""
        self.size += size
        self._accounts.held += size

    def shrink(self, size: int) -> None:
        """Hold no more than `size` bytes from now on."""
        self.grow(min(0, size - self.size))

    def release(self) -> None:
        """Stop counting. Idempotent."""
        self._accounts.held -= self.size
        self.size = 0

    __del__ = release


class Kept:
    """The entry of a holder, which is removed by `release`, or when this object is freed."""

    __slots__ = ("_holders",)

    def __init__(self, accounts: Accounts, holder: object) -> None:
        self._holders = accounts.holders
        self._holders[id(self)] = holder

    def release(self) -> None:
        """Remove the entry. Idempotent."""
        self._holders.pop(id(self), None)

    __del__ = release


# TM-MEM-1
class Accounts:
    """What the shells and commands of one sandbox hold.

    An account outlives an execution, because background jobs do.
    """

    __slots__ = ("automata", "held", "holders", "marks")

    def __init__(self) -> None:
        self.holders: dict[object, object] = {}
        """Holders by an arbitrary key; most use the holder itself."""
        self.held = 0
        """Bytes of all `Held` objects together."""
        self.automata: dict[object, Any] = {}
        """Those of `regexps.automaton` by their patterns, which all sandboxes share."""
        self.marks: list[Marks] = []
        """What searches by automata know of some texts; one of them may be large."""

    def total(self) -> int:
        """Return the bytes of everything, roughly."""
        scale = Scale()
        for holder in list(self.holders.values()):
            scale.add(holder)
        for automaton in self.automata.values():
            automaton.weigh(scale)
        return scale.total + self.held
