"""`return`"""

from __future__ import annotations

from agentsandbox.errors import CommandError, Exit, Return
from agentsandbox.kernel.formats.predicates import parse_test_integer
from agentsandbox.shell.builtins import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("return", "return [n]")
def return_(shell: Shell, words: list[str]) -> int:
    operands = words[2:] if words[1:2] == ["--"] else words[1:]
    number: int | None = int(shell.status)
    if operands:
        number = parse_test_integer(operands[0])
        if number is None:
            shell.complain(f"return: {operands[0]}: numeric argument required")
            number = 2
        elif len(operands) > 1:
            shell.complain("return: too many arguments")
            raise Exit(1)
    if not shell.stack.frames:
        message = "can only `return' from a function or sourced script"
        if shell.options.posix:
            shell.complain(f"return: {message}")
            raise Exit(2)
        raise CommandError(message, 2)
    if operands and number is not None:
        shell.status = number & 255
    raise Return
