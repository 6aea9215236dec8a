"""What a failure causes: `set -e`, the ERR trap, and the ends of commands and shells."""

from __future__ import annotations

from agentsandbox.errors import Stopped
from agentsandbox.shell.expansion.errors import ExpansionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.shell.interpreter.shell import Run, Shell
    from agentsandbox.shell.syntax.nodes import Command


class RedirectionError(Exception):
    """A redirection that cannot be made; the message follows "name: line N: "."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


def command_failed(
    shell: Shell, status: int, line: int | None = None, traps: Mapping[str, str] | None = None
) -> None:
    """Run the ERR trap and obey `set -e` after a command that failed; called only if `shell.check`
    is on.

    An ERR trap counts only if it was set before the command: `traps` are the ones from then, for
    commands that may have set one.
    """
    if shell.control.ignore or shell.control.own_depth == shell.budget.depth:
        return
    if shell.traps.handlers.get("ERR") and (traps is None or "ERR" in traps):
        from agentsandbox.shell.interpreter.traps import inherited, run_trap

        if inherited(shell, "ERR"):
            run_trap(shell, "ERR", line)
    if shell.options.errexit:
        # in a subshell it still sees the locals
        if shell.process.level and "EXIT" in shell.traps.handlers:
            from agentsandbox.shell.interpreter.traps import run_exit_trap

            status = run_exit_trap(shell, status)
        raise shell.stopped(status, line)


def finish(shell: Shell, status: int, line: int) -> int:
    """Set `$?` at the end of a command, handle a failure, and return the status."""
    shell.status = status
    if status and shell.check:
        command_failed(shell, status, line)
    return status


def command_ended(
    shell: Shell, status: int, line: int, traps: Mapping[str, str] | None = None
) -> int:
    """As `finish`, for a command during which signals may have arrived."""
    shell.status = status
    if shell.traps.pending:
        from agentsandbox.shell.interpreter.traps import run_pending_traps

        run_pending_traps(shell)
    if status and shell.check:
        command_failed(shell, status, line, traps)
    return status


def telling(run: Run, node: Command) -> Run:
    """Compile what a subshell runs so that it says when errexit of the sandbox ends it."""

    def run_telling(shell: Shell) -> int:
        try:
            return run(shell)
        except Stopped as end:
            if shell.options.errexit_is_default:
                from agentsandbox.shell.interpreter.stops import tell_stop

                tell_stop(shell, end, node)
            raise

    return run_telling


def expansion_failed(shell: Shell, error: ExpansionError) -> int:
    """Report an error of an expansion; return its status, or raise it if it ends the shell."""
    shell.report(error)
    if error.fatal:
        error.message = ""
        raise error
    return error.status
