"""What a plain scalar means: its tag, by the rules of YAML 1.2's core types and the dates and bases
of 1.1.
"""

from __future__ import annotations

import re

LONG_PREFIX = "tag:yaml.org,2002:"
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), "!!null"),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), "!!bool"),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), "!!float"),
    **dict.fromkeys(
        (sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")), "!!float"
    ),
}
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_BASED = re.compile(r"[-+]?0(?:[xX][0-9a-fA-F]+|[oO]?[0-7]+|[bB][01]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_DATE = re.compile(
    r"[0-9]{4}-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"|[ ]+([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?)?\Z"
)
_LONGEST = 400
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def short_tag(tag: str) -> str:
    """`tag:yaml.org,2002:str` as `!!str`."""
    return "!!" + tag[len(LONG_PREFIX) :] if tag.startswith(LONG_PREFIX) else tag


def long_tag(tag: str) -> str:
    """`!!str` as `tag:yaml.org,2002:str`."""
    return LONG_PREFIX + tag[2:] if tag.startswith("!!") else tag


def resolve(text: str) -> str:
    """The tag of a scalar without quotes."""
    first = text[:1]
    if first not in "0123456789+-." or not first:
        return _WORDS.get(text, "!!str") if len(text) < 8 else "!!str"
    if len(text) > _LONGEST:
        return "!!str"
    if text in _WORDS:
        return _WORDS[text]
    if first == ".":
        return "!!float" if _FLOAT.match(text) else "!!str"
    if text[4:5] == "-" and _is_date(text):
        return "!!timestamp"
    plain = text.replace("_", "") if "_" in text else text
    if _DECIMAL.match(plain) or _BASED.match(plain):
        if _fits(plain):
            return "!!int"
        if not _DECIMAL.match(plain):
            return "!!str"
    return "!!float" if _FLOAT.match(plain) else "!!str"


def _fits(text: str) -> bool:
    value = integer(text)
    return value is not None and -(1 << 63) <= value < 1 << 64


def _is_date(text: str) -> bool:
    found = _DATE.match(text)
    if found is None:
        return False
    month, day = int(found[1]), int(found[2])
    if not (1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]):
        return False
    if month == 2 and day == 29:
        year = int(text[:4])
        if year % 4 or (year % 100 == 0 and year % 400):
            return False
    hour, minute, second = (int(found[at] or found[at + 3] or 0) for at in (3, 4, 5))
    return hour < 24 and minute < 60 and second < 60


def integer(text: str) -> int | None:
    """The value of an integer as YAML writes it; None if it is none, or longer than any is."""
    plain = text.replace("_", "")
    if len(plain) > _LONGEST or not (_DECIMAL.match(plain) or _BASED.match(plain)):
        return None
    sign = -1 if plain[0] == "-" else 1
    digits = plain.lstrip("+-").lower()
    if digits[:2] == "0x":
        return sign * int(digits, 16)
    if digits[:2] == "0b":
        return sign * int(digits, 0)
    if digits[0] == "0" and len(digits) > 1:
        return sign * int(digits.lstrip("0o") or "0", 8)
    return sign * int(digits)


def number(text: str) -> float | None:
    """The value of a floating-point number; None if it is none."""
    lowered = text.lower()
    if lowered.lstrip("+-") in (".inf", "inf", "+inf", "infinity"):
        return float("-inf") if lowered[0] == "-" else float("inf")
    if lowered in (".nan", "nan"):
        return float("nan")
    if len(text) > _LONGEST or not _FLOAT.match(text):
        return None
    return float(text)
