"""What all shells and waiting commands of an execution hold together: no single value is too large, and neither is their sum.

Nothing is counted while scripts run. The budget asks for a census when so much was made that it is worth one.
"""

from __future__ import annotations

import sys
from collections import deque
from itertools import islice
from types import GeneratorType

from agentsandbox.kernel.fs.base import FileSystem
from agentsandbox.kernel.processes import Process, Scheduler
from agentsandbox.kernel.streams import Capture
from agentsandbox.limits import Budget
from agentsandbox.shell.expansion.variables import AssociativeArray, IndexedArray
from agentsandbox.shell.interpreter.machine import Machine
from agentsandbox.shell.interpreter.shell import Shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from types import FrameType

__all__ = ["weigh"]

_ELEMENT = 100
"""Bytes that a short value takes with its name."""
_LONG = 512
_MANY = 64
"""Elements of a collection that are looked at; the others are taken to be like them."""
_DEEP = 5
"""Objects within objects that are looked into."""
_SMALL = (
    "agentsandbox.shell.syntax.",
    "agentsandbox.contract.usage",
    "agentsandbox.sandbox",
    "agentsandbox.contract.command",
    "agentsandbox.kernel.fs.base",
)
"""Modules whose objects hold nothing large that is not held elsewhere."""
_PACKAGE = __file__.removesuffix("census.py").removesuffix("interpreter/")
_OUTERMOST = "run_guarded"
"""The function of the sandbox that runs a script."""
_ELSEWHERE = (Shell, Machine, Scheduler, Process, Budget, FileSystem, Capture)
"""Counted by themselves, or by a limit of their own."""


class _Scale:
    """Weighs each object once: copies share their texts."""

    __slots__ = ("seen", "total")

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.total = 0

    def texts(self, values: Iterable[object]) -> None:
        """Strings and bytes; short ones weigh the same."""
        for value in values:
            if isinstance(value, (str, bytes, bytearray)):
                if len(value) > _LONG and id(value) not in self.seen:
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

    def anything(self, value: object, depth: int = 0) -> None:
        """Whatever a command keeps: texts, collections of them, and objects of ours that hold some."""
        kind = type(value)
        plan = _PLANS.get(kind)
        if plan is None:
            plan = _PLANS[kind] = _plan(kind)
        if plan is _NOTHING or depth > _DEEP:
            return
        if plan is _TEXT:
            self.texts((value,))
            return
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        if plan is _MAPPING:
            self._many(value.values(), depth)  # type: ignore[attr-defined]
        elif plan is _COLLECTION:
            self._many(value, depth)  # type: ignore[arg-type]
        elif plan is _GENERATOR:
            frame = value.gi_frame  # type: ignore[attr-defined]
            if frame is not None:
                self._many(frame.f_locals.values(), depth)
        else:
            for name in plan:
                self.anything(getattr(value, name, None), depth + 1)

    def _many(self, values: Collection[object], depth: int) -> None:
        self.total += _ELEMENT * len(values) // 2
        if len(values) <= _MANY:
            for value in list(values):
                self.anything(value, depth + 1)
            return
        before = self.total
        for value in list(islice(values, _MANY)):
            self.anything(value, depth + 1)
        self.total = before + (self.total - before) * len(values) // _MANY


Plan = tuple[str, ...]
_NOTHING: Plan = ("nothing",)
_TEXT: Plan = ("text",)
_MAPPING: Plan = ("mapping",)
_COLLECTION: Plan = ("collection",)
_GENERATOR: Plan = ("generator",)
_PLANS: dict[type, Plan] = {}
"""How each type is weighed: by one of the five, or by these attributes."""


def _plan(kind: type) -> Plan:
    if issubclass(kind, (str, bytes, bytearray)):
        return _TEXT
    if issubclass(kind, _ELSEWHERE):
        return _NOTHING
    if issubclass(kind, dict):
        return _MAPPING
    if issubclass(kind, (list, tuple, set, frozenset, deque)):
        return _COLLECTION
    if kind is GeneratorType:
        return _GENERATOR
    module = kind.__module__
    if not module.startswith("agentsandbox.") or module.startswith(_SMALL):
        return _NOTHING
    names = [name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ())]
    return (*names, "__dict__") if kind.__dictoffset__ else tuple(names)


def weigh(main: Shell) -> int:
    """Bytes that the main shell and all shells at work hold in variables, arguments, functions and the like.

    Commands that wait may hold as much again, in whatever they keep.
    """
    scale = _Scale()
    _weigh_shell(scale, main)
    scale.collection(main.machine.history)
    for frame in _frames(sys._getframe()):
        _weigh_frame(scale, frame)
    scheduler = main.machine.scheduler
    waiting = [top for process in (scheduler.main, *scheduler.processes) if (top := process.suspended_frame()) is not None]
    for top in waiting:
        for frame in _frames(top):
            _weigh_frame(scale, frame)
    shells = scale.total
    for top in waiting:
        for frame in _frames(top):
            scale.anything(frame.f_locals)
    return max(shells, scale.total // 2)


def _weigh_frame(scale: _Scale, frame: FrameType) -> None:
    """What a frame of the shell itself holds."""
    function = frame.f_code.co_name
    if function == "run_in_shell":
        shell = frame.f_locals.get("shell")
        if isinstance(shell, Shell):
            _weigh_shell(scale, shell)
    elif function == "call_function":
        scale.collection(frame.f_locals.get("positional", []))


def _weigh_shell(scale: _Scale, shell: Shell) -> None:
    if id(shell) in scale.seen:
        return
    scale.seen.add(id(shell))
    scale.collection(shell.values)
    for scope in shell.variables.scopes:
        scale.texts(scope.values())
    for _, temporary in shell.variables.temporary:
        scale.texts(temporary.values())
    scale.collection(shell.stack.positional)
    scale.texts(shell.traps.handlers.values())
    scale.texts(shell.specials.hashed.values())
    scale.texts(shell.directories)
    scale.texts(shell.definitions.aliases.values())
    scale.anything(shell.definitions.completions)
    for stream in shell.fds.values():
        scale.anything(stream)


def _frames(top: FrameType) -> Iterator[FrameType]:
    """The frames of ours from one on outwards."""
    at: FrameType | None = top
    while at is not None:
        if at.f_code.co_filename.startswith((_PACKAGE, "<awk")):
            if at.f_code.co_name == _OUTERMOST:
                return
            yield at
        at = at.f_back
