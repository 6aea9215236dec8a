"""A running bc: its variables, arrays, functions and settings, and what it writes."""

from __future__ import annotations

import re
from decimal import Decimal

from agentsandbox.commands.bc.numbers import (
    ZERO,
    Arithmetic,
    CalculationError,
    format_number,
    number_in_base,
    scale_of,
)
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.streams import LateWriter, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from agentsandbox.contract.command import CommandContext

    Array: TypeAlias = dict[int, Decimal]

_MOST_ELEMENTS = 2_000_000
_LARGEST_INDEX = 16_777_215
_LARGEST_EXPONENT = 2147483649
_MOST_CONSTANTS = 1000
_LONGEST_CONSTANT = 100
"""Constants up to this length are remembered: those of loops, for one."""


class HaltError(Exception):
    """`halt` ends the program."""


class StoppedError(Exception):
    """A reported run-time error ends the line."""


class Function:
    """A defined function. Parameters and autos are (name, whether it is an array)."""

    __slots__ = ("autos", "body", "name", "parameters")

    def __init__(self, name: str, parameters: list[tuple[str, bool]]) -> None:
        self.name = name
        self.parameters = parameters
        self.autos: list[tuple[str, bool]] = []
        self.body: Callable[[], str] = str


class Machine:
    """The state of a running bc."""

    def __init__(self, ctx: CommandContext, *, library: bool) -> None:
        self.ctx = ctx
        self.budget = ctx.budget
        self.arithmetic = Arithmetic(ctx.budget)
        self.library = library
        self.variables: dict[str, Decimal] = {}
        self.arrays: dict[str, Array] = {}
        self.functions: dict[str, Function] = {}
        self.settings = {"ibase": 10, "obase": 10, "scale": 20 if library else 0}
        self.last = ZERO
        self.returned = ZERO
        self.running = "(main)"
        self.output = LateWriter(ctx.stdout)
        self._constants: dict[str, Decimal] = {}
        self._elements = 0
        self._column = 0
        self._line_length = _line_length(ctx.env.get("BC_LINE_LENGTH"))

    # messages

    def complain(self, message: str) -> None:
        """Write a message of the language, without the command's name."""
        self.output.flush()
        self.ctx.stderr.write(encode(message + "\n"))

    def fail(self, message: str) -> StoppedError:
        """Report a run-time error."""
        self.complain(f"Runtime error (func={self.running}): {message}")
        return StoppedError()

    def warn(self, message: str) -> None:
        """Report a run-time warning."""
        self.complain(f"Runtime warning (func={self.running}): {message}")

    # output

    def write(self, text: str) -> None:
        """Write to standard output; a backslash breaks long lines."""
        limit = self._line_length
        if not limit or (self._column + len(text) < limit - 1 and "\n" not in text):
            self._column += len(text)
            self.output.write(encode(text))
            return
        for number, piece in enumerate(text.split("\n")):
            if number:
                self.output.write(encode("\n"))
                self._column = 0
            start = 0
            while self._column + len(piece) - start >= limit - 1:
                room = limit - 2 - self._column
                self.output.write(encode(piece[start : start + room] + "\\\n"))
                start += room
                self._column = 0
            self.output.write(encode(piece[start:]))
            self._column += len(piece) - start

    def print_value(self, value: Decimal, end: str = "") -> None:
        """Write a number in the output base, and remember it as `last`."""
        self.write(format_number(self.arithmetic, value, self.settings["obase"]) + end)
        self.last = value

    # values

    def constant(self, text: str) -> Decimal:
        """Return the value of a constant at the present input base."""
        value = self._constants.get(text)
        if value is None:
            value = number_in_base(self.arithmetic, text, self.settings["ibase"])
            if len(self._constants) < _MOST_CONSTANTS and len(text) < _LONGEST_CONSTANT:
                self._constants[text] = value
        return value

    def value(self, name: str) -> Decimal:
        """Return the value of a variable or a setting."""
        if name in self.settings:
            return Decimal(self.settings[name])
        return self.last if name == "last" else self.variables.get(name, ZERO)

    def assign(self, name: str, value: Decimal) -> None:
        """Assign a variable or a setting; settings stay within their bounds, with a warning."""
        if name == "last":
            self.last = value
        elif name in self.settings:
            self._set(name, value)
        else:
            self.variables[name] = value

    def _set(self, name: str, value: Decimal) -> None:
        """Assign a setting; fractions less than 1 are too large, as in GNU bc."""
        lowest = 0 if name == "scale" else 2
        highest = 36 if name == "ibase" else 2147483647
        number = int(value) if value.adjusted() < 30 else 10**30
        if value < 0:
            self.warn(f"negative {name}, set to {lowest}")
            number = lowest
        elif number > highest or (value and not number):
            self.warn(f"{name} too large, set to {highest}")
            number = highest
        elif number < lowest:
            self.warn(f"{name} too small, set to {lowest}")
            number = lowest
        self.settings[name] = number
        self._constants.clear()

    def array(self, name: str) -> Array:
        """Return an array, new if there is none of this name."""
        return self.arrays.setdefault(name, {})

    def index(self, name: str, index: Decimal) -> int:
        """Return an index as an integer. Raises `StoppedError`."""
        whole = int(index) if index.adjusted() <= 9 else -1
        if not 0 <= whole <= _LARGEST_INDEX or (index and not whole):
            raise self.fail(f"Array {name} subscript out of bounds.")
        return whole

    def put_element(self, name: str, index: int, value: Decimal) -> None:
        """Assign an element of an array; all elements together are limited."""
        array = self.array(name)
        if index not in array:
            self._elements += 1
            if self._elements > _MOST_ELEMENTS:
                raise LimitReached("value_bytes")
        array[index] = value

    def power(self, base: Decimal, exponent: Decimal) -> Decimal:
        """Return a power with an integer exponent."""
        if scale_of(exponent):
            self.warn("non-zero scale in exponent")
        if abs(exponent) > _LARGEST_EXPONENT:
            raise self.fail("exponent too large in raise")
        return self.arithmetic.raise_power(base, int(exponent), self.settings["scale"])

    # functions

    def call(self, function: Function, values: list[Decimal | Array]) -> Decimal:
        """Return what a function returns; its parameters and autos hide what has their names."""
        fresh: list[Decimal | Array] = [{} if is_array else ZERO for _, is_array in function.autos]
        names = [name for name, _is_array in [*function.parameters, *function.autos]]
        hidden = [
            (name, self._replace(name, value))
            for name, value in zip(names, [*values, *fresh], strict=True)
        ]
        caller, self.running = self.running, function.name
        self.returned = ZERO
        try:
            self.budget.step()
            signal = self.budget.nested(function.body)
        except CalculationError as error:
            raise self.fail(error.message) from None
        finally:
            self.running = caller
            for name, value in reversed(hidden):
                if isinstance(value, dict):
                    self.arrays[name] = value
                else:
                    self.variables[name] = value
        return self.returned if signal else ZERO

    def _replace(self, name: str, value: Decimal | Array) -> Decimal | Array:
        """Assign a parameter or an auto, and return the value that it hides."""
        if not isinstance(value, dict):
            before = self.variables.get(name, ZERO)
            self.variables[name] = value
            return before
        self.budget.charge(len(value) * 16)
        self.budget.step(len(value) // 8 + 1)
        hidden = self.array(name)
        self.arrays[name] = dict(value)
        return hidden


def _line_length(text: str | None) -> int:
    """Return the value of BC_LINE_LENGTH, as C's atoi reads it; 0 is no limit."""
    if text is None:
        return 70
    found = re.match(r"[ \t\n\v\f\r]*([+-]?[0-9]{1,9})", text)
    number = int(found[1]) if found is not None else 0
    return 0 if number == 0 else number if number > 2 else 70
