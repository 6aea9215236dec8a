"""`let`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import define
from agentsandbox.shell.expansion.errors import ExpansionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("let", "let arg [arg ...]")
def let(shell: Shell, words: list[str]) -> int:
    """Evaluate arithmetic expressions."""
    operands = words[2:] if words[1:2] == ["--"] else words[1:]
    if not operands:
        raise CommandError("expression expected", 1)
    value = 0
    for operand in operands:
        try:
            value = shell.arithmetic(operand)
        except ExpansionError as error:
            if error.ends:
                raise
            if error.readonly:
                shell.report(error)
                return 1
            raise CommandError(error.message, 1) from None
    return 0 if value else 1
