"""The LISTs of `cut` and `numfmt`: ranges of bytes or fields, counted from 1."""

from __future__ import annotations

import re

from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import UsageError
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    Ranges = list[tuple[int, int]]

LAST = 2**62
"""Means "to the end"."""

_TOO_LARGE = 2**64 - 2
_RANGE = lazily(r"([0-9]*+)(-?)([0-9]*+)\Z")


def _wording(fields: bool) -> tuple[str, str, str]:
    """Return the wording of errors (numbered from 1, invalid, too large)."""
    if fields:
        return "fields are numbered from 1", "invalid field value", "field number"
    return (
        "byte/character positions are numbered from 1",
        "invalid byte/character position",
        "byte/character offset",
    )


def _parse_range(text: str, rest: str, fields: bool) -> tuple[int, int]:
    """Return the range that `text` means; `rest` is the list from there on."""
    from_one, invalid, offset = _wording(fields)
    found = _RANGE.match(text)
    if found is None:
        kind = "invalid field range" if fields else "invalid byte or character range"
        if re.match(r"[0-9]*-[0-9]*-", text):
            raise UsageError(kind)
        wrong = re.search("[^0-9-].*", rest, re.DOTALL)
        raise UsageError(f"{invalid} {quote(wrong[0] if wrong else rest)}")
    low_text, dash, high_text = found.groups()
    for digits in (low_text, high_text):
        if len(digits.lstrip("0")) > 20 or (digits and int(digits[-25:]) > _TOO_LARGE):
            raise UsageError(f"{offset} {quote(digits)} is too large")
    if not low_text and not high_text:
        raise UsageError("invalid range with no endpoint: -" if dash else from_one)
    low = int(low_text) if low_text else 1
    high = int(high_text) if high_text else (LAST if dash else low)
    if not low or (high_text and not high and not dash):
        raise UsageError(from_one)
    if high < low:
        raise UsageError("invalid decreasing range")
    return low, high


def parse_ranges(text: str, *, fields: bool, complement: bool, all_of_dash: bool = False) -> Ranges:
    """Return the list as ascending ranges that do not overlap; adjacent ones stay apart."""
    if all_of_dash and text == "-":
        return [(1, LAST)]
    found = sorted(
        [
            _parse_range(part[0], text[part.start() :], fields)
            for part in re.finditer("(?:^|(?<=[, \t]))[^, \t]*", text)
        ]
    )
    merged: Ranges = []
    for low, high in found:
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    if not complement:
        return merged
    others: Ranges = []
    start = 1
    for low, high in merged:
        if start < low:
            others.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        others.append((start, LAST))
    return others
