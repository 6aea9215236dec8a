"""`agentsandbox run`: a script given as text, as a file or on standard input."""

from __future__ import annotations

import os

from agentsandbox.cli.terminal import is_terminal, pass_on, read_input
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.sandbox import Sandbox

__all__ = ["run_script"]


def run_script(sandbox: Sandbox, script: str | None, args: Sequence[str], timeout: float | None) -> int:
    """Run it, passing its output on as it appears; its exit status."""
    stdin: bytes | None = None
    if script is None or script == "-":
        text = decode(read_input())
    elif os.path.isfile(script):
        with open(script, "rb") as file:
            text = decode(file.read())
    else:
        text = script
    if script not in (None, "-") and not is_terminal():
        stdin = read_input()
    return sandbox.execute(text, stdin=stdin, timeout=timeout, args=args, on_output=pass_on).exit_code
