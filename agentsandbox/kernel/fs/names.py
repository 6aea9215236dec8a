"""Creating names in the tree in memory.

The clock may be a function of the host and raise: it is asked before anything is changed.
"""

from __future__ import annotations

import errno

from agentsandbox.kernel.fs.base import inside, os_error
from agentsandbox.kernel.fs.nodes import (
    DIR,
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


def last_name(tree: Ledger, path: str) -> Place:
    """Find the last name of a path; a slash after it does not follow a link here."""
    return tree._walk(path.rstrip("/") or "/", path, follow=False)


def check_writable(tree: Ledger, place: Place, path: str) -> None:
    """Check that names may be created and removed in the place's directory."""
    if place.mount is not None:
        raise os_error(errno.EROFS, path)
    here = place.stack[-1]
    if type(here) is Dir and not tree._may(here, 3):
        raise os_error(errno.EACCES, path)


# making


def new_place(tree: Ledger, path: str, *, directory: bool = False) -> Place:
    """Return the place of a new name: EEXIST if taken. Its directory is our own or in a mount."""
    place = last_name(tree, path)
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
