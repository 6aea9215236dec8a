"""The YAML at the head of a SKILL.md: taken apart by lines, read without types, aliases, tags or
surprises.

Every scalar is a string. Anchors, aliases, tags, merge keys, directives and deep or large documents
are refused: a skill's text comes from strangers. What authors really get wrong is mended and
reported: a value that would need quotes is taken as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = [
    "FENCE",
    "MAX_FRONTMATTER_BYTES",
    "Frontmatter",
    "FrontmatterError",
    "Opening",
    "parse_skill_text",
    "read_utf8",
    "split_frontmatter",
]

MAX_FRONTMATTER_BYTES = 64 * 1024
MAX_DEPTH = 10
MAX_NODES = 2000
FENCE = "---"
BOM = "\ufeff"

_FIELD = re.compile(r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?!//)(?P<value>.*)$")
_BLOCK_MARK = re.compile(r"[|>][0-9+-]{0,2}(?=\s|$)")
_CODE = re.compile(r"(`{3,}|~{3,})[a-z]*")
_LOOSE_FENCE = re.compile(r"\s*-{3,}\s*")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


class FrontmatterError(ValueError):
    """The front matter cannot be read; `code` is the diagnostic's."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A SKILL.md taken apart. `fields` holds strings, lists and mappings of strings; `body` is the
    Markdown, trimmed.
    """

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
    oddities: list[FrontmatterError] = []
    head, body = split_frontmatter(text, oddities)
    return Frontmatter(_read_mapping(head, oddities), body, tuple(oddities))


class Opening:
    """What authors and their tools put before the front matter: blank lines, comments, the fence of
    a code block.
    """

    def __init__(self) -> None:
        self.fence = ""
        """The marks that a code block around the front matter, or around all of it, begins with."""
        self._in_comment = False

    def includes(self, line: str) -> bool:
        """Whether the next line still stands before the front matter."""
        line = line.strip()
        if self._in_comment or line.startswith("<!--"):
            self._in_comment = "-->" not in line
            return self._in_comment or line.endswith("-->")
        code = None if self.fence else _CODE.fullmatch(line)
        if code is not None:
            self.fence = code[1]
        return code is not None or not line


def split_frontmatter(text: str, oddities: list[FrontmatterError] | None = None) -> tuple[str, str]:
    """(YAML, body) of a SKILL.md: the first line is `---`, and so is the line that ends the YAML.
    Line ends become LF.

    What stands before the first one, or makes a longer line of the last one, is passed over and
    added to `oddities`.
    """
    odd = [] if oddities is None else oddities
    lines = text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    opening = Opening()
    start = next((number for number, line in enumerate(lines) if not opening.includes(line)), 0)
    if lines[start].strip() != FENCE:
        raise FrontmatterError("no-frontmatter", "SKILL.md must start with YAML frontmatter (---)")
    if start or lines[0].rstrip() != FENCE:
        odd.append(
            FrontmatterError("late-start", "SKILL.md does not start with its frontmatter (---)")
        )
    end = _end_of(lines, start + 1, odd)
    head = "\n".join(lines[start + 1 : end])
    if len(head) > MAX_FRONTMATTER_BYTES:
        raise FrontmatterError(
            "frontmatter-too-large", f"SKILL.md frontmatter exceeds {MAX_FRONTMATTER_BYTES} bytes"
        )
    return head, _body(lines[end + 1 :], opening.fence)


def _end_of(lines: list[str], start: int, oddities: list[FrontmatterError]) -> int:
    """The line that ends the YAML: `---`, else one that is almost that."""
    numbers = range(start, len(lines))
    end = next((number for number in numbers if lines[number].rstrip() == FENCE), None)
    if end is None:
        end = next((number for number in numbers if _LOOSE_FENCE.fullmatch(lines[number])), None)
        if end is None:
            raise FrontmatterError(
                "unclosed-frontmatter", "SKILL.md frontmatter not properly closed with ---"
            )
        oddities.append(
            FrontmatterError(
                "loose-fence",
                f"SKILL.md frontmatter is closed with {lines[end][:40]!r}, not with '---'",
            )
        )
    return end


def _body(lines: list[str], fence: str) -> str:
    """The Markdown, without the end of a code block that began before the front matter."""
    text = "\n".join(lines).strip()
    if fence and text.startswith(f"{fence}\n"):
        text = text[len(fence) :]
    elif fence:
        text = text.removesuffix(f"\n{fence}")
    return text.strip()


def _read_mapping(head: str, oddities: list[FrontmatterError]) -> dict[str, Any]:
    """The fields of a YAML text; what had to be mended is added to `oddities`."""
    if found := _FORBIDDEN.search(head):
        raise FrontmatterError(
            "invalid-yaml", f"Invalid YAML in frontmatter: character {ord(found.group()):#04x}"
        )
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
                raise FrontmatterError(
                    "yaml-directive", "YAML directives are not allowed in frontmatter"
                )
            value = self._value(events, next(events), 1)
            next(events)
            if not isinstance(next(events), yaml.StreamEndEvent):
                raise FrontmatterError(
                    "yaml-documents", "SKILL.md frontmatter holds more than one YAML document"
                )
        except (yaml.YAMLError, ValueError) as error:
            if isinstance(error, FrontmatterError):
                raise
            raise FrontmatterError(
                "invalid-yaml", f"Invalid YAML in frontmatter: {_one_line(error)}"
            ) from None
        return value

    def _value(self, events: Iterator[Any], event: Any, depth: int) -> Any:
        import yaml

        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise FrontmatterError(
                "yaml-too-large", "SKILL.md frontmatter has too many or too deeply nested values"
            )
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise FrontmatterError(
                "yaml-alias", "YAML anchors and aliases are not allowed in frontmatter"
            )
        if event.tag and event.tag != "!":
            raise FrontmatterError(
                "yaml-tag", f"YAML tags are not allowed in frontmatter: {event.tag}"
            )
        if isinstance(event, yaml.ScalarEvent):
            if _FORBIDDEN.search(event.value):
                raise FrontmatterError(
                    "invalid-yaml", "Invalid YAML in frontmatter: a value holds a control character"
                )
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
                raise FrontmatterError(
                    "yaml-merge", "YAML merge keys are not allowed in frontmatter"
                )
            if key in mapping:
                self.duplicates.append(
                    FrontmatterError(
                        "yaml-duplicate", f"the key {key[:100]!r} stands twice in the frontmatter"
                    )
                )
            mapping[key] = self._value(events, next(events), depth + 1)
        return mapping


def _one_line(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    where = f" (line {mark.line + 2})" if mark is not None else ""
    return " ".join(str(problem).split()) + where
