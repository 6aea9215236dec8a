"""The streaming form: [path, leaf] for each leaf, [path] when a container closes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["events"]


def events(value: Value, budget: Budget, hold: Callable[[int], None]) -> Iterator[Value]:
    """The events of one value, in jq's order; `hold` is told what they take."""
    if not isinstance(value, (list, dict)) or not value:
        yield [[], value]
        return
    path: list[Value] = []
    pending: list[Iterator[tuple[Value, Value]]] = [_entries(value)]
    path.append(None)
    while pending:
        for key, item in pending[-1]:
            budget.step()
            path[-1] = key
            if isinstance(item, (list, dict)) and item:
                pending.append(_entries(item))
                path.append(None)
                break
            hold((len(path) >> 1) + 9)
            yield [list(path), item]
        else:
            pending.pop()
            hold((len(path) >> 1) + 9)
            yield [list(path)]
            path.pop()


def _entries(value: Value) -> Iterator[tuple[Value, Value]]:
    return iter(value.items()) if isinstance(value, dict) else enumerate(value)
