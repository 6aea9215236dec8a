"""The stash that an operation makes of local changes before it begins, and applies when it ends."""

from __future__ import annotations

from agentsandbox.git.errors import Plain
from agentsandbox.git.trees import diff_index
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.git.worktree import Worktree, scan_worktree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation

_SAFE = """{}
Your changes are safe in the stash.
You can run "git stash pop" or "git stash drop" at any time."""


def has_unstaged(git: Invocation) -> bool:
    """Whether files of the worktree differ from the index, conflicts included.

    Submodules do not count, neither here nor for `has_uncommitted`.
    """
    repository = git.repository
    index = repository.index()
    if index.unmerged():
        return True
    scan = scan_worktree(Worktree(repository), index, look=lambda entry, changed: (False, 0))
    return bool(scan.changed)


def has_uncommitted(git: Invocation) -> bool:
    """Whether the index differs from HEAD."""
    repository = git.repository
    head = repository.head()
    if head is None:
        return False
    tree = repository.objects.commit(head).tree
    found = diff_index(repository, tree, repository.index())
    return any(not one.is_submodule for one in found)


def demand_clean(git: Invocation, action: str, hint: str = "") -> bool:
    """Return whether there are no local changes; say so if there are."""
    clean = True
    if has_unstaged(git):
        git.error(f"cannot {action}: You have unstaged changes.")
        clean = False
    if has_uncommitted(git):
        if clean:
            git.error(f"cannot {action}: Your index contains uncommitted changes.")
        else:
            git.error("additionally, your index contains uncommitted changes.")
        clean = False
    if not clean and hint:
        git.error(hint)
    return clean


def create_autostash(git: Invocation, name: str) -> None:
    """Stash local changes, if there are any, and write the stash's name to a file of `.git`."""
    from agentsandbox.git.commands.stashing import make_stash

    if not (has_unstaged(git) or has_uncommitted(git)):
        return
    repository = git.repository
    oid = make_stash(git, "autostash")
    repository.write_file(name, oid)
    git.print(f"Created autostash: {repository.short(oid)}")
    git.flush()
    head = repository.head()
    tree = repository.objects.commit(head).tree if head is not None else None
    switch_trees(git, None, tree, action="reset", reset=True, one_way=True)


def apply_autostash(git: Invocation, name: str) -> None:
    """Apply the stash that a file of `.git` names, and remove the file."""
    _finish(git, name, applies=True)


def save_autostash(git: Invocation, name: str) -> None:
    """Put the stash that a file of `.git` names on the list of stashes."""
    _finish(git, name, applies=False)


def _finish(git: Invocation, name: str, *, applies: bool) -> None:
    from agentsandbox.git.commands.stashing import store_stash

    repository = git.repository
    oid = (repository.read_file(name) or "").strip()
    if not oid:
        return
    git.flush()
    if applies and not _apply(git, oid):
        git.say("Applied autostash.")
    else:
        store_stash(git, oid, "autostash")
        git.say(
            _SAFE.replace(
                "{}",
                "Applying autostash resulted in conflicts."
                if applies
                else "Autostash exists; creating a new stash entry.",
            )
        )
    repository.remove_file(name)


def _apply(git: Invocation, oid: str) -> int:
    from agentsandbox.git.commands.stashing import stash
    from agentsandbox.git.errors import GitError

    child = git.child(quiet=True)
    try:
        return stash(child, ["apply", oid])
    except Plain as error:
        return error.status
    except GitError as error:
        return error.status or 1
