"""Text as lines, and the options that make different lines count as equal."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.budget import Budget

_BLOCK = 4096
_LINES = 8192
_PIECE = 1 << 17
_WHITE = b" \t\n\v\f\r"
_RUN = re.compile(rb"[ \t\n\v\f\r]+")
_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")


def split_lines(data: bytes, budget: Budget) -> list[bytes]:
    """Return the lines with their newlines; the last line may lack it."""
    budget.charge(16 * data.count(b"\n"))
    made: list[bytes] = []
    start = 0
    while start < len(data):
        stop = data.find(b"\n", start + _PIECE) + 1 or len(data)
        lines = data[start:stop].split(b"\n")
        last = lines.pop()
        made += [line + b"\n" for line in lines]
        if last:
            made.append(last)
        budget.breathe()
        start = stop
    return made


def is_binary(data: bytes) -> bool:
    """Whether there is a NUL byte in the first block."""
    return b"\0" in data[:_BLOCK]


class Sameness:
    """The differences that do not count, as steps that make lines equal."""

    def __init__(
        self,
        *,
        ignore_case: bool = False,
        all_space: bool = False,
        space_change: bool = False,
        trailing_space: bool = False,
        tab_expansion: bool = False,
    ) -> None:
        steps: list[Callable[[bytes], bytes]] = []
        if all_space:
            steps.append(lambda line: line.translate(None, _WHITE))
        elif space_change:
            steps.append(lambda line: _RUN.sub(b" ", line).removesuffix(b" "))
        else:
            if tab_expansion:
                steps.append(bytes.expandtabs)
            if trailing_space:
                steps.append(lambda line: line.rstrip(_WHITE))
        if ignore_case:
            steps.append(lambda line: line.translate(_LOWER))
        self.steps = steps

    def keys(self, lines: list[bytes], budget: Budget) -> list[bytes]:
        """Return what the lines are compared by."""
        for step in self.steps:
            made: list[bytes] = []
            for at in range(0, len(lines), _LINES):
                made += map(step, lines[at : at + _LINES])
                budget.step(_LINES // 8)
            lines = made
        return lines
