"""`zipinfo -v`: all that the central directory says, field by field."""

from __future__ import annotations

import struct

from agentsandbox.commands._zip_listing import visible
from agentsandbox.languages.modes import format_mode
from agentsandbox.languages.strftime import strftime
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._zip_format import Entry

__all__ = ["show_directory", "show_entry"]

_CENTRAL = struct.Struct("<4s2B2B4H3L5H2L")
_SYSTEMS = {
    0: "MS-DOS, OS/2 or NT FAT", 1: "Amiga", 2: "VMS", 3: "Unix", 4: "VM/CMS", 5: "Atari ST", 6: "OS/2 or NT HPFS", 7: "Macintosh HFS",
    10: "Windows NTFS", 11: "NTFS", 19: "Mac OS X",
}  # fmt: skip
_METHODS = {0: "none (stored)", 8: "deflated", 9: "deflated (64k window)", 12: "bzipped", 14: "LZMA-ed"}
_LEVELS = ("normal", "maximum", "fast", "superfast")
_ATTRIBUTES = ((0x1, "rdo "), (0x2, "hid "), (0x4, "sys "), (0x8, "lab "), (0x10, "dir "), (0x20, "arc "))
_TIMES, _OWNERS, _OLD_OWNERS = 0x5455, 0x7875, 0x7855
_SUBFIELDS = {
    _TIMES: "universal time", _OWNERS: "Unix UID/GID (any size)", _OLD_OWNERS: "old Unix/OS2/NT", 1: "PKWARE 64-bit sizes",
}  # fmt: skip


def _hexed(number: int) -> str:
    return f"({number:016X}h)"


def show_directory(name: str, data: bytes, comment: bytes, show: Callable[[str], None]) -> None:
    """The head: the archive, its comment, where the directory is."""
    end = data.rfind(b"PK\5\6", max(0, len(data) - 65557))
    count, size, start = struct.unpack_from("<H2L", data, end + 10)
    show(f"Archive:  {name}")
    if comment:
        show(f"The zipfile comment is {len(comment)} bytes long and contains the following text:")
        show(f"{'=' * 24} zipfile comment begins {'=' * 26}\n{decode(comment.replace(bytes([13, 10]), bytes([10])))}")
        show(f"{'=' * 25} zipfile comment ends {'=' * 27}")
    else:
        show("There is no zipfile comment.")
    show(
        f"\nEnd-of-central-directory record:\n-------------------------------\n\n"
        f"  Zip archive file size:               {len(data):11} {_hexed(len(data))}\n"
        f"  Actual end-cent-dir record offset:   {end:11} {_hexed(end)}\n"
        f"  Expected end-cent-dir record offset: {start + size:11} {_hexed(start + size)}\n"
        "  (based on the length of the central directory and its expected offset)\n\n"
        "  This zipfile constitutes the sole disk of a single-part archive; its\n"
        f"  central directory contains {count} {'entry' if count == 1 else 'entries'}.\n"
        f"  The central directory is {size} {_hexed(size)} bytes long,\n"
        "  and its (expected) offset in bytes from the beginning of the zipfile\n"
        f"  is {start} {_hexed(start)}.\n"
    )


def show_entry(entry: Entry, number: int, data: bytes, zone: str, show: Callable[[str], None]) -> None:
    """A member's paragraph."""
    fields = _CENTRAL.unpack_from(data, entry.place)
    made_by, system, needed, needed_system, flags, method = fields[1:7]
    name_size, extra_size, comment_size, disk, internal, external, offset = fields[12:]
    start = entry.place + _CENTRAL.size + name_size
    extra = list(_subfields(data[start : start + extra_size]))
    heading = f"Central directory entry #{number}:"
    lines = [f"\n{heading}\n{'-' * (len(heading) - len(str(number)) + 1)}\n\n  {visible(entry.name)}\n"]
    lines.append(f"  offset of local header from start of archive:   {offset}\n{'':50}{_hexed(offset)} bytes")

    def add(key: str, value: object) -> None:
        lines.append(f"  {key + ':':<48}{value}")

    add("file system or operating system of origin", _SYSTEMS.get(system, f"unknown ({system})"))
    add("version of encoding software", f"{made_by // 10}.{made_by % 10}")
    add("minimum file system compatibility required", _SYSTEMS.get(needed_system, f"unknown ({needed_system})"))
    add("minimum software version required to extract", f"{needed // 10}.{needed % 10}")
    add("compression method", _METHODS.get(method, f"unknown ({method})"))
    if method == 8:
        add("compression sub-type (deflation)", _LEVELS[flags >> 1 & 3])
    add("file security status", "encrypted" if flags & 1 else "not encrypted")
    add("extended local header", "yes" if flags & 8 else "no")
    add("file last modified on (DOS date/time)", _dos_date(entry.stamp))
    if any(kind == _TIMES for kind, _ in extra):
        for place, zone_name in ((zone, "local"), ("UTC0", "UTC")):
            add("file last modified on (UT extra field modtime)", f"{_date(entry.mtime, place)} {zone_name}")
    add("32-bit CRC value (hex)", f"{entry.crc:08x}")
    add("compressed size", f"{entry.compressed} bytes")
    add("uncompressed size", f"{entry.size} bytes")
    add("length of filename", f"{name_size} characters")
    add("length of extra field", f"{extra_size} bytes")
    add("length of file comment", f"{comment_size} characters")
    add("disk number on which file begins", f"disk {disk + 1}")
    add("apparent file type", "text" if internal & 1 else "binary")
    if system == 3:
        mode = external >> 16
        add(f"Unix file attributes ({mode:06o} octal)", format_mode(mode))
    attributes = external & 0xFF
    add(f"MS-DOS file attributes ({attributes:02X} hex)", "".join([word for bit, word in _ATTRIBUTES if attributes & bit]) or "none")
    if extra:
        lines.append("\n  The central-directory extra field contains:")
        lines += [_subfield(kind, field) for kind, field in extra]
    show("\n".join(lines))
    if comment_size:
        text = decode(data[start + extra_size : start + extra_size + comment_size])
        show(f"\n{'-' * 25} file comment begins {'-' * 28}\n{text}\n{'-' * 26} file comment ends {'-' * 29}")
    else:
        show("\n  There is no file comment.")


def _date(seconds: int, zone: str) -> str:
    return strftime(seconds, "%Y %b %-d %H:%M:%S", zone)


def _dos_date(stamp: int) -> str:
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    date, time = stamp >> 16, stamp & 0xFFFF
    month = date >> 5 & 15
    name = months[month - 1] if 0 < month <= len(months) else "???"
    return f"{(date >> 9) + 1980} {name} {date & 31} {time >> 11:02}:{time >> 5 & 63:02}:{(time & 31) * 2:02}"


def _subfields(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        kind, size = struct.unpack_from("<HH", data, at)
        yield kind, data[at + 4 : at + 4 + size]
        at += 4 + size


def _subfield(kind: int, data: bytes) -> str:
    line = f"  - A subfield with ID 0x{kind:04x} ({_SUBFIELDS.get(kind, 'unknown')}) and {len(data)} data bytes"
    if kind == _TIMES and data:
        held = [name for bit, name in ((1, "modification"), (2, "access"), (4, "creation")) if data[0] & bit]
        return f"{line}.\n    The local extra field has UTC/GMT {'/'.join(held)} time{'s' if len(held) > 1 else ''}."
    return f"{line}:\n    {' '.join([f'{byte:02x}' for byte in data])}."
