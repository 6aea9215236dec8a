"""The format of the specs: `[[case]]` tables with a script, the files it finds and what real bash
made of it.

    [[case]]
    name = "a missing file does not stop the others"
    files = { "a" = "1\\n", "b.sh" = { text = "echo hi", mode = "755" }, "c" = { link = "a" }, "d/"
    = "" }
    stdin = "…"             # or stdin_b64
    env = { X = "1" }       # beside the clean environment
    args = ["x", "y"]       # "$1", "$2"
    script = "head -n 1 nope a"
    status = 1              # this and stdout, stderr (or stdout_b64, stderr_b64) are recorded
    divergence = "why"      # the expectation is ours: the recorder leaves the case alone

A file is a text or a table of one of `text`, `b64`, `link`, with an octal `mode` and an `mtime`
(seconds); a name with a final slash is an empty directory.
"""

from __future__ import annotations

import base64
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/user",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
DIRECTORY = "/work"
MTIME = 1_700_000_000
INPUT_KEYS = ("name", "files", "stdin", "stdin_b64", "env", "args", "script", "divergence")
KEYS = frozenset((*INPUT_KEYS, "stdout", "stderr", "stdout_b64", "stderr_b64", "status"))


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A file that a case finds in its working directory."""

    path: str
    content: bytes = b""
    link: str | None = None
    mode: int = 0o644
    mtime: float = MTIME

    @property
    def is_directory(self) -> bool:
        return self.path.endswith("/")


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `status` is None until it is recorded."""

    name: str
    script: str
    files: tuple[CaseFile, ...] = ()
    stdin: bytes = b""
    env: dict[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    divergence: str | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    status: int | None = None


def load(path: Path) -> list[Case]:
    """The cases of a spec file; ValueError for one that is not in the format."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    if set(table) - {"case"}:
        raise ValueError(f"{path}: unknown tables {sorted(set(table) - {'case'})}")
    cases = [
        parse(entry, f"{path.name} case {number}")
        for number, entry in enumerate(table.get("case", []), 1)
    ]
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{path}: several cases are named {sorted(twice)}")
    return cases


def parse(entry: dict[str, Any], where: str) -> Case:
    """One `[[case]]` table."""
    unknown = set(entry) - KEYS
    if unknown or not {"name", "script"} <= set(entry):
        raise ValueError(f"{where}: a case has name and script, and not {sorted(unknown)}")
    return Case(
        name=entry["name"],
        script=entry["script"],
        files=tuple(_file(name, value) for name, value in entry.get("files", {}).items()),
        stdin=_bytes(entry, "stdin"),
        env=dict(entry.get("env", {})),
        args=tuple(entry.get("args", ())),
        divergence=entry.get("divergence"),
        stdout=_bytes(entry, "stdout"),
        stderr=_bytes(entry, "stderr"),
        status=entry.get("status"),
    )


def _bytes(entry: dict[str, Any], key: str) -> bytes:
    if f"{key}_b64" in entry:
        return base64.b64decode(entry[f"{key}_b64"], validate=True)
    return str(entry.get(key, "")).encode()


def _file(path: str, value: str | dict[str, Any]) -> CaseFile:
    if isinstance(value, str):
        return CaseFile(path, value.encode(), mode=0o755 if path.endswith("/") else 0o644)
    return CaseFile(
        path,
        _bytes({"file": value["text"]}, "file")
        if "text" in value
        else base64.b64decode(value.get("b64", "")),
        value.get("link"),
        int(value.get("mode", "755" if path.endswith("/") else "644"), 8),
        value.get("mtime", MTIME),
    )
