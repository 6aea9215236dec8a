"""No command walks a large tree without a look at the clock, whichever command it is.

The table of commands gives the members: each one gets a flat directory and a deep one in several
ways, on the sandbox's own files, on a mount and on an overlay. What is counted are events of the
interpreter (calls of functions, of C functions) between two looks at the clock: the same number on
every machine. A loop over all the files without a look has thousands of them for each hundred files.

One call into C is one event, however long it is, so a second test measures what a tree of twice the
size takes: more than in proportion means a sort or a copy of everything for each file.

`TREES` is the number of scripts (0: all).
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from collections.abc import Iterator
from time import thread_time
from typing import Any

import pytest

from agentsandbox import Limits, MemoryFileSystem, OverlayFileSystem, Sandbox
from agentsandbox.commands import names
from agentsandbox.kernel.budget import Budget
from agentsandbox.kernel.fs.base import FileSystem

COUNT = int(os.environ.get("TREES", "10"))
SEED = int(os.environ.get("TREES_SEED", "9"))
FILES = 1200
"""Files of each kind: in one directory, and in directories within each other."""
MOST = 80_000
"""Events between two looks: some ten milliseconds."""
WITH_GIT = importlib.util.find_spec("dulwich") is not None

FORMS = (
    "{} m/flat/*", "{} -r m/flat new", "{} -R m/flat", "{} m/flat", "{} -a m/flat/ other", "{} m/flat new", "{} -r m",
    "cd m/flat; {} *", "{} m/flat/* m/deep", "{} -rf m/flat", "{} 700 m/flat/*", "{} -R 700 m", "{} a m/flat/*",
    "{} -s m/flat/* m/deep", "{} new m/flat", "{} -r new m", "printf '%s\\n' m/flat/* | {}", "{} -c m/flat/*",
    "{} cf new m", "{} x < <(echo m/flat/*)", "{} -r x m", "{} s/f/g/ m/flat/*",
)  # fmt: skip
SHELL = (
    "echo m/flat/*", "echo m/*/*", "shopt -s globstar; echo m/**", "for f in m/flat/*; do :; done", "mv m/flat m/moved",
    "rm -r m; ls", "compgen -f m/flat/ | wc -l", "compgen -G 'm/flat/*' | wc -l", "cd m/flat; cd ..; pushd flat; popd",
    "[ m/flat -nt m/deep ]; test -e m/flat/f1", "for f in m/flat/*; do [[ -e $f ]]; done", "complete -f x; echo m/flat/?1*",
    "mapfile -t a < <(find m); echo ${#a[@]}", "exec 3< m/flat/f1; rm -r m; cat <&3", "umask 077; cp -r m new; rm -r m",
    "set -- m/flat/*; shift; rm \"$@\"", "hash -r; PATH=m/flat:$PATH; nosuchcommand; type f1", "echo x > m/flat/new; rm m/flat/new",
)  # fmt: skip
GIT = tuple(
    f"cd m/flat; git init -q; git add .; git -c user.name=a -c user.email=b commit -qm one; {command}"
    for command in (
        "git status -s", "rm *; git status -s; git checkout -q .", "git rm -qr .; git status -s", "git mv * ../deep",
        "git checkout -q -b b; for f in f1?; do echo 2 > $f; done; git commit -qam two; git checkout -q -; git merge -q b",
        "git stash -u; git stash pop", "git ls-files | wc -l; git ls-tree -r HEAD | wc -l", "git archive HEAD | wc -c",
        "git gc -q; git fsck", "git clone -q . ../new", "git diff --stat; git grep 1 | wc -l", "git clean -fdxq; git reset -q --hard",
        "git worktree add -q ../w; git sparse-checkout set f1", "git blame f1; git log --oneline -- f1", "git rm -q --cached -r .; git add -A",
    )
)  # fmt: skip


def scripts() -> list[str]:
    """Return scripts by chance, or all of them."""
    every = [form.format(name) for name in sorted(names()) for form in FORMS]
    every += [*SHELL, *SHELL, *(GIT if WITH_GIT else ())]
    chance = random.Random(SEED)
    return chance.sample(every, min(COUNT, len(every))) if COUNT else every


def fill(fs: FileSystem, top: str = "") -> None:
    """Make a flat directory and a deep one."""
    fs.mkdir(f"{top}/flat")
    for number in range(FILES):
        fs.write_bytes(f"{top}/flat/f{number}", b"1\n")
    here = f"{top}/deep"
    for number in range(FILES // 20):
        fs.mkdir(here)
        for each in range(18):
            fs.write_bytes(f"{here}/f{each}", b"1\n")
        here = f"{here}/d{number}" if number % 12 else f"{top}/deep{number}"


class Events:
    """Counts the interpreter's calls since the last look at the clock."""

    def __init__(self) -> None:
        self.count = self.most = 0

    def note(self, frame: Any, event: str, argument: object) -> None:
        self.count += event in ("call", "c_call")

    def look(self) -> None:
        self.most = max(self.most, self.count)
        self.count = 0


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[Events]:
    found = Events()
    check_time = Budget.check_time

    def check(budget: Budget) -> None:
        found.look()
        check_time(budget)

    monkeypatch.setattr(Budget, "check_time", check)
    yield found
    sys.setprofile(None)


def sandbox_with(kind: str) -> Sandbox:
    """Return a sandbox whose /workspace/m is a large tree."""
    limits = Limits(timeout=60, output_bytes=1 << 26)
    if kind == "own":
        sandbox = Sandbox(limits=limits)
        sandbox.fs.mkdir("/workspace/m")
        fill(sandbox.fs, "/workspace/m")
        sandbox.execute("chmod -R a+rw m")
        return sandbox
    lower = MemoryFileSystem()
    fill(lower)
    mount: FileSystem = OverlayFileSystem(lower) if kind == "overlay" else lower
    return Sandbox(limits=limits, mounts={"/workspace/m": mount})


# TM-TIME-6
def test_no_command_walks_a_tree_without_a_look(events: Events) -> None:
    late = []
    for number, script in enumerate(scripts()):
        kind = ("own", "own", "mount", "overlay")[number % 4]
        with sandbox_with(kind) as sandbox:
            sandbox.execute(f"{script.split()[0]} --help; git --version; ls | wc")  # loads modules
            events.count = events.most = 0
            sys.setprofile(events.note)
            sandbox.execute(script, timeout=5, stdin=b"1\n")
            sys.setprofile(None)
            events.look()
            if events.most > MOST:
                late.append((events.most, kind, script))
    assert late == []


GROWING = [
    "rm -r m/flat", "mv m/flat/* m/deep", "cp -r m/flat new", "ls -l m/flat", "find m -type f | wc -l", "echo m/flat/* | wc -c",
    "chmod 600 m/flat/*", "tar cf t m; tar tf t | wc -l", "touch m/flat/*", "for f in m/flat/*; do [ -e $f ]; done",
    *GIT[:1],
]  # fmt: skip


@pytest.mark.skipif(not os.environ.get("TREES"), reason="measures time: TREES=… runs it")
@pytest.mark.parametrize("script", [*GROWING, *GIT[1:]])
@pytest.mark.parametrize("kind", ["own", "overlay"])
def test_twice_the_tree_takes_twice_the_time(
    script: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    for files in (4000, 16000):
        monkeypatch.setattr("tests.security.test_trees.FILES", files)
        with sandbox_with(kind) as sandbox:
            sandbox.execute(f"{script.split()[0]} --help; git --version")
            began = thread_time()
            sandbox.execute(script)
            taken.append(thread_time() - began)
    assert taken[1] < 8 * taken[0] + 0.1
