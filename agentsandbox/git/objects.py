"""Objects: blobs, trees, commits and tags, loose or in packs, in the `objects` folder.

An object's name is the SHA-1 of "type size NUL content", here always 40 hexadecimal digits. A loose
object is that text, deflated, in a file named by the digits. Objects never change, so what was read
once is kept (`Cache`), for all commands of a sandbox, with the mark of the file that it came from
(`ObjectStore._mark`). Each call of git compares an object's mark once, so that a file that was
removed, damaged or replaced is noticed.

Everything read is untrusted. The size in an object's header bounds what is inflated, and is charged
before; a content that does not have this size or this name is corrupt.
"""

from __future__ import annotations

import zlib
from binascii import hexlify
from hashlib import sha1

from agentsandbox.git.errors import CorruptObject, Fatal, MissingObject, Plain
from agentsandbox.kernel.fs.base import raise_failure
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from agentsandbox.git.packs import Pack
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.base import FileSystem

    Entry = tuple[bytes, int, str]
    """(name, mode, object) of a tree's entry."""

TYPES = ("commit", "tree", "blob", "tag")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
NULL = "0" * 40

DIRECTORY, LINK, SUBMODULE = 0o040000, 0o120000, 0o160000
_TYPE_MASK = 0o170000
_KEPT_SIZE = 1 << 16
_KEPT_COUNT = 4096
_KEPT_BYTES = 4 << 20


def is_directory(mode: int) -> bool:
    """Whether the mode of a tree's entry is that of a tree."""
    return mode & _TYPE_MASK == DIRECTORY


_LONGEST_HEAD = 32


def _stream_error(error: zlib.error) -> str:
    return f"inflate: data stream error ({str(error).rpartition(': ')[2]})"


def object_name(kind: str, data: bytes) -> str:
    """Return the name of an object."""
    return sha1(b"%s %d\0" % (encode(kind), len(data)) + data).hexdigest()


class Commit:
    """A commit, parsed. Idents are "Name <mail> seconds zone", as they are written."""

    __slots__ = (
        "author", "committer", "encoding", "extra", "message", "oid", "parents", "shown_encoding",
        "time", "tree",
    )  # fmt: skip

    def __init__(self, oid: str, data: bytes) -> None:
        self.oid = oid
        self.tree = ""
        self.parents: tuple[str, ...] = ()
        self.author = self.committer = self.encoding = b""
        self.extra: list[tuple[bytes, bytes]] = []
        head, _, self.message = data.partition(b"\n\n")
        parents: list[str] = []
        for line in head.split(b"\n"):
            key, _, value = line.partition(b" ")
            if key == b"parent":
                parents.append(decode(value))
            elif key == b"tree":
                self.tree = decode(value)
            elif key == b"author":
                self.author = value
            elif key == b"committer":
                self.committer = value
            elif key == b"encoding":
                self.encoding = value
            elif not key and self.extra:
                name, text = self.extra[-1]
                self.extra[-1] = (name, text + b"\n" + value)
            else:
                self.extra.append((key, value))
        self.parents = tuple(parents)
        self.shown_encoding = self.encoding
        """The encoding in which the text is now; `encoding` is that of the object."""
        self.time = seconds_of(self.committer)
        """When it was committed, in seconds since the epoch."""


class Tag:
    """An annotated tag, parsed."""

    __slots__ = ("kind", "message", "name", "object", "oid", "tagger")

    def __init__(self, oid: str, data: bytes) -> None:
        self.oid = oid
        self.object = self.kind = ""
        self.name = self.tagger = b""
        head, _, self.message = data.partition(b"\n\n")
        for line in head.split(b"\n"):
            key, _, value = line.partition(b" ")
            if key == b"object":
                self.object = decode(value)
            elif key == b"type":
                self.kind = decode(value)
            elif key == b"tag":
                self.name = value
            elif key == b"tagger":
                self.tagger = value


def seconds_of(ident: bytes) -> int:
    """Return the time of an ident line, 0 if it has none."""
    words = ident.rpartition(b">")[2].split()
    if not words:
        return 0
    try:
        return max(0, min(int(words[0]), 1 << 60)) if len(words[0]) < 20 else 0
    except ValueError:
        return 0


def parse_tree(data: bytes) -> list[Entry]:
    """Return the entries of a tree in their order; ValueError if it is corrupt."""
    found: list[Entry] = []
    at, size = 0, len(data)
    find = data.find
    while at < size:
        end = find(b"\0", at)
        if end < 0 or end + 21 > size:
            raise ValueError("too-short tree object")
        mode, space, name = data[at:end].partition(b" ")
        if not space or not name:
            raise ValueError(
                "empty filename in tree entry" if mode else "malformed mode in tree entry"
            )
        at = end + 21
        try:
            number = int(mode, 8)
        except ValueError:
            raise ValueError("malformed mode in tree entry") from None
        found.append((name, number, hexlify(data[end + 1 : at]).decode("ascii")))
    return found


def tree_order(name: bytes, mode: int) -> bytes:
    """Return the key that orders the entries of a tree: directories as if they ended in "/"."""
    return name + b"/" if mode & _TYPE_MASK == DIRECTORY else name


def format_tree(entries: Iterable[Entry]) -> bytes:
    """Return the content of a tree with these entries."""
    return b"".join(
        [
            b"%o %s\0%s" % (mode, name, bytes.fromhex(oid))
            for name, mode, oid in sorted(entries, key=lambda entry: tree_order(entry[0], entry[1]))
        ]
    )


class Cache:
    """What was read from one object database: shared by all commands of a sandbox."""

    __slots__ = ("commits", "marks", "packs", "size", "small", "tags", "trees")

    def __init__(self) -> None:
        self.commits: dict[str, Commit] = {}
        self.trees: dict[str, list[Entry]] = {}
        self.tags: dict[str, Tag] = {}
        self.small: dict[str, tuple[str, bytes]] = {}
        self.size = 0
        self.packs: dict[str, Pack] = {}
        self.marks: dict[str, tuple[object, ...]] = {}
        """The mark of the file that each object was read from."""

    def shrink(self) -> None:
        """Forget all if there is too much."""
        if len(self.commits) > 8 * _KEPT_COUNT:
            self.commits.clear()
        if len(self.trees) > 2 * _KEPT_COUNT:
            self.trees.clear()
        if self.size > _KEPT_BYTES:
            self.small.clear()
            self.size = 0
        if len(self.marks) > 16 * _KEPT_COUNT:
            self.forget_all()

    def forget_all(self) -> None:
        """Forget all objects."""
        for kept in (self.commits, self.trees, self.tags, self.small, self.marks):
            kept.clear()
        self.size = 0

    def forget(self, oid: str) -> None:
        """Forget one object."""
        found = self.small.pop(oid, None)
        if found is not None:
            self.size -= len(found[1]) + 200
        self.commits.pop(oid, None)
        self.trees.pop(oid, None)
        self.tags.pop(oid, None)
        self.marks.pop(oid, None)

    def keep(self, oid: str, found: tuple[str, bytes]) -> None:
        """Keep a small object."""
        self.small[oid] = found
        self.size += len(found[1]) + 200


# TM-GIT-4
class ObjectStore:
    """The object database of a repository."""

    def __init__(
        self, fs: FileSystem, folder: str, budget: Budget, cache: Cache, umask: int
    ) -> None:
        self.fs = fs
        self.folder = folder
        self.budget = budget
        self.cache = cache
        self.umask = umask
        self.level = -1
        """The level of compression of new objects (core.looseCompression)."""
        self.report: Callable[[str], None] = lambda line: None
        """Prints what is wrong with a pack; set by the repository."""
        self._packs: list[Pack] | None = None
        self._alternates: list[str] | None = None
        self._made: set[str] = set()
        self._present: set[str] = set()
        self._checked: set[str] = set()
        """Objects of the cache whose marks were compared in this call."""
        cache.shrink()

    # reading

    def folders(self) -> list[str]:
        """Return the `objects` folder and those of its alternates."""
        if self._alternates is None:
            found = [self.folder]
            for folder in found:  # which grows
                try:
                    text = self.fs.read_text(f"{folder}/info/alternates")
                except OSError as error:
                    raise_failure(error)
                    continue
                for line in text.split("\n")[:100]:
                    if line and not line.startswith("#") and len(found) < 6:
                        path = line if line.startswith("/") else f"{folder}/{line}"
                        if self.fs.is_dir(path) and path not in found:
                            found.append(path)
            self._alternates = found
        return self._alternates

    def packs(self) -> list[Pack]:
        """Return the packs of the database, the newest first."""
        if self._packs is None:
            found: list[Pack] = []
            for folder in self.folders():
                try:
                    names = self.fs.listdir(f"{folder}/pack")
                except OSError as error:
                    raise_failure(error)
                    continue
                paths = [f"{folder}/pack/{name}" for name in names if name.endswith(".idx")]
                for path in sorted(paths, key=lambda path: -self.fs.stat(path).mtime):
                    pack = self._pack(path)
                    if pack is not None:
                        found.append(pack)
            self._packs = found
        return self._packs

    def _pack(self, path: str) -> Pack | None:
        from agentsandbox.git.packs import PackError, open_pack

        info = self.fs.stat(path)
        try:
            data = self.fs.stat(f"{path.removesuffix('.idx')}.pack")
        except OSError as error:
            raise_failure(error)
            return None
        key = "\0".join(
            [path]
            + [f"{each.ino} {each.size} {each.mtime} {each.ctime}" for each in (info, data)]
        )
        pack = self.cache.packs.get(key)
        if pack is None:
            try:
                pack = open_pack(self.fs, path, self.budget)
            except PackError as error:
                shown = self._shown(path.removesuffix(".idx") + error.suffix)
                self.report(f"error: {error.what} {shown} {error.reason}")
                return None
            if pack is None:
                return None
            self.cache.packs[key] = pack
        return pack

    def forget_packs(self) -> None:
        """Look for packs again at the next need."""
        self._packs = None

    def _mark(self, oid: str) -> tuple[object, ...] | None:
        """Return what tells whether the file of an object is as it was, None without one."""
        for folder in self.folders():
            path = f"{folder}/{oid[:2]}/{oid[2:]}"
            try:
                info = self.fs.stat(path)
            except OSError as error:
                raise_failure(error)
                continue
            return path, info.ino, info.size, info.mtime, info.ctime
        for pack in self.packs():
            if pack.find(oid) is not None:
                return (pack,)
        return None

    def _is_known(self, oid: str) -> bool:
        """Whether the cache has an object, and its file is as it was; else forget it."""
        if oid in self._checked:
            return True
        mark = self.cache.marks.get(oid)
        if mark is None:
            return False
        if mark != self._mark(oid):
            self.cache.forget(oid)
            return False
        self._checked.add(oid)
        return True

    def _read_loose(self, oid: str) -> tuple[str, bytes] | None:
        for folder in self.folders():
            path = f"{folder}/{oid[:2]}/{oid[2:]}"
            try:
                data = self.fs.read_bytes(path)
            except OSError as error:
                raise_failure(error)
                continue
            return self._inflate(oid, data, path)
        return None

    def header(self, oid: str) -> tuple[str, int]:
        """Return (type, size) of an object; of a loose one only the beginning is read."""
        for folder in self.folders():
            path = f"{folder}/{oid[:2]}/{oid[2:]}"
            try:
                data = self.fs.read_bytes(path)
            except OSError:
                continue
            kind, size, _, _ = self._head(oid, data, path, zlib.decompressobj())
            return kind, size
        kind, found = self.read(oid)
        return kind, len(found)

    def _head(self, oid: str, packed: bytes, path: str, engine: Any) -> tuple[str, int, bytes, str]:
        """Return (type, size, what was inflated behind them, path to show) of a loose object."""
        shown = self._shown(path)
        if not packed:
            raise CorruptObject(oid, shown, f"object file {shown} is empty")
        try:
            first = engine.decompress(packed, 4096)
        except zlib.error as error:
            raise CorruptObject(
                oid, shown, _stream_error(error), f"unable to unpack {oid} header"
            ) from None
        head, nul, rest = first.partition(b"\0")
        if len(head) >= _LONGEST_HEAD or not nul:
            raise CorruptObject(
                oid, shown, f"header for {oid} too long, exceeds {_LONGEST_HEAD} bytes"
            )
        kind, _, digits = head.partition(b" ")
        if not digits.isdigit() or len(digits) > 18:
            raise CorruptObject(oid, shown, f"unable to parse {oid} header")
        name = decode(kind)
        if name not in TYPES:
            raise Fatal(f"invalid object type \"{name}\"")
        return name, int(digits), rest, shown

    def _inflate(self, oid: str, packed: bytes, path: str) -> tuple[str, bytes]:
        engine = zlib.decompressobj()
        name, size, rest, shown = self._head(oid, packed, path, engine)
        self.budget.charge(size)
        self.budget.step(1 + size // 4096)
        broken = f"corrupt loose object '{oid}'"
        try:
            if len(rest) < size or not engine.eof:
                rest += engine.decompress(engine.unconsumed_tail, max(size - len(rest), 0) + 1)
        except zlib.error as error:
            raise CorruptObject(oid, shown, _stream_error(error), broken) from None
        if len(rest) > size or engine.unused_data or engine.unconsumed_tail:
            raise CorruptObject(oid, shown, f"garbage at end of loose object '{oid}'")
        if len(rest) < size or not engine.eof:
            raise CorruptObject(oid, shown, broken)
        if object_name(name, rest) != oid:
            raise CorruptObject(oid, shown, f"hash mismatch for {path} (expected {oid})")
        return name, rest

    def _shown(self, path: str) -> str:
        at = path.find("/.git/")
        return path[at + 1 :] if at >= 0 else path

    def read(self, oid: str) -> tuple[str, bytes]:
        """Return (type, content) of an object; MissingObject if there is none."""
        found = self.cache.small.get(oid) if self._is_known(oid) else None
        if found is not None:
            return found
        self.budget.step()
        mark = self._mark(oid)
        found = self._read_loose(oid)
        if found is None:
            for pack in self.packs():
                found = pack.read(oid, self)
                if found is not None:
                    break
        if found is None:
            if oid == EMPTY_TREE:
                return "tree", b""
            if oid == EMPTY_BLOB:
                return "blob", b""
            raise MissingObject(oid)
        if mark is not None:
            self.cache.marks[oid] = mark
            self._checked.add(oid)
        if len(found[1]) <= _KEPT_SIZE:
            self.cache.keep(oid, found)
        return found

    def __contains__(self, oid: str) -> bool:
        if oid in self._present:
            return True
        if (
            any(self.fs.exists(f"{folder}/{oid[:2]}/{oid[2:]}") for folder in self.folders())
            or any(pack.find(oid) is not None for pack in self.packs())
            or oid == EMPTY_TREE
        ):
            self._present.add(oid)
            return True
        return False

    def type_of(self, oid: str) -> str:
        """Return the type of an object."""
        if oid in self.cache.commits and self._is_known(oid):
            return "commit"
        return self.read(oid)[0]

    def expect(self, oid: str, kind: str) -> bytes:
        """Return the content of an object that must be of a type."""
        found, data = self.read(oid)
        if found != kind:
            raise Fatal(
                f"unable to read {kind} ({oid})"
                if kind == "tree"
                else f"object {oid} is a {found}, not a {kind}"
            )
        return data

    def blob(self, oid: str) -> bytes:
        """Return the content of a blob."""
        return self.expect(oid, "blob")

    def commit(self, oid: str) -> Commit:
        """Return a commit."""
        found = self.cache.commits.get(oid) if self._is_known(oid) else None
        if found is None:
            found = Commit(oid, self.expect(oid, "commit"))
            if not all(is_object_name(each) for each in (found.tree, *found.parents)):
                raise Plain(
                    f"error: bogus commit object {oid}\nfatal: unable to parse commit {oid}", 128
                )
            self.cache.commits[oid] = found
        return found

    def tag(self, oid: str) -> Tag:
        """Return an annotated tag."""
        found = self.cache.tags.get(oid) if self._is_known(oid) else None
        if found is None:
            found = Tag(oid, self.expect(oid, "tag"))
            self.cache.tags[oid] = found
        return found

    def tree(self, oid: str) -> list[Entry]:
        """Return the entries of a tree."""
        found = self.cache.trees.get(oid) if self._is_known(oid) else None
        if found is None:
            try:
                found = parse_tree(self.expect(oid, "tree"))
            except ValueError as error:
                raise Fatal(f"{error}") from None
            except MissingObject:
                raise MissingObject(oid, "tree ") from None
            self.cache.trees[oid] = found
        self.budget.step(1 + len(found) // 16)
        return found

    def peel(self, oid: str, kind: str | None = None) -> str | None:
        """Return the object behind tags, of a type if one is given (a commit's tree too)."""
        for _ in range(1000):
            found = self.type_of(oid)
            if found == kind or (kind is None and found != "tag"):
                return oid
            if found == "tag":
                oid = self.tag(oid).object
            elif found == "commit" and kind == "tree":
                return self.commit(oid).tree
            else:
                return None
        return None

    def names(self) -> Iterator[str]:
        """Yield the names of all objects, some twice."""
        for folder in self.folders():
            for first in self._listed(folder):
                if len(first) == 2 and _is_hex(first):
                    for rest in self._listed(f"{folder}/{first}"):
                        self.budget.step()
                        if len(rest) == 38 and _is_hex(rest):
                            yield first + rest
        for pack in self.packs():
            yield from pack.names()

    def _listed(self, folder: str) -> list[str]:
        try:
            return self.fs.listdir(folder)
        except OSError as error:
            raise_failure(error)
            return []

    def with_prefix(self, prefix: str) -> list[str]:
        """Return the names that begin with at least two digits, sorted."""
        found = set()
        for folder in self.folders():
            for rest in self._listed(f"{folder}/{prefix[:2]}"):
                if len(rest) == 38 and rest.startswith(prefix[2:]):
                    found.add(prefix[:2] + rest)
        for pack in self.packs():
            found.update(pack.with_prefix(prefix))
        return sorted(found)

    def abbreviate(self, oid: str, least: int = 7) -> str:
        """Return the shortest beginning of a name that is unique, of at least `least` digits."""
        if least >= 40:
            return oid
        length = max(least, 4)
        others = [other for other in self.with_prefix(oid[:length]) if other != oid]
        while any(other.startswith(oid[:length]) for other in others):
            length += 1
        return oid[:length]

    # writing

    def write(self, kind: str, data: bytes) -> str:
        """Write a loose object, unless it is there, and return its name."""
        head = b"%s %d\0" % (encode(kind), len(data))
        oid = sha1(head + data).hexdigest()
        if oid in self._made:
            return oid
        self.budget.step(1 + len(data) // 4096)
        path = f"{self.folder}/{oid[:2]}/{oid[2:]}"
        if not self.fs.exists(path) and not any(
            pack.find(oid) is not None for pack in self.packs()
        ):
            self._write_file(oid, head + data)
        self._made.add(oid)
        self._present.add(oid)
        return oid

    def write_loose(self, kind: str, data: bytes) -> str:
        """Write a loose object, also if it is in a pack, and return its name."""
        head = b"%s %d\0" % (encode(kind), len(data))
        oid = sha1(head + data).hexdigest()
        self.budget.step(1 + len(data) // 4096)
        self._write_file(oid, head + data)
        return oid

    def _write_file(self, oid: str, text: bytes) -> None:
        folder = f"{self.folder}/{oid[:2]}"
        path = f"{folder}/{oid[2:]}"
        packed = zlib.compress(text, self.level)
        permissions = 0o444 & ~self.umask
        try:
            self._place(path, packed, permissions)
        except FileNotFoundError:
            self.fs.mkdir(folder, 0o777 & ~self.umask)
            self._place(path, packed, permissions)

    def _place(self, path: str, data: bytes, permissions: int) -> None:
        """Write a file that is complete as soon as it has its name."""
        folder, _, name = path.rpartition("/")
        draft = f"{folder}/tmp_obj_{name[:6]}"
        self.fs.write_bytes(draft, data, permissions=permissions | 0o200)
        try:
            if permissions & 0o200 == 0:
                self.fs.chmod(draft, permissions)
            self.fs.rename(draft, path)
        except BaseException:
            self.fs.unlink(draft)
            raise

    def write_tree(self, entries: Iterable[Entry]) -> str:
        """Write a tree and return its name."""
        return self.write("tree", format_tree(entries))


def _is_hex(text: str) -> bool:
    return all(character in "0123456789abcdef" for character in text)


def is_object_name(text: str) -> bool:
    """Whether a text is a full object name."""
    return len(text) == 40 and _is_hex(text)


def format_commit(
    tree: str,
    parents: Iterable[str],
    author: bytes,
    committer: bytes,
    message: bytes,
    encoding: str = "",
    extra: Iterable[tuple[bytes, bytes]] = (),
) -> bytes:
    """Return the content of a commit."""
    lines = [encode(f"tree {tree}"), *[encode(f"parent {parent}") for parent in parents]]
    lines += [b"author " + author, b"committer " + committer]
    if encoding:
        lines.append(b"encoding " + encode(encoding))
    lines += [key + b" " + value.replace(b"\n", b"\n ") for key, value in extra]
    return b"\n".join(lines) + b"\n\n" + message
