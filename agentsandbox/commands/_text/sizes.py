"""Numbers with the suffixes that GNU tools accept ("10K", "5MB"), and their messages."""

from __future__ import annotations

from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily

MAX_SIZE = 2**64 - 1
"""The largest value of `uintmax_t`."""

SUFFIXES = "bkKmMGTPEZY0"
"""What `head`, `tail` and `split` accept; "0" allows the second letter of "KB" and "KiB"."""

_SIZE = lazily(r"([ \t\n\v\f\r]*)(\+?)([0-9]*)([A-Za-z]*)\Z")
_NEGATIVE = lazily(r"[ \t\n\v\f\r]*-([0-9]+)\Z")
_POWERS = {letter: power for power, letter in enumerate("kMGTPEZY", 1)} | {
    "K": 1,
    "m": 2,
    "g": 3,
    "t": 4,
}
_INT_MAX = 2**31 - 1
_TOO_LARGE = "Value too large for defined data type"
_OUT_OF_RANGE = "Numerical result out of range"


def _multiplier(suffix: str, allowed: str) -> int | None:
    """Return the factor of a suffix; None for one that is not allowed."""
    if not suffix:
        return 1
    letter, rest = suffix[0], suffix[1:]
    if letter not in allowed:
        return None
    if letter in "bcw":
        return {"b": 512, "c": 1, "w": 2}[letter] if not rest else None
    power = _POWERS.get(letter)
    if power is None:
        return None
    if not rest:
        return int(1024**power)
    if "0" not in allowed:
        return None
    return int({"B": 1000, "D": 1000, "iB": 1024}.get(rest, 0) ** power) or None


def parse_size(
    text: str,
    what: str,
    *,
    suffixes: str = SUFFIXES,
    low: int = 0,
    high: int = MAX_SIZE,
    status: int = 1,
) -> int:
    """Return the number that `text` names, between `low` and `high`.

    Anything else raises "invalid WHAT: ‘text’".
    """
    if text.isdecimal() and text.isascii() and len(text) <= 40 and low <= int(text) <= high:
        return int(text)
    found = _SIZE.match(text)
    multiplier = _multiplier(found[4], suffixes) if found is not None else None
    wrong = f"invalid {what}: {quote(text)}"
    if found is None or multiplier is None or not (found[3] or (found[4] and not found[2])):
        raise CommandError(wrong, status)
    digits = found[3].lstrip("0") if found[3] else "1"
    value = int(digits or "0") * multiplier if len(digits) <= 40 else MAX_SIZE + 1
    if low <= value <= high:
        return value
    raise CommandError(f"{wrong}: {_TOO_LARGE if value > _INT_MAX // 2 else _OUT_OF_RANGE}", status)


def parse_signed(text: str, what: str, *, low: int, high: int) -> int:
    """Return a number that may be negative, as `parse_number` does."""
    found = _NEGATIVE.match(text)
    if found is None:
        return parse_number(text, what, low=low, high=high)
    value = -int(found[1]) if len(found[1]) < 40 else -MAX_SIZE
    if low <= value:
        return value
    raise CommandError(
        f"invalid {what}: {quote(text)}: {_TOO_LARGE if value < -(2**30) else _OUT_OF_RANGE}", 1
    )


def parse_number(
    text: str, what: str, *, low: int = 0, high: int = MAX_SIZE, status: int = 1
) -> int:
    """Return a number without suffixes, as `parse_size` does."""
    return parse_size(text, what, suffixes="", low=low, high=high, status=status)
