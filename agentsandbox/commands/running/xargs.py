"""`xargs` (POSIX 1003.1-2017, GNU findutils): run a program with arguments from standard input."""

from __future__ import annotations

import re

from agentsandbox.commands._processes.programs import find_problem, problem_status
from agentsandbox.commands._text.quoting import quote, quote_as
from agentsandbox.commands.running.argument_reading import (
    UnmatchedQuoteError,
    delimited,
    parse_delimiter,
    whole_lines,
    word_lists,
    words,
)
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import Null, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from agentsandbox.commands.running.argument_reading import Argument
    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteReader

_DEFAULT_CHARS = 131072
_MOST_CHARS = 2097152 - 2048
"""Of the arguments and the environment together."""
_SIGNALLED = frozenset(128 + signal for signal in (1, 2, 3, 6, 9, 11, 13, 15))
_NUL_WARNING = (
    "WARNING: a NUL character occurred in the input.  It cannot be passed through in the argument "
    "list.  Did you mean to use the --null option?"
)
_MOST_PARALLEL = 128
"""How many run at once for -P 0: a sandbox has a ceiling for its processes."""


class _Options:
    """What the options say, in the order given: of -n, -L and -I the last counts."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.max_args = self.max_lines = 0
        self.replace: str | None = None
        self.max_chars = _DEFAULT_CHARS
        self.parallel = 1
        self.delimiter: int | None = None
        self.end = args.value(args.last("E", "eof") or "E") or None
        for key, value in args.given:
            self._read(ctx, key, value)
        self.run_empty = not args.flag("no-run-if-empty") and self.replace is None
        self.exit_if_long = args.flag("exit") or bool(self.max_lines)
        self.verbose = args.flag("verbose") or args.flag("interactive")
        self.open_tty = args.flag("open-tty")
        if self.end is not None and args.last("delimiter", "null") is not None:
            ctx.warn("warning: the -E option has no effect if -0 or -d is used.\n", 0)
            self.end = None

    def _read(self, ctx: CommandContext, key: str, value: str | None) -> None:
        if key == "max-args":
            number = _number(value or "", "n")
            if self.replace is not None and number == 1:
                return
            self._exclude(ctx, "--max-args/-n")
            self.max_args = number
        elif key in ("L", "max-lines"):
            number = 1 if value is None else _number(value, "L")
            self._exclude(ctx, "-L" if key == "L" else "--max-lines/-l")
            self.max_lines = number
        elif key in ("I", "replace"):
            self._exclude(ctx, "--replace/-I/-i")
            self.replace = "{}" if value is None else value
        elif key == "max-chars":
            self.max_chars = _size(ctx, value or "")
        elif key == "max-procs":
            self.parallel = _number(value or "", "P") or _MOST_PARALLEL
        elif key == "delimiter":
            self.delimiter = parse_delimiter(value or "")
        elif key == "null":
            self.delimiter = 0

    def _exclude(self, ctx: CommandContext, name: str) -> None:
        """Tell that an earlier option of the three is given up."""
        earlier = {
            "--max-args": bool(self.max_args),
            "--max-lines": bool(self.max_lines),
            "--replace": self.replace is not None,
        }
        for other, given in earlier.items():
            if given and other not in name and not (other == "--max-lines" and name == "-L"):
                both = f"warning: options {other} and {name} are mutually exclusive"
                ctx.warn(f"{both}, ignoring previous {other} value", 0)
        self.max_args = self.max_lines = 0
        self.replace = None


def _environment_size(ctx: CommandContext) -> int:
    return sum(len(encode(f"{name}={value}")) + 1 for name, value in ctx.env.items())


def _most_chars(ctx: CommandContext) -> int:
    return _MOST_CHARS - _environment_size(ctx)


def _number(text: str, letter: str, low: int | None = None) -> int:
    found = re.fullmatch(r"[ \t]*([+-]?[0-9]+)", text, re.ASCII)
    if found is None:
        raise UsageError(f'invalid number "{text}" for -{letter} option')
    digits = found[1]
    number = int(digits) if len(digits) < 20 else (2**63 if digits[0] != "-" else -(2**63))
    if low is not None and number < low:
        raise UsageError(f"value {text} for -{letter} option should be >= {low}")
    return min(number, 2**31 - 1)


def _size(ctx: CommandContext, text: str) -> int:
    """Return the value of -s; a value out of bounds is cut with a warning."""
    number, most = _number(text, "s"), _most_chars(ctx)
    if number < 1:
        ctx.warn(f"value {text} for -s option should be >= 1", 0)
    elif number > most:
        ctx.warn(f"value {text} for -s option should be <= {most}", 0)
    return max(1, min(number, most))


class _Runner:
    """Gathers arguments into command lines and runs them, up to `parallel` at once."""

    def __init__(
        self, ctx: CommandContext, options: _Options, command: list[str], stdin: ByteReader
    ) -> None:
        self.ctx = ctx
        self.options = options
        self.command = command
        self.stdin = stdin
        self.initial = sum(len(encode(word)) + 1 for word in command)
        if self.initial > options.max_chars and options.replace is None:
            raise CommandError("cannot fit single argument within argument list size limit")
        self.gathered: list[bytes] = []
        self.size = self.initial
        self.lines = 0
        self.slots: list[Process | None] = [None] * (
            options.parallel if options.parallel > 1 else 0
        )
        self.executed = self.warned = False
        self.pending = 0
        """The status of the command line run last, until it is looked at."""
        self.complaint = ""
        """An error in the input, which the last command line does not wait for."""
        self.problem = find_problem(ctx, command[0])

    def push(self, argument: bytes, ends_line: bool) -> None:
        """One more argument."""
        options = self.options
        argument = self.cut(argument)
        length = len(argument) + 1
        if self.initial + length > options.max_chars:
            self.give_up("argument line too long")
        if self.size + length > options.max_chars:
            if options.exit_if_long and (options.max_lines or options.max_args):
                raise CommandError("argument list too long")
            self.flush()
        self.gathered.append(argument)
        self.size += length
        if options.max_lines:
            self.lines += ends_line
            if self.lines >= options.max_lines:
                self.flush()
        elif len(self.gathered) == options.max_args:
            self.flush()

    def give_up(self, message: str) -> NoReturn:
        """Report an error in the input, and run the command with what was gathered before."""
        self.complaint = message
        if self.gathered and not self.options.exit_if_long:
            self.flush()
        self.complain()
        raise CommandError("")

    def complain(self) -> None:
        """Report the error in the input, unless it has been reported."""
        if self.complaint:
            self.ctx.warn(self.complaint, self.ctx.status)
            self.complaint = ""

    def cut(self, argument: bytes) -> bytes:
        """Return the argument up to a NUL, of which the first one is reported."""
        if b"\0" not in argument:
            return argument
        if not self.warned:
            self.ctx.warn(_NUL_WARNING, self.ctx.status)
        self.warned = True
        return argument.partition(b"\0")[0]

    def extend(self, arguments: list[bytes]) -> None:
        """Take more arguments, where no line counts."""
        size = sum(map(len, arguments)) + len(arguments)
        if (
            len(arguments) == 1
            or self.options.max_args
            or self.size + size > self.options.max_chars
        ):
            for argument in arguments:
                self.push(argument, ends_line=False)
        else:
            self.gathered += arguments
            self.size += size

    def flush(self) -> None:
        """Run the command with what was gathered."""
        gathered, self.gathered = self.gathered, []
        self.size, self.lines = self.initial, 0
        self.run(self.command + (decode(b"\0".join(gathered)).split("\0") if gathered else []))

    def run_replaced(self, argument: bytes) -> None:
        """Run the command with the argument in the place of the replacement string."""
        argument = self.cut(argument)
        text = decode(argument)
        pattern = self.options.replace or ""
        line = [self.command[0]]
        size, most = len(encode(line[0])) + 1, self.options.max_chars
        if len(argument) >= most:
            raise CommandError("argument line too long")
        if size > most:
            raise CommandError("cannot fit single argument within argument list size limit")
        for word in self.command[1:]:
            if word and not pattern:
                raise CommandError("command too long")  # it is found again and again
            count = word.count(pattern)
            length = len(encode(word)) + count * (len(argument) - len(encode(pattern)))
            size += length + 1
            if size > most:
                raise CommandError(
                    "command too long" if length >= most - 1 else "argument list too long"
                )
            line.append(word.replace(pattern, text) if count else word)
        self.run(line)

    def run(self, line: list[str]) -> None:
        """Run one command line, waiting for a free slot if there are several."""
        ctx = self.ctx
        ctx.budget.step()
        self.executed = True
        self.note_pending(last=False)
        if self.options.open_tty:
            ctx.warn("‘/dev/tty’: No such device or address")
            raise CommandError(f"{self.command[0]}: terminated by signal 6", 125)
        if self.options.verbose:
            ctx.stderr.write(
                encode(" ".join([quote_as(word, "shell-escape") for word in line]) + "\n")
            )
        if self.problem:
            reason, status = problem_status(self.problem)
            raise CommandError(f"{self.command[0]}: {reason}", status)
        self.complain()
        if not self.slots:
            self.pending = ctx.run(line, stdin=self.stdin)
            return
        slot = self.free_slot()
        self.slots[slot] = ctx.start(line, stdin=self.stdin)

    def free_slot(self) -> int:
        """Wait for a free slot and return its number."""
        slots = self.slots
        self.ctx.host.scheduler.block(
            lambda: any(process is None or process.finished() for process in slots)
        )
        for at, process in enumerate(slots):
            if process is None:
                return at
            if process.finished():
                slots[at] = None
                self.note(process.status or 0)
                return at
        raise AssertionError("a slot was free")

    def wait(self) -> None:
        """Wait for all that still run."""
        self.note_pending(last=True)
        for at, process in enumerate(self.slots):
            if process is not None:
                self.slots[at] = None
                self.note(self.ctx.host.scheduler.wait(process) or 0)

    def note_pending(self, *, last: bool) -> None:
        """Look at how the command line before this one ended."""
        status, self.pending = self.pending, 0
        if status:
            self.note(status, last=last)

    def note(self, status: int, *, last: bool = True) -> None:
        """Remember a failure; 255 or a signal (SIGPIPE when nobody reads any more) ends everything.

        As in the real one an earlier failure decides about the status then, unless it was the last
        command line.
        """
        earlier = 0 if last else self.ctx.status
        if status == 255:
            raise CommandError(
                f"{self.command[0]}: exited with status 255; aborting", earlier or 124
            )
        if status in _SIGNALLED:
            raise CommandError(
                f"{self.command[0]}: terminated by signal {status - 128}", earlier or 125
            )
        if status:
            self.ctx.status = 123


def _arguments(ctx: CommandContext, options: _Options, source: ByteReader) -> Iterator[Argument]:
    """Yield the arguments up to the end string of -E."""
    if options.delimiter is not None:
        found = delimited(source, options.delimiter, ctx.budget)
    elif options.replace is not None:
        found = whole_lines(source, ctx.budget)
    else:
        found = words(source.lines(), ctx.budget)
    end = None if options.end is None else encode(options.end)
    for argument, ends_line in found:
        if argument == end:
            return
        yield argument, ends_line


def _gather(runner: _Runner, source: ByteReader) -> None:
    ctx, options = runner.ctx, runner.options
    plain = options.delimiter is None and options.end is None and not options.max_lines
    try:
        if options.replace is not None:
            for argument, _ in _arguments(ctx, options, source):
                runner.run_replaced(argument)
        elif plain and not options.max_args:
            for arguments in word_lists(source, ctx.budget):
                runner.extend(arguments)
        else:
            for argument, ends_line in _arguments(ctx, options, source):
                runner.push(argument, ends_line)
    except UnmatchedQuoteError as error:
        runner.give_up(error.message)
    if runner.gathered or (options.run_empty and not runner.executed):
        runner.flush()


@command(
    "xargs",
    manners=Manners(
        Release("NAME (GNU findutils) 4.9.0"),
        pure=True,
        long_options="""
            null arg-file delimiter eof replace max-lines max-args open-tty interactive
            no-run-if-empty max-chars verbose show-limits exit max-procs
            process-slot-var version help
        """,
        macos={
            "J": "-J is macOS's; GNU xargs puts arguments elsewhere with a shell: "
            "xargs sh -c 'mv \"$@\" DIRECTORY' sh, or one by one with -I {}"
        },
        unbuffered=True,
        read_error=("NAME: error closing file", 1),
        closed_read_error=("NAME: error closing file: REASON", 1),
        unreadable_is_empty=("NAME: error closing file: REASON", "NAME: error closing file"),
    ),
    usage="""
    Usage: xargs [OPTION]... COMMAND [INITIAL-ARGS]...
    Run COMMAND (echo if none is given) with arguments INITIAL-ARGS and more arguments read from
    input.

      -0, --null                items end with NUL; quotes, backslashes and -E are not special
      -a, --arg-file=FILE       read arguments from FILE, not standard input
      -d, --delimiter=CHARACTER  items end with CHARACTER; quotes and backslashes are not special
      -E END                    an item END ends the input
      -e[END], --eof[=END]      the same; none if END is omitted
      -I R                      a line each: replace R in INITIAL-ARGS with it
      -i[R], --replace[=R]      the same; R is {} if omitted
      -L MAX                    at most MAX nonblank input lines for each command line
      -l[MAX], --max-lines[=MAX]  the same; 1 if MAX is omitted
      -n, --max-args=MAX        at most MAX arguments for each command line
      -P, --max-procs=MAX       run at most MAX processes at a time; 0 for as many as possible
      -p, --interactive         ask before each command line; there is no terminal to ask, so it is
                                an error
      -r, --no-run-if-empty     do not run COMMAND when there is no argument
      -o, --open-tty            open the terminal for COMMAND's input; there is none, so it is an
                                error
      -s, --max-chars=MAX       limit the length of a command line to MAX
      -t, --verbose             print each command line before it is run
      -x, --exit                exit if the size is exceeded
          --help                display this help and exit

    The status is 123 if a command line failed, 124 if one exited with 255, 126 if COMMAND cannot be
    run, 127 if it is not found, 1 for other errors.
    """,
    permute=False,
    values={
        "delimiter": parse_delimiter,
        "max-args": lambda text: _number(text, "n", 1),
        "L": lambda text: _number(text, "L", 1),
        "max-lines": lambda text: _number(text, "l", 1),
        "max-chars": lambda text: _number(text, "s"),
        "max-procs": lambda text: _number(text, "P", 0),
    },
)
def xargs(ctx: CommandContext, args: Arguments) -> int:
    options = _Options(ctx, args)
    name = args.value("arg-file")
    source: ByteReader = ctx.stdin
    child_stdin: ByteReader = Null()
    if name is not None and name != "-":
        try:
            source = (
                Null() if name != "-" and ctx.fs.is_dir(ctx.path(name)) else ctx.open_input(name)
            )
        except OSError as error:
            raise CommandError(f"Cannot open input file {quote(name)}: {error.strerror}") from None
        child_stdin = ctx.stdin
    if args.flag("interactive"):
        raise CommandError("failed to open /dev/tty for reading: No such device or address")
    runner = _Runner(ctx, options, args.operands or ["echo"], child_stdin)
    try:
        _gather(runner, source)
    except CommandError as error:
        if error.message:
            ctx.warn(error.message, ctx.status)
        runner.wait()
        status = (ctx.status or 1) if error.status == 1 else error.status
        raise CommandError("", status) from None
    runner.wait()
    return ctx.status
