"""The difference between two snapshots as bytes, and a snapshot again from them.

A filesystem that has a copy in another process is kept equal by differences. Making one costs what
changed: a subtree that both snapshots share is one comparison of two objects, because nodes are
copied on write (`ownership`).

The bytes may come from a process that a script has taken over. So reading them makes nodes and
nothing else: every name, number and count is checked, the account is counted anew, and a difference
that breaks a rule or a limit is a `DeltaError`. Nothing of the old snapshot changes.

    length of the head (4 bytes, big-endian) · head · contents of files, one after the other

The head is lines of JSON. The first is an object with "spare" (bytes and names that do not count
against the limits), "meta" (facts of the root) and "hard" (how many of the operations, the first
ones, are about nodes with several names). Each further line is a list of operations. An operation
is a list that begins with a letter; the reader is in a directory, first in the root:

    E name meta   enter a directory; with `meta` it is new or its own facts changed
    L             leave it
    R name        remove a name and all below it
    F name meta size · S name meta text · P name meta · C name meta device
                  a file whose content is next, a symbolic link, a named pipe, a device
    H name number one of several names of a node of the table
    G name meta   enter a new shared tree (a mounted skill)
    M name number a mounted filesystem, by its number among the mounted ones

In the table of nodes with several names the name is the node's number. Contents of a megabyte and
more may travel beside the bytes (`large`), so that nobody copies them.

Lines, because parsed JSON may be thirty times as large as its text: a line has at most
`_LONGEST_LINE` bytes, is followed at once and forgotten. What stays is a tree, and that is counted
while it grows: it may have twice as much as the limits allow until the end, because what is moved
may be there twice. How many operations there may be follows from the limits, too.
"""

from __future__ import annotations

import math

from agentsandbox.kernel.fs.memory import Snapshot
from agentsandbox.kernel.fs.nodes import (
    DEVICE,
    DIR,
    FIFO,
    FILE,
    GRAFT,
    HARD,
    LINK,
    MOUNT,
    Device,
    Dir,
    Fifo,
    File,
    Hard,
    Link,
    Mount,
    SharedTree,
    number_of,
)
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.kernel.fs.nodes import Entry, Own, Plain
    from agentsandbox.limits import Limits

    Operation = list[Any]

_LONGEST_NAME = 255
_LONGEST_TARGET = 4096
_DEVICE_NAME = 16
"""The longest name of a device. One that does not exist cannot be opened (ENXIO)."""
_PERMISSIONS = 0o7777
_LARGE = 1 << 20
_LONGEST_LINE = 32 << 10
_OPERATIONS_IN_LINE = 64
_OPERATIONS_PER_NAME = 6
"""A name is removed, entered, left and made again, and so may its directory be."""
_SPARE_OPERATIONS = 1000


class DeltaError(ValueError):
    """The bytes are no difference, or lead to more than the limits allow."""


# writing


def difference(
    old: Snapshot | None,
    new: Snapshot,
    large: list[bytes] | None = None,
    *,
    turn: Callable[[], None] | None = None,
) -> bytes:
    """Return what leads from one snapshot to another; from an empty tree without `old`.

    With a list `large`, large contents are appended to it instead. `turn` is called now and then,
    so that a large tree does not hold up an event loop.
    """
    return _Writer(old, new, large, turn).write()


class _Writer:
    def __init__(
        self,
        old: Snapshot | None,
        new: Snapshot,
        large: list[bytes] | None,
        turn: Callable[[], None] | None,
    ) -> None:
        self.old = old
        self.new = new
        self.large = large
        self.turn = turn
        self.contents: list[bytes] = []
        self.operations: list[Operation] = []
        self.mounts = {id(filesystem): n for n, (_, filesystem) in enumerate(new.mounted)}

    def write(self) -> bytes:
        old, new = self.old, self.new
        if old is not None and old.root is new.root and old.hard is new.hard:
            return b""
        before = {} if old is None else old.hard
        for number in before.keys() - new.hard.keys():
            self.operations.append(["R", number])
        for number, node in new.hard.items():
            if before.get(number) is not node:
                self._leaf(number, node)
        hard, self.operations = self.operations, []
        self._tree(None if old is None else old.root, new.root)
        import json

        spare = [new.free_bytes, new.free_nodes]
        first = {"spare": spare, "meta": _facts(new.root), "hard": len(hard)}
        encoder = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
        lines = [encoder(first)]
        operations = [*hard, *self.operations]
        for at in range(0, len(operations), _OPERATIONS_IN_LINE):
            part = operations[at : at + _OPERATIONS_IN_LINE]
            line = encoder(part)
            lines += [line] if len(line) < _LONGEST_LINE else [encoder([each]) for each in part]
            if self.turn is not None:
                self.turn()
        head = "\n".join([*lines, ""]).encode("ascii")
        return b"".join((len(head).to_bytes(4, "big"), head, *self.contents))

    def _tree(self, before: Dir | None, after: Dir) -> None:
        """Write a directory and all below it; a stack of its own, for trees are deep."""
        pending: list[tuple[Dir, Iterator[tuple[str, Entry]]]] = []
        self._removals(before, after)
        pending.append((before or _EMPTY, iter(after.entries.items())))
        while pending:
            old, entries = pending[-1]
            for name, entry in entries:
                was = old.entries.get(name)
                if was is entry:
                    continue
                if entry.kind == DIR or entry.kind == GRAFT:
                    pending.append(self._enter(name, was, entry))
                    break
                self._leaf(name, entry)
                if self.turn is not None:
                    self.turn()
            else:
                pending.pop()
                if pending:
                    self.operations.append(["L"])

    def _enter(
        self, name: str, was: Entry | None, entry: Dir | SharedTree
    ) -> tuple[Dir, Iterator[tuple[str, Entry]]]:
        """Write the beginning of a directory; return its old form and its entries."""
        if entry.kind == GRAFT:
            self.operations.append(["G", name, _facts(entry.root)])
            return _EMPTY, iter(entry.root.entries.items())
        before = was if was is not None and was.kind == DIR else None
        facts = _facts(entry)
        if before is not None and _facts(before) == facts:
            self.operations.append(["E", name])
        elif before is not None:
            self.operations.append(["E", name, facts])
        else:
            if was is not None:
                self.operations.append(["R", name])
            self.operations.append(["E", name, facts])
        self._removals(before, entry)
        return before or _EMPTY, iter(entry.entries.items())

    def _removals(self, before: Dir | None, after: Dir) -> None:
        if before is not None and before.entries is not after.entries:
            for name in before.entries.keys() - after.entries.keys():
                self.operations.append(["R", name])

    def _leaf(self, name: str | int, entry: Entry) -> None:
        if entry.kind == FILE:
            data = bytes(entry.data)
            beside = self.large is not None and len(data) >= _LARGE
            (self.large if beside else self.contents).append(data)  # type: ignore[union-attr]
            operation = ["F", name, _facts(entry), len(data)]
            self.operations.append([*operation, 1] if beside else operation)
        elif entry.kind == LINK:
            self.operations.append(["S", name, _facts(entry), entry.text])
        elif entry.kind == FIFO:
            self.operations.append(["P", name, _facts(entry)])
        elif entry.kind == DEVICE:
            self.operations.append(["C", name, _facts(entry), entry.device])
        elif entry.kind == HARD:
            self.operations.append(["H", name, entry.number])
        elif entry.kind == MOUNT:
            self.operations.append(["M", name, self.mounts[id(entry.filesystem)]])


def _facts(node: Own) -> list[float | int | None]:
    """Return what is known of a node besides its content; a ctime that is the mtime is None."""
    return [
        node.mode & _PERMISSIONS,
        node.mtime,
        None if node.ctime == node.mtime else node.ctime,
        node.atime,
        node.uid,
        number_of(node),
        node.links,
    ]


_EMPTY = Dir(None, 0o040755, 0.0, 0)
"""Stands for a directory that was not there."""


# reading


# TM-DELTA-1
def patched(
    old: Snapshot | None,
    delta: bytes,
    limits: Limits,
    mounted: tuple[tuple[str, FileSystem], ...] = (),
    large: Sequence[bytes] = (),
    *,
    trusted: bool = False,
    turn: Callable[[], None] | None = None,
) -> Snapshot:
    """Return the snapshot that a difference makes of `old`, the empty tree without one.

    limits    what the new tree may hold besides what is free in `old`
    mounted   the mounted filesystems and their paths, in the order of the writer
    large     the contents that travelled beside the bytes
    trusted   whether the writer may use more than the limits on the way, and in shared trees
    turn      is called now and then, so that a large difference does not hold up an event loop

    Raises `DeltaError`.
    """
    if not delta:
        if old is None or large:
            raise DeltaError("an empty difference of nothing")
        return old
    return _Reader(old, delta, limits, mounted, large, trusted, turn).read()


class _Reader:
    def __init__(
        self,
        old: Snapshot | None,
        delta: bytes,
        limits: Limits,
        mounted: tuple[tuple[str, FileSystem], ...],
        large: Sequence[bytes],
        trusted: bool,
        turn: Callable[[], None] | None,
    ) -> None:
        self.old = old
        self.limits = limits
        self.mounted = mounted
        self.turn = turn
        self.owner = object()
        self.delta = delta
        self.large = list(reversed(large))
        self.position = 4 + int.from_bytes(delta[:4], "big")
        if self.position > len(delta):
            raise DeltaError("the head is cut off")
        self.hard: dict[int, Plain] = {} if old is None else dict(old.hard)
        self.used = 0 if old is None else old.used
        self.nodes = 0 if old is None else old.nodes
        self.most_used = self.most_nodes = self.most_operations = 1 << 62
        self.shared_used = self.shared_nodes = 1 << 62
        if not trusted:
            self.most_used = self.used + 2 * limits.total_bytes
            self.most_nodes = self.nodes + 2 * limits.files
            names = self.nodes + limits.files
            self.most_operations = _SPARE_OPERATIONS + _OPERATIONS_PER_NAME * names
            self.shared_used = self.used + limits.total_bytes
            self.shared_nodes = self.nodes + limits.files
        self.operations = self._operations()
        self.head: dict[str, Any] = {}

    def _operations(self) -> Iterator[object]:
        """Yield the first line and the operations; a line is read when the last one is done."""
        import json

        decode_line = json.JSONDecoder().decode
        delta, at, end = self.delta, 4, self.position
        while at < end:
            stop = delta.find(b"\n", at, min(end, at + _LONGEST_LINE))
            if stop < 0:
                raise DeltaError("a line that is too long")
            try:
                line = decode_line(delta[at:stop].decode("ascii"))
            except (ValueError, RecursionError) as error:
                raise DeltaError(f"a line is no JSON: {error}") from None
            if at == 4:
                yield line
            else:
                self.most_operations -= len(_list(line))
                if self.most_operations < 0:
                    raise DeltaError("too many operations")
                yield from line
                if self.turn is not None:
                    self.turn()
            at = stop + 1

    def read(self) -> Snapshot:
        old = self.old
        head = next(self.operations, None)
        if type(head) is not dict:
            raise DeltaError("the head is no object")
        self.head = head
        for _ in range(_whole(head.get("hard"))):
            self._table(_list(next(self.operations, None)))
        root = Dir(self.owner, 0o040755, 0.0, 0)
        if old is not None:
            root.entries = old.root.entries.copy()
        self._describe(root, head.get("meta"), 0o040000)
        self._tree(root)
        if self.position != len(self.delta) or self.large:
            raise DeltaError("more contents than files")
        free_bytes, free_nodes = self._free()
        if (
            self.used - free_bytes > self.limits.total_bytes
            or self.nodes - free_nodes > self.limits.files
        ):
            raise DeltaError("more files than the limits allow")
        return Snapshot(
            root, self.hard, self.used, self.nodes, free_bytes, free_nodes, self.mounted
        )

    def _free(self) -> tuple[int, int]:
        """Return the bytes and names that do not count; only a first difference says which."""
        if self.old is not None:
            return self.old.free_bytes, self.old.free_nodes
        free = _list(self.head.get("spare"))
        if len(free) != 2:
            raise DeltaError("two numbers are missing")
        return _whole(free[0]), _whole(free[1])

    def _tree(self, root: Dir) -> None:
        """Follow the operations from the root on."""
        stack: list[tuple[Dir, bool]] = [(root, False)]
        for operation in map(_list, self.operations):
            here, shared = stack[-1]
            letter = operation[0] if operation else None
            if letter == "L":
                if len(stack) == 1:
                    raise DeltaError("leaves the root")
                stack.pop()
                continue
            name = _name(operation)
            if letter == "R":
                self._remove(here, name)
            elif letter == "E":
                stack.append((self._enter(here, name, operation, shared=shared), shared))
            elif letter == "G":
                if shared:
                    raise DeltaError("a shared tree inside another")
                self._remove(here, name, missing=True)
                inner = Dir(self.owner, 0o040755, 0.0, 0)
                self._describe(inner, operation[2] if len(operation) > 2 else None, 0o040000)
                here.entries[name] = SharedTree(inner)
                stack.append((inner, True))
            else:
                self._put(here, name, operation, shared=shared)

    def _enter(self, here: Dir, name: str, operation: Operation, *, shared: bool) -> Dir:
        entry = here.entries.get(name)
        if entry is not None and entry.kind == DIR and not shared:
            twin = entry if entry.owner is self.owner else entry.copy(self.owner)
        elif entry is None and len(operation) > 2:
            twin = Dir(self.owner, 0o040755, 0.0, 0)
            self._count(1, 0, shared=shared)
        else:
            raise DeltaError(f"no directory to enter: {name!r}")
        if len(operation) > 2:
            self._describe(twin, operation[2], 0o040000)
        here.entries[name] = twin
        return twin

    def _put(self, here: Dir, name: str, operation: Operation, *, shared: bool) -> None:
        self._remove(here, name, missing=True)
        letter = operation[0]
        if letter == "H" and not shared:
            number = _whole(operation[2] if len(operation) > 2 else None)
            if number not in self.hard:
                raise DeltaError(f"no node with several names: {number}")
            here.entries[name] = Hard(number)
            self._count(1, 0, shared=False)
        elif letter == "M" and not shared:
            number = _whole(operation[2] if len(operation) > 2 else None)
            if number >= len(self.mounted):
                raise DeltaError(f"no mounted filesystem {number}")
            here.entries[name] = Mount(self.mounted[number][1])
        else:
            here.entries[name] = node = self._leaf(operation)
            self._count(1, _size(node), shared=shared)

    def _table(self, operation: Operation) -> None:
        """Change the table of nodes with several names."""
        number = _whole(operation[1] if len(operation) > 1 else None)
        self._count(1, 0, shared=True)
        before = self.hard.pop(number, None)
        if before is not None:
            self.used -= _size(before)
        if operation[0] != "R":
            node = self._leaf(operation)
            self.hard[number] = node
            self._count(0, _size(node), shared=False)

    def _leaf(self, operation: Operation) -> Plain:
        """Return the new node of an operation with `meta`."""
        if len(operation) < 4:
            operation = [*operation, None, None, None]
        letter, facts, further = operation[0], operation[2], operation[3]
        node: Plain
        if letter == "F":
            content = self._content(_whole(further), beside=operation[4:5] == [1])
            node = File(self.owner, 0, 0.0, 0, content)
            kind = 0o100000
        elif letter == "S":
            node, kind = Link(self.owner, _text(further, _LONGEST_TARGET), 0.0, 0), 0o120000
        elif letter == "P":
            node, kind = Fifo(self.owner, 0, 0.0, 0), 0o010000
        elif letter == "C":
            node, kind = Device(self.owner, _text(further, _DEVICE_NAME), 0.0, 0), 0o020000
        else:
            raise DeltaError(f"unknown operation {letter!r:.20}")
        self._describe(node, facts, kind)
        return node

    def _content(self, size: int, *, beside: bool) -> bytes:
        if beside:
            if not self.large or len(self.large[-1]) != size:
                raise DeltaError("a content is missing")
            return self.large.pop()
        end = self.position + size
        if end > len(self.delta):
            raise DeltaError("a content is cut off")
        content = self.delta[self.position : end]
        self.position = end
        return content

    def _describe(self, node: Own, facts: object, kind: int) -> None:
        if type(facts) is not list or len(facts) != 7:
            raise DeltaError("a node without its facts")
        mode, mtime, ctime, atime, uid, ino, links = facts
        node.mode = kind | _whole(mode) & _PERMISSIONS
        node.mtime = time = _time(mtime)
        node.ctime = time if ctime is None else _time(ctime)
        node.atime = None if atime is None else _time(atime)
        node.uid, node.ino, node.links = _whole(uid), _whole(ino), _whole(links)

    def _count(self, nodes: int, size: int, *, shared: bool) -> None:
        """Count what counts against the limits, and what is in shared trees, which does not."""
        if shared:
            self.shared_nodes -= nodes
            self.shared_used -= size
        else:
            self.nodes += nodes
            self.used += size
        if (
            self.nodes > self.most_nodes
            or self.used > self.most_used
            or self.shared_nodes < 0
            or self.shared_used < 0
        ):
            raise DeltaError("more files than the limits allow")

    def _remove(self, here: Dir, name: str, *, missing: bool = False) -> None:
        """Forget a name and what is below it."""
        entry = here.entries.pop(name, None)
        if entry is None:
            if not missing:
                raise DeltaError(f"nothing to remove: {name!r}")
            return
        pending = [entry]
        while pending:
            node = pending.pop()
            if node.kind == GRAFT or node.kind == MOUNT:
                continue
            self.nodes -= 1
            if node.kind == DIR:
                pending.extend(node.entries.values())
            elif node.kind != HARD:
                self.used -= _size(node)


def _size(node: Own) -> int:
    """Return the bytes of a node that count."""
    if node.kind == FILE:
        return len(node.data)
    return len(encode(node.text)) if node.kind == LINK else 0


def _list(value: object) -> list[Any]:
    if type(value) is not list:
        raise DeltaError("a list is missing")
    return value


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise DeltaError(f"no whole number: {value!r:.40}")
    return value


def _time(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise DeltaError(f"no time: {value!r:.40}")
    return float(value)  # type: ignore[arg-type]


def _name(operation: Operation) -> str:
    name = _text(operation[1] if len(operation) > 1 else None, _LONGEST_NAME)
    if name in (".", "..") or "/" in name:
        raise DeltaError(f"no name of a file: {name!r:.60}")
    return name


def _text(value: object, longest: int) -> str:
    """Check a text of 1 to `longest` bytes without NUL."""
    if type(value) is str and value.isascii() and 0 < len(value) <= longest and "\0" not in value:
        return value
    try:
        if type(value) is str and "\0" not in value and 0 < len(encode(value)) <= longest:
            return value
    except UnicodeEncodeError:
        pass
    raise DeltaError(f"no text: {value!r:.60}")
