"""The first line of a script, as Linux reads it on execution and as bash inspects it."""

from __future__ import annotations

from agentsandbox.kernel.fs.debian_tree import COMMAND_MARK
from agentsandbox.kernel.streams import decode

_LONGEST = 256
"""Bytes of the file that are read."""
_SAMPLE = 80
"""Bytes of the file that bash inspects."""


def shebang_of(content: bytes) -> tuple[str, str] | None:
    """Return the path after "#!" and the rest of the line (one argument, or "").

    None for a file without "#!" and for a built-in command.
    """
    if not content.startswith(b"#!") or content.startswith(COMMAND_MARK):
        return None
    line = content[2:_LONGEST].partition(b"\n")[0].partition(b"\0")[0].strip(b" \t")
    path = line.replace(b"\t", b" ").partition(b" ")[0]
    return (decode(path), decode(line[len(path) :].strip(b" \t"))) if path else None


def is_binary(content: bytes) -> bool:
    """Whether bash refuses it as binary: a NUL in its first line, after "#!" in its second."""
    lines = content[:_SAMPLE].split(b"\n", 2)
    return content.startswith(COMMAND_MARK) or any(
        b"\0" in line for line in lines[: 2 if content.startswith(b"#!") else 1]
    )
