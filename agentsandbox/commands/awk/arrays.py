"""Awk arrays: dictionaries with string keys."""

from __future__ import annotations

from agentsandbox.commands.awk.values import UNASSIGNED, UNSET, AwkFatal, Unset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from agentsandbox.commands.awk.values import Value

class Array(dict[str, "Value | Array"]):
    """An array; looking up a key that is not there creates it, as in awk."""

    __slots__ = ("__weakref__", "first", "where")

    def __init__(self, where: str = "") -> None:
        super().__init__()
        self.where = where
        self.first: str | None = None
        """The first key, if elements were deleted since: it decides on gawk's kind of table."""

    def __missing__(self, key: str) -> Value:
        self[key] = UNSET
        return UNSET

    def sub(self, key: str) -> Array:
        """Return the array that is this element; it is made if there is nothing."""
        found = self.get(key)
        if isinstance(found, Array):
            return found
        if found is not None and (not isinstance(found, Unset) or found is UNASSIGNED):
            raise AwkFatal(f'attempt to use scalar `{self.where}["{key}"]\' as an array')
        made = self[key] = Array(f'{self.where}["{key}"]')
        return made

    def forget(self, key: Any) -> None:
        """`delete array[key]`"""
        if self.first is None:
            self.first = next(iter(self), None)
        self.pop(key, None)
        if not self:
            self.first = None

    def forget_all(self) -> None:
        """`delete array`"""
        self.first = None
        self.clear()

    def names(self) -> Iterable[str]:
        """Return the keys that are kept as texts."""
        return self.keys()

    def ascending(self) -> Iterable[str] | None:
        """Return the keys if they are natural numbers in order; None where that is not known."""
        return None
