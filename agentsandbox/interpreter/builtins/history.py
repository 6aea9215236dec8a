"""`history` and `fc`: the scripts given to `execute`, newest last."""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.interpreter.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell


@define("history", "history [-c] [-d offset] [n] or history -s arg [arg...]")
def history(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, "cd:s")
    entries = shell.machine.history
    if "c" in options:
        entries.clear()
        return 0
    if "d" in options:
        text = options["d"]
        if not text.isdigit() or not 1 <= int(text[:9]) <= len(entries):
            raise CommandError(f"{text}: history position out of range", 1)
        del entries[int(text) - 1]
        return 0
    if "s" in options:
        entries.append(" ".join(words[position:]))
        return 0
    count = len(entries)
    if position < len(words):
        if not words[position].isdigit():
            raise CommandError(f"{words[position]}: numeric argument required", 1)
        count = min(count, int(words[position][:9]))
    for number in range(len(entries) - count, len(entries)):
        shell.write(f"{number + 1:5}  {entries[number]}\n")
    return 0


@define("fc", "fc [-l] [-n] [-r] [first] [last]")
def fc(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, "lnr")
    if "l" not in options:
        raise CommandError("there is no editor in the sandbox: use 'fc -l' to list", 1)
    entries = list(enumerate(shell.machine.history, 1))[-16:]
    if words[position:]:
        first = words[position]
        if first.lstrip("-").isdigit():
            start = int(first[:9]) if not first.startswith("-") else len(shell.machine.history) + 1 + int(first[:9])
            entries = [(number, text) for number, text in enumerate(shell.machine.history, 1) if number >= start]
    if "r" in options:
        entries.reverse()
    for number, text in entries:
        shell.write(f"{text}\n" if "n" in options else f"{number}\t {text}\n")
    return 0
