"""Changes of the lines of a block that match."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.regexps.lines import LineSearch

    Step = Callable[[str], str | None]

_RARE = 3
"""Lines are changed one by one when at most one in this many matches."""


def change_selected(search: LineSearch, change: Step) -> Step:
    """Return a change of the lines that match."""

    def step(block: str) -> str:
        pieces: list[str] = []
        position = 0
        for start, stop in search.places(block):
            pieces.append(block[position:start])
            pieces.append(change(block[start:stop]) or "")
            position = stop
        pieces.append(block[position:])
        return "".join(pieces)

    return step


def change_few(search: LineSearch, change: Step) -> Step:
    """Return a change that touches only matching lines if the first block has few of them."""
    selected = change_selected(search, change)
    chosen: Step | None = None

    def step(block: str) -> str | None:
        nonlocal chosen
        if chosen is None:
            few = len(search.places(block)) * _RARE < block.count("\n")
            chosen = selected if few else change
        return chosen(block)

    return step
