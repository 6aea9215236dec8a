"""The prelude and a runtime's packages as bytecode, made by the guest when they are prepared.

Bytecode lies in the cache beside the compiled program, in zips whose names hold the digest of the
sources. Without it (a newer release of this package in front of an older cache, a runtime whose
packages were never prepared) guests get the sources, and take longer to start.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from importlib import resources
from time import time

from agentsandbox.contract.command import CommandContext
from agentsandbox.contract.host import Host
from agentsandbox.kernel.budget import Budget
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.processes import Scheduler
from agentsandbox.kernel.streams import Buffer, Null, decode, encode
from agentsandbox.limits import Limits
from agentsandbox.python.artifact import library_of
from agentsandbox.wasm.descriptors import Standard
from agentsandbox.wasm.engine import engine_of_process, trusted, write_file
from agentsandbox.wasm.errors import UnavailableError
from agentsandbox.wasm.system import Image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
_LIMITS = Limits(timeout=_SECONDS)
_COMPILE = f"""
import marshal, os, sys
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
folder, beside = sys.argv[1], sys.argv[2] == "beside"
for here, _, names in os.walk(folder):
    for name in names:
        path = os.path.join(here, name)
        if not name.endswith(".py"):
            continue
        with open(path, "rb") as file:
            source = file.read()
        try:
            code = compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            continue
        made = {_OUT!r} + (cache_from_source(path) if beside else path + "c")[len(folder):]
        facts = (1).to_bytes(4, "little") + source_hash(source) if beside else bytes(12)
        os.makedirs(os.path.dirname(made), exist_ok=True)
        with open(made, "wb") as file:
            file.write(MAGIC_NUMBER + facts + marshal.dumps(code))
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


def _place(artifact: Artifact, cache: Path, kind: str, files: Mapping[str, bytes]) -> Path:
    digest = hashlib.sha256(encode(artifact.digest))
    for name in sorted(files):
        digest.update(b"%b\0%d\0%b" % (encode(name), len(files[name]), files[name]))
    return cache / f"{kind}-{digest.hexdigest()[:32]}.zip"


def _read(place: Path) -> dict[str, bytes] | None:
    if trusted(place) or trusted(place.parent, folder=True):
        return None
    try:
        with zipfile.ZipFile(place) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return None


def prelude_of(artifact: Artifact, cache: Path) -> Mapping[str, bytes]:
    """Return the prelude for guests, by paths below `FOLDER`: bytecode, or else the sources."""
    files = sources()
    return _read(_place(artifact, cache, "prelude", files)) or files


def bytecode_of(
    artifact: Artifact, cache: Path, packages: Mapping[str, bytes]
) -> Mapping[str, bytes]:
    """Return the bytecode of a runtime's packages, by paths beside theirs; none unprepared."""
    return (_read(_place(artifact, cache, "packages", packages)) or {}) if packages else {}


def compile_sources(
    artifact: Artifact, program: Compiled, packages: Mapping[str, bytes], *, signals: bool
) -> None:
    """Write the bytecode of prelude and packages into the compiled program's folder.

    What is there already is kept.
    """
    for kind, files in (("prelude", sources()), ("packages", packages)):
        place = _place(artifact, program.path.parent, kind, files)
        if not files or trusted(place) is None:
            continue
        fs = MemoryFileSystem(_LIMITS)
        fs.makedirs("/tmp")
        library = {artifact.library_path: library_of(artifact)}
        image = Image({**library, **{f"{FOLDER}/{name}": data for name, data in files.items()}})
        beside = "beside" if kind == "packages" else "instead"
        _run(program, fs, image, [FOLDER, beside], signals=signals)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for folder, _, names in fs.walk(_OUT):
                for name in names:
                    path = f"{folder}/{name}"
                    archive.writestr(path.removeprefix(f"{_OUT}/"), fs.read_bytes(path))
        write_file(place, made.getvalue())


def _run(
    program: Compiled, fs: FileSystem, image: Image, words: Sequence[str], *, signals: bool
) -> None:
    """Run the compilation in a guest that has no sandbox around it."""
    from agentsandbox.wasm.guest import Guest as New

    budget = Budget(_LIMITS)
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
        status = guest.run(["python3", "-I", "-c", _COMPILE, *words], {}, image, streams, _refuse)
    finally:
        scheduler.end()
    if status:
        raise UnavailableError(f"the prelude cannot be compiled: {decode(errors.getvalue())}")


def _refuse(*_: object, **__: object) -> NoReturn:
    raise UnavailableError("the prelude is compiled without a sandbox")
