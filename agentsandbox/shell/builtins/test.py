"""`test` and `[`"""

from __future__ import annotations

from agentsandbox.kernel.formats.predicates import TestError, evaluate_test
from agentsandbox.shell.builtins import define
from agentsandbox.shell.interpreter.conditions import ShellTests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.shell.interpreter.shell import Shell


def evaluate(shell: Shell, name: str, words: Sequence[str]) -> int:
    """Return 0 for true, 1 for false, 2 for words that are no expression."""
    try:
        return 0 if evaluate_test(words, ShellTests(shell)) else 1
    except TestError as error:
        found = ", found ]" if name == "[" and error.message == "`)' expected" else ""
        shell.complain(f"{name}: {error.message}{found}")
        return 2


@define("test")
def test(shell: Shell, words: list[str]) -> int:
    """Evaluate a condition."""
    return evaluate(shell, words[0], words[1:])


@define("[")
def bracket(shell: Shell, words: list[str]) -> int:
    """Evaluate a condition."""
    if words[-1] != "]":
        shell.complain("[: missing `]'")
        return 2
    return evaluate(shell, "[", words[1:-1])
