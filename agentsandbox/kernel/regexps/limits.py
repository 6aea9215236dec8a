"""The limits of patterns and of the texts they search, and the error of a wrong pattern."""

from __future__ import annotations

MAX_LENGTH = 1 << 15
"""The greatest length of a pattern."""
MAX_PLACES = 20_000
"""The largest number of places of a pattern, with counted repeats written out."""
UNBOUNDED = 1 << 62
"""The `safe_length` of a pattern that `re` may search in any text."""


class RegexError(Exception):
    """An error in a pattern, with the message of GNU's regcomp."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)
