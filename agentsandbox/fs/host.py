"""A folder of the host as a filesystem: for reading, or on request for writing. Nothing outside it can be reached.

Every path is walked directory by directory with `openat` and O_NOFOLLOW, so that a link which appears while a path is
looked at leads nowhere; links are resolved here, in the sandbox's namespace. Only regular files are opened. Errors and
links never show where the folder is.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat as stat_module

from agentsandbox.fs.base import File, PositionedFile, Stat, os_error
from agentsandbox.fs.canonical import CanonicalFileSystem
from agentsandbox.limits import DEFAULT_LIMITS, Limits
from agentsandbox.streams import OutputError, WriteOnlyError, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from agentsandbox.fs.base import Mode

__all__ = ["HostFileSystem"]

_MODES = {
    "r": os.O_RDONLY,
    "w": os.O_WRONLY | os.O_CREAT,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "r+": os.O_RDWR,
}
_LINE = 8192


class _Directory:
    """An open directory of the host, closed at the end of the `with`."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> int:
        return self.number

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self.number)


class HostFileSystem(CanonicalFileSystem):
    """The folder `root` of the host.

    Written to, it grows by at most `limits.total_bytes` and `limits.files`, and no file beyond `limits.file_bytes`.
    The host's users show as the sandbox's: files of the process's user as uid 1000, all others as root's.
    """

    __slots__ = ("_me", "_root", "grown", "limits", "made", "read_only")

    direct = True

    def __init__(self, root: str | os.PathLike[str], *, read_only: bool = True, limits: Limits = DEFAULT_LIMITS) -> None:
        if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
            raise os_error(errno.ENOTSUP, "a host folder needs openat and O_NOFOLLOW")
        self._root = os.path.realpath(root)
        self._me = os.geteuid()
        self.read_only = read_only
        self.limits = limits
        self.grown = 0
        """Bytes by which the folder has grown."""
        self.made = 0
        """Names by which the folder has grown."""
        os.close(self._open_root())

    # confinement

    def _open_root(self) -> int:
        return os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _directory(self, path: str) -> _Directory:
        """Open a directory by its canonical path; a link on the way is ELOOP or ENOTDIR."""
        number = self._open_root()
        for name in path.split("/"):
            if not name:
                continue
            try:
                following = os.open(encode(name), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=number)
            finally:
                os.close(number)
            number = following
        return _Directory(number)

    def _parent(self, path: str) -> tuple[_Directory, bytes]:
        parent, name = posixpath.split(path)
        return self._directory(parent), encode(name) or b"."

    def _stat_of(self, info: os.stat_result) -> Stat:
        uid = 1000 if info.st_uid == self._me else 0
        atime = info.st_atime_ns / 1e9
        return Stat(info.st_mode, info.st_size, info.st_mtime_ns / 1e9, info.st_ino, info.st_nlink, uid, uid, info.st_ctime_ns / 1e9, atime)

    def _changing(self, *, names: int = 0) -> None:
        """Whether the folder may be changed, and get `names` more names."""
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
        """The text of a link, made relative if it names something in the folder; EACCES if it leads out of it."""
        directory, name = self._parent(path)
        with directory as number:
            text = decode(os.readlink(name, dir_fd=number))
        here = posixpath.dirname(path)
        if text.startswith("/"):
            inner = posixpath.normpath(text)
            if inner != self._root and not inner.startswith(f"{self._root}/"):
                raise os_error(errno.EACCES)
            return posixpath.relpath(inner[len(self._root) :] or "/", here)
        if _leaves(text, here):
            raise os_error(errno.EACCES)
        return text

    def _listdir(self, path: str) -> list[str]:
        with self._directory(path) as number:
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
                except OSError:  # it went away
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
        directory, name = self._parent(path)
        flags = _MODES[mode] | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with directory as number:
            known = _kind(name, number)
            if known is None:
                self._changing(names=1)
            elif not stat_module.S_ISREG(known):
                raise os_error(errno.EACCES)
            opened = os.open(name, flags, permissions & 0o777, dir_fd=number)
        file = HostFile(self, opened, path, readable=mode in ("r", "r+"), writable=mode != "r", append=mode == "a")
        if not file.stat().is_file:
            file.release()
            raise os_error(errno.EACCES)
        self.made += known is None
        if mode == "w":
            file.truncate(0)
        return file

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
        if stat_module.S_ISREG(info.st_mode) and info.st_nlink == 1:
            self.grown -= info.st_size

    def _rename(self, source: str, target: str) -> None:
        self._changing()
        old, old_name = self._parent(source)
        with old as old_number:
            new, new_name = self._parent(target)
            with new as new_number:
                replaced = _kind(new_name, new_number) is not None
                os.rename(old_name, new_name, src_dir_fd=old_number, dst_dir_fd=new_number)
        self.made -= replaced

    def _symlink(self, text: str, path: str) -> None:
        """Only links that stay in the folder: the host's programs follow them too (EPERM)."""
        self._changing(names=1)
        if text.startswith("/") or _leaves(text, posixpath.dirname(path)):
            raise os_error(errno.EPERM)
        directory, name = self._parent(path)
        with directory as number:
            os.symlink(encode(text), name, dir_fd=number)
        self.made += 1

    def _link(self, source: str, path: str) -> None:
        self._changing(names=1)
        old, old_name = self._parent(source)
        with old as old_number:
            new, new_name = self._parent(path)
            with new as new_number:
                os.link(old_name, new_name, src_dir_fd=old_number, dst_dir_fd=new_number, follow_symlinks=False)
        self.made += 1

    def _chmod(self, path: str, mode: int) -> None:
        self._changing()
        directory, name = self._parent(path)
        with directory as number:
            kind = _kind(name, number)
            if kind is None or not (stat_module.S_ISREG(kind) or stat_module.S_ISDIR(kind)):
                raise os_error(errno.EPERM)
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=number)
            try:
                os.fchmod(opened, mode & 0o777)
            finally:
                os.close(opened)

    def _utime(self, path: str, mtime: float, atime: float | None) -> None:
        self._changing()
        directory, name = self._parent(path)
        with directory as number:
            os.utime(name, (mtime if atime is None else atime, mtime), dir_fd=number, follow_symlinks=False)


def _kind(name: bytes, number: int) -> int | None:
    """The mode of what stands in an open directory."""
    try:
        return os.stat(name, dir_fd=number, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _leaves(text: str, here: str) -> bool:
    """Whether a relative link in the directory `here` passes above the folder."""
    depth = here.count("/") if here != "/" else 0
    for part in text.split("/"):
        if part == "..":
            depth -= 1
            if depth < 0:
                return True
        elif part not in ("", "."):
            depth += 1
    return False


class HostFile(PositionedFile):
    """An open file of the host; the position is kept here, so that lines can be read without a buffer."""

    __slots__ = ("fs", "number")

    def __init__(self, fs: HostFileSystem, number: int, path: str, *, readable: bool, writable: bool, append: bool) -> None:
        super().__init__()
        self.fs = fs
        self.number = number
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
        while fitting:
            written = os.write(self.number, fitting) if self.append else os.pwrite(self.number, fitting, self.offset)
            self.offset += written
            fitting = fitting[written:]
        self.fs.grown += max(0, self.offset - size)
        if end > room:
            raise self._full(room)

    def _full(self, room: int) -> OSError:
        return os_error(errno.EFBIG if room >= self.fs.limits.file_bytes else errno.ENOSPC, self.path)

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
            os.close(number)

    def __del__(self) -> None:
        self.close()
