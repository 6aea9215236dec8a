"""Running awk: sources gathered and compiled, the run itself, and the wording of what goes
wrong.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from agentsandbox.commands.awk.arrays import Environment
from agentsandbox.commands.awk.codegen import Compiled, compile_program
from agentsandbox.commands.awk.lexer import AwkSyntaxError, Source, place_of, unescape
from agentsandbox.commands.awk.parser import parse
from agentsandbox.commands.awk.runtime import Runtime
from agentsandbox.commands.awk.values import FILE, AwkFatal, AwkNext, AwkNextFile, from_input
from agentsandbox.errors import CommandError, LimitReached, PipeClosed, Unwind
from agentsandbox.kernel.streams import bytewise, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader

MAX_SOURCE = 1 << 20
_BETWEEN_FILES = ("command line argument", "escape sequence", "no hex digits")
"""Warnings about operands."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(rf"({_NAME.pattern})=")


class _Failed(Exception):
    """The program does not compile; the lines are its messages."""

    def __init__(self, lines: Sequence[str], status: int) -> None:
        self.lines = lines
        self.status = status
        super().__init__(lines[0] if lines else "")


class _Task:
    """What is to be compiled. Equal tasks give equal programs, whatever `budget` they draw on."""

    __slots__ = ("assigned", "budget", "operands", "sources")

    def __init__(
        self,
        sources: list[Source],
        assigned: frozenset[str],
        operands: frozenset[str],
        budget: Budget,
    ) -> None:
        self.sources = tuple([(source.name, source.text) for source in sources])
        self.assigned = assigned
        self.operands = operands
        self.budget: Budget | None = budget

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Task) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.sources, self.assigned, self.operands


def _compile_task(task: _Task) -> tuple[Compiled, tuple[str, ...]]:
    budget, task.budget = task.budget, None  # the cache keeps the task
    assert budget is not None
    return _compile(
        [Source(name, text) for name, text in task.sources], task.assigned, task.operands, budget
    )


_compile_cached = lru_cache(maxsize=128)(_compile_task)
_LONGEST_KEPT = 16_384
"""Characters of a program that is kept: many long ones would fill the host's memory."""


def _compile(
    sources: list[Source], assigned: frozenset[str], operands: frozenset[str], budget: Budget
) -> tuple[Compiled, tuple[str, ...]]:
    """The compiled program and the warnings on the way; raises `_Failed`."""
    warnings: list[str] = []
    told: set[str] = set()

    def warn(text: str) -> None:
        if _note(told, text):
            warnings.append(text)

    try:
        program = parse(sources, warn, budget)
        compiled = compile_program(program, assigned, operands, budget)
        return compiled, (*warnings, *compiled.warnings)
    except AwkSyntaxError as error:
        lines = list(error.lines)
        if not re.match(r".*:\d+: ", lines[0]):
            lines[0] = f"{sources[0].name}:1: {lines[0]}"
        raise _Failed([*warnings, *lines], 2 if ": fatal: " in lines[0] else 1) from None


def _note(told: set[str], text: str) -> bool:
    """Whether a warning is to be given: one about an escape is given once, wherever it stands."""
    message = text.partition("warning: ")[2]
    known = "escape sequence" in message and message in told
    told.add(message)
    return not known


def _read_start(ctx: CommandContext, source: ByteReader) -> bytes:
    """All there is, or more than a program may be long."""
    parts = []
    size = 0
    for block in source.blocks():
        ctx.budget.step()
        parts.append(block)
        size += len(block)
        if size > MAX_SOURCE:
            break
    ctx.budget.charge(size)
    return b"".join(parts)


def _read_source(ctx: CommandContext, name: str) -> Source:
    """Return the text of a program file, which is sought along AWKPATH too."""
    candidates = [name]
    if "/" not in name:
        candidates = [
            f"{directory or '.'}/{name}{ending}"
            for directory in ctx.env.get("AWKPATH", ".:/usr/share/awk").split(":")
            for ending in ("", ".awk")
        ]
        candidates.insert(0, name)
    error: OSError | None = None
    for candidate in candidates:
        try:
            source = (
                ctx.stdin
                if candidate in ("-", "/dev/stdin")
                else ctx.fs.open(ctx.path(candidate), "r")
            )
            data = _read_start(ctx, source)
            if len(data) > MAX_SOURCE:
                raise CommandError(f"fatal: source file `{name}' is too large", 2)
            return Source(name, decode(data))
        except OSError as failure:
            error = error or failure
    reason = os.strerror((error.errno if error else 0) or 2)
    if isinstance(error, IsADirectoryError):
        raise CommandError(f"{name}:1: error: cannot read source file `{name}': {reason}", 1)
    raise CommandError(f"fatal: cannot open source file `{name}' for reading: {reason}", 2)


def run_program(
    ctx: CommandContext,
    sources: list[tuple[bool, str]],
    variables: list[str],
    operands: list[str],
    *,
    inplace: bool = False,
    by_bytes: bool = False,
) -> int:
    """Run a program. `sources` are (whether it is a file's name, text or name); the status comes
    back.

    inplace   whether each file is replaced by what is printed for it
    by_bytes  whether a byte is a character, as it is in the locale C
    """
    by_bytes = by_bytes or ctx.is_bytewise()
    read = [
        _read_source(ctx, text) if is_file else Source("cmd. line", text)
        for is_file, text in sources
    ]
    pairs = [_split_assignment(word) for word in variables]
    if by_bytes:
        read = [Source(source.name, bytewise(source.text)) for source in read]
        pairs = [(name, bytewise(value)) for name, value in pairs]
    by_operand = frozenset(found[1] for word in operands if (found := _ASSIGNMENT.match(word)))
    assigned = frozenset(name for name, _ in pairs) | by_operand
    told: set[str] = set()
    for _, value in pairs:
        unescape(
            value,
            lambda message: (
                _report(ctx, f"warning: {message}") if _note(told, f"warning: {message}") else None
            ),
        )
    try:
        compile_task = (
            _compile_cached
            if sum([len(source.text) for source in read]) <= _LONGEST_KEPT
            else _compile_task
        )
        compiled, warnings = compile_task(_Task(read, assigned, by_operand, ctx.budget))
    except _Failed as failure:
        for line in failure.lines:
            _report(ctx, line)
        return failure.status
    for line in warnings:
        if _note(told, line):
            _report(ctx, line)
    running = _Run(ctx, compiled, by_bytes=by_bytes)
    running.rt.told |= told
    return running.run(pairs, operands, inplace)


def _split_assignment(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise CommandError(f"`{word}' argument to `-v' not in `var=value' form", 1)
    if not _NAME.fullmatch(name) and name != "inplace::suffix":
        raise CommandError(f"fatal: `{name}' is not a legal variable name", 2)
    return name, value


def _report(ctx: CommandContext, message: str) -> None:
    ctx.stderr.write(encode(f"{ctx.name}: {message}\n"))


class _Run:
    """One run of a compiled program, and the place in it that messages tell."""

    def __init__(self, ctx: CommandContext, compiled: Compiled, *, by_bytes: bool) -> None:
        self.ctx = ctx
        self.compiled = compiled
        self.rt = Runtime(ctx, self.warn, bytewise=by_bytes)

    def run(self, variables: list[tuple[str, str]], operands: list[str], inplace: bool) -> int:
        rt = self.rt
        kept = self.ctx.budget.keep(rt)
        try:
            self._prepare(variables, operands, inplace)
            failure = self._guarded()
            if failure:
                rt.flush_output()
                rt.status = 2
                _report(self.ctx, failure)
            rt.channels.close_all()
            rt.flush_output()
        except AwkFatal as error:  # variables given and what is written at the end can fail, too
            _report(self.ctx, f"fatal: {error.message}")
            rt.status = 2
        except PipeClosed:
            rt.channels.abandon()
            raise
        except (Unwind, OSError):
            rt.channels.abandon()
            rt.flush_output()
            raise
        finally:
            del kept
        return rt.status

    def _prepare(
        self, variables: list[tuple[str, str]], operands: list[str], inplace: bool
    ) -> None:
        rt, ctx = self.rt, self.ctx
        arguments = rt.array("ARGV")
        for number, word in enumerate([ctx.name, *operands]):
            arguments[str(number)] = from_input(bytewise(word) if rt.bytewise else word)
        rt.ARGC = float(len(operands) + 1)
        source = self.compiled.source
        if "v_ENVIRON" in source:
            environment = rt.arrays["ENVIRON"] = Environment(ctx.env)
            for name, value in ctx.env.items():
                environment[name] = from_input(bytewise(value) if rt.bytewise else value)
            rt.channels.environment = environment.exported
        if "v_PROCINFO" in source:
            information = rt.array("PROCINFO")
            information.update(
                {
                    "version": "5.2.1",
                    "platform": "posix",
                    "FS": "FS",
                    "strftime": "%a %b %e %H:%M:%S %Z %Y",
                }
            )
            information.update(
                {
                    "pid": 1000.0,
                    "ppid": 1.0,
                    "uid": 1000.0,
                    "euid": 1000.0,
                    "gid": 1000.0,
                    "egid": 1000.0,
                    "pgrpid": 1000.0,
                }
            )
        rt.inplace = inplace
        for name, value in variables:
            if name == "inplace::suffix" or (name == "INPLACE_SUFFIX" and not rt.inplace_suffix):
                rt.inplace_suffix = unescape(value)
            else:
                rt.assign_operand(name, unescape(value))

    def _guarded(self) -> str:
        """Run; the message of a fatal error, "" when all went well."""
        try:
            self.rt.run(self.compiled)
            return ""
        except AwkFatal as error:
            return self._fatal(error.message, error.__traceback__)
        except ZeroDivisionError as error:
            return self._fatal("division by zero attempted", error.__traceback__)
        except RecursionError as error:
            return self._fatal("functions nested too deeply", error.__traceback__)
        except AwkNext as error:
            return self._fatal(
                f"`next' cannot be called from a `{self._phase()}' rule", error.__traceback__
            )
        except AwkNextFile as error:
            return self._fatal(
                f"`nextfile' cannot be called from a `{self._phase()}' rule", error.__traceback__
            )
        except MemoryError:
            raise LimitReached("value_bytes") from None

    def _phase(self) -> str:
        return "END" if self.rt.in_end else "BEGIN"

    def _fatal(self, message: str, traceback: TracebackType | None) -> str:
        line, asked, opening = 0, False, False
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename == FILE:
                line = self._awk_line(traceback.tb_lineno) or line
            asked = asked or code is Runtime.getline_main.__code__
            opening = opening or code is Runtime._open_next.__code__
            traceback = traceback.tb_next
        if message.startswith("cannot open file") or (
            opening and message.startswith("invalid regexp")
        ):
            line = line if asked else self._line_between_files()
            return f"{self._place(line)}fatal: {message}"
        return f"{self._place(line or 1)}{self.rt.place()}fatal: {message}"

    def _place(self, line: int) -> str:
        return f"{place_of(self.compiled.sources, line)}: " if line else ""

    def _line_between_files(self) -> int:
        """The line last at work when a file is opened; 0 for none."""
        compiled = self.compiled
        return compiled.begin_file_line or (
            compiled.last_line if self.rt.has_read else compiled.begin_line
        )

    def _awk_line(self, line: int) -> int:
        lines = self.compiled.lines
        return lines[line] if 0 <= line < len(lines) else 0

    def warn(self, message: str) -> None:
        """A warning of the running program, behind what it has printed."""
        self.rt.flush_output()
        if message.startswith(_BETWEEN_FILES):
            line = self._line_between_files()
            _report(self.ctx, f"{self._place(line)}warning: {message}")
            return
        from traceback import walk_stack

        line = next(
            (
                self._awk_line(number)
                for frame, number in walk_stack(None)
                if frame.f_code.co_filename == FILE
            ),
            0,
        )
        place = f"{self._place(line)}{self.rt.place()}" if line else ""
        _report(self.ctx, f"{place}warning: {message}")
