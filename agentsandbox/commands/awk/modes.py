"""What `--posix`, `--traditional` and `--non-decimal-data` change.

A mode takes words, functions and special variables out of the language, changes what a few
characters of regular expressions and replacements mean, and which texts are numbers. It is part of
what a program is compiled for; the default mode costs nothing when a program runs, because another
one brings its own conversions (`conversions_of`).
"""

from __future__ import annotations

from agentsandbox.commands.awk.values import from_input, numeric_input, text_number, to_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

EXTENSIONS = frozenset(
    "gensub strftime systime mktime asort asorti and or xor lshift rshift compl strtonum typeof"
    " isarray patsplit mkbool bindtextdomain dcgettext dcngettext".split()
)
"""Functions that gawk adds: parameters may have their names."""
EXTENSION_WORDS = frozenset("BEGINFILE ENDFILE switch case default".split())
EXTENSION_VARIABLES = frozenset(
    "ARGIND BINMODE ERRNO FIELDWIDTHS FPAT FUNCTAB IGNORECASE LINT PROCINFO RT SYMTAB".split()
)
"""Variables that are special in gawk only."""
_OPERATORS = "()|*+?.^$\\[]/-"
_REGEX_ESCAPES = "abfnrtvx01234567\n"
_GNU_OPERATORS = "<>`'BywWsS"


class Mode:
    """One of the four modes below.

    `traditional`     no extensions of gawk; `posix` is that, too
    `regex_escapes`   the characters that may follow a backslash in a regular expression
    """

    __slots__ = ("non_decimal", "posix", "regex_escapes", "traditional")

    def __init__(self, *, traditional: bool, posix: bool, non_decimal: bool) -> None:
        self.traditional = traditional
        self.posix = posix
        self.non_decimal = non_decimal
        known = _OPERATORS if traditional else _OPERATORS + "{}" + _GNU_OPERATORS
        self.regex_escapes = frozenset(known + _REGEX_ESCAPES + ("{}" if posix else ""))

    @property
    def reads_numbers(self) -> bool:
        """Whether more texts are numbers than by default."""
        return self.posix or self.non_decimal


DEFAULT = Mode(traditional=False, posix=False, non_decimal=False)
TRADITIONAL = Mode(traditional=True, posix=False, non_decimal=False)
POSIX = Mode(traditional=True, posix=True, non_decimal=False)
NON_DECIMAL = Mode(traditional=False, posix=False, non_decimal=True)


def conversions_of(mode: Mode) -> dict[str, Callable[..., Any]]:
    """Return the conversions from text to numbers, by the names that compiled programs use."""
    if not mode.reads_numbers:
        return {
            "from_input": from_input,
            "numeric_input": numeric_input,
            "field_number": text_number,
            "num": to_number,
        }
    from agentsandbox.commands.awk.number_modes import conversions

    return conversions(posix=mode.posix)
