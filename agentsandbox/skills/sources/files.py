"""Sources of a skill's files: a folder of the host, a package, memory.

A source is read once, when the skill is made. Nothing that it yields leads out of the skill: links
that leave it, special files and names that cannot be used are refused together in one error, or
left out if the host asks for that. More files or bytes than the maximum are always refused.

A folder of the host is walked by descriptors: each directory is opened relative to its parent and
never through a link, so that a link that appears during the walk leads nowhere.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentsandbox.errors import InvalidSkillError, SkillNotFoundError, SkillPathError
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.paths import DEPTH_MAX, clean_path, contained

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable
    from os import DirEntry

MAX_FILES = 5000
MAX_BYTES = 64 * 1024 * 1024
SKIPPED_DIRECTORIES = frozenset(
    (".git .hg .svn node_modules __pycache__ .venv .mypy_cache .pytest_cache .ruff_cache").split()
)
"""Directories that are never part of a skill."""

OPEN_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # each where the system has it
    OPEN_FLAGS |= vars(os).get(_flag, 0)


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One file of a skill.

    relative_path  the path below the skill's root, with "/"
    content        the bytes; b"" for a link
    executable     whether the file may be executed
    link           the text of a symbolic link, else None
    modified       the time of the last change in seconds since the epoch, None if it is not known
    """

    relative_path: str
    content: bytes
    executable: bool = False
    link: str | None = None
    modified: float | None = field(default=None, compare=False)

    def sha256(self) -> str:
        """Return the hexadecimal sha256 of the content, for a link that of "-> " and its text."""
        content = self.content if self.link is None else b"-> " + encode(self.link)
        return hashlib.sha256(content).hexdigest()


class SkillSource(Protocol):
    """A source of one skill's files."""

    def files(self) -> Iterator[SkillFile]:
        """Yield every file; its path is relative to the skill's root."""
        ...


class InMemorySkillSource:
    """Files as a mapping of paths to texts or bytes; `add` adds one more."""

    def __init__(self, files: Mapping[str, str | bytes] | None = None) -> None:
        self._files: dict[str, SkillFile] = {}
        if files is not None and not isinstance(files, Mapping):
            raise TypeError(
                f"files must be a mapping of paths to contents, not {type(files).__name__}"
            )
        for path, content in (files or {}).items():
            self.add(path, content)

    def add(
        self, path: str, content: str | bytes, *, executable: bool | None = None
    ) -> InMemorySkillSource:
        """Add a file and return the source itself.

        By default a file that begins with "#!" is executable. Raises `TypeError` for a path that is
        not a str and for content that is neither str nor bytes.
        """
        kinds = (str, bytes, bytearray, memoryview)
        if not isinstance(path, str) or not isinstance(content, kinds):
            raise TypeError(
                "a file of a skill has a str for its path and str or bytes in it, "
                f"not {path!r}: {content!r}"
            )
        data = encode(content) if isinstance(content, str) else bytes(content)
        runs = data.startswith(b"#!") if executable is None else executable
        self._files[path] = SkillFile(path, data, runs)
        return self

    def files(self) -> Iterator[SkillFile]:
        yield from self._files.values()


class FileSystemSkillSource:
    """A folder of the host, read byte for byte. Links that stay inside are kept as links.

    With `leave_out` a file that is refused is left out and listed in `left_out`, and the others are
    read.
    """

    def __init__(self, path: str | os.PathLike[str], *, leave_out: bool = False) -> None:
        self.path = Path(path)
        self.leave_out = leave_out
        self.left_out: list[str] = []

    @property
    def directory(self) -> str:
        """The folder's own name."""
        return self.path.name or self.path.resolve().name

    def files(self) -> Iterator[SkillFile]:
        if not self.path.is_dir():
            kind = "is not a directory" if self.path.exists() else "does not exist"
            raise SkillNotFoundError(f"the skill directory {self.directory!r} {kind}")
        reading = _Reading()
        try:
            with _opened(None, str(self.path), follow=True) as root:
                reading.directory(root, str(self.path), "")
        except OSError as error:  # it was removed meanwhile, or may not be read
            reason = os.strerror(error.errno or errno.EIO)
            problem = f"the skill directory {self.directory!r} cannot be read: {reason}"
            raise InvalidSkillError(problem) from None
        problems = reading.problems
        if problems and (reading.full or not self.leave_out):
            raise InvalidSkillError("; ".join(problems), problems)
        self.left_out = problems
        yield from reading.found


class PackageSkillSource:
    """A directory of an installed package, which may be in a zip archive."""

    def __init__(self, package: str, resource: str) -> None:
        self.package = package
        self.resource = clean_path(resource)

    @property
    def directory(self) -> str:
        """The directory's own name."""
        return self.resource.rsplit("/", 1)[-1]

    def files(self) -> Iterator[SkillFile]:
        try:
            root = resources.files(self.package).joinpath(self.resource)
        except ModuleNotFoundError:
            raise SkillNotFoundError(f"there is no package {self.package!r}") from None
        if isinstance(root, Path):
            yield from FileSystemSkillSource(root).files()
        elif root.is_dir():
            yield from _resource_files(root, "")
        else:
            raise SkillNotFoundError(
                f"there is no directory {self.resource!r} in the package {self.package!r}"
            )


def _resource_files(directory: Traversable, prefix: str) -> Iterator[SkillFile]:
    for entry in sorted(directory.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            if entry.name not in SKIPPED_DIRECTORIES:
                yield from _resource_files(entry, f"{prefix}{entry.name}/")
        else:
            data = entry.read_bytes()
            yield SkillFile(prefix + entry.name, data, data.startswith(b"#!"))


@contextmanager
def _opened(parent: int | None, path: str, *, follow: bool = False) -> Iterator[int | str]:
    """Yield a descriptor of a directory, or its path where the system lacks openat."""
    if os.open not in os.supports_dir_fd or os.scandir not in os.supports_fd:
        yield path
        return
    flags = OPEN_FLAGS | os.O_DIRECTORY
    descriptor = os.open(path, flags & ~os.O_NOFOLLOW if follow else flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def too_much() -> str:
    """Return the message for a skill that is larger than the maximum."""
    return f"the skill holds more than {MAX_FILES} files or {MAX_BYTES} bytes"


class _Reading:
    """One walk through a folder: the files found and the problems, up to the maximum."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.found: list[SkillFile] = []
        self.size = 0
        self.full = False

    def directory(self, here: int | str, path: str, prefix: str) -> None:
        if prefix.count("/") > DEPTH_MAX:
            self.problems.append(f"{prefix}: directories are nested too deeply")
            return
        with os.scandir(here) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        for entry in listed:
            if self.full:
                return
            self.entry(here, path, prefix + entry.name, entry)

    def entry(self, here: int | str, path: str, relative: str, entry: DirEntry[str]) -> None:
        parent = here if isinstance(here, int) else None
        name = entry.name if parent is not None else os.path.join(path, entry.name)
        try:
            if entry.is_symlink():
                self.link(os.readlink(name, dir_fd=parent), relative)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED_DIRECTORIES:
                    with _opened(parent, name) as below:
                        self.directory(below, os.path.join(path, entry.name), f"{relative}/")
            elif entry.is_file(follow_symlinks=False):
                self.file(parent, name, relative)
            else:
                self.problems.append(f"{relative}: not a regular file")
        except OSError as error:
            self.problems.append(f"{relative}: {os.strerror(error.errno or errno.EIO)}")

    def link(self, target: str, relative: str) -> None:
        if contained(relative, target):
            self.add(SkillFile(relative, b"", link=target))
        else:
            self.problems.append(f"{relative}: the link leaves the skill")

    def file(self, parent: int | None, name: str, relative: str) -> None:
        descriptor = os.open(name, OPEN_FLAGS, dir_fd=parent)
        try:
            opened = os.fdopen(descriptor, "rb")
        except OSError:
            os.close(descriptor)
            raise
        with opened as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                self.problems.append(f"{relative}: not a regular file")
                return
            data = file.read(MAX_BYTES - self.size + 1)
        runs = bool(info.st_mode & 0o100) or data.startswith(b"#!")
        self.add(SkillFile(relative, data, runs, modified=info.st_mtime))

    def add(self, file: SkillFile) -> None:
        try:
            clean_path(file.relative_path)
        except SkillPathError as error:
            self.problems.append(f"{file.relative_path!r}: {error}")
            return
        self.size += len(file.content)
        if self.size > MAX_BYTES or len(self.found) >= MAX_FILES:
            self.problems.append(too_much())
            self.full = True
            return
        self.found.append(file)
