"""Words compiled to closures: to one text, to fields, to a pattern.

A word goes through up to six expansions, in this order (POSIX 2.6): braces, tildes, then
parameters, commands and arithmetic together, field splitting, pathnames, quote removal. Doing them
one after the other on a text would need marks for what was quoted. Here the tree of the word knows
that, so one pass is enough: each part adds its result to a `FieldBuilder` in the way that its
quoting allows.

    part              adds                 splits   is a pattern
    Literal a*        literal("a*")        no       yes
    Quoted 'a*'       quoted("a*")         no       no
    "$x"              quoted(value)        no       no
    $x                expanded(value)      yes      yes
    "$@"              quoted_elements      a field for each element

How a word is used decides what is compiled of it. `fields` is for arguments. `string` is for
assignments, redirections and `case`: one text, no splitting. `pattern` and `regular_expression`
quote what was quoted. `subscript` and `arithmetic` are for what is between brackets.

What is known when a word is compiled costs nothing later: a constant word is one closure that
returns its text; "$x" and texts joined of constants and variables need no builder. Memory is drawn
on the budget where a value may be large, and what a word has made so far is held (`Budget.keep`)
while a command substitution in it runs.
"""

from __future__ import annotations

from agentsandbox.kernel.accounts import LARGE, is_large
from agentsandbox.kernel.budget import SLICE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.quoting import quote_glob
from agentsandbox.shell.expansion.compiling import compiled_later
from agentsandbox.shell.expansion.errors import unbound
from agentsandbox.shell.expansion.regexes import join_regex, quote_regex
from agentsandbox.shell.expansion.splitting import FieldBuilder, has_magic, split_fields
from agentsandbox.shell.expansion.tildes import Home, assigned_name, split_tildes
from agentsandbox.shell.syntax.nodes import (
    CHOICES,
    ArithmeticSubstitution,
    CommandSubstitution,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Quoted,
    Slot,
    Word,
)
from agentsandbox.shell.syntax.parser import read_arithmetic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agentsandbox.shell.expansion.compiling import Emit, Fields, Number, Text
    from agentsandbox.shell.expansion.host import ExpansionHost

_LONG = 65536
"""Characters from which on a text is weighed before it is split."""
_QUOTES = ("'", '"')
_PLAIN = lazily(r"[A-Za-z0-9_/.,:%^=@+-]+")


class WordCompiler:
    """Compiles words. `substitution` compiles $(…) and <(…), which only the interpreter can."""

    def __init__(
        self,
        substitution: Callable[[CommandSubstitution | ProcessSubstitution], Callable[[Any], str]],
    ) -> None:
        self._substitution = substitution

    # one text

    def string(self, word: Word, *, assignment: bool = False, in_word: bool = False) -> Text:
        """Compile the word to one text: no splitting, no pathname or brace expansion."""
        if _is_plain(word.parts):
            plain: str = word.parts[0].text  # type: ignore[attr-defined]
            return lambda host: plain
        parts = self.tildes(word.parts, assignment, in_word=in_word)
        return self.joined([self.text(part, assignment) for part in parts], parts)

    def subscript(self, word: Word) -> Text:
        """The word between brackets as one text, in which a tilde is not expanded."""
        return self.joined([self.text(part) for part in word.parts], word.parts)

    def subscripts(self, word: Word) -> tuple[Text, Text]:
        """The word between brackets as the key of an associative array, and as an index.

        An index is arithmetic, which sees single quotes and backslashes: it is read anew.
        """
        key = self.subscript(word)
        if "'" not in word.source and "\\" not in word.source:
            return key, key

        def index() -> Text:
            parts = read_arithmetic(word.source)
            return self.joined([self.text(part) for part in parts], parts)

        return key, compiled_later(index)

    def joined(self, texts: list[Text], parts: tuple[Part, ...]) -> Text:
        """Compile the texts of parts to one text."""
        if not parts:
            return lambda host: ""
        constant = _constant(parts)
        if constant is not None:
            return lambda host: constant
        if len(texts) == 1:
            return texts[0]
        if _substitutes(parts[1:]):
            return _joined_around_substitutions(texts)
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

    def text(self, part: Part, assignment: bool = False) -> Text:
        """A part as one text."""
        if isinstance(part, (Literal, Quoted)):
            text = part.text
            return lambda host: text
        if isinstance(part, Slot):
            return _slot_text(part.number)
        if isinstance(part, DoubleQuoted):
            return self.joined([self.text(piece) for piece in part.parts], part.parts)
        if isinstance(part, Parameter):
            return self._parameter_text(part, assignment)
        if isinstance(part, (CommandSubstitution, ProcessSubstitution)):
            return self._substitution(part)
        if isinstance(part, ArithmeticSubstitution):
            number = self.arithmetic(part.expression)
            return lambda host: str(number(host))
        if isinstance(part, Home):
            return part.text
        raise TypeError(part)

    def _parameter_text(self, node: Parameter, assignment: bool = False) -> Text:
        if node.operator == "" and node.prefix == "" and node.subscript is None:
            fast = self._plain_text(node)
            if fast is not None:
                return fast
        if node.operator in CHOICES:
            from agentsandbox.shell.expansion.default_values import choice_text

            return choice_text(node, self, assignment)
        from agentsandbox.shell.expansion.parameters import compile_parameter, read_text

        return read_text(compile_parameter(node, self))

    def _plain_text(self, node: Parameter) -> Text | None:
        """Compile $name, the most common expansion."""
        name = node.name
        if not (name[0].isalpha() or name[0] == "_"):
            if name.isdigit() and name != "0":
                return _positional_text(
                    int(name[:9]), name if node.source[1:2] == "{" else node.source or name
                )
            return None

        def read(host: ExpansionHost) -> str:
            value = host.values.get(name)
            if type(value) is str:
                return value
            if type(value) is int:
                return str(value)
            text = host.variables.text_of(name, value)
            if text is None:
                if host.options.nounset:
                    raise unbound(name)
                return ""
            return text

        return read

    # numbers

    def arithmetic(self, word: Word) -> Number:
        """The word as an arithmetic expression."""
        from agentsandbox.shell.expansion.operands import compile_expression

        return compile_expression(word, self)

    # fields

    def fields(self, word: Word, *, in_list: bool = False) -> Fields:
        """Compile the word to the fields it expands to; `in_list` is for array literals."""
        if in_list:
            return self._counted_fields(word, True)
        known: Fields | None = word.fields
        if known is None:
            known = word.fields = self._counted_fields(word, False)
        return known

    def _counted_fields(self, word: Word, in_list: bool) -> Fields:
        if _is_plain(word.parts):
            plain: str = word.parts[0].text  # type: ignore[attr-defined]
            return lambda host, out: out.append(plain)
        if len(word.parts) == 1 and type(word.parts[0]) is Quoted:
            quoted: str = word.parts[0].text
            return lambda host, out: out.append(quoted)
        if len(word.parts) == 1 and type(word.parts[0]) is Slot:
            return _slot_fields(word.parts[0].number)
        if _substitutes(word.parts):
            return _counting(self._fields(word, in_list))
        return self._fields(word, in_list)

    def _fields(self, word: Word, in_list: bool) -> Fields:
        if not has_braces(word.parts):
            return self.fields_of(word.parts, in_word=not in_list)
        from agentsandbox.shell.expansion.braces import brace_fields

        expanded = brace_fields(word.parts, self)
        unexpanded = compiled_later(lambda: self.fields_of(word.parts, in_word=not in_list))

        return lambda host, out: (expanded if host.options.braceexpand else unexpanded)(host, out)

    @staticmethod
    def constant_field(parts: tuple[Part, ...]) -> str | None:
        """Return the field that constant parts make; None if any part depends on the shell."""
        constant = _constant(parts)
        if constant is None or any(
            isinstance(part, Literal) and has_magic(part.text) for part in parts
        ):
            return None
        return constant

    def fields_of(self, parts: tuple[Part, ...], *, in_word: bool = False) -> Fields:
        """As `fields`, for parts without brace expansions."""
        parts = self.tildes(parts, False, in_word=in_word)
        constant = self.constant_field(parts)
        if constant is not None:
            if constant or any(not isinstance(part, Literal) for part in parts):
                return lambda host, out: out.append(constant)
            return lambda host, out: None
        if len(parts) == 1:
            only = self._single_part_fields(parts[0])
            if only is not None:
                return only
        if all(
            isinstance(part, (Quoted, Home))
            or (isinstance(part, Literal) and not has_magic(part.text))
            or (isinstance(part, DoubleQuoted) and not _has_list(part))
            for part in parts
        ):
            text = self.joined([self.text(part) for part in parts], parts)
            return lambda host, out: out.append(text(host))
        emitters = [self._emit(part) for part in parts]
        if _substitutes(parts[1:]):
            return _built_around_substitutions(emitters)

        def build(host: ExpansionHost, out: list[str]) -> None:
            builder = FieldBuilder(host, out)
            for emit in emitters:
                emit(host, builder)
            builder.end()

        return build

    def _single_part_fields(self, part: Part) -> Fields | None:
        """Compile the fields of a word of one part; None where it needs a builder."""
        if isinstance(part, DoubleQuoted):
            if len(part.parts) == 1 and isinstance(part.parts[0], Parameter):
                parameter = part.parts[0]
                if _is_list(parameter) and parameter.operator not in CHOICES:
                    from agentsandbox.shell.expansion.parameters import compile_parameter

                    reader = compile_parameter(parameter, self)
                    if reader.many is not None and not reader.star:
                        return _extend_with(reader.many)
            if not _has_list(part):
                text = self.text(part)
                return lambda host, out: out.append(text(host))
            return None
        if isinstance(part, Parameter):
            return self._parameter_fields(part)
        if isinstance(part, (CommandSubstitution, ArithmeticSubstitution)):
            return self._split_text(self.text(part))
        if isinstance(part, (ProcessSubstitution, Home)):
            text = self.text(part)
            return lambda host, out: out.append(text(host))
        return None

    def _parameter_fields(self, node: Parameter) -> Fields | None:
        if node.operator in CHOICES or node.prefix == "!":
            return None
        if node.source == "$" + node.name and (node.name[0].isalpha() or node.name[0] == "_"):
            return _split_variable(node.name, self._split_text(self._parameter_text(node)))
        from agentsandbox.shell.expansion.parameters import compile_parameter, read_text

        reader = compile_parameter(node, self)
        return None if reader.many is not None else self._split_text(read_text(reader))

    @staticmethod
    def _split_text(text: Text) -> Fields:
        """Split and glob an unquoted expansion that is a whole word."""

        def split(host: ExpansionHost, out: list[str]) -> None:
            value = text(host)
            if not value:
                return
            if host.variables.plain_ifs and value.isalnum():
                out.append(value)
                return
            if len(value) > _LONG:
                host.budget.make(len(value))
                host.budget.charge(16 * sum(map(value.count, set(host.variables.ifs))))
            fields = (
                split_fields(value, host.variables.ifs)
                if len(value) <= _LONG
                else _split_in_turns(host, value)
            )
            if host.options.noglob or not has_magic(value):
                out.extend(fields)
                return
            from agentsandbox.shell.expansion.globbing import expand_glob

            for field in fields:
                names = expand_glob(host, field) if has_magic(field) else None
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
        if isinstance(part, (Home, ProcessSubstitution)):
            quoted = self.text(part)
            return lambda host, builder: builder.quoted(quoted(host))
        if isinstance(part, DoubleQuoted):
            return self._emit_double_quoted(part)
        if isinstance(part, Parameter):
            return self._emit_parameter(part)
        value = self.text(part)
        return lambda host, builder: builder.expanded(value(host))

    def _emit_double_quoted(self, node: DoubleQuoted) -> Emit:
        if not _has_list(node):
            text = self.text(node)
            return lambda host, builder: builder.quoted(text(host))
        emitters = [self.emit_quoted(part) for part in node.parts]
        alone = len(node.parts) == 1

        def emit(host: ExpansionHost, builder: FieldBuilder) -> None:
            if not alone:
                builder.opened = builder.opened or any(
                    isinstance(part, Quoted) and part.text for part in node.parts
                )
            opened, fields, texts = builder.opened, len(builder.out), len(builder.text)
            for each in emitters:
                each(host, builder)
            if builder.had_none:  # then quotes with nothing else in them make no field
                builder.had_none = False
                if not builder.keeps and len(builder.out) == fields and len(builder.text) == texts:
                    builder.opened = opened
            builder.keeps = False

        return emit

    def emit_quoted(self, part: Part) -> Emit:
        """A part inside double quotes: "$@" makes a field of each element."""
        if isinstance(part, DoubleQuoted) and _has_list(part):
            emitters = [self.emit_quoted(piece) for piece in part.parts]

            def emit(host: ExpansionHost, builder: FieldBuilder) -> None:
                for each in emitters:
                    each(host, builder)

            return emit
        if not isinstance(part, Parameter) or not _is_list(part):
            text = self.text(part)
            return lambda host, builder: builder.quoted(text(host))
        if part.operator in CHOICES:
            from agentsandbox.shell.expansion.default_values import choice_emitter

            return choice_emitter(part, self, quoted=True)
        from agentsandbox.shell.expansion.parameters import compile_parameter, join

        reader = compile_parameter(part, self)
        many = reader.many or reader.keys
        assert many is not None
        if reader.star:
            return lambda host, builder: builder.quoted(join(host, many(host), True))
        return lambda host, builder: builder.quoted_elements(many(host))

    def emit_operand(self, part: Part) -> Emit:
        """A part of an unquoted ${x-word}: its unquoted text splits as an expansion does."""
        if isinstance(part, Literal):
            text = part.text
            return lambda host, builder: builder.expanded(text)
        return self._emit(part)

    def _emit_parameter(self, node: Parameter) -> Emit:
        if node.operator in CHOICES:
            from agentsandbox.shell.expansion.default_values import choice_emitter

            return choice_emitter(node, self, quoted=False)
        from agentsandbox.shell.expansion.parameters import compile_parameter

        reader = compile_parameter(node, self)
        if reader.many is not None:
            many = reader.many
            return lambda host, builder: builder.expanded_elements(many(host))
        single = reader.single
        if reader.keys is not None:
            keys = reader.keys
            return lambda host, builder: builder.expanded_elements(keys(host))
        return lambda host, builder: builder.expanded(single(host) or "")

    # patterns

    def pattern(self, word: Word) -> Text:
        """Compile the word to a shell pattern, in which quoted text matches itself."""
        parts = self.tildes(word.parts, False)
        return self._joined_patterns([self._pattern_part(part, quote_glob) for part in parts])

    def traced_pattern(self, word: Word) -> Text:
        """Compile the pattern as `set -x` shows it: quoted characters behind a backslash."""
        return self._joined_patterns(
            [self._pattern_part(part, _quote_all) for part in self.tildes(word.parts, False)]
        )

    def regular_expression(self, word: Word) -> Text:
        """Compile the word to an extended regular expression; quoted text matches itself."""
        parts = self.tildes(word.parts, False)
        if len(parts) == 1:
            return self._pattern_part(parts[0], quote_regex)
        if all(isinstance(part, (Literal, Quoted)) for part in parts):
            known = join_regex(
                [
                    (part.text, isinstance(part, Quoted))
                    for part in parts
                    if isinstance(part, (Literal, Quoted))
                ]
            )
            return lambda host: known
        pieces = [
            (self.text(part), isinstance(part, (Quoted, DoubleQuoted, Home))) for part in parts
        ]
        return lambda host: join_regex([(text(host), quoted) for text, quoted in pieces])

    def replacement(self, word: Word) -> Text:
        """Compile the word to the replacement of ${x/y/z}; a quoted & or backslash is text."""
        return self._joined_patterns(
            [self._pattern_part(part, _quote_ampersand) for part in self.tildes(word.parts, False)]
        )

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
        value = self.text(part)
        if isinstance(part, (DoubleQuoted, Home)):
            return lambda host: quote(value(host))
        return value

    # tildes

    def tildes(
        self, parts: tuple[Part, ...], assignment: bool, *, in_word: bool = False
    ) -> tuple[Part, ...]:
        """Replace the ~ prefixes of unquoted text by parts that expand to a home directory.

        With `in_word`, a word that looks like an assignment is expanded like one.
        """
        for part in parts:
            if type(part) is Literal and "~" in part.text:
                break
        else:
            return parts
        replaced: list[Part] = []
        value = assigned_name(parts[0]) if in_word else 0
        for number, part in enumerate(parts):
            if not isinstance(part, Literal):
                replaced.append(part)
                continue
            first, last = number == 0, number == len(parts) - 1
            replaced.extend(
                split_tildes(
                    part.text,
                    first,
                    last,
                    assignment or value > 0,
                    value if first else 0,
                    value > 0,
                )
            )
        return tuple(replaced)


def _substitutes(parts: tuple[Part, ...]) -> bool:
    """Whether a command substitution may run in these parts while earlier results wait."""
    for part in parts:
        if isinstance(part, CommandSubstitution):
            return True
        if isinstance(part, DoubleQuoted):
            if _substitutes(part.parts):
                return True
        elif isinstance(part, (Parameter, ArithmeticSubstitution)):
            source = part.source if isinstance(part, Parameter) else part.expression.source
            if "(" in source or "`" in source:
                return True
    return False


def _joined_around_substitutions(texts: list[Text]) -> Text:
    """Join texts; large ones are held on the budget while a later part runs a command."""

    def join(host: ExpansionHost) -> str:
        pieces: list[str] = []
        kept = None
        for text in texts:
            piece = text(host)
            pieces.append(piece)
            if kept is None and len(piece) > LARGE:
                kept = host.budget.keep(pieces)
        joined = "".join(pieces)
        if len(joined) > LARGE:
            host.budget.make(len(joined))
        if kept is not None:
            kept.release()
        return joined

    return join


def _counting(fields: Fields) -> Fields:
    """Hold the words before this one on the budget, if they are large, while it runs commands."""

    def count(host: ExpansionHost, out: list[str]) -> None:
        if is_large(out):
            kept = host.budget.keep(out)
            fields(host, out)
            kept.release()
        else:
            fields(host, out)

    return count


def _built_around_substitutions(emitters: list[Emit]) -> Fields:
    """Build a word of several parts; hold it on the budget while a part runs a command."""

    def build(host: ExpansionHost, out: list[str]) -> None:
        builder = FieldBuilder(host, out)
        kept = host.budget.keep(builder)
        for emit in emitters:
            emit(host, builder)
        builder.end()
        kept.release()

    return build


def has_braces(parts: tuple[Part, ...]) -> bool:
    """Whether a brace expansion is possible at all."""
    opened = False
    for part in parts:
        if isinstance(part, Literal):
            if "{" in part.text:
                opened = True
            if opened and "}" in part.text:
                return True
    return False


def _is_plain(parts: tuple[Part, ...]) -> bool:
    """Whether a word is one literal of characters that mean nothing but themselves."""
    return (
        len(parts) == 1
        and type(parts[0]) is Literal
        and _PLAIN.fullmatch(parts[0].text) is not None
    )


def _split_variable(name: str, split: Fields) -> Fields:
    """Compile $name, the most common word: a number or a plain text is one field."""

    def fields(host: ExpansionHost, out: list[str]) -> None:
        value = host.values.get(name)
        if host.variables.plain_ifs:
            if type(value) is int:
                out.append(str(value))
                return
            if type(value) is str and value.isalnum():
                out.append(value)
                return
        split(host, out)

    return fields


def _split_in_turns(host: ExpansionHost, value: str) -> list[str]:
    """Split a long text piece by piece, each ending at a blank, and look at the clock between."""
    ifs = host.variables.ifs
    if not ifs or ifs.strip(" \t\n"):
        return split_fields(value, ifs, host.budget)
    fields: list[str] = []
    opened: list[str] = []
    """The pieces of a field that the last piece did not end."""
    for start in range(0, len(value), _LONG):
        host.budget.step(SLICE)
        piece = value[start : start + _LONG]
        found = split_fields(piece, ifs)
        if opened and (piece[0] in ifs or len(found) > 1 or piece[-1] in ifs):
            if piece[0] not in ifs:
                opened.append(found.pop(0))
            fields.append("".join(opened))
            opened = []
        if found and piece[-1] not in ifs:
            opened.append(found.pop())
        fields += found
    if opened:
        fields.append("".join(opened))
    return fields


def _extend_with(many: Callable[[ExpansionHost], Sequence[str]]) -> Fields:
    """Append all elements as words, and charge the budget for a long list."""

    def extend(host: ExpansionHost, out: list[str]) -> None:
        out.extend(many(host))
        if len(out) > 4096:
            host.budget.make(16 * len(out))

    return extend


def _slot_text(number: int) -> Text:
    """Compile a slot: the word there is plain, or a text in one pair of quotes."""

    def read(host: ExpansionHost) -> str:
        word = host.slots[number]
        return word[1:-1] if word[0] in _QUOTES else word

    return read


def _slot_fields(number: int) -> Fields:
    def append(host: ExpansionHost, out: list[str]) -> None:
        word = host.slots[number]
        out.append(word[1:-1] if word[0] in _QUOTES else word)

    return append


def _positional_text(number: int, shown: str) -> Text:
    def read(host: ExpansionHost) -> str:
        positional = host.stack.positional
        if number <= len(positional):
            return positional[number - 1]
        if host.options.nounset:
            raise unbound(shown)
        return ""

    return read


def _constant(parts: tuple[Part, ...]) -> str | None:
    """Return the text of constant parts; None if any part depends on the shell."""
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


def _quote_all(text: str) -> str:
    return "".join(["\\" + character for character in text])


def _quote_ampersand(text: str) -> str:
    return text.replace("\\", "\\\\").replace("&", "\\&") if "&" in text or "\\" in text else text
