"""Carrying local changes over to another commit: what `git checkout -m` does.

If the changes stand in the way, the files of the worktree are merged, as if they were a commit on
top of HEAD, into the new commit. What was changed stays unstaged, with conflicts as stages.
"""

from __future__ import annotations

from agentsandbox.git.errors import Fatal
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.merge_state import put_merge, staged_names
from agentsandbox.git.merging import Options as HowToMerge
from agentsandbox.git.merging import TreeMerge
from agentsandbox.git.sparse_index import keep_skips
from agentsandbox.git.trees import index_of_tree, write_index_tree
from agentsandbox.git.unpacking import Switch
from agentsandbox.git.worktree import Worktree, mode_of, scan_worktree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository


def file_entry(tree: Worktree, path: bytes, known: Entry | None = None) -> Entry | None:
    """Return an entry for a file of the worktree, whose content is written; None without one."""
    info = tree.stat(path)
    if info is None or info.is_dir:
        return None
    data = tree.read(path, info, known=known.oid if known else None, warns=True)
    mode = mode_of(info, file_mode=tree.file_mode, known=known.mode if known else 0)
    return Entry(path, mode, tree.repository.objects.write("blob", data))


def worktree_tree(tree: Worktree, index: Index, changed: Iterable[bytes]) -> str:
    """Write the tree of an index in which some files are as in the worktree."""
    made = index.copy()
    for path in changed:
        entry = file_entry(tree, path, made.get(path))
        if entry is None:
            made.remove(path)
        else:
            made.set_replacing(entry)
    return write_index_tree(tree.repository, made)


def carry(git: Invocation, old: str, new: str, names: tuple[str, str], style: str) -> None:
    """Move from one tree to another with the local changes; nothing may be staged.

    names  the names of the old and of the new commit
    style  how conflicts are shown, "" as it is configured
    """
    repository = git.repository
    staged = staged_names(git, old)
    if staged:
        text = "cannot continue with staged changes in the following files:"
        raise Fatal(f"{text}\n{' '.join(staged)}")
    tree, index = Worktree(repository), repository.index()
    work = worktree_tree(tree, index, scan_worktree(tree, index).changed)
    switch = Switch(git, action="reset", reset=True, protects=True)
    switch.one_way(new)
    switch.finish(new)
    how = HowToMerge(repository)
    how.style = style or how.style
    merged = TreeMerge(repository, (names[1], names[0], "local"), how).run(old, new, work)
    put_merge(git, new, merged)
    _unstage(repository, new)


def forget_operation(repository: Repository) -> None:
    """Forget the merge, pick or revert that is in progress, as a `git reset` does."""
    repository.remove_file(
        "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD",
        "MERGE_RR", "AUTO_MERGE",
    )  # fmt: skip


def note_reset(git: Invocation) -> None:
    """Leave the traces of a `git reset` by which git restores a state; HEAD stays."""
    refs, head = git.repository.refs, git.repository.head()
    assert head is not None
    action = git.env.get("GIT_REFLOG_ACTION")
    refs.write("ORIG_HEAD", head, "")
    message = "reset: moving to HEAD" if action is None else f"{action}: updating HEAD"
    refs.write("HEAD", head, message)


def _unstage(repository: Repository, tree: str) -> None:
    """Make the index that of a tree, but for conflicts."""
    index = repository.index()
    made = index_of_tree(repository, tree, index)
    keep_skips(repository, index, made)
    for path in index.unmerged():
        made.remove(path)
        for entry in index.stages(path).values():
            made.set(entry)
    repository.write_index(made)
