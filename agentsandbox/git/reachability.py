"""What keeps objects: references, reflogs, the index and the HEAD of each worktree."""

from __future__ import annotations

from agentsandbox.git.objects import NULL, SUBMODULE
from agentsandbox.git.refs import Refs
from agentsandbox.git.worktrees import list_worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.git.index import TreeCache
    from agentsandbox.git.repository import Repository


def reflog_tips(repository: Repository) -> list[tuple[str, str]]:
    """Return (reference, object) of all objects in reflogs that are there."""
    found: list[tuple[str, str]] = []
    for folder in dict.fromkeys(
        [repository.common, *[tree.folder for tree in list_worktrees(repository)]]
    ):
        refs = Refs(repository.fs, folder, repository.common, repository.git.budget, 0)
        top = f"{folder}/logs"
        if not repository.fs.is_dir(top):
            continue
        for here, _, names in repository.fs.walk(top):
            for name in names:
                full = f"{here}/{name}"[len(top) + 1 :]
                for entry in refs.read_log(full):
                    repository.git.budget.step()
                    found += [(full, oid) for oid in (entry.old, entry.new) if oid != NULL]
    return found


def index_tips(repository: Repository) -> list[str]:
    """Return the blobs and the trees that the index names."""
    index = repository.index()
    found = [entry.oid for entry in index if entry.mode != SUBMODULE]
    if index.cache is not None:
        found += _cached_trees(index.cache)
    return list(dict.fromkeys(found))


def _cached_trees(cache: TreeCache) -> Iterator[str]:
    pending = [cache]
    while pending:
        node = pending.pop()
        if node.count >= 0:
            yield node.oid
        pending += node.children.values()


def heads_of(repository: Repository) -> dict[str, str]:
    """Return the references and the HEAD of each worktree."""
    found = dict(repository.refs.all())
    for tree in list_worktrees(repository):
        if tree.head is not None:
            name = f"worktrees/{tree.name}/HEAD" if tree.name else "HEAD"
            found[name] = tree.head
    return found


def tips_of(repository: Repository) -> list[str]:
    """Return the objects that keep others, as far as they are there."""
    objects = repository.objects
    found = [
        *heads_of(repository).values(),
        *[oid for _, oid in reflog_tips(repository)],
        *index_tips(repository),
    ]
    return [oid for oid in dict.fromkeys(found) if oid in objects]
