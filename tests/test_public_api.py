"""The public names: what they are, where they live, what importing them costs."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import agentsandbox
from agentsandbox.options import DEFAULTS, SandboxOptions

PINNED = Path(__file__).with_name("public_api.txt")
WIDTH = 100

NAMES = """AgentSkill ArchiveError Arguments AsyncOutputStream Change ClosedError Command
CommandContext CommandError CommandRequest ExecutionError ExecutionResult FileInfo
FileSystem GitChange GitCommit GitDiff GitPatch GitPerson HostFileSystem HostInput
InvalidSkillError JavaScriptRuntime Limits Match MemoryFileSystem MountError NetworkPolicy
OutputStream OverlayFileSystem PythonRuntime RepositoryError RevisionError Sandbox
SandboxError SandboxFiles SandboxGit SandboxManager SandboxOptions ShellSyntaxError
SkillError SkillInfo SkillMetadata Snapshot Stats UsageError analyze command"""


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
        for name in (
            "AgentSkill",
            "ExecutionResult",
            "Limits",
            "Sandbox",
            "SandboxFiles",
            "SandboxGit",
            "SandboxManager",
        )
        for member, value in vars(getattr(agentsandbox, name)).items()
        if not member.startswith("_")
        and (callable(value) or isinstance(value, (property, classmethod)))
        and not inspect.getdoc(value)
    ]
    assert not silent


def test_type_checkers_see_every_name() -> None:
    tree = ast.parse(inspect.getsource(agentsandbox))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == set(agentsandbox.__all__)


def test_importing_loads_nothing() -> None:
    probe = (
        "import sys; before = set(sys.modules); import agentsandbox; "
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ran.stdout == "['agentsandbox']\n"


def test_unknown_names_are_errors() -> None:
    try:
        agentsandbox.Nope  # type: ignore[attr-defined]  # noqa: B018
    except AttributeError as error:
        assert "Nope" in str(error)
    else:
        raise AssertionError


def parameters(function: object) -> tuple[list[str], str]:
    """The parameters as in source, and what is returned."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    shown = []
    for parameter in signature.parameters.values():
        if parameter.annotation == "Never":  # what is misspelt
            continue
        text = parameter.name
        if parameter.annotation is not parameter.empty:
            text += f": {parameter.annotation}"
        if parameter.default is not parameter.empty:
            default = (
                "<default>"
                if isinstance(parameter.default, agentsandbox.Limits)
                else repr(parameter.default)
            )
            text += f" = {default}" if ":" in text else f"={default}"
        if (
            parameter.kind is parameter.KEYWORD_ONLY
            and "*" not in shown
            and not any(word.startswith("*") for word in shown)
        ):
            shown.append("*")
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        shown.append(stars + text)
    returned = signature.return_annotation
    return [
        text for text in shown if text not in ("self", "cls")
    ], "" if returned is signature.empty else f" -> {returned}"


def line(name: str, function: object) -> str:
    words, returned = parameters(function)
    text = f"{name}({', '.join(words)}){returned}"
    if len(text) > WIDTH:
        text = f"{name}(\n" + "".join(f"        {word},\n" for word in words) + f"    ){returned}"
    return text


def members(kind: type) -> Iterator[str]:
    """The public attributes, properties and methods, those of private base classes too."""
    own = [base for base in kind.__mro__ if base is kind or base.__name__.startswith("_")]
    attributes = sorted(
        name for base in own for name in vars(base).get("__slots__", ()) if not name.startswith("_")
    )
    if attributes:
        yield f"attributes: {', '.join(attributes)}"
    found = {name: value for base in reversed(own) for name, value in vars(base).items()}
    for name, value in sorted(found.items()):
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            yield f"{name}: {value.fget.__annotations__.get('return', '?')}"
        elif isinstance(value, classmethod):
            yield f"classmethod {line(name, value.__func__)}"
        elif inspect.iscoroutinefunction(value):
            yield f"async {line(name, value)}"
        elif callable(value):
            yield line(name, value)


def described() -> str:
    """Every exported name with its signatures."""
    parts = [
        "The public signatures. After a change that is meant: python tests/test_public_api.py\n"
    ]
    for name in agentsandbox.__all__:
        value = getattr(agentsandbox, name)
        if inspect.isfunction(value):
            parts.append(f"{line(name, value)}\n")
            continue
        bases = [
            base.__name__
            for base in value.__bases__
            if base is not object and not base.__name__.startswith("_")
        ]
        made = (
            ""
            if issubclass(value, BaseException) and "__init__" not in vars(value)
            else f"    {line(name, value)}\n"
        )
        parts.append(
            f"class {name}{f'({bases[0]})' if bases else ''}\n{made}"
            + "".join(f"    {member}\n" for member in members(value))
        )
    return re.sub(r" object at 0x[0-9a-f]+", "", "\n".join(parts))


def test_the_signatures_are_pinned() -> None:
    assert described() == PINNED.read_text(encoding="utf-8")


def test_the_options_are_listed_once() -> None:
    """The types that callers give, those that are stored, the defaults, the slots: the same names
    in the same order.
    """
    source = ast.parse(inspect.getsource(sys.modules[SandboxOptions.__module__]))
    keywords = next(
        node
        for node in ast.walk(source)
        if isinstance(node, ast.ClassDef) and node.name == "SandboxKeywords"
    )
    given = [
        node.target.id
        for node in keywords.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    assert (
        given
        == list(DEFAULTS)
        == list(SandboxOptions.__slots__)
        == list(SandboxOptions.__annotations__)
    )
    assert given == list(SandboxOptions().as_dict())
    shown = list(inspect.signature(agentsandbox.Sandbox).parameters)
    assert shown == ["id", "options", *given]
    assert list(inspect.signature(SandboxOptions).parameters) == given


def test_the_four_ways_to_execute_take_the_same() -> None:
    names = ("execute", "aexecute", "stream", "astream")
    ways = {
        name: inspect.signature(getattr(agentsandbox.Sandbox, name)).parameters for name in names
    }
    assert list(ways["execute"]) == list(ways["aexecute"])
    assert (
        list(ways["stream"])
        == list(ways["astream"])
        == [name for name in ways["execute"] if name != "on_output"]
    )
    for name, parameter in ways["stream"].items():
        assert parameter == ways["execute"][name] == ways["aexecute"][name] == ways["astream"][name]


if __name__ == "__main__":
    PINNED.write_text(described(), encoding="utf-8")
