"""Operators that look outside the document: other formats and files, the environment, errors."""

from __future__ import annotations

import re

from agentsandbox.commands.yq.evaluation import Context, Machine, YqError, each, operator
from agentsandbox.commands.yq.formats import Layout, decode_text, encode_node
from agentsandbox.commands.yq.metadata import explode, leading_text
from agentsandbox.commands.yq.nodes import SCALAR, Node, sequence, string
from agentsandbox.commands.yq.parser import Expression
from agentsandbox.commands.yq.reader import YamlError

__all__: list[str] = []

_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?-)([^{}]*))?\})", re.ASCII)
_DECODED = "decoded: "


# formats


@each("encode")
def _encode(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    format = next(iter(expression.options))
    indent = min(int(expression.value or "2"), 100)
    text = ""
    printed = node
    if format == "yaml":
        text = leading_text(node.leading, separators=True)
    else:
        printed = node.copy(machine.meter)
        explode(machine, printed)
    text += encode_node(printed, format, machine.budget, Layout(indent, unwrap=format == "yaml"))
    machine.budget.charge(len(text))
    decoded = context.variables.get(_DECODED + _place_of(node))
    if decoded and not decoded[0].value.endswith("\n") and not text.endswith("\n\n"):
        text = text.removesuffix("\n")
    if format == "json" and indent == 0:
        text = text.rstrip("\n")
    return node.scalar("!!str", text)


def _place_of(node: Node) -> str:
    own = node.key_node()
    key = own.value if own is not None else ""
    return f"{'key-' + node.value + '-' if node.is_key else ''}{node.root().document} - {key}"


@each("decode")
def _decode(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    format = next(iter(expression.options))
    context.variables[_DECODED + _place_of(node)] = [node]
    document = next(iter(_documents(machine, node.value, format)), None)
    if document is None:
        raise YqError("EOF")
    document.key, document.parent = node.key, node.parent
    return document


def _documents(machine: Machine, text: str, format: str) -> list[Node]:
    try:
        return list(decode_text(text, format, machine.budget, keep_leading=False))
    except YamlError as error:
        raise YqError(f"yaml: {error}") from None


@each("load")
def _load(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    names = machine.values(context.single(node), expression.right)
    if not names:
        raise YqError("filename expression returned nil")
    try:
        text = machine.read_file(names[0].value)
        return string(text) if "str" in expression.options else _loaded(machine, text)
    except YqError as error:
        raise YqError(f"failed to load {names[0].value}: {error}") from None


def _loaded(machine: Machine, text: str) -> Node:
    documents = _documents(machine, text, "yaml")
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
    value = machine.environment.get(expression.value, "")
    if "string" in expression.options:
        return context.single(string(value))
    if not value:
        raise YqError(f"value for env variable '{expression.value}' not provided in env()")
    documents = _documents(machine, value, "yaml")
    if not documents:
        raise YqError("EOF")
    return context.single(documents[0])


@each("envsubst")
def _envsubst(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if node.tag != "!!str":
        raise YqError(
            f"cannot substitute with {node.tag}, can only substitute strings. "
            "Hint: Most often you'll want to use '|=' over '=' for this operation"
        )
    size = 0

    def value(found: re.Match[str]) -> str:
        nonlocal size
        known = machine.environment.get(found[1] or found[2])
        result = known or ""
        if not known and found[3] and (known is None or found[3] == ":-"):
            result = found[4]
        size += len(result)
        machine.budget.charge(size)
        return result

    return node.scalar("!!str", _VARIABLE.sub(value, node.value))


@operator("error")
def _error(machine: Machine, context: Context, expression: Expression) -> Context:
    nodes = machine.values(context, expression.right)
    raise YqError(nodes[0].value if nodes else "aborted")
