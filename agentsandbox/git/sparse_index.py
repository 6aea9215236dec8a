"""The index between its file and a command: what a sparse checkout changes on the way.

An index that was read loses the bit "skip-worktree" of files that are in the worktree all the same:
somebody made them, and they count. With `index.sparse` the file of the index has a tree as the one
entry of a directory that is out of the cone. It is expanded when the index is read and made again
when it is written; no command sees it, but for `ls-files --sparse` and `status`.
"""

from __future__ import annotations

from agentsandbox.git.index import Entry, Index
from agentsandbox.git.objects import DIRECTORY, SUBMODULE
from agentsandbox.git.trees import flat_tree, write_index_tree
from agentsandbox.git.worktree import Worktree, smudge_racy
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository
    from agentsandbox.git.sparseness import Patterns


class IndexRules:
    """What happens to the index of a repository after it was read and before it is written."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository

    def expand(self, index: Index) -> None:
        """Replace the entries that are trees by the files of the trees."""
        expand(self.repository, index)

    def adopt(self, index: Index) -> None:
        """Bring an index in line with the worktree."""
        if self.repository.is_sparse:
            clear_present(self.repository, index)

    def settled(self, index: Index) -> Index:
        """Return what is written for an index."""
        smudge_racy(self.repository, index)
        if not self.repository.is_sparse:
            index.is_collapsed = False
            index.trees = ()
            return index
        return collapsed(self.repository, index) or index


def clear_present(repository: Repository, index: Index) -> None:
    """Let files count that are in the worktree although their entries skip it."""
    if repository.worktree is None:
        return
    if repository.config.flag("sparse.expectfilesoutsideofpatterns"):
        return
    fs, root = repository.fs, repository.worktree.rstrip("/")
    there: dict[bytes, bool] = {b"": True}
    skipped = [entry for entry in index.entries.values() if entry.flags and entry.skips]
    repository.git.budget.step(1 + len(skipped) // 4)
    for entry in skipped:
        folder = entry.path.rpartition(b"/")[0]
        pending: list[bytes] = []
        while folder not in there:
            pending.append(folder)
            folder = folder.rpartition(b"/")[0]
        for path in reversed(pending):
            there[path] = there[folder] and fs.exists(f"{root}/{decode(path)}")
            folder = path
        if there[folder] and fs.exists(f"{root}/{decode(entry.path)}", follow=False):
            fresh = entry.copy()
            fresh.skips = False
            index.replace(fresh)
    if any(there.get(folder) for folder in index.trees):
        index.is_collapsed = False


def left_out_folders(index: Index, patterns: Patterns) -> list[bytes]:
    """Return the topmost directories of which no file is in the worktree or belongs there."""
    kept: set[bytes] = set()
    for entry in index:
        if entry.stage or not entry.skips or entry.mode == SUBMODULE:
            folder = entry.path.rpartition(b"/")[0]
            while folder and folder not in kept:
                kept.add(folder)
                folder = folder.rpartition(b"/")[0]
    folders = index.folders()
    found: list[bytes] = []
    pending = [b""]
    while pending:
        path = pending.pop()
        base = path + b"/" if path else b""
        if path and path not in kept and not patterns.has(base):
            found.append(path)
        else:
            pending += [base + encode(name) for name in folders[path].below]
    return sorted(found)


def expand(repository: Repository, index: Index) -> None:
    """Replace the entries of an index that are trees by the files of the trees."""
    trees = [one for one in index.entries.values() if one.mode == DIRECTORY]
    index.trees = tuple([entry.path.rstrip(b"/") for entry in trees])
    for entry in trees:
        index.remove(entry.path)
        for path, side in flat_tree(repository.objects, entry.oid).items():
            made = Entry(entry.path + path, *side)
            made.skips = True
            index.set(made)
    index.cache = None


def collapsed(repository: Repository, index: Index) -> Index | None:
    """Return an index in which directories that are left out are trees; None if it must be full."""
    patterns = repository.sparse
    index.is_collapsed = False
    index.trees = ()
    if (
        patterns is None
        or not patterns.is_cone
        or not repository.config.flag("index.sparse")
        or not len(index)
        or index.unmerged()
        or any(entry.intends for entry in index)
    ):
        return None
    folders = left_out_folders(index, patterns)
    write_index_tree(repository, index, missing_ok=True)
    made = index.copy()
    for folder in folders:
        node = index.cache
        for part in folder.split(b"/"):
            assert node is not None
            node = node.children[part]
        assert node is not None
        for entry in index.below(folder):
            made.remove(entry.path)
            if entry.assumed or entry.ino:  # a tree keeps no more than modes and contents
                plain = Entry(entry.path, entry.mode, entry.oid)
                plain.skips = True
                index.replace(plain)
        tree = Entry(folder + b"/", DIRECTORY, node.oid)
        tree.skips = True
        made.set(tree)
    made.cache = None
    made.is_collapsed = index.is_collapsed = True
    made.trees = index.trees = tuple(folders)
    return made


def keep_skips(repository: Repository, before: Index, made: Index) -> None:
    """Let new entries of an index have the bit "skip-worktree" that those before had."""
    if not repository.is_sparse and not any(entry.flags for entry in before):
        return
    for entry in list(made):
        known = before.get(entry.path)
        if known is entry:
            continue
        if known.skips if known is not None else repository.leaves_out(entry.path):
            fresh = entry.copy()
            fresh.skips = True
            made.replace(fresh)


def put_back(
    repository: Repository, work: Worktree, index: Index, path: bytes, side: tuple[int, str]
) -> None:
    """Set a file in index and worktree; outside of a sparse checkout only in the index."""
    known = index.get(path)
    if known.skips if known is not None else repository.leaves_out(path):
        fresh = Entry(path, *side)
        fresh.skips = True
        index.set_replacing(fresh)
    else:
        index.set_replacing(work.write(path, *side))
