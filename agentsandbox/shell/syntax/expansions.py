"""Expansions: what begins with `$`, "`", `<(` or `>(` in a word.

Names and special parameters are read here, ${…} in `braced`. The commands in $(…) are read by the
parser, which calls the scanner for their words. Arithmetic is cut out first: its end is the
parenthesis that closes it, whatever is in it (`parenthesis_end`).
"""

from __future__ import annotations

from agentsandbox.errors import LimitReached, ShellSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.ansi_c import decode_ansi_c
from agentsandbox.shell.syntax.braced import NAME, SPECIAL, read_braced, tell_bad
from agentsandbox.shell.syntax.contexts import (
    ARITHMETIC,
    BRACE,
    BRACE_Q,
    HERE,
    INNER,
    QUOTED,
    SUBSCRIPT,
    WORD,
)
from agentsandbox.shell.syntax.nodes import (
    ArithmeticSubstitution,
    Command,
    CommandSubstitution,
    HereDocument,
    Parameter,
    Part,
    ProcessSubstitution,
    Quoted,
    Unreadable,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from agentsandbox.shell.syntax.protocols import Parser


NEEDS_SCAN = lazily(r"[$`\\\"]")
"""What makes an operand or an expression more than one text."""
_QUOTE = lazily(r"[\"'`]")
_QUOTE_OR_BACKSLASH = lazily(r"['\\]")
_BACKQUOTE_OR_BACKSLASH = lazily(r"[`\\]")
_ESCAPED = lazily(r"\\([$`\\]|\n)")
_ESCAPED_IN_QUOTES = lazily(r'\\([$`\\"]|\n)')
_BRACKETS = lazily(r"[\[\]]")
MAX_PARENTHESES = 10_000
_TEXT_STOPS = lazily(r'["`\\}]|\$[({]')
_ARITHMETIC_STOPS = lazily(r"[()\\\"`]|\$?'")


def read_dollar(parser: Parser, mode: int) -> Part | None:
    """Read the expansion at `$`; pass over a mere dollar sign and return None."""
    text = parser.text
    start = parser.position
    # a joined line between the dollar and what it expands
    while text.startswith("\\\n", start + 1):
        start += 2
    parser.position = start
    following = text[start + 1 : start + 2]
    match = NAME.match(text, start + 1)
    if match is not None:
        parser.position = match.end()
        return Parameter(match[0], source="$" + match[0])
    if following == "{":
        return read_braced(parser, mode)
    if following == "(":
        if text.startswith("((", start + 1):
            arithmetic = _arithmetic(parser, start)
            return (
                arithmetic
                if arithmetic is not None
                else _subshell_substitution(parser, start, mode)
            )
        parser.position = start + 2
        body = _commands(parser, start)
        if parser.substitutions is not None and parser.text is parser.written:
            parser.substitutions.append((start, parser.position))
        return CommandSubstitution(body, text[start : parser.position], parser.left_open)
    if following and following in SPECIAL:
        parser.position = start + 2
        return Parameter(
            "@" if following == "*" and mode == HERE else following, source="$" + following
        )
    if following == "'" and mode in (WORD, BRACE, BRACE_Q, SUBSCRIPT):
        return _ansi_c(parser, start)
    if following == "'" and mode == ARITHMETIC:
        return Quoted(f"'{_ansi_c(parser, start).text}'")
    if following == '"' and mode in (WORD, BRACE, BRACE_Q, SUBSCRIPT):
        parser.position = start + 1
        return parser.double_quoted(INNER if mode == BRACE_Q else QUOTED)
    if following == "[":
        return _old_arithmetic(parser, start)
    parser.position = start + 1
    return None


def _subshell_substitution(parser: Parser, start: int, mode: int) -> CommandSubstitution:
    """Read $((…) …), which begins with a subshell. Its syntax errors come when it runs."""
    parser.position = start + 2
    pending, nesting = list(parser.pending), parser.nesting
    body: Command | None
    outside: tuple[HereDocument, ...] = ()
    try:
        body = _commands(parser, start)
        outside = parser.left_open
    except ShellSyntaxError:
        parser.pending, parser.nesting = pending, nesting
        parser.read_again(start, parser.position)
        end = parenthesis_end(parser, start + 2)
        # a here-document's commands are numbered from its own
        line = parser.first_line - 1 if mode == HERE else parser.line_at(start)
        body = _parsed_later(parser, parser.text[start + 2 : end], line)
        parser.position = end + 1
    return CommandSubstitution(body, parser.text[start : parser.position], outside)


def _parsed_later(parser: Parser, text: str, line: int) -> Command | None:
    """Return the commands of a substitution that bash parses only when it runs it."""
    parser.enter()
    body: Command | None
    try:
        body = parser.parse_text(text, line)
    except ShellSyntaxError as error:
        body = Unreadable(error.message, error.line, error.source_line)
    parser.nesting -= 1
    return body


def _ansi_c(parser: Parser, start: int) -> Quoted:
    end = _ansi_c_end(parser, start)
    parser.position = end + 1
    return Quoted(decode_ansi_c(parser.text[start + 2 : end]))


def _ansi_c_end(parser: Parser, start: int) -> int:
    """Return where the closing quote of the $'…' at `start` is."""
    end = start + 2
    while True:
        found = _QUOTE_OR_BACKSLASH.search(parser.text, end)
        if found is None:
            raise parser.unclosed("'", start)
        end = found.start()
        if parser.text[end] == "'":
            return end
        end += 2


def read_backquoted(parser: Parser, mode: int) -> CommandSubstitution:
    text = parser.text
    start = parser.position
    end = start + 1
    while True:
        found = _BACKQUOTE_OR_BACKSLASH.search(text, end)
        if found is None:
            raise parser.unclosed("`", start)
        end = found.start()
        if text[end] == "`":
            break
        end += 2
    escaped = _ESCAPED_IN_QUOTES if mode in (QUOTED, INNER) else _ESCAPED
    inner = escaped.sub(_unescaped, text[start + 1 : end])
    parser.position = end + 1
    return CommandSubstitution(_parsed_later(parser, inner, parser.line_at(start)))


def _unescaped(match: re.Match[str]) -> str:
    """Return what a backslash and a character mean inside `…`: joined lines are one line."""
    return "" if match[1] == "\n" else match[1]


def read_process_substitution(parser: Parser) -> ProcessSubstitution:
    start = parser.position
    direction = parser.text[start]
    parser.position += 2
    body = _commands(parser, start)
    return ProcessSubstitution(
        body, direction, parser.text[start : parser.position], parser.left_open
    )


def _commands(parser: Parser, opened_at: int) -> Command | None:
    parser.enter()
    pending, parser.pending = parser.pending, []
    unplaced, parser.unplaced = parser.unplaced, []
    inside, parser.in_substitution = parser.in_substitution, True
    try:
        body = _commands_inside(parser, opened_at)
    finally:
        parser.in_substitution = inside
        parser.unplaced = unplaced
    parser.left_open = tuple([document for document, _ in parser.pending]) if parser.pending else ()
    parser.pending = pending + parser.pending
    parser.nesting -= 1
    return body


def _commands_inside(parser: Parser, opened_at: int) -> Command | None:
    parser.skip_to_command()
    body = None
    if parser.text[parser.position : parser.position + 1] != ")":
        if parser.position >= len(parser.text):
            raise parser.unclosed(")", opened_at, at_end=True)
        try:
            body = parser.command_list(until_newline=False)
        except ShellSyntaxError as error:
            if error.message.endswith("unexpected end of file"):
                raise parser.unclosed(")", opened_at, at_end=True) from None
            if error.follow_up is not None:
                error.follow_up = parser.unclosed(")", opened_at, at_end=True)
            elif not error.is_quote:
                error.in_substitution = True
            raise
    parser.skip_newlines()
    if parser.position >= len(parser.text):
        raise parser.unclosed(")", opened_at, at_end=True)
    if parser.text[parser.position] != ")":
        unexpected = parser.unexpected(parser.token())
        unexpected.in_substitution = True
        raise unexpected
    parser.position += 1
    return body


def _arithmetic(parser: Parser, start: int) -> ArithmeticSubstitution | None:
    """Read $((…)); return None if it turns out to be a substitution with a subshell."""
    end = _arithmetic_end(parser, start + 3)
    if end is None:
        return None
    return ArithmeticSubstitution(arithmetic_word(parser, start + 3, end, end + 2))


def _old_arithmetic(parser: Parser, start: int) -> ArithmeticSubstitution:
    depth = 0
    for match in _BRACKETS.finditer(parser.text, start + 1):
        depth += 1 if match[0] == "[" else -1
        if not depth:
            end = match.start()
            return ArithmeticSubstitution(arithmetic_word(parser, start + 2, end, end + 1))
        if depth > MAX_PARENTHESES:
            raise LimitReached("depth", "the expression nests too deeply")
    raise parser.unclosed("]", start)


def _arithmetic_end(parser: Parser, start: int) -> int | None:
    """Return where the )) is that closes an expression; None if nothing closes it."""
    end = parenthesis_end(parser, start)
    if parser.text.startswith(")", end + 1):
        return end
    if ")" not in parser.text[end + 1 : end + 4096] and ")" not in parser.text[end + 1 :]:
        quote = _QUOTE.search(parser.text, end)
        raise parser.unclosed(quote[0] if quote is not None else ")", start)
    return None


def parenthesis_end(parser: Parser, start: int) -> int:
    """Return where the ) is that closes an expression from `start`."""
    text = parser.text
    depth = 0
    position = start
    while match := _ARITHMETIC_STOPS.search(text, position):
        char = match[0]
        position = match.end()
        if char == "(":
            depth += 1
            if depth > MAX_PARENTHESES:
                raise LimitReached("depth", "the expression nests too deeply")
        elif char == ")":
            if depth == 0:
                parser.read_again(start, position)
                return match.start()
            depth -= 1
        elif char == "\\":
            position += 1
        elif char == '"':
            position = _end_of(parser, char, position)
        elif char == "$'":
            position = _ansi_c_end(parser, match.start()) + 1
        else:
            position = text.find(char, position) + 1
            if not position:
                raise parser.unclosed(char, match.start())
    raise parser.unclosed(")", start)


def _end_of(parser: Parser, closer: str, start: int) -> int:
    """Return the end of a text in double quotes, or of a ${…}, that continues at `start`."""
    text, position = parser.text, start
    parser.enter()
    while match := _TEXT_STOPS.search(text, position):
        found = match[0]
        position = match.end()
        if found == closer:
            parser.nesting -= 1
            return position
        if found == "\\":
            position += 1
        elif found == "$(":
            position = parenthesis_end(parser, position) + 1
        elif found in ('"', "${"):
            position = _end_of(parser, '"' if found == '"' else "}", position)
        elif found == "`":
            position = text.find("`", position) + 1
            if not position:
                raise parser.unclosed("`", match.start())
    raise parser.unclosed(closer, start - 1)


def arithmetic_word(parser: Parser, start: int, end: int, after: int) -> Word:
    """Return the expression text[start:end] as a word, and continue at `after`."""
    source = parser.text[start:end]
    if not NEEDS_SCAN.search(source):
        parser.position = after
        return Word((Quoted(source),) if source else (), source)
    saved = parser.text
    parser.text, parser.position = saved[:end], start
    parser.enter()
    parts = parser.scan(ARITHMETIC, "")
    parser.nesting -= 1
    parser.text, parser.position = saved, after
    if parser.has_bad:
        tell_bad(parts, source)
    return Word(parts, source)
