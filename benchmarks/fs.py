"""How long filesystem operations take: in memory, in pyfakefs, on a real tmpfs. Run: python
benchmarks/fs.py
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import timeit
from pathlib import Path

from pyfakefs.fake_filesystem import FakeFilesystem
from pyfakefs.fake_filesystem_unittest import Patcher

from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.fs.trees import build_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DATA = b"x" * 112
FILES = 5000


class Memory:
    """The filesystem of a sandbox."""

    def __init__(self) -> None:
        self.fs = fs = MemoryFileSystem()
        fs.makedirs("/d")
        fs.write_bytes("/d/f", DATA)
        self.count = 0

    def read(self) -> None:
        self.fs.read_bytes("/d/f")

    def write(self) -> None:
        self.fs.write_bytes("/d/f", DATA)

    def create(self) -> None:
        self.count += 1
        self.fs.write_bytes(f"/d/{self.count}", DATA)

    def stat(self) -> None:
        self.fs.stat("/d/f")

    def exists(self) -> None:
        self.fs.exists("/d/f")

    def missing(self) -> None:
        self.fs.exists("/d/none")

    def append(self) -> None:
        file = self.fs.open("/d/log", "a")
        file.write(b"line\n")
        file.release()

    def fill(self) -> None:
        fs = self.fs
        for outer in range(50):
            fs.makedirs(f"/w/{outer}")
            for inner in range(FILES // 50):
                fs.write_bytes(f"/w/{outer}/{inner}", b"")

    def walk(self) -> None:
        assert sum(len(files) for _, _, files in self.fs.walk("/w")) == FILES

    def copy(self) -> None:
        self.fs.copy_tree("/w", "/copy")
        self.fs.remove_tree("/copy")

    def snapshot(self) -> None:
        self.fs.snapshot()

    def fork(self) -> None:
        self.fs.fork()

    def fork_write(self) -> None:
        self.fs.fork().write_bytes("/d/f", DATA)


class Real:
    """The operating system's, or pyfakefs in its place."""

    def __init__(self, top: str) -> None:
        self.top = top
        os.makedirs(f"{top}/d")
        Path(f"{top}/d/f").write_bytes(DATA)
        self.count = 0

    def read(self) -> None:
        with open(f"{self.top}/d/f", "rb") as file:
            file.read()

    def write(self) -> None:
        with open(f"{self.top}/d/f", "wb") as file:
            file.write(DATA)

    def create(self) -> None:
        self.count += 1
        with open(f"{self.top}/d/{self.count}", "wb") as file:
            file.write(DATA)

    def stat(self) -> None:
        os.stat(f"{self.top}/d/f")

    def exists(self) -> None:
        os.path.exists(f"{self.top}/d/f")

    def missing(self) -> None:
        os.path.exists(f"{self.top}/d/none")

    def append(self) -> None:
        with open(f"{self.top}/d/log", "ab") as file:
            file.write(b"line\n")

    def fill(self) -> None:
        for outer in range(50):
            os.makedirs(f"{self.top}/w/{outer}")
            for inner in range(FILES // 50):
                with open(f"{self.top}/w/{outer}/{inner}", "wb"):
                    pass

    def walk(self) -> None:
        assert sum(len(files) for _, _, files in os.walk(f"{self.top}/w")) == FILES

    def copy(self) -> None:
        shutil.copytree(f"{self.top}/w", f"{self.top}/copy")
        shutil.rmtree(f"{self.top}/copy")


def measure(call: Callable[[], object], number: int, repeat: int = 5) -> float:
    """Microseconds of one call."""
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number * 1e6


SMALL = ("read", "write", "create", "stat", "exists", "missing", "append")


def measure_all(target: Memory | Real, number: int, *, large: bool) -> dict[str, float]:
    """Every operation that the target has."""
    figures = {name: measure(getattr(target, name), number) for name in SMALL}
    if large:
        target.fill()
        figures["walk"] = measure(target.walk, 1)
        figures["copy"] = measure(target.copy, 1, 3)
    for name in ("snapshot", "fork", "fork_write"):
        if hasattr(target, name):
            figures[name] = measure(getattr(target, name), 200)
    return figures


def main() -> None:
    memory = measure_all(Memory(), 5000, large=True)
    memory["new"] = measure(MemoryFileSystem, 2000)
    skill = build_tree({f"references/{number}.md": DATA for number in range(20)})
    fs = MemoryFileSystem()
    memory["graft"] = measure(lambda: fs.mount_tree(f"/skills/{fs.nodes}", skill), 1, 1)
    top = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        real = measure_all(Real(f"{top}/x"), 500, large=True)
    finally:
        shutil.rmtree(top)
    with Patcher():
        fake = measure_all(Real("/x"), 50, large="--quick" not in sys.argv)
    fake["new"] = measure(FakeFilesystem, 10)
    print(f"{'us':12}{'memory':>12}{'tmpfs':>12}{'pyfakefs':>12}")
    for name in dict.fromkeys([*memory, *fake]):
        row = [figures.get(name) for figures in (memory, real, fake)]
        print(
            f"{name:12}"
            + "".join(f"{'' if figure is None else f'{figure:.2f}':>12}" for figure in row)
        )


if __name__ == "__main__":
    main()
