"""The words of dates: numbers, months, units and zones as GNU's `date -d` tells them apart."""

from __future__ import annotations

import re

from agentsandbox.kernel.formats.strftime import MONTHS, NANO, WEEKDAYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

HOUR = 3600


class DateError(ValueError):
    """The text is no date."""


NUMBER, SIGNED, DECIMAL, SIGNED_DECIMAL = "number", "signed", "decimal", "signed decimal"
MONTH, WEEKDAY, MERIDIAN, UNIT, ORDINAL, SHIFT, AGO = (
    "month",
    "weekday",
    "meridian",
    "unit",
    "ordinal",
    "shift",
    "ago",
)
ZONE, DAYLIGHT_ZONE, LOCAL_ZONE, DST = "zone", "daylight zone", "local zone", "dst"
CHARACTER, WRONG, END = "character", "wrong", "end"

_UNITS = {
    "YEAR": ("year", 1),
    "MONTH": ("month", 1),
    "FORTNIGHT": ("day", 14),
    "WEEK": ("day", 7),
    "DAY": ("day", 1),
    "HOUR": ("hour", 1),
    "MINUTE": ("minute", 1),
    "MIN": ("minute", 1),
    "SECOND": ("second", 1),
    "SEC": ("second", 1),
}
_ORDINAL_WORDS = "FIRST - THIRD FOURTH FIFTH SIXTH SEVENTH EIGHTH NINTH TENTH ELEVENTH TWELFTH"
_ORDINALS = {
    "LAST": -1,
    "THIS": 0,
    "NEXT": 1,
    **{name: number for number, name in enumerate(_ORDINAL_WORDS.split(), 1) if name != "-"},
}
_SHIFTS = {"TOMORROW": 1, "YESTERDAY": -1, "TODAY": 0, "NOW": 0}
_MERIDIANS = {"AM": 0, "A.M.": 0, "PM": 12, "P.M.": 12}
_MILITARY = {letter: hours for hours, letter in enumerate("ABCDEFGHIKLM", 1)}
_MILITARY.update({letter: -hours for hours, letter in enumerate("NOPQRSTUVWXY", 1)})
_MILITARY["Z"] = 0
_ZONES = {
    name: hours * HOUR
    for text, hours in (
        ("GMT UT UTC WET", 0.0), ("ART BRT", -3.0), ("NST", -3.5), ("AST CLT", -4.0), ("EST", -5.0), ("CST", -6.0), ("MST", -7.0),
        ("PST", -8.0), ("AKST", -9.0), ("HST HAST", -10.0), ("SST", -11.0), ("WAT CET MET MEZ", 1.0), ("EET CAT SAST", 2.0),
        ("EAT MSK", 3.0), ("IST", 5.5), ("SGT", 8.0), ("KST JST", 9.0), ("GST", 10.0), ("NZST", 12.0),
    )
    for name in text.split()
}  # fmt: skip
_DAYLIGHT_ZONES = {
    "WEST": 0.0, "BST": 0.0, "BRST": -3.0, "NDT": -3.5, "ADT": -4.0, "CLST": -4.0, "EDT": -5.0, "CDT": -6.0, "MDT": -7.0, "PDT": -8.0,
    "AKDT": -9.0, "HADT": -10.0, "CEST": 1.0, "MEST": 1.0, "MESZ": 1.0, "EEST": 2.0, "MSD": 3.0, "NZDT": 12.0,
}  # fmt: skip
_MONTH_NAMES = {name.upper(): number for number, name in enumerate(MONTHS, 1)} | {"SEPT": 9}
_WEEKDAY_NAMES = {name.upper(): number for number, name in enumerate(WEEKDAYS)} | {
    "TUES": 2,
    "WEDNES": 3,
    "THUR": 4,
    "THURS": 4,
}
_THREE = {name[:3]: (MONTH, number) for name, number in _MONTH_NAMES.items()} | {
    name[:3]: (WEEKDAY, number) for name, number in _WEEKDAY_NAMES.items()
}

_MOST = 2**63
_SPACE = " \t\n\v\f\r"
_SPACES = tuple(_SPACE)
_DIGITS = re.compile(r"[0-9]+")
_FRACTION = re.compile(r"[.,]([0-9]+)")
_WORD = re.compile(r"[A-Za-z][A-Za-z.]*")


class Token:
    """`value` is a number, or (unit, count) for a unit; `digits` how many digits it was written
    with.
    """

    __slots__ = ("digits", "kind", "nanosecond", "negative", "unit", "value")

    def __init__(
        self,
        kind: str,
        value: int = 0,
        *,
        digits: int = 0,
        negative: bool = False,
        nanosecond: int = 0,
        unit: str = "",
    ) -> None:
        self.kind = kind
        self.value = value
        self.digits = digits
        self.negative = negative
        self.nanosecond = nanosecond
        self.unit = unit


class Lexer:
    """Hands out the tokens of a date, one at a time; `local_names` are the abbreviations of the
    zone in force.

    `at` is where the next one is looked for. What is no token is one of the kind `WRONG`.
    """

    def __init__(self, text: str, local_names: Callable[[], dict[str, bool | None]]) -> None:
        self.text = text
        self.local_names = local_names
        self.at = 0

    def token(self) -> Token:
        """The next token; `END` behind the last."""
        text = self.text
        while self.at < len(text):
            character = text[self.at]
            if character in _SPACE:
                self.at += 1
            elif character in "+-0123456789":
                token = self._number()
                if token is not None:
                    return token
            elif character.isascii() and character.isalpha():
                word = _WORD.match(text, self.at)
                assert word is not None
                self.at = word.end()
                return self._word(word[0][:19].upper())
            elif character == "(":
                self.at = self._comment(self.at)
            else:
                self.at += 1
                return Token(CHARACTER, unit=character)
        return Token(END)

    def _comment(self, at: int) -> int:
        depth = 0
        while at < len(self.text):
            depth += (self.text[at] == "(") - (self.text[at] == ")")
            at += 1
            if not depth:
                return at
        return at

    def _number(self) -> Token | None:
        """None for a sign that no number follows."""
        text, at = self.text, self.at
        sign = 0
        if text[at] in "+-":
            sign = -1 if text[at] == "-" else 1
            at += 1
            while text[at : at + 1] in _SPACES:
                at += 1
            self.at = at
        digits = _DIGITS.match(text, at)
        if digits is None:
            return None
        value = int(digits[0].lstrip("0")[:20] or "0") * (sign or 1)
        if not -_MOST <= value < _MOST:
            return Token(WRONG)
        self.at = digits.end()
        fraction = _FRACTION.match(text, self.at)
        if fraction is None:
            return Token(
                SIGNED if sign else NUMBER, value, digits=len(digits[0]), negative=sign < 0
            )
        self.at = fraction.end()
        nanosecond = int(fraction[1][:9].ljust(9, "0"))
        if sign < 0 and (nanosecond or fraction[1][9:].strip("0")):
            nanosecond += bool(fraction[1][9:].strip("0"))
            value, nanosecond = (value - 1, NANO - nanosecond) if nanosecond else (value, 0)
            value, nanosecond = value + nanosecond // NANO, nanosecond % NANO
        return Token(SIGNED_DECIMAL if sign else DECIMAL, value, nanosecond=nanosecond)

    def _word(self, word: str) -> Token:
        if word in _MERIDIANS:
            return Token(MERIDIAN, _MERIDIANS[word])
        if len(word) == 3 or (len(word) == 4 and word[3] == "."):
            named = _THREE.get(word[:3])
            if named is not None:
                return Token(*named)
        if word in _MONTH_NAMES:
            return Token(MONTH, _MONTH_NAMES[word])
        if word in _WEEKDAY_NAMES:
            return Token(WEEKDAY, _WEEKDAY_NAMES[word])
        return self._zone(word) or self._relative(word) or self._letter(word)

    def _zone(self, word: str) -> Token | None:
        if word in ("GMT", "UT", "UTC"):
            return Token(ZONE, 0)
        local = self.local_names()
        if word in local:
            daylight = local[word]
            return Token(LOCAL_ZONE, -1 if daylight is None else int(daylight))
        if word in _ZONES:
            return Token(ZONE, round(_ZONES[word]))
        if word in _DAYLIGHT_ZONES:
            return Token(DAYLIGHT_ZONE, round(_DAYLIGHT_ZONES[word] * HOUR))
        return Token(DST) if word == "DST" else None

    def _relative(self, word: str) -> Token | None:
        for name in (word, word[:-1] if word.endswith("S") else ""):
            if name in _UNITS:
                unit, count = _UNITS[name]
                return Token(UNIT, count, unit=unit)
        if word in _ORDINALS:
            return Token(ORDINAL, _ORDINALS[word])
        if word in _SHIFTS:
            return Token(SHIFT, _SHIFTS[word])
        if word in ("AGO", "HENCE"):
            return Token(AGO, -1 if word == "AGO" else 1)
        return None

    def _letter(self, word: str) -> Token:
        if word == "T":
            return Token(CHARACTER, unit="T")
        if word in _MILITARY:
            return Token(ZONE, _MILITARY[word] * HOUR)
        bare = word.replace(".", "")
        zone = self._zone(bare) if bare != word else None
        if zone is None:
            return Token(WRONG)
        return zone
