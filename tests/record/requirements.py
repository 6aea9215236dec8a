#!/usr/bin/env python3
"""Make docs/requirements.md: which test shows that a row of the requirements holds.

    tests/record/requirements.py           write the page
    tests/record/requirements.py --check   status 1 when it is not up to date

A test names its rows: `@pytest.mark.row("S2-36")`.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "requirements.md"

SOURCES = {
    "S0": ("RemcoChat's skills research", 96),
    "S1": ("the Agent Skills runtime specification", 54),
    "S2": ("the AgentSandbox skills design, this project's core", 54),
    "S3": ("Yodoca's ADR 015", 50),
    "S4": ("Mux's skills plan", 34),
    "V0": ("validation of S0", 32),
    "V1": ("validation of S1", 17),
    "V2": ("validation of S2", 28),
    "V3": ("validation of S3", 17),
    "V4": ("validation of S4", 14),
}

DECISIONS = {
    "X-28": (
        "stop on error: S2-31 asks that every script stops at its first error. `sh FILE`, files"
        " that begin with `#!/bin/sh` and files without `#!` do (`script_errexit="
        '"sh"`, the default), with the exemptions of bash, and `set +e` is honoured. A script that'
        " names bash itself (`#!/bin/bash`, `bash FILE`) follows bash's rules, in `./x.sh` and"
        " `run_script` too: with errexit everywhere, 7 % of 3,572 runs of public skill scripts and"
        " 24 of 227 calls of well-known script projects went from success to failure."
        ' `"always"` and `"never"` are the other two; `execute()` is off.'
    ),
}
"""Rows of the list of decisions, for demands that contradict each other: what was decided, why."""

CONTEXT = "about the source's own project"
NO_TEST = {
    "S0-35": "an explanation: both kinds of agents are served",
    "S0-43": "what the source leaves out",
    "S0-61": "an explanation",
    "S0-75": "what the source leaves out",
    "S3-1": CONTEXT,
    "S3-2": CONTEXT,
    "S3-30": CONTEXT,
    "S3-31": CONTEXT,
    "S3-32": CONTEXT,
    "S3-46": CONTEXT,
    "S3-49": "alternatives the source decided against",
    "S4-32": "an alternative the source decided against",
    "S2-5": "the format itself: every test of skills",
    "S2-42": "an example in the source document",
    "S2-47": "a checklist in the source document",
}
"""Rows that are no demand on the library, or are answered otherwise."""


def main() -> int:
    """Write or check the page."""
    text = page()
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def page() -> str:
    """The whole page."""
    tests = rows()
    lines = [
        "# Requirements and the tests that show them",
        "",
        (
            "Made by `tests/record/requirements.py` from the `row` markers of the tests; "
            "do not edit. A row is a numbered line of the"
        ),
        (
            "project's requirements, by its source document; "
            "rows that are not listed have no test of their own yet."
        ),
    ]
    for source, (title, count) in SOURCES.items():
        ids = [f"{source}-{number}" for number in range(1, count + 1)]
        shown = [row for row in ids if row in tests or row in NO_TEST]
        lines += [
            "",
            f"## {source}: {title}",
            "",
            f"{sum(row in tests for row in ids)} of {count} rows have tests.",
            "",
        ]
        if shown:
            lines += ["| row | tests |", "|---|---|"]
            lines += [
                f"| {row} | {'<br>'.join(tests[row]) if row in tests else NO_TEST[row]} |"
                for row in shown
            ]
    lines += ["", "## X: decisions", "", "| row | decision | tests |", "|---|---|---|"]
    lines += [
        f"| {row} | {decision} | {'<br>'.join(tests[row])} |" for row, decision in DECISIONS.items()
    ]
    return "\n".join([*lines, ""])


def rows() -> dict[str, list[str]]:
    """Row → the tests that name it; ValueError for a row that does not exist."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        where = path.relative_to(ROOT / "tests").as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for row in named_rows(node):
                    check_row(row, where)
                    found.setdefault(row, []).append(f"`{where}` {sentence(node.name)}")
    return found


def named_rows(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The rows in the function's markers."""
    named = []
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.row":
            named += [ast.literal_eval(argument) for argument in decorator.args]
    return named


def check_row(row: str, where: str) -> None:
    """ValueError unless there is such a row."""
    if row in DECISIONS:
        return
    match = re.fullmatch(r"([SV][0-4])-([1-9][0-9]*)", row)
    if match is None or int(match[2]) > SOURCES[match[1]][1]:
        raise ValueError(f"{where}: there is no row {row}")


def sentence(name: str) -> str:
    """A test's name as words."""
    return name.removeprefix("test_").replace("_", " ")


if __name__ == "__main__":
    sys.exit(main())
