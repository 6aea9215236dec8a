"""Line numbers in the substitutions of a command that spans several lines.

Bash keeps a substitution as text, printed from what it read, and counts the lines of that text from
the line of the command it stands in. So the commands inside are read again here from how they are
printed.
"""

from __future__ import annotations

from agentsandbox.shell.syntax.nodes import (
    AndOr,
    CommandList,
    CommandSubstitution,
    HereDocument,
    Node,
    ProcessSubstitution,
    SimpleCommand,
    Unreadable,
    Word,
)
from agentsandbox.shell.syntax.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def relocate(node: SimpleCommand) -> SimpleCommand:
    """Return the command with the lines of its substitutions counted as bash does."""
    sources = [word.source for word in (*node.assignments, *node.words)]
    sources += [
        redirection.target.body.source
        for redirection in node.redirections
        if isinstance(redirection.target, HereDocument)
    ]
    if not any("$(" in source or "`" in source or "<(" in source for source in sources):
        return node
    assignments, words, redirections = (
        _moved(each, node.line) for each in (node.assignments, node.words, node.redirections)
    )
    return SimpleCommand(assignments, words, redirections, node.line)


def _line(command: Any) -> int:
    """The line where a command begins."""
    while not hasattr(command, "line"):
        if isinstance(command, CommandList):
            command = command.commands[0]
        else:
            command = command.first if isinstance(command, AndOr) else command.command
    number: int = command.line
    return number


def _moved(value: Any, line: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_moved(each, line) for each in value)
    if isinstance(value, (CommandSubstitution, ProcessSubstitution)):
        if value.body is None or isinstance(value.body, Unreadable):
            return value
        from agentsandbox.shell.syntax.printer import print_command

        commands = value.body.commands if isinstance(value.body, CommandList) else (value.body,)
        text = ""
        for number, command in enumerate(commands):
            if number:
                if not text.endswith("\n"):  # as behind a here-document
                    text += (
                        "\n"
                        if _line(command) != _line(commands[number - 1])
                        else " "
                        if text.endswith("&")
                        else "; "
                    )
            text += print_command(command)
        body = Parser("", extglob=True).parse_text(text, line)
        if isinstance(value, ProcessSubstitution):
            return ProcessSubstitution(body, value.direction, value.source)
        return CommandSubstitution(body, value.source)
    if not isinstance(value, Node):
        return value
    twin = object.__new__(type(value))
    for kind in type(value).__mro__:
        for slot in getattr(kind, "__slots__", ()):
            if hasattr(value, slot):
                setattr(twin, slot, _moved(getattr(value, slot), line))
    if isinstance(twin, Word):
        twin.fields = None
    return twin
