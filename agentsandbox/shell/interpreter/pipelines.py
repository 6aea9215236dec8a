"""Pipelines: stage after stage on one stack; processes only where somebody must wait.

A kernel runs the stages of a pipeline side by side. Most do not need that: in `seq 5 | sort` the
first stage ends before the second has anything to do. So the stages run one after the other on the
caller's stack, and each writes into a pipe that the next one reads:

1. `_Stages.run` makes the pipe and *defers* the rest of the pipeline: the scheduler knows how to
start it as a process, but does not.
2. The stage runs. If it ends before the pipe is full, the deferred rest is taken back (`undefer`)
and runs right here, as the next turn of the loop.
3. If the pipe gets full, the writer must wait for a reader. Only then does the scheduler start the
rest as a process of its own (a greenlet), and the two take turns. `yes | head -n 1` ends as it does
under a kernel: the reader goes, and the writer gets SIGPIPE (`PipeClosed`).

Each stage is a subshell (POSIX 2.12). A copy of the shell costs more than most stages, so a command
that changes nothing in the shell runs in place (`harmless_name`, `leaves_no_trace`): an external
command that declares itself pure, or one of a few builtins, with words whose expansion has no
effects. Traps, traces and `set -e` ask for the copy.
"""

from __future__ import annotations

from agentsandbox.errors import Killed, PipeClosed
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.processes import Deferred
from agentsandbox.kernel.streams import open_pipe
from agentsandbox.shell.builtins import PURE
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.interpreter.ends import child_status
from agentsandbox.shell.interpreter.failures import command_failed
from agentsandbox.shell.interpreter.special_variables import PipelineStatus
from agentsandbox.shell.interpreter.stages import (
    announced,
    compile_stage,
    harmless_name,
    leaves_no_trace,
)
from agentsandbox.shell.syntax.nodes import (
    ArithmeticCommand,
    Command,
    Pipeline,
    SimpleCommand,
    Subshell,
)
from agentsandbox.shell.syntax.parser import known_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.interpreter.shell import Run, Shell


__all__: list[str] = []


@lru_cache(maxsize=None)
def _subshells() -> ModuleType:
    """Load what a stage needs that does not run in place."""
    import agentsandbox.shell.interpreter.subshells

    return agentsandbox.shell.interpreter.subshells


def _name_in_place(command: Command) -> str:
    """Return the name of a stage that changes nothing in the shell; "" for other stages."""
    name = harmless_name(command)
    for redirection in command.redirections if isinstance(command, SimpleCommand) and name else ():
        if redirection.variable is not None or "(" in getattr(redirection.target, "source", ""):
            return ""
    return name


class _Stages:
    """The compiled stages of a pipeline.

    stages     closures that run a stage in this shell
    children   closures that run a stage as all that a subshell does
    in_place   for each stage the name of its command if it may run without a subshell, else ""
    """

    __slots__ = ("children", "in_place", "stages")

    def __init__(self, stages: list[Run], children: list[Run], in_place: list[str]) -> None:
        self.stages = stages
        self.children = children
        self.in_place = in_place

    def run_last_here(self, shell: Shell, statuses: list[int]) -> None:
        """Run the last stage in this shell (`shopt -s lastpipe`), the others as a process."""
        scheduler = shell.machine.scheduler
        pipe, reader = open_pipe(scheduler)
        saved, last = shell.fds, len(statuses) - 1
        fds = {**saved, 1: pipe}

        def run_others() -> int:
            try:
                self.run(shell, statuses, fds, 0, last - 1, None, started=True)
            finally:
                pipe.release()
            return 0

        others = scheduler.start(run_others, "pipeline", give_up=pipe.release)
        shell.fds = {**saved, 0: reader}
        try:
            statuses[last] = self.stages[last](shell)
        finally:
            shell.fds = saved
            reader.release()
        scheduler.wait(others)

    def run(
        self,
        shell: Shell,
        statuses: list[int],
        outer: dict[int, Stream],
        number: int,
        last: int,
        source: Stream | None,
        *,
        started: bool,
    ) -> None:
        """Run the stages from `number` to `last` with the descriptors `outer`, the first of them
        reading `source`. `started` says that this is a process of its own.
        """
        scheduler = shell.machine.scheduler
        following, reader = number, source
        rest: Deferred | None = None

        def run_rest() -> int:
            self.run(shell, statuses, outer, following, last, reader, started=True)
            return 0

        while number != last:
            fds = outer.copy()
            if source is not None:
                fds[0] = source
            pipe, reader = open_pipe(scheduler)
            fds[1] = pipe
            following = number + 1
            if rest is None:
                rest = Deferred(run_rest, "pipeline", scheduler.current)
            scheduler.deferred.append(rest)
            try:
                statuses[number] = self._stage(shell, statuses, number, last, fds, started)
            finally:
                pipe.release()
                if source is not None:
                    source.release()
            if not scheduler.undefer(rest):
                assert rest.process is not None
                scheduler.wait(rest.process)
                return
            number, source = following, reader
        fds = outer.copy()
        if source is not None:
            fds[0] = source
        statuses[number] = self._stage(shell, statuses, number, last, fds, started)
        if source is not None:
            source.release()

    def _stage(
        self,
        shell: Shell,
        statuses: list[int],
        number: int,
        last: int,
        fds: dict[int, Stream],
        started: bool,
    ) -> int:
        """Run one stage and return its status."""
        name = self.in_place[number]
        if (
            name
            and not (started or shell.slow or shell.check or shell.traps.handlers)
            and name not in shell.definitions.functions
            and (name in PURE or leaves_no_trace(shell, name))
        ):
            specials = shell.specials
            saved, hashed, last_argument = shell.fds, specials.hashed, specials.last_argument
            found = hashed.get(name)
            shell.fds = fds
            try:
                return self.stages[number](shell)
            except PipeClosed:
                return 141
            except ExpansionError as error:  # it would have ended the stage's own shell, no more
                shell.fds = saved
                shell.report(error)
                return child_status(shell, error)
            finally:
                shell.fds, specials.last_argument = saved, last_argument
                if found is not None:
                    hashed[name] = found
                else:
                    hashed.pop(name, None)
        run = self.children[number]
        if number:
            run = _with_input(run)
        try:
            status: int = _subshells().run_subshell(shell, run, fds)
            return status
        except Killed as end:
            if not started:
                raise
            return 128 + end.signal
        finally:
            if number != last and statuses[last] <= 128:
                shell.control.killed = None  # only the end of the last stage is reported


def _with_input(run: Run) -> Run:
    """Run a stage whose background jobs read from the pipe."""

    def run_with_input(shell: Shell) -> int:
        shell.control.input_given = True
        return run(shell)

    return run_with_input


@compiles(Pipeline)
def _pipeline(node: Pipeline) -> Run:
    if len(node.commands) == 1:
        run = compile_command(node.commands[0])
        if _is_empty(node.commands[0]):
            run = _nothing
    else:
        run = _stages(node)
    if node.negated:
        from agentsandbox.shell.syntax.compound_nodes import Conditional

        stands_alone = len(node.commands) > 1 or isinstance(
            node.commands[0], (ArithmeticCommand, Conditional, SimpleCommand, Subshell)
        )
        run = _negated(run, stands_alone=stands_alone)
    if node.timed:
        from agentsandbox.shell.interpreter.timing import timed

        run = timed(run, node.timed)
    return run


def _is_empty(command: Command) -> bool:
    return isinstance(command, SimpleCommand) and not (
        command.words or command.assignments or command.redirections
    )


def _nothing(shell: Shell) -> int:
    shell.status = 0
    return 0


def _stages(node: Pipeline) -> Run:
    stages: list[Run] = []
    children: list[Run] = []
    in_place: list[str] = []
    for command in node.commands:
        stage, child, name = (
            _known_stage(command.source, command.line)
            if isinstance(command, SimpleCommand) and command.source
            else _stage(command)
        )
        stages.append(stage)
        children.append(child)
        in_place.append(name)
    last = node.commands[-1]
    line = last.line if isinstance(last, SimpleCommand) else node.line
    compiled, count = _Stages(stages, children, in_place), len(stages)

    def run_pipeline(shell: Shell) -> int:
        if shell.slow and "DEBUG" in shell.traps.handlers:
            _announce(shell, node)
        statuses = [0] * count
        options = shell.options
        if options.shopt["lastpipe"] and not options.monitor:
            compiled.run_last_here(shell, statuses)
        else:
            compiled.run(shell, statuses, shell.fds, 0, count - 1, None, started=False)
        code = statuses[-1]
        if shell.options.pipefail and not code:
            code = next((each for each in reversed(statuses) if each), 0)
        status = PipelineStatus(code)
        status.statuses = statuses
        shell.status = status
        if shell.control.killed is not None:
            if statuses[-1] > 128:
                _subshells().child_killed(shell, node, line)
            shell.control.killed = None
        if shell.traps.pending:
            from agentsandbox.shell.interpreter.traps import run_pending_traps

            run_pending_traps(shell)
        if status and shell.check:
            if not shell.traps.active:
                shell.specials.command_text = shell.with_slots(
                    _subshells().text_of(node.commands[-1])
                )
            command_failed(shell, int(status), line)
        return status

    return run_pipeline


def _stage(command: Command) -> tuple[Run, Run, str]:
    """Compile a stage: as the shell itself runs it, as a child does, and its `_name_in_place`."""
    stage, child = compile_stage(command)
    if isinstance(command, SimpleCommand):
        names_job = bool(command.words) and command.words[0].source.startswith("%")
        child = _not_found(command.words[0].source) if names_job else announced(child, command)
    return stage, child, _name_in_place(command)


@lru_cache(maxsize=512)
def _known_stage(source: str, line: int) -> tuple[Run, Run, str]:
    """Compile a stage that scripts share."""
    command = known_command(source, line)
    assert command is not None
    return _stage(command)


def _not_found(name: str) -> Run:
    """Compile a stage that names a job (%1): only a command of its own can do that."""

    def run(shell: Shell) -> int:
        shell.complain(f"{name}: command not found")
        return 127

    return run


def _announce(shell: Shell, node: Pipeline) -> None:
    """Run the DEBUG trap for each simple command among the stages, before any of them starts."""
    from agentsandbox.shell.interpreter.traps import before_command

    for command in node.commands:
        if isinstance(command, SimpleCommand):
            before_command(shell, _subshells().text_of(command), node.line)


def _negated(run: Run, *, stands_alone: bool) -> Run:
    """Compile `! pipeline`. Its failure does not count under errexit or if it `stands_alone`."""

    def run_negated(shell: Shell) -> int:
        if shell.options.errexit:  # for bash only this makes failures inside count for nothing
            shell.control.ignore += 1
            try:
                before = run(shell)
            finally:
                shell.control.ignore -= 1
        elif stands_alone:
            own, shell.control.own_depth = shell.control.own_depth, shell.budget.depth
            try:
                before = run(shell)
            finally:
                shell.control.own_depth = own
        else:
            before = run(shell)
        status = PipelineStatus(0 if before else 1)
        status.statuses = before.statuses if isinstance(before, PipelineStatus) else [int(before)]
        shell.status = status
        return status

    return run_negated
