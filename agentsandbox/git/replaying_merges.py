"""The commands of a rebase's list that make merges anew: label, reset and merge.

Labels are references below `refs/rewritten/`.
"""

from __future__ import annotations

from agentsandbox.git.errors import GitError, Plain
from agentsandbox.git.history import merge_bases
from agentsandbox.git.merge_state import print_texts, put_merge
from agentsandbox.git.merging import Options as HowToMerge
from agentsandbox.git.merging import merge_commits
from agentsandbox.git.objects import EMPTY_TREE, format_commit
from agentsandbox.git.rebase_lists import NEW_ROOT
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.squashing import body_from_subject
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.replaying_commits import Commits
    from agentsandbox.git.todo import Item


def carry_out(commits: Commits, item: Item) -> int:
    """Carry out a label, reset or merge; return a status. A GitError means: not even begun."""
    work = {"label": _label, "reset": _reset, "merge": _merge}[item.command]
    return work(commits, item)


def _label(commits: Commits, item: Item) -> int:
    name = item.argument
    if name == "#":
        raise GitError(f"illegal label name: '{name}'")
    head = commits.repository.head()
    if head is None:
        raise GitError("could not read HEAD")
    full = f"refs/rewritten/{name}"
    commits.repository.refs.write(full, head, f"rebase (label) '{name}'")
    commits.state.append("refs-to-delete", f"{full}\n")
    return 0


def _commit_of(commits: Commits, name: str) -> tuple[str, str] | None:
    """Return (name, commit) of a label, or of another revision."""
    for full in (f"refs/rewritten/{name}", name):
        found = Resolver(commits.git).find(full, kind="commit")
        oid = commits.objects.peel(found, "commit") if found is not None else None
        if oid is not None:
            return full, oid
    return None


def _reset(commits: Commits, item: Item) -> int:
    repository, state = commits.repository, commits.state
    if item.argument.startswith(NEW_ROOT):
        name = NEW_ROOT
        if not state.squash_onto:
            ident = repository.ident("committer")
            state.squash_onto = commits.objects.write(
                "commit", format_commit(EMPTY_TREE, [], repository.ident("author"), ident, b"")
            )
            state.write("squash-onto", state.squash_onto)
        oid = state.squash_onto
    else:
        name = item.argument.split()[0]
        found = _commit_of(commits, name)
        if found is None:
            raise GitError(f"could not read 'refs/rewritten/{name}'")
        oid = found[1]
    head = repository.head()
    old = commits.objects.commit(head).tree if head is not None else None
    switch_trees(commits.git, old, commits.objects.commit(oid).tree, action="merge")
    message = commits.message("reset", f"'{name}'")
    if commits.has_picked:
        commits.merge_action = message
    repository.refs.write("HEAD", oid, message, deref=False)
    return 0


def _merge(commits: Commits, item: Item) -> int:
    # long: what git checks before it merges
    repository, state, objects = commits.repository, commits.state, commits.objects
    head = repository.head()
    if head is None:
        raise GitError("cannot merge without a current revision")
    names, _, oneline = f"{item.argument} ".partition("# ")
    others: list[str] = []
    label = ""
    for name in names.split():
        found = _commit_of(commits, name)
        if found is None:
            commits.git.error(f"could not resolve '{name}'")
            raise GitError(f"unable to parse '{name}'")
        label = found[0]
        others.append(found[1])
    if not others:
        raise GitError(f"nothing to merge: '{item.argument}'")
    ours = objects.commit(head).tree
    if state.squash_onto == head:
        if len(others) > 1:
            raise GitError("octopus merge cannot be executed on top of a [new root]")
        commits.fast_forward(others[0], ours, head)
        return 0
    if item.oid is not None and not state.forces:
        if repository.parents(item.oid) == (head, *others):
            commits.fast_forward(item.oid, ours, head)
            return commits.run_commit("merge", ["--amend", "-e"]) if item.flag == "-c" else 0
    if len(others) > 1:
        raise GitError("a merge of more than one branch is not supported in this sandbox")
    if item.oid is not None:
        commit = commits.repository.readable(item.oid)
        state.save_author(commit.author)
        message = encode(body_from_subject(commit.message))
    else:
        state.save_author(repository.ident("author"))
        message = encode(oneline.rstrip() or f"Merge branch '{names.strip()}'")
    repository.write_file("MERGE_MSG", message)
    return _merge_one(commits, item, head, others[0], label)


def _merge_one(commits: Commits, item: Item, head: str, other: str, label: str) -> int:
    repository, state = commits.repository, commits.state
    bases = merge_bases(repository, head, [other])
    if bases[:1] == [other]:
        return 0
    repository.write_file("MERGE_HEAD", f"{other}\n")
    repository.write_file("MERGE_MODE", "no-ff")
    how = HowToMerge(repository)
    how.favor = state.favor
    ours = commits.objects.commit(head).tree
    merged = merge_commits(repository, head, other, ("HEAD", label), how, bases[::-1])
    try:
        put_merge(commits.git, ours, merged)
    except Plain as error:
        commits.git.say(error.message)
        raise GitError(f"could not even attempt to merge '{label}'") from None
    if not merged.is_clean:
        print_texts(commits.git, merged)
        commits.git.flush()
        return 1
    words = ["-n", "-F", repository.file("MERGE_MSG"), "--cleanup=verbatim",
             "--allow-empty-message"]  # fmt: skip
    status = commits.run_commit("merge", words, author=True, quiet=True)
    if not status and item.flag == "-c":
        status = commits.run_commit("merge", ["--amend", "-e"])
    return status

