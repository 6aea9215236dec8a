"""The operands of `dd`: `name=value`, numbers with multipliers, lists of flags."""

from __future__ import annotations

from agentsandbox.commands._files.block_sizes import parse_scaled
from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORDS = {
    "conv": (
        "conversion",
        "block unblock lcase ucase sparse swab sync excl nocreat notrunc noerror fdatasync fsync",
    ),
    "iflag": ("input flag", "count_bytes direct dsync fullblock nonblock skip_bytes sync"),
    "oflag": ("output flag", "append direct dsync nonblock seek_bytes sync"),
}
"""The words that these operands take: what to call one in a message, and all of them."""
_STATUS = ("none", "noxfer", "progress")
_TOO_LARGE = "Value too large for defined data type"
_LARGEST = 2**63 - 1
_LARGEST_BLOCK = _LARGEST - 8192
_EXCLUSIVE = (("lcase", "ucase"), ("block", "unblock"), ("excl", "nocreat"))


class DdOptions:
    """What the operands say; sizes in bytes, `count` None for no limit."""

    def __init__(self, words: Sequence[str], warn: Callable[[str], None]) -> None:
        self.input: str | None = None
        self.output: str | None = None
        self.sizes = {"ibs": 512, "obs": 512, "cbs": 0, "bs": 0}
        self.count: int | None = None
        self.skip = self.seek = 0
        self.words: dict[str, set[str]] = {"conv": set(), "iflag": set(), "oflag": set()}
        self.status = ""
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or not self._read(name, value):
                raise UsageError(f"unrecognized operand {quote(word)}")
        self.conversions = self.words["conv"]
        self.input_flags = self.words["iflag"]
        self.output_flags = self.words["oflag"]
        self.input_size = self.sizes["bs"] or self.sizes["ibs"]
        self.output_size = self.sizes["bs"] or self.sizes["obs"]
        self.record_size = self.sizes["cbs"]
        """The size of records for conv=block and conv=unblock."""
        changing = self.conversions & {"block", "unblock", "lcase", "ucase", "swab"}
        self.one_buffer = bool(self.sizes["bs"]) and not changing
        """Whether blocks are written as they are read."""
        if not self.record_size:
            self.conversions -= {"block", "unblock"}
        if "append" in self.output_flags and "notrunc" not in self.conversions:
            warn("you probably want conv=notrunc with oflag=append")
        for first, second in _EXCLUSIVE:
            if {first, second} <= self.conversions:
                raise CommandError(f"cannot combine {first} and {second}")

    def _read(self, name: str, value: str) -> bool:
        """Take one operand; whether its name is known."""
        if name == "if":
            self.input = value
        elif name == "of":
            self.output = value
        elif name in self.sizes:
            self.sizes[name] = _size(value, _LARGEST if name == "cbs" else _LARGEST_BLOCK)
        elif name in ("count", "skip", "iseek", "seek", "oseek"):
            self._read_amount(name, value)
        elif name == "status":
            if value not in _STATUS:
                raise UsageError(f"invalid status level: {quote(value)}")
            self.status = value
        elif name in _WORDS:
            what, known = _WORDS[name]
            for word in value.split(","):
                if word not in known.split():
                    raise UsageError(f"invalid {what}: {quote(word)}")
                self.words[name].add(word)
        else:
            return False
        return True

    def _read_amount(self, name: str, value: str) -> None:
        number = _number(value)
        in_bytes = "B" in value  # GNU's counts bytes for "1kB", too
        if name == "count":
            self.count = number
            self.words["iflag"] |= {"count_bytes"} if in_bytes else set()
        elif name in ("skip", "iseek"):
            self.skip = number
            self.words["iflag"] |= {"skip_bytes"} if in_bytes else set()
        else:
            self.seek = number
            self.words["oflag"] |= {"seek_bytes"} if in_bytes else set()


def _size(text: str, largest: int) -> int:
    number = _number(text)
    if not number:
        raise CommandError(f"invalid number: {quote(text)}")
    if number > largest:
        raise CommandError(f"invalid number: {quote(text)}: {_TOO_LARGE}")
    return number


def _number(text: str) -> int:
    """Return a number with a unit ("3kB", "5B" for five bytes) or a product of such ("2x3K")."""
    product = 1
    for factor in text.split("x", 1):
        digits = factor.lstrip().removeprefix("+")
        digits = digits[:-1] if digits[-2:-1].isdigit() and digits.endswith("B") else digits
        try:
            value = parse_scaled(digits) if digits[:1].isdigit() else None
            product *= -1 if value is None else value
        except OverflowError:
            product *= _LARGEST + 1
        if product < 0:
            raise CommandError(f"invalid number: {quote(text)}")
    if product > _LARGEST:
        raise CommandError(f"invalid number: {quote(text)}: {_TOO_LARGE}")
    return product
