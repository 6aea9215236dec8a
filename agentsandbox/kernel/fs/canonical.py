"""The base of filesystems that keep their files elsewhere: it resolves paths and words errors."""

from __future__ import annotations

import errno
import stat as stat_module
from abc import abstractmethod

from agentsandbox.kernel.fs.base import (
    MAX_LINKS,
    MAX_STEPS,
    NAME_MAX,
    PATH_MAX,
    File,
    FileSystem,
    Stat,
    ends_in_dots,
    inside,
    os_error,
)
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Mode


class Found:
    """The result of walking a path: `path` is canonical, `info` None if nothing is there.

    `special` marks a path that ends in "." or ".." or is the root, `slashed` one that requires a
    directory.
    """

    __slots__ = ("info", "path", "slashed", "special")

    def __init__(self, path: str, info: Stat | None, *, special: bool, slashed: bool) -> None:
        self.path = path
        self.info = info
        self.special = special
        self.slashed = slashed


class CanonicalFileSystem(FileSystem):
    """Implement the methods with an underscore. They get canonical paths: a link only at the end.

    They may raise `OSError` with any filename: the caller sees the path that it gave. This class
    has checked before that the parent is a directory, that the file has the right kind, and that
    a new name is free.
    """

    __slots__ = ()

    direct = False
    """Whether `_lstat` refuses a path through a link, so that most paths need one call."""

    @abstractmethod
    def _lstat(self, path: str) -> Stat: ...

    @abstractmethod
    def _readlink(self, path: str) -> str: ...

    @abstractmethod
    def _listdir(self, path: str) -> list[str]: ...

    @abstractmethod
    def _open(self, path: str, mode: Mode, permissions: int) -> File: ...

    @abstractmethod
    def _mkdir(self, path: str, mode: int) -> None: ...

    @abstractmethod
    def _rmdir(self, path: str) -> None: ...

    @abstractmethod
    def _unlink(self, path: str) -> None: ...

    @abstractmethod
    def _rename(self, source: str, target: str) -> None: ...

    @abstractmethod
    def _symlink(self, text: str, path: str) -> None: ...

    @abstractmethod
    def _link(self, source: str, path: str) -> None: ...

    @abstractmethod
    def _chmod(self, path: str, mode: int) -> None: ...

    @abstractmethod
    def _utime(self, path: str, mtime: float, atime: float | None) -> None: ...

    def _mkfifo(self, path: str, mode: int) -> None:
        raise os_error(errno.EPERM, path)

    # finding

    def _resolve(self, path: str, whole: str | None = None, *, follow: bool = True) -> Found:
        """Walk a path, of which only the last component may be missing. Errors name `whole`."""
        whole = path if whole is None else whole
        _check_path(path, whole)
        parts = [part for part in path.split("/") if part]
        slashed = path.endswith("/")
        if self.direct and parts and not slashed and "." not in parts and ".." not in parts:
            straight = "/" + "/".join(parts)
            try:
                info = self._lstat(straight)
            except OSError:
                pass
            else:
                if not (follow and info.is_link):
                    return Found(straight, info, special=False, slashed=False)
        return self._step(whole, parts[::-1], follow=follow, slashed=slashed)

    def _step(self, path: str, todo: list[str], *, follow: bool, slashed: bool) -> Found:
        """Resolve component by component."""
        names: list[str] = []
        hops = steps = 0
        while todo:
            name = todo.pop()
            if name == ".":
                continue
            if name == "..":
                del names[-1:]
                continue
            here = "/" + "/".join([*names, name])
            try:
                info = inside(path, self._lstat, here)
            except FileNotFoundError:
                if len(encode(name)) > NAME_MAX:
                    raise os_error(errno.ENAMETOOLONG, path) from None
                if todo:
                    raise
                return Found(here, None, special=False, slashed=slashed)
            if info.is_link and (todo or follow or slashed):
                hops += 1
                if hops > MAX_LINKS:
                    raise os_error(errno.ELOOP, path)
                text = inside(path, self._readlink, here)
                steps += len(text) // 2
                if steps > MAX_STEPS:
                    raise os_error(errno.ELOOP, path)
                if text.startswith("/"):
                    names.clear()
                if not todo and text.endswith("/"):
                    slashed = True
                todo.extend([piece for piece in text.split("/") if piece][::-1])
                continue
            if not info.is_dir and (todo or slashed):
                raise os_error(errno.ENOTDIR, path)
            if not todo:
                return Found(here, info, special=False, slashed=slashed)
            names.append(name)
        here = "/" + "/".join(names)
        return Found(here, inside(path, self._lstat, here), special=True, slashed=True)

    def _existing(self, path: str, *, follow: bool = True) -> tuple[str, Stat]:
        found = self._resolve(path, follow=follow)
        if found.info is None:
            raise os_error(errno.ENOENT, path)
        return found.path, found.info

    def _last(self, path: str) -> Found:
        """Find the last name of a path; a slash after it does not follow a link here."""
        return self._resolve(path.rstrip("/") or "/", path, follow=False)

    def _free(self, path: str, *, directory: bool = False) -> str:
        """Return the canonical path of a new name."""
        found = self._last(path)
        if found.info is not None:
            raise os_error(errno.EEXIST, path)
        if path.endswith("/") and not directory:
            raise os_error(errno.ENOENT, path)
        return found.path

    # the contract

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        return self._existing(path, follow=follow)[1]

    def realpath(self, path: str) -> str:
        return self._existing(path)[0]

    def readlink(self, path: str) -> str:
        here, info = self._existing(path, follow=False)
        if not info.is_link:
            raise os_error(errno.EINVAL, path)
        return inside(path, self._readlink, here)

    def listdir(self, path: str) -> list[str]:
        here, info = self._existing(path)
        if not info.is_dir:
            raise os_error(errno.ENOTDIR, path)
        return inside(path, self._listdir, here)

    def open(self, path: str, mode: Mode = "r", *, permissions: int = 0o644) -> File:
        creates = mode in ("w", "a", "x")
        if creates and path.endswith("/"):
            self._resolve(path.rstrip("/") or "/", path, follow=False)
            raise os_error(
                errno.EEXIST if mode == "x" and ends_in_dots(path) else errno.EISDIR, path
            )
        found = self._resolve(path, follow=mode != "x")
        info = found.info
        if info is None:
            if not creates:
                raise os_error(errno.ENOENT, path)
            if found.slashed:
                raise os_error(errno.EISDIR, path)
        elif mode == "x":
            raise os_error(errno.EEXIST, path)
        elif info.is_dir:
            raise os_error(errno.EISDIR, path)
        return inside(path, self._open, found.path, mode, permissions)

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        inside(path, self._mkdir, self._free(path, directory=True), mode)

    def mkfifo(self, path: str, mode: int = 0o644) -> None:
        inside(path, self._mkfifo, self._free(path), mode)

    def symlink(self, text: str, path: str) -> None:
        if not text:
            raise os_error(errno.ENOENT, path)
        if "\0" in text:
            raise os_error(errno.EINVAL, path)
        if len(encode(text)) >= PATH_MAX:
            raise os_error(errno.ENAMETOOLONG, path)
        inside(path, self._symlink, text, self._free(path))

    def link(self, source: str, path: str) -> None:
        here, info = self._existing(source, follow=False)
        there = self._free(path)
        if info.is_dir:
            raise os_error(errno.EPERM, source)
        inside(path, self._link, here, there)

    def unlink(self, path: str) -> None:
        found = self._last(path)
        if found.info is None:
            raise os_error(errno.ENOENT, path)
        if found.info.is_dir:
            raise os_error(errno.EISDIR, path)
        if path.endswith("/"):
            raise os_error(errno.ENOTDIR, path)
        inside(path, self._unlink, found.path)

    def rmdir(self, path: str) -> None:
        found = self._last(path)
        if found.info is None:
            raise os_error(errno.ENOENT, path)
        if not found.info.is_dir:
            raise os_error(errno.ENOTDIR, path)
        if found.special:
            last = path.rstrip("/").rpartition("/")[2]
            raise os_error({".": errno.EINVAL, "..": errno.ENOTEMPTY}.get(last, errno.EBUSY), path)
        if inside(path, self._listdir, found.path):
            raise os_error(errno.ENOTEMPTY, path)
        inside(path, self._rmdir, found.path)

    def rename(self, source: str, target: str) -> None:
        origin = self._last(source)
        place = self._last(target)
        if origin.special or place.special:
            raise os_error(errno.EBUSY, source)
        if origin.info is None:
            raise os_error(errno.ENOENT, source)
        is_dir, old = origin.info.is_dir, place.info
        if not is_dir and (source.endswith("/") or target.endswith("/")):
            raise os_error(errno.ENOTDIR, source)
        if is_dir and place.path.startswith(f"{origin.path}/"):
            raise os_error(errno.EINVAL, source)
        if origin.path.startswith(f"{place.path}/"):
            raise os_error(errno.ENOTEMPTY, source)
        if origin.path == place.path:
            return
        if old is not None:
            if is_dir != old.is_dir:
                raise os_error(errno.ENOTDIR if is_dir else errno.EISDIR, source)
            if is_dir and inside(source, self._listdir, place.path):
                raise os_error(errno.ENOTEMPTY, source)
        inside(source, self._rename, origin.path, place.path)

    def chmod(self, path: str, mode: int) -> None:
        inside(path, self._chmod, self._existing(path)[0], stat_module.S_IMODE(mode))

    def utime(
        self, path: str, mtime: float, *, atime: float | None = None, follow: bool = True
    ) -> None:
        inside(path, self._utime, self._existing(path, follow=follow)[0], mtime, atime)


def _check_path(path: str, whole: str) -> None:
    if not path:
        raise os_error(errno.ENOENT, whole)
    if "\0" in path:
        raise os_error(errno.EINVAL, whole)
    if len(encode(path)) >= PATH_MAX:
        raise os_error(errno.ENAMETOOLONG, whole)
