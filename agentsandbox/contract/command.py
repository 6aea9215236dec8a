"""The contract of a command: words and streams in, a status out.

    @command("nl", usage=\"\"\"
    Usage: nl [OPTION]... [FILE]...
    Number the lines of each FILE.

      -w, --number-width=NUM  columns for the number
    \"\"\")
    def nl(ctx: CommandContext, args: Arguments) -> int: ...

The usage text gives `--help`, the option parser, the wording of errors and the documentation. A
command does not catch `OSError` and `CommandError`: `Command.run` words them. It writes bytes to
`ctx.stdout`, reads bytes from `ctx.stdin`, and draws on `ctx.budget` in every loop over untrusted
length.
"""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.contract.manners import DEFAULT_MANNERS
from agentsandbox.contract.usage import Arguments, OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import (
    ByteWriter,
    Closed,
    InputError,
    LateWriter,
    Null,
    OutputError,
    bytewise,
    decode,
    encode,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from agentsandbox.contract.host import Host
    from agentsandbox.contract.manners import Manners
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.base import File, FileSystem
    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteReader

    class CommandTable(Protocol):
        """The commands of the library, as a shell gets them."""

        def find(self, name: str, /) -> Command | None: ...
        def names(self) -> Collection[str]: ...
        def hint(self, name: str) -> str | None:
            """Return what to use instead of a program that is not here; None for an unknown one."""

    class RunCommand(Protocol):
        """Runs another command of the sandbox, found as `execvp` finds it: in the PATH, or by its
        path.

        Streams, environment, directory and ignored signals default to the caller's. Returns the
        status; 127 (not found) and 126 (not executable) come with a message on stderr.
        """

        def __call__(
            self,
            words: Sequence[str],
            *,
            stdin: ByteReader | None = None,
            stdout: ByteWriter | None = None,
            stderr: ByteWriter | None = None,
            env: Mapping[str, str] | None = None,
            cwd: str | None = None,
            ignoring: Collection[int] | None = None,
        ) -> int: ...

    class StartCommand(Protocol):
        """Starts a command like `RunCommand` and returns its process at once.

        `ctx.host.scheduler.wait(process)` waits for it. It holds its streams until it ends.
        """

        def __call__(
            self,
            words: Sequence[str],
            *,
            stdin: ByteReader | None = None,
            stdout: ByteWriter | None = None,
            stderr: ByteWriter | None = None,
            env: Mapping[str, str] | None = None,
            cwd: str | None = None,
            ignoring: Collection[int] | None = None,
            umask: int | None = None,
        ) -> Process: ...

    class Launcher(Protocol):
        """Runs the commands that a command runs."""

        @property
        def run(self) -> RunCommand: ...
        @property
        def start(self) -> StartCommand: ...

    class Function(Protocol):
        """The function that `@command` decorates; an `async def` is awaited in the event loop."""

        __name__: str

        def __call__(self, ctx: CommandContext, args: Arguments, /) -> int | Awaitable[int]: ...


__all__ = [
    "Arguments",
    "Command",
    "CommandContext",
    "command",
    "describe_os_error",
    "normalize",
    "prepared_context",
]


_BYTEWISE = ("C", "POSIX")
"""Locales in which characters are bytes."""
_HINT = "Try 'NAME --help' for more information."
_OPENING, _REPORT = 4, 10
"""Steps that opening a file and a message cost, so that many operands reach the time limit."""


# TM-HOST-5
class CommandContext:
    """All that a command can see or change."""

    __slots__ = (
        "_launcher", "_run", "_start", "budget", "cwd", "env", "fs", "host", "manners", "name",
        "opened", "status", "stderr", "stdin", "stdout", "umask", "words",
    )  # fmt: skip

    _run: RunCommand | None
    _start: StartCommand | None
    _launcher: tuple[Callable[..., Launcher], tuple[Any, ...]]
    """A function and its arguments."""

    def __init__(
        self,
        name: str,
        words: Sequence[str],
        *,
        stdin: ByteReader,
        stdout: ByteWriter,
        stderr: ByteWriter,
        fs: FileSystem,
        cwd: str,
        env: Mapping[str, str],
        budget: Budget,
        run: RunCommand,
        start: StartCommand,
        host: Host,
        umask: int = 0o022,
    ) -> None:
        self.name = name
        self.words = words
        """Options and operands, without the command's name."""
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.fs = fs
        self.cwd = cwd
        self.env = env
        self.budget = budget
        self._run = run
        self._start = start
        self.host = host
        self.manners = DEFAULT_MANNERS
        """The manners of the running command."""
        self.umask = umask
        self.opened: list[File] | None = None
        """Files to close when the command ends."""
        self.status = 0
        """The highest status that `warn` recorded: the status to return at the end."""

    @property
    def run(self) -> RunCommand:
        """Runs another command of the sandbox: `ctx.run(["sort", "-n"], stdin=…)`."""
        if self._run is None:
            self._launch()
        return self._run  # type: ignore[return-value]

    @run.setter
    def run(self, run: RunCommand) -> None:
        self._run = run

    @property
    def start(self) -> StartCommand:
        """Starts another command of the sandbox and returns its process."""
        if self._start is None:
            self._launch()
        return self._start  # type: ignore[return-value]

    @start.setter
    def start(self, start: StartCommand) -> None:
        self._start = start

    def _launch(self) -> None:
        """Make `run` and `start`, which most commands never use."""
        make, arguments = self._launcher
        launcher = make(*arguments)
        self._run, self._start = launcher.run, launcher.start

    def path(self, name: str) -> str:
        """Return the absolute path of an operand. "" raises ENOENT, as every system call does."""
        if not name.isascii():
            name = decode(encode(name))  # it may come from a script read byte by byte
        if name.startswith("/"):
            return name
        if not name:
            raise FileNotFoundError(2, os.strerror(2), name)
        return f"{self.cwd}/{name}" if self.cwd != "/" else f"/{name}"

    def at_hand(self, names: Sequence[str]) -> list[bytes | None]:
        """Return the bytes of each operand that is a regular file in memory, None for all others.

        An empty list entry means nothing about the file: open it in the usual way. No entry is b"".
        """
        return self.fs.at_hand(
            self.cwd,
            names if "".join(names).isascii() else [decode(encode(name)) for name in names],
        )

    def is_bytewise(self, category: str = "LC_CTYPE") -> bool:
        """Whether the environment chooses the locale C, in which characters are bytes.

        A locale that does not exist counts as UTF-8, as in the shell.
        """
        env = self.env
        return (env.get("LC_ALL") or env.get(category) or env.get("LANG")) in _BYTEWISE

    def print(self, text: str = "", end: str = "\n") -> None:
        """Write text and `end` to stdout."""
        self.stdout.write(encode(text + end))

    def warn(self, message: str, status: int = 1) -> None:
        """Write "name: message" to stderr and remember `status`."""
        self.budget.step(_REPORT)
        self.stderr.write(encode(f"{self.name}: {message}\n"))
        self.status = status

    def warn_os(self, error: OSError, name: str | None = None, prefix: str = "") -> None:
        """Report an `OSError` as Unix tools do: "name: [prefix]operand: reason"."""
        if isinstance(error, InputError) and name == "-":
            from agentsandbox.contract.broken_streams import input_failure

            line, self.status = input_failure(self.manners, self.name, error)
            self.stderr.write(line)
            return
        self.warn(
            f"{prefix}{describe_os_error(error, name)}"
            if name != ""
            else f"{prefix}: {describe_os_error(error, '')}"
        )

    def advise_macos(self, advice: str) -> None:
        """Say after an error what to write instead of what only the tool of macOS has."""
        self.stderr.write(encode(f"{self.name}: {advice} (D-macos)\n"))

    def open_input(self, name: str) -> ByteReader:
        """Open an operand for reading, stdin for "-"; EISDIR for a directory.

        The file is closed when the command ends.
        """
        self.budget.step(_OPENING)
        if name == "-":
            if self.stdin.unreadable == errno.EISDIR:
                raise self.stdin.input_error()
            return self.stdin
        source = self.keep(self.fs.open(self.path(name), "r"))
        if source.unreadable == errno.EISDIR:
            raise source.input_error(name)
        return source

    def keep(self, file: File) -> File:
        """Return an open file, which is closed when the command ends."""
        if self.opened is None:
            self.opened = [file]
        else:
            self.opened.append(file)
        return file

    def inputs(self, names: Sequence[str]) -> Iterator[tuple[str, ByteReader]]:
        """Open each operand in turn, stdin for "-" or without operands; report those that fail."""
        for name in names or ("-",):
            try:
                source = self.open_input(name)
            except OSError as error:
                self.warn_os(error, name)
                continue
            yield name, source


def prepared_context(
    name: str,
    words: Sequence[str],
    streams: tuple[ByteReader, ByteWriter, ByteWriter],
    fs: FileSystem,
    cwd: str,
    env: Mapping[str, str],
    budget: Budget,
    launcher: tuple[Callable[..., Launcher], tuple[Any, ...]],
    host: Host,
    umask: int,
) -> CommandContext:
    """Return a context whose `run` and `start` are made when a command asks for one of them.

    launcher  a function that returns what has both, and its arguments

    It is for the shell, which makes one for each command: a quarter of the time of a call by
    keywords.
    """
    context = CommandContext.__new__(CommandContext)
    context.name = name
    context.words = words
    context.stdin, context.stdout, context.stderr = streams
    context.fs = fs
    context.cwd = cwd
    context.env = env
    context.budget = budget
    context._launcher = launcher
    context._run = context._start = None
    context.host = host
    context.umask = umask
    context.opened = None
    context.status = 0
    return context


def describe_os_error(error: OSError, name: str | None = None) -> str:
    """Return "operand: reason" in the words of strerror; `name` is how the user called the file."""
    shown = name if name is not None else error.filename
    reason = os.strerror(error.errno) if error.errno else (error.strerror or "Input/output error")
    return f"{shown}: {reason}" if shown else reason


class _PlainQuotes(ByteWriter):
    """Messages as in the locale C: with ASCII quotation marks."""

    __slots__ = ("target",)

    def __init__(self, target: ByteWriter) -> None:
        self.target = target

    def write(self, data: bytes) -> None:
        self.target.write(data.replace(b"\xe2\x80\x98", b"'").replace(b"\xe2\x80\x99", b"'"))


def _reads_its_output(ctx: CommandContext) -> bool:
    """Whether standard input or an operand is the file that standard output appends to."""
    written = getattr(ctx.stdout, "path", None)
    if written is None:
        return False
    written = normalize(written)
    read = getattr(ctx.stdin, "path", None)
    return (read is not None and normalize(read) == written) or any(
        word and normalize(ctx.path(word)) == written for word in ctx.words
    )


class Command:
    """A command of the table. A `raw` command parses its own words, all in `args.operands`."""

    __slots__ = (
        "_parser", "advice", "check", "digits", "function", "hint", "late", "manners", "name",
        "permute", "raw", "rewrite", "summary",
        "tells_release", "usage", "usage_status", "values",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        function: Function,
        usage: str,
        *,
        raw: bool = False,
        permute: bool = True,
        digits: str | None = None,
        usage_status: int = 1,
        rewrite: Callable[[Sequence[str]], Sequence[str]] | None = None,
        hint: str = _HINT,
        late: bool = False,
        advice: Callable[[CommandContext, UsageError], None] | None = None,
        values: Mapping[str, Callable[[str], object]] | None = None,
        check: Callable[[Sequence[tuple[str, str | None]]], object] | None = None,
        manners: Manners = DEFAULT_MANNERS,
    ) -> None:
        self.name = name
        self.manners = manners
        self.advice = advice
        self.values = values
        self.check = check
        self.hint = hint
        self.late = late
        self.function = function
        self.usage = usage
        if manners.release is not None and not (raw and "--help" not in usage):
            self.usage = manners.release.declare_in(usage)
        self.tells_release = self.usage is not usage
        """Whether the parser answers --version, not the function."""
        self.raw = raw
        self.permute = permute
        self.digits = digits
        self.usage_status = usage_status
        self.rewrite = rewrite
        lines = [
            line
            for line in usage.splitlines()
            if line.strip() and not line.lower().startswith(("usage:", "  or:"))
        ]
        self.summary = lines[0].strip() if lines else ""
        self._parser: OptionParser | None = None

    def parser(self) -> OptionParser:
        """Return the parser that the usage text specifies, made when first needed."""
        if self._parser is None:
            self._parser = OptionParser(
                self.usage,
                name=self.name,
                permute=self.permute,
                digits=self.digits,
                usage_status=self.usage_status,
                values=self.values,
                check=self.check,
                long_options=self.manners.long_options,
                fatal_options=self.manners.fatal_options,
            )
        return self._parser

    def version(self) -> str:
        """Return the output of `--version`; "" for a command without a release."""
        release = self.manners.release
        return "" if release is None else release.lines(self.name)

    def run(self, ctx: CommandContext) -> int:
        """Run the command and return its status. Errors get their words here and nowhere else."""
        ctx.budget.check_time()  # a loop of few and long commands draws few steps
        ctx.manners = manners = self.manners
        asked = ctx.env.get
        if (asked("LC_ALL") or asked("LC_CTYPE") or asked("LANG")) in _BYTEWISE:
            ctx.stderr = _PlainQuotes(ctx.stderr)
            if manners.bytewise:
                ctx.words = [bytewise(word) for word in ctx.words]
        if ctx.stdin.unreadable or ctx.stdout.unwritable or ctx.stderr.unwritable:
            return self._run_broken(ctx)
        if ctx.stdout.append and not manners.checks_output and _reads_its_output(ctx):
            return self._run_behind(ctx)
        return self._run(ctx)

    def _run_behind(self, ctx: CommandContext) -> int:
        """Run the command with buffered output, as it may read the file that it appends to."""
        stdout, run, start = ctx.stdout, ctx.run, ctx.start
        ctx.stdout = late = LateWriter(stdout)

        def run_after(*words: Any, **streams: Any) -> int:
            late.flush()
            return run(*words, **streams)

        def start_after(*words: Any, **streams: Any) -> Process:
            late.flush()
            return start(*words, **streams)

        ctx.run, ctx.start = run_after, start_after
        try:
            return self._run(ctx)
        finally:
            ctx.stdout = stdout
            late.flush()

    def _run_broken(self, ctx: CommandContext) -> int:
        """Run the command with an unusable standard stream, and report it as the real tool does."""
        from agentsandbox.contract.broken_streams import (
            BrokenInput,
            BrokenOutput,
            EmptyInput,
            buffered_output,
            complaint,
            empty_input,
            output_failure,
        )

        manners = self.manners
        empty = (
            empty_input(manners, ctx.name, ctx.stdin.unreadable) if ctx.stdin.unreadable else None
        )
        closed = isinstance(ctx.stdin, Closed)
        if isinstance(ctx.stderr, Closed):
            ctx.stderr = Null()
        if empty is not None:
            ctx.stdin = empty
        elif closed:
            ctx.stdin = BrokenInput()
        if ctx.stdout.unwritable:
            ctx.stdout = buffered_output(ctx.stdout, manners) or ctx.stdout
        status = self._run(ctx)
        if empty is not None and empty.tried and empty.line:
            ctx.stderr.write(empty.line)
            status = status or 1
        if (
            closed
            and isinstance(ctx.stdin, (BrokenInput, EmptyInput))
            and ctx.stdin.tried
            and manners.closing_error
        ):
            ctx.stderr.write(complaint(manners.closing_error, ctx.name, errno.EBADF))
            status = status or 1
        if isinstance(ctx.stdout, BrokenOutput) and ctx.stdout.size:
            failure = output_failure(manners, ctx.name, ctx.stdout.number)
            if failure is not None:
                line, status = failure
                ctx.stderr.write(line)
        return status

    def _run(self, ctx: CommandContext) -> int:
        budget = ctx.budget
        outer, budget.input = budget.input, None
        try:
            if self.raw:
                if ctx.words and ctx.words[0] == "--version" and self.tells_release:
                    ctx.stdout.write(encode(self.version()))
                    return 0
                args = Arguments()
                args.operands = list(ctx.words)
            else:
                found = self._arguments(ctx)
                if found is None or (found._asks and found.flag("help")):
                    ctx.stdout.write(encode(self.usage))
                    return 0
                args = found
                if args._asks and self.tells_release and args.flag("version"):
                    ctx.stdout.write(encode(self.version()))
                    return 0
            status = self._call_late(ctx, args) if self.late else self.function(ctx, args)
            if type(status) is int:
                return status
            if hasattr(status, "__await__"):
                status = ctx.host.scheduler.await_(status)
            if not isinstance(status, int):
                raise CommandError(f"the command returned {type(status).__name__}, not an int", 1)
            return status
        except UsageError as error:
            status = error.status if error.has_status else self.usage_status
            ctx.stderr.write(
                encode(f"{ctx.name}: {error.message}\n{self.hint.replace('NAME', ctx.name)}\n")
            )
            if self.manners.macos is not None:
                _, _, letter = error.message.rpartition("invalid option -- '")
                advice = self.manners.macos.get(letter[:1]) if letter[1:] == "'" else None
                if advice is not None:
                    ctx.advise_macos(advice)
            return status
        except CommandError as error:
            if error.message:
                ctx.stderr.write(encode(f"{ctx.name}: {error.message}\n"))
            return error.status
        except InputError as error:
            from agentsandbox.contract.broken_streams import input_failure

            line, status = input_failure(self.manners, ctx.name, error)
            ctx.stderr.write(line)
            return status
        except OSError as error:
            return self._output_failed(ctx, error)
        finally:
            budget.input = outer
            if ctx.opened is not None:
                for source in ctx.opened:
                    if source.references > 0:
                        source.release()

    def _call_late(self, ctx: CommandContext, args: Arguments) -> int | Awaitable[int]:
        """Call the function with buffered output."""
        stdout = ctx.stdout
        ctx.stdout = late = LateWriter(stdout)
        try:
            return self.function(ctx, args)
        finally:
            ctx.stdout = stdout
            late.flush()

    def _output_failed(self, ctx: CommandContext, error: OSError) -> int:
        """Report an error of standard output or of any file that the function did not report."""
        stdout = ctx.stdout
        if isinstance(error, OutputError) or (
            error.errno == errno.ENOSPC and error.filename == getattr(stdout, "path", None)
        ):
            from agentsandbox.contract.broken_streams import BrokenOutput, output_failure

            if isinstance(stdout, BrokenOutput):
                return 1  # it is reported at the end
            failure = output_failure(self.manners, ctx.name, error.errno or 0)
            if failure is None:
                return 0
            line, status = failure
            ctx.stderr.write(line)
            return status
        ctx.stderr.write(encode(f"{ctx.name}: {describe_os_error(error)}\n"))
        return self.usage_status

    def _arguments(self, ctx: CommandContext) -> Arguments | None:
        """Return the parsed words; None after a request for help or the version was answered."""
        words = ctx.words
        try:
            parser = self._parser or self.parser()
            rewritten = words if self.rewrite is None else self.rewrite(words)
            if "POSIXLY_CORRECT" in ctx.env and self.manners.long_options:
                return parser.parse(rewritten, posix=True)
            return parser.parse(rewritten)
        except CommandError as error:
            if words and words[0] == "--help":
                return None
            if self.advice is not None and isinstance(error, UsageError):
                self.advice(ctx, error)
            raise


def _dedented(text: str) -> str:
    """Return a text without the margin that all its lines have."""
    lines = [line.rstrip(" ") if line.isspace() else line for line in text.split("\n")]
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines if line), default=0)
    return "\n".join([line[margin:] for line in lines])


def command(
    name: str,
    usage: str,
    *,
    raw: bool = False,
    permute: bool = True,
    digits: str | None = None,
    usage_status: int = 1,
    rewrite: Callable[[Sequence[str]], Sequence[str]] | None = None,
    hint: str = _HINT,
    late: bool = False,
    advice: Callable[[CommandContext, UsageError], None] | None = None,
    values: Mapping[str, Callable[[str], object]] | None = None,
    check: Callable[[Sequence[tuple[str, str | None]]], object] | None = None,
    manners: Manners = DEFAULT_MANNERS,
) -> Callable[[Function], Command]:
    """Make a function the command `name`.

    usage         help text and option specification (see `usage`); dedented here.
    raw           the words have a grammar of their own: no option parsing, no automatic --help.
    permute       options may stand after operands, as GNU allows; false for `env`, `xargs`,
                  `timeout` …
    digits        the option that "-5" means (`head -5`).
    usage_status  the status of a usage error: 1, or 2 for `ls`, `grep`, `sort`, `diff` …
    rewrite       puts obsolete forms (`tail +2`, `head -1c`) into today's words before they are
                  parsed.
    hint          the line after a usage error; NAME stands for the name.
    late          what it prints is held back as by C's stdio: its messages come first.
    advice        called with an error in the options, whose message it may add to.
    values        by the key of an option a function that reads its value, for the error it raises
                  (see `usage`).
    check         called with the options so far after each word, for the error it raises where they
                  contradict each other.
    manners       how it behaves where tools differ: its release, its words about broken streams,
                  purity (see `manners`).
    """

    def decorate(function: Function) -> Command:
        text = _dedented(usage).strip("\n") + "\n"
        return Command(
            name, function, text, raw=raw, permute=permute, digits=digits,
            usage_status=usage_status, rewrite=rewrite, hint=hint, late=late,
            advice=advice, values=values, check=check, manners=manners,
        )  # fmt: skip

    return decorate


def normalize(path: str) -> str:
    """Return an absolute path without empty, "." and ".." components, for display only."""
    return (
        posixpath.normpath(path)
        if not path.startswith("//")
        else posixpath.normpath(path)[1:] or "/"
    )
