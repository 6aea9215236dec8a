"""Which commit `git bisect` tests next, as git chooses it.

Of the commits that the bad one reaches and no good one does, each has a weight: how many of them it
reaches itself. The best one halves them. Git looks at merges first, then along lines of commits,
and takes the first that is half-way; without one, the best in order. If commits are to be skipped,
all are sorted by how well they halve, and a fixed random number chooses one away from those.
"""

from __future__ import annotations

from agentsandbox.git.history import Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.paths import Pathspec
    from agentsandbox.git.repository import Repository

_MODULO = 32768


class Choice:
    """The commit to test, and what is known about the others."""

    def __init__(self) -> None:
        self.commit: str | None = None
        self.reaches = self.total = 0
        self.tried: list[str] = []
        """Better commits that are skipped."""


class Bisection:
    """The commits between a bad one and good ones."""

    def __init__(
        self, repository: Repository, bad: str, good: list[str], skipped: set[str], *,
        paths: Pathspec | None = None, first_parent: bool = False,
    ) -> None:  # fmt: skip
        self.repository = repository
        self.bad = bad
        self.skipped = skipped
        self.first_parent = first_parent
        walk = Walk(repository)
        walk.tips, walk.hidden = [bad], good
        walk.first_parent = first_parent
        walk.paths = paths
        walk.rewrite = paths is not None
        self.commits = list(walk.run())[::-1]
        """The oldest first."""
        known = set(self.commits)
        self._parents = {
            oid: [
                each
                for each in (walk.parents.get(oid) or repository.parents(oid))[
                    : 1 if first_parent else None
                ]
                if each in known
            ]
            for oid in self.commits
        }
        self._weights = self._weigh()

    def _weigh(self) -> dict[str, int]:
        """Return how many of the commits each one reaches."""
        budget = self.repository.git.budget
        masks: dict[str, int] = {}
        pending = list(self.commits)
        while pending:
            later = []
            for oid in pending:
                budget.step(1 + len(self.commits) // 4096)
                if any(parent not in masks for parent in self._parents[oid]):
                    later.append(oid)
                    continue
                mask = 1 << len(masks)
                for parent in self._parents[oid]:
                    mask |= masks[parent]
                masks[oid] = mask
            if len(later) == len(pending):
                break
            pending = later
        return {oid: mask.bit_count() for oid, mask in masks.items()}

    def _is_halfway(self, oid: str) -> bool:
        difference = 2 * self._weights[oid] - len(self.commits)
        return abs(difference) <= 1 or abs(difference) < len(self.commits) // 1024

    def choose(self) -> Choice:
        """Return the commit to test."""
        found = Choice()
        found.total = len(self.commits)
        if not self.commits:
            return found
        if not self.skipped:
            found.commit = self._best()
            found.reaches = self._weights[found.commit]
            return found
        ranked = sorted(self.commits, key=lambda oid: (-self._distance(oid), oid))
        found.reaches = self._weights[ranked[0]]
        if ranked[0] not in self.skipped:
            found.commit = ranked[0]
            return found
        found.tried = [oid for oid in ranked if oid in self.skipped]
        rest = [oid for oid in ranked if oid not in self.skipped]
        found.commit = self._away(rest) if rest else None
        return found

    def _distance(self, oid: str) -> int:
        return min(self._weights[oid], len(self.commits) - self._weights[oid])

    def _best(self) -> str:
        for oid in self.commits:
            if len(self._parents[oid]) > 1 and self._is_halfway(oid):
                return oid
        for oid in self.commits:
            if len(self._parents[oid]) == 1 and self._is_halfway(oid):
                return oid
        best = self.commits[0]
        for oid in self.commits:
            if self._distance(oid) > self._distance(best):
                best = oid
        return best

    def _away(self, rest: list[str]) -> str:
        count = len(rest)
        number = (((count * 1103515245 + 12345) & 0xFFFFFFFF) // 65536) % _MODULO
        index = (count * number // _MODULO) * _root(number) // _root(_MODULO)
        if index >= len(rest):
            return rest[0]
        if rest[index] != self.bad:
            return rest[index]
        return rest[index - 1] if index else rest[0]


def _root(value: int) -> int:
    """Return a square root as git computes it."""
    if not value:
        return 0
    x = float(value)
    while True:
        y = (x + value / x) / 2
        difference, x = abs(y - x), y
        if difference < 0.5:
            return int(x)


def steps_left(total: int) -> int:
    """Return about how many tests are left."""
    if total < 3:
        return 0
    power = total.bit_length() - 1
    size = 1 << power
    return power if size < 3 * (total - size) else power - 1
