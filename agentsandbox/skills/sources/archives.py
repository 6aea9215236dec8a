"""Skills in zip and tar archives, which are read in memory and limited before they are unpacked.

Nothing is written to disk and nothing is run. Sizes that an archive declares are checked against
its content.
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

__all__ = ["DAMAGE", "check_methods", "file_of", "lists_too_much", "skills_in", "unpack"]

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
"""The most bytes of a zip archive's list of members."""
TAR_OVERHEAD = 1024 * (MAX_FILES + 1)
TAR_BLOCK = 512
MAX_HEADER = 8 * 1024
"""The most bytes of an extended header of tar, which `tarfile` reads in quadratic time."""
MAX_HEADERS = 1024 * 1024
EXTENDED = frozenset(b"xgXLK")
_END = struct.Struct("<4s4H2LH")


def unpack(data: bytes) -> list[SkillFile]:
    """Return the files of a zip or tar archive (plain, gzip, bzip2, xz).

    Raises `InvalidSkillError` for anything else and `SkillLimitError` for too much.
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
    """Return the skill at the top, or one for each directory with a SKILL.md, two levels deep.

    `name` is the name of the directory of a skill at the top, `below` the directory to look in.
    Raises `InvalidSkillError` if one of them is invalid, or if there is none.
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
    """Return root → {path below that root: file}."""
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
        f"{file.relative_path}: the link leaves the skill"
        for file in chosen
        if file.link is not None and not contained(file.relative_path, file.link)
    ]
    if leaving:
        raise InvalidSkillError("; ".join(leaving), leaving)
    return AgentSkill(chosen, directory=posixpath.basename(root) or name)


class _Room:
    """The number of files and bytes that may still be unpacked."""

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
    """Whether the list of members of a zip archive with this end is too large, or missing."""
    end = tail.rfind(b"PK\x05\x06")
    return (
        end < 0
        or end + _END.size > len(tail)
        or int(_END.unpack_from(tail, end)[5]) > MAX_DIRECTORY
    )


def check_methods(archive: zipfile.ZipFile) -> None:
    """Raise for bzip2 and LZMA, of which `zipfile` always unpacks a whole block."""
    for member in archive.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            name = f"{member.filename[:200]!r}"
            raise zipfile.BadZipFile(f"{name} is compressed by a method other than deflate")


def file_of(member: zipfile.ZipInfo, path: str, data: bytes) -> SkillFile:
    """Return the file of a zip archive's member, at a path below the skill's root.

    Raises `InvalidSkillError` for a device or another special file.
    """
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return SkillFile(path, b"", link=str(data[:4096], "utf-8", "replace"))
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        raise InvalidSkillError(f"{path[:200]!r}: not a regular file")
    return SkillFile(path, data, bool(mode & 0o100) or data.startswith(b"#!"))


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
            yield file_of(member, member.filename.removeprefix("./"), content)


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
    """Raise for extended headers that are too large, at every place where `tarfile` could look."""
    total = 0
    for at in range(0, len(data) - TAR_BLOCK + 1, TAR_BLOCK):
        if data[at + 156] not in EXTENDED:
            continue
        block = data[at : at + TAR_BLOCK]
        try:
            # neither function is in the stubs
            sum_says_so = tarfile.nti(block[148:156]) in tarfile.calc_chksums(block)  # type: ignore[attr-defined]
            size = tarfile.nti(block[124:136]) if sum_says_so else 0  # type: ignore[attr-defined]
        except tarfile.TarError:
            continue
        total += size
        if not 0 <= size <= MAX_HEADER or total > MAX_HEADERS:
            raise SkillLimitError("the archive has headers that are too large")


def _decompressed(data: bytes) -> bytes:
    """Return the data without its compression, never more than an archive may hold."""
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
