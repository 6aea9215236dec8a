"""`agentsandbox skills lock | verify | audit`: what the skills are made of, and what they would do."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from agentsandbox.cli.skills import load_skills, report, table
from agentsandbox.errors import SkillError
from agentsandbox.skills.census import take_census
from agentsandbox.skills.lockfile import SkillLock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agentsandbox.skills.census import Census, Finding

__all__ = ["run_trust"]


def run_trust(action: str, folders: Sequence[str], lock: str, *, as_json: bool) -> int:
    """Run one of the actions; the exit status."""
    if action == "audit":
        return _audit(folders, as_json)
    return _lock(folders, lock) if action == "lock" else _verify(folders, lock, as_json)


def _lock(folders: Sequence[str], path: str) -> int:
    skills, problems = load_skills(folders)
    if problems:
        return report(problems)
    sources = {skill.name: os.path.relpath(folder) for skill, folder in zip(skills, folders, strict=True)}
    SkillLock.of(skills, sources).write(path)
    print(f"{path}: {len(skills)} skills")
    return 0


def _verify(folders: Sequence[str], path: str, as_json: bool) -> int:
    skills, problems = load_skills(folders)
    try:
        drift = SkillLock.read(path).verify(skills)
    except (SkillError, OSError) as error:
        print(f"agentsandbox: {path}: {error}", file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps([{"skill": each.skill, "path": each.path, "kind": each.kind} for each in drift], indent=2))
    else:
        for each in drift:
            print(each)
        if not drift and not problems:
            print(f"{len(skills)} skills are as they were locked")
    return report(problems) or (1 if drift else 0)


def _audit(folders: Sequence[str], as_json: bool) -> int:
    skills, problems = load_skills(folders)
    found = [take_census(skill) for skill in skills]
    if as_json:
        print(json.dumps([_plain(census) for census in found], indent=2, ensure_ascii=False))
        return report(problems)
    for census in found:
        commands = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in sorted(census.commands.items()))
        print(f"{census.skill}  {census.digest}\n  commands: {commands or 'none'}")
        rows = [(kind, finding) for kind, findings in _kinds(census) for finding in findings]
        if rows:
            table(("kind", "place", "finding"), [(kind, f"{each.path}:{each.line}", f"{each.code}: {each.text}") for kind, each in rows])
    return report(problems)


def _kinds(census: Census) -> tuple[tuple[str, list[Finding]], ...]:
    return (("network", census.network), ("writes", census.writes), ("opaque", census.opaque), ("smells", census.smells))


def _plain(census: Census) -> dict[str, Any]:
    findings = {
        kind: [{"code": each.code, "path": each.path, "line": each.line, "text": each.text} for each in found]
        for kind, found in _kinds(census)
    }
    return {"skill": census.skill, "digest": census.digest, "commands": dict(sorted(census.commands.items())), **findings}
