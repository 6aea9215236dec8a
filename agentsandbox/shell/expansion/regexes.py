"""The right side of =~: what is quoted matches itself."""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SPECIAL = lazily(r"[.\[{()\\*+?^$|]")


def quote_regex(text: str) -> str:
    """A text as an extended regular expression that matches it."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def join_regex(pieces: Sequence[tuple[str, bool]]) -> str:
    """Return the regular expression made of pieces (text, whether it is quoted)."""
    if not any("[" in text for text, quoted in pieces if not quoted):
        return "".join([quote_regex(text) if quoted else text for text, quoted in pieces])
    text = "".join([text for text, _ in pieces])
    quoted = b"".join([bytes([quoted]) * len(text) for text, quoted in pieces])
    written: list[str] = []
    at = 0
    while at < len(text):
        end = _bracket_end(text, quoted, at) if text[at] == "[" and not quoted[at] else 0
        if end:
            written.append(text[at:end])
        else:
            end = at + 1
            written.append(quote_regex(text[at]) if quoted[at] else text[at])
        at = end
    return "".join(written)


def _bracket_end(text: str, quoted: bytes, at: int) -> int:
    """Return where the bracket expression at a position ends; 0 if it does not."""
    at += 1
    for first in "^]":
        if text[at : at + 1] == first and not quoted[at]:
            at += 1
    while at < len(text):
        if not quoted[at]:
            if text[at] == "]":
                return at + 1
            if text[at] == "[" and text[at + 1 : at + 2] in (":", ".", "="):
                closing = text.find(text[at + 1] + "]", at + 2)
                at = closing + 1 if closing > 0 else at
        at += 1
    return 0
