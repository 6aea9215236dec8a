"""Linked worktrees: further worktrees of a repository, each with a HEAD and an index of its own.

The folder `.git/worktrees/NAME` has what is the worktree's own, `commondir` (where the rest is)
and `gitdir` (the path of the `.git` file in the worktree, which names the folder in turn).
"""

from __future__ import annotations

import posixpath

from agentsandbox.git.refs import Refs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository


class LinkedTree:
    """A worktree of a repository, the main one included."""

    __slots__ = ("bare", "branch", "folder", "head", "lock", "name", "path", "problem")

    def __init__(self, name: str, path: str, folder: str) -> None:
        self.name = name
        """The name of its folder, "" for the main worktree."""
        self.path = path
        self.folder = folder
        self.head: str | None = None
        self.branch = ""
        self.bare = False
        self.lock: str | None = None
        """The reason of a lock, None if it is not locked."""
        self.problem = ""
        """Why it may be pruned."""


def list_worktrees(repository: Repository) -> list[LinkedTree]:
    """Return all worktrees, the main one first."""
    common = repository.common
    top = posixpath.dirname(common) if common.endswith("/.git") else common
    main = LinkedTree("", top or "/", common)
    main.bare = repository.config.flag("core.bare") or not common.endswith("/.git")
    _read_head(repository, main)
    found = [main]
    for name in linked_names(repository):
        repository.git.budget.step()
        tree = read_linked(repository, name)
        if tree.path:
            found.append(tree)
    return found


def linked_names(repository: Repository) -> list[str]:
    """Return the names of the folders of linked worktrees."""
    fs, folder = repository.fs, f"{repository.common}/worktrees"
    try:
        return [name for name in fs.listdir(folder) if fs.is_dir(f"{folder}/{name}")]
    except OSError:
        return []


def read_linked(repository: Repository, name: str) -> LinkedTree:
    """Return a linked worktree; its path is "" if its folder does not say where it is."""
    fs = repository.fs
    folder = f"{repository.common}/worktrees/{name}"
    tree = LinkedTree(name, "", folder)
    text = _text(repository, f"{folder}/gitdir")
    if text is None:
        tree.problem = "gitdir file does not exist"
        return tree
    place = text.rstrip("\n")
    if not place:
        tree.problem = "invalid gitdir file"
        return tree
    tree.path = place.removesuffix("/.git") or "/"
    if not fs.exists(place):
        tree.problem = "gitdir file points to non-existent location"
    tree.lock = _text(repository, f"{folder}/locked")
    if tree.lock is not None:
        tree.lock, tree.problem = tree.lock.rstrip("\n"), ""
    _read_head(repository, tree)
    return tree


def _text(repository: Repository, path: str) -> str | None:
    try:
        return repository.fs.read_text(path)
    except OSError:
        return None


def _read_head(repository: Repository, tree: LinkedTree) -> None:
    refs = Refs(repository.fs, tree.folder, repository.common, repository.git.budget, 0)
    tree.head = refs.read("HEAD")
    tree.branch = refs.symbolic("HEAD") or ""


def checked_out_elsewhere(repository: Repository, branch: str) -> LinkedTree | None:
    """Return another worktree whose current branch is this one (its full name)."""
    if repository.common == repository.folder and not linked_names(repository):
        return None
    for tree in list_worktrees(repository):
        if tree.branch == branch and tree.folder != repository.folder and not tree.bare:
            return tree
    return None
