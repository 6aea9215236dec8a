"""How many columns a character takes on a terminal, as the C library's `wcwidth` counts."""

from __future__ import annotations

from agentsandbox.commands._text.quoting import is_printable
from agentsandbox.kernel.budget import PIECE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

_ZERO = ("Mn", "Me", "Cf")
_LONG = 4096
"""Characters from which on the different ones are looked at once."""


def character_width(character: str) -> int:
    """0, 1 or 2 columns; -1 for what does not print."""
    if " " <= character <= "~":
        return 1
    if not is_printable(character):
        return -1
    from unicodedata import category, east_asian_width  # rarely needed, and slow to load

    if category(character) in _ZERO and character != "\xad":
        return 0
    if "\u1160" <= character <= "\u11ff":  # the medial and final parts of Hangul syllables
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def text_width(text: str, budget: Budget | None = None) -> int:
    """Return the columns of a text; characters that do not print take none.

    With a budget, a long text is measured in pieces, with a look at the clock before each.
    """
    if text.isascii() and text.isprintable():
        return len(text)
    if budget is not None and len(text) > PIECE:
        return sum(map(text_width, budget.pieces(text)))
    if len(text) < _LONG:
        return sum([max(0, character_width(character)) for character in text])
    from collections import Counter

    return sum(
        [max(0, character_width(character)) * times for character, times in Counter(text).items()]
    )
