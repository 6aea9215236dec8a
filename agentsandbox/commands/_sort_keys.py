"""What `sort` compares: its key definitions (POS1[,POS2] and ordering letters) and the values that stand for lines.

Lines are bytes without their terminator. A key gives a column of values for a list of lines; values of one key compare
with each other as GNU compares the keys. A key that runs against the sort's direction is inverted.
"""

from __future__ import annotations

import re
from operator import itemgetter

from agentsandbox.commands._quoting import quote
from agentsandbox.commands._versions import version_keys
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    _Extract: TypeAlias = Callable[[Sequence[bytes]], list[bytes]]

__all__ = ["ORDERINGS", "SortKey", "parse_key"]

ORDERINGS = "bdfghiMnRrV"
"""The letters that may follow a position, as in `-k2,2nr`."""

_MAX_FIELD = 2**31
_MONTHS = {name: number for number, name in enumerate(b"JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(), 1)}
_NOT_DICTIONARY = bytes([b for b in range(256) if not (chr(b).isalnum() and b < 128) and b not in b" \t"])
_NOT_PRINTABLE = bytes([b for b in range(256) if not 32 <= b < 127])
_NUMBER = re.compile(rb"[ \t\n]*(-?)([0-9]*)(?:\.([0-9]*))?(.?)", re.DOTALL)
_ONLY_INTEGERS = b"0123456789- \t\n"
_LEADING_INTEGER = re.compile(rb"^[ \t]*+(-?[0-9]{1,18}+)(?![0-9.])", re.MULTILINE)
_LEADING_DECIMAL = re.compile(rb"^[ \t]*+(-?(?:[0-9]{1,9}+(?:\.[0-9]{0,6}+)?+|\.[0-9]{1,6}+))(?![0-9.])", re.MULTILINE)
"""Numbers that a float holds exactly enough to tell any two of them apart."""
_FEW = 64
_LEADING_HUMAN = re.compile(rb"^[ \t]*+(-?[0-9]{1,18}+)(?!\.)([KMGTPEZYk]?)", re.MULTILINE)
_GENERAL = re.compile(
    rb"[ \t\n\v\f\r]*([+-]?)(?:(inf(?:inity)?)|(nan(?:\([a-z0-9_]*\))?)|(0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)"
    rb"|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))",
    re.IGNORECASE,
)
_UNITS = {letter: power for power, letter in enumerate(b"KMGTPEZY", 1)} | {ord("k"): 1}
_HUMAN_ORDERS = {b"": 0} | {bytes([letter]): power for letter, power in _UNITS.items()}


class SortKey:
    """One key. Fields count from 0 here; `end_field` is None for "to the end of the line"."""

    __slots__ = ("end_char", "end_field", "flags", "reverse", "skip_end", "skip_start", "start_char", "start_field")

    def __init__(self) -> None:
        self.start_field = self.start_char = self.end_char = 0
        self.end_field: int | None = None
        self.skip_start = self.skip_end = self.reverse = False
        self.flags: set[str] = set()

    def is_default(self) -> bool:
        """Whether no ordering letter but `r` was given, so that the global ones apply."""
        return not (self.flags or self.skip_start or self.skip_end)

    def set_letter(self, letter: str, *, start: bool, end: bool) -> None:
        """An ordering letter; `b` belongs to the position it follows."""
        if letter == "b":
            self.skip_start = self.skip_start or start
            self.skip_end = self.skip_end or end
        elif letter == "r":
            self.reverse = True
        elif letter == "i" and "d" in self.flags:
            pass
        else:
            if letter == "d":
                self.flags.discard("i")
            self.flags.add(letter)

    def inherit(self, other: SortKey) -> None:
        """Take the global orderings."""
        self.flags = set(other.flags)
        self.skip_start, self.skip_end, self.reverse = other.skip_start, other.skip_end, other.reverse

    def check(self) -> None:
        """Refuse orderings that cannot go together."""
        kinds = sum([letter in self.flags for letter in "nghM"]) + bool(self.flags & set("VRdi"))
        if kinds > 1:
            shown = "".join([letter for letter in "dfghiMnRV" if letter in self.flags])
            raise CommandError(f"options '-{shown}' are incompatible", 2)

    def column(
        self, tab: bytes | None, salt: tuple[bytes, bytes], *, invert: bool, terminator: bytes
    ) -> Callable[[Sequence[bytes]], list[Any]]:
        """A function from lines to values. `salt` is what `-R` puts before and behind each text."""
        extract = _extractor(self, tab)
        if extract is not None and terminator == b"\n":
            extract = _quick_extractor(self, tab, extract)
        convert = _converter(self.flags, salt)
        mirror = _mirror(self.flags, terminator) if invert else None

        def values(lines: Sequence[bytes]) -> list[Any]:
            found = convert(lines if extract is None else extract(lines))
            return found if mirror is None else mirror(found)

        return values


def parse_key(text: str) -> SortKey:
    """The definition after `-k`."""
    key = SortKey()
    rest, key.start_field, key.start_char = _position(text, text, "invalid number at field start", zero_field=False)
    key.start_field -= 1
    if key.start_char or _has_offset(text):
        if not key.start_char:
            raise _bad_spec(text, "character offset is zero")
        key.start_char -= 1
    rest = _letters(rest, key, start=True)
    if rest.startswith(","):
        rest, field, key.end_char = _position(rest[1:], text, "invalid number after ','", zero_field=False)
        key.end_field = field - 1
        rest = _letters(rest, key, start=False)
    if rest:
        raise _bad_spec(text, "stray character in field spec")
    return key


def _has_offset(text: str) -> bool:
    return re.match(r"[0-9]+\.", text) is not None


def _bad_spec(text: str, reason: str) -> CommandError:
    return CommandError(f"{reason}: invalid field specification {quote(text)}", 2)


def _number(text: str, reason: str) -> tuple[str, int]:
    found = re.match("[0-9]+", text)
    if found is None:
        raise CommandError(f"{reason}: invalid count at start of {quote(text)}", 2)
    digits = found[0].lstrip("0") or "0"
    return text[found.end() :], int(digits) if len(digits) < 10 else _MAX_FIELD


def _position(text: str, whole: str, reason: str, *, zero_field: bool) -> tuple[str, int, int]:
    """(rest, field, character) of one "F[.C]"."""
    rest, field = _number(text, reason)
    if not field and not zero_field:
        raise _bad_spec(whole, "field number is zero")
    character = 0
    if rest.startswith("."):
        rest, character = _number(rest[1:], "invalid number after '.'")
    return rest, field, character


def _letters(text: str, key: SortKey, *, start: bool) -> str:
    at = 0
    while at < len(text) and text[at] in ORDERINGS:
        key.set_letter(text[at], start=start, end=not start)
        at += 1
    return text[at:]


# the text of a key


def _skip_fields(count: int, tab: bytes | None) -> bytes:
    """A pattern for `count` fields, or for the whole line when it has fewer; cannot backtrack."""
    if not count:
        return b""
    one = rb"[ \t\n]*+[^ \t\n]++" if tab is None else rb"[^%b]*+%b" % (_escape(tab), _escape(tab))
    return rb"(?>(?:%b){%d}|.*)" % (one, count)


def _escape(tab: bytes) -> bytes:
    return b"\\x%02x" % tab[0]


def _extractor(key: SortKey, tab: bytes | None) -> Callable[[Sequence[bytes]], list[bytes]] | None:
    """A function from lines to the texts of the key; None when that is the whole line."""
    if not (key.start_field or key.start_char or key.end_field is not None or key.skip_start):
        return None
    blanks = rb"[ \t\n]*+" if key.skip_start else b""
    begin = _skip_fields(key.start_field, tab) + blanks
    if key.end_field is None:
        return _captured(begin + rb".{0,%d}+(.*)" % key.start_char if key.start_char else begin + rb"(.*)")
    crosses = tab is not None and key.skip_start  # blanks that are skipped may go on behind the field
    if not (key.start_char or key.end_char or crosses) and key.end_field >= key.start_field and key.start_field < 2**16:
        count = key.end_field - key.start_field
        return _captured(begin + rb"(" + _fields(count, tab) + rb")")
    return _between(key, tab, begin)


def _quick_extractor(key: SortKey, tab: bytes | None, exact: _Extract) -> _Extract:
    """As `exact`, quicker where all lines have the fields of the key, and one space between fields without `-t`.

    A pattern takes at least one newline for each line; where it found as many as there are, it crossed none. It fails
    nowhere, which would take time, when the last line has as many separators as it asks for.
    """
    count = 0 if key.end_field is None else key.end_field - key.start_field
    if key.start_char or key.end_char or count < 0 or key.start_field + count > _FEW or (tab is not None and key.skip_start):
        return exact
    separator = b" " if tab is None else _escape(tab)
    field = b"[^%b]*+" % separator
    begin = (field + separator) * key.start_field
    if tab is None and key.start_field:
        blank = b"" if key.skip_start else b" "
        begin = (field + separator) * (key.start_field - 1) + field + (separator if key.skip_start else b"")
        first = blank + field
    else:
        first = field
    needed = key.start_field + count
    if key.end_field is None:
        patterns = [(needed, re.compile(b"%b(%b[^\n]*+)\n" % (begin, first.removesuffix(field))).findall)]
    else:
        middle = first + (separator + field) * count
        short = middle.removesuffix(field) + b"[^%b\n]*+" % separator
        patterns = [
            (needed + 1, re.compile(b"%b(%b)%b[^\n]*+\n" % (begin, middle, separator)).findall),
            (needed, re.compile(b"%b(%b)[^\n]*+\n" % (begin, short)).findall),
        ]
    between = tab or b" "

    def extract(lines: Sequence[bytes]) -> list[bytes]:
        if len(lines) > _FEW and (have := lines[-1].count(between)) >= needed:
            text = b"\n".join([*lines, b""])
            if tab is not None or not (b"\t" in text or b"  " in text or b"\n " in text or text.startswith(b" ")):
                for least, findall in patterns:
                    if have >= least:
                        found: list[bytes] = findall(text)
                        if len(found) == len(lines):
                            return found
        return exact(lines)

    return extract


def _captured(pattern: bytes) -> Callable[[Sequence[bytes]], list[bytes]]:
    """A function from lines to what the group of a pattern matches: in one go, unless a line holds a newline (-z)."""
    match = re.compile(pattern, re.DOTALL).match
    in_lines = pattern.replace(rb"[ \t\n]", rb"[ \t]").replace(rb"[^", rb"[^\n")
    findall = re.compile(rb"^%b.*$" % in_lines, re.MULTILINE).findall

    def extract(lines: Sequence[bytes]) -> list[bytes]:
        if len(lines) > _FEW:
            found: list[bytes] = findall(b"\n".join(lines))
            if len(found) == len(lines):
                return found
        return [match(line)[1] for line in lines]  # type: ignore[index]

    return extract


def _fields(more: int, tab: bytes | None) -> bytes:
    """A pattern for the rest of a field and `more` fields after it."""
    if tab is None:
        return rb"[ \t\n]*+[^ \t\n]*+(?>(?:[ \t\n]*+[^ \t\n]++){%d}|.*)" % more
    separator = _escape(tab)
    return rb"[^%b]*+(?>(?:%b[^%b]*+){%d}|.*)" % (separator, separator, separator, more)


def _between(key: SortKey, tab: bytes | None, begin: bytes) -> Callable[[Sequence[bytes]], list[bytes]]:
    """Keys with character offsets: begin and end are found separately, as GNU finds them."""
    assert key.end_field is not None
    begin_of = re.compile(begin, re.DOTALL).match
    if key.end_char:
        blanks = rb"[ \t\n]*+" if key.skip_end else b""
        end_of = re.compile(_skip_fields(key.end_field, tab) + blanks, re.DOTALL).match
    else:
        end_of = re.compile(_skip_fields(key.end_field, tab) + _fields(0, tab), re.DOTALL).match
    start_char, end_char = key.start_char, key.end_char

    def extract(lines: Sequence[bytes]) -> list[bytes]:
        return [line[begin_of(line).end() + start_char : end_of(line).end() + end_char] for line in lines]  # type: ignore[union-attr]

    return extract


# the value of a text


def _converter(flags: set[str], salt: tuple[bytes, bytes]) -> Callable[[Sequence[bytes]], list[Any]]:
    """A function from texts to values that compare as the orderings ask."""
    if "n" in flags:
        return _integers
    if "h" in flags:
        return _humans
    if "g" in flags:
        return lambda texts: [_general(text) for text in texts]
    if "M" in flags:
        return lambda texts: [_MONTHS.get(text.lstrip(b" \t")[:3].upper(), 0) for text in texts]
    fold = "f" in flags
    dropped = _NOT_DICTIONARY if "d" in flags else _NOT_PRINTABLE if "i" in flags else b""
    if dropped or fold:
        upper = bytes(range(256)).upper() if fold else None
        simple: Callable[[Sequence[bytes]], list[Any]] = lambda texts: [text.translate(upper, dropped) for text in texts]  # noqa: E731
    else:
        simple = list
    if "R" in flags:
        from hashlib import md5  # chance, not security

        before, after = salt
        return lambda texts: [md5(before + text + after, usedforsecurity=False).digest() for text in simple(texts)]
    if "V" in flags:
        return lambda texts: version_keys(simple(texts))
    return simple


def _integers(texts: Sequence[bytes]) -> list[Any]:
    """Numbers for `-n`. Most columns hold plain integers, which `int` reads in one go."""
    joined = b"\n".join(texts)
    if not joined.translate(None, _ONLY_INTEGERS):
        try:
            return list(map(int, texts))
        except ValueError:  # an empty text, two numbers, too many digits
            pass
    for pattern, convert in ((_LEADING_INTEGER, int), (_LEADING_DECIMAL, float)):
        found = pattern.findall(joined)
        if len(found) == len(texts):  # at most one for each text, so that it is one for each
            return list(map(convert, found))
    return [_value(*_NUMBER.match(text).groups()) for text in texts]  # type: ignore[union-attr]


def _value(sign: bytes, digits: bytes, fraction: bytes | None, _rest: bytes = b"") -> Any:
    """An exact number: an int, a float where it is exact enough to compare, else a Decimal."""
    if not fraction:
        if len(digits) <= 18:
            return (-int(digits) if sign else int(digits)) if digits else 0
    elif len(digits) + len(fraction) <= 15:
        number = float(digits + b"." + fraction)
        return -number if sign else number
    from decimal import Decimal  # exact for any number of digits, and linear

    return Decimal(str(sign + (digits or b"0") + b"." + (fraction or b"0"), "ascii"))


def _humans(texts: Sequence[bytes]) -> list[Any]:
    """Numbers with units for `-h`; most columns hold integers."""
    found = _LEADING_HUMAN.findall(b"\n".join(texts))
    if len(found) != len(texts):
        return [_human(text) for text in texts]
    numbers = list(map(int, map(itemgetter(0), found)))
    orders = [_HUMAN_ORDERS[unit] for _, unit in found]
    if min(numbers, default=1) <= 0:
        orders = [order if number > 0 else -order if number else 0 for number, order in zip(numbers, orders, strict=True)]
    return list(zip(orders, numbers, strict=True))


def _human(text: bytes) -> tuple[int, Any]:
    """`-h`: first by unit, then by number."""
    sign, digits, fraction, rest = _NUMBER.match(text).groups()  # type: ignore[union-attr]
    value = _value(sign, digits, fraction)
    if not value:
        return 0, 0
    order = _UNITS.get(rest[0], 0) if rest else 0
    return (-order if sign else order), value


def _general(text: bytes) -> tuple[int, Any]:
    """`-g`: no number, then NaN, then numbers; as `strtold` reads them."""
    found = _GENERAL.match(text)
    if found is None:
        return 0, 0
    sign, infinity, nan, hexadecimal, decimal = found.groups()
    if nan:
        return 1, 0
    if infinity:
        return 2, float("-inf" if sign else "inf")
    if hexadecimal:
        try:
            number = float.fromhex(str(hexadecimal[:400], "ascii"))
        except (OverflowError, ValueError):
            number = float("inf")
        return 2, -number if sign else number
    return 2, _decimal(sign, decimal)


def _decimal(sign: bytes, text: bytes) -> Any:
    mantissa, _, exponent = text.lower().partition(b"e")
    if len(exponent.lstrip(b"+-0")) > 6:
        zero = not mantissa.strip(b"0.") or exponent.startswith(b"-")
        return 0.0 if zero else float("-inf" if sign else "inf")
    if len(text) <= 15 and not exponent:
        number = float(text)
        return -number if sign else number
    from decimal import Decimal

    return Decimal(str(sign + text, "ascii"))


# against the direction


def _mirror(flags: set[str], terminator: bytes) -> Callable[[list[Any]], list[Any]]:
    """Values in the opposite order."""
    if flags & set("nM"):
        return lambda values: [-value for value in values]
    if "h" in flags or "g" in flags:
        return lambda values: [(-first, -second) for first, second in values]
    if "V" in flags:
        return lambda values: [_Opposite(value) for value in values]
    skipped = terminator[0]
    ranks = [byte - (byte > skipped) for byte in range(256)]
    table = bytes([254 - rank if byte != skipped else 255 for byte, rank in enumerate(ranks)])
    if "R" in flags:
        return lambda values: [value.translate(bytes(range(255, -1, -1))) for value in values]
    return lambda values: [value.translate(table) + b"\xff" for value in values]


class _Opposite:
    """Compares the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Opposite) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Opposite) and bool(self.value == other.value)
