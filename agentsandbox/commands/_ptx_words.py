"""The keywords of `ptx`: where they stand, in which sentence, at which reference."""

from __future__ import annotations

import re
from bisect import bisect_left

from agentsandbox.errors import CommandError
from agentsandbox.languages.names import quote
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.limits import Budget
    from agentsandbox.regexps import PosixRegex

__all__ = ["WHITE", "Keyword", "Pattern", "Search", "Sought", "compile_pattern", "run_of", "skip_solid", "skip_white", "skip_white_back"]

WHITE = b" \t\n\v\f\r"
_WHITE = re.compile(rb"[ \t-\r]*")
_SOLID = re.compile(rb"[^ \t-\r]*")
_SENTENCE = re.compile(rb"[.?!][\]\"')}]*(?:$|\t|  )[ \t\n]*", re.MULTILINE)
_LINE = re.compile(rb"\n")
_PATTERNS = {"line": _LINE, "text": _SENTENCE}
_SOURCES = {"line": "\n", "text": "[.?!][]\"')}]*\\($\\|\t\\|  \\)[ \t\n]*"}
"""The patterns as messages show them."""

_FAR = 4096
"""Characters that are cheaper left where they are than copied."""

_CONTEXT_DEPENDENT = re.compile(r"[\^]|\\[<>bB`']")


def skip_white(data: bytes, at: int, end: int) -> int:
    """The first place from `at` on that is no white space, at most `end`."""
    found = _WHITE.match(data, at, end)
    return found.end() if found is not None else at


def skip_solid(data: bytes, at: int, end: int) -> int:
    """The first place from `at` on that is white space, at most `end`."""
    found = _SOLID.match(data, at, end)
    return found.end() if found is not None else at


def skip_white_back(data: bytes, at: int, start: int) -> int:
    """The end of what stands before the white space before `at`, at least `start`."""
    if at > start and data[at - 1] > 32:  # no white space stands there
        return at
    kept = 0
    while at > start and not kept:
        low = max(start, at - _FAR)
        kept = len(data[low:at].rstrip(WHITE))
        at = low + kept
    return at


def run_of(characters: bytes) -> re.Pattern[bytes]:
    """The pattern of a run of these bytes."""
    return re.compile(b"[" + re.escape(characters) + b"]+") if characters else re.compile(b"(?!)")


class Pattern:
    """A regular expression that the user gave, for bytes of text in UTF-8."""

    __slots__ = ("budget", "regex", "sliced")

    def __init__(self, budget: Budget, regex: PosixRegex) -> None:
        self.budget = budget
        self.regex = regex
        self.sliced = _CONTEXT_DEPENDENT.search(regex.pattern_source) is not None
        """Whether what stands before the place where the search begins would matter to it."""


class Sought:
    """One text as a `Pattern` sees it: by characters, with the place of each among the bytes."""

    __slots__ = ("beginning", "offsets", "pattern", "text")

    def __init__(self, data: bytes, pattern: Pattern) -> None:
        self.pattern = pattern
        self.text = decode(data)
        self.beginning = self.text
        """The text up to the last end that was asked for: many searches in a row have the same one."""
        self.offsets: list[int] | None = None
        if len(self.text) != len(data):
            pattern.budget.charge(16 * len(self.text))
            self.offsets = offsets = [0]
            for character in self.text:
                offsets.append(offsets[-1] + (1 if character < "\x80" else len(encode(character))))

    def search(self, start: int, end: int, *, here: bool = False) -> tuple[int, int] | None:
        """The first match between two places, or with `here` the match at the first of them."""
        pattern, offsets, text = self.pattern, self.offsets, self.text
        budget = pattern.budget
        if offsets is not None:
            start, end = bisect_left(offsets, start), bisect_left(offsets, end)
        base = 0
        if not pattern.sliced and end - start > _FAR:
            if len(self.beginning) != end:
                budget.step(end // 1024 + 1)
                self.beginning = text[:end]
            text = self.beginning
        elif pattern.sliced or end < len(text):
            base = start if pattern.sliced else max(0, start - 1)
            budget.step((end - base) // 1024 + 1)
            text = text[base:end]
        look = pattern.regex.match if here else pattern.regex.search
        found = look(text, start - base, budget)
        if found is None:
            return None
        first, last = found.start() + base, found.end() + base
        return (first, last) if offsets is None else (offsets[first], offsets[last])


def compile_pattern(budget: Budget, text: str, *, ignore_case: bool) -> Pattern:
    """The pattern of -S or -W, in the syntax of Emacs."""
    from agentsandbox.regexps import RegexError, compile_posix  # most calls have no pattern

    try:
        return Pattern(budget, compile_posix(text, extended=False, dialect="emacs", newline_anchors=True, ignore_case=ignore_case))
    except RegexError as error:
        raise CommandError(f"{error.message} (for regexp {quote(text)})") from None


class Keyword:
    """One occurrence of a word. `start` … `right` are places in its file; `left` and `right` bound its sentence."""

    __slots__ = ("end", "file", "left", "reference", "right", "start")

    def __init__(self, file: int, start: int, end: int, left: int, right: int, reference: int) -> None:
        self.file = file
        self.start = start
        self.end = end
        self.left = left
        self.right = right
        self.reference = reference


class Search:
    """Goes through the files one after another and collects keywords.

    `run`            what a word is made of, unless `words` says it.
    `sentence`       what ends a sentence: a pattern of the user, "line", "text" or "" for nothing.
    `longest`        bytes of the longest word met, kept or not.
    `width`          bytes of the longest reference that was read.
    `lines`          lines counted so far; `ends` has the count at the end of each file.
    """

    def __init__(self, budget: Budget, run: re.Pattern[bytes], words: Pattern | None, sentence: Pattern | str) -> None:
        self.budget = budget
        self.run = run
        self.words = words
        self.sentence = sentence
        self.ignored: frozenset[bytes] | None = None
        self.only: frozenset[bytes] | None = None
        self.fold = False
        self.auto = False
        self.given = False
        self.keywords: list[Keyword] = []
        self.longest = 0
        self.width = 0
        self.lines = 0
        self.ends: list[int] = []
        self._line_start = self._scanned = self._reference_length = 0

    def read(self, data: bytes, sought: Sought | None) -> None:
        """Collect the keywords of the next file."""
        file = len(self.ends)
        self._line_start = self._scanned = self._reference_length = 0
        end = len(data)
        if self.given:
            self._scanned = skip_solid(data, 0, end)
            self._reference_length = self._scanned
            self._scanned = skip_white(data, self._scanned, end)
        for start, following in self._sentences(data):
            right = skip_white_back(data, following, start)
            left = start
            for first, last in self._words(data, sought, start, right):
                self.longest = max(self.longest, last - first)
                if self.given and not self._pass_lines(data, first, end):
                    continue
                if self._is_unwanted(data[first:last]):
                    continue
                reference = 0
                if self.auto:
                    self._pass_lines(data, first, end)
                    reference = self.lines
                elif self.given:
                    reference = self._line_start
                    self.width = max(self.width, self._reference_length)
                if self.given and self._line_start == left:
                    left = skip_white(data, skip_solid(data, left, right), right)
                self.keywords.append(Keyword(file, first, last, left, right, reference))
        self.lines += 1
        self.ends.append(self.lines)

    def _sentences(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Beginning and end of each sentence, its separator with it."""
        at, end = 0, len(data)
        sentence = self.sentence
        sought = None if isinstance(sentence, str) else Sought(data, sentence)
        pattern = _PATTERNS.get(sentence) if isinstance(sentence, str) else None
        while at < end:
            self.budget.step()
            found: tuple[int, int] | None = None
            if sought is not None:
                found = sought.search(at, end)
            elif pattern is not None and (match := pattern.search(data, at)) is not None:
                found = match.span()
            if found is not None and found[0] == at:
                source = _SOURCES[sentence] if isinstance(sentence, str) else sentence.regex.pattern_source
                raise CommandError(f"error: regular expression has a match of length zero: {quote(source)}")
            following = end if found is None else found[1]
            yield at, following
            at = following

    def _words(self, data: bytes, sought: Sought | None, at: int, end: int) -> Iterator[tuple[int, int]]:
        """Beginning and end of each word of a sentence."""
        budget = self.budget
        if sought is None:
            for match in self.run.finditer(data, at, end):
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                yield match.span()
            return
        while (found := sought.search(at, end)) is not None:
            budget.step()
            at = found[1]
            if found[0] == found[1]:
                at += 1
                if at > end:
                    return
            else:
                yield found

    def _pass_lines(self, data: bytes, word: int, end: int) -> bool:
        """Count the lines up to a word; whether it stands behind the first field of its line."""
        while self._scanned < word:
            newline = data.find(b"\n", self._scanned, word)
            if newline < 0:
                self._scanned = word
                break
            self.budget.step()
            self.lines += 1
            self._line_start = newline + 1
            self._scanned = skip_solid(data, newline + 1, end)
            self._reference_length = self._scanned - self._line_start
        return self._scanned <= word

    def _is_unwanted(self, word: bytes) -> bool:
        if self.fold:
            word = word.upper()
        if self.ignored is not None and word in self.ignored:
            return True
        return self.only is not None and word not in self.only
