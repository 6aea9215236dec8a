"""Awk tokens into a tree: recursive descent for statements, precedence climbing for expressions."""

from __future__ import annotations

from agentsandbox.languages.awk.lexer import AwkSyntaxError, point_at, tokenize
from agentsandbox.languages.awk.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Concat,
    Delete,
    DoWhile,
    Exit,
    ExpressionStatement,
    Field,
    For,
    ForIn,
    Function,
    Getline,
    Grouping,
    If,
    Index,
    IndirectCall,
    Jump,
    Match,
    Membership,
    Name,
    Number,
    Print,
    Program,
    Regex,
    Return,
    Rule,
    Step,
    Switch,
    Ternary,
    Text,
    Unary,
    UserCall,
    While,
)
from agentsandbox.languages.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.languages.awk.lexer import Source, Token
    from agentsandbox.languages.awk.nodes import Expression, Statement
    from agentsandbox.limits import Budget

__all__ = ["parse"]

MAX_NESTING = 120
"""Levels of parentheses and blocks a program may have: each costs a few Python frames."""

_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "^="))
_TERNARY, _OR, _AND, _IN, _MATCH, _COMPARE, _CONCAT, _ADD, _MULTIPLY, _UNARY, _POWER = range(1, 12)
_BINARY = {
    "||": _OR, "&&": _AND, "<": _COMPARE, "<=": _COMPARE, "==": _COMPARE, "!=": _COMPARE, ">": _COMPARE, ">=": _COMPARE,
    "+": _ADD, "-": _ADD, "*": _MULTIPLY, "/": _MULTIPLY, "%": _MULTIPLY, "^": _POWER,
}  # fmt: skip
_OPERAND_STARTS = frozenset(("NUMBER", "STRING", "ERE", "STRONG", "NAME", "CALL", "BUILTIN", "$", "!", "(", "-", "+", "++", "--", "@"))
_CONCAT_STARTS = _OPERAND_STARTS - {"-", "+", "@", "ERE"} | {"getline"}
_ARGUMENT_COUNTS = {
    "length": (0, 1), "substr": (2, 3), "index": (2, 2), "split": (2, 4), "sub": (2, 3), "gsub": (2, 3), "gensub": (3, 4),
    "match": (2, 3), "sprintf": (1, 10000), "sin": (1, 1), "cos": (1, 1), "atan2": (2, 2), "exp": (1, 1), "log": (1, 1),
    "sqrt": (1, 1), "int": (1, 1), "rand": (0, 0), "srand": (0, 1), "tolower": (1, 1), "toupper": (1, 1), "system": (1, 1),
    "close": (1, 2), "fflush": (0, 1), "strftime": (0, 3), "systime": (0, 0), "mktime": (1, 2), "asort": (1, 3), "asorti": (1, 3),
    "and": (2, 10000), "or": (2, 10000), "xor": (2, 10000), "lshift": (2, 2), "rshift": (2, 2), "compl": (1, 1), "strtonum": (1, 1),
    "patsplit": (2, 4), "typeof": (1, 2), "isarray": (1, 1), "mkbool": (1, 1),
}  # fmt: skip


def parse(sources: Sequence[Source], warn: Callable[[str], None], include: Callable[[str, str], Source], budget: Budget) -> Program:
    """The program that the pieces form together; `include` reads what `@include` names, at a place. Raises `AwkSyntaxError`."""
    rules: list[Rule] = []
    functions: dict[str, Function] = {}
    pending = list(sources)[::-1]
    included: set[str] = set()
    while pending:
        parser = _Parser(pending.pop(), warn, rules, functions, budget)
        try:
            parser.program()
        except RecursionError:
            raise AwkSyntaxError(f"{parser.source.name}:1: program nested too deeply") from None
        for line, name in parser.includes:
            if name not in included:
                included.add(name)
                pending.append(include(name, f"{parser.source.name}:{line}"))
    return Program(1, rules, functions)


class _Parser:
    def __init__(
        self, source: Source, warn: Callable[[str], None], rules: list[Rule], functions: dict[str, Function], budget: Budget
    ) -> None:
        self.source = source
        self.budget = budget
        self.tokens = tokenize(source, lambda message, line: warn(f"{source.name}:{line}: warning: {message}"), budget)
        self.rules = rules
        self.functions = functions
        self.includes: list[tuple[int, str]] = []
        self.position = 0
        self.token = self.tokens[0]
        self.nesting = 0
        self.no_greater = False  # inside print's list, where ">" redirects
        self.in_loop = 0
        self.in_switch = 0
        self.in_function = False
        self.parameters: dict[str, int] = {}
        self.defining = ""
        self.variables: set[str] = set()
        """Global names used as those of variables."""
        self.rule_kind = ""

    # tokens

    def advance(self) -> Token:
        budget = self.budget
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        token = self.token
        self.position += 1
        if self.position < len(self.tokens):
            self.token = self.tokens[self.position]
        return token

    def peek(self, distance: int = 1) -> Token:
        return self.tokens[min(self.position + distance, len(self.tokens) - 1)]

    def expect(self, kind: str) -> Token:
        if self.token.kind != kind:
            raise self.unexpected()
        return self.advance()

    def unexpected(self) -> AwkSyntaxError:
        message = "unexpected newline or end of string"
        if self.token.kind == "NEWLINE":
            return point_at(self.source, self.token.position, message, later=1)
        if self.token.kind == "EOF":
            if self.source.name != "cmd. line":
                place = f"{self.source.name}:{max(self.source.text.count(chr(10)), 1)}: "
                message = "source files / command-line arguments must contain complete functions or rules"
                return AwkSyntaxError(f"{place}(END OF FILE)", f"{place}^ {message}")
            return point_at(self.source, len(self.source.text.rstrip("\n")), message)
        return point_at(self.source, self.token.position, "syntax error")

    def error(self, message: str) -> AwkSyntaxError:
        return AwkSyntaxError(f"{self.source.name}:{self.token.line}: {message}")

    def newlines(self) -> None:
        while self.token.kind == "NEWLINE":
            self.advance()

    def twice(self, message: str) -> AwkSyntaxError:
        """gawk says these two times."""
        error = self.error(message)
        return AwkSyntaxError(error.lines[0], error.lines[0])

    def deeper(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.error("error: program nested too deeply")

    # rules

    def program(self) -> None:
        while True:
            while self.token.kind in ("NEWLINE", ";"):
                self.advance()
            if self.token.kind == "EOF":
                return
            if self.token.kind == "function":
                self.function()
            elif self.token.kind == "@":
                self.directive()
            else:
                self.rule()

    def directive(self) -> None:
        self.advance()
        name = self.token
        if name.value == "include" and self.peek().kind == "STRING":
            self.advance()
            self.includes.append((name.line, self.advance().value))
        elif name.value == "load" and self.peek().kind == "STRING":
            raise self.error(f"error: cannot open shared library `{self.peek().value}' for reading: No such file or directory")
        elif name.value == "namespace" and self.peek().kind == "STRING":
            raise self.error("error: @namespace is not supported")
        else:
            raise self.unexpected()

    def rule(self) -> None:
        line = self.token.line
        kind = self.token.kind
        if kind in ("BEGIN", "END", "BEGINFILE", "ENDFILE"):
            self.advance()
            if self.token.kind != "{":
                if self.token.kind in ("NEWLINE", "EOF", ";"):
                    raise self.error(f"{kind} blocks must have an action part")
                raise self.unexpected()
            self.rule_kind = kind
            self.rules.append(Rule(line, kind, None, None, self.action()))
            return
        self.rule_kind = "pattern"
        if kind == "{":
            self.rules.append(Rule(line, "always", None, None, self.action()))
            return
        first = self.expression()
        last = None
        if self.token.kind == ",":
            self.advance()
            self.newlines()
            last = self.expression()
        action = self.action() if self.token.kind == "{" else None
        if action is None and self.token.kind not in ("NEWLINE", ";", "EOF"):
            raise self.unexpected()
        self.rules.append(Rule(line, "range" if last is not None else "pattern", first, last, action))

    def action(self) -> list[Statement]:
        self.expect("{")
        statements = self.statements()
        self.expect("}")
        return statements

    def function(self) -> None:
        line = self.advance().line
        name = self.token.value
        if self.token.kind == "BUILTIN":
            raise point_at(self.source, self.token.position, f"`{name}' is a built-in function, it cannot be redefined")
        if self.token.kind not in ("NAME", "CALL"):
            raise self.unexpected()
        self.advance()
        self.expect("(")
        parameters: dict[str, int] = {}
        self.newlines()
        while self.token.kind != ")":
            parameter = self.expect("NAME").value
            if parameter == name:
                raise self.error(f"error: function `{name}': cannot use function name as parameter name")
            if parameter in parameters:
                raise self.error(
                    f"error: function `{name}': parameter #{len(parameters) + 1}, `{parameter}', duplicates parameter "
                    f"#{parameters[parameter]}"
                )
            parameters[parameter] = len(parameters) + 1
            self.newlines()
            if self.token.kind == ",":
                self.advance()
                self.newlines()
            elif self.token.kind != ")":
                raise self.unexpected()
        self.advance()
        self.newlines()
        if name in self.functions or name in self.variables or name in SPECIAL_NAMES or name in SPECIAL_ARRAYS:
            raise self.error(f"error: function name `{name}' previously defined")
        self.in_function = True
        self.rule_kind = "function"
        self.parameters, self.defining = parameters, name
        self.functions[name] = Function(line, name, list(parameters), self.action())
        self.parameters, self.defining = {}, ""
        self.in_function = False

    # statements

    def statements(self) -> list[Statement]:
        """Up to a closing brace, `case` or `default`, which stay."""
        found: list[Statement] = []
        while True:
            while self.token.kind in ("NEWLINE", ";"):
                self.advance()
            if self.token.kind in ("}", "case", "default"):
                return found
            if self.token.kind == "EOF":
                raise self.unexpected()
            found.append(self.statement())

    def statement(self) -> Statement:
        self.deeper()
        compound = _COMPOUND.get(self.token.kind)
        if compound is not None:
            result = compound(self)
        else:
            result = self.simple()
            self.terminate()
        self.nesting -= 1
        return result

    def terminate(self) -> None:
        """The end of a simple statement."""
        if self.token.kind in (";", "NEWLINE"):
            self.advance()
        elif self.token.kind not in ("}", "EOF"):
            raise self.unexpected()

    def body(self) -> Statement:
        """The statement a condition governs, perhaps on the next line, perhaps empty."""
        self.newlines()
        if self.token.kind == ";":
            return Block(self.advance().line, [])
        if self.token.kind in ("}", "EOF"):
            raise self.unexpected()
        return self.statement()

    def block(self) -> Statement:
        line = self.token.line
        return Block(line, self.action())

    def if_statement(self) -> Statement:
        line = self.advance().line
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        yes = self.body()
        ahead = 0
        while self.peek(ahead).kind in ("NEWLINE", ";"):
            ahead += 1
        if self.peek(ahead).kind != "else":
            return If(line, condition, yes, None)
        while self.token.kind != "else":
            self.advance()
        self.advance()
        return If(line, condition, yes, self.body())

    def while_statement(self) -> Statement:
        line = self.advance().line
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        return While(line, condition, self.loop_body())

    def loop_body(self) -> Statement:
        self.in_loop += 1
        body = self.body()
        self.in_loop -= 1
        return body

    def do_statement(self) -> Statement:
        line = self.advance().line
        body = self.loop_body()
        while self.token.kind in ("NEWLINE", ";"):
            self.advance()
        self.expect("while")
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        self.terminate()
        return DoWhile(line, body, condition)

    def for_statement(self) -> Statement:
        line = self.advance().line
        self.expect("(")
        if self.token.kind == "NAME" and self.peek().kind == "in" and self.peek(2).kind == "NAME":
            saved = self.position
            variable = self.variable(self.advance())
            self.advance()
            array = self.name_or_index()
            if self.token.kind == ")":
                self.advance()
                return ForIn(line, variable, array, self.loop_body())
            self.position = saved
            self.token = self.tokens[saved]
        start = None if self.token.kind == ";" else self.simple()
        self.expect(";")
        self.newlines()
        condition = None if self.token.kind == ";" else self.expression()
        self.expect(";")
        self.newlines()
        step = None if self.token.kind == ")" else self.simple()
        self.expect(")")
        return For(line, start, condition, step, self.loop_body())

    def switch_statement(self) -> Statement:
        line = self.advance().line
        self.expect("(")
        subject = self.expression()
        self.expect(")")
        self.newlines()
        self.expect("{")
        cases: list[tuple[Expression | None, list[Statement]]] = []
        self.in_switch += 1
        while True:
            while self.token.kind in ("NEWLINE", ";"):
                self.advance()
            if self.token.kind == "}":
                break
            value: Expression | None = None
            if self.token.kind == "case":
                self.advance()
                value = self.case_value()
            else:
                self.expect("default")
            self.expect(":")
            cases.append((value, self.statements()))
        self.in_switch -= 1
        self.advance()
        return Switch(line, subject, cases)

    def case_value(self) -> Expression:
        token = self.token
        if token.kind in ("-", "+") and self.peek().kind == "NUMBER":
            self.advance()
            return Unary(token.line, token.kind, self.operand())
        if token.kind not in ("NUMBER", "STRING", "ERE", "STRONG"):
            raise self.unexpected()
        return self.operand()

    def jump(self) -> Statement:
        token = self.advance()
        kind = token.kind
        if kind == "break" and not (self.in_loop or self.in_switch):
            raise self.twice("error: `break' is not allowed outside a loop or switch")
        if kind == "continue" and not self.in_loop:
            raise self.twice("error: `continue' is not allowed outside a loop")
        if kind in ("next", "nextfile") and self.rule_kind in ("BEGIN", "END", "BEGINFILE", "ENDFILE"):
            if not (kind == "nextfile" and self.rule_kind == "BEGINFILE"):
                raise self.error(f"error: `{kind}' used in {self.rule_kind} action")
        self.terminate()
        return Jump(token.line, kind)

    def return_statement(self) -> Statement:
        token = self.token
        if not self.in_function:
            raise point_at(self.source, token.position, "`return' used outside function context")
        self.advance()
        value = None if self.token.kind in (";", "NEWLINE", "}", "EOF") else self.expression()
        self.terminate()
        return Return(token.line, value)

    def exit_statement(self) -> Statement:
        line = self.advance().line
        value = None if self.token.kind in (";", "NEWLINE", "}", "EOF") else self.expression()
        self.terminate()
        return Exit(line, value)

    def empty(self) -> Statement:
        return Block(self.advance().line, [])

    def simple(self) -> Statement:
        """A statement that may stand in the head of a `for`."""
        line = self.token.line
        if self.token.kind in ("print", "printf"):
            return self.print_statement()
        if self.token.kind == "delete":
            self.advance()
            if self.token.kind == "(":
                self.advance()
                target = self.name_or_index()
                self.expect(")")
            else:
                target = self.name_or_index()
            return Delete(line, target)
        return ExpressionStatement(line, self.expression())

    def variable(self, token: Token) -> Name:
        """A name that is no call's."""
        name = token.value
        if name not in self.parameters:
            if name in self.functions or name == self.defining:
                raise AwkSyntaxError(
                    f"{self.source.name}:{token.line}: error: function `{name}' called with space between name and `(',\n"
                    "or used as a variable or an array"
                )
            self.variables.add(name)
        return Name(token.line, name)

    def name_or_index(self) -> Name | Index:
        result: Name | Index = self.variable(self.expect("NAME"))
        while self.token.kind == "[":
            result = self.subscript(result)
        return result

    def subscript(self, base: Name | Index) -> Index:
        line = self.advance().line
        subscripts = self.list_until("]")
        self.advance()
        return Index(line, base, subscripts)

    def list_until(self, closing: str) -> list[Expression]:
        """At least one expression, separated by commas; the closing token stays."""
        saved, self.no_greater = self.no_greater, False
        found = [self.expression()]
        while self.token.kind == ",":
            self.advance()
            self.newlines()
            found.append(self.expression())
        self.newlines()
        self.no_greater = saved
        if self.token.kind != closing:
            raise self.unexpected()
        return found

    def print_statement(self) -> Statement:
        token = self.advance()
        formatted = token.kind == "printf"
        arguments: list[Expression] = []
        saved, self.no_greater = self.no_greater, True
        if self.token.kind not in (";", "NEWLINE", "}", "EOF", ">", ">>", "|", "|&"):
            arguments.append(self.expression())
            while self.token.kind == ",":
                self.advance()
                self.newlines()
                arguments.append(self.expression())
            if len(arguments) == 1 and isinstance(arguments[0], Grouping):
                arguments = arguments[0].items
        redirection = ""
        destination = None
        if self.token.kind in (">", ">>", "|", "|&"):
            redirection = self.advance().kind
            destination = self.binary(_CONCAT)
        self.no_greater = saved
        for argument in arguments:
            self.refuse_grouping(argument)
        return Print(token.line, formatted, arguments, redirection, destination)

    def refuse_grouping(self, expression: Expression) -> None:
        if isinstance(expression, Grouping):
            raise self.unexpected()

    # expressions

    def expression(self) -> Expression:
        self.deeper()
        result = self.ternary()
        self.nesting -= 1
        return result

    def ternary(self) -> Expression:
        condition = self.binary(_OR)
        if self.token.kind != "?":
            return condition
        line = self.advance().line
        self.newlines()
        yes = self.expression()
        self.newlines()
        self.expect(":")
        self.newlines()
        return Ternary(line, condition, yes, self.expression())

    def binary(self, minimum: int) -> Expression:
        """Operators that bind at least as tightly as `minimum`."""
        left = self.unary()
        after_getline = False
        compared = False
        while True:
            token = self.token
            kind = token.kind
            if kind in ("|", "|&") and self.peek().kind == "getline" and (minimum <= _CONCAT or after_getline):
                self.advance()
                self.advance()
                left = Getline(token.line, kind, self.optional_variable(), left)
                after_getline = True
                continue
            level = _BINARY.get(kind)
            if level is not None:
                if kind == ">" and self.no_greater:
                    return left
                if level < minimum and not (after_getline and level >= _ADD):
                    return left
                if level == _COMPARE:
                    if compared:
                        raise self.unexpected()
                    compared = True
                left = self.operator(left, level)
            elif kind in ("~", "!~") and minimum <= _MATCH:
                self.advance()
                left = Match(token.line, left, self.binary(_COMPARE), kind == "!~")
                compared = False
            elif kind == "in" and minimum <= _IN:
                self.advance()
                array = self.name_or_index()
                left = Membership(token.line, left.items if isinstance(left, Grouping) else [left], array)
            elif kind in _CONCAT_STARTS and minimum <= _CONCAT and kind != "in":
                right = self.binary(_ADD)
                if isinstance(left, Concat):
                    left.parts.append(right)
                else:
                    left = Concat(token.line, [left, right])
            else:
                return left

    def operator(self, left: Expression, level: int) -> Expression:
        """The rest of a binary operation whose operator is the next token."""
        token = self.advance()
        if level in (_OR, _AND):
            self.newlines()
        if level == _POWER:
            right = self.power_operand()
        elif level == _COMPARE:
            right = self.binary(_CONCAT)
        else:
            right = self.binary(level + 1)
        return Binary(token.line, token.kind, left, right)

    def power_operand(self) -> Expression:
        """The right side of `^`: a sign may stand there, and another `^`."""
        if self.token.kind in ("-", "+", "!"):
            self.deeper()
            token = self.advance()
            operand = self.power_operand()
            self.nesting -= 1
            return Unary(token.line, token.kind, operand)
        left = self.postfix()
        if self.token.kind == "^":
            self.deeper()
            token = self.advance()
            left = Binary(token.line, "^", left, self.power_operand())
            self.nesting -= 1
        return left

    def unary(self) -> Expression:
        token = self.token
        if token.kind in ("!", "-", "+"):
            self.deeper()
            self.advance()
            operand = self.unary()
            self.nesting -= 1
            if token.kind != "!" or not isinstance(operand, Assign):
                operand = self.raise_power(operand)
            return Unary(token.line, token.kind, operand)
        return self.raise_power(self.postfix())

    def raise_power(self, operand: Expression) -> Expression:
        if self.token.kind == "^":
            token = self.advance()
            return Binary(token.line, "^", operand, self.power_operand())
        return operand

    def postfix(self) -> Expression:
        operand = self.operand()
        token = self.token
        if not isinstance(operand, (Name, Index, Field)):
            return operand
        if token.kind in ("++", "--"):
            self.advance()
            return Step(token.line, operand, 1 if token.kind == "++" else -1, False)
        if token.kind in _ASSIGNMENTS:
            self.advance()
            self.newlines()
            self.deeper()
            value = self.ternary()
            self.nesting -= 1
            return Assign(token.line, token.kind, operand, value)
        return operand

    def operand(self) -> Expression:
        method = _OPERAND.get(self.token.kind)
        if method is None:
            raise self.unexpected()
        return method(self)

    def number(self) -> Expression:
        token = self.advance()
        text = token.value
        if text[:2] in ("0x", "0X"):
            return Number(token.line, float(int(text, 16)) if len(text) < 250 else float("inf"))
        if len(text) > 1 and text[0] == "0" and text.isdigit() and set(text) <= set("01234567"):
            return Number(token.line, float(int(text, 8)) if len(text) < 300 else float("inf"))
        return Number(token.line, float(text))

    def text(self) -> Expression:
        token = self.advance()
        return Text(token.line, token.value)

    def regex(self) -> Expression:
        token = self.advance()
        return Regex(token.line, token.value, token.kind == "STRONG")

    def name(self) -> Expression:
        result: Name | Index = self.variable(self.advance())
        while self.token.kind == "[":
            result = self.subscript(result)
        return result

    def field(self) -> Expression:
        token = self.advance()
        self.deeper()
        number: Expression
        if self.token.kind in ("++", "--"):
            number = self.pre_step()
        elif self.token.kind in ("-", "+", "!"):
            sign = self.advance()
            number = Unary(sign.line, sign.kind, self.operand())
        else:
            number = self.operand()
        self.nesting -= 1
        return Field(token.line, number)

    def pre_step(self) -> Expression:
        token = self.advance()
        target = self.operand()
        if not isinstance(target, (Name, Index, Field)):
            raise self.unexpected()
        return Step(token.line, target, 1 if token.kind == "++" else -1, True)

    def parenthesis(self) -> Expression:
        token = self.advance()
        self.newlines()
        items = self.list_until(")")
        self.advance()
        if len(items) > 1:
            if self.token.kind not in ("in", ";", "NEWLINE", "}", ">", ">>", "|", "|&", "EOF"):
                raise self.unexpected()
            return Grouping(token.line, items)
        self.refuse_grouping(items[0])
        # parenthesised: no longer something that can be assigned to or that `|` binds into
        return Unary(token.line, "()", items[0])

    def getline(self) -> Expression:
        token = self.advance()
        target = self.optional_variable()
        if self.token.kind == "<":
            self.advance()
            source = self.pre_step() if self.token.kind in ("++", "--") else self.postfix_without_assignment()
            return Getline(token.line, "<", target, source)
        return Getline(token.line, "", target, None)

    def postfix_without_assignment(self) -> Expression:
        operand = self.operand()
        if isinstance(operand, (Name, Index, Field)) and self.token.kind in ("++", "--"):
            token = self.advance()
            return Step(token.line, operand, 1 if token.kind == "++" else -1, False)
        return operand

    def optional_variable(self) -> Name | Index | Field | None:
        if self.token.kind == "NAME":
            return self.name_or_index()
        if self.token.kind == "$":
            result = self.field()
            assert isinstance(result, Field)
            return result
        return None

    def arguments(self) -> list[Expression]:
        self.expect("(")
        self.newlines()
        if self.token.kind == ")":
            return []
        return self.list_until(")")

    def call(self) -> Expression:
        token = self.advance()
        arguments = self.arguments()
        self.advance()
        return UserCall(token.line, token.value, arguments)

    def indirect_call(self) -> Expression:
        token = self.advance()
        if self.token.kind != "CALL":
            raise self.unexpected()
        name = self.advance()
        arguments = self.arguments()
        self.advance()
        return IndirectCall(token.line, Name(name.line, name.value), arguments)

    def builtin(self) -> Expression:
        token = self.advance()
        name = token.value
        if self.token.kind != "(":
            if name != "length":
                raise self.unexpected()
            return Call(token.line, name, [])
        arguments = self.arguments()
        lowest, highest = _ARGUMENT_COUNTS[name]
        if not lowest <= len(arguments) <= highest:
            message = f"{len(arguments)} is invalid as number of arguments for {name}"
            raise point_at(self.source, self.token.position, message)
        if name in ("sub", "gsub") and len(arguments) > 2 and not _is_changeable(arguments[2]):
            raise point_at(self.source, self.token.position, f"{name} third parameter is not a changeable object")
        self.advance()
        return Call(token.line, name, arguments)


def _is_changeable(expression: Expression) -> bool:
    """Whether it can be assigned, or is a constant, which gawk lets pass."""
    if isinstance(expression, Binary):
        return isinstance(expression.left, Number) and isinstance(expression.right, Number)
    if isinstance(expression, Concat):
        return all(isinstance(part, Text) for part in expression.parts)
    return isinstance(expression, (Name, Index, Field, Number, Text))


_COMPOUND: dict[str, Callable[[_Parser], Statement]] = {
    "{": _Parser.block, "if": _Parser.if_statement, "while": _Parser.while_statement, "do": _Parser.do_statement,
    "for": _Parser.for_statement, "switch": _Parser.switch_statement, "break": _Parser.jump, "continue": _Parser.jump,
    "next": _Parser.jump, "nextfile": _Parser.jump, "return": _Parser.return_statement, "exit": _Parser.exit_statement,
    ";": _Parser.empty,
}  # fmt: skip
_OPERAND: dict[str, Callable[[_Parser], Expression]] = {
    "NUMBER": _Parser.number, "STRING": _Parser.text, "ERE": _Parser.regex, "STRONG": _Parser.regex, "NAME": _Parser.name,
    "$": _Parser.field, "++": _Parser.pre_step, "--": _Parser.pre_step, "(": _Parser.parenthesis, "getline": _Parser.getline,
    "CALL": _Parser.call, "@": _Parser.indirect_call, "BUILTIN": _Parser.builtin, "-": _Parser.unary, "+": _Parser.unary,
    "!": _Parser.unary,
}  # fmt: skip
