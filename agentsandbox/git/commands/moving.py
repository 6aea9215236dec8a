"""`git mv`.

Each source is checked first, in git's order; a directory adds the files below it to the sources.
Nothing is renamed before all are checked. What is out of the sparse checkout has no file in the
worktree: only its entry is renamed, and the file is written if the new name is in the checkout. The
other way round the file is removed, unless it has changes.
"""

from __future__ import annotations

import posixpath

from agentsandbox.git.commands.adding import demand_staged_modules, stage_modules
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.index import Entry
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import module_folder, move_section, read_modules
from agentsandbox.git.nested import connect, enter_path, folder_of, uses_file
from agentsandbox.git.objects import SUBMODULE
from agentsandbox.git.options import parse_options
from agentsandbox.git.pathspecs import advise_outside, normalized
from agentsandbox.git.repository import is_repository
from agentsandbox.git.worktree import Worktree, mode_of
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "mv": """
git mv [<options>] <source>... <destination>

    -v, --verbose         say what is renamed
    -n, --dry-run         only say what would be renamed
    -f, --force           replace existing files
    -k                    skip what cannot be renamed
    --sparse              rename files outside of the sparse checkout
""",
}
_FILE, _FOLDER, _BELOW, _SPARSE, _SPARSE_FOLDER = range(5)
"""What is renamed: a file, a directory, a file below one that is a source, an entry without a file
in the worktree, a directory that is not there."""


class _Move:
    """One rename."""

    __slots__ = ("destination", "kind", "source")

    def __init__(self, source: bytes, destination: bytes, kind: int = _FILE) -> None:
        self.source = source
        self.destination = destination
        self.kind = kind


class _Problem(Exception):
    """Why a source cannot be renamed."""


def mv(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["mv"], words)
    if len(options.operands) < 2:
        raise BadUsage
    mover = _Mover(git, force=options.on("force"), sparse=options.on("sparse"))
    mover.verbose = options.on("verbose")
    mover.dry = options.on("dry-run")
    mover.skips = options.on("k")
    return mover.run(options.operands[:-1], options.operands[-1])


class _Mover:
    """One call of `git mv`."""

    def __init__(self, git: Invocation, *, force: bool, sparse: bool) -> None:
        self.git = git
        self.repository = git.repository
        self.tree = Worktree(self.repository)
        self.index = self.repository.index()
        self.force = force
        self.sparse = sparse
        self.verbose = self.dry = self.skips = False
        self.leaves = False
        """Whether the destination is out of the sparse checkout."""
        self.moves: list[_Move] = []
        self.outside: list[bytes] = []
        self.changed: list[bytes] = []
        self._targets: set[bytes] = set()
        self._folders: list[bytes] = []
        self._stages_modules = False

    def run(self, sources: list[str], target: str) -> int:
        """Check and rename the sources; return the status."""
        pending = self._pairs(sources, target)
        at = 0
        while at < len(pending):
            move = pending[at]
            at += 1
            self.git.budget.step()
            if self.dry:
                self.git.print(
                    f"Checking rename of '{decode(move.source)}' to '{decode(move.destination)}'"
                )
            try:
                if self._check(move, pending):
                    self.moves.append(move)
            except _Problem as problem:
                if not self.skips:
                    raise Fatal(
                        f"{problem}, source={decode(move.source)}, "
                        f"destination={decode(move.destination)}"
                    ) from None
        if self.outside:
            advise_outside(self.git, map(decode, self.outside))
            if not self.skips:
                return 1
        for move in self.moves:
            if self.dry or self.verbose:
                self.git.print(f"Renaming {decode(move.source)} to {decode(move.destination)}")
            if not self.dry:
                self._rename(move)
        if self.dry:
            return 0
        self._finish()
        return 0

    # what goes where

    def _is_folder(self, path: bytes) -> bool:
        info = self.tree.stat(path) if path else self.tree.fs.stat(self.tree.root or "/")
        return info is not None and info.is_dir

    def _pairs(self, sources: list[str], target: str) -> list[_Move]:
        git = self.git
        names = [normalized(git, word).rstrip(b"/") for word in sources]
        goal = normalized(git, target)
        bare = goal.rstrip(b"/")
        if len(names) == 1 and self._is_folder(names[0]) and not self._is_folder(bare):
            goal = bare
        if self._is_folder(bare):
            base = bare + b"/" if bare else b""
        elif self.repository.leaves_out(bare + b"/") and self._has_hidden(bare):
            base, self.leaves = bare + b"/", True
        elif len(names) != 1:
            raise Fatal(f"destination '{decode(goal)}' is not a directory")
        else:
            patterns = self.repository.sparse
            self.leaves = (
                patterns is not None and patterns.is_cone and self.repository.leaves_out(goal)
            )
            return [_Move(names[0], goal)]
        return [_Move(name, base + encode(posixpath.basename(decode(name)))) for name in names]

    def _has_hidden(self, folder: bytes) -> bool:
        """Whether the first entry below a directory has no file in the worktree."""
        below = self.index.below(folder)
        return bool(below) and below[0].skips

    # checks

    def _check(self, move: _Move, pending: list[_Move]) -> bool:
        """Whether a rename is to be made; raises _Problem if it cannot."""
        source, destination = move.source, move.destination
        info = self.tree.stat(source) if source else None
        if info is None:
            return self._check_hidden(move, pending)
        if (destination + b"/").startswith(source + b"/"):
            raise _Problem("can not move directory into itself")
        there = self.tree.stat(destination.rstrip(b"/"))
        if info.is_dir and there is not None:
            raise _Problem("cannot move directory over file")
        entry = self.index.get(source)
        if info.is_dir and self.index.has_path(source):
            if any(each.mode != SUBMODULE for each in self.index.stages(source).values()):
                raise Fatal(f"Directory {decode(source)} is in index and no submodule?")
            demand_staged_modules(self.tree, self.index)
            return True
        if info.is_dir:
            move.kind = _FOLDER
            return self._open(move, pending)
        if entry is None:
            held = self.index.has_path(source)
            raise _Problem("conflicted" if held else "not under version control")
        if there is not None and not destination.endswith(b"/"):
            if self.force and not there.is_dir:
                if self.verbose:
                    self.git.warn(f"overwriting '{decode(destination)}'")
                return True
            raise _Problem("Cannot overwrite" if self.force else "destination exists")
        if destination in self._targets:
            raise _Problem("multiple sources for the same target")
        if destination.endswith(b"/"):
            raise _Problem("destination directory does not exist")
        if self.sparse and self.leaves and self.index.has_path(destination):
            if not self.force:
                raise _Problem("destination exists in the index")
            if self.verbose:
                self.git.warn(f"overwriting '{decode(destination)}'")
        if not self.sparse:
            out = [path for path in (source, destination) if self.repository.leaves_out(path)]
            self.outside += out
            if out:
                return False
        self._targets.add(destination)
        return True

    def _check_hidden(self, move: _Move, pending: list[_Move]) -> bool:
        """The same for a source that is not in the worktree."""
        entry = self.index.get(move.source)
        if entry is None:
            hidden = self.repository.leaves_out(move.source + b"/")
            if move.source and hidden and self._has_hidden(move.source):
                move.kind = _SPARSE_FOLDER
                return self._open(move, pending)
            raise _Problem("bad source")
        if not entry.skips:
            raise _Problem("bad source")
        if not self.sparse:
            self.outside.append(move.source)
            return True
        if self.index.has_path(move.destination) and not self.force:
            raise _Problem("destination exists")
        move.kind = _SPARSE
        return True

    def _open(self, move: _Move, pending: list[_Move]) -> bool:
        """Add the files below a directory to what is renamed."""
        below = self.index.below(move.source)
        if not below:
            raise _Problem("source directory is empty")
        base = move.destination.rstrip(b"/")
        for entry in below:
            path = base + entry.path[len(move.source) :]
            pending.append(_Move(entry.path, path, _SPARSE if entry.skips else _BELOW))
        self._folders.append(move.source)
        return True

    # renaming

    def _rename(self, move: _Move) -> None:
        git, tree, source, destination = self.git, self.tree, move.source, move.destination
        entries = list(self.index.stages(source).values())
        nested = self._nested(move)
        unchanged = {entry.stage for entry in entries if _is_unchanged(tree, entry)}
        dirty = self._is_dirty(move)
        if move.kind in (_FILE, _FOLDER) and not self.leaves:
            try:
                git.fs.rename(tree.path(source), tree.path(destination))
            except OSError as error:
                if self.skips:
                    return
                raise Fatal(
                    f"renaming '{decode(source)}' failed: {error.strerror}"
                ) from None
            tree.forget_parents()
            self._move_modules(move, nested)
        elif move.kind == _BELOW and not self.leaves:
            unchanged = {entry.stage for entry in entries if self._is_same(entry, destination)}
        if move.kind in (_FOLDER, _SPARSE_FOLDER):
            return
        self.index.remove(source)
        for entry in entries:
            fresh = entry.copy()
            fresh.path = destination
            info = tree.stat(destination)
            if info is not None and entry.stage in unchanged:
                fresh.remember(info)
            self.index.set_replacing(fresh)
        if self.sparse and self.repository.is_sparse and self.repository.has_cone:
            self._cross(move, dirty=dirty)

    def _nested(self, move: _Move) -> list[tuple[bytes, str | None, bool]]:
        """Return (path, folder, whether `.git` is a file) of the submodules that move along."""
        if move.kind not in (_FILE, _FOLDER):
            return []
        repository = self.repository
        entries = self.index.below(move.source) if move.kind == _FOLDER else list(
            self.index.stages(move.source).values()
        )  # fmt: skip
        return [
            (entry.path, folder_of(repository, decode(entry.path)),
             uses_file(repository, decode(entry.path)))
            for entry in entries
            if entry.mode == SUBMODULE
        ]  # fmt: skip

    def _move_modules(
        self, move: _Move, nested: list[tuple[bytes, str | None, bool]]
    ) -> None:
        """Let `.gitmodules` and the submodules know where they are now."""
        for path, folder, is_file in nested:
            moved = decode(move.destination.rstrip(b"/") + path[len(move.source) :])
            if move_section(self.git, decode(path), moved):
                self._stages_modules = True
            if folder is not None and is_file:
                connect(self.git, moved, folder)
                _reconnect(enter_path(self.git, moved))

    def _is_dirty(self, move: _Move) -> bool:
        info = self.tree.stat(move.source)
        entry = self.index.get(move.source)
        if info is None or entry is None or move.kind == _SPARSE:
            return False
        return not info.is_dir and self.tree.is_changed(entry, info)

    def _is_same(self, entry: Entry, path: bytes) -> bool:
        """Whether a file that was renamed with its directory is as its entry says."""
        info = self.tree.stat(path)
        return info is not None and entry.is_fresh(info)

    def _cross(self, move: _Move, *, dirty: bool) -> None:
        """Write or remove a file that comes into the sparse checkout or leaves it."""
        index, tree, destination = self.index, self.tree, move.destination
        entry = index.get(destination)
        assert entry is not None
        out = self.repository.leaves_out(destination)
        if move.kind == _SPARSE and not out:
            if not self.force and tree.stat(destination) is not None:
                return
            index.replace(tree.write(destination, entry.mode, entry.oid))
        elif self.leaves and move.kind != _SPARSE and out:
            if dirty:
                self.changed.append(destination)
                tree.make_parents(destination)
                self.git.fs.rename(tree.path(move.source), tree.path(destination))
            else:
                fresh = entry.copy()
                fresh.skips = True
                index.replace(fresh)
                tree.remove(move.source)

    def _finish(self) -> None:
        for folder in self._folders:
            where = self.tree.path(folder)
            if not self.index.has_folder(folder) and self.git.fs.is_dir(where):
                self.git.fs.remove_tree(where)
        if self.changed:
            names = "\n".join([decode(path) for path in self.changed])
            self.git.say(
                "The following paths have been moved outside the\n"
                "sparse-checkout definition but are not sparse due to local\n"
                f"modifications.\n{names}"
            )
            self.git.hint(
                "To correct the sparsity of these paths, do the following:\n"
                '* Use "git add --sparse <paths>" to update the index\n'
                '* Use "git sparse-checkout reapply" to apply the sparsity rules\n'
                'Disable this message with "git config advice.updateSparsePath false"',
                "updateSparsePath",
            )
        if self._stages_modules:
            stage_modules(self.tree, self.index)
        self.repository.write_index(self.index)


def _reconnect(git: Invocation) -> None:
    """Let the submodules of one that was moved know where they are now."""
    for entry in git.repository.index():
        if entry.mode == SUBMODULE:
            path = decode(entry.path)
            module = read_modules(git).at(path)
            where = f"{git.repository.work_path(entry.path)}/.git"
            if module is None or not git.fs.is_file(where):
                continue
            folder = module_folder(git.repository, module.name)
            if is_repository(git.fs, folder):
                connect(git, path, folder)
                git.budget.nested(lambda path=path: _reconnect(enter_path(git, path)))  # type: ignore[misc]


def _is_unchanged(tree: Worktree, entry: Entry) -> bool:
    """Whether `stat` says that a file is as it was when it was staged."""
    info = tree.stat(entry.path)
    return (
        info is not None
        and entry.is_fresh(info)
        and mode_of(info, file_mode=tree.file_mode, known=entry.mode) == entry.mode
    )


COMMANDS = {"mv": mv}
