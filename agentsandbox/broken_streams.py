"""How the tools word a standard stream that is of no use: closed or a directory to read from, closed or full to write to.

A tool writes through a buffer and notices only at its end, or when the buffer is full, that nothing arrives: until then
it goes on, and its other messages come first.
"""

from __future__ import annotations

import errno
import os

from agentsandbox.streams import InputError, OutputError, Stream, WriteOnlyError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.streams import ByteWriter

__all__ = [
    "BrokenInput",
    "BrokenOutput",
    "ToldInput",
    "buffered_output",
    "closing_message",
    "input_failure",
    "output_failure",
    "told_input",
    "with_name",
]

_BUFFER = 4096

_DIRECT = frozenset((
    "cat", "chroot", "dd", "env", "find", "flock", "ionice", "nice", "nohup", "setsid", "stdbuf", "tee", "time", "timeout", "xargs",
))  # fmt: skip
"""They write without a buffer, or leave the descriptor to other commands."""

_HASHES = ("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum")

_WHOLE = "="
"""The mark of a message with a name in it."""

_INPUT: dict[str, tuple[str, int]] = {
    "awk": ("fatal: error reading input file `-': {}", 2),
    "base32": ("read error: {}", 1),
    "base64": ("read error: {}", 1),
    "basenc": ("read error: {}", 1),
    "bc": ("=(standard_in) 1: read() in flex scanner failed", 1),
    "cmp": ("-: {}", 2),
    "column": ("read failed: {}", 1),
    "cp": ("error closing file", 1),
    "csplit": ("read error: {}", 1),
    "date": ("'standard input': {}", 1),
    "dc": ("error reading input: {}", 1),
    "egrep": ("=grep: (standard input): {}", 2),
    "envsubst": ('error while reading "standard input": {}', 1),
    "fgrep": ("=grep: (standard input): {}", 2),
    "find": ("‘(standard input)’: read error: {}", 1),
    "fmt": ("read error", 1),
    "grep": ("(standard input): {}", 2),
    "gunzip": ("=\ngzip: stdin: {}", 1),
    "gzip": ("=\ngzip: stdin: {}", 1),
    "hd": ("hd: {}", 0),
    "head": ("error reading 'standard input': {}", 1),
    "hexdump": ("hexdump: {}", 0),
    "iconv": ("error while reading the input: {}", 1),
    "join": ("read error: {}", 1),
    "jq": ("error: {}", 2),
    "mv": ("error closing file", 1),
    "numfmt": ("error reading input: {}", 0),
    "od": ("'standard input': {}", 1),
    "patch": ("**** read error : {}", 2),
    "pr": ("'standard input': {}", 1),
    "rev": ("stdin: 0: {}", 1),
    "rm": ("error closing file", 1),
    "sed": ("read error on stdin: {}", 4),
    "shuf": ("read error: {}", 1),
    "sort": ("read failed: -: {}", 2),
    "split": ("-: {}", 1),
    "tac": ("'standard input': read error: {}", 1),
    "tail": ("error reading 'standard input': {}", 1),
    "tee": ("read error: {}", 1),
    "tr": ("read error: {}", 1),
    "tsort": ("standard input: {}", 1),
    "uniq": ("error reading '-'", 1),
    "unxz": ("(stdin): Read error: {}", 1),
    "xargs": ("error closing file", 1),
    "xxd": ("{}", 2),
    "xz": ("(stdin): Read error: {}", 1),
    "xzcat": ("(stdin): Read error: {}", 1),
    "zcat": ("=\ngzip: stdin: {}", 1),
    "zstd": ("error 37 : Read error ", 37),
    "zstdcat": ("=zstd: error 37 : Read error ", 37),
}
"""What follows the name, and the status, where it is not "-: reason" and 1."""

_CLOSED_INPUT: dict[str, str] = {
    **dict.fromkeys(("gunzip", "gzip", "zcat"), "=gzip: standard input: Bad file descriptor"),
    "cp": "error closing file: Bad file descriptor",
    "mv": "error closing file: Bad file descriptor",
    "patch": "**** fstat : Bad file descriptor",
    "rm": "error closing file: Bad file descriptor",
    "tail": "cannot fstat 'standard input': Bad file descriptor",
    "xargs": "error closing file: Bad file descriptor",
}
"""What follows the name of those that say more, or something else, when their input is closed."""

_TOLD: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("colrm", "factor", "shasum", "sqlite3", "tree"), ("", "")),
    "cksum": ("", "-"),
    "od": ("'standard input': {}", "-"),
    "tsort": ("", "-"),
    "xargs": ("error closing file: {}", "error closing file"),
}
"""What is told, of a closed one and of a directory, by those that then go on as at the end of their input; "-" if they don't."""

_CLOSING: dict[str, str] = {
    **dict.fromkeys((*_HASHES, "cksum", "sum", "od", "tee"), "standard input: "),
    **dict.fromkeys(("cut", "expand", "fold", "head", "nl", "paste", "tac", "tail", "unexpand", "wc"), "-: "),
    "tsort": "standard input: ",
    **dict.fromkeys(("cat", "fmt"), "closing standard input: "),
}
"""What precedes the reason when a closed input is closed once more at the end."""

_SILENT = frozenset((
    "curl", "file", "getconf", "hostname", "less", "locale", "man", "more", "patch", "rg", "shasum", "sqlite3", "strings",
    "tput", "tree", "unzip", "users", "who", "zip", "zipinfo",
))  # fmt: skip
"""They don't look whether what they write arrives."""

_SILENT_WHEN_CLOSED = frozenset(("cmp", "column", "getopt", "hd", "hexdump", "ionice", "look", "rev", "whereis", "zgrep"))

_NO_REASON_WHEN_FULL = frozenset((*_HASHES, "cksum", "du", "free", "sum", "wc"))

_OUTPUT: dict[str, tuple[str, int]] = {
    "awk": ("warning: error writing standard output: {}", 1),
    "bc": ("=dc: could not write output file: {}", 1),
    "cmp": ("standard output: {}", 2),
    "colrm": ("write error", 1),
    "dc": ("error writing to stdout: {}", 1),
    "diff": ("standard output: {}", 2),
    "diff3": ("standard output: {}", 2),
    "dir": ("write error: {}", 2),
    "egrep": ("write error: {}", 2),
    "env": ("write error: {}", 125),
    "expr": ("write error: {}", 3),
    "fgrep": ("write error: {}", 2),
    "find": ("‘standard output’: {}\nfind: write error", 1),
    "free": ("write error", 1),
    "getopt": ("write error: {}", 3),
    "grep": ("write error: {}", 2),
    "iconv": ("error while closing output file: {}", 1),
    "gunzip": ("=\ngzip: stdout: {}", 1),
    "gzip": ("=\ngzip: stdout: {}", 1),
    "jq": ("error: writing output failed: {}", 2),
    "ls": ("write error: {}", 2),
    "nice": ("write error: {}", 125),
    "printenv": ("write error: {}", 2),
    "sdiff": ("standard output: {}", 2),
    "sed": ("couldn't flush stdout: {}", 4),
    "sort": ("fflush failed: 'standard output': {}\nsort: write error", 2),
    "tar": ("stdout: write error", 2),
    "tee": ("'standard output': {}", 1),
    "tty": ("write error: {}", 3),
    "vdir": ("write error: {}", 2),
    "xxd": ("{}", 3),
    "xz": ("(stdout): Write error: {}", 1),
    "xzcat": ("(stdout): Write error: {}", 1),
    "yes": ("standard output: {}", 1),
    "zcat": ("=\ngzip: stdout: {}", 1),
    "zstd": ("/*stdout*\\: {} ", 1),
}
"""What follows the name, and the status, where it is not "write error: reason" and 1."""


_CLOSED_OUTPUT: dict[str, tuple[str, int]] = {
    "cat": ("standard output: Bad file descriptor", 1),
    "find": ("‘standard output’: Bad file descriptor\nfind: write error: Bad file descriptor", 1),
    "sed": ("couldn't close stdout: Bad file descriptor", 4),
}
"""The same for a closed one, where it is worded differently."""


class BrokenInput(Stream):
    """A closed standard input that remembers whether somebody tried to read it."""

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


class ToldInput(Stream):
    """A standard input that cannot be read, for those that say so, or don't, and go on with none."""

    __slots__ = ("message", "tried")

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message
        self.tried = False

    def read(self, size: int = -1) -> bytes:
        self.tried = True
        return b""

    def readline(self, end: bytes = b"\n") -> bytes:
        return self.read()


class BrokenOutput(Stream):
    """A standard output that takes what a buffer holds, and nothing of it arrives."""

    __slots__ = ("number", "path", "size")

    def __init__(self, stream: ByteWriter) -> None:
        super().__init__()
        self.number = stream.unwritable
        self.path = getattr(stream, "path", None)
        self.size = 0

    @property
    def unwritable(self) -> int:  # type: ignore[override]
        """As the stream behind it."""
        return self.number

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > _BUFFER:
            raise OutputError(self.number, os.strerror(self.number))


def buffered_output(name: str, stream: ByteWriter) -> BrokenOutput | None:
    """What the tool `name` writes to instead of a broken standard output; None if it notices at once."""
    if name in _DIRECT:
        return None
    return BrokenOutput(stream)


def told_input(name: str, number: int) -> ToldInput | None:
    """What the tool `name` reads instead of a standard input whose error is `number`; None if the error ends it."""
    message = _TOLD.get(name, ("-", "-"))[number != errno.EBADF]
    return None if message == "-" else ToldInput(message.replace("{}", os.strerror(number)))


def input_failure(name: str, error: InputError) -> tuple[str, int]:
    """The message, without the name, and the status of the tool `name` when its standard input can't be read."""
    reason = os.strerror(error.errno or 0)
    if error.errno == errno.EBADF and name in _CLOSED_INPUT and not isinstance(error, WriteOnlyError):
        return _CLOSED_INPUT[name], _INPUT.get(name, ("", 1))[1]
    text, status = _INPUT.get(name, ("-: {}", 1))
    return text.replace("{}", reason), status


def with_name(name: str, message: str) -> bytes:
    """The line to write: "name: message"."""
    return encode(f"{message[1:]}\n" if message.startswith(_WHOLE) else f"{name}: {message}\n")


def closing_message(name: str) -> str | None:
    """What the tool `name` adds at its end when its standard input was closed all along."""
    prefix = _CLOSING.get(name)
    return None if prefix is None else prefix + os.strerror(errno.EBADF)


def output_failure(name: str, number: int) -> tuple[str, int] | None:
    """The message, without the name, and the status of the tool `name` when nothing it wrote arrives; None if it keeps silent."""
    if name in _SILENT or (number == errno.EBADF and name in _SILENT_WHEN_CLOSED):
        return None
    if number == errno.EBADF and name in _CLOSED_OUTPUT:
        return _CLOSED_OUTPUT[name]
    if number == errno.ENOSPC and name in _NO_REASON_WHEN_FULL:
        return "write error", 1
    text, status = _OUTPUT.get(name, ("write error: {}", 1))
    return text.replace("{}", os.strerror(number)), status
