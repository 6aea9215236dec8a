"""Reading JSON text as jq does.

It is fast where Python's own decoder accepts the text and gives what jq would; everything else
(errors, `nan`, lone surrogates, leading zeros, deep nesting) goes through a parser that follows
jq's, message by message.
"""

from __future__ import annotations

import json.decoder
import math
import re
from decimal import Decimal, InvalidOperation
from itertools import islice

from agentsandbox.commands._json.values import Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._json.values import Value

    Scan = Callable[[str, int], tuple[Value, int]]

_PARSE_DEPTH = 10000

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"([+-]?)(?:inf(?:inity)?)", re.IGNORECASE)
_NAN = re.compile(r"[+-]?s?nan[0-9]*", re.IGNORECASE)
_BLANK = re.compile(r"[ \t\n\r]*")
_MINUS_ZERO = re.compile(r"-0(?<![^\[,:\s}\]]-0)(?![.0-9eE])")
_HALF_PAIR = re.compile(
    r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]", re.DOTALL
)
_AFTER_WORD = ' \t\n\r[{"'
_LONG = 300
_STRICT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_SMALL = ("0.00000", "-0.00000")


class JsonError(Exception):
    """The text is not JSON; `end` is the offset behind the error, None for the end of the text."""

    def __init__(self, message: str, end: int | None = None) -> None:
        self.end = end
        super().__init__(message)


# numbers


def parse_number(text: str) -> Value:
    """Return the value of a number's text: an int if it prints as the same text."""
    if text.isdecimal() and text.isascii() and len(text) < _LONG:
        return int(text)
    return parse_float(text) if _STRICT.fullmatch(text) else _canonical(text, float(text))


def parse_float(text: str) -> Value:
    """A number with a fraction or an exponent, as JSON's grammar allows it."""
    value = float(text)
    if text[-1] != "0" and repr(value) == text and "e" not in text:
        return value
    if "e" in text or "E" in text or text.startswith(_SMALL):
        return _canonical(text, value)
    return Literal(value, text)


def _canonical(text: str, value: float) -> Value:
    """As `parse_float` for a number that jq prints in another form than it was written in."""
    try:
        canonical = str(Decimal(text))
    except InvalidOperation:
        return value
    body = canonical[1:] if canonical[0] == "-" else canonical
    if body.isdecimal() and len(body) < _LONG and canonical != "-0":
        return int(canonical)
    return Literal(value, canonical)


# reading, the fast way

_decoder = json.decoder.JSONDecoder(parse_float=parse_float)
_scan: Scan = _decoder.scan_once  # type: ignore[attr-defined]  # not in the stubs


def is_plain(text: str) -> bool:
    """Whether Python's decoder reads the text as jq does: no -0, no half of a surrogate pair."""
    if "-0" in text and _MINUS_ZERO.search(text) is not None:
        return False
    return not (("\\ud" in text or "\\uD" in text) and _HALF_PAIR.search(text) is not None)


def next_value(text: str, position: int) -> tuple[Value, int] | None:
    """The value that starts at `position` and the offset after it; None if Python's decoder cannot
    tell.

    A number at the very end may go on in text not read yet: the offset is then that of the end.
    """
    try:
        value, end = _scan(text, position)
    except (StopIteration, ValueError, RecursionError):
        return None
    kind = type(value)
    if kind is dict or kind is list or kind is str:
        return value, end
    follows = text[end : end + 1]
    if (
        (follows and follows not in _AFTER_WORD)
        or text[position] in "NI"
        or text.startswith("-I", position)
    ):
        return None
    return value, end


def next_item(text: str, position: int) -> tuple[Value, int] | None:
    """Read like `next_value` a value within an array or object."""
    try:
        return _scan(text, position)
    except (StopIteration, ValueError, RecursionError):
        return None


def skip_blanks(text: str, position: int) -> int:
    """The offset of the next character that is not blank."""
    found = _BLANK.match(text, position)
    return position if found is None else found.end()


def parse_one(text: str) -> Value:
    """The one value in a text, as `fromjson` reads it."""
    values = _only_value(text)
    if values is None:
        values = [value for value, _end in islice(parse_slowly(text, lambda: None), 2)]
    if not values:
        raise JsonError("Expected JSON value")
    if len(values) > 1:
        raise JsonError("Unexpected extra JSON values")
    return values[0]


def _only_value(text: str) -> list[Value] | None:
    """Return the value of a text that has just one, if Python's decoder can tell."""
    start = skip_blanks(text, 0)
    if start < len(text) and is_plain(text):
        found = next_value(text, start)
        if found is not None and skip_blanks(text, found[1]) == len(text):
            return [found[0]]
    return None


# reading, with jq's own messages

_STRUCTURE = re.compile(
    r'[ \t\n\r\x1e]+|([\[\]{}:,])|"((?:[^"\\]|\\[\s\S])*)(")?|[^\[\]{}:," \t\n\r\x1e]+'
)
_LITERALS: dict[str, Value] = {"true": True, "false": False, "null": None, "nan": math.nan}


NOTHING = object()


class Stack:
    """The open containers, keys that have no value yet among them, and the value just read."""

    def __init__(self) -> None:
        self.open: list[Value] = []
        self.next: object = NOTHING

    def value(self, value: Value) -> str | None:
        if self.next is not NOTHING:
            return "Expected separator between values"
        self.next = value
        return None

    def begin(self, container: Value) -> str | None:
        if len(self.open) >= _PARSE_DEPTH:
            return "Exceeds depth limit for parsing"
        if self.next is not NOTHING:
            return "Expected separator between values"
        self.open.append(container)
        return None

    def colon(self) -> str | None:
        if self.next is NOTHING:
            return "Expected string key before ':'"
        if not self.open or type(self.open[-1]) is not dict:
            return "':' not as part of an object"
        if not isinstance(self.next, str):
            return "Object keys must be strings"
        self.open.append(self.next)
        self.next = NOTHING
        return None

    def comma(self) -> str | None:
        if self.next is NOTHING:
            return "Expected value before ','"
        if not self.open:
            return "',' not as part of an object or array"
        if not self.attach():
            return "Objects must consist of key:value pairs"
        return None

    def attach(self) -> bool:
        """Put the value just read into the innermost container; false for a value without a key."""
        top = self.open[-1]
        if type(top) is list:
            top.append(self.next)
        elif isinstance(top, str):
            self.open.pop()
            self.open[-1][top] = self.next
        else:
            return False
        self.next = NOTHING
        return True

    def close_array(self) -> str | None:
        if not self.open or type(self.open[-1]) is not list:
            return "Unmatched ']'"
        if self.next is not NOTHING:
            self.attach()
        elif self.open[-1]:
            return "Expected another array element"
        self.next = self.open.pop()
        return None

    def close_object(self) -> str | None:
        if not self.open:
            return "Unmatched '}'"
        if self.next is not NOTHING:
            if not isinstance(self.open[-1], str):
                return "Objects must consist of key:value pairs"
            self.attach()
        else:
            if type(self.open[-1]) is not dict:
                return "Unmatched '}'"
            if self.open[-1]:
                return "Expected another key-value pair"
        self.next = self.open.pop()
        return None


_TOKENS: dict[str, Callable[[Stack], str | None]] = {
    "[": lambda stack: stack.begin([]),
    "{": lambda stack: stack.begin({}),
    ":": Stack.colon,
    ",": Stack.comma,
    "]": Stack.close_array,
    "}": Stack.close_object,
}
"""Each takes one structural character and returns the message when it does not fit."""


def text_place(text: str, position: int, before: tuple[int, int] = (0, 0)) -> str:
    """Where jq's parser stands after reading the character before `position`; columns count bytes.

    before  the lines before the text, and the bytes that its first line has before it
    """
    lines = text.count("\n", 0, position)
    start = text.rfind("\n", 0, position) + 1
    column = len(text[start:position].encode("utf-8", "surrogatepass"))
    return f"line {before[0] + lines + 1}, column {column if lines else before[1] + column}"


def _literal(word: str, stack: Stack) -> str | None:
    """Take a bare word: true, false, null, nan or a number."""
    if word[0] == "'":
        return "Invalid string literal; expected \", but got '"
    value: Value
    if word[0] in "+-.0123456789":
        word = word.partition("\0")[0]  # a string of C
    if word in _LITERALS:
        value = _LITERALS[word]
    elif word[0] in "tf" or word.startswith("nu"):
        return "Invalid literal"
    elif _NUMBER.fullmatch(word):
        value = parse_number(word.removeprefix("+"))
    elif infinite := _INFINITE.fullmatch(word):
        value = -math.inf if infinite[1] == "-" else math.inf
    elif _NAN.fullmatch(word) and not word[-1].isdigit():
        value = math.nan
    else:
        return "Invalid numeric literal"
    return stack.value(value)


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(u)|([\s\S]))")
_CONTROL = re.compile(r"[\x00-\x1f]")
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _unescape(body: str) -> str:
    """A string's text; `JsonError` for an escape that is none."""
    control = _CONTROL.search(body)
    if "\\" not in body and control is None:
        return body
    first = len(body) if control is None else control.start()
    parts: list[str] = []
    position = 0
    while (found := _ESCAPE.search(body, position)) is not None and found.start() < first:
        parts.append(body[position : found.start()])
        position = found.end()
        if found[3] is not None:
            if found[3] not in _SIMPLE:
                raise JsonError("Invalid escape")
            parts.append(_SIMPLE[found[3]])
            continue
        if found[1] is None:
            wrong = len(body) - found.start() >= 6
            raise JsonError(
                "Invalid characters in \\uXXXX escape" if wrong else "Invalid \\uXXXX escape"
            )
        code = int(found[1], 16)
        if 0xD800 <= code < 0xDC00:
            low = _ESCAPE.match(body, position)
            second = int(low[1], 16) if low is not None and low[1] is not None else 0
            if not 0xDC00 <= second < 0xE000:
                raise JsonError("Invalid \\uXXXX\\uXXXX surrogate pair escape")
            assert low is not None
            position = low.end()
            parts.append(chr(0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00)))
        else:
            parts.append("\ufffd" if 0xDC00 <= code < 0xE000 else chr(code))
    if control is not None:
        raise JsonError(
            "Invalid string: control characters from U+0000 through U+001F must be escaped"
        )
    parts.append(body[position:])
    return "".join(parts)


def parse_slowly(
    text: str,
    step: Callable[[], None],
    before: tuple[int, int] = (0, 0),
    stack: Stack | None = None,
) -> Iterator[tuple[Value, int]]:
    """Yield each value and the offset after it, with jq's messages; `step` counts the tokens.

    before  as for `text_place`
    stack   the state of the parsing, if the text begins within a value
    """
    stack = stack or Stack()
    size = len(text)
    position = 0
    while position < size:
        match = _STRUCTURE.match(text, position)
        if match is None:  # a quote that is never closed
            break
        step()
        sign, body, closed = match.groups()
        position = match.end()
        message: str | None = None
        if body is not None:
            if closed is None:
                raise JsonError(f"Unfinished string at EOF at {text_place(text, size, before)}")
            try:
                message = stack.value(_unescape(body))
            except JsonError as error:
                message = str(error)
        elif sign is not None:
            message = _TOKENS[sign](stack)
        elif match[0][0] not in " \t\n\r\x1e":
            message = _literal(match[0], stack)
            if message is not None:
                if position >= size:
                    raise JsonError(f"{message} at EOF at {text_place(text, size, before)}")
                position += 1  # jq looks at a word when it sees what follows
            elif not stack.open and position < size:
                if text[position] in " \t\n\r":
                    position += 1
                elif text[position] in ",:]}":
                    stack.next = NOTHING  # jq forgets a word that such a sign follows at once
        if message is not None:
            raise JsonError(f"{message} at {text_place(text, position, before)}", position)
        if not stack.open and stack.next is not NOTHING:
            yield stack.next, position
            stack.next = NOTHING
    if stack.open or position < size:
        raise JsonError(f"Unfinished JSON term at EOF at {text_place(text, size, before)}")


def slurp(text: str, step: Callable[[], None]) -> list[Value]:
    """All JSON values of a text. Raises `JsonError`."""
    values = _only_value(text)
    return [value for value, _end in parse_slowly(text, step)] if values is None else values
