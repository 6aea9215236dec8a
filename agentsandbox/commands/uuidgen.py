"""`uuidgen` (util-linux): a universally unique identifier."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.errors import UsageError
from agentsandbox.manners import Manners
from agentsandbox.streams import encode

_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAMESPACES = {name: f"6ba7b81{digit}-9dad-11d1-80b4-00c04fd430c8" for name, digit in (("dns", 0), ("url", 1), ("oid", 2), ("x500", 4))}
_TICKS = 10_000_000
_BEFORE_EPOCH = 12_219_292_800
"""Ticks in a second, and seconds from the start of the Gregorian calendar to that of Unix."""


def _shown(bits: int, version: int) -> str:
    """The text of 128 bits, with the version and the variant set."""
    bits = bits & ~(0xF << 76) | version << 76
    bits = bits & ~(3 << 62) | 2 << 62
    digits = f"{bits:032x}"
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


def _of_time(ctx: CommandContext) -> str:
    """A moment, and a chosen node, marked as no network card's address."""
    ticks = int(ctx.host.clock() * _TICKS) + _BEFORE_EPOCH * _TICKS
    low, middle, high = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0xFFF
    node = ctx.host.random.getrandbits(62) | 1 << 40
    return _shown(low << 96 | middle << 80 | high << 64 | node, 1)


def _of_name(namespace: str, name: bytes, kind: str) -> str:
    import hashlib  # it takes 2 ms to load

    text = bytes.fromhex(namespace.replace("-", "")) + name
    if kind == "md5":
        return _shown(int.from_bytes(hashlib.md5(text, usedforsecurity=False).digest(), "big"), 3)
    return _shown(int.from_bytes(hashlib.sha1(text, usedforsecurity=False).digest()[:16], "big"), 5)


def _namespace(text: str) -> str:
    if text.startswith("@"):
        found = _NAMESPACES.get(text[1:])
        if found is None:
            raise UsageError(f"unknown namespace alias: '{text}'")
        return found
    if not _UUID.fullmatch(text):
        raise UsageError(f"invalid uuid for namespace: '{text}'")
    return text


def _name(args: Arguments) -> bytes:
    text = args.value("name") or ""
    if not args.flag("hex"):
        return encode(text)
    if not re.fullmatch("([0-9a-fA-F]{2})*", text):
        raise UsageError("not a valid hex string")
    return bytes.fromhex(text)


@command(
    "uuidgen",
    manners=Manners(
        UTIL_LINUX,
        long_options="random time version help namespace name md5 sha1 hex",
    ),
    usage="""
    Usage: uuidgen [options]
    Create a new UUID value. It comes from the sandbox's own clock and source of chance, so a fixed seed repeats it.

     -r, --random        generate random-based uuid (default)
     -t, --time          generate time-based uuid
     -n, --namespace=NS  generate hash-based uuid in this namespace: a UUID, @dns, @url, @oid or @x500
     -N, --name=NAME     generate hash-based uuid from this name
     -m, --md5           generate md5 hash
     -s, --sha1          generate sha1 hash
     -x, --hex           interpret name as hex string
     -h, --help          display this help
    """,
)
def uuidgen(ctx: CommandContext, args: Arguments) -> int:
    kind = args.last("random", "time", "md5", "sha1")
    if args.flag("namespace"):
        if not args.flag("name"):
            raise UsageError("--namespace requires --name argument")
        if kind not in ("md5", "sha1"):
            raise UsageError("--namespace requires --md5 or --sha1")
    elif args.flag("name"):
        raise UsageError("--name requires --namespace argument")
    elif kind in ("md5", "sha1"):
        raise UsageError("--md5 or --sha1 requires --namespace argument")
    if kind in ("md5", "sha1"):
        name = _name(args)
        ctx.print(_of_name(_namespace(args.value("namespace") or ""), name, kind))
    else:
        ctx.print(_of_time(ctx) if kind == "time" else _shown(ctx.host.random.getrandbits(128), 4))
    return 0
