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
from agentsandbox.commands.awk.expressions import Expressions
from agentsandbox.commands.awk.functions import makers, names_of
from agentsandbox.commands.awk.lexer import AwkSyntaxError, Source, spelled
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES, Scopes
from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from agentsandbox.commands.awk.nodes import Program, Statement
    from agentsandbox.kernel.budget import Budget

MAX_BLOCKS = 17
"""Loops within loops: CPython allows 20 blocks, and the main loop and its `try` are two."""
MAX_INDENT = 90
MAX_LENGTH = 1 << 19
"""Characters of Python for one program: compiling them is a single call that nothing can
interrupt."""
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
        return _Generator(program, assigned, operands, budget).generate()
    except RecursionError:
        raise AwkSyntaxError("error: program nested too deeply") from None


class _Generator(Expressions):
    def __init__(
        self, program: Program, assigned: frozenset[str], operands: frozenset[str], budget: Budget
    ) -> None:
        super().__init__(Scopes(program, assigned, budget), program.sources)
        self.program = program
        self.operands = operands
        self.nothing = "UNASSIGNED" if self.scopes.asks_types else "UNSET"
        """The value of a function that returns none."""
        self.output: list[tuple[int, str, int]] = []  # indentation, text, awk line
        self.indent = 1
        self.length = 0
        self.blocks = 0
        self.continues: list[Callable[[], None]] = []
        self.breaks_switch: list[bool] = []
        self.in_main = False
        self.uses_exceptions = False

    # output

    def emit(self, text: str) -> None:
        self.length += len(text) + self.indent
        if self.length > MAX_LENGTH:
            raise AwkSyntaxError("error: program too large")
        self.output.append((self.indent, text, self.line))

    def deeper(self) -> None:
        self.indent += 1
        if self.indent > MAX_INDENT:
            raise AwkSyntaxError("error: program nested too deeply")

    def shallower(self) -> None:
        self.indent -= 1

    def captured(self, emit: Callable[[], None]) -> list[tuple[int, str, int]]:
        """Return what `emit` writes."""
        saved, self.output = self.output, []
        emit()
        result, self.output = self.output, saved
        return result

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
        functions = self.captured(self._functions)
        body = self.captured(self._body)
        head = self.captured(self._head)
        lines = [0, 0]
        text = ["def run(rt):"]
        for indent, line, awk_line in [*head, *functions, *self.hoisted, *body]:
            text.append(" " * indent + line)
            lines.append(awk_line)
        return Compiled("\n".join(text) + "\n", lines, self.warnings, self.program, self.budget)

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
            self._symbols()

    def _symbols(self) -> None:
        """Make the elements of SYMTAB."""
        for name in sorted(self.scopes.names - SPECIAL_NAMES - SPECIAL_ARRAYS):
            self.budget.step()
            if ("", name) in self.scopes.arrays:
                self.emit(f"v_SYMTAB.add_array({spelled(name)!r}, v_{name})")
            else:
                self.emit(f"v_SYMTAB.add({spelled(name)!r}, lambda: v_{name}, w_{name})")

    def is_typed(self, array: str) -> bool:
        """Whether it matters what type the elements of a global array have."""
        return array in self.typed or "PROCINFO" in self.scopes.names or self.scopes.indirect

    def _functions(self) -> None:
        for function in self.program.functions.values():
            self._function(function)
        for function in self.program.functions.values():
            kinds = "".join(
                "a" if (function.name, name) in self.scopes.arrays else "s"
                for name in function.parameters
            )
            self.emit(f"rt.functions[{spelled(function.name)!r}] = (f_{function.name}, {kinds!r})")

    def _function(self, function: nodes.Function) -> None:
        self.function = function.name
        self.line = function.line
        saved = self.hoisted
        self.hoisted = []
        self.indent += 2
        body = self.captured(lambda: self.statements(function.body))
        self.indent -= 2
        hoisted, self.hoisted = self.hoisted, saved
        arrays = [
            name for name in function.parameters if (function.name, name) in self.scopes.arrays
        ]
        self.line = function.line
        words = [
            f"l_{name}=None" if name in arrays else f"l_{name}=UNSET"
            for name in function.parameters
        ]
        self.emit(f"def f_{function.name}({', '.join(words)}):")
        self.indent += 1
        self.emit(self.nonlocals([text for _, text, _ in [*body, *hoisted]], inside=False))
        self.emit("b.left -= 1; b.depth += 1; k = 250")
        arguments = "".join([f", l_{name}" for name in function.parameters])
        self.emit("if (b.left < 0 or b.depth > b.stack_end) and rt.enter():")
        self.emit(f" return rt.go_on(f_{function.name}{arguments})")
        for name in arrays:
            self.emit(
                f"if l_{name} is None or l_{name} is UNSET: l_{name} = rt.local({spelled(name)!r})"
            )
        for indent, text, line in hoisted:
            self.output.append((indent + 1, text, line))
        self.emit("try:")
        self.output.extend(body or [(self.indent + 1, "pass", self.line)])
        self.emit("finally: b.depth -= 1")
        self.emit(f"return {self.nothing}")
        self.indent -= 1
        self.function = ""

    def _body(self) -> None:
        rules = self.program.rules
        for kind, hook in (("BEGINFILE", "begin_file"), ("ENDFILE", "end_file")):
            actions = [rule.action or [] for rule in rules if rule.kind == kind]
            if actions:
                self._hook(hook, actions)
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

    def _hook(self, name: str, actions: list[list[Statement]]) -> None:
        self.indent += 1
        saved, self.hoisted = self.hoisted, []

        def emit_actions() -> None:
            for action in actions:
                self.statements(action)

        body = self.captured(emit_actions)
        hoisted, self.hoisted = self.hoisted, saved
        self.indent -= 1
        self.emit(f"def {name}():")
        self.indent += 1
        self.emit(self.nonlocals([text for _, text, _ in [*body, *hoisted]], inside=False))
        self.emit("k = 250")
        for indent, text, line in hoisted:
            self.output.append((indent + 1, text, line))
        self.indent -= 1
        self.output.extend(body)
        self.emit(f"rt.{name} = {name}")

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

    def statements(self, statements: list[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        line = self.line = statement.line
        with_line, self.warns = self.warns, False
        at = len(self.output)
        _STATEMENTS[type(statement)](self, statement)
        if self.warns:
            self.output.insert(at, (self.indent, f"rt.line = {line}", line))
        self.warns = with_line

    def body(self, statement: Statement) -> None:
        """Emit an indented block."""
        self.deeper()
        self.statement(statement)
        self.emit("pass")
        self.shallower()

    def block(self, node: nodes.Block) -> None:
        self.statements(node.statements)

    def expression_statement(self, node: nodes.ExpressionStatement) -> None:
        self.effect(node.expression)

    def if_statement(self, node: nodes.If) -> None:
        word = "if"
        while True:
            self.emit(f"{word} {self.condition(node.condition)}:")
            self.body(node.yes)
            if node.no is None:
                return
            if not isinstance(node.no, nodes.If):
                break
            node = node.no
            word = "elif"
        self.emit("else:")
        self.body(node.no)

    def enter_loop(self) -> None:
        self.blocks += 1
        if self.blocks > MAX_BLOCKS:
            raise AwkSyntaxError("error: loops nested too deeply")
        self.loop_depth += 1

    def leave_loop(self) -> None:
        self.blocks -= 1
        self.loop_depth -= 1

    def tick(self) -> None:
        self.emit("k -= 1")
        self.emit("if k < 0: k = rt.tick()")

    def while_statement(self, node: nodes.While) -> None:
        self.enter_loop()
        self.emit(f"while {self.condition(node.condition)}:")
        self.loop(node.body, lambda: self.emit("continue"), lambda: None)

    def loop(
        self, body: Statement, on_continue: Callable[[], None], at_end: Callable[[], None]
    ) -> None:
        self.deeper()
        self.tick()
        self.continues.append(on_continue)
        self.breaks_switch.append(False)
        self.statement(body)
        at_end()
        self.continues.pop()
        self.breaks_switch.pop()
        self.shallower()
        self.leave_loop()

    def do_statement(self, node: nodes.DoWhile) -> None:
        def test() -> None:
            self.line = node.condition.line
            self.emit(f"if not {self.condition(node.condition)}: break")

        def on_continue() -> None:
            test()
            self.emit("continue")

        self.enter_loop()
        self.emit("while True:")
        self.loop(node.body, on_continue, test)

    def for_statement(self, node: nodes.For) -> None:
        if node.start is not None:
            self.statement(node.start)

        def step() -> None:
            if node.step is not None:
                self.statement(node.step)

        def on_continue() -> None:
            step()
            self.emit("continue")

        from agentsandbox.commands.awk.field_loops import field_loop

        fields = None if self.general else field_loop(self.scopes, self.function, node)
        self.enter_loop()
        if fields is not None:
            self._field_loop(node.body, *fields, step=step, on_continue=on_continue)
            return
        self.emit(
            f"while {self.condition(node.condition) if node.condition is not None else 'True'}:"
        )
        self.loop(node.body, on_continue, step)

    def _field_loop(
        self,
        body: Statement,
        variable: nodes.Name,
        first: int,
        *,
        step: Callable[[], None],
        on_continue: Callable[[], None],
    ) -> None:
        """Emit a loop over fields, in which the variable counts along."""
        field, subscript = self.temporary(), ""
        fields = f"f[{first - 1}:nf]" if first > 1 else "f[:nf]"
        from agentsandbox.commands.awk.field_loops import counts_silently, uses_subscript

        if uses_subscript(self.scopes, body, variable.name):
            subscript = self.temporary()
            self.emit(f"for {field}, {subscript} in zip({fields}, rt.subscripts({first}, nf)):")
        else:
            self.emit(f"for {field} in {fields}:")
        key = self.scopes.key(self.function, variable.name)
        self.loop_fields[key] = (field, subscript)
        if counts_silently(self.scopes, body, variable.name):
            self.loop(body, lambda: self.emit("continue"), lambda: None)
            self.emit(f"{self.variable(variable)} = nf + 1.0 if nf >= {first} else {float(first)}")
        else:
            self.loop(body, on_continue, step)
        del self.loop_fields[key]

    def for_in_statement(self, node: nodes.ForIn) -> None:
        array = self.array_code(node.array)
        self.enter_loop()
        variable = node.variable
        temporary = self.temporary()
        self.emit(f"for {temporary} in walk({array}):")
        self.deeper()
        from agentsandbox.commands.awk.assignments import assignment

        self.emit(assignment(self, variable, temporary))
        self.shallower()
        self.loop(node.body, lambda: self.emit("continue"), lambda: None)

    def switch_statement(self, node: nodes.Switch) -> None:
        """Find the number of the case, then run a loop once, which `break` leaves."""
        subject, matched, again = self.temporary(), self.temporary(), self.temporary()
        self.emit(f"{subject} = {self.value(node.subject)}")
        default = len(node.cases)
        word = "if"
        for number, (value, _) in enumerate(node.cases):
            if value is None:
                default = number
                continue
            self.emit(f"{word} {self.case_condition(subject, value)}: {matched} = {number}")
            word = "elif"
        if word == "if":
            self.emit(f"{matched} = {default}")
        else:
            self.emit(f"else: {matched} = {default}")
        self.emit(f"{again} = False")
        self.enter_loop()
        self.emit("while True:")
        self.deeper()

        def on_continue() -> None:
            self.emit(f"{again} = True")
            self.emit("break")

        self.continues.append(on_continue)
        for number, (_, statements) in enumerate(node.cases):
            self.emit(f"if {matched} <= {number}:")
            self.deeper()
            self.statements(statements)
            self.emit("pass")
            self.shallower()
        self.emit("break")
        self.continues.pop()
        self.shallower()
        self.leave_loop()
        if self.continues:
            self.emit(f"if {again}:")
            self.deeper()
            self.continues[-1]()
            self.shallower()

    def jump(self, node: nodes.Jump) -> None:
        if node.kind == "break":
            self.emit("break")
        elif node.kind == "continue":
            self.continues[-1]()
        elif self.function or self.blocks or not self.in_main:
            self.uses_exceptions = True
            self.emit("raise AwkNext" if node.kind == "next" else "raise AwkNextFile")
        elif node.kind == "next":
            self.emit("continue")
        else:
            self.emit("rt.skip_file(); break")

    def return_statement(self, node: nodes.Return) -> None:
        self.emit(f"return {self.value(node.value) if node.value is not None else self.nothing}")

    def exit_statement(self, node: nodes.Exit) -> None:
        if node.status is not None:
            self.emit(f"rt.set_status({self.number(node.status)})")
        self.emit("raise AwkExit")

    def delete_statement(self, node: nodes.Delete) -> None:
        target = node.target
        if isinstance(target, nodes.Name):
            self.emit(f"{self.array_code(target)}.forget_all()")
        else:
            self.emit(f"{self.array_code(target.base)}.forget({self.subscript(target)})")

    def print_statement(self, node: nodes.Print) -> None:
        from agentsandbox.commands.awk.printing import printed

        text, bounded = printed(self, node)
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


_STATEMENTS: dict[type, Callable[[_Generator, Any], None]] = {
    nodes.Block: _Generator.block,
    nodes.ExpressionStatement: _Generator.expression_statement,
    nodes.If: _Generator.if_statement,
    nodes.While: _Generator.while_statement,
    nodes.DoWhile: _Generator.do_statement,
    nodes.For: _Generator.for_statement,
    nodes.ForIn: _Generator.for_in_statement,
    nodes.Switch: _Generator.switch_statement,
    nodes.Jump: _Generator.jump,
    nodes.Return: _Generator.return_statement,
    nodes.Exit: _Generator.exit_statement,
    nodes.Delete: _Generator.delete_statement,
    nodes.Print: _Generator.print_statement,
}
