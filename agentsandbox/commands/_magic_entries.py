"""The files of `file -m`: lines of the language of magic(5), as entries with what stands below each."""

from __future__ import annotations

import re

from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SIZES", "Entry", "FileError", "Indirection", "read_entries"]

SIZES = {
    "byte": 1, "short": 2, "long": 4, "quad": 8, "float": 4, "double": 8, "date": 4, "ldate": 4, "qdate": 8, "qldate": 8,
}  # fmt: skip
"""Bytes of the types that are numbers."""
_TEXTS = frozenset(("string", "pstring", "search", "regex", "bestring16", "lestring16"))
_OTHERS = frozenset(("default", "clear", "name", "use", "offset"))
_LINE = re.compile(r"(>*)(\S+)[ \t]+(\S+)(?:[ \t]+(.*))?", re.DOTALL)
_OFFSET = re.compile(r"(&?)(-?)(0[xX][0-9a-fA-F]+|[0-9]+)")
_INDIRECT = re.compile(r"(&?)\((&?)(-?(?:0[xX][0-9a-fA-F]+|[0-9]+))(?:[.,]([a-zA-Z]))?(?:([-+*/%&|^])(-?(?:0[xX][0-9a-fA-F]+|[0-9]+)))?\)")
_TYPE = re.compile(r"(u(?!se))?([bl]e)?([a-z]+(?:16)?)(.*)")
_MASK = re.compile(r"([-+*/%&|^])(-?(?:0[xX][0-9a-fA-F]+|[0-9]+))")
_NUMBER = re.compile(r"(~?)(-?(?:0[xX][0-9a-fA-F]+|[0-9]+))(?![0-9A-Za-z.])")
_FRACTION = re.compile(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?(?=[ \t]|$)")
_DIRECTIVE = re.compile(r"%(?:%|([-+ #0]*[0-9]*(?:\.[0-9]+)?)(hh|h|ll|l|q|j|)([a-zA-Z]))")
_KINDS = {
    "byte": "cdiouxX",
    "short": "cdiouxX",
    "long": "cdiouxX",
    "quad": "diouxX",
    "float": "eEfFgG",
    "double": "eEfFgG",
    "offset": "diouxX",
}
_LEVELS = 100
"""So deep may lines stand below others."""
_STRENGTH = re.compile(r"([-+*/])[ \t]*([0-9]{1,6})")
_MAGIC = re.compile(rb"\\.|\[[^\]]*\]?|\{[^}]*\}?|[?*.+^$]", re.DOTALL)
"""What counts for nothing, or for one character, in a regular expression."""
_ESCAPES = {"n": 10, "r": 13, "b": 8, "t": 9, "f": 12, "v": 11, "a": 7}


class LineError(Exception):
    """A line is wrong; the warning."""


class FileError(Exception):
    """A file is so wrong that nothing is said of its lines; the message."""


class Indirection:
    """Where an offset that is read from the file stands."""

    __slots__ = ("kind", "offset", "operand", "operator", "relative")

    def __init__(self, found: re.Match[str]) -> None:
        self.relative = bool(found[2])
        self.offset = int_of(found[3])
        self.kind = found[4] or "l"
        self.operator = found[5]
        self.operand = int_of(found[6]) if found[6] else 0


class Entry:
    """One line."""

    __slots__ = (
        "apple", "below", "description", "extensions", "flags", "indirection", "kind", "level", "line", "mask", "mime", "name", "number",
        "offset", "operator", "order", "range", "relation", "relative", "signed", "strength", "text",
    )  # fmt: skip

    def __init__(self, line: int, level: int) -> None:
        self.line = line
        self.level = level
        self.offset = 0
        self.relative = False
        self.indirection: Indirection | None = None
        self.kind = ""
        self.order = ""
        """"be", "le" or "" for that of the machine, which is little-endian."""
        self.signed = True
        self.operator = ""
        self.mask = 0
        self.flags = ""
        self.range = 0
        self.relation = "="
        self.number: float = 0
        self.text = b""
        self.name = ""
        self.description = ""
        self.mime = self.extensions = self.apple = ""
        self.strength: tuple[str, int] | None = None
        self.below: list[Entry] = []

    @property
    def is_text(self) -> bool:
        """Whether it compares text."""
        return self.kind in _TEXTS

    def rank(self) -> int:
        """How much a match is worth: entries with more come first."""
        value = 20
        length = len(self.text)
        if self.kind in SIZES:
            value += SIZES[self.kind] * 10
        elif self.kind in ("string", "pstring"):
            value += length * 10
        elif self.kind in ("bestring16", "lestring16"):
            value += length * 5
        elif self.kind == "search" and length:
            value += length * max(10 // length, 1)
        elif self.kind == "regex":
            literal = len(_MAGIC.sub(lambda found: b"x" if found[0][:1] in (b"\\", b"[") else b"", self.text)) or 1
            value += literal * max(10 // literal, 1)
        if self.relation in ("x", "!"):
            value = 0
        else:
            value += {"=": 10, ">": -20, "<": -20, "^": -10, "&": -10}[self.relation]
        if self.strength is not None:
            operator, operand = self.strength
            value = {"+": value + operand, "-": value - operand, "*": value * operand, "/": value // (operand or 1)}[operator]
        return max(value, 1) + (not self.description)

    def told(self) -> str:
        """The first description, its own or that of one below it."""
        return next((entry.description for entry in self._first() if entry.description), "")

    def _first(self) -> Iterator[Entry]:
        yield self
        for entry in self.below:
            yield from entry._first()

    def is_binary_test(self) -> bool:
        """Whether it looks at files of any kind, not only at text."""
        if self.kind in SIZES or self.kind in ("offset", "name", "default", "clear", "use"):
            return True
        if "t" in self.flags or "b" in self.flags:
            return "b" in self.flags
        return self.kind not in ("search", "regex") or re.search(rb"[^\x07-\x0d\x1b\x20-\x7e\x80-\xff]", self.text) is not None


def int_of(text: str) -> int:
    """A number as C writes it."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if digits[:2] in ("0x", "0X"):
        return sign * int(digits, 16)
    octal = len(digits) > 1 and digits[0] == "0" and set(digits) <= set("01234567")
    return sign * int(digits, 8 if octal else 10)


def read_entries(text: str, warnings: list[str]) -> list[Entry]:
    """The entries at the top of a file, with those below them; none if a line is wrong, which `warnings` tell."""
    tops: list[Entry] = []
    chain: list[Entry] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if not line.strip() or line.startswith("#"):
            continue
        try:
            if line.startswith("!:"):
                _annotate(line[2:], chain)
                continue
            entry = _read(line, number, len(chain))
        except LineError as error:
            warnings.append(f"{number}: Warning: {error}")
            continue
        del chain[entry.level :]
        (chain[-1].below if chain else tops).append(entry)
        chain.append(entry)
    return [] if warnings else tops


def _annotate(text: str, chain: list[Entry]) -> None:
    name, _, value = text.partition("\t") if "\t" in text else text.partition(" ")
    value = value.strip()
    if not chain:
        raise FileError(f"No current entry for :!{name} type")
    entry = chain[-1]
    if name == "mime":
        if not entry.description and not value:
            raise LineError("Current entry does not yet have a description for adding a MIME type")
        entry.mime = value.split()[0] if value else ""
    elif name == "ext":
        entry.extensions = value
    elif name == "apple":
        entry.apple = value
    elif name == "strength":
        found = _STRENGTH.match(value)
        if found is not None:
            entry.strength = found[1], int(found[2])
    else:
        raise LineError(f"Unknown !: entry `{text}'")


def _read(line: str, number: int, depth: int) -> Entry:
    found = _LINE.fullmatch(line)
    if found is None:
        raise LineError(f"offset `{line.lstrip('>')}' invalid")
    level = len(found[1])
    if level and not depth:
        raise FileError(f"line {number}: No current entry for continuation")
    if level > min(depth, _LEVELS):
        raise LineError(f"New continuation level {level} is more than one larger than current level {depth - 1}")
    entry = Entry(number, level)
    _read_offset(entry, found[2])
    _read_type(entry, found[3], line)
    rest = (found[4] or "").lstrip(" \t")
    if entry.kind in ("name", "use"):
        entry.name, _, description = rest.partition(" ") if " " in rest else rest.partition("\t")
        entry.description = description.strip()
        entry.relation = "x"
    elif entry.kind in ("default", "clear"):
        entry.relation = "x"
        entry.description = re.sub(r"\Ax(?:[ \t]+|\Z)", "", rest)
    else:
        entry.description = (_read_text(entry, rest) if entry.is_text else _read_value(entry, rest)).lstrip(" \t")
    _check_description(entry)
    return entry


def _read_offset(entry: Entry, text: str) -> None:
    plain = _OFFSET.fullmatch(text)
    indirect = _INDIRECT.fullmatch(text) if plain is None else None
    if plain is not None:
        entry.relative = bool(plain[1])
        entry.offset = int_of(plain[2] + plain[3])
    elif indirect is not None:
        entry.relative = bool(indirect[1])
        entry.indirection = Indirection(indirect)
    else:
        raise LineError(f"offset `{text}' invalid")


def _read_type(entry: Entry, text: str, line: str) -> None:
    found = _TYPE.fullmatch(text)
    shown = line.lstrip(">").split(None, 1)[1]
    if found is None:
        raise LineError(f"type `{shown}' invalid")
    unsigned, order, name, rest = found.groups()
    if f"{order or ''}{name}" in _TEXTS or (name in _TEXTS | _OTHERS and not unsigned and not order):
        entry.kind = f"{order or ''}{name}"
        _read_flags(entry, rest)
        return
    if name not in SIZES:
        raise LineError(f"type `{shown}' invalid")
    entry.kind, entry.order, entry.signed = name, order or "", not unsigned
    if rest:
        mask = _MASK.fullmatch(rest)
        if mask is None:
            raise LineError(f"Unparsable number `{rest.lstrip('&')} {shown.partition(text)[2].strip()}'")
        entry.operator, entry.mask = mask[1], int_of(mask[2])


def _read_flags(entry: Entry, text: str) -> None:
    for part in text.split("/")[1:]:
        for piece in re.findall(r"[0-9]+|.", part):
            if piece.isdecimal():
                entry.range = min(int(piece), 2**31)
            elif piece in "WwcCTbtfslBHhLJ":
                entry.flags += piece
            else:
                raise LineError(f"string modifier `{piece}' invalid")


def _read_relation(entry: Entry, rest: str) -> str:
    if re.match(r"x(?:[ \t]|\Z)", rest):
        entry.relation = "x"
        return rest[1:]
    if rest[:1] in ("=", ">", "<", "!", "&", "^"):
        entry.relation = rest[0]
        return rest[1:].removeprefix("=") if rest[0] in "=><&^" else rest[1:]
    return rest


def _read_value(entry: Entry, rest: str) -> str:
    rest = _read_relation(entry, rest)
    if entry.relation == "x":
        return rest
    rest = rest.lstrip(" \t")
    found = (_FRACTION if entry.kind in ("float", "double") else _NUMBER).match(rest)
    if found is None:
        raise LineError(f"Unparsable number `{rest}'")
    if entry.kind in ("float", "double"):
        entry.number = float(found[0])
        return rest[found.end() :]
    number = int_of(found[2])
    bits = 8 * SIZES.get(entry.kind, 8)
    if not -(1 << bits) < number < 1 << bits:
        raise LineError(f"Overflow for numeric type `{entry.order}{entry.kind}' value {number & (2**64 - 1):#x}")
    number &= (1 << bits) - 1
    number = number ^ ((1 << bits) - 1) if found[1] else number
    entry.number = number - (1 << bits) if entry.signed and number >> (bits - 1) else number
    return rest[found.end() :]


def _read_text(entry: Entry, rest: str) -> str:
    rest = _read_relation(entry, rest)
    if entry.relation == "x":
        return rest
    out = bytearray()
    at = 0
    while at < len(rest) and rest[at] not in " \t":
        if rest[at] != "\\":
            out += encode(rest[at])
            at += 1
            continue
        at += 1
        coded = re.compile(r"x([0-9a-fA-F]{1,2})|([0-7]{1,3})").match(rest, at)
        if coded is not None:
            out.append(int(coded[1], 16) if coded[1] else int(coded[2], 8) & 255)
            at = coded.end()
        elif at < len(rest):
            out += bytes([_ESCAPES[rest[at]]]) if rest[at] in _ESCAPES else encode(rest[at])
            at += 1
    entry.text = bytes(out)
    return rest[at:]


def _check_description(entry: Entry) -> None:
    directives = [found for found in _DIRECTIVE.finditer(entry.description) if found[0] != "%%"]
    left = _DIRECTIVE.sub("", entry.description)
    shown = f"for type `{entry.order}{entry.kind}' in description `{entry.description}'"
    if len(directives) > 1:
        name = f"{entry.order}{entry.kind}"
        raise LineError(f"Too many format strings (should have at most one) for `{name}' with description `{entry.description}'")
    if "%" in left or (directives and not _fits(entry, directives[0][2], directives[0][3])):
        raise LineError(f"Printf format is not valid {shown}")


def _fits(entry: Entry, length: str, letter: str) -> bool:
    if entry.kind in ("quad", "offset"):
        return letter in _KINDS[entry.kind] and length in ("ll", "l", "q", "j")
    return letter in _KINDS.get(entry.kind, "s") and length in ("", "h", "hh")
