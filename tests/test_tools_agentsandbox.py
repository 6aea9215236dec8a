"""The tools of the profile `agentsandbox`."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from agentsandbox import (
    AgentSkill,
    Arguments,
    CommandContext,
    HostFileSystem,
    Limits,
    MemoryFileSystem,
    NetworkPolicy,
    Sandbox,
    command,
)
from agentsandbox.profiles import agentsandbox_head as head
from agentsandbox.profiles.agentsandbox import get_skill_tool, sandbox_tool, tools
from agentsandbox.profiles.spec import check_arguments

BODY = "# Python\n\nDo it."
SKILL = AgentSkill.from_files(
    {"SKILL.md": f"---\nname: python-dev\ndescription: Python work\n---\n{BODY}\n"}
)
OTHER = AgentSkill.from_files({"SKILL.md": "---\nname: git-workflow\ndescription: Git work\n---\n"})


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox(skills=[SKILL, OTHER])


@pytest.mark.row("S2-40", "V2-26")
def test_sandbox_execute(sandbox: Sandbox) -> None:
    tool = sandbox_tool(sandbox)
    assert tool.wire_name == "sandbox_execute"
    assert tool.call({"command": "echo hi"}) == '{"exitCode": 0, "output": "hi\\n", "error": null}'
    answer = json.loads(tool.call({"command": "echo so far; cat nope"}))
    assert answer == {
        "exitCode": 1,
        "output": "so far\n",
        "error": "cat: nope: No such file or directory\n",
    }


@pytest.mark.row("S2-2", "S2-34", "S2-36", "S2-41", "V2-24")
def test_get_skill_lists_the_skills(sandbox: Sandbox) -> None:
    tool = get_skill_tool(sandbox)
    assert tool.description == (
        "Gets detailed information about an agent skill.\nAvailable skills:\n"
        "  - python-dev: Python work\n  - git-workflow: Git work"
    )
    assert tool.as_function()["name"] == "get_skill"
    assert tool.json_schema["required"] == ["skillName"]
    assert tool.json_schema["properties"]["skillName"] == {
        "type": "string", "description": "The name of the skill to retrieve",
        "enum": ["python-dev", "git-workflow"],
    }  # fmt: skip
    empty = get_skill_tool(Sandbox())
    assert (
        empty.description
        == "Gets detailed information about an agent skill. No skills are currently available."
    )
    assert "enum" not in empty.json_schema["properties"]["skillName"]


@pytest.mark.row("S2-37", "S2-38", "S2-39", "V2-25")
def test_get_skill_answers(sandbox: Sandbox) -> None:
    tool = get_skill_tool(sandbox)
    for name in ("python-dev", "PYTHON-DEV"):
        answer = json.loads(tool.call({"skillName": name}))
        assert list(answer) == ["name", "description", "mountPath", "instructions"]
        assert answer == {
            "name": "python-dev", "description": "Python work",
            "mountPath": "/.sandbox/skills/python-dev", "instructions": BODY,
        }  # fmt: skip
    assert json.loads(tool.call({"skillName": "nope"})) == {"error": "Skill 'nope' not found"}


@pytest.mark.parametrize(
    "arguments", [{}, {"command": 1}, {"command": "x", "y": 2}, {"comand": "x"}, {"command": None}]
)
def test_a_models_mistakes_are_answered(sandbox: Sandbox, arguments: dict[str, object]) -> None:
    for tool in tools(sandbox):
        answer = json.loads(tool.call(arguments))
        assert answer["error"]
        assert asyncio.run(tool.acall(arguments)) == tool.call(arguments)


def test_a_closed_sandbox_is_an_answer_too(sandbox: Sandbox) -> None:
    tool = sandbox_tool(sandbox)
    sandbox.close()
    assert json.loads(tool.call({"command": "echo hi"}))["error"]


def test_the_description_says_what_the_network_policy_allows() -> None:
    def described(network: NetworkPolicy | None) -> str:
        return sandbox_tool(Sandbox(network=network)).description

    for nothing in None, NetworkPolicy():
        assert re.search(r"Not available: [^.]*\bnetwork\b", described(nothing))
        assert "by HTTP" not in described(nothing)
    rules = [f"https://host{number}.example/v1/" for number in range(11)]
    text = described(NetworkPolicy(rules, hosts={"api.example": lambda request: "x"}))
    assert "network" not in text
    assert " by HTTP only: https://host0.example/v1/, " in text
    assert "https://host9.example/v1/, 2 more (GET, HEAD)." in text
    text = described(NetworkPolicy(hosts={"api.example": lambda request: "x"}))
    assert " curl and wget reach by HTTP only: api.example." in text


def test_the_description_says_what_is_where_and_what_is_not(sandbox: Sandbox) -> None:
    text = sandbox_tool(sandbox).description
    assert " Skills are in /.sandbox/skills (read-only)." in text
    assert "node, git" in text.partition("Not available: ")[2] or "git" in sandbox.command_names()
    assert " A call ends after 30 s; output beyond 100000 characters is cut." in text
    mounted = Sandbox(
        mounts={"/data": HostFileSystem(".", read_only=True), "/out": MemoryFileSystem()},
        limits=Limits(timeout=2.5),
        commands=[python3],
    )
    text = sandbox_tool(mounted, max_output=10).description
    assert "Skills" not in text
    assert " Mounted: /data (read-only), /out." in text
    assert "python3" not in text
    assert " A call ends after 2.5 s; output beyond 10 characters is cut." in text


@command("python3", usage="Usage: python3\nA host's own python3.\n")
def python3(ctx: CommandContext, args: Arguments) -> int:
    return 0


def test_long_output_and_limits_are_reported(sandbox: Sandbox) -> None:
    tool = sandbox_tool(sandbox, max_output=100)
    answer = json.loads(tool.call({"command": "seq 1000; printf '\\xff'"}))
    assert "[truncated: output; " in answer["output"]
    assert "\ufffd" in json.loads(tool.call({"command": "printf '\\xff'"}))["output"]


def test_parallel_calls_queue_up(sandbox: Sandbox) -> None:
    tool = sandbox_tool(sandbox)

    async def both() -> list[str]:
        return await asyncio.gather(
            *(tool.acall({"command": f"echo {number} >> log; wc -l < log"}) for number in range(5))
        )

    answers = asyncio.run(both())
    assert sorted(json.loads(answer)["output"] for answer in answers) == [
        f"{number}\n" for number in range(1, 6)
    ]


def test_arguments_are_checked_by_their_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "string"}},
            "all": {"type": "boolean"},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "n": {"type": ["integer", "null"]},
        },
    }
    assert (
        check_arguments(schema, {"names": ["a"], "all": True, "env": {"A": "b"}, "n": None}) is None
    )
    for wrong in (
        {"names": "a"},
        {"names": [1]},
        {"all": 1},
        {"env": {"A": 1}},
        {"n": True},
        {"n": 1.5},
        {"x": 1},
    ):
        assert check_arguments(schema, wrong)


def test_the_head_variant_answers_in_plain_texts(sandbox: Sandbox) -> None:
    shell, get = head.tools(sandbox)
    assert (shell.wire_name, get.wire_name) == ("bash_shell", "get_skill")
    assert shell.description.startswith("Run shell commands. Available commands: ")
    assert {"cat", "jq", "git"} - set(shell.description.split(", ")) <= {"git"}
    assert shell.description.endswith("Commands use short-style arguments (e.g., -l, -a, -n). ")
    assert shell.call({"command": "echo hi"}) == "hi\n"
    assert shell.call({"command": "true"}) == "(command completed successfully)"
    assert (
        shell.call({"command": "echo lost; cat nope"})
        == "Error: cat: nope: No such file or directory\n"
    )
    assert asyncio.run(shell.acall({"command": "echo hi"})) == "hi\n"
    assert shell.call({}) == "Error: missing argument: command"
    slow = head.shell_tool(Sandbox(limits=Limits(timeout=0.1)))
    assert (
        slow.call({"command": "while :; do :; done"})
        == "Error: sandbox: stopped by the limit 'timeout' (D-limit)\n"
    )
    assert get.description == (
        "<available_skills>\n  <skill>\n    <name>python-dev</name>\n"
        "    <description>Python work</description>\n"
        "    <location>/.sandbox/skills/python-dev/SKILL.md</location>\n  </skill>\n"
        "  <skill>\n    <name>git-workflow</name>\n"
        "    <description>Git work</description>\n    "
        "<location>/.sandbox/skills/git-workflow/SKILL.md</location>\n  </skill>\n"
        "</available_skills>\n"
    )
    assert get.call({"skillName": "Python-Dev"}) == BODY
    assert get.call({"skillName": "nope"}) == "Skill 'nope' not found"
    assert head.get_skill_tool(Sandbox()).description == "No skills are currently available."
    sandbox.close()
    assert shell.call({"command": "true"}) == "Error: this sandbox is closed"
