"""Command substitution $(…) and process substitution <(…), >(…).

A command substitution runs its command with a buffer in the place of standard output, and returns
the text without its trailing newlines. It is a subshell; but as for the stages of a pipeline, a
command that cannot change the shell runs without a copy of it. `stages` knows which.

A process substitution starts its command as a process, and expands to the name of our end of a pipe
(/dev/fd/63). The end is closed when the command that got the name has ended
(`finish_process_substitutions` in `redirections`).
"""

from __future__ import annotations

from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.streams import Buffer, Pipe, PipeReader, decode, decode_pieces, encode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.interpreter.failures import telling
from agentsandbox.shell.interpreter.last_commands import alone, compile_last
from agentsandbox.shell.interpreter.stages import harmless_name, leaves_no_trace
from agentsandbox.shell.interpreter.subshells import run_subshell, start_subshell
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.nodes import (
    Command,
    CommandSubstitution,
    HereDocument,
    ProcessSubstitution,
    SimpleCommand,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.accounts import Held
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.shell.interpreter.shell import Run, Shell


class _Output(Buffer):
    """The output of a substitution without null bytes. Large ones count on the budget."""

    __slots__ = ("budget", "has_null", "held")

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget.value_bytes)
        self.budget = budget
        self.has_null = False
        self.held: Held | None = None

    def write(self, data: bytes) -> None:
        if b"\0" in data:
            self.has_null = True
            data = data.translate(None, b"\0")
        super().write(data)
        if self.size > LARGE:
            if self.held is None:
                self.held = self.budget.hold(self.size)
            else:
                self.held.grow(len(data))


def substitute(shell: Shell, run: Run, *, in_place: bool) -> str:
    """Run a command and return its output without trailing newlines; its status becomes `$?`."""
    budget = shell.budget
    buffer = _Output(budget)
    if budget.depth >= budget.max_depth:
        budget.deeper()
    budget.depth += 1
    whole, budget.whole = budget.whole, False
    budget.left -= 1
    if budget.left < 0:
        budget.tick()
    try:
        if in_place and not shell.slow and not shell.check:
            saved, hashed = shell.fds, shell.specials.hashed
            shell.fds, shell.specials.hashed = {**saved, 1: buffer}, hashed.copy()
            try:
                status = run(shell)
            except (
                ExpansionError
            ) as error:  # it would have ended the substitution's own shell, no more
                shell.report(error)
                status = 1
            finally:
                shell.fds, shell.specials.hashed = saved, hashed
        else:
            status = run_subshell(shell, run, {**shell.fds, 1: buffer}, substitution=True)
            if buffer.references > 1:  # background jobs may still write
                shell.machine.scheduler.block(lambda: buffer.references == 1)
    finally:
        budget.depth -= 1
        budget.whole = whole
    shell.control.substitution_status = shell.status = status
    if in_place and shell.traps.handlers and "CHLD" in shell.traps.handlers:
        shell.traps.pending.append("CHLD")
    chunks = buffer.chunks
    data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    if len(data) > 65536:
        budget.make(len(data))
    if buffer.has_null:
        shell.warn("command substitution: ignored null byte in input")
    data = data.rstrip(b"\n")
    return decode(data) if len(data) <= PIECE else decode_pieces(budget.pieces(data))


@compiles(CommandSubstitution)
def _command_substitution(node: CommandSubstitution) -> Callable[[Shell], str]:
    body = node.body
    if body is None:

        def nothing(shell: Shell) -> str:
            shell.control.substitution_status = 0
            return ""

        return nothing
    file = _read_file(body)
    if file is not None:
        return file
    if not isinstance(body, SimpleCommand):
        whole = compile_last(body)
        return lambda shell: substitute(shell, whole, in_place=False)
    run = compile_command(body)
    name = harmless_name(body)
    text = " ".join([word.source for word in body.words])
    only = run if body.redirections else alone(run)
    if not name or body.redirections or "BASH_SUBSHELL" in text:
        return lambda shell: substitute(shell, only, in_place=False)

    def expand(shell: Shell) -> str:
        definitions = shell.definitions
        general = shell.slow or shell.check or definitions.aliases or name in definitions.functions
        in_place = not general and leaves_no_trace(shell, name)
        return substitute(shell, run if in_place else only, in_place=in_place)

    return _echoed(body, expand) if name == "echo" and "BASH_COMMAND" not in text else expand


def _echoed(body: Command, general: Callable[[Shell], str]) -> Callable[[Shell], str]:
    """Compile $(echo …): the output is the arguments, so nothing needs to be written and read."""
    assert isinstance(body, SimpleCommand)
    fields = [WORDS.fields(word) for word in body.words[1:] if isinstance(word, Word)]

    def expand(shell: Shell) -> str:
        budget = shell.budget
        if shell.slow or shell.traps.handlers or shell.check or budget.depth >= budget.max_depth:
            return general(shell)
        definitions = shell.definitions
        if definitions.aliases or "echo" in definitions.functions:
            return general(shell)
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        arguments: list[str] = []
        try:
            for word in fields:
                word(shell, arguments)
        except ExpansionError:
            return general(shell)
        if (arguments and arguments[0][:1] == "-") or shell.options.shopt["xpg_echo"]:
            return general(shell)
        text = " ".join(arguments)
        if len(text) > 65536:
            budget.make(len(text))
        shell.control.substitution_status = shell.status = 0
        return (text if text.isascii() else decode(encode(text))).rstrip("\n")

    return expand


def _read_file(body: Command) -> Callable[[Shell], str] | None:
    """Compile $(< file); None for any other command."""
    if (
        not isinstance(body, SimpleCommand)
        or body.words
        or body.assignments
        or len(body.redirections) != 1
    ):
        return None
    redirection = body.redirections[0]
    if (
        redirection.operator != "<"
        or isinstance(redirection.target, HereDocument)
        or redirection.descriptor not in (None, 0)
    ):
        return None
    name, source = WORDS.fields(redirection.target), redirection.target.source

    def cat(shell: Shell) -> int:
        found: list[str] = []
        name(shell, found)
        if len(found) != 1:
            shell.complain(f"{source}: ambiguous redirect")
            return 1
        from agentsandbox.shell.interpreter.redirections import open_file

        try:
            stream = open_file(shell, found[0], "<")
            try:
                if not stream.unreadable:  # bash says nothing of a directory
                    for block in stream.blocks():
                        shell.budget.step(1 + (len(block) >> 8))
                        shell.fds[1].write(block)
            finally:
                stream.release()
        except OSError as error:
            import os

            shell.complain(f"{found[0]}: {os.strerror(error.errno or 5)}")
            return 1
        return 0

    def read(shell: Shell) -> str:
        text = substitute(shell, cat, in_place=False)
        # for bash this is an error of the shell itself
        if shell.options.errexit and shell.control.substitution_status:
            raise shell.stopped(1)
        return text

    return read


def _nothing(shell: Shell) -> int:
    """Run the command of <( )."""
    return 0


@compiles(ProcessSubstitution)
def _process_substitution(node: ProcessSubstitution) -> Callable[[Shell], str]:
    body, direction = node.body, node.direction
    run = _nothing if body is None else telling(compile_last(body, redirected=True), body)

    def start(shell: Shell) -> str:
        pipe = Pipe(shell.machine.scheduler)
        reader = PipeReader(pipe)
        ours, theirs = (reader, pipe) if direction == "<" else (pipe, reader)
        number = 63
        while number in shell.fds:
            number -= 1
        child_fds = {**shell.fds, (1 if direction == "<" else 0): theirs}
        process = start_subshell(
            shell, run, child_fds, "process substitution", give_back=[theirs], substitution=True
        )
        shell.jobs.latest_pid = process.pid
        shell.jobs.processes[process.pid] = process
        shell.fds = {**shell.fds, number: ours}
        shell.descriptors.process_files += ((number, ours, process),)
        return f"/dev/fd/{number}"

    return start
