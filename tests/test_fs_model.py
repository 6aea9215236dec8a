"""Random operations on a filesystem in memory and on the kernel's: same results, same errors, same
tree, exact account.
"""

# TM-MEM-2

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from typing import Any

from contracts.real import RealFileSystem
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from agentsandbox.kernel.fs.base import File, FileSystem
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.fs.nodes import DIR, FILE, HARD, LINK
from agentsandbox.kernel.fs.overlay import OverlayFileSystem
from agentsandbox.limits import Limits

NAMES = (*"aaaabbbccd", ".", "..", "é", "\udcff")
PARTS = st.lists(st.sampled_from(NAMES), min_size=0, max_size=3)
ENDS = st.sampled_from(["", "", "", "", "/", "/."])
BYTES = st.binary(max_size=12)


TOP = "/1/2/3/4"
"""Where all happens: deep enough that links and ".." don't lead above the root, which a folder
isn't to the kernel."""


def clean(parts: list[str], end: str) -> str:
    """A path below `TOP`."""
    depth, kept = 0, []
    for part in parts:
        depth += -1 if part == ".." else part != "."
        if depth < 0:
            depth = 0
            continue
        kept.append(part)
    return "/".join([TOP, *kept]) + end


PATHS = st.builds(clean, PARTS, ENDS)
TEXTS = st.one_of(
    st.sampled_from(["a", "b", "../a", "c/", "./b", "a/b"]), st.builds(clean, PARTS, st.just(""))
)


def recount(fs: MemoryFileSystem) -> tuple[int, int]:
    """(bytes, names) by looking at every node."""
    size = sum(len(node.data) for node in fs.orphans)
    names = 0
    seen = set()
    pending = [fs._root]
    while pending:
        for entry in pending.pop().entries.values():
            names += 1
            node = fs._hard[entry.number] if entry.kind == HARD else entry
            if id(node) in seen:
                continue
            seen.add(id(node))
            if node.kind == FILE:
                size += len(node.data)
            elif node.kind == LINK:
                size += len(os.fsencode(node.text))
            elif node.kind == DIR:
                pending.append(node)
    return size, names


def picture(fs: FileSystem) -> dict[str, object]:
    """Everything below the root: type, permissions, content, and which names are one file."""
    found: dict[str, object] = {}
    inodes: dict[int, int] = {}
    for here, directories, others in fs.walk("/"):
        for name in directories + others:
            path = f"{here.rstrip('/')}/{name}"
            info = fs.stat(path, follow=False)
            one = inodes.setdefault(info.ino, len(inodes))
            content: object = (
                fs.readlink(path) if info.is_link else fs.read_bytes(path) if info.is_file else None
            )
            found[path] = (info.mode, one, info.nlink, content)
    return found


class Comparison(RuleBasedStateMachine):
    """Every rule does the same to both."""

    files = Bundle("files")

    def __init__(self) -> None:
        super().__init__()
        self.top = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.umask = os.umask(0)
        self.judge = RealFileSystem(self.top)
        self.fs = self.make()
        self.opened: list[tuple[File, File]] = []
        for fs in (self.judge, self.fs):
            fs.makedirs(TOP)
        self.fill()

    def fill(self) -> None:
        """What is there at the beginning."""

    def make(self) -> FileSystem:
        return MemoryFileSystem()

    def teardown(self) -> None:
        for pair in self.opened:
            for file in pair:
                file.release()
        os.umask(self.umask)
        shutil.rmtree(self.top)

    def both(self, name: str, *arguments: Any, **options: Any) -> None:
        results = []
        for fs in (self.judge, self.fs):
            try:
                results.append(("value", getattr(fs, name)(*arguments, **options)))
            except OSError as error:
                results.append(("error", errno.errorcode[error.errno or 0]))
        assert results[1] == results[0], (name, arguments, results)

    @rule(path=PATHS, data=BYTES)
    def write(self, path: str, data: bytes) -> None:
        self.both("write_bytes", path, data)

    @rule(path=PATHS, data=BYTES)
    def create(self, path: str, data: bytes) -> None:
        self.both("write_bytes", path.rstrip("/."), data)

    @rule(path=PATHS)
    def read(self, path: str) -> None:
        self.both("read_bytes", path)

    @rule(path=PATHS)
    def mkdir(self, path: str) -> None:
        self.both("mkdir", path)

    @rule(path=PATHS)
    def rmdir(self, path: str) -> None:
        self.both("rmdir", path)

    @rule(path=PATHS)
    def unlink(self, path: str) -> None:
        self.both("unlink", path)

    @rule(source=PATHS, place=PATHS)
    def rename(self, source: str, place: str) -> None:
        self.both("rename", source, place)

    @rule(text=TEXTS, path=PATHS)
    def symlink(self, text: str, path: str) -> None:
        self.both("symlink", text, path)

    @rule(source=PATHS, path=PATHS)
    def link(self, source: str, path: str) -> None:
        self.both("link", source, path)

    @rule(path=PATHS)
    def readlink(self, path: str) -> None:
        self.both("readlink", path)

    @rule(path=PATHS)
    def listdir(self, path: str) -> None:
        self.both("listdir", path)

    @rule(path=PATHS, follow=st.booleans())
    def exists(self, path: str, follow: bool) -> None:
        self.both("exists", path, follow=follow)

    @rule(path=PATHS)
    def realpath(self, path: str) -> None:
        self.both("realpath", path)

    @rule(path=PATHS, mode=st.sampled_from([0o700, 0o755, 0o7777]))
    def chmod(self, path: str, mode: int) -> None:
        self.both("chmod", path, mode)

    @rule(path=PATHS)
    def remove_tree(self, path: str) -> None:
        if not path.endswith(("/", ".")):
            self.both("remove_tree", path)

    @rule(source=PATHS, place=PATHS)
    def copy_tree(self, source: str, place: str) -> None:
        if (
            self.judge.exists(source)
            and self.plain(source)
            and not self.judge.exists(place, follow=False)
        ):
            self.both("copy_tree", source, place)

    def plain(self, source: str) -> bool:
        """Hard links are copied as files of their own either way, but stat tells inodes in the
        order of the walk.
        """
        return not source.endswith(("/", "."))

    @rule(target=files, path=PATHS, mode=st.sampled_from(["r", "w", "a", "x", "r+"]))
    def open(self, path: str, mode: Any) -> int:
        pair: list[File] = []
        errors = []
        for fs in (self.judge, self.fs):
            try:
                pair.append(fs.open(path, mode))
            except OSError as error:
                errors.append(error.errno)
        assert len(errors) in (0, 2), (path, mode, errors, pair)
        assert len(set(errors)) < 2, (path, mode, errors)
        if pair:
            self.opened.append((pair[0], pair[1]))
        return len(self.opened) - 1

    def on_file(self, number: int, name: str, *arguments: Any) -> None:
        if number < 0 or not self.opened:
            return
        results = []
        for file in self.opened[number % len(self.opened)]:
            try:
                results.append(getattr(file, name)(*arguments))
            except OSError as error:
                results.append(error.errno)
        assert results[1] == results[0], (name, arguments, results)

    @rule(number=files, size=st.integers(-1, 5))
    def read_file(self, number: int, size: int) -> None:
        self.on_file(number, "read", size)

    @rule(number=files, data=BYTES)
    def write_file(self, number: int, data: bytes) -> None:
        self.on_file(number, "write", data)

    @rule(number=files, offset=st.integers(-3, 20), whence=st.integers(0, 2))
    def seek_file(self, number: int, offset: int, whence: int) -> None:
        self.on_file(number, "seek", offset, whence)

    @rule(number=files, size=st.integers(0, 20))
    def truncate_file(self, number: int, size: int) -> None:
        self.on_file(number, "truncate", size)

    @rule(number=files)
    def readline_file(self, number: int) -> None:
        self.on_file(number, "readline")

    @rule(number=files)
    def close_file(self, number: int) -> None:
        if self.opened and number >= 0:
            for file in self.opened.pop(number % len(self.opened)):
                file.release()

    @invariant()
    def same_tree(self) -> None:
        ours, theirs = picture(self.fs), picture(self.judge)
        assert ours == theirs, {
            path: (ours.get(path), theirs.get(path))
            for path in ours | theirs
            if ours.get(path) != theirs.get(path)
        }


def look(fs: MemoryFileSystem, seen: dict[object, object]) -> dict[str, object]:
    """What each directory with a version holds; fail if `seen` knows another content of it.

    Files with several names are left out: a change by another name gives no new version.
    """
    found: dict[str, object] = {}
    for here, directories, others in reversed(list(fs.walk("/"))):
        content: list[object] = []
        for name, mark in zip(directories, fs.marks(here, directories), strict=True):
            path = f"{here.rstrip('/')}/{name}"
            if mark:
                assert seen.setdefault(mark, found[path]) == found[path]
            content.append((name, found[path]))
        for name, mark in zip(others, fs.marks(here, others), strict=True):
            path = f"{here.rstrip('/')}/{name}"
            if fs.stat(path, follow=False).is_link:
                content.append((name, fs.readlink(path)))
            else:
                content.append((name, mark, None if mark is None else fs.read_bytes(path)))
        found[here] = (fs.stat(here).mode, content)
    return found


class MemoryComparison(Comparison):
    """Also: snapshots and forks in between change nothing, and the account is exact.

    Directories with the same version have the same content.
    """

    fs: MemoryFileSystem

    def __init__(self) -> None:
        super().__init__()
        self.versions: list[tuple[Any, dict[str, object]]] = []
        self.forks: list[tuple[MemoryFileSystem, dict[str, object]]] = []
        self.contents: dict[object, object] = {}

    @rule()
    def keep_versions(self) -> None:
        self.fs.keep_versions()
        look(self.fs, self.contents)
        assert self.fs.marks("/", ["1"]) != [()]

    @invariant()
    def same_version_same_content(self) -> None:
        look(self.fs, self.contents)

    @rule()
    def snapshot(self) -> None:
        self.versions.append((self.fs.snapshot(), picture(self.fs)))

    @rule()
    def fork(self) -> None:
        self.forks.append((self.fs.fork(), picture(self.fs)))

    @rule(path=PATHS, data=BYTES)
    def write_to_fork(self, path: str, data: bytes) -> None:
        """What a fork does is not seen here."""
        if self.forks:
            fork, _ = self.forks.pop()
            for call in (
                lambda: fork.write_bytes(path, data),
                lambda: fork.remove_tree(f"{TOP}/a"),
                lambda: fork.chmod(path, 0o700),
            ):
                try:
                    call()
                except OSError:
                    pass
            assert recount(fork) == (fork.used, fork.nodes)
            look(fork, self.contents)

    @rule()
    def look_back(self) -> None:
        """Every version is as it was."""
        for snapshot, seen in self.versions:
            then = MemoryFileSystem()
            then.restore(snapshot)
            assert picture(then) == seen
            assert recount(then) == (then.used, then.nodes)
            changes = {change.path for change in self.fs.diff(snapshot)}
            now = picture(self.fs)
            assert changes >= seen.keys() ^ now.keys()
        for fork, seen in self.forks:
            assert picture(fork) == seen

    @invariant()
    def exact_account(self) -> None:
        assert recount(self.fs) == (self.fs.used, self.fs.nodes)


class SmallDisk(RuleBasedStateMachine):
    """Whatever is tried, the limits hold and the account is exact."""

    limits = Limits(file_bytes=20, total_bytes=60, files=10)

    @initialize()
    def begin(self) -> None:
        self.fs = MemoryFileSystem(self.limits)
        self.fs.makedirs(TOP)
        self.opened: list[File] = []
        self.snapshots = [self.fs.snapshot()]

    @rule(
        name=st.sampled_from(
            [
                "write_bytes",
                "append",
                "truncate",
                "mkdir",
                "symlink",
                "unlink",
                "rmdir",
                "remove_tree",
            ]
        ),
        data=st.data(),
    )
    def change(self, name: str, data: st.DataObject) -> None:
        path = data.draw(PATHS)
        try:
            if name == "write_bytes":
                self.fs.write_bytes(path, data.draw(st.binary(max_size=30)))
            elif name == "append":
                self.opened.append(self.fs.open(path, "a"))
            elif name == "truncate":
                with self.fs.open(path, "r+") as file:
                    file.truncate(data.draw(st.integers(0, 100)))
            elif name == "symlink":
                self.fs.symlink("x" * data.draw(st.integers(1, 30)), path)
            else:
                getattr(self.fs, name)(path)
        except OSError:
            pass

    @rule(source=PATHS, place=PATHS, name=st.sampled_from(["rename", "link", "copy_tree"]))
    def pairwise(self, source: str, place: str, name: str) -> None:
        try:
            getattr(self.fs, name)(source, place)
        except OSError:
            pass

    @rule(number=st.integers(0, 3), data=st.binary(max_size=30), seek=st.integers(0, 40))
    def write_file(self, number: int, data: bytes, seek: int) -> None:
        if self.opened:
            file = self.opened[number % len(self.opened)]
            try:
                file.seek(seek)
                file.write(data)
            except OSError:
                pass

    @rule()
    def close_file(self) -> None:
        if self.opened:
            self.opened.pop().release()

    @rule()
    def snapshot(self) -> None:
        self.snapshots.append(self.fs.snapshot())

    @rule(number=st.integers(0, 3))
    def restore(self, number: int) -> None:
        try:
            self.fs.restore(self.snapshots[number % len(self.snapshots)])
        except OSError:
            pass

    @invariant()
    def limits_hold(self) -> None:
        assert recount(self.fs) == (self.fs.used, self.fs.nodes)
        assert self.fs.used <= self.limits.total_bytes
        assert self.fs.nodes <= self.limits.files


class OverlayComparison(Comparison):
    """An overlay on a filesystem that holds things already; hard links part when copied up, so they
    are not tried.
    """

    def make(self) -> FileSystem:
        self.lower = MemoryFileSystem()
        return OverlayFileSystem(self.lower)

    def fill(self) -> None:
        for fs in (self.lower, self.judge):
            fs.makedirs(f"{TOP}/a/b/c")
            fs.makedirs(f"{TOP}/b")
            fs.write_bytes(f"{TOP}/a/c", b"lower")
            fs.write_bytes(f"{TOP}/a/b/a", b"lower too", permissions=0o600)
            fs.write_bytes(f"{TOP}/c", b"top")
            fs.symlink("a/b", f"{TOP}/é")
            fs.symlink("../c", f"{TOP}/b/a")

    def link(self, source: str = "", path: str = "") -> None:
        pass

    @invariant()
    def same_tree(self) -> None:
        def plain(fs: FileSystem) -> dict[str, object]:
            return {path: (info[0], info[3]) for path, info in picture(fs).items()}  # type: ignore[index]

        assert plain(self.fs) == plain(self.judge)

    @rule()
    def open(self) -> None:  # type: ignore[override]
        """A file open for reading doesn't see a later copy up."""


SETTINGS = settings(
    max_examples=50, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestMemoryAgainstKernel = MemoryComparison.TestCase
TestMemoryAgainstKernel.settings = SETTINGS
TestOverlayAgainstKernel = OverlayComparison.TestCase
TestOverlayAgainstKernel.settings = SETTINGS
TestSmallDisk = SmallDisk.TestCase
TestSmallDisk.settings = SETTINGS
