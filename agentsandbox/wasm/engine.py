"""The WebAssembly engine of the process: compiled modules, and the clock that ends long runs.

A module is compiled once per machine (`compile_module`, a minute for a large one) into a file of
native code, and loaded from there in each process. That file is as trusted as the package itself:
it lies in a private folder (0700) and is loaded only if this user owns it and nobody else can write
it (`trusted`). Its name holds the digest of the WebAssembly file and the version of wasmtime. A
note beside it (`.json`) holds its own digest, size and time: a file whose size or time changed is
read and compared before it is loaded.

Guests are interrupted by *epochs*. While any guest runs, one thread per process increments the
engine's epoch every `TICK` seconds; each guest is called back at the next epoch, in its own thread,
and decides whether to go on. A fork has neither that thread nor a usable engine, so the engine
belongs to a process number: a child makes its own (`engine_of_process`).

wasmtime turns a guest's traps (stack overflow, an address out of bounds) from signals into errors.
Whoever installs handlers for those signals later, as `faulthandler.enable()` does, would let a
guest end the host. The handlers are compared before each run (`Engine.check_signals`).
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import signal
import stat as stat_module
import sys
import tempfile
import threading
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from time import monotonic

from agentsandbox.kernel.streams import encode
from agentsandbox.wasm.errors import UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import wasmtime

TICK = 0.01
"""Seconds between two epochs."""

STACK = 8 << 20
"""Bytes of stack that a guest may use."""
_MARGIN = 4 << 20
"""Bytes of the thread's stack beyond that, for the host's calls."""

_BLOCK = 1 << 20


def version() -> str:
    """Return the version of wasmtime; raises `UnavailableError` if it is not installed."""
    try:
        return metadata.version("wasmtime")
    except metadata.PackageNotFoundError:
        raise UnavailableError(
            "wasmtime is not installed (pip install 'agentsandbox[python]')"
        ) from None


# files of native code


@dataclass(frozen=True)
class Compiled:
    """Where the native code of one WebAssembly file lies."""

    path: Path

    @property
    def note(self) -> Path:
        """Return the file that holds the digest, size and time of the native code."""
        return self.path.with_suffix(".json")


def compiled_path(folder: Path, digest: str) -> Compiled:
    """Return the place of the native code for a WebAssembly file with the SHA-256 `digest`."""
    return Compiled(folder / f"{digest[:32]}-wasmtime{version()}.cwasm")


# TM-GUEST-5
def trusted(path: Path, *, folder: bool = False) -> str | None:
    """Return why native code at `path` may not be loaded, or None if it may."""
    try:
        info = os.lstat(path)
    except OSError:
        return "is not there"
    kind = stat_module.S_ISDIR if folder else stat_module.S_ISREG
    if not kind(info.st_mode):
        return "is not a folder" if folder else "is not a regular file"
    if sys.platform == "win32":
        return None
    if info.st_uid not in (os.getuid(), 0):
        return "belongs to another user"
    if info.st_mode & 0o022:
        return "can be written by other users"
    return None


def private_folder(path: Path) -> None:
    """Create a folder for native code, with 0700, unless it exists."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    reason = trusted(path, folder=True)
    if reason is not None:
        raise UnavailableError(f"the cache {path} {reason}: give it to this user with mode 0700")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def compile_module(wasm: Path, place: Compiled, *, signals: bool = True) -> None:
    """Compile a WebAssembly file: a minute and 2 GB of memory for a hundred megabytes.

    Raises `UnavailableError` when the file is not valid or the disk is full.
    """
    import wasmtime

    private_folder(place.path.parent)
    try:
        module = wasmtime.Module.from_file(_new_engine(signals), str(wasm))
    except wasmtime.WasmtimeError as error:
        raise UnavailableError(f"{wasm.name} cannot be compiled: {_first_line(error)}") from None
    code = bytes(module.serialize())
    module.close()
    write_file(place.path, code)
    info = os.stat(place.path)
    note = {
        "sha256": hashlib.sha256(code).hexdigest(),
        "size": info.st_size,
        "mtime_ns": info.st_mtime_ns,
    }
    write_file(place.note, encode(json.dumps(note)))


def write_file(path: Path, data: bytes) -> None:
    """Write a private file (0600) that appears whole or not at all."""
    name = None
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError as error:
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)
        raise UnavailableError(f"{path} cannot be written: {error.strerror}") from None


def _verify(place: Compiled) -> None:
    """Refuse native code that this user did not write, or that changed since."""
    for path, folder in ((place.path.parent, True), (place.path, False), (place.note, False)):
        reason = trusted(path, folder=folder)
        if reason is not None:
            raise UnavailableError(f"{path} {reason}")
    try:
        note = json.loads(place.note.read_bytes())
        expected = note["sha256"], note["size"], note["mtime_ns"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UnavailableError(f"{place.note} is damaged") from None
    info = os.stat(place.path)
    if (info.st_size, info.st_mtime_ns) == expected[1:]:
        return
    if info.st_size != expected[1] or digest_of(place.path) != expected[0]:
        raise UnavailableError(f"{place.path} was changed after it was compiled")
    # copied with another time, as into an image: the next process need not read it again
    with contextlib.suppress(UnavailableError):
        write_file(place.note, encode(json.dumps({**note, "mtime_ns": info.st_mtime_ns})))


# the engine


def _new_engine(signals: bool) -> wasmtime.Engine:
    import wasmtime
    from wasmtime import _ffi

    config = wasmtime.Config()
    config.epoch_interruption = True
    config.memory_may_move = False
    config.signals_based_traps = signals
    set_size = getattr(_ffi, "wasmtime_config_async_stack_size_set", None)
    if set_size is None:
        raise UnavailableError(f"wasmtime {version()} cannot set the size of its stacks")
    set_size(config.ptr(), STACK)  # before the next line: it may not be smaller
    config.max_wasm_stack = STACK
    return wasmtime.Engine(config)


# TM-GUEST-3
class Engine:
    """The engine of this process; `modules` are the loaded ones by their files."""

    def __init__(self, signals: bool) -> None:
        self.engine = _new_engine(signals)
        self.modules: dict[Path, wasmtime.Module] = {}
        self.lock = threading.Lock()
        self.here = threading.local()
        """`guest` in it is the guest that runs in a thread."""
        self.bindings: object = None
        """What guests import, made by `guest` for the first one."""
        self._signals = signals
        self._handlers = _handlers() if signals else ()
        self._running = 0
        self._changed = threading.Condition()
        self._ticker: threading.Thread | None = None

    def load(self, place: Compiled) -> wasmtime.Module:
        """Return a compiled module. Raises `UnavailableError` if it may not be loaded."""
        import wasmtime

        with self.lock:
            module = self.modules.get(place.path)
            if module is None:
                _verify(place)
                try:
                    module = wasmtime.Module.deserialize_file(self.engine, str(place.path))
                except wasmtime.WasmtimeError as error:
                    raise UnavailableError(
                        f"{place.path} cannot be loaded: {_first_line(error)}"
                    ) from None
                self.modules[place.path] = module
                if self._signals:
                    self._handlers = _handlers()
            return module

    def check_signals(self) -> None:
        """Refuse to run a guest whose traps would end the host."""
        if self._signals and _handlers() != self._handlers:
            raise UnavailableError(
                "the host replaced the signal handlers of its WebAssembly engine "
                "(faulthandler.enable()?): do that before the first run, or choose signals=False"
            )

    def begin(self) -> None:
        """Count a running guest; the first one starts the ticker."""
        with self._changed:
            self._running += 1
            if self._ticker is None:
                self._ticker = threading.Thread(
                    target=self._tick, name="agentsandbox-epochs", daemon=True
                )
                self._ticker.start()
            self._changed.notify()

    def end(self) -> None:
        """Count one running guest less."""
        with self._changed:
            self._running -= 1

    def _tick(self) -> None:
        pause = threading.Event()
        while True:
            with self._changed:
                while not self._running:
                    self._changed.wait()
            due = monotonic() + TICK
            pause.wait(TICK)
            late = monotonic() - due
            for _ in range(1 + max(0, int(late / TICK))):
                self.engine.increment_epoch()

    def thread(self, run: Callable[[], None], name: str) -> threading.Thread:
        """Return a started thread whose stack is large enough for a guest."""
        with self.lock:
            before = threading.stack_size(STACK + _MARGIN)
            try:
                made = threading.Thread(target=run, name=name, daemon=True)
                made.start()
            finally:
                threading.stack_size(before)
        return made


class _Engines:
    """The engines of this process, with and without traps by signals."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.found: dict[bool, Engine] = {}

    def get(self, signals: bool) -> Engine:
        """Return an engine; a child of a fork forgets those of its parent, and their lock."""
        if self.pid != os.getpid():
            self.__init__()  # type: ignore[misc]
        with self.lock:
            engine = self.found.get(signals)
            if engine is None:
                engine = self.found[signals] = Engine(signals)
            return engine


_ENGINES = _Engines()


def engine_of_process(signals: bool = True) -> Engine:
    """Return the engine of this process, made when first needed and again after a fork."""
    return _ENGINES.get(signals)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# TM-GUEST-4
def _handlers() -> tuple[int, ...]:
    """Return the addresses of the process's handlers for the signals of traps."""
    if sys.platform == "win32":
        return ()
    action = ctypes.CDLL(None).sigaction
    found = []
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE):
        buffer = ctypes.create_string_buffer(512)
        action(int(number), None, buffer)
        found.append(int.from_bytes(buffer.raw[: ctypes.sizeof(ctypes.c_void_p)], sys.byteorder))
    return tuple(found)
