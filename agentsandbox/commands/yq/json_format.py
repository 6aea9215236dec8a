"""JSON in and out."""

from __future__ import annotations

import math
import re

from agentsandbox.commands._json.json_text import JsonError, slurp
from agentsandbox.commands._json.printing import number_text
from agentsandbox.commands.yq.evaluation import YqError
from agentsandbox.commands.yq.nodes import (
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    boolean,
    mapping,
    null,
    sequence,
    string,
)
from agentsandbox.commands.yq.numbers import go_float, parse_float, parse_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget

_DEEPEST = 500
_EXACT = 1 << 63
_ESCAPED = re.compile(r'["\\\x00-\x1f\u2028\u2029\ud800-\udfff]')
_NAMES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def read_json(text: str, budget: Budget) -> Iterator[Node]:
    """Each value of a text. Raises `YqError`."""
    budget.charge(len(text))
    try:
        values = list(slurp(text.removeprefix("\ufeff"), budget.step))
    except JsonError as error:
        raise YqError(str(error)) from None
    for index, value in enumerate(values):
        node = _node(value, 0, budget)
        node.document = index
        yield node


def _node(value: Value, depth: int, budget: Budget) -> Node:
    budget.step()
    if depth > _DEEPEST:
        raise YqError("nested too deeply (D-yq)")
    if isinstance(value, str):
        return string(value)
    if value is None:
        return null()
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, dict):
        made = mapping()
        for key, item in value.items():
            made.adopt_pair(string(key), _node(item, depth + 1, budget))
        return made
    if isinstance(value, list):
        made = sequence()
        for item in value:
            made.adopt(_node(item, depth + 1, budget))
        return made
    number = float(number_text(value))
    if math.isfinite(number) and number == int(number) and -_EXACT <= number < _EXACT:
        return Node(SCALAR, "!!int", str(int(number)))
    return Node(SCALAR, "!!float", go_float(number))


def _escape(found: re.Match[str]) -> str:
    c = found[0]
    if "\ud800" <= c <= "\udfff":
        return "\ufffd"
    return _NAMES.get(c) or f"\\u{ord(c):04x}"


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _scalar(node: Node) -> str:
    tag = node.tag
    if tag == "!!null":
        return "null"
    if tag == "!!bool":
        return "true" if node.value.lower() == "true" else "false"
    if tag == "!!int":
        parsed = parse_integer(node.value.replace("_", ""))
        if parsed is None:
            reason = f'strconv.ParseInt: parsing "{node.value}": invalid syntax'
            raise YqError(
                f"json: error calling MarshalJSON for type *yqlib.CandidateNode: {reason}"
            )
        return str(parsed[1])
    if tag in ("!!int", "!!float"):
        number = parse_float(node.value)
        if number is None:
            raise YqError(f'strconv.ParseFloat: parsing "{node.value}": invalid syntax')
        if not math.isfinite(number):
            reason = f"json: unsupported value: {go_float(number)}"
            raise YqError(
                f"json: error calling MarshalJSON for type *yqlib.CandidateNode: {reason}"
            )
        return go_float(number, exponent_from=21, exponent_below=-6).replace("e-0", "e-")
    return _quoted(node.value)


def json_text(node: Node, indent: int, budget: Budget) -> str:
    """A node as JSON; `indent` 0 writes it on one line."""
    parts: list[str] = []
    _write(node, "\n" if indent else "", " " * indent, parts, budget, 0)
    return "".join(parts)


def _write(node: Node, line: str, step: str, parts: list[str], budget: Budget, depth: int) -> None:
    budget.step()
    if depth > _DEEPEST:
        raise YqError("nested too deeply (D-yq)")
    if node.kind not in (MAPPING, SEQUENCE):
        parts.append(_scalar(node))
        return
    first, last = "{}" if node.kind == MAPPING else "[]"
    if not node.content:
        parts.append(first + last)
        return
    inner = line + step
    opening = first + inner
    colon = ": " if line else ":"
    if node.kind == MAPPING:
        for key, value in node.pairs():
            parts.append(opening + _quoted(key.value) + colon)
            _write(value, inner, step, parts, budget, depth + 1)
            opening = "," + inner
    else:
        for value in node.content:
            parts.append(opening)
            _write(value, inner, step, parts, budget, depth + 1)
            opening = "," + inner
    parts.append(line + last)
