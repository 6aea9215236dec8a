"""The MCP server, asked by the protocol's own client: in memory, and through the command line."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters

from agentsandbox import AgentSkill, Sandbox
from agentsandbox.integrations.mcp import create_server
from agentsandbox.profiles.agentsandbox import tools
from agentsandbox.profiles.toolbox import skill_tools
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.sources.files import SkillFile
from agentsandbox.skills.sources.stores import VirtualSkills

ROOT = Path(__file__).parents[1]
HELLO = AgentSkill.from_files(
    {
        "SKILL.md": "---\nname: hello\ndescription: Says hello\n---\nRun it.\n",
        "scripts/run.sh": "echo Hello $1\n",
    }
)


def asked(server: Any, talk: Callable[[Client], Coroutine[Any, Any, None]]) -> None:
    """Have a client of the protocol talk with a server."""

    async def run() -> None:
        async with Client(server) as client:
            await talk(client)

    asyncio.run(asyncio.wait_for(run(), 60))


def text_of(result: Any) -> str:
    (block,) = result.content
    return str(block.text)


@pytest.mark.row("S3-49")
def test_a_client_sees_the_tools_and_uses_them() -> None:
    async def talk(client: Client) -> None:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(listed) == ["get_skill", "sandbox_execute"]
        assert "  - hello: Says hello" in str(listed["get_skill"].description)
        assert listed["get_skill"].input_schema["properties"]["skillName"]["enum"] == ["hello"]
        skill = json.loads(text_of(await client.call_tool("get_skill", {"skillName": "hello"})))
        ran = await client.call_tool(
            "sandbox_execute", {"command": f"sh {skill['mountPath']}/scripts/run.sh world"}
        )
        assert json.loads(text_of(ran)) == {"exitCode": 0, "output": "Hello world\n", "error": None}
        assert not ran.is_error

    with Sandbox(skills=[HELLO]) as sandbox:
        asked(create_server(tools(sandbox)), talk)


# TM-TOOL-1
def test_a_models_mistake_is_an_answer() -> None:
    async def talk(client: Client) -> None:
        for name, arguments in (
            ("skill_read", {"skill": "hello", "path": "../../etc/passwd"}),
            ("skill_read", {"skill": "hello", "path": "nope"}),
            ("skill_read", {"path": 3}),
            ("skill_activate", {"names": ["nope"]}),
            ("no_such_tool", {}),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error, name
            assert "error" in dict(result.structured_content or {})

    session = SkillSession(SkillCatalog(skills=[HELLO]))
    asked(create_server(lambda: skill_tools(session)), talk)


def test_answers_are_objects_where_tools_answer_so() -> None:
    async def talk(client: Client) -> None:
        result = await client.call_tool(
            "skill_run", {"skill": "hello", "path": "scripts/run.sh", "args": ["you"]}
        )
        assert not result.is_error
        assert dict(result.structured_content or {})["stdout"] == "Hello you\n"
        assert json.loads(text_of(result)) == result.structured_content

    with Sandbox(skills=[HELLO]) as sandbox:
        session = SkillSession(SkillCatalog(skills=[HELLO]), sandbox)
        asked(create_server(skill_tools(session)), talk)


def test_tools_follow_the_skills() -> None:
    async def talk(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["shell"]
        sandbox.execute(
            "mkdir -p /skills/new; printf -- '---\\nname: new\\ndescription: d\\n---\\n' > "
            "/skills/new/SKILL.md"
        )
        async with Client(server) as other:
            assert "skill_activate" in {tool.name for tool in (await other.list_tools()).tools}

    with Sandbox() as sandbox:
        catalog = SkillCatalog.discover(VirtualSkills(sandbox.fs, "/skills"))
        session = SkillSession(catalog, sandbox)
        server = create_server(lambda: skill_tools(session))
        asked(server, talk)


def test_names_that_are_no_text_are_sent_all_the_same() -> None:
    odd = AgentSkill(
        [
            SkillFile("SKILL.md", b"---\nname: odd\ndescription: d\n---\n"),
            SkillFile("a\udcff.txt", b"x"),
        ]
    )

    async def talk(client: Client) -> None:
        result = await client.call_tool("skill_files", {"skill": "odd"})
        assert dict(result.structured_content or {})["files"] == ["SKILL.md", "a\ufffd.txt"]

    session = SkillSession(SkillCatalog(skills=[odd]))
    asked(create_server(skill_tools(session)), talk)


def test_a_cancelled_call_stops_its_script() -> None:
    async def talk(client: Client) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(
                client.call_tool("sandbox_execute", {"command": "while :; do :; done"}), 0.5
            )
        result = await asyncio.wait_for(
            client.call_tool("sandbox_execute", {"command": "echo free"}), 10
        )
        assert json.loads(text_of(result))["output"] == "free\n"

    with Sandbox() as sandbox:
        asked(create_server(tools(sandbox)), talk)


def test_the_command_line_serves_on_standard_input_and_output() -> None:
    async def talk(client: Client) -> None:
        assert client.server_info.name == "agentsandbox"
        result = await client.call_tool(
            "sandbox_execute", {"command": "ls /.sandbox/skills; echo $WHO"}
        )
        assert json.loads(text_of(result))["output"] == "git-workflow\nme\n"

    skill = str(ROOT / "skills_embedded" / "git-workflow")
    words = ["-m", "agentsandbox", "mcp", "--skill", skill, "--env", "WHO=me"]
    asked(
        StdioServerParameters(command=sys.executable, args=words, env={"PYTHONPATH": str(ROOT)}),
        talk,
    )
