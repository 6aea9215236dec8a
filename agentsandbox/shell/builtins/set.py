"""`set`"""

from __future__ import annotations

from agentsandbox.kernel.quoting import quote_if_needed
from agentsandbox.shell.builtins import SpecialFailed, UsageFailure, define
from agentsandbox.shell.expansion.transformations import format_array
from agentsandbox.shell.expansion.variables import AssociativeArray, IndexedArray
from agentsandbox.shell.interpreter.listing_variables import listed_value
from agentsandbox.shell.interpreter.options import OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

_LETTERS = {letter: name for name, (letter, _) in OPTIONS.items() if letter}


@define("set", "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]")
def set(shell: Shell, words: list[str]) -> int:
    """Set shell options and positional parameters."""
    if len(words) == 1:
        print_variables(shell)
        return 0
    _check_letters(words)
    position = 1
    while position < len(words):
        word = words[position]
        if word == "--":
            shell.stack.positional = words[position + 1 :]
            return 0
        if word == "-":
            shell.set_option("xtrace", False)
            shell.set_option("verbose", False)
            if position + 1 < len(words):
                shell.stack.positional = words[position + 1 :]
            return 0
        if word == "+":
            position += 1
            continue
        if len(word) < 2 or word[0] not in "-+":
            break
        position += 1
        on = word[0] == "-"
        for letter in word[1:]:
            if letter == "o":
                if not _names_option(words, position):
                    print_options(shell, readable=on)
                    continue
                if not shell.set_option(words[position], on):
                    shell.complain(f"set: {words[position]}: invalid option name")
                    if shell.options.posix:
                        raise SpecialFailed(2)
                    return 2
                position += 1
            else:
                shell.set_option(_LETTERS[letter], on)
    if position < len(words):
        shell.stack.positional = words[position:]
    return 0


def _names_option(words: list[str], position: int) -> bool:
    """Whether the word at `position` is an argument of -o."""
    return position < len(words) and bool(words[position]) and words[position][0] not in "-+"


def _check_letters(words: list[str]) -> None:
    """Refuse a wrong letter anywhere before any option is set."""
    position = 1
    while position < len(words):
        word = words[position]
        if word == "+":
            position += 1
            continue
        if len(word) < 2 or word[0] not in "-+" or word == "--":
            return
        position += 1
        for letter in word[1:]:
            if letter == "o":
                position += _names_option(words, position)
            elif letter not in _LETTERS:
                raise UsageFailure(f"{word[0]}{letter}: invalid option")


def print_options(shell: Shell, *, readable: bool) -> None:
    """Print the options of `set -o`, readable or as commands."""
    for name in OPTIONS:
        on = shell.options.is_on(name)
        if readable:
            shell.write(f"{name:<15}\t{'on' if on else 'off'}\n")
        else:
            shell.write(f"set {'-' if on else '+'}o {name}\n")


def print_variables(shell: Shell) -> None:
    """Print every variable that has a value and, except in POSIX mode, every function."""
    for name in shell.variables.names():
        shell.budget.step()
        value = listed_value(shell, name)
        if isinstance(value, (IndexedArray, AssociativeArray)):
            shell.write(f"{name}={format_array(value)}\n")
        elif value is not None:
            shown = quote_if_needed(shell.seen(str(value)), shell.budget.pieces)
            shell.write(f"{name}={shown}\n")
    if shell.options.posix:
        return
    from agentsandbox.shell.syntax.printer import print_function

    for name in shell.function_names():
        shell.write(print_function(shell.definitions.functions[name].node) + "\n")
