"""How expressions are evaluated: one table of operators, on lists of nodes.

An operator takes the nodes of a context and makes new ones, or changes nodes in place. Paths to
what does not exist create it (`.a.b = 1`), unless the context is read-only: then they yield nulls
that belong to no document. With `eval-all`, all documents are one context, and a binary operator
combines every node of its left side with every one of its right; otherwise it does so for each node
of the context by itself.
"""

from __future__ import annotations

from agentsandbox.commands.yq.nodes import QUOTED, SCALAR, Meter, Node, boolean, sequence
from agentsandbox.commands.yq.scalars import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agentsandbox.kernel.budget import Budget

    Function = Callable[["Machine", "Context", "Expression"], "Context"]
    Single = Callable[["Machine", "Context", Node, "Expression"], Node | None]
    Pair = Callable[["Machine", Node, Node, "Expression"], Node]


class Expression:
    """An operator with its operands; `right` is that of an operator with one."""

    __slots__ = ("left", "name", "options", "right", "text", "value")

    def __init__(self, name: str, text: str = "", value: str = "", options: str = "") -> None:
        self.name = name
        self.text = text
        self.value = value
        self.options = options
        self.left: Expression | None = None
        self.right: Expression | None = None


class Operator:
    """What an operator does, how many operands it takes, and how tightly it binds."""

    __slots__ = ("arity", "function", "precedence")

    def __init__(self, function: Function, arity: int, precedence: int) -> None:
        self.function = function
        self.arity = arity
        self.precedence = precedence


OPERATORS: dict[str, Operator] = {}
"""Operators by symbol or name; names in lower case and without "_"."""
_PRECEDENCES = {0: 55, 1: 52}


def operator(*names: str, arity: int = 0, precedence: int = 0) -> Callable[[Function], Function]:
    """Make a function the operator of these names."""

    def decorate(function: Function) -> Function:
        made = Operator(function, arity, precedence or _PRECEDENCES[arity])
        OPERATORS.update(dict.fromkeys(names, made))
        return function

    return decorate


def each(*names: str, arity: int = 0) -> Callable[[Single], Single]:
    """Make a function the operator of these names, which runs for each node by itself."""

    def decorate(function: Single) -> Single:
        def run(machine: Machine, context: Context, expression: Expression) -> Context:
            singles = [context.of([node]) for node in context.nodes]
            made = [function(machine, one, one.nodes[0], expression) for one in singles]
            return context.of([node for node in made if node is not None])

        operator(*names, arity=arity)(run)
        return function

    return decorate


class Machine:
    """One call of yq: its budget and environment."""

    def __init__(self, budget: Budget, environment: Mapping[str, str]) -> None:
        self.budget = budget
        self.meter = Meter(budget)
        self.environment = environment

    def evaluate(self, context: Context, expression: Expression | None) -> Context:
        """Return what an expression makes of the nodes of a context."""
        if expression is None:
            return context
        self.budget.step()
        function = OPERATORS[expression.name].function
        return self.budget.nested(lambda: function(self, context, expression))

    def values(self, context: Context, expression: Expression | None) -> list[Node]:
        """Return the nodes that an expression makes, without changing the documents."""
        return self.evaluate(context.read_only(), expression).nodes

    def text(self, context: Context, expression: Expression | None) -> str:
        """Return the value of the first node that an expression makes, or ""."""
        nodes = self.values(context, expression)
        return nodes[0].value if nodes else ""

    def holds(self, context: Context, node: Node, condition: Expression | None) -> bool:
        """Whether a condition is true of a node."""
        nodes = self.values(context.of([node]), condition)
        return bool(nodes) and is_true(nodes[0])


class Context:
    """The nodes of an operator, the variables, and whether paths create what they name."""

    __slots__ = ("creates", "nodes", "variables")

    def __init__(
        self, nodes: list[Node], variables: dict[str, list[Node]], *, creates: bool = True
    ) -> None:
        self.nodes = nodes
        self.variables = variables
        self.creates = creates

    def of(self, nodes: list[Node]) -> Context:
        """Return this context with other nodes."""
        return Context(nodes, self.variables, creates=self.creates)

    def read_only(self) -> Context:
        """Return this context, in which paths create nothing."""
        return Context(self.nodes, self.variables, creates=False)

    def writable(self) -> Context:
        """Return this context, in which paths create what they name."""
        return Context(self.nodes, self.variables, creates=True)

    def binding(self, name: str, nodes: list[Node]) -> Context:
        """Return this context with a variable."""
        return Context(self.nodes, {**self.variables, name: nodes}, creates=self.creates)

    def groups(self) -> list[Context]:
        """Return the contexts of a binary operator: one for each node, or one with all."""
        if all(node.joined for node in self.nodes):
            return [self]
        return [self.of([node]) for node in self.nodes]


def pairs(
    machine: Machine,
    context: Context,
    expression: Expression,
    *,
    empty: bool = False,
    decided: Callable[[Node | None], bool] | None = None,
) -> Iterator[tuple[Node | None, Node | None]]:
    """Yield every node of the left side with every one of the right.

    empty     an empty side counts as one None.
    decided   whether a left node decides the result: then the right one is None, not evaluated.
    """
    for group in context.groups():
        lefts: list[Node | None] = [*machine.evaluate(group, expression.left).nodes]
        for left in lefts or [None] * empty:
            if decided is not None and decided(left):
                yield left, None
                continue
            rights: list[Node | None] = [*machine.evaluate(group, expression.right).nodes]
            for right in rights or [None] * empty:
                machine.meter.copied()
                yield left, right


def binary(*names: str, precedence: int) -> Callable[[Pair], Pair]:
    """Make a function of two nodes the operator of these names; it runs for every pair."""

    def decorate(function: Pair) -> Pair:
        def run(machine: Machine, context: Context, expression: Expression) -> Context:
            found: list[Node] = []
            for left, right in pairs(machine, context.read_only(), expression):
                assert left is not None and right is not None
                found.append(function(machine, left, right, expression))
            return context.of(found)

        operator(*names, arity=2, precedence=precedence)(run)
        return function

    return decorate


def is_true(node: Node | None) -> bool:
    """Whether a node counts as true: all do but null and false."""
    if node is None or node.tag == "!!null":
        return False
    return not (node.kind == SCALAR and node.tag == "!!bool") or node.value.lower() == "true"


def truth(owner: Node | None, value: bool) -> Node:
    """Return a boolean in the place of a node."""
    return owner.replaced(boolean(value)) if owner is not None else boolean(value)


def value_tag(node: Node) -> str:
    """Return the tag of a node; for a custom tag, that of its value."""
    if node.tag.startswith("!!") or node.kind != SCALAR:
        return node.tag
    return "!!str" if node.style & QUOTED else resolve(node.value)


def collected(machine: Machine, nodes: Iterable[Node], owner: Node | None = None) -> Node:
    """Return copies of nodes as a sequence, in the place of `owner`."""
    made = sequence()
    if owner is not None:
        owner.replaced(made)
    made.extend(list(nodes), machine.meter)
    return made
