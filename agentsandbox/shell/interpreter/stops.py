"""What a script says when errexit of the sandbox, not its own, ends it.

The sandbox sets errexit for script files (`script_errexit`), so a script that was written without
it may end early. It then says at which line and how to go on, on the standard error that it was
started with: its own may lead to /dev/null. The same goes for the subshells of a script, such as
the stages of a pipeline, whose early ends the script itself may not notice.

Nothing is said if nothing would have followed: the script or the subshell would have ended there,
with the same status. To see that, the command that failed is looked for at the end of the tree:
the last one of a list, of each branch of `if` and `case`, and of the functions called there. After
the body of a loop, the next round follows. Only lines are known of the command that failed; if
others begin on its line, something is said.
"""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError, Stopped
from agentsandbox.kernel.streams import encode
from agentsandbox.shell.syntax.compound_nodes import Case, Conditional, If
from agentsandbox.shell.syntax.nodes import (
    AndOr,
    ArithmeticCommand,
    Command,
    CommandList,
    Group,
    Pipeline,
    SimpleCommand,
    Subshell,
)
from agentsandbox.shell.syntax.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.shell.interpreter.frames import Function
    from agentsandbox.shell.interpreter.shell import Shell


def tell_stop(shell: Shell, end: Stopped, script: str | Command) -> None:
    """Say that `end` ended a script, or a subshell of it that runs a command."""
    stops = shell.control.stops
    if stops is None or stops.stream is None:
        return
    if end.file == shell.invocation.called:
        commands = _parsed(shell, script) if isinstance(script, str) else [script]
        if _Ends(shell.definitions.functions, commands).are_at(end.line):
            return
    message = (
        f"{end.file}: line {end.line}: stopped by status {end.status};"
        " set +e goes on (D-script-errexit)\n"
    )
    if message != stops.said:
        stops.said = message
        try:
            stops.stream.write(encode(message))
        except OSError:
            return


def _parsed(shell: Shell, text: str) -> list[Command]:
    """Return the commands of a script; none if it is not wholly readable."""
    shell.budget.charge(len(text))
    parser = Parser(text, extglob=shell.options.extglob, aliases=shell.active_aliases())
    parser.pairs_quotes = not (shell.options.posix or shell.options.shopt["xpg_echo"])
    parser.meter = shell.budget
    commands = []
    try:
        while (command := parser.next_command()) is not None:
            commands.append(command)
    except ShellSyntaxError:
        return []
    return commands


class _Ends:
    """The lines of the commands after which nothing follows, and of those before them."""

    def __init__(self, functions: Mapping[str, Function], commands: list[Command]) -> None:
        self.functions = functions
        self.lines: set[int] = set()
        self.before: set[int] = set()
        self.seen: set[str] = set()
        self._list(commands)

    def are_at(self, line: int) -> bool:
        """Whether the command at a line is at the end."""
        return line in self.lines and line not in self.before

    def _list(self, commands: list[Command] | tuple[Command, ...]) -> None:
        self.before.update(getattr(command, "line", 0) for command in commands[:-1])
        for command in commands[-1:]:
            self._visit(command)

    def _visit(self, command: Command) -> None:
        if isinstance(command, CommandList):
            self._list(command.commands)
        elif isinstance(command, AndOr):
            self._visit(command.rest[-1][1])
        elif isinstance(command, Group):
            self._visit(command.body)
        elif isinstance(command, If):
            for body in [*(body for _, body in command.clauses), command.otherwise]:
                if body is not None:
                    self._visit(body)
        elif isinstance(command, Case):
            for clause in command.clauses:
                if clause.body is not None:
                    self._visit(clause.body)
        elif isinstance(command, Pipeline) and not command.negated:
            last = command.commands[-1]
            if len(command.commands) == 1:
                self._visit(last)
            self.lines.add(last.line if isinstance(last, SimpleCommand) else command.line)
        elif isinstance(command, (Subshell, ArithmeticCommand, Conditional)):
            self.lines.add(command.line)
        elif isinstance(command, SimpleCommand):
            self.lines.add(command.line)
            name = command.words[0].source if command.words else ""
            function = self.functions.get(name)
            if function is not None and name not in self.seen:
                self.seen.add(name)
                self._visit(function.node.body)
