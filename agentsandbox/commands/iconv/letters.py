"""What `iconv` writes for characters that an encoding lacks, with //TRANSLIT."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_EVERYWHERE = (
    "©(C) «<< \u00ad- ®(R) µu ¸, »>> ÆAE ×x ßss æae ŉ'n ŒOE œoe ʼ' ˆ^ ˜~ ‐- ‑- ‒- –- —-- ―- "
    "‘' ’' ‚, ‛' "
    '“" ”" „,, ‟" †+ •o ‹< ›> ⁄/ €EUR ₹INR ™(TM) ℮e ←<- →-> ↔<-> ⇐<= ⇒=> ⇔<=> −- ∕/ ∗* ∣| ∼~ '
    "≤<= ≥>= ≪<< ≫>> ─- │| ┌+ ┐+ └+ ┘+ ├+ ┤+ ┬+ ┴+ ┼+ ◦o"
)
"""Characters, each followed by its replacement, in every locale."""
_IN_UNICODE = (
    "¡! ¢c £GBP ¥JPY ¦| ¬! ±+- ´' ·. ÐD ØO ÞTH ðd ÷/ øo þth ĐD đd ĦH ħh ıi ĸq ĿL ŀl "
    "ŁL łl ŊN ŋn ŦT ŧt ǤG ǥg ǾO ǿo ȷj ẞSS ₣Fr. ₤L. ₩KRW ₪ILS "
    "₫Dong ₱PHP ₴UAH ₸KZT ₺TL ₽RUB ≠!= 〈< 〉> ☺:) ⟨< ⟩>"
)
"""The same, but not in the locale C."""
_NOTHING = frozenset("\u200b\u2060\u2061\u2062\u2063\ufeff")
_IN_UNITS = {"\u00b2": "^2", "\u00b3": "^3", "\u03bc": "u", "\u2215": "/"}


def _read(words: str) -> dict[str, str]:
    return {word[0]: word[1:] for word in words.split(" ")}


_WORDS = _read(_EVERYWHERE)
_UNICODE_WORDS = _WORDS | _read(_IN_UNICODE)


def replacements(character: str, *, in_unicode: bool) -> Iterator[str]:
    """Yield replacements of a character, the best first; `in_unicode` if the locale is not C."""
    from unicodedata import category, combining, decomposition, normalize  # slow to load

    word = (_UNICODE_WORDS if in_unicode else _WORDS).get(character)
    if word is not None:
        yield word
        return
    if character in _NOTHING or (in_unicode and combining(character)):
        yield ""
        return
    parts = decomposition(character)
    text = normalize("NFKD", character)
    if text == character or not (in_unicode or parts.startswith("<")):
        return
    plain = "".join([piece for piece in text if not combining(piece)])
    if parts.startswith("<circle>"):
        yield f"({plain})"
    elif parts.startswith("<fraction>"):
        yield f" {plain.replace(chr(0x2044), '/')} "
    elif parts.startswith("<square>"):
        pieces = [chr(int(code, 16)) for code in parts.split()[1:]]
        yield "".join(pieces)
        yield "".join([_IN_UNITS.get(piece, piece) for piece in pieces])
    elif (
        plain.strip() == plain
        or category(character) == "Zs"
        or parts.startswith(("<noBreak>", "<wide>"))
    ):
        yield plain
