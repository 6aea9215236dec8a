"""`git diff --no-index`: files and directories, whether or not a repository has them."""

from __future__ import annotations

from agentsandbox.git.diff.loose import compare_paths
from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.pathspecs import normalized


def diff_no_index(git: Invocation, words: list[str], *, explicit: bool = True) -> int:
    """Compare two paths; `explicit` says whether --no-index was given."""
    options = DiffOptions()
    operands: list[str] = []
    pending = list(reversed(words))
    while pending:
        word = pending.pop()
        if word == "--":
            operands += reversed(pending)
            break
        if word == "-" or not word.startswith("-"):
            operands.append(word)
        elif not options.take(word, lambda: pending.pop() if pending else None):
            raise BadUsage(f"invalid option: {word}")
    if len(operands) != 2:
        if not explicit:
            git.warn(
                "Not a git repository. Use --no-index to compare two paths outside a working tree"
            )
        git.say("usage: git diff --no-index [<options>] <path> <path>")
        return 129
    return compare_paths(git, options, operands[0], operands[1])


def is_outside(git: Invocation, words: list[str]) -> bool:
    """Whether a command line names two paths, and one of them is outside of the worktree."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        at += 1
        if words[at - 1] == "--":
            break
    repository = git.find_repository()
    if len(words) != at + 2 or repository is None or repository.worktree is None:
        return False
    for word in words[at:]:
        try:
            normalized(git, word)
        except Fatal:
            return True
    return False
