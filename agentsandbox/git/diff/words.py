"""`--word-diff`: the changes of a hunk word by word.

The removed and the added lines of each change are cut into words, one a line, and compared as lines
are. What is between words is shown as in the new file.
"""

from __future__ import annotations

import re

from agentsandbox.git.diff.xdiff import diff_lines
from agentsandbox.git.errors import Fatal
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.diff.hunks import Hunk
    from agentsandbox.git.diff.options import DiffOptions
    from agentsandbox.kernel.budget import Budget

_RED, _GREEN, _RESET = b"\x1b[31m", b"\x1b[32m", b"\x1b[m"


class WordWriter:
    """Prints hunks word by word."""

    def __init__(
        self,
        options: DiffOptions,
        header: Callable[[Hunk], bytes],
        write: Callable[[bytes], None],
        budget: Budget,
        *,
        color: bool,
    ) -> None:
        self.kind = options.words
        self.header = header
        self.write = write
        self.budget = budget
        self.color = color
        self.line_diff = options.line_diff()
        self.regex = None
        if options.word_pattern:
            from agentsandbox.kernel.regexps import RegexError, compile_posix

            try:
                self.regex = compile_posix(options.word_pattern, newline_safe=True)
            except RegexError:
                raise Fatal(f"invalid regular expression: {options.word_pattern}") from None

    def print_hunk(self, hunk: Hunk) -> None:
        """Print a hunk."""
        out = [self.header(hunk)]
        removed: list[bytes] = []
        added: list[bytes] = []
        for sign, line in hunk.lines:
            if sign == b"-":
                removed.append(line)
            elif sign == b"+":
                added.append(line)
            else:
                out.append(self._flushed(removed, added))
                removed, added = [], []
                out.append(self._context(line))
        out.append(self._flushed(removed, added))
        self.write(b"".join(out))

    def _context(self, line: bytes) -> bytes:
        body = line[:-1] if line.endswith(b"\n") else line
        if self.kind == "porcelain":
            return b" " + body + b"\n~\n"
        return body + b"\n"

    def _words(self, text: bytes) -> list[tuple[int, int]]:
        """Return where the words of a text begin and end."""
        if self.regex is None:
            return [found.span() for found in re.finditer(rb"[^ \t\n\v\f\r]+", text)]
        found = []
        shown = decode(text)
        place = byte = 0
        for match in self.regex.finditer(shown, budget=self.budget):
            start, end = match.span()
            end = start + len(shown[start:end].split("\n", 1)[0])
            if end == start:
                continue
            byte += len(encode(shown[place:start]))
            size = len(encode(shown[start:end]))
            found.append((byte, byte + size))
            byte += size
            place = end
        return found

    def _styled(self, kind: str, text: bytes) -> bytes:
        """Return a text in the style of added ("+"), removed ("-") or common (" ") words."""
        if self.kind == "porcelain":
            lines = text.split(b"\n")
            out = []
            sign = encode(kind)
            for number, line in enumerate(lines):
                if number:
                    out.append(b"~\n")
                if line:
                    body = sign + line
                    if self.color and kind != " ":
                        body = (_RED if kind == "-" else _GREEN) + body + _RESET
                    out.append(body + b"\n")
            return b"".join(out)
        if kind == " " or not text:
            return text
        before, after = (b"[-", b"-]") if kind == "-" else (b"{+", b"+}")
        if self.kind == "color":
            before = after = b""
        code = (_RED if kind == "-" else _GREEN) if self.color else b""
        lines = text.split(b"\n")
        styled = [
            code + before + line + after + (_RESET if code else b"") if line else b""
            for line in lines
        ]
        return b"\n".join(styled)

    def _flushed(self, removed: list[bytes], added: list[bytes]) -> bytes:
        """Return the words of a change."""
        if not removed and not added:
            return b""
        old, new = (b"".join(lines) for lines in (removed, added))
        if removed and not old.endswith(b"\n"):
            old += b"\n"
        if added and not new.endswith(b"\n"):
            new += b"\n"
        if not added:
            return self._styled("-", old)
        if not removed:
            return self._styled("+", new)
        one, two = self._words(old), self._words(new)
        changes = diff_lines(
            [old[start:end] + b"\n" for start, end in one],
            [new[start:end] + b"\n" for start, end in two],
            self.budget, algorithm=self.line_diff.algorithm, indent=False,
        )  # fmt: skip
        out: list[bytes] = []
        place = 0
        for change in changes:
            if change.inserted:
                start = two[change.new][0]
                end = two[change.new + change.inserted - 1][1]
            else:
                start = end = two[change.new - 1][1] if change.new else 0
            out.append(self._styled(" ", new[place:start]))
            if change.deleted:
                out.append(
                    self._styled(
                        "-",
                        old[one[change.old][0] : one[change.old + change.deleted - 1][1]],
                    )
                )
            out.append(self._styled("+", new[start:end]))
            place = end
        out.append(self._styled(" ", new[place:]))
        return b"".join(out)
