"""`break` and `continue`"""

from __future__ import annotations

from agentsandbox.errors import Break, Continue, ControlFlow, Exit
from agentsandbox.kernel.formats.predicates import parse_test_integer
from agentsandbox.shell.builtins import define
from agentsandbox.shell.interpreter.failures import command_failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


def _leave(shell: Shell, words: list[str], jump: type[ControlFlow]) -> int:
    if not shell.control.loops:
        shell.complain(f"{words[0]}: only meaningful in a `for', `while', or `until' loop")
        return 0
    operands = words[2:] if words[1:2] == ["--"] else words[1:]
    count = 1
    if operands:
        number = parse_test_integer(operands[0])
        if number is None:
            shell.complain(f"{words[0]}: {operands[0]}: numeric argument required")
            raise Exit(128)
        count = number
        if len(operands) > 1:
            shell.complain(f"{words[0]}: too many arguments")
            raise Exit(1)
    if count <= 0:
        shell.complain(f"{words[0]}: {count}: loop count out of range")
        shell.status = 1
        shell.control.break_levels = shell.control.loops
        if shell.check:
            command_failed(shell, 1)
        raise Break
    shell.control.break_levels = min(count, shell.control.loops)
    shell.status = 0
    raise jump


@define("break", "break [n]")
def break_(shell: Shell, words: list[str]) -> int:
    return _leave(shell, words, Break)


@define("continue", "continue [n]")
def continue_(shell: Shell, words: list[str]) -> int:
    return _leave(shell, words, Continue)
