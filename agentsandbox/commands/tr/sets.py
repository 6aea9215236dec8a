"""The strings of `tr`: ranges, classes, repeats and escapes, as sequences of bytes."""

from __future__ import annotations

import re

from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

_NAMED = {b"a": 7, b"b": 8, b"f": 12, b"n": 10, b"r": 13, b"t": 9, b"v": 11, b"\\": 92}
_UPPER = bytes(range(65, 91))
_LOWER = bytes(range(97, 123))
_DIGIT = bytes(range(48, 58))
_PUNCT = bytes([byte for byte in range(33, 127) if not chr(byte).isalnum()])
_CLASSES = {
    b"alnum": _DIGIT + _UPPER + _LOWER,
    b"alpha": _UPPER + _LOWER,
    b"blank": b"\t ",
    b"cntrl": bytes([*range(32), 127]),
    b"digit": _DIGIT,
    b"graph": bytes(range(33, 127)),
    b"lower": _LOWER,
    b"print": bytes(range(32, 127)),
    b"punct": _PUNCT,
    b"space": b"\t\n\v\f\r ",
    b"upper": _UPPER,
    b"xdigit": _DIGIT + b"ABCDEFabcdef",
}


class ByteSet:
    """A parsed string: parts of bytes, some of them a class or a `[c*]` that fills up the rest."""

    __slots__ = (
        "ends_with_class", "equivalents", "fills", "has_class", "other_classes", "parts", "warned",
    )  # fmt: skip

    def __init__(self) -> None:
        self.parts: list[tuple[str, bytes]] = []  # kind: bytes, fill, upper, lower, class
        self.fills = 0
        self.equivalents = 0
        self.has_class = False
        self.other_classes = False
        self.ends_with_class = False
        self.warned = False
        """Whether there was a warning about it."""

    def add(self, kind: str, found: bytes) -> None:
        """Add a part."""
        self.parts.append((kind, found))
        self.fills += kind == "fill"
        is_class = kind in ("upper", "lower", "class")
        self.has_class = self.has_class or is_class
        self.other_classes = self.other_classes or kind == "class"
        self.ends_with_class = is_class

    def content(self) -> bytes:
        """Return all bytes in order, without a `[c*]` that was not filled."""
        return b"".join([found for kind, found in self.parts if kind != "fill"])

    def fill(self, length: int) -> None:
        """Give a `[c*]` the length that the string lacks."""
        missing = max(0, length - len(self.content()))
        self.parts = [
            ("bytes", found * missing) if kind == "fill" else (kind, found)
            for kind, found in self.parts
        ]

    def check_cases(self, second: ByteSet, source: bytes) -> None:
        """Refuse classes of upper and lower case that are not at the same positions."""
        starts = self._case_starts()
        for start in second._case_starts():
            if start > len(source):
                break
            if start not in starts:
                raise CommandError("misaligned [:upper:] and/or [:lower:] construct")

    def _case_starts(self) -> dict[int, str]:
        starts = {}
        position = 0
        for kind, found in self.parts:
            if kind in ("upper", "lower"):
                starts[position] = kind
            position += len(found)
        return starts


def _unescape(ctx: CommandContext, text: bytes, found: ByteSet) -> list[tuple[int, bool]]:
    """Return (byte, whether it was escaped) of each byte that the string means."""
    units: list[tuple[int, bool]] = []
    at = 0
    while at < len(text):
        byte = text[at : at + 1]
        at += 1
        if byte != b"\\":
            units.append((byte[0], False))
            continue
        following = text[at : at + 1]
        if not following:
            wrong = "an unescaped backslash at end of string is not portable"
            ctx.warn(f"warning: {wrong}", ctx.status)
            found.warned = True
            units.append((92, False))
        elif following in _NAMED:
            units.append((_NAMED[following], True))
            at += 1
        elif following in b"01234567":
            match = re.compile(rb"[0-7]{1,3}").match(text, at)
            assert match is not None
            digits = match[0]
            if int(digits, 8) > 255:
                shown = str(digits, "ascii")
                ctx.stderr.write(
                    encode(
                        f"{ctx.name}: warning: the ambiguous octal escape \\{shown} is being\n"
                        f"\tinterpreted as the 2-byte sequence \\0{shown[:2]}, {shown[2]}\n"
                    )
                )
                found.warned = True
                digits = digits[:2]
            units.append((int(digits, 8), True))
            at += len(digits)
        else:
            units.append((following[0], True))
            at += 1
    return units


def _shown(byte: int) -> str:
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def parse_set(ctx: CommandContext, text: str) -> ByteSet:
    """Parse one operand of `tr`; `CommandError` in GNU's words."""
    data = encode(text)
    found = ByteSet()
    if b"\\" not in data and b"-" not in data and b"[" not in data:
        ctx.budget.work(len(data))
        found.add("bytes", data)
        return found
    units = _unescape(ctx, data, found)
    at = 0
    while at < len(units):
        ctx.budget.step()
        if units[at] == (91, False):
            end = _bracket(units, at, found)
            if end:
                at = end
                continue
        low = units[at][0]
        if at + 2 < len(units) and units[at + 1] == (45, False):
            high = units[at + 2][0]
            if high < low:
                wrong = "are in reverse collating sequence order"
                raise CommandError(f"range-endpoints of '{_shown(low)}-{_shown(high)}' {wrong}")
            found.add("bytes", bytes(range(low, high + 1)))
            at += 3
            continue
        found.add("bytes", bytes([low]))
        at += 1
    return found


def _bracket(units: list[tuple[int, bool]], at: int, found: ByteSet) -> int:
    """Parse `[:class:]`, `[=c=]` or `[c*n]`; return its end, 0 for anything else."""
    if at + 2 >= len(units):
        return 0
    kind = units[at + 1]
    if kind in ((58, False), (61, False)):
        end = _find_close(units, at + 2, kind[0])
        if end:
            inside = bytes([byte for byte, _ in units[at + 2 : end]])
            if kind[0] == 58 and inside in _CLASSES:
                name = str(inside, "ascii")
                found.add(name if name in ("upper", "lower") else "class", _CLASSES[inside])
                return end + 2
            if kind[0] == 61 and len(inside) == 1:
                found.equivalents += 1
                found.add("bytes", inside)
                return end + 2
            if not _repeat_follows(units, at):
                _refuse(kind[0], inside)
    return _repeat(units, at, found)


def _refuse(kind: int, inside: bytes) -> None:
    if kind == 58:
        raise CommandError(
            "missing character class name '[::]'"
            if not inside
            else f"invalid character class {quote(decode(inside))}"
        )
    if not inside:
        raise CommandError("missing equivalence class character '[==]'")
    raise CommandError(f"{decode(inside)}: equivalence class operand must be a single character")


def _find_close(units: list[tuple[int, bool]], start: int, kind: int) -> int:
    for end in range(start, len(units) - 1):
        if units[end] == (kind, False) and units[end + 1] == (93, False):
            return end
    return 0


def _repeat_follows(units: list[tuple[int, bool]], at: int) -> bool:
    return at + 2 < len(units) and units[at + 2] == (42, False)


def _repeat(units: list[tuple[int, bool]], at: int, found: ByteSet) -> int:
    """Parse `[c*]` or `[c*n]`; n is octal if it begins with 0, and 0 means "as many as needed"."""
    if not _repeat_follows(units, at):
        return 0
    end = at + 3
    while end < len(units) and units[end] != (93, False):
        end += 1
    if end >= len(units):
        return 0
    digits = bytes([byte for byte, _ in units[at + 3 : end]])
    base = 8 if digits.startswith(b"0") else 10
    if digits and not re.fullmatch(rb"[0-7]{1,20}" if base == 8 else rb"[0-9]{1,19}", digits):
        raise CommandError(f"invalid repeat count {quote(decode(digits))} in [c*n] construct")
    count = int(digits, base) if digits else 0
    byte = bytes([units[at + 1][0]])
    if count:
        found.add("bytes", byte * min(count, 65536))
    else:
        found.add("fill", byte)
    return end + 1
