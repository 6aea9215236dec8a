"""The commands `python3` and `python`: a guest that runs CPython.

The guest's own part is the *prelude* (the folder `prelude`): it reads the options, prepares the
interpreter and runs the script. This file gives it the sandbox: files through WASI (`wasm.system`),
everything else through the door (`door`).
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from agentsandbox.contract.command import command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import Stat
from agentsandbox.python.door import Door
from agentsandbox.wasm.descriptors import Standard
from agentsandbox.wasm.engine import UnavailableError, engine_of_process
from agentsandbox.wasm.system import Image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentsandbox.contract.command import Arguments, Command, CommandContext
    from agentsandbox.python.artifact import Artifact
    from agentsandbox.python.runtime import PythonRuntime
    from agentsandbox.wasm.descriptors import Descriptor
    from agentsandbox.wasm.guest import Guest

_PRELUDE = "/usr/local/lib/agentsandbox"
_START = f"{_PRELUDE}/start.py"
_EXECUTABLE = "/usr/bin/python3"
_S_IFIFO, _S_IFCHR = 0o010000, 0o020000

_USAGE = """
Usage: python3 [OPTION]... [-c CMD | -m MODULE | FILE | -] [ARG]...
Run a Python program.
"""


def python_commands(runtime: PythonRuntime) -> Sequence[Command]:
    """Return `python3` and `python` for a runtime, the same ones each time."""
    if runtime.made is not None:
        return runtime.made

    def run(ctx: CommandContext, args: Arguments) -> int:
        try:
            return _run(runtime, ctx, args.operands)
        except UnavailableError as error:
            raise CommandError(f"Python is not available in this sandbox: {error}", 127) from None

    manners = Manners(None)
    runtime.made = [
        command(name, _USAGE.replace("python3", name), raw=True, manners=manners)(run)
        for name in ("python3", "python")
    ]
    return runtime.made


def _run(runtime: PythonRuntime, ctx: CommandContext, words: Sequence[str]) -> int:
    status = runtime.status()
    if not status.ready:
        raise UnavailableError(status.reason)
    try:
        from agentsandbox.wasm.guest import Guest
    except (ImportError, OSError) as error:
        raise UnavailableError(f"wasmtime cannot be loaded: {error}") from None
    engine = engine_of_process(runtime.signals)
    module = engine.load(runtime.compiled())
    scheduler = ctx.host.scheduler

    def call() -> None:
        scheduler.budget.call()  # that of the execution that runs then

    if not runtime.take(call):
        scheduler.wait_outside(lambda: runtime.take(call))
    try:
        guest = Guest(engine, module, ctx, memory_bytes=runtime.memory_bytes)
        status_code = guest.run(
            [_EXECUTABLE, _START, *words],
            {**ctx.env, "PYTHONTZPATH": ""},
            _image(runtime.artifact()),
            lambda guest: _streams(guest, ctx),
            Door(runtime, ctx, guest, _EXECUTABLE).answer,
        )
    finally:
        runtime.give_back()
    if guest.crash == "stack overflow":
        ctx.warn("the program used up its stack", 0)
    elif guest.crash and guest.crash != "aborted":
        ctx.warn(f"the program ended: {guest.crash}", 0)
    return status_code


def _streams(guest: Guest, ctx: CommandContext) -> Mapping[int, Descriptor]:
    def describe(stream: object) -> Stat:
        stat = getattr(stream, "stat", None)
        if stat is not None:
            found: Stat = stat()
            return found
        kind = _S_IFCHR | 0o620 if getattr(stream, "is_terminal", False) else _S_IFIFO | 0o600
        return Stat(kind, 0, ctx.host.clock())

    return {
        0: Standard(guest.ask, ctx.stdin, None, lambda: describe(ctx.stdin)),
        1: Standard(guest.ask, None, ctx.stdout, lambda: describe(ctx.stdout)),
        2: Standard(guest.ask, None, ctx.stderr, lambda: describe(ctx.stderr)),
    }


@cache
def _image(artifact: Artifact) -> Image:
    """Return the files of the runtime: the library and the prelude."""
    from agentsandbox.python.artifact import library_of

    files: dict[str, bytes | memoryview] = {artifact.library_path: library_of(artifact)}
    pending = [("", resources.files("agentsandbox.python") / "prelude")]
    while pending:
        prefix, folder = pending.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                pending.append((f"{prefix}/{entry.name}", entry))
            elif entry.name.endswith(".py"):
                files[f"{_PRELUDE}{prefix}/{entry.name}"] = entry.read_bytes()
    return Image(files)
