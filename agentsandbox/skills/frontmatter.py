"""The YAML at the head of a SKILL.md: taken apart by lines, read without types, aliases, tags or surprises.

Every scalar is a string. Anchors, aliases, tags, merge keys, directives and deep or large documents are
refused: a skill's text comes from strangers. What authors really get wrong is mended and reported: a value that would need
quotes is taken as it stands.
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

_FIELD = re.compile(r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?!//)(?P<value>.*)$")
_BLOCK_MARK = re.compile(r"[|>][0-9+-]{0,2}(?=\s|$)")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


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
    oddities: tuple[FrontmatterError, ...] = ()
    """What is wrong with it, and was mended."""


def read_utf8(data: bytes) -> str:
    """Strict UTF-8 without its byte order mark."""
    try:
        return str(data, "utf-8").removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise FrontmatterError("not-utf8", f"SKILL.md is not UTF-8 (byte {error.start})") from None


def parse_skill_text(text: str) -> Frontmatter:
    """Take a SKILL.md apart and read its YAML; `FrontmatterError` says what is wrong."""
    head, body = split_frontmatter(text)
    oddities = [] if text.removeprefix(BOM).startswith(FENCE) else [FrontmatterError("blank-start", "SKILL.md starts with blank lines")]
    return Frontmatter(_read_mapping(head, oddities), body, tuple(oddities))


def split_frontmatter(text: str) -> tuple[str, str]:
    """(YAML, body) of a SKILL.md: the first line is `---`, and so is the line that ends the YAML. Line ends become LF."""
    text = text.removeprefix(BOM).lstrip(" \t\r\n")
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


def _read_mapping(head: str, oddities: list[FrontmatterError]) -> dict[str, Any]:
    """The fields of a YAML text; what had to be mended is added to `oddities`."""
    if found := _FORBIDDEN.search(head):
        raise FrontmatterError("invalid-yaml", f"Invalid YAML in frontmatter: character {ord(found.group()):#04x}")
    reader = _Reader()
    try:
        value = reader.document(head)
        if not isinstance(value, dict):
            raise FrontmatterError("not-a-mapping", "SKILL.md frontmatter must be a YAML mapping")
    except FrontmatterError as error:
        if error.code not in ("invalid-yaml", "not-a-mapping"):
            raise
        reader = _Reader()
        value = {key: _read_field(reader, key, lines) for key, lines in _fields_of(head)}
        if not value:
            raise
        oddities.append(FrontmatterError("repaired-yaml", str(error)))
    oddities += reader.duplicates
    return value


def _fields_of(head: str) -> list[tuple[str, list[str]]]:
    """The top-level fields: (key, lines), each up to the next line that begins with a key."""
    found: list[tuple[str, list[str]]] = []
    for line in head.split("\n"):
        match = _FIELD.match(line)
        if match is not None:
            found.append((match["key"], [match["value"]]))
        elif found and not line.startswith("#"):
            found[-1][1].append(line)
    return found


def _read_field(reader: _Reader, key: str, lines: list[str]) -> Any:
    """The value of one field: by YAML, or where that cannot read it, the text that stands there."""
    try:
        value = reader.document("\n".join([f"{key}: {lines[0]}", *lines[1:]]))
        if isinstance(value, dict) and list(value) == [key]:
            return value[key]
    except FrontmatterError as error:
        if error.code != "invalid-yaml":
            raise
    text = " ".join(stripped for line in lines if (stripped := line.strip()))
    text = _BLOCK_MARK.sub("", text, count=1).strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


class _Reader:
    """Builds values from YAML's events; no constructor of the library ever sees them."""

    def __init__(self) -> None:
        self.nodes = 0
        self.duplicates: list[FrontmatterError] = []

    def document(self, text: str) -> Any:
        """The value of a YAML text."""
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            events = yaml.parse(text, Loader=loader)
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
                self.duplicates.append(FrontmatterError("yaml-duplicate", f"the key {key[:100]!r} stands twice in the frontmatter"))
            mapping[key] = self._value(events, next(events), depth + 1)
        return mapping


def _one_line(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    where = f" (line {mark.line + 2})" if mark is not None else ""
    return " ".join(str(problem).split()) + where
