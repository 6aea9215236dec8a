"""How bash quotes a string for input: `printf %q`, `${x@Q}`, `declare -p`, `set`, `set -x`."""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

_NAMED = {
    "\x1b": "\\E", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    "\v": "\\v", "\\": "\\\\", "'": "\\'",
}  # fmt: skip
_SPECIAL = lazily(r"([\s!\"$&'()*,;<>?\[\\\]^`{|}])|(?<![^:=])~", re.ASCII)
_METACHARACTER = lazily(r"""[ \t\n'"\\|&;()<>!{}*\[?\]^$`]|^\#|(?<![^:=])~""")
_UNPRINTABLE = lazily("[\0-\x1f\x7f-\x9f\ud800-\udfff]")
_PATTERN = lazily(r"[*?\[\]\\()|!+@^-]")
_DOUBLE = lazily(r'(["$`\\])')


def _is_printable(character: str) -> bool:
    """Whether C's `iswprint` accepts it in a UTF-8 locale; more generous than `str.isprintable`."""
    if character.isprintable():
        return True
    if character < "\xa0" or "\ud800" <= character <= "\udfff" or character in "\u2028\u2029":
        return False
    from unicodedata import category  # rarely needed, and slow to load

    return category(character) in ("Cf", "Co", "Zs")


def needs_ansi(text: str) -> bool:
    """Whether only `$'…'` can show the text: control characters, or bytes that are not UTF-8."""
    if text.isprintable():
        return False
    return _UNPRINTABLE.search(text) is not None or not all(map(_is_printable, set(text)))


def _ansi_character(character: str) -> str:
    named = _NAMED.get(character)
    if named is not None:
        return named
    if _is_printable(character):
        return character
    return "".join([f"\\{byte:03o}" for byte in encode(character)])


class _AnsiTable(dict[int, str]):
    """The escape of each character in `$'…'`, computed when first needed."""

    def __missing__(self, code: int) -> str:
        shown = self[code] = _ansi_character(chr(code))
        return shown


def ansi_quote(text: str) -> str:
    """Quote as `$'…'`."""
    return f"$'{text.translate(_AnsiTable())}'"


def backslash_quote(text: str) -> str:
    """Quote as `printf %q`: backslashes, `$'…'` for control characters, `''` for ""."""
    if not text:
        return "''"
    if needs_ansi(text):
        return ansi_quote(text)
    quoted = _SPECIAL.sub(r"\\\g<0>", text)
    return f"\\{quoted}" if quoted[0] == "#" else quoted


def single_quote(text: str) -> str:
    if text == "'":
        return "\\'"
    return "'" + text.replace("'", "'\\''") + "'"


def shell_quote_single(text: str) -> str:
    """Quote as `${x@Q}`: single quotes, `$'…'` for control characters."""
    return ansi_quote(text) if needs_ansi(text) else single_quote(text)


def declare_quote_double(text: str) -> str:
    """Quote as `declare -p`: double quotes, `$'…'` for control characters."""
    if needs_ansi(text):
        return ansi_quote(text)
    return '"' + _DOUBLE.sub(r"\\\1", text) + '"'


def has_metacharacters(text: str) -> bool:
    """Whether the shell would not read the bare text as one literal word."""
    return _METACHARACTER.search(text) is not None


def quote_if_needed(text: str) -> str:
    """Quote as `set`: like `shell_quote_single` where it is needed; "" stays empty."""
    if needs_ansi(text):
        return ansi_quote(text)
    return shell_quote_single(text) if has_metacharacters(text) else text


def trace_quote(text: str) -> str:
    """Quote as `set -x`: single quotes where needed, `$'…'` for a lone control character."""
    if not text or has_metacharacters(text):
        return single_quote(text)
    return ansi_quote(text) if needs_ansi(text) else text


def quote_glob(text: str) -> str:
    """Return a pattern that matches just `text`."""
    return _PATTERN.sub(r"\\\g<0>", text) if _PATTERN.search(text) else text
