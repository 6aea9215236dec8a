"""What the files of `rg` are written in: as -E says, or as the marks at their beginning do."""

from __future__ import annotations

from agentsandbox.commands._lines import give_back
from agentsandbox.commands._rg_report import read_whole
from agentsandbox.errors import CommandError
from agentsandbox.streams import BytesReader, Stream, encode, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget
    from agentsandbox.streams import ByteReader

__all__ = ["Encoding"]

_BLOCK = 65536
_UTF8 = b"\xef\xbb\xbf"
_MARKS = {_UTF8: "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_CODECS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8",
    "utf-16-le": "utf-16le utf-16 unicode",
    "utf-16-be": "utf-16be",
    "cp1252": "windows-1252 cp1252 x-cp1252 ascii us-ascii latin1 l1 iso-8859-1 iso8859-1 iso_8859-1 iso88591",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso_8859-9 iso88599 latin5 l5",
    "cp874": "windows-874 iso-8859-11 iso8859-11 tis-620",
    **{f"cp{number}": f"windows-{number} cp{number} x-cp{number}" for number in (1250, 1251, 1253, 1255, 1256, 1257, 1258)},
    **{f"iso8859-{part}": f"iso-8859-{part} iso8859-{part} iso8859{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "koi8-r": "koi8-r koi8 koi",
    "koi8-u": "koi8-u",
    "cp866": "ibm866 cp866 866",
    "mac-roman": "macintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic",
    "gb18030": "gb18030 gbk gb2312 x-gbk chinese",
    "big5hkscs": "big5 big5-hkscs cn-big5",
    "cp932": "shift_jis shift-jis sjis x-sjis ms_kanji windows-31j",
    "euc-jp": "euc-jp x-euc-jp",
    "iso2022-jp": "iso-2022-jp",
    "cp949": "euc-kr korean windows-949",
}
"""Python's codecs, and the labels of the WHATWG's Encoding Standard that mean them."""
_LABELS = {label: codec for codec, labels in _CODECS.items() for label in labels.split()}
_UNKNOWN_BYTES = {0xDC00 + byte: byte if byte < 0xA0 else 0xFFFD for byte in range(0x80, 0x100)}
"""Bytes that a table of one byte for a character does not have: control characters, if any."""


class Encoding:
    """How files are read; raises `CommandError` for a label that nobody knows."""

    def __init__(self, label: str) -> None:
        word = label.strip().lower()
        self._looks = word != "none"
        self.codec = None if label in ("auto", "none") else _LABELS.get(word)
        if self.codec is None and label not in ("auto", "none"):
            raise CommandError(f"grep config error: unknown encoding: {label}", 2)

    def read(self, source: ByteReader, budget: Budget) -> ByteReader:
        """The source in UTF-8, without the mark at its beginning; the same source where there is nothing to change."""
        if not self._looks:
            return source
        whole, start = _look(source)
        mark = next((mark for mark in _MARKS if start.startswith(mark)), b"")
        codec = _MARKS.get(mark, self.codec)
        if self.codec is not None and self.codec.startswith("utf-16") and mark == _UTF8:
            codec = self.codec
        elif mark:
            whole.read(len(mark))
        if codec is None or (mark == _UTF8 and self.codec is None):
            return whole
        return BytesReader(encode(_text(read_whole(whole, budget), codec)))


def _text(data: bytes, codec: str) -> str:
    if not codec.startswith(("cp12", "cp874", "iso8859")):
        return str(data, codec, "replace")
    return str(data, codec, "surrogateescape").translate(_UNKNOWN_BYTES)


def _look(source: ByteReader) -> tuple[ByteReader, bytes]:
    """The first bytes of a source, and a reader that begins with them."""
    if isinstance(source, BytesReader):
        return source, source.data[source.position : source.position + len(_UTF8)]
    if position_of(source) is not None:
        start = source.read(len(_UTF8))
        give_back(source, len(start))
        return source, start
    held = b""
    while len(held) < len(_UTF8) and (block := source.read(_BLOCK)):
        held += block
    return _Ahead(held, source), held


class _Ahead(Stream):
    """A source of which something has been read already."""

    __slots__ = ("_held", "_source")

    def __init__(self, held: bytes, source: ByteReader) -> None:
        super().__init__()
        self._held = held
        self._source = source

    def read(self, size: int = -1) -> bytes:
        if not self._held:
            return self._source.read(size)
        if size < 0:
            taken, self._held = self._held, b""
            return taken + self._source.read()
        taken, self._held = self._held[:size], self._held[size:]
        return taken

    def readline(self, end: bytes = b"\n") -> bytes:
        line, found, rest = self._held.partition(end)
        self._held = rest
        return line + found if found else line + self._source.readline(end)
