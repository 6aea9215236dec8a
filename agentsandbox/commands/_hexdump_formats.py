"""The format strings of `hexdump -e`: iterations, byte counts and conversions, compiled to what prints a block."""

from __future__ import annotations

import math
import re
import struct
from itertools import accumulate

from agentsandbox.commands._dumps import Sheet
from agentsandbox.commands._hexdump_colors import COLORS, Color, parse_colors
from agentsandbox.errors import CommandError
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    from agentsandbox.limits import Budget

    _Cell: TypeAlias = tuple["Piece", int, bool]
    """A piece of a line, where its bytes begin, and whether it loses a blank at its end."""

__all__ = ["Format", "Unit", "parse_format", "show_lines", "split_format"]

_TOKEN = re.compile(r'[ \t\n]*(?:([0-9]*)/([0-9]+)|([0-9]+)/?)?[ \t\n]*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_DIRECTIVE = re.compile(r"%([-+ #0]*)([0-9]*)(?:\.([0-9]*))?(_?[A-Za-z%])([dox]?)", re.DOTALL)
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CONTROL_TEXT = "nul soh stx etx eot enq ack bel bs ht lf vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us"
_CONTROL_NAMES = _CONTROL_TEXT.split()
_STRUCT = {1: "B", 2: "H", 4: "I", 8: "Q"}
_TOGETHER = 1 << 20
"""Characters that are made together."""
_FEW = 16
"""So many lines are worth being made by columns."""
_C_ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


class Piece:
    """One conversion with the text before and after it, or text alone (`kind` is ""). Takes `size` bytes."""

    __slots__ = ("_tables", "_texts", "after", "base", "before", "colors", "flags", "kind", "precision", "size", "width")

    def __init__(self, before: str, kind: str = "", flags: str = "", width: int = 0, precision: int | None = None) -> None:
        self.before = before
        self.after = ""
        self.kind = kind
        self.flags = flags
        self.width = width
        self.precision = precision
        self.size = 0
        self.base = ""
        self.colors: list[Color] = []
        self._texts: dict[bool, list[str]] = {}
        self._tables: dict[bool, list[bytes] | None] = {}

    def _padded(self, text: str) -> str:
        if "-" in self.flags:
            return text.ljust(self.width)
        return text.rjust(self.width)

    def _colored(self, text: str, data: bytes, address: int) -> str:
        """The text in the first of its colours that applies."""
        for color in self.colors:
            if color.applies(data, address, to_address=self.kind == "_a"):
                return f"\x1b[{color.code}m{text}\x1b[0m"
        return text

    def blank(self, address: int) -> str:
        """What stands for the conversion after the end of the input."""
        text = self.before + " " * self.width
        return (self._colored(text, bytes(self.size), address) if self.colors else text) + self.after

    def show(self, data: bytes, address: int) -> str:
        """The piece for its bytes."""
        kind = self.kind
        if not kind:
            return self.before
        if kind in ("_a", "_A"):
            text = self._number(address, {"d": "d", "o": "o", "x": "x"}[self.base])
        elif kind in "diouxX":
            text = self._number(int.from_bytes(data, "little", signed=kind in "di"), kind)
        elif kind in "eEfFgG":
            text = self._float(data)
        else:
            text = self._padded(self._characters(data))
        if self.colors:
            return self._colored(self.before + text, data, address) + self.after
        return self.before + text + self.after

    def _number(self, value: int, kind: str) -> str:
        sign = "-" if value < 0 else "+" if "+" in self.flags and kind in "di" else " " if " " in self.flags and kind in "di" else ""
        digits = format(abs(value), {"d": "d", "i": "d", "u": "d", "o": "o", "x": "x", "X": "X"}[kind])
        if self.precision is not None:
            digits = digits.zfill(self.precision)
        if "#" in self.flags and value:
            sign += {"o": "0", "x": "0x", "X": "0X"}.get(kind, "")
        if "0" in self.flags and "-" not in self.flags and self.precision is None:
            digits = digits.zfill(self.width - len(sign))
        return self._padded(sign + digits)

    def _float(self, data: bytes) -> str:
        value: float = struct.unpack("<f" if self.size == 4 else "<d", data)[0]
        precision = 6 if self.precision is None else self.precision
        text = format(value, f"{'+' if '+' in self.flags else ' ' if ' ' in self.flags else ''}.{precision}{self.kind}")
        if value != value and math.copysign(1.0, value) < 0:
            text = "-" + text.lstrip("+ ")
        if "0" in self.flags and "-" not in self.flags:
            return text.zfill(self.width)
        return self._padded(text)

    def _characters(self, data: bytes) -> str:
        byte = data[0] if data else 0
        if self.kind == "_p":
            return chr(byte) if 32 <= byte < 127 else "."
        if self.kind == "_c":
            if byte in _C_ESCAPES:
                return _C_ESCAPES[byte]
            return chr(byte) if 32 <= byte < 127 else f"{byte:03o}"
        if self.kind == "_u":
            if byte < 32:
                return _CONTROL_NAMES[byte]
            return "del" if byte == 127 else chr(byte) if byte < 127 else f"{byte:02x}"
        text = data.split(b"\0", 1)[0] if self.kind == "s" else data
        return "".join([chr(b) if b < 128 else chr(0xDC00 + b) for b in text])

    # many lines at once

    @property
    def _is_number(self) -> bool:
        """Whether Python's formatting shows it as C's does."""
        return self.kind in ("_a", "d", "i", "o", "u", "x", "X") and self.flags in ("", "0", "-") and not self.colors

    def shape(self, *, shortened: bool) -> str:
        """What stands for it in the format of a whole line."""
        if self.kind and not self._is_number:
            return "%s"
        before, after = (text.replace("%", "%%") for text in (self.before, self.after))
        if not self.kind:
            return _without_blank(before) if shortened else before
        flags, precision = self.flags, ""
        if self.precision is not None:
            flags, precision = flags.replace("0", ""), f".{self.precision}"
        letter = self.base if self.kind == "_a" else self.kind.replace("u", "d")
        return f"{before}%{flags}{self.width or ''}{precision}{letter}{_without_blank(after) if shortened else after}"

    def texts(self, *, shortened: bool) -> list[str]:
        """How each byte is shown."""
        if shortened not in self._texts:
            texts = [self.show(bytes((byte,)), 0) for byte in range(256)]
            self._texts[shortened] = list(map(_without_blank, texts)) if shortened else texts
        return self._texts[shortened]

    def tables(self, positions: range, *, shortened: bool) -> list[bytes] | bytes | None:
        """What it shows, where that is as long in each line: a table for each character of a byte, or all texts in a row."""
        if self.size == 1 and not self.colors:
            if shortened not in self._tables:
                texts = self.texts(shortened=shortened)
                even = len(set(map(len, texts))) == 1 and "".join(texts).isascii()
                self._tables[shortened] = [bytes(map(ord, column)) for column in zip(*texts, strict=True)] if even else None
            return self._tables[shortened]
        shape = self.shape(shortened=shortened)
        if self.size or not shape.isascii() or (self.kind and not self._is_number):
            return None
        if not self.kind:
            return bytes(shape % () * len(positions), "ascii")
        if len(shape % positions[0]) != len(shape % positions[-1]):
            return None
        return bytes(shape * len(positions) % tuple(positions), "ascii")

    def column(self, data: bytes, positions: range, at: int, *, shortened: bool) -> Sequence[Any]:
        """What its shape takes for each line: numbers, or its whole texts. Its bytes begin `at` bytes into a line."""
        width, size = positions.step, self.size
        if self._is_number and not size:
            return range(positions.start + at, positions.stop + at, width)
        if size == 1 and not self._is_number and not self.colors:
            return list(map(self.texts(shortened=shortened).__getitem__, data[at::width]))
        if self._is_number:
            gathered = bytearray(size * len(positions))
            for offset in range(size):
                gathered[offset::size] = data[at + offset :: width]
            letter = _STRUCT[size]
            return struct.unpack(f"<{len(positions)}{letter.lower() if self.kind in 'di' else letter}", gathered)
        shown = [self.show(data[start : start + size], positions.start + start) for start in range(at, len(data), width)]
        return list(map(_without_blank, shown)) if shortened else shown


def _without_blank(text: str) -> str:
    return text[:-1] if text[-1:].isspace() else text


class Unit:
    """`count/size "text"`: pieces that are shown `repeat` times."""

    __slots__ = ("fixed", "pieces", "repeat", "size", "text")

    def __init__(self, repeat: int, size: int, text: str, *, fixed: bool, colored: bool) -> None:
        self.repeat = repeat
        self.fixed = fixed
        self.text = text
        self.pieces = _pieces(text, size, colored=colored)
        self.size = sum([piece.size for piece in self.pieces])

    @property
    def is_final(self) -> bool:
        """Whether it holds `%_A`, the address after all input."""
        return any(piece.kind == "_A" for piece in self.pieces)


class Format:
    """One format string: units that together show one block."""

    __slots__ = ("units",)

    def __init__(self, units: list[Unit]) -> None:
        self.units = units

    @property
    def size(self) -> int:
        """The bytes that it takes from a block."""
        return sum([unit.size * unit.repeat for unit in self.units])

    def fill(self, block_size: int) -> None:
        """Repeat the last unit without a count of its own up to the end of the block."""
        last = self.units[-1] if self.units else None
        if last is not None and last.size and not last.fixed and self.size < block_size:
            last.repeat += (block_size - self.size) // last.size

    def cells(self, budget: Budget) -> list[_Cell]:
        """Its pieces one after another, up to what is shown only after all input."""
        found: list[_Cell] = []
        at = 0
        for unit in self.units:
            if unit.is_final:
                break
            budget.charge(len(found) + unit.repeat * len(unit.pieces))
            for turn in range(unit.repeat, 0, -1):
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                for piece in unit.pieces:
                    is_last = turn == 1 and unit.repeat > 1 and piece is unit.pieces[-1]
                    found.append((piece, at, is_last and bool(piece.after or not piece.kind)))
                    at += piece.size
        return found


def show_lines(budget: Budget, cells: Sequence[_Cell], data: bytes, position: int, size: int) -> Iterator[bytes]:
    """Blocks of `size` bytes that stand from `position` on, the last perhaps shorter, by the cells of all formats."""
    whole = len(data) // size
    together = _TOGETHER // (len(_line(budget, cells, data[:size], position, position + size)) + 1) if whole >= _FEW else 0
    done = 0
    while whole - done >= _FEW and together >= _FEW:
        count = min(together, whole - done)
        part = data[done * size : (done + count) * size]
        positions = range(position + done * size, position + (done + count) * size, size)
        budget.step(count * len(cells) // 16 + 1)
        yield _even_lines(cells, part, positions) or _uneven_lines(cells, part, positions)
        done += count
    for start in range(done * size, len(data), size):
        block = data[start : start + size]
        text = _line(budget, cells, block.ljust(size, b"\0"), position + start, position + start + len(block))
        budget.charge(len(text))
        yield encode(text)


def _even_lines(cells: Sequence[_Cell], data: bytes, positions: range) -> bytes:
    """Whole lines that are all of one length, made by columns of characters; b"" where they may not be."""
    found: list[tuple[list[bytes] | bytes, int]] = []
    count = len(positions)
    for piece, at, shortened in cells:
        tables = piece.tables(range(positions.start + at, positions.stop + at, positions.step), shortened=shortened)
        if tables is None:
            return b""
        found.append((tables, at))
    widths = [len(tables) // count if isinstance(tables, bytes) else len(tables) for tables, _ in found]
    if not any(widths):
        return b""
    sheet = Sheet(count, sum(widths))
    for (tables, at), width, end in zip(found, widths, accumulate(widths), strict=True):
        if isinstance(tables, bytes):
            sheet.put(end - width, tables, width)
        else:
            sheet.translate(end - width, data[at :: positions.step], tables)
    return bytes(sheet.text)


def _uneven_lines(cells: Sequence[_Cell], data: bytes, positions: range) -> bytes:
    """Whole lines by one format for all of them."""
    line = "".join([piece.shape(shortened=shortened) for piece, _, shortened in cells])
    columns = [piece.column(data, positions, at, shortened=shortened) for piece, at, shortened in cells if piece.kind]
    values: list[Any] = [None] * (len(columns) * len(positions))
    for at, column in enumerate(columns):
        values[at :: len(columns)] = column
    return encode(line * len(positions) % tuple(values))


def _line(budget: Budget, cells: Sequence[_Cell], block: bytes, position: int, end: int) -> str:
    """A block that stands at `position`; what lies at or behind `end` is blank."""
    parts: list[str] = []
    for piece, at, shortened in cells:
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        if position + at >= end and piece.kind:
            text = piece.blank(position + at)
        else:
            text = piece.show(block[at : at + piece.size], position + at)
        parts.append(_without_blank(text) if shortened else text)
    return "".join(parts)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def _plain(text: str) -> str:
    """The text between conversions, in which none begins."""
    start = text.find("%")
    if start >= 0:
        raise CommandError(f"bad conversion character {text[start : start + 2]}")
    return text


def _pieces(text: str, size: int, *, colored: bool) -> list[Piece]:
    """The conversions of a text; text after the last one belongs to it."""
    pieces: list[Piece] = []
    end = 0
    before = ""
    for found in _DIRECTIVE.finditer(text):
        before += _plain(text[end : found.start()])
        end = found.end()
        flags, width, precision, kind, base = found.groups()
        if kind == "%":
            raise CommandError("bad conversion character %%")
        if kind not in ("_a", "_A"):
            end -= len(base)
        if len(width) > 6 or len(precision or "") > 6:
            raise CommandError(f"bad conversion character {found[0]}")
        piece = Piece(before, kind, flags, int(width or "0"), None if precision is None else int(precision or "0"))
        piece.base = base
        piece.size = _piece_size(piece, size, text[found.start() : found.end() + 1])
        if (color := COLORS.match(text, end)) is not None:
            if kind == "_A":
                raise CommandError("bad conversion character %_A_")
            if color[1] is None and not colored:
                raise CommandError("bad conversion character %_L")
            piece.colors = parse_colors(color[1], piece.size) if colored else []
            end = color.end()
        before = ""
        if pieces:
            pieces[-1].after, piece.before = piece.before, ""
        pieces.append(piece)
    rest = before + _plain(text[end:])
    if pieces:
        pieces[-1].after = rest
        return pieces
    return [Piece(rest)]


def _piece_size(piece: Piece, size: int, shown: str) -> int:
    kind = piece.kind
    if kind in ("_a", "_A"):
        if not piece.base:
            raise CommandError(f"bad conversion character {shown}")
        return 0
    if kind in ("_c", "_p", "_u", "c"):
        allowed, default = [1], 1
    elif kind in ("d", "i", "o", "u", "x", "X"):
        allowed, default = [1, 2, 4, 8], 4
    elif kind in ("e", "E", "f", "F", "g", "G"):
        allowed, default = [4, 8], 8
    elif kind == "s":
        if not size and piece.precision is None:
            raise CommandError("%s requires a precision or a byte count")
        return size or piece.precision or 0
    else:
        raise CommandError(f"bad conversion character %{kind}")
    if size and size not in allowed:
        raise CommandError(f"bad byte count for conversion character {kind}")
    return size or default


def split_format(text: str) -> list[tuple[str, int, str]]:
    """The units of one format string: how often, how many bytes, the format."""
    units: list[tuple[str, int, str]] = []
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise CommandError(f"bad format {{{text}}}")
        repeat_text, size_text, alone, body = found.groups()
        count = repeat_text or alone or ""
        if len(count) > 6 or len(size_text or "") > 6:
            raise CommandError(f"bad format {{{text}}}")
        units.append((count, int(size_text or "0"), body))
        at = found.end()
    return units


def parse_format(text: str, *, colored: bool = False) -> Format:
    """The units of one format string, in colours if it asks for some and they are wanted."""
    return Format(
        [Unit(int(count or "1"), size, _unescape(body), fixed=bool(count), colored=colored) for count, size, body in split_format(text)]
    )
