"""What all shells of an execution hold together: no single value is too large, and neither is their sum.

Nothing is counted while scripts run. The budget asks for a census when so much was made that it is worth one.
"""

from __future__ import annotations

import sys

from agentsandbox.expansion.variables import AssociativeArray, IndexedArray
from agentsandbox.streams import BytesReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

    from agentsandbox.interpreter.shell import Shell

__all__ = ["weigh"]

_ELEMENT = 100
"""Bytes that a short value takes with its name."""
_LONG = 512


class _Scale:
    """Weighs each object once: copies share their texts."""

    __slots__ = ("seen", "total")

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.total = 0

    def texts(self, values: Iterable[object]) -> None:
        """Strings and bytes; short ones weigh the same."""
        for value in values:
            if isinstance(value, (str, bytes)) and len(value) > _LONG:
                if id(value) not in self.seen:
                    self.seen.add(id(value))
                    self.total += sys.getsizeof(value)
            elif isinstance(value, (IndexedArray, AssociativeArray)):
                self.collection(value.items)
            elif isinstance(value, tuple):
                self.texts(value)

    def collection(self, values: dict[int, str] | dict[str, str] | dict[str, object] | list[str]) -> None:
        """A list, or the values of a dictionary."""
        if id(values) in self.seen:
            return
        self.seen.add(id(values))
        self.total += _ELEMENT * len(values)
        self.texts(values.values() if isinstance(values, dict) else values)


def weigh(main: Shell) -> int:
    """Bytes that the main shell and all shells at work hold in variables, arguments, functions and the like."""
    scale = _Scale()
    _weigh_shell(scale, main)
    scale.collection(main.machine.history)
    for frame in _frames(main):
        function = frame.f_code.co_name
        if function == "run_in_shell":
            _weigh_shell(scale, frame.f_locals["shell"])
        else:
            scale.collection(frame.f_locals["positional"])
    return scale.total


def _weigh_shell(scale: _Scale, shell: Shell) -> None:
    if id(shell) in scale.seen:
        return
    scale.seen.add(id(shell))
    scale.collection(shell.values)
    for scope in shell.variables.scopes:
        scale.texts(scope.values())
    scale.collection(shell.positional)
    scale.texts(shell.traps.values())
    scale.texts(shell.hashed.values())
    scale.texts(shell.directories)
    scale.texts(shell.aliases.values())
    scale.texts(stream.data for stream in shell.fds.values() if isinstance(stream, BytesReader))


def _frames(main: Shell) -> Iterator[FrameType]:
    """The frames of all processes that run the shell or one of its functions."""
    starts = [sys._getframe()]
    for process in (main.machine.scheduler.main, *main.machine.scheduler.processes):
        frame = process.suspended_frame()
        if frame is not None:
            starts.append(frame)
    for start in starts:
        at: FrameType | None = start
        while at is not None:
            if at.f_code.co_name in ("run_in_shell", "call_function") and "agentsandbox" in at.f_code.co_filename:
                yield at
            at = at.f_back
