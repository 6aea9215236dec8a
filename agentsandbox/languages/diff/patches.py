"""Reading patches: unified, context and normal differences, ed scripts, with git's headers."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

__all__ = ["FilePatch", "Hunk", "PatchError", "read_patches"]

_UNIFIED = re.compile(rb"@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")
_CONTEXT_OLD = re.compile(rb"\*\*\* ([0-9]+)(?:,([0-9]+))?(?: \*\*\*\*)?\s*$")
_CONTEXT_NEW = re.compile(rb"--- ([0-9]+)(?:,([0-9]+))?(?: ----)?\s*$")
_NORMAL = re.compile(rb"([0-9]+)(?:,([0-9]+))?([acd])([0-9]+)(?:,([0-9]+))?$")
_ED = re.compile(rb"([0-9]+)(?:,([0-9]+))?([acd])$")
_INDEX = re.compile(rb"Index:[ \t]*(\S+)")
_GIT = re.compile(rb"(new file mode|deleted file mode|rename from|rename to|copy from|copy to|old mode|new mode) (.*)")
_LARGEST = 1 << 40


class PatchError(Exception):
    """The patch cannot be read; the message is worded as `patch` words it."""


class Hunk:
    """One place to change: lines with their marks (" ", "-", "+"), and where the first stands in both files, from 1."""

    __slots__ = ("lines", "new_start", "old_start")

    def __init__(self, old_start: int, new_start: int, lines: list[tuple[bytes, bytes]]) -> None:
        self.old_start = old_start
        self.new_start = new_start
        self.lines = lines

    def reversed(self) -> Hunk:
        """The hunk that undoes this one; deletions come first in it as well."""
        swap = {b"-": b"+", b"+": b"-", b" ": b" "}
        made: list[tuple[bytes, bytes]] = []
        added: list[tuple[bytes, bytes]] = []
        for mark, line in self.lines:
            mark = swap[mark]
            if mark == b"+":
                added.append((mark, line))
                continue
            if mark == b" ":
                made.extend(added)
                added.clear()
            made.append((mark, line))
        return Hunk(self.new_start, self.old_start, made + added)

    def old_lines(self) -> list[bytes]:
        """What must stand in the file."""
        return [line for mark, line in self.lines if mark != b"+"]

    def new_count(self) -> int:
        """How many lines there will be."""
        return sum(mark != b"-" for mark, _line in self.lines)

    def leading(self) -> int:
        """Lines of context at the start."""
        return next((at for at, (mark, _line) in enumerate(self.lines) if mark != b" "), len(self.lines))

    def trailing(self) -> int:
        """Lines of context at the end."""
        return next((at for at, (mark, _line) in enumerate(reversed(self.lines)) if mark != b" "), len(self.lines))


class FilePatch:
    """All hunks for one file. `kind` is unified, context, normal or ed; an ed script is kept as its lines."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.old_header = b""
        self.new_header = b""
        self.index = b""
        self.git: dict[bytes, bytes] = {}
        self.hunks: list[Hunk] = []
        self.script: list[bytes] = []
        self.leading: list[bytes] = []
        """The text before the first hunk."""
        self.error = ""
        """What is wrong with the patch after the hunks that could be read."""
        self.stripped = False
        """Whether the patch came with CR LF and was read without CR."""
        self.line = 0
        """The line of the patch at which the first hunk stands, from 1."""


def read_patches(data: bytes, budget: Budget, kind: str | None = None, *, binary: bool = False) -> list[FilePatch]:
    """The patches for files in a text, text around them skipped. `kind` admits one kind only; `binary` keeps CR LF."""
    reader = _Reader(data, budget, kind)
    reader.binary = binary
    return reader.read()


class _Reader:
    def __init__(self, data: bytes, budget: Budget, kind: str | None) -> None:
        lines = data.split(b"\n")
        last = lines.pop()
        self.lines = [line + b"\n" for line in lines] + ([last] if last else [])
        self.budget = budget
        self.kind = kind
        self.binary = False
        self.at = 0
        self.found: list[FilePatch] = []

    def peek(self, ahead: int = 0) -> bytes:
        """A line without its newline; b"" past the end."""
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
            header.line = self.at + 1
            if not self.binary and self.lines[self.at].endswith(b"\r\n"):
                header.stripped = True
                self.lines = [one[:-2] + b"\n" if one.endswith(b"\r\n") else one for one in self.lines]
            try:
                self._body(header)
            except PatchError as error:
                header.error = str(error)
                self.at = len(self.lines)
            self.found.append(header)
            header, start = FilePatch(""), self.at
        if header.git:
            header.kind = "git"
            self.found.append(header)
        return self.found

    def _kind_here(self, line: bytes) -> str | None:
        if line.startswith(b"@@ -") and self.admits("unified") and _UNIFIED.match(line):
            return "unified"
        if line.startswith(b"***************") and self.admits("context") and _CONTEXT_OLD.match(self.peek(1)):
            return "context"
        if self.admits("normal") and _NORMAL.match(line) and self.peek(1)[:2] in (b"< ", b"> "):
            return "normal"
        if self.admits("ed") and _ED.match(line):
            return "ed"
        return None

    def _note(self, line: bytes, header: FilePatch) -> None:
        """Take what a line before the hunks says about the file."""
        if line.startswith(b"--- ") and (header.old_header == b"" or self.peek(1).startswith(b"+++ ")):
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
        if patch.kind == "ed":
            self._ed(patch)
            return
        take = {"unified": self._unified, "context": self._context, "normal": self._normal}[patch.kind]
        while self.at < len(self.lines) and self._kind_here(self.peek()) == patch.kind:
            patch.hunks.append(take())

    def _number(self, text: bytes | None, default: int = 1) -> int:
        value = default if text is None else int(text[:15])
        if value > _LARGEST:
            raise PatchError(f"line number too large at line {self.at + 1}")
        return value

    def _malformed(self) -> PatchError:
        text = str(self.lines[self.at], "utf-8", "surrogateescape") if self.at < len(self.lines) else "\n"
        return PatchError(f"malformed patch at line {self.at + 1}: {text}")

    def _no_newline(self, lines: list[tuple[bytes, bytes]]) -> None:
        """After a line that begins with a backslash, the line before it has no newline."""
        if self.at < len(self.lines) and self.lines[self.at].startswith(b"\\"):
            if lines:
                mark, line = lines[-1]
                lines[-1] = (mark, line.removesuffix(b"\n"))
            self.at += 1

    def _unified(self) -> Hunk:
        match = _UNIFIED.match(self.peek())
        assert match is not None
        old_start, new_start = self._number(match[1]), self._number(match[3])
        old_left, new_left = self._number(match[2]), self._number(match[4])
        if not old_left:
            old_start += 1
        if not new_left:
            new_start += 1
        self.at += 1
        lines: list[tuple[bytes, bytes]] = []
        while old_left > 0 or new_left > 0:
            self.budget.step()
            if self.at >= len(self.lines):
                if old_left == new_left and old_left <= 3:
                    lines.extend([(b" ", b"\n")] * old_left)
                    break
                raise PatchError(f"unexpectedly ends in middle of hunk at line {self.at}")
            line = self.lines[self.at]
            mark, text = line[:1], line[1:]
            if line in (b"\n", b"\r\n") or mark == b"\t":
                mark, text = b" ", line
            if mark not in (b" ", b"-", b"+"):
                raise self._malformed()
            old_left -= mark != b"+"
            new_left -= mark != b"-"
            if old_left < 0 or new_left < 0:
                raise self._malformed()
            lines.append((mark, text if text.endswith(b"\n") else text + b"\n"))
            self.at += 1
            self._no_newline(lines)
        return Hunk(old_start, new_start, lines)

    def _context(self) -> Hunk:
        self.at += 1
        old_match = _CONTEXT_OLD.match(self.peek())
        if old_match is None:
            raise self._malformed()
        self.at += 1
        olds = self._context_block((b"  ", b"- ", b"! "), lambda: _CONTEXT_NEW.match(self.peek()) is not None)
        new_match = _CONTEXT_NEW.match(self.peek())
        if new_match is None:
            raise self._malformed()
        self.at += 1
        count = self._number(new_match[2], self._number(new_match[1])) - self._number(new_match[1]) + 1
        news = self._context_block((b"  ", b"+ ", b"! "), lambda: False, count)
        if not olds:
            olds = [line for line in news if line[0] == b"  "]
        if not news:
            news = [line for line in olds if line[0] == b"  "]
        old_start, new_start = self._number(old_match[1]), self._number(new_match[1])
        merged = _merge_context(olds, news)
        if all(mark == b"+" for mark, _line in merged):
            old_start += 1
        if all(mark == b"-" for mark, _line in merged):
            new_start += 1
        return Hunk(old_start, new_start, merged)

    def _context_block(self, marks: tuple[bytes, ...], ends: object, most: int = 1 << 40) -> list[tuple[bytes, bytes]]:
        lines: list[tuple[bytes, bytes]] = []
        while self.at < len(self.lines) and len(lines) < most:
            self.budget.step()
            line = self.lines[self.at]
            if callable(ends) and ends():
                break
            if line == b"\n":
                line = b"  \n"
            mark = line[:2] if line[:2] in marks else line[:1] + b" " if line[1:2] == b"\t" else b""
            if mark not in marks:
                break
            text = line[2:] if line[:2] == mark else line[1:]
            lines.append((mark, text if text.endswith(b"\n") else text + b"\n"))
            self.at += 1
            self._no_newline(lines)
        return lines

    def _normal(self) -> Hunk:
        match = _NORMAL.match(self.peek())
        assert match is not None
        old_start, new_start = self._number(match[1]), self._number(match[4])
        self.at += 1
        lines: list[tuple[bytes, bytes]] = []
        for sign, mark in ((b"< ", b"-"), (b"> ", b"+")):
            if sign == b"> " and self.peek() == b"---":
                self.at += 1
            while self.at < len(self.lines) and self.lines[self.at].startswith(sign):
                self.budget.step()
                text = self.lines[self.at][2:]
                lines.append((mark, text if text.endswith(b"\n") else text + b"\n"))
                self.at += 1
                self._no_newline(lines)
        if match[3] == b"a":
            old_start += 1
        if match[3] == b"d":
            new_start += 1
        return Hunk(old_start, new_start, lines)

    def _ed(self, patch: FilePatch) -> None:
        while self.at < len(self.lines):
            self.budget.step()
            match = _ED.match(self.peek())
            if match is None and self.peek() not in (b"s/.//", b"a"):
                return
            patch.script.append(self.lines[self.at])
            self.at += 1
            if (match is not None and match[3] != b"d") or (match is None and patch.script[-1] == b"a\n"):
                while self.at < len(self.lines):
                    patch.script.append(self.lines[self.at])
                    self.at += 1
                    if patch.script[-1] == b".\n":
                        break


def _merge_context(olds: list[tuple[bytes, bytes]], news: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
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
