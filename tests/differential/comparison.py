"""One script in both shells."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile

from agentsandbox import Limits, Sandbox

__all__ = ["Answer", "difference", "real_bash"]

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/user", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
SECONDS = 5
Sandbox().execute("true")  # sets the recursion limit before hypothesis takes note of it
Answer = tuple[bytes, bytes, int]


def real_bash() -> str | None:
    """The bash of this machine, if it is the release that the sandbox follows."""
    found = shutil.which("bash")
    if found is None:
        return None
    version = subprocess.run([found, "-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"], capture_output=True, check=True).stdout
    return found if version.strip() == b"5.2" else None


def in_bash(script: str, bash: str) -> Answer:
    """What real bash makes of a script, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="differential-") as directory:
        root = os.path.realpath(directory)
        ran = subprocess.run(
            [bash, "-c", script, "bash"], cwd=root, env={**ENVIRONMENT, "PWD": root},
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )
        status = ran.returncode if ran.returncode >= 0 else 128 - ran.returncode
        return ran.stdout.replace(os.fsencode(root), b"/work"), ran.stderr.replace(os.fsencode(root), b"/work"), status


def in_sandbox(script: str) -> Answer:
    """What the sandbox makes of it."""
    with Sandbox(cwd="/work", env=ENVIRONMENT, limits=Limits(timeout=SECONDS)) as sandbox:
        result = sandbox.execute(script)
    return result.stdout_bytes, result.stderr_bytes, result.exit_code


def neutral(answer: Answer) -> Answer:
    """Without what differs on purpose (docs/differences.md): functions called from `bash -c` have no file."""
    out, err, status = answer
    return out, re.sub(rb"(?m)^environment: line", b"bash: line", err), status


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
