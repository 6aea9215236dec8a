"""What `--posix` takes away: GNU's additions to regular expressions."""

from __future__ import annotations

import re

__all__ = ["without_additions"]

_TOKEN = re.compile(r"\[\^?\]?(?:\[([.:=]).*?\1\]|[^]])*\]|\\.|.", re.DOTALL)
_LETTERS = frozenset("wWsSbB<>`'")
_REPETITIONS = frozenset("+?|")


def without_additions(source: str, *, extended: bool) -> str:
    """The pattern in which the additions stand for the characters themselves, as sed reads it otherwise."""
    made: list[str] = []
    depth = 0
    opening, closing = ("(", ")") if extended else (r"\(", r"\)")
    for found in _TOKEN.finditer(source):
        token = found[0]
        if token == opening:
            depth += 1
        elif token == closing and not depth:
            token = "[)]"
        elif token == closing:
            depth -= 1
        elif token[0] == "[" and len(token) > 1:
            token = token[:-1].replace("\\", "") + "\\]" if "\\" in token else token  # at the end it escapes nothing
        elif token[0] == "\\" and token[1:] in _LETTERS:
            token = token[1]
        elif token[0] == "\\" and token[1:] in _REPETITIONS and not extended:
            token = f"[{token[1]}]"
        made.append(token)
    return "".join(made)
