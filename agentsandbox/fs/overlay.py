"""Writes on top of a filesystem that stays as it is."""

from __future__ import annotations

import errno
import posixpath

from agentsandbox.errors import MountError
from agentsandbox.fs.base import File, FileSystem, HostFolder, Stat, os_error
from agentsandbox.fs.canonical import CanonicalFileSystem
from agentsandbox.fs.memory import MemoryFileSystem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.fs.base import Mode

__all__ = ["OverlayFileSystem"]


class OverlayFileSystem(CanonicalFileSystem):
    """What `lower` holds, with all changes kept in `upper`, memory by default.

    A file is copied up when it is first changed, a directory when something in it is; `upper`'s quotas hold. As with
    the kernel's overlays, hard links of the lower layer part when they are copied up, and a file that is open for
    reading doesn't see a later copy.
    """

    __slots__ = ("gone", "lower", "upper")

    def __init__(self, lower: FileSystem, upper: FileSystem | None = None) -> None:
        self.lower = lower
        self.upper = MemoryFileSystem() if upper is None else upper
        self.gone: set[str] = set()
        """Canonical paths whose lower file, with all below it, was removed or replaced."""

        for folder in self.lower.host_folders():
            if any(folder.overlaps(other) and other.writable for other in self.upper.host_folders()):
                raise MountError("an overlay cannot keep its changes in the folder that it leaves alone")

    def host_folders(self) -> list[HostFolder]:
        """The lower layer is never written to."""
        lower = [HostFolder(folder.lineage, writable=False) for folder in self.lower.host_folders()]
        return lower + self.upper.host_folders()

    # the layers

    def _shows_lower(self, path: str) -> bool:
        """Whether nothing hides the lower layer at this path."""
        gone = self.gone
        while gone and path != "/":
            if path in gone:
                return False
            path = posixpath.dirname(path)
        return True

    def _in_upper(self, path: str) -> bool:
        return self.upper.exists(path, follow=False)

    def _in_lower(self, path: str) -> bool:
        return self._shows_lower(path) and self.lower.exists(path, follow=False)

    def _hide(self, path: str) -> None:
        """From now on the lower layer has nothing here."""
        below = f"{path}/"
        self.gone = {other for other in self.gone if not other.startswith(below)}
        if self._in_lower(path):
            self.gone.add(path)

    def _raise_parents(self, path: str) -> None:
        """Make the directories of a path in the upper layer, as they are in the lower."""
        missing: list[str] = []
        here = posixpath.dirname(path)
        while not self._in_upper(here):
            missing.append(here)
            here = posixpath.dirname(here)
        for directory in reversed(missing):
            self._raise_directory(directory, self.lower.stat(directory))

    def _raise_directory(self, path: str, info: Stat) -> None:
        self.upper.mkdir(path)
        self.upper.chmod(path, info.permissions)
        self.upper.utime(path, info.mtime)

    def _raise(self, path: str) -> None:
        """Copy a file, a link or a directory (without what is in it) up, unless it is there."""
        if self._in_upper(path):
            return
        self._raise_parents(path)
        info = self.lower.stat(path, follow=False)
        if info.is_link:
            self.upper.symlink(self.lower.readlink(path), path)
        elif info.is_dir:
            self._raise_directory(path, info)
        elif info.is_file:
            self._copy(path, info)
        else:
            raise os_error(errno.EPERM, path)
        self.upper.utime(path, info.mtime, follow=False)

    def _copy(self, path: str, info: Stat) -> None:
        source = self.lower.open(path)
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

    def _raise_tree(self, path: str) -> None:
        """Copy up a directory with all below it."""
        pending = [path]
        while pending:
            here = pending.pop()
            self._raise(here)
            if self._lstat(here).is_dir:
                pending.extend(posixpath.join(here, name) for name in self._listdir(here))

    # primitives

    def _lstat(self, path: str) -> Stat:
        try:
            info = self.upper.stat(path, follow=False)
        except FileNotFoundError:
            if not self._shows_lower(path):
                raise
            return self.lower.stat(path, follow=False)
        if info.is_dir and self._in_lower(path):
            info.nlink = 1  # as the kernel's overlays say of a directory in both layers
        return info

    def _readlink(self, path: str) -> str:
        return (self.upper if self._in_upper(path) else self.lower).readlink(path)

    def _names(self, path: str) -> Iterator[str]:
        if self._in_upper(path):
            yield from self.upper.listdir(path)
        if self._in_lower(path):
            for name in self.lower.listdir(path):
                if posixpath.join(path, name) not in self.gone:
                    yield name

    def _listdir(self, path: str) -> list[str]:
        return sorted(set(self._names(path)))

    def access(self, path: str, bits: int) -> bool:
        try:
            here, _ = self._existing(path)
        except OSError:
            return False
        if self._in_upper(here):
            return self.upper.access(here, bits)
        info = self.lower.stat(here)
        writable = not bits & 2 or info.mode & 0o200 != 0
        return writable and self.lower.access(here, bits & ~2)

    def _open(self, path: str, mode: Mode, permissions: int) -> File:
        if mode == "r":
            return (self.upper if self._in_upper(path) else self.lower).open(path)
        if not self._in_upper(path):
            if self._in_lower(path):
                if mode == "w" and (info := self.lower.stat(path)).is_file:
                    self._raise_parents(path)
                    self.upper.write_bytes(path, b"", permissions=info.permissions)
                else:
                    self._raise(path)
            else:
                self._raise_parents(path)
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
        self._raise_tree(source)
        self._raise_parents(target)
        if self._lstat(source).is_dir and self._in_lower(target) and self._in_upper(target):
            self.upper.rmdir(target)
        self.upper.rename(source, target)
        if self._in_upper(source):  # two names of one file: nothing was moved
            return
        self._hide(source)
        self._hide(target)

    def _chmod(self, path: str, mode: int) -> None:
        self._raise(path)
        self.upper.chmod(path, mode)

    def _utime(self, path: str, mtime: float, atime: float | None) -> None:
        self._raise(path)
        self.upper.utime(path, mtime, atime=atime, follow=False)
