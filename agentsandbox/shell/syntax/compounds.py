"""Compound commands that begin with a reserved word: one reader for each.

A reader gets the parser with the cursor behind the word, and `start`, the place of the word.
"""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.compound_nodes import (
    ArithmeticFor,
    Case,
    CaseClause,
    Coproc,
    For,
    If,
    Select,
    While,
)
from agentsandbox.shell.syntax.nodes import Command, Group, Literal, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.syntax.protocols import Parser

_NAME = lazily(r"[A-Za-z_][A-Za-z0-9_]*")
_PARENTHESES = lazily(r"[ \t]*\([ \t]*\)")


def read_group(parser: Parser, start: int) -> Command:
    """Read { list; }."""
    body = parser.compound_list()
    parser.expect("}")
    return Group(body, (), parser.line_at(start))


def read_if(parser: Parser, start: int) -> Command:
    """Read if list; then list; elif …; else list; fi."""
    clauses: list[tuple[Command, Command]] = []
    otherwise: Command | None = None
    while True:
        condition = parser.compound_list()
        parser.expect("then")
        clauses.append((condition, parser.compound_list()))
        word = parser.expect("elif", "else", "fi")
        if word == "else":
            otherwise = parser.compound_list()
            parser.expect("fi")
            break
        if word == "fi":
            break
    return If(tuple(clauses), otherwise, (), parser.line_at(start))


def read_while(parser: Parser, start: int) -> Command:
    """Read while or until list; do list; done."""
    until = parser.text[start] == "u"
    condition = parser.compound_list()
    parser.expect("do")
    body = parser.compound_list()
    parser.expect("done")
    return While(condition, body, until, (), parser.line_at(start))


def read_for(parser: Parser, start: int) -> Command:
    """Read for name in words; do list; done, or for ((…; …; …))."""
    parser.skip_blanks()
    if parser.text.startswith("((", parser.position):
        return _arithmetic_for(parser, start)
    return _for_words(parser, start, For)


def read_select(parser: Parser, start: int) -> Command:
    """Read select name in words; do list; done."""
    parser.skip_blanks()
    return _for_words(parser, start, Select)


def _for_words(parser: Parser, start: int, node: type[For]) -> Command:
    name = parser.read_word()
    if name is None:
        raise parser.unexpected(parser.token())
    text = "".join(part.text if isinstance(part, Literal) else "$" for part in name.parts)
    if _NAME.fullmatch(text) is None:
        text = name.source  # reported when it runs
    words: list[Word] | None = None
    parser.skip_blanks()
    if parser.text[parser.position : parser.position + 1] == ";":
        parser.position += 1
        parser.skip_newlines()
    else:
        parser.skip_newlines()
        if parser.reserved_word() == "in":
            parser.position += 2
            words = _words_to_line_end(parser)
    body = _do_body(parser)
    return node(text, tuple(words) if words is not None else None, body, (), parser.line_at(start))


def _words_to_line_end(parser: Parser) -> list[Word]:
    """Read the words behind `in`, and pass over what ends them."""
    parser.skip_blanks()
    words = parser.known_words()
    while True:
        parser.skip_blanks()
        if parser.text.startswith((";", "\n"), parser.position):
            break
        word = parser.read_word()
        if word is None:
            break
        words.append(word)
    following = parser.text[parser.position : parser.position + 2]
    if following[:1] == ";" and following not in (";;", ";&"):
        parser.position += 1
    elif following[:1] != "\n":
        raise parser.unexpected(parser.token())
    parser.skip_newlines()
    return words


def _do_body(parser: Parser) -> Command:
    """Read do list; done, or { list; }, which bash accepts as well."""
    parser.skip_newlines()
    if parser.reserved_word() == "{":
        parser.position += 1
        body = parser.compound_list()
        parser.expect("}")
        return body
    parser.expect("do")
    body = parser.compound_list()
    parser.expect("done")
    return body


def _arithmetic_for(parser: Parser, start: int) -> Command:
    opened = parser.position
    end = parser.parenthesis_end(opened + 2)
    if not parser.text.startswith("))", end):  # for bash the script ends here, without a word
        raise ShellSyntaxError("", parser.line_at(opened), status=None)
    pieces: list[Word] = []
    position = opened + 2
    for stop in [*_semicolons(parser, position, end), end]:
        while parser.text[position : position + 1] in (" ", "\t", "\n") and position < stop:
            position += 1
        pieces.append(parser.arithmetic_word(position, stop, stop + 1))
        position = stop + 1
    if len(pieces) != 3:
        about = "arithmetic expression required" if len(pieces) < 3 else "`;' unexpected"
        error = ShellSyntaxError(
            f"syntax error: {about}",
            parser.line_at(opened),
            source_line=parser.text[opened : end + 2],
        )
        error.before_source = "syntax error: "
        raise error
    parser.position = end + 2
    parser.skip_blanks()
    if parser.text[parser.position : parser.position + 1] == ";":
        parser.position += 1
    body = _do_body(parser)
    return ArithmeticFor(pieces[0], pieces[1], pieces[2], body, (), parser.line_at(start))


def _semicolons(parser: Parser, start: int, end: int) -> list[int]:
    """Return the places of the semicolons outside of brackets."""
    depth = 0
    found: list[int] = []
    for position in range(start, end):
        char = parser.text[position]
        depth += (char in "({[") - (char in ")}]")
        if char == ";" and depth <= 0:
            found.append(position)
    return found


def read_case(parser: Parser, start: int) -> Command:
    """Read case word in (pattern | pattern) list;; … esac."""
    parser.skip_blanks()
    word = parser.read_word()
    if word is None:
        raise parser.unexpected(parser.token())
    parser.skip_newlines()
    if parser.reserved_word() != "in":
        raise parser.unexpected(parser.token())
    parser.position += 2
    clauses: list[CaseClause] = []
    while True:
        parser.skip_newlines()
        if parser.reserved_word() == "esac":
            parser.position += 4
            break
        clause, more = _case_clause(parser)
        clauses.append(clause)
        if not more:
            parser.expect("esac")
            break
    return Case(word, tuple(clauses), (), parser.line_at(start))


def _case_clause(parser: Parser) -> tuple[CaseClause, bool]:
    """Read one clause; return whether a terminator ended it, so that more may follow."""
    patterns: list[Word] = []
    if parser.text[parser.position : parser.position + 1] == "(":
        parser.position += 1
        parser.skip_blanks()
    while True:
        pattern = parser.read_word()
        if pattern is None:
            raise parser.unexpected(parser.token())
        patterns.append(pattern)
        parser.skip_blanks()
        char = parser.text[parser.position : parser.position + 1]
        if char == "|" and parser.text[parser.position + 1 : parser.position + 2] not in ("|", "&"):
            parser.position += 1
            parser.skip_blanks()
            continue
        if char == ")":
            parser.position += 1
            break
        raise parser.unexpected(parser.token() or "newline")
    parser.skip_to_command()
    body = None if parser.at_list_end() else parser.command_list(until_newline=False)
    parser.skip_newlines()
    for terminator in (";;&", ";;", ";&"):
        if parser.text.startswith(terminator, parser.position):
            parser.position += len(terminator)
            return CaseClause(tuple(patterns), body, terminator), True
    return CaseClause(tuple(patterns), body, ";;"), False


def read_function(parser: Parser, start: int) -> Command:
    """Read function name [()] body."""
    parser.skip_blanks()
    word = parser.read_word()
    if word is None:
        raise parser.unexpected(parser.token() or "newline")
    match = _PARENTHESES.match(parser.text, parser.position)
    return parser.function_definition(
        word.source, match.end() if match is not None else parser.position, start
    )


def read_coproc(parser: Parser, start: int) -> Command:
    """Read coproc [name] command; a simple command has no name."""
    parser.skip_blanks()
    line = parser.line_at(start)
    if parser.position >= len(parser.text):
        raise parser.unexpected("newline")
    if parser.at_body():
        return Coproc("COPROC", parser.command(), line)
    saved = parser.position
    word = parser.read_word()
    if word is not None:
        parser.skip_blanks()
        if parser.at_body():
            return Coproc(word.source, parser.command(), line)
    parser.position = saved
    return Coproc("COPROC", parser.command(), line)


READERS: dict[str, Callable[[Parser, int], Command]] = {
    "{": read_group,
    "if": read_if,
    "while": read_while,
    "until": read_while,
    "for": read_for,
    "select": read_select,
    "case": read_case,
    "function": read_function,
    "coproc": read_coproc,
}
