"""Random patches and rebases end in the sandbox as with real git.

GIT_REPLAY_EXAMPLES sets how many are tried; `make` and the CI run few.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox import Sandbox

GIT = shutil.which("git")
EXAMPLES = int(os.environ.get("GIT_REPLAY_EXAMPLES", "3"))
ENV = {
    "GIT_AUTHOR_NAME": "A U Thor", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter", "GIT_COMMITTER_EMAIL": "c@example.com",
    "GIT_AUTHOR_DATE": "@1700000000 +0000", "GIT_COMMITTER_DATE": "@1700000100 +0000",
    "GIT_EDITOR": ":",
}  # fmt: skip
LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "}\n", "\n", " x \n"]), max_size=12)
EDITS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), LINES), min_size=1, max_size=3)
OPTIONS = st.sampled_from(
    ["", "-C1", "-C0", "--reject", "--ignore-whitespace", "--whitespace=fix", "--unidiff-zero"]
)
WORDS = st.lists(
    st.sampled_from(["pick", "squash", "fixup", "drop", "edit", "reword", "fixup -C"]),
    min_size=4, max_size=4,
)  # fmt: skip


def edited(lines: list[str], edits: list[tuple[int, int, list[str]]]) -> str:
    made = list(lines)
    for at, size, new in edits:
        made[at : at + size] = new
    return "".join(made)


def outcomes(files: dict[str, str], script: str) -> tuple[object, object]:
    """Return what real git and the sandbox make of a script: (stdout, stderr, status)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, capture_output=True, check=False,
            env={**ENV, "PATH": "/usr/bin:/bin", "HOME": "/nowhere", "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    real = (done.stdout, done.stderr, done.returncode)
    with Sandbox(cwd="/r", env={**ENV, "HOME": "/nowhere"}) as sandbox:
        for name, text in files.items():
            sandbox.fs.write_bytes(f"/r/{name}", text.encode())
        made = sandbox.execute(script)
    return real, (made.stdout_bytes, made.stderr_bytes, made.exit_code)


@pytest.mark.skipif(GIT is None, reason="needs git")
@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(LINES, EDITS, EDITS, OPTIONS, st.integers(0, 3))
def test_patches_are_applied_as_by_git(
    base: list[str], edits: list[tuple[int, int, list[str]]],
    others: list[tuple[int, int, list[str]]], option: str, context: int,
) -> None:  # fmt: skip
    files = {"f": "".join(base), "g": edited(base, edits), "h": edited(base, others)}
    real, ours = outcomes(
        files,
        f"diff -U{context} --label a/f --label b/f f g > p; mv h f\n"
        f"git apply {option} p; echo $?; cat f; cat f.rej; git apply -R {option} p; cat f\n",
    )
    assert ours == real


@pytest.mark.skipif(GIT is None, reason="needs git")
@settings(max_examples=EXAMPLES, deadline=None)
@given(LINES, st.lists(EDITS, min_size=4, max_size=4), EDITS, WORDS)
def test_commits_are_replayed_as_by_git(
    base: list[str], edits: list[list[tuple[int, int, list[str]]]],
    upstream: list[tuple[int, int, list[str]]], words: list[str],
) -> None:  # fmt: skip
    files = {"f0": "".join(base), "up": edited(base, upstream)}
    lines = list(base)
    for number, each in enumerate(edits, 1):
        files[f"f{number}"] = edited(lines, each)
        lines = files[f"f{number}"].splitlines(keepends=True)
    picks = ";".join(f"{number}s/pick/{word}/" for number, word in enumerate(words, 1))
    script = (
        "mkdir r; cd r; git init -q -b main .; cp ../f0 f; git add f; git commit -qm base\n"
        "git switch -qc side; for n in 1 2 3 4; do cp ../f$n f; git commit -qa --allow-empty "
        "-m c$n -m \"body $n\"; done; git switch -q main; cp ../up f; git commit -qam up\n"
        f'git switch -q side; GIT_SEQUENCE_EDITOR="sed -i \'{picks}\'" git rebase -i main\n'
        "for n in 1 2 3 4 5; do test -d .git/rebase-merge || break; git status -s; git status\n"
        "sed -i '/^[<=>]/d' f; git add f; git rebase --continue; done\n"
        "git log --format='%T %P %an %B'; git status\n"
        "test ! -d .git/rebase-merge || git rebase --abort; git reflog\n"
    )
    real, ours = outcomes(files, script)
    assert ours == real
