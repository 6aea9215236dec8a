"""`JavaScriptRuntime`: where the engine is, and what one process keeps of it.

The engine is QuickJS-NG compiled to wasm: `engine/quickjs.wasm`, from the npm package
`quickjs-wasi` (see `engine/PROVENANCE.md`). It needs no trust, as it reaches only what `guest`
answers. It is checked by digest, compiled once per process (about a second) and then only mapped.
The *prelude* is JavaScript of ours that makes node's modules out of a few questions to the sandbox;
it is compiled to bytecode once per process.

Needs `wasmtime`, which is imported when the first program starts.
"""

from __future__ import annotations

import hashlib
import os
from _thread import allocate_lock
from functools import cache
from importlib.resources import files

from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from typing import Any

    from agentsandbox.contract.command import Command, CommandContext

__all__ = ["ENGINE_DIGEST", "JavaScriptRuntime", "default_runtime", "prepared", "runtime_with"]

ENGINE_DIGEST = "d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9"
"""The SHA-256 of `engine/quickjs.wasm`."""

_MISSING = (
    "node needs the package wasmtime, which is not installed "
    "(pip install 'agentsandbox[javascript]')"
)
_BROKEN = "node: the engine's file is damaged; install agentsandbox again"


class JavaScriptRuntime:
    """Runs JavaScript for any number of sandboxes: `Sandbox(javascript=JavaScriptRuntime())`.

    memory_bytes  what one program may hold, engine included
    nesting       how many programs may be running inside each other

    Safe in several threads and after a fork.
    """

    __slots__ = ("_compiled", "_lock", "_prelude", "_running", "memory_bytes", "nesting")

    def __init__(self, *, memory_bytes: int = 256 << 20, nesting: int = 8) -> None:
        if not 16 << 20 <= memory_bytes <= 2 << 30:
            raise ValueError("memory_bytes must be between 16 MiB and 2 GiB")
        if nesting < 1:
            raise ValueError("nesting must be at least 1")
        self.memory_bytes = memory_bytes
        self.nesting = nesting
        self._compiled = b""
        self._prelude = b""
        self._running: dict[int, int] = {}
        self._lock = allocate_lock()

    @property
    def node(self) -> Command:
        """The command `node`, which runs in this runtime."""
        from agentsandbox.javascript.node import make_node

        return make_node(self)

    def run(self, ctx: CommandContext, settings: dict[str, Any]) -> int:
        """Run a program for the command `node` and return its status."""
        from agentsandbox.javascript.door import Door

        compiled, prelude = self._prepared()
        from agentsandbox.javascript.home import Home

        scheduler = id(ctx.host.scheduler)
        depth = self._running.get(scheduler, 0)
        if depth >= self.nesting:
            raise CommandError(f"more than {self.nesting} programs inside each other", 1)
        self._running[scheduler] = depth + 1
        door = Door(ctx)
        try:
            return Home(ctx, door.answer).run(compiled, prelude, self.memory_bytes, settings)
        finally:
            door.close()
            if depth:
                self._running[scheduler] = depth
            else:
                self._running.pop(scheduler, None)

    def _prepared(self) -> tuple[bytes, bytes]:
        """Return the compiled engine and the prelude's bytecode, made when first needed."""
        with self._lock:
            if not self._prelude:
                try:
                    from agentsandbox.javascript.guest import compile_engine
                except ImportError:
                    raise CommandError(_MISSING, 127) from None
                self._compiled = compile_engine(_engine())
                self._prelude = _compile_prelude(self._compiled, self.memory_bytes)
            return self._compiled, self._prelude


@cache
def default_runtime() -> JavaScriptRuntime:
    """Return the runtime of `Sandbox(javascript=True)`, one for the process."""
    return JavaScriptRuntime()


def prepared() -> tuple[bytes, bytes]:
    """Return the compiled engine and the prelude's bytecode, for `runtime_with`."""
    return default_runtime()._prepared()


def runtime_with(
    made: tuple[bytes, bytes] | None, *, memory_bytes: int, nesting: int
) -> JavaScriptRuntime:
    """Return a runtime with what another process with the same wasmtime has prepared."""
    runtime = JavaScriptRuntime(memory_bytes=memory_bytes, nesting=nesting)
    if made is not None:
        runtime._compiled, runtime._prelude = made
    return runtime


class _NoSandbox:
    """What is outside while only the prelude is compiled."""

    def ask(self, header: str, payload: bytes) -> tuple[str, bytes]:
        """Return nothing."""
        return "{}", b""

    def goes_on(self) -> bool:
        """Return True."""
        return True

    def now(self) -> float:
        """Return the beginning of time."""
        return 0.0

    def entropy(self, size: int) -> bytes:
        """Return random bytes: they seed the engine's tables of names."""
        return os.urandom(size)


def _engine() -> bytes:
    wasm = (_folder() / "engine" / "quickjs.wasm").read_bytes()
    if hashlib.sha256(wasm).hexdigest() != ENGINE_DIGEST:
        raise CommandError(_BROKEN, 126)
    return wasm


def _folder() -> Traversable:
    return files("agentsandbox.javascript")


def _compile_prelude(compiled: bytes, memory_bytes: int) -> bytes:
    from agentsandbox.javascript.guest import Guest

    parts = [part for part in (_folder() / "prelude").iterdir() if part.name.endswith(".js")]
    sources = [part.read_bytes() for part in sorted(parts, key=lambda part: part.name)]
    text = b'(function () { "use strict";\n' + b"\n".join(sources) + b"\n})()"
    guest = Guest(compiled, memory_bytes, _NoSandbox())
    try:
        return guest.compile(text, "node:internal")
    finally:
        guest.close()
