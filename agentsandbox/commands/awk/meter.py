"""The limits of a running awk program: steps, the memory of its arrays and texts, its output.

Steps are drawn in loops and functions (`tick`, `enter`). Memory is estimated: now and then an
*audit* counts the elements of all arrays and judges the size of their texts by the newest ones; a
text above `ACCOUNTED` characters is charged when it is made. When much fresh text has been made, an
audit measures everything.
"""

from __future__ import annotations

from itertools import islice

from agentsandbox.commands.awk.values import Array, Strnum, Unset
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.budget import VALUES
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar
    from weakref import WeakValueDictionary

    from agentsandbox.commands.awk.channels import Channels
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.accounts import Scale

    T = TypeVar("T")

FLUSH_CHARACTERS = 65536
ACCOUNTED = 4096
"""Characters of a text above which its making is accounted."""
_ELEMENT = 50
"""Bytes of an element of an array without its texts."""
ARRAY_SHARE = 16
"""What an element of an array costs of `value_bytes`."""
AUDIT_CHARACTERS = 8 * 1024 * 1024
"""Characters of fresh text after which an audit measures everything."""
AUDIT_SAMPLE = 64
"""Elements of an array by which an audit judges the size of the others."""
AUDIT_LIMITS = 4
"""Arrays may hold `value_bytes` of text this many times."""
_FEW = 3
"""The number of texts that a call of a function is taken to hold."""
_TEXTS = frozenset((str, Strnum))
_NUMBERS = frozenset((float, Unset))


class Meter:
    """The budget, the arrays and the output of one run."""

    channels: Channels | None = None
    """The files and pipes, if the program may use any."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx
        self.budget = ctx.budget
        self.arrays: dict[str, Array] = {}
        self.out: list[str] = []
        self.out_size = 0
        self._fresh = 0
        self._ticks = 0
        self._local = 0
        self._locals: WeakValueDictionary[int, Array] | None = None
        """The arrays of functions that are running, numbered; None before the first of them."""
        self._nested: list[tuple[int, int, int]] = []
        """For each running call that made large texts: its depth, the bytes that count for it, and
        the size of its largest text."""
        self._waiting = 0
        """The bytes that count for all of them."""

    def enter(self) -> bool:
        """Check the limits at the start of a function; whether it must `go_on` on a new stack."""
        budget = self.budget
        if budget.depth > budget.max_depth:
            budget.depth -= 1
            raise LimitReached("depth")
        if budget.left < 0:
            budget.tick()
            self.audit()
        return budget.depth > budget.stack_end

    def go_on(self, function: Callable[..., T], *arguments: object) -> T:
        """Begin a call again on a new stack."""
        self.budget.depth -= 1
        return self.budget.enter(lambda: function(*arguments))

    def tick(self) -> int:
        """Account for 250 rounds of a loop; return the number of rounds until the next call."""
        self.budget.step(250)
        self._ticks += 1
        if self.out_size > FLUSH_CHARACTERS or len(self.out) > 2000:
            self.flush_output()
        if self._ticks % 16 == 0:
            self.audit()
        return 250

    def account(self, size: int) -> None:
        """Account for a large text that was made."""
        self.budget.charge(size)
        self._nest(size)
        self.budget.step(size // 4096)
        self._fresh += size
        if self._fresh > AUDIT_CHARACTERS:
            self._fresh = 0
            self.audit(measure=True)

    def audit(self, measure: bool = False) -> None:
        """Refuse arrays that hold too many elements or too much text."""
        elements, characters = self._count(measure)
        self.budget.charge(elements * ARRAY_SHARE)
        if characters // AUDIT_LIMITS > self.budget.value_bytes:
            if measure:
                self.budget.charge(characters // AUDIT_LIMITS)
            else:
                self.audit(measure=True)

    def _count(self, measure: bool) -> tuple[int, int]:
        """Return the number of elements of all arrays, and of characters held."""
        elements = 0
        pending, characters = self._held()
        while pending:
            array = pending.pop()
            elements += len(array)
            if not measure and len(array) > AUDIT_SAMPLE:
                size = 0
                for key in islice(reversed(array), AUDIT_SAMPLE):
                    value = array[key]
                    size += len(key) + (len(value) if isinstance(value, str) else 0)
                characters += size * len(array) // AUDIT_SAMPLE
            elif elements < 2_000_000:
                characters += sum(map(len, array.names()))
                kinds = set(map(type, array.values()))
                if kinds <= _TEXTS:
                    characters += sum(map(len, array.values()))  # type: ignore[arg-type]
                elif not kinds <= _NUMBERS:
                    characters += sum(
                        [len(value) for value in array.values() if isinstance(value, str)]
                    )
                    pending += [value for value in array.values() if isinstance(value, Array)]
        return elements, characters

    def local(self, name: str) -> Array:
        """Return a new array of a function call; it counts until the call ends."""
        if self._locals is None:
            from weakref import WeakValueDictionary

            self._locals = WeakValueDictionary()
        array = self._locals[self._local] = Array(name)
        self._local += 1
        return array

    def _held(self) -> tuple[list[Array], int]:
        """Return all arrays, and the characters that running functions may hold."""
        of_functions = () if self._locals is None else self._locals.values()
        found = {id(array): array for array in (*self.arrays.values(), *of_functions)}
        return list(found.values()), self._waiting

    def _nest(self, size: int) -> None:
        """Count a large text for the call that made it, until a call further out makes one."""
        nested, depth = self._nested, self.budget.depth
        while nested and nested[-1][0] > depth:
            self._waiting -= nested.pop()[1]
        if not nested or nested[-1][0] < depth:
            nested.append((depth, 0, 0))
        _, counted, largest = nested.pop()
        largest = max(largest, size)
        now = min(counted + size, _FEW * largest)
        nested.append((depth, now, largest))
        self._waiting += now - counted
        if self._waiting > VALUES * self.budget.value_bytes:
            raise LimitReached("value_bytes")

    def weigh(self, scale: Scale) -> None:
        """Add what the program and its input hold to the scale."""
        elements, characters = self._count(measure=True)
        scale.total += characters + _ELEMENT * elements
        for value in list(self.__dict__.values()):
            if isinstance(value, (str, list)):
                scale.add(value)

    def read_ahead(self, size: int) -> None:
        """Account for characters of input that were read."""
        self._fresh += size
        if self._fresh > AUDIT_CHARACTERS:
            self._fresh = 0
            self.audit(measure=True)

    # output

    def write(self, text: str) -> None:
        """Write to standard output, when enough is collected."""
        self.out.append(text)
        self.out_size += len(text)
        if self.out_size > FLUSH_CHARACTERS:
            self.flush_output()

    def flush_output(self) -> None:
        """Write what print statements have collected."""
        if self.out:
            data = encode("".join(self.out))
            self.out.clear()
            self.out_size = 0
            self.ctx.stdout.write(data)
