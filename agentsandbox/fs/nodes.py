"""The nodes of the tree in memory. Nobody but this package sees them.

A node may be changed in place only by the filesystem whose token is its `owner`; everyone else copies it first. An
owned node is reached through owned directories only, so one look at the parent tells whether a path may be written.
`mode` holds type and permission bits; `ino` is given out when first asked for; there are no parent pointers, hence no
reference cycles: a dropped sandbox is freed at once.
"""

from __future__ import annotations

import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.fs.base import FileSystem, Stat

__all__ = ["DEVICE", "DIR", "FIFO", "FILE", "GRAFT", "HARD", "INNER", "LINK", "MOUNT"]
__all__ += ["Device", "Dir", "Fifo", "File", "Graft", "Hard", "Inner", "Link", "Mount", "number_of"]

FILE, DIR, LINK, HARD, DEVICE, FIFO, GRAFT, MOUNT, INNER = range(9)

_numbers = itertools.count(11)


class File:
    """A regular file.

    `atime` is None while it is that of the last change; `data` is a bytearray while it is being appended to; `handles`
    counts the open streams.
    """

    __slots__ = ("atime", "ctime", "data", "handles", "ino", "links", "mode", "mtime", "owner", "uid")
    kind = FILE

    def __init__(self, owner: object, mode: int, mtime: float, uid: int, data: bytes | bytearray = b"") -> None:
        self.owner = owner
        self.mode = mode
        self.mtime = self.ctime = mtime
        self.atime: float | None = None
        self.uid = uid
        self.data = data
        self.links = 1
        self.ino = self.handles = 0

    def copy(self, owner: object) -> File:
        """The same file for another owner; content that may still grow is frozen first."""
        if type(self.data) is not bytes:
            self.data = bytes(self.data)
        twin = File(owner, self.mode, self.mtime, self.uid, self.data)
        twin.ctime = self.ctime
        twin.atime = self.atime
        twin.links = self.links
        twin.ino = number_of(self)
        return twin


class Dir:
    """A directory; `subdirs` counts the directories in it, for the link count."""

    __slots__ = ("atime", "ctime", "entries", "ino", "mode", "mtime", "owner", "subdirs", "uid")
    kind = DIR

    def __init__(self, owner: object, mode: int, mtime: float, uid: int, entries: dict[str, Entry] | None = None) -> None:
        self.owner = owner
        self.mode = mode
        self.mtime = self.ctime = mtime
        self.atime: float | None = None
        self.uid = uid
        self.entries: dict[str, Entry] = {} if entries is None else entries
        self.ino = self.subdirs = 0

    def copy(self, owner: object) -> Dir:
        """The same directory for another owner; what is in it stays shared."""
        twin = Dir(owner, self.mode, self.mtime, self.uid, self.entries.copy())
        twin.ctime = self.ctime
        twin.atime = self.atime
        twin.subdirs = self.subdirs
        twin.ino = number_of(self)
        return twin


class Link:
    """A symbolic link."""

    __slots__ = ("atime", "ctime", "ino", "links", "mode", "mtime", "owner", "text", "uid")
    kind = LINK

    def __init__(self, owner: object, text: str, mtime: float, uid: int) -> None:
        self.owner = owner
        self.text = text
        self.mode = 0o120777
        self.mtime = self.ctime = mtime
        self.atime: float | None = None
        self.uid = uid
        self.links = 1
        self.ino = 0

    def copy(self, owner: object) -> Link:
        twin = Link(owner, self.text, self.mtime, self.uid)
        twin.ctime = self.ctime
        twin.atime = self.atime
        twin.links = self.links
        twin.ino = number_of(self)
        return twin


class Fifo:
    """A named pipe."""

    __slots__ = ("atime", "ctime", "ino", "links", "mode", "mtime", "owner", "uid")
    kind = FIFO

    def __init__(self, owner: object, mode: int, mtime: float, uid: int) -> None:
        self.owner = owner
        self.mode = mode
        self.mtime = self.ctime = mtime
        self.atime: float | None = None
        self.uid = uid
        self.links = 1
        self.ino = 0

    def copy(self, owner: object) -> Fifo:
        twin = type(self)(owner, self.mode, self.mtime, self.uid)
        twin.ctime = self.ctime
        twin.atime = self.atime
        twin.links = self.links
        twin.ino = number_of(self)
        return twin


class Device(Fifo):
    """A character device; `device` is the name by which `devices.open_device` knows it."""

    __slots__ = ("device",)
    kind = DEVICE
    device: str

    def copy(self, owner: object) -> Device:
        twin = Device(owner, self.mode, self.mtime, self.uid)
        twin.device = self.device
        twin.ino = number_of(self)
        return twin


class Hard:
    """One of several names of a node: the node itself is in the filesystem's table, so that copying keeps them one."""

    __slots__ = ("number",)
    kind = HARD

    def __init__(self, number: int) -> None:
        self.number = number


class Graft:
    """A read-only tree that many filesystems share."""

    __slots__ = ("root",)
    kind = GRAFT

    def __init__(self, root: Dir) -> None:
        self.root = root


class Mount:
    """Another filesystem, from here on down."""

    __slots__ = ("filesystem",)
    kind = MOUNT

    def __init__(self, filesystem: FileSystem) -> None:
        self.filesystem = filesystem


class Inner:
    """Something in a mounted filesystem: made while a path is walked, never stored."""

    __slots__ = ("filesystem", "info", "kind", "path")

    def __init__(self, filesystem: FileSystem, path: str, info: Stat) -> None:
        self.filesystem = filesystem
        self.path = path
        self.info = info
        self.kind = LINK if info.is_link else INNER

    @property
    def text(self) -> str:
        """What the link says."""
        return self.filesystem.readlink(self.path)

    def child(self, name: str) -> str:
        """The path of `name` in this directory."""
        return f"/{name}" if self.path == "/" else f"{self.path}/{name}"


if TYPE_CHECKING:
    Plain = File | Link | Fifo | Device
    Entry = File | Dir | Link | Fifo | Device | Hard | Graft | Mount
    Node = File | Dir | Link | Fifo | Device | Inner


def number_of(node: File | Dir | Link | Fifo) -> int:
    """The inode number, given out at the first call."""
    if not node.ino:
        node.ino = next(_numbers)
    return node.ino
