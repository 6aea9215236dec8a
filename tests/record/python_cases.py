"""The corpus of Python scripts: what a case is, and how an answer compares.

A case has the fields of a spec (`cases.py`) and these:

    scripts = ["tools/todo.py"]     # of the corpus, copied into the working directory
    packages = ["yaml"]             # modules beside the standard library that the scripts import
    varies = ["*.db"]               # files whose bytes depend on versions of libraries
    stdout, status                  # recorded
    error = "…"                     # the last line of stderr, recorded
    made = { "out.csv" = "a,b" }    # files made or changed, recorded; a final slash is a directory,
                                    # a table has text or b64, mode, link, or any = true
    gone = ["old.txt"]              # files removed, recorded
    divergence = "why"              # the guest's answer differs for a reason; written by hand

The directory is /home/user, and /tmp is empty.
"""

from __future__ import annotations

import base64
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tests.record import cases

__all__ = ["CORPUS", "ENVIRONMENT", "HOME", "Answer", "Entry", "PythonCase", "changes", "load"]

CORPUS = Path(__file__).parents[1] / "python" / "corpus"
HOME = "/home/user"
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": HOME,
    "USER": "user",
    "LOGNAME": "user",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "COLUMNS": "80",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}
KEYS = frozenset(
    ("scripts", "packages", "varies", "stdout", "stdout_b64", "error", "error_b64", "status")
    + ("made", "gone")
)
FILE_MODE, DIRECTORY_MODE = 0o644, 0o755


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a path: a file, a directory or a symbolic link."""

    content: bytes | None = None
    mode: int = FILE_MODE
    link: str | None = None
    varies: bool = False

    @property
    def is_directory(self) -> bool:
        return self.content is None and self.link is None and not self.varies


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run gave."""

    stdout: bytes
    error: bytes
    status: int
    made: dict[str, Entry]
    gone: tuple[str, ...]

    def differences(self, other: Answer) -> list[str]:
        """Return the fields in which `other` is not the same, each with both values."""
        return [
            f"{name}: {getattr(self, name)!r}, not {getattr(other, name)!r}"
            for name in self.__slots__
            if getattr(self, name) != getattr(other, name)
        ]


@dataclass(frozen=True, slots=True)
class PythonCase:
    """One case; `answer` is None until it is recorded."""

    case: cases.Case
    scripts: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    varies: tuple[str, ...] = ()
    answer: Answer | None = field(default=None)

    @property
    def name(self) -> str:
        return self.case.name

    def all_files(self) -> list[cases.CaseFile]:
        """Return the scripts and the files of the case, paths relative to the directory."""
        found = []
        for script in self.scripts:
            content = (CORPUS / script).read_bytes()
            mode = 0o755 if content.startswith(b"#!") else FILE_MODE
            found.append(cases.CaseFile(script.rpartition("/")[2], content, mode=mode))
        return [*found, *self.case.files]

    def answered(
        self,
        stdout: bytes,
        stderr: bytes,
        status: int,
        before: Mapping[str, Entry],
        after: Mapping[str, Entry],
    ) -> Answer:
        """Return the answer of a run, with the contents left out that may vary."""
        lines = stderr.rstrip(b"\n").rsplit(b"\n", 1)
        made, gone = changes(before, after)
        for path in made:
            if any(fnmatch(path, pattern) for pattern in self.varies):
                made[path] = Entry(varies=True)
        return Answer(stdout, lines[-1], status, made, gone)


def changes(
    before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> tuple[dict[str, Entry], tuple[str, ...]]:
    """Return what was made or changed, and the paths that are gone; bytecode does not count."""
    made = {
        path: entry
        for path, entry in sorted(after.items())
        if before.get(path) != entry and "__pycache__" not in path
    }
    return made, tuple(sorted(set(before) - set(after)))


def load(path: Path) -> list[PythonCase]:
    """Return the cases of a file; ValueError for one that is not in the format."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    if set(table) - {"case"}:
        raise ValueError(f"{path}: unknown tables {sorted(set(table) - {'case'})}")
    found = [
        _parse(entry, f"{path.name} case {number}")
        for number, entry in enumerate(table.get("case", []), 1)
    ]
    names = [case.name for case in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{path}: several cases are named {sorted(twice)}")
    return found


def _parse(entry: dict[str, Any], where: str) -> PythonCase:
    given = {key: value for key, value in entry.items() if key not in KEYS}
    answer = None
    if "status" in entry:
        answer = Answer(
            _bytes(entry, "stdout"),
            _bytes(entry, "error"),
            entry["status"],
            {path: _entry(path, value) for path, value in entry.get("made", {}).items()},
            tuple(entry.get("gone", ())),
        )
    return PythonCase(
        cases.parse(given, where),
        tuple(entry.get("scripts", ())),
        tuple(entry.get("packages", ())),
        tuple(entry.get("varies", ())),
        answer,
    )


def _bytes(entry: Mapping[str, Any], key: str) -> bytes:
    if f"{key}_b64" in entry:
        return base64.b64decode(entry[f"{key}_b64"], validate=True)
    return str(entry.get(key, "")).encode()


def _entry(path: str, value: str | dict[str, Any]) -> Entry:
    directory = path.endswith("/")
    if isinstance(value, str):
        return Entry(None, DIRECTORY_MODE) if directory else Entry(value.encode())
    if value.get("any"):
        return Entry(varies=True)
    if "link" in value:
        return Entry(link=value["link"])
    mode = int(value.get("mode", f"{DIRECTORY_MODE if directory else FILE_MODE:o}"), 8)
    content = base64.b64decode(value["b64"]) if "b64" in value else _bytes(value, "text")
    return Entry(None if directory else content, mode)
