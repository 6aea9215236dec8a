"""Arrays and their elements as a compiled program uses them, and what kinds of values there are."""

from __future__ import annotations

from agentsandbox.commands.awk.values import (
    UNASSIGNED,
    UNSET,
    Array,
    AwkFatal,
    Strnum,
    Typed,
    Unset,
    array_as_scalar,
    to_number,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands.awk.protocols import Run


class Boolean(Strnum):
    """What `mkbool` makes: a number, which `typeof` knows."""

    __slots__ = ()


_KINDS: dict[type, str] = {
    float: "number",
    str: "string",
    Strnum: "strnum",
    Boolean: "number|bool",
    Typed: "regexp",
    Unset: "untyped",
    Array: "array",
}


def array_of(value: object, name: str) -> Array:
    """Return the array that a parameter is."""
    if isinstance(value, Array):
        return value
    raise AwkFatal(f"attempt to use scalar parameter `{name}' as an array")


def not_an_array(value: object, which: str) -> Array:
    """Refuse an argument that must be an array."""
    raise AwkFatal(f"{which} argument is not an array")


def scalar(value: object, name: str) -> object:
    """Return the value of a name that is an array elsewhere."""
    if isinstance(value, Array):
        if not value and name == value.where:
            raise array_as_scalar(value)
        shown = name if name == value.where else f"{name} (from {value.where})"
        raise AwkFatal(f"attempt to use array `{shown}' in a scalar context")
    return value


def element(value: object) -> object:
    """Return the value of an element that may be an array."""
    if type(value) is Array:
        raise array_as_scalar(value)
    return value


def element_or_array(array: Array, key: str) -> object:
    """Return an element as an argument: one never set becomes an array."""
    found = array.get(key)
    return array.sub(key) if found is None or type(found) is Unset else found


def set_element(value: Any, array: Array, key: str) -> object:
    """`array[key] = value`."""
    array[key] = value
    return value


def step_element(array: Array, key: str, amount: float) -> float:
    """`array[key]++`."""
    before = to_number(array[key])
    array[key] = before + amount
    return before


def count_element(array: Any, key: str, amount: float) -> float:
    """`array[key]++` where all elements are numbers."""
    before: float = array[key] + 0.0
    array[key] = before + amount
    return before


def peek(array: Array, key: str) -> object:
    """Return an element without creating it."""
    return array.get(key)


def is_array(value: object) -> float:
    """`isarray`."""
    return 1.0 if isinstance(value, Array) else 0.0


def mkbool(value: object) -> Boolean:
    """`mkbool`."""
    return Boolean("1" if value else "0")


def used(value: object) -> object:
    """Return a value that is read, in a program that asks for types."""
    return UNASSIGNED if value is UNSET else value


def kind_of(value: object) -> str:
    """`typeof`."""
    if value is UNASSIGNED:
        return "unassigned"
    return _KINDS.get(value.__class__) or ("strnum" if isinstance(value, Strnum) else "untyped")


_FIXED: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        array_of, count_element, element, element_or_array, is_array, kind_of, mkbool,
        not_an_array, peek, scalar, set_element, step_element, used,
    )
}  # fmt: skip


def functions(rt: Run) -> dict[str, Callable[..., Any]]:
    """Return the functions of arrays and elements, by their names in a program."""
    return _FIXED
