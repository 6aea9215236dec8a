"""`getopts`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.expansion.errors import ExpansionError
from agentsandbox.interpreter.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell


@define("getopts", "getopts optstring name [arg ...]")
def getopts(shell: Shell, words: list[str]) -> int:
    _, position = parse_letters(words, "")
    operands = words[position:]
    if len(operands) < 2:
        shell.write("getopts: usage: getopts optstring name [arg ...]\n", 2)
        return 2
    letters, name, *given = operands
    arguments = given or shell.positional
    silent = letters.startswith(":")
    index_text = shell.variables.get("OPTIND") or "1"
    index = int(index_text) if index_text.isdigit() else 1
    place = shell.getopts_position
    if index < 1:
        index = 1
    shell.variables.unset("OPTARG")

    def finish(option: str, status: int) -> int:
        shell.values["OPTIND"] = str(index)
        shell.getopts_position = place
        if not name.isidentifier():
            raise CommandError(f"`{name}': not a valid identifier", 1)
        try:
            shell.variables.assign(name, option)
        except ExpansionError as error:
            if not error.readonly:
                raise
            shell.complain(error.message)
            return 2
        return status

    if place == 0:
        if index > len(arguments):
            index = len(arguments) + 1
            return finish("?", 1)
        word = arguments[index - 1]
        if word == "--":
            index += 1
            return finish("?", 1)
        if len(word) < 2 or word[0] != "-":
            return finish("?", 1)
        place = 1
    word = arguments[index - 1] if index <= len(arguments) else "-"
    if place >= len(word):
        place = 0
        return finish("?", 1)
    option = word[place]
    place += 1
    if place >= len(word):
        place = 0
    at = letters.find(option, 1 if silent else 0)
    if at < 0 or option == ":":
        if place == 0:
            index += 1
        if silent:
            shell.variables.assign("OPTARG", option)
        elif shell.variables.get("OPTERR") != "0":
            shell.write(f"{shell.name}: illegal option -- {option}\n", 2)
        return finish("?", 0)
    if letters[at + 1 : at + 2] != ":":
        if place == 0:
            index += 1
        return finish(option, 0)
    if place:
        shell.variables.assign("OPTARG", word[place:])
        place = 0
        index += 1
        return finish(option, 0)
    index += 1
    if index > len(arguments):
        if silent:
            shell.variables.assign("OPTARG", option)
            return finish(":", 0)
        if shell.variables.get("OPTERR") != "0":
            shell.write(f"{shell.name}: option requires an argument -- {option}\n", 2)
        return finish("?", 0)
    shell.variables.assign("OPTARG", arguments[index - 1])
    index += 1
    return finish(option, 0)
