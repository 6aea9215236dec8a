"""Packs: many objects in one file, most of them as differences (deltas) from others.

`NAME.idx` (version 2) holds a table of 256 counts by first byte, the sorted names, check sums and
offsets; `NAME.pack` the objects. An entry begins with its type and size in groups of seven bits. A
delta names its base by the distance to it in the file, or by its name.

Nothing in the files is trusted: sizes are charged before anything is inflated, chains of deltas are
bounded, and offsets must lie in the file.
"""

from __future__ import annotations

import zlib
from binascii import hexlify
from bisect import bisect_left
from hashlib import sha1

from dulwich.errors import ApplyDeltaError
from dulwich.pack import apply_delta

from agentsandbox.git.errors import Fatal
from agentsandbox.kernel.fs.base import raise_failure
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.base import FileSystem

    class ObjectStore(Protocol):
        """Where the base of a delta is, if not in its pack."""

        budget: Budget

        def read(self, oid: str) -> tuple[str, bytes]: ...


_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _NAME_DELTA = 6, 7
_MOST_DELTAS = 4096


class _Names:
    """The sorted names of an index, as a sequence for `bisect`."""

    __slots__ = ("count", "data", "start")

    def __init__(self, data: bytes, start: int, count: int) -> None:
        self.data = data
        self.start = start
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, at: int) -> bytes:
        return self.data[self.start + 20 * at : self.start + 20 * at + 20]


# TM-GIT-4
class Pack:
    """One pack and its index."""

    def __init__(self, path: str, index: bytes, data: bytes) -> None:
        self.path = path
        self.index = index
        self.data = data
        self.counts = [int.from_bytes(index[8 + 4 * at : 12 + 4 * at], "big") for at in range(256)]
        self.count = self.counts[255]
        self._names = _Names(index, 8 + 1024, self.count)
        self._offsets = 8 + 1024 + 24 * self.count
        self._names_by_offset: dict[int, str] = {}

    def _range(self, first: int) -> tuple[int, int]:
        low = self.counts[first - 1] if first else 0
        return min(low, self.count), min(self.counts[first], self.count)

    def find(self, oid: str) -> int | None:
        """Return the offset of an object, None if it is not here."""
        raw = bytes.fromhex(oid)
        low, high = self._range(raw[0])
        at = bisect_left(self._names, raw, low, high)
        return self.offset(at) if at < high and self._names[at] == raw else None

    def offset(self, at: int) -> int:
        """Return the offset of the object with a number."""
        where = self._offsets + 4 * at
        found = int.from_bytes(self.index[where : where + 4], "big")
        if found & 0x80000000:
            where = self._offsets + 4 * self.count + 8 * (found & 0x7FFFFFFF)
            found = int.from_bytes(self.index[where : where + 8], "big")
        return found

    def names(self) -> Iterator[str]:
        """Yield the names of all objects, sorted."""
        for at in range(self.count):
            yield hexlify(self._names[at]).decode("ascii")

    def with_prefix(self, prefix: str) -> list[str]:
        """Return the names that begin with some digits."""
        raw = bytes.fromhex(prefix.ljust(40, "0"))
        at = bisect_left(self._names, raw, 0, self.count)
        found = []
        while at < self.count:
            name = hexlify(self._names[at]).decode("ascii")
            if not name.startswith(prefix):
                break
            found.append(name)
            at += 1
        return found

    def read(self, oid: str, store: ObjectStore) -> tuple[str, bytes] | None:
        """Return (type, content) of an object, None if it is not here."""
        offset = self.find(oid)
        if offset is None:
            return None
        kind, data = self.read_at(offset, store)
        if sha1(encode(f"{kind} {len(data)}\0") + data).hexdigest() != oid:
            raise Fatal(f"packed object {oid} (stored in {self.path}) is corrupt")
        return kind, data

    def _head(self, offset: int) -> tuple[int, int, int]:
        """Return (type, size, offset of what follows) of the entry at an offset."""
        data = self.data
        if not 12 <= offset < len(data) - 20:
            raise self._corrupt()
        byte = data[offset]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        offset += 1
        while byte & 0x80:
            byte = data[offset]
            size |= (byte & 0x7F) << shift
            shift += 7
            offset += 1
            if shift > 60 or offset >= len(data) - 20:
                raise self._corrupt()
        return kind, size, offset

    def _corrupt(self) -> Fatal:
        return Fatal(f"packfile {self.path} is corrupt")

    def _inflate(self, offset: int, size: int, budget: Budget) -> bytes:
        budget.charge(size)
        budget.step(1 + size // 4096)
        try:
            engine = zlib.decompressobj()
            data = engine.decompress(memoryview(self.data)[offset:], size + 1)
        except zlib.error:
            raise self._corrupt() from None
        if len(data) != size:
            raise self._corrupt()
        return data

    def read_at(self, offset: int, store: ObjectStore) -> tuple[str, bytes]:
        """Return (type, content) of the entry at an offset."""
        deltas: list[bytes] = []
        budget = store.budget
        while True:
            budget.step()
            kind, size, at = self._head(offset)
            if kind in _KINDS:
                name, data = _KINDS[kind], self._inflate(at, size, budget)
                break
            if len(deltas) > _MOST_DELTAS:
                raise self._corrupt()
            if kind == _OFFSET_DELTA:
                distance, at = self._distance(at)
                deltas.append(self._inflate(at, size, budget))
                if not 0 < distance <= offset - 12:
                    raise self._corrupt()
                offset -= distance
            elif kind == _NAME_DELTA:
                base = hexlify(self.data[at : at + 20]).decode("ascii")
                deltas.append(self._inflate(at + 20, size, budget))
                here = self.find(base)
                if here is None:
                    name, data = store.read(base)
                    break
                offset = here
            else:
                raise self._corrupt()
        for delta in reversed(deltas):
            data = self._patched(data, delta, budget)
        return name, data

    def stored(self, offset: int) -> tuple[int, str | None]:
        """Return (size before compression, base of a delta or None) of the entry at an offset."""
        kind, size, at = self._head(offset)
        if kind == _NAME_DELTA:
            return size, hexlify(self.data[at : at + 20]).decode("ascii")
        if kind != _OFFSET_DELTA:
            return size, None
        base = offset - self._distance(at)[0]
        if not self._names_by_offset:
            self._names_by_offset = {self.offset(at): oid for at, oid in enumerate(self.names())}
        if base not in self._names_by_offset:
            raise self._corrupt()
        return size, self._names_by_offset[base]

    def _distance(self, at: int) -> tuple[int, int]:
        data = self.data
        byte = data[at]
        at += 1
        distance = byte & 0x7F
        while byte & 0x80:
            if at >= len(data) or distance > 1 << 60:
                raise self._corrupt()
            byte = data[at]
            at += 1
            distance = (distance + 1) << 7 | byte & 0x7F
        return distance, at

    def _patched(self, base: bytes, delta: bytes, budget: Budget) -> bytes:
        try:
            return patched(base, delta, budget)
        except ValueError:
            raise self._corrupt() from None


def patched(base: bytes, delta: bytes, budget: Budget) -> bytes:
    """Return a content with a delta applied; ValueError if it does not fit."""
    size, at = 0, 0
    for number in range(2):  # the size of the base, then that of the result
        size = shift = 0
        while True:
            if at >= len(delta) or shift > 60:
                raise ValueError("a delta that is cut off")
            byte = delta[at]
            at += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        if number == 0 and size != len(base):
            raise ValueError("a delta for another base")
    budget.charge(size)
    budget.step(1 + size // 4096)
    try:
        return b"".join(apply_delta(base, delta))
    except (AssertionError, IndexError, ApplyDeltaError):
        raise ValueError("a delta that is corrupt") from None


class PackError(Exception):
    """A pack, or its list of names, that cannot be used: (what, its suffix, why)."""

    def __init__(self, what: str, suffix: str, reason: str) -> None:
        super().__init__(what, suffix, reason)
        self.what = "index file" if what == "index" else what
        self.suffix = suffix
        self.reason = reason


def open_pack(fs: FileSystem, path: str, budget: Budget) -> Pack | None:
    """Return the pack with the index at `path`, None without one; PackError if it is unusable."""
    stem = path.removesuffix(".idx")
    try:
        budget.charge(fs.stat(f"{stem}.pack").size)
        index, data = fs.read_bytes(path), fs.read_bytes(f"{stem}.pack")
    except OSError as error:
        raise_failure(error)
        return None
    if len(index) < 8 + 1024 + 40:
        raise PackError("index", ".idx", "is too small")
    if index[:8] != b"\377tOc\0\0\0\2":
        raise PackError("index", ".idx", "is version 1 and is not supported in this sandbox")
    if data[:4] != b"PACK":
        raise PackError("file", ".pack", "is not a GIT packfile")
    if data[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        version = int.from_bytes(data[4:8], "big")
        raise PackError(
            "packfile", ".pack", f"is version {version} and not supported (try upgrading GIT "
            "to a newer version)",
        )  # fmt: skip
    pack = Pack(f"{stem}.pack", index, data)
    if len(index) < 8 + 1024 + 28 * pack.count + 40:
        raise PackError("index", ".idx", "is corrupt")
    if data[-20:] != index[-40:-20]:
        raise PackError("packfile", ".pack", "does not match index")
    return pack
