"""`agentsandbox skills fetch`: from a real HTTP server and a real git repository into a folder and
its lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="the extra `remote` is not installed")
pytest.importorskip("dulwich", reason="the extra `remote` is not installed")

from agentsandbox.cli import main
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.trust.lockfile import SkillLock
from tests.test_skills_remote import Server, digest_of, git, head, repository, served, zipped

__all__ = ["repository"]


@pytest.fixture
def server() -> Iterator[Server]:
    with served() as made:
        yield made


class CommandLine:
    """`fetch` in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys

    def __call__(self, url: str, *words: str) -> tuple[int, str, str]:
        places = [
            "--cache",
            str(self.folder / "cache"),
            "--lock",
            str(self.folder / "skills.lock"),
            "--allow-private",
        ]
        status = main(["skills", "fetch", url, str(self.folder / "skills"), *places, *words])
        return status, *self.capsys.readouterr()

    def left(self) -> list[str]:
        return sorted(os.listdir(self.folder / "skills"))


@pytest.fixture
def fetch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, capsys)


@pytest.mark.row("S2-54")
def test_an_archive_is_installed_and_locked(
    server: Server, fetch: CommandLine, tmp_path: Path
) -> None:
    data = zipped(
        {"a/SKILL.md": head("a"), "a/scripts/x.sh": b"#!/bin/sh\n", "b/SKILL.md": head("b")}
    )
    url = server.serve("/skills.zip", data)
    status, out, err = fetch(url, "--digest", digest_of(data), "--json")
    assert (status, err) == (0, "")
    assert [(each["name"], each["outcome"], each["source"]) for each in json.loads(out)] == [
        ("a", "added", url),
        ("b", "added", url),
    ]
    assert os.access(tmp_path / "skills" / "a" / "scripts" / "x.sh", os.X_OK)
    lock = SkillLock.read(tmp_path / "skills.lock")
    assert lock.skills["a"].source == url
    assert lock.verify([AgentSkill.from_path(tmp_path / "skills" / name) for name in "ab"]) == []
    status, out, _ = fetch(url)
    assert status == 0
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [
        ["a", "unchanged"],
        ["b", "unchanged"],
    ]
    assert fetch.left() == ["a", "b"]


def test_another_content_is_accepted_only_when_asked(
    server: Server, fetch: CommandLine, tmp_path: Path
) -> None:
    url = server.serve("/a/SKILL.md", head("a"))
    assert fetch(url)[0] == 0
    server.serve("/a/SKILL.md", head("a") + b"new\n")
    for kept in (tmp_path / "cache").glob("sha256-*"):
        kept.unlink()
    status, _, err = fetch(url)
    assert status == 1
    assert "the content has changed" in err
    status, out, _ = fetch(url, "--update")
    assert status == 0
    assert out.splitlines()[1].split()[:2] == ["a", "replaced"]
    assert "new" in (tmp_path / "skills" / "a" / "SKILL.md").read_text()
    assert fetch.left() == ["a"]


def test_nothing_is_written_over(server: Server, fetch: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "skills" / "b").mkdir(parents=True)
    (tmp_path / "skills" / "b" / "mine.txt").write_text("mine")
    url = server.serve("/skills.zip", zipped({"a/SKILL.md": head("a"), "b/SKILL.md": head("b")}))
    status, out, err = fetch(url)
    assert (status, out) == (1, "")
    assert "exists already, and is not what was fetched" in err
    assert fetch.left() == ["b"]
    assert not (tmp_path / "skills.lock").exists()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "skills" / "a").symlink_to(elsewhere)
    assert fetch(url, "--update")[0] == 1
    assert os.listdir(elsewhere) == []


def test_the_lock_is_asked(server: Server, fetch: CommandLine, tmp_path: Path) -> None:
    SkillLock.of([AgentSkill.from_files({"SKILL.md": head("a") + b"other\n"})]).write(
        tmp_path / "skills.lock"
    )
    url = server.serve("/a.md", head("a"))
    status, _, err = fetch(url)
    assert status == 1
    assert "a is not what" in err
    assert not (tmp_path / "skills").exists()


def test_an_index(server: Server, fetch: CommandLine) -> None:
    entry = {
        "name": "a",
        "type": "skill-md",
        "url": "/a.md",
        "description": "d",
        "digest": digest_of(head("a")),
    }
    bad = {**entry, "name": "b"}
    server.serve("/a.md", head("a"))
    server.serve(
        "/.well-known/agent-skills/index.json", json.dumps({"skills": [entry, bad]}).encode()
    )
    status, out, err = fetch(server.url)
    assert status == 1
    assert out.splitlines()[1].split()[:2] == ["a", "added"]
    assert err.startswith("agentsandbox: b: ")
    assert fetch.left() == ["a"]


def test_a_repository(repository: Path, fetch: CommandLine, tmp_path: Path) -> None:
    status, _, err = fetch(str(repository), "--as", "git", "--ref", "v1", "--below", "skills")
    assert (status, err) == (0, "")
    assert (tmp_path / "skills" / "a" / "link.md").is_symlink()
    commit = git(repository, "rev-parse", "HEAD")
    assert (
        fetch(str(repository), "--as", "git", "--ref", commit, "--below", "skills")[1]
        .splitlines()[1]
        .split()[1]
        == "unchanged"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["https://example.com/skills"], "does not show its kind"),
        (["https://example.com/x.zip", "--ref", "main"], "--ref means nothing for an archive"),
        (["https://example.com/x.git", "--digest", "sha256:0"], "--digest means nothing for a git"),
        (["https://example.com/x.zip", "--digest", "md5:0"], "a digest is"),
        (["ftp://example.com/x.zip"], "not an http or https URL"),
        (["https://user:word@example.com/x.zip"], "must not hold a user name"),
        (["nothing.zip"], "not an http or https URL"),
        (["nothing.git"], "not a git repository"),
        (["https://example.com/x.zip", "--allow", "gopher://x"], "not an http or https URL"),
    ],
)
def test_what_makes_no_sense_is_said(fetch: CommandLine, words: list[str], message: str) -> None:
    status, out, err = fetch(*words)
    assert (status, out) == (1, "")
    assert message in err
    assert "Traceback" not in err
