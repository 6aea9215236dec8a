"""`echo`"""

from __future__ import annotations

import os

from agentsandbox.kernel.formats.echo import render_echo
from agentsandbox.shell.builtins import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("echo", "echo [-neE] [arg ...]")
def echo(shell: Shell, words: list[str]) -> int:
    """Write the arguments to standard output."""
    if len(words) > 2:
        shell.budget.charge(sum(map(len, words)))
    data = render_echo(words[1:], xpg=shell.options.shopt["xpg_echo"], posix=shell.options.posix)
    stream = shell.fds.get(1)
    if stream is None:
        raise OSError(9, os.strerror(9))
    stream.write(data)
    return 0
