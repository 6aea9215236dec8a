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

_TRAILING = re.compile(rb"[ \t\r\v\f]+\Z")
_SPACE_BEFORE_TAB = re.compile(rb"[ \t]* +\t")
_MARKER = re.compile(rb"(?:<{7}|>{7}|={7}|\|{7})(?:\s|\Z)")


def errors_of(line: bytes) -> list[str]:
    """Return the names of the errors of a line without its end."""
    found = []
    if _TRAILING.search(line):
        found.append("trailing whitespace")
    if _SPACE_BEFORE_TAB.match(line):
        found.append("space before tab in indent")
    return found


def highlighted(line: bytes, color: bytes, error: bytes, reset: bytes) -> bytes:
    """Return an added line in its colour, with errors in theirs."""
    tail = _TRAILING.search(line)
    end = tail.start() if tail else len(line)
    out = b""
    at = 0
    lead = _SPACE_BEFORE_TAB.match(line[:end])
    if lead:
        for piece in re.finditer(rb" +(?=\t)|\t", lead[0]):
            if piece[0] == b"\t":
                out += b"\t"
            else:
                out += error + piece[0] + reset
        at = lead.end()
    if end > at:
        out += color + line[at:end] + reset
    if tail:
        out += error + tail[0] + reset
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
