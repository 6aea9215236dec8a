"""Texts of one shape run by one plan, and do what they do without plans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox import Sandbox
from agentsandbox.shell.interpreter import shapes, texts
from tests.record.cases import DIRECTORY, ENVIRONMENT, Case, load
from tests.test_specs import place_files

SPECS = Path(__file__).parent / "specs"
TEXTS = (
    "echo @@ x @@",
    "echo -n @@; printf '%s|' @@ \"$x\" @@",
    "x=@@; y=@@ z=$x env | grep ^[yz]; echo \"$x\"",
    "for i in a @@ b; do if [ \"$i\" = @@ ]; then echo \"got $i\"; fi; done",
    "echo @@ > @@; cat < @@; ls",
    "@@ a; echo $?",
    "f() { echo @@ \"$1\"; }; f @@ | tr a-z A-Z | wc -c",
    "cat <<E\n@@ $x\nE\necho @@",
    "case @@ in @@) echo 1;; *) echo 2;; esac",
    "set -- @@ @@; shift @@; echo \"$#\" \"$1\"",
    "trap 'echo \"$BASH_COMMAND\"' DEBUG; echo @@ | cat; : @@; trap - DEBUG",
    "set -x; echo @@ 'a @@' \"b @@\"; x=@@",
    "read @@ <<< @@; export @@; echo \"$a\"; return @@",
    "[[ @@ == @@ ]] && echo $(echo @@) `echo @@` $((@@ + 1))",
    "declare -i n=@@; local @@=1; eval \"echo @@\" '; echo @@'",
    "command @@ @@; { echo @@; } 2> @@; while false; do echo @@; done; echo @@ & wait",
    "set -e; false @@ | cat; printf @@; ( exit 3 ) || echo @@; test @@; echo no",
)  # fmt: skip
WORDS = (
    "a", "b", "1", "3", "a.txt", "'a b'", '"a b"', "'$x'", '"$x"', "-n", "'-n'", "done", "if", "*",
    "~", "a=b", "unset", "echo", "a[1]", "''", "é", "'\\n'", "%s", "{a,b}", "#a", "=", "exit", "@(",
    "BASH_COMMAND", "'echo $BASH_COMMAND'", "a\\ b", "a'b'", "/dev/null", "+x", "alias",
    "\ue0000\ue001",
)  # fmt: skip


def without_plans() -> None:
    texts.PROGRAMS.clear()
    shapes._shape.cache_clear()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(TEXTS), st.lists(st.lists(st.sampled_from(WORDS), min_size=4), min_size=3))
def test_texts_of_one_shape_do_what_each_does_alone(text: str, choices: list[list[str]]) -> None:
    scripts = []
    for words in choices[:6]:
        pieces = text.split("@@")
        filled = [piece + word for piece, word in zip(pieces, words * 2, strict=False)]
        scripts.append("".join(filled[: len(pieces) - 1]) + pieces[-1])
    results = []
    for plans in (True, False):
        without_plans()
        with Sandbox(clock=lambda: 0.0, seed=1) as sandbox:
            found = []
            for script in scripts:
                if not plans:
                    without_plans()
                ran = sandbox.execute(f"x=1; cd /tmp; {script}", state="new")
                found.append((ran.stdout, ran.stderr, ran.exit_code))
                sandbox.execute("rm -rf /tmp/*")
        results.append(found)
    assert results[0] == results[1]


def sample() -> Sequence[object]:
    """Every fiftieth case of the specs of the shell."""
    found = []
    for path in sorted(SPECS.rglob("shell/**/*.toml")):
        found += [pytest.param(case, id=f"{path.stem}: {case.name}") for case in load(path)]
    return found[::50]


@pytest.mark.parametrize("case", sample())
def test_a_spec_runs_by_the_plan_of_its_shape(case: Case) -> None:
    without_plans()
    words = shapes._WORDS.split(case.script)
    if len(words) > 1:  # a text was seen that differs in every word
        shape = shapes._shape(tuple(words[::2]), (False, True), 1)
        shape.last = [f"{word}x" for word in words[1::2]]
    with Sandbox(cwd=DIRECTORY, env={**ENVIRONMENT, **case.env}) as sandbox:
        sandbox.execute(":")
        place_files(sandbox, case)
        result = sandbox.execute(case.script, stdin=case.stdin, args=case.args)
    assert (result.stdout_bytes, result.stderr_bytes, result.exit_code) == (
        case.stdout,
        case.stderr,
        case.status,
    )


def test_a_third_text_of_a_shape_is_not_compiled() -> None:
    without_plans()
    sandbox = Sandbox()
    for number in range(4):
        assert sandbox.execute(f"echo {number} | cat -n").stdout == f"     1\t{number}\n"
    (plan,) = shapes._shape(("", " ", " | ", " -n"), (False, True), 1).plans
    assert plan.slots == {1}
    key = "echo 3 | cat -n", (False, True), 1, False
    assert texts.PROGRAMS.get(key) is None
    assert sandbox.execute("echo 3 | cat -n").stdout == "     1\t3\n"
    assert texts.PROGRAMS.get(key) is not None
