"""`export` and `readonly`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import define
from agentsandbox.shell.builtins.declare import assign_lists, declare_one, describe, read_options
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import ARRAY, ASSOCIATIVE, EXPORT, READONLY
from agentsandbox.shell.interpreter.functions import export_function
from agentsandbox.shell.syntax.braced import NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.assignments import BoundAssignment
    from agentsandbox.shell.interpreter.shell import Shell

    Argument = str | BoundAssignment


@define("export", "export [-fn] [name[=value] ...] or export -p", declares=True)
def export(shell: Shell, words: list[Argument]) -> int:
    """Give variables to the commands that are run."""
    return _mark_all(shell, words, "export", "aAfnp", EXPORT)


@define("readonly", "readonly [-aAf] [name[=value] ...] or readonly -p", declares=True)
def readonly(shell: Shell, words: list[Argument]) -> int:
    """Protect variables from change."""
    return _mark_all(shell, words, "readonly", "aAfp", READONLY)


def _mark_all(
    shell: Shell, words: list[Argument], command: str, letters: str, attribute: int
) -> int:
    """Set the attribute of all names (-n: remove it); without names print those that have it."""
    texts = [word if isinstance(word, str) else word.word() for word in words]
    options, position = read_options(shell, words, texts, letters)
    arguments = words[position:]
    known = shell.definitions
    if "f" in options:
        assign_lists(shell, words, local=False)
        if not arguments:
            is_export = attribute == EXPORT
            names = known.exported_functions if is_export else known.readonly_functions
            _print_functions(shell, names)
        names_given = [
            each
            if isinstance(each, str)
            else each.name
            if isinstance(each.value, list)
            else each.word()
            for each in arguments
        ]
        return max([_mark_function(shell, name, command, options) for name in names_given] or [0])
    kind = (ARRAY if "a" in options else 0) | (ASSOCIATIVE if "A" in options else 0)
    if not arguments:
        _print(shell, attribute | kind, command)
    status = 0
    for argument in arguments:
        on, off = (0, attribute) if "n" in options else (attribute, 0)
        status = _mark(shell, argument, command, on | kind, off) or status
    return status


def _mark_function(shell: Shell, name: str, command: str, options: dict[str, str]) -> int:
    if name not in shell.definitions.functions:
        shell.complain(f"{command}: {name}: not a function")
        return 1
    if command == "export" and "n" not in options and ("=" in name or "/" in name):
        shell.complain(f"export: {name}: cannot export")
        return 1
    if command == "readonly":
        shell.definitions = shell.definitions.with_readonly(name)
    elif "n" in options:
        shell.definitions = shell.definitions.without_exported(name)
        shell.variables.unset(f"BASH_FUNC_{name}%%")
    else:
        export_function(shell, name)
    return 0


def _mark(shell: Shell, argument: Argument, command: str, on: int, off: int) -> int:
    try:
        if (isinstance(argument, str) and "[" in argument.partition("=")[0]) or not (
            isinstance(argument, str) or argument.subscript is None
        ):
            shown = argument if isinstance(argument, str) else argument.word()
            raise CommandError(f"`{shown.partition(']')[0]}]': not a valid identifier")
        if isinstance(argument, str) and "=" not in argument:
            if NAME.fullmatch(argument) is None:
                raise CommandError(f"`{argument}': not a valid identifier")
            name = shell.variables.resolve(argument) or argument
            if "[" in name:
                raise CommandError(f"`{name}': not a valid identifier")
            if off and name not in shell.values and name not in shell.variables.readers:
                return 0
            shell.variables.keep(name)
            declare_one(shell, name, on, off, local=False)
        else:
            lists = on & (ARRAY | ASSOCIATIVE) != 0
            declare_one(shell, argument, on, off, local=False, lists=lists)
    except ExpansionError as error:
        if error.ends:
            raise
        is_text = isinstance(argument, str) or not isinstance(argument.value, list)
        if error.readonly and on & (ARRAY | ASSOCIATIVE) and is_text:
            error.message = f"{command}: {error.message}"
        shell.report(error)
        return 1
    except CommandError as error:
        shell.complain(f"{command}: {error.message}")
        return 1
    return 0


def _print(shell: Shell, flags: int, command: str) -> None:
    """Print the variables that have all `flags`; in POSIX mode in the form of the command."""
    for name in shell.variables.names():
        if shell.attributes.get(name, 0) & flags == flags and not name.startswith("BASH_FUNC_"):
            described = describe(shell, name)
            if described is not None:
                letters, shown = described.removeprefix("declare -").split(" ", 1)
                arrays = "".join(letter for letter in letters if letter in "aA")
                shell.write(
                    f"{command}{' -' if arrays else ''}{arrays} {shown}\n"
                    if shell.options.posix
                    else described + "\n"
                )


def _print_functions(shell: Shell, names: frozenset[str]) -> None:
    from agentsandbox.shell.syntax.printer import print_function

    for name in shell.function_names():
        if name in names:
            letters = shell.definitions.letters(name)
            text = print_function(shell.definitions.functions[name].node)
            shell.write(f"{text}\ndeclare -f{letters} {name}\n")
