"""Words compiled to closures: to one text, to fields, to a pattern.

Plain words cost nothing at run time, `$name` one look-up; whatever else there is goes through a `FieldBuilder`.
"""

from __future__ import annotations

import functools
import re

from agentsandbox.expansion.arithmetic import compile_operation, compile_tree, evaluate_text, read_variable
from agentsandbox.expansion.braces import expand_braces, has_braces
from agentsandbox.expansion.errors import ExpansionError
from agentsandbox.expansion.globbing import glob_paths
from agentsandbox.expansion.parameters import CHOICES, ParameterReader, compile_parameter, join, reader_for, unbound
from agentsandbox.expansion.splitting import FieldBuilder, split_fields
from agentsandbox.limits import SLICE
from agentsandbox.patterns import quote_glob
from agentsandbox.syntax.arithmetic import FIRST_OPERAND, OPERAND, ArithmeticSyntaxError, parse_arithmetic
from agentsandbox.syntax.nodes import (
    ArithmeticSubstitution,
    Command,
    CommandSubstitution,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Quoted,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agentsandbox.expansion.host import ExpansionHost

    Text = Callable[[ExpansionHost], str]
    Fields = Callable[[ExpansionHost, list[str]], None]
    Emit = Callable[[ExpansionHost, FieldBuilder], None]
    Number = Callable[[ExpansionHost], int]

__all__ = ["WordCompiler", "expand_glob"]

_ASSIGNED_TILDE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=(?=~)")
_TILDE = re.compile(r"~[^/:\\\"'$`]*")
_CLOSED_MAGIC = re.compile(r"[*?]|(?:^|/)[^/\[]*+\[[^/\]]*+\]|[+@!]\(")
"""What makes a word a pattern of pathname expansion: a bracket only when it is closed."""
_CLOSED_BASIC_MAGIC = re.compile(r"[*?]|(?:^|/)[^/\[]*+\[[^/\]]*+\]")
_MAGIC = re.compile(r"[*?\[]|[?*+@!]\(")
_REGEX_SPECIAL = re.compile(r"[.\[\]{}()\\*+?^$|]")
_IDENTIFIER_EDGE = re.compile(r"[A-Za-z0-9_#@.]")


def expand_glob(host: ExpansionHost, pattern: str) -> list[str] | None:
    """Pathname expansion by the shell's options; None where the word stays as it is."""
    shopt = host.shopt
    if not (_CLOSED_MAGIC if host.extglob else _CLOSED_BASIC_MAGIC).search(pattern):
        return None
    found = glob_paths(
        pattern,
        host.fs,
        host.cwd,
        host.budget,
        dotglob=shopt["dotglob"],
        globstar=shopt["globstar"],
        ignore_case=shopt["nocaseglob"],
        skipdots=shopt["globskipdots"],
    )
    ignored = host.values.get("GLOBIGNORE")
    if ignored and isinstance(ignored, str):
        from agentsandbox.patterns import compile_glob

        patterns = [compile_glob(piece, pathname=True) for piece in _GLOBIGNORE.findall(ignored)]
        found = glob_paths(pattern, host.fs, host.cwd, host.budget, dotglob=True, globstar=shopt["globstar"])
        found = [name for name in found if not any(test.fullmatch(name) for test in patterns)]
    if found:
        return found
    if shopt["failglob"]:
        raise ExpansionError("no match: " + pattern.replace("\\", ""))
    return [] if shopt["nullglob"] else None


class WordCompiler:
    """Compiles words. `substitution` and `process` compile what is inside $(…) and <(…), which only the interpreter can."""

    def __init__(
        self,
        substitution: Callable[[Command | None], Callable[[Any], str]],
        process: Callable[[Command | None, str], Callable[[Any], str]],
    ) -> None:
        self._substitution = substitution
        self._process = process

    # one text

    def string(self, word: Word, *, assignment: bool = False) -> Text:
        """The word as one text: no splitting, no pathname or brace expansion. An assignment's value expands ~ after ":"."""
        if _is_plain(word.parts):
            plain: str = word.parts[0].text  # type: ignore[attr-defined]
            return lambda host: plain
        parts = self._tildes(word.parts, assignment)
        return self._joined([self._text(part, assignment) for part in parts], parts)

    def subscript(self, word: Word) -> Text:
        """The word between brackets as one text: a tilde there is an operator or a key."""
        return self._joined([self._text(part) for part in word.parts], word.parts)

    def _joined(self, texts: list[Text], parts: tuple[Part, ...]) -> Text:
        if not parts:
            return lambda host: ""
        constant = _constant(parts)
        if constant is not None:
            return lambda host: constant
        if len(texts) == 1:
            return texts[0]
        if len(texts) == 2:
            first, second = texts

            def two(host: ExpansionHost) -> str:
                text = first(host) + second(host)
                if len(text) > 65536:
                    host.budget.make(len(text))
                return text

            return two
        if len(texts) == 3:
            first, second, third = texts

            def three(host: ExpansionHost) -> str:
                text = first(host) + second(host) + third(host)
                if len(text) > 65536:
                    host.budget.make(len(text))
                return text

            return three

        def concatenate(host: ExpansionHost) -> str:
            pieces = [text(host) for text in texts]
            total = sum(map(len, pieces))
            if total > 65536:
                host.budget.make(total)
            return "".join(pieces)

        return concatenate

    def _text(self, part: Part, assignment: bool = False) -> Text:
        if isinstance(part, (Literal, Quoted)):
            text = part.text
            return lambda host: text
        if isinstance(part, DoubleQuoted):
            return self._joined([self._text(piece) for piece in part.parts], part.parts)
        if isinstance(part, Parameter):
            return self._parameter_text(part, assignment)
        if isinstance(part, CommandSubstitution):
            return self._substitution(part.body)
        if isinstance(part, ArithmeticSubstitution):
            number = self.arithmetic(part.expression)
            return lambda host: str(number(host))
        if isinstance(part, ProcessSubstitution):
            return self._process(part.body, part.direction)
        if isinstance(part, _Home):
            return part.text
        raise TypeError(part)

    def _parameter_text(self, node: Parameter, assignment: bool = False) -> Text:
        if node.operator == "" and node.prefix == "" and node.subscript is None:
            fast = self._plain_text(node.name)
            if fast is not None:
                return fast
        reader = compile_parameter(node, self)
        if node.operator in CHOICES:
            choice = self._choice(node, reader)
            operand = self._choice_operand(node, assignment)

            def choose(host: ExpansionHost) -> str:
                text = choice(host)
                if text is None:
                    return operand(host)
                return text if isinstance(text, str) else join(host, text, reader.star)

            return choose
        single, many, star = reader.single, reader.many, reader.star
        if many is not None:
            return lambda host: join(host, many(host), star)
        return lambda host: single(host) or ""

    def _plain_text(self, name: str) -> Text | None:
        """$name, the commonest of all."""
        if not (name[0].isalpha() or name[0] == "_"):
            if name.isdigit() and name != "0":
                return _positional_text(int(name[:9]), name)
            return None

        def read(host: ExpansionHost) -> str:
            value = host.values.get(name)
            if type(value) is str:
                return value
            if type(value) is int:
                return str(value)
            text = host.variables.text_of(name, value)
            if text is None:
                if host.nounset:
                    raise unbound(host, name)
                return ""
            return text

        return read

    # ${x:-word} and its kin

    def _choice_operand(self, node: Parameter, assignment: bool = False) -> Text:
        """The operand as one text, assigned or reported where the operator says so; "" for + with an unset parameter."""
        operator = node.operator
        word = node.operands[0]
        text = self.string(word, assignment=assignment)
        if operator in ("+", ":+"):
            return text
        if operator in ("-", ":-"):
            return text
        if operator in ("=", ":="):
            assign = self._assigner(node)

            def assigned(host: ExpansionHost) -> str:
                value = text(host)
                return assign(host, value)

            return assigned
        shown = node.name if node.subscript is None else f"{node.name}[{node.subscript.source}]"
        default = "parameter null or not set" if operator == ":?" else "parameter not set"

        def report(host: ExpansionHost) -> str:
            message = text(host)
            raise ExpansionError(f"{shown}: {message or default}", status=127)

        return report

    def _assigner(self, node: Parameter) -> Callable[[ExpansionHost, str], str]:
        name, subscript = node.name, node.subscript
        if node.prefix == "!":
            pointer = reader_for(name, subscript, self).single

            def assign_target(host: ExpansionHost, value: str) -> str:
                target = pointer(host) or name
                if not target.isidentifier():
                    raise ExpansionError(f"{target}: invalid variable name")
                host.variables.assign(target, value)
                return host.variables.get(target) or ""

            return assign_target
        key = self.subscript(subscript) if subscript is not None else None

        def assign(host: ExpansionHost, value: str) -> str:
            if not (name[0].isalpha() or name[0] == "_"):
                raise ExpansionError(f"${name}: cannot assign in this way")
            if key is not None:
                host.variables.assign_element(name, key(host), value)
            else:
                host.variables.assign(name, value)
                return host.variables.get(name) or ""
            return value

        return assign

    def _choice(self, node: Parameter, reader: ParameterReader) -> Callable[[ExpansionHost], str | list[str] | None]:
        """The parameter's value when the operator takes it, None when the operand counts. For +: "" when nothing does."""
        operator = node.operator
        empty_counts = operator[0] == ":"
        single, many = reader.single, reader.many
        if node.prefix == "!":
            many = reader.keys  # what is named may be a list
        if operator in ("+", ":+"):

            def alternative(host: ExpansionHost) -> str | list[str] | None:
                if many is not None:
                    items = many(host)
                    present = len(items) > 0 and (not empty_counts or len(items) > 1 or items[0] != "")
                else:
                    text = single(host)
                    present = text is not None and (text != "" or not empty_counts)
                if present:
                    return None
                return "" if reader.many is None or reader.star else []

            return alternative
        if many is not None:

            def list_value(host: ExpansionHost) -> list[str] | None:
                items = many(host)
                if not items or (empty_counts and len(items) == 1 and items[0] == ""):
                    return None
                return items

            return list_value
        if empty_counts:
            return lambda host: single(host) or None
        return single

    # numbers

    def arithmetic(self, word: Word) -> Number:
        """The word as an arithmetic expression."""
        if not word.parts:
            return lambda host: 0
        if all(isinstance(part, (Literal, Quoted)) for part in word.parts):
            return _constant_expression("".join(part.text for part in word.parts))  # type: ignore[attr-defined]
        as_text = self._joined([self._text(part) for part in word.parts], word.parts)
        by_operand = self._operand_expression(word, as_text)
        if by_operand is not None:
            return by_operand
        return lambda host: evaluate_text(host, as_text(host))

    def _operand_expression(self, word: Word, as_text: Text) -> Number | None:
        """The expression with its expansions as operands; None where they are not whole operands.

        $x in an expression is text in bash. Where each expansion turns out to be an integer, putting its value in gives
        the same result without parsing again.
        """
        pieces: list[str] = []
        operands: list[Part] = []
        keys: set[int] = set()  # operands inside a subscript, which are text
        parts = word.parts
        depth = 0
        for number, part in enumerate(parts):
            if isinstance(part, (Literal, Quoted)):
                pieces.append(part.text)
                depth += part.text.count("[") - part.text.count("]")
                continue
            if depth > 0:
                keys.add(len(operands))
            elif not _stands_alone(parts, number):
                return None
            if len(operands) >= 200:
                return None
            pieces.append(OPERAND + chr(FIRST_OPERAND + len(operands)))
            operands.append(part)
        source = "".join(pieces)
        if OPERAND not in source:
            return None
        written = "".join(p.text if isinstance(p, (Literal, Quoted)) else getattr(p, "source", "") for p in parts)
        try:
            evaluate = compile_tree(parse_arithmetic(source), written)
        except (ArithmeticSyntaxError, ExpansionError):
            return None
        again = not keys and not _CHANGES.search(source)  # an error shows the text with the values in it
        texts = [self._text(part) for part in operands]
        readers = [
            self._operand_reader(part) if number not in keys else text if isinstance(part, Parameter) and not part.operator else None
            for number, (part, text) in enumerate(zip(operands, texts, strict=True))
        ]
        plain = all(reader is not None for reader in readers)
        if len(readers) == 1 and readers[0] is not None:
            only = readers[0]

            def one_operand(host: ExpansionHost) -> int:
                value = only(host)
                if value is None:
                    return evaluate_text(host, as_text(host))
                try:
                    return evaluate(host, (value,))  # type: ignore[arg-type]
                except ExpansionError as error:
                    if not again:
                        error.message = error.message.replace(written, _filled(parts, (value,)), 1)
                        raise
                    return evaluate_text(host, as_text(host))

            return one_operand
        if plain:

            def plain_operands(host: ExpansionHost) -> int:
                values = [reader(host) for reader in readers]  # type: ignore[misc]
                if None in values:
                    return evaluate_text(host, as_text(host))
                try:
                    return evaluate(host, values)  # type: ignore[arg-type]
                except ExpansionError as error:
                    if not again:
                        error.message = error.message.replace(written, _filled(parts, values), 1)
                        raise
                    return evaluate_text(host, as_text(host))

            return plain_operands

        def operands_once(host: ExpansionHost) -> int:
            expanded = [text(host) for text in texts]
            values = [text if number in keys else int(text) if _INTEGER.fullmatch(text) else None for number, text in enumerate(expanded)]
            if None in values:
                return evaluate_text(host, _filled(parts, expanded))
            return evaluate(host, values)  # type: ignore[arg-type]

        return operands_once

    def _operand_reader(self, part: Part) -> Callable[[ExpansionHost], int | None] | None:
        """Reads an expansion without side effects as an integer, None if it is none."""
        if not isinstance(part, Parameter) or part.subscript is not None or part.operator:
            return None
        name = part.name
        if part.prefix == "" and (name[0].isalpha() or name[0] == "_"):

            def read(host: ExpansionHost) -> int | None:
                value = host.values.get(name)
                if type(value) is int:
                    return value
                if type(value) is str:
                    digits: str = value
                    if digits.isdigit() and digits[0] != "0" and len(digits) < 19 and digits.isascii():
                        return int(digits)
                    return int(digits) if _INTEGER.fullmatch(digits) else None
                return None

            return read
        if part.prefix == "#" and (name[0].isalpha() or name[0] == "_"):

            def length(host: ExpansionHost) -> int | None:
                value = host.values.get(name)
                return len(value) if type(value) is str and not host.bytewise else None

            return length
        if part.prefix not in ("", "#"):
            return None
        text = self._text(part)

        def read_text(host: ExpansionHost) -> int | None:
            value = text(host)
            if value.isdigit() and value[0] != "0" and len(value) < 19 and value.isascii():
                return int(value)
            return int(value) if _INTEGER.fullmatch(value) else None

        return read_text

    # fields

    def fields(self, word: Word) -> Fields:
        """The word as the fields it expands to, appended to a list."""
        if _is_plain(word.parts):
            plain: str = word.parts[0].text  # type: ignore[attr-defined]
            return lambda host, out: out.append(plain)
        if len(word.parts) == 1 and type(word.parts[0]) is Quoted:
            quoted: str = word.parts[0].text
            return lambda host, out: out.append(quoted)
        if not has_braces(word.parts):
            return self._fields(word.parts)
        expanded, unexpanded = self._brace_fields(word), self._fields(word.parts)

        def brace_fields(host: ExpansionHost, out: list[str]) -> None:
            (expanded if host.braceexpand else unexpanded)(host, out)

        return brace_fields

    def _brace_fields(self, word: Word) -> Fields:
        from agentsandbox.limits import Budget

        counter = Budget()
        alternatives: list[Fields] = []
        for parts in expand_braces(word.parts, counter):
            if len(alternatives) >= 256:
                return lambda host, out: self._many_brace_fields(word, host, out)
            alternatives.append(self._fields(parts))
        if len(alternatives) == 1:
            return alternatives[0]

        def all_fields(host: ExpansionHost, out: list[str]) -> None:
            for alternative in alternatives:
                alternative(host, out)
                if len(out[-1:] and out[-1]) > _LONG:
                    _weigh_words(host, out)

        return all_fields

    def _many_brace_fields(self, word: Word, host: ExpansionHost, out: list[str]) -> None:
        budget = host.budget
        size = 0
        for parts in expand_braces(word.parts, budget):
            constant = _constant(parts) if not any(isinstance(part, Literal) and _MAGIC.search(part.text) for part in parts) else None
            if constant is not None and not constant.startswith("~"):
                out.append(constant)
                size += len(constant) + 16
            else:
                self._fields(parts)(host, out)
                size += 64
            budget.charge(size >> 2)
            if len(out) & 15 == 0:
                _weigh_words(host, out)

    def _fields(self, parts: tuple[Part, ...]) -> Fields:
        parts = self._tildes(parts, False)
        constant = _constant(parts)
        if constant is not None and not any(isinstance(part, Literal) and _MAGIC.search(part.text) for part in parts):
            if constant or any(not isinstance(part, Literal) for part in parts):
                return lambda host, out: out.append(constant)
            return lambda host, out: None
        if len(parts) == 1:
            only = self._single_part_fields(parts[0])
            if only is not None:
                return only
        if all(
            isinstance(part, (Quoted, _Home))
            or (isinstance(part, Literal) and not _MAGIC.search(part.text))
            or (isinstance(part, DoubleQuoted) and not _has_list(part))
            for part in parts
        ):
            text = self._joined([self._text(part) for part in parts], parts)
            return lambda host, out: out.append(text(host))
        emitters = [self._emit(part) for part in parts]

        def build(host: ExpansionHost, out: list[str]) -> None:
            builder = FieldBuilder(host, out, lambda pattern: expand_glob(host, pattern))
            for emit in emitters:
                emit(host, builder)
            builder.end()

        return build

    def _single_part_fields(self, part: Part) -> Fields | None:
        """Fields of a word of one part, where no builder is needed."""
        if isinstance(part, DoubleQuoted):
            if len(part.parts) == 1 and isinstance(part.parts[0], Parameter):
                parameter = part.parts[0]
                reader = compile_parameter(parameter, self) if parameter.operator not in CHOICES else None
                if reader is not None and reader.many is not None and not reader.star:
                    return _extend_with(reader.many)
            if not _has_list(part):
                text = self._text(part)
                return lambda host, out: out.append(text(host))
            return None
        if isinstance(part, Parameter):
            if part.operator in CHOICES or part.prefix == "!":
                return None
            reader = compile_parameter(part, self)
            if reader.many is not None:
                return None
            split = self._split_text(self._parameter_text(part))
            if part.source == "$" + part.name and (part.name[0].isalpha() or part.name[0] == "_"):
                return _split_variable(part.name, split)
            return split
        if isinstance(part, (CommandSubstitution, ArithmeticSubstitution)):
            return self._split_text(self._text(part))
        if isinstance(part, (ProcessSubstitution, _Home)):
            text = self._text(part)
            return lambda host, out: out.append(text(host))
        return None

    @staticmethod
    def _split_text(text: Text) -> Fields:
        """An unquoted expansion that is a whole word."""

        def split(host: ExpansionHost, out: list[str]) -> None:
            value = text(host)
            if not value:
                return
            if host.plain_ifs and value.isalnum():
                out.append(value)
                return
            if len(value) > _LONG:
                host.budget.make(len(value))
                host.budget.charge(16 * sum(map(value.count, set(host.ifs))))
            fields = split_fields(value, host.ifs) if len(value) <= _LONG else _split_in_turns(host, value)
            if host.noglob or not _MAGIC.search(value):
                out.extend(fields)
                return
            for field in fields:
                names = expand_glob(host, field) if _MAGIC.search(field) else None
                if names is None:
                    out.append(field)
                else:
                    out.extend(names)

        return split

    def _emit(self, part: Part) -> Emit:
        if isinstance(part, Literal):
            text = part.text
            return lambda host, builder: builder.literal(text)
        if isinstance(part, Quoted):
            text = part.text
            return lambda host, builder: builder.quoted(text)
        if isinstance(part, (_Home, ProcessSubstitution)):
            quoted = self._text(part)
            return lambda host, builder: builder.quoted(quoted(host))
        if isinstance(part, DoubleQuoted):
            return self._emit_double_quoted(part)
        if isinstance(part, Parameter):
            return self._emit_parameter(part)
        value = self._text(part)
        return lambda host, builder: builder.expanded(value(host))

    def _emit_double_quoted(self, node: DoubleQuoted) -> Emit:
        if not _has_list(node):
            text = self._text(node)
            return lambda host, builder: builder.quoted(text(host))
        emitters = [self._emit_quoted(part) for part in node.parts]
        alone = len(node.parts) == 1

        def emit(host: ExpansionHost, builder: FieldBuilder) -> None:
            if not alone:
                builder.opened = builder.opened or any(isinstance(part, Quoted) and part.text for part in node.parts)
            for each in emitters:
                each(host, builder)

        return emit

    def _emit_quoted(self, part: Part) -> Emit:
        """A part inside double quotes: "$@" makes a field of each element."""
        if not isinstance(part, Parameter) or not _is_list(part):
            text = self._text(part)
            return lambda host, builder: builder.quoted(text(host))
        reader = compile_parameter(part, self)
        if part.operator in CHOICES:
            choice = self._choice(part, reader)
            operand = self._choice_emitter(part, quoted=True)

            def choose(host: ExpansionHost, builder: FieldBuilder) -> None:
                value = choice(host)
                if value is None:
                    operand(host, builder)
                elif isinstance(value, str):
                    builder.quoted(value)
                elif reader.star:
                    builder.quoted(join(host, value, True))
                else:
                    _emit_elements(builder, value)

            return choose
        many = reader.many or reader.keys
        assert many is not None
        if reader.star:
            return lambda host, builder: builder.quoted(join(host, many(host), True))
        return lambda host, builder: _emit_elements(builder, many(host))

    def _choice_emitter(self, node: Parameter, *, quoted: bool) -> Emit:
        if node.operator in ("-", ":-", "+", ":+"):
            parts = self._tildes(node.operands[0].parts, False)
            emitters = [self._emit_quoted(part) if quoted else self._emit_operand(part) for part in parts]
            if quoted and not emitters:
                return lambda host, builder: builder.quoted("")

            def emit(host: ExpansionHost, builder: FieldBuilder) -> None:
                for each in emitters:
                    each(host, builder)

            return emit
        text = self._choice_operand(node)
        if quoted:
            return lambda host, builder: builder.quoted(text(host))
        return lambda host, builder: builder.expanded(text(host))

    def _emit_operand(self, part: Part) -> Emit:
        """A part of an unquoted ${x-word}: its unquoted text splits as an expansion does."""
        if isinstance(part, Literal):
            text = part.text
            return lambda host, builder: builder.expanded(text)
        return self._emit(part)

    def _emit_parameter(self, node: Parameter) -> Emit:
        reader = compile_parameter(node, self)
        if node.operator in CHOICES:
            choice = self._choice(node, reader)
            operand = self._choice_emitter(node, quoted=False)

            def choose(host: ExpansionHost, builder: FieldBuilder) -> None:
                value = choice(host)
                if value is None:
                    operand(host, builder)
                elif isinstance(value, str):
                    builder.expanded(value)
                else:
                    _emit_unquoted(host, builder, value)

            return choose
        if reader.many is not None:
            many = reader.many
            return lambda host, builder: _emit_unquoted(host, builder, many(host))
        single = reader.single
        if reader.keys is not None:
            keys = reader.keys
            return lambda host, builder: _emit_unquoted(host, builder, keys(host))
        return lambda host, builder: builder.expanded(single(host) or "")

    # patterns

    def pattern(self, word: Word) -> Text:
        """The word as a shell pattern: what is quoted matches itself."""
        parts = self._tildes(word.parts, False)
        return self._joined_patterns([self._pattern_part(part, quote_glob) for part in parts])

    def regular_expression(self, word: Word) -> Text:
        """The word as an extended regular expression: what is quoted matches itself."""
        return self._joined_patterns([self._pattern_part(part, _quote_regex) for part in self._tildes(word.parts, False)])

    def replacement(self, word: Word) -> Text:
        """The word as the replacement of ${x/y/z}: a quoted & or backslash is itself."""
        return self._joined_patterns([self._pattern_part(part, _quote_ampersand) for part in self._tildes(word.parts, False)])

    @staticmethod
    def _joined_patterns(texts: list[Text]) -> Text:
        if len(texts) == 1:
            return texts[0]
        return lambda host: "".join([text(host) for text in texts])

    def _pattern_part(self, part: Part, quote: Callable[[str], str]) -> Text:
        if isinstance(part, Literal):
            text = part.text
            return lambda host: text
        if isinstance(part, Quoted):
            quoted = quote(part.text)
            return lambda host: quoted
        value = self._text(part)
        if isinstance(part, (DoubleQuoted, _Home)):
            return lambda host: quote(value(host))
        return value

    # tildes

    def _tildes(self, parts: tuple[Part, ...], assignment: bool) -> tuple[Part, ...]:
        """Replace ~ prefixes of unquoted text by parts that expand to a home directory."""
        if not parts or not any(isinstance(part, Literal) and "~" in part.text for part in parts):
            return parts
        replaced: list[Part] = []
        for number, part in enumerate(parts):
            if not isinstance(part, Literal):
                replaced.append(part)
                continue
            last = number == len(parts) - 1
            replaced.extend(_split_tildes(part.text, number == 0, last, assignment))
        return tuple(replaced)


_CHANGES = re.compile(r"\+\+|--|(?<![=<>!])=(?!=)|<<=|>>=")
_PLAIN = re.compile(r"[A-Za-z0-9_/.,:%^=@+-]+")


def _is_plain(parts: tuple[Part, ...]) -> bool:
    """Whether a word is one literal of characters that mean nothing but themselves."""
    return len(parts) == 1 and type(parts[0]) is Literal and _PLAIN.fullmatch(parts[0].text) is not None


def _split_variable(name: str, split: Fields) -> Fields:
    """$name alone, the commonest word: a number or a plain text is one field without further ado."""

    def fields(host: ExpansionHost, out: list[str]) -> None:
        value = host.values.get(name)
        if host.plain_ifs:
            if type(value) is int:
                out.append(str(value))
                return
            if type(value) is str and value.isalnum():
                out.append(value)
                return
        split(host, out)

    return fields


class _Home(Part):
    """A tilde prefix."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def text(self, host: ExpansionHost) -> str:
        """The directory it stands for, or itself."""
        prefix = self.prefix
        if prefix == "~":
            home = host.variables.get("HOME")
            return home if home is not None else (host.home_of("") or prefix)
        if prefix in ("~+", "~-"):
            return host.variables.get("PWD" if prefix == "~+" else "OLDPWD") or prefix
        rest = prefix[1:]
        if rest.lstrip("+-").isdigit():
            return host.directory(rest) or prefix
        return host.home_of(rest) or prefix


def _split_tildes(text: str, first: bool, last: bool, assignment: bool) -> list[Part]:
    parts: list[Part] = []
    position = 0
    starts = [0] if first else []
    looks_assigned = _ASSIGNED_TILDE.match(text) if first and not assignment else None
    if looks_assigned is not None:  # `echo x=~` is expanded as an assignment would be
        starts.append(looks_assigned.end())
        assignment = True
    if assignment:
        starts.extend(match.end() for match in re.finditer(":", text))
    for start in starts:
        match = _TILDE.match(text, start)
        if match is None:
            continue
        end = match.end()
        if end == len(text) and not last:
            continue
        if end < len(text) and text[end] not in ("/", ":"):
            continue
        if start > position:
            parts.append(Literal(text[position:start]))
        parts.append(_Home(match[0]))
        position = end
    if position < len(text):
        parts.append(Literal(text[position:]))
    return parts


_GLOBIGNORE = re.compile(r"(?:\[[!^]?\]?(?:\[:\w*:\]|[^\]])*\]|[^:])+")
"""One pattern of GLOBIGNORE: a colon inside a bracket expression does not end it."""
_INTEGER = re.compile(r"-?(?:[1-9][0-9]{0,17}|0)")


_LONG = 65536


def _split_in_turns(host: ExpansionHost, value: str) -> list[str]:
    """As `split_fields`, piece by piece, with looks at the clock between; a piece ends at a blank of IFS."""
    ifs = host.ifs
    if not ifs or ifs.strip(" \t\n"):
        return split_fields(value, ifs)
    end_of_piece = re.compile(f"[{ifs}]")
    fields: list[str] = []
    position = 0
    while position < len(value):
        end = end_of_piece.search(value, position + _LONG)
        stop = len(value) if end is None else end.start()
        fields += split_fields(value[position:stop], ifs)
        position = stop
        host.budget.step(SLICE)
    return fields


def _weigh_words(host: ExpansionHost, words: list[str]) -> None:
    """Refuse words that are too large together."""
    if words and len(words[-1]) > _LONG and sum(map(len, words)) > 4 * host.budget.value_bytes:
        host.budget.charge(sum(map(len, words)))


def _extend_with(many: Callable[[ExpansionHost], Sequence[str]]) -> Fields:
    """All elements as words; so many words are charged as the largest list may hold."""

    def extend(host: ExpansionHost, out: list[str]) -> None:
        out.extend(many(host))
        if len(out) > 4096:
            host.budget.make(16 * len(out))

    return extend


def _positional_text(number: int, name: str) -> Text:
    def read(host: ExpansionHost) -> str:
        positional = host.positional
        if number <= len(positional):
            return positional[number - 1]
        if host.nounset:
            raise unbound(host, name)
        return ""

    return read


def _constant(parts: tuple[Part, ...]) -> str | None:
    """The text of parts that depend on nothing."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, (Literal, Quoted)):
            texts.append(part.text)
        elif isinstance(part, DoubleQuoted):
            inner = _constant(part.parts)
            if inner is None:
                return None
            texts.append(inner)
        else:
            return None
    return "".join(texts)


@functools.lru_cache(maxsize=512)
def _constant_expression(source: str) -> Number:
    """An expression without expansions; an error in it is one when it is evaluated."""
    try:
        tree = parse_arithmetic(source)
    except ArithmeticSyntaxError:
        return lambda host: evaluate_text(host, source)
    if tree[0] == "number":
        value: int = tree[1]
        return lambda host: value
    if tree[0] == "variable" and tree[2] is None:
        name: str = tree[1]
        return lambda host: read_variable(host, name)
    direct = compile_operation(tree)
    if direct is not None:
        return direct
    evaluate = compile_tree(tree, source)
    return lambda host: evaluate(host, ())


def _filled(parts: tuple[Part, ...], values: Sequence[object]) -> str:
    """An expression with the values of its expansions."""
    rest = iter(values)
    return "".join(part.text if isinstance(part, (Literal, Quoted)) else str(next(rest)) for part in parts)


def _stands_alone(parts: tuple[Part, ...], number: int) -> bool:
    """Whether an expansion is a whole operand by its neighbours."""
    before = parts[number - 1] if number else None
    after = parts[number + 1] if number + 1 < len(parts) else None
    for neighbour, edge in ((before, -1), (after, 0)):
        if neighbour is None:
            continue
        if not isinstance(neighbour, (Literal, Quoted)):
            return False
        text = neighbour.text
        if text and (_IDENTIFIER_EDGE.match(text[edge]) or (edge == 0 and text[0] == "[")):
            return False
        # `$a $b` has no operator between, `$x = 1`, `$x++` and `++$x` need a name
        if edge == 0 and re.match(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\s*(?:\+\+|--)", text):
            return False
        if edge == -1 and re.search(r"(?:\+\+|--)\s*\Z", text):
            return False
    return True


def _is_list(node: Parameter) -> bool:
    """Whether an expansion may be several fields inside double quotes."""
    if node.prefix == "#":
        return False
    if node.prefix == "!":
        return True
    if node.name == "@" or node.operator == "names@":
        return True
    if node.subscript is not None and node.subscript.source == "@":
        return True
    return node.operator in CHOICES and any(_part_has_list(part) for part in node.operands[0].parts)


def _part_has_list(part: Part) -> bool:
    if isinstance(part, Parameter):
        return _is_list(part)
    return isinstance(part, DoubleQuoted) and _has_list(part)


def _has_list(node: DoubleQuoted) -> bool:
    return any(_part_has_list(part) for part in node.parts)


def _emit_elements(builder: FieldBuilder, items: list[str]) -> None:
    """ "$@": the first element continues the field, the last one begins what follows."""
    if not items:
        return
    builder.quoted(items[0])
    for item in items[1:]:
        builder.end()
        builder.quoted(item)


def _emit_unquoted(host: ExpansionHost, builder: FieldBuilder, items: list[str]) -> None:
    """$@ or $* without quotes: each element splits again; a first character of IFS that is no blank also keeps empty ones."""
    keeps_empty = host.ifs[:1].strip(" \t\n") != ""
    for number, item in enumerate(items):
        if number:
            builder.opened = builder.opened or keeps_empty
            builder.end()
        builder.expanded(item)


def _quote_regex(text: str) -> str:
    return _REGEX_SPECIAL.sub(r"\\\g<0>", text)


def _quote_ampersand(text: str) -> str:
    return text.replace("\\", "\\\\").replace("&", "\\&") if "&" in text or "\\" in text else text
