"""Messages of a shell that runs a script about children that a signal ended."""

from __future__ import annotations

from agentsandbox.kernel.processes import SIGNALS
from agentsandbox.shell.interpreter.jobs import current_job, previous_job, signal_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

_SIGINT, _SIGPIPE, _SIGTERM = 2, 13, 15


def tell_killed(shell: Shell, signal: int, pid: int, text: str, *, foreground: bool) -> None:
    """Report that a signal, other than SIGINT and SIGPIPE, ended the child running `text`."""
    if not shell.control.tells_signals or signal in (_SIGINT, _SIGPIPE):
        return
    words = signal_words(signal)
    text = shell.with_slots(text)
    if signal != _SIGTERM and SIGNALS.get(signal) not in shell.traps.handlers:
        shell.complain(f"{pid:5d} {words:<24}{text}")
    elif foreground:
        shell.show(f"{words}\n")


def tell_jobs(shell: Shell) -> None:
    """Report the jobs that signals ended, or under `set -m` all that ended; then forget them."""
    table = shell.jobs
    current, previous = (
        (current_job(table.jobs), previous_job(table.jobs))
        if shell.options.monitor
        else (None, None)
    )
    for job in table.jobs:
        process = job.process
        if shell.options.monitor and process.status is not None and process.pid not in table.kept:
            mark = (
                "+" if job is current else "-" if job is previous and len(table.running()) else " "
            )
            shell.show(f"[{job.number}]{mark}  {job.state:<24}{job.text}\n")
            process.killed_by = 0
        elif process.killed_by:
            tell_killed(shell, process.killed_by, process.pid, job.text, foreground=False)
            process.killed_by = 0
    shell.jobs.reap()
