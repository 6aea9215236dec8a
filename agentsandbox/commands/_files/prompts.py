"""Questions on stderr, answers from stdin: `cp -i`, `mv -i`, `rm -i`, `find -ok`."""

from __future__ import annotations

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext


def ask(ctx: CommandContext, question: str) -> bool:
    """Print "name: question"; whether the next line of stdin begins with "y"."""
    ctx.stderr.write(encode(f"{ctx.name}: {question} "))
    return ctx.stdin.readline()[:1] in (b"y", b"Y")
