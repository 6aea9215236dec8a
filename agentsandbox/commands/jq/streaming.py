"""The streaming form: [path, leaf] for each leaf, [path] when a container closes."""

from __future__ import annotations

from itertools import chain

from agentsandbox.commands._json.values import CONTAINERS
from agentsandbox.commands.jq.paths import put_path_owned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget

_BATCH = 256


def _entries(value: Value) -> Iterator[tuple[Value, Value]]:
    return iter(value.items()) if type(value) is dict else enumerate(value)


def events(value: Value, budget: Budget, hold: Callable[[int], None]) -> Iterator[Value]:
    """The events of one value, in jq's order; `hold` is told what they take."""
    if type(value) not in CONTAINERS or not value:
        yield [[], value]
        return
    path: list[Value] = [None]
    pending = [_entries(value)]
    made = 0
    while pending:
        for key, item in pending[-1]:
            path[-1] = key
            kind = type(item)
            if (kind is dict or kind is list) and item:
                pending.append(_entries(item))
                path.append(None)
                break
            made += 1
            if made > _BATCH:
                budget.step(made)
                hold(made * ((len(path) >> 1) + 9))
                made = 0
            yield [path[:], item]
        else:
            pending.pop()
            made += 1 + (len(path) >> 4)
            yield [path[:]]
            path.pop()
    hold(made * 9)


def paths_of(value: Value, budget: Budget, hold: Callable[[int], None]) -> Iterator[list[Value]]:
    """The paths of all that is in a value, itself not among them."""
    if type(value) not in CONTAINERS:
        return
    path: list[Value] = [None]
    pending = [_entries(value)]
    made = 0
    while pending:
        for key, item in pending[-1]:
            path[-1] = key
            made += 1
            if made > _BATCH:
                budget.step(made)
                hold(made * ((len(path) >> 1) + 5))
                made = 0
            yield path[:]
            kind = type(item)
            if (kind is dict or kind is list) and item:
                pending.append(_entries(item))
                path.append(None)
                break
        else:
            pending.pop()
            path.pop()
    hold(made * 5)


def rebuilt(
    stream: Iterable[Value], budget: Budget, others: Callable[[Iterable[Value]], Iterable[Value]]
) -> Iterator[Value]:
    """The values whose events these are; `others` makes something of a stream that begins with what
    is no event.
    """
    value: Value = None
    owned: dict[int, Value] = {}
    rest = iter(stream)
    for event in rest:
        budget.step()
        if type(event) is not list or not 1 <= len(event) <= 2 or type(event[0]) is not list:
            yield from others(chain((event,), rest))
            return
        path = event[0]
        if len(event) == 2:
            value = put_path_owned(value, path, event[1], budget, owned)
        if len(path) == (0 if len(event) == 2 else 1):
            yield value
            value, owned = None, {}
