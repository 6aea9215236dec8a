"""Trailers: the "Key: value" lines at the end of a message."""

from __future__ import annotations

import re

from agentsandbox.kernel.streams import decode

_TRAILER = re.compile(r"([A-Za-z0-9-]+)\s*:\s*(.*)")
_KNOWN = ("Signed-off-by: ", "(cherry picked from commit ")


def trailer_block(message: bytes) -> list[str]:
    """Return the lines of the last paragraph if it consists of trailers."""
    text = decode(message).rstrip("\n")
    paragraphs = re.split(r"\n[ \t]*\n", text)
    if len(paragraphs) < 2:
        return []
    lines = [line for line in paragraphs[-1].split("\n") if not line.startswith("#")]
    trailers = others = 0
    known = False
    for line in lines:
        if line.startswith(_KNOWN):
            known = True
            trailers += 1
        elif _TRAILER.match(line) and not line[:1].isspace():
            trailers += 1
        elif not (line[:1].isspace() and trailers):
            others += 1
    if trailers and (not others or (known and trailers * 3 >= others)):
        return lines
    return []


def parse_trailers(message: bytes) -> list[tuple[str, str]]:
    """Return the trailers of a message as (key, value)."""
    return [(key, value) for key, value in _items(message) if key]


_LITERAL = re.compile(r"%(?:x([0-9a-fA-F]{2})|n)")


def _literal(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else "\n"


def _unfolded(blanks: re.Match[str]) -> str:
    """Return one blank for a line end with an indentation behind it."""
    return " " if "\n" in blanks[0][:-1] else blanks[0]


def _items(message: bytes) -> list[tuple[str, str]]:
    """Return the lines of the block of trailers: (key, value), or ("", line) for other lines."""
    found: list[tuple[str, str]] = []
    for line in trailer_block(message):
        match = _TRAILER.match(line)
        if line[:1].isspace() and found:
            key, value = found[-1]
            found[-1] = (key, f"{value}\n{line}")
        elif match is not None:
            found.append((match[1], match[2].strip()))
        else:
            found.append(("", line))
    return found


class TrailerForm:
    """The options of %(trailers:OPTIONS)."""

    def __init__(self, options: str) -> None:
        self.options = options
        self.keys: list[str] = []
        self.separator: str | None = None
        self.key_separator: str | None = None
        self.flags = {"only": False, "valueonly": False, "keyonly": False, "unfold": False}
        self.wrong: str | None = None
        """The option that is not understood, "" for a key that is missing; None if all are."""
        for option in options.split(",") if options else []:
            if not self._read(*option.partition("=")):
                break

    def _read(self, name: str, equals: str, value: str) -> bool:
        text = _LITERAL.sub(_literal, value)
        if name == "key":
            if not equals:
                self.wrong = ""
                return False
            self.keys.append(text.rstrip(":").lower())
            self.flags["only"] = True
        elif name == "separator" and equals:
            self.separator = text
        elif name == "key_value_separator" and equals:
            self.key_separator = text
        elif name in self.flags and value.lower() in ("", "true", "yes", "on", "1"):
            self.flags[name] = True
        elif name in self.flags and value.lower() in ("false", "no", "off", "0"):
            self.flags[name] = False
        else:
            self.wrong = name + equals + value
            return False
        return True

    def _is_whole(self) -> bool:
        return (
            not self.keys
            and self.separator is None
            and self.key_separator is None
            and not any(self.flags.values())
        )

    def text(self, message: bytes) -> str:
        """Return the trailers of a message."""
        if self._is_whole():
            lines = trailer_block(message)
            return "\n".join(lines) + "\n" if lines else ""
        out = []
        between = ": " if self.key_separator is None else self.key_separator
        for key, value in _items(message):
            if not key:
                if not self.flags["only"]:
                    out.append(value)
                continue
            if self.keys and key.lower() not in self.keys:
                continue
            if self.flags["unfold"]:
                value = re.sub(r"(?<!\s)\s++", _unfolded, value)
            parts = [key] * (not self.flags["valueonly"]) + [value] * (not self.flags["keyonly"])
            out.append(between.join(parts))
        if self.separator is not None:
            return self.separator.join(out)
        return "".join([f"{line}\n" for line in out])


def format_trailers(message: bytes, options: str) -> str:
    """Return the trailers of a message as %(trailers:OPTIONS) of a log shows them."""
    form = TrailerForm(options)
    return f"%(trailers:{options})" if form.wrong is not None else form.text(message)


def with_trailer(message: bytes, trailer: bytes) -> bytes:
    """Return a message with a trailer at its end, unless it is there.

    An empty message gets two empty lines for the subject and the body.
    """
    body = message.rstrip(b"\n")
    if not body:
        return b"\n\n" + trailer + b"\n"
    lines = trailer_block(message)
    if lines and lines[-1] == decode(trailer):
        return body + b"\n"
    return body + (b"\n" if lines else b"\n\n") + trailer + b"\n"
