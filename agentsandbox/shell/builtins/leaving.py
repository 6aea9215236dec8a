"""`break`, `continue`, `return`, `exit` and `logout`: out of a loop, a function, a shell."""

from __future__ import annotations

from agentsandbox.errors import Break, CommandError, Continue, ControlFlow, Exit, Return
from agentsandbox.kernel.formats.predicates import parse_test_integer
from agentsandbox.shell.builtins import SpecialFailed, define
from agentsandbox.shell.interpreter.failures import command_failed
from agentsandbox.shell.interpreter.traps import run_exit_trap

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
    """Leave a loop."""
    return _leave(shell, words, Break)


@define("continue", "continue [n]")
def continue_(shell: Shell, words: list[str]) -> int:
    """Go on with the next round of a loop."""
    return _leave(shell, words, Continue)


@define("return", "return [n]")
def return_(shell: Shell, words: list[str]) -> int:
    """Return from a function."""
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
            raise SpecialFailed(2)
        raise CommandError(message, 2)
    if operands and number is not None:
        shell.status = number & 255
    raise Return


@define("exit", "exit [n]")
def exit(shell: Shell, words: list[str]) -> int:
    """End the shell."""
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
    """Return the exit. In a function or subshell the EXIT trap runs first, with its locals."""
    if shell.traps.handlers and (
        shell.process.level or any(frame.is_function for frame in shell.stack.frames)
    ):
        status = run_exit_trap(shell, status)
    return Exit(status)


@define("logout", "logout [n]")
def logout(shell: Shell, words: list[str]) -> int:
    """End a login shell."""
    del shell, words
    raise CommandError("not login shell: use `exit'", 1)
