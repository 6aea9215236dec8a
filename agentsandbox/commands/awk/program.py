"""Running awk: sources are gathered and compiled, the program runs, and errors get their place."""

from __future__ import annotations

from agentsandbox.commands.awk.codegen import Compiled, compile_program
from agentsandbox.commands.awk.lexer import unescape
from agentsandbox.commands.awk.modes import Mode
from agentsandbox.commands.awk.parser import parse
from agentsandbox.commands.awk.runtime import Runtime
from agentsandbox.commands.awk.tokens import AwkSyntaxError, Source, internal, place_of
from agentsandbox.commands.awk.values import AwkFatal, AwkNext, AwkNextFile
from agentsandbox.errors import CommandError, LimitReached, PipeClosed, Unwind
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.expressions import ASCII, lazily
from agentsandbox.kernel.streams import bytewise, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget

_LONGEST_KEPT = 16_384
"""Characters of a program that is kept: many long ones would fill the host's memory."""
_BETWEEN_FILES = ("command line argument", "escape sequence", "no hex digits")
"""How warnings about operands begin: they name the line that ran last before the file."""
_VARIABLE = r"(?:[A-Za-z_][A-Za-z0-9_]*::)?[A-Za-z_][A-Za-z0-9_]*"
_NAME = lazily(_VARIABLE, ASCII)
_SHOWN = lazily(r".*:\d+: |error: function")
_ONE_COLON = lazily(r"[A-Za-z_]\w*:(?!:[A-Za-z_])", ASCII)
_ASSIGNMENT = lazily(rf"({_VARIABLE})=")
_PROCINFO = {
    "version": "5.2.1",
    "platform": "posix",
    "FS": "FS",
    "strftime": "%a %b %e %H:%M:%S %Z %Y",
    **dict.fromkeys(("pid", "uid", "euid", "gid", "egid", "pgrpid"), 1000.0),
    "ppid": 1.0,
}


class _FailedError(Exception):
    """The program does not compile; `lines` are the messages."""

    def __init__(self, lines: Sequence[str], status: int) -> None:
        self.lines = lines
        self.status = status
        super().__init__(lines[0] if lines else "")


class _Task(  # noqa: SLOT001 - it has an attribute
    tuple["tuple[tuple[str, str], ...]", "frozenset[str]", "frozenset[str]", Mode]
):
    """A program to compile: sources, names assigned, names assigned by operands, and the mode.

    Equal tasks give equal programs, whatever `budget` compiling them draws on.
    """

    budget: Budget | None = None


def _compile(task: _Task) -> tuple[Compiled, tuple[str, ...]]:
    """Return the compiled program and the warnings on the way; raises `_FailedError`."""
    budget, task.budget = task.budget, None  # the cache keeps the task
    assert budget is not None
    sources = [Source(name, text) for name, text in task[0]]
    warnings: list[str] = []
    try:
        program = parse(sources, warnings.append, budget, task[3])
        compiled = compile_program(program, task[1], task[2], budget)
        return compiled, (*warnings, *compiled.warnings)
    except AwkSyntaxError as error:
        lines = list(error.lines)
        if not _SHOWN.match(lines[0]):
            lines[0] = f"{sources[0].name}:1: {lines[0]}"
        status = 2 if ": fatal: " in lines[0] else 1
        raise _FailedError([*warnings, *lines], status) from None


_compile_cached = lru_cache(maxsize=128)(_compile)


def _of_file(ctx: CommandContext, name: str) -> Source:
    """Return the text of a program file."""
    from agentsandbox.commands.awk.sources import read_source

    return read_source(ctx, name)


def run_program(
    ctx: CommandContext,
    sources: list[tuple[bool, str]],
    variables: list[str],
    operands: list[str],
    *,
    by_bytes: bool,
    mode: Mode,
    csv: bool = False,
) -> int:
    """Run a program and return its exit status.

    sources    pairs of (whether it is a file's name, text or name)
    variables  the words NAME=VALUE of `-v`
    csv        whether the input is comma-separated values
    by_bytes   whether a byte is a character, as it is in the locale C
    mode       what is taken out of the language
    """
    read = [
        _of_file(ctx, text) if is_file else Source("cmd. line", text) for is_file, text in sources
    ]
    if not mode.traditional and any("@include" in source.text for source in read):
        from agentsandbox.commands.awk.sources import with_includes

        read = with_includes(ctx, sources, read)
    pairs = [_split_assignment(word) for word in variables]
    if by_bytes:
        read = [Source(source.name, bytewise(source.text)) for source in read]
        pairs = [(name, bytewise(value)) for name, value in pairs]
    by_operand = frozenset(
        internal(found[1], mode) for word in operands if (found := _ASSIGNMENT.match(word))
    )
    assigned = frozenset(internal(name, mode) for name, _ in pairs) | by_operand
    told: set[str] = set()
    for _, value in pairs:
        if mode.posix and "\n" in value:
            message = "fatal: POSIX does not allow physical newlines in string values"
            raise CommandError(message, 2)
        unescape(value, lambda message: _report(ctx, f"warning: {message}", told), mode)
    pieces = tuple((source.name, source.text) for source in read)
    task = _Task((pieces, assigned, by_operand, mode))
    task.budget = ctx.budget
    is_short = sum(len(source.text) for source in read) <= _LONGEST_KEPT
    try:
        compiled, warnings = (_compile_cached if is_short else _compile)(task)
    except _FailedError as failure:
        for line in failure.lines:
            _report(ctx, line, told)
        return failure.status
    for line in warnings:
        _report(ctx, line, told)
    running = _Run(ctx, compiled, mode, by_bytes=by_bytes)
    running.rt.told |= told
    if csv:
        running.rt.read_csv()
    return running.run(pairs, operands)


def _split_assignment(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    if _ONE_COLON.match(name):
        message = f"error: identifier {name}: namespace separator is two colons, not one"
        raise CommandError(message, 1)
    name = name.removeprefix("awk::")
    if not _NAME.fullmatch(name):
        raise CommandError(f"fatal: `{name}' is not a legal variable name", 2)
    return name, value


def _report(ctx: CommandContext, line: str, told: set[str]) -> None:
    """Write a message; the same warning about an escape is written only once."""
    warning = line.partition("warning: ")[2]
    if "escape sequence" not in warning or warning not in told:
        ctx.stderr.write(encode(f"{ctx.name}: {line}\n"))
    told.add(warning)


class _Run:
    """One run of a compiled program."""

    def __init__(
        self, ctx: CommandContext, compiled: Compiled, mode: Mode, *, by_bytes: bool
    ) -> None:
        self.ctx = ctx
        self.compiled = compiled
        self.rt = Runtime(ctx, self.warn, mode, bytewise=by_bytes)

    def run(self, variables: list[tuple[str, str]], operands: list[str]) -> int:
        """Run the program; return its exit status."""
        rt = self.rt
        kept = self.ctx.budget.keep(rt)
        try:
            self._prepare(variables, operands)
            nests = self.compiled.nests
            failure = self.ctx.budget.on_fresh_stack(self._guarded) if nests else self._guarded()
            if failure:
                rt.flush_output()
                rt.status = 2
                self._write(failure)
            if rt.channels is not None:
                rt.channels.close_all()
            rt.flush_output()
        except AwkFatal as error:  # assignments and what is written at the end can fail, too
            self._write(f"fatal: {error.message}")
            rt.status = 2
        except (Unwind, OSError) as end:
            if rt.channels is not None:
                rt.channels.abandon()
            if not isinstance(end, PipeClosed):
                rt.flush_output()
            raise
        finally:
            del kept
            if rt.channels is not None:
                rt.channels.abandon()  # what is open, if a task was cancelled
        return rt.status

    def _prepare(self, variables: list[tuple[str, str]], operands: list[str]) -> None:
        rt, ctx = self.rt, self.ctx

        def given(text: str) -> object:
            return rt.from_input(bytewise(text) if rt.bytewise else text)

        arguments = rt.array("ARGV")
        for number, word in enumerate([ctx.name, *operands]):
            arguments[str(number)] = given(word)  # type: ignore[assignment]
        rt.ARGC = float(len(operands) + 1)
        if "v_ENVIRON" in self.compiled.source:
            environment = {name: given(value) for name, value in ctx.env.items()}
            rt.array("ENVIRON").update(environment)  # type: ignore[arg-type]
        if "v_PROCINFO" in self.compiled.source:
            rt.array("PROCINFO").update(_PROCINFO)  # type: ignore[arg-type]
        for name, value in variables:
            rt.assign_operand(name, unescape(value, None, rt.mode))

    def _guarded(self) -> str:
        """Run; return the message of a fatal error, "" when all went well."""
        try:
            self.rt.run(self.compiled)
            return ""
        except AwkFatal as error:
            if error.between_files:
                return f"{self._place_between_files()}fatal: {error.message}"
            return self._fatal(error.message, error.__traceback__)
        except ZeroDivisionError as error:
            return self._fatal("division by zero attempted", error.__traceback__)
        except RecursionError as error:
            return self._fatal("functions nested too deeply", error.__traceback__)
        except (AwkNext, AwkNextFile) as error:
            statement = "next" if isinstance(error, AwkNext) else "nextfile"
            rule = self.rt.hook or ("END" if self.rt.in_end else "BEGIN")
            message = f"`{statement}' cannot be called from a `{rule}' rule"
            return self._fatal(message, error.__traceback__)
        except MemoryError:
            raise LimitReached("value_bytes") from None

    def _fatal(self, message: str, traceback: TracebackType | None) -> str:
        """Return a message with the line of the program that an exception came from."""
        line = 0
        while traceback is not None:
            if traceback.tb_frame.f_globals is self.rt.names:
                line = self.compiled.lines[traceback.tb_lineno] or line
            traceback = traceback.tb_next
        return f"{self._place(line or 1)}{self.rt.place()}fatal: {message}"

    def _place(self, line: int) -> str:
        return f"{place_of(self.compiled.sources, line)}: " if line else ""

    def _place_between_files(self) -> str:
        """Return the place of the line that ran last before a file is opened, "" for none."""
        compiled = self.compiled
        last = compiled.last_line if self.rt.has_read else compiled.begin_line
        return self._place(compiled.begin_file_line or last)

    def _write(self, message: str) -> None:
        self.ctx.stderr.write(encode(f"{self.ctx.name}: {message}\n"))

    def warn(self, message: str, line: int) -> None:
        """Write a warning of a line of the program, after what it has printed; 0 for no line."""
        self.rt.flush_output()
        if message.startswith(_BETWEEN_FILES):
            place = self._place_between_files()
        else:
            place = f"{self._place(line)}{self.rt.place()}" if line else ""
        self._write(f"{place}warning: {message}")
