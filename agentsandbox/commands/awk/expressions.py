"""Expressions of awk as Python expressions, in the form their context asks for: number, text, value
or condition.
"""

from __future__ import annotations

import re
from math import copysign

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.assignments import (
    assign_statement,
    assign_value,
    getline_value,
    step_value,
)
from agentsandbox.commands.awk.calls import CALLS, TEXT_CALLS, substitution_statement
from agentsandbox.commands.awk.lexer import AwkSyntaxError, place_of
from agentsandbox.commands.awk.numbered import numbered_arrays
from agentsandbox.commands.awk.patterns import written_plainly
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES
from agentsandbox.commands.awk.values import integral_text, parse_number
from agentsandbox.kernel.regexps import RegexError, compile_posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands.awk.lexer import Source
    from agentsandbox.commands.awk.nodes import Expression
    from agentsandbox.commands.awk.scopes import Scopes

HOIST_EVERY = 20
"""Levels of nesting after which a subexpression becomes a function of its own."""

_NAMES = re.compile(r"\b(?:[vl]_\w+|r|f|nf)\b")
_COMPARISONS = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}
_MIRRORED = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">": "<", ">=": "<="}
_TEXT_SPECIALS = frozenset(
    ("OFS", "ORS", "SUBSEP", "CONVFMT", "OFMT", "FS", "RS", "RT", "FPAT", "FIELDWIDTHS")
)
_LITERAL = re.compile(r"[A-Za-z0-9 _:,;=<>/@#%&~!'\"`-]+")


class Expressions:
    """Compiles expressions; the state that statements share with them."""

    def __init__(self, scopes: Scopes, sources: Sequence[Source]) -> None:
        self.scopes = scopes
        self.sources = sources
        self.budget = scopes.budget
        self.general = scopes.changes_fields
        self.counts = False
        self.needs_count = False
        self.function = ""
        self.line = 0
        self.loop_depth = 0
        self.depth = 0
        self.regexes: dict[str, int] = {}
        self.substitutions: dict[tuple[str, str, bool], int] = {}
        self.split_targets: set[str] = set()
        self.numbered = numbered_arrays(scopes)
        self.typed: set[str] = set()
        """Global arrays of which it matters whether an element is a number or its text."""
        self.loop_fields: dict[tuple[str, str], tuple[str, str]] = {}
        """For a variable that goes through the fields what holds the field, and what holds its
        number as a subscript, or ""."""
        self.reads_types = False
        """Whether the type of an assigned field may matter."""
        self.warnings: list[str] = []
        self.hoisted: list[tuple[int, str, int]] = []
        self.ignore_case = "IGNORECASE" in scopes.names or ("", "IGNORECASE") in scopes.texts
        self._temporaries = 0
        assigned = scopes.special_assigned | {name for _, name in scopes.texts}
        self._fixed_subscripts = "SUBSEP" not in assigned and not scopes.changes_operands
        self.fixed_separators = not {"OFS", "ORS"} & assigned

    # pieces

    def temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def nonlocals(self, texts: list[str], inside: bool) -> str:
        """The declaration a nested function needs for the variables its text may bind."""
        self.budget.step(len(self.scopes.names) + len(texts))
        known = {f"v_{name}" for name in self.scopes.names if name not in SPECIAL_NAMES} | {
            "r",
            "f",
            "nf",
        }
        if inside and self.function:
            known.update(f"l_{name}" for name in self.scopes.functions[self.function].parameters)
        found = {name for text in texts for name in _NAMES.findall(text)} & known
        return f"nonlocal {', '.join(sorted(found))}" if found else "pass"

    def hoist(self, code: str) -> str:
        """A call of a new function that returns the value of `code`."""
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

    def condition(self, expression: Expression) -> str:
        """As something Python finds true or false."""
        self.depth += 1
        return self._limited(self._condition(expression))

    def effect(self, expression: Expression) -> None:
        """As a statement."""
        if isinstance(expression, nodes.Unary) and expression.operator == "()":
            self.effect(expression.operand)
            return
        if isinstance(expression, nodes.Step):
            expression = nodes.Assign(
                expression.line,
                "+=" if expression.amount > 0 else "-=",
                expression.target,
                nodes.Number(0, 1.0),
            )
        if isinstance(expression, nodes.Assign):
            assign_statement(self, expression)
            return
        if isinstance(expression, nodes.Call) and expression.name in ("sub", "gsub"):
            found = substitution_statement(self, expression)
            if found is not None:
                self.emit(f"if {found[0]}: {found[1]}")
                return
        self.emit(
            self.value(expression)
            if not self.is_condition(expression)
            else self.condition(expression)
        )

    def emit(self, text: str) -> None:
        raise NotImplementedError

    # static types

    def numeric(self, expression: Expression) -> bool:
        return self.scopes.is_numeric(self.function, expression)

    def textual(self, expression: Expression) -> bool:
        """Whether it is a string whatever happens."""
        if isinstance(expression, (nodes.Text, nodes.Concat)):
            return True
        if isinstance(expression, nodes.Call):
            return expression.name in TEXT_CALLS
        if isinstance(expression, nodes.Unary):
            return expression.operator == "()" and self.textual(expression.operand)
        if isinstance(expression, nodes.Ternary):
            return self.textual(expression.yes) and self.textual(expression.no)
        return (
            isinstance(expression, nodes.Name)
            and expression.name in _TEXT_SPECIALS
            and self.is_global(expression.name)
        )

    def is_global(self, name: str) -> bool:
        """Whether no parameter hides the name."""
        return not self.scopes.key(self.function, name)[0]

    def is_condition(self, expression: Expression) -> bool:
        """Whether its natural form is a condition."""
        if isinstance(expression, nodes.Binary):
            return expression.operator in _COMPARISONS or expression.operator in ("&&", "||")
        if isinstance(expression, nodes.Regex):
            return True
        if isinstance(expression, nodes.Unary):
            return expression.operator == "!"
        return isinstance(expression, (nodes.Match, nodes.Membership))

    def bounded(self, expression: Expression) -> bool:
        """Whether its text is no longer than the record or the program."""
        return isinstance(
            expression, (nodes.Field, nodes.Number, nodes.Text, nodes.Binary)
        ) or self.numeric(expression)

    # names, elements, fields

    def array_code(self, node: object) -> str:
        """The array that a name or an element is."""
        if isinstance(node, nodes.Name):
            key = self.scopes.key(self.function, node.name)
            if key[0]:
                return f"array_of(l_{node.name}, {node.name!r})"
            return f"v_{node.name}"
        assert isinstance(node, nodes.Index)
        return f"{self.array_code(node.base)}.sub({self.subscript(node)})"

    def subscript(self, node: nodes.Index | nodes.Membership) -> str:
        """The key."""
        subscripts = node.subscripts
        if len(subscripts) > 1:
            codes = [self.text(item) for item in subscripts]
            if self._fixed_subscripts:
                code = f"'\\x1c'.join(({', '.join(codes)}))"
                return (
                    code if all(self.bounded(item) for item in subscripts) else f"checked({code})"
                )
            return f"join(({', rt.SUBSEP, '.join(codes)}))"
        only = subscripts[0]
        if self.is_numbered(
            node.base if isinstance(node, nodes.Index) else node.array
        ) and self.numeric(only):
            return self.number(only)
        if isinstance(only, (nodes.Text, nodes.Field)) or self.textual(only):
            return self.text(only)
        if isinstance(only, nodes.Number) and only.value.is_integer():
            return repr(integral_text(only.value))
        if (looped := self.looped(only)) is not None and looped[1]:
            return looped[1]
        if self.numeric(only):
            return f"key_of({self.number(only)})"
        return f"key({self.untyped(only)})"

    def is_numbered(self, base: object) -> bool:
        """Whether it is an array that takes numbers as subscripts."""
        return (
            isinstance(base, nodes.Name)
            and base.name in self.numbered
            and self.is_global(base.name)
        )

    def variable(self, node: nodes.Name) -> str:
        """The value of a scalar variable."""
        name = node.name
        scope, _ = self.scopes.key(self.function, name)
        if self.scopes.is_array(self.function, name):
            return f"scalar(l_{name}, {name!r})" if scope else f"scalar(v_{name}, {name!r})"
        if scope:
            return f"l_{name}"
        if name == "NF":
            return "rt.nf()" if self.general else "float(nf)"
        return f"rt.{name}" if name in SPECIAL_NAMES else f"v_{name}"

    def looped(self, node: Expression) -> tuple[str, str] | None:
        """What `loop_fields` has for it."""
        return (
            self.loop_fields.get(self.scopes.key(self.function, node.name))
            if isinstance(node, nodes.Name)
            else None
        )

    def field_text(self, node: nodes.Field) -> str:
        """The text of a field."""
        number = node.number
        looped = self.looped(number)
        if looped is not None:
            return looped[0]
        if isinstance(number, nodes.Number) and 0 <= number.value < 1000:
            position = int(number.value)
            if self.general:
                return f"rt.field({position})" if position else "rt.record()"
            return f"f[{position - 1}]" if position else "r"
        if self.general:
            return f"rt.field_at({self.number(number)})"
        if isinstance(number, nodes.Name) and number.name == "NF":
            return "(f[nf - 1] if nf else r)"
        if isinstance(number, nodes.Name) and self.numeric(number):
            name = self.variable(number)
            return f"(f[int({name}) - 1] if 1.0 <= {name} <= nf else other_field({name}, r))"
        temporary = self.temporary()
        return f"(f[int({temporary}) - 1] if 1.0 <= ({temporary} := {self.number(number)}) <= nf else other_field({temporary}, r))"

    def field_value(self, node: nodes.Field) -> str:
        """A field as a value: one that is not there was never set."""
        number = node.number
        if self.general:
            self.reads_types = True
            if isinstance(number, nodes.Number) and 1 <= number.value < 1000:
                return f"rt.value_of({int(number.value)})"
            return f"rt.field_value({self.number(number)})"
        if isinstance(number, nodes.Number) and 0 <= number.value < 1000:
            position = int(number.value)
            if not position:
                return "from_input(r)"
            return f"from_input(f[{position - 1}])"
        looped = self.looped(number)
        if looped is not None or (isinstance(number, nodes.Name) and number.name == "NF"):
            return f"from_input({self.field_text(node)})"
        temporary = self.temporary()
        present = f"1.0 <= ({temporary} := {self.number(number)}) <= nf"
        return (
            f"(from_input(f[int({temporary}) - 1]) if {present} else other_value({temporary}, r))"
        )

    # number

    def _number(self, expression: Expression) -> str:
        if isinstance(expression, nodes.Number):
            return self.constant(expression.value)
        if isinstance(expression, nodes.Text):
            return self.constant(parse_number(expression.value))
        if self.is_condition(expression):
            return f"(1.0 if {self.condition(expression)} else 0.0)"
        if isinstance(expression, nodes.Unary):
            if expression.operator == "()":
                return self.number(expression.operand)
            return f"({expression.operator}{self.number(expression.operand)})"
        if isinstance(expression, nodes.Binary):
            return self.arithmetic(
                expression.operator,
                self.number(expression.left),
                self.number(expression.right),
                expression,
            )
        if isinstance(expression, nodes.Field):
            return f"num({self.field_text(expression)})"
        if isinstance(expression, nodes.Ternary):
            return f"({self.number(expression.yes)} if {self.condition(expression.condition)} else {self.number(expression.no)})"
        if self.numeric(expression):
            return self._value(expression)
        if self.textual(expression):
            return f"num({self.text(expression)})"
        return f"num({self.untyped(expression)})"

    def place(self, line: int) -> str:
        """How messages tell a line of the program."""
        return place_of(self.sources, line)

    def constant(self, number: float) -> str:
        if number - number != 0.0:
            name = "NAN" if number != number else "INF"
            return f"(-{name})" if copysign(1.0, number) < 0 else name
        return repr(number)

    def arithmetic(
        self, operator: str, left: str, right: str, node: nodes.Binary | None = None
    ) -> str:
        if (
            operator in "/%"
            and node is not None
            and isinstance(node.right, nodes.Number)
            and isinstance(node.left, nodes.Number)
        ):
            if not node.right.value:
                where = " in `%'" if operator == "%" else ""
                raise AwkSyntaxError(
                    f"{self.place(node.line)}: error: division by zero attempted{where}"
                )
        if operator == "%":
            return (
                f"modulo({left}, {right})"
                if node is not None
                else f"modulo_assigned({left}, {right})"
            )
        if operator == "/" and node is None:
            return f"divided({left}, {right})"
        if operator == "^":
            return f"power({left}, {right})"
        return f"({left} {operator} {right})"

    # text

    def _text(self, expression: Expression) -> str:
        if isinstance(expression, nodes.Text):
            return repr(expression.value)
        if isinstance(expression, nodes.Number):
            text = integral_text(expression.value)
            return f"number_text({self.constant(expression.value)})" if text is None else repr(text)
        if isinstance(expression, nodes.Field):
            return self.field_text(expression)
        if isinstance(expression, nodes.Concat):
            return self.concatenation(expression.parts)
        if isinstance(expression, nodes.Unary) and expression.operator == "()":
            return self.text(expression.operand)
        if isinstance(expression, nodes.Ternary):
            return f"({self.text(expression.yes)} if {self.condition(expression.condition)} else {self.text(expression.no)})"
        if isinstance(expression, nodes.Call) and expression.name in TEXT_CALLS:
            return CALLS[expression.name](self, expression)
        if self.is_condition(expression):
            return f"('1' if {self.condition(expression)} else '0')"
        if self.numeric(expression):
            return f"number_text({self.number(expression)})"
        if self.textual(expression):
            return self.value(expression)
        return f"text({self.untyped(expression)})"

    def concatenation(self, parts: list[Expression]) -> str:
        flat: list[Expression] = []
        for part in parts:
            while isinstance(part, nodes.Unary) and part.operator == "()":
                part = part.operand
            flat.append(part)
        codes = [self.text(part) for part in flat]
        if len(codes) > 4:
            return f"join(({', '.join(codes)}))"
        code = " + ".join(codes)
        small = all(
            isinstance(part, (nodes.Number, nodes.Text)) or self.numeric(part) for part in flat
        )
        return f"({code})" if small else f"checked({code})"

    # value

    def _element(self, node: nodes.Index) -> str:
        code = f"{self.array_code(node.base)}[{self.subscript(node)}]"
        return f"element({code})" if self.scopes.nested and not self.numeric(node) else code

    def untyped(self, expression: Expression) -> str:
        """As `value`, for code that takes a number and its text for the same."""
        if not isinstance(expression, nodes.Index):
            return self.value(expression)
        self.depth += 1
        return self._limited(self._element(expression))

    def is_plain_array(self, name: str) -> bool:
        """Whether it is a global array of the program's own."""
        scopes = self.scopes
        return (
            not scopes.key(self.function, name)[0]
            and name not in SPECIAL_ARRAYS
            and scopes.is_array(self.function, name)
        )

    def mark_typed(self, array: object) -> None:
        """It matters what type the elements have."""
        if isinstance(array, nodes.Name):
            self.typed.add(array.name)

    def _value(self, expression: Expression) -> str:
        if isinstance(expression, nodes.Name):
            return self.variable(expression)
        if isinstance(expression, nodes.Index):
            self.mark_typed(expression.base)
            return self._element(expression)
        if isinstance(expression, nodes.Field):
            return self.field_value(expression)
        if isinstance(expression, nodes.Assign):
            return assign_value(self, expression)
        if isinstance(expression, nodes.Step):
            return step_value(self, expression)
        if isinstance(expression, nodes.UserCall):
            return self.user_call(expression)
        if isinstance(expression, nodes.Call):
            return CALLS[expression.name](self, expression)
        if isinstance(expression, nodes.Getline):
            return getline_value(self, expression)
        if isinstance(expression, nodes.Unary) and expression.operator == "()":
            return self.value(expression.operand)
        if isinstance(expression, nodes.Ternary):
            return f"({self.value(expression.yes)} if {self.condition(expression.condition)} else {self.value(expression.no)})"
        if isinstance(expression, (nodes.Text, nodes.Concat)):
            return self._text(expression)
        if isinstance(expression, nodes.Grouping):
            raise AwkSyntaxError(
                f"{self.place(expression.line)}: error: a list in parentheses is not a value"
            )
        return self._number(expression)

    def user_call(self, node: nodes.UserCall) -> str:
        function = self.scopes.functions.get(node.name)
        if function is None and (node.name in self.scopes.names or node.name in SPECIAL_NAMES):
            raise AwkSyntaxError(
                f"{self.place(node.line)}: error: attempt to use non-function `{node.name}' in function call"
            )
        if function is None:
            return f"undefined_function({node.name!r})"
        if len(node.arguments) > len(function.parameters):
            self.warnings.append(
                f"{self.place(node.line)}: warning: function `{node.name}' called with more arguments than declared"
            )
        kinds = [
            "a" if (node.name, parameter) in self.scopes.arrays else "s"
            for parameter in function.parameters
        ]
        return f"f_{node.name}({', '.join(self.argument(item, kind) for item, kind in zip(node.arguments, kinds, strict=False))})"

    def argument(self, expression: Expression, kind: str) -> str:
        """An argument of a user function: `kind` is "a" for an array, "s" for a scalar, "?" when
        that is not known.
        """
        while isinstance(expression, nodes.Unary) and expression.operator == "()":
            expression = expression.operand
        if isinstance(expression, nodes.Name) and self.scopes.is_array(
            self.function, expression.name
        ):
            prefix = "l" if self.scopes.key(self.function, expression.name)[0] else "v"
            self.mark_typed(expression)
            return f"{prefix}_{expression.name}"
        if isinstance(expression, nodes.Index):
            self.mark_typed(expression.base)
        if isinstance(expression, nodes.Index) and kind != "s":
            return f"element_or_array({self.array_code(expression.base)}, {self.subscript(expression)})"
        if isinstance(expression, nodes.Index):
            return f"{self.array_code(expression.base)}[{self.subscript(expression)}]"
        return self.value(expression)

    # condition

    def _condition(self, expression: Expression) -> str:
        if isinstance(expression, nodes.Unary):
            if expression.operator == "()":
                return self.condition(expression.operand)
            if expression.operator == "!":
                return f"(not {self.condition(expression.operand)})"
        if isinstance(expression, nodes.Regex):
            return self.match(expression, "rt.record()" if self.general else "r")
        if isinstance(expression, nodes.Match):
            code = self.match(expression.pattern, self.text(expression.text))
            return f"(not {code})" if expression.negated else code
        if isinstance(expression, nodes.Membership):
            return f"({self.subscript(expression)} in {self.array_code(expression.array)})"
        if isinstance(expression, nodes.Binary):
            if expression.operator in ("&&", "||"):
                word = "and" if expression.operator == "&&" else "or"
                return (
                    f"({self.condition(expression.left)} {word} {self.condition(expression.right)})"
                )
            if expression.operator in _COMPARISONS:
                return self.comparison(expression)
        if (
            isinstance(expression, nodes.Name)
            and expression.name == "NF"
            and not self.general
            and self.is_global("NF")
        ):
            return "nf"
        if isinstance(expression, nodes.Field):
            return f"from_input({self.field_text(expression)})"
        if self.textual(expression):
            return f"({self.text(expression)} != '')"
        return self.value(expression)

    def match(self, pattern: Expression, subject: str) -> str:
        """Whether the subject matches."""
        if isinstance(pattern, nodes.Regex):
            self.check_regex(pattern)
        if isinstance(pattern, nodes.Regex) and not self.ignore_case:
            if _LITERAL.fullmatch(pattern.source):
                return f"({pattern.source!r} in {subject})"
            return f"s{self.regex(pattern.source)}({subject})"
        return f"{self.pattern(pattern)}.test({subject})"

    def check_regex(self, node: nodes.Regex) -> None:
        """A constant that is no regular expression is an error of the program."""
        try:
            compile_posix(written_plainly(node.source), dialect="awk")
        except RegexError as error:
            raise AwkSyntaxError(
                f"{self.place(node.line)}: error: {error.message}: /{node.source}/"
            ) from None

    def regex(self, source: str) -> int:
        """The number of a constant pattern."""
        return self.regexes.setdefault(source, len(self.regexes))

    def substituter(self, source: str, replacement: str, every: bool) -> int:
        """The number of a `sub` or `gsub` whose pattern and replacement are constant."""
        return self.substitutions.setdefault((source, replacement, every), len(self.substitutions))

    def pattern(self, expression: Expression) -> str:
        """The pattern that an expression gives."""
        if isinstance(expression, nodes.Regex):
            self.check_regex(expression)
            return (
                f"rt.dynamic_pattern({expression.source!r})"
                if self.ignore_case
                else f"p{self.regex(expression.source)}"
            )
        return f"rt.dynamic_pattern({self.text(expression)})"

    def comparison(self, node: nodes.Binary) -> str:
        left, right, operator = node.left, node.right, node.operator
        if self.numeric(left) and self.numeric(right):
            return f"({self.number(left)} {operator} {self.number(right)})"
        if self.ignore_case:
            return f"folded({operator!r}, {self.value(left)}, {self.value(right)})"
        if self.textual(left) or self.textual(right):
            return f"({self.text(left)} {operator} {self.text(right)})"
        if isinstance(left, nodes.Field) and self.numeric(right) and not self.general:
            return f"field_{_COMPARISONS[operator]}({self.field_text(left)}, {self.number(right)})"
        if (
            not self.general
            and isinstance(left, nodes.Field)
            and isinstance(right, (nodes.Name, nodes.Index))
        ):
            return f"field_against_{_COMPARISONS[operator]}({self.field_text(left)}, {self.value(right)})"
        if (
            not self.general
            and isinstance(right, nodes.Field)
            and isinstance(left, (nodes.Name, nodes.Index))
        ):
            return f"field_against_{_COMPARISONS[_MIRRORED[operator]]}({self.field_text(right)}, {self.value(left)})"
        return f"{_COMPARISONS[operator]}({self.value(left)}, {self.value(right)})"

    def case_condition(self, subject: str, value: Expression) -> str:
        """Whether a `case` applies: by pattern, or by equality of like types."""
        if isinstance(value, nodes.Regex):
            return f"{self.pattern(value)}.test(text({subject}))"
        if self.numeric(value):
            return f"same_number({subject}, {self.number(value)})"
        return f"same_text({subject}, {self.text(value)})"
