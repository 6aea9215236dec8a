"""Programs of bc and dc that arrive through a pipe: what is complete runs before the rest is there, as for a coprocess."""

from __future__ import annotations

import re

from agentsandbox.streams import Pipe, PipeReader, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.command import CommandContext

__all__ = ["BC", "DC", "pieces"]

_BLOCK = 65536

BC = re.compile(rb'"[^"]*(?:"|\Z)|/\*(?:.*?\*/|.*\Z)|#[^\n]*|\\\n|([{])|([}])|(\n)', re.DOTALL)
"""What opens, closes and ends a line of bc; strings, comments and joined lines hold none of these."""
DC = re.compile(rb"#[^\n]*|(\[)|(\])|(\n)")
"""The same of dc, whose strings nest."""


def pieces(ctx: CommandContext, grammar: re.Pattern[bytes]) -> Iterator[str]:
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
        if b"\n" in block and (end := _complete(ctx, held, grammar)):
            yield decode(held[:end])
            held = held[end:]
    if held:
        yield decode(held)


def _complete(ctx: CommandContext, data: bytes, grammar: re.Pattern[bytes]) -> int:
    """Where the last line ends with which nothing is open."""
    ctx.budget.step(len(data) >> 6)
    depth = end = 0
    for match in grammar.finditer(data):
        opens, closes, newline = match.groups()
        if opens:
            depth += 1
        elif closes:
            depth -= 1
        elif newline and depth <= 0:
            end = match.end()
    return end
