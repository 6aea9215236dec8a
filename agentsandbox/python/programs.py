"""The commands `python3` and `python`: a guest that runs CPython.

The guest's own part is the *prelude* (the folder `prelude`): it reads the options, prepares the
interpreter and runs the script. This file gives it the sandbox: files through WASI (`wasm.system`),
everything else through the door (`door`).
"""

from __future__ import annotations

from agentsandbox.contract.command import command, normalize
from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import Stat
from agentsandbox.kernel.streams import encode
from agentsandbox.python.door import Door
from agentsandbox.wasm.descriptors import Standard
from agentsandbox.wasm.engine import engine_of_process
from agentsandbox.wasm.errors import UnavailableError
from agentsandbox.wasm.system import Image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agentsandbox.contract.command import Arguments, Command, CommandContext
    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.python.runtime import PythonRuntime
    from agentsandbox.wasm.descriptors import Descriptor
    from agentsandbox.wasm.guest import Guest

_EXECUTABLE = "/usr/bin/python3"
_BIN = "/usr/local/bin"
_INTERPRETERS = ("python3", "python")
_SYSTEM = ("/usr/bin/", "/bin/")
_S_IFIFO, _S_IFCHR = 0o010000, 0o020000

_BOOT = """\
import sys
del sys.argv[0]
name = sys.argv[0]
with open(name, "rb") as file:
    data = file.read()
if name.endswith(".pyc"):
    import marshal
    code = marshal.loads(memoryview(data)[16:])
else:
    code = compile(data, name, "exec", dont_inherit=True)
del file, data, name
exec(code)
"""
"""What runs the prelude's first file. The interpreter could run a file itself, but imports
`pkgutil` and what that needs first, a third of the time of a call."""

_USAGE = """
Usage: python3 [OPTION]... [-c CMD | -m MODULE | FILE | -] [ARG]...
Run a Python program.
"""


def program(runtime: PythonRuntime, name: str) -> Command:
    """Return the command `name` of a runtime."""
    made = runtime.programs
    if name not in made:
        for found in _family(runtime, name):
            made[found.name] = found
    return made[name]


def _family(runtime: PythonRuntime, name: str) -> Iterable[Command]:
    """Return the commands that are made together with `name`."""
    if name in _INTERPRETERS:
        return _interpreters(runtime)
    if name in runtime.package_programs():
        return _packaged(runtime)
    from agentsandbox.python.pip import pip_commands
    from agentsandbox.python.uv import uv_commands

    return [*pip_commands(runtime.packages), *uv_commands(runtime.packages)]


def _interpreters(runtime: PythonRuntime) -> Sequence[Command]:
    def run(ctx: CommandContext, args: Arguments) -> int:
        return _guarded(runtime, ctx, args.operands)

    return [command(name, _USAGE, raw=True)(run) for name in _INTERPRETERS]


def _packaged(runtime: PythonRuntime) -> Iterator[Command]:
    """Yield the programs of the runtime's packages, as `pytest`."""
    for name in runtime.packages.programs():

        def run(ctx: CommandContext, args: Arguments, name: str = name) -> int:
            return _guarded(runtime, ctx, [f"{_BIN}/{name}", *args.operands])

        yield command(name, f"Usage: {name} [ARG]...\nRun {name}.\n", raw=True)(run)


def _guarded(runtime: PythonRuntime, ctx: CommandContext, words: Sequence[str]) -> int:
    """Run the interpreter, or say why there is none."""
    try:
        return _run(runtime, ctx, words)
    except UnavailableError as error:
        raise CommandError(f"Python is not available in this sandbox: {error}", 127) from None


def _run(runtime: PythonRuntime, ctx: CommandContext, words: Sequence[str]) -> int:
    place = runtime.ready()
    try:
        from agentsandbox.wasm.guest import Guest
    except (ImportError, OSError) as error:
        raise UnavailableError(f"wasmtime cannot be loaded: {error}") from None
    engine = engine_of_process(runtime.signals)
    module = engine.load(place)
    image, start = _image(runtime)
    executable = _executable(ctx)
    place_of_guest = _PlaceOfGuest(runtime, ctx.host.scheduler)
    door: Door | None = None
    try:
        place_of_guest.take()
        guest = Guest(engine, module, ctx, memory_bytes=runtime.memory_bytes)
        door = Door(runtime, ctx, guest, executable)
        status_code = guest.run(
            [executable, "-c", _BOOT, start, *words],
            {**ctx.env, "PYTHONTZPATH": ""},
            image,
            lambda guest: _streams(guest, ctx),
            door.answer,
        )
        door.leave_children()
    finally:
        if door is not None:
            door.close()
        place_of_guest.give_back()
    if guest.system is not None and guest.system.pictures:
        ctx.host.pictures += guest.system.pictures
    if guest.crash == "stack overflow":
        ctx.warn("the program used up its stack", 0)
    elif guest.crash and guest.crash != "aborted":
        ctx.warn(f"the program ended: {guest.crash}", 0)
    return status_code


class _PlaceOfGuest:
    """One of the places for running programs that a runtime has; waits until there is one."""

    __slots__ = ("_runtime", "_scheduler", "_taken")

    def __init__(self, runtime: PythonRuntime, scheduler: Scheduler) -> None:
        self._runtime = runtime
        self._scheduler = scheduler
        self._taken = False

    def take(self) -> None:
        """Take a place, as soon as there is one."""
        if not self._try():
            self._scheduler.wait_outside(self._try)

    def _try(self) -> bool:
        """Whether it has a place now; the scheduler may ask several times."""
        if not self._taken:
            self._taken = self._runtime.take(self)
        return self._taken

    def __call__(self) -> None:
        """Wake the execution that runs then: a place is free."""
        self._scheduler.budget.call()

    def give_back(self) -> None:
        """Give the place back, or wait for none any more."""
        self._runtime.give_back(self, taken=self._taken)


def _executable(ctx: CommandContext) -> str:
    """Return the path of the interpreter as it was called: that of a venv has its own packages."""
    name = ctx.name
    if "/" in name:
        return normalize(ctx.path(name))
    for folder in ctx.env.get("PATH", "").split(":"):
        path = f"{ctx.path(folder or '.')}/{name}"
        if ctx.fs.is_file(path):
            return _EXECUTABLE if path.startswith(_SYSTEM) else normalize(path)
    return _EXECUTABLE


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


def _image(runtime: PythonRuntime) -> tuple[Image, str]:
    """Return the files of the runtime, the library and the prelude, and the file to run."""
    if isinstance(runtime.image, tuple):
        return runtime.image
    runtime.image = found = _make_image(runtime)
    return found


def _make_image(runtime: PythonRuntime) -> tuple[Image, str]:
    from agentsandbox.python.artifact import data_of, library_of
    from agentsandbox.python.prelude_code import FOLDER, bytecode_of, prelude_of

    artifact = runtime.artifact()
    cache = runtime.ready().path.parent
    prelude = prelude_of(artifact, cache)
    files = {f"{FOLDER}/{name}": data for name, data in prelude.items()}
    if packages := runtime.package_files():
        from agentsandbox.python.index import MOUNT_PATH

        for part in (packages, bytecode_of(artifact, cache, packages)):
            files |= {f"{MOUNT_PATH}/{name}": data for name, data in part.items()}
        programs = runtime.packages.programs()
        files |= {f"{_BIN}/{name}": encode(text) for name, text in programs.items()}
    start = f"{FOLDER}/start.py"
    image = Image({artifact.library_path: library_of(artifact), **files}, data_of(artifact))
    return image, start if start in files else f"{start}c"
