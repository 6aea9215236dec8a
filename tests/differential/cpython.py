"""Run CPython's own tests inside a sandbox, and count what fails and why.

    python -m tests.differential.cpython FOLDER [--module NAME]... [--failures]

FOLDER is the `Lib/test` of an installed CPython; its files are put into a sandbox, never into this
repository. Each module runs as `python3 -m unittest`; one that takes longer than `SECONDS` is run
class by class, and so is one that ends the interpreter; a class likewise test by test. A test that
gives no report then counts as one error. Failures are sorted into classes by what their tracebacks say. Tests of another version
than the guest's fail for that alone: in modules that ask nothing of the system (`PURE`), a failure
that says nothing of it counts as a difference of version.
"""

from __future__ import annotations

import argparse
import re
import stat
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from agentsandbox import Limits, Sandbox

SECONDS, SECONDS_OF_ONE = 60, 5
"""The time of a module or a class, and that of one test that runs alone."""
LIBRARY = "/home/user/lib"
MODULES = (
    "test_json",
    "test_csv",
    "test_re",
    "test_pathlib",
    "test_argparse",
    "test_subprocess",
    "test_zipfile",
    "test_sqlite3",
    "test_datetime",
    "test_textwrap",
    "test_collections",
    "test_statistics",
)
DATA = ("support", "archivetestdata", "subprocessdata", "translationdata", "typinganndata", "data")
"""Folders that these modules read beside their own."""

CLASSES = (
    ("took too long", r"took longer than \d+ s"),
    ("threads", r"can't start new thread|in start_threads|threading_helper|line \d+, in start\b"),
    ("sockets", r"\bsocket\b|_socket"),
    ("signals", r"\bsignal\b|SIG[A-Z]{2,}"),
    ("subprocess", r"subprocess|script_helper|assert_python|os\.fork|_exec|spawn"),
    ("decimal", r"decimal|Decimal"),
    ("permission bits", r"chmod|umask|st_mode|Permission|lchmod|\bowner|\bgroup\(|pwd|grp"),
    ("errno", r"\[Errno \d+\]|errno\."),
    ("memory and stack", r"MemoryError|RecursionError|OverflowError|maxsize|stack"),
    ("links and files", r"NotADirectoryError|FileNotFoundError|OSError|symlink|mkfifo|os\.link"),
    ("version difference", r"has no attribute|unexpected keyword|is not a valid|cannot import"),
)
"""Name of a class of failures, and what a traceback of it says; the first that fits counts."""

PURE = frozenset(
    ("test_json", "test_csv", "test_re", "test_argparse", "test_textwrap")
    + ("test_collections", "test_statistics", "test_datetime")
)
OTHER = "other"

SECTION = re.compile(
    r"^={70}\n(ERROR|FAIL): (.+?)\n-{70}\n(.*?)(?=^={70}\n|^-{70}\n)", re.MULTILINE | re.DOTALL
)
RAN = re.compile(r"^Ran (\d+) tests?", re.MULTILINE)
RAISED = re.compile(r"[\w.]+(?:Error|Exit|Exception|Warning|Expired|Interrupt)\b")
ENDS = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
LIST = """
import doctest, sys, unittest
def walk(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from walk(test)
        elif not isinstance(test, doctest.DocTestCase):
            yield test.id()
names = dict.fromkeys(walk(unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])))
print("\\n".join(names))
"""


@dataclass
class Tally:
    """What the tests of one module gave."""

    rest: str = OTHER
    ran: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Count a report of unittest."""
        ran, ends = RAN.search(text), ENDS.findall(text)
        self.ran += int(ran[1]) if ran else 0
        for name, count in re.findall(r"(\w+)=(\d+)", ends[-1] if ends else ""):
            if name in ("failures", "errors", "skipped"):
                kind = "failed" if name == "failures" else name
                setattr(self, kind, getattr(self, kind) + int(count))
        for kind, name, body in SECTION.findall(f"{text}\n{'=' * 70}\n"):
            self.classes[class_of(body, self.rest)] += 1
            lines = [line for line in body.splitlines() if RAISED.match(line)]
            self.shown.append(f"{kind} {name}: {(lines or [''])[-1][:200]}")

    def lost(self, name: str, why: str) -> None:
        """Count tests that gave no report."""
        self.errors += 1
        self.classes[class_of(why, OTHER)] += 1
        self.shown.append(f"LOST {name}: {why[-300:]}")


def class_of(body: str, rest: str) -> str:
    """Return the class of a failure, `rest` if nothing in it says one."""
    return next((name for name, pattern in CLASSES if re.search(pattern, body)), rest)


def place(sandbox: Sandbox, folder: Path, modules: list[str]) -> None:
    """Put the tests and what they need into the sandbox."""
    chosen = [path for path in folder.glob("*.py") if not path.name.startswith("test_")]
    for name in modules:
        single = folder / f"{name}.py"
        chosen += [single] if single.exists() else (folder / name).rglob("*")
    for name in DATA:
        chosen += (folder / name).rglob("*")
    for path in chosen:
        if path.is_file() and "__pycache__" not in path.parts:
            target = f"{LIBRARY}/test/{path.relative_to(folder).as_posix()}"
            sandbox.fs.makedirs(target.rpartition("/")[0])
            content = path.read_bytes()
            if path.name == "script_helper.py":  # the option is refused: there are no signals
                content = content.replace(b", '-X', 'faulthandler'", b"")
            sandbox.fs.write_bytes(target, content)
            sandbox.fs.chmod(target, stat.S_IMODE(path.stat().st_mode))


def run_module(sandbox: Sandbox, name: str) -> Tally:
    """Run a module in one piece, or class by class where that takes too long."""
    tally = Tally("version difference" if name in PURE else OTHER)
    if not run_piece(sandbox, f"test.{name}", tally):
        return tally
    listed = sandbox.execute(f"python3 -c '{LIST}' test.{name}", state="discard")
    if listed.exit_code != 0:
        tally.lost(name, listed.stderr)
    classes: dict[str, list[str]] = {}
    for one in listed.stdout.splitlines():
        classes.setdefault(one.rpartition(".")[0], []).append(one)
    for kind, tests in classes.items():
        for one in tests if run_piece(sandbox, kind, tally) else ():
            if why := run_piece(sandbox, one, tally, SECONDS_OF_ONE):
                tally.lost(one, why)
    return tally


def run_piece(sandbox: Sandbox, name: str, tally: Tally, seconds: int = SECONDS) -> str:
    """Run tests by their name and count them; return why there is no report, or ""."""
    command = f"timeout {seconds} python3 -m unittest {name} < /dev/null"
    result = sandbox.execute(command, state="discard")
    if result.limit == "timeout" or result.exit_code == 124:
        return f"took longer than {seconds} s"
    if not RAN.search(result.stderr):
        return f"status {result.exit_code}: {result.stderr or result.stdout}"
    tally.add(result.stderr)
    return ""


def main() -> int:
    """The command line: 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.cpython",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--module", action="append", choices=MODULES, help="only this one")
    parser.add_argument("--failures", action="store_true", help="show each failure")
    options = parser.parse_args()
    if not (options.folder / "support").is_dir():
        parser.error(f"{options.folder} is not the Lib/test of a CPython")
    modules = options.module or list(MODULES)
    limits = Limits(timeout=SECONDS, total_bytes=512 << 20, file_bytes=256 << 20)
    print(f"{'module':18}{'run':>6}{'failed':>8}{'errors':>8}{'skipped':>9}  failures by class")
    for name in modules:
        with Sandbox(
            python=True, user="user", cwd="/home/user", env={"PYTHONPATH": LIBRARY}, limits=limits
        ) as sandbox:
            place(sandbox, options.folder, [name])
            tally = run_module(sandbox, name)
        classes = ", ".join(f"{kind} {count}" for kind, count in tally.classes.most_common())
        print(
            f"{name:18}{tally.ran:6}{tally.failed:8}{tally.errors:8}{tally.skipped:9}  {classes}",
            flush=True,
        )
        if options.failures:
            print("\n".join(f"    {line}" for line in tally.shown), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
