"""The front matter of a SKILL.md: YAML between two lines of `---`, then Markdown.

A skill's text comes from strangers, so only a part of YAML is read. Every scalar is a string.
Anchors, aliases, tags, merge keys, directives, and deep or large documents are refused.

Real authors make mistakes. The frequent ones are repaired and reported: text before the first
`---`, a last `---` that is indented or longer, a key that occurs twice, a key that is a list or a
mapping, and a value that would need quotes. For the last two the text is divided at the lines that
begin with a key, and each field is read by itself; a field that YAML cannot read is the text as it
is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_FRONTMATTER_BYTES = 64 * 1024
MAX_DEPTH = 10
MAX_NODES = 2000
FENCE = "---"
BOM = "\ufeff"

_FIELD = re.compile(r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?!//)(?P<value>.*)$")
_STRANGE_KEY = re.compile(r"[?:](?:\s|$)|[\[{].*:(?:\s|$)")
_STRUCTURED = frozenset(("allowed-tools", "metadata", "tags", "requires"))
_BLOCK_MARK = re.compile(r"[|>][0-9+-]{0,2}(?=\s|$)")
_CODE = re.compile(r"(`{3,}|~{3,})[a-z]*")
_LOOSE_FENCE = re.compile(r"\s*-{3,}\s*")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


class FrontmatterError(ValueError):
    """The front matter cannot be read; `code` is that of the diagnostic."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The parts of a SKILL.md.

    fields    the values of the YAML: strings, lists and mappings of strings
    body      the Markdown, without white space around it
    oddities  the mistakes that were repaired
    """

    fields: dict[str, Any]
    body: str
    oddities: tuple[FrontmatterError, ...] = ()


def read_utf8(data: bytes) -> str:
    """Decode strict UTF-8 and drop the byte order mark; `FrontmatterError` for anything else."""
    try:
        return str(data, "utf-8").removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise FrontmatterError("not-utf8", f"SKILL.md is not UTF-8 (byte {error.start})") from None


def parse_skill_text(text: str) -> Frontmatter:
    """Divide a SKILL.md and read its YAML; `FrontmatterError` says what is wrong."""
    oddities: list[FrontmatterError] = []
    head, body = split_frontmatter(text, oddities)
    return Frontmatter(_read_mapping(head, oddities), body, tuple(oddities))


class Opening:
    """The blank lines, comments and fence of a code block that precede the front matter."""

    def __init__(self) -> None:
        self.fence = ""
        """The marks that open a code block around the front matter or the whole file."""
        self._in_comment = False

    def includes(self, line: str) -> bool:
        """Whether the next line is still before the front matter."""
        line = line.strip()
        if self._in_comment or line.startswith("<!--"):
            self._in_comment = "-->" not in line
            return self._in_comment or line.endswith("-->")
        code = None if self.fence else _CODE.fullmatch(line)
        if code is not None:
            self.fence = code[1]
        return code is not None or not line


def split_frontmatter(text: str, oddities: list[FrontmatterError] | None = None) -> tuple[str, str]:
    """Return (YAML, body) of a SKILL.md, with LF as the end of every line.

    Text before the first `---`, and a last `---` that is indented or longer, are accepted and added
    to `oddities`.
    """
    odd = [] if oddities is None else oddities
    lines = text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    opening = Opening()
    start = next((number for number, line in enumerate(lines) if not opening.includes(line)), 0)
    if lines[start].strip() != FENCE:
        raise FrontmatterError("no-frontmatter", "SKILL.md must start with YAML frontmatter (---)")
    if start or lines[0].rstrip() != FENCE:
        message = "SKILL.md does not start with its frontmatter (---)"
        odd.append(FrontmatterError("late-start", message))
    end = _end_of(lines, start + 1, odd)
    head = "\n".join(lines[start + 1 : end])
    if len(head) > MAX_FRONTMATTER_BYTES:
        raise FrontmatterError(
            "frontmatter-too-large", f"SKILL.md frontmatter exceeds {MAX_FRONTMATTER_BYTES} bytes"
        )
    return head, _body(lines[end + 1 :], opening.fence)


def _end_of(lines: list[str], start: int, oddities: list[FrontmatterError]) -> int:
    """Return the number of the line that ends the YAML: `---`, else one that is almost that."""
    numbers = range(start, len(lines))
    for number in numbers:
        if lines[number].rstrip() == FENCE:
            return number
    for number in numbers:
        if _LOOSE_FENCE.fullmatch(lines[number]):
            shown = lines[number][:40]
            message = f"SKILL.md frontmatter is closed with {shown!r}, not with '---'"
            oddities.append(FrontmatterError("loose-fence", message))
            return number
    message = "SKILL.md frontmatter not properly closed with ---"
    raise FrontmatterError("unclosed-frontmatter", message)


def _body(lines: list[str], fence: str) -> str:
    """Return the Markdown without the end of a code block that began before the front matter."""
    text = "\n".join(lines).strip()
    if fence and text.startswith(f"{fence}\n"):
        text = text[len(fence) :]
    elif fence:
        text = text.removesuffix(f"\n{fence}")
    return text.strip()


def _read_mapping(head: str, oddities: list[FrontmatterError]) -> dict[str, Any]:
    """Return the fields of a YAML text; add the repaired mistakes to `oddities`."""
    if found := _FORBIDDEN.search(head):
        raise _invalid(f"character {ord(found.group()):#04x}")
    reader = _Reader()
    try:
        value = reader.document(head)
        if not isinstance(value, dict):
            raise FrontmatterError("not-a-mapping", "SKILL.md frontmatter must be a YAML mapping")
    except FrontmatterError as error:
        if error.code not in ("invalid-yaml", "not-a-mapping", "yaml-key"):
            raise
        reader = _Reader()
        read = {key: _read_field(reader, key, lines) for key, lines in _fields_of(head)}
        value = {key: each for key, each in read.items() if each is not None}
        if not value:
            raise
        code = "yaml-key" if error.code == "yaml-key" else "repaired-yaml"
        oddities.append(FrontmatterError(code, str(error)))
    oddities += reader.duplicates
    return value


def _fields_of(head: str) -> list[tuple[str, list[str]]]:
    """Return (key, lines) of each top-level field, up to the next line that begins with a key.

    A field whose key is a list or a mapping is left out.
    """
    found: list[tuple[str, list[str]]] = []
    is_left_out = False
    for line in head.split("\n"):
        match = _FIELD.match(line)
        if match is not None:
            found.append((match["key"], [match["value"]]))
            is_left_out = False
        elif _STRANGE_KEY.match(line):
            is_left_out = True
        elif found and not is_left_out and not line.startswith("#"):
            found[-1][1].append(line)
    return found


def _read_field(reader: _Reader, key: str, lines: list[str]) -> Any:
    """Return the value of one field: by YAML, or if that cannot read it, the text as written.

    None for a list or mapping that has a list or a mapping as a key, in a field that is no text.
    """
    try:
        value = reader.document("\n".join([f"{key}: {lines[0]}", *lines[1:]]))
        if isinstance(value, dict) and list(value) == [key]:
            return value[key]
    except FrontmatterError as error:
        if error.code == "yaml-key" and key in _STRUCTURED:
            return None
        if error.code not in ("invalid-yaml", "yaml-key"):
            raise
    text = " ".join(stripped for line in lines if (stripped := line.strip()))
    text = _BLOCK_MARK.sub("", text, count=1).strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


# TM-SKILL-2
class _Reader:
    """Builds values from YAML's events, without the library's constructors."""

    def __init__(self) -> None:
        self.nodes = 0
        self.duplicates: list[FrontmatterError] = []

    def document(self, text: str) -> Any:
        """Return the value of a YAML text."""
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
            if "nesting depth" in str(getattr(error, "problem", "")):
                raise _too_large() from None
            raise _invalid(_one_line(error)) from None
        return value

    def _value(self, events: Iterator[Any], event: Any, depth: int) -> Any:
        import yaml

        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise _too_large()
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise FrontmatterError(
                "yaml-alias", "YAML anchors and aliases are not allowed in frontmatter"
            )
        if event.tag and event.tag != "!":
            message = f"YAML tags are not allowed in frontmatter: {event.tag}"
            raise FrontmatterError("yaml-tag", message)
        if isinstance(event, yaml.ScalarEvent):
            if _FORBIDDEN.search(event.value):
                raise _invalid("a value holds a control character")
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
                message = f"the key {key[:100]!r} occurs twice in the frontmatter"
                self.duplicates.append(FrontmatterError("yaml-duplicate", message))
            mapping[key] = self._value(events, next(events), depth + 1)
        return mapping


def _too_large() -> FrontmatterError:
    return FrontmatterError(
        "yaml-too-large", "SKILL.md frontmatter has too many or too deeply nested values"
    )


def _invalid(reason: str) -> FrontmatterError:
    return FrontmatterError("invalid-yaml", f"Invalid YAML in frontmatter: {reason}")


def _one_line(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    where = f" (line {mark.line + 2})" if mark is not None else ""
    return " ".join(str(problem).split()) + where
