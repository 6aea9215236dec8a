"""`uuidgen` (util-linux): a universally unique identifier."""

from __future__ import annotations

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners

_TICKS = 10_000_000
_BEFORE_EPOCH = 12_219_292_800
"""Ticks in a second, and seconds from the start of the Gregorian calendar to that of Unix."""


def _shown(bits: int, version: int) -> str:
    """Return the text of 128 bits, with the version and the variant set."""
    bits = bits & ~(0xF << 76) | version << 76
    bits = bits & ~(3 << 62) | 2 << 62
    digits = f"{bits:032x}"
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


def _of_time(ctx: CommandContext) -> str:
    """Return a moment and a random node, marked as no network card's address."""
    ticks = int(ctx.host.clock() * _TICKS) + _BEFORE_EPOCH * _TICKS
    low, middle, high = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0xFFF
    node = ctx.host.random.getrandbits(62) | 1 << 40
    return _shown(low << 96 | middle << 80 | high << 64 | node, 1)


@command(
    "uuidgen",
    manners=Manners(
        UTIL_LINUX, long_options="random time version help namespace name md5 sha1 hex"
    ),
    usage="""
    Usage: uuidgen [options]
    Create a new UUID value. A sandbox with a fixed seed repeats its values.

     -r, --random        generate random-based uuid (default)
     -t, --time          generate time-based uuid
     -h, --help          display this help
    """,
)
def uuidgen(ctx: CommandContext, args: Arguments) -> int:
    by_time = args.last("random", "time") == "time"
    ctx.print(_of_time(ctx) if by_time else _shown(ctx.host.random.getrandbits(128), 4))
    return 0
