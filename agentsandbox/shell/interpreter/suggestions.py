"""The second line after "command not found": what the sandbox has instead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


def suggest(shell: Shell, name: str) -> str | None:
    """Return a hint for a name that is no command; None without a helpful one."""
    if name.endswith("\r"):
        return (
            "the script has the line ends of Windows: remove them, "
            "for instance with sed -i 's/\\r$//' FILE (D-windows-lines)"
        )
    own, available = shell.machine.commands, shell.machine.available
    hint = available.hint(name)
    if hint is not None and any(available.hint(other) == hint for other in own):
        return None  # the host offers one of its kind: the hint would not be true
    if hint is not None:
        return f"{name} is not available in this sandbox: {hint} (D-not-available)"
    near = _near(shell, name)
    return (
        f"{name} is not available in this sandbox; did you mean {near}? (D-not-available)"
        if near
        else None
    )


def _near(shell: Shell, name: str) -> str | None:
    """Return the command whose name is closest; None if none is close."""
    if not 2 < len(name) < 20:
        return None
    from difflib import get_close_matches

    known = shell.machine.host.commands()
    if name in known:
        return None  # only the PATH does not lead to it
    found = get_close_matches(name, known, 1, 0.75)
    return found[0] if found else None
