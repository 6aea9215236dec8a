"""Settings of a host, presets, and what `allowed-tools` allows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest

from agentsandbox import Sandbox
from agentsandbox.errors import InvalidSkillError, SkillPathError, SkillPolicyError
from agentsandbox.profiles.toolbox import Toolbox, prompt_for, skill_tools, tools_for
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.checking import validate_skill
from agentsandbox.skills.config import PRESETS, SkillsConfig
from agentsandbox.skills.session.allowed_tools import AllowedTools
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.trust.lockfile import SkillLock
from agentsandbox.skills.trust.proposals import ProposalStore
from agentsandbox.skills.validation import Acceptance


@pytest.mark.row("S0-44", "S0-76", "V0-29")
def test_from_toml_skills_are_off_unless_asked_for(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "a"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: a\ndescription: d\n---\n")
    file = tmp_path / "app.toml"
    file.write_text(f'[app.skills]\ndirectories = ["{tmp_path}/skills"]\n')
    config = SkillsConfig.from_toml(file)
    assert not config.enabled
    assert not config.discover()
    session = config.session(config.discover())
    assert config.render_catalog(session) is None
    assert not skill_tools(session)
    file.write_text(f'[app.skills]\nenabled = true\ndirectories = ["{tmp_path}/skills"]\n')
    assert list(SkillsConfig.from_toml(file).discover()) == ["a"]
    file.write_text("")
    assert not SkillsConfig.from_toml(file).enabled


@pytest.mark.row("S0-46", "S0-47", "S0-48", "S0-49")
def test_defaults() -> None:
    config = SkillsConfig()
    assert (config.max_skills, config.max_skill_md_bytes, config.max_resource_bytes) == (
        200,
        200_000,
        2_000_000,
    )
    assert config.activation == "tool"


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="unknown setting 'max_skils'; did you mean 'max_skills'"):
        SkillsConfig(max_skils=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="unknown preset"):
        SkillsConfig.preset("nope")
    for wrong in ({"max_skills": 0}, {"activation": "magic"}, {"poll_interval": -1}):
        with pytest.raises(ValueError, match="validation error"):
            SkillsConfig(**wrong)


@pytest.mark.row("S0-4", "S0-45", "S4-14")
def test_presets() -> None:
    assert {name: SkillsConfig.preset(name).profile for name in PRESETS} == {
        "default": "native",
        **{name: name for name in ("remcochat", "runtime", "agentsandbox", "yodoca", "mux")},
    }
    remcochat = SkillsConfig.preset("remcochat")
    assert remcochat.directories == (
        "./.skills",
        "./.agents/skills",
        "~/.agents/skills",
        "~/.remcochat/skills",
    )
    assert remcochat.search_up == ("./.agents/skills",)
    assert SkillsConfig.preset("runtime", max_active=3).max_active == 3
    session = SkillsConfig.preset("mux").session(SkillCatalog())
    assert (session.rules.max_resource_bytes, session.rules.overflow, session.has_scripts) == (
        1 << 20,
        "error",
        False,
    )


def test_the_catalog_speaks_the_names_of_the_tools(tmp_path: Path) -> None:
    config = SkillsConfig.preset("mux", directories=(str(folder_of(tmp_path)),), name_style="camel")
    session = config.session(config.discover())
    prompt = prompt_for(config, session)
    for tool in tools_for(config, session).tools:
        assert f"- {tool.wire_name}({{ name:" in prompt
    assert "agent_skill" not in prompt


def test_the_head_variant_is_a_profile(tmp_path: Path) -> None:
    config = SkillsConfig.preset(
        "agentsandbox", profile="agentsandbox-head", directories=(str(folder_of(tmp_path)),)
    )
    catalog = config.discover()
    with Sandbox(skills=catalog.skills()) as sandbox:
        session = config.session(catalog, sandbox)
        assert [tool.wire_name for tool in tools_for(config, session, sandbox).tools] == [
            "bash_shell",
            "get_skill",
        ]
        assert "`bash_shell`" not in prompt_for(config, session)
        assert "`get_skill`" in prompt_for(config, session)
    with pytest.raises(ValueError, match="needs a sandbox"):
        tools_for(config, session)


def test_names_in_any_script_where_the_host_wants_them(tmp_path: Path) -> None:
    for directory, name in (
        ("数据分析", "数据分析"),
        ("cafe\u0301", "café"),
        ("plain", "plain"),
        ("other", "Ünï"),
    ):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: d\n---\nBody of {name}\n"
        )
    strict = SkillsConfig(directories=(str(tmp_path),), validation="strict")
    assert list(strict.discover()) == ["plain"]
    catalog = strict.model_copy(update={"unicode_names": True}).discover()
    assert list(catalog) == ["café", "plain", "数据分析"]
    session = SkillSession(catalog)
    assert "Body of 数据分析" in str(session.invoke("/数据分析 now"))
    assert session.invoke("/数据 now") is None
    assert not [
        found
        for found in validate_skill(tmp_path / "cafe\u0301", unicode_names=True)
        if found.severity == "error"
    ]
    store = ProposalStore(tmp_path / "proposals", Acceptance(unicode_names=True))
    proposal = store.propose(
        catalog["数据分析"].load(), "@@ -5 +5 @@\n-Body of 数据分析\n+Better\n", "why"
    )
    assert store.approve(proposal.id, tmp_path / "数据分析", reviewer="kim").skill == "数据分析"
    assert len(store.history("数据分析")) == 1


@pytest.mark.parametrize(
    "name",
    [
        "a/b",
        "a\\b",
        "..",
        "a\0b",
        "ﬁle",
        "Ａ",
        "a\u200db",
        "\u202ea",
        "数据--分析",
        "Ü",
        "x" * 65,
        "a_b",
        "con",
    ],
)
def test_names_in_any_script_are_names_all_the_same(name: str) -> None:
    with pytest.raises(InvalidSkillError, match="the name"):
        AgentSkill.from_files(
            {"SKILL.md": "---\nname: a\ndescription: d\n---\n"},
            name,
            accept=Acceptance(unicode_names=True),
        )


@pytest.mark.row("V0-24", "S0-15")
def test_the_hard_size_of_a_skill_file(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: d\n---\n" + "x" * 2000
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(text)
    config = SkillsConfig(directories=(str(tmp_path),), hard_skill_md_bytes=len(text))
    assert list(config.discover()) == ["a"]
    assert config.discover()["a"].load().name == "a"
    small = config.model_copy(update={"hard_skill_md_bytes": len(text) - 1})
    assert [found.code for found in small.discover().diagnostics] == ["too-large"]
    with pytest.raises(InvalidSkillError, match="exceeds"):
        AgentSkill.from_path(tmp_path / "a", accept=Acceptance(hard_skill_md_bytes=100))


def test_paths_that_go_back_where_the_host_allows_it(tmp_path: Path) -> None:
    folder_of(tmp_path)
    config = SkillsConfig(allow_internal_dotdot=True)
    skill = AgentSkill.from_files({
        "SKILL.md": "---\nname: a\ndescription: d\n---\n", "references/x.md": "x",
        "scripts/x.sh": "echo ran\n",
    })  # fmt: skip
    with Sandbox() as sandbox:
        session = config.session(SkillCatalog(skills=[skill]), sandbox)
        session.load(["a"])
        assert session.read("references/../references/./x.md").path == "references/x.md"
        assert session.files(directory="scripts/../references/") == ["references/x.md"]
        assert session.run_script("references/../scripts/x.sh").stdout == "ran\n"
        for path in (
            "..",
            "../a/SKILL.md",
            "references/../../a/SKILL.md",
            "references/..",
            "/references/../x",
            "a/../../../etc/passwd",
        ):
            with pytest.raises(SkillPathError):
                session.read(path)
        plain = SkillSession(session.catalog)
        with pytest.raises(SkillPathError):
            plain.read("references/../references/x.md", "a")


@pytest.mark.row("S0-72", "S1-44", "S2-3")
@pytest.mark.parametrize(
    ("scripts", "tool", "shell"),
    [("both", True, True), ("tool", True, False), ("shell", False, True), ("off", False, False)],
)
def test_how_scripts_run(
    tmp_path: Path, scripts: Literal["shell", "tool", "both", "off"], tool: bool, shell: bool
) -> None:
    config = SkillsConfig(directories=(str(folder_of(tmp_path)),), scripts=scripts)
    with Sandbox() as sandbox:
        box = tools_for(config, config.session(config.discover(), sandbox), sandbox)
        assert (box.find("skill_run") is not None, box.find("shell") is not None) == (tool, shell)
        assert tools_for(config, config.session(config.discover())).find("shell") is None


@pytest.mark.row("S0-52", "S4-16")
def test_a_host_may_want_to_be_told(tmp_path: Path) -> None:
    directories = (str(folder_of(tmp_path)),)
    (tmp_path / "skills" / "bad").mkdir()
    (tmp_path / "skills" / "bad" / "SKILL.md").write_text("nothing")
    assert list(SkillsConfig(directories=directories).discover()) == ["a"]
    with pytest.raises(InvalidSkillError, match=r"bad/SKILL\.md: SKILL\.md must start with"):
        SkillsConfig(directories=directories, on_invalid="raise").discover()
    twice = (*directories, str(folder_of(tmp_path / "more")))
    assert list(SkillsConfig(directories=twice).discover()) == ["a"]
    with pytest.raises(InvalidSkillError, match=r"2 skills are named 'a'$"):
        SkillsConfig(directories=twice, on_collision="error").discover()


@pytest.mark.row("S1-24", "S0-57", "S1-51", "S2-45")
def test_the_prompt_speaks_the_language_of_the_tools(tmp_path: Path) -> None:
    directories = (str(folder_of(tmp_path)),)
    names = {
        "default": "skill_activate", "remcochat": "skillsActivate", "runtime": "skills_load",
        "agentsandbox": "get_skill",
        "yodoca": "read_skill", "mux": "agent_skill_read",
    }  # fmt: skip
    for preset, name in names.items():
        config = SkillsConfig.preset(preset, directories=directories)
        with Sandbox() as sandbox:
            session = config.session(config.discover(), sandbox)
            prompt = prompt_for(config, session)
            assert f"MUST call `{name}`" in prompt
            assert ("Reads invoices" in prompt) is (preset != "agentsandbox")
            offered = {tool.wire_name for tool in tools_for(config, session, sandbox).tools}
            called = set(re.findall(r"`([A-Za-z_]+)`", prompt))
            assert called - {"a"} <= offered, preset
            session.load(["a"])
            assert ("<active_skills>" in prompt_for(config, session)) is (preset == "runtime")
    dotted = SkillsConfig.preset("runtime", directories=directories, name_style="dotted")
    session = dotted.session(dotted.discover())
    assert "MUST call `skills.load`" in prompt_for(dotted, session)
    assert tools_for(dotted, session).tools[0].wire_name == "skills.load"
    assert prompt_for(dotted, dotted.session(SkillCatalog())) == ""


def test_several_profiles_in_one_toolbox(tmp_path: Path) -> None:
    config = SkillsConfig(
        directories=(str(folder_of(tmp_path)),), profile=("native", "remcochat", "mux")
    )
    box = tools_for(config, config.session(config.discover()))
    for name in (
        "skill_read",
        "skills.readResource",
        "skills_read_resource",
        "agent_skill_read_file",
    ):
        assert box.find(name), name


@pytest.mark.row("S1-6", "S0-10")
def test_the_catalog_says_where_skills_are_as_far_as_the_host_wants(tmp_path: Path) -> None:
    directories = (str(folder_of(tmp_path)),)
    for location, shown in (("virtual", False), (None, False), ("host", True)):
        config = SkillsConfig(directories=directories, catalog_location=location)
        text = str(config.render_catalog(config.session(config.discover())))
        assert (f"<location>{tmp_path}/skills/a/SKILL.md</location>" in text) is shown
        assert (str(tmp_path) in text) is shown


@pytest.mark.row("S0-72")
@pytest.mark.parametrize(
    ("tools", "argv", "allowed"),
    [
        ("Bash", "rm -rf /", True),
        ("Bash(*)", "rm -rf /", True),
        ("Bash(git:*)", "git push --force", True),
        ("Bash(git:*)", "/usr/bin/git push", True),
        ("Bash(git:*)", "gitk", False),
        ("Bash(git:*)", "rm x", False),
        ("Bash(git add:*)", "git add x", True),
        ("Bash(git add:*)", "git push", False),
        ("Bash(git add:*, jq:*)", "jq .", True),
        ("Bash(make test)", "make test", True),
        ("Bash(make test)", "make test all", False),
        ("Bash(npm run *)", "npm run x", True),
        ("Read", "cat x", True),
        ("Read", "rm x", False),
        ("Write Edit", "tee x", True),
        ("", "echo x", True),
        ("", "xargs rm", True),
        ("", "rm x", False),
        ("Unknown(x)", "rm x", False),
        ("Bash(git:status)", "git status", True),
        ("Bash(git:log*)", "git log --oneline", True),
        ("Bash(git:status)", "git push", False),
        ("Bash(npm run build:prod)", "npm run build:prod", True),
        ("Bash(npm run test*)", "npm run test:unit --watch", True),
        ("Bash(npm run test*)", "npm run deploy", False),
        ("Bash(git * main)", "git merge --no-ff main", True),
        ("Bash(git * main)", "git main", False),
        ("Bash(git * main)", "git merge main x", False),
        ("Bash(* --version)", "node --version", True),
        ("Bash(* --version)", "rm --version x", False),
        ("Bash(ls *)", "lsof", False),
        ("Bash(my-*)", "my-tool -x", True),
        ("Bash(rm /tmp/*)", "rm /tmp/a /tmp/b", True),
        ("Bash(rm /tmp/*)", "rm /tmp/a /etc/b", False),
        ("Bash(rm /tmp/*)", "rm /tmp/../etc/b", False),
        ("Bash(./scripts/*.sh *)", "./scripts/a.sh x", True),
        ("Bash(./scripts/*.sh *)", "/skills/s/scripts/a.sh", True),
        ("Bash(./scripts/*.sh *)", "scripts/a.sh", True),
        ("Bash(./scripts/*.sh *)", "./scripts/../evil.sh", False),
        ("Bash(./scripts/*.sh *)", "/tmp/scripts/a.sh", False),
        ("Bash(python3 scripts/x.py:*)", "python3 /skills/s/scripts/x.py --all", True),
        ("Bash(python3 scripts/x.py:*)", "python3 scripts/x.py", True),
        ("Bash(python3 scripts/x.py:*)", "python3 scripts/y.py", False),
        ("Bash(python3 scripts/x.py:*)", "python3 -c x", False),
        ("Bash(python3 ${CLAUDE_SKILL_DIR}/x.py *)", "python3 /skills/s/x.py", True),
        ("Bash({baseDir}/run:*)", "/skills/s/run a", True),
        ("Bash(~/.claude/skills/any/run.sh:*)", "/skills/s/run.sh a", True),
        ("Bash(A=1 jq . 2>&1)", "jq .", True),
        ("Bash(jq:* && rm:*)", "rm x", True),
        ("Bash(jq '.a | .b' *)", "jq .a x", False),
        ("Read(/data/**)", "cat /data/a/b", True),
        ("Read(/data/**)", "cat -n /data/a /etc/passwd", False),
        ("Read(/data/**)", "head -n 5 /data/a", True),
        ("Read(/data/**)", "cat /data/../etc/passwd", False),
        ("Read(//data)", "cat /data/a/b", True),
        ("Read(/data/*.md)", "cat /data/a.md", True),
        ("Read(/data/*.md)", "cat /data/x/a.md", False),
        ("Read(*.md)", "cat /any/a.md", True),
        ("Read(references/**)", "cat /skills/s/references/a", True),
        ("Read(references/**)", "cat references/a", True),
        ("Read(~/x/*)", "cat /home/agent/x/y", True),
        ("Read(/data/**)", "cat", True),
        ("Read(/data/**)", "ls", False),
        ("Grep(/data/**)", "grep -r x /data", True),
        ("Grep(/data/**)", "grep -f/etc/passwd /data", False),
        ("Grep(/data/**)", "grep --file=/etc/passwd /data", False),
        ("Glob(/data/**)", "find /data -name x", True),
        ("Glob(/data/**)", "find / -name x", False),
        ("Write(out/**)", "tee out/x", True),
        ("Write(out/**)", "tee x", False),
        ("Edit(/data/**)", "sed -i s/a/b/ /data/x", True),
        ("Edit(/data/**)", "sed -i s/a/b/ /etc/x", False),
        ("Read(/data/**) Read", "cat /etc/x", True),
    ],
)
def test_allowed_tools(tools: str, argv: str, allowed: bool) -> None:
    from agentsandbox.skills.validation import split_tools

    rules = AllowedTools(split_tools(tools) or (), "/skills/s")
    refusal = rules.refusal(argv.split(), cwd="/work")
    assert (refusal is None) is allowed
    assert AllowedTools(()).refusal(["helper"], function=True) is None


@pytest.mark.parametrize(
    "tools",
    ["(" * 60_000, "Bash(" * 12_000, "Bash(" + "*a" * 30_000 + "b)",
     "Bash(" + "* a " * 15_000 + ")", "Read(" + "**/a/" * 12_000 + ")", "Bash(a:*) " * 6_000],
)  # fmt: skip
def test_hostile_patterns_cost_little(tools: str) -> None:
    """Each would take minutes with a pattern that backtracks."""
    skill = AgentSkill.from_files(
        {"SKILL.md": f"---\nname: a\ndescription: d\nallowed-tools: {tools}\n---\n"}
    )
    allowed = AllowedTools(skill.metadata.allowed_tools, "/skills/a")
    for argv in (["a" * 100_000], ["x", *["a"] * 20_000], ["cat", "a/" * 20_000]):
        assert allowed.refusal(argv) is not None or argv[0] == "a"


def test_a_toolbox_takes_every_spelling() -> None:
    skill = AgentSkill.from_files({"SKILL.md": "---\nname: a\ndescription: d\n---\n"})
    session = SkillSession(SkillCatalog(skills=[skill]))
    box = Toolbox(skill_tools(session, "runtime", "remcochat"))
    for name in ("skills.load", "skills_load", "skillsLoad"):
        assert box.call(name, {"names": ["a"]})["active_skills"][0]["name"] == "a"
    assert (
        box.find("skills.readResource")
        is box.find("skills_read_resource")
        is box.find("skillsReadResource")
    )
    assert "Unknown tool" in box.call("nope", {})["error"]
    with pytest.raises(ValueError, match="unknown profile"):
        skill_tools(session, "nope")  # type: ignore[arg-type]


def folder_of(tmp_path: Path) -> Path:
    skill = tmp_path / "skills" / "a"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: a\ndescription: Reads invoices\n---\nBody\n")
    return tmp_path / "skills"


@pytest.mark.row("S0-12", "S0-42", "V0-32")
def test_the_profile_makes_the_toolbox(tmp_path: Path) -> None:
    directories = (str(folder_of(tmp_path)),)
    names = {}
    for name in PRESETS:
        config = SkillsConfig.preset(name, directories=directories)
        catalog = config.discover()
        sandbox = Sandbox(skills=catalog.skills())
        names[name] = [
            tool.name for tool in tools_for(config, config.session(catalog, sandbox), sandbox).tools
        ]
    assert names["remcochat"] == ["skills.activate", "skills.readResource"]
    assert names["mux"] == ["agent_skill_read", "agent_skill_read_file"]
    assert names["yodoca"] == ["list_skills", "read_skill", "read_skill_resource"]
    assert names["agentsandbox"] == ["sandbox_execute", "get_skill"]
    assert names["runtime"] == ["skills.load", "skills.unload", "skills.read", "skills.run_script"]
    assert names["default"][0] == "skill_list"
    off = SkillsConfig(enabled=False)
    assert tools_for(off, off.session(off.discover())).tools == ()
    with pytest.raises(ValueError, match="needs a sandbox"):
        tools_for(SkillsConfig.preset("agentsandbox"), off.session(off.discover()))


def test_a_preset_in_toml(tmp_path: Path) -> None:
    file = tmp_path / "app.toml"
    file.write_text('[app.skills]\npreset = "mux"\nenabled = true\nmax_skills = 7\n')
    config = SkillsConfig.from_toml(file)
    assert (config.profile, config.max_skills, config.enabled) == ("mux", 7, True)
    for text, message in (
        ('[app.skills]\npreset = "nope"\n', "unknown preset 'nope'"),
        ("[app.skills]\nmax_skils = 1\n", "did you mean 'max_skills'"),
        ("app = 1\n", "not a table"),
        ('[app]\nskills = "x"\n', "not a table"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=message):
            SkillsConfig.from_toml(file)


@pytest.mark.row("S0-49", "S0-62", "S0-63", "S0-64")
def test_activation_makes_the_router(tmp_path: Path) -> None:
    config = SkillsConfig(
        directories=(str(folder_of(tmp_path)),), activation="router", max_router_skills=1
    )
    session = config.session(config.discover())
    assert config.router(session, lambda message, skills: [skill.name for skill in skills]).route(
        "x"
    ).loaded == ("a",)
    hybrid = config.model_copy(update={"activation": "hybrid"})
    assert hybrid.router(hybrid.session(config.discover())).route(
        "which invoices are due?"
    ).shortlist == ("a",)


def test_search_proposals_and_lock(tmp_path: Path) -> None:
    directories = (str(folder_of(tmp_path)),)
    config = SkillsConfig(
        directories=directories,
        search="index",
        proposals=str(tmp_path / "proposals"),
        lock=str(tmp_path / "skills.lock"),
    )
    SkillLock.of([AgentSkill.from_path(tmp_path / "skills" / "a")]).write(tmp_path / "skills.lock")
    session = config.session(config.discover())
    assert [record.name for record in session.search("invoice")] == ["a"]
    assert session.propose_update("a", "@@ -5 +5 @@\n-Body\n+Better\n", "why").skill == "a"
    session.load(["a"])
    (tmp_path / "skills" / "a" / "new.md").write_text("x")
    with pytest.raises(SkillPolicyError):
        config.session(config.discover()).load(["a"])
    assert SkillsConfig(directories=directories).session(config.discover()).search("invoice") == []
