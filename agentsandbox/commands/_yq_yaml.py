"""YAML in and out for `yq`: YAML 1.2's core types, values only. Comments, anchors and quoting styles are not kept."""

from __future__ import annotations

import json
import math
import re

from agentsandbox.errors import CommandError, LimitReached
from agentsandbox.languages.jq.json_text import number_text, parse_number
from agentsandbox.languages.jq.values import Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["Source", "dump_yaml", "inline_text", "plain_value", "read_yaml"]

_DEPTH = 500
_COPIED = 1_000_000
"""Values that aliases may make copies of."""
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_WORDS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}


def plain_value(text: str) -> Value:
    """The value of a scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    if _NUMBER.match(text):
        return parse_number(text.lstrip("+")) if len(text) < 4000 else text
    if text[:2] in ("0x", "0o") and len(text) < 18:
        try:
            return Literal(int(text[2:], 16 if text[1] == "x" else 8), text)
        except ValueError:
            return text
    return text


def _scalar(text: str, tag: str | None, plain: bool) -> Value:
    if tag is None:
        return plain_value(text) if plain else text
    if tag.endswith((":int", ":float")):
        value = plain_value(text)
        return text if value is None or isinstance(value, (str, bool)) else value
    return plain_value(text) if tag.endswith((":bool", ":null")) else text


class _Builder:
    """Builds values from events, without recursion. `size` counts what a value holds, for aliases."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.open: list[tuple[Value, list[Value], str | None]] = []
        self.anchors: dict[str, Value] = {}
        self.sizes: dict[str, int] = {}
        self.made = 0
        self.starts: list[int] = []
        self.result: Value = None

    def add(self, value: Value) -> None:
        """A finished value, into the innermost container."""
        self.made += 1
        if self.made > _COPIED:
            raise LimitReached("value_bytes")
        if not self.open:
            self.result = value
            return
        container, keys, _anchor = self.open[-1]
        if isinstance(container, list):
            container.append(value)
        elif len(keys) % 2 == 0:
            keys.append(value if isinstance(value, str) else _key(value))
        else:
            name = keys.pop()
            if name == "<<":
                self._merge(container, value)
            else:
                container[name] = value

    def _merge(self, container: dict[str, Value], value: Value) -> None:
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                for name, item in part.items():
                    container.setdefault(name, item)

    def begin(self, container: Value, anchor: str | None) -> None:
        if len(self.open) >= _DEPTH:
            raise CommandError("Error: bad file: nested too deeply", 1)
        self.open.append((container, [], anchor))
        self.starts.append(self.made)

    def end(self) -> None:
        container, _keys, anchor = self.open.pop()
        start = self.starts.pop()
        self.remember(anchor, container, self.made - start + 1)
        self.add(container)

    def remember(self, anchor: str | None, value: Value, size: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = value
            self.sizes[anchor] = size

    def alias(self, name: str) -> None:
        if name not in self.anchors:
            raise CommandError(f"Error: bad file: unknown anchor '{name}' referenced", 1)
        self.made += self.sizes[name]
        self.add(self.anchors[name])


def _key(value: Value) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return number_text(value)


class Source:
    """Text that a YAML reader takes in pieces, each with a look at the clock."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.budget = budget
        self.position = 0

    def read(self, size: int = 4096) -> str:
        self.budget.step(400)
        start = self.position
        self.position = start + size
        return self.text[start : self.position]


def read_yaml(text: str, name: str, budget: Budget) -> Iterator[Value]:
    """Each document's value. Raises `CommandError`."""
    import yaml

    builder = _Builder(budget)
    try:
        for event in yaml.parse(Source(text, budget), Loader=yaml.SafeLoader):
            budget.step()
            if isinstance(event, yaml.ScalarEvent):
                value = _scalar(event.value, event.tag, event.style is None)
                builder.remember(event.anchor, value, 1)
                builder.add(value)
            elif isinstance(event, yaml.MappingStartEvent):
                builder.begin({}, event.anchor)
            elif isinstance(event, yaml.SequenceStartEvent):
                builder.begin([], event.anchor)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                builder.end()
            elif isinstance(event, yaml.AliasEvent):
                builder.alias(event.anchor or "")
            elif isinstance(event, yaml.DocumentEndEvent):
                yield builder.result
                builder = _Builder(budget)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        raise CommandError(f"Error: bad file '{name}': yaml: {where}{problem}", 1) from None
    except (RecursionError, ValueError):
        raise CommandError(f"Error: bad file '{name}': yaml: nested too deeply", 1) from None


# writing

_INDICATOR = re.compile(r"[-?:,\[\]{}#&*!|>'\"%@` ]")
_UNSAFE = re.compile(r": |:\Z| #|\s\Z|[\x00-\x08\x0b-\x1f\x7f]")


def _text(text: str) -> str:
    """A string as a scalar on one line: bare, in single or in double quotes."""
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f\n\ud800-\udfff]", text):
        return json.dumps(text, ensure_ascii=False)
    if not text or not isinstance(plain_value(text), str):
        return f'"{text}"'
    if text[0] in "-?:" and len(text) > 1 and text[1] not in " \t" and not _UNSAFE.search(text):
        return text
    if _INDICATOR.match(text) or _UNSAFE.search(text) or text[0] in "\t=" or text == "---":
        return "'" + text.replace("'", "''") + "'"
    return text


def inline_text(value: Value) -> str:
    """A scalar, or an empty collection, on one line."""
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (dict, list)):
        return "[]" if isinstance(value, list) else "{}"
    if value != value:
        return ".nan"
    return (".inf" if value > 0 else "-.inf") if math.isinf(value) and type(value) is float else number_text(value)


def dump_yaml(value: Value, indent: int, budget: Budget) -> str:
    """A value as block YAML, its last newline included."""
    parts: list[str] = []
    _dump(value, "", max(indent, 1), parts, budget)
    return "".join(parts)


def _block(value: str, margin: str, step: int) -> str:
    """A string of several lines as a literal block."""
    chomping = "-" if not value.endswith("\n") else "+" if value.endswith("\n\n") else ""
    inner = margin + " " * step
    body = value.removesuffix("\n") if chomping != "-" else value
    lines = "\n".join(inner + line if line else "" for line in body.split("\n"))
    sign = str(step) if value[:1] == " " else ""
    return f"|{sign}{chomping}\n{lines}\n"


def _dump(value: Value, margin: str, step: int, parts: list[str], budget: Budget) -> None:
    budget.step()
    if len(margin) > _DEPTH * step:
        raise CommandError("Error: nested too deeply", 1)
    if isinstance(value, dict) and value:
        for at, (name, item) in enumerate(value.items()):
            if at or (parts and parts[-1].endswith("\n")):
                parts.append(margin)
            parts.append(_text(name) + ":")
            if isinstance(item, (dict, list)) and item:
                parts.append("\n")
                _dump(item, margin + " " * step, step, parts, budget)
            else:
                parts.append(" ")
                _dump(item, margin, step, parts, budget)
    elif isinstance(value, list) and value:
        for at, item in enumerate(value):
            if at or (parts and parts[-1].endswith("\n")):
                parts.append(margin)
            parts.append("- ")
            _dump(item, margin + "  ", step, parts, budget)
    elif isinstance(value, str) and "\n" in value and not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", value):
        parts.append(_block(value, margin, step))
    else:
        parts.append(inline_text(value) + "\n")
