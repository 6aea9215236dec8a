"""`getopts`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.shell.builtins import define, is_number, parse_letters
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import READONLY, is_name

_DIGITS = frozenset("123456789")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("getopts", "getopts optstring name [arg ...]")
def getopts(shell: Shell, words: list[str]) -> int:
    _, position = parse_letters(words, "")
    operands = words[position:]
    if len(operands) < 2:
        shell.write("getopts: usage: getopts optstring name [arg ...]\n", 2)
        return 2
    name, given = operands[1], operands[2:]
    letters = encode(operands[0])  # options are bytes
    arguments = given or shell.stack.positional
    silent = letters.startswith(b":")
    index_text = shell.variables.get("OPTIND") or "1"
    index = int(index_text) if is_number(index_text) else 1
    started, place = shell.specials.getopts_position
    if index < 1:
        index = 1
    argument: str | None = None

    def finish(option: str, status: int) -> int:
        if (
            argument is None
            and status == 0
            and option != "?"
            and shell.attributes.get("OPTARG", 0) & READONLY
        ):
            shell.complain("OPTARG: readonly variable")
        _set_argument(shell, argument)
        if shell.attributes.get("OPTIND", 0) & READONLY:
            shell.complain("OPTIND: readonly variable")
        else:
            shell.values["OPTIND"] = str(index)
        shell.specials.getopts_position = started, place
        if not is_name(name):
            raise CommandError(f"`{name}': not a valid identifier", 1)
        try:
            shell.variables.assign(name, option)
        except ExpansionError as error:
            if not error.readonly:
                raise
            shell.report(error)
            return 1 if status == 1 else 2
        return status

    if index > len(arguments):
        index = len(arguments) + 1
        return finish("?", 1)
    word = encode(arguments[started - 1]) if 0 < started <= len(arguments) else b""
    if place >= len(word):
        place = 0
    if place == 0:
        text = arguments[index - 1]
        if text == "--":
            index += 1
            return finish("?", 1)
        if len(text) < 2 or text[0] != "-":
            return finish("?", 1)
        started, place = index, 1
        word = encode(text)
    letter = word[place : place + 1]
    option = decode(letter)
    place += 1
    if place >= len(word):
        place = 0
    at = letters.find(letter, 1 if silent else 0)
    if at < 0 or letter == b":":
        if place == 0:
            index += 1
        if silent:
            argument = option
        elif _tells_errors(shell):
            shell.write(f"{shell.invocation.name}: illegal option -- {option}\n", 2)
        return finish("?", 0)
    if letters[at + 1 : at + 2] != b":":
        if place == 0:
            index += 1
        return finish(option, 0)
    if place:
        argument = decode(word[place:])
        place = 0
        index += 1
        return finish(option, 0)
    index += 1
    if index > len(arguments):
        if silent:
            argument = option
            return finish(":", 0)
        if _tells_errors(shell):
            shell.write(f"{shell.invocation.name}: option requires an argument -- {option}\n", 2)
        return finish("?", 0)
    argument = arguments[index - 1]
    index += 1
    return finish(option, 0)


def _tells_errors(shell: Shell) -> bool:
    """Whether OPTERR begins with a number other than 0, or is unset or empty."""
    text = shell.variables.get("OPTERR")
    return not text or text.lstrip("-0")[:1] in _DIGITS


def _set_argument(shell: Shell, argument: str | None) -> None:
    """OPTARG: a readonly one is unset all the same, and not assigned."""
    if argument is None:
        shell.variables.drop("OPTARG", READONLY)
        shell.variables.unset("OPTARG")
    elif shell.attributes.get("OPTARG", 0) & READONLY:
        shell.complain("OPTARG: readonly variable")
    else:
        shell.variables.assign("OPTARG", argument)
