"""Sizes of files and of the disk space they take, as `ls`, `du` and `df` write them; numbers with suffixes as `dd` reads them."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.fs.base import Stat

__all__ = ["BLOCK_SIZE", "SizeFormat", "disk_usage", "parse_block_size", "parse_scaled"]

BLOCK_SIZE = 4096
"""Space is given to files in blocks of so many bytes, as on most Linux filesystems."""

_UNITS = "KMGTPEZY"
_NUMBER = re.compile(r"\s*\+?([0-9]+)?([bBcwkKMGTPEZYm]?)(iB|B|D)?\Z", re.ASCII)
_LARGEST = 2**63 - 1


def disk_usage(info: Stat) -> int:
    """The bytes that a file takes on the disk: whole blocks; one for a directory, none for a link or a special file."""
    if info.is_dir:
        return BLOCK_SIZE
    if not info.is_file:
        return 0
    return -(-info.size // BLOCK_SIZE) * BLOCK_SIZE


def parse_scaled(text: str, suffixes: str = "bcwkKMGTPEZY") -> int | None:
    """A whole number with one of `suffixes` (c 1, w 2, b 512, K 1024, KB 1000, KiB 1024 …); None for anything else.

    Raises OverflowError when the number passes 63 bits.
    """
    found = _NUMBER.match(text)
    if found is None or not (found[1] or found[2]):
        return None
    digits, unit, base = found.groups()
    if unit and unit not in suffixes:
        return None
    if base and (not unit or unit in "bBcw"):
        return None
    digits = digits.lstrip("0") or "0" if digits else "1"
    if len(digits) > 20:
        raise OverflowError
    factor = {"": 1, "c": 1, "w": 2, "b": 512, "B": 1024}.get(unit)
    if factor is None:
        factor = int((1000 if base in ("B", "D") else 1024) ** (_UNITS.index(unit.upper()) + 1))
    value = int(digits) * factor
    if value > _LARGEST:
        raise OverflowError
    return value


class SizeFormat:
    """How to write sizes: in units of `unit` bytes, or `human` with letters by powers of `base`; always rounded up."""

    __slots__ = ("base", "human", "suffix", "unit")

    def __init__(self, unit: int = 1024, *, human: bool = False, base: int = 1024, suffix: str = "") -> None:
        self.unit = unit
        self.human = human
        self.base = base
        self.suffix = suffix

    def show(self, size: int) -> str:
        """The size in words."""
        if not self.human:
            return f"{-(-size // self.unit)}{self.suffix}"
        base = self.base
        if size < base:
            return str(size)
        power = 0
        value = size
        while value >= base and power < len(_UNITS):
            value //= base
            power += 1
        divisor = base**power
        tenths = -(-size * 10 // divisor)
        if tenths < 100:
            shown = f"{tenths // 10}.{tenths % 10}"
        else:
            whole = -(-size // divisor)
            if whole >= base and power < len(_UNITS):
                power += 1
                shown = "1.0"
            else:
                shown = str(whole)
        letter = _UNITS[power - 1]
        return shown + (letter.lower() if letter == "K" and base == 1000 else letter)


def parse_block_size(text: str) -> SizeFormat | None:
    """What `--block-size=TEXT` asks for: "1K", "MB", "human-readable", "si"; None when it is no size."""
    if text in ("human-readable", "si"):
        return SizeFormat(human=True, base=1000 if text == "si" else 1024)
    numbered = text[:1].isdigit()
    try:
        unit = parse_scaled(text, "KMGTPEZYkmcbwB" if numbered else "KMGTPEZYkm")
    except OverflowError:
        return None
    if not unit:
        return None
    if numbered:
        return SizeFormat(unit)
    power_of_1000 = text.endswith("B") and "i" not in text
    first = text[0].upper() if text[0] in "mM" or not power_of_1000 else text[0].upper().replace("K", "k")
    return SizeFormat(unit, suffix=first + text[1:])
