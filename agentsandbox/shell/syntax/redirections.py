"""Redirections, and the bodies of here-documents.

The body of a here-document begins on the line after its redirection. Redirections wait in
`pending`, and the next newline that the parser passes over reads their bodies.
"""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.ansi_c import decode_ansi_c
from agentsandbox.shell.syntax.braced import tell_bad
from agentsandbox.shell.syntax.contexts import HERE
from agentsandbox.shell.syntax.expansions import read_backquoted, read_dollar
from agentsandbox.shell.syntax.nodes import (
    Command,
    CommandSubstitution,
    FunctionDefinition,
    Group,
    HereDocument,
    Literal,
    Parameter,
    Part,
    Quoted,
    Redirection,
    SimpleCommand,
    Unreadable,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from agentsandbox.shell.syntax.protocols import Parser


_LONGEST_MATCHED = 4096
"""Characters among which a redirection's operator is sought."""
MAX_HERE_DOCUMENTS = 16
"""Here-documents that may wait for the end of a line, as in bash."""
_REDIRECTION = lazily(
    r"(?:([0-9]+)|\{([A-Za-z_][A-Za-z0-9_]*(?:\[[^]{}\n]+\])?)\})?"
    r"(<<<|<<-?|<>|<&|>>|>&|>\||&>>|&>|<(?!\()|>(?!\())"
)
_OPENING = lazily(r"(?s)\\.|\$[({\[]|`")
_BARE = lazily(r"[^-:=?+#%/^,~@]*")
_DELIMITER = lazily(
    r"""(?s)\\(.)|'([^']*)'|\$?"((?:[^"\\]|\\.)*)"|\$'((?:[^'\\]|\\.)*)'"""
    r"""|(\$\((?:[^()]|\([^()]*\))*\)|\$\{[^{}]*+\}|`[^`]*`)"""
)
_ESCAPED = lazily(r'\\([$`"\\])')


def read_redirection(parser: Parser) -> Redirection | None:
    text, start = parser.text, parser.position
    match = _REDIRECTION.match(text, start, start + _LONGEST_MATCHED)
    if match is None:
        return None
    number, variable, operator = match.groups()
    if operator[0] == "&" and (number or variable):
        return None  # `2&>1` is the word 2 and a redirection of both streams
    line = parser.line_at(start)
    parser.position = match.end()
    parser.skip_blanks()
    if operator in ("<<", "<<-"):
        word = parser.read_word()
        if word is None:
            raise parser.unexpected(parser.token() or "newline")
        delimiter, quoted = _delimiter(word.source)
        if len(parser.pending) >= MAX_HERE_DOCUMENTS:
            raise parser.error("maximum here-document count exceeded")
        document = HereDocument(delimiter, quoted)
        parser.pending.append((document, operator == "<<-"))
        return Redirection(operator, document, int(number) if number else None, variable, line)
    # `>&-` is one token, whatever follows
    if operator in (">&", "<&") and parser.text.startswith("-", parser.position):
        parser.position += 1
        return Redirection(
            operator,
            Word((Literal("-"),), "-"),
            int(number) if number else None,
            variable,
            line,
        )
    target = parser.read_word()
    if target is None:
        raise parser.unexpected(parser.token() or "newline")
    if number and len(number) > 9:
        raise parser.unexpected(operator)
    if (
        target.source.isdigit()
        and operator not in (">&", "<&")
        and parser.text[parser.position : parser.position + 1] in ("<", ">")
    ):
        # a number right before an operator is a token of its own
        raise parser.unexpected(target.source)
    return Redirection(operator, target, int(number) if number else None, variable, line)


def add_redirections(parser: Parser, command: Command) -> None:
    """Read the redirections behind a compound command, and give them to it."""
    redirections: list[Redirection] = []
    while True:
        parser.skip_blanks()
        redirection = read_redirection(parser)
        if redirection is None:
            break
        redirections.append(redirection)
    if redirections:
        command.redirections = tuple(redirections)  # type: ignore[misc]
        waiting = len(parser.unplaced)
        parser.unplaced += redirections
        if command.has_line:
            parser.place_redirections(waiting, command.line)  # type: ignore[attr-defined]
        # behind a redirection no word is reserved
        if parser.position < len(parser.text) and not parser.at_operator():
            raise parser.unexpected(parser.token())


def with_errors(parser: Parser, command: Command) -> Command:
    """Return a command before `|&` with 2>&1 added behind its own redirections."""
    last = Redirection(">&", Word((Literal("1"),), "1"), 2, None, parser.line_at(parser.position))
    if isinstance(command, FunctionDefinition):
        return Group(command, (last,), parser.line_at(parser.position))
    if isinstance(command, SimpleCommand) and command.source:
        return SimpleCommand(command.assignments, command.words, (last,), command.line)
    command.redirections = (*command.redirections, last)  # type: ignore[misc]
    return command


def _delimiter(source: str) -> tuple[str, bool]:
    """Return the line that ends a here-document, from the word behind `<<`, and whether any of it
    was quoted.

    Expansions are text in a delimiter, and quotes inside their parentheses do not count.
    """
    quoted = False

    def unquote(match: re.Match[str]) -> str:
        nonlocal quoted
        escaped, single, double, ansi, expansion = match.groups()
        if escaped == "\n":
            return ""
        if expansion is not None:
            return expansion
        quoted = True
        if ansi is not None:
            return decode_ansi_c(ansi)
        if double is not None:
            return _ESCAPED.sub(r"\1", double)
        return single if single is not None else escaped

    return _DELIMITER.sub(unquote, source), quoted


def read_here_documents(parser: Parser) -> None:
    """Read the bodies that begin at the cursor, in the order of their redirections."""
    pending, parser.pending = parser.pending, []
    for document, strip_tabs in pending:
        _read_here_document(parser, document, strip_tabs)


def _read_here_document(parser: Parser, document: HereDocument, strip_tabs: bool) -> None:
    text = parser.text
    start = parser.position
    line_before = parser.line_at(max(0, start - 1))
    lines: list[str] = []
    while True:
        if parser.position >= len(text):
            _warn_of_end(parser, document, line_before, max(0, len(text) - 1))
            break
        if parser.meter is not None:
            parser.meter.step()
        end = text.find("\n", parser.position)
        line = text[parser.position : end] if end >= 0 else text[parser.position :]
        parser.position = end + 1 if end >= 0 else len(text)
        if not document.quoted:
            while end >= 0 and _ends_in_backslash(line) and parser.position < len(text):
                end = text.find("\n", parser.position)
                line = line[:-1] + (
                    text[parser.position : end] if end >= 0 else text[parser.position :]
                )
                parser.position = end + 1 if end >= 0 else len(text)
        if strip_tabs and line != document.delimiter:
            line = line.lstrip("\t")
        if line == document.delimiter:
            break
        if parser.in_substitution and line.startswith(document.delimiter):
            rest = line[len(document.delimiter) :]
            if ")" in rest:
                parser.position = (end if end >= 0 else len(text)) - len(rest)
                _warn_of_end(parser, document, line_before, parser.position)
                break
        if end < 0 and not line:
            continue
        lines.append(line + "\n")
    _finish(parser, document, "".join(lines), start)


def _ends_in_backslash(line: str) -> bool:
    count = len(line) - len(line.rstrip("\\"))
    return count % 2 == 1


def _warn_of_end(parser: Parser, document: HereDocument, line: int, position: int) -> None:
    """Warn that the body of a here-document ended without a line of its own."""
    ended = f"here-document at line {line} delimited by end-of-file"
    message = f"{ended} (wanted `{document.delimiter}')"
    parser.warnings.append((parser.line_at(position), message))


def _finish(parser: Parser, document: HereDocument, body: str, start: int) -> None:
    """Give the document its body, and parse that."""
    if document.quoted:
        document.body = Word((Quoted(body),) if body else (), body)
        return
    ends, parser.alias_ends = parser.alias_ends, []  # places in another text
    saved = parser.text, parser.position, parser.first_line
    line = parser.line_at(start)
    parser.text, parser.position, parser.first_line = body, 0, line
    parser.enter()
    try:
        parts = parser.scan(HERE, "")
        if parser.has_bad:
            tell_bad(parts, body)
    except ShellSyntaxError:
        parts = (_unfinished(parser, body),)
    finally:
        parser.nesting -= 1
        parser.text, parser.position, parser.first_line = saved
    parser.alias_ends = ends
    document.body = Word(parts, body)


def _unfinished(parser: Parser, body: str) -> Part:
    """Return a part for an expansion without an end: it fails when it is expanded."""
    parser.position = 0
    while True:
        opening = _OPENING.search(body, parser.position)
        assert opening is not None
        parser.position = opening.end() if opening[0][0] == "\\" else opening.start()
        try:
            if opening[0] == "`":
                read_backquoted(parser, HERE)
            elif opening[0][0] == "$":
                read_dollar(parser, HERE)
        except ShellSyntaxError as error:
            substitution = body.find("$(", opening.start())
            if 0 <= substitution != body.find("$((", opening.start()):
                below = error.line - parser.line_at(substitution)
                shown = (
                    None
                    if error.source_line is None
                    else body[substitution + 2 :].split("\n")[below]
                )
                # as if it began the body
                return CommandSubstitution(
                    Unreadable(error.message, parser.first_line + below, shown)
                )
            return Parameter("", operator="bad", operands=(Word((), _without_end(body, opening)),))


def _without_end(body: str, opening: re.Match[str]) -> str:
    """Return the message for an expansion in a here-document that does not end."""
    if opening[0] == "`":
        return f'bad substitution: no closing "`" in {body[opening.start() :]}'
    if opening[0] == "${" and _BARE.fullmatch(body, opening.end()):
        return f"{body}: bad substitution"
    closer = {"${": "}", "$[": "]"}.get(opening[0], ")")
    return f"bad substitution: no closing `{closer}' in {body}"
