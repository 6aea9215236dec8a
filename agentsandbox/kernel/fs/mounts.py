"""Other trees in the tree in memory: shared ones, and filesystems of all kinds."""

from __future__ import annotations

import errno
import posixpath

from agentsandbox.errors import MountError
from agentsandbox.kernel.fs.base import os_error
from agentsandbox.kernel.fs.mounted_calls import check_mount
from agentsandbox.kernel.fs.nodes import Dir, Graft, Mount
from agentsandbox.kernel.fs.resolution import is_ordinary
from agentsandbox.kernel.fs.subtrees import Subtrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import FileSystem, HostFolder
    from agentsandbox.kernel.fs.trees import FrozenTree

__all__ = ["Grafts"]


class Grafts(Subtrees):
    """The part of `MemoryFileSystem` that mounts."""

    __slots__ = ("mounted",)

    mounted: tuple[tuple[str, FileSystem], ...]
    """Every mounted filesystem and the path it was mounted at."""

    def graft(self, path: str, tree: FrozenTree, *, read_only: bool = True) -> None:
        """Mount a shared tree, at no cost; what is in it doesn't count. Writable, it is copied piece by piece on change."""
        self._mount(path, Graft(tree.root) if read_only else tree.root)
        if not read_only:
            self.nodes += tree.nodes
            self.max_nodes += tree.nodes
            self.used += tree.size
            self.max_bytes += tree.size

    def mount(self, path: str, filesystem: FileSystem) -> None:
        """Mount another filesystem; forks and snapshots share it.

        `MountError` for a relative path, and where a folder of the host would be mounted twice and
        one mount is writable.
        """
        check_mount(path, filesystem, self.mounted)
        self._mount(path, Mount(filesystem))
        self.mounted = (*self.mounted, (path, filesystem))

    def host_folders(self) -> list[HostFolder]:
        return [folder for _, filesystem in self.mounted for folder in filesystem.host_folders()]

    def _mount(self, path: str, entry: Dir | Graft | Mount) -> None:
        """Enter a tree at a path that is missing or an empty directory; what is missing is made, and doesn't count."""
        if not path.startswith("/"):
            raise MountError(f"a mount point is an absolute path, not {path!r}")
        cut = path.rfind("/")
        name = path[cut + 1 :]
        directory = self._dirs.get(path[:cut])
        if directory is None or directory.owner is not self.token or name in directory.entries or not is_ordinary(name):
            self._mount_slowly(path, entry)
            return
        directory.entries[name] = entry
        directory.links += 1
        self.nodes += 1
        self.max_nodes += 1

    def _mount_slowly(self, path: str, entry: Dir | Graft | Mount) -> None:
        uid, self._uid = self._uid, 0
        before, most = self.nodes, self.max_nodes
        try:
            self.max_nodes += path.count("/") + 1
            self._make_parents(path, 0 if type(entry) is Graft else self.maker)
            place = self._walk(path)
            node = place.node
            if not place.name or place.entry is not node or type(node) is not Dir:
                raise os_error(errno.EBUSY, path)
            if place.mount is not None:
                raise os_error(errno.EROFS, path)
            if node.entries:
                raise os_error(errno.ENOTEMPTY, path)
            self.own(place).entries[place.name] = entry
            self._remember(path)
        finally:
            self.max_nodes = most + self.nodes - before
            self._uid = uid

    def _make_parents(self, path: str, uid: int) -> None:
        """Make a directory and its missing parents for a user: nobody plants files beside what is mounted read-only."""
        missing: list[str] = []
        here = path.rstrip("/") or "/"
        while not self.exists(here):
            missing.append(here)
            here = posixpath.dirname(here)
        for each in reversed(missing):
            self.mkdir(each)
            node = self._find(each)
            if type(node) is Dir:
                node.uid = uid
