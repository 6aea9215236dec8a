"""The filesystem of a sandbox: a tree of nodes with copy-on-write, so that snapshot, fork and restore cost nothing."""

from __future__ import annotations

import errno
import time

from agentsandbox.fs.base import NAME_MAX, File, FileSystem, Stat, os_error
from agentsandbox.fs.handles import MemoryFile
from agentsandbox.fs.nodes import DEVICE, DIR, FIFO, FILE, GRAFT, HARD, LINK, MOUNT, Dir, Fifo, Graft, Hard, Inner, Link, Mount, number_of
from agentsandbox.fs.nodes import File as FileNode
from agentsandbox.fs.resolution import Place, Tree
from agentsandbox.limits import DEFAULT_LIMITS, Limits
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from agentsandbox.fs.base import Mode
    from agentsandbox.fs.changes import Change
    from agentsandbox.fs.nodes import Entry, Node, Plain
    from agentsandbox.fs.trees import FrozenTree
    from agentsandbox.streams import Stream

__all__ = ["MemoryFileSystem", "Snapshot"]

_DIR_SIZE = 4096
_TYPES = {FILE: 0o100000, DIR: 0o040000, LINK: 0o120000, DEVICE: 0o020000, FIFO: 0o010000, GRAFT: 0o040000, MOUNT: 0o040000, HARD: 0}
_DEVICE_NUMBERS = {"null": 0x103, "zero": 0x105, "full": 0x107, "random": 0x108, "urandom": 0x109, "tty": 0x500}


class Snapshot:
    """A filesystem as it was; opaque, immutable, shares everything with its origin."""

    __slots__ = ("free_bytes", "free_nodes", "hard", "nodes", "root", "used")

    def __init__(self, root: Dir, hard: dict[int, Plain], used: int, nodes: int, free_bytes: int, free_nodes: int) -> None:
        self.root = root
        self.hard = hard
        self.used = used
        self.nodes = nodes
        self.free_bytes = free_bytes
        self.free_nodes = free_nodes


class MemoryFileSystem(Tree):
    """Files in memory, with the semantics and the error numbers of Linux.

    limits   `file_bytes` → EFBIG, `total_bytes` and `files` → ENOSPC.
    clock    seconds since the epoch, for the times of files.
    base     a frozen tree to start from; it doesn't count against the limits.
    uid      the user whose permissions are checked: 1000, who owns what is made; 0 may do everything.
    """

    __slots__ = ("_file_bytes", "_free_bytes", "_free_nodes", "_hard_token", "_moved", "_nodes", "_orphans", "_token", "_used")
    __slots__ += ("clock", "limits", "open_fifo", "random")

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.time,
        base: FrozenTree | None = None,
        uid: int = 1000,
        random: Random | None = None,
    ) -> None:
        self.limits = limits
        self.clock = clock
        self.random = random
        """Where /dev/urandom takes its bytes from; None is the operating system."""
        self.open_fifo: Callable[[object, str, Mode], Stream] | None = None
        """Called to open a named pipe, with an object that is the same for all names of it."""
        self._file_bytes = limits.file_bytes
        self._token = self._hard_token = object()
        self._uid = uid
        self._dirs = {}
        self._hard = {}
        self._moved: dict[int, tuple[FileNode, FileNode]] = {}
        self._orphans: dict[int, FileNode] = {}
        if base is None:
            self._root = Dir(self._token, 0o040755, clock(), uid)
            self._used = self._nodes = self._free_bytes = self._free_nodes = 0
        else:
            self._root = base.root
            self._used = self._free_bytes = base.size
            self._nodes = self._free_nodes = base.nodes

    @property
    def uid(self) -> int:
        """The user whose permissions are checked."""
        return self._uid

    @uid.setter
    def uid(self, uid: int) -> None:
        self._uid = uid
        self._dirs.clear()

    @property
    def used_bytes(self) -> int:
        """Bytes that count against `total_bytes`."""
        return self._used - self._free_bytes

    @property
    def used_files(self) -> int:
        """Files, directories and links that count against `files`."""
        return self._nodes - self._free_nodes

    # ownership

    def _own(self, place: Place) -> Dir:
        """The place's directory, ready to be changed: it and all above it belong to us."""
        token = self._token
        stack = place.stack
        here = stack[-1]
        if here.owner is token:  # type: ignore[union-attr]
            return here  # type: ignore[return-value]
        for index, node in enumerate(stack):
            assert isinstance(node, Dir)
            if node.owner is token:
                continue
            mine = node.copy(token)
            if index:
                stack[index - 1].entries[place.names[index - 1]] = mine  # type: ignore[union-attr]
            else:
                self._root = mine
            stack[index] = mine
        self._dirs.clear()
        return stack[-1]  # type: ignore[return-value]

    def _own_node(self, directory: Dir, name: str) -> Plain | Dir:
        """What a name in our own directory refers to, ready to be changed."""
        entry = directory.entries[name]
        token = self._token
        if entry.kind == HARD:
            self._own_hard()
            number: int = entry.number  # type: ignore[union-attr]
            node = self._hard[number]
            if node.owner is not token:
                node = self._hard[number] = self._clone(node)  # type: ignore[assignment]
            return node
        if entry.owner is not token:  # type: ignore[union-attr]
            entry = directory.entries[name] = self._clone(entry)  # type: ignore[arg-type]
        return entry  # type: ignore[return-value]

    def _own_hard(self) -> None:
        if self._hard_token is not self._token:
            self._hard = self._hard.copy()
            self._hard_token = self._token

    def _clone(self, node: Plain | Dir) -> Plain | Dir:
        twin = node.copy(self._token)
        if type(node) is FileNode and node.handles:
            self._moved[id(node)] = (node, twin)  # type: ignore[assignment]
        elif node.kind == DIR:
            self._dirs.clear()
        return twin

    def _follow(self, file: MemoryFile) -> None:
        """Let an open file see the copy that was made of its node."""
        moved = self._moved
        while (pair := moved.get(id(file.node))) is not None:
            old, new = pair
            file.node = new
            new.handles += 1
            old.handles -= 1
            if not old.handles:
                del moved[id(old)]

    def _own_open(self, file: MemoryFile) -> FileNode:
        """The node of an open file, ready to be changed, also after a snapshot."""
        self._follow(file)
        node = file.node
        if node.owner is self._token:
            return node
        self._adopt(file, node)
        self._follow(file)
        return file.node

    def _adopt(self, file: MemoryFile, node: FileNode) -> None:
        """Copy a shared node for writing: in its directory if its name still is there, else apart."""
        uid, self._uid = self._uid, 0
        try:
            place = self._walk(file.path)
        except OSError:
            place = None
        finally:
            self._uid = uid
        if place is not None and place.node is node and place.name:
            self._own_node(self._own(place), place.name)
            return
        size = len(node.data)
        if self._used + size > self.limits.total_bytes + self._free_bytes:
            raise os_error(errno.ENOSPC, file.path)
        twin = node.copy(self._token)
        twin.links = 0
        self._used += size
        self._orphans[id(twin)] = twin
        self._moved[id(node)] = (node, twin)

    def _closed(self, node: FileNode) -> None:
        """An open file is closed: free a node that has no name any more."""
        node.handles -= 1
        if node.handles:
            return
        if self._moved:
            self._moved.pop(id(node), None)
        if self._orphans and self._orphans.pop(id(node), None) is not None:
            self._used -= len(node.data)

    # the ledger

    def _room(self, size: int) -> int:
        """How large a file of `size` bytes may become."""
        return min(self._file_bytes, self.limits.total_bytes + self._free_bytes - self._used + size)

    def _charge_node(self, path: str, size: int = 0) -> None:
        """Count one more node."""
        if self._nodes >= self.limits.files + self._free_nodes or self._used + size > self.limits.total_bytes + self._free_bytes:
            raise os_error(errno.ENOSPC, path)
        self._nodes += 1
        self._used += size

    def _drop(self, entry: Entry) -> None:
        """Count a name that left the tree."""
        self._nodes -= 1
        node = entry
        if entry.kind == HARD:
            number: int = entry.number  # type: ignore[union-attr]
            self._own_hard()
            node = self._hard[number]
            if node.links > 1:
                if node.owner is not self._token:
                    node = self._hard[number] = self._clone(node)  # type: ignore[assignment]
                node.links -= 1  # type: ignore[union-attr]
                node.ctime = self.clock()  # type: ignore[union-attr]
                return
            del self._hard[number]
        if type(node) is FileNode:
            if node.handles and node.owner is self._token:
                node.links = 0
                self._orphans[id(node)] = node
            else:
                self._used -= len(node.data)
        elif type(node) is Link:
            self._used -= len(encode(node.text))

    # asking

    def _stat_of(self, node: Node) -> Stat:
        kind = node.kind
        ino = node.ino or number_of(node)  # type: ignore[union-attr, arg-type]
        if kind == FILE:
            size = len(node.data)  # type: ignore[union-attr]
            links = node.links  # type: ignore[union-attr]
        elif kind == DIR:
            size = _DIR_SIZE
            links = 2 + node.subdirs  # type: ignore[union-attr]
        else:
            size = len(encode(node.text)) if kind == LINK else 0  # type: ignore[union-attr]
            links = node.links  # type: ignore[union-attr]
        uid = node.uid  # type: ignore[union-attr]
        info = Stat(node.mode, size, node.mtime, ino, links, uid, uid, node.ctime, node.atime)  # type: ignore[union-attr]
        if kind == DEVICE:
            info.rdev = _DEVICE_NUMBERS.get(node.device, 0)  # type: ignore[union-attr]
        return info

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        node = self._find(path, follow=follow)
        return node.info if type(node) is Inner else self._stat_of(node)

    def exists(self, path: str, *, follow: bool = True) -> bool:
        cut = path.rfind("/")
        directory = self._dirs.get(path[:cut])
        if directory is not None:
            entry = directory.entries.get(path[cut + 1 :])
            if entry is not None and (entry.kind != LINK or not follow):
                return True
        try:
            self._find(path, follow=follow)
        except OSError:
            return False
        return True

    def is_dir(self, path: str) -> bool:
        try:
            node = self._find(path)
        except OSError:
            return False
        return node.info.is_dir if type(node) is Inner else node.kind == DIR

    def is_file(self, path: str) -> bool:
        try:
            node = self._find(path)
        except OSError:
            return False
        return node.info.is_file if type(node) is Inner else node.kind == FILE

    def access(self, path: str, bits: int) -> bool:
        """Whether the user may read (4), write (2) or execute (1) it; false as well when there is nothing."""
        try:
            place = self._walk(path)
        except OSError:
            return False
        node = place.node
        if node is None:
            return False
        if type(node) is Inner:
            return node.filesystem.access(node.path, bits)
        mount = place.entry if place.entry is not None and place.entry.kind == GRAFT else place.mount
        if bits & 2 and mount is not None and node.kind != DEVICE:
            return False
        return self._may(node, bits)  # type: ignore[arg-type]

    def realpath(self, path: str) -> str:
        place = self._walk(path)
        if place.node is None:
            raise os_error(errno.ENOENT, path)
        return place.path

    def readlink(self, path: str) -> str:
        node = self._find(path, follow=False)
        if node.kind != LINK:
            raise os_error(errno.EINVAL, path)
        return node.text  # type: ignore[union-attr]

    def listdir(self, path: str) -> list[str]:
        node = self._find(path)
        if type(node) is Dir:
            if not self._may(node, 4):
                raise os_error(errno.EACCES, path)
            return sorted(node.entries)
        if type(node) is Inner:
            return _inside(path, node.filesystem.listdir, node.path)  # type: ignore[return-value]
        raise os_error(errno.ENOTDIR, path)

    def scan(self, path: str) -> list[tuple[str, int]]:
        node = self._find(path)
        if type(node) is not Dir:
            return super().scan(path)
        if not self._may(node, 4):
            raise os_error(errno.EACCES, path)
        entries, types_by_kind = node.entries, _TYPES
        types = [(name, types_by_kind[entries[name].kind]) for name in sorted(entries)]
        if self._hard:
            hard = self._hard
            for index, (name, kind) in enumerate(types):
                if not kind:
                    types[index] = (name, hard[entries[name].number].mode & 0o170000)  # type: ignore[union-attr]
        return types

    # changing names

    def _new(self, path: str, *, follow: bool = False, directory: bool = False) -> Place:
        """The place for something new: EEXIST if taken. Its directory is our own, unless it is in a mount."""
        if "\0" in path:
            raise os_error(errno.EINVAL, path)
        place = self._walk(path, follow=follow)
        if place.node is not None:
            raise os_error(errno.EEXIST, path)
        if place.must_be_dir and not directory:
            raise os_error(errno.ENOENT, path)
        if type(place.stack[-1]) is Dir:
            self._check_writable(place, path)
            if self._nodes >= self.limits.files + self._free_nodes:
                raise os_error(errno.ENOSPC, path)
            self._own(place)
        return place

    def _check_writable(self, place: Place, path: str) -> None:
        """Whether names may be made and removed in the place's directory."""
        if place.mount is not None:
            raise os_error(errno.EROFS, path)
        if not self._may(place.stack[-1], 3):  # type: ignore[arg-type]
            raise os_error(errno.EACCES, path)

    def _check_removable(self, place: Place, path: str) -> None:
        self._check_writable(place, path)
        directory, node = place.stack[-1], place.node
        if directory.mode & 0o1000 and self._uid not in (0, directory.uid, node.uid):  # type: ignore[union-attr]
            raise os_error(errno.EPERM, path)

    def _put(self, place: Place, entry: Entry, path: str, size: int = 0) -> None:
        """Enter something new into its directory."""
        self._charge_node(path, size)
        directory: Dir = place.stack[-1]  # type: ignore[assignment]
        directory.entries[place.name] = entry
        directory.mtime = directory.ctime = self.clock()
        if entry.kind == DIR:
            directory.subdirs += 1

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        place = self._new(path, directory=True)
        if type(inner := place.stack[-1]) is Inner:
            _inside(path, inner.filesystem.mkdir, inner.child(place.name), mode)
            return
        self._put(place, Dir(self._token, 0o040000 | mode & 0o7777, self.clock(), self._uid), path)

    def symlink(self, text: str, path: str) -> None:
        if not text:
            raise os_error(errno.ENOENT, path)
        place = self._new(path)
        if type(inner := place.stack[-1]) is Inner:
            _inside(path, inner.filesystem.symlink, text, inner.child(place.name))
            return
        size = len(encode(text))
        if size >= 4096:
            raise os_error(errno.ENAMETOOLONG, path)
        if "\0" in text:
            raise os_error(errno.EINVAL, path)
        self._put(place, Link(self._token, text, self.clock(), self._uid), path, size)

    def mkfifo(self, path: str, mode: int = 0o644) -> None:
        place = self._new(path)
        if type(inner := place.stack[-1]) is Inner:
            _inside(path, inner.filesystem.mkfifo, inner.child(place.name), mode)
            return
        self._put(place, Fifo(self._token, 0o010000 | mode & 0o7777, self.clock(), self._uid), path)

    def link(self, source: str, path: str) -> None:
        origin = self._walk(source, follow=False)
        if origin.node is None:
            raise os_error(errno.ENOENT, source)
        place = self._walk(path, follow=False)
        if place.node is not None:
            raise os_error(errno.EEXIST, path)
        node, here = origin.node, place.stack[-1]
        if type(node) is Inner or type(here) is Inner:
            if origin.mount is not place.mount or type(node) is not Inner or type(here) is not Inner:
                raise os_error(errno.EXDEV, path)
            _inside(path, here.filesystem.link, node.path, here.child(place.name))
            return
        if origin.mount is not place.mount:
            raise os_error(errno.EXDEV, path)
        if node.kind == DIR:
            raise os_error(errno.EPERM, source)
        self._new(path)
        origin = self._walk(source, follow=False)
        if origin.mount is not None:
            raise os_error(errno.EROFS, path)
        directory = self._own(origin)
        node = self._own_node(directory, origin.name)
        entry = directory.entries[origin.name]
        if entry.kind != HARD:
            self._own_hard()
            entry = directory.entries[origin.name] = Hard(number_of(node))  # type: ignore[arg-type]
            self._hard[entry.number] = node  # type: ignore[assignment]
        self._put(self._new(path), entry, path)
        node.links += 1  # type: ignore[union-attr]
        node.ctime = self.clock()  # type: ignore[union-attr]

    def unlink(self, path: str) -> None:
        place = self._walk(path, follow=False)
        node = place.node
        if node is None:
            raise os_error(errno.ENOENT, path)
        if type(node) is Inner:
            if place.entry is not None:
                raise os_error(errno.EISDIR, path)
            _inside(path, node.filesystem.unlink, node.path)
            return
        if node.kind == DIR:
            raise os_error(errno.EISDIR, path)
        self._check_removable(place, path)
        directory = self._own(place)
        if type(node) is FileNode and node.handles and node.owner is not self._token:
            self._own_node(directory, place.name)
        entry = directory.entries.pop(place.name)
        directory.mtime = directory.ctime = self.clock()
        self._drop(entry)
        if entry.kind == LINK:
            self._dirs.clear()

    def rmdir(self, path: str) -> None:
        place = self._walk(path, follow=False)
        node = place.node
        if node is None:
            raise os_error(errno.ENOENT, path)
        self._check_last(place, path)
        if type(node) is Inner:
            if place.entry is not None:
                raise os_error(errno.EBUSY, path)
            _inside(path, node.filesystem.rmdir, node.path)
            return
        if type(node) is not Dir:
            raise os_error(errno.ENOTDIR, path)
        if place.entry is not node:
            raise os_error(errno.EBUSY, path)
        self._check_removable(place, path)
        if node.entries:
            raise os_error(errno.ENOTEMPTY, path)
        directory = self._own(place)
        self._drop(directory.entries.pop(place.name))
        directory.subdirs -= 1
        directory.mtime = directory.ctime = self.clock()
        self._dirs.clear()

    def _check_last(self, place: Place, path: str) -> None:
        """Refuse to remove "." (EINVAL), ".." (ENOTEMPTY) and the root (EBUSY)."""
        if place.name:
            return
        last = path.rstrip("/").rpartition("/")[2]
        raise os_error({".": errno.EINVAL, "..": errno.ENOTEMPTY}.get(last, errno.EBUSY), path)

    def rename(self, source: str, target: str) -> None:
        if "\0" in target:
            raise os_error(errno.EINVAL, target)
        origin = self._walk(source, follow=False)
        place = self._walk(target, follow=False)
        if not origin.name or not place.name:
            raise os_error(errno.EBUSY, source)
        if origin.node is None:
            raise os_error(errno.ENOENT, source)
        if origin.mount is not place.mount:
            raise os_error(errno.EXDEV, source)
        here, there = origin.stack[-1], place.stack[-1]
        if type(here) is Inner and type(there) is Inner:
            _inside(source, here.filesystem.rename, here.child(origin.name), there.child(place.name))
            return
        for each in (origin, place):
            if each.entry is not None and each.entry.kind in (GRAFT, MOUNT):
                raise os_error(errno.EBUSY, source)
        self._check_rename(origin, place, source, target)
        if origin.node is place.node:
            return
        self._own(origin)
        place = self._walk(target, follow=False)
        self._own(place)
        self._move(self._walk(source, follow=False), place)

    def _check_rename(self, origin: Place, place: Place, source: str, target: str) -> None:
        """All that may speak against a rename inside this filesystem, in the kernel's order."""
        node: Node = origin.node  # type: ignore[assignment]
        old = place.node
        if origin.mount is not None:
            raise os_error(errno.EROFS, source)
        is_dir = node.kind == DIR
        if place.must_be_dir and not is_dir:
            raise os_error(errno.ENOTDIR, source)
        if is_dir and any(each is node for each in place.stack):
            raise os_error(errno.EINVAL, source)
        if old is not None and any(each is old for each in origin.stack):
            raise os_error(errno.ENOTEMPTY, source)
        self._check_removable(origin, source)
        if old is None:
            self._check_writable(place, target)
            return
        self._check_removable(place, target)
        if is_dir and old.kind != DIR:
            raise os_error(errno.ENOTDIR, source)
        if not is_dir and old.kind == DIR:
            raise os_error(errno.EISDIR, source)
        if type(old) is Dir and old is not node and old.entries:
            raise os_error(errno.ENOTEMPTY, source)

    def _move(self, origin: Place, place: Place) -> None:
        """Carry a rename out; both directories are our own."""
        here: Dir = origin.stack[-1]  # type: ignore[assignment]
        there: Dir = place.stack[-1]  # type: ignore[assignment]
        node = origin.node
        if type(node) is FileNode and node.handles:
            self._own_node(here, origin.name)
        entry = here.entries.pop(origin.name)
        old = there.entries.pop(place.name, None)
        there.entries[place.name] = entry
        if old is not None:
            there.subdirs -= old.kind == DIR
            self._drop(old)
        if entry.kind == DIR:
            here.subdirs -= 1
            there.subdirs += 1
        here.mtime = here.ctime = there.mtime = there.ctime = self.clock()
        if entry.kind in (DIR, LINK) or (old is not None and old.kind in (DIR, LINK)):
            self._dirs.clear()

    # changing nodes

    def _change(self, path: str, *, follow: bool = True) -> tuple[Place, Plain | Dir | None]:
        """A node of our own to change the attributes of; None when it is in a mount."""
        place = self._walk(path, follow=follow)
        node = place.node
        if node is None:
            raise os_error(errno.ENOENT, path)
        if type(node) is Inner:
            return place, None
        if place.mount is not None or (place.entry is not None and place.entry.kind == GRAFT):
            raise os_error(errno.EROFS, path)
        if self._uid not in (0, node.uid):  # type: ignore[union-attr]
            raise os_error(errno.EPERM, path)
        if place.name:
            return place, self._own_node(self._own(place), place.name)
        self._own(place)
        return place, place.stack[-1]  # type: ignore[return-value]

    def chmod(self, path: str, mode: int) -> None:
        place, node = self._change(path)
        if node is None:
            inner: Inner = place.node  # type: ignore[assignment]
            _inside(path, inner.filesystem.chmod, inner.path, mode)
            return
        node.mode = node.mode & ~0o7777 | mode & 0o7777
        node.ctime = self.clock()
        self._dirs.clear()

    def utime(self, path: str, mtime: float, *, atime: float | None = None, follow: bool = True) -> None:
        place, node = self._change(path, follow=follow)
        if node is None:
            inner: Inner = place.node  # type: ignore[assignment]
            try:
                inner.filesystem.utime(inner.path, mtime, atime=atime, follow=follow)
            except OSError as error:
                raise os_error(error.errno or errno.EIO, path) from None
            return
        node.mtime = mtime
        node.atime = atime
        node.ctime = self.clock()

    # content

    def open(self, path: str, mode: Mode = "r", *, permissions: int = 0o644) -> File:
        if mode == "r":
            cut = path.rfind("/")
            directory = self._dirs.get(path[:cut])
            if directory is not None:
                node = directory.entries.get(path[cut + 1 :])
                if node is not None and node.kind == FILE and self._may(node, 4):  # type: ignore[arg-type]
                    return MemoryFile(self, node, path, True, False, False)  # type: ignore[arg-type]
        return self._open(path, mode, permissions)

    def _open(self, path: str, mode: Mode, permissions: int) -> File:
        creates = mode in ("w", "a", "x")
        if creates and path.endswith("/"):
            raise os_error(errno.EISDIR, path)
        place = self._walk(path, follow=mode != "x")
        node = place.node
        if mode == "x" and node is not None:
            raise os_error(errno.EEXIST, path)
        if type(place.stack[-1]) is Inner or type(node) is Inner:
            return self._open_inner(path, place, mode, permissions)
        if node is None:
            if not creates:
                raise os_error(errno.ENOENT, path)
            return self._create(path, place, mode, permissions)
        if node.kind == DIR:
            raise os_error(errno.EISDIR, path)
        wanted = {"r": 4, "r+": 6}.get(mode, 2)
        if wanted & 2 and place.mount is not None and node.kind == FILE:
            raise os_error(errno.EROFS, path)
        if not self._may(node, wanted):  # type: ignore[arg-type]
            raise os_error(errno.EACCES, path)
        if node.kind != FILE:
            return self._open_special(node, path, mode)
        if wanted & 2:
            node = self._own_node(self._own(place), place.name)
        assert isinstance(node, FileNode)
        if mode == "w":
            self._used -= len(node.data)
            node.data = b""
            node.mtime = node.ctime = self.clock()
        return MemoryFile(self, node, place.path, wanted & 4 != 0, wanted & 2 != 0, mode == "a")

    def _open_inner(self, path: str, place: Place, mode: Mode, permissions: int) -> File:
        node, here = place.node, place.stack[-1]
        if node is None:
            where = (here.filesystem, here.child(place.name))  # type: ignore[union-attr]
        else:
            where = (node.filesystem, node.path)  # type: ignore[union-attr]
        try:
            return where[0].open(where[1], mode, permissions=permissions)
        except OSError as error:
            raise os_error(error.errno or errno.EIO, path) from None

    def _open_special(self, node: Node, path: str, mode: Mode) -> File:
        if node.kind == FIFO:
            if self.open_fifo is None:
                raise os_error(errno.EPERM, path)
            return self.open_fifo(number_of(node), path, mode)  # type: ignore[arg-type, return-value]
        from agentsandbox.fs.devices import open_device

        return open_device(node.device, path, self._stat_of(node), self.random)  # type: ignore[union-attr]

    def _create(self, path: str, place: Place, mode: Mode, permissions: int) -> File:
        if place.must_be_dir:
            raise os_error(errno.EISDIR, path)
        if "\0" in path:
            raise os_error(errno.EINVAL, path)
        self._check_writable(place, path)
        self._own(place)
        node = FileNode(self._token, 0o100000 | permissions & 0o7777, self.clock(), self._uid)
        self._put(place, node, path)
        return MemoryFile(self, node, place.path, False, True, mode == "a")

    def read_bytes(self, path: str) -> bytes:
        cut = path.rfind("/")
        directory = self._dirs.get(path[:cut])
        if directory is not None:
            node = directory.entries.get(path[cut + 1 :])
            if node is not None and node.kind == FILE and (node.mode & 0o404 == 0o404 or self._may(node, 4)):  # type: ignore
                data = node.data  # type: ignore[union-attr]
                if type(data) is not bytes:
                    data = node.data = bytes(data)  # type: ignore[union-attr]
                return data
        return super().read_bytes(path)

    def write_bytes(self, path: str, data: bytes, *, permissions: int = 0o644) -> None:
        cut = path.rfind("/")
        directory = self._dirs.get(path[:cut])
        token = self._token
        if directory is not None and directory.owner is token and type(data) is bytes:
            name = path[cut + 1 :]
            entry = directory.entries.get(name)
            size = len(data)
            if entry is None:
                if (
                    directory.mode & 0o200
                    and directory.uid == self._uid
                    and 0 < len(name) < 64
                    and name not in (".", "..")
                    and "\0" not in name
                    and size <= self._file_bytes
                    and self._nodes < self.limits.files + self._free_nodes
                    and self._used + size <= self.limits.total_bytes + self._free_bytes
                ):
                    now = self.clock()
                    directory.entries[name] = FileNode(token, 0o100000 | permissions & 0o7777, now, self._uid, data)
                    directory.mtime = directory.ctime = now
                    self._nodes += 1
                    self._used += size
                    return
            elif entry.kind == FILE and entry.owner is token and entry.mode & 0o200 and entry.uid == self._uid:  # type: ignore
                old = len(entry.data)  # type: ignore[union-attr]
                if size <= self._room(old):
                    entry.data = data  # type: ignore[union-attr]
                    entry.mtime = entry.ctime = self.clock()  # type: ignore[union-attr]
                    self._used += size - old
                    return
        super().write_bytes(path, data, permissions=permissions)

    # other trees

    def graft(self, path: str, tree: FrozenTree, *, read_only: bool = True) -> None:
        """Mount a shared tree, at no cost; what is in it doesn't count. Writable, it is copied piece by piece on change."""
        self._mount(path, Graft(tree.root) if read_only else tree.root)
        if not read_only:
            self._nodes += tree.nodes
            self._free_nodes += tree.nodes
            self._used += tree.size
            self._free_bytes += tree.size

    def mount(self, path: str, filesystem: FileSystem) -> None:
        """Mount another filesystem; forks and snapshots share it."""
        self._mount(path, Mount(filesystem))

    def _mount(self, path: str, entry: Entry) -> None:
        """Enter a tree at a path that is missing or an empty directory; its parents are made, as the system's."""
        uid, self.uid = self._uid, 0
        try:
            self.makedirs(path)
            place = self._walk(path)
            node = place.node
            if not place.name or place.entry is not node or type(node) is not Dir:
                raise os_error(errno.EBUSY, path)
            if node.entries:
                raise os_error(errno.ENOTEMPTY, path)
            if place.mount is not None:
                raise os_error(errno.EROFS, path)
            self._own(place).entries[place.name] = entry
        finally:
            self.uid = uid

    # versions

    def snapshot(self) -> Snapshot:
        """The filesystem as it is now; mounted filesystems are not part of it."""
        self._token = object()
        orphaned = sum(len(node.data) for node in self._orphans.values())
        return Snapshot(self._root, self._hard, self._used - orphaned, self._nodes, self._free_bytes, self._free_nodes)

    def restore(self, snapshot: Snapshot) -> None:
        """Back to what it was; ENOSPC if that is more than the limits allow here."""
        limits = self.limits
        orphaned = sum(len(node.data) for node in self._orphans.values())
        used = snapshot.used + orphaned
        if used - snapshot.free_bytes > limits.total_bytes or snapshot.nodes - snapshot.free_nodes > limits.files:
            raise os_error(errno.ENOSPC)
        self._token = object()
        self._root = snapshot.root
        self._hard = snapshot.hard
        self._used = used
        self._nodes = snapshot.nodes
        self._free_bytes = snapshot.free_bytes
        self._free_nodes = snapshot.free_nodes
        self._dirs.clear()

    def fork(self) -> MemoryFileSystem:
        """Another filesystem with the same content; each copies what it changes."""
        twin = MemoryFileSystem(self.limits, self.clock, uid=self._uid, random=self.random)
        twin.restore(self.snapshot())
        twin.open_fifo = self.open_fifo
        return twin

    def diff(self, snapshot: Snapshot) -> list[Change]:
        """What changed since: sorted by path; mounted filesystems are left out."""
        from agentsandbox.fs.changes import compare

        return compare(snapshot.root, snapshot.hard, self._root, self._hard)


def _inside(path: str, call: Callable[..., object], *arguments: object) -> object:
    """Call a mounted filesystem's method; its errors name the path that the caller knows."""
    try:
        return call(*arguments)
    except OSError as error:
        raise os_error(error.errno or errno.EIO, path) from None
