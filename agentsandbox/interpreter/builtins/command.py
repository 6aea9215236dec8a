"""`command`"""

from __future__ import annotations

from agentsandbox.interpreter.builtins import define, find_builtin, parse_letters
from agentsandbox.interpreter.builtins.type import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentsandbox.interpreter.shell import Shell


@define("command", "command [-pVv] command [arg ...]", declares=True)
def command(shell: Shell, words: list[Any]) -> int:
    texts = [word if isinstance(word, str) else word.word() for word in words]
    options, position = parse_letters(texts, "pVv")
    operands = words[position:]
    if not operands:
        return 0
    if "v" in options or "V" in options:
        status = 1
        for name in texts[position:]:
            if describe(shell, name, short="V" not in options, origin="command"):
                status = 0
        return status
    from agentsandbox.interpreter.simple import run_words

    name = texts[position]
    found = find_builtin(name)
    if found is not None and name not in shell.definitions.disabled:
        shell.budget.deeper()
        try:
            return found.call(shell, operands if found.declares else texts[position:])
        finally:
            shell.budget.shallower()
    if "p" in options:
        from agentsandbox.interpreter.execution import DEFAULT_PATH, refusal_of, run_external

        refused = refusal_of(shell, texts[position:])
        if refused is not None:
            return refused
        return run_external(shell, texts[position:], shell.variables.environment(), path=DEFAULT_PATH)
    return run_words(shell, texts[position:], functions=False, traced=True)
