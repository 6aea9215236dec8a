"""Texts of commands, parsed, compiled and run command by command.

Bash reads a script as it runs it: what comes before a syntax error runs, and a command can change
how the next line is read (aliases, `shopt -s extglob`, `set -v`). `run_commands` keeps that. A
short text without such commands is compiled in one go and cached (`_cached_program`), with the
syntax error that may end it. All others are parsed one command at a time (`_run_incrementally`).

A new text is seldom new in all its parts. Agents mend a line of a script and send all of it again,
so complete commands of several lines are kept as well (`_next_unit`), by their text and their line.
"""

from __future__ import annotations

import itertools
import os

from agentsandbox.errors import Exit, ShellSyntaxError
from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.caching import Kept, lru_cache
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.dispatch import compile_command
from agentsandbox.shell.syntax.plain_commands import PLAIN, plain_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from agentsandbox.shell.interpreter.shell import Run, Shell
    from agentsandbox.shell.interpreter.slots import Plan
    from agentsandbox.shell.syntax.nodes import Command
    from agentsandbox.shell.syntax.parser import Parser


_CHANGES_GRAMMAR = lazily(
    r"\b(?:alias|unalias|extglob|expand_aliases|set -v|verbose|posix)\b|-[a-zA-Z]*v"
)
_GRAMMAR_WORDS = "alias", "extglob", "verbose", "posix"
_LETTER_V = lazily(r"-[a-zA-Z]*v")
MAX_CACHED = 4096
_LONGEST_SHAPE = 1024
"""Characters of a text whose shape is looked for."""


class Program:
    """A compiled text: a closure for each complete command, and the syntax error at the end."""

    __slots__ = ("error", "units", "warnings")

    def __init__(
        self,
        units: Sequence[Run] | None,
        error: ShellSyntaxError | None,
        warnings: Sequence[tuple[int, str]],
    ) -> None:
        self.units = units
        self.error = error
        self.warnings = warnings


_IN_TURN = Program(None, None, ())
"""For a text that is parsed as it runs."""
PROGRAMS = Kept(128)
"""The programs of texts, by text, options and first line."""
_TEXTS = itertools.count()
"""Counts the new texts of this process."""
_FIRST_TEXTS = 16
"""New texts of a process for which nothing is loaded to find their shape, if they are plain."""


def _compile(
    text: str, extglob: bool, pairs_quotes: bool, line: int, ends: bool = False
) -> Program:
    """Compile a text, after which the shell `ends` or goes on."""
    if "\n" in text and _may_change_grammar(text):
        return _IN_TURN
    plain = plain_command(text, line)
    if plain is not None:
        compiled = _compile_last(plain) if ends else compile_command(plain)
        return Program((compiled,), None, ())
    from agentsandbox.shell.syntax.parser import Parser

    parser = Parser(text, first_line=line, extglob=extglob)
    parser.pairs_quotes = pairs_quotes
    units: list[Run] = []
    error: ShellSyntaxError | None = None
    while True:
        try:
            while (unit := _next_unit(parser, ends)) is not None:
                units.append(unit)
        except ShellSyntaxError as found:
            parser.skip_line()
            if not found.in_array or parser.position >= len(parser.text):
                error = found
                break
            units.append(_skipped(found))
            continue
        break
    if parser.warnings and len(units) > 1:  # each comes before its own command
        return _IN_TURN
    return Program(units, error, parser.warnings)


def _compile_last(command: Command) -> Run:
    from agentsandbox.shell.interpreter.last_commands import compile_last

    return compile_last(command)


def _next_unit(parser: Parser, ends: bool) -> Run | None:
    """Return the next complete command, compiled; None at the end of the text.

    ends  whether the shell ends with the text
    """
    text = parser.text
    end = -1
    if parser.has_lines:
        parser.skip_to_command()
        start = parser.position
        end = text.find("\n", start)
    if end < 0 or parser.joins or ends:
        if parser.position >= len(text):
            return None
        command = parser.next_command()
        if command is None:
            return None
        is_last = ends and not text[parser.position :].strip()
        return _compile_last(command) if is_last else compile_command(command)
    key = text[start:end], parser.line_at(start), parser.extglob, parser.pairs_quotes
    known = _known_unit(*key)
    if known and text.startswith(known[0][0], start):
        whole, run = known[0]
        parser.position = start + len(whole)
        return run
    warned = len(parser.warnings)
    command = parser.next_command()
    assert command is not None
    run = compile_command(command)
    whole = text[start : parser.position]
    if whole.endswith("\n") and len(parser.warnings) == warned:
        known[:] = [(whole, run)]
    return run


@lru_cache(maxsize=1024)
def _known_unit(first: str, line: int, extglob: bool, pairs_quotes: bool) -> list[tuple[str, Run]]:
    """Return the place for the latest command that began with this text in this line.

    It holds the text of the whole command with the newline that ends it, and what it compiled to.
    Nothing behind that newline counts for the command, so another script with the same text here
    has the same command: agents mend a line of a script and send all of it again.
    """
    return []


def _may_change_grammar(text: str) -> bool:
    """Whether a text has a command that may change how the next line is read."""
    if "-" in text and "v" in text and _LETTER_V.search(text) is not None:
        return True
    for word in _GRAMMAR_WORDS:  # quicker than an expression that begins with a choice
        if word in text:
            return _CHANGES_GRAMMAR.search(text) is not None
    return False


def _skipped(error: ShellSyntaxError) -> Run:
    """Compile a line that had a syntax error and was skipped."""

    def report(shell: Shell) -> int:
        return _syntax_error(
            shell, error, "-c: " if shell.invocation.source == "environment" else "", True
        )

    return report


@lru_cache(maxsize=None)
def _shapes() -> ModuleType:
    """Load what finds the shape of a text; an import statement takes a microsecond at each run."""
    import agentsandbox.shell.interpreter.shapes

    return agentsandbox.shell.interpreter.shapes


def _is_worth_a_shape(text: str) -> bool:
    """Whether to look for the shape of a new text, which needs an expression."""
    number = next(_TEXTS)
    return number > 0 and (number >= _FIRST_TEXTS or text.strip(PLAIN) != "")


_PARSED = 3
"""A text and the tree of the command of it that runs take this many times as much as the text."""


def _plan_or_program(shell: Shell, key: tuple[str, tuple[bool, bool], int, bool]) -> Program | Plan:
    """Return what a text compiles to, and set the words that it takes.

    key  the text, what the parser depends on, the first line, and whether the shell ends then
    """
    known: Program | None = PROGRAMS.get(key)
    if known is not None:
        return known
    text, reading, first_line, ends = key
    if (
        len(text) <= _LONGEST_SHAPE
        and not ends
        and _is_worth_a_shape(text)
        and not ("\n" in text and _may_change_grammar(text))
    ):
        found: tuple[Plan, list[str]] | None = _shapes().find_plan(text, reading, first_line)
        if found is not None:
            plan, shell.slots = found
            return plan
    program = _compile(text, *reading, first_line, ends)
    PROGRAMS.put(key, program)
    return program


def run_commands(
    shell: Shell,
    text: str,
    *,
    first_line: int = 1,
    origin: str = "",
    main: bool = False,
    ends: bool = False,
) -> int:
    """Run a text command by command; the commands before a syntax error run.

    origin  how a syntax error names the text: "-c: ", "eval: " or "" for a file
    main    whether the text is the file or the input that the shell itself reads
    ends    whether the shell ends with the text, so that a program may take its place
    """
    options = shell.options
    if (
        len(text) > MAX_CACHED
        or options.verbose
        or (shell.definitions.aliases and shell.active_aliases())
    ):
        return _run_incrementally(shell, text, first_line, origin, main)
    slots, shell.slots = shell.slots, ()
    try:
        key = text, options.reading, first_line, ends
        program: Program | Plan = PROGRAMS.recent.get(key) or _plan_or_program(shell, key)
        units = program.units
        if units is None:
            return _run_incrementally(shell, text, first_line, origin, main)
        budget = shell.budget
        budget.left -= len(text) >> 6
        if budget.left < 0:
            budget.tick()
        status = 0
        for unit in units:
            if program.warnings and program.error is None:
                _warn(shell, program.warnings)  # of a here-document that the end of the script ends
            status = _run_unit(shell, unit, main)
            if main and shell.options.onecmd:
                raise Exit(status)
        if program.error is not None:
            _warn(shell, program.warnings)
            return _syntax_error(shell, program.error, origin, main)
        return status
    finally:
        shell.slots = slots


def _run_unit(shell: Shell, unit: Run, main: bool) -> int:
    """Run one complete command; an error of a word ends only this one."""
    if shell.options.noexec:
        return 0
    try:
        return unit(shell)
    except (
        OSError
    ) as error:  # a descriptor that the shell itself writes to or reads from is of no use
        shell.complain(os.strerror(error.errno or 5))
        shell.status = 1
        return 1
    except ExpansionError as error:
        if shell.options.posix:
            error.status = 127
        if error.status == 127 or shell.process.level or (error.ends and not main):
            raise
        if error.message:
            shell.report(error)
        shell.status = error.status
        if shell.options.errexit and not error.number:
            raise shell.stopped(error.status) from None
        return error.status


def _run_incrementally(shell: Shell, text: str, first_line: int, origin: str, main: bool) -> int:
    """Parse each command after the ones before it have run, since they may change aliases."""
    shell.budget.step(len(text) >> 6)
    shell.budget.charge(len(text))
    held = shell.budget.hold(_PARSED * len(text)) if len(text) > LARGE else None
    from agentsandbox.shell.syntax.parser import Parser

    parser = Parser(text, first_line=first_line)
    parser.meter = shell.budget
    parser.held = held
    status = 0
    while True:
        parser.extglob = shell.options.shopt["extglob"]
        parser.pairs_quotes = shell.options.reading[1]
        parser.aliases = shell.active_aliases()
        parser.substitutions = [] if shell.options.verbose else None
        start = parser.position
        try:
            command = parser.next_command()
        except ShellSyntaxError as error:
            if shell.options.verbose:
                shell.write(text[start:], 2)
            parser.skip_line()
            if error.in_array and parser.position < len(parser.text):
                status = _syntax_error(shell, error, origin, main)
                continue
            return _syntax_error(shell, error, origin, main)
        if shell.options.verbose and parser.text is text:
            shown = _without_substitutions(text, start, parser.position, parser.substitutions or [])
            shell.write(shown if shown.endswith("\n") or not shown else f"{shown}\n", 2)
        if command is None:
            if held is not None:
                held.release()
            return status
        if parser.warnings:
            _warn(shell, parser.warnings)
            parser.warnings = []
        status = _run_unit(shell, compile_command(command), main)
        if held is not None:
            held.shrink(_PARSED * len(text))
        if main and shell.options.onecmd:
            raise Exit(status)


def _without_substitutions(
    text: str, start: int, end: int, substitutions: list[tuple[int, int]]
) -> str:
    """Return the lines that `set -v` shows: without those that begin in a substitution."""
    shown: list[str] = []
    for opened, closed in sorted(substitutions):
        first = text.find("\n", opened, closed) + 1
        if not first or opened < start:
            continue
        shown.append(text[start:first])
        start = (text.find("\n", closed, end) + 1) or end
    shown.append(text[start:end])
    return "".join(shown)


def _warn(shell: Shell, warnings: Sequence[tuple[int, str]]) -> None:
    for line, message in warnings:
        shell.complain(f"warning: {message}", line)


def _syntax_prefix(shell: Shell, error: ShellSyntaxError, origin: str) -> str:
    return shell.error_prefix(error.line).replace(": line ", f": {origin}line ", 1)


def _syntax_error(shell: Shell, error: ShellSyntaxError, origin: str, main: bool) -> int:
    if not error.message and origin != "eval: ":
        return shell.status
    prefix = _syntax_prefix(shell, error, origin)
    lines = [f"{prefix}{error.message}\n"] if error.message else []
    if error.source_line is not None:
        lines.append(f"{prefix}{error.before_source}`{error.source_line}'\n")
    elif error.follow_up is not None:
        lines.append(f"{_syntax_prefix(shell, error.follow_up, origin)}{error.follow_up.message}\n")
    stream = shell.fds.get(2)
    if stream is not None:
        stream.write(encode("".join(lines[:1] if shell.options.errexit else lines)))
    # bash ends at once
    if shell.options.errexit and (error.source_line is not None or origin != "eval: "):
        raise shell.stopped(2, error.line)
    # bash reads it with a parser of its own, whose errors end the shell
    if error.in_substitution and not main:
        raise Exit(
            127 if shell.invocation.source == "environment" and not shell.process.level else 1
        )
    if error.is_quote and shell.status and origin != "eval: ":
        return shell.status
    if error.status is not None or origin == "eval: ":
        shell.status = error.status or 2
    return shell.status
