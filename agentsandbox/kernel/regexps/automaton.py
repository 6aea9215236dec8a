"""A lazy deterministic automaton, for patterns that a backtracking matcher must not run.

It takes linear time and finds the longest match. A pattern becomes a program of *places*
(Thompson's construction): a place reads a character of a set, splits, asserts, or accepts. A state
of the automaton is a set of places and the kind of the last character (edge of the text, newline,
word character, other). The kind is part of the state because of assertions such as \b and ^: they
look at both sides, so whether a match has ended (`hit`) is known one character later.

States are made when they are first needed (`_Machine.follow`), and all are dropped when there
are too many. Two characters that are in the same sets and of the same kind have the same next
state.

A match is found in three passes: `_exists` tells whether there is one, the program read backwards
marks all places where a match begins (`_mark`), and `_forwards` finds the longest end from the
first of them.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.regexps.parser import RegexError
from agentsandbox.kernel.regexps.translate import set_source
from agentsandbox.kernel.regexps.tree import (
    MAX_PLACES,
    Alternation,
    Assertion,
    CharSet,
    Concatenation,
    Group,
    Node,
    Repeat,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.accounts import Marks, Scale
    from agentsandbox.kernel.budget import Budget

_MAX_ITEMS = 400_000
"""The number of places in all states together at which they are dropped."""
_TRANSITION = 3
"""The places that take as much memory as one transition."""
_ITEM_BYTES = 60
_CHUNK = 4096
_MOST_MARKED, _MARKED = 4, 1 << 22
"""Texts whose matches are known at the same time, and their characters together."""

_EDGE, _NEWLINE, _WORD, _OTHER = range(4)
_KINDS = {"\n": _NEWLINE, "_": _WORD}

_SET, _SPLIT, _ASSERT, _ACCEPT = range(4)


def _kind(character: str) -> int:
    return _KINDS.get(character) or (_WORD if character.isalnum() else _OTHER)


class _Program:
    """The places of a pattern, forwards or backwards: (operation, argument, next places)."""

    def __init__(self, backwards: bool) -> None:
        self.backwards = backwards
        self.operations: list[tuple[int, int | str, tuple[int, ...]]] = [(_ACCEPT, 0, ())]
        self.sets: dict[str, int] = {}
        self.tests: list[re.Pattern[str]] = []
        self.flags = 0
        self.bytewise = False

    def add(self, operation: int, argument: int | str, following: tuple[int, ...]) -> int:
        if len(self.operations) > 3 * MAX_PLACES:
            raise RegexError("Regular expression too big")
        self.operations.append((operation, argument, following))
        return len(self.operations) - 1

    def write(self, node: Node, following: int) -> int:
        """Write the places of a node before the place `following`; return its first place."""
        if isinstance(node, CharSet):
            return self.add(_SET, self._set(node), (following,))
        if isinstance(node, Group):
            return self.write(node.body, following)
        if isinstance(node, Assertion):
            return self.add(_ASSERT, node.kind, (following,))
        if isinstance(node, Alternation):
            branches = tuple([self.write(branch, following) for branch in node.branches])
            return self.add(_SPLIT, 0, branches)
        if isinstance(node, Concatenation):
            for part in node.parts if self.backwards else reversed(node.parts):
                following = self.write(part, following)
            return following
        assert isinstance(node, Repeat)
        return self._repeat(node, following)

    def _repeat(self, node: Repeat, following: int) -> int:
        if node.most is None:
            loop = self.add(_SPLIT, 0, ())
            body = self.write(node.body, loop)
            self.operations[loop] = (_SPLIT, 0, (body, following))
            if node.least:  # the way into the loop is the first of the copies
                place, least = body, node.least - 1
            else:
                place, least = loop, 0
        else:
            place = following
            for _ in range(node.most - node.least):
                place = self.add(_SPLIT, 0, (self.write(node.body, place), following))
            least = node.least
        for _ in range(least):
            place = self.write(node.body, place)
        return place

    def _set(self, node: CharSet) -> int:
        source = set_source(node, ascii_only=self.bytewise)
        if source not in self.sets:
            self.sets[source] = len(self.tests)
            self.tests.append(re.compile(source, self.flags | (re.ASCII if self.bytewise else 0)))
        return self.sets[source]


class _State(dict[str, "_State"]):
    """A map from characters to next states. `hit`: a match ended before the last character."""

    __slots__ = ("closures", "dead", "hit", "kind", "machine", "places")

    def __init__(self, machine: _Machine, places: frozenset[int], kind: int, hit: bool) -> None:
        super().__init__()
        self.machine = machine
        self.places = places
        self.kind = kind
        self.hit = hit
        self.dead = not places and not machine.searching
        self.closures: dict[int, tuple[tuple[tuple[int, int], ...], bool]] = {}


class _Machine:
    """The states over one program. When `searching`, a match may begin anywhere in the text."""

    def __init__(self, program: _Program, start: int, searching: bool, multiline: bool) -> None:
        self.program = program
        self.start = start
        self.searching = searching
        self.multiline = multiline
        self.states: dict[tuple[frozenset[int], int, bool], _State] = {}
        self.items = 0
        self.members: dict[str, tuple[int, int]] = {}

    def initial(self, kind: int) -> _State:
        """Return the first state, behind a character of `kind`."""
        return self.state(frozenset((self.start,)), kind, hit=False)

    def state(self, places: frozenset[int], kind: int, *, hit: bool) -> _State:
        key = (places, kind, hit)
        found = self.states.get(key)
        if found is None:
            found = self.states[key] = _State(self, places, kind, hit)
            self.items += len(places) + 8
        return found

    def _forget(self) -> None:
        """Drop all states. Those in use are filled again."""
        for state in list(self.states.values()):
            state.clear()
            state.closures.clear()
        self.states.clear()
        self.members.clear()
        self.items = 0

    def follow(self, state: _State, character: str, budget: Budget | None) -> _State:
        """Return the state after one more character; "" is the end of the text."""
        self.items += _TRANSITION
        if self.items > _MAX_ITEMS:
            self._forget()
        member = self.members.get(character)
        if member is None:
            member = self.members[character] = self._classify(character)
        kind, sets = member
        closure = state.closures.get(kind)
        if closure is None:
            closure = state.closures[kind] = self._close(state.places, state.kind, kind, budget)
            self.items += len(closure[0])
        consuming, hit = closure
        if budget is not None:
            budget.step(1 + len(consuming) // 8)
        following = {after for number, after in consuming if sets >> number & 1}
        if self.searching:
            following.add(self.start)
        state[character] = then = self.state(frozenset(following), kind, hit=hit)
        return then

    def end(self, state: _State, budget: Budget | None) -> _State:
        """Return the state behind the end of the text."""
        return state.get("") or self.follow(state, "", budget)

    def _classify(self, character: str) -> tuple[int, int]:
        if not character:
            return _EDGE, 0
        sets = 0
        for number, test in enumerate(self.program.tests):
            if test.match(character):
                sets |= 1 << number
        return _kind(character), sets

    def _close(
        self, places: frozenset[int], last: int, current: int, budget: Budget | None
    ) -> tuple[tuple[tuple[int, int], ...], bool]:
        """Return the reading places between two characters, and whether to accept."""
        before, after = (current, last) if self.program.backwards else (last, current)
        operations = self.program.operations
        seen = set(places)
        pending = list(places)
        consuming: list[tuple[int, int]] = []
        hit = False
        while pending:
            operation, argument, following = operations[pending.pop()]
            if operation == _SET:
                consuming.append((int(argument), following[0]))
            elif operation == _ACCEPT:
                hit = True
            elif operation == _SPLIT or self._holds(str(argument), before, after):
                for place in following:
                    if place not in seen:
                        seen.add(place)
                        pending.append(place)
        if budget is not None:
            budget.step(1 + len(seen) // 8)
        return tuple(consuming), hit

    def _holds(self, kind: str, before: int, after: int) -> bool:
        if kind == "^":
            return before == _EDGE or (self.multiline and before == _NEWLINE)
        if kind == "$":
            return after == _EDGE or (self.multiline and after == _NEWLINE)
        if kind == "`":
            return before == _EDGE
        if kind == "'":
            return after == _EDGE
        inside, following = before == _WORD, after == _WORD
        return {
            "b": inside != following,
            "B": inside == following,
            "<": following and not inside,
            ">": inside and not following,
            "(": not inside,
            ")": not following,
        }[kind]


class Automaton:
    """The search for a pattern without back-references, in time linear in the text."""

    def __init__(self, root: Node, flags: int, multiline: bool, *, bytewise: bool = False) -> None:
        if root.size > MAX_PLACES:
            raise RegexError("Regular expression too big")
        self._root = root
        self._flags = flags
        self._bytewise = bytewise
        self._multiline = multiline
        self._forwards: _Machine | None = None
        self._exists: _Machine | None = None
        self._backwards: _Machine | None = None
        self._marks: list[Marks] = []

    def _machine(self, *, backwards: bool, searching: bool) -> _Machine:
        program = _Program(backwards)
        program.flags = self._flags
        program.bytewise = self._bytewise
        return _Machine(program, program.write(self._root, 0), searching, self._multiline)

    def weigh(self, scale: Scale) -> None:
        for machine in (self._forwards, self._exists, self._backwards):
            if machine is not None:
                scale.total += _ITEM_BYTES * machine.items

    def matches(self, text: str, position: int = 0, budget: Budget | None = None) -> bool:
        """Whether there is a match anywhere from `position` on."""
        machine = self._exists = self._exists or self._machine(backwards=False, searching=True)
        state = machine.initial(_kind(text[position - 1]) if position else _EDGE)
        for start in range(position, len(text), _CHUNK):
            if budget is not None:
                budget.step(4)
            for character in text[start : start + _CHUNK]:
                try:
                    state = state[character]
                except KeyError:
                    state = machine.follow(state, character, budget)
                if state.hit:
                    return True
        return machine.end(state, budget).hit

    def longest(self, text: str, position: int, budget: Budget | None = None) -> int:
        """Return the end of the longest match that begins at `position`, or -1."""
        machine = self._forwards = self._forwards or self._machine(backwards=False, searching=False)
        state = machine.initial(_kind(text[position - 1]) if position else _EDGE)
        best = -1
        here = position
        for start in range(position, len(text), _CHUNK):
            if budget is not None:
                budget.step(4)
            for character in text[start : start + _CHUNK]:
                try:
                    state = state[character]
                except KeyError:
                    state = machine.follow(state, character, budget)
                if state.hit:
                    best = here
                if state.dead:
                    return best
                here += 1
        return len(text) if machine.end(state, budget).hit else best

    def find(
        self, text: str, position: int, budget: Budget | None = None
    ) -> tuple[int, int] | None:
        """Return the leftmost-longest match from `position` on.

        The places where matches begin are kept for the next call.
        """
        known = self._marks if budget is None else budget.accounts.marks
        entry = next((each for each in known if each[0] is self and each[1] is text), None)
        if entry is None:
            if not self.matches(text, position, budget):
                return None
            entry = (self, text, self._mark(text, budget))
            known.append(entry)
            while len(known) > 1 and (
                len(known) > _MOST_MARKED or sum(len(each[1]) for each in known) > _MARKED
            ):
                del known[0]
        start = entry[2].find(1, position)
        if start < 0:
            if entry in known:
                known.remove(entry)
            return None
        return start, self.longest(text, start, budget)

    def _mark(self, text: str, budget: Budget | None) -> bytearray:
        """Mark every place where a match begins, in one pass from the end."""
        machine = self._backwards = self._backwards or self._machine(backwards=True, searching=True)
        starts = bytearray(len(text) + 1)
        state = machine.initial(_EDGE)
        place = len(text)
        for stop in range(len(text), 0, -_CHUNK):
            if budget is not None:
                budget.step(4)
            for character in reversed(text[max(0, stop - _CHUNK) : stop]):
                try:
                    state = state[character]
                except KeyError:
                    state = machine.follow(state, character, budget)
                if state.hit:
                    starts[place] = 1
                place -= 1
        if machine.end(state, budget).hit:
            starts[0] = 1
        return starts
