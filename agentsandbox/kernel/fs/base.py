"""The contract of a filesystem. Subclasses implement the abstract methods.

Paths are absolute POSIX strings. An implementation resolves symbolic links and ".." as a kernel
does: a path through a file is ENOTDIR, a missing directory ENOENT, more than 40 links ELOOP; a
trailing slash requires a directory. Errors are `OSError` with errno, strerror (the phrase that
Unix tools print) and `filename` (the path as the caller gave it).

`tests/test_fs_contract.py` holds every implementation to these rules.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat as stat_module
from abc import ABC, abstractmethod

from agentsandbox.kernel.streams import Stream, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Literal, ParamSpec, Protocol, TypeVar

    from agentsandbox.kernel.fs.host_folders import HostFolder

    P = ParamSpec("P")
    T = TypeVar("T")
    Mode = Literal["r", "w", "a", "x", "r+"]
    FileMark = tuple[float, float, int, int, int]
    Version = tuple[object, int, int]
    Mark = FileMark | Version | tuple[()]

    class Positioned(Protocol):
        """An open regular file, whose position all its holders share."""

        offset: int
        path: str

        def stat(self) -> Stat: ...


MAX_LINKS = 40
MAX_STEPS = 8192
"""Most components of one path, those of links included. Linux needs no such limit."""
NAME_MAX = 255
PATH_MAX = 4096


LEADS_NOWHERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG))
"""Numbers of the errors that say that there is nothing at a path."""

_UNUSABLE = LEADS_NOWHERE | {
    errno.EISDIR, errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENXIO, errno.EFBIG
}  # fmt: skip
"""Those that say this, or that what is there cannot be read by this user or is no file."""


def raise_failure(error: OSError) -> None:
    """Raise an error of the host's disk or tables: EIO, EMFILE, ENOMEM, ESTALE …

    Code that takes an error for the absence of a file calls it first.
    """
    if error.errno not in _UNUSABLE:
        raise error


def os_error(number: int, path: str | None = None) -> OSError:
    """Return the `OSError` subclass for an errno, worded by strerror."""
    return OSError(number, os.strerror(number), path)


def inside(path: str, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a method of a mounted filesystem; its errors name `path`, which the caller knows."""
    try:
        return call(*arguments, **options)
    except OSError as error:
        raise os_error(error.errno or errno.EIO, path) from None


def ends_in_dots(path: str) -> bool:
    """Whether a path ends in ".", ".." or nothing but slashes."""
    return path.rstrip("/").rpartition("/")[2] in ("", ".", "..")


class Timestamp(float):
    """Seconds since the epoch with their nanoseconds, of which a float loses the last 240."""

    __slots__ = ("ns",)

    ns: int

    @classmethod
    def from_ns(cls, ns: int) -> Timestamp:
        """Return the time of a whole number of nanoseconds."""
        made = cls(ns / 1_000_000_000)
        made.ns = ns
        return made


def nanoseconds(seconds: float) -> int:
    """Return a time in whole nanoseconds, as exactly as it is known."""
    if isinstance(seconds, Timestamp):
        return seconds.ns
    whole = int(seconds // 1)
    return whole * 1_000_000_000 + int((seconds - whole) * 1_000_000_000)


class Stat:
    """The result of `stat`. `mode` holds type and permissions (`stat.S_IFMT`); times in seconds."""

    __slots__ = ("atime", "ctime", "gid", "ino", "mode", "mtime", "nlink", "rdev", "size", "uid")

    def __init__(
        self,
        mode: int,
        size: int,
        mtime: float,
        ino: int = 0,
        nlink: int = 1,
        uid: int = 1000,
        gid: int = 1000,
        ctime: float | None = None,
        atime: float | None = None,
    ) -> None:
        self.mode = mode
        self.size = size
        self.mtime = mtime
        self.ino = ino
        self.nlink = nlink
        self.uid = uid
        self.gid = gid
        self.ctime = mtime if ctime is None else ctime
        self.atime = mtime if atime is None else atime
        self.rdev = 0
        """Of a device: 256 times its major number plus its minor number."""

    @property
    def is_dir(self) -> bool:
        return stat_module.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat_module.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        return stat_module.S_ISLNK(self.mode)

    @property
    def permissions(self) -> int:
        """Return the twelve permission bits."""
        return self.mode & 0o7777

    def __repr__(self) -> str:
        return (
            f"Stat(mode={self.mode:#o}, size={self.size}, mtime={self.mtime}, ino={self.ino}, "
            f"nlink={self.nlink})"
        )


class File(Stream):
    """An open file: bytes at a position. Also a context manager, for host code."""

    __slots__ = ()

    def truncate(self, size: int) -> None:
        """Cut the file, or fill it with zeros, to `size` bytes."""
        raise os_error(errno.EINVAL)

    def stat(self) -> Stat:
        """Return the file's `Stat`, even after it was unlinked."""
        raise os_error(errno.EBADF)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def seek_file(file: Positioned, offset: int, whence: int = 0) -> int:
    """Move the position of an open regular file as `lseek` does, and return it; EINVAL before 0."""
    if whence == os.SEEK_CUR:
        offset += file.offset
    elif whence == os.SEEK_END:
        offset += file.stat().size
    elif whence != os.SEEK_SET:
        raise os_error(errno.EINVAL, file.path)
    if not 0 <= offset < 1 << 63:
        raise os_error(errno.EINVAL, file.path)
    file.offset = offset
    return offset


class FileSystem(ABC):
    """Files by path."""

    __slots__ = ()

    @abstractmethod
    def stat(self, path: str, *, follow: bool = True) -> Stat:
        """Return the `Stat` of a file; of the link itself with `follow=False`."""

    @abstractmethod
    def listdir(self, path: str) -> list[str]:
        """Return the names in a directory, sorted by code point, without "." and ".."."""

    @abstractmethod
    def open(self, path: str, mode: Mode = "r", *, permissions: int = 0o644) -> File:
        """Open a file: "r" read, "w" create or empty, "a" create and append, "x" create, "r+" both.

        `permissions` are those of a file that is created; the caller applies its umask.
        """

    @abstractmethod
    def mkdir(self, path: str, mode: int = 0o755) -> None:
        """Create a directory; EEXIST if the name is taken, ENOENT without its parent."""

    @abstractmethod
    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""

    @abstractmethod
    def unlink(self, path: str) -> None:
        """Remove a name that is not a directory (EISDIR)."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Move atomically, replacing a file or an empty directory; EXDEV across filesystems."""

    @abstractmethod
    def symlink(self, text: str, path: str) -> None:
        """Create a symbolic link at `path` with the target `text`."""

    @abstractmethod
    def link(self, source: str, path: str) -> None:
        """Create a hard link; EPERM for a directory, EXDEV across filesystems."""

    @abstractmethod
    def readlink(self, path: str) -> str:
        """Return the target of a symbolic link; EINVAL for anything else."""

    @abstractmethod
    def chmod(self, path: str, mode: int) -> None:
        """Set the permission bits, following links."""

    @abstractmethod
    def utime(
        self, path: str, mtime: float, *, atime: float | None = None, follow: bool = True
    ) -> None:
        """Set modification time in seconds since the epoch, and access time if it is kept."""

    def mkfifo(self, path: str, mode: int = 0o644) -> None:
        """Create a named pipe, if the filesystem supports them."""
        raise os_error(errno.EPERM, path)

    def realpath(self, path: str) -> str:
        """Return the path without symbolic links, "." and ".."; every component must exist."""
        hops = steps = 0
        done = "/"
        todo = [part for part in path.split("/") if part][::-1]
        while todo:
            part = todo.pop()
            if part == ".":
                continue
            if part == "..":
                done = posixpath.dirname(done)
                continue
            here = posixpath.join(done, part)
            info = self.stat(here, follow=False)
            if not info.is_link:
                if todo and not info.is_dir:
                    raise os_error(errno.ENOTDIR, path)
                done = here
                continue
            hops += 1
            if hops > MAX_LINKS:
                raise os_error(errno.ELOOP, path)
            text = self.readlink(here)
            if text.startswith("/"):
                done = "/"
            todo.extend([piece for piece in text.split("/") if piece][::-1])
            steps += len(text) // 2
            if steps > MAX_STEPS:
                raise os_error(errno.ELOOP, path)
        if path.endswith("/") and not self.stat(done).is_dir:
            raise os_error(errno.ENOTDIR, path)
        return done

    def host_folders(self) -> list[HostFolder]:
        """Return the host's folders behind it, through wrapped filesystems too."""
        return []

    def is_on_host(self, path: str) -> bool:
        """Whether a path leads into a folder of the host, whatever lies over it."""
        del path
        return bool(self.host_folders())

    # built on those

    def scan(self, path: str) -> tuple[list[str], list[int]]:
        """Return the sorted names in a directory and their types (`stat.S_IFMT`)."""
        prefix = path if path.endswith("/") else f"{path}/"
        names = self.listdir(path)
        return names, [
            stat_module.S_IFMT(self.stat(prefix + name, follow=False).mode) for name in names
        ]

    def examine(self, path: str, names: Sequence[str]) -> list[Stat | None]:
        """Return the `Stat` of names in a directory, of links themselves; None: ask `stat`."""
        del path
        return [None] * len(names)

    def marks(self, path: str, names: Sequence[str]) -> list[Mark | None]:
        """Return what tells whether names in a directory are as they were.

        (mtime, ctime, size, inode number, mode) of a regular file. Of a directory its version, or
        () if it has none (see `keep_versions`). None: ask `stat`.
        """
        del path
        return [None] * len(names)

    def keep_versions(self) -> None:  # noqa: B027 - nothing to do without directories in memory
        """Give the directories in memory versions, from now to their next change.

        A change gives new versions to all directories above it, so one with the same version has
        the same files, at all depths. Changes behind a mount or by another hard link don't count.
        """

    def contents(self, path: str) -> tuple[list[str], list[int], list[bytes | None]]:
        """Return names and types like `scan`, and bytes of regular files in memory, else None."""
        names, kinds = self.scan(path)
        return names, kinds, [None] * len(names)

    def at_hand(self, directory: str, paths: Sequence[str]) -> list[bytes | None]:
        """Return the bytes of those that are regular files in memory, else None.

        Relative paths begin at `directory`.
        """
        del directory
        return [None] * len(paths)

    def shared_directory(self, path: str) -> object | None:
        """Return the node of a directory in memory of which nobody changes anything in place.

        A change makes a copy of it, so the same node means the same files, at all depths. Return
        None for all other directories.
        """
        del path
        return None

    def are_shared(self, directories: Sequence[tuple[str, object]]) -> bool:
        """Whether `shared_directory` still returns these nodes for these paths."""
        return all(self.shared_directory(path) is node for path, node in directories)

    def program(self, path: str) -> bytes | None:
        """Return the bytes of a file in memory that anyone may read and execute, else None."""
        del path
        return None

    def access(self, path: str, bits: int) -> bool:
        """Whether the user (1000) may read (4), write (2) or execute (1) a file, if it exists."""
        try:
            info = self.stat(path)
        except OSError:
            return False
        return (info.mode >> 6 if info.uid == 1000 else info.mode) & bits == bits

    def exists(self, path: str, *, follow: bool = True) -> bool:
        """Whether the path exists; a dangling link does not when followed."""
        try:
            self.stat(path, follow=follow)
        except OSError:
            return False
        return True

    def is_dir(self, path: str) -> bool:
        """Whether it is a directory, or a link to one."""
        try:
            return self.stat(path).is_dir
        except OSError:
            return False

    def is_file(self, path: str) -> bool:
        """Whether it is a regular file, or a link to one."""
        try:
            return self.stat(path).is_file
        except OSError:
            return False

    def read_bytes(self, path: str) -> bytes:
        """Return all bytes of a file."""
        file = self.open(path, "r")
        try:
            return file.read()
        finally:
            file.release()

    def read_text(self, path: str) -> str:
        """Return a file as text: UTF-8, invalid bytes as surrogates (`streams.decode`)."""
        return decode(self.read_bytes(path))

    def write_bytes(self, path: str, data: bytes, *, permissions: int = 0o644) -> None:
        """Create a file or replace its content."""
        file = self.open(path, "w", permissions=permissions)
        try:
            file.write(bytes(data))
        finally:
            file.release()

    def write_text(self, path: str, text: str) -> None:
        """Create a file or replace its content, as UTF-8."""
        self.write_bytes(path, encode(text))

    def makedirs(self, path: str, mode: int = 0o755) -> None:
        """Create a directory and its missing parents, unless it exists."""
        missing: list[str] = []
        here = path.rstrip("/") or "/"
        while not self.is_dir(here):
            missing.append(here)
            parent = posixpath.dirname(here)
            if parent == here:
                break
            here = parent
        for directory in reversed(missing):
            self.mkdir(directory, mode)

    def walk(self, path: str) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield (directory, directories in it, other names) top down, not through links."""
        pending = [path]
        while pending:
            here = pending.pop()
            directories: list[str] = []
            others: list[str] = []
            for name in self.listdir(here):
                child = posixpath.join(here, name)
                (directories if self.stat(child, follow=False).is_dir else others).append(name)
            yield here, directories, others
            pending.extend(posixpath.join(here, name) for name in reversed(directories))

    def copy_tree(self, source: str, target: str) -> None:
        """Copy a file or tree; `target` must not exist nor be inside `source` (EINVAL)."""
        if self.stat(source, follow=False).is_dir:
            inside = f"{self.realpath(source).rstrip('/')}/"
            parent = posixpath.dirname(target.rstrip("/")) or "/"
            if self.is_dir(parent) and f"{self.realpath(parent).rstrip('/')}/".startswith(inside):
                raise os_error(errno.EINVAL, target)
        pending = [(source, target)]
        narrow: list[tuple[str, int]] = []
        while pending:
            here, there = pending.pop()
            info = self.stat(here, follow=False)
            if info.is_link:
                self.symlink(self.readlink(here), there)
            elif info.is_dir:
                self.mkdir(there, info.permissions | 0o700)
                if info.permissions & 0o700 != 0o700:
                    narrow.append((there, info.permissions))
                pending.extend(
                    (posixpath.join(here, name), posixpath.join(there, name))
                    for name in reversed(self.listdir(here))
                )
            else:
                self.write_bytes(there, self.read_bytes(here), permissions=info.permissions)
        for directory, permissions in reversed(narrow):
            self.chmod(directory, permissions)

    def remove_tree(self, path: str) -> None:
        """Remove a file or a directory tree."""
        if not self.stat(path, follow=False).is_dir:
            self.unlink(path)
            return
        pending = [path]
        emptied: list[str] = []
        while pending:
            here = pending.pop()
            emptied.append(here)
            for name in self.listdir(here):
                child = posixpath.join(here, name)
                if self.stat(child, follow=False).is_dir:
                    pending.append(child)
                else:
                    self.unlink(child)
        for directory in reversed(emptied):
            self.rmdir(directory)
