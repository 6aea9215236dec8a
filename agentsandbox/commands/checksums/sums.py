"""The old checksums: the CRC of POSIX, the sums of BSD and System V."""

from __future__ import annotations

import zlib

from agentsandbox.commands._text.lines import blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteReader

_REVERSED_BITS = bytes([int(f"{byte:08b}"[::-1], 2) for byte in range(256)])
_STEP = 4096


def bsd_sum(ctx: CommandContext, source: ByteReader) -> tuple[int, int]:
    """Return (checksum, bytes): the 16-bit sum rotates right before each byte."""
    total = size = 0
    for block in blocks(ctx.budget, source, _STEP):
        size += len(block)
        ctx.budget.step(len(block) // 16)
        for byte in block:
            total = ((total >> 1) + ((total & 1) << 15) + byte) & 0xFFFF
    return total, size


def sysv_sum(ctx: CommandContext, source: ByteReader) -> tuple[int, int]:
    """Return (checksum, bytes): the sum of all bytes, folded to 16 bits."""
    total = size = 0
    for block in blocks(ctx.budget, source):
        size += len(block)
        total += sum(block)
    folded = (total & 0xFFFF) + ((total & 0xFFFFFFFF) >> 16)
    return (folded & 0xFFFF) + (folded >> 16), size


def posix_crc(ctx: CommandContext, source: ByteReader) -> tuple[int, int]:
    """Return (checksum, bytes). zlib's CRC is the mirror image of POSIX's, with another start."""
    crc, size = 0xFFFFFFFF, 0
    for block in blocks(ctx.budget, source):
        size += len(block)
        crc = zlib.crc32(block.translate(_REVERSED_BITS), crc)
    length = size.to_bytes((size.bit_length() + 7) // 8, "little")
    crc = zlib.crc32(length.translate(_REVERSED_BITS), crc)
    return int(f"{crc:032b}"[::-1], 2), size
