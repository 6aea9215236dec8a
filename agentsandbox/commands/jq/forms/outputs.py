"""Functions that yield, take or ask for outputs: `first`, `limit`, `any`, `recurse`, `range`, …"""

from __future__ import annotations

from agentsandbox.commands._json.json_text import JsonError
from agentsandbox.commands._json.values import EXACT, JqError, is_number, number, to_float
from agentsandbox.commands.jq.code import EMPTY, NOTHING, Code, itself, value_of
from agentsandbox.commands.jq.operations import truncated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias, TypeVar

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Located, Outputs
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.kernel.budget import Budget

    T = TypeVar("T")
    Take: TypeAlias = Callable[[Callable[[], Iterable[Any]], float, Budget], Iterator[Any]]


def _empty(compiler: Compiler, codes: list[Code]) -> Code:
    return NOTHING


# a part of the outputs


def _limited(begin: Callable[[], Iterable[T]], count: float, budget: Budget) -> Iterator[T]:
    if count > 0:
        for position, item in enumerate(begin(), 1):
            yield item
            if position >= count:
                return


def _skipped(begin: Callable[[], Iterable[T]], count: float, budget: Budget) -> Iterator[T]:
    for position, item in enumerate(begin(), 1):
        budget.step()
        if position > count:
            yield item


def _counting(name: str, take: Take) -> Form:
    """Return `limit` or `skip`: a count, and the outputs to take a part of."""

    def form(compiler: Compiler, codes: list[Code]) -> Code:
        count, body = codes

        def part(run: Outputs, read: Callable[[Any], Value]) -> Outputs:
            def outputs(item: Any, environment: Environment) -> Iterator[Any]:
                for wanted in count.many(read(item), environment):
                    if not (is_number(wanted) and wanted >= 0):
                        raise JqError(f"{name} doesn't support negative count")
                    yield from take(lambda: run(item, environment), wanted, compiler.budget)

            return outputs

        return Code(many=part(body.many, itself), paths=part(body.paths, value_of))

    return form


def _first(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def paths(item: Located, environment: Environment) -> Iterator[Located]:
        return _limited(lambda: body.paths(item, environment), 1, compiler.budget)

    def one(value: Value, environment: Environment) -> Value:
        for result in body.many(value, environment):
            return result
        return EMPTY

    return Code(body.one or one, total=body.sure is not None, paths=paths)


def _last(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def last_of(run: Outputs, item: Any, environment: Environment) -> Any:
        found: Any = EMPTY
        for found in run(item, environment):  # noqa: B007  # the last one is wanted
            compiler.budget.step()
        return found

    def paths(item: Located, environment: Environment) -> Iterable[Located]:
        found = last_of(body.paths, item, environment)
        return () if found is EMPTY else (found,)

    return Code(
        lambda value, environment: last_of(body.many, value, environment), total=False, paths=paths
    )


# questions about the outputs


def _isempty(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def one(value: Value, environment: Environment) -> Value:
        return not any(True for _ in body.many(value, environment))

    return Code(one)


def _quantifier(wanted: bool) -> Form:
    """Return `any` (wanted: true) or `all` (wanted: false) of outputs and a condition."""

    def form(compiler: Compiler, codes: list[Code]) -> Code:
        items, condition = codes
        budget = compiler.budget

        def one(value: Value, environment: Environment) -> Value:
            for item in items.many(value, environment):
                budget.step()
                for answer in condition.many(item, environment):
                    if (answer is not None and answer is not False) is wanted:
                        return wanted
            return not wanted

        return Code(one)

    return form


# outputs of the input


def _inputs(compiler: Compiler, codes: list[Code]) -> Code:
    machine = compiler.machine

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        try:
            for item in machine.inputs:
                machine.budget.step()
                yield item
        except JsonError as error:
            machine.inputs = machine.more_inputs()
            raise JqError(str(error)) from None

    return Code(many=many)


def _deeper(compiler: Compiler, first: T, follow: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """Yield `first` and, depth first, all that follows from each, without recursion."""
    budget, machine = compiler.budget, compiler.machine
    yield first
    pending = [iter(follow(first))]
    parents = [first]
    token = object()
    machine.suspended[token] = (parents,)
    try:
        while pending:
            for item in pending[-1]:
                budget.step()
                yield item
                below = follow(item)
                if below or type(below) is not tuple:  # only an empty tuple is known to be empty
                    pending.append(iter(below))
                    parents.append(item)
                    if not len(pending) & 1023:
                        budget.charge(len(pending) * 64)
                    break
            else:
                pending.pop()
                parents.pop()
    finally:
        del machine.suspended[token]


def _recurse(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def deeper(run: Outputs) -> Outputs:
        return lambda item, environment: _deeper(
            compiler, item, lambda inner: run(inner, environment)
        )

    one = body.one
    if one is None:
        return Code(many=deeper(body.many), paths=deeper(body.paths))

    def chain(value: Value, environment: Environment) -> Iterator[Value]:
        while value is not EMPTY:
            compiler.budget.step()
            yield value
            value = one(value, environment)

    return Code(many=chain, paths=deeper(body.paths))


def _recurse_all(compiler: Compiler, codes: list[Code]) -> Code:
    def inner(value: Value) -> Iterable[Value]:
        if type(value) is list:
            return value
        return value.values() if type(value) is dict else ()

    hold = compiler.machine.hold

    def inner_paths(item: Located) -> Iterable[Located]:
        path, value = item
        if path is None:
            place = truncated(value, 26)
            raise JqError(f"Invalid path expression near attempt to iterate through {place}")
        hold((len(path) >> 1) + 8)
        if type(value) is list:
            return (((*path, at), member) for at, member in enumerate(value))
        if type(value) is dict:
            return (((*path, name), member) for name, member in value.items())
        return ()

    return Code(
        many=lambda value, environment: _deeper(compiler, value, inner),
        paths=lambda item, environment: _deeper(compiler, item, inner_paths),
    )


def _range(compiler: Compiler, codes: list[Code]) -> Code:
    start, end = codes
    budget = compiler.budget

    def count(low: Value, high: Value) -> Iterable[Value]:
        if type(low) is int and type(high) is int and max(abs(low), abs(high)) <= EXACT:
            return range(low, high)
        if not (is_number(low) and is_number(high)):
            raise JqError("Range bounds must be numeric")
        return steps(low, to_float(high))

    def steps(low: Value, high: float) -> Iterator[Value]:
        here = to_float(low)
        if here < high:
            yield low
        while (here := here + 1) < high:
            budget.step()
            yield number(here)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for low in start.many(value, environment):
            for high in end.many(value, environment):
                yield from count(low, high)

    return Code(many=many)


FORMS: dict[str, Form] = {
    "empty/0": _empty,
    "limit/2": _counting("limit", _limited),
    "skip/2": _counting("skip", _skipped),
    "first/1": _first,
    "last/1": _last,
    "isempty/1": _isempty,
    "any/2": _quantifier(True),
    "all/2": _quantifier(False),
    "inputs/0": _inputs,
    "recurse/1": _recurse,
    "recurse/0": _recurse_all,
    "range/2": _range,
}
