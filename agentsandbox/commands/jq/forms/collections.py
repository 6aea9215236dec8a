"""Functions of a whole array or object: `walk`, `sort_by`, `group_by`, `unique`, `min_by`, …"""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.code import EMPTY, Code, members
from agentsandbox.commands.jq.operations import compare, describe, equals, sorted_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.kernel.budget import Budget


def _walk(compiler: Compiler, codes: list[Code]) -> Code:
    body, budget = codes[0], compiler.budget

    def walked(value: Value, environment: Environment) -> Iterable[Value]:
        budget.step()
        if type(value) is list:
            value = [result for item in value for result in walked(item, environment)]
        elif type(value) is dict:
            made = {}
            for name, item in value.items():
                for result in walked(item, environment):
                    made[name] = result
                    break
            value = made
        return body.many(value, environment)

    return Code(many=walked)


def _keys_of(
    compiler: Compiler, body: Code, value: Value, environment: Environment, complaint: str
) -> list[Value]:
    """Return the key that an expression yields for each item of the input, an array."""
    single, budget = body.sure, compiler.budget
    keys: list[Value] = []
    for item in members(value):
        budget.step()
        if single is not None:
            keys.append(single(item, environment))
        else:
            keys.append(list(body.many(item, environment)))
    if not isinstance(value, list):
        listed = keys if single is None else [[key] for key in keys]
        raise JqError(f"{describe(value)} and {describe(listed)} {complaint}")
    return keys


def _by_keys(
    arrange: Callable[[list[Value], list[Value], Budget], Value],
    complaint: str = "cannot be sorted, as they are not both arrays",
) -> Form:
    """Return a function of an array and the keys of its items."""

    def form(compiler: Compiler, codes: list[Code]) -> Code:
        def one(value: Value, environment: Environment) -> Value:
            keys = _keys_of(compiler, codes[0], value, environment, complaint)
            return arrange(value, keys, compiler.budget)

        return Code(one)

    return form


def groups(items: list[Value], keys: list[Value], budget: Budget) -> list[list[Value]]:
    """Return the items with equal keys together, in the order of the keys."""
    kinds = set(map(type, keys))
    if kinds in ({str}, {int}):
        found: dict[Value, list[Value]] = {}
        for item, key in zip(items, keys, strict=True):
            found.setdefault(key, []).append(item)
        budget.step(len(items) // 8)
        return [found[key] for key in sorted(found)]
    made: list[list[Value]] = []
    last: Value = EMPTY
    for item, key in sorted_values(list(zip(items, keys, strict=True)), keys, budget):
        budget.step()
        if not made or not equals(key, last):
            made.append([])
        made[-1].append(item)
        last = key
    return made


def unique(items: list[Value], keys: list[Value], budget: Budget) -> list[Value]:
    """Return the first item of each key, in the order of the keys."""
    return [group[0] for group in groups(items, keys, budget)]


def largest(items: list[Value], keys: list[Value], budget: Budget) -> Value:
    """Return the last of the items with the largest key, null for no items."""
    best = 0
    for at, key in enumerate(keys):
        budget.step()
        if compare(key, keys[best]) >= 0:
            best = at
    return items[best] if items else None


def smallest(items: list[Value], keys: list[Value], budget: Budget) -> Value:
    """Return the first of the items with the smallest key, null for no items."""
    best = 0
    for at, key in enumerate(keys):
        budget.step()
        if compare(key, keys[best]) < 0:
            best = at
    return items[best] if items else None


FORMS: dict[str, Form] = {
    "walk/1": _walk,
    "sort_by/1": _by_keys(sorted_values),
    "group_by/1": _by_keys(groups),
    "unique_by/1": _by_keys(unique),
    "min_by/1": _by_keys(smallest, "cannot be iterated over"),
    "max_by/1": _by_keys(largest, "cannot be iterated over"),
}
