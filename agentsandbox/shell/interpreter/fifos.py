"""Named pipes: open ends of a FIFO share a pipe; opening one waits for the other side."""

from __future__ import annotations

import stat as stat_module

from agentsandbox.errors import PipeClosed
from agentsandbox.kernel.fs.base import File, Stat
from agentsandbox.kernel.streams import Pipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Mode
    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.kernel.streams import Stream


class _End(File):
    """An open end of a fifo: reads or writes, or both, on the pipe of its name."""

    __slots__ = ("closed", "fifo", "reading", "writing")

    def __init__(self, fifo: _Fifo, reading: bool, writing: bool) -> None:
        super().__init__()
        self.closed = False
        self.fifo = fifo
        self.reading = reading
        self.writing = writing
        pipe = fifo.pipe
        pipe.readers += reading
        pipe.references += writing

    def read(self, size: int = -1) -> bytes:
        return self.fifo.pipe.read(size) if self.reading else super().read(size)

    def readline(self, end: bytes = b"\n") -> bytes:
        return self.fifo.pipe.readline(end) if self.reading else super().readline(end)

    def has_input(self) -> bool:
        """Whether a read would not wait."""
        return self.fifo.pipe.has_input()

    def write(self, data: bytes) -> None:
        if not self.writing:
            super().write(data)
        if not self.fifo.pipe.readers:
            raise PipeClosed
        self.fifo.pipe.write(data)

    def stat(self) -> Stat:
        return Stat(stat_module.S_IFIFO | 0o644, 0, 0.0)

    def __del__(self) -> None:
        # a command that ends without closing what it opened has closed it, as a process has
        if not self.closed:
            self.close()

    def close(self) -> None:
        self.closed = True
        pipe = self.fifo.pipe
        if self.writing:
            pipe.references -= 1
        if self.reading:
            pipe.close_reader()


class _Fifo:
    """The pipe behind one name."""

    __slots__ = ("pipe", "reads", "writes")

    def __init__(self, scheduler: Scheduler) -> None:
        self.pipe = Pipe(scheduler)
        self.pipe.references = self.pipe.readers = 0
        self.reads = 0
        self.writes = 0


class Fifos:
    """The fifos of a machine that have been opened, by inode number."""

    __slots__ = ("_fifos", "scheduler")

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self._fifos: dict[int, _Fifo] = {}

    def open(self, number: int, path: str, mode: Mode) -> Stream:
        """Open one side; waits until the other side is open too, unless both are asked for."""
        del path
        fifo = self._fifos.get(number)
        if fifo is None:
            fifo = self._fifos[number] = _Fifo(self.scheduler)
        if mode == "r+":
            return _End(fifo, True, True)
        end = _End(fifo, mode == "r", mode != "r")
        if end.reading:
            fifo.reads += 1
            seen = fifo.writes
            if not fifo.pipe.references:
                self.scheduler.block(lambda: fifo.pipe.references > 0 or fifo.writes != seen)
        else:
            fifo.writes += 1
            seen = fifo.reads
            if not fifo.pipe.readers:
                self.scheduler.block(lambda: fifo.pipe.readers > 0 or fifo.reads != seen)
        return end
