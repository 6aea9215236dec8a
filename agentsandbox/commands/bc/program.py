"""bc's language into code for a stack machine.

Instructions are (operation, argument, address after it). The addresses count bytes as GNU bc's own
code does, because its messages tell them.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_NESTING = 100
_TOKEN = re.compile(
    r"(?P<blank>[ \t]+|\\\n|/\*.*?\*/|#[^\n]*)|(?P<newline>\n)"
    r"|(?P<number>[0-9A-Z]+(?:\\\n[0-9A-Z]+)*(?:(?:\\\n)?\.(?:[0-9A-Z]+|\\\n(?=[0-9A-Z]))*)?|\.[0-9A-Z]+(?:\\\n[0-9A-Z]+)*)"
    r"|(?P<name>[a-z][a-z0-9_]*)|(?P<string>\"[^\"]*\")"
    r"|(?P<operator>\+\+|--|&&|\|\||<=|>=|==|!=|[-+*/%^]=|[-+*/%^=<>!(){}\[\],;.&])",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    "define auto if else while for break continue return halt quit print length sqrt scale ibase obase last read random warranty limits "
    "void".split()
)
_RELATIONS = {"==": "=", "!=": "#", "<": "<", "<=": "{", ">": ">", ">=": "}"}
_SPECIALS = {"ibase": 0, "obase": 1, "scale": 2, "last": 3}


class BcSyntaxError(Exception):
    """A line that bc does not understand."""


class QuitError(Exception):
    """`quit`, which takes effect as soon as it is read."""


class Code:
    """Instructions of one function, or of one line of the main program."""

    __slots__ = ("address", "instructions")

    def __init__(self) -> None:
        self.instructions: list[tuple[str, object, int]] = []
        self.address = 0

    def add(self, operation: str, argument: object = None, size: int = 1) -> int:
        """Append; the place of the instruction, so that a jump can be patched."""
        self.address += size
        self.instructions.append((operation, argument, self.address))
        return len(self.instructions) - 1

    def patch(self, place: int) -> None:
        """Let the jump at `place` lead here."""
        operation, _, address = self.instructions[place]
        self.instructions[place] = (operation, len(self.instructions), address)


class Function:
    """`parameters` and `autos` are (name, kind): kind "v" for a variable, "a" for an array, "*" for
    an array by reference.
    """

    __slots__ = ("autos", "code", "name", "parameters", "void")

    def __init__(self, name: str, parameters: list[tuple[str, str]], void: bool) -> None:
        self.name = name
        self.parameters = parameters
        self.autos: list[tuple[str, str]] = []
        self.code = Code()
        self.void = void


class Parser:
    """Reads one item of input at a time: a line, or a function's definition."""

    def __init__(self, text: str, report: Callable[[str], None], draw: Callable[[], None]) -> None:
        self.text = text
        self.draw = draw
        """Called for each token: it draws on the budget."""
        self.position = 0
        self.line = 1
        self.report = report
        """Called with messages about the input, "message" to follow "NAME LINE: "."""
        self.kind = self.value = ""
        self.functions: dict[str, Function] = {}
        self.code = Code()
        self.breaks: list[list[int]] = []
        self.continues: list[list[int]] = []
        self.in_function = False
        self.nesting = 0
        self.spoiled = False
        """Whether the item holds an illegal character: it is not run."""

    # tokens

    def advance(self) -> None:
        """Read the next token into `kind` and `value`."""
        while True:
            self.draw()
            if self.position >= len(self.text):
                self.kind, self.value = "EOF", ""
                return
            found = _TOKEN.match(self.text, self.position)
            if found is None:
                self._illegal(self.text[self.position])
                continue
            self.position = found.end()
            kind, value = found.lastgroup, found[0]
            if kind == "operator":
                self.kind = self.value = value
                return
            if kind == "blank":
                self.line += value.count("\n")
                continue
            if kind == "newline":
                self.line += 1
                self.kind = self.value = "\n"
                return
            self.line += value.count("\n")
            self.value = value
            if kind == "name":
                self.kind = value if value in _KEYWORDS else "NAME"
                if value == "quit":
                    raise QuitError
            else:
                self.kind = str(kind).upper()
            return

    def _illegal(self, character: str) -> None:
        self.position += 1
        self.spoiled = True
        if character < " ":
            shown = f"^{chr(ord(character) + 64)}"
        elif character > "~":
            for byte in encode(character):
                self.report(f"illegal character: \\{byte:03o}")
            return
        else:
            shown = character
        self.report(f"illegal character: {shown}")

    def expect(self, kind: str) -> str:
        """Take a token of that kind."""
        if self.kind != kind:
            raise BcSyntaxError
        value = self.value
        self.advance()
        return value

    def newlines(self) -> None:
        while self.kind == "\n":
            self.advance()

    def skip_line(self) -> None:
        """After an error: go on behind the end of the line."""
        while self.kind not in ("\n", "EOF"):
            self.advance()
        self.code = Code()
        self.breaks, self.continues = [], []
        self.in_function = False
        self.nesting = 0

    def deeper(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise BcSyntaxError

    # input items

    def item(self) -> Code | None:
        """The code of the next line; None at the end of the input. Raises `BcSyntaxError`."""
        self.code = Code()
        self.advance()
        if self.kind == "EOF":
            return None
        if self.kind == "define":
            self.definition()
            return self.code
        self.statement_list()
        if self.kind != "\n":
            raise BcSyntaxError
        return self.code

    def statement_list(self) -> None:
        """Statements on one line."""
        while True:
            if self.kind not in ("\n", ";", "EOF", "}"):
                self.statement()
            if self.kind != ";":
                return
            self.advance()

    def definition(self) -> None:
        self.advance()
        void = False
        if self.kind == "void":
            void = True
            self.advance()
        name = self.expect("NAME")
        self.expect("(")
        function = Function(name, self.parameters(")"), void)
        self.expect(")")
        self.newlines()
        self.expect("{")
        outer, self.code = self.code, function.code
        self.in_function = True
        self.newlines_and_semicolons()
        while self.kind == "auto":
            self.advance()
            function.autos += self.parameters(";")
            if self.kind not in (";", "\n"):
                raise BcSyntaxError
            self.newlines_and_semicolons()
        sound = self.are_sound(function)
        self.block_rest()
        self.code.add("0")
        self.code.add("R")
        self.code = outer
        self.in_function = False
        if sound and not self.spoiled:
            self.functions[name] = function
        if self.kind != "}":
            raise BcSyntaxError

    def are_sound(self, function: Function) -> bool:
        """Whether no name is there twice; told of otherwise."""
        parameters, autos = function.parameters, function.autos
        problems = [
            problem
            for problem, found in (
                ("duplicate parameter names", len(set(parameters)) < len(parameters)),
                ("duplicate auto variable names", len(set(autos)) < len(autos)),
                ("variable in both parameter and auto lists", set(autos) & set(parameters)),
            )
            if found
        ]
        for problem in problems:
            self.report(problem)
        return not problems

    def newlines_and_semicolons(self) -> None:
        while self.kind in ("\n", ";"):
            self.advance()

    def parameters(self, end: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        while self.kind not in (end, "\n"):
            kind = "v"
            if self.kind in ("*", "&"):
                self.advance()
                kind = "*"
            name = self.expect("NAME")
            if self.kind == "[":
                self.advance()
                self.expect("]")
                kind = "*" if kind == "*" else "a"
            found.append((name, kind))
            if self.kind != ",":
                break
            self.advance()
        return found

    # statements

    def block_rest(self) -> None:
        """Statements up to the closing brace, which stays."""
        while True:
            while self.kind in ("\n", ";"):
                self.advance()
            if self.kind == "}":
                return
            if self.kind == "EOF":
                raise BcSyntaxError
            self.statement()
            if self.kind not in ("\n", ";", "}"):
                raise BcSyntaxError

    def statement(self) -> None:
        self.deeper()
        method = _STATEMENTS.get(self.kind)
        if method is not None:
            method(self)
        else:
            self.expression_statement()
        self.nesting -= 1

    def expression_statement(self) -> None:
        kind = self.expression()
        self.code.add("p" if kind == "=" else "W")

    def string_statement(self) -> None:
        self.code.add("w", self.value[1:-1], len(self.value))
        self.advance()

    def braces(self) -> None:
        self.advance()
        self.block_rest()
        self.advance()

    def if_statement(self) -> None:
        self.advance()
        self.expect("(")
        self.expression()
        self.expect(")")
        jump = self.code.add("Z", None, 3)
        self.newlines()
        self.statement()
        if self.kind == "else":
            self.advance()
            over = self.code.add("J", None, 3)
            self.code.patch(jump)
            self.newlines()
            self.statement()
            jump = over
        self.code.patch(jump)

    def loop_body(self, after: Callable[[], None]) -> None:
        """The body; `after` emits what `continue` jumps to."""
        self.breaks.append([])
        self.continues.append([])
        self.newlines()
        self.statement()
        for place in self.continues.pop():
            self.code.patch(place)
        after()
        for place in self.breaks.pop():
            self.code.patch(place)

    def while_statement(self) -> None:
        self.advance()
        start = len(self.code.instructions)
        self.expect("(")
        self.expression()
        self.expect(")")
        leave = self.code.add("Z", None, 3)
        self.loop_body(lambda: (self.code.add("J", start, 3), None)[1])
        self.code.patch(leave)

    def for_statement(self) -> None:
        self.advance()
        self.expect("(")
        if self.kind != ";":
            self.expression()
            self.code.add("p")
        self.expect(";")
        test = len(self.code.instructions)
        if self.kind != ";":
            self.expression()
        else:
            self.code.add("1")
        self.expect(";")
        enter = self.code.add("B", None, 3)
        leave = self.code.add("J", None, 3)
        step = len(self.code.instructions)
        if self.kind != ")":
            self.expression()
            self.code.add("p")
        self.expect(")")
        self.code.add("J", test, 3)
        self.code.patch(enter)
        self.loop_body(lambda: (self.code.add("J", step, 3), None)[1])
        self.code.patch(leave)

    def jump(self) -> None:
        targets = self.breaks if self.kind == "break" else self.continues
        if not targets:
            self.report(
                "Break outside a for/while" if self.kind == "break" else "Continue outside a for"
            )
        else:
            targets[-1].append(self.code.add("J", None, 3))
        self.advance()

    def return_statement(self) -> None:
        inside = self.in_function
        self.advance()
        if self.kind in (";", "\n", "}"):
            self.code.add("0")
        else:
            self.expression()
        if not inside:
            self.report("Return outside of a function.")
        self.code.add("R")

    def halt(self) -> None:
        self.advance()
        self.code.add("h")

    def print_statement(self) -> None:
        self.advance()
        while True:
            if self.kind == "STRING":
                self.code.add("O", self.value[1:-1], len(self.value))
                self.advance()
            else:
                self.expression()
                self.code.add("P")
            if self.kind != ",":
                return
            self.advance()

    def misplaced(self) -> None:
        raise BcSyntaxError

    # expressions: each method returns "=" for an assignment, "" otherwise

    def expression(self) -> str:
        self.deeper()
        kind = self.conjunctions("||")
        self.nesting -= 1
        return kind

    def conjunctions(self, operator: str) -> str:
        kind = self.conjunctions("&&") if operator == "||" else self.negation()
        while self.kind == operator:
            self.advance()
            self.code.add("D", None, 0 if operator == "||" else 1)
            jump = self.code.add("B" if operator == "||" else "Z", None, 3)
            self.code.add("p", None, 0 if operator == "||" else 1)
            if operator == "||":
                self.conjunctions("&&")
            else:
                self.negation()
            self.code.patch(jump)
            self.code.add("bool", None, 8 if operator == "||" else 6)
            kind = ""
        return kind

    def negation(self) -> str:
        if self.kind == "!":
            self.deeper()
            self.advance()
            kind = self.negation()
            self.code.add("!")
            self.nesting -= 1
            return kind
        return self.relation()

    def relation(self) -> str:
        kind = self.sum()
        while self.kind in _RELATIONS:
            operation = _RELATIONS[self.kind]
            self.advance()
            self.sum()
            self.code.add(operation)
            kind = ""
        return kind

    def sum(self) -> str:
        kind = self.product()
        while self.kind in ("+", "-"):
            operation = self.kind
            self.advance()
            self.product()
            self.code.add(operation)
            kind = ""
        return kind

    def product(self) -> str:
        kind = self.power()
        while self.kind in ("*", "/", "%"):
            operation = self.kind
            self.advance()
            self.power()
            self.code.add(operation)
            kind = ""
        return kind

    def power(self) -> str:
        kind = self.unary()
        if self.kind == "^":
            self.deeper()
            self.advance()
            self.power()
            self.code.add("^")
            self.nesting -= 1
            kind = ""
        return kind

    def unary(self) -> str:
        if self.kind == "!":
            return self.negation()
        if self.kind == "-":
            self.deeper()
            self.advance()
            kind = self.unary()
            self.code.add("n")
            self.nesting -= 1
            return kind
        if self.kind in ("++", "--"):
            operation = "+" if self.kind == "++" else "-"
            self.advance()
            load, store = self.named()
            self.step(load, store, operation, prefix=True)
            return ""
        return self.primary()

    def primary(self) -> str:
        if self.kind == "NUMBER":
            self.number()
            return ""
        if self.kind == "(":
            self.advance()
            self.expression()
            self.expect(")")
            return ""
        if self.kind in ("length", "sqrt"):
            operation = "L" if self.kind == "length" else "R"
            self.advance()
            self.expect("(")
            self.expression()
            self.expect(")")
            self.code.add("c" + operation, None, 2)
            return ""
        if self.kind == "read":
            self.advance()
            self.expect("(")
            self.expect(")")
            self.code.add("cI", None, 2)
            return ""
        if self.kind == "NAME" and self._next_is("("):
            return self.call()
        if self.kind == "scale" and self._next_is("("):
            self.advance()
            self.advance()
            self.expression()
            self.expect(")")
            self.code.add("cS", None, 2)
            return ""
        return self.named_expression()

    def _next_is(self, text: str) -> bool:
        position = self.position
        while position < len(self.text) and self.text[position] in " \t":
            position += 1
        return self.text.startswith(text, position)

    def number(self) -> None:
        text = self.value.replace("\\\n", "")
        self.advance()
        text = text.removesuffix(".").lstrip("0") or "0"
        if text in ("0", "1"):
            self.code.add(text)
        else:
            self.code.add("K", text, len(text) + 2)

    def call(self) -> str:
        name = self.value
        self.advance()
        self.expect("(")
        kinds: list[str] = []
        while self.kind != ")":
            if self.kind == "NAME" and re.match(
                r"[ \t]*\[[ \t]*\]", self.text[self.position : self.position + 40]
            ):
                self.code.add("array", self.value, 3)
                kinds.append("a")
                self.advance()
                self.expect("[")
                self.expect("]")
            else:
                self.expression()
                kinds.append("v")
            if self.kind != ",":
                break
            self.advance()
            if self.kind == ")":
                raise BcSyntaxError
        self.expect(")")
        self.code.add("C", (name, kinds), 3 + len(kinds))
        known = self.functions.get(name)
        return "=" if known is not None and known.void else ""  # nothing to print

    def named(self) -> tuple[tuple[str, object], tuple[str, object]]:
        """A variable or an element, its index evaluated: (load, store) operations."""
        kind, value = self.kind, self.value
        if kind in _SPECIALS or kind == ".":
            name = "last" if kind == "." else kind
            self.advance()
            return ("l", name), ("s", name)
        self.expect("NAME")
        if self.kind == "[":
            self.advance()
            self.expression()
            self.expect("]")
            return ("L", value), ("S", value)
        return ("l", value), ("s", value)

    def named_expression(self) -> str:
        load, store = self.named()
        kind = self.kind
        if kind == "=" or (len(kind) == 2 and kind[1] == "=" and kind[0] in "-+*/%^"):
            self.advance()
            if kind != "=":
                if load[0] == "L":
                    self.code.add("D")
                self.code.add(*load, 2)
            self.deeper()
            self.sum()
            self.nesting -= 1
            if kind != "=":
                self.code.add(kind[0])
            self.code.add(*store, 2)
            return "="
        if kind in ("++", "--"):
            self.advance()
            self.step(load, store, "+" if kind == "++" else "-", prefix=False)
            return ""
        self.code.add(*load, 2)
        return ""

    def step(
        self, load: tuple[str, object], store: tuple[str, object], operation: str, *, prefix: bool
    ) -> None:
        """`++` and `--` in one instruction: (name, whether an element, +1 or -1, whether
        before).
        """
        self.code.add("step", (load[1], load[0] == "L", 1 if operation == "+" else -1, prefix), 4)


_STATEMENTS: dict[str, Callable[[Parser], None]] = {
    "STRING": Parser.string_statement, "{": Parser.braces, "if": Parser.if_statement, "while": Parser.while_statement,
    "for": Parser.for_statement, "break": Parser.jump, "continue": Parser.jump, "return": Parser.return_statement, "halt": Parser.halt,
    "print": Parser.print_statement, "define": Parser.misplaced,
    "auto": Parser.misplaced, "else": Parser.misplaced,
}  # fmt: skip
