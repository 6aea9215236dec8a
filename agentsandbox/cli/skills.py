"""`agentsandbox skills list | show | validate`: tables for people, JSON for programs."""

from __future__ import annotations

import os
from dataclasses import asdict

from agentsandbox.cli.printing import print_json, print_table, report, visible
from agentsandbox.errors import SkillError
from agentsandbox.skills import AgentSkill
from agentsandbox.skills.checking import validate_skill
from agentsandbox.skills.sources.stores import HostSkills
from agentsandbox.skills.validation import errors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def run_skills(action: str, folders: Sequence[str], *, as_json: bool) -> int:
    """Run one of the actions on the skills in folders; return the exit status."""
    return {"list": _list, "show": _show, "validate": _validate}[action](folders, as_json)


def skill_folders(directory: str) -> list[str]:
    """Return the folder itself if it is a skill, else the skills in it, as a catalog finds them.

    A folder without skills is returned itself, so that it is reported.
    """
    try:
        found = list(HostSkills(directory).candidates())
    except OSError:
        return [directory]
    here = os.path.abspath(directory)
    folders = [os.path.dirname(candidate.location) for candidate in found if candidate.location]
    return [
        directory if folder == here else os.path.join(directory, os.path.basename(folder))
        for folder in folders
    ] or [directory]


def all_folders(directories: Sequence[str]) -> list[str]:
    """Return the folders of skills in all directories, each once."""
    found: dict[str, str] = {}
    for directory in directories:
        for folder in skill_folders(directory):
            found.setdefault(os.path.realpath(folder), folder)
    return list(found.values())


def load_skill(folder: str) -> AgentSkill:
    """Return the skill in a folder, under the name by which a catalog knows it."""
    skill = AgentSkill.from_path(folder)
    name = skill.catalog_name
    return skill if skill.name == name else AgentSkill.from_path(folder, name)


def load_skills(folders: Sequence[str]) -> tuple[list[AgentSkill], list[str]]:
    """Return the skills in the folders, and the problems of the folders that are not skills."""
    skills: list[AgentSkill] = []
    problems: list[str] = []
    for folder in folders:
        try:
            skills.append(load_skill(folder))
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
    findings = {folder: validate_skill(folder) for folder in folders}
    valid = {folder: not errors_of(found) for folder, found in findings.items()}
    if as_json:
        print_json(
            [
                {"path": path, "valid": valid[path], "findings": [asdict(each) for each in found]}
                for path, found in findings.items()
            ]
        )
    else:
        rows = []
        for folder, found in findings.items():
            rows.append((folder, "valid" if valid[folder] else "invalid", ""))
            rows.extend(("", each.severity, each.message) for each in found)
        print_table(("skill", "verdict", "finding"), rows)
    return 0 if all(valid.values()) else 1
