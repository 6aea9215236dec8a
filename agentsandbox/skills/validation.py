"""What the specification requires of a skill's front matter, as diagnostics.

Every problem is reported at once and none is raised. Strict is the specification's text. Lenient is
for the skills that exist: what is merely untidy becomes a warning. What could be an attack (a name
that is a path, a field of the wrong kind) is an error either way.
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

DESCRIPTION_MAX = 1024
COMPATIBILITY_MAX = 500
SPECIFIED_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
KNOWN_FIELDS = frozenset((*SPECIFIED_FIELDS, "tags", "requires"))


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Which names and sizes a host accepts.

    unicode_names        accept lower-case letters and digits of any script in names, as the
                         reference library does, not only a-z and 0-9
    hard_skill_md_bytes  the largest SKILL.md, in bytes
    """

    unicode_names: bool = False
    hard_skill_md_bytes: int = 1024 * 1024


USUAL = Acceptance()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a skill.

    code      a short name that does not change between versions, "name-case" for one
    severity  "error" or "warning"
    field     the key of the front matter, or ""
    message   one sentence
    path      the file that it is about, or ""
    """

    code: str
    severity: Severity
    field: str
    message: str
    path: str = ""

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.severity}: {self.message}"


def error(code: str, message: str, field: str = "", path: str = "") -> Diagnostic:
    """Return a diagnostic that makes a skill invalid."""
    return Diagnostic(code, "error", field, message, path)


def warning(code: str, message: str, field: str = "", path: str = "") -> Diagnostic:
    """Return a diagnostic that leaves a skill valid."""
    return Diagnostic(code, "warning", field, message, path)


def errors_of(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Return the messages of the errors among the diagnostics."""
    return [diagnostic.message for diagnostic in diagnostics if diagnostic.severity == "error"]


def safe_words(problem: Exception) -> str:
    """Return what an error says, without any path of the host."""
    if isinstance(problem, OSError):
        return problem.strerror or "cannot be read"
    return str(problem)


def check_fields(
    fields: Mapping[str, Any],
    *,
    directory: str | None,
    strict: bool,
    named: bool = False,
    unicode_names: bool = False,
) -> list[Diagnostic]:
    """Return every finding about a front matter; `named`: the host chose the skill's name."""
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
        tolerated |= {"name-case", "name-hyphen", "name-hyphens", "name-characters"}
    return [
        replace(diagnostic, severity="warning") if diagnostic.code in tolerated else diagnostic
        for diagnostic in found
    ]


def split_tools(value: Any) -> tuple[str, ...] | None:
    """Return the names in `allowed-tools`, written as words, with commas or as a list.

    Commas and blanks in parentheses do not separate. None for any other kind of value.
    """
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        items = [item for text in value for item in _split(text, blanks=False)]
        return tuple(item.strip() for item in items if item.strip())
    if not isinstance(value, str):
        return None
    return tuple(tool for tool in _split(value, blanks=True) if tool)


def _split(text: str, *, blanks: bool) -> list[str]:
    """Split a text at commas, and at blanks if asked, outside parentheses."""
    found, start, depth = [], 0, 0
    for at, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")" and depth:
            depth -= 1
        elif not depth and (character == "," or (blanks and character.isspace())):
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]


def _is_divided_by_commas(text: str) -> bool:
    return len(_split(text, blanks=False)) > 1


def _check_name(
    fields: Mapping[str, Any], directory: str | None, named: bool, unicode: bool
) -> Iterator[Diagnostic]:
    if "name" not in fields:
        yield error("missing-name", "Missing required field in frontmatter: name", "name")
        return
    name = fields["name"]
    if not isinstance(name, str) or not name.strip():
        yield error("empty-name", "Field 'name' must be a non-empty string", "name")
        return
    name = name.strip()
    if unicode:
        name = unicodedata.normalize("NFKC", name)
        directory = directory and unicodedata.normalize("NFKC", directory)
    for code, message in _name_problems(name, unicode):
        yield error(code, message, "name")
    if directory is not None and directory != name and not named:
        message = f"Directory name {directory!r} must match skill name {name!r}"
        yield error("name-directory", message, "name")


def _name_problems(name: str, unicode: bool) -> Iterator[tuple[str, str]]:
    """Yield (code, message) for each rule of the specification that the name breaks."""
    if len(name) > SKILL_NAME_MAX:
        shown = f"{name[:SKILL_NAME_MAX]}…"
        yield (
            "name-too-long",
            f"Skill name '{shown}' exceeds 64 character limit ({len(name)} chars)",
        )
    if name != name.lower():
        yield "name-case", f"Skill name {name!r} must be lowercase"
    if name.startswith("-") or name.endswith("-"):
        yield "name-hyphen", "Skill name cannot start or end with a hyphen"
    if "--" in name:
        yield "name-hyphens", "Skill name cannot contain consecutive hyphens"
    letters = name.replace("-", "")
    if letters and not (letters.isalnum() and (unicode or letters.isascii())):
        rule = "Only letters, digits, and hyphens are allowed."
        yield "name-characters", f"Skill name {name!r} contains invalid characters. {rule}"
    if name.lower() in RESERVED_NAMES:
        yield "name-reserved", f"Skill name {name!r} is a device name on some systems"


def _check_description(fields: Mapping[str, Any]) -> Iterator[Diagnostic]:
    field = "description"
    if field not in fields:
        yield error(
            "missing-description", "Missing required field in frontmatter: description", field
        )
        return
    description = fields[field]
    if not isinstance(description, str) or not description.strip():
        yield error("empty-description", "Field 'description' must be a non-empty string", field)
        return
    size = len(description)
    if size > DESCRIPTION_MAX:
        message = f"Description exceeds 1024 character limit ({size} chars)"
        yield error("description-too-long", message, field)
    if INVISIBLE.search(description):
        message = "The description holds invisible or direction-changing characters"
        yield warning("hidden-characters", message, field)


def _check_optional(fields: Mapping[str, Any]) -> Iterator[Diagnostic]:
    field, value = "compatibility", fields.get("compatibility")
    if value is not None and not isinstance(value, str):
        yield error("compatibility-type", "Field 'compatibility' must be a string", field)
    elif value is not None and len(value) > COMPATIBILITY_MAX:
        message = f"Compatibility exceeds 500 character limit ({len(value)} chars)"
        yield error("compatibility-too-long", message, field)
    elif value == "":
        yield error("compatibility-empty", "Field 'compatibility' must not be empty", field)
    if "license" in fields and not isinstance(fields["license"], str):
        yield error("license-type", "Field 'license' must be a string", "license")
    field, value = "metadata", fields.get("metadata", {})
    if not isinstance(value, dict) and value != "":
        yield error("metadata-type", "Field 'metadata' must be a mapping", field)
    elif isinstance(value, dict) and not all(isinstance(each, str) for each in value.values()):
        yield warning("metadata-values", "Values of 'metadata' should be strings", field)
    field, value = "allowed-tools", fields.get("allowed-tools", "")
    if split_tools(value) is None:
        yield error("allowed-tools-type", "Field 'allowed-tools' must be a string", field)
    elif not isinstance(value, str) or _is_divided_by_commas(value):
        message = "Field 'allowed-tools' should be one string of words"
        yield warning("allowed-tools-form", message, field)


def _check_unknown(fields: Mapping[str, Any]) -> Iterator[Diagnostic]:
    unknown = [name[:SKILL_NAME_MAX] for name in sorted(set(fields) - KNOWN_FIELDS)]
    if unknown:
        message = f"Unexpected fields in frontmatter: {', '.join(unknown[:20])}"
        yield warning("unknown-field", message, unknown[0])


_TOLERATED = frozenset(
    """
    name-too-long name-directory description-too-long compatibility-type compatibility-too-long
    compatibility-empty license-type metadata-type allowed-tools-type
    """.split()
)
"""Codes of errors that are warnings when a skill is read leniently."""
_HOSTILE = re.compile(r"""^[.~]|\.\.|[\\"<>`$;|]""")
_WORD = re.compile(r"[a-z0-9]{3,}")
_TITLE_LETTERS = 6


def is_title(name: str, directory: str | None) -> bool:
    """Whether a name is a title for people, such as "PDF Tools", and not a path or mark-up.

    A catalog knows such a skill by its directory, so the title may differ from it. A title that
    shares no word with the directory must have several words, or several characters of a script
    without capitals, whose letters look like no others.
    """
    hidden = not name.isprintable() or INVISIBLE.search(name)
    if hidden or _HOSTILE.search(name) or name_for(name) is None:
        return False
    if directory is not None and _letters(name) == _letters(directory):
        return True
    if _is_path(name):
        return False
    if directory is None:
        return not name.startswith("/")
    shares_a_word = name.isascii() and not _words(name).isdisjoint(_words(directory))
    return shares_a_word or _reads_as_title(name)


def _is_path(name: str) -> bool:
    """Whether a name is a path, "a/b"; not a title, "CI/CD Pipeline", nor a command, "/deploy"."""
    return ("/" in name[1:] or name == "/") and not any(map(str.isspace, name))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _words(text: str) -> set[str]:
    """Return the words of three letters or more; for a text without such words, all of it."""
    return set(_WORD.findall(text.lower())) or {_letters(text)}


def _reads_as_title(name: str) -> bool:
    """Whether it has several words, or a script without capitals, and no mixed alphabets."""
    if unicodedata.normalize("NFKC", name) != name:
        return False
    words = [word for word in name.split() if word[0].isalnum() and len(_letters(word)) > 1]
    if any(_is_mixed(word) for word in words):
        return False
    uncased = sum(letter.isalpha() and letter.lower() == letter.upper() for letter in name)
    return uncased >= 3 or (len(words) > 1 and sum(map(len, words)) >= _TITLE_LETTERS)


def _is_mixed(word: str) -> bool:
    """Whether a word mixes ASCII letters with cased ones of another alphabet: Cyrillic, not é."""
    alphabets = {
        unicodedata.normalize("NFKD", letter)[0].isascii()
        for letter in word
        if letter.lower() != letter.upper()
    }
    return len(alphabets) > 1


def name_for(title: str) -> str | None:
    """Return a name for a title ("PDF Tools": `pdf-tools`), with a digest if needed, or None."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")
    if len(plain) > SKILL_NAME_MAX or not "".join(filter(str.isalnum, title)).isascii():
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
    """Return the name a skill is known by, None if there is none.

    That is the host's name for it, else its own or its directory's if the specification allows that
    name, else a name made from one of these titles.
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
    titles = [] if strict else [each for each in candidates if is_title(each, directory)]
    return name_for(titles[0]) if titles else None
