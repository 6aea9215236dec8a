"""The tar format: GNU's headers written, those of POSIX (ustar, pax) read as well."""

from __future__ import annotations

import re
import stat as stat_module

from agentsandbox.commands._text.quoting import quote_as
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands.tar.stream import ArchiveReader

BLOCK = 512
_MAX_EXTENSION = 1024 * 1024
_ZEROS = bytes(BLOCK)
_ASCII = bytes(range(128))
_KINDS = {
    b"V": "label",
    b"\0": "file",
    b"0": "file",
    b"7": "file",
    b"1": "hard",
    b"2": "link",
    b"3": "char",
    b"4": "block",
    b"5": "dir",
    b"6": "fifo",
}
_FLAGS = {
    "file": b"0",
    "hard": b"1",
    "link": b"2",
    "char": b"3",
    "block": b"4",
    "dir": b"5",
    "fifo": b"6",
    "label": b"V",
}
_TYPE_BITS = {
    "file": stat_module.S_IFREG,
    "hard": stat_module.S_IFREG,
    "link": stat_module.S_IFLNK,
    "char": stat_module.S_IFCHR,
    "block": stat_module.S_IFBLK,
    "dir": stat_module.S_IFDIR,
    "fifo": stat_module.S_IFIFO,
}


class TarFormatError(Exception):
    """The archive is broken; `fatal` when nothing more can be read from it."""

    def __init__(self, message: str, fatal: bool = True) -> None:
        self.message = message
        self.fatal = fatal
        super().__init__(message)


class HeaderError(Exception):
    """A header has something else where a number is expected."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class Member:
    """The header of a file in an archive. Times are in nanoseconds.

    `kind` is file, dir, link, hard, fifo, char, block, label or other.
    """

    __slots__ = (
        "device", "gid", "group", "kind", "link", "mode", "mtime", "name", "size", "uid", "user",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        *,
        mode: int = 0o644,
        size: int = 0,
        mtime: int = 0,
        link: str = "",
    ) -> None:
        self.name = name
        self.kind = kind
        self.mode = mode
        self.size = size
        self.mtime = mtime
        self.link = link
        self.uid = self.gid = 0
        self.user = self.group = ""
        self.device = (0, 0)

    def type_bits(self) -> int:
        """Return type and permissions as in `stat`'s mode."""
        return _TYPE_BITS.get(self.kind, stat_module.S_IFREG) | self.mode


_NOBODY = 0xFFFFFFFF
"""The owner if the header's number is out of range."""
_OCTAL = re.compile(rb"([0-7]+)[\0 ]")
"""The usual form of a number."""


def _number(field: bytes, kind: str = "") -> int:
    """Return an octal or base-256 number; raise `HeaderError`, which names `kind`."""
    plain = _OCTAL.match(field)
    if plain is not None:
        return int(plain[1], 8)
    if field[:1] in (b"\x80", b"\xff"):
        value = int.from_bytes(field[1:], "big")
        return value - (1 << 8 * (len(field) - 1)) if field[0] == 0xFF else value
    text = field[1:] if field[:1] == b"\0" else field
    text = text.lstrip(b" \t\n\v\f\r")
    if not text:
        raise HeaderError(f"Blanks in header where numeric {kind} value expected")
    digits = text[: len(text) - len(text.lstrip(b"01234567"))]
    rest = text[len(digits) : len(digits) + 1]
    if rest not in (b"", b"\0", b" ", b"\t", b"\n", b"\v", b"\f", b"\r"):
        shown = quote_as(decode(field.rstrip(bytes(1))), "locale")
        raise HeaderError(f"Archive contains {shown} where numeric {kind} value expected")
    return int(digits or b"0", 8)


def _text(field: bytes) -> str:
    end = field.find(b"\0")
    return decode(field if end < 0 else field[:end])


def _checksum_ok(block: bytes) -> bool:
    try:
        stored = _number(block[148:156])
    except HeaderError:
        return False
    blank = block[:148] + b"        " + block[156:]
    total = sum(blank)
    return stored == total or stored == total - 256 * len(blank.translate(None, _ASCII))


def _parse(block: bytes, warn: Callable[[str], None]) -> Member:
    """Return the member of a header; raise `HeaderError` if its size is not a number."""

    def number(field: bytes, kind: str, wrong: int = -1) -> int:
        try:
            return _number(field, kind)
        except HeaderError as error:
            warn(error.message)
            return wrong

    def owner(field: bytes, kind: str) -> int:
        value = number(field, kind, _NOBODY)
        if 0 <= value <= _NOBODY:
            return value
        warn(f"Archive value {value} is out of {kind} range 0..{_NOBODY}")
        return _NOBODY

    flag = block[156:157]
    name = _text(block[:100])
    if block[257:263] == b"ustar\0" and (prefix := _text(block[345:500])):
        name = f"{prefix}/{name}"
    kind = _KINDS.get(flag, "other")
    size = 0 if kind == "hard" else _number(block[124:136], "off_t")
    member = Member(
        name,
        kind,
        mode=number(block[100:108], "mode_t") & 0o7777,
        size=size,
        link=_text(block[157:257]),
    )
    seconds = number(block[136:148], "time_t")
    if not -(1 << 63) <= seconds < 1 << 63:
        warn("Archive base-256 value is out of time_t range")
        seconds = -1
    member.mtime = seconds * 1_000_000_000
    member.uid, member.gid = owner(block[108:116], "uid_t"), owner(block[116:124], "gid_t")
    if block[257:262] == b"ustar":
        member.user, member.group = _text(block[265:297]), _text(block[297:329])
        if kind in ("char", "block"):
            member.device = (number(block[329:337], "major_t"), number(block[337:345], "minor_t"))
    if kind == "file" and name.endswith("/"):
        member.kind = "dir"
    if member.size < 0:
        raise TarFormatError("Negative size in header", fatal=False)
    return member


def _pax_records(data: bytes) -> dict[str, str]:
    records: dict[str, str] = {}
    at = 0
    while at < len(data):
        blank = data.find(b" ", at, at + 20)
        digits = data[at:blank] if blank > 0 else b""
        if not digits.isdigit():
            break
        end = at + int(digits)
        key, equals, value = data[blank + 1 : end - 1].partition(b"=")
        if not equals or end <= at or end > len(data):
            break
        records[decode(key)] = decode(value)
        at = end
    return records


def _nanoseconds(text: str) -> int | None:
    whole, _, fraction = text.partition(".")
    if (
        not whole.lstrip("-").isdecimal()
        or len(whole) > 18
        or (fraction and not fraction.isdecimal())
    ):
        return None
    nanoseconds = int(fraction[:9].ljust(9, "0"))
    return int(whole) * 1_000_000_000 + (-nanoseconds if whole.startswith("-") else nanoseconds)


def _apply_pax(member: Member, records: dict[str, str]) -> None:
    member.name = records.get("path", member.name)
    member.link = records.get("linkpath", member.link)
    member.user = records.get("uname", member.user)
    member.group = records.get("gname", member.group)
    if (
        (size := records.get("size", "")).isdecimal()
        and len(size) < 19
        and member.kind in ("file", "other")
    ):
        member.size = int(size)
    mtime = _nanoseconds(records.get("mtime", ""))
    if mtime is not None:
        member.mtime = mtime
    if any(key.startswith(("GNU.sparse", "GNU.dumpdir")) for key in records):
        member.kind = "other"


class _Extensions:
    """What special members say about the next one: GNU's long names, pax records."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.link: str | None = None
        self.records: dict[str, str] = {}
        self.shared: dict[str, str] = {}

    def read(self, flag: bytes, data: bytes) -> None:
        if flag == b"L":
            self.name = _text(data)
        elif flag == b"K":
            self.link = _text(data)
        elif flag == b"g":
            self.shared |= _pax_records(data)
        else:
            self.records = _pax_records(data)

    def apply(self, member: Member) -> None:
        if self.shared or self.records:
            _apply_pax(member, self.shared | self.records)
        if self.name is not None:
            member.name = self.name
        if self.link is not None:
            member.link = self.link
        if member.kind == "file" and member.name.endswith("/"):
            member.kind = "dir"
        self.name = self.link = None
        self.records = {}


def read_members(
    archive: ArchiveReader, warn: Callable[[str], None], *, ignore_zeros: bool = False
) -> Iterator[Member]:
    """Yield each member; content that the caller leaves unread is skipped."""

    def tell(message: str) -> None:
        warn(message)
        archive.failed = True

    extensions = _Extensions()
    seen = False
    lost = False
    while True:
        archive.skip_rest()
        block = archive.take(BLOCK)
        start = archive.position - len(block)
        if len(block) < BLOCK:
            if not seen and archive.format is None:
                raise TarFormatError("This does not look like a tar archive", fatal=False)
            return
        if block == _ZEROS:
            if ignore_zeros:
                continue
            following = archive.take(BLOCK)
            if following != _ZEROS:
                warn(f"A lone zero block at {start // BLOCK + 1}")
            return
        if not _checksum_ok(block):
            if not lost:
                warn("Skipping to next header" if seen else "This does not look like a tar archive")
                if not seen:
                    warn("Skipping to next header")
            lost = seen = True
            archive.failed = True
            continue
        flag = block[156:157]
        try:
            member = _parse(block, tell)
        except HeaderError as error:
            tell(error.message)
            if not lost:
                warn("Skipping to next header")
            lost = seen = True
            continue
        seen, lost = True, False
        if flag in (b"L", b"K", b"x", b"g"):
            size = member.size
            if size > _MAX_EXTENSION:
                raise TarFormatError("Extended header is too long")
            extensions.read(flag, archive.take_content(size))
            continue
        extensions.apply(member)
        archive.begin_content(member.size if member.kind != "dir" else 0)
        yield member


def _octal(value: int, width: int) -> bytes:
    """Return a number as a field of `width` bytes, in base 256 if it does not fit in octal."""
    if 0 <= value < 8 ** (width - 1):
        return b"%0*o\0" % (width - 1, value)
    mark = 0x80 if value >= 0 else 0xFF
    return bytes([mark]) + (value % (1 << 8 * (width - 1))).to_bytes(width - 1, "big")


def _numbers(mode: int, uid: int, gid: int, size: int, mtime: int) -> bytes:
    return _octal(mode, 8) + _octal(uid, 8) + _octal(gid, 8) + _octal(size, 12) + _octal(mtime, 12)


def _header(
    name: bytes,
    numbers: bytes,
    flag: bytes,
    link: bytes,
    user: bytes,
    group: bytes,
    device: bytes = b"",
) -> bytes:
    """Return a header block. `numbers` are mode, owner, group, size and time."""
    parts = (
        name[:100].ljust(100, b"\0"),
        numbers,
        b"        ",
        flag,
        link[:100].ljust(100, b"\0"),
        b"ustar  \0",
        user[:31].ljust(32, b"\0"),
        group[:31].ljust(32, b"\0"),
        device.ljust(16, b"\0"),
    )
    block = b"".join(parts).ljust(BLOCK, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _long(text: bytes, flag: bytes) -> bytes:
    """Return GNU's special member that holds a long name or link of the next member."""
    size = len(text) + 1
    numbers = _numbers(0o644, 0, 0, size, 0)
    header = _header(b"././@LongLink", numbers, flag, b"", b"root", b"root")
    return header + text + bytes(1 + -size % BLOCK)


def build_headers(member: Member) -> bytes:
    """Return all blocks before the member's content."""
    name, link = encode(member.name), encode(member.link)
    seconds = member.mtime // 1_000_000_000
    numbers = _numbers(member.mode, member.uid, member.gid, member.size, seconds)
    flag = _FLAGS[member.kind]
    user, group = encode(member.user), encode(member.group)
    blocks = b""
    if len(link) > 100:
        blocks += _long(link, b"K")
    if len(name) > 100:
        blocks += _long(name, b"L")
    device = b""
    if member.kind in ("char", "block"):
        device = b"".join([_octal(number, 8) for number in member.device])
    return blocks + _header(name, numbers, flag, link, user, group, device)
