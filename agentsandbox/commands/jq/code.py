"""What an expression becomes: closures for its outputs and for their paths.

`one` returns the single output, or `EMPTY`; it exists where there is never more than one. `many`
returns all outputs lazily. `paths` does the same with located values, for `path(...)` and
assignments: pairs of a path and a value, the path being a tuple of keys, or None where the value is
not a part of the input. As a located value passes through a pipe just as a plain one does, many
expressions build `many` and `paths` with the same function.

An environment is a tuple of the variables and closures in scope. It never changes, so an expression
that is suspended in the middle cannot be disturbed.
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
    Path: TypeAlias = tuple[Value, ...] | None
    Located: TypeAlias = tuple[Path, Value]
    One: TypeAlias = Callable[[Value, Environment], Value]
    Many: TypeAlias = Callable[[Value, Environment], Iterable[Value]]
    Paths: TypeAlias = Callable[[Located, Environment], Iterable[Located]]
    Outputs: TypeAlias = Callable[[Any, Environment], Iterable[Any]]
    """`Many` or `Paths`, for functions that build both."""


class _Empty:
    """The type of `EMPTY`."""

    __slots__ = ()


EMPTY = _Empty()
"""What `one` returns for no output."""


class Code:
    """A compiled expression.

    Without `paths`, an output has a path only where it is the input itself.
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
        """The outputs with their paths, for a located input."""
        return self._value_paths if self._paths is None else self._paths

    @property
    def sure(self) -> One | None:
        """`one`, where it always has an output."""
        return self.one if self.total else None

    def _value_paths(self, item: Located, environment: Environment) -> Iterator[Located]:
        path, value = item
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


def itself(value: Value) -> Value:
    """Return the value of an item of `many`: the item itself."""
    return value


def value_of(item: Located) -> Value:
    """Return the value of an item of `paths`."""
    return item[1]


def of_located(many: Many) -> Many:
    """Return the function for the same plain outputs of a located input."""
    return lambda item, environment: many(item[1], environment)


def members(value: Value) -> Iterable[Value]:
    """Return what `.[]` yields."""
    if type(value) is list:
        return value
    if type(value) is dict:
        found: Iterable[Value] = value.values()
        return found
    raise JqError(f"Cannot iterate over {describe(value)}")


def invalid_path(value: Value) -> JqError:
    """Return the error for a path that ends in a value that is not a part of the input."""
    return JqError(f"Invalid path expression with result {truncated(value, 26)}")
