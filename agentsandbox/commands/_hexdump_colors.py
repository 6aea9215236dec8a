"""The colours of `hexdump -L`: `_L[COLOUR:VALUE@RANGE,…]` behind a conversion of a format string."""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError
from agentsandbox.streams import encode

__all__ = ["COLORS", "Color", "parse_colors"]

COLORS = re.compile(r"_L(?:\[([^\]]*)\])?")
_NAMES = {
    "black": "30", "red": "31", "green": "32", "brown": "33", "blue": "34", "magenta": "35", "cyan": "36", "gray": "37",
    "darkgray": "1;30", "lightred": "1;31", "lightgreen": "1;32", "yellow": "1;33", "lightblue": "1;34", "lightmagenta": "1;35",
    "lightcyan": "1;36", "reset": "0", "bold": "1", "halfbright": "2", "blink": "5", "reverse": "7",
}  # fmt: skip
_COLOR = re.compile(r"(!?)([^:@]*)(?::([^@]*))?(?:@([0-9]+)(?:-([0-9]+))?)?")
_NUMBER = re.compile(r"0[xX]([0-9a-fA-F]+)|0([0-7]*)")
_NO_COUNT = "bad byte count for conversion character _L"


class Color:
    """One colour, and where it applies: at bytes or an address of this value, in a range."""

    __slots__ = ("code", "end", "inverted", "start", "text", "value")

    def __init__(self, code: str, text: str | None, start: int | None, end: int, *, inverted: bool) -> None:
        self.code = code
        self.inverted = inverted
        self.start = start
        self.end = end
        number = _NUMBER.fullmatch(text) if text else None
        self.value = None if number is None else int(number[1], 16) if number[1] else int(number[2] or "0", 8)
        self.text = None if number is not None or text is None else encode(text)

    def applies(self, data: bytes, address: int, *, to_address: bool) -> bool:
        """Whether it is the colour of these bytes, or of their address."""
        if self.start is not None and not self.start <= address <= self.end:
            return False
        if self.text is not None:
            return data.startswith(self.text) != self.inverted
        if self.value is not None:
            return ((address if to_address else int.from_bytes(data, "little")) == self.value) != self.inverted
        return True


def parse_colors(text: str | None, size: int) -> list[Color]:
    """The colours that stand in the brackets, for a conversion of `size` bytes; those of unknown names are none."""
    if text is None:
        raise CommandError("bad conversion character %(null)")
    colors = []
    for item in text.split(","):
        found = _COLOR.fullmatch(item)
        if found is None:
            raise CommandError("bad conversion character %(null)")
        mark, name, value, start, end = found.groups()
        first = None if start is None else int(start[:18])
        last = 0 if first is None else int((end or start)[:18])
        color = Color(_NAMES.get(name, ""), value, first, last, inverted=bool(mark))
        if color.text is not None and not 0 < len(color.text) <= size:
            raise CommandError(_NO_COUNT)
        if color.code:
            colors.append(color)
    return colors
