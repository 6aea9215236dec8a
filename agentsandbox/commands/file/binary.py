"""What binary files are, by their first bytes: the description and the MIME type of `file`."""

from __future__ import annotations

import struct

from agentsandbox.commands._time.times import LocalTime
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

_OFFICE = {
    b"word/": (
        "Microsoft Word 2007+",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    b"xl/": (
        "Microsoft Excel 2007+",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    b"ppt/": (
        "Microsoft PowerPoint 2007+",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
}
_GZIP_SYSTEMS = {
    0: "FAT filesystem (MS-DOS, OS/2, NT)",
    3: "Unix",
    7: "MacOS",
    11: "NTFS filesystem (NT)",
}
_ZIP_METHODS = {0: "store", 8: "deflate", 9: "deflate64", 12: "bzip2", 14: "lzma"}
_XZ_CHECKS = {0: "NONE", 1: "CRC32", 4: "CRC64", 10: "SHA-256"}
_PNG_COLORS = {0: "grayscale", 2: "/color RGB", 3: " colormap", 4: " gray+alpha", 6: "/color RGBA"}
_FIRST_JAVA, _JAVA_9 = 45, 53
_MACHINES = {
    0x03: "Intel 80386",
    0x28: "ARM",
    0x3E: "x86-64",
    0xB7: "ARM aarch64",
    0xF3: "UCB RISC-V",
}
_ELF_TYPES = {
    1: ("relocatable", "application/x-object"),
    2: ("executable", "application/x-executable"),
    3: ("shared object", "application/x-sharedlib"),
    4: ("core file", "application/x-coredump"),
}
_ISO_BRANDS = {
    b"isom": ("MP4 Base Media v1 [ISO 14496-12:2003]", "video/mp4"),
    b"mp42": ("MP4 v2 [ISO 14496-14]", "video/mp4"),
    b"M4A ": ("Apple iTunes ALAC/AAC-LC (.M4A) Audio", "audio/x-m4a"),
    b"qt  ": ("Apple QuickTime movie, Apple QuickTime (.MOV/QT)", "video/quicktime"),
    b"heic": ("HEIF Image HEVC Main or Main Still Picture Profile", "image/heic"),
    b"avif": ("AVIF Image", "image/avif"),
}
_SIMPLE = (
    (b"Rar!\x1a\x07", "RAR archive data", "application/x-rar"),
    (
        b"\x28\xb5\x2f\xfd",
        "Zstandard compressed data (v0.8+), Dictionary ID: None",
        "application/zstd",
    ),
    (b"\x04\x22\x4d\x18", "LZ4 compressed data (v1.4+)", "application/x-lz4"),
    (b"PK\5\6", "Zip archive data (empty)", "application/zip"),
    (b"OggS", "Ogg data", "application/ogg"),
    (b"fLaC", "FLAC audio bitstream data", "audio/flac"),
    (b"wOFF", "Web Open Font Format", "font/woff"),
    (b"wOF2", "Web Open Font Format (Version 2)", "font/woff2"),
    (b"OTTO", "OpenType font data", "application/vnd.ms-opentype"),
    (b"II*\0", "TIFF image data, little-endian", "image/tiff"),
    (b"MM\0*", "TIFF image data, big-endian", "image/tiff"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "OLE 2 Compound Document", "application/x-ole-storage"),
    (
        b"!<arch>\ndebian-binary",
        "Debian binary package (format 2.0)",
        "application/vnd.debian.binary-package",
    ),
    (b"!<arch>\n", "current ar archive", "application/x-archive"),
    (b"\xed\xab\xee\xdb", "RPM v3.0", "application/x-rpm"),
    (
        b"\x00asm\x01\0\0\0",
        "WebAssembly (wasm) binary module version 0x1 (MVP)",
        "application/wasm",
    ),
    (b"\x78\x9c", "zlib compressed data", "application/zlib"),
    (b"\x78\xda", "zlib compressed data", "application/zlib"),
    (b"\x78\x01", "zlib compressed data", "application/zlib"),
)


def _png(data: bytes) -> str:
    if len(data) < 29:
        return "data"
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    kind = _PNG_COLORS.get(color, "")
    kind = kind if kind[:1] in ("/", " ") else f" {kind}"
    lace = "interlaced" if interlaced else "non-interlaced"
    return f"PNG image data, {width} x {height}, {depth}-bit{kind}, {lace}"


def _gif(data: bytes) -> str:
    size = ", {} x {}".format(*struct.unpack("<HH", data[6:10])) if len(data) >= 10 else ""
    return f"GIF image data, version {decode(data[3:6])}{size}"


def _pdf(data: bytes) -> str:
    return f"PDF document, version {decode(data[5:8])}"


def _bzip2(data: bytes) -> str:
    return f"bzip2 compressed data, block size = {decode(data[3:4])}00k"


def _xz(data: bytes) -> str:
    check = _XZ_CHECKS.get(data[7] if len(data) > 7 else 0, "")
    return f"XZ compressed data, checksum {check}"


def _bmp(data: bytes) -> str:
    size, _, offset, _, width, height, _, depth = struct.unpack("<IIIIiiHH", data[2:30])
    shape = f"{width} x {height} x {depth}"
    return f"PC bitmap, Windows 3.x format, {shape}, cbSize {size}, bits offset {offset}"


def _id3(data: bytes) -> str:
    return f"Audio file with ID3 version 2.{data[3]}.{data[4]}"


def _seven_zip(data: bytes) -> str:
    return f"7-zip archive data, version {data[6]}.{data[7]}"


def _jpeg(data: bytes) -> str:
    words = ["JPEG image data"]
    position = 2
    while position + 4 <= len(data) and data[position] == 0xFF:
        marker, size = data[position + 1], int.from_bytes(data[position + 2 : position + 4], "big")
        body = data[position + 4 : position + 2 + size]
        if marker == 0xE0 and body[:5] == b"JFIF\0" and len(body) >= 12:
            unit = {0: "aspect ratio", 1: "resolution (DPI)", 2: "resolution (DPCM)"}.get(
                body[7], ""
            )
            density = "density {}x{}".format(*struct.unpack(">HH", body[8:12]))
            words += [
                f"JFIF standard {body[5]}.{body[6]:02d}",
                unit,
                density,
                f"segment length {size}",
            ]
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC) and len(body) >= 6:
            height, width = struct.unpack(">HH", body[1:5])
            form = {0xC0: "baseline", 0xC1: "extended sequential", 0xC2: "progressive"}.get(
                marker, "lossless"
            )
            words += [form, f"precision {body[0]}", f"{width}x{height}", f"components {body[5]}"]
            break
        elif marker == 0xD9 or size < 2:
            break
        position += 2 + size
    return ", ".join(words)


def _gzip(data: bytes, local: LocalTime) -> tuple[str, str]:
    words = ["gzip compressed data"]
    if len(data) < 18:
        return "gzip compressed data", "application/gzip"
    flags, modified, extra, system = data[3], int.from_bytes(data[4:8], "little"), data[8], data[9]
    if flags & 8 and not flags & 4:
        words.append(f'was "{decode(data[10 : data.find(0, 10)])}"')
    if modified:
        words.append(f"last modified: {local.show('%a %b %e %H:%M:%S %Y', modified * 10**9)}")
    if extra in (2, 4):
        words.append("max compression" if extra == 2 else "max speed")
    if system in _GZIP_SYSTEMS:
        words.append(f"from {_GZIP_SYSTEMS[system]}")
    words.append(f"original size modulo 2^32 {int.from_bytes(data[-4:], 'little')}")
    return ", ".join(words), "application/gzip"


def _zip(data: bytes) -> tuple[str, str]:
    if len(data) < 30:
        return "Zip archive data", "application/zip"
    version, _, method = struct.unpack("<HHH", data[4:10])
    length = int.from_bytes(data[26:28], "little")
    name = data[30 : 30 + length]
    if name == b"mimetype" and method == 0:
        size = int.from_bytes(data[18:22], "little")
        kind = decode(data[38 : 38 + size])
        if kind == "application/epub+zip":
            return "EPUB document", kind
        if kind.startswith("application/vnd.oasis.opendocument."):
            return f"OpenDocument {kind.rpartition('.')[2].capitalize()}", kind
    if name in (b"[Content_Types].xml", b"_rels/.rels", b"docProps"):
        for prefix, answer in _OFFICE.items():
            if b"PK\3\4" in data and prefix in data:
                return answer
    least = f"at least v{version // 10}.{version % 10} to extract"
    method = _ZIP_METHODS.get(method, method)
    return f"Zip archive data, {least}, compression method={method}", "application/zip"


def _riff(data: bytes) -> tuple[str, str]:
    kind = data[8:12]
    if kind == b"WAVE" and len(data) < 36:
        return "RIFF (little-endian) data, WAVE audio", "audio/x-wav"
    if kind == b"WAVE":
        code, channels, rate = struct.unpack("<HHI", data[20:28])
        bits = int.from_bytes(data[34:36], "little")
        name = {1: "Microsoft PCM", 3: "IEEE Float"}.get(code, "unknown")
        sound = {1: "mono", 2: "stereo"}.get(channels, f"{channels} channels,")
        return (
            f"RIFF (little-endian) data, WAVE audio, {name}, {bits} bit, {sound} {rate} Hz",
            "audio/x-wav",
        )
    if kind == b"WEBP":
        return "RIFF (little-endian) data, Web/P image", "image/webp"
    if kind == b"AVI ":
        return "RIFF (little-endian) data, AVI", "video/x-msvideo"
    return "RIFF (little-endian) data", "application/octet-stream"


def _elf(data: bytes) -> tuple[str, str]:
    if len(data) < 20:
        return "ELF", "application/octet-stream"
    order: Literal["little", "big"] = "little" if data[5] == 1 else "big"
    kind, machine = (int.from_bytes(data[at : at + 2], order) for at in (16, 18))
    words, mime = _ELF_TYPES.get(kind, ("unknown type", "application/octet-stream"))
    bits = "64-bit" if data[4] == 2 else "32-bit"
    shown = _MACHINES.get(machine, f"*unknown arch {machine:#x}*")
    version = int.from_bytes(data[20:24], order)
    release = f", version {version}" if version else ","
    return (
        f"ELF {bits} {'LSB' if order == 'little' else 'MSB'} {words}, {shown}{release} (SYSV)",
        mime,
    )


def _sqlite(data: bytes) -> str:
    counter, pages = struct.unpack(">II", data[24:32])
    cookie, schema = struct.unpack(">II", data[40:48])
    encoding = {1: "UTF-8", 2: "UTF-16 little endian", 3: "UTF-16 big endian"}.get(
        int.from_bytes(data[56:60], "big"), "unknown encoding"
    )
    valid, version = struct.unpack(">II", data[92:100])
    return (
        f"SQLite 3.x database, last written using SQLite version {version}, "
        f"file counter {counter}, database pages {pages}, cookie {cookie:#x}, schema {schema}, "
        f"{encoding}, version-valid-for {valid}"
    )


def _java(data: bytes) -> tuple[str, str]:
    minor, major = struct.unpack(">HH", data[4:8])
    if major < _FIRST_JAVA:
        return f"Mach-O universal binary with {major} architectures", "application/x-mach-binary"
    name = (
        f" (Java {f'1.{major - 44}' if major < _JAVA_9 else major - 44})"
        if major > _FIRST_JAVA
        else " (Java 1.1)"
    )
    return f"compiled Java class data, version {major}.{minor}{name}", "application/x-java-applet"


_DETAILED: tuple[tuple[bytes, int, str, Callable[[bytes], str]], ...] = (
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16, "image/png", _png),
    (b"GIF8", 10, "image/gif", _gif),
    (b"\xff\xd8\xff", 4, "image/jpeg", _jpeg),
    (b"%PDF-", 8, "application/pdf", _pdf),
    (b"BZh", 4, "application/x-bzip2", _bzip2),
    (b"\xfd7zXZ\0", 6, "application/x-xz", _xz),
    (b"BM", 30, "image/bmp", _bmp),
    (b"ID3", 11, "audio/mpeg", _id3),
    (b"SQLite format 3\0", 100, "application/vnd.sqlite3", _sqlite),
    (b"7z\xbc\xaf'\x1c", 8, "application/x-7z-compressed", _seven_zip),
)
"""(first bytes, least size, MIME type, description) of formats with one MIME type."""
_SEVERAL: tuple[tuple[bytes, int, Callable[[bytes], tuple[str, str]]], ...] = (
    (b"PK\3\4", 4, _zip),
    (b"RIFF", 12, _riff),
    (b"\x7fELF", 4, _elf),
    (b"\xca\xfe\xba\xbe", 8, _java),
)
"""(first bytes, least size, description and MIME type) of formats with several MIME types."""


def identify_binary(data: bytes, local: LocalTime) -> tuple[str, str] | None:
    """Return (description, MIME type) of a known binary format, None for anything else."""
    for magic, least, mime, describe in _DETAILED:
        if data.startswith(magic) and len(data) >= least:
            words = describe(data)
            return words, mime if words != "data" else "application/octet-stream"
    for magic, least, find in _SEVERAL:
        if data.startswith(magic) and len(data) >= least:
            return find(data)
    if data.startswith(b"\x1f\x8b") and len(data) > 2:
        return _gzip(data, local)
    if data[257:262] == b"ustar":
        gnu = " (GNU)" if data[262:265] == b"  \0" else ""
        return f"POSIX tar archive{gnu}", "application/x-tar"
    if data[4:8] == b"ftyp":
        words, mime = _ISO_BRANDS.get(data[8:12], ("", "video/mp4"))
        return f"ISO Media{', ' if words else ''}{words}", mime
    for magic, words, mime in _SIMPLE:
        if data.startswith(magic):
            return words, mime
    return None
