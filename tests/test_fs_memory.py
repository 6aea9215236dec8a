from __future__ import annotations

from _thread import get_ident
from random import Random
from timeit import timeit

import pytest
from contracts.filesystem import number_of, tree

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.fs.changes import Change
from agentsandbox.kernel.fs.debian_tree import command_of, debian_tree
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.fs.trees import build_tree
from agentsandbox.limits import Limits


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


def small(**limits: int) -> MemoryFileSystem:
    return MemoryFileSystem(Limits(**limits))  # type: ignore[arg-type]


# quotas


def test_a_file_that_is_too_large_is_filled_up_to_the_limit() -> None:
    fs = small(file_bytes=10)
    assert number_of(fs.write_bytes, "/f", b"x" * 11) == "EFBIG"
    assert fs.read_bytes("/f") == b"x" * 10
    with fs.open("/f", "a") as file:
        assert number_of(file.write, b"y") == "EFBIG"
    with fs.open("/f", "r+") as file:
        assert number_of(file.truncate, 1 << 40) == "EFBIG"
        file.seek(1 << 40)
        assert number_of(file.write, b"y") == "EFBIG"
    assert fs.stat("/f").size == 10


def test_a_full_disk_takes_what_fits() -> None:
    fs = small(total_bytes=10)
    fs.write_bytes("/a", b"x" * 6)
    assert number_of(fs.write_bytes, "/b", b"y" * 6) == "ENOSPC"
    assert fs.read_bytes("/b") == b"y" * 4
    assert number_of(fs.symlink, "z", "/l") == "ENOSPC"
    fs.unlink("/a")
    assert fs.used_bytes == 4
    fs.write_bytes("/c", b"z" * 6)


def test_every_name_counts() -> None:
    fs = small(files=3)
    fs.mkdir("/d")
    fs.write_bytes("/d/f", b"")
    fs.link("/d/f", "/g")
    for call in (fs.mkdir, fs.mkfifo):
        assert number_of(call, "/x") == "ENOSPC"
    assert number_of(fs.symlink, "x", "/l") == "ENOSPC"
    assert number_of(fs.link, "/g", "/h") == "ENOSPC"
    assert number_of(fs.write_bytes, "/x", b"") == "ENOSPC"
    assert number_of(fs.copy_tree, "/d", "/e") == "ENOSPC"
    fs.write_bytes("/g", b"no name more")
    fs.remove_tree("/d")
    assert fs.used_files == 1


def test_a_file_without_a_name_weighs_until_it_is_closed() -> None:
    fs = small(total_bytes=10)
    file = fs.open("/f", "w")
    file.write(b"x" * 8)
    fs.unlink("/f")
    assert fs.used_bytes == 8
    assert number_of(fs.write_bytes, "/g", b"y" * 3) == "ENOSPC"
    file.release()
    assert fs.used_bytes == 2


def test_restoring_more_than_the_limits_allow_is_refused() -> None:
    big = MemoryFileSystem()
    big.write_bytes("/f", b"x" * 20)
    fs = small(total_bytes=10)
    assert number_of(fs.restore, big.snapshot()) == "ENOSPC"
    assert fs.listdir("/") == []


def test_the_base_is_free() -> None:
    fs = MemoryFileSystem(
        Limits(total_bytes=5, files=1), base=build_tree({"/big": b"x" * 100}, uid=1000)
    )
    assert (fs.used_bytes, fs.used_files) == (0, 0)
    fs.uid = 0
    fs.write_bytes("/big", b"x" * 105)
    assert number_of(fs.write_bytes, "/big", b"x" * 106) == "ENOSPC"


# permissions


def test_permissions_of_the_user_hold(fs: MemoryFileSystem) -> None:
    fs.mkdir("/d")
    fs.write_bytes("/d/f", b"secret")
    fs.chmod("/d/f", 0)
    assert number_of(fs.read_bytes, "/d/f") == "EACCES"
    assert number_of(fs.write_bytes, "/d/f", b"") == "EACCES"
    assert [fs.access("/d/f", bits) for bits in (0, 1, 2, 4)] == [True, False, False, False]
    fs.chmod("/d", 0o500)
    assert fs.listdir("/d") == ["f"]
    assert number_of(fs.unlink, "/d/f") == number_of(fs.rmdir, "/d/f") == "EACCES"
    assert (number_of(fs.unlink, "/d/f/"), number_of(fs.rmdir, "/d/f/")) == ("ENOTDIR", "EACCES")
    assert number_of(fs.mkdir, "/d/new") == "EACCES"
    assert number_of(fs.write_bytes, "/d/new", b"") == "EACCES"
    assert number_of(fs.rename, "/d/f", "/g") == "EACCES"
    fs.mkdir("/other")
    assert number_of(fs.rename, "/d", "/other/d") == "EACCES"  # its ".." would change
    fs.rename("/d", "/e")
    fs.rename("/e", "/d")
    fs.chmod("/d", 0o600)
    assert fs.listdir("/d") == ["f"]
    assert number_of(fs.stat, "/d/f") == "EACCES"
    assert number_of(fs.stat, "/d/.") == "EACCES"
    fs.chmod("/d", 0o300)
    assert number_of(fs.listdir, "/d") == "EACCES"
    assert fs.stat("/d/f").size == 6


def test_the_system_belongs_to_root() -> None:
    fs = MemoryFileSystem(base=debian_tree("agent", "sandbox", ("ls", "cat")))
    assert fs.stat("/etc/passwd").uid == 0
    assert number_of(fs.write_bytes, "/etc/passwd", b"") == "EACCES"
    assert number_of(fs.unlink, "/etc/passwd") == "EACCES"
    assert number_of(fs.chmod, "/etc/passwd", 0o666) == "EPERM"
    assert number_of(fs.utime, "/etc/passwd", 0.0) == "EPERM"
    assert number_of(fs.rename, "/usr", "/mine") == "EPERM"
    assert number_of(fs.remove_tree, "/usr") == "EACCES"
    assert number_of(fs.mkdir, "/usr/bin/d") == "EACCES"
    fs.mkdir("/workspace")
    fs.write_bytes("/home/agent/f", b"")
    fs.write_bytes("/tmp/f", b"")
    assert fs.stat("/tmp/f").uid == 1000
    assert fs.access("/bin/ls", 5)
    assert not fs.access("/bin/ls", 2)
    assert command_of(fs.read_bytes("/bin/ls")) == "ls"
    assert command_of(b"#!/bin/sh\n") is None
    fs.uid = 0
    fs.write_bytes("/etc/motd", b"from the host\n")
    fs.uid = 1000
    assert fs.read_bytes("/etc/motd") == b"from the host\n"


def test_root_leaves_no_way_open(fs: MemoryFileSystem) -> None:
    fs.makedirs("/d/e")
    fs.write_bytes("/d/e/f", b"")
    fs.chmod("/d", 0)
    fs.uid = 0
    assert fs.read_bytes("/d/e/f") == b""
    fs.uid = 1000
    assert number_of(fs.read_bytes, "/d/e/f") == "EACCES"


def test_the_sticky_bit_protects_others_files() -> None:
    fs = MemoryFileSystem(base=build_tree({"/tmp/theirs": b""}, directories={"/tmp": 0o1777}))
    assert number_of(fs.unlink, "/tmp/theirs") == "EPERM"
    assert number_of(fs.rename, "/tmp/theirs", "/tmp/mine") == "EPERM"
    fs.write_bytes("/tmp/mine", b"")
    assert number_of(fs.rename, "/tmp/mine", "/tmp/theirs") == "EPERM"
    fs.unlink("/tmp/mine")


# paths


def test_links_of_many_components_are_a_loop_at_last(fs: MemoryFileSystem) -> None:
    fs.mkdir("/d")
    for number in range(20):
        fs.symlink("d/../" * 700 + str(number + 1), f"/{number}")
    fs.write_bytes("/20", b"")
    assert fs.read_bytes("/19") == b""
    assert number_of(fs.read_bytes, "/0") == "ELOOP"


def test_dot_dot_of_the_root_is_the_root(fs: MemoryFileSystem) -> None:
    fs.write_bytes("/../../f", b"1")
    assert fs.read_bytes("/f") == b"1"
    assert fs.realpath("/..") == "/"


# versions


def test_a_snapshot_stays_as_it_was(fs: MemoryFileSystem) -> None:
    fs.makedirs("/a/b")
    fs.write_bytes("/a/b/f", b"1")
    fs.write_bytes("/kept", b"")
    before = fs.snapshot()
    fs.write_bytes("/a/b/f", b"2")
    with fs.open("/kept", "a") as file:
        file.write(b"more")
    fs.rename("/a/b", "/moved")
    fs.mkdir("/new")
    assert fs.diff(before) == [
        Change("/a/b", "deleted"),
        Change("/a/b/f", "deleted"),
        Change("/kept", "modified"),
        Change("/moved", "added"),
        Change("/moved/f", "added"),
        Change("/new", "added"),
    ]
    after = fs.snapshot()
    fs.restore(before)
    assert tree(fs) == {"/a": None, "/a/b": None, "/a/b/f": b"1", "/kept": b""}
    fs.restore(after)
    assert tree(fs) == {
        "/a": None,
        "/kept": b"more",
        "/moved": None,
        "/moved/f": b"2",
        "/new": None,
    }
    assert fs.diff(after) == []


def test_forks_are_apart(fs: MemoryFileSystem) -> None:
    fs.write_bytes("/f", b"both")
    fs.link("/f", "/g")
    fork = fs.fork()
    fork.write_bytes("/g", b"fork")
    fs.unlink("/g")
    fs.write_bytes("/new", b"")
    assert tree(fork) == {"/f": b"fork", "/g": b"fork"}
    assert tree(fs) == {"/f": b"both", "/new": b""}
    assert fs.stat("/f").nlink == 1
    assert fork.stat("/f").nlink == 2


def test_open_files_live_through_snapshots(fs: MemoryFileSystem) -> None:
    fs.mkdir("/d")
    writer = fs.open("/d/f", "w")
    reader = fs.open("/d/f", "r")
    writer.write(b"before ")
    snapshot = fs.snapshot()
    fs.rename("/d", "/e")
    writer.write(b"after")
    assert fs.read_bytes("/e/f") == b"before after"
    assert reader.read() == b"before after"
    fs.restore(snapshot)
    assert fs.read_bytes("/d/f") == b"before "
    writer.release()
    reader.release()
    assert fs.used_bytes == 7


def test_what_versions_cost(fs: MemoryFileSystem) -> None:
    """Generous bounds: a snapshot of 10,000 files takes a microsecond, not the milliseconds of a
    copy.
    """
    for outer in range(100):
        fs.mkdir(f"/{outer}")
        for inner in range(100):
            fs.write_bytes(f"/{outer}/{inner}", b"x")
    assert timeit(fs.snapshot, number=100) < 0.01
    assert timeit(fs.fork, number=100) < 0.02


def test_appending_is_linear(fs: MemoryFileSystem) -> None:
    def append(count: int) -> float:
        fs.write_bytes("/f", b"")

        def line() -> None:
            with fs.open("/f", "a") as file:
                file.write(b"x" * 100)

        return timeit(line, number=count) / count

    append(100)
    assert append(20_000) < 20 * append(1000)


# devices and pipes


def test_devices() -> None:
    fs = MemoryFileSystem(base=debian_tree("agent", "sandbox", ()), random=Random(1))
    fs.write_bytes("/dev/null", b"gone")
    assert fs.read_bytes("/dev/null") == b""
    with fs.open("/dev/zero", "r+") as zero:
        assert zero.read(3) == b"\0\0\0"
        assert zero.readline(b"\0") == b"\0"
        zero.write(b"x")
        for endless in (zero.read, zero.readline, lambda: list(zero.line_blocks())):
            assert number_of(endless) == "EFBIG"
    assert number_of(fs.write_bytes, "/dev/full", b"x") == "ENOSPC"
    assert number_of(fs.open, "/dev/tty") == "ENXIO"
    with fs.open("/dev/urandom") as first, fs.open("/dev/random") as second:
        assert len(first.read(100)) == 100
        assert second.readline().endswith(b"\n")
        assert number_of(first.read) == "EFBIG"
    fs.script_thread = get_ident()
    for path in ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"):
        with fs.open(path) as file, pytest.raises(LimitReached):
            file.read()
    again = MemoryFileSystem(base=debian_tree("agent", "sandbox", ()), random=Random(1))
    with fs.open("/dev/urandom") as file, again.open("/dev/urandom") as other:
        assert len(other.read(8)) == len(file.read(8)) == 8
    info = fs.stat("/dev/null")
    assert (info.mode, info.rdev) == (0o020666, 0x103)
    assert number_of(fs.unlink, "/dev/null") == "EACCES"


def test_named_pipes_are_opened_by_the_host(fs: MemoryFileSystem) -> None:
    fs.mkfifo("/p", 0o600)
    assert fs.stat("/p").mode == 0o010600
    assert fs.scan("/") == (["p"], [0o010000])
    assert number_of(fs.open, "/p") == "EPERM"
    seen = []

    def open_fifo(number: int, path: str, mode: str) -> object:
        seen.append((number, path, mode))
        return fs.open("/file", "w")

    fs.open_fifo = open_fifo  # type: ignore[assignment]
    fs.link("/p", "/q")
    for mode in ("r", "w", "a", "r+"):
        assert number_of(fs.open, "/p", mode) == "ENXIO"  # the host does not wait for a script
    fs.script_thread = get_ident()
    fs.open("/p").release()
    fs.open("/q", "w").release()
    assert seen[0][0] == seen[1][0] == fs.stat("/p").ino
    assert [call[1:] for call in seen] == [("/p", "r"), ("/q", "w")]


def test_a_tree_is_built_once() -> None:
    first = debian_tree("agent", "sandbox", ("ls",))
    assert debian_tree("agent", "sandbox", ["ls"]) is first
    assert timeit(lambda: MemoryFileSystem(base=first), number=1000) < 0.02


def test_trees_refuse_what_is_no_path_of_theirs() -> None:
    for path in ("", "/", "..", "../x", "/a/../../x", "a\0b"):
        with pytest.raises(ValueError, match="path"):
            build_tree({path: b""})
    with pytest.raises(ValueError, match="file and a directory"):
        build_tree({"/a": b"", "/a/b": b""})


def test_what_is_at_hand_is_what_a_read_would_give() -> None:
    fs = MemoryFileSystem()
    fs.makedirs("/d")
    fs.write_bytes("/d/a", b"one")
    fs.write_bytes("/d/secret", b"two")
    fs.chmod("/d/secret", 0)
    fs.symlink("a", "/d/link")
    with_more = fs.open("/d/a", "a")
    with_more.write(b" more")
    with_more.release()
    assert fs.at_hand("/", ["/d/a"]) == [b"one more"]
    assert fs.at_hand("/", ["/d/secret", "/d/link", "/d", "/d/none", "/none/a", "a"]) == [None] * 6
    assert fs.at_hand("/d", ["a", "/a", "../d/a", "a"]) == [
        b"one more",
        None,
        b"one more",
        b"one more",
    ]
