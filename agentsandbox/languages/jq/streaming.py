"""The streaming form: [path, leaf] for each leaf, [path] when a container closes."""

from __future__ import annotations

from itertools import chain

from agentsandbox.languages.jq.json_text import NOTHING, Stack
from agentsandbox.languages.jq.paths import put_path_owned
from agentsandbox.languages.jq.values import CONTAINERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["StreamStack", "events", "events_of_part", "path_of_part", "paths_of", "rebuilt"]

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


class StreamStack(Stack):
    """With the messages of jq's other parser, that of streams."""

    def begin(self, container: Value) -> str | None:
        if self.next is not NOTHING:
            return "Expected a separator between values"
        if self.open and type(self.open[-1]) is dict:
            before = "',' in object" if self.open[-1] else "'{'"
            return f"Expected string key after {before}, not '{'{' if type(container) is dict else '['}'"
        return super().begin(container)

    def colon(self) -> str | None:
        if not self.open or type(self.open[-1]) is list:
            return "':' not as part of an object"
        if type(self.open[-1]) is str and self.next is not NOTHING:
            return "Expected string key before ':'" if type(self.next) in CONTAINERS else "Object keys must be strings"
        return super().colon()

    def close_array(self) -> str | None:
        if not self.open:
            return "Unmatched ']' at the top-level"
        if type(self.open[-1]) is list:
            return super().close_array()
        if self.open[-1] and type(self.open[-1]) is dict and self.next is NOTHING:
            return "Expected another array element"
        return "Unmatched ']' in the middle of an object"

    def close_object(self) -> str | None:
        if not self.open:
            return "Unmatched '}' at the top-level"
        if type(self.open[-1]) is list:
            return "Unmatched '}' in the middle of an array"
        if self.next is NOTHING and type(self.open[-1]) is str:
            return "Missing value in key:value pair"
        if self.next is NOTHING and self.open[-1]:
            return "Expected another key:value pair"
        return super().close_object()


def events_of_part(stack: Stack, budget: Budget, hold: Callable[[int], None]) -> Iterator[Value]:
    """The events of a value that is not complete: of all that a comma or a bracket follows."""
    prefix: list[Value] = []
    opened = stack.open
    for at, container in enumerate(opened):
        if type(container) is str:
            continue
        for key, item in _entries(container):
            for event in events(item, budget, hold):
                event[0][:0] = [*prefix, key]
                yield event
        prefix.append(opened[at + 1] if at + 1 < len(opened) and type(opened[at + 1]) is str else len(container))
    if opened and type(stack.next) in CONTAINERS:
        for event in events(stack.next, budget, hold):
            event[0][:0] = prefix
            yield event


def path_of_part(stack: Stack) -> list[Value]:
    """Where a value that is not complete goes on: null for a key that is not there yet."""
    path: list[Value] = []
    opened = stack.open
    for at, container in enumerate(opened):
        if type(container) is list:
            path.append(len(container))
        elif type(container) is dict:
            path.append(opened[at + 1] if at + 1 < len(opened) and type(opened[at + 1]) is str else None)
    return path


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


def rebuilt(stream: Iterable[Value], budget: Budget, others: Callable[[Iterable[Value]], Iterable[Value]]) -> Iterator[Value]:
    """The values whose events these are; `others` makes something of a stream that begins with what is no event."""
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
