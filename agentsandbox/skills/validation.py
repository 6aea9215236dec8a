"""What the specification asks of a skill's front matter, as diagnostics: every problem at once,
none of them raised.

Strict is the specification's text. Lenient is for the skills that exist: what is merely untidy
becomes a warning. What could be an attack (a name that is a path, a field of the wrong kind) is an
error either way.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentsandbox.kernel.streams import encode
from agentsandbox.skills.invisible import INVISIBLE
from agentsandbox.skills.paths import RESERVED_NAMES, SKILL_NAME_MAX, is_skill_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, Literal

    Severity = Literal["error", "warning"]

__all__ = [
    "KNOWN_FIELDS",
    "USUAL",
    "Acceptance",
    "Diagnostic",
    "check_fields",
    "errors_of",
    "identify",
    "split_tools",
]

DESCRIPTION_MAX = 1024
COMPATIBILITY_MAX = 500
SPECIFIED_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
KNOWN_FIELDS = frozenset((*SPECIFIED_FIELDS, "tags", "requires"))


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a host takes for a skill.

    unicode_names        names in lower-case letters and digits of any script, as the reference
                         library takes them; not only a-z and 0-9
    hard_skill_md_bytes  the most that a SKILL.md may have
    """

    unicode_names: bool = False
    hard_skill_md_bytes: int = 1024 * 1024


USUAL = Acceptance()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a skill. `code` is stable, `field` the front matter's key or "", `path` the
    file it is about.
    """

    code: str
    severity: Severity
    field: str
    message: str
    path: str = ""

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.severity}: {self.message}"


def errors_of(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """The messages of the errors among them."""
    return [diagnostic.message for diagnostic in diagnostics if diagnostic.severity == "error"]


def check_fields(
    fields: Mapping[str, Any],
    *,
    directory: str | None,
    strict: bool,
    named: bool = False,
    unicode_names: bool = False,
) -> list[Diagnostic]:
    """Every finding about the fields of a front matter; `named` says that the host gave the skill a
    name of its own.
    """
    found = [
        *_check_name(fields, directory, named, unicode_names),
        *_check_description(fields),
        *_check_optional(fields),
        *_check_unknown(fields),
    ]
    if strict:
        return found
    tolerated = set(_TOLERATED)
    if named or directory is not None:
        tolerated |= {"missing-name", "empty-name"}
    name = fields.get("name")
    if isinstance(name, str) and is_title(name.strip(), directory):
        tolerated |= _NAME_FORM
    return [
        replace(diagnostic, severity="warning") if diagnostic.code in tolerated else diagnostic
        for diagnostic in found
    ]


def split_tools(value: Any) -> tuple[str, ...] | None:
    """`allowed-tools` as authors write it: words, commas (not those in parentheses) or a list; None
    for anything else.
    """
    if isinstance(value, list):
        return (
            tuple(item.strip() for item in value if item.strip())
            if all(isinstance(item, str) for item in value)
            else None
        )
    if not isinstance(value, str):
        return None
    tools, word, depth = [], "", 0
    for character in value:
        depth += (character == "(") - (character == ")" and depth > 0)
        if depth == 0 and (character == "," or character.isspace()):
            tools.append(word)
            word = ""
        else:
            word += character
    return tuple(tool for tool in (*tools, word) if tool)


def _error(code: str, field: str, message: str) -> Diagnostic:
    return Diagnostic(code, "error", field, message)


def _check_name(
    fields: Mapping[str, Any], directory: str | None, named: bool, unicode: bool
) -> Iterator[Diagnostic]:
    if "name" not in fields:
        yield _error("missing-name", "name", "Missing required field in frontmatter: name")
        return
    name = fields["name"]
    if not isinstance(name, str) or not name.strip():
        yield _error("empty-name", "name", "Field 'name' must be a non-empty string")
        return
    name = name.strip()
    if unicode:
        name, directory = (
            unicodedata.normalize("NFKC", name),
            directory and unicodedata.normalize("NFKC", directory),
        )
    if len(name) > SKILL_NAME_MAX:
        yield _error(
            "name-too-long",
            "name",
            f"Skill name '{name[:SKILL_NAME_MAX]}…' exceeds 64 character limit ({len(name)} chars)",
        )
    if name != name.lower():
        yield _error("name-case", "name", f"Skill name {name!r} must be lowercase")
    if name.startswith("-") or name.endswith("-"):
        yield _error("name-hyphen", "name", "Skill name cannot start or end with a hyphen")
    if "--" in name:
        yield _error("name-hyphens", "name", "Skill name cannot contain consecutive hyphens")
    if not all(
        (character.isascii() or unicode) and (character.isalnum() or character == "-")
        for character in name
    ):
        rule = "Only letters, digits, and hyphens are allowed."
        yield _error(
            "name-characters", "name", f"Skill name {name!r} contains invalid characters. {rule}"
        )
    if name.lower() in RESERVED_NAMES:
        yield _error(
            "name-reserved", "name", f"Skill name {name!r} is a device name on some systems"
        )
    if directory is not None and directory != name and not named:
        yield _error(
            "name-directory", "name", f"Directory name {directory!r} must match skill name {name!r}"
        )


def _check_description(fields: Mapping[str, Any]) -> Iterator[Diagnostic]:
    if "description" not in fields:
        yield _error(
            "missing-description",
            "description",
            "Missing required field in frontmatter: description",
        )
        return
    description = fields["description"]
    if not isinstance(description, str) or not description.strip():
        yield _error(
            "empty-description", "description", "Field 'description' must be a non-empty string"
        )
        return
    if len(description) > DESCRIPTION_MAX:
        yield _error(
            "description-too-long",
            "description",
            f"Description exceeds 1024 character limit ({len(description)} chars)",
        )
    if INVISIBLE.search(description):
        yield Diagnostic(
            "hidden-characters",
            "warning",
            "description",
            "The description holds invisible or direction-changing characters",
        )


def _check_optional(fields: Mapping[str, Any]) -> Iterator[Diagnostic]:
    compatibility = fields.get("compatibility")
    if compatibility is not None and not isinstance(compatibility, str):
        yield _error(
            "compatibility-type", "compatibility", "Field 'compatibility' must be a string"
        )
    elif compatibility is not None and len(compatibility) > COMPATIBILITY_MAX:
        yield _error(
            "compatibility-too-long",
            "compatibility",
            f"Compatibility exceeds 500 character limit ({len(compatibility)} chars)",
        )
    elif compatibility == "":
        yield _error(
            "compatibility-empty", "compatibility", "Field 'compatibility' must not be empty"
        )
    if "license" in fields and not isinstance(fields["license"], str):
        yield _error("license-type", "license", "Field 'license' must be a string")
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict) and metadata != "":
        yield _error("metadata-type", "metadata", "Field 'metadata' must be a mapping")
    elif isinstance(metadata, dict) and not all(
        isinstance(value, str) for value in metadata.values()
    ):
        yield Diagnostic(
            "metadata-values", "warning", "metadata", "Values of 'metadata' should be strings"
        )
    tools = fields.get("allowed-tools", "")
    if split_tools(tools) is None:
        yield _error(
            "allowed-tools-type", "allowed-tools", "Field 'allowed-tools' must be a string"
        )
    elif not isinstance(tools, str) or "," in re.sub(r"\([^)]*\)", "", tools):
        yield Diagnostic(
            "allowed-tools-form",
            "warning",
            "allowed-tools",
            "Field 'allowed-tools' should be one string of words",
        )


def _check_unknown(fields: Mapping[str, Any]) -> Iterator[Diagnostic]:
    unknown = sorted(set(fields) - KNOWN_FIELDS)
    if unknown:
        names = ", ".join(name[:SKILL_NAME_MAX] for name in unknown[:20])
        yield Diagnostic(
            "unknown-field",
            "warning",
            unknown[0][:SKILL_NAME_MAX],
            f"Unexpected fields in frontmatter: {names}",
        )


_TOLERATED = frozenset(
    (
        "name-too-long",
        "name-directory",
        "description-too-long",
        "compatibility-type",
        "compatibility-too-long",
        "compatibility-empty",
        "license-type",
        "metadata-type",
        "allowed-tools-type",
    )
)
_NAME_FORM = frozenset(("name-case", "name-hyphen", "name-hyphens", "name-characters"))
_HOSTILE = re.compile(r"""^[.~]|\.\.|[\\"<>`$;|]""")
_PATH = re.compile(
    r"\S+/\S*|/\S*/\S*|/"
)  # "CI/CD Pipeline" is a title, "/deploy" a command, "a/b" a path
_WORD = re.compile(r"[a-z0-9]{3,}")
_TITLE_LETTERS = 6


def is_title(name: str, directory: str | None) -> bool:
    """Whether a name is one for people ("PDF Tools", "数据分析"), and nothing that could be a path, a
    command, a mark-up, another's name.

    A catalog knows such a skill by its directory, so its title need not say the same; but what
    shares no word with the directory must read as a title does: several words, or several
    characters of a script that has no capitals, whose letters look like no others.
    """
    if (
        not name.isprintable()
        or INVISIBLE.search(name)
        or _HOSTILE.search(name)
        or name_for(name) is None
    ):
        return False
    if directory is not None and _letters(name) == _letters(directory):
        return True
    if _PATH.fullmatch(name):
        return False
    if directory is None:
        return not name.startswith("/")
    return (name.isascii() and not _words(name).isdisjoint(_words(directory))) or _reads_as_title(
        name
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _words(text: str) -> set[str]:
    """The words of three letters or more; of a text without such, all of it."""
    return set(_WORD.findall(text.lower())) or {_letters(text)}


def _reads_as_title(name: str) -> bool:
    """Whether it has several words, none of them of letters that are mixed to look like others."""
    if unicodedata.normalize("NFKC", name) != name:
        return False
    words = [word for word in name.split() if word[0].isalnum() and len(_letters(word)) > 1]
    if any(_is_mixed(word) for word in words):
        return False
    uncased = sum(
        character.isalpha() and character.lower() == character.upper() for character in name
    )
    return uncased >= 3 or (len(words) > 1 and sum(map(len, words)) >= _TITLE_LETTERS)


def _is_mixed(word: str) -> bool:
    """Whether a word has letters of ASCII, and others that have capitals as these have: Cyrillic or
    Greek, but not é.
    """
    cased = [
        unicodedata.normalize("NFKD", character)[0]
        for character in word
        if character.lower() != character.upper()
    ]
    return len({character.isascii() for character in cased}) > 1


def name_for(title: str) -> str | None:
    """The name that a skill gets for its title: its letters and digits, and a digest where they are
    too many or not ASCII's.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")
    if len(plain) > SKILL_NAME_MAX or any(
        character.isalnum() and not character.isascii() for character in title
    ):
        digest = hashlib.sha256(encode(title)).hexdigest()[:8]
        plain = f"{plain[: SKILL_NAME_MAX - 9].rstrip('-') or 'skill'}-{digest}"
    return plain if plain and plain not in RESERVED_NAMES else None


def identify(
    fields: Mapping[str, Any],
    *,
    directory: str | None,
    name: str | None,
    prefer_directory: bool,
    strict: bool,
    unicode_names: bool = False,
) -> str | None:
    """The name a skill is known by: the host's, else its own or its directory's, whichever can be
    one, or can be made one.
    """
    if name is not None:
        return name
    candidates = [
        text.strip()
        for text in (fields.get("name"), directory)
        if isinstance(text, str) and len(text) <= 200
    ]
    if prefer_directory:
        candidates.reverse()
    for candidate in candidates:
        plain = unicodedata.normalize("NFKC", candidate) if unicode_names else candidate
        if is_skill_name(plain, unicode=unicode_names):
            return plain
    titles = (
        []
        if strict
        else [name_for(candidate) for candidate in candidates if is_title(candidate, directory)]
    )
    return titles[0] if titles else None
