"""Few ceilings, one meter.

`Limits` is what a sandbox may use, `Budget` what one execution has left. Every loop over untrusted length draws on the
budget, in the shell and in every command: a counter, and the clock every thousand steps. No asynchronous mechanism can
interrupt a single long C call, so whatever is charged here is charged before it is allocated.
"""

from __future__ import annotations

import math
import sys
from time import monotonic

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, Never

    LimitName = Literal["timeout", "steps", "depth", "output_bytes", "value_bytes", "processes", "cancelled"]
    """What may end a script: a field of `Limits`, or more than 256 processes at a time, or `Sandbox.cancel`.

    The other fields of `Limits` end no script: they are errors of the file that is written.
    """

__all__ = ["CANCELLED", "DEFAULT_LIMITS", "SLICE", "VALUES", "Budget", "Limits", "notice_of"]

SLICE = 1000
"""Steps between two looks at the clock."""

CANCELLED: Literal["cancelled"] = "cancelled"
"""The name of what ended a script that the host cancelled, in `ExecutionResult.limit`."""

VALUES = 6
"""So many values of the largest size may all variables together take."""

_MADE_IN_SLICE = 65536
"""What a slice of small steps may leave behind."""

_CENSUS_SHARE = 3
"""So many times as long as a census took is none taken."""

_MIB = 1024 * 1024


def notice_of(limit: LimitName) -> str:
    """Return the line that tells an agent why its script ended early."""
    return f"sandbox: stopped by the limit '{limit}' ({'D-depth' if limit == 'depth' else 'D-limit'})\n"


class Limits:
    """The ceilings of one sandbox; immutable. Every value must be positive and finite.

    timeout       seconds one `execute` may take                       → status 124
    steps         loop iterations, calls and lines of one `execute`    → 137
    depth         nesting of functions, substitutions, eval, sourcing  → 137
    output_bytes  stdout and stderr of one `execute` together          → 137
    file_bytes    one file                                             → EFBIG in the script
    total_bytes   all files of the sandbox together                    → ENOSPC in the script
    files         files, directories and links of the sandbox          → ENOSPC in the script
    value_bytes   one value: a variable, a word, a line, a string      → 137
                  (all variables together six times as much)
    """

    __slots__ = ("depth", "file_bytes", "files", "output_bytes", "steps", "timeout", "total_bytes", "value_bytes")

    def __init__(
        self,
        *,
        timeout: float = 30.0,
        steps: int = 50_000_000,
        depth: int = 1000,
        output_bytes: int = 16 * _MIB,
        file_bytes: int = 64 * _MIB,
        total_bytes: int = 128 * _MIB,
        files: int = 100_000,
        value_bytes: int = 16 * _MIB,
        **unknown: Never,
    ) -> None:
        for name in unknown:
            raise TypeError(f"Limits has no limit {name!r}: there are {', '.join(sorted(self.__slots__))}")
        given = {
            "timeout": timeout,
            "steps": steps,
            "depth": depth,
            "output_bytes": output_bytes,
            "file_bytes": file_bytes,
            "total_bytes": total_bytes,
            "files": files,
            "value_bytes": value_bytes,
        }
        for name, value in given.items():
            whole = name != "timeout"
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                raise TypeError(f"Limits.{name} takes {'an integer' if whole else 'a number'}, not {value!r}")
            if not 0 < value <= sys.float_info.max:  # which NaN is not, either
                raise ValueError(f"Limits.{name} must be positive and finite, not {value!r}")
            object.__setattr__(self, name, value)

    if TYPE_CHECKING:
        timeout: float
        steps: int
        depth: int
        output_bytes: int
        file_bytes: int
        total_bytes: int
        files: int
        value_bytes: int

    def __reduce__(self) -> tuple[Callable[..., Limits], tuple[dict[str, float]]]:
        return _remade, (self.as_dict(),)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Limits are immutable: use limits.replace({name}=…)")

    def replace(self, **changes: float) -> Limits:
        """The same limits but for `changes`."""
        return Limits(**{**self.as_dict(), **changes})  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, float]:
        """Every ceiling by its name."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(tuple(self.as_dict().items()))

    def __repr__(self) -> str:
        return f"Limits({', '.join(f'{name}={value}' for name, value in self.as_dict().items())})"


def _remade(ceilings: dict[str, float]) -> Limits:
    """Unpickle."""
    return DEFAULT_LIMITS.replace(**ceilings)


DEFAULT_LIMITS = Limits()


class Budget:
    """What one execution has left. Hot loops write `budget.left -= 1; if budget.left < 0: budget.tick()`.

    `left`   steps until the next look at the clock.
    `depth`  nesting now.
    `turn`   called at every look at the clock: lets other processes and the event loop run.
    `rest`   called between pieces of long work: lets the event loop run, where there is one.
    `cancelled`  whether `cancel` was called.
    `wake`   called by `cancel`, from any thread, while the execution sleeps.
    `weigh`  what all values of the scripts at work take together, asked for when much was made.
    `made`   bytes made since then, roughly.
    """

    __slots__ = (
        "_rest", "cancelled", "deadline", "depth", "left", "limits", "made", "max_depth", "rest", "spent", "turn", "value_bytes", "wake",
        "weigh",
    )  # fmt: skip

    def __init__(self, limits: Limits = DEFAULT_LIMITS, *, timeout: float | None = None) -> None:
        self.limits = limits
        self.value_bytes = limits.value_bytes
        self.max_depth = limits.depth
        seconds = limits.timeout if timeout is None else min(limits.timeout, timeout)  # in this order NaN does not count
        self.deadline = monotonic() + seconds
        self.left = SLICE
        self.spent = 0
        self.depth = 0
        self.cancelled = False
        self.wake: Callable[[], object] | None = None
        self.turn: Callable[[], None] | None = None
        self.rest: Callable[[], None] | None = None
        self.made = 0
        self._rest = 0.0
        self.weigh: Callable[[], int] | None = None

    def tick(self) -> None:
        """Count the slice that was used up, look at the clock and give others a turn."""
        self.spent += SLICE - self.left
        self.left = SLICE
        if self.spent > self.limits.steps:
            raise LimitReached("steps")
        self.check_time()
        self.make(_MADE_IN_SLICE)
        if self.turn is not None:
            self.turn()

    def check_time(self) -> None:
        """Raise if the deadline has passed."""
        if monotonic() > self.deadline:
            raise LimitReached("timeout")

    def cancel(self) -> None:
        """End the execution at its next step, or now if it sleeps. May be called from any thread."""
        self.cancelled = True
        self.deadline = -math.inf
        self.left = 0  # the next step looks at the clock; if it is counting right now, one of the next thousand does
        wake, self.wake = self.wake, None
        if wake is not None:
            wake()

    def remaining(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self.deadline - monotonic())

    def step(self, count: int = 1) -> None:
        """Draw `count` steps: one a line, an iteration, a match attempt."""
        self.left -= count
        if self.left < 0:
            self.tick()

    def breathe(self) -> None:
        """Let the event loop run between two pieces of a kernel: pieces of some milliseconds need no other checkpoint."""
        if self.rest is not None:
            self.rest()

    def charge(self, size: int) -> None:
        """Refuse a value of `size` bytes (or characters, or 16-byte elements) before it is made."""
        if size > self.value_bytes:
            raise LimitReached("value_bytes")
        self.made += size
        if self.made > 2 * self.value_bytes:
            self.take_census()

    def make(self, size: int) -> None:
        """Charge a value that will be kept for a while; what all of them take together is weighed now and then."""
        if size > self.value_bytes:
            raise LimitReached("value_bytes")
        self.left -= size >> 12
        if self.left < 0:
            self.tick()
        self.made += size
        if self.made > 2 * self.value_bytes:
            self.take_census()

    def take_census(self) -> None:
        """Weigh all values of the scripts at work; they may be too many even where none is too large."""
        now = monotonic()
        if self.weigh is None or now < self._rest:
            return
        self.made = 0
        total = self.weigh()
        after = monotonic()
        self._rest = after + _CENSUS_SHARE * (after - now)
        if total > VALUES * self.value_bytes:
            raise LimitReached("value_bytes")

    def deeper(self) -> None:
        """Enter one level of nesting; pair it with `shallower` in a `finally`."""
        self.depth += 1
        if self.depth > self.max_depth:
            raise LimitReached("depth")

    def shallower(self) -> None:
        """Leave one level of nesting."""
        self.depth -= 1
