"""`git merge-base`."""

from __future__ import annotations

from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.history import independent, is_ancestor, merge_bases
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import parse_options
from agentsandbox.git.revisions import resolve_commit

USAGES = {
    "merge-base": """
git merge-base [-a | --all] <commit> <commit>...
   or: git merge-base [-a | --all] --octopus <commit>...
   or: git merge-base --is-ancestor <commit> <commit>
   or: git merge-base --independent <commit>...
   or: git merge-base --fork-point <ref> [<commit>]

    -a, --all             print all best common ancestors
    --octopus             the ancestors of all commits
    --independent         print the commits that no other one reaches
    --is-ancestor         whether the first one is an ancestor of the second one
    --fork-point          where a branch forked off, by the log of a reference
""",
}


def merge_base(git: Invocation, words: list[str]) -> int:
    # long: one mode after the other
    options = parse_options(USAGES["merge-base"], words)
    repository = git.repository

    def commit(text: str) -> str:
        return resolve_commit(git, text, f"Not a valid object name {text}")

    operands = options.operands
    if options.on("is-ancestor"):
        if options.on("all"):
            raise Fatal("options '--is-ancestor' and '--all' cannot be used together")
        if len(operands) != 2:
            raise (
                Fatal("--is-ancestor takes exactly two commits")
                if len(operands) > 2
                else BadUsage()
            )
        return 0 if is_ancestor(repository, commit(operands[0]), commit(operands[1])) else 1
    if options.on("independent"):
        found = [commit(each) for each in operands]
        for oid in independent(repository, found):
            git.print(oid)
        return 0 if found else 1
    if options.on("fork-point"):
        return _fork_point(git, operands)
    if options.on("octopus"):
        found = [commit(each) for each in operands]
        if not found:
            raise BadUsage
        bases = [found[0]]
        for oid in found[1:]:
            bases = independent(
                repository,
                [base for each in bases for base in merge_bases(repository, each, [oid])],
            )
        for base in bases if options.on("all") else bases[:1]:
            git.print(base)
        return 0 if bases else 1
    if len(operands) < 2:
        raise BadUsage
    first, *others = [commit(each) for each in operands]
    bases = merge_bases(repository, first, others)
    for base in bases if options.on("all") else bases[:1]:
        git.print(base)
    return 0 if bases else 1


def _fork_point(git: Invocation, operands: list[str]) -> int:
    from agentsandbox.git.objects import NULL
    from agentsandbox.git.revisions import find_ref

    if not 1 <= len(operands) <= 2:
        raise BadUsage
    repository = git.repository
    ref = find_ref(repository, operands[0])
    if ref is None:
        raise Fatal(f"No such ref: '{operands[0]}'")
    commit = resolve_commit(git, operands[1] if len(operands) > 1 else "HEAD")
    entries = repository.refs.read_log(ref[0])
    points = [ref[1]]
    for entry in reversed(entries):
        points += [oid for oid in (entry.new, entry.old) if oid != NULL]
    points = [oid for oid in dict.fromkeys(points) if oid in repository.objects]
    bases = merge_bases(repository, commit, points)
    if len(bases) != 1 or bases[0] not in points:
        return 1
    git.print(bases[0])
    return 0


COMMANDS = {"merge-base": merge_base}
