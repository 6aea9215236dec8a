"""Whole subtrees of the tree in memory at once, where a loop would take one node at a time."""

from __future__ import annotations

import errno
import posixpath

from agentsandbox.kernel.fs.base import FileSystem, os_error
from agentsandbox.kernel.fs.names import new_place, put
from agentsandbox.kernel.fs.nodes import DIR, FILE, GRAFT, LINK, MOUNT, Dir, File, Link
from agentsandbox.kernel.fs.removing import check_removable
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.fs.nodes import Entry
    from agentsandbox.kernel.fs.ownership import Ledger

_DIRECTORIES = frozenset((DIR, GRAFT, MOUNT))


def walk(tree: Ledger, path: str) -> Iterator[tuple[str, list[str], list[str]]]:
    node = tree._find(path)
    if type(node) is not Dir:
        yield from FileSystem.walk(tree, path)
        return
    pending: list[tuple[str, Dir]] = [(path, node)]
    while pending:
        here, node = pending.pop()
        if not tree._may(node, 4):
            raise os_error(errno.EACCES, here)
        directories: list[str] = []
        others: list[str] = []
        for name, entry in zip(*node.in_order(), strict=True):
            (directories if entry.kind in _DIRECTORIES else others).append(name)
        yield here, directories, others
        for name in reversed(directories):
            child = node.entries.get(name)
            below = posixpath.join(here, name)
            if child is None:
                continue
            if child.kind == DIR:
                pending.append((below, child))
            elif child.kind == GRAFT:
                pending.append((below, child.root))
            else:
                yield from FileSystem.walk(tree, below)


def copy_tree(tree: Ledger, source: str, target: str) -> None:
    node = tree._find(source, follow=False)
    if type(node) is Dir and _is_plain(tree, node):
        place = new_place(tree, target, directory=True)
        here = place.stack[-1]
        if type(here) is Dir and not here.mode & 0o2000:
            node = tree._find(source, follow=False)
            assert type(node) is Dir
            if any(each is node for each in place.stack):
                raise os_error(errno.EINVAL, target)
            _copy_plain(tree, node, source, target)
            return
    FileSystem.copy_tree(tree, source, target)


def _copy_plain(tree: Ledger, node: Dir, source: str, target: str) -> None:
    twin, names, size = _duplicate(tree, node)
    if tree.nodes + names > tree.max_nodes or tree.used + size > tree.max_bytes:
        FileSystem.copy_tree(tree, source, target)
        return
    put(tree, new_place(tree, target, directory=True), twin, target, size)
    tree.nodes += names - 1


def _is_plain(tree: Ledger, top: Dir) -> bool:
    """Whether the user may read all of a subtree of directories, files and links only."""
    pending = [top]
    while pending:
        directory = pending.pop()
        if not tree._may(directory, 5):
            return False
        for entry in directory.entries.values():
            if entry.kind == DIR:
                pending.append(entry)
            elif entry.kind == FILE:
                if not entry.mode & 0o400 and not tree._may(entry, 4):
                    return False
            elif entry.kind != LINK:
                return False
    return True


def _duplicate(tree: Ledger, top: Dir) -> tuple[Dir, int, int]:
    """Return our own copy with new times: (the top, number of names, bytes)."""
    token, uid, now = tree.token, tree.maker, tree.clock()
    copy = Dir(token, top.mode, now, uid)
    pending = [(top, copy)]
    names, size = 1, 0
    while pending:
        old, new = pending.pop()
        new.links = old.links
        names += len(old.entries)
        entries: dict[str, Entry] = new.entries
        for name, entry in old.entries.items():
            if entry.kind == FILE:
                data = entry.data
                if type(data) is not bytes:
                    data = entry.data = bytes(data)
                entries[name] = File(token, entry.mode, now, uid, data)
                size += len(data)
            elif entry.kind == DIR:
                below = entries[name] = Dir(token, entry.mode, now, uid)
                pending.append((entry, below))
            elif entry.kind == LINK:
                entries[name] = Link(token, entry.text, now, uid)
                size += len(encode(entry.text))
    return copy, names, size


def remove_tree(tree: Ledger, path: str) -> None:
    place = tree._walk(path, follow=False)
    node = place.node
    if (
        type(node) is not Dir
        or not place.name
        or place.slashed
        or place.entry is not node
        or not _may_remove(tree, node)
    ):
        FileSystem.remove_tree(tree, path)
        return
    check_removable(tree, place, path)
    now = tree.clock()
    directory = tree.own(place)
    del directory.entries[place.name]
    directory.links -= 1
    directory.mtime = directory.ctime = now
    directory.atime = None
    tree._dirs.clear()
    pending = [node]
    tree.drop(node)
    while pending:
        for entry in pending.pop().entries.values():
            tree.drop(entry)
            if entry.kind == DIR:
                pending.append(entry)


def _may_remove(tree: Ledger, top: Dir) -> bool:
    """Whether nothing below forbids removal: an unreadable or sticky directory, a mount."""
    pending = [top]
    while pending:
        directory = pending.pop()
        if not tree._may(directory, 7) or directory.mode & 0o1000:
            return False
        for entry in directory.entries.values():
            if entry.kind == DIR:
                pending.append(entry)
            elif entry.kind == GRAFT or entry.kind == MOUNT:
                return False
    return True
