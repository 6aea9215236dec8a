"""`--csv` of gawk 5.3: records and fields of comma-separated values.

A newline inside double quotes does not end a record. So the input is read through `CsvSource`,
which ends each record with a mark instead, a character that no text file has.
"""

from __future__ import annotations

from agentsandbox.kernel.streams import ByteReader

RECORD_END = "\x1e"
"""The record separator of ASCII."""

_END = RECORD_END.encode("ascii")


class CsvSource(ByteReader):
    """Another input with RECORD_END at the end of each record."""

    __slots__ = ("_quoted", "source")

    def __init__(self, source: ByteReader) -> None:
        self.source = source
        self._quoted = False

    def read(self, size: int = -1) -> bytes:
        data = self.source.read(size)
        pieces = data.split(b'"')
        for number, piece in enumerate(pieces):
            if number:
                self._quoted = not self._quoted
            if not self._quoted:
                pieces[number] = piece.replace(b"\r\n", _END).replace(b"\n", _END)
        return b'"'.join(pieces)

    def release(self) -> None:
        """Close the input."""
        self.source.release()  # type: ignore[attr-defined]


def csv_fields(text: str) -> list[str]:
    """Return the fields of a record; a field may be in double quotes, inside which two are one."""
    if '"' not in text:
        return text.split(",") if text else []
    fields: list[str] = []
    at, end = 0, len(text)
    while True:
        if text.startswith('"', at):
            parts: list[str] = []
            at += 1
            while True:
                close = text.find('"', at)
                if close < 0:
                    parts.append(text[at:])
                    at = end
                    break
                parts.append(text[at:close])
                at = close + 1
                if not text.startswith('"', at):
                    break
                parts.append('"')
                at += 1
            comma = text.find(",", at)
            comma = end if comma < 0 else comma
            fields.append("".join(parts) + text[at:comma])
        else:
            comma = text.find(",", at)
            comma = end if comma < 0 else comma
            fields.append(text[at:comma])
        if comma >= end:
            return fields
        at = comma + 1
