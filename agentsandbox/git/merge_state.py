"""Putting the result of a merge into index and worktree, and the files of a merge in progress."""

from __future__ import annotations

from agentsandbox.git.errors import Fatal, Plain, Quit
from agentsandbox.git.index import Entry
from agentsandbox.git.trees import diff_index
from agentsandbox.git.unpacking import Switch
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.merging import Merged


def refuse_unmerged(git: Invocation, what: str) -> None:
    """End the command if the index has conflicts. `what` is "Merging", "Cherry-picking" …"""
    if not git.repository.index().unmerged():
        return
    git.error(f"{what} is not possible because you have unmerged files.")
    git.hint(
        "Fix them up in the work tree, and then use 'git add/rm <file>'\n"
        "as appropriate to mark resolution and make a commit.",
        "resolveConflict",
    )
    raise Fatal("Exiting because of an unresolved conflict.")


def staged_paths(git: Invocation, tree: str | None) -> list[bytes]:
    """Return the paths in which the index differs from a tree."""
    return [delta.path for delta in diff_index(git.repository, tree, git.repository.index())]


def staged_names(git: Invocation, tree: str | None) -> list[str]:
    """Return the paths in which the index differs from a tree; of renamed files the new ones."""
    from agentsandbox.git.diff.options import DiffOptions
    from agentsandbox.git.diff.printing import DiffPrinter

    staged = diff_index(git.repository, tree, git.repository.index())
    if not staged:
        return []
    options = DiffOptions()
    options.configure(git)
    return [decode(delta.path) for delta in DiffPrinter(git, options).prepare(staged)]


def refuse_staged(git: Invocation, tree: str | None) -> None:
    """End the command if the index is not that of a tree."""
    names = " ".join(staged_names(git, tree))
    if names:
        text = "Your local changes to the following files would be overwritten by merge:"
        raise Plain(f"error: {text}\n  {names}", 2)


def put_merge(git: Invocation, ours: str | None, merged: Merged) -> None:
    """Move index and worktree from our tree to the result; conflicts become stages.

    Raises Plain, with nothing changed, if local changes or untracked files are in the way.
    """
    repository = git.repository
    switch = Switch(git, action="merge")
    switch.two_way(ours, merged.tree)
    switch.finish(merged.tree)
    if merged.stages:
        index = repository.index()
        for path in merged.stages:
            entry = index.get(path)
            if entry is not None and entry.skips and switch.tree is not None:
                switch.tree.write(path, entry.mode, entry.oid)
            index.remove(path)
        for path, stages in merged.stages.items():
            for stage, side in sorted(stages.items()):
                index.set(Entry(path, *side, stage))
        repository.write_index(index)


CUT = """# ------------------------ >8 ------------------------
# Do not modify or remove the line above.
# Everything below it will be ignored.
#
"""


def conflict_lines(paths: list[bytes], *, cut: bool = False) -> str:
    """Return the lines of a message that list the conflicts, with `cut` below a line to cut at."""
    names = "".join([f"#\t{decode(path)}\n" for path in sorted(paths)])
    return f"\n{CUT * cut}# Conflicts:\n{names}"


def print_texts(git: Invocation, merged: Merged, *, quiet: bool = False) -> None:
    """Print the messages of a merge."""
    if not quiet:
        for text in merged.texts():
            git.print(text)


def print_change(git: Invocation, old: str | None, new: str | None) -> None:
    """Print the diffstat and the summary between two commits."""
    from agentsandbox.git.diff.options import DiffOptions
    from agentsandbox.git.diff.printing import DiffPrinter
    from agentsandbox.git.trees import diff_trees

    objects = git.repository.objects
    options = DiffOptions()
    options.formats = {"stat", "summary"}
    options.configure(git)
    printer = DiffPrinter(git, options)
    one, two = (objects.commit(oid).tree if oid is not None else None for oid in (old, new))
    printer.print(printer.prepare(diff_trees(objects, one, two)))


def refused(git: Invocation, error: Plain, status: int, last: str = "") -> Quit:
    """Print why a merge was refused and return what ends the command."""
    git.say(error.message)
    if last:
        git.say(last)
    return Quit(status)
