"""Which outputs there are: nothing, errors, a part of the outputs, questions about them."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError, is_number
from agentsandbox.commands.jq.code import EMPTY, NOTHING, Code, members
from agentsandbox.commands.jq.operations import subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Path
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.kernel.budget import Budget

    T = TypeVar("T")


def _empty(compiler: Compiler, codes: list[Code]) -> Code:
    return NOTHING


def _error(compiler: Compiler, codes: list[Code]) -> Code:
    def fail(value: Value, environment: Environment) -> Value:
        raise JqError(value)

    return Code(fail)


def _error_with(compiler: Compiler, codes: list[Code]) -> Code:
    message = codes[0]

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for result in message.many(value, environment):
            raise JqError(result)
        yield from ()

    one = message.sure
    if one is None:
        return Code(many=many)

    def fail(value: Value, environment: Environment) -> Value:
        raise JqError(one(value, environment))

    return Code(fail)


def select(compiler: Compiler, codes: list[Code]) -> Code:
    """`select(condition)`"""
    condition = codes[0]

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for answer in condition.many(value, environment):
            if answer is not None and answer is not False:
                yield path, value

    decide = condition.one
    if decide is not None:

        def one(value: Value, environment: Environment) -> Value:
            answer = decide(value, environment)
            return EMPTY if answer is None or answer is False or answer is EMPTY else value

        return Code(one, total=False, paths=paths)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for answer in condition.many(value, environment):
            if answer is not None and answer is not False:
                yield value

    return Code(many=many, paths=paths)


def _wants_some(count: Value, name: str) -> bool:
    """Whether a count is more than 0 in jq's order, in which strings, arrays and objects come after
    all numbers.
    """
    if count is None or count is False or count is True or (is_number(count) and not count >= 0):
        raise JqError(f"{name} doesn't support negative count")
    return not is_number(count) or count > 0


def _numbered(items: Iterable[T], count: Value, budget: Budget) -> Iterator[tuple[int, T]]:
    """The items from 1 on; the first one shows that `count` is no number, from which jq takes one
    off.
    """
    for number, item in enumerate(items, 1):
        if number == 1 and not is_number(count):
            subtract(count, 1, budget)
        yield number, item


def _limited(items: Iterable[T], count: Value, budget: Budget) -> Iterator[T]:
    for number, item in _numbered(items, count, budget):
        yield item
        if number >= count:
            return


def _skipped(items: Iterable[T], count: Value, budget: Budget) -> Iterator[T]:
    for number, item in _numbered(items, count, budget):
        budget.step()
        if number > count:
            yield item


def _limit(compiler: Compiler, codes: list[Code]) -> Code:
    count, body = codes
    budget = compiler.budget

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for most in count.many(value, environment):
            if _wants_some(most, "limit"):
                yield from _limited(body.many(value, environment), most, budget)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for most in count.many(value, environment):
            if _wants_some(most, "limit"):
                yield from _limited(body.paths(path, value, environment), most, budget)

    return Code(many=many, paths=paths)


def _skip(compiler: Compiler, codes: list[Code]) -> Code:
    count, body = codes
    budget = compiler.budget

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for least in count.many(value, environment):
            some = _wants_some(least, "skip")
            items = body.many(value, environment)
            yield from _skipped(items, least, budget) if some else items

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for least in count.many(value, environment):
            some = _wants_some(least, "skip")
            items = body.paths(path, value, environment)
            yield from _skipped(items, least, budget) if some else items

    return Code(many=many, paths=paths)


def _first(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        return _limited(body.paths(path, value, environment), 1, compiler.budget)

    def one(value: Value, environment: Environment) -> Value:
        for result in body.many(value, environment):
            return result
        return EMPTY

    return Code(body.one or one, total=body.sure is not None, paths=paths)


def _last(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        found: tuple[Path, Value] | None = None
        for found in body.paths(path, value, environment):  # noqa: B007  # the last one is wanted
            compiler.budget.step()
        if found is not None:
            yield found

    def one(value: Value, environment: Environment) -> Value:
        found: Value = EMPTY
        for found in body.many(value, environment):  # noqa: B007  # the last one is wanted
            compiler.budget.step()
        return found

    return Code(one, total=False, paths=paths)


def _isempty(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def one(value: Value, environment: Environment) -> Value:
        return not any(True for _ in body.many(value, environment))

    return Code(one)


def _quantifier(wanted: bool) -> Form:
    """`any` (wanted: true) and `all` (wanted: false): of the members, of a condition on them, or of
    a condition on outputs.
    """

    def form(compiler: Compiler, codes: list[Code]) -> Code:
        items = codes[0] if len(codes) == 2 else None
        condition = codes[-1] if codes else None
        budget = compiler.budget

        def answers(value: Value, environment: Environment) -> Iterator[Value]:
            for item in members(value) if items is None else items.many(value, environment):
                budget.step()
                if condition is None:
                    yield item
                else:
                    yield from condition.many(item, environment)

        def one(value: Value, environment: Environment) -> Value:
            for answer in answers(value, environment):
                if (answer is not None and answer is not False) is wanted:
                    return wanted
            return not wanted

        return Code(one)

    return form


FORMS: dict[str, Form] = {
    "empty/0": _empty,
    "error/0": _error,
    "error/1": _error_with,
    "select/1": select,
    "limit/2": _limit,
    "skip/2": _skip,
    "first/1": _first,
    "last/1": _last,
    "isempty/1": _isempty,
    "any/0": _quantifier(True),
    "any/1": _quantifier(True),
    "any/2": _quantifier(True),
    "all/0": _quantifier(False),
    "all/1": _quantifier(False),
    "all/2": _quantifier(False),
}
