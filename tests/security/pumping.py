"""How the work of a regular expression grows, counted in steps, not in seconds.

`re` backtracks: after a failure it tries every other way to divide the text among the quantifiers.
Two neighbouring quantifiers whose classes overlap (`\\s*\\s*x`) divide n blanks in n ways, nested ones
(`(a+)+x`) in 2^n, and a search that begins with a quantifier (`\\s+$`) tries n beginnings. No clock
can stop it: the whole match is one call into C.

The text that shows it is made from the pattern itself:

  prefix   a text that leads up to a quantifier
  unit     a text that the quantified part matches, many times; also with the prefix before each,
           as a search may begin at each of them
  suffix   something after which the rest cannot match

`steps` runs the pattern's own tree (as `re` parses it) on a small backtracking machine that counts what
it does, so the result is the same on a busy machine. The machine takes the ways in the order of `re`.
Its few departures do not change how the count grows: bounds of repetition above `MANY` count as no
bound, and what `re` skips ahead of a search (literal prefixes) is not skipped.

`worst` pumps every quantifier of a pattern at three lengths, each twice the one before, and returns by
what the second difference exceeds the first: 2 for linear work, 4 for quadratic, 8 for cubic, more for
exponential. (Quotients of the counts themselves would hide a small quadratic part in a large linear one.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MANY = 12
"""Bounds above this count as no bound."""

LENGTHS = (14, 28, 56)
"""How often a unit is repeated. Bounds up to `MANY` have no influence any more."""

MOST_STEPS = 100_000
"""A run of more steps has exploded."""

STEEP = 2.5
"""Growth above this is more than linear."""

Test = Callable[[str], bool]


class TooManySteps(Exception):
    """The pattern took more than `MOST_STEPS`."""


class Compiler:
    """Compile a tree of `re` to instructions."""

    def __init__(self, flags: int) -> None:
        self.flags = flags
        self.marks = 0

    def program(self, tree: Any) -> list[tuple[Any, ...]]:
        code: list[tuple[Any, ...]] = []
        self.sequence(tree, code)
        code.append(("accept",))
        return code

    def sequence(self, items: Any, code: list[tuple[Any, ...]]) -> None:
        for operation, argument in items:
            getattr(self, f"on_{str(operation).lower()}")(argument, code)

    def one(self, operation: Any, argument: Any) -> Test | None:
        """Return the test of an item that matches exactly one character, or None."""
        if operation in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
            return test_of(operation, argument, self.flags)
        return None

    def on_literal(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        code.append(("test", test_of(codes.LITERAL, argument, self.flags)))

    def on_not_literal(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        code.append(("test", test_of(codes.NOT_LITERAL, argument, self.flags)))

    def on_any(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        code.append(("test", test_of(codes.ANY, argument, self.flags)))

    def on_in(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        code.append(("test", test_of(codes.IN, argument, self.flags)))

    def on_at(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        code.append(("at", argument, bool(self.flags & re.MULTILINE)))

    def on_branch(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        _, branches = argument
        ends = []
        for number, branch in enumerate(branches):
            if number < len(branches) - 1:
                split = len(code)
                code.append(())
                self.sequence(branch, code)
                ends.append(len(code))
                code.append(())
                code[split] = ("split", split + 1, len(code))
            else:
                self.sequence(branch, code)
        for end in ends:
            code[end] = ("jump", len(code))

    def on_subpattern(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        group, added, removed, inner = argument
        flags, self.flags = self.flags, (self.flags | added) & ~removed
        if group is not None:
            code.append(("save", 2 * group))
        self.sequence(inner, code)
        if group is not None:
            code.append(("save", 2 * group + 1))
        self.flags = flags

    def on_groupref(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        code.append(("same", argument))

    def on_groupref_exists(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        _, yes, no = argument
        self.on_branch((None, [yes, no or []]), code)

    def on_atomic_group(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        code.append(("atomic", self.program(argument)))

    def on_assert(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        direction, inner = argument
        code.append(("look", direction, False, self.program(inner), width(inner)))

    def on_assert_not(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        direction, inner = argument
        code.append(("look", direction, True, self.program(inner), width(inner)))

    def on_max_repeat(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        self.repeat(argument, code, lazy=False)

    def on_min_repeat(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        self.repeat(argument, code, lazy=True)

    def on_possessive_repeat(self, argument: Any, code: list[tuple[Any, ...]]) -> None:
        inner: list[tuple[Any, ...]] = []
        self.repeat(argument, inner, lazy=False)
        inner.append(("accept",))
        code.append(("atomic", inner))

    def repeat(self, argument: Any, code: list[tuple[Any, ...]], *, lazy: bool) -> None:
        low, high, inner = argument
        unbounded = high is codes.MAXREPEAT or high > MANY
        for _ in range(min(low, MANY)):
            self.sequence(inner, code)
        if unbounded:
            mark = self.marks
            self.marks += 1
            split = len(code)
            code.append(())
            code.append(("mark", mark))
            self.sequence(inner, code)
            code.append(("moved", mark))
            code.append(("jump", split))
            ways = (split + 1, len(code))
            code[split] = ("split", *(reversed(ways) if lazy else ways))
        else:
            splits = []
            for _ in range(high - low):
                splits.append(len(code))
                code.append(())
                self.sequence(inner, code)
            for split in splits:
                ways = (split + 1, len(code))
                code[split] = ("split", *(reversed(ways) if lazy else ways))


def width(inner: Any) -> int:
    return int(inner.getwidth()[0]) if hasattr(inner, "getwidth") else 0


def test_of(operation: Any, argument: Any, flags: int) -> Test:
    """Return the test of one character that an item of the tree makes, as `re` makes it."""
    ignore = bool(flags & re.IGNORECASE)

    def equal(value: int) -> Test:
        wanted = chr(value)
        if ignore:
            return lambda character: character.lower() == wanted.lower()
        return lambda character: character == wanted

    if operation is codes.LITERAL:
        return equal(argument)
    if operation is codes.NOT_LITERAL:
        same = equal(argument)
        return lambda character: not same(character)
    if operation is codes.ANY:
        if flags & re.DOTALL:
            return lambda character: True
        return lambda character: character != "\n"
    negated = False
    tests: list[Test] = []
    for kind, value in argument:
        if kind is codes.NEGATE:
            negated = True
        elif kind is codes.LITERAL:
            tests.append(equal(value))
        elif kind is codes.RANGE:
            tests.append(in_range(*value, ignore=ignore))
        else:
            tests.append(of_category(value, ascii_only=bool(flags & re.ASCII)))
    if negated:
        return lambda character: not any(test(character) for test in tests)
    return lambda character: any(test(character) for test in tests)


def in_range(low: int, high: int, *, ignore: bool) -> Test:
    def test(character: str) -> bool:
        forms = {character, character.lower(), character.upper()} if ignore else {character}
        return any(len(form) == 1 and low <= ord(form) <= high for form in forms)

    return test


CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w", codes.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def of_category(category: Any, *, ascii_only: bool) -> Test:
    pattern = re.compile(CATEGORIES[category], re.ASCII if ascii_only else 0)
    return lambda character: pattern.match(character) is not None


@dataclass
class Machine:
    """Runs a program on a text and counts."""

    text: str
    steps: int = 0

    def run(self, code: list[tuple[Any, ...]], start: int, groups: dict[int, int]) -> int | None:
        """Return where the first match from `start` ends, or None."""
        text, size = self.text, len(self.text)
        waiting: list[tuple[int, int, dict[int, int]]] = [(0, start, groups)]
        while waiting:
            at, position, groups = waiting.pop()
            while True:
                self.steps += 1
                if self.steps > MOST_STEPS:
                    raise TooManySteps
                operation, *rest = code[at]
                at += 1
                if operation == "test":
                    if position >= size or not rest[0](text[position]):
                        break
                    position += 1
                elif operation == "split":
                    waiting.append((rest[1], position, groups))
                    at = rest[0]
                elif operation == "jump":
                    at = rest[0]
                elif operation == "accept":
                    return position
                elif operation in ("save", "mark"):
                    key = rest[0] if operation == "save" else -1 - rest[0]
                    groups = {**groups, key: position}
                elif operation == "moved":
                    if groups.get(-1 - rest[0]) == position:
                        break
                else:
                    end = self.check(operation, rest, position, groups)
                    if end is None:
                        break
                    position = end
        return None

    def check(
        self, operation: str, rest: list[Any], position: int, groups: dict[int, int]
    ) -> int | None:
        """Return the position after a group of its own, an assertion or a reference, or None."""
        if operation == "atomic":
            return self.run(rest[0], position, groups)
        if operation == "at":
            return position if self.stands(rest[0], position, lines=rest[1]) else None
        if operation == "same":
            begin, end = groups.get(2 * rest[0]), groups.get(2 * rest[0] + 1)
            if (
                begin is None
                or end is None
                or not self.text.startswith(self.text[begin:end], position)
            ):
                return None
            return position + end - begin
        direction, negated, code, size = rest
        begin = position if direction > 0 else position - size
        found = begin >= 0 and self.run(code, begin, groups) is not None
        return position if found != negated else None

    def stands(self, where: Any, position: int, *, lines: bool) -> bool:
        text, size = self.text, len(self.text)
        name = str(where)
        if name == "AT_BEGINNING_STRING" or (name == "AT_BEGINNING" and not lines):
            return position == 0
        if name == "AT_BEGINNING":
            return position == 0 or text[position - 1] == "\n"
        if name == "AT_END_STRING":
            return position == size
        if name == "AT_END":
            if lines:
                return position == size or text[position] == "\n"
            return position == size or (position == size - 1 and text[position] == "\n")
        before = position > 0 and (text[position - 1].isalnum() or text[position - 1] == "_")
        after = position < size and (text[position].isalnum() or text[position] == "_")
        return (before != after) == (name == "AT_BOUNDARY")


def steps(code: list[tuple[Any, ...]], text: str, *, search: bool, full: bool) -> int:
    """Count what a match (or a search, or a full match) of `text` takes."""
    machine = Machine(text)
    if full:
        code = [*code[:-1], ("at", "AT_END_STRING", False), ("accept",)]
    for start in range(len(text) + 1 if search else 1):
        if machine.run(code, start, {}) is not None:
            break
    return machine.steps


def samples(items: Any, flags: int, alphabet: str, most: int = 4) -> list[str]:
    """Return a few short texts that a sequence of items matches, as far as that is simple."""
    texts = [""]
    for operation, argument in items:
        options = sample(operation, argument, flags, alphabet)
        texts = [left + right for left, right in product(texts, options)][:most]
    return texts


def sample(operation: Any, argument: Any, flags: int, alphabet: str) -> list[str]:
    if operation in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
        test = test_of(operation, argument, flags)
        return [character for character in alphabet if test(character)][:3] or [""]
    if operation is codes.BRANCH:
        texts = [text for branch in argument[1] for text in samples(branch, flags, alphabet, 2)]
        return texts[:6] or [""]
    if operation is codes.SUBPATTERN:
        return samples(argument[3], (flags | argument[1]) & ~argument[2], alphabet)
    if operation is codes.ATOMIC_GROUP:
        return samples(argument, flags, alphabet)
    if operation in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        low, _, inner = argument
        return [text * max(low, 1) for text in samples(inner, flags, alphabet, 2)][:2]
    return [""]


def quantifiers(
    items: Any, flags: int, alphabet: str, before: str
) -> Iterator[tuple[str, Any, int]]:
    """Yield (a text that leads there, the quantified items, their flags) in the tree's order."""
    for operation, argument in items:
        if operation in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, high, inner = argument
            if high is codes.MAXREPEAT or high > MANY:
                yield before, inner, flags
            yield from quantifiers(inner, flags, alphabet, before)
        elif operation is codes.BRANCH:
            for branch in argument[1]:
                yield from quantifiers(branch, flags, alphabet, before)
        elif operation is codes.SUBPATTERN:
            inner_flags = (flags | argument[1]) & ~argument[2]
            yield from quantifiers(argument[3], inner_flags, alphabet, before)
        elif operation is codes.ATOMIC_GROUP:
            yield from quantifiers(argument, flags, alphabet, before)
        elif operation in (codes.ASSERT, codes.ASSERT_NOT):
            yield from quantifiers(argument[1], flags, alphabet, before)
        before += samples([(operation, argument)], flags, alphabet, 1)[0]


def characters(items: Any, found: set[str]) -> set[str]:
    """Collect one character for each set that the tree mentions."""
    for operation, argument in items:
        if operation in (codes.LITERAL, codes.NOT_LITERAL):
            found.add(chr(argument))
        elif operation is codes.IN:
            for kind, value in argument:
                if kind is codes.LITERAL:
                    found.add(chr(value))
                elif kind is codes.RANGE:
                    found.add(chr(value[0]))
        elif operation in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            characters(argument[2], found)
        elif operation is codes.BRANCH:
            for branch in argument[1]:
                characters(branch, found)
        elif operation is codes.SUBPATTERN:
            characters(argument[3], found)
        elif operation is codes.ATOMIC_GROUP:
            characters(argument, found)
        elif operation in (codes.ASSERT, codes.ASSERT_NOT):
            characters(argument[1], found)
    return found


def units_of(inner: Any, flags: int, alphabet: str) -> list[str]:
    """Return texts that the quantified items match: all characters of a class, some of others."""
    items = list(inner)
    if len(items) == 1 and items[0][0] in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
        test = test_of(*items[0], flags)
        return [character for character in alphabet if test(character)][:10]
    return samples(items, flags, alphabet, 8)


@dataclass(frozen=True)
class Growth:
    """The steepest growth found, and the text that shows it."""

    factor: float
    prefix: str = ""
    unit: str = ""
    suffix: str = ""


def worst(pattern: re.Pattern[Any], *, search: bool = True, full: bool = False) -> Growth:
    """Pump every quantifier of a pattern; return the steepest growth."""
    source = pattern.pattern
    if isinstance(source, bytes):
        source = source.decode("latin-1")
        flags = pattern.flags | re.ASCII
    else:
        flags = pattern.flags
    tree = parser.parse(source, flags & ~re.DEBUG)
    compiler = Compiler(flags)
    code = compiler.program(tree)
    mentioned = sorted(characters(tree, set()))[:24]
    alphabet = "".join(dict.fromkeys(["a", "1", " ", "\n", *mentioned, "Z", "-", "~", "é"]))
    tried: set[tuple[str, str]] = set()
    steepest = Growth(0.0)
    for before, inner, inner_flags in quantifiers(tree, flags, alphabet, ""):
        units = units_of(inner, inner_flags, alphabet)
        pumped = [*product(dict.fromkeys(["", before]), units)]
        if before:  # a search may begin at each of them
            pumped += [("", before + unit) for unit in units[:4]]
        for prefix, unit in pumped:
            if not unit or (prefix, unit) in tried:
                continue
            tried.add((prefix, unit))
            for suffix in ("", "\0", "\n\0"):
                factor = growth(code, prefix, unit, suffix, search=search, full=full)
                if factor > steepest.factor:
                    steepest = Growth(factor, prefix, unit, suffix)
                if factor == float("inf"):
                    return steepest
    return steepest


def growth(
    code: list[tuple[Any, ...]], prefix: str, unit: str, suffix: str, *, search: bool, full: bool
) -> float:
    """Return by what the second doubling of the unit's count adds more steps than the first."""
    try:
        small, middle, large = (
            steps(code, prefix + unit * count + suffix, search=search, full=full)
            for count in LENGTHS
        )
    except TooManySteps:
        return float("inf")
    return (large - middle) / max(1, middle - small)
