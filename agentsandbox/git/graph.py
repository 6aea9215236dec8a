"""The graph of `log --graph`: lines of ASCII at the left of the commits.

There is a column for each line of history that is still to come. A commit stands in its column and
is replaced by its parents. `mapping` says for each character of the next line which column of the
next commit it leads to; while it is not in order, lines with "/" bring edges to their columns. The
states and their order are those of git, so the drawings are equal.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.history import Walk

_COLORS = [f"\x1b[{bold}{code}m" for bold in ("", "1;") for code in range(31, 37)]
_RESET = "\x1b[m"
_MERGE = "/|\\"


class Graph:
    """Draws the lines beside commits, one commit after the other."""

    def __init__(self, walk: Walk, *, color: bool) -> None:
        self.walk = walk
        self.color = color
        self.commit = ""
        self.parents: list[str] = []
        self.width = self.row = 0
        self.state = self.before = "padding"
        self.index = self.index_before = 0
        self.layout = 0
        self.added = self.added_before = 0
        self.columns: list[tuple[str, int]] = []
        self.following: list[tuple[str, int]] = []
        self.mapping: list[int] = []
        self.old: list[int] = []
        self.size = 0
        self.next_color = len(_COLORS) - 1
        self.line: list[str] = []
        self.length = 0

    # moving on

    def update(self, oid: str) -> None:
        """Go on to the next commit."""
        self.commit = oid
        parents = self.walk.parents.get(oid) or self.walk.repository.parents(oid)
        if self.walk.first_parent:
            parents = parents[:1]
        self.parents = [parent for parent in parents if self.walk.will_show(parent)]
        self.index_before = self.index
        self._update_columns()
        self.row = 0
        if self.state != "padding":
            self.state = "skip"
        elif self._needs_room():
            self.state = "pre-commit"
        else:
            self.state = "commit"

    def _become(self, state: str) -> None:
        self.before, self.state = self.state, state

    def is_finished(self) -> bool:
        """Whether all lines of the commit were drawn."""
        return self.state == "padding"

    def _dashes(self) -> int:
        return len(self.parents) + self.layout - 3

    def _needs_room(self) -> bool:
        return (
            len(self.parents) >= 3
            and self.index < len(self.columns) - 1
            and self.row < self._dashes() * 2
        )

    def _update_columns(self) -> None:
        self.columns, self.following = self.following, []
        room = 2 * (len(self.columns) + len(self.parents))
        self.mapping = [-1] * max(room, 1)
        self.old = (self.old + [-1] * room)[: max(room, len(self.old))]
        self.width = 0
        self.added_before, self.added = self.added, 0
        seen = False
        for at in range(len(self.columns) + 1):
            in_columns = at < len(self.columns)
            if not in_columns and seen:
                break
            here = self.columns[at][0] if in_columns else self.commit
            if here != self.commit:
                self._insert(here, -1)
                continue
            seen = True
            self.index, self.layout = at, -1
            for parent in self.parents:
                if len(self.parents) > 1 or not in_columns:
                    self.next_color = (self.next_color + 1) % len(_COLORS)
                self._insert(parent, at)
            if not self.parents:
                self.width += 2
        self.size = room
        while self.size > 1 and self.mapping[self.size - 1] < 0:
            self.size -= 1

    def _column_of(self, oid: str) -> int:
        for at, (commit, _) in enumerate(self.following):
            if commit == oid:
                return at
        return -1

    def _insert(self, oid: str, at: int) -> None:
        column = self._column_of(oid)
        if column < 0:
            column = len(self.following)
            color = next(
                (color for commit, color in self.columns if commit == oid), self.next_color
            )
            self.following.append((oid, color))
        if len(self.parents) > 1 and at > -1 and self.layout == -1:
            distance = at - column
            shift = 2 * distance - 3 if distance > 1 else 1
            self.layout = 0 if distance > 0 else 1
            self.added = len(self.parents) + self.layout - 2
            place = self.width + (self.layout - 1) * shift
            self.width += 2 * self.layout
        elif self.added > 0 and column == self.mapping[self.width - 2]:
            place = self.width - 2
            self.added = -1
        else:
            place = self.width
            self.width += 2
        self.mapping[place] = column

    def _is_in_order(self) -> bool:
        return all(
            target < 0 or target == at // 2 for at, target in enumerate(self.mapping[: self.size])
        )

    # drawing

    def _put(self, character: str, column: tuple[str, int] | None = None) -> None:
        if self.color and column is not None:
            self.line.append(f"{_COLORS[column[1]]}{character}{_RESET}")
        else:
            self.line.append(character)
        self.length += len(character)

    def next_line(self) -> str:
        """Return the next line of the commit, without its end."""
        return self._next()[0]

    def _next(self) -> tuple[str, bool]:
        """Return the next line and whether it is that of the commit itself."""
        self.line, self.length = [], 0
        state = self.state
        draw = {
            "padding": self._draw_padding, "skip": self._draw_skip, "pre-commit": self._draw_room,
            "commit": self._draw_commit, "post-merge": self._draw_merge,
            "collapsing": self._draw_collapsing,
        }[state]  # fmt: skip
        draw()
        return self._padded(), state == "commit"

    def _padded(self) -> str:
        if self.length < self.width:
            self.line.append(" " * (self.width - self.length))
        return "".join(self.line)

    def padding(self) -> str:
        """Return a line that only goes on with the columns."""
        if self.state != "commit":
            return self.next_line()
        self.line, self.length = [], 0
        for column in self.columns:
            self._put("|", column)
            if column[0] == self.commit and len(self.parents) > 2:
                self._put(" " * ((len(self.parents) - 2) * 2))
            else:
                self._put(" ")
        text = self._padded()
        self.before = "padding"
        return text

    def commit_lines(self) -> str:
        """Return the lines up to that of the commit, which has no end yet."""
        if self.is_finished():
            return self.padding()
        out = []
        shown = False
        while not shown and not self.is_finished():
            text, shown = self._next()
            out.append(text)
        return "\n".join(out)

    def beside(self, text: str) -> str:
        """Return a text with the graph before each line but the first."""
        lines = text.split("\n")
        out = [lines[0]]
        for number, line in enumerate(lines[1:], 2):
            if number == len(lines) and not line:
                out.append("")
                break
            out.append(self.next_line() + line)
        return "\n".join(out)

    def remainder(self) -> str:
        """Return the lines that are left of the commit, the last one without its end."""
        out = []
        while not self.is_finished():
            out.append(self.next_line())
        return "\n".join(out)

    def _draw_padding(self) -> None:
        for column in self.following:
            self._put("|", column)
            self._put(" ")

    def _draw_skip(self) -> None:
        self._put("...")
        self._become("pre-commit" if self._needs_room() else "commit")

    def _draw_room(self) -> None:
        seen = False
        for at, column in enumerate(self.columns):
            if column[0] == self.commit:
                seen = True
                self._put("|", column)
                self._put(" " * self.row)
            elif seen and self.row == 0:
                slides = self.before == "post-merge" and self.index_before < at
                self._put("\\" if slides else "|", column)
            elif seen:
                self._put("\\", column)
            else:
                self._put("|", column)
            self._put(" ")
        self.row += 1
        if not self._needs_room():
            self._become("commit")

    def _mark(self) -> str:
        if self.commit in self.walk.boundaries:
            return "o"
        if self.walk.marks_sides:
            return "<" if self.commit in self.walk.left else ">"
        return "*"

    def _draw_commit(self) -> None:
        seen = False
        for at in range(len(self.columns) + 1):
            column = self.columns[at] if at < len(self.columns) else None
            if column is None and seen:
                break
            if column is None or column[0] == self.commit:
                seen = True
                self._put(self._mark())
                if len(self.parents) > 2:
                    self._draw_octopus()
            elif seen and self.added > 1:
                self._put("\\", column)
            elif seen and self.added == 1:
                slides = (
                    self.before == "post-merge" and self.added_before > 0
                    and self.index_before < at
                )  # fmt: skip
                self._put("\\" if slides else "|", column)
            elif (
                self.before == "collapsing"
                and 2 * at + 1 < len(self.old) and self.old[2 * at + 1] == at
                and self.mapping[2 * at] < at
            ):  # fmt: skip
                self._put("/", column)
            else:
                self._put("|", column)
            self._put(" ")
        if len(self.parents) > 1:
            self._become("post-merge")
        else:
            self._become("padding" if self._is_in_order() else "collapsing")

    def _draw_octopus(self) -> None:
        dashes = self._dashes()
        for number in range(dashes):
            target = self.mapping[(self.index + number + 2) * 2]
            column = self.following[target]
            self._put("-", column)
            self._put("." if number == dashes - 1 else "-", column)

    def _draw_merge(self) -> None:
        seen = False
        parent_column: tuple[str, int] | None = None
        first = self.parents[0]
        for at in range(len(self.columns) + 1):
            column = self.columns[at] if at < len(self.columns) else None
            if column is None and seen:
                break
            here = self.commit if column is None else column[0]
            if here == self.commit:
                seen = True
                kind = self.layout
                for number, parent in enumerate(self.parents):
                    self._put(_MERGE[kind], self.following[self._column_of(parent)])
                    if kind == 2:
                        if self.added > 0 or number < len(self.parents) - 1:
                            self._put(" ")
                    else:
                        kind += 1
                if self.added == 0:
                    self._put(" ")
            elif seen:
                self._put("\\" if self.added > 0 else "|", column)
                self._put(" ")
            else:
                self._put("|", column)
                if self.layout != 0 or at != self.index - 1:
                    if parent_column is not None:
                        self._put("_", parent_column)
                    else:
                        self._put(" ")
            if here == first:
                parent_column = column
        self._become("padding" if self._is_in_order() else "collapsing")

    def _draw_collapsing(self) -> None:
        # long: edges move by one place, or under another one
        size = self.size
        self.old[:size] = self.mapping[:size]
        mapping = self.mapping = [-1] * len(self.mapping)
        edge = edge_target = -1
        for at in range(size):
            target = self.old[at]
            if target < 0:
                continue
            if target * 2 == at:
                mapping[at] = target
            elif mapping[at - 1] < 0:
                mapping[at - 1] = target
                if edge == -1:
                    edge, edge_target = at, target
                    for place in range(target * 2 + 3, at - 2, 2):
                        mapping[place] = target
            elif mapping[at - 1] != target:
                mapping[at - 2] = target
                if edge == -1:
                    edge, edge_target = at - 1, target
                    for place in range(target * 2 + 3, at - 2, 2):
                        mapping[place] = target
        self.old[:size] = mapping[:size]
        if mapping[size - 1] < 0:
            self.size -= 1
        horizontal = False
        for at in range(self.size):
            target = mapping[at]
            if target < 0:
                self._put(" ")
            elif target * 2 == at:
                self._put("|", self.following[target])
            elif target == edge_target and at != edge - 1:
                if at != target * 2 + 3:
                    mapping[at] = -1
                horizontal = True
                self._put("_", self.following[target])
            else:
                if horizontal and at < edge:
                    mapping[at] = -1
                self._put("/", self.following[target])
        if self._is_in_order():
            self._become("padding")
