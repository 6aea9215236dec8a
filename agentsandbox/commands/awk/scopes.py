"""What the names of a program are: which are arrays, which only ever hold numbers, and which
fields the program reads and changes.

Awk declares nothing, so this is found from use. One walk over the tree notes every use. Then the
notes that depend on one another are applied again and again until nothing changes (a fixed point):
a parameter is an array when a function that it is passed to takes an array, and a variable holds
text when it is assigned a variable that does.
"""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.tokens import AwkSyntaxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.commands.awk import flow_nodes
    from agentsandbox.commands.awk.nodes import Expression, Node, Program
    from agentsandbox.kernel.budget import Budget

    Key = tuple[str, str]  # (function or "", name)

SPECIAL_NUMBERS = frozenset(("RSTART", "RLENGTH"))
SPECIAL_NAMES = frozenset(
    "NR FNR NF FS OFS ORS RS RT RSTART RLENGTH SUBSEP CONVFMT OFMT FILENAME IGNORECASE FPAT"
    " FIELDWIDTHS ERRNO BINMODE ARGC ARGIND LINT".split()
)
SPECIAL_ARRAYS = frozenset(("ENVIRON", "ARGV", "PROCINFO", "FUNCTAB", "SYMTAB"))
_NUMERIC_CALLS = frozenset(
    "length index split sub gsub match sin cos atan2 exp log sqrt int rand srand system close"
    " fflush systime mktime asort asorti and or xor lshift rshift compl strtonum isarray"
    " patsplit".split()
)
_NUMERIC_NODES = (
    nodes.Number,
    nodes.Binary,
    nodes.Unary,
    nodes.Step,
    nodes.Match,
    nodes.Membership,
    nodes.Getline,
    nodes.Regex,
)
_ARRAY_ARGUMENTS = {
    "split": (1, 3), "patsplit": (1, 3), "asort": (0, 1), "asorti": (0, 1), "match": (2,),
}  # fmt: skip
_SPLITTERS = frozenset(("FS", "FPAT", "FIELDWIDTHS"))


def children(node: object) -> Iterator[Node]:
    """Yield the nodes directly below a node."""
    if isinstance(node, nodes.Node):
        for name in type(node).__annotations__:
            yield from _nodes_of(getattr(node, name))


def _nodes_of(value: object) -> Iterator[Node]:
    if isinstance(value, nodes.Node):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _nodes_of(item)


class Scopes:
    """The analysis of one program."""

    def __init__(self, program: Program, assigned_outside: frozenset[str], budget: Budget) -> None:
        self.program = program
        self.budget = budget
        self.functions = program.functions
        self.arrays: set[Key] = set()
        self.scalars: set[Key] = set()
        self.texts: set[Key] = {("", name) for name in assigned_outside}
        """Scalars that may hold text."""
        self.mixed_elements: set[Key] = set()
        """Arrays whose elements may be something else than numbers."""
        self.text_functions: set[str] = set()
        self.names: set[str] = set()
        """Every global name used."""
        self.special_assigned: set[str] = set()
        self.highest_field = 0
        self.all_fields = False
        self.changes_fields = False
        self.uses_fields = False
        self.assigns_record = False
        """Whether the program assigns `$0`, whose type is then that of the value."""
        self.has_typed_regexes = False
        self.indirect = False
        self.changes_operands = False
        """Whether the program changes ARGV: operands may then assign any variable."""
        self.asks_types = False
        """Whether `typeof` is called."""
        self.nested = False
        """Whether an element may be an array."""
        self._calls: list[tuple[str, str, list[Expression]]] = []
        self._typed: list[tuple[str, Expression, Key, bool]] = []
        """What is assigned: the function, the value, the target, whether to an element of it."""
        self._returns: list[tuple[str, Expression]] = []
        for rule in program.rules:
            self._walk(rule, "", rule.kind == "BEGIN")
        for function in program.functions.values():
            for statement in function.body:
                self._walk(statement, function.name, False)
        self._settle()
        self._refuse()

    def _refuse(self) -> None:
        """Refuse scalars of awk's own as arrays."""
        for name in sorted(self.names & SPECIAL_NAMES):
            if ("", name) in self.arrays:
                raise AwkSyntaxError(f"fatal: attempt to use scalar `{name}' as an array")

    # what a name means

    def key(self, function: str, name: str) -> Key:
        """Return the scope of a name used in a function, and the name."""
        if function and name in self.functions[function].parameters:
            return (function, name)
        return ("", name)

    def is_array(self, function: str, name: str) -> bool:
        """Whether the name is an array there."""
        key = self.key(function, name)
        return key in self.arrays or (not key[0] and name in SPECIAL_ARRAYS)

    def is_numeric(self, function: str, expression: Expression) -> bool:
        """Whether the expression is a float whatever happens."""
        if isinstance(expression, _NUMERIC_NODES):
            return True
        if isinstance(expression, nodes.Assign):
            return expression.operator != "=" or self.is_numeric(function, expression.value)
        if isinstance(expression, nodes.Ternary):
            return self.is_numeric(function, expression.yes) and self.is_numeric(
                function, expression.no
            )
        if isinstance(expression, nodes.Name):
            if not self.key(function, expression.name)[0] and expression.name in SPECIAL_NAMES:
                return self._special_numeric(expression.name)
            return (
                not self.is_array(function, expression.name)
                and self.key(function, expression.name) not in self.texts
            )
        if isinstance(expression, nodes.Index):
            if not isinstance(expression.base, nodes.Name):
                return False
            key = self.key(function, expression.base.name)
            return key in self.arrays and key not in self.mixed_elements
        if isinstance(expression, nodes.Call):
            return expression.name in _NUMERIC_CALLS
        if isinstance(expression, nodes.UserCall):
            return expression.name in self.functions and expression.name not in self.text_functions
        return False

    def _special_numeric(self, name: str) -> bool:
        if ("", name) in self.texts:
            return False
        return name in SPECIAL_NUMBERS or (
            name in ("NR", "FNR", "NF") and name not in self.special_assigned
        )

    # the walk

    def _walk(self, start: Node, function: str, in_begin: bool) -> None:
        pending: list[Node] = [start]
        while pending:
            node = pending.pop()
            self.budget.step()
            visit = _VISITS.get(type(node).__name__)
            if visit is not None:
                visit(self, node, function, in_begin)
            pending.extend(children(node))

    def _visit_name(self, node: nodes.Name, function: str, in_begin: bool) -> None:
        key = self.key(function, node.name)
        if not key[0]:
            self.names.add(node.name)
            if node.name == "NF":
                self._fields(every=True)
        self.scalars.add(key)

    def _visit_index(self, node: nodes.Index, function: str, in_begin: bool) -> None:
        if isinstance(node.base, nodes.Name):
            self._array(function, node.base.name)
        else:
            self.nested = True
            self._mix(function, node.base)

    def _array(self, function: str, name: str) -> None:
        key = self.key(function, name)
        self.arrays.add(key)
        self.names.add(name) if not key[0] else None
        if key[0] or name in SPECIAL_ARRAYS:
            self.mixed_elements.add(key)

    def _mix(self, function: str, node: object) -> None:
        while isinstance(node, nodes.Index):
            node = node.base
        if isinstance(node, nodes.Name):
            self.mixed_elements.add(self.key(function, node.name))

    def _visit_field(self, node: nodes.Field, function: str, in_begin: bool) -> None:
        number = node.number
        if isinstance(number, nodes.Number) and 0 <= number.value < 1000:
            if number.value:
                self.highest_field = max(self.highest_field, int(number.value))
                self._fields()
        else:
            self._fields(every=True)

    def _fields(self, every: bool = False) -> None:
        self.uses_fields = True
        self.all_fields = self.all_fields or every

    def _visit_assign(self, node: nodes.Assign, function: str, in_begin: bool) -> None:
        if node.operator == "=":
            self._target(node.target, function, in_begin, node.value)
        else:
            self._target(node.target, function, in_begin, nodes.Number(0, 0.0))

    def _visit_step(self, node: nodes.Step, function: str, in_begin: bool) -> None:
        self._target(node.target, function, in_begin, nodes.Number(0, 0.0))

    def _target(
        self, target: Node | None, function: str, in_begin: bool, value: Expression | None
    ) -> None:
        """Note that something is assigned: `value`, or text if that is None."""
        if isinstance(target, nodes.Name):
            key = self.key(function, target.name)
            if not key[0] and target.name in SPECIAL_NAMES:
                self.special_assigned.add(target.name)
                if target.name == "NF" or (target.name in _SPLITTERS and not in_begin):
                    self.changes_fields = True
            if value is None:
                self.texts.add(key)
            else:
                self._typed.append((function, value, key, False))
        elif isinstance(target, nodes.Index):
            if isinstance(target.base, nodes.Name) and target.base.name == "ARGV":
                self.changes_operands = True
            if value is None or not isinstance(target.base, nodes.Name):
                self._mix(function, target)
            else:
                key = self.key(function, target.base.name)
                self._typed.append((function, value, key, True))
        elif isinstance(target, nodes.Field):
            if not isinstance(target.number, nodes.Number) or target.number.value != 0:
                self.changes_fields = True
            else:
                self.assigns_record = True

    def _visit_getline(self, node: nodes.Getline, function: str, in_begin: bool) -> None:
        self._target(node.target, function, in_begin, None)

    def _visit_for_in(self, node: flow_nodes.ForIn, function: str, in_begin: bool) -> None:
        self._target(node.variable, function, in_begin, None)
        self._whole_array(node.array, function)

    def _visit_membership(self, node: nodes.Membership, function: str, in_begin: bool) -> None:
        self._whole_array(node.array, function)

    def _whole_array(self, node: object, function: str) -> None:
        if isinstance(node, nodes.Name):
            self._array(function, node.name)
            self.scalars.discard(self.key(function, node.name))

    def _visit_delete(self, node: flow_nodes.Delete, function: str, in_begin: bool) -> None:
        self._whole_array(node.target, function)

    def _visit_call(self, node: nodes.Call, function: str, in_begin: bool) -> None:
        for position in _ARRAY_ARGUMENTS.get(node.name, ()):
            if position < len(node.arguments):
                argument = node.arguments[position]
                if isinstance(argument, nodes.Name):
                    self._array(function, argument.name)
                elif isinstance(argument, nodes.Index):
                    self.nested = True
                self._mix(function, argument)
        if node.name == "typeof":
            self.asks_types = True
        if node.name in ("asort", "asorti") and len(node.arguments) > 2:
            self.indirect = True
        if node.name in ("sub", "gsub"):
            if len(node.arguments) == 3:
                self._target(node.arguments[2], function, in_begin, None)
            else:
                self.assigns_record = True

    def _visit_typed_regex(self, node: nodes.TypedRegex, function: str, in_begin: bool) -> None:
        self.has_typed_regexes = True

    def _visit_user_call(self, node: nodes.UserCall, function: str, in_begin: bool) -> None:
        self._calls.append((function, node.name, node.arguments))
        self.nested = self.nested or any(
            isinstance(argument, nodes.Index) for argument in node.arguments
        )

    def _visit_indirect(self, node: nodes.IndirectCall, function: str, in_begin: bool) -> None:
        self.indirect = self.nested = self.changes_fields = True
        self._fields(every=True)
        for argument in node.arguments:
            self._mix(function, argument)

    def _visit_return(self, node: flow_nodes.Return, function: str, in_begin: bool) -> None:
        if node.value is not None and function:
            self._returns.append((function, node.value))

    # the fixed point

    def _open_all(self) -> None:
        """Note that SYMTAB may read and assign any variable."""
        self.names.update(("ENVIRON", "ARGV", "PROCINFO"))
        self.texts.update(("", name) for name in (*self.names, *SPECIAL_NAMES))
        self.mixed_elements.update(key for key in self.arrays if not key[0])
        self.special_assigned |= SPECIAL_NAMES
        self.nested = self.changes_fields = self.changes_operands = True
        self._fields(every=True)

    def _settle(self) -> None:
        if "SYMTAB" in self.names:
            self._open_all()
        if self.changes_operands:
            self.texts.update(("", name) for name in self.names)
        if self.indirect or "PROCINFO" in self.names:  # whose "sorted_in" may name a function
            for function in self.functions.values():
                self.text_functions.add(function.name)
                self.texts.update((function.name, parameter) for parameter in function.parameters)
        while True:
            before = self._size()
            self.budget.step(len(self._typed) + len(self._returns))
            for caller, name, arguments in self._calls:
                self.budget.step(len(arguments) + 1)
                self._settle_call(caller, name, arguments)
            for scope, value, key, is_element in self._typed:
                if not self.is_numeric(scope, value):
                    (self.mixed_elements if is_element else self.texts).add(key)
            for returning, result in self._returns:
                if not self.is_numeric(returning, result):
                    self.text_functions.add(returning)
            if before == self._size():
                return

    def _size(self) -> int:
        """Return how much is known; the fixed point only ever adds."""
        keys = len(self.arrays) + len(self.mixed_elements) + len(self.texts)
        return keys + len(self.text_functions)

    def _settle_call(self, caller: str, name: str, arguments: list[Expression]) -> None:
        function = self.functions.get(name)
        if function is None:
            return
        for parameter, argument in zip(function.parameters, arguments, strict=False):
            target: Key = (name, parameter)
            if isinstance(argument, nodes.Name):
                key = self.key(caller, argument.name)
                if target in self.arrays:
                    self._array(caller, argument.name)
                elif key in self.arrays or argument.name in SPECIAL_ARRAYS:
                    self.arrays.add(target)
                if key in self.arrays:
                    self.mixed_elements.add(key)
            if isinstance(argument, nodes.Index):
                self._mix(caller, argument)
            if not self.is_numeric(caller, argument):
                self.texts.add(target)


_VISITS: dict[str, Callable[[Scopes, Any, str, bool], None]] = {
    "Name": Scopes._visit_name,
    "Index": Scopes._visit_index,
    "Field": Scopes._visit_field,
    "Assign": Scopes._visit_assign,
    "Step": Scopes._visit_step,
    "Getline": Scopes._visit_getline,
    "ForIn": Scopes._visit_for_in,
    "Membership": Scopes._visit_membership,
    "Delete": Scopes._visit_delete,
    "Call": Scopes._visit_call,
    "UserCall": Scopes._visit_user_call,
    "Return": Scopes._visit_return,
    "IndirectCall": Scopes._visit_indirect,
    "TypedRegex": Scopes._visit_typed_regex,
}
"""What notes the uses of each kind of node, by the name of its class."""
