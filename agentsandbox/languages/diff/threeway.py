"""Comparing three files: who changed what, conflicts, merged text and ed scripts, as diff3 gives them."""

from __future__ import annotations

from agentsandbox.languages.diff.comparison import compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.languages.diff.comparison import Change
    from agentsandbox.limits import Budget

__all__ = ["ALL", "Block", "MergeRules", "blocks_of", "compare_two", "merge", "print_blocks", "print_script"]

ALL = 3
"""The odd one out when all three differ; else 0, 1 or 2."""
_HORIZON = 100


class Block:
    """A place where the files differ: (first, last + 1) of its lines in each of the three, and which file is the odd one."""

    __slots__ = ("odd", "ranges")

    def __init__(self, ranges: list[tuple[int, int]], odd: int) -> None:
        self.ranges = ranges
        self.odd = odd


def compare_two(files: list[list[bytes]], common: int, budget: Budget) -> list[list[Change]]:
    """The changes from each of the others to the file `common`."""
    return [compare(files[at], files[common], budget, horizon=_HORIZON) for at in range(3) if at != common]


def blocks_of(files: list[list[bytes]], common: int, threads: list[list[Change]], budget: Budget) -> list[Block]:
    """The blocks of three files; `threads` are the changes from each of the others to the file `common`."""
    others = [at for at in range(3) if at != common]
    blocks: list[Block] = []
    at = [0, 0]
    shifts = [0, 0]  # what to add to a line of the common file for a line of the other
    while at[0] < len(threads[0]) or at[1] < len(threads[1]):
        budget.step()
        taken: list[list[Change]] = [[], []]
        first = min((0, 1), key=lambda side: threads[side][at[side]].new if at[side] < len(threads[side]) else 1 << 60)
        start = threads[first][at[first]].new
        end = start
        growing = True
        while growing:
            growing = False
            for side in (0, 1):
                while at[side] < len(threads[side]) and threads[side][at[side]].new <= end:
                    change = threads[side][at[side]]
                    taken[side].append(change)
                    end = max(end, change.new + change.inserted)
                    at[side] += 1
                    growing = True
        ranges: list[tuple[int, int]] = [(start, end)] * 3
        for side in (0, 1):
            low = start + shifts[side]
            if taken[side]:
                last = taken[side][-1]
                low = taken[side][0].old - (taken[side][0].new - start)
                shifts[side] = last.old + last.deleted - (last.new + last.inserted)
            ranges[others[side]] = (low, end + shifts[side])
        blocks.append(Block(ranges, _odd_one(files, ranges, taken, others, common)))
    return blocks


def _odd_one(files: list[list[bytes]], ranges: list[tuple[int, int]], taken: list[list[Change]], others: list[int], common: int) -> int:
    if not taken[1]:
        return others[0]
    if not taken[0]:
        return others[1]
    texts = [files[at][ranges[at][0] : ranges[at][1]] for at in others]
    return common if texts[0] == texts[1] else ALL


def print_blocks(files: list[list[bytes]], blocks: list[Block], write: Callable[[bytes], None], prefix: bytes) -> None:
    """The format of diff3 without options."""
    for block in blocks:
        write(b"====" + (b"" if block.odd == ALL else b"%d" % (block.odd + 1)) + b"\n")
        silent = ALL if block.odd == ALL else 1 if block.odd == 0 else 0
        for at in (0, 2, 1) if block.odd == 1 else (0, 1, 2):
            first, end = block.ranges[at]
            if first == end:
                write(b"%d:%da\n" % (at + 1, first))
                continue
            where = b"%d" % end if end - first == 1 else b"%d,%d" % (first + 1, end)
            write(b"%d:%sc\n" % (at + 1, where))
            if at == silent:
                continue
            for line in files[at][first:end]:
                write(prefix + (line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"))


class MergeRules:
    """Which changes go into a merge, and which conflicts are shown."""

    def __init__(self, *, flagging: bool = False, show_old: bool = False, simple_only: bool = False, overlap_only: bool = False) -> None:
        self.flagging = flagging
        self.show_old = show_old
        self.simple_only = simple_only
        self.overlap_only = overlap_only

    def conflict(self, block: Block) -> bool | None:
        """Whether a block is a conflict to show; None if it changes nothing."""
        if block.odd == 1:
            return True if self.show_old else None
        if block.odd == 2:
            return None if self.overlap_only else False
        if block.odd == ALL:
            return None if self.simple_only else self.flagging
        return None


def merge(files: list[list[bytes]], blocks: list[Block], rules: MergeRules, labels: list[bytes], write: Callable[[bytes], None]) -> bool:
    """Write the first file with the changes from the second to the third; whether there were conflicts."""
    done = 0
    conflicts = False
    for block in blocks:
        conflict = rules.conflict(block)
        if conflict is None:
            continue
        mine, old, yours = [files[at][block.ranges[at][0] : block.ranges[at][1]] for at in range(3)]
        write(b"".join(files[0][done : block.ranges[0][0]]))
        done = block.ranges[0][1]
        if not conflict:
            write(b"".join(yours))
            continue
        conflicts = True
        if block.odd == ALL:
            write(b"<<<<<<< " + labels[0] + b"\n" + b"".join(mine))
        if rules.show_old:
            write((b"||||||| " if block.odd == ALL else b"<<<<<<< ") + labels[1] + b"\n" + b"".join(old))
        write(b"=======\n" + b"".join(yours) + b">>>>>>> " + labels[2] + b"\n")
    write(b"".join(files[0][done:]))
    return conflicts


def print_script(
    files: list[list[bytes]], blocks: list[Block], rules: MergeRules, labels: list[bytes], write: Callable[[bytes], None]
) -> bool:
    """The same as a script for ed, last change first; whether there were conflicts."""
    conflicts = False
    for block in reversed(blocks):
        conflict = rules.conflict(block)
        if conflict is None:
            continue
        first, end = block.ranges[0]
        old, yours = [files[at][block.ranges[at][0] : block.ranges[at][1]] for at in (1, 2)]
        if conflict:
            conflicts = True
            _script_conflict(block, old, yours, rules, labels, write)
        elif not yours:
            write(b"%dd\n" % end if end - first == 1 else b"%d,%dd\n" % (first + 1, end))
        else:
            where = b"%da" % end if end == first else b"%dc" % end if end - first == 1 else b"%d,%dc" % (first + 1, end)
            write(where + b"\n")
            dotted = _write_dotted(yours, write)
            write(b".\n")
            if dotted:
                _remove_dots(first + 1, len(yours), write)
    return conflicts


def _script_conflict(
    block: Block, old: list[bytes], yours: list[bytes], rules: MergeRules, labels: list[bytes], write: Callable[[bytes], None]
) -> None:
    first, end = block.ranges[0]
    write(b"%da\n" % end)
    dotted = False
    if block.odd == ALL:
        if rules.show_old:
            write(b"||||||| " + labels[1] + b"\n")
            dotted = _write_dotted(old, write)
        write(b"=======\n")
        dotted = _write_dotted(yours, write) or dotted
    write(b">>>>>>> " + labels[2] + b"\n.\n")
    if dotted:
        _remove_dots(end + 2, len(old) + len(yours) + 1, write)
    write(b"%da\n<<<<<<< " % first + labels[0 if block.odd == ALL else 1] + b"\n")
    dotted = False
    if block.odd == 1:
        if rules.show_old:
            dotted = _write_dotted(old, write)
        write(b"=======\n")
    write(b".\n")
    if dotted:
        _remove_dots(first + 2, len(old), write)


def _write_dotted(lines: list[bytes], write: Callable[[bytes], None]) -> bool:
    """Write lines as text for ed, a dot before each that begins with one; whether there was such a line."""
    dotted = False
    for line in lines:
        if line.startswith(b"."):
            dotted = True
            write(b".")
        write(line if line.endswith(b"\n") else line + b"\n")
    return dotted


def _remove_dots(first: int, count: int, write: Callable[[bytes], None]) -> None:
    where = b"%d" % first if count == 1 else b"%d,%d" % (first, first + count - 1)
    write(where + b"s/^\\.//\n")
