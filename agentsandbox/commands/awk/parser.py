"""Awk tokens into a tree: recursive descent for rules and statements."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.modes import DEFAULT, Mode
from agentsandbox.commands.awk.terms import CONCAT, Terms
from agentsandbox.commands.awk.tokens import AwkSyntaxError, Source

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
            Parser(numbered, warn, program, budget).program()
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


class Parser(Terms):
    """The grammar of rules and plain statements; two other modules have those of control."""

    def __init__(
        self, source: Source, warn: Callable[[str], None], program: nodes.Program, budget: Budget
    ) -> None:
        super().__init__(source, warn, program.functions, budget, program.mode)
        self.rules = program.rules

    def unexpected(self) -> AwkSyntaxError:
        from agentsandbox.commands.awk.syntax_errors import unexpected

        return unexpected(self)

    def pointed(self, position: int, message: str) -> AwkSyntaxError:
        from agentsandbox.commands.awk.syntax_errors import point_at

        return point_at(self.source, position, message)

    def call_reader(self) -> Callable[[Terms], Expression]:
        from agentsandbox.commands.awk.call_parser import READERS

        return READERS[self.token.kind]

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
                from agentsandbox.commands.awk.function_parser import function

                function(self)
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
        kind = self.token.kind
        if kind in _FLOW:
            from agentsandbox.commands.awk.flow_parser import STATEMENTS

            result = STATEMENTS[kind](self)
        elif kind == "{":
            result = self.block()
        elif kind == ";":
            result = self.empty()
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

    def block(self) -> Statement:
        line = self.token.line
        return nodes.Block(line, self.action())

    def empty(self) -> Statement:
        return nodes.Block(self.advance().line, [])

    def simple(self) -> Statement:
        """Read a statement that the head of a `for` may hold."""
        line = self.token.line
        if self.token.kind in ("print", "printf"):
            return self.print_statement()
        if self.token.kind == "delete":
            from agentsandbox.commands.awk.flow_parser import delete

            return delete(self)
        return nodes.ExpressionStatement(line, self.expression())

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


_FLOW = frozenset("if while do for switch return exit break continue next nextfile".split())
"""The words that begin statements of `flow_parser`."""
