"""One tree of errors, and one of unwinds.

An error is somebody's mistake: `SandboxError` is the embedding program's family, `CommandError` a
command's way to give up, `OSError` what a filesystem says. An unwind is not a mistake: a limit, a
closed pipe, `break`. It derives from `BaseException`, so that no broad handler swallows it by
accident.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    LimitName = Literal[
        "timeout", "steps", "depth", "output_bytes", "value_bytes", "processes", "cancelled"
    ]
    """What may end a script: a field of `Limits`, or more than 256 processes at a time, or
    `Sandbox.cancel`.

    The other fields of `Limits` end no script: they are errors of the file that is written.
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
    "Return",
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
    """The family of errors that the embedding program may want to catch."""


class ClosedError(SandboxError):
    """The sandbox was closed and cannot be used any more."""


class ArchiveError(SandboxError):
    """An archive cannot be read, or holds what must not be unpacked; or it cannot hold what it
    should.
    """


class MountError(SandboxError, ValueError):
    """A filesystem cannot be mounted at that path."""


class ShellSyntaxError(SandboxError):
    """A script is not shell grammar. `line` and `column` count from 1; `message` is worded as bash
    words it.

    status           the status it ends the script with; None where bash takes it for the end of the
                     script and keeps the status
    is_quote         whether a quote, a brace or an arithmetic expression has no end: a status other
                     than 0 then stays
    in_array         whether it is in the list of an array, which ends no more than its line
    in_substitution  whether it is in the commands of a $(…), which ends more than its script
    at_end           whether it is only that the script ends too early, so that more of it may make
                     it right
    before_source    what bash writes in front of the line that it shows
    follow_up        the error that bash finds after this one, which it tells too
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
    """The family of errors about skills."""


class InvalidSkillError(SkillError):
    """A skill breaks the specification; `problems` lists every violation found, one sentence
    each.
    """

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
    """A skill, a file of one, or the number of active skills passes its limit."""


class SkillStateError(SkillError):
    """The operation needs a skill in another state, loaded for instance."""


class SkillPolicyError(SkillError):
    """A policy of the host or of the skill forbids the operation."""


class CommandError(Exception):
    """A command gives up: `Command.run` prints "name: message" and returns `status`."""

    def __init__(self, message: str, status: int = 1) -> None:
        self.message = message
        self.status = status
        super().__init__(message)


class UsageError(CommandError):
    """A command was called wrongly: the message is followed by "Try 'name --help' for more
    information.".
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message, 1 if status is None else status)
        self.has_status = status is not None


class Unwind(BaseException):
    """Leaves frames on purpose; not an error, and caught only where it is meant to stop."""


class PipeClosed(Unwind):
    """Nobody reads this pipe any more; the writing process ends with status 141, as SIGPIPE ends it
    on Unix.
    """


class LimitReached(Unwind):
    """A ceiling was reached, or the execution was cancelled; `limit` says which (see
    `ExecutionResult.limit`).
    """

    def __init__(self, limit: LimitName, message: str = "") -> None:
        self.limit = limit
        self.message = message
        super().__init__(limit)


class Killed(Unwind):
    """A process ends by a signal; its status is 128 + `signal`. `target` is the subshell that was
    meant, 0 for all.
    """

    def __init__(self, signal: int, target: int = 0) -> None:
        self.signal = signal
        self.target = target
        super().__init__(signal)


class Interrupted(Unwind):
    """The command that a shell waits for ends by a signal that the shell itself has a trap for."""

    def __init__(self, signal: int) -> None:
        self.signal = signal
        super().__init__(signal)


class ControlFlow(Unwind):
    """The shell's own jumps."""


class Break(ControlFlow):
    """`break`: the number of loops still to leave is in the shell, so that the class itself can be
    raised.
    """


class Continue(ControlFlow):
    """`continue`: like `Break`."""


class Return(ControlFlow):
    """`return` from a function or a sourced file; the status is the shell's `$?`."""


class Exit(ControlFlow):
    """`exit`: ends the shell it is raised in, with `status`."""

    def __init__(self, status: int = 0) -> None:
        self.status = status
        super().__init__(status)


class Stopped(Exit):
    """`set -e` ends the shell it is raised in: the command at `line` failed."""

    def __init__(self, status: int, line: int) -> None:
        super().__init__(status)
        self.line = line
