"""Fuzzed scripts tried one after another in a worker process that watches itself; the parent
replaces it when it hangs or dies.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable, Iterable
from time import monotonic

from agentsandbox import Limits, Sandbox
from tests.security.fuzzing import ROOT, make_case
from tests.security.trial import INTERNAL, forget_peak, memory
from tests.security.worker import Worker, WorkerError

__all__ = ["ask", "find_problems", "run_many", "start_worker"]

TIMEOUT = 1.0
OVERSHOOT = 0.3
MIB = 1 << 20
LIMITS = Limits(
    timeout=TIMEOUT,
    value_bytes=2 * MIB,
    output_bytes=2 * MIB,
    file_bytes=4 * MIB,
    total_bytes=16 * MIB,
    files=2000,
)
GROWTH = 64
"""MiB that may be gained on the way: 12 of values, 16 of files, 2 of output, and what is needed to
work on them."""
PATIENCE = 30
ZONES = "/usr/share/zoneinfo/"
"""The rules of time zones with well-known names are read from the host."""

HOST_EVENTS = (
    "socket.",
    "subprocess.",
    "os.",
    "shutil.",
    "ctypes.",
    "pty.",
    "urllib.",
    "http.",
    "sqlite3.connect",
    "open",
    "exec",
    "compile",
)
IMPORTING = ("open", "os.listdir", "os.scandir")


class Watch:
    """An audit hook that takes note of what touches the host while a script runs; modules may be
    imported.
    """

    def __init__(self) -> None:
        self.active = False
        self.seen: list[str] = []
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.active or not event.startswith(HOST_EVENTS):
            return
        if event in ("exec", "compile"):
            return
        if event in IMPORTING and str(arguments[0]).startswith(
            (sys.prefix, sys.base_prefix, str(ROOT / "agentsandbox"), ZONES)
        ):
            return
        if event == "sqlite3.connect" and arguments[0] == ":memory:":
            return
        if event == "sqlite3.connect/handle":
            return
        self.seen.append(f"{event} {arguments!r:.200}")


class Errors(logging.Handler):
    """Keeps where internal errors came from."""

    def __init__(self) -> None:
        super().__init__()
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is not None and record.exc_info[1] is not None:
            error = record.exc_info[1]
            frame = traceback.extract_tb(error.__traceback__)[-1]
            self.last = f"{type(error).__name__}: {error!s:.100} in {frame.filename.rpartition('/')[2]}:{frame.lineno}"


ERRORS = Errors()


def find_problems(kind: str, number: int, watch: Watch | None = None) -> list[str]:
    """Run one case; what was wrong."""
    case = make_case(kind, number)
    problems: list[str] = []
    sandbox = Sandbox(limits=LIMITS, seed=1)
    before, _ = memory()
    forget_peak()
    began = monotonic()
    if watch is not None:
        watch.active = True
    try:
        result = sandbox.execute(case.script, stdin=case.stdin)
    except Exception as error:  # noqa: BLE001 - that none comes out is what is tested
        return [f"raised {type(error).__name__}: {str(error)[:300]}"]
    finally:
        if watch is not None:
            watch.active = False
    seconds = monotonic() - began
    growth = (memory()[1] - before) >> 10
    if seconds > TIMEOUT + OVERSHOOT:
        problems.append(f"took {seconds:.2f} s")
    if growth > GROWTH:
        problems.append(f"grew by {growth} MiB")
    if "internal error" in result.stderr:
        problems.append(f"internal error {ERRORS.last}")
    elif not 0 <= result.exit_code <= 255:
        problems.append(f"status {result.exit_code}")
    elif (found := INTERNAL.search(result.stderr)) is not None and found[0] not in case.script:
        problems.append(f"says {found[0]!r}")
    began = monotonic()
    after = sandbox.execute("\\builtin echo alive", state="discard")
    if "internal error" in after.stderr or monotonic() - began > 1:
        problems.append(f"afterwards: {after.stderr[:100]!r} {monotonic() - began:.2f} s")
    sandbox.close()
    if watch is not None and watch.seen:
        problems.append(f"touched the host: {watch.seen[:3]}")
        watch.seen.clear()
    return problems


def work() -> None:
    """The worker: reads "kind number" lines."""
    logging.getLogger("agentsandbox").addHandler(ERRORS)
    Sandbox().execute("true")
    watch = Watch()
    for line in sys.stdin:
        kind, number = line.split()
        print(json.dumps(find_problems(kind, int(number), watch)), flush=True)


def ask(worker: Worker, kind: str, number: int) -> list[str]:
    """The problems of a case that a worker tries."""
    try:
        return list(worker.ask(f"{kind} {number}"))
    except WorkerError as error:
        return [str(error)]


def start_worker() -> Worker:
    """A process of this module."""
    return Worker("tests.security.fuzz_trial", patience=PATIENCE)


def run_many(
    kinds: Iterable[str], count: int, first: int = 0, report: Callable[[str], None] = print
) -> int:
    """Try cases of each kind and report those with problems; 1 if there are any."""
    worker = start_worker()
    failed = 0
    for number in range(first, first + count):
        for kind in kinds:
            problems = ask(worker, kind, number)
            if problems:
                failed += 1
                report(f"{kind} {number}: {'; '.join(problems)}")
    worker.close()
    report(f"{count} of each kind, {failed} with problems")
    return 1 if failed else 0


if __name__ == "__main__":
    work()
