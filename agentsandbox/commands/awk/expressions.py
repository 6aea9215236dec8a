"""Expressions of awk as Python expressions, each in the form its context asks for.

There are four forms: a float (`number`), a string (`text`), an awk value of any type (`value`), and
anything that Python finds true or false (`condition`). What `Scopes` knows of types decides how
much conversion a form takes: a variable that only ever holds numbers needs none.

The record is `r` and its fields `f`, their number `nf`; in a `general` program, which changes
fields, the runtime keeps them (`rt.field`).
"""

from __future__ import annotations

from math import copysign

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.formats import parse_format
from agentsandbox.commands.awk.lexer import AwkSyntaxError, place_of, spelled
from agentsandbox.commands.awk.numbered import numbered_arrays
from agentsandbox.commands.awk.patterns import written_plainly
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES
from agentsandbox.commands.awk.values import integral_text, parse_number
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.regexps import RegexError, compile_posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from agentsandbox.commands.awk.lexer import Source
    from agentsandbox.commands.awk.nodes import Expression
    from agentsandbox.commands.awk.scopes import Scopes

    Target: TypeAlias = "nodes.Name | nodes.Index | nodes.Field"

HOIST_EVERY = 20
"""Levels of nesting after which a subexpression becomes a function of its own."""

_NAMES = lazily(r"\b(?:[vl]_\w+|r|rv|f|nf)\b")
_COMPARISONS = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}
_MIRRORED = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">": "<", ">=": "<="}
_TEXT_SPECIALS = frozenset("OFS ORS SUBSEP CONVFMT OFMT FS RS RT FPAT FIELDWIDTHS".split())
_TEXT_CALLS = frozenset(
    "substr sprintf tolower toupper gensub strftime typeof dcgettext dcngettext"
    " bindtextdomain".split()
)
_LITERAL = lazily(r"[A-Za-z0-9 _:,;=<>/@#%&~!'\"`-]+")
_ORDINALS = ("first", "second", "third", "fourth")
_MOST_FIELDS = 1000
_RECORD = nodes.Field(0, nodes.Number(0, 0.0))
_ONE = nodes.Number(0, 1.0)


def _constant(node: object, least: int = 1, below: int = _MOST_FIELDS) -> int | None:
    """Return the number of a constant, None if it is not a whole number in that range."""
    if isinstance(node, nodes.Number) and least <= node.value < below and node.value.is_integer():
        return int(node.value)
    return None


class Expressions:
    """Compiles expressions; the state that statements share with them."""

    def __init__(self, scopes: Scopes, sources: Sequence[Source]) -> None:
        self.scopes = scopes
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

    # pieces

    def emit(self, text: str) -> None:
        """Add a statement."""
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
            assign_statement(self, expression)
            return
        if isinstance(expression, nodes.Call) and expression.name in ("sub", "gsub"):
            found = _substitution_statement(self, expression)
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
        position = _constant(number, 0)
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
        return self.scopes.assigns_record and _constant(node.number, 0) == 0

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
        position = _constant(number, 0)
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
            return _CALLS[expression.name](self, expression)
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
            return _assign_value(self, expression)
        if isinstance(expression, nodes.Step):
            return _step_value(self, expression)
        if isinstance(expression, nodes.UserCall):
            return self._user_call(expression)
        if isinstance(expression, nodes.IndirectCall):
            return self._indirect_call(expression)
        if isinstance(expression, nodes.TypedRegex):
            return f"Typed({expression.source!r})"
        if isinstance(expression, nodes.Call):
            return _CALLS[expression.name](self, expression)
        if isinstance(expression, nodes.Getline):
            return _getline_value(self, expression)
        return self._number(expression)

    def _used(self, expression: Target) -> str:
        """Return a value that is read, in a program that asks for types."""
        if isinstance(expression, nodes.Name):
            name = self.variable(expression)
            return f"({name} := used({name}))" if self.is_plain(expression) else name
        if isinstance(expression, nodes.Field):
            code = self.field_value(expression)
            position = _constant(expression.number)
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
        return f"rt.call_by_name({name}, [{', '.join(codes)}])"

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
        if not isinstance(right, nodes.Number) or _constant(left.number) is None:
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
    name = "NAN" if number != number else "INF"
    return f"(-{name})" if copysign(1.0, number) < 0 else name


# assignments


def assignment(compiler: Expressions, target: Target, code: str) -> str:
    """Return the statement that assigns the value of `code`."""
    if isinstance(target, nodes.Name) and compiler.is_plain(target):
        return f"{compiler.variable(target)} = {code}"
    if isinstance(target, nodes.Index):
        return f"{compiler.element_code(target)} = {code}"
    return _assigned(compiler, target, code)


def _assigned(compiler: Expressions, target: Target, code: str) -> str:
    """Return the expression that assigns the value of `code` and is that value."""
    if isinstance(target, nodes.Name):
        if compiler.is_array(target):
            return f"({code}, {compiler.variable(target)})"
        if compiler.is_global(target.name) and target.name in SPECIAL_NAMES:
            compiler.warns = True
            return f"rt.assign({target.name!r}, {code})"
        return f"({compiler.variable(target)} := {code})"
    if isinstance(target, nodes.Index):
        if isinstance(target.base, nodes.Name) and target.base.name == "FUNCTAB":
            return "fatal('cannot assign to elements of FUNCTAB')"
        array, key = compiler.array_code(target.base), compiler.subscript(target)
        return f"set_element({code}, {array}, {key})"
    position = _constant(target.number, 0)
    if position is None:
        return f"rt.set_field({code}, {compiler.number(target.number)})"
    if position:
        return f"rt.put_field({code}, {position})"
    if compiler.general:
        return f"rt.set_record_value({code})"
    split = ", (f := rt.split(r)), (nf := rt.count)" if compiler.scopes.uses_fields else ""
    return f"((rv := {code}), (r := text(rv)){split}, rv)[-1]"


def assign_statement(compiler: Expressions, node: nodes.Assign) -> None:
    """Emit an assignment whose value nobody needs."""
    target, operator, value = node.target, node.operator, node.value
    if isinstance(target, nodes.Index) and getattr(target.base, "name", "") == "FUNCTAB":
        compiler.emit(_assigned(compiler, target, compiler.value(value)))
        return
    if operator == "=":
        position = _constant(target.number) if isinstance(target, nodes.Field) else None
        source = _constant(value.number) if isinstance(value, nodes.Field) else None
        if position is not None and position == source:
            compiler.emit(f"rt.rebuild({position})")
            return
        code = compiler.value(value)
        own = isinstance(target, nodes.Index) and compiler.is_own_array(target.base)
        if own and isinstance(value, nodes.Field) and not compiler.general:
            text, name = compiler.field_text(value), target.base.name  # type: ignore[union-attr]
            compiler.filled.add(name)
            code = f"from_input({text}) if y_{name} else {text}"
        compiler.emit(assignment(compiler, target, code))
        return
    plain = isinstance(target, nodes.Name) and compiler.is_plain(target)
    direct = operator in ("+=", "-=", "*=") and compiler.numeric(target)
    if not plain and not (direct and isinstance(target, nodes.Index)):
        compiler.emit(_assign_value(compiler, node))
        return
    code = compiler.number(value)
    if direct and plain and code.startswith("float(len("):
        code = code.removeprefix("float")  # a float and a whole number make a float
    elif not isinstance(value, (nodes.Number, nodes.Field, nodes.Name)):
        temporary = compiler.temporary()
        compiler.emit(f"{temporary} = {code}")  # awk evaluates the right side first
        code = temporary
    if isinstance(target, nodes.Index):
        compiler.emit(f"{compiler.element_code(target)} {operator} {code}")
        return
    assert isinstance(target, nodes.Name)
    name = compiler.variable(target)
    if direct:
        compiler.emit(f"{name} {operator} {code}")
    else:
        left = name if compiler.numeric(target) else f"num({name})"
        compiler.emit(f"{name} = {compiler.arithmetic(operator[:-1], left, code)}")


def _assign_value(compiler: Expressions, node: nodes.Assign) -> str:
    target, operator = node.target, node.operator
    if operator == "=":
        return _assigned(compiler, target, compiler.value(node.value))
    value = compiler.number(node.value)
    if isinstance(node.value, nodes.Number):
        return _updated(compiler, target, operator[:-1], value)
    temporary = compiler.temporary()  # awk evaluates the right side first
    updated = _updated(compiler, target, operator[:-1], temporary)
    return f"(({temporary} := {value}), {updated})[1]"


def _updated(compiler: Expressions, target: Target, operator: str, value: str) -> str:
    """Return the expression that replaces the target by `target operator value`."""
    if isinstance(target, nodes.Index):
        key, array = compiler.temporary(), compiler.temporary()
        code, subscript = compiler.array_code(target.base), compiler.subscript(target)
        left = f"num(({array} := {code})[({key} := {subscript})])"
        return f"set_element({compiler.arithmetic(operator, left, value)}, {array}, {key})"
    if isinstance(target, nodes.Field) and _constant(target.number, 0) != 0:
        position = compiler.temporary()
        left = f"num(rt.field_at(({position} := {compiler.number(target.number)})))"
        return f"rt.set_field({compiler.arithmetic(operator, left, value)}, {position})"
    return _assigned(
        compiler, target, compiler.arithmetic(operator, compiler.number(target), value)
    )


def _step_value(compiler: Expressions, node: nodes.Step) -> str:
    target = node.target
    if not node.prefix and isinstance(target, nodes.Index):
        function = "count_element" if compiler.numeric(target) else "step_element"
        array, key = compiler.array_code(target.base), compiler.subscript(target)
        return f"{function}({array}, {key}, {float(node.amount)})"
    there, back = "+-" if node.amount > 0 else "-+"
    code = _updated(compiler, target, there, "1.0")
    return code if node.prefix else f"({code} {back} 1.0)"


def _getline_value(compiler: Expressions, node: nodes.Getline) -> str:
    source = compiler.text(node.source) if node.source is not None else ""
    method = {
        "": "getline_main",
        "<": "channels.read_file",
        "|": "channels.read_command",
        "|&": "channels.read_both",
    }[node.kind]
    status = compiler.temporary()
    call = f"({status} := rt.{method}({source}))"
    if isinstance(node.target, nodes.Index):  # its subscript counts at the end of the input, too
        key = compiler.temporary()
        subscript, array = compiler.subscript(node.target), compiler.array_code(node.target.base)
        assign = f"set_element(from_input(rt.got), {array}, {key})"
        got = f"(({assign}, {status})[1] if {call} > 0.0 else {status})"
        return f"(({key} := {subscript}), {got})[1]"
    assign = _assigned(compiler, node.target or _RECORD, "from_input(rt.got)")
    return f"(({assign}, {status})[1] if {call} > 0.0 else {status})"


# print and printf


def printed(compiler: Expressions, node: nodes.Print) -> tuple[str, bool]:
    """Return what a print statement writes, and whether record and program bound its length."""
    bounded = all(map(compiler.bounded, node.arguments))
    if node.formatted:
        return _printed_by_format(compiler, node.arguments, bounded)
    separator, end = ("' '", "'\\n'") if compiler.fixed_separators else ("rt.OFS", "rt.ORS")
    codes: list[str] = []
    for argument in node.arguments or [_RECORD]:
        code = _print_text(compiler, argument)
        codes += [separator, code] if codes else [code]
    codes.append(end)
    if len(codes) > 8:
        joined = ", ".join(codes)
        return (f"''.join(({joined}))" if bounded else f"join(({joined}))"), bounded
    code = " + ".join(codes)
    return (code if bounded or len(codes) == 2 else f"checked({code})"), bounded


def _print_text(compiler: Expressions, expression: Expression) -> str:
    """Return an item of `print`: numbers by OFMT."""
    if isinstance(expression, nodes.Number):
        text = integral_text(expression.value)
        if text is not None:
            return repr(text)
    if (
        compiler.is_condition(expression)
        or isinstance(expression, nodes.Field)
        or compiler.textual(expression)
    ):
        return compiler.text(expression)
    if compiler.numeric(expression):
        return f"printed_number({compiler.number(expression)})"
    return f"printed({compiler.untyped(expression)})"


def _formatted(compiler: Expressions, arguments: list[Expression]) -> str:
    """`sprintf`: a constant format becomes Python formatting where the two agree."""
    template = arguments[0]
    if isinstance(template, nodes.Text) and not compiler.mode.traditional:
        codes = _formatted_directly(compiler, template.value, arguments[1:])
        if codes:
            return codes[0] if len(codes) == 1 else f"join(({', '.join(codes)}))"
    values = "".join(compiler.value(argument) + ", " for argument in arguments[1:])
    return f"rt.sprintf({compiler.text(template)}, ({values}))"


def _printed_by_format(
    compiler: Expressions, arguments: list[Expression], bounded: bool
) -> tuple[str, bool]:
    """As `printed`, for `printf`."""
    if not arguments:
        code = "''" if compiler.mode.traditional else "fatal('printf: no arguments')"
        return code, False
    template = arguments[0]
    codes: list[str] = []
    if isinstance(template, nodes.Text) and bounded and not compiler.mode.traditional:
        codes = _formatted_directly(compiler, template.value, arguments[1:])
    if not codes:
        return _formatted(compiler, arguments), False
    return " + ".join(codes) if len(codes) <= 8 else f"''.join(({', '.join(codes)}))", True


def _formatted_directly(
    compiler: Expressions, template: str, arguments: list[Expression]
) -> list[str]:
    """Return the parts of the text; none when Python formats otherwise."""
    codes: list[str] = []
    taken = 0
    for part in parse_format(template):
        if isinstance(part, str):
            codes.append(repr(part))
            continue
        width, precision, flags, letter = part.width, part.precision, part.flags, part.letter
        sizes = (0 if width is None else width, 0 if precision is None else precision)
        small = all(isinstance(size, int) and size < 500 for size in sizes)
        if part.position is not None or part.misplaced or set(flags) & {"#", "'"}:
            return []
        if taken >= len(arguments) or part.is_refused or not small:
            return []
        argument = arguments[taken]
        taken += 1
        size = f"{width or ''}" + (f".{precision}" if precision is not None else "")
        given = f"{flags!r}, {width or 0}"
        if letter == "s":
            code = compiler.text(argument)
            if size:
                name = compiler.temporary()
                sound = f"{name} if ({name} := {code}).isascii() else sound({name})"
                code = f"'%{'-' if '-' in flags else ''}{size}s' % ({sound},)"
            codes.append(code)
        elif letter in "di" and precision is None:
            number = compiler.number(argument)
            codes.append(f"integer_text('%{flags}{size}d', {number}, {given})")
        elif letter in "eEfFgG":
            number = compiler.number(argument)
            codes.append(f"real_text('%{flags}{size}{letter}', {number}, {given})")
        else:
            value = compiler.value(argument)
            codes.append(f"one_text({letter!r}, {given}, {precision}, {value}, text)")
    pure = (nodes.Name, nodes.Number, nodes.Text, nodes.Field)
    if not all(isinstance(argument, pure) for argument in arguments[taken:]):
        return []  # the side effects of the others must happen
    return codes or ["''"]


# calls of built-in functions


def _array(compiler: Expressions, call: nodes.Call, position: int) -> str:
    """Return an argument that must be an array."""
    argument = call.arguments[position]
    if isinstance(argument, (nodes.Name, nodes.Index)):
        compiler.mark_typed(argument)
        return compiler.array_code(argument)
    which = f"{call.name}: {_ORDINALS[position]}"
    return f"not_an_array({compiler.value(argument)}, {which!r})"


def _length(compiler: Expressions, call: nodes.Call) -> str:
    argument = call.arguments[0] if call.arguments else _RECORD
    if isinstance(argument, nodes.Name) and compiler.is_array(argument):
        if compiler.mode.posix:
            return "fatal('length: received array argument')"
        if compiler.is_global(argument.name):
            return f"float(len(v_{argument.name}))"
        return f"length_of(l_{argument.name}, text)"
    if isinstance(argument, nodes.Index):
        return f"length_of({compiler.element_code(argument)}, text)"
    if isinstance(argument, nodes.Name) and not compiler.numeric(argument):
        return f"length_of({compiler.value(argument)}, text)"
    return f"float(len({compiler.text(argument)}))"


def _substr(compiler: Expressions, call: nodes.Call) -> str:
    text = compiler.text(call.arguments[0])
    start, *counts = call.arguments[1:]
    first = _constant(start, below=10**6)
    size = _constant(counts[0], below=10**6) if counts else 0
    if first is not None and size is not None:
        return f"{text}[{first - 1 or ''}:{first - 1 + size if size else ''}]"
    return f"substr({', '.join([text, *map(compiler.number, call.arguments[1:])])})"


def _index(compiler: Expressions, call: nodes.Call) -> str:
    text, sought = map(compiler.text, call.arguments)
    if compiler.ignore_case:
        return f"rt.index({text}, {sought})"
    return f"float({text}.find({sought}) + 1)"


def _split(compiler: Expressions, call: nodes.Call) -> str:
    text, target, *separators = call.arguments
    by = "None"
    if len(separators) > 1 or call.name == "patsplit":
        return _split_with_separators(compiler, call)
    if separators:
        separator = separators[0]
        is_regex = isinstance(separator, nodes.Regex)
        if not isinstance(separator, nodes.Text) or "\\" in separator.value:
            compiler.warns = True
        by = (compiler.pattern if is_regex else compiler.text)(separator)
    array, typed = _array_to_fill(compiler, call, target)
    return f"rt.split_into({compiler.text(text)}, {array}, {by}, {typed})"


def _split_with_separators(compiler: Expressions, call: nodes.Call) -> str:
    """`patsplit`, and `split` with a fourth argument."""
    text, _, *others = call.arguments
    if compiler.mode.traditional:
        return "fatal('split: fourth argument is a gawk extension')"
    compiler.warns = True
    by = "None"
    if others:
        is_regex = isinstance(others[0], nodes.Regex)
        by = (compiler.pattern if is_regex else compiler.text)(others[0])
    array = _array(compiler, call, 1)
    between = _array(compiler, call, 3) if len(others) > 1 else "None"
    method = "patsplit" if call.name == "patsplit" else "split_apart"
    return f"rt.{method}({compiler.text(text)}, {array}, {by}, {between})"


def _array_to_fill(compiler: Expressions, call: nodes.Call, target: Expression) -> tuple[str, str]:
    """Return the array that `split` fills, and whether the types of its elements matter."""
    if isinstance(target, nodes.Name) and compiler.is_own_array(target):
        compiler.filled.add(target.name)
        return f"v_{target.name}", f"y_{target.name}"
    return _array(compiler, call, 1), "True"


def _substituted(compiler: Expressions, call: nodes.Call, text: str) -> str:
    """Return the call that does the work: the new text waits in `rt.got`."""
    sought, replacement = call.arguments[:2]
    every = call.name == "gsub"
    pattern = compiler.pattern(sought)
    fixed = not compiler.ignore_case
    if fixed and isinstance(sought, nodes.Regex) and isinstance(replacement, nodes.Text):
        key = (sought.source, replacement.value, every)
        number = compiler.substitutions.setdefault(key, len(compiler.substitutions))
        return f"c{number}({text})"
    return f"rt.substitute({pattern}, {compiler.text(replacement)}, {text}, {every})"


def _substitution_statement(compiler: Expressions, call: nodes.Call) -> tuple[str, str] | None:
    """Return (the call, the assignment when it replaced something); None if it takes more."""
    target = call.arguments[2] if len(call.arguments) > 2 else _RECORD
    is_constant = isinstance(target, nodes.Field) and isinstance(target.number, nodes.Number)
    if not isinstance(target, nodes.Name) and not is_constant:
        return None
    changed = _substituted(compiler, call, compiler.text(target))
    replaced = _replaced(compiler, target)
    return changed, _assigned(compiler, target, replaced)  # type: ignore[arg-type]


def _replaced(compiler: Expressions, target: Expression, value: str = "") -> str:
    """Return what `sub` assigns: a typed regular expression stays one."""
    if not compiler.scopes.has_typed_regexes:
        return "rt.got"
    return f"same_type({value or compiler.value(target)}, rt.got)"


def _substitute(compiler: Expressions, call: nodes.Call) -> str:
    """`sub` and `gsub`: the new text is assigned when something was replaced."""
    target = call.arguments[2] if len(call.arguments) > 2 else _RECORD
    count = compiler.temporary()
    if isinstance(target, nodes.Index):
        array, key = compiler.temporary(), compiler.temporary()
        code, subscript = compiler.array_code(target.base), compiler.subscript(target)
        text = f"text(({array} := {code})[({key} := {subscript})])"
        replaced = _replaced(compiler, target, f"{array}[{key}]")
        assign = f"set_element({replaced}, {array}, {key})"
    elif isinstance(target, nodes.Field) and not isinstance(target.number, nodes.Number):
        position = compiler.temporary()
        text = f"rt.field_at(({position} := {compiler.number(target.number)}))"
        assign = f"rt.set_field(rt.got, {position})"
    elif isinstance(target, (nodes.Name, nodes.Field)):
        text = compiler.text(target)
        assign = _assigned(compiler, target, _replaced(compiler, target))
    else:
        return _substituted(compiler, call, compiler.text(target))
    changed = f"({count} := {_substituted(compiler, call, text)})"
    return f"(({assign}, {count})[1] if {changed} else {count})"


def _gensub(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    pattern, replacement, how, *subjects = call.arguments
    codes = [
        compiler.pattern(pattern),
        compiler.text(replacement),
        compiler.value(how),
        compiler.text(subjects[0] if subjects else _RECORD),
    ]
    return f"rt.gensub({', '.join(codes)})"


def _matched(compiler: Expressions, call: nodes.Call) -> str:
    text, pattern = compiler.text(call.arguments[0]), compiler.pattern(call.arguments[1])
    captures = _array(compiler, call, 2) if len(call.arguments) > 2 else "None"
    return f"rt.match({text}, {pattern}, {captures})"


def _sprintf(compiler: Expressions, call: nodes.Call) -> str:
    return (
        _formatted(compiler, call.arguments) if call.arguments else "fatal('sprintf: no arguments')"
    )


def _numbers(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = compiler.warns or call.name in ("exp", "log", "sqrt")
    name = _ARITHMETIC.get(call.name, f"rt.{call.name}")
    return f"{name}({', '.join(map(compiler.number, call.arguments))})"


def _bits(compiler: Expressions, call: nodes.Call) -> str:
    if len(call.arguments) < 2:
        return f"fatal('{call.name}: called with less than two arguments')"
    numbers = ", ".join(map(compiler.number, call.arguments))
    return f"bitwise({call.name!r}, ({numbers}))"


def _case(compiler: Expressions, call: nodes.Call) -> str:
    name = "lower" if call.name == "tolower" else "upper"
    return f"{name}({compiler.text(call.arguments[0])}, {call.line})"


def _texts(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    return f"rt.channels.{call.name}({', '.join(map(compiler.text, call.arguments))})"


def _strftime(compiler: Expressions, call: nodes.Call) -> str:
    forms = (compiler.text, compiler.number, compiler.value)
    codes = [form(argument) for form, argument in zip(forms, call.arguments, strict=False)]
    return f"rt.strftime({', '.join(codes)})"


def _mktime(compiler: Expressions, call: nodes.Call) -> str:
    utc = compiler.condition(call.arguments[1]) if len(call.arguments) > 1 else "False"
    return f"rt.mktime({compiler.text(call.arguments[0])}, {utc})"


def _sort(compiler: Expressions, call: nodes.Call) -> str:
    target = _array(compiler, call, 1) if len(call.arguments) > 1 else "None"
    how = compiler.text(call.arguments[2]) if len(call.arguments) > 2 else "None"
    return f"rt.sort({_array(compiler, call, 0)}, {target}, {how}, {call.name == 'asorti'})"


def _kind(compiler: Expressions, call: nodes.Call) -> str:
    """`typeof` and `isarray`, which must not create what they look at."""
    argument = call.arguments[0]
    if isinstance(argument, nodes.Index):
        compiler.mark_typed(argument.base)
        code = f"peek({compiler.array_code(argument.base)}, {compiler.subscript(argument)})"
    elif isinstance(argument, nodes.Name) and compiler.is_array(argument):
        code = f"{'v' if compiler.is_global(argument.name) else 'l'}_{argument.name}"
    elif isinstance(argument, nodes.Field) and call.name == "typeof":
        compiler.needs_count = True
        number, value = compiler.number(argument.number), compiler.field_value(argument)
        count = "rt.nf()" if compiler.general else "nf"
        code = f"('unassigned' if {number} > {count} else kind_of({value}))"
        return f"('unassigned' if not rt.has_read and {count} == 0 else {code})"
    elif isinstance(argument, nodes.Name) and compiler.is_plain(argument):
        code = compiler.variable(argument)
    else:
        code = compiler.value(argument)
    return f"kind_of({code})" if call.name == "typeof" else f"is_array({code})"


def _strtonum(compiler: Expressions, call: nodes.Call) -> str:
    return f"strtonum({compiler.value(call.arguments[0])})"


def _boolean(compiler: Expressions, call: nodes.Call) -> str:
    return f"mkbool({compiler.condition(call.arguments[0])})"


def _translated(compiler: Expressions, call: nodes.Call) -> str:
    """`dcgettext` and `dcngettext`: the domain is evaluated, too."""
    plural = call.name == "dcngettext"
    texts = 2 if plural else 1
    if plural and len(call.arguments) < 3:
        return f"fatal('dcngettext: called with {len(call.arguments)} arguments')"
    codes = [compiler.text(argument) for argument in call.arguments[:texts]]
    number = compiler.number(call.arguments[2]) if plural else "1.0"
    others = [compiler.text(argument) for argument in call.arguments[texts + plural :]]
    if len(others) > 1:
        others = [f"({', '.join(others)})[1]"]
    else:
        others = [f"({others[0]}, None)[1]"] if others else ["None"]
    return f"translated({call.name!r}, ({', '.join(codes)},), {number}, {others[0]})"


def _domain(compiler: Expressions, call: nodes.Call) -> str:
    """`bindtextdomain`: return the directory."""
    return f"({', '.join(map(compiler.text, call.arguments))},)[0]"


_ARITHMETIC = {
    "sin": "sine", "cos": "cosine", "atan2": "atan2", "exp": "exponential", "log": "logarithm",
    "sqrt": "square_root", "int": "integer", "lshift": "lshift", "rshift": "rshift",
    "compl": "compl",
}  # fmt: skip
_CALLS: dict[str, Callable[[Expressions, nodes.Call], str]] = {
    "length": _length, "substr": _substr, "index": _index, "split": _split, "sub": _substitute,
    "patsplit": _split,
    "gsub": _substitute, "gensub": _gensub, "match": _matched, "sprintf": _sprintf,
    "strftime": _strftime, "mktime": _mktime, "asort": _sort, "asorti": _sort, "and": _bits,
    "or": _bits, "xor": _bits, "strtonum": _strtonum, "typeof": _kind, "isarray": _kind,
    "tolower": _case, "toupper": _case, "mkbool": _boolean, "dcgettext": _translated,
    "dcngettext": _translated, "bindtextdomain": _domain,
    **dict.fromkeys(("system", "close", "fflush"), _texts),
    **dict.fromkeys(("rand", "srand", "systime", *_ARITHMETIC), _numbers),
}  # fmt: skip
