"""What one run of a jq program can see and use: budget, environment, inputs, clock, diagnostics."""

from __future__ import annotations

from agentsandbox.errors import LimitReached
from agentsandbox.languages.jq.values import JqError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeVar

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

    T = TypeVar("T")

__all__ = ["Break", "Halt", "Machine"]


_FRAMES = 9000
"""Generators within generators take stack of the host's thread: half of what 8 MiB bear."""


class Break(Exception):
    """`break $label`: unwinds to the `label` that made the token."""

    def __init__(self, token: object) -> None:
        self.token = token
        super().__init__()


class Halt(Exception):
    """`halt` and `halt_error`: ends the program with a status, after printing `message` to stderr."""

    def __init__(self, status: int, message: bytes = b"") -> None:
        self.status = status
        self.message = message
        super().__init__()


class Machine:
    """The world of one program. `named` holds what --arg and the like gave."""

    def __init__(
        self,
        budget: Budget,
        *,
        environment: Mapping[str, str],
        clock: Callable[[], float],
        warn: Callable[[str], None],
        named: dict[str, Value] | None = None,
    ) -> None:
        self.budget = budget
        self.environment = environment
        self.clock = clock
        self.warn = warn
        self.named = named or {}
        self.inputs: Iterator[Value] = iter(())
        self.filename: Callable[[], str | None] = lambda: None
        self.line: Callable[[], int | None] = lambda: None
        self.search_list: list[str] = []
        self.collecting = 0
        self.frames = 0
        """Python frames that recursion takes now, roughly."""
        self._held = 0
        self._most = budget.value_bytes // 4

    def deeper(self, frames: int) -> None:
        """A call nests so many frames deeper; the caller takes them back."""
        self.frames += frames
        if self.frames > _FRAMES:
            self.frames -= frames
            raise LimitReached("depth")

    def nested(self, outputs: Iterable[T], frames: int) -> Iterator[T]:
        """The same outputs; `frames` counts while they are being made, not while they are used."""
        self.budget.step()
        self.deeper(frames)
        running = True
        try:
            for output in outputs:
                self.frames -= frames
                running = False
                yield output
                self.frames += frames
                running = True
        finally:
            if running:
                self.frames -= frames

    # what one value may hold together, elements of inner arrays included

    def begin_collecting(self) -> None:
        """An array or a fold is being built: what is made meanwhile is held with it."""
        if not self.collecting:
            self._held = 0
        self.collecting += 1

    def end_collecting(self) -> None:
        """The array or fold is finished."""
        self.collecting -= 1

    def hold(self, elements: int) -> None:
        """Count elements (or 16-byte pieces) that were made."""
        self._held += elements
        if self._held > self._most:
            raise LimitReached("value_bytes")

    def charge_text(self, size: int) -> None:
        """Refuse a string that is too long, and count it while something is being built."""
        self.budget.charge(size)
        if self.collecting:
            self.hold(size >> 4)

    def next_input(self) -> Value:
        """The next value of the input; the error "No more inputs" at the end."""
        for value in self.inputs:
            return value
        raise JqError("No more inputs")
