"""The YAML at the head of a SKILL.md: taken apart by lines, read without types, aliases, tags or surprises.

Every scalar is a string. Anchors, aliases, tags, merge keys, directives, duplicate keys and deep or large documents are
refused: a skill's text comes from strangers. The one mistake that authors really make, a value with an unquoted colon,
is repaired and reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["MAX_FRONTMATTER_BYTES", "Frontmatter", "FrontmatterError", "parse_skill_text", "read_utf8", "split_frontmatter"]

MAX_FRONTMATTER_BYTES = 64 * 1024
MAX_DEPTH = 10
MAX_NODES = 2000
FENCE = "---"
BOM = "\ufeff"

_KEY_LINE = re.compile(r"(?P<head>\s*(?:- )?[A-Za-z_][\w.-]*:)[ \t]+(?P<value>\S.*)$")
_WELL_QUOTED = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:#.*)?$""")
_BLOCK_SCALAR = re.compile(r"[|>][0-9+-]{0,2}\s*(?:#.*)?$")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class FrontmatterError(ValueError):
    """The front matter cannot be read; `code` is the diagnostic's."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A SKILL.md taken apart. `fields` holds strings, lists and mappings of strings; `body` is the Markdown, trimmed."""

    fields: dict[str, Any]
    body: str
    repaired: bool = False
    """Whether values had to be quoted before the YAML could be read."""


def read_utf8(data: bytes) -> str:
    """Strict UTF-8 without its byte order mark."""
    try:
        return str(data, "utf-8").removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise FrontmatterError("not-utf8", f"SKILL.md is not UTF-8 (byte {error.start})") from None


def parse_skill_text(text: str) -> Frontmatter:
    """Take a SKILL.md apart and read its YAML; `FrontmatterError` says what is wrong."""
    head, body = split_frontmatter(text)
    fields, repaired = _read_mapping(head)
    return Frontmatter(fields, body, repaired)


def split_frontmatter(text: str) -> tuple[str, str]:
    """(YAML, body) of a SKILL.md: the first line is `---`, and so is the line that ends the YAML. Line ends become LF."""
    text = text.removeprefix(BOM)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != FENCE:
        raise FrontmatterError("no-frontmatter", "SKILL.md must start with YAML frontmatter (---)")
    for number in range(1, len(lines)):
        if lines[number].rstrip() == FENCE:
            head = "\n".join(lines[1:number])
            if len(head) > MAX_FRONTMATTER_BYTES:
                raise FrontmatterError("frontmatter-too-large", f"SKILL.md frontmatter exceeds {MAX_FRONTMATTER_BYTES} bytes")
            return head, "\n".join(lines[number + 1 :]).strip()
    raise FrontmatterError("unclosed-frontmatter", "SKILL.md frontmatter not properly closed with ---")


def _read_mapping(head: str) -> tuple[dict[str, Any], bool]:
    """The fields of a YAML text, and whether it had to be repaired first."""
    if found := _FORBIDDEN.search(head):
        raise FrontmatterError("invalid-yaml", f"Invalid YAML in frontmatter: character {ord(found.group()):#04x}")
    problem: FrontmatterError | None = None
    for repair in (None, _quote_values, _quote_paragraphs):
        try:
            value = _Reader(head if repair is None else repair(head)).document()
        except FrontmatterError as error:
            if error.code != "invalid-yaml":
                raise
            problem = problem or error
            continue
        if not isinstance(value, dict):
            raise FrontmatterError("not-a-mapping", "SKILL.md frontmatter must be a YAML mapping")
        return value, repair is not None
    assert problem is not None
    raise problem


def _quoted(value: str) -> str:
    return "'" + value.strip().replace("'", "''") + "'"


def _needs_quotes(value: str) -> bool:
    if value[0] in "\"'":
        return not _WELL_QUOTED.match(value)
    if value[0] in "[{" and value.rstrip()[-1:] in "]}":
        return False
    return not _BLOCK_SCALAR.match(value) and value[0] not in "&!|>"


def _quote_values(head: str) -> str:
    """The text with every plain value that may hold an unquoted colon in quotes."""
    lines = []
    for line in head.split("\n"):
        match = _KEY_LINE.match(line)
        quote = match is not None and _needs_quotes(match["value"])
        lines.append(f"{match['head']} {_quoted(match['value'])}" if match and quote else line)
    return "\n".join(lines)


def _quote_paragraphs(head: str) -> str:
    """As `_quote_values`, top-level values that go on over indented lines joined into one."""
    lines: list[str] = []
    open_value: list[str] | None = None
    for line in [*head.split("\n"), "end:"]:
        if open_value is not None and (line.startswith((" ", "\t")) or not line.strip()):
            open_value.append(line.strip())
            continue
        if open_value is not None:
            lines.append(f"{open_value[0]} {_quoted(' '.join(part for part in open_value[1:] if part))}")
            open_value = None
        match = _KEY_LINE.match(line)
        if match and not line[0].isspace() and _needs_quotes(match["value"]):
            open_value = [match["head"], match["value"]]
        else:
            lines.append(line)
    return "\n".join(lines[:-1])


class _Reader:
    """Builds values from YAML's events; no constructor of the library ever sees them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.nodes = 0

    def document(self) -> Any:
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            events = yaml.parse(self.text, Loader=loader)
            next(events)
            start: Any = next(events)
            if isinstance(start, yaml.StreamEndEvent):
                return {}
            if start.version or start.tags:
                raise FrontmatterError("yaml-directive", "YAML directives are not allowed in frontmatter")
            value = self._value(events, next(events), 1)
            next(events)
            if not isinstance(next(events), yaml.StreamEndEvent):
                raise FrontmatterError("yaml-documents", "SKILL.md frontmatter holds more than one YAML document")
        except (yaml.YAMLError, ValueError) as error:
            if isinstance(error, FrontmatterError):
                raise
            raise FrontmatterError("invalid-yaml", f"Invalid YAML in frontmatter: {_one_line(error)}") from None
        return value

    def _value(self, events: Iterator[Any], event: Any, depth: int) -> Any:
        import yaml

        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise FrontmatterError("yaml-too-large", "SKILL.md frontmatter has too many or too deeply nested values")
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise FrontmatterError("yaml-alias", "YAML anchors and aliases are not allowed in frontmatter")
        if event.tag and event.tag != "!":
            raise FrontmatterError("yaml-tag", f"YAML tags are not allowed in frontmatter: {event.tag}")
        if isinstance(event, yaml.ScalarEvent):
            if _FORBIDDEN.search(event.value):
                raise FrontmatterError("invalid-yaml", "Invalid YAML in frontmatter: a value holds a control character")
            return event.value
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(events), yaml.SequenceEndEvent):
                items.append(self._value(events, item, depth + 1))
            return items
        mapping: dict[str, Any] = {}
        while not isinstance(item := next(events), yaml.MappingEndEvent):
            key = self._value(events, item, depth + 1)
            if not isinstance(key, str):
                raise FrontmatterError("yaml-key", "a key of the frontmatter is not a string")
            if key == "<<":
                raise FrontmatterError("yaml-merge", "YAML merge keys are not allowed in frontmatter")
            if key in mapping:
                raise FrontmatterError("yaml-duplicate", f"the key {key!r} stands twice in the frontmatter")
            mapping[key] = self._value(events, next(events), depth + 1)
        return mapping


def _one_line(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    where = f" (line {mark.line + 2})" if mark is not None else ""
    return " ".join(str(problem).split()) + where
