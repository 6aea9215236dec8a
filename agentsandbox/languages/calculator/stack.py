"""dc's machine: a stack of numbers and strings, 256 registers with stacks of their own, and commands of one letter."""

from __future__ import annotations

import re
from decimal import Decimal

from agentsandbox.errors import LimitReached
from agentsandbox.languages.calculator.numbers import ONE, ZERO, Arithmetic, CalculationError, format_number, scale_of
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
_BLANKS = re.compile(r"[ \t\n]*")
_LETTER = re.compile("[A-F]")
_NUMBER = re.compile(r"[0-9A-F]*(?:\.[0-9A-F]*)?")


class _Quit(Exception):
    """`q` that leaves everything."""


class _EndOfFileError(Exception):
    """A file ends where the name of a register should be: GNU dc gives up."""


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
        self.strings: list[tuple[str, int, int]] = []
        """What goes on when the string that runs has ended: text, position, depth."""
        self.tail_depth = 0
        """How many strings the one that runs stands for: those whose last command was to run it; 0 for a file."""
        self.unknown: list[str] = []
        """What was said of unknown commands since something was printed last."""
        self.text = ""
        self.position = 0
        self.is_input = False
        self.output = Output(ctx.stdout)
        length = ctx.env.get("DC_LINE_LENGTH", "")
        self.line_length = int(length) if length.isdecimal() and len(length) < 9 and int(length) not in (1, 2) else 70

    # running

    def run(self, text: str, *, is_string: bool = False, is_input: bool = False) -> int | None:
        """Run a file, standard input or a string; the status when it has ended everything."""
        self.text, self.position = text, 0
        self.is_input = is_input
        self.tail_depth = int(is_string)
        self.strings = []
        budget = self.ctx.budget
        try:
            while True:
                if self.position >= len(self.text):
                    if not self.strings:
                        return None
                    self._return()
                    continue
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                self._command()
        except _Quit:
            return 0 if is_string else 1
        except _EndOfFileError:
            self.complain("unexpected EOF")
            return 1

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
        if self.input_base == 10 and not (_LETTER.search(whole) or _LETTER.search(fraction)):
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
            if not self.tail_depth:
                raise _EndOfFileError
            raise _Trouble("unexpected EOS")
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

    def runtime_message(self, message: str) -> None:
        """What the arithmetic itself says; the command goes on."""
        self.output.flush()
        self.ctx.stderr.write(encode(f"Runtime {message}\n"))

    def power(self) -> None:
        def calculate(base: Decimal, exponent: Decimal) -> Decimal:
            if scale_of(exponent):
                self.runtime_message("warning: non-zero scale in exponent")
            if abs(exponent) >= 2**31:
                self.runtime_message("error: exponent too large in raise")
                return ONE
            if not base and exponent < 0:
                return ZERO
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
            return
        for name, number in (("base", base), ("exponent", exponent), ("modulus", modulus)):
            if scale_of(number):
                self.runtime_message(f"warning: non-zero scale in {name}")
        self.items[-3:] = [self.arithmetic.modular_power(base, exponent, modulus, self.precision)]

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
        count = 0 if isinstance(item, str) else self.small(item)
        size = min(abs(count), len(self.items))
        if size < 2 or count == -(2**31):
            return
        part = self.items[-size:]
        self.items[-size:] = part[1:] + part[:1] if count > 0 else part[-1:] + part[:-1]

    def store(self) -> None:
        name = self.next_character()
        self.register(name).value = self.pop()

    def load(self) -> None:
        self.push(self._content(self.next_character()))

    def _content(self, name: str) -> Item:
        """What a register holds."""
        stack = self.registers.get(name)
        if not stack:
            return ZERO
        value = stack[-1].value
        if value is None:
            raise _Trouble(f"BUG: register {_shown(name)} exists but is uninitialized?")
        return value

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

    def small(self, item: Item) -> int:
        """A number as one of 32 bits, as GNU dc reads it; -1 for what is too large or, though not 0, less than 1."""
        if isinstance(item, str):
            return -1
        size = int(abs(item)) if item.adjusted() < 10 else 2**32
        number = (((-size if item < 0 else size) + 2**31) % 2**32 - 2**31) if size <= 2**31 + 1 else 0
        if not number and item:
            self.complain("value overflows simple integer; punting...")
            return -1
        return number

    def store_element(self) -> None:
        name = self.next_character()
        index, value = self.small(self.pop()), self.pop()
        if index < 0:
            raise _Trouble("array index must be a nonnegative integer")
        array = self.register(name).array
        self.ctx.budget.charge(len(array) * 16)
        array[index] = value

    def load_element(self) -> None:
        name = self.next_character()
        index = self.small(self.pop())
        if index < 0:
            raise _Trouble("array index must be a nonnegative integer")
        stack = self.registers.get(name)
        self.push(stack[-1].array.get(index, ZERO) if stack else ZERO)

    # settings and measures

    def _setting(self, lowest: int, highest: int, message: str) -> int:
        number = self.small(self.pop())
        if not lowest <= number <= highest:
            raise _Trouble(message)
        return number

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
        self.push(decode(bytes([self.small(item) & 255])))

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
        if self.tail_depth and not self.text[self.position : self.position + 1].strip(" \t\n"):
            self.position = _BLANKS.match(self.text, self.position).end()  # type: ignore[union-attr]
        if self.tail_depth and self.position >= len(self.text):
            self.tail_depth += 1
        else:
            if len(self.strings) >= self.ctx.budget.max_depth * 50:
                raise LimitReached("depth")
            self.strings.append((self.text, self.position, self.tail_depth))
            self.tail_depth = 1
        self.text, self.position = text, 0

    def compare(self, test: Callable[[Decimal, Decimal], bool]) -> None:
        """Run a register when `test(top, second)`; where there are no two numbers they count as equal."""
        name = self.next_character()
        try:
            left, right = self.two_numbers()
            del self.items[-2:]
        except _Trouble as trouble:
            self.complain(str(trouble))
            left = right = ZERO
        if test(right, left):
            item = self._content(name)
            if isinstance(item, str):
                self.enter(item)
            else:
                self.push(item)

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
        """A line of input, run as a program: where the program is the input, what follows in it."""
        self.output.flush()
        line = self._rest_of_line() or decode(self.ctx.stdin.readline())
        if line:
            self.enter(line)

    def _rest_of_line(self) -> str:
        if not self.is_input:
            return ""
        text, position, _ = self.strings[0] if self.strings else (self.text, self.position, 0)
        end = text.find("\n", position) + 1 or len(text)
        if self.strings:
            self.strings[0] = (text, end, 0)
        else:
            self.position = end
        return text[position:end]

    def comment(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def quit(self) -> None:
        self._leave(1, ends=True)

    def quit_levels(self) -> None:
        levels = self.small(self.pop())
        if levels < 1:
            raise _Trouble("Q command requires a number >= 1")
        self._leave(levels - 1, ends=False)

    def _leave(self, levels: int, *, ends: bool) -> None:
        """Leave the string that runs and as many more; one with others at its end goes on, as in GNU dc, when they are too few."""
        if self.tail_depth:
            if levels < self.tail_depth:
                self.tail_depth -= levels
                return
            levels -= self.tail_depth
            while self.strings:
                self._return()
                if not self.tail_depth or not levels:
                    break
                levels -= 1
            else:
                levels = -1
            if self.tail_depth:
                self.position = len(self.text)
                if levels < 0 and ends:
                    raise _Quit
                return
        if ends:
            raise _Quit
        self.complain("Q command argument exceeded string execution depth")

    def _return(self) -> None:
        """Go on where the string that runs was called."""
        self.text, self.position, self.tail_depth = self.strings.pop()


def _shown(character: str) -> str:
    """A character and its code, as dc's messages have them."""
    code = encode(character)[0]
    return f"'{character}' (0{code:o})" if 32 < code < 127 else f"0{code:o}"


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
