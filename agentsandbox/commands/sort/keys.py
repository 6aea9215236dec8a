"""The keys of `sort`: their definitions (POS1[,POS2] and ordering letters), and their texts.

Lines are bytes without their terminator. A key turns a list of lines into a column of values
(`SortKey.column`): it extracts the texts of the key, and `values.converter` turns them into values.
A key whose direction is not that of the sort inverts its values.

There are three ways to extract, each for the lines where the one before does not apply:
* fields with one separator between them: `_quick_extractor`, one `findall` over the text;
* lines without newlines: `_captured`, one `findall` with a pattern that fits short lines too;
* anything else: the same pattern for each line.
"""

from __future__ import annotations

import re

from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    _Extract: TypeAlias = Callable[[Sequence[bytes]], list[bytes]]

ORDERINGS = "bdfghiMnRrV"
"""The letters that may follow a position, as in `-k2,2nr`."""

_MAX_FIELD = 2**31
_FEW = 64


class SortKey:
    """One key. Fields count from 0; `end_field` is None if the key ends with the line."""

    __slots__ = (
        "end_char", "end_field", "flags", "reverse", "skip_end", "skip_start", "start_char",
        "start_field",
    )  # fmt: skip

    def __init__(self) -> None:
        self.start_field = self.start_char = self.end_char = 0
        self.end_field: int | None = None
        self.skip_start = self.skip_end = self.reverse = False
        self.flags: set[str] = set()

    def is_default(self) -> bool:
        """Whether no ordering letter but `r` was given: then the global ones apply."""
        return not (self.flags or self.skip_start or self.skip_end)

    def set_letter(self, letter: str, *, start: bool, end: bool) -> None:
        """Add an ordering letter; `b` belongs to the position before it."""
        if letter == "b":
            self.skip_start = self.skip_start or start
            self.skip_end = self.skip_end or end
        elif letter == "r":
            self.reverse = True
        elif letter == "i" and "d" in self.flags:
            pass
        else:
            if letter == "d":
                self.flags.discard("i")
            self.flags.add(letter)

    def inherit(self, other: SortKey) -> None:
        """Take the global orderings."""
        self.flags = set(other.flags)
        self.skip_start, self.skip_end = other.skip_start, other.skip_end
        self.reverse = other.reverse

    def check(self) -> None:
        """Refuse orderings that exclude each other."""
        kinds = sum([letter in self.flags for letter in "nghM"]) + bool(self.flags & set("VRdi"))
        if kinds > 1:
            shown = "".join([letter for letter in "dfghiMnRV" if letter in self.flags])
            raise CommandError(f"options '-{shown}' are incompatible", 2)

    def column(
        self, tab: bytes | None, salt: tuple[bytes, bytes], invert: bool, terminator: bytes
    ) -> Callable[[Sequence[bytes]], list[Any]]:
        """Return the function from lines to values. -R hashes each text between the two salts."""
        from agentsandbox.commands.sort.values import as_text, converter, mirror

        extract = _extractor(self, tab)
        if extract is not None and terminator == b"\n":
            extract = _quick_extractor(self, tab, extract)
        convert = converter(self.flags, salt)
        turn = mirror(self.flags, terminator) if invert else None

        def values(lines: Sequence[bytes]) -> list[Any]:
            found = convert(lines if extract is None else extract(lines))
            return as_text(found if turn is None else turn(found))

        return values


def parse_key(text: str) -> SortKey:
    """Parse the definition after `-k`."""
    key = SortKey()
    rest, key.start_field, key.start_char = _position(text, text, "invalid number at field start")
    key.start_field -= 1
    if key.start_char or _has_offset(text):
        if not key.start_char:
            raise _bad_spec(text, "character offset is zero")
        key.start_char -= 1
    rest = _letters(rest, key, start=True)
    if rest.startswith(","):
        rest, field, key.end_char = _position(rest[1:], text, "invalid number after ','")
        key.end_field = field - 1
        rest = _letters(rest, key, start=False)
    if rest:
        raise _bad_spec(text, "stray character in field spec")
    return key


def read_keys(definitions: Sequence[str], letters: Sequence[str]) -> list[SortKey]:
    """Return the keys of `-k`, or without one the whole line, with the letters of the options."""
    general = SortKey()
    for letter in letters:
        general.set_letter(letter, start=True, end=True)
    keys = [parse_key(definition) for definition in definitions]
    for key in keys:
        if key.is_default() and not key.reverse:
            key.inherit(general)
    if not keys and not general.is_default():
        keys.append(general)
    for key in keys:
        key.check()
    return keys


def _has_offset(text: str) -> bool:
    return re.match(r"[0-9]+\.", text) is not None


def _bad_spec(text: str, reason: str) -> CommandError:
    return CommandError(f"{reason}: invalid field specification {quote(text)}", 2)


def _number(text: str, reason: str) -> tuple[str, int]:
    found = re.match(r"[ \t\n\v\f\r]*\+?([0-9]+)", text)
    if found is None:
        raise CommandError(f"{reason}: invalid count at start of {quote(text)}", 2)
    digits = found[1].lstrip("0") or "0"
    return text[found.end() :], int(digits) if len(digits) < 10 else _MAX_FIELD


def _position(text: str, whole: str, reason: str) -> tuple[str, int, int]:
    """Parse "F[.C]"; return (rest, field, character)."""
    rest, field = _number(text, reason)
    if not field:
        raise _bad_spec(whole, "field number is zero")
    character = 0
    if rest.startswith("."):
        rest, character = _number(rest[1:], "invalid number after '.'")
    return rest, field, character


def _letters(text: str, key: SortKey, *, start: bool) -> str:
    at = 0
    while at < len(text) and text[at] in ORDERINGS:
        key.set_letter(text[at], start=start, end=not start)
        at += 1
    return text[at:]


# the text of a key


def _skip_fields(count: int, tab: bytes | None) -> bytes:
    """Return a pattern for `count` fields, or for all of a shorter line; it cannot backtrack."""
    if not count:
        return b""
    one = rb"[ \t\n]*+[^ \t\n]++" if tab is None else rb"[^%b]*+%b" % (_escape(tab), _escape(tab))
    return rb"(?>(?:%b){%d}|.*)" % (one, count)


def _escape(tab: bytes) -> bytes:
    return b"\\x%02x" % tab[0]


def _extractor(key: SortKey, tab: bytes | None) -> Callable[[Sequence[bytes]], list[bytes]] | None:
    """Return the function from lines to the texts of the key, or None for whole lines."""
    if not (key.start_field or key.start_char or key.end_field is not None or key.skip_start):
        return None
    blanks = rb"[ \t\n]*+" if key.skip_start else b""
    begin = _skip_fields(key.start_field, tab) + blanks
    if key.end_field is None:
        skipped = rb".{0,%d}+" % key.start_char if key.start_char else b""
        return _captured(begin + skipped + rb"(.*)")
    crosses = tab is not None and key.skip_start  # skipped blanks may reach behind the field
    if (
        not (key.start_char or key.end_char or crosses)
        and key.end_field >= key.start_field
        and key.start_field < 2**16
    ):
        count = key.end_field - key.start_field
        return _captured(begin + rb"(" + _fields(count, tab) + rb")")
    return _between(key, tab, begin)


def _quick_extractor(key: SortKey, tab: bytes | None, exact: _Extract) -> _Extract:
    """Return a faster `exact` for lines whose fields have one separator, `tab` or a space, between.

    A pattern takes at least one newline for each line, so if it matches as often as there are
    lines, no match crosses a newline. A pattern that fails takes long; it is tried only if the last
    line has enough separators.
    """
    count = 0 if key.end_field is None else key.end_field - key.start_field
    needed = key.start_field + count
    blanks = key.skip_start and tab is not None
    if key.start_char or key.end_char or count < 0 or needed > _FEW or blanks:
        return exact
    between = tab or b" "
    separator = _escape(between)
    field = b"[^%b]*+" % separator
    begin, first = (field + separator) * key.start_field, field
    if key.start_field and tab is None and not key.skip_start:  # the blank belongs to the field
        begin, first = begin.removesuffix(separator), separator + field
    if key.end_field is None:
        rest = b"%b(%b[^\n]*+)\n" % (begin, first.removesuffix(field))
        patterns = [(needed, re.compile(rest).findall)]
    else:
        middle = first + (separator + field) * count
        short = middle.removesuffix(field) + b"[^%b\n]*+" % separator
        patterns = [
            (needed + 1, re.compile(b"%b(%b)%b[^\n]*+\n" % (begin, middle, separator)).findall),
            (needed, re.compile(b"%b(%b)[^\n]*+\n" % (begin, short)).findall),
        ]

    def extract(lines: Sequence[bytes]) -> list[bytes]:
        if len(lines) > _FEW and (have := lines[-1].count(between)) >= needed:
            text = b"\n".join([b"", *lines, b""])
            if tab or not (b"\t" in text or b"  " in text or b"\n " in text):
                for least, findall in patterns:
                    if have >= least:
                        found: list[bytes] = findall(text, 1)
                        if len(found) == len(lines):
                            return found
        return exact(lines)

    return extract


def _captured(pattern: bytes) -> Callable[[Sequence[bytes]], list[bytes]]:
    """Return a function from lines to what the group of a pattern matches in each."""
    match = re.compile(pattern, re.DOTALL).match
    in_lines = pattern.replace(rb"[ \t\n]", rb"[ \t]").replace(rb"[^", rb"[^\n")
    findall = re.compile(rb"^%b.*$" % in_lines, re.MULTILINE).findall

    def extract(lines: Sequence[bytes]) -> list[bytes]:
        if len(lines) > _FEW:
            found: list[bytes] = findall(b"\n".join(lines))
            if len(found) == len(lines):
                return found
        return [match(line)[1] for line in lines]  # type: ignore[index]

    return extract


def _fields(more: int, tab: bytes | None) -> bytes:
    """Return a pattern for the rest of a field and `more` fields after it."""
    if tab is None:
        return rb"[ \t\n]*+[^ \t\n]*+(?>(?:[ \t\n]*+[^ \t\n]++){%d}|.*)" % more
    separator = _escape(tab)
    return rb"[^%b]*+(?>(?:%b[^%b]*+){%d}|.*)" % (separator, separator, separator, more)


def _between(
    key: SortKey, tab: bytes | None, begin: bytes
) -> Callable[[Sequence[bytes]], list[bytes]]:
    """Return the function for a key with character offsets: begin and end are found separately."""
    assert key.end_field is not None
    begin_of = re.compile(begin, re.DOTALL).match
    if key.end_char:
        blanks = rb"[ \t\n]*+" if key.skip_end else b""
        end_of = re.compile(_skip_fields(key.end_field, tab) + blanks, re.DOTALL).match
    else:
        end_of = re.compile(_skip_fields(key.end_field, tab) + _fields(0, tab), re.DOTALL).match
    start_char, end_char = key.start_char, key.end_char

    def extract(lines: Sequence[bytes]) -> list[bytes]:
        texts: list[bytes] = []
        for line in lines:
            begins, ends = begin_of(line), end_of(line)
            assert begins is not None and ends is not None  # both patterns match every line
            texts.append(line[begins.end() + start_char : ends.end() + end_char])
        return texts

    return extract
