"""Renames and copies: pairs of a removed and an added file with much content in common.

The measure is git's: each content is cut at line ends and after 64 bytes; the score is the share of
the larger file that occurs in both, in 60,000ths. Equal contents come first, then files of the same
unique name, then the best pairs of all.
"""

from __future__ import annotations

from collections import Counter

from agentsandbox.git.objects import is_directory
from agentsandbox.git.trees import Delta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.budget import Budget

MOST = 60000
_CANDIDATES = 4
_PIECE = 64


def pieces_of(data: bytes) -> Counter[bytes]:
    """Return how many bytes of a content each different piece of it has."""
    text = b"\0" not in data[:8000]
    if text and b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    found: Counter[bytes] = Counter()
    lines = data.split(b"\n")
    last = lines.pop()
    for line in lines:
        size = len(line)
        if size < _PIECE:
            found[line + b"\n"] += size + 1
            continue
        at = 0
        line += b"\n"
        while at < len(line):
            piece = line[at : at + _PIECE]
            found[piece] += len(piece)
            at += _PIECE
    for at in range(0, len(last) - _PIECE + 1, _PIECE):  # an incomplete piece does not count
        found[last[at : at + _PIECE]] += _PIECE
    return found


class RenameFinder:
    """Turns pairs of "D" and "A" into renames, and with `copies` copies too."""

    def __init__(
        self,
        read: Callable[[int, str, bytes, bool], bytes],
        budget: Budget,
        *,
        least: int = MOST // 2,
        limit: int = 1000,
        copies: bool = False,
        empty: bool = True,
    ) -> None:
        self.read = read
        """Returns a content from (mode, object, path, whether it is the new side)."""
        self.budget = budget
        self.least = least
        self.limit = limit
        self.copies = copies
        self.empty = empty
        self.too_many = False
        self._pieces: dict[tuple[str, bytes, bool], Counter[bytes]] = {}
        self._data: dict[tuple[str, bytes, bool], bytes] = {}

    def find(self, deltas: list[Delta], others: list[Delta] | None = None) -> list[Delta]:
        """Return the changes with renames. `others` are unchanged files that may be sources."""
        added = [
            one
            for one in deltas
            if (one.status == "A" or (one.unmerged and one.new_mode and not one.old_mode))
            and not is_directory(one.new_mode)
        ]  # a file in conflict counts as new, and stays one in conflict
        removed = [
            one
            for one in deltas
            if one.status == "D" and not is_directory(one.old_mode) and not one.unmerged
        ]
        sources = list(removed)
        if self.copies:
            kept = [one for one in deltas if one.status in "MT" and not one.unmerged]
            sources += kept + list(others or ())
            sources.sort(key=lambda one: one.old_path)
        if not self.empty:
            sources = [one for one in sources if one.old_oid != _EMPTY]
            added = [one for one in added if one.new_oid != _EMPTY]
        if not added or not sources:
            return deltas
        pairs = self._match(sources, added)
        return self._merged(deltas, pairs, {id(one) for one in removed})

    def _match(self, sources: list[Delta], added: list[Delta]) -> dict[int, tuple[Delta, int]]:
        """Return (source, score) by the identity of an added file."""
        pairs: dict[int, tuple[Delta, int]] = {}
        used: Counter[int] = Counter()
        by_oid: dict[str, list[Delta]] = {}
        for one in sources:
            by_oid.setdefault(one.old_oid, []).append(one)
        for target in added:
            best, best_score = None, -1
            oid = target.new_oid
            if not oid:
                oid = target.hashed = self._oid(target)
            for source in by_oid.get(oid, ())[:100]:
                if source.old_mode & 0o170000 != target.new_mode & 0o170000:
                    continue
                unused = not used[id(source)] and source.status == "D"
                if not unused and not self.copies:
                    continue
                score = unused + _same_name(source, target)
                if score > best_score:
                    best, best_score = source, score
                    if score == 2:
                        break
            if best is not None:
                pairs[id(target)] = (best, MOST)
                used[id(best)] += 1
        if self.least >= MOST:
            return pairs
        targets = [one for one in added if id(one) not in pairs]
        left = sources if self.copies else [one for one in sources if not used[id(one)]]
        if not self.copies:
            self._by_name(left, targets, pairs, used)
            targets = [one for one in targets if id(one) not in pairs]
            left = [one for one in left if not used[id(one)]]
        if not targets or not left:
            return pairs
        if self.limit > 0 and len(targets) * len(left) > self.limit * self.limit:
            self.too_many = True
            return pairs
        self._by_content(left, targets, pairs, used)
        return pairs

    def _oid(self, target: Delta) -> str:
        from agentsandbox.git.objects import object_name

        return object_name("blob", self._content(target, True))

    def _by_name(
        self,
        sources: list[Delta],
        targets: list[Delta],
        pairs: dict[int, tuple[Delta, int]],
        used: Counter[int],
    ) -> None:
        least = self.least + (MOST - self.least) // 2
        names: dict[bytes, list[Delta]] = {}
        for source in sources:
            names.setdefault(source.old_path.rpartition(b"/")[2], []).append(source)
        counts = Counter(target.new_path.rpartition(b"/")[2] for target in targets)
        for target in targets:
            name = target.new_path.rpartition(b"/")[2]
            here = names.get(name, ())
            if counts[name] != 1 or len(here) != 1 or used[id(here[0])]:
                continue
            score = self.score(here[0], target)
            if score >= least:
                pairs[id(target)] = (here[0], score)
                used[id(here[0])] += 1

    def _by_content(
        self,
        sources: list[Delta],
        targets: list[Delta],
        pairs: dict[int, tuple[Delta, int]],
        used: Counter[int],
    ) -> None:
        found: list[tuple[int, int, int, Delta, Delta]] = []
        for number, target in enumerate(targets):
            here = []
            for order, source in enumerate(sources):
                score = self.score(source, target)
                if score >= self.least:
                    here.append((-score, -_same_name(source, target), order, source, target))
            here.sort(key=lambda item: item[:3])
            found += [
                (score, same, number, source, target)
                for score, same, _, source, target in here[:_CANDIDATES]
            ]
        found.sort(key=lambda item: item[:3])
        for again in (False, True):
            if again and not self.copies:
                break
            for score, _, _, source, target in found:
                if id(target) in pairs:
                    continue
                if not again and (used[id(source)] or source.status != "D"):
                    continue
                pairs[id(target)] = (source, -score)
                used[id(source)] += 1

    def score(self, source: Delta, target: Delta) -> int:
        """Return how similar two files are, in 60,000ths."""
        if source.old_mode & 0o170000 != 0o100000 or target.new_mode & 0o170000 != 0o100000:
            return 0
        if source.old_oid == target.new_oid:
            return MOST
        before, after = self._content(source, False), self._content(target, True)
        small, large = sorted((len(before), len(after)))
        if large * (MOST - self.least) < (large - small) * MOST or not after:
            return 0
        one, two = self._counted(source, False), self._counted(target, True)
        if len(one) > len(two):
            one, two = two, one
        self.budget.step(1 + len(one) // 8)
        get = two.get
        copied = sum(min(size, get(piece, 0)) for piece, size in one.items())
        return copied * MOST // large

    def _content(self, delta: Delta, new: bool) -> bytes:
        key = (delta.new_oid if new else delta.old_oid, delta.path, new)
        found = self._data.get(key)
        if found is None:
            mode = delta.new_mode if new else delta.old_mode
            found = self.read(mode, key[0], delta.new_path if new else delta.old_path, new)
            self._data[key] = found
        return found

    def _counted(self, delta: Delta, new: bool) -> Counter[bytes]:
        key = (delta.new_oid if new else delta.old_oid, delta.path, new)
        found = self._pieces.get(key)
        if found is None:
            data = self._content(delta, new)
            self.budget.step(1 + len(data) // 64)
            found = self._pieces[key] = pieces_of(data)
        return found

    def _merged(
        self, deltas: list[Delta], pairs: dict[int, tuple[Delta, int]], removed: set[int]
    ) -> list[Delta]:
        uses: Counter[int] = Counter(id(source) for source, _ in pairs.values())
        gone = removed & uses.keys()
        made: list[Delta] = []
        for one in deltas:
            pair = pairs.get(id(one))
            if pair is None:
                if id(one) not in gone:
                    made.append(one)
                continue
            source, score = pair
            # the last of several targets of a removed file is the rename, the others are copies
            is_last = id(source) in gone and uses[id(source)] == 1
            uses[id(source)] -= 1
            change = Delta(
                one.new_path, source.old_mode, source.old_oid, one.new_mode, one.new_oid,
                "U" if one.unmerged else "R" if is_last else "C",
            )  # fmt: skip
            change.unmerged, change.hashed = one.unmerged, one.hashed
            change.old_path = source.old_path
            change.score = score
            made.append(change)
        return made


def _same_name(source: Delta, target: Delta) -> bool:
    return source.old_path.rpartition(b"/")[2] == target.new_path.rpartition(b"/")[2]


_EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
