"""bc's stack machine: runs the code that `program` makes."""

from __future__ import annotations

import re
from decimal import Decimal

from agentsandbox.commands.bc.library import LIBRARY, evaluate
from agentsandbox.commands.bc.numbers import (
    ONE,
    ZERO,
    Arithmetic,
    CalculationError,
    format_number,
    length_of,
    scale_of,
)
from agentsandbox.commands.bc.output import Output
from agentsandbox.commands.bc.program import BcSyntaxError, Code, Function, Parser, QuitError
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.contract.command import CommandContext

MAX_ELEMENTS = 2_000_000
MAX_INDEX = 16_777_215
_CONSTANTS = 1000
_SHORT = 100
"""So many constants are remembered, none of them longer: those of loops, for one."""
_LETTER = re.compile("[A-Z]")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "q": '"', "r": "\r", "t": "\t", "\\": "\\"}
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)


class _Halt(Exception):
    """`halt`, or the end that `quit` makes."""


class _Stopped(Exception):
    """A run-time error: the rest of the line is given up."""


class _Frame:
    __slots__ = ("code", "function", "place", "saved", "stack_height")

    def __init__(self, code: Code, function: str, stack_height: int) -> None:
        self.code = code
        self.function = function
        self.place = 0
        self.stack_height = stack_height
        self.saved: list[tuple[bool, str, object]] = []


def number_in_base(arithmetic: Arithmetic, text: str, base: int) -> Decimal:
    """A constant: a single digit before the point keeps its value in other bases than 10, of more
    each is cut to base - 1.
    """
    if len(text) == 1:
        return Decimal(int(text, 36))
    whole, _, fraction = text.partition(".")
    if base == 10 and not _LETTER.search(text):
        arithmetic.check(len(text))
        return Decimal(f"{whole or '0'}.{fraction}" if fraction else whole or "0")
    arithmetic.check(len(text), 20_000)
    keeps = len(whole) == 1 and base != 10
    value = int(whole, 36) if keeps else 0
    for count, character in enumerate(fraction if keeps else whole + fraction):
        if not count % 500:
            arithmetic.budget.step(count // 100 + 1)
        value = value * base + min(int(character, 36), base - 1)
    scale = len(fraction)
    if not scale:
        return Decimal(value)
    return arithmetic.divide(Decimal(value), Decimal(base**scale), scale)


class Machine:
    """Variables, arrays, functions and the three settings of a running bc."""

    def __init__(self, ctx: CommandContext, *, library: bool) -> None:
        self.ctx = ctx
        self.budget = ctx.budget
        self.arithmetic = Arithmetic(ctx.budget)
        self.library = library
        self.variables: dict[str, Decimal] = {}
        self.constants: dict[str, Decimal] = {}
        """Their values at the present ibase."""
        self.arrays: dict[str, dict[int, Decimal]] = {}
        self.functions: dict[str, Function] = {}
        self.settings = {"ibase": 10, "obase": 10, "scale": 20 if library else 0}
        self.last = ZERO
        self.stack: list[Decimal | dict[int, Decimal]] = []
        self.frames: list[_Frame] = []
        self.column = 0
        self.line_length = _line_length(ctx.env.get("BC_LINE_LENGTH"))
        self.output = Output(ctx.stdout)
        self.elements = 0
        self.parser: Parser | None = None
        self.reads_program = False

    # running

    @property
    def line(self) -> int:
        """The line that reading has come to."""
        return 1 if self.parser is None else self.parser.line

    def run(self, name: str, text: str, *, from_stdin: bool, line: int = 1) -> bool:
        """Run a file, or a piece of one from `line` on; false when the program has ended itself."""
        shown = "(standard_in)" if from_stdin else name
        parser = Parser(
            text,
            lambda message: self.complain(f"{shown} {parser.line}: {message}"),
            self.budget.step,
        )
        parser.line = line
        parser.functions = self.functions
        self.parser = parser
        self.reads_program = from_stdin
        try:
            while True:
                try:
                    code = parser.item()
                except BcSyntaxError:
                    parser.spoiled = False
                    at_end = parser.kind == "EOF"  # of a file: standard input comes next
                    self.complain(
                        f"{'(standard_in)' if at_end else shown} {1 if at_end else parser.line}: syntax error"
                    )
                    parser.skip_line()
                    if parser.kind == "EOF":
                        return True
                    continue
                except RecursionError:
                    self.complain(f"{shown} {parser.line}: program nested too deeply")
                    parser.skip_line()
                    continue
                if code is None:
                    return True
                if parser.spoiled:
                    parser.spoiled = False
                    continue
                self.execute(code)
        except (QuitError, _Halt):
            return False

    def complain(self, message: str) -> None:
        """A message of the language, not of the command: no name before it."""
        self.output.flush()
        self.ctx.stderr.write(encode(message + "\n"))

    def place(self, back: int = 0) -> str:
        """The function and the address, as bc's messages tell them; `back` bytes before the
        instruction's end.
        """
        frame = self.frames[-1]
        address = frame.code.instructions[frame.place - 1][2] - back
        return f"(func={frame.function}, adr={address})"

    def fail(self, message: str, back: int = 0) -> _Stopped:
        """A run-time error, reported."""
        self.complain(f"Runtime error {self.place(back)}: {message}")
        return _Stopped()

    def warn(self, message: str) -> None:
        """A run-time warning."""
        self.complain(f"Runtime warning {self.place()}: {message}")

    def execute(self, code: Code) -> None:
        """Run one line to its end, or to its error."""
        self.frames = [_Frame(code, "(main)", 0)]
        self.stack.clear()
        try:
            self._loop()
        except CalculationError as error:
            self.complain(f"Runtime error {self.place()}: {error.message}")
            self._unwind()
        except _Stopped:
            self._unwind()

    def _unwind(self) -> None:
        while len(self.frames) > 1:
            self._restore(self.frames.pop())
        self.stack.clear()

    def _loop(self) -> None:
        budget = self.budget
        frames = self.frames
        table = _OPERATIONS
        while True:
            frame = frames[-1]
            place = frame.place
            instructions = frame.code.instructions
            if place >= len(instructions):
                return
            operation, argument, _ = instructions[place]
            frame.place = place + 1
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            table[operation](self, argument)

    def pop(self) -> Decimal:
        return self.stack.pop()  # type: ignore[return-value]

    # output

    def write(self, text: str) -> None:
        """To standard output; long lines are broken with a backslash."""
        limit = self.line_length
        if not limit or (self.column + len(text) < limit - 1 and "\n" not in text):
            self.column += len(text)
            self.output.write(text)
            return
        for number, piece in enumerate(text.split("\n")):
            if number:
                self.output.write("\n")
                self.column = 0
            start = 0
            while self.column + len(piece) - start >= limit - 1:
                room = limit - 2 - self.column
                self.output.write(piece[start : start + room] + "\\\n")
                start += room
                self.column = 0
            self.output.write(piece[start:])
            self.column += len(piece) - start

    # operations

    def constant(self, argument: object) -> None:
        text = str(argument)
        value = self.constants.get(text)
        if value is None:
            value = number_in_base(self.arithmetic, text, self.settings["ibase"])
            if len(self.constants) < _CONSTANTS and len(text) < _SHORT:
                self.constants[text] = value
        self.stack.append(value)

    def load(self, argument: object) -> None:
        value = self.variables.get(argument)  # type: ignore[call-overload]
        self.stack.append(self.value(str(argument)) if value is None else value)

    def value(self, name: str) -> Decimal:
        """The value of a variable or setting."""
        if (value := self.variables.get(name)) is not None:
            return value
        if name in self.settings:
            return Decimal(self.settings[name])
        return self.last if name == "last" else self.variables.get(name, ZERO)

    def store(self, argument: object) -> None:
        self.assign(str(argument), self.stack[-1])  # type: ignore[arg-type]

    def assign(self, name: str, value: Decimal) -> None:
        """Assign a variable or setting; settings are kept within their bounds, with a warning."""
        if name == "last":
            self.last = value
        elif name not in self.settings:
            self.variables[name] = value
        else:
            self._set(name, value)

    def _set(self, name: str, value: Decimal) -> None:
        """Fractions less than 1 are too large, as in GNU bc."""
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
        self.constants.clear()

    def element(self, name: str, index: Decimal) -> tuple[dict[int, Decimal], int]:
        """An array and a place in it."""
        if index.adjusted() > 9 or not 0 <= int(index) <= MAX_INDEX or (index and not int(index)):
            raise self.fail(f"Array {name} subscript out of bounds.")
        return self.array(name), int(index)

    def array(self, name: str) -> dict[int, Decimal]:
        """A global array."""
        found = self.arrays.get(name)
        if found is None:
            found = self.arrays[name] = {}
        return found

    def load_element(self, argument: object) -> None:
        array, index = self.element(str(argument), self.pop())
        self.stack.append(array.get(index, ZERO))

    def store_element(self, argument: object) -> None:
        value = self.pop()
        array, index = self.element(str(argument), self.pop())
        self.put_element(array, index, value)
        self.stack.append(value)

    def put_element(self, array: dict[int, Decimal], index: int, value: Decimal) -> None:
        """Store, counting what is stored."""
        if index not in array:
            self.elements += 1
            if self.elements > MAX_ELEMENTS:
                raise LimitReached("value_bytes")
        array[index] = value

    def step_name(self, argument: object) -> None:
        """`++` and `--`."""
        step: tuple[str, bool, int, bool] = argument  # type: ignore[assignment]
        name, is_element, amount, prefix = step
        if is_element:
            array, index = self.element(name, self.pop())
            before = array.get(index, ZERO)
            after = self.arithmetic.add(before, Decimal(amount))
            self.put_element(array, index, after)
        else:
            before = self.value(name)
            after = self.arithmetic.add(before, Decimal(amount))
            self.assign(name, after)
        self.stack.append(after if prefix else before)

    def duplicate(self, _: object) -> None:
        self.stack.append(self.stack[-1])

    def drop(self, _: object) -> None:
        self.stack.pop()

    def zero(self, _: object) -> None:
        self.stack.append(ZERO)

    def one(self, _: object) -> None:
        self.stack.append(ONE)

    def add(self, _: object) -> None:
        right: Decimal = self.stack.pop()  # type: ignore[assignment]
        self.stack[-1] = self.arithmetic.add(self.stack[-1], right)  # type: ignore[arg-type]

    def subtract(self, _: object) -> None:
        right: Decimal = self.stack.pop()  # type: ignore[assignment]
        self.stack[-1] = self.arithmetic.subtract(self.stack[-1], right)  # type: ignore[arg-type]

    def multiply(self, _: object) -> None:
        right: Decimal = self.stack.pop()  # type: ignore[assignment]
        self.stack[-1] = self.arithmetic.multiply(self.stack[-1], right, self.settings["scale"])  # type: ignore[arg-type]

    def divide(self, _: object) -> None:
        right: Decimal = self.stack.pop()  # type: ignore[assignment]
        self.stack[-1] = self.arithmetic.divide(self.stack[-1], right, self.settings["scale"])  # type: ignore[arg-type]

    def remainder(self, _: object) -> None:
        right = self.pop()
        self.stack[-1] = self.arithmetic.divide_with_remainder(
            self.stack[-1], right, self.settings["scale"]
        )[1]  # type: ignore[arg-type]

    def power(self, _: object) -> None:
        exponent = self.pop()
        base = self.pop()
        if scale_of(exponent):
            self.warn("non-zero scale in exponent")
        if abs(exponent) > _LARGEST_EXPONENT:
            raise self.fail("exponent too large in raise")
        self.stack.append(self.arithmetic.raise_power(base, int(exponent), self.settings["scale"]))

    def negate(self, _: object) -> None:
        self.stack[-1] = self.arithmetic.subtract(ZERO, self.stack[-1])  # type: ignore[arg-type]

    def invert(self, _: object) -> None:
        self.stack[-1] = ZERO if self.stack[-1] else ONE

    def as_truth(self, _: object) -> None:
        self.stack[-1] = ONE if self.stack[-1] else ZERO

    def jump(self, argument: object) -> None:
        self.frames[-1].place = argument  # type: ignore[assignment]

    def jump_if_zero(self, argument: object) -> None:
        if not self.stack.pop():
            self.frames[-1].place = argument  # type: ignore[assignment]

    def jump_if_not(self, argument: object) -> None:
        if self.stack.pop():
            self.frames[-1].place = argument  # type: ignore[assignment]

    def print_value(self, _: object) -> None:
        value = self.pop()
        format_number(self.arithmetic, value, self.settings["obase"], self.write)
        self.last = value

    def print_line(self, _: object) -> None:
        self.print_value(None)
        self.write("\n")

    def print_text(self, argument: object) -> None:
        self.write(str(argument))

    def print_escaped(self, argument: object) -> None:
        self.write(_ESCAPE.sub(lambda found: _ESCAPES.get(found[1], ""), str(argument)))

    def length(self, _: object) -> None:
        self.stack[-1] = Decimal(length_of(self.stack[-1]))  # type: ignore[arg-type]

    def scale(self, _: object) -> None:
        self.stack[-1] = Decimal(scale_of(self.stack[-1]))  # type: ignore[arg-type]

    def square_root(self, _: object) -> None:
        self.stack[-1] = self.arithmetic.square_root(self.stack[-1], self.settings["scale"])  # type: ignore[arg-type]

    def read(self, _: object) -> None:
        """A number from standard input; what follows the program there, when the program comes from
        there.
        """
        line = self._input_line()
        found = re.match(r"\s*(-?)([0-9A-Z]*\.?[0-9A-Z]*)", line)
        text = found[2] if found is not None else ""
        value = number_in_base(
            self.arithmetic, text.removesuffix(".").lstrip("0") or "0", self.settings["ibase"]
        )
        self.stack.append(
            value.copy_negate() if found is not None and found[1] and value else value
        )

    def _input_line(self) -> str:
        parser = self.parser
        if not self.reads_program or parser is None:
            return decode(self.ctx.stdin.readline())
        if parser.position >= len(parser.text):
            return decode(self.ctx.stdin.readline())
        end = parser.text.find("\n", parser.position)
        end = len(parser.text) if end < 0 else end + 1
        line = parser.text[parser.position : end]
        parser.position = end
        parser.line += 1
        return line

    def halt(self, _: object) -> None:
        raise _Halt

    # functions

    def push_array(self, argument: object) -> None:
        self.stack.append(self.array(str(argument)))

    def call(self, argument: object) -> None:
        called: tuple[str, list[str]] = argument  # type: ignore[assignment]
        name, kinds = called
        function = self.functions.get(name)
        if function is None:
            if self.library and name in LIBRARY:
                self._call_library(name, kinds)
                return
            raise self.fail(f"Function {name} not defined.", 1 + len(kinds))
        if len(kinds) != len(function.parameters):
            raise self.fail(
                "Parameter number mismatch", max(len(kinds) - len(function.parameters), 0)
            )
        self.budget.deeper()
        frame = _Frame(function.code, name, 0)
        values = self.stack[len(self.stack) - len(kinds) :]
        del self.stack[len(self.stack) - len(kinds) :]
        for (parameter, kind), given, value in zip(function.parameters, kinds, values, strict=True):
            if (kind == "v") != (given == "v"):
                self.budget.shallower()
                raise self.fail(f"Parameter type mismatch parameter {parameter}.")
            self._bind(frame, parameter, kind, value)
        for auto, kind in function.autos:
            self._bind(frame, auto, kind, ZERO if kind == "v" else {})
        frame.stack_height = len(self.stack)
        self.frames.append(frame)

    def _call_library(self, name: str, kinds: list[str]) -> None:
        wanted = 2 if name == "j" else 1
        if len(kinds) != wanted:
            raise self.fail("Parameter number mismatch", max(len(kinds) - wanted, 0))
        values: list[Decimal] = self.stack[-wanted:]  # type: ignore[assignment]
        del self.stack[-wanted:]
        self.stack.append(evaluate(self.arithmetic, name, values, self.settings["scale"]))

    def _bind(
        self, frame: _Frame, name: str, kind: str, value: Decimal | dict[int, Decimal]
    ) -> None:
        """Give a parameter or an auto its value; what it hid comes back on return."""
        if kind == "v":
            frame.saved.append((False, name, self.variables.get(name)))
            self.variables[name] = value  # type: ignore[assignment]
            return
        frame.saved.append((True, name, self.arrays.get(name)))
        assert isinstance(value, dict)
        if kind == "a" and value:
            self.budget.charge(len(value) * 16)
            self.budget.step(len(value) // 8 + 1)
            value = dict(value)
        self.arrays[name] = value

    def _restore(self, frame: _Frame) -> None:
        self.budget.shallower()
        for is_array, name, value in reversed(frame.saved):
            table: dict[str, object] = self.arrays if is_array else self.variables  # type: ignore[assignment]
            if value is None:
                table.pop(name, None)
            else:
                table[name] = value

    def leave(self, _: object) -> None:
        """`return`."""
        if len(self.frames) == 1:
            self.frames[0].place = len(self.frames[0].code.instructions)
            return
        value = self.stack.pop()
        frame = self.frames.pop()
        del self.stack[frame.stack_height :]
        self._restore(frame)
        self.stack.append(value)


def _compare(test: Callable[[Decimal, Decimal], bool]) -> Callable[[Machine, object], None]:
    def operation(machine: Machine, _: object) -> None:
        right = machine.pop()
        left = machine.pop()
        machine.stack.append(ONE if test(left, right) else ZERO)

    return operation


def _line_length(text: str | None) -> int:
    """As C's atoi reads it: what is no number is 0, and 0 is no limit."""
    if text is None:
        return 70
    found = re.match(r"[ \t\n\v\f\r]*([+-]?[0-9]{1,9})", text)
    number = int(found[1]) if found is not None else 0
    return 0 if number == 0 else number if number > 2 else 70


_LARGEST_EXPONENT = 2147483649

_OPERATIONS: dict[str, Callable[[Machine, object], None]] = {
    "K": Machine.constant, "l": Machine.load, "s": Machine.store, "L": Machine.load_element, "S": Machine.store_element,
    "step": Machine.step_name, "D": Machine.duplicate, "p": Machine.drop, "0": Machine.zero, "1": Machine.one, "+": Machine.add,
    "-": Machine.subtract, "*": Machine.multiply, "/": Machine.divide, "%": Machine.remainder, "^": Machine.power, "n": Machine.negate,
    "!": Machine.invert, "bool": Machine.as_truth, "J": Machine.jump, "Z": Machine.jump_if_zero, "B": Machine.jump_if_not,
    "P": Machine.print_value, "W": Machine.print_line, "w": Machine.print_text, "O": Machine.print_escaped, "cL": Machine.length,
    "cS": Machine.scale, "cR": Machine.square_root, "cI": Machine.read,
    "h": Machine.halt, "array": Machine.push_array, "C": Machine.call, "R": Machine.leave,
    "=": _compare(lambda left, right: left == right), "#": _compare(lambda left, right: left != right),
    "<": _compare(lambda left, right: left < right), "{": _compare(lambda left, right: left <= right),
    ">": _compare(lambda left, right: left > right), "}": _compare(lambda left, right: left >= right),
}  # fmt: skip
