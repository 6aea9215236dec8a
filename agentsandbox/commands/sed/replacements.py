"""The right side of `s`, and the two sides of `y`."""

from __future__ import annotations

from agentsandbox.commands.sed.escapes import unescape
from agentsandbox.commands.sed.nodes import Replacement


def read_replacement(source: str, *, bytewise: bool = False) -> Replacement:
    """The right side of `s`."""
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
    """A string of `y` without its escapes."""
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
