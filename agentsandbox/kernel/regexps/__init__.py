"""Regular expressions of POSIX and Perl: compiled once, safe against explosions.

A script may search any text with any pattern, and a backtracking matcher takes exponential time for
some. So a POSIX pattern is parsed (`parser`, `tree`), and its tree tells what Python's `re` would
cost (`analysis`):

    parse ──▶ tree ──▶ analysis ──▶ safe: translate ──▶ `re`       linear, or short enough texts
                                ──▶ unsafe: automaton               linear, but ten times as slow
                                ──▶ back-references: `regex` package under a time limit

POSIX asks for the longest of the leftmost matches, `re` gives the first that its order of choices
finds. Where the tree tells that both are the same, `re` decides; otherwise `re` finds the start and
the automaton the end (`matcher`). Perl patterns run on the `regex` package under a time limit; the
plain ones are read as trees as well (`perl_tree`), so that `re` selects the lines.

`lines` searches blocks of lines at once: most lines of a file do not match, and to look at each
costs more than to jump from match to match.
"""

from __future__ import annotations

from agentsandbox.kernel.regexps.limits import RegexError
from agentsandbox.kernel.regexps.matcher import PosixRegex, Regex, compile_posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.regexps.perl import compile_perl
    from agentsandbox.kernel.regexps.spans import Match as Match
else:

    def __getattr__(name: str) -> object:
        """Load the compiler of Perl's expressions when somebody asks for it."""
        if name != "compile_perl":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from agentsandbox.kernel.regexps.perl import compile_perl

        return compile_perl


__all__ = [
    "PosixRegex",
    "Regex",
    "RegexError",
    "compile_perl",
    "compile_posix",
]
