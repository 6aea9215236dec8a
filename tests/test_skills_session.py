"""Sessions: what is active, what may be read and run."""

# TM-SKILL-5

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsandbox import Sandbox
from agentsandbox.errors import (
    SkillError,
    SkillLimitError,
    SkillNotFoundError,
    SkillPathError,
    SkillPolicyError,
    SkillStateError,
)
from agentsandbox.profiles.toolbox import Toolbox, skill_tools
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.session.allowed_tools import AllowedTools
from agentsandbox.skills.session.reading import ReadingRules, page_lines
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.sources.stores import VirtualSkills
from tests.test_skills_sources import BAD_PATHS

PNG = b"\x89PNG\r\n\x1a\n\0\xff"


def make(name: str, **files: str | bytes) -> AgentSkill:
    text = f"---\nname: {name}\ndescription: About {name}\nlicense: MIT\n---\n# Body of {name}\n"
    return AgentSkill.from_files({"SKILL.md": text, **files})


RUN = 'echo "$KEY" "$@"; pwd; echo err >&2; exit 3\n'
NAMED = "#!/usr/bin/env bash\necho $SKILL_NAME $0\n"
SKILLS = [
    make(
        "a",
        **{"references/r.md": "reference of a\n", "assets/logo.png": PNG, "scripts/run.sh": RUN},
    ),
    make(
        "b",
        **{"references/r.md": "reference of b\n", "scripts/tool.py": "print('hi')\n", "run": NAMED},
    ),
    make("c"),
]


@pytest.fixture
def catalog() -> SkillCatalog:
    return SkillCatalog(skills=SKILLS)


@pytest.fixture
def session(catalog: SkillCatalog) -> SkillSession:
    return SkillSession(catalog, max_active=2)


@pytest.mark.row("S1-12", "S1-29", "S1-30", "S1-31", "S1-49", "S1-50", "V1-2", "V1-3")
def test_loading(catalog: SkillCatalog) -> None:
    session = SkillSession(catalog)
    session.load(["a", "b"])
    assert session.active == ("a", "b")
    session.load(["b", "c"], "add")
    assert session.active == ("a", "b", "c")
    assert session.active_skill_name == "c"
    session.load(["c"])
    assert session.active == ("c",)
    session.load([])
    assert session.active == ()


REQUIRING = [
    AgentSkill.from_files(
        {
            "SKILL.md": (
                f"---\nname: {name}\ndescription: d\nrequires: [{requires}]\n---\nBody of {name}\n"
            )
        }
    )
    for name, requires in (
        ("top", "left, right, gone"),
        ("left", "base"),
        ("right", "base, top"),
        ("base", ""),
    )
]


@pytest.mark.row("S2-50", "S3-7", "S3-8")
def test_required_skills_are_loaded_first_where_the_host_wants_it() -> None:
    catalog = SkillCatalog(skills=REQUIRING)
    session = SkillSession(catalog, requires="auto")
    session.load(["top"])
    assert session.active == ("base", "left", "right", "top")
    assert session.warnings == ["top requires gone, which is not there"]
    with pytest.raises(SkillLimitError):
        SkillSession(catalog, requires="auto", max_active=3).load(["top"])
    hinting = SkillSession(catalog)
    hinting.load(["left"])
    assert hinting.active == ("left",)
    assert "This skill requires: base. Load it first" in hinting.content("left")
    assert "requires" not in SkillSession(catalog, requires="ignore").content("left")


@pytest.mark.row("S1-18", "S1-25")
@pytest.mark.parametrize(
    ("delivery", "native", "runtime"),
    [
        (None, True, False),
        ("tool_result", True, True),
        ("instructions", False, False),
        ("both", True, True),
    ],
)
def test_where_instructions_go(
    catalog: SkillCatalog, delivery: Any, native: bool, runtime: bool
) -> None:
    session = SkillSession(catalog, delivery=delivery)
    box = Toolbox(skill_tools(session, "native", "runtime"))
    assert ("# Body of a" in str(box.call("skill_activate", {"names": ["a"]}))) is native
    assert ("# Body of b" in str(box.call("skills.load", {"names": ["b"]}))) is runtime


def test_active_instructions_say_where_the_skill_is_and_run_their_commands_once() -> None:
    files = {
        "SKILL.md": (
            "---\nname: p\ndescription: d\n---\nAt {baseDir}: !`echo >> /tmp/n; wc -l < /tmp/n`\n"
        )
    }
    with Sandbox() as sandbox:
        session = SkillSession(
            SkillCatalog(skills=[AgentSkill.from_files(files)]), sandbox, run_commands=True
        )
        session.load(["p"])
        shown = str(session.render_active())
        assert "At /.sandbox/skills/p: 1\n" in shown
        assert session.render_active() == shown
        session.unload(all=True)
        session.load(["p"])
        assert "At /.sandbox/skills/p: 2\n" in str(session.render_active())


@pytest.mark.row("S1-34", "V1-5", "V1-6")
def test_loading_is_all_or_nothing(session: SkillSession) -> None:
    session.load(["a"])
    for names in (["nope"], ["b", "nope"]):
        with pytest.raises(SkillNotFoundError):
            session.load(names)
    with pytest.raises(
        SkillLimitError, match=r"Too many skills: requested 3, maximum 2\. Load fewer skills\."
    ):
        session.load(["b", "c"], "add")
    assert session.active == ("a",)


@pytest.mark.row("S1-35", "V1-4")
def test_the_receipt(session: SkillSession) -> None:
    session.load(["a"])
    (entry,) = session.receipt()["active_skills"]
    assert entry["name"] == "a"
    assert (entry["location"], entry["root_dir"]) == (
        "/.sandbox/skills/a/SKILL.md",
        "/.sandbox/skills/a",
    )
    assert entry["digest"].startswith("sha256:")
    assert entry["properties"] == {"name": "a", "description": "About a", "license": "MIT"}
    assert "Body of" not in json.dumps(session.receipt())


@pytest.mark.row("S1-36", "S1-37", "S1-38", "V1-7")
def test_unloading(session: SkillSession) -> None:
    session.load(["a", "b"])
    session.unload(["a", "nope"])
    assert session.active == ("b",)
    session.unload(all=True)
    assert session.active == ()


@pytest.mark.row("S1-39", "S1-40", "V1-8", "V1-9")
def test_which_skill_is_read(catalog: SkillCatalog) -> None:
    session = SkillSession(catalog, require_active=True)
    with pytest.raises(SkillStateError):
        session.read("references/r.md")
    session.load(["a", "b"])
    assert session.read("references/r.md").content == "reference of b\n"
    assert session.read("references/r.md", skill="a").content == "reference of a\n"
    with pytest.raises(SkillStateError):
        session.read("SKILL.md", skill="c")
    assert SkillSession(catalog).read("SKILL.md", skill="c").content.startswith("---\nname: c\n")


@pytest.mark.row("S1-41", "S1-42", "S1-43", "V1-10", "S0-95", "S0-13")
def test_text_and_binary(catalog: SkillCatalog) -> None:
    session = SkillSession(catalog)
    session.load(["a"])
    content = session.read("assets/logo.png")
    assert (content.encoding, content.mime_type, content.content) == (
        "base64",
        "image/png",
        "iVBORw0KGgoA/w==",
    )
    described = SkillSession(catalog, rules=ReadingRules(binary="describe")).read(
        "assets/logo.png", "a"
    )
    assert (described.encoding, described.size, described.content) == ("none", len(PNG), "")
    with pytest.raises(SkillPathError):
        SkillSession(catalog, rules=ReadingRules(binary="error")).read("assets/logo.png", "a")


@pytest.mark.row(
    "S0-65", "S0-66", "S0-68", "S0-88", "V0-9", "V0-10", "V0-11", "V0-12", "V1-11", "S4-26", "V4-11"
)
@pytest.mark.parametrize(
    "path", [*BAD_PATHS, "nope", "references", "references/nope", "%2e%2e/x", "b/SKILL.md"]
)
def test_paths_that_are_refused(catalog: SkillCatalog, path: str) -> None:
    with Sandbox() as sandbox:
        session = SkillSession(catalog, sandbox)
        session.load(["a"])
        for operation in (session.read, session.run_script):
            with pytest.raises(SkillPathError) as caught:
                operation(path)
            assert "reference of" not in str(caught.value)


@pytest.mark.parametrize("name", ["../a", "/a", "", ".", "a/b", "a\0", "~", "A B"])
def test_names_that_are_refused(catalog: SkillCatalog, name: str) -> None:
    session = SkillSession(catalog)
    with pytest.raises(SkillNotFoundError):
        session.load([name])
    with pytest.raises(SkillNotFoundError):
        session.read("SKILL.md", skill=name)


@pytest.mark.row("V0-13", "S0-67")
def test_links_are_followed_inside_only(tmp_path: Path) -> None:
    from agentsandbox.skills.sources.files import SkillFile

    files = [
        SkillFile("SKILL.md", b"---\nname: l\ndescription: d\n---\n"),
        SkillFile("dir/x", b"found"),
        SkillFile("ok", b"", link="dir/x"),
        SkillFile("deep/up", b"", link="../dir"),
        SkillFile("loop", b"", link="loop"),
        SkillFile("out", b"", link="../../etc/passwd"),
        SkillFile("abs", b"", link="/etc/passwd"),
    ]
    session = SkillSession(SkillCatalog(skills=[AgentSkill(files)]))
    assert session.read("ok", "l").content == "found"
    assert session.read("deep/up/x", "l").content == "found"
    for path in ("loop", "out", "abs", "loop/x"):
        with pytest.raises(SkillPathError) as caught:
            session.read(path, "l")
        assert caught.value.reason in ("symlink_escape", "not_found")


@pytest.mark.row("S0-15", "S0-47", "S0-48", "S0-69", "V0-22", "V0-23", "V0-24")
def test_sizes(catalog: SkillCatalog) -> None:
    skill = make("big", text="x" * 100, tail="äöü" * 10)
    session = SkillSession(
        SkillCatalog(skills=[skill]),
        rules=ReadingRules(max_resource_bytes=40, hard_resource_bytes=80),
    )
    with pytest.raises(SkillLimitError):
        session.read("text", "big")
    content = session.read("tail", "big")
    assert content.truncated
    assert content.content == "äöü" * 6 + "äö\n[truncated: resource; 20 bytes removed]"
    strict = SkillSession(
        SkillCatalog(skills=[skill]), rules=ReadingRules(max_resource_bytes=40, overflow="error")
    )
    with pytest.raises(SkillLimitError):
        strict.read("tail", "big")


@pytest.mark.row("S0-59")
def test_the_readable_area_can_be_narrowed(catalog: SkillCatalog) -> None:
    session = SkillSession(catalog, rules=ReadingRules(resource_scope="references_assets"))
    assert session.read("references/r.md", "a").content
    with pytest.raises(SkillPathError):
        session.read("scripts/run.sh", "a")


@pytest.mark.row("S4-24", "S4-28", "V4-12")
def test_paging() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 6))
    assert page_lines(text, 2, 2) == "2\tline 2\n3\tline 3"
    assert page_lines("x" * 2000, None, None) == "1\t" + "x" * 1024 + "... [truncated]"
    for offset, limit, message in (
        (0, None, r"Offset must be positive \(got 0\)"),
        (6, None, "Offset 6 is beyond"),
        (1, 0, "Limit"),
    ):
        with pytest.raises(SkillLimitError, match=message):
            page_lines(text, offset, limit)
    with pytest.raises(SkillLimitError, match=r"Output would exceed 1000 lines\."):
        page_lines("x\n" * 1001, None, None)
    with pytest.raises(SkillLimitError, match=r"Output would exceed 16384 bytes\."):
        page_lines(("x" * 1000 + "\n") * 17, None, None)


@pytest.mark.row("S0-11", "S1-13", "V0-31")
def test_what_is_kept_is_names(session: SkillSession, catalog: SkillCatalog) -> None:
    session.load(["b", "a"])
    state = session.to_dict()
    assert state == {"session_id": session.id, "active_skills": ["b", "a"]}
    kept = json.loads(json.dumps(session.to_dict(include_digests=True)))
    other = SkillSession(catalog)
    assert other.restore(kept) == ()
    assert other.active == ("b", "a")
    kept["active_skills"].append("gone")
    kept["active_skill_digests"]["a"] = "sha256:0"
    assert other.restore(kept) == ("gone", "a")


@pytest.mark.row("S1-10", "S1-11", "S1-21", "V1-16")
def test_sessions_share_nothing(catalog: SkillCatalog) -> None:
    first, second = SkillSession(catalog), SkillSession(catalog)
    first.load(["a"])
    assert second.active == ()
    assert first.id != second.id


def test_a_changed_skill_is_stale(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "SKILL.md").write_text("---\nname: x\ndescription: d\n---\nold")
    catalog = SkillCatalog.discover(tmp_path)
    session = SkillSession(catalog)
    session.load(["x"])
    assert not session.stale("x")
    (tmp_path / "x" / "SKILL.md").write_text("---\nname: x\ndescription: d\n---\nnew text")
    catalog.refresh()
    assert session.stale("x")
    assert session.receipt()["active_skills"][0]["stale"]
    assert "old" in str(session.render_active())
    session.load(["x"])
    assert "new text" in str(session.render_active())
    (tmp_path / "x" / "SKILL.md").unlink()
    catalog.refresh()
    assert session.stale("x")
    assert session.read("SKILL.md").content


@pytest.mark.row(
    "S1-14",
    "S1-16",
    "S1-18",
    "S1-23",
    "S1-28",
    "S1-51",
    "S1-52",
    "S1-53",
    "V1-13",
    "V1-14",
    "V1-15",
)
def test_turn_by_turn(session: SkillSession) -> None:
    first = session.system_prompt()
    assert "MUST call `skills_load`" in first
    assert "<available_skills>" in first
    assert "<active_skills>" not in first
    session.load(["a"])
    second = session.system_prompt()
    assert "<available_skills>" in second
    assert "# Body of a" in second
    session.load(["b"])
    third = session.system_prompt()
    assert "# Body of b" in third
    assert "# Body of a" not in third


@pytest.mark.row("S1-44", "S1-47", "S1-48", "V1-12", "V0-14")
def test_scripts(catalog: SkillCatalog) -> None:
    with Sandbox() as sandbox:
        session = SkillSession(catalog, sandbox)
        session.load(["a", "b"])
        sandbox.fs.makedirs("/workspace/sub")
        result = session.run_script(
            "scripts/run.sh", ["one", "two words"], skill="a", env={"KEY": "VALUE"}, workdir="sub"
        )
        assert (result.path, result.exit_code) == ("/.sandbox/skills/a/scripts/run.sh", 3)
        assert (result.stdout, result.stderr) == ("VALUE one two words\n/workspace/sub\n", "err\n")
        assert session.run_script("run").stdout == "b /.sandbox/skills/b/run\n"
        assert sandbox.execute('pwd; echo "[$KEY$SKILL_ROOT]"').stdout == "/workspace\n[]\n"


@pytest.mark.row("S1-45", "S1-46", "V1-12")
def test_a_script_without_an_interpreter(catalog: SkillCatalog) -> None:
    with Sandbox() as sandbox:
        result = SkillSession(catalog, sandbox).run_script("scripts/tool.py", skill="b")
        assert (result.exit_code, result.stderr) == (126, "no interpreter registered for '.py'\n")
        session = SkillSession(catalog, sandbox, interpreters={".py": "cat"})
        assert session.run_script("scripts/tool.py", skill="b").stdout == "print('hi')\n"


def test_what_a_script_changed_and_its_undoing(catalog: SkillCatalog) -> None:
    skill = make("w", **{"run.sh": "echo new > made; echo more >> old; rm gone\n"})
    with Sandbox(files={"/workspace/old": "1\n", "/workspace/gone": "x"}) as sandbox:
        result = SkillSession(SkillCatalog(skills=[skill]), sandbox).run_script("run.sh", skill="w")
        assert result.exit_code == 0
        assert [(change.path, change.kind, change.size) for change in result.changes] == [
            ("/workspace/gone", "deleted", 0), ("/workspace/made", "added", 4),
             ("/workspace/old", "modified", 7),
        ]  # fmt: skip
        result.rollback()
        assert sandbox.execute("ls; cat old").stdout == "gone\nold\n1\n"
        assert (
            result.changes[2].diff()
            == "--- a/workspace/old\n+++ b/workspace/old\n@@ -1 +1,2 @@\n 1\n+more\n"
        )


def test_secrets_are_for_their_skill_alone() -> None:
    probe = {"run.sh": 'echo "[$TOKEN]"\n'}
    with Sandbox() as sandbox:
        session = SkillSession(
            SkillCatalog(skills=[make("x", **probe), make("y", **probe)]),
            sandbox,
            secrets={"x": {"TOKEN": "s3cret"}},
        )
        assert (
            session.run_script("run.sh", skill="x", env={"TOKEN": "other"}).stdout == "[s3cret]\n"
        )
        assert session.run_script("run.sh", skill="y").stdout == "[]\n"
        assert "TOKEN" not in sandbox.env


@pytest.mark.row("S2-3", "S2-33")
def test_the_shell_knows_the_skills_that_a_session_mounted(catalog: SkillCatalog) -> None:
    with Sandbox() as sandbox:
        session = SkillSession(catalog, sandbox)
        sandbox.execute("cd /tmp")
        session.load(["b"])
        assert sandbox.execute("/.sandbox/skills/b/run").stdout == "b /.sandbox/skills/b/run\n"
        assert (
            "did you mean /.sandbox/skills/b/scripts/tool.py"
            in sandbox.execute("sh scripts/tool.py").stderr
        )
        assert [info.name for info in sandbox.get_mounted_skills()] == ["b"]
        twin = sandbox.fork()
        assert twin.execute("cd /; .sandbox/skills/b/run").exit_code == 0
        sandbox.execute("mkdir -p /elsewhere")
        assert sandbox.mount_skill(SKILLS[0], "/elsewhere/a") == "/elsewhere/a"
        assert sandbox.execute("echo x > /elsewhere/a/SKILL.md").exit_code == 1
        assert sandbox.mount_skill(SKILLS[1]) == "/.sandbox/skills/b"


@pytest.mark.parametrize(
    "trick",
    [
        (
            "mkdir -p /.sandbox/skills/a/scripts; echo 'echo stolen $KEY' > "
            "/.sandbox/skills/a/scripts/run.sh"
        ),
        (
            "mkdir -p /tmp/mine/skills/a/scripts; echo 'echo stolen $KEY' > "
            "/tmp/mine/skills/a/scripts/run.sh; ln -s /tmp/mine /.sandbox"
        ),
        "mkdir /.sandbox",
        ": > /.sandbox",
    ],
)
def test_an_agents_files_do_not_pass_for_a_skill(catalog: SkillCatalog, trick: str) -> None:
    with Sandbox() as sandbox:
        assert sandbox.execute(trick).exit_code == 0
        session = SkillSession(catalog, sandbox, secrets={"a": {"KEY": "s3cret"}})
        session.load(["a"])
        sandbox.execute(
            "mv /.sandbox /.other; rm -rf /.sandbox; ln -sfn /tmp/mine /.sandbox; "
            "mv /.sandbox/skills /.sandbox/old"
        )
        assert session.run_script("scripts/run.sh", ["x"]).stdout == "s3cret x\n/workspace\n"
        assert sandbox.execute("test -e /.sandbox.1").exit_code == 0


@pytest.mark.parametrize(
    "trick",
    [
        "sh() { env; }",
        "git() { env; }; export -f git",
        "mkdir /tmp/b; echo env > /tmp/b/git; chmod +x /tmp/b/git; export PATH=/tmp/b:$PATH",
        "echo env > /tmp/e; export BASH_ENV=/tmp/e ENV=/tmp/e",
        "export PS4='$(env >&2)'; set -x; export SHELLOPTS",
        "trap env DEBUG; set -T",
        "shopt -s extdebug; trap env DEBUG",
        "hash -p /tmp/q sh; echo env > /tmp/q; chmod +x /tmp/q",
        "shopt -s expand_aliases; alias sh=env",
        "command_not_found_handle() { env; }; export -f command_not_found_handle",
        "exec > /tmp/out",
        "exec 3>&1 1>&2",
        "readonly KEY=mine",
        "declare -n KEY=OTHER",
        "declare -i SKILL_ROOT; readonly SKILL_NAME=mine",
        "declare -n SKILL_NAME='a[$(env)]'",
        "while :; do cat /proc/*/environ; done > /tmp/out &",
    ],
)
def test_nothing_that_ran_before_sees_a_secret(trick: str) -> None:
    skill = make(
        "own",
        **{
            "x.sh": (
                'git status\nsleep 0.01\nset -o history\nhistory -s "$KEY"\n'
                '[ "$KEY$SKILL_NAME" = s3cretown ] && echo done\n'
            )
        },
    )
    with Sandbox() as sandbox:
        session = SkillSession(
            SkillCatalog(skills=[skill]), sandbox, secrets={"own": {"KEY": "s3cret"}}
        )
        sandbox.execute(trick)
        result = session.run_script("x.sh", skill="own")
        after = sandbox.execute(
            "cat /tmp/out; env; set; declare -p; history; cat /proc/*/environ; jobs; kill %1"
        )
        assert "s3cret" not in result.stdout + result.stderr + after.stdout + after.stderr


def test_what_a_model_sets_does_not_steer_a_script_with_secrets() -> None:
    skill = make("own", **{"x.sh": 'echo "$MORE$KEY"\n'})
    with Sandbox() as sandbox:
        session = SkillSession(
            SkillCatalog(skills=[skill]), sandbox, secrets={"own": {"KEY": "s3cret"}}
        )
        for name in ("PATH", "BASH_ENV", "IFS", "SKILL_ROOT", "SHELLOPTS"):
            with pytest.raises(SkillPolicyError, match=f"{name} cannot be set"):
                session.run_script("x.sh", skill="own", env={name: "/tmp"})
        assert (
            session.run_script("x.sh", skill="own", env={"MORE": "a ", "KEY": "other"}).stdout
            == "a s3cret\n"
        )
        plain = SkillSession(session.catalog, sandbox)
        assert (
            plain.run_script("x.sh", skill="own", env={"MORE": "a", "PATH": "/bin"}).stdout == "a\n"
        )


def test_secrets_are_not_given_to_files_that_were_changed() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(
            "mkdir -p /skills/own; cd /skills/own; printf -- '---\nname: own\n"
            "description: d\n---\n' > SKILL.md; echo 'echo $KEY' > x.sh"
        )
        session = SkillSession(
            SkillCatalog.discover(VirtualSkills(sandbox.fs, "/skills")),
            sandbox,
            secrets={"own": {"KEY": "s3cret"}},
        )
        session.load(["own"])
        assert session.run_script("x.sh").stdout == "s3cret\n"
        sandbox.execute("echo 'echo stolen $KEY' > x.sh")
        with pytest.raises(SkillPolicyError, match="not the skill's own file"):
            session.run_script("x.sh")


@pytest.mark.row("S0-14", "S0-71", "V0-15")
def test_scripts_can_be_off(catalog: SkillCatalog) -> None:
    with Sandbox() as sandbox:
        session = SkillSession(catalog, sandbox, scripts="off")
        with pytest.raises(SkillPolicyError):
            session.run_script("scripts/run.sh", skill="a")
        assert session.read("scripts/run.sh", "a").content.startswith("echo")
        for env in ({"A=B": "x"}, {"": "x"}, {"A": "x\0"}):
            with pytest.raises(SkillPolicyError):
                SkillSession(catalog, sandbox).run_script("scripts/run.sh", skill="a", env=env)


@pytest.mark.row("S0-77")
def test_events(catalog: SkillCatalog) -> None:
    told: list[Any] = []
    session = SkillSession(catalog, on_event=told.append)
    session.load(["a"])
    session.read("references/r.md")
    session.unload(all=True)
    seen = [(event.action, event.skill, event.path) for event in told]
    assert seen == [("load", "a", None), ("read", "a", "references/r.md"), ("unload", "a", None)]


@pytest.mark.row("S1-22", "S1-6")
def test_the_prompt_says_where_the_sandbox_has_a_skill(catalog: SkillCatalog) -> None:
    with Sandbox(skills=SKILLS[:1]) as sandbox:
        session = SkillSession(catalog, sandbox)
        places = [
            "<location>/.sandbox/skills/a/SKILL.md</location>",
            "<location>/.sandbox/skills/b/SKILL.md</location>",
        ]
        assert [place in session.system_prompt() for place in places] == [True, False]
        session.load(["b"])
        assert [place in session.system_prompt() for place in places] == [True, True]
        for name in "ab":
            assert sandbox.execute(f"cat {session.places()[name]}/SKILL.md").exit_code == 0
    assert "<location>" not in SkillSession(catalog).system_prompt()


def test_the_commands_of_instructions_have_time_and_room_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentsandbox.skills.session.session.COMMAND_SECONDS", 0.5)
    slow = "\n".join(["- !`sleep 0.2; echo ran`"] * 20)
    loud = "\n".join(["- !`head -c 30000 /dev/zero | tr '\\0' x`"] * 20)
    with Sandbox() as sandbox:
        for body, least, most in ((slow, 1, 3), (loud, 2, 2)):
            skill = AgentSkill.from_files(
                {"SKILL.md": f"---\nname: s\ndescription: d\n---\n{body}\n"}
            )
            session = SkillSession(SkillCatalog(skills=[skill]), sandbox, run_commands=True)
            text = session.body("s")
            assert least <= 20 - text.count("[not run: ") <= most
            assert len(text) < 60_000


def test_every_error_is_of_one_family() -> None:
    for error in (
        SkillNotFoundError,
        SkillPathError,
        SkillLimitError,
        SkillStateError,
        SkillPolicyError,
    ):
        assert issubclass(error, SkillError)


@pytest.mark.row("S0-72", "S0-82")
def test_allowed_tools_are_enforced_on_what_really_runs() -> None:
    attacks = [
        "rm f", "command rm f", "exec rm f", "/bin/rm f", "x=rm; $x f", "eval 'rm f'",
        "sh -c 'rm f'", "echo f | xargs rm", "env rm f",
        "find . -name f -exec rm {} ';'", "find . -name f -delete", "echo $(rm f)", "(rm f) & wait",
        "trap 'rm f' EXIT", "g() { rm f; }; g",
        "rm() { command rm f; }; rm", "cp /bin/rm ./jq; chmod +x jq; ./jq f",
        "ln -s /bin/rm jq; ./jq f", "hash -p /bin/rm jq; jq f",
        "alias jq=rm; shopt -s expand_aliases; eval 'jq f'", "command -p rm f",
        "printf 'rm f' | sh", "coproc rm f; wait", "cat <(rm f)",
    ]  # fmt: skip
    for attack in attacks:
        text = (
            "---\nname: n\ndescription: d\nallowed-tools: Bash(jq:*, cp:*, ln:*, chmod:*) Read "
            "Glob\n---\n"
        )
        skill = AgentSkill.from_files({"SKILL.md": text, "run.sh": f"set +e\n{attack}\ncat f\n"})
        with Sandbox(files={"/workspace/f": "kept\n"}) as sandbox:
            session = SkillSession(SkillCatalog(skills=[skill]), sandbox, allowed_tools="enforce")
            result = session.run_script("run.sh", skill="n")
            assert sandbox.fs.exists("/workspace/f"), attack
            assert "allowed tools" in result.stderr, (attack, result)
            assert sandbox.execute("rm f").exit_code == 0


def test_words_of_one_reader_are_harmless_to_another() -> None:
    allowed = AllowedTools(["Read", "Grep", "Glob"])
    for harmless in (
        ["grep", "-o", "x", "f"],
        ["find", ".", "-name", "a", "-o", "-name", "b"],
        ["ls", "-lo"],
        ["tree", "-a", "--noreport"],
    ):
        assert allowed.refusal(harmless) is None
    for writing in (
        ["tree", "-ao", "f"],
        ["tree", "-of"],
        ["tree", "--output=f"],
        ["find", "-fprint", "f"],
        ["find", ".", "-delete"],
    ):
        assert allowed.refusal(writing) is not None


@pytest.mark.parametrize(
    "call",
    [
        '"$SKILL_ROOT"/y',
        "cd $SKILL_ROOT; ./y",
        "sh $SKILL_ROOT/y",
        "bash -c $SKILL_ROOT/y",
        "$SKILL_ROOT/../n/y",
    ],
)
def test_a_skill_runs_its_own_scripts(call: str) -> None:
    files = {"x.sh": f"set +e\n{call}\n", "y": "#!/bin/sh\nset +e\necho ran\ntouch /tmp/f\n"}
    with Sandbox() as sandbox:
        session = SkillSession(
            SkillCatalog(skills=[make("n", **files)]), sandbox, allowed_tools="enforce"
        )
        result = session.run_script("x.sh", skill="n")
        assert result.stdout == "ran\n"
        assert "touch: not among the skill's allowed tools" in result.stderr
        sandbox.execute(
            "cp /.sandbox/skills/n/y /tmp/y; mkdir -p /tmp/.sandbox/skills/n; "
            "cp /tmp/y /tmp/.sandbox/skills/n"
        )
        for other in (
            "/tmp/y",
            "cd /tmp/.sandbox/skills/n; ./y",
            "$SKILL_ROOT/../../../tmp/y",
            "cp /bin/touch /tmp/t; /tmp/t /tmp/f",
        ):
            refused = SkillSession(
                SkillCatalog(skills=[make("m", **{"x.sh": f"set +e\n{other}\n"})]),
                sandbox,
                allowed_tools="enforce",
            )
            assert refused.run_script("x.sh", skill="m").stdout == ""


def test_an_interpreter_runs_the_skills_own_files_alone() -> None:
    files = {
        "run.py": "mine\n",
        "run.sh": (
            'set +e\ncat "$SKILL_ROOT/run.py"\ncat "$SKILL_ROOT/../../../workspace/f"\ncat f\n'
            "cat - < f\n"
        ),
    }
    with Sandbox(files={"/workspace/f": "yours\n"}) as sandbox:
        session = SkillSession(
            SkillCatalog(skills=[make("n", **files)]),
            sandbox,
            allowed_tools="enforce",
            interpreters={".py": "cat", ".sh": "sh"},
        )
        assert session.run_script("run.py", skill="n").stdout == "mine\n"
        result = session.run_script("run.sh", skill="n")
        assert result.stdout == "mine\n"
        assert result.stderr.count("allowed tools") == 3


@pytest.mark.parametrize(
    "call",
    [
        "cat -n/../../../.sandbox/skills/n/run.py",  # an option, not a path
        "cat /workspace/l/../.sandbox/skills/n/run.py",  # elsewhere, through a link
        "cat /workspace/n/run.py",  # a copy
        "cat /workspace/nope/../../.sandbox/skills/n/run.py",  # no such directory
    ],
)
def test_what_only_looks_like_the_skills_own_script(call: str) -> None:
    files = {"run.py": "mine\n", "run.sh": f"set +e\n{call}\n"}
    made = {"/workspace/n/run.py": "evil\n", "/tmp/d/.sandbox/skills/n/run.py": "evil\n"}
    with Sandbox(files=made) as sandbox:
        sandbox.execute("mkdir -p /tmp/d/sub; ln -s /tmp/d/sub /workspace/l")
        session = SkillSession(
            SkillCatalog(skills=[make("n", **files)]),
            sandbox,
            allowed_tools="enforce",
            interpreters={".py": "cat", ".sh": "sh"},
        )
        result = session.run_script("run.sh", skill="n")
        assert result.stdout == ""
        assert "allowed tools" in result.stderr


def test_a_link_leads_out_of_what_may_be_read() -> None:
    text = "---\nname: n\ndescription: d\nallowed-tools: Read(/data/**)\n---\n"
    run = "set +e\ncat /data/a\ncat /data/l/b\n"
    skill = AgentSkill.from_files({"SKILL.md": text, "run.sh": run})
    with Sandbox(files={"/data/a": "a\n", "/other/b": "b\n"}) as sandbox:
        sandbox.fs.symlink("/other", "/data/l")
        session = SkillSession(SkillCatalog(skills=[skill]), sandbox, allowed_tools="enforce")
        assert session.run_script("run.sh", skill="n").stdout == "a\n"


def test_allowed_tools_may_only_warn() -> None:
    skill = make("w", **{"run.sh": "rm -f f\necho done\n"})
    with Sandbox() as sandbox:
        session = SkillSession(SkillCatalog(skills=[skill]), sandbox, allowed_tools="warn")
        assert session.run_script("run.sh", skill="w").stdout == "done\n"
        assert session.warnings == ["w: rm: not among the skill's allowed tools: none"]
        strict = SkillSession(
            SkillCatalog(skills=[skill]), sandbox, allowed_tools="enforce", script_allowlist=["w"]
        )
        assert strict.run_script("run.sh", skill="w").exit_code == 0
        refused = SkillSession(
            SkillCatalog(skills=[skill]), sandbox, allowed_tools="enforce"
        ).run_script("run.sh", skill="w")
        assert refused.exit_code == 126
        assert refused.stdout == ""


@pytest.mark.row("S0-7", "S0-90", "V0-3", "V0-16")
def test_explicit_invocation() -> None:
    skill = AgentSkill.from_package("skills_embedded", "skills-system-validation")
    hidden = AgentSkill.from_files(
        {"SKILL.md": "---\nname: hidden\ndescription: d\nuser-invocable: false\n---\n"}
    )
    told: list[Any] = []
    session = SkillSession(SkillCatalog(skills=[skill, hidden]), on_event=told.append)
    text = str(
        session.invoke(
            "/skills-system-validation validate that skills.activate and skills.readResource work"
        )
    )
    assert "AGENTSANDBOX_SKILL_BODY_v1" in text
    assert "ARGUMENTS: validate that skills.activate and skills.readResource work" in text
    assert session.active == ("skills-system-validation",)
    session.read("references/REFERENCE.md")
    assert [(event.action, event.path) for event in told] == [
        ("load", None),
        ("read", "references/REFERENCE.md"),
    ]
    assert session.invoke("/hidden x") is None
    assert session.invoke("please /skills-system-validation") is None


def test_commands_in_instructions_run_in_the_sandbox_when_allowed() -> None:
    text = (
        "---\nname: c\ndescription: d\nallowed-tools: Read\n---\n"
        "Here: !`echo $SKILL_NAME; rm -f /workspace/f` $0"
    )
    skill = AgentSkill.from_files({"SKILL.md": text})
    with Sandbox(files={"/workspace/f": "x"}, skills=[skill]) as sandbox:
        assert (
            sandbox.skills.body("c", "!`id`")
            == "Here: !`echo $SKILL_NAME; rm -f /workspace/f` !`id`"
        )
        session = SkillSession(
            SkillCatalog(skills=[skill]), sandbox, run_commands=True, allowed_tools="enforce"
        )
        shown = session.body("c", "!`id`")
        assert shown.startswith("Here: c\nbash: line 1: rm: not among")
        assert shown.endswith("[exit status 126] !`id`")
        assert sandbox.fs.exists("/workspace/f")


def test_the_sandboxes_own_session() -> None:
    with Sandbox(skills=SKILLS, skills_mount_path="/s") as sandbox:
        sandbox.skills.load(["a"])
        assert sandbox.skills.receipt()["active_skills"][0]["location"] == "/s/a/SKILL.md"
        assert sandbox.skills.run_script("scripts/run.sh").path == "/s/a/scripts/run.sh"
        assert sandbox.fork().skills.active == ()


def test_a_relative_script_is_looked_for_in_the_skill_at_work() -> None:
    probe = {"scripts/go.sh": "echo went\n"}
    with Sandbox(skills=[make("x", **probe), make("y", **probe)]) as sandbox:
        assert (
            "did you mean" not in sandbox.execute("sh scripts/go.sh").stderr
        )  # either could be meant
        session = SkillSession(
            SkillCatalog(skills=[make("x", **probe), make("y", **probe)]), sandbox
        )
        session.load(["y"])
        assert (
            "did you mean /.sandbox/skills/y/scripts/go.sh ?"
            in sandbox.execute("sh scripts/go.sh").stderr
        )
        session.load(["x"])
        assert (
            "did you mean /.sandbox/skills/x/scripts/go.sh ?"
            in sandbox.execute("./scripts/go.sh").stderr
        )
