"""Real git reads what the sandbox's git wrote, and the other way round."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agentsandbox import Sandbox

GIT = shutil.which("git")
ENV = {
    "GIT_AUTHOR_NAME": "A U Thor", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter", "GIT_COMMITTER_EMAIL": "c@example.com",
}  # fmt: skip
SCRIPT = """
git init -q -b main . && mkdir -p d/e && echo one > a && echo x > d/e/x && ln -s a l
printf 'bin\\0ary' > b; chmod +x a; git add . && git commit -qm first
git switch -qc side && echo two >> a && git commit -qam second && git tag -a v1 -m annotated
git mv d/e/x y && git commit -qm third && git switch -q main && git branch -m main trunk
git commit -q --allow-empty -m empty
"""


def real(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [str(GIT), "-C", str(folder), "-c", "safe.directory=*", *words],
        capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_real_git_reads_the_repository(tmp_path: Path) -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        made = sandbox.execute(SCRIPT + "git log --all --format='%H %s %D'; git status --porcelain")
        assert made.exit_code == 0, made.stderr
        sandbox.files.export(tmp_path / "out", "/work")
    out = tmp_path / "out"
    assert "error" not in real(out, "fsck", "--strict")
    assert real(out, "log", "--all", "--format=%H %s %D") == made.stdout
    assert real(out, "status", "--porcelain") == ""


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_the_sandbox_reads_packs_of_real_git(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    repository.mkdir()
    real(repository, "init", "-q", "-b", "main")
    for number in range(5):
        (repository / "f").write_text("".join(f"line {n}\n" for n in range(200 + number)))
        real(repository, "add", ".")
        real(repository, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", f"n{number}")
    real(repository, "gc", "-q")
    expected = real(repository, "log", "--stat", "-p")
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        sandbox.files.import_folder(repository, "/work/r")
        found = sandbox.execute("cd r && git log --stat -p && git status --porcelain")
    assert found.exit_code == 0, found.stderr
    assert found.stdout == expected


MERGES = """
git init -q -b main . && seq 9 > a && git add . && git commit -qm first
git switch -qc side && sed -i 's/^3$/three/' a && echo n > n && git add . && git commit -qm side
git switch -q main && sed -i 's/^8$/eight/' a && git mv a moved && git commit -qam moved
git merge -q --no-edit side && git switch -qc other HEAD~1 && sed -i 's/^3$/tres/' moved
git commit -qam tres && ! git merge -q main && echo done > moved && git commit -qam merged
"""


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_real_git_finds_merges_sound(tmp_path: Path) -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        made = sandbox.execute(MERGES + "git log --all --format='%H %T %P'; git status --porcelain")
        assert made.exit_code == 0, made.stderr
        sandbox.files.export(tmp_path / "out", "/work")
    out = tmp_path / "out"
    assert "error" not in real(out, "fsck", "--strict")
    assert made.stdout.endswith(real(out, "log", "--all", "--format=%H %T %P"))
    assert real(out, "status", "--porcelain") == ""


REBASE = """
git init -q -b main . && seq 9 > a && git add . && git commit -qm first && git switch -qc side
sed -i 's/^3$/three/' a && git commit -qam three && echo n > n && git add n && git commit -qm n
echo m > n && git commit -qam 'fixup! n' && git switch -q main && sed -i 's/^3$/tres/' a
git commit -qam tres && git switch -q side
GIT_SEQUENCE_EDITOR=: git rebase -q -i --autosquash main 2> /dev/null
sed -i '/^[<=>]/d' a && git add a
"""


@pytest.mark.skipif(GIT is None, reason="needs git")
@pytest.mark.parametrize("starts_here", [True, False])
def test_a_rebase_goes_on_elsewhere(tmp_path: Path, starts_here: bool) -> None:
    """What one git began, the other continues."""
    folder = tmp_path / "r"
    env = {**ENV, "GIT_EDITOR": ":", "GIT_AUTHOR_DATE": "@1700000000 +0000",
           "GIT_COMMITTER_DATE": "@1700000100 +0000"}  # fmt: skip
    host = {**env, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path),
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*"}  # fmt: skip

    def on_host(script: str) -> str:
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=host, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    end = "git rebase --continue > /dev/null 2>&1 && git log --format='%T %P %an %s' --all"
    with Sandbox(cwd="/work/r", env=env) as sandbox:
        if starts_here:
            assert sandbox.execute(REBASE).exit_code == 0
            sandbox.files.export(folder, "/work/r")
            theirs = on_host(f"{end} && git fsck --strict > /dev/null && git status --porcelain")
            ours = sandbox.execute(f"{end} && git status --porcelain")
        else:
            folder.mkdir()
            on_host(REBASE)
            sandbox.files.import_folder(folder, "/work/r")
            ours = sandbox.execute(f"{end} && git status --porcelain")
            theirs = on_host(f"{end} && git status --porcelain")
        assert (ours.stdout, ours.exit_code) == (theirs, 0), ours.stderr


SUBMODULES = """
git init -q -b main /work/sub && cd /work/sub && echo one > a && git add . && git commit -qm sub
git init -q -b main /work/r && cd /work/r && git submodule -q add --name n/m ../sub libs/sub
git submodule -q add ../sub two && git commit -qm both && git mv two moved && git commit -qm moved
echo x >> moved/a && git -C libs/sub commit -q --allow-empty -m more
"""
STATES = "git submodule status --recursive; git status --porcelain=v2; git diff --submodule=log"


@pytest.mark.skipif(GIT is None, reason="needs git")
@pytest.mark.parametrize("starts_here", [True, False])
def test_submodules_go_on_elsewhere(tmp_path: Path, starts_here: bool) -> None:
    """What one git set up as submodules, the other understands and changes."""
    settings = {"safe.directory": "*", "protocol.file.allow": "always"}
    env = {**ENV, "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    root = tmp_path / "work"

    def on_host(script: str) -> str:
        done = subprocess.run(
            ["bash", "-c", script.replace("/work/", f"{root}/")], cwd=root, capture_output=True,
            env={**env, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    end = (
        f"cd /work/r && {STATES} && git submodule -q update --force && git submodule deinit -f "
        f"moved && git submodule -q update --init && git submodule absorbgitdirs && {STATES}"
    )
    with Sandbox(cwd="/work", env=env) as sandbox:
        if starts_here:
            made = sandbox.execute(SUBMODULES)
            assert made.exit_code == 0, made.stderr
            sandbox.files.export(root, "/work")
        else:
            root.mkdir()
            on_host(SUBMODULES)
            sandbox.files.import_folder(root, "/work")
            for config in ("r", "r/.git/modules/n/m", "r/.git/modules/two"):
                place = f"/work/{config}" + ("/.git" if config == "r" else "")
                text = sandbox.files.read(f"{place}/config").replace(str(root), "/work")
                sandbox.files.write(f"{place}/config", text)
        ours = sandbox.execute(end)
        assert ours.exit_code == 0, ours.stderr
        if starts_here:
            for config in root.glob("r/.git/**/config"):
                config.write_text(config.read_text().replace("/work/", f"{root}/"))
        assert on_host(end).replace(str(root), "/work") == ours.stdout
        for folder in ("r", "r/libs/sub", "r/moved"):
            assert "error" not in on_host(f"git -C {folder} fsck --strict 2>&1")


SPARSE = """
git init -q -b main . && mkdir -p a b/c deep/er && touch a/x b/c/z deep/d deep/er/e top
git add . && git commit -qm first && git switch -qc side && echo 2 > b/c/z && echo n > a/n
git add . && git commit -qm side && git switch -q main && git sparse-checkout set {} a
echo m >> a/x && git commit -qam m && git merge -q --no-edit side && git sparse-checkout add deep/er
git worktree add -q linked; rm -r linked; git worktree prune
"""


@pytest.mark.skipif(GIT is None, reason="needs git")
@pytest.mark.parametrize("mode", ["--cone", "--no-cone", "--sparse-index"])
def test_real_git_reads_a_sparse_checkout(tmp_path: Path, mode: str) -> None:
    """Both see the same files, entries and patterns, and the other one can go on."""
    folder = tmp_path / "r"
    shown = "git ls-files -t; git ls-files --sparse; git sparse-checkout list; git status"
    ends = f"git sparse-checkout set b; {shown}; git sparse-checkout disable; git status"
    with Sandbox(cwd="/work/r", env=ENV) as sandbox:
        made = sandbox.execute(SPARSE.format(mode) + shown)
        assert made.exit_code == 0, made.stderr
        sandbox.files.export(folder, "/work/r")
        assert "error" not in real(folder, "fsck", "--strict")
        words = shown.split("; ")
        assert made.stdout == "".join(real(folder, *one.split()[1:]) for one in words)
        real(folder, "sparse-checkout", "set", "deep", "b")
        expected = real(folder, "ls-files", "-t")
        sandbox.execute("rm -rf /work/r")
        sandbox.files.import_folder(folder, "/work/r")
        found = sandbox.execute("git ls-files -t; git fsck")
        assert (found.stdout, found.exit_code) == (expected, 0)
        assert sandbox.execute(ends).exit_code == 0
