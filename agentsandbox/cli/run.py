"""`agentsandbox run`: a script given as text, as a file or on standard input."""

from __future__ import annotations

import os
import sys

from agentsandbox.cli.terminal import pass_on, read_input
from agentsandbox.host_input import HostInput
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.sandbox import Sandbox


def _own_input() -> HostInput | bytes | None:
    """Return our standard input for a script: None if it is closed, bytes without a descriptor."""
    if sys.stdin is None:
        return None
    try:
        return HostInput(sys.stdin.fileno())
    except OSError:
        return read_input()


def run_script(
    sandbox: Sandbox, script: str | None, args: Sequence[str], timeout: float | None
) -> int:
    """Run a script, passing its output on as it appears; return its exit status.

    Without `script`, or for "-", standard input is the script. Otherwise the script reads it.
    """
    stdin: HostInput | bytes | None = None
    if script is None or script == "-":
        text = decode(read_input())
    else:
        text = script
        if os.path.isfile(script):
            with open(script, "rb") as file:
                text = decode(file.read())
        stdin = _own_input()
    return sandbox.execute(
        text, stdin=stdin, timeout=timeout, args=args, on_output=pass_on
    ).exit_code
