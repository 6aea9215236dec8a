"""Words: quoting, and everything that begins with `$`, "`", `<(` or `>(`.

A shell has no tokens that a table could describe. What a quote, a backslash or a brace means
depends on what is around it: in "${x-'}'}" the single quotes are text, but the brace in them closes
nothing. So words are not cut out first and looked into later. They are scanned once, character by
character, and each construct scans what is inside it in its own *context* (`contexts`).

`scan(mode, stop)` is the heart. It reads parts from the cursor up to one of the characters of
`stop`, and leaves that one unread:

    a "b $c"d    WORD:   Literal(a)
                 WORD:   DoubleQuoted(...), Literal(d)
                 QUOTED:   Quoted("b "), Parameter(c)

* Most of a text means nothing, so each context has a regular expression for a run of plain
  characters; only what stops the run is looked at.
* Plain text is collected in `pending` and becomes one part when another part begins.
* Most words reach `scan` once in the life of the process: a word without commands and nested
  quotes reads the same wherever it stands, so it is kept by its text (`known_word`).
* What begins with `$` is read by `expansions`. The commands in $(…) are read by the parser, which
  calls the scanner for their words; so nesting is recursion, bounded by `Lexer.enter`.

Bash reports some errors only when a word is expanded: a bad ${…}, a here-document with an expansion
that does not end. These become parts that fail (`Parameter` with the operator "bad", `Unreadable`)
instead of syntax errors.
"""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.contexts import (
    ARITHMETIC,
    BRACE,
    BRACE_H,
    BRACE_Q,
    ESCAPABLE,
    HERE,
    INNER,
    QUOTED,
    SUBSCRIPT,
    WORD,
)
from agentsandbox.shell.syntax.lexer import Lexer
from agentsandbox.shell.syntax.nodes import (
    Command,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    Quoted,
    Word,
)
from agentsandbox.shell.syntax.plain_commands import LONGEST_KNOWN, PLAIN, bare_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from types import ModuleType

_STOPS = {
    WORD: " \t\n|&;()<>$`\\\"'?*+@!",
    QUOTED: '$`\\"',
    BRACE: "$`\\\"'}/:<>",
    BRACE_Q: "$`\\\"'}/:",
    BRACE_H: "$`\\\"'}/:",
    HERE: "$`\\",
    SUBSCRIPT: "$`\\\"'[]",
    ARITHMETIC: '$`\\"',
    INNER: '$`\\"',
}
"""The characters that may mean something in a mode."""


class _FirstRun:
    """Matches what the expression of a mode in `_RUN` does, in a text that is read without."""

    __slots__ = ("stops",)

    def __init__(self, stops: str) -> None:
        self.stops = frozenset(stops)

    def match(self, text: str, start: int, limit: int) -> _Run | None:
        """Return the text from `start` up to a stop; None at one."""
        stops, end = self.stops, start
        limit = min(limit, len(text))
        while end < limit and text[end] not in stops:
            end += 1
        return _Run(text[start:end], end) if end > start else None


class _Run:
    """A match of `_FirstRun`: its text is `match[0]`."""

    __slots__ = ("_end", "_text")

    def __init__(self, text: str, end: int) -> None:
        self._text = text
        self._end = end

    def __getitem__(self, group: int) -> str:
        return self._text

    def end(self) -> int:
        """Return where it ends."""
        return self._end


def _runs(stops: str) -> re.Pattern[str]:
    return lazily(f"[^{stops.replace(_BACKSLASH, _BACKSLASH * 2).replace(']', _BACKSLASH + ']')}]+")


_BACKSLASH = "\\"
_RUN = {mode: _runs(stops) for mode, stops in _STOPS.items()}
_FIRST_RUN = {mode: _FirstRun(stops) for mode, stops in _STOPS.items()}
_BARE_TEXT = r"[^\0- \"$&'();<>\\`|\x7f]++"
_EXPANSION = (
    r"\$(?:[A-Za-z_][A-Za-z0-9_]*+|[0-9@#?*!$-]|\{[^\0- \"'`$\\{}()<>|&;\x7f]++\}"
    r"""|\(\([^\n"'`\\()]*+\)\))"""
)
_QUOTED = rf"""'[^'\n]*+'|"(?:[^"\\`$\n]++|{_EXPANSION})*+\""""
BARE_WORD = rf"(?!#){_BARE_TEXT}"
"""A word without quotes or expansions, if what follows ends it."""
KNOWN_WORD = rf"(?!#)(?:{_BARE_TEXT}|{_QUOTED}|{_EXPANSION})++"
"""A word of one line that reads the same in every place: texts, quotes, and expansions that
hold no quotes and no commands."""
_KNOWN = lazily(KNOWN_WORD)
_WHOLE = lazily(
    r"""'([^']*)'|"([^"$`\\]*)"|"\$([A-Za-z_][A-Za-z0-9_]*)"|\$([A-Za-z_][A-Za-z0-9_]*)"""
)
"""A whole word that is one quoted text, "$name" or $name, as most words with quotes or expansions
are."""
_LONGEST_RUN = 1 << 16
"""Characters that an expression passes over before the next look at the clock."""
_COUNTED_PARTS = 1000
"""Parts of one word that are counted before the word ends."""
_ESCAPES = lazily(r"(?:\\[^\n])++")
_ENDS_WORD = frozenset(" \t\n|&;()<>")


@lru_cache(maxsize=None)
def _expansions() -> ModuleType:
    """Load what reads expansions; an import statement takes a microsecond at each of them."""
    import agentsandbox.shell.syntax.expansions

    return agentsandbox.shell.syntax.expansions


@lru_cache(maxsize=None)
def _pattern_lists() -> ModuleType:
    """Load what reads pattern lists, likewise."""
    import agentsandbox.shell.syntax.pattern_lists

    return agentsandbox.shell.syntax.pattern_lists


def _whole_part(match: re.Match[str]) -> Part:
    """The one part of a word that `_WHOLE` matches."""
    single, double, quoted, bare = match.groups()
    if bare is not None:
        return Parameter(bare, source="$" + bare)
    if quoted is not None:
        return DoubleQuoted((Parameter(quoted, source="$" + quoted),))
    if single is not None:
        return Quoted(single)
    return DoubleQuoted((Quoted(double),) if double else ())


class WordReader(Lexer):
    """Reads words. `extglob` says whether ?( *( +( @( !( begin patterns."""

    has_bad = False
    """Whether an invalid ${…} was read."""
    open_bracket = False
    """Whether its subscript was not closed."""
    extglob = False
    pairs_quotes = True
    """Whether single quotes in "${x-word}" come in pairs; they need not in POSIX mode."""

    def parse_text(self, text: str, first_line: int) -> Command | None:
        """Return the commands of a backquoted substitution."""
        raise NotImplementedError

    # words

    def read_word(self) -> Word | None:
        """Return the word at the cursor, None at an operator, a blank or the end."""
        text = self.text
        start = self.position
        if self.meter is not None:
            self.meter.step(4)
            self.count_nodes(1)
        if not self.shares:
            return self._first_word()
        # One character more than is kept: a match that ends there is too long.
        match = _KNOWN.match(text, start, start + LONGEST_KNOWN + 1)
        if match is not None:
            end = match.end()
            if end == len(text) or (text[end] in " \t\n|&;)>" and not text.startswith(">(", end)):
                word = known_word(match[0])
                if word is not None:
                    self.position = end
                    return word
        return self._scanned_word()

    def _first_word(self) -> Word | None:
        """Read a word of a text that does not look for known words; plain ones are shared."""
        word = self._scanned_word()
        if word is not None and len(word.source) <= LONGEST_KNOWN and not word.source.strip(PLAIN):
            return bare_word(word.source)
        return word

    def _scanned_word(self) -> Word | None:
        start = self.position
        parts = self.scan(WORD, "")
        if self.position == start:
            return None
        if self.has_bad:
            _expansions().tell_bad(parts, self.text[start : self.position])
        return Word(parts, self.text[start : self.position])

    def read_subscript(self) -> Word:
        """Read the […] at the cursor."""
        opened = self.position
        self.position += 1
        self.enter()
        parts = self.scan(SUBSCRIPT, "]")
        self.nesting -= 1
        if self.position >= len(self.text):
            raise self.unclosed("]", opened)
        source = self.text[opened + 1 : self.position]
        self.position += 1
        return Word(parts, source)

    def scan(self, mode: int, stop: str) -> tuple[Part, ...]:
        """Read the parts up to a character of `stop`, which stays unread, or the word's end."""
        # long: one branch for each character that means something in a word
        text = self.text
        size = len(text)
        run = (_RUN if self.shares else _FIRST_RUN)[mode]
        quoted = mode in ESCAPABLE
        parts: list[Part] = []
        pending: list[str] = []
        brackets = counted = 0

        def flush() -> None:
            if pending:
                joined = "".join(pending)
                parts.append(Quoted(joined) if quoted else Literal(joined))
                pending.clear()

        meter = self.meter
        while self.position < len(self.text):
            if self.text is not text:  # an alias in a substitution
                text, size = self.text, len(self.text)
            if meter is not None:
                meter.step(4)
                if len(parts) >= _COUNTED_PARTS:
                    self.count_nodes(len(parts) - counted)
                    counted = len(parts)
            position = self.position
            match = run.match(text, position, position + _LONGEST_RUN)
            if match is not None:
                pending.append(match[0])
                self.position = match.end()
                if self.position >= size:
                    break
                if self.position - position == _LONGEST_RUN:
                    if meter is not None:
                        meter.work(_LONGEST_RUN)
                    continue
                position = self.position
            char = text[position]
            if char in stop and not (mode == SUBSCRIPT and brackets and char == "]"):
                break
            if char == "$":
                part = _expansions().read_dollar(self, mode)
                if part is None:
                    pending.append("$")
                else:
                    flush()
                    parts.append(part)
            elif char == "\\":
                self._backslash(mode, pending, flush, parts)
            elif char == "`":
                flush()
                parts.append(_expansions().read_backquoted(self, mode))
            elif char == '"' and mode != HERE:
                if mode == ARITHMETIC:
                    self.position += 1
                else:
                    flush()
                    parts.append(
                        self.double_quoted(INNER if mode in (BRACE_Q, BRACE_H) else QUOTED)
                    )
            elif char == "'" and mode in (WORD, BRACE, SUBSCRIPT):
                flush()
                end = text.find("'", position + 1)
                if end < 0:
                    raise self.unclosed("'", position)
                parts.append(Quoted(text[position + 1 : end]))
                self.position = end + 1
            elif char == "'" and mode in (BRACE_Q, BRACE_H) and self.pairs_quotes:
                end = text.find("'", position + 1)
                if end < 0:
                    raise self.unclosed("'", position)
                inner = text[position : end + 1]
                if not _expansions().NEEDS_SCAN.search(inner):
                    pending.append(inner)
                    self.position = end + 1
                    continue
                flush()
                parts.extend(self.scan_alone(inner, position, mode))
            elif mode == WORD:
                if char in _ENDS_WORD:
                    if char in "<>" and text[position + 1 : position + 2] == "(":
                        flush()
                        parts.append(_expansions().read_process_substitution(self))
                        continue
                    break
                if self.extglob and char in "?*+@!" and text[position + 1 : position + 2] == "(":
                    _pattern_lists().read_pattern_list(self, pending, flush, parts)
                    continue
                pending.append(char)
                self.position += 1
            elif mode == BRACE and char in "<>" and text[position + 1 : position + 2] == "(":
                flush()
                parts.append(_expansions().read_process_substitution(self))
            else:
                if mode == SUBSCRIPT:
                    brackets += 1 if char == "[" else -1
                pending.append(char)
                self.position += 1
        flush()
        if meter is not None:
            self.count_nodes(len(parts) - counted)
        return tuple(parts)

    def scan_alone(self, text: str, start: int, mode: int) -> tuple[Part, ...]:
        """Return the parts of a complete text from `start`; what is unfinished in it is text."""
        saved, line = (self.text, self.first_line), self.line_at(start)
        pairs, self.pairs_quotes = self.pairs_quotes, False
        self.text, self.position, self.first_line = text, 0, line
        self.enter()
        try:
            return self.scan(mode, "")
        except ShellSyntaxError:
            return (Quoted(text),)
        finally:
            self.nesting -= 1
            self.text, self.first_line = saved
            self.pairs_quotes = pairs
            self.position = start + len(text)

    def _backslash(self, mode: int, pending: list[str], flush: object, parts: list[Part]) -> None:
        text = self.text
        following = text[self.position + 1 : self.position + 2]
        self.position += 2
        if following == "\n":
            return
        if mode in ESCAPABLE:
            if not following:
                pending.append("\\")
                self.position -= 1
            elif mode == INNER or following in ESCAPABLE[mode]:
                pending.append(following)
            else:
                pending.append("\\" + following)
            return
        if not following:
            self.position -= 1
            pending.append("\\")
            return
        flush()  # type: ignore[operator]
        escapes = _ESCAPES.match(text, self.position, self.position + _LONGEST_RUN)
        if escapes is not None:
            following += escapes[0][1::2]
            self.position = escapes.end()
        parts.append(Quoted(following))

    def double_quoted(self, mode: int = QUOTED) -> DoubleQuoted:
        """Read the "…" at the cursor."""
        opened = self.position
        self.position += 1
        self.enter()
        parts = self.scan(mode, '"')
        self.nesting -= 1
        if self.position >= len(self.text):
            raise self.unclosed('"', opened)
        if self.has_bad:
            _expansions().tell_bad(parts, self.text[opened + 1 : self.position])
        self.position += 1
        return DoubleQuoted(parts)


def known_word(source: str) -> Word | None:
    """Return the word of a text that `KNOWN_WORD` matches; None if its place decides what it is,
    or if it is long.

    All scripts share these words, with what is compiled of them: most words of a script that was
    never seen before have been seen before.
    """
    return _known_words(source) if len(source) <= LONGEST_KNOWN else None


def _read_known(source: str) -> Word | None:
    if "'" not in source and '"' not in source and "$" not in source:
        return bare_word(source)
    match = _WHOLE.fullmatch(source)
    if match is not None:
        return Word((_whole_part(match),), source)
    reader = WordReader(source)
    try:
        word = reader._scanned_word()
    except ShellSyntaxError:
        return None
    return None if reader.has_bad or reader.position < len(source) else word


_known_words = lru_cache(maxsize=4096)(_read_known)
