"""The formats that yq reads and writes: YAML and JSON; TOML is only read, base64 is for single
texts.
"""

from __future__ import annotations

import base64
import binascii

from agentsandbox.commands.yq.documents import read_yaml, yaml_text
from agentsandbox.commands.yq.evaluation import YqError
from agentsandbox.commands.yq.json_format import json_text, read_json
from agentsandbox.commands.yq.nodes import SCALAR, Node, boolean, mapping, sequence, string
from agentsandbox.commands.yq.numbers import go_float
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.budget import Budget

_NAMES = {
    "yaml": "yaml", "y": "yaml", "yml": "yaml", "json": "json", "j": "json", "toml": "toml",
    "base64": "base64", "auto": "auto", "a": "auto", "": "auto",
}  # fmt: skip
_KNOWN = "yaml|json|base64|toml"
_ELSEWHERE = frozenset((
    "props", "p", "properties", "csv", "c", "tsv", "t", "xml", "x", "uri", "sh", "shell", "s", "lua", "l", "ini", "i", "hcl",
    "h", "tf", "kyaml", "ky", "json5",
))  # fmt: skip
"""Formats of the real yq."""
EXTENSIONS = {"yaml": "yml", "base64": "txt"}
"""Extensions of the files that `--split-exp` writes, where they are not the format's name."""
_DEEPEST = 500


class Layout:
    """How results are written: `indent` blanks a level, `unwrap` scalars without quotes,
    `separators` between documents.
    """

    __slots__ = ("indent", "separators", "unwrap")

    def __init__(self, indent: int = 2, *, unwrap: bool = True, separators: bool = True) -> None:
        self.indent = indent
        self.unwrap = unwrap
        self.separators = separators


def canonical(name: str) -> str:
    """Return the full name of a format. Raises `YqError`."""
    name = name.removeprefix("=")
    if name in _ELSEWHERE:
        raise YqError(f"format '{name}' is not supported by this yq (D-yq)")
    if name not in _NAMES:
        raise YqError(f"unknown format '{name}' please use [{_KNOWN}]")
    return _NAMES[name]


def format_of_file(name: str) -> str:
    """Return the format that a file's extension names; YAML for unknown ones. Raises `YqError`."""
    extension = name.rpartition(".")[2].lower() if "." in name.rpartition("/")[2] else ""
    if len(extension) < 2 or extension not in _ELSEWHERE | _NAMES.keys():
        return "yaml"
    return canonical(extension)


def decode_text(
    text: str, format: str, budget: Budget, *, keep_leading: bool = True
) -> Iterator[Node]:
    """Yield the documents of a text. Raises `YamlError` or `YqError`."""
    if format == "yaml":
        yield from read_yaml(text, budget, keep_leading=keep_leading)
    elif format == "json":
        yield from read_json(text, budget)
    elif not text.strip():
        return
    elif format == "toml":
        yield _read_toml(text, budget)
    else:
        yield string(_from_base64(text))


def encode_node(node: Node, format: str, budget: Budget, layout: Layout) -> str:
    """Return a node as text. Raises `YamlError` or `YqError`."""
    if format == "yaml":
        return yaml_text(
            node, layout.indent, budget, unwrap=layout.unwrap, separators=layout.separators
        )
    if format == "json":
        if layout.unwrap and node.kind == SCALAR:
            return node.value + "\n"
        return json_text(node, layout.indent, budget) + "\n"
    if format == "toml":
        raise YqError("format 'toml' is only read by this yq (D-yq)")
    if node.tag != "!!str":
        raise YqError(f"cannot encode {node.tag} as {format}, can only operate on strings.")
    return decode(base64.b64encode(encode(node.value)))


def _from_base64(text: str) -> str:
    data = "".join(text.split())
    try:
        return decode(base64.b64decode(encode(data + "=" * (-len(data) % 4)), validate=True))
    except (binascii.Error, ValueError):
        raise YqError("illegal base64 data at input byte 0") from None


def _read_toml(text: str, budget: Budget) -> Node:
    import tomllib

    budget.charge(len(text) * 4)
    try:
        return _toml_node(tomllib.loads(text), 0)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise YqError(f"toml: {error}") from None


def _toml_node(value: object, depth: int) -> Node:
    if depth > _DEEPEST:
        raise YqError("nested too deeply (D-yq)")
    if isinstance(value, dict):
        made = mapping()
        for key, item in value.items():
            made.adopt_pair(string(str(key)), _toml_node(item, depth + 1))
        return made
    if isinstance(value, list):
        made = sequence()
        for item in value:
            made.adopt(_toml_node(item, depth + 1))
        return made
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, int):
        return Node(SCALAR, "!!int", str(value) if value.bit_length() < 4000 else hex(value))
    if isinstance(value, float):
        return Node(SCALAR, "!!float", go_float(value))
    if isinstance(value, str):
        return string(value)
    return Node(SCALAR, "!!timestamp", str(value).replace(" ", "T").replace("+00:00", "Z"))
