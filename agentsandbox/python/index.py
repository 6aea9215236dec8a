"""Where packages come from: the host's own distributions, and the index that `pip` asks.

A `PythonRuntime` has two fields for packages, and both are the host's choice. `packages` are there
from the start, read-only, in the guest's `/usr/local/lib/python3.15/site-packages`. `index` is what
`pip install NAME` may take from: a folder with wheels, or a function of the host. A script never
names a place outside its own files.

All host files that `pip` shows to scripts are read in this module.
"""

from __future__ import annotations

import os

from agentsandbox.errors import CommandError
from agentsandbox.python.wheels import (
    PYTHON,
    Wheel,
    WheelError,
    applies,
    free,
    parse_requirement,
    read_entry_points,
    read_headers,
    read_name,
    refuse_native,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from email.message import Message
    from importlib.metadata import Distribution, PackagePath

    from packaging.requirements import Requirement

    Content = bytes | Callable[[], bytes | Awaitable[bytes]]
    Lookup = Callable[[str], "Sequence[Wheelfile] | Awaitable[Sequence[Wheelfile]]"]
    Index = str | os.PathLike[str] | Lookup
    Wait = Callable[[Awaitable[object]], object]
    Elsewhere = Callable[[], tuple[Mapping[str, bytes], Iterable[tuple[str, str]]]]

__all__ = [
    "MOUNT_PATH",
    "STANDARD_LIBRARY",
    "Bundled",
    "Packages",
    "Wheelfile",
    "program_text",
]

MOUNT_PATH = f"/usr/local/lib/python{PYTHON[0]}.{PYTHON[1]}/site-packages"
"""Where the guest sees the packages of its runtime."""

STANDARD_LIBRARY = f"/usr/local/lib/python{PYTHON[0]}{PYTHON[1]}.zip"
"""Where the guest sees its standard library and the packages of the artifact."""

_SUMS = "SHA256SUMS"
_WHEEL_BYTES = 64 << 20
"""The largest wheel that is taken from an index or from the host."""
_UNPACKED_BYTES = 256 << 20
_DISTRIBUTIONS = 200


class Wheelfile:
    """A wheel that an index offers.

    name    the file name, `NAME-VERSION-PYTHON-ABI-PLATFORM.whl`
    data    the bytes, or a function that returns them when the wheel is chosen
    sha256  64 hexadecimal digits; bytes with another digest are refused
    """

    __slots__ = ("data", "name", "sha256")

    def __init__(self, name: str, data: Content, sha256: str) -> None:
        if not (isinstance(name, str) and isinstance(sha256, str)):
            raise TypeError("Wheelfile takes a file name, bytes or a function, and a sha256")
        if not (isinstance(data, bytes) or callable(data)):
            raise TypeError(f"Wheelfile.data takes bytes or a function, not {type(data).__name__}")
        self.name = name
        self.data = data
        self.sha256 = sha256.lower()

    def __repr__(self) -> str:
        return f"Wheelfile({self.name!r}, sha256={self.sha256!r})"


class Bundled:
    """A distribution that is there from the start and cannot be changed by a script."""

    __slots__ = ("headers", "location", "name", "title", "version")

    def __init__(self, headers: Message, location: str) -> None:
        from packaging.utils import canonicalize_name

        self.headers = headers
        self.title = str(headers["Name"])
        self.version = str(headers["Version"])
        self.name: str = canonicalize_name(self.title)
        self.location = location


class Packages:
    """The packages of a runtime; immutable. All is read when it is first asked for.

    packages          paths of pure wheels, and names of distributions that are installed beside
                      the program: those come with what they require
    index             a folder of wheels, or a function from a name in canonical form to the wheels
                      there are; None for no index
    standard_library  the artifact's zip file, whose distributions `pip list` shows

    Raises `TypeError` for values of another type. `files` raises `WheelError` for a package that
    cannot be used; `find` and `fetch` do so for the index.
    """

    __slots__ = (
        "_bundled", "_elsewhere", "_mounted", "_programs", "_tree", "index", "packages", "zip",
    )  # fmt: skip

    def __init__(
        self,
        packages: Iterable[str | os.PathLike[str]] = (),
        index: Index | None = None,
        standard_library: str | os.PathLike[str] | None = None,
    ) -> None:
        if isinstance(packages, (str, bytes)):
            raise TypeError("packages takes a list of paths and names, not one text")
        self.packages = tuple(packages)
        for entry in self.packages:
            if not isinstance(entry, (str, os.PathLike)):
                raise TypeError(f"packages takes paths and names, not {entry!r}")
        if not (index is None or isinstance(index, (str, os.PathLike)) or callable(index)):
            raise TypeError(f"index takes a folder or a function, not {index!r}")
        self.index = index
        self.zip = standard_library
        self._bundled: tuple[Bundled, ...] | None = None
        self._mounted: tuple[Bundled, ...] | None = None
        self._tree: Mapping[str, bytes] | None = None
        self._programs: Mapping[str, tuple[str, str]] | None = None
        self._elsewhere: Elsewhere | None = None

    @classmethod
    def elsewhere(
        cls,
        read: Elsewhere | None,
        programs: Mapping[str, tuple[str, str]],
        index: Index | None,
    ) -> Packages:
        """Return packages that another process has.

        read      returns their files, and of each distribution METADATA and location; None for none
        programs  name → (module, function)
        """
        made = cls((), index)
        if read is not None:
            made.packages = ("elsewhere",)
            made._elsewhere, made._programs = read, programs
        return made

    def beside(self, standard_library: str | os.PathLike[str]) -> Packages:
        """Return the same packages, with the distributions of the artifact."""
        made = Packages((), self.index, standard_library)
        made.packages, made._elsewhere = self.packages, self._elsewhere
        if self._elsewhere is not None:
            made._programs = self._programs
        return made

    def entry_points(self) -> Mapping[str, tuple[str, str]]:
        """Return the programs of `packages`: name → (module, function)."""
        if self._programs is None:
            self._read_packages()
        assert self._programs is not None
        return self._programs

    def files(self) -> Mapping[str, bytes]:
        """Return the content of `packages` by path below `MOUNT_PATH`."""
        if self._tree is None:
            self._read_packages()
        assert self._tree is not None
        return self._tree

    def mounted(self) -> tuple[Bundled, ...]:
        """Return the distributions of `packages`."""
        if self._mounted is None:
            self._read_packages()
        assert self._mounted is not None
        return self._mounted

    def programs(self) -> Mapping[str, str]:
        """Return the programs of `packages` by name: scripts for `/usr/local/bin`."""
        return {name: program_text(*entry) for name, entry in self.entry_points().items()}

    def bundled(self) -> tuple[Bundled, ...]:
        """Return the distributions of the artifact; none without one."""
        if self._bundled is None:
            self._bundled = () if self.zip is None else _distributions_of(self.zip)
        return self._bundled

    def _read_packages(self) -> None:
        if self._elsewhere is not None:
            self._tree, described = self._elsewhere()
            self._mounted = tuple(Bundled(read_headers(text), place) for text, place in described)
            return
        tree = _Tree({one.name for one in self.bundled()})
        for entry in self.packages:
            text = os.fspath(entry)
            if not isinstance(entry, str) or text.endswith(".whl") or os.sep in text:
                tree.add_wheel(text)
            else:
                tree.add_distribution(text)
        self._tree, self._mounted, self._programs = tree.files, tuple(tree.found), tree.programs

    # the index

    def describe(self) -> str:
        """Return one sentence that says which index there is, for a script to read."""
        if self.index is None:
            return "The sandbox has no package index: 'pip list' shows what is there."
        return "Only the index that the host of the sandbox supplies is asked, not PyPI."

    def find(self, name: str, wait: Wait) -> list[Wheelfile]:
        """Return the wheels that the index has of a name, which is in canonical form.

        `wait` runs what an `async` function of the host returns.
        """
        if self.index is None:
            return []
        if isinstance(self.index, (str, os.PathLike)):
            return _wheels_in(os.fspath(self.index), name)
        found = _called(self.index, (name,), f"The index of the sandbox failed for {name}", wait)
        if not isinstance(found, (list, tuple)) or not all(
            isinstance(one, Wheelfile) for one in found
        ):
            raise WheelError(
                f"The index of the sandbox returned {type(found).__name__} for {name}, not a "
                "sequence of Wheelfile"
            )
        return list(found)

    def fetch(self, chosen: Wheelfile, wait: Wait) -> bytes:
        """Return the bytes of a wheel, whose digest is checked."""
        from hashlib import sha256

        data = chosen.data
        if not isinstance(data, bytes):
            failed = f"The index of the sandbox failed for {chosen.name}"
            data = _called(data, (), failed, wait)  # type: ignore[assignment]
        if not isinstance(data, bytes):
            raise WheelError(
                f"The index of the sandbox returned {type(data).__name__} for {chosen.name}, "
                "not bytes"
            )
        if len(data) > _WHEEL_BYTES:
            raise WheelError(f"{chosen.name} is refused: it is larger than {_WHEEL_BYTES} bytes")
        if sha256(data).hexdigest() != chosen.sha256:
            raise WheelError(
                f"{chosen.name} is refused: it does not have the digest that the index gives "
                f"(sha256 {chosen.sha256[:12]}…); the host must correct its index"
            )
        return data


def program_text(module: str, function: str, python: str = "/usr/bin/python3") -> str:
    """Return the script that calls an entry point with `python`."""
    first = function.partition(".")[0]
    return (
        f"#!{python}\n"
        "import sys\n\n"
        f"from {module} import {first}\n\n"
        'if __name__ == "__main__":\n'
        f"    sys.exit({function}())\n"
    )


def _called(
    function: Callable[..., object], words: tuple[str, ...], failed: str, wait: Wait
) -> object:
    """Return what a function of the host returns; an error of it becomes `WheelError`.

    The script learns the kind of the error only: its text may name what is the host's own.
    """
    try:
        answer = function(*words)
        if hasattr(answer, "__await__"):
            answer = wait(answer)
    except (WheelError, CommandError):
        raise
    except Exception as error:
        raise WheelError(f"{failed}: {type(error).__name__}") from error
    return answer


# folders of wheels


def _wheels_in(folder: str, name: str) -> list[Wheelfile]:
    """Return the wheels of `name` in a folder, or in a folder of that name in it.

    With a file SHA256SUMS beside them, a wheel must be listed in it; otherwise the folder is
    trusted as it is.
    """
    from packaging.utils import canonicalize_name

    found: list[Wheelfile] = []
    try:
        with os.scandir(folder) as entries:
            inside = [
                entry.path
                for entry in entries
                if entry.is_dir() and canonicalize_name(entry.name) == name
            ]
        for place in [folder, *sorted(inside)]:
            found += _wheels_directly_in(place, name)
    except OSError as error:
        raise WheelError(
            f"The index of the sandbox cannot be read ({os.strerror(error.errno or 0)}): the "
            "host must correct its folder"
        ) from None
    return found


def _wheels_directly_in(folder: str, name: str) -> list[Wheelfile]:
    from hashlib import sha256

    sums = _sums_of(folder)
    found = []
    for file_name in sorted(os.listdir(folder)):
        if not file_name.endswith(".whl"):
            continue
        try:
            if read_name(file_name).name != name:
                continue
        except WheelError:
            continue
        path = os.path.join(folder, file_name)
        digest = sha256(_read(path)).hexdigest() if sums is None else sums.get(file_name, "")
        found.append(Wheelfile(file_name, _reader_of(path), digest))
    return found


def _reader_of(path: str) -> Callable[[], bytes]:
    return lambda: _read(path)


def _read(path: str) -> bytes:
    """Return a file of the host; `WheelError` if it is too large."""
    with open(path, "rb") as file:
        data = file.read(_WHEEL_BYTES + 1)
    if len(data) > _WHEEL_BYTES:
        raise WheelError(
            f"{os.path.basename(path)} is refused: it is larger than {_WHEEL_BYTES} bytes"
        )
    return data


def _sums_of(folder: str) -> dict[str, str] | None:
    """Return the digests in SHA256SUMS by file name, None without that file."""
    try:
        with open(os.path.join(folder, _SUMS), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return None
    except ValueError:
        raise WheelError("The index of the sandbox has a SHA256SUMS that is no text") from None
    pairs = (line.split(maxsplit=1) for line in lines if line.strip())
    return {pair[1].lstrip("*"): pair[0].lower() for pair in pairs if len(pair) == 2}


# packages of the host


class _Tree:
    """The files of a runtime's packages while they are gathered."""

    __slots__ = ("_done", "_size", "_skipped", "files", "found", "programs")

    def __init__(self, skipped: set[str]) -> None:
        self._skipped = skipped
        """Distributions that the artifact has: they are not needed again as dependencies."""
        self.files: dict[str, bytes] = {}
        self.found: list[Bundled] = []
        self.programs: dict[str, tuple[str, str]] = {}
        self._done: set[str] = set()
        self._size = 0

    def add_wheel(self, path: str) -> None:
        """Add the pure wheel at a path of the host."""
        file_name = os.path.basename(path)
        try:
            wheel = Wheel(file_name, _read(path))
        except OSError as error:
            raise WheelError(
                f"the package {path} cannot be read: {os.strerror(error.errno or 0)}"
            ) from None
        self._begin(wheel.name, file_name)
        for placed in wheel.files:
            content = b"".join(wheel.blocks(placed, free))
            if placed.root == "site":
                self._add(placed.path, content, file_name)
        self._end(Bundled(wheel.headers, MOUNT_PATH), wheel.console_scripts)

    def add_distribution(self, name: str) -> None:
        """Add a distribution that is installed beside the program, and what it requires."""
        pending = [(name, "", frozenset[str]())]
        while pending:
            asked, owner, extras = pending.pop()
            dist = _installed(asked, owner)
            own = _canonical(dist.metadata["Name"])
            if own not in self._done:
                self._add_installed(dist)
            for text in dist.requires or ():
                requirement = _requirement_of(text, dist.metadata["Name"])
                needed = _canonical(requirement.name)
                if (
                    applies(requirement, extras)
                    and needed not in self._skipped
                    and (needed not in self._done or requirement.extras)
                ):
                    pending.append((needed, own, frozenset(requirement.extras)))
            if len(self._done) > _DISTRIBUTIONS:
                raise WheelError(f"the package {name} requires too many others")

    def _add_installed(self, dist: Distribution) -> None:
        title = dist.metadata["Name"]
        owner = f"the installed distribution {title}"
        self._begin(_canonical(title), owner)
        entries = dist.files
        if entries is None:
            raise WheelError(f"{owner} has no RECORD: give the path of its wheel instead")
        _refuse_editable(dist, owner)
        for entry in entries:
            path = entry.as_posix()
            if entry.suffix == ".pyc" or ".." in entry.parts or path.startswith("/"):
                continue
            refuse_native(owner, path)
            self._add(path, _checked(dist, entry, owner), owner)
        points = read_entry_points(dist.read_text("entry_points.txt") or "", owner)
        self._end(Bundled(read_headers(dist.read_text("METADATA") or ""), MOUNT_PATH), points)

    def _begin(self, name: str, owner: str) -> None:
        if name in self._done:
            raise WheelError(f"{owner} is a package of the runtime already, with the name {name}")
        self._done.add(name)

    def _add(self, path: str, content: bytes, owner: str) -> None:
        if path in self.files:
            raise WheelError(f"{owner} has a file {path}, which another package has too")
        self._size += len(content)
        if self._size > _UNPACKED_BYTES:
            raise WheelError(f"the packages are larger than {_UNPACKED_BYTES >> 20} MiB together")
        self.files[path] = content

    def _end(self, found: Bundled, programs: Mapping[str, tuple[str, str]]) -> None:
        self.found.append(found)
        self.programs.update(programs)


def _canonical(name: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)


def _installed(name: str, owner: str) -> Distribution:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(name)
    except (PackageNotFoundError, ValueError):
        by = f", which {owner} requires," if owner else ""
        raise WheelError(
            f"the package {name}{by} is not installed beside the program: install it there, or "
            "give the path of its wheel"
        ) from None


def _requirement_of(text: str, owner: str) -> Requirement:
    try:
        return parse_requirement(text)
    except ValueError as error:
        raise WheelError(
            f"the installed distribution {owner} has a bad METADATA: {error}"
        ) from None


def _refuse_editable(dist: Distribution, owner: str) -> None:
    import json

    text = dist.read_text("direct_url.json")
    if text and json.loads(text).get("dir_info", {}).get("editable"):
        raise WheelError(f"{owner} is an editable installation: build a wheel and give its path")


def _checked(dist: Distribution, entry: PackagePath, owner: str) -> bytes:
    """Return a file of a distribution of the host; its digest must be that of RECORD."""
    from base64 import urlsafe_b64encode
    from hashlib import new

    path = entry.as_posix()
    try:
        content = _read(str(dist.locate_file(entry)))
    except OSError as error:
        raise WheelError(f"{owner} lacks {path}: {os.strerror(error.errno or 0)}") from None
    if entry.hash is None:
        if entry.name == "RECORD":
            return content
        raise WheelError(f"{owner} has no digest for {path}: give the path of its wheel instead")
    if entry.hash.mode not in ("sha256", "sha384", "sha512"):
        raise WheelError(f"{owner} has a {entry.hash.mode} digest, not sha256")
    digest = urlsafe_b64encode(new(entry.hash.mode, content).digest()).rstrip(b"=")
    if digest.decode("ascii") != entry.hash.value:
        raise WheelError(
            f"{owner} was changed: {path} does not have the digest that RECORD gives; install it "
            "again"
        )
    return content


def _distributions_of(path: str | os.PathLike[str]) -> tuple[Bundled, ...]:
    """Return the distributions whose METADATA is in the artifact's zip file."""
    from zipfile import BadZipFile, ZipFile

    from agentsandbox.kernel.streams import decode

    try:
        with ZipFile(path) as archive:
            found = [
                Bundled(read_headers(decode(archive.read(name))), STANDARD_LIBRARY)
                for name in archive.namelist()
                if name.endswith(".dist-info/METADATA")
            ]
    except (OSError, BadZipFile) as error:
        raise WheelError(f"the standard library of the guest cannot be read: {error}") from None
    return tuple(sorted(found, key=lambda one: one.name))
