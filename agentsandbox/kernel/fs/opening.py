"""Opening and writing files of the tree in memory.

What is quick comes first: the directory of the file is known, so only the node is looked at.
"""

from __future__ import annotations

import errno
from _thread import get_ident

from agentsandbox.kernel.fs.base import FileSystem, ends_in_dots, inside, os_error
from agentsandbox.kernel.fs.handles import MemoryFile
from agentsandbox.kernel.fs.names import check_writable, put
from agentsandbox.kernel.fs.nodes import (
    DIR,
    FILE,
    Device,
    Fifo,
    Inner,
    InnerLink,
    number_of,
    regular_mode,
)
from agentsandbox.kernel.fs.nodes import File as FileNode
from agentsandbox.kernel.fs.resolution import DESCRIPTORS, is_ordinary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import File, Mode
    from agentsandbox.kernel.fs.nodes import Dir, Own
    from agentsandbox.kernel.fs.ownership import Ledger
    from agentsandbox.kernel.fs.resolution import Place

_WANTED = {"r": 4, "r+": 6, "w": 2, "a": 2, "x": 2}


def open_file(tree: Ledger, path: str, mode: Mode, permissions: int) -> File:
    """Open a file (`FileSystem.open`)."""
    if tree.pay is not None:
        tree._pay()
    cut = path.rfind("/")
    directory = tree._dirs.get(path[:cut])
    if directory is not None:
        name = path[cut + 1 :]
        entry = directory.entries.get(name)
        if entry is None:
            if mode != "r" and mode != "r+" and _may_create(tree, directory, name, 0):
                node = _make(tree, directory, name, permissions, b"")
                return MemoryFile(
                    tree, node, path, readable=False, writable=True, append=mode == "a"
                )
        elif entry.kind == FILE and tree._may(entry, _WANTED[mode]):
            if mode == "r":
                return MemoryFile(tree, entry, path, readable=True, writable=False, append=False)
            if entry.owner is tree.token and mode != "x":
                return _opened(tree, entry, path, mode)
    return _open(tree, path, mode, permissions)


def _may_create(tree: Ledger, directory: Dir, name: str, size: int) -> bool:
    """Whether a new file of this size certainly fits and may be created with this name."""
    return (
        directory.owner is tree.token
        and ((directory.uid == tree._uid and directory.mode & 0o200 != 0) or tree._uid == 0)
        and tree.nodes < tree.max_nodes
        and is_ordinary(name)
        and size <= tree.room(0)
    )


def _make(tree: Ledger, directory: Dir, name: str, permissions: int, data: bytes) -> FileNode:
    """Create a file in our own directory."""
    now = tree.clock()
    node = directory.entries[name] = FileNode(
        tree.token, regular_mode(permissions), now, tree.maker, data
    )
    directory.mtime = directory.ctime = now
    directory.atime = None
    tree.nodes += 1
    tree.used += len(data)
    return node


def _opened(tree: Ledger, node: FileNode, path: str, mode: Mode) -> File:
    """Open a node."""
    if mode == "w":
        if node.mode & 0o6000:
            tree.drop_set_ids(node)
        tree.used -= len(node.data)
        node.data = b""
        node.mtime = node.ctime = tree.clock()
        node.atime = None
    wanted = _WANTED[mode]
    return MemoryFile(
        tree, node, path, readable=wanted & 4 != 0, writable=wanted & 2 != 0, append=mode == "a"
    )


def _open(tree: Ledger, path: str, mode: Mode, permissions: int) -> File:
    if tree.descriptors is not None and path.startswith(DESCRIPTORS):
        stream = tree._descriptor(path)
        if stream is not None:
            # of the shell: it stands where a file stands
            return stream.reopened(mode)  # type: ignore[return-value]
    creates = mode in ("w", "a", "x")
    if creates and path.endswith("/"):
        tree._walk(path.rstrip("/") or "/", path, follow=False)
        raise os_error(errno.EEXIST if mode == "x" and ends_in_dots(path) else errno.EISDIR, path)
    place = tree._walk(path, follow=mode != "x")
    node = place.node
    if mode == "x" and node is not None:
        raise os_error(errno.EEXIST, path)
    if node is None:
        if not creates:
            raise os_error(errno.ENOENT, path)
        return _create(tree, path, place, mode, permissions)
    if isinstance(node, (Inner, InnerLink)):
        return inside(path, node.filesystem.open, node.path, mode, permissions=permissions)
    wanted = _WANTED[mode]
    if node.kind == DIR:
        raise os_error(errno.EISDIR if wanted & 2 or tree._may(node, 4) else errno.EACCES, path)
    if wanted & 2 and place.mount is not None and node.kind == FILE:
        raise os_error(errno.EROFS, path)
    if not tree._may(node, wanted):
        raise os_error(errno.EACCES, path)
    if node.kind != FILE:
        return _open_special(tree, node, path, mode)
    if wanted & 2:
        owned = tree.own_node(tree.own(place), place.name)
        assert owned.kind == FILE
        node = owned
    else:
        tree._remember(path)
    return _opened(tree, node, path, mode)


def _create(tree: Ledger, path: str, place: Place, mode: Mode, permissions: int) -> File:
    if place.slashed:
        raise os_error(errno.EISDIR, path)
    if "\0" in path:
        raise os_error(errno.EINVAL, path)
    here = place.stack[-1]
    if type(here) is Inner:
        return inside(
            path, here.filesystem.open, here.child(place.name), mode, permissions=permissions
        )
    check_writable(tree, place, path)
    tree.own(place)
    node = FileNode(tree.token, regular_mode(permissions), tree.clock(), tree.maker)
    put(tree, place, node, path)
    tree._remember(path)
    return MemoryFile(tree, node, path, readable=False, writable=True, append=mode == "a")


def _open_special(tree: Ledger, node: Own, path: str, mode: Mode) -> File:
    for_script = tree.script_thread == get_ident()
    if type(node) is Fifo:
        if tree.open_fifo is None:
            raise os_error(errno.EPERM, path)
        if not for_script:
            raise os_error(errno.ENXIO, path)
        # the same
        return tree.open_fifo(number_of(node), path, mode)  # type: ignore[return-value]
    from agentsandbox.kernel.fs.devices import open_device

    assert type(node) is Device
    return open_device(node.device, path, tree.stat_of(node), tree.random, for_script=for_script)


def write_file(tree: Ledger, path: str, data: bytes, permissions: int) -> None:
    """Create a file or replace its content (`FileSystem.write_bytes`)."""
    cut = path.rfind("/")
    name = path[cut + 1 :]
    directory = tree._dirs.get(path[:cut])
    if directory is None or type(data) is not bytes:
        FileSystem.write_bytes(tree, path, data, permissions=permissions)
        return
    entry = directory.entries.get(name)
    size = len(data)
    if entry is None:
        if _may_create(tree, directory, name, size):
            _make(tree, directory, name, permissions, data)
            return
    elif entry.kind == FILE and entry.owner is tree.token and tree._may(entry, 2):
        old = len(entry.data)
        if size <= tree.room(old):
            if entry.mode & 0o6000:
                tree.drop_set_ids(entry)
            entry.data = data
            entry.mtime = entry.ctime = tree.clock()
            entry.atime = None
            tree.used += size - old
            return
    FileSystem.write_bytes(tree, path, data, permissions=permissions)
