"""What one `execute` returns."""

from __future__ import annotations

from agentsandbox.errors import ExecutionError
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ExecutionResult"]

SHOWN = 60
"""Characters of an output that `repr` shows."""


class ExecutionResult:
    """What a script did: its output, its exit status, how long it took and what stopped it.

    The text properties decode as UTF-8 and keep invalid bytes as surrogates; the `_bytes` ones are exact.

    script     what was executed
    exit_code  0…255
    duration   seconds
    limit      the name of the ceiling that ended the script (a field of `Limits`), None if it ended by itself
    """

    __slots__ = ("_entries", "duration", "exit_code", "limit", "script")

    def __init__(
        self,
        entries: Sequence[tuple[int, bytes]] = (),
        exit_code: int = 0,
        *,
        script: str = "",
        duration: float = 0.0,
        limit: str | None = None,
    ) -> None:
        """`entries` is the ordered log: (1 for stdout or 2 for stderr, bytes)."""
        self._entries = entries
        self.exit_code = exit_code
        self.script = script
        self.duration = duration
        self.limit = limit

    @property
    def stdout_bytes(self) -> bytes:
        """What was written to standard output, exactly."""
        return self._bytes_of(1)

    @property
    def stderr_bytes(self) -> bytes:
        """What was written to standard error, exactly."""
        return self._bytes_of(2)

    @property
    def stdout(self) -> str:
        """Standard output as text."""
        return decode(self._bytes_of(1))

    @property
    def stderr(self) -> str:
        """Standard error as text."""
        return decode(self._bytes_of(2))

    @property
    def output(self) -> str:
        """Both streams in the order in which they appeared, as a terminal would show them."""
        return decode(b"".join([data for _, data in self._entries]))

    @property
    def success(self) -> bool:
        """Whether the status is 0."""
        return self.exit_code == 0

    def check(self) -> ExecutionResult:
        """This result; raises `ExecutionError` when the status is not 0."""
        if self.exit_code:
            raise ExecutionError(self)
        return self

    def _bytes_of(self, number: int) -> bytes:
        entries = self._entries
        if len(entries) == 1:
            stream, data = entries[0]
            return data if stream == number else b""
        return b"".join([data for stream, data in entries if stream == number])

    def __repr__(self) -> str:
        shown = [f"exit_code={self.exit_code}"]
        for name, text in (("stdout", self.stdout), ("stderr", self.stderr)):
            if text:
                shown.append(f"{name}={text if len(text) <= SHOWN else text[:SHOWN] + '…'!r}")
        if self.limit is not None:
            shown.append(f"limit={self.limit!r}")
        return f"ExecutionResult({', '.join(shown)})"
