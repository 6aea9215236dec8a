"""Combined differences (`-c`, `--cc`): a result beside all of its parents.

Each parent is compared with the result. A line of the result has a "+" in the column of each parent
that lacks it; lost lines are shown before the line that follows, with a "-" in the columns of the
parents that had them. With `--cc` a hunk is shown only if it differs from all parents in different
ways. The steps are those of git's combine-diff.
"""

from __future__ import annotations

from agentsandbox.git.diff.hunks import function_line
from agentsandbox.git.diff.printing import DiffPrinter
from agentsandbox.git.diff.xdiff import Whitespace, diff_lines, split_lines
from agentsandbox.git.objects import NULL
from agentsandbox.git.paths import mode_text, quote_path
from agentsandbox.git.trees import Delta, diff_trees
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.git.diff.options import DiffOptions
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.paths import Pathspec


class CombinedDelta:
    """A file that differs from all parents."""

    __slots__ = ("mode", "modes", "oid", "oids", "path", "statuses")

    def __init__(self, path: bytes, modes: list[int], oids: list[str], mode: int, oid: str) -> None:
        self.path = path
        self.modes = modes
        self.oids = oids
        self.mode = mode
        self.oid = oid
        """"" if the result is in the worktree."""
        self.statuses = ["A" if not old else "D" if not mode else "M" for old in modes]


def combined_deltas(
    git: Invocation, options: DiffOptions, parents: Sequence[str], tree: str,
    wanted: Pathspec | None, *, dense: bool,
) -> list[CombinedDelta]:  # fmt: skip
    """Return the files of a tree that differ from all parents."""
    del options, dense
    sides = [
        {
            one.new_path: one
            for one in diff_trees(git.repository.objects, parent, tree, wanted or None)
        }
        for parent in parents
    ]
    common = set(sides[0]).intersection(*sides[1:])
    return [
        CombinedDelta(
            path, [side[path].old_mode for side in sides], [side[path].old_oid for side in sides],
            sides[0][path].new_mode, sides[0][path].new_oid,
        )
        for path in sorted(common)
    ]  # fmt: skip


class _Lost:
    """A line that some parents had, and the set of these parents."""

    __slots__ = ("parents", "text")

    def __init__(self, text: bytes, parents: int) -> None:
        self.text = text
        self.parents = parents


class _Result:
    """The lines of the result, with what each parent had."""

    def __init__(self, count: int) -> None:
        self.lines: list[bytes] = []
        self.flags: list[int] = []
        self.lost: list[list[_Lost]] = []
        self.numbers: list[list[int]] = [[] for _ in range(count)]


def _combine(printer: DiffPrinter, parents: list[bytes], result: bytes) -> _Result:
    found = _Result(len(parents))
    found.lines = split_lines(result)
    size = len(found.lines)
    found.flags = [0] * (size + 2)
    found.lost = [[] for _ in range(size + 2)]
    budget = printer.git.budget
    spaces = printer.options.spaces
    whitespace = Whitespace(
        all="all" in spaces, change="change" in spaces, at_end="at_end" in spaces
    )
    for number, data in enumerate(parents):
        if data in parents[:number]:
            _copy(found, parents.index(data), number)
            continue
        old = split_lines(data)
        fresh: list[list[_Lost]] = [[] for _ in range(size + 2)]
        changes = diff_lines(old, found.lines, budget, whitespace=whitespace)
        for change in changes:
            for at in range(change.new, change.new + change.inserted):
                found.flags[at] |= 1 << number
            place = change.new
            for line in old[change.old : change.old + change.deleted]:
                fresh[place].append(_Lost(line, 1 << number))
        for at in range(size + 1):
            found.lost[at] = _coalesced(found.lost[at], fresh[at], number)
        _count(found, number)
    return found


def _copy(found: _Result, source: int, number: int) -> None:
    """Let a parent be equal to an earlier one."""
    bit, other = 1 << number, 1 << source
    for at in range(len(found.lines) + 1):
        if found.flags[at] & other:
            found.flags[at] |= bit
        for lost in found.lost[at]:
            if lost.parents & other:
                lost.parents |= bit
    found.numbers[number] = found.numbers[source]


def _count(found: _Result, number: int) -> None:
    """Number the lines of a parent that stand at each line of the result."""
    bit = 1 << number
    line = 1
    numbers = []
    for at in range(len(found.lines) + 1):
        numbers.append(line)
        line += sum(1 for lost in found.lost[at] if lost.parents & bit)
        if at < len(found.lines) and not found.flags[at] & bit:
            line += 1
    numbers.append(line)
    found.numbers[number] = numbers


def _coalesced(old: list[_Lost], new: list[_Lost], number: int) -> list[_Lost]:
    """Join the lost lines of earlier parents with those of another one: equal ones once."""
    if not old:
        return new
    if not new:
        return old
    one, two = len(old), len(new)
    table = [[0] * (two + 1) for _ in range(one + 1)]
    for first in range(1, one + 1):
        row, above = table[first], table[first - 1]
        text = old[first - 1].text
        for second in range(1, two + 1):
            if text == new[second - 1].text:
                row[second] = above[second - 1] + 1
            else:
                row[second] = max(row[second - 1], above[second])
    out: list[_Lost] = []
    first, second = one, two
    while first or second:
        if (
            first
            and second
            and old[first - 1].text == new[second - 1].text
            and (table[first][second] == table[first - 1][second - 1] + 1)
        ):
            old[first - 1].parents |= 1 << number
            out.append(old[first - 1])
            first -= 1
            second -= 1
        elif second and (not first or table[first][second - 1] >= table[first - 1][second]):
            out.append(new[second - 1])
            second -= 1
        else:
            out.append(old[first - 1])
            first -= 1
    return out[::-1]


class _Marks:
    """Which lines are shown: those of interesting hunks and their context."""

    def __init__(self, found: _Result, count: int, context: int, *, dense: bool) -> None:
        self.found = found
        self.size = len(found.lines)
        self.all = (1 << count) - 1
        self.mark = 1 << count
        self.no_lost = self.mark << 1
        self.context = context
        if dense:
            self._find_dense(count)
        else:
            self._find_all()

    def _is_interesting(self, at: int) -> bool:
        return bool(self.found.flags[at] & self.all) or bool(self.found.lost[at])

    def _is_marked(self, at: int) -> bool:
        return bool(self.found.flags[at] & self.mark)

    def _find_all(self) -> None:
        for at in range(self.size + 1):
            if self._is_interesting(at):
                self.found.flags[at] |= self.mark
        self._give_context()

    def _find_dense(self, count: int) -> None:
        flags, size = self.found.flags, self.size
        self._find_marks()
        at = 0
        while at <= size:
            while at <= size and not self._is_marked(at):
                at += 1
            if at > size:
                break
            end = at + 1
            while end <= size and self._is_marked(end):
                end += 1
            if not self._differs_from_all(at, end):
                for place in range(at, end):
                    flags[place] &= ~self.mark
            at = end
        self._give_context()
        del count

    def _find_marks(self) -> None:
        for at in range(self.size + 1):
            if self._is_interesting(at):
                self.found.flags[at] |= self.mark

    def _differs_from_all(self, start: int, end: int) -> bool:
        """Whether the lines of a hunk come from more than one side."""
        same = 0
        interesting = False
        for at in range(start, end):
            here = self.found.flags[at] & self.all
            if here:
                if not same:
                    same = here
                elif same != here:
                    interesting = True
                    break
            for lost in self.found.lost[at]:
                if not same:
                    same = lost.parents
                elif same != lost.parents:
                    interesting = True
                    break
            if interesting:
                break
        return interesting or same == self.all

    def _give_context(self) -> None:
        """Mark the lines around the marked ones, and join hunks that are near."""
        flags, size, context = self.found.flags, self.size, self.context
        at = self._next(0)
        if at > size:
            return
        while at <= size:
            start = max(at - context, 0)
            for place in range(start, at):
                if not flags[place] & self.mark:
                    flags[place] |= self.no_lost
                flags[place] |= self.mark
            while True:
                end = self._tail(at)
                following = self._next(end)
                if following > size:
                    break
                if end + context < following - context and following > end:
                    break
                if following > size:
                    break
                for place in range(end, following):
                    flags[place] |= self.mark
                at = following
            stop = min(end + context, size + 1)
            for place in range(end, stop):
                flags[place] |= self.mark
            at = self._next(stop) if following > size else following

    def _next(self, at: int) -> int:
        while at <= self.size and not self._is_marked(at):
            at += 1
        return at

    def _tail(self, at: int) -> int:
        while at <= self.size and self._is_marked(at):
            at += 1
        return at


class _Printer:
    def __init__(self, printer: DiffPrinter, *, dense: bool) -> None:
        self.printer = printer
        self.dense = dense

    def show(self, delta: CombinedDelta) -> None:
        """Print the combined patch of a file."""
        # long: header and hunks
        printer = self.printer
        count = len(delta.oids)
        parents = [
            printer.content(mode, oid, delta.path) if mode else b""
            for mode, oid in zip(delta.modes, delta.oids, strict=True)
        ]
        result = printer.content(delta.mode, delta.oid, delta.path) if delta.mode else b""
        binary = any(b"\0" in data[:8000] for data in [*parents, result])
        if binary and not printer.options.as_text:
            self._header(delta, with_names=False)
            printer.write(b"Binary files differ\n")
            return
        found = _combine(printer, parents, result)
        marks = _Marks(found, count, printer.options.context, dense=self.dense)
        shown = any(found.flags[at] & marks.mark for at in range(len(found.lines) + 1))
        modes_differ = any(mode != delta.mode for mode in delta.modes)
        if not shown and not modes_differ:
            return
        self._header(delta, with_names=True)
        if shown:
            self._dump(found, marks, count, deleted=not delta.mode)

    def _header(self, delta: CombinedDelta, *, with_names: bool) -> None:
        printer = self.printer
        name = quote_path(delta.path, high=printer.high)
        word = "cc" if self.dense else "combined"
        lines = [f"diff --{word} {name}"]
        oid = delta.oid
        if not oid and delta.mode:
            oid = printer._oid(delta.mode, delta.oid, delta.path)
            if oid not in printer.repository.objects:
                oid = NULL
        shorts = ",".join([printer.abbreviated(each, patch=True) for each in delta.oids])
        new = printer.abbreviated(NULL if delta.oid == "" else oid, patch=True)
        lines.append(f"index {shorts}..{new}")
        added = all(not mode for mode in delta.modes)
        if any(mode != delta.mode for mode in delta.modes):
            if not delta.mode:
                modes = ",".join([mode_text(mode) for mode in delta.modes])
                lines.append(f"deleted file mode {modes}")
            elif added:
                lines.append(f"new file mode {mode_text(delta.mode)}")
            else:
                modes = ",".join([mode_text(mode) for mode in delta.modes])
                lines.append(f"mode {modes}..{mode_text(delta.mode)}")
        if with_names:
            one, two = printer.prefixes
            lines.append(
                "--- /dev/null"
                if added
                else "--- " + quote_path(encode(one) + delta.path, high=printer.high)
            )
            lines.append(
                "+++ /dev/null"
                if not delta.mode
                else "+++ " + quote_path(encode(two) + delta.path, high=printer.high)
            )
        printer.write(b"".join([printer.colored("meta", encode(line)) + b"\n" for line in lines]))

    def _dump(self, found: _Result, marks: _Marks, count: int, *, deleted: bool) -> None:
        # long: hunks with their headers, lost lines and lines
        printer = self.printer
        size = len(found.lines)
        at = 0
        while True:
            while at <= size and not found.flags[at] & marks.mark:
                at += 1
            if at > size:
                return
            end = at + 1
            while end <= size and found.flags[end] & marks.mark:
                end += 1
            stop = end
            rows = stop - at
            if stop > size:
                rows -= 1
            null_context = 0
            if not printer.options.context:
                null_context = sum(
                    1 for place in range(at, stop) if not found.flags[place] & (marks.mark - 1)
                )
                rows -= null_context
            self._hunk_header(found, at, stop, rows, count, null_context, deleted=deleted)
            for place in range(at, stop):
                if not found.flags[place] & marks.no_lost:
                    for lost in found.lost[place]:
                        signs = b"".join(
                            [
                                b"-" if lost.parents & 1 << number else b" "
                                for number in range(count)
                            ]
                        )
                        self._line("old", signs + lost.text)
                if place >= size:
                    break
                flags = found.flags[place]
                if not flags & (marks.mark - 1) and not printer.options.context:
                    continue
                signs = b"".join([b"+" if flags & 1 << number else b" " for number in range(count)])
                self._line("new" if flags & marks.all else "context", signs + found.lines[place])
            at = end

    def _hunk_header(
        self, found: _Result, start: int, stop: int, rows: int, count: int, null: int, *,
        deleted: bool,
    ) -> None:  # fmt: skip
        mark = "@" * (count + 1)
        parts = [mark]
        for number in range(count):
            numbers = found.numbers[number]
            first = numbers[start]
            last = numbers[min(stop, len(numbers) - 1)]
            parts.append(f"-{first},{last - first - null}")
        first_new = 0 if deleted else start + 1
        parts.append(f"+{first_new},{rows}")
        parts.append(mark)
        text = encode(" ".join(parts))
        function = b""
        for place in range(start - 1 if start else -1, -1, -1):
            line = function_line(found.lines[place])
            if line is not None:
                function = line[:40].rstrip()[:-1]  # git leaves the last character out
                break
        head = self.printer.colored("frag", text)
        self.printer.write(head + (b" " + function if function else b"") + b"\n")

    def _line(self, slot: str, line: bytes) -> None:
        body = line[:-1] if line.endswith(b"\n") else line
        self.printer.write(self.printer.colored(slot, body) + b"\n")
        if not line.endswith(b"\n"):
            self.printer.write(b"")


def print_combined(
    printer: DiffPrinter, deltas: list[CombinedDelta], parents: Sequence[str], tree: str, *,
    dense: bool, wanted: Pathspec | None = None,
) -> None:  # fmt: skip
    """Print a combined difference in the chosen formats; statistics compare the first parent."""
    options = printer.options
    formats = options.formats
    parts = 0
    if formats & {"raw", "name-only", "name-status"}:
        for delta in deltas:
            _print_raw(printer, delta)
        parts += 1
    if formats & {"stat", "numstat", "shortstat", "summary"}:
        first = DiffPrinter(printer.git, options)
        kept = options.formats
        options.formats = formats & {"stat", "numstat", "shortstat", "summary"}
        try:
            first.print(
                first.prepare(
                    diff_trees(
                        printer.repository.objects, parents[0], tree, wanted or None
                    )
                )
            )
        finally:
            options.formats = kept
        parts += 1
    if "patch" in formats:
        if parts and deltas:
            printer.write(b"\n")
        show = _Printer(printer, dense=dense)
        for delta in deltas:
            show.show(delta)


def _print_raw(printer: DiffPrinter, delta: CombinedDelta) -> None:
    options = printer.options
    end = "\0" if options.nul else "\n"
    name = decode(delta.path) if options.nul else printer.shown(delta.path)
    if "name-only" in options.formats:
        printer.write(encode(name + end))
        return
    statuses = "".join(delta.statuses)
    between = "\0" if options.nul else "\t"
    head = ""
    if "raw" in options.formats:
        modes = " ".join([mode_text(mode) for mode in [*delta.modes, delta.mode]])
        oids = " ".join([printer.abbreviated(oid or NULL) for oid in [*delta.oids, delta.oid]])
        head = f"{':' * len(delta.oids)}{modes} {oids} "
    printer.write(encode(f"{head}{statuses}{between}{name}{end}"))


def print_combined_trees(
    git: Invocation, options: DiffOptions, tree: str, parents: list[str], wanted: Pathspec
) -> bool:
    """Print how a tree differs from several others; return whether it does."""
    printer = DiffPrinter(git, options)
    dense = options.combined != "c"
    found = combined_deltas(git, options, parents, tree, wanted, dense=dense)
    print_combined(printer, found, parents, tree, dense=dense, wanted=wanted)
    return bool(found)


def print_conflicts(
    printer: DiffPrinter, deltas: list[Delta], unmerged: list[bytes], stage: str | None, *,
    by_stat: bool = False,
) -> list[Delta]:  # fmt: skip
    """Print combined patches of files in conflict; return what else is to be printed.

    That is the changes of the worktree, and of other files in conflict a mark and the change since
    one of their versions.

    by_stat  whether a version counts as changed whatever the file contains
    """
    index = printer.repository.index()
    worktree = printer.worktree
    assert worktree is not None
    formats = printer.options.formats
    number = {"-1": 1, "--base": 1, "-2": 2, "--ours": 2, "-3": 3, "--theirs": 3}.get(stage or "")
    combines = number is None and stage != "-0" and "patch" in formats
    chosen = 2 if number is None and stage != "-0" else number
    show = _Printer(printer, dense=printer.options.combined != "c")
    rows = list(deltas)
    from agentsandbox.git.worktree import mode_of

    for path in unmerged:
        stages = index.stages(path)
        info = worktree.stat(path)
        mode = 0 if info is None else mode_of(info)
        if combines and 2 in stages and 3 in stages and mode:
            versions = [stages[2], stages[3]]
            both = CombinedDelta(
                path, [one.mode for one in versions], [one.oid for one in versions], mode, ""
            )
            if formats & {"raw", "name-only", "name-status"}:
                _print_raw(printer, both)
            else:
                show.show(both)
            continue
        mark = Delta(path, 0, NULL, mode, "" if mode else NULL, "U")
        mark.unmerged = True
        rows.append(mark)
        if chosen in stages:
            entry = stages[chosen]
            if (
                by_stat or info is None or mode != entry.mode
                or worktree.hash(path, info) != entry.oid
            ):  # fmt: skip
                rows.append(Delta(path, entry.mode, entry.oid, mode, "" if mode else NULL))
    rows.sort(key=lambda row: row.new_path)
    return rows
