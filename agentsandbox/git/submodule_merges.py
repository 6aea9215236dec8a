"""Merging two commits of a submodule: only where one of them contains the other."""

from __future__ import annotations

from agentsandbox.git.encodings import recoded
from agentsandbox.git.errors import GitError
from agentsandbox.git.history import Walk, is_ancestor
from agentsandbox.git.modules import linked_part
from agentsandbox.git.nested import enter, folder_of
from agentsandbox.git.texts import subject_of
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository

_ADVICE = """Recursive merging with submodules currently only supports trivial cases.
Please manually handle the merging of each conflicted submodule.
This can be accomplished with the following steps:
{steps} - come back to superproject and run:

      git add {paths}

   to record the above merge or update
 - resolve any other conflicts in the superproject
 - commit the resulting index in the superproject"""
_STEP = """ - go to submodule ({path}), and either merge commit {commit}
   or update to an existing commit which has merged those changes
"""


class SubmoduleMerge:
    """The merge of one submodule: `oid` is None for a conflict."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.oid: str | None = None
        self.message = ""
        self.commit = ""
        """The abbreviation of their commit, "" if the submodule cannot be looked at."""


def merge_submodule(
    repository: Repository, path: str, base: str | None, ours: str, theirs: str, *, search: bool
) -> SubmoduleMerge:
    """Merge the commits of a submodule; `search` looks for merges that contain both."""
    found = SubmoduleMerge(path)
    failed = f"Failed to merge submodule {path}"
    inner = _inner(repository, path)
    if inner is None:
        found.message = f"{failed} (not checked out)"
        return found
    found.commit = inner.short(theirs) if theirs in inner.objects else theirs[:7]
    if base is None:
        found.message = f"{failed} (no merge base)"
        return found
    if not all(_is_commit(inner, oid) for oid in (base, ours, theirs)):
        found.message, found.commit = f"{failed} (commits not present)", ""
        return found
    if not is_ancestor(inner, base, ours) or not is_ancestor(inner, base, theirs):
        found.message = f"{failed} (commits don't follow merge-base)"
        return found
    for one, other in ((ours, theirs), (theirs, ours)):
        if is_ancestor(inner, one, other):
            found.oid = other
            found.message = f"Note: Fast-forwarding submodule {path} to {other}"
            return found
    if search:
        found.message = f"{failed}{_resolutions(inner, ours, theirs)}"
    return found


def _inner(repository: Repository, path: str) -> Repository | None:
    if repository.worktree is None or linked_part(repository, path):
        return None
    if folder_of(repository, path) is None:
        return None
    git = repository.git
    from agentsandbox.git.invocation import Invocation

    assert isinstance(git, Invocation)
    return enter(git, repository.work_path(encode(path))).repository


def _is_commit(inner: Repository, oid: str) -> bool:
    try:
        return oid in inner.objects and inner.objects.type_of(oid) == "commit"
    except GitError:
        return False


def _resolutions(inner: Repository, ours: str, theirs: str) -> str:
    """Return what the message says of merges that contain both commits."""
    walk = Walk(inner)
    walk.tips = [oid for oid in inner.refs.all().values() if _is_commit(inner, oid)]
    walk.hidden = [ours]
    merges = [
        commit
        for commit in walk.run()
        if len(inner.parents(commit)) > 1
        and is_ancestor(inner, ours, commit)
        and is_ancestor(inner, theirs, commit)
    ]
    first = [
        one
        for one in merges
        if not any(other != one and is_ancestor(inner, other, one) for other in merges)
    ]
    lines = []
    for oid in first:
        commit = recoded(inner.objects.commit(oid), "UTF-8")
        lines.append(f"    {inner.short(oid)} {decode(subject_of(commit.message))}\n")
    if not first:
        return ""
    if len(first) == 1:
        return f", but a possible merge resolution exists: {lines[0]}"
    return f", but multiple possible merges exist:\n{''.join(lines)}"


def advice(merges: list[SubmoduleMerge]) -> str:
    """Return how conflicts of submodules are resolved."""
    steps = "".join(
        _STEP.replace("{path}", one.path).replace("{commit}", one.commit)
        for one in merges
        if one.commit
    )
    paths = " ".join(one.path for one in merges)
    return _ADVICE.replace("{steps}", steps).replace("{paths}", paths)
