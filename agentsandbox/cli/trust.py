"""`agentsandbox skills lock | verify | audit`: what the skills are made of, and what they would
do.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentsandbox.cli.printing import print_json, print_table, report, visible, words_of
from agentsandbox.cli.skills import load_skills
from agentsandbox.errors import SkillError
from agentsandbox.skills.trust.audit import take_census
from agentsandbox.skills.trust.lockfile import SkillLock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from agentsandbox.skills.skill import AgentSkill
    from agentsandbox.skills.trust.audit import Census, Finding


def run_trust(action: str, folders: Sequence[str], options: argparse.Namespace) -> int:
    """Run one of the actions on the skills in folders; the exit status."""
    if action == "audit":
        return _audit(folders, options.json)
    return (
        _lock(folders, options.lock)
        if action == "lock"
        else _verify(folders, options.lock, options.json)
    )


def _lock(folders: Sequence[str], path: str) -> int:
    skills, problems = load_skills(folders)
    if problems:
        return report(problems)
    sources = {
        skill.name: os.path.relpath(folder) for skill, folder in zip(skills, folders, strict=True)
    }
    SkillLock.of(skills, sources).write(path)
    print(f"{path}: {_counted(skills)}")
    return 0


def _counted(skills: Sequence[AgentSkill]) -> str:
    return "1 skill" if len(skills) == 1 else f"{len(skills)} skills"


def _verify(folders: Sequence[str], path: str, as_json: bool) -> int:
    skills, problems = load_skills(folders)
    try:
        drift = SkillLock.read(path).verify(skills)
    except SkillError as error:
        return report([*problems, f"{path}: {error}"])
    except OSError as error:
        return report([*problems, words_of(error)])
    if as_json:
        print_json([{"skill": each.skill, "path": each.path, "kind": each.kind} for each in drift])
    else:
        for each in drift:
            print(visible(str(each)))
        if not drift and not problems:
            print(f"{_counted(skills)} as locked")
    return report(problems) or (1 if drift else 0)


def _audit(folders: Sequence[str], as_json: bool) -> int:
    skills, problems = load_skills(folders)
    found = [take_census(skill) for skill in skills]
    if as_json:
        print_json([_plain(census) for census in found])
        return report(problems)
    for census in found:
        commands = ", ".join(
            f"{name} ({count})" if count > 1 else name
            for name, count in sorted(census.commands.items())
        )
        print(f"{census.skill}  {census.digest}\n  commands: {visible(commands) or 'none'}")
        rows = [(kind, finding) for kind, findings in _kinds(census) for finding in findings]
        print_table(
            ("kind", "place", "finding"),
            [
                (kind, f"{each.path}:{each.line}", f"{each.code}: {each.text}")
                for kind, each in rows
            ],
        )
    return report(problems)


def _kinds(census: Census) -> tuple[tuple[str, list[Finding]], ...]:
    return (
        ("network", census.network),
        ("writes", census.writes),
        ("opaque", census.opaque),
        ("smells", census.smells),
    )


def _plain(census: Census) -> dict[str, Any]:
    findings = {
        kind: [
            {"code": each.code, "path": each.path, "line": each.line, "text": each.text}
            for each in found
        ]
        for kind, found in _kinds(census)
    }
    return {
        "skill": census.skill,
        "digest": census.digest,
        "commands": dict(sorted(census.commands.items())),
        **findings,
    }
