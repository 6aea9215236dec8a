"""One attack tried in a fresh sandbox, with everything watched that an attack may not do.

`python -m tests.security.trial` is the worker: it reads numbers of attacks and writes what was
wrong with each. A worker process is there so that a hang or a crash is a finding and not the end of
the tests.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import threading
from time import monotonic
from typing import NamedTuple

from agentsandbox import Limits, Sandbox
from tests.security import large_values as _large_values  # noqa: F401 - adds its attacks
from tests.security.attack_scripts import ATTACKS, Attack, make_file

OVERSHOOT = 0.5
"""Seconds that an execution may last beyond its timeout."""
GROWTH = {"crowd": 500, "disk": 250, "large": 250, "dense": 200}
"""MiB that the process may grow by: 100, more where values, waiting commands or files are filled to
their limits."""

INTERNAL = re.compile(
    r"Traceback|File \"[^\"\n]+\.py\"|site-packages|internal error|"
    r"\b(?:Recursion|Memory|Type|Value|Key|Index|Attribute|Name|Unicode\w+|Assertion|Overflow|ZeroDivision|Runtime|StopIteration)Error\b|"
    r"maximum recursion|object at 0x[0-9a-f]+|<class '|NoneType|codec can't|invalid literal for|Exceeds the limit \(|\[Errno \d+\]|"
    r"has no attribute|agentsandbox/|greenlet"
)


class Finding(NamedTuple):
    """What one trial showed: the problems, and the figures."""

    problems: list[str]
    seconds: float
    growth: int
    status: int | None
    limit: str | None
    stderr: str


def memory() -> tuple[int, int]:
    """KiB in use now and at the peak since `forget_peak`; zeros where there is no /proc."""
    try:
        with open("/proc/self/status") as status:
            figures = dict(line.split(":", 1) for line in status)
    except OSError:
        return 0, 0
    return int(figures["VmRSS"].split()[0]), int(figures["VmHWM"].split()[0])


def forget_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as control:
            control.write("5")
    except OSError:
        pass


def try_attack(attack: Attack, timeout: float) -> Finding:
    """Run the attack and then an honest script, in one sandbox."""
    problems: list[str] = []
    sandbox = Sandbox(limits=Limits(timeout=timeout), env={"TERM": "dumb"})
    for name in attack.files:
        if name not in attack.script and "*" not in attack.script:
            continue
        sandbox.fs.write_bytes(f"{sandbox.cwd}/{name}", make_file(name))
    sandbox.execute("echo warm | cat")
    gc.collect()
    threads = threading.active_count()
    before, _ = memory()
    forget_peak()
    began = monotonic()
    try:
        result = sandbox.execute(attack.script)
    except Exception as error:  # noqa: BLE001 - that none comes out is what is tested
        return Finding(
            [f"raised {type(error).__name__}: {str(error)[:200]}"],
            monotonic() - began,
            0,
            None,
            None,
            "",
        )
    seconds = monotonic() - began
    growth = (memory()[1] - before) >> 10
    if seconds > timeout + OVERSHOOT:
        problems.append(f"took {seconds:.2f} s")
    if growth > GROWTH.get(attack.family, 100):
        problems.append(f"grew by {growth} MiB")
    output = result.stdout[:100_000] + "\n" + result.stderr
    if result.exit_code == 70 and "internal error" in result.stderr:
        problems.append("internal error")
    elif (
        attack.family not in ("graph", "parse", "enc")
        and (found := INTERNAL.search(result.stderr)) is not None
    ):
        problems.append(f"says {found[0]!r}")
    if attack.cut and result.exit_code == 0 and result.limit is None:
        problems.append("was cut silently")
    if attack.family == "esc" and ("[project]" in output or "hatchling" in output):
        problems.append("read a file of the host")
    problems += _use_afterwards(sandbox)
    sandbox.close()
    if threading.active_count() > threads:
        problems.append("left a thread behind")
    return Finding(problems, seconds, growth, result.exit_code, result.limit, result.stderr[:300])


def _use_afterwards(sandbox: Sandbox) -> list[str]:
    began = monotonic()
    result = sandbox.execute("command printf '%s\\n' alive", state="discard")
    seconds = monotonic() - began
    if seconds > 1:
        return [f"the next script took {seconds:.2f} s"]
    if "internal error" in result.stderr:
        return ["the next script failed inside"]
    return []


def main() -> None:
    timeout = float(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(try_attack(ATTACKS[int(line)], timeout)), flush=True)


if __name__ == "__main__":
    main()
