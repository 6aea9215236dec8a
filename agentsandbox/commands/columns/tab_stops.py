"""Tab stops: `-t 4`, `-t 2,5,9`, `-t 2,/8`, `-t 2,+8`; shared by `expand` and `unexpand`."""

from __future__ import annotations

import re

from agentsandbox.commands._text.lines import inputs, line_blocks
from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.contract.command import CommandContext

_DIGITS = lazily(r"-(i*)([0-9].*)\Z", re.DOTALL)
_ITEM = lazily(r"([/+]?)([0-9]*)(.*)\Z", re.DOTALL)
_MAX = 2**63 - 1


def rewrite_digits(words: Sequence[str]) -> list[str]:
    """`-4` is `-t 4`."""
    rewritten: list[str] = []
    for at, word in enumerate(words):
        if word == "--":
            return [*rewritten, *words[at:]]
        found = None if at and words[at - 1] in ("-t", "--tabs") else _DIGITS.match(word)
        rewritten.append(f"-{found[1]}t{found[2]}" if found else word)
    return rewritten


def joined_blocks(ctx: CommandContext, names: Sequence[str]) -> Iterator[bytes]:
    """Yield blocks of whole lines of all files; a line without an end continues in the next."""
    held = b""
    for _name, source in inputs(ctx, names):
        for block in line_blocks(ctx.budget, source):
            if held:
                ctx.budget.charge(len(held) + len(block))
                block, held = held + block, b""
            if block.endswith(b"\n"):
                yield block
            else:
                held = block
    if held:
        yield held


class TabStops:
    """Where the tab stops are; `every` is set when they are equally far apart."""

    __slots__ = ("_extend", "_increment", "_stops", "every")

    def __init__(self, given: Sequence[str]) -> None:
        self._stops: list[int] = []
        self.every = self._extend = self._increment = 0
        for text in given:
            sign = ""  # which holds for all that stands behind it
            for item in re.split("[, \t]+", text.strip(", \t")):
                sign = self._add(item, sign)
        for before, after in zip([0, *self._stops], self._stops, strict=False):
            if not after:
                raise CommandError("tab size cannot be 0")
            if after <= before:
                raise CommandError("tab sizes must be ascending")
        if self._extend and self._increment:
            raise CommandError("'/' specifier is mutually exclusive with '+'")
        if not self._stops:
            self.every = self._extend or self._increment or 8
        elif len(self._stops) == 1 and not (self._extend or self._increment):
            self.every = self._stops[0]

    def _add(self, item: str, before: str) -> str:
        found = _ITEM.match(item)
        assert found is not None
        sign, digits, rest = found.groups()
        if rest[:1] in ("/", "+") and digits:
            raise CommandError(f"'{rest[0]}' specifier not at start of number: {quote(rest)}")
        if rest:
            raise CommandError(f"tab size contains invalid character(s): {quote(rest)}")
        value = int(digits or "0") if len(digits) <= 19 else _MAX + 1
        if value > _MAX:
            raise CommandError(f"tab stop is too large {quote(digits)}")
        sign = sign or before
        if sign and (self._extend if sign == "/" else self._increment):
            raise CommandError(f"'{sign}' specifier only allowed with the last value")
        if sign == "/":
            self._extend = value
        elif sign:
            self._increment = value
        elif digits:
            self._stops.append(value)
        return sign

    def find(self, column: int) -> int | None:
        """Return the first stop after a column, None behind the last one."""
        if self.every:
            return column + self.every - column % self.every
        for stop in self._stops:
            if stop > column:
                return stop
        if self._extend:
            return column + self._extend - column % self._extend
        if self._increment:
            last = self._stops[-1]
            return column + self._increment - (column - last) % self._increment
        return None
