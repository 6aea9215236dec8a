"""The parser of patches: unified, context and normal differences, with git's headers.

`_Reader` goes through the text line by line. Lines before a hunk may name the file (`_note`), and
are otherwise skipped: a patch may come in a mail. A line that begins a hunk selects the kind of the
difference, and the hunks that follow belong to the same `FilePatch`. All kinds end as `Hunk`: lines
with the marks " ", "-" and "+", as the unified format has them.

GNU patch is lenient at the end of the text: up to three lines that are missing in the last hunk are
taken for blank context.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

_UNIFIED = re.compile(rb"@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")
_CONTEXT_OLD = re.compile(rb"\*\*\* ([0-9]+)(?:,([0-9]+))?(?: \*\*\*\*)?\s*$")
_CONTEXT_NEW = re.compile(rb"--- ([0-9]+)(?:,([0-9]+))?(?: ----)?\s*$")
_BATCH = 1000
_LONGEST_COMMAND = 200
"""Bytes of the line before a hunk of a normal patch; four numbers are shorter."""
_NORMAL = re.compile(rb"([0-9]+)(?:,([0-9]+))?([acd])([0-9]+)(?:,([0-9]+))?$")
_INDEX = re.compile(rb"Index:[ \t]*(\S+)")
_GIT = re.compile(rb"(new file mode|deleted file mode|old mode|new mode) (.*)")
_LARGEST = 1 << 40
_BLANKS_CUT_OFF = 3
"""The number of lines that may be missing at the end of the last hunk."""


class PatchError(Exception):
    """A patch that cannot be read, with the message of `patch`."""


def _context_lines(marks: list[bytes]) -> int:
    """Return the number of marks before the first change."""
    return next((at for at, mark in enumerate(marks) if mark != b" "), len(marks))


class Hunk:
    """One place to change: lines with marks, and the number of the first line in both files."""

    __slots__ = ("lines", "new_start", "old_start")

    def __init__(self, old_start: int, new_start: int, lines: list[tuple[bytes, bytes]]) -> None:
        self.old_start = old_start
        self.new_start = new_start
        self.lines = lines

    def reversed(self) -> Hunk:
        """Return the hunk that undoes this one, with deletions first."""
        made: list[tuple[bytes, bytes]] = []
        added: list[tuple[bytes, bytes]] = []
        for mark, line in self.lines:
            if mark == b"-":
                added.append((b"+", line))
                continue
            if mark == b" ":
                made.extend(added)
                added.clear()
            made.append((b"-" if mark == b"+" else mark, line))
        return Hunk(self.new_start, self.old_start, made + added)

    def old_lines(self) -> list[bytes]:
        """Return the lines that must be in the file."""
        return [line for mark, line in self.lines if mark != b"+"]

    def new_count(self) -> int:
        """Return the number of lines after the change."""
        return sum(mark != b"-" for mark, _line in self.lines)

    def leaves_nothing(self) -> bool:
        """Whether the file is empty afterwards, as far as this hunk knows."""
        return self.new_start == 1 and not self.new_count()

    def leading(self) -> int:
        """Return the number of lines of context at the start."""
        return _context_lines([mark for mark, _line in self.lines])

    def trailing(self) -> int:
        """Return the number of lines of context at the end."""
        return _context_lines([mark for mark, _line in reversed(self.lines)])


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
        """What is wrong behind the hunks that could be read."""
        self.stripped = False
        """Whether the lines of the patch ended with CR LF."""
        self.line = 0
        """The line of the patch where the first hunk begins, from 1."""


def read_patches(data: bytes, budget: Budget, kind: str | None = None) -> list[FilePatch]:
    """Return the patches in a text; `kind` admits differences of one kind only."""
    return _Reader(data, budget, kind).read()


class _Reader:
    def __init__(self, data: bytes, budget: Budget, kind: str | None) -> None:
        lines = data.split(b"\n")
        tail = lines.pop()
        self.lines: list[bytes] = []
        for start in range(0, len(lines), _BATCH):
            budget.step(_BATCH)
            batch = lines[start : start + _BATCH]
            self.lines += [line + b"\n" for line in batch if not line.startswith(b"#")]
        if tail:
            self.lines.append(tail + b"\n")
        self.budget = budget
        self.kind = kind
        self.at = 0
        self.uncounted = 0
        """The number of lines with a backslash, which line numbers in messages do not count."""
        self.found: list[FilePatch] = []

    def peek(self, ahead: int = 0) -> bytes:
        """Return a line without its newline, b"" past the end."""
        at = self.at + ahead
        return self.lines[at].rstrip(b"\r\n") if at < len(self.lines) else b""

    def admits(self, kind: str) -> bool:
        return self.kind is None or self.kind == kind

    def read(self) -> list[FilePatch]:
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
            header.leading = self.lines[start : self.at]
            header.line = self._line_number()
            if self.lines[self.at].endswith(b"\r\n"):
                header.stripped = True
                self.lines = [
                    one[:-2] + b"\n" if one.endswith(b"\r\n") else one for one in self.lines
                ]
            try:
                self._body(header)
            except PatchError as error:
                header.error = str(error)
                self.at = len(self.lines)
            self.found.append(header)
            header, start = FilePatch(""), self.at
        if len(header.git) > 1:
            header.kind = "git"
            header.leading = self.lines[start:]
            self.found.append(header)
        return self.found

    def _kind_here(self, line: bytes) -> str | None:
        if line.startswith(b"@@ -") and self.admits("unified") and _UNIFIED.match(line):
            return "unified"
        if (
            line.startswith(b"***************")
            and self.admits("context")
            and _CONTEXT_OLD.match(self.peek(1))
        ):
            return "context"
        if (
            len(line) <= _LONGEST_COMMAND
            and self.admits("normal")
            and _NORMAL.match(line)
            and self.peek(1)[:2] in (b"< ", b"> ")
        ):
            return "normal"
        return None

    def _note(self, line: bytes, header: FilePatch) -> None:
        """Note what a line before the hunks says about the file."""
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
        elif header.git and line.startswith((b"rename from ", b"copy from ")):
            raise PatchError("renames and copies of git are not available here")
        elif header.git and (git := _GIT.match(line)):
            header.git[git[1]] = git[2]

    def _body(self, patch: FilePatch) -> None:
        kind = patch.kind
        take = {"unified": self._unified, "context": self._context, "normal": self._normal}[kind]
        while self._kind_here(self.peek()) == kind or (
            kind == "normal" and _NORMAL.match(self.peek())
        ):
            patch.hunks.append(take())

    def _number(self, text: bytes | None, default: int = 1) -> int:
        value = default if text is None else int(text[:15])
        if value > _LARGEST:
            raise PatchError(f"line number too large at line {self._line_number()}")
        return value

    def _line_number(self) -> int:
        """Return the number of the next line, or at the end that of the last."""
        return min(self.at + 1, len(self.lines)) - self.uncounted

    def _malformed(self, line: bytes, number: int) -> PatchError:
        return PatchError(f"malformed patch at line {number}: {decode(line)}")

    def _missing_line(self, left: int) -> None:
        """Accept that a hunk lacks its last lines, if they are few."""
        if left > _BLANKS_CUT_OFF:
            raise PatchError("unexpected end of file in patch")

    def _no_newline(self, lines: list[tuple[bytes, bytes]]) -> None:
        """Read a line that begins with a backslash: the line before it has no newline."""
        if not self.peek().startswith(b"\\"):
            return
        if lines:
            mark, line = lines[-1]
            lines[-1] = (mark, line.removesuffix(b"\n"))
        self.at += 1
        self.uncounted += 1

    def _unified(self) -> Hunk:
        match = _UNIFIED.match(self.peek())
        assert match is not None
        old_start, new_start = self._number(match[1]), self._number(match[3])
        old_left, new_left = self._number(match[2]), self._number(match[4])
        if not old_left:
            old_start += 1
        if not new_left:
            new_start += 1
        line = b"--- %d,%d ----\n" % (new_start, new_start + new_left - 1)
        number = self._line_number()
        self.at += 1
        lines: list[tuple[bytes, bytes]] = []
        while old_left > 0 or new_left > 0:
            self.budget.step()
            ends = self.at >= len(self.lines)
            if ends:
                self._missing_line(new_left)
            line = b" \n" if ends else self.lines[self.at]
            number = self._line_number()
            mark, text = line[:1], line[1:]
            if line in (b"\n", b"\r\n") or mark == b"\t":
                mark, text = b" ", line
            old_left -= mark != b"+"
            new_left -= mark != b"-"
            if mark not in (b" ", b"-", b"+") or old_left < 0 or new_left < 0:
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
                raise PatchError("unexpected end of file in patch")
            if not self._context_line((b"  ", b"- ", b"! "), olds):
                raise self._malformed(self.lines[self.at], self._line_number())
        self.at += 1
        news = self._context_news(olds, self._count(new_match))
        same = [line for line in olds if line[0] == b"  "]
        if not olds:
            olds = [line for line in news if line[0] == b"  "]
            if len(olds) != self._count(old_match):
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
        return Hunk(old_start, new_start, merged)

    def _count(self, header: re.Match[bytes]) -> int:
        """Return the number of lines in a half of a context hunk."""
        first = self._number(header[1])
        return self._number(header[2], first) - first + 1 if first else 0

    def _context_news(
        self, olds: list[tuple[bytes, bytes]], count: int
    ) -> list[tuple[bytes, bytes]]:
        """Return the second half of a hunk, empty if it is omitted because nothing is added."""
        start = self.at
        may_miss = count == sum(mark == b"  " for mark, _line in olds) and bool(olds)
        lines: list[tuple[bytes, bytes]] = []
        while len(lines) < count:
            self.budget.step()
            if self._context_line((b"  ", b"+ ", b"! "), lines):
                may_miss = may_miss and lines[-1][0] == b"  "
                continue
            if may_miss:
                self.at = start
                return []
            if self.at < len(self.lines):
                raise self._malformed(self.lines[self.at], self._line_number())
            self._missing_line(count - len(lines))
            lines.append((b"  ", b"\n"))
        return lines

    def _context_line(self, marks: tuple[bytes, ...], lines: list[tuple[bytes, bytes]]) -> bool:
        """Read a line of a half of a hunk; return False if the next line is something else."""
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
                raise PatchError(f"'---' expected at line {self.at - self.uncounted} of patch")
            for _ in range(count):
                self.budget.step()
                line = self._normal_line()
                if line[:1] != sign or line[1:2] not in (b" ", b"\t"):
                    place = f"at line {self.at - self.uncounted} of patch"
                    raise PatchError(f"'{decode(sign)}' followed by space or tab expected {place}")
                lines.append((mark, line[2:]))
                self._no_newline(lines)
        if match[3] == b"a":
            old_start += 1
        if match[3] == b"d":
            new_start += 1
        return Hunk(old_start, new_start, lines)

    def _normal_line(self) -> bytes:
        if self.at >= len(self.lines):
            raise PatchError(f"unexpected end of file in patch at line {self._line_number()}")
        self.at += 1
        return self.lines[self.at - 1]


def _merge_context(
    olds: list[tuple[bytes, bytes]], news: list[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    """Return the two halves of a context hunk as one list of lines, deletions first."""
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
