"""What the scripts of one sandbox hold in memory at this moment, so that it can be compared with
the limit.

No single value may be larger than `value_bytes`; a thousand of them may not either, wherever they
are kept. Two ways lead into the account, and both cost nothing per step of a script:

* A *holder* is an object or a container that holds values while it lives: a shell, the words of a
  command whose substitutions still run, a pipe that waits for its reader. It enters `holders` where
  it begins to hold and leaves where it ends, in a `finally`. It is looked at only when the budget
  asks, once `2 * value_bytes` were made since it last did.
* A *hold* is a number of bytes whose owner keeps a `Held` beside them: a here-document that a
  descriptor reads, the input that a command has read. It counts from the call of `hold` until the
  last reference to it is gone, so nobody has to remember to give it back.

Texts are shared between variables, arguments and copies of a shell: a scale counts each long one
once, by its identity. Short ones count as entries of their container.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

LARGE = 65536
"""Bytes of a value from which on it is worth an entry of its own."""

_MANY = 256
"""Texts that are not looked at one by one."""
_ENTRY = 100
"""Bytes that a short value takes in a collection, its name included."""
_LONG = 512
"""Bytes from which on a text is weighed by itself."""


def is_large(texts: list[str]) -> bool:
    """Whether texts are many, or one of them is large: worth an entry while something else runs."""
    return bool(texts) and (len(texts) > _MANY or max(map(len, texts)) > LARGE)


class Scale:
    """Adds up bytes, each object once."""

    __slots__ = ("seen", "total")

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.total = 0

    def is_new(self, value: object) -> bool:
        """Whether this object comes for the first time; from now on it does not."""
        if id(value) in self.seen:
            return False
        self.seen.add(id(value))
        return True

    def add(self, value: object) -> None:
        """A text, an object with a method `weigh(scale)`, or a collection of them. Anything else
        weighs nothing of its own.
        """
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
    """So many bytes of an account; they are given back when nobody refers to this object any
    more.
    """

    __slots__ = ("_accounts", "size")

    def __init__(self, accounts: Accounts, size: int) -> None:
        self._accounts = accounts
        self.size = size
        accounts.held += size

    def grow(self, size: int) -> None:
        """Hold so many bytes more."""
        self.size += size
        self._accounts.held += size

    def __del__(self) -> None:
        self._accounts.held -= self.size


class Kept:
    """The entry of a holder that has no end of its own; it leaves when nobody refers to this object
    any more.
    """

    __slots__ = ("_holders",)

    def __init__(self, accounts: Accounts, holder: object) -> None:
        self._holders = accounts.holders
        self._holders[id(self)] = holder

    def __del__(self) -> None:
        self._holders.pop(id(self), None)


class Accounts:
    """All that the shells and commands of one sandbox hold; it outlives an execution, as background
    jobs do.
    """

    __slots__ = ("held", "holders")

    def __init__(self) -> None:
        self.holders: dict[object, object] = {}
        """By a key of their own: an object stands for itself, and leaves in a `finally`."""
        self.held = 0
        """Bytes of all `Held` objects."""

    def total(self) -> int:
        """Return the bytes of everything, roughly."""
        scale = Scale()
        for holder in list(self.holders.values()):
            scale.add(holder)
        return scale.total + self.held
