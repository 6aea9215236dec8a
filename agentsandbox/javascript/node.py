"""The command `node`: scripts of JavaScript on the sandbox's files."""

from __future__ import annotations

from agentsandbox.contract.command import Command, command
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from agentsandbox.contract.command import Arguments, CommandContext

    class Runner(Protocol):
        """Runs programs: a `JavaScriptRuntime`."""

        def run(self, ctx: CommandContext, settings: dict[str, Any]) -> int: ...


VERSION = "v20.20.2"
"""The release of node whose behaviour is followed."""

USAGE = """
Usage: node [OPTION]... [FILE | -] [ARGUMENT]...
Run a JavaScript program on the files of the sandbox.

Without FILE, or with -, the program is read from standard input.

  -c, --check              check the syntax of FILE without running it
  -e, --eval=TEXT          run TEXT
  -p, --print=TEXT         run TEXT and print its value
  -r, --require=MODULE     load MODULE before the program
      --input-type=TYPE    what TEXT or standard input is: commonjs or module
  -v, --version            print the version and exit
  -h, --help               print this help and exit
"""

_HARMLESS = frozenset(
    (
        "--no-warnings", "--trace-warnings", "--no-deprecation", "--trace-uncaught",
        "--enable-source-maps", "--trace-deprecation", "--throw-deprecation",
    )
)  # fmt: skip
"""Options that change only messages that this node does not print."""

_TYPES = ("commonjs", "module")


class _Line:
    """What the words of the command line ask for."""

    __slots__ = ("check", "file", "module", "name", "print", "requires", "rest", "source", "wants")

    def __init__(self) -> None:
        self.check = False
        self.file: str | None = None
        self.module = False
        self.name = "[eval]"
        """What a program without a file is called in messages."""
        self.print = False
        self.requires: list[str] = []
        self.rest: list[str] = []
        self.source: str | None = None
        self.wants = ""
        """Whether only help or the version is asked for."""


def make_node(runtime: Runner) -> Command:
    """Return the command, which runs programs in `runtime`."""

    @command("node", usage=USAGE, raw=True)
    def node(ctx: CommandContext, args: Arguments) -> int:
        line = _parse(args.operands)
        if line.wants:
            ctx.stdout.write(encode(VERSION + "\n" if line.wants == "version" else USAGE.lstrip()))
            return 0
        if line.check and line.file is None:
            raise CommandError("--check needs a file", 9)
        if line.source is None and line.file is None:
            line.source, line.name = decode(ctx.stdin.read()), "[stdin]"
        return runtime.run(ctx, _settings(ctx, line))

    return node


def _parse(words: Sequence[str]) -> _Line:
    """Return what the words mean; options end at the first operand."""
    line = _Line()
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        name, equals, value = word.partition("=")
        _take_option(line, name, value if equals else None, rest)
    if line.source is None and rest:
        name = rest.pop(0)
        line.file = None if name == "-" else name
        line.rest = [name if name != "-" else "-", *rest]
    else:
        line.rest = rest
    return line


def _take_option(line: _Line, name: str, value: str | None, rest: list[str]) -> None:
    def argument() -> str:
        if value is not None:
            return value
        if not rest:
            raise CommandError(f"{name} requires an argument", 9)
        return rest.pop(0)

    if name in ("-e", "--eval"):
        line.source = argument()
    elif name in ("-p", "--print", "-pe"):
        line.source, line.print = argument(), True
    elif name in ("-r", "--require"):
        line.requires.append(argument())
    elif name in ("-c", "--check"):
        line.check = True
    elif name in ("-v", "--version"):
        line.wants = "version"
    elif name in ("-h", "--help"):
        line.wants = "help"
    elif name == "--input-type":
        kind = argument()
        if kind not in _TYPES:
            raise CommandError(f"--input-type must be one of {', '.join(_TYPES)}", 9)
        line.module = kind == "module"
    elif name not in _HARMLESS:
        raise CommandError(
            f"the option {name} is not available in the sandbox; "
            "there are -c, -e, -p, -r, --input-type, -v and -h",
            9,
        )


def _settings(ctx: CommandContext, line: _Line) -> dict[str, Any]:
    """Return what the prelude needs to know to start."""
    return {
        "argv": line.rest,
        "env": dict(ctx.env),
        "cwd": ctx.cwd,
        "file": line.file,
        "source": line.source,
        "module": line.module,
        "print": line.print,
        "check": line.check,
        "requires": line.requires,
        "name": line.name,
        "hostname": ctx.host.hostname,
        "user": ctx.host.user,
    }
