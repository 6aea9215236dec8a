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
    from collections.abc import Callable

    from agentsandbox.commands._json.values import Value

_OPTION = re.compile(r"-(?:-|[A-Za-z])")
_HINT = "\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.org"


class Options:
    """What the command line says."""

    def __init__(self) -> None:
        self.program: str | None = None
        self.program_file: str | None = None
        self.files: list[str] = []
        self.named: dict[str, Value] = {}
        self.positional: list[Value] = []
        self.null_input = self.raw_input = self.slurp = self.stream = False
        self.raw_output = self.ascii_output = self.sort_keys = self.color = self.exit_status = False
        self.unbuffered = False
        self.binary = False  # it is always so
        self.indent: str | None = "  "
        """Of one level; None for all on one line."""
        self.end = "\n"
        self.help = self.version = False


def _fail(message: str) -> CommandError:
    return CommandError(message + _HINT, 2)


def _raw(options: Options) -> None:
    options.raw_output = True


def _joined(options: Options) -> None:
    options.raw_output, options.end = True, ""


def _nul(options: Options) -> None:
    options.raw_output, options.end = True, "\0"


def _flag(name: str, value: object = True) -> Callable[[Options], None]:
    return lambda options: setattr(options, name, value)


_LONG: dict[str, Callable[[Options], None]] = {
    "null-input": _flag("null_input"),
    "raw-input": _flag("raw_input"),
    "slurp": _flag("slurp"),
    "compact-output": _flag("indent", None),
    "raw-output": _raw,
    "raw-output0": _nul,
    "join-output": _joined,
    "ascii-output": _flag("ascii_output"),
    "sort-keys": _flag("sort_keys"),
    "color-output": _flag("color"),
    "monochrome-output": _flag("color", value=False),
    "tab": _flag("indent", "\t"),
    "unbuffered": _flag("unbuffered"),
    "binary": _flag("binary"),
    "stream": _flag("stream"),
    "exit-status": _flag("exit_status"),
    "help": _flag("help"),
    "version": _flag("version"),
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
    from_file = False
    while rest.more():
        word = rest.take("")
        if only_operands or not _OPTION.match(word):
            _operand(options, word, mode, from_file)
        elif word == "--":
            only_operands = True
        elif word in ("--args", "--jsonargs"):
            mode = word[2:]
        elif word in ("-f", "--from-file"):
            from_file = _take_program_file(options)
        elif word.startswith("--"):
            _long(ctx, options, word, rest)
        else:
            from_file = _cluster(options, word) or from_file
    if from_file:
        _settle_program_file(options)
    if (
        options.program is None
        and options.program_file is None
        and not (options.help or options.version)
    ):
        options.program = "."
    if options.program is not None:
        options.program = _sound(options.program)
    options.named = {name: _sound(value) for name, value in options.named.items()}
    options.positional = list(map(_sound, options.positional))
    return options


def _sound(value: Value) -> Value:
    """A text of the command line with U+FFFD for what is no UTF-8."""
    if type(value) is not str or value.isascii():
        return value
    return str(encode(value), "utf-8", "replace")


def _take_program_file(options: Options) -> bool:
    # the file is the first operand, wherever it stands
    if options.program is not None:
        options.program_file, options.program = options.program, None
    return True


def _settle_program_file(options: Options) -> None:
    if options.program_file is None and options.program is not None:
        options.program_file, options.program = options.program, None


def _operand(options: Options, word: str, mode: str, from_file: bool) -> None:
    if options.program is None and options.program_file is None:
        if from_file:
            options.program_file = word
        else:
            options.program = word
    elif mode == "file":
        options.files.append(word)
    elif mode == "args":
        options.positional.append(word)
    else:
        try:
            options.positional.append(parse_one(word))
        except JsonError:
            raise _fail("invalid JSON text passed to --jsonargs") from None


def _cluster(options: Options, word: str) -> bool:
    """Single letters; whether -f was among them."""
    from_file = False
    for letter in word[1:]:
        if letter == "f":
            from_file = _take_program_file(options)
        elif letter in _SHORT:
            _LONG[_SHORT[letter]](options)
        else:
            raise _fail(f"Unknown option -{letter}")
    return from_file


def _long(ctx: CommandContext, options: Options, word: str, rest: _Words) -> None:
    name = word[2:]
    if name in _LONG:
        _LONG[name](options)
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
        reason = (
            "It's a directory"
            if error.errno == errno.EISDIR
            else os.strerror(error.errno or errno.EIO)
        )
        raise CommandError(
            f"Bad JSON in --{name} {variable} {file}: Could not open {file}: {reason}", 2
        ) from None
    except JsonError as error:
        raise CommandError(f"Bad JSON in --{name} {variable} {file}: {error}", 2) from None
    options.named.setdefault(variable, value)
