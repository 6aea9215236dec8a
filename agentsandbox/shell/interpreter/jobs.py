"""Background jobs of a shell: what `jobs`, `wait`, `fg`, `kill %1` and `$!` refer to.

`command &` starts a process (`background`) and adds a job with the next free number to the table
(`state.JobTable`). A shell that runs a script has no terminal to report ends to, so it forgets a
job that has ended after the next command (`reap`); only `wait PID` still knows its process. A
subshell sees the jobs of its parent, but cannot wait for them: they are not its children.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.processes import Process

_WORDS = """Hangup,Interrupt,Quit,Illegal instruction,Trace/breakpoint trap,Aborted,Bus error,\
Floating point exception,Killed,User defined signal 1,Segmentation fault,User defined signal 2,\
Broken pipe,Alarm clock,Terminated,Stack fault,Child exited,Continued,Stopped (signal),Stopped,\
Stopped (tty input),Stopped (tty output),Urgent I/O condition,CPU time limit exceeded,\
File size limit exceeded,Virtual timer expired,Profiling timer expired,Window changed,\
I/O possible,Power failure,Bad system call""".split(",")
_RTMIN, _RTMAX = 34, 64


def signal_words(number: int) -> str:
    """Return what the system calls a signal: "Killed", "Segmentation fault" …"""
    if _RTMIN <= number <= _RTMAX:
        return f"Real-time signal {number - _RTMIN}"
    return _WORDS[number - 1] if 0 < number <= len(_WORDS) else f"Unknown signal {number}"


class Job:
    """One background pipeline."""

    __slots__ = ("monitored", "number", "process", "text")

    def __init__(self, number: int, process: Process, text: str) -> None:
        self.monitored = False
        """Whether job control was on (`set -m`) when it was started."""
        self.number = number
        self.process = process
        self.text = text

    @property
    def state(self) -> str:
        """The state as `jobs` shows it: Running, Done, Exit 1 …"""
        status = self.process.status
        if status is None:
            return "Running"
        if status == 0:
            return "Done"
        if status > 128:
            return signal_words(status - 128)
        return f"Exit {status}"


def current_job(jobs: Sequence[Job]) -> Job | None:
    """Return the job %+: the last one started that still runs, else the last one."""
    running = [job for job in jobs if job.process.status is None]
    return running[-1] if running else (jobs[-1] if jobs else None)


def previous_job(jobs: Sequence[Job]) -> Job | None:
    """Return the job %-."""
    running = [job for job in jobs if job.process.status is None]
    if len(running) > 1:
        return running[-2]
    return jobs[-2] if len(jobs) > 1 else current_job(jobs)


def find_job(jobs: Sequence[Job], spec: str) -> Job | None:
    """The job that a job specification (%1, %%, %+, %-, %name, %?text) names."""
    name = spec.removeprefix("%")
    if name in ("", "%", "+"):
        return current_job(jobs)
    if name == "-":
        return previous_job(jobs)
    if name.isdigit() and name.isascii():
        return next((job for job in jobs if str(job.number) == name), None)
    if name.startswith("?"):
        return next((job for job in jobs if name[1:] in job.text), None)
    return next((job for job in jobs if job.text.startswith(name)), None)
