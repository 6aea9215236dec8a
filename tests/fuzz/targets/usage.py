"""Options of every command: the words of a command line, whatever command it is.

Fields: the number of a command (two bytes), its words, the standard input.
"""

from __future__ import annotations

import random

from agentsandbox.kernel.streams import decode, encode
from tests.fuzz.judge import judged_script, sandbox_with
from tests.fuzz.target import FILES, SEPARATOR, Target, joined
from tests.security.fuzzing import NUMBERS, TEXTS, command_names, invocation, options_of

SETTING = {
    **FILES, "c.csv": b"a,b\n1,2\n", "s.sed": b"s/a/b/\np\n", "s.awk": b"{print $1}",
    "p.diff": b"--- f\n+++ f\n@@ -1 +1 @@\n-b\n+B\n",
}  # fmt: skip


def run(data: bytes) -> None:
    number, *words, content = [
        part.replace(b"\0", b"") for part in b"".join((data, b"")).split(SEPARATOR)
    ][:30] or [b""]
    every = command_names()
    name = every[int.from_bytes(number[:2], "big") % len(every)]
    args = tuple(decode(word) for word in words)
    judged_script(
        sandbox_with(SETTING), 'timeout 0.3 "$0" "$@"'.replace("$0", name), args=args, stdin=content
    )


def seeds(count: int) -> list[bytes]:
    found = []
    for number, name in enumerate(command_names()):
        head = number.to_bytes(2, "big")
        if SEPARATOR in head:
            continue
        line = invocation(random.Random(name), name).split()[1:6]
        found.append(joined(head, *line, b"b\na\n"))
        spellings = [option[0][0] for option in options_of(name)][:3]
        found.append(joined(head, *spellings, "f", b"1 2\n"))
    return random.Random(count).sample(found, min(count * 3, len(found)))


TARGET = Target(
    "usage",
    lambda data: run(data if SEPARATOR in data else data + SEPARATOR),
    seeds,
    tuple(encode(word) for word in [*NUMBERS, *TEXTS] if word and len(word) < 40) + (SEPARATOR,),
)
