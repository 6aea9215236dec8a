"""Wheels: what may be installed into the sandbox, and how it is read.

A wheel is a zip file with a name of five parts, `NAME-VERSION-PYTHON-ABI-PLATFORM.whl`, and with a
directory `NAME-VERSION.dist-info` in it: METADATA (what it is and needs), WHEEL (the format's
version), RECORD (a digest for each file) and perhaps `entry_points.txt`. Files at the top of the
archive go to `site-packages`; files in `NAME-VERSION.data/scripts` (and `purelib`, `platlib`,
`headers`, `data`) go to the other places of an installation.

Nobody vouches for a wheel: a script may have made it. So it is checked in this order, and each
check is cheap beside the next one:

1. the name: tags that the guest's Python accepts, on any platform and without a binary interface;
2. the archive's directory, whose size is bounded before `zipfile` reads it: no name that is
   absolute, has "..", a backslash or a control character; no link; no name twice; no file that is
   also a directory; no native code; sizes within bounds, none encrypted, only stored or deflated;
3. RECORD: it lists every file and nothing else, with SHA-256 or better;
4. the metadata: bounded, of the same name and version as the file;
5. the contents: `verify` reads every file in blocks, with its size and digest.

Whoever installs calls `verify` first, so a wheel that is refused has written nothing.
"""

from __future__ import annotations

from io import BytesIO

from agentsandbox.errors import SandboxError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from email.message import Message
    from typing import Literal
    from zipfile import ZipFile, ZipInfo

    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.tags import Tag
    from packaging.version import Version

    Root = Literal["site", "scripts", "headers", "data"]
    Spend = Callable[[int], object]
    """Called with the number of bytes that are about to be handled; it may raise to stop."""

__all__ = [
    "PYTHON",
    "Placed",
    "Wheel",
    "WheelError",
    "WheelName",
    "applies",
    "free",
    "parse_requirement",
    "read_entry_points",
    "read_headers",
    "read_name",
    "read_record",
    "refuse_native",
]

PYTHON = (3, 15)
"""The version of the guest's Python."""

_BLOCK = 65536
_DIRECTORY_BYTES = 1 << 20
"""The directory of an archive: about 10,000 files. `zipfile` makes an object for each at once."""
_UNPACKED_BYTES = 256 << 20
_RECORD_BYTES = 4 << 20
_METADATA_BYTES = 1 << 20
_LINE = 1000
"""Characters of a line of `entry_points.txt` and of a file's name in the archive: `configparser`
takes quadratic time for a line."""
_REQUIREMENT = 2000
"""Characters of a requirement."""
_REQUIREMENTS = 2000
_NESTING = 16
"""Parentheses in a requirement: `packaging` reads them by recursion."""
_NAME_BYTES = 255

_NATIVE = (".so", ".pyd", ".dylib", ".dll", ".a", ".o", ".lib", ".exe")
_UNLISTED = ("RECORD", "RECORD.jws", "RECORD.p7s")
"""Files of the .dist-info directory that RECORD gives no digest for."""
_ALGORITHMS = ("sha256", "sha384", "sha512")
_ROOTS: Mapping[str, Root] = {
    "purelib": "site",
    "platlib": "site",
    "scripts": "scripts",
    "headers": "headers",
    "data": "data",
}


class WheelError(SandboxError, ValueError):
    """A wheel, or a distribution of the host, cannot be used; the message names it and the way
    out.
    """


def free(size: int) -> None:
    """Spend nothing: for wheels that the host reads for itself."""


class WheelName:
    """The parsed name of a wheel's file. `name` is in its canonical form ("Foo.Bar": "foo-bar")."""

    __slots__ = ("file_name", "name", "tags", "version")

    def __init__(self, file_name: str, name: str, version: Version, tags: frozenset[Tag]) -> None:
        self.file_name = file_name
        self.name = name
        self.version = version
        self.tags = tags

    def problem(self) -> str | None:
        """Return why the guest cannot run it, without its name; None if it can."""
        from packaging.tags import compatible_tags

        interpreter = f"cp{PYTHON[0]}{PYTHON[1]}"
        known = {*compatible_tags(PYTHON, interpreter, ["any"])}
        if known & self.tags:
            return None
        shown = min(str(tag) for tag in self.tags)
        if all(tag.platform == "any" and tag.abi == "none" for tag in self.tags):
            return f"is for another Python ({shown}), and the sandbox has {interpreter}"
        return (
            f"has native code ({shown}), which the sandbox cannot run: use a pure wheel "
            "(py3-none-any) or a package that 'pip list' shows"
        )


def read_name(file_name: str) -> WheelName:
    """Return the parts of a wheel's file name; `WheelError` if it is not a wheel's name."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    if len(file_name) > _NAME_BYTES or not file_name.isprintable() or "/" in file_name:
        raise WheelError(f"{file_name[:80]!r} is not the name of a wheel")
    try:
        name, version, _, tags = parse_wheel_filename(file_name)
    except (InvalidWheelFilename, ValueError):
        raise WheelError(
            f"{file_name} is not the name of a wheel: it must be "
            "NAME-VERSION-PYTHON-ABI-PLATFORM.whl"
        ) from None
    return WheelName(file_name, name, version, tags)


class Placed:
    """A file of a wheel and where it goes: `path` is relative to the `root`."""

    __slots__ = ("algorithm", "digest", "info", "is_program", "path", "root")

    def __init__(self, root: Root, path: str, info: ZipInfo, algorithm: str, digest: bytes) -> None:
        self.root = root
        self.path = path
        self.info = info
        self.algorithm = algorithm
        """The hash of `digest`; "" for a file that RECORD does not list."""
        self.digest = digest
        self.is_program = bool(info.external_attr >> 16 & 0o111)


# TM-GUEST-6
class Wheel:
    """A wheel that passed all checks but that of its contents, which `verify` makes.

    `data` are the bytes of the file. Raises `WheelError`. `spend` is called while reading.
    """

    __slots__ = (
        "_archive", "console_scripts", "dist_info", "file_name", "files", "headers", "name",
        "requires", "requires_python", "sha256", "size", "title", "version",
    )  # fmt: skip

    def __init__(self, file_name: str, data: bytes, spend: Spend = free) -> None:
        named = read_name(file_name)
        if problem := named.problem():
            raise WheelError(f"{file_name} {problem}")
        self.file_name = file_name
        self.size = len(data)
        self.sha256 = _sha256(data, spend)
        self.name = named.name
        self.version = named.version
        self._archive = _open_archive(file_name, data, spend)
        members = _checked_members(file_name, self._archive)
        self.dist_info = _dist_info(named, members)
        spend(len(members) * 1024)
        self.files = self._place(members, spend)
        self.headers = self._read_metadata(members, spend)
        self.title = str(self.headers["Name"])
        self.requires = self._read_requirements(spend)
        self.requires_python = self._read_requires_python()
        points = members.get(f"{self.dist_info}/entry_points.txt")
        text = "" if points is None else decode(self._small(points, _METADATA_BYTES, spend))
        self.console_scripts = read_entry_points(text, file_name)
        """The names of programs to make, each with its module and its function."""

    def verify(self, spend: Spend = free) -> None:
        """Read all contents and compare them with RECORD; raises `WheelError`."""
        for placed in self.files:
            for block in self.blocks(placed, spend):
                del block

    def blocks(self, placed: Placed, spend: Spend = free) -> Iterator[bytes]:
        """Yield the content of a file, whose digest is checked at its end."""
        from hashlib import new

        hashed = new(placed.algorithm) if placed.algorithm else None
        size = 0
        for block in self._blocks(placed.info, spend):
            size += len(block)
            if hashed is not None:
                hashed.update(block)
            yield block
        if size != placed.info.file_size:
            raise WheelError(f"{self.file_name} is damaged: {placed.info.filename} ends too early")
        if hashed is not None and hashed.digest() != placed.digest:
            raise WheelError(
                f"{self.file_name} is damaged or was changed: {placed.info.filename} does not "
                "have the digest that RECORD gives; get the wheel again"
            )

    def _blocks(self, info: ZipInfo, spend: Spend) -> Iterator[bytes]:
        try:
            with self._archive.open(info) as member:
                while True:
                    spend(_BLOCK)
                    block = member.read(_BLOCK)
                    if not block:
                        return
                    yield block
        except _damages() as error:
            raise _damaged(self.file_name, error) from None

    def _small(self, info: ZipInfo, most: int, spend: Spend) -> bytes:
        if info.file_size > most:
            raise WheelError(
                f"{self.file_name} is refused: its {info.filename} has {info.file_size} bytes"
            )
        return b"".join(self._blocks(info, spend))

    def _place(self, members: Mapping[str, ZipInfo], spend: Spend) -> tuple[Placed, ...]:
        """Return where each file goes, with its digest from RECORD, which must list all."""
        record = members.get(f"{self.dist_info}/RECORD")
        if record is None:
            raise WheelError(f"{self.file_name} is not a wheel: it has no {self.dist_info}/RECORD")
        text = decode(self._small(record, _RECORD_BYTES, spend))
        digests = read_record(text, self.file_name)
        unlisted = {f"{self.dist_info}/{name}" for name in _UNLISTED}
        data = f"{self.dist_info.removesuffix('.dist-info')}.data"
        files = []
        taken: dict[tuple[str, str], str] = {}
        for name, info in members.items():
            listed = digests.pop(name, None)
            algorithm, digest = listed or ("", b"")
            if not algorithm and name not in unlisted:
                raise WheelError(
                    f"{self.file_name} is refused: its RECORD has no digest for {name}"
                )
            root, path = self._destination(name, data)
            _claim(taken, root, path, self.file_name)
            files.append(Placed(root, path, info, algorithm, digest))
        missing = [name for name in digests if name not in unlisted]
        if missing:
            raise WheelError(
                f"{self.file_name} is damaged: RECORD lists {missing[0]}, which is not in it"
            )
        return tuple(files)

    def _destination(self, name: str, data: str) -> tuple[Root, str]:
        """Return the root and the path in it of a member."""
        first, _, rest = name.partition("/")
        if first != data:
            if first.endswith(".data") and rest:
                raise WheelError(f"{self.file_name} is refused: {first} belongs to another wheel")
            return "site", name
        kind, _, path = rest.partition("/")
        root = _ROOTS.get(kind)
        if root is None or not path:
            raise WheelError(f"{self.file_name} is refused: {name} has no place to go to")
        if root == "scripts" and "/" in path:
            raise WheelError(f"{self.file_name} is refused: the script {name} is in a directory")
        return root, path

    def _read_metadata(self, members: Mapping[str, ZipInfo], spend: Spend) -> Message:
        found = {}
        for name in ("WHEEL", "METADATA"):
            info = members.get(f"{self.dist_info}/{name}")
            if info is None:
                raise WheelError(
                    f"{self.file_name} is not a wheel: it has no {self.dist_info}/{name}"
                )
            found[name] = read_headers(decode(self._small(info, _METADATA_BYTES, spend)))
        release = str(found["WHEEL"].get("Wheel-Version", ""))
        if release.partition(".")[0] != "1":
            raise WheelError(
                f"{self.file_name} is refused: its Wheel-Version is {release[:20]!r}, not 1.x"
            )
        headers = found["METADATA"]
        if not _is_called(headers, self.name, self.version):
            raise WheelError(
                f"{self.file_name} is refused: its METADATA is that of "
                f"{str(headers.get('Name'))[:80]!r} {str(headers.get('Version'))[:80]!r}"
            )
        return headers

    def _read_requirements(self, spend: Spend) -> tuple[Requirement, ...]:
        texts = [str(text) for text in self.headers.get_all("Requires-Dist") or ()]
        if len(texts) > _REQUIREMENTS:
            raise WheelError(f"{self.file_name} is refused: it has {len(texts)} requirements")
        found = []
        for text in texts:
            spend(_BLOCK)
            try:
                found.append(parse_requirement(text))
            except ValueError as error:
                raise WheelError(f"{self.file_name} is refused: {error}") from None
        return tuple(found)

    def _read_requires_python(self) -> SpecifierSet | None:
        from packaging.specifiers import SpecifierSet

        text = self.headers.get("Requires-Python")
        if text is None:
            return None
        try:
            return SpecifierSet(str(text)[:_REQUIREMENT])
        except ValueError:
            raise WheelError(
                f"{self.file_name} is refused: its Requires-Python is {str(text)[:80]!r}"
            ) from None


# the archive


def _sha256(data: bytes, spend: Spend) -> str:
    from hashlib import sha256

    hashed = sha256()
    view = memoryview(data)
    for start in range(0, len(data), 16 * _BLOCK):
        spend(_BLOCK)
        hashed.update(view[start : start + 16 * _BLOCK])
    return hashed.hexdigest()


class _BoundedFile(BytesIO):
    """The bytes of an archive, whose directory may only be so long."""

    def read(self, size: int | None = -1, /) -> bytes:
        block = super().read(_DIRECTORY_BYTES + 1 if size is None or size < 0 else size)
        if len(block) > _DIRECTORY_BYTES:
            raise ValueError("its directory has too many entries")
        return block


def _damages() -> tuple[type[Exception], ...]:
    """Return what `zipfile` raises for archives that are damaged, or made to look so."""
    import struct
    import zlib
    from zipfile import BadZipFile

    return (
        BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError, ValueError,
        struct.error, OSError, OverflowError, IndexError,
    )  # fmt: skip


def _damaged(file_name: str, error: Exception) -> WheelError:
    if isinstance(error, WheelError):
        return error
    reason = str(error).partition("\n")[0][:120]
    return WheelError(f"{file_name} is damaged or no zip file ({reason}): get the wheel again")


def _open_archive(file_name: str, data: bytes, spend: Spend) -> ZipFile:
    from zipfile import ZipFile

    spend(min(len(data), _DIRECTORY_BYTES))
    try:
        return ZipFile(_BoundedFile(data))
    except _damages() as error:
        raise _damaged(file_name, error) from None


def _checked_members(file_name: str, archive: ZipFile) -> dict[str, ZipInfo]:
    """Return the files of an archive by name, all of them harmless to unpack."""
    found: dict[str, ZipInfo] = {}
    total = 0
    for info in archive.infolist():
        problem = _problem(info)
        if problem is None and info.filename in found:
            problem = "is in it twice"
        if problem is not None:
            raise WheelError(f"{file_name} is refused: {info.orig_filename[:80]!r} {problem}")
        if info.filename.endswith("/"):
            continue
        refuse_native(file_name, info.filename)
        total += info.file_size
        if total > _UNPACKED_BYTES:
            raise WheelError(
                f"{file_name} is refused: it unpacks to more than {_UNPACKED_BYTES >> 20} MiB"
            )
        found[info.filename] = info
    return found


def _problem(info: ZipInfo) -> str | None:
    """Return what makes an entry of an archive unsafe, None for a harmless one."""
    import stat

    kind = stat.S_IFMT(info.external_attr >> 16)
    is_directory = info.filename.endswith("/")  # `is_dir` raises for an empty name
    if kind == stat.S_IFLNK:
        return "is a symbolic link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a special file"
    if not _is_safe(info.orig_filename, is_directory) or info.orig_filename != info.filename:
        return "is not a path inside the wheel"
    if info.flag_bits & 1:
        return "is encrypted"
    if info.compress_type not in (0, 8):
        return "is compressed by another method than deflate"
    if is_directory and info.file_size:
        return "is a directory with content"
    if info.compress_size > info.file_size + info.file_size // 64 + 1024:
        return "is larger packed than unpacked"
    return None


def _is_safe(name: str, is_directory: bool) -> bool:
    """Whether a name stays below the directory that it is unpacked in."""
    if len(name) > _LINE or "\\" in name or not name.isprintable():
        return False
    parts = (name[:-1] if is_directory else name).split("/")
    return all(
        part not in ("", ".", "..") and len(encode(part)) <= _NAME_BYTES for part in parts
    ) and not (len(parts[0]) > 1 and parts[0][1] == ":")


def refuse_native(owner: str, name: str) -> None:
    """Raise `WheelError` if a file of `owner` is native code by its name."""
    last = name.rpartition("/")[2].lower()
    if last.endswith(_NATIVE) or ".so." in last:
        raise WheelError(
            f"{owner} has native code ({name}), which the sandbox cannot run: use a pure wheel "
            "(py3-none-any) or a package that 'pip list' shows"
        )


def _dist_info(named: WheelName, members: Mapping[str, ZipInfo]) -> str:
    """Return the name of the only .dist-info directory, which must be the wheel's own."""
    from packaging.utils import canonicalize_name

    found = sorted({
        first
        for first, slash, _ in (name.partition("/") for name in members)
        if slash and first.endswith(".dist-info")
    })  # fmt: skip
    if len(found) != 1:
        held = "no .dist-info directory" if not found else f"{found[0]} and {found[1]}"
        raise WheelError(f"{named.file_name} is refused: it has {held}")
    name, _, version = found[0].removesuffix(".dist-info").rpartition("-")
    if canonicalize_name(name) != named.name or not _is_version(version, named.version):
        raise WheelError(f"{named.file_name} is refused: {found[0]} is that of another wheel")
    return found[0]


def _claim(taken: dict[tuple[str, str], str], root: str, path: str, file_name: str) -> None:
    """Note that a path is a file and its parents are directories; refuse what contradicts that."""
    steps = path.split("/")
    for count in range(1, len(steps) + 1):
        here = (root, "/".join(steps[:count]))
        kind = "file" if count == len(steps) else "directory"
        before = taken.get(here)
        if before is not None and "file" in (kind, before):
            raise WheelError(f"{file_name} is refused: it has {here[1]!r} twice")
        taken[here] = kind


# texts


def read_record(text: str, owner: str) -> dict[str, tuple[str, bytes]]:
    """Return the hash algorithm and digest of each path in a RECORD, ("", b"") without one."""
    import csv
    from base64 import urlsafe_b64decode

    found: dict[str, tuple[str, bytes]] = {}
    try:
        for row in csv.reader(text.splitlines()):
            if not row:
                continue
            name, value = row[0], row[1] if len(row) > 1 else ""
            if name in found:
                raise WheelError(f"{owner} is refused: its RECORD lists {name[:80]!r} twice")
            algorithm, _, digest = value.partition("=")
            if value and algorithm not in _ALGORITHMS:
                raise WheelError(
                    f"{owner} is refused: its RECORD uses {algorithm[:20]!r}, not sha256"
                )
            padded = digest + "=" * (-len(digest) % 4)
            found[name] = (algorithm, urlsafe_b64decode(padded.encode("ascii")))
    except WheelError:
        raise
    except (csv.Error, ValueError) as error:
        raise WheelError(f"{owner} is refused: its RECORD cannot be read ({error})") from None
    return found


def read_headers(text: str) -> Message:
    """Return the headers of METADATA or WHEEL; the body is not looked at."""
    from email.parser import HeaderParser

    return HeaderParser().parsestr(text)


def _is_version(text: str, version: Version) -> bool:
    from packaging.version import Version

    try:
        return len(text) <= _NAME_BYTES and Version(text) == version
    except ValueError:
        return False


def _is_called(headers: Message, name: str, version: Version) -> bool:
    from packaging.utils import canonicalize_name

    title, release = str(headers.get("Name", "")), str(headers.get("Version", ""))
    return (
        len(title) <= _NAME_BYTES
        and canonicalize_name(title) == name
        and _is_version(release, version)
    )


def read_entry_points(text: str, owner: str) -> dict[str, tuple[str, str]]:
    """Return the programs that `entry_points.txt` asks for: name → (module, function)."""
    from configparser import ConfigParser, Error

    lines = text.splitlines()
    if any(len(line) > _LINE for line in lines):
        raise WheelError(f"{owner} is refused: a line of its entry_points.txt is too long")
    parser = ConfigParser(delimiters=("=",), interpolation=None, default_section="\0")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    try:
        parser.read_string(text)
    except Error:
        raise WheelError(f"{owner} is refused: its entry_points.txt cannot be read") from None
    found: dict[str, tuple[str, str]] = {}
    for section in ("console_scripts", "gui_scripts"):
        if not parser.has_section(section):
            continue
        for name, value in parser.items(section):
            module, _, function = value.partition("[")[0].strip().partition(":")
            if not (_is_program(name) and _is_dotted(module) and _is_dotted(function)):
                raise WheelError(
                    f"{owner} is refused: its entry point {name[:80]!r} is not a program"
                )
            found[name] = (module.strip(), function.strip())
    return found


def _is_program(name: str) -> bool:
    return _is_safe(name, is_directory=False) and "/" not in name and not name.startswith("-")


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.strip().split("."))


def parse_requirement(text: str) -> Requirement:
    """Return a requirement such as `name[extra]>=1; python_version < "4"`; `ValueError` if not."""
    from packaging.requirements import Requirement

    if len(text) > _REQUIREMENT or text.count("(") > _NESTING:
        raise ValueError(f"the requirement {text[:40]!r}… is too long or too deeply nested")
    try:
        return Requirement(text)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"Invalid requirement: {text[:200]!r}: {reason}") from None


def applies(requirement: Requirement, extras: Iterable[str] = ()) -> bool:
    """Whether a requirement counts in the guest, if these extras of its owner were asked for."""
    marker = requirement.marker
    if marker is None:
        return True
    environment = _environment()
    wanted: Sequence[str] = [*extras] or [""]
    try:
        return any(marker.evaluate({**environment, "extra": extra}) for extra in wanted)
    except ValueError:
        return False


def _environment() -> dict[str, str]:
    """Return the marker variables of the guest, all of them: `packaging` adds the host's."""
    short = f"{PYTHON[0]}.{PYTHON[1]}"
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{short}.0",
        "os_name": "posix",
        "platform_machine": "wasm32",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": f"{short}.0",
        "python_version": short,
        "sys_platform": "linux",
    }
