"""`expr` (POSIX 1003.1-2017, GNU coreutils): evaluate an expression given as words."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import bytewise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.budget import Budget

    Value = int | str

_INTEGER = lazily(r"-?[0-9]+", re.ASCII)
_ZERO = lazily(r"-?0+|")
_MAX_DIGITS = 4000
_MAX_NESTING = 100

_LEVELS: tuple[tuple[str, ...], ...] = (
    ("|",),
    ("&",),
    ("<", "<=", "=", "==", "!=", ">=", ">"),
    ("+", "-"),
    ("*", "/", "%"),
    (":",),
)
_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    "=": lambda order: order == 0,
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    ">=": lambda order: order >= 0,
    ">": lambda order: order > 0,
}


def _text(value: Value) -> str:
    return value if isinstance(value, str) else str(value)


def _number(value: Value) -> int:
    if isinstance(value, int):
        return value
    if not _INTEGER.fullmatch(value):
        raise CommandError("non-integer argument", 2)
    if len(value) > _MAX_DIGITS:
        raise _too_long()
    return int(value)


def _too_long() -> CommandError:
    return CommandError(f"numbers of more than {_MAX_DIGITS} digits are not available", 3)


def _is_null(value: Value) -> bool:
    return value == 0 if isinstance(value, int) else _ZERO.fullmatch(value) is not None


def _compare(left: Value, right: Value) -> int:
    if all(isinstance(value, int) or _INTEGER.fullmatch(value) for value in (left, right)):
        one, two = _number(left), _number(right)
        return (one > two) - (one < two)
    first, second = _text(left), _text(right)
    return (first > second) - (first < second)


def _calculate(operator: str, left: int, right: int) -> int:
    if left.bit_length() + right.bit_length() > 3 * _MAX_DIGITS:
        raise _too_long()
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if not right:
        raise CommandError("division by zero", 2)
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return quotient if operator == "/" else left - right * quotient


class _Expression:
    """The words and a position among them. Branches that are not evaluated are still parsed."""

    def __init__(self, words: Sequence[str], budget: Budget, *, bytewise: bool) -> None:
        self.bytewise = bytewise
        self.words = words
        self.budget = budget
        self.position = 0
        self.nesting = 0

    def _peek(self) -> str | None:
        return self.words[self.position] if self.position < len(self.words) else None

    def _take(self) -> str:
        """Return the next word, of which there must be one."""
        if self.position >= len(self.words):
            raise CommandError(
                f"syntax error: missing argument after {quote(self.words[self.position - 1])}", 2
            )
        self.budget.step()
        self.position += 1
        return self.words[self.position - 1]

    def evaluate(self) -> Value:
        value = self._level(0, wanted=True)
        if self.position < len(self.words):
            raise CommandError(
                f"syntax error: unexpected argument {quote(self.words[self.position])}", 2
            )
        return value

    def _level(self, level: int, wanted: bool) -> Value:
        if level == len(_LEVELS):
            return self._keyword(wanted)
        left = self._level(level + 1, wanted)
        while (operator := self._peek()) in _LEVELS[level]:
            assert operator is not None
            self.position += 1
            needed = wanted and (level > 1 or _is_null(left) == (level == 0))
            right = self._level(level + 1, needed)
            if level == 0:
                left = left if not _is_null(left) else right if not _is_null(right) else 0
            elif level == 1:
                left = 0 if _is_null(left) or _is_null(right) else left
            elif wanted:
                left = self._apply(level, operator, left, right)
        return left

    def _apply(self, level: int, operator: str, left: Value, right: Value) -> Value:
        if level == 2:
            return int(_COMPARISONS[operator](_compare(left, right)))
        if operator == ":":
            return self._match(_text(left), _text(right))
        return _calculate(operator, _number(left), _number(right))

    def _keyword(self, wanted: bool) -> Value:
        word = self._take()
        if word == "+":
            return self._take()
        if word == "length":
            return len(_text(self._keyword(wanted)))
        if word == "match":
            text, pattern = _text(self._keyword(wanted)), _text(self._keyword(wanted))
            return self._match(text, pattern) if wanted else 0
        if word == "index":
            text, wanted_characters = (
                _text(self._keyword(wanted)),
                set(_text(self._keyword(wanted))),
            )
            return next(
                (at for at, character in enumerate(text, 1) if character in wanted_characters), 0
            )
        if word == "substr":
            return self._substring(wanted)
        if word == "(":
            return self._parenthesis(wanted)
        if word == ")":
            raise CommandError("syntax error: unexpected ')'", 2)
        return word

    def _parenthesis(self, wanted: bool) -> Value:
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            raise CommandError(
                f"parentheses nested deeper than {_MAX_NESTING} are not available", 2
            )
        value = self._level(0, wanted)
        self.nesting -= 1
        following = self._peek()
        if following is None:
            raise CommandError(
                f"syntax error: expecting ')' after {quote(self.words[self.position - 1])}", 2
            )
        if following != ")":
            raise CommandError(f"syntax error: expecting ')' instead of {quote(following)}", 2)
        self.position += 1
        return value

    def _substring(self, wanted: bool) -> str:
        text, start, length = (self._keyword(wanted) for _ in range(3))
        if not all(
            isinstance(value, int) or _INTEGER.fullmatch(value) for value in (start, length)
        ):
            return ""
        first, count = _number(start), _number(length)
        return _text(text)[first - 1 : first - 1 + count] if first > 0 and count > 0 else ""

    def _match(self, text: str, pattern: str) -> Value:
        from agentsandbox.kernel.regexps import (  # only ":" and "match" need them
            RegexError,
            compile_posix,
        )

        try:
            compiled = compile_posix(
                pattern, extended=False, bytewise=self.bytewise, empty_ranges=True
            )
        except RegexError as error:
            raise CommandError(error.message, 2) from None
        found = compiled.match(text, 0, self.budget)
        if compiled.groups:
            return (found.group(1) or "") if found is not None else ""
        return found.end() if found is not None else 0


@command(
    "expr",
    manners=Manners(COREUTILS, pure=True, write_error=("NAME: write error: REASON", 3)),
    usage="""
    Usage: expr EXPRESSION
      or:  expr OPTION
    Print the value of EXPRESSION. Operators, from lowest to highest precedence:

      A | B      A if it is neither null nor 0, otherwise B
      A & B      A if neither is null or 0, otherwise 0
      A < B      also <= = == != >= >: by number if both are numbers, else by text
      A + B      A - B
      A * B      A / B  A % B
      A : R      match A from its beginning with the basic regular expression R: the part in
                 \\( \\), or the length
      match A R, substr A POSITION LENGTH, index A CHARACTERS, length A
      + TOKEN    take TOKEN as text, even if it is a keyword or an operator
      ( A )      the value of A

    The status is 0 if the value is neither null nor 0, 1 if it is, 2 for a syntax error, 3 for any
    other.

          --help  display this help and exit
    """,
    raw=True,
)
def expr(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if len(words) == 1 and len(words[0]) > 2 and "--help".startswith(words[0]):
        ctx.print(expr.usage, end="")
        return 0
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        raise UsageError("missing operand", 2)
    in_bytes = ctx.is_bytewise()
    if in_bytes:
        words = [bytewise(word) for word in words]
    value = _Expression(words, ctx.budget, bytewise=in_bytes).evaluate()
    ctx.print(_text(value))
    return int(_is_null(value))
