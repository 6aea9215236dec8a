"""`:`, `true` and `false`."""

from __future__ import annotations

from agentsandbox.interpreter.builtins import builtin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell


@builtin(":")
def colon(shell: Shell, words: list[str]) -> int:  # noqa: ARG001
    return 0


@builtin("true")
def true(shell: Shell, words: list[str]) -> int:  # noqa: ARG001
    return 0


@builtin("false")
def false(shell: Shell, words: list[str]) -> int:  # noqa: ARG001
    return 1
