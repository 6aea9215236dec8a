"""The filesystem of a sandbox: a tree of nodes with copy-on-write, so that snapshot, fork and
restore cost nothing.

`resolution` finds, `ownership` owns and keeps the account; the class stands on both. Its methods
that make names (`names`), remove and move them (`removing`), open files (`opening`), and change
whole subtrees (`subtrees`) and mounts (`mounts`) are functions of these modules, all but the first
loaded when first used; lists and versions are here.
"""

from __future__ import annotations

import errno
import time

from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.fs import names
from agentsandbox.kernel.fs.base import FileSystem, Stat, inside, os_error
from agentsandbox.kernel.fs.nodes import (
    DEVICE,
    DIR,
    FIFO,
    FILE,
    GRAFT,
    HARD,
    INNER,
    LINK,
    MOUNT,
    Dir,
    Inner,
    InnerLink,
    SharedTree,
    number_of,
)
from agentsandbox.kernel.fs.nodes import File as FileNode
from agentsandbox.kernel.fs.ownership import Ledger
from agentsandbox.kernel.fs.resolution import DESCRIPTORS, SPECIAL
from agentsandbox.limits import DEFAULT_LIMITS, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random
    from types import ModuleType

    from agentsandbox.kernel.fs.base import File, Mark, Mode
    from agentsandbox.kernel.fs.changes import Change
    from agentsandbox.kernel.fs.handles import MemoryFile
    from agentsandbox.kernel.fs.host_folders import HostFolder
    from agentsandbox.kernel.fs.nodes import Entry, Own, Plain
    from agentsandbox.kernel.fs.trees import FrozenTree

_TYPES = {
    FILE: 0o100000,
    DIR: 0o040000,
    LINK: 0o120000,
    DEVICE: 0o020000,
    FIFO: 0o010000,
    GRAFT: 0o040000,
    MOUNT: 0o040000,
    HARD: 0,
}
_SHOWING_DESCRIPTORS = ("/dev", "/proc")


@lru_cache(maxsize=None)
def _opening() -> ModuleType:
    """Load what opens files; an import statement takes a microsecond at each call."""
    import agentsandbox.kernel.fs.opening

    return agentsandbox.kernel.fs.opening


class Snapshot:
    """A filesystem at one moment: opaque, immutable; it shares everything with its origin."""

    __slots__ = ("free_bytes", "free_nodes", "hard", "mounted", "nodes", "root", "used")

    def __init__(
        self,
        root: Dir,
        hard: dict[int, Plain],
        used: int,
        nodes: int,
        free_bytes: int,
        free_nodes: int,
        mounted: tuple[tuple[str, FileSystem], ...],
    ) -> None:
        self.root = root
        self.hard = hard
        self.used = used
        self.nodes = nodes
        self.free_bytes = free_bytes
        self.free_nodes = free_nodes
        self.mounted = mounted


# TM-HOST-1, TM-OUT-4
class MemoryFileSystem(Ledger):
    """Files in memory, with the semantics and the error numbers of Linux.

    limits   `file_bytes` → EFBIG, `total_bytes` and `files` → ENOSPC.
    clock    seconds since the epoch, for the times of files.
    base     a frozen tree to start from; it doesn't count against the limits.
    uid      the user whose permissions are checked, and who owns what is made. Set to 0 later,
             everything is allowed.
    random   where /dev/urandom takes its bytes from; None is the operating system.

    A script may wait for a named pipe, and a device without end stops it with a limit. The host
    gets an `OSError` from either at once: ENXIO and EFBIG. The sandbox says in `script_thread`
    which of the two is calling.
    """

    __slots__ = ()

    mkdir = names.mkdir
    symlink = names.symlink
    mkfifo = names.mkfifo
    link = names.link

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
        self.open_fifo = None
        self.script_thread = 0
        self.pay = None
        self.token = self._hard_token = object()
        self.descriptors = None
        self._uid = self.maker = uid
        self._dirs = {}
        self._hard = {}
        self.opened = {}
        self.orphans = set()
        self.mounted = ()
        if base is None:
            self._root = Dir(self.token, 0o040755, clock(), uid)
            self.used = self.nodes = 0
        else:
            self._root = base.root
            self.used = base.size
            self.nodes = base.nodes
        self.max_bytes = self.used + limits.total_bytes
        self.max_nodes = self.nodes + limits.files

    # subtrees and mounts

    def walk(self, path: str) -> Iterator[tuple[str, list[str], list[str]]]:
        from agentsandbox.kernel.fs.subtrees import walk

        return walk(self, path)

    def copy_tree(self, source: str, target: str) -> None:
        from agentsandbox.kernel.fs.subtrees import copy_tree

        copy_tree(self, source, target)

    def unlink(self, path: str) -> None:
        from agentsandbox.kernel.fs.removing import unlink

        unlink(self, path)

    def rmdir(self, path: str) -> None:
        from agentsandbox.kernel.fs.removing import rmdir

        rmdir(self, path)

    def rename(self, source: str, target: str) -> None:
        from agentsandbox.kernel.fs.removing import rename

        rename(self, source, target)

    def remove_tree(self, path: str) -> None:
        from agentsandbox.kernel.fs.subtrees import remove_tree

        remove_tree(self, path)

    def mount_tree(self, path: str, tree: FrozenTree, *, read_only: bool = True) -> None:
        """Mount a shared tree at no cost. If writable, changes copy piece by piece.

        Its files do not count against the limits.
        """
        from agentsandbox.kernel.fs.mounts import mount_tree

        mount_tree(self, path, tree, read_only=read_only)

    def mount(self, path: str, filesystem: FileSystem) -> None:
        """Mount another filesystem, which forks and snapshots share.

        `MountError` for a relative path, if a folder of the host would be mounted twice and once
        writable, for a path that cannot be used, and if the host refuses to look at its folder.
        """
        from agentsandbox.kernel.fs.mounts import mount

        mount(self, path, filesystem)

    def host_folders(self) -> list[HostFolder]:
        from agentsandbox.kernel.fs.mounts import host_folders

        return host_folders(self)

    def is_on_host(self, path: str) -> bool:
        from agentsandbox.kernel.fs.mounts import is_on_host

        return is_on_host(self, path)

    @property
    def uid(self) -> int:
        """The user whose permissions are checked; 0 may do everything."""
        return self._uid

    @uid.setter
    def uid(self, uid: int) -> None:
        self.act_as(uid)

    def act_as(self, uid: int) -> None:
        """Check the permissions of this user from now on."""
        if self.maker == 0 or uid not in (0, self.maker) or self._uid not in (0, self.maker):
            self._dirs.clear()
        self._uid = uid

    @property
    def used_bytes(self) -> int:
        """Bytes that count against `total_bytes`."""
        return self.used - (self.max_bytes - self.limits.total_bytes)

    @property
    def used_files(self) -> int:
        """Files, directories and links that count against `files`."""
        return self.nodes - (self.max_nodes - self.limits.files)

    # asking

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        cut = path.rfind("/")
        directory = self._dirs.get(path[:cut])
        if directory is not None:
            entry = directory.entries.get(path[cut + 1 :])
            if entry is not None and (entry.kind == FILE or entry.kind == DIR):
                return self.stat_of(entry)
        if (
            self.descriptors is not None
            and path.startswith(DESCRIPTORS)
            and (stream := self._descriptor(path)) is not None
        ):
            if not follow:
                return Stat(0o120500, 64, self.clock())
            info = stream.stat()
            return info if info.ino else Stat(0o010600, 0, self.clock())
        node = self._find(path, follow=follow)
        return node.info if isinstance(node, (Inner, InnerLink)) else self.stat_of(node)

    def exists(self, path: str, *, follow: bool = True) -> bool:
        if self.descriptors is not None and path.startswith(DESCRIPTORS):
            try:
                self.stat(path, follow=follow)
            except OSError:
                return False
            return True
        cut = path.rfind("/")
        directory = self._dirs.get(path[:cut])
        if directory is not None:
            name = path[cut + 1 :]
            entry = directory.entries.get(name)
            if entry is None:
                if name not in SPECIAL:
                    return False
            elif entry.kind == FILE or entry.kind == DIR:
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
        return node.info.is_dir if node.kind == INNER else node.kind == DIR

    def is_file(self, path: str) -> bool:
        try:
            node = self._find(path)
        except OSError:
            return False
        return node.info.is_file if node.kind == INNER else node.kind == FILE

    def access(self, path: str, bits: int) -> bool:
        if not bits & 2:
            try:
                found = self._find(path)
            except OSError:
                return False
            return (
                found.filesystem.access(found.path, bits)
                if isinstance(found, (Inner, InnerLink))
                else self._may(found, bits)
            )
        try:
            place = self._walk(path)
        except OSError:
            return False
        node = place.node
        if node is None:
            return False
        if isinstance(node, (Inner, InnerLink)):
            return node.filesystem.access(node.path, bits)
        read_only = place.mount is not None or type(place.entry) is SharedTree
        return self._may(node, bits) and not (bits & 2 and read_only)

    def realpath(self, path: str) -> str:
        place = self._walk(path)
        if place.node is None:
            raise os_error(errno.ENOENT, path)
        return place.path

    def readlink(self, path: str) -> str:
        node = self._find(path, follow=False)
        if node.kind != LINK:
            raise os_error(errno.EINVAL, path)
        return node.text

    def _listed(self, path: str) -> Dir | Inner:
        node = self._find(path)
        if type(node) is Dir:
            if not self._may(node, 4):
                raise os_error(errno.EACCES, path)
            return node
        if type(node) is Inner:
            return node
        raise os_error(errno.ENOTDIR, path)

    def listdir(self, path: str) -> list[str]:
        node = self._listed(path)
        if type(node) is Inner:
            return inside(path, node.filesystem.listdir, node.path)
        assert type(node) is Dir
        return node.in_order()[0]

    def scan(self, path: str) -> tuple[list[str], list[int]]:
        node = self._listed(path)
        if type(node) is Inner:
            filesystem = node.filesystem
            if type(filesystem).scan is not FileSystem.scan:
                return inside(path, filesystem.scan, node.path)
            names = inside(path, filesystem.listdir, node.path)
            kinds = []
            for name in names:
                self._pay()
                info = inside(path, filesystem.stat, node.child(name), follow=False)
                kinds.append(info.mode & 0o170000)
            return names, kinds
        assert type(node) is Dir
        types = _TYPES
        names, entries = node.in_order()
        kinds = [types[entry.kind] for entry in entries]
        if self._hard:
            for index, entry in enumerate(entries):
                if entry.kind == HARD:
                    kinds[index] = types[self._hard[entry.number].kind]
        return names, kinds

    def examine(self, path: str, names: Sequence[str]) -> list[Stat | None]:
        node: Dir | Inner | None = self._dirs.get(path)
        if node is None:
            try:
                node = self._directory(path, path)
            except OSError:
                return super().examine(path, names)
        if type(node) is not Dir or path.startswith(_SHOWING_DESCRIPTORS):
            return super().examine(path, names)
        found: list[Stat | None] = []
        for name in names:
            entry = node.entries.get(name)
            if entry is not None and entry.kind == HARD:
                entry = self._hard[entry.number]
            found.append(
                None
                if entry is None or entry.kind == GRAFT or entry.kind == MOUNT
                else self.stat_of(entry)
            )
        return found

    def marks(self, path: str, names: Sequence[str]) -> list[Mark | None]:
        try:
            node = self._find(path)
        except OSError:
            return super().marks(path, names)
        if type(node) is not Dir or not self._may(node, 1) or path.startswith(_SHOWING_DESCRIPTORS):
            return super().marks(path, names)
        token, uid = self.token, self._uid
        return [
            (one.mtime, one.ctime, len(one.data), one.ino or number_of(one), one.mode)
            if type(one) is FileNode
            else ()
            if type(one) is Dir and one.owner is token
            else (one.owner, one.ino or number_of(one), uid)
            if type(one) is Dir
            else None
            for one in map(node.entries.get, names)
        ]

    def keep_versions(self) -> None:
        if self._root.owner is self.token:
            self.token = object()

    def contents(self, path: str) -> tuple[list[str], list[int], list[bytes | None]]:
        node = self._listed(path)
        if type(node) is not Dir or not self._may(node, 1):
            return super().contents(path)
        names, entries = node.in_order()
        if not [mode for mode in {entry.mode for entry in entries} if mode & 0o170404 != 0o100404]:
            # all are files
            content: list[bytes | None]
            content = [entry.data for entry in entries]  # type: ignore[union-attr, misc]
            if set(map(type, content)) <= {bytes}:
                return names, [_TYPES[FILE]] * len(names), content
        kinds = [
            _TYPES[self._hard[entry.number].kind if entry.kind == HARD else entry.kind]
            for entry in entries
        ]
        return names, kinds, [self._at_hand(entry) for entry in entries]

    def _at_hand(self, entry: Entry) -> bytes | None:
        """Return the content of a regular file that may be read, else None."""
        if entry.kind != FILE or not (entry.mode & 0o404 == 0o404 or self._may(entry, 4)):
            return None
        if type(entry.data) is not bytes:
            entry.data = bytes(entry.data)
        return entry.data

    # attributes

    def _change(self, path: str, *, follow: bool = True) -> Own | Inner | InnerLink:
        """Return the node whose attributes to change; one of our own unless it is in a mount."""
        place = self._walk(path, follow=follow)
        node = place.node
        if node is None:
            raise os_error(errno.ENOENT, path)
        if isinstance(node, (Inner, InnerLink)):
            return node
        if place.mount is not None or type(place.entry) is SharedTree:
            raise os_error(errno.EROFS, path)
        if self._uid not in (0, node.uid):
            raise os_error(errno.EPERM, path)
        if not place.name:
            return self.own(place)
        return self.own_node(self.own(place), place.name)

    def chmod(self, path: str, mode: int) -> None:
        node = self._change(path)
        if isinstance(node, (Inner, InnerLink)):
            inside(path, node.filesystem.chmod, node.path, mode)
            return
        node.mode = node.mode & ~0o7777 | mode & 0o7777
        node.ctime = self.clock()
        if node.kind == DIR:
            self._dirs.clear()

    def utime(
        self, path: str, mtime: float, *, atime: float | None = None, follow: bool = True
    ) -> None:
        node = self._change(path, follow=follow)
        if isinstance(node, (Inner, InnerLink)):
            inside(path, node.filesystem.utime, node.path, mtime, atime=atime, follow=follow)
            return
        node.mtime = mtime
        node.atime = atime
        node.ctime = self.clock()

    # content

    def open(self, path: str, mode: Mode = "r", *, permissions: int = 0o644) -> File:
        file: File = _opening().open_file(self, path, mode, permissions)
        return file

    def write_bytes(self, path: str, data: bytes, *, permissions: int = 0o644) -> None:
        _opening().write_file(self, path, data, permissions)

    def at_hand(self, directory: str, paths: Sequence[str]) -> list[bytes | None]:
        found: list[bytes | None] = []
        last = mark = ""
        entries: dict[str, Entry] | None = None
        for path in paths:
            above, slash, name = path.rpartition("/")
            if above != last or slash != mark or entries is None:
                entries = self._entries_of(
                    f"{directory.rstrip('/')}/{path}" if path[0] != "/" else path
                )
                last, mark = above, slash
            node = entries.get(name)
            if node is None or node.mode & 0o170404 != 0o100404:  # not a file that all may read
                found.append(None if node is None else self._at_hand(node))
            else:
                data = node.data  # type: ignore[union-attr]
                found.append(data if type(data) is bytes else self._at_hand(node))
        return found

    def shared_directory(self, path: str) -> object | None:
        directory = self._dirs.get(path)
        return None if directory is None or directory.owner is self.token else directory

    def are_shared(self, directories: Sequence[tuple[str, object]]) -> bool:
        known, token = self._dirs, self.token
        for path, seen in directories:
            directory = known.get(path)
            if directory is None or directory is not seen or directory.owner is token:
                return False
        return True

    def program(self, path: str) -> bytes | None:
        cut = path.rfind("/")
        directory = self._dirs.get(path[:cut])
        node = None if directory is None else directory.entries.get(path[cut + 1 :])
        if (
            node is not None
            and node.kind == FILE
            and node.mode & 0o505 == 0o505
            and type(node.data) is bytes
        ):
            return node.data
        return None

    def _entries_of(self, path: str) -> dict[str, Entry]:
        """Return the entries of a directory of our own, if it may be entered."""
        above = path[: path.rfind("/")]
        if above not in self._dirs:
            try:
                self._remember(path)
            except OSError:
                return {}
        directory = self._dirs.get(above)
        return {} if directory is None else directory.entries

    def read_bytes(self, path: str) -> bytes:
        cut = path.rfind("/")
        directory = self._dirs.get(path[:cut])
        if directory is not None:
            node = directory.entries.get(path[cut + 1 :])
            if (
                node is not None
                and node.kind == FILE
                and (node.mode & 0o404 == 0o404 or self._may(node, 4))
            ):
                data = node.data
                if type(data) is not bytes:
                    data = node.data = bytes(data)
                return data
        return super().read_bytes(path)

    # versions

    def snapshot(self) -> Snapshot:
        """Return the current state; mounted filesystems are not part of it."""
        self.token = object()
        orphaned = sum([len(node.data) for node in self.orphans])
        free_bytes, free_nodes = (
            self.max_bytes - self.limits.total_bytes,
            self.max_nodes - self.limits.files,
        )
        return Snapshot(
            self._root,
            self._hard,
            self.used - orphaned,
            self.nodes,
            free_bytes,
            free_nodes,
            self.mounted,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot; ENOSPC if that is more than the limits allow here."""
        kept = {node for node in self.orphans if node.links == 0}
        used = snapshot.used + sum([len(node.data) for node in kept])
        if (
            used - snapshot.free_bytes > self.limits.total_bytes
            or snapshot.nodes - snapshot.free_nodes > self.limits.files
        ):
            raise os_error(errno.ENOSPC)
        self.token = object()
        self._root = snapshot.root
        self._hard = snapshot.hard
        self.mounted = snapshot.mounted
        self.orphans = kept
        self.used = used
        self.nodes = snapshot.nodes
        self.max_bytes = self.limits.total_bytes + snapshot.free_bytes
        self.max_nodes = self.limits.files + snapshot.free_nodes
        self._dirs.clear()

    def fork(self) -> MemoryFileSystem:
        """Return a filesystem with the same content, copied on write; open files stay here."""
        self.token = object()  # from now on a change copies, here as in the twin
        twin = MemoryFileSystem.__new__(MemoryFileSystem)
        twin.limits, twin.clock, twin.random = self.limits, self.clock, self.random
        twin.open_fifo = twin.descriptors = twin.pay = None
        twin.script_thread = 0
        twin.token, twin._hard_token = object(), self.token
        twin._uid, twin.maker = self._uid, self.maker
        twin._dirs, twin.opened, twin.orphans = {}, {}, set()
        twin._root, twin._hard = self._root, self._hard
        twin.mounted = self.mounted
        twin.used = self.used
        if self.orphans:
            twin.used -= sum([len(node.data) for node in self.orphans])
        twin.nodes = self.nodes
        twin.max_bytes = self.max_bytes
        twin.max_nodes = self.max_nodes
        return twin

    def adopt(self, file: MemoryFile) -> MemoryFile:
        """Open a file of the origin in this new fork: the same node and position."""
        node = file.node
        if node in file.fs.orphans and node not in self.orphans:
            self.orphans.add(node)
            self.used += len(node.data)
        twin = type(file)(
            self,
            node,
            file.path,
            readable=file.readable,
            writable=file.writable,
            append=file.append,
        )
        twin.offset = file.offset
        return twin

    def diff(self, snapshot: Snapshot) -> list[Change]:
        """Return the changes since a snapshot, sorted by path; mounted filesystems are left out."""
        from agentsandbox.kernel.fs.changes import compare

        return compare(snapshot.root, snapshot.hard, self._root, self._hard)
