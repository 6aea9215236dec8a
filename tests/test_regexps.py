"""Regular expressions: leftmost-longest, GNU's messages, no explosion."""

from __future__ import annotations

import gc
import random
import re
import time
import weakref

import pytest

from agentsandbox import Sandbox
from agentsandbox.kernel.budget import Budget
from agentsandbox.kernel.regexps import RegexError, compile_posix
from agentsandbox.kernel.regexps.automaton import Automaton
from agentsandbox.kernel.regexps.perl import compile_perl
from agentsandbox.kernel.regexps.timed import MAX_WEIGHT, RegexTooLarge, compile_timed, weigh
from agentsandbox.limits import Limits

HARMFUL = [
    ("^(a+)+$", "a" * 60 + "b"),
    ("^(a|aa)+$", "a" * 60 + "b"),
    ("a*a*a*b", "a" * 60_000),
    ("(a?){200}a{200}", "a" * 150),
    ("(x+x+)+y", "x" * 3000),
    ("(.*,){12}z", "a," * 500),
]


# TM-TIME-3
@pytest.mark.parametrize(("pattern", "text"), HARMFUL)
def test_harmful_patterns_take_linear_time(pattern: str, text: str) -> None:
    started = time.monotonic()
    assert compile_posix(pattern).search(text, 0, Budget()) is None
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("pattern", "text", "span"),
    [
        ("foo|foobar", "a foobar", (2, 8)),
        ("(a|ab)(c|bcd)(d*)", "abcd", (0, 4)),
        ("a*(ab)?", "aab", (0, 3)),
        ("(http|https)://", "https://x", (0, 8)),
        ("x*", "aaxx", (0, 0)),
    ],
)
def test_the_leftmost_longest_match_is_found(
    pattern: str, text: str, span: tuple[int, int]
) -> None:
    found = compile_posix(pattern).search(text)
    assert found is not None
    assert found.span() == span


@pytest.mark.parametrize(
    ("pattern", "dialect", "extended", "message"),
    [
        ("(", "posix", True, "Unmatched ( or \\("),
        ("[a", "posix", True, "Unmatched [, [^, [:, [., or [="),
        ("*a", "posix", True, "Invalid preceding regular expression"),
        ("a{1", "sed", True, "Unmatched \\{"),
        ("a{3,1}", "grep", True, "Invalid content of \\{\\}"),
        ("a)", "sed", True, "Unmatched ) or \\)"),
        ("\\1", "grep", False, "Invalid back reference"),
        ("a\\", "grep", False, "Trailing backslash"),
        ("[z-a]", "posix", False, "Invalid range end"),
        ("x{40000}", "posix", True, "Regular expression too big"),
        ("((x{1000}){1000}){1000}", "grep", True, "Regular expression too big"),
        ("(" * 5000, "grep", True, "Regular expression too big"),
    ],
)
def test_messages_are_regcomps(pattern: str, dialect: str, extended: bool, message: str) -> None:
    with pytest.raises(RegexError) as caught:
        compile_posix(pattern, extended=extended, dialect=dialect)
    assert caught.value.message == message


def test_classes_know_other_scripts() -> None:
    found = compile_posix("[[:alpha:]]+").search("1 naïve")
    assert found is not None
    assert found.group() == "naïve"
    assert compile_posix("^.$").search("\udcff") is None


def _random_pattern(chance: random.Random, depth: int) -> str:
    kind = chance.random()
    if depth == 0 or kind < 0.4:
        return chance.choice(["a", "b", "c", "[ab]", ".", "[^a]", "ab", "^", "$", "\\b"])
    if kind < 0.6:
        return _random_pattern(chance, depth - 1) + _random_pattern(chance, depth - 1)
    if kind < 0.75:
        return f"({_random_pattern(chance, depth - 1)}|{_random_pattern(chance, depth - 1)})"
    return f"({_random_pattern(chance, depth - 1)}){chance.choice(['*', '+', '?', '{1,2}', '{2}'])}"


def _longest(source: str, text: str) -> tuple[int, int] | None:
    """The leftmost-longest match, found by trying every end."""
    first = re.compile(source, re.ASCII).search(text)
    if first is None:
        return None
    for end in range(len(text), first.start() - 1, -1):
        if re.compile(f"(?:{source})(?=(?s:.{{{len(text) - end}}})\\Z)", re.ASCII).match(
            text, first.start()
        ):
            return first.start(), end
    return None


def test_all_ways_to_match_agree() -> None:
    chance = random.Random(7)
    for _ in range(400):
        pattern = _random_pattern(chance, 3)
        regex = compile_posix(pattern)
        automaton = Automaton(regex._tree.root, 0, False)
        for _ in range(4):
            text = "".join(
                chance.choice("abc \n" if chance.random() < 0.2 else "abc")
                for _ in range(chance.randint(0, 8))
            )
            expected = _longest(regex._source(ascii_only=True), text)
            found = regex.search(text)
            assert (found.span() if found else None) == expected, (pattern, text)
            assert automaton.find(text, 0) == expected, (pattern, text)


@pytest.mark.parametrize(
    "pattern",
    ["(?R)x", "(a|(?1))*b", "((a{1000}){1000}){1000}b", "(" * 3000, "\\x{110000}", "[z-a]"],
)
def test_perl_patterns_that_cannot_run_are_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        compile_perl(pattern)


def test_perl_patterns_run_out_of_time_by_name() -> None:
    from agentsandbox.errors import LimitReached

    budget = Budget(Limits(timeout=0.2))
    with pytest.raises(LimitReached) as caught:
        compile_perl("^(a|aa)+$").search("a" * 100 + "b", 0, budget)
    assert caught.value.limit == "timeout"


DANGEROUS = "(a|ab)*(c|bcd)+(a+)+d"
"""A pattern that runs as an automaton on all texts but short ones."""


def test_nothing_of_a_sandbox_stays_in_a_pattern() -> None:
    sandbox = Sandbox()
    sandbox.execute(f"x=$(yes ab | head -n 9000); [[ ${{x}}aabcad =~ {DANGEROUS} ]] && echo found")
    scheduler = weakref.ref(sandbox._shell_session.machine.scheduler)  # type: ignore[union-attr]
    sandbox.close()
    del sandbox
    gc.collect()
    assert scheduler() is None


def test_each_search_draws_on_its_own_budget() -> None:
    """The searches of two sandboxes of one event loop take turns, by the same pattern."""
    pattern = compile_posix(DANGEROUS)
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 5_000)))
    ours, others = Budget(Limits()), Budget(Limits())
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        assert pattern.test("ab" * 2_000 + "caad" + "ab" * turns, others)

    ours.turn = turn
    assert not pattern.test(text, ours)
    alone = Budget(Limits())
    assert not pattern.test(text, alone)
    assert turns
    assert (ours.spent, ours.left) == (alone.spent, alone.left)


def test_what_automata_learn_is_weighed_and_bounded() -> None:
    budget = Budget(Limits())
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 5_000)))
    for number in range(20):
        assert not compile_posix(f"{DANGEROUS}{number}").test(text, budget)
    assert len(budget.accounts.automata) == 16
    assert budget.accounts.total() > 16 * 5_000 * 60


# TM-TIME-7
@pytest.mark.parametrize(
    "form",
    [
        *("(@)+", "(?:@)+", "((@)*)+", "((@)?)+", "(a@)+", "(a|@)+", "(?:@)++", "(?P<a>x)(@\\))+"),
        *("(@){2}", "(@){2,}", "(@){1,2}", "(?#[)(@)+]", "(@[)])+", "(@#[\n)+]"),
    ],
)
def test_repeats_inside_repeats_are_weighed_before_they_are_compiled(form: str) -> None:
    """The `regex` package doubles its program with each level, in C."""
    pattern = "a"
    for _ in range(30):
        pattern = form.replace("@", pattern)
    with pytest.raises(RegexTooLarge):
        compile_timed(pattern, 0)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$",
        r"[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-z]{2,63})+",
        r"((\w+\s+){1,100}(\d+,)+)+",
        "x" * 10_000,
        "(a+b)+" * 1000,
    ],
)
def test_patterns_of_real_use_are_light_enough(pattern: str) -> None:
    assert weigh(pattern) < MAX_WEIGHT
    compile_timed(pattern, 0)
