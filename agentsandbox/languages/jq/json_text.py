"""JSON text in and out, as jq reads and prints it.

Reading is fast where Python's own decoder accepts the text and gives what jq would; everything else (errors, `nan`,
lone surrogates, leading zeros, deep nesting) goes through a parser that follows jq's, message by message.
"""

from __future__ import annotations

import json.decoder
import json.encoder
import math
import re
from decimal import Decimal, InvalidOperation

from agentsandbox.languages.jq.values import Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.languages.jq.values import Value

    Scan = Callable[[str, int], tuple[Value, int]]

__all__ = [
    "COLORS",
    "NOTHING",
    "Dumper",
    "JsonError",
    "Stack",
    "dump",
    "dump_prefix",
    "dump_within",
    "is_plain",
    "next_item",
    "next_value",
    "number_text",
    "parse_number",
    "parse_one",
    "parse_slowly",
    "quote",
    "scanner",
    "skip_blanks",
    "text_place",
]

_PARSE_DEPTH = 10000
_PRINT_DEPTH = 256
_PIECES = 4096
_RESET = "\x1b[0m"
_TOO_DEEP = "<skipped: too deep>"

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"([+-]?)(?:inf(?:inity)?)", re.IGNORECASE)
_NAN = re.compile(r"[+-]?s?nan[0-9]*", re.IGNORECASE)
_BLANK = re.compile(r"[ \t\n\r]*")
_MINUS_ZERO = re.compile(r"-0(?<![^\[,:\s}\]]-0)(?![.0-9eE])")
_HALF_PAIR = re.compile(r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]", re.DOTALL)
_AFTER_WORD = ' \t\n\r[{"'
_LONG = 300
_STRICT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_SMALL = ("0.00000", "-0.00000")


class JsonError(Exception):
    """The text is not JSON; the message is jq's. `end` is the offset behind what showed it, None for the end of the text."""

    def __init__(self, message: str, end: int | None = None) -> None:
        self.end = end
        super().__init__(message)


# numbers


def parse_number(text: str) -> Value:
    """The value of a number's text: an int where printing it gives the text back, else a float or a `Literal`."""
    if text.isdecimal() and text.isascii() and len(text) < _LONG:
        return int(text)
    return _parse_float(text) if _STRICT.fullmatch(text) else _canonical(text, float(text))


def _parse_float(text: str) -> Value:
    """A number with a fraction or an exponent, as JSON's grammar allows it."""
    value = float(text)
    if text[-1] != "0" and repr(value) == text and "e" not in text:
        return value
    if "e" in text or "E" in text or text.startswith(_SMALL):
        return _canonical(text, value)
    return Literal(value, text)


def _canonical(text: str, value: float) -> Value:
    """As `_parse_float` for a number that jq prints in another form than it was written in."""
    try:
        canonical = str(Decimal(text))
    except InvalidOperation:
        return value
    body = canonical[1:] if canonical[0] == "-" else canonical
    if body.isdecimal() and len(body) < _LONG and canonical != "-0":
        return int(canonical)
    return Literal(value, canonical)


def number_text(value: Value) -> str:
    """A number as jq prints it: a literal as it was written, a computed one with up to 17 digits."""
    kind = type(value)
    if kind is int:
        return str(value)
    if kind is Literal:
        text: str = value.text
        return text
    plain = repr(value)
    if "e" not in plain and "n" not in plain:
        return plain[:-2] if plain[-2:] == ".0" else plain
    if value != value:
        return "null"
    if value in (math.inf, -math.inf):
        return "1.7976931348623157e+308" if value > 0 else "-1.7976931348623157e+308"
    return _double_text(plain)


def _double_text(plain: str) -> str:
    """The digits of a double, with an exponent beyond 10^-5 and 15 places after the digits."""
    sign, digit_tuple, exponent = Decimal(plain).as_tuple()
    digits = "".join(map(str, digit_tuple)).lstrip("0").rstrip("0") or "0"
    prefix = "-" if sign else ""
    if digits == "0":
        return prefix + "0"
    all_digits = "".join(map(str, digit_tuple)).lstrip("0")
    assert isinstance(exponent, int)
    point = len(all_digits) + exponent
    count = len(digits)
    if point <= -4 or point > count + 15:
        power = point - 1
        mantissa = digits[0] + ("." + digits[1:] if count > 1 else "")
        return f"{prefix}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if point <= 0:
        return f"{prefix}0.{'0' * -point}{digits}"
    if point >= count:
        return prefix + digits + "0" * (point - count)
    return f"{prefix}{digits[:point]}.{digits[point:]}"


# printing

_encode_plain = json.encoder.encode_basestring
_encode_ascii = json.encoder.encode_basestring_ascii
_make_encoder: Any = json.encoder.c_make_encoder  # type: ignore[attr-defined]  # not in the stubs
_PLAIN = frozenset((str, int, bool, type(None)))
_TEXTS = {str}
_FEW = 4
"""Members that are written as quickly one by one."""
_NAMES = 500
"""Names of members whose text is kept."""


def quote(text: str) -> str:
    """A JSON string."""
    quoted = _encode_plain(text)
    return quoted.replace("\x7f", "\\u007f") if "\x7f" in quoted else quoted


COLORS = ("0;90", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "1;34")
"""Of null, false, true, numbers, strings, arrays, objects, object keys."""


class _Parts(list[str]):
    """The pieces of one value's text; the spilled ones as few long ones, or given away at once."""

    __slots__ = ("sink", "spilled")

    def __init__(self, sink: Callable[[str], None] | None) -> None:
        super().__init__()
        self.spilled: list[str] = []
        self.sink = self.spilled.append if sink is None else sink

    def spill(self) -> None:
        """Make room."""
        text = "".join(self)
        self.sink(text.replace("\x7f", "\\u007f") if "\x7f" in text else text)
        self.clear()


def _is_simple(value: list[Value]) -> bool:
    """Whether it is so short, and has so little in it, that Python's encoder may print it whole: the event of a stream for one."""
    if len(value) > _FEW:
        return False
    for item in value:
        kind = type(item)
        if kind not in _PLAIN and (kind is not list or len(item) > _PIECES or not _PLAIN.issuperset(map(type, item))):
            return False
    return True


class Dumper:
    """Prints values in one style. `indent` is the text of one level; unless `pretty`, "" puts everything on one line."""

    def __init__(
        self,
        *,
        indent: str = "",
        pretty: bool | None = None,
        sort_keys: bool = False,
        ascii_only: bool = False,
        colors: tuple[str, ...] | None = None,
    ) -> None:
        self.indent = indent
        self.pretty = bool(indent) if pretty is None else pretty
        self.sort_keys = sort_keys
        self.ascii_only = ascii_only
        self.quote: Callable[[str], str] = _encode_ascii if ascii_only else _encode_plain
        self._colon = ": " if self.pretty else ":"
        self._names: dict[str, str] = {}
        self._encoders: dict[str, Callable[[Value, int], tuple[str, ...]]] = {}
        self.colors = tuple(f"\x1b[{color}m" for color in colors) if colors is not None else None

    def text(self, value: Value, sink: Callable[[str], None] | None = None) -> str:
        """The value as JSON; of a long text all but the last piece goes to `sink`, if there is one."""
        kind = type(value)
        if self.colors is not None:
            parts: list[str] = []
            self._colored(value, 0, parts)
            return "".join(parts).replace("\x7f", "\\u007f")
        if kind is str:
            text = self.quote(value)
            return text.replace("\x7f", "\\u007f") if "\x7f" in text else text
        if kind is int:
            return str(value)
        if kind is not dict and kind is not list:
            return self._scalar(value)
        if not self.pretty and kind is list and _is_simple(value) and _make_encoder is not None:
            text = "".join(self._encoder("")(value, 0))
            return text.replace("\x7f", "\\u007f") if "\x7f" in text else text
        pieces = _Parts(sink)
        self._write(value, 0, pieces, "\n" if self.pretty else "")
        text = "".join([*pieces.spilled, *pieces])
        return text.replace("\x7f", "\\u007f") if "\x7f" in text else text

    def _scalar(self, value: Value) -> str:
        if value is None:
            return "null"
        if value is True:
            return "true"
        if value is False:
            return "false"
        return number_text(value)

    def _write(self, value: Value, level: int, parts: _Parts, newline: str) -> None:
        """An array or object; `newline` is what its last line begins with."""
        if level > _PRINT_DEPTH:
            parts.append(_TOO_DEEP)
        elif not value:
            parts.append("[]" if type(value) is list else "{}")
        elif type(value) is list:
            self._write_array(value, level, parts, newline)
        else:
            self._write_object(value, level, parts, newline)

    def _encoder(self, inner: str) -> Callable[[Value, int], tuple[str, ...]]:
        """Python's own encoder for containers without containers."""
        found = self._encoders.get(inner)
        if found is None:
            quote = _encode_ascii if self.ascii_only else _encode_plain
            made = _make_encoder(None, None, quote, None, self._colon, "," + inner, self.sort_keys, False, False)
            found = self._encoders[inner] = made
        return found

    def _write_plain(self, value: Value, parts: _Parts, newline: str, inner: str) -> None:
        text = "".join(self._encoder(inner)(value, 0))
        parts.append(f"{text[0]}{inner}{text[1:-1]}{newline}{text[-1]}")

    def _write_object(self, value: dict[str, Value], level: int, parts: _Parts, newline: str) -> None:
        inner = newline + self.indent if self.pretty else ""
        if len(value) > _FEW and _PLAIN.issuperset(map(type, value.values())) and _make_encoder is not None:
            self._write_plain(value, parts, newline, inner)
            return
        out, quote_text, names = parts.append, self.quote, self._names
        separator = "{" + inner
        for name, item in sorted(value.items()) if self.sort_keys else value.items():
            key = names.get(name)
            if key is None:
                key = quote_text(name) + self._colon
                if len(names) < _NAMES:
                    names[name] = key
            kind = type(item)
            if kind is str:
                out(f"{separator}{key}{quote_text(item)}")
            elif kind is int:
                out(f"{separator}{key}{item}")
            elif kind is dict or kind is list:
                out(separator + key)
                self._write(item, level + 1, parts, inner)
            else:
                out(f"{separator}{key}{number_text(item) if kind is float else self._scalar(item)}")
            separator = "," + inner
        if len(parts) > _PIECES:
            parts.spill()
        out(newline + "}")

    def _write_array(self, value: list[Value], level: int, parts: _Parts, newline: str) -> None:
        inner = newline + self.indent if self.pretty else ""
        kinds = set(map(type, value))
        if len(value) > _PIECES and kinds <= _PLAIN and _make_encoder is not None:
            encode = self._encoder(inner)
            opening = "["
            for start in range(0, len(value), _PIECES):
                parts.append(opening + inner + "".join(encode(value[start : start + _PIECES], 0))[1:-1])
                parts.spill()
                opening = ","
            parts.append(newline + "]")
            return
        if kinds == _TEXTS:
            parts.append(f"[{inner}{f',{inner}'.join(map(self.quote, value))}{newline}]")
            return
        if kinds <= _PLAIN and _make_encoder is not None:
            self._write_plain(value, parts, newline, inner)
            return
        out = parts.append
        separator = "[" + inner
        for item in value:
            kind = type(item)
            out(separator)
            if kind is dict or kind is list:
                self._write(item, level + 1, parts, inner)
            else:
                out(self.quote(item) if kind is str else self._scalar(item))
            separator = "," + inner
            if len(parts) > _PIECES:
                parts.spill()
        out(newline + "]")

    def _colored(self, value: Value, level: int, parts: list[str]) -> None:
        colors = self.colors
        assert colors is not None
        kind = type(value)
        if kind is dict or kind is list:
            color = colors[6] if kind is dict else colors[5]
            parts.append(color)
            if level > _PRINT_DEPTH:
                parts.append(_TOO_DEEP)
            elif not value:
                parts.append("{}" if kind is dict else "[]")
            else:
                self._colored_items(value, level, parts, color)
            parts.append(_RESET)
            return
        if value is None or value != value:
            color = colors[0]
        elif kind is bool:
            color = colors[2] if value else colors[1]
        else:
            color = colors[4] if kind is str else colors[3]
        parts.append(f"{color}{self.quote(value) if kind is str else self._scalar(value)}{_RESET}")
        if value is not None and value != value:
            parts[-1] = f"{colors[3]}{parts[-1]}{_RESET}"

    def _colored_items(self, value: Value, level: int, parts: list[str], color: str) -> None:
        assert self.colors is not None
        field = self.colors[7]
        is_object = type(value) is dict
        newline = "\n" + self.indent * (level + 1) if self.pretty else ""
        items = (sorted(value.items()) if self.sort_keys else value.items()) if is_object else ((None, item) for item in value)
        parts.append("{" if is_object else "[")
        for at, (name, item) in enumerate(items):
            if at:
                parts.append(f"{color},")
            parts.append(_RESET + newline)
            if name is not None:
                parts.append(f"{field}{self.quote(name)}{_RESET}{color}:{_RESET}{' ' if self.pretty else ''}")
            self._colored(item, level + 1, parts)
        if self.pretty:
            parts.append("\n" + self.indent * level)
        parts.append(color + ("}" if is_object else "]"))


_COMPACT = Dumper()
dump = _COMPACT.text


def dump_within(value: Value, check: Callable[[int], None]) -> str:
    """The value as JSON; `check` is told now and then how long the text is by then, and may raise."""
    if type(value) is not list and type(value) is not dict:
        return dump(value)
    pieces: list[str] = []
    size = 0

    def collect(text: str) -> None:
        nonlocal size
        size += len(text)
        check(size)
        pieces.append(text)

    pieces.append(_COMPACT.text(value, collect))
    return "".join(pieces)


class _EnoughError(Exception):
    pass


def dump_prefix(value: Value, size: int) -> str:
    """The value as JSON, of which only the first `size` characters are sure to be right: for messages."""
    if isinstance(value, str):
        return quote(value[:size])
    if not isinstance(value, (list, dict)):
        return dump(value)
    found = ""

    def collect(text: str) -> None:
        nonlocal found
        found += text
        if len(found) > size:
            raise _EnoughError

    try:
        rest = _COMPACT.text(value, collect)
    except _EnoughError:
        return found
    return found + rest


# reading, the fast way

_MANY = 1 << 17
"""Texts of numbers whose value is remembered."""


class _Fractions(dict[str, "Value"]):
    """Numbers with a fraction by their text."""

    def __missing__(self, text: str) -> Value:
        value = _parse_float(text)
        if len(self) < _MANY:
            self[text] = value
        return value


def scanner(parse_float: Callable[[str], Value] | None = None) -> Scan:
    """Python's decoder as a function from a text and an offset to the value there and the offset behind it.

    Unless there is another function for numbers with a fraction, equal ones are one object.
    """
    made: Scan = json.decoder.JSONDecoder(parse_float=parse_float or _Fractions().__getitem__).scan_once  # type: ignore[attr-defined]  # not in the stubs
    return made


_scan = scanner(_parse_float)


def is_plain(text: str) -> bool:
    """Whether Python's decoder reads what there is in the text as jq does: no -0, no half of a surrogate pair."""
    if "-0" in text and _MINUS_ZERO.search(text) is not None:
        return False
    return not (("\\ud" in text or "\\uD" in text) and _HALF_PAIR.search(text) is not None)


def next_value(text: str, position: int) -> tuple[Value, int] | None:
    """The value that starts at `position` and the offset after it; None if Python's decoder cannot tell.

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
    if (follows and follows not in _AFTER_WORD) or text[position] in "NI" or text.startswith("-I", position):
        return None
    return value, end


def next_item(text: str, position: int, scan: Scan = _scan) -> tuple[Value, int] | None:
    """As `next_value` for a value within an array or object."""
    try:
        return scan(text, position)
    except (StopIteration, ValueError, RecursionError):
        return None


def skip_blanks(text: str, position: int) -> int:
    """The offset of the next character that is not blank."""
    found = _BLANK.match(text, position)
    return position if found is None else found.end()


def parse_one(text: str) -> Value:
    """The one value in a text, as `fromjson` reads it."""
    start = skip_blanks(text, 0)
    if is_plain(text):
        found = next_value(text, start)
        if found is not None and skip_blanks(text, found[1]) == len(text):
            return found[0]
    values = [value for value, _end in _first_two(parse_slowly(text, 0, lambda: None))]
    if not values:
        raise JsonError("Expected JSON value")
    if len(values) > 1:
        raise JsonError("Unexpected extra JSON values")
    return values[0]


def _first_two(values: Iterator[tuple[Value, int]]) -> Iterator[tuple[Value, int]]:
    for count, item in enumerate(values):
        yield item
        if count:
            return


# reading, with jq's own messages

_STRUCTURE = re.compile(r'[ \t\n\r\x1e]+|([\[\]{}:,])|"((?:[^"\\]|\\[\s\S])*)(")?|[^\[\]{}:," \t\n\r\x1e]+')
_LITERALS: dict[str, Value] = {"true": True, "false": False, "null": None, "nan": math.nan}


NOTHING = object()


class Stack:
    """What jq's parser keeps: the open containers with the keys that wait for a value, and the value just read, if any."""

    def __init__(self) -> None:
        self.open: list[Value] = []
        self.next: object = NOTHING

    def value(self, value: Value) -> str | None:
        if self.next is not NOTHING:
            return "Expected separator between values"
        self.next = value
        return None

    def token(self, sign: str) -> str | None:
        """Take one structural character; the message when it does not fit."""
        return _TOKENS[sign](self)

    def begin(self, container: Value) -> str | None:
        if len(self.open) >= _PARSE_DEPTH:
            return "Exceeds depth limit for parsing"
        if self.next is not NOTHING:
            return "Expected separator between values"
        self.open.append(container)
        return None

    def colon(self) -> str | None:
        if not self.open:
            return "Expected string key before ':'" if self.next is NOTHING else "':' not as part of an object"
        if self.next is NOTHING:
            return "Expected string key before ':'"
        if type(self.open[-1]) is not dict:
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
    if word[0] in "tf" or word.startswith("nu"):
        if word not in _LITERALS:
            return "Invalid literal"
        value = _LITERALS[word]
    elif word in _LITERALS:
        value = _LITERALS[word]
    elif _NUMBER.fullmatch(word):
        digits = word[1:] if word[0] == "+" else word
        value = parse_number(digits)
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
            raise JsonError("Invalid characters in \\uXXXX escape" if wrong else "Invalid \\uXXXX escape")
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
        raise JsonError("Invalid string: control characters from U+0000 through U+001F must be escaped")
    parts.append(body[position:])
    return "".join(parts)


def parse_slowly(
    text: str, start: int, step: Callable[[], None], before: tuple[int, int] = (0, 0), stack: Stack | None = None
) -> Iterator[tuple[Value, int]]:
    """Each value of the text from `start` and the offset after it, with jq's messages; `step` is called for every token.

    before  as for `text_place`
    stack   where the parsing stands, if the text begins within a value
    """
    stack = stack or Stack()
    size = len(text)
    position = start
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
            message = stack.token(sign)
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
