"""An awk program as the source of one Python function.

The source holds nothing of the program's text: names are mangled, constants go through `repr`, and
everything else is one of the names the runtime provides. A mangled name is a letter, an underscore,
and the name that awk knows:

    v_  a global variable               y_  whether the types of a global array's elements matter
    l_  a parameter of a function       w_  assigns a global variable, for an operand NAME=VALUE
    f_  a function

No other name in the source, of the runtime or of this compiler, begins like that, so the two can
never meet: a test walks through all of them. Globals are locals of `run`, shared with nested
functions; the current record is `r`, its fields `f`, their number `nf`, unless the program changes
fields: then the runtime keeps them. `rv` is the value that was assigned to the record, if any.
CPython's compiler has limits of its own, so deep expressions become functions.

A rule becomes an `if` in the loop over the records, `next` a `continue` or, inside a function, an
exception. Each line of the source remembers the line of the program that it came from, so that the
traceback of an error leads to the place that its message names.
"""

# TM-HOST-4

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.expressions import RECORD, Expressions
from agentsandbox.commands.awk.functions import makers, names_of
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES, Scopes
from agentsandbox.commands.awk.tokens import AwkSyntaxError, Source, spelled
from agentsandbox.commands.awk.values import integral_text
from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from agentsandbox.commands.awk.nodes import Expression, Program, Statement
    from agentsandbox.kernel.budget import Budget

_SECONDS = 1e-6
"""Seconds that compiling takes for each of them, at most."""


TABLES = {"SYMTAB": "symbols", "FUNCTAB": "function_table"}
"""How a program gets the arrays of its names."""


class Compiled:
    """A program ready to run: `lines[n]` is the awk line of line n of the generated source.

    `code` is that of the function `run`: each run of the program makes the function anew, with the
    global names of that run: `functions` make those that only some programs use.
    """

    __slots__ = (
        "begin_file_line", "begin_line", "code", "functions", "last_line", "lines", "nests",
        "source", "sources", "warnings",
    )  # fmt: skip

    def __init__(
        self, source: str, lines: list[int], warnings: list[str], program: Program, budget: Budget
    ) -> None:
        rules = program.rules
        self.begin_line = max(
            [_end_line(rule) for rule in rules if rule.kind == "BEGIN"], default=0
        )
        self.begin_file_line = max(
            [_end_line(rule) for rule in rules if rule.kind == "BEGINFILE"], default=0
        )
        self.last_line = max(
            [_end_line(rule) for rule in rules if rule.kind in ("always", "pattern", "range")],
            default=0,
        )
        """The last lines of BEGIN, of BEGINFILE and of the rules; 0 for none."""
        if len(source) * _SECONDS > budget.remaining():
            raise LimitReached("timeout")
        self.source = source
        self.nests = source.count("def ") > 1 or "rt.channels" in source
        """Whether it has functions or starts commands, and may need a stack of its own."""
        self.lines = lines
        self.sources = [
            Source(source.name, "", number) for number, source in enumerate(program.sources)
        ]
        """The pieces of the program, without their text."""
        self.warnings = warnings
        defined: dict[str, Any] = {"__builtins__": {}}
        try:
            # our own output: it holds text of the script only by repr(); `compile` would first
            # make all classes of Python's syntax trees, which takes as long as importing awk
            exec(source, defined)  # noqa: S102
        except (RecursionError, MemoryError, SyntaxError):
            raise AwkSyntaxError("error: program too complex") from None
        self.code: CodeType = defined.pop("run").__code__
        self.functions = makers(names_of(self.code))


def _end_line(rule: nodes.Rule) -> int:
    return rule.action[-1].line if rule.action and rule.kind in ("always", "BEGIN") else rule.line


def compile_program(
    program: Program, assigned: frozenset[str], operands: frozenset[str], budget: Budget
) -> Compiled:
    """Compile a program.

    assigned  the names given by `-v` or by operands
    operands  the names given by operands
    """
    try:
        return Generator(program, assigned, operands, budget).generate()
    except RecursionError:
        raise AwkSyntaxError("error: program nested too deeply") from None


class Generator(Expressions):
    """The code of a program; `flow_codegen` and `function_codegen` add to it."""

    def __init__(
        self, program: Program, assigned: frozenset[str], operands: frozenset[str], budget: Budget
    ) -> None:
        super().__init__(Scopes(program, assigned, budget), program.sources)
        self.operands = operands

    # what few programs have is compiled by modules that are loaded when they are needed

    def assign_statement(self, node: nodes.Assign) -> None:
        from agentsandbox.commands.awk.assignments import assign_statement

        assign_statement(self, node)

    def assign_value(self, node: nodes.Assign) -> str:
        from agentsandbox.commands.awk.assignments import assign_value

        return assign_value(self, node)

    def step_value(self, node: nodes.Step) -> str:
        from agentsandbox.commands.awk.assignments import step_value

        return step_value(self, node)

    def getline_value(self, node: nodes.Getline) -> str:
        from agentsandbox.commands.awk.assignments import getline_value

        return getline_value(self, node)

    def built_in(self, call: nodes.Call) -> str:
        from agentsandbox.commands.awk.calls import CALLS

        return CALLS[call.name](self, call)

    def substitution_statement(self, call: nodes.Call) -> tuple[str, str] | None:
        from agentsandbox.commands.awk.calls import substitution_statement

        return substitution_statement(self, call)

    # the whole

    def generate(self) -> Compiled:
        functions = self.captured(self._functions) if self.program.functions else []
        body = self.captured(self._body)
        head = self.captured(self._head)
        lines = [0, 0]
        text = ["def run(rt):"]
        for indent, line, awk_line in [*head, *functions, *self.hoisted, *body]:
            text.append(" " * indent + line)
            lines.append(awk_line)
        return Compiled("\n".join(text) + "\n", lines, self.warnings, self.program, self.budget)

    def _functions(self) -> None:
        from agentsandbox.commands.awk.function_codegen import functions

        functions(self)

    def _head(self) -> None:
        self.line = 0
        for name in sorted(self.scopes.names):
            if name in SPECIAL_NAMES:
                continue
            if name in TABLES:
                names = (
                    repr(tuple(map(spelled, self.program.functions))) if name == "FUNCTAB" else ""
                )
                self.emit(f"v_{name} = {TABLES[name]}({names})")
            elif name in SPECIAL_ARRAYS or ("", name) in self.scopes.arrays:
                method = "numbered" if name in self.numbered else "array"
                self.emit(f"v_{name} = rt.{method}({spelled(name)!r})")
            else:
                self.emit(f"v_{name} = rt.variables.get({spelled(name)!r}, UNSET)")
        highest = self.scopes.highest_field
        self.emit(f"rt.pad = pad = [''] * {highest}")
        self.emit("r = ''; f = list(pad); nf = 0; k = 250; b = rt.budget; rv = None")
        self.emit(f"rt.keeps_types = {self.reads_types}")
        for source, number in self.regexes.items():
            self.emit(f"p{number} = rt.dynamic_pattern({source!r}); s{number} = p{number}.test")
        for name in sorted(self.filled):
            self.emit(f"y_{name} = {self.is_typed(name)}")
        for (source, replacement, every), number in self.substitutions.items():
            self.emit(f"c{number} = substituter(p{self.regexes[source]}, {replacement!r}, {every})")
        for name in sorted(
            self.scopes.names if self.scopes.changes_operands else self.operands & self.scopes.names
        ):
            if (
                name not in SPECIAL_NAMES
                and ("", name) not in self.scopes.arrays
                and name not in SPECIAL_ARRAYS
            ):
                self.emit(f"def w_{name}(value):")
                self.emit(f" nonlocal v_{name}")
                self.emit(f" v_{name} = value")
                self.emit(f"rt.setters[{spelled(name)!r}] = w_{name}")
        if "SYMTAB" in self.scopes.names:
            from agentsandbox.commands.awk.function_codegen import symbols

            symbols(self)

    def is_typed(self, array: str) -> bool:
        """Whether it matters what type the elements of a global array have."""
        return array in self.typed or "PROCINFO" in self.scopes.names or self.scopes.indirect

    def _body(self) -> None:
        rules = self.program.rules
        for kind, name in (("BEGINFILE", "begin_file"), ("ENDFILE", "end_file")):
            actions = [rule.action or [] for rule in rules if rule.kind == kind]
            if actions:
                from agentsandbox.commands.awk.function_codegen import hook

                hook(self, name, actions)
        self.emit("try:")
        self.indent += 1
        for rule in rules:
            if rule.kind == "BEGIN":
                self.statements(rule.action or [])
        if any(rule.kind != "BEGIN" for rule in rules):
            self._main([rule for rule in rules if rule.kind in ("always", "pattern", "range")])
        else:
            self.emit("pass")
        self.indent -= 1
        self.emit("except AwkExit: pass")
        endings = [rule for rule in rules if rule.kind == "END"]
        if endings:
            self.emit("rt.in_end = True")
            self.emit("try:")
            self.indent += 1
            for rule in endings:
                self.statements(rule.action or [])
            self.emit("pass")
            self.indent -= 1
            self.emit("except AwkExit: pass")

    def _main(self, rules: list[nodes.Rule]) -> None:
        for number, rule in enumerate(rules):
            if rule.kind == "range":
                self.emit(f"g{number} = False")
        self.indent += 3
        self.in_main = True
        body = self.captured(lambda: self._rules(rules))
        self.in_main = False
        self.indent -= 3
        self.emit("while rt.next_block():")
        self.indent += 1
        self.emit("q = rt.q; sep = rt.sep; k = 250")
        # `next` inside a loop or a function unwinds to here; so does `nextfile`
        if not self.uses_exceptions:
            self.emit("for r in rt.records:")
            self._record_start(1)
            self.output.extend((indent - 1, text, line) for indent, text, line in body)
        else:
            self.emit("for r in rt.records:")
            self._record_start(1)
            self.emit(" try:")
            self.output.extend(body)
            self.emit("  pass")
            self.emit(" except AwkNext: pass")
            self.emit(" except AwkNextFile: rt.skip_file(); break")
        self.indent -= 1

    def _record_start(self, extra: int) -> None:
        self.indent += extra
        scopes = self.scopes
        for name in ("NR", "FNR"):
            if name in scopes.special_assigned:
                self.emit(f"rt.{name} = num(rt.{name}) + 1.0")
            elif name in scopes.names:
                self.emit(f"rt.{name} += 1.0")
        if self.general:
            self.emit("rt._record = r; rt._fields = None; rt._stale = False")
            self.emit("if rt._typed: rt._typed.clear()")
        elif scopes.uses_fields:
            limit = "" if scopes.all_fields else f", {scopes.highest_field}"
            counts = self.needs_count or scopes.all_fields
            only_first = scopes.highest_field == 1 and not counts
            split = f"r.split(sep{limit}) if q else split_fields(r)"
            self.emit(f"f = ({split}) or pad" if only_first else f"f = {split}")
            if counts:
                self.emit("nf = len(f) if r else 0")
            if scopes.highest_field and not only_first:
                self.emit(f"if len(f) < {scopes.highest_field}: f += pad")
        if scopes.assigns_record and not self.general:
            self.emit("rv = None")
        self.emit("pass")
        self.indent -= extra

    def _rules(self, rules: list[nodes.Rule]) -> None:
        for number, rule in enumerate(rules):
            self.line = rule.line
            action = rule.action
            if rule.kind == "always":
                self.statements(action or [])
                continue
            assert rule.first is not None
            if rule.kind == "pattern":
                self.emit(f"if {self.condition(rule.first)}:")
            else:
                assert rule.last is not None
                self.emit(f"if g{number} or {self.condition(rule.first)}:")
                self.emit(f" g{number} = not {self.condition(rule.last)}")
            self.deeper()
            if action is None:
                self.print_statement(nodes.Print(rule.line, False, [], "", None))
            else:
                self.statements(action)
                self.emit("pass")
            self.shallower()

    # statements

    def statement(self, statement: Statement) -> None:
        line = self.line = statement.line
        with_line, self.warns = self.warns, False
        at = len(self.output)
        emit = _STATEMENTS.get(type(statement))
        if emit is None:
            from agentsandbox.commands.awk.flow_codegen import STATEMENTS

            emit = STATEMENTS[type(statement)]
        emit(self, statement)
        if self.warns:
            self.output.insert(at, (self.indent, f"rt.line = {line}", line))
        self.warns = with_line

    def block(self, node: nodes.Block) -> None:
        self.statements(node.statements)

    def expression_statement(self, node: nodes.ExpressionStatement) -> None:
        self.effect(node.expression)

    def print_statement(self, node: nodes.Print) -> None:
        text, bounded = self._printed(node)
        if not node.redirection:
            if bounded and not self.loop_depth and not self.function:
                self.emit(f"emit({text})")
            else:
                self.emit(f"write({text})")
            return
        assert node.destination is not None
        destination = self.text(node.destination)
        if node.redirection == "|&":
            word = "printf" if node.formatted else "print"
            self.emit(f"rt.channels.write_both({word!r}, {destination}, {text})")
            return
        self.emit(f"rt.channels.write({node.redirection!r}, {destination}, {text})")

    def _printed(self, node: nodes.Print) -> tuple[str, bool]:
        """Return what a print statement writes, and whether record and program bound its length."""
        bounded = all(map(self.bounded, node.arguments))
        if node.formatted:
            from agentsandbox.commands.awk.formatting import printed_by_format

            return printed_by_format(self, node.arguments, bounded)
        separator, end = ("' '", "'\\n'") if self.fixed_separators else ("rt.OFS", "rt.ORS")
        codes: list[str] = []
        for argument in node.arguments or [RECORD]:
            code = self._print_text(argument)
            codes += [separator, code] if codes else [code]
        codes.append(end)
        if len(codes) > 8:
            joined = ", ".join(codes)
            return (f"''.join(({joined}))" if bounded else f"join(({joined}))"), bounded
        code = " + ".join(codes)
        return (code if bounded or len(codes) == 2 else f"checked({code})"), bounded

    def _print_text(self, expression: Expression) -> str:
        """Return an item of `print`: numbers by OFMT."""
        if isinstance(expression, nodes.Number):
            text = integral_text(expression.value)
            if text is not None:
                return repr(text)
        if (
            self.is_condition(expression)
            or isinstance(expression, nodes.Field)
            or self.textual(expression)
        ):
            return self.text(expression)
        if self.numeric(expression):
            return f"printed_number({self.number(expression)})"
        return f"printed({self.untyped(expression)})"


_STATEMENTS: dict[type, Callable[[Generator, Any], None]] = {
    nodes.Block: Generator.block,
    nodes.ExpressionStatement: Generator.expression_statement,
    nodes.Print: Generator.print_statement,
}
"""What emits the plain statements; `flow_codegen` has the others."""
