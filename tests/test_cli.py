"""The command line: what it writes, and its exit statuses."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentsandbox import Sandbox
from agentsandbox.cli.repl import Ending, as_exit, complete, needs_more

ROOT = Path(__file__).parents[1]
SKILLS = ROOT / "skills_embedded"


def cli(
    *arguments: str, stdin: bytes | None = b"", cwd: Path | None = None
) -> tuple[int, bytes, bytes]:
    ran = subprocess.run(
        [sys.executable, "-m", "agentsandbox", *arguments], input=stdin, capture_output=True,
         check=False, timeout=60, cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
    )  # fmt: skip
    assert b"Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


def refused(*arguments: str) -> str:
    """The message with which bad arguments are refused."""
    status, out, err = cli(*arguments)
    assert (status, out) == (2, b"")
    return err.decode().strip().splitlines()[-1]


# run


def test_run_passes_streams_and_status_on() -> None:
    assert cli("run", "echo out; echo err >&2; exit 3") == (3, b"out\n", b"err\n")
    assert cli("run", "printf '\\377\\0'") == (0, b"\xff\0", b"")
    assert cli("run", "no-such-command") == (
        127,
        b"",
        b"bash: line 1: no-such-command: command not found\n",
    )
    assert cli("run", "echo before\nif") == (
        2,
        b"before\n",
        b"bash: -c: line 3: syntax error: unexpected end of file\n",
    )


def test_run_gives_arguments_and_input() -> None:
    assert cli("run", 'echo "$# $1 $2"', "a b", "-n") == (0, b"2 a b -n\n", b"")
    assert cli("run", "cat; read x || echo none", stdin=b"1\n2\xff\n") == (
        0,
        b"1\n2\xff\nnone\n",
        b"",
    )


def test_run_reads_only_what_the_script_reads() -> None:
    """Standard input is often inherited: a pipe that nobody writes to and nobody closes."""
    read, write = os.pipe()
    words = [sys.executable, "-m", "agentsandbox", "run"]
    options = {
        "stdin": read,
        "capture_output": True,
        "timeout": 60,
        "check": False,
        "env": {**os.environ, "PYTHONPATH": str(ROOT)},
    }
    try:
        ran = subprocess.run([*words, "echo hi"], **options)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"hi\n", b"")
        os.write(write, b"one\ntwo\n")
        ran = subprocess.run([*words, "read x; echo got $x; read y; echo got $y"], **options)
        assert (ran.returncode, ran.stdout) == (0, b"got one\ngot two\n")
        ran = subprocess.run(
            [*words, "--timeout", "0.5", "(sleep 0.1; echo beside) & cat"], **options
        )
        assert (ran.returncode, ran.stdout) == (124, b"beside\n")
        os.write(write, b"3\n1\n2")
        os.close(write)
        ran = subprocess.run([*words, "read x; echo $x; sort"], **options)
        assert (ran.returncode, ran.stdout) == (0, b"3\n1\n2\n")
    finally:
        os.close(read)


def test_run_takes_a_file_or_standard_input(tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_bytes(b"#!/bin/bash\necho \"from a file: $1\" '\xc3\xa9\xff'\n")
    assert cli("run", "job.sh", "x", cwd=tmp_path) == (0, b"from a file: x \xc3\xa9\xff\n", b"")
    assert cli("run", stdin=b"echo piped; exit 5") == (5, b"piped\n", b"")
    assert cli("run", "-", stdin=b'echo "$1"') == (0, b"\n", b"")


def test_run_with_standard_input_closed() -> None:
    program = (
        "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, '-m', "
        "'agentsandbox', 'run', 'cat; echo hi'])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, cwd=ROOT, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"hi\n", b"")


def test_run_ends_when_nobody_reads() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "agentsandbox", "run", "yes"], stdin=subprocess.DEVNULL,
         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(4) == b"y\ny\n"
        process.stdout.close()
        assert process.wait(30) == 141
        assert process.stderr.read() == b""


def test_run_mounts_skills() -> None:
    script = (
        "sh /.sandbox/skills/git-workflow/scripts/check-branch.sh feat/x; "
        "echo x > /.sandbox/skills/git-workflow/SKILL.md"
    )
    status, out, err = cli(
        "run",
        "--skill",
        str(SKILLS / "git-workflow"),
        "--skill",
        str(SKILLS / "python-dev"),
        script,
    )
    assert (status, out) == (1, b"feat/x: ok\n")
    assert b"Read-only file system" in err


def test_run_mounts_a_folder_of_skills() -> None:
    assert cli("run", "--skill", str(SKILLS), "ls /.sandbox/skills") == (
        0,
        b"data-report\ngit-workflow\npython-dev\nskills-system-validation\n",
        b"",
    )


def test_an_interrupt_ends_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "agentsandbox", "run", "echo first; sleep 60"],
         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"first\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == b""


def test_run_mounts_folders(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("hello\n", encoding="utf-8")
    folder = str(tmp_path / "data")
    read_only = b"bash: line 1: /data/b: Read-only file system\n"
    assert cli("run", "--mount", f"{folder}:/data", "cat /data/a.txt; echo x > /data/b") == (
        1,
        b"hello\n",
        read_only,
    )
    assert cli("run", "--mount", f"{folder}:/data:ro", "echo x > /data/b")[0] == 1
    overlay = cli(
        "run", "--mount", f"{folder}:/data:overlay", "echo x > /data/b; rm /data/a.txt; ls /data"
    )
    assert overlay == (0, b"b\n", b"")
    assert sorted(os.listdir(folder)) == ["a.txt"]
    assert cli("run", "--mount", f"{folder}:/data:rw", "echo x > /data/b; ls /data") == (
        0,
        b"a.txt\nb\n",
        b"",
    )
    assert (tmp_path / "data" / "b").read_text(encoding="utf-8") == "x\n"


def test_run_chooses_which_script_files_stop_at_an_error() -> None:
    script = "printf 'false\\necho on\\n' > s; sh s 2> /dev/null; bash s"
    assert cli("run", script)[:2] == (0, b"on\n")
    assert cli("run", "--script-errexit", "never", script)[:2] == (0, b"on\non\n")
    assert cli("run", "--script-errexit", "always", script)[:2] == (1, b"")
    assert "invalid choice: 'some'" in refused("run", "--script-errexit", "some", "true")


def test_run_sets_limits_variables_and_directory() -> None:
    status, out, err = cli("run", "--limit", "timeout=0.3", "echo first; while :; do :; done")
    assert (status, out, err) == (
        124,
        b"first\n",
        b"sandbox: stopped by the limit 'timeout' (D-limit)\n",
    )
    assert cli("run", "--timeout", "0.3", "sleep 20")[0] == 124
    assert cli("run", "--limit", "output_bytes=100", "yes")[0::2] == (
        137,
        b"sandbox: stopped by the limit 'output_bytes' (D-limit)\n",
    )
    assert cli("run", "--env", "A=1=2", "--cwd", "/work/here", "echo $A; pwd") == (
        0,
        b"1=2\n/work/here\n",
        b"",
    )


def test_run_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    assert refused("run", "--limit", "speed=1", "x").startswith(
        "agentsandbox: there is no limit 'speed'; there are depth, "
    )
    assert (
        refused("run", "--limit", "steps=many", "x")
        == "agentsandbox: --limit steps takes a number, not 'many'"
    )
    assert (
        refused("run", "--limit", "steps=-1", "x")
        == "agentsandbox: Limits.steps must be positive and finite, not -1"
    )
    assert (
        refused("run", "--limit", "steps", "x")
        == "agentsandbox: --limit takes NAME=VALUE, not 'steps'"
    )
    assert refused("run", "--env", "A", "x") == "agentsandbox: --env takes NAME=VALUE, not 'A'"
    assert (
        refused("run", "--cwd", "here", "x")
        == "agentsandbox: cwd must be an absolute path, not 'here'"
    )
    assert refused("run", "--mount", f"{tmp_path}:data", "x").startswith(
        "agentsandbox: --mount takes HOST:PATH[:ro|overlay|rw]"
    )
    assert "'/b' and '/a' could show the same folder" in refused(
        "run", "--mount", f"{tmp_path}:/a", "--mount", f"{tmp_path}:/b:rw", "x"
    )
    assert (
        refused("run", "--mount", f"{tmp_path}:/a", "--mount", f"{tmp_path}:/a", "x")
        == "agentsandbox: --mount: two folders for /a"
    )
    assert (
        refused("run", "--mount", f"{tmp_path}/no:/data", "x")
        == f"agentsandbox: {tmp_path}/no: No such file or directory"
    )
    assert (
        refused("run", "--skill", f"{tmp_path}/no", "x")
        == f"agentsandbox: {tmp_path}/no: the skill directory 'no' does not exist"
    )
    assert refused("run", "--timeout", "nan", "x").endswith(
        "--timeout: must be positive and finite, not nan"
    )
    assert refused("run", "--timeout", "soon", "x").endswith(
        "--timeout: must be a number of seconds, not 'soon'"
    )
    assert (
        refused("run", "--env", "1A=2", "x")
        == "agentsandbox: --env: '1A' cannot be a variable's name"
    )
    assert "invalid choice: 'walk'" in refused("walk")


def test_without_a_command() -> None:
    status, out, err = cli()
    assert (status, out) == (2, b"")
    assert b"run a script and pass its exit status on" in err
    assert cli("--version") == (0, b"agentsandbox 0.3.0\n", b"")


# shell


def test_shell_reads_commands_from_a_pipe() -> None:
    script = b"x=1\nfor i in 1 2\ndo echo $i$x\ndone\ncd /tmp\npwd\ncat <<E\n$x\nE\nfalse\n"
    assert cli("shell", stdin=script) == (1, b"11\n21\n/tmp\n1\n", b"")
    assert cli("shell", stdin=b"echo a\nexit 4\necho b\n") == (4, b"a\n", b"")
    assert cli("shell", stdin=b"if true; then exit 3; fi\necho b\n") == (3, b"", b"")
    assert cli(
        "shell", stdin=b"trap 'echo bye' EXIT\nread x\nthis\necho got $x\nset -e\nfalse\necho no\n"
    ) == (1, b"got this\nbye\n", b"")
    assert cli("shell", stdin=b"") == (0, b"", b"")
    status, out, err = cli(
        "shell", "--limit", "timeout=0.5", stdin=b"echo a\nwhile :; do :; done\necho b\n"
    )
    assert (status, out, err) == (
        124,
        b"a\n",
        b"sandbox: stopped by the limit 'timeout' (D-limit)\n",
    )
    status, out, err = cli("shell", stdin=b"echo a\necho 'open\n")
    assert (status, out) == (2, b"a\n")
    assert b"unexpected EOF" in err


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("exit", 7), ("exit 300", 44), (" logout 2 ", 2), ("logout", 7), ("logout;", 7),
         ("exit $?", 7), ("exit $((1+2))", 3),
        ("exit x", 2), ("false || exit 4", 4), ("if true; then exit 5; fi", 5),
         ("f() { exit 6; }; f", 6), ("eval exit 3", 3),
        ("command exit 3", 3),
        ("echo a; exit", 0), ("trap 'echo bye' EXIT; exit 3", 3), ("{ exit 3; }", 3),
         ("while :; do exit 2; done", 2),
    ],
)  # fmt: skip
def test_what_ends_the_shell(text: str, status: int) -> None:
    with Sandbox() as sandbox:
        sandbox.execute("(exit 7)")
        ending = Ending()
        assert sandbox.execute(as_exit(text), on_command=ending).exit_code == status
        assert ending.reached


@pytest.mark.parametrize(
    "text",
    [
        "(exit 3)", "exit 3 | cat", "x=$(exit 3)", "bash -c 'exit 3'", "echo exit", "exited", "",
        "echo logout", "f() { exit; }",
        "exit 3 &", "cat <(exit 3)", "false && exit", "'exit 3'", "echo 'exit 3' > x.sh; sh x.sh",
        "logouts", "#exit",
    ],
)  # fmt: skip
def test_what_does_not_end_the_shell(text: str) -> None:
    with Sandbox() as sandbox:
        ending = Ending()
        sandbox.execute(as_exit(text), on_command=ending)
        assert not ending.reached


@pytest.mark.parametrize(
    "text",
    [
        "for i in 1 2",
        "echo 'a",
        "cat <<E",
        "a |",
        "f() {",
        "echo a \\",
        "echo $(ls",
        "if true; then",
    ],
)
def test_an_unfinished_command_goes_on(text: str) -> None:
    assert needs_more(text)


@pytest.mark.parametrize(
    "text", ["", "echo a", "cat <<E\nE\n", "cat <<E\nx\nE", "fi", "a | b", "f() { :; }"]
)
def test_a_finished_command_does_not(text: str) -> None:
    assert not needs_more(text)


def test_completion() -> None:
    with Sandbox(files={"notes.txt": "", "src/main.py": "", ".hidden": ""}) as sandbox:
        sandbox.execute("my_variable=1; my_function() { :; }")
        assert complete(sandbox, "basena") == ("basena", ["basename"])
        assert complete(sandbox, "ls | my_f") == ("my_f", ["my_function"])
        assert complete(sandbox, "echo $my_") == ("$my_", ["$my_variable"])
        assert complete(sandbox, "cat no") == ("no", ["notes.txt"])
        assert complete(sandbox, "cat ") == ("", ["notes.txt", "src/"])
        assert complete(sandbox, "cat .h") == (".h", [".hidden"])
        assert complete(sandbox, "cat src/m") == ("src/m", ["src/main.py"])
        assert complete(sandbox, "cat /work") == ("/work", ["/workspace/"])
        assert complete(sandbox, "cat no/such/") == ("no/such/", [])


class Terminal:
    """`agentsandbox shell` on a terminal of its own."""

    def __init__(self) -> None:
        pty = pytest.importorskip("pty")
        pytest.importorskip("prompt_toolkit")
        self.master, slave = pty.openpty()
        program = (
            "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
            "from agentsandbox.cli import main; raise SystemExit(main())"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "shell"], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1",
            },
        )  # fmt: skip
        os.close(slave)
        self.seen = b""

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def read_until(self, text: str) -> None:
        """Wait for a text on the screen and forget it and what stood before it."""
        deadline = time.monotonic() + 30
        while text.encode() not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 65536)
        self.seen = self.seen.partition(text.encode())[2]


def test_shell_on_a_terminal() -> None:
    terminal = Terminal()
    try:
        terminal.read_until("$ ")
        terminal.type("echo $((6*7))x\r")
        terminal.read_until("42x")
        terminal.type("for i in 1 2\rdo echo n$i\rdone\r")
        terminal.read_until("n2")
        terminal.type("basena\t /a/b; sleep 20\r")
        terminal.read_until("\nb")
        time.sleep(0.3)
        terminal.type("\x03")
        terminal.read_until("^C")
        terminal.type("exit 5\r")
        assert terminal.process.wait(30) == 5
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.master)


@pytest.mark.parametrize(
    ("typed", "status"),
    [("exit $?\r", 7), ("logout 300\r", 44), ("\x04", 7), ("f() { exit 4; }; f\r", 4)],
)
def test_ways_out_of_a_shell_on_a_terminal(typed: str, status: int) -> None:
    terminal = Terminal()
    try:
        terminal.read_until("$ ")
        terminal.type("echo $((6*7))x; (exit 7)\r")
        terminal.read_until("42x")
        terminal.read_until("$ ")
        time.sleep(0.3)
        terminal.type(typed)
        assert terminal.process.wait(30) == status
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.master)


# skills


def test_skills_list() -> None:
    status, out, err = cli("skills", "list", str(SKILLS))
    assert (status, err) == (0, b"")
    assert all(
        name in out for name in (b"git-workflow", b"python-dev", b"skills-system-validation")
    )
    status, out, _ = cli("skills", "list", "--json", str(SKILLS))
    listed = json.loads(out)
    assert status == 0
    assert [skill["name"] for skill in listed] == [
        "data-report",
        "git-workflow",
        "python-dev",
        "skills-system-validation",
    ]
    assert "scripts/scaffold.sh" in listed[2]["files"]


def test_skills_show() -> None:
    status, out, _ = cli("skills", "show", str(SKILLS / "python-dev"))
    assert status == 0
    assert out.startswith(b"python-dev\n==========\n")
    assert b"assets/.gitignore" in out
    assert b"# Python development" in out
    status, out, _ = cli("skills", "show", "--json", str(SKILLS / "python-dev"))
    assert json.loads(out)[0]["instructions"].lstrip().startswith("# Python development")


def test_skills_validate(tmp_path: Path) -> None:
    status, out, _ = cli("skills", "validate", str(SKILLS))
    assert status == 0
    assert b"invalid" not in out
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "SKILL.md").write_text("---\nname: Bad Name\n---\n", encoding="utf-8")
    status, out, _ = cli(
        "skills", "validate", "--json", str(SKILLS / "git-workflow"), str(bad), str(tmp_path / "no")
    )
    verdicts = json.loads(out)
    assert status == 1
    assert [verdict["valid"] for verdict in verdicts] == [True, False, False]
    assert {finding["severity"] for finding in verdicts[1]["findings"]} >= {"error"}
    assert cli("skills", "validate", str(bad))[0] == 1


def test_what_a_terminal_would_obey_is_written_out(tmp_path: Path) -> None:
    skill = tmp_path / "evil"
    skill.mkdir()
    (skill / "SKILL.md").write_bytes(
        b"---\nname: evil\ndescription: d \xe2\x80\xae\n---\nsudo \x1b[2J \xc2\x9b2J\n"
        b"\x1b]0;x\x07\n"
    )
    for words in (
        ["list"],
        ["show"],
        ["audit"],
        ["validate"],
        ["list", "--json"],
        ["show", "--json"],
        ["audit", "--json"],
    ):
        out = cli("skills", *words, str(skill))[1].decode()
        assert not [char for char in out if char in "\x1b\x9b\x07\u202e"], words
    assert "\\u{1B}[2J" in cli("skills", "show", str(skill))[1].decode()
    assert "U+001B" in cli("skills", "audit", str(skill))[1].decode()


def test_an_audit_says_whether_python_is_there() -> None:
    name = str(SKILLS / "data-report")
    line = cli("skills", "audit", name)[1].decode().splitlines()[2]
    assert line.startswith(("  python3: a sandbox with python=True", "  python3: not here: "))
    assert b"python3:" not in cli("skills", "audit", str(SKILLS / "git-workflow"))[1]


def test_skills_that_cannot_be_read(tmp_path: Path) -> None:
    status, out, err = cli(
        "skills", "list", "--json", str(SKILLS / "git-workflow"), str(tmp_path / "no")
    )
    assert status == 1
    assert [skill["name"] for skill in json.loads(out)] == ["git-workflow"]
    assert err.startswith(b"agentsandbox: ")
    assert refused("skills", "list").endswith("required: DIR")
