"""`builtin`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import define, find_builtin, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentsandbox.shell.interpreter.shell import Shell


@define("builtin", "builtin [shell-builtin [arg ...]]", declares=True)
def builtin(shell: Shell, words: list[Any]) -> int:
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
