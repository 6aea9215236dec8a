"""What ends a git command early, in git's words."""

from __future__ import annotations


class GitError(Exception):
    """Ends the command with a message; `prefix` is what git writes before it."""

    prefix = "error: "

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class Fatal(GitError):
    """The "fatal:" errors of git, which end with status 128."""

    prefix = "fatal: "

    def __init__(self, message: str, status: int = 128) -> None:
        super().__init__(message, status)


class Plain(GitError):
    """A message that is written as it is."""

    prefix = ""


class BadUsage(GitError):
    """A command line that is not valid: a message, then the usage text on stderr."""

    def __init__(self, message: str = "", status: int = 129, *, usage: bool = True) -> None:
        super().__init__(message, status)
        self.usage = usage


class WrongUsage(BadUsage):
    """The same with git's "fatal:": options that do not go together."""


class Quit(GitError):
    """Ends the command with a status, and no message."""

    def __init__(self, status: int) -> None:
        super().__init__("", status)


class CorruptObject(Plain):
    """A loose object whose file is damaged: what is wrong, then that it is."""

    def __init__(self, oid: str, shown: str, *reasons: str) -> None:
        self.oid = oid
        self.reasons = "\n".join([f"error: {reason}" for reason in reasons])
        last = f"fatal: loose object {oid} (stored in {shown}) is corrupt"
        super().__init__(f"{self.reasons}\n{last}", 128)


class MissingObject(Fatal):
    """An object that is not in the repository."""

    def __init__(self, oid: str, kind: str = "") -> None:
        super().__init__(f"unable to read {kind}{oid}")
        self.oid = oid
