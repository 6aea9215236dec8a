"""The table of built-in functions: those that take expressions (`forms`), those that take values
(`natives`), and those written in jq (`definitions`).
"""

from __future__ import annotations

from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.forms import (
    choices,
    diagnostics,
    loops,
    members,
    orders,
    paths,
    substitution,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.commands.jq.nodes import Definition

    Native = Callable[..., Value]


def find_builtin(name: str) -> Form | Definition | None:
    """What a name such as "map/1" stands for."""
    form = _FORMS.get(name)
    if form is not None:
        return form
    # loaded here, as are the definitions, because the most used functions are forms
    from agentsandbox.commands.jq.natives import NATIVES

    native = NATIVES.get(name)
    if native is not None:
        return _native_form(native, int(name.rpartition("/")[2]))
    from agentsandbox.commands.jq.definitions import definitions

    return definitions().get(name)


def _native_form(function: Native, arity: int) -> Form:
    """A function of the machine, the input and its arguments; the last argument is the outermost
    loop, as in jq.
    """

    def compile_call(compiler: Compiler, codes: list[Code]) -> Code:
        machine = compiler.machine
        ones = [code.sure for code in codes if code.sure is not None]
        if arity == 0:
            return Code(lambda value, environment: function(machine, value))
        if len(ones) == arity == 1:
            only = ones[0]
            return Code(
                lambda value, environment: function(machine, value, only(value, environment))
            )
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

    return compile_call


def _names(compiler: Compiler, codes: list[Code]) -> Code:
    from agentsandbox.commands.jq.definitions import definitions
    from agentsandbox.commands.jq.natives import NATIVES

    names = sorted(name for name in {*_FORMS, *NATIVES, *definitions()} if not name.startswith("_"))
    return Code(lambda value, environment: list(names))


_FORMS: dict[str, Form] = {
    **choices.FORMS,
    **diagnostics.FORMS,
    **loops.FORMS,
    **members.FORMS,
    **orders.FORMS,
    **paths.FORMS,
    **substitution.FORMS,
    "builtins/0": _names,
}
