"""Standard input and output of the command line: closed, a pipe or a terminal."""

from __future__ import annotations

import os
import sys

from agentsandbox.errors import PipeClosed


def is_terminal() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def read_input() -> bytes:
    """Return all of standard input, b"" if it is closed."""
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def pass_on(stream: str, data: bytes) -> None:
    """Write a chunk of a script's output; a closed pipe ends the script's writer like SIGPIPE."""
    target = sys.stdout if stream == "stdout" else sys.stderr
    if target is None:
        return
    try:
        target.buffer.write(data)
        target.buffer.flush()
    except BrokenPipeError:
        give_up_output()
        raise PipeClosed from None


def give_up_output() -> None:
    """Discard buffered output that nobody reads; Python would report it when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
