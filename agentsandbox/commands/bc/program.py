"""bc's language: each line becomes closures over the machine that runs them.

An expression is a function without parameters that returns a number. A statement is one that
returns what ends the statements around it: "" for nothing, or "break", "continue" or "return".
Operators of equal precedence are one closure with a list, so that a sum of a thousand terms does
not nest.

A line runs only after it was read to its end, and not at all if it has an error.
"""

from __future__ import annotations

import operator
import re
from decimal import Decimal
from functools import partial

from agentsandbox.commands.bc.library import LIBRARY, evaluate
from agentsandbox.commands.bc.machine import Function, HaltError, Machine, StoppedError
from agentsandbox.commands.bc.numbers import ONE, ZERO, CalculationError, length_of, scale_of
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from agentsandbox.commands.bc.machine import Array

    Number: TypeAlias = Callable[[], Decimal]
    Statement: TypeAlias = Callable[[], str]
    Binary: TypeAlias = Callable[[Decimal, Decimal], Decimal]

_DEEPEST = 100
_MOST_TOKENS = 1_000_000
"""Tokens of one line or function; one takes some hundred bytes."""
_TOKEN = re.compile(
    r"(?P<blank>[ \t]+|\\\n|/\*.*?\*/|#[^\n]*)|(?P<newline>\n)"
    r"|(?P<number>[0-9A-Z]+(?:\\\n[0-9A-Z]+)*(?:(?:\\\n)?\.(?:[0-9A-Z]+|\\\n(?=[0-9A-Z]))*)?"
    r"|\.[0-9A-Z]+(?:\\\n[0-9A-Z]+)*)"
    r"|(?P<name>[a-z][a-z0-9_]*)|(?P<string>\"[^\"]*\")"
    r"|(?P<operator>\+\+|--|&&|\|\||<=|>=|==|!=|[-+*/%^]=|[-+*/%^=<>!(){}\[\],;.&])",
    re.DOTALL,
)
_BLANKS = re.compile(r"[ \t]*")
_WHOLE_ARRAY = re.compile(r"[ \t]*\[[ \t]*\]")
_KEYWORDS = frozenset(
    "define auto if else while for break continue return halt quit print length sqrt scale ibase "
    "obase last read random warranty limits void".split()
)
_SETTINGS = ("ibase", "obase", "scale", "last", ".")
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "q": '"', "r": "\r", "t": "\t", "\\": "\\"}


def _compared(test: Callable[[Decimal, Decimal], bool]) -> Binary:
    return lambda left, right: ONE if test(left, right) else ZERO


_RELATIONS = {
    "==": _compared(operator.eq),
    "!=": _compared(operator.ne),
    "<": _compared(operator.lt),
    "<=": _compared(operator.le),
    ">": _compared(operator.gt),
    ">=": _compared(operator.ge),
}


class BcSyntaxError(Exception):
    """A line does not follow the grammar."""


class QuitError(Exception):
    """`quit` takes effect as soon as it is read."""


class Program:
    """A file or, without a name, standard input: reads and runs one line at a time.

    A line of standard input is read when the grammar needs it, so that a coprocess gets its answer.

    kind, value   the token at which reading is
    spoiled       the line has an illegal character and does not run
    silent        the expression just read is an assignment, whose value is not printed
    """

    def __init__(self, machine: Machine, name: str = "", text: str = "") -> None:
        self.machine = machine
        self.name = name or "(standard_in)"
        self.reads_stdin = not name
        self.text = text
        self.position = 0
        self.line = 1
        self.kind = self.value = ""
        self.tokens = 0
        self.nesting = 0
        self.loops = 0
        self.function: Function | None = None
        self.spoiled = self.silent = False
        arithmetic, settings = machine.arithmetic, machine.settings
        self.operations: dict[str, Binary] = {
            "+": arithmetic.add,
            "-": arithmetic.subtract,
            "*": lambda left, right: arithmetic.multiply(left, right, settings["scale"]),
            "/": lambda left, right: arithmetic.divide(left, right, settings["scale"]),
            "%": lambda left, right: arithmetic.remainder(left, right, settings["scale"]),
            "^": machine.power,
        }
        self.sums = {sign: self.operations[sign] for sign in "+-"}
        self.products = {sign: self.operations[sign] for sign in "*/%"}

    def run(self) -> bool:
        """Run the program; return False when it has ended bc itself."""
        try:
            while True:
                try:
                    statement = self.item()
                except BcSyntaxError:
                    at_end = self.kind == "EOF"  # of a file: standard input comes next
                    place = "(standard_in) 1" if at_end else f"{self.name} {self.line}"
                    self.machine.complain(f"{place}: syntax error")
                    self.spoiled = False  # but a character in the rest spoils the next line
                    while self.kind not in ("\n", "EOF"):
                        self.advance()
                    continue
                if statement is None:
                    return True
                if not self.spoiled:
                    self._execute(statement)
                self.spoiled = False
        except (QuitError, HaltError):
            return False
        except RecursionError:
            raise LimitReached("depth") from None

    def _execute(self, statement: Statement) -> None:
        machine = self.machine
        try:
            statement()
        except CalculationError as error:
            machine.fail(error.message)
        except StoppedError:
            pass

    # tokens

    def advance(self) -> None:
        """Read the next token into `kind` and `value`."""
        while True:
            self.machine.budget.step()
            if self.position >= len(self.text) and not self._read_line():
                self.kind, self.value = "EOF", ""
                return
            if self.text[self.position] in '"/':
                self._read_closing()
            found = _TOKEN.match(self.text, self.position)
            if found is None:
                self._refuse_character(self.text[self.position])
                continue
            self.position = found.end()
            kind, self.value = found.lastgroup, found[0]
            self.line += self.value.count("\n")
            if kind == "blank":
                continue
            self.tokens += 1
            if self.tokens > _MOST_TOKENS:
                raise LimitReached("value_bytes")
            if kind in ("operator", "newline"):
                self.kind = self.value
            elif kind == "name":
                self.kind = self.value if self.value in _KEYWORDS else "NAME"
                if self.value == "quit":
                    raise QuitError
            else:
                self.kind = str(kind).upper()
            return

    def _read_line(self, end: str = "") -> bool:
        """Read a line of standard input, with those joined to it and those up to `end`."""
        machine = self.machine
        if not self.reads_stdin:
            return False
        machine.output.flush()
        lines: list[str] = []
        size = 0
        while line := decode(machine.ctx.stdin.readline()):
            lines.append(line)
            size += len(line)
            machine.budget.step()
            machine.budget.charge(size)
            if end in line and not line.endswith("\\\n"):
                break
        self.text = self.text[self.position :] + "".join(lines)
        self.position = 0
        return bool(lines)

    def _read_closing(self) -> None:
        """Read the lines of a string or a comment that is not closed yet."""
        start = self.text[self.position : self.position + 2]
        end = "*/" if start == "/*" else '"' if start[0] == '"' else ""
        if end and self.text.find(end, self.position + len(end)) < 0:
            self._read_line(end)

    def report(self, message: str) -> None:
        """Report a mistake in the program's text."""
        self.machine.complain(f"{self.name} {self.line}: {message}")

    def _refuse_character(self, character: str) -> None:
        self.position += 1
        self.spoiled = True
        shown = [f"\\{byte:03o}" for byte in encode(character)]
        for text in [character] if " " <= character <= "~" else shown:
            self.report(f"illegal character: {text}")

    def expect(self, kind: str) -> str:
        """Take a token of a kind and return it. Raises `BcSyntaxError`."""
        if self.kind != kind:
            raise BcSyntaxError
        value = self.value
        self.advance()
        return value

    def skip(self, *kinds: str) -> None:
        """Pass over tokens of some kinds."""
        while self.kind in kinds:
            self.advance()

    def _next_is(self, text: str) -> bool:
        found = _BLANKS.match(self.text, self.position)
        return found is not None and self.text.startswith(text, found.end())

    def deeper(self) -> None:
        """Count a level of nesting; the caller leaves it by `nesting -= 1`."""
        self.nesting += 1
        if self.nesting > _DEEPEST:
            raise BcSyntaxError

    # lines

    def item(self) -> Statement | None:
        """Return the next line or definition, or None at the end. Raises `BcSyntaxError`."""
        self.tokens = self.nesting = self.loops = 0
        self.function = None
        self.advance()
        if self.kind == "EOF":
            return None
        if self.kind == "define":
            self.definition()
            return str
        statements: list[Statement] = []
        while True:
            if self.kind not in ("\n", ";", "EOF", "}"):
                statements.append(self.statement())
            if self.kind != ";":
                break
            self.advance()
        if self.kind != "\n":
            raise BcSyntaxError
        return _sequence(self.machine, statements)

    def definition(self) -> None:
        self.advance()
        name = self.expect("NAME")
        self.expect("(")
        function = self.function = Function(name, self.parameters(")"))
        self.expect(")")
        self.skip("\n")
        self.expect("{")
        self.skip("\n", ";")
        while self.kind == "auto":
            self.advance()
            function.autos += self.parameters(";")
            if self.kind not in (";", "\n"):
                raise BcSyntaxError
            self.skip("\n", ";")
        self.check_names(function)
        function.body = self.block()
        if self.kind != "}":
            raise BcSyntaxError
        if not self.spoiled:
            self.machine.functions[name] = function

    def check_names(self, function: Function) -> None:
        """Refuse a definition that names a parameter or an auto twice."""
        names = function.parameters + function.autos
        if len(set(names)) < len(names):
            self.report("duplicate parameter or auto variable names")
            self.spoiled = True

    def parameters(self, end: str) -> list[tuple[str, bool]]:
        found: list[tuple[str, bool]] = []
        while self.kind not in (end, "\n"):
            name = self.expect("NAME")
            is_array = self.kind == "["
            if is_array:
                self.advance()
                self.expect("]")
            found.append((name, is_array))
            if self.kind != ",":
                break
            self.advance()
        return found

    # statements

    def block(self) -> Statement:
        """Read statements up to the closing brace, which stays."""
        statements: list[Statement] = []
        while True:
            self.skip("\n", ";")
            if self.kind == "}":
                return _sequence(self.machine, statements)
            if self.kind == "EOF":
                raise BcSyntaxError
            statements.append(self.statement())
            if self.kind not in ("\n", ";", "}"):
                raise BcSyntaxError

    def statement(self) -> Statement:
        self.deeper()
        method = _STATEMENTS.get(self.kind, Program.expression_statement)
        made = method(self)
        self.nesting -= 1
        return made

    def expression_statement(self) -> Statement:
        value = self.expression()
        if self.silent:
            return _statement(value)
        return self.printing(value, "\n")

    def printing(self, value: Number, end: str = "") -> Statement:
        print_value = self.machine.print_value
        return _statement(lambda: print_value(value(), end))

    def string_statement(self) -> Statement:
        text = self.value[1:-1]
        self.advance()
        return _statement(lambda: self.machine.write(text))

    def braces(self) -> Statement:
        self.advance()
        made = self.block()
        self.advance()
        return made

    def condition(self) -> Number:
        """Read an expression in parentheses."""
        self.expect("(")
        made = self.expression()
        self.expect(")")
        return made

    def if_statement(self) -> Statement:
        self.advance()
        condition = self.condition()
        self.skip("\n")
        body = self.statement()
        otherwise: Statement = str
        if self.kind == "else":
            self.advance()
            self.skip("\n")
            otherwise = self.statement()
        return lambda: body() if condition() else otherwise()

    def while_statement(self) -> Statement:
        self.advance()
        return self.loop(None, self.condition(), None)

    def for_statement(self) -> Statement:
        self.advance()
        self.expect("(")
        parts: list[Number | None] = []
        for end in (";", ";", ")"):
            parts.append(None if self.kind == end else self.expression())
            self.expect(end)
        return self.loop(*parts)

    def loop(
        self, first: Number | None, condition: Number | None, step: Number | None
    ) -> Statement:
        """Read the body of a loop."""
        self.loops += 1
        self.skip("\n")
        body = self.statement()
        self.loops -= 1
        budget = self.machine.budget

        def run() -> str:
            if first is not None:
                first()
            while condition is None or condition():
                budget.step()
                signal = body()
                if signal == "break":
                    break
                if signal == "return":
                    return signal
                if step is not None:
                    step()
            return ""

        return run

    def jump(self) -> Statement:
        kind = self.kind
        if not self.loops:
            where = "Break outside a for/while" if kind == "break" else "Continue outside a for"
            self.report(where)
        is_inside = self.loops > 0
        self.advance()
        return lambda: kind if is_inside else ""

    def return_statement(self) -> Statement:
        inside = self.function is not None
        self.advance()
        value = None if self.kind in (";", "\n", "}") else self.expression()
        if not inside:
            self.report("Return outside of a function.")
        machine = self.machine

        def run() -> str:
            machine.returned = ZERO if value is None else value()
            return "return"

        return run

    def halt(self) -> Statement:
        self.advance()

        def run() -> str:
            raise HaltError

        return run

    def print_statement(self) -> Statement:
        machine = self.machine
        parts: list[Statement] = []
        self.kind = ","
        while self.kind == ",":
            self.advance()
            if self.kind == "STRING":
                text = _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], ""), self.value[1:-1])
                self.advance()
                parts.append(_statement(partial(machine.write, text)))
            else:
                parts.append(self.printing(self.expression()))
        return _sequence(machine, parts)

    def misplaced(self) -> Statement:
        raise BcSyntaxError

    # expressions

    def expression(self) -> Number:
        self.deeper()
        made = self.disjunction()
        self.nesting -= 1
        return made

    def disjunction(self) -> Number:
        return self.logical("||", lambda: self.logical("&&", self.negation))

    def logical(self, sign: str, operand: Callable[[], Number]) -> Number:
        first = operand()
        if self.kind != sign:
            return first
        operands = [first]
        while self.kind == sign:
            self.advance()
            operands.append(operand())
        self.silent = False
        decide = any if sign == "||" else all
        return lambda: ONE if decide(one() for one in operands) else ZERO

    def negation(self) -> Number:
        if self.kind != "!":
            return self.relation()
        self.deeper()
        self.advance()
        value = self.negation()
        self.nesting -= 1
        return lambda: ZERO if value() else ONE

    def relation(self) -> Number:
        return self.chain(self.sum, _RELATIONS)

    def sum(self) -> Number:
        return self.chain(self.product, self.sums)

    def product(self) -> Number:
        return self.chain(self.power, self.products)

    def chain(self, operand: Callable[[], Number], operations: Mapping[str, Binary]) -> Number:
        """Read operands with left-associative operators between them."""
        first = operand()
        if self.kind not in operations:
            return first
        rest: list[tuple[Binary, Number]] = []
        while self.kind in operations:
            operation = operations[self.kind]
            self.advance()
            rest.append((operation, operand()))
        self.silent = False
        if len(rest) == 1:
            operation, second = rest[0]
            return lambda: operation(first(), second())

        def run() -> Decimal:
            value = first()
            for operation, following in rest:
                value = operation(value, following())
            return value

        return run

    def power(self) -> Number:
        base = self.unary()
        if self.kind != "^":
            return base
        self.deeper()
        self.advance()
        exponent = self.power()
        self.nesting -= 1
        self.silent = False
        power = self.machine.power
        return lambda: power(base(), exponent())

    def unary(self) -> Number:
        if self.kind == "!":
            return self.negation()
        if self.kind == "-":
            self.deeper()
            self.advance()
            value = self.unary()
            self.nesting -= 1
            subtract = self.machine.arithmetic.subtract
            return lambda: subtract(ZERO, value())
        if self.kind in ("++", "--"):
            amount = ONE if self.kind == "++" else -ONE
            self.advance()
            return self.step(*self.named(), amount, is_prefix=True)
        return self.primary()

    def primary(self) -> Number:
        self.silent = False
        kind = self.kind
        if kind == "NUMBER":
            return self.number()
        if kind == "(":
            made = self.condition()
            self.silent = False
            return made
        if kind in ("length", "sqrt") or (kind == "scale" and self._next_is("(")):
            return self.builtin(kind)
        if kind == "NAME" and self._next_is("("):
            return self.call()
        return self.named_expression()

    def number(self) -> Number:
        text = self.value.replace("\\\n", "").removesuffix(".").lstrip("0") or "0"
        self.advance()
        constant = self.machine.constant
        return lambda: constant(text)

    def builtin(self, name: str) -> Number:
        self.advance()
        value = self.condition()
        self.silent = False
        if name == "sqrt":
            machine = self.machine
            return lambda: machine.arithmetic.square_root(value(), machine.settings["scale"])
        measure = length_of if name == "length" else scale_of
        return lambda: Decimal(measure(value()))

    def call(self) -> Number:
        name = self.value
        self.advance()
        self.expect("(")
        arguments: list[tuple[bool, Callable[[], Decimal | Array]]] = []
        while self.kind != ")":
            if self.kind == "NAME" and _WHOLE_ARRAY.match(self.text, self.position):
                arguments.append((True, partial(self.machine.array, self.value)))
                self.advance()
                self.expect("[")
                self.expect("]")
            else:
                arguments.append((False, self.expression()))
            if self.kind != ",":
                break
            self.advance()
            if self.kind == ")":
                raise BcSyntaxError
        self.expect(")")
        self.silent = False
        return lambda: self._called(name, arguments)

    def _called(
        self, name: str, arguments: list[tuple[bool, Callable[[], Decimal | Array]]]
    ) -> Decimal:
        machine = self.machine
        values = [value() for _is_array, value in arguments]
        function = machine.functions.get(name)
        if function is not None:
            parameters = function.parameters
        elif machine.library and name in LIBRARY:
            parameters = [("", False)] * (2 if name == "j" else 1)
        else:
            raise machine.fail(f"Function {name} not defined.")
        if len(values) != len(parameters):
            raise machine.fail("Parameter number mismatch")
        for (parameter, wanted), (given, _value) in zip(parameters, arguments, strict=True):
            if wanted != given:
                raise machine.fail(f"Parameter type mismatch parameter {parameter}.")
        if function is not None:
            return machine.call(function, values)
        numbers = [value for value in values if isinstance(value, Decimal)]
        return evaluate(machine.arithmetic, name, numbers, machine.settings["scale"])

    # variables

    def named(self) -> tuple[str, Number | None]:
        """Read a variable, or an array with an index."""
        if self.kind in _SETTINGS:
            name = "last" if self.kind == "." else self.kind
            self.advance()
            return name, None
        name = self.expect("NAME")
        if self.kind != "[":
            return name, None
        self.advance()
        index = self.expression()
        self.expect("]")
        return name, index

    def named_expression(self) -> Number:
        name, index = self.named()
        kind = self.kind
        self.silent = False
        if kind in ("++", "--"):
            self.advance()
            return self.step(name, index, ONE if kind == "++" else -ONE, is_prefix=False)
        if kind == "=" or (kind[1:] == "=" and kind[0] in self.operations):
            self.advance()
            self.deeper()
            value = self.sum()
            self.nesting -= 1
            self.silent = True
            operation = self.operations.get(kind[0])
            if operation is None:
                return self.assignment(name, index, lambda _before: value())
            return self.assignment(name, index, lambda before: operation(before, value()))
        machine = self.machine
        if index is not None:
            position = index
            return lambda: machine.array(name).get(machine.index(name, position()), ZERO)
        if name in _SETTINGS:
            return lambda: machine.value(name)
        variables = machine.variables
        return lambda: variables.get(name, ZERO)

    def assignment(
        self, name: str, index: Number | None, change: Callable[[Decimal], Decimal]
    ) -> Number:
        """Return an assignment, whose value is the new one."""
        machine = self.machine

        def run() -> Decimal:
            position = None if index is None else machine.index(name, index())
            after = change(self._load(name, position))
            self._store(name, position, after)
            return after

        return run

    def step(self, name: str, index: Number | None, amount: Decimal, *, is_prefix: bool) -> Number:
        """Return `++` or `--`; after a name, its value is the old one."""
        arithmetic = self.machine.arithmetic
        change = self.assignment(name, index, lambda before: arithmetic.add(before, amount))
        self.silent = False
        if is_prefix:
            return change
        return lambda: arithmetic.subtract(change(), amount)

    def _load(self, name: str, position: int | None) -> Decimal:
        if position is None:
            return self.machine.value(name)
        return self.machine.array(name).get(position, ZERO)

    def _store(self, name: str, position: int | None, value: Decimal) -> None:
        if position is None:
            self.machine.assign(name, value)
        else:
            self.machine.put_element(name, position, value)


def _statement(action: Callable[[], object]) -> Statement:
    """Return an action as a statement that gives no signal."""

    def run() -> str:
        action()
        return ""

    return run


def _sequence(machine: Machine, statements: list[Statement]) -> Statement:
    """Return statements as one, which ends with the first that gives a signal."""
    if len(statements) == 1:
        return statements[0]
    budget = machine.budget

    def run() -> str:
        for statement in statements:
            budget.step()
            signal = statement()
            if signal:
                return signal
        return ""

    return run


_STATEMENTS: dict[str, Callable[[Program], Statement]] = {
    "STRING": Program.string_statement,
    "{": Program.braces,
    "if": Program.if_statement,
    "while": Program.while_statement,
    "for": Program.for_statement,
    "break": Program.jump,
    "continue": Program.jump,
    "return": Program.return_statement,
    "halt": Program.halt,
    "print": Program.print_statement,
    "define": Program.misplaced,
    "auto": Program.misplaced,
    "else": Program.misplaced,
}
