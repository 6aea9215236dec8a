"""Random series: a mounted folder while another thread exchanges its entries, and whole sandboxes.

`STATEFUL_EXAMPLES` is the number of series of each machine.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agentsandbox import ExecutionResult, Limits, Sandbox
from agentsandbox.kernel.fs.base import FileSystem
from agentsandbox.kernel.fs.host import HostFileSystem
from agentsandbox.kernel.fs.overlay import OverlayFileSystem
from tests.security.whole import problems_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="mounts need openat")

EXAMPLES = int(os.environ.get("STATEFUL_EXAMPLES", "2"))
SECRET = "secret of the host"
NAMES = ("a", "b", "d/a", "d/b", "d", "d/e/x", "l", "l/a", ".", "d/../a")
PATHS = st.sampled_from(NAMES)


class Exchanger:
    """A thread that puts links out of the folder, pipes and other folders in place of entries."""

    def __init__(self, folder: Path, outside: Path) -> None:
        self.folder, self.outside = folder, outside
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        turn = 0
        while not self.ends.wait(0.0002):
            turn += 1
            try:
                self.exchange(turn)
            except OSError:
                pass

    def exchange(self, turn: int) -> None:
        """Put a link in place of an entry, or the entry back. It follows no link itself."""
        parent, _, name = ("a", "d", "b", "l", "d/a", "d/e")[turn % 6].rpartition("/")
        aside = self.folder.parent / f"aside{turn % 6}"
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        number = os.open(self.folder / parent, flags)
        try:
            if turn % 7 == 0:
                os.mkfifo(name, dir_fd=number)
            kind = os.stat(name, dir_fd=number, follow_symlinks=False).st_mode
            if stat.S_ISLNK(kind):
                os.unlink(name, dir_fd=number)
                os.rename(aside, name, dst_dir_fd=number)
            elif not aside.exists():
                os.rename(name, aside, src_dir_fd=number)
                target = self.outside if turn % 4 else self.outside / "secret"
                os.symlink(target, name, dir_fd=number)
        finally:
            os.close(number)

    def end(self) -> None:
        self.ends.set()
        self.thread.join()


class MountMachine(RuleBasedStateMachine):
    """Scripts work in a folder whose entries turn into links: nothing outside is read or written."""

    @initialize(overlay=st.booleans())
    def begin(self, overlay: bool) -> None:
        self.top = Path(tempfile.mkdtemp()).resolve()
        folder, outside = self.top / "folder", self.top / "outside"
        (folder / "d" / "e").mkdir(parents=True)
        outside.mkdir()
        for name in ("a", "b", "d/a", "d/b", "d/e/x"):
            (folder / name).write_text("inside\n")
        (outside / "secret").write_text(SECRET)
        (outside / "a").write_text(SECRET)
        host = HostFileSystem(
            folder, read_only=overlay, limits=Limits(total_bytes=50_000, files=200)
        )
        fs: FileSystem = OverlayFileSystem(host) if overlay else host
        self.outside = outside
        self.sandbox = Sandbox(mounts={"/mnt": fs}, limits=Limits(timeout=20), cwd="/mnt")
        self.exchanger = Exchanger(folder, outside)

    def run(self, script: str) -> ExecutionResult:
        result = self.sandbox.execute(script)
        assert SECRET not in result.stdout + result.stderr, script
        assert result.exit_code != 70, (script, result.stderr)
        assert result.limit is None, script
        return result

    @rule(path=PATHS, other=PATHS)
    def read(self, path: str, other: str) -> None:
        self.run(
            f"cat {path} {other}; head -c 5 {path}; grep -r . {other}; cp -rL {path} /tmp/copy; cat /tmp/copy; rm -rf /tmp/copy"
        )

    @rule(path=PATHS, other=PATHS)
    def look(self, path: str, other: str) -> None:
        self.run(
            f"ls -lR {path}; find {other} -type f -exec cat {{}} +; readlink -f {path}; stat {other}; tar cf - {path} | wc -c; wc {other}/*"
        )

    @rule(path=PATHS, other=PATHS)
    def write(self, path: str, other: str) -> None:
        self.run(
            f"echo script > {path}; echo more >> {other}; sed -i s/i/I/ {path}; touch {other}/x; chmod 700 {path}"
        )

    @rule(path=PATHS, other=PATHS)
    def move(self, path: str, other: str) -> None:
        self.run(
            f"mv {path} {other}; ln -sf {other} {path}; ln {path} {other}/hard; mkdir -p {other}/m/n; rm -rf {path}/secret {path}/m"
        )

    @rule(path=PATHS)
    def remove(self, path: str) -> None:
        if path != ".":
            self.run(f"rm -r {path}; mkdir {path}; cp /etc/passwd {path}")

    @rule(path=PATHS)
    def hold(self, path: str) -> None:
        self.run(f"exec 7<> {path} && {{ echo held >&7; exec 7>&-; }}; : < {path}; source ./{path}")

    @rule(path=PATHS)
    def by_the_host(self, path: str) -> None:
        try:
            data = self.sandbox.fs.read_bytes(f"/mnt/{path}")
        except OSError:
            return
        assert SECRET.encode() not in data

    @invariant()
    def nothing_happened_outside(self) -> None:
        if hasattr(self, "outside"):
            assert sorted(os.listdir(self.outside)) == ["a", "secret"]
            assert {path.read_text() for path in self.outside.iterdir()} == {SECRET}

    def teardown(self) -> None:
        if hasattr(self, "exchanger"):
            self.exchanger.end()
            self.sandbox.close()
            shutil.rmtree(self.top)


SCRIPTS = st.sampled_from(
    [
        "x=$((x + 1)); echo $x > x", "mkdir -p d; cp x d/; ln -f x d/y; ln -sf d l", "rm -rf d l; echo done",
        "f() { echo \"$1$1\"; }; f a", "seq 2000 | sort -r | head -n 3", "sleep 60 & coproc cat", "trap 'echo bye > bye' EXIT",
        "exec 7> held; rm -f held; echo x >&7", "cd d; pwd", "while :; do :; done", "g() { g; }; g", "kill %1; wait; jobs",
        "x=a; while :; do x=$x$x; done", "yes > big", "set -o nounset; shopt -s extglob; alias ll=ls", "unset x; exit 3",
        "tar cf t.tar . 2> /dev/null; mkdir -p out; tar xf t.tar -C out; rm -rf out t.tar", "awk 'BEGIN { while (1) n++ }'",
        "rm -rf / 2> /dev/null; echo $?", "exec > /dev/null 2>&1", "cat << E > h\n$x\nE\ncat h", "readonly r=1; r=2",
    ]
)  # fmt: skip


class SandboxMachine(RuleBasedStateMachine):
    """Calls, snapshots, forks, files: the account is exact, forks do not see each other."""

    def __init__(self) -> None:
        super().__init__()
        self.limits = Limits(
            timeout=0.05,
            steps=20_000,
            value_bytes=1 << 18,
            file_bytes=1 << 19,
            total_bytes=1 << 20,
            files=600,
            depth=50,
        )
        self.sandbox = Sandbox(limits=self.limits, seed=1)
        self.forks: list[tuple[Sandbox, dict[str, Any]]] = []
        self.snapshots: list[tuple[Any, dict[str, Any]]] = []

    def picture(self, sandbox: Sandbox) -> dict[str, Any]:
        fs = sandbox.fs
        return {
            f"{here}/{name}": fs.read_bytes(f"{here}/{name}")
            for here, _, names in fs.walk("/workspace")
            for name in names
            if fs.is_file(f"{here}/{name}") and fs.stat(f"{here}/{name}", follow=False).is_file
        }

    @rule(script=SCRIPTS, state=st.sampled_from(["keep", "keep", "keep", "discard", "new"]))
    def execute(self, script: str, state: Any) -> None:
        result = self.sandbox.execute(script, state=state)
        assert result.exit_code != 70, (script, result.stderr)

    @rule()
    def fork(self) -> None:
        self.forks = [*self.forks[-2:], (self.sandbox.fork(), self.picture(self.sandbox))]

    @rule()
    def go_to_a_fork(self) -> None:
        if self.forks:
            fork, seen = self.forks.pop()
            assert self.picture(fork) == seen
            self.sandbox.close()
            self.sandbox = fork

    @rule()
    def snapshot(self) -> None:
        self.snapshots = [(self.sandbox.snapshot(), self.picture(self.sandbox))]

    @rule()
    def restore(self) -> None:
        if self.snapshots:
            snapshot, seen = self.snapshots[0]
            self.sandbox.restore(snapshot)
            assert self.picture(self.sandbox) == seen

    @rule(name=st.sampled_from(["x", "d/x", "new/deep/file", "l"]), data=st.binary(max_size=40))
    def write(self, name: str, data: bytes) -> None:
        try:
            self.sandbox.files.write(name, data.decode("latin-1"))
        except OSError:
            pass

    @invariant()
    def whole(self) -> None:
        assert problems_of(self.sandbox) == []
        assert self.sandbox.fs.used_bytes <= self.limits.total_bytes
        assert self.sandbox.fs.used_files <= self.limits.files
        assert self.sandbox.execute("\\builtin echo alive", state="new").stdout == "alive\n"

    def teardown(self) -> None:
        for sandbox in (self.sandbox, *(fork for fork, _ in self.forks)):
            sandbox.close()


SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
TestMounts = MountMachine.TestCase
TestMounts.settings = SETTINGS
TestSandboxes = SandboxMachine.TestCase
TestSandboxes.settings = SETTINGS
