"""The grammar of `find` expressions: from words to one closure.

A stack of groups holds the open parentheses, so that no input can nest too deeply for the parser. A
group is a list (",") of alternatives ("-o") of conjunctions ("-a") of operands. When it closes, it
becomes one closure; the depth of closures within closures is limited (`MAX_DEPTH`).

Tests of names and types only (`EntryTest`) are joined to one such test where possible. If the whole
expression is one `EntryPrinter` in the end, `search` handles many names at once.
"""

from __future__ import annotations

import os

from agentsandbox.commands._files.names import quote
from agentsandbox.commands.find.predicates import Predicates
from agentsandbox.commands.find.tests import (
    BadArgumentError,
    EntryPrinter,
    EntryTest,
    all_entries,
    any_name,
)
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands.find.search import Search
    from agentsandbox.commands.find.visits import Test, Visit

_AND = frozenset(("-a", "-and"))
_OR = frozenset(("-o", "-or"))
_NOT = frozenset(("!", "-not"))
_DASHED = {"-(": "(", "-)": ")", "-!": "!", "-,": ","}
"""Operators with a hyphen before them, as the other operators have one."""
MAX_DEPTH = 100
"""The deepest nesting of closures."""


def starts_expression(word: str, *, leading: bool) -> bool:
    """Whether a word begins the expression, and is not a starting point."""
    if word[:1] == "-":
        return len(word) > 1
    if word in (")", ","):
        return not leading
    return word in ("(", "!")


class _Node:
    """A compiled part of the expression, and the depth of its nested calls."""

    __slots__ = ("depth", "test")

    def __init__(self, test: Test, depth: int) -> None:
        self.test = test
        self.depth = depth


class _Group:
    """The contents of one pair of parentheses."""

    __slots__ = ("lists", "negated", "outer_negated")

    def __init__(self, outer_negated: bool) -> None:
        self.outer_negated = outer_negated
        self.lists: list[list[list[_Node]]] = [[[]]]
        self.negated = False

    def add(self, node: _Node) -> None:
        """Add an operand, negated if "!" precedes it."""
        if self.negated:
            node = _Node(_negated(node.test), node.depth + 1)
            self.negated = False
        self.lists[-1][-1].append(node)

    def close(self) -> _Node:
        """Return the whole group as one operand."""
        lists = [[_all(each) for each in alternatives] for alternatives in self.lists]
        return _in_turn([_any(alternatives) for alternatives in lists])


def _deeper(nodes: Sequence[_Node]) -> int:
    depth = 1 + max(node.depth for node in nodes)
    if depth > MAX_DEPTH:
        raise CommandError("the expression nests too deeply")
    return depth


def _negated(test: Test) -> Test:
    if isinstance(test, EntryTest) and test.kinds is None and (matches := test.matches) is not None:
        return EntryTest(lambda name: not matches(name))
    return lambda visit: not test(visit)


def _all(nodes: list[_Node]) -> _Node:
    if len(nodes) == 1:
        return nodes[0]
    depth = _deeper(nodes)
    tests = [node.test for node in nodes]
    *before, last = tests
    entries = [test for test in before if isinstance(test, EntryTest)]
    if len(entries) == len(before):
        if isinstance(last, EntryTest):
            return _Node(all_entries([*entries, last]), depth)
        if isinstance(last, EntryPrinter):
            entry = all_entries([*entries, last.test])
            return _Node(EntryPrinter(entry, last.output, last.end), depth)
    if len(nodes) == 2:
        first, second = tests
        return _Node(lambda visit: first(visit) and second(visit), depth)

    def test(visit: Visit) -> bool:
        for each in tests:  # noqa: SIM110 (the fastest form)
            if not each(visit):
                return False
        return True

    return _Node(test, depth)


def _any(nodes: list[_Node]) -> _Node:
    if len(nodes) == 1:
        return nodes[0]
    tests = [node.test for node in nodes]
    matchers = [
        test.matches
        for test in tests
        if isinstance(test, EntryTest) and test.kinds is None and test.matches is not None
    ]
    if len(matchers) == len(tests):
        return _Node(any_name(matchers), _deeper(nodes))

    def test(visit: Visit) -> bool:
        for each in tests:  # noqa: SIM110 (the fastest form)
            if each(visit):
                return True
        return False

    return _Node(test, _deeper(nodes))


def _in_turn(nodes: list[_Node]) -> _Node:
    if len(nodes) == 1:
        return nodes[0]
    *tests, last = [node.test for node in nodes]

    def test(visit: Visit) -> bool:
        for each in tests:
            each(visit)
        return last(visit)

    return _Node(test, _deeper(nodes))


class _Parser:
    """A reader of words.

    While `expects` is set, an operand must come next; `previous` is the operator before it.
    """

    def __init__(self, search: Search, words: Sequence[str]) -> None:
        self.search = search
        self.predicates = Predicates(search, words)
        self.groups = [_Group(outer_negated=False)]
        self.previous = ""
        self.expects = True

    def parse(self) -> Test:
        predicates = self.predicates
        while (word := predicates.next_word()) is not None:
            self.search.ctx.budget.step()
            if not starts_expression(word, leading=False):
                self._complain_of_path(word)
            self._read(word)
        self._check_end()
        if not self.groups[0].lists[0][0]:
            return self._with_print(None)
        node = self.groups[0].close()
        return node.test if predicates.acts else self._with_print(node.test)

    def _with_print(self, test: Test | None) -> Test:
        write = self.search.stdout.write
        if test is None or isinstance(test, EntryTest):
            return EntryPrinter(test or EntryTest(), self.search.stdout)

        def printing(visit: Visit) -> bool:
            if test(visit):
                write(visit.path + "\n")
            return True

        return printing

    def _read(self, word: str) -> None:
        group = self.groups[-1]
        operator = _DASHED.get(word, word)
        if operator == "(":
            self.groups.append(_Group(group.negated))
            group.negated = False
            self._now_expects(word)
        elif operator == ")":
            self._close(word)
        elif operator in _NOT:
            group.negated = not group.negated
            self._now_expects(word)
        elif operator in _AND or operator in _OR or operator == ",":
            if self.expects:
                used = f"you have used a binary operator '{word}' with nothing before it."
                raise CommandError(f"invalid expression; {used}")
            if operator in _OR:
                group.lists[-1].append([])
            elif operator == ",":
                group.lists.append([[]])
            self._now_expects(word)
        else:
            group.add(_Node(self._primary(word), 1))
            self.expects = False

    def _now_expects(self, word: str) -> None:
        self.previous = word
        self.expects = True

    def _primary(self, word: str) -> Test:
        predicates = self.predicates
        start = predicates.position
        try:
            return predicates.compile(word)
        except BadArgumentError:
            message = f"invalid argument `{predicates.words[start]}' to `{word}'"
            raise CommandError(message) from None
        except OSError as error:
            message = f"{quote(predicates.words[start])}: {os.strerror(error.errno or 5)}"
            raise CommandError(message) from None

    def _close(self, word: str) -> None:
        if self.expects and not self.previous:
            before = f"expected expression before closing parentheses '{word}'."
            raise CommandError(f"invalid expression: {before}")
        if self.expects and self.previous in ("(", "-("):
            raise CommandError("invalid expression; empty parentheses are not allowed.")
        if self.expects and self.previous:
            raise CommandError(f"expected an expression between '{self.previous}' and ')'")
        if len(self.groups) == 1:
            raise CommandError("you have too many ')'")
        group = self.groups.pop()
        outer = self.groups[-1]
        outer.negated = group.outer_negated
        outer.add(group.close())
        self.expects = False

    def _check_end(self) -> None:
        if self.expects and self.previous in ("(", "-("):
            raise CommandError(
                "invalid expression; expected to find a ')' but didn't see one. Perhaps you need "
                f"an extra predicate after '{self.previous}'"
            )
        if self.expects and self.previous:
            if self.predicates.acts:
                raise CommandError("invalid expression")
            raise CommandError(f"expected an expression after '{self.previous}'")
        if len(self.groups) > 1:
            raise CommandError(
                "invalid expression; I was expecting to find a ')' somewhere but did not see one."
            )

    def _complain_of_path(self, word: str) -> None:
        message = f"paths must precede expression: `{word}'"
        last = self.predicates.last
        if last and word and self.search.ctx.fs.exists(self.search.ctx.path(word), follow=False):
            hint = f"possible unquoted pattern after predicate `{last}'?"
            message += f"\n{self.search.ctx.name}: {hint}"
        raise CommandError(message)


def parse_expression(search: Search, words: Sequence[str]) -> Test:
    """Return the compiled expression."""
    return _Parser(search, words).parse()
