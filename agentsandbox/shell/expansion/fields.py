"""Words compiled to fields: what commands, loops and array literals get (POSIX 2.6.5).

"$x" and $x alone need no builder, and neither does a text that cannot split. All other words are
built of their parts: each has a closure that adds its result to a `FieldBuilder` in the way that
its quoting allows.

    part              adds                 splits   is a pattern
    Literal a*        literal("a*")        no       yes
    Quoted 'a*'       quoted("a*")         no       no
    "$x"              quoted(value)        no       no
    $x                expanded(value)      yes      yes
    "$@"              quoted_elements      a field for each element
"""

from __future__ import annotations

from agentsandbox.kernel.accounts import is_large
from agentsandbox.kernel.budget import SLICE
from agentsandbox.shell.expansion.compiling import compiled_later
from agentsandbox.shell.expansion.magic import has_magic
from agentsandbox.shell.expansion.splitting import FieldBuilder, glob_field, split_fields
from agentsandbox.shell.expansion.texts import (
    compile_text,
    parameter_text,
    part_text,
    substitutes,
)
from agentsandbox.shell.expansion.tildes import Home
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.shell.expansion.compiling import Emit, Fields, Text, Words
    from agentsandbox.shell.expansion.host import ExpansionHost

_LONG = 65536
"""Characters from which on a text is weighed before it is split."""
_QUOTES = ("'", '"')


def word_fields(word: Word, words: Words, *, in_list: bool) -> Fields:
    """Compile a word that is not constant to fields."""
    parts = word.parts
    if len(parts) == 1 and type(parts[0]) is Slot:
        return _slot_fields(parts[0].number)
    if has_braces(parts):
        fields = _braced_fields(parts, words, in_word=not in_list)
    else:
        fields = words.fields_of(parts, in_word=not in_list)
    return _counting(fields) if substitutes(parts) else fields


def fields_of(parts: tuple[Part, ...], words: Words) -> Fields:
    """Compile parts without braces and tildes to fields."""
    constant = constant_field(parts, words)
    if constant is not None:
        if constant or any(not isinstance(part, Literal) for part in parts):
            return lambda host, out: out.append(constant)
        return lambda host, out: None
    if len(parts) == 1:
        only = _single_part_fields(parts[0], words)
        if only is not None:
            return only
    if all(
        isinstance(part, (Quoted, Home))
        or (isinstance(part, Literal) and not has_magic(part.text))
        or (isinstance(part, DoubleQuoted) and not _has_list(part))
        for part in parts
    ):
        text = compile_text(parts, words)
        return lambda host, out: out.append(text(host))
    emitters = [_emit(part, words) for part in parts]
    if substitutes(parts[1:]):
        return _built_around_substitutions(emitters)

    def build(host: ExpansionHost, out: list[str]) -> None:
        builder = FieldBuilder(host, out)
        for emit in emitters:
            emit(host, builder)
        builder.end()

    return build


def constant_field(parts: tuple[Part, ...], words: Words) -> str | None:
    """Return the field that constant parts make; None if any part depends on the shell."""
    constant = words.constant_text(parts)
    if constant is None or any(
        isinstance(part, Literal) and has_magic(part.text) for part in parts
    ):
        return None
    return constant


def _single_part_fields(part: Part, words: Words) -> Fields | None:
    """Compile the fields of a word of one part; None where it needs a builder."""
    if isinstance(part, DoubleQuoted):
        if len(part.parts) == 1 and isinstance(part.parts[0], Parameter):
            parameter = part.parts[0]
            if _is_list(parameter) and parameter.operator not in CHOICES:
                from agentsandbox.shell.expansion.parameters import compile_parameter

                reader = compile_parameter(parameter, words)
                if reader.many is not None and not reader.star:
                    return _extend_with(reader.many)
        if not _has_list(part):
            text = part_text(part, words)
            return lambda host, out: out.append(text(host))
        return None
    if isinstance(part, Parameter):
        return _parameter_fields(part, words)
    if isinstance(part, (CommandSubstitution, ArithmeticSubstitution)):
        return _split_text(part_text(part, words))
    if isinstance(part, (ProcessSubstitution, Home)):
        text = part_text(part, words)
        return lambda host, out: out.append(text(host))
    return None


def _parameter_fields(node: Parameter, words: Words) -> Fields | None:
    if node.operator in CHOICES or node.prefix == "!":
        return None
    if node.source == "$" + node.name and (node.name[0].isalpha() or node.name[0] == "_"):
        return _split_variable(node.name, _split_text(parameter_text(node, words)))
    from agentsandbox.shell.expansion.parameters import compile_parameter, read_text

    reader = compile_parameter(node, words)
    return None if reader.many is not None else _split_text(read_text(reader))


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
        for field in fields:
            names = glob_field(host, field) if has_magic(field) else None
            if names is None:
                out.append(field)
            else:
                out.extend(names)

    return split


def _braced_fields(parts: tuple[Part, ...], words: Words, *, in_word: bool) -> Fields:
    """Compile the fields of a word in which braces may be expanded."""
    from agentsandbox.shell.expansion.braces import brace_fields

    expanded = brace_fields(parts, words)
    unexpanded = compiled_later(lambda: words.fields_of(parts, in_word=in_word))
    return lambda host, out: (expanded if host.options.braceexpand else unexpanded)(host, out)


def _emit(part: Part, words: Words) -> Emit:
    if isinstance(part, Literal):
        text = part.text
        return lambda host, builder: builder.literal(text)
    if isinstance(part, Quoted):
        text = part.text
        return lambda host, builder: builder.quoted(text)
    if isinstance(part, (Home, ProcessSubstitution)):
        quoted = part_text(part, words)
        return lambda host, builder: builder.quoted(quoted(host))
    if isinstance(part, DoubleQuoted):
        return _emit_double_quoted(part, words)
    if isinstance(part, Parameter):
        return _emit_parameter(part, words)
    value = part_text(part, words)
    return lambda host, builder: builder.expanded(value(host))


def _emit_double_quoted(node: DoubleQuoted, words: Words) -> Emit:
    if not _has_list(node):
        text = part_text(node, words)
        return lambda host, builder: builder.quoted(text(host))
    emitters = [emit_quoted(part, words) for part in node.parts]
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


def emit_quoted(part: Part, words: Words) -> Emit:
    """Compile a part inside double quotes: "$@" makes a field of each element."""
    if isinstance(part, DoubleQuoted) and _has_list(part):
        emitters = [emit_quoted(piece, words) for piece in part.parts]

        def emit(host: ExpansionHost, builder: FieldBuilder) -> None:
            for each in emitters:
                each(host, builder)

        return emit
    if not isinstance(part, Parameter) or not _is_list(part):
        text = part_text(part, words)
        return lambda host, builder: builder.quoted(text(host))
    if part.operator in CHOICES:
        from agentsandbox.shell.expansion.default_values import choice_emitter

        return choice_emitter(part, words, quoted=True)
    from agentsandbox.shell.expansion.parameters import compile_parameter, join

    reader = compile_parameter(part, words)
    many = reader.many or reader.keys
    assert many is not None
    if reader.star:
        return lambda host, builder: builder.quoted(join(host, many(host), True))
    return lambda host, builder: builder.quoted_elements(many(host))


def emit_operand(part: Part, words: Words) -> Emit:
    """Compile a part of an unquoted ${x-word}: its unquoted text splits as an expansion does."""
    if isinstance(part, Literal):
        text = part.text
        return lambda host, builder: builder.expanded(text)
    return _emit(part, words)


def _emit_parameter(node: Parameter, words: Words) -> Emit:
    if node.operator in CHOICES:
        from agentsandbox.shell.expansion.default_values import choice_emitter

        return choice_emitter(node, words, quoted=False)
    from agentsandbox.shell.expansion.parameters import compile_parameter

    reader = compile_parameter(node, words)
    if reader.many is not None:
        many = reader.many
        return lambda host, builder: builder.expanded_elements(many(host))
    single = reader.single
    if reader.keys is not None:
        keys = reader.keys
        return lambda host, builder: builder.expanded_elements(keys(host))
    return lambda host, builder: builder.expanded(single(host) or "")


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


def _slot_fields(number: int) -> Fields:
    def append(host: ExpansionHost, out: list[str]) -> None:
        word = host.slots[number]
        out.append(word[1:-1] if word[0] in _QUOTES else word)

    return append


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
