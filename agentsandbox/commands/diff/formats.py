"""The formats of a difference: normal, context, unified, ed scripts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.diff.comparison import Change
    from agentsandbox.kernel.budget import Budget

_FUNCTION_WIDTH = 40
_NO_NEWLINE = b"\n\\ No newline at end of file\n"


class Style:
    """How to print lines."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        budget: Budget,
        *,
        context: int = 3,
        function: Callable[[bytes], bool] | None = None,
    ) -> None:
        self.write = write
        self.budget = budget
        self.context = context
        self.function = function

    def lines(self, mark: bytes, lines: list[bytes]) -> None:
        """Write lines, each after its mark ("< ", "+", "! " …)."""
        if not lines:
            return
        self.budget.step(len(lines))
        self.write(mark + mark.join(lines))
        if not lines[-1].endswith(b"\n"):
            self.write(_NO_NEWLINE)


class Pair:
    """Two files as lines, and the text of their headers."""

    def __init__(
        self, old: list[bytes], new: list[bytes], old_header: bytes = b"", new_header: bytes = b""
    ) -> None:
        self.old = old
        self.new = new
        self.old_header = old_header
        self.new_header = new_header


def _range(first: int, count: int) -> bytes:
    """Return a range in the normal format; an empty range is the line before it."""
    last = first + count
    return b"%d,%d" % (first + 1, last) if count > 1 else b"%d" % last


def _letter(change: Change) -> bytes:
    if not change.inserted:
        return b"d"
    return b"c" if change.deleted else b"a"


def print_normal(pair: Pair, changes: list[Change], style: Style) -> None:
    """Print the default format of POSIX."""
    for change in changes:
        if change.ignored:
            continue
        where = (
            _range(change.old, change.deleted)
            + _letter(change)
            + _range(change.new, change.inserted)
        )
        style.write(where + b"\n")
        style.lines(b"< ", pair.old[change.old : change.old + change.deleted])
        if change.deleted and change.inserted:
            style.write(b"---\n")
        style.lines(b"> ", pair.new[change.new : change.new + change.inserted])


def group_hunks(changes: list[Change], context: int) -> list[list[Change]]:
    """Group the changes whose contexts touch; omit groups that consist of ignored changes."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups:
            last = groups[-1][-1]
            threshold = context if change.ignored else 2 * context + 1
            if change.old - (last.old + last.deleted) < threshold:
                groups[-1].append(change)
                continue
        groups.append([change])
    return [group for group in groups if not all(change.ignored for change in group)]


def _bounds(pair: Pair, group: list[Change], context: int) -> tuple[int, int, int, int]:
    """Return the range of lines that a hunk shows, in both files."""
    first, last = group[0], group[-1]
    back = min(context, first.old, first.new)
    old_end = last.old + last.deleted
    new_end = last.new + last.inserted
    ahead = min(context, len(pair.old) - old_end, len(pair.new) - new_end)
    return first.old - back, old_end + ahead, first.new - back, new_end + ahead


class _Functions:
    """The search for the line that begins the function of a hunk; it sees each line once."""

    def __init__(self, pair: Pair, style: Style) -> None:
        self.lines = pair.old
        self.matches = style.function
        self.budget = style.budget
        self.looked = 0
        self.found = b""

    def before(self, line: int) -> bytes:
        """Return a blank and the last such line before `line`, or b""."""
        if self.matches is None:
            return b""
        for at in range(line - 1, self.looked - 1, -1):
            self.budget.step()
            text = self.lines[at].removesuffix(b"\n")
            if self.matches(text):
                text = text.lstrip(b" \t\v\f\r")
                self.found = b" " + text[:_FUNCTION_WIDTH].rstrip(b" \t\v\f\r")
                break
        self.looked = max(self.looked, line)
        return self.found


def _unified_range(first: int, end: int) -> bytes:
    count = end - first
    if count == 1:
        return b"%d" % end
    return b"%d,%d" % (first + 1 if count else first, count)


def print_unified(pair: Pair, changes: list[Change], style: Style) -> None:
    """Print the format of `diff -u`."""
    groups = group_hunks(changes, style.context)
    if not groups:
        return
    style.write(b"--- " + pair.old_header + b"\n")
    style.write(b"+++ " + pair.new_header + b"\n")
    functions = _Functions(pair, style)
    for group in groups:
        old, old_end, new, new_end = _bounds(pair, group, style.context)
        where = (
            b"@@ -" + _unified_range(old, old_end) + b" +" + _unified_range(new, new_end) + b" @@"
        )
        style.write(where + functions.before(old) + b"\n")
        for change in group:
            style.lines(b" ", pair.old[old : change.old])
            style.lines(b"-", pair.old[change.old : change.old + change.deleted])
            style.lines(b"+", pair.new[change.new : change.new + change.inserted])
            old = change.old + change.deleted
        style.lines(b" ", pair.old[old:old_end])


def _context_range(first: int, end: int) -> bytes:
    return b"%d,%d" % (first + 1, end) if end - first > 1 else b"%d" % end


def print_context(pair: Pair, changes: list[Change], style: Style) -> None:
    """Print the format of `diff -c`."""
    groups = group_hunks(changes, style.context)
    if not groups:
        return
    style.write(b"*** " + pair.old_header + b"\n")
    style.write(b"--- " + pair.new_header + b"\n")
    functions = _Functions(pair, style)
    for group in groups:
        old, old_end, new, new_end = _bounds(pair, group, style.context)
        style.write(b"***************" + functions.before(old) + b"\n")
        style.write(b"*** " + _context_range(old, old_end) + b" ****" + b"\n")
        if any(change.deleted for change in group):
            for change in group:
                style.lines(b"  ", pair.old[old : change.old])
                mark = b"! " if change.inserted else b"- "
                style.lines(mark, pair.old[change.old : change.old + change.deleted])
                old = change.old + change.deleted
            style.lines(b"  ", pair.old[old:old_end])
        style.write(b"--- " + _context_range(new, new_end) + b" ----" + b"\n")
        if any(change.inserted for change in group):
            for change in group:
                style.lines(b"  ", pair.new[new : change.new])
                mark = b"! " if change.deleted else b"+ "
                style.lines(mark, pair.new[change.new : change.new + change.inserted])
                new = change.new + change.inserted
            style.lines(b"  ", pair.new[new:new_end])


def print_ed(pair: Pair, changes: list[Change], style: Style) -> None:
    """Print a script for `ed`, from the last change to the first (`diff -e`)."""
    for change in reversed(changes):
        if change.ignored:
            continue
        style.write(_range(change.old, change.deleted) + _letter(change) + b"\n")
        if change.inserted:
            _print_ed_text(pair.new[change.new : change.new + change.inserted], style)


def _print_ed_text(lines: list[bytes], style: Style) -> None:
    """Write lines as input of an `ed` command; a lone dot needs a command of its own."""
    inserting = True
    for line in lines:
        if not inserting:
            style.write(b"a\n")
            inserting = True
        text = line.removesuffix(b"\n")
        if text == b".":
            style.write(b"..\n.\ns/.//\n")
            inserting = False
        else:
            style.write(text + b"\n")
    if inserting:
        style.write(b".\n")


def print_forward_ed(pair: Pair, changes: list[Change], style: Style) -> None:
    """Print an ed script from the first change to the last (`diff -f`)."""
    for change in changes:
        if change.ignored:
            continue
        where = _range(change.old, change.deleted).replace(b",", b" ")
        style.write(_letter(change) + where + b"\n")
        if change.inserted:
            for line in pair.new[change.new : change.new + change.inserted]:
                style.write(line.removesuffix(b"\n") + b"\n")
            style.write(b".\n")
