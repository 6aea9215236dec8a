"""`sqlite3` 3.40: SQL on a database file of the sandbox."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError, LimitReached
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.sqlite3.shell import Shell

_VERSION = (
    "3.40.1 2022-12-28 14:03:47 df5c253c0b3dd24916e4ec7cf77d3db5294cc9fd45ae7b9c5e82ad8197f3alt1"
)
_MODES = ("box", "column", "csv", "json", "line", "list", "markdown", "table", "tabs")
_VALUED = ("separator", "newline", "nullvalue", "cmd")
_FLAGS = ("header", "noheader", "bail", "batch", "echo", "readonly", "version", "help")


class _Options:
    """The command line: options in their order, and the operands."""

    def __init__(self, words: list[str]) -> None:
        self.given: list[tuple[str, str]] = []
        self.operands: list[str] = []
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if not word.startswith("-"):
                self.operands.append(word)
                continue
            name = word[2:] if word.startswith("--") else word[1:]
            if name in _VALUED:
                if at >= len(words):
                    raise CommandError(f"Error: missing argument to {word}", 1)
                self.given.append((name, words[at]))
                at += 1
            elif name in _MODES or name in _FLAGS:
                self.given.append((name, ""))
            else:
                option = word[word.startswith("--") :]
                raise CommandError(
                    f"Error: unknown option: {option}\nUse -help for a list of options.", 1
                )

    def has(self, name: str) -> bool:
        """Whether the option was given."""
        return any(given == name for given, _value in self.given)


def _configure(shell: Shell, options: _Options) -> None:
    printer = shell.printer
    for name, value in options.given:
        if name in _MODES:
            headers = printer.headers
            printer.set_mode(name)
            printer.headers = headers
            if name == "csv":
                printer.row_separator = "\n"
        elif name == "header":
            printer.headers = printer.headers_set = True
        elif name == "noheader":
            printer.headers, printer.headers_set = False, True
        elif name == "separator":
            printer.column_separator = value
        elif name == "newline":
            printer.row_separator = value
        elif name == "nullvalue":
            printer.null = value
        elif name == "bail":
            shell.bail = True
        elif name == "echo":
            shell.echo = True


def _run(shell: Shell, ctx: CommandContext, options: _Options) -> int:
    from agentsandbox.commands.sqlite3.shell import Quit

    try:
        for name, value in options.given:
            if name == "cmd":
                status = shell.run_word(value)
                if status and shell.bail:
                    return status
        for word in options.operands[1:]:
            status = shell.run_word(word)
            if status:
                return status
        if len(options.operands) < 2:
            shell.run_text(decode(ctx.stdin.read()))
            return 1 if shell.errors else 0
        return 0
    except Quit as leaving:
        return leaving.status


@command(
    "sqlite3",
    manners=Manners(unreadable_is_empty=("", ""), write_error=SILENT),
    raw=True,
    usage="""
    Usage: sqlite3 [OPTIONS] [FILENAME [SQL]...]
    Run SQL and dot commands on a database, from the operands or from standard input.

    FILENAME is a file of the sandbox, created when something is stored; without one the
    database is kept in memory. Loadable extensions are not available. Options begin with
    one or two dashes.

      -box, -column, -csv, -json, -line, -list, -markdown, -table, -tabs
                             the form of the output (default -list)
      -header                show column names
      -noheader              show no column names
      -separator SEP         the separator of columns
      -newline SEP           the separator of rows
      -nullvalue TEXT        the text for NULL
      -cmd COMMAND           run COMMAND first
      -bail                  stop after the first error
      -batch                 accepted: nothing here is interactive
      -echo                  show commands before they run
      -readonly              store nothing
      -version               display the version and exit
      -help                  display this help and exit
    """,
)
def sqlite3(ctx: CommandContext, args: Arguments) -> int:
    options = _Options(args.operands)
    if options.has("help"):
        ctx.print(sqlite3.usage, end="")
        return 0
    if options.has("version"):
        ctx.print(_VERSION)
        return 0
    from agentsandbox.commands.sqlite3.files import OpenError
    from agentsandbox.commands.sqlite3.shell import Shell

    shell = Shell(
        ctx,
        options.operands[0] if options.operands else ":memory:",
        read_only=options.has("readonly"),
    )
    _configure(shell, options)
    try:
        status = _run(shell, ctx, options)
    except OpenError as error:
        shell.flush()
        ctx.stderr.write(encode(f"Error: {error}\n"))
        return 1
    except LimitReached:
        shell.flush()
        raise
    finally:
        shell.close()
    return status
