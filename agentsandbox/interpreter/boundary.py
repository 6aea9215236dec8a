"""The one boundary: nothing that a script does comes out of an execution as an exception."""

from __future__ import annotations

import sys

from agentsandbox.errors import Exit, Killed, LimitReached, PipeClosed
from agentsandbox.interpreter.scripts import run_commands
from agentsandbox.interpreter.subshells import run_in_shell
from agentsandbox.limits import CANCELLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from agentsandbox.interpreter.shell import Shell
    from agentsandbox.limits import LimitName

    Jobs = Literal["detach", "wait", "kill"]

__all__ = ["run_guarded"]

_STATUSES = {"timeout": 124, CANCELLED: 130}

RECURSION = 24_000
"""Python frames that the deepest script may need: `Limits.depth` levels of some twenty frames each."""


def run_guarded(shell: Shell, script: str, jobs: Jobs, *, goes_on: bool) -> tuple[int, LimitName | None]:
    """Run a script; (status, limit). Nothing that a script does comes out of here as an exception."""
    scheduler = shell.machine.scheduler
    limit: LimitName | None = None
    status = 1
    if sys.getrecursionlimit() < RECURSION:
        sys.setrecursionlimit(RECURSION)
    try:
        if "BASH_EXECUTION_STRING" in script:
            shell.values["BASH_EXECUTION_STRING"] = script
        status = run_in_shell(shell, lambda inner: run_commands(inner, script, origin="-c: "), goes_on=goes_on)
        if scheduler.processes:
            _settle(shell, jobs)
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
    except Exception:
        # The one boundary: an error of ours, or of a host's command, must not reach the program through a script.
        import logging

        logging.getLogger("agentsandbox").exception("internal error while executing a script")
        status = 70
        stream = shell.fds.get(2)
        if stream is not None:
            stream.write(b"bash: internal error; the host's log has the details\n")
    if limit is not None:
        shell.status = status
    return int(status), limit


def _forget_trace(error: BaseException) -> None:
    """Take a long traceback apart from its inner end: freed in one go it would use up the stack of a small thread."""
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


def _settle(shell: Shell, jobs: Jobs) -> None:
    """Background jobs at the end of an execution, as the option `jobs` says."""
    scheduler = shell.machine.scheduler
    if jobs == "kill":
        scheduler.kill_all()
    elif jobs == "wait":
        scheduler.block(lambda: not scheduler.processes)
    else:
        scheduler.drain()
