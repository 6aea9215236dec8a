"""What happens after a command failed (`set -e`, the ERR trap), and how errors of words end a
command or a shell.
"""

from __future__ import annotations

from agentsandbox.errors import Stopped
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.traps import inherited, run_exit_trap, run_trap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.shell.interpreter.shell import Shell


def command_failed(
    shell: Shell, status: int, line: int | None = None, traps: Mapping[str, str] | None = None
) -> None:
    """Called where a command that counts returned non-zero and `shell.check` is on.

    An ERR trap counts only if it was set before the command: `traps` are those from then, where the
    command may have set one.
    """
    if shell.control.ignore or shell.control.own_depth == shell.budget.depth:
        return
    if shell.traps.handlers.get("ERR") and (traps is None or "ERR" in traps):
        if inherited(shell, "ERR"):
            run_trap(shell, "ERR", line)
    if shell.options.errexit:
        if (
            shell.process.level and "EXIT" in shell.traps.handlers
        ):  # in a subshell it still sees the locals
            status = run_exit_trap(shell, status)
        raise Stopped(status, shell.line if line is None else line)


def finish(shell: Shell, status: int, line: int) -> int:
    """Set `$?` at the end of a command, and do what a failure calls for; return the status."""
    shell.status = status
    if status and shell.check:
        command_failed(shell, status, line)
    return status


def expansion_failed(shell: Shell, error: ExpansionError) -> int:
    """Report it; the status of the command if only that fails, else the error goes on to the top
    level.
    """
    shell.report(error)
    if error.fatal:
        error.message = ""
        raise error
    return error.status
