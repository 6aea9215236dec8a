"""Merges of several heads at once, one after the other: git's strategy "octopus".

Each head is merged into the result so far: it is skipped if it brings nothing, taken as it is if
nothing else was merged before it, else merged by whole files, and file by file where both sides
changed one. Only the last head may leave conflicts; with an earlier one it is no octopus.
"""

from __future__ import annotations

from agentsandbox.git.diff.merge import TextMerge
from agentsandbox.git.errors import GitError
from agentsandbox.git.history import independent, merge_bases
from agentsandbox.git.index import Entry
from agentsandbox.git.objects import LINK, SUBMODULE
from agentsandbox.git.paths import quote_path
from agentsandbox.git.three_way import ThreeWay
from agentsandbox.git.trees import diff_index, write_index_tree
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.git.worktree import Worktree
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.merge_messages import Head
    from agentsandbox.git.repository import Repository


def octopus_bases(repository: Repository, commits: list[str]) -> list[str]:
    """Return the best common ancestors of all commits."""
    bases = commits[:1]
    for oid in commits[1:]:
        bases = independent(
            repository, [base for each in bases for base in merge_bases(repository, each, [oid])]
        )
    return bases


class Octopus:
    """One merge of several heads."""

    def __init__(self, git: Invocation, head: str) -> None:
        self.git = git
        self.repository = git.repository
        self.objects = git.repository.objects
        self.head = head
        self.merged = [head]
        """The commits whose changes are in the result so far."""
        self.tree = self.objects.commit(head).tree

    def merge(self, heads: list[Head]) -> int:
        """Merge heads into index and worktree: 0 if that is clean, 1 with conflicts of the last
        one, 2 if it cannot be done.
        """
        git = self.git
        if len(heads) < 2:
            return 2
        staged = diff_index(self.repository, self.tree, self.repository.index())
        if staged:
            high = git.config.flag("core.quotepath", True)
            git.print(
                "Error: Your local changes to the following files would be overwritten by merge"
            )
            for delta in staged:
                git.print(f"    {quote_path(delta.path, high=high)}")
            return 2
        forward, failed = True, False
        for head in heads:
            if failed:
                git.print("Automated merge did not work.")
                git.print("Should not be doing an octopus.")
                return 2
            bases = self._bases(head.commit)
            if not bases:
                git.flush()
                git.say(f"Unable to find common commit with {head.name}")
                return 1
            if head.commit in bases:
                git.print(f"Already up to date with {head.name}")
                continue
            try:
                if forward and bases == self.merged:
                    git.print(f"Fast-forwarding to: {head.name}")
                    self._forward(head.commit)
                    continue
                forward = False
                git.print(f"Trying simple merge with {head.name}")
                git.flush()
                failed = not self._merge(bases, head.commit)
            except GitError as error:
                git.flush()
                git.say(error.message)
                return 2
        return 1 if failed else 0

    def _bases(self, commit: str) -> list[str]:
        return merge_bases(self.repository, commit, self.merged)

    def _forward(self, commit: str) -> None:
        tree = self.objects.commit(commit).tree
        switch_trees(self.git, self.objects.commit(self.head).tree, tree, action="octopus")
        self.merged, self.tree = [commit], tree

    def _merge(self, bases: list[str], commit: str) -> bool:
        """Merge a commit into the result; return whether there are no conflicts."""
        work = ThreeWay(self.git, action="octopus")
        trees = [self.objects.commit(oid).tree for oid in (*bases, commit)]
        work.three_way(trees[:-1], self.tree, trees[-1], aggressive=True)
        work.finish(None)
        index = self.repository.index()
        clean = True
        if index.unmerged():
            self.git.print("Simple merge did not work, trying automatic merge.")
            self.git.flush()
            files = FileMerge(self.git)
            clean = files.merge_all()
            index = self.repository.index()
        self.merged.append(commit)
        if clean:
            self.tree = write_index_tree(self.repository, index)
            self.repository.write_index(index)
        return clean


class FileMerge:
    """Merges the files of an index that have several versions."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.repository = git.repository
        self.objects = git.repository.objects
        self.tree = Worktree(git.repository)
        self.index = git.repository.index()

    def merge_all(self) -> bool:
        """Merge all files; return whether there are no conflicts left."""
        failed = False
        for path in self.index.unmerged():
            self.git.budget.step()
            problem = self._merge(path)
            if problem:
                self.git.flush()
                for line in problem.split("\n"):
                    self.git.say(f"ERROR: {line}")
                failed = True
        self.repository.write_index(self.index)
        if failed:
            self.git.flush()
            self.git.say("fatal: merge program failed")
        return not failed

    def _merge(self, path: bytes) -> str:
        """Merge one file; return what is in the way, "" if nothing is."""
        # long: the cases of three versions
        stages = self.index.stages(path)
        old, ours, theirs = (stages.get(stage) for stage in (1, 2, 3))
        name = decode(path)
        if old is not None and (ours is None or theirs is None):
            kept = ours or theirs
            if kept is None or kept.oid == old.oid:
                if kept is not None and kept.mode != old.mode:
                    return (
                        f"File {name} deleted on one branch but had its\n"
                        "permissions changed on the other."
                    )
                return self._remove(path, ours)
            cases = [entry.oid if entry is not None else "" for entry in (old, ours, theirs)]
            return f"{name}: Not handling case {' -> '.join(cases)}"
        if theirs is None:
            assert ours is not None
            self.index.set_replacing(Entry(path, ours.mode, ours.oid))
            return ""
        if ours is None:
            self.git.print(f"Adding {name}")
            info = self.tree.stat(path)
            if info is not None and info.is_file:
                return f"untracked {name} is overwritten by the merge."
            self.index.set_replacing(self.tree.write(path, theirs.mode, theirs.oid))
            return ""
        if old is None and ours.oid == theirs.oid:
            if ours.mode != theirs.mode:
                return (
                    f"File {name} added identically in both branches,\n"
                    f"but permissions conflict {ours.mode:06o}->{theirs.mode:06o}."
                )
            self.git.print(f"Adding {name}")
            self.index.set_replacing(self.tree.write(path, ours.mode, ours.oid))
            return ""
        return self._texts(path, old, ours, theirs)

    def _remove(self, path: bytes, ours: Entry | None) -> str:
        self.index.remove(path)
        if ours is not None:
            self.git.print(f"Removing {decode(path)}")
            info = self.tree.stat(path)
            if info is not None and info.is_file:
                self.tree.remove(path)
        return ""

    def _texts(self, path: bytes, old: Entry | None, ours: Entry, theirs: Entry) -> str:
        name = decode(path)
        for mode, what in (
            (LINK, "symbolic link changes"), (SUBMODULE, "conflicting submodule changes"),
        ):  # fmt: skip
            if mode in (ours.mode, theirs.mode):
                return f"{name}: Not merging {what}."
        if old is None:
            self.git.print(f"Added {name} in both, but differently.")
        else:
            self.git.print(f"Auto-merging {name}")
        texts = [
            self.objects.blob(entry.oid) if entry is not None else b""
            for entry in (old, ours, theirs)
        ]
        if any(b"\0" in text[:8000] for text in texts):
            self.git.flush()
            self.git.error(f"Cannot merge binary files: {_LABELS[0]}")
            conflicts, merged = True, texts[1]
        else:
            self.git.budget.charge(sum(map(len, texts)))
            work = TextMerge(
                self.git.budget, labels=_LABELS, algorithm="myers", join_signs=True,
                style=self.git.config.get("merge.conflictstyle", "merge"),
            )  # fmt: skip
            merged = work.merge(*texts)
            conflicts = bool(work.conflicts)
        self.tree.write(path, ours.mode, ours.oid)
        self.tree.write_data(path, ours.mode, self.tree.attributes.to_worktree(path, merged))
        problem = "content conflict" if conflicts or old is None else ""
        if ours.mode != theirs.mode:
            before = f"{old.mode:06o}" if old is not None else ""
            problem += ", " if problem else ""
            problem += f"permissions conflict: {before}->{ours.mode:06o},{theirs.mode:06o}"
        if problem:
            return f"{problem} in {name}"
        entry = Entry(path, ours.mode, self.objects.write("blob", merged))
        info = self.tree.stat(path)
        if info is not None:
            entry.remember(info)
        self.index.set_replacing(entry)
        return ""


_LABELS = (".merge_file_ours", ".merge_file_base", ".merge_file_theirs")
"""git names its temporary files; their names are random."""
