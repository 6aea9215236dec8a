"""Expressions of awk as Python expressions, each in the form its context asks for.

There are four forms: a float (`number`), a string (`text`), an awk value of any type (`value`), and
anything that Python finds true or false (`condition`). What `Scopes` knows of types decides how
much conversion a form takes: a variable that only ever holds numbers needs none.

The record is `r` and its fields `f`, their number `nf`; in a `general` program, which changes
fields, the runtime keeps them (`rt.field`).
"""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES
from agentsandbox.commands.awk.tokens import AwkSyntaxError, place_of, spelled
from agentsandbox.commands.awk.values import integral_text, parse_number
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from agentsandbox.commands.awk.nodes import Expression, Statement
    from agentsandbox.commands.awk.scopes import Scopes
    from agentsandbox.commands.awk.tokens import Source

    Target: TypeAlias = "nodes.Name | nodes.Index | nodes.Field"

MAX_INDENT = 90
MAX_LENGTH = 1 << 19
"""Characters of Python for one program: compiling them is a single call that nothing can
interrupt."""
HOIST_EVERY = 20
"""Levels of nesting after which a subexpression becomes a function of its own."""

_NAMES = lazily(r"\b(?:[vl]_\w+|r|rv|f|nf)\b")
_COMPARISONS = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}
_MIRRORED = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">": "<", ">=": "<="}
_TEXT_SPECIALS = frozenset("OFS ORS SUBSEP CONVFMT OFMT".split())
"""Special variables whose values are kept as texts; the others keep what was assigned."""
_TEXT_CALLS = frozenset(
    "substr sprintf tolower toupper gensub strftime typeof dcgettext dcngettext"
    " bindtextdomain".split()
)
_LITERAL = lazily(r"[A-Za-z0-9 _:,;=<>/@#%&~!'\"`-]+")
_MOST_FIELDS = 1000
RECORD = nodes.Field(0, nodes.Number(0, 0.0))
_ONE = nodes.Number(0, 1.0)


def constant(node: object, least: int = 1, below: int = _MOST_FIELDS) -> int | None:
    """Return the number of a constant, None if it is not a whole number in that range."""
    if isinstance(node, nodes.Number) and least <= node.value < below and node.value.is_integer():
        return int(node.value)
    return None


class Expressions:
    """Compiles expressions; the state that statements share with them."""

    def __init__(self, scopes: Scopes, sources: Sequence[Source]) -> None:
        self.scopes = scopes
        self.program = scopes.program
        self.nothing = "UNASSIGNED" if scopes.asks_types else "UNSET"
        """The value of a function that returns none."""
        self.output: list[tuple[int, str, int]] = []  # indentation, text, awk line
        self.indent = 1
        self.length = 0
        self.blocks = 0
        self.continues: list[Callable[[], None]] = []
        self.breaks_switch: list[bool] = []
        self.in_main = False
        self.uses_exceptions = False
        self.sources = sources
        self.budget = scopes.budget
        self.mode = scopes.program.mode
        self.general = scopes.changes_fields
        self.needs_count = False
        self.function = ""
        self.line = 0
        self.loop_depth = 0
        self.depth = 0
        self.regexes: dict[str, int] = {}
        self.substitutions: dict[tuple[str, str, bool], int] = {}
        self.filled: set[str] = set()
        """Global arrays whose elements are fields or what `split` makes."""
        self.numbered: frozenset[str] = frozenset()
        if scopes.arrays:
            from agentsandbox.commands.awk.numbered import numbered_arrays

            self.numbered = numbered_arrays(scopes)
        self.typed: set[str] = set()
        """Global arrays of which it matters whether an element is a number or its text."""
        self.loop_fields: dict[tuple[str, str], tuple[str, str]] = {}
        """For the variable of a loop over the fields: the names of the field and of its number as
        a subscript, or ""."""
        self.reads_types = False
        """Whether the type of an assigned field may matter."""
        self.warnings: list[str] = []
        self.warns = False
        """Whether the statement being compiled may warn when it runs."""
        self.hoisted: list[tuple[int, str, int]] = []
        self.ignore_case = "IGNORECASE" in scopes.names or ("", "IGNORECASE") in scopes.texts
        self._temporaries = 0
        assigned = scopes.special_assigned | {name for _, name in scopes.texts}
        self._fixed_subscripts = "SUBSEP" not in assigned and not scopes.changes_operands
        self.fixed_separators = not {"OFS", "ORS"} & assigned

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

    def statements(self, statements: list[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    # pieces

    def statement(self, statement: Statement) -> None:
        """Emit a statement."""
        raise NotImplementedError

    def is_typed(self, array: str) -> bool:
        """Whether it matters what type the elements of a global array have."""
        raise NotImplementedError

    def assign_statement(self, node: nodes.Assign) -> None:
        """Emit an assignment whose value nobody needs."""
        raise NotImplementedError

    def assign_value(self, node: nodes.Assign) -> str:
        """Return an assignment as an expression."""
        raise NotImplementedError

    def step_value(self, node: nodes.Step) -> str:
        """Return `++` or `--` as an expression."""
        raise NotImplementedError

    def getline_value(self, node: nodes.Getline) -> str:
        """Return a `getline` as an expression."""
        raise NotImplementedError

    def built_in(self, call: nodes.Call) -> str:
        """Return the call of a built-in function."""
        raise NotImplementedError

    def substitution_statement(self, call: nodes.Call) -> tuple[str, str] | None:
        """Return (condition, assignment) for a `sub` or `gsub` whose value nobody needs."""
        raise NotImplementedError

    def temporary(self) -> str:
        """Return a new name."""
        self._temporaries += 1
        return f"t{self._temporaries}"

    def nonlocals(self, texts: list[str], inside: bool) -> str:
        """Return the declaration a nested function needs for the variables its text may bind."""
        scopes = self.scopes
        self.budget.step(len(scopes.names) + len(texts))
        known = {f"v_{name}" for name in scopes.names if name not in SPECIAL_NAMES}
        known |= {"r", "rv", "f", "nf"}
        if inside and self.function:
            known.update(f"l_{name}" for name in scopes.functions[self.function].parameters)
        found = {name for text in texts for name in _NAMES.findall(text)} & known
        return f"nonlocal {', '.join(sorted(found))}" if found else "pass"

    def hoist(self, code: str) -> str:
        """Return a call of a new function that returns the value of `code`."""
        self._temporaries += 1
        name = f"x{self._temporaries}"
        self.hoisted.append((1, f"def {name}():", self.line))
        self.hoisted.append((2, self.nonlocals([code], inside=True), self.line))
        self.hoisted.append((2, f"return {code}", self.line))
        return f"{name}()"

    def _limited(self, code: str) -> str:
        self.budget.step(len(code) // 256 + 1)
        self.depth -= 1
        if self.depth and self.depth % HOIST_EVERY == 0:
            return self.hoist(code)
        return code

    def place(self, line: int) -> str:
        """Return how messages name a line of the program."""
        return place_of(self.sources, line)

    # the four forms

    def number(self, expression: Expression) -> str:
        """As a float."""
        self.depth += 1
        return self._limited(self._number(expression))

    def text(self, expression: Expression) -> str:
        """As a string."""
        self.depth += 1
        return self._limited(self._text(expression))

    def value(self, expression: Expression) -> str:
        """As an awk value of whatever type."""
        self.depth += 1
        return self._limited(self._value(expression))

    def untyped(self, expression: Expression) -> str:
        """As `value`, where a number and its text count for the same."""
        if not isinstance(expression, nodes.Index):
            return self.value(expression)
        self.depth += 1
        return self._limited(self._element(expression))

    def condition(self, expression: Expression) -> str:
        """As something Python finds true or false."""
        self.depth += 1
        return self._limited(self._condition(expression))

    def effect(self, expression: Expression) -> None:
        """As a statement."""
        if isinstance(expression, nodes.Step):
            operator = "+=" if expression.amount > 0 else "-="
            expression = nodes.Assign(expression.line, operator, expression.target, _ONE)
        if isinstance(expression, nodes.Assign):
            self.assign_statement(expression)
            return
        if isinstance(expression, nodes.Call) and expression.name in ("sub", "gsub"):
            found = self.substitution_statement(expression)
            if found is not None:
                self.emit(f"if {found[0]}: {found[1]}")
                return
        form = self.condition if self.is_condition(expression) else self.value
        self.emit(form(expression))

    # static types

    def numeric(self, expression: Expression) -> bool:
        """Whether it is a float whatever happens."""
        return self.scopes.is_numeric(self.function, expression)

    def textual(self, expression: Expression) -> bool:
        """Whether it is a string whatever happens."""
        if isinstance(expression, (nodes.Text, nodes.Concat)):
            return True
        if isinstance(expression, nodes.Call):
            return expression.name in _TEXT_CALLS
        if isinstance(expression, nodes.Ternary):
            return self.textual(expression.yes) and self.textual(expression.no)
        return (
            isinstance(expression, nodes.Name)
            and expression.name in _TEXT_SPECIALS
            and self.is_global(expression.name)
        )

    def is_condition(self, expression: Expression) -> bool:
        """Whether its natural form is a condition."""
        if isinstance(expression, nodes.Binary):
            return expression.operator in _COMPARISONS or expression.operator in ("&&", "||")
        if isinstance(expression, nodes.Unary):
            return expression.operator == "!"
        return isinstance(expression, (nodes.Regex, nodes.Match, nodes.Membership))

    def bounded(self, expression: Expression) -> bool:
        """Whether its text is no longer than the record or the program."""
        simple = (nodes.Field, nodes.Number, nodes.Text, nodes.Binary)
        return isinstance(expression, simple) or self.numeric(expression)

    # names, elements, fields

    def is_global(self, name: str) -> bool:
        """Whether no parameter hides the name."""
        return not self.scopes.key(self.function, name)[0]

    def is_array(self, node: object) -> bool:
        """Whether it is the name of an array."""
        return isinstance(node, nodes.Name) and self.scopes.is_array(self.function, node.name)

    def is_plain(self, node: object) -> bool:
        """Whether it is a scalar variable of the program's own."""
        return (
            isinstance(node, nodes.Name)
            and node.name not in SPECIAL_NAMES
            and not self.is_array(node)
        )

    def is_own_array(self, node: object) -> bool:
        """Whether it is a global array of the program's own."""
        return (
            isinstance(node, nodes.Name)
            and self.is_array(node)
            and self.is_global(node.name)
            and node.name not in SPECIAL_ARRAYS
        )

    def mark_typed(self, array: object) -> None:
        """Note that it matters what type the elements of an array have."""
        if isinstance(array, nodes.Name):
            self.typed.add(array.name)

    def array_code(self, node: object) -> str:
        """Return the array that a name or an element is."""
        if isinstance(node, nodes.Name):
            if self.is_global(node.name):
                return f"v_{node.name}"
            return f"array_of(l_{node.name}, {spelled(node.name)!r})"
        assert isinstance(node, nodes.Index)
        return f"{self.array_code(node.base)}.sub({self.subscript(node)})"

    def element_code(self, node: nodes.Index) -> str:
        """Return the element, also as a target."""
        return f"{self.array_code(node.base)}[{self.subscript(node)}]"

    def subscript(self, node: nodes.Index | nodes.Membership) -> str:
        """Return the key."""
        if len(node.subscripts) > 1:
            codes = [self.text(item) for item in node.subscripts]
            if not self._fixed_subscripts:
                return f"join(({', rt.SUBSEP, '.join(codes)}))"
            code = f"'\\x1c'.join(({', '.join(codes)}))"
            return code if all(map(self.bounded, node.subscripts)) else f"checked({code})"
        only = node.subscripts[0]
        array = node.base if isinstance(node, nodes.Index) else node.array
        if self.numeric(only) and self._is_numbered(array):
            return self.number(only)
        if isinstance(only, (nodes.Text, nodes.Field)) or self.textual(only):
            return self.text(only)
        if isinstance(only, nodes.Number) and only.value.is_integer():
            return repr(integral_text(only.value))
        if (looped := self._looped(only)) is not None and looped[1]:
            return looped[1]
        if self.numeric(only):
            return f"key_of({self.number(only)})"
        return f"key({self.untyped(only)})"

    def _is_numbered(self, array: object) -> bool:
        """Whether it is an array that takes numbers as subscripts."""
        return (
            isinstance(array, nodes.Name)
            and array.name in self.numbered
            and self.is_global(array.name)
        )

    def _element(self, node: nodes.Index) -> str:
        code = self.element_code(node)
        return f"element({code})" if self.scopes.nested and not self.numeric(node) else code

    def variable(self, node: nodes.Name) -> str:
        """Return the value of a scalar variable."""
        name = node.name
        prefix = "v" if self.is_global(name) else "l"
        if self.is_array(node):
            return f"scalar({prefix}_{name}, {spelled(name)!r})"
        if prefix == "v" and name == "NF":
            return "rt.nf()" if self.general else "float(nf)"
        if prefix == "v" and name in SPECIAL_NAMES:
            return f"rt.{name}"
        return f"{prefix}_{name}"

    def _looped(self, node: Expression) -> tuple[str, str] | None:
        """Return what `loop_fields` has for it."""
        if not isinstance(node, nodes.Name):
            return None
        return self.loop_fields.get(self.scopes.key(self.function, node.name))

    def field_text(self, node: nodes.Field) -> str:
        """Return the text of a field."""
        number = node.number
        looped = self._looped(number)
        if looped is not None:
            return looped[0]
        position = constant(number, 0)
        if self.general:
            if position is None:
                return f"rt.field_at({self.number(number)})"
            return f"rt.field({position})" if position else "rt.record()"
        if position is not None:
            return f"f[{position - 1}]" if position else "r"
        if isinstance(number, nodes.Name) and number.name == "NF":
            return "(f[nf - 1] if nf else r)"
        present, at = self._presence(number)
        return f"(f[int({at}) - 1] if {present} else other_field({at}, r))"

    def _is_assigned_record(self, node: nodes.Field) -> bool:
        """Whether it is `$0` in a program that assigns it."""
        return self.scopes.assigns_record and constant(node.number, 0) == 0

    def _presence(self, number: Expression) -> tuple[str, str]:
        """Return the test for a field that is there, and the name of its number behind that."""
        if isinstance(number, nodes.Name) and self.numeric(number):
            name = self.variable(number)
            return f"1.0 <= {name} <= nf", name
        name = self.temporary()
        return f"1.0 <= ({name} := {self.number(number)}) <= nf", name

    def field_value(self, node: nodes.Field) -> str:
        """Return a field as a value: one that is not there was never set."""
        number = node.number
        position = constant(number, 0)
        if self.general:
            self.reads_types = True
            if position:
                return f"rt.value_of({position})"
            return f"rt.field_value({self.number(number)})"
        if position == 0 and self.scopes.assigns_record:
            return "(from_input(r) if rv is None else rv)"
        is_last = isinstance(number, nodes.Name) and number.name == "NF"
        if position is not None or is_last or self._looped(number) is not None:
            return f"from_input({self.field_text(node)})"
        present, at = self._presence(number)
        return f"(from_input(f[int({at}) - 1]) if {present} else other_value({at}, r))"

    # number

    def _number(self, expression: Expression) -> str:
        if isinstance(expression, nodes.Number):
            return _float(expression.value)
        if isinstance(expression, nodes.Text):
            if self.mode.reads_numbers:
                return f"num({expression.value!r})"
            return _float(parse_number(expression.value))
        if self.is_condition(expression):
            return f"(1.0 if {self.condition(expression)} else 0.0)"
        if isinstance(expression, nodes.Unary):
            return f"({expression.operator}{self.number(expression.operand)})"
        if isinstance(expression, nodes.Binary):
            self._refuse_zero(expression)
            left, right = self.number(expression.left), self.number(expression.right)
            if expression.operator == "%":
                return f"modulo({left}, {right})"
            if expression.operator == "/":
                return f"({left} / {right})"
            return self.arithmetic(expression.operator, left, right)
        if isinstance(expression, nodes.Ternary):
            return self._ternary(expression, self.number)
        if self.numeric(expression):
            return self._value(expression)
        if isinstance(expression, nodes.Field) or self.textual(expression):
            return f"field_number({self.text(expression)})"
        return f"num({self.untyped(expression)})"

    def _refuse_zero(self, node: nodes.Binary) -> None:
        left, right = node.left, node.right
        constant = isinstance(left, nodes.Number) and isinstance(right, nodes.Number)
        if node.operator in "/%" and constant and not right.value:  # type: ignore[union-attr]
            where = " in `%'" if node.operator == "%" else ""
            place = self.place(node.line)
            raise AwkSyntaxError(f"{place}: error: division by zero attempted{where}")

    def arithmetic(self, operator: str, left: str, right: str) -> str:
        """Return an operation on numbers; `/` and `%` as those of `/=` and `%=`."""
        named = {"^": "power", "/": "divided", "%": "modulo_assigned"}.get(operator)
        return f"{named}({left}, {right})" if named else f"({left} {operator} {right})"

    def _ternary(self, node: nodes.Ternary, form: Callable[[Expression], str]) -> str:
        condition = self.condition(node.condition)
        return f"({form(node.yes)} if {condition} else {form(node.no)})"

    # text

    def _text(self, expression: Expression) -> str:
        if isinstance(expression, nodes.Text):
            return repr(expression.value)
        if isinstance(expression, nodes.Number):
            text = integral_text(expression.value)
            return f"number_text({_float(expression.value)})" if text is None else repr(text)
        if isinstance(expression, nodes.Field):
            return self.field_text(expression)
        if isinstance(expression, nodes.Concat):
            return self._concatenation(expression.parts)
        if isinstance(expression, nodes.Ternary):
            return self._ternary(expression, self.text)
        if isinstance(expression, nodes.Call) and expression.name in _TEXT_CALLS:
            return self.built_in(expression)
        if self.is_condition(expression):
            return f"('1' if {self.condition(expression)} else '0')"
        if self.numeric(expression):
            return f"number_text({self.number(expression)})"
        if self.textual(expression):
            return self.value(expression)
        return f"text({self.untyped(expression)})"

    def _concatenation(self, parts: list[Expression]) -> str:
        codes = [self.text(part) for part in parts]
        if len(codes) > 4:
            return f"join(({', '.join(codes)}))"
        code = " + ".join(codes)
        small = all(isinstance(part, nodes.Text) or self.numeric(part) for part in parts)
        return f"({code})" if small else f"checked({code})"

    # value

    def _value(self, expression: Expression) -> str:
        if self.scopes.asks_types and isinstance(
            expression, (nodes.Name, nodes.Index, nodes.Field)
        ):
            return self._used(expression)
        if isinstance(expression, nodes.Index):
            self.mark_typed(expression.base)
            return self._element(expression)
        if isinstance(expression, nodes.Ternary):
            return self._ternary(expression, self.value)
        if isinstance(expression, (nodes.Text, nodes.Concat)):
            return self._text(expression)
        if isinstance(expression, nodes.Grouping):
            place = self.place(expression.line)
            raise AwkSyntaxError(f"{place}: error: a list in parentheses is not a value")
        if isinstance(expression, nodes.Name):
            return self.variable(expression)
        if isinstance(expression, nodes.Field):
            return self.field_value(expression)
        if isinstance(expression, nodes.Assign):
            return self.assign_value(expression)
        if isinstance(expression, nodes.Step):
            return self.step_value(expression)
        if isinstance(expression, nodes.UserCall):
            return self._user_call(expression)
        if isinstance(expression, nodes.IndirectCall):
            return self._indirect_call(expression)
        if isinstance(expression, nodes.TypedRegex):
            return f"Typed({expression.source!r})"
        if isinstance(expression, nodes.Call):
            return self.built_in(expression)
        if isinstance(expression, nodes.Getline):
            return self.getline_value(expression)
        return self._number(expression)

    def _used(self, expression: Target) -> str:
        """Return a value that is read, in a program that asks for types."""
        if isinstance(expression, nodes.Name):
            name = self.variable(expression)
            return f"({name} := used({name}))" if self.is_plain(expression) else name
        if isinstance(expression, nodes.Field):
            code = self.field_value(expression)
            position = constant(expression.number)
            if position is None:
                return code
            self.needs_count = True
            count = "rt.nf()" if self.general else "nf"
            return f"({code} if {position} <= {count} else UNASSIGNED)"
        self.mark_typed(expression.base)
        return f"used({self._element(expression)})"

    def _user_call(self, node: nodes.UserCall) -> str:
        scopes, place = self.scopes, self.place(node.line)
        function = scopes.functions.get(node.name)
        if function is None:
            if node.name in scopes.names or node.name in SPECIAL_NAMES:
                message = f"attempt to use non-function `{spelled(node.name)}' in function call"
                raise AwkSyntaxError(f"{place}: error: {message}")
            message = f"function `{spelled(node.name)}' not defined"
            return f"fatal({message!r})"
        if len(node.arguments) > len(function.parameters):
            message = f"function `{spelled(node.name)}' called with more arguments than declared"
            self.warnings.append(f"{place}: warning: {message}")
        codes = [
            self._argument(item, is_array=(node.name, parameter) in scopes.arrays)
            for item, parameter in zip(node.arguments, function.parameters, strict=False)
        ]
        return f"f_{node.name}({', '.join(codes)})"

    def _indirect_call(self, node: nodes.IndirectCall) -> str:
        self.warns = True
        name = self.text(node.variable)
        codes = [self._argument(item, is_array=False) for item in node.arguments]
        return f"call_by_name({name}, [{', '.join(codes)}])"

    def _argument(self, expression: Expression, *, is_array: bool) -> str:
        """Return an argument of a function of the program."""
        if self.is_array(expression):
            assert isinstance(expression, nodes.Name)
            self.mark_typed(expression)
            return f"{'v' if self.is_global(expression.name) else 'l'}_{expression.name}"
        if self.is_plain(expression):
            assert isinstance(expression, nodes.Name)
            return self.variable(expression)  # the function may use it as an array
        if not isinstance(expression, nodes.Index):
            return self.value(expression)
        self.mark_typed(expression.base)
        if not is_array:
            return self.element_code(expression)
        array, key = self.array_code(expression.base), self.subscript(expression)
        return f"element_or_array({array}, {key})"

    # condition

    def _condition(self, expression: Expression) -> str:
        if isinstance(expression, nodes.Unary) and expression.operator == "!":
            return f"(not {self.condition(expression.operand)})"
        if isinstance(expression, nodes.Regex):
            return self._match(expression, "rt.record()" if self.general else "r")
        if isinstance(expression, nodes.Match):
            code = self._match(expression.pattern, self.text(expression.text))
            return f"(not {code})" if expression.negated else code
        if isinstance(expression, nodes.Membership):
            return f"({self.subscript(expression)} in {self.array_code(expression.array)})"
        if isinstance(expression, nodes.Binary):
            if expression.operator in ("&&", "||"):
                word = "and" if expression.operator == "&&" else "or"
                left, right = self.condition(expression.left), self.condition(expression.right)
                return f"({left} {word} {right})"
            if expression.operator in _COMPARISONS:
                return self._comparison(expression)
        if isinstance(expression, nodes.Name) and not self.general:
            if expression.name == "NF" and self.is_global("NF"):
                return "nf"
        if isinstance(expression, nodes.Field):
            if self.general or self._is_assigned_record(expression):
                return self.field_value(expression)
            return f"from_input({self.field_text(expression)})"
        if self.textual(expression):
            return f"({self.text(expression)} != '')"
        return self.value(expression)

    def _match(self, pattern: Expression, subject: str) -> str:
        """Return whether the subject matches."""
        if isinstance(pattern, nodes.Regex) and not self.ignore_case:
            self._check_regex(pattern)
            if _LITERAL.fullmatch(pattern.source):
                return f"({pattern.source!r} in {subject})"
            return f"s{self.regex(pattern.source)}({subject})"
        return f"{self.pattern(pattern)}.test({subject})"

    def _check_regex(self, node: nodes.Regex) -> None:
        """Refuse a constant that is no regular expression: an error of the program."""
        from agentsandbox.commands.awk.patterns import written_plainly
        from agentsandbox.kernel.regexps import RegexError, compile_posix

        try:
            compile_posix(written_plainly(node.source, self.mode), dialect="awk")
        except RegexError as error:
            place = self.place(node.line)
            raise AwkSyntaxError(f"{place}: error: {error.message}: /{node.source}/") from None

    def regex(self, source: str) -> int:
        """Return the number of a constant pattern."""
        return self.regexes.setdefault(source, len(self.regexes))

    def pattern(self, expression: Expression) -> str:
        """Return the pattern that an expression gives."""
        if not isinstance(expression, nodes.Regex):
            self.warns = True
            return f"rt.dynamic_pattern({self.text(expression)})"
        self._check_regex(expression)
        if self.ignore_case:
            return f"rt.dynamic_pattern({expression.source!r})"
        return f"p{self.regex(expression.source)}"

    def _comparison(self, node: nodes.Binary) -> str:
        left, right, operator = node.left, node.right, node.operator
        if self.numeric(left) and self.numeric(right):
            return f"({self.number(left)} {operator} {self.number(right)})"
        if self.ignore_case:
            return f"folded({operator!r}, {self.value(left)}, {self.value(right)})"
        if self.textual(left) or self.textual(right):
            return f"({self.text(left)} {operator} {self.text(right)})"
        if isinstance(right, nodes.Field) and isinstance(left, (nodes.Name, nodes.Index)):
            left, right, operator = right, left, _MIRRORED[operator]
        if isinstance(left, nodes.Field) and self._compares_as_input(left, right):
            return self._field_comparison(left, right, operator)
        return f"{_COMPARISONS[operator]}({self.value(left)}, {self.value(right)})"

    def _compares_as_input(self, left: nodes.Field, right: Expression) -> bool:
        """Whether the text of a field is all that a comparison needs."""
        simple = isinstance(right, (nodes.Name, nodes.Index)) or self.numeric(right)
        if self.general or self.mode.reads_numbers or self._is_assigned_record(left):
            return False
        return simple

    def _field_comparison(self, left: nodes.Field, right: Expression, operator: str) -> str:
        value = self.number(right) if self.numeric(right) else self.value(right)
        field = self.field_text(left)
        general = f"field_{_COMPARISONS[operator]}({field}, {value})"
        if not isinstance(right, nodes.Number) or constant(left.number) is None:
            return general
        number = self.temporary()
        test = f"({number} := numeric_input({field})) is not None"
        return f"({number} {operator} {value} if {test} else {general})"

    def case_condition(self, subject: str, value: Expression) -> str:
        """Return whether a `case` applies: by pattern, or by equality of like types."""
        if isinstance(value, nodes.Regex):
            return f"{self.pattern(value)}.test(text({subject}))"
        if self.numeric(value):
            return f"same_number({subject}, {self.number(value)})"
        return f"same_text({subject}, {self.text(value)})"


def _float(number: float) -> str:
    if number - number == 0.0:
        return repr(number)
    from math import copysign  # of what is no number, only this tells the sign

    name = "NAN" if number != number else "INF"
    return f"(-{name})" if copysign(1.0, number) < 0 else name
