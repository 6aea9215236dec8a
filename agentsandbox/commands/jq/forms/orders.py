"""By keys that an expression gives: `sort_by`, `group_by`, `unique`, `min_by` and their like."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.code import EMPTY, Code, members
from agentsandbox.commands.jq.operations import compare, describe, equals, sorted_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.kernel.budget import Budget

_UNSORTED = "cannot be sorted, as they are not both arrays"


def _keys_of(
    compiler: Compiler, body: Code, complaint: str = _UNSORTED
) -> Callable[[Value, Environment], tuple[Value, list[Value]]]:
    """The input, which is to be an array, and the key that the expression gives each of its
    items.
    """
    single, budget = body.sure, compiler.budget

    def keys(value: Value, environment: Environment) -> tuple[Value, list[Value]]:
        found: list[Value] = []
        for item in members(value):
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            found.append(
                single(item, environment)
                if single is not None
                else list(body.many(item, environment))
            )
        if not isinstance(value, list):
            listed = found if single is None else [[key] for key in found]
            raise JqError(f"{describe(value)} and {describe(listed)} {complaint}")
        return value, found

    return keys


def _sort_by(compiler: Compiler, codes: list[Code]) -> Code:
    keys, budget = _keys_of(compiler, codes[0]), compiler.budget

    def one(value: Value, environment: Environment) -> Value:
        return sorted_values(*keys(value, environment), budget)

    return Code(one)


def _groups(items: list[Value], keys: list[Value], budget: Budget) -> list[list[Value]]:
    """The items with equal keys together, in the order of the keys."""
    kinds = set(map(type, keys))
    if kinds in ({str}, {int}):
        found: dict[Value, list[Value]] = {}
        for item, key in zip(items, keys, strict=True):
            found.setdefault(key, []).append(item)
        budget.step(len(items) // 8)
        return [found[key] for key in sorted(found)]
    groups: list[list[Value]] = []
    last: Value = EMPTY
    for item, key in sorted_values(list(zip(items, keys, strict=True)), keys, budget):
        budget.step()
        if not groups or not equals(key, last):
            groups.append([])
        groups[-1].append(item)
        last = key
    return groups


def _group_by(compiler: Compiler, codes: list[Code]) -> Code:
    keys, budget = _keys_of(compiler, codes[0]), compiler.budget

    def one(value: Value, environment: Environment) -> Value:
        return _groups(*keys(value, environment), budget)

    return Code(one)


def _unique_by(compiler: Compiler, codes: list[Code]) -> Code:
    keys, budget = _keys_of(compiler, codes[0]), compiler.budget

    def one(value: Value, environment: Environment) -> Value:
        return [group[0] for group in _groups(*keys(value, environment), budget)]

    return Code(one)


def _unique(compiler: Compiler, codes: list[Code]) -> Code:
    budget = compiler.budget

    def one(value: Value, environment: Environment) -> Value:
        if not isinstance(value, list):
            raise JqError(f"{describe(value)} cannot be sorted, as it is not an array")
        return [group[0] for group in _groups(value, value, budget)]

    return Code(one)


def _extreme(*, largest: bool) -> Form:
    """`max_by`, which takes the last of the largest, and `min_by`, which takes the first of the
    smallest.
    """

    def form(compiler: Compiler, codes: list[Code]) -> Code:
        keys, budget = _keys_of(compiler, codes[0], "cannot be iterated over"), compiler.budget

        def one(value: Value, environment: Environment) -> Value:
            best: Value = None
            best_key: Value = EMPTY
            for item, key in zip(*keys(value, environment), strict=True):
                budget.step()
                order = 0 if best_key is EMPTY else compare(key, best_key)
                if best_key is EMPTY or (order >= 0 if largest else order < 0):
                    best, best_key = item, key
            return best

        return Code(one)

    return form


FORMS: dict[str, Form] = {
    "sort_by/1": _sort_by,
    "group_by/1": _group_by,
    "unique_by/1": _unique_by,
    "unique/0": _unique,
    "min_by/1": _extreme(largest=False),
    "max_by/1": _extreme(largest=True),
}
