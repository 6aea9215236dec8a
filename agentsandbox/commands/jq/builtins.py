"""The table of built-in functions.

There are three kinds: those that take expressions (`forms`), those that take values (`natives`),
and those written in jq (`definitions`).
"""

from __future__ import annotations

from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.definitions import definition_sources, find_definition
from agentsandbox.commands.jq.forms import collections, outputs, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.commands.jq.nodes import Definition


def find_builtin(name: str) -> Form | Definition | None:
    """Return what a name such as "map/1" stands for."""
    form = _FORMS.get(name)
    if form is not None:
        return form
    definition = find_definition(name)
    if definition is not None:
        return definition
    # loaded here because many programs need none of them
    from agentsandbox.commands.jq.natives import NATIVES

    native = NATIVES.get(name)
    return None if native is None else _native_form(native, int(name.rpartition("/")[2]))


def _native_form(function: Callable[..., Value], arity: int) -> Form:
    """Return the form of a function of the machine, the input and its arguments.

    The last argument is the outermost loop, as in jq.
    """

    def form(compiler: Compiler, codes: list[Code]) -> Code:
        machine = compiler.machine
        ones = [code.sure for code in codes if code.sure is not None]
        if arity == 0:
            return Code(lambda value, environment: function(machine, value))
        if len(ones) == arity:
            return Code(
                lambda value, environment: function(
                    machine, value, *[one(value, environment) for one in ones]
                )
            )

        def spread(
            at: int, value: Value, environment: Environment, chosen: tuple[Value, ...]
        ) -> Iterator[Value]:
            if at < 0:
                yield function(machine, value, *chosen)
                return
            for result in codes[at].many(value, environment):
                yield from spread(at - 1, value, environment, (result, *chosen))

        return Code(many=lambda value, environment: spread(arity - 1, value, environment, ()))

    return form


def _substitute(compiler: Compiler, codes: list[Code]) -> Code:
    # loaded here because few programs need regular expressions
    from agentsandbox.commands.jq.regexes import substitute

    return substitute(compiler, codes)


def _names(compiler: Compiler, codes: list[Code]) -> Code:
    from agentsandbox.commands.jq.natives import NATIVES

    names = sorted({*_FORMS, *NATIVES, *definition_sources()})
    public = [name for name in names if not name.startswith("_")]
    return Code(lambda value, environment: public[:])


_FORMS: dict[str, Form] = {
    **collections.FORMS,
    **outputs.FORMS,
    **paths.FORMS,
    "sub/3": _substitute,
    "builtins/0": _names,
}
