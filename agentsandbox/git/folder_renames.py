"""Directories that one side of a merge renamed, and what the other side put into them.

If all files of a directory are gone on one side, and most of those that were renamed went to one
other directory, that side renamed the directory. A file that the other side added to the old
directory then belongs into the new one. `merge.directoryRenames` says whether it goes there as a
conflict ("conflict", the default), silently (true) or not at all (false).
"""

from __future__ import annotations

from collections import Counter

from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Side = tuple[int, str]
    Tree = dict[bytes, Side]


class Move:
    """A file that goes to another directory."""

    def __init__(self, old: bytes, path: bytes, new: bytes) -> None:
        self.old = old
        """Its name in the base, that of `path` for one that was added."""
        self.path = path
        self.new = new


def folders_of(paths: Iterable[bytes]) -> set[bytes]:
    """Return all directories above paths."""
    found: set[bytes] = set()
    for path in paths:
        folder = path.rpartition(b"/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition(b"/")[0]
    return found


def _targets(
    base: Tree, side: Tree, renames: dict[bytes, bytes]
) -> dict[bytes, Counter[bytes]]:
    """Return, for each directory that a side does not have any more, where its files went."""
    gone = folders_of(base) - folders_of(side)
    found: dict[bytes, Counter[bytes]] = {}
    for old, new in renames.items():
        one, two = old.rpartition(b"/")[0], new.rpartition(b"/")[0]
        while one and one != two:
            if one in gone:
                found.setdefault(one, Counter())[two] += 1
            above, _, name = one.rpartition(b"/")
            other, _, same = two.rpartition(b"/")
            if name != same:
                break
            one, two = above, other
    return found


class FolderRenames:
    """The renamed directories of both sides, and the files that follow them."""

    def __init__(
        self, base: Tree, sides: tuple[Tree, Tree],
        renames: tuple[dict[bytes, bytes], dict[bytes, bytes]],
        say: Callable[[bytes, str], None],
    ) -> None:  # fmt: skip
        self.base = base
        self.sides = sides
        self.renames = renames
        self.say = say
        self.is_split = False
        self._folders = folders_of(base)
        counted = [_targets(base, side, found) for side, found in zip(sides, renames, strict=True)]
        both = counted[0].keys() & counted[1].keys()
        self._by_side = [
            self._settle(
                {folder: targets for folder, targets in found.items() if folder not in both},
                self._arrivals(1 - number),
            )
            for number, found in enumerate(counted)
        ]

    def _arrivals(self, number: int) -> list[tuple[bytes, bytes]]:
        """Return (old name, path) of the files that a side added or moved to where they are."""
        side, renames = self.sides[number], self.renames[number]
        other = self.sides[1 - number]
        old_names = {new: old for old, new in renames.items()}
        found = []
        for path in sorted(side.keys() - self.base.keys()):
            old = old_names.get(path, path)
            if old != path and other.get(old) == self.base.get(old):
                old = path  # the other side did not touch it, so git does not look for its origin
            found.append((old, path))
        return found

    def _settle(
        self, targets: dict[bytes, Counter[bytes]], arrivals: list[tuple[bytes, bytes]]
    ) -> dict[bytes, bytes]:
        """Return the new name of each directory into which the other side put files."""
        wanted = {self._known_folder(path) for _, path in arrivals}
        found: dict[bytes, bytes] = {}
        for folder in sorted(targets.keys() & wanted):
            ranked = targets[folder].most_common(2)
            if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
                self.is_split = True
                self.say(
                    folder,
                    f"CONFLICT (directory rename split): Unclear where to rename {decode(folder)} "
                    "to; it was renamed to multiple other directories, with no destination "
                    "getting a majority of the files.",
                )
            else:
                found[folder] = ranked[0][0]
        return found

    def _known_folder(self, path: bytes) -> bytes:
        """Return the directory of a path if the base has it, else nothing."""
        folder = path.rpartition(b"/")[0]
        return folder if folder in self._folders else b""

    def moves(self, number: int) -> list[Move]:
        """Return the files of a side that follow a directory which the other one renamed."""
        renamed = self._by_side[1 - number]
        found: list[Move] = []
        if not renamed:
            return found
        for old, path in self._arrivals(number):
            folder = self._known_folder(path)
            target = renamed.get(folder)
            if target is None or not folder:
                continue
            name = path.rpartition(b"/")[2]
            new = target + b"/" + name if target else name
            if new in self.sides[number]:
                self.is_split = True
                self.say(
                    new,
                    f"CONFLICT (implicit dir rename): Existing file/dir at {decode(new)} in the "
                    "way of implicit directory rename(s) putting the following path(s) there: "
                    f"{decode(path)}.",
                )
                continue
            found.append(Move(old, path, new))
        return found
