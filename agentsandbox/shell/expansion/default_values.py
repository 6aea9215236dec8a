"""${x:-word} and its kin: expansions that take the parameter or the operand."""

from __future__ import annotations

from agentsandbox.shell.expansion.compiling import compiled_later
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.parameters import compile_parameter, join, reader_for
from agentsandbox.shell.expansion.variables import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.expansion.compiling import Emit, Text, Words
    from agentsandbox.shell.expansion.host import ExpansionHost
    from agentsandbox.shell.expansion.parameters import ParameterReader
    from agentsandbox.shell.expansion.splitting import FieldBuilder
    from agentsandbox.shell.syntax.nodes import Parameter, Word


def choice_text(node: Parameter, words: Words, assignment: bool) -> Text:
    """The expansion as one text."""
    reader = compile_parameter(node, words)
    choice = _choice(node, reader)
    operand = _operand(node, words, assignment)

    def choose(host: ExpansionHost) -> str:
        text = choice(host)
        if text is None:
            return operand(host)
        return text if isinstance(text, str) else join(host, text, reader.star)

    return choose


def choice_emitter(node: Parameter, words: Words, *, quoted: bool) -> Emit:
    """The expansion as fields; `quoted`: inside double quotes."""
    reader = compile_parameter(node, words)
    choice = _choice(node, reader)
    operand = _operand_emitter(node, words, quoted=quoted)

    def choose_quoted(host: ExpansionHost, builder: FieldBuilder) -> None:
        value = choice(host)
        if value is None:
            operand(host, builder)
        elif isinstance(value, str):
            builder.quoted(value)
        elif reader.star:
            builder.quoted(join(host, value, True))
        else:
            builder.quoted_elements(value)

    def choose(host: ExpansionHost, builder: FieldBuilder) -> None:
        value = choice(host)
        if value is None:
            operand(host, builder)
        elif isinstance(value, str):
            builder.expanded(value)
        else:
            builder.expanded_elements(value)

    return choose_quoted if quoted else choose


def _choice(
    node: Parameter, reader: ParameterReader
) -> Callable[[ExpansionHost], str | list[str] | None]:
    """Return the parameter's value if the operator takes it; None if the operand counts."""
    operator = node.operator
    empty_counts = operator[0] == ":"
    single, many = reader.single, reader.many
    if node.prefix == "!":
        many = reader.keys  # what is named may be a list

    def is_empty(host: ExpansionHost, items: list[str]) -> bool:
        if len(items) == 1:
            return items[0] == ""
        return reader.star and not any(items) and not host.variables.ifs

    if operator in ("+", ":+"):

        def alternative(host: ExpansionHost) -> str | list[str] | None:
            if many is not None:
                items = many(host)
                present = len(items) > 0 and not (empty_counts and is_empty(host, items))
            else:
                text = single(host)
                present = text is not None and (text != "" or not empty_counts)
                items = []
            if present:
                return None
            return "" if items or reader.many is None or reader.star else []

        return alternative
    if many is not None:

        def list_value(host: ExpansionHost) -> list[str] | None:
            items = many(host)
            if not items or (empty_counts and is_empty(host, items)):
                return None
            return items

        return list_value
    if empty_counts:
        return lambda host: single(host) or None
    return single


def _operand_emitter(node: Parameter, words: Words, *, quoted: bool) -> Emit:
    if node.operator in ("-", ":-", "+", ":+"):
        parts = words.tildes(node.operands[0].parts, False)
        emitters = [
            words.emit_quoted(part) if quoted else words.emit_operand(part) for part in parts
        ]
        if quoted:
            return _quoted_operand(emitters)

        def emit(host: ExpansionHost, builder: FieldBuilder) -> None:
            for each in emitters:
                each(host, builder)

        return emit
    text = _operand(node, words)
    if quoted:
        return lambda host, builder: builder.quoted(text(host))
    return lambda host, builder: builder.expanded(text(host))


def _quoted_operand(emitters: list[Emit]) -> Emit:
    """An operand inside double quotes: an empty one makes a field, also if it is a list."""

    def emit(host: ExpansionHost, builder: FieldBuilder) -> None:
        for each in emitters:
            each(host, builder)
        builder.had_none = False
        builder.opened = builder.keeps = True

    return emit


def _operand(node: Parameter, words: Words, assignment: bool = False) -> Text:
    """Return the operand as one text; "" for `+` with an unset parameter."""
    operator = node.operator
    word = node.operands[0]
    if operator in ("+", ":+", "-", ":-"):
        return words.string(word, assignment=assignment)
    if operator in ("=", ":="):
        text, assign = words.string(word, assignment=assignment), _assigner(node, words)

        def assigned(host: ExpansionHost) -> str:
            value = text(host)
            return assign(host, value)

        return assigned
    shown = node.prefix + (
        node.name if node.subscript is None else f"{node.name}[{node.subscript.source}]"
    )
    default = "parameter null or not set" if operator == ":?" else "parameter not set"

    fields = words.fields_of(word.parts)

    def report(host: ExpansionHost) -> str:
        found: list[str] = []
        host.without_globbing(lambda: fields(host, found))
        message = " ".join(found)
        raise ExpansionError(f"{shown}: {message if word.parts else default}", status=127)

    return report


def _assigner(node: Parameter, words: Words) -> Callable[[ExpansionHost, str], str]:
    name, subscript = node.name, node.subscript
    if node.prefix == "!":
        pointer = reader_for(name, subscript, words).single

        def assign_target(host: ExpansionHost, value: str) -> str:
            target = pointer(host) or name
            if not is_name(target):
                raise ExpansionError(f"{target}: invalid variable name")
            host.variables.assign(target, value)
            return host.variables.get(target) or ""

        return assign_target
    if subscript is not None:
        return _element_assigner(name, subscript, words)

    def assign(host: ExpansionHost, value: str) -> str:
        if not (name[0].isalpha() or name[0] == "_"):
            raise ExpansionError(f"${name}: cannot assign in this way")
        host.variables.assign(name, value)
        return host.variables.get(name) or ""

    return assign


def _element_assigner(
    name: str, subscript: Word, words: Words
) -> Callable[[ExpansionHost, str], str]:
    key = compiled_later(lambda: words.subscripts(subscript)[0])
    index = compiled_later(lambda: words.subscripts(subscript)[1])

    def assign_element(host: ExpansionHost, value: str) -> str:
        text = (key if host.variables.is_associative(name) else index)(host)
        host.variables.assign_element(name, text, value)
        return str(host.variables.converted(name, value))

    return assign_element
