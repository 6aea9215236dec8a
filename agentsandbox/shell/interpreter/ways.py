"""The ways to run a simple command, from the cheapest to the most general.

Which one it is, is decided when the command is compiled:

1. No words: `assignment_only`.
2. A builtin that scripts call all the time, in a plain form: a shortcut (`shortcuts`).
3. A plain name and nothing but words, which may be a function or a program (`simple`).
4. All others, and the shortcuts when anything needs a look (`simple`).
"""

from __future__ import annotations

from agentsandbox.kernel.caching import lru_cache
from agentsandbox.shell.interpreter.dispatch import compiles
from agentsandbox.shell.interpreter.shell import INLINED
from agentsandbox.shell.syntax.nodes import HereDocument, SimpleCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Run, Shell


@compiles(SimpleCommand)
def _simple(node: SimpleCommand) -> Run:
    return _known(node.source, node.line) if node.source else _compile(node)


@lru_cache(maxsize=1024)
def _known(source: str, line: int) -> Run:
    """Compile a command that scripts share."""
    from agentsandbox.shell.syntax.parser import known_command

    command = known_command(source, line)
    assert command is not None
    return _compile(command)


def _compile(node: SimpleCommand) -> Run:
    if node.spans or (
        node.redirections
        and any(isinstance(redirection.target, HereDocument) for redirection in node.redirections)
    ):
        from agentsandbox.shell.interpreter.relocation import relocate

        node = relocate(node)
    if not node.words:
        from agentsandbox.shell.interpreter.assignment_only import compile_assignments

        return compile_assignments(node)
    if node.words[0].source in INLINED and not any(
        "BASH_COMMAND" in word.source for word in node.words
    ):
        from agentsandbox.shell.interpreter.shortcuts import inline_command

        inlined = inline_command(node, _when_needed(node))
        if inlined is not None:
            return inlined
    from agentsandbox.shell.interpreter.simple import compile_general

    return compile_general(node)


def _when_needed(node: SimpleCommand) -> Run:
    """Compile the general way at its first use; most shortcuts never need it."""
    compiled: list[Run] = []

    def run(shell: Shell) -> int:
        if not compiled:
            from agentsandbox.shell.interpreter.simple import compile_by_all_rules

            compiled.append(compile_by_all_rules(node))
        return compiled[0](shell)

    return run
