"""`test` (POSIX 1003.1-2017, GNU coreutils) as a program: the rules of the shell's builtin in words of its own."""

from __future__ import annotations

import re

from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError
from agentsandbox.kernel.formats.predicates import BINARY_OPERATORS, NUMERIC, TEXTUAL, UNARY_OPERATORS, compare_files, evaluate_unary
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.fs.base import FileSystem

_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)[ \t]*")
_BINARY = BINARY_OPERATORS - {"<", ">"}
_UNARY = UNARY_OPERATORS - {"-a", "-o", "-v", "-R"}
_LONGEST = 4000
"""Digits of a number that is compared as one."""


class _Environment:
    """What a program knows: files, but no variables of the shell."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx
        self.fs: FileSystem = ctx.fs

    def path(self, name: str) -> str:
        return self.ctx.path(name)

    def is_terminal(self, descriptor: int) -> bool:
        streams = (self.ctx.stdin, self.ctx.stdout, self.ctx.stderr)
        return descriptor < 3 and bool(getattr(streams[descriptor], "is_terminal", False))

    def is_set(self, name: str) -> bool:
        return name in self.ctx.env

    def is_reference(self, _name: str) -> bool:
        return False

    def option_on(self, _name: str) -> bool:
        return False


def _integer(text: str) -> int:
    found = _INTEGER.fullmatch(text)
    if found is None:
        raise CommandError(f"invalid integer {quote(text)}", 2)
    if len(found[1]) > _LONGEST:
        raise CommandError(f"{text}: integer out of range", 2)
    return int(found[1])


class _Test:
    """An expression and how far it is read: few words mean what POSIX says of their number, more are parsed."""

    def __init__(self, ctx: CommandContext, words: Sequence[str]) -> None:
        self.words = words
        self.environment = _Environment(ctx)
        self.budget = ctx.budget
        self.at = 0

    def run(self) -> bool:
        """The value of all the words."""
        value = bool(self.words) and self._some(len(self.words))
        if self.at < len(self.words):
            raise CommandError(f"extra argument {quote(self.words[self.at])}", 2)
        return value

    def _beyond(self) -> CommandError:
        return CommandError(f"missing argument after {quote(self.words[-1])}", 2)

    def _advance(self, *, more: bool = False) -> None:
        self.at += 1
        if more and self.at >= len(self.words):
            raise self._beyond()

    def _word(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.words[at] if at < len(self.words) else ""

    def _some(self, count: int) -> bool:
        if count == 1:
            return self._one()
        if count == 2:
            return self._two()
        if count == 3:
            return self._three()
        if count == 4 and self._word() == "!":
            self._advance(more=True)
            return not self._three()
        if count == 4 and self._word() == "(" and self._word(3) == ")":
            self._advance()
            value = self._two()
            self._advance()
            return value
        return self._disjunction()

    def _one(self) -> bool:
        self.at += 1
        return self.words[self.at - 1] != ""

    def _two(self) -> bool:
        word = self._word()
        if word == "!":
            self._advance()
            return not self._one()
        if len(word) == 2 and word[0] == "-":
            return self._unary()
        raise self._beyond()

    def _three(self) -> bool:
        if self._word(1) in _BINARY:
            return self._binary()
        if self._word() == "!":
            self._advance(more=True)
            return not self._two()
        if self._word() == "(" and self._word(2) == ")":
            self._advance()
            value = self._one()
            self._advance()
            return value
        if self._word(1) in ("-a", "-o"):
            return self._disjunction()
        raise CommandError(f"{quote(self._word(1))}: binary operator expected", 2)

    def _disjunction(self) -> bool:
        value = self._conjunction()
        while self._word() == "-o":
            self._advance()
            value = self._conjunction() or value
        return value

    def _conjunction(self) -> bool:
        value = self._term()
        while self._word() == "-a":
            self._advance()
            value = self._term() and value
        return value

    def _term(self) -> bool:
        negated = False
        while self._word() == "!":
            self._advance(more=True)
            negated = not negated
        if self.at >= len(self.words):
            raise self._beyond()
        left = len(self.words) - self.at
        if self._word() == "(":
            value = self._parenthesis()
        elif left >= 4 and self._word() == "-l" and self._word(2) in _BINARY:
            self.at += 1
            value = self._binary(length=True)
        elif left >= 3 and self._word(1) in _BINARY:
            value = self._binary()
        elif len(self._word()) == 2 and self._word()[0] == "-":
            value = self._unary()
        else:
            value = self._one()
        return value is not negated

    def _parenthesis(self) -> bool:
        self._advance(more=True)
        count = 1
        while self.at + count < len(self.words) and self._word(count) != ")":
            if count == 4:
                count = len(self.words) - self.at
                break
            count += 1
        self.budget.deeper()
        value = self._some(count)
        self.budget.shallower()
        if self.at >= len(self.words):
            raise CommandError(f"{quote(')')} expected", 2)
        if self._word() != ")":
            raise CommandError(f"{quote(')')} expected, found {quote(self._word())}", 2)
        self._advance()
        return value

    def _unary(self) -> bool:
        operator = self._word()
        if operator not in _UNARY:
            raise CommandError(f"{quote(operator)}: unary operator expected", 2)
        self._advance(more=True)
        self.at += 1
        operand = self.words[self.at - 1]
        if operator == "-t":
            _integer(operand)
        return evaluate_unary(operator, operand, self.environment)

    def _binary(self, *, length: bool = False) -> bool:
        """The operator at the second word; -l before an operand of a comparison of numbers is for the bytes in it."""
        left, operator, right = self._word(), self._word(1), self._word(2)
        of_right = right == "-l" and self.at + 3 < len(self.words)
        if operator in NUMERIC:
            first = len(encode(left)) if length else _integer(left)
            second = len(encode(self._word(3))) if of_right else _integer(right)
            self.at += 3 + of_right
            return NUMERIC[operator](first, second)
        self.at += of_right
        if operator in TEXTUAL:
            left, right = self._word(), self._word(2)
        self.at += 3
        if operator in TEXTUAL:
            return TEXTUAL[operator](left, right)
        if length or of_right:
            raise CommandError(f"{operator} does not accept -l", 2)
        return compare_files(operator, left, right, self.environment)


_EXPRESSIONS = """\
    Exit with the status that EXPRESSION determines: 0 for true, 1 for false, 2 for an error.

    ( EXPRESSION )  ! EXPRESSION  EXPRESSION -a EXPRESSION  EXPRESSION -o EXPRESSION
    Strings: -n -z = == != < >   Numbers: -eq -ne -lt -le -gt -ge   Files: -nt -ot -ef
    One file: -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -t -u -w -x
"""


@command(
    "test",
    usage=f"""
    Usage: test EXPRESSION
      or:  test
{_EXPRESSIONS}    """,
    raw=True,
)
def test(ctx: CommandContext, args: Arguments) -> int:
    return _evaluate(ctx, args.operands)


@command(
    "[",
    usage=f"""
    Usage: test EXPRESSION
      or:  [ EXPRESSION ]
      or:  [ ]
{_EXPRESSIONS}    """,
    raw=True,
)
def bracket(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if words == ["--help"]:
        ctx.print(bracket.usage, end="")
        return 0
    if not words or words[-1] != "]":
        raise CommandError(f"missing {quote(']')}", 2)
    return _evaluate(ctx, words[:-1])


def _evaluate(ctx: CommandContext, words: Sequence[str]) -> int:
    ctx.budget.step(len(words) + 1)
    return 0 if _Test(ctx, words).run() else 1
