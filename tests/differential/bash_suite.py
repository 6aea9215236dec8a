"""Run bash's own test scripts in real bash and in a sandbox, and count those that agree.

    python -m tests.differential.bash_suite FOLDER [NAME]... [--differences] [--seconds N]

FOLDER is an unpacked source of bash 5.2 (Debian: `apt-get source bash`); nothing of it goes into
this repository. Each script of `tests/` (`*.tests`, the `*.sub` that they call, and four others)
runs by itself as `bash ./NAME < /dev/null > out 2>&1`, once in a copy of the folder with real bash
and once at the same path of a new sandbox, with the same variables and, for the three C programs
that the suite brings, the same shell scripts. A script agrees if its output and its status do.
The answer of bash counts and not the suite's `*.right`, which depends on the machine.

Numbers of processes, times and the like differ from run to run: bash runs each script twice, and
numbers of three digits or more count as equal where its two answers differ. A script whose two
answers differ in more than that, or that takes bash longer than the time allowed, has no
expectation and is left out. Warnings about locales that the machine does not have are removed.
A script's class is its name up to the first digit.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from agentsandbox import Limits, Sandbox
from tests.differential.comparison import real_bash

BESIDE = ("array-at-star", "dollar-at-star", "execscript", "version")
"""Scripts whose names do not end in .tests or .sub."""
NUMBER = re.compile(rb"\d{3,}")
LOCALES = re.compile(rb"(?m)^.*warning: setlocale: .*\n")
USER = 1000
"""The user that scripts run as, as in a sandbox: many of them ask for another one than root."""
PROGRAMS = {
    "recho": r"""#!/bin/bash
LC_ALL=C
show() {
    local word=$1 out= i one code
    if [[ $word != *[$'\1'-$'\37'$'\177']* ]]; then
        printf 'argv[%d] = <%s>\n' "$2" "$word"
        return
    fi
    for ((i = 0; i < ${#word}; i++)); do
        one=${word:i:1}
        printf -v code %d "'$one"
        if ((code >= 0 && code < 32)); then
            printf -v code '\\x%x' $((code + 64))
            printf -v one "^$code"
        elif ((code == 127)); then
            one='^?'
        fi
        out+=$one
    done
    printf 'argv[%d] = <%s>\n' "$2" "$out"
}
declare -i number=0
for argument; do
    number+=1
    show "$argument" $number
done
exit 0
""",
    "zecho": """#!/bin/bash
IFS=' '
printf '%s\\n' "$*"
""",
    "xcase": """#!/bin/bash
case $1 in
-u) exec tr a-z A-Z ;;
-l) exec tr A-Z a-z ;;
esac
exec cat
""",
}
"""What the suite's recho.c, zecho.c and xcase.c do, for both sides."""

Answer = tuple[bytes, int | None]


def variables(root: str) -> dict[str, str]:
    """Return the environment of a script."""
    return {
        "PATH": f"{root}/bin:/usr/bin:/bin",
        "HOME": f"{root}/home",
        "TMPDIR": f"{root}/tmp",
        "BASH_TSTOUT": f"{root}/tmp/out",
        "THIS_SH": "/bin/bash",
        "BUILD_DIR": root,
        "PWD": f"{root}/tests",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/bash",
        "TERM": "dumb",
    }


def prepare(root: Path, source: Path) -> None:
    """Make a folder with a copy of the tests and what they need beside them."""
    shutil.copytree(source / "tests", root / "tests")
    for name in ("bin", "home", "tmp"):
        (root / name).mkdir()
    for name, text in PROGRAMS.items():
        program = root / "bin" / name
        program.write_text(text)
        program.chmod(0o755)
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, USER, USER, follow_symlinks=False)


def restore(root: Path, source: Path) -> None:
    """Undo what a script did to the folder, which `prepare` made."""
    for name in ("home", "tmp"):
        shutil.rmtree(root / name)
        (root / name).mkdir()
        if os.geteuid() == 0:
            os.chown(root / name, USER, USER)
    for path in sorted((root / "tests").rglob("*"), reverse=True):
        original = source / "tests" / path.relative_to(root / "tests")
        if not original.exists():
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        elif path.is_file():
            is_same = path.stat().st_mtime_ns == original.stat().st_mtime_ns
            if not is_same or path.stat().st_mode != original.stat().st_mode:
                shutil.copy2(original, path)


def in_bash(name: str, source: Path, root: Path, bash: str, seconds: float) -> Answer:
    """Return what real bash makes of a script."""
    restore(root, source)
    out = root / "out"
    with out.open("wb") as stream:
        ran = subprocess.Popen(
            [bash, f"./{name}"],
            cwd=root / "tests",
            env=variables(str(root)),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=default_signals,
            **identity(),
        )
        try:
            status = ran.wait(seconds)
        except subprocess.TimeoutExpired:
            return b"", None
        finally:
            end_session(ran.pid)
    return LOCALES.sub(b"", out.read_bytes()), status if status >= 0 else 128 - status


def identity() -> dict[str, Any]:
    """Return the arguments of `Popen` that make a script of root's run as the user of a sandbox."""
    return {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}


def default_signals() -> None:
    """Let a script begin with no signal ignored, also if this runs in the background."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def end_session(leader: int) -> None:
    """End what a script left running: the processes of the group that it was started in."""
    try:
        os.killpg(leader, 9)
    except ProcessLookupError:
        return


def base_sandbox(root: Path) -> Sandbox:
    """Return a sandbox with a copy of the folder that bash starts in."""
    limits = Limits(total_bytes=256 << 20)
    sandbox = Sandbox(
        user="agent", cwd=f"{root}/tests", limits=limits, jobs="kill", script_errexit="never"
    )
    for path in sorted(root.rglob("*")):
        if path.is_dir():
            sandbox.fs.makedirs(str(path))
        elif path.is_file():
            sandbox.fs.write_bytes(str(path), path.read_bytes())
            sandbox.fs.chmod(str(path), stat.S_IMODE(path.stat().st_mode))
    return sandbox


def in_sandbox(name: str, base: Sandbox, root: Path, seconds: float) -> Answer:
    """Return what the sandbox makes of it."""
    words = " ".join(f"{key}={value}" for key, value in variables(str(root)).items())
    script = f"exec env -i {words} bash ./{name} < /dev/null > {root}/out 2>&1"
    with base.fork() as sandbox:
        result = sandbox.execute(script, timeout=seconds)
        out = sandbox.fs.read_bytes(f"{root}/out")
    if result.limit is not None:
        return out + result.stderr_bytes, None
    return LOCALES.sub(b"", out), result.exit_code


def scripts(source: Path, chosen: list[str]) -> list[str]:
    """Return the names of the scripts to run."""
    names = sorted(
        path.name
        for path in (source / "tests").iterdir()
        if path.suffix in (".tests", ".sub") or path.name in BESIDE
    )
    return [name for name in names if not chosen or name in chosen or class_of(name) in chosen]


def class_of(name: str) -> str:
    """Return the name of a script up to the first digit or dot."""
    return re.split(r"[\d.]", name)[0]


def without_numbers(answer: Answer) -> Answer:
    """Return an answer with a mark for each number of three digits or more."""
    return NUMBER.sub(b"N", answer[0]), answer[1]


def compare(
    name: str, source: Path, base: Sandbox, root: Path, bash: str, seconds: float
) -> str | None:
    """Return how the two differ, "" if they agree, None if bash has no expectation."""
    first, second = (in_bash(name, source, root, bash, seconds) for _ in range(2))
    if first[1] is None or second[1] is None:
        return None
    if first != second:
        first, second = without_numbers(first), without_numbers(second)
        if first != second:
            return None
    ours = in_sandbox(name, base, root, 4 * seconds)
    if ours == first or (NUMBER.sub(b"N", ours[0]) == first[0] and ours[1] == first[1]):
        return ""
    lines = [answer[0].decode(errors="replace").splitlines() for answer in (first, ours)]
    shown = list(difflib.unified_diff(*lines, "bash", "sandbox", lineterm="", n=1))
    if first[1] != ours[1]:
        shown.append(f"status {first[1]} in bash, {ours[1]} here")
    return "\n".join(shown) or "differs in its last newline"


def main() -> int:
    """The command line: 0, or 2 without bash 5.2."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.bash_suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a script, or a class of them")
    parser.add_argument("--differences", action="store_true", help="show each difference")
    parser.add_argument("--seconds", type=float, default=10, help="time of one script in bash")
    options = parser.parse_args()
    bash = real_bash()
    if bash is None:
        print("there is no bash 5.2 here")
        return 2
    if not (options.folder / "tests" / "run-all").exists():
        parser.error(f"{options.folder} is not a source of bash")
    agree: dict[str, list[str]] = defaultdict(list)
    differ: dict[str, list[str]] = defaultdict(list)
    without = []
    with tempfile.TemporaryDirectory(prefix="bash-suite-") as folder:
        Path(folder).chmod(0o755)
        root = Path(os.path.realpath(folder)) / "suite"
        root.mkdir()
        prepare(root, options.folder)
        base = base_sandbox(root)
        for name in scripts(options.folder, options.names):
            shown = compare(name, options.folder, base, root, bash, options.seconds)
            if shown is None:
                without.append(name)
                continue
            (differ if shown else agree)[class_of(name)].append(name)
            if shown and options.differences:
                print(f"==== {name}\n{shown}\n", flush=True)
    for kind in sorted({*agree, *differ}):
        right, wrong = agree[kind], differ[kind]
        print(f"{kind:16}{len(right):4} of {len(right) + len(wrong):3}  {' '.join(wrong)}")
    right, wrong = (sum(map(len, group.values())) for group in (agree, differ))
    print(f"{right} of {right + wrong} scripts agree: {100 * right / max(1, right + wrong):.1f} %")
    print(f"no expectation: {' '.join(without) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
