"""Errors of whitespace in added lines: `--check`, and their colour."""

from __future__ import annotations

import re

from agentsandbox.git.diff.xdiff import split_lines
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.diff.hunks import LineDiff
    from agentsandbox.kernel.budget import Budget

_BLANKS = b" \t\r\v\f"
_INDENT = re.compile(rb"[ \t]*+")
_MARKER = re.compile(rb"(?:<{7}|>{7}|={7}|\|{7})(?:\s|\Z)")


def errors_of(line: bytes) -> list[str]:
    """Return the names of the errors of a line without its end."""
    found = []
    if line[-1:] and line[-1:] in _BLANKS:
        found.append("trailing whitespace")
    if _before_tab(line):
        found.append("space before tab in indent")
    return found


def _before_tab(line: bytes) -> bytes:
    """Return the indentation up to the last tab behind a space; empty without one."""
    indent = _INDENT.match(line)
    assert indent is not None
    return indent[0][: indent[0].rfind(b" \t") + 2] if b" \t" in indent[0] else b""


def highlighted(line: bytes, color: bytes, error: bytes, reset: bytes) -> bytes:
    """Return an added line in its colour, with errors in theirs."""
    end = len(line.rstrip(_BLANKS))
    out = b""
    at = 0
    lead = _before_tab(line[:end])
    if lead:
        for piece in re.finditer(rb"(?<! ) ++(?=\t)|\t", lead):
            if piece[0] == b"\t":
                out += b"\t"
            else:
                out += error + piece[0] + reset
        at = len(lead)
    if end > at:
        out += color + line[at:end] + reset
    if end < len(line):
        out += error + line[end:] + reset
    return out


def check(
    name: str, before: bytes, after: bytes, lines: LineDiff, budget: Budget,
    write: Callable[[bytes], None],
) -> bool:  # fmt: skip
    """Print the errors in the added lines of a file, and conflict markers; return whether any."""
    # long: two kinds of errors of lines, one of the whole file
    lines.context = 0
    blank_tail = 0
    for line in reversed(split_lines(after)):
        if line.strip():
            break
        blank_tail += 1
    total = len(split_lines(after))
    old_lines = split_lines(before)
    old_tail = 0
    for line in reversed(old_lines):
        if line.strip():
            break
        old_tail += 1
    failed = False
    for hunk in lines.hunks(before, after, budget):
        number = hunk.new
        for sign, line in hunk.lines:
            if sign == b"-":
                continue
            number += 1
            if sign != b"+":
                continue
            body = line.rstrip(b"\n")
            problems = errors_of(body)
            if _MARKER.match(body):
                write(encode(f"{name}:{number}: leftover conflict marker\n"))
                failed = True
            if problems:
                failed = True
                write(encode(f"{name}:{number}: {', '.join(problems)}.\n") + b"+" + line)
    if blank_tail > old_tail:
        failed = True
        write(encode(f"{name}:{total - blank_tail + 1}: new blank line at EOF.\n"))
    return failed
