"""Requests of guests, read without trust.

A guest asks the sandbox for what WASI has no call for: a JSON object whose field `op` says what.
The program in the guest may send any bytes, so each field has a *form*, and a field of another form
is a `ValueError` before any work begins. So the doors that answer need no checks of types, and no
text reaches the filesystem or a command that no script could write: one with a NUL, or with half of
a surrogate pair.
"""

from __future__ import annotations

import json
import os
from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Form = Callable[[Any], Any]

__all__ = ["number", "read_request", "table", "text", "whole", "wholes", "words"]

_LARGEST = 1 << 63


# TM-GUEST-2
def read_request(source: str | bytes, forms: Mapping[str, Form]) -> dict[str, Any]:
    """Return the fields of a request that have a form; one that is null is left out.

    A form is a function that returns the value of a field or raises `ValueError`. That error is
    also raised for anything else than an object with an `op`.
    """
    try:
        found = json.loads(source)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if type(found) is not dict:
        raise ValueError("no object")
    request = {
        name: forms[name](value)
        for name, value in found.items()
        if value is not None and name in forms
    }
    if "op" not in request:
        raise ValueError("no operation")
    return request


def text(value: object) -> str:
    """Return a text without NUL, with bytes that are no UTF-8 as the sandbox writes them."""
    if type(value) is not str or "\0" in value:
        raise ValueError("no text")
    return value if value.isascii() else os.fsdecode(os.fsencode(value))


def words(value: object) -> list[str]:
    """Return a list of texts that is not empty."""
    if type(value) is not list or not value:
        raise ValueError("no list of texts")
    return [text(word) for word in value]


def table(value: object) -> dict[str, str]:
    """Return texts by name."""
    if type(value) is not dict:
        raise ValueError("no table")
    return {text(name): text(content) for name, content in value.items()}


def whole(value: object) -> int:
    """Return a whole number of 64 bits."""
    if type(value) is not int or not -_LARGEST <= value < _LARGEST:
        raise ValueError("no whole number")
    return value


def wholes(value: object) -> list[int]:
    """Return a list of whole numbers."""
    if type(value) is not list:
        raise ValueError("no list of numbers")
    return [whole(each) for each in value]


def number(value: object) -> float:
    """Return a finite number."""
    if type(value) is float and isfinite(value):
        return value
    return whole(value)
