"""`mapfile` and `readarray`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.kernel.quoting import shell_quote_single
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.shell.builtins import define, is_number, parse_letters
from agentsandbox.shell.builtins.read import check_descriptor
from agentsandbox.shell.expansion.variables import (
    ASSOCIATIVE,
    READONLY,
    AssociativeArray,
    IndexedArray,
    is_name,
)
from agentsandbox.shell.interpreter.texts import run_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.interpreter.shell import Shell

_USAGE = (
    "{} [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum]"
    " [array]"
)


def _mapfile(shell: Shell, words: list[str]) -> int:
    """Read lines into an array."""
    options, position = parse_letters(
        words, "d:n:O:s:tu:C:c:", check=lambda letter, text: _check(shell, letter, text)
    )
    name = words[position] if position < len(words) else "MAPFILE"
    if not name:
        raise CommandError("empty array variable name", 2)
    if not is_name(name):
        raise CommandError(f"`{name}': not a valid identifier", 1)
    count, origin, skip, quantum = (
        int(options.get(letter, default))
        for letter, default in (("n", 0), ("O", 0), ("s", 0), ("c", 5000))
    )
    stream = shell.fds.get(int(options.get("u", 0)))
    if stream is None:
        return 0
    end = b"\n" if "d" not in options else (encode(options["d"][:1]) or b"\0")[:1]
    name = shell.variables.resolve(name) or name
    if shell.attributes.get(name, 0) & READONLY:
        shell.complain(f"{name}: readonly variable")
        return 1
    if "O" in options:
        array = shell.variables.array_for_writing(name)
        if isinstance(array, AssociativeArray):
            raise CommandError(f"{name}: not an indexed array", 1)
    else:
        if shell.attributes.get(name, 0) & ASSOCIATIVE:
            raise CommandError(f"{name}: not an indexed array", 1)
        array = IndexedArray()
        shell.variables.replace(name, array)
    strip = "t" in options
    callback = options.get("C")
    if callback is None and not count and end == b"\n":
        index = origin
        for texts in _all_lines(shell, stream, skip, strip):
            if shell.attributes.get(name):
                texts = [shell.variables.converted(name, text) for text in texts]
            array.fill(index, texts)
            index += len(texts)
        return 0
    for number, text in enumerate(_lines(shell, stream, end, skip, count, strip), 1):
        index = origin + number - 1
        if callback is not None and number % quantum == 0:
            run_commands(shell, f"{callback} {index} {shell_quote_single(text)}")
        array.set(index, shell.variables.converted(name, text))
    return 0


def _all_lines(shell: Shell, stream: Stream, skip: int, strip: bool) -> Iterator[list[str]]:
    """Yield lines up to the end of the input, many at a time, each cut at its first NUL."""
    read = 0
    try:
        for block in stream.line_blocks():
            texts = decode(block).split("\n")
            last = texts.pop()
            if not strip:
                texts = [text + "\n" for text in texts]
            if last:
                texts.append(last)
            if b"\0" in block:
                texts = [text.partition("\0")[0] for text in texts]
            shell.budget.step(len(texts))
            if skip:
                skipped = min(skip, len(texts))
                skip -= skipped
                del texts[:skipped]
            read += len(texts)
            shell.budget.charge(16 * read)
            yield texts
    except OSError:  # bash says nothing of it
        return


def _lines(
    shell: Shell, stream: Stream, end: bytes, skip: int, count: int, strip: bool
) -> Iterator[str]:
    """Yield `count` lines (all for 0) one by one, and leave the rest of the input unread."""
    budget = shell.budget
    read = 0
    while not count or read < count:
        try:
            line = stream.readline(end)
        except OSError:
            return
        if not line:
            return
        budget.step()
        if skip:
            skip -= 1
            continue
        if strip and line.endswith(end):
            line = line[:-1]
        read += 1
        if read % 1024 == 0:
            budget.charge(16 * read)
        yield decode(line.partition(b"\0")[0])


_NUMBERS = {"n": "line count", "O": "array origin", "s": "line count", "c": "callback quantum"}


def _check(shell: Shell, letter: str, text: str) -> None:
    if letter == "u":
        check_descriptor(shell, text)
    elif letter in _NUMBERS and (
        not is_number(text) or len(text) > 9 or (letter == "c" and not int(text))
    ):
        raise CommandError(f"{text}: invalid {_NUMBERS[letter]}", 1)


mapfile = define("mapfile", _USAGE.format("mapfile"))(_mapfile)
readarray = define("readarray", _USAGE.format("readarray"))(_mapfile)
