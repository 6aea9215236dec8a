"""Arrays and objects that are larger than the text that is kept of them, put together from pieces.

A piece is all text up to a place that looks like the border of two items. Closed with the container's own bracket, Python's
decoder accepts it exactly if it is one: a cut within an item or a string leaves something open. The items of arrays stay text.
"""

from __future__ import annotations

from agentsandbox.languages.jq.json_text import (
    MANY,
    NOTHING,
    Fractions,
    JsonError,
    Stack,
    is_plain,
    next_item,
    parse_slowly,
    scanner,
    skip_blanks,
)
from agentsandbox.languages.jq.packing import pack_text, reader, rows
from agentsandbox.languages.jq.rows import loose
from agentsandbox.languages.jq.values import Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["DONE", "MORE", "PIECE", "STRANGE", "Assembly"]

PIECE = 1 << 20
"""Characters that are decoded at a time."""
_ROWS = 1 << 16
"""The same of an array, if there is a border so soon."""
_SMALL_PIECE = 1 << 12
"""The same where something in a larger piece can't be left to Python's decoder."""
_LARGE = 1 << 20
"""A container that does not end within so many characters is opened."""
_LONGEST_WAIT = 4096
"""Items that are taken one by one at most before a piece is tried again."""
_BORDER = 256
_DIGITS = frozenset("-0123456789")
_BEHIND = frozenset(",]} \t\n\r")
"""What may follow a number."""
_SHORT = 24
"""Strings of fewer characters are kept once."""
_MOST_KNOWN = 1 << 17
"""Numbers or strings that are remembered, so that equal ones are kept once."""
_ROW = 4096
"""Numbers that are looked up at a time."""
_PAUSE, _LONGEST_PAUSE = 64, 1024
"""Such rows that are left as they are at first and at most, where few are equal."""
_WHOLE = frozenset((int,))
_REFERENCE, _NUMBER = 8, 150
_MUCH = 3
"""A list of numbers is kept as it is, if it takes no more than so many times its text."""
_NUMBERS = frozenset((int, float, Literal))
_EQUAL = frozenset((int, float))
_TEXTS = frozenset((str,))
_SHARED = frozenset((str, list, dict))
_FEW = 16
"""An array of no more is not looked through for its kinds."""

DONE, MORE, STRANGE = range(3)
"""The value is complete; more text is needed; the text is none that Python's decoder reads as jq does."""


class Assembly:
    """One array or object. `stack` is where its parsing stands, as `parse_slowly` takes it over."""

    def __init__(self, budget: Budget) -> None:
        self.stack = Stack()
        self._budget = budget
        self._pool = _Pool()
        self._scan = scanner(self._pool.fractions.__getitem__)
        self._check = scanner(float)
        self._read = reader()
        self._marks: list[str] = []
        self._waits = 0
        self._patience = 1
        self._doubtful = 0

    def take(self, text: str, position: int, *, ended: bool) -> tuple[int, int]:
        """Take what is complete in the text from `position` on: how it stands, and the offset behind it."""
        stack, size = self.stack, len(text)
        while stack.open or stack.next is NOTHING:
            self._budget.step()
            position = skip_blanks(text, position)
            if position >= size or (size - position < PIECE // 2 and not ended):
                return (STRANGE if ended else MORE), position
            before = position
            if stack.next is not NOTHING:
                position = self._close_item(text, position)
            elif stack.open and type(stack.open[-1]) is not str and (after := self._take_piece(text, position)):
                position = after
            else:
                position = self._take_item(text, position)
            if position < 0:
                return (MORE if not ended else STRANGE), before
        return DONE, position

    def _close_item(self, text: str, position: int) -> int:
        """What may stand behind an item: a comma, or the end of its container; -1 for anything else."""
        stack = self.stack
        sign = text[position]
        key = type(stack.open[-1]) is str
        if sign == ",":
            if not self._marks[-1]:
                self._marks[-1] = _mark(text, position)
            stack.attach()
            return position + 1
        if sign == ("}" if key else "]"):
            stack.attach()
            stack.next = stack.open.pop()
            self._marks.pop()
            return position + 1
        return -1

    def _take_item(self, text: str, position: int) -> int:
        """One value, or a key with its colon; -1 if it isn't complete, or strange. A large container is opened."""
        stack = self.stack
        sign = text[position]
        long = sign in "[{" and len(text) - position > _LARGE
        found = next_item(text[position : position + _LARGE], 0) if long else next_item(text, position)
        if found is not None:
            value, end = found
            end += position * long
            if type(value) not in (list, dict, str) and text[end : end + 1] not in _BEHIND:
                return -1
            if not is_plain(text[position:end]):
                exact = _slowly(text[position:end], self._budget)
                if exact is None:
                    return -1
                value = exact[0]
            if stack.open and type(stack.open[-1]) is dict:
                colon = skip_blanks(text, end)
                if type(value) is not str or text[colon : colon + 1] != ":":
                    return -1
                stack.open.append(value)
                return colon + 1
            stack.next = value
            return end
        if not long or (stack.open and type(stack.open[-1]) is dict):
            return -1
        stack.open.append(rows(self._budget) if sign == "[" else {})
        self._marks.append("")
        return position + 1

    def _take_piece(self, text: str, position: int) -> int:
        """As many items of the innermost container as are decoded at a time, with the comma behind them; 0 if that fails."""
        mark = self._marks[-1]
        if self._waits or not mark:
            self._waits = max(self._waits - 1, 0)
            return 0
        self._budget.breathe()
        top, plain = self.stack.open[-1], False
        numbers = text[position] in _DIGITS and self._pool.is_open()
        size = _SMALL_PIECE if self._doubtful > 0 else PIECE if numbers or type(top) is dict else _ROWS
        cut = text.rfind(mark, position, position + size)
        if cut <= position and self._doubtful <= 0:
            cut = text.rfind(mark, position, position + PIECE)
        found = None
        if cut > position:
            cut += mark[0] in '}]"'
            left, right = "{}" if type(top) is dict else "[]"
            piece = f"{left}{text[position:cut]}{right}"
            plain = is_plain(piece)
            if plain:
                found = next_item(piece, 0, self._scan if numbers or type(top) is dict else self._check)
            elif self._doubtful <= 0 and len(piece) > _SMALL_PIECE:
                self._doubtful = len(piece)
                return self._take_piece(text, position)
            else:
                found = _slowly(piece, self._budget)
            self._doubtful -= len(piece)
        if found is None or not found[0]:  # nothing may end behind a comma
            self._marks[-1] = ""  # another border may look better
            self._waits = self._patience = min(2 * self._patience, _LONGEST_WAIT)
            return 0
        self._patience = 1
        items, end = found
        self._keep(items, piece[:end] if plain else None, numbers=numbers)
        if end < len(piece):  # the container ends within
            self.stack.next = self.stack.open.pop()
            self._marks.pop()
            return position + end - 1
        return text.index(",", cut) + 1

    def _keep(self, items: Any, text: str | None, *, numbers: bool) -> None:
        """Put items into the innermost container; those of an array as the text that they stand for, if there is one."""
        top = self.stack.open[-1]
        if type(top) is dict:
            _share(items, self._pool)
            top.update(items)
        elif text is None:
            top.extend(items)
        elif numbers and self._pool.take(items, len(text)):
            top.add(loose(items), len(items))
        else:
            top.add(pack_text(text, self._read), len(items))


def _slowly(text: str, budget: Budget) -> tuple[Value, int] | None:
    """As `next_item` at the start of a text that Python's decoder doesn't read as jq does."""
    try:
        return next(parse_slowly(text, 0, budget.step))
    except JsonError:
        return None


def _mark(text: str, comma: int) -> str:
    """The text between two items around a comma, with what is likely to be the same between others."""
    before = text[max(0, comma - _BORDER) : comma]
    start = comma - (len(before) - len(before.rstrip(" \t\n\r")))
    start -= text[start - 1] in '}]"'
    end = skip_blanks(text, comma + 1)
    following = text[end : end + 1]
    if following == "{":
        name = skip_blanks(text, end + 1)
        end = text.find('"', name + 1) if text[name : name + 1] == '"' else end
    return text[start : end + (following in ("{", "[", '"'))]


class _Pool:
    """Equal values of arrays that have only numbers or only short strings, kept once as long as it is worth the time."""

    def __init__(self) -> None:
        self._known: dict[Value, Value] = {}
        self._skipped = 0
        self._pause = _PAUSE
        self._closed = 0
        self._size = 0
        self.fractions = Fractions()
        """What was read as a number with a fraction."""
        self.small: dict[int, int] = {}
        """Whole numbers that are members of large objects."""
        self.empty: dict[type, Value] = {list: [], dict: {}}

    def is_open(self) -> bool:
        """Whether numbers may be kept here again."""
        self._closed -= self._closed > 0
        return not self._closed

    def take(self, numbers: list[Value], size: int) -> bool:
        """Keep equal numbers once; whether the list then takes little more than its text of that size."""
        known, before = self._known, self._size
        kinds = set(map(type, numbers))
        if not kinds <= _NUMBERS:
            return False
        if kinds == _WHOLE:
            numbers[:] = map(known.setdefault, numbers, numbers)
        self._size = len(known) + len(self.fractions)
        made = self._size - before
        if self._size < MANY and _REFERENCE * len(numbers) + _NUMBER * made < _MUCH * size:
            return True
        known.clear()
        self._closed = _PAUSE
        return False

    def share(self, array: list[Value]) -> None:
        """Put what is known in place of what is equal to it."""
        known = self._known
        for start in range(0, len(array), _ROW):
            if self._skipped:
                self._skipped -= 1
                continue
            row = array[start : start + _ROW]
            before = len(known)
            array[start : start + _ROW] = map(known.setdefault, row, row)
            if len(known) > _MOST_KNOWN:
                if len(known) - before > len(row) // 2:
                    self._skipped = self._pause
                    self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                known.clear()


def _share(items: Any, pool: _Pool) -> None:
    """Keep equal short strings of a piece once, and empty containers and whole numbers; `pool` shares with other pieces too."""
    if len(pool.small) > _MOST_KNOWN:
        pool.small.clear()
    same = dict[str, str]().setdefault
    numbers = pool.small.setdefault
    empty = pool.empty
    pending = [items]
    while pending:
        here = pending.pop()
        if type(here) is list and len(here) > _FEW:
            kinds = set(map(type, here))
            if kinds <= _EQUAL or (kinds == _TEXTS and max(map(len, here)) < _SHORT):
                pool.share(here)
                continue
            if not kinds & _SHARED:
                continue
        for key, value in here.items() if type(here) is dict else enumerate(here):
            kind = type(value)
            if kind is str:
                if len(value) < _SHORT:
                    here[key] = same(value, value)
            elif kind is int:
                here[key] = numbers(value, value)
            elif kind is dict or kind is list:
                if value:
                    pending.append(value)
                else:
                    here[key] = empty[kind]
