"""`compgen`, `complete`, `compopt` and `bind`: what a shell with a line editor has.

Completions are generated and remembered, but a sandbox has no editor to use them.
"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.kernel.patterns.matchers import compile_shell_pattern
from agentsandbox.kernel.processes import SIGNALS
from agentsandbox.kernel.quoting import (
    quote_glob,
    quote_if_needed,
    shell_quote_single,
    single_quote,
)
from agentsandbox.shell.builtins import NAMES, UsageFailure, define, parse_letters
from agentsandbox.shell.builtins.declare import array_from_text
from agentsandbox.shell.expansion.globbing import glob_paths
from agentsandbox.shell.expansion.splitting import split_fields
from agentsandbox.shell.expansion.variables import ARRAY, EXPORT, AssociativeArray, IndexedArray
from agentsandbox.shell.interpreter.options import OPTIONS
from agentsandbox.shell.interpreter.simple import run_words
from agentsandbox.shell.syntax.plain_commands import RESERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.shell.interpreter.shell import Shell

_VALUED = "oAWFCGPSX"
_FLAGS = "abcdefgjksuv"
_OPTIONS = "bashdefault default dirnames filenames noquote nosort nospace plusdirs".split()
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
    return {
        *NAMES,
        *RESERVED,
        *shell.definitions.functions,
        *shell.definitions.aliases,
        *shell.machine.host.commands(),
    }


def _files(shell: Shell, prefix: str, *, directories: bool) -> list[str]:
    found = glob_paths(quote_glob(prefix) + "*", shell.fs, shell.cwd, shell.budget)
    return [name for name in found if not directories or shell.fs.is_dir(shell.path(name))]


_KEYWORDS = """
if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc
""".split()
_SOURCES: dict[str, Callable[[Shell], Iterable[str]]] = {
    "alias": lambda shell: shell.definitions.aliases,
    "arrayvar": lambda shell: [
        name for name, value in shell.values.items() if isinstance(value, IndexedArray)
    ],
    "builtin": lambda shell: NAMES,
    "command": _commands,
    "export": lambda shell: [name for name, flags in shell.attributes.items() if flags & EXPORT],
    "function": lambda shell: shell.definitions.functions,
    "group": lambda shell: ["root", shell.machine.user],
    "binding": lambda shell: [],
    "disabled": lambda shell: shell.definitions.disabled,
    "enabled": lambda shell: NAMES - shell.definitions.disabled,
    "helptopic": lambda shell: NAMES,
    "hostname": lambda shell: [shell.machine.host.hostname, "localhost"],
    "job": lambda shell: [job.text for job in shell.jobs.jobs],
    "keyword": lambda shell: _KEYWORDS,
    "running": lambda shell: [job.text for job in shell.jobs.jobs if job.process.status is None],
    "service": lambda shell: [],
    "signal": lambda shell: [
        "EXIT",
        *(f"SIG{SIGNALS.get(number, f'JUNK({number})')}" for number in range(1, 65)),
        "DEBUG",
        "ERR",
        "RETURN",
    ],
    "stopped": lambda shell: [],
    "setopt": lambda shell: OPTIONS,
    "shopt": lambda shell: sorted(shell.options.shopt, key=lambda name: (name != "autocd", name)),
    "user": lambda shell: ["root", shell.machine.user],
    "variable": lambda shell: shell.variables.names_with_value(),
}


def _words(shell: Shell, text: str) -> list[str]:
    """Return the words of a -W list: split as bash does, and expanded except for file names."""
    shell.budget.charge(64 * len(text))
    shell.budget.step(len(text) >> 3)
    if shell.variables.ifs != " \t\n":
        return [
            word
            for field in split_fields(text, shell.variables.ifs)
            for word in _words_of_field(shell, field)
        ]
    return _words_of_field(shell, text)


def _words_of_field(shell: Shell, text: str) -> list[str]:
    bound = shell.without_globbing(
        lambda: array_from_text(shell, "COMPREPLY", f"({text})", False, ARRAY)
    )
    return (
        [word for _, _, word in bound.value]
        if bound is not None and isinstance(bound.value, list)
        else text.split()
    )


def _read_options(words: list[str], flags: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return (letter, value) pairs as given, and the operands. `flags` take no value."""
    found: list[tuple[str, str]] = []
    position = 1
    while position < len(words) and len(words[position]) > 1 and words[position][0] == "-":
        word = words[position]
        position += 1
        if word == "--":
            break
        for at in range(1, len(word)):
            letter = word[at]
            if letter in _VALUED:
                value = word[at + 1 :]
                if not value:
                    if position >= len(words):
                        raise UsageFailure(f"-{letter}: option requires an argument")
                    value = words[position]
                    position += 1
                _check_value(letter, value)
                found.append((letter, value))
                break
            if letter not in flags:
                raise UsageFailure(f"-{letter}: invalid option")
            found.append((letter, ""))
    return found, words[position:]


def _check_value(letter: str, value: str) -> None:
    if letter == "o" and value not in _OPTIONS:
        raise CommandError(f"{value}: invalid option name", 2)
    if letter == "A" and value not in _SOURCES and value not in ("file", "directory"):
        raise CommandError(f"{value}: invalid action name", 2)


_SPECIFICATION = (
    "[-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command]"
    " [-X filterpat] [-P prefix] [-S suffix]"
)


@define("compgen", f"compgen [-abcdefgjksuv] {_SPECIFICATION} [word]")
def compgen(shell: Shell, words: list[str]) -> int:
    """Show possible completions."""
    given, operands = _read_options(words, _FLAGS)
    prefix = operands[0] if operands else ""
    if not given:
        return 0
    options = dict(given)
    found: list[str] = []
    for action in [
        _ACTIONS.get(letter, value)
        for letter, value in given
        if letter in _ACTIONS or letter == "A"
    ]:
        if action in ("file", "directory"):
            found.extend(_files(shell, prefix, directories=action == "directory"))
        else:
            names = _SOURCES[action](shell)
            found.extend(
                name
                for name in (names if isinstance(names, list) else sorted(names))
                if name.startswith(prefix)
            )
    if "G" in options:
        found.extend(
            glob_paths(
                options["G"], shell.fs, shell.cwd, shell.budget, extglob=shell.options.extglob
            )
        )
    if "W" in options:
        found.extend(word for word in _words(shell, options["W"]) if word.startswith(prefix))
    if "F" in options:
        found.extend(_call(shell, options["F"], prefix))
    if "C" in options:
        shell.complain("compgen: warning: -C option may not work as you expect")
        found.extend(
            shell.expand_text(f"$({options['C']} compgen {shell_quote_single(prefix)} '')").split(
                "\n"
            )
        )
    if "X" in options:
        pattern = options["X"].replace("&", prefix)
        negated = pattern.startswith("!")
        test = compile_shell_pattern(pattern[1:] if negated else pattern)
        found = [word for word in found if bool(test.match(word)) is negated]
    shown = [f"{options.get('P', '')}{word}{options.get('S', '')}" for word in found]
    wanted = [value for letter, value in given if letter == "o"]
    if "plusdirs" in wanted or ("dirnames" in wanted and not shown):
        shown.extend(_files(shell, prefix, directories=True))
    if "default" in wanted and not shown:
        shown.extend(_files(shell, prefix, directories=False))
    shell.write("".join(f"{word}\n" for word in shown))
    return 0 if shown else 1


def _call(shell: Shell, function: str, prefix: str) -> list[str]:
    """Call a completion function and return what it leaves in COMPREPLY."""
    shell.complain("compgen: warning: -F option may not work as you expect")
    if function not in shell.definitions.functions:
        shell.complain(f"completion: function `{function}' not found")
        return []
    for name, value in (("COMP_CWORD", "-1"), ("COMP_LINE", ""), ("COMP_POINT", "0")):
        shell.variables.assign(name, value)
    shell.variables.unset("COMPREPLY")
    run_words(shell, [function, "compgen", prefix, ""])
    found = shell.variables.elements("COMPREPLY")
    for name in ("COMPREPLY", "COMP_CWORD", "COMP_LINE", "COMP_POINT"):
        shell.variables.unset(name)
    return found


_DEFAULTS = {"D": "_DefaultCmD_", "E": "_EmptycmD_", "I": "_InitialWorD_"}
"""The names under which bash keeps the specifications of -D, -E and -I."""


_USAGE = f"complete [-abcdefgjksuv] [-pr] [-DEI] {_SPECIFICATION} [name ...]"


@define("complete", _USAGE)
def complete(shell: Shell, words: list[str]) -> int:
    """Say how arguments are completed."""
    given, operands = _read_options(words, _FLAGS + "prDEI")
    options = dict(given)
    names = [_DEFAULTS[letter] for letter in "DEI" if letter in options] or operands
    specs = dict(shell.definitions.completions)
    status = 0
    if given and not names and not options.keys() & {"r", "p"}:
        shell.write(f"complete: usage: {_USAGE}\n", 2)
        return 2
    if "r" in options or "p" in options or not names:
        if not names:
            names = list(AssociativeArray(dict.fromkeys(specs, "")).keys(buckets=512))
        for name in names:
            if name not in specs:
                shell.complain(f"complete: {name}: no completion specification")
                status = 1
            elif "r" in options:
                del specs[name]
            else:
                shell.write(f"complete {specs[name]}{_shown(name)}\n")
        shell.definitions = shell.definitions.replace(completions=specs)
        return status
    specs |= dict.fromkeys(names, _describe(given))
    shell.definitions = shell.definitions.replace(completions=specs)
    return 0


def _shown(name: str) -> str:
    return next(
        (f"-{letter}" for letter, kept in _DEFAULTS.items() if kept == name), ""
    ) or quote_if_needed(name)


def _describe(given: list[tuple[str, str]]) -> str:
    """Return the options of a specification in bash's order."""
    options = dict(given)
    shown = [f"-o {name}" for name in _OPTIONS if ("o", name) in given]
    letters = {
        _ACTIONS.get(letter, value)
        for letter, value in given
        if letter in _ACTIONS or letter == "A"
    }
    shown += [f"-{letter}" for letter, action in _ACTIONS.items() if action in letters]
    shown += [f"-A {action}" for action in sorted(letters - set(_ACTIONS.values()))]
    shown += [
        f"-{letter} {single_quote(options[letter])}" for letter in "GWPSX" if letter in options
    ]
    if "F" in options:
        shown.append(f"-F {quote_if_needed(options['F'])}")
    if "C" in options:
        shown.append(f"-C {single_quote(options['C'])}")
    return "".join(f"{option} " for option in shown)


@define("compopt", "compopt [-o|+o option] [-DEI] [name ...]")
def compopt(shell: Shell, words: list[str]) -> int:
    """Change the options of a completion."""
    del shell, words
    raise CommandError("not currently executing completion function", 1)


@define(
    "bind",
    "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq]"
    " [-x keyseq:shell-command] [keyseq:readline-function or readline-command]",
)
def bind(shell: Shell, words: list[str]) -> int:
    """Set key bindings (there is no line editor in a sandbox)."""
    shell.complain("bind: warning: line editing not enabled")
    parse_letters(words, "lpsvPSVXm:f:q:u:r:x:")
    return 0
