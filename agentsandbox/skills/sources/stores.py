"""Places that hold several skills: a folder of the host, a package, an archive, a directory of the
sandbox.

A store lists its skills without reading them: what a catalog needs is each one's directory, a stamp
that changes when SKILL.md does, and the file itself to read the front matter from.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import stat
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentsandbox.errors import InvalidSkillError
from agentsandbox.skills.paths import clean_path
from agentsandbox.skills.sources.archives import DAMAGE, check_methods, lists_too_much
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
        """What a front matter is read from."""

        def readline(self, size: int = -1, /) -> bytes: ...

        def close(self) -> None: ...


__all__ = [
    "Candidate",
    "HostSkills",
    "PackageSkills",
    "SkillStore",
    "VirtualSkillSource",
    "VirtualSkills",
    "ZipSkills",
]

SKILL_FILE = "SKILL.md"
ZIP_END = 1024 + 0xFFFF
"""Where the end of a zip archive's list of members is: a comment may follow it."""
ZIP_HEAD = 1024 * 1024
UNLISTED = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that no directory of a skill has in its name."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A directory that may be a skill. `open` raises `OSError` when its SKILL.md cannot be read."""

    directory: str
    stamp: object
    """Equal as long as SKILL.md was not changed; None where that cannot be told."""
    size: int
    open: Callable[[], LineFile]
    source: SkillSource
    location: str
    """Where the host, or the sandbox, has its SKILL.md."""
    mount_path: str | None = None
    """Where the sandbox has the directory already."""


class SkillStore(Protocol):
    """A place that holds skills."""

    def candidates(self) -> Iterator[Candidate]:
        """Its skills, sorted by directory; nothing when the place is not there. Raises `OSError`
        when it cannot be read.
        """
        ...


def is_listed(name: str) -> bool:
    """Whether a directory of that name is looked into."""
    return (
        name != ""
        and not name.startswith(".")
        and name not in SKIPPED_DIRECTORIES
        and not UNLISTED.search(name)
    )


class HostSkills:
    """The skills in a folder of the host: its immediate subdirectories, or the folder itself when
    it is a skill.
    """

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
    """What the system says of a file, None when it is not there, or went away meanwhile."""
    try:
        return os.lstat(file)
    except OSError:
        return None


def _other_case(path: str) -> str:
    """The directory's SKILL.md however it is spelt, "" without one."""
    try:
        return next(
            (
                os.path.join(path, name)
                for name in os.listdir(path)
                if name.lower() == SKILL_FILE.lower()
            ),
            "",
        )
    except OSError:
        return ""


def _open_inside(file: str, directory: str) -> BinaryIO:
    """Open a regular file that is, links followed, inside the directory."""
    if os.path.islink(file):
        file = os.path.realpath(file)
        if not file.startswith(os.path.realpath(directory) + os.sep):
            raise PermissionError(errno.EPERM, "the link leaves the skill", SKILL_FILE)
    return _open_regular(file, OPEN_FLAGS)


def _open_regular(file: str, flags: int) -> BinaryIO:
    """Open a regular file; never waits for a pipe."""
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
            for found in HostSkills(place).candidates():
                yield Candidate(
                    found.directory,
                    found.stamp,
                    found.size,
                    found.open,
                    found.source,
                    found.location,
                )
        elif place.is_dir():
            for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
                if is_listed(entry.name) and entry.is_dir():
                    yield from self._candidate(entry)

    def _candidate(self, directory: Traversable) -> Iterator[Candidate]:
        file = next(
            (entry for entry in directory.iterdir() if entry.name.lower() == SKILL_FILE.lower()),
            None,
        )
        if file is None or not file.is_file():
            return
        resource = posixpath.join(self.resource, directory.name)
        source = PackageSkillSource(self.package, resource)
        location = f"{self.package}:{resource}/{file.name}"
        yield Candidate(
            directory.name, (self.package, resource), 0, lambda: file.open("rb"), source, location
        )


class ZipSkills:
    """The skills in a zip archive of the host: one directory each, at its top or inside its only
    directory.
    """

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
                if (
                    name.lower() == SKILL_FILE.lower()
                    and len(parts) <= 2
                    and all(map(is_listed, parts))
                ):
                    stamp = (info.st_mtime_ns, info.st_size, member.CRC, member.filename)
                    source = ZipSkillSource(self.path, prefix)
                    opener = ZipMember(self.path, member.filename, archive)
                    yield Candidate(
                        source.directory,
                        stamp,
                        member.file_size,
                        opener,
                        source,
                        f"{self.path}!/{member.filename}",
                    )


@contextmanager
def _reading(path: str) -> Iterator[zipfile.ZipFile]:
    """A zip archive to read from; `OSError` for one that is damaged, encrypted or none."""
    with _damage(path), _open_regular(path, OPEN_FLAGS & ~vars(os).get("O_NOFOLLOW", 0)) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - ZIP_END))
        if lists_too_much(file.read(ZIP_END)):
            raise zipfile.BadZipFile("it lists too many files, or none")
        with zipfile.ZipFile(file) as archive:
            check_methods(archive)
            yield archive


@contextmanager
def _damage(path: str) -> Iterator[None]:
    """What is wrong with an archive is an `OSError`."""
    try:
        yield
    except DAMAGE as error:
        raise OSError(
            errno.EINVAL, f"the archive cannot be read: {error}", os.path.basename(path)
        ) from None


@dataclass(frozen=True, slots=True)
class ZipMember:
    """Opens one file of an archive, as much of it as a front matter may have; without looking for
    it again while the archive is open.
    """

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
                    raise InvalidSkillError(too_much(), [too_much()])
                with archive.open(member) as file:
                    data = file.read(member.file_size)
                left -= len(data)
                mode = member.external_attr >> 16
                if stat.S_ISLNK(mode):
                    yield SkillFile(
                        member.filename[len(start) :], b"", link=str(data, "utf-8", "replace")
                    )
                else:
                    yield SkillFile(
                        member.filename[len(start) :],
                        data,
                        bool(mode & 0o100) or data.startswith(b"#!"),
                    )


class VirtualSkills:
    """The skills in a directory of a sandbox's filesystem: what an agent writes there is found at
    the next refresh.
    """

    def __init__(self, fs: FileSystem, path: str) -> None:
        self.fs = fs
        self.path = posixpath.normpath(path)

    def state(self) -> tuple[object, ...]:
        """Another value whenever a SKILL.md came, changed or went."""
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
                except OSError:  # it went away meanwhile, or nobody may look into it
                    continue

    def _candidates(self, name: str, directory: str) -> Iterator[Candidate]:
        if not self.fs.stat(directory, follow=False).is_dir:
            return
        found = [
            entry for entry in self.fs.listdir(directory) if entry.lower() == SKILL_FILE.lower()
        ]
        if found:
            yield self._candidate(
                name,
                directory,
                posixpath.join(directory, SKILL_FILE if SKILL_FILE in found else found[0]),
            )

    def _candidate(self, name: str, directory: str, file: str) -> Candidate:
        info = self.fs.stat(file, follow=False)

        def opened() -> LineFile:
            if not info.is_file:
                raise OSError(errno.EINVAL, "not a regular file", SKILL_FILE)
            return BytesIO(self.fs.read_bytes(file))

        source = VirtualSkillSource(self.fs, directory)
        return Candidate(
            name, (info.mtime, info.size, info.ino), info.size, opened, source, file, directory
        )


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
                    yield SkillFile(
                        relative,
                        self.fs.read_bytes(path),
                        bool(info.mode & 0o100),
                        modified=info.mtime,
                    )
