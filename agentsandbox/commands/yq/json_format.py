"""JSON in and out."""

from __future__ import annotations

import math
import re

from agentsandbox.commands._json.json_text import JsonError, slurp
from agentsandbox.commands._json.printing import number_text
from agentsandbox.commands.yq.nodes import (
    DEEPEST,
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    YqError,
    boolean,
    integer,
    mapping,
    null,
    sequence,
    string,
)
from agentsandbox.commands.yq.scalars import format_float, parse_float, parse_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget

_EXACT = 1 << 63
_ESCAPED = re.compile(r'["\\\x00-\x1f\u2028\u2029\ud800-\udfff]')
_NAMES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNWRITABLE = "json: error calling MarshalJSON for type *yqlib.CandidateNode: "


def read_json(text: str, budget: Budget) -> Iterator[Node]:
    """Yield each value of a text. Raises `YqError`."""
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
    if depth > DEEPEST:
        raise YqError("nested too deeply (D-yq)")
    if isinstance(value, str):
        return string(value)
    if value is None:
        return null()
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, (dict, list)):
        return budget.nested(lambda: _collection(value, depth + 1, budget))
    number = float(number_text(value))
    if math.isfinite(number) and number == int(number) and -_EXACT <= number < _EXACT:
        return integer(int(number))
    return Node(SCALAR, "!!float", format_float(number))


def _collection(value: Value, depth: int, budget: Budget) -> Node:
    if isinstance(value, dict):
        made = mapping()
        for key, item in value.items():
            made.add_entry(string(key), _node(item, depth, budget))
        return made
    made = sequence()
    for item in value:
        made.add(_node(item, depth, budget))
    return made


def json_text(node: Node, indent: int, budget: Budget) -> str:
    """Return a node without aliases as JSON; `indent` 0 writes one line. Raises `YqError`."""
    parts: list[str] = []
    _write(node, "\n" if indent else "", " " * indent, parts, budget)
    return "".join(parts)


def _write(node: Node, line: str, step: str, parts: list[str], budget: Budget) -> None:
    budget.step()
    if node.kind not in (MAPPING, SEQUENCE):
        parts.append(_scalar(node))
        return
    first, last = "{}" if node.kind == MAPPING else "[]"
    if not node.content:
        parts.append(first + last)
        return
    keys: list[Node] = node.content[::2] if node.kind == MAPPING else []
    colon = ": " if line else ":"
    inner = line + step

    def write_contents() -> None:
        separator = first
        for position, value in enumerate(node.values()):
            parts.append(separator + inner)
            if keys:
                parts.append(_quoted(keys[position].value) + colon)
            _write(value, inner, step, parts, budget)
            separator = ","

    budget.nested(write_contents)
    parts.append(line + last)


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
            raise YqError(_UNWRITABLE + reason)
        return str(parsed)
    if tag == "!!float":
        number = parse_float(node.value)
        if number is None:
            raise YqError(f'strconv.ParseFloat: parsing "{node.value}": invalid syntax')
        if not math.isfinite(number):
            raise YqError(f"{_UNWRITABLE}json: unsupported value: {format_float(number)}")
        return format_float(number, exponent_from=21, exponent_below=-6).replace("e-0", "e-")
    return _quoted(node.value)


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    c = found[0]
    if "\ud800" <= c <= "\udfff":
        return "\ufffd"
    return _NAMES.get(c) or f"\\u{ord(c):04x}"
