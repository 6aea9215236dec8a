"""Tab stops: `-t 4`, `-t 2,5,9`, `-t 2,/8`, `-t 2,+8`; shared by `expand` and `unexpand`."""

from __future__ import annotations

import re
from functools import lru_cache

from agentsandbox.commands._lines import inputs, line_blocks
from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.command import CommandContext

__all__ = ["TabStops", "joined_blocks", "rewrite_digits"]

_DIGITS = re.compile(r"-(i*)([0-9].*)\Z", re.DOTALL)
_TAKES_VALUE = re.compile(r"-i*t\Z|--t(?:a(?:bs?)?)?\Z")
_MAX = 2**63 - 1
_REMEMBERED = 512
"""Columns whose next stop is kept."""


def rewrite_digits(words: Sequence[str]) -> list[str]:
    """`-4` is `-t 4`, and so is what follows a digit among letters."""
    rewritten: list[str] = []
    is_value = False
    for at, word in enumerate(words):
        if word == "--" and not is_value:
            return [*rewritten, *words[at:]]
        found = None if is_value else _DIGITS.match(word)
        is_value = not is_value and _TAKES_VALUE.match(word) is not None
        rewritten.append(f"-{found[1]}t{found[2]}" if found else word)
    return rewritten


def joined_blocks(ctx: CommandContext, names: Sequence[str]) -> Iterator[bytes]:
    """Blocks of whole lines of all files: a line that has no end goes on in the next file."""
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
    """Where the tab stops are.

    `every` is set when they are equally far apart; `next` finds the first stop after a column.

    Behind the last one every column is a stop for `next`.
    """

    __slots__ = ("every", "extend", "increment", "next", "stops")

    def __init__(self, given: Sequence[str]) -> None:
        self.stops: list[int] = []
        self.every = self.extend = self.increment = 0
        for text in given:
            self._parse(text)
        for before, after in zip([0, *self.stops], self.stops, strict=False):
            if not after:
                raise CommandError("tab size cannot be 0")
            if after <= before:
                raise CommandError("tab sizes must be ascending")
        if self.extend and self.increment:
            raise CommandError("'/' specifier is mutually exclusive with '+'")
        if not self.stops:
            self.every = self.extend or self.increment or 8
        elif len(self.stops) == 1 and not (self.extend or self.increment):
            self.every = self.stops[0]
        self.next = lru_cache(_REMEMBERED)(self._next)

    def _parse(self, text: str) -> None:
        """The stops of one option: a sign holds for all that stands behind it."""
        sign = ""
        for item in re.finditer("[^, \t]+", text):
            found = re.match(r"([/+]*)([0-9]*)(.*)\Z", item[0], re.DOTALL)
            assert found is not None
            signs, digits, rest = found.groups()
            sign = signs[-1:] or sign
            if rest:
                rest = text[item.start() + found.start(3) :]
                if rest[0] in "/+" and digits:
                    raise CommandError(f"'{rest[0]}' specifier not at start of number: {quote(rest)}")
                raise CommandError(f"tab size contains invalid character(s): {quote(rest)}")
            value = int(digits or "0") if len(digits) <= 19 else _MAX + 1
            if value > _MAX:
                raise CommandError(f"tab stop is too large {quote(digits)}")
            if digits:
                self._add(sign, value)

    def _add(self, sign: str, value: int) -> None:
        if not sign:
            self.stops.append(value)
            return
        if self.extend if sign == "/" else self.increment:
            raise CommandError(f"'{sign}' specifier only allowed with the last value")
        if sign == "/":
            self.extend = value
        else:
            self.increment = value

    def find(self, column: int) -> int | None:
        """The first stop after a column; None behind the last one."""
        if self.every:
            return column + self.every - column % self.every
        for stop in self.stops:
            if stop > column:
                return stop
        if self.extend:
            return column + self.extend - column % self.extend
        if self.increment:
            last = self.stops[-1]
            return column + self.increment - (column - last) % self.increment
        return None

    def _next(self, column: int) -> int:
        stop = self.find(column)
        return column + 1 if stop is None else stop
