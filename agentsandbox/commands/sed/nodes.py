"""The parts of a sed script."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.regexps import PosixRegex


class SedError(Exception):
    """A script is wrong or cannot go on; `message` is what comes after "sed: "."""

    def __init__(self, message: str, status: int = 1) -> None:
        self.message = message
        self.status = status
        super().__init__(message)


class Address:
    """Where a command applies.

    `kind`  "line" (number), "last" ($), "step" (number~step), "regex" (None: the last one used), as
            second address also "plus" (+number) and "multiple" (~number), as first "zero"
            (0,/regex/).
    """

    __slots__ = ("kind", "number", "regex", "step")

    def __init__(
        self, kind: str, number: int = 0, step: int = 0, regex: PosixRegex | None = None
    ) -> None:
        self.kind = kind
        self.number = number
        self.step = step
        self.regex = regex


class Replacement:
    r"""The right side of `s`: text, group numbers and the letters of \L \U \l \u \E, in order."""

    __slots__ = ("bytewise", "pieces")

    def __init__(self, pieces: list[tuple[str, str | int]], *, bytewise: bool = False) -> None:
        self.pieces = pieces
        """("text", str), ("group", int) or ("case", letter)."""
        self.bytewise = bytewise
        """Whether characters are bytes; otherwise a NUL ends a change of letter case."""

    @property
    def text(self) -> str | None:
        """The replacement if it is the same for each match, else None."""
        if any(kind != "text" for kind, _ in self.pieces):
            return None
        return "".join([str(value) for _, value in self.pieces])

    def growth(self, length: int, shortest: int) -> int:
        """Return the most characters that a text of `length` can become.

        shortest  the fewest characters of a match
        """
        fixed = sum(len(str(value)) for kind, value in self.pieces if kind == "text")
        copies = sum(kind == "group" for kind, _ in self.pieces)
        return length + fixed * (length // max(1, shortest) + 1) + 3 * copies * length

    @property
    def highest_group(self) -> int:
        """The highest number of a group that is used."""
        return max((int(value) for kind, value in self.pieces if kind == "group"), default=0)


class Substitution:
    """What `s` does: `number` 0 means the first match; with `everywhere` all from that one on."""

    __slots__ = ("everywhere", "file", "number", "prints", "regex", "replacement")

    def __init__(self, regex: PosixRegex | None, replacement: Replacement) -> None:
        self.regex = regex
        self.replacement = replacement
        self.number = 0
        self.everywhere = False
        self.prints = False
        self.file: str | None = None


class Command:
    """One command. `target` is the index to jump to: after a block's end, at a label."""

    __slots__ = (
        "first", "label", "name", "negated", "number", "second", "substitution", "table", "target",
        "text",
    )  # fmt: skip

    def __init__(
        self, name: str, first: Address | None, second: Address | None, *, negated: bool
    ) -> None:
        self.name = name
        self.first = first
        self.second = second
        self.negated = negated
        self.text = ""
        """The text of a, i, c; the file of r and w."""
        self.number: int | None = None
        """The status of q and Q, the width of l."""
        self.label = ""
        self.target = 0
        self.substitution: Substitution | None = None
        self.table: dict[int, str] = {}


class Script:
    """A whole program."""

    __slots__ = ("commands", "quiet", "where")

    def __init__(self, commands: list[Command], where: str, *, quiet: bool) -> None:
        self.commands = commands
        self.where = where
        """The place that errors of the run name: the end of the last piece."""
        self.quiet = quiet
        """Whether the script began with "#n"."""
