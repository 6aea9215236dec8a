"""Remotes of git: real git reads what was pushed, hosts offer remotes, bad packs are refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agentsandbox import Sandbox
from agentsandbox.git.offers import GitPush

GIT = shutil.which("git")
ENV = {
    "GIT_AUTHOR_NAME": "A U Thor", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter", "GIT_COMMITTER_EMAIL": "c@example.com",
}  # fmt: skip
MAKE = "git init -q -b main o; cd o; echo a > a; git add a; git commit -qm one; cd ..;"
pytestmark = pytest.mark.skipif(GIT is None, reason="needs git")


def real(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [str(GIT), "-C", str(folder), "-c", "safe.directory=*", *words],
        capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **ENV},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("files", [3, 150])
def test_real_git_reads_what_was_pushed(tmp_path: Path, files: int) -> None:
    script = MAKE + (
        "git clone -q --bare o b.git; git clone -q b.git c; cd c;"
        f"for i in $(seq {files}); do echo $i > f$i; done; git add .; git commit -qm many;"
        "git tag -a v1 -m v1; git push -q origin main v1 HEAD:refs/heads/side"
    )
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        result = sandbox.execute(script)
        assert result.exit_code == 0, result.stderr
        sandbox.files.export(tmp_path / "out", "/work")
    out = tmp_path / "out"
    assert "error" not in real(out / "b.git", "fsck", "--strict")
    assert "error" not in real(out / "c", "fsck", "--strict")
    real(out, "clone", "-q", "b.git", "again")
    assert real(out / "again", "log", "--format=%s", "origin/side") == "many\none\n"
    assert len(list((out / "again").glob("f*"))) == files


def host_repository(tmp_path: Path) -> Path:
    source = tmp_path / "s"
    source.mkdir()
    real(source, "init", "-q", "-b", "main")
    (source / "a").write_text("a\n")
    real(source, "add", "a")
    real(source, "commit", "-qm", "one")
    real(tmp_path, "clone", "-q", "--bare", "s", "b.git")
    return tmp_path / "b.git"


# TM-GIT-9
def test_pushes_to_a_folder_wait_in_quarantine(tmp_path: Path) -> None:
    folder = host_repository(tmp_path)
    (folder / "hooks" / "update").write_text("#!/bin/sh\ntouch ran\n")
    (folder / "hooks" / "update").chmod(0o755)
    before = real(folder, "rev-parse", "main")
    with Sandbox(cwd="/work", env=ENV, git_remotes={"origin": folder}) as sandbox:
        result = sandbox.execute(
            "git clone -q origin c; cd c; echo b > b; git add b; git commit -qm two;"
            "git push -q origin main; git fetch; git status -sb; git push -q origin :main"
        )
        assert result.stdout == "## main...origin/main\n"
        assert "the host's references are not deleted" in result.stderr
    assert real(folder, "rev-parse", "main") == before
    assert real(folder, "log", "--format=%s", "refs/quarantine/heads/main") == "two\none\n"
    assert "error" not in real(folder, "fsck", "--strict")
    assert not (folder / "ran").exists()


def test_a_function_gets_pushes(tmp_path: Path) -> None:
    pushes: list[GitPush] = []

    def review(push: GitPush) -> str | None:
        pushes.append(push)
        return None if len(pushes) == 1 else "not\nthis"

    with Sandbox(cwd="/work", env=ENV, git_remotes={"up": review}) as sandbox:
        first = sandbox.execute(MAKE + "cd o; git push up main")
        second = sandbox.execute("cd /work/o; git commit -q --allow-empty -m two; git push up main")
    assert first.exit_code == 0, first.stderr
    assert second.exit_code == 1
    assert " ! [remote rejected] main -> main (not this)" in second.stderr
    assert [push.updates[0].ref for push in pushes] == ["refs/heads/main", "refs/heads/main"]
    assert pushes[1].updates[0].old == pushes[0].updates[0].new
    target = tmp_path / "t"
    target.mkdir()
    real(target, "init", "-q")
    subprocess.run(
        [str(GIT), "-C", str(target), "index-pack", "--stdin"], input=pushes[0].pack, check=True,
        capture_output=True,
    )  # fmt: skip
    assert real(target, "log", "--format=%s", pushes[0].updates[0].new) == "one\n"


@pytest.mark.parametrize(
    ("pack", "message"),
    [
        (b"PACK\0\0\0\2\xff\xff\xff\xff" + bytes(40), "pack is corrupted"),
        (b"junk", "bad pack header"),
        (b"PACK\0\0\0\7\0\0\0\0" + bytes(20), "unknown pack file version"),
    ],
)
def test_a_corrupt_bundle_is_refused(pack: bytes, message: str) -> None:
    head = b"# v2 git bundle\n" + b"1" * 40 + b" refs/heads/main\n\n"
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        sandbox.files.write("/work/x.bundle", head + pack)
        result = sandbox.execute("git clone x.bundle c; ls")
    assert f"fatal: {message}" in result.stderr or message in result.stderr
    assert result.stdout == "x.bundle\n"


def test_other_ways_out_are_refused_by_name() -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        result = sandbox.execute(
            "git clone ssh://host/x; git clone user@host:x; git clone https://example.com/x; ls"
        )
    assert result.stdout == ""
    assert result.stderr.count("ssh is not available in this sandbox") == 2
    assert "unable to access 'https://example.com/x/'" in result.stderr
