"""The scalars of a YAML text: plain, quoted and block."""

from __future__ import annotations

import re

from agentsandbox.commands.yq.nodes import DOUBLE, FOLDED, LITERAL, SINGLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from agentsandbox.kernel.budget import Budget

    class Token(Protocol):
        """What a scalar fills in."""

        at: int
        line: int
        value: str

    class Scanner(Protocol):
        """The cursor in the text, and the tokens so far."""

        at: int
        budget: Budget
        column: int
        flow: int
        indent: int
        simple_allowed: bool
        text: str

        @property
        def tokens(self) -> Sequence[Token]: ...
        def put(self, kind: str, value: str = "", style: int = 0, size: int = 0) -> None: ...
        def fail(self, problem: str, line: int | None = None) -> YamlError: ...
        def skip(self, count: int) -> None: ...
        def skip_break(self) -> None: ...
        def skip_line_comment(self, token: int) -> None: ...


_BREAKS = "\r\n\x85\u2028\u2029"
_Z = r" \t\r\n\x85\u2028\u2029\0"
_PLAIN_BLOCK = re.compile(
    rf"(?:[^{_Z}:]+|:(?![{_Z}]))++(?:[ \t]+(?:[^{_Z}:#]|:(?![{_Z}]))(?:[^{_Z}:]+|:(?![{_Z}]))*+)*+"
)
_PLAIN_FLOW = re.compile(
    rf"(?:[^{_Z}:,?\[\]{{}}]+|:(?![{_Z}]))++(?:[ \t]+(?:[^{_Z}:#,?\[\]{{}}]|:(?![{_Z}]))(?:[^{_Z}:,?\[\]{{}}]+|:(?![{_Z}]))*+)*+"
)
_MARKER = re.compile(rf"(?:---|\.\.\.)(?=[{_Z}])")
_BLANKS = re.compile(r"[ \t]*")
_REST = re.compile(r"[^\r\n\x85\u2028\u2029\0]*")
_SINGLE = re.compile(r"[^'\r\n\x85\u2028\u2029\0]+")
_DOUBLE = re.compile(r'[^"\\\r\n\x85\u2028\u2029\0]+')
_HEADER = re.compile(r"([+-]?)([0-9]?)([+-]?)[ \t]*")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", " ": " ",
    '"': '"', "'": "'", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_CODES = {"x": 2, "u": 4, "U": 8}
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]+\Z")


class YamlError(Exception):
    """A text is no YAML; the message is without "yaml: "."""


def _joined(first: str, more: str) -> str:
    """What the line breaks between two lines of a flowing scalar become."""
    if first == "\n":
        return more or " "
    return first + more


def _read_break(scanner: Scanner) -> str:
    c = scanner.text[scanner.at]
    scanner.skip_break()
    return c if c in "\u2028\u2029" else "\n"


def read_plain(scanner: Scanner) -> None:
    """A scalar without quotes, over as many lines as its indentation allows."""
    text = scanner.text
    indent = scanner.indent + 1
    pattern = _PLAIN_FLOW if scanner.flow else _PLAIN_BLOCK
    scanner.put("scalar")
    token = scanner.tokens[-1]
    parts: list[str] = []
    blanks = first = more = ""
    while True:
        at = scanner.at
        if text[at] == "#" or (
            scanner.column == 0 and text[at] in "-." and _MARKER.match(text, at)
        ):
            break
        found = pattern.match(text, at)
        if found is not None:
            parts += (_joined(first, more) if first else blanks, found[0])
            blanks = first = more = ""
            scanner.skip(len(found[0]))
        c = text[scanner.at]
        if c not in " \t" and c not in _BREAKS:
            break
        while True:
            spaces = _BLANKS.match(text, scanner.at)
            width = spaces.end() - scanner.at if spaces else 0
            if width:
                tab = text.find("\t", scanner.at, scanner.at + width) if first else -1
                if tab >= 0 and scanner.column + tab - scanner.at < indent:
                    raise scanner.fail(
                        "found a tab character that violates indentation", token.line
                    )
                if not first:
                    blanks = text[scanner.at : scanner.at + width]
                scanner.at += width
                scanner.column += width
            if text[scanner.at] not in _BREAKS:
                break
            scanner.budget.step()
            if first:
                more += _read_break(scanner)
            else:
                first = _read_break(scanner)
        if scanner.flow == 0 and scanner.column < indent:
            break
    token.value = "".join(parts)
    if first:
        scanner.simple_allowed = True


def _read_quoted(scanner: Scanner, quote: str, chunk: re.Pattern[str], style: int) -> None:
    text = scanner.text
    scanner.put("scalar", style=style, size=1)
    token = scanner.tokens[-1]
    parts: list[str] = []
    while True:
        if scanner.column == 0 and _MARKER.match(text, scanner.at):
            raise scanner.fail("found unexpected document indicator", token.line)
        found = chunk.match(text, scanner.at)
        piece = found[0] if found else ""
        scanner.skip(len(piece))
        c = text[scanner.at]
        if c in _BREAKS:
            piece = piece.rstrip(" \t")
            parts.append(piece)
            _fold(scanner, parts, escaped=False)
            continue
        parts.append(piece)
        if c == "\0":
            raise scanner.fail("found unexpected end of stream", token.line)
        if c == "\\":
            _escape(scanner, parts, token.line)
        elif quote == "'" and text[scanner.at + 1] == "'":
            parts.append("'")
            scanner.skip(2)
        else:
            scanner.skip(1)
            break
    token.value = "".join(parts)


def _fold(scanner: Scanner, parts: list[str], *, escaped: bool) -> None:
    """The line breaks and blanks between two lines of a quoted scalar."""
    text = scanner.text
    first = "" if escaped else _read_break(scanner)
    more = ""
    while True:
        scanner.budget.step()
        blanks = _BLANKS.match(text, scanner.at)
        if blanks is not None:
            scanner.column += blanks.end() - scanner.at
            scanner.at = blanks.end()
        if text[scanner.at] not in _BREAKS:
            break
        if scanner.column == 0 and _MARKER.match(text, scanner.at):
            break
        more += _read_break(scanner)
    parts.append(_joined(first, more))


def _escape(scanner: Scanner, parts: list[str], line: int) -> None:
    text = scanner.text
    c = text[scanner.at + 1]
    if c in _BREAKS:
        scanner.skip(1)
        scanner.skip_break()
        _fold(scanner, parts, escaped=True)
        return
    if c in _ESCAPES:
        parts.append(_ESCAPES[c])
        scanner.skip(2)
        return
    length = _CODES.get(c)
    if length is None:
        raise scanner.fail("found unknown escape character", line)
    digits = text[scanner.at + 2 : scanner.at + 2 + length]
    if len(digits) < length or not _HEXADECIMAL.match(digits):
        raise scanner.fail("did not find expected hexdecimal number", line)
    value = int(digits, 16)
    if 0xD800 <= value <= 0xDFFF or value > 0x10FFFF:
        raise scanner.fail("found invalid Unicode character escape code", line)
    parts.append(chr(value))
    scanner.skip(2 + length)


def read_single(scanner: Scanner) -> None:
    """A scalar in single quotes."""
    _read_quoted(scanner, "'", _SINGLE, SINGLE)


def read_double(scanner: Scanner) -> None:
    """A scalar in double quotes."""
    _read_quoted(scanner, '"', _DOUBLE, DOUBLE)


def read_block(scanner: Scanner, sign: str) -> None:
    """A literal ("|") or folded (">") scalar."""
    scanner.put("scalar", style=LITERAL if sign == "|" else FOLDED, size=1)
    token = scanner.tokens[-1]
    found = _HEADER.match(scanner.text, scanner.at)
    assert found is not None
    chomp = found[1] or found[3]
    digit = found[2]
    if digit == "0":
        raise scanner.fail("found an indentation indicator equal to 0", token.line)
    if not digit:
        chomp = found[1]
    plain = found[1] + digit + ("" if found[1] or not digit else found[3])
    scanner.skip(len(plain))
    blanks = _BLANKS.match(scanner.text, scanner.at)
    if blanks is not None:
        scanner.column += blanks.end() - scanner.at
        scanner.at = blanks.end()
    if scanner.text[scanner.at] == "#":
        scanner.skip_line_comment(token.at)
    c = scanner.text[scanner.at]
    if c not in _BREAKS and c != "\0":
        raise scanner.fail("did not find expected comment or line break", token.line)
    if c in _BREAKS:
        scanner.skip_break()
    indent = (max(scanner.indent, 0) + int(digit)) if digit else 0
    token.value = _block_text(scanner, indent, chomp, sign == ">", token.line)


def _block_text(scanner: Scanner, indent: int, chomp: str, folded: bool, line: int) -> str:
    text = scanner.text
    indent, trailing = _block_breaks(scanner, indent, line)
    parts: list[str] = []
    leading = ""
    leading_blank = False
    while scanner.column == indent and text[scanner.at] != "\0":
        scanner.budget.step()
        blank = text[scanner.at] in " \t"
        if folded and not leading_blank and not blank and leading == "\n":
            if not trailing:
                parts.append(" ")
        else:
            parts.append(leading)
        parts.append(trailing)
        leading_blank = blank
        found = _REST.match(text, scanner.at)
        content = found[0] if found else ""
        parts.append(content)
        if content.strip(" \t"):
            scanner.skip(len(content))
        else:
            scanner.at += len(content)
            scanner.column += len(content)
        leading = _read_break(scanner) if text[scanner.at] in _BREAKS else ""
        indent, trailing = _block_breaks(scanner, indent, line)
    if chomp != "-":
        parts.append(leading)
    if chomp == "+":
        parts.append(trailing)
    return "".join(parts)


def _block_breaks(scanner: Scanner, indent: int, line: int) -> tuple[int, str]:
    """Pass over indentation and empty lines; find out the indentation where it is not said."""
    text = scanner.text
    breaks: list[str] = []
    widest = 0
    while True:
        while (indent == 0 or scanner.column < indent) and text[scanner.at] == " ":
            scanner.at += 1
            scanner.column += 1
        widest = max(widest, scanner.column)
        if (indent == 0 or scanner.column < indent) and text[scanner.at] == "\t":
            raise scanner.fail("found a tab character where an indentation space is expected", line)
        if text[scanner.at] not in _BREAKS:
            break
        scanner.budget.step()
        breaks.append(_read_break(scanner))
    if indent == 0:
        indent = max(widest, scanner.indent + 1, 1)
    return indent, "".join(breaks)
