"""`caller`"""

from __future__ import annotations

from agentsandbox.shell.builtins import (
    UsageFailure,
    define,
    invalid_number,
    is_number,
    parse_letters,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("caller", "caller [expr]")
def caller(shell: Shell, words: list[str]) -> int:
    """Show where the current function was called."""
    frames = shell.stack.frames
    if not frames:
        return 1
    position = parse_letters(words, "")[1]
    source = shell.invocation.source
    outermost = "NULL" if source in ("environment", "main") else source
    sources = [outermost, *(frame.source for frame in frames)]
    if position == len(words):
        source = sources[len(frames) - 1]
        shell.write(f"{frames[-1].call_line} {source}\n")
        return 0
    text = words[position]
    if not is_number(text):
        raise UsageFailure(invalid_number(text))
    level = len(frames) - 1 - int(text[:6])
    if level < 0 or (level == 0 and shell.invocation.source in ("environment", "main")):
        return 1
    name = frames[level - 1].name if level else "main"
    shell.write(f"{frames[level].call_line} {name} {sources[level]}\n")
    return 0
