"""`exit` and `logout`"""

from __future__ import annotations

from agentsandbox.errors import CommandError, Exit
from agentsandbox.kernel.formats.predicates import parse_test_integer
from agentsandbox.shell.builtins import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("exit", "exit [n]")
def exit(shell: Shell, words: list[str]) -> int:
    operands = words[2:] if words[1:2] == ["--"] else words[1:]
    if not operands:
        raise _end(
            shell, int(shell.status) if shell.traps.exit_status is None else shell.traps.exit_status
        )
    number = parse_test_integer(operands[0])
    if number is None:
        shell.complain(f"exit: {operands[0]}: numeric argument required")
        raise _end(shell, 2)
    if len(operands) > 1:
        shell.complain("exit: too many arguments")
        raise _end(shell, 1)
    raise _end(shell, number & 255)


def _end(shell: Shell, status: int) -> Exit:
    """In a function or subshell the EXIT trap runs where `exit` stands: with the locals and the
    redirections there.
    """
    if shell.traps.handlers and (
        shell.process.level or any(frame.is_function for frame in shell.stack.frames)
    ):
        from agentsandbox.shell.interpreter.traps import run_exit_trap

        status = run_exit_trap(shell, status)
    return Exit(status)


@define("logout", "logout [n]")
def logout(shell: Shell, words: list[str]) -> int:
    del shell, words
    raise CommandError("not login shell: use `exit'", 1)
