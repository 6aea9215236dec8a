"""Who last changed each line of a file.

All lines begin with the newest version. A version is compared with the same file in each parent of
its commit; lines that are equal are handed to the parent's version, under the old name if the file
was renamed. What no parent has is the work of the commit. Versions are taken by date, so that the
lines that come to one on several ways are compared at once.
"""

from __future__ import annotations

import heapq

from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.diff.printing import DiffPrinter
from agentsandbox.git.diff.xdiff import EXACT, Whitespace, diff_lines, split_lines
from agentsandbox.git.trees import diff_index, diff_trees, tree_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.git.invocation import Invocation

    Run = tuple[int, int, int]
    """(line of the result, line of the version, number of lines), counted from 0."""


class Version:
    """A file in a commit; the worktree is the commit ""."""

    __slots__ = ("commit", "lines", "oid", "path", "previous", "runs")

    def __init__(self, commit: str, path: bytes, oid: str, lines: list[bytes]) -> None:
        self.commit = commit
        self.path = path
        self.oid = oid
        self.lines = lines
        self.runs: list[Run] = []
        """What it is to blame for, in the end."""
        self.previous: Version | None = None


class Piece:
    """Lines in a row that come from one version."""

    __slots__ = ("line", "origin", "size", "version")

    def __init__(self, version: Version, line: int, origin: int, size: int) -> None:
        self.version = version
        self.line = line
        """The first line in the result, from 0."""
        self.origin = origin
        """The first line in the version, from 0."""
        self.size = size


class Blame:
    """The search for the commits of lines."""

    def __init__(
        self, git: Invocation, *, whitespace: Whitespace = EXACT, first_parent: bool = False,
        since: int | None = None, hidden: Sequence[str] = (), algorithm: str = "myers",
    ) -> None:  # fmt: skip
        self.git = git
        self.repository = git.repository
        self.objects = git.repository.objects
        self.whitespace = whitespace
        self.first_parent = first_parent
        self.since = since
        self.algorithm = algorithm
        self.worktree_parents: list[str] = []
        self.excluded = self._ancestors(hidden)
        self._versions: dict[tuple[str, bytes], Version] = {}
        self._waiting: dict[tuple[str, bytes], list[Run]] = {}
        self._heap: list[tuple[int, int, str, bytes]] = []
        self._count = 0

    def _ancestors(self, tips: Sequence[str]) -> set[str]:
        found: set[str] = set()
        pending = list(tips)
        while pending:
            oid = pending.pop()
            if oid not in found:
                self.git.budget.step()
                found.add(oid)
                pending += self.repository.parents(oid)
        return found

    def version(self, commit: str, path: bytes, oid: str) -> Version:
        """Return the version of a file in a commit, with its lines."""
        key = (commit, path)
        found = self._versions.get(key)
        if found is None:
            found = Version(commit, path, oid, split_lines(self.objects.blob(oid)))
            self.git.budget.charge(64 * len(found.lines))
            self._versions[key] = found
        return found

    def add(self, version: Version) -> None:
        """Take in a version that was made elsewhere."""
        self._versions[version.commit, version.path] = version

    def run(self, start: Version, ranges: list[tuple[int, int]]) -> list[Piece]:
        """Return the lines of some ranges (first, end) of a version, with where they come from."""
        self._hand(start, [(first, first, end - first) for first, end in ranges if end > first])
        while self._heap:
            _, _, commit, path = heapq.heappop(self._heap)
            runs = self._waiting.pop((commit, path), None)
            if runs is not None:
                self._judge(self._versions[commit, path], sorted(runs))
        pieces = [
            Piece(version, *run) for version in self._versions.values() for run in version.runs
        ]
        pieces.sort(key=lambda piece: piece.line)
        joined: list[Piece] = []
        for piece in pieces:
            last = joined[-1] if joined else None
            if (
                last is not None
                and last.version is piece.version
                and last.line + last.size == piece.line
                and last.origin + last.size == piece.origin
            ):
                last.size += piece.size
            else:
                joined.append(piece)
        return joined

    def _hand(self, version: Version, runs: list[Run]) -> None:
        if not runs:
            return
        key = (version.commit, version.path)
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting += runs
            return
        self._waiting[key] = list(runs)
        self._count += 1
        time = self.objects.commit(version.commit).time if version.commit else 1 << 62
        heapq.heappush(self._heap, (-time, self._count, *key))

    def is_boundary(self, commit: str) -> bool:
        """Whether history is not followed beyond a commit."""
        if commit in self.excluded:
            return True
        return (
            self.since is not None
            and bool(commit)
            and self.objects.commit(commit).time < self.since
        )

    def _parents(self, commit: str) -> list[str]:
        found = list(self.repository.parents(commit)) if commit else self.worktree_parents
        return found[:1] if self.first_parent else found

    def _judge(self, version: Version, runs: list[Run]) -> None:
        """Hand the lines that parents have to them; the others stay."""
        self.git.budget.step(1 + len(runs))
        if self.is_boundary(version.commit):
            version.runs += runs
            return
        parents: list[Version] = []
        for finder in (self._same_name, self._renamed):
            found_in = {one.commit for one in parents}
            for parent in self._parents(version.commit):
                if parent in found_in:
                    continue
                found = finder(version, parent)
                if found is None:
                    continue
                if found.oid == version.oid:
                    self._hand(found, runs)
                    return
                if all(found.oid != other.oid for other in parents):
                    parents.append(found)
        order = self._parents(version.commit)
        for parent_version in sorted(parents, key=lambda one: order.index(one.commit)):
            version.previous = version.previous or parent_version
            runs = self._pass(version, parent_version, runs)
            if not runs:
                return
        version.runs += runs

    def _same_name(self, version: Version, parent: str) -> Version | None:
        found = tree_entry(self.objects, self.objects.commit(parent).tree, version.path)
        if found is None or found[0] & 0o170000 not in (0o100000, 0o120000):
            return None
        return self.version(parent, version.path, found[1])

    def _renamed(self, version: Version, parent: str) -> Version | None:
        repository = self.repository
        old = self.objects.commit(parent).tree
        if version.commit:
            deltas = diff_trees(self.objects, old, self.objects.commit(version.commit).tree)
        else:
            deltas = diff_index(repository, old, repository.index())
        options = DiffOptions()
        options.renames = 1
        options.rename_limit = 1000
        for one in DiffPrinter(self.git, options).prepare(deltas):
            if one.new_path == version.path and one.status in "RC":
                return self.version(parent, one.old_path, one.old_oid)
        return None

    def _pass(self, version: Version, parent: Version, runs: list[Run]) -> list[Run]:
        """Hand the lines that a parent's version has to it; return the others."""
        changes = diff_lines(
            parent.lines, version.lines, self.git.budget, algorithm=self.algorithm,
            whitespace=self.whitespace,
        )  # fmt: skip
        handed: list[Run] = []
        kept: list[Run] = []
        at, shift = 0, 0
        for final, line, size in runs:
            while size:
                while at < len(changes) and changes[at].new + changes[at].inserted <= line:
                    shift = (
                        changes[at].old
                        + changes[at].deleted
                        - (changes[at].new + changes[at].inserted)
                    )
                    at += 1
                change = changes[at] if at < len(changes) else None
                if change is None or line < change.new:
                    count = size if change is None else min(size, change.new - line)
                    handed.append((final, line + shift, count))
                else:
                    count = min(size, change.new + change.inserted - line)
                    kept.append((final, line, count))
                final, line, size = final + count, line + count, size - count
        self._hand(parent, handed)
        return kept


def worktree_version(path: bytes, data: bytes) -> Version:
    """Return the version of a file that is in the worktree."""
    return Version("", path, "", split_lines(data))
