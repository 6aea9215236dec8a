"""`agentsandbox skills lock | verify | audit`: the files of skills, and what skills would do."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from agentsandbox.cli.printing import print_json, print_table, report, visible, words_of
from agentsandbox.cli.skills import load_skills
from agentsandbox.errors import SkillError
from agentsandbox.skills.trust.audit import audit_skill
from agentsandbox.skills.trust.lockfile import SkillLock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from agentsandbox.skills.skill import AgentSkill
    from agentsandbox.skills.trust.audit import Audit, Finding

_PYTHON = frozenset(("python3", "python", "pip", "uv"))


def run_trust(action: str, folders: Sequence[str], options: argparse.Namespace) -> int:
    """Run one of the actions on the skills in folders; return the exit status."""
    if action == "audit":
        return _audit(folders, options.json)
    if action == "lock":
        return _lock(folders, options.lock)
    return _verify(folders, options.lock, options.json)


def _lock(folders: Sequence[str], path: str) -> int:
    skills, problems = load_skills(folders)
    if problems:
        return report(problems)
    SkillLock.of(skills, [os.path.relpath(folder) for folder in folders]).write(path)
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
        print_json([asdict(each) for each in drift])
    else:
        for each in drift:
            print(visible(str(each)))
        if not drift and not problems:
            print(f"{_counted(skills)} as locked")
    return report(problems) or (1 if drift else 0)


def _audit(folders: Sequence[str], as_json: bool) -> int:
    skills, problems = load_skills(folders)
    found = [audit_skill(skill) for skill in skills]
    if as_json:
        print_json([_plain(audit) for audit in found])
        return report(problems)
    for audit in found:
        commands = ", ".join(
            f"{name} ({count})" if count > 1 else name
            for name, count in sorted(audit.commands.items())
        )
        print(f"{audit.skill}  {audit.digest}\n  commands: {visible(commands) or 'none'}")
        if needs_python(audit):
            print(f"  python3: {_python_state()}")
        rows = [
            (kind, f"{each.path}:{each.line}", f"{each.code}: {each.text}")
            for kind, findings in _kinds(audit).items()
            for each in findings
        ]
        print_table(("kind", "place", "finding"), rows)
    return report(problems)


def needs_python(audit: Audit) -> bool:
    """Whether a skill has Python programs or calls Python."""
    return not _PYTHON.isdisjoint(audit.commands) or any(
        each.path.endswith(".py") for each in audit.opaque
    )


def _python_state() -> str:
    """Return whether a sandbox with Python could run here, and why not."""
    from agentsandbox.python.runtime import default_runtime

    status = default_runtime().status()
    return "a sandbox with python=True runs it" if status.ready else f"not here: {status.reason}"


def _kinds(audit: Audit) -> dict[str, list[Finding]]:
    return {
        "network": audit.network,
        "writes": audit.writes,
        "opaque": audit.opaque,
        "smells": audit.smells,
    }


def _plain(audit: Audit) -> dict[str, Any]:
    return {
        "skill": audit.skill,
        "digest": audit.digest,
        "commands": dict(sorted(audit.commands.items())),
        **{kind: [asdict(each) for each in found] for kind, found in _kinds(audit).items()},
    }
