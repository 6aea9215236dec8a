"""Byte order marks: `rg` reads a file that begins with one in the encoding that it names."""

from __future__ import annotations

from agentsandbox.commands._text.lines import give_back
from agentsandbox.commands.grep.rg_report import read_whole
from agentsandbox.kernel.streams import BytesReader, encode, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader

_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF8 = b"\xef\xbb\xbf"


def as_utf8(source: ByteReader, budget: Budget) -> ByteReader:
    """Return a file without its mark and in UTF-8. Pipes are not examined."""
    if isinstance(source, BytesReader):
        start = source.data[source.position : source.position + len(_UTF8)]
    elif position_of(source) is not None:
        start = source.read(len(_UTF8))
        give_back(source, len(start))
    else:
        return source
    if start == _UTF8:
        source.read(len(_UTF8))
    codec = _MARKS.get(start[:2])
    if codec is None:
        return source
    return BytesReader(encode(str(read_whole(source, budget)[2:], codec, "replace")))
