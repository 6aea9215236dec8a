"""How blocks of the items of a long array are packed: as the JSON text that they were read from, or as `marshal` writes them."""

from __future__ import annotations

import marshal
from sys import getrefcount

from agentsandbox.languages.jq.json_text import Fractions, parse_float, scanner
from agentsandbox.languages.jq.rows import Rows, loose
from agentsandbox.languages.jq.values import Literal
from agentsandbox.languages.jq.weight import weigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from agentsandbox.languages.jq.rows import Block
    from agentsandbox.limits import Budget

    Reader: TypeAlias = Callable[[bytes], list[Any]]

__all__ = ["lines_at", "pack_text", "reader", "rows", "weight_of_text"]

_OBJECT, _ARRAY, _ITEM = 200, 72, 56
"""Bytes that an object, an array and what follows a comma take, roughly."""
_LINES = 1 << 16
"""Characters of lines that are decoded at a time."""
_NEWLINE, _MARK = "\n", ",Infinity,"
_CHANGED = frozenset((Literal, list, dict))
_DEEP = 200
"""Levels beyond which items are left as they are."""
_SAMPLE = 64
"""Of so many items one is weighed."""
_SHARED = frozenset((int, float, Literal))
_REFERENCES = 8
"""More than items that nothing but passing lists holds have."""
_LARGE = 2048
"""Items that take more are not worth packing."""


def weight_of_text(text: str, start: int = 0) -> int:
    """Bytes that the values in a JSON text take at most."""
    return _OBJECT * text.count("{", start) + _ARRAY * text.count("[", start) + _ITEM * text.count(",", start) + len(text) - start


def rows(budget: Budget, items: Iterable[Any] = ()) -> Rows:
    """A long array of the items."""
    return Rows(budget, lambda items: _pack(items, budget), items)


def _pack(items: list[Any], budget: Budget) -> Block:
    """The block of some items, packed if that saves memory."""
    sample = items[::_SAMPLE]
    if _SHARED.issuperset(map(type, sample)) and all(getrefcount(item) > _REFERENCES for item in sample):
        return loose(items)
    most = _LARGE * len(sample)
    full = weigh((sample,), most, budget)
    if full > most:
        return loose(items)
    unpack: Reader = marshal.loads
    try:
        packed = marshal.dumps(items)
    except ValueError:  # a number in a form of its own; or a long array, or too many levels
        try:
            packed, unpack = marshal.dumps(_frozen(items, 0)), _thawed
        except ValueError:
            return loose(items)
    return unpack, packed, len(packed), full * _SAMPLE


def _frozen(value: Any, level: int) -> Any:
    """The value with the bytes of their texts in place of numbers in a form of their own."""
    kind = type(value)
    if kind is Literal:
        return value.text.encode()
    if level > _DEEP:
        raise ValueError
    if kind is dict:
        return {name: _frozen(item, level + 1) if type(item) in _CHANGED else item for name, item in value.items()}
    return [_frozen(item, level + 1) if type(item) in _CHANGED else item for item in value] if kind is list else value


def _thawed(packed: bytes) -> list[Any]:
    """What was packed `_frozen`."""
    items: list[Any] = marshal.loads(packed)
    known: dict[bytes, Literal] = {}
    pending: list[Any] = [items]
    while pending:
        here = pending.pop()
        for key, item in here.items() if type(here) is dict else enumerate(here):
            kind = type(item)
            if kind is bytes:
                found = known.get(item)
                if found is None:
                    found = known[item] = Literal(float(item), str(item, "ascii"))
                here[key] = found
            elif kind is dict or kind is list:
                pending.append(item)
    return items


class _Border:
    """What stands between two lines."""


_BETWEEN = "Infinity"
_scan_lines = scanner(parse_float, {_BETWEEN: _Border}.__getitem__)


def lines_at(text: str, position: int) -> tuple[list[Any], int] | None:
    """The values of some lines from `position` on, and how long they are to their last newline; None if not each is one."""
    end = text.rfind("\n", position, position + _LINES)
    lines = text[position:end]
    if end <= position or _BETWEEN in lines:
        return None
    marked = f"[{lines.replace(_NEWLINE, _MARK)}]"
    try:
        items, size = _scan_lines(marked, 0)
    except (StopIteration, ValueError, RecursionError, KeyError):
        return None
    count = lines.count("\n")
    if size != len(marked) or len(items) != 2 * count + 1 or items[1::2].count(_Border) != count:
        return None
    return items[::2], end - position


def reader() -> Reader:
    """What makes a list of the text of an array that Python's decoder reads as jq does."""
    scan = scanner(Fractions().__getitem__)

    def read(packed: bytes) -> list[Any]:
        items: list[Any] = scan(str(packed, "utf-8"), 0)[0]
        return items

    return read


def pack_text(text: str, read: Reader) -> Block:
    """The block of the items of an array's text, which `read` makes a list of."""
    packed = text.encode()
    return read, packed, len(packed), weight_of_text(text)
