"""What the entries of magic files find in data: the words, or the MIME type, of each that matches."""

from __future__ import annotations

import re
import struct

from agentsandbox.commands._magic_entries import SIZES
from agentsandbox.errors import CommandError
from agentsandbox.languages.printf import compile_format
from agentsandbox.regexps import RegexError, compile_posix
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.commands._magic_entries import Entry, Indirection
    from agentsandbox.commands._times import LocalTime
    from agentsandbox.limits import Budget

__all__ = ["Finding", "Magic"]

_TEXT = 127
_REGEX = 8192
_LINE = 80
_DEPTH = 50
"""So often may named entries use one another."""
_INDIRECT_SIZES = {"b": 1, "c": 1, "s": 2, "h": 2, "l": 4, "q": 8}
_DIRECTIVE = re.compile(r"%(?:%|([-+ #0]*[0-9]*(?:\.[0-9]+)?)(?:hh|h|ll|l|q|j|)([a-zA-Z]))")


_NO_ASCII = re.compile(r"[^ -~]")


class Finding:
    """What one entry at the top and those below it say."""

    __slots__ = ("apple", "extensions", "mime", "words")

    def __init__(self) -> None:
        self.words = ""
        self.mime = self.extensions = self.apple = ""


class Magic:
    """The entries of all files, the best first."""

    def __init__(self, entries: Sequence[Entry], budget: Budget, local: LocalTime) -> None:
        self.named = {entry.name: entry for entry in entries if entry.kind == "name"}
        self.entries = sorted([entry for entry in entries if entry.kind != "name"], key=lambda entry: -entry.rank())
        self.budget = budget
        self.local = local

    def find(self, data: bytes, *, in_text: bool, looks_text: bool) -> Iterator[Finding]:
        """The findings of the entries for text, or of those for anything."""
        for entry in self.entries:
            self.budget.step()
            if entry.is_binary_test() is in_text or (("b" if looks_text else "t") in entry.flags and entry.is_text):
                continue
            search = _Search(self, data)
            end = search.match(entry, 0)
            if end is None:
                continue
            search.tell(entry)
            search.below(entry, end, 0)
            if search.finding.words or search.finding.mime:
                yield search.finding


class _Search:
    """One look at data with one entry at the top."""

    def __init__(self, magic: Magic, data: bytes) -> None:
        self.magic = magic
        self.data = data
        self.finding = Finding()
        self._value: float | bytes = 0

    # walking

    def below(self, parent: Entry, base: int, depth: int, start: int = 0) -> None:
        """The entries below one that matched and ended at `base`."""
        matched = False
        for entry in parent.below:
            self.magic.budget.step()
            if entry.kind == "clear":
                matched = False
                continue
            if entry.kind == "default" and matched:
                continue
            if entry.kind == "use":
                self._use(entry, base, depth, start)
                matched = True
                continue
            end = self.match(entry, base, start)
            if end is None:
                continue
            matched = True
            self.tell(entry)
            self.below(entry, end, depth, start)

    def _use(self, entry: Entry, base: int, depth: int, start: int) -> None:
        named = self.magic.named.get(entry.name.lstrip("^\\"))
        at = self._place(entry, base, start)
        if named is None or at is None or depth >= _DEPTH:
            return
        self.tell(named, close=True)
        self.below(named, at, depth + 1, at)

    def tell(self, entry: Entry, *, close: bool = False) -> None:
        """Add what an entry that matched says, `close` to what is there."""
        finding = self.finding
        finding.mime = finding.mime or entry.mime
        finding.extensions = finding.extensions or entry.extensions
        finding.apple = finding.apple or entry.apple
        text = entry.description
        if not text:
            return
        if text.startswith(("\\b", "\b")):
            text, close = text.removeprefix("\\b").removeprefix("\b"), True
        finding.words += ("" if close or not finding.words else " ") + _DIRECTIVE.sub(lambda found: self._shown(entry, found), text)

    # offsets

    def _place(self, entry: Entry, base: int, start: int) -> int | None:
        at: int | None = entry.offset
        if entry.indirection is not None:
            at = self._indirect(entry.indirection, base, start)
        elif entry.offset < 0 and not entry.relative:
            at = len(self.data) + entry.offset
        elif not entry.relative:
            at = entry.offset + start
        if at is None:
            return None
        at += base if entry.relative else 0
        return at if 0 <= at <= len(self.data) else None

    def _indirect(self, where: Indirection, base: int, start: int) -> int | None:
        at = where.offset + (base if where.relative else start if where.offset >= 0 else len(self.data))
        size = _INDIRECT_SIZES.get(where.kind.lower())
        if size is None or at < 0 or at + size > len(self.data):
            return None
        value = int.from_bytes(self.data[at : at + size], "big" if where.kind.isupper() else "little")
        return _calculate(value, where.operator or "+", where.operand)

    # matching

    def match(self, entry: Entry, base: int, start: int = 0) -> int | None:
        """Where what the entry compares ends; None if it does not match."""
        at = self._place(entry, base, start)
        if at is None:
            return None
        if entry.kind in ("default", "name"):
            return at
        if entry.kind == "offset":
            self._value = at
            return at if _compare(at, entry) else None
        if entry.kind in SIZES:
            return self._match_number(entry, at)
        return {"search": self._search, "regex": self._match_regex}.get(entry.kind, self._match_text)(entry, at)

    def _match_number(self, entry: Entry, at: int) -> int | None:
        size = SIZES[entry.kind]
        if at + size > len(self.data):
            return None
        raw = self.data[at : at + size]
        order = "big" if entry.order == "be" else "little"
        value: float
        if entry.kind in ("float", "double"):
            value = struct.unpack(f"{'>' if order == 'big' else '<'}{entry.kind[0]}", raw)[0]
        else:
            value = int.from_bytes(raw, "big" if entry.order == "be" else "little")
            if entry.operator:
                value = _calculate(value, entry.operator, entry.mask)
            value &= (1 << 8 * size) - 1
            if entry.signed and value >> (8 * size - 1):
                value -= 1 << 8 * size
        self._value = value
        return at + size if _compare(value, entry) else None

    def _match_text(self, entry: Entry, at: int) -> int | None:
        data, before = self.data[at : at + _REGEX], 0
        if entry.kind == "pstring":
            before, data = _counted(data, entry.flags)
        elif entry.kind.endswith("16"):
            data = data[entry.kind == "bestring16" :: 2]
        if entry.relation in ("=", "!"):
            found = _pattern(entry).match(data)
            self._value = entry.text
            if (found is not None) is (entry.relation == "!"):
                return None
            width = 2 if entry.kind.endswith("16") else 1
            return at + before + (found.end() * width if found is not None else len(entry.text))
        part = data[: len(entry.text)].ljust(len(entry.text), b"\0")
        if (entry.relation == ">" and part <= entry.text) or (entry.relation == "<" and part >= entry.text):
            return None
        shown = re.split(rb"\0" if entry.text.rstrip(b"\0") else rb"[\0\r\n]", data[:_TEXT], maxsplit=1)[0]
        self._value = shown.strip() if "T" in entry.flags else shown
        return at + before + len(shown)

    def _search(self, entry: Entry, at: int) -> int | None:
        last = len(self.data) if not entry.range else min(at + entry.range + len(entry.text) * 2, len(self.data))
        self.magic.budget.step((last - at) // 1024)
        found = _pattern(entry).search(self.data, at, last)
        if found is not None and entry.range and found.start() > at + entry.range:
            found = None
        self._value = entry.text
        if entry.relation == "!":
            return at if found is None else None
        return None if found is None else found.start() if "s" in entry.flags else found.end()

    def _match_regex(self, entry: Entry, at: int) -> int | None:
        part = self.data[at : at + _REGEX]
        self.magic.budget.step(len(part) // 64)
        if "l" in entry.flags:
            part = b"".join(part[: entry.range * _LINE].splitlines(keepends=True)[: entry.range]) + b"\0"
        elif entry.range:
            part = part[: entry.range]
        text = str(part[:-1], "latin-1")
        try:
            regex = compile_posix(str(entry.text, "latin-1"), extended=True, ignore_case="c" in entry.flags, newline_anchors=True)
        except RegexError as error:
            raise CommandError(f"line {entry.line}: regex error for `{decode(entry.text)}', ({error.message})", 1) from None
        found = regex.search(text, 0, self.magic.budget)
        if entry.relation == "!":
            return at if found is None else None
        if found is None or entry.relation != "=":
            return None
        self._value = part[found.start() : found.end()]
        return at + (found.start() if "s" in entry.flags else found.end())

    # words

    def _shown(self, entry: Entry, found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        form, letter = found[1] or "", found[2]
        value = self._value
        if isinstance(value, bytes):
            return self._formatted(form, "s", _NO_ASCII.sub(_octal, str(value, "latin-1")))
        if letter == "s":
            return self.magic.local.show("%a %b %e %H:%M:%S %Y", int(value) * 10**9)
        if letter in "eEfFgG":
            return self._formatted(form, letter, str(value))
        bits = 8 * max(SIZES.get(entry.kind, 8), 4)
        number = int(value) & ((1 << bits) - 1)
        if letter == "c":
            return decode(bytes([number & 255]))
        if letter in "di" and number >> (bits - 1):
            number -= 1 << bits
        return self._formatted(form, letter, str(number))

    def _formatted(self, form: str, letter: str, value: str) -> str:
        made = compile_format(f"%{form}{letter}", self.magic.budget).render([value], lambda message: None, budget=self.magic.budget)
        return decode(made[0])


def _octal(found: re.Match[str]) -> str:
    return f"\\{ord(found[0]):03o}"


def _calculate(value: int, operator: str, operand: int) -> int:
    if operator in "/%" and operand == 0:
        return 0
    return {
        "+": value + operand, "-": value - operand, "*": value * operand, "&": value & operand, "|": value | operand, "^": value ^ operand,
        "/": value // operand if operand else 0, "%": value % operand if operand else 0,
    }[operator]  # fmt: skip


def _compare(value: float, entry: Entry) -> bool:
    wanted = entry.number
    if entry.relation in "&^":
        kept = int(value) & int(wanted)
        return (kept == int(wanted)) is (entry.relation == "&")
    return {"x": True, "=": value == wanted, "!": value != wanted, ">": value > wanted, "<": value < wanted}[entry.relation]


def _counted(data: bytes, flags: str) -> tuple[int, bytes]:
    """(bytes of the length, text) of a text that has its length in front."""
    letter = next((flag for flag in flags if flag in "HhLlB"), "B")
    size = {"B": 1, "H": 2, "h": 2, "L": 4, "l": 4}[letter]
    length = int.from_bytes(data[:size], "big" if letter.isupper() else "little") - (size if "J" in flags else 0)
    return size, data[size : size + max(length, 0)]


def _pattern(entry: Entry) -> re.Pattern[bytes]:
    """The text of an entry as a regular expression, which its flags make wider."""
    parts: list[bytes] = []
    flags = entry.flags
    for byte in entry.text:
        character = bytes([byte])
        if character.isspace() and "w" in flags:
            parts.append(rb"\s*+")
        elif character.isspace() and "W" in flags:
            parts.append(rb"\s++")
        elif (character.islower() and "c" in flags) or (character.isupper() and "C" in flags):
            parts.append(b"[" + character.lower() + character.upper() + b"]")
        else:
            parts.append(re.escape(character))
    return re.compile(b"".join(parts) + (rb"(?!\S)" if "f" in flags else b""))
