"""The traditional encryption of zip archives (PKWARE's APPNOTE, section 6.1): weak, and what `zip -P` writes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from agentsandbox.limits import Budget

__all__ = ["HEADER", "Cipher", "decrypt", "encrypt"]

HEADER = 12
"""Bytes before the data: eleven at random, and one that tells a wrong password."""

_MASK = 0xFFFFFFFF
_STEP = 4096


def _make_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        table.append(value)
    return table


class Cipher:
    """The three keys that each byte of the plain text changes."""

    __slots__ = ("keys", "table")

    def __init__(self, password: bytes) -> None:
        self.table = _make_table()
        self.keys = (0x12345678, 0x23456789, 0x34567890)
        self.apply(password, backwards=False)

    def apply(self, data: bytes, *, backwards: bool) -> bytes:
        """Encrypt, or with `backwards` decrypt."""
        first, second, third = self.keys
        table = self.table
        out = bytearray()
        for byte in data:
            mask = third & 0xFFFF | 2
            changed = byte ^ (mask * (mask ^ 1) >> 8 & 0xFF)
            out.append(changed)
            plain = changed if backwards else byte
            first = first >> 8 ^ table[(first ^ plain) & 0xFF]
            second = ((second + (first & 0xFF)) * 134775813 + 1) & _MASK
            third = third >> 8 ^ table[(third ^ second >> 24) & 0xFF]
        self.keys = (first, second, third)
        return bytes(out)


def _pieces(parts: Iterable[bytes], budget: Budget) -> Iterator[bytes]:
    for part in parts:
        for at in range(0, len(part), _STEP):
            piece = part[at : at + _STEP]
            budget.step(len(piece))
            yield piece


def encrypt(parts: Iterable[bytes], password: bytes, check: int, random: Random, budget: Budget) -> list[bytes]:
    """The header and the data encrypted; `check` is the byte that a reader knows beforehand."""
    cipher = Cipher(password)
    header = bytes([random.randrange(256) for _ in range(HEADER - 1)]) + bytes([check])
    return [cipher.apply(header, backwards=False), *[cipher.apply(piece, backwards=False) for piece in _pieces(parts, budget)]]


def decrypt(data: bytes, password: bytes, check: int, budget: Budget) -> bytes | None:
    """The data without its header; None for a wrong password."""
    cipher = Cipher(password)
    header = cipher.apply(data[:HEADER], backwards=True)
    if len(header) < HEADER or header[-1] != check:
        return None
    budget.charge(len(data))
    return b"".join([cipher.apply(piece, backwards=True) for piece in _pieces((data[HEADER:],), budget)])
