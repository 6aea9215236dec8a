"""Packs on their way: which objects another repository lacks, a pack of them, and a pack received.

Objects are copied so that what an object names is there before it: blobs, then trees from the
leaves, then commits from the oldest. So an object that is present stands for all that it reaches,
even if a command was killed half-way, and the walk stops at it.

A pack that comes from outside is read once from its beginning. Each entry says how large its
content is; that is charged to the budget before anything is inflated, and more is never inflated.
Deltas are applied afterwards, in chains that are bounded; the name of every object is computed, not
believed. As in git, a small pack becomes loose objects and a large one is kept with a new index;
bases that a "thin" pack leaves out are added to it.
"""

from __future__ import annotations

import zlib
from binascii import crc32, hexlify
from hashlib import sha1

from agentsandbox.git.errors import Fatal
from agentsandbox.git.objects import SUBMODULE, is_directory, object_name, parse_tree
from agentsandbox.git.packs import Pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.git.objects import ObjectStore
    from agentsandbox.git.repository import Repository
    from agentsandbox.kernel.budget import Budget

_NUMBERS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_DELTAS = (6, 7)
_UNPACK_LIMIT = 100
_MOST_OBJECTS = 5_000_000
_KEPT_BYTES = 8 << 20
_PIECE = 1 << 16


# what is missing


class Missing:
    """The objects that one repository lacks of what another one has."""

    def __init__(self, source: Repository, target: ObjectStore | frozenset[str] | None) -> None:
        self.source = source
        self.target = target
        self.commits: list[str] = []
        self.tags: list[str] = []
        self.contents: list[str] = []
        """Trees and blobs, each tree before what it holds."""
        self.shallow: set[str] = set()
        """Commits whose parents are not sent, because of a depth."""
        self.deepened: set[str] = set()
        """Commits within the depth, whose parents are sent."""
        self._seen: set[str] = set()

    def _has(self, oid: str) -> bool:
        return self.target is not None and oid in self.target

    def add(self, wanted: Iterable[str], depth: int | None = None) -> None:
        """Add what is reached from some objects, through at most `depth` commits."""
        objects = self.source.objects
        level: list[str] = []
        for oid in wanted:
            while oid not in self._seen:
                kind = objects.type_of(oid)
                if kind != "tag":
                    break
                self._seen.add(oid)
                if not self._has(oid):
                    self.tags.append(oid)
                oid = objects.tag(oid).object
            if oid in self._seen:
                continue
            if objects.type_of(oid) == "commit":
                level.append(oid)
            elif not self._has(oid):
                self._add_content(oid, is_tree=objects.type_of(oid) == "tree")
        self._add_commits(level, depth)

    def _add_commits(self, level: list[str], depth: int | None) -> None:
        objects, budget = self.source.objects, self.source.git.budget
        number = 0
        while level:
            number += 1
            following: list[str] = []
            for oid in level:
                budget.step()
                if oid in self._seen or (depth is None and self._has(oid)):
                    continue
                self._seen.add(oid)
                if not self._has(oid):
                    self.commits.append(oid)
                tree = objects.commit(oid).tree
                if not self._has(tree):
                    self._add_content(tree, is_tree=True)
                parents = self.source.parents(oid)
                if depth is not None and number >= depth:
                    self.shallow.add(oid)
                    continue
                self.deepened.add(oid)
                following += parents
            level = following

    def _add_content(self, oid: str, *, is_tree: bool) -> None:
        objects, seen = self.source.objects, self._seen
        if oid in seen:
            return
        seen.add(oid)
        self.contents.append(oid)
        if not is_tree:
            return
        pending = [oid]
        while pending:
            for _, mode, each in objects.tree(pending.pop()):
                if mode == SUBMODULE or each in seen:
                    continue
                seen.add(each)
                if self._has(each):
                    continue
                self.contents.append(each)
                if is_directory(mode):
                    pending.append(each)

    def names(self) -> list[str]:
        """Return the missing objects, each one behind what it names."""
        return [*reversed(self.contents), *self._oldest_first(), *reversed(self.tags)]

    def _oldest_first(self) -> list[str]:
        """Return the commits so that parents come first."""
        wanted = set(self.commits)
        done: set[str] = set()
        out: list[str] = []
        for start in self.commits:
            stack = [(start, False)]
            while stack:
                oid, is_ready = stack.pop()
                self.source.git.budget.step()
                if is_ready:
                    out.append(oid)
                elif oid not in done:
                    done.add(oid)
                    stack.append((oid, True))
                    for parent in self.source.parents(oid):
                        if parent in wanted and parent not in done:
                            stack.append((parent, False))
        return out


def missing_beyond(
    source: Repository, tips: Iterable[str], theirs: Iterable[str], depth: int | None = None
) -> Missing:
    """Return what is reached from some objects and not from what the other side has.

    What it has is known by name only: of the rest nobody but the other side knows.
    """
    known = Missing(source, None)
    known.add([oid for oid in theirs if oid in source.objects])
    missing = Missing(source, frozenset(known.names()))
    missing.add(tips, depth)
    return missing


def copy_objects(source: ObjectStore, target: Repository, names: list[str]) -> None:
    """Copy objects to another repository: loose if they are few, else in one pack."""
    if len(names) < _UNPACK_LIMIT:
        for oid in names:
            kind, data = source.read(oid)
            target.objects.write(kind, data)
        return
    data, index = make_pack(source, names)
    place_pack(target, data, index)


# writing


def _entry_head(number: int, size: int) -> bytes:
    byte = number << 4 | size & 15
    size >>= 4
    out = bytearray()
    while size:
        out.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    out.append(byte)
    return bytes(out)


def make_pack(store: ObjectStore, names: list[str]) -> tuple[bytes, bytes]:
    """Return (pack, index) with some objects, each one whole."""
    parts = [b"PACK\0\0\0\2" + len(names).to_bytes(4, "big")]
    where: list[tuple[str, int, int]] = []
    offset = 12
    # what comes last here is what git puts first: the newest commits
    for oid in reversed(names):
        kind, data = store.read(oid)
        packed = _entry_head(_NUMBERS[kind], len(data)) + zlib.compress(data)
        store.budget.charge(offset + len(packed))
        where.append((oid, offset, crc32(packed)))
        parts.append(packed)
        offset += len(packed)
    body = b"".join(parts)
    trailer = sha1(body).digest()
    return body + trailer, make_index(where, trailer)


def make_index(entries: list[tuple[str, int, int]], trailer: bytes) -> bytes:
    """Return an index (version 2) for (name, offset, check sum) of a pack's entries."""
    entries = sorted(entries)
    counts = [0] * 256
    for oid, _, _ in entries:
        counts[int(oid[:2], 16)] += 1
    total = 0
    parts = [b"\377tOc\0\0\0\2"]
    for count in counts:
        total += count
        parts.append(total.to_bytes(4, "big"))
    parts += [bytes.fromhex(oid) for oid, _, _ in entries]
    parts += [check.to_bytes(4, "big") for _, _, check in entries]
    large: list[bytes] = []
    for _, offset, _ in entries:
        if offset < 0x80000000:
            parts.append(offset.to_bytes(4, "big"))
        else:
            parts.append((0x80000000 | len(large)).to_bytes(4, "big"))
            large.append(offset.to_bytes(8, "big"))
    body = b"".join(parts + large) + trailer
    return body + sha1(body).digest()


def place_pack(repository: Repository, data: bytes, index: bytes) -> str:
    """Write a pack with its index into a repository and return its name."""
    fs, umask = repository.fs, repository.git.ctx.umask
    name = hexlify(data[-20:]).decode("ascii")
    stem = f"{repository.objects.folder}/pack/pack-{name}"
    fs.makedirs(stem.rpartition("/")[0], 0o777 & ~umask)
    repository.git.budget.step(1 + len(data) // 4096)
    for ending, content in ((".pack", data), (".idx", index)):
        if not fs.exists(stem + ending):
            draft = f"{stem}.tmp"
            fs.write_bytes(draft, content, permissions=0o444 & ~umask)
            fs.rename(draft, stem + ending)
    repository.objects.forget_packs()
    return name


# reading


class _Incoming(Pack):
    """A pack without an index, while it is read."""

    def __init__(self, data: bytes, store: ObjectStore) -> None:
        self.path = "(received)"
        self.data = data
        self.store = store
        self.known: dict[str, int] = {}
        self.kept: dict[int, tuple[str, bytes]] = {}
        self.kept_size = 0
        self.missing: list[str] = []

    def find(self, oid: str) -> int | None:
        return self.known.get(oid)

    def read_at(self, offset: int, store: object) -> tuple[str, bytes]:
        """Return (type, content) at an offset; some contents are kept."""
        found = self.kept.get(offset)
        if found is None:
            found = self._resolve(offset)
            if self.kept_size > _KEPT_BYTES:
                self.kept.clear()
                self.kept_size = 0
            self.kept[offset] = found
            self.kept_size += len(found[1]) + 100
        return found

    def _resolve(self, offset: int) -> tuple[str, bytes]:
        """Apply the deltas from the nearest content that is kept."""
        budget = self.store.budget
        deltas: list[bytes] = []
        while True:
            budget.step()
            found = self.kept.get(offset)
            if found is not None:
                kind, data = found
                break
            number, size, at = self._head(offset)
            if number not in _DELTAS:
                return (
                    super().read_at(offset, self.store)
                    if not deltas
                    else self._applied(super().read_at(offset, self.store), deltas)
                )
            if len(deltas) > 4096:
                raise self._corrupt()
            if number == 6:
                distance, at = self._distance(at)
                if not 0 < distance <= offset - 12:
                    raise self._corrupt()
                base: int | None = offset - distance
            else:
                name = hexlify(self.data[at : at + 20]).decode("ascii")
                at += 20
                base = self.known.get(name)
                if base is None:
                    deltas.append(self._inflate(at, size, budget))
                    return self._applied(self.store.read(name), deltas)
            deltas.append(self._inflate(at, size, budget))
            assert base is not None
            offset = base
        return self._applied((kind, data), deltas)

    def _applied(self, base: tuple[str, bytes], deltas: list[bytes]) -> tuple[str, bytes]:
        kind, data = base
        for delta in reversed(deltas):
            data = self._patched(data, delta, self.store.budget)
        return kind, data

    def end_of(self, at: int, size: int, budget: Budget) -> int:
        """Return where the deflated content of an entry ends; it must have the given size."""
        budget.charge(size)
        budget.step(1 + size // 4096)
        engine = zlib.decompressobj()
        view = memoryview(self.data)
        made = 0
        stop = len(self.data) - 20
        try:
            while not engine.eof:
                piece = view[at : min(at + _PIECE, stop)]
                if not piece:
                    raise self._corrupt()
                made += len(engine.decompress(piece, size + 1 - made))
                if made > size:
                    raise self._corrupt()
                rest = len(engine.unused_data) if engine.eof else len(engine.unconsumed_tail)
                if rest == len(piece) and not engine.eof:
                    raise self._corrupt()
                at += len(piece) - rest
        except zlib.error:
            raise self._corrupt() from None
        if made != size:
            raise self._corrupt()
        return at


def receive_pack(repository: Repository, data: bytes) -> list[str]:
    """Take the objects of a pack into a repository and return their names; Fatal if corrupt."""
    store, budget = repository.objects, repository.git.budget
    if len(data) < 32 or data[:4] != b"PACK":
        raise Fatal("protocol error: bad pack header")
    if data[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        raise Fatal("unknown pack file version")
    if sha1(memoryview(data)[:-20]).digest() != data[-20:]:
        raise Fatal("pack is corrupted (SHA1 mismatch)")
    count = int.from_bytes(data[8:12], "big")
    if count > _MOST_OBJECTS or count * 8 > len(data):
        raise Fatal("pack has a bad object count")
    pack = _Incoming(data, store)
    offsets, checks, at = [], [], 12
    for _ in range(count):
        number, size, start = pack._head(at)
        offsets.append(at)
        if number == 6:
            _, start = pack._distance(start)
        elif number == 7:
            start += 20
        elif number not in _NUMBERS.values():
            raise Fatal(f"unknown object type {number}")
        end = pack.end_of(start, size, budget)
        checks.append(crc32(memoryview(data)[at:end]))
        at = end
    if at != len(data) - 20:
        raise Fatal("pack has junk at the end")
    names = _resolve_names(pack, offsets)
    if count < _UNPACK_LIMIT:
        for position in reversed(range(count)):
            kind, content = pack.read_at(offsets[position], store)
            store.write(kind, content)
        return names
    entries = list(zip(names, offsets, checks, strict=True))
    data, entries = _completed(pack, entries)
    place_pack(repository, data, make_index(entries, data[-20:]))
    return names


def _resolve_names(pack: _Incoming, offsets: list[int]) -> list[str]:
    """Return the names of all entries; a base by name may come behind its deltas."""
    store = pack.store
    names: dict[int, str] = {}
    pending = offsets
    while pending:
        waiting: list[int] = []
        for offset in pending:
            store.budget.step()
            if not _has_base(pack, offset, names):
                waiting.append(offset)
                continue
            kind, data = pack.read_at(offset, store)
            if kind == "tree":
                try:
                    parse_tree(data)
                except ValueError as error:
                    raise Fatal(f"{error}") from None
            names[offset] = object_name(kind, data)
            pack.known.setdefault(names[offset], offset)
        if len(waiting) == len(pending):
            raise Fatal(f"pack has {len(waiting)} unresolved deltas")
        pending = waiting
    return [names[offset] for offset in offsets]


def _has_base(pack: _Incoming, offset: int, names: dict[int, str]) -> bool:
    """Whether the base of a delta is known; a base outside is noted in `missing`."""
    number, _, at = pack._head(offset)
    if number == 6:
        distance, _ = pack._distance(at)
        if not 0 < distance <= offset - 12:
            raise pack._corrupt()
        return offset - distance in names
    if number == 7:
        name = hexlify(pack.data[at : at + 20]).decode("ascii")
        if name in pack.known:
            return True
        if name in pack.store:
            if name not in pack.missing:
                pack.missing.append(name)
            return True
        return False
    return True


def _completed(
    pack: _Incoming, entries: list[tuple[str, int, int]]
) -> tuple[bytes, list[tuple[str, int, int]]]:
    """Return the pack with the bases that it lacks, and its entries."""
    lacking = [name for name in pack.missing if name not in pack.known]
    if not lacking:
        return pack.data, entries
    parts = [pack.data[:8], (len(entries) + len(lacking)).to_bytes(4, "big"), pack.data[12:-20]]
    offset = len(pack.data) - 20
    for name in lacking:
        kind, data = pack.store.read(name)
        packed = _entry_head(_NUMBERS[kind], len(data)) + zlib.compress(data)
        entries = [*entries, (name, offset, crc32(packed))]
        parts.append(packed)
        offset += len(packed)
    body = b"".join(parts)
    return body + sha1(body).digest(), entries


def check_connected(repository: Repository, wanted: Iterable[str], new: set[str]) -> None:
    """Raise MissingObject if something that is reached through new objects is not there."""
    objects, budget = repository.objects, repository.git.budget
    pending = list(wanted)
    seen: set[str] = set()
    while pending:
        oid = pending.pop()
        if oid in seen:
            continue
        seen.add(oid)
        budget.step()
        if oid not in new:
            if oid not in objects:
                objects.read(oid)
            continue
        kind = objects.type_of(oid)
        if kind == "commit":
            pending.append(objects.commit(oid).tree)
            pending += repository.parents(oid)
        elif kind == "tag":
            pending.append(objects.tag(oid).object)
        elif kind == "tree":
            pending += [each for _, mode, each in objects.tree(oid) if mode != SUBMODULE]


def copy_store(source: Repository, target: Repository) -> None:
    """Copy the files of an object database, as a local clone does."""
    fs, umask = source.fs, source.git.ctx.umask
    for folder in source.objects.folders():
        for here, _, names in fs.walk(folder):
            below = here[len(folder) :]
            if below.startswith("/info"):
                continue
            place = target.objects.folder + below
            fs.makedirs(place, 0o777 & ~umask)
            for name in sorted(names, key=lambda name: name.endswith(".idx")):
                source.git.budget.step()
                if not fs.exists(f"{place}/{name}") and not name.startswith("tmp_"):
                    data = fs.read_bytes(f"{here}/{name}")
                    source.git.budget.step(len(data) // 4096)
                    fs.write_bytes(f"{place}/{name}", data, permissions=0o444 & ~umask)
    target.objects.forget_packs()


__all__ = [
    "Missing", "check_connected", "copy_objects", "copy_store", "make_index", "make_pack",
    "missing_beyond", "place_pack", "receive_pack",
]  # fmt: skip
