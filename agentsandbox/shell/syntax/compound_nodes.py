"""The syntax tree of compound commands: loops, choices, coprocesses and [[ … ]] (see `nodes`)."""

from __future__ import annotations

from agentsandbox.shell.syntax.nodes import PLACES, Command, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.syntax.nodes import Redirection, Word


class If(Command):
    """if/elif clauses as (condition, body), and the body of else."""

    __slots__ = ("clauses", "line", "otherwise", "redirections")

    def __init__(
        self,
        clauses: tuple[tuple[Command, Command], ...],
        otherwise: Command | None,
        redirections: tuple[Redirection, ...] = (),
        line: int = 0,
    ) -> None:
        self.clauses = clauses
        self.otherwise = otherwise
        self.redirections = redirections
        self.line = line


class While(Command):
    """while, or until."""

    __slots__ = ("body", "condition", "line", "redirections", "until")

    def __init__(
        self,
        condition: Command,
        body: Command,
        until: bool,
        redirections: tuple[Redirection, ...] = (),
        line: int = 0,
    ) -> None:
        self.condition = condition
        self.body = body
        self.until = until
        self.redirections = redirections
        self.line = line


class For(Command):
    """for name in words; `words` is None for the positional parameters."""

    __slots__ = ("body", "line", "name", "redirections", "words")

    def __init__(
        self,
        name: str,
        words: tuple[Word, ...] | None,
        body: Command,
        redirections: tuple[Redirection, ...] = (),
        line: int = 0,
    ) -> None:
        self.name = name
        self.words = words
        self.body = body
        self.redirections = redirections
        self.line = line


class Select(For):
    """select name in words"""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is Select and all(
            getattr(self, name) == getattr(other, name)
            for name in For.__slots__
            if name not in PLACES
        )

    __hash__ = None  # type: ignore[assignment]


class ArithmeticFor(Command):
    """for ((start; condition; step))"""

    __slots__ = ("body", "condition", "line", "redirections", "start", "step")
    has_line = True

    def __init__(
        self,
        start: Word,
        condition: Word,
        step: Word,
        body: Command,
        redirections: tuple[Redirection, ...] = (),
        line: int = 0,
    ) -> None:
        self.start = start
        self.condition = condition
        self.step = step
        self.body = body
        self.redirections = redirections
        self.line = line


class CaseClause(Node):
    """(patterns) body terminator: ";;", ";&" or ";;&"."""

    __slots__ = ("body", "patterns", "terminator")

    def __init__(self, patterns: tuple[Word, ...], body: Command | None, terminator: str) -> None:
        self.patterns = patterns
        self.body = body
        self.terminator = terminator


class Case(Command):
    """case word in clauses esac"""

    __slots__ = ("clauses", "line", "redirections", "word")

    def __init__(
        self,
        word: Word,
        clauses: tuple[CaseClause, ...],
        redirections: tuple[Redirection, ...] = (),
        line: int = 0,
    ) -> None:
        self.word = word
        self.clauses = clauses
        self.redirections = redirections
        self.line = line


class Coproc(Command):
    """coproc [name] command"""

    __slots__ = ("body", "line", "name")

    def __init__(self, name: str, body: Command, line: int = 0) -> None:
        self.name = name
        self.body = body
        self.line = line


# [[ … ]]


class CondTest(Node):
    """A condition inside [[ ]]."""

    __slots__ = ()


class CondWord(CondTest):
    """A word alone: true when not empty."""

    __slots__ = ("word",)

    def __init__(self, word: Word) -> None:
        self.word = word


class CondUnary(CondTest):
    """-f file and the like."""

    __slots__ = ("operand", "operator")

    def __init__(self, operator: str, operand: Word) -> None:
        self.operator = operator
        self.operand = operand


class CondBinary(CondTest):
    """left == right and the like; the right side of == != =~ keeps its quoting."""

    __slots__ = ("left", "operator", "right")

    def __init__(self, operator: str, left: Word, right: Word) -> None:
        self.operator = operator
        self.left = left
        self.right = right


class CondGroup(CondTest):
    """A test in parentheses."""

    __slots__ = ("test",)

    def __init__(self, test: CondTest) -> None:
        self.test = test


class CondNot(CondTest):
    """! test"""

    __slots__ = ("test",)

    def __init__(self, test: CondTest) -> None:
        self.test = test


class CondAnd(CondTest):
    """left && right"""

    __slots__ = ("left", "right")

    def __init__(self, left: CondTest, right: CondTest) -> None:
        self.left = left
        self.right = right


class CondOr(CondTest):
    """left || right"""

    __slots__ = ("left", "right")

    def __init__(self, left: CondTest, right: CondTest) -> None:
        self.left = left
        self.right = right


class Conditional(Command):
    """[[ test ]]"""

    __slots__ = ("line", "redirections", "test")
    has_line = True

    def __init__(
        self, test: CondTest, redirections: tuple[Redirection, ...] = (), line: int = 0
    ) -> None:
        self.test = test
        self.redirections = redirections
        self.line = line
