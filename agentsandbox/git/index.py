"""The index: the files of the next commit, with what `stat` said when they were last read.

The format is gitformat-index(5), read in the versions 2 to 4 and written as 2 (3 for entries with
extended flags). Of the extensions the tree cache is kept and written: with it a commit writes only
the trees that changed.
"""

from __future__ import annotations

import struct
from binascii import hexlify
from bisect import bisect_left, insort
from hashlib import sha1

from agentsandbox.git.errors import Fatal, Plain
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.fs.base import FileMark, Mark, Stat

_HEAD = struct.Struct(">4sLL")
_ENTRY = struct.Struct(">10L20sH")
_FIXED = _ENTRY.size
_EXTENDED, _VALID = 0x4000, 0x8000
_INTENT, _SKIP = 0x2000, 0x4000
_MOST_TOUCHED = 64
"""Up to as many changed entries, the folders of an index are brought up to date one by one."""


class Entry:
    """A file in the index."""

    __slots__ = (
        "ctime", "ctime_ns", "dev", "flags", "gid", "ino", "mode", "mtime", "mtime_ns", "oid",
        "packed", "path", "seen", "size", "stage", "uid",
    )  # fmt: skip

    def __init__(self, path: bytes, mode: int, oid: str, stage: int = 0) -> None:
        self.path = path
        self.mode = mode
        self.oid = oid
        self.stage = stage
        self.flags = 0
        self.ctime = self.ctime_ns = self.mtime = self.mtime_ns = 0
        self.dev = self.ino = self.uid = self.gid = self.size = 0
        self.seen: FileMark | None = None
        """(mtime, ctime, size, ino, mode) of the last `stat` that agreed, for a fast comparison."""
        self.packed: bytes | None = None
        """The entry as it is in the file, once it was read or written."""

    @property
    def intends(self) -> bool:
        """Whether it was added with `add -N`."""
        return bool(self.flags & _INTENT << 16)

    @intends.setter
    def intends(self, on: bool) -> None:
        self.flags = self.flags & ~(_INTENT << 16) | (_INTENT << 16 if on else 0)
        self.packed = None

    @property
    def skips(self) -> bool:
        """Whether the worktree is not looked at (skip-worktree)."""
        return bool(self.flags & _SKIP << 16)

    @skips.setter
    def skips(self, on: bool) -> None:
        self.flags = self.flags & ~(_SKIP << 16) | (_SKIP << 16 if on else 0)
        self.packed = None

    @property
    def assumed(self) -> bool:
        """Whether it is taken to be unchanged (assume-unchanged)."""
        return bool(self.flags & _VALID)

    @assumed.setter
    def assumed(self, on: bool) -> None:
        self.flags = self.flags & ~_VALID | (_VALID if on else 0)
        self.packed = None

    def remember(self, info: Stat) -> None:
        """Keep what `stat` says about the file."""
        self.packed = None
        self.mtime = int(info.mtime // 1)
        self.mtime_ns = _nanoseconds_of(info.mtime)
        self.ctime = int(info.ctime // 1)
        self.ctime_ns = _nanoseconds_of(info.ctime)
        self.ino = info.ino & 0xFFFFFFFF
        self.uid = info.uid & 0xFFFFFFFF
        self.gid = info.gid & 0xFFFFFFFF
        self.size = info.size & 0xFFFFFFFF
        self.note(info)

    def note(self, info: Stat) -> None:
        """Keep `stat` for a fast comparison, unless it differs in what only a setting ignores."""
        executes, executed = info.mode & 0o100, self.mode & 0o100
        if info.mode & 0o170000 != self.mode & 0o170000 or (info.is_file and executes != executed):
            self.seen = None
        else:
            self.seen = (info.mtime, info.ctime, info.size, info.ino, info.mode)

    def is_fresh(self, info: Stat) -> bool:
        """Whether `stat` says what it said then."""
        mtime, ctime = info.mtime, info.ctime
        return (
            self.size == info.size & 0xFFFFFFFF
            and self.mtime == int(mtime // 1)
            and self.ino == info.ino & 0xFFFFFFFF
            and self.mtime_ns == _nanoseconds_of(mtime)
            and self.ctime == int(ctime // 1)
            and self.ctime_ns == _nanoseconds_of(ctime)
        )

    def copy(self) -> Entry:
        """Return a copy, as every change of an entry needs one: others may share it."""
        made = Entry(self.path, self.mode, self.oid, self.stage)
        made.flags = self.flags
        made.ctime, made.ctime_ns = self.ctime, self.ctime_ns
        made.mtime, made.mtime_ns = self.mtime, self.mtime_ns
        made.dev, made.ino, made.uid, made.gid = self.dev, self.ino, self.uid, self.gid
        made.size = self.size
        return made


def _nanoseconds_of(seconds: float) -> int:
    exact: int | None = getattr(seconds, "ns", None)
    if exact is not None:
        return exact % 1_000_000_000
    return int((seconds - seconds // 1) * 1_000_000_000)


class Folder:
    """A directory with entries, and what its files looked like when all of them were unchanged."""

    __slots__ = (
        "alone", "asked", "below", "entries", "marks", "names", "newest", "path", "same", "sorted",
    )  # fmt: skip

    def __init__(self, path: str, names: list[str], entries: list[Entry]) -> None:
        self.path = path
        """From the top of the worktree."""
        self.names = names
        """The names of the files, in the order of `entries`."""
        self.entries = entries
        self.below: dict[str, bytes] = {}
        """Its directories: name and path."""
        self.asked: list[str] = []
        """All its names, files first."""
        self.sorted: list[str] = []
        """All its names in the order of the filesystem."""
        self.marks: list[FileMark | None] | None = None
        """The marks of `names` in the filesystem when no file differed from its entry."""
        self.newest = 0.0
        """The newest mtime in `marks`."""
        self.same: Mark | None = None
        """The version in the filesystem of which no file differed, at any depth."""
        self.alone: Mark | None = None
        """The version of which, besides, nothing else was there."""

    def settle(self) -> None:
        """Note that all names are known."""
        self.asked = [*self.names, *sorted(self.below)]
        self.sorted = sorted(self.asked)

    def with_entry(self, entry: Entry, name: str) -> Folder:
        """Return it with an entry added or replaced."""
        at = bisect_left(self.entries, entry.path, key=_path_of)
        made = Folder(self.path, self.names.copy(), self.entries.copy())
        made.below = self.below
        if at < len(self.entries) and self.entries[at].path == entry.path:
            made.entries[at] = entry
            made.asked, made.sorted = self.asked, self.sorted
        else:
            made.entries.insert(at, entry)
            made.names.insert(at, name)
            made.settle()
        return made

    def with_changes_below(self) -> Folder:
        """Return it without what is known of its directories."""
        made = Folder(self.path, self.names, self.entries)
        made.below, made.asked, made.sorted = self.below, self.asked, self.sorted
        made.marks, made.newest = self.marks, self.newest
        return made


def _path_of(entry: Entry) -> bytes:
    return entry.path


def _folders_of(index: Index) -> dict[bytes, Folder]:
    """Return the directories with entries."""
    found = {b"": Folder("", [], [])}
    last: bytes | None = None
    names: list[str] = []
    entries: list[Entry] = []
    for entry in index:
        above, _, name = entry.path.rpartition(b"/")
        if above != last:
            last = above
            if above not in found:
                _add_folder(above, found)
            names, entries = found[above].names, found[above].entries
        if entry.stage > 1 and names and entries[-1].path == entry.path:
            continue
        names.append(decode(name))
        entries.append(entry)
    for folder in found.values():
        folder.settle()
    return found


def _add_folder(path: bytes, found: dict[bytes, Folder]) -> None:
    missing: list[bytes] = []
    while path not in found:
        missing.append(path)
        path = path.rpartition(b"/")[0]
    for path in reversed(missing):
        found[path] = Folder(decode(path), [], [])
        above, _, name = path.rpartition(b"/")
        found[above].below[decode(name)] = path


class TreeCache:
    """The tree of a directory if all of its entries are as when it was written."""

    __slots__ = ("children", "count", "oid", "packed")

    def __init__(self) -> None:
        self.count = -1
        self.oid = ""
        self.children: dict[bytes, TreeCache] = {}
        self.packed: bytes | None = None
        """Its line in the file after the name, once it was written."""


class Index:
    """The entries in order: by path, then by stage."""

    __slots__ = (
        "_added", "_folders", "_gone", "_sorted", "_staged", "_touched", "cache", "entries",
        "is_collapsed", "mtime", "trees",
    )  # fmt: skip

    def __init__(self) -> None:
        self.entries: dict[tuple[bytes, int], Entry] = {}
        self._sorted: list[tuple[bytes, int]] | None = []
        """The keys in order, but for `_added` and `_gone`: shared with copies."""
        self._added: list[tuple[bytes, int]] = []
        self._gone: set[tuple[bytes, int]] = set()
        self._folders: list[dict[bytes, Folder]] | None = []
        """`folders`, once they were asked for: shared with copies until a change."""
        self._touched: list[Entry] = []
        """Entries that were set since then."""
        self._staged = 0
        """How many entries have a stage: those of paths with conflicts."""
        self.cache: TreeCache | None = None
        self.mtime = 0.0
        """When the file was written: entries not older than that may be stale unnoticed."""
        self.is_collapsed = False
        """Whether directories are one entry in the file, their tree (a "sparse index")."""
        self.trees: tuple[bytes, ...] = ()
        """These directories."""

    def copy(self) -> Index:
        """Return an index with the same entries."""
        made = Index()
        made.entries = dict(self.entries)
        made._sorted = self.keys()
        made._folders = self._folders
        made._touched = self._touched.copy()
        made._staged = self._staged
        made.cache = self.cache
        made.mtime = self.mtime
        made.is_collapsed = self.is_collapsed
        made.trees = self.trees
        return made

    def __len__(self) -> int:
        return len(self.entries)

    def folders(self) -> dict[bytes, Folder]:
        """Return the directories with entries, by path. Nobody else changes them."""
        if self._folders is None:
            self._folders = []
        if not self._folders:
            self._folders.append(_folders_of(self))
        elif self._touched:
            found = self._folders[0].copy()
            for entry in self._touched:
                above, _, name = entry.path.rpartition(b"/")
                found[above] = found[above].with_entry(entry, decode(name))
                while above:
                    above = above.rpartition(b"/")[0]
                    if found[above].same is not None:
                        found[above] = found[above].with_changes_below()
            self._folders = [found]
        self._touched = []
        return self._folders[0]

    def keys(self) -> list[tuple[bytes, int]]:
        """Return the (path, stage) of all entries, in order."""
        if self._sorted is None:
            self._sorted = sorted(self.entries)
        elif self._added or self._gone:
            kept = [key for key in self._sorted if key not in self._gone]
            self._sorted = sorted(kept + self._added)
        if self._added or self._gone:
            self._added, self._gone = [], set()
        return self._sorted

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.below(b""))

    def get(self, path: bytes, stage: int = 0) -> Entry | None:
        """Return an entry, None if there is none."""
        return self.entries.get((path, stage))

    def stages(self, path: bytes) -> dict[int, Entry]:
        """Return the entries of a path by stage."""
        return {
            stage: entry
            for stage in range(4)
            if (entry := self.entries.get((path, stage))) is not None
        }

    def has_path(self, path: bytes) -> bool:
        """Whether a path has an entry of any stage."""
        entries = self.entries
        return (path, 0) in entries or any((path, stage) in entries for stage in (1, 2, 3))

    def below(self, folder: bytes) -> list[Entry]:
        """Return the entries below a folder (without final "/"); all for b""."""
        keys = self.keys()
        if not folder:
            return list(map(self.entries.__getitem__, keys))
        start = bisect_left(keys, (folder + b"/", 0))
        found = []
        prefix = folder + b"/"
        for at in range(start, len(keys)):
            if not keys[at][0].startswith(prefix):
                break
            found.append(self.entries[keys[at]])
        return found

    def has_folder(self, folder: bytes) -> bool:
        """Whether there are entries below a folder."""
        if self._sorted is None:
            self.keys()
        first = (folder + b"/", 0)
        for keys in (self._added, self._sorted or ()):
            for at in range(bisect_left(keys, first), len(keys)):
                if not keys[at][0].startswith(first[0]):
                    break
                if keys[at] not in self._gone:
                    return True
        return False

    def set(self, entry: Entry) -> None:
        """Add or replace an entry. Stage 0 replaces the others; a file replaces a folder."""
        path, stage = entry.path, entry.stage
        key = (path, stage)
        if stage == 0:
            for other in (1, 2, 3):
                if (path, other) in self.entries:
                    self._drop((path, other))
        elif (path, 0) in self.entries:
            self._drop((path, 0))
        if key not in self.entries:
            if key in self._gone:
                self._gone.remove(key)
            else:
                insort(self._added, key)
            self._staged += stage != 0
        self.replace(entry)
        self.forget_tree(path)

    def replace(self, entry: Entry) -> None:
        """Set an entry whose content is that of the one before: the trees stay as they are."""
        path = entry.path
        self.entries[(path, entry.stage)] = entry
        if not self._folders or entry.stage or path.rpartition(b"/")[0] not in self._folders[0]:
            self._forget_folders()
        elif len(self._touched) < _MOST_TOUCHED:
            self._touched.append(entry)
        else:
            self._forget_folders()

    def _forget_folders(self) -> None:
        self._folders = None
        self._touched = []

    def set_replacing(self, entry: Entry) -> None:
        """Add an entry, and remove those that it cannot be beside: a/b replaces a."""
        path = entry.path
        at = path.find(b"/")
        while at >= 0:
            if self.has_path(path[:at]):
                self.remove(path[:at])
            at = path.find(b"/", at + 1)
        if not self.has_path(path) and self.has_folder(path):
            for other in self.below(path):
                self.remove(other.path)
        self.set(entry)

    def _drop(self, key: tuple[bytes, int]) -> None:
        del self.entries[key]
        at = bisect_left(self._added, key)
        if at < len(self._added) and self._added[at] == key:
            del self._added[at]
        else:
            self._gone.add(key)
        self._staged -= key[1] != 0
        self._forget_folders()

    def remove(self, path: bytes) -> bool:
        """Remove all stages of a path; return whether there were any."""
        found = False
        for stage in range(4):
            if (path, stage) in self.entries:
                self._drop((path, stage))
                found = True
        if found:
            self.forget_tree(path)
        return found

    def unmerged(self) -> list[bytes]:
        """Return the paths with conflicts, in order."""
        found: list[bytes] = []
        if not self._staged:
            return found
        for path in [path for path, stage in self.keys() if stage]:
            if not found or found[-1] != path:
                found.append(path)
        return found

    def forget_tree(self, path: bytes) -> None:
        """Note that the trees above a path are not known any more."""
        if self.cache is None:
            return
        self.cache = _forgotten(self.cache, path.split(b"/")[:-1])


def _forgotten(cache: TreeCache, folders: list[bytes]) -> TreeCache:
    """Return a cache without the trees of a row of folders; others share the old one."""
    if cache.count < 0 and (not folders or folders[0] not in cache.children):
        return cache
    made = TreeCache()
    made.children = dict(cache.children)
    if folders and folders[0] in made.children:
        made.children[folders[0]] = _forgotten(made.children[folders[0]], folders[1:])
    return made


# the file


def parse_index(data: bytes, shown: str = "") -> Index:
    """Return the index that a file holds; Fatal if it is corrupt.

    As in git, the sum at its end is not compared: whoever writes a wrong one means it.
    """
    index = Index()
    if len(data) < 32:
        raise Fatal(f"{shown or 'index'}: index file smaller than expected")
    signature, version, count = _HEAD.unpack_from(data)
    reason = ""
    if signature != b"DIRC":
        reason = f"bad signature 0x{signature.hex()}"
    elif version not in (2, 3, 4):
        reason = f"bad index version {version}"
    if reason:
        raise Plain(f"error: {reason}\nfatal: index file corrupt", 128)
    if count > len(data) // _FIXED:
        raise Fatal("index file corrupt")
    try:
        at = _parse_entries(data, version, count, index)
        _parse_extensions(data, at, index)
    except (struct.error, IndexError, ValueError):
        raise Fatal("index file corrupt") from None
    return index


def _parse_entries(data: bytes, version: int, count: int, index: Index) -> int:
    # long: the hot loop of every command
    at, entries, order = 12, index.entries, []
    unpack, find = _ENTRY.unpack_from, data.find
    path = b""
    for _ in range(count):
        (
            ctime, ctime_ns, mtime, mtime_ns, dev, ino, mode, uid, gid, size, oid, flags,
        ) = unpack(data, at)  # fmt: skip
        first, start = at, at + _FIXED
        more = 0
        if flags & _EXTENDED:
            if version < 3:
                raise Fatal("Unknown index entry format 0x4000")
            more = data[start] << 8 | data[start + 1]
            start += 2
        if version == 4:
            cut, start = _varint(data, start)
            end = find(b"\0", start)
            path = path[: len(path) - cut] + data[start:end]
            at = end + 1
        else:
            length = flags & 0xFFF
            end = start + length if length < 0xFFF else find(b"\0", start)
            path = data[start:end]
            at += (end - at + 8) & ~7
        entry = Entry.__new__(Entry)
        entry.packed = None if version == 4 or more else data[first:at]
        entry.path = path
        entry.mode = mode
        entry.oid = hexlify(oid).decode("ascii")
        entry.stage = stage = flags >> 12 & 3
        entry.flags = flags & _VALID | more << 16
        entry.ctime, entry.ctime_ns = ctime, ctime_ns
        entry.mtime, entry.mtime_ns = mtime, mtime_ns
        entry.dev, entry.ino, entry.uid, entry.gid = dev, ino, uid, gid
        entry.size = size
        entry.seen = None
        if stage:
            index._staged += 1
        key = (path, stage)
        entries[key] = entry
        order.append(key)
    index._sorted = order if all(map(tuple.__lt__, order, order[1:])) else None
    return at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    at += 1
    value = byte & 0x7F
    while byte & 0x80:
        byte = data[at]
        at += 1
        value = (value + 1) << 7 | byte & 0x7F
    return value, at


def _parse_extensions(data: bytes, at: int, index: Index) -> None:
    end = len(data) - 20
    while at + 8 <= end:
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
        at += 8
        if size > end - at:
            raise Fatal("index file corrupt")
        if name == b"TREE":
            index.cache = _parse_cache(data[at : at + size])
        elif name == b"sdir":
            index.is_collapsed = True
        elif not 65 <= name[0] <= 90:
            raise Fatal(
                f"index uses {name.decode('latin-1')} extension, which we do not understand"
            )
        at += size


def _parse_cache(data: bytes) -> TreeCache | None:
    """Return the tree cache of an extension, None if it is not well-formed."""
    root = TreeCache()
    pending: list[tuple[TreeCache, int]] = [(root, 1)]
    at = 0
    while pending:
        parent, left = pending.pop()
        if not left:
            continue
        pending.append((parent, left - 1))
        end = data.find(b"\0", at)
        line = data.find(b"\n", end)
        if end < 0 or line < 0 or len(pending) > 1000:
            return None
        name = data[at:end]
        count, _, subtrees = data[end + 1 : line].partition(b" ")
        node = TreeCache()
        node.count = int(count)
        at = line + 1
        if node.count >= 0:
            node.oid = hexlify(data[at : at + 20]).decode("ascii")
            at += 20
        parent.children[name] = node
        pending.append((node, min(int(subtrees), len(data))))
    return root.children.get(b"")


def _cache_bytes(name: bytes, node: TreeCache, out: list[bytes]) -> None:
    pending = [(name, node)]
    while pending:
        name, node = pending.pop()
        if node.packed is None:
            oid = bytes.fromhex(node.oid) if node.count >= 0 else b""
            node.packed = b"\0%d %d\n%s" % (node.count, len(node.children), oid)
        out += (name, node.packed)
        if node.children:
            pending.extend(sorted(node.children.items(), key=_by_length, reverse=True))


def _by_length(item: tuple[bytes, TreeCache]) -> tuple[int, bytes]:
    return len(item[0]), item[0]


def _packed(entry: Entry) -> bytes:
    path = entry.path
    length = len(path)
    flags = (entry.flags & _VALID) | entry.stage << 12 | (min(4095, length))
    more = entry.flags >> 16
    head = _ENTRY.pack(
        entry.ctime, entry.ctime_ns, entry.mtime, entry.mtime_ns, entry.dev, entry.ino,
        entry.mode, entry.uid, entry.gid, entry.size, bytes.fromhex(entry.oid),
        flags | (_EXTENDED if more else 0),
    )  # fmt: skip
    if more:
        head += more.to_bytes(2, "big")
    entry.packed = head + path + b"\0" * (8 - (len(head) + length) % 8)
    return entry.packed


def format_index(index: Index) -> bytes:
    """Return the file of an index."""
    entries = list(index)
    version = 3 if [entry for entry in entries if entry.flags >> 16] else 2
    out = [_HEAD.pack(b"DIRC", version, len(entries))]
    out += [entry.packed or _packed(entry) for entry in entries]
    if index.cache is not None:
        pieces: list[bytes] = []
        _cache_bytes(b"", index.cache, pieces)
        body = b"".join(pieces)
        out.append(b"TREE" + len(body).to_bytes(4, "big") + body)
    if index.is_collapsed:
        out.append(b"sdir\0\0\0\0")
    data = b"".join(out)
    return data + sha1(data).digest()
