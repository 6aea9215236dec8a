"""Bytes in streams, str in words: the only border between the two, and the streams themselves.

A stream is what a file descriptor refers to. A pipe is a plain buffer until it holds `PIPE_BYTES`:
most pipelines never start a second process (see `processes`). All output of an execution goes to
one ordered log, so interleaving and `2>&1` are right by construction.
"""

from __future__ import annotations

import errno
import os

from agentsandbox.errors import LimitReached, PipeClosed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    class SignalHandler(Protocol):
        """What a process does with signals: the name of what it does instead, "" for nothing, None
        to be killed.
        """

        def __call__(self, signal: int) -> str | None: ...
        def ignores(self, signal: int) -> bool: ...

    class Writer(Protocol):
        """The process that runs, as far as a pipe asks about it."""

        on_signal: SignalHandler | None

    class Waiting(Protocol):
        """What a pipe needs of the scheduler."""

        @property
        def current(self) -> Writer: ...
        def block(self, ready: Callable[[], bool], timeout: float | None = None) -> bool: ...
        @property
        def budget(self) -> Budget: ...

    from agentsandbox.kernel.accounts import Scale
    from agentsandbox.kernel.budget import Budget

BLOCK = 65536
"""Bytes that a command reads or writes at a time."""

_LONGEST_LINE = 64 * 1024 * 1024
"""A line without end, from /dev/zero for one, is given up here at the latest; commands charge
shorter ones to their budget."""

_SIGPIPE = 13
_STDIO_BUFFER = 4096

PIPE_BYTES = 65536
"""What a pipe holds before its writer waits for the reader: the kernel's capacity on Linux."""


def encode(text: str) -> bytes:
    """Text as bytes: UTF-8, bytes that were not UTF-8 restored from their surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def decode(data: bytes | bytearray | memoryview) -> str:
    """Bytes as text: UTF-8, invalid bytes as lone surrogates that `encode` turns back."""
    return str(data, "utf-8", "surrogateescape")


def decode_bytewise(data: bytes | bytearray | memoryview) -> str:
    """Bytes as text with one character for each, as the locale C sees them: those above 127 as lone
    surrogates.
    """
    return str(data, "ascii", "surrogateescape")


def bytewise(text: str) -> str:
    """Text with one character for each byte, as the locale C sees it: `encode` gives the same
    bytes.
    """
    return text if text.isascii() else encode(text).decode("ascii", "surrogateescape")


class InputError(OSError):
    """A descriptor that was given for reading can't be read at all."""


class DirectoryInputError(InputError, IsADirectoryError):
    """It is a directory."""


class WriteOnlyError(InputError):
    """It is a file that was opened for writing only."""

    def __init__(self) -> None:
        super().__init__(errno.EBADF, os.strerror(errno.EBADF), "-")


class OutputError(OSError):
    """A descriptor that was given for writing is closed, or the device behind it is full."""


class ByteReader:
    """Somewhere bytes come from. Implementations give `read` and `readline`; the rest is built on
    those.
    """

    __slots__ = ()

    unreadable = 0
    """The number of the error that each read ends with; 0 for what can be read."""

    def input_error(self, name: str = "-") -> InputError:
        """What to raise for an unreadable one; `name` is how the user called it."""
        number = self.unreadable or errno.EBADF
        return (DirectoryInputError if number == errno.EISDIR else InputError)(
            number, os.strerror(number), name
        )

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, all up to the end for -1; b"" only at the end. May return less than
        `size`.
        """
        raise self.input_error()

    def readline(self, end: bytes = b"\n") -> bytes:
        """Up to and including the next `end` byte; the last line may lack it; b"" at the end."""
        raise self.input_error()

    def lines(self, end: bytes = b"\n") -> Iterator[bytes]:
        """Each line in turn, its `end` byte included. What was not taken stays for the next
        reader.
        """
        while line := self.readline(end):
            yield line

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Blocks of at most `size` bytes until the end, each as soon as it is there."""
        while block := self.read(size):
            yield block

    def line_blocks(self) -> Iterator[bytes]:
        """Large blocks that end at a newline (the last may lack it): for kernels that work on many
        lines at once.
        """
        rest: list[bytes] = []
        waiting = 0
        while block := self.read(4 * BLOCK):
            if (
                not rest and len(block) == 4 * BLOCK
            ):  # the rest of its last line is there, or nearly
                yield block if block.endswith(b"\n") else block + self.readline()
                continue
            cut = block.rfind(b"\n") + 1
            if not cut:
                rest.append(block)
                waiting += len(block)
                if waiting > _LONGEST_LINE:
                    raise LimitReached("value_bytes")
                continue
            if rest:
                rest.append(block[:cut])
                yield b"".join(rest)
                rest = []
                waiting = 0
            else:
                yield block if cut == len(block) else block[:cut]
            if cut < len(block):
                rest.append(block[cut:])
        if rest:
            yield b"".join(rest)


def position_of(source: ByteReader) -> int | None:
    """Where in its file it stands; None for what has no position."""
    if not hasattr(source, "seek"):
        return None
    try:
        position: int = source.seek(0, 1)
    except OSError:
        return None
    return position


class ByteWriter:
    """Somewhere bytes go to."""

    __slots__ = ()

    unwritable = 0
    """The number of the error that each write ends with; 0 for what can be written."""
    append = False
    """Whether it is a file that each write makes longer."""

    def write(self, data: bytes) -> None:
        """Write all of `data`. Raises `PipeClosed` when nobody reads any more, `OSError` as a file
        would.
        """
        raise OutputError(errno.EBADF, os.strerror(errno.EBADF))


class LateWriter(ByteWriter):
    """Holds back what fits C's buffer, as stdio does: messages overtake what was printed before
    them.
    """

    __slots__ = ("_held", "target")

    def __init__(self, target: ByteWriter) -> None:
        self.target = target
        self._held = b""

    def write(self, data: bytes) -> None:
        held = self._held + data
        if len(held) > _STDIO_BUFFER:
            full = (len(held) - 1) // _STDIO_BUFFER * _STDIO_BUFFER
            self.target.write(held[:full])
            held = held[full:]
        self._held = held

    def flush(self) -> None:
        """Pass on everything."""
        held, self._held = self._held, b""
        if held:
            self.target.write(held)


class Stream(ByteReader, ByteWriter):
    """What a descriptor refers to: an open file description. `references` counts its holders; the
    last closes it.
    """

    __slots__ = ("references",)

    path: str | None = None
    """The name it was opened by, for /dev/fd and messages."""
    is_terminal = False

    def __init__(self) -> None:
        self.references = 1

    def acquire(self) -> None:
        """One more holder."""
        self.references += 1

    def release(self) -> None:
        """One holder less; the last one closes the stream."""
        self.references -= 1
        if self.references == 0:
            self.close()

    def close(self) -> None:
        """Called once, when nobody holds the stream any more."""

    def reopened(self, mode: str) -> Stream:
        """What opening /dev/fd/N gives: a file anew, from its beginning, and whatever else is
        behind the descriptor itself.
        """
        del mode
        self.acquire()
        return self

    def weigh(self, scale: Scale) -> None:
        """Nothing: what most streams hold is counted elsewhere."""

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move the position as `os.lseek` does; ESPIPE for what has none."""
        raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))


class Closed(Stream):
    """What a closed descriptor is to a command: every operation fails with EBADF."""

    __slots__ = ()

    unreadable = unwritable = errno.EBADF


class BytesReader(Stream):
    """Reads from bytes that are there already: a here-document, the `stdin` of `execute`."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data
        self.position = 0

    def weigh(self, scale: Scale) -> None:
        scale.add(self.data)

    def read(self, size: int = -1) -> bytes:
        start = self.position
        chunk = self.data[start:] if size < 0 else self.data[start : start + size]
        self.position = start + len(chunk)
        return chunk

    def readline(self, end: bytes = b"\n") -> bytes:
        start = self.position
        found = self.data.find(end, start)
        self.position = len(self.data) if found < 0 else found + 1
        return self.data[start : self.position]


class Null(Stream):
    """Nothing to read; what is written is dropped."""

    __slots__ = ()

    def read(self, size: int = -1) -> bytes:
        return b""

    def readline(self, end: bytes = b"\n") -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        pass


class Buffer(Stream):
    """Collects what is written, up to `limit` bytes: the output of a command substitution."""

    __slots__ = ("chunks", "limit", "size")

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.chunks: list[bytes] = []
        self.size = 0
        self.limit = limit

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self.limit:
            raise LimitReached("value_bytes")
        self.chunks.append(data)

    def weigh(self, scale: Scale) -> None:
        scale.add(self.chunks)

    def getvalue(self) -> bytes:
        """All that was written."""
        return b"".join(self.chunks)


class OutputLog:
    """All output of one execution, in the order in which it appeared: (descriptor number,
    bytes).
    """

    __slots__ = ("entries", "limit", "listener", "size")

    def __init__(self, limit: int, listener: Callable[[str, bytes], None] | None = None) -> None:
        self.entries: list[tuple[int, bytes]] = []
        self.size = 0
        self.limit = limit
        self.listener = listener

    def add(self, number: int, data: bytes) -> None:
        """What appears next, whatever the limit is."""
        self.size += len(data)
        self.entries.append((number, data))
        if self.listener is not None:
            self.listener("stdout" if number == 1 else "stderr", data)

    def add_line(self, number: int, line: bytes) -> None:
        """A line of the sandbox itself, on a line of its own. Never raises: the listener may have
        closed its end.
        """
        last = next((data for stream, data in reversed(self.entries) if stream == number), b"\n")
        try:
            self.add(number, (b"" if last.endswith(b"\n") else b"\n") + line)
        except PipeClosed:
            pass

    def bytes_of(self, number: int) -> bytes:
        """What went to one of the two streams."""
        return b"".join([data for stream, data in self.entries if stream == number])


class Capture(Stream):
    """The script's stdout (1) or stderr (2): writes to the execution's log, cut off at its
    limit.
    """

    __slots__ = ("log", "number")

    def __init__(self, log: OutputLog, number: int) -> None:
        super().__init__()
        self.log = log
        self.number = number

    def write(self, data: bytes) -> None:
        if not data:
            return
        log = self.log
        room = log.limit - log.size
        if len(data) > room:
            if room > 0:
                log.add(self.number, data[:room])
            raise LimitReached("output_bytes")
        log.add(self.number, data)


class Pipe(Stream):
    """Both ends of a pipe. The writer's holders are counted by `references`, the reader's by
    `readers`.

    While `reader_running` is false nobody else runs, and the buffer just grows; the scheduler
    starts the reading side when the buffer is full or the writer waits for something else.
    """

    __slots__ = ("_chunks", "_position", "_size", "readers", "scheduler")

    def __init__(self, scheduler: Waiting) -> None:
        super().__init__()
        self.scheduler = scheduler
        self.readers = 1
        self._chunks: list[bytes] = []
        self._position = 0  # consumed bytes of the first chunk
        self._size = 0  # bytes that wait for the reader

    def weigh(self, scale: Scale) -> None:
        scale.add(self._chunks)

    # the writing end

    def write(self, data: bytes) -> None:
        if not self.readers:
            raise self._unread()
        if not data:
            return
        self._chunks.append(data)
        self._size += len(data)
        if self._size >= PIPE_BYTES:
            held = self.scheduler.budget.hold(len(data)) if len(data) > PIPE_BYTES else None
            self.scheduler.block(self._has_room)
            del held
            if not self.readers:
                raise self._unread()

    def _unread(self) -> BaseException:
        """What ends a write that nobody reads: the signal, or an error where the writer ignores
        it.
        """
        handler = self.scheduler.current.on_signal
        if handler is not None and handler.ignores(_SIGPIPE):
            return OutputError(errno.EPIPE, os.strerror(errno.EPIPE))
        return PipeClosed()

    def _has_room(self) -> bool:
        return self._size < PIPE_BYTES or not self.readers

    # the reading end

    def _has_input(self) -> bool:
        return self._size > 0 or self.references <= 0

    def _wait(self) -> bool:
        """Whether there is something to read, after waiting for it."""
        if not self._size and self.references > 0:
            self.scheduler.block(self._has_input)
        return self._size > 0

    def has_input(self) -> bool:
        """Whether a read would not wait."""
        return self._has_input()

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return self._read_all()
        if not self._wait() or not size:
            return b""
        chunks = self._chunks
        if len(chunks) > 1 and len(chunks[0]) - self._position < size:
            self._merge()
        first = chunks[0]
        start = self._position
        end = start + size
        if end >= len(first):
            del chunks[0]
            self._position = 0
            taken = first[start:] if start else first
        else:
            self._position = end
            taken = first[start:end]
        self._size -= len(taken)
        return taken

    def _merge(self) -> None:
        """Make one chunk of all that wait."""
        chunks = self._chunks
        if self._position:
            chunks[0] = chunks[0][self._position :]
            self._position = 0
        chunks[:] = [b"".join(chunks)]

    def _read_all(self) -> bytes:
        parts: list[bytes] = []
        total = 0
        while self._wait():
            if self._position:
                self._chunks[0] = self._chunks[0][self._position :]
                self._position = 0
            total += self._size
            budget = self.scheduler.budget
            budget.charge(total)
            budget.hold_input(total)
            parts.extend(self._chunks)
            self._chunks.clear()
            self._size = 0
        return b"".join(parts)

    def readline(self, end: bytes = b"\n") -> bytes:
        parts: list[bytes] = []
        total = 0
        while self._wait():
            chunks = self._chunks
            if len(chunks) > 1:
                self._merge()
            first = chunks[0]
            start = self._position
            found = first.find(end, start)
            if found >= 0:
                stop = found + 1
                line = first[start:stop]
                if stop == len(first):
                    del chunks[0]
                    self._position = 0
                else:
                    self._position = stop
                self._size -= stop - start
                if not parts:
                    return line
                parts.append(line)
                break
            rest = first[start:] if start else first
            parts.append(rest)
            del chunks[0]
            self._position = 0
            self._size -= len(rest)
            total += len(rest)
            self.scheduler.budget.charge(total)
        return b"".join(parts)

    def close_reader(self) -> None:
        """One reader less; when none is left, what waits is dropped and writers get
        `PipeClosed`.
        """
        self.readers -= 1
        if self.readers == 0:
            self._chunks.clear()
            self._position = self._size = 0


class PipeReader(Stream):
    """The reading end of a pipe as a descriptor of its own: a fifo, a process substitution, a
    coproc.
    """

    __slots__ = ("pipe",)

    def __init__(self, pipe: Pipe) -> None:
        super().__init__()
        self.pipe = pipe

    def weigh(self, scale: Scale) -> None:
        scale.add(self.pipe)

    def read(self, size: int = -1) -> bytes:
        return self.pipe.read(size)

    def readline(self, end: bytes = b"\n") -> bytes:
        return self.pipe.readline(end)

    def has_input(self) -> bool:
        """Whether a read would not wait."""
        return self.pipe.has_input()

    def close(self) -> None:
        self.pipe.close_reader()
