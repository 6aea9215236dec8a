"""JSON values as jq sees them, and the kinds that there are.

A value is None, bool, int, float, `Literal`, str, list or dict; no value is ever changed after it
was made. A whole number of at most 2^53 is an int; a larger int is a literal that kept its digits,
and arithmetic takes it as a float.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, TypeAlias

    Value: TypeAlias = Any

EXACT = 1 << 53
"""The largest whole number that a float holds without doubt."""


class JqError(Exception):
    """An error that the program can catch; `value` is what `catch` sees."""

    def __init__(self, value: Value) -> None:
        self.value = value
        super().__init__(value)


class Literal(float):
    """A number that was written in a form which printing must keep: 1.0, 1e1000, 0.10."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, value: float, text: str) -> Self:
        made = super().__new__(cls, value)
        made.text = text
        return made


KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    Literal: "number",
    str: "string",
    list: "array",
    dict: "object",
}


CONTAINERS = (list, dict)


def kind(value: Value) -> str:
    """The name of the value's type."""
    return KINDS[type(value)]


def is_number(value: Value) -> bool:
    """Whether it is a number (true is none)."""
    return isinstance(value, (int, float)) and type(value) is not bool


def to_float(value: Value) -> float:
    """A number as the double that jq computes with."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def number(value: float) -> Value:
    """A computed double as a value: an int when it is whole and exact."""
    if value == value and -EXACT <= value <= EXACT:
        whole = int(value)
        if whole == value and (whole or math.copysign(1.0, value) > 0):
            return whole
    return value
