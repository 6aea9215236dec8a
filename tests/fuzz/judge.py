"""What every input of a target must keep: the invariant, and how it is watched.

A target calls `judged` with its work, or `judged_script` with a script; both raise `Problem` for

  * an exception other than those that the target lists as documented
  * an internal error, or Python's words in what a script prints
  * CPU time beyond the deadline, or a long step between two looks at the clock
  * growth of the process beyond what the limits allow
  * an access to the host's files, sockets or processes
  * a sandbox that does not answer afterwards

Times are CPU times of this thread. They are trusted on a quiet machine only: the engine tries an
input again before it reports one of `DOUBTFUL`.
"""

from __future__ import annotations

import logging
import resource
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from time import thread_time
from typing import TYPE_CHECKING

from agentsandbox import ExecutionResult, Limits, Sandbox
from agentsandbox.kernel.budget import Budget
from tests.security.fuzz_trial import Watch
from tests.security.trial import INTERNAL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = [
    "DOUBTFUL",
    "LIMITS",
    "Problem",
    "judged",
    "judged_script",
    "prepare",
    "sandbox_with",
    "watching",
]

MIB = 1 << 20
TIMEOUT = 0.4
LIMITS = Limits(
    timeout=TIMEOUT,
    value_bytes=1 * MIB,
    output_bytes=1 * MIB,
    file_bytes=2 * MIB,
    total_bytes=8 * MIB,
    files=1000,
    depth=100,
)
GROWTH = 8 + 6 * 1 + 64
"""MiB that one input may make the process grow by: the files, the values, and 64."""
OVERSHOOT = 0.3
"""Seconds of CPU past the deadline; twice that and more while atheris counts branches."""
LONG_STEP = 0.2
"""Seconds of CPU between two looks at the clock."""
DOUBTFUL = ("late", "long step")
"""Kinds of problems that a busy machine, or a collection of garbage, can feign."""


class Problem(Exception):
    """The invariant is broken: `kind` in a word or two, `place` in the code, and what was seen."""

    def __init__(self, kind: str, place: str, seen: str) -> None:
        super().__init__(f"{kind} at {place}: {seen}")
        self.kind = kind
        self.place = place


class _Internal(logging.Handler):
    """Keeps the error that an execution reports to the host's log."""

    def __init__(self) -> None:
        super().__init__()
        self.error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is not None:
            self.error = record.exc_info[1]


class _Looks:
    """The longest CPU time between two looks at the clock, and the place of the later one."""

    def __init__(self) -> None:
        self.last = self.longest = 0.0
        self.place = ""
        check_time = Budget.check_time

        def check(budget: Budget) -> None:
            self.look()
            check_time(budget)

        self.check = check
        self.unwatched = check_time
        Budget.check_time = check  # type: ignore[method-assign]

    def begin(self) -> None:
        self.longest, self.place, self.last = 0.0, "", thread_time()

    def look(self) -> None:
        now = thread_time()
        if now - self.last > self.longest:
            self.longest = now - self.last
            if self.longest > LONG_STEP:
                self.place = _caller()
        self.last = now


def _caller() -> str:
    """Return the place in the package, outside the budget, that looked at the clock."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if "/agentsandbox/" in code.co_filename and not code.co_filename.endswith("budget.py"):
            return f"{code.co_filename.rpartition('/agentsandbox/')[2]}:{code.co_name}"
        frame = frame.f_back
    return "?"


def place_of(error: BaseException) -> str:
    """Return the innermost place in the package at which an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/agentsandbox/" in frame.filename] or frames[-1:]
    last = ours[-1]
    return f"{last.filename.rpartition('/agentsandbox/')[2]}:{last.name}"


_watch: Watch | None = None
_looks: _Looks | None = None
_internal = _Internal()
SLOWNESS = 1.0
"""How much slower than usual the code runs: the engine sets it when it counts branches."""


def prepare(slowness: float = 1.0) -> None:
    """Begin to watch this process; nothing after the first call but `slowness`."""
    global _watch, _looks, SLOWNESS
    SLOWNESS = slowness
    if _watch is None:
        _watch = Watch()
        _looks = _Looks()
        logger = logging.getLogger("agentsandbox")
        logger.addHandler(_internal)
        logger.propagate = False


@contextmanager
def watching() -> Iterator[None]:
    """For the tests, whose process is not the fuzzer's: watch inside the block only."""
    assert _looks is not None
    logger = logging.getLogger("agentsandbox")
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    Budget.check_time = _looks.check  # type: ignore[method-assign]
    logger.addHandler(_internal)
    logger.propagate = False
    try:
        yield
    finally:
        Budget.check_time = _looks.unwatched  # type: ignore[method-assign]
        logger.removeHandler(_internal)
        logger.propagate = True
        sys.dont_write_bytecode = written


def _resident() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@contextmanager
def _watched() -> Iterator[None]:
    """Raise `Problem` for what the block takes of time, memory and the host."""
    assert _watch is not None, "prepare() first"
    assert _looks is not None
    linux = sys.platform == "linux"
    before = _resident() if linux else 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _internal.error = None
    _watch.seen.clear()
    _watch.active = True
    _looks.begin()
    began = thread_time()
    try:
        yield
    finally:
        taken = thread_time() - began
        _looks.look()
        _watch.active = False
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if _internal.error is not None:
        error = _internal.error
        text = "".join(traceback.format_exception(error))[-1500:]
        raise Problem(f"internal error {type(error).__name__}", place_of(error), text)
    if _watch.seen:
        raise Problem("touched the host", _watch.seen[0][:40], repr(_watch.seen[:3]))
    if linux and after > peak and after * 1024 - before > GROWTH * MIB:
        raise Problem("growth", f"{(after * 1024 - before) >> 20} MiB", "")
    if taken > (TIMEOUT + OVERSHOOT) * SLOWNESS:
        raise Problem("late", f"{_looks.place}", f"{taken:.2f} s of CPU")
    if _looks.longest > LONG_STEP * SLOWNESS:
        raise Problem("long step", _looks.place, f"{_looks.longest:.2f} s of CPU")


def judged(work: Callable[[], object], documented: tuple[type[BaseException], ...] = ()) -> object:
    """Return `work()`, or None if it raised a documented error. Raises `Problem`."""
    try:
        with _watched():
            try:
                return work()
            except documented:
                return None
    except Problem:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        text = "".join(traceback.format_exception(error))[-1500:]
        raise Problem(f"raised {type(error).__name__}", place_of(error), text) from None


def sandbox_with(files: Mapping[str, bytes], **options: object) -> Sandbox:
    """Return a sandbox with small limits and these files in its working directory."""
    sandbox = Sandbox(limits=LIMITS, seed=1, clock=lambda: 1_700_000_000.0, **options)  # type: ignore[arg-type]
    for name, content in files.items():
        path = f"{sandbox.cwd}/{name}"
        if "/" in name:
            sandbox.fs.makedirs(path.rpartition("/")[0])
        sandbox.fs.write_bytes(path, content)
    return sandbox


def judged_script(
    sandbox: Sandbox, script: str, *, args: tuple[str, ...] = (), stdin: bytes = b""
) -> ExecutionResult:
    """Run a script and close the sandbox; return the result. Raises `Problem`."""
    try:
        result = judged(lambda: sandbox.execute(script, args=args, stdin=stdin))
        assert isinstance(result, ExecutionResult)
        found = INTERNAL.search(result.stderr)
        if found is not None and not any(found[0] in each for each in (script, *args)):
            if found[0].encode() not in stdin:
                raise Problem("Python's words", found[0], result.stderr[-500:])
        if not 0 <= result.exit_code <= 255:
            raise Problem("status", str(result.exit_code), result.stderr[-500:])
        after = judged(lambda: sandbox.execute("\\builtin echo alive", state="discard"))
        assert isinstance(after, ExecutionResult)
        if after.exit_code == 70 or after.limit == "timeout":
            raise Problem("afterwards", str(after.limit), after.stderr[-500:])
        return result
    finally:
        sandbox.close()
