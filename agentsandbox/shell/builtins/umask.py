"""`umask`"""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.builtins import define, is_number, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

_CLAUSE = lazily(r"([ugoa]*)([-+=])([rwx]*)")
_BITS = {"r": 4, "w": 2, "x": 1}
_SHIFTS = {"u": 6, "g": 3, "o": 0}


@define("umask", "umask [-p] [-S] [mode]")
def umask(shell: Shell, words: list[str]) -> int:
    """Show or set the mode mask of new files."""
    options, position = parse_letters(words, "pS")
    if position < len(words):
        text = words[position]
        shell.process.umask = (
            _octal(text) if is_number(text[:1]) else _symbolic(text, shell.process.umask)
        )
        if "S" in options:
            shell.write(_letters(shell.process.umask) + "\n")
        return 0
    prefix = "umask " if "p" in options else ""
    if "S" in options:
        shell.write(f"{prefix}{'-S ' if 'p' in options else ''}{_letters(shell.process.umask)}\n")
    else:
        shell.write(f"{prefix}{shell.process.umask:04o}\n")
    return 0


def _octal(text: str) -> int:
    if not re.fullmatch(r"[0-7]+", text) or len(text) > 6 or int(text, 8) > 0o7777:
        raise CommandError(f"{text}: octal number out of range", 1)
    return int(text, 8) & 0o777


def _symbolic(text: str, mask: int) -> int:
    allowed = ~mask & 0o777
    for clause in text.split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            rest = clause.lstrip("ugoa")
            kind = "operator" if rest[:1] not in ("-", "+", "=") else "character"
            bad = rest[:1] if kind == "operator" else rest[1:].lstrip("rwx")[:1]
            raise CommandError(f"`{bad}': invalid symbolic mode {kind}", 1)
        who, operator, permissions = match.groups()
        who = "ugo" if not who or "a" in who else who
        bits = 0
        for letter in permissions:
            bits |= _BITS[letter]
        for each in who:
            shift = _SHIFTS[each]
            if operator == "=":
                allowed = (allowed & ~(7 << shift)) | (bits << shift)
            elif operator == "+":
                allowed |= bits << shift
            else:
                allowed &= ~(bits << shift)
    return ~allowed & 0o777


def _letters(mask: int) -> str:
    allowed = ~mask & 0o777
    shown = []
    for who, shift in _SHIFTS.items():
        letters = [
            letter for letter, bit in (("r", 4), ("w", 2), ("x", 1)) if (allowed >> shift) & bit
        ]
        shown.append(f"{who}={''.join(letters)}")
    return ",".join(shown)
