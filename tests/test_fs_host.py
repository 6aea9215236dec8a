"""A host folder: nothing outside is reached, nothing of the host is told."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from contracts.filesystem import number_of, tree

from agentsandbox.fs.host import HostFileSystem
from agentsandbox.fs.memory import MemoryFileSystem
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


@pytest.mark.parametrize("text", ["../secret", "/etc/passwd", "../../../../../../etc/passwd", "d/../../secret"])
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


def test_a_directory_that_became_a_link_leads_nowhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_only_regular_files_are_opened(folder: Path) -> None:
    os.mkfifo(folder / "p")
    fs = HostFileSystem(folder, read_only=False)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "s"))
        for path in ("/p", "/s"):
            for mode in ("r", "w", "a", "r+"):
                assert number_of(fs.open, path, mode) == "EACCES"


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
    fs = HostFileSystem(folder, read_only=False, limits=Limits(file_bytes=8, total_bytes=10, files=2))
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
