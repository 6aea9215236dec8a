"""`compgen`, `complete` and `compopt`: completions are generated and remembered; there is no line editor to use them."""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.expansion.globbing import glob_paths
from agentsandbox.expansion.variables import EXPORT, IndexedArray
from agentsandbox.interpreter.builtins import NAMES, define, parse_letters
from agentsandbox.patterns import compile_shell_pattern, quote_glob
from agentsandbox.quoting import shell_quote_single
from agentsandbox.syntax.parser import RESERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.interpreter.shell import Shell

_LETTERS = "abcdefgjksuvA:o:W:F:C:G:P:S:X:prDEI"
_ACTIONS = {
    "a": "alias",
    "b": "builtin",
    "c": "command",
    "d": "directory",
    "e": "export",
    "f": "file",
    "g": "group",
    "j": "job",
    "k": "keyword",
    "s": "service",
    "u": "user",
    "v": "variable",
}


def _commands(shell: Shell) -> Iterable[str]:
    return {*NAMES, *RESERVED, *shell.functions, *shell.aliases, *shell.machine.host.commands()}


def _files(shell: Shell, prefix: str, *, directories: bool) -> list[str]:
    found = glob_paths(quote_glob(prefix) + "*", shell.fs, shell.cwd, shell.budget)
    return [name for name in found if not directories or shell.fs.is_dir(shell.path(name))]


_SOURCES: dict[str, Callable[[Shell], Iterable[str]]] = {
    "alias": lambda shell: shell.aliases,
    "arrayvar": lambda shell: [name for name, value in shell.values.items() if isinstance(value, IndexedArray)],
    "builtin": lambda shell: NAMES,
    "command": _commands,
    "export": lambda shell: [name for name, flags in shell.attributes.items() if flags & EXPORT],
    "function": lambda shell: shell.functions,
    "group": lambda shell: ["root", shell.machine.user],
    "helptopic": lambda shell: NAMES,
    "hostname": lambda shell: [shell.machine.host.hostname, "localhost"],
    "job": lambda shell: [job.text for job in shell.jobs.jobs],
    "keyword": lambda shell: RESERVED,
    "service": lambda shell: [],
    "setopt": lambda shell: _option_names(),
    "shopt": lambda shell: shell.shopt,
    "user": lambda shell: ["root", shell.machine.user],
    "variable": lambda shell: shell.variables.names(),
}


def _option_names() -> Iterable[str]:
    from agentsandbox.interpreter.shell import OPTIONS

    return OPTIONS


def _words(shell: Shell, text: str) -> list[str]:
    from agentsandbox.expansion.splitting import split_fields

    return split_fields(shell.expand_text(text), shell.ifs)


@define(
    "compgen", "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-P prefix] [-S suffix] [-X filterpat] [word]"
)
def compgen(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, _LETTERS)
    prefix = words[position] if position < len(words) else ""
    for letter in "FC":
        if letter in options:
            raise CommandError(f"-{letter}: completion functions need a line editor, which the sandbox has not", 1)
    actions = [_ACTIONS[letter] for letter in options if letter in _ACTIONS]
    if "A" in options:
        actions.append(options["A"])
    found: list[str] = []
    for action in actions:
        if action in ("file", "directory"):
            found.extend(_files(shell, prefix, directories=action == "directory"))
        elif action in _SOURCES:
            found.extend(sorted(name for name in _SOURCES[action](shell) if name.startswith(prefix)))
        else:
            raise CommandError(f"{action}: invalid action name", 2)
    if "G" in options:
        found.extend(glob_paths(options["G"], shell.fs, shell.cwd, shell.budget))
    if "W" in options:
        found.extend(word for word in _words(shell, options["W"]) if word.startswith(prefix))
    if "X" in options:
        pattern = options["X"]
        negated = pattern.startswith("!")
        test = compile_shell_pattern(pattern[1:] if negated else pattern)
        found = [word for word in found if test.match(word) is negated]
    for word in found:
        shell.write(f"{options.get('P', '')}{word}{options.get('S', '')}\n")
    return 0 if found else 1


@define(
    "complete",
    "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command]"
    " [-X filterpat] [-P prefix] [-S suffix] [name ...]",
)
def complete(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, _LETTERS)
    names = words[position:]
    specs = shell.completions
    if "r" in options:
        for name in names or list(specs):
            specs.pop(name, None)
        return 0
    if "p" in options or not names:
        status = 0
        for name in names or sorted(specs):
            if name in specs:
                shell.write(f"complete {specs[name]}{name}\n")
            else:
                shell.complain(f"complete: {name}: no completion specification")
                status = 1
        return status
    text = "".join(f"-{letter} {shell_quote_single(value)} " if value else f"-{letter} " for letter, value in options.items())
    for name in names:
        specs[name] = text
    return 0


@define("compopt", "compopt [-o|+o option] [-DEI] [name ...]")
def compopt(shell: Shell, words: list[str]) -> int:
    _, position = parse_letters(words, "o:DEI", plus=True)
    if position >= len(words):
        raise CommandError("not currently executing completion function", 1)
    for name in words[position:]:
        if name not in shell.completions:
            raise CommandError(f"{name}: no completion specification", 1)
    return 0
