"""Texts of one shape: a text that differs from an earlier one only in words that are data.

An agent seldom sends the same text twice, but it sends many texts that differ in a word: the name
of a file, a number, a text to search for. Reading and compiling such a text again gives the same
tree with another word in it. So what was compiled is kept by the *shape* of its text and takes the
words that differ from `Shell.slots`:

    sed -n 5p a.txt | wc -l      words   sed, 5p, a.txt, wc; the rest: " -n ", " ", " | ", " -l"
    sed -n 7p b.txt | wc -l      slots   7p, b.txt

1. `_WORDS` cuts a text into words that may be data, at the odd places, and the rest. The rest is
the shape. The cut needs no grammar: what it takes for a word may be text inside of quotes, a
keyword, or the name of a command.
2. The first text of a shape is compiled as any other. For the second one, the words that differ
are replaced by *marks*, and the result is read by the parser. A mark that is now a whole argument
of a simple command, a word of `for`, the value of a variable or the file of a redirection becomes a
`Slot`. All others are not data, and are put back (`slots`).
3. What was compiled holds for each text of this shape that has the same words in all other places.

Why that is right: in front of a slot, two texts are the same, so the parser is in the same state
there, at the beginning of a word in a place where no word is reserved. Both texts have there one
word of plain characters or in one pair of quotes, without a newline, and behind it the same
character, which ends it. So both have the same tree, but for the text of this word. Words that
begin with a dash are never cut out, since options decide how commands are compiled. A slot is no
constant for the compiler, so nothing is decided by the text that happened to stand there.

A command that is shown (BASH_COMMAND, a trace, a message) is printed from its tree, which has marks
at the slots: `Shell.with_slots` puts the words there.
"""

from __future__ import annotations

from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.shell.interpreter.slots import Plan

_WORDS = lazily(
    r"""(?<![^ \t\n=<>])([A-Za-z0-9_./:,@%+][A-Za-z0-9_./:,@%+^-]*+"""
    r"""|'[^'\n-][^'\n]*+'|"[^"\\`$\n-][^"\\`$\n]*+")(?![^ \t\n;|&)])"""
)
"""A word that may be data: plain characters, or a text in quotes that holds no expansion."""

_PLANS = 4
"""Variants of a shape, after which its texts are compiled one by one."""


class Shape:
    """A shape with its plans, and the words of the text that was seen last.

    rest     what is between the words
    reading  what the parser depends on: extglob, `pairs_quotes` and the number of the first line
    """

    __slots__ = ("last", "plans", "reading", "rest")

    def __init__(self, rest: tuple[str, ...], reading: tuple[bool, bool, int]) -> None:
        self.rest = rest
        self.reading = reading
        self.last: Sequence[str] | None = None
        self.plans: tuple[Plan, ...] = ()

    def learn(self, words: Sequence[str]) -> Plan | None:
        """Return a new plan for these words; None if the text is not to have one."""
        last, self.last = self.last, words
        if last is None or len(self.plans) >= _PLANS:
            return None
        differing = {place for place in range(len(words)) if words[place] != last[place]}
        if not differing:
            return None
        from agentsandbox.shell.interpreter.slots import make_plan

        wanted = differing.union(*[plan.slots for plan in self.plans])
        plan = make_plan(self.rest, self.reading, words, wanted)
        if plan is not None:
            self.plans = (plan, *self.plans)
        return plan


@lru_cache(maxsize=256)
def _shape(rest: tuple[str, ...], reading: tuple[bool, bool], first_line: int) -> Shape:
    """Return the shape of texts with this rest."""
    return Shape(rest, (*reading, first_line))


def find_plan(
    text: str, reading: tuple[bool, bool], first_line: int
) -> tuple[Plan, list[str]] | None:
    """Return a plan that holds for this text, with all words of it; None without one.

    None also for the text of this shape that was seen last: it is worth a program of its own.
    """
    words = _WORDS.split(text)
    if len(words) == 1 or "BASH_COMMAND" in text:
        return None
    rest = tuple(words[::2])
    words = words[1::2]
    shape = _shape(rest, reading, first_line)
    for plan in shape.plans:
        fixed = plan.fixed
        if fixed is None or fixed(words) == plan.expected:
            if words == shape.last:
                return None
            shape.last = words
            return plan, words
    learned = shape.learn(words)
    return None if learned is None else (learned, words)
