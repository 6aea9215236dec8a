"""The operands of `dd`: `name=value`, numbers with multipliers, lists of flags."""

from __future__ import annotations

from agentsandbox.commands._block_sizes import parse_scaled
from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DdOptions"]

_CONVERSIONS = frozenset((
    "ascii", "ebcdic", "ibm", "block", "unblock", "lcase", "ucase", "sparse", "swab", "sync", "excl", "nocreat", "notrunc", "noerror",
    "fdatasync", "fsync",
))  # fmt: skip
_INPUT_FLAGS = frozenset(
    (
        "fullblock",
        "count_bytes",
        "skip_bytes",
        "nonblock",
        "noatime",
        "nocache",
        "noctty",
        "nofollow",
        "binary",
        "text",
        "sync",
        "dsync",
        "direct",
        "directory",
    )
)
_OUTPUT_FLAGS = frozenset(
    ("append", "seek_bytes", "nonblock", "noatime", "nocache", "noctty", "nofollow", "binary", "text", "sync", "dsync", "direct")
)
_CHARACTER_SETS = frozenset(("ascii", "ebcdic", "ibm"))
_STATUS = ("none", "noxfer", "progress")
_TOO_LARGE = "Value too large for defined data type"
_EXCLUSIVE = (("lcase", "ucase"), ("block", "unblock"), ("excl", "nocreat"))


class DdOptions:
    """What the operands say; sizes in bytes, `count` None for no limit."""

    def __init__(self, words: Sequence[str]) -> None:
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
                    block = _size(value)
                    continue
                raise UsageError(f"unrecognized operand {quote(word)}")
        if block is not None:
            self.input_size = self.output_size = block
            self.one_buffer = not self.conversions & {"ascii", "ebcdic", "ibm", "block", "unblock", "lcase", "ucase", "swab"}
        if len(self.conversions & _CHARACTER_SETS) > 1:
            raise CommandError("cannot combine any two of {ascii,ebcdic,ibm}")
        if "ascii" in self.conversions:
            self.conversions.add("unblock")
        elif self.conversions & _CHARACTER_SETS:
            self.conversions.add("block")
        for pair in _EXCLUSIVE:
            if self.conversions.issuperset(pair):
                raise CommandError(f"cannot combine {pair[0]} and {pair[1]}")
        if not self.record_size:
            self.conversions -= {"block", "unblock"}

    def _read(self, name: str, value: str) -> bool:
        """Take one operand; false if its name is unknown here."""
        if name == "if":
            self.input = value
        elif name == "of":
            self.output = value
        elif name in ("ibs", "obs", "cbs"):
            size = _size(value)
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
            self.input_flags |= _words(value, _INPUT_FLAGS, "input flag")
        elif name == "oflag":
            self.output_flags |= _words(value, _OUTPUT_FLAGS, "output flag")
        else:
            return False
        return True

    def _read_amount(self, name: str, value: str) -> None:
        number = _number(value)
        in_bytes = value.endswith("B") and value[:-1].isdecimal()
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


def _words(value: str, known: frozenset[str], what: str) -> set[str]:
    words = value.split(",")
    for word in words:
        if word not in known:
            raise UsageError(f"invalid {what}: {quote(word)}")
    return set(words)


def _size(text: str) -> int:
    number = _number(text)
    if not number:
        raise CommandError(f"invalid number: {quote(text)}")
    return number


def _number(text: str) -> int:
    """A product of numbers with units: "2x3K"."""
    product = 1
    for factor in text.strip().split("x"):
        plain = factor[:-1] if factor.endswith("B") and factor[:-1].isdecimal() else factor
        try:
            number = parse_scaled(plain, "bcwkKMGTPEZY") if plain[:1].isdecimal() else None
            if number is None:
                raise CommandError(f"invalid number: {quote(text)}")
            product *= number
            if product >= 2**63:
                raise OverflowError
        except OverflowError:
            raise CommandError(f"invalid number: {quote(text)}: {_TOO_LARGE}") from None
    return product
