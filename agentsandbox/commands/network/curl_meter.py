"""curl's progress meter: the first and the last state of each transfer."""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteWriter

__all__ = ["Meter"]

_HEAD = (
    b"  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    b"                                 Dload  Upload   Total   Spent    Left  Speed\n"
)
_UNITS = "kMGTP"
_BAR = 72


class Meter:
    """What is written to standard error unless the output is a terminal or `-s` is given."""

    def __init__(self, stderr: ByteWriter | None, *, bar: bool = False) -> None:
        self._stderr = stderr
        self._bar = bar
        self._began = monotonic()
        self._has_begun = False

    def begin(self) -> None:
        """Write the head and the state of a transfer in which nothing has come."""
        if self._stderr is not None and not self._has_begun:
            self._has_begun = True
            if not self._bar:
                self._stderr.write(_HEAD)
                self._stderr.write(_line(0, 0, 0, 0, 0.0))

    def end(self, expected: int | None, received: int, to_send: int, sent: int) -> None:
        """Write the state at the end of a response."""
        if self._stderr is None:
            return
        self.begin()
        seconds = monotonic() - self._began
        if self._bar:
            if received:
                self._stderr.write(b"\r" + b"#" * _BAR + b" 100.0%")
            return
        known = received if expected is None else expected
        self._stderr.write(_line(known, received, to_send, sent, seconds))

    def close(self) -> None:
        """End the line."""
        if self._stderr is not None and self._has_begun:
            self._stderr.write(b"\n")


def _line(expected: int, received: int, to_send: int, sent: int, seconds: float) -> bytes:
    total, done = expected + to_send, received + sent
    down = int(received / seconds) if seconds > 0 else 0
    up = int(sent / seconds) if seconds > 0 else 0
    spent = _time(seconds)
    text = (
        f"\r{_percent(done, total)} {_size(total)}  {_percent(received, expected)} "
        f"{_size(received)}  {_percent(sent, to_send)} {_size(sent)}  {_size(down)}  {_size(up)} "
        f"{spent if done and spent[0] != '-' else '--:--:--'} {spent} --:--:-- {_size(down)}"
    )
    return bytes(text, "ascii")


def _percent(part: int, whole: int) -> str:
    return f"{part * 100 // whole if whole else 0:3d}"


def _size(count: int) -> str:
    """Return a number in five columns."""
    if count < 100_000:
        return f"{count:5d}"
    for unit in _UNITS:
        if count < 10_000 * 1024:
            return f"{count // 1024:4d}{unit}"
        if count < 100 * 1024 * 1024:
            following = _UNITS[_UNITS.index(unit) + 1]
            tenths = count % (1024 * 1024) // (1024 * 1024 // 10)
            return f"{count // (1024 * 1024):2d}.{tenths}{following}"
        count //= 1024
    return f"{count:5d}"


def _time(seconds: float) -> str:
    whole = int(seconds)
    if not whole:
        return "--:--:--"
    return f"{whole // 3600:2d}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
