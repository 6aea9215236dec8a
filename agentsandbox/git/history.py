"""Walking history: which commits, in which order, and merge bases.

Commits come from a heap by commit date. What is excluded is walked along, so that its ancestors are
found before they are shown; the walk ends when only excluded commits are left (and a few more, for
clocks that went wrong, as in git).
"""

from __future__ import annotations

import heapq

from agentsandbox.git.errors import Fatal, MissingObject
from agentsandbox.git.objects import seconds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.git.paths import Pathspec
    from agentsandbox.git.repository import Repository

_SLOP = 5


class Walk:
    """A walk through history and what it shows."""

    # long: one attribute for each option
    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.objects = repository.objects
        self.budget = repository.git.budget
        self.tips: list[str] = []
        self.hidden: list[str] = []
        self.left: set[str] = set()
        """Commits that are reached from the left side of A...B; grows."""
        self.order = "date"
        """"date", "topo", "date-topo" (--date-order) or "author-topo"."""
        self.reverse = False
        self.first_parent = False
        self.most: int | None = None
        self.skip = 0
        self.since: int | None = None
        self.until: int | None = None
        self.least_parents = 0
        self.most_parents: int | None = None
        self.accepts: Callable[[str], bool] | None = None
        """A test of commits (author, message …)."""
        self.paths: Pathspec | None = None
        self.full_history = False
        self.dense = True
        self.rewrite = False
        """Whether parents are those that are shown (--graph, --parents)."""
        self.no_walk = False
        self.boundary = False
        self.ancestry = False
        self.parents: dict[str, tuple[str, ...]] = {}
        """The parents of each commit as the walk sees them."""
        self.boundaries: list[str] = []
        self.marks_sides = False
        """Whether commits are marked by their side of A...B."""
        self._listed: set[str] | None = None
        self._same: dict[str, bool] = {}
        self._excluded: set[str] = set()

    def run(self) -> Iterator[str]:
        """Yield the commits to show."""
        if self.no_walk:
            return iter(self._limited(iter(self._unwalked())))
        commits: Iterable[str]
        limited = self.order != "date" or bool(self.hidden) or self.rewrite or self.boundary
        commits = self._walk()
        if limited:
            found = list(commits)
            found = [oid for oid in found if oid not in self._excluded]
            if self.ancestry:
                found = self._on_the_way(found)
            if self.rewrite and self.paths:
                self._rewrite_parents(found)
            if self.order != "date":
                found = self._topological(found)
            if self.boundary:
                edge = self._find_boundaries(found)
                found += edge if self.order == "date" else self._topological(edge)
            self._listed = set(found)
            commits = found
        shown = self._limited(iter(commits))
        if self.reverse:
            return iter(list(shown)[::-1])
        return shown

    def will_show(self, oid: str) -> bool:
        """Whether a commit belongs to what is shown, but for --max-count and --skip."""
        return (self._listed is None or oid in self._listed) and self._is_shown(oid)

    def _unwalked(self) -> list[str]:
        return list(dict.fromkeys(self.tips))

    # walking

    def _parents_of(self, oid: str) -> tuple[str, ...]:
        found = self.parents.get(oid)
        if found is None:
            found = self.repository.parents(oid)
            if self.first_parent:
                found = found[:1]
            if self.paths:
                found = self._simplified(oid, found)
            self.parents[oid] = found
        return found

    def _simplified(self, oid: str, parents: tuple[str, ...]) -> tuple[str, ...]:
        """Return the parents that the paths come from, and note whether nothing changed."""
        tree = self.objects.commit(oid).tree
        if not parents:
            self._same[oid] = not self._differs(None, tree)
            return parents
        same = [
            parent
            for parent in parents
            if not self._differs(self.objects.commit(parent).tree, tree)
        ]
        if same and not self.full_history:
            self._same[oid] = True
            return (same[0],)
        self._same[oid] = (
            len(same) == len(parents)
            if len(parents) == 1 or not (self.full_history and self.rewrite)
            else False
        )
        if self.full_history and same and len(parents) > 1:
            self._same[oid] = not self.rewrite
        return parents

    def _differs(self, old: str | None, new: str) -> bool:
        """Whether two trees differ in the paths."""
        if old == new:
            return False
        paths = self.paths
        assert paths is not None
        pending: list[tuple[bytes, str | None, str | None]] = [(b"", old, new)]
        while pending:
            base, left, right = pending.pop()
            before = (
                {name: (mode, oid) for name, mode, oid in self.objects.tree(left)} if left else {}
            )
            after = (
                {name: (mode, oid) for name, mode, oid in self.objects.tree(right)} if right else {}
            )
            for name, one in before.items():
                two = after.get(name)
                if one != two and self._concerns(base + name, one, two, pending):
                    return True
            for name, two in after.items():
                if name not in before and self._concerns(base + name, None, two, pending):
                    return True
        return False

    def _concerns(
        self,
        path: bytes,
        one: tuple[int, str] | None,
        two: tuple[int, str] | None,
        pending: list[tuple[bytes, str | None, str | None]],
    ) -> bool:
        paths = self.paths
        assert paths is not None
        old_dir = one is not None and one[0] == 0o40000
        new_dir = two is not None and two[0] == 0o40000
        if old_dir or new_dir:
            if paths.covers(path) and not paths.excluded:
                return True
            if paths.may_be_below(path):
                pending.append(
                    (
                        path + b"/",
                        one[1] if one is not None and old_dir else None,
                        two[1] if two is not None and new_dir else None,
                    )
                )
        if (one is not None and not old_dir) or (two is not None and not new_dir):
            return paths.matches(path)
        return False

    def _walk(self) -> Iterator[str]:
        """Yield commits by date; those found to be excluded later are in `_excluded`."""
        # long: one loop with the bookkeeping of the end
        heap: list[tuple[int, int, str]] = []
        seen: set[str] = set()
        number = 0
        excluded = self._excluded
        commit_of = self.objects.commit
        for oid in self.hidden:
            excluded.add(oid)
        for oid in [*self.tips, *self.hidden]:
            if oid not in seen:
                seen.add(oid)
                heap.append((-commit_of(oid).time, number, oid))
                number += 1
        heapq.heapify(heap)
        interesting = sum(1 for _, _, oid in heap if oid not in excluded)
        slop = _SLOP
        last_shown = None
        while heap:
            negative, _, oid = heapq.heappop(heap)
            self.budget.step()
            is_excluded = oid in excluded
            if not is_excluded:
                interesting -= 1
            elif interesting <= 0:
                if last_shown is not None and -negative >= last_shown:
                    slop = _SLOP
                else:
                    slop -= 1
                    if slop <= 0:
                        break
            else:
                slop = _SLOP
            if not is_excluded and self.since is not None and -negative < self.since:
                excluded.add(oid)
                is_excluded = True
            for parent in self.repository.parents(oid) if is_excluded else self._parents_of(oid):
                if is_excluded:
                    if parent not in excluded:
                        if parent in seen:
                            interesting -= self._exclude(parent, seen, heap)
                        excluded.add(parent)
                if parent in seen:
                    continue
                seen.add(parent)
                if not is_excluded and oid in self.left:
                    self.left.add(parent)
                try:
                    when = commit_of(parent).time
                except MissingObject:
                    self.repository.git.say(f"error: Could not read {parent}")
                    raise Fatal(f"Failed to traverse parents of commit {oid}") from None
                heapq.heappush(heap, (-when, number, parent))
                number += 1
                if not is_excluded and parent not in excluded:
                    interesting += 1
            if is_excluded:
                continue
            last_shown = -negative
            yield oid

    def _exclude(self, oid: str, seen: set[str], heap: list[tuple[int, int, str]]) -> int:
        """Exclude a commit that was seen, and its ancestors; return how many of these wait."""
        waiting = {each for _, _, each in heap}
        pending = [oid]
        count = 0
        while pending:
            here = pending.pop()
            if here in self._excluded:
                continue
            self.budget.step()
            self._excluded.add(here)
            if here in waiting:
                count += 1
                continue
            pending += [parent for parent in self.repository.parents(here) if parent in seen]
        return count

    def _find_boundaries(self, found: list[str]) -> list[str]:
        """Return the excluded parents of what is shown."""
        known = set(found)
        self.boundaries = list(
            dict.fromkeys(
                parent
                for oid in found
                for parent in self._parents_of(oid)
                if parent in self._excluded and parent not in known
            )
        )
        return self.boundaries

    def _on_the_way(self, found: list[str]) -> list[str]:
        """Return the commits that descend from an excluded one."""
        bottoms = set(self.hidden)
        kept: set[str] = set()
        for oid in reversed(self._topological(found)):
            if any(parent in bottoms or parent in kept for parent in self.repository.parents(oid)):
                kept.add(oid)
        return [oid for oid in found if oid in kept]

    # order

    def _topological(self, found: list[str]) -> list[str]:
        """Return commits so that parents follow all of their children."""
        degree = dict.fromkeys(found, 0)
        for oid in found:
            for parent in self._shown_parents(oid):
                if parent in degree:
                    degree[parent] += 1
        ready = [oid for oid in found if not degree[oid]]
        out: list[str] = []
        if self.order == "topo":
            ready.reverse()
            while ready:
                oid = ready.pop()
                out.append(oid)
                self.budget.step()
                for parent in self._shown_parents(oid):
                    if parent in degree:
                        degree[parent] -= 1
                        if not degree[parent]:
                            ready.append(parent)
            return out
        key = self._author_time if self.order == "author-topo" else self._time
        heap = [(-key(oid), number, oid) for number, oid in enumerate(ready)]
        heapq.heapify(heap)
        number = len(heap)
        while heap:
            _, _, oid = heapq.heappop(heap)
            out.append(oid)
            self.budget.step()
            for parent in self._shown_parents(oid):
                if parent in degree:
                    degree[parent] -= 1
                    if not degree[parent]:
                        heapq.heappush(heap, (-key(parent), number, parent))
                        number += 1
        return out

    def _time(self, oid: str) -> int:
        return self.objects.commit(oid).time

    def _author_time(self, oid: str) -> int:
        return seconds_of(self.objects.commit(oid).author)

    def _shown_parents(self, oid: str) -> tuple[str, ...]:
        return self.parents.get(oid) or self._parents_of(oid)

    def _rewrite_parents(self, found: list[str]) -> None:
        """Replace parents in which nothing changed by the next ancestors that are shown."""
        known = set(found)
        for oid in found:
            made: list[str] = []
            for parent in self._parents_of(oid):
                here: str | None = parent
                while here is not None and here in known and self._is_same(here):
                    self.budget.step()
                    above = self._parents_of(here)
                    if len(above) > 1:
                        break
                    here = above[0] if above else None
                if here is not None and here not in made:
                    made.append(here)
            self.parents[oid] = tuple(made)

    def _is_same(self, oid: str) -> bool:
        if oid not in self._same:
            self._parents_of(oid)
        return self._same.get(oid, False)

    # what is shown

    def _limited(self, commits: Iterator[str]) -> Iterator[str]:
        left = self.most
        skip = self.skip
        if left == 0:
            return
        for oid in commits:
            if not self._is_shown(oid):
                continue
            if skip > 0:
                skip -= 1
                continue
            yield oid
            if left is not None:
                left -= 1
                if left <= 0:
                    return

    def _is_shown(self, oid: str) -> bool:
        if self.boundary and oid in self.boundaries:
            return True
        if self.paths and self.dense and not self.no_walk and self._is_same(oid):
            return False
        if self.until is not None and self.objects.commit(oid).time > self.until:
            return False
        if self.since is not None and self.objects.commit(oid).time < self.since:
            return False
        if self.least_parents or self.most_parents is not None:
            count = len(self.repository.parents(oid))
            if count < self.least_parents:
                return False
            if self.most_parents is not None and count > self.most_parents:
                return False
        return self.accepts is None or self.accepts(oid)


def merge_bases(repository: Repository, one: str, others: list[str]) -> list[str]:
    """Return the best common ancestors of a commit and several others, the newest first."""
    if one in others:
        return [one]
    found = _common(repository, one, others)
    if len(found) > 1:
        found = independent(repository, found)
    return found


def _common(repository: Repository, one: str, others: list[str]) -> list[str]:
    """Return the common ancestors that are not ancestors of another one, some redundant."""
    first, second, stale, result = 1, 2, 4, 8
    objects = repository.objects
    flags: dict[str, int] = {one: first}
    heap = [(-objects.commit(one).time, 0, one)]
    for number, other in enumerate(dict.fromkeys(others), 1):
        flags[other] = flags.get(other, 0) | second
        heap.append((-objects.commit(other).time, number, other))
    heapq.heapify(heap)
    number = len(heap)
    found: list[str] = []
    waiting = len(heap)  # entries that are not stale
    while heap and waiting > 0:
        repository.git.budget.step()
        _, _, oid = heapq.heappop(heap)
        here = flags[oid]
        if not here & stale:
            waiting -= 1
        down = here & (first | second | stale)
        if down == first | second:
            if not here & result:
                flags[oid] |= result
                found.append(oid)
            down |= stale
        for parent in repository.parents(oid):
            before = flags.get(parent, 0)
            if before & down == down:
                continue
            flags[parent] = before | down
            heapq.heappush(heap, (-objects.commit(parent).time, number, parent))
            number += 1
        waiting = sum(1 for _, _, each in heap if not flags[each] & stale)
    found = [oid for oid in found if not flags[oid] & stale]
    return sorted(found, key=lambda oid: -objects.commit(oid).time)


def is_ancestor(repository: Repository, old: str, new: str) -> bool:
    """Whether a commit is reached from another one."""
    if old == new:
        return True
    time = repository.objects.commit(old).time
    pending, seen = [new], {new}
    late: list[str] = []
    while pending:
        oid = pending.pop()
        repository.git.budget.step()
        for parent in repository.parents(oid):
            if parent == old:
                return True
            if parent not in seen:
                seen.add(parent)
                if repository.objects.commit(parent).time >= time:
                    pending.append(parent)
                else:
                    late.append(parent)
        if not pending and late:  # clocks that went wrong
            pending, late = late, []
    return False


def independent(repository: Repository, commits: list[str]) -> list[str]:
    """Return the commits that no other one of them reaches."""
    unique = list(dict.fromkeys(commits))
    return [
        oid
        for oid in unique
        if not any(other != oid and is_ancestor(repository, oid, other) for other in unique)
    ]


def count_between(repository: Repository, one: str, two: str) -> tuple[int, int]:
    """Return how many commits only the first, and only the second, reaches."""
    if one == two:
        return 0, 0
    walk = Walk(repository)
    walk.tips = [one, two]
    walk.hidden = merge_bases(repository, one, [two])
    walk.left = {one}
    found = list(walk.run())
    ahead = sum(oid in walk.left for oid in found)
    return ahead, len(found) - ahead
