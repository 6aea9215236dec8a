"""Regular expressions that are compiled when they are first used.

Compiling the expressions of a shell takes as long as importing it, and a script uses few of them.
A module writes `lazily(…)` where it would write `re.compile(…)`; after the first use a call costs
the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

IGNORE_CASE, MULTILINE, DOTALL, ASCII = 2, 8, 16, 256
"""Flags of `re`, for modules that are loaded before any expression is used: importing `re` takes a
process as long as forty modules of this package."""

_METHODS = "match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"


class _Expression:
    """An expression. Its methods are those of the compiled one, which its first use puts here."""

    __slots__ = ("_flags", "_source", *_METHODS)

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Compile the expression; called for an attribute that is not there yet."""
        import re

        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazily(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return an expression like `re.compile`, which is compiled when it is first used."""
    return _Expression(source, flags)  # type: ignore[return-value]


def lazily_bytes(source: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """The same for bytes."""
    return _Expression(source, flags)  # type: ignore[return-value]
