"""Reads the text of a sed script: characters, delimited parts, and the places of messages."""

from __future__ import annotations

from agentsandbox.commands.sed.nodes import SedError
from agentsandbox.kernel.streams import encode

BLANK = " \t"
"""The characters between the parts of a command."""
_NEWLINE = "\n"


class Reader:
    """One piece of a script at a time: `text`, read up to `position`, from a file or argument."""

    def __init__(self, *, bytewise: bool) -> None:
        self.bytewise = bytewise
        self.pieces = 0
        self.text = ""
        self.position = 0
        self.file: str | None = None

    def _place(self, *, position: int | None = None, further: int = 0) -> str:
        if self.file is not None:
            return f"file {self.file} line {self.text.count(_NEWLINE, 0, self.position) + 1}"
        if position is None:
            position = len(encode(self.text[: self.position])) + further
        return f"-e expression #{self.pieces}, char {position}"

    def _error(self, message: str) -> SedError:
        return SedError(f"{self._place()}: {message}")

    def _next(self) -> str:
        """Take the next character, "" at the end."""
        character = self.text[self.position : self.position + 1]
        self.position += len(character)
        return character

    def _back(self, character: str) -> None:
        self.position -= len(character)

    def _skip(self, characters: str) -> str:
        """Skip these characters; take the next one."""
        text = self.text
        while self.position < len(text) and text[self.position] in characters:
            self.position += 1
        return self._next()

    def _number(self, first: str) -> int:
        start = self.position - len(first)
        text = self.text
        while self.position < len(text) and text[self.position] in "0123456789":
            self.position += 1
        return int(text[start : self.position][:18])

    def _end_of_command(self) -> None:
        character = self._skip(BLANK)
        if character in ("}", "#"):
            self._back(character)
        elif character not in ("", "\n", ";"):
            raise SedError(
                f"{self._place(further=1 - len(encode(character)))}: extra characters after command"
            )

    def _delimited(self, delimiter: str, *, regex: bool) -> str | None:
        """Read up to the next delimiter; None if there is none."""
        out: list[str] = []
        while True:
            character = self._next()
            if character == delimiter:
                return "".join(out)
            if not character or (character == "\n" and regex):
                self._back(character)
                return None
            if character == "\\":
                following = self._next()
                if not following:
                    return None
                if following == delimiter:
                    character = delimiter
                elif following == "n" and regex:
                    character = "\\n"
                elif following == "\n" and regex:
                    character = "\n"
                else:
                    character = "\\" + following
            elif character == "\n":
                self._back(character)
                return None
            elif character == "[" and regex:
                piece = self._bracket()
                if piece is None:
                    return None
                character = piece
            out.append(character)

    def _bracket(self) -> str | None:
        """Read a bracket expression after its "[", delimiters included; None without its end."""
        text = self.text
        start = position = self.position
        if text.startswith("^", position):
            position += 1
        if text.startswith("]", position):
            position += 1
        while position < len(text):
            character = text[position]
            if character == "]":
                self.position = position + 1
                return "[" + text[start : position + 1]
            if character == "\n":
                break
            if character == "[" and text[position + 1 : position + 2] in (".", ":", "="):
                end = text.find(text[position + 1] + "]", position + 2)
                if end < 0:
                    position = len(text)
                    break
                position = end + 1
            position += 1
        self.position = position
        return None

    def _delimited_right(self, delimiter: str) -> str | None:
        """Read the right side of `s`; backslashes are kept, but not before the delimiter."""
        out: list[str] = []
        while True:
            character = self._next()
            if character == delimiter:
                return "".join(out)
            if not character:
                return None
            if character == "\n":
                self._back(character)
                return None
            if character == "\\":
                following = self._next()
                if not following:
                    return None
                if following == delimiter and delimiter != "&":
                    character = delimiter
                else:
                    character = "\\" + following
            out.append(character)

    def _check_delimiter(self, delimiter: str) -> None:
        """Refuse a delimiter of several bytes; with a newline, go to where its error is found."""
        if not delimiter.isascii() and not self.bytewise:
            self._back(delimiter)
            raise SedError(
                f"{self._place(further=1)}: delimiter character is not a single-byte character"
            )
        if delimiter == _NEWLINE:
            end = self.text.find(_NEWLINE, self.position)
            self.position = len(self.text) if end < 0 else end
