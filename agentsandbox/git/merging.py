"""Merging trees: what changed on two sides since a base, with renames, as git's "ort" does it.

Renames are found from the base to each side. A path that one side renamed is merged under its new
name with what the other side made of the old one. Of each path there are then up to three versions;
if only one side changed it, that version is taken, else texts are merged line by line. What cannot
be decided is a conflict: it keeps its versions as stages 1 to 3, the tree gets a text with markers
(or one of the versions), and a message says why. A file where the other side has a directory moves
to a name of its own ("f~HEAD").

With several best common ancestors the base is their merge, conflicts and all.
"""

from __future__ import annotations

from agentsandbox.git.diff.merge import TextMerge
from agentsandbox.git.diff.renames import RenameFinder
from agentsandbox.git.objects import EMPTY_TREE, LINK, SUBMODULE, format_commit
from agentsandbox.git.trees import Delta, flat_tree, folders_of
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.attributes import Attributes
    from agentsandbox.git.repository import Repository
    from agentsandbox.git.submodule_merges import SubmoduleMerge

    Side = tuple[int, str]
    Tree = dict[bytes, Side]

_RENAME_LIMIT = 7000


class Options:
    """How conflicts are shown, and what is done about them."""

    def __init__(self, repository: Repository) -> None:
        config = repository.config
        self.style = config.get("merge.conflictstyle", "merge")
        self.favor = ""
        self.algorithm = "histogram"
        self.folders = config.get("merge.directoryrenames", "conflict").lower()
        """What is done with files in directories that the other side renamed."""
        self.renames = config.flag(
            "merge.renames", config.get("diff.renames", "true") not in ("false", "no", "off", "0")
        )


class Merged:
    """The result of a merge of trees."""

    def __init__(self) -> None:
        self.files: Tree = {}
        self.stages: dict[bytes, dict[int, Side]] = {}
        """The versions of the paths with conflicts."""
        self.messages: list[tuple[bytes, str]] = []
        self.submodules: list[SubmoduleMerge] = []
        """The submodules with conflicts."""
        self.tree = EMPTY_TREE
        self.is_split = False
        """Whether it is not clear where files of a renamed directory belong."""

    @property
    def is_clean(self) -> bool:
        return not self.stages and not self.is_split

    def texts(self) -> list[str]:
        """Return the messages in the order in which they are printed."""
        found = [text for _, text in sorted(self.messages, key=lambda item: item[0])]
        if self.submodules:
            from agentsandbox.git.submodule_merges import advice

            found.append(advice(self.submodules))
        return found


class TreeMerge:
    """One merge of three trees."""

    def __init__(
        self, repository: Repository, labels: tuple[str, str, str], options: Options,
        depth: int = 0,
    ) -> None:  # fmt: skip
        self.repository = repository
        self.objects = repository.objects
        self.budget = repository.git.budget
        self.labels = labels
        """The names of our side, of the base and of their side."""
        self.options = options
        self.depth = depth
        self.result = Merged()
        self._paths: dict[bytes, list[Side | None]] = {}
        self._names: dict[bytes, tuple[bytes, bytes, bytes]] = {}
        """The names that a path has in the base and on both sides, where a side renamed it."""
        self._crossed: set[bytes] = set()
        """Paths with a conflict of names, which the contents cannot undo."""
        self._retyped: set[bytes] = set()
        """New names of files of which the other side made something else (a link)."""
        self._attributes: Attributes | None = None

    def run(self, base: str | None, ours: str, theirs: str) -> Merged:
        """Return the merge of trees."""
        flat = [flat_tree(self.objects, tree) for tree in (base, ours, theirs)]
        self.budget.step(1 + sum(len(tree) for tree in flat))
        follows = self.options.renames and base is not None
        before, ours_tree, theirs_tree = flat
        left = right = {}
        moved: dict[bytes, bytes] = {}
        if follows:
            left, right = self._renames(before, ours_tree), self._renames(before, theirs_tree)
            moved = self._follow_folders(before, (ours_tree, theirs_tree), (left, right))
        names = sorted(set().union(*flat))
        for path in names:
            self._paths[path] = [tree.get(path) for tree in flat]
        if follows:
            self._follow_renames(left, right)
        for path in sorted(self._paths):
            versions = self._paths[path]
            self._one(path, *versions)
            if path in moved and path not in self.result.stages:
                self.result.stages[path] = {
                    stage: side for stage, side in enumerate(versions, 1) if side is not None
                }
        self._part_files_and_folders()
        self.result.tree = write_files(self.repository, self.result.files)
        return self.result

    # renames

    def _follow_folders(
        self, base: Tree, sides: tuple[Tree, Tree],
        renames: tuple[dict[bytes, bytes], dict[bytes, bytes]],
    ) -> dict[bytes, bytes]:  # fmt: skip
        """Move files into directories that the other side renamed; return the conflicts."""
        setting = self.options.folders
        if self.depth or setting in ("", "false", "no", "off", "0"):
            return {}
        if not (renames[0] or renames[1]):
            return {}
        from agentsandbox.git.folder_renames import FolderRenames

        found = FolderRenames(base, sides, renames, self._note)
        self.result.is_split = found.is_split
        conflicts: dict[bytes, bytes] = {}
        asks = setting not in ("true", "yes", "on", "1")
        pending = [(number, move) for number in (0, 1) for move in found.moves(number)]
        self.result.is_split = found.is_split
        for number, move in pending:
            own, other = self.labels[0], self.labels[2]
            if number:
                own, other = other, own
            sides[number][move.new] = sides[number].pop(move.path)
            what = f"{decode(move.path)} added in {own}"
            for old, new in list(renames[number].items()):
                if new == move.path:
                    del renames[number][old]
            if move.old != move.path:
                renames[number][move.old] = move.new
                what = f"{decode(move.old)} renamed to {decode(move.path)} in {own},"
            text = f"{what} inside a directory that was renamed in {other}"
            if asks:
                conflicts[move.new] = move.path
                self._note(
                    move.new,
                    f"CONFLICT (file location): {text}, suggesting it should perhaps be moved to "
                    f"{decode(move.new)}.",
                )
            else:
                self._note(move.new, f"Path updated: {text}; moving it to {decode(move.new)}.")
        return conflicts

    def _follow_renames(self, left: dict[bytes, bytes], right: dict[bytes, bytes]) -> None:
        """Bring the versions of renamed files together under one path, as far as they agree."""
        for old in sorted(left.keys() | right.keys()):
            one, two = left.get(old), right.get(old)
            if one is None or two is None:
                new = one or two
                assert new is not None
                self._renamed(old, new, 1 if one is not None else 2)
            elif one == two:
                self._paths[one][0] = self._paths.pop(old)[0]
                self._names[one] = (old, one, one)
            else:
                self._renamed_apart(old, one, two)

    def _renamed(self, old: bytes, new: bytes, mine: int) -> None:
        """Follow a rename on one side; the other one may have deleted, changed or added files."""
        other = 3 - mine
        source, entry = self._paths[old], self._paths[new]
        changed, own = source[other], entry[mine]
        assert own is not None
        names = (old, new, old) if mine == 1 else (old, old, new)
        retyped = changed is not None and _is_regular(changed) != _is_regular(own)
        collides = entry[other] is not None and not retyped
        if not collides:
            entry[0] = source[0]
        if retyped:
            source[0] = None  # what the other side has there is a new file
            self._retyped.add(new)
            return
        if changed is None:
            self._crossed.add(new)
            owner, deleter = self._labels_from(mine)
            self._note(
                new,
                f"CONFLICT (rename/delete): {decode(old)} renamed to {decode(new)} in {owner}, "
                f"but deleted in {deleter}.",
            )
        elif collides:
            sides = (own, changed) if mine == 1 else (changed, own)
            entry[mine], clean = self._merge(old, source[0], *sides, names=names, inner=1)
            if not clean:
                self._note(
                    new,
                    f"CONFLICT (rename involved in collision): rename of {decode(old)} -> "
                    f"{decode(new)} has content conflicts AND collides with another path; this "
                    "may result in nested conflict markers.",
                )
        else:
            entry[other] = changed
            self._names[new] = names
        del self._paths[old]

    def _labels_from(self, mine: int) -> tuple[str, str]:
        """Return the names of a side and of the other one."""
        ours, _, theirs = self.labels
        return (ours, theirs) if mine == 1 else (theirs, ours)

    def _renames(self, base: Tree, side: Tree) -> dict[bytes, bytes]:
        """Return the new names of files by their old ones."""
        null = "0" * 40
        deltas = [
            Delta(path, *base[path], 0, null) for path in base.keys() - side.keys()
        ] + [Delta(path, 0, null, *side[path]) for path in side.keys() - base.keys()]  # fmt: skip
        if len({delta.status for delta in deltas}) < 2:
            return {}
        deltas.sort(key=lambda delta: delta.new_path)
        config = self.repository.config
        limit = config.number("merge.renamelimit", config.number("diff.renamelimit", _RENAME_LIMIT))

        def read(mode: int, oid: str, path: bytes, new: bool) -> bytes:
            return b"" if mode == SUBMODULE else self.objects.blob(oid)

        found = RenameFinder(read, self.budget, limit=limit, empty=False).find(deltas)
        return {delta.old_path: delta.new_path for delta in found if delta.status == "R"}

    def _renamed_apart(self, old: bytes, one: bytes, two: bytes) -> None:
        """Put the merge of what two sides renamed to different names under both names."""
        mine, theirs = self._paths[one], self._paths[two]
        left, right = mine[1], theirs[2]
        assert left is not None and right is not None
        merged, clean = self._merge(
            old, self._paths[old][0], left, right, names=(old, one, two), inner=1
        )
        mine[1] = merged
        if clean or merged != left:  # else it cannot be merged, and each keeps its own
            theirs[2] = merged
        self._crossed |= {old, one, two}
        self._note(
            old,
            f"CONFLICT (rename/rename): {decode(old)} renamed to {decode(one)} in "
            f"{self.labels[0]} and to {decode(two)} in {self.labels[2]}.",
        )

    # one path

    def _one(self, path: bytes, base: Side | None, ours: Side | None, theirs: Side | None) -> None:
        self.budget.step()
        result = self.result
        if path in self._crossed:
            self._conflict_of_names(path, base, ours, theirs)
            return
        if path in self._retyped and (ours is None or theirs is None):
            self._changed_and_deleted(path, base, ours, theirs)
            return
        if ours == theirs or base == theirs:
            chosen = ours
        elif base == ours:
            chosen = theirs
        elif ours is None or theirs is None:
            self._changed_and_deleted(path, base, ours, theirs)
            return
        elif ours[0] & 0o170000 != theirs[0] & 0o170000:
            self._distinct(path, base, ours, theirs)
            return
        else:
            result.files[path] = self._content(path, base, ours, theirs)
            return
        if chosen is not None:
            result.files[path] = chosen

    def _conflict_of_names(
        self, path: bytes, base: Side | None, ours: Side | None, theirs: Side | None
    ) -> None:
        """Keep all versions of a path as stages, and give the tree what can be had of them."""
        if ours is not None and theirs is not None:
            if ours[0] & 0o170000 != theirs[0] & 0o170000:
                self._distinct(path, base, ours, theirs)
                return
            self.result.files[path] = self._content(path, base, ours, theirs)
        elif ours is not None or theirs is not None:
            kept = ours or theirs
            assert kept is not None
            if base is not None and base[1] != kept[1]:
                self._say_deleted(path, 1 if ours is not None else 2)
            self.result.files[path] = base if self.depth and base is not None else kept
        sides = enumerate((base, ours, theirs), 1)
        self.result.stages[path] = {stage: side for stage, side in sides if side is not None}

    def _note(self, path: bytes, text: str) -> None:
        self.result.messages.append((path, text))

    def _changed_and_deleted(
        self, path: bytes, base: Side | None, ours: Side | None, theirs: Side | None
    ) -> None:
        assert base is not None
        kept = ours or theirs
        assert kept is not None
        mine = 1 if ours is not None else 2
        self.result.files[path] = base if self.depth else kept
        self._say_deleted(path, mine)
        self.result.stages[path] = {1: base, mine + 1: kept}

    def _say_deleted(self, path: bytes, mine: int) -> None:
        own, other = self._labels_from(mine)
        name = decode(path)
        self._note(
            path,
            f"CONFLICT (modify/delete): {name} deleted in {other} and modified in {own}.  "
            f"Version {own} of {name} left in tree.",
        )

    def _distinct(self, path: bytes, base: Side | None, ours: Side, theirs: Side) -> None:
        """A link on one side and a file on the other: each gets a name."""
        name = decode(path)
        moves = [side[0] & 0o170000 != LINK for side in (ours, theirs)]
        if ours[0] == SUBMODULE or theirs[0] == SUBMODULE:
            moves = [side[0] != SUBMODULE for side in (ours, theirs)]
        self._note(
            path,
            f"CONFLICT (distinct types): {name} had different types on each side; renamed one of "
            "them so each can be recorded somewhere.",
        )
        for stage, side, move, label in (
            (2, ours, moves[0], self.labels[0]), (3, theirs, moves[1], self.labels[2]),
        ):  # fmt: skip
            target = self._free_name(path, label) if move else path
            self.result.files[target] = side
            self.result.stages.setdefault(target, {})[stage] = side
        if base is not None:
            same = ours if base[0] & 0o170000 == ours[0] & 0o170000 else theirs
            for stages in self.result.stages.values():
                if same in stages.values():
                    stages[1] = base

    def _content(
        self, path: bytes, base: Side | None, ours: Side | None, theirs: Side | None
    ) -> Side:
        """Return the merge of two versions, and note a conflict."""
        assert ours is not None and theirs is not None
        merged, clean = self._merge(path, base, ours, theirs)
        if not clean:
            kind = "content"
            if base is None or base[0] & 0o170000 != ours[0] & 0o170000:
                kind = "add/add"
            kind = "submodule" if ours[0] == SUBMODULE else kind
            self._note(path, f"CONFLICT ({kind}): Merge conflict in {decode(path)}")
            stages = {2: ours, 3: theirs}
            if base is not None:
                stages[1] = base
            self.result.stages[path] = stages
        return merged

    def _merge(
        self, path: bytes, base: Side | None, ours: Side, theirs: Side, *,
        names: tuple[bytes, bytes, bytes] | None = None, inner: int = 0,
    ) -> tuple[Side, bool]:  # fmt: skip
        """Return the merge of two versions, and whether it has no conflict.

        names  the paths of the base and of both sides
        inner  by how much markers are longer, because they may get into other conflicts
        """
        mode = theirs[0] if base is not None and ours[0] == base[0] else ours[0]
        clean = base is None or ours[0] == theirs[0] or base[0] in (ours[0], theirs[0])
        clean = clean and (base is not None or ours[0] == theirs[0])
        old = base[1] if base is not None else None
        if ours[1] == theirs[1] or theirs[1] == old:
            oid = ours[1]
        elif ours[1] == old:
            oid = theirs[1]
        elif ours[0] == SUBMODULE:
            oid, merged = self._submodules(path, base, ours, theirs)
            clean = clean and merged
        elif ours[0] & 0o170000 != 0o100000:
            oid, clean = ours[1], False
        else:
            oid, is_clean = self._texts(path, base, ours, theirs, names, inner)
            clean = clean and is_clean
        return (mode, oid), clean

    def _submodules(
        self, path: bytes, base: Side | None, ours: Side, theirs: Side
    ) -> tuple[str, bool]:
        from agentsandbox.git.submodule_merges import merge_submodule

        before = base[1] if base is not None and base[0] == SUBMODULE else None
        found = merge_submodule(
            self.repository, decode(path), before, ours[1], theirs[1], search=not self.depth
        )
        if found.message and not self.depth:
            self._note(path, found.message)
        if found.oid is not None:
            return found.oid, True
        self.result.submodules.append(found)
        return (before or ours[1]) if self.depth else ours[1], False

    def _texts(
        self, path: bytes, base: Side | None, ours: Side, theirs: Side,
        names: tuple[bytes, bytes, bytes] | None, inner: int,
    ) -> tuple[str, bool]:  # fmt: skip
        objects = self.objects
        regular = base is not None and base[0] & 0o170000 == 0o100000
        before = objects.blob(base[1]) if base is not None and regular else b""
        left, right = objects.blob(ours[1]), objects.blob(theirs[1])
        names = names or self._names.get(path) or (path, path, path)
        labels = [self.labels[1], self.labels[0], self.labels[2]]
        if len(set(names)) > 1:
            labels = [f"{label}:{decode(name)}" for label, name in zip(labels, names, strict=True)]
        driver = self._driver(path)
        if driver == "binary" or any(b"\0" in text[:8000] for text in (before, left, right)):
            self._note(
                path,
                f"warning: Cannot merge binary files: {decode(path)} ({labels[1]} vs. {labels[2]})",
            )
            self._note(path, f"Auto-merging {decode(path)}")
            favored = {"ours": ours[1], "theirs": theirs[1]}.get(self.options.favor)
            return favored or ours[1], favored is not None
        self._note(path, f"Auto-merging {decode(path)}")
        work = TextMerge(
            self.budget, labels=(labels[1], labels[0], labels[2]), style=self.options.style,
            favor="union" if driver == "union" else self.options.favor,
            algorithm=self.options.algorithm, marker=7 + 2 * self.depth + inner,
        )  # fmt: skip
        self.budget.charge(len(before) + len(left) + len(right))
        merged = work.merge(before, left, right)
        return objects.write("blob", merged), not work.conflicts

    def _driver(self, path: bytes) -> str:
        """Return the driver of a path's attribute `merge`, "" for the usual one."""
        from agentsandbox.git.errors import Fatal
        from agentsandbox.git.worktree import Worktree

        if self.repository.worktree is None:
            return ""
        if self._attributes is None:
            self._attributes = Worktree(self.repository).attributes
        value = self._attributes.of(path).get("merge")
        if value in (None, True, "text"):
            return ""
        if value is False or value == "binary":
            return "binary"
        if value == "union":
            return "union"
        if self.repository.config.get(f"merge.{value}.driver"):
            raise Fatal(f"merge.{value}.driver is not supported in this sandbox")
        return ""

    # files in the place of directories

    def _part_files_and_folders(self) -> None:
        files, stages = self.result.files, self.result.stages
        for path in sorted(folders_of(files) & files.keys()):
            side = files.pop(path)
            versions = self._paths.get(path, [None, None, None])
            mine = 1 if versions[1] is not None else 2
            label = self.labels[0] if mine == 1 else self.labels[2]
            target = self._free_name(path, label)
            files[target] = side
            known = stages.pop(path, None)
            if known is None:
                known = {mine + 1: side}
                if versions[0] is not None:
                    known[1] = versions[0]
            stages[target] = known
            self._note(
                target,
                f"CONFLICT (file/directory): directory in the way of {decode(path)} from {label}; "
                f"moving it to {decode(target)} instead.",
            )

    def _free_name(self, path: bytes, label: str) -> bytes:
        """Return a name for a file that cannot keep its own."""
        name = path + b"~" + encode(label.replace("/", "_"))
        made, number = name, 0
        while made in self.result.files or made in self._paths:
            made = name + encode(f"_{number}")
            number += 1
        return made


def _is_regular(side: Side) -> bool:
    return side[0] & 0o170000 == 0o100000


def write_files(repository: Repository, files: Tree) -> str:
    """Write the trees of files and return the top one."""
    from agentsandbox.git.index import Entry, Index
    from agentsandbox.git.trees import write_index_tree

    index = Index()
    for path, side in files.items():
        index.set(Entry(path, *side))
    return write_index_tree(repository, index, missing_ok=True)


def merge_commits(
    repository: Repository, ours: str, theirs: str, labels: tuple[str, str], options: Options,
    bases: list[str], depth: int = 0,
) -> Merged:  # fmt: skip
    """Return the merge of two commits with all their best common ancestors, the oldest first."""
    objects = repository.objects
    if not bases:
        base, name = None, "empty tree"
    elif len(bases) == 1:
        base, name = objects.commit(bases[0]).tree, repository.short(bases[0])
    else:
        name = "merged common ancestors"
        base = objects.commit(_virtual(repository, bases, options, depth)).tree
    work = TreeMerge(repository, (labels[0], name, labels[1]), options, depth)
    return work.run(base, objects.commit(ours).tree, objects.commit(theirs).tree)


def _virtual(repository: Repository, bases: list[str], options: Options, depth: int) -> str:
    """Return a commit that merges several ones."""
    from agentsandbox.git.history import merge_bases

    ordered = sorted(bases, key=lambda oid: repository.objects.commit(oid).time)
    one = ordered[0]
    inner = Options(repository)
    inner.style, inner.renames = options.style, options.renames
    for other in ordered[1:]:
        found = merge_bases(repository, one, [other])
        left, right = one, other
        merged = repository.git.budget.nested(
            lambda left=left, right=right, found=found: merge_commits(  # type: ignore[misc]
                repository, left, right,
                ("Temporary merge branch 1", "Temporary merge branch 2"), inner, found, depth + 1,
            )
        )  # fmt: skip
        nobody = b"merged <> 0 +0000"
        one = repository.objects.write(
            "commit", format_commit(merged.tree, [left, right], nobody, nobody, b"merged\n")
        )
    return one
