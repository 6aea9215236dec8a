"""File names in listings (`ls --quoting-style`) and in messages of GNU tools."""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode, encode

STYLES = (
    "literal", "shell", "shell-always", "shell-escape", "shell-escape-always", "c", "c-maybe",
    "escape", "locale", "clocale",
)  # fmt: skip

_PLAIN = lazily(r"[A-Za-z0-9%+,\-./:@_\]{}#~]*\Z")
_SHELL_SPECIAL = lazily(r"[ !\"$&()*;<=>\[^`|'\\\t\n\r?]|^[#~]|^[{}]\Z")
_DOUBLE_SAFE = lazily(r"(?:[A-Za-z0-9%+,\-./:@_\] '\x80-\U0010ffff]|\A[#~]|\A[{}]\Z)*\Z")
_NAMED = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def is_printable(character: str) -> bool:
    """Whether the C library's `iswprint` accepts a character in a UTF-8 locale."""
    if character.isprintable():
        return True
    if character < "\xa0" or "\ud800" <= character <= "\udfff" or character in "\u2028\u2029":
        return False
    from unicodedata import category  # rarely needed, and slow to load

    return category(character) in ("Cf", "Co", "Zs")


def _octal(character: str) -> str:
    return "".join([f"\\{byte:03o}" for byte in encode(character)])


def _c_quote(text: str, special: str) -> str:
    """Return the text with C's escapes, and a backslash before each character of `special`."""
    table: dict[int, str] = {}
    for character in set(text):
        if character in special:
            table[ord(character)] = "\\" + character
        elif character in _NAMED or not is_printable(character):
            table[ord(character)] = _NAMED.get(character) or _octal(character)
    return text.translate(table) if table else text


def _shell_quote(text: str, *, always: bool, escape: bool) -> str:
    if (
        not always
        and text
        and not _SHELL_SPECIAL.search(text)
        and (not escape or text.isprintable() or all(map(is_printable, set(text))))
    ):
        return text
    shown = text.isprintable() or all(map(is_printable, set(text)))
    if "'" in text and shown and _DOUBLE_SAFE.match(text):
        return f'"{text}"'
    if not escape or shown:
        return "'" + text.replace("'", "'\\''") + "'"
    escapes = {
        ord(char): _NAMED.get(char) or _octal(char) for char in set(text) if not is_printable(char)
    }
    hidden = "".join([re.escape(chr(code)) for code in escapes])
    parts = ["'"]
    for number, run in enumerate(re.split(f"([{hidden}]+)", text)):
        if number % 2:
            parts.append("'$'" + run.translate(escapes))
        elif run:
            if number and run[0] != "'":
                parts.append("''")
            parts.append(run.replace("'", "'\\''"))
    parts.append("'")
    return "".join(parts)


def quote_as(text: str, style: str) -> str:
    """Return the name in one of `STYLES`."""
    if style == "literal":
        return text
    if style.startswith("shell"):
        return _shell_quote(text, always=style.endswith("always"), escape="escape" in style)
    if style == "escape":
        return _c_quote(text, "\\ ")
    if style in ("locale", "clocale"):
        return f"‘{_c_quote(text, chr(92) + '’')}’"
    quoted = _c_quote(text, '\\"')
    return text if style == "c-maybe" and quoted.replace("\\\\", "\\") == text else f'"{quoted}"'


def quote(text: str) -> str:
    """Return ‘x’, as messages quote other words than file names."""
    return quote_as(text, "locale")


def quote_always(text: str) -> str:
    """Return 'x', as messages quote file names: a shell reads them back."""
    if _PLAIN.match(text):
        return f"'{text}'"
    return _shell_quote(text, always=True, escape=True)


def printable(text: str) -> str:
    """Return the name with a question mark for each character or byte that does not print."""
    if text.isprintable():
        return text
    return "".join([c if is_printable(c) else "?" for c in decode(encode(text))])
