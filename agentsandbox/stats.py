"""`Stats`: figures of a sandbox at one moment."""

from __future__ import annotations

__all__ = ["Stats"]


class Stats:
    """Figures of a sandbox at one moment; immutable.

    id            the id of the sandbox
    files         files, directories and links that count against `limits.files`
    bytes         their content, which counts against `limits.total_bytes`
    executions    number of executions so far
    is_executing  whether a script is running
    cwd           the working directory
    age           seconds since the sandbox was created
    """

    __slots__ = ("age", "bytes", "cwd", "executions", "files", "id", "is_executing")

    id: str
    files: int
    bytes: int
    executions: int
    is_executing: bool
    cwd: str
    age: float

    def __init__(
        self,
        *,
        id: str,
        files: int,
        bytes: int,
        executions: int,
        is_executing: bool,
        cwd: str,
        age: float,
    ) -> None:
        values = (age, bytes, cwd, executions, files, id, is_executing)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Stats are immutable")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__annotations__)
        return f"Stats({shown})"
