"""`PythonRuntime`: the CPython that a host gives its sandboxes, and what it may use.

A runtime is prepared once per machine (`prepare`, or `agentsandbox python prepare`): the program is
compiled to native code, a minute and 2 GB of memory, into a private cache of some 300 MB. A script
never does that; without it `python3` says what to run.
"""

from __future__ import annotations

import errno
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

from agentsandbox.kernel.fs.base import os_error
from agentsandbox.wasm.errors import UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike
    from typing import Any

    from agentsandbox.contract.command import Command
    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.python.artifact import Artifact
    from agentsandbox.python.index import Index, Packages
    from agentsandbox.wasm.engine import Compiled

PREPARE = "agentsandbox python prepare"
"""What prepares the default runtime."""

_MIB = 1 << 20
_LEAST_MEMORY = 64 * _MIB
_MOST_MEMORY = 4096 * _MIB


@dataclass(frozen=True)
class PythonStatus:
    """Whether a runtime can run.

    ready      whether scripts can use it
    reason     why not; "" if ready
    python     the version of CPython, or ""
    wasmtime   the version of wasmtime, or ""
    cache      the folder of compiled programs
    bytes      the size of the compiled program, 0 if there is none
    packages   the number of packages that the build of CPython has
    """

    ready: bool
    reason: str
    python: str
    wasmtime: str
    cache: Path
    bytes: int
    packages: int


class PythonRuntime:
    """CPython for sandboxes: `Sandbox(python=PythonRuntime(...))`. Any number may share one.

    memory_bytes  the most memory of one running program, 64 MiB to 4 GiB
    guests        programs that run at once in this process, over all sandboxes of the runtime
    nesting       programs of one sandbox that may wait for others that they started
    packages      what scripts can import from the start: paths of pure wheels, and names of
                  distributions that are installed beside the program, with what they require
    index         what `pip install` may take from: a folder of wheels, or a function from a name to
                  `Wheelfile`s; None for no index
    cache         the folder for the compiled program; by default the user's cache folder
    signals       whether wasmtime may use signals for traps; False is slower, and lets the host
                  install its own handlers at any time (`faulthandler.enable()`)

    Raises `TypeError` and `ValueError` for values that are not accepted. Nothing is imported or
    started before a script runs `python3`.
    """

    __slots__ = (
        "__weakref__", "_artifact", "_lock", "_nested", "_packages", "_place", "_running",
        "_waiting", "cache", "guests", "image", "made", "memory_bytes", "nesting", "programs",
        "signals",
    )  # fmt: skip

    def __init__(
        self,
        *,
        memory_bytes: int = 256 * _MIB,
        guests: int = 16,
        nesting: int = 8,
        packages: Iterable[str | PathLike[str]] = (),
        index: Index | None = None,
        cache: str | Path | None = None,
        signals: bool = True,
    ) -> None:
        self.memory_bytes = _number("memory_bytes", memory_bytes, _LEAST_MEMORY, _MOST_MEMORY)
        self.guests = _number("guests", guests, 1, 4096)
        self.nesting = _number("nesting", nesting, 1, 64)
        if cache is not None and not isinstance(cache, (str, Path)):
            raise TypeError(f"cache must be a path or None, not {type(cache).__name__}")
        if not isinstance(signals, bool):
            raise TypeError(f"signals must be True or False, not {type(signals).__name__}")
        self._packages: Packages | None = None
        if packages or index is not None:
            from agentsandbox.python.index import Packages

            self._packages = Packages(packages, index)
        self.cache = None if cache is None else Path(cache)
        self.signals = signals
        self._artifact: Artifact | None = None
        self._place: Compiled | None = None
        self.image: object = None
        """The files that guests get from it, made by `command` for the first one."""
        self.made: list[Command] | None = None
        """Its commands, made by `python_commands` when a sandbox first asks."""
        self.programs: dict[str, Command] = {}
        """What its commands do, made by `program` when one first runs."""
        self._lock = threading.Lock()
        self._running = 0
        self._waiting: set[Callable[[], None]] = set()
        self._nested: WeakKeyDictionary[Scheduler, int] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return (
            f"PythonRuntime(memory_bytes={self.memory_bytes}, guests={self.guests}, "
            f"nesting={self.nesting}, cache={str(self.cache_folder())!r}, signals={self.signals})"
        )

    def cache_folder(self) -> Path:
        """Return the folder of compiled programs."""
        if self.cache is not None:
            return self.cache
        from platformdirs import user_cache_path

        return user_cache_path("agentsandbox") / "python"

    @property
    def packages(self) -> Packages:
        """Return the packages, those of the build included if it is installed."""
        from agentsandbox.python.index import Packages

        found = self._packages
        if found is None:
            found = self._packages = Packages()
        if found.zip is None:
            with suppress(UnavailableError):
                library = self.artifact().library
                self._packages = found = found.beside(library)
        return found

    def package_programs(self) -> Sequence[str]:
        """Return the names of the programs of `packages`. Raises `WheelError` if one is unfit."""
        if self._packages is None or not self._packages.packages:
            return ()
        return tuple(self.packages.programs())

    def package_files(self) -> Mapping[str, bytes]:
        """Return the files of `packages`. Raises `WheelError` if one is unfit."""
        if self._packages is None or not self._packages.packages:
            return {}
        return self.packages.files()

    # preparing

    def artifact(self) -> Artifact:
        """Return the build of CPython. Raises `UnavailableError` if none is installed."""
        if self._artifact is None:
            from agentsandbox.python.artifact import find_artifact

            self._artifact = find_artifact()
        return self._artifact

    def compiled(self) -> Compiled:
        """Return where the compiled program is, or would be."""
        from agentsandbox.wasm.engine import compiled_path

        place = compiled_path(self.cache_folder(), self.artifact().digest)
        if self.signals:
            return place
        return type(place)(place.path.with_name(f"nosignals-{place.path.name}"))

    def prepare(self, *, force: bool = False) -> PythonStatus:
        """Compile the program unless that is done, and return the status.

        Takes a minute and 2 GB of memory. Raises `UnavailableError`: the build is missing or
        damaged, the folder is not private, the disk is full.
        """
        from agentsandbox.wasm.engine import compile_module, trusted

        artifact = self.artifact()
        if force or not self.status().ready:
            artifact.verify()
        if force or trusted(self.compiled().path) is not None:
            compile_module(artifact.wasm, self.compiled(), signals=self.signals)
        from agentsandbox.python.prelude_code import compile_sources

        files = self.package_files()
        compile_sources(artifact, self.compiled(), files, signals=self.signals)
        self.image = None
        return self.status()

    def status(self) -> PythonStatus:
        """Return whether the runtime can run, and why not. Never raises."""
        from agentsandbox.wasm.engine import trusted, version

        python = wasmtime = ""
        size = packages = 0
        folder = self.cache or Path()
        try:
            folder = self.cache_folder()
            wasmtime = version()
            artifact = self.artifact()
            python, packages = artifact.version, len(artifact.packages)
            place = self.compiled().path
            reason = trusted(place) or trusted(place.parent, folder=True)
            if reason is None:
                size = place.stat().st_size
                reason = ""
            elif reason == "is not there":
                reason = f"it is not prepared: run `{PREPARE}`"
            else:
                reason = f"{place} {reason}"
        except ImportError as error:
            reason = f"{error.name} is not installed (pip install 'agentsandbox[python]')"
        except UnavailableError as error:
            reason = str(error)
        return PythonStatus(not reason, reason, python, wasmtime, folder, size, packages)

    def ready(self) -> Compiled:
        """Return the compiled program. Raises `UnavailableError` if it may not be loaded."""
        if self._place is None:
            status = self.status()
            if not status.ready:
                raise UnavailableError(status.reason)
            self._place = self.compiled()
        return self._place

    def clean(self) -> int:
        """Remove all compiled programs of the cache; return their bytes."""
        freed = 0
        self._place = None
        folder = self.cache_folder()
        for path in [
            path
            for pattern in ("*.cwasm", "*.json", "prelude-*.zip", "packages-*.zip", ".new-*")
            for path in folder.glob(pattern)
        ]:
            freed += path.stat().st_size
            path.unlink()
        return freed

    # running

    def take(self, call: Callable[[], None]) -> bool:
        """Count one more running program; if there are too many `call` is called when one ends."""
        with self._lock:
            if self._running < self.guests:
                self._running += 1
                return True
            self._waiting.add(call)
            return False

    def give_back(self, call: Callable[[], None], *, taken: bool) -> None:
        """Count one running program less if it was `taken`; `call` is not called any more."""
        with self._lock:
            self._waiting.discard(call)
            if not taken:
                return
            self._running -= 1
            waiting, self._waiting = self._waiting, set()
        for other in waiting:
            other()

    def nest(self, scheduler: Scheduler) -> Callable[[], None]:
        """Count a program that waits for one that it starts; call the result when it goes on.

        Raises `OSError` (EAGAIN) if too many programs of the sandbox wait.
        """
        nested = self._nested
        depth = nested.get(scheduler, 0)
        if depth >= self.nesting:
            raise os_error(errno.EAGAIN)
        nested[scheduler] = depth + 1

        def unnest() -> None:
            nested[scheduler] = nested[scheduler] - 1

        return unnest


def runtime_with(packages: Packages, **options: Any) -> PythonRuntime:
    """Return a runtime whose packages and index are made already."""
    runtime = PythonRuntime(**options)
    runtime._packages = packages
    return runtime


@cache
def default_runtime() -> PythonRuntime:
    """Return the runtime of `Sandbox(python=True)`, one for the process."""
    return PythonRuntime()


def _number(name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {value}")
    return value
