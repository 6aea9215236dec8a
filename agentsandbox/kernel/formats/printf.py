"""`printf` as bash's builtin: a format is compiled once and rendered to bytes for its arguments.

Widths and precisions count bytes, as in bash. `/usr/bin/printf` derives from `Rendering`, because
it words its messages differently.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import bytewise, encode, encode_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.formats.long_double import LongDouble

INT_MAX = 2**31 - 1
_LOW, _HIGH, _WRAP = -(2**63), 2**63 - 1, 2**64

_SIMPLE_ESCAPES = {
    "a": b"\a", "b": b"\b", "e": b"\x1b", "E": b"\x1b", "f": b"\f", "n": b"\n", "r": b"\r",
    "t": b"\t", "v": b"\v", "\\": b"\\",
}  # fmt: skip
_HEX = lazily(r"[0-9a-fA-F]{1,2}")
_UNICODE = {"u": lazily(r"[0-9a-fA-F]{1,4}"), "U": lazily(r"[0-9a-fA-F]{1,8}")}
_OCTAL = lazily(r"[0-7]{1,3}")
_OCTAL_AFTER_ZERO = lazily(r"[0-7]{0,3}")
_INTEGER = lazily(r"[ \t\n\v\f\r]*+([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", re.ASCII)
_DIRECTIVE = lazily(r"%([#'\-+ 0]*)(\*|[0-9]*)(?:(\.)(\*|-?[0-9]*))?([hjlLtz]*)", re.ASCII)


class Directive:
    """A conversion specification. A width or precision `STAR` comes from the arguments."""

    __slots__ = ("conversion", "flags", "precision", "text", "time_format", "width")

    STAR = -1

    def __init__(
        self,
        text: str,
        flags: str,
        width: int,
        precision: int | None,
        conversion: str,
        time_format: str = "",
    ) -> None:
        self.text = text
        self.flags = flags
        self.width = width
        self.precision = precision
        self.conversion = conversion
        self.time_format = time_format


class Notice:
    """A mistake in the format, reported when rendering reaches it; `fatal` ends with status 1."""

    __slots__ = ("fatal", "message")

    def __init__(self, message: str, fatal: bool) -> None:
        self.message = message
        self.fatal = fatal


def encode_code_point(number: int) -> bytes:
    """Encode as UTF-8 of up to six bytes, surrogates included, as bash's \\U."""
    if number < 0x80:
        return bytes([number])
    for count, limit in ((2, 0x800), (3, 0x10000), (4, 0x200000), (5, 0x4000000), (6, 0x80000000)):
        if number < limit:
            tail = [0x80 | (number >> 6 * at) & 0x3F for at in range(count - 2, -1, -1)]
            return bytes([(0xFF00 >> count) & 0xFF | number >> 6 * (count - 1), *tail])
    return b""


def read_escape(text: str, at: int, notices: list[str], in_argument: bool) -> tuple[bytes, int]:
    """Return the bytes of the escape at `at` and the position after it. `\\c` is the caller's."""
    letter = text[at + 1 : at + 2]
    simple = _SIMPLE_ESCAPES.get(letter)
    if simple is not None:
        return simple, at + 2
    if letter and letter in "01234567":
        if in_argument and letter == "0":
            found = _OCTAL_AFTER_ZERO.match(text, at + 2)
            assert found is not None
            return bytes([int(found[0] or "0", 8) & 0xFF]), found.end()
        found = _OCTAL.match(text, at + 1)
        assert found is not None
        return bytes([int(found[0], 8) & 0xFF]), found.end()
    if letter == "x":
        found = _HEX.match(text, at + 2)
        if found is not None:
            return bytes([int(found[0], 16)]), found.end()
        notices.append("missing hex digit for \\x")
    elif letter in _UNICODE:
        found = _UNICODE[letter].match(text, at + 2)
        if found is not None:
            return encode_code_point(int(found[0], 16)), found.end()
        notices.append(f"missing unicode digit for \\{letter}")
    elif letter and letter in "'\"?" and not in_argument:
        return encode(letter), at + 2
    return b"\\", at + 1


def expand_escapes(text: str, warn: Callable[[str], None]) -> tuple[bytes, bool]:
    """Expand the escapes of a `%b` argument; return also whether `\\c` ends all output."""
    at = text.find("\\")
    if at < 0:
        return encode(text), False
    parts: list[bytes] = []
    start = 0
    notices: list[str] = []
    while at >= 0:
        parts.append(encode(text[start:at]))
        if text.startswith("c", at + 1):
            return b"".join(parts), True
        part, start = read_escape(text, at, notices, in_argument=True)
        parts.append(part)
        at = text.find("\\", start)
    parts.append(encode(text[start:]))
    for notice in notices:
        warn(notice)
    return b"".join(parts), False


def parse_integer(text: str) -> tuple[int, int]:
    """Parse as `strtoimax` with base 0: return the value, not cut to 64 bits, and its length."""
    found = _INTEGER.match(text)
    if found is None:
        return 0, 0
    digits = found[2]
    if len(digits) > 40:
        stripped = digits.lstrip("0xX")
        number = 2**80 if len(stripped) > 40 else _base_zero(digits)
    else:
        number = _base_zero(digits)
    return (-number if found[1] == "-" else number), found.end()


def _base_zero(digits: str) -> int:
    if digits[:2] in ("0x", "0X"):
        return int(digits, 16)
    return int(digits, 8 if digits[0] == "0" else 10)


class Format:
    """A compiled format. `pieces` are bytes, `Directive`s and `Notice`s in order."""

    __slots__ = ("directives", "pieces")

    def __init__(self, pieces: Sequence[bytes | Directive | Notice]) -> None:
        self.pieces = tuple(pieces)
        self.directives = sum(isinstance(piece, Directive) for piece in pieces)


class Rendering:
    """One run of a format over its arguments."""

    def __init__(
        self,
        format: Format,
        arguments: Sequence[str],
        warn: Callable[[str], None],
        budget: Budget,
        *,
        now: float = 0.0,
        started: float = 0.0,
        zone: str = "UTC0",
        assign: Callable[[str, int], None] | None = None,
        in_bytes: bool = False,
    ) -> None:
        self.format = format
        self.arguments = arguments
        self.position = 0
        self.warn = warn
        self.budget = budget
        self.now = now
        self.started = started
        self.zone = zone
        self.assign = assign
        self.in_bytes = in_bytes
        """Whether `%q` shows non-ASCII characters byte by byte, as in the locale C."""
        self.output: list[bytes] = []
        self.size = 0
        self.failed = False
        self.stopped = False

    def run(self) -> tuple[bytes, int]:
        """Render until all arguments are used."""
        count = len(self.arguments)
        while True:
            before = self.position
            self._pass()
            self.budget.step()
            if self.stopped or self.position >= count or self.position == before:
                break
        return b"".join(self.output), int(self.failed)

    def _pass(self) -> None:
        output = self.output
        for piece in self.format.pieces:
            if type(piece) is bytes:
                output.append(piece)
                self.size += len(piece)
            elif isinstance(piece, Directive):
                text: bytes = getattr(self, _CONVERSIONS[piece.conversion])(piece)
                output.append(text)
                self.size += len(text)
                if self.stopped:
                    break
            elif isinstance(piece, Notice):
                self.warn(piece.message)
                if piece.fatal:
                    self.failed = self.stopped = True
                    break
        self.budget.charge(self.size)

    # arguments

    def next_argument(self) -> str | None:
        """Return the next argument, or None after the last one."""
        if self.position >= len(self.arguments):
            return None
        argument = self.arguments[self.position]
        self.position += 1
        return argument

    def integer(self, low: int, high: int) -> int:
        """Return the next argument as an integer, cut to the range with a warning."""
        text = self.next_argument()
        if text is None:
            return 0
        if text[:1] in ("'", '"') and text:
            return character_code(text)
        number, end = parse_integer(text)
        limited = min(max(number, low), high)
        if end < len(text) or (not end and text):
            self.invalid(text)
        elif limited != number:
            self.out_of_range(text)
        return limited

    def real(self) -> LongDouble:
        """Return the next argument as a floating-point number."""
        from agentsandbox.kernel.formats.long_double import LongDouble, parse_long_double

        text = self.next_argument()
        if text is None:
            return LongDouble.from_int(0)
        if text[:1] in ("'", '"') and text:
            return LongDouble.from_int(character_code(text))
        number, end, out_of_range = parse_long_double(text)
        if end < len(text):
            self.invalid(text)
        elif out_of_range:
            self.out_of_range(text)
        return number

    def invalid(self, text: str) -> None:
        """Report an argument that is not wholly a number."""
        self.failed = True
        kind = "octal " if re.match(r"0[0-9]", text) else "hex " if text.startswith("0x") else ""
        self.warn(f"{text}: invalid {kind}number")

    def out_of_range(self, text: str) -> None:
        """Report a number that is out of range."""
        self.warn(f"warning: {text}: Numerical result out of range")

    def measures(self, directive: Directive) -> tuple[str, int, int | None]:
        """Return flags, width and precision, charged, with the arguments of `*`."""
        flags, width, precision = directive.flags, directive.width, directive.precision
        if width == Directive.STAR:
            width = self._star(0)
            if width < 0:
                flags, width = flags + "-", -width
        if precision == Directive.STAR:
            precision = self._star(-1)
            if precision < 0:
                precision = None
        self.budget.charge(self.size + width)
        if precision and directive.conversion not in "sbqQT":
            self.budget.charge(self.size + precision)
        return flags, width, precision

    def _star(self, default: int) -> int:
        """Return a width or precision from the arguments.

        bash reports one that is too large together with the next argument, or forgets it.
        """
        number = self.integer(_LOW, _HIGH)
        if -INT_MAX - 1 <= number <= INT_MAX:
            return number
        if self.position >= len(self.arguments):
            return default
        self.out_of_range(self.arguments[self.position])
        return INT_MAX if number > 0 else -INT_MAX - 1

    # conversions

    def string(self, directive: Directive) -> bytes:
        if directive.width == 0 and directive.precision is None:
            argument = self.next_argument() or ""
            if len(argument) > PIECE:
                return encode_pieces(self.budget.pieces(argument))
            return encode(argument)
        flags, width, precision = self.measures(directive)
        return pad(encode(self.next_argument() or "")[:precision], flags, width)

    def character(self, directive: Directive) -> bytes:
        flags, width, _ = self.measures(directive)
        return pad(encode((self.next_argument() or "")[:1])[:1] or b"\0", flags, width)

    def escaped(self, directive: Directive) -> bytes:
        flags, width, precision = self.measures(directive)
        text, self.stopped = expand_escapes(self.next_argument() or "", self.warn)
        return pad(text[:precision], flags, width)

    def quoted(self, directive: Directive) -> bytes:
        flags, width, precision = self.measures(directive)
        text = self.next_argument() or ""
        if directive.conversion == "Q":
            text = str(encode(text)[:precision], "utf-8", "surrogateescape")
            precision = None
        self.budget.charge(8 * len(text))
        from agentsandbox.kernel.quoting import backslash_quote

        shown = backslash_quote(bytewise(text) if self.in_bytes else text)
        return pad(encode(shown)[:precision], flags, width)

    def signed(self, directive: Directive) -> bytes:
        flags, width, precision = self.measures(directive)
        number = self.integer(_LOW, _HIGH)
        if not flags and not width and precision is None:
            return b"%d" % number
        sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
        return pad_number(sign, "0" if not number else str(abs(number)), flags, width, precision)

    def unsigned(self, directive: Directive) -> bytes:
        flags, width, precision = self.measures(directive)
        number = (
            self.integer(1 - _WRAP, _WRAP - 1) % _WRAP if not self._past_unsigned() else _WRAP - 1
        )
        conversion = directive.conversion
        digits = str(number) if conversion == "u" else f"{number:{conversion}}"
        prefix = ""
        if "#" in flags and number:
            if conversion == "o":
                if precision is None or precision <= len(digits):
                    digits = f"0{digits}"
            elif conversion != "u":
                prefix = f"0{conversion}"
        elif "#" in flags and conversion == "o" and precision == 0:
            precision = 1
        return pad_number(prefix, digits, flags, width, precision)

    def _past_unsigned(self) -> bool:
        """Whether the next argument is below −(2^64 − 1), for which `strtoumax` gives its maximum.

        If so the argument is used and a warning written.
        """
        if self.position >= len(self.arguments):
            return False
        text = self.arguments[self.position]
        if not text.lstrip(" \t\n\v\f\r").startswith("-"):
            return False
        if parse_integer(text)[0] > -_WRAP:
            return False
        self.integer(1 - _WRAP, _WRAP - 1)
        return True

    def floating(self, directive: Directive) -> bytes:
        from agentsandbox.kernel.formats.long_double import format_long_double

        flags, width, precision = self.measures(directive)
        return format_long_double(
            self.real(), directive.conversion, precision, flags, width
        ).encode("ascii")

    def time(self, directive: Directive) -> bytes:
        from agentsandbox.kernel.formats.strftime import longest_width, strftime

        flags, width, precision = self.measures(directive)
        self.budget.charge(
            self.size + longest_width(directive.time_format) + 64 * len(directive.time_format)
        )
        seconds = self.integer(_LOW, _HIGH) if self.position < len(self.arguments) else -1
        if seconds < 0:
            seconds = {-1: int(self.now), -2: int(self.started)}.get(seconds, seconds)
        text = strftime(seconds, directive.time_format or "%X", self.zone)
        if len(encode(text)) > 127:  # the room that bash has for it
            text = ""
        return pad(encode(text)[:precision], flags, width)

    def count(self, _directive: Directive) -> bytes:
        name = self.next_argument() or ""
        if name and self.assign is not None:
            if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                self.assign(name, self.size)
            else:
                self.warn(f"`{name}': not a valid identifier")
                self.failed = self.stopped = True
        return b""


def character_code(text: str) -> int:
    """Return the code of the character after a quote, of its byte if it is not UTF-8, or 0."""
    if len(text) < 2:
        return 0
    code = ord(text[1])
    return code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code


def pad(text: bytes, flags: str, width: int) -> bytes:
    """Pad with blanks to `width` bytes."""
    return text.ljust(width) if "-" in flags else text.rjust(width)


def pad_number(prefix: str, digits: str, flags: str, width: int, precision: int | None) -> bytes:
    """Pad digits with zeros, to the precision or with the flag 0 to the width, then with blanks."""
    if precision is not None:
        digits = "" if not precision and digits == "0" else digits.rjust(precision, "0")
    elif "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(prefix), "0")
    return pad((prefix + digits).encode("ascii"), flags, width)


_CONVERSIONS = {
    "s": "string",
    "c": "character",
    "b": "escaped",
    "q": "quoted",
    "Q": "quoted",
    "n": "count",
    "T": "time",
    **dict.fromkeys("di", "signed"),
    **dict.fromkeys("uoxX", "unsigned"),
    **dict.fromkeys("eEfFgG", "floating"),
}
"""The method of `Rendering` for each conversion."""


class _Compiler:
    """Parses a format."""

    def __init__(self, text: str, budget: Budget | None) -> None:
        self.text = text
        self.budget = budget
        self.pieces: list[bytes | Directive | Notice] = []
        self.literal: list[bytes] = []

    def run(self) -> Format:
        text = self.text
        at = 0
        while (found := _next_special(text, at, self.budget)) >= 0:
            if self.budget is not None:
                self.budget.step()
            self.literal.append(self._encoded(text[at:found]))
            at = self._escape(found) if text[found] == "\\" else self._directive(found)
            if at < 0:
                break
        else:
            self.literal.append(self._encoded(text[at:]))
        self._flush()
        return Format(self.pieces)

    def _encoded(self, text: str) -> bytes:
        return encode(text) if self.budget is None else encode_pieces(self.budget.pieces(text))

    def _flush(self) -> None:
        literal = b"".join(self.literal)
        self.literal = []
        if literal:
            self.pieces.append(literal)

    def _add(self, piece: Directive | Notice) -> None:
        self._flush()
        self.pieces.append(piece)

    def _escape(self, at: int) -> int:
        notices: list[str] = []
        part, end = read_escape(self.text, at, notices, in_argument=False)
        for notice in notices:
            self._add(Notice(notice, fatal=False))
        self.literal.append(part)
        return end

    def _directive(self, start: int) -> int:
        """Parse the directive at `start`; return its end, or −1 if an error ends the format."""
        text = self.text
        if text.startswith("%%", start):
            self.literal.append(b"%")
            return start + 2
        found = _DIRECTIVE.match(text, start)
        assert found is not None
        end = found.end()
        conversion = text[end : end + 1]
        if not conversion:
            self._add(Notice(f"`{text[start:]}': missing format character", fatal=True))
            return -1
        width = Directive.STAR if found[2] == "*" else min(int((found[2] or "0")[:10]), INT_MAX)
        precision = None
        if found[3]:
            digits = found[4]
            precision = (
                Directive.STAR
                if digits == "*"
                else None
                if digits.startswith("-")
                else min(int((digits or "0")[:10]), INT_MAX)
            )
        if conversion == "(":
            return self._time(found, width, precision)
        if conversion not in _CONVERSIONS or conversion == "T":
            self._add(Notice(f"`{conversion}': invalid format character", fatal=True))
            return -1
        self._add(Directive(text[start : end + 1], found[1], width, precision, conversion))
        return end + 1

    def _time(self, found: re.Match[str], width: int, precision: int | None) -> int:
        text = self.text
        at = found.end() + 1
        depth = 1
        while at < len(text):
            depth += (text[at] == "(") - (text[at] == ")")
            if not depth:
                break
            at += 1
        if text[at + 1 : at + 2] != "T":
            self._add(
                Notice(
                    f"warning: `{text[at + 1 : at + 2]}': invalid time format specification",
                    fatal=False,
                )
            )
            self.literal.append(b"%")
            return found.start() + 1
        self._add(
            Directive(
                text[found.start() : at + 2],
                found[1],
                width,
                precision,
                "T",
                text[found.end() + 1 : at],
            )
        )
        return at + 2


def _next_special(text: str, at: int, budget: Budget | None) -> int:
    while budget is not None and len(text) - at > PIECE:
        found = _SPECIAL.search(text, at, at + PIECE)
        if found is not None:
            return found.start()
        at += PIECE
        budget.work(8 * PIECE)
    found = _SPECIAL.search(text, at)
    return found.start() if found else -1


_SPECIAL = lazily(r"[\\%]")
_SHORT = 1024


@lru_cache(maxsize=512)
def _compile_short(text: str) -> Format:
    return _Compiler(text, None).run()


def compile_format(text: str, budget: Budget) -> Format:
    """Compile a format; its mistakes are reported on rendering. Long ones are not cached."""
    return _compile_short(text) if len(text) <= _SHORT else _Compiler(text, budget).run()
