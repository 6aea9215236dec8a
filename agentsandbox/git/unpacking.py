"""Moving index and worktree from one tree to another without losing changes.

`switch_trees` is git's two-way merge: a path that is equal in both trees keeps what index and
worktree have; one that differs must be unchanged, or already as in the new tree. Nothing is touched
before all paths are checked.

In a sparse checkout all entries are looked at once more when the new index is known: a file that is
out of the checkout is not written, or removed, and one that is in it again is written. What cannot
be removed because it changed, or is in the way, stays, and a warning names it.
"""

from __future__ import annotations

from agentsandbox.git.errors import GitError, MissingObject, Plain, Quit
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.objects import NULL, SUBMODULE
from agentsandbox.git.trees import flat_tree, folders_above, prime_cache
from agentsandbox.git.worktree import Worktree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository
    from agentsandbox.git.sparseness import Patterns
    from agentsandbox.kernel.fs.base import Stat

    Side = tuple[int, str] | None

_CHANGED = {
    "checkout": "Your local changes to the following files would be overwritten by checkout:\n{}"
    "Please commit your changes or stash them before you switch branches.",
    "merge": "Your local changes to the following files would be overwritten by merge:\n{}"
    "Please commit your changes or stash them before you merge.",
}
_UNTRACKED = {
    "checkout": "The following untracked working tree files would be overwritten by checkout:\n{}"
    "Please move or remove them before you switch branches.",
    "merge": "The following untracked working tree files would be overwritten by merge:\n{}"
    "Please move or remove them before you merge.",
}
_REMOVED = {
    "checkout": "The following untracked working tree files would be removed by checkout:\n{}"
    "Please move or remove them before you switch branches.",
    "merge": "The following untracked working tree files would be removed by merge:\n{}"
    "Please move or remove them before you merge.",
}


class Refusals:
    """Paths that stand in the way, by reason."""

    def __init__(self, action: str) -> None:
        self.action = action
        self.staged: list[bytes] = []
        self.changed: list[bytes] = []
        self.untracked: list[bytes] = []
        self.removed: list[bytes] = []
        self.folders: list[bytes] = []
        self._known: set[bytes] = set()
        """All of them that `has_above` has seen, and how many of each reason these were."""
        self._counted = [0] * len(self._lists())

    def __bool__(self) -> bool:
        return bool(
            self.staged or self.changed or self.untracked or self.removed or self.folders
        )

    def has_above(self, path: bytes) -> bool:
        """Whether a file in the way is where a path needs a directory."""
        for number, (found, _, _) in enumerate(self._lists()):
            self._known.update(found[self._counted[number] :])
            self._counted[number] = len(found)
        return any(above in self._known for above in folders_above(path))

    def _lists(self) -> list[tuple[list[bytes], dict[str, str], str]]:
        """Return (paths, texts for lists, text for one path) of each reason, in git's order."""
        return [
            (self.staged, _CHANGED, "Entry '{}' would be overwritten by merge. Cannot merge."),
            (self.changed, _CHANGED, "Entry '{}' not uptodate. Cannot merge."),
            (self.folders, _FOLDERS, "Updating '{}' would lose untracked files in it"),
            (
                self.untracked, _UNTRACKED,
                "Untracked working tree file '{}' would be overwritten by merge.",
            ),
            (
                self.removed, _REMOVED,
                "Untracked working tree file '{}' would be removed by merge.",
            ),
        ]  # fmt: skip

    def error(self) -> GitError:
        """Return the error that lists them, or names the first one, as git words it."""
        kind = self.action
        if kind not in ("checkout", "merge"):
            path, text = min((min(paths), text) for paths, _, text in self._lists() if paths)
            return Plain("error: " + text.replace("{}", decode(path)), 128)
        parts = []
        for paths, texts, _ in self._lists():
            if paths:
                names = "".join([f"\t{decode(path)}\n" for path in sorted(paths)])
                parts.append("error: " + texts[kind].replace("{}", names))
        return Plain("\n".join(parts) + "\nAborting", 1 if kind == "checkout" else 2)


_FOLDERS = {
    "checkout": "Updating the following directories would lose untracked files in them:\n{}",
    "merge": "Updating the following directories would lose untracked files in them:\n{}",
}


class Plan:
    """What is written and removed, once all paths are checked."""

    def __init__(self) -> None:
        self.write: dict[bytes, tuple[int, str]] = {}
        self.remove: list[bytes] = []
        self.submodules: set[bytes] = set()
        """Paths of submodules among those that are removed."""
        self.failed: list[bytes] = []
        """The files whose content is not there."""

    def apply(self, tree: Worktree, index: Index) -> None:
        """Remove and write the files, and note them in the index."""
        for path in self.remove:
            if (
                not tree.remove(path)
                and path in self.submodules
                and tree.stat(path) is not None
            ):
                tree.repository.git.warn(
                    f"unable to rmdir '{decode(path)}': Directory not empty"
                )
        tree.forget_parents()
        for path, (mode, oid) in self.write.items():
            known = index.get(path)
            try:
                fresh = tree.write(path, mode, oid)
            except MissingObject:
                tree.repository.git.say(
                    f"error: unable to read sha1 file of {decode(path)} ({oid})"
                )
                tree.remove(path)
                fresh = Entry(path, mode, oid)
                self.failed.append(path)
            if known is not None:
                fresh.skips, fresh.assumed = known.skips, known.assumed
            index.set_replacing(fresh)


_LEFT = {
    "changed": (
        "The following paths are not up to date and were left despite sparse patterns:",
        "Path '{}' not uptodate; will not remove from working tree.",
    ),
    "unmerged": (
        "The following paths are unmerged and were left despite sparse patterns:",
        "Path '{}' unmerged; will not remove from working tree.",
    ),
    "present": (
        "The following paths were already present and thus not updated despite sparse patterns:",
        "Path '{}' already present; will not overwrite with sparse update.",
    ),
}


class LeftAlone:
    """Files that a sparse checkout would remove or write, and does not."""

    def __init__(self) -> None:
        self.paths: dict[str, list[bytes]] = {"changed": [], "unmerged": [], "present": []}

    def report(self, git: Invocation, *, lists: bool) -> None:
        """Say which they are: in lists, or one error for each."""
        said = False
        for kind, found in self.paths.items():
            paths = sorted(found)
            if paths and lists:
                names = "".join([f"\t{decode(path)}\n" for path in paths])
                git.warn(f"{_LEFT[kind][0]}\n{names}")
                said = True
            elif paths:
                for path in paths:
                    git.error(_LEFT[kind][1].replace("{}", decode(path)))
        if said:
            git.say(
                "After fixing the above paths, you may want to run `git sparse-checkout reapply`."
            )


def _matches(entry: Entry | None, side: Side) -> bool:
    if entry is None or side is None:
        return entry is None and side is None
    return (entry.mode, entry.oid) == side


class Switch:
    """A change from one tree to another."""

    def __init__(
        self, git: Invocation, *, action: str, reset: bool = False, update: bool = True,
        looks: bool = True, overwrite_ignored: bool = True, limits: bool = True,
        conflicts: Iterable[bytes] = (), protects: bool = False,
    ) -> None:  # fmt: skip
        self.git = git
        self.repository: Repository = git.repository
        self.tree = Worktree(self.repository) if self.repository.worktree is not None else None
        self.index = self.repository.index()
        self.action = action
        self.reset = reset
        self.protects = protects or not reset
        """Whether untracked files are kept."""
        self.update = update and self.tree is not None
        self.sparse = self.repository.sparse if limits and self.update else None
        self.left = LeftAlone()
        self._added: set[bytes] = set()
        self._conflicts = {*conflicts, *(self.index.unmerged() if self.sparse is not None else ())}
        """Paths that are in the worktree whatever limits it."""
        self.looks = looks and self.tree is not None
        """Whether files of the worktree must be unchanged, and not only entries."""
        self.stages: dict[bytes, dict[int, tuple[int, str]]] = {}
        """The versions of paths with conflicts."""
        self.is_initial = not self.repository.fs.exists(self.repository.index_path)
        """Whether there is no index yet, so nothing of it can be lost."""
        self.overwrite_ignored = overwrite_ignored
        self.refusals = Refusals("reset" if reset else action)
        self.plan = Plan()
        self._later: list[tuple[bytes, Side]] = []
        self._gone: set[bytes] = set()
        """The paths whose entries go."""
        self._dropped: set[bytes] = set()

    def drop_conflicts(self) -> None:
        """Put an entry that equals nothing in the place of the versions of a conflict.

        Its file is overwritten or removed whatever it contains.
        """
        self._dropped = set(self.index.unmerged())
        for path in self._dropped:
            self.index.remove(path)
            self.index.set_replacing(Entry(path, 0o100644, NULL))

    def two_way(self, old: str | None, new: str | None) -> None:
        """Plan the change from the old tree to the new one."""
        objects = self.repository.objects
        before, after = flat_tree(objects, old), flat_tree(objects, new)
        index = self.index
        self.git.budget.step(1 + (len(before) + len(after)) // 8)
        both = {*before, *after, *self._dropped}
        if not self.reset and not self.is_initial:
            both = {path for path in both if before.get(path) != after.get(path)}
        for path in sorted(both):
            if self.refusals and self.refusals.has_above(path):
                continue
            entry = index.get(path)
            if entry is None and index.has_path(path) and not self.reset:
                raise Plain("error: you need to resolve your current index first", 1)
            self._one(path, entry, before.get(path), after.get(path))

    def one_way(self, new: str | None) -> None:
        """Plan the change to a tree; with `reset` whatever the index has.

        Only a reset also restores files that differ from an entry that stays.
        """
        after = flat_tree(self.repository.objects, new)
        index, tree = self.index, self.tree
        self.git.budget.step(1 + len(after) // 8)
        for entry in list(index):
            if entry.path not in after:
                self._deleted(entry.path, entry)
        for path, side in after.items():
            known = index.get(path)
            if known is not None and (known.mode, known.oid) == side:
                if self.reset and self.update and tree is not None and self._is_changed(known):
                    self.plan.write[path] = side
                continue
            self._merged(path, side, known)

    def _is_changed(self, entry: Entry) -> bool:
        assert self.tree is not None
        if entry.skips:
            return False
        info = self.tree.stat(entry.path)
        if info is None:
            return entry.mode != SUBMODULE
        return entry.mode != SUBMODULE and self._differs(entry, info)

    def _differs(self, entry: Entry, info: Stat) -> bool:
        """Whether a file differs from its entry."""
        if info.is_dir or (self.action == "read-tree" and not entry.is_fresh(info)):
            return True  # plumbing believes `stat`, and is used behind `update-index --refresh`
        if entry.is_fresh(info) and info.mtime < self.index.mtime:
            return False
        assert self.tree is not None
        return self.tree.is_changed(entry, info)

    def _guards(self, entry: Entry) -> bool:
        """Whether a file has changes that must not be lost.

        A reset overwrites them, but not those of a file that nobody is to look at.
        """
        if entry.path in self._dropped or (self.reset and not (entry.assumed or entry.skips)):
            return False
        return self._would_lose(entry)

    def _stays_out(self, entry: Entry) -> bool:
        """Whether a file is not in the worktree, and should not be."""
        return entry.skips and self.sparse is not None and not self.sparse.has(entry.path)

    def _would_lose(self, entry: Entry) -> bool:
        """Whether a file has changes, whatever its entry says about looking at it."""
        if self.tree is None or not self.looks or self._stays_out(entry):
            return False
        info = self.tree.stat(entry.path)
        if info is None or entry.mode == SUBMODULE:
            return False
        return self._differs(entry, info)

    def _one(self, path: bytes, entry: Entry | None, one: Side, two: Side) -> None:
        if entry is None:
            if one is not None and two is not None and not self.reset and not self.is_initial:
                self.refusals.staged.append(path)  # removed in the index, changed in the tree
            elif two is not None:
                self._merged(path, two, None)
            else:
                self._check_removed(path)
            return
        if not _matches(entry, two) and not _matches(entry, one) and not self.reset:
            self.refusals.staged.append(path)
        elif two is None:
            self._deleted(path, entry)
        else:
            self._merged(path, two, entry)

    def _merged(self, path: bytes, side: tuple[int, str], entry: Entry | None) -> None:
        """Plan that a file becomes a version; local changes are not overwritten."""
        if entry is None:
            self.add(path, side)
            return
        if (entry.mode, entry.oid) == side:
            if self.reset and self.update and self._is_changed(entry):
                self.plan.write[path] = side
            return
        if self._guards(entry):
            self.refusals.changed.append(path)
            return
        self._later.append((path, side))
        if self.update:
            self.plan.write[path] = side

    def _deleted(self, path: bytes, entry: Entry) -> None:
        """Plan that a file goes."""
        if self._guards(entry):
            self.refusals.changed.append(path)
            return
        self._later.append((path, None))
        self._gone.add(path)
        if self.update and not self._stays_out(entry):
            self.plan.remove.append(path)

    def _check_removed(self, path: bytes) -> None:
        """Refuse if a file that is not in the index would be removed."""
        tree = self.tree
        if tree is None or not self.update or self.reset or not self.looks:
            return
        if self.sparse is not None and not self.sparse.has(path):
            return
        info = tree.stat(path)
        if info is None or info.is_dir or (
            self.overwrite_ignored and tree.is_ignored(path, False)
        ):  # fmt: skip
            return
        self.refusals.removed.append(path)

    def add(self, path: bytes, side: tuple[int, str]) -> None:
        """Plan a file that the index does not have; untracked files are not overwritten."""
        self._later.append((path, side))
        if not self.update or self.tree is None:
            return
        if self.protects and self.sparse is None and self.looks:
            self._check_untracked(path, side, self.refusals.untracked, self.refusals.folders)
        self.plan.write[path] = side

    def _check_untracked(
        self, path: bytes, side: tuple[int, str], files: list[bytes], folders: list[bytes]
    ) -> None:
        """Note what a new file would overwrite."""
        tree = self.tree
        assert tree is not None
        at = path.find(b"/")
        while at >= 0:  # a file that stays where a directory belongs
            above = path[:at]
            info = tree.stat(above)
            if info is not None and not info.is_dir and above not in self._gone:
                if not (self.overwrite_ignored and tree.is_ignored(above, False)):
                    files.append(above)
                return
            at = path.find(b"/", at + 1)
        info = tree.stat(path)
        if info is None:
            return
        if info.is_dir:
            if side[0] == SUBMODULE:
                return
            for here, _, names in tree.fs.walk(tree.path(path)):
                for name in names:
                    file = encode(f"{here[len(tree.root) + 1 :]}/{name}")
                    if not self.index.has_path(file) and not (
                        self.overwrite_ignored and tree.is_ignored(file, False)
                    ):
                        folders.append(path)
                        return
            return
        if self.overwrite_ignored and tree.is_ignored(path, False):
            return
        files.append(path)

    def finish(self, new: str | None, *, dry_run: bool = False) -> None:
        """Raise if something is in the way, else change worktree and index."""
        if self.refusals:
            raise self.refusals.error()
        if dry_run:
            return
        index = self.index
        for path, side in self._later:
            if side is None:
                entry = index.get(path)
                if entry is not None and entry.mode == SUBMODULE:
                    self.plan.submodules.add(path)
                index.remove(path)
            else:
                entry = index.get(path)
                if entry is None or (entry.mode, entry.oid) != side:
                    self._enter(path, side, entry)
        for path, stages in self.stages.items():
            index.remove(path)
            for stage, version in stages.items():
                index.set(Entry(path, *version, stage))
        if self.sparse is not None:
            self.limit(self.sparse)
        if self.tree is not None and self.update:
            self.plan.apply(self.tree, index)
            if self.plan.failed and self.action != "checkout":
                raise Quit(128)
            if self.plan.failed and not self.reset:
                entry = index.get(self.plan.failed[0])
                if entry is not None:
                    self.git.error(
                        f"invalid object {entry.mode:06o} {entry.oid} for '{decode(entry.path)}'"
                    )
        if self.reset or not self.refusals:
            self._prime(new)
        self.repository.write_index(index)

    def _enter(self, path: bytes, side: tuple[int, str], old: Entry | None) -> None:
        fresh = Entry(path, *side)
        if old is None:
            self._added.add(path)
        elif old.skips:
            fresh.skips = True
        self.index.set_replacing(fresh)

    def restrict(self, sparse: Patterns | None) -> None:
        """Bring index and worktree in line with a sparse checkout, and write the index."""
        if sparse is not None and self.tree is not None:
            self.sparse = sparse
            self.left.paths["unmerged"] = self.index.unmerged()
            self.limit(sparse)
            self.plan.apply(self.tree, self.index)
        self.repository.write_index(self.index)

    def limit(self, sparse: Patterns) -> None:
        """Set which entries of the index are in the worktree, and plan what follows from that."""
        index, plan, changed = self.index, self.plan, self.left.paths["changed"]
        for path in plan.remove:  # git counts them as changed, and removes them all the same
            if self.tree is not None and not sparse.has(path) and self.tree.stat(path) is not None:
                changed.append(path)
        for entry in list(index):
            path = entry.path
            if entry.stage:
                continue
            leaves = path not in self._conflicts and not sparse.has(path)
            if path in self._added:
                if leaves:
                    self._skip(entry)
                elif self._is_in_the_way(path, (entry.mode, entry.oid)):
                    self.left.paths["present"].append(path)
                    plan.write.pop(path, None)
            elif entry.skips and leaves:
                plan.write.pop(path, None)
            elif leaves:
                if path not in plan.write and self._would_lose(entry):
                    changed.append(path)
                    continue
                self._skip(entry)
                plan.remove.append(path)
                if entry.mode == SUBMODULE:
                    plan.submodules.add(path)
            elif entry.skips:
                fresh = entry.copy()
                fresh.skips = False
                index.replace(fresh)
                if self._is_in_the_way(path, (entry.mode, entry.oid)):
                    self.left.paths["present"].append(path)
                else:
                    plan.write[path] = (entry.mode, entry.oid)
        self.left.report(self.git, lists=self.action in ("checkout", "merge", "sparse-checkout"))

    def _skip(self, entry: Entry) -> None:
        fresh = entry.copy()
        fresh.skips = True
        self.index.replace(fresh)
        self.plan.write.pop(entry.path, None)

    def _is_in_the_way(self, path: bytes, side: tuple[int, str]) -> bool:
        """Whether an untracked file or directory is where a file belongs."""
        if self.reset or self.tree is None or not self.update:
            return False
        found: list[bytes] = []
        self._check_untracked(path, side, found, found)
        return bool(found)

    def _prime(self, new: str | None) -> None:
        """Note the trees if the index is now equal to the new one."""
        if new is None:
            return
        from agentsandbox.git.trees import diff_index

        if not diff_index(self.repository, new, self.index):
            prime_cache(self.repository, self.index, new)


def switch_trees(
    git: Invocation,
    old: str | None,
    new: str | None,
    *,
    action: str,
    reset: bool = False,
    update: bool = True,
    one_way: bool = False,
    dry_run: bool = False,
    overwrite_ignored: bool = True,
    limits: bool = True,
    looks: bool = True,
    conflicts: Iterable[bytes] = (),
) -> bool:
    """Move index and worktree from a tree to another; an error lists what would be lost.

    Without `looks` files of the worktree may have changes. Without `limits` a sparse checkout is
    ignored; the paths that had `conflicts` stay in it. Return whether a checkout found the content
    of a file missing; other actions end then.
    """
    switch = Switch(
        git, action=action, reset=reset, update=update, overwrite_ignored=overwrite_ignored,
        limits=limits, looks=looks, conflicts=conflicts,
    )  # fmt: skip
    if reset:
        switch.drop_conflicts()
    if one_way:
        switch.one_way(new)
    else:
        switch.two_way(old, new)
    switch.finish(new, dry_run=dry_run)
    return bool(switch.plan.failed)
