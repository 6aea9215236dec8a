"""Stand-ins for unusable standard streams, and the messages about them (see `manners`)."""

from __future__ import annotations

import errno
import os

from agentsandbox.contract.manners import SILENT
from agentsandbox.kernel.streams import InputError, OutputError, Stream, WriteOnlyError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.manners import Manners
    from agentsandbox.kernel.streams import ByteWriter

_BUFFER = 4096


class BrokenInput(Stream):
    """A closed standard input that remembers whether the command tried to read it."""

    __slots__ = ("tried",)

    unreadable = errno.EBADF

    def __init__(self) -> None:
        super().__init__()
        self.tried = False

    def read(self, size: int = -1) -> bytes:
        self.tried = True
        raise self.input_error()

    def readline(self, end: bytes = b"\n") -> bytes:
        return self.read()


class EmptyInput(Stream):
    """An unreadable standard input that counts as empty; `line` is the message at its end."""

    __slots__ = ("line", "tried")

    def __init__(self, line: bytes) -> None:
        super().__init__()
        self.line = line
        self.tried = False

    def read(self, size: int = -1) -> bytes:
        self.tried = True
        return b""

    def readline(self, end: bytes = b"\n") -> bytes:
        return self.read()


class BrokenOutput(Stream):
    """A standard output that accepts what a buffer holds and loses it."""

    __slots__ = ("number", "path", "size")

    def __init__(self, stream: ByteWriter) -> None:
        super().__init__()
        self.number = stream.unwritable
        self.path = getattr(stream, "path", None)
        self.size = 0

    @property
    def unwritable(self) -> int:  # type: ignore[override]
        """Return the error number of the stream behind it."""
        return self.number

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > _BUFFER:
            raise OutputError(self.number, os.strerror(self.number))


def buffered_output(stream: ByteWriter, manners: Manners) -> BrokenOutput | None:
    """Return what replaces a broken standard output; None if the command notices at once."""
    return None if manners.unbuffered else BrokenOutput(stream)


def empty_input(manners: Manners, name: str, number: int) -> EmptyInput | None:
    """Return an empty input for one whose error is `number`; None if the error ends the command."""
    text = manners.unreadable_is_empty[number != errno.EBADF]
    return None if text is None else EmptyInput(complaint(text, name, number) if text else b"")


def input_failure(manners: Manners, name: str, error: InputError) -> tuple[bytes, int]:
    """Return the line and the status of a command whose standard input cannot be read."""
    text, status = manners.read_error
    closed = error.errno == errno.EBADF and not isinstance(error, WriteOnlyError)
    if closed and manners.closed_read_error is not None:
        text, status = manners.closed_read_error
    return complaint(text, name, error.errno or 0), status


def output_failure(manners: Manners, name: str, number: int) -> tuple[bytes, int] | None:
    """Return the line and the status of a command whose output is lost, or None."""
    text, status = manners.write_error
    special = manners.closed_write_error if number == errno.EBADF else manners.full_write_error
    if (
        special is not None
        and number in (errno.EBADF, errno.ENOSPC)
        and manners.write_error != SILENT
    ):
        text, status = special
    return (complaint(text, name, number), status) if text else None


def complaint(text: str, name: str, number: int) -> bytes:
    """Return a message of the manners as a line, with the command's name and the error's words."""
    return encode(text.replace("REASON", os.strerror(number)).replace("NAME", name) + "\n")
