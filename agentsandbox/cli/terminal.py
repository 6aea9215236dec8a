"""Standard input and output of the command line, which may be closed, pipes or a terminal."""

from __future__ import annotations

import os
import sys

from agentsandbox.errors import PipeClosed


def is_terminal() -> bool:
    """Whether somebody sits at standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def read_input() -> bytes:
    """All of standard input; nothing if it is closed."""
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def pass_on(stream: str, data: bytes) -> None:
    """Write a chunk of a script's output; a closed pipe ends the script's writer as SIGPIPE
    would.
    """
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
    """Nobody reads our output: what is buffered goes nowhere, so that the interpreter does not
    complain at its end.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
