"""What the shell of a forked sandbox takes over from the original's, when it first needs one."""

from __future__ import annotations

from agentsandbox.shell.interpreter.shell import OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentsandbox.shell.interpreter.shell import Shell

__all__ = ["shell_state", "take_over"]

_INHERITED = ("functions", "shopt", "umask", "readonly_functions", "exported_functions", "status", "cwd", "ifs")


def shell_state(shell: Shell) -> dict[str, Any]:
    """What a fork takes over: variables, functions, options, traps and directory, as they are now."""
    state = {name: getattr(shell, name) for name in _INHERITED}
    state["options"] = [(attribute, getattr(shell, attribute)) for _, attribute in OPTIONS.values()]
    state["positional"] = shell.positional.copy()
    state["traps"] = shell.traps.copy()
    state["aliases"] = shell.aliases.copy()
    state["directories"] = shell.directories.copy()
    state["variables"] = shell.variables.fork(None)
    return state


def take_over(shell: Shell, state: Mapping[str, Any], cwd: str) -> None:
    """Make a new shell like the one whose state this was; other forks may take over the same."""
    variables = state["variables"].fork(shell)
    shell.variables, shell.values, shell.attributes = variables, variables.values, variables.attributes
    for name in _INHERITED:
        if name != "ifs":
            setattr(shell, name, state[name])
    for attribute, value in state["options"]:
        setattr(shell, attribute, value)
    for name in ("positional", "traps", "aliases", "directories"):
        setattr(shell, name, state[name].copy())
    shell.set_ifs(state["ifs"])
    shell.update_flags()
    if cwd != shell.cwd:
        shell.change_directory(cwd)
