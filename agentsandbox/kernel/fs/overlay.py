"""Writes on top of a filesystem that stays as it is.

Two trees are shown as one: `upper`, where all changes go, and `lower`, which is only read. A path
is looked for in the upper tree first. Before something of the lower tree changes it is copied up,
and so are the directories above it.

A directory shows the lower tree from its *origin*: a path of the lower tree, or None where it shows
nothing of it. Where nothing was changed the origin of a path is the path itself. Removing a file or
a directory gives its name the origin None; renaming a directory takes its origin along to the new
name. So neither looks at what is in the directory, and no call takes long, however large the lower
tree is: nothing could interrupt it.
"""

from __future__ import annotations

import errno
import posixpath

from agentsandbox.errors import MountError
from agentsandbox.kernel.fs.base import LEADS_NOWHERE, File, FileSystem, Stat, os_error
from agentsandbox.kernel.fs.canonical import CanonicalFileSystem
from agentsandbox.kernel.fs.host_folders import HostFolder
from agentsandbox.kernel.fs.memory import MemoryFileSystem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Mode


class _Place:
    """A path with an origin that its directory does not imply, or on the way to one."""

    __slots__ = ("names", "origin")

    def __init__(self, origin: str | None) -> None:
        self.origin = origin
        self.names: dict[str, _Place] = {}


class _Origins:
    """The origin of each path of an overlay."""

    __slots__ = ("_top",)

    def __init__(self) -> None:
        self._top = _Place("/")

    def find(self, path: str) -> str | None:
        """Return the path in the lower tree that is shown at a path, or None."""
        here = self._top
        if not here.names:
            return path
        names = path.strip("/").split("/")
        for index, name in enumerate(names):
            following = here.names.get(name)
            if following is None:
                return None if here.origin is None else posixpath.join(here.origin, *names[index:])
            here = following
        return here.origin

    def names_in(self, path: str) -> dict[str, _Place]:
        """Return the names in a directory about which something is known."""
        here = self._top
        for name in path.split("/"):
            if name:
                following = here.names.get(name)
                if following is None:
                    return {}
                here = following
        return here.names

    def take(self, path: str) -> _Place | None:
        """Remove and return what is known of a path and all below it."""
        here: _Place | None = self._top
        *above, last = path.strip("/").split("/")
        for name in above:
            here = None if here is None else here.names.get(name)
        return None if here is None else here.names.pop(last, None)

    def put(self, path: str, place: _Place) -> None:
        """Enter what is known of a path."""
        here = self._top
        *above, last = path.strip("/").split("/")
        for name in above:
            following = here.names.get(name)
            if following is None:
                origin = None if here.origin is None else posixpath.join(here.origin, name)
                following = here.names[name] = _Place(origin)
            here = following
        here.names[last] = place


class OverlayFileSystem(CanonicalFileSystem):
    """The content of `lower`, with all changes kept in `upper` (memory by default).

    A file is copied up at its first change, a directory at the first change in it; the quotas of
    `upper` apply. As with the kernel's overlays, hard links of the lower layer are separated when
    they are copied up, and a file that is open for reading does not see a later copy.
    """

    __slots__ = ("_origins", "lower", "upper")

    def __init__(self, lower: FileSystem, upper: FileSystem | None = None) -> None:
        self.lower = lower
        self.upper = MemoryFileSystem() if upper is None else upper
        self._origins = _Origins()

        for folder in self.lower.host_folders():
            if any(
                folder.overlaps(other) and other.writable for other in self.upper.host_folders()
            ):
                raise MountError(
                    "an overlay cannot keep its changes in the folder that it leaves alone"
                )

    def host_folders(self) -> list[HostFolder]:
        """Return the folders of both layers; the lower layer is never written to."""
        lower = [
            HostFolder(folder.lineage, writable=False, is_complete=folder.is_complete)
            for folder in self.lower.host_folders()
        ]
        return lower + self.upper.host_folders()

    # the layers

    def _in_upper(self, path: str) -> bool:
        return _has(self.upper, path)

    def _below(self, path: str) -> str | None:
        """Return the path in the lower layer that is shown at a path, or None."""
        origin = self._origins.find(path)
        return origin if origin is not None and _has(self.lower, origin) else None

    def _lower_path(self, path: str) -> str:
        """Return the same path for one that must exist and is not in the upper layer."""
        origin = self._origins.find(path)
        if origin is None:
            raise os_error(errno.ENOENT, path)
        return origin

    def _hide(self, path: str) -> None:
        """Show nothing of the lower layer at a path from now on."""
        self._origins.take(path)
        if self._below(path) is not None:
            self._origins.put(path, _Place(None))

    def _raise_parents(self, path: str) -> None:
        """Create the parents of a path in the upper layer, as they are in the lower one."""
        missing: list[str] = []
        here = posixpath.dirname(path)
        while not self._in_upper(here):
            missing.append(here)
            here = posixpath.dirname(here)
        for directory in reversed(missing):
            self._raise_directory(directory, self.lower.stat(self._lower_path(directory)))

    def _raise_directory(self, path: str, info: Stat) -> None:
        self.upper.mkdir(path)
        self.upper.chmod(path, info.permissions)
        self.upper.utime(path, info.mtime)

    def _raise(self, path: str) -> None:
        """Copy a file, a link or an empty directory up, unless it is there."""
        if self._in_upper(path):
            return
        self._raise_parents(path)
        origin = self._lower_path(path)
        info = self.lower.stat(origin, follow=False)
        if info.is_link:
            self.upper.symlink(self.lower.readlink(origin), path)
        elif info.is_dir:
            self._raise_directory(path, info)
        elif info.is_file:
            self._copy(origin, path, info)
        else:
            raise os_error(errno.EPERM, path)
        self.upper.utime(path, info.mtime, follow=False)

    def _copy(self, origin: str, path: str, info: Stat) -> None:
        source = self.lower.open(origin)
        try:
            target = self.upper.open(path, "x", permissions=info.permissions)
            try:
                for block in source.blocks():
                    target.write(block)
            except OSError:
                self.upper.unlink(path)
                raise
            finally:
                target.release()
        finally:
            source.release()

    # primitives

    def _lstat(self, path: str) -> Stat:
        try:
            info = self.upper.stat(path, follow=False)
        except FileNotFoundError:
            return self.lower.stat(self._lower_path(path), follow=False)
        if info.is_dir and self._below(path) is not None:
            info.nlink = 1  # as the kernel's overlays say of a directory in both layers
        return info

    def _readlink(self, path: str) -> str:
        if self._in_upper(path):
            return self.upper.readlink(path)
        return self.lower.readlink(self._lower_path(path))

    def _listdir(self, path: str) -> list[str]:
        names = set(self.upper.listdir(path) if self._in_upper(path) else ())
        origin = self._below(path)
        if origin is not None:
            changed = self._origins.names_in(path)
            names.update(name for name in self.lower.listdir(origin) if name not in changed)
            names.update(name for name, place in changed.items() if place.origin is not None)
        return sorted(names)

    def access(self, path: str, bits: int) -> bool:
        try:
            here, _ = self._existing(path)
        except OSError:
            return False
        if self._in_upper(here):
            return self.upper.access(here, bits)
        origin = self._lower_path(here)
        info = self.lower.stat(origin)
        writable = not bits & 2 or info.mode & 0o200 != 0
        return writable and self.lower.access(origin, bits & ~2)

    def _open(self, path: str, mode: Mode, permissions: int) -> File:
        in_upper = self._in_upper(path)
        if mode == "r":
            return self.upper.open(path) if in_upper else self.lower.open(self._lower_path(path))
        if not in_upper:
            origin = self._below(path)
            if origin is None:
                self._raise_parents(path)
            elif mode == "w" and (info := self.lower.stat(origin)).is_file:
                self._raise_parents(path)
                self.upper.write_bytes(path, b"", permissions=info.permissions)
            else:
                self._raise(path)
        return self.upper.open(path, mode, permissions=permissions)

    def _mkdir(self, path: str, mode: int) -> None:
        self._raise_parents(path)
        self.upper.mkdir(path, mode)

    def _mkfifo(self, path: str, mode: int) -> None:
        self._raise_parents(path)
        self.upper.mkfifo(path, mode)

    def _symlink(self, text: str, path: str) -> None:
        self._raise_parents(path)
        self.upper.symlink(text, path)

    def _link(self, source: str, path: str) -> None:
        self._raise(source)
        self._raise_parents(path)
        self.upper.link(source, path)

    def _rmdir(self, path: str) -> None:
        if self._in_upper(path):
            self.upper.rmdir(path)
        else:
            self._raise_parents(path)
        self._hide(path)

    def _unlink(self, path: str) -> None:
        if self._in_upper(path):
            self.upper.unlink(path)
        else:
            self._raise_parents(path)
        self._hide(path)

    def _rename(self, source: str, target: str) -> None:
        self._raise(source)
        self._raise_parents(target)
        is_dir = self._lstat(source).is_dir
        origin = self._below(source) if is_dir else None
        self.upper.rename(source, target)
        if self._in_upper(source):  # two names of one file: nothing was moved
            return
        place = self._origins.take(source)
        self._hide(source)
        self._hide(target)
        if is_dir and (origin is not None or place is not None):
            moved = _Place(origin)
            moved.names = {} if place is None else place.names
            self._origins.put(target, moved)

    def _chmod(self, path: str, mode: int) -> None:
        self._raise(path)
        self.upper.chmod(path, mode)

    def _utime(self, path: str, mtime: float, atime: float | None) -> None:
        self._raise(path)
        self.upper.utime(path, mtime, atime=atime, follow=False)


def _has(layer: FileSystem, path: str) -> bool:
    """Whether a layer has a path; another error is not taken for its absence."""
    try:
        layer.stat(path, follow=False)
    except OSError as error:
        if error.errno in LEADS_NOWHERE:
            return False
        raise
    return True
