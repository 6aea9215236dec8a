"""The operands of `dd`: `name=value`, numbers with multipliers, lists of flags."""

from __future__ import annotations

import re

from agentsandbox.commands._block_sizes import parse_scaled
from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DdOptions"]

_CONVERSIONS = frozenset((
    "block", "unblock", "lcase", "ucase", "sparse", "swab", "sync", "excl", "nocreat", "notrunc", "noerror",
    "fdatasync", "fsync",
))  # fmt: skip
_FLAGS = frozenset((
    "append", "count_bytes", "direct", "dsync", "fullblock", "noatime", "nocache", "noctty", "nonblock",
    "seek_bytes", "skip_bytes", "sync",
))  # fmt: skip
_STATUS = ("none", "noxfer", "progress")
_TOO_LARGE = "Value too large for defined data type"
_LARGEST = 2**63 - 1
_LARGEST_BLOCK = _LARGEST - 8192
_NUMBER = re.compile(r"\s*\+?([0-9]+)([bcw]|[EGkKMPTYZ](?:iB|[BD])?)?", re.ASCII)
_EXCLUSIVE = (("lcase", "ucase"), ("block", "unblock"), ("excl", "nocreat"))


class DdOptions:
    """What the operands say; sizes in bytes, `count` None for no limit."""

    def __init__(self, words: Sequence[str], warn: Callable[[str], None]) -> None:
        self.warn = warn
        self.input: str | None = None
        self.output: str | None = None
        self.input_size = self.output_size = 512
        self.one_buffer = False
        self.record_size = 0
        self.count: int | None = None
        self.skip = self.seek = 0
        self.conversions: set[str] = set()
        self.input_flags: set[str] = set()
        self.output_flags: set[str] = set()
        self.status = ""
        block: int | None = None
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or not self._read(name, value):
                if name == "bs" and equals:
                    block = self._size(value, _LARGEST_BLOCK)
                    continue
                raise UsageError(f"unrecognized operand {quote(word)}")
        if block is not None:
            self.input_size = self.output_size = block
            self.one_buffer = not self.conversions & {"block", "unblock", "lcase", "ucase", "swab"}
        if not self.record_size:
            self.conversions -= {"block", "unblock"}
        if "fullblock" in self.output_flags:
            raise UsageError(f"invalid output flag: {quote('fullblock')}")
        if "append" in self.output_flags and "notrunc" not in self.conversions:
            warn("you probably want conv=notrunc with oflag=append")
        for pair in _EXCLUSIVE:
            if self.conversions.issuperset(pair):
                raise CommandError(f"cannot combine {pair[0]} and {pair[1]}")
        for flags in (self.input_flags, self.output_flags):
            if flags.issuperset(("direct", "nocache")):
                raise CommandError("cannot combine direct and nocache")

    def _read(self, name: str, value: str) -> bool:
        """Take one operand; false if its name is unknown here."""
        if name == "if":
            self.input = value
        elif name == "of":
            self.output = value
        elif name in ("ibs", "obs", "cbs"):
            size = self._size(value, _LARGEST if name == "cbs" else _LARGEST_BLOCK)
            if name == "ibs":
                self.input_size = size
            elif name == "obs":
                self.output_size = size
            else:
                self.record_size = size
        elif name in ("count", "skip", "iseek", "seek", "oseek"):
            self._read_amount(name, value)
        elif name == "status":
            if value not in _STATUS:
                raise UsageError(f"invalid status level: {quote(value)}")
            self.status = value
        elif name == "conv":
            self.conversions |= _words(value, _CONVERSIONS, "conversion")
        elif name == "iflag":
            self.input_flags |= _words(value, _FLAGS, "input flag")
        elif name == "oflag":
            self.output_flags |= _words(value, _FLAGS, "output flag")
        else:
            return False
        return True

    def _read_amount(self, name: str, value: str) -> None:
        number = self._number(value)
        in_bytes = "B" in value  # wherever it is: GNU's counts bytes for "1kB" too
        if name == "count":
            self.count = number
            if in_bytes:
                self.input_flags.add("count_bytes")
        elif name in ("skip", "iseek"):
            self.skip = number
            if in_bytes:
                self.input_flags.add("skip_bytes")
        else:
            self.seek = number
            if in_bytes:
                self.output_flags.add("seek_bytes")

    def _size(self, text: str, largest: int) -> int:
        number = self._number(text)
        if not number:
            raise CommandError(f"invalid number: {quote(text)}")
        if number > largest:
            raise CommandError(f"invalid number: {quote(text)}: {_TOO_LARGE}")
        return number

    def _number(self, text: str) -> int:
        """A number with a unit, or a product of two: "3kB", "2x3K"."""
        first, times, second = text.partition("x")
        number, factor = _scaled(first, ended=False), _scaled(second, ended=True) if times else 1
        if number is None or factor is None:
            raise CommandError(f"invalid number: {quote(text)}")
        if number * factor > _LARGEST:
            raise CommandError(f"invalid number: {quote(text)}: {_TOO_LARGE}")
        if times and not number * factor and text.startswith("0x"):
            self.warn(f"warning: {quote('0x')} is a zero multiplier; use {quote('00x')} if that is intended")
        return number * factor


def _scaled(text: str, *, ended: bool) -> int | None:
    """A number with a unit, which a B may follow unless it is `ended`; None for anything else."""
    found = _NUMBER.match(text)
    if found is None:
        return None
    rest = text[found.end() :]
    if rest and (ended or rest != "B" or found[0].endswith("B")):
        return None
    try:
        return parse_scaled(found[1] + (found[2] or ""), "bcwkKMGTPEZY")
    except OverflowError:
        return _LARGEST + 1


def _words(value: str, known: frozenset[str], what: str) -> set[str]:
    words = value.split(",")
    for word in words:
        if word not in known:
            raise UsageError(f"invalid {what}: {quote(word)}")
    return set(words)
