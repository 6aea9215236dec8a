"""A folder of the host, read into members or written from members.

This is the only module of `files` that touches the host.
Every directory is opened by a descriptor, name by name from the folder down, without following a
link (O_NOFOLLOW), and names are used relative to that descriptor. So a link that is in the folder,
or that appears while it is looked at, leads nowhere. A file is written beside its place under a
random name and then renamed, so that nobody sees half of one. Errors name the path on the host.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat as stat_module
from contextlib import contextmanager

from agentsandbox.files.members import Member, Room, as_time, special_file, stays_inside
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, BinaryIO, TypeAlias

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.limits import Limits

    _Passed: TypeAlias = frozenset[tuple[int, int]]
    """The devices and inodes of the directories above, to notice a directory inside itself."""
    _Visit: TypeAlias = tuple[str, _Passed]

_BLOCK = 1 << 20
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_WAITLESS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)


class _Folder:
    """An open folder of the host. A context manager."""

    def __init__(self, path: str) -> None:
        if os.open not in os.supports_dir_fd or not _NO_FOLLOW:
            raise OSError(errno.ENOTSUP, "Copying folders needs openat and O_NOFOLLOW", path)
        self.path = path
        self.number = os.open(path, _DIRECTORY)

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        os.close(self.number)

    def host_path(self, path: str) -> str:
        """Return the path on the host, for errors."""
        return os.path.join(self.path, path)

    @contextmanager
    def directory(self, path: str, *, follow: bool = False) -> Iterator[int]:
        """Open a directory below and yield its descriptor."""
        flags = _DIRECTORY | (0 if follow else _NO_FOLLOW)
        number = os.dup(self.number)
        try:
            for name in filter(None, path.split("/")):
                try:
                    below = os.open(encode(name), flags, dir_fd=number)
                except OSError as error:
                    raise _named(error, self.host_path(path)) from None
                os.close(number)
                number = below
            yield number
        finally:
            os.close(number)


def _file_of(opened: int, mode: str, buffering: int = -1) -> Any:
    """Return a file object for a descriptor; close the descriptor if that fails."""
    try:
        return os.fdopen(opened, mode, buffering)
    except OSError:
        os.close(opened)
        raise


def _named(error: OSError, path: str) -> OSError:
    """Return the error with the path on the host instead of a bare name."""
    return OSError(error.errno, error.strerror, path)


# reading


def read_file(source: str | BinaryIO, most: int) -> bytes:
    """Return all bytes of a host file, given by path or open; EFBIG for more than `most`."""
    if isinstance(source, str):
        with open(source, "rb") as file:
            return read_file(file, most)
    blocks: list[bytes] = []
    size = 0
    while block := source.read(_BLOCK):
        if not isinstance(block, bytes):
            raise TypeError(
                f"source must be a binary file, but its read() returned {type(block).__name__}"
            )
        size += len(block)
        if size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), getattr(source, "name", None))
        blocks.append(block)
    return b"".join(blocks)


def read_folder(
    path: str,
    limits: Limits,
    budget: Budget,
    *,
    ignore: Sequence[str] | Callable[[str], object],
    follow_symlinks: bool,
) -> list[Member]:
    """Return what is in a folder of the host, each directory before what is in it."""
    with _Folder(path) as folder:
        return list(_Reader(folder, limits, budget, _ignored(ignore), follow_symlinks).members())


def _ignored(ignore: Sequence[str] | Callable[[str], object]) -> Callable[[str], object]:
    """Return a test of relative paths; a pattern without a slash is matched against the name."""
    if callable(ignore):
        return ignore
    patterns = [ignore] if isinstance(ignore, str) else ignore
    texts = [pattern.rstrip("/") for pattern in patterns]
    whole = [compile_glob(text.lstrip("/"), pathname=True) for text in texts if "/" in text]
    names = [compile_glob(text) for text in texts if "/" not in text]

    def is_ignored(path: str) -> bool:
        name = posixpath.basename(path)
        return any(each.fullmatch(name) for each in names) or any(
            each.fullmatch(path) for each in whole
        )

    return is_ignored


class _Reader:
    """Reads a folder, with `follow` also what links lead to; a loop is then ELOOP."""

    def __init__(
        self,
        folder: _Folder,
        limits: Limits,
        budget: Budget,
        is_ignored: Callable[[str], object],
        follow: bool,
    ) -> None:
        self.folder = folder
        self.room = Room(limits)
        self.budget = budget
        self.is_ignored = is_ignored
        self.follow = follow

    def members(self) -> Iterator[Member]:
        top = os.fstat(self.folder.number)
        pending: list[_Visit] = [("", frozenset([(top.st_dev, top.st_ino)]))]
        while pending:
            here, passed = pending.pop()
            directories: list[_Visit] = []
            with self.folder.directory(here, follow=self.follow) as number:
                for name in sorted(os.listdir(number)):
                    self.budget.step()
                    path = posixpath.join(here, decode(os.fsencode(name)))
                    if self.is_ignored(path):
                        continue
                    info = self._stat(name, number, path)
                    if stat_module.S_ISDIR(info.st_mode):
                        directories.append((path, self._passed(passed, info, path)))
                        self.room.take(path)
                        mtime = as_time(info.st_mtime)
                        yield Member(path, "directory", mode=info.st_mode, mtime=mtime)
                    else:
                        yield self._member(name, number, path, info)
            pending.extend(reversed(directories))

    def _stat(self, name: str, number: int, path: str) -> os.stat_result:
        try:
            return os.stat(name, dir_fd=number, follow_symlinks=self.follow)
        except OSError as error:
            raise _named(error, self.folder.host_path(path)) from None

    def _passed(self, passed: _Passed, info: os.stat_result, path: str) -> _Passed:
        """Return the directories on the way, this one included."""
        if not self.follow:
            return passed
        identity = (info.st_dev, info.st_ino)
        if identity in passed:
            where = self.folder.host_path(path)
            raise OSError(errno.ELOOP, "A link to a directory that it is in", where)
        return passed | {identity}

    def _member(self, name: str, number: int, path: str, info: os.stat_result) -> Member:
        host_path = self.folder.host_path(path)
        try:
            if stat_module.S_ISLNK(info.st_mode):
                return self._link(decode(os.fsencode(os.readlink(name, dir_fd=number))), path, info)
            if not stat_module.S_ISREG(info.st_mode):
                raise special_file(host_path)
            self.room.take(path, info.st_size)
            flags = os.O_RDONLY | _WAITLESS | (0 if self.follow else _NO_FOLLOW)
            opened = os.open(name, flags, dir_fd=number)
            with _file_of(opened, "rb", buffering=0) as file:
                if not stat_module.S_ISREG(os.fstat(opened).st_mode):
                    raise special_file(host_path)
                content = self._content(file, info.st_size)
        except OSError as error:
            raise _named(error, host_path) from None
        mtime = as_time(info.st_mtime)
        return Member(path, "file", mode=info.st_mode, mtime=mtime, content=content)

    def _content(self, file: BinaryIO, size: int) -> bytes:
        """Return the content of a file, no more than its size was: it may be growing."""
        blocks: list[bytes] = []
        while size > 0 and (block := file.read(min(size, _BLOCK))):
            self.budget.check_time()
            blocks.append(block)
            size -= len(block)
        return b"".join(blocks)

    def _link(self, text: str, path: str, info: os.stat_result) -> Member:
        start = f"{os.path.realpath(self.folder.path).rstrip('/')}/"
        if f"{text}/".startswith(start):
            text = "../" * path.count("/") + (text[len(start) :] or ".")
        if not stays_inside(path, text):
            hint = "name it in ignore, or pass follow_symlinks=True"
            raise OSError(errno.EPERM, f"A link that leads out of the folder ({hint})")
        self.room.take(path, len(text))
        return Member(path, "link", mtime=as_time(info.st_mtime), text=text)


# writing


def write_folder(
    path: str, members: Sequence[Member], read: Callable[[Member], bytes], *, overwrite: bool
) -> list[str]:
    """Write members into a folder of the host; return the host paths of files and links.

    The folder is made if it is missing. Without `overwrite` nothing at all is written when one of
    the files is there already (EEXIST).
    """
    os.makedirs(path, exist_ok=True)
    with _Folder(path) as folder:
        _check_targets(folder, members, overwrite=overwrite)
        written: list[str] = []
        for parent, group in _by_parent(members).items():
            with folder.directory(parent) as number:
                for member in group:
                    _write(number, member, read, folder.host_path(member.path))
                    if member.kind != "directory":
                        written.append(folder.host_path(member.path))
        return written


def _by_parent(members: Iterable[Member]) -> dict[str, list[Member]]:
    """Return directory → the members in it; the directories are in the members' order."""
    groups: dict[str, list[Member]] = {}
    for member in members:
        groups.setdefault(posixpath.dirname(member.path), []).append(member)
    return groups


def _check_targets(folder: _Folder, members: Iterable[Member], *, overwrite: bool) -> None:
    """Raise for what is in the way before anything is written; links may not be passed through."""
    for parent, group in _by_parent(members).items():
        try:
            with folder.directory(parent) as number:
                for member in group:
                    _check_target(number, member, folder.host_path(member.path), overwrite)
        except FileNotFoundError:
            continue


def _check_target(number: int, member: Member, where: str, overwrite: bool) -> None:
    name = encode(posixpath.basename(member.path))
    try:
        mode = os.stat(name, dir_fd=number, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if member.kind == "directory":
        if not stat_module.S_ISDIR(mode):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), where)
    elif stat_module.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), where)
    elif not overwrite:
        raise OSError(errno.EEXIST, "File exists (overwrite=True replaces it)", where)


def _write(number: int, member: Member, read: Callable[[Member], bytes], host_path: str) -> None:
    """Write one member into an open directory; the owner may always read and write it."""
    name = encode(posixpath.basename(member.path))
    if member.kind == "directory":
        try:
            os.mkdir(name, member.mode | 0o700, dir_fd=number)
        except FileExistsError:
            return  # `_check_targets` made sure that it is a directory
        except OSError as error:
            raise _named(error, host_path) from None
        return
    content = read(member) if member.kind == "file" else b""
    beside = b".%s.part" % encode(os.urandom(8).hex())
    try:
        if member.kind == "link":
            os.symlink(encode(member.text), beside, dir_fd=number)
        else:
            _write_file(number, beside, member, content)
        try:
            os.rename(beside, name, src_dir_fd=number, dst_dir_fd=number)
        except OSError:
            os.unlink(beside, dir_fd=number)
            raise
    except OSError as error:
        raise _named(error, host_path) from None


def _write_file(number: int, name: bytes, member: Member, content: bytes) -> None:
    """Write a new file; remove it again if that fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _WAITLESS
    opened = os.open(name, flags, member.mode | 0o600, dir_fd=number)
    try:
        with _file_of(opened, "wb") as file:
            file.write(content)
        os.utime(name, (member.mtime, member.mtime), dir_fd=number, follow_symlinks=False)
    except OSError:
        os.unlink(name, dir_fd=number)
        raise
