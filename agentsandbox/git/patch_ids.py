"""Patch ids: equal for commits that make the same change, whatever they are based on."""

from __future__ import annotations

import re
from hashlib import sha1

from agentsandbox.git.diff.hunks import LineDiff
from agentsandbox.git.trees import diff_trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository


def patch_id(repository: Repository, oid: str) -> str | None:
    """Return the id of a commit's change, None for a merge."""
    parents = repository.parents(oid)
    if len(parents) > 1:
        return None
    objects = repository.objects
    base = objects.commit(parents[0]).tree if parents else None
    digest = sha1()
    lines = LineDiff()
    for one in diff_trees(objects, base, objects.commit(oid).tree):
        digest.update(b"%s\0%o\0%o\0" % (one.new_path, one.old_mode, one.new_mode))
        if 0o160000 in (one.old_mode, one.new_mode):
            digest.update(one.new_oid.encode("ascii"))
            continue
        before = objects.blob(one.old_oid) if one.old_mode else b""
        after = objects.blob(one.new_oid) if one.new_mode else b""
        for hunk in lines.hunks(before, after, repository.git.budget):
            for sign, line in hunk.lines:
                digest.update(sign + re.sub(rb"\s+", b"", line))
    return digest.hexdigest()


def equal_patches(repository: Repository, commits: list[str], left: set[str]) -> set[str]:
    """Return the commits of both sides whose change the other side has too."""
    sides: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for oid in commits:
        found = patch_id(repository, oid)
        if found is not None:
            sides[oid in left].setdefault(found, []).append(oid)
    both = sides[0].keys() & sides[1].keys()
    return {oid for key in both for side in sides for oid in side[key]}
