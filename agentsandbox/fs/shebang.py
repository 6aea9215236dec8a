"""The first line of a script, as Linux reads it when the file is executed."""

from __future__ import annotations

from agentsandbox.fs.skeleton import COMMAND_MARK
from agentsandbox.streams import decode

__all__ = ["shebang_of"]

_LONGEST = 256
"""Bytes of the file that are looked at."""


def shebang_of(content: bytes) -> tuple[str, str] | None:
    """The path behind "#!" and the rest of the line, which is one argument or ""; None for a file without them and for our own commands."""
    if not content.startswith(b"#!") or content.startswith(COMMAND_MARK):
        return None
    line = content[2:_LONGEST].partition(b"\n")[0].partition(b"\0")[0].strip(b" \t")
    path = line.replace(b"\t", b" ").partition(b" ")[0]
    return (decode(path), decode(line[len(path) :].strip(b" \t"))) if path else None
