"""The common Perl patterns as trees, so that `re` can run those that cannot explode.

The tree selects lines in the same way as that of a POSIX pattern, and tells how long a text may be.
The source for `re` is written along with it, because it finds the same matches as PCRE (the first,
not the longest). A pattern with anything else (recursion, back-references, possessive repeats,
options inside) is not read, and the `regex` package runs it alone.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.regexps.analysis import analyze
from agentsandbox.kernel.regexps.translate import set_source, top_parts
from agentsandbox.kernel.regexps.tree import (
    CLASS_NAMES,
    Alternation,
    Assertion,
    CharSet,
    Concatenation,
    Group,
    LookAround,
    Node,
    Repeat,
    class_mask,
)

_MAX_NESTING = 50
_SHORTHANDS: dict[str, tuple[tuple[int, int], ...]] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": ((9, 9), (11, 13), (32, 32)),
}
_CONTROLS = {"t": 9, "f": 12, "r": 13, "e": 27, "a": 7}
_COUNT = lazily(r"\{([0-9]{1,5})(,?)([0-9]{0,5})\}")
_CLASS = lazily(r"\[:(\w+):\]")


class PerlTree:
    """A pattern for ASCII lines.

    `root`    the tree, which selects lines.
    `source`  the pattern for `re`; its only group, if any, is the part behind \\K.
    `behind`  the text of the look-behind at the beginning, if it is plain, else "".
    """

    __slots__ = ("behind", "ignore_case", "root", "safe_length", "source")

    def __init__(self, root: Node, source: str, behind: str, *, ignore_case: bool) -> None:
        self.root = root
        self.source = source
        self.behind = behind
        self.ignore_case = ignore_case
        self.safe_length = analyze(root, multiline=True).safe_length


class _Unknown(Exception):
    """The pattern has something that is not known here."""


def read_perl(pattern: str, *, ignore_case: bool) -> PerlTree | None:
    """Return the tree of a pattern for a block of ASCII lines, or None."""
    if not pattern.isascii() or not pattern.isprintable() or len(pattern) > 1000:
        return None
    if pattern.startswith("(?i)"):
        pattern, ignore_case = pattern[4:], True
    reader = _Reader(pattern, ignore_case)
    try:
        root, source = reader.alternation(0)
    except _Unknown:
        return None
    if reader.position < len(pattern) or not root.low:
        return None
    if reader.keep is None:
        return PerlTree(root, source, _text_behind(root, source), ignore_case=ignore_case)
    kept = f"{source[: reader.keep]}({source[reader.keep :]})"
    return PerlTree(root, kept, "", ignore_case=ignore_case)


def _text_behind(root: Node, source: str) -> str:
    first = top_parts(root)[0]
    if not isinstance(first, LookAround) or not source.startswith(first.source):
        return ""
    if not first.source.startswith("(?<="):
        return ""
    text = first.source[4:-1]
    plain = re.sub(r"\\(.)", r"\1", text)
    return plain if re.escape(plain) == text else ""


class _Reader:
    """A reader from left to right; each part gives a node and its source."""

    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self.pattern = pattern
        self.ignore_case = ignore_case
        self.position = 0
        self.groups = 0
        self.keep: int | None = None
        """The place of \\K in the source, if there is one."""

    def alternation(self, depth: int) -> tuple[Node, str]:
        """Read branches up to the end or the closing parenthesis."""
        if depth > _MAX_NESTING:
            raise _Unknown
        nodes: list[Node] = []
        sources: list[str] = []
        while True:
            node, source = self._sequence(depth)
            nodes.append(node)
            sources.append(source)
            if not self.pattern.startswith("|", self.position):
                break
            if self.keep is not None:
                raise _Unknown
            self.position += 1
        if len(nodes) == 1:
            return nodes[0], sources[0]
        if self.keep is not None:
            raise _Unknown
        return Alternation(nodes), "|".join(sources)

    def _sequence(self, depth: int) -> tuple[Node, str]:
        pattern = self.pattern
        nodes: list[Node] = []
        kept = 0
        source = ""
        while self.position < len(pattern) and pattern[self.position] not in "|)":
            if pattern.startswith("\\K", self.position):
                if depth or self.keep is not None:
                    raise _Unknown
                self.position += 2
                self.keep, kept = len(source), len(nodes)
                continue
            node, piece = self._atom(depth)
            node, piece = self._repeated(node, piece)
            nodes.append(node)
            source += piece
        if self.keep is not None and not depth and not any(node.low for node in nodes[kept:]):
            raise _Unknown  # the part behind \\K may be empty
        return (nodes[0] if len(nodes) == 1 else Concatenation(nodes)), source

    def _repeated(self, node: Node, source: str) -> tuple[Node, str]:
        pattern, at = self.pattern, self.position
        character = pattern[at : at + 1]
        if character == "{" and (counts := _COUNT.match(pattern, at)):
            least = int(counts[1])
            most = least if not counts[2] else int(counts[3]) if counts[3] else None
            if least > 1000 or (most or 0) > 1000 or (most is not None and most < least):
                raise _Unknown
            self.position = counts.end()
        elif character and character in "*+?":
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
            self.position += 1
        else:
            return node, source
        if isinstance(node, Assertion) or pattern.startswith(("+", "*", "{"), self.position):
            raise _Unknown
        lazy = "?" if pattern.startswith("?", self.position) else ""
        self.position += len(lazy)
        if pattern.startswith(("+", "*", "?", "{"), self.position):
            raise _Unknown
        body = f"(?:{source})" if len(source) > 1 else source
        return Repeat(node, least, most), f"{body}{{{least},{'' if most is None else most}}}{lazy}"

    def _atom(self, depth: int) -> tuple[Node, str]:
        pattern = self.pattern
        character = pattern[self.position]
        self.position += 1
        if character == "(":
            return self._group(depth)
        if character == "[":
            return self._written(self._set())
        if character == "\\":
            return self._escape()
        if character == ".":
            return self._written(CharSet((), negated=True, newline=False))
        if character in "^$":
            return Assertion(character), character
        if character in "*+?" or (character == "{" and _COUNT.match(pattern, self.position - 1)):
            raise _Unknown
        return self._written(self._literal(ord(character)))

    def _literal(self, code: int) -> CharSet:
        return CharSet(((code, code),), ignore_case=self.ignore_case)

    def _written(self, node: CharSet) -> tuple[Node, str]:
        return node, set_source(node, ascii_only=True)

    def _group(self, depth: int) -> tuple[Node, str]:
        pattern = self.pattern
        kind = re.compile(r"\?(?::|=|!|<=|<!|<?P?<[A-Za-z]\w*>)|").match(pattern, self.position)
        assert kind is not None
        opening = kind[0]
        self.position = kind.end()
        if not opening and pattern.startswith(("?", "*"), self.position):
            raise _Unknown
        look = opening in ("?=", "?!", "?<=", "?<!")
        body, source = self.alternation(depth + 1)
        if not pattern.startswith(")", self.position):
            raise _Unknown
        self.position += 1
        if look:
            if self.ignore_case or body.high is None or body.high > 100:
                raise _Unknown
            if opening[1] == "<" and not body.fixed:
                raise _Unknown
            source = f"({opening}{source})"
            return LookAround(source), source
        self.groups += 1
        return Group(self.groups, body), f"(?:{source})"

    def _escape(self) -> tuple[Node, str]:
        pattern = self.pattern
        character = pattern[self.position : self.position + 1]
        self.position += 1
        if character in ("b", "B"):
            inside = "(?:(?<=\\w)(?=\\w)|(?<!\\w)(?!\\w))"
            return Assertion(character), "\\b" if character == "b" else inside
        if character in _CONTROLS:
            return self._written(self._literal(_CONTROLS[character]))
        if character and character in "dwsDWS":
            ranges = _SHORTHANDS[character.lower()]
            return self._written(CharSet(ranges, negated=character.isupper(), newline=False))
        if not character or character.isalnum():
            raise _Unknown
        return self._written(self._literal(ord(character)))

    def _set(self) -> CharSet:
        pattern = self.pattern
        negated = pattern.startswith("^", self.position)
        self.position += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not pattern.startswith("]", self.position):
            if self.position >= len(pattern):
                raise _Unknown
            first = False
            found = _CLASS.match(pattern, self.position)
            if found is not None:
                if found[1] not in CLASS_NAMES:
                    raise _Unknown
                mask = class_mask(found[1])  # in ASCII only, as in PCRE without UCP
                ranges += [(code, code) for code in range(128) if mask >> code & 1]
                self.position = found.end()
                continue
            if pattern.startswith(("[:", "[.", "[="), self.position):
                raise _Unknown
            several = self._member()
            if several is not None:
                ranges += several
                continue
            low = self._code()
            high = low
            ranged = pattern.startswith("-", self.position)
            if ranged and not pattern.startswith("-]", self.position):
                self.position += 1
                if self._member() is not None:
                    raise _Unknown
                high = self._code()
            if high < low:
                raise _Unknown
            ranges.append((low, high))
        self.position += 1
        return CharSet(ranges, negated=negated, newline=False, ignore_case=self.ignore_case)

    def _member(self) -> tuple[tuple[int, int], ...] | None:
        """Read a shorthand in a set and return its ranges, or None if there is none."""
        if self.pattern[self.position : self.position + 1] == "\\":
            found = _SHORTHANDS.get(self.pattern[self.position + 1 : self.position + 2])
            if found is not None:
                self.position += 2
            return found
        return None

    def _code(self) -> int:
        """Read a single character in a set."""
        character = self.pattern[self.position : self.position + 1]
        self.position += 1
        if character != "\\":
            if not character:
                raise _Unknown
            return ord(character)
        character = self.pattern[self.position : self.position + 1]
        self.position += 1
        if character in _CONTROLS:
            return _CONTROLS[character]
        if not character or character.isalnum():
            raise _Unknown
        return ord(character)
