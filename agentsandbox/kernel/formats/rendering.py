"""One run of a format of `printf` over its arguments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from agentsandbox.kernel.budget import Budget

    class Piece(Protocol):
        """A directive, or a mistake that is reported in its place.

        `takes` is the number of directives that it counts as, 1 or 0.
        """

        takes: int

        @property
        def convert(self) -> Callable[[Rendering, Any], bytes]:
            """The function from the run and the piece to its bytes."""


class Format:
    """A compiled format. `pieces` are text and directives in order; `directives` counts these."""

    __slots__ = ("directives", "pieces")

    def __init__(self, pieces: Sequence[bytes | Piece], directives: int) -> None:
        self.pieces = tuple(pieces)
        self.directives = directives


class Rendering:
    """One run of a format over its arguments."""

    def __init__(
        self,
        format: Format,
        arguments: Sequence[str],
        warn: Callable[[str], None],
        budget: Budget,
        *,
        now: float = 0.0,
        started: float = 0.0,
        zone: str = "UTC0",
        assign: Callable[[str, int], None] | None = None,
        in_bytes: bool = False,
        quote: Callable[[str], str] | None = None,
    ) -> None:
        self.format = format
        self.arguments = arguments
        self.position = 0
        self.warn = warn
        self.budget = budget
        self.now = now
        self.started = started
        self.zone = zone
        self.assign = assign
        self.in_bytes = in_bytes
        """Whether `%q` shows non-ASCII characters byte by byte, as in the locale C."""
        self.quote = quote
        """How `%q` quotes a text; None for the shell's manner."""
        self.output: list[bytes] = []
        self.size = 0
        self.failed = False
        self.stopped = False

    def run(self) -> tuple[bytes, int]:
        """Render until all arguments are used."""
        count = len(self.arguments)
        while True:
            before = self.position
            self._pass()
            self.budget.step()
            if self.stopped or self.position >= count or self.position == before:
                break
        return b"".join(self.output), int(self.failed)

    def _pass(self) -> None:
        output = self.output
        for piece in self.format.pieces:
            if type(piece) is bytes:
                output.append(piece)
                self.size += len(piece)
                continue
            assert not isinstance(piece, bytes)
            text = piece.convert(self, piece)
            output.append(text)
            self.size += len(text)
            if self.stopped:
                break
        self.budget.charge(self.size)

    def next_argument(self) -> str | None:
        """Return the next argument, or None after the last one."""
        if self.position >= len(self.arguments):
            return None
        argument = self.arguments[self.position]
        self.position += 1
        return argument
