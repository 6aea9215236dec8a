"""Random sequences of edits and git commands in a sandbox; real git judges the repositories.

    python -m tests.differential.git_sequences COUNT [--seed N] [--show SEED]

Each sequence is made from its seed: some two dozen edits of a few files and git commands on a few
branches, of which many fail, and others leave conflicts behind. Then the repository is exported, and
real git must find it sound (`fsck --strict`) and say the same as the sandbox's git about it: status,
history, references, index, stashes and reflogs.
"""

from __future__ import annotations

import argparse
import difflib
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from agentsandbox import Sandbox
from agentsandbox.git.command import MODULES

LENGTH = 24
FILES = ("a", "a", "a", "b", "b", "c", "d/e", "d/e", "d/f/g", "'sp ace'", "ü", "x.log")
BRANCHES = ("main", "side", "topic/x", "old")
TAGS = ("v1", "v2")
REVISIONS = ("HEAD", "HEAD~1", "HEAD~2", "HEAD^2", "main", "main", "side", "side", "topic/x",
             "topic/x", "old", "v1", "v2", "stash@{0}", "HEAD@{1}", "ORIG_HEAD", "main~1", "side^",
             ":/three")  # fmt: skip
WORDS = ("one", "two", "three", "four", "five")

START = """
seq 9 > a; echo b > b; mkdir d; seq 40 > d/e; git add .; git commit -qm first
git branch old; echo c > c; git add .; git commit -qm second; git tag v1
git switch -qc side; sed -i s/5/five/ a; git commit -qam 'five'; git mv b n; git commit -qm moved
git switch -q main; sed -i s/9/nine/ a; git commit -qam nine; git branch topic/x
git switch -q topic/x; sed -i s/3/three/ d/e; git commit -qam three; git switch -q main
"""
"""What each sequence begins with: branches that have diverged."""

EDITS = (
    "echo WORD > FILE", "echo WORD >> FILE", "seq NUMBER > FILE", "sed -i s/NUMBER/WORD/ FILE",
    "sed -i 1d FILE", "rm -f FILE", "rm -rf d", "mkdir -p d/f", "ln -sf FILE l", "chmod +x FILE",
    "chmod -x FILE", "printf 'x\\0WORD' > FILE", "mv FILE FILE", "echo '*.log' > .gitignore",
    "touch FILE", "printf 'WORD\\r\\n' > FILE", "echo 'FILE text eol=lf' > .gitattributes",
)  # fmt: skip
COMMANDS = {
    8: ("add -A", "commit -aqm WORD", "add FILE", "commit -qm WORD"),
    3: (
        "add -u", "commit -q --amend -m WORD", "branch BRANCH", "switch -q BRANCH",
        "checkout -q BRANCH", "switch -qc BRANCH", "merge -q --no-edit REVISION",
        "stash -q", "stash pop -q", "cherry-pick REVISION", "revert --no-edit REVISION",
        "reset -q --hard REVISION", "reset -q REVISION", "mv FILE FILE", "rm -q FILE",
        "rebase -q REVISION",
    ),
    1: (
        "add -N FILE", "commit -q --allow-empty -m WORD", "commit -qm WORD FILE", "branch -d BRANCH",
        "branch -D BRANCH", "branch -m BRANCH", "branch -f BRANCH REVISION", "checkout -q REVISION",
        "checkout -q -b BRANCH REVISION", "checkout -q -- FILE", "checkout -q REVISION -- FILE",
        "checkout -qf BRANCH", "checkout -qm BRANCH", "switch -q --detach REVISION",
        "switch -q --orphan BRANCH", "merge -q --no-ff -m WORD REVISION", "merge -q --squash REVISION",
        "merge -q --ff-only REVISION", "merge -q --no-commit REVISION", "merge -q -Xours -m WORD REVISION",
        "merge -q -Xtheirs -m WORD REVISION", "merge -q -s ours -m WORD REVISION", "merge --abort",
        "merge --continue", "reset -q --soft REVISION", "reset -q --keep REVISION",
        "reset -q --merge REVISION", "reset -q REVISION -- FILE", "stash push -q -u", "stash push -q -k",
        "stash push -q -m WORD -- FILE", "stash apply -q", "stash drop -q", "stash pop -q --index",
        "stash branch BRANCH", "stash clear", "tag TAG", "tag -f TAG REVISION", "tag -a -m WORD TAG",
        "tag -d TAG", "restore FILE", "restore --staged FILE", "restore -s REVISION FILE",
        "restore -SW -s REVISION FILE", "cherry-pick -x REVISION", "cherry-pick -n REVISION",
        "cherry-pick --continue", "cherry-pick --abort", "cherry-pick --skip", "cherry-pick --quit",
        "revert -n REVISION", "revert --continue", "revert --abort", "rm -q --cached FILE",
        "rm -qrf d", "mv -f FILE FILE", "mv d NEW", "mv FILE d", "rebase -q --onto REVISION REVISION",
        "rebase --abort", "rebase --continue", "rebase --skip", "rebase -q -i REVISION", "gc -q",
        "pack-refs --all", "clean -qfd", "clean -qfdx", "notes add -m WORD REVISION",
        "update-ref refs/heads/BRANCH REVISION", "symbolic-ref HEAD refs/heads/BRANCH",
        "update-index --refresh", "update-index --assume-unchanged FILE", "read-tree REVISION",
        "read-tree -m -u REVISION", "clone -q --bare . ../b.git", "push -q ../b.git HEAD:refs/heads/BRANCH",
        "fetch -q ../b.git", "pull -q --no-rebase --no-edit ../b.git BRANCH", "reflog expire --expire=now --all",
        "bundle create -q ../x.bundle --all", "fetch -q ../x.bundle 'refs/*:refs/bundled/*'",
        "config core.autocrlf input", "worktree add -q ../w BRANCH", "worktree remove -f ../w",
        "prune --expire=now", "repack -adq", "commit -q --no-edit", "apply --index /dev/null",
        "sparse-checkout set d", "sparse-checkout set", "sparse-checkout set --no-cone '/*' '!FILE'",
        "sparse-checkout add d/f", "sparse-checkout reapply", "sparse-checkout disable",
        "sparse-checkout init --sparse-index", "add --sparse FILE", "rm -q --sparse FILE",
        "mv --sparse FILE FILE", "merge -q -m WORD side topic/x", "merge -q REVISION REVISION",
        "checkout-index -fa", "reflog delete HEAD@{1}", "read-tree -m REVISION REVISION REVISION",
    ),
}  # fmt: skip

LOOK = """
git status --porcelain=v2 --branch -uall; echo
git log --all --format='%H %T %P|%an|%ad|%cd|%s|%D'
"""
MORE = """
git status | head -n 3; echo; git for-each-ref --format='%(refname) %(objectname) %(objecttype)'; echo; git ls-files -s; echo
git stash list; echo; git reflog --format='%gd %H %gs'; echo; git diff HEAD --stat; git diff --raw
"""


def sequence(seed: int) -> list[str]:
    """Return the commands of a seed."""
    chance = random.Random(seed)
    here = {name for names in MODULES.values() for name in names.split()}
    commands = [text for weight, texts in COMMANDS.items() for text in texts for _ in range(weight)]

    def fill(text: str) -> str:
        out = []
        for word in text.split(" "):
            for mark, values in (
                ("FILE", FILES), ("BRANCH", BRANCHES), ("TAG", TAGS), ("REVISION", REVISIONS),
                ("WORD", WORDS), ("NUMBER", ("3", "5", "9", "40")), ("NEW", ("n", "d2")),
            ):  # fmt: skip
                if mark in word:
                    word = word.replace(mark, chance.choice(values))
            out.append(word)
        return " ".join(out)

    lines = [line for line in START.splitlines() if line]
    for _ in range(LENGTH):
        kind = chance.random()
        if kind < 0.3:
            lines.append(fill(chance.choice(EDITS)))
        elif kind < 0.5:
            edit = fill(chance.choice(EDITS))
            lines.append(f"{edit}; git add -A; git commit -qm {chance.choice(WORDS)}")
        else:
            command = fill(chance.choice(commands))
            lines.append(f"git {command}" if command.split(" ")[0] in here else "true")
    return lines


def script_of(lines: list[str]) -> str:
    """Return a script that runs all lines, at a minute each, whatever they return."""
    parts = [
        "mkdir r; cd r; git init -q -b main; git config core.editor true",
        # real git reads the clock of the machine, to which all entries are old
        "git config gc.reflogExpire never; git config gc.reflogExpireUnreachable never",
    ]
    for number, line in enumerate(lines):
        when = 1_700_000_000 + 60 * (number // 2)
        parts.append(f"export GIT_AUTHOR_DATE='{when} +0100' GIT_COMMITTER_DATE='{when} +0000'")
        parts.append(f"{{ {line}; }} > /dev/null 2>&1 < /dev/null")
    return "\n".join(parts) + "\n"


ENV = {
    "GIT_AUTHOR_NAME": "A U Thor", "GIT_AUTHOR_EMAIL": "author@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter", "GIT_COMMITTER_EMAIL": "committer@example.com",
    "GIT_MERGE_AUTOEDIT": "no", "GIT_EDITOR": "true",
}  # fmt: skip


REAL = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}  # fmt: skip


def real(script: str, folder: Path, env: dict[str, str]) -> bytes:
    """Return what a script prints with the machine's shell and git."""
    ran = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, check=False, timeout=120,
        env={**REAL, **env, "HOME": str(folder)},
    )  # fmt: skip
    return ran.stdout + ran.stderr


def difference(one: bytes, two: bytes) -> str:
    """Return the lines that differ, "" for equal texts."""
    if one == two:
        return ""
    before, after = (text.decode(errors="replace").splitlines() for text in (one, two))
    return "\n".join(difflib.unified_diff(before, after, "git", "sandbox", lineterm="", n=0))


def judge(seed: int, folder: Path, *, twice: bool = False) -> str:
    """Return what is wrong with the repository of a seed, "" if nothing is.

    twice  whether real git also runs the sequence itself, and must come to the same
    """
    script = script_of(sequence(seed))
    with Sandbox(env=ENV, cwd="/work", clock=lambda: 1_700_100_000.0) as sandbox:
        made = sandbox.execute(script)
        if made.limit is not None or made.stderr:
            return f"limit {made.limit}: {made.stderr}"
        look = LOOK + MORE if twice else LOOK
        ours = sandbox.execute(look, cwd="/work/r").stdout_bytes
        sandbox.files.export(folder / "out", "/work")
    script_of_git = f"git fsck --strict --no-dangling 2>&1; echo @@@@; exec 2> /dev/null; {look}"
    fsck, _, said = real(script_of_git, folder / "out" / "r", {}).partition(b"@@@@\n")
    errors = [
        line
        for line in fsck.decode(errors="replace").splitlines()
        if not line.startswith(("notice: ", "Checking "))
    ]
    if errors:
        return "\n".join(errors)
    found = difference(said, ours)
    if found or not twice:
        return found
    (folder / "again").mkdir()
    return difference(real(script + look, folder / "again", ENV), ours)


def check(seed: int, *, twice: bool = False) -> str:
    """Judge a seed in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="git-sequence-") as folder:
        (Path(folder) / "out").mkdir()
        return judge(seed, Path(folder), twice=twice)


def main() -> int:
    """The command line: 0 if all repositories are sound, 1 if not, 2 without git."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.git_sequences",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("count", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--twice", action="store_true", help="compare with real git's own result")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the script of a seed")
    options = parser.parse_args()
    if options.show is not None:
        print(script_of(sequence(options.show)) + LOOK + MORE)
        return 0
    if shutil.which("git") is None:
        print("there is no git here")
        return 2
    wrong = 0
    for done, seed in enumerate(range(options.seed, options.seed + options.count), 1):
        problem = check(seed, twice=options.twice)
        if problem:
            wrong += 1
            print(f"==== seed {seed}\n{problem}", flush=True)
        if done % 500 == 0 and done < options.count:
            print(f"{done - wrong} of {done} so far", flush=True)
    print(f"{options.count - wrong} of {options.count} sequences end in a sound repository")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
