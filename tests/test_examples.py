"""The examples run, and print what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentsandbox.python import PythonRuntime

EXAMPLES = Path(__file__).parents[1] / "examples"
EXPECTED = {
    "demo": [
        "python-dev: Python project work with shell tools only",
        "# Python development",
        "Made weather-report:",
        "4 directories, 6 files",
        '__version__ = "0.1.0"',
        "weather-report/pyproject.toml: ok (weather-report 0.1.0)\nThu Jan  1 00:00:00 UTC 2026",
        "Read-only file system",
        "this sandbox has no network",
    ],
    "isolated_shell": [
        "Oslo 170",
        "Rome 80",
        "/workspace/reports",
        "done",
        "done",
        "127 cat: /etc/shadow: No such file or directory",
        "bash: line 1: no-such-command: command not found",
        "before 124 timeout",
    ],
    "skills_in_a_wheel": [
        "python-dev at /.sandbox/skills/python-dev",
        "git-workflow at /.sandbox/skills/git-workflow",
        "Made weather-report:",
        "feat/forecast: ok",
        "Feature/X: upper-case letters",
        "bash: line 1: /.sandbox/skills/python-dev/SKILL.md: Read-only file system",
    ],
    "skills_in_memory": ["Hello world", "9", r"b'\x89PNG\r\n\x1a\n\xff'"],
    "agent_turn": [
        "Available skills:",
        'get_skill -> {"name": "git-workflow"',
        '{"exitCode": 1, "output": "the subject is not',
        '{"exitCode": 0, "output": "ok: fix\\n", "error": null}',
        "The message is now: fix: read empty files",
    ],
    "data_analysis": [
        "Python 3.15",
        "- north: 1606",
        "The best region is **north**",
        "/workspace/sales.png: a picture, PNG",
        "4782",
    ],
    "git_review": [
        "installed: pre-commit, commit-msg in /workspace/greeter/.git/hooks",
        "the subject is not 'type(scope): text'",
        "ok: 2 commit(s)",
        "remote: the push waits for the host's review",
        " docs: say how to call it (Agent)",
        " feat: greet by name (Agent)",
        "added greet.sh: +1 -0",
        "['0001-feat-greet-by-name.patch', '0002-docs-say-how-to-call-it.patch']",
        "in quarantine: True",
    ],
    "custom_command": [
        "HELLO!!",
        "shout: unrecognized option '--volume=11'",
        "SAND: 4 LETTERS",
        "BOX: 3 LETTERS",
    ],
}


@pytest.mark.parametrize("example", sorted(EXPECTED))
def test_example(example: str) -> None:
    if example == "data_analysis" and not PythonRuntime().status().ready:
        pytest.skip(PythonRuntime().status().reason)
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{example}.py")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    at = 0
    for line in EXPECTED[example]:
        assert line in ran.stdout[at:], ran.stdout
        at = ran.stdout.index(line, at) + len(line)


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)
