"""Operators that meet the world: other formats and files, the environment, the clock, expressions in strings."""

from __future__ import annotations

import re

from agentsandbox.languages.timezones import find_zone
from agentsandbox.languages.yq.evaluation import Context, Machine, YqError, guessed_tag, operator
from agentsandbox.languages.yq.formats import Layout, decode_text, encode_node
from agentsandbox.languages.yq.lexer import ExpressionError
from agentsandbox.languages.yq.metadata import explode, leading_text
from agentsandbox.languages.yq.moments import Moment, format_moment, read_moment
from agentsandbox.languages.yq.nodes import SCALAR, Node, sequence, string
from agentsandbox.languages.yq.numbers import parse_float
from agentsandbox.languages.yq.parser import Expression, parse_expression
from agentsandbox.languages.yq.reader import YamlError

__all__: list[str] = []

_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-=+?])([^{}]*))?\}|\$)", re.ASCII)
_ZONE_NAME = re.compile(r"(?:UTC|Local|GMT|[A-Z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2})\Z", re.ASCII)
_DECODED = "decoded: "
_LATEST = 253_402_300_799


# formats


@operator("encode")
def _encode(machine: Machine, context: Context, expression: Expression) -> Context:
    format = next(iter(expression.options))
    indent = min(int(expression.value or "2"), 100)
    layout = Layout(indent, unwrap=format in ("yaml", "props"))
    found: list[Node] = []
    for node in context.nodes:
        printed = node
        if format != "yaml":
            printed = node.copy(machine.meter)
            explode(machine, printed)
        text = leading_text(node.leading, separators=True) if format == "yaml" else ""
        text += encode_node(printed, format, machine.budget, layout)
        machine.budget.charge(len(text))
        original = context.variables.get(_DECODED + _place_of(node))
        if original and text.endswith("\n") and not text.endswith("\n\n") and not original[0].value.endswith("\n"):
            text = text.rstrip("\n")
        if (format == "json" and indent == 0) or format in ("csv", "tsv"):
            text = text.rstrip("\n")
        found.append(node.scalar("!!str", text))
    return context.of(found)


def _place_of(node: Node) -> str:
    own = node.key_node()
    key = own.value if own is not None else ""
    return f"{'key-' + node.value + '-' if node.is_key else ''}{node.root().document} - {key}"


@operator("decode")
def _decode(machine: Machine, context: Context, expression: Expression) -> Context:
    format = next(iter(expression.options))
    found: list[Node] = []
    for node in context.nodes:
        context.variables[_DECODED + _place_of(node)] = [node]
        document = next(iter(_documents(machine, node.value, format)), None)
        if document is None:
            raise YqError("EOF")
        document.key, document.parent = node.key, node.parent
        found.append(document)
    return context.of(found)


def _documents(machine: Machine, text: str, format: str) -> list[Node]:
    try:
        return list(decode_text(text, format, machine.budget, Layout(), keep_leading=False))
    except YamlError as error:
        raise YqError(f"yaml: {error}") from None


@operator("load")
def _load(machine: Machine, context: Context, expression: Expression) -> Context:
    format = next(iter(expression.options))
    if not machine.allows_files:
        raise YqError("file operations have been disabled")
    found: list[Node] = []
    for node in context.nodes:
        names = machine.values(context.single(node), expression.right)
        if not names:
            raise YqError("filename expression returned nil")
        try:
            text = machine.read_file(names[0].value)
            found.append(string(text) if format == "str" else _loaded(machine, text, format))
        except YqError as error:
            raise YqError(f"failed to load {names[0].value}: {error}") from None
    return context.of(found)


def _loaded(machine: Machine, text: str, format: str) -> Node:
    documents = _documents(machine, text, format)
    if len(documents) == 1:
        return documents[0]
    if not documents:
        return Node(SCALAR, "!!null")
    made = sequence()
    for document in documents:
        made.adopt(document)
    return made


# the environment


@operator("env")
def _env(machine: Machine, context: Context, expression: Expression) -> Context:
    if not machine.allows_environment:
        raise YqError("env operations have been disabled")
    value = machine.environment.get(expression.value, "")
    if "string" in expression.options:
        return context.single(string(value))
    if not value:
        raise YqError(f"value for env variable '{expression.value}' not provided in env()")
    documents = _documents(machine, value, "yaml")
    if not documents:
        raise YqError("EOF")
    return context.single(documents[0])


@operator("envsubst")
def _envsubst(machine: Machine, context: Context, expression: Expression) -> Context:
    if not machine.allows_environment:
        raise YqError("env operations have been disabled")
    found: list[Node] = []
    for node in context.nodes:
        if node.tag != "!!str":
            raise YqError(
                f"cannot substitute with {node.tag}, can only substitute strings. "
                "Hint: Most often you'll want to use '|=' over '=' for this operation"
            )
        found.append(node.scalar("!!str", _substituted(machine, node.value, expression.options)))
    return context.of(found)


def _substituted(machine: Machine, text: str, options: frozenset[str]) -> str:
    """The text with $NAME, ${NAME} and ${NAME-default} replaced; what options forbid is told, all or the first."""
    errors: list[str] = []
    size = 0

    def value(found: re.Match[str]) -> str:
        nonlocal size
        name = found[1] or found[2]
        if name is None:
            return "$"
        known = machine.environment.get(name)
        sign, word = found[3], found[4] or ""
        present = bool(known) if sign and sign[0] == ":" else known is not None
        result = known or ""
        if sign and sign[-1] == "+":
            result = word if present else ""
        elif sign and not present:
            if sign[-1] == "?":
                errors.append(f"{name}: {word or 'parameter null or not set'}")
            result = word
        elif known is None and "nu" in options:
            errors.append(f"variable ${{{name}}} not set")
        elif not known and "ne" in options and known is not None:
            errors.append(f"variable ${{{name}}} set but empty")
        size += len(result)
        machine.budget.charge(size)
        return result

    made = _VARIABLE.sub(value, text)
    if errors:
        raise YqError(errors[0] if "ff" in options else "\n".join(errors))
    return made


@operator("eval")
def _eval(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for source in machine.values(context, expression.right):
        try:
            tree = parse_expression(source.value)
        except ExpressionError as error:
            raise YqError(str(error)) from None
        found += machine.evaluate(context, tree).nodes
    return context.of(found)


@operator("error")
def _error(machine: Machine, context: Context, expression: Expression) -> Context:
    nodes = machine.values(context, expression.right)
    raise YqError(nodes[0].value if nodes else "aborted")


# the clock


def _parameter(machine: Machine, context: Context, expression: Expression | None, name: str) -> str:
    nodes = machine.values(context, expression)
    if not nodes:
        raise YqError(f"could not find {name} for format_time")
    return nodes[0].value


def _moment(node: Node, layout: str, *, named: bool = True) -> Moment:
    where = f"could not parse datetime of [{node.nice_path()}]" + (f" using layout [{layout}]" if named else "")
    return read_moment(layout, node.value, lambda message: YqError(f"{where}: {message}"))


@operator("now")
def _now(machine: Machine, context: Context, expression: Expression) -> Context:
    text = format_moment((int(machine.clock()), 0, 0, "UTC"), "2006-01-02T15:04:05Z07:00")
    return context.single(Node(SCALAR, "!!timestamp", text))


@operator("with_dtf")
def _with_layout(machine: Machine, context: Context, expression: Expression) -> Context:
    block = expression.right
    if block is None or block.name not in ("block", "union"):
        raise YqError('must provide a date time format string and an expression, e.g. with_dtf("Monday, 02-Jan-06 at 3:04PM MST"; <exp>)')
    layout = _parameter(machine, context, block.left, "layout")
    inner = Context(context.nodes, context.variables, creates=context.creates, layout=layout)
    return machine.evaluate(inner, block.right)


@operator("format_datetime")
def _format_datetime(machine: Machine, context: Context, expression: Expression) -> Context:
    wanted = _parameter(machine, context, expression.right, "format")
    found: list[Node] = []
    for node in context.nodes:
        text = format_moment(_moment(node, context.layout, named=False), wanted)
        machine.budget.charge(len(text))
        try:
            documents = _documents(machine, text, "yaml")
        except YqError:
            documents = []
        made = documents[0] if documents else string(text)
        made.parent, made.key = node.parent, node.key
        found.append(made)
    return context.of(found)


@operator("tz")
def _timezone(machine: Machine, context: Context, expression: Expression) -> Context:
    name = _parameter(machine, context, expression.right, "timezone")
    if name and not _ZONE_NAME.match(name):
        raise YqError(f"could not load tz [{name}]: unknown time zone {name}")
    zone = find_zone(name)
    found: list[Node] = []
    for node in context.nodes:
        seconds, nanoseconds, _offset, _name = _moment(node, context.layout)
        offset, abbreviation, _saving = zone.at(seconds)
        if abbreviation == name.partition("/")[0] and name not in ("UTC", "GMT") and "/" in name:
            raise YqError(f"could not load tz [{name}]: unknown time zone {name}")
        found.append(node.scalar(node.tag, format_moment((seconds, nanoseconds, offset, abbreviation), context.layout)))
    return context.of(found)


@operator("from_unix")
def _from_unix(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for node in context.nodes:
        if guessed_tag(machine, node) not in ("!!int", "!!float"):
            raise YqError(f"from_unix only works on numbers, found {node.tag} instead")
        number = parse_float(node.value)
        if number is None or not abs(number) < _LATEST:
            raise YqError(f'strconv.ParseFloat: parsing "{node.value}": value out of range')
        text = format_moment((int(number * 1000 // 1000), 0, 0, "UTC"), "2006-01-02T15:04:05Z07:00")
        found.append(node.scalar("!!timestamp", text))
    return context.of(found)


@operator("to_unix")
def _to_unix(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of([node.scalar("!!int", str(_moment(node, context.layout)[0])) for node in context.nodes])
