"""The end of a shell: what unwinds to its top becomes its status, and the EXIT trap runs."""

from __future__ import annotations

from agentsandbox.errors import Break, Continue, Exit, Killed, PipeClosed, Return
from agentsandbox.shell.expansion.errors import ExpansionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Run, Shell


SIGKILL = 9


def run_in_shell(shell: Shell, run: Run, *, goes_on: bool = False) -> int:
    """Run everything that a shell runs, then its EXIT trap; return its status.

    `goes_on` is for a terminal's shell, which keeps the descriptors that `exec` opened.
    """
    holders = shell.machine.accounts.holders
    holders[shell] = shell
    try:
        try:
            status = run(shell)
        except Exit as end:
            status = end.status
        except Return:
            status = shell.status
        except (Break, Continue):
            status = 0
        except ExpansionError as error:
            shell.report(error)
            status = 1 if shell.options.errexit else child_status(shell, error)
        except (PipeClosed, Killed) as end:
            is_own = isinstance(end, PipeClosed) or (
                end.signal != SIGKILL and end.target in (0, shell.process.pid)
            )
            if is_own and shell.traps.handlers.get("EXIT"):
                from agentsandbox.shell.interpreter.traps import run_exit_trap

                try:
                    run_exit_trap(shell, int(shell.status))
                except PipeClosed:
                    pass
            shell.traps.handlers = {}
            raise
        finally:
            holders.pop(shell, None)
            shell.budget.whole = False  # what ended it may have ended an expansion
        if shell.traps.handlers:
            from agentsandbox.shell.interpreter.traps import run_exit_trap

            status = run_exit_trap(shell, status)
        return status & 255
    finally:  # however it ended: files that are open count
        if shell.descriptors.owned and not goes_on:
            shell.finish()


def child_status(shell: Shell, error: ExpansionError, *, level: int = 0) -> int:
    """Return the status of a shell that an error of a word ended: bash has 1 but for `bash -c`."""
    is_direct = shell.invocation.source == "environment" and shell.process.level == level
    return error.status if is_direct else 1


def child_ended(shell: Shell) -> None:
    """Note SIGCHLD for a child process, or a command that runs in the place of one."""
    if "CHLD" in shell.traps.handlers:
        shell.traps.pending.append("CHLD")
