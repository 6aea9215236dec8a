"""From the syntax tree to Python closures.

Every expression becomes a `Code`. `one` gives its single output (or `EMPTY`) and exists where there is never more than
one; `many` gives all outputs lazily; `paths` gives (path, value) pairs for `path(...)` and assignments, a path being a
tuple of keys, or None where the value did not come from the input. An environment is a tuple of the variables and
closures in scope: it never changes, so an expression that is suspended in the middle cannot be disturbed.
"""

from __future__ import annotations

import operator

from agentsandbox.languages.jq import nodes, values
from agentsandbox.languages.jq.lexer import JqSyntaxError
from agentsandbox.languages.jq.machine import Break
from agentsandbox.languages.jq.paths import delete_paths, get, get_path, occurrences, put_path, put_path_owned, slice_of
from agentsandbox.languages.jq.values import EXACT, JqError, Literal, describe, number, truncated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.languages.jq.machine import Machine
    from agentsandbox.languages.jq.nodes import Node
    from agentsandbox.languages.jq.updates import Change
    from agentsandbox.languages.jq.values import Value

    Environment: TypeAlias = tuple[Any, ...]
    One: TypeAlias = Callable[[Value, Environment], Value]
    Many: TypeAlias = Callable[[Value, Environment], Iterable[Value]]
    Path: TypeAlias = tuple[Value, ...] | None
    Paths: TypeAlias = Callable[[Path, Value, Environment], Iterable[tuple[Path, Value]]]

__all__ = ["EMPTY", "Code", "Compiler", "Scope", "invalid_path"]


class _Empty:
    """No output."""

    __slots__ = ()


EMPTY = _Empty()


class _Tail:
    """The last output of a function's body is whatever the function gives for this: a call in tail position."""

    __slots__ = ("environment", "value")

    def __init__(self, value: Value, environment: Environment) -> None:
        self.value = value
        self.environment = environment


def invalid_path(value: Value) -> JqError:
    """The error for a path that ends in a value that is not part of the input."""
    return JqError(f"Invalid path expression with result {truncated(value, 26)}")


class Code:
    """A compiled expression."""

    __slots__ = ("_make_paths", "_paths", "many", "one", "total")

    def __init__(
        self,
        one: One | None = None,
        many: Many | None = None,
        *,
        total: bool = True,
        paths: Callable[[], Paths] | None = None,
    ) -> None:
        self.one = one
        self.total = total
        """Whether `one` always has an output."""
        self._make_paths = paths
        self._paths: Paths | None = None
        if many is not None:
            self.many = many
        elif one is not None:
            self.many = _many_of(one, total)

    @property
    def paths(self) -> Paths:
        """Made when first needed: most programs never assign."""
        if self._paths is None:
            self._paths = self._make_paths() if self._make_paths is not None else self._value_paths
        return self._paths

    def _value_paths(self, path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for result in self.many(value, environment):
            yield (path if result is value else None), result


def _many_of(one: One, total: bool) -> Many:
    if total:
        return lambda value, environment: (one(value, environment),)

    def many(value: Value, environment: Environment) -> Iterable[Value]:
        result = one(value, environment)
        return () if result is EMPTY else (result,)

    return many


class _Function:
    """A function of the program: how many variables are in scope where it is defined, and its body."""

    __slots__ = ("body", "compiling", "depth", "grows", "level", "parameters", "single", "tail_called")

    def __init__(self, depth: int, parameters: list[nodes.Parameter]) -> None:
        self.depth = depth
        self.parameters = parameters
        self.body = Code(many=lambda value, environment: ())
        self.compiling = False
        self.single = False
        self.tail_called = False
        self.level: Level | None = None
        self.grows = False
        """Whether a tail call makes a closure over the one before, so that going round the loop uses memory."""


class Scope:
    """Names visible at one place of the program; `size` is the length of the environment there."""

    __slots__ = ("entry", "name", "parent", "size")

    def __init__(self, size: int = 0, parent: Scope | None = None, name: str = "", entry: object = None) -> None:
        self.size = size
        self.parent = parent
        self.name = name
        self.entry = entry

    def variable(self, name: str) -> Scope:
        """A scope with one variable more."""
        return Scope(self.size + 1, self, "$" + name, self.size)

    def closure(self, name: str) -> Scope:
        """A scope with one closure parameter more."""
        return Scope(self.size + 1, self, name + "/0", self.size)

    def define(self, name: str, entry: object) -> Scope:
        """A scope with one function, alias or constant more; the environment stays as it is."""
        return Scope(self.size, self, name, entry)

    def find(self, name: str) -> object:
        """What a name stands for, None if it is not visible."""
        scope: Scope | None = self
        while scope is not None:
            if scope.name == name:
                return scope.entry
            scope = scope.parent
        return None


class _Alias:
    """A function without parameters that gives a variable: `def f($a): a`."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class Constant:
    """A variable whose value is known: --arg, $ENV, imported data."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


def _mentions(body: Node, name: str, arity: int) -> bool:
    pending = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.Call) and node.name == name and len(node.arguments) == arity:
            return True
        pending.extend(node.children())
    return False


_CLOSURE = 3
"""Frames of a closure's call."""


def _height(body: Node) -> int:
    """Python frames that one call of a body takes at most: how deeply its expressions nest, and the call itself."""
    deepest = 0
    pending = [(body, 3)]
    while pending:
        node, height = pending.pop()
        deepest = max(deepest, height)
        pending.extend((child, height + 1) for child in node.children())
    return deepest


class Level:
    """The names that nothing has in one function, and the functions in it: those of a function hide those further inside."""

    __slots__ = ("inside", "is_used", "outer", "reports")

    def __init__(self, outer: Level | None, *, is_used: bool = True) -> None:
        self.outer = outer
        self.is_used = is_used
        self.reports: list[tuple[str, int, int]] = []
        self.inside: list[Level] = []
        if outer is not None:
            outer.inside.append(self)

    def use(self, caller: Level) -> None:
        """Note that it is called, unless it calls itself."""
        level: Level | None = caller
        while level is not None:
            if level is self:
                return
            level = level.outer
        self.is_used = True

    def found(self) -> list[tuple[str, int, int]]:
        """What is reported: its own, or else those of the functions inside that are used."""
        if self.reports:
            return self.reports
        return list(dict.fromkeys(report for level in self.inside if level.is_used for report in level.found()))


_BY_VALUE = frozenset((
    "startswith/1", "endswith/1", "split/1", "setpath/2", "getpath/1", "delpaths/1", "has/1", "contains/1", "bsearch/1", "format/1",
    "halt_error/1", "strptime/1", "strftime/1", "strflocaltime/1", "path/1", "range/2", "atan2/2", "hypot/2", "pow/2", "remainder/2",
    "copysign/2", "drem/2", "fdim/2", "fma/3", "fmax/2", "fmin/2", "fmod/2", "nextafter/2", "nexttoward/2", "scalb/2", "scalbln/2",
    "ldexp/2",
))  # fmt: skip
"""Their arguments belong to the function that calls them; those of all others are functions of their own."""


class Compiler:
    """Compiles the expressions of one program for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.budget = machine.budget
        self._optimistic = False
        self._builtins: dict[str, _Function] = {}
        self._depth = 0
        self._level = Level(None)
        self.in_module = False

    def compile(self, node: Node, scope: Scope, tail: _Function | None = None) -> Code:
        """The code of an expression; `tail` is the function whose result this expression's output directly is."""
        return _COMPILERS[type(node)](self, node, scope, tail)

    def undefined(self, message: str, position: int, length: int) -> Code:
        """Note a name that nothing has; in the program itself it is reported with the others, by `check`."""
        error = JqSyntaxError(message, position, length)
        if self.in_module:
            raise error
        if error.reports[0] not in self._level.reports:
            self._level.reports += error.reports
        return Code(lambda value, environment: EMPTY, total=False, paths=lambda: lambda path, value, environment: ())

    def check(self) -> None:
        """Raise `JqSyntaxError` for all the names that nothing has."""
        reports = self._level.found()
        if reports:
            error = JqSyntaxError(*reports[0])
            error.reports = reports
            raise error

    def inner(self, node: Node, scope: Scope) -> Code:
        """The code of an argument that is a function of its own."""
        outer = self._level
        self._level = Level(outer)
        code = self.compile(node, scope)
        self._level = outer
        return code

    # the simplest

    def identity(self, node: nodes.Identity, scope: Scope, tail: _Function | None) -> Code:
        return Code(lambda value, environment: value, paths=lambda: lambda path, value, environment: ((path, value),))

    def constant(self, node: nodes.Constant, scope: Scope, tail: _Function | None) -> Code:
        result = node.value
        return Code(lambda value, environment: result)

    def variable(self, node: nodes.Variable, scope: Scope, tail: _Function | None) -> Code:
        found = scope.find("$" + node.name)
        if found is None:
            if node.name == "ENV":
                found = Constant(dict(self.machine.environment))
            elif node.name in self.machine.named:
                found = Constant(self.machine.named[node.name])
            else:
                return self.undefined(f"${node.name} is not defined", node.position, len(node.name) + 1)
        if isinstance(found, Constant):
            result = found.value
            return Code(lambda value, environment: result)
        assert isinstance(found, int)
        index = found
        return Code(lambda value, environment: environment[index])

    def text(self, node: nodes.Text, scope: Scope, tail: _Function | None) -> Code:
        from agentsandbox.languages.jq.formats import find_format

        escape = find_format(node.format or "text")
        charge = self.machine.charge_text
        codes = [part if isinstance(part, str) else self.compile(part, scope) for part in node.parts]
        if all(isinstance(code, str) or (code.one is not None and code.total) for code in codes):
            pieces: list[str | One] = [code if isinstance(code, str) else code.one for code in codes]  # type: ignore[misc]

            def interpolate(value: Value, environment: Environment) -> Value:
                # the last interpolation is evaluated first, as jq's code does
                made = [piece if isinstance(piece, str) else escape(piece(value, environment)) for piece in reversed(pieces)]
                made.reverse()
                if len(made) > 1:
                    charge(sum(map(len, made)))
                return "".join(made)

            return Code(interpolate)

        def spread(at: int, value: Value, environment: Environment, after: str) -> Iterator[Value]:
            if at < 0:
                yield after
                return
            code = codes[at]
            if isinstance(code, str):
                yield from spread(at - 1, value, environment, code + after)
                return
            for result in code.many(value, environment):
                made = escape(result)
                charge(len(made) + len(after))
                yield from spread(at - 1, value, environment, made + after)

        return Code(many=lambda value, environment: spread(len(codes) - 1, value, environment, ""))

    def format(self, node: nodes.Format, scope: Scope, tail: _Function | None) -> Code:
        from agentsandbox.languages.jq.formats import find_format

        name = node.name
        return Code(lambda value, environment: find_format(name)(value))

    # indexing

    def index(self, node: nodes.Index, scope: Scope, tail: _Function | None) -> Code:
        target = self.compile(node.target, scope)
        if isinstance(node.key, nodes.Constant) and isinstance(node.key.value, str):
            return self._field(target, node.key.value, isinstance(node.target, nodes.Identity))
        if isinstance(node.key, nodes.Constant) and type(node.key.value) is int and node.key.value >= 0:
            return self._item(target, node.key.value)
        key = self.compile(node.key, scope)
        budget = self.budget

        def look(found: Value, at: Value) -> Value:
            if type(at) is str and type(found) is dict:
                return found.get(at)
            return occurrences(found, at, budget) if type(at) is list and type(found) is list else get(found, at)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for at in key.many(value, environment):
                    for base, found in target.paths(path, value, environment):
                        if base is None:
                            raise _not_a_path(at, found)
                        yield (*base, at), look(found, at)

            return run

        first, second = target.one, key.one
        if first is not None and second is not None and target.total and key.total:
            return Code(lambda value, environment: look(first(value, environment), second(value, environment)), paths=paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for at in key.many(value, environment):
                for found in target.many(value, environment):
                    yield look(found, at)

        return Code(many=many, paths=paths)

    def _item(self, target: Code, at: int) -> Code:
        """`target[at]` for a constant index."""

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for base, found in target.paths(path, value, environment):
                    if base is None:
                        raise _not_a_path(at, found)
                    yield (*base, at), get(found, at)

            return run

        inner = target.one
        if inner is not None and target.total:

            def one(value: Value, environment: Environment) -> Value:
                found = inner(value, environment)
                return found[at] if type(found) is list and len(found) > at else get(found, at)

            return Code(one, paths=paths)
        return Code(many=lambda value, environment: (get(found, at) for found in target.many(value, environment)), paths=paths)

    def _field(self, target: Code, name: str, direct: bool) -> Code:
        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for base, found in target.paths(path, value, environment):
                    if base is None:
                        raise _not_a_path(name, found)
                    yield (*base, name), get(found, name)

            return run

        if direct:
            return Code(lambda value, environment: value.get(name) if type(value) is dict else get(value, name), paths=paths)
        inner = target.one
        if inner is None:
            return Code(many=lambda value, environment: (get(found, name) for found in target.many(value, environment)), paths=paths)
        if target.total:

            def one(value: Value, environment: Environment) -> Value:
                found = inner(value, environment)
                return found.get(name) if type(found) is dict else get(found, name)

            return Code(one, paths=paths)

        def maybe(value: Value, environment: Environment) -> Value:
            found = inner(value, environment)
            return EMPTY if found is EMPTY else get(found, name)

        return Code(maybe, total=False, paths=paths)

    def slice(self, node: nodes.Slice, scope: Scope, tail: _Function | None) -> Code:
        target = self.compile(node.target, scope)
        nothing = nodes.Constant(None)
        start = self.compile(node.start or nothing, scope)
        end = self.compile(node.end or nothing, scope)

        machine = self.machine

        def cut(found: Value, first: Value, last: Value) -> Value:
            part = slice_of(found, first, last)
            if part is not None:
                machine.hold(len(part) >> (1 if type(part) is list else 4))
            return part

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for first in start.many(value, environment):
                for last in end.many(value, environment):
                    for found in target.many(value, environment):
                        yield cut(found, first, last)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for first in start.many(value, environment):
                    for last in end.many(value, environment):
                        key = {"start": first, "end": last}
                        for base, found in target.paths(path, value, environment):
                            if base is None:
                                raise _not_a_path(key, found)
                            yield (*base, key), cut(found, first, last)

            return run

        source, low, high = target.one, start.one, end.one
        if source and low and high and target.total and start.total and end.total:
            return Code(
                lambda value, environment: cut(source(value, environment), low(value, environment), high(value, environment)),
                paths=paths,
            )
        return Code(many=many, paths=paths)

    def iterate(self, node: nodes.Iterate, scope: Scope, tail: _Function | None) -> Code:
        target = self.compile(node.body, scope)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for base, found in target.paths(path, value, environment):
                    if base is None:
                        raise JqError(f"Invalid path expression near attempt to iterate through {truncated(found, 26)}")
                    if type(found) is dict:
                        for name, item in found.items():
                            yield (*base, name), item
                    else:
                        for at, item in enumerate(members(found)):
                            yield (*base, at), item

            return run

        inner = target.one
        if inner is not None and target.total:
            return Code(many=lambda value, environment: members(inner(value, environment)), paths=paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for found in target.many(value, environment):
                yield from members(found)

        return Code(many=many, paths=paths)

    # combining

    def pipe(self, node: nodes.Pipe, scope: Scope, tail: _Function | None) -> Code:
        left = self.compile(node.left, scope)
        right = self.compile(node.right, scope, tail if left.one is not None else None)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for base, found in left.paths(path, value, environment):
                    yield from right.paths(base, found, environment)

            return run

        return self.piped(left, right, paths)

    def piped(self, left: Code, right: Code, paths: Callable[[], Paths]) -> Code:
        """`left | right`, by the number of outputs that each may have."""
        first, second = left.one, right.one
        if first is not None:
            if left.total and second is not None:
                return Code(lambda value, environment: second(first(value, environment), environment), total=right.total, paths=paths)
            if second is not None:

                def maybe(value: Value, environment: Environment) -> Value:
                    found = first(value, environment)
                    return EMPTY if found is EMPTY else second(found, environment)

                return Code(maybe, total=False, paths=paths)

            def spread(value: Value, environment: Environment) -> Iterable[Value]:
                found = first(value, environment)
                return () if found is EMPTY else right.many(found, environment)

            return Code(many=spread, paths=paths)
        budget, source, sink = self.budget, left.many, right.many
        if second is not None:

            def each(value: Value, environment: Environment) -> Iterator[Value]:
                for found in source(value, environment):
                    budget.left -= 1
                    if budget.left < 0:
                        budget.tick()
                    result = second(found, environment)
                    if result is not EMPTY:
                        yield result

            return Code(many=each, paths=paths)

        def every(value: Value, environment: Environment) -> Iterator[Value]:
            for found in source(value, environment):
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                yield from sink(found, environment)

        return Code(many=every, paths=paths)

    def comma(self, node: nodes.Comma, scope: Scope, tail: _Function | None) -> Code:
        parts: list[Code] = []
        here: Node = node
        pending: list[Node] = []
        while isinstance(here, nodes.Comma):
            pending.append(here.right)
            here = here.left
        pending.append(here)
        for at, part in enumerate(reversed(pending)):
            parts.append(self.compile(part, scope, tail if at == len(pending) - 1 else None))

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for part in parts:
                yield from part.many(value, environment)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for part in parts:
                    yield from part.paths(path, value, environment)

            return run

        return Code(many=many, paths=paths)

    def array(self, node: nodes.ArrayOf, scope: Scope, tail: _Function | None) -> Code:
        if node.body is None:
            return Code(lambda value, environment: [])
        return self.collected(self.compile(node.body, scope))

    def collected(self, body: Code) -> Code:
        """The array of all outputs."""
        inner = body.one
        if inner is not None:

            def single(value: Value, environment: Environment) -> Value:
                result = inner(value, environment)
                return [] if result is EMPTY else [result]

            return Code(single)
        machine, many = self.machine, body.many

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

    def object(self, node: nodes.ObjectOf, scope: Scope, tail: _Function | None) -> Code:
        machine = self.machine
        entries = [(self.compile(key, scope), self.compile(value, scope)) for key, value in node.entries]
        names = [key.value if isinstance(key, nodes.Constant) else None for key, _value in node.entries]
        singles = [value.one for _key, value in entries if value.one is not None and value.total]
        if len(singles) == len(entries) and all(isinstance(name, str) for name in names):
            pairs = list(zip(names, singles, strict=True))

            def build(value: Value, environment: Environment) -> Value:
                machine.made += 14
                return {name: one(value, environment) for name, one in pairs}

            return Code(build)

        def spread(at: int, value: Value, environment: Environment, made: dict[str, Value]) -> Iterator[Value]:
            if at == len(entries):
                yield made
                return
            key, item = entries[at]
            for name in key.many(value, environment):
                if not isinstance(name, str):
                    raise JqError(f"Cannot use {describe(name)} as object key")
                for result in item.many(value, environment):
                    machine.made += 14
                    yield from spread(at + 1, value, environment, {**made, name: result})

        if all(code.one is not None and code.total for entry in entries for code in entry):

            def one(value: Value, environment: Environment) -> Value:
                for result in spread(0, value, environment, {}):
                    return result
                return EMPTY

            return Code(one)
        return Code(many=lambda value, environment: spread(0, value, environment, {}))

    # operators

    def negate(self, node: nodes.Negate, scope: Scope, tail: _Function | None) -> Code:
        return self.mapped(self.compile(node.body, scope), _negated)

    def mapped(self, body: Code, function: Callable[[Value], Value]) -> Code:
        """A function of one value applied to each output."""
        inner = body.one
        if inner is None:
            return Code(many=lambda value, environment: (function(result) for result in body.many(value, environment)))
        if body.total:
            return Code(lambda value, environment: function(inner(value, environment)))

        def maybe(value: Value, environment: Environment) -> Value:
            result = inner(value, environment)
            return EMPTY if result is EMPTY else function(result)

        return Code(maybe, total=False)

    def binary(self, node: nodes.Binary, scope: Scope, tail: _Function | None) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        first = left.one
        if node.operator in ("==", "!=") and isinstance(node.right, nodes.Constant) and type(node.right.value) is str:
            wanted, same = node.right.value, node.operator == "=="
            if first is not None and left.total:
                return Code(lambda value, environment: (first(value, environment) == wanted) is same)
        if isinstance(node.right, nodes.Constant) and type(node.right.value) is int and first is not None and left.total:
            return self._compared(node.operator, first, node.right.value)
        return self.operation(_operator(node.operator, self), left, right)

    def _compared(self, sign: str, left: One, right: int) -> Code:
        """An operator with a constant on its right."""
        function = _operator(sign, self)
        quick = _ON_NUMBERS.get(sign) if -EXACT < right < EXACT else None
        if quick is None:
            compute = _ON_SMALL.get(sign) if -_SMALL < right < _SMALL else None
            if compute is None:
                return Code(lambda value, environment: function(left(value, environment), right))

            def result(value: Value, environment: Environment) -> Value:
                found = left(value, environment)
                if type(found) is int and -_SMALL < found < _SMALL:
                    return compute(found, right)
                return function(found, right)

            return Code(result)

        def one(value: Value, environment: Environment) -> Value:
            found = left(value, environment)
            kind = type(found)
            if kind is int or (kind is float and found == found):
                return quick(found, right)
            return function(found, right)

        return Code(one)

    def operation(self, function: Callable[[Value, Value], Value], left: Code, right: Code) -> Code:
        """A function of two values; the right side is the outer loop, as in jq."""
        first, second = left.one, right.one
        if first is not None and second is not None and left.total and right.total:

            def one(value: Value, environment: Environment) -> Value:
                operand = second(value, environment)
                return function(first(value, environment), operand)

            return Code(one)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for operand in right.many(value, environment):
                for base in left.many(value, environment):
                    yield function(base, operand)

        return Code(many=many)

    def logical(self, node: nodes.Logical, scope: Scope, tail: _Function | None) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        decides = node.operator == "or"
        first, second = left.one, right.one
        if first is not None and second is not None and left.total and right.total:

            def one(value: Value, environment: Environment) -> Value:
                base = first(value, environment)
                if (base is not None and base is not False) == decides:
                    return decides
                other = second(value, environment)
                return other is not None and other is not False

            return Code(one)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for base in left.many(value, environment):
                if (base is not None and base is not False) == decides:
                    yield decides
                    continue
                for other in right.many(value, environment):
                    yield other is not None and other is not False

        return Code(many=many)

    def alternative(self, node: nodes.Alternative, scope: Scope, tail: _Function | None) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                found = False
                for base, result in left.paths(path, value, environment):
                    if result is not None and result is not False:
                        found = True
                        yield base, result
                if not found:
                    yield from right.paths(path, value, environment)

            return run

        first, second = left.one, right.one
        if first is not None and second is not None:

            def one(value: Value, environment: Environment) -> Value:
                result = first(value, environment)
                if result is None or result is False or result is EMPTY:
                    return second(value, environment)
                return result

            return Code(one, total=right.total, paths=paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            found = False
            for result in left.many(value, environment):
                if result is not None and result is not False:
                    found = True
                    yield result
            if not found:
                yield from right.many(value, environment)

        return Code(many=many, paths=paths)

    # flow

    def condition(self, node: nodes.If, scope: Scope, tail: _Function | None) -> Code:
        test = self.compile(node.condition, scope)
        direct = tail if test.one is not None else None
        yes, no = self.compile(node.consequence, scope, direct), self.compile(node.alternative, scope, direct)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for answer in test.many(value, environment):
                    branch = no if answer is None or answer is False else yes
                    yield from branch.paths(path, value, environment)

            return run

        decide, consequence, alternative = test.one, yes.one, no.one
        if decide is not None and test.total:
            if consequence is not None and alternative is not None:

                def one(value: Value, environment: Environment) -> Value:
                    answer = decide(value, environment)
                    if answer is None or answer is False:
                        return alternative(value, environment)
                    return consequence(value, environment)

                return Code(one, total=yes.total and no.total, paths=paths)

            def choose(value: Value, environment: Environment) -> Iterable[Value]:
                answer = decide(value, environment)
                return (no if answer is None or answer is False else yes).many(value, environment)

            return Code(many=choose, paths=paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for answer in test.many(value, environment):
                yield from (no if answer is None or answer is False else yes).many(value, environment)

        return Code(many=many, paths=paths)

    def attempt(self, node: nodes.Try, scope: Scope, tail: _Function | None) -> Code:
        body = self.compile(node.body, scope)
        handler = self.compile(node.handler, scope) if node.handler is not None else None

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                try:
                    yield from _guarded(body.paths(path, value, environment))
                except _CaughtError as caught:
                    error = caught.error
                else:
                    return
                if handler is not None:
                    yield from handler.paths(None, error.value, environment)

            return run

        inner = body.one
        recover = handler.one if handler is not None else _nothing
        if inner is not None and recover is not None:

            def one(value: Value, environment: Environment) -> Value:
                try:
                    return inner(value, environment)
                except JqError as error:
                    message = error.value
                return recover(message, environment)

            return Code(one, total=body.total and handler is not None and handler.total, paths=paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            try:
                yield from _guarded_call(body.many, value, environment)
                return
            except _CaughtError as caught:
                error = caught.error
            if handler is not None:
                yield from handler.many(error.value, environment)

        return Code(many=many, paths=paths)

    def label(self, node: nodes.Label, scope: Scope, tail: _Function | None) -> Code:
        inner = scope.define("*" + node.name, scope.size)
        body = self.compile(node.body, Scope(inner.size + 1, inner))

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            token = object()
            try:
                yield from body.many(value, (*environment, token))
            except Break as leaving:
                if leaving.token is not token:
                    raise

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                token = object()
                try:
                    yield from body.paths(path, value, (*environment, token))
                except Break as leaving:
                    if leaving.token is not token:
                        raise

            return run

        return Code(many=many, paths=paths)

    def leave(self, node: nodes.Break, scope: Scope, tail: _Function | None) -> Code:
        index = scope.find("*" + node.name)
        if not isinstance(index, int):
            return self.undefined(f"$*label-{node.name} is not defined", node.position, len("break $") + len(node.name))
        at = index

        def one(value: Value, environment: Environment) -> Value:
            raise Break(environment[at])

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterable[tuple[Path, Value]]:
                raise Break(environment[at])

            return run

        return Code(one, total=False, paths=paths)

    # binding

    def bind(self, node: nodes.Bind, scope: Scope, tail: _Function | None) -> Code:
        from agentsandbox.languages.jq.patterns import Binder

        source = self.compile(node.source, scope)
        binder = Binder(self, node.patterns, scope)
        simple = binder.simple and source.one is not None
        body = self.compile(node.body, binder.scope, tail if simple else None)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for bound in source.many(value, environment):
                    yield from binder.run(bound, value, environment, lambda inner: body.paths(path, value, inner))

            return run

        get_source, get_body = source.one, body.one
        if simple and get_source is not None:
            if get_body is not None and source.total:
                return Code(
                    lambda value, environment: get_body(value, (*environment, get_source(value, environment))),
                    total=body.total,
                    paths=paths,
                )

            def direct(value: Value, environment: Environment) -> Iterable[Value]:
                bound = get_source(value, environment)
                return () if bound is EMPTY else body.many(value, (*environment, bound))

            return Code(many=direct, paths=paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for bound in source.many(value, environment):
                yield from binder.run(bound, value, environment, lambda inner: body.many(value, inner))

        return Code(many=many, paths=paths)

    def reduce(self, node: nodes.Reduce, scope: Scope, tail: _Function | None) -> Code:
        from agentsandbox.languages.jq.patterns import Binder
        from agentsandbox.languages.jq.updates import step_of

        start = self.compile(node.start, scope)
        source = self.compile(node.source, scope)
        binder = Binder(self, node.patterns, scope)
        update = self.compile(node.update, binder.scope)
        machine, budget = self.machine, self.budget
        step = step_of(node.update, self, binder.scope) if binder.simple else None

        def fold_in_place(state: Value, value: Value, environment: Environment) -> Value:
            assert step is not None
            roots, place = machine.roots, len(machine.roots)
            roots.append((state, value, environment))
            owned: dict[int, Value] = {}
            try:
                for bound in source.many(value, environment):
                    budget.left -= 1
                    if budget.left < 0:
                        budget.tick()
                    inner = (*environment, bound)
                    state = step(state, inner, owned)
                    roots[place] = (state, inner)
                return state
            finally:
                del roots[place:]

        def fold(state: Value, value: Value, environment: Environment) -> Value:
            if step is not None:
                return fold_in_place(state, value, environment)
            roots, place = machine.roots, len(machine.roots)
            roots.append((state, value, environment))
            try:
                for bound in source.many(value, environment):
                    budget.left -= 1
                    if budget.left < 0:
                        budget.tick()
                    for inner in binder.environments(bound, value, environment):
                        after: Value = None
                        for after in update.many(state, inner):  # noqa: B007  # the last output is the next state
                            pass
                        state = after
                        roots[place] = (state, inner)
                return state
            finally:
                del roots[place:]

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for state in start.paths(path, value, environment):
                    for bound in source.many(value, environment):
                        budget.step()
                        for inner in binder.environments(bound, value, environment):
                            after: tuple[Path, Value] = (None, None)
                            for after in update.paths(state[0], state[1], inner):  # noqa: B007
                                pass
                            state = after
                    yield state

            return run

        begin = start.one
        if begin is not None and start.total:
            return Code(lambda value, environment: fold(begin(value, environment), value, environment), paths=paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for state in start.many(value, environment):
                yield fold(state, value, environment)

        return Code(many=many, paths=paths)

    def foreach(self, node: nodes.Foreach, scope: Scope, tail: _Function | None) -> Code:
        from agentsandbox.languages.jq.patterns import Binder

        start = self.compile(node.start, scope)
        source = self.compile(node.source, scope)
        binder = Binder(self, node.patterns, scope)
        update = self.compile(node.update, binder.scope)
        extract = self.compile(node.extract or nodes.Identity(), binder.scope)
        budget = self.budget

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for state in start.many(value, environment):
                for bound in source.many(value, environment):
                    budget.step()
                    for inner in binder.environments(bound, value, environment):
                        for state in update.many(state, inner):  # noqa: B020  # each output is the next state
                            yield from extract.many(state, inner)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for state in start.paths(path, value, environment):
                    for bound in source.many(value, environment):
                        budget.step()
                        for inner in binder.environments(bound, value, environment):
                            for state in update.paths(state[0], state[1], inner):  # noqa: B020
                                yield from extract.paths(state[0], state[1], inner)

            return run

        return Code(many=many, paths=paths)

    # functions

    def define(self, node: nodes.Define, scope: Scope, tail: _Function | None) -> Code:
        return self.compile(node.rest, self.definition(node.definition, scope), tail)

    def definition(self, definition: nodes.Definition, scope: Scope) -> Scope:
        """The scope in which the function can be called."""
        name = f"{definition.name}/{len(definition.parameters)}"
        function = _Function(scope.size, definition.parameters)
        outside = scope.define(name, function)
        inside = outside
        for parameter in definition.parameters:
            if parameter.is_value:
                inside = inside.variable(parameter.name).define(parameter.name + "/0", _Alias(inside.size))
            else:
                inside = inside.closure(parameter.name)
        recursive = _mentions(definition.body, definition.name, len(definition.parameters))
        outer = self._level
        self._level = function.level = Level(outer, is_used=False)
        try:
            self._define(function, definition, inside, recursive=recursive)
        finally:
            self._level = outer
        return outside

    def _define(self, function: _Function, definition: nodes.Definition, inside: Scope, *, recursive: bool) -> None:
        if not recursive:
            function.body = self.compile(definition.body, inside)
            return
        hopeful = not self._optimistic
        function.compiling = True
        function.single = hopeful
        self._optimistic = True
        body = self.compile(definition.body, inside, function)
        if hopeful and body.one is None:
            function.single = False
            function.tail_called = False
            body = self.compile(definition.body, inside, function)
        self._optimistic = not hopeful
        function.compiling = False
        function.body = self._guarded(self._looping(function, body) if function.tail_called else body, _height(definition.body))

    def _guarded(self, body: Code, height: int) -> Code:
        """The body of a recursive function: nested too deeply, it would overflow the stack of the host's thread."""
        machine = self.machine

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            return machine.nested(body.many(value, environment), height, value, environment)

        def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
            return machine.nested(body.paths(path, value, environment), height)

        inner = body.one
        if inner is None:
            return Code(many=many, paths=lambda: paths)

        def one(value: Value, environment: Environment) -> Value:
            machine.deeper(height)
            roots = machine.roots
            place = len(roots)
            roots.append((value, environment))
            try:
                return inner(value, environment)
            finally:
                del roots[place:]
                machine.frames -= height

        return Code(one, total=body.total, paths=lambda: paths)

    def _looping(self, function: _Function, body: Code) -> Code:
        """A body whose tail calls go round a loop instead of deeper."""
        budget, grows, roots = self.budget, function.grows, self.machine.roots
        inner = body.one
        if inner is not None:

            def one(value: Value, environment: Environment) -> Value:
                rounds = 0
                place = len(roots)
                roots.append(())
                try:
                    while True:
                        result = inner(value, environment)
                        if type(result) is not _Tail:
                            return result
                        budget.step()
                        rounds += grows
                        budget.charge(rounds * 256)
                        value, environment = result.value, result.environment
                        roots[place] = (value, environment)
                finally:
                    del roots[place:]

            return Code(one, total=body.total, paths=lambda: body.paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            rounds = 0
            while True:
                following: _Tail | None = None
                for result in body.many(value, environment):
                    if type(result) is _Tail:
                        following = result
                    else:
                        yield result
                if following is None:
                    return
                budget.step()
                rounds += grows
                budget.charge(rounds * 256)
                value, environment = following.value, following.environment

        return Code(many=many, paths=lambda: body.paths)

    def call(self, node: nodes.Call, scope: Scope, tail: _Function | None) -> Code:
        name = f"{node.name}/{len(node.arguments)}"
        found = scope.find(name)
        if isinstance(found, _Alias):
            index = found.index
            return Code(lambda value, environment: environment[index])
        if isinstance(found, int):
            return self._call_closure(found)
        if isinstance(found, _Function):
            return self._call_function(found, node, scope, tail)
        return self._call_builtin(name, node, scope)

    def _call_closure(self, index: int) -> Code:
        machine = self.machine

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            code, outer = environment[index]
            return machine.nested(code.many(value, outer), _CLOSURE)

        def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
            code, outer = environment[index]
            return machine.nested(code.paths(path, value, outer), _CLOSURE)

        return Code(many=many, paths=lambda: run)

    def _call_builtin(self, name: str, node: nodes.Call, scope: Scope) -> Code:
        from agentsandbox.languages.jq.builtins import find_builtin

        form = find_builtin(name)
        if callable(form):
            compile_one = self.compile if name in _BY_VALUE else self.inner
            return form(self, [compile_one(argument, scope) for argument in node.arguments])
        if isinstance(form, nodes.Definition):
            function = self._builtins.get(name)
            if function is None:
                made = self.definition(form, Scope()).find(name)
                assert isinstance(made, _Function)
                function = self._builtins[name] = made
            return self._call_function(function, node, scope, None)
        return self.undefined(f"{name} is not defined", node.position, len(node.name))

    def _call_function(self, function: _Function, node: nodes.Call, scope: Scope, tail: _Function | None) -> Code:
        depth, budget = function.depth, self.budget
        if function.level is not None:
            function.level.use(self._level)
        codes = [self.inner(argument, scope) for argument in node.arguments]
        passed = [self._argument(argument, code, scope) for argument, code in zip(node.arguments, codes, strict=True)]
        by_value = [parameter.is_value for parameter in function.parameters]
        single = all(not value or (code.one is not None and code.total) for value, code in zip(by_value, codes, strict=True))
        makers: list[Callable[[Value, Environment], Any]] = [
            code.one if value and code.one is not None else closure for value, code, closure in zip(by_value, codes, passed, strict=True)
        ]

        if not makers:

            def enter(value: Value, environment: Environment) -> Environment:
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                return environment[:depth]

        else:

            def enter(value: Value, environment: Environment) -> Environment:
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                return (*environment[:depth], *[make(value, environment) for make in makers])

        def environments(value: Value, environment: Environment) -> Iterator[Environment]:
            made: list[Environment] = [environment[:depth]]
            for is_value, code, closure in zip(by_value, codes, passed, strict=True):
                if is_value:
                    made = [(*base, result) for base in made for result in code.many(value, environment)]
                else:
                    made = [(*base, closure(value, environment)) for base in made]
            return iter(made)

        def paths() -> Paths:
            def run(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
                for inner in environments(value, environment):
                    budget.step()
                    yield from function.body.paths(path, value, inner)

            return run

        if single and tail is function:
            function.tail_called = True
            function.grows = function.grows or not all(
                value or self._is_handed_on(argument, scope) for value, argument in zip(by_value, node.arguments, strict=True)
            )

            def again(value: Value, environment: Environment) -> Value:
                return _Tail(value, enter(value, environment))

            return Code(again, paths=paths) if function.single else Code(many=_many_of(again, total=True), paths=paths)
        is_single = function.single if function.compiling else function.body.one is not None
        if single and is_single:
            if function.compiling:
                return Code(lambda value, environment: function.body.one(value, enter(value, environment)), total=False, paths=paths)  # type: ignore[misc]
            body = function.body.one
            assert body is not None
            return Code(lambda value, environment: body(value, enter(value, environment)), total=function.body.total, paths=paths)
        if single:
            return Code(many=lambda value, environment: function.body.many(value, enter(value, environment)), paths=paths)

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for inner in environments(value, environment):
                budget.step()
                yield from function.body.many(value, inner)

        return Code(many=many, paths=paths)

    def _is_handed_on(self, node: Node, scope: Scope) -> bool:
        """Whether an argument is a closure parameter by itself."""
        return isinstance(node, nodes.Call) and not node.arguments and isinstance(scope.find(node.name + "/0"), int)

    def _argument(self, node: Node, code: Code, scope: Scope) -> Callable[[Value, Environment], Any]:
        """What makes the closure that is passed; a parameter that is only handed on is passed as it is."""
        index = scope.find(node.name + "/0") if isinstance(node, nodes.Call) and not node.arguments else None
        if isinstance(index, int):
            return lambda value, environment: environment[index]
        return lambda value, environment: (code, environment)

    # assignment

    def operator(self, sign: str) -> Callable[[Value, Value], Value]:
        """The function of two values that an operator stands for."""
        return _operator(sign, self)

    def assign(self, node: nodes.Assign, scope: Scope, tail: _Function | None) -> Code:
        from agentsandbox.languages.jq.updates import change_of

        target, source = self.compile(node.left, scope), self.compile(node.right, scope)
        only = source.one if source.total else None
        change = change_of(node.left, self, scope) if only is not None else None
        if node.operator == "|=":
            return self.updated(target, source) if change is None or only is None else self._changed(change, only)
        budget = self.budget
        function = None if node.operator in ("=", "//=") else _operator(node.operator[:-1], self)
        if change is not None and only is not None:
            return self._changed_by(change, only, function, keeps=node.operator == "//=")
        keeps = node.operator == "//="

        def set_all(value: Value, environment: Environment, operand: Value) -> Value:
            made = value
            owned: dict[int, Value] = {}
            for path, found in target.paths((), value, environment):
                budget.step()
                if path is None:
                    raise invalid_path(found)
                if function is None and not keeps:
                    made = put_path_owned(made, path, operand, budget, owned)
                    continue
                here = get_path(made, path)
                if isinstance(here, (dict, list)):
                    owned.clear()
                if function is not None:
                    result = function(here, operand)
                else:
                    result = operand if here is None or here is False else here
                made = put_path_owned(made, path, result, budget, owned)
            return made

        single = source.one
        if single is not None and source.total:
            return Code(lambda value, environment: set_all(value, environment, single(value, environment)))
        return Code(many=lambda value, environment: (set_all(value, environment, operand) for operand in source.many(value, environment)))

    def _changed(self, change: Change, update: One) -> Code:
        """`left |= right` for a left side that is changed on the way down."""
        return Code(lambda value, environment: change(value, environment, lambda here: update(here, environment)))

    def _changed_by(self, change: Change, source: One, function: Callable[[Value, Value], Value] | None, *, keeps: bool) -> Code:
        """The other assignments."""

        def one(value: Value, environment: Environment) -> Value:
            operand = source(value, environment)
            if function is not None:
                return change(value, environment, lambda here: function(here, operand))
            if keeps:
                return change(value, environment, lambda here: operand if here is None or here is False else here)
            return change(value, environment, lambda here: operand)

        return Code(one)

    def updated(self, target: Code, update: Code) -> Code:
        """`target |= update`: the first output replaces, none deletes."""
        budget = self.budget

        def one(value: Value, environment: Environment) -> Value:
            made = value
            gone: list[Value] = []
            owned: dict[int, Value] = {}
            for path, found in target.paths((), value, environment):
                budget.step()
                if path is None:
                    raise invalid_path(found)
                here = get_path(made, path)
                if isinstance(here, (dict, list)):
                    owned.clear()
                for result in update.many(here, environment):
                    made = put_path_owned(made, path, result, budget, owned)
                    break
                else:
                    gone.append(list(path))
            return delete_paths(made, gone, budget) if gone else made

        return Code(one)

    def path_list(self, body: Code, value: Value, environment: Environment) -> Iterator[list[Value]]:
        """The paths of all outputs, as arrays."""
        hold = self.machine.hold
        for path, found in body.paths((), value, environment):
            if path is None:
                raise invalid_path(found)
            hold((len(path) >> 1) + 5)
            yield list(path)

    def set_path(self, value: Value, path: Value, item: Value) -> Value:
        """`setpath`"""
        if not isinstance(path, list):
            raise JqError("Path must be specified as an array")
        return put_path(value, path, item, self.budget)


def members(value: Value) -> Iterable[Value]:
    """What `.[]` gives."""
    if type(value) is list:
        return value
    if type(value) is dict:
        found: Iterable[Value] = value.values()
        return found
    raise JqError(f"Cannot iterate over {describe(value)}")


def _not_a_path(key: Value, found: Value) -> JqError:
    return JqError(f"Invalid path expression near attempt to access element {truncated(key)} of {truncated(found, 26)}")


def _nothing(value: Value, environment: Environment) -> Value:
    return EMPTY


class _CaughtError(Exception):
    def __init__(self, error: JqError) -> None:
        self.error = error
        super().__init__()


def _guarded(items: Iterable[Any]) -> Iterator[Any]:
    """The items; an error of their maker as `_CaughtError`, told apart from errors of whoever consumes them."""
    iterator = iter(items)
    while True:
        try:
            item = next(iterator)
        except StopIteration:
            return
        except JqError as error:
            raise _CaughtError(error) from None
        yield item


def _guarded_call(many: Many, value: Value, environment: Environment) -> Iterator[Value]:
    try:
        items = many(value, environment)
    except JqError as error:
        raise _CaughtError(error) from None
    return _guarded(items)


def _negated(value: Value) -> Value:
    if type(value) is int:
        return -value
    if type(value) is Literal:
        text = value.text
        if not value and not text.startswith("-"):
            return value  # there is no other zero where digits are kept
        return Literal(-float(value), text[1:] if text.startswith("-") else "-" + text)
    if type(value) is float:
        return number(-value)
    raise JqError(f"{describe(value)} cannot be negated")


_ARITHMETIC = {
    "+": values.add,
    "-": values.subtract,
    "*": values.multiply,
    "/": values.divide,
    "%": values.remainder,
}


def _is_same(left: Value, right: Value) -> bool:
    return bool(left == right) if type(left) is str and type(right) is str else values.equals(left, right)


_COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "==": _is_same,
    "!=": lambda left, right: not _is_same(left, right),
    "<": lambda left, right: left < right if type(left) is int and type(right) is int else values.compare(left, right) < 0,
    "<=": lambda left, right: values.compare(left, right) <= 0,
    ">": lambda left, right: left > right if type(left) is int and type(right) is int else values.compare(left, right) > 0,
    ">=": lambda left, right: values.compare(left, right) >= 0,
}


_SMALL = 1 << 26
"""Products of two such numbers are exact."""
_ON_SMALL: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub}
_ON_NUMBERS: dict[str, Callable[[Any, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _operator(sign: str, compiler: Compiler) -> Callable[[Value, Value], Value]:
    if sign in _COMPARISONS:
        return _COMPARISONS[sign]
    function, budget, machine = _ARITHMETIC[sign], compiler.budget, compiler.machine

    def compute(left: Value, right: Value) -> Value:
        if type(left) is int and type(right) is int:
            return function(left, right, budget)
        result = function(left, right, budget)
        if type(result) is str:
            machine.charge_text(len(result))
        elif type(result) is list or type(result) is dict:
            machine.hold(len(result) >> 1)
        return result

    return compute


_COMPILERS: dict[type, Callable[[Compiler, Any, Scope, _Function | None], Code]] = {
    nodes.Identity: Compiler.identity,
    nodes.Constant: Compiler.constant,
    nodes.Variable: Compiler.variable,
    nodes.Text: Compiler.text,
    nodes.Format: Compiler.format,
    nodes.Index: Compiler.index,
    nodes.Slice: Compiler.slice,
    nodes.Iterate: Compiler.iterate,
    nodes.Pipe: Compiler.pipe,
    nodes.Comma: Compiler.comma,
    nodes.ArrayOf: Compiler.array,
    nodes.ObjectOf: Compiler.object,
    nodes.Negate: Compiler.negate,
    nodes.Binary: Compiler.binary,
    nodes.Logical: Compiler.logical,
    nodes.Alternative: Compiler.alternative,
    nodes.Assign: Compiler.assign,
    nodes.If: Compiler.condition,
    nodes.Try: Compiler.attempt,
    nodes.Label: Compiler.label,
    nodes.Break: Compiler.leave,
    nodes.Bind: Compiler.bind,
    nodes.Reduce: Compiler.reduce,
    nodes.Foreach: Compiler.foreach,
    nodes.Define: Compiler.define,
    nodes.Call: Compiler.call,
}
