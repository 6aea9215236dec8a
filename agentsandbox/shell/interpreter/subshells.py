"""Subshells: shells that begin as a copy of another one.

A subshell is `Shell.fork(subshell=True)`. It runs on the caller's stack (`run_subshell`) or as a
process of the scheduler (`start_subshell`), which holds a reference to each stream of its table, so
that a pipe ends when the last process that could write to it has ended.
"""

from __future__ import annotations

from agentsandbox.errors import Killed, PipeClosed
from agentsandbox.kernel.streams import BytesReader, Stream, encode
from agentsandbox.shell.interpreter.dispatch import compiles
from agentsandbox.shell.interpreter.ends import child_ended, run_in_shell
from agentsandbox.shell.interpreter.failures import command_failed
from agentsandbox.shell.syntax.nodes import Group, Subshell, Unreadable

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
