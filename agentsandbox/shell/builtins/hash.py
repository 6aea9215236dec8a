"""`hash`"""

from __future__ import annotations

import os

from agentsandbox.errors import CommandError
from agentsandbox.kernel.quoting import quote_if_needed
from agentsandbox.shell.builtins import NAMES, define, parse_letters
from agentsandbox.shell.expansion.variables import AssociativeArray
from agentsandbox.shell.interpreter.search import find_on_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("hash", "hash [-lr] [-p pathname] [-dt] [name ...]")
def hash(shell: Shell, words: list[str]) -> int:
    """Remember or show where commands are."""
    options, position = parse_letters(words, "lrp:dt")
    if not shell.options.hashall:
        raise CommandError("hashing disabled", 1)
    names = words[position:]
    if "r" in options:
        shell.specials.hashed.clear()
    if not names:
        if "t" in options or "d" in options:
            raise CommandError(f"-{'t' if 't' in options else 'd'}: option requires an argument", 1)
        if "r" not in options:
            _print(shell, "l" in options)
        return 0
    status = 0
    for name in names:
        if "p" in options:
            if options["p"] and shell.fs.is_dir(shell.path(options["p"])):
                shell.complain(f"hash: {options['p']}: {os.strerror(21)}")
                status = 1
            else:
                shell.specials.hashed[name] = (options["p"], 0)
        elif "d" in options:
            if shell.specials.hashed and shell.specials.hashed.pop(name, None) is None:
                shell.complain(f"hash: {name}: not found")
                status = 1
        elif "t" in options:
            entry = shell.specials.hashed.get(name)
            if entry is None:
                shell.complain(f"hash: {name}: not found")
                status = 1
            elif "l" in options:
                shell.write(f"builtin hash -p {entry[0]} {name}\n")
            else:
                shell.write((f"{name}\t" if len(names) > 1 else "") + f"{entry[0]}\n")
        elif "/" not in name and name not in shell.definitions.functions and name not in NAMES:
            shell.specials.hashed.pop(name, None)
            path = find_on_path(shell, name, shell.variables.get("PATH"))
            if path is None or not shell.fs.stat(shell.path(path)).mode & 0o111:
                shell.complain(f"hash: {name}: not found")
                status = 1
            else:
                shell.specials.hashed[name] = (path, 0)
    return status


def _print(shell: Shell, reusable: bool) -> None:
    if not shell.specials.hashed:
        if not reusable:
            shell.write("hash: hash table empty\n")
        return
    if not reusable:
        shell.write("hits\tcommand\n")
    for name in AssociativeArray(dict.fromkeys(shell.specials.hashed, "")).keys(buckets=256):
        path, hits = shell.specials.hashed[name]
        shell.write(
            f"builtin hash -p {quote_if_needed(path)} {quote_if_needed(name)}\n"
            if reusable
            else f"{hits:4}\t{path}\n"
        )
