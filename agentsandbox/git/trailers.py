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
    found: list[tuple[str, str]] = []
    for line in trailer_block(message):
        match = _TRAILER.match(line)
        if line[:1].isspace() and found:
            key, value = found[-1]
            found[-1] = (key, f"{value}\n{line}")
        elif match is not None:
            found.append((match[1], match[2].strip()))
    return found


def _unfolded(blanks: re.Match[str]) -> str:
    """Return one blank for a line end with an indentation behind it."""
    return " " if "\n" in blanks[0][:-1] else blanks[0]


def format_trailers(message: bytes, options: str) -> str:
    """Return the trailers of a message as %(trailers:OPTIONS) shows them."""
    keys: list[str] = []
    separator: str | None = None
    key_separator = ": "
    only = value_only = key_only = unfold = False
    for option in options.split(",") if options else []:
        name, equals, value = option.partition("=")
        on = not equals or value in ("true", "yes", "on", "")
        value = value.replace("%x2C", ",").replace("%x2c", ",").replace("%n", "\n")
        if name == "key":
            keys.append(value.rstrip(":").lower())
            only = True
        elif name == "separator":
            separator = value
        elif name == "key_value_separator":
            key_separator = value
        elif name == "only":
            only = on
        elif name == "valueonly":
            value_only = on
        elif name == "keyonly":
            key_only = on
        elif name == "unfold":
            unfold = on
        else:
            return f"%(trailers:{options})"
    if not options:
        lines = trailer_block(message)
        return "\n".join(lines) + "\n" if lines else ""
    out = []
    for key, value in parse_trailers(message):
        if keys and key.lower() not in keys:
            continue
        if unfold:
            value = re.sub(r"(?<!\s)\s++", _unfolded, value)
        out.append(value if value_only else key if key_only else f"{key}{key_separator}{value}")
    del only
    if separator is not None:
        return separator.join(out)
    return "".join([f"{line}\n" for line in out])
