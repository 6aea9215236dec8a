"""Plans: compiled texts with slots at the places of words that are data (see `shapes`)."""

from __future__ import annotations

from operator import itemgetter

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.interpreter.dispatch import compile_command
from agentsandbox.shell.syntax.compound_nodes import For, If, While
from agentsandbox.shell.syntax.nodes import (
    AndOr,
    Assignment,
    Command,
    CommandList,
    Group,
    HereDocument,
    Pipeline,
    Redirection,
    SimpleCommand,
    Slot,
    Word,
)
from agentsandbox.shell.syntax.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.shell.interpreter.shell import Run

_BEGIN, _END = "\ue000", "\ue001"
"""Characters of private use around the place of a word in the list of all: a mark. No text that
gets a plan holds the first."""
_MARK = lazily("\ue000([0-9]+)\ue001")
_FILES = frozenset(("<", ">", ">>", ">|", "&>", "&>>"))
"""Redirections whose word is the name of a file."""
_PREFIXES = frozenset(("command", "builtin"))
"""Commands whose argument is a name that decides how the others are compiled."""


class Plan:
    """What texts of one shape were compiled to, like a `Program`.

    units     a closure for each complete command
    slots     places of words in the list of all words that the closures take from `Shell.slots`
    fixed     returns the other words from such a list; None if there are none
    expected  what `fixed` returns for each text that the plan holds for
    """

    __slots__ = ("error", "expected", "fixed", "slots", "units", "warnings")

    def __init__(self, units: Sequence[Run], slots: set[int], words: Sequence[str]) -> None:
        self.units = units
        self.error = None
        self.warnings: Sequence[tuple[int, str]] = ()
        self.slots = slots
        fixed = [place for place in range(len(words)) if place not in slots]
        self.fixed: Callable[[Sequence[str]], object] | None = itemgetter(*fixed) if fixed else None
        self.expected = None if self.fixed is None else self.fixed(words)


def make_plan(
    rest: Sequence[str], reading: tuple[bool, bool, int], words: Sequence[str], wanted: set[int]
) -> Plan | None:
    """Return a plan with slots for the wanted words, as far as they are data; None if none is.

    rest     what is between the words
    reading  what the parser depends on (see `Shape`)
    """
    if _BEGIN in "".join(_pieces(rest, words)):
        return None
    while wanted:
        marked = [
            f"{_BEGIN}{place}{_END}" if place in wanted else word
            for place, word in enumerate(words)
        ]
        tree = _Tree()
        try:
            units = tree.read("".join(_pieces(rest, marked)), *reading)
        except ShellSyntaxError:
            return None
        if units is None:
            return None
        if tree.slots == wanted:
            return Plan([compile_command(unit) for unit in units], wanted, words)
        wanted = tree.slots
    return None


def _pieces(rest: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the pieces of a text in their order."""
    return [piece for pair in zip(rest, (*words, ""), strict=True) for piece in pair]


class _Tree:
    """Reads a text with marks and replaces those that are data by slots.

    slots   the places whose marks became slots
    """

    __slots__ = ("slots",)

    def __init__(self) -> None:
        self.slots: set[int] = set()

    def read(self, text: str, extglob: bool, pairs_quotes: bool, line: int) -> list[Command] | None:
        """Return the complete commands of a text, None if the parser warns of something.

        Raise `ShellSyntaxError`.
        """
        parser = Parser(text, first_line=line, extglob=extglob)
        parser.pairs_quotes = pairs_quotes
        units: list[Command] = []
        while (unit := parser.next_command()) is not None:
            units.append(self._command(unit))
        return None if parser.warnings else units

    def _command(self, node: Command) -> Command:
        """Return a command with slots; commands that have their own way with words stay."""
        rebuild = _REBUILD.get(type(node))
        return node if rebuild is None else rebuild(self, node)

    def _word(self, word: Word) -> Word:
        """Return a slot for a word that is one mark."""
        match = _MARK.fullmatch(word.source)
        if match is None:
            return word
        number = int(match[1])
        self.slots.add(number)
        slot = Word((Slot(number),), f"\0{number}\0")
        slot.constant = None
        return slot

    def _simple(self, node: SimpleCommand) -> Command:
        if node.spans or not (node.words or node.assignments):
            return node
        if node.words and node.words[0].source in _PREFIXES:
            return node
        if any(isinstance(each.target, HereDocument) for each in node.redirections):
            return node
        assignments = tuple(map(self._assignment, node.assignments))
        words = tuple(
            [
                self._word(word) if number and isinstance(word, Word) else word
                for number, word in enumerate(node.words)
            ]
        )
        return SimpleCommand(assignments, words, self._redirections(node), node.line)

    def _assignment(self, node: Assignment) -> Assignment:
        if not isinstance(node.value, Word):
            return node
        value = self._word(node.value)
        if value is node.value:
            return node
        source = node.source.removesuffix(node.value.source) + value.source
        return Assignment(node.name, value, node.subscript, node.append, source)

    def _redirections(self, node: Command) -> tuple[Redirection, ...]:
        return tuple(map(self._redirection, node.redirections))

    def _redirection(self, node: Redirection) -> Redirection:
        if node.operator not in _FILES or isinstance(node.target, HereDocument):
            return node
        target = self._word(node.target)
        return Redirection(node.operator, target, node.descriptor, node.variable, node.line)

    def _pipeline(self, node: Pipeline) -> Command:
        commands = tuple(map(self._command, node.commands))
        return Pipeline(commands, node.negated, node.timed, node.line)

    def _and_or(self, node: AndOr) -> Command:
        rest = tuple([(operator, self._command(command)) for operator, command in node.rest])
        return AndOr(self._command(node.first), rest)

    def _list(self, node: CommandList) -> Command:
        return CommandList(tuple(map(self._command, node.commands)))

    def _group(self, node: Group) -> Command:
        return Group(self._command(node.body), self._redirections(node), node.line)

    def _if(self, node: If) -> Command:
        clauses = tuple(
            [(self._command(condition), self._command(body)) for condition, body in node.clauses]
        )
        otherwise = None if node.otherwise is None else self._command(node.otherwise)
        return If(clauses, otherwise, self._redirections(node), node.line)

    def _while(self, node: While) -> Command:
        return While(
            self._command(node.condition),
            self._command(node.body),
            node.until,
            self._redirections(node),
            node.line,
        )

    def _for(self, node: For) -> Command:
        words = None if node.words is None else tuple(map(self._word, node.words))
        return For(node.name, words, self._command(node.body), self._redirections(node), node.line)


_REBUILD: dict[type[Command], Callable[[_Tree, Command], Command]] = {
    AndOr: _Tree._and_or,  # type: ignore[dict-item]
    CommandList: _Tree._list,  # type: ignore[dict-item]
    For: _Tree._for,  # type: ignore[dict-item]
    Group: _Tree._group,  # type: ignore[dict-item]
    If: _Tree._if,  # type: ignore[dict-item]
    Pipeline: _Tree._pipeline,  # type: ignore[dict-item]
    SimpleCommand: _Tree._simple,  # type: ignore[dict-item]
    While: _Tree._while,  # type: ignore[dict-item]
}
"""How a command with slots is made of one with marks: only commands of these kinds hold slots."""
