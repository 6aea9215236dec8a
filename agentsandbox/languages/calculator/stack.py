"""dc's machine: a stack of numbers and strings, 256 registers with stacks of their own, and commands of one letter."""

from __future__ import annotations

import re
from decimal import Decimal

from agentsandbox.errors import LimitReached
from agentsandbox.languages.calculator.numbers import ONE, ZERO, Arithmetic, CalculationError, format_number, scale_of, truncate
from agentsandbox.languages.calculator.output import Output
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from agentsandbox.command import CommandContext

    Item: TypeAlias = "Decimal | str"

__all__ = ["StackMachine"]

MAX_ITEMS = 1_000_000
_PHRASES = {"Divide by zero": "divide by zero", "Modulo by zero": "remainder by zero"}
_NUMBER = re.compile(r"[0-9A-F]*(?:\.[0-9A-F]*)?")


class _Quit(Exception):
    """`q` that leaves everything."""


class _Trouble(Exception):
    """A command cannot be done: a message, and on."""


class _Register:
    __slots__ = ("array", "value")

    def __init__(self, value: Item | None = None) -> None:
        self.value = value
        self.array: dict[int, Item] = {}


class StackMachine:
    """One dc."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx
        self.arithmetic = Arithmetic(ctx.budget)
        self.items: list[Item] = []
        self.registers: dict[str, list[_Register]] = {}
        self.precision = 0
        self.input_base = 10
        self.output_base = 10
        self.strings: list[tuple[str, int]] = []
        self.unknown: list[str] = []
        """What was said of unknown commands since something was printed last."""
        self.text = ""
        self.position = 0
        self.output = Output(ctx.stdout)
        length = ctx.env.get("DC_LINE_LENGTH", "")
        self.line_length = int(length) if length.isdecimal() and len(length) < 9 and int(length) not in (1, 2) else 70

    # running

    def run(self, text: str) -> bool:
        """Run a program; false when it has quit."""
        self.text, self.position = text, 0
        self.strings = []
        budget = self.ctx.budget
        try:
            while True:
                if self.position >= len(self.text):
                    if not self.strings:
                        return True
                    self.text, self.position = self.strings.pop()
                    continue
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                self._command()
        except _Quit:
            return False

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
                # GNU dc writes the first half of this message to one stream and the second to the other
                self.output.flush()
                for code in encode(character):
                    self.ctx.stderr.write(encode(f"{self.ctx.name}: "))
                    shown = f"'{chr(code)}' (0{code:o})" if 32 < code < 127 else f"0{code:o}" if code else "0"
                    self.unknown.append(f"{shown} unimplemented\n")
        except _Trouble as trouble:
            self.complain(str(trouble))
        except CalculationError as error:
            self.complain(error.message)

    def print_text(self, text: str) -> None:
        """Print what a command prints, which GNU dc flushes, unlike the second half of its message about unknown commands."""
        if self.unknown:
            text = "".join([*self.unknown, text])
            self.unknown.clear()
        self.output.write(text)

    def flush(self) -> None:
        """Write what is held back."""
        self.print_text("")
        self.output.flush()

    def complain(self, message: str) -> None:
        """A message; the program goes on."""
        self.output.flush()
        self.ctx.stderr.write(encode(f"{self.ctx.name}: {message}\n"))

    def _number(self) -> None:
        negative = self.text[self.position] == "_"
        start = self.position + negative
        found = _NUMBER.match(self.text, start)
        assert found is not None
        self.position = found.end()
        whole, _, fraction = found[0].partition(".")
        value = self._value(whole, fraction)
        self.push(value.copy_negate() if negative and value else value)

    def _value(self, whole: str, fraction: str) -> Decimal:
        """Digits beyond the base count for what they are."""
        if self.input_base == 10 and not re.search("[A-F]", whole + fraction):
            self.arithmetic.check(len(whole) + len(fraction))
            return Decimal(f"{whole or '0'}.{fraction}" if fraction else whole or "0")
        self.arithmetic.check(len(whole) + len(fraction), 20_000)
        number = 0
        for count, digit in enumerate(whole + fraction):
            if not count % 500:
                self.ctx.budget.step(count // 100 + 1)
            number = number * self.input_base + int(digit, 16)
        if not fraction:
            return Decimal(number)
        return self.arithmetic.divide(Decimal(number), Decimal(self.input_base ** len(fraction)), len(fraction))

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

    def next_character(self) -> str:
        """The name of a register."""
        if self.position >= len(self.text):
            raise _Trouble("unexpected end of input") if not self.strings else _Trouble("unexpected end of string")
        self.position += 1
        return self.text[self.position - 1]

    def register(self, name: str) -> _Register:
        """The top of a register, made when there is none."""
        stack = self.registers.setdefault(name, [])
        if not stack:
            stack.append(_Register())
        return stack[-1]

    # output

    def show(self, item: Item) -> None:
        """An item as `p` shows it."""
        if isinstance(item, str):
            self.print_text(item)
            return
        pieces: list[str] = []
        format_number(self.arithmetic, item, self.output_base, pieces.append)
        text = "".join(pieces)
        room = self.line_length - 1
        if self.line_length:
            while len(text) > room:
                self.print_text(text[:room] + "\\\n")
                text = text[room:]
        self.print_text(text)

    def print_top(self) -> None:
        self.show(self.top())
        self.print_text("\n")

    def print_and_drop(self) -> None:
        self.show(self.pop())

    def print_stack(self) -> None:
        for item in reversed(self.items):
            self.ctx.budget.step()
            self.show(item)
            self.print_text("\n")

    def print_bytes(self) -> None:
        """A string as it is; a number as the bytes it is made of."""
        item = self.pop()
        if isinstance(item, str):
            self.print_text(item)
            return
        self.arithmetic.check(abs(item.adjusted()) + 1, 20_000)
        number = abs(int(item))
        self.print_text(decode(number.to_bytes(max((number.bit_length() + 7) // 8, 1), "big")))

    # arithmetic

    def two_numbers(self) -> tuple[Decimal, Decimal]:
        """The two on top, left where they are."""
        if len(self.items) < 2:
            raise _Trouble("stack empty")
        left, right = self.items[-2:]
        if isinstance(left, str) or isinstance(right, str):
            raise _Trouble("non-numeric value")
        return left, right

    def binary(self, calculate: Callable[[Decimal, Decimal], Decimal]) -> None:
        """Replace the two numbers on top; they stay when it fails."""
        left, right = self.two_numbers()
        try:
            result = calculate(left, right)
        except CalculationError as error:
            raise _Trouble(_PHRASES.get(error.message, error.message)) from None
        del self.items[-2:]
        self.push(result)

    def add(self) -> None:
        self.binary(self.arithmetic.add)

    def subtract(self) -> None:
        self.binary(self.arithmetic.subtract)

    def multiply(self) -> None:
        self.binary(lambda left, right: self.arithmetic.multiply(left, right, self.precision))

    def divide(self) -> None:
        self.binary(lambda left, right: self.arithmetic.divide(left, right, self.precision))

    def remainder(self) -> None:
        self.binary(lambda left, right: self.arithmetic.divide_with_remainder(left, right, self.precision)[1])

    def divide_with_remainder(self) -> None:
        left, right = self.two_numbers()
        if not right:
            raise _Trouble("divide by zero")
        quotient, rest = self.arithmetic.divide_with_remainder(left, right, self.precision)
        self.items[-2:] = [quotient, rest]

    def power(self) -> None:
        def calculate(base: Decimal, exponent: Decimal) -> Decimal:
            if scale_of(exponent):
                self.output.flush()
                self.ctx.stderr.write(b"Runtime warning: non-zero scale in exponent\n")
            if not base and exponent < 0:
                return ZERO
            if exponent.adjusted() > 18:
                raise CalculationError("exponent too large in raise")
            return self.arithmetic.raise_power(base, int(exponent), self.precision)

        self.binary(calculate)

    def modular_power(self) -> None:
        if len(self.items) < 3:
            raise _Trouble("stack empty")
        base, exponent, modulus = self.items[-3:]
        if isinstance(base, str) or isinstance(exponent, str) or isinstance(modulus, str):
            raise _Trouble("non-numeric value")
        if not modulus:
            raise _Trouble("remainder by zero")
        if exponent < 0:
            raise _Trouble("negative exponent")
        self.items[-3:] = [self._modular_power(truncate(base, 0), truncate(exponent, 0), truncate(modulus, 0))]

    def _modular_power(self, base: Decimal, exponent: Decimal, modulus: Decimal) -> Decimal:
        self.arithmetic.check(abs(exponent.adjusted()), 2000)
        left = int(exponent)
        result = ONE
        power = self.arithmetic.divide_with_remainder(base, modulus, 0)[1]
        while left:
            self.ctx.budget.step()
            if left & 1:
                result = self.arithmetic.divide_with_remainder(self.arithmetic.multiply(result, power, 0), modulus, 0)[1]
            left >>= 1
            if left:
                power = self.arithmetic.divide_with_remainder(self.arithmetic.multiply(power, power, 0), modulus, 0)[1]
        return result

    def square_root(self) -> None:
        item = self.top()
        if isinstance(item, str):
            self.pop()
            raise _Trouble("square root of nonnumeric attempted")
        if item < 0:
            self.pop()
            raise _Trouble("square root of negative number")
        self.items[-1] = self.arithmetic.square_root(item, self.precision)

    # stack and registers

    def clear(self) -> None:
        self.items.clear()

    def duplicate(self) -> None:
        self.push(self.top())

    def swap(self) -> None:
        if len(self.items) > 1:
            self.items[-1], self.items[-2] = self.items[-2], self.items[-1]

    def rotate(self) -> None:
        item = self.pop()
        if isinstance(item, str):
            raise _Trouble("non-numeric value")
        count = int(item) if abs(item) < MAX_ITEMS else MAX_ITEMS
        size = min(abs(count), len(self.items))
        if size < 2:
            return
        part = self.items[-size:]
        self.items[-size:] = part[1:] + part[:1] if count > 0 else part[-1:] + part[:-1]

    def store(self) -> None:
        name = self.next_character()
        self.register(name).value = self.pop()

    def load(self) -> None:
        stack = self.registers.get(self.next_character())
        value = stack[-1].value if stack else None
        self.push(ZERO if value is None else value)

    def push_register(self) -> None:
        name = self.next_character()
        item = self.pop()
        stack = self.registers.setdefault(name, [])
        self.ctx.budget.charge(len(stack) * 16)
        stack.append(_Register(item))

    def pop_register(self) -> None:
        name = self.next_character()
        stack = self.registers.get(name)
        if not stack or stack[-1].value is None:
            raise _Trouble(f"stack register {_shown(name)} is empty")
        self.push(stack.pop().value)  # type: ignore[arg-type]

    def _index(self) -> int:
        item = self.pop()
        if isinstance(item, str) or item < 0:
            raise _Trouble("array index must be a nonnegative integer")
        return int(item) if item.adjusted() < 18 else 10**18

    def store_element(self) -> None:
        name = self.next_character()
        index = self._index()
        value = self.pop()
        array = self.register(name).array
        self.ctx.budget.charge(len(array) * 16)
        array[index] = value

    def load_element(self) -> None:
        name = self.next_character()
        index = self._index()
        stack = self.registers.get(name)
        self.push(stack[-1].array.get(index, ZERO) if stack else ZERO)

    # settings and measures

    def _setting(self, lowest: int, highest: int, message: str) -> int:
        item = self.pop()
        if isinstance(item, str) or not lowest <= item <= highest:
            raise _Trouble(message)
        return int(item)

    def set_precision(self) -> None:
        self.precision = self._setting(0, 2147483647, "scale must be a nonnegative number")

    def set_input_base(self) -> None:
        self.input_base = self._setting(2, 16, "input base must be a number between 2 and 16 (inclusive)")

    def set_output_base(self) -> None:
        self.output_base = self._setting(2, 2147483647, "output base must be a number greater than 1")

    def get_precision(self) -> None:
        self.push(Decimal(self.precision))

    def get_input_base(self) -> None:
        self.push(Decimal(self.input_base))

    def get_output_base(self) -> None:
        self.push(Decimal(self.output_base))

    def count_digits(self) -> None:
        item = self.pop()
        if isinstance(item, str):
            self.push(Decimal(len(encode(item))))
            return
        self.push(Decimal(max(item.adjusted() + 1 + scale_of(item), 1) if item else 1))

    def count_fraction(self) -> None:
        item = self.pop()
        self.push(ZERO if isinstance(item, str) else Decimal(scale_of(item)))

    def depth(self) -> None:
        self.push(Decimal(len(self.items)))

    def to_character(self) -> None:
        item = self.pop()
        if isinstance(item, str):
            self.push(item[:1])
            return
        self.push(decode(bytes([int(abs(item)) & 255 if item.adjusted() < 18 else 0])))

    # control

    def string(self) -> None:
        start = self.position
        level = 1
        for found in re.finditer(r"[\[\]]", self.text[start:]):
            level += 1 if found[0] == "[" else -1
            if not level:
                self.push(self.text[start : start + found.start()])
                self.position = start + found.end()
                return
        self.push(self.text[start:])
        self.position = len(self.text)

    def execute(self) -> None:
        item = self.pop()
        if isinstance(item, str):
            self.enter(item)
        else:
            self.push(item)

    def enter(self, text: str) -> None:
        """Run a string, then go on; a call at the very end of a string does not nest."""
        if self.position < len(self.text) or not self.strings:
            if len(self.strings) >= self.ctx.budget.max_depth * 50:
                raise LimitReached("depth")
            self.strings.append((self.text, self.position))
        self.text, self.position = text, 0

    def compare(self, test: Callable[[Decimal, Decimal], bool]) -> None:
        """Run a register when `test(top, second)`."""
        name = self.next_character()
        left, right = self.two_numbers()
        del self.items[-2:]
        if test(right, left):
            stack = self.registers.get(name)
            item = stack[-1].value if stack else None
            if isinstance(item, str):
                self.enter(item)
            else:
                self.push(ZERO if item is None else item)

    def bang(self) -> None:
        """A negated comparison, or a shell command."""
        following = self.text[self.position : self.position + 1]
        if following in ("<", ">", "="):
            self.position += 1
            tests: dict[str, Callable[[Decimal, Decimal], bool]] = {
                "<": lambda top, second: top >= second, ">": lambda top, second: top <= second, "=": lambda top, second: top != second,
            }  # fmt: skip
            self.compare(tests[following])
            return
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        command, self.position = self.text[self.position : end], end
        self.output.flush()
        self.ctx.run(["sh", "-c", command])

    def read(self) -> None:
        """A line of input, run as a program."""
        self.output.flush()
        line = decode(self.ctx.stdin.readline())
        if line:
            self.enter(line)

    def comment(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def quit(self) -> None:
        if len(self.strings) < 2:
            raise _Quit
        self._leave(2)

    def quit_levels(self) -> None:
        item = self.pop()
        if isinstance(item, str) or item < 1:
            raise _Trouble("Q command requires a number >= 1")
        if item > len(self.strings):
            self.complain("Q command argument exceeded string execution depth")
            if self.strings:
                self._leave(len(self.strings))
        elif item > 1:  # one level is none: so counts GNU dc
            self._leave(int(item))

    def _leave(self, levels: int) -> None:
        self.text, self.position = self.strings[-levels]
        del self.strings[-levels:]


def _shown(character: str) -> str:
    """A character and its code, as dc's messages have them."""
    code = encode(character)[0]
    return f"'{character}' (0{code:o})"


_COMMANDS: dict[str, Callable[[StackMachine], None]] = {
    "p": StackMachine.print_top, "n": StackMachine.print_and_drop, "f": StackMachine.print_stack, "P": StackMachine.print_bytes,
    "+": StackMachine.add, "-": StackMachine.subtract, "*": StackMachine.multiply, "/": StackMachine.divide,
    "%": StackMachine.remainder, "~": StackMachine.divide_with_remainder, "^": StackMachine.power, "|": StackMachine.modular_power,
    "v": StackMachine.square_root, "c": StackMachine.clear, "d": StackMachine.duplicate, "r": StackMachine.swap,
    "R": StackMachine.rotate, "s": StackMachine.store, "l": StackMachine.load, "S": StackMachine.push_register,
    "L": StackMachine.pop_register, ":": StackMachine.store_element, ";": StackMachine.load_element, "k": StackMachine.set_precision,
    "i": StackMachine.set_input_base, "o": StackMachine.set_output_base, "K": StackMachine.get_precision,
    "I": StackMachine.get_input_base, "O": StackMachine.get_output_base, "Z": StackMachine.count_digits,
    "X": StackMachine.count_fraction, "z": StackMachine.depth, "a": StackMachine.to_character, "[": StackMachine.string,
    "x": StackMachine.execute, "!": StackMachine.bang, "?": StackMachine.read, "#": StackMachine.comment, "q": StackMachine.quit,
    "Q": StackMachine.quit_levels,
    "<": lambda machine: machine.compare(lambda top, second: top < second),
    ">": lambda machine: machine.compare(lambda top, second: top > second),
    "=": lambda machine: machine.compare(lambda top, second: top == second),
}  # fmt: skip
