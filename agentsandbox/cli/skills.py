"""`agentsandbox skills list | show | validate`: tables for people, JSON for programs."""

from __future__ import annotations

import os

from agentsandbox.cli.printing import print_json, print_table, report, visible
from agentsandbox.errors import SkillError
from agentsandbox.skills import AgentSkill
from agentsandbox.skills.checking import validate_skill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agentsandbox.skills.validation import Diagnostic


def run_skills(action: str, folders: Sequence[str], *, as_json: bool) -> int:
    """Run one of the actions on the skills in folders; the exit status."""
    return {"list": _list, "show": _show, "validate": _validate}[action](folders, as_json)


def skill_folders(directory: str) -> list[str]:
    """The folder itself if it is a skill, else the skills in it; itself when there are none, so
    that it is reported.
    """
    if not os.path.isdir(directory) or _is_skill(directory):
        return [directory]
    inside = [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    return [path for path in inside if _is_skill(path)] or [directory]


def _is_skill(directory: str) -> bool:
    return os.path.isdir(directory) and any(
        name.lower() == "skill.md" for name in os.listdir(directory)
    )


def load_skills(folders: Sequence[str]) -> tuple[list[AgentSkill], list[str]]:
    """The skills in the folders, and what is wrong with those that are none."""
    skills: list[AgentSkill] = []
    problems: list[str] = []
    for folder in folders:
        try:
            skills.append(AgentSkill.from_path(folder))
        except SkillError as error:
            problems.append(f"{folder}: {error}")
    return skills, problems


def _describe(skill: AgentSkill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "files": sorted(file.relative_path for file in skill.files),
        "license": skill.metadata.license,
        "compatibility": skill.metadata.compatibility,
        "allowed_tools": list(skill.metadata.allowed_tools or ()),
        "metadata": dict(skill.metadata.metadata or {}),
    }


def _list(folders: Sequence[str], as_json: bool) -> int:
    skills, problems = load_skills(folders)
    if as_json:
        print_json([_describe(skill) for skill in skills])
        return report(problems)
    print_table(
        ("name", "files", "description"),
        [(skill.name, str(len(skill.files)), skill.description) for skill in skills],
    )
    return report(problems)


def _show(folders: Sequence[str], as_json: bool) -> int:
    skills, problems = load_skills(folders)
    if as_json:
        print_json(
            [{**_describe(skill), "instructions": skill.metadata.instructions} for skill in skills]
        )
        return report(problems)
    for skill in skills:
        print(f"{skill.name}\n{'=' * len(skill.name)}\n\n{visible(skill.description)}\n")
        for file in sorted(skill.files, key=lambda each: each.relative_path):
            print(f"  {visible(file.relative_path)}  ({len(file.content)} bytes)")
        print(f"\n{visible(skill.metadata.instructions or '')}")
    return report(problems)


def _validate(folders: Sequence[str], as_json: bool) -> int:
    findings: dict[str, list[Diagnostic]] = {folder: validate_skill(folder) for folder in folders}
    failed = any(finding.severity == "error" for found in findings.values() for finding in found)
    if as_json:
        shown = [
            {
                "path": folder,
                "valid": not any(finding.severity == "error" for finding in found),
                "findings": [
                    {
                        "code": each.code,
                        "severity": each.severity,
                        "field": each.field,
                        "message": each.message,
                        "path": each.path,
                    }
                    for each in found
                ],
            }
            for folder, found in findings.items()
        ]
        print_json(shown)
        return 1 if failed else 0
    rows = []
    for folder, found in findings.items():
        rows.append(
            (
                folder,
                "valid" if not any(each.severity == "error" for each in found) else "invalid",
                "",
            )
        )
        rows.extend(("", each.severity, each.message) for each in found)
    print_table(("skill", "verdict", "finding"), rows)
    return 1 if failed else 0
