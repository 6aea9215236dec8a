"""Trees as wholes: all their files, what differs between two, writing them from an index."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

from agentsandbox.git.errors import Fatal, GitError
from agentsandbox.git.index import Entry, Index, TreeCache
from agentsandbox.git.objects import DIRECTORY, EMPTY_TREE, SUBMODULE, is_directory
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentsandbox.git.objects import ObjectStore
    from agentsandbox.git.paths import Pathspec
    from agentsandbox.git.repository import Repository

_MOST_DEPTH = 2048


def flat_tree(store: ObjectStore, oid: str | None) -> dict[bytes, tuple[int, str]]:
    """Return (mode, object) of all files of a tree by path, in the order of the index."""
    found: dict[bytes, tuple[int, str]] = {}
    if oid is None:
        return found
    unordered = False
    pending: list[tuple[bytes, Iterator[tuple[bytes, int, str]]]] = [(b"", iter(store.tree(oid)))]
    while pending:
        base, entries = pending[-1]
        for name, mode, entry in entries:
            if is_directory(mode):
                if len(pending) > _MOST_DEPTH:
                    raise Fatal("exceeded maximum allowed tree depth")
                pending.append((base + name + b"/", iter(store.tree(entry))))
                break
            found[base + name] = (mode, entry)
        else:
            pending.pop()
    del unordered
    return found


def folders_above(path: bytes) -> Iterator[bytes]:
    """Yield the directories above a path, the topmost first."""
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def folders_of(paths: Iterable[bytes]) -> set[bytes]:
    """Return all directories above some files, without that at the top."""
    found: set[bytes] = set()
    for path in paths:
        at = path.rfind(b"/")
        while at > 0 and path[:at] not in found:
            found.add(path[:at])
            at = path.rfind(b"/", 0, at)
    return found


def tree_entry(store: ObjectStore, oid: str, path: bytes) -> tuple[int, str] | None:
    """Return (mode, object) of a path in a tree; the tree itself for b""."""
    mode = DIRECTORY
    for part in [piece for piece in path.split(b"/") if piece]:
        if not is_directory(mode):
            return None
        for name, entry_mode, entry in store.tree(oid):
            if name == part:
                mode, oid = entry_mode, entry
                break
        else:
            return None
    return mode, oid


def write_index_tree(repository: Repository, index: Index, *, missing_ok: bool = False) -> str:
    """Write the trees of an index and return the top one; Fatal with conflicts in it."""
    unmerged = index.unmerged()
    if unmerged:
        raise UnmergedIndex(index)
    entries = [entry for entry in index if not entry.flags or not entry.intends]
    writer = _Writer(repository, entries, missing_ok, index.cache)
    if len(entries) == len(index):
        index.cache, _ = writer.write(b"", 0, index.cache)
        return index.cache.oid
    node, _ = writer.write(b"", 0, None)
    return node.oid


class UnmergedIndex(GitError):
    """An index with conflicts cannot become a tree."""

    def __init__(self, index: Index) -> None:
        lines = [
            f"{decode(path)}: unmerged ({entry.oid})"
            for path in index.unmerged()
            for entry in index.stages(path).values()
        ]
        super().__init__("\n".join(lines), 128)


class _Writer:
    def __init__(
        self,
        repository: Repository,
        entries: list[Entry],
        missing_ok: bool,
        cache: TreeCache | None,
    ) -> None:
        self.store = repository.objects
        self.budget = repository.git.budget
        self.entries = entries
        self.missing_ok = missing_ok
        del cache

    def write(self, base: bytes, at: int, known: TreeCache | None) -> tuple[TreeCache, int]:
        """Write the tree of the entries below `base`, which begin at a number; return its end."""
        if known is not None and known.count >= 0 and known.oid in self.store:
            return known, at + known.count
        if base.count(b"/") > _MOST_DEPTH:
            raise Fatal("exceeded maximum allowed tree depth")
        node = TreeCache()
        start, size, length = at, len(self.entries), len(base)
        made: list[tuple[bytes, int, str]] = []
        while at < size:
            entry = self.entries[at]
            path = entry.path
            if not path.startswith(base):
                break
            self.budget.step()
            slash = path.find(b"/", length)
            if slash < 0:
                if not self.missing_ok and entry.mode != 0o160000 and entry.oid not in self.store:
                    raise GitError(
                        f"invalid object {entry.mode:o} {entry.oid} for '{decode(path)}'",
                        128,
                    )
                made.append((path[length:], entry.mode, entry.oid))
                at += 1
                continue
            name = path[length:slash]
            child, at = self._child(path[: slash + 1], at, known, name)
            node.children[name] = child
            made.append((name, DIRECTORY, child.oid))
        node.count = at - start
        node.oid = self.store.write_tree(made)
        return node, at

    def _child(
        self, base: bytes, at: int, known: TreeCache | None, name: bytes
    ) -> tuple[TreeCache, int]:
        below = None if known is None else known.children.get(name)
        return self.budget.nested(lambda: self.write(base, at, below))


def prime_cache(repository: Repository, index: Index, oid: str) -> None:
    """Note in an index that is equal to a tree that it is."""

    def cache_of(tree: str, depth: int) -> TreeCache:
        node = TreeCache()
        node.oid = tree
        node.count = 0
        for name, mode, entry in repository.objects.tree(tree):
            if is_directory(mode):
                child = repository.git.budget.nested(partial(cache_of, entry, depth + 1))
                node.children[name] = child
                node.count += child.count
            else:
                node.count += 1
        return node

    index.cache = cache_of(oid, 0)


def index_of_tree(repository: Repository, oid: str | None, known: Index | None = None) -> Index:
    """Return an index with the files of a tree; entries of `known` that agree keep their `stat`."""
    made = Index()
    for path, (mode, entry_oid) in flat_tree(repository.objects, oid).items():
        entry = known.get(path) if known is not None else None
        if entry is None or entry.oid != entry_oid or entry.mode != mode:
            entry = Entry(path, mode, entry_oid)
        made.entries[(path, 0)] = entry
    made._sorted = made._folders = None  # both are made at the next need
    if known is not None:
        made.mtime = known.mtime
    if oid is not None:
        prime_cache(repository, made, oid)
    return made


class Delta:
    """A file that differs between two sides. A mode of 0 means that it is missing."""

    __slots__ = (
        "broken", "dirt", "hashed", "new_mode", "new_oid", "new_path", "old_dirt", "old_mode",
        "old_oid", "old_path", "score", "status", "unmerged",
    )  # fmt: skip

    def __init__(
        self,
        path: bytes,
        old_mode: int,
        old_oid: str,
        new_mode: int,
        new_oid: str,
        status: str = "",
    ) -> None:
        self.old_path = self.new_path = path
        self.old_mode = old_mode
        self.old_oid = old_oid
        self.new_mode = new_mode
        self.new_oid = new_oid
        """"" if it is in the worktree and not hashed yet."""
        self.status = status or _status(old_mode, new_mode)
        self.score = 0
        self.hashed = ""
        """The object of a new file in the worktree, if renames were looked for."""
        self.unmerged = False
        self.dirt = self.old_dirt = 0
        """What else changed in a submodule: `MODIFIED` and `UNTRACKED` of `worktree`."""

    @property
    def path(self) -> bytes:
        return self.new_path

    @property
    def is_submodule(self) -> bool:
        """Whether it is the change of a submodule, one added or removed included."""
        return {self.old_mode, self.new_mode} - {0} == {SUBMODULE}


def _status(old_mode: int, new_mode: int) -> str:
    if not old_mode:
        return "A"
    if not new_mode:
        return "D"
    return "T" if old_mode & 0o170000 != new_mode & 0o170000 else "M"


def diff_trees(
    store: ObjectStore,
    old: str | None,
    new: str | None,
    wanted: Pathspec | None = None,
    *,
    recursive: bool = True,
    show_trees: bool = False,
) -> list[Delta]:
    """Return what differs between two trees, in order of path.

    `wanted` is a pathspec. Without `recursive` a tree that differs is one change.
    """
    found: list[Delta] = []
    pending: list[tuple[bytes, str | None, str | None]] = [(b"", old, new)]
    while pending:
        base, left, right = pending.pop()
        if left == right:
            continue
        before = {name: (mode, oid) for name, mode, oid in store.tree(left)} if left else {}
        after = {name: (mode, oid) for name, mode, oid in store.tree(right)} if right else {}
        for name in before.keys() | after.keys():
            one, two = before.get(name), after.get(name)
            if one == two:
                continue
            path = base + name
            old_dir = one is not None and is_directory(one[0])
            new_dir = two is not None and is_directory(two[0])
            if (
                wanted is not None
                and not (
                    wanted.may_be_below(path) if old_dir or new_dir else False
                )
                and not wanted.matches(path, old_dir or new_dir or _is_link(one, two))
            ):
                continue
            if recursive and (old_dir or new_dir):
                pending.append(
                    (
                        path + b"/",
                        one[1] if one is not None and old_dir else None,
                        two[1] if two is not None and new_dir else None,
                    )
                )
                if show_trees:
                    found.append(_delta(path, one, two))
                    continue
                one = None if old_dir else one
                two = None if new_dir else two
                if one is None and two is None:
                    continue
            found.append(_delta(path, one, two))
        store.budget.step(len(before) // 8 + len(after) // 8)
    found.sort(key=_by_path)
    return found


def _is_link(one: tuple[int, str] | None, two: tuple[int, str] | None) -> bool:
    """Whether one side is a submodule, which counts as a directory."""
    return SUBMODULE in (one and one[0], two and two[0])


def _by_path(delta: Delta) -> bytes:
    if is_directory(delta.new_mode or delta.old_mode):
        return delta.new_path + b"/"
    return delta.new_path


def _delta(path: bytes, one: tuple[int, str] | None, two: tuple[int, str] | None) -> Delta:
    old_mode, old_oid = one or (0, "0" * 40)
    new_mode, new_oid = two or (0, "0" * 40)
    return Delta(path, old_mode, old_oid, new_mode, new_oid)


def _without_equal_trees(
    store: ObjectStore, tree: str | None, index: Index
) -> tuple[dict[bytes, tuple[int, str]], list[Entry]]:
    """Return the files of a tree and the entries of an index.

    Directories are left out whose tree is also that of the index, as its cache says.
    """
    if index.cache is None or tree is None:
        return flat_tree(store, tree), list(index)
    files: dict[bytes, tuple[int, str]] = {}
    equal: list[tuple[int, int]] = []
    keys = index.keys()
    pending: list[tuple[bytes, str, TreeCache | None]] = [(b"", tree, index.cache)]
    while pending:
        base, oid, known = pending.pop()
        if base.count(b"/") > _MOST_DEPTH:
            raise Fatal("exceeded maximum allowed tree depth")
        for name, mode, entry in store.tree(oid):
            if not is_directory(mode):
                files[base + name] = (mode, entry)
                continue
            below = known.children.get(name) if known is not None else None
            if below is not None and below.count >= 0 and below.oid == entry:
                start = bisect_left(keys, (base + name + b"/", 0))
                equal.append((start, bisect_left(keys, (base + name + b"0", 0), start)))
            else:
                pending.append((base + name + b"/", entry, below))
    entries = index.entries
    left: list[Entry] = []
    at = 0
    for start, end in sorted(equal):
        left += [entries[key] for key in keys[at:start]]
        at = max(at, end)
    left += [entries[key] for key in keys[at:]]
    return files, left


def diff_index(
    repository: Repository, tree: str | None, index: Index, wanted: Pathspec | None = None, *,
    intents: bool = False,
) -> list[Delta]:  # fmt: skip
    """Return what differs between a tree and the index, in order of path.

    intents  whether files that are only to be added (`add -N`) count as empty ones
    """
    if (
        index.cache is not None
        and index.cache.count >= 0
        and index.cache.oid == (tree or EMPTY_TREE)
        and not index.unmerged()
        and index.cache.count == len(index)
    ):
        return []
    before, entries_left = _without_equal_trees(repository.objects, tree, index)
    found: list[Delta] = []
    get = before.get
    unmerged: set[bytes] = set()
    repository.git.budget.step(1 + len(entries_left) // 4)
    for entry in entries_left:
        path = entry.path
        if entry.stage:
            if path not in unmerged:
                unmerged.add(path)
                mode, oid = get(path) or (0, "0" * 40)
                delta = Delta(path, mode, oid, 0, "0" * 40, "U")
                delta.unmerged = True
                found.append(delta)
            continue
        old = get(path)
        if old is None:
            if intents or not entry.intends:
                found.append(Delta(path, 0, "0" * 40, entry.mode, entry.oid))
        elif old[1] != entry.oid or old[0] != entry.mode:
            if entry.intends and not intents:
                found.append(Delta(path, old[0], old[1], 0, "0" * 40))
            else:
                found.append(Delta(path, old[0], old[1], entry.mode, entry.oid))
    entries = index.entries
    for path, (mode, oid) in before.items():
        if (path, 0) not in entries and path not in unmerged:
            found.append(Delta(path, mode, oid, 0, "0" * 40))
    found.sort(key=lambda delta: delta.new_path)
    if wanted:
        found = [delta for delta in found if wanted.matches(delta.new_path)]
    return found
