"""What one call of git has of the sandbox: streams, environment, clock, other programs.

Output is collected and written in pieces; it is
flushed before anything else of the sandbox runs (hooks, editors, pagers of aliases).
"""

from __future__ import annotations

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from agentsandbox.contract.command import CommandContext

_PIECE = 1 << 15
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), 127), "?")


def visible(text: str) -> str:
    """Return an error message without control characters, which could steer a terminal."""
    return text.translate(_CONTROLS)


class Surroundings:
    """The sandbox, as one call of git sees it."""

    def __init__(self, ctx: CommandContext, env: dict[str, str], cwd: str) -> None:
        self.ctx = ctx
        self.fs = ctx.fs
        self.budget = ctx.budget
        self.env = env
        self.cwd = cwd
        self.name = ""
        """The subcommand."""
        self.arguments: list[str] = []
        self.settings: list[tuple[str, str | None]] = []
        """The values of `-c`."""
        self.sink: list[bytes] | None = None
        """What is written, to both streams, if it is collected and not shown."""
        self.mute = False
        """Whether what is written to stdout is dropped."""
        self.accepts: Callable[[str], bool] | None = None
        """Which keys of configuration hold; all by default."""
        self._out: list[bytes] = []
        self._size = 0

    # streams

    def write(self, data: bytes) -> None:
        """Write bytes to stdout."""
        if self.mute:
            return
        self._out.append(data)
        self._size += len(data)
        if self._size > _PIECE:
            self.flush()

    def print(self, text: str = "") -> None:
        """Write a line to stdout."""
        self.write(encode(text + "\n"))

    def flush(self) -> None:
        """Write what was collected."""
        if self._out:
            data = b"".join(self._out)
            self._out.clear()
            self._size = 0
            if self.sink is not None:
                self.sink.append(data)
            else:
                self.ctx.stdout.write(data)

    def say(self, text: str) -> None:
        """Write a line to stderr. Stdout keeps its buffer until the end, as that of git does."""
        self.say_raw(text + "\n")

    def say_raw(self, text: str) -> None:
        """Write text to stderr."""
        if self.sink is not None:
            self.sink.append(encode(text))
        else:
            self.ctx.stderr.write(encode(text))

    def warn(self, text: str) -> None:
        """Write a "warning: " to stderr."""
        self.say(visible(f"warning: {text}"))

    def error(self, text: str) -> int:
        """Write an "error: " to stderr and return -1's status, 1."""
        self.say(visible(f"error: {text}"))
        return 1

    def read_input(self) -> bytes:
        """Return all of stdin."""
        data = self.ctx.stdin.read()
        self.budget.hold_input(len(data))
        return data

    def input_lines(self, end: bytes) -> Iterator[bytes]:
        """Yield the lines of stdin, with their ends, as they come."""
        while line := self.ctx.stdin.readline(end):
            self.budget.charge(len(line))
            yield line

    @property
    def tz(self) -> str:
        return self.env.get("TZ", "UTC")

    @property
    def now(self) -> int:
        """Return the time in seconds; GIT_TEST_DATE_NOW sets it, as in git's tests."""
        test = self.env.get("GIT_TEST_DATE_NOW", "")
        if test.isdigit() and len(test) < 15:
            return int(test)
        return int(self.ctx.host.clock())

    @property
    def home(self) -> str:
        return self.env.get("HOME", "")

    def path(self, name: str) -> str:
        """Return the absolute path of a word."""
        if name.startswith("/"):
            return name
        return f"{self.cwd.rstrip('/')}/{name}"

    def is_terminal(self) -> bool:
        """Whether stdout is a terminal."""
        return bool(getattr(self.ctx.stdout, "is_terminal", False))

    # other programs

    def run(
        self,
        words: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        capture: bool = False,
        out_to_err: bool = False,
    ) -> tuple[int, bytes]:
        """Run a command of the sandbox; return its status and, with `capture`, its output."""
        from agentsandbox.kernel.streams import Buffer, BytesReader

        self.flush()
        hides = self.sink is not None
        buffer = Buffer(self.budget.value_bytes) if capture or hides else None
        stdout = buffer or (self.ctx.stderr if out_to_err else None)
        status = self.ctx.run(
            words,
            stdin=None if stdin is None else BytesReader(stdin),
            stdout=stdout,
            env={**self.env, **_settings_text(self.env, self.settings), **(env or {})},
            cwd=cwd or self.cwd,
            stderr=buffer if hides and not capture else None,
        )
        if self.sink is not None and buffer is not None and not capture:
            self.sink.append(buffer.getvalue())
        return status, buffer.getvalue() if buffer is not None else b""


def _settings_text(
    env: Mapping[str, str], settings: Sequence[tuple[str, str | None]]
) -> dict[str, str]:
    """Return the variable in which the values of `-c` reach the git that a program runs."""
    if not settings:
        return {}

    def quoted(text: str) -> str:
        return "'" + text.replace("'", "'\\''") + "'"

    words = [env["GIT_CONFIG_PARAMETERS"]] if env.get("GIT_CONFIG_PARAMETERS") else []
    words += [
        quoted(key) + ("" if value is None else f"={quoted(value)}") for key, value in settings
    ]
    return {"GIT_CONFIG_PARAMETERS": " ".join(words)}
