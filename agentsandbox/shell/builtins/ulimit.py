"""`ulimit`: the limits of a process, which are kept but end no script (D-ulimit)."""

from __future__ import annotations

import errno
import os

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import UsageFailure, define, is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

_RESOURCES: dict[str, tuple[str, str, int | None, int | None]] = {
    "c": ("core file size", "blocks, -c", 0, None),
    "d": ("data seg size", "kbytes, -d", None, None),
    "f": ("file size", "blocks, -f", None, None),
    "m": ("max memory size", "kbytes, -m", None, None),
    "n": ("open files", "-n", 1024, 1048576),
    "s": ("stack size", "kbytes, -s", 8192, None),
    "t": ("cpu time", "seconds, -t", None, None),
    "u": ("max user processes", "-u", 256, 256),
    "v": ("virtual memory", "kbytes, -v", None, None),
}
"""Title, unit, soft and hard limit of each; None is unlimited."""
_COUNTED = frozenset("dfntuv")
"""Those that a script could reach."""


@define("ulimit", "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]")
def ulimit(shell: Shell, words: list[str]) -> int:
    """Show or set the limits of the shell."""
    flags, asked, operands = _parse(words)
    if "a" in flags:
        for letter in _RESOURCES:
            shell.write(f"{_title(letter)}{_shown(_limit(shell, letter, 'H' in flags))}\n")
        return 0
    asked = asked or [("f", None)]
    if len(asked) == 1 and asked[0][1] is None and operands:
        asked = [(asked[0][0], operands[0])]
    for letter, text in asked:
        if text is None:
            title = _title(letter) if len(asked) > 1 else ""
            shell.write(
                f"{title}{_shown(_limit(shell, letter, 'H' in flags and 'S' not in flags))}\n"
            )
        else:
            _change(
                shell,
                letter,
                text,
                "S" in flags or "H" not in flags,
                "H" in flags or "S" not in flags,
            )
    return 0


def _parse(words: list[str]) -> tuple[str, list[tuple[str, str | None]], list[str]]:
    """Return the letters of -S and -H, the resources with their values, and the other words."""
    flags = ""
    asked: list[tuple[str, str | None]] = []
    position = 1
    while position < len(words) and words[position].startswith("-") and len(words[position]) > 1:
        word = words[position]
        position += 1
        if word == "--":
            break
        at = 1
        while at < len(word):
            letter = word[at]
            at += 1
            if letter in "SHa":
                flags += letter
            elif letter not in _RESOURCES:
                raise UsageFailure(f"-{letter}: invalid option")
            elif at < len(word):
                asked.append((letter, word[at:]))
                break
            elif position < len(words) and not words[position].startswith("-"):
                asked.append((letter, words[position]))
                position += 1
            else:
                asked.append((letter, None))
    return flags, asked, words[position:]


def _limit(shell: Shell, letter: str, hard: bool) -> int | None:
    """Return the limit in force, None for unlimited."""
    known = shell.process.ceilings.get(letter)
    if known is not None:
        return known[hard]
    limits = shell.budget.limits
    if letter == "f":
        return limits.file_bytes // 1024
    if letter == "t":
        return int(limits.timeout)
    _, _, soft, highest = _RESOURCES[letter]
    return highest if hard else soft


ENOUGH_FILES = 64
"""Open files that a script does not get to use up: bash's own numbers end there."""


def _change(shell: Shell, letter: str, text: str, soft: bool, hard: bool) -> None:
    """Set the soft limit, the hard one, or both."""
    now, highest = _limit(shell, letter, False), _limit(shell, letter, True)
    value = _value(text, now, highest)
    if hard and _exceeds(value, highest):
        raise _refused(letter, errno.EPERM)
    if _exceeds(value if soft else now, value if hard else highest):
        raise _refused(letter, errno.EINVAL)
    if letter == "n" and (value is None or value >= ENOUGH_FILES):
        pass  # no script of a sandbox could tell the difference
    elif letter in _COUNTED and value != now:
        shell.complain(
            f"ulimit: {_RESOURCES[letter][0]}: only the sandbox's own limits count (D-ulimit)"
        )
    shell.process.ceilings = {
        **shell.process.ceilings,
        letter: (value if soft else now, value if hard else highest),
    }


def _value(text: str, soft: int | None, hard: int | None) -> int | None:
    if text in ("unlimited", "soft", "hard"):
        return None if text == "unlimited" else soft if text == "soft" else hard
    if text and not is_number(text):
        kind = "hex " if text[:2] in ("0x", "0X") else "octal " if text[0] == "0" else ""
        raise CommandError(f"{text}: invalid {kind}number", 1)
    return int(text[:40] or "0")


def _exceeds(value: int | None, ceiling: int | None) -> bool:
    return ceiling is not None and (value is None or value > ceiling)


def _refused(letter: str, number: int) -> CommandError:
    return CommandError(f"{_RESOURCES[letter][0]}: cannot modify limit: {os.strerror(number)}", 1)


def _title(letter: str) -> str:
    title, unit, _, _ = _RESOURCES[letter]
    return f"{title:<20}{f'({unit})':>20} "


def _shown(value: int | None) -> str:
    return "unlimited" if value is None else str(value)
