"""`printf` as bash's builtin: a format is compiled once and rendered to bytes for its arguments.

Widths and precisions count bytes, as in bash. `/usr/bin/printf` uses the same formats, but words
its messages differently. A format is text and directives (`directives`, `directive_syntax`). Each
directive has the function that converts its argument (`conversions`).
"""

from __future__ import annotations

from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.escapes import read_escape
from agentsandbox.kernel.formats.rendering import Format
from agentsandbox.kernel.streams import encode, encode_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.formats.rendering import Piece


def _compile(text: str, budget: Budget | None) -> Format:
    pieces: list[bytes | Piece] = []
    literal: list[bytes] = []
    directives = at = 0

    def add(piece: Piece | None) -> None:
        """Add the text so far, then a piece."""
        whole = b"".join(literal)
        literal.clear()
        if whole:
            pieces.append(whole)
        if piece is not None:
            pieces.append(piece)

    def add_text(part: str) -> None:
        literal.append(encode(part) if budget is None else encode_pieces(budget.pieces(part)))

    while (found := _next_special(text, at, budget)) >= 0:
        if budget is not None:
            budget.step()
        add_text(text[at:found])
        if text[found] == "\\":
            notices: list[str] = []
            part, at = read_escape(text, found, notices, in_argument=False)
            for notice in notices:
                from agentsandbox.kernel.formats.directives import Notice

                add(Notice(notice, fatal=False))
            literal.append(part)
        elif text.startswith("%%", found):
            literal.append(b"%")
            at = found + 2
        else:
            from agentsandbox.kernel.formats.directive_syntax import read_directive

            piece, at = read_directive(text, found)
            add(piece)
            directives += piece.takes
            if at < 0:
                break
    else:
        add_text(text[at:])
    add(None)
    return Format(pieces, directives)


def _next_special(text: str, at: int, budget: Budget | None) -> int:
    if budget is None:  # a short text
        escape, directive = text.find("\\", at), text.find("%", at)
        return min(escape, directive) if escape >= 0 and directive >= 0 else max(escape, directive)
    while len(text) - at > PIECE:
        found = _SPECIAL.search(text, at, at + PIECE)
        if found is not None:
            return found.start()
        at += PIECE
        budget.work(8 * PIECE)
    found = _SPECIAL.search(text, at)
    return found.start() if found else -1


_SPECIAL = lazily(r"[\\%]")
_SHORT = 1024


@lru_cache(maxsize=512)
def _compile_short(text: str) -> Format:
    return _compile(text, None)


def compile_format(text: str, budget: Budget) -> Format:
    """Compile a format; its mistakes are reported on rendering. Long ones are not cached."""
    return _compile_short(text) if len(text) <= _SHORT else _compile(text, budget)
