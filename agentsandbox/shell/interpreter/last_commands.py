"""The last command of a process: a program there takes the place of its shell.

A shell that has nothing left to do executes a program instead of waiting for it, so the program's
parent is that of the shell, and it has the shell's pid. Scripts see this in `$PPID`.
"""

from __future__ import annotations

from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.syntax.nodes import AndOr, Background, Command, CommandList, SimpleCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Run, Shell


def alone(run: Run) -> Run:
    """Run the last simple command of a process: a program takes the place of the shell."""

    def run_in_place(shell: Shell) -> int:
        handlers = shell.traps.handlers
        if not handlers or not any(handlers.values()):
            shell.control.tail_depth = shell.budget.depth
        return run(shell)

    return run_in_place


class LastCommand(Command):
    """A simple command after which its process ends."""

    __slots__ = ("command",)

    def __init__(self, command: SimpleCommand) -> None:
        self.command = command


@compiles(LastCommand)
def _last_command(node: LastCommand) -> Run:
    return alone(compile_command(node.command))


def compile_last(node: Command, *, redirected: bool = False) -> Run:
    """Compile all that a substitution or `bash -c` runs.

    Bash executes a program at its end in the place of its own process, unless there is more
    structure around the command than `;`, `&&` and `||`, or the command is `redirected`.
    """
    return compile_command(_marking_last(node, redirected))


def _marking_last(node: Command, redirected: bool) -> Command:
    """Return a tree whose last command is marked, if a program may take the shell's place there."""
    if isinstance(node, SimpleCommand):
        return LastCommand(node) if redirected or not node.redirections else node
    if isinstance(node, CommandList):
        *most, before, last = node.commands
        if isinstance(last, SimpleCommand) and not isinstance(before, Background):
            return CommandList((*most, before, _marking_last(last, redirected)))
    if isinstance(node, AndOr):
        operator, last = node.rest[-1]
        if isinstance(last, SimpleCommand):
            return AndOr(
                node.first, (*node.rest[:-1], (operator, _marking_last(last, redirected)))
            )
    return node
