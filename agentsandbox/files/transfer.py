"""The tree of the sandbox, read into members or written from members.

Neither side follows a link below its top. On the way out a link is copied if it stays inside; an
absolute text is made relative. On the way in a link, a pipe or a device in the place of a member is
removed first, so that nobody can redirect a copy by planting one.
"""

from __future__ import annotations

import errno
import posixpath

from agentsandbox.files.contents import check_regular, make_directories, stat_or_none
from agentsandbox.files.members import Member, special_file, stays_inside
from agentsandbox.kernel.fs.base import os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.fs.memory import MemoryFileSystem


def outgoing(
    fs: MemoryFileSystem, top: str, budget: Budget, *, skip_unsafe: bool
) -> tuple[str, list[Member]]:
    """Return the directory that paths start at, and the members at or below `top`, without content.

    Directories come before what is in them. A single file is one member, by its name. What cannot
    leave safely is refused, or with `skip_unsafe` left out: links that lead out (EPERM), devices
    and named pipes (EINVAL).
    """
    info = fs.stat(top)
    if not info.is_dir:
        check_regular(info, top)
        parent, name = posixpath.split(top.rstrip("/"))
        return parent, [Member(name, "file", mode=info.permissions, mtime=info.mtime)]
    top = fs.realpath(top)
    return top, list(_below(fs, top, budget, skip_unsafe=skip_unsafe))


def _below(
    fs: MemoryFileSystem, top: str, budget: Budget, *, skip_unsafe: bool
) -> Iterator[Member]:
    pending = [""]
    while pending:
        here = pending.pop()
        directories: list[str] = []
        for name in fs.listdir(posixpath.join(top, here)):
            budget.step()
            path = posixpath.join(here, name)
            full = posixpath.join(top, path)
            info = fs.stat(full, follow=False)
            if info.is_dir:
                directories.append(path)
                yield Member(path, "directory", mode=info.permissions, mtime=info.mtime)
            elif info.is_file:
                yield Member(path, "file", mode=info.permissions, mtime=info.mtime)
            elif info.is_link and (text := _inner_text(fs, top, path)) is not None:
                yield Member(path, "link", mtime=info.mtime, text=text)
            elif not skip_unsafe:
                raise _unsafe(info, full)
        pending.extend(reversed(directories))


def _unsafe(info: Stat, path: str) -> OSError:
    if info.is_link:
        return OSError(
            errno.EPERM,
            "A link that leads out of what is exported (unsafe='skip' leaves it out)",
            path,
        )
    return special_file(path)


def _inner_text(fs: MemoryFileSystem, top: str, path: str) -> str | None:
    """Return what a link below the top says, made relative; None if it leads out."""
    text = fs.readlink(posixpath.join(top, path))
    start = f"{top.rstrip('/')}/"
    if f"{text}/".startswith(start):
        text = "../" * path.count("/") + (text[len(start) :] or ".")
    return text if stays_inside(path, text) else None


def place(fs: MemoryFileSystem, members: Iterable[Member], to: str, budget: Budget) -> list[str]:
    """Write members below the directory `to`; return the paths of files and links.

    The directory is made if it is missing. What is in the way is replaced, but a directory only by
    a directory.
    """
    if (info := stat_or_none(fs, to)) is not None and not info.is_dir:
        raise os_error(errno.ENOTDIR, to)
    make_directories(fs, to)
    written: list[str] = []
    narrow: list[tuple[str, int]] = []
    for member in members:
        budget.step()
        path = posixpath.join(to, member.path)
        info = stat_or_none(fs, path, follow=False)
        if member.kind == "directory":
            if _make_room_for_directory(fs, path, info):
                fs.mkdir(path, member.mode | 0o700)
                if member.mode & 0o700 != 0o700:
                    narrow.append((path, member.mode))
            continue
        if info is not None:
            fs.unlink(path)
        if member.kind == "link":
            fs.symlink(member.text, path)
        else:
            fs.write_bytes(path, member.content, permissions=member.mode)
            fs.utime(path, member.mtime)
        written.append(path)
    for path, mode in reversed(narrow):
        fs.chmod(path, mode)
    return written


def _make_room_for_directory(fs: MemoryFileSystem, path: str, info: Stat | None) -> bool:
    """Whether the directory must be made. A link in its place is removed, never followed."""
    if info is None:
        return True
    if info.is_dir:
        return False
    if info.is_file:
        raise os_error(errno.ENOTDIR, path)
    fs.unlink(path)
    return True
