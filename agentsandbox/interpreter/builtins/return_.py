"""`return`"""

from __future__ import annotations

from agentsandbox.errors import CommandError, Exit, Return
from agentsandbox.interpreter.builtins import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell


@define("return", "return [n]")
def return_(shell: Shell, words: list[str]) -> int:
    operands = words[2:] if words[1:2] == ["--"] else words[1:]
    if not shell.frames:
        raise CommandError("can only `return' from a function or sourced script", 2)
    if operands:
        text = operands[0].strip()
        if not text.lstrip("+-").isdigit() or len(text) > 19:
            shell.complain(f"return: {operands[0]}: numeric argument required")
            shell.status = 2
            raise Return
        if len(operands) > 1:
            shell.complain("return: too many arguments")
            raise Exit(1)
        shell.status = int(text) & 255
    raise Return
