"""`shift`"""

from __future__ import annotations

from agentsandbox.errors import CommandError, Exit
from agentsandbox.interpreter.builtins import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell


@define("shift", "shift [n]")
def shift(shell: Shell, words: list[str]) -> int:
    operands = words[2:] if words[1:2] == ["--"] else words[1:]
    count = 1
    if operands:
        text = operands[0].strip()
        if not text.lstrip("+-").isdigit() or len(text) > 18:
            raise CommandError(f"{operands[0]}: numeric argument required", 1)
        if len(operands) > 1:
            shell.complain("shift: too many arguments")
            raise Exit(1)
        count = int(text)
    if count < 0:
        raise CommandError(f"{operands[0]}: shift count out of range", 1)
    if count > len(shell.positional):
        if shell.shopt["shift_verbose"]:
            raise CommandError(f"{operands[0]}: shift count out of range" if operands else "shift count out of range", 1)
        return 1
    shell.positional = shell.positional[count:]
    return 0
