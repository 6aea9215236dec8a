"""The one boundary: nothing that a script does comes out of an execution as an exception.

What ends a script is one of three things. An unwind that the sandbox knows (a limit, a signal, a
closed pipe, `exit`) becomes a status. An error of ours, or of a host's command, is a bug: the
host's log gets its traceback, the script's log one sentence, and the status is 70. `SystemExit`
counts as such an error, as does any other class: a command that calls `sys.exit` does not end the
host. Only what the host itself has asked for passes through: `KeyboardInterrupt`, and the
cancellation of the task that waits for the script (`kernel.host_functions`).

The sentence goes to the log of the execution and not to descriptor 2. That one is the script's: it
may be a full device or a closed pipe, and a script that can provoke an internal error must not be
able to make the report of it fail.
"""

from __future__ import annotations

from agentsandbox.errors import Exit, Killed, LimitReached, PipeClosed
from agentsandbox.kernel.budget import CANCELLED
from agentsandbox.kernel.streams import encode
from agentsandbox.shell.interpreter.ends import run_in_shell
from agentsandbox.shell.interpreter.texts import run_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from agentsandbox.errors import LimitName
    from agentsandbox.kernel.streams import OutputLog
    from agentsandbox.shell.interpreter.shell import Shell

    Jobs = Literal["detach", "wait", "kill"]

_STATUSES = {"timeout": 124, CANCELLED: 130}


# TM-OUT-1
def run_guarded(
    shell: Shell, script: str, jobs: Jobs, log: OutputLog, *, goes_on: bool
) -> tuple[int, LimitName | None]:
    """Run a script; return its status and the limit that ended it. `log` is the execution's."""
    scheduler = shell.machine.scheduler
    limit: LimitName | None = None
    status = 1
    try:
        if "BASH_EXECUTION_STRING" in script:
            shell.values["BASH_EXECUTION_STRING"] = script
        status = run_in_shell(
            shell, lambda inner: run_commands(inner, script, origin="-c: "), goes_on=goes_on
        )
        if scheduler.processes:
            _settle(shell, jobs, log)
    except LimitReached as reached:
        limit = CANCELLED if scheduler.budget.cancelled else reached.limit
        status = _STATUSES.get(limit, 137)
        shell.status = status
        _forget_trace(reached)
    except Killed as end:
        status = 128 + end.signal
    except PipeClosed:
        status = 141
    except Exit as end:
        status = end.status
    except RecursionError:
        limit, status = "depth", 137
    except MemoryError:
        limit, status = "value_bytes", 137
    except BaseException as error:
        from agentsandbox.kernel.host_functions import passes_to_host

        if passes_to_host(error):
            _forget_exit_trap(shell)
            raise
        status = 70
        _report(error)
        log.add_line(2, b"bash: internal error; the host's log has the details\n")
    if limit is not None:
        shell.status = status
        _forget_exit_trap(shell)
    return int(status), limit


def _forget_exit_trap(shell: Shell) -> None:
    """Drop the EXIT trap of a call that was ended: the time of the next call is not for it."""
    if "EXIT" in shell.traps.handlers:
        shell.traps.handlers = shell.traps.without("EXIT")
        shell.update_flags()


# TM-OUT-2
def _report(error: BaseException) -> None:
    """Write an error with its traceback to the host's log; handlers of the host may fail."""
    import logging

    try:
        logging.getLogger("agentsandbox").error(
            "internal error while executing a script", exc_info=error
        )
    except Exception:  # noqa: BLE001 - there is nowhere left to tell it
        pass


def _forget_trace(error: BaseException) -> None:
    """Free a long traceback from its inner end, which spares the stack of a small thread."""
    chain = []
    link = error.__traceback__
    while link is not None:
        chain.append(link)
        link = link.tb_next
    error.__traceback__ = None
    while chain:
        chain.pop()
        if chain:
            chain[-1].tb_next = None


def _settle(shell: Shell, jobs: Jobs, log: OutputLog) -> None:
    """Background jobs at the end of an execution, as the option `jobs` says.

    The script has ended, so what its jobs reach then is no limit of the script: it ends all of
    them, and the next call can work.
    """
    scheduler = shell.machine.scheduler
    if jobs == "kill":
        scheduler.kill_all()
    elif jobs == "wait":
        scheduler.block(lambda: not scheduler.processes)
    else:
        try:
            scheduler.drain()
        except LimitReached as reached:
            if scheduler.budget.cancelled:
                raise
            scheduler.kill_all(elsewhere=False)
            notice = f"sandbox: background jobs stopped by the limit '{reached.limit}' (D-limit)\n"
            log.add_line(2, encode(notice))
