"""The command line of `jq`: options anywhere, values for variables, positional arguments."""

from __future__ import annotations

import errno
import os
import re

from agentsandbox.commands._json.json_text import JsonError, parse_one, slurp
from agentsandbox.contract.command import CommandContext
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._json.values import Value

_OPTION = re.compile(r"-(?:-|[A-Za-z])")
_HINT = (
    "\nUse jq --help for help with command-line options,"
    "\nor see the jq manpage, or online docs  at https://jqlang.org"
)


class Options:
    """What the command line says."""

    def __init__(self) -> None:
        self.program = "."
        self.from_file = False
        """Whether `program` names the file of the program."""
        self.files: list[str] = []
        self.named: dict[str, Value] = {}
        self.positional: list[Value] = []
        self.null_input = self.raw_input = self.slurp = self.stream = False
        self.raw_output = self.ascii_output = self.sort_keys = self.color = self.exit_status = False
        self.unbuffered = False
        self.indent: str | None = "  "
        """Of one level; None for all on one line."""
        self.end = "\n"
        self.help = self.version = False


def _fail(message: str) -> CommandError:
    return CommandError(message + _HINT, 2)


_LONG: dict[str, dict[str, object]] = {
    "null-input": {"null_input": True},
    "raw-input": {"raw_input": True},
    "slurp": {"slurp": True},
    "compact-output": {"indent": None},
    "raw-output": {"raw_output": True},
    "raw-output0": {"raw_output": True, "end": "\0"},
    "join-output": {"raw_output": True, "end": ""},
    "ascii-output": {"ascii_output": True},
    "sort-keys": {"sort_keys": True},
    "color-output": {"color": True},
    "monochrome-output": {"color": False},
    "tab": {"indent": "\t"},
    "unbuffered": {"unbuffered": True},
    "binary": {},  # output is never converted
    "stream": {"stream": True},
    "exit-status": {"exit_status": True},
    "from-file": {"from_file": True},
    "help": {"help": True},
    "version": {"version": True},
}
_SHORT = {
    "n": "null-input",
    "R": "raw-input",
    "s": "slurp",
    "c": "compact-output",
    "r": "raw-output",
    "j": "join-output",
    "a": "ascii-output",
    "S": "sort-keys",
    "C": "color-output",
    "M": "monochrome-output",
    "e": "exit-status",
    "b": "binary",
    "f": "from-file",
    "h": "help",
    "V": "version",
}


class _Words:
    """The words that are left."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.at = 0

    def more(self) -> bool:
        return self.at < len(self.words)

    def take(self, message: str) -> str:
        if not self.more():
            raise _fail(message)
        self.at += 1
        return self.words[self.at - 1]


def read_options(ctx: CommandContext, words: list[str]) -> Options:
    """Parse the words; errors are worded as jq words them, with status 2."""
    options = Options()
    rest = _Words(words)
    mode = "file"
    only_operands = False
    operands: list[tuple[str, str]] = []
    while rest.more():
        word = rest.take("")
        if only_operands or not _OPTION.match(word):
            operands.append((mode, word))
        elif word == "--":
            only_operands = True
        elif word in ("--args", "--jsonargs"):
            mode = word[2:]
        elif word.startswith("--"):
            _long(ctx, options, word, rest)
        else:
            _cluster(options, word)
    if operands:  # the first one is the program, or its file, wherever it stands
        options.program = _sound(operands.pop(0)[1])
    else:
        options.from_file = False
    for kind, word in operands:
        _operand(options, kind, word)
    options.named = {name: _sound(value) for name, value in options.named.items()}
    options.positional = list(map(_sound, options.positional))
    return options


def _sound(value: Value) -> Value:
    """A text of the command line with U+FFFD for what is no UTF-8."""
    if type(value) is not str or value.isascii():
        return value
    return str(encode(value), "utf-8", "replace")


def _operand(options: Options, mode: str, word: str) -> None:
    if mode == "file":
        options.files.append(word)
    elif mode == "args":
        options.positional.append(word)
    else:
        try:
            options.positional.append(parse_one(word))
        except JsonError:
            raise _fail("invalid JSON text passed to --jsonargs") from None


def _set(options: Options, name: str) -> None:
    for attribute, value in _LONG[name].items():
        setattr(options, attribute, value)


def _cluster(options: Options, word: str) -> None:
    """Read single letters."""
    for letter in word[1:]:
        if letter not in _SHORT:
            raise _fail(f"Unknown option -{letter}")
        _set(options, _SHORT[letter])


def not_open(file: str, error: OSError) -> str:
    """Return what jq says of a file that it cannot read."""
    directory = error.errno == errno.EISDIR
    reason = "It's a directory" if directory else os.strerror(error.errno or errno.EIO)
    return f"Could not open {file}: {reason}"


def _long(ctx: CommandContext, options: Options, word: str, rest: _Words) -> None:
    name = word[2:]
    if name in _LONG:
        _set(options, name)
    elif name == "indent":
        given = rest.take("--indent takes one parameter")
        count = int(given) if re.fullmatch(r"[+-]?[0-9]{1,8}", given) else 8
        if not -1 <= count <= 7:
            raise _fail("--indent takes a number between -1 and 7")
        options.indent = "\t" if count < 0 else " " * count
    elif name in ("arg", "argjson"):
        example = "--arg varname value" if name == "arg" else "--argjson varname text"
        message = f"--{name} takes two parameters (e.g. {example})"
        variable = rest.take(message)
        _name_value(options, name, variable, rest.take(message))
    elif name in ("slurpfile", "rawfile"):
        message = f"--{name} takes two parameters (e.g. --{name} varname filename)"
        variable = rest.take(message)
        _name_file(ctx, options, name, variable, rest.take(message))
    else:
        raise _fail(f"Unknown option {word}")


def _name_value(options: Options, name: str, variable: str, text: str) -> None:
    value: Value = text
    if name == "argjson":
        try:
            value = parse_one(text)
        except JsonError:
            raise _fail("invalid JSON text passed to --argjson") from None
    options.named.setdefault(variable, value)


def _name_file(ctx: CommandContext, options: Options, name: str, variable: str, file: str) -> None:
    value: Value
    try:
        value = str(ctx.fs.read_bytes(ctx.path(file)), "utf-8", "replace")
        if name == "slurpfile":
            value = slurp(value, ctx.budget.step)
    except OSError as error:
        raise CommandError(
            f"Bad JSON in --{name} {variable} {file}: {not_open(file, error)}", 2
        ) from None
    except JsonError as error:
        raise CommandError(f"Bad JSON in --{name} {variable} {file}: {error}", 2) from None
    options.named.setdefault(variable, value)
