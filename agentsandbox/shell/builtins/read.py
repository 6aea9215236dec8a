"""`read`"""

from __future__ import annotations

import functools
import re
from time import monotonic

from agentsandbox.errors import CommandError
from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.predicates import parse_test_integer
from agentsandbox.kernel.streams import decode, decode_pieces, encode
from agentsandbox.shell.builtins import define, invalid_number, parse_letters
from agentsandbox.shell.expansion.errors import BAD_SUBSCRIPT, ExpansionError
from agentsandbox.shell.expansion.splitting import split_read
from agentsandbox.shell.expansion.variables import IndexedArray, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.interpreter.shell import Shell

_LETTERS = "ersa:d:i:n:N:p:t:u:"
_USAGE = (
    "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout]"
    " [-u fd] [name ...]"
)


@define("read", _USAGE)
def read(shell: Shell, words: list[str]) -> int:
    """Read a line and split it into variables."""
    if len(words) == 1 or words[1] == "-r":
        options: dict[str, str] = {} if len(words) == 1 else {"r": ""}
        position = len(options) + 1
        if len(words) > position and words[position].startswith("-"):
            options, position = parse_letters(
                words, _LETTERS, check=functools.partial(_check_value, shell)
            )
    else:
        options, position = parse_letters(
            words, _LETTERS, check=functools.partial(_check_value, shell)
        )
    names = words[position:]
    stream = shell.fds.get(int(options.get("u", 0)))
    timeout = _seconds(options["t"]) if "t" in options else None
    if timeout == 0 and stream is not None:
        return 0 if _wait_input(shell, stream, 0) else 1
    if names:
        _check(shell, names[0])
    if stream is None:
        raise CommandError("read error: 0: Bad file descriptor", 1)
    timed = None
    if timeout is not None and hasattr(stream, "has_input"):
        timed = _Timed(shell, stream, timeout)
    source = timed or stream
    raw = "r" in options
    if "n" in options or "N" in options:
        text, escaped, complete = _read_characters(shell, source, options, raw)
    else:
        text, escaped, complete = _read_line(shell, source, options.get("d"), raw)
    if "N" in options and "a" not in options:
        _set(shell, names[0] if names else "REPLY", text)
        for name in names[1:]:
            _check(shell, name)
            _set(shell, name, "")
    else:
        _assign(shell, options, names, text, escaped)
    if timed is not None and timed.is_late:
        return 142
    return 0 if complete else 1


class _Timed:
    """A stream that ends when the time of -t is over; what came until then is what was read."""

    __slots__ = ("_end", "_shell", "_stream", "is_late")

    def __init__(self, shell: Shell, stream: Stream, seconds: float) -> None:
        self._shell = shell
        self._stream = stream
        self._end = monotonic() + seconds
        self.is_late = False

    def _wait(self) -> bool:
        """Whether input, or its end, came in time."""
        left = max(0.0, self._end - monotonic())
        self.is_late = not _wait_input(self._shell, self._stream, left)
        return not self.is_late

    def read(self, size: int) -> bytes:
        return self._stream.read(size) if self._wait() else b""

    def readline(self, end: bytes) -> bytes:
        parts: list[bytes] = []
        total = 0
        while self._wait():
            ahead = self._stream.peek(PIECE)
            part = self._stream.read((ahead.find(end) + 1 or len(ahead)) if ahead else 1)
            parts.append(part)
            total += len(part)
            self._shell.budget.step()
            self._shell.budget.charge(total)
            if not part or part.endswith(end):
                break
        return b"".join(parts)


def _check(shell: Shell, name: str) -> None:
    if shell.reference(name) is None:
        raise CommandError(f"`{name}': not a valid identifier", 1)


def _check_value(shell: Shell, letter: str, value: str) -> None:
    if letter in "nN":
        _count(value)
    elif letter == "t":
        _seconds(value)
    elif letter == "u":
        check_descriptor(shell, value)


def check_descriptor(shell: Shell, text: str) -> None:
    """Raise `CommandError` unless the text is the number of an open descriptor."""
    number = parse_test_integer(text)
    if number is None or number < 0:
        raise CommandError(f"{text}: invalid file descriptor specification", 1)
    if number not in shell.fds:
        raise CommandError(f"{number}: invalid file descriptor: Bad file descriptor", 1)


def _count(text: str) -> int:
    count = parse_test_integer(text)
    if count is None or not 0 <= count < 2**31:
        raise CommandError(invalid_number(text), 1)
    return count


def _seconds(text: str) -> float:
    if not _SECONDS.fullmatch(text) or len(text) > 30:
        raise CommandError(f"{text}: invalid timeout specification", 1)
    digits = text.lstrip("+-")
    return min(float(f"0{digits}0" if "." in digits else f"0{digits}"), 1e9)


_SECONDS = lazily(r"\+?[0-9]*(?:\.[0-9]*)?|-0*(?:\.0*)?")


def _wait_input(shell: Shell, stream: Stream, timeout: float) -> bool:
    """Whether there is input within `timeout` seconds."""
    ready = getattr(stream, "has_input", None)
    if ready is None:
        return True
    if timeout <= 0:
        return bool(ready())
    return shell.machine.scheduler.block(ready, timeout)


def _read_line(
    shell: Shell, stream: Stream | _Timed, delimiter: str | None, raw: bool
) -> tuple[str, set[int], bool]:
    """Return (text, positions of escaped characters, whether the delimiter was found)."""
    end = b"\n" if delimiter is None else (encode(delimiter[:1]) or b"\0")[:1]
    line = stream.readline(end)
    complete = line.endswith(end)
    if complete:
        line = line[:-1]
    if raw or b"\\" not in line:
        if b"\0" in line:
            line = line.replace(b"\0", b"")
        if len(line) > PIECE:
            return decode_pieces(shell.budget.pieces(line)), set(), complete
        return decode(line), set(), complete
    # a backslash at the end joins the next line
    while complete and _ends_in_backslash(line):
        if end != b"\n":
            more = stream.readline(end)
            complete = more.endswith(end)
            line = line + end + (more[:-1] if complete else more)
            continue
        more = stream.readline(end)
        complete = more.endswith(end)
        line = line[:-1] + (more[:-1] if complete else more)
        shell.budget.charge(len(line))
    shell.budget.charge(16 * line.count(b"\\"))
    text, escaped = unescape(decode(line))
    return text, escaped, complete


def _ends_in_backslash(line: bytes) -> bool:
    return (len(line) - len(line.rstrip(b"\\"))) % 2 == 1


_ESCAPE = lazily(r"\\(.?)", re.DOTALL)


def unescape(text: str) -> tuple[str, set[int]]:
    """Remove backslashes; return the text and the positions of the characters that they quoted."""
    out: list[str] = []
    escaped: set[int] = set()
    position = size = 0
    for match in _ESCAPE.finditer(text):
        out.append(text[position : match.start()])
        size += match.start() - position
        if match[1] and match[1] != "\n":
            escaped.add(size)
            out.append(match[1])
            size += 1
        position = match.end()
    out.append(text[position:])
    return "".join(out), escaped


def _read_characters(
    shell: Shell, stream: Stream | _Timed, options: dict[str, str], raw: bool
) -> tuple[str, set[int], bool]:
    """Read a number of characters for -n or -N; -n ends at the delimiter, too."""
    exact = "N" in options
    count = _count(options["N"] if exact else options["n"])
    delimiter = options.get("d")
    end = "" if exact else ("\n" if delimiter is None else (delimiter[:1] or "\0"))
    characters: list[str] = []
    escaped: set[int] = set()
    if not exact and count == 0:
        return "", escaped, True
    pending = b""
    quoted = False
    while len(characters) < count:
        shell.budget.step()
        byte = stream.read(1)
        if not byte:
            return "".join(characters) + decode(pending), escaped, False
        pending += byte
        if pending[0] >= 0xC0 and len(pending) < (
            2 if pending[0] < 0xE0 else 3 if pending[0] < 0xF0 else 4
        ):
            continue
        char = decode(pending)
        pending = b""
        if quoted:
            quoted = False
            if char != "\n":
                escaped.add(len(characters))
                characters.append(char)
            continue
        if char == "\\" and not raw:
            quoted = True
            continue
        if end and char == end:
            return "".join(characters), escaped, True
        if char == "\0":
            continue
        characters.append(char)
    return "".join(characters), escaped, True


def _set(shell: Shell, name: str, value: str) -> None:
    if name not in shell.attributes and "[" not in name:
        shell.values[name] = value
        return
    if "[" in name:
        try:
            shell.variables.assign_element(*shell.element_key(name), value)
        except ExpansionError as error:
            if error.message.endswith(BAD_SUBSCRIPT):
                raise ExpansionError(error.message, fatal=False) from None
            raise
    else:
        try:
            shell.variables.assign(name, value)
        except ExpansionError as error:
            if error.ends:
                raise
            if error.message.endswith("not a valid identifier"):  # what a name reference would name
                raise CommandError(error.message, 1) from None
            raise ExpansionError(error.message, fatal=False, readonly=error.readonly) from None


_LONG = 65536
"""Characters from which on fields are counted before they are made."""


def _assign(
    shell: Shell, options: dict[str, str], names: list[str], text: str, escaped: set[int]
) -> None:
    ifs = shell.variables.ifs
    if "a" in options:
        if not is_name(options["a"]):
            raise CommandError(f"`{options['a']}': not a valid identifier", 1)
        delimiters = sum(map(text.count, set(ifs))) if len(text) > _LONG else 0
        shell.budget.charge(16 * delimiters)
        shell.budget.step(delimiters >> 2)
        fields = (
            split_read(text, ifs, -1, escaped, shell.budget) if ifs else ([text] if text else [])
        )
        name = shell.variables.resolve(options["a"]) or options["a"]
        if shell.variables.is_associative(name):
            raise CommandError(f"{name}: not an indexed array", 1)
        try:
            shell.variables.replace(
                name, IndexedArray.of([shell.variables.converted(name, field) for field in fields])
            )
        except ExpansionError as error:
            raise ExpansionError(error.message, fatal=False, readonly=error.readonly) from None
        return
    if not names:
        _set(shell, "REPLY", text)
        return
    if not ifs:
        fields = [text]
    elif len(names) == 1 and not escaped and shell.variables.default_ifs:
        fields = [text.strip(" \t\n")]
    else:
        fields = split_read(text, ifs, len(names), escaped, shell.budget)
    for number, name in enumerate(names):
        if number:
            _check(shell, name)  # the names before it are assigned
        _set(shell, name, fields[number] if number < len(fields) else "")
