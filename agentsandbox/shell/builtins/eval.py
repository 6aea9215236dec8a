"""`eval`"""

from __future__ import annotations

from agentsandbox.shell.builtins import define, parse_letters
from agentsandbox.shell.interpreter.texts import run_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("eval", "eval [arg ...]")
def eval(shell: Shell, words: list[str]) -> int:
    _, position = parse_letters(words[:2], "")
    text = " ".join(words[position:])
    if not text.strip():
        return 0
    shell.budget.charge(len(text))
    shell.control.trace_level += 1
    line = shell.line
    try:
        status = shell.budget.nested(
            lambda: run_commands(shell, text, first_line=line, origin="eval: ")
        )
    finally:
        shell.control.trace_level -= 1
        shell.line = line
    return status
