"""The result of one `execute`."""

from __future__ import annotations

from agentsandbox.errors import SandboxError
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import MappingProxyType

    from agentsandbox.errors import LimitName
else:
    MappingProxyType = type(type.__dict__)  # importing `types` for it would take a millisecond

__all__ = ["ExecutionError", "ExecutionResult"]

SHOWN = 60
"""Characters of an output in `repr`."""

HTML_SHOWN = 50_000
"""Characters of both streams together in a notebook."""

_NO_PICTURES: Mapping[str, bytes] = MappingProxyType({})


class ExecutionError(SandboxError):
    """A script failed and `ExecutionResult.check` was called; `result` has output and status."""

    def __init__(self, result: ExecutionResult) -> None:
        self.result = result
        lines = result.stderr.strip().splitlines()
        reason = f": {lines[-1]}" if lines else ""
        super().__init__(f"exit status {result.exit_code}{reason}")


class ExecutionResult:
    """What a script did: its output, its exit status, its duration and what stopped it.

    The text properties decode UTF-8 and keep invalid bytes as surrogates; the `_bytes` properties
    are exact.

    script     what was executed
    exit_code  0 to 255
    duration   seconds
    limit      what ended the script, None if it ended by itself: "timeout", "steps", "depth",
             "output_bytes" and "value_bytes" are fields of `Limits`; "processes" means more than
             256 at a time; "cancelled" means `Sandbox.cancel`, or the end of the task that
             awaited it; "process" means that the process of an isolated sandbox was killed, did
             not answer or broke its protocol
    pictures   the PNG and SVG files that Python programs wrote and that were there at the end, by
             path: eight at most, of 2 MiB each at most
    """

    __slots__ = ("_entries", "duration", "exit_code", "limit", "pictures", "script")

    def __init__(
        self,
        entries: Sequence[tuple[int, bytes]] = (),
        exit_code: int = 0,
        *,
        script: str = "",
        duration: float = 0.0,
        limit: LimitName | None = None,
        pictures: Mapping[str, bytes] | None = None,
    ) -> None:
        """`entries` is the ordered log: (1 for stdout or 2 for stderr, bytes)."""
        self._entries = entries
        self.exit_code = exit_code
        self.script = script
        self.duration = duration
        self.limit = limit
        self.pictures: Mapping[str, bytes] = pictures or _NO_PICTURES

    @classmethod
    def _of(
        cls,
        entries: Sequence[tuple[int, bytes]],
        exit_code: int,
        script: str,
        duration: float,
        limit: LimitName | None,
        pictures: Mapping[str, bytes] | None,
    ) -> ExecutionResult:
        """Return a result as the constructor does, in half its time."""
        result = cls.__new__(cls)
        result._entries = entries
        result.exit_code = exit_code
        result.script = script
        result.duration = duration
        result.limit = limit
        result.pictures = pictures or _NO_PICTURES
        return result

    @property
    def stdout_bytes(self) -> bytes:
        """Standard output as bytes."""
        return self._bytes_of(1)

    @property
    def stderr_bytes(self) -> bytes:
        """Standard error as bytes."""
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
        """Both streams in the order of writing, as a terminal shows them."""
        return decode(b"".join([data for _, data in self._entries]))

    @property
    def success(self) -> bool:
        """Whether the status is 0."""
        return self.exit_code == 0

    def check(self) -> ExecutionResult:
        """Return this result, or raise `ExecutionError` if the status is not 0."""
        if self.exit_code:
            raise ExecutionError(self)
        return self

    def _bytes_of(self, number: int) -> bytes:
        entries = self._entries
        if len(entries) == 1:
            stream, data = entries[0]
            return data if stream == number else b""
        return b"".join([data for stream, data in entries if stream == number])

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: both streams in order, errors in red, pictures, status."""
        from html import escape

        room = HTML_SHOWN
        parts = []
        for stream, data in self._entries:
            text = str(data, "utf-8", "replace")
            shown = escape(text[:room])
            parts.append(shown if stream == 1 else f'<span style="color:#b00020">{shown}</span>')
            room -= len(text)
            if room < 0:
                parts.append("…")
                break
        end = f"exit code {self.exit_code}" + (
            f", limit {self.limit}" if self.limit is not None else ""
        )
        color = "#2e7d32" if self.exit_code == 0 else "#b00020"
        output = f'<pre style="white-space:pre-wrap">{"".join(parts)}</pre>'
        pictures = "".join([_picture(path, data) for path, data in self.pictures.items()])
        return f'{output}{pictures}<small style="color:{color}">{escape(end)}</small>'

    def __repr__(self) -> str:
        shown = [f"exit_code={self.exit_code}"]
        for name, text in (("stdout", self.stdout), ("stderr", self.stderr)):
            if text:
                shown.append(f"{name}={text if len(text) <= SHOWN else text[:SHOWN] + '…'!r}")
        if self.limit is not None:
            shown.append(f"limit={self.limit!r}")
        return f"ExecutionResult({', '.join(shown)})"


def _picture(path: str, data: bytes) -> str:
    """Return HTML that shows a picture and runs nothing: an SVG file too is shown as an image."""
    from base64 import b64encode
    from html import escape

    kind = "svg+xml" if path.endswith(".svg") else "png"
    source = f"data:image/{kind};base64,{str(b64encode(data), 'ascii')}"
    name = escape(path, quote=True)
    return f'<figure><img src="{source}" alt="{name}"><figcaption>{name}</figcaption></figure>'
