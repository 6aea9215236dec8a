"""Stores of several skills: a folder or a zip archive of the host, a package, a sandbox's folder.

A store lists its skills without reading them. For each it gives a catalog the directory, a stamp
that changes when SKILL.md does, and a function that opens SKILL.md.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import stat
import struct
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentsandbox.errors import InvalidSkillError
from agentsandbox.files.archives import DAMAGE
from agentsandbox.skills.paths import clean_path
from agentsandbox.skills.sources.files import (
    MAX_BYTES,
    OPEN_FLAGS,
    SKIPPED_DIRECTORIES,
    FileSystemSkillSource,
    PackageSkillSource,
    SkillFile,
    too_much,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.resources.abc import Traversable
    from typing import BinaryIO

    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.skills.sources.files import SkillSource

    class LineFile(Protocol):
        """A file from which a front matter is read."""

        def readline(self, size: int = -1, /) -> bytes: ...

        def close(self) -> None: ...


SKILL_FILE = "SKILL.md"
ZIP_END = 1024 + 0xFFFF
"""The last bytes of a zip archive: the end of its list of members and a comment."""
ZIP_HEAD = 1024 * 1024
MAX_DIRECTORY = 4 * 1024 * 1024
"""The most bytes of a zip archive's list of members."""
_END = struct.Struct("<4s4H2LH")
UNLISTED = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that the name of a skill's directory never has."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A directory that may be a skill.

    directory   its name
    stamp       a value that changes when SKILL.md does; None if that is not known
    size        the bytes of SKILL.md
    open        opens SKILL.md; raises `OSError`
    source      the source of the skill's files
    location    the path of SKILL.md on the host or in the sandbox
    mount_path  the directory's path in the sandbox, if it is there already
    """

    directory: str
    stamp: object
    size: int
    open: Callable[[], LineFile]
    source: SkillSource
    location: str
    mount_path: str | None = None


class SkillStore(Protocol):
    """A place that holds skills."""

    def candidates(self) -> Iterator[Candidate]:
        """Yield the skills, sorted by directory; none if the place does not exist.

        Raises `OSError` if it cannot be read.
        """
        ...


def is_listed(name: str) -> bool:
    """Whether a directory of that name may be a skill."""
    return (
        name != ""
        and not name.startswith(".")
        and name not in SKIPPED_DIRECTORIES
        and not UNLISTED.search(name)
    )


class HostSkills:
    """The skills in a folder of the host: its subdirectories, or the folder itself if it is one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(os.path.expanduser(os.fspath(path)))

    def candidates(self) -> Iterator[Candidate]:
        try:
            info = os.stat(self.path)
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(info.st_mode):
            raise NotADirectoryError(
                errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.path.basename(self.path)
            )
        if os.path.lexists(os.path.join(self.path, SKILL_FILE)):
            yield from self._candidate(os.path.basename(self.path), self.path)
            return
        root = os.path.realpath(self.path)
        with os.scandir(self.path) as entries:
            found = sorted(
                (entry for entry in entries if is_listed(entry.name)), key=lambda entry: entry.name
            )
        for entry in found:
            if entry.is_symlink() and not os.path.realpath(entry.path).startswith(root + os.sep):
                continue
            if os.path.isdir(entry.path):
                yield from self._candidate(entry.name, entry.path)

    def _candidate(self, directory: str, path: str) -> Iterator[Candidate]:
        file = os.path.join(path, SKILL_FILE)
        info = _state(file)
        if info is None:
            file = _other_case(path)
            info = _state(file) if file else None
            if info is None:
                return
        stamp = (info.st_mtime_ns, info.st_size, info.st_ino)
        yield Candidate(
            directory,
            stamp,
            info.st_size,
            lambda: _open_inside(file, path),
            FileSystemSkillSource(path, leave_out=True),
            file,
        )


def _state(file: str) -> os.stat_result | None:
    """Return the status of a file, None if it does not exist or cannot be looked at."""
    try:
        return os.lstat(file)
    except OSError:
        return None


def _other_case(path: str) -> str:
    """Return the directory's SKILL.md in any case, "" without one."""
    try:
        names = os.listdir(path)
    except OSError:
        return ""
    found = [name for name in names if is_skill_file(name)]
    return os.path.join(path, found[0]) if found else ""


def is_skill_file(name: str) -> bool:
    """Whether a file's name is SKILL.md in any case."""
    return name.lower() == SKILL_FILE.lower()


def _open_inside(file: str, directory: str) -> BinaryIO:
    """Open a regular file of a directory; links are followed as long as they stay in it."""
    if os.path.islink(file):
        file = os.path.realpath(file)
        if not file.startswith(os.path.realpath(directory) + os.sep):
            raise PermissionError(errno.EPERM, "the link leaves the skill", SKILL_FILE)
    return _open_regular(file, OPEN_FLAGS)


def _open_regular(file: str, flags: int) -> BinaryIO:
    """Open a regular file, without waiting for a pipe."""
    descriptor = os.open(file, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", os.path.basename(file))
    return os.fdopen(descriptor, "rb")


class PackageSkills:
    """The skills in an installed package, or in a directory of it."""

    def __init__(self, package: str, resource: str = "") -> None:
        self.package = package
        self.resource = clean_path(resource) if resource else ""

    def candidates(self) -> Iterator[Candidate]:
        try:
            root = resources.files(self.package)
        except ModuleNotFoundError:
            return
        place = root.joinpath(self.resource) if self.resource else root
        if isinstance(place, Path):
            yield from HostSkills(place).candidates()
        elif place.is_dir():
            for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
                if is_listed(entry.name) and entry.is_dir():
                    yield from self._candidate(entry)

    def _candidate(self, directory: Traversable) -> Iterator[Candidate]:
        file = next((entry for entry in directory.iterdir() if is_skill_file(entry.name)), None)
        if file is None or not file.is_file():
            return
        resource = posixpath.join(self.resource, directory.name)
        source = PackageSkillSource(self.package, resource)
        location = f"{self.package}:{resource}/{file.name}"
        yield Candidate(
            directory.name, (self.package, resource), 0, lambda: file.open("rb"), source, location
        )


class ZipSkills:
    """The skills in a zip archive of the host, at most two directories deep."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(os.path.expanduser(os.fspath(path)))

    def candidates(self) -> Iterator[Candidate]:
        try:
            info = os.stat(self.path)
        except FileNotFoundError:
            return
        with _reading(self.path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            for member in sorted(members, key=lambda member: member.filename):
                prefix, _, name = member.filename.rpartition("/")
                parts = prefix.split("/")
                if is_skill_file(name) and len(parts) <= 2 and all(map(is_listed, parts)):
                    stamp = (info.st_mtime_ns, info.st_size, member.CRC, member.filename)
                    source = ZipSkillSource(self.path, prefix)
                    opener = ZipMember(self.path, member.filename, archive)
                    place = f"{self.path}!/{member.filename}"
                    size = member.file_size
                    yield Candidate(source.directory, stamp, size, opener, source, place)


def _lists_too_much(tail: bytes) -> bool:
    """Whether the list of members of a zip archive with this end is too large, or missing."""
    end = tail.rfind(b"PK\x05\x06")
    return (
        end < 0
        or end + _END.size > len(tail)
        or int(_END.unpack_from(tail, end)[5]) > MAX_DIRECTORY
    )


def _check_methods(archive: zipfile.ZipFile) -> None:
    """Raise for bzip2 and LZMA, of which `zipfile` always unpacks a whole block."""
    for member in archive.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            name = f"{member.filename[:200]!r}"
            raise zipfile.BadZipFile(f"{name} is compressed by a method other than deflate")


def _file_of(member: zipfile.ZipInfo, path: str, data: bytes) -> SkillFile:
    """Return a zip member as a file at a path of the skill. Raises `InvalidSkillError`."""
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return SkillFile(path, b"", link=str(data[:4096], "utf-8", "replace"))
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        raise InvalidSkillError(f"{path[:200]!r}: not a regular file")
    return SkillFile(path, data, bool(mode & 0o100) or data.startswith(b"#!"))


@contextmanager
def _reading(path: str) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; `OSError` for one that is damaged or encrypted, or for another file."""
    with _damage(path), _open_regular(path, OPEN_FLAGS & ~vars(os).get("O_NOFOLLOW", 0)) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - ZIP_END))
        if _lists_too_much(file.read(ZIP_END)):
            raise zipfile.BadZipFile("it lists too many files, or none")
        with zipfile.ZipFile(file) as archive:
            _check_methods(archive)
            yield archive


@contextmanager
def _damage(path: str) -> Iterator[None]:
    """Raise what is wrong with an archive as an `OSError`."""
    try:
        yield
    except DAMAGE as error:
        raise OSError(
            errno.EINVAL, f"the archive cannot be read: {error}", os.path.basename(path)
        ) from None


@dataclass(frozen=True, slots=True)
class ZipMember:
    """Opens the head of one file of an archive, from the open `archive` or after it was closed."""

    path: str
    name: str
    archive: zipfile.ZipFile

    def __call__(self) -> LineFile:
        if self.archive.fp is not None:
            with _damage(self.path), self.archive.open(self.name) as file:
                return BytesIO(file.read(ZIP_HEAD))
        with _reading(self.path) as archive, archive.open(self.name) as file:
            return BytesIO(file.read(ZIP_HEAD))


class ZipSkillSource:
    """One directory of a zip archive as a skill."""

    def __init__(self, path: str, prefix: str) -> None:
        self.path = path
        self.prefix = prefix

    @property
    def directory(self) -> str:
        """The directory's own name."""
        return self.prefix.rpartition("/")[2]

    def files(self) -> Iterator[SkillFile]:
        left = MAX_BYTES
        start = f"{self.prefix}/"
        with _reading(self.path) as archive:
            for member in archive.infolist():
                if member.is_dir() or not member.filename.startswith(start):
                    continue
                if member.file_size > left:
                    raise InvalidSkillError(too_much())
                with archive.open(member) as file:
                    data = file.read(member.file_size)
                left -= len(data)
                yield _file_of(member, member.filename[len(start) :], data)


class VirtualSkills:
    """The skills in a directory of a sandbox, also those that an agent writes there."""

    def __init__(self, fs: FileSystem, path: str) -> None:
        self.fs = fs
        self.path = posixpath.normpath(path)

    def state(self) -> tuple[object, ...]:
        """Return a value that changes when a SKILL.md is added, changed or removed."""
        try:
            return tuple((found.location, found.stamp) for found in self.candidates())
        except OSError as error:
            return (error.errno,)

    def candidates(self) -> Iterator[Candidate]:
        if not self.fs.exists(self.path):
            return
        for name in self.fs.listdir(self.path):
            if is_listed(name):
                try:
                    yield from self._candidates(name, posixpath.join(self.path, name))
                except OSError:  # it was removed meanwhile, or may not be read
                    continue

    def _candidates(self, name: str, directory: str) -> Iterator[Candidate]:
        if not self.fs.stat(directory, follow=False).is_dir:
            return
        found = [entry for entry in self.fs.listdir(directory) if is_skill_file(entry)]
        if found:
            file = SKILL_FILE if SKILL_FILE in found else found[0]
            yield self._candidate(name, directory, posixpath.join(directory, file))

    def _candidate(self, name: str, directory: str, file: str) -> Candidate:
        info = self.fs.stat(file, follow=False)

        def opened() -> LineFile:
            if not info.is_file:
                raise OSError(errno.EINVAL, "not a regular file", SKILL_FILE)
            return BytesIO(self.fs.read_bytes(file))

        source = VirtualSkillSource(self.fs, directory)
        stamp = (info.mtime, info.size, info.ino)
        return Candidate(name, stamp, info.size, opened, source, file, directory)


class VirtualSkillSource:
    """A directory of a sandbox's filesystem as a skill."""

    def __init__(self, fs: FileSystem, path: str) -> None:
        self.fs = fs
        self.path = path

    @property
    def directory(self) -> str:
        """The directory's own name."""
        return posixpath.basename(self.path)

    def files(self) -> Iterator[SkillFile]:
        for here, _, names in self.fs.walk(self.path):
            for name in names:
                path = posixpath.join(here, name)
                relative = posixpath.relpath(path, self.path)
                info = self.fs.stat(path, follow=False)
                if info.is_link:
                    yield SkillFile(relative, b"", link=self.fs.readlink(path))
                elif info.is_file:
                    data = self.fs.read_bytes(path)
                    runs = bool(info.mode & 0o100)
                    yield SkillFile(relative, data, runs, modified=info.mtime)
