"""Destructuring: `. as [$a, {b: $c}] ?// $d | body`."""

from __future__ import annotations

from agentsandbox.commands._json.values import KINDS, JqError
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.paths import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Many
    from agentsandbox.commands.jq.compiler import Compiler, Scope
    from agentsandbox.commands.jq.nodes import Pattern

    Match: TypeAlias = Callable[[Value, Value, Environment], Iterable[Environment]]
    """Binds the variables: a function of the value to take apart, the input, an environment."""


def _names(patterns: list[Pattern]) -> list[str]:
    """Return the variables of all patterns, in their order."""
    found: list[str] = []
    pending = list(reversed(patterns))
    while pending:
        pattern = pending.pop()
        if isinstance(pattern, nodes.VariablePattern):
            found.append(pattern.name)
        elif isinstance(pattern, nodes.ArrayPattern):
            pending.extend(reversed(pattern.items))
        elif isinstance(pattern, nodes.ObjectPattern):
            for variable, _key, inner in reversed(pattern.entries):
                if inner is not None:
                    pending.append(inner)
                if variable is not None:
                    pending.append(nodes.VariablePattern(variable))
    return list(dict.fromkeys(found))


class Binder:
    """The patterns of one binding.

    Each variable of any of them is a place in the environment, null until bound.
    """

    def __init__(self, compiler: Compiler, patterns: list[Pattern], scope: Scope) -> None:
        self.simple = len(patterns) == 1 and isinstance(patterns[0], nodes.VariablePattern)
        """Whether the only pattern is a variable."""
        self._places: dict[str, int] = {}
        for name in _names(patterns):
            self._places[name] = scope.size
            scope = scope.place("$" + name)
        self.scope = scope
        self._matches = [self._match(compiler, pattern) for pattern in patterns]

    def environments(
        self, bound: Value, value: Value, environment: Environment
    ) -> Iterable[Environment]:
        """Return the environments that a value makes; keys of patterns may have many outputs."""
        if self.simple:
            return ((*environment, bound),)
        return self.run(bound, value, environment, lambda inner: (inner,))

    def run(
        self,
        bound: Value,
        value: Value,
        environment: Environment,
        body: Callable[[Environment], Iterable[Any]],
    ) -> Iterator[Any]:
        """Yield the outputs of `body` in the environments of the first pattern without error."""
        if self.simple:
            yield from body((*environment, bound))
            return
        blank = (*environment, *[None] * len(self._places))
        for match in self._matches[:-1]:
            try:
                for inner in match(bound, value, blank):
                    yield from body(inner)
                return
            except JqError:
                continue
        for inner in self._matches[-1](bound, value, blank):
            yield from body(inner)

    def _match(self, compiler: Compiler, pattern: Pattern) -> Match:
        parts: list[tuple[Many, Match]] = []
        if isinstance(pattern, nodes.VariablePattern):
            place = self._places[pattern.name]
            return lambda bound, value, environment: (
                (*environment[:place], bound, *environment[place + 1 :]),
            )
        if isinstance(pattern, nodes.ArrayPattern):
            for at, item in enumerate(pattern.items):
                key = compiler.compile(nodes.Constant(at), self.scope)
                parts.append((key.many, self._match(compiler, item)))
            return _matching(parts, int)
        assert isinstance(pattern, nodes.ObjectPattern)
        for variable, name, below in pattern.entries:
            key = compiler.compile(name, self.scope)
            if variable is not None:
                inner = self._match(compiler, nodes.VariablePattern(variable))
                parts.append((key.many, inner))
            if below is not None:
                parts.append((key.many, self._match(compiler, below)))
        return _matching(parts, str)


def _matching(parts: list[tuple[Many, Match]], kind: type) -> Match:
    """Return what takes a container apart: by keys of one type, a pattern for each."""

    def take(
        at: int, bound: Value, value: Value, environment: Environment
    ) -> Iterator[Environment]:
        if at == len(parts):
            yield environment
            return
        keys, match = parts[at]
        for key in keys(value, environment):
            if type(key) is not kind:
                raise JqError(f"Cannot index {KINDS[type(bound)]} with {KINDS[type(key)]}")
            for inner in match(get(bound, key), value, environment):
                yield from take(at + 1, bound, value, inner)

    return lambda bound, value, environment: take(0, bound, value, environment)
