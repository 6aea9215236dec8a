"""What differs on purpose says so where a script meets it: each id of the table is in a message."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentsandbox import Limits, Sandbox

DOCUMENT = Path(__file__).parent.parent / "docs" / "differences.md"
SCRIPTS = {
    "D-not-available": "docker ps",
    "D-windows-lines": "ls\r\n",
    "D-script-errexit": "printf 'false\\necho no\\n' > s.sh; sh s.sh",
    "D-limit": "while :; do :; done",
    "D-depth": "f() { f; }; f",
    "D-threads": "wait",
    "D-macos": "date -v -1d",
    "D-watch": "timeout 0.1 watch true",
    "D-shopt": "shopt -s compat42",
    "D-ulimit": "ulimit -n 10",
    "D-sudo": "sudo true",
    "D-yq": "echo '[1]' | yq '.[9999999] = 1'",
}


def documented() -> list[str]:
    """The ids of the section whose differences are said."""
    section = (
        DOCUMENT.read_text(encoding="utf-8").partition("## On purpose")[2].partition("\n## ")[0]
    )
    return re.findall(r"^\| (D-[a-z-]+) \|", section, re.MULTILINE)


def test_every_difference_on_purpose_has_a_script() -> None:
    assert sorted(documented()) == sorted(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_says_its_id(name: str) -> None:
    limits = Limits(timeout=0.5 if name == "D-limit" else 30)
    with Sandbox(limits=limits, sudo=name == "D-sudo") as sandbox, ThreadPoolExecutor(1) as pool:
        pool.submit(sandbox.execute, "sleep 60 &").result()
        assert f"({name})" in sandbox.execute(SCRIPTS[name]).stderr


def test_ids_in_messages_are_documented() -> None:
    package = Path(__file__).parent.parent / "agentsandbox"
    used = {
        found
        for path in package.rglob("*.py")
        for found in re.findall(r"\((D-[a-z-]+)\)", path.read_text(encoding="utf-8"))
    }
    assert used <= set(re.findall(r"D-[a-z-]+", DOCUMENT.read_text(encoding="utf-8")))


def test_a_script_that_would_end_there_anyway_says_nothing() -> None:
    with Sandbox() as sandbox:
        assert sandbox.execute("printf 'echo a\\nfalse\\n' > s.sh; sh s.sh").stderr == ""
        assert sandbox.execute("printf 'set -e\\nfalse\\necho b\\n' > s.sh; sh s.sh").stderr == ""
        assert (
            sandbox.execute(
                "printf 'f() {\\n false\\n}\\nif true; then\\n f\\nfi\\n# end\\n' > s.sh; bash s.sh"
            ).stderr
            == ""
        )
