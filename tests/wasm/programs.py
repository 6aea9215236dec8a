"""Small guests in WebAssembly text, run by a command of a sandbox."""

from __future__ import annotations

from collections.abc import Callable

import wasmtime

from agentsandbox import Limits, Sandbox, command
from agentsandbox.contract.command import Arguments, CommandContext
from agentsandbox.kernel.fs.base import Stat
from agentsandbox.wasm.descriptors import Standard
from agentsandbox.wasm.engine import engine_of_process
from agentsandbox.wasm.guest import Guest
from agentsandbox.wasm.system import TYPES, Image

KINDS = {"i": "i32", "I": "i64"}


def imports() -> str:
    """Declare all functions that a guest may import, as $name."""
    lines = []
    for name, parameters in TYPES.items():
        params = " ".join(KINDS[letter] for letter in parameters)
        result = "" if name == "proc_exit" else " (result i32)"
        lines.append(
            f'(import "wasi_snapshot_preview1" "{name}" (func ${name} (param {params}){result}))'
        )
    lines.append('(import "host" "call" (func $door (param i32 i32 i32 i32) (result i32)))')
    return "\n".join(lines)


def module(body: str, data: str = "", memory: str = "2") -> bytes:
    """Return a module whose `run` is `body`; it has a memory, and an allocator that never fails."""
    return wasmtime.wat2wasm(
        f"""(module {imports()}
          (memory (export "memory") {memory})
          {data}
          (func (export "host_alloc") (param i32) (result i32) (i32.const 65536))
          (func (export "run") (result i32) {body}))"""
    )


def sandbox_for(
    wasm: bytes | wasmtime.Module,
    limits: Limits | None = None,
    answer: Callable[[bytes], bytes] = lambda request: request[::-1],
    memory_bytes: int = 64 << 20,
) -> Sandbox:
    """Return a sandbox whose command `guest` runs a module."""
    engine = engine_of_process()
    loaded = wasm if isinstance(wasm, wasmtime.Module) else wasmtime.Module(engine.engine, wasm)

    @command("guest", usage="Usage: guest\nRun a guest.\n", raw=True)
    def guest(ctx: CommandContext, args: Arguments) -> int:
        def streams(running: Guest) -> dict[int, Standard]:
            def describe() -> Stat:
                return Stat(0o010600, 0, 0.0)

            return {
                0: Standard(running.ask, ctx.stdin, None, describe),
                1: Standard(running.ask, None, ctx.stdout, describe),
                2: Standard(running.ask, None, ctx.stderr, describe),
            }

        running = Guest(engine, loaded, ctx, memory_bytes=memory_bytes)
        return running.run(["guest", *args.operands], dict(ctx.env), Image({}), streams, answer)

    return Sandbox(commands=[guest], limits=limits or Limits(timeout=10))
