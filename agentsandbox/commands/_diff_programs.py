"""`diff3 --diff-program`: the changes between two files as a program of the script's choice prints them."""

from __future__ import annotations

import errno
import re

from agentsandbox.commands._programs import find_problem
from agentsandbox.errors import CommandError
from agentsandbox.languages.diff.comparison import Change
from agentsandbox.languages.diff.lines import split_lines
from agentsandbox.streams import Buffer, BytesReader, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.command import CommandContext

__all__ = ["changes_by"]

_TROUBLE = 2
_HEAD = re.compile(rb"([0-9]{1,15})(?:,([0-9]{1,15}))?([acd])([0-9]{1,15})(?:,([0-9]{1,15}))?\n")


def changes_by(
    ctx: CommandContext, program: str, options: Sequence[str], names: tuple[str, str], files: tuple[list[bytes], list[bytes]]
) -> list[Change]:
    """The changes from one file to the other, as `program` sees them."""
    output = Buffer(ctx.budget.value_bytes)
    stdin = BytesReader(b"".join(files[names.index("-")])) if "-" in names else BytesReader(b"")
    if problem := find_problem(ctx, program):
        what = "not found" if problem == errno.ENOENT else "could not be invoked"
        raise CommandError(f"subsidiary program '{program}' {what}", _TROUBLE)
    status = ctx.run([program, *options, "--horizon-lines=100", "--", *names], stdin=stdin, stdout=output)
    if status > 1:
        raise CommandError(f"subsidiary program '{program}' failed (exit status {status})", _TROUBLE)
    lines = iter(split_lines(output.getvalue(), ctx.budget))
    found = []
    for line in lines:
        ctx.budget.step()
        head = _HEAD.fullmatch(line)
        if head is None:
            raise CommandError(f"diff failed: {decode(line)}".removesuffix("\n"), _TROUBLE)
        found.append(_change(head, lines, files, program))
    return found


def _change(head: re.Match[bytes], lines: Iterator[bytes], files: tuple[list[bytes], list[bytes]], program: str) -> Change:
    """One change; its lines have to be those of the files."""
    ranges = []
    for first, last, empty in ((head[1], head[2], b"a"), (head[4], head[5], b"d")):
        start = int(first)
        ranges.append((start, start) if head[3] == empty else (start - 1, int(last or first)))
    for side, mark in ((0, b"< "), (1, b"> ")):
        start, end = ranges[side]
        if end > len(files[side]):
            raise CommandError(f"{program}: more lines than the file has", _TROUBLE)
        for at in range(start, end):
            line = next(lines, b"")
            if not line.startswith(mark):
                raise CommandError("invalid diff format; incorrect leading line chars", _TROUBLE)
            whole = files[side][at]
            if line[2:].removesuffix(b"\n") != whole.removesuffix(b"\n"):
                raise CommandError(f"{program}: its lines are not those of the files", _TROUBLE)
            if not whole.endswith(b"\n"):
                next(lines, b"")
        if side == 0 and head[3] == b"c" and next(lines, b"") != b"---\n":
            raise CommandError("invalid diff format; invalid change separator", _TROUBLE)
    (old, old_end), (new, new_end) = ranges
    return Change(old, new, old_end - old, new_end - new)
