"""The formats of texts that yq reads and writes: each by its names, its decoder and its encoder."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import quote_plus, unquote_to_bytes

from agentsandbox.languages.yq.documents import read_yaml, yaml_text
from agentsandbox.languages.yq.evaluation import YqError
from agentsandbox.languages.yq.json_format import json_text, read_json
from agentsandbox.languages.yq.markup import read_xml
from agentsandbox.languages.yq.markup_writer import xml_text
from agentsandbox.languages.yq.nodes import MAPPING, SCALAR, Node, boolean, mapping, sequence, string
from agentsandbox.languages.yq.numbers import go_float
from agentsandbox.languages.yq.properties import properties_text, read_properties
from agentsandbox.languages.yq.tables import read_table, table_text
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.limits import Budget

__all__ = ["EXTENSIONS", "Layout", "canonical", "decode_text", "encode_node", "format_of_file"]

_NAMES = {
    "yaml": "yaml", "y": "yaml", "yml": "yaml", "json": "json", "j": "json", "props": "props", "p": "props", "properties": "props",
    "csv": "csv", "c": "csv", "tsv": "tsv", "t": "tsv", "xml": "xml", "x": "xml", "base64": "base64", "uri": "uri", "sh": "sh",
    "toml": "toml", "shell": "shell", "s": "shell", "auto": "auto", "a": "auto", "": "auto",
}  # fmt: skip
_KNOWN = "yaml|json|props|csv|tsv|xml|base64|uri|toml|shell"
_ELSEWHERE = frozenset(("lua", "l", "ini", "i", "hcl", "h", "tf", "kyaml", "ky", "json5"))
EXTENSIONS = {"yaml": "yml", "props": "properties", "shell": "sh", "base64": "txt", "uri": "txt", "sh": "sh"}
_SHELL_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+\Z")
_DEEPEST = 500


class Layout:
    """How results are written."""

    __slots__ = ("attribute_prefix", "brackets", "comma", "content_name", "indent", "plain_cells", "separator", "separators", "unwrap")

    def __init__(self, indent: int = 2, *, unwrap: bool = True, separators: bool = True) -> None:
        self.indent = indent
        self.unwrap = unwrap
        self.separators = separators
        self.attribute_prefix = "+@"
        self.content_name = "+content"
        self.brackets = False
        self.separator = " = "
        self.comma = ","
        self.plain_cells: frozenset[str] = frozenset()
        """Formats whose cells are strings, whatever they look like."""


def canonical(name: str) -> str:
    """A format by its full name. Raises `YqError`."""
    name = name.removeprefix("=")
    if name in _ELSEWHERE:
        raise YqError(f"format '{name}' is not supported by this yq (D-yq)")
    if name not in _NAMES:
        raise YqError(f"unknown format '{name}' please use [{_KNOWN}]")
    return _NAMES[name]


def format_of_file(name: str) -> str:
    """The format that a file's extension names; YAML for all others."""
    extension = name.rpartition(".")[2].lower() if "." in name.rpartition("/")[2] else ""
    found = _NAMES.get(extension, "yaml") if len(extension) > 1 else "yaml"
    return "yaml" if found == "auto" else found


def decode_text(text: str, format: str, budget: Budget, layout: Layout, *, keep_leading: bool = True) -> Iterator[Node]:
    """The documents of a text. Raises `YamlError` or `YqError`."""
    if format == "yaml":
        yield from read_yaml(text, budget, keep_leading=keep_leading)
    elif format == "json":
        yield from read_json(text, budget)
    elif not text.strip():
        return
    elif format in ("csv", "tsv"):
        yield read_table(text, layout.comma if format == "csv" else "\t", budget, plain=format in layout.plain_cells)
    elif format == "props":
        yield read_properties(text, budget)
    elif format == "xml":
        yield read_xml(text, budget, layout.attribute_prefix, layout.content_name)
    elif format == "toml":
        yield _read_toml(text, budget)
    elif format == "base64":
        yield string(_from_base64(text))
    elif format == "uri":
        yield string(decode(unquote_to_bytes(text.replace("+", " "))))
    else:
        raise YqError(f"no support for {format} input format")


def encode_node(node: Node, format: str, budget: Budget, layout: Layout) -> str:
    """A node as text. Raises `YamlError` or `YqError`."""
    if format == "yaml":
        return yaml_text(node, layout.indent, budget, unwrap=layout.unwrap, separators=layout.separators)
    if format == "json":
        return node.value + "\n" if layout.unwrap and node.kind == SCALAR else json_text(node, layout.indent, budget) + "\n"
    if format in ("csv", "tsv"):
        return table_text(node, layout.comma if format == "csv" else "\t", budget)
    if format == "props":
        return properties_text(node, budget, unwrap=layout.unwrap, brackets=layout.brackets, separator=layout.separator)
    if format == "xml":
        return xml_text(node, layout.indent, budget, layout.attribute_prefix, layout.content_name)
    if format == "shell":
        return _shell_variables(node, budget)
    return _scalar_text(node, format)


def _scalar_text(node: Node, format: str) -> str:
    if format == "toml":
        if node.kind != SCALAR:
            raise YqError(
                "only scalars (e.g. strings, numbers, booleans) are supported for TOML output at the moment. "
                "Please use yaml output format (-oy) until the encoder has been fully implemented"
            )
        return node.value + "\n"
    if format == "sh" and node.kind != SCALAR:
        raise YqError(f"cannot encode {node.tag} as shell, can only operate on scalars.")
    if format != "sh" and node.tag != "!!str":
        raise YqError(f"cannot encode {node.tag} as {format}, can only operate on strings.")
    if format == "base64":
        return decode(base64.b64encode(encode(node.value)))
    if format == "uri":
        return quote_plus(encode(node.value))
    return _shell_quoted(node.value)


def _from_base64(text: str) -> str:
    data = "".join(text.split())
    try:
        return decode(base64.b64decode(encode(data + "=" * (-len(data) % 4)), validate=True))
    except (binascii.Error, ValueError):
        raise YqError("illegal base64 data at input byte 0") from None


def _shell_quoted(text: str) -> str:
    """Quotes only around what needs them."""
    parts: list[str] = []
    quoted = False
    for c in text:
        safe = bool(_SHELL_SAFE.match(c))
        if c == "'":
            parts.append("'\\'" if quoted else "\\'")
            quoted = False
        elif not safe and not quoted:
            parts.append("'" + c)
            quoted = True
        else:
            parts.append(c)
    return "".join(parts) + ("'" if quoted else "")


def _shell_variables(node: Node, budget: Budget) -> str:
    lines: list[str] = []
    pending: list[tuple[str, Node]] = [("", node)]
    while pending:
        budget.step()
        name, item = pending.pop()
        if item.kind == SCALAR:
            value = item.value if _SHELL_SAFE.match(item.value) or not item.value else "'" + item.value.replace("'", "'\"'\"'") + "'"
            lines.append(f"{name or 'value'}={value}\n")
            continue
        if item.kind == MAPPING:
            pairs = [(key.value, value) for key, value in item.pairs()]
        else:
            pairs = [(str(at), one) for at, one in enumerate(item.content)]
        pending.extend((_variable(name, part), value) for part, value in reversed(pairs))
    return "".join(lines)


def _variable(prefix: str, name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if prefix:
        return f"{prefix}_{plain}"
    return "_" + plain if not plain or plain[0].isdigit() else plain


# TOML


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
    return string(value) if isinstance(value, str) else Node(SCALAR, "!!timestamp", str(value).replace(" ", "T").replace("+00:00", "Z"))
