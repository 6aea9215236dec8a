"""What ends a script is raised once and must not be swallowed: in any command, at any tick.

A limit that passes is seen again at the next tick, but a cancelled task, Ctrl-C or a killed process
is not: an `except` that is too wide, a C function that drops what its callback raises, a `finally`
that returns, all make a script go on that was ended. So the ending is raised here exactly once, at
one tick of a case of the specs, or of odd calls of a command, and must be how the execution ends.
The specs and the table of commands have every command, so a new one takes part at once.

Afterwards the sandbox works, its account is right, and nothing is open in it: a file that is open
without a name counts, so one that a command forgets is lost to the quota.

`CANCEL_SPECS` is the number of cases (0: all of the specs and as many calls), `CANCEL_SEED` chooses
them and the ticks.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsandbox import Limits, Sandbox
from agentsandbox.errors import LimitReached
from agentsandbox.kernel import budget as budget_module
from agentsandbox.kernel.budget import Budget
from agentsandbox.runtime.session import Execution
from tests.record.cases import DIRECTORY, ENVIRONMENT, Case, load
from tests.security.fuzzing import SETTING, make_case
from tests.security.whole import problems_of
from tests.test_specs import SPECS, place_files

COUNT = int(os.environ.get("CANCEL_SPECS", "150"))
SEED = os.environ.get("CANCEL_SEED", "7")
STEPS = 5
"""Steps between two ticks."""

ENDINGS: dict[str, type[BaseException]] = {
    "limit": LimitReached,
    "task": asyncio.CancelledError,
    "interrupt": KeyboardInterrupt,
}


class Once:
    """Raises an error at one look at the clock, and nothing at all the others."""

    def __init__(self) -> None:
        self.count = 0
        self.number = 0
        self.error: BaseException | None = None
        self.is_over = False
        self.raised = False

    def begin(self, number: int = 0, error: BaseException | None = None) -> None:
        self.count, self.number, self.error = 0, number, error
        self.is_over = self.raised = False

    def check(self, budget: Budget) -> None:
        if self.is_over:  # the script has ended, its processes are being ended
            return
        self.count += 1
        if self.count == self.number and self.error is not None:
            self.raised = True
            raise self.error


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> Iterator[Once]:
    found = Once()
    clean_up = Execution._clean_up

    def note(self: Execution, *arguments: object) -> None:
        found.is_over = True
        clean_up(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Budget, "check_time", found.check)
    monkeypatch.setattr(budget_module, "SLICE", STEPS)
    monkeypatch.setattr(budget_module, "_MADE_IN_SLICE", 64 * STEPS)
    monkeypatch.setattr(Execution, "_clean_up", note)
    yield found


def cases() -> list[tuple[str, Case, str]]:
    """Return cases by chance, or all of them, with their places, and what runs before."""
    chance = random.Random(f"cases {SEED}")
    paths = sorted(SPECS.rglob("*.toml"))
    if COUNT:
        paths = sorted(chance.sample(paths, min(len(paths), 20)))
    found = [(_place(path, case), case, "") for path in paths for case in load(path)]
    if COUNT:
        found = chance.sample(found, min(COUNT // 2, len(found)))
    for _ in range(len(found)):
        number = chance.randrange(10**9)
        odd = make_case("command", number)
        script = odd.script.removeprefix(SETTING)
        found.append((f"command {number}", Case("odd", script, stdin=odd.stdin), SETTING))
    return found


def _place(path: Path, case: Case) -> str:
    return f"{path.relative_to(SPECS).with_suffix('').as_posix()}: {case.name}"


def _run(
    case: Case, setting: str, once: Once, number: int, error: BaseException | None
) -> tuple[int, str]:
    """Run a case; return the number of its ticks, and what is wrong."""
    limits = Limits(timeout=2, steps=300_000)
    with Sandbox(cwd=DIRECTORY, env={**ENVIRONMENT, **case.env}, limits=limits) as sandbox:
        once.begin()
        place_files(sandbox, case)
        sandbox.execute(setting)
        once.begin(number, error)
        raised: BaseException | None = None
        limit: object = None
        try:
            limit = sandbox.execute(case.script, stdin=case.stdin, args=case.args).limit
        except (asyncio.CancelledError, KeyboardInterrupt) as end:
            raised = end
        count, was_raised = once.count, once.raised
        once.begin()
        sandbox.execute("pkill -KILL -P $$; wait", state="new")
        if was_raised and isinstance(error, LimitReached) and limit != "timeout":
            return count, "the limit was swallowed"
        if was_raised and not isinstance(error, LimitReached) and raised is not error:
            return count, f"{type(error).__name__} was swallowed"
        if problems := problems_of(sandbox):
            return count, "; ".join(problems)
        after = sandbox.execute("echo alive", state="new")
        if after.limit is not None or "alive\n" not in after.stdout:
            return count, f"the next call says {after!r}"
    return count, _still_open(sandbox)


def _still_open(sandbox: Sandbox) -> str:
    """Say which files a closed sandbox still holds: they count against its quota."""
    fs = sandbox.fs
    paths = [file.path for held in fs.opened.values() for file in held]
    return f"still open: {paths}" if paths or fs.orphans else ""


# TM-NEXT-2
def test_what_ends_a_script_is_not_swallowed(once: Once) -> None:
    wrong = []
    for place, case, setting in cases():
        chance = random.Random(f"{SEED} {place}")
        count, problem = _run(case, setting, once, 0, None)
        if problem:
            wrong.append((place, 0, "", problem))
        if not count:
            continue
        number = chance.randrange(count) + 1
        name = chance.choice(list(ENDINGS))
        kind = ENDINGS[name]
        error = LimitReached("timeout") if kind is LimitReached else kind()
        _, problem = _run(case, setting, once, number, error)
        if problem:
            wrong.append((place, number, name, problem))
    assert wrong == []
