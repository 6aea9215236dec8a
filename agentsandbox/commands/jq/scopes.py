"""Names: what is visible at a place of the program, and the names that nothing has."""

from __future__ import annotations

from agentsandbox.commands.jq.code import Code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.nodes import Parameter


class Scope:
    """Names visible at one place of the program; `size` is the length of the environment there.

    A name is "$x", "f/2" or, for a label, "*out"; what it stands for is a place in the environment,
    a `Function` or a `Constant`.
    """

    __slots__ = ("entry", "name", "parent", "size")

    def __init__(
        self, size: int = 0, parent: Scope | None = None, name: str = "", entry: object = None
    ) -> None:
        self.size = size
        self.parent = parent
        self.name = name
        self.entry = entry

    def variable(self, name: str) -> Scope:
        """A scope with one variable more."""
        return Scope(self.size + 1, self, "$" + name, self.size)

    def closure(self, name: str) -> Scope:
        """A scope with one closure parameter more."""
        return Scope(self.size + 1, self, name + "/0", self.size)

    def label(self, name: str) -> Scope:
        """A scope with one label more; its token is in the environment."""
        return Scope(self.size + 1, self, "*" + name, self.size)

    def define(self, name: str, entry: object) -> Scope:
        """A scope with one function, alias or constant more; the environment stays as it is."""
        return Scope(self.size, self, name, entry)

    def find(self, name: str) -> object:
        """What a name stands for, None if it is not visible."""
        scope: Scope | None = self
        while scope is not None:
            if scope.name == name:
                return scope.entry
            scope = scope.parent
        return None


class Function:
    """A function of the program: how many variables are in scope where it is defined, and its
    body.
    """

    __slots__ = (
        "body",
        "compiling",
        "depth",
        "grows",
        "level",
        "parameters",
        "single",
        "tail_called",
    )

    def __init__(self, depth: int, parameters: list[Parameter], level: Level) -> None:
        self.depth = depth
        self.parameters = parameters
        self.level = level
        self.body = Code(many=lambda value, environment: ())
        self.compiling = False
        self.single = False
        """Whether a recursive function is taken to have one output at most, while its body is being
        compiled."""
        self.tail_called = False
        self.grows = False
        """Whether a tail call makes a closure over the one before, so that going round the loop
        uses memory."""


class Constant:
    """A variable whose value is known: --arg, $ENV, imported data."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Level:
    """The names that nothing has in one function, and the functions in it: those of a function hide
    those further inside.
    """

    __slots__ = ("inside", "is_used", "outer", "reports")

    def __init__(self, outer: Level | None, *, is_used: bool = True) -> None:
        self.outer = outer
        self.is_used = is_used
        self.reports: list[tuple[str, int, int]] = []
        self.inside: list[Level] = []
        if outer is not None:
            outer.inside.append(self)

    def use(self, caller: Level) -> None:
        """Note that it is called, unless it calls itself."""
        level: Level | None = caller
        while level is not None:
            if level is self:
                return
            level = level.outer
        self.is_used = True

    def found(self) -> list[tuple[str, int, int]]:
        """What is reported: its own, or else those of the functions inside that are used."""
        if self.reports:
            return self.reports
        return list(
            dict.fromkeys(
                report for level in self.inside if level.is_used for report in level.found()
            )
        )
