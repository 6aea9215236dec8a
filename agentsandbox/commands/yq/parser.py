"""Expressions as trees: yq reads them by precedence alone, every operator with none, one or two
operands.
"""

from __future__ import annotations

from agentsandbox.commands.yq.lexer import ExpressionError, Token, tokens_of

_DEEPEST = 300
"""Levels of an expression."""
_BINARY = {
    "block": 10, "union": 10, "create_map": 15, "or": 20, "and": 20, "pipe": 30, "ireduce": 35, "assign": 40, "add_assign": 40,
    "subtract_assign": 40, "assign_style": 40, "assign_tag": 40, "assign_comment": 40, "assign_alias": 40,
    "as": 40, "equals": 40, "not_equals": 40, "compare": 40, "multiply": 42, "multiply_assign": 42, "divide": 42, "modulo": 42,
    "add": 42, "subtract": 42, "alternative": 42, "short_pipe": 45, "traverse_array": 50,
}  # fmt: skip
_UNARY = {
    **dict.fromkeys((
        "collect", "error", "contains", "any_c", "all_c", "with_entries", "set_path",
        "join", "sub", "match", "capture", "test", "has",
    ), 50),
    **dict.fromkeys((
        "map", "filter", "pick", "omit", "map_values", "with", "explode", "sort_by", "sort_keys",
        "split", "load", "select", "unique_by", "group_by", "first",
    ), 52),
    "delete": 40,
}  # fmt: skip
_NULLARY = {
    "min": 40, "max": 40, "variable": 55, "path": 55, "self": 55,
    **dict.fromkeys((
        "to_entries", "from_entries", "split_doc", "get_path", "reverse", "sort", "keys", "env", "unique",
        "flatten", "first_of", "parent", "decode",
    ), 52),
}  # fmt: skip


class Expression:
    """An operator with its operands."""

    __slots__ = ("left", "name", "options", "right", "text", "value")

    def __init__(
        self, name: str, text: str = "", value: str = "", options: frozenset[str] = frozenset()
    ) -> None:
        self.name = name
        self.text = text
        self.value = value
        self.options = options
        self.left: Expression | None = None
        self.right: Expression | None = None


def parse_expression(text: str) -> Expression | None:
    """The tree; None of an expression that says nothing. Raises `ExpressionError`."""
    return _tree(_postfix(tokens_of(text)))


def _precedence(token: Token) -> int:
    return _BINARY.get(token.name) or _UNARY.get(token.name) or _NULLARY.get(token.name, 50)


def _postfix(tokens: list[Token]) -> list[Token]:
    """The operators, each after its operands."""
    result: list[Token] = []
    waiting = [Token("(")]
    for token in [*tokens, Token(")", ")")]:
        name = token.name
        if name in ("(", "[", "{"):
            waiting.append(token)
        elif name in (")", "]", "}"):
            _close(token, waiting, result)
        else:
            precedence = _precedence(token)
            while (
                waiting
                and waiting[-1].name not in ("(", "[", "{")
                and _precedence(waiting[-1]) > precedence
            ):
                result.append(waiting.pop())
            waiting.append(token)
    if waiting:
        raise ExpressionError(
            "bad expression - probably missing close bracket on " + _named(waiting[-1])
        )
    return result


def _named(token: Token) -> str:
    return token.text or token.name


def _close(token: Token, waiting: list[Token], result: list[Token]) -> None:
    opener = {")": "(", "]": "[", "}": "{"}[token.name]
    while waiting and waiting[-1].name != opener:
        if waiting[-1].name in ("(", "[", "{") and len(waiting) > 1:
            raise ExpressionError(
                f"bad expression - probably missing close bracket on {_named(waiting[-1])}"
            )
        result.append(waiting.pop())
    if not waiting:
        what = "brackets" if token.name == ")" else "collect brackets"
        raise ExpressionError(f"bad expression, got close {what} without matching opening bracket")
    waiting.pop()
    if token.name == "]":
        result.append(Token("collect", "["))
        if waiting and waiting[-1].name == "traverse_array":
            waiting[-1].options |= token.options
            result.append(waiting.pop())
    elif token.name == "}":
        result.append(Token("collect_object", "{"))
        result.append(Token("short_pipe", "{"))


def _tree(postfix: list[Token]) -> Expression | None:
    stack: list[tuple[Expression, int]] = []
    if not postfix:
        return None
    for token in postfix:
        made = Expression(token.name, token.text, token.value, token.options)
        depth = 1
        if token.name in _UNARY:
            if not stack:
                raise ExpressionError(f"'{token.text.strip()}' expects 1 arg but received none")
            made.right, below = stack.pop()
            depth += below
        elif token.name in _BINARY:
            if len(stack) < 2:
                raise ExpressionError(
                    f"'{token.text.strip()}' expects 2 args but there is {len(stack)}"
                )
            made.right, below = stack.pop()
            made.left, beside = stack.pop()
            depth += max(below, beside)
        if depth > _DEEPEST:
            raise ExpressionError("the expression is nested too deeply (D-yq)")
        stack.append((made, depth))
    if len(stack) != 1:
        raise ExpressionError("bad expression, please check expression syntax")
    return stack[0][0]
