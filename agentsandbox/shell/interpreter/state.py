"""The parts of a shell's state, and what becomes of each slot when a shell is copied.

A `Shell` consists of parts and a few slots. Each slot of each part is listed in the `SLOTS` of its
class with one of four kinds. `__slots__` is made from that list, so no slot is without a kind:

    KEPT      part of the state: what a terminal keeps between two lines, a fork takes along and a
              store will save
    DERIVED   computed from what is kept, and computed again after a copy
    HOST      given by the host program or its machine, and given again to a copy on another machine
    RUNNING   holds only while commands run, and has its first value between two calls: a copy that
              is made for another machine in the middle of a call drops it, a store will refuse to
              save then

A shell is copied on three occasions, all through `Shell.fork`, which asks each part for a copy of
itself:

* A subshell (POSIX 2.12) continues in the middle of a command, so RUNNING slots are copied too.
  Then what a new process has of its own is changed: its number, traps, jobs.
* A call with `state="discard"` runs in an exact copy, which is dropped afterwards.
* `Sandbox.fork` keeps a copy that stands still (`kept_of`), from which each fork makes its shell on
  a machine of its own (`Shell.resume`).

To copy is cheap because most values are replaced and never changed in place, so that the copy
shares them: `options`, `invocation`, `definitions`, the handlers of traps, tables of descriptors.
What is changed in place is copied by the `fork` of its part.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar

    from agentsandbox.kernel.processes import Process as Task
    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.interpreter.frames import Frame, Function
    from agentsandbox.shell.interpreter.jobs import Job


KEPT, DERIVED, HOST, RUNNING = "kept", "derived", "host", "running"

_NO_NAMES: frozenset[str] = frozenset()
"""CPython makes an empty one anew each time."""

_NO_PIDS: frozenset[int] = frozenset()

NONE_OWNED: Mapping[int, Stream] = {}
NOWHERE: frozenset[int] = frozenset()

UNSEEDED = -1
"""The state of RANDOM in a shell that has not asked for it: each process seeds its own."""


class Invocation:
    """How a shell was started; immutable.

    name        $0
    called      what error messages begin with
    source      where function definitions come from: a file, "environment" for the text of
                `execute`, "main" for standard input
    arguments   what BASH_ARGV shows: `set` and `shift` leave it alone
    """

    SLOTS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("name", "called", "source", "arguments"), KEPT
    )
    __slots__ = tuple(SLOTS)

    name: str
    called: str
    source: str
    arguments: tuple[str, ...]

    def __init__(
        self,
        name: str,
        called: str = "bash",
        source: str = "environment",
        arguments: tuple[str, ...] = (),
    ) -> None:
        put = object.__setattr__
        put(self, "name", name)
        put(self, "called", called)
        put(self, "source", source)
        put(self, "arguments", arguments)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Invocation is immutable: make another one with another {name}")

    def with_arguments(self, arguments: tuple[str, ...]) -> Invocation:
        """Return the same with other arguments."""
        return Invocation(self.name, self.called, self.source, arguments)

    def renamed(self, name: str) -> Invocation:
        """Return the same under another name, as after an assignment to BASH_ARGV0."""
        return Invocation(name, name, self.source, self.arguments)


class Definitions:
    """The meaning of command names, besides builtins and files; immutable.

    functions            shell functions by name
    readonly_functions   names of functions that may not change
    exported_functions   names of functions that commands inherit
    aliases              texts by name
    completions          specifications of `complete`, by name
    disabled             names of the builtins that `enable -n` turned off
    """

    SLOTS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (
            "functions",
            "readonly_functions",
            "exported_functions",
            "aliases",
            "completions",
            "disabled",
        ),
        KEPT,
    )
    __slots__ = tuple(SLOTS)

    functions: Mapping[str, Function]
    readonly_functions: frozenset[str]
    exported_functions: frozenset[str]
    aliases: Mapping[str, str]
    completions: Mapping[str, str]
    disabled: frozenset[str]

    def __init__(
        self,
        functions: Mapping[str, Function],
        readonly_functions: frozenset[str],
        exported_functions: frozenset[str],
        aliases: Mapping[str, str],
        completions: Mapping[str, str],
        disabled: frozenset[str],
    ) -> None:
        put = object.__setattr__
        put(self, "functions", functions)
        put(self, "readonly_functions", readonly_functions)
        put(self, "exported_functions", exported_functions)
        put(self, "aliases", aliases)
        put(self, "completions", completions)
        put(self, "disabled", disabled)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Definitions are immutable: use definitions.replace({name}=…)")

    def replace(self, **changes: Mapping[str, object] | frozenset[str]) -> Definitions:
        """Return the definitions with some replaced, by name."""
        parts = {name: changes.pop(name, getattr(self, name)) for name in self.SLOTS}
        return Definitions(**parts, **changes)  # type: ignore[arg-type]

    def letters(self, name: str) -> str:
        """The attributes of a function, as `declare` shows them."""
        return ("r" if name in self.readonly_functions else "") + (
            "x" if name in self.exported_functions else ""
        )

    def with_function(self, name: str, function: Function) -> Definitions:
        """Return the definitions with a function added or replaced."""
        return self.replace(functions={**self.functions, name: function})

    def with_readonly(self, name: str) -> Definitions:
        """Return the definitions with a function made readonly."""
        return self.replace(readonly_functions=self.readonly_functions | {name})

    def with_exported(self, name: str) -> Definitions:
        """Return the definitions with a function exported."""
        return self.replace(exported_functions=self.exported_functions | {name})

    def without_exported(self, name: str) -> Definitions:
        """Return the definitions with a function no longer exported."""
        return self.replace(exported_functions=self.exported_functions - {name})


NO_DEFINITIONS = Definitions({}, _NO_NAMES, _NO_NAMES, {}, {}, _NO_NAMES)
"""What a shell begins with."""


class Traps:
    """Traps, and the signals that wait for the end of a command.

    handlers       texts by signal or condition, "" for what is ignored; replaced, never changed
    outer          the traps of the shell around a subshell, which `trap` shows until the subshell
                   sets its own
    of_functions   depths of the functions that set a RETURN trap themselves, negative ones for ERR;
                   replaced as well
    pending        signals that arrived and whose trap has not run yet
    active         how many traps are at work, one inside the other
    exit_depth     how much deeper the EXIT trap is traced than the shell's commands
    exit_status    what the shell ends with, while its EXIT trap runs
    line           the line that LINENO shows instead of the command's own
    announced      whether the DEBUG trap of the next command has run already
    """

    SLOTS: ClassVar[Mapping[str, str]] = {
        "handlers": KEPT,
        "outer": KEPT,
        "of_functions": KEPT,
        "pending": RUNNING,
        "active": RUNNING,
        "exit_depth": RUNNING,
        "exit_status": RUNNING,
        "line": RUNNING,
        "announced": RUNNING,
    }
    __slots__ = tuple(SLOTS)

    def __init__(self) -> None:
        self.handlers: Mapping[str, str] = {}
        self.outer: Mapping[str, str] = {}
        self.of_functions: frozenset[int] = NOWHERE
        self.pending: list[str] = []
        self.settle()

    def settle(self) -> None:
        """Give RUNNING slots their first values."""
        if self.pending:
            self.pending = []
        self.active = 0
        self.exit_depth = 0
        self.exit_status: int | None = None
        self.line: int | None = None
        self.announced = False

    def fork(self) -> Traps:
        """A copy for another shell."""
        twin = Traps.__new__(Traps)
        twin.handlers = self.handlers
        twin.outer = self.outer
        twin.of_functions = self.of_functions
        twin.pending = self.pending.copy()
        twin.active = self.active
        twin.exit_depth = self.exit_depth
        twin.exit_status = self.exit_status
        twin.line = self.line
        twin.announced = self.announced
        return twin

    def without(self, name: str) -> dict[str, str]:
        """Return the handlers without one."""
        return {other: text for other, text in self.handlers.items() if other != name}

    def ignored(self) -> dict[str, str]:
        """Return the ignored signals, which every program that the shell starts ignores too."""
        return {name: text for name, text in self.handlers.items() if not text}


class Descriptors:
    """The descriptors of a shell, besides the table itself (`Shell.fds`).

    base            the table that this shell began with
    owned           streams that `exec` and {name}> opened in this shell, by descriptor: it releases
                    them at its end, so a copy of the shell begins without any
    keep            whether the redirections of the command at work are to stay, as those of `exec`
                    are
    process_files   process substitutions in use: descriptor, our end of the pipe, process
    """

    SLOTS: ClassVar[Mapping[str, str]] = {
        "base": HOST,
        "owned": DERIVED,
        "keep": RUNNING,
        "process_files": RUNNING,
    }
    __slots__ = tuple(SLOTS)

    def __init__(self, base: dict[int, Stream]) -> None:
        self.base = base
        self.owned: Mapping[int, Stream] = NONE_OWNED
        self.settle()

    def settle(self) -> None:
        """Give RUNNING slots their first values."""
        self.keep = False
        self.process_files: tuple[tuple[int, Stream, Task], ...] = ()


class CallStack:
    """Running functions and sourced files, and the arguments of the innermost one.

    frames       functions and sourced files, the innermost last
    positional   $1, $2 …; replaced, never changed
    outer        positional parameters of the callers, the nearest last
    recorded     (depth, arguments) of calls that began under `extdebug`
    """

    SLOTS: ClassVar[Mapping[str, str]] = {
        "frames": RUNNING,
        "positional": KEPT,
        "outer": RUNNING,
        "recorded": RUNNING,
    }
    __slots__ = tuple(SLOTS)

    def __init__(self) -> None:
        self.positional: list[str] = []
        self.frames: list[Frame] = []
        self.settle()

    def settle(self) -> None:
        """Give RUNNING slots their first values."""
        if self.frames:
            self.frames = []
        self.outer: list[list[str]] = []
        self.recorded: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def fork(self) -> CallStack:
        """A copy for another shell."""
        twin = CallStack.__new__(CallStack)
        twin.frames = self.frames.copy()
        twin.positional = self.positional
        twin.outer = []  # the original counts them
        twin.recorded = self.recorded
        return twin


class Stops:
    """Where a script says that it stopped: the standard error that it was started with.

    It may have another one by now, or none. `said` is the last message, which a subshell and the
    script around it say once.
    """

    __slots__ = ("said", "stream")

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self.said = ""


class Control:
    """Where a shell is in its commands.

    loops                 running loops of the current function, for `break`
    break_levels          how many of them are being left
    ignore                conditions around the command: inside of one a failure ends nothing under
                          `set -e`
    own_depth             the depth at which a failure is not handled by `set -e`; -1 for none
    tail_depth            the depth at which a program takes the place of the shell, which runs
                          nothing else or `exec`; -1 for none
    substitution_status   status of the last command substitution of the command, None without one
    trace_level           substitutions, traps and files around the command, shown by `set -x`
    expressions           arithmetic expressions that are values of variables in one another
    killed                signal and pid of the last child, if a signal ended it
    tells_signals         whether the shell reports children that a signal ended
    input_given           whether a command around redirected standard input: then a background job
                          reads it, else it reads nothing
    stops                 where it is said that errexit of the sandbox ended a script; None outside
    """

    SLOTS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (
            "loops",
            "break_levels",
            "ignore",
            "own_depth",
            "tail_depth",
            "substitution_status",
            "trace_level",
            "expressions",
            "killed",
            "tells_signals",
            "input_given",
            "stops",
        ),
        RUNNING,
    )
    __slots__ = tuple(SLOTS)

    def __init__(self) -> None:
        self.settle()

    def settle(self) -> None:
        """Give RUNNING slots their first values: all of them."""
        self.loops = 0
        self.break_levels = 0
        self.ignore = 0
        self.own_depth = -1
        self.tail_depth = -1
        self.substitution_status: int | None = None
        self.trace_level = 0
        self.expressions = 0
        self.killed: tuple[int, int] | None = None
        self.tells_signals = True
        self.input_given = False
        self.stops: Stops | None = None

    def fork(self) -> Control:
        """A copy for another shell."""
        twin = Control.__new__(Control)
        twin.loops = self.loops
        twin.break_levels = self.break_levels
        twin.ignore = self.ignore
        twin.own_depth = self.own_depth
        twin.tail_depth = self.tail_depth
        twin.substitution_status = self.substitution_status
        twin.trace_level = self.trace_level
        twin.expressions = self.expressions
        twin.killed = self.killed
        twin.tells_signals = self.tells_signals
        twin.input_given = self.input_given
        twin.stops = self.stops
        return twin


class ProcessState:
    """The part of a shell that a kernel would know.

    umask      permissions that new files do not get
    ceilings   soft and hard limits that `ulimit` set, by letter; replaced, never changed
    task       the process of the scheduler that runs the shell
    pid        $BASHPID
    top_pid    $$: the pid of the shell that is not a subshell
    parent     the pid of the process that started this one
    top_parent $PPID: the pid of the process that started the shell that is not a subshell
    level      how many subshells deep this one is
    """

    SLOTS: ClassVar[Mapping[str, str]] = {
        "umask": KEPT,
        "ceilings": KEPT,
        "task": HOST,
        "pid": HOST,
        "top_pid": HOST,
        "parent": HOST,
        "top_parent": HOST,
        "level": HOST,
    }
    __slots__ = tuple(SLOTS)

    def __init__(self, task: Task) -> None:
        self.umask = 0o022
        self.ceilings: dict[str, tuple[int | None, int | None]] = {}
        self.attach(task)

    def attach(self, task: Task) -> None:
        """Become the main shell of a machine, which `task` runs."""
        self.task = task
        self.pid = self.top_pid = task.pid
        self.parent = self.top_parent = task.pid - 1
        self.level = 0

    def fork(self) -> ProcessState:
        """A copy for another shell."""
        twin = ProcessState.__new__(ProcessState)
        twin.umask = self.umask
        twin.ceilings = self.ceilings
        twin.task = self.task
        twin.pid = self.pid
        twin.top_pid = self.top_pid
        twin.parent = self.parent
        twin.top_parent = self.top_parent
        twin.level = self.level
        return twin


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
        self.processes: dict[int, Task] = {}
        self.kept: frozenset[int] = _NO_PIDS

    def fork(self, *, subshell: bool = False) -> JobTable:
        """Return a copy for a subshell, which can show its parent's jobs but not wait."""
        twin = JobTable.__new__(JobTable)
        twin.jobs = self.jobs.copy()
        twin.processes = {} if subshell else self.processes.copy()
        twin.kept = _NO_PIDS if subshell else self.kept
        twin.latest_pid = self.latest_pid
        return twin

    def add(self, process: Task, text: str) -> Job:
        """Add a job; its number is one more than the highest in use."""
        from agentsandbox.shell.interpreter.jobs import Job

        number = max((job.number for job in self.jobs), default=0) + 1
        job = Job(number, process, text)
        self.jobs.append(job)
        self.processes[process.pid] = process
        return job

    def remove(self, job: Job) -> None:
        """Forget a job that was waited for, disowned or reported."""
        if job in self.jobs:
            self.jobs.remove(job)

    def reap(self) -> None:
        """Forget the jobs that have ended; `wait PID` still knows their processes."""
        self.jobs = [
            job for job in self.jobs if job.process.status is None or job.process.pid in self.kept
        ]

    def running(self) -> list[Task]:
        """Return the children that have not ended."""
        return [process for process in self.processes.values() if process.status is None]


class SpecialState:
    """The state behind the variables that the shell itself computes (`special_variables`).

    random             state of the generator of RANDOM
    last_random        the last value of RANDOM: it is never the same twice in a row
    seconds_base       the time at which SECONDS was 0, by the sandbox's clock
    getopts_position   the argument whose letters `getopts` is reading, and how far; zeros between
                       arguments
    last_argument      $_
    command_text       BASH_COMMAND
    hashed             BASH_CMDS: (path, number of uses) by command, as `hash` shows them
    """

    SLOTS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (
            "random",
            "last_random",
            "seconds_base",
            "getopts_position",
            "last_argument",
            "command_text",
            "hashed",
        ),
        KEPT,
    )
    __slots__ = tuple(SLOTS)

    def __init__(self, seconds_base: float, last_argument: str) -> None:
        self.random = UNSEEDED
        self.last_random = 0
        self.seconds_base = seconds_base
        self.getopts_position = 0, 0
        self.last_argument = last_argument
        self.command_text = ""
        self.hashed: dict[str, tuple[str, int]] = {}

    def fork(self) -> SpecialState:
        """A copy for another shell."""
        twin = SpecialState.__new__(SpecialState)
        twin.random = self.random
        twin.last_random = self.last_random
        twin.seconds_base = self.seconds_base
        twin.getopts_position = self.getopts_position
        twin.last_argument = self.last_argument
        twin.command_text = self.command_text
        twin.hashed = self.hashed.copy()
        return twin
