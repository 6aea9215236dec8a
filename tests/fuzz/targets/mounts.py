"""A folder of the host: series of calls by a script, and of exchanges by the host.

The input is a series of operations of four bytes each: which one, a path, another path, and a size.
Whatever is done, no bytes from outside the folder are read, nothing outside is changed, and unless
the host itself plants links, no program of the host that follows links gets out.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from agentsandbox import Limits
from agentsandbox.kernel.fs.base import FileSystem
from agentsandbox.kernel.fs.host import HostFileSystem
from agentsandbox.kernel.fs.overlay import OverlayFileSystem
from tests.fuzz.judge import Problem, judged
from tests.fuzz.target import Target

SECRET = b"secret of the host\n"
PATHS = (
    "/a",
    "/a/b",
    "/a/b/c",
    "/d",
    "/d/e",
    "/x",
    "/a/x",
    "/a/b/x",
    "/d/x",
    "/x/f",
    "/a/../x",
    "/d/./e/",
    "//x",
    "/",
)
TEXTS = ("a", "../x", "..", "../../f", "/etc", "a/../..", "b/c", "./x", "x/..", "d", "../d/x", "", "../../outside/secret", "e/../../a")  # fmt: skip
LIMITS = Limits(total_bytes=20_000, file_bytes=10_000, files=60)


def _use(fs: FileSystem, path: str, mode: str, size: int) -> bytes:
    with fs.open(path, mode) as file:  # type: ignore[arg-type]
        if mode != "r":
            file.write(b"y" * size)
            return b""
        return file.read(size)


def by_script(fs: FileSystem, number: int, one: str, two: str, text: str, size: int) -> object:
    """Do one thing as a script would."""
    calls: tuple[Callable[[], object], ...] = (
        lambda: fs.symlink(text, one),
        lambda: fs.rename(one, two),
        lambda: fs.link(one, two),
        lambda: fs.mkdir(one),
        lambda: fs.write_bytes(one, b"x" * size * 9),
        lambda: fs.read_bytes(one),
        lambda: fs.remove_tree(one),
        lambda: fs.copy_tree(one, two),
        lambda: fs.listdir(one),
        lambda: fs.chmod(one, size * 3),
        lambda: (
            _use(fs, one, "rwaxr"[size % 5], size) if size % 5 < 4 else _use(fs, one, "r+", size)
        ),
        lambda: fs.stat(one, follow=bool(size % 2)),
        lambda: fs.unlink(one),
        lambda: list(fs.walk(one)),
        lambda: fs.realpath(one),
        lambda: fs.utime(one, float(size), follow=bool(size % 2)),
        lambda: fs.mkfifo(one),
        lambda: fs.readlink(one),
    )
    return calls[number % len(calls)]()


def by_host(folder: Path, number: int, one: str) -> None:
    """Exchange an entry, as a program of the host may at any moment."""
    where = folder / os.path.normpath(one.strip("/") or "a")
    if not where.parent.is_dir() or not where.parent.resolve().is_relative_to(folder):
        return
    if where.is_dir() and not where.is_symlink():
        shutil.rmtree(where)
    elif where.is_symlink() or where.exists():
        where.unlink()
    outside = folder.parent / "outside"
    if number % 3 == 0:
        where.symlink_to(outside)
    elif number % 3 == 1:
        where.symlink_to(outside / "secret")
    else:
        os.mkfifo(where)


def leads_out(folder: Path) -> str | None:
    """Return a link in the folder that leads a program out of it."""
    for here, directories, files in os.walk(folder):
        for name in directories + files:
            path = Path(here, name)
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(folder):
                return f"{path.relative_to(folder)} -> {os.readlink(path)}"
    return None


def run(data: bytes) -> None:
    top = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)).resolve()
    try:
        _series(top, data)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _series(top: Path, data: bytes) -> None:
    folder, outside = top / "folder", top / "outside"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "d").mkdir()
    (folder / "f").write_bytes(b"inside\n")
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    host = HostFileSystem(folder, read_only=False, limits=LIMITS)
    fs: FileSystem = OverlayFileSystem(host) if data[:1] == b"\xff" else host
    exchanged = False
    for at in range(1, min(len(data) - 3, 400), 4):
        number, first, second, size = data[at : at + 4]
        one, two = PATHS[first % len(PATHS)], PATHS[second % len(PATHS)]
        if number >= 0xF0:
            exchanged = True
            by_host(folder, size, one)
            continue
        found = judged_quickly(fs, number, one, two, TEXTS[second % len(TEXTS)], size)
        if isinstance(found, bytes) and SECRET[:6] in found:
            raise Problem("read the outside", "host.py", f"{number} {one} {two}")
        if not exchanged and (link := leads_out(folder)):
            raise Problem("a link leads out", "host_links.py", link)
    if os.listdir(outside) != ["secret"] or (outside / "secret").read_bytes() != SECRET:
        raise Problem("changed the outside", "host.py", "")
    size = sum(
        path.lstat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    if not exchanged and size > LIMITS.total_bytes + 7:
        raise Problem("more than the quota", "host.py", str(size))


def judged_quickly(fs: FileSystem, number: int, one: str, two: str, text: str, size: int) -> object:
    """Return what a call of a script returns; only `OSError` is documented."""
    try:
        return by_script(fs, number, one, two, text, size)
    except OSError:
        return None
    except Exception:
        judged(lambda: by_script(fs, number, one, two, text, size), (OSError,))
        raise


TARGET = Target(
    "mounts",
    run,
    lambda count: [
        bytes([0, 0, 0, 7, 0, 0, 1, 0, 1, 3, 2, 5, 9, 1, 5, 2, 1, 0, 5, 1, 0]), bytes([0xFF, 4, 5, 1, 200, 7, 0, 3, 0, 6, 0, 0, 0, 5, 0, 1, 0]),
        bytes([0, 0xF1, 0, 0, 0, 5, 12, 0, 9, 5, 5, 0, 9, 0xF0, 5, 0, 1, 5, 5, 0, 9]),
    ],
    (),
)  # fmt: skip
