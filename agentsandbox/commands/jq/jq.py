"""`jq` 1.8.1: filter JSON with the jq language."""

from __future__ import annotations

import os
import re
from itertools import chain

from agentsandbox.commands._json.json_text import JsonError
from agentsandbox.commands._json.printing import COLORS, Dumper, dump
from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.code import EMPTY
from agentsandbox.commands.jq.inputs import Inputs
from agentsandbox.commands.jq.machine import Break, Halt, Machine
from agentsandbox.commands.jq.options import Options, not_open, read_options
from agentsandbox.commands.jq.program import CompileError, compile_program
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, LimitReached
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Code
    from agentsandbox.kernel.streams import ByteReader

_HELD = 256
"""Outputs held back at most."""
_BUFFER = 4096
"""Standard output is written in such blocks: messages come before what the last one holds."""

_MISSING_FILE, _NO_OUTPUT, _COMPILE, _UNKNOWN = 2, 4, 3, 5


class _Run:
    """One call of jq: its program, its inputs, what came out last."""

    def __init__(self, ctx: CommandContext, options: Options) -> None:
        self.ctx = ctx
        self.options = options
        self.missing = False
        self.inputs = Inputs(self._sources(), ctx.budget)
        if options.unbuffered:
            self.inputs.before_read = self.flush
        self.pending: list[str] = []
        self.buffer = b""
        self.reading = False
        self.dumper = _dumper(ctx, options)
        self.status = 0
        self.last: bool | None = None
        self.machine = Machine(
            ctx.budget,
            environment=ctx.env,
            clock=ctx.host.clock,
            warn=self.complain,
            named={
                **options.named,
                "ARGS": {"positional": options.positional, "named": dict(options.named)},
            },
        )
        self.inputs.hold = self.machine.hold
        self.machine.more_inputs = lambda: self._counted(self._values())
        self.machine.inputs = self.machine.more_inputs()
        self.machine.filename = self.inputs.filename
        self.machine.line = self.inputs.line

    def _sources(self) -> Iterator[tuple[str | None, ByteReader]]:
        for name in self.options.files or ["-"]:
            if name == "-":
                if self.ctx.stdin.unreadable:
                    self._miss(os.strerror(self.ctx.stdin.unreadable))
                else:
                    yield "<stdin>", self.ctx.stdin
                continue
            try:
                reader = self.ctx.fs.open(self.ctx.path(name), "r")
                reader.read(0)
            except IsADirectoryError:
                self._miss("Is a directory")
                continue
            except OSError as error:
                self._miss(f"Could not open file {describe_os_error(error, name)}")
                continue
            try:
                yield name, reader
            finally:
                reader.release()

    def _miss(self, reason: str) -> None:
        self.missing = True
        self.complain(f"jq: error: {reason}\n")

    def _values(self) -> Iterable[Value]:
        options, inputs = self.options, self.inputs
        if options.raw_input:
            return (inputs.text() for _ in range(1)) if options.slurp else inputs.lines()
        values: Iterable[Value] = inputs.values()
        if options.stream:
            # loaded here because few ask for it
            from agentsandbox.commands.jq.forms.paths import events

            budget, hold = self.ctx.budget, self.machine.hold
            values = chain.from_iterable(events(value, budget, hold) for value in values)
        return self._slurped(values) if options.slurp else values

    def _slurped(self, values: Iterable[Value]) -> Iterator[Value]:
        """Yield all values as one array; they are read late, for their errors belong to the run."""
        together: list[Value] = []
        self.machine.roots.append((together,))
        for count, value in enumerate(values):
            if not count & 1023:
                self.ctx.budget.charge(count * 16)
            together.append(value)
        self.machine.roots.pop()
        yield together

    def _counted(self, values: Iterable[Value]) -> Iterator[Value]:
        self.reading = True
        yield from values

    def flush(self) -> None:
        """Write what was held back to save calls: whole blocks, or everything with --unbuffered."""
        if self.pending:
            data = self.buffer + encode("".join(self.pending))
            self.pending.clear()
            cut = len(data) if self.options.unbuffered else len(data) - len(data) % _BUFFER
            self.buffer = data[cut:]
            if cut:
                self.ctx.stdout.write(data[:cut])

    def finish(self) -> None:
        """Write all that is left."""
        self.flush()
        if self.buffer:
            data, self.buffer = self.buffer, b""
            self.ctx.stdout.write(data)

    def complain(self, text: str) -> None:
        """Write to stderr; of the output so far, what has filled blocks comes before."""
        self.flush()
        self.ctx.stderr.write(encode(text))

    def place(self) -> str:
        """Where the input stands, for messages."""
        return self.inputs.place() if self.reading else "<unknown>"

    def run(self) -> int:
        """The exit status."""
        try:
            code = compile_program(self._source(), self.machine)
        except CompileError as error:
            self.complain(str(error))
            return _COMPILE
        write = self._writer()
        try:
            if self.options.null_input:
                self._process(code, None, write)
            else:
                self._process_all(code, write)
        except JsonError as error:
            self.complain(f"jq: parse error: {error}\n")
            self.status = _UNKNOWN
        except Halt as halt:
            self.flush()
            self.ctx.stderr.write(halt.message)
            self.finish()
            return halt.status
        self.finish()
        return self._final_status()

    def _process_all(self, code: Code, write: Callable[[Value], None]) -> None:
        values: Iterator[Value] | None = None
        # there are new inputs where the program has met a wrong one, and goes on behind it
        while values is not self.machine.inputs:
            values = self.machine.inputs
            for value in values:
                self._process(code, value, write)
                if self.missing:  # it ends with the first value after a file that is not there
                    return

    def _source(self) -> str:
        program = self.options.program
        if not self.options.from_file:
            return program
        try:
            data = self.ctx.fs.read_bytes(self.ctx.path(program))
        except OSError as error:
            raise CommandError(not_open(program, error), 2) from None
        return str(data, "utf-8", "replace")

    def _process(self, code: Code, value: Value, write: Callable[[Value], None]) -> None:
        step = self.ctx.budget.step
        step()
        self.status = 0
        try:
            one = code.one
            if one is not None:
                result = one(value, ())
                if result is not EMPTY:
                    write(result)
                return
            for result in code.many(value, ()):
                step()
                write(result)
        except JqError as error:
            self.status = _UNKNOWN
            self._report(error.value)
        except Break:
            self.status = _UNKNOWN
            self.complain(f"jq: error (at {self.place()}): break\n")

    def _report(self, value: Value) -> None:
        place = self.place()
        if isinstance(value, str):
            self.complain(f"jq: error (at {place}): {value.partition(chr(0))[0]}\n")
        else:
            self.complain(f"jq: error (at {place}) (not a string): {dump(value)}\n")

    def _writer(self) -> Callable[[Value], None]:
        options, text_of, pending = self.options, self.dumper.text, self.pending
        budget = self.ctx.budget
        raw, end, ascii_only = options.raw_output, options.end, options.ascii_output

        def spill(piece: str) -> None:
            budget.step(len(piece) // 64 + 1)
            pending.append(piece)
            self.flush()

        def write(value: Value) -> None:
            self.last = value is not None and value is not False
            if raw and type(value) is str and not ascii_only:
                if end == "\0" and "\0" in value:
                    raise JqError("Cannot dump a string containing NUL with --raw-output0 option")
                text = value
            else:
                text = text_of(value, spill)
            pending.append(text + end)
            if len(pending) > _HELD or len(text) > _HELD:
                budget.work(2 * len(text))
                self.flush()

        return write

    def _final_status(self) -> int:
        if self.missing:
            return _MISSING_FILE
        if self.status:
            return self.status
        if self.options.exit_status:
            return _NO_OUTPUT if self.last is None else 0 if self.last else 1
        return 0


def _dumper(ctx: CommandContext, options: Options) -> Dumper:
    colors: tuple[str, ...] | None = None
    if options.color:
        colors = COLORS
        given = ctx.env.get("JQ_COLORS", "")
        fields = given.split(":")[:8] if given else []
        if re.fullmatch("[0-9;:]*", given):
            colors = (*fields, *COLORS[len(fields) :])
        else:
            ctx.stderr.write(b"Failed to set $JQ_COLORS\n")
    return Dumper(
        indent=options.indent or "",
        pretty=options.indent is not None,
        sort_keys=options.sort_keys,
        ascii_only=options.ascii_output,
        colors=colors,
    )


@command(
    "jq",
    manners=Manners(
        pure=True,
        read_error=("NAME: error: REASON", 2),
        write_error=("NAME: error: writing output failed: REASON", 2),
    ),
    raw=True,
    usage="""
    Usage: jq [OPTION]... FILTER [FILE]...
      or:  jq [OPTION]... --args FILTER [STRING]...
      or:  jq [OPTION]... --jsonargs FILTER [JSON]...
    Apply a jq FILTER to the JSON values of FILE(s), or of standard input.

      -n, --null-input           run once, with null as the input
      -R, --raw-input            each line is a string instead of JSON
      -s, --slurp                all inputs as one array (with -R, as one string)
      -c, --compact-output       one line for each output
      -r, --raw-output           strings without quotes
          --raw-output0          as -r, with a NUL after each output
      -j, --join-output          as -r, without newlines
      -a, --ascii-output         escape all that is not ASCII
      -S, --sort-keys            keys of objects in order
      -C, --color-output         with colors (JQ_COLORS)
      -M, --monochrome-output    without colors
          --tab                  indent with tabs
          --indent N             indent with N spaces, at most 7
          --unbuffered           write each output at once
          --stream               the input as [path, leaf] events
      -f, --from-file FILE       take the filter from FILE
      -e, --exit-status          1 if the last output is false or null, 4 if there is none
      -b, --binary               (newlines are never converted)
          --arg NAME VALUE       set $NAME to the string VALUE
          --argjson NAME JSON    set $NAME to a JSON value
          --slurpfile NAME FILE  set $NAME to an array of the JSON values of FILE
          --rawfile NAME FILE    set $NAME to the text of FILE
          --args                 the operands that follow are $ARGS.positional
          --jsonargs             the same, as JSON
      -h, --help                 display this help and exit
      -V, --version              display the version and exit
    """,
)
def jq(ctx: CommandContext, args: Arguments) -> int:
    options = read_options(ctx, args.operands)
    if options.help:
        ctx.print(jq.usage, end="")
        return 0
    if options.version:
        ctx.print("jq-1.8.1")
        return 0
    run = _Run(ctx, options)
    try:
        return run.run()
    except LimitReached:
        run.finish()
        raise
    except RecursionError:
        raise LimitReached("depth") from None
