"""The words of dot commands of `sqlite3`."""

from __future__ import annotations

import re

_WORD = re.compile(r"""'([^']*)'?|"((?:[^"\\]|\\.)*)\\?"?|([^\s'"]\S*)""", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_NAMED = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}


class DotError(Exception):
    """A dot command failed."""


def split_words(text: str) -> list[str]:
    """Split a dot command at blanks and quotes; C escapes work outside single quotes."""
    words: list[str] = []
    for found in _WORD.finditer(text):
        if found[1] is not None:
            words.append(found[1])
        else:
            words.append(_ESCAPE.sub(_escaped, found[3] if found[2] is None else found[2]))
    return words


def _escaped(found: re.Match[str]) -> str:
    sign = found[1]
    if sign[0] in "01234567":
        return chr(int(sign, 8) & 255)
    return _NAMED.get(sign, sign)


def only_name(words: list[str]) -> str:
    """Return the file name after a dot command, "" without one."""
    for word in words:
        if word.startswith("-"):
            raise DotError(f"unknown option: {word}")
    if len(words) > 1:
        raise DotError(f'extra argument: "{words[1]}"')
    return words[0] if words else ""


def one_word(words: list[str], usage: str) -> str:
    """Return the single argument of a dot command."""
    if len(words) != 1:
        raise DotError(f"Usage: .{usage}")
    return words[0]
