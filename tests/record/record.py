#!/usr/bin/env python3
"""Record what real bash and the real tools answer to the cases of spec files.

    tests/record/record.py FILE...          fill in stdout, stderr and status of every case
    tests/record/record.py --check FILE...  change nothing, report what differs

Everything else in a file (order, comments, hand-written fields) stays as it is. Cases with a
`divergence` are left alone.
"""

from __future__ import annotations

import argparse
import base64
import os
import pwd
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.record.cases import DIRECTORY, ENVIRONMENT, MTIME, Case, load

SECONDS = 20
USER = 1000
SANDBOX_USER = b"agent"
RECORDED = frozenset(("stdout", "stderr", "stdout_b64", "stderr_b64", "status"))
KEY = re.compile(r"([A-Za-z0-9_-]+)\s*=")


def main() -> int:
    """The command line: 0, or 1 when a check found differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only report differences")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    differences = 0
    for path in options.files:
        differences += check(path) if options.check else record(path)
    return 1 if differences and options.check else 0


def check(path: Path) -> int:
    """Report the cases whose recorded answer is not what the tools say now; how many there are."""
    count = 0
    for case in load(path):
        if case.divergence is None:
            answer = run(case)
            if answer != (case.stdout, case.stderr, case.status):
                count += 1
                print(
                    f"{path}: {case.name}\n  recorded "
                    f"{(case.stdout, case.stderr, case.status)}\n  now      {answer}"
                )
    return count


def record(path: Path) -> int:
    """Fill in the answers; how many cases changed."""
    cases = load(path)
    blocks = split_blocks(path.read_text(encoding="utf-8"))
    changed = 0
    out = [blocks[0]]
    for case, block in zip(cases, blocks[1:], strict=True):
        new = block if case.divergence is not None else with_answer(block, *run(case))
        changed += new != block
        out.append(new)
    text = "".join(out)
    tomllib.loads(text)
    if changed:
        path.write_text(text, encoding="utf-8")
    print(f"{path}: {len(cases)} cases, {changed} changed")
    return changed


def run(case: Case) -> tuple[bytes, bytes, int]:
    """What the real bash answers, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="case-") as directory:
        root = os.path.join(os.path.realpath(directory), "work")
        os.mkdir(root, 0o755)
        place_files(case, root)
        as_root = os.geteuid() == 0
        if as_root:
            os.chmod(directory, 0o755)
            for here, directories, names in os.walk(root):
                for name in [*directories, *names, "."]:
                    os.chown(os.path.join(here, name), USER, USER, follow_symlinks=False)
        process = subprocess.Popen(
            ["bash", "-c", case.script, "bash", *case.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=root,
            env={**ENVIRONMENT, "PWD": root, **case.env},
            umask=0o022,
            start_new_session=True,
            **({"user": USER, "group": USER, "extra_groups": []} if as_root else {}),
        )
        try:
            out, err = process.communicate(case.stdin, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise SystemExit(
                f"{case.name}: the real bash did not end within {SECONDS} seconds"
            ) from None
        status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        return neutral(out, root), neutral(err, root), status


def neutral(data: bytes, root: str) -> bytes:
    """The output without what only this machine has: the directory and the user's name."""
    data = data.replace(os.fsencode(root), DIRECTORY.encode())
    try:
        name = pwd.getpwuid(USER if os.geteuid() == 0 else os.geteuid()).pw_name
    except KeyError:
        return data
    return re.sub(rb"\b%s\b" % re.escape(name.encode()), SANDBOX_USER, data)


def place_files(case: Case, root: str) -> None:
    """Make the case's files below `root`, times last."""
    for file in case.files:
        path = os.path.join(root, file.path)
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        if file.link is not None:
            os.symlink(file.link, path)
        elif not file.is_directory:
            Path(path).write_bytes(file.content)
    for here, _, _ in os.walk(root, topdown=False):
        os.utime(here, (MTIME, MTIME))
    for file in case.files:
        path = os.path.join(root, file.path)
        if file.link is None:
            os.chmod(path, file.mode)
        os.utime(path, (file.mtime, file.mtime), follow_symlinks=False)


# The text of a spec file


def split_blocks(text: str) -> list[str]:
    """What stands before the first case, then one text per case, each from its `[[case]]` line
    on.
    """
    blocks = [""]
    for item, key in items(text):
        if key is None and item.lstrip().startswith("[[case]]"):
            blocks.append("")
        blocks[-1] += item
    return blocks


def items(text: str) -> list[tuple[str, str | None]]:
    """A TOML text as lines and whole `key = value` items (which may be several lines): (text, key
    or None).
    """
    found: list[tuple[str, str | None]] = []
    lines = text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        match = KEY.match(lines[at].strip())
        end = at + 1
        if match:
            while not _is_toml("".join(lines[at:end])):
                end += 1
                if end > len(lines):
                    raise SystemExit(f"cannot read the value at: {lines[at].rstrip()}")
        found.append(("".join(lines[at:end]), match.group(1) if match else None))
        at = end
    return found


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def with_answer(block: str, stdout: bytes, stderr: bytes, status: int) -> str:
    """The block with its recorded items replaced; they stand after the last item that is written by
    hand.
    """
    kept = [item for item in items(block) if item[1] not in RECORDED]
    table = next(
        (
            at
            for at, (text, key) in enumerate(kept)
            if at and key is None and text.lstrip().startswith("[")
        ),
        len(kept),
    )
    last = max((at for at, (_, key) in enumerate(kept[:table]) if key is not None), default=0)
    answer = [*_output("stdout", stdout), *_output("stderr", stderr), f"status = {status}\n"]
    before = "".join(text for text, _ in kept[: last + 1])
    return (
        (before if before.endswith("\n") else before + "\n")
        + "".join(answer)
        + "".join(text for text, _ in kept[last + 1 :])
    )


def _output(key: str, data: bytes) -> list[str]:
    if not data:
        return []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return [f'{key}_b64 = "{base64.b64encode(data).decode("ascii")}"\n']
    return [f"{key} = {toml_string(text)}\n"]


def toml_string(text: str) -> str:
    """A basic string; over several lines when it has several."""
    several = text.count("\n") > 2
    out = []
    for character in text:
        if character in '\\"':
            out.append("\\" + character)
        elif character == "\n":
            out.append("\n" if several else "\\n")
        elif character == "\t":
            out.append("\\t")
        elif ord(character) < 32 or ord(character) == 127:
            out.append(f"\\u{ord(character):04x}")
        else:
            out.append(character)
    body = "".join(out)
    return f'"""\n{body}"""' if several else f'"{body}"'


if __name__ == "__main__":
    sys.exit(main())
