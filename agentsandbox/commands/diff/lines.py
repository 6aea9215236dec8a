"""Text as lines, and what makes two lines the same."""

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
_MOVES = re.compile(rb"[\t\b\r]")
_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")


def split_lines(data: bytes, budget: Budget) -> list[bytes]:
    """The lines with their newlines; the last may lack it."""
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


def expand_tabs(line: bytes, size: int) -> bytes:
    """The line with its tabs as spaces; a backspace goes back one column."""
    if b"\t" not in line:
        return line
    made = bytearray()
    column = 0
    for byte in line:
        if byte == 9:
            width = size - column % size
            made += b" " * width
            column += width
            continue
        made.append(byte)
        column = max(column - 1, 0) if byte == 8 else 0 if byte == 13 else column + 1
    return bytes(made)


def show_tabs(line: bytes, size: int, start: bytes = b"") -> bytes:
    """The line with its tabs as spaces, as it is printed: only what is printable takes a column.

    A backspace in the first column is left out; behind a carriage return stands `start` again.
    """
    if not _MOVES.search(line):
        return line
    made = bytearray()
    column = 0
    for at, byte in enumerate(line, 1):
        if byte == 9:
            width = size - column % size
            made += b" " * width
            column += width
        elif byte != 8 or column:
            made.append(byte)
            column += (32 <= byte < 127) - (byte == 8)
        if byte == 13:
            column = 0
            made += start if at < len(line) else b""
    return bytes(made)


class Sameness:
    """Which differences do not count. `key` gives what a line is compared by."""

    def __init__(
        self,
        *,
        ignore_case: bool = False,
        all_space: bool = False,
        space_change: bool = False,
        trailing_space: bool = False,
        tab_expansion: bool = False,
        tab_size: int = 8,
    ) -> None:
        steps: list[Callable[[bytes], bytes]] = []
        if all_space:
            steps.append(lambda line: line.translate(None, _WHITE))
        elif space_change:
            steps.append(lambda line: _RUN.sub(b" ", line).removesuffix(b" "))
        else:
            if tab_expansion:
                steps.append(lambda line: expand_tabs(line, tab_size))
            if trailing_space:
                steps.append(lambda line: line.rstrip(_WHITE))
        if ignore_case:
            steps.append(lambda line: line.translate(_LOWER))
        self.steps = steps

    def keys(self, lines: list[bytes], budget: Budget) -> list[bytes]:
        """What the lines are compared by."""
        for step in self.steps:
            made: list[bytes] = []
            for at in range(0, len(lines), _LINES):
                made += map(step, lines[at : at + _LINES])
                budget.step(_LINES // 8)
            lines = made
        return lines
