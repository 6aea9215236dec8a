"""git's three-way merge of index, worktree and trees, by whole files (`read-tree -m`).

For each path there are the entry of the index, versions in the ancestors, ours and theirs. If only
one side changed it, that version is taken; what is not clear keeps its versions as stages. The
entry must be ours (or what is taken), and its file unchanged if it is written. A path is blocked in
a tree that has a directory there, or a file in the place of a directory above it.

git's documentation (`technical/trivial-merge`) numbers the cases; the code follows their order.
"""

from __future__ import annotations

from agentsandbox.git.index import Entry
from agentsandbox.git.trees import flat_tree, folders_above, folders_of
from agentsandbox.git.unpacking import Switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    Side = tuple[int, str] | None

_BLOCKED = (0, "blocked")
"""The version of a path in a tree that has a directory there, or a file above it."""


class ThreeWay(Switch):
    """A merge of trees into index and worktree."""

    def three_way(self, bases: list[str], ours: str, theirs: str, *, aggressive: bool) -> None:
        """Plan the merge of trees; `finish` makes the changes."""
        objects = self.repository.objects
        trees = [flat_tree(objects, tree) for tree in (*bases, ours, theirs)]
        paths = set().union(*trees)
        paths.update([entry.path for entry in self.index if not entry.stage])
        self.git.budget.step(1 + len(paths) // 4)
        folders = [folders_of(tree) for tree in trees]
        self.aggressive = aggressive
        for path in sorted(paths):
            sides: list[Side] = []
            for tree, below in zip(trees, folders, strict=True):
                side = tree.get(path)
                if side is None and (
                    path in below or any(above in tree for above in folders_above(path))
                ):
                    side = _BLOCKED
                sides.append(side)
            self._merge(path, self.index.get(path), sides[:-2], sides[-2], sides[-1])

    def _merge(
        self, path: bytes, entry: Entry | None, ancestors: list[Side], ours: Side, theirs: Side
    ) -> None:
        # long: one case after the other, in git's order
        missing = any(side is None or side == _BLOCKED for side in ancestors)
        blocked_ours, blocked_theirs = ours == _BLOCKED, theirs == _BLOCKED
        ours = None if blocked_ours else ours
        theirs = None if blocked_theirs else theirs
        known = (entry.mode, entry.oid) if entry is not None else None
        ours_old = theirs_old = False
        if ours != theirs:
            ours_old, theirs_old = ours in ancestors, theirs in ancestors
        if theirs is not None and not blocked_ours and ours_old and not theirs_old:
            if entry is not None and known not in (theirs, ours):
                self.refusals.staged.append(path)
                return
            self._merged(path, theirs, entry)
            return
        if entry is not None and known != ours:
            self.refusals.staged.append(path)
            return
        if ours is not None:
            if ours == theirs or (not blocked_theirs and theirs_old and not ours_old):
                self._merged(path, ours, entry)
                return
        if ours is None and theirs is None and missing:
            return
        if self.aggressive and (
            (ours is None and theirs is None)
            or (ours is None and theirs_old)
            or (theirs is None and ours_old)
        ):
            if entry is not None:
                self._deleted(path, entry)
            elif ours is not None:
                self._check_removed(path)
            return
        if entry is not None and self._would_lose(entry):
            self.refusals.changed.append(path)
            return
        stages: dict[int, tuple[int, str]] = {}
        if not (ours_old and theirs_old):
            old = next((side for side in ancestors if side not in (None, _BLOCKED)), None)
            if old is not None:
                stages[1] = old
        if ours is not None:
            stages[2] = ours
        if theirs is not None:
            stages[3] = theirs
        self.stages[path] = stages
