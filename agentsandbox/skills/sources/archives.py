"""Skills out of archives: zip and tar, read in memory, bounded before anything is unpacked.

Nothing is written to a disk and nothing is run. What an archive claims is checked against what it
holds.
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
from agentsandbox.skills.sources.files import MAX_BYTES, MAX_FILES, SKIPPED_DIRECTORIES, SkillFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

__all__ = ["DAMAGE", "check_methods", "lists_too_much", "skills_in", "unpack"]

DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    LookupError,
    ArithmeticError,
    RuntimeError,
)
"""What the standard library raises for archives that are damaged, encrypted or nested too deep."""

MAX_DIRECTORY = 4 * 1024 * 1024
"""Bytes of a zip archive's list of members."""
TAR_OVERHEAD = 1024 * (MAX_FILES + 1)
TAR_BLOCK = 512
MAX_HEADER = 8 * 1024
"""Bytes of an extended header of tar, which `tarfile` reads in quadratic time."""
MAX_HEADERS = 1024 * 1024
EXTENDED = frozenset(b"xgXLK")
_END = struct.Struct("<4s4H2LH")


def unpack(data: bytes) -> list[SkillFile]:
    """The files in a zip or tar archive (plain, gzip, bzip2, xz). `InvalidSkillError` for what is
    none, `SkillLimitError` for too much.
    """
    try:
        if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return list(_from_zip(data))
        return list(_from_tar(_decompressed(data)))
    except (*DAMAGE, OSError) as error:
        raise InvalidSkillError(f"the archive cannot be read: {error}") from None


def skills_in(
    files: Iterable[SkillFile], name: str | None = None, below: str = ""
) -> list[AgentSkill]:
    """The skills among files: one at the top, or one in each directory with a SKILL.md, at most two
    levels down.

    `name` is the directory's of a skill at the top, `below` the directory to look in. Each is
    checked; one that is invalid makes all of them so.
    """
    prefix = f"{below.strip('/')}/" if below.strip("/") else ""
    named = [(_clean(file), file) for file in files]
    inside = {path[len(prefix) :]: file for path, file in named if path.startswith(prefix)}
    roots = {
        posixpath.dirname(path)
        for path in inside
        if posixpath.basename(path).lower() == SKILL_FILE.lower()
    }
    outermost = {
        root
        for root in roots
        if root.count("/") <= 1 and not (root and {"", root.partition("/")[0]} & (roots - {root}))
    }
    if not outermost:
        raise InvalidSkillError("there is no SKILL.md")
    found = [_skill(mine, root, name) for root, mine in sorted(_divided(inside, outermost).items())]
    names = [skill.name for skill in found]
    if len(set(names)) < len(names):
        raise InvalidSkillError("two skills have one name")
    return found


def _clean(file: SkillFile) -> str:
    try:
        return clean_path(file.relative_path)
    except SkillPathError as error:
        raise InvalidSkillError(f"{file.relative_path[:200]!r}: {error}") from None


def _divided(
    files: Mapping[str, SkillFile], roots: Collection[str]
) -> dict[str, dict[str, SkillFile]]:
    """The files below each root, by their paths from there."""
    divided: dict[str, dict[str, SkillFile]] = {root: {} for root in roots}
    for path, file in files.items():
        first, _, rest = path.partition("/")
        second = rest.partition("/")[0]
        root = next((root for root in ("", first, f"{first}/{second}") if root in divided), None)
        if root is not None:
            divided[root][path[len(root) + 1 if root else 0 :]] = file
    return divided


def _skill(files: Mapping[str, SkillFile], root: str, name: str | None) -> AgentSkill:
    chosen = [
        SkillFile(path, file.content, file.executable, file.link)
        for path, file in files.items()
        if SKIPPED_DIRECTORIES.isdisjoint(path.split("/")[:-1])
    ]
    leaving = [
        f"{file.relative_path}: the link leaves the skill" for file in chosen if not _stays(file)
    ]
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
            raise SkillLimitError(
                f"the archive holds more than {MAX_FILES} files or {MAX_BYTES} bytes"
            )


def lists_too_much(tail: bytes) -> bool:
    """Whether the list of members of the zip archive that ends so is too large to be read."""
    end = tail.rfind(b"PK\x05\x06")
    return (
        end < 0
        or end + _END.size > len(tail)
        or int(_END.unpack_from(tail, end)[5]) > MAX_DIRECTORY
    )


def check_methods(archive: zipfile.ZipFile) -> None:
    """Refuse bzip2 and LZMA: `zipfile` unpacks a whole block of them, however little is asked
    for.
    """
    for member in archive.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile(
                f"{member.filename[:200]!r} is compressed by a method other than deflate"
            )


def _from_zip(data: bytes) -> Iterator[SkillFile]:
    if lists_too_much(data):
        raise SkillLimitError("the archive lists too many files")
    room = _Room()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_methods(archive)
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
    _check_headers(data)
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


def _check_headers(data: bytes) -> None:
    """Raise for extended headers that are too large, wherever `tarfile` might come upon one."""
    total = 0
    for at in range(0, len(data) - TAR_BLOCK + 1, TAR_BLOCK):
        if data[at + 156] not in EXTENDED:
            continue
        block = data[at : at + TAR_BLOCK]
        try:
            is_header = tarfile.nti(block[148:156]) in tarfile.calc_chksums(block)  # type: ignore[attr-defined]  # not in the stubs
            size = tarfile.nti(block[124:136]) if is_header else 0  # type: ignore[attr-defined]  # the same
        except tarfile.TarError:
            continue
        total += size
        if not 0 <= size <= MAX_HEADER or total > MAX_HEADERS:
            raise SkillLimitError("the archive has too much to say about its files")


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
