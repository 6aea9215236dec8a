"""The cooperative scheduler: processes are greenlets of one thread, in a repeatable order.

The running script is a process on the caller's own stack. A second process starts only when it is
needed: for a background job, a coprocess, a process substitution, or the reading side of a
pipeline whose pipe is full. A process gives way where it waits (`block`) and at the ticks of the
budget (`turn`), nowhere else, so code between two ticks needs no lock. No process runs between
two executions.

  script ──start──▶ Process (not running yet)
    │ block / turn             ▲
    └──────── _switch ─────────┘   `_choose` takes the next runnable process, round robin

A process that waits has a condition (`_ready`), a time (`_wake`), or both. When no process can run
the scheduler sleeps until the earliest time: in the host's event loop through `pause` if there is
one, otherwise in the thread. When no process can ever run again the execution ends with the limit
`timeout`.

A pipeline runs its first stage at once and *defers* the rest: if the first stage ends without
filling the pipe, the rest runs afterwards on the same stack, and no greenlet was needed.

Signals are delivered to a process when it runs next. What ends the whole execution (a limit, an
error of ours) is kept in `failure` and raised in the first process.
"""

from __future__ import annotations

from _thread import TIMEOUT_MAX, allocate_lock
from time import monotonic

from agentsandbox.errors import Exit, Interrupted, Killed, LimitReached, PipeClosed
from agentsandbox.kernel.budget import FIRST_LEVELS, SLICE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from _weakref import ref
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any, TypeVar

    from greenlet import greenlet

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.stacks import Stacks
    from agentsandbox.kernel.streams import SignalHandler, Stream
    from agentsandbox.kernel.threads import Home, Tenant

    T = TypeVar("T")

SIGNALS: dict[int, str] = dict(
    enumerate(
        "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT "
        "STOP TSTP TTIN TTOU URG "
        "XCPU XFSZ VTALRM PROF WINCH IO PWR SYS".split(),
        1,
    )
)
"""The signals of Linux on x86 and ARM by number, without SIG, including real-time signals."""
SIGNALS |= {34 + n: f"RTMIN+{n}" if n else "RTMIN" for n in range(16)} | {
    64 - n: f"RTMAX-{n}" if n else "RTMAX" for n in range(14, -1, -1)
}
SIGNAL_NUMBERS = {name: number for number, name in SIGNALS.items()}
IGNORED_BY_DEFAULT = frozenset(
    (SIGNAL_NUMBERS["CHLD"], SIGNAL_NUMBERS["CONT"], SIGNAL_NUMBERS["URG"], SIGNAL_NUMBERS["WINCH"])
)
SIGKILL, SIGSTOP, SIGCONT = (SIGNAL_NUMBERS[name] for name in ("KILL", "STOP", "CONT"))
STOPPING = frozenset(SIGNAL_NUMBERS[name] for name in ("TSTP", "TTIN", "TTOU"))
"""Signals that stop a process unless it handles them."""

EVENT_LOOP_SECONDS = 0.005
"""How long a script may keep the host's event loop waiting."""

DRAIN_SECONDS = 1.0
"""How long background jobs compute at most after the end of a script."""

MOST_BUSY = 64
"""The largest number of background jobs that still compute after the end of a script."""

_LEFT_BEHIND: set[ref[Home]] = set()
"""Threads that have something to end before they execute again."""

_leaving = allocate_lock()
"""Held while a thread that ends, ends its processes."""

MOST_BLOCKS = 2000
"""How many `finally` blocks of a process that is ended may wait."""

MAX_PROCESSES = 256
ROOM_SECONDS = 15.0
"""How long a further process waits for a place: as long as bash repeats a `fork` that failed."""


class Process:
    """One thread of control in the sandbox. `status` is None while it runs, then 0 to 255."""

    __slots__ = (
        "_greenlet", "_ready", "_wake", "blocked", "descriptors", "generation", "home",
        "is_doomed", "is_job", "killed_by", "name", "niceness", "on_signal", "pid", "signals",
        "status", "stopped",
    )  # fmt: skip

    def __init__(self, pid: int, name: str) -> None:
        self.pid = pid
        self.name = name
        self.status: int | None = None
        self.killed_by = 0
        """The signal that killed it, until the shell has reported that."""
        self.is_doomed = False
        """Whether it is about to be ended with others; what computes elsewhere for it may stop."""
        self.is_job = False
        """Whether it is a background job, which may outlive its execution."""
        self.signals: list[int] = []
        self.blocked: frozenset[int] = frozenset()
        """Signals that never arrive; child processes inherit them."""
        self.generation = 0
        """How many processes started one another before it."""
        self.niceness = 0
        """The value that `nice` set; it does not change the order of processes."""
        self.descriptors: Mapping[int, Stream] | None = None
        """The file descriptors of the command that it runs."""
        self.on_signal: SignalHandler | None = None
        """Return what the process does instead of dying of a signal ("" for nothing), or None to
        die."""
        self.stopped = False
        """Whether a signal stopped it: it runs again after CONT, or to die of KILL."""
        self._greenlet: greenlet | None = None
        self._ready: Callable[[], bool] | None = None
        self._wake: float | None = None
        self.home: ref[Home] | None = None
        """The thread that it lives in (`threads`); None for the first process."""

    def kill(self, signal: int, *, group: bool = False) -> None:
        """Send a signal (with `group` also to its command), which arrives when it runs next."""
        if self.status is None and signal not in self.blocked:
            if signal == SIGSTOP:
                self.stopped = True
                return
            if signal == SIGCONT:
                self.stopped = False
                self.signals = [sent for sent in self.signals if abs(sent) not in STOPPING]
            self.signals.append(-signal if group else signal)

    def ignored(self) -> set[int]:
        """Return the signals that it ignores now."""
        return (
            set()
            if self.on_signal is None
            else {number for number in SIGNALS if self.on_signal.ignores(number)}
        )

    def finished(self) -> bool:
        """Whether it has ended."""
        return self.status is not None

    def _runnable(self, now: float) -> bool:
        if self.stopped:
            return SIGKILL in self.signals or -SIGKILL in self.signals
        if self._ready is None or self.signals:
            return True
        return (self._wake is not None and now >= self._wake) or self._ready()

    def _wakes_before(self, then: float) -> bool:
        return self._wake is not None and self._wake < then and not self.stopped


class Deferred:
    """The rest of a pipeline, which runs on the stack of the first stage if possible.

    `owner` is the process that runs the first stage.
    """

    __slots__ = ("name", "owner", "pid", "process", "run")

    def __init__(self, run: Callable[[], int], name: str, owner: Process) -> None:
        self.owner = owner
        self.run = run
        self.name = name
        self.pid = 0
        self.process: Process | None = None


# TM-HOST-3, TM-TIME-5, TM-MEM-5
class Scheduler:
    """All processes of one sandbox.

    The host gives a `budget` for each execution, and `pause` if it has an event loop.
    """

    __slots__ = (
        "__weakref__", "_attached", "_drains", "_home", "_outside", "_stacks", "_yielded",
        "budget", "closing", "current",
        "deferred", "elsewhere", "failure", "gate", "is_running", "last_pid", "main", "pause",
        "processes",
    )  # fmt: skip

    def __init__(self, budget: Budget, first_pid: int = 1000) -> None:
        self.budget = budget
        self._attached: Budget | None = None
        """The budget that asks this scheduler: that of the first execution."""
        self.main = Process(first_pid, "bash")
        self.current = self.main
        self.processes: list[Process] = []
        self.elsewhere: list[Process] = []
        """Background jobs of other threads. A greenlet cannot leave its thread, so they do not run
        now, and end with the thread."""
        self.deferred: list[Deferred] = []
        """Work that starts only if all processes wait; `undefer` takes it back."""
        self.failure: BaseException | None = None
        self.pause: Callable[[float | None, Awaitable[Any] | None], Any] | None = None
        """The event loop's driver: waits for seconds or an awaitable, and returns the awaited
        value."""
        self.closing = self.is_running = self._drains = False
        self._outside = 0
        """Processes that wait for other threads."""
        self.gate: LockType | None = None
        """Held while a process runs, once there is another thread that would look at the files."""
        self.last_pid = first_pid
        self._yielded = 0.0
        self._stacks: Stacks | None = None
        """Made when the first script nests deeply."""
        self._home: ref[Home] | None = None
        """The thread in which the last process was started."""

    def new_pid(self) -> int:
        """Return the next process number."""
        self.last_pid += 1
        return self.last_pid

    def begin(self, budget: Budget) -> None:
        """Begin an execution on the calling stack."""
        if budget is not self._attached:
            self._attached = self.budget = budget
            budget.turn = self.turn
            budget.fresh = self._on_fresh_stack
        budget.rest = None if self.pause is None else self.rest
        self.is_running = True
        self.current = main = self.main
        if main.signals:
            main.signals.clear()
        main.status = main._ready = main._wake = main._greenlet = self.failure = None
        self._yielded = budget.began
        if _LEFT_BEHIND:
            _end_left_behind()
        if self.deferred:  # what a job has announced is its own; the rest was interrupted
            self.deferred = [
                each
                for each in self.deferred
                if each.owner is not main and each.owner.status is None
            ]
        if self.processes or self.elsewhere or self.pause is not None:
            from greenlet import getcurrent

            main._greenlet = getcurrent()
            if self.processes or self.elsewhere:
                from agentsandbox.kernel.threads import home

                here = home().ref
                with _leaving:
                    everyone = [*self.processes, *self.elsewhere]
                    self.processes = [each for each in everyone if each.home is here]
                    self.elsewhere = [each for each in everyone if each.home is not here]

    def end(self) -> None:
        """End the execution: nothing stays on the calling stack."""
        self.pause = None
        self.is_running = False
        if self._stacks is not None:
            self._stacks.close()

    def _on_fresh_stack(self, function: Callable[[], T]) -> T:
        """Return `function()`, called on another stack by the current process."""
        stacks = self._further_stacks()
        process, stack = self.current, stacks.take()
        before = process._greenlet
        if before is None:  # only the first process, while there is no other one
            from greenlet import getcurrent

            before = getcurrent()
        process._greenlet = stack
        try:
            return stacks.run(stack, function)
        finally:
            process._greenlet = before

    def _further_stacks(self) -> Stacks:
        stacks = self._stacks
        if stacks is None:
            from agentsandbox.kernel.stacks import Stacks

            stacks = self._stacks = Stacks()
        return stacks

    def charge(self, size: int) -> None:
        """Refuse a value that is too large, as `Budget.charge`."""
        self.budget.charge(size)

    # starting

    def start(
        self,
        run: Callable[[], int],
        name: str,
        pid: int | None = None,
        *,
        give_up: Callable[[], None] | None = None,
    ) -> Process:
        """Return a new process, which runs when another one next gives way.

        `give_up` frees what `run` would free at its end. It is called if no process comes of it, or
        if a signal kills the process before it begins.
        """
        starter = self.current
        try:
            self._find_place(starter)
        except BaseException:
            if give_up is not None:
                give_up()
            raise
        return self._launch(run, name, pid, starter, give_up)

    def _find_place(self, starter: Process) -> None:
        """Let others run if the table is full or nearly so, until a process may be added.

        LimitReached if no place becomes free, or if too many processes have started one another.
        """
        if starter.generation >= self.budget.max_depth:
            raise LimitReached("depth")
        if len(self.processes) >= MAX_PROCESSES - (MAX_PROCESSES >> min(starter.generation, 7) + 1):
            self._give_way(starter)
            if not self.has_room():
                try:
                    self.block(self.has_room)
                finally:
                    starter._ready = None  # also if a trap interrupts it

    def _launch(
        self,
        run: Callable[[], int],
        name: str,
        pid: int | None,
        starter: Process,
        give_up: Callable[[], None] | None = None,
    ) -> Process:
        from greenlet import getcurrent, greenlet

        from agentsandbox.kernel.threads import home

        if self.main._greenlet is None:
            self.main._greenlet = getcurrent()
        process = Process(self.new_pid() if pid is None else pid, name)
        here = home()
        process.home = here.ref
        if self._home is not here.ref:
            self._home = here.ref
            here.let(self)
        process.blocked, process.niceness = starter.blocked, starter.niceness
        process.generation = starter.generation + 1

        # it is given the result of another one that ended
        def body(_: object = None) -> object:
            self._run(process, run, give_up)
            self.current = following = self._choose(process)
            if following is self.main:
                getcurrent().parent = following._greenlet  # type: ignore[assignment]
                return None
            getcurrent().parent = self._further_stacks().starter()
            return following._greenlet, None

        # one parent for all, so that no cycle can arise
        process._greenlet = greenlet(body, self.main._greenlet)
        self.processes.append(process)
        return process

    def _give_way(self, process: Process) -> None:
        """Let each of the others run once.

        The first process may fill half of the table before it gives way, those that it started half
        of the rest, and so on. So a job whose work is to start another one finds a place and ends.
        """
        for other in self.processes.copy():
            now = monotonic()
            if other is not process and other.status is None and other._runnable(now):
                process._ready = process._wake = None
                self._switch(self._earliest(other, now))
                self._deliver(process)

    def has_room(self) -> bool:
        """Whether the table has a place for one more process."""
        return len(self.processes) < MAX_PROCESSES

    def is_crowded(self) -> bool:
        """Whether a process waits for a place in the table, which is full."""
        return not self.has_room() and any(
            process._ready == self.has_room for process in (self.main, *self.processes)
        )

    def _run(
        self, process: Process, run: Callable[[], int], give_up: Callable[[], None] | None
    ) -> None:
        from greenlet import GreenletExit

        depth = self.budget.depth
        status = 1
        try:
            try:
                self._deliver(process)
            except BaseException:
                if give_up is not None:
                    give_up()
                raise
            status = run()
        except Exit as end:
            status = end.status
        except Killed as end:
            status = 128 + end.signal
            process.killed_by = end.signal
        except PipeClosed:
            status = 141
        except GreenletExit:
            status = 137
        except BaseException as end:  # noqa: BLE001 - a limit or a bug ends the whole execution
            self.failure = end
        finally:
            process.status = status & 255
            process._ready = None
            if process in self.processes:
                self.processes.remove(process)
            self.budget.depth = depth

    def undefer(self, deferred: Deferred) -> bool:
        """Take deferred work back to run it here; return False if it was started already."""
        if deferred.process is not None:
            return False
        if self.deferred[-1] is deferred:
            self.deferred.pop()
        else:
            self.deferred.remove(deferred)
        return True

    # waiting

    def block(self, ready: Callable[[], bool], timeout: float | None = None) -> bool:
        """Let others run until `ready()`; return False if `timeout` seconds pass first."""
        process = self.current
        wake = None if timeout is None else monotonic() + timeout
        while True:
            self._deliver(process)
            if ready():
                process._ready = process._wake = None
                return True
            if wake is not None and monotonic() >= wake:
                process._ready = process._wake = None
                return False
            process._ready, process._wake = ready, wake
            following = self._choose(process)
            if following is not process:
                self._switch(following)

    def wait_outside(self, ready: Callable[[], bool], timeout: float | None = None) -> bool:
        """Let others run until another thread has made `ready()` true.

        Return False if `timeout` seconds pass first. That thread calls `budget.call()` afterwards.
        While all processes wait it may take the `gate` and look at the files, but not change them.
        """
        if self.gate is None:
            self.gate = allocate_lock()
            self.gate.acquire()
        self._outside += 1
        try:
            return self.block(ready, timeout)
        finally:
            self._outside -= 1

    def sleep(self, seconds: float) -> None:
        """Let others run for `seconds`."""
        self.block(_never, seconds)

    def wait(self, process: Process, timeout: float | None = None) -> int | None:
        """Return the status of a process when it ends, or None after `timeout` seconds."""
        self.block(process.finished, timeout)
        return process.status

    def turn(self) -> None:
        """Deliver signals and run other processes and the event loop: every tick of the budget."""
        process = self.current
        self._deliver(process)
        if self.processes:
            now = monotonic()
            others = [self.main] if self._drains else self._others(process)
            for other in others:
                if other._runnable(now):
                    process._ready = process._wake = None
                    self._switch(self._earliest(other, now))
                    self._deliver(process)
                    break
        if self.pause is not None and monotonic() - self._yielded > EVENT_LOOP_SECONDS:
            self.yield_to_host()

    def rest(self) -> None:
        """Run the event loop if it is due, but no other process of the sandbox."""
        if monotonic() - self._yielded > EVENT_LOOP_SECONDS:
            self.yield_to_host()

    def yield_to_host(self) -> None:
        """Give the host's event loop a turn, if there is one."""
        if self.pause is not None:
            self.pause(0.0, None)
            self._yielded = monotonic()
            self.budget.check_time()

    def await_(self, awaitable: Awaitable[Any]) -> Any:
        """Return what a host's asynchronous command returned, after waiting in the event loop."""
        if self.pause is None:
            from agentsandbox.errors import CommandError

            if hasattr(awaitable, "close"):
                awaitable.close()
            raise CommandError("this command is asynchronous: use 'await sandbox.aexecute(…)'", 126)
        result = self.pause(None, awaitable)
        self._yielded = monotonic()
        return result

    def _deliver(self, process: Process) -> None:
        if process is self.main and self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        while process.signals:
            sent = process.signals.pop(0)
            signal = abs(sent)
            handled = process.on_signal(signal) if process.on_signal is not None else None
            if handled is not None:
                if handled and sent < 0 and process.descriptors is not None:
                    raise Interrupted(signal)
                continue
            if signal in STOPPING:
                process.stopped = True
                self._stand_still(process)
            elif signal not in IGNORED_BY_DEFAULT:
                raise Killed(signal)

    def stop(self, process: Process) -> None:
        """Stop the running process until another one sends it CONT."""
        process.stopped = True
        self._stand_still(process)
        self._deliver(process)

    def _stand_still(self, process: Process) -> None:
        while process.stopped and not process._runnable(0.0):
            following = self._choose(process)
            if following is not process:
                self._switch(following)
            if process is self.main and self.failure is not None:
                return

    def is_busy(self) -> bool:
        """Whether another process could run now."""
        now = monotonic()
        return self._startable() is not None or any(
            other._runnable(now) for other in self._others(self.current)
        )

    def _others(self, process: Process) -> list[Process]:
        """Return all other processes, beginning after `process`: round robin."""
        everyone = [self.main, *self.processes]
        if process in everyone:
            at = everyone.index(process)
            return everyone[at + 1 :] + everyone[:at]
        return everyone

    def _choose(self, process: Process) -> Process:
        """Return the process to run next; start deferred work or sleep when none can run."""
        while True:
            if self.failure is not None or self.closing:
                return self.main
            now = monotonic()
            for other in self._others(process):
                if other._runnable(now):
                    return self._earliest(other, now)
            if process.status is None and process._runnable(now):
                return process
            deferred = self._startable()
            if deferred is not None and self.has_room():
                self.deferred.remove(deferred)
                deferred.process = self._launch(
                    deferred.run, deferred.name, deferred.pid or None, deferred.owner
                )
                continue
            self._idle(deferred is not None)

    def _startable(self) -> Deferred | None:
        """Return the deferred work that was announced last by a process of this thread."""
        if not self.elsewhere:
            return self.deferred[-1] if self.deferred else None
        from agentsandbox.kernel.threads import home

        here = home().ref
        for deferred in reversed(self.deferred):
            if deferred.owner is self.main or deferred.owner.home is here:
                return deferred
        return None

    def _earliest(self, found: Process, now: float) -> Process:
        """Return `found`, or the process whose time came first if several are late."""
        if found._wake is None or now < found._wake or found is self.main:
            return found
        due = [
            process
            for process in self.processes
            if process._wake is not None and now >= process._wake and not process.stopped
        ]
        return min(due, key=lambda process: process._wake or 0.0, default=found)

    def _idle(self, lacks_room: bool) -> None:
        """Sleep until a process can run; note as the failure that none of them ever can.

        `lacks_room` says that deferred work waits for a place. A process that waits for one does so
        only while another one may end within `ROOM_SECONDS`.
        """
        wakes = [
            process._wake
            for process in (self.main, *self.processes)
            if process._wake is not None and not process.stopped
        ]
        remaining = self.budget.remaining()
        if not self._outside:
            if self.is_crowded():
                soon = monotonic() + ROOM_SECONDS
                if not any(process._wakes_before(soon) for process in self.processes):
                    self.failure = LimitReached("processes")
                    return
            if not wakes:
                self.failure = (
                    LimitReached("processes")
                    if lacks_room
                    else LimitReached("timeout", "every process waits for another one")
                )
                return
        seconds = remaining
        if wakes:
            seconds = min(max(0.0, min(wakes) - monotonic()), remaining)
        gate = self.gate
        if gate is not None:
            gate.release()
        try:
            if self.pause is not None:
                self.pause(seconds, None)
                self._yielded = monotonic()
            elif seconds > 0:
                _sleep(seconds, self.budget)
        finally:
            if gate is not None:
                gate.acquire()
        self.budget.called = False  # whoever called is seen when all conditions are asked again
        if self.budget.remaining() <= 0:
            self.failure = LimitReached("timeout")

    def _switch(self, following: Process) -> None:
        process = self.current
        budget = self.budget
        depth, held, budget.input = budget.depth, budget.input, None
        whole, budget.whole = budget.whole, False
        self.current = following
        assert following._greenlet is not None
        end = budget.stack_end
        if following is not self.main:
            budget.begin_stack()
        if following._greenlet or (process is self.main and depth < FIRST_LEVELS):
            following._greenlet.switch()
        else:  # it begins: not from deep down
            self._further_stacks().start(following._greenlet, None)
        self.current = process
        budget = self.budget
        budget.depth, budget.stack_end = depth, end
        budget.input, budget.whole = held, whole

    # ending

    def drain(self, slices: int = 100) -> None:
        """Run what can run without waiting, before an execution ends.

        Jobs that compute without end do so for `slices` slices of steps in all, for
        `DRAIN_SECONDS`, or for half of the time that is left, whatever comes first. LimitReached if
        they are overrun then.
        """
        end = monotonic() + min(DRAIN_SECONDS, self.budget.remaining() / 2)
        steps = self.budget.spent + slices * SLICE
        self._drains = True
        try:
            while self._run_each(end, steps):
                pass
        finally:
            self._drains = False
        if self.is_overrun():
            raise LimitReached("processes")

    def is_overrun(self) -> bool:
        """Whether the jobs would let the next call do little: as after a fork bomb.

        A process waits for a place, or more than `MOST_BUSY` compute.
        """
        if len(self.processes) <= MOST_BUSY:
            return False
        now = monotonic()
        busy = [process for process in self.processes if process._runnable(now)]
        return len(busy) > MOST_BUSY or self.is_crowded()

    def _run_each(self, end: float, steps: int) -> bool:
        """Give each process that can run a turn; return False if none can, or at the end."""
        ran = False
        for other in self.processes.copy():
            now = monotonic()
            if other.status is None and other._runnable(now):
                if now > end or self.budget.spent > steps:
                    return False
                ran = True
                self.main._ready = None
                self._switch(self._earliest(other, now))
                self._deliver(self.main)
        return ran

    def kill_all(self, *, jobs: bool = True, elsewhere: bool = True) -> None:
        """End all other processes with their `finally` blocks; background jobs only if `jobs`.

        With `elsewhere` the jobs of other threads end as well: their `finally` blocks run when the
        thread executes something again, or ends.
        """
        doomed = [process for process in self.processes if jobs or not process.is_job]
        if jobs and elsewhere and self.elsewhere:
            self._leave_behind()
        if doomed:
            self._end(doomed)
            self.processes = [process for process in self.processes if process not in doomed]

    def close(self) -> None:
        """End all processes for good, in whatever thread."""
        if self.processes or self.elsewhere:
            from agentsandbox.kernel.threads import home

            here = home().ref
            self.elsewhere += [process for process in self.processes if process.home is not here]
            self.processes = [process for process in self.processes if process.home is here]
            self.kill_all()

    def _leave_behind(self) -> None:
        """Have the jobs of other threads ended by these."""
        for process in self.elsewhere:
            process.is_doomed = True
            process.status = 137 if process.status is None else process.status
            if process.home is not None:
                leave_behind(process.home, self)

    def _leave(self, home: ref[Home]) -> None:
        """End the processes of a thread, which is the running one."""
        with _leaving:
            theirs = [each for each in (*self.processes, *self.elsewhere) if each.home is home]
            if self.is_running:  # in another thread: nothing else may run now
                for process in theirs:
                    process.status = 137 if process.status is None else process.status
                    process._greenlet = None
            else:
                self._end(theirs)
            self.processes = [process for process in self.processes if process not in theirs]
            self.elsewhere = [process for process in self.elsewhere if process not in theirs]

    def _end(self, doomed: list[Process]) -> None:
        """End processes of the running thread with their `finally` blocks."""
        from greenlet import GreenletExit, getcurrent

        self.main._greenlet = getcurrent()
        self.closing = True
        for process in doomed:
            process.is_doomed = True
        try:
            for process in doomed:
                # a `finally` block that waits comes back here; what stayed suspended would never
                # be freed
                for _ in range(MOST_BLOCKS):
                    stack = process._greenlet
                    if stack is None or stack.dead:
                        break
                    self.current = process
                    if not stack:  # it never began
                        stack.parent = self.main._greenlet
                    stack.throw(GreenletExit)
                process.status = 137 if process.status is None else process.status
        finally:
            self.closing = False
            self.current = self.main
            self.failure = None


def leave_behind(home: ref[Home], tenant: Tenant) -> None:
    """Have what lives in another thread ended when that executes again, or ends."""
    there = home()
    if there is not None and tenant not in there.left_behind:
        there.left_behind.append(tenant)
        _LEFT_BEHIND.add(home)


def _end_left_behind() -> None:
    """End what others left behind in this thread."""
    from agentsandbox.kernel.threads import home

    here = home()
    if here.left_behind:
        here.clear()
    for each in _LEFT_BEHIND.copy():
        if each is here.ref or each() is None:
            _LEFT_BEHIND.discard(each)


def _sleep(seconds: float, budget: Budget) -> None:
    """Sleep until the time is over or another thread calls the execution."""
    sleeping = allocate_lock()
    sleeping.acquire()

    def wake() -> None:
        if sleeping.locked():
            sleeping.release()

    budget.wake = wake
    try:
        if not budget.called:  # else it was called before there was somebody to wake
            sleeping.acquire(timeout=min(seconds, TIMEOUT_MAX))
    finally:
        budget.wake = None


def _never() -> bool:
    return False
