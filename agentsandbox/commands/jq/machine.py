"""What one run of a jq program can see and use: budget, environment, inputs, clock, diagnostics."""

from __future__ import annotations

from agentsandbox.commands._json.json_text import JsonError
from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.weight import weigh
from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeVar

    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget

    T = TypeVar("T")

_WEIGHT = 12
"""So many values of the largest size may all that a program keeps take together."""

_STACK = 300
"""Python frames of recursive functions that go on one stack."""

_NO_MORE = object()

_FRAMES = 9000
"""Generators within generators take stack of the host's thread: half of what 8 MiB bear."""

_WAITING = 50_000
"""Suspended calls: each takes some ten µs when the program is ended."""


class Break(Exception):
    """`break $label`: unwinds to the `label` that made the token."""

    def __init__(self, token: object) -> None:
        self.token = token
        super().__init__()


class Halt(Exception):
    """`halt` and `halt_error`: prints `message` to stderr and ends the program with a status."""

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
        self.more_inputs: Callable[[], Iterator[Value]] = lambda: iter(())
        """What there is behind an input that was wrong."""
        self.filename: Callable[[], str | None] = lambda: None
        self.line: Callable[[], int] = lambda: 0
        self.frames = 0
        """Python frames that recursion takes now, roughly."""
        self.stack_end = _STACK
        """As many of them fit on the stack at work."""
        self.waiting = 0
        self.made = 0
        """Memory allocated since values were weighed, in pieces of 16 bytes."""
        self.roots: list[tuple[Value, ...]] = []
        """A stack of the values that the running expressions build and can still see."""
        self.suspended: dict[object, tuple[Value, ...]] = {}
        """The same of expressions that wait between two outputs."""
        self._slice = budget.value_bytes // 4

    def deeper(self, frames: int) -> None:
        """A call nests so many frames deeper; the caller takes them back."""
        self.frames += frames
        if self.frames > _FRAMES:
            self.frames -= frames
            raise LimitReached("depth")

    def on_fresh_stack(self, function: Callable[[], T]) -> T:
        """Go on with a call for which the stack at work has no room."""
        end = self.stack_end
        self.stack_end = self.frames + _STACK
        try:
            return self.budget.on_fresh_stack(function)
        finally:
            self.stack_end = end

    def _from_fresh_stack(self, outputs: Iterable[T]) -> Iterator[T]:
        """The same outputs, each made on a fresh stack."""
        iterator = iter(outputs)
        while (output := self.on_fresh_stack(lambda: next(iterator, _NO_MORE))) is not _NO_MORE:
            yield output  # type: ignore[misc]  # an output, not the mark

    def nested(self, outputs: Iterable[T], frames: int, *roots: Value) -> Iterator[T]:
        """Yield the outputs; `frames` counts while one is made, and `roots` are kept for them."""
        self.budget.step()
        self.deeper(frames)
        self.waiting += 1
        if self.waiting > _WAITING:
            self.frames -= frames
            self.waiting -= 1
            raise LimitReached("depth")
        if self.frames > self.stack_end:
            outputs = self._from_fresh_stack(outputs)
        running = True
        token = object()
        if roots:
            self.suspended[token] = roots
        try:
            for output in outputs:
                self.frames -= frames
                running = False
                yield output
                self.frames += frames
                running = True
        finally:
            self.waiting -= 1
            self.suspended.pop(token, None)
            if running:
                self.frames -= frames

    def hold(self, pieces: int) -> None:
        """Count new pieces of 16 bytes; when they are many, weigh all that is still in use."""
        self.made += pieces
        if self.made > self._slice:
            self.made = 0
            most = _WEIGHT * self.budget.value_bytes
            if weigh((*self.roots, *self.suspended.values()), most, self.budget) > most:
                raise LimitReached("value_bytes")

    def charge_text(self, size: int) -> None:
        """Refuse a string that is too long, and count it."""
        self.budget.charge(size)
        self.hold(size >> 4)

    def next_input(self) -> Value:
        """The next value of the input; the error "break" at the end."""
        try:
            for value in self.inputs:
                return value
        except JsonError as error:
            self.inputs = self.more_inputs()
            raise JqError(str(error)) from None
        raise JqError("break")
