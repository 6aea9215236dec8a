"""The pickaxe: changes in which a text appears or disappears (-S), or that touch it (-G)."""

from __future__ import annotations

from agentsandbox.git.diff.xdiff import diff_lines, split_lines
from agentsandbox.git.texts import text_search
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.diff.options import DiffOptions
    from agentsandbox.git.trees import Delta
    from agentsandbox.kernel.budget import Budget


def pick(
    options: DiffOptions,
    content: Callable[[int, str, bytes], bytes],
    deltas: list[Delta],
    budget: Budget,
) -> list[Delta]:
    """Return the changes that the pickaxe keeps."""
    kept = [one for one in deltas if _hits(options, content, one, budget)]
    return deltas if options.pickaxe_all and kept else kept


def _hits(
    options: DiffOptions, content: Callable[[int, str, bytes], bytes], one: Delta, budget: Budget
) -> bool:
    if one.unmerged or (one.old_oid == one.new_oid and one.new_oid):
        return False
    before = content(one.old_mode, one.old_oid, one.old_path)
    after = content(one.new_mode, one.new_oid, one.new_path)
    budget.step(1 + (len(before) + len(after)) // 256)
    if options.pickaxe_kind == "S":
        if not options.pickaxe_regex:
            needle = encode(options.pickaxe)
            return bool(needle) and before.count(needle) != after.count(needle)
        return _count(options.pickaxe, before, budget) != _count(options.pickaxe, after, budget)
    if (b"\0" in before[:8000] or b"\0" in after[:8000]) and not options.as_text:
        return False
    matches = text_search(options.pickaxe, budget, extended=True)
    old, new = split_lines(before), split_lines(after)
    for change in diff_lines(old, new, budget):
        lines = old[change.old : change.old + change.deleted]
        lines += new[change.new : change.new + change.inserted]
        if any(matches(line.rstrip(b"\n")) for line in lines):
            return True
    return False


def _count(pattern: str, data: bytes, budget: Budget) -> int:
    from agentsandbox.kernel.regexps import compile_posix

    regex = compile_posix(pattern, newline_anchors=True)
    return sum(1 for found in regex.finditer(decode(data), budget=budget) if found.group())
