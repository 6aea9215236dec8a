"""Formats such as `@csv`, strings with interpolations, arrays and objects."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import EMPTY, Code
from agentsandbox.commands.jq.operations import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, One
    from agentsandbox.commands.jq.compiler import Caller, CompileNode, Compiler, Scope
    from agentsandbox.commands.jq.machine import Machine


def _find_format(compiler: Compiler, name: str) -> Callable[[Value], str]:
    # loaded here because most programs format nothing
    from agentsandbox.commands.jq.formats import find_format

    return find_format(name, compiler.budget.charge)


def _compile_format(compiler: Compiler, node: nodes.Format, scope: Scope, tail: Caller) -> Code:
    escape = _find_format(compiler, node.name)
    return Code(lambda value, environment: escape(value))


def _compile_text(compiler: Compiler, node: nodes.Text, scope: Scope, tail: Caller) -> Code:
    escape = _find_format(compiler, node.format or "text")
    parts = [
        part if isinstance(part, str) else compiler.compile(part, scope) for part in node.parts
    ]
    pieces = [part if isinstance(part, str) else part.sure for part in parts]
    known = [piece for piece in pieces if piece is not None]
    if len(known) == len(pieces):
        return _interpolation(known, escape, compiler.machine)
    charge = compiler.machine.charge_text

    def spread(at: int, value: Value, environment: Environment, after: str) -> Iterator[Value]:
        if at < 0:
            yield after
            return
        part = parts[at]
        if isinstance(part, str):
            yield from spread(at - 1, value, environment, part + after)
            return
        for result in part.many(value, environment):
            made = escape(result)
            charge(len(made) + len(after))
            yield from spread(at - 1, value, environment, made + after)

    return Code(many=lambda value, environment: spread(len(parts) - 1, value, environment, ""))


def _interpolation(
    pieces: list[str | One], escape: Callable[[Value], str], machine: Machine
) -> Code:
    """Return the code of a string each part of which has exactly one value."""

    def one(value: Value, environment: Environment) -> Value:
        # the last interpolation is evaluated first, as jq's code does
        made = [
            piece if isinstance(piece, str) else escape(piece(value, environment))
            for piece in reversed(pieces)
        ]
        made.reverse()
        if len(made) > 1:
            machine.charge_text(sum(map(len, made)))
        return "".join(made)

    return Code(one)


def _compile_array(compiler: Compiler, node: nodes.ArrayOf, scope: Scope, tail: Caller) -> Code:
    if node.body is None:
        return Code(lambda value, environment: [])
    return collected(compiler.machine, compiler.compile(node.body, scope))


def collected(machine: Machine, body: Code) -> Code:
    """Return the code of the array of all outputs of an expression."""
    inner = body.one
    if inner is not None:

        def single(value: Value, environment: Environment) -> Value:
            result = inner(value, environment)
            return [] if result is EMPTY else [result]

        return Code(single)
    many = body.many

    def collect(value: Value, environment: Environment) -> Value:
        made: list[Value] = []
        machine.roots.append((made, value, environment))
        try:
            for result in many(value, environment):
                made.append(result)
                if not len(made) & 1023:
                    machine.budget.charge(len(made) * 16)
                    machine.hold(1024)
                    machine.budget.step(64)
            machine.hold((len(made) & 1023) + 4)
            return made
        finally:
            machine.roots.pop()

    return Code(collect)


_ENTRY = 14
"""Memory that an object takes for each entry, in pieces of 16 bytes."""


def _compile_object(compiler: Compiler, node: nodes.ObjectOf, scope: Scope, tail: Caller) -> Code:
    machine = compiler.machine
    entries = [
        (compiler.compile(key, scope), compiler.compile(value, scope))
        for key, value in node.entries
    ]
    names = [
        key.value
        for key, _value in node.entries
        if isinstance(key, nodes.Constant) and isinstance(key.value, str)
    ]
    items = [item.sure for _key, item in entries if item.sure is not None]
    if len(names) == len(items) == len(entries):
        pairs = list(zip(names, items, strict=True))

        def build(value: Value, environment: Environment) -> Value:
            machine.made += _ENTRY
            return {name: item(value, environment) for name, item in pairs}

        return Code(build)

    def spread(
        at: int, value: Value, environment: Environment, made: dict[str, Value]
    ) -> Iterator[Value]:
        if at == len(entries):
            yield made
            return
        key, item = entries[at]
        for name in key.many(value, environment):
            if not isinstance(name, str):
                raise JqError(f"Cannot use {describe(name)} as object key")
            for result in item.many(value, environment):
                machine.made += _ENTRY
                yield from spread(at + 1, value, environment, {**made, name: result})

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        return spread(0, value, environment, {})

    if all(code.sure for entry in entries for code in entry):
        return Code(lambda value, environment: next(many(value, environment)))
    return Code(many=many)


NODES: dict[type, CompileNode] = {
    nodes.Format: _compile_format,
    nodes.Text: _compile_text,
    nodes.ArrayOf: _compile_array,
    nodes.ObjectOf: _compile_object,
}
