"""What an author wants to know about a skill before others load it: the specification's rules, and
advice beside them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillNotFoundError
from agentsandbox.skills.frontmatter import FrontmatterError, read_utf8
from agentsandbox.skills.metadata import read_metadata
from agentsandbox.skills.prompts import estimate_tokens
from agentsandbox.skills.skill import NO_SKILL_FILE, SKILL_FILE
from agentsandbox.skills.sources.files import FileSystemSkillSource
from agentsandbox.skills.validation import Acceptance, Diagnostic

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from agentsandbox.skills.sources.files import SkillFile

__all__ = ["validate_skill"]

MAX_LINES = 500
MAX_TOKENS = 5000
_REFERENCE = re.compile(r"(?<![\w/.:-])((?:\./)?(?:scripts|references|assets)/[\w./-]*\w)")


def validate_skill(
    path: str | os.PathLike[str], *, unicode_names: bool = False
) -> list[Diagnostic]:
    """Every finding about the skill in a folder: errors are violations of the specification,
    warnings are advice.

    `unicode_names` reads "lower-case letters" as those of any script.
    """
    source = FileSystemSkillSource(path)
    try:
        files = {file.relative_path: file for file in source.files()}
    except SkillNotFoundError as error:
        return [Diagnostic("missing", "error", "", str(error))]
    except InvalidSkillError as error:
        return [Diagnostic("unsafe-file", "error", "", problem) for problem in error.problems]
    name = next((name for name in files if name.lower() == SKILL_FILE.lower()), None)
    if name is None:
        return [Diagnostic("missing-skill-file", "error", "", NO_SKILL_FILE)]
    try:
        text = read_utf8(files[name].content)
    except FrontmatterError as error:
        return [Diagnostic(error.code, "error", "", str(error), name)]
    metadata, found = read_metadata(
        text, directory=source.directory, strict=True, accept=Acceptance(unicode_names)
    )
    found = [*found, *(_advise(metadata.instructions or "", files) if metadata else ())]
    if name != SKILL_FILE:
        found.append(
            Diagnostic(
                "file-name", "warning", "", f"the file should be called SKILL.md, not {name}"
            )
        )
    return found


def _advise(body: str, files: dict[str, SkillFile]) -> Iterator[Diagnostic]:
    """What the specification recommends."""
    lines = body.count("\n") + 1
    if lines > MAX_LINES or estimate_tokens(body) > MAX_TOKENS:
        yield Diagnostic(
            "long-body",
            "warning",
            "",
            f"SKILL.md is long ({lines} lines); move details to references/",
        )
    if not body:
        yield Diagnostic("empty-body", "warning", "", "SKILL.md has no instructions")
    directories = {
        name[: index + 1]
        for name in files
        for index, character in enumerate(name)
        if character == "/"
    }
    for reference in sorted(set(_REFERENCE.findall(body))):
        path = reference.removeprefix("./")
        if path not in files and f"{path}/" not in directories:
            yield Diagnostic(
                "missing-reference", "warning", "", f"SKILL.md mentions {path}, which is not there"
            )
        elif path.startswith("references/") and path.count("/") > 1:
            yield Diagnostic("deep-reference", "warning", "", f"{path} is more than one level deep")
