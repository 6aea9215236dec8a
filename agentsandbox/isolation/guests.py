"""Python and JavaScript in workers: the runtimes of the host, made again from plain values.

A worker runs the guest itself: WebAssembly needs threads and memory, no files and no sockets. What
it needs of the host's disk are the compiled program and the library, which it may read (see
`confinement`); the engine of JavaScript is compiled by the nursery, once. Packages that the host
gives to its Python, and the index that `pip` asks, stay in the host: the worker asks for them.
"""

from __future__ import annotations

import importlib
import os
import pickle
from functools import partial

from agentsandbox.isolation.messages import ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import Any

    from agentsandbox.isolation.messages import Message
    from agentsandbox.isolation.relay import Relay
    from agentsandbox.javascript.runtime import JavaScriptRuntime
    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.options import SandboxOptions
    from agentsandbox.python.index import Packages, Wheelfile
    from agentsandbox.python.runtime import PythonRuntime

    Wait = Callable[[Awaitable[object]], object]

_RESERVED = (4 << 30) + (96 << 20)
"""Addresses that wasmtime reserves for the memory of a guest, with what guards it and its stack."""

_MOST_WHEELS = 10_000
"""Wheels of an index that one worker may have been told of."""

_LIBRARIES = ("wasmtime", "h11", "packaging.requirements", "packaging.tags", "platformdirs")

# the host


def described(options: SandboxOptions) -> dict[str, Any]:
    """Return what a worker must know of the runtimes: plain values, None for no runtime."""
    python, javascript = options.python, options.javascript
    found: dict[str, Any] = {"python": None, "javascript": None}
    if python is not None:
        packages = python.packages
        programs = {} if not packages.packages else packages.entry_points()
        found["python"] = {
            "memory_bytes": python.memory_bytes,
            "guests": python.guests,
            "nesting": python.nesting,
            "cache": os.fspath(python.cache_folder()),
            "signals": python.signals,
            "programs": programs,
            "has_packages": bool(packages.packages),
            "has_index": packages.index is not None,
        }
    if javascript is not None:
        found["javascript"] = {
            "memory_bytes": javascript.memory_bytes,
            "nesting": javascript.nesting,
        }
    return found


class HostPackages:
    """Shows one worker the packages and the index of a runtime; a service of `Operations`."""

    __slots__ = ("_offered", "_packages", "_scheduler", "works")

    def __init__(self, scheduler: Scheduler, packages: Packages) -> None:
        self._scheduler = scheduler
        self._packages = packages
        self._offered: list[Wheelfile] = []
        self.works: Mapping[str, Callable[[int, Message], tuple[dict[str, Any], bytes]]] = {
            "packages": self._files,
            "wheels": self._find,
            "wheel": self._fetch,
        }

    def drop(self, number: int) -> None:
        """Do nothing: nothing stays open."""

    def close(self) -> None:
        """Forget which wheels the worker knows."""
        self._offered.clear()

    def _files(self, number: int, message: Message) -> tuple[dict[str, Any], bytes]:
        del number, message
        from agentsandbox.python.wheels import WheelError

        packages = self._packages
        try:
            parts = (
                packages.files(),
                [(one.headers.as_string(), one.location) for one in packages.mounted()],
            )
        except WheelError as error:
            return {"wheel_error": str(error)}, b""
        return {}, pickle.dumps(parts, 5)

    def _find(self, number: int, message: Message) -> tuple[dict[str, Any], bytes]:
        del number
        from agentsandbox.python.wheels import WheelError

        name = message.text("name")
        try:
            found = self._packages.find(name, self._scheduler.await_)
        except WheelError as error:
            return {"wheel_error": str(error)}, b""
        if len(self._offered) + len(found) > _MOST_WHEELS:
            self._offered.clear()
        first = len(self._offered)
        self._offered += found
        return {"found": [[first + at, one.name, one.sha256] for at, one in enumerate(found)]}, b""

    def _fetch(self, number: int, message: Message) -> tuple[dict[str, Any], bytes]:
        del number
        from agentsandbox.python.wheels import WheelError

        wanted = message.number("wheel")
        if wanted >= len(self._offered):
            raise ProtocolError("a wheel that nobody offered")
        try:
            return {}, self._packages.fetch(self._offered[wanted], self._scheduler.await_)
        except WheelError as error:
            return {"wheel_error": str(error)}, b""


# the nursery

_engine: tuple[bytes, bytes] | None = None
"""The compiled engine of JavaScript, and the bytecode of its prelude."""


def load(guests: Sequence[str]) -> None:
    """Load what guests need, before the first worker is forked."""
    global _engine
    for name in _LIBRARIES:
        _import(name)
    for room in ("wasm", *guests):
        package = importlib.import_module(f"agentsandbox.{room}")
        for path in package.__path__:
            for entry in sorted(os.listdir(path)):
                if entry.endswith(".py") and entry != "__init__.py":
                    _import(f"{package.__name__}.{entry[:-3]}")
    if "javascript" in guests:
        _engine = _in_a_child(_prepare)


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:  # an extra that is not installed
        pass


def _prepare() -> tuple[bytes, bytes] | None:
    from agentsandbox.errors import CommandError
    from agentsandbox.javascript.runtime import prepared

    try:
        return prepared()
    except CommandError:  # there is no wasmtime: each program says so
        return None


def _in_a_child(function: Callable[[], Any]) -> Any:
    """Return `function()`, called in a process that ends: an engine must not be forked."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as file:
                pickle.dump(function(), file, 5)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


# the worker


def python_runtime(known: dict[str, Any] | None, relay: Relay) -> PythonRuntime | None:
    """Return the host's Python runtime for a worker."""
    if known is None:
        return None
    from agentsandbox.python.runtime import runtime_with

    return runtime_with(
        _remote_packages(known, relay),
        memory_bytes=known["memory_bytes"],
        guests=known["guests"],
        nesting=known["nesting"],
        cache=known["cache"],
        signals=known["signals"],
    )


def _remote_packages(known: dict[str, Any], relay: Relay) -> Packages:
    from agentsandbox.python.index import Packages, Wheelfile
    from agentsandbox.python.wheels import WheelError

    def ask(name: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        _, head, data = relay.call(name, arguments)
        if "wheel_error" in head:
            raise WheelError(head["wheel_error"])
        return head, data

    def find(name: str) -> list[Wheelfile]:
        return [
            Wheelfile(file, partial(fetch, number), digest)
            for number, file, digest in ask("wheels", {"name": name})[0]["found"]
        ]

    def fetch(number: int) -> bytes:
        return ask("wheel", {"wheel": number})[1]

    def files() -> Any:
        return pickle.loads(ask("packages", {})[1])

    return Packages.elsewhere(
        files if known["has_packages"] else None,
        known["programs"],
        find if known["has_index"] else None,
    )


def javascript_runtime(known: dict[str, Any] | None) -> JavaScriptRuntime | None:
    """Return the host's JavaScript runtime for a worker."""
    if known is None:
        return None
    from agentsandbox.javascript.runtime import runtime_with

    memory, nesting = known["memory_bytes"], known["nesting"]
    return runtime_with(_engine, memory_bytes=memory, nesting=nesting)


def needs(setup: dict[str, Any]) -> tuple[int, int, list[str]]:
    """Return the addresses and the memory that guests need, in bytes, and what they read."""
    addresses = memory = 0
    folders: list[str] = []
    python, javascript = setup["python"], setup["javascript"]
    if python is not None:
        count = python["guests"] + 1
        addresses += count * _RESERVED
        memory += count * python["memory_bytes"]
        folders += [python["cache"], *_library_folder()]
    if javascript is not None:
        count = javascript["nesting"] + 1
        addresses += count * _RESERVED
        memory += count * javascript["memory_bytes"]
    return addresses, memory, folders


def _library_folder() -> list[str]:
    from agentsandbox.python.artifact import find_artifact
    from agentsandbox.wasm.errors import UnavailableError

    try:
        return [os.fspath(find_artifact().library.parent)]
    except UnavailableError:  # `python3` says so when it is called
        return []
