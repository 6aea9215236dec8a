"""Escapes in sed's patterns, replacements, texts and `y`."""

from __future__ import annotations

from agentsandbox.commands.sed.nodes import Replacement

_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CODES = {
    "d": (10, 3, "0123456789"),
    "o": (8, 3, "01234567"),
    "x": (16, 2, "0123456789abcdefABCDEF"),
}


def unescape(source: str, position: int) -> tuple[str, int]:
    """Return what the escape whose letter is at `position` means, and the position after it."""
    letter = source[position]
    if letter in _ESCAPES:
        return _ESCAPES[letter], position + 1
    if letter == "c":
        return _control(source, position + 1)
    if letter in _CODES:
        base, width, digits = _CODES[letter]
        end = position + 1
        while end < len(source) and end - position <= width and source[end] in digits:
            end += 1
        if end > position + 1:
            code = int(source[position + 1 : end], base) & 255
            return chr(code) if code < 128 else chr(0xDC00 + code), end
    return letter, position + 1


def _control(source: str, position: int) -> tuple[str, int]:
    r"""Return what `\c` and the character at `position` mean; at the end, the backslash."""
    character = source[position : position + 1]
    if not character:
        return "\\", position
    if source.startswith("\\\\", position):
        return "\x1c", position + 2
    return chr(ord(character.upper()) ^ 64) if character.isascii() else character, position + 1


def with_characters(source: str) -> str:
    """Return a pattern with characters for their codes: also an operator's code is the operator."""
    if "\\" not in source:
        return source
    made: list[str] = []
    position = 0
    while position < len(source):
        character = source[position]
        position += 1
        if character == "\\" and position < len(source):
            if source[position] in "cdox":
                letter = source[position]
                character, after = unescape(source, position)
                if letter != "c" and after == position + 1:  # there are no digits
                    character = f"\\{letter}"
                position = after
            else:
                character += source[position]
                position += 1
        made.append(character)
    return "".join(made)


def read_replacement(source: str, *, bytewise: bool = False) -> Replacement:
    """Return the right side of `s`."""
    pieces: list[tuple[str, str | int]] = []
    literal: list[str] = []

    def flush() -> None:
        if literal:
            pieces.append(("text", "".join(literal)))
            literal.clear()

    position = 0
    while position < len(source):
        character = source[position]
        position += 1
        if character == "&":
            flush()
            pieces.append(("group", 0))
        elif character == "\\" and position < len(source):
            following = source[position]
            if following in "0123456789":
                flush()
                pieces.append(("group", int(following)))
                position += 1
            elif following in "LUluE":
                flush()
                pieces.append(("case", following))
                position += 1
            else:
                text, position = unescape(source, position)
                literal.append(text)
        else:
            literal.append(character)
    flush()
    return Replacement(pieces, bytewise=bytewise)


def read_characters(source: str) -> str:
    """Return a string of `y` without its escapes."""
    out: list[str] = []
    position = 0
    while position < len(source):
        character = source[position]
        position += 1
        if character == "\\" and position < len(source):
            before = position
            character, position = unescape(source, position)
            if source[before:] == "c":
                character = ""
        out.append(character)
    return "".join(out)
