"""Bytes in streams, str in words: the only border between the two, and the streams themselves.

A stream is what a file descriptor refers to. A pipe is a plain buffer until it holds `PIPE_BYTES`:
most pipelines never start a second process (see `processes`). All output of an execution goes to
one ordered log, so interleaving and `2>&1` are right by construction.
"""

from __future__ import annotations

import codecs
import errno
import os

from agentsandbox.errors import LimitReached, PipeClosed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Protocol

    class SignalHandler(Protocol):
        """Handles a signal: returns the action taken, "" for none, None to be killed."""

        def __call__(self, signal: int) -> str | None: ...
        def ignores(self, signal: int) -> bool: ...

    class Writer(Protocol):
        """The running process, as a pipe sees it."""

        on_signal: SignalHandler | None

    class Waiting(Protocol):
        """What a pipe needs of the scheduler."""

        @property
        def current(self) -> Writer: ...
        def block(self, ready: Callable[[], bool], timeout: float | None = None) -> bool: ...
        @property
        def budget(self) -> Budget: ...

    from agentsandbox.kernel.accounts import Held, Scale
    from agentsandbox.kernel.budget import Budget

BLOCK = 65536
"""Bytes that a command reads or writes at a time."""

_LONGEST_LINE = 64 * 1024 * 1024
"""Longest line, in bytes. A line of /dev/zero has no end; budgets refuse shorter ones."""

_SIGPIPE = 13
_STDIO_BUFFER = 4096

PIPE_BYTES = 65536
"""Capacity of a pipe before its writer waits for the reader, as on Linux."""


def encode(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates become the bytes that `decode` made them from."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def encode_pieces(pieces: Iterable[str]) -> bytes:
    """Encode the pieces of a text, each as `encode` does."""
    return b"".join(map(encode, pieces))


def decode(data: bytes | bytearray | memoryview) -> str:
    """Decode UTF-8; each invalid byte becomes a lone surrogate, which `encode` turns back."""
    return str(data, "utf-8", "surrogateescape")


def decode_pieces(pieces: Iterable[bytes]) -> str:
    """Decode the pieces of a text, which may end within a character, as one."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    parts = [decoder.decode(piece) for piece in pieces]
    parts.append(decoder.decode(b"", True))
    return "".join(parts)


def decode_bytewise(data: bytes | bytearray | memoryview) -> str:
    """Decode one character per byte, as in the locale C; bytes above 127 become lone surrogates."""
    return str(data, "ascii", "surrogateescape")


def bytewise(text: str) -> str:
    """Return one character for each byte of the encoded text, as in the locale C."""
    return text if text.isascii() else encode(text).decode("ascii", "surrogateescape")


class InputError(OSError):
    """A file descriptor cannot be read."""


class DirectoryInputError(InputError, IsADirectoryError):
    """A file descriptor cannot be read because it is a directory."""


class WriteOnlyError(InputError):
    """A file descriptor cannot be read because it was opened for writing only."""

    def __init__(self) -> None:
        super().__init__(errno.EBADF, os.strerror(errno.EBADF), "-")


class OutputError(OSError):
    """A file descriptor cannot be written: it is closed, or its device is full."""


class ByteReader:
    """A source of bytes. Subclasses implement `read` and `readline`; the rest is built on them."""

    __slots__ = ()

    unreadable = 0
    """The error number of every read, 0 for a readable source."""

    def input_error(self, name: str = "-") -> InputError:
        """Return the error to raise for an unreadable source; `name` is how the user called it."""
        number = self.unreadable or errno.EBADF
        return (DirectoryInputError if number == errno.EISDIR else InputError)(
            number, os.strerror(number), name
        )

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, or all up to the end for -1; b"" only at the end."""
        raise self.input_error()

    def readline(self, end: bytes = b"\n") -> bytes:
        """Return the next line with its `end` byte, which the last may lack; b"" at the end."""
        raise self.input_error()

    def peek(self, size: int) -> bytes:
        """Return at most `size` bytes that can be read at once and stay; b"" if that is unknown."""
        del size
        return b""

    def lines(self, end: bytes = b"\n") -> Iterator[bytes]:
        """Yield each line with its `end` byte. Lines not taken remain for the next reader."""
        while line := self.readline(end):
            yield line

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Yield blocks of at most `size` bytes until the end, each as soon as it can be read."""
        while block := self.read(size):
            yield block

    def line_blocks(self) -> Iterator[bytes]:
        """Yield large blocks that end at a newline (the last may lack it)."""
        rest: list[bytes] = []
        waiting = 0
        while block := self.read(4 * BLOCK):
            # the rest of its last line is there, or nearly
            if not rest and len(block) == 4 * BLOCK:
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
    """Return the position in its file, or None if it has no position."""
    if not hasattr(source, "seek"):
        return None
    try:
        position: int = source.seek(0, 1)
    except OSError:
        return None
    return position


class ByteWriter:
    """A destination of bytes."""

    __slots__ = ()

    unwritable = 0
    """The error number of every write, 0 for a writable destination."""
    append = False
    """Whether it is a file opened for appending."""

    def write(self, data: bytes) -> None:
        """Write all of `data`. Raises `PipeClosed` if nobody reads, `OSError` as a file does."""
        raise OutputError(errno.EBADF, os.strerror(errno.EBADF))


class LateWriter(ByteWriter):
    """Holds output back until C's buffer would be full, so messages overtake it as with stdio."""

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
        """Write what was held back."""
        held, self._held = self._held, b""
        if held:
            self.target.write(held)


class Stream(ByteReader, ByteWriter):
    """What a file descriptor refers to: an open file description with a count of its holders."""

    __slots__ = ("references",)

    path: str | None = None
    """The name it was opened by, for /dev/fd and messages."""
    is_terminal = False

    def __init__(self) -> None:
        self.references = 1

    def acquire(self) -> None:
        """Count one more holder."""
        self.references += 1

    def release(self) -> None:
        """Count one holder less; the last one closes the stream."""
        self.references -= 1
        if self.references == 0:
            self.close()

    def close(self) -> None:
        """Free what it holds; called once, when the last holder is gone."""

    def reopened(self, mode: str) -> Stream:
        """Return what opening /dev/fd/N gives: a file from its beginning, or the same stream."""
        del mode
        self.acquire()
        return self

    def weigh(self, scale: Scale) -> None:
        """Weigh nothing: most streams are counted elsewhere."""

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move the position as `os.lseek` does; ESPIPE for a stream without a position."""
        raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))


class Closed(Stream):
    """A closed file descriptor: every operation fails with EBADF."""

    __slots__ = ()

    unreadable = unwritable = errno.EBADF


class BytesReader(Stream):
    """Reads bytes that are in memory: a heredoc, the `stdin` of `execute`."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes) -> None:
        self.references = 1
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

    def peek(self, size: int) -> bytes:
        return self.data[self.position : self.position + size]


class Null(Stream):
    """Reads nothing and drops what is written."""

    __slots__ = ()

    def read(self, size: int = -1) -> bytes:
        return b""

    def readline(self, end: bytes = b"\n") -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        pass


class Buffer(Stream):
    """Collects up to `limit` bytes: the output of a command substitution."""

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
        """Return all that was written."""
        return b"".join(self.chunks)


class OutputLog:
    """All output of one execution in order of appearance, as (descriptor number, bytes)."""

    __slots__ = ("entries", "limit", "listener", "size")

    def __init__(self, limit: int, listener: Callable[[str, bytes], None] | None = None) -> None:
        self.entries: list[tuple[int, bytes]] = []
        self.size = 0
        self.limit = limit
        self.listener = listener

    def add(self, number: int, data: bytes) -> None:
        """Add output, whatever the limit is."""
        self.size += len(data)
        self.entries.append((number, data))
        if self.listener is not None:
            self.listener("stdout" if number == 1 else "stderr", data)

    def add_line(self, number: int, line: bytes) -> None:
        """Add a message of the sandbox on a line of its own, whatever the listener raises."""
        last = next((data for stream, data in reversed(self.entries) if stream == number), b"\n")
        try:
            self.add(number, (b"" if last.endswith(b"\n") else b"\n") + line)
        except PipeClosed:
            pass


class Capture(Stream):
    """The script's stdout (1) or stderr (2): writes to the log, up to its limit."""

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
        if log.listener is not None:
            log.add(self.number, data)
            return
        log.size += len(data)
        log.entries.append((self.number, data))


class Pipe(Stream):
    """Both ends of a pipe: `references` counts its writers, `readers` its readers.

    While `reader_running` is false nobody else runs, and the buffer just grows. The scheduler
    starts the reading side when the buffer is full or when the writer waits for something else.
    """

    __slots__ = ("_chunks", "_position", "_size", "readers", "scheduler")

    capacity = PIPE_BYTES

    def __init__(self, scheduler: Waiting) -> None:
        self.references = 1
        self.scheduler = scheduler
        self.readers = 1
        self._chunks: list[bytes] = []
        self._position = 0  # consumed bytes of the first chunk
        self._size = 0  # bytes that wait for the reader

    def weigh(self, scale: Scale) -> None:
        scale.add(self._chunks)

    def release(self) -> None:
        self.references -= 1

    # the writing end

    def write(self, data: bytes) -> None:
        if not self.readers:
            raise self._unread()
        if not data:
            return
        self._chunks.append(data)
        self._size += len(data)
        if self._size >= self.capacity:
            held = self.scheduler.budget.hold(len(data)) if len(data) > PIPE_BYTES else None
            self.scheduler.block(self.has_room)
            if held is not None:
                held.release()
            if not self.readers:
                raise self._unread()

    def _unread(self) -> BaseException:
        """Return what ends a write that nobody reads: a signal, or EPIPE if that is ignored."""
        handler = self.scheduler.current.on_signal
        if handler is not None and handler.ignores(_SIGPIPE):
            return OutputError(errno.EPIPE, os.strerror(errno.EPIPE))
        return PipeClosed()

    def put(self, data: bytes) -> None:
        """Write as a process of its own does: wait for room first, not for the reader after."""
        if self._size >= self.capacity and self.readers:
            self.scheduler.block(self.has_room)
        if not self.readers:
            raise self._unread()
        self._chunks.append(data)
        self._size += len(data)

    def has_room(self) -> bool:
        """Whether a write would return at once."""
        return self._size < self.capacity or not self.readers

    # the reading end

    def _has_input(self) -> bool:
        return self._size > 0 or self.references <= 0

    def _wait(self) -> bool:
        """Wait for input; return whether there is any."""
        if not self._size and self.references > 0:
            self.scheduler.block(self._has_input)
        return self._size > 0

    def has_input(self) -> bool:
        """Whether a read would return at once."""
        return self._has_input()

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return self._read_all()
        if not self._size and (self.references <= 0 or not self._wait()):
            return b""
        if not size:
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
        """Join all waiting chunks into one."""
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
        held: Held | None = None
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
            budget = self.scheduler.budget
            budget.charge(total)
            if held is None:
                held = budget.hold(total)
            else:
                held.grow(len(rest))
        return b"".join(parts)

    def peek(self, size: int) -> bytes:
        """Return at most `size` bytes that wait for the reader."""
        if self._size == 0:
            return b""
        if len(self._chunks) > 1:
            self._merge()
        return self._chunks[0][self._position : self._position + size]

    def close_reader(self) -> None:
        """Count one reader less; the last one drops the buffer, and writers get `PipeClosed`."""
        self.readers -= 1
        if self.readers == 0 and self._size:
            self._chunks.clear()
            self._position = self._size = 0


class PipeReader(Stream):
    """The reading end of a pipe as a stream: of a FIFO, a process substitution, a coprocess."""

    __slots__ = ("pipe",)

    def __init__(self, pipe: Pipe) -> None:
        self.references = 1
        self.pipe = pipe

    def weigh(self, scale: Scale) -> None:
        scale.add(self.pipe)

    def read(self, size: int = -1) -> bytes:
        return self.pipe.read(size)

    def readline(self, end: bytes = b"\n") -> bytes:
        return self.pipe.readline(end)

    def peek(self, size: int) -> bytes:
        return self.pipe.peek(size)

    def has_input(self) -> bool:
        """Whether a read would return at once."""
        return self.pipe.has_input()

    def reopened(self, mode: str) -> Stream:
        return BothEnds(self.pipe) if mode == "r+" else super().reopened(mode)

    def close(self) -> None:
        self.pipe.close_reader()


def open_pipe(scheduler: Waiting) -> tuple[Pipe, PipeReader]:
    """Return the two ends of a new pipe, in half the time of the two constructors."""
    pipe = Pipe.__new__(Pipe)
    pipe.scheduler = scheduler
    pipe._chunks = []
    pipe._position = pipe._size = 0
    reader = PipeReader.__new__(PipeReader)
    reader.pipe = pipe
    pipe.references = pipe.readers = reader.references = 1
    return pipe, reader


class BothEnds(PipeReader):
    """A pipe opened for reading and writing (`<> <(…)`): it has no end while this is open."""

    __slots__ = ()

    def __init__(self, pipe: Pipe) -> None:
        super().__init__(pipe)
        pipe.readers += 1
        pipe.acquire()

    def write(self, data: bytes) -> None:
        self.pipe.write(data)

    def close(self) -> None:
        super().close()
        self.pipe.release()
