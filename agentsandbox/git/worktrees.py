"""Linked worktrees: further worktrees of a repository, each with a HEAD and an index of its own.

The folder `.git/worktrees/NAME` has what is the worktree's own, `commondir` (where the rest is)
and `gitdir` (the path of the `.git` file in the worktree, which names the folder in turn).
"""

from __future__ import annotations

import posixpath

from agentsandbox.git.config import ConfigFile, normal_key, read_text, with_value
from agentsandbox.git.refs import Refs
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.config import Value
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


# settings of one worktree


def has_own_settings(repository: Repository) -> bool:
    """Whether each worktree has a configuration of its own beside the common one."""
    return bool(repository.config.maybe("extensions.worktreeconfig"))


def give_own_settings(repository: Repository) -> None:
    """Let each worktree have a configuration of its own.

    What only holds for the main worktree, core.bare and core.worktree, moves to its file.
    """
    if has_own_settings(repository):
        return
    common, own = f"{repository.common}/config", f"{repository.common}/config.worktree"
    edit_settings(repository, common, "extensions.worktreeConfig", "true")
    values = {value.key: value.text for value in _values(repository, common)}
    for key in ("core.bare", "core.worktree"):
        text = values.get(key)
        if key in values and (text != "false" if key == "core.bare" else text is not None):
            edit_settings(repository, own, key, text or "true")
            edit_settings(repository, common, key, None)


def set_own(repository: Repository, key: str, value: str) -> None:
    """Set a key of the worktree's own configuration."""
    name = "config.worktree" if has_own_settings(repository) else "config"
    folder = repository.folder if has_own_settings(repository) else repository.common
    edit_settings(repository, f"{folder}/{name}", key, value)


def _values(repository: Repository, path: str) -> list[Value]:
    return ConfigFile(read_text(repository.fs, path), "", "", f"file {path}").values


def edit_settings(repository: Repository, path: str, key: str, value: str | None) -> None:
    """Set or remove a key in a file of configuration."""
    before = read_text(repository.fs, path)
    after, _ = with_value(
        before, normal_key(key), value, lambda text: True, replace_all=True, spelling=key
    )
    if after != before:
        repository.fs.write_bytes(
            path, encode(after), permissions=0o666 & ~repository.git.ctx.umask
        )
        repository.forget_config()


def copy_settings(repository: Repository, folder: str) -> None:
    """Give a new worktree the sparse checkout and the own settings of this one."""
    fs, permissions = repository.fs, 0o666 & ~repository.git.ctx.umask
    if repository.is_sparse and fs.is_file(repository.sparse_path):
        fs.makedirs(f"{folder}/info", 0o777 & ~repository.git.ctx.umask)
        data = fs.read_bytes(repository.sparse_path)
        fs.write_bytes(f"{folder}/info/sparse-checkout", data, permissions=permissions)
    source = f"{repository.folder}/config.worktree"
    if has_own_settings(repository) and fs.is_file(source):
        target = f"{folder}/config.worktree"
        fs.write_bytes(target, fs.read_bytes(source), permissions=permissions)
        for key in ("core.bare", "core.worktree"):
            edit_settings(repository, target, key, None)
