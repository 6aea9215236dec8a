"""A folder of the host as a filesystem: for reading, or on request for writing. Nothing outside it
can be reached.

The folder is opened once and held as a descriptor as long as the filesystem lives. Its path is
never used again, so that whoever renames the folder, or puts a link in its place, changes nothing
here. Every path is walked from that descriptor, directory by directory, with `openat` and
O_NOFOLLOW: a link that appears while a path is walked leads nowhere. Links are resolved here, in
the sandbox's namespace (`host_links` says which ones a script may make). Only regular files are
opened. Errors and links never show where the folder is.

What a script takes from the host through a writable mount is counted in `grown` (bytes) and `made`
(names). A file that is unlinked while it is open keeps its bytes on the disk until it is closed, so
they are counted until then. The host's descriptors are scarce as well: one mount keeps at most
`OPEN_FILES` files open.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat as stat_module

from agentsandbox.kernel.fs.base import (
    LEADS_NOWHERE,
    File,
    Stat,
    os_error,
    seek_file,
)
from agentsandbox.kernel.fs.canonical import CanonicalFileSystem
from agentsandbox.kernel.fs.host_folders import HostFolder
from agentsandbox.kernel.fs.host_links import climbs, leaves
from agentsandbox.kernel.streams import OutputError, WriteOnlyError, decode, encode
from agentsandbox.limits import DEFAULT_LIMITS, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from agentsandbox.kernel.fs.base import Mode

    Inode = tuple[int, int]
    """The device and the number of an inode: which file it is, whatever its names are."""

OPEN_FILES = 256
"""Most files that one mount keeps open; one more is EMFILE."""

CHECKED_ENTRIES = 20_000
"""Most entries in which a rename looks for links. Larger trees are EXDEV: `mv` copies them."""

_MODES = {
    "r": os.O_RDONLY,
    "w": os.O_WRONLY | os.O_CREAT,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "r+": os.O_RDWR,
}
_LINE = 8192
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | getattr(os, "O_NOFOLLOW", 0) | os.O_CLOEXEC
_PASSAGE = _DIRECTORY | getattr(os, "O_PATH", 0)
"""Flags for a directory that is only passed through: O_PATH needs no read permission."""


# TM-MOUNT-3
class _Directory:
    """An open directory of the host, closed at the end of the `with` unless it is the root."""

    __slots__ = ("number", "root")

    def __init__(self, number: int, root: int) -> None:
        self.number = number
        self.root = root

    def __enter__(self) -> int:
        return self.number

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.number != self.root:
            os.close(self.number)


# TM-MOUNT-1
class HostFileSystem(CanonicalFileSystem):
    """The folder `root` of the host, held by one descriptor until `close` or until it is freed.

    If writable, it may grow by `limits.total_bytes` and `limits.files`, and a file up to
    `limits.file_bytes`. Owners appear as the sandbox's: files of the process's user have uid
    1000, all others belong to root.
    """

    __slots__ = (
        "_handles", "_me", "_number", "_opened", "_path", "grown", "limits", "made", "read_only",
    )  # fmt: skip

    direct = True

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        read_only: bool = True,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._number = -1
        if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
            raise os_error(errno.ENOTSUP, "a host folder needs openat and O_NOFOLLOW")
        self._path = os.path.realpath(root)
        """Where the folder was: for comparing absolute links. Nothing is opened by this path."""
        self._number = os.open(self._path, _PASSAGE)
        self._me = os.geteuid()
        self.read_only = read_only
        self.limits = limits
        self.grown = 0
        """Bytes by which the folder has grown."""
        self.made = 0
        """Names by which the folder has grown."""
        self._handles = 0
        self._opened: dict[Inode, int] = {}
        """The number of our open files of each inode."""

    def close(self) -> None:
        """Close the folder: every later call is EBADF, open files stay open. Idempotent."""
        number, self._number = self._number, -1
        if number >= 0:
            os.close(number)

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if self._number >= 0:
            close(self._number)

    def __reduce__(self) -> str:
        raise TypeError(
            "a folder of the host can neither be copied nor pickled: mount the same object again"
        )

    def host_folders(self) -> list[HostFolder]:
        lineage, is_complete = self._lineage()
        return [HostFolder(lineage, writable=not self.read_only, is_complete=is_complete)]

    def _lineage(self) -> tuple[list[Inode], bool]:
        """Return the inodes of the folder and of those above it, and whether these are all."""
        found: list[Inode] = []
        number = os.open(b".", _PASSAGE, dir_fd=self._number)
        try:
            while True:
                info = os.fstat(number)
                if found and found[-1] == (info.st_dev, info.st_ino):
                    return found, True  # the root of the host is above itself
                found.append((info.st_dev, info.st_ino))
                try:
                    above = os.open(b"..", _PASSAGE, dir_fd=number)
                except PermissionError:
                    return found, False
                os.close(number)
                number = above
        finally:
            os.close(number)

    # confinement

    def _directory(self, path: str, *, flags: int = _PASSAGE) -> _Directory:
        """Open a directory by its canonical path; a link on the way is ELOOP or ENOTDIR."""
        root = number = self._number
        names = [encode(name) for name in path.split("/") if name]
        if not names and flags != _PASSAGE:
            names = [b"."]
        last = len(names) - 1
        for index, name in enumerate(names):
            try:
                following = os.open(name, flags if index == last else _PASSAGE, dir_fd=number)
            finally:
                if number != root:
                    os.close(number)
            number = following
        return _Directory(number, root)

    def _parent(self, path: str) -> tuple[_Directory, bytes]:
        parent, name = posixpath.split(path)
        return self._directory(parent), encode(name) or b"."

    def _stat_of(self, info: os.stat_result) -> Stat:
        uid = 1000 if info.st_uid == self._me else 0
        atime = info.st_atime_ns / 1e9
        return Stat(
            info.st_mode,
            info.st_size,
            info.st_mtime_ns / 1e9,
            info.st_ino,
            info.st_nlink,
            uid,
            uid,
            info.st_ctime_ns / 1e9,
            atime,
        )

    def _changing(self, *, names: int = 0) -> None:
        """Check that the folder may be changed and may get `names` more names."""
        if self.read_only:
            raise os_error(errno.EROFS)
        if names > 0 and self.made + names > self.limits.files:
            raise os_error(errno.ENOSPC)

    # reading

    def _lstat(self, path: str) -> Stat:
        directory, name = self._parent(path)
        with directory as number:
            return self._stat_of(os.stat(name, dir_fd=number, follow_symlinks=False))

    def _readlink(self, path: str) -> str:
        """Return a link's target, relative if it is in the folder; EACCES if it leads out."""
        directory, name = self._parent(path)
        with directory as number:
            text = decode(os.readlink(name, dir_fd=number))
        here = posixpath.dirname(path)
        if text.startswith("/"):
            inner = self._below_root(text)
            if inner is None:
                raise os_error(errno.EACCES)
            return posixpath.relpath(inner, here)
        if leaves(text, _depth(path)):
            raise os_error(errno.EACCES)
        return text

    def _below_root(self, text: str) -> str | None:
        """Return an absolute path of the host relative to the folder; None if it is outside."""
        inner = posixpath.normpath(text)
        root = self._path.rstrip("/")
        if inner != self._path and not inner.startswith(f"{root}/"):
            return None
        return inner[len(root) :] or "/"

    def _listdir(self, path: str) -> list[str]:
        with self._directory(path, flags=_DIRECTORY) as number:
            return sorted(decode(os.fsencode(name)) for name in os.listdir(number))

    def scan(self, path: str) -> tuple[list[str], list[int]]:
        names: list[str] = []
        kinds: list[int] = []
        here = self.realpath(path)
        listed = self.listdir(path)
        with self._directory(here) as number:
            for name in listed:
                try:
                    info = os.stat(encode(name), dir_fd=number, follow_symlinks=False)
                except FileNotFoundError:  # it went away
                    continue
                names.append(name)
                kinds.append(stat_module.S_IFMT(info.st_mode))
        return names, kinds

    def access(self, path: str, bits: int) -> bool:
        try:
            here, info = self._existing(path)
            if bits & 2 and self.read_only:
                return False
            directory, name = self._parent(here)
            with directory as number:
                return not info.is_link and os.access(name, bits, dir_fd=number)
        except OSError:
            return False

    def _open(self, path: str, mode: Mode, permissions: int) -> File:
        if mode != "r":
            self._changing()
        if self._handles >= OPEN_FILES:
            raise os_error(errno.EMFILE)
        directory, name = self._parent(path)
        flags = _MODES[mode] | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with directory as number:
            known = _kind(name, number)
            if known is None:
                self._changing(names=1)
            elif not stat_module.S_ISREG(known):
                raise os_error(errno.EACCES)
            opened = os.open(name, flags, permissions & 0o777, dir_fd=number)
        try:
            info = os.fstat(opened)
        except OSError:
            os.close(opened)
            raise
        file = HostFile(
            self,
            opened,
            path,
            (info.st_dev, info.st_ino),
            readable=mode in ("r", "r+"),
            writable=mode != "r",
            append=mode == "a",
        )
        if not stat_module.S_ISREG(info.st_mode):
            file.release()
            raise os_error(errno.EACCES)
        self.made += known is None
        if mode == "w":
            file.truncate(0)
        return file

    # open files

    def enter(self, inode: Inode) -> None:
        """Count one more open file."""
        self._handles += 1
        self._opened[inode] = self._opened.get(inode, 0) + 1

    def leave(self, inode: Inode, info: os.stat_result | None) -> None:
        """Count one open file less; the last one of an unlinked file frees its bytes.

        `info` is None if the host did not tell: then the bytes count on.
        """
        self._handles -= 1
        left = self._opened.pop(inode) - 1
        if left:
            self._opened[inode] = left
        elif info is not None and info.st_nlink == 0:
            self.grown -= info.st_size

    def _forget(self, info: os.stat_result) -> None:
        """Count a removed name; its bytes are free if it was the last one and no file is open."""
        if (
            stat_module.S_ISREG(info.st_mode)
            and info.st_nlink == 1
            and (info.st_dev, info.st_ino) not in self._opened
        ):
            self.grown -= info.st_size

    # changing

    def _mkdir(self, path: str, mode: int) -> None:
        self._changing(names=1)
        directory, name = self._parent(path)
        with directory as number:
            os.mkdir(name, mode & 0o777, dir_fd=number)
        self.made += 1

    def _rmdir(self, path: str) -> None:
        self._changing()
        directory, name = self._parent(path)
        with directory as number:
            os.rmdir(name, dir_fd=number)
        self.made -= 1

    def _unlink(self, path: str) -> None:
        self._changing()
        directory, name = self._parent(path)
        with directory as number:
            info = os.stat(name, dir_fd=number, follow_symlinks=False)
            os.unlink(name, dir_fd=number)
        self.made -= 1
        self._forget(info)

    def _rename(self, source: str, target: str) -> None:
        self._changing()
        old, old_name = self._parent(source)
        with old as old_number:
            self._check_links(old_name, old_number, source, target)
            new, new_name = self._parent(target)
            with new as new_number:
                replaced = _look(new_name, new_number)
                moved = os.stat(old_name, dir_fd=old_number, follow_symlinks=False)
                os.rename(old_name, new_name, src_dir_fd=old_number, dst_dir_fd=new_number)
        if replaced is not None and (replaced.st_dev, replaced.st_ino) != (
            moved.st_dev,
            moved.st_ino,
        ):
            self.made -= 1
            self._forget(replaced)

    def _symlink(self, text: str, path: str) -> None:
        """Create only links that stay in the folder (else EPERM); host programs follow them."""
        self._changing(names=1)
        if climbs(text) > _depth(path) or self._leads_out(text, path):
            raise os_error(errno.EPERM)
        directory, name = self._parent(path)
        with directory as number:
            os.symlink(encode(text), name, dir_fd=number)
        self.made += 1

    def _leads_out(self, text: str, path: str) -> bool:
        """Whether a link would lead through one of the host's own that leaves the folder."""
        parts = [part for part in f"{posixpath.dirname(path)}/{text}".split("/") if part]
        try:
            self._step(path, parts[::-1], follow=True, slashed=False)
        except PermissionError:
            return True
        except OSError as error:
            if error.errno not in LEADS_NOWHERE:
                raise
        return False

    def _link(self, source: str, path: str) -> None:
        self._changing(names=1)
        old, old_name = self._parent(source)
        with old as old_number:
            self._check_links(old_name, old_number, source, path)
            new, new_name = self._parent(path)
            with new as new_number:
                os.link(
                    old_name,
                    new_name,
                    src_dir_fd=old_number,
                    dst_dir_fd=new_number,
                    follow_symlinks=False,
                )
        self.made += 1

    # links that get another place

    def _check_links(self, name: bytes, number: int, source: str, target: str) -> None:
        """Refuse (EPERM) a new name with which a link, itself or below it, could lead out."""
        kind = os.stat(name, dir_fd=number, follow_symlinks=False).st_mode
        if stat_module.S_ISLNK(kind):
            text = decode(os.readlink(name, dir_fd=number))
            if not self._may_move(text, source, target):
                raise os_error(errno.EPERM)
        elif stat_module.S_ISDIR(kind) and _depth(target) < _depth(source):
            self._check_tree(source, _depth(source) - _depth(target))

    def _may_move(self, text: str, source: str, target: str) -> bool:
        if climbs(text) <= _depth(target):
            return True
        if text.startswith("/"):
            return self._below_root(text) is not None
        stays = posixpath.dirname(source) == posixpath.dirname(target)
        return stays and not leaves(text, _depth(source))

    def _check_tree(self, top: str, rise: int) -> None:
        """Check all relative links of a directory that rises by `rise` levels."""
        left = CHECKED_ENTRIES
        pending = [top]
        while pending:
            here = pending.pop()
            depth = here.count("/")
            left -= depth  # it is opened from the root
            with self._directory(here, flags=_DIRECTORY) as number, os.scandir(number) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        raise os_error(errno.EXDEV)
                    if entry.is_symlink():
                        text = decode(os.readlink(os.fsencode(entry.name), dir_fd=number))
                        if not text.startswith("/") and climbs(text) > depth - rise:
                            raise os_error(errno.EPERM)
                    elif entry.is_dir(follow_symlinks=False):
                        pending.append(f"{here}/{decode(os.fsencode(entry.name))}")

    def _chmod(self, path: str, mode: int) -> None:
        self._changing()
        directory, name = self._parent(path)
        with directory as number:
            kind = _kind(name, number)
            if kind is None or not (stat_module.S_ISREG(kind) or stat_module.S_ISDIR(kind)):
                raise os_error(errno.EPERM)
            opened = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=number
            )
            try:
                os.fchmod(opened, mode & 0o777)
            finally:
                os.close(opened)

    def _utime(self, path: str, mtime: float, atime: float | None) -> None:
        self._changing()
        directory, name = self._parent(path)
        with directory as number:
            os.utime(
                name,
                (mtime if atime is None else atime, mtime),
                dir_fd=number,
                follow_symlinks=False,
            )


def _look(name: bytes, number: int) -> os.stat_result | None:
    """Return the status of a name in an open directory, or None."""
    try:
        return os.stat(name, dir_fd=number, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _kind(name: bytes, number: int) -> int | None:
    """Return the mode of a name in an open directory, or None."""
    info = _look(name, number)
    return None if info is None else info.st_mode


def _depth(path: str) -> int:
    """Return the depth of a canonical path's directory below the root."""
    return path.count("/") - 1


# TM-MOUNT-4
class HostFile(File):
    """An open file of the host. It keeps its own position, so reading lines needs no buffer."""

    __slots__ = ("append", "fs", "inode", "number", "offset", "path", "readable", "writable")

    path: str
    seek = seek_file

    def __init__(
        self,
        fs: HostFileSystem,
        number: int,
        path: str,
        inode: Inode,
        *,
        readable: bool,
        writable: bool,
        append: bool,
    ) -> None:
        super().__init__()
        self.fs = fs
        self.number = number
        self.inode = inode
        fs.enter(inode)
        self.path = path
        self.readable = readable
        self.writable = writable
        self.append = append
        self.offset = 0

    def _blocks(self, size: int) -> Iterator[bytes]:
        while size and (block := os.pread(self.number, min(size, 1 << 20), self.offset)):
            self.offset += len(block)
            size -= len(block)
            yield block

    def read(self, size: int = -1) -> bytes:
        if not self.readable:
            raise WriteOnlyError
        length = os.fstat(self.number).st_size
        if size < 0:
            size = max(0, length - self.offset)
            if size > self.fs.limits.file_bytes:
                raise os_error(errno.EFBIG, self.path)
        return b"".join(self._blocks(size))

    def readline(self, end: bytes = b"\n") -> bytes:
        if not self.readable:
            raise WriteOnlyError
        parts: list[bytes] = []
        start = self.offset
        while block := os.pread(self.number, _LINE, self.offset):
            found = block.find(end) + 1
            parts.append(block[:found] if found else block)
            self.offset += len(parts[-1])
            if found:
                break
            if self.offset - start > self.fs.limits.file_bytes:
                raise os_error(errno.EFBIG, self.path)
        return b"".join(parts)

    def write(self, data: bytes) -> None:
        if not self.writable:
            raise OutputError(errno.EBADF, os.strerror(errno.EBADF))
        if not data:
            return
        size = os.fstat(self.number).st_size
        if self.append:
            self.offset = size
        room = min(self.fs.limits.file_bytes, self.fs.limits.total_bytes - self.fs.grown + size)
        end = self.offset + len(data)
        fitting = data if end <= room else data[: max(0, room - self.offset)]
        try:
            while fitting:
                written = (
                    os.write(self.number, fitting)
                    if self.append
                    else os.pwrite(self.number, fitting, self.offset)
                )
                self.offset += written
                fitting = fitting[written:]
        finally:
            self.fs.grown += max(0, self.offset - size)
        if end > room:
            raise self._full(room)

    def _full(self, room: int) -> OSError:
        return os_error(
            errno.EFBIG if room >= self.fs.limits.file_bytes else errno.ENOSPC, self.path
        )

    def truncate(self, size: int) -> None:
        if not self.writable or size < 0:
            raise os_error(errno.EINVAL, self.path)
        old = os.fstat(self.number).st_size
        room = min(self.fs.limits.file_bytes, self.fs.limits.total_bytes - self.fs.grown + old)
        if size > max(old, room):
            raise self._full(room)
        os.ftruncate(self.number, size)
        self.fs.grown += size - old

    def stat(self) -> Stat:
        return self.fs._stat_of(os.fstat(self.number))

    def close(self) -> None:
        number, self.number = self.number, -1
        if number >= 0:
            try:
                info = os.fstat(number)
            except OSError:
                info = None
            try:
                os.close(number)
            finally:
                self.fs.leave(self.inode, info)

    def __del__(self) -> None:
        self.close()
