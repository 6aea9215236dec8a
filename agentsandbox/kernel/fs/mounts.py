"""Mounting other trees in the tree in memory: shared trees and filesystems of all kinds."""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.errors import MountError
from agentsandbox.kernel.fs.base import inside, os_error
from agentsandbox.kernel.fs.names import mkdir
from agentsandbox.kernel.fs.nodes import Dir, Mount, SharedTree
from agentsandbox.kernel.fs.resolution import is_ordinary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.kernel.fs.host_folders import HostFolder
    from agentsandbox.kernel.fs.ownership import Ledger
    from agentsandbox.kernel.fs.trees import FrozenTree


def mount_tree(ledger: Ledger, path: str, tree: FrozenTree, *, read_only: bool = True) -> None:
    _mount(ledger, path, SharedTree(tree.root) if read_only else tree.root)
    if not read_only:
        ledger.nodes += tree.nodes
        ledger.max_nodes += tree.nodes
        ledger.used += tree.size
        ledger.max_bytes += tree.size


def mount(tree: Ledger, path: str, filesystem: FileSystem) -> None:
    try:
        check_mount(path, filesystem, tree.mounted)
        _mount(tree, path, Mount(filesystem))
    except OSError as error:
        raise mount_error(path, error) from None
    tree.mounted = (*tree.mounted, (path, filesystem))


def check_mount(
    path: str, filesystem: FileSystem, mounted: Iterable[tuple[str, FileSystem]]
) -> None:
    """Raise `MountError` if a folder of the host would be mounted twice and once writable.

    Through the writable mount a script could change directories and links under the other one.
    """
    folders = inside(path, filesystem.host_folders)
    if not folders:
        return
    for other_path, other in mounted:
        try:
            others = other.host_folders()
        except OSError as error:
            if error.errno != errno.EBADF:
                raise os_error(error.errno or errno.EIO, other_path) from None
            continue  # the host has closed it: nothing can be reached there any more
        if any(folder.endangers(known) for folder in folders for known in others):
            raise MountError(
                f"{path!r} and {other_path!r} could show the same folder of the host, or one "
                "within the other, and one of them is writable: mount the outer folder only, or "
                "make both read-only (an overlay counts as read-only)"
            )


def mount_error(path: str, error: OSError) -> MountError:
    """Return the error of a mount that an error of a filesystem prevented."""
    number = error.errno or errno.EIO
    return MountError(f"{os.strerror(number)}: {path!r}", number)


def host_folders(tree: Ledger) -> list[HostFolder]:
    return [folder for _, filesystem in tree.mounted for folder in filesystem.host_folders()]


def is_on_host(tree: Ledger, path: str) -> bool:
    """Whether a path leads into a mounted folder of the host."""
    if not tree.mounted:
        return False
    try:
        real = tree.realpath(path)
    except OSError:
        real = posixpath.normpath(path)
    return any(
        filesystem.host_folders() and f"{real}/".startswith(f"{where.rstrip('/')}/")
        for where, filesystem in tree.mounted
    )


def _mount(tree: Ledger, path: str, entry: Dir | SharedTree | Mount) -> None:
    """Mount at a path that is missing or an empty directory; missing parents do not count."""
    if not path.startswith("/"):
        raise MountError(f"a mount point is an absolute path, not {path!r}")
    cut = path.rfind("/")
    name = path[cut + 1 :]
    directory = tree._dirs.get(path[:cut])
    if (
        directory is None
        or directory.owner is not tree.token
        or name in directory.entries
        or not is_ordinary(name)
    ):
        _mount_slowly(tree, path, entry)
        return
    directory.entries[name] = entry
    directory.links += 1
    tree.nodes += 1
    tree.max_nodes += 1


def _mount_slowly(tree: Ledger, path: str, entry: Dir | SharedTree | Mount) -> None:
    uid, tree._uid = tree._uid, 0
    before, most = tree.nodes, tree.max_nodes
    try:
        tree.max_nodes += path.count("/") + 1
        _make_parents(tree, path, 0 if type(entry) is SharedTree else tree.maker)
        place = tree._walk(path)
        node = place.node
        if not place.name or place.entry is not node or type(node) is not Dir:
            raise os_error(errno.EBUSY, path)
        if place.mount is not None:
            raise os_error(errno.EROFS, path)
        if node.entries:
            raise os_error(errno.ENOTEMPTY, path)
        tree.own(place).entries[place.name] = entry
        tree._remember(path)
    finally:
        tree.max_nodes = most + tree.nodes - before
        tree._uid = uid


def _make_parents(tree: Ledger, path: str, uid: int) -> None:
    """Create a directory and its parents for `uid`, so nobody else plants files in them."""
    missing: list[str] = []
    here = path.rstrip("/") or "/"
    while not tree.exists(here):
        missing.append(here)
        here = posixpath.dirname(here)
    for each in reversed(missing):
        mkdir(tree, each)
        node = tree._find(each)
        if type(node) is Dir:
            node.uid = uid
