"""The run of a compiled program: its special variables, and its input, record by record."""

from __future__ import annotations

import errno

from agentsandbox.commands.awk.fields import Fields
from agentsandbox.commands.awk.functions import conversions, namespace
from agentsandbox.commands.awk.meter import ACCOUNTED, FLUSH_CHARACTERS
from agentsandbox.commands.awk.modes import EXTENSION_VARIABLES
from agentsandbox.commands.awk.records import RecordReader, Separator, is_plain
from agentsandbox.commands.awk.scopes import SPECIAL_NAMES
from agentsandbox.commands.awk.values import (
    Array,
    AwkFatal,
    AwkNextFile,
    Typed,
    to_number,
)
from agentsandbox.kernel.streams import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.commands.awk.channels import Channels
    from agentsandbox.commands.awk.codegen import Compiled
    from agentsandbox.commands.awk.modes import Mode
    from agentsandbox.commands.awk.values import Value
    from agentsandbox.contract.command import CommandContext

_Function: Any = type(lambda: None)
"""`types.FunctionType`; importing `types` takes a fresh process a while."""

_SPLITTING = frozenset(("FS", "FPAT", "FIELDWIDTHS", "IGNORECASE"))


class Runtime(Fields):
    """One run of one program. Generated code reads and writes the attributes."""

    def __init__(
        self,
        ctx: CommandContext,
        warn: Callable[[str, int], None],
        mode: Mode,
        *,
        bytewise: bool,
    ) -> None:
        super().__init__(ctx, mode, bytewise=bytewise)
        self.warn_with_place = warn
        self.line = 0
        """The line of the running statement; statements that may warn set it."""
        self.told: set[str] = set()
        """Warnings that were given once."""
        self.NR: Any = 0.0
        self.FNR: Any = 0.0
        self.RT: Any = ""
        self.FILENAME: Any = ""
        self.ERRNO: Any = ""
        self.ARGC: Any = 0.0
        self.ARGIND: Any = 0.0
        self.ORS = "\n"
        self.SUBSEP = "\x1c"
        self.CONVFMT = "%.6g"
        self.OFMT = "%.6g"
        self.RSTART: Any = 0.0
        self.RLENGTH: Any = 0.0
        self.BINMODE: Any = 0.0
        self.LINT: Any = 0.0
        self.variables: dict[str, Value] = {}
        self.setters: dict[str, Callable[[Value], None]] = {}
        self.has_read = False
        """Whether a record was read."""
        self.got = ""
        self.begin_file: Callable[[], None] | None = None
        self.end_file: Callable[[], None] | None = None
        self.hook = ""
        """The kind of the rule between files that runs."""
        self.uses_terminator = False
        self.records: Iterator[str] = iter(())
        self._block_text = ""
        self._reader: RecordReader | None = None
        self._separator = Separator("\n", self._compile)
        self._argument = 1
        self._used_file = False
        self._skipping = False
        self._block_start = 0.0
        self._block_size = 0
        self.status = 0
        self.told_of_bytes = False
        """Whether a warning of bytes that are no characters was given."""
        self.functions: dict[str, tuple[Callable[..., Any], str]] = {}
        self.in_end = False
        self.conversions = conversions(self)
        self.text = self.conversions["text"]
        self.key = self.conversions["key"]
        self.names: dict[str, Any] = {}
        """The global names of the compiled program; no other code has them."""
        self._choose_splitter()

    def run(self, compiled: Compiled) -> None:
        """Run the program to its end."""
        self.uses_terminator = "rt.RT" in compiled.source
        if "rt.channels" in compiled.source:
            self.use_channels()
        self.names = namespace(self, compiled.functions)
        _Function(compiled.code, self.names)(self)

    def use_channels(self) -> Channels:
        """Return the files and pipes, made when first needed."""
        if self.channels is None:
            from agentsandbox.commands.awk.channels import Channels

            self.channels = Channels(self)
        return self.channels

    def set_status(self, number: float) -> None:
        """`exit number`."""
        self.status = int(number) & 255 if number - number == 0.0 else 0

    # the arrays and the position

    def array(self, name: str) -> Array:
        """Return a global array; it is made when first needed."""
        found = self.arrays.get(name)
        if found is None:
            found = self.arrays[name] = Array(name)
        return found

    def numbered(self, name: str) -> Array:
        """Return a new global array whose subscripts are numbers."""
        from agentsandbox.commands.awk.numbered import Numbered

        made = self.arrays[name] = Numbered(name, self.key, self.budget.step)
        return made

    def warn_once(self, message: str) -> None:
        if message not in self.told:
            self.told.add(message)
            self.warn(message)

    def warn(self, message: str) -> None:
        """Write a warning with its place."""
        self.warn_with_place(message, self.line)

    def place(self) -> str:
        """Return the position in the input for messages; "" before the first record."""
        number = self.current_number()
        return f"(FILENAME={self.text(self.FILENAME)} FNR={number}) " if number > 0 else ""

    def current_number(self) -> int:
        """Return FNR, also if the program does not use it."""
        return int(self._block_start) + self._block_size - self._left()

    def _left(self) -> int:
        """Return how many records of the block are not read yet."""
        left: int = self.records.__length_hint__()  # type: ignore[attr-defined]
        return left

    # special variables

    def assign(self, name: str, value: Any) -> Any:
        """Assign a special variable, and do what depends on it."""
        if name in ("OFS", "ORS", "SUBSEP", "CONVFMT", "OFMT"):
            if name == "OFS" and self._stale:
                self.record()
            setattr(self, name, self.text(value))
            return value
        if name == "NF":
            self.set_nf(to_number(value))
            return value
        if (name in _SPLITTING or name == "RS") and self._fields is None:
            self.fields()  # the present record is split by the old rule
        setattr(self, name, value)
        if name in ("FS", "FPAT", "FIELDWIDTHS"):
            self._splitting = name
            self._choose_splitter()
            if "PROCINFO" in self.arrays:
                self.arrays["PROCINFO"]["FS"] = name
        elif name == "IGNORECASE":
            self._patterns.clear()
            self._choose_splitter()
            if self._separator.kind == "pattern":
                self._change_separator()
        elif name == "RS":
            self._change_separator()
        return value

    def assign_operand(self, name: str, text: str) -> None:
        """`name=text` as an operand or by `-v`."""
        value = self.from_input(text)
        if not self.mode.traditional and len(text) > 2 and text[:2] == "@/" and text[-1] == "/":
            value = Typed(text[2:-1])
        is_ordinary = self.mode.traditional and name in EXTENSION_VARIABLES
        if name in SPECIAL_NAMES and not is_ordinary:
            self.assign(name, value)
        elif name in self.setters:
            self.setters[name](value)
        else:
            self.variables[name] = value

    def _change_separator(self) -> None:
        """Split what was read ahead again: RS was assigned."""
        rest = list(self.records)
        self._block_size -= len(rest)
        self.records = iter(())
        if self._reader is not None:
            self._reader.push_back(rest, self._separator.character)
        separator = self.separator_text(self.RS)
        if self.mode.traditional:
            separator = separator[:1]
        self._separator = Separator(separator, self._compile)
        if self._splitting == "FS":
            self._choose_splitter()

    def next_block(self) -> bool:
        """Put more records into `records`; false at the end of the input."""
        channels = self.channels
        if self.out and (
            channels is None or not channels.outputs or sum(map(len, self.out)) > FLUSH_CHARACTERS
        ):
            # while commands are written to, gawk keeps its own output until they have ended
            self.flush_output()
        if self._left():
            return True  # BEGIN has read a part of them
        while True:
            if self._reader is None and not self._open_next():
                return False
            records = None if self._skipping else self._read_block()
            if records is None:
                self._close_current()
                continue
            before = self._block_size
            self._block_start += before
            self._block_size = len(records)
            self.read_ahead(len(self._block_text))
            self.records = iter(records)
            self.has_read = True
            if self._splitting == "FS" and self.FS == " ":
                self.q = is_plain(self._block_text)
                self.sep = None
            return True

    def _read_block(self) -> list[str] | None:
        assert self._reader is not None
        separator = self._separator
        if separator.kind == "character" and not self.uses_terminator:
            records = self._reader.block(separator.character)
            self._block_text = self._reader.block_text
            self.budget.step(len(records) if records is not None else 1)
            self.budget.breathe()
            return records
        self.budget.step()
        record = self._reader.record(separator)
        self.RT = self._reader.terminator
        self._block_text = record or ""
        return None if record is None else [record]

    def _open_next(self) -> bool:
        """Open the next operand that is a file; assignments on the way take effect."""
        arguments = self.array("ARGV")
        while self._argument < int(to_number(self.ARGC)):
            word = self.text(arguments.get(str(self._argument), ""))
            number = self._argument
            self._argument += 1
            if not word:
                continue
            name, equals, value = word.partition("=")
            if equals and _is_name(name):
                from agentsandbox.commands.awk.lexer import unescape

                try:
                    self.assign_operand(name, unescape(value, self.warn_once, self.mode))
                except AwkFatal as error:
                    error.between_files = True
                    raise
                continue
            self.ARGIND = float(number)
            if self._open(word):
                return True
        if self._used_file:
            return False
        self._used_file = True
        return self._open("-")

    def _open(self, name: str) -> bool:
        self._used_file = True
        ctx = self.ctx
        self._skipping = False
        self.ERRNO = ""
        try:
            source = ctx.stdin if name in ("-", "/dev/stdin") else ctx.fs.open(ctx.path(name), "r")
            if source.unreadable == 21 or (
                source is not ctx.stdin and ctx.fs.is_dir(ctx.path(name))
            ):
                raise IsADirectoryError
        except OSError as error:
            import os

            is_directory = isinstance(error, IsADirectoryError)
            self.ERRNO = reason = os.strerror(
                errno.EISDIR if is_directory else error.errno or errno.EIO
            )
            self._block_start, self._block_size = 0.0, 0
            self.records = iter(())
            if self.begin_file is not None:
                before, self.FILENAME, self.FNR = self.FILENAME, name, 0.0
                self._skipping = False
                self._call_hook(self.begin_file)
                if self._skipping:
                    self._skipping = False
                    return False
                self.FILENAME = before
            if is_directory and not self.mode.traditional:
                self.warn(f"command line argument `{name}' is a directory: skipped")
                return False
            message = f"cannot open file `{name}' for reading: {reason}"
            raise AwkFatal(message, between_files=True) from None
        self.FILENAME = name
        self.FNR = 0.0
        self._block_start, self._block_size = 0.0, 0
        self.records = iter(())
        if self.csv:
            from agentsandbox.commands.awk.csv_input import CsvSource

            source = CsvSource(source)
        self._reader = RecordReader(source, self.budget, bytewise=self.bytewise)
        if self.begin_file is not None:
            self._call_hook(self.begin_file)
        return True

    def read_csv(self) -> None:
        """Read all input as comma-separated values."""
        from agentsandbox.commands.awk.csv_input import RECORD_END

        self.csv = True
        self._separator = Separator(RECORD_END, self._compile)
        self._choose_splitter()

    def _call_hook(self, hook: Callable[[], None]) -> None:
        """Run BEGINFILE, in which `nextfile` may skip the file."""
        try:
            self.hook = "BEGINFILE"
            hook()
        except AwkNextFile:
            self._skipping = True
        self.hook = ""

    def _close_current(self) -> None:
        reader, self._reader = self._reader, None
        self._skipping = False
        if self.end_file is not None:
            self.hook = "ENDFILE"
            self.end_file()
            self.hook = ""
        if reader is not None and reader.source is not self.ctx.stdin:
            reader.source.release()  # type: ignore[attr-defined]

    def skip_file(self) -> None:
        """`nextfile`."""
        rest = self._left()
        self._block_size -= rest
        self.records = iter(())
        self._skipping = True

    def getline_main(self) -> float:
        """Put the next record of the main input into `got`."""
        while True:
            for record in self.records:
                self.got = record
                self.NR = to_number(self.NR) + 1.0
                self.FNR = to_number(self.FNR) + 1.0
                return 1.0
            try:
                if not self.next_block():
                    return 0.0
            except AwkFatal as error:
                error.between_files = False  # it is getline that asked
                raise
            except InputError as error:
                self.ERRNO = error.strerror or ""
                return -1.0

    def read_record(self, reader: RecordReader) -> float:
        """Put a record into `got`; return 1, or 0 at the end."""
        self.budget.step()
        record = reader.record(self._separator)
        self.RT = reader.terminator
        if record is None:
            return 0.0
        if len(record) > ACCOUNTED:
            self.account(len(record))
        self.got = record
        return 1.0


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier()
