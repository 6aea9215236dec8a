"""The content of one file: read whole, replaced whole or not at all, edited.

A script decides what is at a path. A link may lead to /dev/zero, which never ends, or to a
named pipe, which waits for a writer that never comes. So nothing is opened before `stat` has said
that it is a regular file, and nothing is read beyond `limits.file_bytes`, whatever a mounted
filesystem says about sizes.
"""

from __future__ import annotations

import errno

from agentsandbox.files.members import special_file
from agentsandbox.kernel.fs.base import os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.fs.memory import MemoryFileSystem

_SHOWN = 5
"""Lines that the error for an ambiguous edit names."""


def stat_or_none(fs: MemoryFileSystem, path: str, *, follow: bool = True) -> Stat | None:
    """Return what is known of a path, None when there is nothing."""
    try:
        return fs.stat(path, follow=follow)
    except FileNotFoundError:
        return None


def make_directories(fs: MemoryFileSystem, path: str) -> None:
    """Make a directory and those above it that are missing, as `mkdir -p` does."""
    parts = [] if fs.is_dir(path or "/") else path.split("/")
    for count in range(2, len(parts) + 1):
        here = "/".join(parts[:count])
        if not fs.is_dir(here):
            fs.mkdir(here)


def check_regular(info: Stat, path: str) -> None:
    """Raise for a directory (EISDIR), and for a device or a named pipe (EINVAL)."""
    if info.is_dir:
        raise os_error(errno.EISDIR, path)
    if not info.is_file:
        raise special_file(path)


def read_regular(fs: MemoryFileSystem, path: str) -> bytes:
    """Return all bytes of a regular file; EFBIG beyond `limits.file_bytes`."""
    check_regular(fs.stat(path), path)
    left = fs.limits.file_bytes + 1
    blocks: list[bytes] = []
    file = fs.open(path)
    try:
        while left > 0 and (block := file.read(left)):
            blocks.append(block)
            left -= len(block)
    finally:
        file.release()
    if left <= 0:
        raise os_error(errno.EFBIG, path)
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def store(
    fs: MemoryFileSystem, path: str, data: bytes, *, mode: int | None = None, append: bool = False
) -> None:
    """Write a regular file, new or not. If that fails, the file is as it was before."""
    info = stat_or_none(fs, path)
    if info is not None:
        check_regular(info, path)
    if len(data) + (info.size if append and info is not None else 0) > fs.limits.file_bytes:
        raise os_error(errno.EFBIG, path)
    before = None if info is None or append else _content_for_undo(fs, path)
    file = fs.open(path, "a" if append else "w", permissions=0o644 if mode is None else mode)
    try:
        file.write(data)
    except OSError:
        if info is None:
            fs.unlink(path)
        elif append:
            file.truncate(info.size)
        elif before is not None:
            file.truncate(0)
            file.seek(0)
            file.write(before)
        raise
    finally:
        file.release()
    if mode is not None and info is not None:
        fs.chmod(path, mode)


def _content_for_undo(fs: MemoryFileSystem, path: str) -> bytes | None:
    """Return what is in a file, even one that the user may not read; None if that fails."""
    uid, fs.uid = fs.uid, 0
    try:
        return read_regular(fs, path)
    except OSError:
        return None
    finally:
        fs.uid = uid


def replaced(
    data: bytes, old: bytes, new: bytes, path: str, *, every: bool, most: int
) -> tuple[bytes, int]:
    """Return the data with `old` replaced by `new`, and how often that was done.

    Unless it is for `every` occurrence there must be exactly one; one that overlaps another counts
    too.
    """
    first = data.find(old)
    if first < 0:
        raise ValueError(f"old does not occur in {path}{_nearly(data, old)}")
    count = data.count(old) if every else 1
    if not every and data.find(old, first + 1) >= 0:
        raise ValueError(
            f"old occurs {max(data.count(old), 2)} times in {path}, {_lines_of(data, old)}: "
            "give more of the text around it, or pass all=True"
        )
    if len(data) + count * (len(new) - len(old)) > most:
        raise os_error(errno.EFBIG, path)
    return data.replace(old, new, count), count


def _lines_of(data: bytes, old: bytes) -> str:
    """Return where the first occurrences begin: "in lines 2, 7 and more"."""
    numbers: list[int] = []
    line, last, position = 1, 0, data.find(old)
    while position >= 0 and len(numbers) < _SHOWN:
        line += data.count(b"\n", last, position)
        numbers.append(line)
        last = position
        position = data.find(old, position + 1)
    shown = ", ".join(map(str, dict.fromkeys(numbers)))
    more = " and more" if position >= 0 else ""
    return f"in line{'s' if len(set(numbers)) > 1 else ''} {shown}{more}"


def _nearly(data: bytes, old: bytes) -> str:
    """Return what may be wrong with a text that does not occur, "" if there is no guess."""
    if b"\r\n" in data and data.find(old.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")) >= 0:
        return ", but it does with the line ends of that file, \\r\\n"
    start = old.strip().partition(b"\n")[0].strip()
    position = data.find(start) if start else -1
    if position < 0:
        return ""
    line = data.count(b"\n", 0, position) + 1
    return f"; the beginning of its text occurs in line {line}"
