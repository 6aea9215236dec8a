"""Reading patches: unified, context and normal differences, with git's headers."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

_UNIFIED = re.compile(rb"@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")
_CONTEXT_OLD = re.compile(rb"\*\*\* ([0-9]+)(?:,([0-9]+))?(?: \*\*\*\*)?\s*$")
_CONTEXT_NEW = re.compile(rb"--- ([0-9]+)(?:,([0-9]+))?(?: ----)?\s*$")
_NORMAL = re.compile(rb"([0-9]+)(?:,([0-9]+))?([acd])([0-9]+)(?:,([0-9]+))?$")
_INDEX = re.compile(rb"Index:[ \t]*(\S+)")
_GIT = re.compile(
    rb"(new file mode|deleted file mode|rename from|rename to|copy from|copy to|old mode|new mode) (.*)"
)
_LARGEST = 1 << 40
_BLANKS_CUT_OFF = 3
"""So many lines that a hunk lacks at its end were blank ones."""


class PatchError(Exception):
    """The patch cannot be read; the message is worded as `patch` words it."""


class Hunk:
    """One place to change: lines with their marks (" ", "-", "+"), and where the first stands in
    both files, from 1.
    """

    __slots__ = ("cut", "lines", "new_context", "new_start", "old_start")

    def __init__(self, old_start: int, new_start: int, lines: list[tuple[bytes, bytes]]) -> None:
        self.cut = False
        self.old_start = old_start
        self.new_start = new_start
        self.lines = lines
        self.new_context: list[bytes] = []
        """The unchanged lines as a context difference has them in its second half, if they differ
        there."""

    def reversed(self) -> Hunk:
        """The hunk that undoes this one; deletions come first in it as well."""
        swap = {b"-": b"+", b"+": b"-", b" ": b" "}
        made: list[tuple[bytes, bytes]] = []
        added: list[tuple[bytes, bytes]] = []
        context = iter(self.new_context)
        for mark, line in self.lines:
            mark = swap[mark]
            if mark == b"+":
                added.append((mark, line))
                continue
            if mark == b" ":
                line = next(context, line)
                made.extend(added)
                added.clear()
            made.append((mark, line))
        turned = Hunk(self.new_start, self.old_start, made + added)
        if self.new_context:
            turned.new_context = [line for mark, line in self.lines if mark == b" "]
        return turned

    def old_lines(self) -> list[bytes]:
        """What must stand in the file."""
        return [line for mark, line in self.lines if mark != b"+"]

    def new_count(self) -> int:
        """How many lines there will be."""
        return sum(mark != b"-" for mark, _line in self.lines)

    def leaves_nothing(self) -> bool:
        """Whether the file is empty afterwards, as far as this hunk knows."""
        return self.new_start == 1 and not self.new_count()

    def leading(self) -> int:
        """Lines of context at the start."""
        return next(
            (at for at, (mark, _line) in enumerate(self.lines) if mark != b" "), len(self.lines)
        )

    def trailing(self) -> int:
        """Lines of context at the end."""
        return next(
            (at for at, (mark, _line) in enumerate(reversed(self.lines)) if mark != b" "),
            len(self.lines),
        )


class FilePatch:
    """All hunks for one file. `kind` is unified, context, normal or git (headers alone)."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.old_header = b""
        self.new_header = b""
        self.index = b""
        self.git: dict[bytes, bytes] = {}
        self.hunks: list[Hunk] = []
        self.leading: list[bytes] = []
        """The text before the first hunk."""
        self.error = ""
        """What is wrong with the patch after the hunks that could be read."""
        self.cut_before = False
        """Whether a last line without newline was met while looking for the first hunk."""
        self.cut_after = False
        """Whether it was met after the last hunk."""
        self.stripped = False
        """Whether the patch came with CR LF and was read without CR."""
        self.line = 0
        """The line of the patch at which the first hunk stands, from 1."""


class PatchText:
    """The patches in a text, and what stands after them."""

    __slots__ = ("cut", "garbage", "patches")

    def __init__(self, patches: list[FilePatch], *, garbage: bool, cut: bool) -> None:
        self.patches = patches
        self.garbage = garbage
        self.cut = cut


def read_patches(
    data: bytes, budget: Budget, kind: str | None = None, *, binary: bool = False
) -> PatchText:
    """The patches for files in a text, text around them skipped. `kind` admits one kind only;
    `binary` keeps CR LF.

    A last line without newline is no line: what reads it meets the end, and the patch says where
    (`cut`).
    """
    reader = _Reader(data, budget, kind)
    reader.binary = binary
    return reader.read()


class _Reader:
    def __init__(self, data: bytes, budget: Budget, kind: str | None) -> None:
        lines = data.split(b"\n")
        self.tail = lines.pop()
        self.all = [line + b"\n" for line in lines]
        self.places = [at for at, line in enumerate(self.all) if not line.startswith(b"#")]
        """Where the lines that are not comments stand among all."""
        self.lines = [self.all[at] for at in self.places]
        self.budget = budget
        self.kind = kind
        self.binary = False
        self.cut = False
        """Whether the hunk that is read met a last line without newline."""
        self.at = 0
        self.uncounted = 0
        """Lines that are not in the numbers of messages."""
        self.found: list[FilePatch] = []

    def peek(self, ahead: int = 0) -> bytes:
        """A line without its newline; b"" past the end."""
        at = self.at + ahead
        return self.lines[at].rstrip(b"\r\n") if at < len(self.lines) else b""

    def place(self) -> int:
        """The end of what was read, among all lines."""
        return self.places[self.at - 1] + 1 if self.at else 0

    def admits(self, kind: str) -> bool:
        return self.kind is None or self.kind == kind

    def read(self) -> PatchText:
        header = FilePatch("")
        start = 0
        while self.at < len(self.lines):
            self.budget.step()
            line = self.peek()
            kind = self._kind_here(line)
            if kind is None:
                self._note(line, header)
                self.at += 1
                continue
            header.kind = kind
            header.leading = self.all[start : self.place()]
            header.line = self._line_number()
            self.uncounted -= self.places[self.at] - self.place()
            if not self.binary and self.lines[self.at].endswith(b"\r\n"):
                header.stripped = True
                self.lines = [
                    one[:-2] + b"\n" if one.endswith(b"\r\n") else one for one in self.lines
                ]
            try:
                self._body(header)
                if self.at >= len(self.lines):
                    header.cut_after = header.cut_after or bool(self.tail)
            except PatchError as error:
                header.error = str(error)
                header.cut_after = self.cut
                self.at = len(self.lines)
            self.found.append(header)
            header, start = FilePatch(""), self.place()
        if len(header.git) > 1:
            header.kind = "git"
            header.leading = self.all[start:]
            header.cut_before = header.cut_after = bool(self.tail)
            self.found.append(header)
            start = len(self.all)
        return PatchText(
            self.found, garbage=start < len(self.all) or bool(self.tail), cut=bool(self.tail)
        )

    def _kind_here(self, line: bytes) -> str | None:
        if line.startswith(b"@@ -") and self.admits("unified") and _UNIFIED.match(line):
            return "unified"
        if (
            line.startswith(b"***************")
            and self.admits("context")
            and _CONTEXT_OLD.match(self.peek(1))
        ):
            return "context"
        if self.admits("normal") and _NORMAL.match(line) and self.peek(1)[:2] in (b"< ", b"> "):
            return "normal"
        return None

    def _note(self, line: bytes, header: FilePatch) -> None:
        """Take what a line before the hunks says about the file."""
        if line.startswith(b"--- ") and (
            header.old_header == b"" or self.peek(1).startswith(b"+++ ")
        ):
            if header.old_header.startswith(b"*"):
                header.new_header = line
            else:
                header.old_header = line
        elif line.startswith(b"+++ "):
            header.new_header = line
        elif line.startswith(b"*** ") and not _CONTEXT_OLD.match(line):
            header.old_header = line
        elif line.startswith(b"--- ") and header.old_header.startswith(b"*"):
            header.new_header = line
        elif index := _INDEX.match(line):
            header.index = index[1]
        elif line.startswith(b"diff --git "):
            if header.git:
                header.kind = "git"
                self.found.append(FilePatch("git"))
                self.found[-1].git = dict(header.git)
                header.git = {}
            header.old_header = header.new_header = b""
            header.git[b"diff"] = line
        elif header.git and (git := _GIT.match(line)):
            header.git[git[1]] = git[2]

    def _body(self, patch: FilePatch) -> None:
        take = {"unified": self._unified, "context": self._context, "normal": self._normal}[
            patch.kind
        ]
        while self._kind_here(self.peek()) == patch.kind or (
            patch.kind == "normal" and _NORMAL.match(self.peek())
        ):
            self.cut = False
            patch.hunks.append(take())
            patch.hunks[-1].cut = self.cut
        if patch.kind == "context":
            patch.cut_before = patch.hunks[0].cut
        self.cut = False

    def _number(self, text: bytes | None, default: int = 1) -> int:
        value = default if text is None else int(text[:15])
        if value > _LARGEST:
            raise PatchError(f"line number too large at line {self._line_number()}")
        return value

    def _line_number(self) -> int:
        """The number of the line here, from 1; lines that begin with a backslash do not count. At
        the end, that of the last.

        GNU's counts comments just before the first hunk twice.
        """
        return (
            self.places[self.at] + 1 if self.at < len(self.lines) else len(self.all)
        ) - self.uncounted

    def _malformed(self, line: bytes, number: int) -> PatchError:
        return PatchError(
            f"malformed patch at line {number}: {str(line, 'utf-8', 'surrogateescape')}"
        )

    def _meet_end(self) -> None:
        """Note that a hunk is read past the end, and over what stands there without newline."""
        if self.tail:
            self.cut = True
            self.tail = b""

    def _no_newline(self, lines: list[tuple[bytes, bytes]]) -> None:
        """After a line that begins with a backslash, the line before it has no newline."""
        here = self.lines[self.at] if self.at < len(self.lines) else self.tail
        if not here.startswith(b"\\"):
            return
        if lines:
            mark, line = lines[-1]
            lines[-1] = (mark, line.removesuffix(b"\n"))
        if self.at < len(self.lines):
            self.at += 1
            self.uncounted += 1
        else:
            self.tail = b""

    def _unified(self) -> Hunk:
        match = _UNIFIED.match(self.peek())
        assert match is not None
        old_start, new_start = self._number(match[1]), self._number(match[3])
        old_left, new_left = self._number(match[2]), self._number(match[4])
        if not old_left:
            old_start += 1
        if not new_left:
            new_start += 1
        line, number = (
            b"--- %d,%d ----\n" % (new_start, new_start + new_left - 1),
            self._line_number(),
        )
        self.at += 1
        lines: list[tuple[bytes, bytes]] = []
        while old_left > 0 or new_left > 0:
            self.budget.step()
            ends = self.at >= len(self.lines)
            if ends:
                self._meet_end()
                if new_left > _BLANKS_CUT_OFF:
                    raise PatchError("unexpected end of file in patch")
            line = b" \n" if ends else self.lines[self.at]
            number = self._line_number()
            mark, text = line[:1], line[1:]
            if line in (b"\n", b"\r\n") or mark == b"\t":
                mark, text = b" ", line
            if mark not in (b" ", b"-", b"+"):
                raise self._malformed(line, number)
            old_left -= mark != b"+"
            new_left -= mark != b"-"
            if old_left < 0 or new_left < 0:
                raise self._malformed(line, number)
            lines.append((mark, text))
            if not ends:
                self.at += 1
                self._no_newline(lines)
        if all(mark == b" " for mark, _text in lines):
            raise self._malformed(line, number)
        return Hunk(old_start, new_start, lines)

    def _context(self) -> Hunk:
        self.at += 1
        begins = self._line_number()
        old_match = _CONTEXT_OLD.match(self.peek())
        assert old_match is not None
        self.at += 1
        olds: list[tuple[bytes, bytes]] = []
        while (new_match := _CONTEXT_NEW.match(self.peek())) is None:
            if self.at >= len(self.lines):
                self._meet_end()
                raise PatchError("unexpected end of file in patch")
            if not self._context_line((b"  ", b"- ", b"! "), olds):
                raise self._malformed(self.lines[self.at], self._line_number())
        self.at += 1
        count = (
            self._number(new_match[2], self._number(new_match[1])) - self._number(new_match[1]) + 1
        )
        news = self._context_news(olds, count if self._number(new_match[1]) else 0)
        same = [line for line in olds if line[0] == b"  "]
        if not olds:
            olds = [line for line in news if line[0] == b"  "]
            old_count = (
                self._number(old_match[2], self._number(old_match[1]))
                - self._number(old_match[1])
                + 1
            )
            if len(olds) != (old_count if self._number(old_match[1]) else 0):
                raise PatchError(
                    f"replacement text or line numbers mangled in hunk at line {begins}"
                )
        elif not news:
            news = same
        elif len(same) != sum(mark == b"  " for mark, _line in news):
            raise PatchError(f"context mangled in hunk at line {begins}")
        old_start, new_start = self._number(old_match[1]), self._number(new_match[1])
        merged = _merge_context(olds, news)
        if all(mark == b"+" for mark, _line in merged):
            old_start += 1
        if all(mark == b"-" for mark, _line in merged):
            new_start += 1
        hunk = Hunk(old_start, new_start, merged)
        hunk.new_context = [line for mark, line in news if mark == b"  "]
        return hunk

    def _context_news(
        self, olds: list[tuple[bytes, bytes]], count: int
    ) -> list[tuple[bytes, bytes]]:
        """The second half of a hunk; none if it is left out because nothing is added."""
        start, tail = self.at, self.tail
        may_miss = count == sum(mark == b"  " for mark, _line in olds) and bool(olds)
        lines: list[tuple[bytes, bytes]] = []
        while len(lines) < count:
            self.budget.step()
            if self._context_line((b"  ", b"+ ", b"! "), lines):
                may_miss = may_miss and lines[-1][0] == b"  "
                continue
            ends = self.at >= len(self.lines)
            if ends:
                self._meet_end()
            if may_miss:
                self.at, self.tail = start, tail
                return []
            if not ends:
                raise self._malformed(self.lines[self.at], self._line_number())
            if count - len(lines) > _BLANKS_CUT_OFF:
                raise PatchError("unexpected end of file in patch")
            lines.append((b"  ", b"\n"))
        return lines

    def _context_line(self, marks: tuple[bytes, ...], lines: list[tuple[bytes, bytes]]) -> bool:
        """Take a line of a hunk's half, if one stands here."""
        self.budget.step()
        if self.at >= len(self.lines):
            return False
        line = self.lines[self.at]
        if line == b"\n":
            line = b"  \n"
        mark = line[:2] if line[:2] in marks else line[:1] + b" " if line[1:2] == b"\t" else b""
        if mark not in marks:
            return False
        lines.append((mark, line[2:] if line[:2] == mark else line[1:]))
        self.at += 1
        self._no_newline(lines)
        return True

    def _normal(self) -> Hunk:
        match = _NORMAL.match(self.peek())
        assert match is not None
        old_start, new_start = self._number(match[1]), self._number(match[4])
        olds = 0 if match[3] == b"a" else self._number(match[2], old_start) - old_start + 1
        news = 0 if match[3] == b"d" else self._number(match[5], new_start) - new_start + 1
        self.at += 1
        lines: list[tuple[bytes, bytes]] = []
        for sign, mark, count in ((b"<", b"-", olds), (b">", b"+", news)):
            if sign == b">" and match[3] == b"c" and not self._normal_line().startswith(b"-"):
                raise PatchError(f"'---' expected at line {self.place() - self.uncounted} of patch")
            for _ in range(count):
                self.budget.step()
                line = self._normal_line()
                if line[:1] != sign or line[1:2] not in (b" ", b"\t"):
                    raise PatchError(
                        f"'{chr(sign[0])}' followed by space or tab expected at line {self.place() - self.uncounted} of patch"
                    )
                lines.append((mark, line[2:]))
                self._no_newline(lines)
        if match[3] == b"a":
            old_start += 1
        if match[3] == b"d":
            new_start += 1
        return Hunk(old_start, new_start, lines)

    def _normal_line(self) -> bytes:
        if self.at >= len(self.lines):
            self._meet_end()
            raise PatchError(f"unexpected end of file in patch at line {self._line_number()}")
        self.at += 1
        return self.lines[self.at - 1]


def _merge_context(
    olds: list[tuple[bytes, bytes]], news: list[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    """The two halves of a context hunk as one list of lines, deletions first."""
    made: list[tuple[bytes, bytes]] = []
    old = new = 0
    while old < len(olds) or new < len(news):
        if old < len(olds) and olds[old][0] != b"  ":
            made.append((b"-", olds[old][1]))
            old += 1
        elif new < len(news) and news[new][0] != b"  ":
            made.append((b"+", news[new][1]))
            new += 1
        else:
            made.append((b" ", olds[old][1] if old < len(olds) else news[new][1]))
            old += 1
            new += 1
    return made
