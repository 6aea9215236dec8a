"""`ulimit`: shows the sandbox's ceilings where they correspond; they cannot be raised, and lowering has no effect here."""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.interpreter.builtins import UsageFailure, define, is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell

_RESOURCES = {
    "R": ("real-time non-blocking time", "microseconds, -R", None),
    "c": ("core file size", "blocks, -c", 0),
    "d": ("data seg size", "kbytes, -d", None),
    "e": ("scheduling priority", "-e", 0),
    "f": ("file size", "blocks, -f", None),
    "i": ("pending signals", "-i", 256),
    "l": ("max locked memory", "kbytes, -l", 64),
    "m": ("max memory size", "kbytes, -m", None),
    "n": ("open files", "-n", 1024),
    "p": ("pipe size", "512 bytes, -p", 8),
    "q": ("POSIX message queues", "bytes, -q", 819200),
    "r": ("real-time priority", "-r", 0),
    "s": ("stack size", "kbytes, -s", 8192),
    "t": ("cpu time", "seconds, -t", None),
    "u": ("max user processes", "-u", 256),
    "v": ("virtual memory", "kbytes, -v", None),
    "x": ("file locks", "-x", None),
}


@define("ulimit", "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]")
def ulimit(shell: Shell, words: list[str]) -> int:
    letters: list[str] = []
    operands: list[str] = []
    for number, word in enumerate(words[1:], 2):
        if word == "--":
            operands += words[number:]
            break
        if word.startswith("-") and len(word) > 1:
            for letter in word[1:]:
                if letter not in _RESOURCES and letter not in "SHa":
                    raise UsageFailure(f"-{letter}: invalid option")
                letters.append(letter)
        else:
            operands.append(word)
    chosen = [letter for letter in letters if letter in _RESOURCES]
    if "a" in letters:
        for letter, (title, unit, _) in _RESOURCES.items():
            shell.write(f"{title:<20}{f'({unit})':>20} {_value(shell, letter)}\n")
        return 0
    if operands:
        if operands[0] in ("unlimited", "hard", "soft"):
            return 0
        if not is_number(operands[0]):
            raise CommandError(f"{operands[0]}: invalid number", 1)
        raise CommandError("limits of this sandbox are set by its host", 1)
    for letter in chosen or ["f"]:
        title, unit, _ = _RESOURCES[letter]
        prefix = f"{title:<20}{f'({unit})':>20} " if len(chosen) > 1 else ""
        shell.write(f"{prefix}{_value(shell, letter)}\n")
    return 0


def _value(shell: Shell, letter: str) -> str:
    limits = shell.budget.limits
    if letter == "f":
        return str(limits.file_bytes // 1024)
    if letter == "t":
        return str(int(limits.timeout))
    value = _RESOURCES[letter][2]
    return "unlimited" if value is None else str(value)
