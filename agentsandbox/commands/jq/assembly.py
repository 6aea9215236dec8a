"""Arrays and objects with a long text, put together from pieces.

The text of a piece is forgotten when it is decoded, and between two pieces the event loop gets a
turn.

A piece is all text up to a place that looks like the border of two items. Closed with the
container's own bracket, Python's decoder accepts it exactly if it is one: a cut within an item or a
string leaves something open.
"""

from __future__ import annotations

from agentsandbox.commands._json.json_text import (
    NOTHING,
    JsonError,
    Stack,
    is_plain,
    next_item,
    parse_slowly,
    skip_blanks,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget

PIECE = 1 << 20
"""Characters that are decoded at a time."""
_SMALL_PIECE = 1 << 12
"""The same where something in a larger piece can't be left to Python's decoder."""
_LARGE = 1 << 20
"""A container that does not end within so many characters is opened."""
_LONGEST_WAIT = 4096
"""Items that are taken one by one at most before a piece is tried again."""
_BORDER = 256
_BEHIND = frozenset(",]} \t\n\r")
"""What may follow a number."""

DONE, MORE, STRANGE = range(3)
"""The value is complete; more text is needed; Python's decoder reads the text otherwise."""


class Assembly:
    """One array or object. `stack` is the state of its parsing, for `parse_slowly` to continue."""

    def __init__(self, budget: Budget) -> None:
        self.stack = Stack()
        self._budget = budget
        self._marks: list[str] = []
        self._waits = 0
        self._patience = 1
        self._doubtful = 0

    def take(self, text: str, position: int, *, ended: bool) -> tuple[int, int]:
        """Take what is complete in the text; return the state and the offset after it."""
        stack, size = self.stack, len(text)
        while stack.open or stack.next is NOTHING:
            self._budget.step()
            position = skip_blanks(text, position)
            if position >= size or (size - position < PIECE // 2 and not ended):
                return (STRANGE if ended else MORE), position
            before = position
            if stack.next is not NOTHING:
                position = self._close_item(text, position)
            elif (
                stack.open
                and type(stack.open[-1]) is not str
                and (after := self._take_piece(text, position))
            ):
                position = after
            else:
                position = self._take_item(text, position)
            if position < 0:
                return (MORE if not ended else STRANGE), before
        return DONE, position

    def _close_item(self, text: str, position: int) -> int:
        """Take the comma after an item, or the end of its container; -1 for anything else."""
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
        """Take a value (a large container is opened), or a key with its colon; -1 if incomplete."""
        stack = self.stack
        sign = text[position]
        long = sign in "[{" and len(text) - position > _LARGE
        found = (
            next_item(text[position : position + _LARGE], 0) if long else next_item(text, position)
        )
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
        stack.open.append([] if sign == "[" else {})
        self._marks.append("")
        return position + 1

    def _take_piece(self, text: str, position: int) -> int:
        """Take a piece of the innermost container with the comma after it; 0 if that fails."""
        mark = self._marks[-1]
        if self._waits or not mark:
            self._waits = max(self._waits - 1, 0)
            return 0
        self._budget.breathe()
        top = self.stack.open[-1]
        cut = text.rfind(mark, position, position + (_SMALL_PIECE if self._doubtful > 0 else PIECE))
        found = None
        if cut > position:
            cut += mark[0] in '}]"'
            left, right = "{}" if type(top) is dict else "[]"
            piece = f"{left}{text[position:cut]}{right}"
            if is_plain(piece):
                found = next_item(piece, 0)
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
        if type(top) is dict:
            top.update(items)
        else:
            top.extend(items)
        if end < len(piece):  # the container ends within
            self.stack.next = self.stack.open.pop()
            self._marks.pop()
            return position + end - 1
        return text.index(",", cut) + 1


def _slowly(text: str, budget: Budget) -> tuple[Value, int] | None:
    """Decode like `next_item` a text that Python's decoder does not read as jq does."""
    try:
        return next(parse_slowly(text, budget.step))
    except JsonError:
        return None


def _mark(text: str, comma: int) -> str:
    """Return the text around a comma that is likely to be the same between other items."""
    before = text[max(0, comma - _BORDER) : comma]
    start = comma - (len(before) - len(before.rstrip(" \t\n\r")))
    start -= text[start - 1] in '}]"'
    end = skip_blanks(text, comma + 1)
    following = text[end : end + 1]
    if following == "{":
        name = skip_blanks(text, end + 1)
        end = text.find('"', name + 1) if text[name : name + 1] == '"' else end
    return text[start : end + (following in ("{", "[", '"'))]
