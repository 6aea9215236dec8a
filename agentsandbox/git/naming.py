"""Names of commits by a reference and the way from it: "v1.0~3^2" (git name-rev).

Every tip hands its name down to what it reaches. A commit keeps the better of two names: that of a
tag, then the shorter way (a second parent counts as much as 65,535 steps), then the older tip. The
walk stops before commits that are older than what is asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository

_MERGE = 65535


class Tip:
    """A reference that gives names."""

    __slots__ = ("commit", "date", "from_tag", "is_tag_object", "name", "oid")

    def __init__(
        self, name: str, oid: str, commit: str | None, date: int, from_tag: bool,
        is_tag_object: bool,
    ) -> None:  # fmt: skip
        self.name = name
        self.oid = oid
        self.commit = commit
        self.date = date
        self.from_tag = from_tag
        self.is_tag_object = is_tag_object


class _Name:
    __slots__ = ("date", "distance", "from_tag", "generation", "tip")

    def __init__(self, tip: str, date: int, generation: int, distance: int, from_tag: bool) -> None:
        self.tip = tip
        self.date = date
        self.generation = generation
        self.distance = distance
        self.from_tag = from_tag

    def is_better(self, other: _Name) -> bool:
        """Whether this is to replace another name."""
        old = other.distance + (_MERGE if other.generation else 0)
        new = self.distance + (_MERGE if self.generation else 0)
        if self.from_tag and other.from_tag:
            return old > new
        if self.from_tag != other.from_tag:
            return self.from_tag
        if self.date != other.date:
            return other.date > self.date
        return old > new

    def base(self) -> str:
        return self.tip.removesuffix("^0")


class NameFinder:
    """The names of the commits that tips reach."""

    def __init__(self, repository: Repository, cutoff: int | None) -> None:
        self.repository = repository
        self.cutoff = cutoff
        self._names: dict[str, _Name] = {}

    def _is_old(self, oid: str) -> bool:
        return self.cutoff is not None and self.repository.objects.commit(oid).time < self.cutoff

    def _set(self, oid: str, name: _Name) -> bool:
        known = self._names.get(oid)
        if known is not None and not name.is_better(known):
            return False
        self._names[oid] = name
        return True

    def add(self, tip: Tip) -> None:
        """Hand down the name of a tip."""
        assert tip.commit is not None
        text = f"{tip.name}^0" if tip.is_tag_object else tip.name
        if self._is_old(tip.commit) or not self._set(
            tip.commit, _Name(text, tip.date, 0, 0, tip.from_tag)
        ):
            return
        pending = [tip.commit]
        budget = self.repository.git.budget
        while pending:
            oid = pending.pop()
            name = self._names[oid]
            budget.step()
            queued = []
            for number, parent in enumerate(self.repository.parents(oid), 1):
                if self._is_old(parent):
                    continue
                if number > 1:
                    way = f"~{name.generation}^{number}" if name.generation else f"^{number}"
                    made = _Name(
                        name.base() + way, tip.date, 0, name.distance + _MERGE, tip.from_tag
                    )
                else:
                    made = _Name(
                        name.tip, tip.date, name.generation + 1, name.distance + 1, tip.from_tag
                    )
                if self._set(parent, made):
                    queued.append(parent)
            pending += reversed(queued)

    def name_of(self, oid: str) -> str | None:
        """Return the name of a commit, None if no tip reaches it."""
        found = self._names.get(oid)
        if found is None:
            return None
        return f"{found.base()}~{found.generation}" if found.generation else found.tip
