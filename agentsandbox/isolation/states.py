"""The state of a shell as bytes, for another worker.

Only workers read these bytes; the host keeps them and never looks inside. They are a pickle, since
a worker that has been taken over can do no more with it than with its own memory: the next worker
is confined in the same way, before it reads them. Classes of the shell and a few plain types are
found by name, nothing else; functions and names with dots are not.

Functions are saved as syntax trees (`declare -f` would lose line numbers). Open files are saved as
path and position, and opened again; pipes and other streams that belong to a machine are left out,
as in a fork (`shell.interpreter.forks`).
"""

from __future__ import annotations

import functools
import io
import pickle
import sys
from types import MappingProxyType

from agentsandbox.kernel.fs.devices import NullDevice, RandomDevice, ZeroDevice
from agentsandbox.kernel.fs.handles import MemoryFile
from agentsandbox.kernel.streams import BytesReader, Null, Stream
from agentsandbox.shell.expansion.variables import Variables
from agentsandbox.shell.interpreter.forks import Kept
from agentsandbox.shell.interpreter.redirections import Directory
from agentsandbox.shell.interpreter.special_variables import READERS
from agentsandbox.shell.interpreter.state import Function
from agentsandbox.shell.syntax.nodes import FunctionDefinition, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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


def saved(kept: Kept) -> bytes:
    """Return a shell's state as bytes."""
    table, streams = _described(kept)
    parts = (kept.shell, dict(kept.machine), table, streams, kept.last_pid, kept.random_state)
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, 5)
    _deeply(lambda: pickler.dump(parts))
    return buffer.getvalue()


def loaded(data: bytes, fs: MemoryFileSystem) -> Kept:
    """Return the state that `saved` wrote; open files are opened in `fs`."""
    parts = _deeply(_Unpickler(io.BytesIO(data)).load)
    shell, machine, numbers, streams, last_pid, random_state = parts
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
            if owner is Function:
                value = Function(value.node, value.source)  # without what is compiled
            slots = [getattr(value, name, _MISSING) for name in _slots(owner)]
            if owner in _COMPILED:
                slots[_slots(owner).index(_COMPILED[owner])] = None
            if owner is Variables:
                slots[_slots(owner).index("readers")] = _Readers(value.readers)
            return _remade, (owner, *slots)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        if module == __name__ and name in _OWN:
            return _OWN[name]
        if module.startswith(_ROOMS) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a shell")


_OWN = {"_remade": _remade, "_readers": _readers, "_proxy": _proxy, "_MISSING": _MISSING}


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
