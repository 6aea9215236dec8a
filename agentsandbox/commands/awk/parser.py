"""Awk tokens into a tree: recursive descent for rules and statements."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.lexer import AwkSyntaxError, Source, spelled
from agentsandbox.commands.awk.modes import DEFAULT, EXTENSIONS, Mode
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES
from agentsandbox.commands.awk.terms import CONCAT, Terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.commands.awk.nodes import Expression, Statement
    from agentsandbox.kernel.budget import Budget


def parse(
    sources: Sequence[Source],
    warn: Callable[[str], None],
    budget: Budget,
    mode: Mode = DEFAULT,
) -> nodes.Program:
    """Return the program that the pieces form together. Raises `AwkSyntaxError`."""
    program = nodes.Program(1, [], {}, [], mode)
    for number, source in enumerate(sources):
        numbered = Source(source.name, source.text, number)
        program.sources.append(numbered)
        try:
            _Parser(numbered, warn, program, budget).program()
        except RecursionError:
            raise AwkSyntaxError(f"{source.name}:1: program nested too deeply") from None
        except AwkSyntaxError as error:
            raise AwkSyntaxError(*error.lines, *_refused_parameters(program)) from None
    if messages := _refused_parameters(program):
        raise AwkSyntaxError(*messages)
    return program


def _refused_parameters(program: nodes.Program) -> list[str]:
    """Return the messages about parameters that have the name of a function, for POSIX."""
    if not program.mode.posix:
        return []
    return [
        f"error: function `{name}': cannot use function `{parameter}' as a parameter name"
        for name, function in program.functions.items()
        for parameter in function.parameters
        if parameter in program.functions
    ]


class _Parser(Terms):
    def __init__(
        self, source: Source, warn: Callable[[str], None], program: nodes.Program, budget: Budget
    ) -> None:
        super().__init__(source, warn, program.functions, budget, program.mode)
        self.rules = program.rules
        self.in_loop = 0
        self.in_switch = 0
        self.in_function = False
        self.rule_kind = ""

    # rules

    def program(self) -> None:
        try:
            self.rules_and_functions()
        except AwkSyntaxError as error:
            raise AwkSyntaxError(*self.complaints, *error.lines) from None
        if self.complaints:
            raise AwkSyntaxError(*self.complaints)

    def rules_and_functions(self) -> None:
        while True:
            while self.token.kind in ("NEWLINE", ";"):
                if self.token.kind == ";":
                    line = self.token.line + (
                        self.peek().kind == "NEWLINE" and self.peek(2).kind != "EOF"
                    )
                    message = "each rule must have a pattern or an action part"
                    self.complaints.append(f"{self.source.place(line)}: {message}")
                self.advance()
            if self.token.kind == "EOF":
                return
            if self.token.kind == "function":
                self.function()
            else:
                self.rule()
            self.rule_end()

    def rule_end(self) -> None:
        """Skip a semicolon after a rule, and newlines before it if the rule has braces."""
        if self.tokens[self.position - 1].kind == "}":
            self.newlines()
        if self.token.kind == ";":
            self.advance()

    def rule(self) -> None:
        line = self.token.line
        kind = self.token.kind
        if kind in ("BEGIN", "END", "BEGINFILE", "ENDFILE"):
            self.advance()
            if self.token.kind != "{":
                if self.token.kind in ("NEWLINE", "EOF", ";"):
                    line = self.token.line + (
                        self.token.value == "\n" and self.peek().kind != "EOF"
                    )
                    raise AwkSyntaxError(
                        f"{self.source.place(line)}: {kind} blocks must have an action part"
                    )
                raise self.unexpected()
            self.rule_kind = kind
            self.rules.append(nodes.Rule(line, kind, None, None, self.action()))
            return
        self.rule_kind = "pattern"
        if kind == "{":
            self.rules.append(nodes.Rule(line, "always", None, None, self.action()))
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
        self.rules.append(
            nodes.Rule(line, "range" if last is not None else "pattern", first, last, action)
        )

    def action(self) -> list[Statement]:
        self.expect("{")
        statements = self.statements()
        self.expect("}")
        return statements

    def function(self) -> None:
        line = self.advance().line
        name, name_line = self.token.value, self.token.line
        if self.token.kind == "BUILTIN":
            raise self.pointed(
                self.token.position,
                f"`{name}' is a built-in function, it cannot be redefined",
            )
        if self.token.kind not in ("NAME", "CALL"):
            raise self.unexpected()
        self.advance()
        self.expect("(")
        parameters = self.read_parameters(name)
        self.newlines()
        self.shadow(parameters)
        known = (self.functions, self.variables, SPECIAL_NAMES, SPECIAL_ARRAYS)
        if any(name in names for names in known):
            raise self.error(
                f"error: function name `{spelled(name)}' previously defined", name_line
            )
        self.in_function = True
        self.rule_kind = "function"
        self.parameters, self.defining = parameters, name
        self.functions[name] = nodes.Function(line, name, list(parameters), self.action())
        self.parameters, self.defining = {}, ""
        self.in_function = False

    def read_parameters(self, function: str) -> dict[str, int]:
        """Read the parameters up to their closing parenthesis; return the place of each."""
        parameters: dict[str, int] = {}
        position = 0
        while self.token.kind != ")":
            shadows = self.token.kind == "BUILTIN" and self.token.value in EXTENSIONS
            name = (self.advance() if shadows else self.expect("NAME")).value
            position += 1
            problems = []
            if name == function:
                problems.append("cannot use function name as parameter name")
            elif name in SPECIAL_NAMES or name in SPECIAL_ARRAYS:
                problems.append(f"cannot use special variable `{name}' as a function parameter")
            if name in parameters:
                problems.append(
                    f"parameter #{position}, `{spelled(name)}', duplicates parameter"
                    f" #{parameters[name]}"
                )
            for problem in problems:
                error = self.error(f"error: function `{spelled(function)}': {problem}")
                self.complaints += error.lines
            parameters.setdefault(name, position)
            if self.token.kind == ",":
                self.advance()
                self.newlines()
            elif self.token.kind != ")":
                raise self.unexpected()
        self.advance()
        return parameters

    def shadow(self, parameters: dict[str, int]) -> None:
        """Take the names of functions that are parameters for names, up to the function's end."""
        if EXTENSIONS.isdisjoint(parameters):
            return
        braces = 0
        for at in range(self.position, len(self.tokens)):
            self.budget.step()
            token = self.tokens[at]
            braces += {"{": 1, "}": -1}.get(token.kind, 0)
            if not braces:
                return
            if token.kind == "BUILTIN" and token.value in parameters:
                following = self.tokens[at + 1]
                touches = following.position == token.position + len(token.value)
                token.kind = "CALL" if following.kind == "(" and touches else "NAME"

    # statements

    def statements(self) -> list[Statement]:
        """Read up to a closing brace, `case` or `default`, which is not taken."""
        found: list[Statement] = []
        while True:
            while self.token.kind in ("NEWLINE", ";"):
                self.advance()
            if self.token.kind in ("}", "case", "default"):
                return found
            if self.token.kind == "EOF":
                from agentsandbox.commands.awk.syntax_errors import unfinished

                raise unfinished(self)
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
        """Skip the end of a simple statement."""
        if self.token.kind in (";", "NEWLINE"):
            self.advance()
        elif self.token.kind not in ("}", "EOF"):
            raise self.unexpected()

    def body(self) -> Statement:
        """Read the statement behind a condition, which may be on the next line, or empty."""
        self.newlines()
        if self.token.kind == ";":
            return nodes.Block(self.advance().line, [])
        if self.token.kind in ("}", "EOF"):
            raise self.unexpected()
        return self.statement()

    def block(self) -> Statement:
        line = self.token.line
        return nodes.Block(line, self.action())

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
            return nodes.If(line, condition, yes, None)
        while self.token.kind != "else":
            self.advance()
        self.advance()
        return nodes.If(line, condition, yes, self.body())

    def while_statement(self) -> Statement:
        line = self.advance().line
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        return nodes.While(line, condition, self.loop_body())

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
        return nodes.DoWhile(line, body, condition)

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
                return nodes.ForIn(line, variable, array, self.loop_body())
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
        return nodes.For(line, start, condition, step, self.loop_body())

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
        return nodes.Switch(line, subject, cases)

    def case_value(self) -> Expression:
        token = self.token
        if token.kind in ("-", "+") and self.peek().kind == "NUMBER":
            self.advance()
            return nodes.Unary(token.line, token.kind, self.operand())
        if token.kind == "TYPED":
            return self.regex()
        if token.kind not in ("NUMBER", "STRING", "ERE"):
            raise self.unexpected()
        return self.operand()

    def jump(self) -> Statement:
        token = self.advance()
        kind = token.kind
        if kind == "break" and not (self.in_loop or self.in_switch):
            raise self.twice("error: `break' is not allowed outside a loop or switch")
        if kind == "continue" and not self.in_loop:
            raise self.twice("error: `continue' is not allowed outside a loop")
        if kind in ("next", "nextfile") and self.rule_kind in (
            "BEGIN",
            "END",
            "BEGINFILE",
            "ENDFILE",
        ):
            if not (kind == "nextfile" and self.rule_kind == "BEGINFILE"):
                raise self.error(f"error: `{kind}' used in {self.rule_kind} action")
        self.terminate()
        return nodes.Jump(token.line, kind)

    def return_statement(self) -> Statement:
        token = self.token
        if not self.in_function:
            raise self.pointed(token.position, "`return' used outside function context")
        self.advance()
        value = None if self.token.kind in (";", "NEWLINE", "}", "EOF") else self.expression()
        self.terminate()
        return nodes.Return(token.line, value)

    def exit_statement(self) -> Statement:
        line = self.advance().line
        value = None if self.token.kind in (";", "NEWLINE", "}", "EOF") else self.expression()
        self.terminate()
        return nodes.Exit(line, value)

    def empty(self) -> Statement:
        return nodes.Block(self.advance().line, [])

    def simple(self) -> Statement:
        """Read a statement that the head of a `for` may hold."""
        line = self.token.line
        if self.token.kind in ("print", "printf"):
            return self.print_statement()
        if self.token.kind == "delete":
            return self.delete()
        return nodes.ExpressionStatement(line, self.expression())

    def delete(self) -> Statement:
        line = self.advance().line
        if self.token.kind == "(":
            if self.mode.traditional:
                message = "error: `delete(array)' is a non-portable tawk extension"
                self.complaints += self.error(message, line).lines
            self.advance()
            target = self.name_or_index()
            self.expect(")")
        else:
            target = self.name_or_index()
        base = target.base if isinstance(target, nodes.Index) else target
        if isinstance(base, nodes.Name) and base.name in ("FUNCTAB", "SYMTAB"):
            at = self.tokens[self.position - 1].line
            if base is target:  # gawk has read on
                at = self.token.line + (self.token.kind == "NEWLINE")
            raise self.error(f"fatal: `delete' is not allowed with {base.name}", at)
        return nodes.Delete(line, target)

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
            if len(arguments) == 1 and isinstance(arguments[0], nodes.Grouping):
                arguments = arguments[0].items
        redirection = ""
        destination = None
        if self.token.kind in (">", ">>", "|", "|&"):
            redirection = self.advance().kind
            destination = self.binary(CONCAT, assignable=False)
        self.no_greater = saved
        for argument in arguments:
            self.refuse_grouping(argument)
        return nodes.Print(token.line, formatted, arguments, redirection, destination)


_COMPOUND: dict[str, Callable[[_Parser], Statement]] = {
    "{": _Parser.block, "if": _Parser.if_statement, "while": _Parser.while_statement,
    "do": _Parser.do_statement, "for": _Parser.for_statement, "switch": _Parser.switch_statement,
    "return": _Parser.return_statement, "exit": _Parser.exit_statement, ";": _Parser.empty,
    **dict.fromkeys(("break", "continue", "next", "nextfile"), _Parser.jump),
}  # fmt: skip
