"""The hierarchy of errors, and that of unwinds.

An error is a mistake: `SandboxError` is the base of those for the embedding program, a command
gives up with `CommandError`, a filesystem raises `OSError`. An unwind is not a mistake: a limit, a
closed pipe, `break`. It derives from `BaseException`, so that no broad handler catches it by
accident. No unwind ever reaches the embedding program.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    LimitName = Literal[
        "timeout", "steps", "depth", "output_bytes", "value_bytes", "processes", "cancelled",
        "process",
    ]  # fmt: skip
    """What may end a script: a field of `Limits`, more than 256 processes, `Sandbox.cancel`, or
    with `isolation="process"` the end of its own process.

    The other fields of `Limits` do not end a script: exceeding them is an error of the file that
    is written.
    """

__all__ = [
    "ArchiveError",
    "Break",
    "ClosedError",
    "CommandError",
    "Continue",
    "ControlFlow",
    "Exit",
    "Interrupted",
    "InvalidSkillError",
    "Killed",
    "LimitReached",
    "MountError",
    "PipeClosed",
    "RepositoryError",
    "Return",
    "RevisionError",
    "SandboxError",
    "ShellSyntaxError",
    "SkillError",
    "SkillLimitError",
    "SkillNotFoundError",
    "SkillPathError",
    "SkillPolicyError",
    "SkillStateError",
    "Stopped",
    "Unwind",
    "UsageError",
]


class SandboxError(Exception):
    """The base of the errors that the embedding program may want to catch."""


class ClosedError(SandboxError):
    """The sandbox was closed and cannot be used any more."""


class ArchiveError(SandboxError):
    """An archive is damaged, holds what must not be unpacked, or cannot hold what it should."""


class MountError(SandboxError, ValueError):
    """A filesystem cannot be mounted at that path.

    `errno` is the number of the error that prevented it (EMFILE, EIO, ENOTEMPTY …), None if a rule
    of the sandbox forbids it.
    """

    def __init__(self, message: str, errno: int | None = None) -> None:
        self.errno = errno
        super().__init__(message)


class RepositoryError(SandboxError):
    """`sandbox.git` finds no repository at a path, or one that is damaged; the text is git's."""


class RevisionError(RepositoryError):
    """A text names no commit of the repository."""


class ShellSyntaxError(SandboxError):
    """A script is not shell grammar. `line` and `column` count from 1; `message` is bash's.

    status           the exit status; None if bash takes the error for the end of the script and
                   keeps the status
    is_quote         whether a quote, a brace or an arithmetic expression has no end; then a status
                   other than 0 stays
    in_array         whether it is in the list of an array; it then ends only its line
    in_substitution  whether it is in the commands of a $(…); it then ends more than its script
    at_end           whether the script only ends too early, and more input may make it valid
    before_source    what bash writes in front of the line that it shows
    follow_up        the error that bash reports after this one
    """

    is_quote = False
    in_array = False
    in_substitution = False
    at_end = False
    before_source = ""
    follow_up: ShellSyntaxError | None = None

    def __init__(
        self,
        message: str,
        line: int = 1,
        column: int = 1,
        *,
        source_line: str | None = None,
        status: int | None = 2,
    ) -> None:
        self.message = message
        self.line = line
        self.column = column
        self.source_line = source_line
        self.status = status
        super().__init__(f"line {line}: {message}")


class SkillError(SandboxError):
    """The base of errors about skills."""


class InvalidSkillError(SkillError):
    """A skill breaks the specification; `problems` has one sentence for each violation."""

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        self.problems = tuple(problems) or (message,)
        super().__init__(message)


class SkillNotFoundError(SkillError):
    """No skill has that name."""


class SkillPathError(SkillError):
    """A path given for a skill's file is malformed, leaves the skill, or names nothing readable.

    `reason` is one of absolute, home, traversal, symlink_escape, not_found, is_directory,
    out_of_scope, invalid.
    """

    def __init__(self, message: str, reason: str = "invalid") -> None:
        self.reason = reason
        super().__init__(message)


class SkillLimitError(SkillError):
    """A skill, one of its files, or the number of active skills exceeds its limit."""


class SkillStateError(SkillError):
    """The skill is in the wrong state for the operation: not loaded, for example."""


class SkillPolicyError(SkillError):
    """A policy of the host or of the skill forbids the operation."""


class CommandError(Exception):
    """A command gives up: `Command.run` prints "name: message" and returns `status`."""

    def __init__(self, message: str, status: int = 1) -> None:
        self.message = message
        self.status = status
        super().__init__(message)


class UsageError(CommandError):
    """Wrong arguments of a command; "Try 'name --help' for more information." follows."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message, 1 if status is None else status)
        self.has_status = status is not None


class Unwind(BaseException):
    """Leaves frames on purpose. It is not an error, and only code that expects it catches it."""


class PipeClosed(Unwind):
    """Nobody reads this pipe any more: the writer ends with status 141, as by SIGPIPE on Unix."""


class LimitReached(Unwind):
    """A limit was reached or the execution cancelled; `limit` is that of `ExecutionResult`."""

    def __init__(self, limit: LimitName, message: str = "") -> None:
        self.limit = limit
        self.message = message
        super().__init__(limit)


class Killed(Unwind):
    """A signal ends a process with status 128 + `signal`, or the subshell `target` if not 0."""

    def __init__(self, signal: int, target: int = 0) -> None:
        self.signal = int(signal)
        self.target = target
        super().__init__(signal)


class Interrupted(Unwind):
    """A signal ends the command that a shell waits for; the shell itself has a trap for it."""

    def __init__(self, signal: int) -> None:
        self.signal = signal
        super().__init__(signal)


class ControlFlow(Unwind):
    """The base of the shell's jumps."""


class Break(ControlFlow):
    """Leaves loops (`break`). The shell counts them, so the class itself can be raised."""


class Continue(ControlFlow):
    """Begins the next iteration (`continue`), like `Break`."""


class Return(ControlFlow):
    """Leaves a function or a sourced file (`return`); the status is the shell's `$?`."""


class Exit(ControlFlow):
    """Ends the shell that it is raised in, with `status` (`exit`)."""

    def __init__(self, status: int = 0) -> None:
        self.status = int(status)
        super().__init__(status)


class Stopped(Exit):
    """Ends the shell that it is raised in because of `set -e`: the command at `line` failed.

    `file` is the name of its file in messages: of the script, or of what the script sourced.
    """

    def __init__(self, status: int, line: int, file: str) -> None:
        super().__init__(status)
        self.line = line
        self.file = file
