"""The zip format: reading the central directory, expanding members, building archives.

An archive is a row of members, each after a local header, then the *central directory* (one entry
for each member, with its position), then a fixed end record with the position of the directory. It
is read from the end: the last end record within 64 KiB (a comment may follow it), the directory,
then each member where the directory says. If the positions are all off by the same amount, the
archive follows other data (a self-extracting program), and is read with that shift.

Sizes in an archive are untrusted. A member that expands beyond its declared size is damaged, and
its content is expanded in blocks that draw on the budget.
"""

from __future__ import annotations

import struct
import zlib

from agentsandbox.commands._files.compression import ZEROS
from agentsandbox.kernel.formats.timezones import days_from_civil, find_zone
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.kernel.budget import Budget

STORED, DEFLATED = 0, 8
BLOCK = 262144
_END = struct.Struct("<4s4H2LH")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")


class ZipFormatError(Exception):
    """Not a zip archive, or a damaged one.

    `problem` is signature, directory, entries (some are missing), method, data or password
    (encrypted).
    """

    def __init__(self, problem: str, counts: tuple[int, int] = (0, 0)) -> None:
        self.problem = problem
        self.counts = counts
        """For "entries": how many there should be, and how many there are."""
        super().__init__(problem)


class Entry:
    """A member. `mtime` is in seconds; `data` holds the compressed bytes to be written."""

    __slots__ = (
        "comment", "compressed", "crc", "data", "extra", "flags", "method", "mode", "mtime", "name",
        "offset", "place", "raw_name", "size", "stamp", "text", "unix",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.raw_name = encode(name)
        self.method = STORED
        self.flags = 0
        self.crc = self.size = self.compressed = self.offset = 0
        self.place = 0
        """The position of its entry in the central directory."""
        self.stamp = 0x21_0000
        self.mtime = 0
        self.mode = 0o644
        self.text = False
        self.comment = b""
        self.unix = True
        self.extra = True
        self.data: Sequence[bytes] = ()

    def store(self, data: bytes) -> None:
        """Hold data without compression."""
        self.data, self.compressed, self.method, self.flags = (data,), len(data), STORED, 0

    @property
    def is_dir(self) -> bool:
        return self.name.endswith("/")

    @property
    def is_link(self) -> bool:
        return self.unix and self.mode & 0o170000 == 0o120000


def dos_time(seconds: int, zone: str) -> int:
    """Return a time as MS-DOS has it: local time, rounded up to an even second."""
    from agentsandbox.kernel.formats.strftime import NANO, Moment

    moment = Moment((seconds + (seconds & 1)) * NANO, zone)
    if moment.year < 1980:
        return 0x21_0000
    date = (min(moment.year, 2107) - 1980) << 9 | moment.month << 5 | moment.mday
    return date << 16 | moment.hour << 11 | moment.minute << 5 | moment.second // 2


def _from_dos(stamp: int, zone: str) -> int:
    date, time = stamp >> 16, stamp & 0xFFFF
    days = days_from_civil((date >> 9) + 1980, min(max(date >> 5 & 15, 1), 12), max(date & 31, 1))
    return find_zone(zone).to_utc(
        days * 86400 + (time >> 11) * 3600 + (time >> 5 & 63) * 60 + (time & 31) * 2
    )


def _extra_fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        kind, size = struct.unpack_from("<HH", data, at)
        yield kind, data[at + 4 : at + 4 + size]
        at += 4 + size


def read_directory(data: bytes, budget: Budget, zone: str) -> tuple[list[Entry], bytes]:
    """Return the members and the archive's comment; raise `ZipFormatError` if some are missing."""
    entries, comment, count = read_members(data, budget, zone)
    if len(entries) != count:
        raise ZipFormatError("entries", (count, data.count(b"PK\1\2")))
    return entries, comment


def leading_bytes(data: bytes) -> int:
    """Return how many bytes precede the archive, as its end record has it."""
    at = data.rfind(b"PK\5\6", max(0, len(data) - 65557))
    _, _, _, _, _, size, start, _ = _END.unpack_from(data, at)
    return int(at - size - start)


def read_members(data: bytes, budget: Budget, zone: str) -> tuple[list[Entry], bytes, int]:
    """Return the readable members, the archive's comment, and the declared number of members."""
    at = data.rfind(b"PK\5\6", max(0, len(data) - 65557))
    if at < 0 or at + _END.size > len(data):
        raise ZipFormatError("signature")
    _, _, _, _, count, size, start, comment = _END.unpack_from(data, at)
    shift = at - size - start  # bytes before the archive, of a self-extracting one
    if shift < 0 or (count == 0xFFFF and data[at - 20 : at - 16] == b"PK\6\7"):
        raise ZipFormatError("directory")
    entries: list[Entry] = []
    place = start + shift
    for _ in range(count):
        budget.step()
        if place + _CENTRAL.size > len(data) or data[place : place + 4] != b"PK\1\2":
            break
        place = _read_entry(data, place, shift, zone, entries)
    return entries, data[at + _END.size : at + _END.size + comment], count


def _read_entry(data: bytes, place: int, shift: int, zone: str, entries: list[Entry]) -> int:
    fields: tuple[int, ...] = _CENTRAL.unpack_from(data, place)
    made_by, _needed, flags, method, time, date, crc, compressed, size = fields[1:10]
    name_size, extra_size, comment_size, _disk, internal, external, offset = fields[10:17]
    at = place + _CENTRAL.size
    entry = Entry("")
    entry.place = place
    entry.raw_name = data[at : at + name_size]
    entry.name = decode(entry.raw_name).replace("\0", "")
    entry.flags, entry.method, entry.crc = flags, method, crc
    entry.compressed, entry.size = compressed, size
    entry.stamp = date << 16 | time
    entry.mtime = _from_dos(entry.stamp, zone)
    entry.unix = made_by >> 8 == 3
    entry.mode = external >> 16 if entry.unix else 0o755 if external & 0x10 else 0o644
    entry.text = bool(internal & 1)
    entry.offset = offset + shift
    entry.extra = False
    for kind, field in _extra_fields(data[at + name_size : at + name_size + extra_size]):
        if kind == 0x5455 and len(field) >= 5 and field[0] & 1:
            entry.mtime = struct.unpack_from("<l", field, 1)[0]
            entry.extra = True
    comment_at = at + name_size + extra_size
    entry.comment = data[comment_at : comment_at + comment_size]
    entries.append(entry)
    return at + name_size + extra_size + comment_size


def raw_data(data: bytes, entry: Entry) -> tuple[int, int]:
    """Return where the member's compressed bytes begin and end."""
    at = entry.offset
    if at + _LOCAL.size > len(data) or data[at : at + 4] != b"PK\3\4":
        raise ZipFormatError("directory")
    name_size, extra_size = struct.unpack_from("<HH", data, at + 26)
    start = at + _LOCAL.size + name_size + extra_size
    if start + entry.compressed > len(data):
        raise ZipFormatError("directory")
    return start, start + entry.compressed


def expand(data: bytes, entry: Entry, budget: Budget) -> Iterator[bytes]:
    """Yield the member's content in blocks, never more than the size that it declares."""
    start, end = raw_data(data, entry)
    if entry.flags & 1:
        raise ZipFormatError("password")
    if entry.method == STORED:
        for at in range(start, end, BLOCK):
            budget.step(200)
            yield data[at : min(at + BLOCK, end)]
        return
    if entry.method != DEFLATED:
        raise ZipFormatError("method")
    inflater = zlib.decompressobj(-15, zdict=ZEROS)
    pending = b""
    left = entry.size
    while not inflater.eof:
        if not pending:
            pending = data[start : min(start + BLOCK, end)]
            start += len(pending)
        budget.step(100)
        try:
            block = inflater.decompress(pending, BLOCK)
        except zlib.error:
            raise ZipFormatError("data") from None
        if not block and not pending:
            raise ZipFormatError("data")
        pending = inflater.unconsumed_tail
        left -= len(block)
        if left < 0:
            raise ZipFormatError("data")
        if block:
            yield block


def _extra(entry: Entry, central: bool) -> bytes:
    if not entry.extra:
        return b""
    stamp = struct.pack("<l", max(-(2**31), min(entry.mtime, 2**31 - 1)))
    owner = b"ux\x0b\0\x01\x04" + struct.pack("<L", 1000) + b"\x04" + struct.pack("<L", 1000)
    times = stamp if central else stamp + stamp
    return b"UT" + struct.pack("<HB", len(times) + 1, 3) + times + owner


def build_archive(entries: Sequence[Entry], comment: bytes, budget: Budget) -> Iterator[bytes]:
    """Yield the archive of these members, whose `data` is compressed."""
    position = 0
    directory: list[bytes] = []
    for entry in entries:
        budget.step()
        needed = 20 if entry.method == DEFLATED or entry.flags & 1 else 10
        time, date = entry.stamp & 0xFFFF, entry.stamp >> 16
        name = entry.raw_name
        extra, central = _extra(entry, central=False), _extra(entry, central=True)
        sizes = entry.crc, entry.compressed, entry.size, len(name)
        fixed = (needed, entry.flags & ~8, entry.method, time, date, *sizes)
        local = _LOCAL.pack(b"PK\3\4", *fixed, len(extra)) + name + extra
        made_by = 3 << 8 | 30 if entry.unix else 20
        external = (entry.mode << 16 if entry.unix else 0) | (0x10 if entry.is_dir else 0)
        rest = (len(central), len(entry.comment), 0, int(entry.text), external, position)
        header = _CENTRAL.pack(b"PK\1\2", made_by, *fixed, *rest)
        directory.append(header + name + central + entry.comment)
        yield local
        yield from entry.data
        position += len(local) + entry.compressed
    tail = b"".join(directory)
    count = len(entries)
    yield tail + _END.pack(b"PK\5\6", 0, 0, count, count, len(tail), position, len(comment))
    yield comment
