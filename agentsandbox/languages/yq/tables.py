"""CSV and TSV: the first line names the columns."""

from __future__ import annotations

import csv
import io

from agentsandbox.languages.yq.evaluation import YqError
from agentsandbox.languages.yq.nodes import MAPPING, SCALAR, SEQUENCE, Node, mapping, sequence, string
from agentsandbox.languages.yq.reader import YamlError, read_documents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

__all__ = ["read_table", "table_text"]

_LONGEST_CELL = 1024


def _cell(text: str, budget: Budget) -> Node:
    """A cell means what it would in YAML."""
    if not text:
        return Node(SCALAR, "!!null")
    if len(text) > _LONGEST_CELL:
        return string(text)
    try:
        node = next(iter(read_documents(text, budget)), None)
    except YamlError:
        node = None
    if node is None:
        return string(text)
    node.line = node.column = 0
    return node


def read_table(text: str, separator: str, budget: Budget, *, plain: bool = False) -> Node:
    """The lines as mappings; `plain`: all cells are strings. Raises `YqError`."""
    if separator in '"\r\n\ufffd':
        raise YqError("csv: invalid field or comment delimiter")
    made = sequence()
    header: list[str] | None = None
    line = 1
    try:
        for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator):
            budget.step()
            line += 1
            if header is None:
                header = row
            elif row:
                if len(row) != len(header):
                    raise YqError(f"record on line {line - 1}: wrong number of fields")
                entry = mapping()
                for name, value in zip(header, row, strict=True):
                    entry.adopt_pair(string(name), string(value) if plain else _cell(value, budget))
                made.adopt(entry)
    except csv.Error as error:
        raise YqError(f"parse error on line {line}: {error}") from None
    return made


def _field(text: str, separator: str) -> str:
    if text and (text == "\\." or separator in text or text[0] in " \t" or any(c in text for c in '"\r\n')):
        return '"' + text.replace('"', '""') + '"'
    return text


def _row(cells: list[Node], separator: str, budget: Budget) -> str:
    budget.step()
    fields: list[str] = []
    for at, cell in enumerate(cells):
        if cell.kind != SCALAR:
            raise YqError(f"csv encoding only works for arrays of scalars (string/numbers/booleans), child[{at}] is a {cell.tag}")
        fields.append(_field("" if cell.tag == "!!null" and cell.value == "" else cell.value, separator))
    return separator.join(fields) + "\n"


def table_text(node: Node, separator: str, budget: Budget) -> str:
    """A sequence of scalars, of sequences or of mappings as lines."""
    if node.kind == SCALAR:
        return node.value + "\n"
    if node.kind != SEQUENCE:
        raise YqError(f"csv encoding only works for arrays, got: {node.tag}")
    if not node.content:
        return ""
    first = node.content[0].kind
    if first == SCALAR:
        return _row(node.content, separator, budget)
    if first == MAPPING:
        return _objects(node, separator, budget)
    lines: list[str] = []
    for at, child in enumerate(node.content):
        if child.kind != SEQUENCE:
            raise YqError(f"csv encoding only works for arrays of scalars (string/numbers/booleans), child[{at}] is a {child.tag}")
        lines.append(_row(child.content, separator, budget))
    return "".join(lines)


def _objects(node: Node, separator: str, budget: Budget) -> str:
    names = node.content[0].content[::2]
    lines = [_row(names, separator, budget)]
    for at, child in enumerate(node.content):
        if child.kind != MAPPING:
            flat = "arrays of flat objects (string key => string/numbers/boolean value)"
            raise YqError(f"csv object encoding only works for {flat}, child[{at}] is a {child.tag}")
        own = {key.value: value for key, value in child.pairs()}
        lines.append(_row([own.get(name.value) or Node(SCALAR, "!!null") for name in names], separator, budget))
    return "".join(lines)
