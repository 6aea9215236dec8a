"""The tree of a pattern written as a pattern of Python's `re`, and the plain texts in it.

Character classes differ in ASCII text and beyond, so there are two spellings of a set: the one for
ASCII is shorter and faster. Bytes that are not UTF-8 are no characters: no set of the other
spelling matches them. The text functions at the end find what a search may look for before it runs
`re`.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.regexps.tree import (
    Alternation,
    Assertion,
    BackReference,
    CharSet,
    Concatenation,
    Group,
    LookAround,
    Node,
    Repeat,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INVALID = "\udc80-\udcff"
"""Bytes that are not UTF-8, as `streams.decode` writes them."""

_SPACE = "\t-\r \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"

ASCII_CLASSES = {
    "alpha": "A-Za-z",
    "digit": "0-9",
    "alnum": "0-9A-Za-z",
    "upper": "A-Z",
    "lower": "a-z",
    "space": "\\t-\\r ",
    "blank": "\\t ",
    "punct": "!-/:-@\\[-`{-~",
    "print": " -~",
    "graph": "!-~",
    "cntrl": "\\x00-\\x1f\\x7f",
    "xdigit": "0-9A-Fa-f",
    "word": "0-9A-Za-z_",
}

# Beyond ASCII: (a fragment of a set, a whole set that is an alternative to it or None).
_UNICODE_CLASSES: dict[str, tuple[str, str | None]] = {
    "alpha": ("", "[^\\W0-9_]"),
    "digit": ("0-9", None),
    "alnum": ("", "[^\\W_]"),
    "space": (_SPACE, None),
    "blank": ("\\t \u1680\u2000-\u2006\u2008-\u200a\u205f\u3000", None),
    "punct": ("!-/:-@\\[-`{-~", "[^\\w\\s\\x00-\\xa0" + INVALID + "]"),
    "print": (" ", "[^\\x00-\\x1f\\x7f-\\x9f\u2028\u2029" + INVALID + "]"),
    "graph": ("", "[^" + _SPACE + "\\x00-\\x1f\\x7f-\\x9f" + INVALID + "]"),
    "cntrl": ("\\x00-\\x1f\\x7f-\\x9f\u2028\u2029", None),
    "xdigit": ("0-9A-Fa-f", None),
    "word": ("", "\\w"),
}

# Without the newline: in ASCII, and beyond it.
_WITH_NEWLINE = {
    "space": ("\\t\\x0b-\\r ", _SPACE.replace("\t-\r", "\t\x0b-\r")),
    "cntrl": ("\\x00-\\t\\x0b-\\x1f\\x7f", "\\x00-\\t\\x0b-\\x1f\\x7f-\\x9f\u2028\u2029"),
}

_case_ranges: dict[str, str] = {}
_CASED_BLOCKS = ((0, 0x590), (0x10A0, 0x1400), (0x1C80, 0x2190), (0x2C00, 0x2E00), (0xA640, 0xABC0))


def _ranges_of(name: str) -> str:
    """Return the upper-case or lower-case letters as ranges; they are computed once."""
    if name not in _case_ranges:
        test = str.isupper if name == "upper" else str.islower
        pieces: list[str] = []
        start = None
        for low, high in _CASED_BLOCKS:
            for code in [*range(low, high), -1]:
                if code >= 0 and test(chr(code)):
                    start = code if start is None else start
                    last = code
                elif start is not None:
                    end = f"-\\u{last:04x}" if last > start else ""
                    pieces.append(f"\\u{start:04x}{end}")
                    start = None
        _case_ranges[name] = "".join(pieces)
    return _case_ranges[name]


def _escape_in_set(code: int) -> str:
    character = chr(code)
    return "\\" + character if character in "\\]^-[&~|" else character


def set_source(node: CharSet, *, ascii_only: bool) -> str:
    """Return a character set; in ASCII text the `ascii_only` spelling matches the same, faster."""
    if node.negated and not node.ranges and not node.classes:
        if ascii_only:
            return "(?s:.)" if node.newline else "."
        return f"[^{INVALID}]" if node.newline else f"[^\n{INVALID}]"
    literal = node.literal
    if literal is not None:
        return re.escape(literal)
    ranges = node.ranges if node.newline else _without_newline(node.ranges)
    pieces = [_range_source(low, high) for low, high in ranges]
    beside: list[str] = []
    for name in node.classes:
        if not node.newline and name in _WITH_NEWLINE:
            pieces.append(_WITH_NEWLINE[name][0 if ascii_only else 1])
        elif ascii_only:
            pieces.append(ASCII_CLASSES[name])
        elif name in ("upper", "lower"):
            pieces.append(_ranges_of(name))
        else:
            fragment, other = _UNICODE_CLASSES[name]
            pieces.append(fragment)
            if other == "\\w":
                pieces.append(other)
            elif other is not None:
                beside.append(other)
    if node.negated:
        return _negated_set(node, pieces, beside, ascii_only)
    return _positive_set(pieces, beside)


def _range_source(low: int, high: int) -> str:
    return _escape_in_set(low) if low == high else f"{_escape_in_set(low)}-{_escape_in_set(high)}"


def _without_newline(ranges: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Return the ranges without the newline."""
    out: list[tuple[int, int]] = []
    for low, high in ranges:
        if low <= 10 <= high:
            out.extend([(start, stop) for start, stop in ((low, 9), (11, high)) if start <= stop])
        else:
            out.append((low, high))
    return out


def _positive_set(pieces: list[str], beside: list[str]) -> str:
    inside = "".join(pieces)
    options = ([f"[{inside}]"] if inside else []) + beside
    if not options:
        return "(?!)"
    return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"


def _negated_set(node: CharSet, pieces: list[str], beside: list[str], ascii_only: bool) -> str:
    excluded = "".join(pieces) + ("" if node.newline else "\n") + ("" if ascii_only else INVALID)
    source = f"[^{excluded}]" if excluded else "(?s:.)"
    if not beside:
        return source
    without = "".join([f"(?!{other})" for other in beside])
    return f"(?:{without}{source})"


_WORD_EDGES = {
    "<": "\\b(?=\\w)",
    ">": "\\b(?<=\\w)",
    "b": "\\b",
    "B": "(?:(?<=\\w)(?=\\w)|(?<!\\w)(?!\\w))",
    "(": "(?<!\\w)",
    ")": "(?!\\w)",
}
_LINE_EDGES = {"^": "^", "`": "^", "$": "$", "'": "$"}
_TEXT_EDGES = {"^": "\\A", "`": "\\A", "$": "\\Z", "'": "\\Z"}
_MIXED_EDGES = {"^": "^", "`": "\\A", "$": "$", "'": "\\Z"}


class _Writer:
    """A writer of nodes; `edges` holds the spellings of the anchors."""

    def __init__(self, ascii_only: bool, edges: dict[str, str]) -> None:
        self.ascii_only = ascii_only
        self.edges = {**_WORD_EDGES, **edges}

    def write(self, node: Node) -> str:
        if isinstance(node, CharSet):
            return set_source(node, ascii_only=self.ascii_only)
        if isinstance(node, Concatenation):
            return self._sequence(node.parts)
        if isinstance(node, Group):
            return f"({self.write(node.body)})"
        if isinstance(node, Alternation):
            return "|".join([self.write(branch) for branch in sort_branches(node)])
        if isinstance(node, Repeat):
            return self._repeat(node)
        if isinstance(node, BackReference):
            return f"(?:\\{node.number})"
        if isinstance(node, LookAround):
            return node.source
        assert isinstance(node, Assertion)
        return self.edges[node.kind]

    def _sequence(self, parts: Sequence[Node]) -> str:
        """Return the parts in turn.

        The beginning of a word before plain text becomes a look-behind after the text, because `re`
        finds plain text faster than an assertion.
        """
        first = parts[0] if parts else None
        if isinstance(first, Assertion) and first.kind in "(<b":
            text = leading_text(parts[1:])
            if text and (first.kind == "(" or text[0].isalnum() or text[0] == "_"):
                plain = re.escape(text)
                return f"{plain}(?<!\\w{plain}){self._sequence(parts[1 + len(text) :])}"
        written = [
            f"(?:{self.write(part)})" if isinstance(part, Alternation) else self.write(part)
            for part in parts
        ]
        return "".join(written)

    def _repeat(self, node: Repeat) -> str:
        body = self.write(node.body)
        if not isinstance(node.body, (CharSet, Group)) or body == "(?!)":
            body = f"(?:{body})"
        least, most = node.least, node.most
        if (least, most) == (0, None):
            return body + "*"
        if (least, most) == (1, None):
            return body + "+"
        if (least, most) == (0, 1):
            return body + "?"
        if least == most:
            return f"{body}{{{least}}}"
        return f"{body}{{{least},{'' if most is None else most}}}"


def sort_branches(node: Alternation) -> list[Node]:
    """Return the branches, those of fixed length longest first: `re` takes the first that fits."""
    branches = list(node.branches)
    if all(branch.fixed for branch in branches):
        branches.sort(key=lambda branch: -branch.low)
    return branches


def translate(root: Node, *, ascii_only: bool, multiline: bool, newline_safe: bool) -> str:
    """Return the source of a pattern for `re` (with `re.M` if `multiline` or `newline_safe`)."""
    edges = _LINE_EDGES if newline_safe else _MIXED_EDGES if multiline else _TEXT_EDGES
    return _Writer(ascii_only, edges).write(root)


def literal_text(root: Node) -> str | None:
    """Return the only text that the pattern matches, or None."""
    parts = root.parts if isinstance(root, Concatenation) else (root,)
    text: list[str] = []
    for part in parts:
        character = part.literal if isinstance(part, CharSet) else None
        if character is None:
            return None
        text.append(character)
    return "".join(text)


def leading_text(parts: Sequence[Node]) -> str:
    """Return the plain text at the beginning of these parts."""
    text: list[str] = []
    for part in parts:
        character = part.literal if isinstance(part, CharSet) else None
        if character is None:
            break
        text.append(character)
    return "".join(text)


def prefix_text(root: Node) -> str:
    """Return the text that every match begins with, where `re` makes use of it."""
    parts = top_parts(root)
    if parts and isinstance(parts[0], Assertion) and parts[0].kind in "(<b":
        parts = parts[1:]
    return leading_text(parts)


def alternative_texts(root: Node) -> list[str]:
    """Return the texts of a pattern that is a choice between texts, or an empty list."""
    while isinstance(root, Group):
        root = root.body
    if not isinstance(root, Alternation):
        return []
    texts = [literal_text(branch) for branch in root.branches]
    return [text for text in texts if text] if all(texts) else []


def required_text(root: Node) -> str:
    """Return the longest text on the top level that every match contains, or ""."""
    best = ""
    run: list[str] = []
    for part in [*top_parts(root), Assertion("^")]:
        character = part.literal if isinstance(part, CharSet) else None
        if character is not None:
            run.append(character)
            continue
        if len(run) > len(best):
            best = "".join(run)
        run = []
        if not best and isinstance(part, Repeat) and part.least and isinstance(part.body, CharSet):
            best = part.body.literal or ""
    return best


def top_parts(node: Node) -> list[Node]:
    """Return the parts of the top level, with groups opened."""
    if isinstance(node, Concatenation):
        return [inner for part in node.parts for inner in top_parts(part)]
    if isinstance(node, Group):
        return top_parts(node.body)
    return [node]
