"""What a running awk program stands on: its special variables, its record, and the functions that need either."""

from __future__ import annotations

import errno
import re
import sys
from itertools import islice
from operator import length_hint

from agentsandbox.errors import LimitReached
from agentsandbox.languages.awk.arrays import Array, walk_order
from agentsandbox.languages.awk.channels import Channels
from agentsandbox.languages.awk.formats import as_bytes, format_values
from agentsandbox.languages.awk.functions import conversions, kind_of, namespace
from agentsandbox.languages.awk.patterns import Pattern
from agentsandbox.languages.awk.records import RecordReader, Separator, has_odd_numbers, is_plain, split_by_pattern, split_words
from agentsandbox.languages.awk.sorting import sort_elements, sorted_keys
from agentsandbox.languages.awk.substitution import general_substitute, substitute, substituter
from agentsandbox.languages.awk.times import format_time, make_time
from agentsandbox.languages.awk.values import (
    FILE,
    NUMBER_STARTS,
    UNSET,
    AwkFatal,
    AwkNextFile,
    Known,
    Unset,
    from_input,
    numeric_input,
    to_number,
)
from agentsandbox.limits import VALUES
from agentsandbox.streams import Buffer, InputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType
    from typing import Any

    from agentsandbox.command import CommandContext
    from agentsandbox.languages.awk.chance import Chance
    from agentsandbox.languages.awk.codegen import Compiled
    from agentsandbox.languages.awk.values import Value

__all__ = ["Runtime"]

FLUSH_CHARACTERS = 65536
ACCOUNTED = 4096
"""Characters of a text above which its making is accounted."""
ARRAY_SHARE = 16
"""What an element of an array is taken to cost, in bytes of `value_bytes`."""
AUDIT_CHARACTERS = 8 * 1024 * 1024
"""Fresh text after which everything that arrays hold is measured."""
AUDIT_SAMPLE = 64
"""Elements by which the size of the others is judged."""
AUDIT_LIMITS = 4
"""Arrays may hold this many times `value_bytes` of text."""
_FEW_CHARACTERS = re.compile(r"\[[^]\\^[-]{2,4}\]")
PATTERNS = 512
_PIECE = 4096
_MISSES_SHARE = 4
"""One number not seen before in so many records is too often."""
MAX_FIELDS = 1_000_000


class Runtime:
    """One run of one program. Generated code reads and writes its attributes."""

    def __init__(self, ctx: CommandContext, warn: Callable[[str], None], *, bytewise: bool) -> None:
        self.ctx = ctx
        self.budget = ctx.budget
        self.warn_with_place = warn
        self.out: list[str] = []
        self.out_size = 0
        self.pad: list[str] = []
        self.NR: Any = 0.0
        self.FNR: Any = 0.0
        self.FS: Any = " "
        self.OFS = " "
        self.ORS = "\n"
        self.RS: Any = "\n"
        self.RT: Any = ""
        self.SUBSEP = "\x1c"
        self.CONVFMT = "%.6g"
        self.OFMT = "%.6g"
        self.FILENAME: Any = ""
        self.RSTART: Any = 0.0
        self.RLENGTH: Any = -1.0
        self.IGNORECASE: Any = 0.0
        self.FPAT: Any = "[^[:space:]]+"
        self.FIELDWIDTHS: Any = ""
        self.ERRNO: Any = ""
        self.BINMODE: Any = 0.0
        self.ARGC: Any = 0.0
        self.ARGIND: Any = 0.0
        self.LINT: Any = 0.0
        self.TEXTDOMAIN: Any = "messages"
        self.status = 0
        self.has_read = False
        """Whether there was a record."""
        self.bytewise = bytewise
        """Whether a byte is a character: the locale C."""
        self.told_of_bytes = False
        """Whether there was a warning of bytes that are no characters."""
        self.got = ""
        self.variables: dict[str, Value] = {}
        self.arrays: dict[str, Array] = {}
        self.setters: dict[str, Callable[[Value], None]] = {}
        self.functions: dict[str, tuple[Callable[..., Any], str]] = {}
        self.begin_file: Callable[[], None] | None = None
        self.end_file: Callable[[], None] | None = None
        self.inplace = False
        self.inplace_suffix = ""
        self.uses_terminator = False
        self.in_end = False
        self._fresh = 0
        self._ticks = 0
        self._patterns: dict[str, Pattern] = {}
        self._splitters: dict[str, Callable[[str], list[str]]] = {}
        # input
        self.records: Iterator[str] = iter(())
        self.count = 0
        self._block_text = ""
        self.odd = True
        """Whether `float` might take for a number what awk does not; known only if the program `uses_odd`."""
        self.uses_odd = False
        self.known = Known(to_number)
        self.known_inputs = Known(numeric_input)
        self.hot = True
        """Whether numbers come often enough again to look for them in those."""
        self.q = False
        self.sep: str | None = None
        self.splitter: Callable[[str], list[str]] = split_words
        self._splitting = "FS"
        self._reader: RecordReader | None = None
        self._separator = Separator("\n", self._compile)
        self._argument = 1
        self._used_file = False
        self._skipping = False
        self._block_start = 0.0
        self._block_size = 0
        self._edited: tuple[str, Buffer] | None = None
        # the record, when the program changes fields
        self._record = ""
        self._fields: list[str] | None = []
        self.keeps_types = True
        self._typed: dict[int, Value] = {}
        self._stale = False
        self._subscripts: list[str] = []
        self.channels = Channels(self)
        self.conversions = conversions(self)
        self.text: Callable[[object], str] = self.conversions["text"]
        self._seed = 1.0
        self._chance: Chance | None = None
        self._choose_splitter()

    # running

    def run(self, compiled: Compiled) -> None:
        """Run the program to its end; output is written out by then."""
        self.uses_terminator = "rt.RT" in compiled.source
        names = namespace(self, compiled.used)
        exec(compiled.code, names)  # noqa: S102 - our own compiler's output, holding no text of the script but by repr()
        names["run"](self)

    def initial(self, name: str) -> Value:
        """A variable's value before BEGIN: what `-v` gave."""
        return self.variables.get(name, UNSET)

    def array(self, name: str) -> Array:
        """A global array, made when first asked for."""
        found = self.arrays.get(name)
        if found is None:
            found = self.arrays[name] = Array(name)
        return found

    def begin_end(self) -> None:
        """END starts."""
        self.in_end = True

    def enter(self) -> None:
        """A function call that must look at the meter."""
        budget = self.budget
        if budget.depth > budget.max_depth:
            budget.depth -= 1
            raise LimitReached("depth")
        budget.tick()
        self.audit()

    def tick(self) -> int:
        """A loop has gone round 250 times."""
        self.budget.step(250)
        self._ticks += 1
        if self.out_size > FLUSH_CHARACTERS or len(self.out) > 2000:
            self.flush_output()
        if self._ticks % 16 == 0:
            self.audit()
        return 250

    def account(self, size: int) -> None:
        """A large text was made."""
        self.budget.charge(size)
        self.budget.charge(size * self.budget.depth // VALUES)
        self.budget.step(size // 4096)
        self._fresh += size
        if self._fresh > AUDIT_CHARACTERS:
            self._fresh = 0
            self.audit(measure=True)

    def audit(self, measure: bool = False) -> None:
        """Refuse arrays that hold too many elements or too much text: measured, or else told from their newest elements."""
        elements = 0
        pending, characters = self._held()
        while pending:
            array = pending.pop()
            elements += len(array)
            if not measure and len(array) > AUDIT_SAMPLE:
                size = 0
                for key in islice(reversed(array), AUDIT_SAMPLE):
                    value = array[key]
                    size += len(key) + (len(value) if isinstance(value, str) else 0)
                characters += size * len(array) // AUDIT_SAMPLE
            elif elements < 2_000_000:
                for key, value in array.items():
                    characters += len(key)
                    if isinstance(value, str):
                        characters += len(value)
                    elif isinstance(value, Array):
                        pending.append(value)
        self.budget.charge(elements * ARRAY_SHARE)
        if characters // AUDIT_LIMITS > self.budget.value_bytes:
            if measure:
                self.budget.charge(characters // AUDIT_LIMITS)
            else:
                self.audit(measure=True)

    def _held(self) -> tuple[list[Array], int]:
        """All arrays, those of the functions at work too, and the characters in the variables."""
        found = {id(array): array for array in self.arrays.values()}
        texts: dict[int, int] = {}
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == FILE:
                for value in frame.f_locals.values():
                    if isinstance(value, Array):
                        found[id(value)] = value
                    elif isinstance(value, str):
                        texts[id(value)] = len(value)
            frame = frame.f_back
        return list(found.values()), sum(texts.values())

    def set_status(self, number: float) -> None:
        """`exit number`."""
        self.status = int(number) & 255 if number - number == 0.0 else 0

    def warn(self, message: str) -> None:
        """A warning with its place."""
        self.warn_with_place(message)

    def place(self) -> str:
        """Where in the input the program is, for messages; "" before the first record."""
        number = self.current_number()
        return f"(FILENAME={self.text(self.FILENAME)} FNR={number}) " if number > 0 else ""

    def current_number(self) -> int:
        """FNR, whether the program counts or not."""
        return int(self._block_start) + self._block_size - length_hint(self.records)

    # special variables

    def assign(self, name: str, value: Any) -> Any:
        """Assign a special variable, with what follows from it."""
        if name in ("OFS", "ORS", "SUBSEP", "CONVFMT", "OFMT"):
            if name == "OFS" and self._stale:
                self.record()
            setattr(self, name, self.text(value))
            return value
        if name == "NF":
            self.set_nf(to_number(value))
            return value
        if name in _SPLITTING and self._fields is None:
            self.fields()  # the present record is split by the old rule
        setattr(self, name, value)
        if name in ("FS", "FPAT", "FIELDWIDTHS"):
            self._splitting = name
            self._choose_splitter()
        elif name == "IGNORECASE":
            self._patterns.clear()
            self._choose_splitter()
        elif name == "RS":
            self._change_separator()
        return value

    def assign_operand(self, name: str, text: str) -> None:
        """`name=text` as an operand or by `-v`."""
        value = from_input(text)
        if name in _SPECIAL:
            self.assign(name, value)
        elif name in self.setters:
            self.setters[name](value)
        else:
            self.variables[name] = value

    def _change_separator(self) -> None:
        """RS was assigned: what was read ahead is cut anew."""
        rest = list(self.records)
        self._block_size -= len(rest)
        self.records = iter(())
        if self._reader is not None:
            self._reader.push_back(rest, self._separator.character)
        self._splitters.clear()
        self._separator = Separator(self.text(self.RS), self._compile)

    # patterns

    def _compile(self, source: str) -> Pattern:
        return Pattern(source, bool(self.IGNORECASE), self.budget, bytewise=self.bytewise)

    def constant_pattern(self, source: str) -> Pattern:
        """The pattern of a regular expression constant."""
        return self.dynamic_pattern(source)

    def dynamic_pattern(self, source: str) -> Pattern:
        """The pattern that a string is."""
        found = self._patterns.get(source)
        if found is None:
            if len(self._patterns) > PATTERNS:
                self._patterns.clear()
            self.budget.step(20)
            found = self._patterns[source] = self._compile(source)
        return found

    # splitting

    def _choose_splitter(self) -> None:
        self._splitters.clear()
        self.q, self.sep = False, None
        if self._splitting == "FPAT":
            pattern = self._compile(self.text(self.FPAT))
            self.splitter = lambda text: _matches(pattern, text, self.budget.step)
        elif self._splitting == "FIELDWIDTHS":
            self.splitter = _width_splitter(self.text(self.FIELDWIDTHS))
        else:
            self.splitter = self._splitter_of(self.text(self.FS))
            self.sep = self._plain_separator(self.text(self.FS))

    def _plain_separator(self, separator: str) -> str | None:
        """What `str.split` takes when it can do the job."""
        paragraphs = self.RS == ""
        if len(separator) == 1 and separator != " ":
            self.q = not paragraphs and separator != "\\"
            return separator
        return None

    def _splitter_of(self, separator: str) -> Callable[[str], list[str]]:
        """The function that splits by FS or by split's third argument."""
        if separator == " ":
            return split_words
        if separator == "":
            return list
        if len(separator) == 1:
            if self.RS == "" and separator != "\n":
                pattern = self.dynamic_pattern(f"[{separator}\n]" if separator not in "\\^]" else f"\\{separator}|\n")
                return lambda text: split_by_pattern(pattern, text, None, self.budget.step)
            return lambda text: text.split(separator) if text else []
        if _FEW_CHARACTERS.fullmatch(separator) and self.RS != "" and not self.IGNORECASE:
            first, others = separator[1], list(separator[2:-1])
            return lambda text: _split_by_any(text, first, others) if text else []
        source = f"({separator})|\n" if self.RS == "" else separator
        pattern = self.dynamic_pattern(source)
        if pattern.never_empty is not None:
            split, every = pattern.never_empty.split, pattern.never_empty.groups + 1
            return lambda text: (split(text)[::every] if every > 1 else split(text)) if text else []
        return lambda text: split_by_pattern(pattern, text, None, self.budget.step)

    def split_fields(self, text: str) -> list[str]:
        """The fields of a record."""
        return self.splitter(text)

    def split(self, text: str) -> list[str]:
        """The fields of a new `$0`, filled up for the generated code; their number is in `count`."""
        fields = self.splitter(text)
        self.count = len(fields)
        missing = len(self.pad) - len(fields)
        if missing > 0:
            fields.extend([""] * missing)
        return fields

    # main input

    def next_block(self) -> bool:
        """Have more records in `records`; false at the end of the input."""
        if self.out and (not self.channels.outputs or sum(map(len, self.out)) > FLUSH_CHARACTERS):
            self.flush_output()  # while commands are written to, gawk keeps its own output until they have ended
        if length_hint(self.records):
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
            self._fresh += len(self._block_text)
            if self._fresh > AUDIT_CHARACTERS:
                self._fresh = 0
                self.audit(measure=True)
            self.records = iter(records)
            self.has_read = True
            if self._splitting == "FS" and self.FS == " ":
                self.q = is_plain(self._block_text)
                self.sep = None
            if self.uses_odd:
                self.odd = has_odd_numbers(self._block_text)
                self.hot = self.hot and (self.known.misses + self.known_inputs.misses) * _MISSES_SHARE <= before
                self.known.misses = self.known_inputs.misses = 0
            return True

    def _read_block(self) -> list[str] | None:
        assert self._reader is not None
        separator = self._separator
        if separator.kind == "character" and not self.uses_terminator:
            records = self._reader.block(separator.character)
            self._block_text = self._reader.block_text
            self.budget.step(len(records) if records is not None else 1)
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
                from agentsandbox.languages.awk.lexer import unescape

                self.assign_operand(name, unescape(value))
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
            if source.unreadable == 21 or (source is not ctx.stdin and ctx.fs.is_dir(ctx.path(name))):
                raise IsADirectoryError
        except OSError as error:
            import os

            is_directory = isinstance(error, IsADirectoryError)
            self.ERRNO = reason = os.strerror(errno.EISDIR if is_directory else error.errno or errno.EIO)
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
            if is_directory:
                self.warn(f"command line argument `{name}' is a directory: skipped")
                return False
            raise AwkFatal(f"cannot open file `{name}' for reading: {reason}") from None
        self.FILENAME = name
        self.FNR = 0.0
        self._block_start, self._block_size = 0.0, 0
        self.records = iter(())
        self._reader = RecordReader(source, self.budget, bytewise=self.bytewise)
        if self.inplace and source is not ctx.stdin:
            self.flush_output()
            self._edited = (ctx.path(name), Buffer(self.budget.limits.file_bytes))
        if self.begin_file is not None:
            self._call_hook(self.begin_file)
        return True

    def _call_hook(self, hook: Callable[[], None]) -> None:
        """BEGINFILE: `nextfile` may skip the file."""
        try:
            hook()
        except AwkNextFile:
            self._skipping = True

    def _close_current(self) -> None:
        reader, self._reader = self._reader, None
        self._skipping = False
        if self.end_file is not None:
            self.end_file()
        if reader is not None and reader.source is not self.ctx.stdin:
            reader.source.release()  # type: ignore[attr-defined]
        if self._edited is not None:
            self._finish_editing(*self._edited)

    def _finish_editing(self, path: str, output: Buffer) -> None:
        """Replace a file edited in place, keeping the old one under the suffix."""
        self.flush_output()
        self._edited = None
        fs = self.ctx.fs
        permissions = fs.stat(path).permissions
        if self.inplace_suffix:
            fs.write_bytes(path + self.inplace_suffix, fs.read_bytes(path), permissions=permissions)
        fs.write_bytes(path, output.getvalue(), permissions=permissions)

    def skip_file(self) -> None:
        """`nextfile`."""
        rest = length_hint(self.records)
        self._block_size -= rest
        self.records = iter(())
        self._skipping = True

    def getline_main(self) -> float:
        """The next record of the main input into `got`."""
        while True:
            for record in self.records:
                self.got = record
                self.NR = to_number(self.NR) + 1.0
                self.FNR = to_number(self.FNR) + 1.0
                return 1.0
            try:
                if not self.next_block():
                    return 0.0
            except InputError as error:
                self.ERRNO = error.strerror or ""
                return -1.0

    def getline_file(self, name: str) -> float:
        """The next record of a file."""
        return self.channels.read_file(name)

    def getline_command(self, command: str) -> float:
        """The next record of a command's output."""
        return self.channels.read_command(command)

    def getline_coprocess(self, command: str) -> float:
        """The next record of a coprocess."""
        return self.channels.read_coprocess(command)

    def read_record(self, reader: RecordReader) -> float:
        """One record by RS into `got`: 1, or 0 at the end."""
        self.budget.step()
        record = reader.record(self._separator)
        self.RT = reader.terminator
        if record is None:
            return 0.0
        if len(record) > ACCOUNTED:
            self.account(len(record))
        self.got = record
        return 1.0

    def subscripts(self, first: int, last: int) -> list[str]:
        """The numbers of fields as subscripts."""
        numbers = self._subscripts
        if last > len(numbers):
            self.budget.charge(last * 16)
            numbers += map(str, range(len(numbers) + 1, last + 1))
        return numbers[first - 1 : last]

    # fields that change

    def set_record(self, text: str) -> None:
        """A new record."""
        self._record = text
        self._fields = None
        self._stale = False
        if self._typed:
            self._typed.clear()

    def set_record_value(self, value: Any) -> Any:
        """`$0 = value`."""
        self.set_record(self.text(value))
        return value

    def record(self) -> str:
        """`$0`, rebuilt when a field has changed."""
        if self._stale:
            self._stale = False
            self._record = self.OFS.join(self._fields or ())
            if len(self._record) > ACCOUNTED:
                self.account(len(self._record))
        return self._record

    def fields(self) -> list[str]:
        """The fields, split when first needed."""
        fields = self._fields
        if fields is None:
            if self.q:
                fields = self._record.split(self.sep) if self._record else []
            else:
                fields = self.splitter(self._record)
            self._fields = fields
        return fields

    def field(self, number: int) -> str:
        """A field's text; `number` is at least 1."""
        fields = self._fields
        if fields is None:
            fields = self.fields()
        return fields[number - 1] if number <= len(fields) else ""

    def field_at(self, number: float) -> str:
        """A field's text by any number."""
        if number < 1.0:
            self._check(number)
            return self.record()
        return self.field(int(number)) if number < 1e9 else ""

    def field_value(self, number: float) -> Value:
        """A field as a value."""
        if number < 1.0:
            self._check(number)
            return from_input(self.record())
        if number > len(self.fields()):
            return ""
        position = int(number)
        typed = self._typed.get(position)
        return from_input(self.field(position)) if typed is None else typed

    def _check(self, number: float) -> None:
        if number <= -1.0 or number != number:
            raise AwkFatal(f"attempt to access field {int(number) if number == number else 0}")

    def other_field(self, number: float, record: str) -> str:
        """A field that is `$0` or not there."""
        if number >= 1.0:
            return ""
        self._check(number)
        return record

    def other_value(self, number: float, record: str) -> Value:
        """The same as a value."""
        if number >= 1.0:
            return ""
        self._check(number)
        return from_input(record)

    def value_of(self, position: int) -> Value:
        """A field as a value; `position` is at least 1."""
        fields = self._fields
        if fields is None:
            fields = self.fields()
        if position > len(fields):
            return ""
        if self._typed:
            typed = self._typed.get(position)
            if typed is not None:
                return typed
        return from_input(fields[position - 1])

    def put_field(self, value: Any, position: int) -> Any:
        """`$position = value`, for a position of at least 1."""
        fields = self._fields
        if fields is None:
            fields = self._fields = self._record.split(self.sep) if self.q and self._record else self.fields()
        if position > len(fields):
            return self.set_field(value, position)
        fields[position - 1] = value if type(value) is str else self.text(value)
        if self.keeps_types:
            self._typed[position] = value
        self._stale = True
        return value

    def copy_field(self, position: int, target: int) -> None:
        """`$target = $position`, both at least 1."""
        fields = self._fields
        if fields is None:
            fields = self._fields = self._record.split(self.sep) if self.q and self._record else self.fields()
        if position != target or position > len(fields):
            self.put_field(self.value_of(position), target)
        self._stale = True

    def set_field(self, value: Any, number: float) -> Any:
        """`$number = value`."""
        if number < 1.0:
            self._check(number)
            return self.set_record_value(value)
        if number > MAX_FIELDS:
            raise LimitReached("value_bytes")
        position = int(number)
        fields = self.fields()
        missing = position - len(fields)
        if missing > 0:
            self.budget.charge(position * 16)
            fields.extend([""] * missing)
        fields[position - 1] = value if type(value) is str else self.text(value)
        if self.keeps_types:
            self._typed[position] = value
        self._stale = True
        return value

    def nf(self) -> float:
        """NF."""
        return float(len(self.fields()))

    def set_nf(self, number: float) -> None:
        """`NF = number`: the record is rebuilt."""
        if number < 0:
            raise AwkFatal("NF set to negative value")
        if number > MAX_FIELDS:
            raise LimitReached("value_bytes")
        fields = self.fields()
        count = int(number)
        if count < len(fields):
            del fields[count:]
        else:
            self.budget.charge(count * 16)
            fields.extend([""] * (count - len(fields)))
        self._stale = True

    # output

    def write(self, text: str) -> None:
        """To standard output, some time."""
        self.out.append(text)
        self.out_size += len(text)
        if self.out_size > FLUSH_CHARACTERS:
            self.flush_output()

    def flush_output(self) -> None:
        """Write what print statements have collected."""
        if self.out:
            data = encode("".join(self.out))
            self.out.clear()
            self.out_size = 0
            target = self.ctx.stdout if self._edited is None else self._edited[1]
            target.write(data)

    def redirect(self, kind: str, name: str, text: str) -> None:
        """`print … > name` and its kin."""
        self.channels.write(kind, name, text)

    def no_format(self) -> str:
        """`printf` without arguments."""
        raise AwkFatal("printf: no arguments")

    def sprintf(self, template: str, values: Sequence[object]) -> str:
        """`sprintf`."""
        made = format_values(template, values, self.text, self.budget.charge)
        if self.bytewise:
            made = as_bytes(made)
        if len(made) > ACCOUNTED:
            self.account(len(made))
        return made

    # functions

    def index(self, text: str, sought: str) -> float:
        """`index` of a program that knows IGNORECASE."""
        if self.IGNORECASE:
            text, sought = text.casefold(), sought.casefold()
        return float(text.find(sought) + 1)

    def kind_of_field(self, number: float, count: float, value: object) -> str:
        """`typeof($number)`."""
        return "unassigned" if number > count else str(kind_of(value))

    def walk(self, array: Array) -> list[str]:
        """The keys for `for (key in array)`."""
        self.budget.step(len(array) // 8 + 1)
        how = self.arrays["PROCINFO"].get("sorted_in") if "PROCINFO" in self.arrays else None
        if how is None or isinstance(how, Unset):
            return walk_order(array, self.budget.step)  # type: ignore[arg-type]
        return sorted_keys(self, array, self.text(how))

    def call_indirectly(self, name: str, arguments: Sequence[object]) -> Any:
        """`@variable(arguments)`."""
        found = self.functions.get(name)
        if found is None:
            raise AwkFatal(f"`{name}' is not a function, so it cannot be called indirectly")
        function, kinds = found
        if len(arguments) > len(kinds):
            raise AwkFatal(f"function `{name}' called with more arguments than declared")
        return function(*arguments)

    def split_into(self, text: str, array: Array, separator: Pattern | str | None, separators: Array | None, typed: bool) -> float:
        """`split`. If not `typed`, nobody will ask which elements look like numbers."""
        between: list[str] | None = None if separators is None else []
        step = self.budget.step
        if isinstance(separator, Pattern):
            if between is None and separator.literal:
                pieces = text.split(separator.literal) if text else []
            else:
                pieces = split_by_pattern(separator, text, between, step)
        else:
            by = self.text(self.FS) if separator is None else separator
            if between is None:
                split = self._splitters.get(by)
                if split is None:
                    split = self._splitters[by] = self._splitter_of(by)
                pieces = split(text)
            else:
                pieces = self._split_keeping(text, by, between)
        step(len(pieces) // 4 + 1)
        if len(text) > ACCOUNTED:
            self.account(len(text))
        array.clear()
        if len(pieces) <= len(_NUMBERS):
            values = [piece if piece[:1] not in NUMBER_STARTS else from_input(piece) for piece in pieces] if typed else pieces
            array.update(zip(_NUMBERS, values))  # noqa: B905 - as many as there are pieces
        else:
            self.budget.charge(len(pieces) * 16)
            for start in range(0, len(pieces), _PIECE):
                part = pieces[start : start + _PIECE]
                step(len(part))
                array.update(zip(map(str, range(start + 1, start + len(part) + 1)), map(from_input, part), strict=True))
        if separators is not None:
            separators.clear()
            leading = by == " " if not isinstance(separator, Pattern) else False
            for number, piece in enumerate(between or (), 0 if leading else 1):
                if not leading or piece or 0 < number < len(pieces):
                    separators[str(number)] = piece
        return float(len(pieces))

    def _split_keeping(self, text: str, by: str, between: list[str]) -> list[str]:
        """Split and keep what stands between; for blanks also what stands before and after."""
        if by == "":
            return list(text)
        if by != " ":
            pattern = self.dynamic_pattern(by if len(by) > 1 else f"[{by}]" if by not in "\\^" else f"\\{by}")
            return split_by_pattern(pattern, text, between, self.budget.step)
        pieces = split_words(text)
        position = 0
        for piece in pieces:
            found = text.find(piece, position)
            between.append(text[position:found])
            position = found + len(piece)
        between.append(text[position:])
        return pieces

    def patsplit(self, text: str, array: Array, pattern: Pattern | None, separators: Array | None) -> float:
        """`patsplit`."""
        found = pattern if pattern is not None else self._compile(self.text(self.FPAT))
        between: list[str] = []
        pieces = _matches(found, text, self.budget.step, between)
        array.clear()
        for number, piece in enumerate(pieces, 1):
            array[str(number)] = from_input(piece)
        if separators is not None:
            separators.clear()
            for number, piece in enumerate(between):
                separators[str(number)] = piece
        return float(len(pieces))

    def substitute(self, pattern: Pattern, replacement: str, text: str, every: bool) -> float:
        """`sub` and `gsub`: the new text in `got`, the number of replacements back."""
        self.got, count = substitute(pattern, replacement, text, every, self.budget)
        if count and len(self.got) > ACCOUNTED:
            self.account(len(self.got))
        return float(count)

    def substituter(self, pattern: Pattern, replacement: str, every: bool) -> Callable[[str], float]:
        """`substitute` for what a program says once and for all."""
        return substituter(self, pattern, replacement, every)

    def gensub(self, pattern: Pattern, replacement: str, how: Value, text: str) -> str:
        """`gensub`."""
        which = self.text(how)
        number = 0
        if which[:1] not in ("g", "G"):
            number = int(min(max(to_number(how), 0.0), 1e9))
            if number < 1:
                if to_number(how) != 0.0 or not which:
                    self.warn(f"gensub: third argument `{which}' treated as 1")
                else:
                    self.warn(f"gensub: third argument `{which}' treated as 1")
                number = 1
        result = general_substitute(pattern, replacement, text, number, self.budget)
        if len(result) > ACCOUNTED:
            self.account(len(result))
        return result

    def match(self, text: str, pattern: Pattern, captures: Array | None) -> float:
        """`match`: sets RSTART and RLENGTH, and the array of groups."""
        found = pattern.search(text)
        if captures is not None:
            captures.clear()
        if found is None:
            self.RSTART, self.RLENGTH = 0.0, -1.0
            return 0.0
        start, end = found.span()
        self.RSTART, self.RLENGTH = start + 1.0, float(end - start)
        if captures is not None:
            for number in range(len(found.groups()) + 1):
                left, right = found.span(number)
                if left >= 0:
                    captures[str(number)] = from_input(text[left:right])
                    captures[f"{number}{self.SUBSEP}start"] = left + 1.0
                    captures[f"{number}{self.SUBSEP}length"] = float(right - left)
        return self.RSTART  # type: ignore[no-any-return]

    def sort(self, source: Array, target: Array | None, how: str | None, by_index: bool) -> float:
        """`asort` and `asorti`."""
        values = sort_elements(self, source, how, by_index)
        into = source if target is None else target
        into.clear()
        for number, value in enumerate(values, 1):
            into[str(number)] = value
        return float(len(values))

    def rand(self) -> float:
        """`rand`."""
        if self._chance is None:
            from agentsandbox.languages.awk.chance import Chance  # few programs need it

            self._chance = Chance(int(self._seed) if abs(self._seed) < 1e18 else 0)
        return self._chance.next()

    def srand(self, seed: float | None = None) -> float:
        """`srand`: the previous seed."""
        before = self._seed
        self._seed = float(int(self.ctx.host.clock())) if seed is None else seed
        self._chance = None
        return before

    def systime(self) -> float:
        """`systime`."""
        return float(int(self.ctx.host.clock()))

    def strftime(self, template: str | None = None, when: float | None = None, utc: object = 0.0) -> str:
        """`strftime`."""
        if template is None:
            template = "%a %b %e %H:%M:%S %Z %Y"
        return format_time(template, self.systime() if when is None else when, bool(utc), self.ctx.env, self.budget.charge)

    def mktime(self, text: str, utc: bool) -> float:
        """`mktime`."""
        return make_time(text, utc, self.ctx.env)

    def system(self, command: str) -> float:
        """`system`."""
        return self.channels.system(command)

    def close(self, name: str, side: str = "") -> float:
        """`close`."""
        return self.channels.close(name, side)

    def fflush(self, name: str | None = None) -> float:
        """`fflush`."""
        return self.channels.flush(name)


_NUMBERS = [str(number) for number in range(1, 65)]
_SPLITTING = frozenset(("FS", "FPAT", "FIELDWIDTHS", "IGNORECASE"))
_SPECIAL = frozenset(
    "NR FNR NF FS OFS ORS RS RT RSTART RLENGTH SUBSEP CONVFMT OFMT FILENAME IGNORECASE FPAT FIELDWIDTHS ERRNO BINMODE ARGC ARGIND LINT "
    "TEXTDOMAIN".split()
)


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier()


def _split_by_any(text: str, first: str, others: list[str]) -> list[str]:
    for other in others:
        text = text.replace(other, first)
    return text.split(first)


def _matches(pattern: Pattern, text: str, step: Callable[[], None], between: list[str] | None = None) -> list[str]:
    """The matches in a text, as FPAT has it; `between` gets what stands around them."""
    found: list[str] = []
    position = last = 0
    after_match = False
    while text and position <= len(text):
        step()
        match = pattern.search(text, position)
        if match is None:
            break
        left, right = match.span()
        if left == right and after_match and left == last:
            position = left + 1
            after_match = False
            continue
        found.append(text[left:right])
        if between is not None:
            between.append(text[last:left])
        last = right
        position = right if right > left else right + 1
        after_match = right > left
    if between is not None:
        between.append(text[last:])
    return found


def _width_splitter(widths: str) -> Callable[[str], list[str]]:
    """FIELDWIDTHS: numbers, `skip:width`, and a last `*` for the rest."""
    plan: list[tuple[int, int]] = []
    for word in widths.split():
        skip, colon, width = word.rpartition(":")
        if (colon and not skip.isdecimal()) or not (width.isdecimal() or width == "*") or len(word) > 12:
            raise AwkFatal(f"invalid FIELDWIDTHS value, for field {len(plan) + 1}, near `{word}'")
        plan.append((int(skip or 0), -1 if width == "*" else int(width)))

    def split(text: str) -> list[str]:
        fields: list[str] = []
        position = 0
        for skip, width in plan:
            position += skip
            if position >= len(text):
                break
            end = len(text) if width < 0 else position + width
            fields.append(text[position:end])
            position = end
        return fields

    return split
