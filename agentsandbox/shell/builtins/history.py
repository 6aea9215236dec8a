"""`history` and `fc`: the scripts given to `execute`, newest last."""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError, Exit
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.shell.builtins import define, is_number, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

_EVENT = re.compile(r"!(!|-?\d+|\?[^?\n]*\??|[A-Za-z_./][^ \t\n:]*)")


@define(
    "history",
    "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
)
def history(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, "cd:spanrw")
    entries = shell.machine.history
    operands = words[position:]
    if "c" in options:
        entries.clear()
        shell.machine.history_saved = 0
    if "d" in options:
        _delete(entries, options["d"])
    elif "s" in options:
        if operands:
            entries.append(" ".join(operands))
    elif "p" in options:
        return _expand(shell, operands)
    elif files := [letter for letter in "anrw" if letter in options]:
        if len(files) > 1:
            raise CommandError("cannot use more than one of -anrw", 1)
        return _use_file(
            shell, operands[0] if operands else shell.variables.get("HISTFILE") or "", files[0]
        )
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
    """One entry, or a range N-M; negative numbers count from the end."""
    match = re.fullmatch(r"(-?\d{1,9})(?:-(-?\d{1,9}))?", text)
    if match is None:
        raise CommandError(f"{text}: history position out of range", 1)
    first, last = (int(number) for number in (match[1], match[2] or match[1]))
    first, last = (number - 1 if number > 0 else len(entries) + number for number in (first, last))
    for number, index in zip((match[1], match[2] or match[1]), (first, last), strict=True):
        if not 0 <= index < len(entries):
            raise CommandError(f"{number}: history position out of range", 1)
    del entries[first : last + 1]


def _expand(shell: Shell, operands: list[str]) -> int:
    entries = shell.machine.history
    for operand in operands:
        found = ""
        end = 0
        for event in _EVENT.finditer(operand):
            entry = _event(entries, event[1])
            if entry is None:
                shell.complain(f"history: {operand}: history expansion failed")
                return 1
            found += operand[end : event.start()] + entry
            end = event.end()
        shell.write(found + operand[end:] + "\n")
    return 0


def _event(entries: list[str], text: str) -> str | None:
    """What !! !N !-N !word and !?word? stand for."""
    if text == "!":
        text = "-1"
    if is_number(text.removeprefix("-")):
        number = int(text[:9])
        index = number - 1 if number > 0 else len(entries) + number
        return entries[index] if 0 <= index < len(entries) else None
    if text.startswith("?"):
        return next((entry for entry in reversed(entries) if text.strip("?") in entry), None)
    return next((entry for entry in reversed(entries) if entry.startswith(text)), None)


_OPERATORS = {"a": ">>", "n": "<", "r": "<", "w": ">"}


def _use_file(shell: Shell, name: str, letter: str) -> int:
    """Append the entries that no file has yet (`a`), read more (`n`, `r`) or write all (`w`);
    nothing is said of a file that fails.
    """
    from agentsandbox.shell.interpreter.redirections import open_file

    machine = shell.machine
    entries = machine.history[machine.history_saved :] if letter == "a" else machine.history
    if letter == "a" and not entries:
        return 0
    try:
        stream = open_file(shell, shell.path(name), _OPERATORS[letter])
    except OSError:
        return 1
    try:
        if letter in "aw":
            stream.write(encode("".join(f"{entry}\n" for entry in entries)))
        else:
            entries.extend(decode(stream.read()).splitlines())
    finally:
        stream.release()
    machine.history_saved = len(machine.history)
    return 0


@define("fc", "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]")
def fc(shell: Shell, words: list[str]) -> int:
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
    """fc -s: an earlier command again, with `old=new` put into it."""
    from agentsandbox.shell.interpreter.texts import run_commands

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
