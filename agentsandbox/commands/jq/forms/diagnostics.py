"""What reaches beyond the program: `inputs`, `debug`, `stderr`."""

from __future__ import annotations

from agentsandbox.commands._json.json_text import JsonError
from agentsandbox.commands._json.printing import dump
from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.code import Code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Path
    from agentsandbox.commands.jq.compiler import Compiler, Form


def _inputs(compiler: Compiler, codes: list[Code]) -> Code:
    machine = compiler.machine

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        try:
            for item in machine.inputs:
                machine.budget.step()
                yield item
        except JsonError as error:
            machine.inputs = machine.more_inputs()
            raise JqError(str(error)) from None

    return Code(many=many)


def _passing(action: Callable[[Compiler, Value], None]) -> Form:
    """A form whose output is its input, in paths as well."""

    def form(compiler: Compiler, codes: list[Code]) -> Code:
        def one(value: Value, environment: Environment) -> Value:
            action(compiler, value)
            return value

        def run(path: Path, value: Value, environment: Environment) -> Iterable[tuple[Path, Value]]:
            action(compiler, value)
            return ((path, value),)

        return Code(one, paths=run)

    return form


def _debug(compiler: Compiler, value: Value) -> None:
    compiler.machine.warn(f'["DEBUG:",{dump(value)}]\n')


def _stderr(compiler: Compiler, value: Value) -> None:
    compiler.machine.warn(value if isinstance(value, str) else dump(value))


FORMS: dict[str, Form] = {
    "inputs/0": _inputs,
    "debug/0": _passing(_debug),
    "stderr/0": _passing(_stderr),
}
