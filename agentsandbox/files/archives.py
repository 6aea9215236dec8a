"""Archives: reading tar (plain, gzip, bzip2, xz) and zip, writing tar, tar.gz and zip.

An archive is read as if its maker wanted to harm us. Everything happens in memory and before
anything is written, so a refused archive leaves no trace. What is limited, and where:

* Compression: no more is unpacked than the sandbox's limits allow for all content and its headers.
  xz declares the memory that it needs and gets at most 128 MiB. In zip only deflate is accepted,
  whose output `zipfile` can limit; bzip2 and LZMA members, whose output it cannot, are refused.
* Headers: `tarfile` reads extended headers of any declared size, and some of its patterns take
  quadratic time on them. It reads them here through `_Headers`, which refuses large ones and checks
  the time. Content is cut from the data, not read by `tarfile`. A member with a negative size,
  which would make `tarfile` read in a circle, is refused, and so are hundreds of extended headers
  in a row, for which `tarfile` calls itself.
* The list of a zip archive: every entry costs a kilobyte of memory, so the entries are counted
  before `zipfile` reads them.
* Names and links: see `members`. A name that occurs twice is refused, because tools disagree on
  which one counts, and so is a member below something that is not a directory.
"""

from __future__ import annotations

import bz2
import calendar
import gzip
import io
import lzma
import stat as stat_module
import struct
import tarfile
import time
import zipfile
import zlib

from agentsandbox.errors import ArchiveError
from agentsandbox.files.members import (
    Member,
    Room,
    above,
    as_time,
    clean_path,
    stays_inside,
    too_much,
)
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO, Literal, Protocol

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.limits import Limits

    ArchiveFormat = Literal["tar", "tar.gz", "zip"]

    class Engine(Protocol):
        """Unpacks one compressed stream, piece by piece."""

        @property
        def eof(self) -> bool: ...
        @property
        def unused_data(self) -> bytes: ...
        def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


FORMATS = ("tar", "tar.gz", "zip")
"""What `write_archive` makes."""

_BLOCK = 1 << 20
_TAR_BLOCK = 512
_MAX_HEADER = 16 * 1024
"""The most bytes of an extended header: two of the longest paths fit in."""
_WHOLE = "archive"
"""The file name in errors that concern a whole archive."""
_XZ_MEMORY = 128 * 1024 * 1024
_ZIP_ENTRY = b"PK\1\2"
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
_UNIX = 3
"""The value of `create_system` for which a zip entry has Unix permissions."""
_DEFAULT_MODES = {"file": 0o644, "directory": 0o755, "link": 0o777}


def most_bytes(limits: Limits) -> int:
    """Return the bytes of the largest archive that could be unpacked, its headers included."""
    return limits.total_bytes + 4 * _TAR_BLOCK * (limits.files + 1) + _MAX_HEADER


# reading


# TM-MEM-3
class _Intake:
    """The members read so far, and the directories that their paths imply."""

    def __init__(self, limits: Limits, any_links: bool) -> None:
        self.room = Room(limits)
        self.any_links = any_links
        self._members: dict[str, Member] = {}
        self._implied: set[str] = set()

    def path_of(self, name: str) -> str:
        """Return the clean path of a member, "" for the top."""
        path = clean_path(name)
        if path is None:
            problem = "a name that leads out of the archive or cannot be used"
            raise ArchiveError(f"{problem}: {name[:200]!r}")
        return path

    def add(self, member: Member) -> None:
        """Add a member whose size has been counted."""
        path = member.path
        for directory in above(path):
            known = self._members.get(directory)
            if known is None:
                self.room.take(directory)
                self._implied.add(directory)
                self._members[directory] = Member(directory, "directory", mode=0o755)
            elif known.kind != "directory":
                raise ArchiveError(
                    f"a member below something that is not a directory: {path[:200]!r}"
                )
            else:
                break
        known = self._members.get(path)
        if known is not None and not (
            member.kind == known.kind == "directory" and path in self._implied
        ):
            raise ArchiveError(f"a name that occurs twice: {path[:200]!r}")
        leads_out = member.kind == "link" and not stays_inside(path, member.text)
        if leads_out and not self.any_links:
            raise ArchiveError(
                f"a link that leads out of the archive: {path[:200]!r} -> {member.text[:200]!r}"
            )
        self._implied.discard(path)
        self._members[path] = member

    def file(self, path: str) -> Member | None:
        """Return the regular file with that path among the members so far, or None."""
        member = self._members.get(path)
        return member if member is not None and member.kind == "file" else None

    def members(self) -> list[Member]:
        """Return all members, each directory before what is in it."""
        return [self._members[path] for path in sorted(self._members)]


def read_archive(
    data: bytes, limits: Limits, budget: Budget, *, any_links: bool = False
) -> list[Member]:
    """Return the members of a tar or zip archive, each directory before what is in it.

    With `any_links` links may lead out of the archive; the caller must check them.
    Raises `ArchiveError` for an archive that is damaged or must not be unpacked, `OSError` (EFBIG,
    ENOSPC) for one that holds more than the limits allow.
    """
    intake = _Intake(limits, any_links)
    try:
        if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            _read_zip(data, intake, limits, budget)
        else:
            _read_tar(_decompressed(data, most_bytes(limits), budget), intake, budget)
    except DAMAGE as error:
        raise ArchiveError(f"the archive cannot be read: {error}") from None
    except OSError as error:  # bzip2 reports damage as an OSError without a number
        if error.errno is not None:
            raise
        raise ArchiveError(f"the archive cannot be read: {error}") from None
    return intake.members()


def _read_zip(data: bytes, intake: _Intake, limits: Limits, budget: Budget) -> None:
    if data.count(_ZIP_ENTRY) > limits.files:
        raise too_much(_WHOLE)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            budget.check_time()
            path = intake.path_of(entry.orig_filename)
            kind = _kind_of_entry(entry)
            if not path and kind == "directory":
                continue
            if kind is None or not path:
                raise ArchiveError(f"neither a file nor a directory nor a link: {path[:200]!r}")
            mode = entry.external_attr >> 16 or _DEFAULT_MODES[kind]
            mtime = _zip_time(entry.date_time)
            intake.room.take(path, 0 if kind == "directory" else entry.file_size)
            if kind == "directory":
                intake.add(Member(path, kind, mode=mode, mtime=mtime))
                continue
            content = _content_of_entry(archive, entry)
            if kind == "link":
                intake.add(Member(path, kind, mtime=mtime, text=decode(content[:4096])))
            else:
                intake.add(Member(path, kind, mode=mode, mtime=mtime, content=content))


def _kind_of_entry(entry: zipfile.ZipInfo) -> Literal["file", "directory", "link"] | None:
    kind = stat_module.S_IFMT(entry.external_attr >> 16) if entry.create_system == _UNIX else 0
    if entry.filename.endswith("/"):
        return "directory" if kind in (0, stat_module.S_IFDIR) else None
    if kind == stat_module.S_IFLNK:
        return "link"
    return "file" if kind in (0, stat_module.S_IFREG) else None


def _content_of_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the content of an entry, never more than it declares."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ArchiveError(f"compressed by a method other than deflate: {entry.filename[:200]!r}")
    with archive.open(entry) as file:
        content = file.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise ArchiveError(f"not of the size that the archive says: {entry.filename[:200]!r}")
    return content


def _zip_time(parts: tuple[int, int, int, int, int, int]) -> float:
    """Return the time of an entry, which has no time zone: UTC, as we write it."""
    try:
        return as_time(calendar.timegm(parts))
    except (ValueError, OverflowError):
        return 0.0


class _Headers(io.BytesIO):
    """The headers of a tar archive, for `tarfile`: reading refuses what is too large for one."""

    def __init__(self, data: bytes, budget: Budget) -> None:
        super().__init__(data)
        self._budget = budget

    def read(self, size: int | None = -1, /) -> bytes:
        self._budget.check_time()
        if size is None or not 0 <= size <= _MAX_HEADER:
            raise ArchiveError("the archive has a header that is too large")
        return super().read(size)


def _read_tar(data: bytes, intake: _Intake, budget: Budget) -> None:
    with tarfile.open(
        fileobj=_Headers(data, budget), mode="r:", encoding="utf-8", errors="surrogateescape"
    ) as archive:
        last = -1
        while (entry := archive.next()) is not None:
            if entry.size < 0 or entry.offset <= last:
                raise ArchiveError("the archive has a member of a negative size")
            last = entry.offset
            archive.members.clear()  # type: ignore[attr-defined]  # it only grows
            path = intake.path_of(entry.name)
            if path or not entry.isdir():
                intake.add(_member_of(entry, path, data, intake))


def _member_of(entry: tarfile.TarInfo, path: str, data: bytes, intake: _Intake) -> Member:
    mtime = as_time(entry.mtime)
    if entry.isdir():
        intake.room.take(path)
        return Member(path, "directory", mode=entry.mode, mtime=mtime)
    if entry.issym():
        intake.room.take(path, len(entry.linkname))
        return Member(path, "link", mtime=mtime, text=entry.linkname)
    if entry.islnk():
        original = intake.file(intake.path_of(entry.linkname))
        if original is None:
            raise ArchiveError(f"a hard link to a file that is not before it: {path[:200]!r}")
        intake.room.take(path, len(original.content))
        return Member(path, "file", mode=original.mode, mtime=mtime, content=original.content)
    if (
        not path
        or entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
        or entry.issparse()
    ):
        raise ArchiveError(f"neither a file nor a directory nor a link: {entry.name[:200]!r}")
    intake.room.take(path, entry.size)
    content = data[entry.offset_data : entry.offset_data + entry.size]
    if len(content) < entry.size:
        raise ArchiveError(f"the archive ends in the middle of {path[:200]!r}")
    return Member(path, "file", mode=entry.mode, mtime=mtime, content=content)


_ENGINES: tuple[tuple[bytes, Callable[[], Engine]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(31)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)),
)
"""How compressed data begins, and what unpacks it."""


def _decompressed(data: bytes, most: int, budget: Budget) -> bytes:
    """Return the data without its compression; several streams in a row are one."""
    for mark, make in _ENGINES:
        if data.startswith(mark):
            return _unpacked(data, mark, make, most, budget)
    return data


def _unpacked(
    data: bytes, mark: bytes, make: Callable[[], Engine], most: int, budget: Budget
) -> bytes:
    blocks: list[bytes] = []
    size = 0
    while data.startswith(mark):
        engine = make()
        while not engine.eof:
            budget.check_time()
            block = engine.decompress(data, _BLOCK)
            data = getattr(engine, "unconsumed_tail", b"")  # the others keep it themselves
            size += len(block)
            if size > most:
                raise too_much(_WHOLE)
            if not block and not data and not engine.eof:
                raise EOFError("the compressed data ends too early")
            blocks.append(block)
        data = engine.unused_data.lstrip(b"\0")
    if data:
        raise ValueError("there is other data after the compressed data")
    return b"".join(blocks)


# writing


def write_archive(
    members: Iterable[Member], read: Callable[[Member], bytes], format: ArchiveFormat
) -> bytes:
    """Return an archive of the members, always the same bytes; `read` returns a file's content."""
    target = io.BytesIO()
    if format == "zip":
        _write_zip(members, read, target)
    elif format == "tar":
        _write_tar(members, read, target)
    else:
        with gzip.GzipFile("", "wb", fileobj=target, mtime=0) as compressed:
            _write_tar(members, read, compressed)
    return target.getvalue()


def _write_tar(
    members: Iterable[Member], read: Callable[[Member], bytes], target: BinaryIO | gzip.GzipFile
) -> None:
    types = {"file": tarfile.REGTYPE, "directory": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}
    with tarfile.open(
        fileobj=target,
        mode="w",
        format=tarfile.PAX_FORMAT,
        encoding="utf-8",
        errors="surrogateescape",
    ) as archive:
        for member in members:
            entry = tarfile.TarInfo(member.path)
            entry.type = types[member.kind]
            entry.mode = 0o777 if member.kind == "link" else member.mode
            entry.mtime = int(member.mtime)
            entry.linkname = member.text
            content = read(member) if member.kind == "file" else b""
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
            archive.members.clear()  # type: ignore[attr-defined]  # the same


def _write_zip(
    members: Iterable[Member], read: Callable[[Member], bytes], target: BinaryIO
) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            if not _is_utf8(member.path):
                problem = "zip cannot hold a name that is not UTF-8; tar can"
                raise ArchiveError(f"{problem}: {member.path[:200]!r}")
            path, content, method = member.path, encode(member.text), zipfile.ZIP_STORED
            if member.kind == "directory":
                path, attributes = f"{path}/", (stat_module.S_IFDIR | member.mode) << 16 | 0x10
            elif member.kind == "link":
                attributes = (stat_module.S_IFLNK | 0o777) << 16
            else:
                attributes = (stat_module.S_IFREG | member.mode) << 16
                content, method = read(member), zipfile.ZIP_DEFLATED
            entry = zipfile.ZipInfo(path, _as_zip_time(member.mtime))
            entry.create_system = _UNIX
            entry.external_attr = attributes
            entry.compress_type = method
            archive.writestr(entry, content)


def _is_utf8(name: str) -> bool:
    try:
        bytes(name, "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _as_zip_time(seconds: float) -> tuple[int, int, int, int, int, int]:
    year, month, day, hour, minute, second = time.gmtime(as_time(seconds))[:6]
    if not 1980 <= year < 2108:
        return (1980, 1, 1, 0, 0, 0)
    return (year, month, day, hour, minute, second)
