"""The regular expressions of `rg`, translated to Perl's syntax.

The syntax of Rust's `regex` is close to Perl's, but stricter: an escape that means nothing, a
repetition of nothing or an unclosed brace is an error there. `_Reader` checks a pattern from left
to right, words the errors with marks under the place as ripgrep does, and writes the few constructs
that Perl spells otherwise (`\\x{…}`, flags, a repetition of a repetition).
"""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily

_MISSING = "repetition operator missing expression"
_UNFINISHED = "incomplete escape sequence, reached end of pattern prematurely"
_PCRE = (
    "\n\nConsider enabling PCRE2 with the --pcre2 flag, which can handle backreferences\n"
    "and look-around."
)
_LITERAL_ESCAPES = frozenset("\\.+*?()|[]{}^$#&-~")
_ESCAPES = frozenset("aftnrvAzbBdDsSwWpPxuU")
_CLASSES = frozenset("dDsSwWpP")
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_COUNT = lazily(r"\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}")
_GROUP = lazily(
    r"\((?!\?\))(?:\?P<[A-Za-z_][A-Za-z0-9_]*>|\?([imsux]*(?:-[imsux]+)?)([:)])|(?!\?))"
)
_HEXADECIMAL = lazily(
    r"\\(?:[xuU]\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))"
)
_PROPERTY = lazily(r"\\[pP](?:[CLMNPSZ]|\{[^}]+\})")
_NAMED_CLASS = lazily(
    r"\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word"
    r"|xdigit):\]"
)


class PatternError(CommandError):
    """A pattern with marks under the error."""

    def __init__(self, pattern: str, message: str, start: int, end: int) -> None:
        marks = " " * start + "^" * (end - start)
        super().__init__(f"regex parse error:\n    {pattern}\n    {marks}\nerror: {message}", 2)


def refuse_newlines(text: str) -> None:
    """Raise CommandError if the literal text of a pattern has a newline: no line matches it."""
    if "\n" in text:
        raise CommandError(
            "the literal '\"\\n\"' is not allowed in a regex\n\n"
            "Multiline mode is not available here (D-rg).\n"
            "Use grep -zo to find matches over lines.",
            2,
        )


def translate(pattern: str) -> str:
    """Return the pattern in Perl's syntax. Raise CommandError if rg refuses it."""
    reader = _Reader(pattern)
    translated = reader.read()
    if not reader.verbose:
        refuse_newlines("".join(reader.literals))
    return translated


_WORD = r"\p{Word}"
_WIDE = {
    "w": _WORD,
    "W": r"\P{Word}",
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "s": r"\p{White_Space}",
    "S": r"\P{White_Space}",
    "b": rf"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    "B": rf"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_BITS = lazily(
    r"\\Q.*?(?:\\E|\Z)|\\(?P<letter>.)|\[:\^?[a-z]+:\]|(?P<open>\[\^?\]?)|(?P<close>\])", re.DOTALL
)


def with_unicode(pattern: str, *, whole_words: bool) -> str:
    """Return a pattern in Perl's syntax whose classes and word boundaries are those of Unicode."""
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
    """A reader of one pattern; `out` holds its parts in Perl's syntax."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.out: list[str] = []
        self.atom = -1
        """The place in `out` where the atom begins that "*" would repeat; -1 if there is none."""
        self.repeated = False
        self.groups: list[tuple[int, int]] = []
        """Where each open group begins, in the pattern and in `out`."""
        self.literals: list[str] = []
        self.verbose = False
        """Whether the flag x is used: then some characters are comments."""

    def read(self) -> str:
        readers = {"\\": self._escape, "[": self._class, "(": self._open, ")": self._close}
        while self.position < len(self.pattern):
            character = self.pattern[self.position]
            if character in "*+?{":
                self._repeat(character)
            elif character in readers:
                readers[character]()
            elif character == "|":
                self._add("|", 1)
                self.atom = -1
            else:
                self.literals.append(character)
                self._add(character, 1)
        if self.groups:
            raise self._error("unclosed group", self.groups[-1][0])
        return "".join(self.out)

    def _error(self, message: str, start: int, end: int | None = None) -> PatternError:
        return PatternError(self.pattern, message, start, start + 1 if end is None else end)

    def _add(self, text: str, length: int) -> None:
        self.atom = len(self.out)
        self.repeated = False
        self.out.append(text)
        self.position += length

    def _repeat(self, character: str) -> None:
        start = self.position
        if self.atom < 0:
            raise self._error(_MISSING, start)
        text = character
        if character == "{":
            count = _COUNT.match(self.pattern, start)
            if count is None:
                closed = "}" in self.pattern[start:]
                message = (
                    "repetition quantifier expects a valid decimal"
                    if closed
                    else "unclosed counted repetition"
                )
                raise self._error(message, start + closed)
            if count[2] and int(count[2]) < int(count[1]):
                message = "invalid repetition count range, the start must be <= the end"
                raise self._error(message, *count.span())
            text = count[0]
        self.position += len(text)
        if self.pattern.startswith("?", self.position):
            text += "?"
            self.position += 1
        if self.repeated:  # a repetition of a repetition, not a possessive or lazy one
            self.out[self.atom :] = ["(?:", *self.out[self.atom :], ")"]
        self.out.append(text)
        self.repeated = True

    def _open(self) -> None:
        start = self.position
        look = re.compile(r"\(\?<?[=!]").match(self.pattern, start)
        if look:
            message = f"look-around, including look-ahead and look-behind, is not supported{_PCRE}"
            raise self._error(message, *look.span())
        found = _GROUP.match(self.pattern, start)
        if found is None:
            named = self.pattern.startswith("(?P", start)
            message = "invalid capture group character" if named else "unrecognized flag"
            raise self._error(message, start + 2)
        self.position = found.end()
        opening = found[0].replace("u", "") if found[1] else found[0]
        self.verbose |= "x" in (found[1] or "")
        self.atom = -1
        if found[2] != ")":
            self.groups.append((start, len(self.out)))
            self.out.append(opening.replace("-:", ":"))
        elif opening != "(?)":
            self.out.append(opening.replace("-)", ")"))

    def _close(self) -> None:
        if not self.groups:
            raise self._error("unopened group", self.position)
        _, self.atom = self.groups.pop()
        self.repeated = False
        self.out.append(")")
        self.position += 1

    def _escape(self) -> None:
        start = self.position
        text, end = self._read_escape(start)
        if self.pattern[start + 1] not in _CLASSES:
            self.literals.append(_character_of(text))
        self._add(text, end - start)

    def _read_escape(self, start: int) -> tuple[str, int]:
        """Return an escape in Perl's syntax and its end."""
        letter = self.pattern[start + 1 : start + 2]
        if not letter:
            raise self._error(_UNFINISHED, start)
        if letter.isdecimal():
            raise self._error(f"backreferences are not supported{_PCRE}", start, start + 2)
        if letter in "xuU":
            found = _HEXADECIMAL.match(self.pattern, start)
            number = int("".join(filter(None, found.groups()))[:9], 16) if found else -1
            if found is None or number > 0x10FFFF or 0xD800 <= number < 0xE000:
                raise self._error("invalid hexadecimal digit", start, start + 2)
            return re.escape(chr(number)), found.end()
        if letter in "pP":
            return self._property(start)
        if letter not in _LITERAL_ESCAPES and letter not in _ESCAPES:
            raise self._error("unrecognized escape sequence", start, start + 2)
        return "\\" + letter, start + 2

    def _property(self, start: int) -> tuple[str, int]:
        import regex  # it knows the properties

        found = _PROPERTY.match(self.pattern, start)
        try:
            if found is not None:
                regex.compile(found[0])
                return found[0], found.end()
        except regex.error:
            pass
        raise self._error("Unicode property not found", start, found.end() if found else start + 2)

    def _class(self) -> None:
        pattern, start = self.pattern, self.position
        at = start + 1
        negated = pattern.startswith("^", at)
        at += negated
        items: list[str] = []
        values: set[str | None] = set()
        while True:
            if at >= len(pattern):
                raise self._error("unclosed character class", start)
            if pattern[at] == "]" and items:
                break
            if pattern[at : at + 2] in ("&&", "--", "~~"):
                raise CommandError("operations on character classes are not available here", 2)
            item, end, literal = self._class_item(at)
            if pattern[end : end + 1] == "-" and pattern[end + 1 : end + 2] not in ("]", "-", ""):
                other, stop, upper = self._class_item(end + 1)
                if literal is None or upper is None:
                    raise self._error("invalid range boundary, must be a literal", at, stop)
                if upper < literal:
                    message = "invalid character class range, the start must be <= the end"
                    raise self._error(message, at, stop)
                item, end = f"{item}-{other}", stop
                values.add(upper)
            items.append(item)
            values.add(literal)
            at = end
        if len(values) == 1 and not negated:
            self.literals += [value for value in values if value is not None]
        self._add(f"[{'^' if negated else ''}{''.join(items)}]", at + 1 - start)

    def _class_item(self, at: int) -> tuple[str, int, str | None]:
        """Return an item of a class, where it ends, and its character if it is one."""
        pattern = self.pattern
        character = pattern[at]
        if character == "[":
            named = _NAMED_CLASS.match(pattern, at)
            if named is None:
                message = "character classes inside one another are not available here"
                raise CommandError(message, 2)
            return named[0], named.end(), None
        if character != "\\":
            return ("\\" + character if character in "]^-&~" else character), at + 1, character
        letter = pattern[at + 1 : at + 2]
        if letter and letter in "bBAz":
            message = "invalid escape sequence found in character class"
            raise self._error(message, at, at + 2)
        text, end = self._read_escape(at)
        return text, end, None if letter in _CLASSES else _character_of(text)


def _character_of(text: str) -> str:
    """Return the character that an escape means."""
    return _CONTROLS.get(text[-1], text[-1]) if text[0] == "\\" else text[-1]
