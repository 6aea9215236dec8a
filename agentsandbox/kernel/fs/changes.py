"""The differences between two trees; a subtree that both share is skipped."""

from __future__ import annotations

from agentsandbox.kernel.fs.nodes import DIR, FILE, HARD, LINK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from agentsandbox.kernel.fs.nodes import Dir, Entry, Plain


class Change:
    """A path that was "added", "deleted" or "modified" (content, mode, link target, type)."""

    __slots__ = ("kind", "path")

    def __init__(self, path: str, kind: Literal["added", "modified", "deleted"]) -> None:
        self.path = path
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and (self.path, self.kind) == (other.path, other.kind)

    def __hash__(self) -> int:
        return hash((self.path, self.kind))

    def __repr__(self) -> str:
        return f"Change({self.path!r}, {self.kind!r})"


def compare(
    old: Dir, old_hard: dict[int, Plain], new: Dir, new_hard: dict[int, Plain]
) -> list[Change]:
    """Return the changes from one tree to another, sorted by path; mounts are not entered."""
    changes: list[Change] = []
    pending: list[tuple[str, Dir, Dir]] = [("", old, new)]
    while pending:
        path, before, after = pending.pop()
        if before is after and old_hard is new_hard:
            continue
        if before.mode != after.mode:
            changes.append(Change(path or "/", "modified"))
        for name in before.entries.keys() - after.entries.keys():
            changes += [
                Change(each, "deleted") for each in _paths(f"{path}/{name}", before.entries[name])
            ]
        for name, entry in after.entries.items():
            here = f"{path}/{name}"
            was = before.entries.get(name)
            if was is None:
                changes += [Change(each, "added") for each in _paths(here, entry)]
            elif was.kind == DIR and entry.kind == DIR:
                pending.append((here, was, entry))
            elif was.kind == DIR or entry.kind == DIR:
                changes += [Change(each, "deleted") for each in _paths(here, was)]
                changes += [Change(each, "added") for each in _paths(here, entry)]
            elif _differ(_plain(was, old_hard), _plain(entry, new_hard)):
                changes.append(Change(here, "modified"))
    return sorted(changes, key=lambda change: (change.path, change.kind == "added"))


def _plain(entry: Entry, hard: dict[int, Plain]) -> Entry:
    return hard[entry.number] if entry.kind == HARD else entry


def _differ(old: Entry, new: Entry) -> bool:
    if old is new:
        return False
    if old.kind == FILE and new.kind == FILE:
        return old.mode != new.mode or old.data != new.data
    if old.kind == LINK and new.kind == LINK:
        return old.text != new.text
    return True


def _paths(path: str, entry: Entry) -> Iterator[str]:
    """Yield a path and all below it."""
    pending: list[tuple[str, Entry]] = [(path, entry)]
    while pending:
        here, node = pending.pop()
        yield here
        if node.kind == DIR:
            pending.extend((f"{here}/{name}", child) for name, child in node.entries.items())
