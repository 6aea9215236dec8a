"""The first line of a script, as Linux reads it when the file is executed, and as bash looks at
it.
"""

from __future__ import annotations

from agentsandbox.kernel.fs.debian_tree import COMMAND_MARK
from agentsandbox.kernel.streams import decode

_LONGEST = 256
"""Bytes of the file that are looked at."""
_SAMPLE = 80
"""Bytes that bash looks at."""


def shebang_of(content: bytes) -> tuple[str, str] | None:
    """The path behind "#!" and the rest of the line, which is one argument or ""; None for a file
    without them and for our own commands.
    """
    if not content.startswith(b"#!") or content.startswith(COMMAND_MARK):
        return None
    line = content[2:_LONGEST].partition(b"\n")[0].partition(b"\0")[0].strip(b" \t")
    path = line.replace(b"\t", b" ").partition(b" ")[0]
    return (decode(path), decode(line[len(path) :].strip(b" \t"))) if path else None


def is_binary(content: bytes) -> bool:
    """Whether bash does not take it for a script: a NUL stands in the first line or, after "#!", in
    the second.
    """
    lines = content[:_SAMPLE].split(b"\n", 2)
    return content.startswith(COMMAND_MARK) or any(
        b"\0" in line for line in lines[: 2 if content.startswith(b"#!") else 1]
    )
