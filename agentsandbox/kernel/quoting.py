"""How bash quotes a string for input: `printf %q`, `${x@Q}`, `declare -p`, `set`, `set -x`.

A value may have millions of characters, so the functions take `pieces`, the method of a budget, and
do their slow work for one piece after the other. Only characters count that stand alone, except ~,
which is special behind : and =, too.
"""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Pieces = Callable[[str], Iterable[str]]

_LONG = 4096
"""Characters from which on several replacements in C are quicker than one expression."""


def whole(text: str) -> Iterable[str]:
    """Return a text in one piece."""
    return (text,)


_NAMED = {
    "\x1b": "\\E", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    "\v": "\\v", "\\": "\\\\", "'": "\\'",
}  # fmt: skip
_SPECIAL = lazily(r"(?a)([\s!\"$&'()*,;<>?\[\\\]^`{|}])|(?<![^:=])~")
_METACHARACTERS = " \t\n'\"\\|&;()<>!{}*[?]^$`"
_METACHARACTER = lazily(r"""[ \t\n'"\\|&;()<>!{}*\[?\]^$`]""")
_UNPRINTABLE = lazily("[\0-\x1f\x7f-\x9f\ud800-\udfff]")
_PATTERN = lazily(r"[*?\[\]\\()|!+@^-]")
_OPERATORS = "\\*?[]()|!+@^-"
"""The characters of `_PATTERN`, the backslash first."""
_DOUBLE = lazily(r'(["$`\\])')
_BACKSLASHED = "\\ !\"$&'()*,;<>?[]^`{|}"
"""The characters of `_SPECIAL` that are printable, the backslash first."""


def _is_printable(character: str) -> bool:
    """Whether C's `iswprint` accepts it in a UTF-8 locale; more generous than `str.isprintable`."""
    if character.isprintable():
        return True
    if character < "\xa0" or "\ud800" <= character <= "\udfff" or character in "\u2028\u2029":
        return False
    from unicodedata import category  # rarely needed, and slow to load

    return category(character) in ("Cf", "Co", "Zs")


def _backslashed(text: str, characters: str) -> str:
    """Put a backslash before each of the characters; it must be the first of them."""
    for character in characters:
        if character in text:
            text = text.replace(character, f"\\{character}")
    return text


def needs_ansi(text: str, pieces: Pieces = whole) -> bool:
    """Whether only `$'…'` can show the text: control characters, or bytes that are not UTF-8."""
    if len(text) > _LONG:
        return any(map(_is_unprintable, pieces(text)))
    return _is_unprintable(text)


def _is_unprintable(text: str) -> bool:
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


def ansi_quote(text: str, pieces: Pieces = whole) -> str:
    """Quote as `$'…'`."""
    table = _AnsiTable()
    if len(text) <= _LONG:
        return f"$'{text.translate(table)}'"
    return "".join(["$'", *[_ansi_escaped(piece, table) for piece in pieces(text)], "'"])


_FEW = 16
"""Different characters to escape up to which as many replacements are quicker than a table."""


def _ansi_escaped(text: str, table: _AnsiTable) -> str:
    if text.isascii():
        return text.translate(table)  # has a quick way of its own
    special = [char for char in set(text) if char in "\\'" or not _is_printable(char)]
    if len(special) > _FEW:
        return text.translate(table)
    for character in sorted(special, key="\\".__ne__):  # the backslash first
        text = text.replace(character, table[ord(character)])
    return text


def backslash_quote(text: str, pieces: Pieces = whole) -> str:
    """Quote as `printf %q`: backslashes, `$'…'` for control characters, `''` for ""."""
    if not text:
        return "''"
    if needs_ansi(text, pieces):
        return ansi_quote(text, pieces)
    if len(text) > _LONG:
        quoted = "".join([_backslashed(piece, _BACKSLASHED) for piece in pieces(text)])
        quoted = quoted.replace(":~", ":\\~").replace("=~", "=\\~")
        return f"\\{quoted}" if quoted[0] in "#~" else quoted
    quoted = _SPECIAL.sub(r"\\\g<0>", text)
    return f"\\{quoted}" if quoted[0] == "#" else quoted


def single_quote(text: str) -> str:
    if text == "'":
        return "\\'"
    return "'" + text.replace("'", "'\\''") + "'"


def shell_quote_single(text: str, pieces: Pieces = whole) -> str:
    """Quote as `${x@Q}`: single quotes, `$'…'` for control characters."""
    return ansi_quote(text, pieces) if needs_ansi(text, pieces) else single_quote(text)


def declare_quote_double(text: str, pieces: Pieces = whole) -> str:
    """Quote as `declare -p`: double quotes, `$'…'` for control characters."""
    if needs_ansi(text, pieces):
        return ansi_quote(text, pieces)
    if len(text) > _LONG:
        return "".join(['"', *[_backslashed(piece, '\\"$`') for piece in pieces(text)], '"'])
    return '"' + _DOUBLE.sub(r"\\\1", text) + '"'


def has_metacharacters(text: str) -> bool:
    """Whether the shell would not read the bare text as one literal word."""
    return (
        (
            _METACHARACTER.search(text) is not None
            if len(text) <= _LONG
            else any(character in text for character in _METACHARACTERS)
        )
        or text.startswith(("#", "~"))
        or ":~" in text
        or "=~" in text
    )


def quote_if_needed(text: str, pieces: Pieces = whole) -> str:
    """Quote as `set`: like `shell_quote_single` where it is needed; "" stays empty."""
    if needs_ansi(text, pieces):
        return ansi_quote(text, pieces)
    return single_quote(text) if has_metacharacters(text) else text


def trace_quote(text: str, pieces: Pieces = whole) -> str:
    """Quote as `set -x`: single quotes where needed, `$'…'` for a lone control character."""
    if not text or has_metacharacters(text):
        return single_quote(text)
    return ansi_quote(text, pieces) if needs_ansi(text, pieces) else text


def quote_glob(text: str) -> str:
    """Return a pattern that matches just `text`."""
    if len(text) > _LONG:
        return _backslashed(text, _OPERATORS)
    return _PATTERN.sub(r"\\\g<0>", text) if _PATTERN.search(text) else text
