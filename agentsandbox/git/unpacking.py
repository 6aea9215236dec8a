"""Moving index and worktree from one tree to another without losing changes.

`switch_trees` is git's two-way merge: a path that is equal in both trees keeps what index and
worktree have; one that differs must be unchanged, or already as in the new tree. Nothing is touched
before all paths are checked.
"""

from __future__ import annotations

from agentsandbox.git.errors import GitError, MissingObject, Plain, Quit
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.objects import NULL, SUBMODULE
from agentsandbox.git.trees import flat_tree, prime_cache
from agentsandbox.git.worktree import Worktree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository

    Side = tuple[int, str] | None

_CHANGED = {
    "checkout": "Your local changes to the following files would be overwritten by checkout:\n{}"
    "Please commit your changes or stash them before you switch branches.",
    "merge": "Your local changes to the following files would be overwritten by merge:\n{}"
    "Please commit your changes or stash them before you merge.",
    "reset": "Entry '{}' not uptodate. Cannot merge.",
}
_UNTRACKED = {
    "checkout": "The following untracked working tree files would be overwritten by checkout:\n{}"
    "Please move or remove them before you switch branches.",
    "merge": "The following untracked working tree files would be overwritten by merge:\n{}"
    "Please move or remove them before you merge.",
    "reset": "The following untracked working tree files would be overwritten by reset:\n{}"
    "Please move or remove them before you reset.",
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
        self.changed: list[bytes] = []
        self.untracked: list[bytes] = []
        self.removed: list[bytes] = []
        self.folders: list[bytes] = []

    def __bool__(self) -> bool:
        return bool(self.changed or self.untracked or self.removed or self.folders)

    def error(self, *, aborts: bool = True) -> GitError:
        """Return the error that lists them, as git words it."""
        kind = self.action if self.action in _UNTRACKED else ""
        parts = []
        for paths, texts in (
            (self.changed, _CHANGED), (self.folders, _FOLDERS), (self.untracked, _UNTRACKED),
            (self.removed, _REMOVED),
        ):  # fmt: skip
            if not paths:
                continue
            if kind in texts and kind != "reset":
                names = "".join([f"\t{decode(path)}\n" for path in sorted(paths)])
                parts.append("error: " + texts[kind].replace("{}", names))
            elif paths is self.changed:
                parts.append(f"error: Entry '{decode(paths[0])}' not uptodate. Cannot merge.")
            else:
                parts.append(
                    f"error: Untracked working tree file '{decode(paths[0])}' would be "
                    "overwritten by merge."
                )
        text = "\n".join(parts)
        return Plain(
            text + ("\nAborting" if aborts and kind in ("checkout", "merge") else ""),
            1 if kind == "checkout" else 2 if kind == "merge" else 128,
        )


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
            try:
                index.set_replacing(tree.write(path, mode, oid))
            except MissingObject:
                tree.repository.git.say(
                    f"error: unable to read sha1 file of {decode(path)} ({oid})"
                )
                tree.remove(path)
                index.set_replacing(Entry(path, mode, oid))
                self.failed.append(path)


def _matches(entry: Entry | None, side: Side) -> bool:
    if entry is None or side is None:
        return entry is None and side is None
    return (entry.mode, entry.oid) == side


class Switch:
    """A change from one tree to another."""

    def __init__(
        self, git: Invocation, *, action: str, reset: bool = False, update: bool = True,
        keep: bool = False, overwrite_ignored: bool = True,
    ) -> None:  # fmt: skip
        self.git = git
        self.repository: Repository = git.repository
        self.tree = Worktree(self.repository) if self.repository.worktree is not None else None
        self.index = self.repository.index()
        self.is_first = not len(self.index) and not self.repository.fs.exists(
            self.repository.index_path
        )
        """Whether there is no index yet, so nothing of it can be lost."""
        self.action = action
        self.reset = reset
        self.update = update and self.tree is not None
        self.keep = keep
        self.overwrite_ignored = overwrite_ignored
        self.refusals = Refusals(action)
        self.plan = Plan()
        self._later: list[tuple[bytes, Side]] = []

    def two_way(self, old: str | None, new: str | None) -> None:
        """Plan the change from the old tree to the new one."""
        objects = self.repository.objects
        before, after = flat_tree(objects, old), flat_tree(objects, new)
        index = self.index
        self.git.budget.step(1 + (len(before) + len(after)) // 8)
        for path in before.keys() | after.keys():
            one, two = before.get(path), after.get(path)
            if one == two and not self.reset:
                continue
            entry = index.get(path)
            if entry is None and index.has_path(path) and not self.reset:
                raise Plain("error: you need to resolve your current index first", 1)
            self._one(path, entry, one, two)

    def one_way(self, new: str | None) -> None:
        """Plan the change to a tree, whatever the index has.

        Only a reset (--hard) also restores files that differ from an entry that stays.
        """
        after = flat_tree(self.repository.objects, new)
        index, tree = self.index, self.tree
        self.git.budget.step(1 + len(after) // 8)
        for entry in list(index):
            if entry.path not in after:
                self._later.append((entry.path, None))
                if self.update:
                    self.plan.remove.append(entry.path)
        for path, side in after.items():
            known = index.get(path)
            if known is not None and (known.mode, known.oid) == side:
                restores = self.reset and self.update and tree is not None
                if restores and self._is_changed(known):
                    self.plan.write[path] = side
                continue
            self._later.append((path, side))
            if self.update:
                self.plan.write[path] = side

    def _is_changed(self, entry: Entry) -> bool:
        assert self.tree is not None
        if entry.skips or entry.assumed:
            return False
        info = self.tree.stat(entry.path)
        if info is None:
            return entry.mode != SUBMODULE
        if entry.mode == SUBMODULE:
            return False
        if info.is_dir:
            return True
        if entry.is_fresh(info) and info.mtime < self.index.mtime:
            return False
        return self.tree.is_changed(entry, info)

    def _one(self, path: bytes, entry: Entry | None, one: Side, two: Side) -> None:
        if entry is None:
            if one is not None and two is None:
                return
            if one is not None and two is not None and not self.reset and not self.is_first:
                self.refusals.changed.append(path)  # removed in the index, changed in the tree
                return
            if two is not None:
                self._add(path, two)
            return
        if _matches(entry, two):
            if self.reset and self.update and self.tree is not None and self._is_changed(entry):
                assert two is not None
                self.plan.write[path] = two
            return
        if not _matches(entry, one) and not self.reset:
            self.refusals.changed.append(path)
            return
        if self.tree is not None and self.update and not self.reset and self._is_changed(entry):
            info = self.tree.stat(path)
            if info is not None or (two is not None and not self._is_missing(path)):
                self.refusals.changed.append(path)
                return
        if two is None:
            self._later.append((path, None))
            if self.update:
                self.plan.remove.append(path)
        else:
            self._later.append((path, two))
            if self.update:
                self.plan.write[path] = two

    def _is_missing(self, path: bytes) -> bool:
        return self.tree is not None and self.tree.stat(path) is None

    def _add(self, path: bytes, side: tuple[int, str]) -> None:
        """Plan a file that the index does not have; untracked files are not overwritten."""
        self._later.append((path, side))
        if not self.update or self.tree is None:
            return
        if not self.reset:
            self._check_untracked(path, side)
        self.plan.write[path] = side

    def _check_untracked(self, path: bytes, side: tuple[int, str]) -> None:
        tree = self.tree
        assert tree is not None
        at = path.find(b"/")
        while at >= 0:  # an untracked file where a directory belongs
            above = path[:at]
            info = tree.stat(above)
            if info is not None and not info.is_dir and not self.index.has_path(above):
                if not (self.overwrite_ignored and tree.is_ignored(above, False)):
                    self.refusals.untracked.append(above)
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
                        self.refusals.folders.append(path)
                        return
            return
        if self.overwrite_ignored and tree.is_ignored(path, False):
            return
        if tree.hash(path, info) == side[1]:
            from agentsandbox.git.worktree import mode_of

            if mode_of(info) == side[0]:
                return
        self.refusals.untracked.append(path)

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
                    index.set_replacing(Entry(path, *side))
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
) -> bool:
    """Move index and worktree from a tree to another; an error lists what would be lost.

    Return whether a checkout found the content of a file missing; other actions end then.
    """
    switch = Switch(
        git, action=action, reset=reset, update=update, overwrite_ignored=overwrite_ignored
    )
    if reset and one_way:
        for path in switch.index.unmerged():
            switch.index.remove(path)
            switch.index.set_replacing(Entry(path, 0o100644, NULL))
        switch.one_way(new)
    elif one_way:
        switch.one_way(new)
    else:
        switch.two_way(old, new)
    switch.finish(new, dry_run=dry_run)
    return bool(switch.plan.failed)


def three_way_index(
    repository: Repository, index: Index, base: str, ours: str, theirs: str, *, aggressive: bool
) -> Index:
    """Return the index of a trivial three-way merge: what is not clear has three stages."""
    objects = repository.objects
    ancestor, one, two = (flat_tree(objects, tree) for tree in (base, ours, theirs))
    made = Index()
    made.mtime = index.mtime
    for path in sorted(ancestor.keys() | one.keys() | two.keys()):
        old, left, right = ancestor.get(path), one.get(path), two.get(path)
        chosen: Side = None
        clear = True
        if left == right and left is not None:
            chosen = left
        elif left == right:
            clear = aggressive
        elif old == left and right is not None and (old is not None or left is None):
            chosen = right
            clear = old is not None or aggressive
        elif old == right and left is not None:
            chosen = left
        elif (old in (left, right)) and aggressive:
            chosen = None
        else:
            clear = False
        if clear:
            if chosen is not None:
                known = index.get(path)
                entry = Entry(path, *chosen)
                made.set(
                    known if known is not None and (known.mode, known.oid) == chosen else entry
                )
            continue
        for stage, side in ((1, old), (2, left), (3, right)):
            if side is not None:
                made.set(Entry(path, *side, stage))
    return made
