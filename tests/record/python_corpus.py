#!/usr/bin/env python3
"""Record what the real CPython answers to the cases of the Python corpus.

    tests/record/python_corpus.py --python PREFIX [--packages FOLDER] FILE...
    tests/record/python_corpus.py --check --python PREFIX FILE...

PREFIX is the prefix of an installation (its bin/python3 is used); FOLDER holds the packages that
some cases import (made by `pip install --target`). Needs root on Linux: it makes a mount namespace
in which /home/user and /tmp are empty, and runs the cases as user 1000, so paths
are those of the sandbox. Cases with a `divergence` are left alone.
"""

from __future__ import annotations

import argparse
import base64
import os
import shutil
import signal
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.record.cases import MTIME
from tests.record.python_cases import ENVIRONMENT, HOME, Answer, Entry, PythonCase, load
from tests.record.record import SECONDS, USER, items, place_files, split_blocks, toml_string

RECORDED = frozenset(("stdout", "stdout_b64", "error", "error_b64", "status", "made", "gone"))
INSIDE = "--inside"
PYTHON, PACKAGES = "/opt/python", "/opt/packages"


def main() -> int:
    """The command line: 0, or 1 when a check found differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only report differences")
    parser.add_argument("--python", required=True, type=Path, metavar="PREFIX")
    parser.add_argument("--packages", type=Path, metavar="FOLDER")
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    if not options.inside:
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            parser.error("recording needs root and unshare(1): it makes a mount namespace")
        command = ["unshare", "--mount", sys.executable, __file__, INSIDE, *sys.argv[1:]]
        return subprocess.run(command, check=False).returncode
    paths = [path.resolve() for path in options.files]
    enter_room(options.python.resolve(), options.packages and options.packages.resolve())
    return max(check(path) if options.check else record(path) for path in paths)


def enter_room(python: Path, packages: Path | None) -> None:
    """Mount the directories that the cases see."""
    mount("-t", "tmpfs", "-o", "mode=755", "room", "/opt")
    os.mkdir(PYTHON)
    mount("--bind", str(python), PYTHON)
    cache = "/opt/ld.so.cache"  # where the loader finds a shared libpython
    subprocess.run(["ldconfig", "-C", cache, f"{PYTHON}/lib"], check=True)
    mount("--bind", cache, "/etc/ld.so.cache")
    if packages is not None:
        os.mkdir(PACKAGES)
        mount("--bind", str(packages), PACKAGES)
    mount("-t", "tmpfs", "-o", "mode=755", "room", "/home")
    mount("-t", "tmpfs", "-o", "mode=1777", "room", "/tmp")


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def check(path: Path) -> int:
    """Report the cases whose recorded answer is not what Python says now; 1 if there are any."""
    found = 0
    for case in load(path):
        if case.case.divergence is None:
            if case.answer is None:
                print(f"{path.name}: {case.name}: not recorded")
                found = 1
            elif differences := run(case).differences(case.answer):
                print(f"{path.name}: {case.name}\n  " + "\n  ".join(differences))
                found = 1
    return found


def record(path: Path) -> int:
    """Fill in the answers of a file; 0."""
    cases = load(path)
    blocks = split_blocks(path.read_text(encoding="utf-8"))
    out = [blocks[0]]
    for case, block in zip(cases, blocks[1:], strict=True):
        out.append(block if case.case.divergence else with_answer(block, run(case)))
    text = "".join(out)
    tomllib.loads(text)
    changed = text != path.read_text(encoding="utf-8")
    print(f"{path.name}: {len(cases)} cases, {'changed' if changed else 'as before'}")
    path.write_text(text, encoding="utf-8")
    return 0


def run(case: PythonCase) -> Answer:
    """Return what the real Python gives for the case."""
    for directory in (HOME, "/tmp"):
        clear(directory)
    place(case)
    before = snapshot()
    process = subprocess.Popen(
        ["bash", "-c", case.case.script, "bash", *case.case.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=HOME,
        env={
            **ENVIRONMENT,
            "PATH": f"{PYTHON}/bin:/usr/bin:/bin",
            **({"PYTHONPATH": PACKAGES} if case.packages else {}),
            **case.case.env,
        },
        umask=0o022,
        start_new_session=True,
        user=USER,
        group=USER,
        extra_groups=[],
    )
    try:
        out, err = process.communicate(case.case.stdin, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise SystemExit(f"{case.name}: did not end within {SECONDS} seconds") from None
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return case.answered(neutral(out), neutral(err), status, before, snapshot())


def neutral(data: bytes) -> bytes:
    """Return the output with the path that Python has in the sandbox."""
    return data.replace(f"{PYTHON}/bin/python".encode(), b"/usr/bin/python")


def clear(directory: str) -> None:
    os.makedirs(directory, exist_ok=True)
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def place(case: PythonCase) -> None:
    """Make the files of the case in the directory, owned by the user who runs it."""
    from dataclasses import replace

    place_files(replace(case.case, files=tuple(case.all_files())), HOME)
    for here, directories, names in os.walk(os.fsencode(HOME)):
        for name in [*directories, *names, b"."]:
            os.chown(os.path.join(here, name), USER, USER, follow_symlinks=False)
    os.utime(HOME, (MTIME, MTIME))


def snapshot() -> dict[str, Entry]:
    """Return what stands below the directory, by relative path; directories end in a slash."""
    found: dict[str, Entry] = {}
    for here, directories, names in os.walk(HOME):
        for name in [*directories, *names]:
            path = os.path.join(here, name)
            shown = os.path.relpath(path, HOME)
            status = os.lstat(path)
            mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                found[shown] = Entry(link=os.readlink(path))
            elif stat.S_ISDIR(status.st_mode):
                found[f"{shown}/"] = Entry(None, mode)
            else:
                found[shown] = Entry(Path(path).read_bytes(), mode)
    return found


# The text of a file of cases


def with_answer(block: str, answer: Answer) -> str:
    """Return the block with its recorded items replaced, after those that are written by hand."""
    kept = [item for item in items(block) if item[1] not in RECORDED]
    last = max((at for at, (_, key) in enumerate(kept) if key is not None), default=0)
    recorded = [
        *_output("stdout", answer.stdout),
        *_output("error", answer.error),
        f"status = {answer.status}\n",
    ]
    if answer.made:
        pairs = (f"{_shown(path)} = {_entry(entry)}" for path, entry in answer.made.items())
        recorded.append(f"made = {{ {', '.join(pairs)} }}\n")
    if answer.gone:
        recorded.append(f"gone = [{', '.join(_shown(path) for path in answer.gone)}]\n")
    before = "".join(text for text, _ in kept[: last + 1])
    return (
        (before if before.endswith("\n") else before + "\n")
        + "".join(recorded)
        + "".join(text for text, _ in kept[last + 1 :])
    )


def _shown(path: str) -> str:
    return toml_string(path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def _output(key: str, data: bytes) -> list[str]:
    if not data:
        return []
    text = _text(data)
    if text is None:
        return [f'{key}_b64 = "{base64.b64encode(data).decode("ascii")}"\n']
    return [f"{key} = {toml_string(text)}\n"]


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _entry(entry: Entry) -> str:
    if entry.varies:
        return "{ any = true }"
    if entry.link is not None:
        return f"{{ link = {toml_string(entry.link)} }}"
    usual = 0o755 if entry.content is None else 0o644
    mode = "" if entry.mode == usual else f', mode = "{entry.mode:o}"'
    if entry.content is None:
        return f'{{ text = ""{mode} }}' if mode else '""'
    text = _text(entry.content)
    if text is None:
        return f'{{ b64 = "{base64.b64encode(entry.content).decode("ascii")}"{mode} }}'
    return f"{{ text = {toml_string(text)}{mode} }}" if mode else toml_string(text)


if __name__ == "__main__":
    sys.exit(main())
