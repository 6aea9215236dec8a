"""`git diff --no-index`: files and directories, whether or not a repository has them."""

from __future__ import annotations

from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.invocation import Invocation

TYPE_CHECKING = False


def diff_no_index(git: Invocation, words: list[str]) -> int:
    """Compare two paths."""
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
        git.say("usage: git diff --no-index [<options>] <path> <path>")
        return 129
    if git.find_repository() is None:
        raise Fatal(
            "git diff --no-index outside of a repository is not supported in this sandbox; "
            "use diff -u"
        )
    from agentsandbox.git.diff.loose import compare_paths

    return compare_paths(git, options, operands[0], operands[1])
