"""Arithmetic expressions: a precedence parser into tuples.

A tree is one of
    ("number", n)                      ("variable", name, subscript text or None)
    ("operand", index)                 the value of the index-th expansion in the text
    ("unary", operator, tree)          ("binary", operator, left, right)
    ("and", left, right)               ("or", left, right)
    ("choose", condition, yes, no)     ("comma", left, right)
    ("assign", operator, variable, tree)   ("step", "++x" "--x" "x++" "x--", variable)
Those that can fail, "/", "%" and "**", end with the place of what bash shows of the text then.

Bash evaluates while it reads. An error of the grammar thus says what comes `before` it: the tree of
what has been evaluated.
"""

from __future__ import annotations

import functools

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Tree = tuple[Any, ...]

OPERAND = "\ue000"
"""Marks an expansion in a text that is parsed with operands: its index follows, as a character
from U+E100 on. In other texts the character means nothing."""
FIRST_OPERAND = 0xE100

_TOKEN = lazily(
    r"[ \t\n]*(?:(?P<number>[0-9][0-9A-Za-z_@#]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operand>\ue000.)|(?P<operator><<=|>>=|\*\*|&&|\|\||<<|>>|<=|>=|==|!=|\+\+|--"
    r"|[-+*/%&|^]=|[-+*/%<>=!~&|^?:,()]))"
)
_BEHIND_NAME = lazily(r"[ \t\n]*(?:[-+*/%<>=!~&|^?:,()]|\Z)")
"""What may follow a name."""
_BLANK = lazily(r"[ \t\n]*")
_NAME_FOLLOWS = lazily(r"[ \t\n]*[A-Za-z_]")
_BINARY = {
    "**": 13,
    "*": 12,
    "/": 12,
    "%": 12,
    "+": 11,
    "-": 11,
    "<<": 10,
    ">>": 10,
    "<": 9,
    "<=": 9,
    ">": 9,
    ">=": 9,
    "==": 8,
    "!=": 8,
    "&": 7,
    "^": 6,
    "|": 5,
    "&&": 4,
    "||": 3,
}
_CONNECTIVES = {"&&": "and", "||": "or"}
_FAILING = frozenset(("/", "%", "**"))
_ASSIGNING = frozenset("= *= /= %= += -= <<= >>= &= ^= |=".split())
MAX_NESTING = 250


class ArithmeticSyntaxError(Exception):
    """An expression that is not arithmetic: bash's message, the token, and the text it shows."""

    def __init__(self, message: str, token: str, text: str, before: Tree | None = None) -> None:
        self.message = message
        self.token = token
        self.text = text
        self.before = before
        super().__init__(message)

    def after(self, tree: Tree, kind: str = "comma") -> None:
        """Put `tree` in front of what was evaluated; with "and" or "or" it decides on the rest."""
        self.before = tree if self.before is None else (kind, tree, self.before)


def parse_arithmetic(text: str, *, operands: bool = False) -> Tree:
    """The tree of an expression; an empty one is 0.

    With `operands` the text may hold marks of expansions (see `OPERAND`); a subscript with marks
    becomes a tuple, in which the texts between them and the indices take turns.
    """
    return (_cached_tree if len(text) <= _SHORT else _parse)(text, operands)


def _parse(text: str, operands: bool) -> Tree:
    return _Parser(text, operands).parse()


_SHORT = 512
"""Characters of an expression that is worth remembering."""
_cached_tree = functools.lru_cache(maxsize=1024)(_parse)


class _Parser:
    def __init__(self, text: str, operands: bool) -> None:
        self.text = text
        self.operands = operands
        self.position = 0
        self.kind = ""
        self.token = ""
        self.value = 0
        """Of a number."""
        self.subscript: str | tuple[str | int, ...] | None = None
        """Of a name."""
        self.start = 0
        self.last_start = 0
        self.behind_variable = -1
        """The place of the token behind the last variable."""
        self.depth = 0
        self.advance()

    def advance(self) -> None:
        """Read a token. Bash looks at what follows a name before it takes the name."""
        self.last_start = self.start
        after_name = self.kind == "name"
        match = _TOKEN.match(self.text, self.position)
        if match is None or (match.lastgroup == "operand" and not self.operands):
            self._end()
            return
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self.start = match.start(self.kind)
        self.position = match.end()
        if self.kind == "number":
            self.value = self._number(self.token)
        elif self.kind == "name":
            self.subscript = (
                self._subscript() if self.text[self.position : self.position + 1] == "[" else None
            )
            if not _BEHIND_NAME.match(self.text, self.position):
                self._look_behind_name()
        elif (
            self.token in ("++", "--")
            and not after_name
            and not _NAME_FOLLOWS.match(self.text, self.position)
        ):
            self.token = self.token[0]  # two signs
            self.position -= 1

    def _end(self) -> None:
        self.start = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
        if self.start < len(self.text):
            wants_operand = self.kind in ("", "operator")
            problem = "operand expected" if wants_operand else "invalid arithmetic operator"
            raise self.error(f"syntax error: {problem}")
        self.kind, self.token = "end", ""

    def _subscript(self) -> str | tuple[str | int, ...]:
        """Read the text between the brackets behind a name."""
        first = self.position
        depth = 0
        for at in range(first, len(self.text)):
            char = self.text[at]
            depth += (char == "[") - (char == "]")
            if not depth:
                self.position = at + 1
                return self._marked(self.text[first + 1 : at])
        raise self.error("bad array subscript")

    def _marked(self, subscript: str) -> str | tuple[str | int, ...]:
        """Return a subscript; one with marks as a tuple of texts and indices."""
        if not self.operands or OPERAND not in subscript:
            return subscript
        first, *rest = subscript.split(OPERAND)
        pieces: list[str | int] = [first]
        for each in rest:
            pieces += [ord(each[0]) - FIRST_OPERAND, each[1:]]
        return tuple(pieces)

    def _look_behind_name(self) -> None:
        """Raise the error of an unreadable token before the name is taken."""
        start, position, name = self.start, self.position, self.token
        while (match := _TOKEN.match(self.text, self.position)) is not None and match["name"]:
            self.position = match.end()
        if match is None or (match["operand"] and not self.operands):
            self._end()
        elif match["number"]:
            self.start, self.token = match.start("number"), match["number"]
            self._number(self.token)
        self.kind, self.token, self.start, self.position = "name", name, start, position

    def error(
        self, message: str, start: int | None = None, before: Tree | None = None
    ) -> ArithmeticSyntaxError:
        """An error whose token begins at `start`, or is the one that was read last."""
        return ArithmeticSyntaxError(
            message, self.text[self.start if start is None else start :], self.text, before
        )

    def number_error(self, message: str) -> ArithmeticSyntaxError:
        """Return the error for an invalid number: bash has cut the expression off behind it."""
        return ArithmeticSyntaxError(message, self.token, self.text[: self.start + len(self.token)])

    def last_token(self) -> int:
        """Return where the last token begins; at the end there is none."""
        return self.last_start if self.kind == "end" else self.start

    def parse(self) -> Tree:
        if self.kind == "end":
            return ("number", 0)
        tree = self.comma()
        if self.kind != "end":
            raise self.error("syntax error in expression", before=tree)
        return tree

    def comma(self) -> Tree:
        tree = self.assignment()
        while self.kind == "operator" and self.token == ",":
            try:
                self.advance()
                tree = ("comma", tree, self.assignment())
            except ArithmeticSyntaxError as error:
                error.after(tree)
                raise
        return tree

    def assignment(self) -> Tree:
        self.enter()
        tree = self.choice()
        if self.kind == "operator" and self.token in _ASSIGNING:
            if tree[0] != "variable" or self.behind_variable != self.start:
                raise self.error("attempted assignment to non-variable", before=tree)
            operator = self.token[:-1]
            try:
                self.advance()
                value = self.assignment()
            except ArithmeticSyntaxError as error:
                if operator:
                    error.after(tree)
                raise
            tree = (
                ("assign", operator, tree, value, self.last_token())
                if operator in _FAILING
                else ("assign", operator, tree, value)
            )
        self.depth -= 1
        return tree

    def enter(self) -> None:
        """Count one more level of nesting, up to the limit."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise LimitReached("depth", "the expression nests too deeply")

    def choice(self) -> Tree:
        condition = self.binary(3)
        if self.kind != "operator" or self.token != "?":
            return condition
        try:
            self.advance()
            if self.kind == "operator" and self.token == ":":
                raise self.error("expression expected")
            yes = self.comma()
            if self.kind != "operator" or self.token != ":":
                raise self.error("`:' expected for conditional expression", self.last_token(), yes)
        except ArithmeticSyntaxError as error:
            error.after(condition, "and")
            raise
        self.enter()
        try:
            self.advance()
            if self.kind == "end":
                raise self.error("expression expected", self.last_start, ("number", 0))
            no = self.choice()
        except ArithmeticSyntaxError as error:
            error.before = ("choose", condition, yes, error.before or ("number", 0))
            raise
        self.depth -= 1
        return ("choose", condition, yes, no)

    def binary(self, lowest: int) -> Tree:
        left = self.unary()
        while self.kind == "operator":
            operator = self.token
            precedence = _BINARY.get(operator, 0)
            if precedence < lowest:
                break
            try:
                left = self._operation(operator, precedence, left)
            except ArithmeticSyntaxError as error:
                error.after(left, _CONNECTIVES.get(operator, "comma"))
                raise
        return left

    def _operation(self, operator: str, precedence: int, left: Tree) -> Tree:
        """Parse what follows the left side of the present operator."""
        self.advance()
        start = self.start
        if operator == "**":
            self.enter()
            right = self.binary(precedence)
            self.depth -= 1
            return ("binary", operator, left, right, self.last_token())
        right = self.binary(precedence + 1)
        connective = _CONNECTIVES.get(operator)
        if connective is not None:
            return (connective, left, right)
        return (
            ("binary", operator, left, right, start)
            if operator in _FAILING
            else ("binary", operator, left, right)
        )

    def unary(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise LimitReached("depth", "the expression nests too deeply")
        tree = self._unary()
        self.depth -= 1
        return tree

    def _unary(self) -> Tree:
        if self.kind == "operator":
            operator = self.token
            if operator in ("!", "~", "-", "+"):
                self.advance()
                return ("unary", operator, self.unary())
            if operator in ("++", "--"):
                self.advance()
                return ("step", operator + "x", self.variable())
            if operator == "(":
                return self._parenthesis()
        return self.primary()

    def _parenthesis(self) -> Tree:
        self.advance()
        tree = self.comma()
        if self.kind != "operator" or self.token != ")":
            raise self.error("missing `)'", self.last_token(), tree)
        try:
            self.advance()
        except ArithmeticSyntaxError as error:
            error.after(tree)
            raise
        return tree

    def primary(self) -> Tree:
        if self.kind == "number":
            value = self.value
            self.advance()
            return ("number", value)
        if self.kind == "operand":
            index = ord(self.token[1]) - FIRST_OPERAND
            self.advance()
            return ("operand", index)
        if self.kind != "name":
            raise self.error("syntax error: operand expected", self.last_token())
        target = self.variable()
        if self.kind != "operator" or self.token not in ("++", "--"):
            return target
        step = ("step", "x" + self.token, target)
        self.kind = "number"
        try:
            self.advance()
        except ArithmeticSyntaxError as error:
            error.after(step)
            raise
        return step

    def variable(self) -> Tree:
        name, subscript = self.token, self.subscript
        self.advance()
        self.behind_variable = self.start
        return ("variable", name, subscript)

    def _number(self, text: str) -> int:
        """The value of a number, with or without a base."""
        if len(text) < 19 and text.isdecimal() and text[0] != "0":
            return int(text)
        base, digits, has_base = 10, text, False
        if text[0] == "0":
            base, digits = (16, text[2:]) if text[1:2] in ("x", "X") else (8, text[1:])
            has_base = len(text) > 1
        total = 0
        for at, digit in enumerate(digits):
            if digit == "#":
                if has_base:
                    raise self.number_error("invalid number")
                if not 2 <= total <= 64:
                    raise self.number_error("invalid arithmetic base")
                if digits[at + 1 : at + 2] in ("", "#"):
                    raise self.number_error("invalid integer constant")
                base, total, has_base = total, 0, True
                continue
            value = _DIGITS.index(digit)
            if base <= 36 and value >= 36 and digit.isalpha():
                value -= 26
            if value >= base:
                raise self.number_error("value too great for base")
            total = (total * base + value) & _MASK
        return _wrap(total)


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"
_MASK = (1 << 64) - 1


def _wrap(number: int) -> int:
    """Wrap a number to 64 bits, two's complement."""
    return ((number + 0x8000000000000000) & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000
