"""The tokens of a YAML text, and its comments, each with the place it belongs to.

Comments are attached as yq's own reader (Go's yaml.v3) does it, since that decides where they are
printed: a comment after something in its line belongs to it, one above it is its head, one below it
that an empty line or a dedentation ends is the foot of what came before.
"""

from __future__ import annotations

import re

from agentsandbox.commands.yq.scalars import (
    YamlError,
    read_block,
    read_double,
    read_plain,
    read_single,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

__all__ = ["BREAKS", "Comment", "Scanner", "Token", "YamlError"]

BREAKS = "\r\n\x85\u2028\u2029"
_BLANKZ = frozenset(" \t\0" + BREAKS)
_SPACES = re.compile(r" *")
_BLANKS = re.compile(r"[ \t]*")
_MARKER = re.compile(r"(?:---|\.\.\.)(?=[ \t\r\n\x85\u2028\u2029\0])")
_LINE_COMMENT = re.compile(r"[ \t]{0,511}(#[^\r\n\x85\u2028\u2029\0]*)")
_REST = re.compile(r"[^\r\n\x85\u2028\u2029\0]*")
_NAME = re.compile(r"[0-9A-Za-z_-]+")
_HANDLE = re.compile(r"![0-9A-Za-z_-]*!?")
_URI = re.compile(r"(?:[0-9A-Za-z_\-;/?:@&=+$,.!~*'()\[\]]+|%[0-9A-Fa-f]{2})++")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_VERSION = re.compile(r"[ \t]*([0-9]{1,2})\.([0-9]{1,2})")
_DIRECTIVE = re.compile(r"%([0-9A-Za-z_-]+)(?=[ \t\r\n\x85\u2028\u2029\0])")
_LOOK = 512
"""So far ahead is looked for what ends a group of comments."""
_KEY = 1024
"""A key without "?" is not longer."""


class Token:
    """A token: where it starts, and what a scalar, an anchor or a tag says."""

    __slots__ = ("at", "column", "kind", "line", "style", "value")

    def __init__(
        self, kind: str, at: int, line: int, column: int, value: str = "", style: int = 0
    ) -> None:
        self.kind = kind
        self.at = at
        self.line = line
        self.column = column
        self.value = value
        self.style = style


class Comment:
    """A comment: where scanning for it began, the token it goes with, where it starts and ends."""

    __slots__ = ("column", "end", "foot", "head", "line", "line_comment", "scan", "start", "token")

    def __init__(self, scan: int, token: int, start: tuple[int, int, int], end: int) -> None:
        self.scan = scan
        self.token = token
        self.start, self.line, self.column = start
        self.end = end
        self.head = self.foot = self.line_comment = ""


class _Key:
    """What may turn out to be a key when ":" follows."""

    __slots__ = ("at", "column", "line", "number", "possible", "required")

    def __init__(
        self, possible: bool, required: bool, number: int, at: int, line: int, column: int
    ) -> None:
        self.possible = possible
        self.required = required
        self.number = number
        self.at = at
        self.line = line
        self.column = column


class Scanner:
    """Makes tokens of `text`, on demand. `parsed` counts those that were taken."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text + "\0\0\0\0"
        self.size = len(text)
        self.budget = budget
        self.at = 0
        self.line = 0
        self.column = 0
        self.newlines = 0
        """Line breaks since the last character that is no blank."""
        self.flow = 0
        self.indent = -1
        self.indents: list[int] = []
        self.simple_allowed = True
        self.keys = [_Key(False, False, 0, 0, 0, 0)]
        self.by_token: dict[int, int] = {}
        self.tokens: list[Token] = []
        self.head = 0
        self.parsed = 0
        self.ended = False
        self.comments: list[Comment | None] = []

    # the queue

    def fill(self) -> None:
        """Make sure that the next token is there, and that no key before it can still appear."""
        while True:
            if self.head < len(self.tokens) - 2:
                at = self.by_token.get(self.parsed)
                if at is None or not self._still_key(self.keys[at]):
                    return
            self._fetch()

    def take(self) -> None:
        """Pass over the next token."""
        self.parsed += 1
        self.head += 1
        if self.head > 4096:
            del self.tokens[: self.head - 4]
            self.head = 4

    def put(self, kind: str, value: str = "", style: int = 0, size: int = 0) -> None:
        self.tokens.append(Token(kind, self.at, self.line, self.column, value, style))
        if size:
            self.skip(size)

    def skip(self, count: int) -> None:
        """Pass over characters that are neither blank nor a line break."""
        self.at += count
        self.column += count
        self.newlines = 0

    def skip_break(self) -> None:
        """Pass over a line break."""
        self.at += 2 if self.text.startswith("\r\n", self.at) else 1
        self.line += 1
        self.column = 0
        self.newlines += 1

    def fail(self, problem: str, line: int | None = None) -> YamlError:
        """The error of the scanner: it names the line where the construct began, or this one."""
        line = line or self.line
        return YamlError(f"line {line + 1}: {problem}" if line else problem)

    # keys

    def _still_key(self, key: _Key) -> bool:
        if not key.possible:
            return False
        if key.line < self.line or key.at + _KEY < self.at:
            if key.required:
                raise self.fail("could not find expected ':'", key.line)
            key.possible = False
            return False
        return True

    def _save_key(self) -> None:
        required = self.flow == 0 and self.indent == self.column
        if self.simple_allowed:
            self._drop_key()
            number = self.parsed + len(self.tokens) - self.head
            self.keys[-1] = _Key(True, required, number, self.at, self.line, self.column)
            self.by_token[number] = len(self.keys) - 1

    def _drop_key(self) -> None:
        key = self.keys[-1]
        if key.possible:
            if key.required:
                raise self.fail("could not find expected ':'", key.line)
            key.possible = False
            self.by_token.pop(key.number, None)

    # indentation

    def _roll(self, column: int, token: Token, number: int = -1) -> None:
        if self.flow == 0 and self.indent < column:
            self.indents.append(self.indent)
            self.indent = column
            if number < 0:
                self.tokens.append(token)
            else:
                self.tokens.insert(self.head + number - self.parsed, token)

    def _unroll(self, column: int, scanned: tuple[int, int, int]) -> None:
        if self.flow:
            return
        block = (scanned[0] - 1, scanned[1], scanned[2])
        while self.indent > column:
            stop = block[0]
            for comment in reversed(self.comments):
                if comment is None or comment.end < stop:
                    break
                if comment.column == self.indent + 1:
                    block = (comment.start, comment.line, comment.column)
                stop = comment.scan
            self.tokens.append(Token("block-end", *block))
            self.indent = self.indents.pop()

    # tokens

    def _fetch(self) -> None:
        self.budget.step()
        if self.ended:
            self.put("end")
            return
        if not self.tokens:
            self.put("start")
            return
        scanned = (self.at, self.line, self.column)
        self._find_token(scanned[0], scanned[1])
        self._unroll(self.column, scanned)
        c = self.text[self.at]
        if c == "\0" and self.at >= self.size:
            self._end()
            return
        if self.column == 0:
            if c == "%":
                self._directive()
                return
            if c in "-." and _MARKER.match(self.text, self.at):
                self._unroll(-1, (self.at, self.line, self.column))
                self._drop_key()
                self.simple_allowed = False
                self.put("document" if c == "-" else "document-end", size=3)
                return
        token = self.at
        if self.tokens and c == (":" if self.flow == 0 else ","):
            token = self.tokens[-1].at
        self._fetch_at(c)
        if self.newlines == 0 and self.tokens[-1].kind != "-":
            self._line_comment(token)

    def _end(self) -> None:
        if self.column:
            self.column = 0
            self.line += 1
        self._unroll(-1, (self.at, self.line, self.column))
        self._drop_key()
        self.simple_allowed = False
        self.ended = True
        self.put("end")

    def _fetch_at(self, c: str) -> None:
        after = self.text[self.at + 1]
        if c in "[{":
            self._save_key()
            self.keys.append(
                _Key(
                    False,
                    False,
                    self.parsed + len(self.tokens) - self.head,
                    self.at,
                    self.line,
                    self.column,
                )
            )
            self.flow += 1
            self.simple_allowed = True
            self.put(c, size=1)
        elif c in "]}":
            self._drop_key()
            if self.flow:
                self.flow -= 1
                self.by_token.pop(self.keys.pop().number, None)
            self.simple_allowed = False
            self.put(c, size=1)
        elif c == ",":
            self._drop_key()
            self.simple_allowed = True
            self.put(c, size=1)
        elif c == "-" and after in _BLANKZ:
            self._entry()
        elif c == "?" and (self.flow or after in _BLANKZ):
            self._key()
        elif c == ":" and (self.flow or after in _BLANKZ):
            self._value()
        elif c in "*&":
            self._anchor("alias" if c == "*" else "anchor")
        elif c == "!":
            self._tag()
        elif c in "|>" and self.flow == 0:
            self._drop_key()
            self.simple_allowed = True
            read_block(self, c)
        elif c in "'\"":
            self._save_key()
            self.simple_allowed = False
            (read_single if c == "'" else read_double)(self)
        elif (
            c not in "-?:,[]{}#&*!|>'\"%@`\t"
            or (c == "-" and after not in " \t")
            or (self.flow == 0 and c in "?:")
        ):
            self._save_key()
            self.simple_allowed = False
            read_plain(self)
        else:
            raise self.fail("found character that cannot start any token")

    def _entry(self) -> None:
        if self.flow == 0:
            if not self.simple_allowed:
                raise self.fail("block sequence entries are not allowed in this context")
            self._roll(self.column, Token("block-sequence", self.at, self.line, self.column))
        self._drop_key()
        self.simple_allowed = True
        self.put("-", size=1)

    def _key(self) -> None:
        if self.flow == 0:
            if not self.simple_allowed:
                raise self.fail("mapping keys are not allowed in this context")
            self._roll(self.column, Token("block-mapping", self.at, self.line, self.column))
        self._drop_key()
        self.simple_allowed = self.flow == 0
        self.put("?", size=1)

    def _value(self) -> None:
        key = self.keys[-1]
        if self._still_key(key):
            self.tokens.insert(
                self.head + key.number - self.parsed, Token("?", key.at, key.line, key.column)
            )
            self._roll(key.column, Token("block-mapping", key.at, key.line, key.column), key.number)
            key.possible = False
            self.by_token.pop(key.number, None)
            self.simple_allowed = False
        else:
            if self.flow == 0:
                if not self.simple_allowed:
                    raise self.fail("mapping values are not allowed in this context")
                self._roll(self.column, Token("block-mapping", self.at, self.line, self.column))
            self.simple_allowed = self.flow == 0
        self.put(":", size=1)

    def _anchor(self, kind: str) -> None:
        self._save_key()
        self.simple_allowed = False
        found = _NAME.match(self.text, self.at + 1)
        after = self.text[found.end()] if found else ""
        if found is None or not (after in _BLANKZ or after in "?:,]}%@`"):
            raise self.fail("did not find expected alphabetic or numeric character")
        self.put(kind, found[0], size=len(found[0]) + 1)

    def _tag(self) -> None:
        self._save_key()
        self.simple_allowed = False
        text, at = self.text, self.at
        if text[at + 1] == "<":
            found = _URI.match(text, at + 2)
            if found is None or text[found.end()] != ">":
                raise self.fail(
                    "did not find the expected '>'" if found else "did not find expected tag URI"
                )
            handle, suffix, end = "", found[0], found.end() + 1
        else:
            start = _HANDLE.match(text, at)
            handle = start[0] if start else "!"
            named = len(handle) > 1 and handle[-1] == "!"
            begin = at + len(handle) if named else at + 1
            found = _URI.match(text, begin)
            suffix = found[0] if found else ""
            end = begin + len(suffix)
            if named and not suffix:
                raise self.fail("did not find expected tag URI")
            if not named:
                handle = "!"
                if not suffix:
                    handle, suffix = "", "!"
        if text[end] not in _BLANKZ:
            raise self.fail("did not find expected whitespace or line break")
        suffix = _unescaped(suffix)
        self.tokens.append(Token("tag", at, self.line, self.column, handle + "\0" + suffix))
        self.skip(end - at)

    def _directive(self) -> None:
        self._unroll(-1, (self.at, self.line, self.column))
        self._drop_key()
        self.simple_allowed = False
        found = _DIRECTIVE.match(self.text, self.at)
        if found is None:
            raise self.fail("could not find expected directive name")
        name, begin = found[1], found.end()
        rest = _REST.match(self.text, begin)
        line = rest[0] if rest else ""
        if name == "YAML":
            version = _VERSION.match(line)
            if version is None:
                raise self.fail("did not find expected version number")
            self.put("version", f"{int(version[1])}.{int(version[2])}")
            tail = line[version.end() :]
        elif name == "TAG":
            words = line.split(None, 2)
            if len(words) < 2 or not words[0].startswith("!"):
                raise self.fail("did not find expected '!'")
            self.put("tag-directive", words[0] + "\0" + words[1])
            tail = " ".join(words[2:])
        else:
            raise self.fail("found unknown directive name")
        if tail.strip(" \t") and not tail.lstrip(" \t").startswith("#"):
            raise self.fail("did not find expected comment or line break")
        self.skip(begin - self.at + len(line))
        if self.text[self.at] in BREAKS:
            self.skip_break()

    # comments

    def _find_token(self, scanned: int, scanned_line: int) -> None:
        """Pass over blanks, line breaks and comments."""
        text = self.text
        while True:
            found = (_BLANKS if self.flow or not self.simple_allowed else _SPACES).match(
                text, self.at
            )
            if found is not None:
                self.column += found.end() - self.at
                self.at = found.end()
            if self.comments and len(self.tokens) > 1:
                self._comment_after_dash(text[self.at])
            if text[self.at] == "#":
                self._group(scanned, scanned_line)
            if text[self.at] not in BREAKS:
                return
            self.skip_break()
            if self.flow == 0:
                self.simple_allowed = True

    def _comment_after_dash(self, c: str) -> None:
        """A comment after the first "-" of a sequence of sequences or mappings is the head of what
        follows.
        """
        comment = self.comments[-1]
        if comment is None or not comment.line_comment or c in BREAKS:
            return
        if self.tokens[-1].kind == "-" and self.tokens[-2].kind == "block-sequence":
            comment.head = comment.line_comment
            comment.line_comment = ""
            if comment.line == self.line - 1:
                comment.token = self.at

    def _line_comment(self, token: int) -> None:
        found = _LINE_COMMENT.match(self.text, self.at)
        if found is not None:
            start = found.start(1)
            comment = Comment(0, token, (start, self.line, self.column + start - self.at), 0)
            comment.line_comment = found[1]
            self.comments.append(comment)
            self.skip(found.end() - self.at)

    def skip_line_comment(self, token: int) -> None:
        """Keep the comment at this place, if there is one."""
        if self.newlines == 0:
            self._line_comment(token)

    def _group(self, scanned: int, scanned_line: int) -> None:
        """Take the comment lines from here to the next token or to what divides them: they are
        feet, then a head.
        """
        _Group(self, scanned, scanned_line).read()


class _Group:
    """The comments between two tokens."""

    def __init__(self, scanner: Scanner, scanned: int, scanned_line: int) -> None:
        self.scanner = scanner
        self.scan = scanned
        token = scanner.tokens[-1]
        if token.kind == "," and len(scanner.tokens) > 1:
            token = scanner.tokens[-2]
        self.after_value = token.kind == ":"
        self.token = token.at
        self.start = (0, 0, 0)
        self.parts: list[str] = []
        self.foot_line = -1
        if scanned_line > 0:
            self.foot_line = scanner.line - scanner.newlines + 1
            if scanner.newlines == 0 and scanner.column > 1:
                self.foot_line += 1

    def read(self) -> None:
        scanner, text = self.scanner, self.scanner.text
        indent = max(scanner.indent, 0)
        recent_empty, first_empty = False, scanner.newlines <= 1
        line, column = scanner.line, scanner.column
        peek = -1
        while peek + 1 < _LOOK:
            peek += 1
            column += 1
            c = text[scanner.at + peek]
            if c in " \t":
                continue
            closing = scanner.flow > 0 and c in "]}"
            if closing or c in BREAKS or c == "\0":
                if closing or not recent_empty:
                    here = self.start[1] == self.foot_line and not self.after_value
                    if closing or (first_empty and (here or self.start[2] - 1 < indent)):
                        if self.parts:
                            if self.start[2] - 1 < indent:
                                self.token = self.start[0]
                            self._foot(scanner.at + peek)
                    elif self.parts and c != "\0":
                        self.parts.append("\n")
                if c not in BREAKS:
                    break
                first_empty = False
                recent_empty = True
                column = 0
                line += 1
                continue
            if self.parts and column - 1 < indent and column != self.start[2]:
                self._foot(scanner.at + peek)
            if c != "#":
                break
            if self.parts:
                self.parts.append("\n")
            else:
                self.start = (scanner.at + peek, line, column)
            recent_empty = False
            self._line(scanner.at + peek)
            peek = 0
            column = 0
            line = scanner.line
        if self.parts:
            comment = Comment(self.scan, self.start[0], self.start, scanner.at + peek - 1)
            comment.head = "".join(self.parts)
            scanner.comments.append(comment)

    def _foot(self, end: int) -> None:
        comment = Comment(self.scan, self.token, self.start, end)
        comment.foot = "".join(self.parts)
        self.scanner.comments.append(comment)
        self.parts = []
        self.scan = self.token = end

    def _line(self, seen: int) -> None:
        """Take one comment's line."""
        scanner = self.scanner
        scanner.budget.step()
        while scanner.at < seen:
            if scanner.text[scanner.at] in BREAKS:
                scanner.skip_break()
            else:
                scanner.at += 1
                scanner.column += 1
        found = _REST.match(scanner.text, scanner.at)
        line = found[0] if found else ""
        self.parts.append(line)
        scanner.skip(len(line))


def _unescaped(uri: str) -> str:
    if "%" not in uri:
        return uri
    from agentsandbox.kernel.streams import decode

    data = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), uri)
    return decode(bytes(map(ord, data))) if max(map(ord, data)) < 256 else data
