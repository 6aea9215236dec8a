"""Awk values: float, str, two between them, and arrays of them.

Input that looks like a number is a `Strnum`: it compares as a number and prints as it was written.
A variable that was never set is `UNSET`: 0 and "" at once.
"""

from __future__ import annotations

from agentsandbox.kernel.expressions import ASCII, lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    Value: TypeAlias = "float | str"


class Unset(float):
    """The value of a variable never set: 0 in arithmetic, "" as text."""

    __slots__ = ()


UNSET = Unset(0.0)
UNASSIGNED = Unset(0.0)
"""What a variable holds that was read before it was set; only `typeof` knows the difference."""


class Strnum(str):
    """Input that looks like a number: it compares as one and keeps its spelling."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return to_number(self) != 0.0


class Typed(str):
    """A strongly typed regular expression constant, `@/…/`: text that `typeof` knows."""

    __slots__ = ()


class AwkFatal(Exception):
    """A fatal error of the running program. Its line is found by the traceback, unless it happened
    `between_files`: then messages name the line that ran last.
    """

    def __init__(self, message: str, *, between_files: bool = False) -> None:
        self.message = message
        self.between_files = between_files
        super().__init__(message)


class AwkExit(BaseException):
    """`exit`."""


class AwkNext(BaseException):
    """`next` from inside a loop or a function."""


class AwkNextFile(BaseException):
    """`nextfile`, likewise."""


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


_PREFIX = lazily(r"[ \t\n\r\f\v]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", ASCII)
_WHOLE = lazily(
    r"[ \t\n\r\f\v]*+[+-]?+(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+[ \t\n\r\f\v]*+",
    ASCII,
)
_SPECIAL = {
    "+inf": float("inf"),
    "-inf": float("-inf"),
    "+nan": float("nan"),
    "-nan": -float("nan"),
}
_DIGITS = frozenset("0123456789")


def parse_number(text: str) -> float:
    """Return the number that a string begins with, 0 for none."""
    found = _PREFIX.match(text)
    if found is None:
        return _SPECIAL.get(text.strip(" \t\n").lower(), 0.0) if len(text) < 64 else 0.0
    return float(found[1])


def to_number(value: object) -> float:
    """Return any value as a number."""
    kind = value.__class__
    if kind is float or kind is Unset:
        return value  # type: ignore[return-value]
    if (kind is str or kind is Strnum) and value[-1:] not in _DIGITS:  # type: ignore[index]
        # `float` would refuse most of these
        return parse_number(value) if len(value) else 0.0  # type: ignore[arg-type]
    try:
        number = float(value)  # type: ignore[arg-type]
    except ValueError:
        return parse_number(str(value))
    except TypeError:
        raise array_as_scalar(value) from None
    text: str = value  # type: ignore[assignment]
    if number - number != 0.0 or "_" in text or not text.isascii():
        return parse_number(text) if kind is str or kind is Strnum else number
    return number


def text_number(text: str) -> float:
    """Return the number of a field's text: as `to_number`, faster."""
    if not text or text >= ":":
        return 0.0  # no number begins with a letter
    if text[-1] not in _DIGITS:
        return parse_number(text)
    try:
        number = float(text)
    except ValueError:
        return parse_number(text)
    if "_" in text or not text.isascii():
        return parse_number(text)
    return number


def array_as_scalar(value: object) -> AwkFatal:
    """Return the error for an array used as a scalar; gawk takes an empty one for a scalar."""
    if not value:
        return AwkFatal(f"attempt to use scalar `{getattr(value, 'where', '')}' as an array")
    return AwkFatal(f"attempt to use array `{getattr(value, 'where', '')}' in a scalar context")


NUMBER_STARTS = frozenset("0123456789+-. \t\n\r\f\v")
_NUMBER_CHARACTERS = NUMBER_STARTS | {"e", "E"}
_SPECIAL_ENDS = frozenset("fFnN \t\n\r\f\v")
_NUMBER_ENDS = _SPECIAL_ENDS | frozenset("0123456789.")


def from_input(text: str) -> Value:
    """Return a field or other input as a value: `Strnum` if it looks like a number."""
    if text[:1] not in NUMBER_STARTS:
        return text
    if text.isdecimal() and text.isascii():
        return Strnum(text)
    if len(text) > 24:
        if (
            text[-1] not in _NUMBER_CHARACTERS
            or text[len(text) >> 1] not in _NUMBER_CHARACTERS
            or text[12] not in _NUMBER_CHARACTERS
        ):
            return text
        return Strnum(text) if _WHOLE.fullmatch(text) is not None else text
    if text[-1] not in _NUMBER_ENDS:
        return text
    if _WHOLE.fullmatch(text) is not None or (
        text[-1] in _SPECIAL_ENDS and text.strip().lower() in _SPECIAL
    ):
        return Strnum(text)
    return text


def numeric_input(text: str) -> float | None:
    """Return the number that input looks like, None if it does not."""
    if text >= ":":
        return None  # no number begins with a letter
    try:
        number = float(text)
    except ValueError:
        return None
    if number - number != 0.0 or "_" in text or not text.isascii():
        return parse_number(text) if type(from_input(text)) is Strnum else None
    return number


def integral_text(number: float) -> str | None:
    """Return the text of a number that is integral or not finite; None for a fraction."""
    if number.is_integer():
        return str(int(number))
    if number - number != 0.0:
        if number != number:
            return "-nan" if _is_negative(number) else "+nan"
        return "+inf" if number > 0 else "-inf"
    return None


def _is_negative(number: float) -> bool:
    from math import copysign

    return copysign(1.0, number) < 0
