"""Subshells, background jobs and coprocesses: shells that begin as a copy of another one.

A subshell is `Shell.fork(subshell=True)`. It runs on the caller's stack (`run_subshell`) or as a
process of the scheduler (`start_subshell`), which holds a reference to each stream of its table, so
that a pipe ends when the last process that could write to it has ended.

`run_in_shell` is the top of every shell, the main one included. What unwinds to it (`exit`, an
error of a word, a signal) becomes the status, and the EXIT trap runs. Bash does not run that trap
for everything that it forks, and counts some failures for the parent and not for the child;
`compile_stage` knows these rules.
"""

from __future__ import annotations

from agentsandbox.errors import Break, Continue, Exit, Killed, PipeClosed, Return
from agentsandbox.kernel.streams import BytesReader, Pipe, PipeReader, Stream, encode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import IndexedArray, is_name
from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.interpreter.failures import command_failed, telling
from agentsandbox.shell.interpreter.last_commands import alone
from agentsandbox.shell.interpreter.redirections import redirected
from agentsandbox.shell.interpreter.traps import (
    SignalHandler,
    before_command,
    run_exit_trap,
    run_pending_traps,
)
from agentsandbox.shell.syntax.nodes import (
    AndOr,
    Background,
    Coproc,
    Group,
    Pipeline,
    Redirection,
    SimpleCommand,
    Subshell,
    Unreadable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.processes import Process
    from agentsandbox.shell.interpreter.shell import Run, Shell
    from agentsandbox.shell.syntax.nodes import Command


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
            status = run_exit_trap(shell, status)
        return status & 255
    finally:  # however it ended: files that are open count
        if shell.descriptors.owned and not goes_on:
            shell.finish()


def child_status(shell: Shell, error: ExpansionError, *, level: int = 0) -> int:
    """Return the status of a shell that an error of a word ended: bash has 1 but for `bash -c`."""
    is_direct = shell.invocation.source == "environment" and shell.process.level == level
    return error.status if is_direct else 1


def run_subshell(
    shell: Shell, run: Run, fds: dict[int, Stream], *, substitution: bool = False
) -> int:
    """Run in a copy of the shell, on the caller's stack; return the status."""
    budget = shell.budget
    if budget.depth >= budget.stack_end:
        return budget.enter(lambda: run_subshell(shell, run, fds, substitution=substitution))
    child = shell.fork(subshell=True)
    child.fds = fds
    if substitution:
        child.control.trace_level += 1
        child.traps.exit_depth = 0
        child.options = child.options.without("verbose")
        child.control.loops = shell.control.loops  # `break` ends the substitution
        child.control.tells_signals = shell.invocation.source != "environment"
        if (
            child.options.errexit
            and not child.options.shopt["inherit_errexit"]
            and not child.options.posix
        ):
            child.use_options(child.options.without("errexit"))
    budget.depth += 1
    try:
        return run_in_shell(child, run)
    except PipeClosed:
        return 141
    except Killed as end:
        if child.process.pid != end.target:
            raise
        if not substitution:  # bash does not report those
            shell.control.killed = (end.signal, child.process.pid)
        return 128 + end.signal
    finally:
        budget.depth -= 1
        child.variables.owner = None
        if shell.traps.handlers:
            child_ended(shell)


def child_ended(shell: Shell) -> None:
    """Note SIGCHLD for a child process, or a command that runs in the place of one."""
    if "CHLD" in shell.traps.handlers:
        shell.traps.pending.append("CHLD")


def start_subshell(
    shell: Shell,
    run: Run,
    fds: dict[int, Stream],
    name: str,
    *,
    give_back: Sequence[Stream] = (),
    detach_input: bool = False,
    substitution: bool = False,
) -> Process:
    """Start a copy of the shell as a process, which holds all its streams until it ends."""
    child = shell.fork(subshell=True)
    if substitution:
        child.control.trace_level += 1
    if detach_input:
        fds = {**fds, 0: BytesReader(b"")}
    child.fds = fds
    held = list(fds.values())
    for stream in held:
        stream.acquire()
    for stream in give_back:
        stream.release()
    child.control.ignore = shell.control.ignore
    scheduler = shell.machine.scheduler
    process: Process | None = None

    def body() -> int:
        try:
            return run_in_shell(child, run)
        finally:
            end()

    def end() -> None:
        child.finish()
        # what refers back to the shell, which would keep its values until a collection of garbage
        child.variables.owner = None
        if process is not None:
            process.on_signal = None
        for stream in held:
            stream.release()
        if shell.traps.handlers:
            child_ended(shell)

    process = scheduler.start(body, name, child.process.pid, give_up=end)
    process.on_signal = SignalHandler(child)  # signals that the shell ignores spare it at once
    child.process.task = process
    return process


@compiles(Subshell)
def _subshell(node: Subshell) -> Run:
    return compile_stage(node)[0]


def compile_stage(command: Command) -> tuple[Run, Run]:
    """Return two closures: a command as a shell runs it, and as all that a process of its own runs.

    In the latter ERR counts for the commands inside, not for the command itself.
    """
    if isinstance(command, Subshell):
        body = compile_command(command.body)
        if isinstance(command.body, SimpleCommand):
            body = alone(body)
        child = telling(redirected(command.redirections, body), command.body)
        return in_subshell(child, command.line, command), child
    run = compile_command(command)
    if isinstance(command, Group):
        return run, telling(run, command)
    if not isinstance(command, (SimpleCommand, Pipeline)) or (
        isinstance(command, Pipeline) and command.timed
    ):
        return run, _without_exit_trap(telling(run, command))
    is_simple = isinstance(command, SimpleCommand)
    asks_nothing = (
        isinstance(command, SimpleCommand)
        and not command.words
        and any(map(_makes_child, command.redirections))
    )

    def run_alone(shell: Shell) -> int:
        control = shell.control
        control.own_depth = shell.budget.depth
        if is_simple:
            control.tail_depth = control.own_depth
        status = run(shell)
        return 0 if asks_nothing else status

    return run, telling(run_alone, command)


def _makes_child(redirection: Redirection) -> bool:
    """Whether bash forks for this redirection without a command; a pipeline does not wait."""
    number = (
        redirection.descriptor
        if redirection.descriptor is not None
        else int(redirection.operator[0] != "<")
    )
    return redirection.variable is not None or number == 0


def _without_exit_trap(run: Run) -> Run:
    """Run what bash runs in a child without its EXIT trap: lists, loops and conditions."""

    def run_untrapped(shell: Shell) -> int:
        try:
            return run(shell)
        finally:
            shell.traps.handlers = shell.traps.without("EXIT")

    return run_untrapped


def announced(run: Run, node: SimpleCommand) -> Run:
    """Compile a simple command in its own process, whose DEBUG trap has run before."""
    name = node.words[0].source if node.words else ""

    def run_announced(shell: Shell) -> int:
        shell.traps.announced = shell.slow
        if name not in shell.definitions.functions:
            shell.control.tells_signals = False
        try:
            return run(shell)
        except ExpansionError as error:
            shell.report(error)
            return child_status(shell, error, level=1)

    return run_announced


def child_killed(shell: Shell, node: Command, line: int) -> None:
    """Report that a signal ended the child that ran `node`."""
    from agentsandbox.shell.interpreter.notices import tell_killed

    assert shell.control.killed is not None
    shell.line = line
    tell_killed(shell, *shell.control.killed, text_of(node), foreground=True)
    shell.control.killed = None


def in_subshell(body: Run, line: int, node: Command) -> Run:
    """Compile a command that runs `body` in a subshell; messages show it as `node`."""

    def run_node(shell: Shell) -> int:
        status = run_subshell(shell, body, shell.fds)
        shell.status = status
        if shell.control.killed is not None:
            child_killed(shell, node, line)
        if shell.slow and not shell.traps.active:
            shell.specials.command_text = shell.with_slots(text_of(node))
        if shell.traps.pending:
            run_pending_traps(shell)
        if status and shell.check:
            command_failed(shell, status, line)
        return status

    return run_node


def text_of(node: Command) -> str:
    """Return a command as `jobs` shows it: groups and subshells on one line."""
    import re

    from agentsandbox.shell.syntax.printer import print_command

    text = print_command(node)
    if not isinstance(node, (Group, Subshell)):
        return text
    joined = " ".join(filter(None, map(str.strip, text.split("\n"))))
    return re.sub(r"(?<![;&{]) \}", "; }", joined)


@compiles(Background)
def _background(node: Background) -> Run:
    command = node.command
    # bash forgets the ! of an asynchronous pipeline
    if isinstance(command, Pipeline) and command.negated:
        command = Pipeline(command.commands, False, command.timed, command.line)
    run = compile_stage(command)[1]
    if isinstance(command, SimpleCommand):
        run = announced(run, command)
    text: list[str] = []
    simple = not isinstance(node.command, AndOr) or len(node.command.rest) < 100

    def start(shell: Shell) -> int:
        if not text:
            text.append(text_of(node.command) if simple else "…")
        if shell.slow and isinstance(command, SimpleCommand):
            before_command(shell, text[0], command.line)
        process = start_subshell(
            shell, run, shell.fds, text[0], detach_input=not shell.control.input_given
        )
        process.is_job = True
        shell.jobs.latest_pid = process.pid
        shell.jobs.add(process, text[0]).monitored = shell.options.monitor
        shell.status = 0
        return 0

    return start


@compiles(Unreadable)
def _unreadable(node: Unreadable) -> Run:
    lines = [node.message, *(() if node.source_line is None else (f"`{node.source_line}'",))]

    def report(shell: Shell) -> int:
        stream = shell.fds.get(2)
        prefix = shell.error_prefix(node.line).replace(
            ": line ", ": command substitution: line ", 1
        )
        if stream is not None:
            stream.write(encode("".join([f"{prefix}{line}\n" for line in lines])))
        shell.status = 2
        return 2

    return report


@compiles(Coproc)
def _coproc(node: Coproc) -> Run:
    run = compile_stage(node.body)[1]
    name = node.name
    line = node.line

    def start(shell: Shell) -> int:
        if not is_name(name):
            shell.line = line
            shell.complain(f"`{name}': not a valid identifier")
            shell.status = 1
            return 1
        scheduler = shell.machine.scheduler
        to_child, from_child = Pipe(scheduler), Pipe(scheduler)
        child_input, our_input = PipeReader(to_child), PipeReader(from_child)
        text = text_of(node)
        process = start_subshell(
            shell,
            run,
            {**shell.fds, 0: child_input, 1: from_child},
            text,
            give_back=[child_input, from_child],
        )
        reading, writing = 63, 60
        while reading in shell.fds or writing in shell.fds:
            reading -= 1
            writing -= 1
        shell.fds = {**shell.fds, reading: our_input, writing: to_child}
        shell.descriptors.owned = {**shell.descriptors.owned, reading: our_input, writing: to_child}
        process.is_job = True
        shell.variables.replace(name, IndexedArray.of([str(reading), str(writing)]))
        shell.variables.assign(f"{name}_PID", str(process.pid))
        shell.jobs.latest_pid = process.pid
        shell.jobs.add(process, text).monitored = shell.options.monitor
        shell.status = 0
        return 0

    return start
