"""Commands that walk a mounted filesystem look at the clock in time, though each call into it takes
as long as many steps of a script.

The mount counts its calls. Between two looks at the clock there may be only some, whatever the
command does: whoever adds a command that forgets to draw on the budget is found here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentsandbox import MemoryFileSystem, OverlayFileSystem, Sandbox
from agentsandbox.kernel.budget import Budget
from agentsandbox.kernel.fs.base import Stat

FILES = 500
MOST = 150
"""Calls between two looks: some ten milliseconds, if a call takes thirty microseconds."""

WALKS = [
    "rm -r m/tree", "rm m/tree/*", "mv m/tree m/moved; rm -r m/moved", "mv m/tree here",
    "cp -r m/tree here", "cp -r m/tree m/copy", "chmod -R 700 m/tree", "touch m/tree/*",
    "chown -R 1000 m/tree", "find m -name '*1' -newer m/tree/f1", "find m -delete", "ls -lR m",
    "ls m/tree", "du -a m", "tree m", "tar cf here.tar m", "zip -qr here.zip m", "grep -r x m",
    "rg x m", "cat m/tree/*", "wc m/tree/*", "md5sum m/tree/*", "stat m/tree/*", "sort m/tree/*",
    "echo m/*/f*1", "shopt -s globstar; echo m/**", "for f in m/tree/*; do [ -e $f ]; done",
    "diff -r m/tree m/tree", "rename s/f/g/ m/tree/*", "ln -s m/tree/* here2", "file m/tree/*",
    "realpath m/tree/*", "test -e m/tree/f1", "git -C m init -q; git -C m add .; git -C m status",
    "xargs -n 1 ls <<< $(echo m/tree/*)", "head -n 1 m/tree/*", "python3 -c 'print(1)'",
]  # fmt: skip


class _Counting(OverlayFileSystem):
    """An overlay that counts how many calls come between two looks at the clock."""

    calls = most = 0

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        self.calls += 1
        self.most = max(self.most, self.calls)
        return super().stat(path, follow=follow)


@pytest.fixture
def mount(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Counting]:
    lower = MemoryFileSystem()
    lower.mkdir("/tree")
    for number in range(FILES):
        with lower.open(f"/tree/f{number}", "x") as file:
            file.write(b"x\n")
    found = _Counting(lower)
    check_time = Budget.check_time

    def check(budget: Budget) -> None:
        found.calls = 0
        check_time(budget)

    monkeypatch.setattr(Budget, "check_time", check)
    yield found


# TM-TIME-6
@pytest.mark.parametrize("script", WALKS)
def test_a_walk_of_a_mount_looks_at_the_clock_in_time(mount: _Counting, script: str) -> None:
    with Sandbox(mounts={"/home/agent/m": mount}, cwd="/home/agent") as sandbox:
        sandbox.execute("mkdir here2")
        mount.calls = mount.most = 0
        result = sandbox.execute(script)
    assert "mount" not in result.stderr and result.limit is None
    assert mount.most <= MOST
