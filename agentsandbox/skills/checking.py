"""Checks for the author of a skill: the rules of the specification, and advice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillNotFoundError
from agentsandbox.skills.frontmatter import FrontmatterError, read_utf8
from agentsandbox.skills.metadata import read_metadata
from agentsandbox.skills.prompts import estimate_tokens
from agentsandbox.skills.skill import NO_SKILL_FILE, SKILL_FILE
from agentsandbox.skills.sources.files import FileSystemSkillSource
from agentsandbox.skills.validation import Acceptance, error, warning

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from agentsandbox.skills.sources.files import SkillFile
    from agentsandbox.skills.validation import Diagnostic

MAX_LINES = 500
MAX_TOKENS = 5000
_REFERENCE = re.compile(r"(?<![\w/.:-])((?:\./)?(?:scripts|references|assets)/[\w./-]*\w)")


def validate_skill(
    path: str | os.PathLike[str], *, unicode_names: bool = False
) -> list[Diagnostic]:
    """Return every finding about the skill in a folder of the host.

    Errors are violations of the specification, warnings are advice. With `unicode_names` names may
    have lower-case letters of any script.
    """
    source = FileSystemSkillSource(path)
    try:
        files = {file.relative_path: file for file in source.files()}
    except SkillNotFoundError as problem:
        return [error("missing", str(problem))]
    except InvalidSkillError as refusal:
        return [error("unsafe-file", problem) for problem in refusal.problems]
    name = next((name for name in files if name.lower() == SKILL_FILE.lower()), None)
    if name is None:
        return [error("missing-skill-file", NO_SKILL_FILE)]
    try:
        text = read_utf8(files[name].content)
    except FrontmatterError as problem:
        return [error(problem.code, str(problem), path=name)]
    metadata, found = read_metadata(
        text, directory=source.directory, strict=True, accept=Acceptance(unicode_names)
    )
    found = [*found, *(_advise(metadata.instructions or "", files) if metadata else ())]
    if name != SKILL_FILE:
        found.append(warning("file-name", f"the file should be called SKILL.md, not {name}"))
    return found


def _advise(body: str, files: dict[str, SkillFile]) -> Iterator[Diagnostic]:
    """Yield a warning for each recommendation of the specification that is not followed."""
    lines = body.count("\n") + 1
    if lines > MAX_LINES or estimate_tokens(body) > MAX_TOKENS:
        message = f"SKILL.md is long ({lines} lines); move details to references/"
        yield warning("long-body", message)
    if not body:
        yield warning("empty-body", "SKILL.md has no instructions")
    directories = {
        name[:at] for name in files for at, character in enumerate(name) if character == "/"
    }
    for reference in sorted(set(_REFERENCE.findall(body))):
        path = reference.removeprefix("./")
        if path not in files and path not in directories:
            yield warning("missing-reference", f"SKILL.md mentions {path}, which does not exist")
        elif path.startswith("references/") and path.count("/") > 1:
            yield warning("deep-reference", f"{path} is more than one level deep")
