"""The commands that `ed` reads, and a place in one of them."""

from __future__ import annotations

from agentsandbox.commands.ed.errors import EdError
from agentsandbox.kernel.streams import decode, decode_bytewise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

_LARGEST = (1 << 31) - 1


class Words:
    """A place in a command list; each command of it ends with a newline."""

    __slots__ = ("at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def next(self) -> str:
        """The next character; "" at the end."""
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        """Return the next character and go on."""
        found = self.text[self.at : self.at + 1]
        self.at += 1
        return found

    def skip(self, character: str) -> bool:
        """Go on if the next character is this one."""
        if self.text.startswith(character, self.at):
            self.at += 1
            return True
        return False

    def skip_blanks(self) -> None:
        """Go on to what is no blank."""
        while self.next and self.next in " \t\r\f\v":
            self.at += 1

    def number(self) -> int:
        """Read a number with its sign."""
        start = self.at
        self.at += self.next in "+-"
        digits = self.at
        while self.next.isdigit() and self.next.isascii():
            self.at += 1
        if self.at == digits:
            raise EdError("Invalid number")
        if self.at - start > 11 or abs(int(self.text[start : self.at])) > _LARGEST:
            raise EdError("Number out of range")
        return int(self.text[start : self.at])

    def rest(self) -> str:
        """Return the rest of the line and move to the next one."""
        end = self.text.index("\n", self.at)
        found = self.text[self.at : end]
        self.at = end
        while self.next == "\n":
            self.at += 1
        return found


class Input:
    """Standard input, line by line. A last line without its newline does not count."""

    def __init__(self, ctx: CommandContext) -> None:
        self._budget = ctx.budget
        self._stdin = ctx.stdin
        self._decode = decode_bytewise if ctx.is_bytewise() else decode
        self.number = 0
        """The number of the last line that was read."""

    def line(self) -> str:
        """Return the next line with its newline; "" at the end."""
        self._budget.step()
        data = self._stdin.readline()
        self._budget.charge(len(data))
        self.number += bool(data)
        return self._decode(data) if data.endswith(b"\n") else ""

    def extend(self, words: Words, *, join: bool) -> None:
        """Add the lines that follow an escaped newline, without the backslash.

        join  without the newline, too
        """
        end = words.text.index("\n", words.at)
        if not _is_escaped(words.text, words.at, end):
            return
        parts = [words.text[words.at : end - 1] + ("" if join else "\n")]
        size = len(parts[0])
        while True:
            line = self.line()
            if not line:
                raise EdError("Unexpected end-of-file")
            size += len(line)
            self._budget.charge(size)
            if not _is_escaped(line, 0, len(line) - 1):
                break
            parts.append(line[:-2] + ("" if join else "\n"))
        words.text = "".join(parts) + line
        words.at = 0


def _is_escaped(text: str, start: int, end: int) -> bool:
    """Whether a newline has an odd number of backslashes before it."""
    before = text[start:end]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
