"""The public names: what they are, where they live, what importing them costs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import agentsandbox

NAMES = """AgentSkill ArchiveError Arguments ClosedError Command CommandContext CommandError ExecutionError ExecutionResult FileInfo
InvalidSkillError Limits Match NetworkPolicy Sandbox SandboxError SandboxFiles SandboxManager SandboxOptions ShellSyntaxError
SkillError SkillInfo SkillMetadata Snapshot UsageError analyze"""


def test_the_names() -> None:
    assert sorted(agentsandbox.__all__) == NAMES.split()
    for name in agentsandbox.__all__:
        value = getattr(agentsandbox, name)
        assert inspect.isclass(value) or inspect.isfunction(value)
        assert value.__name__ == name
        assert inspect.getdoc(value), f"{name} says nothing"
    assert set(agentsandbox.__all__) <= set(dir(agentsandbox))


def test_public_methods_say_what_they_do() -> None:
    silent = [
        f"{name}.{member}"
        for name in ("AgentSkill", "ExecutionResult", "Limits", "Sandbox", "SandboxFiles", "SandboxManager")
        for member, value in vars(getattr(agentsandbox, name)).items()
        if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))) and not inspect.getdoc(value)
    ]
    assert not silent


def test_type_checkers_see_every_name() -> None:
    tree = ast.parse(inspect.getsource(agentsandbox))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == set(agentsandbox.__all__)


def test_importing_loads_nothing() -> None:
    probe = "import sys; before = set(sys.modules); import agentsandbox; print(sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ran.stdout == "['agentsandbox']\n"


def test_unknown_names_are_errors() -> None:
    try:
        agentsandbox.Nope  # type: ignore[attr-defined]  # noqa: B018
    except AttributeError as error:
        assert "Nope" in str(error)
    else:
        raise AssertionError
