"""Expressions of awk as Python expressions, in the form their context asks for: number, text, value
or condition.
"""

from __future__ import annotations

import re
from math import copysign

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.formats import parse_format
from agentsandbox.commands.awk.lexer import AwkSyntaxError, place_of
from agentsandbox.commands.awk.numbered import numbered_arrays
from agentsandbox.commands.awk.patterns import written_plainly
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES
from agentsandbox.commands.awk.values import integral_text, parse_number
from agentsandbox.kernel.regexps import RegexError, compile_posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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

_SIMPLE = (nodes.Number, nodes.Field, nodes.Name)
TEXT_CALLS = frozenset("substr sprintf tolower toupper gensub strftime typeof".split())
_ORDINALS = ("first", "second", "third", "fourth")


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
        self.warns = False
        """Whether the statement being compiled may warn when it runs."""
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
        codes = [self.text(part) for part in parts]
        if len(codes) > 4:
            return f"join(({', '.join(codes)}))"
        code = " + ".join(codes)
        small = all(
            isinstance(part, (nodes.Number, nodes.Text)) or self.numeric(part) for part in parts
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
        if isinstance(expression, nodes.Unary) and expression.operator == "!":
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
        self.warns = True
        return f"rt.dynamic_pattern({self.text(expression)})"

    def comparison(self, node: nodes.Binary) -> str:
        left, right, operator = node.left, node.right, node.operator
        if self.numeric(left) and self.numeric(right):
            return f"({self.number(left)} {operator} {self.number(right)})"
        if self.ignore_case:
            return f"folded({operator!r}, {self.value(left)}, {self.value(right)})"
        if self.textual(left) or self.textual(right):
            return f"({self.text(left)} {operator} {self.text(right)})"
        if isinstance(right, nodes.Field) and isinstance(left, (nodes.Name, nodes.Index)):
            left, right, operator = right, left, _MIRRORED[operator]
        simple = isinstance(right, (nodes.Name, nodes.Index)) or self.numeric(right)
        if isinstance(left, nodes.Field) and simple and not self.general:
            value = self.number(right) if self.numeric(right) else self.value(right)
            return f"field_{_COMPARISONS[operator]}({self.field_text(left)}, {value})"
        return f"{_COMPARISONS[operator]}({self.value(left)}, {self.value(right)})"

    def case_condition(self, subject: str, value: Expression) -> str:
        """Whether a `case` applies: by pattern, or by equality of like types."""
        if isinstance(value, nodes.Regex):
            return f"{self.pattern(value)}.test(text({subject}))"
        if self.numeric(value):
            return f"same_number({subject}, {self.number(value)})"
        return f"same_text({subject}, {self.text(value)})"


# assignments


def _is_length(node: object) -> bool:
    """Whether it is the length of the record or of a field, which is a whole number."""
    return (
        isinstance(node, nodes.Call)
        and node.name == "length"
        and all(isinstance(item, nodes.Field) for item in node.arguments)
    )


def assignment(
    compiler: Expressions, target: nodes.Name | nodes.Index | nodes.Field, code: str
) -> str:
    """The statement that assigns the value of `code`."""
    if (
        isinstance(target, nodes.Name)
        and target.name not in SPECIAL_NAMES
        and not compiler.scopes.is_array(compiler.function, target.name)
    ):
        return f"{compiler.variable(target)} = {code}"
    if isinstance(target, nodes.Index):
        return f"{compiler.array_code(target.base)}[{compiler.subscript(target)}] = {code}"
    return assigned(compiler, target, code)


def assigned(
    compiler: Expressions, target: nodes.Name | nodes.Index | nodes.Field, code: str
) -> str:
    """The expression that assigns the value of `code` and is that value."""
    if isinstance(target, nodes.Name):
        scope, name = compiler.scopes.key(compiler.function, target.name)
        if compiler.scopes.is_array(compiler.function, name) or name in SPECIAL_ARRAYS:
            return f"({code}, {compiler.variable(target)})"
        if not scope and name in SPECIAL_NAMES:
            compiler.warns = True
            return f"rt.assign({name!r}, {code})"
        return f"({compiler.variable(target)} := {code})"
    if isinstance(target, nodes.Index):
        return (
            f"set_element({code}, {compiler.array_code(target.base)}, {compiler.subscript(target)})"
        )
    if isinstance(target.number, nodes.Number) and target.number.value == 0:
        return _set_record(compiler, code)
    if isinstance(target.number, nodes.Number) and 1 <= target.number.value < 1000:
        return f"rt.put_field({code}, {int(target.number.value)})"
    return f"rt.set_field({code}, {compiler.number(target.number)})"


def _set_record(compiler: Expressions, code: str) -> str:
    """`$0 = code` as an expression."""
    if compiler.general:
        return f"rt.set_record_value({code})"
    temporary = compiler.temporary()
    split = ", (f := rt.split(r)), (nf := rt.count)" if compiler.scopes.uses_fields else ""
    return f"(({temporary} := {code}), (r := text({temporary})){split}, {temporary})[-1]"


def assign_statement(compiler: Expressions, node: nodes.Assign) -> None:
    target, operator = node.target, node.operator
    if operator == "=":
        position, source = _position(target), _position(node.value)
        if position and position == source:
            compiler.emit(f"rt.rebuild({position})")
            return
        compiler.emit(assignment(compiler, target, compiler.value(node.value)))
        return
    if (
        isinstance(target, nodes.Name)
        and target.name not in SPECIAL_NAMES
        and not compiler.scopes.is_array(compiler.function, target.name)
    ):
        name = compiler.variable(target)
        value = compiler.number(node.value)
        counted = _is_length(node.value)
        if (
            operator in ("+=", "-=", "*=")
            and compiler.numeric(target)
            and (counted or isinstance(node.value, _SIMPLE))
        ):
            compiler.emit(f"{name} {operator} {value.removeprefix('float') if counted else value}")
            return
        left = name if compiler.numeric(target) else f"num({name})"
        if not isinstance(node.value, (nodes.Number, nodes.Field, nodes.Name)):
            temporary = compiler.temporary()
            compiler.emit(f"{temporary} = {value}")
            value = temporary
        compiler.emit(f"{name} = {compiler.arithmetic(operator[:-1], left, value)}")
        return
    if (
        isinstance(target, nodes.Index)
        and compiler.numeric(target)
        and operator in ("+=", "-=", "*=")
    ):
        value = compiler.number(node.value)
        if not isinstance(node.value, (nodes.Number, nodes.Field, nodes.Name)):
            temporary = compiler.temporary()
            compiler.emit(f"{temporary} = {value}")
            value = temporary
        compiler.emit(
            f"{compiler.array_code(target.base)}[{compiler.subscript(target)}] {operator} {value}"
        )
        return
    compiler.emit(assign_value(compiler, node))


def assign_value(compiler: Expressions, node: nodes.Assign) -> str:
    target, operator = node.target, node.operator
    if operator == "=":
        return assigned(compiler, target, compiler.value(node.value))
    value = compiler.number(node.value)
    before = ""
    if not isinstance(node.value, nodes.Number):
        # awk evaluates the right side first
        temporary = compiler.temporary()
        before = f"({temporary} := {value}), "
        value = temporary
    code = _updated(compiler, target, operator[:-1], value)
    return f"({before}{code})[1]" if before else code


def _updated(
    compiler: Expressions, target: nodes.Name | nodes.Index | nodes.Field, operator: str, value: str
) -> str:
    """The expression that replaces the target by `target operator value`."""
    if isinstance(target, nodes.Name):
        left = compiler.variable(target)
        left = left if compiler.numeric(target) else f"num({left})"
        return assigned(compiler, target, compiler.arithmetic(operator, left, value))
    if isinstance(target, nodes.Index):
        key, array = compiler.temporary(), compiler.temporary()
        left = f"num(({array} := {compiler.array_code(target.base)})[({key} := {compiler.subscript(target)})])"
        return f"set_element({compiler.arithmetic(operator, left, value)}, {array}, {key})"
    if isinstance(target.number, nodes.Number) and target.number.value == 0:
        return _set_record(
            compiler, compiler.arithmetic(operator, f"num({compiler.field_text(target)})", value)
        )
    position = compiler.temporary()
    left = f"num(rt.field_at(({position} := {compiler.number(target.number)})))"
    return f"rt.set_field({compiler.arithmetic(operator, left, value)}, {position})"


def step_value(compiler: Expressions, node: nodes.Step) -> str:
    operator = "+" if node.amount > 0 else "-"
    target = node.target
    if not node.prefix and isinstance(target, nodes.Index):
        helper = "count_element" if compiler.numeric(target) else "step_element"
        return f"{helper}({compiler.array_code(target.base)}, {compiler.subscript(target)}, {float(node.amount)})"
    code = _updated(compiler, target, operator, "1.0")
    if node.prefix:
        return code
    return f"({code} - 1.0)" if node.amount > 0 else f"({code} + 1.0)"


def getline_value(compiler: Expressions, node: nodes.Getline) -> str:
    source = compiler.text(node.source) if node.source is not None else ""
    method = {"": "main", "<": "file", "|": "command"}[node.kind]
    status = compiler.temporary()
    call = f"rt.getline_{method}({source})"
    target = (
        node.target
        if node.target is not None
        else nodes.Field(node.line, nodes.Number(node.line, 0.0))
    )
    return f"(({assigned(compiler, target, 'from_input(rt.got)')}, {status})[1] if ({status} := {call}) > 0.0 else {status})"


def _position(node: object) -> int:
    """The number of a field that is constant and not 0, else 0."""
    if (
        isinstance(node, nodes.Field)
        and isinstance(node.number, nodes.Number)
        and 1 <= node.number.value < 1000
    ):
        return int(node.number.value)
    return 0


# print and printf


def printed(compiler: Expressions, node: nodes.Print) -> tuple[str, bool]:
    """What a print statement writes, and whether it is bounded by the record and the program."""
    if node.formatted:
        return formatted_print(compiler, node.arguments)
    arguments: list[Expression] = node.arguments or [
        nodes.Field(node.line, nodes.Number(node.line, 0.0))
    ]
    separator, end = ("' '", "'\\n'") if compiler.fixed_separators else ("rt.OFS", "rt.ORS")
    codes: list[str] = []
    for argument in arguments:
        code = print_text(compiler, argument)
        codes += [separator, code] if codes else [code]
    codes.append(end)
    bounded = all(compiler.bounded(argument) for argument in arguments)
    if len(codes) > 8:
        return (
            f"''.join(({', '.join(codes)}))" if bounded else f"join(({', '.join(codes)}))"
        ), bounded
    code = " + ".join(codes)
    return (code if bounded or len(arguments) == 1 else f"checked({code})"), bounded


def print_text(compiler: Expressions, expression: Expression) -> str:
    """An item of `print`: numbers by OFMT."""
    if isinstance(expression, nodes.Number):
        text = integral_text(expression.value)
        if text is not None:
            return repr(text)
    if (
        compiler.is_condition(expression)
        or isinstance(expression, (nodes.Field, nodes.Text, nodes.Concat))
        or compiler.textual(expression)
    ):
        return compiler.text(expression)
    if compiler.numeric(expression):
        return f"printed_number({compiler.number(expression)})"
    return f"printed({compiler.untyped(expression)})"


def formatted(compiler: Expressions, arguments: list[Expression]) -> str:
    """`sprintf`: a constant format becomes Python formatting where the two agree."""
    if not arguments:
        return "rt.no_format()"
    template = arguments[0]
    if isinstance(template, nodes.Text):
        codes = _formatted_directly(compiler, template.value, arguments[1:])
        if codes:
            return codes[0] if len(codes) == 1 else f"join(({', '.join(codes)}))"
    values = "".join(compiler.value(argument) + ", " for argument in arguments[1:])
    return f"rt.sprintf({compiler.text(template)}, ({values}))"


def formatted_print(compiler: Expressions, arguments: list[Expression]) -> tuple[str, bool]:
    """`printf`, and whether what it writes is bounded by the record and the program."""
    template = arguments[0] if arguments else None
    if not isinstance(template, nodes.Text) or not all(
        compiler.bounded(argument) for argument in arguments
    ):
        return formatted(compiler, arguments), False
    codes = _formatted_directly(compiler, template.value, arguments[1:])
    if not codes:
        return formatted(compiler, arguments), False
    return " + ".join(codes) if len(codes) <= 8 else f"''.join(({', '.join(codes)}))", True


def _formatted_directly(
    compiler: Expressions, template: str, arguments: list[Expression]
) -> list[str]:
    """The parts of the text; none when it takes a run of the whole machinery."""
    codes: list[str] = []
    taken = 0
    for part in parse_format(template):
        if isinstance(part, str):
            codes.append(repr(part))
            continue
        width, precision, flags = part.width, part.precision, part.flags
        if (
            taken >= len(arguments)
            or part.is_refused
            or not (_small(width) and _small(precision))
            or set(flags) & {"#", "'"}
        ):
            return []
        argument = arguments[taken]
        taken += 1
        letter = part.letter
        size = f"{width or ''}" + (f".{precision}" if precision is not None else "")
        if letter == "s":
            code = compiler.text(argument)
            if size:
                temporary = compiler.temporary()
                sound = f"{temporary} if ({temporary} := {code}).isascii() else sound({temporary})"
                code = f"'%{'-' if '-' in flags else ''}{size}s' % ({sound},)"
            codes.append(code)
        elif (
            letter in "di"
            and not flags
            and not size
            and isinstance(argument, nodes.Name)
            and compiler.number(argument) == "float(nf)"
        ):
            codes.append("f'{nf}'")
        elif letter in "di" and precision is None:
            codes.append(
                f"integer_text('%{flags}{size}d', {compiler.number(argument)}, {flags!r}, {width or 0})"
            )
        elif letter in "eEfFgG":
            codes.append(
                f"real_text('%{flags}{size}{letter}', {compiler.number(argument)}, {flags!r}, {width or 0})"
            )
        else:
            codes.append(
                f"one_text({letter!r}, {flags!r}, {width or 0}, {precision}, {compiler.value(argument)}, text)"
            )
    for argument in arguments[taken:]:
        if not isinstance(argument, (nodes.Name, nodes.Number, nodes.Text, nodes.Field)):
            return []  # its side effects must happen
    return codes or ["''"]


def _small(size: int | str | None) -> bool:
    return size is None or (isinstance(size, int) and size < 500)


# calls of built-in functions


_ARITHMETIC = {
    "sin": "sine", "cos": "cosine", "atan2": "atan2", "exp": "exponential", "log": "logarithm", "sqrt": "square_root", "int": "integer",
    "lshift": "lshift", "rshift": "rshift", "compl": "compl",
}  # fmt: skip


def _array(compiler: Expressions, call: nodes.Call, position: int) -> str:
    """An argument that must be an array."""
    bare = call.arguments[position]
    if isinstance(bare, (nodes.Name, nodes.Index)):
        compiler.mark_typed(bare)
        return compiler.array_code(bare)
    return f"not_an_array({compiler.value(bare)}, {f'{call.name}: {_ORDINALS[position]}'!r})"


def _length(compiler: Expressions, call: nodes.Call) -> str:
    if not call.arguments:
        return "float(len(rt.record()))" if compiler.general else "float(len(r))"
    argument = call.arguments[0]
    if isinstance(argument, nodes.Name) and compiler.scopes.is_array(
        compiler.function, argument.name
    ):
        scope = compiler.scopes.key(compiler.function, argument.name)[0]
        return f"length_of(l_{argument.name}, text)" if scope else f"float(len(v_{argument.name}))"
    if isinstance(argument, nodes.Index):
        return (
            f"length_of({compiler.array_code(argument.base)}[{compiler.subscript(argument)}], text)"
        )
    if isinstance(argument, nodes.Name) and not compiler.numeric(argument):
        return f"length_of({compiler.value(argument)}, text)"
    return f"float(len({compiler.text(argument)}))"


def _substr(compiler: Expressions, call: nodes.Call) -> str:
    text = compiler.text(call.arguments[0])
    start = call.arguments[1]
    count = call.arguments[2] if len(call.arguments) > 2 else None
    first = _constant_index(start)
    size = 0 if count is None else _constant_index(count)
    if first is not None and size is not None:
        return f"{text}[{first - 1 or ''}:{first - 1 + size if size else ''}]"
    return f"substr({text}, {compiler.number(start)}{'' if count is None else ', ' + compiler.number(count)})"


def _constant_index(expression: Expression) -> int | None:
    """A whole number from 1 that stands in the program."""
    if (
        isinstance(expression, nodes.Number)
        and expression.value.is_integer()
        and 1 <= expression.value < 1e6
    ):
        return int(expression.value)
    return None


def _index(compiler: Expressions, call: nodes.Call) -> str:
    text, sought = call.arguments
    if compiler.ignore_case:
        return f"rt.index({compiler.text(text)}, {compiler.text(sought)})"
    return f"float({compiler.text(text)}.find({compiler.text(sought)}) + 1)"


def _separator(compiler: Expressions, expression: Expression) -> str:
    bare = expression
    if isinstance(bare, nodes.Regex):
        return compiler.pattern(bare)
    return compiler.text(bare)


def _split(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    arguments = call.arguments
    separator = _separator(compiler, arguments[2]) if len(arguments) > 2 else "None"
    target = arguments[1]
    if isinstance(target, nodes.Name) and compiler.is_plain_array(target.name):
        array, typed = f"v_{target.name}", f"y_{target.name}"
        compiler.split_targets.add(target.name)
    else:
        array, typed = _array(compiler, call, 1), "True"
    return f"rt.split_into({compiler.text(arguments[0])}, {array}, {separator}, {typed})"


def _substituted(compiler: Expressions, call: nodes.Call, text: str) -> str:
    """The call that does the work: the new text waits in `rt.got`."""
    sought, replacement = call.arguments[0], call.arguments[1]
    every = call.name == "gsub"
    pattern = compiler.pattern(sought)
    if (
        isinstance(sought, nodes.Regex)
        and isinstance(replacement, nodes.Text)
        and not compiler.ignore_case
    ):
        return f"c{compiler.substituter(sought.source, replacement.value, every)}({text})"
    return f"rt.substitute({pattern}, {compiler.text(call.arguments[1])}, {text}, {every})"


def substitution_target(call: nodes.Call) -> Expression:
    """What `sub` or `gsub` changes."""
    return (
        call.arguments[2]
        if len(call.arguments) > 2
        else nodes.Field(call.line, nodes.Number(call.line, 0.0))
    )


def substitution_statement(compiler: Expressions, call: nodes.Call) -> tuple[str, str] | None:
    """(the call, the assignment when it replaced something); None where it is not that simple."""
    target = substitution_target(call)
    if not isinstance(target, nodes.Name) and not (
        isinstance(target, nodes.Field) and isinstance(target.number, nodes.Number)
    ):
        return None
    return _substituted(compiler, call, compiler.text(target)), assigned(compiler, target, "rt.got")


def _substitute(compiler: Expressions, call: nodes.Call) -> str:
    """The new text is assigned when something was replaced."""
    count = compiler.temporary()
    target = substitution_target(call)
    if not isinstance(target, (nodes.Name, nodes.Index, nodes.Field)):
        return _substituted(compiler, call, compiler.text(target))
    if isinstance(target, nodes.Index):
        array, key = compiler.temporary(), compiler.temporary()
        text = f"text(({array} := {compiler.array_code(target.base)})[({key} := {compiler.subscript(target)})])"
        assign = f"set_element(rt.got, {array}, {key})"
    elif isinstance(target, nodes.Field) and not isinstance(target.number, nodes.Number):
        position = compiler.temporary()
        text = f"rt.field_at(({position} := {compiler.number(target.number)}))"
        assign = f"rt.set_field(rt.got, {position})"
    else:
        text = compiler.text(target)
        assign = assigned(compiler, target, "rt.got")
    return f"(({assign}, {count})[1] if ({count} := {_substituted(compiler, call, text)}) else {count})"


def _gensub(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    pattern, replacement, how = call.arguments[:3]
    subject = (
        compiler.text(call.arguments[3])
        if len(call.arguments) > 3
        else ("rt.record()" if compiler.general else "r")
    )
    return f"rt.gensub({compiler.pattern(pattern)}, {compiler.text(replacement)}, {compiler.value(how)}, {subject})"


def _match(compiler: Expressions, call: nodes.Call) -> str:
    captures = _array(compiler, call, 2) if len(call.arguments) > 2 else "None"
    return f"rt.match({compiler.text(call.arguments[0])}, {compiler.pattern(call.arguments[1])}, {captures})"


def _sprintf(compiler: Expressions, call: nodes.Call) -> str:
    return formatted(compiler, call.arguments) if call.arguments else "rt.no_format('sprintf')"


def _numeric(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    return f"{_ARITHMETIC[call.name]}({', '.join(compiler.number(argument) for argument in call.arguments)})"


def _bits(compiler: Expressions, call: nodes.Call) -> str:
    if len(call.arguments) < 2:
        return f"rt.too_few({call.name!r}, ({''.join(compiler.value(argument) + ', ' for argument in call.arguments)}))"
    return f"bitwise({call.name!r}, ({''.join(compiler.number(argument) + ', ' for argument in call.arguments)}))"


def _case(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    return f"{'lower' if call.name == 'tolower' else 'upper'}({compiler.text(call.arguments[0])})"


def _random(compiler: Expressions, call: nodes.Call) -> str:
    return f"rt.{call.name}({', '.join(compiler.number(argument) for argument in call.arguments)})"


def _texts(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    return f"rt.{call.name}({', '.join(compiler.text(argument) for argument in call.arguments)})"


def _strftime(compiler: Expressions, call: nodes.Call) -> str:
    forms = (compiler.text, compiler.number, compiler.value)
    return f"rt.strftime({', '.join(form(argument) for form, argument in zip(forms, call.arguments, strict=False))})"


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
    elif isinstance(argument, nodes.Name) and compiler.scopes.is_array(
        compiler.function, argument.name
    ):
        code = f"{'l' if compiler.scopes.key(compiler.function, argument.name)[0] else 'v'}_{argument.name}"
    elif isinstance(argument, nodes.Field) and call.name == "typeof":
        compiler.needs_count = True
        count = "rt.nf()" if compiler.general else "nf"
        return f"rt.kind_of_field({compiler.number(argument.number)}, {count}, {compiler.field_value(argument)})"
    else:
        code = compiler.value(argument)
    return f"kind_of({code})" if call.name == "typeof" else f"is_array({code})"


def _strtonum(compiler: Expressions, call: nodes.Call) -> str:
    return f"strtonum({compiler.value(call.arguments[0])})"


CALLS: dict[str, Callable[[Expressions, nodes.Call], str]] = {
    "length": _length, "substr": _substr, "index": _index, "split": _split, "sub": _substitute,
    "gsub": _substitute, "gensub": _gensub, "match": _match, "sprintf": _sprintf, "rand": _random, "srand": _random, "systime": _random,
    "tolower": _case, "toupper": _case, "system": _texts, "close": _texts, "fflush": _texts, "strftime": _strftime, "mktime": _mktime,
    "asort": _sort, "asorti": _sort, "and": _bits, "or": _bits, "xor": _bits, "strtonum": _strtonum, "typeof": _kind, "isarray": _kind,
    **dict.fromkeys(_ARITHMETIC, _numeric),
}  # fmt: skip
