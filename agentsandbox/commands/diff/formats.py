"""The formats of a difference: normal, context, unified, ed scripts."""

from __future__ import annotations

from agentsandbox.commands.diff.lines import show_tabs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.diff.comparison import Change
    from agentsandbox.kernel.budget import Budget

_FUNCTION_WIDTH = 40
_NO_NEWLINE = b"\n\\ No newline at end of file\n"


_COLORS = {"header": b"1", "lines": b"36", "old": b"31", "new": b"32"}


class Style:
    """How lines are printed."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        budget: Budget,
        *,
        context: int = 3,
        expand: int = 0,
        colors: bool = False,
        function: Callable[[bytes], bool] | None = None,
    ) -> None:
        self.write = write
        self.budget = budget
        self.context = context
        self.expand = expand
        """Tab stops for expanded tabs, 0 to leave tabs alone."""
        self.colors = colors
        self.function = function

    def line(self, mark: bytes, line: bytes, color: str = "") -> None:
        """One line of a file after its mark ("<", "+", "! " …) and a blank."""
        self.budget.left -= 1
        if self.budget.left < 0:
            self.budget.tick()
        body = line.removesuffix(b"\n")
        if self.expand:
            body = show_tabs(
                body, self.expand, mark if len(mark) > 1 else b""
            )  # the unified format has no more than a sign
        end = b"\n" if line.endswith(b"\n") else _NO_NEWLINE
        self.write(self.paint(mark + body, color) + end)

    def lines(self, mark: bytes, lines: list[bytes], color: str = "") -> None:
        """As `line`, for several: at once where they are printed as they are."""
        if not lines:
            return
        changed = self.expand or self.colors
        if changed or not lines[-1].endswith(b"\n"):
            for line in lines:
                self.line(mark, line, color)
            return
        self.budget.step(len(lines))
        self.write(mark + mark.join(lines))

    def paint(self, text: bytes, color: str) -> bytes:
        """The text in a colour, if colours are wanted."""
        return b"\x1b[%bm%b\x1b[0m" % (_COLORS[color], text) if self.colors and color else text


class Pair:
    """Two files as lines, and their names as headers show them."""

    def __init__(
        self, old: list[bytes], new: list[bytes], old_header: bytes = b"", new_header: bytes = b""
    ) -> None:
        self.old = old
        self.new = new
        self.old_header = old_header
        self.new_header = new_header


def _range(first: int, count: int) -> bytes:
    """Lines as normal and ed formats number them: the line before for none."""
    last = first + count
    return b"%d,%d" % (first + 1, last) if count > 1 else b"%d" % last


def _letter(change: Change) -> bytes:
    if not change.inserted:
        return b"d"
    return b"c" if change.deleted else b"a"


def print_normal(pair: Pair, changes: list[Change], style: Style) -> None:
    """POSIX's default format."""
    for change in changes:
        if change.ignored:
            continue
        where = (
            _range(change.old, change.deleted)
            + _letter(change)
            + _range(change.new, change.inserted)
        )
        style.write(style.paint(where, "lines") + b"\n")
        style.lines(b"< ", pair.old[change.old : change.old + change.deleted], "old")
        if change.deleted and change.inserted:
            style.write(b"---\n")
        style.lines(b"> ", pair.new[change.new : change.new + change.inserted], "new")


def group_hunks(changes: list[Change], context: int) -> list[list[Change]]:
    """Changes whose context would touch, together. A group of ignored changes only is left out."""
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
    """First and last + 1 of the lines that a hunk shows, in both files."""
    first, last = group[0], group[-1]
    back = min(context, first.old, first.new)
    old_end = last.old + last.deleted
    new_end = last.new + last.inserted
    ahead = min(context, len(pair.old) - old_end, len(pair.new) - new_end)
    return first.old - back, old_end + ahead, first.new - back, new_end + ahead


class _Functions:
    """Finds the line that begins the function in which a hunk stands; each line is looked at
    once.
    """

    def __init__(self, pair: Pair, style: Style, budget: Budget) -> None:
        self.lines = pair.old
        self.matches = style.function
        self.budget = budget
        self.looked = 0
        self.found = b""

    def before(self, line: int) -> bytes:
        """A blank and the last such line before `line`, b"" if there is none."""
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


def print_unified(pair: Pair, changes: list[Change], style: Style, budget: Budget) -> None:
    """The format of `diff -u`."""
    groups = group_hunks(changes, style.context)
    if not groups:
        return
    style.write(style.paint(b"--- " + pair.old_header, "header") + b"\n")
    style.write(style.paint(b"+++ " + pair.new_header, "header") + b"\n")
    functions = _Functions(pair, style, budget)
    for group in groups:
        old, old_end, new, new_end = _bounds(pair, group, style.context)
        where = (
            b"@@ -" + _unified_range(old, old_end) + b" +" + _unified_range(new, new_end) + b" @@"
        )
        style.write(style.paint(where, "lines") + functions.before(old) + b"\n")
        for change in group:
            style.lines(b" ", pair.old[old : change.old])
            style.lines(b"-", pair.old[change.old : change.old + change.deleted], "old")
            style.lines(b"+", pair.new[change.new : change.new + change.inserted], "new")
            old = change.old + change.deleted
        style.lines(b" ", pair.old[old:old_end])


def _context_range(first: int, end: int) -> bytes:
    return b"%d,%d" % (first + 1, end) if end - first > 1 else b"%d" % end


def print_context(pair: Pair, changes: list[Change], style: Style, budget: Budget) -> None:
    """The format of `diff -c`."""
    groups = group_hunks(changes, style.context)
    if not groups:
        return
    style.write(style.paint(b"*** " + pair.old_header, "header") + b"\n")
    style.write(style.paint(b"--- " + pair.new_header, "header") + b"\n")
    functions = _Functions(pair, style, budget)
    for group in groups:
        old, old_end, new, new_end = _bounds(pair, group, style.context)
        style.write(b"***************" + functions.before(old) + b"\n")
        style.write(style.paint(b"*** " + _context_range(old, old_end) + b" ****", "lines") + b"\n")
        if any(change.deleted for change in group):
            for change in group:
                style.lines(b"  ", pair.old[old : change.old], "old")
                mark = b"! " if change.inserted else b"- "
                style.lines(mark, pair.old[change.old : change.old + change.deleted], "old")
                old = change.old + change.deleted
            style.lines(b"  ", pair.old[old:old_end], "old")
        style.write(style.paint(b"--- " + _context_range(new, new_end) + b" ----", "lines") + b"\n")
        if any(change.inserted for change in group):
            for change in group:
                style.lines(b"  ", pair.new[new : change.new], "new")
                mark = b"! " if change.deleted else b"+ "
                style.lines(mark, pair.new[change.new : change.new + change.inserted], "new")
                new = change.new + change.inserted
            style.lines(b"  ", pair.new[new:new_end], "new")


def print_ed(pair: Pair, changes: list[Change], style: Style) -> None:
    """A script for `ed`, from the last change to the first."""
    for change in reversed(changes):
        if change.ignored:
            continue
        style.write(_range(change.old, change.deleted) + _letter(change) + b"\n")
        if change.inserted:
            _print_ed_text(pair.new[change.new : change.new + change.inserted], style)


def _print_ed_text(lines: list[bytes], style: Style) -> None:
    """Lines as input of an `ed` command; a lone dot needs a command of its own."""
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
            style.write((show_tabs(text, style.expand) if style.expand else text) + b"\n")
    if inserting:
        style.write(b".\n")


def print_forward_ed(pair: Pair, changes: list[Change], style: Style) -> None:
    """As `ed`, from the first change to the last."""
    for change in changes:
        if change.ignored:
            continue
        where = _range(change.old, change.deleted).replace(b",", b" ")
        style.write(_letter(change) + where + b"\n")
        if change.inserted:
            for line in pair.new[change.new : change.new + change.inserted]:
                style.write(line.removesuffix(b"\n") + b"\n")
            style.write(b".\n")
