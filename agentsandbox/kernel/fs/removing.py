"""Removing and moving names in the tree in memory.

As in `names`, the clock is asked before anything is changed.
"""

from __future__ import annotations

import errno

from agentsandbox.kernel.fs.base import inside, os_error
from agentsandbox.kernel.fs.names import check_writable, last_name
from agentsandbox.kernel.fs.nodes import (
    DIR,
    FILE,
    HARD,
    LINK,
    Dir,
    Inner,
    InnerLink,
    Mount,
    SharedTree,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.ownership import Ledger
    from agentsandbox.kernel.fs.resolution import Place


# what may be removed


def check_removable(tree: Ledger, place: Place, path: str) -> None:
    """Check like `check_writable`, and the sticky bit, which protects the files of others."""
    check_writable(tree, place, path)
    directory, node = place.stack[-1], place.node
    assert type(directory) is Dir
    assert node is not None
    assert not isinstance(node, (Inner, InnerLink))
    if directory.mode & 0o1000 and tree._uid not in (0, directory.uid, node.uid):
        raise os_error(errno.EPERM, path)


def _check_last(tree: Ledger, place: Place, path: str) -> None:
    """Refuse to remove "." (EINVAL), ".." (ENOTEMPTY) and the root (EBUSY)."""
    if not place.name:
        last = path.rstrip("/").rpartition("/")[2]
        raise os_error({".": errno.EINVAL, "..": errno.ENOTEMPTY}.get(last, errno.EBUSY), path)


# removing


def unlink(tree: Ledger, path: str) -> None:
    cut = path.rfind("/")
    directory = tree._dirs.get(path[:cut])
    if directory is not None and directory.owner is tree.token:
        entry = directory.entries.get(path[cut + 1 :])
        if (
            entry is not None
            and entry.kind == FILE
            and directory.uid == tree._uid
            and directory.mode & 0o200
        ):
            _remove(tree, directory, path[cut + 1 :])
            return
    place = last_name(tree, path)
    node = place.node
    if node is None:
        raise os_error(errno.ENOENT, path)
    if isinstance(node, (Inner, InnerLink)):
        if type(place.entry) is Mount:
            raise os_error(errno.EISDIR, path)
        inside(path, node.filesystem.unlink, node.path + _slash(path))
        return
    if node.kind == DIR and (
        not place.name or path.endswith("/") or type(place.entry) is SharedTree
    ):
        raise os_error(errno.EISDIR, path)
    if path.endswith("/"):
        raise os_error(errno.ENOTDIR, path)
    check_removable(tree, place, path)
    if node.kind == DIR:
        raise os_error(errno.EISDIR, path)
    _remove(tree, tree.own(place), place.name)


def _remove(tree: Ledger, directory: Dir, name: str) -> None:
    """Remove a name that is not a directory from a directory of our own."""
    now = tree.clock()
    entry = directory.entries.pop(name)
    directory.mtime = directory.ctime = now
    directory.atime = None
    tree.drop(entry)
    if entry.kind == LINK or entry.kind == HARD:
        tree._dirs.clear()


def rmdir(tree: Ledger, path: str) -> None:
    place = last_name(tree, path)
    node = place.node
    if node is None:
        raise os_error(errno.ENOENT, path)
    _check_last(tree, place, path)
    if isinstance(node, (Inner, InnerLink)):
        if type(place.entry) is Mount:
            raise os_error(errno.EBUSY, path)
        inside(path, node.filesystem.rmdir, node.path)
        return
    if type(node) is Dir and place.entry is not node:
        raise os_error(errno.EBUSY, path)
    check_removable(tree, place, path)
    if type(node) is not Dir:
        raise os_error(errno.ENOTDIR, path)
    if node.entries:
        raise os_error(errno.ENOTEMPTY, path)
    now = tree.clock()
    directory = tree.own(place)
    tree.drop(directory.entries.pop(place.name))
    directory.links -= 1
    directory.mtime = directory.ctime = now
    directory.atime = None
    tree._dirs.clear()


# moving


def rename(tree: Ledger, source: str, target: str) -> None:
    origin = last_name(tree, source)
    place = last_name(tree, target)
    if not origin.name or not place.name:
        raise os_error(errno.EBUSY, source)
    if origin.mount is not place.mount:
        raise os_error(errno.EXDEV, source)
    if origin.node is None:
        raise os_error(errno.ENOENT, source)
    if "\0" in target:
        raise os_error(errno.EINVAL, target)
    here, there = origin.stack[-1], place.stack[-1]
    if type(here) is Inner and type(there) is Inner:
        old, new = (
            here.child(origin.name) + _slash(source),
            there.child(place.name) + _slash(target),
        )
        inside(source, here.filesystem.rename, old, new)
        return
    if any(type(each.entry) is SharedTree or type(each.entry) is Mount for each in (origin, place)):
        raise os_error(errno.EBUSY, source)
    _check_rename(tree, origin, place, source, target)
    if origin.node is place.node:
        return
    tree.own(origin)
    place = last_name(tree, target)
    tree.own(place)
    _move(tree, last_name(tree, source), place)


def _check_rename(tree: Ledger, origin: Place, place: Place, source: str, target: str) -> None:
    """Check all that forbids a rename in this filesystem, in the kernel's order."""
    node, old = origin.node, place.node
    assert node is not None
    if origin.mount is not None:
        raise os_error(errno.EROFS, source)
    is_dir = node.kind == DIR
    if not is_dir and (source.endswith("/") or target.endswith("/")):
        raise os_error(errno.ENOTDIR, source)
    if is_dir and any(each is node for each in place.stack):
        raise os_error(errno.EINVAL, source)
    if old is not None and any(each is old for each in origin.stack):
        raise os_error(errno.ENOTEMPTY, source)
    if old is node:
        return
    check_removable(tree, origin, source)
    if old is None:
        check_writable(tree, place, target)
    else:
        check_removable(tree, place, target)
        if is_dir and old.kind != DIR:
            raise os_error(errno.ENOTDIR, source)
        if not is_dir and old.kind == DIR:
            raise os_error(errno.EISDIR, source)
    if type(node) is Dir and origin.stack[-1] is not place.stack[-1] and not tree._may(node, 2):
        raise os_error(errno.EACCES, source)  # its ".." changes
    if type(old) is Dir and old.entries:
        raise os_error(errno.ENOTEMPTY, source)


def _move(tree: Ledger, origin: Place, place: Place) -> None:
    """Do a rename; both directories are our own."""
    here, there = origin.stack[-1], place.stack[-1]
    assert type(here) is Dir
    assert type(there) is Dir
    now = tree.clock()
    entry = here.entries.pop(origin.name)
    old = there.entries.pop(place.name, None)
    there.entries[place.name] = entry
    if old is not None:
        there.links -= old.kind == DIR
        tree.drop(old)
    if entry.kind == DIR:
        here.links -= 1
        there.links += 1
    here.mtime = here.ctime = there.mtime = there.ctime = now
    here.atime = there.atime = None
    if entry.kind != FILE or (old is not None and old.kind != FILE):
        tree._dirs.clear()


def _slash(path: str) -> str:
    """Return the slash that a path ends in, or ""."""
    return "/" if path.endswith("/") else ""
