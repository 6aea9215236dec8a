"""Patterns of the `regex` package, whose searches take a timeout.

They are for what may backtrack badly, and for Perl's syntax.

The package writes the body of `(…)+` twice into its program, and that of `(…){2}` three times: a
body inside a body inside a body makes a program that doubles with each level. It does so in C,
without a look at the clock, before anything is matched: `((((a+)+)+)+)+` with some more levels
takes all memory. So a pattern is weighed before it is compiled: each atom counts one, a group what
it holds, and a repeat multiplies the last of them.

The weight is taken of the text of the pattern, as several dialects are translated to it. What the
package takes for text, in a set or a comment, may look like a group here, or hide one; so the text
is read with and without sets and comments, and the heaviest reading counts.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_WEIGHT = 20_000
"""Atoms of a program: about 60 ms, and 30 MiB, in the package."""

_TOKEN = lazily(
    r"(?P<escape>\\.)|(?P<comment>\(\?\#[^)]*+\)?|\#[^\n]*+)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*+\])"
    r"|(?P<open>\((?:\?[a-zA-Z-]*:|\?>|\?\||\?P?<\w+>|\?<?[=!])?)|(?P<close>\))"
    r"|\{(?P<least>\d+)(?P<to>,(?P<most>\d*))?\}|(?P<repeat>[*+?])|(?P<atom>.)",
    re.DOTALL,
)


class RegexTooLarge(Exception):
    """A pattern whose program would take too much time and memory to make."""


# TM-TIME-7
def compile_timed(source: str, flags: int) -> Any:
    """Compile a pattern of the package; raise `RegexTooLarge`, or what the package raises."""
    import regex

    if len(source) > MAX_WEIGHT or weigh(source) > MAX_WEIGHT:
        raise RegexTooLarge
    return regex.compile(source, flags, cache_pattern=False)


def weigh(source: str) -> int:
    """Return the number of atoms of the program, or more; at most a little above `MAX_WEIGHT`."""
    if "+" not in source and "{" not in source:
        return len(source)
    return max(
        _weigh(source, sets=sets, comments=comments)
        for sets in ((True, False) if "[" in source else (True,))
        for comments in ((True, False) if "#" in source else (True,))
    )


def _weigh(source: str, *, sets: bool, comments: bool) -> int:
    """Weigh the text; without `sets` and `comments`, what is in them is read as any other text."""
    outside: list[int] = []
    total = last = position = 0
    while position < len(source) and total <= MAX_WEIGHT:
        match = _TOKEN.match(source, position)
        assert match is not None
        position = match.end()
        kind = match.lastgroup
        if (kind == "set" and not sets) or (kind == "comment" and not comments):
            position = match.start() + 1
            kind = "open" if match[0][0] == "(" else "atom"
        if kind == "open":
            outside.append(total)
            total = 0
        elif kind == "close":
            last = total + 1
            total = last + (outside.pop() if outside else 0)
        elif kind in ("repeat", "least", "to"):
            total += last * (_copies(match) - 1)
        elif kind != "comment":
            last = 1
            total += 1
    return total + sum(outside)


def _copies(match: re.Match[str]) -> int:
    """Return how often the package writes the atom or group in front of a repeat."""
    if match["repeat"] is not None:
        return 2 if match["repeat"] == "+" else 1
    least, most = int(match["least"][:6]), int((match["most"] or "0")[:6])
    return max(least + 1 + (match["to"] is not None and not match["most"]), most)
