"""Commands that are not there: what the shell says, the handler of the script, a job's name."""

from __future__ import annotations

import os

from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.quoting import ansi_quote, needs_ansi
from agentsandbox.kernel.streams import encode
from agentsandbox.shell.builtins import find_builtin
from agentsandbox.shell.interpreter.subshells import run_subshell
from agentsandbox.shell.interpreter.suggestions import suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.shell.interpreter.shell import Shell


def not_found(shell: Shell, argv: Sequence[str], path: str | None) -> int:
    """Report a name for which `path` has no file, or call `command_not_found_handle`."""
    name = argv[0]
    handler = shell.definitions.functions.get("command_not_found_handle")
    if handler is not None:
        from agentsandbox.shell.interpreter.functions import call_function

        return run_subshell(
            shell, lambda child: call_function(child, handler, list(argv)), shell.fds
        )
    if name.startswith("%"):
        foreground = find_builtin("fg")
        assert foreground is not None
        return foreground.call(shell, ["fg", name])
    pieces = shell.budget.pieces
    if len(name) > LARGE:
        shell.budget.charge(4 * len(name))  # `$'\377'` for a byte
    shown = ansi_quote(name, pieces) if needs_ansi(name, pieces) else name
    if name and not path:
        shell.complain(f"{shown}: {os.strerror(2)}")
        return 127
    shell.complain(f"{shown}: command not found")
    hint = suggest(shell, name)
    if hint and shell.machine.hints:
        stream = shell.fds.get(2)
        if stream is not None:
            stream.write(encode(f"{hint}\n"))
    return 127
