"""Commands that bash runs in a process of their own: subshells, background jobs, stages of a
pipeline.

Some of them change nothing in the shell, so that they need no copy of it: `harmless_name` decides
what it can by the tree, and `leaves_no_trace` the rest when the command is known.

Bash does not run the EXIT trap for everything that it forks, and counts some failures for the
parent and not for the child; `compile_stage` knows these rules.
"""

from __future__ import annotations

from agentsandbox.shell.builtins import NAMES, PURE
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.interpreter.ends import child_status
from agentsandbox.shell.interpreter.failures import telling
from agentsandbox.shell.syntax.nodes import (
    Group,
    Pipeline,
    Redirection,
    SimpleCommand,
    Subshell,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Run, Shell
    from agentsandbox.shell.syntax.nodes import Command

_EFFECTS = "$(", "<(", ">(", "`", "=", "++", "--", "?}", ":?", "RANDOM", "BASHPID"
"""What a text has in it whose expansion runs a command, assigns, fails or is another each time."""


def has_no_side_effects(source: str) -> bool:
    """Whether the text of a word shows that its expansion only reads."""
    for effect in _EFFECTS:  # noqa: SIM110  # quicker than a generator
        if effect in source:
            return False
    return True


_IN_NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+"


def harmless_name(command: Command) -> str:
    """Return the name of a simple command whose words change nothing in the shell, else ""."""
    if not isinstance(command, SimpleCommand) or command.assignments or not command.words:
        return ""
    name = command.words[0].source
    words = command.words[1:]
    if name.strip(_IN_NAMES) or not all(
        isinstance(word, Word) and has_no_side_effects(word.source) for word in words
    ):
        return ""
    if name == "printf" and words and words[0].source.lstrip("'\"\\")[:1] in ("-", "$", "`", "{"):
        return ""  # -v assigns
    return name if name in PURE or name not in NAMES else ""


def leaves_no_trace(shell: Shell, name: str) -> bool:
    """Whether a command needs no copy of the shell. The name must not be that of a function.

    This imports an external command, as running it would do.
    """
    if name in PURE:
        return True
    machine = shell.machine
    located = machine.located.get(name)
    command = machine.commands.get(name) or (
        machine.available.find(name) if located is None else located.tool
    )
    return command is not None and command.manners.pure


@compiles(Subshell)
def _subshell(node: Subshell) -> Run:
    return compile_stage(node)[0]


def compile_stage(command: Command) -> tuple[Run, Run]:
    """Return two closures: a command as a shell runs it, and as all that a process of its own runs.

    In the latter ERR counts for the commands inside, not for the command itself.
    """
    if isinstance(command, Subshell):
        from agentsandbox.shell.interpreter.last_commands import alone
        from agentsandbox.shell.interpreter.redirections import redirected
        from agentsandbox.shell.interpreter.subshells import in_subshell

        body = compile_command(command.body)
        if isinstance(command.body, SimpleCommand):
            body = alone(body)
        child = telling(redirected(command.redirections, body, in_child=True), command.body)
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
