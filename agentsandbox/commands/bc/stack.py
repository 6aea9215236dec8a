"""dc's machine: a stack of numbers and strings, registers, commands of one letter.

A string runs as a macro. A macro that the last command of another one calls replaces it, or loops
would nest without end. `q` leaves two macros, so each running text knows how many macros it has
replaced.
"""

from __future__ import annotations

import operator
import re
from decimal import Decimal

from agentsandbox.commands.bc.numbers import (
    ONE,
    ZERO,
    Arithmetic,
    CalculationError,
    digits_in_base,
    format_number,
    scale_of,
)
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.streams import LateWriter, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from agentsandbox.contract.command import CommandContext

    Item: TypeAlias = "Decimal | str"

MAX_ITEMS = 1_000_000
_LINE_LENGTH = 69
MACROS_PER_LEVEL = 50
"""The most running macros for each level of nesting that the budget allows."""
_PHRASES = {"Divide by zero": "divide by zero", "Modulo by zero": "remainder by zero"}
_BLANKS = re.compile(r"[ \t\n]*")
_NUMBER = re.compile(r"(_?)([0-9A-F]*+)\.?([0-9A-F]*+)")
_BRACKET = re.compile(r"[\[\]]")


class _Quit(Exception):
    """`q` ends dc."""


class _Trouble(Exception):
    """A command fails; the program continues after the message."""


class StackMachine:
    """The state of a running dc."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx
        self.arithmetic = Arithmetic(ctx.budget)
        self.items: list[Item] = []
        self.registers: dict[str, Item] = {}
        self.settings = {"k": 0, "i": 10, "o": 10}
        """The precision, the input base and the output base."""
        self.callers: list[tuple[str, int, int]] = []
        """The texts that continue after the running macro: text, position, number of macros."""
        self.text = ""
        self.position = 0
        self.macros = 0
        self.is_string = False
        self.output = LateWriter(ctx.stdout)

    # running

    def run(self, text: str, *, is_string: bool = False) -> int | None:
        """Run a file or a string; return the exit status if it has ended dc."""
        self.text, self.position, self.macros = text, 0, int(is_string)
        self.is_string = is_string
        self.callers = []
        try:
            while self.position < len(self.text) or self.callers:
                self.ctx.budget.step()
                if self.position < len(self.text):
                    self._command()
                else:
                    self._return()
        except _Quit:
            return 0 if is_string else 1
        return None

    def _command(self) -> None:
        character = self.text[self.position]
        if character in "0123456789ABCDEF._":
            self._number()
            return
        self.position += 1
        method = _COMMANDS.get(character)
        try:
            if method is not None:
                method(self)
            elif character not in " \t\n":
                raise _Trouble(f"{_shown(character)} unimplemented")
        except _Trouble as trouble:
            self.complain(str(trouble))
        except CalculationError as error:
            self.complain(error.message)

    def complain(self, message: str) -> None:
        """Write a message to standard error."""
        self.output.flush()
        self.ctx.stderr.write(encode(f"{self.ctx.name}: {message}\n"))

    def _number(self) -> None:
        found = _NUMBER.match(self.text, self.position)
        assert found is not None
        self.position = found.end()
        value = digits_in_base(self.arithmetic, found[2], found[3], self.settings["i"], 15)
        self.push(value.copy_negate() if found[1] and value else value)

    # the stack

    def push(self, item: Item) -> None:
        if len(self.items) >= MAX_ITEMS:
            raise LimitReached("value_bytes")
        self.items.append(item)

    def pop(self) -> Item:
        if not self.items:
            raise _Trouble("stack empty")
        return self.items.pop()

    def top(self) -> Item:
        if not self.items:
            raise _Trouble("stack empty")
        return self.items[-1]

    def swap(self) -> None:
        if len(self.items) > 1:
            self.items[-1], self.items[-2] = self.items[-2], self.items[-1]

    # output

    def show(self, item: Item, end: str = "") -> None:
        """Print an item; long numbers are broken with a backslash."""
        if isinstance(item, str):
            self.output.write(encode(item + end))
            return
        text = format_number(self.arithmetic, item, self.settings["o"])
        while len(text) > _LINE_LENGTH:
            self.output.write(encode(text[:_LINE_LENGTH] + "\\\n"))
            text = text[_LINE_LENGTH:]
        self.output.write(encode(text + end))

    def print_stack(self) -> None:
        for item in reversed(self.items):
            self.ctx.budget.step()
            self.show(item, "\n")

    # arithmetic

    def two_numbers(self) -> tuple[Decimal, Decimal]:
        """Return the two numbers on top, which stay there."""
        if len(self.items) < 2:
            raise _Trouble("stack empty")
        left, right = self.items[-2:]
        if isinstance(left, str) or isinstance(right, str):
            raise _Trouble("non-numeric value")
        return left, right

    def binary(self, calculate: Callable[[Decimal, Decimal], Decimal]) -> None:
        """Replace the two numbers on top by a result; they stay if there is none."""
        left, right = self.two_numbers()
        try:
            result = calculate(left, right)
        except CalculationError as error:
            raise _Trouble(_PHRASES.get(error.message, error.message)) from None
        self.items[-2:] = [result]

    def scaled(self, operation: Callable[[Decimal, Decimal, int], Decimal]) -> None:
        """Replace the two numbers on top; the operation takes the precision."""
        self.binary(lambda left, right: operation(left, right, self.settings["k"]))

    def power(self) -> None:
        def calculate(base: Decimal, exponent: Decimal) -> Decimal:
            if scale_of(exponent):
                self._runtime("warning: non-zero scale in exponent")
            if abs(exponent) >= 2**31:
                self._runtime("error: exponent too large in raise")
                return ONE
            if not base and exponent < 0:
                return ZERO
            return self.arithmetic.raise_power(base, int(exponent), self.settings["k"])

        self.binary(calculate)

    def _runtime(self, message: str) -> None:
        """Write a message of the arithmetic itself; the command continues."""
        self.output.flush()
        self.ctx.stderr.write(encode(f"Runtime {message}\n"))

    def square_root(self) -> None:
        item = self.pop()
        if isinstance(item, str):
            raise _Trouble("square root of nonnumeric attempted")
        if item < 0:
            raise _Trouble("square root of negative number")
        self.push(self.arithmetic.square_root(item, self.settings["k"]))

    # registers

    def next_character(self) -> str:
        """Return the name of a register, which follows its command."""
        if self.position >= len(self.text):
            raise _Trouble("unexpected EOS")
        self.position += 1
        return self.text[self.position - 1]

    def store(self) -> None:
        name = self.next_character()
        self.registers[name] = self.pop()

    def content(self, name: str) -> Item:
        """Return the value of a register, or 0 if it has none."""
        return self.registers.get(name, ZERO)

    # settings

    def small(self, item: Item) -> int:
        """Return an integer of 32 bits, or -1 for strings, fractions and other numbers."""
        if isinstance(item, str) or item.adjusted() > 9 or not -(2**31) < item < 2**31:
            return -1
        return int(item) if item == 0 or abs(item) >= 1 else -1

    def set(self, name: str, lowest: int, highest: int, message: str) -> None:
        number = self.small(self.pop())
        if not lowest <= number <= highest:
            raise _Trouble(message)
        self.settings[name] = number

    # control

    def string(self) -> None:
        start = self.position
        level = 1
        for found in _BRACKET.finditer(self.text, start):
            level += 1 if found[0] == "[" else -1
            if not level:
                self.push(self.text[start : found.start()])
                self.position = found.end()
                return
        self.push(self.text[start:])
        self.position = len(self.text)

    def execute(self, item: Item) -> None:
        """Run a string; a number goes onto the stack."""
        if not isinstance(item, str):
            self.push(item)
            return
        found = _BLANKS.match(self.text, self.position)
        if self.macros and found is not None and found.end() == len(self.text):
            self.macros += 1
        else:
            if len(self.callers) >= self.ctx.budget.max_depth * MACROS_PER_LEVEL:
                raise LimitReached("depth")
            self.callers.append((self.text, self.position, self.macros))
            self.macros = 1
        self.text, self.position = item, 0

    def compare(self, test: Callable[[Decimal, Decimal], bool]) -> None:
        """Run a register if `test(top, second)` holds."""
        name = self.next_character()
        second, top = self.two_numbers()
        del self.items[-2:]
        if test(top, second):
            self.execute(self.content(name))

    def comment(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def quit(self) -> None:
        """Leave the macro that runs and the one that called it, or everything."""
        levels = 2
        while self.macros and levels > 0:
            levels -= self.macros
            self._return()
        if levels > 0:
            raise _Quit

    def _return(self) -> None:
        """Continue where the running macro was called; the argument of -e counts as a macro."""
        if self.callers:
            self.text, self.position, self.macros = self.callers.pop()
        else:
            self.position, self.macros = len(self.text), 0


def _shown(character: str) -> str:
    """Return a character and its code, in the form of dc's messages."""
    code = encode(character)[0]
    return f"'{character}' (0{code:o})" if 32 < code < 127 else f"0{code:o}"


_COMMANDS: dict[str, Callable[[StackMachine], None]] = {
    "p": lambda machine: machine.show(machine.top(), "\n"),
    "n": lambda machine: machine.show(machine.pop()),
    "f": StackMachine.print_stack,
    "+": lambda machine: machine.binary(machine.arithmetic.add),
    "-": lambda machine: machine.binary(machine.arithmetic.subtract),
    "*": lambda machine: machine.scaled(machine.arithmetic.multiply),
    "/": lambda machine: machine.scaled(machine.arithmetic.divide),
    "%": lambda machine: machine.scaled(machine.arithmetic.remainder),
    "^": StackMachine.power,
    "v": StackMachine.square_root,
    "c": lambda machine: machine.items.clear(),
    "d": lambda machine: machine.push(machine.top()),
    "r": StackMachine.swap,
    "s": StackMachine.store,
    "l": lambda machine: machine.push(machine.content(machine.next_character())),
    "k": lambda machine: machine.set("k", 0, 2147483647, "scale must be a nonnegative number"),
    "i": lambda machine: machine.set(
        "i", 2, 16, "input base must be a number between 2 and 16 (inclusive)"
    ),
    "o": lambda machine: machine.set(
        "o", 2, 2147483647, "output base must be a number greater than 1"
    ),
    "K": lambda machine: machine.push(Decimal(machine.settings["k"])),
    "I": lambda machine: machine.push(Decimal(machine.settings["i"])),
    "O": lambda machine: machine.push(Decimal(machine.settings["o"])),
    "z": lambda machine: machine.push(Decimal(len(machine.items))),
    "[": StackMachine.string,
    "x": lambda machine: machine.execute(machine.pop()),
    "<": lambda machine: machine.compare(operator.lt),
    ">": lambda machine: machine.compare(operator.gt),
    "=": lambda machine: machine.compare(operator.eq),
    "#": StackMachine.comment,
    "q": StackMachine.quit,
}
