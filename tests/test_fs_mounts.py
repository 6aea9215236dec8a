from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from contracts.filesystem import FileSystemContract, number_of, tree
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox import Sandbox
from agentsandbox.kernel.fs.base import File, FileSystem, Stat
from agentsandbox.kernel.fs.host import HostFileSystem
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.fs.overlay import OverlayFileSystem
from agentsandbox.kernel.fs.trees import build_tree
from agentsandbox.limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Mode

PLACES = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(
    lambda names: "/" + "/".join(names)
)
SKILL = build_tree({"SKILL.md": b"# x\n", "scripts/run.sh": (b"echo\n", 0o755)})


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


# shared trees


def test_a_shared_tree_can_be_read_and_not_changed(fs: MemoryFileSystem) -> None:
    fs.mount_tree("/.sandbox/skills/x", SKILL)
    top = "/.sandbox/skills/x"
    assert fs.read_bytes(f"{top}/SKILL.md") == b"# x\n"
    assert fs.access(f"{top}/scripts/run.sh", 5)
    assert (fs.used_bytes, fs.used_files) == (0, 0)
    for call in (
        lambda: fs.write_bytes(f"{top}/SKILL.md", b""),
        lambda: fs.open(f"{top}/SKILL.md", "a"),
        lambda: fs.open(f"{top}/SKILL.md", "r+"),
        lambda: fs.write_bytes(f"{top}/new", b""),
        lambda: fs.mkdir(f"{top}/new"),
        lambda: fs.symlink("x", f"{top}/new"),
        lambda: fs.mkfifo(f"{top}/new"),
        lambda: fs.link(f"{top}/SKILL.md", f"{top}/new"),
        lambda: fs.unlink(f"{top}/SKILL.md"),
        lambda: fs.rmdir(f"{top}/scripts"),
        lambda: fs.rename(f"{top}/SKILL.md", f"{top}/new"),
        lambda: fs.chmod(f"{top}/SKILL.md", 0o777),
        lambda: fs.chmod(top, 0o777),
        lambda: fs.utime(top, 0.0),
        lambda: fs.remove_tree(f"{top}/scripts"),
        lambda: fs.copy_tree(f"{top}/scripts", f"{top}/new"),
    ):
        assert number_of(call) == "EROFS"  # type: ignore[arg-type]
    fs.mkdir("/d")
    for path in (top, f"{top}/"):
        assert number_of(fs.rmdir, path) == "EBUSY"
        assert number_of(fs.rename, path, "/y") == "EBUSY"
        assert number_of(fs.rename, "/d", path) == "EBUSY"
    assert number_of(fs.rename, f"{top}/SKILL.md", "/y") == "EXDEV"
    assert number_of(fs.link, f"{top}/SKILL.md", "/y") == "EXDEV"
    fs.uid = 0
    assert number_of(fs.write_bytes, f"{top}/SKILL.md", b"") == "EROFS"
    assert number_of(fs.unlink, f"{top}/SKILL.md") == "EROFS"


def test_a_shared_tree_can_be_copied_and_then_changed(fs: MemoryFileSystem) -> None:
    fs.mount_tree("/x", SKILL)
    fs.copy_tree("/x", "/copy")
    fs.write_bytes("/copy/SKILL.md", b"mine")
    assert fs.read_bytes("/x/SKILL.md") == b"# x\n"
    assert fs.used_bytes == len(b"mine" + b"echo\n")


def test_links_and_dot_dot_pass_through_a_shared_tree(fs: MemoryFileSystem) -> None:
    fs.mount_tree("/x", build_tree({"d/f": b"1"}, links={"out": "/outside", "up": "../outside"}))
    fs.write_bytes("/outside", b"2")
    assert (
        fs.read_bytes("/x/out")
        == fs.read_bytes("/x/up")
        == fs.read_bytes("/x/d/../../outside")
        == b"2"
    )
    fs.write_bytes("/x/out", b"3")
    assert fs.read_bytes("/outside") == b"3"


def test_a_writable_shared_tree_is_everyones_own() -> None:
    tree_of = build_tree({"d/f": b"1"}, uid=1000)
    first, second = MemoryFileSystem(), MemoryFileSystem(Limits(total_bytes=1, files=2))
    for fs in (first, second):
        fs.mount_tree("/x", tree_of, read_only=False)
    assert number_of(second.write_bytes, "/new", b"22") == "ENOSPC"
    first.write_bytes("/x/d/f", b"changed")
    assert second.read_bytes("/x/d/f") == b"1"
    assert tree_of.files() == {"/d/f": b"1"}


def test_nothing_is_planted_beside_a_read_only_mount(fs: MemoryFileSystem) -> None:
    fs.mount_tree("/.sandbox/skills/x", SKILL)
    assert number_of(fs.mkdir, "/.sandbox/skills/y") == "EACCES"
    assert number_of(fs.rename, "/.sandbox/skills", "/.sandbox/other") == "EACCES"
    fs.mount_tree("/.sandbox/skills/y", SKILL)
    fs.mount_tree("/.sandbox/skills/z", SKILL)
    assert fs.listdir("/.sandbox/skills") == ["x", "y", "z"]
    assert fs.stat("/.sandbox/skills").nlink == 5


def test_many_sandboxes_share_a_shared_tree(fs: MemoryFileSystem) -> None:
    fs.mount_tree("/x", SKILL)
    fork = fs.fork()
    fork.write_bytes("/own", b"")
    assert fork.read_bytes("/x/SKILL.md") == b"# x\n"
    assert number_of(fork.unlink, "/x/SKILL.md") == "EROFS"


def test_a_mount_point_must_be_free(fs: MemoryFileSystem) -> None:
    fs.mkdir("/d")
    fs.write_bytes("/d/f", b"")
    assert number_of(fs.mount_tree, "/d", SKILL) == "ENOTEMPTY"
    assert number_of(fs.mount_tree, "/", SKILL) == "EBUSY"
    fs.mount_tree("/x", SKILL)
    assert number_of(fs.mount_tree, "/x", SKILL) == "EBUSY"
    assert number_of(fs.mount_tree, "/x/scripts", SKILL) == "EROFS"
    assert number_of(fs.remove_tree, "/x") in ("EROFS", "EBUSY")


# other filesystems


class Letters(FileSystem):
    """The smallest filesystem of one's own: two files and a link out of it."""

    files = {"/a": b"alpha", "/b": b"beta"}
    links = {"/out": "/workspace/f"}

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        if path in ("/", ""):
            return Stat(0o040555, 0, 1.0)
        if path in self.links:
            return Stat(0o120777, 0, 1.0)
        if path in self.files:
            return Stat(0o100444, len(self.files[path]), 1.0)
        raise FileNotFoundError(2, "secret text", "/host/path")

    def listdir(self, path: str) -> list[str]:
        return ["a", "b", "out"]

    def open(self, path: str, mode: Mode = "r", *, permissions: int = 0o644) -> File:
        if mode != "r":
            raise OSError(30, "no", "/host/path")
        inner = MemoryFileSystem()
        inner.write_bytes(path, self.files[path])
        return inner.open(path)

    def readlink(self, path: str) -> str:
        return self.links[path]

    def _refuse(self, *arguments: object, **options: object) -> None:
        raise OSError(30, "no", "/host/path")

    mkdir = rmdir = unlink = rename = symlink = link = chmod = utime = _refuse


def test_a_filesystem_of_ones_own(fs: MemoryFileSystem) -> None:
    fs.mkdir("/workspace")
    fs.write_bytes("/workspace/f", b"outside")
    fs.mount("/letters", Letters())
    assert fs.read_bytes("/letters/a") == b"alpha"
    assert fs.read_bytes("/letters/out") == b"outside"
    assert fs.realpath("/letters/out") == "/workspace/f"
    assert fs.listdir("/letters") == ["a", "b", "out"]
    assert list(fs.walk("/letters")) == [("/letters", [], ["a", "b", "out"])]
    assert fs.listdir("/letters/../workspace") == ["f"]
    assert fs.access("/letters/a", 4)
    assert not fs.access("/letters/a", 2)
    for call in (
        lambda: fs.write_bytes("/letters/a", b""),
        lambda: fs.write_bytes("/letters/c", b""),
        lambda: fs.mkdir("/letters/c"),
        lambda: fs.unlink("/letters/a"),
        lambda: fs.chmod("/letters/a", 0),
        lambda: fs.rename("/letters/a", "/letters/c"),
    ):
        with pytest.raises(OSError, match="Read-only file system") as caught:
            call()
        assert str(caught.value.filename).startswith("/letters")
    with pytest.raises(FileNotFoundError) as missing:
        fs.stat("/letters/c")
    assert missing.value.filename == "/letters/c"
    assert number_of(fs.rename, "/letters/a", "/workspace/a") == "EXDEV"
    assert number_of(fs.link, "/letters/a", "/workspace/a") == "EXDEV"
    assert number_of(fs.rmdir, "/letters") == "EBUSY"
    assert number_of(fs.rename, "/letters", "/l") == "EBUSY"
    assert number_of(fs.unlink, "/letters") == "EISDIR"
    fs.copy_tree("/letters", "/copy")
    assert fs.read_bytes("/copy/b") == b"beta"


class Inside(FileSystem):
    """What is below one path of a filesystem: shows that what is mounted is as good as what
    isn't.
    """

    def __init__(self, fs: FileSystem, top: str) -> None:
        self.fs = fs
        self.top = top

    def full(self, path: str) -> str:
        return path and self.top + path

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        return self.fs.stat(self.full(path), follow=follow)

    def listdir(self, path: str) -> list[str]:
        return self.fs.listdir(self.full(path))

    def open(self, path: str, mode: Mode = "r", *, permissions: int = 0o644) -> File:
        return self.fs.open(self.full(path), mode, permissions=permissions)

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        self.fs.mkdir(self.full(path), mode)

    def rmdir(self, path: str) -> None:
        self.fs.rmdir(self.full(path))

    def unlink(self, path: str) -> None:
        self.fs.unlink(self.full(path))

    def rename(self, source: str, target: str) -> None:
        self.fs.rename(self.full(source), self.full(target))

    def symlink(self, text: str, path: str) -> None:
        self.fs.symlink(self.full(text) if text.startswith("/") else text, self.full(path))

    def link(self, source: str, path: str) -> None:
        self.fs.link(self.full(source), self.full(path))

    def readlink(self, path: str) -> str:
        return self.fs.readlink(self.full(path)).removeprefix(self.top)

    def chmod(self, path: str, mode: int) -> None:
        self.fs.chmod(self.full(path), mode)

    def utime(
        self, path: str, mtime: float, *, atime: float | None = None, follow: bool = True
    ) -> None:
        self.fs.utime(self.full(path), mtime, atime=atime, follow=follow)


class TestMounted(FileSystemContract):
    """A filesystem in memory, mounted in another."""

    depth = 100

    @pytest.fixture
    def fs(self) -> FileSystem:
        outer = MemoryFileSystem()
        outer.mount("/mnt/inner", MemoryFileSystem())
        return Inside(outer, "/mnt/inner")


# overlays


def test_an_overlay_leaves_the_lower_layer_alone() -> None:
    lower = MemoryFileSystem()
    lower.makedirs("/d/e")
    lower.write_bytes("/d/f", b"1", permissions=0o640)
    lower.write_bytes("/gone", b"")
    before = tree(lower)
    fs = OverlayFileSystem(lower)
    fs.write_bytes("/d/new", b"2")
    with fs.open("/d/f", "a") as file:
        file.write(b"more")
    fs.unlink("/gone")
    fs.rename("/d/e", "/e")
    assert tree(fs) == {"/d": None, "/d/f": b"1more", "/d/new": b"2", "/e": None}
    assert fs.stat("/d/f").permissions == 0o640
    fs.remove_tree("/d")
    fs.mkdir("/d")
    assert tree(fs) == {"/d": None, "/e": None}
    assert tree(lower) == before


@pytest.mark.parametrize("number", ["EACCES", "EPERM", "EIO", "EMFILE", "ESTALE"])
def test_an_overlay_takes_no_failure_for_absence(number: str) -> None:
    """What the lower layer cannot say now may be there: nothing is listed or written as if not."""

    class Failing(MemoryFileSystem):
        def stat(self, path: str, *, follow: bool = True) -> Stat:
            if path.startswith("/d"):
                raise OSError(getattr(errno, number), "no")
            return super().stat(path, follow=follow)

    fs = OverlayFileSystem(Failing())
    fs.write_bytes("/f", b"")
    fs.upper.mkdir("/d")
    assert number_of(fs.listdir, "/d") == number
    assert number_of(fs.stat, "/d") == number
    assert number_of(fs.rmdir, "/d") == number
    assert number_of(fs.write_bytes, "/d/new", b"") == number
    assert fs.listdir("/") == ["d", "f"]


def test_an_overlay_on_a_host_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("host")
    outer = MemoryFileSystem()
    outer.mount("/project", OverlayFileSystem(HostFileSystem(tmp_path)))
    outer.write_bytes("/project/a", b"changed")
    outer.write_bytes("/project/b", b"new")
    assert outer.access("/project/a", 2)
    assert tree(outer, "/project") == {"/project/a": b"changed", "/project/b": b"new"}
    assert (tmp_path / "a").read_text() == "host"
    assert sorted(os.listdir(tmp_path)) == ["a"]


def test_what_an_overlay_hides_stays_hidden() -> None:
    lower = MemoryFileSystem()
    lower.makedirs("/a/b/c")
    lower.makedirs("/a/bb")
    for path in ("/a/f", "/a/b/f", "/a/b/c/f", "/a/bb/f"):
        lower.write_bytes(path, path.encode())
    fs = OverlayFileSystem(lower)
    fs.unlink("/a/b/c/f")
    fs.unlink("/a/b/f")
    assert tree(fs, "/a") == {
        "/a/b": None,
        "/a/b/c": None,
        "/a/bb": None,
        "/a/bb/f": b"/a/bb/f",
        "/a/f": b"/a/f",
    }
    fs.remove_tree("/a/b")
    assert fs.listdir("/a") == ["bb", "f"]
    fs.makedirs("/a/b/c")
    assert fs.listdir("/a/b/c") == []
    assert number_of(fs.read_bytes, "/a/b/c/f") == "ENOENT"
    fs.write_bytes("/a/b/c/f", b"new")
    fs.rename("/a/b", "/a/d")
    assert tree(fs, "/a/d") == {"/a/d/c": None, "/a/d/c/f": b"new"}
    assert not fs.exists("/a/b")
    fs.rename("/a/d", "/a/b")
    fs.unlink("/a/b/c/f")
    assert tree(fs, "/a") == {
        "/a/b": None,
        "/a/b/c": None,
        "/a/bb": None,
        "/a/bb/f": b"/a/bb/f",
        "/a/f": b"/a/f",
    }


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["unlink", "remove_tree", "rename", "mkdir", "write", "link"]),
            PLACES,
            PLACES,
        ),
        max_size=30,
    )
)
def test_an_overlay_does_what_a_plain_tree_does(steps: list[tuple[str, str, str]]) -> None:
    plain, lower = MemoryFileSystem(), MemoryFileSystem()
    for fs in (plain, lower):
        for path in ("/a/a/a", "/a/b", "/b/a"):
            fs.makedirs(path)
            fs.write_bytes(f"{path}/c", path.encode())
    before, over = tree(lower), OverlayFileSystem(lower)
    for name, one, two in steps:
        outcomes: list[object] = []
        for fs in (plain, over):
            calls: dict[str, Callable[[], object]] = {
                "unlink": partial(fs.unlink, one),
                "remove_tree": partial(fs.remove_tree, one),
                "rename": partial(fs.rename, one, two),
                "mkdir": partial(fs.mkdir, one),
                "write": partial(fs.write_bytes, one, two.encode()),
                "link": partial(fs.link, one, two),
            }
            try:
                outcomes.append(calls[name]())
            except OSError as error:
                outcomes.append(error.errno)
        assert outcomes[0] == outcomes[1]
        assert tree(over) == tree(plain)
    assert tree(lower) == before


def test_a_directory_of_an_overlay_is_moved_without_a_look_at_what_is_in_it() -> None:
    lower = MemoryFileSystem()
    lower.makedirs("/many/d/e")
    for number in range(1500):
        lower.write_bytes(f"/many/d/{number}", b"x" * 1000)
    before = tree(lower)
    fs = OverlayFileSystem(lower, MemoryFileSystem(Limits(files=20, total_bytes=100)))
    fs.rename("/many", "/more")
    assert tree(fs.upper) == {"/more": None}
    assert fs.read_bytes("/more/d/7") == b"x" * 1000
    assert number_of(fs.stat, "/many") == "ENOENT"
    fs.mkdir("/many")
    assert fs.listdir("/many") == []
    fs.write_bytes("/more/d/7", b"changed")
    fs.unlink("/more/d/8")
    fs.rename("/more/d", "/many/d")
    fs.rename("/many", "/last")
    fs.rename("/last/d/e", "/more/e")
    assert (fs.read_bytes("/last/d/7"), fs.read_bytes("/last/d/9"), fs.exists("/last/d/8")) == (
        b"changed",
        b"x" * 1000,
        False,
    )
    assert len(fs.listdir("/last/d")) == 1499
    assert fs.listdir("/more") == ["e"]
    with Sandbox(mounts={"/mnt": fs}) as sandbox:
        assert (
            sandbox.execute(
                "cd /mnt && mv last end && ls end/d | wc -l; cat end/d/7; rm -r end; ls"
            ).stdout
            == "1499\nchangedmore\n"
        )
    assert tree(lower) == before
