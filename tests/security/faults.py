"""Faults of the host's disk: every call that touches the host fails once, one run for each call.

The modules that may open files of the host get another `os`, which counts their calls and makes
one of them fail: EIO, ENOSPC, EMFILE, EINTR …, or do less than was asked for (a short read or
write), which is no error. Then a run ends like a run without faults, or it says that it failed; no
descriptor stays open, and the next run is as usual.
"""

from __future__ import annotations

import errno
import functools
import gc
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentsandbox import AgentSkill, Limits, Sandbox
from agentsandbox.errors import MountError, SandboxError
from agentsandbox.files import folders
from agentsandbox.kernel.fs import host
from agentsandbox.kernel.fs.base import FileSystem
from agentsandbox.kernel.fs.host import HostFileSystem
from agentsandbox.kernel.fs.overlay import OverlayFileSystem
from agentsandbox.skills.sources import files as skill_files
from tests.security.whole import problems_of_files

__all__ = ["FAULTS", "WORKS", "problem_with", "run"]

MODULES = (host, folders, skill_files)
CALLS = frozenset(
    """open read write pread pwrite stat lstat fstat listdir scandir readlink symlink link unlink
    rename replace rmdir mkdir ftruncate fchmod chmod utime dup fdopen access fsync""".split()
)
FAULTS = ("EIO", "ENOSPC", "EMFILE", "ENFILE", "ENOMEM", "ESTALE", "EACCES", "short")


class _Everything(frozenset[Any]):
    def __contains__(self, each: object) -> bool:
        return True


class _Faulty:
    """A module `os` whose call of one number fails."""

    def __init__(self, number: int, fault: str) -> None:
        self.number = number
        self.fault = fault
        self.count = 0
        self.happened = False
        self.supports_dir_fd = self.supports_fd = self.supports_follow_symlinks = _Everything()

    def __getattr__(self, name: str) -> Any:
        function = getattr(os, name)
        if name not in CALLS:
            return function

        def call(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            if self.count != self.number:
                return _Faulty.opened(self, name, function(*arguments, **options))
            if self.fault == "short":
                return self.short(name, function, arguments, options)
            self.happened = True
            raise OSError(
                getattr(errno, self.fault),
                os.strerror(getattr(errno, self.fault)),
            )

        return call

    def opened(self, name: str, value: Any) -> Any:
        return _FaultyFile(self, value) if name == "fdopen" else value

    def short(self, name: str, function: Callable[..., Any], arguments: Any, options: Any) -> Any:
        """Do half of what is asked for, but at least one byte."""
        if name in ("read", "pread"):
            number, size, *more = arguments
            self.happened = True
            return function(number, max(1, size // 2), *more)
        if name in ("write", "pwrite"):
            number, data, *more = arguments
            self.happened = True
            return function(number, data[: max(1, len(data) // 2)], *more)
        return self.opened(name, function(*arguments, **options))


class _FaultyFile:
    """A file made by `fdopen`, whose reads and writes count as calls."""

    def __init__(self, faulty: _Faulty, file: Any) -> None:
        self._faulty, self._file = faulty, file

    def __enter__(self) -> _FaultyFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._file, name)
        if name not in ("read", "readinto", "write", "flush"):
            return function

        def call(*arguments: Any) -> Any:
            faulty = self._faulty
            faulty.count += 1
            if faulty.count == faulty.number and faulty.fault != "short":
                faulty.happened = True
                raise OSError(getattr(errno, faulty.fault), "a fault")
            return function(*arguments)

        return call


@contextmanager
def faulty(number: int, fault: str) -> Iterator[_Faulty]:
    """Let one call of the host fail."""
    made = _Faulty(number, fault)
    before = [module.os for module in MODULES]  # type: ignore[attr-defined]
    try:
        for module in MODULES:
            module.os = made  # type: ignore[attr-defined]
        yield made
    finally:
        for module, real in zip(MODULES, before, strict=True):
            module.os = real  # type: ignore[attr-defined]


@dataclass
class Outcome:
    """What a work came to: whether it said that it failed, and what is there afterwards."""

    failed: bool
    shown: object


def tree_of(folder: Path) -> dict[str, object]:
    return {
        path.relative_to(folder).as_posix(): os.readlink(path) if path.is_symlink()
        else path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }  # fmt: skip


SCRIPT = """
cd /mnt && cat a d/b l && cp -r d e && sed -i s/x/y/ a && mv e/b e/c && ln a e/hard && ln -s a e/soft
ls -lR --time-style=+ . | grep -v total; echo more >> a; head -c 3 a; tar cf t.tar d; rm t.tar; mkdir -p n/m
find . -type f -newer big; touch -d @0 n; chmod 600 a; rm -r e/soft n; exec 5<> a; read -r l <&5; echo "$l"
wc -c a d/b big | sed 's/^ *//'; truncate -s 2 d/b; cp big big2; cmp big big2; readlink -v l; ls -d d a > /dev/null; [ -d d ] && [ -f a ] && echo there
"""


def _mounted(mounts: Callable[[], dict[str, FileSystem]], script: str = SCRIPT) -> Outcome:
    """Run a script with mounts; what goes wrong while they are made is a typed error."""
    try:
        made = mounts()
    except OSError:  # of the constructor, to which the host has named the folder
        return Outcome(True, None)
    try:
        sandbox = Sandbox(mounts=made, limits=Limits(timeout=20))
    except MountError as error:
        assert str(error).startswith("mounts: ")
        return Outcome(True, None)
    return _executed(sandbox, script)


def _executed(sandbox: Sandbox, script: str) -> Outcome:
    with sandbox:
        result = sandbox.execute(script)
        assert result.exit_code != 70, result.stderr
        assert result.limit is None, result.limit
        assert "Traceback" not in result.stderr
        return Outcome(bool(result.stderr) or result.exit_code != 0, result.stdout)


def _mount(folder: Path) -> Outcome:
    return _mounted(lambda: {"/mnt": HostFileSystem(folder, read_only=False)})


def _overlay(folder: Path) -> Outcome:
    return _mounted(lambda: {"/mnt": OverlayFileSystem(HostFileSystem(folder))})


def _two_mounts(folder: Path) -> Outcome:
    """Mount a folder and one within it, both writable, which no fault may make possible."""

    def mounts() -> dict[str, FileSystem]:
        inner = HostFileSystem(folder / "d", read_only=False)
        return {"/a": inner, "/b": HostFileSystem(folder, read_only=False)}

    outcome = _mounted(mounts, "echo both")
    assert outcome.shown is None
    return outcome


REMOTE_SCRIPT = """
git clone -q up c && cd c && cat f && git log --format=%s && git tag -l && echo two > f &&
git -c user.name=a -c user.email=b commit -qam two &&
{ git push -q up HEAD:refs/heads/x 2> ../said; s=$?; sed '/waits for the host/d' ../said >&2; [ $s = 0 ]; } && git fetch -q &&
git for-each-ref --format='%(refname)' refs/remotes && git ls-remote -q up | wc -l && git fsck
"""


DATES = {"GIT_COMMITTER_DATE": "@0 +0000", "GIT_AUTHOR_DATE": "@0 +0000"}


@functools.cache
def _repository() -> dict[str, bytes]:
    """Return the files of a repository with two commits, one of them packed, and a tag."""
    with Sandbox(env=DATES) as sandbox:
        result = sandbox.execute(
            "git init -q -b main r; cd r; git config user.name a; git config user.email b; echo one > f;"
            "git add f; git commit -qm one; git tag -a -m t t; git gc -q; echo 1 >> f; git commit -qam two"
        )
        assert result.exit_code == 0, result.stderr
        top = "/workspace/r/.git"
        return {
            f"{here}/{name}"[len(top) + 1 :]: sandbox.fs.read_bytes(f"{here}/{name}")
            for here, _, names in sandbox.fs.walk(top)
            for name in names
        }


def _remote(folder: Path) -> Outcome:
    """Clone from a repository in a folder of the host, and push to it."""
    top = folder / "repository.git"
    (top / "refs").mkdir(parents=True)
    for name, data in _repository().items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    return _executed(
        Sandbox(git_remotes={"up": top}, env=DATES, limits=Limits(timeout=20)), REMOTE_SCRIPT
    )


def _import(folder: Path) -> Outcome:
    with Sandbox() as sandbox:
        try:
            shown = sandbox.files.import_folder(folder, "in")
        except (OSError, SandboxError):
            assert problems_of_files(sandbox.fs) == []
            return Outcome(True, None)
        return Outcome(
            False, (shown, sandbox.execute("cd in; find . -type f | sort | xargs cat").stdout)
        )


def _export(folder: Path) -> Outcome:
    with Sandbox() as sandbox:
        sandbox.execute("mkdir -p out/d; seq 9 > out/a; echo x > out/d/b; ln -s a out/l")
        try:
            sandbox.files.export(folder / "d" / "out", "out")
        except (OSError, SandboxError):
            return Outcome(True, None)
        return Outcome(False, None)


def _skills(folder: Path) -> Outcome:
    skill = folder / "some-skill"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: some-skill\ndescription: Does it.\n---\nBody\n")
    (skill / "scripts" / "run.sh").write_text("echo ran\n")
    try:
        with Sandbox(skills=[AgentSkill.from_path(skill)]) as sandbox:
            result = sandbox.execute(
                "cat /mnt/skills/*/scripts/run.sh /skills/*/*/run.sh 2> /dev/null"
            )
            return Outcome(False, result.stdout)
    except (OSError, SandboxError) as error:
        return Outcome(True, str(error))


WITH_GIT = importlib.util.find_spec("dulwich") is not None
"""Whether there is git, an extra."""

WORKS: dict[str, Callable[[Path], Outcome]] = {
    "mount": _mount, "overlay": _overlay, "two mounts": _two_mounts, "import": _import,
    "export": _export, "skills": _skills,
    **({"remote": _remote} if WITH_GIT else {}),
}  # fmt: skip


@contextmanager
def a_folder() -> Iterator[Path]:
    where = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        (where / "d").mkdir()
        (where / "a").write_text("x\ny\n")
        (where / "d" / "b").write_text("text\n")
        (where / "big").write_bytes(b"0123456789" * 30_000)
        (where / "l").symlink_to("d/b")
        yield where
    finally:
        shutil.rmtree(where)


def run(work: str, number: int, fault: str) -> tuple[Outcome, dict[str, object], _Faulty]:
    """Run a work on a new folder, with one fault."""
    with a_folder() as folder, faulty(number, fault) as made:
        outcome = WORKS[work](folder)
        return outcome, tree_of(folder), made


def problem_with(work: str, number: int, fault: str, expected: tuple[object, object]) -> str | None:
    """Return what is wrong if a call of the host fails; `expected` is (output, tree) without."""
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    try:
        outcome, tree, made = run(work, number, fault)
    except Exception as error:  # noqa: BLE001 - that none comes out is what is tested
        return f"raised {error!r}"
    gc.collect()
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    if after > before:
        return f"{after - before} descriptors are still open"
    same = (outcome.shown, tree) == expected
    if fault == "short" and made.happened and not same:
        return f"a short call changed the result: {outcome}"
    if not same and not outcome.failed:
        return "another result, and no word of it"
    if work == "export" and outcome.failed:
        strange = set(tree) - set(expected[1])  # type: ignore[call-overload]
        if strange:
            return f"left {strange}"
    return None
