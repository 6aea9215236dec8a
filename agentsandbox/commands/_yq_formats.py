"""The other formats of `yq`: JSON, CSV, TSV, properties, XML, TOML."""

from __future__ import annotations

import csv
import io

from agentsandbox.commands._yq_yaml import dump_yaml, plain_value, read_yaml
from agentsandbox.errors import CommandError, LimitReached
from agentsandbox.languages.jq.formats import text_of
from agentsandbox.languages.jq.json_text import Dumper, JsonError, number_text
from agentsandbox.languages.jq.modules import slurp
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["FORMATS", "INPUT_FORMATS", "canonical", "read_values", "write_value"]

FORMATS = {
    "yaml": "yaml", "y": "yaml", "yml": "yaml", "json": "json", "j": "json", "csv": "csv", "c": "csv", "tsv": "tsv", "t": "tsv",
    "props": "props", "p": "props", "xml": "xml", "x": "xml", "toml": "toml", "auto": "auto", "a": "auto",
}  # fmt: skip
INPUT_FORMATS = frozenset(("yaml", "json", "csv", "tsv", "props", "xml", "toml"))
_DEPTH = 500


def canonical(name: str) -> str:
    """A format by its full name. Raises `CommandError`."""
    name = name.removeprefix("=")  # "-o=json", as Go's options are written
    if name not in FORMATS:
        raise CommandError(f"Error: unknown format '{name}' please use [yaml|json|props|csv|tsv|xml|toml]", 1)
    return FORMATS[name]


def read_values(text: str, format: str, name: str, budget: Budget) -> Iterator[Value]:
    """The documents of a text."""
    if format == "yaml":
        yield from read_yaml(text, name, budget)
    elif format == "json":
        try:
            yield from slurp(text, budget.step)
        except JsonError as error:
            raise CommandError(f"Error: bad file '{name}': {error}", 1) from None
    else:
        yield _READERS[format](text, name, budget)


def _cell(text: str) -> Value:
    return plain_value(text) if text else ""


def _table(separator: str) -> Callable[[str, str, Budget], Value]:
    def read(text: str, name: str, budget: Budget) -> Value:
        rows: list[Value] = []
        header: list[str] | None = None
        try:
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
                budget.step()
                if header is None:
                    header = row
                elif row:
                    rows.append({key: _cell(value) for key, value in zip(header, row, strict=False)})
        except csv.Error as error:
            raise CommandError(f"Error: bad file '{name}': {error}", 1) from None
        return rows

    return read


def _read_properties(text: str, name: str, budget: Budget) -> Value:
    top: dict[str, Value] = {}
    for line in text.splitlines():
        budget.step()
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        key, _equals, value = stripped.partition("=" if "=" in stripped else ":")
        here = top
        *parents, last = key.strip().split(".")[:_DEPTH]
        for parent in parents:
            inner = here.setdefault(parent, {})
            if not isinstance(inner, dict):
                inner = here[parent] = {}
            here = inner
        here[last] = value.strip()
    return top


def _read_toml(text: str, name: str, budget: Budget) -> Value:
    import tomllib

    budget.charge(len(text) * 4)
    try:
        return _plain_values(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise CommandError(f"Error: bad file '{name}': {error}", 1) from None


def _plain_values(value: object) -> Value:
    if isinstance(value, dict):
        return {str(key): _plain_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_values(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) else str(value)


class _XmlBuilder:
    """Builds values from a document's tags: attributes as "+@name", text beside other content as "+content"."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.open: list[tuple[dict[str, Value], list[str]]] = [({}, [])]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.budget.step()
        if len(self.open) > _DEPTH:
            raise LimitReached("depth")
        self.open.append(({f"+@{key}": value for key, value in attributes.items()}, []))

    def end(self, name: str) -> None:
        content, texts = self.open.pop()
        text = "".join(texts).strip()
        value: Value = content
        if not content:
            value = _cell(text) if text else None
        elif text:
            content["+content"] = text
        parent = self.open[-1][0]
        if name not in parent:
            parent[name] = value
        elif isinstance(parent[name], list):
            parent[name].append(value)
        else:
            parent[name] = [parent[name], value]

    def text(self, data: str) -> None:
        self.budget.step()
        self.open[-1][1].append(data)


def _read_xml(text: str, name: str, budget: Budget) -> Value:
    from xml.parsers import expat

    builder = _XmlBuilder(budget)
    parser = expat.ParserCreate()

    def refuse(*_arguments: object) -> None:
        raise CommandError(f"Error: bad file '{name}': XML entity declarations are not allowed", 1)

    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse  # type: ignore[assignment]
    try:
        parser.Parse(encode(text), True)
    except expat.ExpatError as error:
        raise CommandError(f"Error: bad file '{name}': {error}", 1) from None
    return builder.open[0][0]


_READERS: dict[str, Callable[[str, str, Budget], Value]] = {
    "csv": _table(","),
    "tsv": _table("\t"),
    "props": _read_properties,
    "toml": _read_toml,
    "xml": _read_xml,
}


# writing


def write_value(value: Value, format: str, indent: int, unwrap: bool, budget: Budget) -> str:
    """A result with its newline. `unwrap` prints a string alone without quotes."""
    if format == "yaml":
        return text_of(value) + "\n" if unwrap and isinstance(value, str) else dump_yaml(value, indent, budget)
    if format == "json":
        return Dumper(indent=" " * indent).text(value) + "\n"
    return _WRITERS[format](value, indent, budget)


def _scalar_text(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else number_text(value)


def _write_table(separator: str) -> Callable[[Value, int, Budget], str]:
    def write(value: Value, indent: int, budget: Budget) -> str:
        if not isinstance(value, list):
            raise CommandError("Error: csv encoding only works for arrays, got: " + type(value).__name__, 1)
        rows = value if value and isinstance(value[0], (list, dict)) else [value]
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=separator, lineterminator="\n")
        header: list[str] | None = None
        for row in rows:
            budget.step()
            if isinstance(row, dict):
                if header is None:
                    header = list(row)
                    writer.writerow(header)
                writer.writerow([_scalar_text(row.get(name)) for name in header])
            else:
                writer.writerow([_scalar_text(cell) for cell in (row if isinstance(row, list) else [row])])
        return out.getvalue()

    return write


def _write_properties(value: Value, indent: int, budget: Budget) -> str:
    lines: list[str] = []
    pending: list[tuple[str, Value]] = [("", value)]
    while pending:
        budget.step()
        path, item = pending.pop()
        if isinstance(item, (dict, list)):
            entries = list(item.items()) if isinstance(item, dict) else [(str(at), one) for at, one in enumerate(item)]
            pending.extend((f"{path}.{key}" if path else key, inner) for key, inner in reversed(entries))
        else:
            lines.append(f"{path} = {_scalar_text(item)}\n" if path else _scalar_text(item) + "\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _write_xml(value: Value, indent: int, budget: Budget) -> str:
    if not isinstance(value, dict):
        return _escaped(_scalar_text(value)) + "\n" if not isinstance(value, list) else ""
    parts: list[str] = []
    for name, item in value.items():
        for one in item if isinstance(item, list) else [item]:
            _element(name, one, "", " " * indent, parts, budget)
    return "".join(parts)


def _element(name: str, value: Value, margin: str, step: str, parts: list[str], budget: Budget) -> None:
    budget.step()
    if len(margin) > _DEPTH * max(len(step), 1):
        raise LimitReached("depth")
    if not isinstance(value, dict):
        parts.append(f"{margin}<{name}>{_escaped(_scalar_text(value))}</{name}>\n")
        return
    attributes = "".join(f' {key[2:]}="{_escaped(_scalar_text(item))}"' for key, item in value.items() if key.startswith("+@"))
    inner = {key: item for key, item in value.items() if not key.startswith("+")}
    content = _escaped(_scalar_text(value.get("+content")))
    if not inner:
        parts.append(f"{margin}<{name}{attributes}>{content}</{name}>\n")
        return
    parts.append(f"{margin}<{name}{attributes}>{content}\n")
    for key, item in inner.items():
        for one in item if isinstance(item, list) else [item]:
            _element(key, one, margin + step, step, parts, budget)
    parts.append(f"{margin}</{name}>\n")


def _write_toml(value: Value, indent: int, budget: Budget) -> str:
    if isinstance(value, (dict, list)):
        raise CommandError("Error: only scalars (e.g. strings, numbers, booleans) are supported for TOML output at the moment", 1)
    return _scalar_text(value) + "\n"


_WRITERS: dict[str, Callable[[Value, int, Budget], str]] = {
    "csv": _write_table(","),
    "tsv": _write_table("\t"),
    "props": _write_properties,
    "xml": _write_xml,
    "toml": _write_toml,
}
