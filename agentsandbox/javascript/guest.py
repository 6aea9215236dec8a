"""One running JavaScript program: QuickJS in wasm, with a thread of its own.

The engine is `engine/quickjs.wasm`. It imports twelve functions and has no other way out of its
linear memory, so a program reaches exactly what this module answers:

  clock_time_get, random_get     the sandbox's clock and random numbers
  fd_write, fd_close, …          EBADF: the engine has no descriptors
  host_call                      the functions of `__host`, which only the prelude can name
  host_module_*                  asks the prelude (JavaScript) where a module is and what it says
  host_interrupt                 whether the program must end

Each guest has an engine of wasmtime for itself (0.1 ms; the compiled code is only mapped), so
raising the epoch of that engine ends this guest at its next loop or call and no other one, from any
thread, without a ticker.

Values that guest code passes are untrusted: a pointer outside the memory ends the guest. The host
functions never raise: what wasmtime's binding does with an exception is not safe with threads.
"""

from __future__ import annotations

import json
import struct
from _thread import allocate_lock

import wasmtime
from wasmtime import _ffi as ffi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    class Outside(Protocol):
        """What a guest may ask, called on the guest's thread. None of it raises."""

        def ask(self, header: str, payload: bytes) -> tuple[str, bytes]: ...
        def goes_on(self) -> bool: ...
        def now(self) -> float: ...
        def entropy(self, size: int) -> bytes: ...


_STACK_BYTES = 900_000
"""The engine's own stack, in its memory: about 3,700 calls of JavaScript. It is used up before the
native stack is."""

NATIVE_STACK_BYTES = 14 << 20
"""The native stack of a guest; its thread has more."""

_SCRATCH_BYTES = 1 << 16
"""A place in the guest's memory for short strings, so that they need no `malloc`."""

_WRITING = {"out": '{"op": "write_at", "fd": 1}', "err": '{"op": "write_at", "fd": 2}'}
MAX_DEPTH = 80
"""How often the guest may call the host from a call of the host: modules that load modules."""

_REJECTED = 2
_BAD_DESCRIPTOR = 8
_SUCCESS = 0
_BUILDING = allocate_lock()
"""wasmtime's binding keeps its host functions in a list that is not safe with threads."""


class GuestError(Exception):
    """The guest cannot go on: a trap, or a value outside its memory."""


_UNSOUND = (
    GuestError, wasmtime.WasmtimeError, wasmtime.Trap, ValueError, IndexError, MemoryError,
    RecursionError,
)  # fmt: skip
"""What a host function may meet in a guest that is broken or stopped."""


class Guest:
    """An instance of the engine. Every method but `stop` belongs to the thread that made it."""

    __slots__ = (
        "_answer", "_depth", "_engine", "_exports", "_linker", "_memory", "_out", "_outside",
        "_prelude", "_store", "status", "stopped",
    )  # fmt: skip

    def __init__(self, compiled: bytes, memory_bytes: int, outside: Outside) -> None:
        self.status: int | None = None
        """The exit status that the program asked for."""
        self.stopped = False
        self._answer = b""
        self._prelude = self._depth = 0
        self._outside = outside
        with _BUILDING:
            self._engine = wasmtime.Engine(_configuration())
            module = wasmtime.Module.deserialize(self._engine, compiled)
            self._store = wasmtime.Store(self._engine)
            self._store.set_epoch_deadline(1)
            self._store.set_limits(memory_size=memory_bytes)
            linker = wasmtime.Linker(self._engine)
            answers = self._imports()
            for wanted in module.imports:
                kind: Any = wanted.type
                answer = answers[f"{wanted.module}.{wanted.name}"]
                linker.define_func(wanted.module, wanted.name or "", kind, answer)
            linker.define_instance(self._store, "js", linker.instantiate(self._store, module))
        self._exports: dict[str, Any] = {}
        self._linker = linker
        self._memory: Any = linker.get(self._store, "js", "memory")
        self._call("_initialize")
        if self._call("qjs_init") != 0:
            raise GuestError("the engine did not start")
        self._out = int(self._call("wasm_malloc", _SCRATCH_BYTES))
        self._call("qjs_set_memory_limit", memory_bytes - (memory_bytes >> 3))
        self._call("qjs_set_max_stack_size", _STACK_BYTES)
        self._call("qjs_set_interrupt_handler", 1)
        self._call("qjs_set_promise_rejection_handler", 1)
        self._call("qjs_set_module_loader", 1)

    def close(self) -> None:
        """Free the memory. The guest cannot be used afterwards."""
        with _BUILDING:
            self._exports.clear()
            self._store.close()
            self._linker.close()

    def stop(self, status: int | None = None) -> None:
        """End the program at its next loop or call. Safe in any thread."""
        if self.status is None:
            self.status = status
        self.stopped = True
        self._engine.increment_epoch()

    # running

    def compile(self, source: bytes, name: str) -> bytes:
        """Return a script of ours, in UTF-8, as bytecode, which `start` takes."""
        text, length = self._put(source), len(source)
        label, _ = self._put_text(name)
        out = self._call("wasm_malloc", 4)
        code = self._call("qjs_compile", text, length, label, 0, 0, out)
        if not code:
            raise GuestError(self._failure())
        size = self._number(out)
        return self._bytes(code, size)

    def start(self, prelude: bytes) -> None:
        """Evaluate the prelude, whose value is a table of functions that the guest calls."""
        host = self._call("qjs_new_object")
        for name in (
            "ask",
            "out",
            "err",
            "answer",
            "encode",
            "decode",
            "script",
            "module",
            "compile",
            "exit",
        ):
            label, length = self._put_text(name)
            function = self._call("qjs_new_host_function", label, length, 3)
            self._call("qjs_set_prop_string", host, label, function)
        everything = self._call("qjs_get_global")
        self._call("qjs_set_prop_string", everything, self._put_text("__host")[0], host)
        code = self._put(prelude)
        self._prelude = self._checked(self._call("qjs_eval_bytecode", code, len(prelude)))

    def run(self, settings: dict[str, Any]) -> int:
        """Run the program that `settings` names to its end and return its status."""
        try:
            self._ask_prelude("main", json.dumps(settings))
            self._jobs()
            while self._ask_prelude("step") == "more":
                self._jobs()
        except (wasmtime.WasmtimeError, wasmtime.Trap) as end:
            if self.stopped:
                return 0 if self.status is None else self.status
            raise GuestError(_cause(end)) from None
        return 0 if self.status is None else self.status

    def _jobs(self) -> None:
        """Run promise jobs until there are none and `process.nextTick` adds none."""
        while self._ask_prelude("ticks") == "more" or self._call("qjs_is_job_pending"):
            while self._call("qjs_is_job_pending"):
                self._call("qjs_execute_pending_job")

    def _ask_prelude(self, name: str, *words: str) -> str:
        """Return the string that a function of the prelude returned."""
        value = self._prelude_value(name, *words)
        self._checked(value)
        text = self._text(value)
        self._call("qjs_free_value", value)
        return text

    def _prelude_value(self, name: str, *words: str) -> int:
        values = [self._new_text(word) for word in words]
        try:
            return self._prelude_call(name, values)
        finally:
            for value in values:
                self._call("qjs_free_value", value)

    def _prelude_call(self, name: str, values: Sequence[int]) -> int:
        """Return the value of a call; an exception stays pending in the engine."""
        label, _ = self._put_text(name)
        function = self._call("qjs_get_prop_string", self._prelude, label)
        self._call("wasm_free", label)
        arguments = self._put(struct.pack(f"<{len(values)}I", *values))
        nothing = self._call("qjs_get_undefined")
        result = self._call("qjs_call", function, nothing, len(values), arguments)
        self._call("qjs_free_value", function)
        self._call("wasm_free", arguments)
        return int(result)

    def _checked(self, value: int) -> int:
        if self._call("qjs_is_exception", value):
            raise GuestError(self._failure())
        return value

    def _failure(self) -> str:
        """Return the pending exception in words."""
        error = self._call("qjs_get_exception")
        stack = self._call("qjs_get_prop_string", error, self._put_text("stack")[0])
        return f"{self._text(error)}\n{self._text(stack)}"

    # values in the guest's memory

    def _call(self, name: str, *arguments: int) -> Any:
        function = self._exports.get(name)
        if function is None:
            self._exports[name] = self._linker.get(self._store, "js", name)
            function = self._exports[name]
        value = function(self._store, *arguments)
        return value & 0xFFFFFFFF if type(value) is int and name.endswith(_POINTERS) else value

    def _bytes(self, pointer: int, size: int) -> bytes:
        if size < 0 or not 0 <= pointer <= self._memory.data_len(self._store) - size:
            raise GuestError("a pointer outside the memory")
        return bytes(self._memory.read(self._store, pointer, pointer + size))

    def _write(self, data: bytes, pointer: int) -> None:
        if not 0 < pointer <= self._memory.data_len(self._store) - len(data):
            raise GuestError("the memory is used up")
        self._memory.write(self._store, data, pointer)

    def _number(self, pointer: int) -> int:
        return int(struct.unpack("<I", self._bytes(pointer, 4))[0])

    def _put(self, data: bytes) -> int:
        pointer = int(self._call("wasm_malloc", len(data) + 1))
        self._write(data + b"\0", pointer)
        return pointer

    def _put_text(self, text: str) -> tuple[int, int]:
        data = text.encode("utf-8", "surrogatepass")
        return self._put(data), len(data)

    def _new_text(self, text: str) -> int:
        if len(text) < _SCRATCH_BYTES // 4:
            data = text.encode("utf-8", "surrogatepass")
            self._write(data + b"\0", self._out)
            return int(self._call("qjs_new_string", self._out, len(data)))
        pointer, length = self._put_text(text)
        value = int(self._call("qjs_new_string", pointer, length))
        self._call("wasm_free", pointer)
        return value

    def _text(self, value: int) -> str:
        """Return a string of the guest; unpaired surrogates become U+FFFD."""
        pointer = self._call("qjs_get_string_len", value, self._out)
        if not pointer:
            return ""
        data = self._bytes(pointer, self._number(self._out))
        self._call("qjs_free_cstring", pointer)
        if data.isascii():
            return data.decode("ascii")
        units = data.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
        return units.decode("utf-16-le", "replace")

    def _name_at(self, pointer: int) -> str:
        """Return a name that ends with NUL, of at most 64 KB."""
        size = min(65536, self._memory.data_len(self._store) - pointer)
        return self._bytes(pointer, size).split(b"\0", 1)[0].decode("utf-8", "surrogatepass")

    def _buffer(self, value: int) -> bytes:
        """Return the bytes of a Uint8Array; b"" for anything else."""
        out = self._out
        array = self._call("qjs_get_typed_array_buffer", value, out, out + 4, out + 8)
        if self._call("qjs_is_exception", array):
            self._call("qjs_free_value", self._call("qjs_get_exception"))
            return b""
        offset, length = self._number(out), self._number(out + 4)
        start = self._call("qjs_get_array_buffer", array, out)
        data = self._bytes(start + offset, length) if start else b""
        self._call("qjs_free_value", array)
        return data

    def _new_buffer(self, data: bytes) -> int:
        pointer = self._put(data)
        value = int(self._call("qjs_new_uint8_array", pointer, len(data)))
        self._call("wasm_free", pointer)
        return value

    # what the guest calls

    def _imports(self) -> dict[str, Callable[..., Any]]:
        def bad_descriptor(*_: int) -> int:
            return _BAD_DESCRIPTOR

        preview1 = "wasi_snapshot_preview1."
        return {
            f"{preview1}clock_time_get": self._safe(self._clock_time_get),
            f"{preview1}random_get": self._safe(self._random_get),
            f"{preview1}fd_write": bad_descriptor,
            f"{preview1}fd_close": bad_descriptor,
            f"{preview1}fd_seek": bad_descriptor,
            f"{preview1}fd_fdstat_get": bad_descriptor,
            "env.host_call": self._safe(self._host_call),
            "env.host_interrupt": lambda: int(self.stopped or not self._outside.goes_on()),
            "env.host_promise_rejection": self._silent(self._host_promise_rejection),
            "env.host_module_normalize": self._safe(self._host_module_normalize),
            "env.host_module_load": self._safe(self._host_module_load),
            "env.host_get_timezone_offset": lambda *_: 0,
        }

    def _safe(self, function: Callable[..., int]) -> Callable[..., int]:
        """Return `function` so that an error in it ends the guest instead of being raised."""

        def answer(*arguments: int) -> int:
            self._depth += 1
            try:
                if self._depth > MAX_DEPTH:
                    self._prelude_call("overflow", ())
                    return 0
                return function(*(argument & 0xFFFFFFFF for argument in arguments))
            except _UNSOUND:
                self.stop(self.status if self.stopped else 134)
                return 0
            finally:
                self._depth -= 1

        return answer

    def _silent(self, function: Callable[..., int]) -> Callable[..., None]:
        """Return `function` as `_safe` does, without a value."""
        answer = self._safe(function)

        def ignore(*arguments: int) -> None:
            answer(*arguments)

        return ignore

    def _clock_time_get(self, _clock: int, _precision: int, out: int) -> int:
        self._write(struct.pack("<Q", int(self._outside.now() * 1e9)), out)
        return _SUCCESS

    def _random_get(self, out: int, size: int) -> int:
        if size:
            self._write(self._outside.entropy(min(size, 65536)), out)
        return _SUCCESS

    def _host_call(self, name: int, length: int, _this: int, count: int, values: int) -> int:
        wanted = self._bytes(name, length).decode("ascii", "replace")
        words = struct.unpack(f"<{min(count, 4)}I", self._bytes(values, 4 * min(count, 4)))
        if wanted == "ask":
            payload = self._buffer(words[1]) if len(words) > 1 else b""
            header, self._answer = self._outside.ask(self._text(words[0]), payload)
            return self._new_text(header)
        if wanted in ("out", "err"):
            self._outside.ask(_WRITING[wanted], self._text(words[0]).encode())
            return int(self._call("qjs_get_undefined"))
        if wanted == "answer":
            data, self._answer = self._answer, b""
            return self._new_buffer(data)
        if wanted == "encode":
            return self._new_buffer(self._text(words[0]).encode())
        if wanted == "decode":
            return self._new_text(self._buffer(words[0]).decode("utf-8", "replace"))
        if wanted in ("script", "module"):
            source, label = self._text(words[0]), self._text(words[1])
            return self._evaluate(source, label, is_module=wanted == "module")
        if wanted == "compile":
            return self._check_syntax(*(self._text(word) for word in words[:3]))
        self.stop(int(self._text(words[0])) & 255)  # exit
        return int(self._call("qjs_get_undefined"))

    def _evaluate(self, source: str, name: str, *, is_module: bool) -> int:
        """Run a text and return its value; 0 leaves the exception pending."""
        text, length = self._put_text(source)
        label, _ = self._put_text(name)
        value = int(self._call("qjs_eval", text, length, label, int(is_module)))
        self._call("wasm_free", text)
        self._call("wasm_free", label)
        if self._call("qjs_is_exception", value):
            return 0
        if is_module and self._call("qjs_promise_state", value) == _REJECTED:
            self._call("qjs_promise_mark_as_handled", value)
            self._call("qjs_throw", self._call("qjs_promise_result", value))
            return 0
        return value

    def _check_syntax(self, source: str, name: str, kind: str) -> int:
        """Compile without running; 0 leaves the syntax error pending."""
        text, length = self._put_text(source)
        label, _ = self._put_text(name)
        out = self._call("wasm_malloc", 4)
        code = self._call("qjs_compile", text, length, label, int(kind == "module"), 0, out)
        for pointer in (text, label, out):
            self._call("wasm_free", pointer)
        if not code:
            return 0
        self._call("wasm_free", code)
        return int(self._call("qjs_get_undefined"))

    def _host_promise_rejection(self, promise: int, reason: int, handled: int) -> int:
        flag = self._call("qjs_get_true" if handled else "qjs_get_false")
        self._prelude_call("rejection", (promise, reason, flag))
        self._call("qjs_free_value", promise)
        self._call("qjs_free_value", reason)
        return 0

    def _host_module_normalize(self, base: int, name: int) -> int:
        value = self._prelude_value("resolve", self._name_at(base), self._name_at(name))
        if self._call("qjs_is_exception", value):
            return 0
        return self._put_text(self._text(value))[0]

    def _host_module_load(self, name: int, out: int) -> int:
        value = self._prelude_value("load", self._name_at(name))
        if self._call("qjs_is_exception", value):
            return 0
        text, length = self._put_text(self._text(value))
        self._write(struct.pack("<I", length), out)
        return text


_POINTERS = ("malloc", "_value", "_string", "_buffer", "_exception", "_array", "_object", "_call")


def compile_engine(wasm: bytes) -> bytes:
    """Return the engine compiled for this machine: 0.8 s, once per process or cache."""
    return bytes(wasmtime.Module(wasmtime.Engine(_configuration()), wasm).serialize())


def _configuration() -> wasmtime.Config:
    """Return how code is compiled: traps are calls, not signals.

    Without signals a guest that overflows its stack cannot meet another library's signal handlers
    (`faulthandler`), at the price of a fifth of the speed.
    """
    config = wasmtime.Config()
    config.epoch_interruption = True
    config.signals_based_traps = False
    config.memory_init_cow = False  # a copy of some KB, for which no file in memory is needed
    ffi.wasmtime_config_async_stack_size_set(config.ptr(), NATIVE_STACK_BYTES)
    config.max_wasm_stack = NATIVE_STACK_BYTES
    return config


def _cause(end: Exception) -> str:
    """Return what ended the guest in one line."""
    lines = [line.strip() for line in str(end).splitlines() if line.strip()]
    return lines[-1].removeprefix("wasm trap: ") if lines else "trap"
