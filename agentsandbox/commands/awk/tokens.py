"""The words of the language, tokens, and the pieces of text that they come from."""

from __future__ import annotations

from agentsandbox.commands.awk.modes import DEFAULT, EXTENSION_VARIABLES, Mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    class Lexer(Protocol):
        """The lexer, as what reads a longer token uses it."""

        has_extensions: bool
        line: int
        mode: Mode
        namespace: str
        position: int
        source: Source
        text: str
        warn: Callable[[str, int], None]

        def add(self, kind: str, value: str, start: int) -> None: ...
        def fail(self, start: int, error: AwkSyntaxError) -> bool: ...


KEYWORDS = frozenset(
    "BEGIN END BEGINFILE ENDFILE function func if else while do for in break continue next nextfile"
    " exit return delete getline print printf switch case default".split()
)
BUILTINS = frozenset(
    "length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand"
    " srand tolower toupper system close fflush strftime systime mktime asort asorti and or xor"
    " lshift rshift compl strtonum typeof isarray patsplit mkbool bindtextdomain dcgettext"
    " dcngettext".split()
)
OPERAND_ENDS = frozenset(
    ("NUMBER", "STRING", "ERE", "TYPED", "NAME", "BUILTIN", ")", "]", "++", "--")
)
_LINES = 1 << 32
"""More lines than a piece of program text has."""
COMMENT = "#"
"""The value of a newline behind a comment: it has the place of that."""
COLONS = "\u01c3"
"""What `::` is in the names of a tree: a letter of Python's that no name of awk has."""


def spelled(name: str) -> str:
    """Return a name of the tree as programs write it."""
    return name.removeprefix(COLONS).replace(COLONS, "::")


def internal(name: str, mode: Mode = DEFAULT) -> str:
    """Return a name as the tree has it; `awk::` is the same as none.

    A variable that is special in gawk only, and so is an ordinary one in this mode, gets a mark.
    """
    if mode.traditional:
        return COLONS + name if name in EXTENSION_VARIABLES else name
    return name.removeprefix("awk::").replace("::", COLONS)


class Source:
    """A piece of program text and the name messages give it: "cmd. line" or a file's."""

    __slots__ = ("base", "name", "text")

    def __init__(self, name: str, text: str, number: int = 0) -> None:
        self.name = name
        self.text = text
        self.base = number * _LINES
        """The line before its first one: no two pieces of a program share a line number."""

    def place(self, line: int) -> str:
        """Return how messages name the line of a token or node."""
        return f"{self.name}:{line - self.base}"


def place_of(sources: Sequence[Source], line: int) -> str:
    """As `Source.place`, for a line of any of them."""
    return sources[line // _LINES].place(line)


class AwkSyntaxError(Exception):
    """The program is wrong; `lines` are the messages, without the command's name."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        super().__init__(lines[0])


class Token:
    """A token with its place.

    `kind`   NUMBER, STRING, ERE, NAME, CALL (a name before its parenthesis), BUILTIN, NEWLINE, EOF,
             or the token's own text
    `error`  what is wrong at this place, where no token begins
    """

    __slots__ = ("error", "kind", "line", "position", "value")

    def __init__(
        self, kind: str, value: str, line: int, position: int, error: AwkSyntaxError | None = None
    ) -> None:
        self.kind = kind
        self.value = value
        self.line = line
        self.position = position
        self.error = error


def kind_of_name(name: str, text: str, end: int) -> str:
    """Return the kind of the token that a name ending there is."""
    if name in KEYWORDS:
        return "function" if name == "func" else name
    if name in BUILTINS:
        return "BUILTIN"
    return "CALL" if text.startswith("(", end) else "NAME"
