"""`shift`"""

from __future__ import annotations

from agentsandbox.errors import CommandError, Exit
from agentsandbox.kernel.formats.predicates import parse_test_integer
from agentsandbox.shell.builtins import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


class Shifted(list[str]):
    """Positional parameters after `shift`; `whole` is the list before the first one."""

    __slots__ = ("whole",)

    def __init__(self, items: list[str], whole: list[str]) -> None:
        super().__init__(items)
        self.whole = whole


def given(positional: list[str]) -> list[str]:
    """Return the positional parameters as a call or `set` gave them, before any `shift`."""
    return positional.whole if isinstance(positional, Shifted) else positional


@define("shift", "shift [n]")
def shift(shell: Shell, words: list[str]) -> int:
    """Drop the first positional parameters."""
    operands = words[2:] if words[1:2] == ["--"] else words[1:]
    count = 1
    if operands:
        number = parse_test_integer(operands[0])
        if number is None:
            raise CommandError(f"{operands[0]}: numeric argument required", 1)
        if len(operands) > 1:
            shell.complain("shift: too many arguments")
            raise Exit(1)
        count = number
    if count < 0:
        raise CommandError(f"{operands[0]}: shift count out of range", 1)
    if count > len(shell.stack.positional):
        if shell.options.shopt["shift_verbose"] or shell.options.posix:
            raise CommandError(
                f"{operands[0]}: shift count out of range"
                if operands
                else "shift count out of range",
                1,
            )
        return 1
    shell.budget.step(len(shell.stack.positional) >> 8)
    shell.stack.positional = Shifted(shell.stack.positional[count:], given(shell.stack.positional))
    return 0
