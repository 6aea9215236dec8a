"""Outputs by going round: `recurse`, `repeat`, `until`, `while`, `range`."""

from __future__ import annotations

from agentsandbox.commands._json.values import EXACT, JqError, is_number, number, to_float
from agentsandbox.commands.jq.code import EMPTY, Code
from agentsandbox.commands.jq.definitions import call_definition
from agentsandbox.commands.jq.expressions.flow import piped
from agentsandbox.commands.jq.forms.choices import select
from agentsandbox.commands.jq.operations import add, compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Path
    from agentsandbox.commands.jq.compiler import Compiler, Form

    T = TypeVar("T")


def _deeper(compiler: Compiler, first: T, follow: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """`first`, and depth first all that follows from each, without recursion."""
    budget, machine = compiler.budget, compiler.machine
    yield first
    pending = [iter(follow(first))]
    parents = [first]
    token = object()
    machine.suspended[token] = (parents,)
    try:
        while pending:
            for item in pending[-1]:
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                yield item
                below = follow(item)
                if (
                    below or type(below) is not tuple
                ):  # an empty tuple is known to hold nothing, an iterator is not
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


def _recursion(compiler: Compiler, body: Code) -> Code:
    budget = compiler.budget

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        return _deeper(
            compiler, (path, value), lambda pair: body.paths(pair[0], pair[1], environment)
        )

    one = body.one
    if one is not None:

        def chain(value: Value, environment: Environment) -> Iterator[Value]:
            while value is not EMPTY:
                budget.step()
                yield value
                value = one(value, environment)

        return Code(many=chain, paths=paths)
    return Code(
        many=lambda value, environment: _deeper(
            compiler, value, lambda item: body.many(item, environment)
        ),
        paths=paths,
    )


def _repeat(compiler: Compiler, codes: list[Code]) -> Code:
    body, budget = codes[0], compiler.budget

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        while True:
            budget.step()
            yield from body.many(value, environment)

    return Code(many=many)


def _recurse(compiler: Compiler, codes: list[Code]) -> Code:
    return _recursion(compiler, codes[0])


def _recurse_while(compiler: Compiler, codes: list[Code]) -> Code:
    kept = select(compiler, [codes[1]])

    return _recursion(compiler, piped(codes[0], kept, compiler.budget))


def _recurse_all(compiler: Compiler, codes: list[Code]) -> Code:
    def inner(value: Value) -> Iterable[Value]:
        if type(value) is list:
            return value
        return value.values() if type(value) is dict else ()

    hold = compiler.machine.hold

    def inner_paths(pair: tuple[Path, Value]) -> Iterable[tuple[Path, Value]]:
        path, value = pair
        if path is None:
            raise JqError(f"Invalid path expression near attempt to iterate through {value}")
        hold((len(path) >> 1) + 8)
        if type(value) is list:
            return (((*path, at), item) for at, item in enumerate(value))
        return (
            (((*path, name), item) for name, item in value.items()) if type(value) is dict else ()
        )

    return Code(
        many=lambda value, environment: _deeper(compiler, value, inner),
        paths=lambda path, value, environment: _deeper(compiler, (path, value), inner_paths),
    )


def _until(compiler: Compiler, codes: list[Code]) -> Code:
    stop, update = codes[0].one, codes[1].one
    if stop is None or update is None:
        return call_definition(compiler, "_until/2", codes)
    budget, roots = compiler.budget, compiler.machine.roots

    def one(value: Value, environment: Environment) -> Value:
        place = len(roots)
        roots.append(())
        try:
            return run(value, environment, place)
        finally:
            del roots[place:]

    def run(value: Value, environment: Environment, place: int) -> Value:
        while True:
            roots[place] = (value, environment)
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            answer = stop(value, environment)
            if answer is EMPTY:
                return EMPTY
            if answer is not None and answer is not False:
                return value
            value = update(value, environment)
            if value is EMPTY:
                return EMPTY

    return Code(one, total=codes[0].total and codes[1].total)


def _while(compiler: Compiler, codes: list[Code]) -> Code:
    go_on, update = codes[0].one, codes[1].one
    if go_on is None or update is None:
        return call_definition(compiler, "_while/2", codes)
    budget = compiler.budget

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        while value is not EMPTY:
            budget.step()
            answer = go_on(value, environment)
            if answer is None or answer is False or answer is EMPTY:
                return
            yield value
            value = update(value, environment)

    return Code(many=many)


def _range(compiler: Compiler, start: Code, end: Code) -> Code:
    budget = compiler.budget

    def count(low: Value, high: Value) -> Iterable[Value]:
        if (
            type(low) is int
            and type(high) is int
            and -EXACT <= low <= EXACT
            and -EXACT <= high <= EXACT
        ):
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

    first, last = start.sure, end.sure
    if first is not None and last is not None:
        return Code(
            many=lambda value, environment: count(
                first(value, environment), last(value, environment)
            )
        )

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for low in start.many(value, environment):
            for high in end.many(value, environment):
                yield from count(low, high)

    return Code(many=many)


def _range_to(compiler: Compiler, codes: list[Code]) -> Code:
    return _range(compiler, Code(lambda value, environment: 0), codes[0])


def _range_between(compiler: Compiler, codes: list[Code]) -> Code:
    return _range(compiler, codes[0], codes[1])


def _range_by(compiler: Compiler, codes: list[Code]) -> Code:
    start, end, by = codes
    budget = compiler.budget

    def run(here: Value, last: Value, step: Value) -> Iterator[Value]:
        direction = compare(step, 0)
        while direction and compare(here, last) * direction < 0:
            budget.step()
            yield here
            here = add(here, step, budget)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for low in start.many(value, environment):
            for high in end.many(value, environment):
                for step in by.many(value, environment):
                    yield from run(low, high, step)

    return Code(many=many)


FORMS: dict[str, Form] = {
    "repeat/1": _repeat,
    "recurse/1": _recurse,
    "recurse/2": _recurse_while,
    "recurse/0": _recurse_all,
    "until/2": _until,
    "while/2": _while,
    "range/1": _range_to,
    "range/2": _range_between,
    "range/3": _range_by,
}
