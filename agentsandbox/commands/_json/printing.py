"""Printing values as JSON text, as jq does."""

from __future__ import annotations

import json.encoder
import math
from decimal import Decimal

from agentsandbox.commands._json.values import CONTAINERS, Literal
from agentsandbox.kernel.budget import PIECE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands._json.values import Value

_PRINT_DEPTH = 256
_PIECES = 4096
_RESET = "\x1b[0m"
_TOO_DEEP = "<skipped: too deep>"


# numbers


def number_text(value: Value) -> str:
    """Return a number as jq prints it: a literal as written, a computed one in 17 digits."""
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


# containers

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
    """Whether Python's encoder may print a short array whole, such as an event of a stream."""
    for item in value:
        kind = type(item)
        if kind not in _PLAIN and (
            kind is not list or len(item) > _PIECES or not _PLAIN.issuperset(map(type, item))
        ):
            return False
    return True


class Dumper:
    """Prints values in one style; `indent` is the text of one level."""

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
        """Return the value as JSON; `sink` gets all but the last piece of a long text."""
        kind = type(value)
        if self.colors is not None:
            parts: list[str] = []
            self._colored(value, 0, parts)
            return "".join(parts).replace("\x7f", "\\u007f")
        if kind is str:
            if sink is not None and len(value) > PIECE:
                return self._quoted_by_pieces(value, sink)
            text = self.quote(value)
            return text.replace("\x7f", "\\u007f") if "\x7f" in text else text
        if kind is int:
            return str(value)
        if kind is not dict and kind is not list:
            return self._scalar(value)
        if (
            kind is list
            and not self.pretty
            and len(value) <= _FEW
            and _is_simple(value)
            and _make_encoder is not None
        ):
            text = "".join((self._encoders.get("") or self._encoder(""))(value, 0))
            return text.replace("\x7f", "\\u007f") if "\x7f" in text else text
        pieces = _Parts(sink)
        self._write(value, 0, pieces, "\n" if self.pretty else "")
        text = "".join([*pieces.spilled, *pieces])
        return text.replace("\x7f", "\\u007f") if "\x7f" in text else text

    def _quoted_by_pieces(self, value: str, sink: Callable[[str], None]) -> str:
        """Give a long string to `sink`, but for the closing quote, which is returned."""
        sink('"')
        for start in range(0, len(value), PIECE):
            text = self.quote(value[start : start + PIECE])[1:-1]
            sink(text.replace("\x7f", "\\u007f") if "\x7f" in text else text)
        return '"'

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
            parts.append("{}" if type(value) is dict else "[]")
        elif type(value) is list:
            self._write_array(value, level, parts, newline)
        else:
            self._write_object(value, level, parts, newline)

    def _encoder(self, inner: str) -> Callable[[Value, int], tuple[str, ...]]:
        """Python's own encoder for containers without containers."""
        found = self._encoders.get(inner)
        if found is None:
            quote = _encode_ascii if self.ascii_only else _encode_plain
            made = _make_encoder(
                None, None, quote, None, self._colon, "," + inner, self.sort_keys, False, False
            )
            found = self._encoders[inner] = made
        return found

    def _write_plain(self, value: Value, parts: _Parts, newline: str, inner: str) -> None:
        text = "".join(self._encoder(inner)(value, 0))
        parts.append(f"{text[0]}{inner}{text[1:-1]}{newline}{text[-1]}")

    def _write_object(
        self, value: dict[str, Value], level: int, parts: _Parts, newline: str
    ) -> None:
        inner = newline + self.indent if self.pretty else ""
        if (
            len(value) > _FEW
            and _PLAIN.issuperset(map(type, value.values()))
            and _make_encoder is not None
        ):
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
                parts.append(
                    opening + inner + "".join(encode(value[start : start + _PIECES], 0))[1:-1]
                )
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
        if kind in CONTAINERS:
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
        items = (
            (sorted(value.items()) if self.sort_keys else value.items())
            if is_object
            else ((None, item) for item in value)
        )
        parts.append("{" if is_object else "[")
        for at, (name, item) in enumerate(items):
            if at:
                parts.append(f"{color},")
            parts.append(_RESET + newline)
            if name is not None:
                parts.append(
                    f"{field}{self.quote(name)}{_RESET}{color}:{_RESET}{' ' if self.pretty else ''}"
                )
            self._colored(item, level + 1, parts)
        if self.pretty:
            parts.append("\n" + self.indent * level)
        parts.append(color + ("}" if is_object else "]"))


_COMPACT = Dumper()
dump = _COMPACT.text


def dump_within(value: Value, check: Callable[[int], None]) -> str:
    """Return the value as JSON; `check` gets the length of the text so far, and may raise."""
    if type(value) not in CONTAINERS:
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
    """Return the value as JSON, of which only the first `size` characters may be used."""
    if isinstance(value, str):
        return quote(value[:size])
    if not isinstance(value, CONTAINERS):
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
