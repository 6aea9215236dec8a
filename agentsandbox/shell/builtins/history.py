"""`history` and `fc`: the scripts given to `execute`, newest last."""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError, Exit
from agentsandbox.shell.builtins import define, is_number, parse_letters
from agentsandbox.shell.interpreter.texts import run_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("history", "history [-c] [-d offset] [n] or history -s arg [arg...]")
def history(shell: Shell, words: list[str]) -> int:
    """Show the history."""
    options, position = parse_letters(words, "cd:s")
    entries = shell.machine.history
    operands = words[position:]
    if "c" in options:
        entries.clear()
    if "d" in options:
        _delete(entries, options["d"])
    elif "s" in options:
        if operands:
            entries.append(" ".join(operands))
    elif "c" not in options:
        _show(shell, entries, operands)
    return 0


def _show(shell: Shell, entries: list[str], operands: list[str]) -> None:
    count = len(entries)
    if operands:
        if not is_number(operands[0]):
            raise CommandError(f"{operands[0]}: numeric argument required", 1)
        if len(operands) > 1:
            shell.complain("history: too many arguments")
            raise Exit(1)
        count = min(count, int(operands[0][:9]))
    for number in range(len(entries) - count, len(entries)):
        shell.write(f"{number + 1:5}  {entries[number]}\n")


def _delete(entries: list[str], text: str) -> None:
    """Delete one entry or a range N-M; negative numbers count from the end."""
    match = re.fullmatch(r"(-?\d{1,9})(?:-(-?\d{1,9}))?", text)
    if match is None:
        raise CommandError(f"{text}: history position out of range", 1)
    first, last = (int(number) for number in (match[1], match[2] or match[1]))
    first, last = (number - 1 if number > 0 else len(entries) + number for number in (first, last))
    for number, index in zip((match[1], match[2] or match[1]), (first, last), strict=True):
        if not 0 <= index < len(entries):
            raise CommandError(f"{number}: history position out of range", 1)
    del entries[first : last + 1]


@define("fc", "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]")
def fc(shell: Shell, words: list[str]) -> int:
    """List the history."""
    if len(words) > 1 and re.fullmatch(r"-\d+", words[1]):
        options: dict[str, str] = {}
        position = 1
    else:
        flags = [word for word in words[1:] if not re.fullmatch(r"-\d+", word)]
        options, position = parse_letters([words[0], *flags], "e:lnrs")
    operands = words[position:]
    entries = shell.machine.history
    if "s" in options or options.get("e") == "-":
        return _run_again(shell, entries, operands)
    if "l" not in options:
        raise CommandError(
            "there is no editor in the sandbox: use 'fc -l' to list, 'fc -s' to run again", 1
        )
    if not entries:
        return 0
    first = _index(entries, operands[0]) if operands else max(0, len(entries) - 16)
    last = _index(entries, operands[1]) if len(operands) > 1 else len(entries) - 1
    numbers = list(range(first, last + 1)) if first <= last else list(range(first, last - 1, -1))
    if "r" in options:
        numbers.reverse()
    for number in numbers:
        shell.write(f"{'' if 'n' in options else number + 1}\t {entries[number]}\n")
    return 0


def _index(entries: list[str], text: str) -> int:
    if is_number(text.removeprefix("-")):
        number = int(text[:9])
        return max(0, min(len(entries) - 1, number - 1 if number > 0 else len(entries) + number))
    found = next(
        (index for index in range(len(entries) - 1, -1, -1) if entries[index].startswith(text)),
        None,
    )
    if found is None:
        raise CommandError("no command found", 1)
    return found


def _run_again(shell: Shell, entries: list[str], operands: list[str]) -> int:
    """fc -s: run an earlier command again, with `old=new` applied to it."""
    changes = [operand.split("=", 1) for operand in operands if "=" in operand]
    named = [operand for operand in operands if "=" not in operand]
    if not entries:
        raise CommandError("no command found", 1)
    command = entries[_index(entries, named[0]) if named else len(entries) - 1]
    for old, new in changes:
        command = command.replace(old, new)
    shell.write(command + "\n", 2)
    entries.append(command)
    return run_commands(shell, command)
