"""Whole ways through the skills: what each of the source documents wants to work, from the
directory to the model's next turn.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentsandbox import Sandbox
from agentsandbox.cli import main
from agentsandbox.errors import InvalidSkillError, SkillError, SkillLimitError, SkillNotFoundError
from agentsandbox.profiles import remcochat
from agentsandbox.profiles.toolbox import Toolbox, skill_tools, tools_for
from agentsandbox.profiles.yodoca import SkillContext
from agentsandbox.skills import AgentSkill, SkillCatalog, SkillRoot, SkillSession, validate_skill
from agentsandbox.skills.config import SkillsConfig
from agentsandbox.skills.metadata import SkillMetadata
from agentsandbox.skills.prompts import compose_instructions, render_catalog
from agentsandbox.skills.session.reading import ReadingRules

VALIDATION = Path(__file__).parents[1] / "skills_embedded" / "skills-system-validation"
MEBIBYTE = 1024 * 1024


def write(root: Path, name: str, body: str = "Body", **files: str) -> Path:
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}\n---\n{body}\n")
    for path, text in files.items():
        target = folder / path.replace("__", "/").replace("_", ".")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


@pytest.mark.row("S0-1", "S0-5", "S0-53", "S3-33", "S3-37")
def test_a_skill_is_added_without_a_redeploy_and_seen_when_the_catalog_looks_again(
    tmp_path: Path,
) -> None:
    write(tmp_path, "a")
    catalog = SkillCatalog.discover(tmp_path)
    write(tmp_path, "b")
    assert list(catalog) == ["a"], "manual is the default: found once, kept in memory"
    catalog.refresh()
    assert list(catalog) == ["a", "b"]


@pytest.mark.row("S0-2", "S0-19", "S1-2", "V0-17", "S4-30", "V4-1")
def test_the_standard_format() -> None:
    skill = AgentSkill.from_path(VALIDATION, strict=True)
    assert not [each for each in validate_skill(VALIDATION) if each.severity == "error"]
    assert skill.name == VALIDATION.name
    assert {"SKILL.md", "references/REFERENCE.md", "assets/fixture.json", "scripts/echo.sh"} <= {
        file.relative_path for file in skill.files
    }
    parsed = SkillMetadata.parse("---\nname: a\ndescription: d\n---\n# Body\n", strict=True)
    assert (parsed.name, parsed.description, parsed.instructions) == ("a", "d", "# Body")


@pytest.mark.row("S0-3", "S1-1", "S1-21")
def test_one_catalog_serves_all_sessions_and_each_has_its_own_state(tmp_path: Path) -> None:
    write(tmp_path, "a")
    catalog = SkillCatalog.discover(tmp_path)
    one, two = SkillSession(catalog), SkillSession(catalog)
    one.load(["a"])
    assert (one.active, two.active) == (("a",), ())
    assert one.id != two.id
    assert "session" not in json.dumps([tool.as_function() for tool in skill_tools(one, "runtime")])


@pytest.mark.row("S0-6", "S0-32", "S0-36", "S0-41", "S3-10", "S3-11", "S1-15")
def test_five_steps(tmp_path: Path) -> None:
    write(tmp_path, "a", body="BODY", references__r_md="RESOURCE", scripts__x_sh="echo SCRIPT\n")
    catalog = SkillCatalog.discover(tmp_path)  # discover, and read front matter
    session = SkillSession(catalog, Sandbox())
    first = session.system_prompt()  # the model matches
    assert "About a" in first
    assert "BODY" not in first
    session.load(["a"])  # activate
    assert "BODY" in session.system_prompt()
    assert "RESOURCE" not in session.system_prompt()
    assert (
        session.read("references/r.md").content == "RESOURCE"
    )  # resources when they are asked for
    assert session.run_script("scripts/x.sh").stdout == "SCRIPT\n"


@pytest.mark.row("S0-16", "S0-77", "V0-16")
def test_a_user_interface_learns_what_to_show(tmp_path: Path) -> None:
    write(tmp_path, "a", references__r_md="x")
    cards: list[tuple[str, str, str | None]] = []
    session = SkillSession(
        SkillCatalog.discover(tmp_path),
        on_event=lambda event: cards.append((event.action, event.skill, event.path)),
    )
    box = Toolbox(skill_tools(session, "remcochat"))
    box.call("skills.activate", {"name": "a"})
    box.call("skills.readResource", {"name": "a", "path": "references/r.md"})
    assert cards == [("load", "a", None), ("read", "a", "references/r.md")]


@pytest.mark.row("S0-33", "S0-34", "S0-96")
def test_advice_for_authors_is_no_error(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        "a",
        body="line\n" * 600 + "see references/deep/x.md and scripts/gone.sh",
        references__deep__x_md="x",
    )
    found = {each.code: each.severity for each in validate_skill(folder)}
    assert found == {
        "long-body": "warning",
        "deep-reference": "warning",
        "missing-reference": "warning",
    }
    AgentSkill.from_path(folder, strict=True)


@pytest.mark.row("S0-37", "S0-38", "S0-39")
def test_validate_show_and_prompt_by_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, "a")
    assert main(["skills", "validate", str(folder)]) == 0
    capsys.readouterr()
    assert main(["skills", "show", "--json", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "a"
    (folder / "SKILL.md").write_text("---\nname: other\n---\n")
    assert main(["skills", "validate", str(folder)]) == 1
    text = render_catalog(
        SkillCatalog(skills=[AgentSkill.from_path(VALIDATION)]), layout="skills-ref", location=None
    )
    assert str(text).startswith(
        "<available_skills>\n<skill>\n<name>\nskills-system-validation\n</name>\n<description>\n"
    )


@pytest.mark.row("S0-40", "S3-48")
def test_nothing_changes_for_who_has_no_skills() -> None:
    session = SkillSession(SkillCatalog())
    assert session.system_prompt() == ""
    assert skill_tools(session) == []
    assert compose_instructions("You are helpful.") == "You are helpful."
    assert not Sandbox().fs.exists("/.sandbox")


@pytest.mark.row("S0-50", "S0-14", "S0-72")
def test_scripts_need_every_gate(tmp_path: Path) -> None:
    write(tmp_path, "a", scripts__x_sh="rm -rf /workspace/x\n")
    catalog = SkillCatalog.discover(tmp_path)
    with pytest.raises(SkillError):
        SkillSession(catalog, Sandbox(), scripts="off").run_script("scripts/x.sh", skill="a")
    with pytest.raises(SkillError):
        SkillSession(catalog).run_script("scripts/x.sh", skill="a")
    result = SkillSession(catalog, Sandbox(), allowed_tools="enforce").run_script(
        "scripts/x.sh", skill="a"
    )
    assert result.exit_code == 126
    assert SkillsConfig.preset("remcochat").scripts == "off"


@pytest.mark.row("S0-60")
def test_resources_are_listed(tmp_path: Path) -> None:
    write(tmp_path, "a", references__r_md="x", references__s_md="x", other_md="x")
    session = SkillSession(SkillCatalog.discover(tmp_path))
    answer = Toolbox(skill_tools(session)).call("skill_files", {"skill": "a", "dir": "references"})
    assert answer == {"files": ["references/r.md", "references/s.md"]}
    assert "error" in Toolbox(skill_tools(session)).call(
        "skill_files", {"skill": "a", "dir": "../.."}
    )
    box = Toolbox(remcochat.tools(session, list_resources=True))
    assert [tool.wire_name for tool in box.tools] == [
        "skillsActivate",
        "skillsReadResource",
        "skillsListResources",
    ]
    listed = box.call("skills.listResources", {"name": "a", "dir": "references"})
    assert listed == {
        "name": "a",
        "dir": "references",
        "resources": ["references/r.md", "references/s.md"],
    }
    assert box.call("skills.listResources", {"name": "a", "dir": "../.."}) == {
        "error": "Path traversal is not allowed."
    }


@pytest.mark.row("S0-73", "S0-74", "S0-76", "S0-94")
def test_the_administrators_report(tmp_path: Path) -> None:
    write(tmp_path / "one", "a")
    write(tmp_path / "two", "a")
    (tmp_path / "one" / "bad").mkdir()
    (tmp_path / "one" / "bad" / "SKILL.md").write_text("nothing")
    catalog = SkillCatalog.discover(tmp_path / "one", SkillRoot(tmp_path / "two", "user"))
    report = catalog.report()
    assert [skill["name"] for skill in report["skills"]] == ["a"]
    assert [each["path"] for each in report["invalid"]] == ["bad/SKILL.md"]
    assert report["collisions"] == [{"name": "a", "losers": 1, "winner": None}]
    assert str(tmp_path) not in json.dumps(report)
    full = catalog.report(redact=False)
    assert full["skills"][0]["path"] == str(tmp_path / "one" / "a" / "SKILL.md")
    assert full["collisions"][0]["losers"] == [str(tmp_path / "two" / "a" / "SKILL.md")]


@pytest.mark.row("S0-78", "S0-79", "S0-80", "S0-81")
def test_remcochats_milestones(tmp_path: Path) -> None:
    write(tmp_path / ".skills", "a", references__r_md="x" * 100)
    file = tmp_path / "app.toml"
    file.write_text(
        '[app.skills]\npreset = "remcochat"\nenabled = true\n'
        f'directories = ["{tmp_path}/.skills"]\nmax_resource_bytes = 10\n'
    )
    config = SkillsConfig.from_toml(file)
    session = config.session(config.discover())
    assert (
        config.render_catalog(session)
        == '{"available_skills":[{"name":"a","description":"About a"}]}'
    )
    box = tools_for(config, session)
    box.call("skills.activate", {"name": "a"})
    assert session.to_dict()["active_skills"] == ["a"]
    assert (
        "90 bytes removed"
        in box.call("skills.readResource", {"name": "a", "path": "references/r.md"})["content"]
    )


@pytest.mark.row("S0-89", "V0-22", "V0-25")
def test_front_matter_longer_than_the_soft_limit_still_says_what_the_skill_is(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        f"---\nname: a\ndescription: d\nlicense: {'x' * 5000}\n---\n{'B' * 5000}\n"
    )
    session = SkillSession(
        SkillCatalog.discover(tmp_path),
        rules=ReadingRules(max_skill_md_bytes=1000, max_resource_bytes=1000),
    )
    session.load(["a"])
    assert session.catalog["a"].description == "d"
    content = session.read("SKILL.md")
    assert content.truncated
    assert content.content.endswith("\n[truncated: SKILL.md; 9042 bytes removed]")
    text = Toolbox(skill_tools(session, "yodoca")).call("read_skill", {"skill_id": "a"})
    assert text.endswith("B\n[truncated: SKILL.md; 4000 bytes removed]")
    assert "bytes removed]" in str(session.render_active())
    assert session.warnings == ["a: SKILL.md is longer than 1000 bytes and was cut off"]
    strict = SkillSession(
        session.catalog, rules=ReadingRules(max_skill_md_bytes=1000, overflow="error")
    )
    assert not Toolbox(skill_tools(strict, "mux")).call("agent_skill_read", {"name": "a"})[
        "success"
    ]


@pytest.mark.row("S1-19", "S1-20", "S1-27", "S1-32", "S1-33")
def test_loading_by_name_caches_the_body_for_the_next_call(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path, name, body=f"BODY {name}")
    catalog = SkillCatalog.discover(tmp_path)
    session = SkillSession(catalog, max_active=2)
    assert (session.active_skill_name, catalog["a"].body) == (None, None)
    receipt = Toolbox(skill_tools(session, "runtime")).call("skills.load", {"names": ["A", "b"]})
    assert "BODY" not in json.dumps(receipt)
    assert (session.active_skill_name, catalog["a"].body) == ("b", "BODY a")
    assert [f"BODY {name}" in session.system_prompt() for name in "abc"] == [True, True, False]
    with pytest.raises(SkillLimitError, match="Load fewer skills"):
        session.load(["c"], "add")


@pytest.mark.row("S1-54")
def test_skills_are_seen_in_the_prompt_or_by_a_tool(tmp_path: Path) -> None:
    write(tmp_path, "a")
    session = SkillSession(SkillCatalog.discover(tmp_path))
    assert "About a" in session.system_prompt()
    assert (
        Toolbox(skill_tools(session)).call("skill_list", {})["skills"][0]["description"]
        == "About a"
    )


@pytest.mark.row("S3-3", "S3-4", "S3-12", "S3-38")
def test_yodocas_layout_and_composition(tmp_path: Path) -> None:
    write(tmp_path, "a", templates__t_yaml="t: 1", odd__deep__x_txt="x")
    session = SkillSession(SkillCatalog.discover(tmp_path))
    box = Toolbox(skill_tools(session, "yodoca"))
    assert box.call("read_skill_resource", {"skill_id": "a", "path": "templates/t.yaml"}) == "t: 1"
    assert box.call("read_skill_resource", {"skill_id": "a", "path": "odd/deep/x.txt"}) == "x"
    assert asyncio.run(SkillContext(session).get_context()) is not None


@pytest.mark.row("S3-26", "S3-27", "S3-29", "S3-50", "V3-13")
def test_uses_skills_binds_them_when_an_agent_is_made(tmp_path: Path) -> None:
    write(tmp_path, "extension-development", body="CONTRACT")
    catalog = SkillCatalog.discover(tmp_path)
    bound = [
        (name, catalog.find(name).load().metadata.instructions or "")
        for name in ("extension-development",)
    ]
    text = compose_instructions("ROLE", bound, "INLINE")
    assert text.index("ROLE") < text.index("CONTRACT") < text.index("INLINE")
    with pytest.raises(SkillNotFoundError):
        catalog.find("nope")


@pytest.mark.row("S4-6", "S0-23")
def test_muxs_profile_ignores_allowed_tools(tmp_path: Path) -> None:
    folder = write(tmp_path, "a")
    (folder / "SKILL.md").write_text(
        "---\nname: a\ndescription: d\nallowed-tools: Bash(git:*) Read\nfoo: 1\n---\nBody\n"
    )
    config = SkillsConfig.preset("mux", directories=(str(tmp_path),))
    answer = tools_for(config, config.session(config.discover())).call(
        "agent_skill_read", {"name": "a"}
    )
    assert answer["success"] is True
    assert config.allowed_tools == "ignore"


@pytest.mark.row("S4-10", "S4-13")
def test_a_descriptor_has_name_description_and_scope(tmp_path: Path) -> None:
    write(tmp_path / "project", "a")
    write(tmp_path / "user", "b")
    catalog = SkillCatalog.discover(tmp_path / "project", SkillRoot(tmp_path / "user", "user"))
    assert [(record.name, record.description, record.scope) for record in catalog.values()] == [
        ("a", "About a", "project"),
        ("b", "About b", "user"),
    ]
    assert "(scope: global)" in str(render_catalog(catalog, "agent_skills"))


@pytest.mark.row("S4-12", "V4-5")
def test_one_mebibyte_is_the_most_a_skill_file_may_have(tmp_path: Path) -> None:
    head = "---\nname: {}\ndescription: d\n---\n"
    for name, size in (("exact", MEBIBYTE), ("over", MEBIBYTE + 1)):
        (tmp_path / name).mkdir()
        start = head.replace("{}", name)
        (tmp_path / name / "SKILL.md").write_text(start + "x" * (size - len(start)))
        assert os.path.getsize(tmp_path / name / "SKILL.md") == size
    catalog = SkillCatalog.discover(tmp_path)
    assert list(catalog) == ["exact"]
    assert catalog["exact"].load().name == "exact"
    assert [each.path for each in catalog.diagnostics if each.severity == "error"] == [
        "over/SKILL.md"
    ]
    with pytest.raises(InvalidSkillError):
        AgentSkill.from_path(tmp_path / "over")


@pytest.mark.row("S4-15")
def test_a_store_needs_very_little() -> None:
    from io import BytesIO

    from agentsandbox.skills.sources.files import InMemorySkillSource
    from agentsandbox.skills.sources.stores import Candidate

    class Store:
        def candidates(self) -> Any:
            for name in ("good", "bad; name", ".."):
                text = f"---\nname: {name}\ndescription: d\n---\nBody\n".encode()
                yield Candidate(
                    name,
                    1,
                    len(text),
                    lambda text=text: BytesIO(text),
                    InMemorySkillSource({"SKILL.md": text}),
                    f"x:{name}",
                )

    catalog = SkillCatalog.discover(Store())
    assert list(catalog) == ["good"]
    assert catalog["good"].load().metadata.instructions == "Body"


@pytest.mark.row("S0-15", "S0-69")
def test_the_catalog_has_a_budget(tmp_path: Path) -> None:
    for name in ("often", "seldom"):
        write(tmp_path, name)
    config = SkillsConfig(directories=(str(tmp_path),), catalog_location=None)
    session = config.session(config.discover(), uses={"often": 5})
    whole = str(config.render_catalog(session))
    config = config.model_copy(update={"catalog_characters": len(whole) - 3})
    text = str(config.render_catalog(session))
    assert "About often" in text
    assert "About seldom" not in text
    assert "<name>seldom</name>" in text
