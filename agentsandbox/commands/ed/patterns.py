"""Regular expressions of `ed`, and substitution in one line."""

from __future__ import annotations

import re

from agentsandbox.commands.ed.errors import EdError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.regexps import RegexError, compile_posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.ed.source import Words
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps import PosixRegex
    from agentsandbox.kernel.regexps.spans import Match

_LEADING = lazily(r"\^|\\[<>bB`]")
_PIECE = lazily(r"\\([1-9])|\\(.)|&|[^\\&]+", re.DOTALL)


def read_pattern(words: Words, delimiter: str) -> str:
    """Read a pattern up to its delimiter or the end of the line, which is left."""
    start = at = words.at
    text = words.text
    while text[at] not in (delimiter, "\n"):
        if text[at] == "[":
            at = _end_of_brackets(text, at + 1)
        elif text[at] == "\\":
            at += 1
            if text[at] == "\n":
                raise EdError("Trailing backslash (\\)")
        at += 1
    words.at = at
    return text[start:at]


def _end_of_brackets(text: str, at: int) -> int:
    """Return the place of the bracket that ends a bracket expression."""
    at += text[at] == "^"
    at += text[at] == "]"
    while text[at] not in "]\n":
        if text[at] == "[" and text[at + 1] in ".:=":
            closing = text.find(f"{text[at + 1]}]", at + 2)
            newline = text.find("\n", at)
            if not 0 <= closing < newline:
                raise EdError("Unbalanced brackets ([])")
            at = closing + 1
        at += 1
    if text[at] == "\n":
        raise EdError("Unbalanced brackets ([])")
    return at


class Patterns:
    """The last pattern, the last one of `s`, and its replacement."""

    def __init__(self, budget: Budget, *, extended: bool, bytewise: bool) -> None:
        self.budget = budget
        self.extended = extended
        self.bytewise = bytewise
        self.last: PosixRegex | None = None
        self.substituted: PosixRegex | None = None
        self.replacement: str | None = None
        self._starts = False
        """Whether it matters to the pattern of `s` where a text begins."""

    def compile(self, source: str, *, ignore_case: bool) -> PosixRegex:
        """Return a pattern, from now on the last one."""
        self.budget.step(20 + len(source))
        try:
            self.last = compile_posix(
                source, extended=self.extended, ignore_case=ignore_case, bytewise=self.bytewise
            )
        except RegexError as error:
            raise EdError(error.message) from None
        return self.last

    def read(self, words: Words) -> PosixRegex:
        """Read `/pattern/`, its suffix I, or `//` for the last pattern."""
        delimiter = words.take()
        if delimiter in " \n":
            raise EdError("Invalid pattern delimiter")
        if words.next in (delimiter, "\n"):
            if self.last is None:
                raise EdError("No previous pattern")
            if words.skip(delimiter) and words.next == "I":
                raise EdError("Suffix 'I' not allowed on empty regexp")
            return self.last
        source = read_pattern(words, delimiter)
        ignore_case = words.skip(delimiter) and words.skip("I")
        return self.compile(source, ignore_case=ignore_case)

    def choose(self, source: str, *, ignore_case: bool) -> None:
        """Make a pattern that of `s`; "" is the last one."""
        if not source and ignore_case:
            raise EdError("Suffix 'I' not allowed on empty regexp")
        regex = self.compile(source, ignore_case=ignore_case) if source else self.last
        self.substituted = regex
        self._starts = not source or _LEADING.search(source) is not None

    def repeat_last(self) -> None:
        """Make the last pattern that of `s`."""
        if self.last is None:
            raise EdError("No previous pattern")
        self.substituted = self.last
        self._starts = True

    def substitute(self, text: str, which: int) -> str | None:
        """Replace match number `which`, or all for 0; None if that changes nothing."""
        regex = self.substituted
        assert regex is not None
        pieces: list[str] = []
        at = count = size = 0
        stuck = False
        while True:
            self.budget.step(1 + len(text) // 4096)
            found, offset = self._next(regex, text, at, first=not count)
            if found is None:
                break
            left, right = found.start() + offset, found.end() + offset
            count += 1
            if not which or count == which:
                pieces += [text[at:left], self._expand(found)]
                size += left - at + len(pieces[-1])
                self.budget.charge(size)
            else:
                pieces.append(text[at:right])
            if not which and right == at:
                if stuck:
                    raise EdError("Infinite substitution loop")
                stuck = True
            at = right
            if count == which or at >= len(text):
                break
        changed = count >= which if which else count > 0
        return "".join(pieces) + text[at:] if changed else None

    def _next(
        self, regex: PosixRegex, text: str, at: int, *, first: bool
    ) -> tuple[Match | None, int]:
        """Return the next match, and what to add to its places.

        Behind the first one a text goes on, so nothing but a word begins there.
        """
        if first or not self._starts:
            return regex.search(text, at, self.budget), 0
        self.budget.charge(len(text) - at)
        return regex.search(f"\n{text[at:]}", 1, self.budget), at - 1

    def _expand(self, found: Match) -> str:
        groups = len(found.groups())
        parts: list[str] = []
        for piece in _PIECE.finditer(self.replacement or ""):
            if piece[1] and int(piece[1]) <= groups:
                parts.append(found.group(int(piece[1])) or "")
            elif piece[1] or piece[2]:
                parts.append(piece[1] or piece[2])
            else:
                parts.append(found.group(0) if piece[0] == "&" else piece[0])
        return "".join(parts)
