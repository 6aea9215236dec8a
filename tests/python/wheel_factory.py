"""Small wheels, honest and hostile, made with `zipfile`."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence

from agentsandbox.python.index import Wheelfile

WHEEL = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def digest_of(data: bytes, algorithm: str = "sha256") -> str:
    hashed = hashlib.new(algorithm, data).digest()
    return f"{algorithm}={base64.urlsafe_b64encode(hashed).rstrip(b'=').decode()}"


def zipped(members: Sequence[tuple[str | zipfile.ZipInfo, bytes]], *, packed: bool = True) -> bytes:
    """An archive with these members in this order, whatever their names are."""
    made = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return made.getvalue()


def metadata(name: str, version: str, requires: Sequence[str] = (), extra: str = "") -> bytes:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {one}" for one in requires]
    extras = {one.partition("extra ==")[2].strip(" '\"") for one in requires} - {""}
    lines += [f"Provides-Extra: {one}" for one in sorted(extras)]
    return ("\n".join(lines) + "\n" + extra).encode()


def wheel(
    name: str = "demo",
    version: str = "1.0",
    files: Mapping[str, str | bytes] | None = None,
    *,
    requires: Sequence[str] = (),
    scripts: Mapping[str, str] | None = None,
    extra: str = "",
    replace: Mapping[str, bytes | None] | None = None,
    more: Sequence[tuple[str | zipfile.ZipInfo, bytes]] = (),
    listed: bool = True,
    info: str = "",
) -> bytes:
    """A wheel. `replace` changes files of .dist-info by name (None leaves one out), `more` adds
    members as they are; `listed` is whether RECORD lists those too.
    """
    base = info or f"{name.replace('-', '_')}-{version}"
    contents: dict[str, bytes] = {}
    if files is None:
        files = {f"{name.replace('-', '_')}.py": f"VERSION = {version!r}\n"}
    for path, content in files.items():
        contents[path] = content if isinstance(content, bytes) else content.encode()
    own: dict[str, bytes | None] = {
        "METADATA": metadata(name, version, requires, extra),
        "WHEEL": WHEEL,
    }
    if scripts:
        lines = "".join(f"{key} = {value}\n" for key, value in scripts.items())
        own["entry_points.txt"] = f"[console_scripts]\n{lines}".encode()
    own.update(replace or {})
    record = own.pop("RECORD", b"")
    for key, value in own.items():
        if value is not None:
            contents[f"{base}.dist-info/{key}"] = value
    members: list[tuple[str | zipfile.ZipInfo, bytes]] = [*contents.items(), *more]
    if record == b"":
        rows = [f"{path},{digest_of(data)},{len(data)}" for path, data in contents.items()]
        if listed:
            for entry, data in more:
                path = entry if isinstance(entry, str) else entry.filename
                rows.append(f"{path},{digest_of(data)},{len(data)}")
        record = "\n".join([*rows, f"{base}.dist-info/RECORD,,", ""]).encode()
    if record is not None:
        members.append((f"{base}.dist-info/RECORD", record))
    return zipped(members)


def offered(file_name: str, data: bytes) -> Wheelfile:
    return Wheelfile(file_name, data, hashlib.sha256(data).hexdigest())


def file_name(name: str = "demo", version: str = "1.0") -> str:
    return f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


class Shelf:
    """An index in memory, which remembers what it was asked for."""

    def __init__(self) -> None:
        self.wheels: dict[str, list[Wheelfile]] = {}
        self.asked: list[str] = []

    def add(self, name: str, version: str = "1.0", **parts: object) -> Shelf:
        data = wheel(name, version, **parts)  # type: ignore[arg-type]
        self.wheels.setdefault(name, []).append(offered(file_name(name, version), data))
        return self

    def __call__(self, name: str) -> Sequence[Wheelfile]:
        self.asked.append(name)
        return self.wheels.get(name, [])
