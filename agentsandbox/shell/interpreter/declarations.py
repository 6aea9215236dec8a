"""The words of `declare` and its kin: arguments that are assignments stay whole.

They are neither split nor globbed, and an array literal among them is assigned while the other
words are still being expanded.
"""

from __future__ import annotations

from agentsandbox.shell.builtins import find_builtin
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import ARRAY, ASSOCIATIVE, READONLY
from agentsandbox.shell.syntax.nodes import ArrayLiteral, Assignment, Literal, Quoted, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agentsandbox.shell.interpreter.assignments import BoundAssignment
    from agentsandbox.shell.interpreter.shell import Shell

    ArgumentBinder = Callable[[Shell, bool], Iterable[BoundAssignment]]

_FEW = 256
"""Assignments of one argument between two looks at what they take together."""


_ARGUMENT = 256
"""Bytes of one of them, about."""


def bind_argument(node: Assignment) -> ArgumentBinder:
    """Compile an argument of `declare`. Braces may make it many, as `local x={a,b}`."""
    from agentsandbox.shell.expansion.fields import has_braces
    from agentsandbox.shell.interpreter.assignments import bind_assignment

    bind = bind_assignment(node, argument=True)
    if isinstance(node.value, ArrayLiteral) or not has_braces(node.value.parts):
        return lambda shell, associative: (bind(shell, associative),)
    from agentsandbox.shell.expansion.braces import expand_braces

    value = node.value

    def bind_all(shell: Shell, associative: bool) -> Iterator[BoundAssignment]:
        if not shell.options.braceexpand:
            yield bind(shell, associative)
            return
        for number, parts in enumerate(expand_braces(value.parts, shell.budget)):
            if number % _FEW == 0:
                shell.budget.charge(number * _ARGUMENT)
            tildes_stay = tuple(
                [
                    Quoted(part.text) if isinstance(part, Literal) and "~" in part.text else part
                    for part in parts
                ]
            )
            alternative = Assignment(
                node.name, Word(tildes_stay, value.source), node.subscript, node.append, node.source
            )
            yield bind_assignment(alternative, argument=True)(shell, associative)

    return bind_all


def declared_words(
    shell: Shell,
    order: Sequence[ArgumentBinder | None],
    words: Sequence[Callable[[Shell, list[str]], None]],
) -> list[str | BoundAssignment]:
    """Expand the words of `declare` and its kin; assignments stay whole."""
    declared: list[str | BoundAssignment] = []
    plain = iter(words)
    for number, bind in enumerate(order):
        if bind is not None:
            options = "".join(
                [word for word in declared[1:] if isinstance(word, str) and word.startswith("-")]
            )
            for assignment in bind(shell, "A" in options):
                if isinstance(assignment.value, list):
                    _check_list(shell, assignment.name, options, declared[0])
                early = (
                    isinstance(assignment.value, list)
                    and any(order[number + 1 :])
                    and not shell.options.xtrace
                )
                declared.append(
                    _declare_early(shell, declared, assignment) if early else assignment
                )
            continue
        fields: list[str] = []
        next(plain)(shell, fields)
        declared.extend(fields)
    return declared


def _check_list(shell: Shell, name: str, options: str, command: str | BoundAssignment) -> None:
    """Refuse an array literal that a variable cannot take. That ends the shell or function."""
    function = next(
        (frame.name for frame in reversed(shell.stack.frames) if frame.is_function), None
    )
    flags = shell.attributes.get(name, 0)
    makes_local = (
        function is not None and "g" not in options and command not in ("readonly", "export")
    )
    if flags & READONLY:
        if makes_local and shell.variables.globals_scope(name) is not None:
            return
        message = f"{name}: readonly variable"
    elif flags & ARRAY and "A" in options and (function is None or "g" in options):
        message = f"{name}: cannot convert indexed to associative array"
    elif (
        flags & ASSOCIATIVE
        and "a" in options
        and "A" not in options
        and (function is None or "g" in options)
    ):
        message = f"{name}: cannot convert associative to indexed array"
    else:
        return
    if function is None or (flags & READONLY and not makes_local):
        raise ExpansionError(message, readonly=flags & READONLY != 0)
    shell.complain(f"{function}: {message}")


def _declare_early(
    shell: Shell, declared: list[str | BoundAssignment], assignment: BoundAssignment
) -> str | BoundAssignment:
    """Assign an array literal while the words are expanded, as bash does. Return its name."""
    command = declared[0]
    builtin = find_builtin(command) if isinstance(command, str) else None
    if (
        builtin is None
        or not builtin.declares
        or command in shell.definitions.functions
        or (command == "local" and not shell.stack.frames)
    ):
        return assignment
    from agentsandbox.shell.builtins.declare import assign_lists, is_local

    options = [word for word in declared[1:] if isinstance(word, str) and word.startswith("-")]
    assign_lists(
        shell,
        [command, *options, assignment],
        local=command not in ("export", "readonly") and is_local(shell),
    )
    return assignment.name
