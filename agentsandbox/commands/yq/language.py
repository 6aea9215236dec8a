"""The text of an expression as a tree.

Tokens are put in postfix order by precedence alone (Dijkstra's shunting yard), since yq has no
grammar: every operator takes none, one or two operands, whatever they are. Operators that are not
written are inserted before: `.a.b` has a pipe between its steps, `.a[0]` an index.
"""

from __future__ import annotations

import re

from agentsandbox.commands.yq.evaluation import OPERATORS, Expression
from agentsandbox.commands.yq.nodes import YqError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 65_536
_MOST_TOKENS = 4_000
_DEEPEST = 300
_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r\n]+|\#[^\n]*)
    |"(?P<string>(?:[^"\\]|\\.)*+)"
    |\$(?P<variable>[a-zA-Z_0-9-]+)
    |(?P<float>-?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?|-?[1-9][eE][-+]?[0-9]+)
    |(?P<integer>0[xX][0-9A-Fa-f]+|-?[0-9]+)
    |(?P<symbol>\.\.|\.\[|\]\??|//|==|!=|[<>]=?|[-+|]=|\*=?\+?|[=|()\[{}:;,+/~-])
    |\."(?P<quoted>[^ "]+)"\??
    |\.(?P<path>[^ ;}{:\[\],|.()=\n!]+)
    |(?P<self>\.)
    |(?P<env>env|strenv)\([ ]*(?P<environment>[^)]+?)[ ]*\)
    |(?P<name>@?[a-zA-Z][a-zA-Z0-9_]*)(?:\((?P<argument>-?[0-9]{1,6})\))?
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r'\\\\\(|\\(["ntrfvba\\])')
_ESCAPES = {'"': '"', "n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "b": "\b", "a": "\a"}
_WORDS = {"true": "!!bool", "false": "!!bool", "null": "!!null"}
_OPENING, _CLOSING = "([{", {")": "(", "]": "[", "}": "{"}


def parse_expression(text: str) -> Expression | None:
    """Return the tree, or None for an empty expression. Raises `YqError`."""
    if len(text) > _LONGEST:
        raise YqError("the expression is too long (D-yq)")
    return _tree(_postfix(list(_completed(list(_scan(text))))))


# tokens


def _scan(text: str) -> Iterator[Expression]:
    position = count = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        token = _token(found) if found is not None else None
        if found is None or (token is None and found["blank"] is None):
            raise _unreadable(text, position)
        position = found.end()
        if token is not None:
            count += 1
            if count > _MOST_TOKENS:
                raise YqError("the expression is too long (D-yq)")
            yield token
            if found["argument"] and token.name != "tojson":
                yield Expression("(", "(")
                yield Expression("CONSTANT", "", found["argument"], "!!int")
                yield Expression(")", ")")


def _token(found: re.Match[str]) -> Expression | None:
    text, kind = found[0], found.lastgroup
    if found["string"] is not None:
        raw = _ESCAPE.sub(_unescaped, found["string"])
        return Expression("STRING", raw, raw)
    if kind == "variable":
        return Expression("VARIABLE", text, found["variable"])
    if kind in ("float", "integer"):
        return Expression("CONSTANT", text, text, "!!float" if kind == "float" else "!!int")
    if kind in ("quoted", "path"):
        name = found[kind]
        optional = text.endswith("?")
        return Expression("STEP", text, name.removesuffix("?"), "?" if optional else "")
    if kind == "self":
        return Expression(".", text)
    if kind == "symbol":
        if text == "~":
            return Expression("CONSTANT", text, text, "!!null")
        name = text.rstrip("+") if text[0] == "*" else text.rstrip("?")
        return Expression(name, text, "", text[len(name) :])
    if found["env"]:
        return Expression(found["env"], text, found["environment"])
    if found["name"]:
        return _named(found)
    return None


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[1], found[1]) if found[1] else found[0]


def _named(found: re.Match[str]) -> Expression | None:
    name = found["name"].replace("_", "").lower()
    if name in _WORDS:
        return Expression("CONSTANT", found[0], name, _WORDS[name])
    if name not in OPERATORS:
        return None
    return Expression(name, found["name"], found["argument"] or "")


def _unreadable(text: str, position: int) -> YqError:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    rest = text[position:]
    if len(rest) > 16:
        rest = rest[:16] + "..."
    return YqError(f"{line}:{column}: invalid input text {go_quoted(rest)}")


def go_quoted(text: str) -> str:
    """Return a text as Go's %q shows it."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'.replace("\t", "\\t").replace("\r", "\\r")


def _completed(tokens: list[Expression]) -> Iterator[Expression]:
    """Yield the tokens, with the operators between them that are not written."""
    for token, following in zip(tokens, [*tokens[1:], Expression("")], strict=False):
        if token.name == ".[":
            yield Expression(".", ".")
            yield Expression("INDEX", "[")
            token = Expression("[", "[")
        yield token
        if (token.name, following.name) in (("[", "]"), ("{", "}")):
            yield Expression("EMPTY")
        if _ends_value(token):
            if following.name in ("STEP", ".["):
                yield Expression("THEN", ".")
            elif following.name == "[":
                yield Expression("INDEX", "[")


def _ends_value(token: Expression) -> bool:
    if token.name in _CLOSING:
        return True
    known = OPERATORS.get(token.name)
    return known is not None and known.arity == 0 and token.name not in (".", "CONSTANT", "STRING")


# trees


def _postfix(tokens: list[Expression]) -> list[Expression]:
    """Return the operators, each after its operands."""
    result: list[Expression] = []
    waiting = [Expression("(", "(")]
    for token in [*tokens, Expression(")", ")")]:
        if token.name in _OPENING:
            waiting.append(token)
        elif token.name in _CLOSING:
            _close(token, waiting, result)
        else:
            precedence = OPERATORS[token.name].precedence
            while (
                waiting
                and waiting[-1].name not in _OPENING
                and OPERATORS[waiting[-1].name].precedence > precedence
            ):
                result.append(waiting.pop())
            waiting.append(token)
    if waiting:
        raise _unclosed(waiting[-1])
    return result


def _unclosed(token: Expression) -> YqError:
    return YqError(f"bad expression - probably missing close bracket on {token.text}")


def _close(token: Expression, waiting: list[Expression], result: list[Expression]) -> None:
    opener = _CLOSING[token.name]
    while waiting and waiting[-1].name != opener:
        if waiting[-1].name in _OPENING and len(waiting) > 1:
            raise _unclosed(waiting[-1])
        result.append(waiting.pop())
    if not waiting:
        what = "brackets" if token.name == ")" else "collect brackets"
        raise YqError(f"bad expression, got close {what} without matching opening bracket")
    waiting.pop()
    if token.name == "]":
        result.append(Expression("COLLECT", "["))
        if waiting and waiting[-1].name == "INDEX":
            waiting[-1].options = token.options
            result.append(waiting.pop())
    elif token.name == "}":
        result.append(Expression("OBJECT", "{"))
        result.append(Expression("THEN", "{"))


def _tree(postfix: list[Expression]) -> Expression | None:
    stack: list[tuple[Expression, int]] = []
    for made in postfix:
        arity, depth = OPERATORS[made.name].arity, 1
        if arity > len(stack):
            received = "arg but received none" if arity == 1 else f"args but there is {len(stack)}"
            raise YqError(f"'{made.text}' expects {arity} {received}")
        if arity:
            made.right, below = stack.pop()
            depth += below
        if arity == 2:
            made.left, beside = stack.pop()
            depth = max(depth, beside + 1)
        if depth > _DEEPEST:
            raise YqError("the expression is nested too deeply (D-yq)")
        stack.append((made, depth))
    if len(stack) > 1:
        raise YqError("bad expression, please check expression syntax")
    return stack[0][0] if stack else None
