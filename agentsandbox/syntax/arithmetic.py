"""Arithmetic expressions: a precedence parser into tuples.

A tree is one of
    ("number", n)                      ("variable", name, subscript text or None)
    ("operand", index)                 the value of the index-th expansion in the text
    ("unary", operator, tree)          ("binary", operator, left, right)
    ("and", left, right)               ("or", left, right)
    ("choose", condition, yes, no)     ("comma", left, right)
    ("assign", operator, variable, tree)   ("step", "++x" "--x" "x++" "x--", variable)
"""

from __future__ import annotations

import functools
import re

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Tree = tuple[Any, ...]

__all__ = ["FIRST_OPERAND", "OPERAND", "ArithmeticSyntaxError", "parse_arithmetic"]

OPERAND = "\ue000"
"""Stands in the text for an expansion, followed by its index as a character from U+E100 on."""
FIRST_OPERAND = 0xE100

_TOKEN = re.compile(
    r"[ \t\n]*(?:(?P<number>[0-9][0-9A-Za-z_@#]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<operand>\ue000.)|"
    r"(?P<operator><<=|>>=|\*\*|&&|\|\||<<|>>|<=|>=|==|!=|\+\+|--|[-+*/%&|^]=|[-+*/%<>=!~&|^?:,()]))"
)
_BLANK = re.compile(r"[ \t\n]*")
_NAME_FOLLOWS = re.compile(r"[ \t\n]*[A-Za-z_]")
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
_ASSIGNING = frozenset("= *= /= %= += -= <<= >>= &= ^= |=".split())
MAX_NESTING = 250


class ArithmeticSyntaxError(Exception):
    """An expression that is not arithmetic. `message` and `token` as bash words them; `text` is what it shows of the expression."""

    def __init__(self, message: str, token: str, text: str) -> None:
        self.message = message
        self.token = token
        self.text = text
        super().__init__(message)


def parse_arithmetic(text: str) -> Tree:
    """The tree of an expression; an empty one is 0."""
    return (_cached_tree if len(text) <= _SHORT else _parse)(text)


def _parse(text: str) -> Tree:
    return _Parser(text).parse()


_SHORT = 512
"""Characters of an expression that is worth remembering."""
_cached_tree = functools.lru_cache(maxsize=1024)(_parse)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.kind = ""
        self.token = ""
        self.start = 0
        self.last_start = 0
        self.depth = 0
        self.advance()

    def advance(self) -> None:
        self.last_start = self.start
        after_name = self.kind == "name"
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            self.start = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
            self.kind, self.token = ("end", "") if self.start >= len(self.text) else ("bad", self.text[self.start])
            return
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self.start = match.start(self.kind)
        self.position = match.end()
        if self.token in ("++", "--") and not after_name and not _NAME_FOLLOWS.match(self.text, self.position):
            self.token = self.token[0]  # two signs
            self.position -= 1

    def error(self, message: str, start: int | None = None) -> ArithmeticSyntaxError:
        return ArithmeticSyntaxError(message, self.text[self.start if start is None else start :], self.text)

    def number_error(self, message: str) -> ArithmeticSyntaxError:
        """The error for a number that is none: bash has cut the expression off behind it."""
        return ArithmeticSyntaxError(message, self.token, self.text[: self.start + len(self.token)])

    def operand_error(self) -> ArithmeticSyntaxError:
        """The error for a missing operand; at the end, bash shows the last token it saw."""
        at = self.last_start if self.kind == "end" else self.start
        return self.error("syntax error: operand expected", at)

    def parse(self) -> Tree:
        if self.kind == "end":
            return ("number", 0)
        tree = self.comma()
        if self.kind != "end":
            if self.kind == "operator" and self.token == "=":
                raise self.error("attempted assignment to non-variable")
            if self.kind == "bad":
                raise self.error("syntax error: invalid arithmetic operator")
            if self.kind == "operator" and self.token in _ASSIGNING:
                raise self.error("attempted assignment to non-variable")
            at = self.start
            if self.kind == "name":  # bash has looked at what follows a name when it takes it
                self.advance()
                if self.kind == "bad":
                    raise self.error("syntax error: invalid arithmetic operator")
            raise self.error("syntax error in expression", at)
        return tree

    def comma(self) -> Tree:
        tree = self.assignment()
        while self.kind == "operator" and self.token == ",":
            self.advance()
            tree = ("comma", tree, self.assignment())
        return tree

    def assignment(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise LimitReached("depth", "the expression nests too deeply")
        tree = self.choice()
        if self.kind == "operator" and self.token in _ASSIGNING and tree[0] == "variable":
            operator = self.token
            self.advance()
            tree = ("assign", operator[:-1], tree, self.assignment())
        self.depth -= 1
        return tree

    def choice(self) -> Tree:
        condition = self.binary(3)
        if self.kind != "operator" or self.token != "?":
            return condition
        self.advance()
        if self.kind == "operator" and self.token == ":":
            raise self.error("expression expected")
        yes = self.comma()
        if self.kind == "bad":
            raise self.error("syntax error: invalid arithmetic operator")
        if self.kind != "operator" or self.token != ":":
            raise self.error("`:' expected for conditional expression", self.last_start if self.kind == "end" else None)
        self.advance()
        if self.kind == "end":
            raise self.error("expression expected", self.last_start)
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise LimitReached("depth", "the expression nests too deeply")
        no = self.choice()
        self.depth -= 1
        return ("choose", condition, yes, no)

    def binary(self, lowest: int) -> Tree:
        left = self.unary()
        while self.kind == "operator":
            operator = self.token
            precedence = _BINARY.get(operator, 0)
            if precedence < lowest:
                break
            self.advance()
            if operator == "**":
                self.depth += 1
                if self.depth > MAX_NESTING:
                    raise LimitReached("depth", "the expression nests too deeply")
                left = ("binary", operator, left, self.binary(precedence))
                self.depth -= 1
                continue
            right = self.binary(precedence + 1)
            if operator == "&&":
                left = ("and", left, right)
            elif operator == "||":
                left = ("or", left, right)
            else:
                left = ("binary", operator, left, right)
        return left

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
                return self._prefix_step(operator)
            if operator == "(":
                self.advance()
                tree = self.comma()
                if self.kind == "bad":
                    raise self.error("syntax error: invalid arithmetic operator")
                if self.kind != "operator" or self.token != ")":
                    raise self.error("missing `)'", self.last_start if self.kind == "end" else None)
                self.advance()
                return tree
        return self.primary()

    def _prefix_step(self, operator: str) -> Tree:
        self.advance()
        return ("step", operator + "x", self.variable())

    def primary(self) -> Tree:
        if self.kind == "number":
            value = self._number(self.token)
            self.advance()
            return ("number", value)
        if self.kind == "operand":
            index = ord(self.token[1]) - FIRST_OPERAND
            self.advance()
            return ("operand", index)
        if self.kind == "name":
            target = self.variable()
            if self.kind == "operator" and self.token in ("++", "--"):
                operator = self.token
                self.advance()
                return ("step", "x" + operator, target)
            return target
        if self.kind == "bad":
            raise self.error("syntax error: operand expected")
        raise self.operand_error()

    def variable(self) -> Tree:
        name = self.token
        if self.text[self.position : self.position + 1] == "[":
            depth = 0
            for at in range(self.position, len(self.text)):
                char = self.text[at]
                depth += (char == "[") - (char == "]")
                if not depth:
                    subscript = self.text[self.position + 1 : at]
                    self.position = at + 1
                    self.advance()
                    return ("variable", name, subscript)
            raise self.error("bad array subscript")
        self.advance()
        return ("variable", name, None)

    def _number(self, text: str) -> int:
        if len(text) > 70:
            raise self.number_error("value too great for base") if "#" in text else self.number_error("syntax error in expression")
        base_text, hash_sign, digits = text.partition("#")
        if hash_sign:
            return self._based(base_text, digits)
        if "_" in text:  # a digit of base 64, which Python takes for a separator
            raise self.number_error("value too great for base")
        try:
            if text[0] == "0" and len(text) > 1:
                if text[1] in "xX":
                    return _wrap(int(text, 16)) if len(text) > 2 else 0
                return _wrap(int(text, 8))
            return _wrap(int(text))
        except ValueError:
            if text[0] == "0" and text.isdigit():
                raise self.number_error("value too great for base") from None
            if text[0] == "0" and text[1:2] in ("x", "X"):
                raise self.number_error("value too great for base") from None
            if "@" in text or not text.isdigit():
                raise self.number_error("value too great for base") from None
            raise self.number_error("invalid number") from None

    def _based(self, base_text: str, digits: str) -> int:
        if not base_text.isdigit() or base_text[0] == "0" or not 2 <= int(base_text) <= 64:
            raise self.number_error("invalid arithmetic base")
        base = int(base_text)
        if not digits:
            raise self.number_error("invalid integer constant")
        total = 0
        for digit in digits:
            if digit.isdigit():
                value = ord(digit) - 48
            elif digit.isalpha() and digit.isascii():
                value = ord(digit.lower()) - 87 if base <= 36 else (ord(digit) - 87 if digit.islower() else ord(digit) - 29)
            else:
                value = {"@": 62, "_": 63}.get(digit, 99)
            if value >= base:
                raise self.number_error("value too great for base")
            total = total * base + value
        return _wrap(total)


def _wrap(number: int) -> int:
    """To 64 bits, two's complement."""
    return ((number + 0x8000000000000000) & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000
