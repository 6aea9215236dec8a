"""File modes: `drwxr-xr-x`, octal and symbolic modes (POSIX `chmod`), the names of file types."""

from __future__ import annotations

import re
import stat
from functools import lru_cache

from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES = {
    stat.S_IFDIR: ("d", "directory"),
    stat.S_IFLNK: ("l", "symbolic link"),
    stat.S_IFREG: ("-", "regular file"),
    stat.S_IFIFO: ("p", "fifo"),
    stat.S_IFCHR: ("c", "character special file"),
    stat.S_IFBLK: ("b", "block special file"),
    stat.S_IFSOCK: ("s", "socket"),
}
_UNKNOWN = ("?", "weird file")

_CLAUSE = lazily(r"([ugoa]*)(?=[-+=])((?:[-+=](?:[ugo](?![rwxXst])|[rwxXst]*))*(?:[-+=][0-7]+)?)\Z")
_ACTION = lazily(r"([-+=])([0-7]+|[ugo](?![rwxXst])|[rwxXst]*)")
_WHO = {"u": 0o4700, "g": 0o2070, "o": 0o1007, "a": 0o7777}
_READ_WRITE = {"r": 0o444, "w": 0o222}
_SHIFT = {"u": 6, "g": 3, "o": 0}


def type_letter(mode: int) -> str:
    """Return the first character of `ls -l`."""
    return _TYPES.get(stat.S_IFMT(mode), _UNKNOWN)[0]


def describe_type(mode: int, size: int = 1) -> str:
    """Return the type in the words of `stat -c %F` and the questions of `rm`."""
    if size == 0 and stat.S_ISREG(mode):
        return "regular empty file"
    return _TYPES.get(stat.S_IFMT(mode), _UNKNOWN)[1]


@lru_cache(maxsize=256)
def format_mode(mode: int) -> str:
    """Return the ten characters of `ls -l`."""
    text = list(type_letter(mode))
    for shift, special, letters in ((6, 0o4000, "sS"), (3, 0o2000, "sS"), (0, 0o1000, "tT")):
        bits = mode >> shift & 7
        text.append("r" if bits & 4 else "-")
        text.append("w" if bits & 2 else "-")
        if mode & special:
            text.append(letters[0] if bits & 1 else letters[1])
        else:
            text.append("x" if bits & 1 else "-")
    return "".join(text)


class _Change:
    """One action of a mode. `who` is a mask (0 if omitted), `operator` one of "+-=", `what` letters
    or bits. A directory keeps its set-ID bits unless `mentioned` contains them.
    """

    __slots__ = ("mentioned", "operator", "what", "who")

    def __init__(self, who: int, operator: str, what: str | int, mentioned: int = 0) -> None:
        self.who = who
        self.operator = operator
        self.what = what
        self.mentioned = mentioned or (
            0o6000 & (who or 0o7777) if isinstance(what, str) and "s" in what else 0
        )

    def apply(self, mode: int, directory: bool, umask: int) -> int:
        omitted = 0o6000 & ~self.mentioned if directory else 0
        bits = (
            (self._bits(mode, directory) if isinstance(self.what, str) else self.what)
            & (self.who or ~umask)
            & ~omitted
        )
        if self.operator == "+":
            return mode | bits
        if self.operator == "-":
            return mode & ~bits
        return mode & (omitted | (~self.who if self.who else 0)) | bits

    def _bits(self, mode: int, directory: bool) -> int:
        bits = 0
        for letter in str(self.what):
            if letter in _READ_WRITE:
                bits |= _READ_WRITE[letter]
            elif letter == "x" or (letter == "X" and (directory or mode & 0o111)):
                bits |= 0o111
            elif letter == "s":
                bits |= 0o6000
            elif letter == "t":
                bits |= 0o1000
            elif letter in _SHIFT:
                bits |= (mode >> _SHIFT[letter] & 7) * 0o111
        return bits


def compile_mode(text: str, umask: int) -> Callable[[int, bool], int] | None:
    """Return a function from (permissions, is a directory) to new permissions; None if invalid."""
    changes: list[_Change] = []
    octal = re.fullmatch(r"0*([0-7]{0,4})", text)
    if text and octal:
        value = int(octal[1] or "0", 8)
        changes.append(
            _Change(0o7777, "=", value, value & 0o6000 | 0o1777 if len(text) < 5 else 0o7777)
        )
    for clause in text.split(",") if not changes else ():
        found = _CLAUSE.match(clause)
        if found is None:
            return None
        who = 0
        for letter in found[1]:
            who |= _WHO[letter]
        for action in _ACTION.finditer(found[2]):
            if not action[2][:1].isdigit():
                changes.append(_Change(who, action[1], action[2]))
            elif found[1] or len(action[2].lstrip("0")) > 4:
                return None
            else:
                changes.append(_Change(0o7777, action[1], int(action[2], 8), 0o7777))

    def adjust(mode: int, directory: bool) -> int:
        mode &= 0o7777
        for change in changes:
            mode = change.apply(mode, directory, umask)
        return mode

    return adjust
