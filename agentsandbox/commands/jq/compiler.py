"""The compiler of one program, and the names that are visible at each place of it."""

from __future__ import annotations

from agentsandbox.commands.jq.code import NOTHING, Code
from agentsandbox.commands.jq.lexer import JqSyntaxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.machine import Machine
    from agentsandbox.commands.jq.nodes import Definition, Node

    Form: TypeAlias = Callable[["Compiler", list[Code]], Code]
    """A built-in function of the codes of its arguments."""
    Caller: TypeAlias = "Function | None"
    """The function whose last output is that of the expression being compiled, if there is one."""
    CompileNode: TypeAlias = Callable[["Compiler", Any, "Scope", Caller], Code]
    """Compiles one type of node."""


class Scope:
    """The names visible at one place of the program, as a chain from the innermost outwards.

    A name is "$x", "f/2" or, for a label, "*out". It stands for a place in the environment, a
    `Function`, an `Argument` or a `Constant`. `size` is the length of the environment there.
    """

    __slots__ = ("entry", "name", "parent", "size")

    def __init__(
        self, size: int = 0, parent: Scope | None = None, name: str = "", entry: object = None
    ) -> None:
        self.size = size
        self.parent = parent
        self.name = name
        self.entry = entry

    def place(self, name: str) -> Scope:
        """Return a scope with one name more, whose value is at the end of the environment."""
        return Scope(self.size + 1, self, name, self.size)

    def define(self, name: str, entry: object) -> Scope:
        """Return a scope with one function or constant more; the environment stays as it is."""
        return Scope(self.size, self, name, entry)

    def find(self, name: str) -> object:
        """Return what a name stands for, None if it is not visible."""
        scope: Scope | None = self
        while scope is not None:
            if scope.name == name:
                return scope.entry
            scope = scope.parent
        return None


class Function:
    """A function of the program. `depth` is the length of the environment at its definition."""

    __slots__ = ("body", "compiling", "depth", "grows", "parameters", "single", "tail_called")

    def __init__(self, depth: int, definition: Definition) -> None:
        self.depth = depth
        self.parameters = definition.parameters
        self.body = Code(many=lambda value, environment: ())
        self.compiling = False
        self.single = False
        """Whether a recursive function is taken to have one output at most while it is compiled."""
        self.tail_called = False
        self.grows = False
        """Whether each tail call makes a closure over the last one, which takes memory."""


class Argument:
    """An argument of a built-in function, which its body names by a parameter."""

    __slots__ = ("node", "scope")

    def __init__(self, node: Node, scope: Scope) -> None:
        self.node = node
        self.scope = scope


class Constant:
    """A variable whose value is known when the program is compiled: --arg, $ENV."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Compiler:
    """Compiles the expressions of one program for one machine.

    nodes    compiles a node of that type
    builtin  returns what a name such as "map/1" stands for
    """

    def __init__(
        self,
        machine: Machine,
        nodes: Mapping[type, CompileNode],
        builtin: Callable[[str], Form | Definition | None],
    ) -> None:
        self.machine = machine
        self.budget = machine.budget
        self.builtin = builtin
        self.builtins: dict[str, Function] = {}
        """The functions defined in jq that the program calls, compiled once."""
        self.optimistic = False
        """Whether a recursive function is being compiled as one that has one output at most."""
        self._nodes = nodes
        self._compiled: dict[tuple[int, int, bool], tuple[Code, Node, Scope]] = {}
        """With what the numbers in the keys belong to, so that nothing else gets these."""
        self._widened: dict[tuple[int, int], Scope] = {}
        self._undefined: list[tuple[str, int, int]] = []

    def compile(self, node: Node, scope: Scope, tail: Caller = None) -> Code:
        """Return the code of an expression.

        A call of `tail`, the function that ends with this expression, need not return.

        An expression is compiled once: some try a quicker form of it first, which would double the
        time with each level of such expressions inside others.
        """
        if tail is not None:
            return self._nodes[type(node)](self, node, scope, tail)
        key = id(node), id(scope), self.optimistic
        known = self._compiled.get(key)
        if known is None:
            code = self._nodes[type(node)](self, node, scope, None)
            known = self._compiled[key] = code, node, scope
        return known[0]

    def widened(self, scope: Scope, size: int) -> Scope:
        """Return a scope with the names of another where the environment has `size` values."""
        if scope.size == size:
            return scope
        key = id(scope), size
        known = self._widened.get(key)
        if known is None:
            known = self._widened[key] = Scope(size, scope)
        return known

    def forget(self) -> None:
        """Compile everything anew from now on: what was compiled took a guess that was wrong."""
        self._compiled.clear()

    def undefined(self, message: str, position: int, length: int) -> Code:
        """Note a name that is not defined; `check` reports it with the others."""
        report = message, position, length
        if report not in self._undefined:
            self._undefined.append(report)
        return NOTHING

    def check(self) -> None:
        """Raise `JqSyntaxError` if a name is not defined."""
        if self._undefined:
            error = JqSyntaxError(*self._undefined[0])
            error.reports = self._undefined
            raise error
