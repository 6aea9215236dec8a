"""A host folder: nothing outside is reached, nothing of the host is told."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import random
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from contracts.filesystem import number_of, tree

from agentsandbox import Sandbox
from agentsandbox.errors import MountError
from agentsandbox.kernel.fs.base import FileSystem
from agentsandbox.kernel.fs.host import OPEN_FILES, HostFileSystem
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.fs.overlay import OverlayFileSystem
from agentsandbox.kernel.fs.trees import build_tree
from agentsandbox.limits import Limits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("secret")
    inside = tmp_path / "inside"
    (inside / "d").mkdir(parents=True)
    (inside / "f").write_text("1\n2\n")
    return inside


def test_reading(folder: Path) -> None:
    fs = HostFileSystem(folder)
    assert tree(fs) == {"/d": None, "/f": b"1\n2\n"}
    with fs.open("/f") as file:
        assert file.readline() == b"1\n"
        assert file.read() == b"2\n"
    assert fs.access("/f", 4)
    assert not fs.access("/f", 2)


def test_writing_must_be_asked_for(folder: Path) -> None:
    fs = HostFileSystem(folder)
    for call in (
        lambda: fs.write_bytes("/f", b""),
        lambda: fs.write_bytes("/new", b""),
        lambda: fs.mkdir("/new"),
        lambda: fs.unlink("/f"),
        lambda: fs.rmdir("/d"),
        lambda: fs.rename("/f", "/g"),
        lambda: fs.symlink("f", "/l"),
        lambda: fs.link("/f", "/g"),
        lambda: fs.chmod("/f", 0),
        lambda: fs.utime("/f", 0.0),
    ):
        assert number_of(call) == "EROFS"  # type: ignore[arg-type]
    assert (folder / "f").read_text() == "1\n2\n"


@pytest.mark.parametrize(
    "text", ["../secret", "/etc/passwd", "../../../../../../etc/passwd", "d/../../secret"]
)
def test_links_that_lead_out_lead_nowhere(folder: Path, text: str) -> None:
    (folder / "l").symlink_to(text)
    for fs in (HostFileSystem(folder), HostFileSystem(folder, read_only=False)):
        assert fs.stat("/l", follow=False).is_link
        for call in (fs.read_bytes, fs.stat, fs.readlink):
            assert number_of(call, "/l") == "EACCES"
        outer = MemoryFileSystem()
        outer.mount("/mnt", fs)
        assert number_of(outer.read_bytes, "/mnt/l") == "EACCES"


def test_an_absolute_link_into_the_folder_is_one(folder: Path) -> None:
    (folder / "d" / "l").symlink_to(folder / "f")
    fs = HostFileSystem(folder)
    assert fs.readlink("/d/l") == "../f"
    assert fs.read_bytes("/d/l") == b"1\n2\n"
    outer = MemoryFileSystem()
    outer.mount("/mnt/here", fs)
    assert outer.read_bytes("/mnt/here/d/l") == b"1\n2\n"
    assert outer.realpath("/mnt/here/d/l") == "/mnt/here/f"


# TM-MOUNT-3
def test_a_directory_that_became_a_link_leads_nowhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the use, as an attacker on the host would do it."""
    fs = HostFileSystem(folder, read_only=False)
    (folder / "d" / "secret").write_text("inside")
    resolve = HostFileSystem._resolve

    def swap(self: HostFileSystem, *arguments: object, **options: object) -> object:
        found = resolve(self, *arguments, **options)  # type: ignore[arg-type]
        if not (folder / "d").is_symlink():
            (folder / "d").rename(folder / "away")
            (folder / "d").symlink_to("..")
        return found

    monkeypatch.setattr(HostFileSystem, "_resolve", swap)
    assert number_of(fs.read_bytes, "/d/secret") in ("ENOTDIR", "ELOOP")
    assert number_of(fs.write_bytes, "/d/new", b"") in ("ENOTDIR", "ELOOP", "EACCES")
    assert not (folder.parent / "new").exists()


# TM-MOUNT-3
def test_only_regular_files_are_opened(folder: Path) -> None:
    os.mkfifo(folder / "p")
    fs = HostFileSystem(folder, read_only=False)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "s"))
        for path in ("/p", "/s"):
            for mode in ("r", "w", "a", "r+"):
                assert number_of(fs.open, path, mode) == "EACCES"


# TM-OUT-2
def test_the_host_path_is_never_told(folder: Path) -> None:
    outer = MemoryFileSystem()
    fs = HostFileSystem(folder, read_only=False)
    outer.mount("/mnt", fs)
    (folder / "l").symlink_to("l")
    for call in (
        lambda: outer.read_bytes("/mnt/none"),
        lambda: outer.read_bytes("/mnt/l"),
        lambda: outer.mkdir("/mnt/f"),
        lambda: outer.rmdir("/mnt/f"),
        lambda: outer.listdir("/mnt/f"),
        lambda: outer.rename("/mnt/f", "/mnt/d"),
        lambda: outer.symlink("/etc", "/mnt/etc"),
        lambda: fs.read_bytes("/none"),
    ):
        with pytest.raises(OSError) as caught:
            call()
        assert str(folder) not in str(caught.value)
        assert str(folder) not in str(caught.value.__dict__)


def test_the_folder_grows_by_no_more_than_its_limits(folder: Path) -> None:
    fs = HostFileSystem(
        folder, read_only=False, limits=Limits(file_bytes=8, total_bytes=10, files=2)
    )
    assert number_of(fs.write_bytes, "/a", b"x" * 9) == "EFBIG"
    assert number_of(fs.write_bytes, "/b", b"x" * 9) == "ENOSPC"
    assert (folder / "b").read_text() == "xx"
    assert number_of(fs.mkdir, "/c") == "ENOSPC"
    fs.unlink("/a")
    fs.mkdir("/c")
    with fs.open("/b", "r+") as file:
        assert number_of(file.truncate, 9) == "EFBIG"
        file.truncate(0)
        file.write(b"yyyyyyyy")


def test_no_descriptor_is_left_open(folder: Path) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    fs = HostFileSystem(folder, read_only=False)
    before = count()
    for path in ("/f", "/none", "/f/x", "/d", "/d/x", "/d/../f"):
        for call in (fs.stat, fs.read_bytes, fs.listdir, fs.unlink, fs.rmdir):
            try:
                call(path)
            except OSError:
                pass
    assert count() == before


# the root is a descriptor


# TM-MOUNT-1
def test_the_folder_is_the_one_that_was_mounted_wherever_it_goes(folder: Path) -> None:
    fs = HostFileSystem(folder, read_only=False)
    moved = folder.parent / "moved"
    folder.rename(moved)
    folder.symlink_to(folder.parent)  # a link to where the secret is
    assert tree(fs) == {"/d": None, "/f": b"1\n2\n"}
    fs.write_bytes("/d/new", b"new")
    fs.mkdir("/e")
    assert fs.listdir("/") == ["d", "e", "f"]
    assert (moved / "d" / "new").read_bytes() == b"new"
    assert number_of(fs.read_bytes, "/secret") == "ENOENT"
    assert not (folder.parent / "e").exists()


# TM-MOUNT-1
def test_the_root_of_one_sandbox_is_not_moved_by_another(folder: Path) -> None:
    """The outer folder is written to through one sandbox, the inner one is mounted in another."""
    outer = Sandbox(mounts={"/out": HostFileSystem(folder, read_only=False)})
    inner = Sandbox(mounts={"/in": HostFileSystem(folder / "d")})
    with outer, inner:
        (folder / "d" / "mine").write_text("mine\n")
        result = outer.execute(
            "cd /out && mv d away && ln -s .. d; mkdir -p x/y && cd x/y && "
            "ln -s ../../.. ../../d; ls /out"
        )
        assert result.stdout.split() == ["away", "f", "x"]
        (folder / "d").symlink_to("..")
        assert inner.execute("ls /in; cat /in/secret").stdout == "mine\n"


def test_a_closed_folder_is_no_folder_any_more(folder: Path) -> None:
    fs = HostFileSystem(folder, read_only=False)
    file = fs.open("/f")
    fs.close()
    fs.close()
    for call in (fs.stat, fs.listdir, fs.read_bytes, fs.unlink, fs.mkdir, fs.realpath):
        for path in ("/", "/f", "/d/x"):
            assert number_of(call, path) in ("EBADF", "EBUSY")
    assert number_of(fs.write_bytes, "/f", b"") == "EBADF"
    with pytest.raises(MountError) as caught:
        MemoryFileSystem().mount("/mnt", fs)
    assert caught.value.errno == errno.EBADF
    assert file.read() == b"1\n2\n"
    assert (folder / "f").read_text() == "1\n2\n"


def test_the_descriptor_goes_with_the_last_holder(folder: Path) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = count()
    outer = MemoryFileSystem()
    outer.mount("/mnt", HostFileSystem(folder))
    fork, snapshot = outer.fork(), outer.snapshot()
    assert count() == before + 1
    del outer
    assert fork.read_bytes("/mnt/f") == b"1\n2\n"
    del fork
    assert count() == before + 1
    del snapshot
    assert count() == before
    with pytest.raises(OSError):
        HostFileSystem(folder / "none")
    assert count() == before


def test_a_folder_is_not_copied(folder: Path) -> None:
    """Two objects would close one descriptor twice."""
    fs = HostFileSystem(folder)
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="mount the same object again"):
            call(fs)
    assert fs.exists("/f")


def test_a_folder_that_may_be_entered_but_not_read(folder: Path) -> None:
    (folder / "d" / "f").write_text("1")
    (folder / "d").chmod(0o311)
    fs = HostFileSystem(folder)
    assert fs.read_bytes("/d/f") == b"1"


# two mounts of one folder


def _overlay(folder: Path) -> OverlayFileSystem:
    return OverlayFileSystem(HostFileSystem(folder))


def _writable(folder: Path) -> HostFileSystem:
    return HostFileSystem(folder, read_only=False)


def _nested(folder: Path) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.mount("/deep/down", _writable(folder))
    return fs


@pytest.mark.parametrize("first", [HostFileSystem, _writable, _overlay, _nested])
@pytest.mark.parametrize("second", [HostFileSystem, _writable, _overlay, _nested])
def test_a_folder_that_scripts_change_is_mounted_once(
    folder: Path, first: Callable[[Path], FileSystem], second: Callable[[Path], FileSystem]
) -> None:
    (folder.parent / "link").symlink_to(folder / "d")
    (folder.parent / "other").mkdir()
    inner, other = folder.parent / "link", folder.parent / "other"
    refused = {first, second} & {_writable, _nested}
    (folder / "d" / "deep").mkdir()
    for one, two in (
        (folder, folder),
        (folder, inner),
        (inner, folder),
        (inner / "deep", folder),
        (inner, folder / ".." / "inside" / "d"),
    ):
        fs = MemoryFileSystem()
        fs.mount("/one", first(one))
        if not refused:
            fs.mount("/two", second(two))
            continue
        with pytest.raises(MountError, match=r"'/two' and '/one'") as caught:
            fs.mount("/two", second(two))
        assert str(folder) not in str(caught.value)
        assert not fs.exists("/two")
        with pytest.raises(MountError):
            fs.fork().mount("/two", second(two))
        with pytest.raises(ValueError, match="one of them is writable"):
            Sandbox(mounts={"/one": first(one), "/two": second(two)})
        fs.mount("/two", second(other))


def test_what_a_snapshot_does_not_hold_may_be_mounted_again(folder: Path) -> None:
    fs = MemoryFileSystem()
    before = fs.snapshot()
    fs.mount("/one", _writable(folder))
    after = fs.snapshot()
    fs.restore(before)
    fs.mount("/two", _writable(folder))
    fs.restore(after)
    with pytest.raises(MountError):
        fs.mount("/two", HostFileSystem(folder))


def test_an_overlay_does_not_write_to_what_it_leaves_alone(folder: Path) -> None:
    with pytest.raises(MountError):
        OverlayFileSystem(HostFileSystem(folder), _writable(folder / "d"))


def test_a_relative_mount_point_is_refused(folder: Path) -> None:
    for path in ("x", "mnt", "a/b", ""):
        with pytest.raises(MountError, match="absolute"):
            MemoryFileSystem().mount(path, HostFileSystem(folder))
        with pytest.raises(MountError, match="absolute"):
            MemoryFileSystem().mount_tree(path, build_tree({"f": b""}))


# links that the host's programs follow


# TM-MOUNT-2
@pytest.mark.parametrize(
    "text",
    [
        "s/../secret",
        "s/../../secret",
        "d/../secret",
        "./..",
        "d/..",
        "none/../x",
        "d/./..//secret",
        "../inside/f",
        "/etc",
        "out/x",
        "near",
        "./near/x",
    ],
)
def test_a_link_climbs_first_and_no_higher_than_the_root(folder: Path, text: str) -> None:
    (folder / "out").symlink_to("/etc")
    (folder / "near").symlink_to("../secret")
    fs = HostFileSystem(folder, read_only=False)
    fs.symlink(".", "/s")
    assert number_of(fs.symlink, text, "/l") == "EPERM"
    assert not os.path.lexists(folder / "l")


def test_links_that_stay_inside_may_be_made(folder: Path) -> None:
    fs = HostFileSystem(folder, read_only=False)
    fs.makedirs("/a/b")
    for text, path in (
        ("f", "/1"),
        ("./d/none", "/2"),
        ("../../f", "/a/b/3"),
        ("..", "/a/b/4"),
        ("4", "/a/b/5"),
        ("self", "/self"),
    ):
        fs.symlink(text, path)
        assert os.readlink(folder / path[1:]) == text


def _planted(folder: Path) -> HostFileSystem:
    fs = HostFileSystem(folder, read_only=False)
    fs.makedirs("/a/b/c")
    fs.symlink("../../f", "/a/b/l")
    fs.symlink("../..", "/a/b/up")
    fs.symlink("../../../f", "/a/b/c/l")
    return fs


def _leads_out(folder: Path) -> list[str]:
    """The links below the folder that the kernel follows out of it."""
    top = os.path.realpath(folder)
    found = []
    for here, directories, files in os.walk(top):
        for name in directories + files:
            path = os.path.join(here, name)
            if os.path.islink(path) and not f"{os.path.realpath(path)}/".startswith(f"{top}/"):
                found.append(os.path.relpath(path, top))
    return found


@pytest.mark.parametrize(
    "source, target",
    [("/a/b/l", "/l"), ("/a/b/up", "/a/up"), ("/a/b", "/b"), ("/a/b/c", "/a/c"), ("/a/b/c", "/c")],
)
def test_a_link_is_not_lifted_out(folder: Path, source: str, target: str) -> None:
    fs = _planted(folder)
    assert number_of(fs.rename, source, target) == "EPERM"
    if fs.stat(source, follow=False).is_link:
        assert number_of(fs.link, source, target) == "EPERM"
    assert not fs.exists(target, follow=False)
    assert _leads_out(folder) == []


def test_a_link_may_go_where_it_stays_inside(folder: Path) -> None:
    fs = _planted(folder)
    fs.makedirs("/x/y/z")
    fs.rename("/a/b/l", "/a/b/m")
    fs.link("/a/b/m", "/x/y/m")
    fs.rename("/a/b/c", "/x/y/c")
    fs.rename("/x", "/a/x")
    fs.rename("/a/x", "/w")
    fs.rename("/a", "/q")
    assert _leads_out(folder) == []


def test_the_links_of_the_host_may_be_moved_where_they_say_the_same(folder: Path) -> None:
    fs = HostFileSystem(folder, read_only=False)
    (folder / "venv" / "bin").mkdir(parents=True)
    (folder / "venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    (folder / "venv" / "lib").symlink_to("bin/../lib64")
    (folder / "venv" / "in").symlink_to(folder / "f")
    (folder / "out").symlink_to("../secret")
    fs.rename("/venv", "/d/venv")
    fs.rename("/d/venv/lib", "/d/venv/lib2")
    fs.rename("/d/venv/in", "/in")
    assert number_of(fs.rename, "/d/venv/lib2", "/lib") == "EPERM"
    assert (
        number_of(fs.rename, "/d/venv", "/venv") == "EPERM"
    )  # what bin/../lib64 says depends on bin
    fs.unlink("/d/venv/lib2")
    fs.rename("/d/venv", "/venv")
    assert os.readlink(folder / "venv" / "bin" / "python") == "/usr/bin/python3"
    assert number_of(fs.rename, "/venv/bin/python", "/python") == "EPERM"
    assert number_of(fs.rename, "/out", "/out2") == "EPERM"
    assert number_of(fs.link, "/out", "/out2") == "EPERM"


def test_a_large_directory_is_moved_file_by_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentsandbox.kernel.fs.host.CHECKED_ENTRIES", 20)
    (folder / "d" / "many").mkdir()
    for number in range(30):
        (folder / "d" / "many" / str(number)).write_text("")
    fs = HostFileSystem(folder, read_only=False)
    fs.rename("/d/many", "/d/more")  # no link is lifted
    assert number_of(fs.rename, "/d/more", "/many") == "EXDEV"
    with Sandbox(mounts={"/mnt": fs}) as sandbox:
        assert (
            sandbox.execute("cd /mnt && mv d/more many && ls d; ls many | wc -l").stdout == "30\n"
        )


# TM-MOUNT-2
@pytest.mark.parametrize("seed", range(20))
def test_no_series_of_links_and_renames_leads_out(folder: Path, seed: int) -> None:
    """Random links and renames by a script that knows the rules; the kernel follows every link
    afterwards.
    """
    chance = random.Random(seed)
    fs = HostFileSystem(folder, read_only=False)
    paths = ["/a", "/a/b", "/a/b/c", "/d", "/d/e", "/x", "/a/x", "/a/b/x", "/d/x"]
    for _ in range(400):
        one, two = chance.choice(paths), chance.choice(paths)
        text = "/".join(
            chance.choices(["..", ".", "a", "b", "c", "d", "x"], k=chance.randint(1, 4))
        )
        calls = [
            partial(fs.symlink, text, one),
            partial(fs.rename, one, two),
            partial(fs.link, one, two),
            partial(fs.mkdir, one),
            partial(fs.remove_tree, one),
        ]
        try:
            chance.choices(calls, [4, 4, 1, 4, 1])[0]()
        except OSError:
            pass
        assert _leads_out(folder) == []


# quotas beyond the tree


def test_a_file_without_a_name_counts_while_it_is_open(folder: Path) -> None:
    fs = HostFileSystem(folder, read_only=False, limits=Limits(total_bytes=10))
    file = fs.open("/a", "w")
    file.write(b"12345678")
    fs.unlink("/a")
    assert fs.grown == 8
    assert number_of(fs.write_bytes, "/b", b"1234") == "ENOSPC"
    again = fs.open("/b", "w")
    fs.rename("/f", "/b")  # /b is open, so what it holds is not free yet
    again.write(b"12")
    assert fs.grown == 10
    file.release()
    again.release()
    assert fs.grown == 0
    fs.write_bytes("/b", b"1234567890")
    fs.rename("/b", "/c")
    fs.write_bytes("/new", b"")
    fs.rename("/new", "/c")
    assert (fs.grown, fs.made) == (-4, 0)


# TM-MOUNT-4
def test_a_script_cannot_take_more_than_the_quota_by_unlinking(folder: Path) -> None:
    fs = HostFileSystem(folder, read_only=False, limits=Limits(total_bytes=100_000))
    script = """
    cd /mnt
    for i in 1 2 3 4 5 6 7 8 9 10; do
        exec {fd}>"big$i"
        head -c 50000 /dev/zero >&$fd || echo full
        rm "big$i"
    done
    """
    with Sandbox(mounts={"/mnt": fs}) as sandbox:
        assert sandbox.execute(script).stdout == "full\n" * 8
        assert fs.grown == 100_000


# TM-MOUNT-4
def test_the_descriptors_of_a_mount_are_bounded(folder: Path) -> None:
    fs = HostFileSystem(folder)
    files = [fs.open("/f") for _ in range(OPEN_FILES)]
    assert number_of(fs.open, "/f") == "EMFILE"
    assert fs.stat("/f").size == 4
    files.pop().release()
    fs.open("/f").release()
    with Sandbox(mounts={"/mnt": fs}) as sandbox:
        result = sandbox.execute("exec {a}</mnt/f; exec {b}</mnt/f; echo after")
        assert "Too many open files" in result.stderr
    del files
    assert fs.read_bytes("/f") == b"1\n2\n"
