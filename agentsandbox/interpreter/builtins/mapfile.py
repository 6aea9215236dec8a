"""`mapfile` and `readarray`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.expansion.variables import ASSOCIATIVE, READONLY, AssociativeArray, IndexedArray, is_name
from agentsandbox.interpreter.builtins import define, is_number, parse_letters
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell

_USAGE = "{} [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]"


def _mapfile(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, "d:n:O:s:tu:C:c:")
    name = words[position] if position < len(words) else "MAPFILE"
    if not name:
        raise CommandError("empty array variable name", 2)
    if not is_name(name):
        raise CommandError(f"`{name}': not a valid identifier", 1)
    count, origin, skip, quantum = (_number(options, letter, default) for letter, default in (("n", 0), ("O", 0), ("s", 0), ("c", 5000)))
    number = options.get("u", "0")
    if not is_number(number):
        raise CommandError(f"{number}: invalid file descriptor specification", 1)
    stream = shell.fds.get(int(number)) if len(number) < 9 else None
    if stream is None and "u" not in options:
        return 0
    if stream is None:
        raise CommandError(f"{number}: invalid file descriptor: Bad file descriptor", 1)
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
    index = origin
    read = 0
    budget = shell.budget
    while not count or read < count:
        try:
            line = stream.readline(end)
        except OSError:  # bash says nothing of it
            break
        if not line:
            break
        budget.step()
        if skip:
            skip -= 1
            continue
        if strip and line.endswith(end):
            line = line[:-1]
        text = decode(line.partition(b"\0")[0])
        read += 1
        if callback is not None and read % quantum == 0:
            from agentsandbox.interpreter.scripts import run_commands
            from agentsandbox.quoting import shell_quote_single

            run_commands(shell, f"{callback} {index} {shell_quote_single(text)}")
        array.set(index, shell.variables.converted(name, text))
        index += 1
        if read % 1024 == 0:
            budget.charge(16 * read)
    return 0


def _number(options: dict[str, str], letter: str, default: int) -> int:
    text = options.get(letter)
    if text is None:
        return default
    if not is_number(text) or len(text) > 9 or (letter == "c" and not int(text)):
        what = {"n": "line count", "O": "array origin", "s": "line count", "c": "callback quantum"}[letter]
        raise CommandError(f"{text}: invalid {what}", 1)
    return int(text)


mapfile = define("mapfile", _USAGE.format("mapfile"))(_mapfile)
readarray = define("readarray", _USAGE.format("readarray"))(_mapfile)
