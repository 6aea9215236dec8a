"""What an expression becomes: closures for its outputs and for their paths.

`one` gives the single output (or `EMPTY`) and exists where there is never more than one; `many`
gives all outputs lazily; `paths` gives (path, value) pairs for `path(...)` and assignments, a path
being a tuple of keys, or None where the value did not come from the input. An environment is a
tuple of the variables and closures in scope: it never changes, so an expression that is suspended
in the middle cannot be disturbed.
"""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.operations import describe, truncated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.commands._json.values import Value

    Environment: TypeAlias = tuple[Any, ...]
    One: TypeAlias = Callable[[Value, Environment], Value]
    Many: TypeAlias = Callable[[Value, Environment], Iterable[Value]]
    Path: TypeAlias = tuple[Value, ...] | None
    Paths: TypeAlias = Callable[[Path, Value, Environment], Iterable[tuple[Path, Value]]]


class _Empty:
    """No output."""

    __slots__ = ()


EMPTY = _Empty()


class Code:
    """A compiled expression; without `paths`, what it gives has a path only where it is the input
    itself.
    """

    __slots__ = ("_paths", "many", "one", "total")

    def __init__(
        self,
        one: One | None = None,
        many: Many | None = None,
        *,
        total: bool = True,
        paths: Paths | None = None,
    ) -> None:
        self.one = one
        self.total = total
        """Whether `one` always has an output."""
        self._paths = paths
        if many is not None:
            self.many = many
        elif one is not None:
            self.many = _many_of(one, total)

    @property
    def paths(self) -> Paths:
        """The outputs with their paths, for the path and value of the input."""
        return self._value_paths if self._paths is None else self._paths

    @property
    def sure(self) -> One | None:
        """`one`, where it always has an output."""
        return self.one if self.total else None

    def _value_paths(
        self, path: Path, value: Value, environment: Environment
    ) -> Iterator[tuple[Path, Value]]:
        for result in self.many(value, environment):
            yield (path if result is value else None), result


def _many_of(one: One, total: bool) -> Many:
    if total:
        return lambda value, environment: (one(value, environment),)

    def many(value: Value, environment: Environment) -> Iterable[Value]:
        result = one(value, environment)
        return () if result is EMPTY else (result,)

    return many


NOTHING = Code(lambda value, environment: EMPTY, total=False)
"""The code of `empty`."""


def members(value: Value) -> Iterable[Value]:
    """What `.[]` gives."""
    if type(value) is list:
        return value
    if type(value) is dict:
        found: Iterable[Value] = value.values()
        return found
    raise JqError(f"Cannot iterate over {describe(value)}")


def invalid_path(value: Value) -> JqError:
    """The error for a path that ends in a value that is not part of the input."""
    return JqError(f"Invalid path expression with result {truncated(value, 26)}")
