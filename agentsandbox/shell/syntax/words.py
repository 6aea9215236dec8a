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
* The commands in $(…) are read by the parser, which calls the scanner for their words; so nesting
  is recursion, bounded by `Lexer.enter`.

Bash reports some errors only when a word is expanded: a bad ${…}, a here-document with an expansion
that does not end. These become parts that fail (`Parameter` with the operator "bad", `Unreadable`)
instead of syntax errors.
"""

from __future__ import annotations

from agentsandbox.errors import LimitReached, ShellSyntaxError
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.ansi_c import decode_ansi_c
from agentsandbox.shell.syntax.braced import NAME, SPECIAL, BracedReader
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
from agentsandbox.shell.syntax.nodes import (
    TRANSFORMATIONS,
    ArithmeticSubstitution,
    Command,
    CommandSubstitution,
    DoubleQuoted,
    HereDocument,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Quoted,
    Unreadable,
    Word,
)
from agentsandbox.shell.syntax.plain_commands import LONGEST_KNOWN, PLAIN, bare_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_RUN = {
    WORD: lazily(r"[^ \t\n|&;()<>$`\\\"'?*+@!]+"),
    QUOTED: lazily(r"[^$`\\\"]+"),
    BRACE: lazily(r"[^$`\\\"'}/:<>]+"),
    BRACE_Q: lazily(r"[^$`\\\"'}/:]+"),
    BRACE_H: lazily(r"[^$`\\\"'}/:]+"),
    HERE: lazily(r"[^$`\\]+"),
    SUBSCRIPT: lazily(r"[^$`\\\"'\[\]]+"),
    ARITHMETIC: lazily(r"[^$`\\\"]+"),
    INNER: lazily(r"[^$`\\\"]+"),
}
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
_QUOTE = lazily(r"[\"'`]")
_QUOTE_OR_BACKSLASH = lazily(r"['\\]")
_BACKQUOTE_OR_BACKSLASH = lazily(r"[`\\]")
_ESCAPED = lazily(r"\\([$`\\]|\n)")
_ESCAPED_IN_QUOTES = lazily(r'\\([$`\\"]|\n)')
_ENDS_WORD = frozenset(" \t\n|&;()<>")


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


def _unescaped(match: re.Match[str]) -> str:
    """Return what a backslash and a character mean inside `…`: joined lines are one line."""
    return "" if match[1] == "\n" else match[1]


class WordReader(BracedReader):
    """Reads words. `extglob` says whether ?( *( +( @( !( begin patterns."""

    extglob = False
    pairs_quotes = True
    """Whether single quotes in "${x-word}" come in pairs; they need not in POSIX mode."""

    # provided by the parser

    def parse_substitution(self, opened_at: int) -> Command | None:
        """Return the commands of a substitution, and pass over its closing parenthesis."""
        raise NotImplementedError

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
            _tell_bad(parts, self.text[start : self.position])
        return Word(parts, self.text[start : self.position])

    def scan(self, mode: int, stop: str) -> tuple[Part, ...]:
        """Read the parts up to a character of `stop`, which stays unread, or the word's end."""
        # long: one branch for each character that means something in a word
        text = self.text
        size = len(text)
        run = _RUN[mode]
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
                part = self._dollar(mode)
                if part is None:
                    pending.append("$")
                else:
                    flush()
                    parts.append(part)
            elif char == "\\":
                self._backslash(mode, pending, flush, parts)
            elif char == "`":
                flush()
                parts.append(self._backquoted(mode))
            elif char == '"' and mode != HERE:
                if mode == ARITHMETIC:
                    self.position += 1
                else:
                    flush()
                    parts.append(
                        self._double_quoted(INNER if mode in (BRACE_Q, BRACE_H) else QUOTED)
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
                if not _NEEDS_SCAN.search(inner):
                    pending.append(inner)
                    self.position = end + 1
                    continue
                flush()
                parts.extend(self.scan_alone(inner, position, mode))
            elif mode == WORD:
                if char in _ENDS_WORD:
                    if char in "<>" and text[position + 1 : position + 2] == "(":
                        flush()
                        parts.append(self._process_substitution())
                        continue
                    break
                if self.extglob and char in "?*+@!" and text[position + 1 : position + 2] == "(":
                    self._extended_pattern(pending, flush, parts)
                    continue
                pending.append(char)
                self.position += 1
            elif mode == BRACE and char in "<>" and text[position + 1 : position + 2] == "(":
                flush()
                parts.append(self._process_substitution())
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

    def _double_quoted(self, mode: int = QUOTED) -> DoubleQuoted:
        opened = self.position
        self.position += 1
        self.enter()
        parts = self.scan(mode, '"')
        self.nesting -= 1
        if self.position >= len(self.text):
            raise self.unclosed('"', opened)
        if self.has_bad:
            _tell_bad(parts, self.text[opened + 1 : self.position])
        self.position += 1
        return DoubleQuoted(parts)

    def _extended_pattern(self, pending: list[str], flush: object, parts: list[Part]) -> None:
        """Read ?(…) and the like: a pattern list, in which quotes and expansions count."""
        opened = self.position
        pending.append(self.text[opened : opened + 2])
        self.position += 2
        self.enter()
        while True:
            inner = self._pattern_list_parts()
            for part in inner:
                if isinstance(part, Literal):
                    pending.append(part.text)
                else:
                    flush()  # type: ignore[operator]
                    _keep_as_written(part)
                    parts.append(part)
            if self.position >= len(self.text):
                raise self.unclosed(")", opened)
            char = self.text[self.position]
            pending.append(char)
            self.position += 1
            if char == ")":
                break
        self.nesting -= 1

    def _pattern_list_parts(self) -> list[Part]:
        """Return the parts up to `|`, `)` or the end; blanks and other parentheses are text."""
        collected: list[Part] = []
        depth = 0
        while self.position < len(self.text):
            collected.extend(self.scan(WORD, "|)"))
            char = self.text[self.position : self.position + 1]
            if not char or (not depth and char in "|)"):
                break
            depth += (char == "(") - (char == ")")
            collected.append(Literal(char))
            self.position += 1
        return collected

    # expansions

    def _dollar(self, mode: int) -> Part | None:
        """Read the expansion at `$`; pass over a mere dollar sign and return None."""
        text = self.text
        start = self.position
        # a joined line between the dollar and what it expands
        while text.startswith("\\\n", start + 1):
            start += 2
        self.position = start
        following = text[start + 1 : start + 2]
        match = NAME.match(text, start + 1)
        if match is not None:
            self.position = match.end()
            return Parameter(match[0], source="$" + match[0])
        if following == "{":
            return self.read_braced(mode)
        if following == "(":
            if text.startswith("((", start + 1):
                arithmetic = self._arithmetic(start)
                return (
                    arithmetic
                    if arithmetic is not None
                    else self._subshell_substitution(start, mode)
                )
            self.position = start + 2
            body = self.parse_substitution(start)
            if self.substitutions is not None and self.text is self.written:
                self.substitutions.append((start, self.position))
            return CommandSubstitution(body, text[start : self.position], self.left_open)
        if following and following in SPECIAL:
            self.position = start + 2
            return Parameter(
                "@" if following == "*" and mode == HERE else following, source="$" + following
            )
        if following == "'" and mode in (WORD, BRACE, BRACE_Q, SUBSCRIPT):
            return self._ansi_c(start)
        if following == "'" and mode == ARITHMETIC:
            return Quoted(f"'{self._ansi_c(start).text}'")
        if following == '"' and mode in (WORD, BRACE, BRACE_Q, SUBSCRIPT):
            self.position = start + 1
            return self._double_quoted(INNER if mode == BRACE_Q else QUOTED)
        if following == "[":
            return self._old_arithmetic(start)
        self.position = start + 1
        return None

    def _subshell_substitution(self, start: int, mode: int) -> CommandSubstitution:
        """Read $((…) …), which begins with a subshell. Its syntax errors come when it runs."""
        self.position = start + 2
        pending, nesting = list(self.pending), self.nesting
        body: Command | None
        outside: tuple[HereDocument, ...] = ()
        try:
            body = self.parse_substitution(start)
            outside = self.left_open
        except ShellSyntaxError:
            self.pending, self.nesting = pending, nesting
            end = self.parenthesis_end(start + 2)
            # a here-document's commands are numbered from its own
            line = self.first_line - 1 if mode == HERE else self.line_at(start)
            body = self._parsed_later(self.text[start + 2 : end], line)
            self.position = end + 1
        return CommandSubstitution(body, self.text[start : self.position], outside)

    def _parsed_later(self, text: str, line: int) -> Command | None:
        """Return the commands of a substitution that bash parses only when it runs it."""
        self.enter()
        body: Command | None
        try:
            body = self.parse_text(text, line)
        except ShellSyntaxError as error:
            body = Unreadable(error.message, error.line, error.source_line)
        self.nesting -= 1
        return body

    def _ansi_c(self, start: int) -> Quoted:
        end = self._ansi_c_end(start)
        self.position = end + 1
        return Quoted(decode_ansi_c(self.text[start + 2 : end]))

    def _ansi_c_end(self, start: int) -> int:
        """Return where the closing quote of the $'…' at `start` is."""
        end = start + 2
        while True:
            found = _QUOTE_OR_BACKSLASH.search(self.text, end)
            if found is None:
                raise self.unclosed("'", start)
            end = found.start()
            if self.text[end] == "'":
                return end
            end += 2

    def _backquoted(self, mode: int) -> CommandSubstitution:
        text = self.text
        start = self.position
        end = start + 1
        while True:
            found = _BACKQUOTE_OR_BACKSLASH.search(text, end)
            if found is None:
                raise self.unclosed("`", start)
            end = found.start()
            if text[end] == "`":
                break
            end += 2
        escaped = _ESCAPED_IN_QUOTES if mode in (QUOTED, INNER) else _ESCAPED
        inner = escaped.sub(_unescaped, text[start + 1 : end])
        self.position = end + 1
        return CommandSubstitution(self._parsed_later(inner, self.line_at(start)))

    def _process_substitution(self) -> ProcessSubstitution:
        start = self.position
        direction = self.text[start]
        self.position += 2
        body = self.parse_substitution(start)
        return ProcessSubstitution(
            body, direction, self.text[start : self.position], self.left_open
        )

    def _arithmetic(self, start: int) -> ArithmeticSubstitution | None:
        """Read $((…)); return None if it turns out to be a substitution with a subshell."""
        end = self.arithmetic_end(start + 3)
        if end is None:
            return None
        return ArithmeticSubstitution(self.arithmetic_word(start + 3, end, end + 2))

    def _old_arithmetic(self, start: int) -> ArithmeticSubstitution:
        depth = 0
        for match in _BRACKETS.finditer(self.text, start + 1):
            depth += 1 if match[0] == "[" else -1
            if not depth:
                end = match.start()
                return ArithmeticSubstitution(self.arithmetic_word(start + 2, end, end + 1))
            if depth > MAX_PARENTHESES:
                raise LimitReached("depth", "the expression nests too deeply")
        raise self.unclosed("]", start)

    def arithmetic_end(self, start: int) -> int | None:
        """Return where the )) is that closes an expression; None if nothing closes it."""
        end = self.parenthesis_end(start)
        if self.text.startswith(")", end + 1):
            return end
        if ")" not in self.text[end + 1 : end + 4096] and ")" not in self.text[end + 1 :]:
            quote = _QUOTE.search(self.text, end)
            raise self.unclosed(quote[0] if quote is not None else ")", start)
        return None

    def parenthesis_end(self, start: int) -> int:
        """Return where the ) is that closes an expression from `start`."""
        text = self.text
        depth = 0
        position = start
        if self.scanned > 4 * len(text) + 1_000_000:
            raise LimitReached("depth", "the script nests too deeply")
        while match := _ARITHMETIC_STOPS.search(text, position):
            char = match[0]
            position = match.end()
            if char == "(":
                depth += 1
                if depth > MAX_PARENTHESES:
                    raise LimitReached("depth", "the expression nests too deeply")
            elif char == ")":
                if depth == 0:
                    self.scanned += position - start
                    return match.start()
                depth -= 1
            elif char == "\\":
                position += 1
            elif char == '"':
                position = self._end_of(char, position)
            elif char == "$'":
                position = self._ansi_c_end(match.start()) + 1
            else:
                position = text.find(char, position) + 1
                if not position:
                    raise self.unclosed(char, match.start())
        raise self.unclosed(")", start)

    def _end_of(self, closer: str, start: int) -> int:
        """Return the end of a text in double quotes, or of a ${…}, that continues at `start`."""
        text, position = self.text, start
        self.enter()
        while match := _TEXT_STOPS.search(text, position):
            found = match[0]
            position = match.end()
            if found == closer:
                self.nesting -= 1
                return position
            if found == "\\":
                position += 1
            elif found == "$(":
                position = self.parenthesis_end(position) + 1
            elif found in ('"', "${"):
                position = self._end_of('"' if found == '"' else "}", position)
            elif found == "`":
                position = text.find("`", position) + 1
                if not position:
                    raise self.unclosed("`", match.start())
        raise self.unclosed(closer, start - 1)

    def arithmetic_word(self, start: int, end: int, after: int) -> Word:
        """Return the expression text[start:end] as a word, and continue at `after`."""
        source = self.text[start:end]
        if not _NEEDS_SCAN.search(source):
            self.position = after
            return Word((Quoted(source),) if source else (), source)
        saved = self.text
        self.text, self.position = saved[:end], start
        self.enter()
        parts = self.scan(ARITHMETIC, "")
        self.nesting -= 1
        self.text, self.position = saved, after
        if self.has_bad:
            _tell_bad(parts, source)
        return Word(parts, source)

    # here-documents

    def finish_here_document(self, document: HereDocument, body: str, start: int) -> None:
        if document.quoted:
            document.body = Word((Quoted(body),) if body else (), body)
            return
        saved = self.text, self.position, self.first_line
        line = self.line_at(start)
        self.text, self.position, self.first_line = body, 0, line
        self.enter()
        try:
            parts = self.scan(HERE, "")
            if self.has_bad:
                _tell_bad(parts, body)
        except ShellSyntaxError:
            parts = (self._unfinished(body),)
        finally:
            self.nesting -= 1
            self.text, self.position, self.first_line = saved
        document.body = Word(parts, body)

    def _unfinished(self, body: str) -> Part:
        """Return a part for an expansion without an end: it fails when it is expanded."""
        self.position = 0
        while True:
            opening = _OPENING.search(body, self.position)
            assert opening is not None
            self.position = opening.end() if opening[0][0] == "\\" else opening.start()
            try:
                if opening[0] == "`":
                    self._backquoted(HERE)
                elif opening[0][0] == "$":
                    self._dollar(HERE)
            except ShellSyntaxError as error:
                substitution = body.find("$(", opening.start())
                if 0 <= substitution != body.find("$((", opening.start()):
                    below = error.line - self.line_at(substitution)
                    shown = (
                        None
                        if error.source_line is None
                        else body[substitution + 2 :].split("\n")[below]
                    )
                    # as if it began the body
                    return CommandSubstitution(
                        Unreadable(error.message, self.first_line + below, shown)
                    )
                return Parameter(
                    "", operator="bad", operands=(Word((), _without_end(body, opening)),)
                )


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


def _without_end(body: str, opening: re.Match[str]) -> str:
    """Return the message for an expansion in a here-document that does not end."""
    if opening[0] == "`":
        return f'bad substitution: no closing "`" in {body[opening.start() :]}'
    if opening[0] == "${" and _BARE.fullmatch(body, opening.end()):
        return f"{body}: bad substitution"
    closer = {"${": "}", "$[": "]"}.get(opening[0], ")")
    return f"bad substitution: no closing `{closer}' in {body}"


def _tell_bad(parts: tuple[Part, ...], source: str) -> None:
    """Give bad substitutions the text of their message: the word, or what is in its quotes."""
    for part in parts:
        if isinstance(part, DoubleQuoted):
            for inner in part.parts:
                if isinstance(inner, Parameter) and inner.prefix == "[":
                    inner.operands = (Word((), f"bad substitution: no closing `}}' in {source}"),)
        if not isinstance(part, Parameter):
            continue
        if (part.operator == "bad" and not part.operands) or (
            part.operator == "@" and part.operands[0].source not in TRANSFORMATIONS
        ):
            part.operands = (*part.operands[:1], Word((), f"{source}: bad substitution"))


_OPENING = lazily(r"(?s)\\.|\$[({\[]|`")
_BARE = lazily(r"[^-:=?+#%/^,~@]*")
_NEEDS_SCAN = lazily(r"[$`\\\"]")
_BRACKETS = lazily(r"[\[\]]")
MAX_PARENTHESES = 10_000
_TEXT_STOPS = lazily(r'["`\\}]|\$[({]')
_ARITHMETIC_STOPS = lazily(r"[()\\\"`]|\$?'")


def _keep_as_written(part: Part) -> None:
    """Mark the substitutions of a pattern list, which bash prints as they were written."""
    if isinstance(part, (CommandSubstitution, ProcessSubstitution)):
        part.source = ""
    elif isinstance(part, Parameter):
        for operand in (part.subscript, *part.operands):
            for inner in () if operand is None else operand.parts:
                _keep_as_written(inner)
