"""The other systems' vocabularies."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from agentsandbox import Limits, Sandbox
from agentsandbox.profiles import (
    agentsandbox,
    agentsandbox_head,
    mux,
    native,
    remcochat,
    runtime,
    yodoca,
)
from agentsandbox.profiles.spec import Tool, wire_name
from agentsandbox.profiles.toolbox import LISTS, prompt_for, tools_for
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.config import PRESETS, SkillsConfig
from agentsandbox.skills.prompts import estimate_tokens, render_catalog
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.skill import AgentSkill

TEXT = """---
name: api-design
description: Designs APIs
tags: [rest, dev]
requires: [extension-development]
allowed-tools: Read
---

# API
"""
FILES = {
    "templates/x.yaml": "a: 1\nb: 2\n",
    "scripts/echo.sh": "echo ran $1\n",
    "logo.png": b"\x89PNG\0",
}
API = AgentSkill.from_files({"SKILL.md": TEXT, **FILES})
VALIDATION = AgentSkill.from_package("skills_embedded", "skills-system-validation")


@pytest.fixture
def session() -> SkillSession:
    return SkillSession(SkillCatalog(skills=[API, VALIDATION]))


def by_name(tools: list[Tool]) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools}


@pytest.mark.row("S0-8", "S0-12", "S0-58", "V0-4", "V0-6", "V0-7", "V0-8", "V0-32", "S0-91")
def test_remcochat(session: SkillSession) -> None:
    tools = by_name(remcochat.tools(session))
    assert list(tools) == ["skills.activate", "skills.readResource"]
    assert [tool.wire_name for tool in tools.values()] == ["skillsActivate", "skillsReadResource"]
    name = "skills-system-validation"
    answer = tools["skills.activate"].call({"name": name})
    assert answer["skillName"] == name
    assert answer["skillMd"].startswith("---\nname: skills-system-validation\n")
    assert "AGENTSANDBOX_SKILL_BODY_v1" in answer["skillMd"]
    read = tools["skills.readResource"]
    for path, marker in (
        ("references/REFERENCE.md", "REMCOCHAT_SKILLS_CONFORMANCE_REFERENCE_v1"),
        ("assets/fixture.json", '"fixture_id": "skills-system-validation"'),
        ("scripts/echo.sh", "REMCOCHAT_SKILLS_SCRIPT_OK"),
    ):
        answer = read.call({"name": name, "path": path})
        assert list(answer) == ["name", "path", "content"]
        assert marker in answer["content"]
    assert session.to_dict()["active_skills"] == [name]


@pytest.mark.row("S0-88", "V0-9", "V0-10", "V0-11", "V0-12")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("../SKILL.md", "Path traversal is not allowed."),
        ("/etc/passwd", "Absolute paths are not allowed."),
        ("references/../../../../etc/passwd", "Path traversal is not allowed."),
        ("nope", "Resource not found."),
        ("references", "Invalid resource path."),
    ],
)
def test_remcochats_safe_errors(session: SkillSession, path: str, message: str) -> None:
    read = by_name(remcochat.tools(session))["skills.readResource"]
    assert read.call({"name": "skills-system-validation", "path": path}) == {"error": message}
    assert read.call({"name": "nope. at all", "path": "x"}) == {
        "error": "Unknown skill: nope. at all"
    }
    for missing in ({}, {"name": "", "path": "x"}, {"path": "x"}):
        assert read.call(missing) == {"error": "Missing skill name."}
    for missing in ({"name": "api-design"}, {"name": "api-design", "path": ""}):
        assert read.call(missing) == {"error": "Missing resource path."}
    assert read.call({"name": "api-design", "path": "logo.png"}) == {
        "name": "api-design", "path": "logo.png", "content": "iVBORwA=", "encoding": "base64",
        "mime_type": "image/png", "size": 5,
    }  # fmt: skip


@pytest.mark.row("S1-17", "S1-29", "S1-36", "S1-39", "S1-44", "V1-16")
def test_runtime() -> None:
    with Sandbox() as sandbox:
        session = SkillSession(SkillCatalog(skills=[API, VALIDATION]), sandbox, require_active=True)
        tools = by_name(runtime.tools(session))
        assert [tool.wire_name for tool in tools.values()] == [
            "skills_load",
            "skills_unload",
            "skills_read",
            "skills_run_script",
        ]
        assert not [tool for tool in tools.values() if re.search("session", str(tool.json_schema))]
        assert "No skill is loaded" in tools["skills.read"].call({"path": "x"})["error"]
        receipt = tools["skills.load"].call({"names": ["api-design"]})
        assert [entry["name"] for entry in receipt["active_skills"]] == ["api-design"]
        assert receipt["active_skills"][0]["properties"]["allowed-tools"] == "Read"
        assert tools["skills.read"].call({"path": "templates/x.yaml"})["content"] == "a: 1\nb: 2\n"
        assert tools["skills.read"].call({"path": "logo.png"}) == {
            "skill": "api-design", "path": "logo.png", "encoding": "base64", "content": "iVBORwA=",
            "mime_type": "image/png",
        }  # fmt: skip
        answer = tools["skills.run_script"].call({"path": "scripts/echo.sh", "args": ["x"]})
        assert answer == {
            "path": "scripts/echo.sh",
            "exit_code": 0,
            "stdout": "ran x\n",
            "stderr": "",
        }
        assert (
            asyncio.run(
                tools["skills.run_script"].acall({"path": "scripts/echo.sh", "args": ["x"]})
            )
            == answer
        )
        assert tools["skills.unload"].call({"all": True}) == {"active_skills": []}
        assert "nope" in tools["skills.load"].call({"names": ["nope"]})["error"]


@pytest.mark.row(
    "S3-8",
    "S3-18",
    "S3-19",
    "S3-20",
    "S3-21",
    "S3-22",
    "S3-23",
    "V3-5",
    "V3-6",
    "V3-7",
    "V3-8",
    "V3-9",
)
def test_yodoca(session: SkillSession) -> None:
    tools = by_name(yodoca.tools(session))
    assert list(tools) == ["list_skills", "read_skill", "read_skill_resource"]
    assert tools["list_skills"].call({}).count("\n") == 1
    assert tools["list_skills"].call({"query": "DEV"}) == "- api-design: Designs APIs"
    assert tools["list_skills"].call({"query": "zzz"}) == ""
    assert tools["read_skill"].call({"skill_id": "api-design"}) == (
        "Skill loaded: api-design (approx. 2 tokens)\n\n# API\n\n"
        "This skill requires: extension-development. Load it first if you haven't already."
    )
    assert session.active == ("api-design",)
    read = tools["read_skill_resource"]
    assert read.call({"skill_id": "api-design", "path": "templates/x.yaml"}) == "a: 1\nb: 2\n"
    assert read.call({"skill_id": "api-design", "path": "../x"}) == "Path traversal detected"
    assert (
        read.call({"skill_id": "api-design", "path": "logo.png"})
        == "logo.png is not text: image/png, 5 bytes"
    )
    for skill_id in ("../x", "/etc", "~/x", "a/../../x"):
        assert read.call({"skill_id": skill_id, "path": "SKILL.md"}) == "Path traversal detected"
        assert tools["read_skill"].call({"skill_id": skill_id}) == "Path traversal detected"
    assert read.call({"skill_id": "x", "path": "SKILL.md"}).startswith(
        "Unknown skill: x. Available skills: api-design"
    )


@pytest.mark.row("S3-9", "S3-13", "S3-17", "V3-1", "V3-17")
def test_yodocas_context(session: SkillSession) -> None:
    provider = yodoca.SkillContext(session)
    assert provider.context_priority == 60
    assert str(asyncio.run(provider.get_context("hi"))).startswith(
        "[Available Skills]\n• `api-design` — Designs APIs\n"
    )
    assert asyncio.run(yodoca.SkillContext(SkillSession(SkillCatalog())).get_context("hi")) is None


@pytest.mark.row("S4-4", "S4-11", "S4-23", "S4-24", "S4-29", "V4-10", "V4-11", "V4-12")
def test_mux(session: SkillSession) -> None:
    tools = by_name(mux.tools(session))
    assert list(tools) == ["agent_skill_read", "agent_skill_read_file"]
    assert tools["agent_skill_read"].call({"name": "api-design"}) == {
        "success": True,
        "skill": {
            "scope": "global",
            "directoryName": "api-design",
            "frontmatter": {
                "name": "api-design",
                "description": "Designs APIs",
                "allowed-tools": "Read",
            },
            "body": "# API",
        },
    }
    assert not tools["agent_skill_read"].call({"name": "nope"})["success"]
    read = tools["agent_skill_read_file"]
    assert read.call({"name": "api-design", "filePath": "templates/x.yaml", "offset": 2}) == {
        "success": True, "file_size": 10, "modifiedTime": None, "lines_read": 1,
        "content": "2\tb: 2",
    }  # fmt: skip
    for path in ("/etc/passwd", "~/x", "../x", "templates", "logo.png"):
        assert read.call({"name": "api-design", "filePath": path})["success"] is False
    assert read.call({"name": "api-design"}) == {
        "success": False,
        "error": "missing argument: filePath",
    }
    for path, words in (
        ("templates", "Path is a directory, not a file: templates"),
        ("../x", "Resolved file path points outside the skill directory: ../x"),
    ):
        assert read.call({"name": "api-design", "filePath": path}) == {
            "success": False,
            "error": words,
        }


def test_mux_says_when_a_file_was_changed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text("---\nname: a\ndescription: d\n---\n")
    os.utime(tmp_path / "a" / "SKILL.md", (1e9, 1e9 + 0.25))
    read = by_name(mux.tools(SkillSession(SkillCatalog.discover(tmp_path))))[
        "agent_skill_read_file"
    ]
    assert (
        read.call({"name": "a", "filePath": "SKILL.md"})["modifiedTime"]
        == "2001-09-09T01:46:40.250Z"
    )


def test_native() -> None:
    with Sandbox() as sandbox:
        session = SkillSession(SkillCatalog(skills=[API, VALIDATION]), sandbox)
        tools = by_name(native.tools(session))
        assert [
            skill["name"] for skill in tools["skill_list"].call({"query": "rest"})["skills"]
        ] == ["api-design"]
        answer = tools["skill_activate"].call({"names": ["api-design"]})
        assert (
            f'<skill_content name="api-design" digest="{API.digest}">\n# API\n' in answer["content"]
        )
        assert "<file>/.sandbox/skills/api-design/scripts/echo.sh</file>" in answer["content"]
        again = tools["skill_activate"].call({"names": ["api-design"]})
        assert again["content"] == (
            f'<skill_content name="api-design" digest="{API.digest}">already active, '
            "unchanged</skill_content>"
        )
        assert tools["skill_files"].call({"dir": "scripts"}) == {"files": ["scripts/echo.sh"]}
        assert (
            tools["skill_read"].call({"path": "templates/x.yaml", "offset": 1, "limit": 1})[
                "content"
            ]
            == "1\ta: 1"
        )
        assert (
            tools["skill_run"].call({"path": "scripts/echo.sh", "args": ["x"]})["stdout"]
            == "ran x\n"
        )
        assert tools["shell"].call({"command": "echo out; echo err >&2; exit 3"}) == {
            "exit_code": 3, "stdout": "out\n", "stderr": "err\n", "truncated": False, "limit": None,
        }  # fmt: skip
        long = asyncio.run(
            tools["shell"].acall({"command": "head -c 200000 /dev/zero | tr '\\0' x"})
        )
        assert long["truncated"]
        assert long["stdout"].endswith("x\n[truncated: output; 100000 characters removed]")
        assert (
            tools["shell"].call({"command": "while :; do :; done", "timeout": 0.2})["limit"]
            == "timeout"
        )
        assert tools["skill_read"].call({"path": "../x"})["error"]["type"] == "path"
        assert tools["skill_activate"].call({"names": ["nope"]})["error"]["type"] == "not_found"
        assert tools["skill_activate"].call({"names": 1})["error"]["type"] == "arguments"
        assert tools["skill_deactivate"].call({"all": True}) == {"active_skills": []}


# TM-TOOL-1
def test_a_models_numbers_and_modes_are_checked() -> None:
    with Sandbox(limits=Limits(timeout=0.5)) as sandbox:
        session = SkillSession(SkillCatalog(skills=[API]), sandbox)
        tools = by_name([*native.tools(session), *runtime.tools(session)])
        for timeout in (0, -1, float("nan"), float("inf")):
            assert (
                tools["shell"].call({"command": "true", "timeout": timeout})["error"]["type"]
                == "arguments"
            ), timeout
        assert (
            tools["shell"].call({"command": "while :; do :; done", "timeout": 1e9})["limit"]
            == "timeout"
        )
        assert (
            tools["skill_activate"].call({"names": ["api-design"], "mode": "all"})["error"]["type"]
            == "state"
        )
        assert (
            "not 'all'"
            in tools["skills.load"].call({"names": ["api-design"], "mode": "all"})["error"]
        )
        assert session.active == ()


@pytest.mark.row("S2-50")
def test_required_skills_are_loaded_by_every_profile() -> None:
    texts = {"a": "requires: [b]\n", "b": "requires: [c]\n", "c": ""}
    skills = [
        AgentSkill.from_files(
            {"SKILL.md": f"---\nname: {name}\ndescription: d\n{more}---\nBody of {name}\n"}
        )
        for name, more in texts.items()
    ]
    for profile, tool, argument, key in (
        (remcochat, "skills.activate", "name", "skillMd"),
        (yodoca, "read_skill", "skill_id", None),
        (mux, "agent_skill_read", "name", "skill"),
    ):
        session = SkillSession(SkillCatalog(skills=skills), requires="auto")
        session.load(["c"])
        answer = by_name(profile.tools(session))[tool].call({argument: "a"})
        text = str(answer if key is None else answer[key])
        assert session.active == ("c", "b", "a")
        assert -1 < text.find("Body of b") < text.find("Body of a")
        assert "Body of c" not in text


def test_without_skills_there_are_no_tools() -> None:
    session = SkillSession(SkillCatalog())
    assert not [
        tool
        for profile in (native, remcochat, runtime, yodoca, mux)
        for tool in profile.tools(session)
    ]


def test_schemas_name_the_skills(session: SkillSession) -> None:
    for profile in (native, remcochat, runtime, yodoca, mux):
        schemas: list[Any] = [tool.json_schema for tool in profile.tools(session)]
        assert "'enum': ['api-design', 'skills-system-validation']" in str(schemas)
        assert all(
            re.fullmatch(r"[A-Za-z][a-zA-Z0-9_]{0,63}", tool.wire_name)
            for tool in profile.tools(session)
        )


def test_wire_names() -> None:
    assert [wire_name("skills.run_script", style) for style in ("snake", "camel", "dotted")] == [
        "skills_run_script", "skillsRunScript", "skills.run_script",
    ]  # fmt: skip
    assert wire_name("skills.readResource") == "skills_read_resource"


def many(count: int) -> list[AgentSkill]:
    words = "Some words about when to use it. " * 6
    return [
        AgentSkill.from_files(
            {"SKILL.md": f"---\nname: skill-{n}-of-many\ndescription: Thing {n}x. {words}\n---\n"}
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("profile", ["native", "remcochat", "runtime", "yodoca", "mux"])
def test_hundreds_of_skills_have_a_budget_and_a_list(profile: Any) -> None:
    session = SkillSession(SkillCatalog(skills=many(710)))
    config = SkillsConfig.preset(profile if profile in PRESETS else "default")
    toolbox = tools_for(config, session)
    declared = json.dumps([tool.as_function() for tool in toolbox.tools])
    assert estimate_tokens(declared) < 1000
    prompt = prompt_for(config, session)
    assert estimate_tokens(prompt) < 5000
    name = wire_name(LISTS[profile], "camel" if profile == "remcochat" else "snake")
    assert f"Not shown in full: search all 710 skills with {name}(query)." in prompt
    answer = json.dumps(toolbox.call(name, {"query": "thing 77x"}))
    assert "skill-77-of-many" in answer
    assert estimate_tokens(json.dumps(toolbox.call(name, {}))) < 6000


@pytest.mark.parametrize("profile", [agentsandbox, agentsandbox_head])
def test_get_skill_has_a_budget(profile: Any) -> None:
    with Sandbox(skills=many(710)) as sandbox:
        _, get_skill, listing = profile.tools(sandbox)
        assert estimate_tokens(json.dumps(get_skill.as_function())) < 5000
        assert "skill-0-of-many" in get_skill.description
        assert "search all 710 skills with list_skills(query)" in get_skill.description
        assert "skill-77-of-many" in listing.call({"query": "thing 77x"})
        assert "error" not in get_skill.call({"skillName": "skill-700-of-many"}).lower()
    with Sandbox(skills=many(20)) as sandbox:
        assert len(profile.tools(sandbox)) == 2


def test_a_catalog_that_is_cut_keeps_names_longest() -> None:
    skills = many(100)
    for limit, shown in ((10**6, "when to use it. Some"), (10_000, "…"), (4_000, ""), (2_000, "")):
        text = str(render_catalog(skills, "tool_description", characters=limit))
        assert len(text) <= limit
        assert shown in text
        assert text.count("-of-many") == (100 if limit > 3_000 else text.count("\n  - "))
    assert text.splitlines()[-1].startswith("  (+")
