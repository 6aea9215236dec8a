"""Programs of bc that arrive through a pipe: what is complete runs before the rest is there, as for
a coprocess.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.streams import Pipe, PipeReader, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.contract.command import CommandContext

_BLOCK = 65536
_HEAD = re.compile(
    rb"(?:.*[;{} \t])?(?:define\b[^{]*|else[ \t]*|(?:if|while|for)[ \t]*(\(.*\))[ \t]*)", re.DOTALL
)
"""A line of bc that needs the next one: of the last condition in parentheses nothing may follow."""

_GRAMMAR = re.compile(
    rb'"[^"]*(?:"|\Z)|/\*(?:.*?\*/|.*\Z)|#[^\n]*|\\\n|([{])|([}])|(\n)', re.DOTALL
)
"""What opens, closes and ends a line of bc; strings, comments and joined lines hold none of
these."""


def pieces(ctx: CommandContext) -> Iterator[str]:
    """Standard input in pieces that can run by themselves; all at once where it is no pipe."""
    if not isinstance(ctx.stdin, (Pipe, PipeReader)):
        data = ctx.stdin.read()
        ctx.budget.charge(len(data))
        yield decode(data)
        return
    held = b""
    while block := ctx.stdin.read(_BLOCK):
        held += block
        ctx.budget.charge(len(held))
        if b"\n" in block and (end := _complete(ctx, held)):
            yield decode(held[:end])
            held = held[end:]
    if held:
        yield decode(held)


def _complete(ctx: CommandContext, data: bytes) -> int:
    """Where the last line ends with which nothing is open."""
    ctx.budget.step(len(data) >> 6)
    depth = 0
    ends = [0]
    for match in _GRAMMAR.finditer(data):
        opens, closes, newline = match.groups()
        if opens:
            depth += 1
        elif closes:
            depth -= 1
        elif newline and depth <= 0:
            ends.append(match.end())
    while len(ends) > 1 and _wants_more(data[ends[-2] : ends[-1]]):
        ctx.budget.step()
        ends.pop()
    return ends[-1]


def _wants_more(line: bytes) -> bool:
    """Whether a line of bc is a head whose body comes in the next one, or empty: what is before it
    may be a head.
    """
    if not line.strip():
        return True
    found = _HEAD.fullmatch(line.rstrip(b"\n"))
    if found is None or found[1] is None:
        return found is not None
    depth = 0
    for at, byte in enumerate(found[1]):
        depth += (byte == 40) - (byte == 41)
        if not depth:
            return at == len(found[1]) - 1
    return False
