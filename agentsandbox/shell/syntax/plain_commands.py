"""Commands of plain words, which are read without an expression and without the parser.

Most of what an agent sends first is of this kind: `ls -la src`, `cat a.txt`, `git status`. Such a
text splits at its blanks, and each word is what it says: no quotes, no expansions, no operators,
and no word that the grammar reserves. For such a text neither the parser nor `re` is loaded.

All scripts share the words, with what is compiled of them.
"""

from __future__ import annotations

from agentsandbox.kernel.caching import lru_cache
from agentsandbox.shell.syntax.nodes import Literal, SimpleCommand, Word

PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-./:,@%+"
"""Characters of words that need no expression to be told apart: no quotes, no operators."""
RESERVED = frozenset(
    """if then else elif fi do done case esac while until for select in function { } ! [[ time
    coproc""".split()
)
ASSIGNING = frozenset("declare typeset local export readonly".split())
TAKING_LISTS = frozenset(("let", "eval"))
"""Commands whose arguments may have the form of an array's assignment, which stays text."""
NOT_KNOWN = RESERVED | ASSIGNING | TAKING_LISTS
"""First words of commands whose other words do not read the same wherever they stand."""
LONGEST_KNOWN = 128
"""Characters of a word that is kept."""


def plain_command(text: str, line: int) -> SimpleCommand | None:
    """Return the command of a text of plain words; None if the grammar has to look at it.

    line  the number of the text's line
    """
    if text.strip(PLAIN):
        return None
    sources = text.split()
    if not sources or sources[0] in NOT_KNOWN or max(map(len, sources)) > LONGEST_KNOWN:
        return None
    return SimpleCommand((), tuple(map(bare_word, sources)), (), line, False, "")


@lru_cache(maxsize=4096)
def bare_word(source: str) -> Word:
    """Return the word of a text without quotes and expansions."""
    word = Word((Literal(source),), source)
    if source.isalnum() or not source.strip(PLAIN):
        word.constant = source
    return word
