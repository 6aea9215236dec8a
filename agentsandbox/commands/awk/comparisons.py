"""Comparisons of awk values in a compiled program, which depend on what the values look like."""

from __future__ import annotations

import operator

from agentsandbox.commands.awk.values import Strnum, Unset, numeric_input, to_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands.awk.protocols import Run

_NUMBERS = (float, Strnum)
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


def _field_against(
    text: Callable[[object], str], compare: Callable[[Any, Any], bool]
) -> Callable[[str, Any], bool]:
    """Return the comparison of a field with any value.

    The value is often the same as before, or the field of the record before: its number is kept.
    """
    before: Any = None
    before_number = 0.0
    last_field = ""
    last_number = 0.0

    def compared(field: str, value: Any) -> bool:
        nonlocal before, before_number, last_field, last_number
        if value is before:
            number = before_number
        else:
            kind = value.__class__
            if kind is str:
                return compare(field, value)
            if kind is not float and kind is not Unset and not issubclass(kind, Strnum):
                return compare(field, text(value))
            before = value
            before_number = number = (
                last_number if kind is Strnum and value == last_field else to_number(value)
            )
        try:
            mine = float(field)
        except ValueError:
            return compare(field, text(value))
        if mine - mine == 0.0 and "_" not in field and field.isascii():
            last_field, last_number = field, mine
            return compare(mine, number)
        looks = numeric_input(field)
        return compare(field, text(value)) if looks is None else compare(looks, number)

    return compared


def same_number(value: object, number: float) -> bool:
    """Whether a number of a `case` is the value of the `switch`."""
    return type(value) is not str and to_number(value) == number


def same_text(value: object, other: str) -> bool:
    """Whether a string of a `case` is the value of the `switch`."""
    return type(value) is str and value == other


def functions(rt: Run) -> dict[str, Any]:
    """Return the comparisons that a program calls, by their names in it."""
    text = rt.text

    def sides(left: object, right: object) -> tuple[Any, Any]:
        """Return both as numbers, or both as text."""
        a, b = left.__class__, right.__class__
        if (a is float or a is Strnum or a is Unset) and (b is float or b is Strnum or b is Unset):
            return to_number(left), to_number(right)
        if a is not str and b is not str and issubclass(a, _NUMBERS) and issubclass(b, _NUMBERS):
            return to_number(left), to_number(right)
        return text(left), text(right)

    def folded(symbol: str, left: object, right: object) -> bool:
        """Compare in a program that knows IGNORECASE."""
        a, b = sides(left, right)
        if rt.IGNORECASE and isinstance(a, str):
            a, b = a.casefold(), b.casefold()
        return _OPERATORS[symbol](a, b)

    def lt(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a < b)

    def le(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a <= b)

    def eq(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a == b)

    def gt(left: object, right: object) -> bool:
        return lt(right, left)

    def ge(left: object, right: object) -> bool:
        return le(right, left)

    def ne(left: object, right: object) -> bool:
        return not eq(left, right)

    fields = {
        f"field_{compare.__name__}": _field_against(text, compare)
        for compare in _OPERATORS.values()
    }
    named = (folded, lt, le, eq, gt, ge, ne, same_number, same_text)
    return {**{function.__name__: function for function in named}, **fields}
