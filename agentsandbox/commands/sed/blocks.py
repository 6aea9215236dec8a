"""Scripts whose commands look at one line only, run on whole blocks of lines.

The usual `s`, `d`, `p` and `y` of a pipeline do not need an editor that goes line by line: `re` can
replace all matches in a block, because the pattern in its form for blocks never matches across a
newline. Each command becomes a step, a function from a block to a block (None for nothing):
`plain_texts` has the steps that need no `re`, `steps` the others. If a command has none, the whole
script goes line by line.
"""

from __future__ import annotations

from agentsandbox.commands.sed.nodes import Script
from agentsandbox.commands.sed.plain_texts import text_steps
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.sed.output import Settings
    from agentsandbox.kernel.budget import Budget

    Kernel = Callable[[bytes], tuple[str | None, bool]]


def compile_blocks(script: Script, settings: Settings, budget: Budget) -> Kernel | None:
    """Return a function from a block to (its output or None, whether it ends in a newline).

    None if the script needs the line-by-line editor.
    """
    if settings.null_lines or not script.commands or len(script.commands) > 20:
        return None
    steps = None if settings.quiet else text_steps(script.commands, budget)
    if steps is None:
        from agentsandbox.commands.sed.steps import compile_steps

        steps = compile_steps(script.commands, settings, budget)
    if steps is None:
        return None

    def edit(block: bytes) -> tuple[str | None, bool]:
        complete = block.endswith(b"\n")
        view = memoryview(block)
        text: str | None = decode(view[:-1] if complete else view)
        budget.charge(len(block))
        budget.step(len(block) // 1024 + 1)
        for step in steps:
            assert text is not None
            text = step(text)
            if text is None:
                return None, True
        return text, complete

    return edit
