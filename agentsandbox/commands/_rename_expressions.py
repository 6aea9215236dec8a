"""The Perl that `rename` understands: substitutions, transliterations, and letters made small or large."""

from __future__ import annotations

import re
from functools import reduce

from agentsandbox.regexps import RegexError, compile_perl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.limits import Budget
    from agentsandbox.regexps.matcher import Span

    Match = re.Match[str] | Span
    Change = Callable[[str], str]
    Part = Callable[[Match], str]

__all__ = ["ExpressionError", "compile_expression", "looks_like_perl"]

_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CASES: dict[str, Change] = {
    "lc": str.lower,
    "uc": str.upper,
    "lcfirst": lambda text: text[:1].lower() + text[1:],
    "ucfirst": lambda text: text[:1].upper() + text[1:],
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "e": "\x1b", "a": "\a", "0": "\0"}
_GROUP = r"\$(?:\{(?P<braced>\w+)\}|(?P<number>\d+)|(?P<whole>&)|\+\{(?P<name>\w+)\})"
_STARTS = re.compile(r"\s*(?:\$_\b|(?:s|y|tr)\s*[^\w\s=;]|(?:lc|uc|lcfirst|ucfirst)\b)")
_CALL = re.compile(rf"(lc|uc|lcfirst|ucfirst)\s*\(?\s*({_GROUP})\s*\)?".replace("?P<", "?P<call_"))
_SUM = re.compile(rf"{_GROUP}\s*(?:([-+*])\s*(\d{{1,9}}))?")
_FORMAT = re.compile(r"%(%|[-+ 0]*\d{0,3}(?:\.\d{1,3})?[sdxXo])")


class ExpressionError(Exception):
    """What is wrong with an expression."""


def looks_like_perl(text: str) -> bool:
    """Whether a text begins as an expression does."""
    return _STARTS.match(text) is not None


def compile_expression(text: str, budget: Budget) -> Change:
    """A function from a name to the changed name."""
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
        return ExpressionError(
            "rename: of Perl only s///, tr///, y///, and $_ = lc, uc, lcfirst, ucfirst are understood here: " + self.text
        )

    def _wrong(self, message: str) -> ExpressionError:
        return ExpressionError(f"{message} at line 1, in:\n{self.text}")

    def _statement(self) -> Change:
        made = self._skip(r"\$_\s*=\s*((?:(?:lc|uc)(?:first)?\b[\s(]*)+)(?:\$_)?[\s)]*")
        if made is not None:
            changes = [_CASES[name] for name in reversed(re.findall("[a-z]+", made[1]))]
            return lambda text: reduce(lambda value, change: change(value), changes, text)
        if self._skip(r"(?:lc|uc|lcfirst|ucfirst)\b(?:\s*\(?\s*\$_\s*\)?)?"):  # a value that nobody takes
            return str
        self._skip(r"\$_\s*=~\s*")
        verb = self._skip(r"(s|tr|y)(?=\s*[^\w\s=;])")
        if verb is None:
            raise self._not_understood()
        return self._substitution() if verb[1] == "s" else self._transliteration()

    def _delimited(self, opening: str, what: str) -> str:
        """The text up to the delimiter that belongs to `opening`, which has been read."""
        closing = _PAIRS.get(opening, opening)
        depth, at, text = 1, self.position, self.text
        while at < len(text):
            if text[at] == "\\":
                at += 2
                continue
            if text[at] == closing:
                depth -= 1
                if not depth:
                    found = text[self.position : at]
                    self.position = at + 1
                    return (
                        found
                        if opening in _PAIRS
                        else found.replace(f"\\{closing}", closing if closing not in ".*+?|^$" else f"\\{closing}")
                    )
            elif text[at] == opening and opening in _PAIRS:
                depth += 1
            at += 1
        raise self._wrong(f"{what} not terminated")

    def _two_parts(self, kind: str) -> tuple[str, str]:
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
        return first, self._delimited(opening, f"{kind} replacement")

    def _flags(self) -> str:
        found = self._skip("[a-z]*")
        return found[0] if found is not None else ""

    # s///

    def _substitution(self) -> Change:
        pattern, replacement = self._two_parts("Substitution")
        flags = self._flags()
        if flags.strip("gimsxe"):
            raise ExpressionError(f"flags of s/// are g, i, m, s, x and e here, not {flags}")
        modes = "".join([flag for flag in "msx" if flag in flags])
        try:
            regex = compile_perl(f"(?{modes}){pattern}" if modes else pattern, ignore_case="i" in flags)
        except RegexError as error:
            raise ExpressionError(f"{error.message}: {pattern}") from None
        part = _value_part(replacement) if "e" in flags else _Template(replacement).read()
        budget, every = self.budget, "g" in flags

        def change(name: str) -> str:
            out: list[str] = []
            position = 0
            for match in regex.finditer(name, 0, budget):
                start, end = match.span()
                out += [name[position:start], part(match)]
                position = end
                if not every:
                    break
            changed = "".join([*out, name[position:]])
            budget.charge(len(changed))
            return changed

        return change

    # tr///

    def _transliteration(self) -> Change:
        first, second = self._two_parts("Transliteration")
        flags = self._flags()
        if flags.strip("cds"):
            raise ExpressionError(f"flags of tr/// are c, d and s here, not {flags}")
        try:
            source, target = _characters(first), _characters(second)
        except ExpressionError as error:
            raise self._wrong(str(error)) from None
        delete, squeeze, others = "d" in flags, "s" in flags, "c" in flags
        if not target and not delete:
            target = source
        if others:
            last = target[-1:] if second else ""

            def lookup(character: str) -> str | None:
                return None if character in source else "" if delete and not last else last or character

        else:
            table: dict[str, str] = {}
            for at, character in enumerate(source):
                table.setdefault(character, target[at] if at < len(target) else "" if delete else target[-1])

            def lookup(character: str) -> str | None:
                return table.get(character)

        def change(name: str) -> str:
            out: list[str] = []
            before: str | None = None
            for character in name:
                found = lookup(character)
                if found is None:
                    out.append(character)
                    before = None
                elif found and not (squeeze and found == before):
                    out.append(found)
                    before = found
            return "".join(out)

        return change


def _characters(text: str) -> str:
    """The characters of one side of tr///, ranges and escapes expanded."""
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
                raise ExpressionError(f'Invalid range "{character}-{last}" in transliteration operator')
            found += [chr(code) for code in range(ord(character), min(ord(last), ord(character) + 0xFFFF) + 1)]
        else:
            found.append(character)
    return "".join(found)


def _group_part(found: re.Match[str], prefix: str = "") -> Part:
    """What a group stands for."""
    groups = found.groupdict()
    key: int | str
    name = groups[f"{prefix}name"]
    if name is not None:
        key = name
    elif groups[f"{prefix}whole"] is not None:
        key = 0
    else:
        text = groups[f"{prefix}braced"] or groups[f"{prefix}number"] or ""
        if not text.isdecimal():
            raise ExpressionError(f"there is no variable ${text} here")
        key = int(text[:6])

    def part(match: Match) -> str:
        try:
            return match.group(key) or ""  # type: ignore[arg-type]  # names are not for the automaton's matches
        except (IndexError, KeyError, TypeError):
            return ""

    return part


class _Template:
    """The replacement of a substitution: a text with groups, escapes, and \\U, \\L, \\u, \\l, \\E."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[tuple[str, Part]] = []
        """(how letters are changed, the text)."""

    def read(self) -> Part:
        text, at, case, once = self.text, 0, "", ""
        while at < len(text):
            character = text[at]
            group = re.compile(_GROUP).match(text, at)
            letter = text[at + 1 : at + 2]
            if group is not None:
                part, at = _group_part(group), group.end()
            elif character == "\\" and letter and letter in "ULE":
                case, at = letter.replace("E", ""), at + 2
                continue
            elif character == "\\" and letter and letter in "ul":
                once, at = letter, at + 2
                continue
            elif character == "\\" and letter.isdecimal() and letter != "0":
                part, at = _numbered(int(letter)), at + 2
            elif character == "\\" and letter:
                part, at = _literal(_ESCAPES.get(letter, letter)), at + 2
            elif character in "$@" and re.match(r"[A-Za-z_{]", letter):
                raise ExpressionError(f"variables are not understood in replacements: {text}")
            else:
                part, at = _literal(character), at + 1
            self.pieces.append((case + once, part))
            once = ""
        pieces = self.pieces

        def whole(match: Match) -> str:
            return "".join([_recased(case, part(match)) for case, part in pieces])

        return whole


def _literal(text: str) -> Part:
    return lambda _match: text


def _numbered(number: int) -> Part:
    def part(match: Match) -> str:
        try:
            return match.group(number) or ""
        except IndexError:
            return ""

    return part


def _recased(case: str, text: str) -> str:
    for letter in case:
        text = _CASES[{"U": "uc", "L": "lc", "u": "ucfirst", "l": "lcfirst"}[letter]](text)
    return text


def _value_part(text: str) -> Part:
    """The replacement of s///e: sprintf of groups, a group with a number added, or letters of a group changed."""
    text = text.strip()
    call = _CALL.fullmatch(text)
    if call is not None:
        group, change = _group_part(call, "call_"), _CASES[call[1]]
        return lambda match: change(group(match))
    formatted = re.fullmatch(r"""sprintf\s*\(?\s*(["'])((?:(?!\1).)*)\1\s*((?:,[^,()]+)+)\)?""", text)
    if formatted is not None:
        values = [_sum_part(each.strip()) for each in formatted[3].split(",")[1:]]
        return _sprintf(formatted[2], values)
    return _sum_part(text)


def _sum_part(text: str) -> Part:
    found = _SUM.fullmatch(text)
    if found is None:
        raise ExpressionError(f"only sprintf, lc, uc, lcfirst, ucfirst and sums with groups are understood in s///e: {text}")
    group, sign, number = _group_part(found), found[5], int(found[6] or 0)
    if not sign:
        return group

    def part(match: Match) -> str:
        value = _integer(group(match))
        return str(value + number if sign == "+" else value - number if sign == "-" else value * number)

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
