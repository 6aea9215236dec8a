"""Skills out of archives: zip and tar, read in memory, bounded before anything is unpacked.

Nothing is written to a disk and nothing is run. What an archive claims is checked against what it holds.
"""

from __future__ import annotations

import bz2
import io
import lzma
import posixpath
import stat
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillLimitError, SkillPathError
from agentsandbox.skills.paths import clean_path, contained
from agentsandbox.skills.skill import SKILL_FILE, AgentSkill
from agentsandbox.skills.sources import MAX_BYTES, MAX_FILES, SKIPPED_DIRECTORIES, SkillFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["skills_in", "unpack"]

MAX_DIRECTORY = 4 * 1024 * 1024
"""Bytes of a zip archive's list of members."""
TAR_OVERHEAD = 1024 * (MAX_FILES + 1)
_END = struct.Struct("<4s4H2LH")


def unpack(data: bytes) -> list[SkillFile]:
    """The files in a zip or tar archive (plain, gzip, bzip2, xz). `InvalidSkillError` for what is none, `SkillLimitError` for too much."""
    try:
        if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return list(_from_zip(data))
        return list(_from_tar(_decompressed(data)))
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise InvalidSkillError(f"the archive cannot be read: {error}") from None
    except RuntimeError as error:  # what zipfile raises for an encrypted member
        raise InvalidSkillError(f"the archive cannot be read: {error}") from None


def skills_in(files: Iterable[SkillFile], name: str | None = None, below: str = "") -> list[AgentSkill]:
    """The skills among files: one at the top, or one in each directory with a SKILL.md, at most two levels down.

    `name` is the directory's of a skill at the top, `below` the directory to look in. Each is checked; one that is invalid
    makes all of them so.
    """
    prefix = f"{below.strip('/')}/" if below.strip("/") else ""
    named = [(_clean(file), file) for file in files]
    inside = {path[len(prefix) :]: file for path, file in named if path.startswith(prefix)}
    roots = sorted({posixpath.dirname(path) for path in inside if posixpath.basename(path).lower() == SKILL_FILE.lower()})
    roots = [root for root in roots if root.count("/") <= 1 and not any(_is_below(root, other) for other in roots)]
    if not roots:
        raise InvalidSkillError("there is no SKILL.md")
    found = [_skill(inside, root, name) for root in roots]
    names = [skill.name for skill in found]
    if len(set(names)) < len(names):
        raise InvalidSkillError("two skills have one name")
    return found


def _clean(file: SkillFile) -> str:
    try:
        return clean_path(file.relative_path)
    except SkillPathError as error:
        raise InvalidSkillError(f"{file.relative_path[:200]!r}: {error}") from None


def _is_below(root: str, other: str) -> bool:
    return root != other and (other == "" or root.startswith(f"{other}/"))


def _skill(files: Mapping[str, SkillFile], root: str, name: str | None) -> AgentSkill:
    start = f"{root}/" if root else ""
    chosen = [
        SkillFile(path[len(start) :], file.content, file.executable, file.link)
        for path, file in files.items()
        if path.startswith(start) and SKIPPED_DIRECTORIES.isdisjoint(path[len(start) :].split("/")[:-1])
    ]
    leaving = [f"{file.relative_path}: the link leaves the skill" for file in chosen if not _stays(file)]
    if leaving:
        raise InvalidSkillError("; ".join(leaving), leaving)
    return AgentSkill(chosen, directory=posixpath.basename(root) or name)


def _stays(file: SkillFile) -> bool:
    return file.link is None or contained(file.relative_path, file.link)


class _Room:
    """How much more may be unpacked."""

    def __init__(self) -> None:
        self.files = MAX_FILES
        self.bytes = MAX_BYTES

    def take(self, size: int) -> None:
        self.files -= 1
        self.bytes -= size
        if self.files < 0 or self.bytes < 0:
            raise SkillLimitError(f"the archive holds more than {MAX_FILES} files or {MAX_BYTES} bytes")


def _from_zip(data: bytes) -> Iterator[SkillFile]:
    end = data.rfind(b"PK\x05\x06")
    if end < 0 or end + _END.size > len(data) or _END.unpack_from(data, end)[5] > MAX_DIRECTORY:
        raise SkillLimitError("the archive lists too many files")
    room = _Room()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            room.take(member.file_size)
            with archive.open(member) as file:
                content = file.read(member.file_size + 1)
            if len(content) > member.file_size:
                raise SkillLimitError(f"{member.filename[:200]!r} is larger than the archive says")
            mode = member.external_attr >> 16
            path = member.filename.removeprefix("./")
            if stat.S_ISLNK(mode):
                yield SkillFile(path, b"", link=str(content[:4096], "utf-8", "replace"))
            elif mode and stat.S_IFMT(mode) and not stat.S_ISREG(mode):
                raise InvalidSkillError(f"{path[:200]!r}: not a regular file")
            else:
                yield SkillFile(path, content, bool(mode & 0o100) or content.startswith(b"#!"))


def _from_tar(data: bytes) -> Iterator[SkillFile]:
    room = _Room()
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            path = member.name.removeprefix("./")
            if member.isdir() or path == "pax_global_header":
                continue
            room.take(member.size)
            if member.issym():
                yield SkillFile(path, b"", link=member.linkname)
                continue
            file = archive.extractfile(member) if member.isreg() and not member.issparse() else None
            if file is None:
                raise InvalidSkillError(f"{path[:200]!r}: not a regular file")
            content = file.read(member.size)
            yield SkillFile(path, content, bool(member.mode & 0o100) or content.startswith(b"#!"))


def _decompressed(data: bytes) -> bytes:
    """The data without its compression, never more than an archive may hold."""
    most = MAX_BYTES + TAR_OVERHEAD
    if data.startswith(b"\x1f\x8b"):
        engine = zlib.decompressobj(31)
        plain = engine.decompress(data, most + 1)
    elif data.startswith(b"BZh"):
        plain = bz2.BZ2Decompressor().decompress(data, most + 1)
    elif data.startswith(b"\xfd7zXZ\x00"):
        plain = lzma.LZMADecompressor(memlimit=128 * 1024 * 1024).decompress(data, most + 1)
    else:
        plain = data
    if len(plain) > most:
        raise SkillLimitError(f"the archive holds more than {MAX_BYTES} bytes")
    return plain
