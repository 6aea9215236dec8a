"""The format strings of `hexdump -e`: iterations, byte counts and conversions."""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

_TOKEN = re.compile(
    r'[ \t\n]*+(?:([0-9]*+)/([0-9]++)|([0-9]++)/?)?[ \t\n]*+"((?:[^"\\]|\\.)*+)"', re.DOTALL
)
_DIRECTIVE = re.compile(r"%([-+ 0]*+)([0-9]*+)(?:\.([0-9]*+))?(_?[A-Za-z%])([dox]?)", re.DOTALL)
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_C_ESCAPES = {
    0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r",
}  # fmt: skip
_INTEGERS = "diouxX"
_SIZES = {"_c": "1", "_p": "1", "c": "1"} | dict.fromkeys(_INTEGERS, "4128")
"""The byte counts of conversions, the usual one first."""


class _Piece:
    """One conversion with the text before and after it, or text alone (`kind` is "")."""

    __slots__ = ("after", "before", "kind", "size", "template", "width")

    def __init__(
        self, before: str, kind: str = "", *, size: int = 0, width: int = 0, template: str = ""
    ) -> None:
        self.before = before
        self.after = ""
        self.kind = kind
        self.size = size
        self.width = width
        self.template = template
        """The conversion as Python's `%` takes it."""

    def blank(self) -> str:
        """Return the text that replaces the conversion after the end of the input."""
        return self.before + " " * self.width + self.after

    def show(self, data: bytes, address: int) -> str:
        """Return the text for the bytes at an address."""
        if not self.kind:
            return self.before
        return self.before + self.template % self._value(data, address) + self.after

    def _value(self, data: bytes, address: int) -> int | str:
        kind = self.kind
        if kind in ("_a", "_A"):
            return address
        if kind in _INTEGERS:
            return int.from_bytes(data, "little", signed=kind in "di")
        return self._characters(data)

    def _characters(self, data: bytes) -> str:
        byte = data[0] if data else 0
        if self.kind == "_p":
            return chr(byte) if 32 <= byte < 127 else "."
        if self.kind == "_c":
            return _C_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"{byte:03o}")
        return chr(byte) if byte < 128 else chr(0xDC00 + byte)


class _Unit:
    """`count/size "text"`: pieces that are shown `repeat` times."""

    __slots__ = ("fixed", "pieces", "repeat", "size")

    def __init__(self, count: str, size: int, text: str) -> None:
        self.repeat = int(count or "1")
        self.fixed = bool(count)
        self.pieces = _pieces(text, size)
        self.size = sum([piece.size for piece in self.pieces])

    @property
    def is_final(self) -> bool:
        """Whether the unit holds `%_A`, the address after all input."""
        return any(piece.kind == "_A" for piece in self.pieces)


class Format:
    """One format string: units that together show one block."""

    __slots__ = ("units",)

    def __init__(self, units: list[_Unit]) -> None:
        self.units = units

    @property
    def size(self) -> int:
        """The number of bytes that one use of the format takes."""
        return sum([unit.size * unit.repeat for unit in self.units])

    def fill(self, block_size: int) -> None:
        """Repeat the last unit without a count of its own up to the end of the block."""
        last = self.units[-1] if self.units else None
        if last is not None and last.size and not last.fixed and self.size < block_size:
            last.repeat += (block_size - self.size) // last.size

    def show(self, budget: Budget, block: bytes, position: int) -> str:
        """Return the text of a block at a position; conversions past its end are blank."""
        parts: list[str] = []
        at = 0
        for unit in self.units:
            if unit.is_final:
                break
            for turn in range(unit.repeat, 0, -1):
                budget.step()
                for piece in unit.pieces:
                    if at >= len(block) and piece.kind:
                        text = piece.blank()
                    else:
                        text = piece.show(
                            block[at : at + piece.size].ljust(piece.size, b"\0"), position + at
                        )
                    parts.append(text)
                    at += piece.size
                ends = unit.repeat > 1 and turn == 1 and (piece.after or not piece.kind)
                if ends and parts[-1][-1:].isspace():
                    parts[-1] = parts[-1][:-1]  # the last of several loses a blank at its end
        return "".join(parts)

    def final(self, position: int) -> str:
        """Return the text of `%_A`, the address after all input; "" without one."""
        pieces = [piece for unit in self.units if unit.is_final for piece in unit.pieces]
        return "".join([piece.show(b"", position) for piece in pieces])


def _plain(text: str) -> str:
    """Return the text between conversions, in which none may begin."""
    start = text.find("%")
    if start >= 0:
        raise CommandError(f"bad conversion character {text[start : start + 2]}")
    return text


def _pieces(text: str, size: int) -> list[_Piece]:
    """Return the conversions of a text, each with the text after it."""
    pieces: list[_Piece] = []
    end = 0
    before = ""
    for found in _DIRECTIVE.finditer(text):
        before += _plain(text[end : found.start()])
        flags, width, precision, kind, base = found.groups()
        address = kind in ("_a", "_A")
        end = found.end() if address else found.end() - len(base)
        if kind == "%" or len(width) > 6 or len(precision or "") > 6 or (address and not base):
            raise CommandError(f"bad conversion character %{kind}")
        bytes_taken = 0 if address else _piece_size(kind, size)
        template = _template(kind, flags, width, precision, base)
        piece = _Piece(before, kind, size=bytes_taken, width=int(width or "0"), template=template)
        before = ""
        if pieces:
            pieces[-1].after, piece.before = piece.before, ""
        pieces.append(piece)
    rest = before + _plain(text[end:])
    if not pieces:
        return [_Piece(rest)]
    pieces[-1].after = rest
    return pieces


def _template(kind: str, flags: str, width: str, precision: str | None, base: str) -> str:
    """Return a conversion as Python's `%` takes it; `base` is the letter behind `_a`."""
    letter = base if kind in ("_a", "_A") else kind
    if letter not in _INTEGERS:
        return f"%{'-' if '-' in flags else ''}{width}s"
    if letter in "ouxX":
        flags = flags.replace("+", "").replace(" ", "")
    if precision is not None:
        flags = flags.replace("0", "")
    return f"%{flags}{width}{'' if precision is None else '.' + precision}{letter}"


def _piece_size(kind: str, size: int) -> int:
    """Return how many bytes a conversion takes, from its unit or by itself."""
    allowed = _SIZES.get(kind)
    if allowed is None:
        raise CommandError(f"bad conversion character %{kind}")
    if size and str(size) not in allowed:
        raise CommandError(f"bad byte count for conversion character {kind}")
    return size or int(allowed[0])


def split_format(text: str) -> list[tuple[str, int, str]]:
    """Return (count, bytes, text) of each unit of a format string."""
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


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def parse_format(text: str) -> Format:
    """Parse one format string."""
    return Format([_Unit(count, size, _unescape(body)) for count, size, body in split_format(text)])
