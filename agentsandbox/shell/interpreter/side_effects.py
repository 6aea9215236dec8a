"""Commands that change nothing in the shell, so that they need no copy of it.

`harmless_name` decides what it can by the tree, and `leaves_no_trace` the rest when the command is
known.
"""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.builtins import NAMES, PURE
from agentsandbox.shell.syntax.nodes import Command, SimpleCommand, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

_EFFECTS = lazily(r"[$<>]\(|[`=]|\+\+|--|\?\}|:\?|RANDOM|BASHPID")


def has_no_side_effects(source: str) -> bool:
    """Whether the text of a word shows that its expansion only reads."""
    return _EFFECTS.search(source) is None


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
