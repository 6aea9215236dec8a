"""Operators on strings."""

from __future__ import annotations

import re

from agentsandbox.commands._json.regexes import Pattern, compile_pattern, searches
from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.yq.evaluation import (
    Context,
    Machine,
    YqError,
    each,
    guessed_tag,
    operator,
    truth,
)
from agentsandbox.commands.yq.lexer import ExpressionError
from agentsandbox.commands.yq.nodes import (
    DOUBLE,
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    mapping,
    null,
    sequence,
    string,
)
from agentsandbox.commands.yq.numbers import parse_float, parse_integer
from agentsandbox.commands.yq.parser import Expression, parse_expression
from agentsandbox.commands.yq.writer import write_yaml
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__: list[str] = []

_HINT = "Hint: Most often you'll want to use '|=' over '=' for this operation"
_LONGEST_PATTERN = 20_000
_SHORTEST_TIME = 0.02
_SPACES = " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_TEMPLATE = re.compile(r"\$(?:(\$)|\{(\w+)\}|(\w+))", re.ASCII)


def _require_text(machine: Machine, node: Node, message: str) -> None:
    if guessed_tag(machine, node) != "!!str":
        raise YqError(message.replace("TAG", node.tag))


# interpolation


@operator("string")
def _string(machine: Machine, context: Context, expression: Expression) -> Context:
    text = expression.value
    if "\\(" not in text:
        return context.of([string(text) for _ in range(max(1, len(context.nodes)))])
    if not context.nodes:
        return context.single(string(_interpolated(machine, context, text)))
    return context.of(
        [string(_interpolated(machine, context.single(node), text)) for node in context.nodes]
    )


def _interpolated(machine: Machine, context: Context, text: str) -> str:
    r"""The text with every \(expression) replaced by its value."""
    parts: list[str] = []
    at = 0
    while True:
        begin = text.find("\\(", at)
        if begin < 0:
            parts.append(text[at:])
            break
        if begin > 0 and text[begin - 1] == "\\":
            parts.append(text[at : begin - 1] + "\\(")
            at = begin + 2
            continue
        parts.append(text[at:begin])
        end = _closing(text, begin + 2)
        if end < 0:
            raise YqError("unclosed interpolation string \\(")
        parts.append(_value_of(machine, context, text[begin + 2 : end]))
        at = end + 1
    made = "".join(parts)
    machine.budget.charge(len(made))
    return made


def _closing(text: str, at: int) -> int:
    depth, quoted = 1, False
    while at < len(text):
        c = text[at]
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "()":
            depth += 1 if c == "(" else -1
            if depth == 0:
                return at
        at += 1
    return -1


def _value_of(machine: Machine, context: Context, source: str) -> str:
    try:
        tree = parse_expression(source)
    except ExpressionError as error:
        raise YqError(str(error)) from None
    nodes = machine.values(context, tree)
    if not nodes:
        return ""
    return (
        nodes[0].value
        if nodes[0].kind == SCALAR
        else write_yaml(nodes[0], 2, machine.budget).rstrip("\n")
    )


# case, blanks, numbers


@each("upcase", "downcase")
def _change_case(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    _require_text(machine, node, "cannot change case with TAG, can only operate on strings. ")
    made = node.scalar(
        node.tag, node.value.upper() if expression.name == "upcase" else node.value.lower()
    )
    made.style = node.style
    return made


@each("trim")
def _trim(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    _require_text(machine, node, "cannot trim TAG, can only operate on strings. ")
    made = node.scalar(node.tag, node.value.strip(_SPACES))
    made.style = node.style
    return made


@each("to_string")
def _to_string(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if node.kind == SCALAR:
        made = node.scalar("!!str", node.value)
        made.style = node.style if node.tag == "!!str" else DOUBLE
    else:
        made = node.scalar("!!str", write_yaml(node, 2, machine.budget).removesuffix("\n"))
        made.style = DOUBLE
    return made


@operator("to_number")
def _to_number(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for node in context.nodes:
        if node.kind != SCALAR:
            raise YqError(
                f"cannot convert node at path {node.nice_path()} of tag {node.tag} to number"
            )
        if node.tag in ("!!int", "!!float"):
            found.append(node)
        elif parse_integer(node.value) is not None:
            found.append(node.scalar("!!int", node.value))
        elif parse_float(node.value) is not None:
            found.append(node.scalar("!!float", node.value))
        else:
            raise YqError(
                f"cannot convert node value [{node.value}] at path {node.nice_path()} of tag {node.tag} to number"
            )
    return context.of(found)


# joining and splitting


@operator("join")
def _join(machine: Machine, context: Context, expression: Expression) -> Context:
    separator = machine.text(context, expression.right)
    found: list[Node] = []
    for node in context.nodes:
        if node.kind != SEQUENCE:
            raise YqError(f"cannot join with {node.tag}, can only join arrays of scalars")
        texts = ["" if item.tag == "!!null" else item.value for item in node.content]
        machine.budget.charge(sum(map(len, texts)) + len(separator) * len(texts))
        found.append(node.scalar("!!str", separator.join(texts)))
    return context.of(found)


@operator("split")
def _split(machine: Machine, context: Context, expression: Expression) -> Context:
    separator = machine.text(context, expression.right)
    found: list[Node] = []
    for node in context.nodes:
        if node.tag == "!!null":
            continue
        _require_text(machine, node, "cannot split TAG, can only split strings")
        made = node.replaced(sequence())
        if node.value:
            for part in node.value.split(separator) if separator else node.value:
                machine.meter.copied()
                made.adopt(string(part))
        found.append(made)
    return context.of(found)


@operator("contains")
def _contains(machine: Machine, context: Context, expression: Expression) -> Context:
    from agentsandbox.commands.yq.evaluation import cross

    inner = Expression("contains")
    inner.left, inner.right = Expression("self"), expression.right

    def holds(machine: Machine, left: Node | None, right: Node | None) -> Node | None:
        assert left is not None and right is not None
        return truth(left, _holds(machine, left, right))

    return cross(machine, context.read_only(), inner, holds)


def _holds(machine: Machine, left: Node, right: Node) -> bool:
    machine.budget.step()
    if left.kind == MAPPING and right.kind == MAPPING:
        own = {key.value: value for key, value in left.pairs()}
        return all(
            key.value in own and _holds(machine, own[key.value], value)
            for key, value in right.pairs()
        )
    if left.kind == SEQUENCE:
        wanted = right.content if right.kind == SEQUENCE else [right]
        return all(
            any(item.kind == one.kind and _holds(machine, item, one) for item in left.content)
            for one in wanted
        )
    if left.kind == SCALAR and right.kind == SCALAR and left.tag == right.tag:
        return right.value in left.value if left.tag == "!!str" else left.value == right.value
    if left.kind == SCALAR and right.kind == SCALAR:
        return False
    raise YqError(f"{left.tag} cannot check contained in {right.tag}")


# regular expressions


def _compiled(source: str) -> Pattern:
    try:
        return compile_pattern(source.replace("(?P<", "(?<"), "")
    except JqError as error:
        message = str(error.value).removeprefix("Regex failure: ")
        raise YqError(f"error parsing regexp: {message}: `{source}`") from None


def _arguments(machine: Machine, context: Context, expression: Expression) -> tuple[Pattern, bool]:
    """The pattern, and whether all matches are wanted."""
    pattern, everything = expression.right, False
    if pattern is not None and pattern.name == "block":
        options = machine.text(context, pattern.right)
        everything = "g" in options
        if "i" in options:
            raise YqError(
                "'i' is not a valid option for match. To ignore case, use an expression like match(\"(?i)cat\")"
            )
        rest = options.replace("g", "")
        if rest:
            raise YqError(
                f"Unrecognised match params '{rest}', please see docs at https://mikefarah.gitbook.io/yq/operators/string-operators"
            )
        pattern = pattern.left
    return _compiled(machine.text(context, pattern)), everything


@each("test")
def _test(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    pattern, _everything = _arguments(machine, context, expression)
    _require_text(machine, node, f"cannot match with TAG, can only match strings. {_HINT}")
    return truth(node, any(searches(machine.budget, node.value, pattern, "")))


def _described(text: str, span: tuple[int, int], name: str | None) -> Node:
    start, end = span
    made = mapping()
    offset = len(encode(text[:start])) if start >= 0 else -1
    part = text[start:end] if start >= 0 else ""
    made.adopt_pair(string("string"), string(part) if start >= 0 else null())
    made.adopt_pair(string("offset"), Node(SCALAR, "!!int", str(offset)))
    made.adopt_pair(string("length"), Node(SCALAR, "!!int", str(len(encode(part)))))
    if name:
        made.adopt_pair(string("name"), string(name))
    return made


@operator("match")
def _match(machine: Machine, context: Context, expression: Expression) -> Context:
    pattern, everything = _arguments(machine, context, expression)
    found: list[Node] = []
    for node in context.nodes:
        _require_text(machine, node, f"cannot match with TAG, can only match strings. {_HINT}")
        for match in searches(machine.budget, node.value, pattern, "g" if everything else ""):
            machine.meter.copied()
            made = node.replaced(_described(node.value, match.span(), None))
            captures = sequence()
            for index in range(1, pattern.groups + 1):
                captures.adopt(_described(node.value, match.span(index), pattern.names.get(index)))
            made.adopt_pair(string("captures"), captures)
            found.append(made)
    return context.of(found)


@operator("capture")
def _capture(machine: Machine, context: Context, expression: Expression) -> Context:
    pattern, everything = _arguments(machine, context, expression)
    found: list[Node] = []
    for node in context.nodes:
        _require_text(machine, node, f"cannot match with TAG, can only match strings. {_HINT}")
        for match in searches(machine.budget, node.value, pattern, "g" if everything else ""):
            machine.meter.copied()
            made = node.replaced(mapping())
            for index in range(1, pattern.groups + 1):
                part = match[index]
                made.adopt_pair(
                    string(pattern.names.get(index, "")), null() if part is None else string(part)
                )
            found.append(made)
    return context.of(found)


@operator("sub")
def _sub(machine: Machine, context: Context, expression: Expression) -> Context:
    block = expression.right
    if block is None or block.name not in ("block", "union"):
        raise YqError("sub must be given a block (;)")
    pattern = _compiled(machine.text(context, block.left))
    template = machine.text(context, block.right)
    found: list[Node] = []
    for node in context.nodes:
        _require_text(
            machine, node, f"cannot substitute with TAG, can only substitute strings. {_HINT}"
        )
        parts: list[str] = []
        at = size = 0
        for match in searches(machine.budget, node.value, pattern, "g"):
            start, end = match.span()
            piece = _expanded(template, match, pattern)
            size += len(piece)
            machine.budget.charge(size)
            parts += (node.value[at:start], piece)
            at = end
        parts.append(node.value[at:])
        found.append(node.scalar("!!str", "".join(parts)))
    return context.of(found)


def _expanded(template: str, match: Any, pattern: Pattern) -> str:
    if "$" not in template:
        return template

    def part(found: re.Match[str]) -> str:
        if found[1]:
            return "$"
        name = found[2] or found[3]
        if name.isdecimal() and len(name) < 6:
            return (match[int(name)] or "") if int(name) <= pattern.groups else ""
        return (match[name] or "") if name in pattern.names.values() else ""

    return _TEMPLATE.sub(part, template)
