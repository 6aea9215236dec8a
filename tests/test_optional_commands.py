"""Commands that a host asks for: `sudo` and aliases."""

from __future__ import annotations

import sys

import pytest

from agentsandbox import CommandRequest, Sandbox

NOTE = "sudo: runs as agent, the one user of this sandbox (D-sudo)\n"


def run(script: str) -> tuple[str, str, int]:
    with Sandbox(sudo=True, env={"SECRET": "x", "LC_TIME": "C"}) as sandbox:
        result = sandbox.execute(script)
        return result.stdout, result.stderr, result.exit_code


def test_without_the_option_sudo_is_refused() -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute("sudo id")
        assert result.exit_code == 127 and "there is one user" in result.stderr


def test_it_runs_the_command_and_says_so() -> None:
    assert run("sudo whoami") == ("agent\n", NOTE, 0)
    assert run("sudo -n sh -c 'exit 3'") == ("", NOTE, 3)
    assert run("echo in | sudo -u root -H cat") == ("in\n", NOTE, 0)
    assert run("sudo X=1 Y=2 sh -c 'echo $X$Y $SUDO_USER $SUDO_COMMAND'")[0].startswith("12 agent ")
    assert run("which sudo && sudo -k && sudo -v; echo $?")[0] == "/usr/bin/sudo\n0\n"


def test_the_environment_is_reset_unless_it_is_kept() -> None:
    script = "sh -c 'echo [$SECRET][$LC_TIME]'"
    assert run(f"sudo {script}")[0] == "[][C]\n"
    assert run(f"sudo -E {script}")[0] == "[x][C]\n"
    assert run(f"sudo --preserve-env=SECRET {script}")[0] == "[x][C]\n"


def test_shells_lists_and_errors() -> None:
    assert run("sudo -s echo 'a  b' '$HOME'")[0] == "a  b /home/agent\n"
    assert run("sudo -i pwd")[0] == "/home/agent\n"
    assert run("sudo -l")[0].endswith("    (ALL : ALL) NOPASSWD: ALL\n")
    assert run("sudo nosuch") == ("", "sudo: nosuch: command not found\n", 1)
    assert run("sudo -u nosuch id")[1].startswith("sudo: unknown user nosuch\n")
    assert run("sudo")[2] == 1
    assert "unrecognized option '--bogus'" in run("sudo --bogus id")[1]


def test_a_policy_sees_the_command_itself() -> None:
    asked: list[str] = []

    def policy(request: CommandRequest) -> str | None:
        asked.append(request.argv[0])
        return "not allowed" if request.argv[0] == "rm" else None

    with Sandbox(sudo=True, on_command=policy, files={"f": ""}) as sandbox:
        assert sandbox.execute("sudo rm f").exit_code == 126
        assert sandbox.fs.exists("/workspace/f") and asked == ["sudo", "rm"]


def test_an_alias_runs_other_words() -> None:
    aliases = {"bat": "cat -n", "fd": "find . -name", "e": "env -i 'A=b c' printenv"}
    with Sandbox(aliases=aliases, files={"x.txt": "hi\n"}) as sandbox:
        assert sandbox.execute("bat x.txt").stdout == "     1\thi\n"
        assert sandbox.execute("fd '*.txt'; which fd").stdout == "./x.txt\n/usr/bin/fd\n"
        assert sandbox.execute("echo in | bat; e A").stdout == "     1\tin\nb c\n"
        assert sandbox.fork().execute("bat nope").exit_code == 1
        assert "fd" in sandbox.command_names()


def test_ciphers_need_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    script = "echo x | openssl enc -aes-256-cbc -pbkdf2 -k pw"
    with Sandbox() as sandbox:
        result = sandbox.execute(script)
        assert (result.stdout, result.exit_code) == ("", 1)
        assert "agentsandbox[crypto]" in result.stderr
