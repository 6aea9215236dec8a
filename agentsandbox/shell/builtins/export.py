"""`export` and `readonly`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import define
from agentsandbox.shell.builtins.declare import (
    assign_lists,
    declare_one,
    describe,
    read_options,
)
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
    texts = [word if isinstance(word, str) else word.word() for word in words]
    options, position = read_options(shell, words, texts, "aAfnp")
    arguments = words[position:]
    if "f" in options:
        assign_lists(shell, words, local=False)
    kind = (ARRAY if "a" in options else 0) | (ASSOCIATIVE if "A" in options else 0)
    if not arguments:
        _print_functions(shell, shell.definitions.exported_functions) if "f" in options else _print(
            shell, EXPORT | kind, "export"
        )
        return 0
    status = 0
    for argument in arguments:
        name = argument if isinstance(argument, str) else argument.name
        if "f" in options:
            if name not in shell.definitions.functions:
                shell.complain(f"export: {name}: not a function")
                status = 1
            elif "n" in options:
                shell.definitions = shell.definitions.without_exported(name)
                shell.variables.unset(f"BASH_FUNC_{name}%%")
            else:
                export_function(shell, name)
            continue
        on, off = (0, EXPORT) if "n" in options else (EXPORT, 0)
        status = _mark(shell, argument, "export", on | kind, off) or status
    return status


@define("readonly", "readonly [-aAf] [name[=value] ...] or readonly -p", declares=True)
def readonly(shell: Shell, words: list[Argument]) -> int:
    """Protect variables from change."""
    texts = [word if isinstance(word, str) else word.word() for word in words]
    options, position = read_options(shell, words, texts, "aAfp")
    arguments = words[position:]
    if "f" in options:
        assign_lists(shell, words, local=False)
    kind = (ARRAY if "a" in options else 0) | (ASSOCIATIVE if "A" in options else 0)
    if not arguments:
        _print_functions(shell, shell.definitions.readonly_functions) if "f" in options else _print(
            shell, READONLY | kind, "readonly"
        )
        return 0
    status = 0
    for argument in arguments:
        name = argument if isinstance(argument, str) else argument.name
        if "f" in options:
            if name not in shell.definitions.functions:
                shell.complain(f"readonly: {name}: not a function")
                status = 1
            else:
                shell.definitions = shell.definitions.with_readonly(name)
            continue
        status = _mark(shell, argument, "readonly", READONLY | kind, 0) or status
    return status


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
            declare_one(shell, argument, on, off, local=False)
    except ExpansionError as error:
        if error.ends:
            raise
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
