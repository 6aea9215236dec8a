"""Directories that git need not visit: what it says is what it says without any memory of them."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsandbox import Sandbox
from agentsandbox.git import worktree

NAMES = [f"{one}/{two}/{three}" for one in "ab" for two in "cdefg" for three in "hijk"]
FILES = [f"{name}/{file}" for name in NAMES[::5] for file in "xy"]
EDITS = """
echo new > FILE / echo more >> FILE / chmod +x FILE / chmod -x FILE / touch FILE / rm -f FILE
cp a/c/h/x FILE / mv FILE a/z / rm -f FILE; ln -s x FILE / rm -f FILE; mkdir FILE
ln -f FILE b/second / echo linked > b/second / cp -p FILE q; mv q FILE / echo same > FILE
exec 3>> FILE; git status > q; echo late >&3; exec 3>&- / git add FILE / git rm -q --cached FILE
git reset -q FILE / git checkout -q FILE / git add -N FILE
git update-index --assume-unchanged FILE
git update-index --no-assume-unchanged FILE / git update-index --chmod=+x FILE
rm -rf DIR / mv DIR b/moved / mv b/moved DIR / echo other > DIR/other / rm -f DIR/other
mkdir -p DIR/e/e; echo > DIR/e/e/f / cp -r DIR copied / git add DIR / chmod -x DIR / chmod +x DIR
rm -rf DIR; ln -s ../c DIR / echo other > DIR/.gitignore / git checkout -q DIR / git stash -q -- DIR
git rm -rq --cached DIR / git commit -qam more / git add -A / git reset -q --hard / git stash -q -u
git stash pop -q / git checkout -q HEAD~1 -- . / git read-tree HEAD / git reset -q HEAD~1
"""


def edit(command: str, file: str, folder: str) -> str:
    return command.strip().replace("FILE", file).replace("DIR", folder)


LOOKS = st.sampled_from([
    "git status --porcelain", "git diff --raw", "git status --porcelain -uall --ignored",
    "git diff --raw -- a", "git status -s b/d",
])  # fmt: skip
STEPS = st.lists(
    st.one_of(
        st.builds(
            edit,
            st.sampled_from(EDITS.strip().replace("\n", " / ").split(" / ")),
            st.sampled_from(FILES),
            st.sampled_from([*NAMES, "a/c", "b/g", "a"]),
        ),
        LOOKS,
    ),
    min_size=1,
    max_size=12,
)
ALL = "git status --porcelain=v2 -uall --ignored; git diff --raw; git ls-files -t"
USER = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "A"), ("EMAIL", "a@example.com"))
}


def repository() -> Sandbox:
    ticks = itertools.count(1_700_000_000_000)
    sandbox = Sandbox(
        files={f"{name}/{file}": "same\n" for name in NAMES for file in "xy"},
        env=USER, cwd="/work", clock=lambda: next(ticks) / 1000,
    )  # fmt: skip
    sandbox.execute("git init -q; git add .; git commit -qm 1; echo 2 > a/c/h/x; git commit -qam 2")
    return sandbox


BASE = repository()


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_a_directory_is_passed_over_only_while_nothing_in_it_changed(steps: list[str]) -> None:
    sandbox = BASE.fork()
    sandbox.execute("git status")
    for step in steps:
        sandbox.execute(step)
    said = sandbox.execute(ALL).stdout
    assert said == sandbox.fork().execute(ALL).stdout


def test_a_second_look_visits_no_directory(monkeypatch: object) -> None:
    sandbox = BASE.fork()
    sandbox.execute("git status; git status")
    visited: list[bytes] = []
    visit = worktree._Scanner._visit

    def noting(self: object, path: bytes, folders: object) -> object:
        visited.append(path)
        return visit(self, path, folders)  # type: ignore[arg-type]

    monkeypatch.setattr(worktree._Scanner, "_visit", noting)  # type: ignore[attr-defined]
    assert sandbox.execute("git status").stdout.endswith("nothing to commit, working tree clean\n")
    assert visited == [b""]
    visited.clear()
    sandbox.execute("echo x > a/d/i/x; git diff")
    assert visited == [b"", b"a", b"a/d", b"a/d/i"]
