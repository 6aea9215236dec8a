"""The nodes of the tree in memory. Nobody but this package sees them.

A node may be changed in place only by the filesystem whose token is its `owner`; everyone else
copies it first. An owned node is reached through owned directories only, so one look at the parent
tells whether a path may be written. There are no parent pointers, hence no reference cycles: a
dropped sandbox is freed at once.
"""

from __future__ import annotations

import itertools

from agentsandbox.kernel.caching import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal, Self

    from agentsandbox.kernel.fs.base import FileSystem, Stat

FILE: Final = 0
DIR: Final = 1
LINK: Final = 2
HARD: Final = 3
DEVICE: Final = 4
FIFO: Final = 5
GRAFT: Final = 6
MOUNT: Final = 7
INNER: Final = 8

DEVICES = ("full", "null", "random", "tty", "urandom", "zero")
"""The names of devices (`devices.open_device`)."""

_numbers = itertools.count(11)


class _Inode:
    """The base of all nodes. `mode` holds type and permissions; `atime` is None if equal to
    `mtime`.

    `links` counts names; of a directory only its own two and those of its subdirectories.
    """

    __slots__ = ("atime", "ctime", "ino", "links", "mode", "mtime", "owner", "uid")

    def __init__(self, owner: object, mode: int, mtime: float, uid: int) -> None:
        self.owner = owner
        self.mode = mode
        self.mtime = self.ctime = mtime
        self.atime: float | None = None
        self.uid = uid
        self.links = 1
        self.ino = 0

    def _describe(self, twin: Self) -> Self:
        """Copy what is known of the original besides owner, mode, mtime and uid."""
        twin.ctime = self.ctime
        twin.atime = self.atime
        twin.links = self.links
        if not self.ino:
            self.ino = next(_numbers)
        twin.ino = self.ino
        return twin


class File(_Inode):
    """A regular file; `data` is a bytearray while it is being appended to."""

    __slots__ = ("data",)
    kind: Literal[0] = FILE

    def __init__(
        self, owner: object, mode: int, mtime: float, uid: int, data: bytes | bytearray = b""
    ) -> None:
        self.owner = owner
        self.mode = mode
        self.mtime = self.ctime = mtime
        self.atime = None
        self.uid = uid
        self.links = 1
        self.ino = 0
        self.data = data

    def copy(self, owner: object) -> File:
        """Return a copy for another owner; content that may still grow is frozen first."""
        if type(self.data) is not bytes:
            self.data = bytes(self.data)
        return self._describe(File(owner, self.mode, self.mtime, self.uid, self.data))


class Dir(_Inode):
    """A directory."""

    __slots__ = ("entries",)
    kind: Literal[1] = DIR

    def __init__(self, owner: object, mode: int, mtime: float, uid: int) -> None:
        super().__init__(owner, mode, mtime, uid)
        self.links = 2
        self.entries: dict[str, Entry] = {}

    def copy(self, owner: object) -> Dir:
        """Return a copy for another owner; the entries stay shared."""
        twin = self._describe(Dir(owner, self.mode, self.mtime, self.uid))
        twin.entries = self.entries.copy()
        return twin

    def in_order(self) -> tuple[list[str], list[Entry]]:
        """Return the sorted names and their nodes; sorts the entries, so the next call is fast."""
        entries = self.entries
        names = sorted(entries)
        if names != list(entries):
            self.entries = entries = {name: entries[name] for name in names}
        return names, list(entries.values())


class Link(_Inode):
    """A symbolic link."""

    __slots__ = ("text",)
    kind: Literal[2] = LINK

    def __init__(self, owner: object, text: str, mtime: float, uid: int) -> None:
        super().__init__(owner, 0o120777, mtime, uid)
        self.text = text

    def copy(self, owner: object) -> Link:
        """Return a copy for another owner."""
        return self._describe(Link(owner, self.text, self.mtime, self.uid))


class Device(_Inode):
    """A character device; `device` is its name for `devices.open_device`."""

    __slots__ = ("device",)
    kind: Literal[4] = DEVICE

    def __init__(
        self, owner: object, device: str, mtime: float, uid: int, mode: int = 0o020666
    ) -> None:
        super().__init__(owner, mode, mtime, uid)
        self.device = device

    def copy(self, owner: object) -> Device:
        """Return a copy for another owner."""
        return self._describe(Device(owner, self.device, self.mtime, self.uid, self.mode))


class Fifo(_Inode):
    """A named pipe."""

    __slots__ = ()
    kind: Literal[5] = FIFO

    def copy(self, owner: object) -> Fifo:
        """Return a copy for another owner."""
        return self._describe(Fifo(owner, self.mode, self.mtime, self.uid))


class Hard:
    """One of several names of a node, which is in the filesystem's table to stay shared."""

    __slots__ = ("number",)
    kind: Literal[3] = HARD
    mode: Literal[0] = 0

    def __init__(self, number: int) -> None:
        self.number = number


class SharedTree:
    """A read-only tree that many filesystems share."""

    __slots__ = ("root",)
    kind: Literal[6] = GRAFT
    mode: Literal[0] = 0

    def __init__(self, root: Dir) -> None:
        self.root = root


class Mount:
    """Another filesystem, from here on down."""

    __slots__ = ("filesystem",)
    kind: Literal[7] = MOUNT
    mode: Literal[0] = 0

    def __init__(self, filesystem: FileSystem) -> None:
        self.filesystem = filesystem


class Inner:
    """A file or directory in a mounted filesystem: made while a path is walked, never stored."""

    __slots__ = ("filesystem", "info", "path")
    kind: Literal[8] = INNER

    def __init__(self, filesystem: FileSystem, path: str, info: Stat) -> None:
        self.filesystem = filesystem
        self.path = path
        self.info = info

    def child(self, name: str) -> str:
        """Return the path of `name` in this directory."""
        return f"/{name}" if self.path == "/" else f"{self.path}/{name}"


class InnerLink:
    """A symbolic link in a mounted filesystem."""

    __slots__ = ("filesystem", "info", "path")
    kind: Literal[2] = LINK

    def __init__(self, filesystem: FileSystem, path: str, info: Stat) -> None:
        self.filesystem = filesystem
        self.path = path
        self.info = info

    @property
    def text(self) -> str:
        """Return the link's target."""
        return self.filesystem.readlink(self.path)


if TYPE_CHECKING:
    Plain = File | Link | Fifo | Device
    Own = Plain | Dir
    Entry = Own | Hard | SharedTree | Mount
    Foreign = Inner | InnerLink
    Node = Own | Foreign


def number_from(first: int) -> None:
    """Make `first` the next inode number of this process.

    A process that makes nodes for a tree of another one begins where that one never comes.
    """
    global _numbers
    _numbers = itertools.count(first)


def number_of(node: Own) -> int:
    """Return the inode number, assigned at the first call."""
    if not node.ino:
        node.ino = next(_numbers)
    return node.ino


@lru_cache(maxsize=256)
def regular_mode(permissions: int) -> int:
    """Return the mode of a regular file, one object per value: less memory, faster comparison."""
    return 0o100000 | permissions & 0o7777
