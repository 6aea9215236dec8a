"""`import` and `include`: libraries and data from the sandbox's files."""

from __future__ import annotations

import posixpath
from itertools import pairwise

from agentsandbox.commands._json.json_text import JsonError, slurp
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.expressions.functions import define
from agentsandbox.commands.jq.lexer import JqSyntaxError
from agentsandbox.commands.jq.parser import parse
from agentsandbox.commands.jq.scopes import Constant, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.jq.compiler import Compiler

_NESTING = 50


class Library:
    """Finds, reads and binds the files that a program imports. `read` gives a file's text or raises
    `OSError`.
    """

    def __init__(
        self, compiler: Compiler, search_list: list[str], read: Callable[[str], str], directory: str
    ) -> None:
        self.compiler = compiler
        self.directory = directory
        self.search_list = search_list
        self.read = read
        self._scopes: dict[str, list[tuple[str, object]]] = {}
        self._depth = 0

    def scope_of(self, program: nodes.Program, scope: Scope, origin: str) -> Scope:
        """The scope in which the program's main expression is compiled: with all that it imports
        and defines.
        """
        for item in reversed(program.imports):
            scope = self._bind(item, scope, origin)
        for definition in program.definitions:
            scope = define(self.compiler, definition, scope)
        return scope

    def _bind(self, item: nodes.Import, scope: Scope, origin: str) -> Scope:
        path, text = self._find(item, origin)
        if item.is_data:
            try:
                data = slurp(text, self.compiler.budget.step)
            except JsonError as error:
                raise JqSyntaxError(f"{path}: {error}", -1, 0) from None
            return scope.define(f"${item.name}", Constant(data)).define(
                f"${item.name}::{item.name}", Constant(data)
            )
        prefix = f"{item.name}::" if item.name else ""
        for name, entry in self._exports(path, text):
            scope = scope.define(prefix + name, entry)
        return scope

    def _exports(self, path: str, text: str) -> list[tuple[str, object]]:
        """The functions of a library, in the order of their definitions."""
        if path in self._scopes:
            return self._scopes[path]
        self._depth += 1
        if self._depth > _NESTING:
            raise JqSyntaxError(f"module imports are nested too deeply: {path}", -1, 0)
        try:
            program = parse(text)
        except JqSyntaxError as error:
            error.source, error.file = text, path
            raise
        if program.main is not None and not _is_identity(program.main):
            raise JqSyntaxError(
                "jq: error: library should only have function definitions, not a main expression",
                -1,
                0,
            )
        was_inside, self.compiler.in_module = self.compiler.in_module, True
        scope = self.scope_of(program, Scope(), posixpath.dirname(path))
        self.compiler.in_module = was_inside
        self._depth -= 1
        names = [
            f"{definition.name}/{len(definition.parameters)}" for definition in program.definitions
        ]
        self._scopes[path] = [(name, scope.find(name)) for name in names]
        return self._scopes[path]

    def _check(self, name: str) -> None:
        parts = name.split("/")
        message = ""
        if "\\" in name:
            message = f"Modules must be named by relative paths using '/', not '\\' ({name})"
        elif ".." in parts:
            message = f"Relative paths to modules may not traverse to parent directories ({name})"
        elif any(one == other for one, other in pairwise(parts)):
            message = f"module names must not have equal consecutive components: {name}"
        if message:
            raise JqSyntaxError(f"{message}\n", -1, 0)

    def _find(self, item: nodes.Import, origin: str) -> tuple[str, str]:
        self._check(item.path)
        extension = ".json" if item.is_data else ".jq"
        places = [self.directory, *self.search_list]
        if isinstance(item.metadata, dict) and "search" in item.metadata:
            given = item.metadata["search"]
            listed = [
                place
                for place in (given if isinstance(given, list) else [given])
                if isinstance(place, str) and place
            ]
            places = [
                self.directory if place == "." else posixpath.join(origin, place)
                for place in listed
            ]
        for place in places:
            base = posixpath.join(place, item.path)
            for name in ("", "/jq/main", f"/{posixpath.basename(base)}"):
                path = f"{base}{name}{extension}"
                try:
                    return path, self.read(path)
                except OSError:
                    continue
        raise JqSyntaxError(f"module not found: {item.path}\n", -1, 0)


def _is_identity(node: nodes.Node) -> bool:
    return type(node).__name__ == "Identity"
