"""Arrays that are filled one number after the other, as by `a[NR] = $0`: a list holds the elements.

In a dictionary each element takes some 90 bytes more, and making the text of its key takes longer
than everything else. `numbered_arrays` finds the arrays of a program that gain by it.
"""

from __future__ import annotations

import math
from itertools import chain

from agentsandbox.commands.awk import flow_nodes, nodes
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, children
from agentsandbox.commands.awk.values import UNSET, Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from agentsandbox.commands.awk.nodes import Expression, Node
    from agentsandbox.commands.awk.scopes import Scopes

_MOST_DIGITS = 10
_LARGEST = 2.0**31 - 2
_PIECE = 4096


class Numbered(Array):
    """An array that takes floats as subscripts, too: a row of elements, then a dictionary.

    Once the dictionary holds a number, nothing more is appended to the row: the order in which gawk
    walks an array depends on the order in which elements were made.
    """

    __slots__ = ("_first", "_key_of", "_next", "_row", "_step")

    def __init__(
        self, where: str, key_of: Callable[[Any], str], step: Callable[[int], None]
    ) -> None:
        super().__init__(where)
        self._key_of = key_of
        self._step = step
        self._row: list[Any] = []
        self._first = 0.0
        self._next = math.nan
        """The number that continues the row; NaN for none."""

    # elements

    def __setitem__(self, key: Any, value: Any) -> None:
        if key == self._next:
            self._row.append(value)
            self._next = key + 1.0
        elif (
            key.__class__ is float
            and 0.0 <= (at := key - self._first) < len(self._row)
            and at.is_integer()
        ):
            self._row[int(at)] = value
        else:
            self._put(key, value)

    def __getitem__(self, key: Any) -> Any:
        if (
            key.__class__ is float
            and 0.0 <= (at := key - self._first) < len(self._row)
            and at.is_integer()
        ):
            return self._row[int(at)]
        found = self.get(key)
        if found is None:
            found = UNSET
            self[key] = found
        return found

    def _place(self, key: Any) -> int:
        """Return the place of an element in the row; -1 for none."""
        if key.__class__ is not float:
            key = str(key)
            if (
                not key.isdecimal()
                or not key.isascii()
                or len(key) > _MOST_DIGITS
                or (key[0] == "0" and key != "0")
            ):
                return -1
            key = float(key)
        at = key - self._first
        return int(at) if 0.0 <= at < len(self._row) and at.is_integer() else -1

    def _put(self, key: Any, value: Any) -> None:
        """Set an element that does not simply continue the row."""
        if (at := self._place(key)) >= 0:
            self._row[at] = value
            return
        if (
            key.__class__ is float
            and not self._row
            and not super().__len__()
            and 0.0 <= key < _LARGEST
            and key.is_integer()
        ):
            self._row.append(value)
            self._first, self._next = key, key + 1.0
            return
        name = self._key_of(key)
        if name[:1].isdecimal():
            self._next = math.nan
        super().__setitem__(name, value)

    def get(self, key: Any, default: Any = None) -> Any:
        at = self._place(key)
        return self._row[at] if at >= 0 else super().get(self._key_of(key), default)

    def pop(self, key: Any, default: Any = None) -> Any:
        at = self._place(key)
        if at < 0:
            return super().pop(self._key_of(key), default)
        if at == len(self._row) - 1:
            self._next -= 1.0
            return self._row.pop()
        self._dissolve()
        return super().pop(self._key_of(key))

    def _dissolve(self) -> None:
        """Move all into the dictionary: the row got a gap."""
        others, row, numbers = dict(super().items()), self._row, self._numbers()
        self.clear()
        for start in range(0, len(row), _PIECE):
            self._step(_PIECE // 4)
            super().update(
                zip(
                    map(str, numbers[start : start + _PIECE]),
                    row[start : start + _PIECE],
                    strict=True,
                )
            )
        super().update(others)

    def clear(self) -> None:
        super().clear()
        self._row = []
        self._next = math.nan

    def __contains__(self, key: object) -> bool:
        return self._place(key) >= 0 or super().__contains__(self._key_of(key))

    # all elements

    def __len__(self) -> int:
        return len(self._row) + super().__len__()

    def _numbers(self) -> range:
        first = int(self._first)
        return range(first, first + len(self._row))

    def __iter__(self) -> Iterator[str]:
        yield from map(str, self._numbers())
        yield from super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        yield from super().__reversed__()
        yield from map(str, reversed(self._numbers()))

    def values(self) -> Any:
        return chain(self._row, super().values())

    def names(self) -> Iterable[str]:
        return super().keys()

    def ascending(self) -> Iterable[str] | None:
        return None if super().__len__() else map(str, self._numbers())


def numbered_arrays(scopes: Scopes) -> frozenset[str]:
    """Return the global arrays that are filled by `a[NR] = …` or `a[n++] = …` and nothing else.

    Any array works as `Numbered`; one whose elements are changed or looked up by text is faster as
    a dictionary, so those are left out.
    """
    if scopes.nested or scopes.indirect or "PROCINFO" in scopes.names:
        return frozenset()
    found = [(node, "") for rule in scopes.program.rules for node in _descend(scopes, rule)]
    for function in scopes.functions.values():
        for statement in function.body:
            found += [(node, function.name) for node in _descend(scopes, statement)]
    loops = [node.variable for node, _ in found if isinstance(node, flow_nodes.ForIn)]
    search = _Search(scopes, {key.name for key in loops if isinstance(key, nodes.Name)})
    for node, name in found:
        search.look_at(node, name)
    return frozenset(search.appended - search.barred)


def _target_of(node: Node) -> object:
    """Return what a node changes, if it is one thing."""
    if isinstance(node, (nodes.Assign, nodes.Step, nodes.Getline)):
        return node.target
    if isinstance(node, flow_nodes.ForIn):
        return node.variable
    if isinstance(node, nodes.Call) and node.name in ("sub", "gsub") and len(node.arguments) > 2:
        return node.arguments[2]
    return None


def _descend(scopes: Scopes, start: Node) -> Iterator[Node]:
    """Yield a node and all below it, but not the names of arrays used element by element."""
    pending = [start]
    while pending:
        node = pending.pop()
        scopes.budget.step()
        yield node
        parts = list(children(node))
        if isinstance(node, (nodes.Index, nodes.Membership)):
            parts = list(node.subscripts)
        elif isinstance(node, flow_nodes.ForIn):
            parts = [node.variable, node.body]
        elif isinstance(node, flow_nodes.Delete) or (
            isinstance(node, nodes.Call) and node.name == "length"
        ):
            parts = [part for part in parts if not isinstance(part, nodes.Name)]
        pending.extend(parts)


class _Search:
    """The arrays that something is `appended` to, and those `barred` by another use.

    `keys`  the variables of all `for (key in array)`: text subscripts that are no obstacle.
    """

    def __init__(self, scopes: Scopes, keys: set[str]) -> None:
        self.scopes = scopes
        self.keys = keys
        self.appended: set[str] = set()
        self.barred: set[str] = set(SPECIAL_ARRAYS)

    def look_at(self, node: Node, function: str) -> None:
        """Note what one node does with an array."""
        if isinstance(node, nodes.Name):
            self._bar(node, function)
        elif isinstance(node, nodes.Index):
            self._element(node.base, node.subscripts, function)
        elif isinstance(node, nodes.Membership):
            self._element(node.array, node.subscripts, function)
        else:
            target = _target_of(node)
            if isinstance(target, nodes.Index) and isinstance(target.base, nodes.Name):
                self._change(node, target.base, target.subscripts[0], function)

    def _bar(self, name: nodes.Name, function: str) -> None:
        if not self.scopes.key(function, name.name)[0]:
            self.barred.add(name.name)

    def _change(self, node: Node, array: nodes.Name, subscript: Expression, function: str) -> None:
        appends = isinstance(subscript, nodes.Step) or (
            isinstance(subscript, nodes.Name) and subscript.name in ("NR", "FNR")
        )
        if appends and isinstance(node, nodes.Assign) and node.operator == "=":
            self.appended.add(array.name)
        else:
            self._bar(array, function)

    def _element(
        self, array: nodes.Name | nodes.Index, subscripts: list[Expression], function: str
    ) -> None:
        only = subscripts[0]
        by_number = self.scopes.is_numeric(function, only) or (
            isinstance(only, nodes.Name) and only.name in self.keys
        )
        if isinstance(array, nodes.Name) and (len(subscripts) > 1 or not by_number):
            self._bar(array, function)
