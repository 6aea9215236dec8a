"""Sizes as `ls`, `du` and `df` print them, and numbers with suffixes as `dd` reads them."""

from __future__ import annotations

import re
import stat

from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.kernel.fs.base import Stat

BLOCK_SIZE = 4096
"""The bytes of a block of the disk, as on most Linux filesystems."""

_UNITS = "KMGTPEZY"
_NUMBER = lazily(r"\s*\+?([0-9]+)?([bBcwkKMGTPEZYm]?)(iB|B|D)?\Z", re.ASCII)
_LETTERS = "EGKMPTYZegkmptyz"
_LARGEST = 2**63 - 1
_LARGEST_UNSIGNED = 2**64 - 1
_BLOCK = lazily(
    r"\s*\+?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)?(?:([EGgkKMmPTtYZ])(iB|B|D|))?(.*)\Z",
    re.ASCII | re.DOTALL,
)


def disk_usage(info: Stat) -> int:
    """Return the bytes that a file takes on the disk: whole blocks, none for links and devices."""
    kind = stat.S_IFMT(info.mode)
    if kind == stat.S_IFREG:
        return -(-info.size // BLOCK_SIZE) * BLOCK_SIZE
    return BLOCK_SIZE if kind == stat.S_IFDIR else 0


def parse_scaled(text: str, suffixes: str = "bcwkKMGTPEZY") -> int | None:
    """Return a whole number with one of `suffixes` (c 1, w 2, b 512, K 1024, KB 1000, KiB 1024 …),
    None for any other text. Raises OverflowError beyond 63 bits.
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
    """The format of sizes, rounded up: in units of `unit` bytes, or with letters (`human`)."""

    __slots__ = ("base", "human", "suffix", "unit")

    def __init__(
        self, unit: int = 1024, *, human: bool = False, base: int = 1024, suffix: str = ""
    ) -> None:
        self.unit = unit
        self.human = human
        self.base = base
        self.suffix = suffix

    def show(self, size: int) -> str:
        """Return the size as text."""
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


def parse_block_size(text: str, what: str, status: int = 1) -> SizeFormat:
    """Return the format of `--block-size=TEXT` ("1K", "MB", "si"); messages say `what`."""
    text_shown = text
    text = text.removeprefix("'")  # digits in groups, which this locale has not
    if text in ("human-readable", "si"):
        return SizeFormat(human=True, base=1000 if text == "si" else 1024)
    digits, letter, base, rest = _split_number(text, what, text_shown, status)
    unit = _scaled(digits, letter, base)
    if not unit:
        raise CommandError(f"invalid {what} argument '{text_shown}'", status)
    if rest:
        raise CommandError(f"invalid suffix in {what} argument '{text_shown}'", status)
    if unit > _LARGEST_UNSIGNED:
        raise CommandError(f"{what} argument '{text_shown}' too large", status)
    if digits:
        return SizeFormat(unit)
    shown = letter.lower() if letter in "kK" and base == "B" else letter.upper()
    return SizeFormat(unit, suffix=shown + (base if base in ("B", "iB") else ""))


def _split_number(text: str, what: str, shown: str, status: int) -> tuple[str, str, str, str]:
    """Return (digits, letter of the unit, rest of the unit, rest of the text).

    A text without digits must begin with the letter of a unit.
    """
    found = _BLOCK.match(text)
    if found is None or not (found[1] or (text and text[0] in _LETTERS)):
        raise CommandError(f"invalid {what} argument '{shown}'", status)
    digits, letter, base, rest = found.groups(default="")
    if letter and letter not in _LETTERS:
        letter, base, rest = "", "", letter + base + rest
    return digits, letter, base, rest


def _scaled(digits: str, letter: str, base: str) -> int:
    unit = _number(digits) if digits else 1
    if letter:
        unit *= int((1000 if base in ("B", "D") else 1024) ** (_UNITS.index(letter.upper()) + 1))
    return unit


def _number(digits: str) -> int:
    """Return an integer of any base, as C reads it; very long ones are too large anyway."""
    if len(digits) > 40:
        return _LARGEST_UNSIGNED + 1
    return int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10)


def block_size_from(env: Mapping[str, str], variable: str) -> SizeFormat | None:
    """Return the block size of the environment, None for the default."""
    text = env.get(variable) or env.get("BLOCK_SIZE")
    fallback = SizeFormat(512 if "POSIXLY_CORRECT" in env else 1024)
    if text is None:
        text = env.get("BLOCKSIZE")
        if text is None:
            return fallback if fallback.unit == 512 else None
    try:
        return parse_block_size(text, "")
    except CommandError:
        return fallback
