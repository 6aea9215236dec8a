"""Regular expressions of POSIX and Perl: compiled once, safe against explosions, with GNU's
messages.
"""

from __future__ import annotations

from agentsandbox.kernel.regexps.matcher import (
    PerlRegex,
    PosixRegex,
    Regex,
    compile_lines,
    compile_posix,
)
from agentsandbox.kernel.regexps.parser import RegexError
from agentsandbox.kernel.regexps.perl import compile_perl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.regexps.matcher import Match as Match

__all__ = [
    "PerlRegex",
    "PosixRegex",
    "Regex",
    "RegexError",
    "compile_lines",
    "compile_perl",
    "compile_posix",
]
