"""`command` and `builtin`: commands past the functions of their names."""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import SpecialFailed, define, find_builtin, parse_letters
from agentsandbox.shell.builtins.type import describe
from agentsandbox.shell.interpreter.programs import refusal_of, run_external
from agentsandbox.shell.interpreter.simple import run_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentsandbox.shell.interpreter.shell import Shell


STANDARD_PATH = "/bin:/usr/bin"
"""Where `command -p` searches."""


@define("command", "command [-pVv] command [arg ...]", declares=True)
def command(shell: Shell, words: list[Any]) -> int:
    """Run a command past any function of its name, or tell what it is."""
    texts = [word if isinstance(word, str) else word.word() for word in words]
    options, position = parse_letters(texts, "pVv")
    operands = words[position:]
    if not operands:
        return 0
    if "v" in options or "V" in options:
        status = 1
        path = STANDARD_PATH if "p" in options else None
        for name in texts[position:]:
            if describe(shell, name, short="V" not in options, origin="command", path=path):
                status = 0
        return status
    name = texts[position]
    found = find_builtin(name)
    if found is not None and name not in shell.definitions.disabled:
        arguments = operands if found.declares else texts[position:]
        try:
            return shell.budget.nested(lambda: found.call(shell, arguments))
        except SpecialFailed as failed:
            return failed.status
    if "p" in options:
        refused = refusal_of(shell, texts[position:])
        if refused is not None:
            return refused
        return run_external(
            shell, texts[position:], shell.variables.environment(), path=STANDARD_PATH
        )
    return run_words(shell, texts[position:], functions=False, traced=True)


@define("builtin", "builtin [shell-builtin [arg ...]]", declares=True)
def builtin(shell: Shell, words: list[Any]) -> int:
    """Run a builtin, past any function of its name."""
    _, position = parse_letters(words, "")
    operands = words[position:]
    if not operands:
        return 0
    name = operands[0]
    found = find_builtin(name) if isinstance(name, str) else None
    if found is None or name in shell.definitions.disabled:
        raise CommandError(f"{name}: not a shell builtin", 1)
    texts = [word if isinstance(word, str) else word.word() for word in operands]
    return shell.budget.nested(lambda: found.call(shell, operands if found.declares else texts))
