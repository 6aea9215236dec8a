"""The Perl that `rename` understands: substitutions, transliterations, and a change of case.

An expression is a list of statements between semicolons; each is read into a function from a
name to the changed name.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.regexps import RegexError
from agentsandbox.kernel.regexps.perl import compile_perl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.spans import Span

    Match = re.Match[str] | Span
    Change = Callable[[str], str]
    Part = Callable[[Match], str]

_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CASES: dict[str, Change] = {
    "lc": str.lower,
    "uc": str.upper,
    "lcfirst": lambda text: text[:1].lower() + text[1:],
    "ucfirst": lambda text: text[:1].upper() + text[1:],
}
_CASE_ESCAPES = {"U": "uc", "L": "lc", "u": "ucfirst", "l": "lcfirst"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "e": "\x1b", "a": "\a", "0": "\0"}
_CASE_NAMES = "(?:lcfirst|ucfirst|lc|uc)"
_STARTS = re.compile(rf"\s*(?:\$_\b|(?:s|y|tr)\s*[^\w\s=;]|{_CASE_NAMES}\b)")
_GROUP = re.compile(r"[$\\](\d+)|\$\{(\d+)\}|\$(&)|\$\+\{(\w+)\}")
_VALUE = re.compile(
    rf"(?:({_CASE_NAMES})\b)?[\s(]*+({_GROUP.pattern})[\s)]*+(?:([-+*])\s*+(\d{{1,9}}))?\s*+"
)
_SPRINTF = re.compile(r"""sprintf\s*+(?:\(\s*+)?(["'])((?:(?!\1).)*+)\1\s*+((?:,[^,()]++)++)\)?""")
_FORMAT = re.compile(r"%(%|[-+ 0]*\d{0,3}(?:\.\d{1,3})?[sdxXo])")


class ExpressionError(Exception):
    """An expression is wrong or not understood; the text says why."""


def looks_like_perl(text: str) -> bool:
    """Whether a text begins as an expression does."""
    return _STARTS.match(text) is not None


def compile_expression(text: str, budget: Budget) -> Change:
    """Return a function from a name to the changed name."""
    changes = _Reader(text, budget).read()

    def change(name: str) -> str:
        for each in changes:
            name = each(name)
        return name

    return change


class _Reader:
    """Reads statements separated by semicolons."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.budget = budget
        self.position = 0

    def read(self) -> list[Change]:
        """Return the change that each statement makes."""
        changes: list[Change] = []
        while True:
            self._skip(r"[\s;]*")
            if self.position >= len(self.text):
                return changes
            changes.append(self._statement())
            if not self._skip(r"\s*(?:;|\Z)"):
                raise self._not_understood()

    def _skip(self, pattern: str) -> re.Match[str] | None:
        found = re.compile(pattern).match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def _not_understood(self) -> ExpressionError:
        known = (
            "of Perl only s///, tr///, y///, and $_ = lc, uc, lcfirst, ucfirst are understood here"
        )
        return ExpressionError(f"rename: {known}: {self.text}")

    def _wrong(self, message: str) -> ExpressionError:
        return ExpressionError(f"{message} at line 1, in:\n{self.text}")

    def _statement(self) -> Change:
        made = self._skip(
            rf"\$_\s*=\s*({_CASE_NAMES})\b[\s(]*({_CASE_NAMES}\b)?[\s(]*(?:\$_)?[\s)]*"
        )
        if made is not None:
            outer, inner = _CASES[made[1]], _CASES.get(made[2], str)
            return lambda text: outer(inner(text))
        self._skip(r"\$_\s*=~\s*")
        verb = self._skip(r"(s|tr|y)(?=\s*[^\w\s=;])")
        if verb is None:
            raise self._not_understood()
        return self._substitution() if verb[1] == "s" else self._transliteration()

    def _delimited(self, opening: str, what: str) -> str:
        """Return the text up to the delimiter that belongs to `opening`, which has been read."""
        closing = _PAIRS.get(opening, opening)
        depth, at, text = 1, self.position, self.text
        while at < len(text):
            if text[at] == "\\":
                at += 1
            elif text[at] == closing:
                depth -= 1
                if not depth:
                    found = text[self.position : at]
                    self.position = at + 1
                    if opening in _PAIRS or closing in ".*+?|^$":
                        return found
                    return found.replace(f"\\{closing}", closing)
            elif text[at] == opening:
                depth += 1
            at += 1
        raise self._wrong(f"{what} not terminated")

    def _parts(self, kind: str, known_flags: str) -> tuple[str, str, str]:
        """Return (pattern, replacement, flags)."""
        self._skip(r"\s*")
        opening = self.text[self.position]
        self.position += 1
        first = self._delimited(opening, f"{kind} pattern")
        if opening in _PAIRS:
            self._skip(r"\s*")
            opening = self.text[self.position : self.position + 1]
            if not opening:
                raise self._wrong(f"{kind} replacement not terminated")
            self.position += 1
        second = self._delimited(opening, f"{kind} replacement")
        found = self._skip("[a-z]*")
        flags = found[0] if found is not None else ""
        if flags.strip(known_flags):
            raise ExpressionError(f"flags are {', '.join(known_flags)} here, not {flags}")
        return first, second, flags

    def _substitution(self) -> Change:
        pattern, replacement, flags = self._parts("Substitution", "gimsxe")
        modes = "".join([flag for flag in "msx" if flag in flags])
        try:
            regex = compile_perl(
                f"(?{modes}){pattern}" if modes else pattern, ignore_case="i" in flags
            )
        except RegexError as error:
            raise ExpressionError(f"{error.message}: {pattern}") from None
        part = _value(replacement) if "e" in flags else _template(replacement)

        def change(name: str) -> str:
            out: list[str] = []
            position = 0
            for match in regex.finditer(name, 0, self.budget):
                start, end = match.span()
                out += [name[position:start], part(match)]
                position = end
                if "g" not in flags:
                    break
            changed = "".join([*out, name[position:]])
            self.budget.charge(len(changed))
            return changed

        return change

    def _transliteration(self) -> Change:
        first, second, flags = self._parts("Transliteration", "cds")
        try:
            source, target = _characters(first), _characters(second)
        except ExpressionError as error:
            raise self._wrong(str(error)) from None
        delete = "d" in flags
        last = target[-1:]
        target = target or ("" if delete else source)
        table: dict[str, str] = {}
        for at, character in enumerate(source):
            new = target[at] if at < len(target) else "" if delete else last
            table.setdefault(character, new)

        def change(name: str) -> str:
            out: list[str] = []
            before = None
            for character in name:
                if "c" in flags:
                    new = None if character in table else "" if delete else last or character
                else:
                    new = table.get(character)
                if new is None:
                    out.append(character)
                elif not (new == before and "s" in flags):
                    out.append(new)
                before = new
            return "".join(out)

        return change


def _characters(text: str) -> str:
    """Return the characters of one side of tr///, ranges and escapes expanded."""
    found: list[str] = []
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character == "\\" and at < len(text):
            character = _ESCAPES.get(text[at], text[at])
            at += 1
        if text[at : at + 1] == "-" and at + 1 < len(text):
            last = text[at + 1]
            at += 2
            if last < character:
                wrong = f'Invalid range "{character}-{last}"'
                raise ExpressionError(f"{wrong} in transliteration operator")
            found += map(chr, range(ord(character), ord(last) + 1))
        else:
            found.append(character)
    return "".join(found)


def _group(found: re.Match[str], first: int = 1) -> Part:
    """Return the function from a match to the text of a group; its groups begin at `first`."""
    number, braced, whole, name = found.groups()[first - 1 : first + 3]
    key: int | str = name or (0 if whole else int((number or braced)[:6]))

    def part(match: Match) -> str:
        try:
            return match.group(key) or ""  # type: ignore[arg-type]
        except (IndexError, KeyError, TypeError):  # the automaton's matches have no names
            return ""

    return part


def _template(text: str) -> Part:
    r"""Return what a replacement makes: groups, escapes, and \U, \L, \u, \l, \E."""
    pieces: list[tuple[list[str], Part | str]] = []
    at, case, once = 0, "", ""
    while at < len(text):
        letter = text[at + 1 : at + 2]
        found = _GROUP.match(text, at)
        piece: Part | str
        if found is not None and found[0] != "\\0":
            piece, at = _group(found), found.end()
        elif text[at] == "\\" and letter and letter in "ULE":
            case, at = letter.replace("E", ""), at + 2
            continue
        elif text[at] == "\\" and letter and letter in "ul":
            once, at = letter, at + 2
            continue
        elif text[at] == "\\" and letter:
            piece, at = _ESCAPES.get(letter, letter), at + 2
        elif text[at] in "$@" and re.match(r"[A-Za-z_{]", letter):
            raise ExpressionError(f"variables are not understood in replacements: {text}")
        else:
            piece, at = text[at], at + 1
        pieces.append(([_CASE_ESCAPES[each] for each in case + once], piece))
        once = ""

    def whole(match: Match) -> str:
        out = []
        for cases, piece in pieces:
            value = piece if isinstance(piece, str) else piece(match)
            for name in cases:
                value = _CASES[name](value)
            out.append(value)
        return "".join(out)

    return whole


def _value(text: str) -> Part:
    """Return what s///e makes: sprintf of groups, a group with a number added, its case changed."""
    formatted = _SPRINTF.fullmatch(text.strip())
    if formatted is not None:
        values = [_value(each) for each in formatted[3].split(",")[1:]]
        return _sprintf(formatted[2], values)
    found = _VALUE.fullmatch(text.strip())
    if found is None:
        known = "sprintf, lc, uc, lcfirst, ucfirst and sums with groups"
        raise ExpressionError(f"only {known} are understood in s///e: {text}")
    group, change = _group(found, 3), _CASES.get(found[1], str)
    sign, number = found[7], int(found[8] or 0)

    def part(match: Match) -> str:
        if not sign:
            return change(group(match))
        value = _integer(group(match))
        return str(
            value + number if sign == "+" else value - number if sign == "-" else value * number
        )

    return part


def _integer(text: str) -> int:
    found = re.match(r"\s*[-+]?\d{1,18}", text)
    return int(found[0]) if found else 0


def _sprintf(format: str, values: list[Part]) -> Part:
    if len([each for each in _FORMAT.finditer(format) if each[0] != "%%"]) != len(values):
        raise ExpressionError(f"sprintf has {len(values)} values for {format}")

    def part(match: Match) -> str:
        rest = iter(values)

        def one(found: re.Match[str]) -> str:
            if found[0] == "%%":
                return "%"
            text = next(rest)(match)
            return found[0] % (text if found[0].endswith("s") else _integer(text))

        return _FORMAT.sub(one, format)

    return part
