"""What a backtracking matcher may cost for a pattern, and whether its first match is the longest.

A backtracking matcher makes choices: a loop continues or ends, one of several branches is tried. A
choice is *exclusive* if the next character decides it: `[a-z]*[0-9]` has no second way to match a
text. The sets of first characters in the tree tell this: a loop is exclusive if its body and what
follows it have no first character in common.

A loop that is not exclusive may have to give back each character that it took, so k such loops one
after the other cost n^k for a text of n characters (`powers`). Inside another loop, such a choice
can be made anew in each round, and the cost is exponential. A search starts at each place, which is
one more factor of n, unless the pattern is anchored.

`safe_length` turns this round: it is the longest text for which the cost stays below a fixed number
of steps (`_STEPS`). n^k/k! steps are an upper bound, since the loops take disjoint parts of the
text.

The first match is the longest if no choice could give a longer one: all choices are exclusive, all
matches from one place end at one place (`_unique_end`), or the pattern is a chain of loops over
single characters (`_chain`).
"""

from __future__ import annotations

import math

from agentsandbox.kernel.regexps.limits import MAX_PLACES, UNBOUNDED
from agentsandbox.kernel.regexps.translate import top_parts
from agentsandbox.kernel.regexps.tree import (
    Alternation,
    Assertion,
    BackReference,
    CharSet,
    Concatenation,
    Group,
    Node,
    Repeat,
)

_STEPS = 2e7
"""The steps that a single search may take: about a tenth of a second."""
_SMALL = 16
"""A repeat with at most this number of choices counts as a constant factor."""
_FACTOR = 4096
MAX_REACH = 64
"""The characters that each failing start may read in counted repeats without being counted."""


# TM-TIME-3
class Analysis:
    """The result for one pattern.

    `safe_length`  the longest text that `re` may search; 0 if the cost is exponential.
    `longest`      whether `re` finds the longest match at the leftmost place, as POSIX demands.
    """

    __slots__ = ("longest", "safe_length")

    def __init__(self, safe_length: int, longest: bool) -> None:
        self.safe_length = safe_length
        self.longest = longest


def analyze(root: Node, multiline: bool) -> Analysis:
    """Analyze a tree; `multiline`: "$" matches at several places of a text."""
    walk = _Walk(root.first)
    walk.visit(root, 0, in_loop=False, tail=True)
    return Analysis(
        _safe_length(walk, root), _unique_end(root, multiline) or not walk.longer or _chain(root)
    )


def is_once_per_line(root: Node) -> bool:
    """Whether a line holds at most one match: the pattern begins or ends with an anchor."""
    parts = top_parts(root)
    edges = parts[:1] + parts[-1:]
    return any(isinstance(part, Assertion) and part.kind in "^$" for part in edges)


def _safe_length(walk: _Walk, root: Node) -> int:
    if walk.exponential or walk.factor > _FACTOR:
        return 0
    exponent = walk.powers + (1 if walk.rescans else 0)
    parts = top_parts(root)
    anchored = bool(parts) and isinstance(parts[0], Assertion) and parts[0].kind in "^`"
    if not exponent and not anchored and walk.reach > MAX_REACH and root.size <= MAX_PLACES:
        return int(_STEPS / (walk.factor * walk.reach))
    if not exponent:
        return UNBOUNDED
    if not anchored:
        exponent += 1
    if exponent == 1:
        return UNBOUNDED
    literals = _literal_lengths(parts)
    steps = math.log(_STEPS / walk.factor * literals)
    return int(math.exp((steps + math.lgamma(exponent + 1)) / exponent))


def _literal_lengths(parts: list[Node]) -> int:
    """Return the factor by which plain text between loops makes the places to try rarer."""
    product = 1
    run = 0
    for part in parts:
        if isinstance(part, CharSet) and part.literal is not None:
            run += 1
        else:
            product *= max(1, run)
            run = 0
    return min(product * max(1, run), 1000)


def _unique_end(root: Node, multiline: bool) -> bool:
    """Whether all matches that begin at one place end at one place."""
    if root.fixed:
        return True
    parts = top_parts(root)
    last = parts[-1] if parts else None
    if isinstance(last, Assertion):
        return last.kind == "'" or (last.kind == "$" and not multiline)
    return (
        isinstance(last, Repeat)
        and last.most is None
        and isinstance(last.body, CharSet)
        and _is_any(last.body)
    )


def _is_any(node: CharSet) -> bool:
    return node.negated and not node.ranges and not node.classes


def _chain(root: Node) -> bool:
    """Whether the top level has only loops over single characters and parts of a fixed length.

    Then the greedy match is the longest: a later part that begins further right ends no earlier.
    """
    return all(
        part.fixed or (isinstance(part, Repeat) and _is_single(part.body))
        for part in top_parts(root)
    )


def _never_fails(node: Node) -> bool:
    """Whether it matches at every place, at least the empty string."""
    if isinstance(node, Repeat):
        return node.least == 0
    if isinstance(node, Group):
        return _never_fails(node.body)
    return isinstance(node, Concatenation) and all(_never_fails(part) for part in node.parts)


def _is_single(node: Node) -> bool:
    while isinstance(node, Group):
        node = node.body
    return isinstance(node, CharSet)


class _Walk:
    """A walk over the tree that knows what may follow each node."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.powers = 0
        """The number of loops that are not exclusive."""
        self.rescans = False
        """Whether each of many failing starts may read far ahead."""
        self.reach = 0
        """The characters that a failing start may read in counted repeats: 1,000 in `a{1000}b`."""
        self.factor = 1.0
        self.exponential = False
        self.longer = False
        """Whether a later choice might give a longer match than the first that succeeds."""

    def visit(self, node: Node, follow: int, *, in_loop: bool, tail: bool) -> None:
        """Visit a node before the characters `follow`; behind a `tail` nothing can fail."""
        if isinstance(node, Group):
            self.visit(node.body, follow, in_loop=in_loop, tail=tail)
        elif isinstance(node, Concatenation):
            self._sequence(node, follow, in_loop, tail)
        elif isinstance(node, Alternation):
            self._alternation(node, follow, in_loop)
            for branch in node.branches:
                self.visit(branch, follow, in_loop=in_loop, tail=tail)
        elif isinstance(node, Repeat):
            self._repeat(node, follow, in_loop, tail)
        elif isinstance(node, BackReference) and not node.fixed:
            self.longer = True
            self.rescans = True
            if in_loop:
                self.exponential = True

    def _sequence(self, node: Concatenation, follow: int, in_loop: bool, tail: bool) -> None:
        for part in reversed(node.parts):
            self.visit(part, follow, in_loop=in_loop, tail=tail)
            follow = part.first | (follow if part.low == 0 else 0)
            tail = tail and _never_fails(part)

    def _alternation(self, node: Alternation, follow: int, in_loop: bool) -> None:
        branches = node.branches
        if len(branches) > 200:
            clash = True
        else:
            clash = any(
                _clash(one, other, follow)
                for at, one in enumerate(branches)
                for other in branches[:at]
            )
        if clash:
            # branches of fixed lengths are sorted: the first that matches is the longest if
            # nothing follows
            if follow or in_loop or not all(branch.fixed for branch in branches):
                self.longer = True
            self.factor *= 2
            if in_loop:
                self.exponential = True

    def _repeat(self, node: Repeat, follow: int, in_loop: bool, tail: bool) -> None:
        body = node.body
        if node.most == 0:
            return
        choices = None if node.most is None else node.most - node.least
        exclusive = not body.first & follow
        single = _is_single(body)
        if node.most is not None and node.most > _SMALL and (body.first & self.first or not single):
            self.reach += node.most * max(1, body.high or 1)
        if not single and (node.most is None or node.most > 1):
            if body.low == 0:
                self.exponential = True
            self.visit(body, body.first | follow, in_loop=True, tail=False)
        elif not single:
            self.visit(body, follow, in_loop=in_loop, tail=tail)
        if choices == 0:
            return
        if not exclusive:
            self.longer = True
            if in_loop:
                self.exponential = True
            elif choices is not None and choices <= _SMALL:
                self.factor *= choices + 1
            elif not tail:
                self.powers += 1
        elif (
            (choices is None or choices > _SMALL)
            and not tail
            and (body.first & self.first or not single)
        ):
            self.rescans = True


def _clash(one: Node, other: Node, follow: int) -> bool:
    """Whether the next characters may not tell two branches apart."""
    if not one.low or not other.low:
        low, full = (one, other) if not one.low else (other, one)
        return low.high != 0 or bool(full.first & follow) or not follow
    if not one.first & other.first:
        return False
    ones, others = _masks(one), _masks(other)
    if ones is None or others is None:
        return True
    if any(not a & b for a, b in zip(ones, others, strict=False)):
        return False
    if len(ones) == len(others):
        return True
    longer = ones if len(ones) > len(others) else others
    return not follow or bool(longer[min(len(ones), len(others))] & follow)


def _masks(node: Node) -> list[int] | None:
    """Return the masks of the characters, if the node is a sequence of single characters."""
    parts = top_parts(node)
    masks = [part.first for part in parts if isinstance(part, CharSet)]
    return masks if len(masks) == len(parts) else None
