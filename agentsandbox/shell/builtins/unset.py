"""`unset`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import define, parse_letters
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import (
    ARRAY,
    ASSOCIATIVE,
    READONLY,
    UNSET,
    AssociativeArray,
    IndexedArray,
    NameReference,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("unset", "unset [-f] [-v] [-n] [name ...]")
def unset(shell: Shell, words: list[str]) -> int:
    """Remove variables and functions."""
    options, position = parse_letters(words, "fvn")
    if "f" in options and "v" in options:
        raise CommandError("cannot simultaneously unset a function and a variable", 1)
    status = 0
    for name in words[position:]:
        try:
            _unset(shell, name, options)
        except ExpansionError as error:
            if error.ends:
                raise
            shell.complain(f"unset: {error.message}")
            status = 1
        except CommandError as error:
            shell.complain(f"unset: {error.message}")
            status = 1
    return status


def _unset(shell: Shell, name: str, options: dict[str, str]) -> None:
    if "f" in options:
        _unset_function(shell, name)
        return
    found = shell.reference(name, assigns=False)
    if found is None:
        if "v" not in options:
            _unset_function(shell, name)
            return
        raise CommandError(f"`{name}': not a valid identifier")
    base, subscript, is_expanded = found
    if subscript is not None:
        if "n" not in options:
            _unset_element(shell, base, subscript, is_expanded)
        return
    if "n" in options:
        if isinstance(shell.values.get(name), NameReference):
            shell.variables.unset(name)
        return
    target = shell.variables.resolve(name)
    if target and "[" in target:
        inner, _, inner_subscript = target.partition("[")
        _unset_element(shell, inner, inner_subscript[:-1])
        return
    target = target or name
    known = (
        target in shell.values or target in shell.variables.readers or target in shell.attributes
    )
    if not known and "v" not in options and name in shell.definitions.functions:
        _unset_function(shell, name)
        return
    if shell.options.shopt["localvar_unset"] and any(
        target in scope for scope in shell.variables.scopes[:-1]
    ):
        shell.values[target] = (
            UNSET  # it stays the local variable of the function that called this one
        )
        return
    shell.variables.unset(target)


def _unset_function(shell: Shell, name: str) -> None:
    if name in shell.definitions.readonly_functions:
        raise CommandError(f"{name}: cannot unset: readonly function")
    if name in shell.definitions.functions:
        functions = dict(shell.definitions.functions)
        del functions[name]
        shell.definitions = shell.definitions.replace(functions=functions)
        if name in shell.definitions.exported_functions:
            shell.definitions = shell.definitions.without_exported(name)
            shell.variables.unset(f"BASH_FUNC_{name}%%")
        shell.update_flags()


def _unset_element(shell: Shell, name: str, subscript: str, is_expanded: bool = False) -> None:
    name = shell.variables.resolve(name) or name
    value = shell.variables.lookup(name)
    if value is None:
        declared = (
            shell.variables.scopes
            and name in shell.values
            and not shell.attributes.get(name, 0) & (ARRAY | ASSOCIATIVE)
        )
        if declared and subscript not in ("0", "@", "*"):
            raise CommandError(f"{name}: not an array variable")
        return
    if isinstance(value, (IndexedArray, AssociativeArray)):
        if shell.attributes.get(name, 0) & READONLY:
            raise CommandError(f"{name}: cannot unset: readonly variable")
        shell.variables.array_for_writing(name)
    if isinstance(value, AssociativeArray):
        value.remove(subscript if is_expanded else shell.key(name, subscript))
        return
    if isinstance(value, IndexedArray):
        if subscript in ("@", "*"):
            shell.variables.replace(name, IndexedArray())
            return
        key = subscript if is_expanded else shell.key(name, subscript)
        index = shell.variables.evaluate(key)
        if index < 0:
            index += value.end()
            if index < 0:
                raise CommandError(f"[{subscript}]: bad array subscript")
        value.remove(index)
        return
    if subscript not in ("@", "*") and shell.variables.evaluate(shell.key(name, subscript)) == 0:
        shell.variables.unset(name)
        return
    raise CommandError(f"{name}: not an array variable")
