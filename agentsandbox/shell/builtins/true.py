"""`:`, `true` and `false`."""

from __future__ import annotations

from agentsandbox.shell.builtins import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define(":")
def colon(shell: Shell, words: list[str]) -> int:
    """Do nothing, successfully."""
    return 0


@define("true")
def true(shell: Shell, words: list[str]) -> int:
    """Do nothing, successfully."""
    return 0


@define("false")
def false(shell: Shell, words: list[str]) -> int:
    """Do nothing, unsuccessfully."""
    return 1
