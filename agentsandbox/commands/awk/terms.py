"""Awk tokens into expressions, by precedence climbing.

`binary(minimum)` reads an operand and then all operators that bind at least as tightly as
`minimum`. Awk has three difficulties beyond that: concatenation has no operator, `>` redirects
inside a print list, and `command | getline` binds more loosely than what is before it.
"""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.lexer import tokenize
from agentsandbox.commands.awk.tokens import AwkSyntaxError, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.modes import Mode
    from agentsandbox.commands.awk.nodes import Expression, Function, Statement
    from agentsandbox.commands.awk.tokens import Source, Token
    from agentsandbox.kernel.budget import Budget

MAX_NESTING = 120
"""Levels of parentheses and blocks a program may have: each costs a few Python frames."""

_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "^="))
_TERNARY, _OR, _AND, _IN, _MATCH, _COMPARE, CONCAT, _ADD, _MULTIPLY, _UNARY, _POWER = range(1, 12)
_BINARY = {
    "||": _OR, "&&": _AND, "<": _COMPARE, "<=": _COMPARE, "==": _COMPARE, "!=": _COMPARE,
    ">": _COMPARE, ">=": _COMPARE, "+": _ADD, "-": _ADD, "*": _MULTIPLY,
    "/": _MULTIPLY, "%": _MULTIPLY, "^": _POWER,
}  # fmt: skip
_OPERAND_STARTS = frozenset(
    (
        "NUMBER", "STRING", "ERE", "TYPED", "NAME", "CALL", "INDIRECT", "BUILTIN", "$", "!", "(",
        "-", "+", "++", "--",
    )
)  # fmt: skip
_CALLS = frozenset(("CALL", "INDIRECT", "BUILTIN"))
"""The tokens that begin what `call_parser` reads."""
_CONCAT_STARTS = _OPERAND_STARTS - {"-", "+", "ERE"} | {"getline"}


class Terms:
    """The grammar of expressions, and the tokens that it reads."""

    def __init__(
        self,
        source: Source,
        warn: Callable[[str], None],
        functions: dict[str, Function],
        budget: Budget,
        mode: Mode,
    ) -> None:
        self.source = source
        self.mode = mode
        self.budget = budget
        self.warn: Callable[[str, int], None] = lambda message, line: warn(
            f"{source.place(line)}: warning: {message}"
        )
        self.tokens = tokenize(source, self.warn, budget, mode)
        self.functions = functions
        self.position = 0
        self.token = self.tokens[0]
        self.nesting = 0
        self.no_greater = False  # inside print's list, where ">" redirects
        self.parameters: dict[str, int] = {}
        self.defining = ""
        self.in_loop = 0
        self.in_switch = 0
        self.in_function = False
        self.rule_kind = ""
        self.variables: set[str] = set()
        """The global names used as variables."""
        self.complaints: list[str] = []
        """Errors after which parsing continues."""

    # tokens

    def advance(self) -> Token:
        budget = self.budget
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        token = self.token
        self.position += 1
        if self.position < len(self.tokens):
            self.token = self.tokens[self.position]
            if self.token.error is not None:
                raise self.token.error
        return token

    def peek(self, distance: int = 1) -> Token:
        return self.tokens[min(self.position + distance, len(self.tokens) - 1)]

    def expect(self, kind: str) -> Token:
        if self.token.kind != kind:
            raise self.unexpected()
        return self.advance()

    def unexpected(self) -> AwkSyntaxError:
        """Return the error at the current token."""
        raise NotImplementedError

    def pointed(self, position: int, message: str) -> AwkSyntaxError:
        """Return the error that shows the line of `position` and a caret below it."""
        raise NotImplementedError

    def call_reader(self) -> Callable[[Terms], Expression]:
        """Return what reads the call that begins with the current token."""
        raise NotImplementedError

    def statement(self) -> Statement:
        """Read a statement."""
        raise NotImplementedError

    def statements(self) -> list[Statement]:
        """Read up to a closing brace, `case` or `default`, which is not taken."""
        raise NotImplementedError

    def action(self) -> list[Statement]:
        """Read statements in braces."""
        raise NotImplementedError

    def simple(self) -> Statement:
        """Read a statement that the head of a `for` may hold."""
        raise NotImplementedError

    def terminate(self) -> None:
        """Skip the end of a simple statement."""
        raise NotImplementedError

    def error(self, message: str, line: int | None = None) -> AwkSyntaxError:
        """Return an error at the current token, or on a line."""
        return AwkSyntaxError(
            f"{self.source.place(self.token.line if line is None else line)}: {message}"
        )

    def newlines(self) -> None:
        while self.token.kind == "NEWLINE":
            self.advance()

    def twice(self, message: str) -> AwkSyntaxError:
        """Return an error that gawk words two times."""
        error = self.error(message)
        return AwkSyntaxError(error.lines[0], error.lines[0])

    def deeper(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.error("error: program nested too deeply")

    # names

    def variable(self, token: Token) -> nodes.Name:
        """Return the variable or array that a name is."""
        name = token.value
        if name not in self.parameters:
            if name in self.functions or name == self.defining:
                message = (
                    f"function `{spelled(name)}' called with space between name and `(',\n"
                    "or used as a variable or an array"
                )
                self.complaints += self.error(f"error: {message}", token.line).lines
            self.variables.add(name)
        return nodes.Name(token.line, name)

    def name_or_index(self) -> nodes.Name | nodes.Index:
        result: nodes.Name | nodes.Index = self.variable(self.expect("NAME"))
        while self.token.kind == "[":
            result = self.subscript(result)
        return result

    def subscript(self, base: nodes.Name | nodes.Index) -> nodes.Index:
        line = self.advance().line
        subscripts = self.list_until("]")
        self.advance()
        return nodes.Index(line, base, subscripts)

    def list_until(self, closing: str) -> list[Expression]:
        """Read one or more expressions with commas between; the closing token is not taken."""
        saved, self.no_greater = self.no_greater, False
        found = [self.expression()]
        while self.token.kind == ",":
            self.advance()
            self.newlines()
            found.append(self.expression())
        self.no_greater = saved
        if self.token.kind != closing:
            raise self.unexpected()
        return found

    def refuse_grouping(self, expression: Expression) -> None:
        if isinstance(expression, nodes.Grouping):
            raise self.unexpected()

    # expressions

    def expression(self) -> Expression:
        self.deeper()
        result = self.ternary()
        self.nesting -= 1
        return result

    def ternary(self) -> Expression:
        condition = self.binary(_OR)
        if self.token.kind != "?":
            return condition
        line = self.advance().line
        if not self.mode.posix:
            self.newlines()
        yes = self.expression()
        self.expect(":")
        if not self.mode.posix:
            self.newlines()
        return nodes.Ternary(line, condition, yes, self.expression())

    def binary(self, minimum: int, *, assignable: bool = True) -> Expression:
        """Read operators that bind at least as tightly as `minimum`."""
        left = self.unary(assignable and minimum <= CONCAT)
        after_getline = False
        compared = False
        while True:
            token = self.token
            kind = token.kind
            if (
                kind in ("|", "|&")
                and not self.no_greater
                and self.peek().kind == "getline"
                and (minimum <= CONCAT or after_getline)
            ):
                self.advance()
                self.advance()
                left = nodes.Getline(token.line, kind, self.optional_variable(), left)
                after_getline = True
                continue
            level = _BINARY.get(kind)
            if level is not None:
                if kind == ">" and self.no_greater:
                    return left
                if level < minimum and not (after_getline and level >= _ADD):
                    return left
                if level == _COMPARE:
                    if compared:
                        raise self.unexpected()
                    compared = True
                left = self.operator(left, level)
            elif kind in ("~", "!~") and minimum <= _MATCH:
                self.advance()
                if isinstance(left, nodes.Regex):
                    self.warn("regular expression on left of `~' or `!~' operator", token.line)
                pattern = as_pattern(self.binary(_COMPARE))
                left = nodes.Match(token.line, left, pattern, kind == "!~")
                compared = False
            elif kind == "in" and minimum <= _IN:
                self.advance()
                array = self.name_or_index()
                left = nodes.Membership(
                    token.line, left.items if isinstance(left, nodes.Grouping) else [left], array
                )
            elif kind in _CONCAT_STARTS and minimum <= CONCAT and kind != "in":
                right = self.binary(_ADD)
                if isinstance(left, nodes.Concat):
                    left.parts.append(
                        right.inner if isinstance(right, nodes.Parenthesized) else right
                    )
                else:
                    left = nodes.Concat(token.line, [left, right])
            else:
                return left

    def operator(self, left: Expression, level: int) -> Expression:
        """Read the rest of a binary operation whose operator is the next token."""
        token = self.advance()
        if level in (_OR, _AND):
            self.newlines()
        if level == _POWER:
            right = self.power_operand()
        elif level == _COMPARE:
            right = self.binary(CONCAT)
        else:
            right = self.binary(level + 1)
        return nodes.Binary(token.line, token.kind, left, right)

    def power_operand(self) -> Expression:
        """Read the right side of `^`: it may have a sign, and another `^`."""
        if self.token.kind in ("-", "+", "!"):
            self.deeper()
            token = self.advance()
            operand = self.power_operand()
            self.nesting -= 1
            return nodes.Unary(token.line, token.kind, operand)
        left = self.postfix(False)
        if self.token.kind == "^":
            self.deeper()
            token = self.advance()
            left = nodes.Binary(token.line, "^", left, self.power_operand())
            self.nesting -= 1
        return left

    def unary(self, assignable: bool) -> Expression:
        """Read an operand with its signs; it can be an assignment if `assignable`."""
        token = self.token
        if token.kind in ("!", "-", "+"):
            self.deeper()
            self.advance()
            operand = self.raise_power(self.unary(False))
            self.nesting -= 1
            return nodes.Unary(token.line, token.kind, operand)
        return self.raise_power(self.postfix(assignable))

    def signed(self) -> Expression:
        return self.unary(False)

    def raise_power(self, operand: Expression) -> Expression:
        if self.token.kind == "^":
            token = self.advance()
            return nodes.Binary(token.line, "^", operand, self.power_operand())
        return operand

    def postfix(self, assignable: bool) -> Expression:
        operand = self.operand()
        token = self.token
        if not isinstance(operand, (nodes.Name, nodes.Index, nodes.Field)):
            return operand
        if token.kind in ("++", "--"):
            self.advance()
            return nodes.Step(token.line, operand, 1 if token.kind == "++" else -1, False)
        if token.kind in _ASSIGNMENTS and assignable:
            self.advance()
            self.deeper()
            value = self.ternary()
            self.nesting -= 1
            return nodes.Assign(token.line, token.kind, operand, value)
        return operand

    def operand(self) -> Expression:
        kind = self.token.kind
        method = _OPERAND.get(kind)
        if kind in _CALLS:
            method = self.call_reader()
        if method is None:
            raise self.unexpected()
        return method(self)

    def number(self) -> Expression:
        token = self.advance()
        text = token.value
        base = 16 if text[:2] in ("0x", "0X") else 10
        is_octal = text[0] == "0" and text.isdigit() and not set(text) & {"8", "9"}
        if is_octal and not self.mode.traditional:
            base = 8
        if base == 10:
            return nodes.Number(token.line, float(text))
        return nodes.Number(token.line, float(int(text, base)) if len(text) < 250 else float("inf"))

    def text(self) -> Expression:
        token = self.advance()
        return nodes.Text(token.line, token.value)

    def regex(self) -> Expression:
        from agentsandbox.commands.awk.literals import doubtful_escapes

        token = self.advance()
        for message in doubtful_escapes(token.value, self.mode):
            self.warn(message, token.line)
        return nodes.Regex(token.line, token.value)

    def typed_regex(self) -> Expression:
        token = self.advance()
        return nodes.TypedRegex(token.line, token.value)

    def field(self) -> Expression:
        token = self.advance()
        self.deeper()
        number: Expression
        if self.token.kind in ("++", "--"):
            number = self.pre_step()
        elif self.token.kind in ("-", "+", "!"):
            sign = self.advance()
            number = nodes.Unary(sign.line, sign.kind, self.raise_power(self.postfix(False)))
        elif self.token.kind == "$":
            number = self.postfix(False)
        else:
            number = self.operand()
        self.nesting -= 1
        return nodes.Field(token.line, number)

    def pre_step(self) -> Expression:
        token = self.advance()
        if self.token.kind not in ("NAME", "$", "NEWLINE", "EOF"):
            raise self.unexpected()
        target = self.operand()
        if not isinstance(target, (nodes.Name, nodes.Index, nodes.Field)):
            raise self.unexpected()
        return nodes.Step(token.line, target, 1 if token.kind == "++" else -1, True)

    def parenthesis(self) -> Expression:
        token = self.advance()
        items = self.list_until(")")
        self.advance()
        if len(items) > 1:
            if self.token.kind not in ("in", ";", "NEWLINE", "}", ">", ">>", "|", "|&", "EOF"):
                raise self.unexpected()
            return nodes.Grouping(token.line, items)
        self.refuse_grouping(items[0])
        return nodes.Parenthesized(token.line, items[0])

    def getline(self) -> Expression:
        token = self.advance()
        target = self.optional_variable()
        if self.token.kind == "<":
            self.advance()
            source = self.file_operand()
            return nodes.Getline(token.line, "<", target, source)
        return nodes.Getline(token.line, "", target, None)

    def file_operand(self) -> Expression:
        """Read the file of `getline <`: sums, but no concatenation."""
        left = self.postfix(False)
        while _BINARY.get(self.token.kind, 0) >= _ADD:
            left = self.operator(left, _BINARY[self.token.kind])
        return left

    def optional_variable(self) -> nodes.Name | nodes.Index | nodes.Field | None:
        if self.token.kind == "NAME":
            return self.name_or_index()
        if self.token.kind == "$":
            result = self.field()
            assert isinstance(result, nodes.Field)
            return result
        return None

    def arguments(self) -> list[Expression]:
        self.expect("(")
        if self.token.kind == ")":
            return []
        return self.list_until(")")


def as_pattern(expression: Expression) -> Expression:
    """Return an expression where a regular expression is needed: `@/…/` is `/…/` there."""
    if isinstance(expression, nodes.TypedRegex):
        return nodes.Regex(expression.line, expression.source)
    return expression


_OPERAND: dict[str, Callable[[Terms], Expression]] = {
    "NUMBER": Terms.number, "STRING": Terms.text, "ERE": Terms.regex, "NAME": Terms.name_or_index,
    "$": Terms.field, "++": Terms.pre_step, "--": Terms.pre_step, "(": Terms.parenthesis,
    "getline": Terms.getline, "TYPED": Terms.typed_regex, "-": Terms.signed,
    "+": Terms.signed, "!": Terms.signed,
}  # fmt: skip
