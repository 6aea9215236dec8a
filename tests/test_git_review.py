"""`sandbox.git`: what the host sees of an agent's repository is what is there."""

from __future__ import annotations

import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from agentsandbox import (
    AgentSkill,
    ClosedError,
    CommandContext,
    GitChange,
    RepositoryError,
    RevisionError,
    Sandbox,
    SandboxError,
    command,
)

GIT = shutil.which("git")
ENV = {
    "GIT_AUTHOR_NAME": "A U Thor", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter", "GIT_COMMITTER_EMAIL": "c@example.com",
    "GIT_AUTHOR_DATE": "1700000000 +0100", "GIT_COMMITTER_DATE": "1700000001 +0000",
}  # fmt: skip
MAKE = """
git init -q -b main r && cd r && seq 20 > a && printf 'b\\0' > bin && echo c > c && ln -s a l
echo '*.log' > .gitignore && git add . && git commit -qm base
"""
WORK = """
cd r && sed -i s/^7/seven/ a && git mv c moved && git commit -qam 'Spell a number

It is a long story.' && printf 'x\\0y' > bin && chmod +x a && rm l && git add -A
git commit -qm 'Binary: Zürich, mode and link' -m body
"""


def real(folder: Path, *words: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        [str(GIT), "-C", str(folder), "-c", "safe.directory=*", *words],
        capture_output=True, check=False, input=stdin,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **ENV},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def made(*scripts: str) -> Sandbox:
    sandbox = Sandbox(cwd="/work", env=ENV)
    for script in scripts:
        result = sandbox.execute(script, state="discard")
        assert result.exit_code == 0, result.stderr
    return sandbox


def test_commits_are_values() -> None:
    with made(MAKE, WORK) as sandbox:
        found = sandbox.git.commits("HEAD~1", path="r")
        assert [commit.subject for commit in found] == ["Binary: Zürich, mode and link"]
        commit = found[0]
        assert commit.message == "Binary: Zürich, mode and link\n\nbody\n"
        assert (commit.author.name, commit.author.email) == ("A U Thor", "a@example.com")
        assert (commit.author.time, commit.committer.time) == (1700000000, 1700000001)
        everything = sandbox.git.commits(path="/work/r")
        assert len(everything) == 3
        assert everything[0].parents == (everything[1].id,)
        assert everything[2].parents == ()
        assert sandbox.git.commits(everything[2].id, everything[1].id, path="r") == [everything[1]]


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_patches_are_those_of_git(tmp_path: Path) -> None:
    with made(MAKE, WORK) as sandbox:
        sandbox.files.export(tmp_path / "x", "r")
        patches = sandbox.git.format_patches("HEAD~2", path="r")
    real(tmp_path / "x", "format-patch", "-q", "-o", "../patches", "HEAD~2")
    names = sorted(path.name for path in (tmp_path / "patches").iterdir())
    assert [patch.name for patch in patches] == names
    # zlib of another build may deflate a binary part differently
    assert patches[0].content == (tmp_path / "patches" / names[0]).read_bytes()
    real(tmp_path / "x", "checkout", "-q", "-b", "again", "HEAD~2")
    real(tmp_path / "x", "am", "-q", stdin=b"".join(patch.content for patch in patches))
    assert real(tmp_path / "x", "diff", "main", "again") == b""
    assert real(tmp_path / "x", "log", "--format=%an %at %s%n%b", "again") == real(
        tmp_path / "x", "log", "--format=%an %at %s%n%b", "main"
    )


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_a_difference_can_be_applied(tmp_path: Path) -> None:
    with made(MAKE, WORK, "cd r && echo more >> a && echo new > new && echo no > x.log") as sandbox:
        found = sandbox.git.diff("HEAD~2", path="r")
        sandbox.files.export(tmp_path / "x", "r")
    assert found.files == (
        GitChange("a", "modified", "a", 2, 1),
        GitChange("bin", "modified", "bin", None, None),
        GitChange("l", "deleted", "l", 0, 1),
        GitChange("moved", "renamed", "c", 0, 0),
        GitChange("new", "added", "new", 1, 0),
    )
    assert "+more" in found.text
    folder = tmp_path / "x"
    real(folder, "worktree", "add", "-q", "--detach", "../y", "HEAD~2")
    real(tmp_path / "y", "apply", "--index", "-", stdin=found.patch)
    real(folder, "add", "-A")
    real(folder, "commit", "-qm", "rest")
    assert real(tmp_path / "y", "write-tree") == real(folder, "rev-parse", "HEAD^{tree}")


def test_a_difference_between_commits_leaves_out_the_worktree() -> None:
    with made(MAKE, WORK, "cd r && echo more >> a") as sandbox:
        assert not sandbox.git.diff("main", "HEAD", path="r")
        assert [each.path for each in sandbox.git.diff("main", path="r").files] == ["a"]


TYPES = (
    "    the subject is not 'type(scope): text' with a type of feat, fix, docs, style, refactor, "
    "perf, test, build, ci, chore, revert"
)
HIDING = {
    "the index claims it is unchanged": "git update-index --assume-unchanged a; echo x >> a",
    "the size and the time are as before": (
        "git status -s; touch -r a t; sed -i s/^7/8/ a; touch -r t a; rm t; git update-index -q a"
    ),
    "an attribute calls it binary": "echo 'a binary -diff' > .git/info/attributes; echo x >> a",
    "nobody added it": "echo x > a2; echo a2 > .git/info/exclude",
    "a setting ignores it": "git config core.excludesFile /tmp/i; echo a2 > /tmp/i; echo x > a2",
    "a setting leads to other files": "cp -r . /tmp/o; git config core.worktree /tmp/o; echo x > a",
    "settings change the difference": (
        "git config diff.external true; git config diff.noprefix true; git config diff.context 0;"
        "git config core.fileMode false; git config color.ui always; echo x >> a"
    ),
    "the mode is ignored": "git config core.fileMode false; chmod +x a",
    "a directory takes its place": "rm a; mkdir a; echo x > a/x",
}


# TM-GIT-8
@pytest.mark.parametrize("script", HIDING.values(), ids=HIDING)
def test_an_agent_cannot_hide_a_change(script: str) -> None:
    with made(MAKE) as sandbox:
        (base,) = sandbox.git.commits(path="r")
        assert not sandbox.git.diff(base.id, path="r")
        sandbox.execute(f"cd r; {script}", state="discard")
        found = sandbox.git.diff(base.id, path="r")
        assert found.files
        assert found.files[0].path.startswith("a")
        assert found.files[0].added is not None
        assert b"diff --git a/a" in found.patch


def test_shallow_hides_no_commit() -> None:
    with made(MAKE, WORK) as sandbox:
        first = sandbox.git.commits(path="r")[-1]
        sandbox.execute("cd r; git rev-parse HEAD > .git/shallow", state="discard")
        assert len(sandbox.git.commits(first.id, path="r")) == 2


def test_a_content_has_the_name_that_it_claims() -> None:
    with made(MAKE, WORK) as sandbox:
        first = sandbox.git.commits(path="r")[-1]
        script = """cd r/.git/objects; one=$(git rev-parse HEAD~2) two=$(git rev-parse HEAD)
        chmod -R u+w .; cp ${two:0:2}/${two:2} ${one:0:2}/${one:2}"""
        assert sandbox.execute(script, state="discard").exit_code == 0
        with pytest.raises(RepositoryError, match="hash mismatch"):
            sandbox.git.diff(first.id, path="r")


def test_the_embedded_skill_works_on_a_repository() -> None:
    skill = AgentSkill.from_package("skills_embedded", "git-workflow")
    with Sandbox(cwd="/work", env=ENV, skills=[skill]) as sandbox:
        scripts = "S=/.sandbox/skills/git-workflow/scripts; git init -q -b main r; cd r;"
        found = sandbox.execute(
            scripts + """git commit -q --allow-empty -m 'feat: begin'; git tag v1
            git switch -qc feat/x; bash $S/check-branch.sh
            echo 'password = "hunter2hunter2"' > a; git add a; echo fine > a
            bash $S/check-tree.sh --staged; echo $?; bash $S/check-tree.sh; git add a
            git commit -qm 'fix(a): keep it'; git commit -q --allow-empty -m 'Nothing'
            bash $S/changelog.sh --range v1..HEAD; bash $S/check-commits.sh v1..HEAD~1
            bash $S/check-commits.sh v1..HEAD | sed -E 's/^[0-9a-f]+ //'; bash $S/install-hooks.sh
            git commit -q --allow-empty -m Bad || git commit -q --allow-empty -m 'docs: good'
            git log -1 --format=%s"""
        )
    assert found.stdout.splitlines() == [
        "feat/x: ok", "a:1: looks like a password", "1", "ok: 1 file(s)", "### Fixed", "",
        "- **a**: keep it", "", "1 other change(s)", "ok: 1 commit(s)", "Nothing",
        TYPES,
        "installed: pre-commit, commit-msg in /work/r/.git/hooks", "docs: good",
    ]  # fmt: skip


def test_errors_have_types() -> None:
    with made(MAKE, "mkdir empty; git init -q fresh") as sandbox:
        with pytest.raises(RepositoryError, match="no git repository at '/work/empty'"):
            sandbox.git.commits(path="empty")
        with pytest.raises(RepositoryError, match="no directory"):
            sandbox.git.commits(path="nowhere")
        with pytest.raises(RevisionError, match="'nope' is not a commit"):
            sandbox.git.diff("nope", path="r")
        with pytest.raises(RevisionError):
            sandbox.git.commits("", path="r")
        with pytest.raises(TypeError, match="base must be a str"):
            sandbox.git.diff(1, path="r")  # type: ignore[arg-type]
        assert sandbox.git.commits(path="fresh") == []
        sandbox.execute("echo '[' >> r/.git/config")
        with pytest.raises(RepositoryError, match="bad config line"):
            sandbox.git.commits(path="r")
    with pytest.raises(ClosedError):
        sandbox.git.commits(path="r")


def test_it_waits_for_other_threads_and_refuses_its_own() -> None:
    entered = threading.Event()
    errors: list[str] = []

    @command("review", usage="Usage: review\nReview.\n")
    def review(ctx: CommandContext, args: object) -> int:
        try:
            sandbox.git.commits(path="/work/r")
        except SandboxError as error:
            errors.append(str(error))
        entered.set()
        return 0

    with Sandbox(cwd="/work", env=ENV, commands=[review]) as sandbox:
        sandbox.execute(MAKE, state="discard")
        sandbox.execute("review")
        assert "is executing a script" in errors[0]
        running = threading.Thread(
            target=lambda: sandbox.execute("review; cd r; git commit -q --allow-empty -m next")
        )
        entered.clear()
        running.start()
        assert entered.wait(30)
        found = sandbox.git.commits(path="/work/r")
        running.join()
    assert len(found) in (1, 2)
