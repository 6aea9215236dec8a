"""Awk rules that are applied to many records at once give what they give record by record."""

from __future__ import annotations

import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox import Sandbox

Sandbox().execute("true")  # sets the recursion limit before hypothesis takes note of it

WORDS = st.sampled_from(
    [
        "a",
        "b",
        "ERR",
        "12",
        "3.5",
        "-7",
        "219ms",
        "1e3",
        "0x1A",
        ".5",
        "inf",
        "nan",
        "1_000",
        "é",
        "007",
        "-",
        "1e999",
        "5.",
    ]
)
FIELDS = st.sampled_from(["$1", "$2", "$3", "$5", "$0", "$NF"])
CONDITIONS = st.sampled_from(
    [
        "",
        "/ERR/",
        "!/1/",
        '$1 == "a"',
        '$2 != "b"',
        "$3 ~ /^[0-9]/",
        '($1 == "a" && /x/) || /7/',
        "$2 !~ /m/",
        "$2 > 3",
    ]
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Rules that count and sum, each into a variable of its own, and an END that shows all."""
    rules, ends = [], []
    for number in range(draw(st.integers(1, 4))):
        name = f"v{number}"
        key, value = (
            f"{name}[{draw(FIELDS)}]",
            draw(st.sampled_from(["1", "0.1", "length", f"length({draw(FIELDS)})", draw(FIELDS)])),
        )
        statement = draw(
            st.sampled_from([f"{key}++", f"{key} += {value}", f"{name} += {value}", f"++{name}"])
        )
        rules.append(f"{draw(CONDITIONS)} {{ {statement} }}")
        ends.append(
            f'for (k in {name}) printf "%s %.17g\\n", k, {name}[k]'
            if key in statement
            else f'printf "%.17g\\n", {name}'
        )
    return f"{' '.join(rules)} END {{ {'; '.join(ends)}; print NR, NF, $0, $2 }}"


ROWS = st.lists(
    st.one_of(st.lists(WORDS, min_size=5, max_size=5), st.lists(WORDS, max_size=6)),
    min_size=10,
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(programs(), ROWS, st.sampled_from([" ", "  ", "\t", ","]))
def test_together_is_one_by_one(program: str, rows: list[list[str]], separator: str) -> None:
    # a rule that prints makes the program go through the records one by one
    slowly = f"0 {{ print }} {program}"
    options = ["-F,"] if separator == "," else []
    with Sandbox() as sandbox:
        data = "".join(separator.join(row) + "\n" for row in rows)
        quick, slow = (
            sandbox.execute(shlex.join(["awk", *options, text]), stdin=data)
            for text in (program, slowly)
        )
    assert (quick.stdout, quick.stderr, quick.exit_code) == (
        slow.stdout,
        slow.stderr,
        slow.exit_code,
    )
    assert quick.exit_code == 0
