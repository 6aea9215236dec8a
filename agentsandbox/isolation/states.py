"""The state of a shell as bytes, for another worker.

Only workers read these bytes; the host keeps them and never looks inside. They are a pickle, since
a worker that has been taken over can do no more with it than with its own memory: the next worker
is confined in the same way, before it reads them. Classes of the shell and a few plain types are
found by name, nothing else; functions and names with dots are not.

Functions are saved as syntax trees (`declare -f` would lose line numbers). Open files are saved as
path and position, and opened again; pipes and other streams that belong to a machine are left out,
as in a fork (`shell.interpreter.forks`).

The state is saved after each call, in case the worker dies, and most calls change little of it. So
it has parts, each of which is compared with the one saved last (`Saver`): what is a value (options,
functions, aliases), the variables, the rest of the shell, and the history of scripts, for which the
host keeps the scripts since the history was saved. Objects are not shared by two parts.
"""

from __future__ import annotations

import functools
import io
import pickle
import sys
from operator import attrgetter, is_
from types import MappingProxyType

from agentsandbox.kernel.fs.devices import NullDevice, RandomDevice, ZeroDevice
from agentsandbox.kernel.fs.handles import MemoryFile
from agentsandbox.kernel.streams import BytesReader, Null, Stream
from agentsandbox.runtime.session import HISTORY
from agentsandbox.shell.expansion.variables import UNSET, Unset, Variables
from agentsandbox.shell.interpreter.forks import Kept
from agentsandbox.shell.interpreter.frames import Function
from agentsandbox.shell.interpreter.redirections import Directory
from agentsandbox.shell.interpreter.shell import Shell
from agentsandbox.shell.interpreter.special_variables import READERS
from agentsandbox.shell.interpreter.state import (
    CallStack,
    Control,
    Descriptors,
    JobTable,
    ProcessState,
    SpecialState,
    Traps,
)
from agentsandbox.shell.syntax.nodes import FunctionDefinition, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from agentsandbox.kernel.fs.memory import MemoryFileSystem

_PLAIN = {
    ("builtins", "set"), ("builtins", "frozenset"), ("builtins", "complex"),
    ("builtins", "bytearray"), ("collections", "deque"),
}  # fmt: skip

_ROOMS = ("agentsandbox.shell.", "agentsandbox.kernel.")
"""Where the classes are of which a shell's state consists."""

_COMPILED = {Word: "fields", FunctionDefinition: "compiled"}
"""Slots of syntax trees that hold what was compiled of them. It is compiled again."""

_DEEP = 20_000
"""Frames for syntax trees, which are as deep as scripts nest."""


PARTS = 4
"""Parts of a state."""

_MOST_SCRIPTS = 50
"""Scripts that the host keeps besides a saved history."""

_VALUES = ("options", "invocation", "definitions")
"""Parts of a shell that are replaced when they change."""
_DERIVED = ("values", "attributes")
"""Those of the variables, for hot paths."""


class Saver:
    """Saves the state of one session after each call."""

    __slots__ = ("_before", "_history", "_scripts")

    def __init__(self) -> None:
        self._before: list[tuple[object, ...]] = [()] * PARTS
        self._history: list[str] | None = None
        """The history as the host knows it."""
        self._scripts = 0

    def changed(self, kept: Kept, script: str) -> tuple[dict[int, bytes], bool]:
        """Return the parts that changed, and whether the history has become one script longer."""
        parts = _parts_of(kept)
        before = self._before
        found: dict[int, bytes] = {}
        is_same = parts[0] is before[0] or all(map(is_, parts[0], before[0] or (None,)))
        if not is_same:
            found[0] = _dumped(parts[0])
        for at in (1, 2):
            if parts[at] != before[at]:
                found[at] = _dumped(parts[at])
        self._before = parts
        history = kept.machine["history"]
        assert isinstance(history, list)
        known = self._history
        if history == known:
            return found, False
        if known is None:
            known = []
            self._scripts = _MOST_SCRIPTS
        self._history = history
        self._scripts += 1
        is_longer = history[-1:] == [script] and history[:-1] in (known, known[1:])
        if is_longer and self._scripts <= _MOST_SCRIPTS and "\0" not in script:
            return found, True
        self._scripts = 0
        found[3] = _dumped((history,))
        return found, False


def _parts_of(kept: Kept) -> list[tuple[object, ...]]:
    """Return the first three parts of a state as tuples."""
    shell = kept.shell
    table, streams = _described(kept)
    machine = {name: value for name, value in kept.machine.items() if name != "history"}
    rest = [_flat(value) for value in _rest_of(shell)]
    return [
        tuple([getattr(shell, name) for name in _VALUES]),
        _flat(shell.variables),
        (*rest, machine, table, streams, kept.last_pid, kept.random_state),
        (),
    ]


@functools.cache
def _getter(owner: type) -> Callable[[object], tuple[object, ...]]:
    """Return what reads all slots of a class; None for a slot that is not to be saved."""
    slots = _slots(owner)
    if owner is Variables:
        at = slots.index("readers")
        get = attrgetter(*slots)

        def of_variables(value: Any) -> tuple[object, ...]:
            found = get(value)
            return (*found[:at], _Readers(value.readers).names, *found[at + 1 :])

        return of_variables
    return attrgetter(*slots)


def _flat(value: object) -> tuple[object, ...]:
    """Return a part of a shell as its class and what is in its slots; others as they are."""
    owner = type(value)
    if owner is not Variables and owner not in _CLASSES.values():
        if isinstance(value, int) and owner is not int and owner is not bool:
            return (None, value, dict(vars(value)))  # `$?` with the statuses of a pipeline
        return (None, value)
    try:
        return (owner.__qualname__, *_getter(owner)(value))  # type: ignore[arg-type]  # a class
    except AttributeError:  # a slot without a value
        return (None, value)


def _rest_names() -> tuple[str, ...]:
    left_out = {*_VALUES, *_DERIVED, "variables"}
    return tuple(name for name in _slots(Shell) if name not in left_out)


def _rest_of(shell: Shell) -> tuple[object, ...]:
    found: tuple[object, ...] = _read_rest(shell)
    return found


def _unflat(owner: type, value: tuple[Any, ...]) -> Any:
    """Return the part of which `_flat` made `value`; `owner` is its class."""
    if value[0] is None:
        return value[1]
    if owner is Variables:
        at = 1 + _slots(Variables).index("readers")
        value = (*value[:at], _readers(*value[at]), *value[at + 1 :])
    return _remade(owner, *value[1:])


def _dumped(part: tuple[object, ...]) -> bytes:
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, 5)
    _deeply(lambda: pickler.dump(part))
    return buffer.getvalue()


def loaded(parts: Sequence[bytes], scripts: Sequence[str], fs: MemoryFileSystem) -> Kept:
    """Return the state that a `Saver` saved, with the scripts that ran since then.

    Open files are opened in `fs`.
    """
    values, variables, (*rest, machine, numbers, streams, last_pid, random_state), (history,) = [
        _deeply(_Unpickler(io.BytesIO(part)).load) for part in parts
    ]
    shell = Shell.__new__(Shell)
    for name, value in zip(_VALUES, values, strict=True):
        setattr(shell, name, value)
    shell.variables = _unflat(Variables, variables)
    shell.values, shell.attributes = shell.variables.values, shell.variables.attributes
    for name, value in zip(_rest_names(), rest, strict=True):
        setattr(shell, name, _unflat(_CLASSES.get(value[0], object), value))
    machine["history"] = [*history, *scripts][-HISTORY:]
    opened = [_opened(description, fs) for description in streams]
    table: dict[int, Stream | int] = {}
    for number, (is_standard, index) in numbers.items():
        stream = index if is_standard else opened[index]
        if stream is not None:
            table[number] = stream
    return Kept(shell, machine, table, last_pid, random_state)


def _deeply(function: Callable[[], Any]) -> Any:
    """Return `function()`, which may recurse deeply. The process is a worker, all its own."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEP)
    try:
        return function()
    finally:
        sys.setrecursionlimit(before)


def _remade(owner: type, *values: object) -> object:
    """Make an object with these values of its slots, also one of an immutable class."""
    made: object = object.__new__(owner)
    put = object.__setattr__
    for name, value in zip(_slots(owner), values, strict=True):
        if value is not _MISSING:
            put(made, name, value)
    return made


def _valued(owner: type, value: object, further: dict[str, object]) -> object:
    """Make a number or text of a class of ours, with what else it has."""
    made: object = owner(value)
    vars(made).update(further)
    return made


def _readers(*names: str) -> Mapping[str, Callable[[Any], object]]:
    """Return the functions that compute these special variables; all of them without a name."""
    return {name: READERS[name] for name in names} if names else READERS


class _Readers:
    """Represents functions that compute special variables."""

    def __init__(self, readers: Mapping[str, object]) -> None:
        self.names = () if len(readers) == len(READERS) else tuple(readers)

    def __reduce__(self) -> tuple[Any, ...]:
        return _readers, self.names


def _proxy(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


class _Missing:
    """Marks a slot without a value."""

    def __reduce__(self) -> str:
        return "_MISSING"


_MISSING = _Missing()


@functools.lru_cache(maxsize=512)
def _slots_of(owner: Any) -> tuple[str, ...]:
    slots = [base.__dict__.get("__slots__", ()) for base in reversed(owner.__mro__)]
    return tuple(
        name for names in slots for name in ((names,) if isinstance(names, str) else names)
    )


def _slots(owner: object) -> tuple[str, ...]:
    """Return the slots of a class, those of its bases first."""
    return _slots_of(owner)


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        owner = type(value)
        if owner is MappingProxyType:
            return _proxy, (dict(value),)
        if owner.__module__.startswith("agentsandbox.") and not isinstance(value, type):
            if owner is _Missing or owner is _Readers:
                return NotImplemented
            if owner is Unset:  # there is one
                return "UNSET"
            if owner is Function:
                value = Function(value.node, value.source)  # without what is compiled
            base = next((each for each in (int, float, str) if isinstance(value, each)), None)
            if base is not None:
                return _valued, (owner, base(value), dict(vars(value)))
            slots = [getattr(value, name, _MISSING) for name in _slots(owner)]
            if owner in _COMPILED:
                slots[_slots(owner).index(_COMPILED[owner])] = None
            if owner is Variables:
                slots[_slots(owner).index("readers")] = _Readers(value.readers)
            return _remade, (owner, *slots)
        return NotImplemented


# TM-ISO-3
class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        if name in _OWN and module == (__name__ if name != "UNSET" else Unset.__module__):
            return _OWN[name]
        if module.startswith(_ROOMS) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a shell")


_OWN = {
    "_remade": _remade, "_readers": _readers, "_proxy": _proxy, "_MISSING": _MISSING,
    "UNSET": UNSET, "_valued": _valued,
}  # fmt: skip

_read_rest = attrgetter(*_rest_names())
_CLASSES: dict[str | None, type] = {
    each.__qualname__: each
    for each in (CallStack, Control, Descriptors, JobTable, ProcessState, SpecialState, Traps)
}
"""The classes of the parts of a shell that are no values."""


def _described(kept: Kept) -> tuple[dict[int, tuple[bool, int]], list[tuple[object, ...]]]:
    """Return the table of descriptors, and a description of each stream in it."""
    numbers: dict[int, tuple[bool, int]] = {}
    streams: list[tuple[object, ...]] = []
    found: dict[int, int] = {}
    for number, stream in kept.table.items():
        if isinstance(stream, int):
            numbers[number] = (True, stream)
            continue
        if id(stream) not in found:
            found[id(stream)] = len(streams)
            streams.append(_description(stream))
        numbers[number] = (False, found[id(stream)])
    return numbers, streams


def _description(stream: Stream) -> tuple[object, ...]:
    if isinstance(stream, MemoryFile):
        return (
            "file", stream.path, stream.readable, stream.writable, stream.append, stream.offset,
        )  # fmt: skip
    if isinstance(stream, BytesReader):
        return "bytes", stream.data, stream.position
    if isinstance(stream, (NullDevice, RandomDevice, ZeroDevice)):
        return "device", stream.path
    if isinstance(stream, Null):
        return ("null",)
    if isinstance(stream, Directory):
        return ("directory",)
    return ("left out",)


def _opened(description: tuple[Any, ...], fs: MemoryFileSystem) -> Stream | None:
    """Open what `_description` names; None for what cannot be opened again."""
    kind, *rest = description
    stream: Stream
    try:
        if kind == "file":
            path, readable, writable, append, offset = rest
            stream = fs.open(path, "a" if append else "r+" if writable else "r")
            if isinstance(stream, MemoryFile):
                stream.readable, stream.offset = readable, offset
        elif kind == "bytes":
            stream = source = BytesReader(rest[0])
            source.position = rest[1]
        elif kind == "device":
            stream = fs.open(rest[0], "r+")
        elif kind in ("null", "directory"):
            stream = Null() if kind == "null" else Directory()
        else:
            return None
    except OSError:  # its name is gone
        return None
    stream.references = 0  # the shell will hold it, once for each number
    return stream
