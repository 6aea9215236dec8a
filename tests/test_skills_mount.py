"""Skills in a sandbox: where they are, what may be done to them, how their scripts run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentsandbox import AgentSkill, Sandbox, SandboxOptions
from agentsandbox.errors import InvalidSkillError

HEAD = (
    "---\nname: test-skill\ndescription: Test skill for unit tests\n---\n# Test Skill\n\n"
    "## When to use this skill\n\nIn tests.\n"
)
ROOT = "/.sandbox/skills/test-skill"


def test_skill(**files: str | bytes) -> AgentSkill:
    return AgentSkill.from_files(
        {"SKILL.md": HEAD, "scripts/hello.sh": "echo Hello from skill\n", **files}
    )


test_skill.__test__ = False  # type: ignore[attr-defined]


def script(text: str, call: str = "sh s.sh", **options: object) -> tuple[str, str, int]:
    """What running a script file gives."""
    with Sandbox(files={"/workspace/s.sh": text}, **options) as sandbox:  # type: ignore[arg-type]
        result = sandbox.execute(call)
        return result.stdout, result.stderr, result.exit_code


@pytest.mark.row("S2-20", "V2-1")
def test_no_skills_no_directory() -> None:
    with Sandbox() as sandbox:
        assert sandbox.get_mounted_skills() == ()
        assert not sandbox.fs.exists("/.sandbox")


@pytest.mark.row("S2-1", "S2-11", "S2-16", "S2-17", "S2-18", "S2-24", "S2-45", "V2-2", "V2-3")
def test_a_mounted_skill(tmp_path: Path) -> None:
    folder = tmp_path / "test-skill"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(HEAD)
    (folder / "scripts" / "hello.sh").write_text("echo Hello from skill\n")
    with Sandbox(skills=[AgentSkill.from_path(folder)]) as sandbox:
        (info,) = sandbox.get_mounted_skills()
        assert (info.name, info.mount_path) == ("test-skill", ROOT)
        assert info.description == info.metadata.description == "Test skill for unit tests"
        assert info.metadata.instructions is not None
        assert "When to use this skill" in info.metadata.instructions


@pytest.mark.row("S2-3", "S2-6", "V2-4", "V2-5", "V2-6", "S2-4")
def test_the_shell_sees_files() -> None:
    with Sandbox(skills=[test_skill()]) as sandbox:
        text = sandbox.execute(f"cat {ROOT}/SKILL.md").stdout
        assert "Test Skill" in text
        assert "name: test-skill" in text
        assert sandbox.execute(f"ls {ROOT}").stdout == "SKILL.md\nscripts\n"
        result = sandbox.execute(f"sh {ROOT}/scripts/hello.sh")
        assert (result.exit_code, result.stdout) == (0, "Hello from skill\n")


@pytest.mark.row("S2-24", "V2-7")
def test_several_skills_in_their_order() -> None:
    other = AgentSkill.from_files({"SKILL.md": "---\nname: a-skill\ndescription: d\n---\n"})
    with Sandbox(skills=[test_skill(), other]) as sandbox:
        assert [info.name for info in sandbox.get_mounted_skills()] == ["test-skill", "a-skill"]
        assert (
            sandbox.execute(f"cat {ROOT}/SKILL.md /.sandbox/skills/a-skill/SKILL.md").exit_code == 0
        )


@pytest.mark.row("S2-18", "S2-22", "V2-8", "V2-11")
def test_another_mount_path_and_another_name() -> None:
    named = AgentSkill.from_files({"SKILL.md": HEAD}, name="override-name")
    with Sandbox(skills=[test_skill(), named], skills_mount_path="/custom/skills") as sandbox:
        assert [info.mount_path for info in sandbox.get_mounted_skills()] == [
            "/custom/skills/test-skill",
            "/custom/skills/override-name",
        ]
        assert not sandbox.fs.exists("/.sandbox")


@pytest.mark.row("S2-19", "V2-9")
def test_options_are_copied() -> None:
    skills = [test_skill(), test_skill().__class__.from_files({"SKILL.md": HEAD}, name="b")]
    options = SandboxOptions(skills=skills, skills_mount_path="/s")
    copy = options.clone()
    skills.clear()
    assert len(options.skills) == len(copy.skills) == 2
    assert copy.skills_mount_path == "/s"


def test_two_skills_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidSkillError, match="two skills are named 'test-skill'"):
        Sandbox(skills=[test_skill(), test_skill()])


@pytest.mark.parametrize("path", ["", "relative", "/", "/a/../b", "/a\0b"])
def test_bad_mount_paths_are_refused(path: str) -> None:
    with pytest.raises((InvalidSkillError, ValueError)):
        Sandbox(skills=[test_skill()], skills_mount_path=path)


@pytest.mark.row("S2-23", "S2-43", "V2-27")
def test_files_arrive_byte_for_byte() -> None:
    skill = test_skill(**{"assets\\.gitignore": "*.pyc\n", "assets/logo.bin": bytes(range(256))})
    with Sandbox(skills=[skill]) as sandbox:
        assert sandbox.execute(f"ls -A {ROOT}/assets").stdout == ".gitignore\nlogo.bin\n"
        assert sandbox.execute(f"cat {ROOT}/assets/logo.bin").stdout_bytes == bytes(range(256))
        assert sandbox.fs.read_bytes(f"{ROOT}/assets/logo.bin") == bytes(range(256))


@pytest.mark.row("S2-44")
@pytest.mark.parametrize(
    "attack",
    ["echo x > {}/SKILL.md", "rm -f {}/SKILL.md", "touch {}/new", "mkdir {}/d", "mv {} /tmp/x",
     "chmod 777 {}/SKILL.md", "ln -s /tmp {}/l",
     "sed -i s/a/b/ {}/SKILL.md", "rm -rf {}", "cp /etc/passwd {}/scripts/hello.sh",
     "echo x >> {}/SKILL.md", "rmdir {}/scripts"],
)  # fmt: skip
def test_the_mount_is_read_only(attack: str) -> None:
    with Sandbox(skills=[test_skill()]) as sandbox:
        before = sandbox.fs.read_bytes(f"{ROOT}/SKILL.md")
        result = sandbox.execute(attack.format(ROOT))
        assert result.exit_code != 0
        assert result.stderr
        assert sandbox.fs.read_bytes(f"{ROOT}/SKILL.md") == before
        assert sandbox.execute(f"sh {ROOT}/scripts/hello.sh").stdout == "Hello from skill\n"


@pytest.mark.row("S2-44")
def test_a_writable_mount_is_the_sandboxes_own_copy() -> None:
    skill = test_skill()
    with (
        Sandbox(skills=[skill], skills_writable=True) as first,
        Sandbox(skills=[skill], skills_writable=True) as second,
    ):
        assert (
            first.execute(f"echo mine > {ROOT}/SKILL.md; rm {ROOT}/scripts/hello.sh").exit_code == 0
        )
        assert first.fs.read_text(f"{ROOT}/SKILL.md") == "mine\n"
        assert second.fs.read_text(f"{ROOT}/SKILL.md") == HEAD
        assert second.execute(f"sh {ROOT}/scripts/hello.sh").exit_code == 0


def test_mounted_bytes_do_not_count() -> None:
    from agentsandbox import Limits

    skill = test_skill(big=b"x" * 100_000)
    with Sandbox(skills=[skill], limits=Limits(total_bytes=50_000, file_bytes=50_000)) as sandbox:
        assert sandbox.execute(f"wc -c < {ROOT}/big; echo x > y").stdout == "100000\n"


# Scripts


@pytest.mark.row("S2-27", "S2-28", "V2-17")
def test_positional_parameters() -> None:
    assert script(
        "echo $1 $2\necho $@\necho $#\necho $*\necho ${10}", "sh s.sh a b c d e f g h i j"
    )[0] == ("a b\na b c d e f g h i j\n10\na b c d e f g h i j\nj\n")


@pytest.mark.row("S2-29", "S2-30", "S2-32", "V2-15", "V2-16", "V2-23")
def test_lines_comments_and_the_shebang() -> None:
    assert script("echo Hello\necho World\n")[0] == "Hello\nWorld\n"
    assert script("#!/bin/sh\n# comment\n\n   # another\necho Hello\n\n\n")[0] == "Hello\n"


@pytest.mark.row("S2-31", "V2-18", "S2-46")
def test_a_script_stops_at_the_first_error() -> None:
    out, err, status = script("echo First\ncat /nonexistent\necho Second")
    assert (out, status) == ("First\n", 1)
    assert err == (
        "cat: /nonexistent: No such file or directory\n"
        "s.sh: line 2: stopped by status 1; set +e goes on (D-script-errexit)\n"
    )
    for call in ("sh s.sh", "./s.sh", "/workspace/s.sh"):
        assert script("false\necho Second", f"chmod +x s.sh; {call}")[0] == ""
    assert script("set +e\nfalse\necho Second")[0] == "Second\n"
    assert script("if false; then :; fi\nfalse || true\n! true\necho Second")[0] == "Second\n"
    assert script("false\necho Second", "bash s.sh")[0] == "Second\n"
    assert script("false\necho Second", script_errexit="never")[0] == "Second\n"


@pytest.mark.row("X-28")
def test_the_first_line_decides() -> None:
    bash = "#!/bin/bash\nfalse\necho 'a\\tb'"
    for call in ("./s.sh", "bash s.sh"):
        assert script(bash, f"chmod +x s.sh; {call}") == ("a\\tb\n", "", 0)
    assert script("#!/usr/bin/env bash\nfalse\necho on", "chmod +x s.sh; ./s.sh")[0] == "on\n"
    for first in ("#!/bin/sh", "#!/usr/bin/env sh", "# none"):
        assert script(f"{first}\nfalse\necho on", "chmod +x s.sh; ./s.sh")[::2] == ("", 1)
    assert script(bash, "sh s.sh")[0] == ""
    for call in ("./s.sh", "bash s.sh"):
        out, err, status = script(bash, f"chmod +x s.sh; {call}", script_errexit="always")
        assert (out, status) == ("", 1)
        assert "line 2: stopped by status 1; set +e goes on" in err
    assert script("#!/bin/bash -e\nfalse\necho on", "chmod +x s.sh; ./s.sh") == ("", "", 1)


@pytest.mark.row("X-28")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("exec 2> /dev/null\nfalse\necho on", 2),
        (". ./missing\necho on", 1),
        ("f() { false; echo on; }; f", 1),
        ("f() {\n  false\n  echo on\n}\nf", 2),
        ("printf 'false\\necho in' > lib\n. ./lib", 1),
        ("f() {\n  read x\n  read y\n  echo in\n}\necho | f | cat\necho on", 3),
        ("{\n  false\n  echo on\n} | cat", 2),
        ("for i in 1 2; do\n  false\ndone", 2),
        ("readonly r=1\nr=2\necho on", 2),
    ],
)
def test_a_stop_is_always_said(text: str, line: int) -> None:
    err = script(text)[1].splitlines()
    place = "lib" if "lib" in text else "s.sh"
    assert f"{place}: line {line}: stopped by status 1; set +e goes on (D-script-errexit)" in [
        message.removeprefix("./") for message in err
    ]
    assert len(err) == len(set(err))


@pytest.mark.row("X-28")
@pytest.mark.parametrize(
    "text",
    [
        "echo a\nfalse",
        "if true; then\n  false\nfi\n# end",
        "f() {\n  if true; then\n    false\n  fi\n}\nf",
        "case a in\n  a)\n    false\n    ;;\nesac",
        "{ echo a\n  false\n} | cat\necho on",
        "true && false",
        "( exit 3 )",
        "set -e\nfalse\necho on",
        "set +e\nfalse\nfalse",
        "exit 3\necho on",
    ],
)
def test_nothing_is_said_of_an_end_that_was_near(text: str) -> None:
    assert script(text)[1] == ""


@pytest.mark.row("S2-26", "V2-19")
def test_a_missing_script() -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute("sh /nope.sh")
        assert "No such file" in result.stderr
        assert result.exit_code == 127


@pytest.mark.row("S2-25", "V2-19")
def test_sh_without_a_script() -> None:
    with Sandbox() as sandbox:
        assert sandbox.execute("sh", stdin="echo from stdin").stdout == "from stdin\n"
        assert sandbox.execute("echo 'echo $#' | sh -s a b").stdout == "2\n"


@pytest.mark.row("V2-20")
def test_scripts_make_files() -> None:
    with Sandbox(
        files={"/workspace/s.sh": "mkdir /tmp/testdir\ntouch /tmp/testdir/file.txt\necho done"}
    ) as sandbox:
        assert sandbox.execute("sh s.sh").stdout == "done\n"
        assert sandbox.fs.is_file("/tmp/testdir/file.txt")


@pytest.mark.row("S2-33", "V2-21")
def test_direct_execution() -> None:
    files = {"/workspace/script.sh": "echo ran $1\n", "/scripts/test.sh": "echo test\n"}
    with Sandbox(files=files) as sandbox:
        sandbox.execute("chmod +x script.sh /scripts/test.sh")
        assert sandbox.execute("./script.sh").stdout == "ran\n"
        assert sandbox.execute("./script.sh myarg").stdout == "ran myarg\n"
        assert sandbox.execute("/scripts/test.sh").stdout == "test\n"


@pytest.mark.row("S2-33")
def test_scripts_of_skills_need_no_x_bit() -> None:
    with Sandbox(skills=[test_skill()]) as sandbox:
        assert sandbox.execute(f"{ROOT}/scripts/hello.sh").stdout == "Hello from skill\n"
        assert sandbox.execute(f"cd {ROOT}/scripts && ./hello.sh").stdout == "Hello from skill\n"


@pytest.mark.row("V2-22")
def test_a_scripts_parameters_are_its_own() -> None:
    assert script("set -- changed\nV=1", 'sh s.sh a b; echo "[$1]" "[$V]"')[0] == "[] []\n"


@pytest.mark.row("V2-23", "S2-53")
def test_nested_scripts_and_the_whole_grammar() -> None:
    outer = "echo Outer\nsh /inner.sh\nif true; then echo Done; else echo no; fi"
    with Sandbox(files={"/inner.sh": "echo Inner", "/workspace/s.sh": outer}) as sandbox:
        assert sandbox.execute("sh s.sh").stdout == "Outer\nInner\nDone\n"


@pytest.mark.row("S2-52")
def test_scripts_have_a_timeout() -> None:
    with Sandbox(files={"/workspace/s.sh": "echo before\nwhile :; do :; done"}) as sandbox:
        result = sandbox.execute("sh s.sh", timeout=0.2)
        assert (result.stdout, result.exit_code, result.limit) == ("before\n", 124, "timeout")
        assert sandbox.execute("echo alive").stdout == "alive\n"


def test_a_script_knows_where_it_is() -> None:
    probe = 'echo $0\necho "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\npwd\n'
    with Sandbox(skills=[test_skill(**{"scripts/where.sh": probe})]) as sandbox:
        out = sandbox.execute(f"sh {ROOT}/scripts/where.sh").stdout
        assert out == f"{ROOT}/scripts/where.sh\n{ROOT}/scripts\n/workspace\n"


# The conformance skill, and the others that ship


@pytest.mark.row("S0-83", "S0-84", "S0-85", "V0-14")
def test_the_conformance_skill() -> None:
    skill = AgentSkill.from_package("skills_embedded", "skills-system-validation")
    base = "/.sandbox/skills/skills-system-validation"
    with Sandbox(skills=[skill]) as sandbox:
        assert "REMCOCHAT_SKILLS_CONFORMANCE_REFERENCE_v1" in sandbox.fs.read_text(
            f"{base}/references/REFERENCE.md"
        )
        assert '"fixture_id": "skills-system-validation"' in sandbox.fs.read_text(
            f"{base}/assets/fixture.json"
        )
        result = sandbox.execute(f"sh {base}/scripts/echo.sh")
        assert (result.stdout, result.stderr, result.exit_code) == (
            "REMCOCHAT_SKILLS_SCRIPT_OK\n",
            "",
            0,
        )


EMBEDDED = Path(__file__).parents[1] / "skills_embedded"
CALLS = [
    (
        "python-dev",
        (
            "scaffold.sh weather-report && cat weather-report/pyproject.toml "
            "weather-report/src/weather_report/__init__.py"
        ),
    ),
    ("python-dev", "scaffold.sh Bad_Name"),
    ("python-dev", "scaffold.sh demo > /dev/null; sh {}/scripts/scaffold.sh demo"),
    ("python-dev", "scaffold.sh w > /dev/null; sh {}/scripts/check-pyproject.sh w/pyproject.toml"),
    ("python-dev", "check-pyproject.sh bad.toml"),
    ("python-dev", "outline.sh src"),
    ("python-dev", "todos.sh src"),
    ("python-dev", "changelog.sh 1.2.3 2024-05-06 log.md; cat log.md"),
    ("git-workflow", "check-branch.sh feat/login-form main Feature/x foo/bar feat/a_b 'a b'"),
    ("git-workflow", "check-message.sh good.txt"),
    ("git-workflow", "check-message.sh bad.txt"),
    ("git-workflow", "check-message.sh < good.txt"),
    ("git-workflow", "changelog.sh subjects.txt"),
    ("git-workflow", "check-tree.sh src"),
    ("git-workflow", "check-tree.sh leaks"),
]
FILES = {
    "bad.toml": '[project]\nname="x y"\nversion = "1.x"\ndependencies = [\n "a",\n "b>=1",\n]\n',
    "src/a.py": (
        'class A:\n    def run(self) -> None:\n        """TODO: run."""\n\n\n'
        "async def main():\n    pass  # FIXME: all\n"
    ),
    "src/b/c.py": "def f():\n    def g(): pass\n",
    "log.md": "# Changelog\n\n## Unreleased\n\n- One\n- Two\n\n## 1.0.0 (2023-01-01)\n\n- Old\n",
    "good.txt": (
        "feat(api)!: answer in JSON\n\nBecause clients ask for it: "
        "https://example.com/a/very/long/link/that/is/longer/than/the/line/may/be\n"
    ),
    "bad.txt": "Fixed stuff.\nmore\n",
    "subjects.txt": "abc1234 feat(ui): add button\nfix!: drop x\nmerge y\n\ndocs: z",
    "leaks/x.cfg": 'api_key = "0123456789abcdef"\n',
    "leaks/y.txt": "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n",
}


@pytest.mark.parametrize(
    ("skill", "call"),
    CALLS,
    ids=[call.split()[0] + str(number) for number, (_, call) in enumerate(CALLS)],
)
def test_embedded_scripts_do_as_in_real_bash(skill: str, call: str, tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    real = subprocess.run(
        ["bash", "-c", (
            f"sh() {{ bash \"$@\"; }}; "
            f"sh {EMBEDDED}/{skill}/scripts/{call.format(EMBEDDED / skill)}"
        )],
        cwd=tmp_path, capture_output=True, check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    files = {f"/workspace/{name}": content for name, content in FILES.items()}
    with Sandbox(
        skills=[AgentSkill.from_package("skills_embedded", skill)], files=files
    ) as sandbox:
        root = f"/.sandbox/skills/{skill}"
        result = sandbox.execute(f"sh {root}/scripts/{call.format(root)}")
    assert (result.stdout, result.stderr, result.exit_code) == (
        real.stdout.decode(),
        real.stderr.decode(),
        real.returncode,
    )


@pytest.mark.row("S2-51")
def test_a_sandbox_without_skills_loads_neither_pydantic_nor_yaml() -> None:
    probe = (
        "import sys, agentsandbox; agentsandbox.Sandbox().execute('echo hi'); "
        "print([name for name in ('pydantic', 'yaml', 'asyncio', 'regex', "
        "'importlib.resources') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


# Files beside skills


@pytest.mark.row("V2-14", "S2-20")
def test_files_and_folders_are_placed_too(tmp_path: Path) -> None:
    from agentsandbox.kernel.fs.host import HostFileSystem

    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "x.txt").write_text("from the host\n")
    files = {"/data/config.json": "{}", "/data/data/users.csv": b"id\n", "notes.txt": "relative\n"}
    with Sandbox(
        files=files, mounts={"/host": HostFileSystem(tmp_path)}, skills=[test_skill()]
    ) as sandbox:
        assert (
            sandbox.execute(
                "cat /data/data/users.csv /workspace/notes.txt /host/inner/x.txt"
            ).stdout
            == "id\nrelative\nfrom the host\n"
        )
        assert sandbox.execute("ls /data").stdout == "config.json\ndata\n"
