"""What all operators share: the nodes they are given, what they may ask of the world, operators of
two sides.
"""

from __future__ import annotations

from agentsandbox.commands.yq.nodes import SCALAR, Meter, Node, boolean, sequence
from agentsandbox.commands.yq.parser import Expression
from agentsandbox.commands.yq.reader import YamlError, read_documents
from agentsandbox.commands.yq.tags import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agentsandbox.kernel.budget import Budget

    Operator = Callable[["Machine", "Context", Expression], "Context"]
    Single = Callable[["Machine", "Context", Node, Expression], Node | None]
    Calculation = Callable[["Machine", Node | None, Node | None], Node | None]


class YqError(Exception):
    """An expression cannot be carried out."""


class Machine:
    """One call of yq: what it may spend, and the world outside the documents."""

    def __init__(
        self,
        budget: Budget,
        *,
        environment: Mapping[str, str],
        read_file: Callable[[str], str],
    ) -> None:
        self.budget = budget
        self.meter = Meter(budget)
        self.environment = environment
        self.read_file = read_file
        """The text of a file that an expression names. Raises `YqError`."""

    def evaluate(self, context: Context, expression: Expression | None) -> Context:
        """What an expression makes of the nodes of a context."""
        if expression is None:
            return context
        self.budget.step()
        self.budget.deeper()
        try:
            return OPERATORS[expression.name](self, context, expression)
        finally:
            self.budget.shallower()

    def values(self, context: Context, expression: Expression | None) -> list[Node]:
        """The nodes that an expression makes, without creating any in the documents."""
        return self.evaluate(context.read_only(), expression).nodes

    def text(self, context: Context, expression: Expression | None) -> str:
        """The value of the first node that an expression makes, "" for none."""
        nodes = self.values(context, expression)
        return nodes[0].value if nodes else ""


class Context:
    """The nodes an operator works on, the variables, and whether paths that do not exist come into
    being.
    """

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

    def single(self, node: Node) -> Context:
        """Return this context with one node."""
        return Context([node], self.variables, creates=self.creates)

    def read_only(self, node: Node | None = None) -> Context:
        """Return this context, with one node if it is given, in which paths are not created."""
        return Context(self.nodes if node is None else [node], self.variables, creates=False)

    def writable(self) -> Context:
        """Return this context with paths created where they do not exist."""
        return Context(self.nodes, self.variables, creates=True)

    def binding(self, name: str, nodes: list[Node]) -> Context:
        """Return this context with a variable."""
        return Context(self.nodes, {**self.variables, name: nodes}, creates=self.creates)


OPERATORS: dict[str, Operator] = {}


def operator(*names: str) -> Callable[[Operator], Operator]:
    """Make a function the operator of these names."""

    def decorate(function: Operator) -> Operator:
        for name in names:
            OPERATORS[name] = function
        return function

    return decorate


def each(*names: str) -> Callable[[Single], Single]:
    """Make a function of one node the operator of these names; it runs for every node of a
    context.
    """

    def decorate(function: Single) -> Single:
        def run(machine: Machine, context: Context, expression: Expression) -> Context:
            made = [function(machine, context, node, expression) for node in context.nodes]
            return context.of([node for node in made if node is not None])

        operator(*names)(run)
        return function

    return decorate


def is_true(node: Node | None) -> bool:
    """Whether a node counts as true: all but null and false."""
    if node is None or node.tag == "!!null":
        return False
    return not (node.kind == SCALAR and node.tag == "!!bool") or node.value.lower() == "true"


def guessed_tag(machine: Machine, node: Node) -> str:
    """The tag of a node; for one of its own making, that of its value."""
    if node.tag.startswith("!!") or not node.value:
        return node.tag
    try:
        document = next(iter(read_documents(node.value, machine.budget)), None)
    except YamlError:
        return node.tag
    return document.tag if document is not None else resolve(node.value)


def collected(machine: Machine, nodes: Iterable[Node], owner: Node | None = None) -> Node:
    """Copies of the nodes in a sequence, in the place of `owner`."""
    made = sequence()
    if owner is not None:
        owner.replaced(made)
    for node in nodes:
        made.adopt(node.copy(machine.meter))
    return made


def cross(
    machine: Machine,
    context: Context,
    expression: Expression,
    calculation: Calculation,
    *,
    when_empty: bool = False,
    left_alone: Callable[[Node | None], Node | None] | None = None,
) -> Context:
    """Combine every node of the left side with every one of the right, for each node of the context
    by itself.

    when_empty   also where a side is empty: then with None.
    left_alone   the result, where the left node alone decides it.
    """
    if all(node.together for node in context.nodes):
        return context.of(
            _crossed(machine, context, expression, calculation, when_empty, left_alone)
        )
    results: list[Node] = []
    for node in context.nodes:
        results += _crossed(
            machine, context.single(node), expression, calculation, when_empty, left_alone
        )
    return context.of(results)


def _crossed(
    machine: Machine,
    context: Context,
    expression: Expression,
    calculation: Calculation,
    when_empty: bool,
    left_alone: Callable[[Node | None], Node | None] | None,
) -> list[Node]:
    results: list[Node] = []
    lefts: list[Node | None] = [*machine.evaluate(context, expression.left).nodes]
    if when_empty and not lefts:
        lefts = [None]
    for left in lefts:
        alone = left_alone(left) if left_alone is not None else None
        if alone is not None:
            results.append(alone)
            continue
        rights: list[Node | None] = [*machine.evaluate(context, expression.right).nodes]
        if when_empty and not rights:
            rights = [None]
        for right in rights:
            machine.meter.copied()
            made = calculation(machine, left, right)
            if made is not None:
                results.append(made)
    return results


def truth(owner: Node | None, value: bool) -> Node:
    """A boolean in the place of a node."""
    return owner.replaced(boolean(value)) if owner is not None else boolean(value)
