"""Subshells, background jobs and coprocesses: shells that begin as a copy of another one.

A subshell is `Shell.fork(subshell=True)`. It runs on the caller's stack (`run_subshell`) or as a
process of the scheduler (`start_subshell`), which holds a reference to each stream of its table, so
that a pipe ends when the last process that could write to it has ended.

Bash does not run the EXIT trap for everything that it forks, and counts some failures for the
parent and not for the child; `compile_stage` knows these rules.
"""

from __future__ import annotations

from agentsandbox.errors import Killed, PipeClosed
from agentsandbox.kernel.streams import BytesReader, Stream, encode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.interpreter.ends import child_status, run_in_shell
from agentsandbox.shell.interpreter.failures import command_failed, telling
from agentsandbox.shell.interpreter.last_commands import alone
from agentsandbox.shell.syntax.nodes import (
    AndOr,
    Background,
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
    from agentsandbox.shell.interpreter.traps import SignalHandler

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
        from agentsandbox.shell.interpreter.redirections import redirected

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
            from agentsandbox.shell.interpreter.traps import run_pending_traps

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
            from agentsandbox.shell.interpreter.traps import before_command

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
