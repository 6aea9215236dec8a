"""One script in both shells."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile

from agentsandbox import Limits, Sandbox

__all__ = ["Answer", "difference", "real_bash", "smallest"]

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/user", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
SECONDS = 5
PLACE = re.compile(rb"(?m)^environment: line")
UNREADABLE = re.compile(
    r"syntax error near|unexpected (EOF|argument)|conditional expression|bad substitution: no closing"
)
Sandbox().execute("true")  # sets the recursion limit before hypothesis takes note of it
Answer = tuple[bytes, bytes, int]


def real_bash() -> str | None:
    """The bash of this machine, if it is the release that the sandbox follows."""
    found = shutil.which("bash")
    if found is None:
        return None
    version = subprocess.run(
        [found, "-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"],
        capture_output=True,
        check=True,
    ).stdout
    return found if version.strip() == b"5.2" else None


def in_bash(script: str, bash: str) -> Answer:
    """What real bash makes of a script, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="differential-") as directory:
        root = os.path.realpath(directory)
        ran = subprocess.run(
            [bash, "-c", script, "bash"],
            cwd=root,
            env={**ENVIRONMENT, "PWD": root},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        status = ran.returncode if ran.returncode >= 0 else 128 - ran.returncode
        return (
            ran.stdout.replace(os.fsencode(root), b"/work"),
            ran.stderr.replace(os.fsencode(root), b"/work"),
            status,
        )


def in_sandbox(script: str) -> Answer:
    """What the sandbox makes of it."""
    with Sandbox(cwd="/work", env=ENVIRONMENT, limits=Limits(timeout=SECONDS)) as sandbox:
        result = sandbox.execute(script)
    return result.stdout_bytes, result.stderr_bytes, result.exit_code


def neutral(answer: Answer) -> Answer:
    """Without what may differ: functions called from `bash -c` have no file."""
    out, err, status = answer
    return out, PLACE.sub(b"bash: line", err), status


def difference(script: str, bash: str) -> str | None:
    """How the two differ, None if they do not (or if bash takes too long)."""
    try:
        real = neutral(in_bash(script, bash))
    except subprocess.TimeoutExpired:
        return None
    ours = neutral(in_sandbox(script))
    if real == ours:
        return None
    shown = [script]
    for name, theirs, mine in zip(("stdout", "stderr", "status"), real, ours, strict=True):
        if theirs != mine:
            shown.append(f"  {name} of bash     {theirs!r}\n  {name} of sandbox  {mine!r}")
    return "\n".join(shown)


def smallest(script: str, bash: str) -> str:
    """A script with less in it that still differs: commands, then words are left out; the first two
    lines stay.
    """
    start = "".join(script.splitlines(keepends=True)[:2])
    rest = script[len(start) :]
    for separator in (
        r"(\n)",
        r"((?:; |;;&? |;& |\n| && | \|\|? )(?:do |then |else |elif )?)",
        r"((?: |\n|;)+)",
    ):
        parts = re.split(separator, rest)
        pairs = ["".join(parts[at : at + 2]) for at in range(0, len(parts), 2)]
        at = 0
        while at < len(pairs) and len(pairs) < 60:
            less = pairs[:at] + pairs[at + 1 :]
            text = start + "".join(less)
            if well_formed(text, bash) and differs(text, bash):
                pairs = less
            else:
                at += 1
        rest = "".join(pairs)
    return start + rest


def differs(script: str, bash: str) -> bool:
    """Whether output or status differ, of a script that bash can read to its end."""
    shown = difference(script, bash)
    if shown is not None and UNREADABLE.search(shown):
        return False
    return shown is not None and ("  stdout of" in shown or "  status of" in shown)


def well_formed(script: str, bash: str) -> bool:
    """Whether bash can read it."""
    read = subprocess.run(
        [bash, "-n", "-c", script], capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    return not read.stderr and read.returncode == 0
