"""One meter for all that a script uses.

`Limits` is what a sandbox may use, `Budget` what one execution has left. Every loop over untrusted
length draws on the budget, in the shell and in every command: a counter, and the clock every
thousand steps. No asynchronous mechanism can interrupt a single long C call, so whatever is charged
here is charged before it is allocated.

Steps are no measure of time if one of them may copy 15 MB. So there is a second rule, by size:

* A C call over data of unknown size (a search, a replacement, a slice, a codec) is announced with
  `work(size)`. It draws steps in proportion, so that the clock is looked at before more than 2 MiB
  are touched, in one call or in many.
* Data of more than `PIECE` are cut, where the operation allows it: `pieces(data)` yields one piece
  after the other and calls `work` for each. A codec needs about a millisecond for a piece, a
  regular expression up to ten.
* Where only a whole text makes sense (the key of a version, IFS), a longer one is refused.
* A call into a mounted filesystem takes as long as many steps. The filesystem draws them itself
  (`pay`), without a turn for other processes, since it is at work.
* `charge` and `make`, which announce a value, count it as work, and `breathe` looks at the clock.
"""

from __future__ import annotations

from time import monotonic

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.accounts import Accounts, Held, Kept
from agentsandbox.limits import DEFAULT_LIMITS, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal, TypeVar

    from agentsandbox.errors import LimitName

    T = TypeVar("T")
    Data = TypeVar("Data", str, bytes, memoryview)

SLICE = 1000
"""Steps between two looks at the clock."""

PIECE = 1 << 18
"""Bytes or characters that one C call handles before the next look at the clock."""

WORK_SHIFT = 11
"""2 ** 11 bytes that a C call touches count as one step: a slice are 2 MiB."""

CANCELLED: Literal["cancelled"] = "cancelled"
"""The name of what ended a script that the host cancelled, in `ExecutionResult.limit`."""

VALUES = 6
"""All values together may take as much as this many of the largest size."""

_MADE_IN_SLICE = 65536
"""Bytes that a slice of small steps is taken to make."""

_WEIGHING_SHARE = 3
"""After a weighing of t seconds, wait 3 t before the next one, unless very much is made
meanwhile."""

LEVELS = 16
"""Levels of nesting per stack (`kernel.stacks`): 16 levels of 25 frames are 400 frames."""

FIRST_LEVELS = 8
"""Levels on the first stack, part of which the host has used already."""


def notice_of(limit: LimitName) -> str:
    """Return the line that tells an agent why its script ended early."""
    divergence = "D-depth" if limit == "depth" else "D-limit"
    return f"sandbox: stopped by the limit '{limit}' ({divergence})\n"


# TM-TIME-1, TM-TIME-6, TM-NEXT-2
class Budget:
    """What one execution has left.

    A session has one budget, which each execution begins anew (`renew`): what a background job
    keeps from one execution to the next stays the budget of the running one.

    Hot loops write `budget.left -= 1; if budget.left < 0: budget.tick()`.

    began      the time at which the execution began, by `monotonic`
    left       steps until the next look at the clock
    depth      current level of nesting
    stack_end  the level from which code must call `enter`
    fresh      calls a function on a stack that is nearly empty and returns its result
    turn       called at every look at the clock: runs other processes and the event loop
    whole      whether no other process may run at a look at the clock: words are being expanded or
               compared, and hold values that are not registered yet
    rest       called between pieces of long work: runs the event loop, if there is one
    cancelled  whether `cancel` was called
    called     whether `call` was called since the execution last slept
    wake       called by `call`, from any thread, while the execution sleeps
    accounts   what the running scripts hold; weighed after much was made
    input      what the running command has read and keeps
    made       bytes made since the last weighing, roughly
    larges     how often a large value was made: if it is as it was, none was
    """

    __slots__ = (
        "_first_levels", "_rest", "accounts", "began", "called", "cancelled", "deadline", "depth",
        "fresh", "input", "larges",
        "left", "limits", "made", "max_depth", "rest", "spent", "stack_end", "turn", "value_bytes",
        "wake", "whole",
    )  # fmt: skip

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        *,
        timeout: float | None = None,
        accounts: Accounts | None = None,
    ) -> None:
        self.limits = limits
        self.value_bytes = limits.value_bytes
        self.max_depth = limits.depth
        self._first_levels = min(limits.depth, FIRST_LEVELS)
        self.fresh: Callable[[Callable[[], Any]], Any] | None = None
        self.wake: Callable[[], object] | None = None
        self.turn: Callable[[], None] | None = None
        self.rest: Callable[[], None] | None = None
        self._rest = 0.0
        self.accounts = Accounts() if accounts is None else accounts
        self.renew(timeout)

    def renew(self, timeout: float | None = None) -> None:
        """Begin an execution of at most `timeout` seconds, with all that the limits allow."""
        limits = self.limits
        seconds = limits.timeout
        if timeout is not None and timeout < seconds:  # which NaN is not
            seconds = timeout
        self.began = began = monotonic()
        self.deadline = began + seconds
        self.left = SLICE
        self.depth = self.spent = self.made = self.larges = 0
        self.stack_end = self._first_levels
        self.cancelled = self.called = self.whole = False
        self.input: Held | None = None

    def tick(self) -> None:
        """Count the slice that was used up, look at the clock and give others a turn."""
        self.spent += SLICE - self.left
        self.left = SLICE
        if self.spent > self.limits.steps:
            raise LimitReached("steps")
        self.check_time()
        if self.whole:  # others get their turn at the first step after that
            self.spent -= SLICE
            self.left = 0
            if self.rest is not None:
                self.rest()
            return
        self.made += _MADE_IN_SLICE
        if self.made > 2 * self.value_bytes:
            self.weigh()
        if self.turn is not None:
            self.turn()

    def check_time(self) -> None:
        """Raise if the deadline has passed."""
        if monotonic() > self.deadline:
            raise LimitReached("timeout")

    def cancel(self) -> None:
        """End the execution at its next step, or at once if it sleeps. Safe in any thread."""
        self.cancelled = True
        self.deadline = float("-inf")
        # The next step looks at the clock. If a step counts right now, one of the next thousand
        # does.
        self.left = 0
        self.call()

    def call(self) -> None:
        """Wake the execution if it sleeps, or when it would sleep next. Safe in any thread."""
        self.called = True
        wake, self.wake = self.wake, None
        if wake is not None:
            wake()

    def remaining(self) -> float:
        """Return the seconds until the deadline, never negative."""
        return max(0.0, self.deadline - monotonic())

    def step(self, count: int = 1) -> None:
        """Draw `count` steps: one for each line, iteration or attempt to match."""
        self.left -= count
        if self.left < 0:
            self.tick()

    def work(self, size: int) -> None:
        """Announce a C call that touches `size` bytes (or characters)."""
        self.left -= 1 + (size >> WORK_SHIFT)
        if self.left < 0:
            self.tick()

    def pay(self, count: int) -> None:
        """Draw `count` steps where no other process may run now, as within a filesystem."""
        self.left -= count
        if self.left < 0:  # others get their turn at the next step
            self.check_time()

    def pieces(self, data: Data) -> Iterator[Data]:
        """Yield the data in pieces of at most `PIECE`, with a look at the clock before each.

        Others get their turn afterwards, as with `make`: what is made of the pieces is not weighed.
        """
        if len(data) <= PIECE:
            yield data
            return
        for start in range(0, len(data), PIECE):
            self.left -= 1 + (PIECE >> WORK_SHIFT)
            self.breathe()
            yield data[start : start + PIECE]

    def breathe(self) -> None:
        """Look at the clock and let the event loop run.

        It is called between two pieces of long work of some milliseconds each.
        """
        self.check_time()
        if self.rest is not None:
            self.rest()

    def charge(self, size: int) -> None:
        """Refuse a value of `size` bytes (or characters, or 16-byte elements) before it is made."""
        if size > self.value_bytes:
            raise LimitReached("value_bytes")
        if size >= PIECE:
            self.larges += 1
            self.left -= size >> WORK_SHIFT  # others get their turn at the next step
            if self.left < 0:
                self.check_time()
        self.made += size
        if self.made > 2 * self.value_bytes:
            self.weigh()

    def make(self, size: int) -> None:
        """Charge a value that will be kept for a while, before it is made.

        Others get their turn afterwards: whoever waits here would hold a value that nobody weighs.
        """
        if size > self.value_bytes:
            raise LimitReached("value_bytes")
        self.larges += 1
        self.left -= size >> WORK_SHIFT
        if self.left < 0:
            self.check_time()
        self.made += size
        if self.made > 2 * self.value_bytes:
            self.weigh()

    def hold(self, size: int) -> Held:
        """Count `size` bytes for as long as the caller keeps the returned object."""
        held = Held(self.accounts, size)
        self.made += size
        if self.made > 2 * self.value_bytes:
            self.weigh()
        return held

    def hold_input(self, size: int) -> None:
        """Count at least `size` bytes of input for the running command, until it ends."""
        held = self.input
        if held is None:
            self.input = self.hold(size)
        elif size > held.size:
            self.made += size - held.size
            held.grow(size - held.size)

    def keep(self, holder: object) -> Kept:
        """Weigh `holder` (see `Scale.add`) for as long as the caller keeps the returned object."""
        return Kept(self.accounts, holder)

    def weigh(self) -> None:
        """Raise if the values of all running scripts together are too large."""
        now = monotonic()
        if now < self._rest and self.made <= 4 * self.value_bytes:
            return
        self.made = 0
        total = self.accounts.total()
        after = monotonic()
        self._rest = after + _WEIGHING_SHARE * (after - now)
        if total > VALUES * self.value_bytes:
            raise LimitReached("value_bytes")

    def begin_stack(self) -> None:
        """Count nesting from zero: a process begins on a stack of its own."""
        self.depth = 0
        self.stack_end = self._first_levels

    def enter(self, level: Callable[[], T]) -> T:
        """Return `level()`, which enters a level of nesting, on a fresh stack.

        The current stack is used up. Every recursive function of the shell begins like this:

          if budget.depth >= budget.stack_end:
              return budget.enter(lambda: this_function(…))
        """
        if self.depth >= self.max_depth:
            raise LimitReached("depth")
        end = self.stack_end
        self.stack_end = min(self.max_depth, self.depth + LEVELS)
        try:
            return self.on_fresh_stack(level)
        finally:
            self.stack_end = end

    def nested(self, level: Callable[[], T]) -> T:
        """Return `level()`, one level of nesting deeper."""
        if self.depth >= self.stack_end:
            return self.enter(lambda: self.nested(level))
        self.depth += 1
        try:
            return level()
        finally:
            self.depth -= 1

    def on_fresh_stack(self, function: Callable[[], T]) -> T:
        """Return `function()`, called on a stack that is nearly empty."""
        if self.fresh is None:
            return function()
        value: T = self.fresh(function)
        return value

    def deeper(self) -> None:
        """Enter one level of nesting; pair it with `shallower` in a `finally`."""
        self.depth += 1
        if self.depth > self.max_depth:
            raise LimitReached("depth")

    def shallower(self) -> None:
        """Leave one level of nesting."""
        self.depth -= 1
