"""Paths as values, and the streaming form: `path`, `del`, `getpath`, `paths`, `tostream`,
`fromstream`.
"""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.code import Code, invalid_path
from agentsandbox.commands.jq.definitions import call_definition
from agentsandbox.commands.jq.paths import delete_paths, get_path
from agentsandbox.commands.jq.streaming import events, paths_of, rebuilt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Path
    from agentsandbox.commands.jq.compiler import Compiler, Form


def _path_list(
    compiler: Compiler, body: Code, value: Value, environment: Environment
) -> Iterator[list[Value]]:
    """The paths of all outputs, as arrays."""
    hold = compiler.machine.hold
    for path, found in body.paths((), value, environment):
        if path is None:
            raise invalid_path(found)
        hold((len(path) >> 1) + 5)
        yield list(path)


def _path(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]
    return Code(many=lambda value, environment: _path_list(compiler, body, value, environment))


def _del(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]
    return Code(
        lambda value, environment: delete_paths(
            value, list(_path_list(compiler, body, value, environment)), compiler.budget
        )
    )


def _getpath(compiler: Compiler, codes: list[Code]) -> Code:
    where = codes[0]

    def look(value: Value, path: Value) -> Value:
        if not isinstance(path, list):
            raise JqError("Path must be specified as an array")
        return get_path(value, path)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for more in where.many(value, environment):
            if path is None:
                raise invalid_path(value)
            found = look(value, more)
            yield (*path, *more), found

    one = where.sure
    if one is not None:
        return Code(lambda value, environment: look(value, one(value, environment)), paths=paths)
    return Code(
        many=lambda value, environment: (
            look(value, path) for path in where.many(value, environment)
        ),
        paths=paths,
    )


def _paths(compiler: Compiler, codes: list[Code]) -> Code:
    return Code(
        many=lambda value, environment: paths_of(value, compiler.budget, compiler.machine.hold)
    )


def _tostream(compiler: Compiler, codes: list[Code]) -> Code:
    return Code(
        many=lambda value, environment: events(value, compiler.budget, compiler.machine.hold)
    )


def _fromstream(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def others(stream: Iterable[Value]) -> Iterable[Value]:
        return call_definition(
            compiler, "_fromstream/1", [Code(many=lambda value, environment: stream)]
        ).many(None, ())

    return Code(
        many=lambda value, environment: rebuilt(
            body.many(value, environment), compiler.budget, others
        )
    )


FORMS: dict[str, Form] = {
    "path/1": _path,
    "del/1": _del,
    "getpath/1": _getpath,
    "paths/0": _paths,
    "tostream/0": _tostream,
    "fromstream/1": _fromstream,
}
