"""The syntax of directives: `%[FLAGS][WIDTH][.PRECISION]CONVERSION`, and `%(FORMAT)T`."""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.directives import INT_MAX, Directive, Notice, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.formats.directives import Conversion

_DIRECTIVE = lazily(r"%([#'\-+ 0]*)(\*|[0-9]*)(?:(\.)(\*|-?[0-9]*))?([hjlLtz]*)", re.ASCII)


def read_directive(text: str, start: int) -> tuple[Directive | Notice, int]:
    """Return the directive at `start` and its end, which is −1 if an error ends the format."""
    found = _DIRECTIVE.match(text, start)
    assert found is not None
    end = found.end()
    conversion = text[end : end + 1]
    if not conversion:
        return Notice(f"`{text[start:]}': missing format character", fatal=True), -1
    width = Directive.STAR if found[2] == "*" else min(int((found[2] or "0")[:10]), INT_MAX)
    precision = None
    if found[3]:
        digits = found[4]
        precision = (
            Directive.STAR
            if digits == "*"
            else None
            if digits.startswith("-")
            else min(int((digits or "0")[:10]), INT_MAX)
        )
    convert: Conversion = string
    if conversion != "s":
        from agentsandbox.kernel.formats.conversions import CONVERSIONS

        if conversion == "(":
            return _read_time(text, found, width, precision)
        if conversion not in CONVERSIONS or conversion == "T":
            return Notice(f"`{conversion}': invalid format character", fatal=True), -1
        convert = CONVERSIONS[conversion]
    whole = text[start : end + 1]
    return Directive(whole, found[1], width, precision, conversion, convert), end + 1


def _read_time(
    text: str, found: re.Match[str], width: int, precision: int | None
) -> tuple[Directive | Notice, int]:
    from agentsandbox.kernel.formats.conversions import time

    at = found.end() + 1
    depth = 1
    while at < len(text):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            break
        at += 1
    if text[at + 1 : at + 2] != "T":
        shown = text[at + 1 : at + 2]
        message = f"warning: `{shown}': invalid time format specification"
        return Notice(message, fatal=False, text=b"%"), found.start() + 1
    whole, time_format = text[found.start() : at + 2], text[found.end() + 1 : at]
    return Directive(whole, found[1], width, precision, "T", time, time_format), at + 2
