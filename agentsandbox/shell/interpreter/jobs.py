"""Background jobs of a shell: what `jobs`, `wait`, `fg`, `kill %1` and `$!` refer to.

`command &` starts a process (`subshells`) and adds a job with the next free number. A shell that
runs a script has no terminal to report ends to, so it forgets a job that has ended after the next
command (`reap`); only `wait PID` still knows its process. A subshell sees the jobs of its parent,
but cannot wait for them: they are not its children.
"""

from __future__ import annotations

from agentsandbox.shell.interpreter.state import KEPT, RUNNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar

    from agentsandbox.kernel.processes import Process

_NO_PIDS: frozenset[int] = frozenset()


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


class JobTable:
    """The background jobs of a shell. A copy on another machine has none: their processes stay
    where they run.

    jobs         jobs by number
    processes    children of this shell by pid, running or ended, for `wait PID`
    kept         children that ended while `wait -n` waited for another: the next `wait -n` reports
                 them
    latest_pid   $!: the process started last in the background
    """

    SLOTS: ClassVar[Mapping[str, str]] = {
        "jobs": RUNNING,
        "processes": RUNNING,
        "kept": RUNNING,
        "latest_pid": KEPT,
    }
    __slots__ = tuple(SLOTS)

    def __init__(self) -> None:
        self.latest_pid: int | None = None
        self.settle()

    def settle(self) -> None:
        """Forget all jobs."""
        self.jobs: list[Job] = []
        self.processes: dict[int, Process] = {}
        self.kept: frozenset[int] = _NO_PIDS

    def fork(self, *, subshell: bool = False) -> JobTable:
        """Return a copy for a subshell, which can show its parent's jobs but not wait."""
        twin = JobTable.__new__(JobTable)
        twin.jobs = self.jobs.copy()
        twin.processes = {} if subshell else self.processes.copy()
        twin.kept = _NO_PIDS if subshell else self.kept
        twin.latest_pid = self.latest_pid
        return twin

    def add(self, process: Process, text: str) -> Job:
        """Add a job; its number is one more than the highest in use."""
        number = max((job.number for job in self.jobs), default=0) + 1
        job = Job(number, process, text)
        self.jobs.append(job)
        self.processes[process.pid] = process
        return job

    def current(self) -> Job | None:
        """Return the job %+: the last one started that still runs, else the last one."""
        running = [job for job in self.jobs if job.process.status is None]
        return running[-1] if running else (self.jobs[-1] if self.jobs else None)

    def previous(self) -> Job | None:
        """Return the job %-."""
        running = [job for job in self.jobs if job.process.status is None]
        if len(running) > 1:
            return running[-2]
        return self.jobs[-2] if len(self.jobs) > 1 else self.current()

    def find(self, spec: str) -> Job | None:
        """The job that a job specification (%1, %%, %+, %-, %name, %?text) names."""
        name = spec.removeprefix("%")
        if name in ("", "%", "+"):
            return self.current()
        if name == "-":
            return self.previous()
        if name.isdigit() and name.isascii():
            return next((job for job in self.jobs if str(job.number) == name), None)
        if name.startswith("?"):
            return next((job for job in self.jobs if name[1:] in job.text), None)
        return next((job for job in self.jobs if job.text.startswith(name)), None)

    def remove(self, job: Job) -> None:
        """Forget a job that was waited for, disowned or reported."""
        if job in self.jobs:
            self.jobs.remove(job)

    def reap(self) -> None:
        """Forget the jobs that have ended; `wait PID` still knows their processes."""
        self.jobs = [
            job for job in self.jobs if job.process.status is None or job.process.pid in self.kept
        ]

    def running(self) -> list[Process]:
        """Return the children that have not ended."""
        return [process for process in self.processes.values() if process.status is None]
