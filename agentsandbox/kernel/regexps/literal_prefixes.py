"""Patterns rewritten to begin with plain text, for the selection of lines.

`re` finds the plain text at the beginning of a pattern with a fast search; other patterns it tries
at every place. To select lines, only the existence of a match counts, not its place, so a pattern
may be changed (`prefixed_sources`):

* optional parts at either end are dropped: `a*foo[0-9]+` selects the lines of `foo[0-9]`;
* an alternation at the beginning becomes several patterns: `(foo|bar)x` those of `foox` and `barx`;
* parts of a fixed length before plain text become a look-behind: `[0-9]foo` is `foo(?<=[0-9]foo)`.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.regexps.translate import leading_text, top_parts, translate
from agentsandbox.kernel.regexps.tree import (
    Alternation,
    Assertion,
    CharSet,
    Concatenation,
    Group,
    Node,
    Repeat,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_BLANKS = " \t\n\v\f\r\x1c\x1d\x1e\x1f"
"""The ASCII characters at which `str.split` splits."""
_MOST = 6
"""The largest number of patterns that are searched one after the other."""


def prefixed_sources(root: Node, *, lowered: bool) -> list[str]:
    """Return patterns for ASCII lines, each of which selects lines; none if nothing is gained.

    The tree must not have back-references. With `lowered` the patterns are for text in lower case.
    """
    branches = _branches(_bare(top_parts(_lower(root) if lowered else root)))
    if len(branches) > _MOST:
        return []
    sources = [_source(branch) for branch in branches]
    return [] if None in sources else [source for source in sources if source]


def _lower(node: Node) -> Node:
    """Return the pattern for text in lower case."""
    if isinstance(node, CharSet):
        codes = [code for code in range(128) if node.first >> code & 1 and not 65 <= code <= 90]
        return CharSet([(code, code) for code in codes], newline=node.newline)
    if isinstance(node, Group):
        return Group(node.number, _lower(node.body))
    if isinstance(node, Concatenation):
        return Concatenation([_lower(part) for part in node.parts])
    if isinstance(node, Alternation):
        return Alternation([_lower(branch) for branch in node.branches])
    return Repeat(_lower(node.body), node.least, node.most) if isinstance(node, Repeat) else node


def _branches(parts: list[Node]) -> list[list[Node]]:
    """Return the pattern as sequences of parts, one for each branch of a leading alternation."""
    head = 0
    while head < len(parts) and isinstance(parts[head], Assertion):
        head += 1
    first = parts[head] if len(parts) > head else None
    if not isinstance(first, Alternation):
        return [parts]
    found: list[list[Node]] = []
    for branch in first.branches:
        if len(found) > _MOST:
            break
        whole = [*parts[:head], *top_parts(branch), *parts[head + 1 :]]
        found += _branches(whole if head else _bare(whole))
    return found


def _bare(parts: list[Node]) -> list[Node]:
    """Return the parts without those that are optional at either end."""
    while parts and isinstance(parts[0], Repeat) and not _is_counted(parts[0]):
        parts = [*_once(parts[0]), *parts[1:]]
    while parts and isinstance(parts[-1], Repeat) and not _is_counted(parts[-1]):
        parts = [*parts[:-1], *_once(parts[-1])]
    return parts


def _is_counted(part: Repeat) -> bool:
    return part.least == part.most and part.least > 1


def _once(part: Repeat) -> list[Node]:
    """Return the part of a repeat that must be there."""
    if part.least < 2:
        return top_parts(part.body) if part.least else []
    return [Repeat(part.body, part.least, part.least)]


def _source(parts: list[Node]) -> str | None:
    """Return a pattern that begins with the longest plain text at a known place, or None."""
    best, place = "", 0
    at = 0
    while at < len(parts) and all(part.fixed for part in parts[:at]):
        text = leading_text(parts[at:])
        if len(text) > len(best):
            best, place = text, at
        at += max(1, len(text))
    if not best:
        return None
    before = Concatenation(parts[: place + len(best)])
    look = f"(?<={_write(before)})" if place else ""
    return re.escape(best) + look + _write(Concatenation(parts[place + len(best) :]))


def _write(node: Node) -> str:
    return translate(node, ascii_only=True, multiline=True, newline_safe=True)


def edge_run(root: Node) -> tuple[CharSet, str] | None:
    """Return the set and the anchor of a pattern such as `^ *` or `[0-9]*$`, None for others."""
    parts = top_parts(root)
    if len(parts) != 2:
        return None
    anchor, run = parts if isinstance(parts[0], Assertion) else parts[::-1]
    if not isinstance(anchor, Assertion) or anchor.kind != ("^" if anchor is parts[0] else "$"):
        return None
    if not isinstance(run, Repeat) or run.least > 1 or run.most is not None:
        return None
    body = run.body
    while isinstance(body, Group):
        body = body.body
    return (body, anchor.kind) if isinstance(body, CharSet) else None


def match_collector(root: Node, *, ignore_case: bool) -> Callable[[str], list[str]] | None:
    """Return a function that finds all matches in ASCII lines faster than `re`; None for most.

    There are two: for runs of one set of characters, and for such runs before plain text without
    characters of the set.
    """
    parts = top_parts(root)
    run = parts[0] if parts else None
    if not isinstance(run, Repeat) or run.most is not None or run.least > 1:
        return None
    body = run.body
    while isinstance(body, Group):
        body = body.body
    if not isinstance(body, CharSet):
        return None
    if len(parts) == 1:
        if not run.least or any(body.first >> ord(blank) & 1 for blank in _BLANKS):
            return None
        table = {code: code if body.first >> code & 1 else " " for code in range(128)}
        return lambda text: text.translate(table).split()
    text = leading_text(parts[1:])
    if ignore_case or len(text) != len(parts) - 1:
        return None
    if any(body.first >> min(ord(character), 128) & 1 for character in text):
        return None
    repeat = "+" if run.least else "*"
    find = re.compile(f"{re.escape(text[::-1])}{_write(body)}{repeat}", re.ASCII).findall

    def collect(text: str) -> list[str]:
        found = find(text[::-1])
        return "\n".join(found)[::-1].split("\n") if found else found

    return collect
