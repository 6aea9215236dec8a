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
from agentsandbox.shell.syntax.expansions import arithmetic_word, parenthesis_end
from agentsandbox.shell.syntax.nodes import (
    ArithmeticCommand,
    Command,
    FunctionDefinition,
    Group,
    Literal,
    Subshell,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.syntax.protocols import Parser

_BODIES = frozenset("{ if while until for select case [[".split())
_NAME = lazily(r"[A-Za-z_][A-Za-z0-9_]*")
_LAST = lazily(r"[^ \t\n;|&]+")
_PARENTHESES = lazily(r"[ \t]*\([ \t]*\)")


def read_group(parser: Parser, start: int) -> Command:
    """Read { list; }."""
    body = _compound_list(parser)
    _expect(parser, "}")
    return Group(body, (), parser.line_at(start))


def read_if(parser: Parser, start: int) -> Command:
    """Read if list; then list; elif …; else list; fi."""
    clauses: list[tuple[Command, Command]] = []
    otherwise: Command | None = None
    while True:
        condition = _compound_list(parser)
        _expect(parser, "then")
        clauses.append((condition, _compound_list(parser)))
        word = _expect(parser, "elif", "else", "fi")
        if word == "else":
            otherwise = _compound_list(parser)
            _expect(parser, "fi")
            break
        if word == "fi":
            break
    return If(tuple(clauses), otherwise, (), parser.line_at(start))


def read_while(parser: Parser, start: int) -> Command:
    """Read while or until list; do list; done."""
    until = parser.text[start] == "u"
    condition = _compound_list(parser)
    _expect(parser, "do")
    body = _compound_list(parser)
    _expect(parser, "done")
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
    waiting, line = len(parser.unplaced), parser.line_at(start)
    body = _do_body(parser)
    if waiting < len(parser.unplaced):
        parser.place_redirections(waiting, line)
    return node(text, tuple(words) if words is not None else None, body, (), line)


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
        body = _compound_list(parser)
        _expect(parser, "}")
        return body
    _expect(parser, "do")
    body = _compound_list(parser)
    _expect(parser, "done")
    return body


def _arithmetic_for(parser: Parser, start: int) -> Command:
    opened = parser.position
    end = parenthesis_end(parser, opened + 2)
    if not parser.text.startswith("))", end):  # for bash the script ends here, without a word
        raise ShellSyntaxError("", parser.line_at(opened), status=None)
    pieces: list[Word] = []
    position = opened + 2
    for stop in [*_semicolons(parser, position, end), end]:
        while parser.text[position : position + 1] in (" ", "\t", "\n") and position < stop:
            position += 1
        pieces.append(arithmetic_word(parser, position, stop, stop + 1))
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
    waiting, line = len(parser.unplaced), parser.line_at(start)
    while True:
        parser.skip_newlines()
        if parser.reserved_word() == "esac":
            parser.position += 4
            break
        clause, more = _case_clause(parser)
        clauses.append(clause)
        if not more:
            _expect(parser, "esac")
            break
    if waiting < len(parser.unplaced):
        parser.place_redirections(waiting, line)
    return Case(word, tuple(clauses), (), line)


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
    return define_function(
        parser, word.source, match.end() if match is not None else parser.position, start
    )


def read_coproc(parser: Parser, start: int) -> Command:
    """Read coproc [name] command; a simple command has no name."""
    parser.skip_blanks()
    line = parser.line_at(start)
    if parser.position >= len(parser.text):
        raise parser.unexpected("newline")
    if _at_body(parser):
        return Coproc("COPROC", parser.command(), line)
    saved = parser.position
    word = parser.read_word()
    if word is not None:
        parser.skip_blanks()
        if _at_body(parser):
            return Coproc(word.source, parser.command(), line)
    parser.position = saved
    return Coproc("COPROC", parser.command(), line)


def read_parenthesis(parser: Parser) -> Command:
    start = parser.position
    if parser.text.startswith("((", start):
        end = parenthesis_end(parser, start + 2)
        following = parser.text[end + 1 : end + 2]
        if following == ")":
            expression = arithmetic_word(parser, start + 2, end, end + 2)
            return ArithmeticCommand(expression, (), parser.line_at(end))
        # bash takes a second parenthesis in the next line for no subshell either
        if following in ("", "\n"):
            line = parser.text[parser.text.rfind("\n", 0, end) + 1 : end + 1]
            raise parser.error(
                f"syntax error near `{_LAST.findall(line)[-1]}'", end, show_line=True
            )
    parser.position += 1
    waiting = len(parser.unplaced)
    body = _compound_list(parser)
    _close(parser, ")", start)
    subshell = Subshell(body, (), parser.line_at(parser.position - 1))
    if waiting < len(parser.unplaced):
        parser.place_redirections(waiting, subshell.line)
    return subshell


def _close(parser: Parser, closer: str, opened_at: int) -> None:
    """Pass over `)`, which must be next."""
    parser.skip_newlines()
    if parser.position >= len(parser.text):
        if parser.text[opened_at : opened_at + 1] == "(":
            raise parser.unexpected_end()
        raise parser.unclosed(closer, opened_at, at_end=True)
    if parser.text[parser.position] != closer:
        raise parser.unexpected(parser.token())
    parser.position += 1


def _compound_list(parser: Parser) -> Command:
    """Parse the commands inside a construct up to its closing reserved word or operator."""
    parser.skip_to_command()
    if parser.at_list_end():
        raise parser.unexpected(parser.token())
    return parser.command_list(until_newline=False)


def _expect(parser: Parser, *words: str) -> str:
    """Pass over one of these reserved words, which must be next."""
    match = parser.reserved_match()
    if match is not None and match[0] in words:
        parser.position = match.end()
        return match[0]
    parser.skip_newlines()
    word = parser.reserved_word()
    if word not in words:
        raise parser.unexpected(parser.token())
    parser.position += len(word)
    return word


def _at_body(parser: Parser) -> bool:
    """Whether a compound command begins at the cursor, as the body of a function must be."""
    return parser.text.startswith("(", parser.position) or parser.reserved_word() in _BODIES


def define_function(parser: Parser, name: str, body_at: int, start: int) -> Command:
    """Parse the definition of the function `name`, whose body begins at `body_at`."""
    parser.position = body_at
    parser.skip_newlines()
    if parser.position >= len(parser.text):
        raise parser.unexpected_end()
    line = parser.line_at(start)
    if not _at_body(parser):
        raise parser.unexpected(parser.token())
    parser.enter()
    waiting = len(parser.unplaced)
    if parser.text.startswith("{", parser.position):
        parser.last_opening = parser.line_at(parser.position)
    body = parser.command()
    parser.nesting -= 1
    opening = parser.last_opening or line  # for bash that of the last function inside, if any
    if waiting < len(parser.unplaced):
        parser.place_redirections(waiting, opening)
    return FunctionDefinition(name, body, line, opening)


def define_without_name(parser: Parser, source: str, start: int) -> Command:
    """Read NAME () for a NAME that is no valid name: the shell refuses it when it runs."""
    parser.position += 1
    if (token := parser.token()) != ")":
        raise parser.unexpected(token or "newline")
    return define_function(parser, source, parser.position + 1, start)


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
