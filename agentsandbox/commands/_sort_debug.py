"""`sort --debug`: what is doubtful about the keys, and under each line the part of it that every key compares."""

from __future__ import annotations

import re

from agentsandbox.commands._quoting import quote
from agentsandbox.commands._widths import text_width
from agentsandbox.languages.long_double import parse_long_double
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.commands._sort_keys import SortKey

__all__ = ["annotated", "key_warnings"]

_BLANKS = b" \t\n"
_NUMERIC = frozenset("ngh")
_LETTERS = "dfghiMnRV"
_NUMBER = re.compile(rb"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_MONTHS = frozenset(b"JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split())
_UNITS = frozenset(bytes([letter]) for letter in b"KMGTPEZYk")


def key_warnings(keys: Sequence[SortKey], general: SortKey, tab: bytes | None, *, only_general: bool, last_resort: bool) -> Iterator[str]:
    """What the keys do that may surprise; `general` are the options outside of them."""
    spanning: set[str] = set()
    for number, key in enumerate(keys, 1):
        no_width = key.end_field is not None and key.end_field < key.start_field
        if no_width:
            yield f"key {number} has zero width and will be ignored"
        if not no_width and not only_general and tab is None and _heeds_blanks(key):
            yield f"leading blanks are significant in key {number}; consider also specifying 'b'"
        if not only_general and key.flags & _NUMERIC and (key.end_field is None or key.start_field < key.end_field):
            yield f"key {number} is numeric and spans multiple fields"
            spanning |= key.flags
    yield from _separator_warnings(keys, spanning, tab)
    yield from _ignored(keys, general, last_resort=last_resort)


def _heeds_blanks(key: SortKey) -> bool:
    if key.end_field == 0 and key.end_char:
        return False
    skips = bool(key.flags & {*_NUMERIC, "M"})
    starts = not key.skip_start and (not skips or key.start_char > 0)
    return starts or (not key.skip_end and key.end_char > 0)


def _separator_warnings(keys: Sequence[SortKey], spanning: set[str], tab: bytes | None) -> Iterator[str]:
    told = False
    if spanning & _NUMERIC:
        meaning = {b".": "decimal point", b"-": "minus sign"}.get(tab or b"")
        if tab == b"+" and "g" in spanning:
            meaning = "plus sign"
        if meaning is not None:
            yield f"field separator {quote(decode(tab or b''))} is treated as a {meaning} in numbers"
            told = meaning == "decimal point"
    if not told and any(key.flags & _NUMERIC for key in keys):
        yield f"{'' if tab == b'.' else 'note '}numbers use {quote('.')} as a decimal point in this locale"


def _ignored(keys: Sequence[SortKey], general: SortKey, *, last_resort: bool) -> Iterator[str]:
    """Options outside of the keys that no key takes."""
    left = {flag for flag in general.flags if not any(flag in key.flags for key in keys)}
    blanks = any(
        wanted and not any(has) for wanted, has in (
            (general.skip_start, [key.skip_start for key in keys]),
            (general.skip_end, [key.skip_end for key in keys]),
        )
    )  # fmt: skip
    backwards = general.reverse and bool(keys) and not any(key.reverse for key in keys)
    if left or blanks or (backwards and not last_resort):
        letters = "b" * blanks + "".join([letter for letter in _LETTERS if letter in left])
        if backwards and not last_resort:
            letters = "".join(sorted([*letters, "r"], key="bdfghiMnRrV".index))
        yield f"option '-{letters}' is ignored" if len(letters) == 1 else f"options '-{letters}' are ignored"
    if backwards and last_resort:
        yield "option '-r' only applies to last-resort comparison"


def annotated(keys: Sequence[SortKey], tab: bytes | None, *, last_resort: bool, bytewise: bool) -> Callable[[bytes], bytes]:
    """A function from a line to the line with its marks, each in a line of its own."""
    measure = len if bytewise else _width

    def annotate(line: bytes) -> bytes:
        marks = [_mark(line, *_extent(key, line, tab), measure) for key in keys]
        if last_resort or not keys:
            marks.append(_mark(line, 0, len(line), measure))
        return b"\n".join([line.replace(b"\t", b">"), *marks])

    return annotate


def _mark(line: bytes, begin: int, end: int, measure: Callable[[bytes], int]) -> bytes:
    return b" " * measure(line[:begin]) + (b"_" * measure(line[begin:end]) or b"^ no match for key")


def _width(text: bytes) -> int:
    return text_width(decode(text.replace(b"\t", b" ")))


def _extent(key: SortKey, line: bytes, tab: bytes | None) -> tuple[int, int]:
    """Where in the line the key begins and ends."""
    begin = _after_fields(line, key.start_field, tab)
    if key.skip_start:
        begin = _after_blanks(line, begin)
    begin = min(len(line), begin + key.start_char)
    end = len(line)
    if key.end_field is not None:
        end = max(begin, _end_of(key, line, tab))
    if not key.flags & {*_NUMERIC, "M"}:
        return begin, end
    text = line[:end]
    begin = _after_blanks(text, begin)
    return begin, begin + _number_end(key.flags, text[begin:])


def _number_end(flags: set[str], text: bytes) -> int:
    """How much of the text is a number or the name of a month."""
    if "M" in flags:
        return 3 if text[:3].upper() in _MONTHS else 0
    if "g" in flags:
        return parse_long_double(decode(text))[1]
    found = _NUMBER.match(text)
    if found is None:
        return 0
    return found.end() + ("h" in flags and text[found.end() : found.end() + 1] in _UNITS)


def _end_of(key: SortKey, line: bytes, tab: bytes | None) -> int:
    assert key.end_field is not None
    if key.end_char:
        end = _after_fields(line, key.end_field, tab)
        if key.skip_end:
            end = _after_blanks(line, end)
        return min(len(line), end + key.end_char)
    if tab is None:
        return _after_fields(line, key.end_field + 1, None)
    start = _after_fields(line, key.end_field, tab)
    found = line.find(tab, start)
    return found if found >= 0 else len(line)


def _after_blanks(line: bytes, at: int) -> int:
    return len(line) - len(line[at:].lstrip(_BLANKS))


def _after_fields(line: bytes, count: int, tab: bytes | None) -> int:
    """Where the field after `count` fields begins; the end of a line that has fewer."""
    pattern = rb"[ \t\n]*+[^ \t\n]++" if tab is None else rb"[^%b]*+%b" % (re.escape(tab), re.escape(tab))
    at = 0
    for number, found in enumerate(re.finditer(pattern, line), 1):
        if number > count:
            return at
        at = found.end()
        if number == count:
            return at
    return at if not count else len(line)
