"""The prelude as bytecode, which the guest makes of its sources when a runtime is prepared.

It lies in the cache beside the compiled program, in a zip whose name holds the digest of the
sources. Without it (a newer release of this package in front of an older cache) guests get the
sources, and every start takes longer.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from importlib import resources
from time import time

from agentsandbox.contract.command import CommandContext, Host
from agentsandbox.kernel.budget import Budget
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.processes import Scheduler
from agentsandbox.kernel.streams import Buffer, Null, decode
from agentsandbox.limits import Limits
from agentsandbox.python.artifact import library_of
from agentsandbox.wasm.descriptors import Standard
from agentsandbox.wasm.engine import UnavailableError, engine_of_process, trusted, write_file
from agentsandbox.wasm.system import Image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import NoReturn

    from agentsandbox.kernel.fs.base import FileSystem, Stat
    from agentsandbox.python.artifact import Artifact
    from agentsandbox.wasm.engine import Compiled
    from agentsandbox.wasm.guest import Guest

FOLDER = "/usr/local/lib/agentsandbox"
"""Where the guest finds the prelude."""

_OUT = "/out"
_SECONDS = 60.0
_MEMORY = 256 << 20
_COMPILE = f"""
import marshal, os
from importlib.util import MAGIC_NUMBER
for folder, _, names in os.walk({FOLDER!r}):
    for name in names:
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        made = {_OUT!r} + path[len({FOLDER!r}):] + "c"
        os.makedirs(os.path.dirname(made), exist_ok=True)
        with open(made, "wb") as file:
            file.write(MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
"""


def sources() -> dict[str, bytes]:
    """Return the files of the prelude by their paths below `FOLDER`."""
    found: dict[str, bytes] = {}
    pending = [("", resources.files("agentsandbox.python") / "prelude")]
    while pending:
        prefix, folder = pending.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                if entry.name != "__pycache__":
                    pending.append((f"{prefix}{entry.name}/", entry))
            elif entry.name.endswith(".py"):
                found[prefix + entry.name] = entry.read_bytes()
    return found


def _place(artifact: Artifact, cache: Path, files: Mapping[str, bytes]) -> Path:
    digest = hashlib.sha256(artifact.digest.encode("ascii"))
    for name in sorted(files):
        digest.update(b"%b\0%d\0%b" % (name.encode("ascii"), len(files[name]), files[name]))
    return cache / f"prelude-{digest.hexdigest()[:32]}.zip"


def prelude_of(artifact: Artifact, cache: Path) -> dict[str, bytes]:
    """Return the prelude for guests, by paths below `FOLDER`: bytecode, or else the sources."""
    files = sources()
    place = _place(artifact, cache, files)
    if trusted(place) or trusted(place.parent, folder=True):
        return files
    try:
        with zipfile.ZipFile(place) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return files


def compile_prelude(artifact: Artifact, program: Compiled, *, signals: bool) -> None:
    """Write the prelude's bytecode into the folder of the compiled program, unless it is there."""
    files = sources()
    place = _place(artifact, program.path.parent, files)
    if trusted(place) is None:
        return
    fs = MemoryFileSystem()
    fs.makedirs("/tmp")
    image = Image(
        {
            artifact.library_path: library_of(artifact),
            **{f"{FOLDER}/{name}": data for name, data in files.items()},
        }
    )
    _run(program, fs, image, signals=signals)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in files:
            archive.writestr(f"{name}c", fs.read_bytes(f"{_OUT}/{name}c"))
    for old in place.parent.glob("prelude-*.zip"):
        old.unlink(missing_ok=True)
    write_file(place, made.getvalue())


def _run(program: Compiled, fs: FileSystem, image: Image, *, signals: bool) -> None:
    """Run the compilation in a guest that has no sandbox around it."""
    from agentsandbox.wasm.guest import Guest as New

    budget = Budget(Limits(timeout=_SECONDS))
    scheduler = Scheduler(budget)
    errors = Buffer(1 << 20)
    ctx = CommandContext(
        "python3", [], stdin=Null(), stdout=errors, stderr=errors, fs=fs, cwd="/", env={},
        budget=budget, run=_refuse, start=_refuse,
        host=Host(clock=time, random=_refuse, scheduler=scheduler),
    )  # fmt: skip
    scheduler.begin(budget)
    engine = engine_of_process(signals)
    guest = New(engine, engine.load(program), ctx, memory_bytes=_MEMORY)

    def describe() -> Stat:
        return fs.stat("/")

    def streams(guest: Guest) -> dict[int, Standard]:
        output = Standard(guest.ask, None, errors, describe)
        return {0: Standard(guest.ask, Null(), None, describe), 1: output, 2: output}

    try:
        status = guest.run(["python3", "-I", "-c", _COMPILE], {}, image, streams, _refuse)
    finally:
        scheduler.end()
    if status:
        raise UnavailableError(f"the prelude cannot be compiled: {decode(errors.getvalue())}")


def _refuse(*_: object, **__: object) -> NoReturn:
    raise UnavailableError("the prelude is compiled without a sandbox")
