"""The kernel as a filesystem of the contract: the judge of all others. `os` may be pyfakefs's."""

from __future__ import annotations

import errno
import os

from agentsandbox.kernel.fs.base import File, FileSystem, Stat, os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from agentsandbox.kernel.fs.base import Mode

FLAGS = {
    "r": os.O_RDONLY,
    "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "r+": os.O_RDWR,
}


def describe(info: os.stat_result) -> Stat:
    return Stat(
        info.st_mode,
        info.st_size,
        info.st_mtime,
        info.st_ino,
        info.st_nlink,
        info.st_uid,
        info.st_gid,
    )


class RealFile(File):
    def __init__(self, number: int, module: ModuleType) -> None:
        super().__init__()
        self.number = number
        self.os = module

    def read(self, size: int = -1) -> bytes:
        if size >= 0:
            return self.os.read(self.number, size)  # type: ignore[no-any-return]
        blocks = []
        while block := self.os.read(self.number, 65536):
            blocks.append(block)
        return b"".join(blocks)

    def readline(self, end: bytes = b"\n") -> bytes:
        line = b""
        while not line.endswith(end) and (byte := self.os.read(self.number, 1)):
            line += byte
        return line

    def write(self, data: bytes) -> None:
        while data:
            data = data[self.os.write(self.number, data) :]

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.os.lseek(self.number, offset, whence)  # type: ignore[no-any-return]

    def truncate(self, size: int) -> None:
        self.os.ftruncate(self.number, size)

    def stat(self) -> Stat:
        return describe(self.os.fstat(self.number))

    def close(self) -> None:
        self.os.close(self.number)


class RealFileSystem(FileSystem):
    """Everything below `root`, without any protection: absolute link texts are prefixed with it."""

    def __init__(self, root: str, module: ModuleType = os) -> None:
        self.root = root
        self.os = module

    def full(self, path: str) -> str:
        if not path:
            raise os_error(errno.ENOENT, path)
        if "\0" in path:
            raise os_error(errno.EINVAL, path)
        return self.root + path

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        return describe(self.os.stat(self.full(path), follow_symlinks=follow))

    def listdir(self, path: str) -> list[str]:
        return sorted(self.os.listdir(self.full(path)))

    def open(self, path: str, mode: Mode = "r", *, permissions: int = 0o644) -> File:
        if mode == "r" and self.os.path.isdir(self.full(path)):
            raise os_error(errno.EISDIR, path)
        return RealFile(self.os.open(self.full(path), FLAGS[mode], permissions), self.os)

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        self.os.mkdir(self.full(path), mode)

    def rmdir(self, path: str) -> None:
        self.os.rmdir(self.full(path))

    def unlink(self, path: str) -> None:
        self.os.unlink(self.full(path))

    def rename(self, source: str, target: str) -> None:
        self.os.rename(self.full(source), self.full(target))

    def symlink(self, text: str, path: str) -> None:
        self.os.symlink(self.root + text if text.startswith("/") else text, self.full(path))

    def link(self, source: str, path: str) -> None:
        self.os.link(self.full(source), self.full(path), follow_symlinks=False)

    def readlink(self, path: str) -> str:
        return self.os.readlink(self.full(path)).removeprefix(self.root)  # type: ignore[no-any-return]

    def chmod(self, path: str, mode: int) -> None:
        self.os.chmod(self.full(path), mode)

    def utime(
        self, path: str, mtime: float, *, atime: float | None = None, follow: bool = True
    ) -> None:
        self.os.utime(
            self.full(path), (mtime if atime is None else atime, mtime), follow_symlinks=follow
        )

    def mkfifo(self, path: str, mode: int = 0o644) -> None:
        self.os.mkfifo(self.full(path), mode)
