"""Creating, moving and removing names in the tree in memory.

The clock may be a function of the host and raise: it is asked before anything is changed.
"""

from __future__ import annotations

import errno

from agentsandbox.kernel.fs.base import os_error
from agentsandbox.kernel.fs.mounted_calls import inside
from agentsandbox.kernel.fs.nodes import (
    DIR,
    FILE,
    HARD,
    LINK,
    Dir,
    Fifo,
    Inner,
    InnerLink,
    Link,
    Mount,
    SharedTree,
)
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.nodes import Entry
    from agentsandbox.kernel.fs.ownership import Ledger
    from agentsandbox.kernel.fs.resolution import Place

_LINK_MAX = 4096


# what may be changed


def _last(tree: Ledger, path: str) -> Place:
    """Find the last name of a path; a slash after it does not follow a link here."""
    return tree._walk(path.rstrip("/") or "/", path, follow=False)


def check_writable(tree: Ledger, place: Place, path: str) -> None:
    """Check that names may be created and removed in the place's directory."""
    if place.mount is not None:
        raise os_error(errno.EROFS, path)
    here = place.stack[-1]
    if type(here) is Dir and not tree._may(here, 3):
        raise os_error(errno.EACCES, path)


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


# making


def new_place(tree: Ledger, path: str, *, directory: bool = False) -> Place:
    """Return the place of a new name: EEXIST if taken. Its directory is our own or in a mount."""
    place = _last(tree, path)
    if place.node is not None:
        raise os_error(errno.EEXIST, path)
    if path.endswith("/") and not directory:
        raise os_error(errno.ENOENT, path)
    if "\0" in path:
        raise os_error(errno.EINVAL, path)
    if type(place.stack[-1]) is Dir:
        check_writable(tree, place, path)
        if tree.nodes >= tree.max_nodes:
            raise os_error(errno.ENOSPC, path)
        tree.own(place)
    return place


def put(tree: Ledger, place: Place, entry: Entry, path: str, size: int = 0) -> None:
    """Enter something new in its directory, which is our own."""
    now = tree.clock()
    tree.charge(path, size)
    directory = place.stack[-1]
    assert type(directory) is Dir
    directory.entries[place.name] = entry
    directory.mtime = directory.ctime = now
    directory.atime = None
    if entry.kind == DIR:
        directory.links += 1


def mkdir(tree: Ledger, path: str, mode: int = 0o755) -> None:
    place = new_place(tree, path, directory=True)
    here = place.stack[-1]
    if type(here) is Inner:
        inside(path, here.filesystem.mkdir, here.child(place.name), mode)
    elif type(here) is Dir:
        kept = here.mode & 0o2000  # a set-group-ID directory hands that on
        put(
            tree,
            place,
            Dir(tree.token, 0o040000 | mode & 0o7777 | kept, tree.clock(), tree.maker),
            path,
        )


def symlink(tree: Ledger, text: str, path: str) -> None:
    if not text:
        raise os_error(errno.ENOENT, path)
    if "\0" in text:
        raise os_error(errno.EINVAL, path)
    size = len(encode(text))
    if size >= _LINK_MAX:
        raise os_error(errno.ENAMETOOLONG, path)
    place = new_place(tree, path)
    here = place.stack[-1]
    if type(here) is Inner:
        inside(path, here.filesystem.symlink, text, here.child(place.name))
    else:
        put(tree, place, Link(tree.token, text, tree.clock(), tree.maker), path, size)


def mkfifo(tree: Ledger, path: str, mode: int = 0o644) -> None:
    place = new_place(tree, path)
    here = place.stack[-1]
    if type(here) is Inner:
        inside(path, here.filesystem.mkfifo, here.child(place.name), mode)
    else:
        put(tree, place, Fifo(tree.token, 0o010000 | mode & 0o7777, tree.clock(), tree.maker), path)


def link(tree: Ledger, source: str, path: str) -> None:
    origin = tree._walk(source, follow=False)
    node = origin.node
    if node is None:
        raise os_error(errno.ENOENT, source)
    place = new_place(tree, path)
    here = place.stack[-1]
    behind_mount = type(origin.entry) is SharedTree or type(origin.entry) is Mount
    if origin.mount is not place.mount or behind_mount:
        raise os_error(errno.EXDEV, path)
    if type(here) is Inner:
        if isinstance(node, (Inner, InnerLink)):
            inside(path, here.filesystem.link, node.path, here.child(place.name))
        return
    if node.kind == DIR:
        raise os_error(errno.EPERM, source)
    origin = tree._walk(source, follow=False)
    now = tree.clock()
    directory = tree.own(origin)
    entry = tree.share(directory, origin.name)
    place = new_place(tree, path)
    put(tree, place, entry, path)
    linked = tree.own_node(directory, origin.name)
    linked.links += 1
    linked.ctime = now


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
    place = _last(tree, path)
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
    place = _last(tree, path)
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
    origin = _last(tree, source)
    place = _last(tree, target)
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
    place = _last(tree, target)
    tree.own(place)
    _move(tree, _last(tree, source), place)


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
