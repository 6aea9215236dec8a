"""Which nodes a filesystem owns, and how many bytes and names it uses."""

from __future__ import annotations

import errno
from _thread import get_ident

from agentsandbox.kernel.fs.base import Stat, os_error
from agentsandbox.kernel.fs.nodes import (
    DEVICE,
    DIR,
    FILE,
    GRAFT,
    HARD,
    LINK,
    MOUNT,
    Dir,
    File,
    Hard,
    number_of,
)
from agentsandbox.kernel.fs.resolution import Tree
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random
    from typing import Protocol

    from agentsandbox.kernel.fs.base import File as OpenedFile
    from agentsandbox.kernel.fs.base import FileSystem, Mode
    from agentsandbox.kernel.fs.nodes import Entry, Own, Plain
    from agentsandbox.kernel.fs.resolution import Place
    from agentsandbox.kernel.streams import Stream
    from agentsandbox.limits import Limits

    class OpenFile(Protocol):
        """What the account needs to know of an open file."""

        node: File

        @property
        def path(self) -> str | None: ...


_DIR_SIZE = 4096
_DEVICE_NUMBERS = {
    "null": 0x103,
    "zero": 0x105,
    "full": 0x107,
    "random": 0x108,
    "urandom": 0x109,
    "tty": 0x500,
}


# TM-MEM-2
class Ledger(Tree):
    """The part of `MemoryFileSystem` that owns nodes and keeps the account.

    token      the owner of nodes that may be changed in place; each snapshot takes a new one
    used       bytes of all files and links, and of unlinked files that are still open
    nodes      names in the tree
    max_…      how far both may grow: the limits, plus what does not count
    opened     the open files of each node
    mounted    every mounted filesystem and its path
    orphans    nodes without a name that an open file keeps; they still count

    What opening a file asks (`opening`):

    descriptors  opens /dev/fd/N and the like for a script; returns None for any other path
    open_fifo    opens a named pipe for a script (inode number, path, mode); without it EPERM
    random       where /dev/urandom takes its bytes from; None is the operating system
    """

    __slots__ = (
        "_hard_token", "clock", "descriptors", "limits", "max_bytes", "max_nodes", "mounted",
        "nodes", "open_fifo", "opened", "orphans", "random", "token", "used",
    )  # fmt: skip

    descriptors: Callable[[str], OpenedFile | None] | None
    open_fifo: Callable[[int, str, Mode], Stream] | None
    random: Random | None
    token: object
    used: int
    nodes: int
    max_bytes: int
    max_nodes: int
    limits: Limits
    clock: Callable[[], float]
    mounted: tuple[tuple[str, FileSystem], ...]
    opened: dict[File, list[OpenFile]]
    orphans: set[File]
    _hard_token: object

    def drop_set_ids(self, node: File) -> None:
        """Take the set-ID bits from a file that is written to, as Linux does; root keeps them.

        Set-group-ID without permission to execute for the group means something else, and stays.
        """
        if self._uid:
            node.mode &= ~(0o6000 if node.mode & 0o010 else 0o4000)

    # ownership

    def own(self, place: Place) -> Dir:
        """Return the place's directory, ready to be changed: it and all above it are ours."""
        token = self.token
        stack = place.stack
        here = stack[-1]
        assert type(here) is Dir
        if here.owner is token:
            return here
        parent: Dir | None = None
        for index, node in enumerate(stack):
            assert type(node) is Dir
            if node.owner is not token:
                node = node.copy(token)
                if parent is None:
                    self._root = node
                else:
                    parent.entries[place.names[index - 1]] = node
                stack[index] = node
            parent = node
        self._dirs.clear()
        assert parent is not None
        return parent

    def own_node(self, directory: Dir, name: str) -> Own:
        """Return the node of a name in our own directory, ready to be changed."""
        entry = directory.entries[name]
        if entry.kind == HARD:
            return self._own_hard(entry)
        assert entry.kind != GRAFT
        assert entry.kind != MOUNT
        if entry.owner is not self.token:
            entry = directory.entries[name] = self._clone(entry)
        return entry

    def _own_table(self) -> dict[int, Plain]:
        if self._hard_token is not self.token:
            self._hard = self._hard.copy()
            self._hard_token = self.token
        return self._hard

    def _own_hard(self, entry: Hard) -> Plain:
        table = self._own_table()
        node = table[entry.number]
        if node.owner is not self.token:
            twin = self._clone(node)
            assert twin.kind != DIR
            node = table[entry.number] = twin
        return node

    def share(self, directory: Dir, name: str) -> Hard:
        """Let a name in our own directory share its node with other names (hard links)."""
        entry = directory.entries[name]
        if entry.kind != HARD:
            node = self.own_node(directory, name)
            assert node.kind != DIR
            entry = directory.entries[name] = Hard(number_of(node))
            self._own_table()[entry.number] = node
        return entry

    def _clone(self, node: Own) -> Own:
        """Return our own copy of a node to replace it; its open files move to the copy."""
        twin = node.copy(self.token)
        if node.kind == DIR:
            self._dirs.clear()
        elif node.kind == FILE and node in self.opened:
            assert twin.kind == FILE
            self._move_opened(node, twin)
        return twin

    def _move_opened(self, node: File, twin: File) -> None:
        files = self.opened.pop(node)
        for file in files:
            file.node = twin
        self.opened[twin] = files

    def own_open(self, file: OpenFile) -> File:
        """Return the node of an open file, ready to be changed, also after a snapshot."""
        node = file.node
        if node.owner is self.token:
            return node
        place = self._place_of(node, file.path or "")
        if place is not None:
            twin = self.own_node(self.own(place), place.name)
            assert twin.kind == FILE
            return twin
        size = 0 if node in self.orphans else len(node.data)
        if self.used + size > self.max_bytes:
            raise os_error(errno.ENOSPC, file.path)
        self.used += size
        twin = node.copy(self.token)
        twin.links = 0
        self.orphans.discard(node)
        self.orphans.add(twin)
        self._move_opened(node, twin)
        return twin

    def _place_of(self, node: File, path: str) -> Place | None:
        """Find a node: at the path it was opened by, or wherever its name was moved to."""
        if node.links == 0:
            return None
        uid, self._uid = self._uid, 0
        try:
            place = self._walk(path)
            if place.node is node and place.name and place.mount is None:
                return place
        except OSError:
            pass
        try:
            found = self._search(node)
            return None if found is None else self._walk(found, follow=False)
        except OSError:
            return None
        finally:
            self._uid = uid

    def _search(self, node: File) -> str | None:
        pending = [("", self._root)]
        while pending:
            path, directory = pending.pop()
            for name, entry in directory.entries.items():
                if entry is node or (entry.kind == HARD and self._hard[entry.number] is node):
                    return f"{path}/{name}"
                if entry.kind == DIR:
                    pending.append((f"{path}/{name}", entry))
        return None

    def close(self, file: OpenFile) -> None:
        """Close an open file; free a node that has no name any more."""
        node = file.node
        files = self.opened[node]
        if len(files) > 1:
            files.remove(file)
            return
        del self.opened[node]
        if node in self.orphans:
            self.orphans.remove(node)
            self.used -= len(node.data)

    # the account

    def room(self, size: int) -> int:
        """Return how large a file of `size` bytes may become."""
        left = self.max_bytes - self.used + size
        largest = self.limits.file_bytes
        return min(largest, left)

    def charge(self, path: str, size: int = 0) -> None:
        """Count one more name and the bytes of its node."""
        if self.nodes >= self.max_nodes or self.used + size > self.max_bytes:
            raise os_error(errno.ENOSPC, path)
        self.nodes += 1
        self.used += size

    def drop(self, entry: Entry) -> None:
        """Count a name that left the tree; an open file keeps its bytes until it is closed."""
        self.nodes -= 1
        if entry.kind == HARD:
            node = self._own_hard(entry)
            if node.links > 1:
                node.links -= 1
                node.ctime = self.clock()
                return
            del self._hard[entry.number]
            self._forget(node)
        else:
            self._forget(entry)

    def _forget(self, node: Entry) -> None:
        """Count a node whose last name is gone."""
        if node.kind == FILE:
            if node in self.opened:
                if node.owner is self.token:
                    node.links = 0
                self.orphans.add(node)
            else:
                self.used -= len(node.data)
        elif node.kind == LINK:
            self.used -= len(encode(node.text))

    # description

    def _descriptor(self, path: str) -> OpenedFile | None:
        """Open /dev/fd/N for the running script; the host has no descriptors here."""
        if self.descriptors is None or self.script_thread != get_ident():
            return None
        return self.descriptors(path)

    def stat_of(self, node: Own) -> Stat:
        """Return the status of a node."""
        if node.kind == FILE:
            size = len(node.data)
        elif node.kind == DIR:
            size = _DIR_SIZE
        else:
            size = len(encode(node.text)) if node.kind == LINK else 0
        uid = node.uid
        info = Stat(
            node.mode,
            size,
            node.mtime,
            node.ino or number_of(node),
            node.links,
            uid,
            uid,
            node.ctime,
            node.atime,
        )
        if node.kind == DEVICE:
            info.rdev = _DEVICE_NUMBERS.get(node.device, 0)
        return info
