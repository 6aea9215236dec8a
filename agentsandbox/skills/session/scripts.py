"""Running a skill's script in the sandbox, and never anywhere else.

The interpreter of a script is given by its "#!" line, else by its extension. Shell scripts run in
the sandbox's `sh` or `bash`, as they say. For any other interpreter the host names a command of the
sandbox (`interpreters`); a script without one ends with status 126.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from agentsandbox.errors import SkillPathError, SkillPolicyError
from agentsandbox.skills.paths import clean_path
from agentsandbox.skills.session.reading import as_text, find_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal

    from agentsandbox.errors import LimitName
    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.result import ExecutionResult
    from agentsandbox.skills.mount import SkillInfo
    from agentsandbox.skills.skill import AgentSkill

    Policy = Callable[[Any], bool | str | None]

    class Workplace(Protocol):
        """The part of a sandbox that a session uses."""

        @property
        def fs(self) -> MemoryFileSystem: ...

        @property
        def cwd(self) -> str: ...

        def get_mounted_skills(self) -> Sequence[SkillInfo]: ...

        def mount_skill(
            self, skill: AgentSkill, path: str | None = None, *, written: bool = False
        ) -> str: ...

        def execute(
            self,
            script: str,
            *,
            timeout: float | None = None,
            env: Mapping[str, str] | None = None,
            cwd: str | None = None,
            args: Sequence[str] = (),
            state: Literal["keep", "discard", "new"] = "keep",
            on_command: Policy | None = None,
        ) -> ExecutionResult: ...

        async def aexecute(
            self,
            script: str,
            *,
            timeout: float | None = None,
            env: Mapping[str, str] | None = None,
            cwd: str | None = None,
            args: Sequence[str] = (),
            state: Literal["keep", "discard", "new"] = "keep",
            on_command: Policy | None = None,
        ) -> ExecutionResult: ...

        def snapshot(self) -> Any: ...

        def restore(self, snapshot: Any, /) -> None: ...

        def diff(self, snapshot: Any, /) -> Sequence[Any]: ...


SCRIPT = '"$@"'

INTERPRETERS: Mapping[str, str] = {
    ".sh": "sh",
    ".bash": "bash",
    "sh": "sh",
    "bash": "bash",
    "dash": "sh",
    "zsh": "bash",
    "ksh": "bash",
}
"""Extension, or name on the "#!" line → command of the sandbox. `sh FILE` stops at an error."""
_SHELLS = frozenset(INTERPRETERS.values())

STEERING = frozenset(
    """
    BASHOPTS BASH_ENV BASH_XTRACEFD CDPATH ENV GLOBIGNORE HOME IFS LD_PRELOAD LD_LIBRARY_PATH PATH
    PROMPT_COMMAND PS4 SHELLOPTS
    """.split()
)
"""Variables that decide which programs a script starts, or what runs before its own lines."""
MAX_ARGUMENTS = 1000
MAX_DIFF = 256 * 1024
"""The largest file, in bytes, that `ScriptChange.diff` compares: many equal lines take quadratic
time."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class ScriptChange:
    """A file that a script changed; `kind` is "added", "modified" or "deleted"."""

    path: str
    kind: str
    _old: MemoryFileSystem = field(repr=False)
    _new: MemoryFileSystem = field(repr=False)

    @property
    def size(self) -> int:
        """The bytes of the file after the script; 0 for a directory and a deleted file."""
        return self._new.stat(self.path).size if self._new.is_file(self.path) else 0

    def diff(self) -> str:
        """Return a unified diff, or one line if a file is not text or is too large to compare."""
        if self._old.is_dir(self.path) or self._new.is_dir(self.path):
            return f"Directory {self.path} {self.kind}\n"
        before, after = (
            fs.read_bytes(self.path) if fs.is_file(self.path) else b""
            for fs in (self._old, self._new)
        )
        old, new = as_text(before), as_text(after)
        if old is None or new is None or max(len(before), len(after)) > MAX_DIFF:
            return f"Binary files a{self.path} and b{self.path} differ\n"
        shown = difflib.unified_diff(
            old.splitlines(keepends=True),
            new.splitlines(keepends=True),
            f"a{self.path}",
            f"b{self.path}",
        )
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in shown
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.path}"


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """The result of a script.

    path      the script's absolute path in the sandbox
    limit     the limit that ended it, or None
    changes   the files that it added, modified and deleted
    rollback  undoes everything that changed in the sandbox since the script began
    """

    path: str
    exit_code: int
    stdout: str
    stderr: str
    limit: LimitName | None = None
    changes: tuple[ScriptChange, ...] = ()
    rollback: Callable[[], None] = field(default=lambda: None, repr=False)

    @property
    def truncated(self) -> bool:
        """Whether the output was truncated."""
        return self.limit == "output_bytes"


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """A script that is ready to run: the arguments of `execute`, and the state before it."""

    place: Workplace
    path: str
    words: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    before: Any
    old: MemoryFileSystem
    policy: Policy | None = None
    fresh: bool = False
    """Whether it runs in a new shell, without functions, aliases or traps of earlier scripts."""

    def execute(self, timeout: float | None) -> ScriptResult:
        """Run the script."""
        return self._finish(self.place.execute(SCRIPT, timeout=timeout, **self._options()))

    async def aexecute(self, timeout: float | None) -> ScriptResult:
        """Run the script in the running event loop."""
        return self._finish(await self.place.aexecute(SCRIPT, timeout=timeout, **self._options()))

    def _options(self) -> dict[str, Any]:
        return {
            "args": self.words,
            "env": self.env,
            "cwd": self.cwd,
            "state": "new" if self.fresh else "discard",
            "on_command": self.policy,
        }

    def _finish(self, result: ExecutionResult) -> ScriptResult:
        now = self.place.fs.fork()
        changes = self.place.diff(self.before)
        return ScriptResult(
            self.path,
            result.exit_code,
            str(result.stdout_bytes, "utf-8", "replace"),
            str(result.stderr_bytes, "utf-8", "replace"),
            result.limit,
            tuple(ScriptChange(each.path, each.kind, self.old, now) for each in changes),
            lambda: self.place.restore(self.before),
        )


def plan_script(
    place: Workplace,
    skill: AgentSkill,
    root: str,
    path: str,
    *,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    workdir: str = ".",
    from_skill: bool = False,
    interpreters: Mapping[str, str] = INTERPRETERS,
    policy: Policy | None = None,
) -> ScriptRun | ScriptResult:
    """Prepare a script of the skill mounted at `root`; return its result if nothing can run it.

    workdir  relative to the sandbox's working directory, or with `from_skill` to the skill's
    secrets  further variables; with them the script runs in a new shell, and `env` must not have
             any variable of `STEERING`

    Raises `SkillPathError` and `SkillPolicyError`.
    """
    file = find_file(skill, path)
    absolute = posixpath.join(root, clean_path(path))
    variables = _environment(skill.name, root, env or {}, secrets or {})
    if len(args) > MAX_ARGUMENTS or any("\0" in argument for argument in args):
        raise SkillPolicyError("the arguments are too many, or hold a NUL")
    command = interpreter_of(file.relative_path, file.content, interpreters)
    if command is None:
        kind = posixpath.splitext(path)[1] or path
        return ScriptResult(absolute, 126, "", f"no interpreter registered for {kind!r}\n")
    directory = posixpath.normpath(posixpath.join(root if from_skill else place.cwd, workdir))
    if not place.fs.is_dir(directory):
        raise SkillPathError(f"there is no directory {workdir!r}", "not_found")
    return ScriptRun(
        place,
        absolute,
        (command, *_options_of(file.content, command), absolute, *args),
        variables,
        directory,
        place.snapshot(),
        place.fs.fork(),
        policy,
        bool(secrets),
    )


def _environment(
    name: str, root: str, env: Mapping[str, str], secrets: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of a script; `SkillPolicyError` for those that `env` must not set."""
    places = {"SKILL_ROOT": root, "SKILL_NAME": name, "CLAUDE_SKILL_DIR": root}
    for variable, value in env.items():
        if not _NAME.fullmatch(variable) or "\0" in value:
            raise SkillPolicyError(f"{variable[:100]!r} cannot be a variable of the environment")
        if variable in places or (secrets and variable in STEERING):
            raise SkillPolicyError(f"{variable} cannot be set for this script")
    return {**env, **secrets, **places}


def check_files(place: Workplace, skill: AgentSkill, root: str) -> None:
    """Raise `SkillPolicyError` unless the skill's files in the sandbox are as they were loaded."""
    for file in skill.files:
        path = posixpath.join(root, file.relative_path)
        try:
            same = (
                place.fs.readlink(path) == file.link
                if file.link is not None
                else place.fs.read_bytes(path) == file.content
            )
        except OSError:
            same = False
        if not same:
            raise SkillPolicyError(
                f"{path} is not the skill's own file: with secrets, only what was loaded runs"
            )


def is_own_file(place: Workplace, skill: AgentSkill, root: str, path: str) -> bool:
    """Whether a path in the sandbox is that of a file of the skill that is as it was loaded.

    A path over a link does not count: the link may be another one when the file is opened.
    """
    try:
        real, base = place.fs.realpath(path), place.fs.realpath(root)
        file = next((each for each in skill.files if f"{base}/{each.relative_path}" == real), None)
        if file is None or not any(
            _is_direct(path, f"{top}/{file.relative_path}", top)
            for top in (base, posixpath.normpath(root))
        ):
            return False
        return place.fs.read_bytes(real) == file.content
    except OSError:
        return False


def _is_direct(path: str, wanted: str, root: str) -> bool:
    """Whether a path names a file below `root`, and leaves only the skill's directories by ".."."""
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            here = "/".join(["", *names])
            if not (f"{here}/".startswith(f"{root}/") or f"{root}/".startswith(f"{here}/")):
                return False
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    return "/".join(["", *names]) == wanted


def real_path(fs: MemoryFileSystem, path: str) -> str:
    """Return the real path of a file; of one that does not exist, in its real directory."""
    try:
        return fs.realpath(path)
    except OSError:
        above, name = posixpath.split(path.rstrip("/"))
    try:
        return posixpath.normpath(posixpath.join(fs.realpath(above or "/"), name))
    except OSError:
        return posixpath.normpath(path)


def interpreter_of(path: str, content: bytes, interpreters: Mapping[str, str]) -> str | None:
    """Return the command that runs a script, None if there is none."""
    words = _first_line(content)
    if words is not None:
        if words and (command := interpreters.get(posixpath.basename(words[0]))):
            return command
        if words:
            return interpreters.get(posixpath.basename(words[0]).rstrip("0123456789."))
    return interpreters.get(posixpath.splitext(path)[1].lower())


def _first_line(content: bytes) -> list[str] | None:
    """Return the words of a "#!" line without `env` and its options; None if there is no line."""
    first = str(content[:256].split(b"\n", 1)[0], "utf-8", "replace")
    if not first.startswith("#!"):
        return None
    words = first[2:].split()
    if words and posixpath.basename(words[0]) == "env":
        del words[0]
        while words and (words[0].startswith("-") or "=" in words[0]):
            del words[0]
    return words


def _options_of(content: bytes, command: str) -> list[str]:
    """Return the options that a "#!" line gives a shell (`#!/bin/bash -e`)."""
    words = _first_line(content) or []
    return [word for word in words[1:] if word.startswith("-")] if command in _SHELLS else []
