"""`SkillMetadata`: what a SKILL.md says about its skill."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from agentsandbox.errors import InvalidSkillError
from agentsandbox.skills.frontmatter import Frontmatter, FrontmatterError, parse_skill_text
from agentsandbox.skills.validation import (
    KNOWN_FIELDS,
    USUAL,
    Acceptance,
    check_fields,
    error,
    errors_of,
    identify,
    split_tools,
    warning,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.skills.validation import Diagnostic


class SkillMetadata(BaseModel):
    """The front matter and the instructions of a skill; immutable.

    `name` is the name the skill is known by, `title` the name in its front matter. The values of
    `metadata` are strings, other values are written as JSON. `extra` has the fields that the
    specification does not define, as they were written. `instructions` and `raw_content` are None
    as long as only the front matter was read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    title: str = ""
    license: str | None = None
    compatibility: str | None = None
    metadata: dict[str, str] = {}
    allowed_tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    instructions: str | None = None
    raw_content: str | None = None
    extra: dict[str, Any] = {}

    @classmethod
    def parse(
        cls, text: str, *, directory: str | None = None, strict: bool = False
    ) -> SkillMetadata:
        """Read a SKILL.md. Raises `InvalidSkillError`, whose `problems` lists every error."""
        metadata, diagnostics = read_metadata(text, directory=directory, strict=strict)
        if metadata is None:
            problems = errors_of(diagnostics)
            raise InvalidSkillError("; ".join(problems), problems)
        return metadata

    @property
    def user_invocable(self) -> bool:
        """Whether a person may call the skill by its name."""
        return not _is(self.extra.get("user-invocable"), "false")

    @property
    def model_invocable(self) -> bool:
        """Whether the skill is shown to models.

        A skill hidden by `disable-model-invocation` can still be loaded by its name.
        """
        return not _is(self.extra.get("disable-model-invocation"), "true")

    @property
    def argument_hint(self) -> str | None:
        """A hint on what to write after the skill's name."""
        return _text(self.extra.get("argument-hint"))

    @property
    def when_to_use(self) -> str | None:
        """When to use the skill, beside what its description says."""
        return _text(self.extra.get("when_to_use"))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the skill's arguments."""
        return split_tools(self.extra.get("arguments", "")) or ()

    @property
    def needs(self) -> dict[str, Any]:
        """The requirements on the machine (bins, env, config) in `metadata.openclaw.requires`.

        The older names of that key are read too.
        """
        for key in ("openclaw", "clawdbot", "moltbot", "clawdis"):
            if key in self.metadata:
                try:
                    needs = json.loads(self.metadata[key]).get("requires", {})
                except (ValueError, AttributeError):
                    continue
                return needs if isinstance(needs, dict) else {}
        return {}


def read_metadata(
    text: str,
    *,
    directory: str | None = None,
    name: str | None = None,
    strict: bool = False,
    prefer_directory: bool = False,
    with_body: bool = True,
    accept: Acceptance = USUAL,
) -> tuple[SkillMetadata | None, list[Diagnostic]]:
    """Return a SKILL.md's metadata, or None if it has errors, and the diagnostics.

    name              the host's own name for the skill
    directory         the name of the skill's directory
    prefer_directory  know the skill by its directory's name rather than by its own
    with_body         keep the instructions and the text as well
    """
    try:
        front = parse_skill_text(text)
    except FrontmatterError as problem:
        return None, [error(problem.code, str(problem))]
    report = error if strict else warning
    found = [report(odd.code, str(odd)) for odd in front.oddities]
    unicode = accept.unicode_names
    found += check_fields(
        front.fields,
        directory=directory,
        strict=strict,
        named=name is not None,
        unicode_names=unicode,
    )
    known = identify(
        front.fields,
        directory=directory,
        name=name,
        prefer_directory=prefer_directory,
        strict=strict,
        unicode_names=unicode,
    )
    if errors_of(found):
        return None, found
    if known is None:
        message = "neither the skill's name nor its directory can be its name"
        return None, [*found, error("name-characters", message, "name")]
    return _model(known, front, text if with_body else None), found


def _model(known: str, front: Frontmatter, raw: str | None) -> SkillMetadata:
    fields = front.fields
    metadata = fields.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return SkillMetadata(
        name=known,
        title=_text(fields.get("name")) or "",
        description=fields["description"].strip(),
        license=_text(fields.get("license")),
        compatibility=_text(fields.get("compatibility")),
        metadata={
            key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for key, value in metadata.items()
        },
        allowed_tools=split_tools(fields.get("allowed-tools", "")) or (),
        tags=_names(fields.get("tags")),
        requires=_names(fields.get("requires", metadata.get("requires"))),
        instructions=front.body if raw is not None else None,
        raw_content=raw,
        extra={key: value for key, value in fields.items() if key not in KNOWN_FIELDS},
    )


def _names(value: Any) -> tuple[str, ...]:
    return split_tools(value) or () if value else ()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is(value: Any, word: str) -> bool:
    return isinstance(value, str) and value.strip().lower() == word


def as_mapping(metadata: SkillMetadata) -> Mapping[str, Any]:
    """Return the specification's fields that are set, by their names in the front matter."""
    pairs = {
        "name": metadata.name,
        "description": metadata.description,
        "license": metadata.license,
        "compatibility": metadata.compatibility,
        "allowed-tools": " ".join(metadata.allowed_tools) or None,
        "metadata": metadata.metadata or None,
    }
    return {key: value for key, value in pairs.items() if value is not None}
