"""The regular expressions of `rg`: what they may hold, and how Perl would write the same."""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError

__all__ = ["LineEndError", "PatternError", "refuse_line_ends", "translate", "with_unicode"]

_MISSING = "repetition operator missing expression"
_UNFINISHED = "incomplete escape sequence, reached end of pattern prematurely"
_PCRE = "\n\nConsider enabling PCRE2 with the --pcre2 flag, which can handle backreferences\nand look-around."
_META = frozenset("\\.+*?()|[]{}^$#&-~")
_LETTERS = frozenset("aftnrvAzbBdDsSwWpPxuU")
_CLASSES = frozenset("dDsSwWpP")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_FLAGS = frozenset("imsUux")
_LAST = 0x10FFFF
_MOST = 2**32 - 1


class PatternError(CommandError):
    """A pattern with marks under what is wrong, as the real one shows it."""

    def __init__(self, pattern: str, message: str, *spans: tuple[int, int]) -> None:
        width = max(end for _, end in spans)
        marks = "".join(["^" if any(start <= at < end for start, end in spans) else " " for at in range(width)])
        super().__init__(f"regex parse error:\n    {pattern}\n    {marks}\nerror: {message}", 2)


class LineEndError(CommandError):
    """A pattern with a character that only the end of a line can be."""

    def __init__(self, character: str) -> None:
        shown = {"\n": "\\n", "\r": "\\r", "\0": "\\0"}[character]
        super().__init__(
            f"the literal '\"{shown}\"' is not allowed in a regex\n\n"
            "Consider enabling multiline mode with the --multiline flag (or -U for short).\n"
            "When multiline mode is enabled, new line characters can be matched.",
            2,
        )


def refuse_line_ends(text: str, ends: str) -> None:
    """LineEndError if the literal text has one of `ends`."""
    for character in text if any(end in text for end in ends) else ():
        if character in ends:
            raise LineEndError(character)


def translate(pattern: str, line_ends: str = "") -> str:
    """The pattern as Perl writes it; PatternError if `rg` would refuse it, LineEndError if it asks for one of `line_ends`."""
    reader = _Reader(pattern)
    translated = reader.read()
    if not reader.verbose:
        refuse_line_ends("".join(reader.literals), line_ends)
    return translated


_WORD = r"\p{Word}"
_WIDE = {
    "w": _WORD, "W": r"\P{Word}", "d": r"\p{Nd}", "D": r"\P{Nd}", "s": r"\p{White_Space}", "S": r"\P{White_Space}",
    "b": rf"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))", "B": rf"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}  # fmt: skip
_BITS = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(?P<letter>.)|\[:\^?[a-z]+:\]|(?P<open>\[\^?\]?)|(?P<close>\])", re.DOTALL)


def with_unicode(pattern: str, *, whole_words: bool) -> str:
    """A pattern of Perl's kind whose classes, and the edges of words, are those of Unicode; it may have to match whole words."""
    inside = False

    def widen(found: re.Match[str]) -> str:
        nonlocal inside
        letter = found["letter"]
        if found["open"] is not None and not inside:
            inside = True
        elif found["close"] is not None:
            inside = False
        elif letter is not None and not (inside and letter in "bB"):
            return _WIDE.get(letter, found[0])
        return found[0]

    wide = _BITS.sub(widen, pattern)
    return f"(?<!{_WORD})(?:{wide})(?!{_WORD})" if whole_words else wide


class _Reader:
    """Reads a pattern from left to right; what it has read is in `out`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.out: list[str] = []
        self.atom = -1
        """Where in `out` begins what a repetition would repeat; -1 if there is nothing."""
        self.repeated = False
        self.groups: list[tuple[int, int]] = []
        """Where each open group begins, in the pattern and in `out`."""
        self.names: dict[str, int] = {}
        self.literals: list[str] = []
        self.verbose = False
        """Whether the flag x is used: then some characters are comments."""

    def read(self) -> str:
        readers = {"\\": self._escape, "[": self._class, "(": self._open, ")": self._close, "|": self._branch}
        while self.position < len(self.pattern):
            character = self.pattern[self.position]
            if character in "*+?{":
                self._repeat(character)
            elif character in readers:
                readers[character]()
            else:
                self.literals.append(character)
                self._add(character, 1)
        if self.groups:
            raise self._error("unclosed group", self.groups[-1][0])
        return "".join(self.out)

    def _error(self, message: str, start: int, end: int | None = None) -> PatternError:
        return PatternError(self.pattern, message, (start, start + 1 if end is None else end))

    def _add(self, text: str, length: int) -> None:
        self.atom = len(self.out)
        self.repeated = False
        self.out.append(text)
        self.position += length

    def _branch(self) -> None:
        self.out.append("|")
        self.atom = -1
        self.position += 1

    # repetitions

    def _repeat(self, character: str) -> None:
        if self.atom < 0:
            raise self._error(_MISSING, self.position)
        start = self.position
        self.position += 1
        text = character if character != "{" else self._count(start)
        if self.pattern.startswith("?", self.position):
            text += "?"
            self.position += 1
        if self.repeated:  # a repetition of a repetition, not a possessive or lazy one
            self.out[self.atom :] = ["(?:", *self.out[self.atom :], ")"]
        self.out.append(text)
        self.repeated = True

    def _count(self, start: int) -> str:
        pattern = self.pattern
        end = pattern.find("}", start)
        digits = re.compile("[0-9]*").match(pattern, start + 1)
        assert digits is not None
        at = digits.end()
        self._check_decimal(digits)
        if not digits[0] and at < len(pattern):
            raise self._error("repetition quantifier expects a valid decimal", at)
        if pattern[at : at + 1] == ",":
            upper = re.compile("[0-9]*").match(pattern, at + 1)
            assert upper is not None
            self._check_decimal(upper)
            at = upper.end()
            if upper[0] and int(upper[0]) < int(digits[0]):
                raise self._error("invalid repetition count range, the start must be <= the end", start, end + 1)
        if pattern[at : at + 1] != "}":
            raise self._error("unclosed counted repetition", start, max(at, start + 1))
        self.position = at + 1
        return pattern[start : at + 1]

    def _check_decimal(self, digits: re.Match[str]) -> None:
        if len(digits[0]) > 10 or int(digits[0] or 0) > _MOST:
            raise self._error("decimal literal invalid", *digits.span())

    # groups

    def _open(self) -> None:
        start = self.position
        rest = self.pattern[start:]
        look = re.match(r"\(\?<?[=!]", rest)
        if look:
            message = f"look-around, including look-ahead and look-behind, is not supported{_PCRE}"
            raise self._error(message, start, start + look.end())
        opening = "("
        if rest.startswith("(?P<"):
            opening = f"(?P<{self._name(start + 4)}>"
            self.position = start + len(opening)
        elif rest.startswith("(?"):
            flags = self._flags(start)
            if flags is None:
                return
            opening = flags
        else:
            self.position += 1
        self.groups.append((start, len(self.out)))
        self.out.append(opening)
        self.atom = -1

    def _name(self, start: int) -> str:
        at = start
        while self.pattern[at : at + 1] not in (">", ""):
            character = self.pattern[at]
            if not (character == "_" or (character.isascii() and character.isalpha()) or (at > start and character in "0123456789.[]")):
                raise self._error("invalid capture group character", at)
            at += 1
        name = self.pattern[start:at]
        if at == len(self.pattern):
            raise self._error("unclosed capture group name", at)
        if not name:
            raise self._error("empty capture group name", at)
        if name in self.names:
            first = self.names[name]
            raise PatternError(self.pattern, "duplicate capture group name", (first, first + len(name)), (start, at))
        self.names[name] = start
        return name

    def _flags(self, start: int) -> str | None:
        """The beginning of a group with flags; None for flags that hold from here on."""
        seen: dict[str, int] = {}
        at = start + 2
        if at >= len(self.pattern):
            raise self._error("unclosed group", start)
        if self.pattern[at] == ")":
            raise self._error(_MISSING, start + 1)
        while self.pattern[at : at + 1] not in (":", ")"):
            character = self.pattern[at : at + 1]
            if not character:
                raise self._error("expected flag but got end of regex", at)
            if character != "-" and character not in _FLAGS:
                raise self._error("unrecognized flag", at)
            if character in seen:
                message = "flag negation operator repeated" if character == "-" else "duplicate flag"
                raise PatternError(self.pattern, message, (seen[character], seen[character] + 1), (at, at + 1))
            seen[character] = at
            at += 1
        if self.pattern[at - 1] == "-":
            raise self._error("dangling flag negation operator", at - 1)
        self.verbose |= "x" in seen
        if "U" in seen:
            raise CommandError("the flag U in patterns is not available here", 2)
        flags = self.pattern[start + 2 : at].replace("u", "").removesuffix("-")
        self.position = at + 1
        if self.pattern[at] == ":":
            return f"(?{flags}:"
        self.out.append(f"(?{flags})" if flags else "")
        self.atom = -1
        return None

    def _close(self) -> None:
        if not self.groups:
            raise self._error("unopened group", self.position)
        _, self.atom = self.groups.pop()
        self.repeated = False
        self.out.append(")")
        self.position += 1

    # escapes

    def _escape(self) -> None:
        start = self.position
        text, end = self._read_escape(start)
        if self.pattern[start + 1] not in _CLASSES:
            self.literals.append(_character_of(text))
        self._add(text, end - start)

    def _read_escape(self, start: int) -> tuple[str, int]:
        """(the escape as Perl has it, where it ends)."""
        letter = self.pattern[start + 1 : start + 2]
        if not letter:
            raise self._error(_UNFINISHED, start)
        if letter.isdecimal() and letter.isascii():
            raise self._error(f"backreferences are not supported{_PCRE}", start, start + 2)
        if letter in _META:
            return "\\" + letter, start + 2
        if letter not in _LETTERS:
            raise self._error("unrecognized escape sequence", start, start + 2)
        if letter in _HEX_DIGITS:
            return self._hexadecimal(start, _HEX_DIGITS[letter])
        if letter in "pP":
            return self._property(start)
        return "\\" + letter, start + 2

    def _hexadecimal(self, start: int, count: int) -> tuple[str, int]:
        pattern, at = self.pattern, start + 2
        if pattern.startswith("{", at):
            end = pattern.find("}", at)
            first, last = at + 1, len(pattern) if end < 0 else end
            stop = last + 1
        else:
            first, last = at, at + count
            stop = last
        digits = pattern[first:last]
        for offset, digit in enumerate(digits):
            if digit not in "0123456789abcdefABCDEF":
                raise self._error("invalid hexadecimal digit", first + offset)
        if last > len(pattern) or stop > len(pattern):
            start = at if pattern.startswith("{", at) else len(pattern)
            raise self._error(_UNFINISHED, start, max(len(pattern), start + 1))
        if not digits:
            raise self._error("hexadecimal literal empty", first - 1, stop)
        number = int(digits[:12], 16)
        if number > _LAST or 0xD800 <= number < 0xE000:
            raise self._error("hexadecimal literal is not a Unicode scalar value", first, last)
        return re.escape(chr(number)), stop

    def _property(self, start: int) -> tuple[str, int]:
        pattern, at = self.pattern, start + 2
        end = pattern.find("}", at) + 1 if pattern.startswith("{", at) else at + 1
        if at >= len(pattern) or end == 0:
            raise self._error(_UNFINISHED, len(pattern))
        if end == at + 1 and pattern[at] not in "CLMNPSZ":
            raise self._error("Unicode property not found", start, end)
        import regex  # it knows the properties

        try:
            regex.compile(pattern[start:end])
        except regex.error:
            raise self._error("Unicode property not found", start, end) from None
        return pattern[start:end], end

    # classes

    def _class(self) -> None:
        pattern, start = self.pattern, self.position
        at = start + 1
        negated = pattern.startswith("^", at)
        at += negated
        items: list[str] = []
        values: set[str | None] = set()
        while True:
            if at >= len(pattern):
                raise self._error("unclosed character class", start, at if items in ([], ["]"], ["\\]"]) else None)
            character = pattern[at]
            if character == "]" and items:
                break
            if pattern[at : at + 2] in ("&&", "--", "~~"):
                raise CommandError("operations on character classes are not available here", 2)
            item, end, literal = self._class_item(at)
            if pattern[end : end + 1] == "-" and pattern[end + 1 : end + 2] not in ("]", "-", ""):
                other, stop, upper = self._class_item(end + 1)
                if literal is None or upper is None:
                    wrong = (at, end) if literal is None else (end + 1, stop)
                    raise self._error("invalid range boundary, must be a literal", *wrong)
                if upper < literal:
                    raise self._error("invalid character class range, the start must be <= the end", at, stop)
                item, end = f"{item}-{other}", stop
                values.add(upper)
            items.append(item)
            values.add(literal)
            at = end
        if len(values) == 1 and not negated:
            self.literals += [value for value in values if value is not None]
        self._add(f"[{'^' if negated else ''}{''.join(items)}]", at + 1 - start)

    def _class_item(self, at: int) -> tuple[str, int, str | None]:
        """(one item of a class, where it ends, the character it stands for if it is one)."""
        pattern = self.pattern
        character = pattern[at]
        if character == "[":
            named = re.compile(r"\[:\^?[a-z]+:\]").match(pattern, at)
            if named is None or not _is_named_class(named[0]):
                raise CommandError("character classes inside one another are not available here", 2)
            return named[0], named.end(), None
        if character != "\\":
            return ("\\" + character if character in "]^-&~" else character), at + 1, character
        letter = pattern[at + 1 : at + 2]
        if letter and letter in "bBAz":
            raise self._error("invalid escape sequence found in character class", at, at + 2)
        text, end = self._read_escape(at)
        if letter in _CLASSES:
            return text, end, None
        return text, end, _character_of(text)


def _character_of(text: str) -> str:
    """What an escape for one character stands for."""
    return _CONTROLS.get(text[-1], text[-1]) if text[0] == "\\" else text[-1]


def _is_named_class(text: str) -> bool:
    name = text[2:-2].removeprefix("^")
    return name in "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split()
