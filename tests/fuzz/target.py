"""What a target is: a name, work for one input, beginnings, and the words of its language.

An input is bytes. Targets with several fields cut it at `SEPARATOR`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agentsandbox.kernel.streams import decode, encode
from tests.fuzz.judge import judged_script, sandbox_with
from tests.fuzz.seeds import seen_words

__all__ = ["SEPARATOR", "Target", "all_targets", "commands", "fields", "find_target", "joined"]

SEPARATOR = b"\x1f"


@dataclass(frozen=True)
class Target:
    """One thing to fuzz.

    run     judge one input; raises `Problem`
    seeds   beginnings: `seeds(count)` returns about that many, always the same
    words   the dictionary: tokens that a mutation inserts
    """

    name: str
    run: Callable[[bytes], object]
    seeds: Callable[[int], list[bytes]]
    words: tuple[bytes, ...] = ()


def joined(*parts: str | bytes) -> bytes:
    """Return an input of these fields."""
    return SEPARATOR.join(encode(part) if isinstance(part, str) else part for part in parts)


def fields(data: bytes, count: int) -> list[bytes]:
    """Return `count` fields of an input; those that are missing are empty."""
    found = data.split(SEPARATOR, count - 1)
    return found + [b""] * (count - len(found))


FILES = {
    "f": b"b\na\nc 3\n\n1 2\n",
    "g": b'a,b,"c\nd"\n1,2\n',
    "file": b"hello world\nfoo bar\n" * 20,
    "d/e": b"x",
    "j.json": b'{"a":[1,2,{"b":null}],"c":"x"}\n',
    "y.yaml": b"a: 1\nb: [x, y]\n",
}
"""What a command finds in its directory."""


def commands(
    name: str, programs: tuple[str, ...], words: Iterable[str], *more: tuple[str, ...]
) -> Target:
    """Return a target that calls one of `programs` with words and an input of the fuzzer.

    The fields: the words, the program first, and last the standard input, which is the file `in`
    as well. `more` are lines of words to begin with, beside those of the specs.
    """

    def run(data: bytes) -> None:
        *line, content = [part.replace(b"\0", b"") for part in data.split(SEPARATOR)[:40]]
        wanted = decode(line[0]) if line else programs[0]
        program = wanted if wanted in programs else programs[len(wanted) % len(programs)]
        args = tuple(decode(word) for word in line[1:])
        sandbox = sandbox_with({**FILES, "in": content})
        judged_script(sandbox, f'{program} "$@"', args=args, stdin=content)

    def seeds(count: int) -> list[bytes]:
        found = [joined(*line, FILES["f"]) for line in more]
        return found + [joined(*line, content) for line, content in seen_words(programs, count)]

    return Target(name, run, seeds, tuple(encode(word) for word in words) + (SEPARATOR,))


def all_targets() -> list[str]:
    """Return the names of all targets."""
    package = importlib.import_module("tests.fuzz.targets")
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def find_target(name: str) -> Target:
    """Return the target of a name."""
    found = importlib.import_module(f"tests.fuzz.targets.{name}").TARGET
    assert isinstance(found, Target)
    return found
