"""Coprocesses, `|&`: commands that an awk program both writes to and reads from.

A coprocess is a process of the sandbox between two pipes. What is printed to it is collected and
written before the program reads from it, waits for it, or starts something else, as stdio does. The
program ends its input with `close(command, "to")`; after that it can only be read.
"""

from __future__ import annotations

from agentsandbox.commands.awk.records import RecordReader
from agentsandbox.commands.awk.values import AwkFatal
from agentsandbox.errors import PipeClosed
from agentsandbox.kernel.streams import Pipe, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.protocols import Run
    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

    Start = Callable[[str, ByteReader, ByteWriter, Callable[[], None]], Process]

HELD = 4096
"""Characters that are collected before they are written."""


class Coprocess:
    """One running command; `start` begins it and `wait` returns its status when it has ended."""

    __slots__ = (
        "_held", "_process", "_reads", "_size", "_wait", "_writes", "name", "reader", "to_awk",
        "to_command",
    )  # fmt: skip

    def __init__(
        self,
        rt: Run,
        name: str,
        start: Start,
        wait: Callable[[Process], int],
        decorated: Callable[[ByteReader], ByteReader],
    ) -> None:
        self.name = name
        scheduler = rt.ctx.host.scheduler
        self.to_command, self.to_awk = Pipe(scheduler), Pipe(scheduler)
        self._writes = self._reads = True
        self._held: list[str] = []
        self._size = 0
        self._wait = wait
        self.reader = RecordReader(decorated(self.to_awk), rt.ctx.budget, bytewise=rt.bytewise)

        def finish() -> None:
            self.to_command.close_reader()
            self.to_awk.release()

        self._process = start(name, self.to_command, self.to_awk, finish)

    @property
    def can_write(self) -> bool:
        """Whether its input is open."""
        return self._writes

    @property
    def is_closed(self) -> bool:
        """Whether both ends are closed."""
        return not (self._writes or self._reads)

    def write(self, text: str) -> None:
        """Collect what is printed."""
        self._held.append(text)
        self._size += len(text)
        if self._size > HELD:
            self.flush()

    def flush(self) -> None:
        """Write what is collected; it is lost if the command has ended, as with SIGPIPE ignored."""
        if not self._held:
            return
        data = encode("".join(self._held))
        self._held.clear()
        self._size = 0
        try:
            self.to_command.write(data)
        except PipeClosed:
            self._held.clear()

    def check_reading(self) -> None:
        """Refuse to read when the output was closed."""
        if not self._reads:
            raise AwkFatal("getline: attempt to read from closed read end of two-way pipe")

    def close_input(self) -> None:
        """`close(command, "to")`: the command meets the end of its input."""
        if self._writes:
            self.flush()
            self._writes = False
            self.to_command.release()

    def close_output(self) -> None:
        """`close(command, "from")`: what the command still writes is refused."""
        if self._reads:
            if self._writes:
                self.flush()
            self._reads = False
            self.to_awk.close_reader()

    def close(self) -> int:
        """Close both ends and return the status of the command."""
        self.close_input()
        self.close_output()
        return self._wait(self._process)

    def abandon(self) -> None:
        """Close the pipes of a program that was stopped, so that its command ends."""
        if self._writes:
            self.to_command.release()
        if self._reads:
            self.to_awk.close_reader()
        self._writes = self._reads = False
