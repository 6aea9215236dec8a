"""No value of an option is an internal error: every option of every usage text gets odd ones.

The members are the options of the package's own usage texts, which are also its option parsers, so
a new command or option takes part at once. `ODD_VALUES` is the number of calls (0: all).
"""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Iterator

import pytest

from agentsandbox import Limits, Sandbox
from agentsandbox.commands import find_command, names
from agentsandbox.contract.usage import parse_usage
from tests.security.fuzzing import SETTING, quote

COUNT = int(os.environ.get("ODD_VALUES", "250"))
SEED = int(os.environ.get("ODD_VALUES_SEED", "3"))

VALUES = (
    "", "-", "--", "-size", "+", "+1", "-1", "0", "1.5", ".", "1.", "nan", "inf", "-inf", "1e3", "1e999", "0x1F", "1_000", " 3", "3 ",
    "\u0663", "\u00b2", "\u2460", "9" * 400, "9" * 5000, "1,2", "1-", "-1-", ",", ":", "1:2", "a=b", "=", "%", "%s", "%9999999999d", "\\", "\\x", "[", "(",
    "*", "{", "/", "//", "/dev/null", "nosuch", "d", ".", "a.txt", "\udcff", "\n", "\x1b", "x" * 5000, "@", "@0", "now", "1K", "1E", "99Y", "all,", "none", "a b",
)  # fmt: skip
AFTER = (
    "a.txt b.txt",
    "",
    "-",
    "d",
    "x a.txt",
    "1",
    "true ::: a b",
    "a.txt new",
    "s/a/b/ a.txt",
    ". a.txt",
    "-- a.txt",
    "nosuch",
)


def calls() -> Iterator[str]:
    """Yield every option with every value."""
    for name in sorted(names()):
        command = find_command(name)
        assert command is not None
        for option in parse_usage(command.usage):
            if not option.takes:
                continue
            for spelling in option.spellings:
                for number, value in enumerate(VALUES):
                    joint = "=" if spelling.startswith("--") else ("", " ")[number % 2]
                    after = AFTER[(number + len(spelling)) % len(AFTER)]
                    yield f"timeout 1 {name} {spelling}{joint}{quote(value)} {after}"


# TM-OUT-1
def test_no_value_of_an_option_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1)
    every = list(calls())
    chosen = random.Random(SEED).sample(every, min(COUNT, len(every))) if COUNT else every
    wrong = []
    with Sandbox(limits=Limits(timeout=2, steps=2_000_000), jobs="kill") as sandbox:
        sandbox.execute(SETTING)
        before = sandbox.snapshot()
        for number, script in enumerate(chosen):
            result = sandbox.execute(script, stdin=b"b\na\n1 2\n", state="new")
            if result.exit_code == 70 and "internal error" in result.stderr:
                wrong.append(script)
            if number % 20 == 0:
                sandbox.restore(before)
    assert wrong == []
