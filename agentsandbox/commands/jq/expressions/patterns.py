"""Destructuring: `. as [$a, {b: $c}] ?// $d | body`."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.operations import describe
from agentsandbox.commands.jq.paths import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Code, Environment
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.nodes import Pattern
    from agentsandbox.commands.jq.scopes import Scope


def _names(patterns: list[Pattern]) -> list[str]:
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


def _extractor(
    pattern: Pattern, places: dict[str, int]
) -> Callable[[Value, list[Value]], None] | None:
    """What puts the parts of a value in their places; None where a key is to be computed."""
    if isinstance(pattern, nodes.VariablePattern):
        place = places[pattern.name]
        return lambda bound, found: found.__setitem__(place, bound)
    parts: list[tuple[Value, Callable[[Value, list[Value]], None]]] = []
    if isinstance(pattern, nodes.ArrayPattern):
        for at, item in enumerate(pattern.items):
            inner = _extractor(item, places)
            if inner is None:
                return None
            parts.append((at, inner))
    elif isinstance(pattern, nodes.ObjectPattern):
        for variable, key, below in pattern.entries:
            if not (isinstance(key, nodes.Constant) and isinstance(key.value, str)):
                return None
            for part in ([] if variable is None else [nodes.VariablePattern(variable)]) + (
                [] if below is None else [below]
            ):
                inner = _extractor(part, places)
                if inner is None:
                    return None
                parts.append((key.value, inner))

    def extract(bound: Value, found: list[Value]) -> None:
        for key, put in parts:
            put(get(bound, key), found)

    return extract


class Binder:
    """The patterns of one binding. Each variable of any of them is a place in the environment, null
    until bound.
    """

    def __init__(self, compiler: Compiler, patterns: list[Pattern], scope: Scope) -> None:
        self.patterns = patterns
        self.simple = len(patterns) == 1 and isinstance(patterns[0], nodes.VariablePattern)
        self.base = scope.size
        self.places: dict[str, int] = {}
        for name in _names(patterns):
            self.places[name] = scope.size
            scope = scope.variable(name)
        self.scope = scope
        self._extract = _extractor(patterns[0], self.places) if len(patterns) == 1 else None
        self._keys: dict[int, Code] = {}
        self._compile_keys(compiler, patterns)

    def _compile_keys(self, compiler: Compiler, patterns: list[Pattern]) -> None:
        pending = list(patterns)
        while pending:
            pattern = pending.pop()
            if isinstance(pattern, nodes.ArrayPattern):
                pending.extend(pattern.items)
            elif isinstance(pattern, nodes.ObjectPattern):
                for _variable, key, inner in pattern.entries:
                    self._keys[id(key)] = compiler.compile(key, self.scope)
                    if inner is not None:
                        pending.append(inner)

    def environments(
        self, bound: Value, value: Value, environment: Environment
    ) -> Iterable[Environment]:
        """The environments that a value makes; the keys of patterns may have several outputs."""
        if self.simple:
            return ((*environment, bound),)
        if self._extract is not None:
            return (self._extracted(bound, environment),)
        return self.run(bound, value, environment, lambda inner: (inner,))

    def run(
        self,
        bound: Value,
        value: Value,
        environment: Environment,
        body: Callable[[Environment], Iterable[Any]],
    ) -> Iterator[Any]:
        """All outputs of `body` in the environments that the first fitting pattern makes."""
        if self.simple:
            yield from body((*environment, bound))
            return
        if self._extract is not None:
            yield from body(self._extracted(bound, environment))
            return
        blank = (*environment, *[None] * len(self.places))
        for pattern in self.patterns[:-1]:
            try:
                for inner in self._match(pattern, bound, value, blank):
                    yield from body(inner)
                return
            except JqError:
                continue
        for inner in self._match(self.patterns[-1], bound, value, blank):
            yield from body(inner)

    def _extracted(self, bound: Value, environment: Environment) -> Environment:
        """The environment that a pattern makes whose keys are all constants."""
        assert self._extract is not None
        found: list[Value] = [*environment, *[None] * len(self.places)]
        self._extract(bound, found)
        return tuple(found)

    def _bind(self, name: str, bound: Value, environment: Environment) -> Environment:
        place = self.places[name]
        return (*environment[:place], bound, *environment[place + 1 :])

    def _match(
        self, pattern: Pattern, bound: Value, value: Value, environment: Environment
    ) -> Iterator[Environment]:
        if isinstance(pattern, nodes.VariablePattern):
            yield self._bind(pattern.name, bound, environment)
        elif isinstance(pattern, nodes.ArrayPattern):
            if bound is not None and not isinstance(bound, list):
                get(bound, 0)
            yield from self._match_items(pattern.items, 0, bound, value, environment)
        elif isinstance(pattern, nodes.ObjectPattern):
            yield from self._match_entries(pattern.entries, 0, bound, value, environment)

    def _match_items(
        self, items: list[Pattern], at: int, bound: Value, value: Value, environment: Environment
    ) -> Iterator[Environment]:
        if at == len(items):
            yield environment
            return
        for inner in self._match(items[at], get(bound, at), value, environment):
            yield from self._match_items(items, at + 1, bound, value, inner)

    def _match_entries(
        self,
        entries: list[tuple[str | None, nodes.Node, Pattern | None]],
        at: int,
        bound: Value,
        value: Value,
        environment: Environment,
    ) -> Iterator[Environment]:
        if at == len(entries):
            yield environment
            return
        variable, key, pattern = entries[at]
        for name in self._keys[id(key)].many(value, environment):
            if not isinstance(name, str):
                raise JqError(f"Cannot index {_kind(bound)} with {_kind(name)}")
            item = get(bound, name)
            inner = self._bind(variable, item, environment) if variable is not None else environment
            matches = (
                self._match(pattern, item, value, inner) if pattern is not None else iter((inner,))
            )
            for matched in matches:
                yield from self._match_entries(entries, at + 1, bound, value, matched)


def _kind(value: Value) -> str:
    return describe(value).partition(" ")[0]
