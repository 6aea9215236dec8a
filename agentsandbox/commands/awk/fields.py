"""The record of a running awk program and its fields.

A record is split when a field is first needed, and put together again when a field was changed and
`$0` is needed. `_stale` says that the fields are newer than the record.
"""

from __future__ import annotations

from agentsandbox.commands.awk.meter import ACCOUNTED, Meter
from agentsandbox.commands.awk.modes import conversions_of
from agentsandbox.commands.awk.records import split_words
from agentsandbox.commands.awk.values import AwkFatal, Typed
from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands.awk.modes import Mode
    from agentsandbox.commands.awk.patterns import Pattern
    from agentsandbox.commands.awk.values import Value
    from agentsandbox.contract.command import CommandContext

PATTERNS = 512
MAX_FIELDS = 1_000_000
_LOWEST = -(1 << 63)
"""What C makes of a number that is no `long`."""


class Fields(Meter):
    """The record, and the variables that determine how it is split."""

    text: Callable[[object], str]
    key: Callable[[object], str]

    def __init__(self, ctx: CommandContext, mode: Mode, *, bytewise: bool) -> None:
        super().__init__(ctx)
        self.mode = mode
        self.numbers = conversions_of(mode)
        """The conversions from text to numbers."""
        self.from_input: Callable[[str], Value] = self.numbers["from_input"]
        self.FS: Any = " "
        self.OFS = " "
        self.RS: Any = "\n"
        self.IGNORECASE: Any = 0.0
        self.csv = False
        """Whether the input is comma-separated values."""
        self.FPAT: Any = "[^[:space:]]+"
        self.FIELDWIDTHS: Any = ""
        self.bytewise = bytewise
        """Whether a byte is a character: the locale C."""
        self.pad: list[str] = []
        self.count = 0
        self.q = False
        self.sep: str | None = None
        self.splitter: Callable[[str], list[str]] = split_words
        self.keeps_types = True
        self._patterns: dict[str, Pattern] = {}
        self.splitters: dict[str, Callable[[str], list[str]]] = {}
        self._splitting = "FS"
        self._record = ""
        self._fields: list[str] | None = []
        self._typed: dict[int, Value] = {}
        self._stale = False
        self._subscripts: list[str] = []

    def warn_once(self, message: str) -> None:
        """Warn, but only once in a run."""
        raise NotImplementedError

    # patterns

    def _compile(self, source: str) -> Pattern:
        from agentsandbox.commands.awk.literals import doubtful_escapes
        from agentsandbox.commands.awk.patterns import Pattern

        for message in doubtful_escapes(source, self.mode):
            self.warn_once(message)
        return Pattern(
            source,
            bool(self.IGNORECASE),
            self.budget,
            bytewise=self.bytewise,
            mode=self.mode,
        )

    def dynamic_pattern(self, source: str) -> Pattern:
        """Return the pattern that a string is."""
        found = self._patterns.get(source)
        if found is None:
            if len(self._patterns) > PATTERNS:
                self._patterns.clear()
            self.budget.step(20)
            found = self._patterns[source] = self._compile(source)
        return found

    # splitting

    def _choose_splitter(self) -> None:
        self.splitters.clear()
        self.q, self.sep = False, None
        if self.csv:
            from agentsandbox.commands.awk.csv_input import csv_fields

            self.splitter = csv_fields
        elif self._splitting == "FPAT":
            from agentsandbox.commands.awk.layouts import matches

            pattern = self._compile(self.text(self.FPAT))
            self.splitter = lambda text: matches(pattern, text, self.budget.step)
        elif self._splitting == "FIELDWIDTHS":
            from agentsandbox.commands.awk.layouts import width_splitter

            self.splitter = width_splitter(self.text(self.FIELDWIDTHS))
        else:
            separator = self.separator_text(self.FS)
            if not separator and self.mode.traditional:
                separator = "\0"
            self.splitter = self.splitter_of(separator, paragraphs=self.RS == "")
            self.sep = self._plain_separator(separator)

    def separator_text(self, value: object) -> str:
        """Return FS or RS as text; a typed regular expression stays one, however short."""
        text = self.text(value)
        return f"({text})" if type(value) is Typed and len(text) == 1 else text

    def _plain_separator(self, separator: str) -> str | None:
        """Return the separator for `str.split`, None if fields take more."""
        paragraphs = self.RS == ""
        if len(separator) == 1 and separator != " ":
            self.q = not paragraphs and separator != "\\"
            return separator
        return None

    def splitter_of(
        self, separator: str, *, paragraphs: bool = False
    ) -> Callable[[str], list[str]]:
        """Return the function that splits by FS or by the third argument of `split`.

        In paragraphs newlines separate fields, too.
        """
        if separator == " ":
            return split_words
        if separator == "":
            return list
        if len(separator) == 1:
            if paragraphs and separator == "^":  # gawk makes "[^\n]" of it
                from agentsandbox.commands.awk.patterns import split_by_pattern

                pattern = self.dynamic_pattern("[^\n]")
                return lambda text: split_by_pattern(pattern, text, self.budget.step)
            if paragraphs and (self.bytewise or separator.isascii()):
                return lambda text: text.replace("\n", separator).split(separator) if text else []
            return lambda text: text.split(separator) if text else []
        from agentsandbox.commands.awk.patterns import splitter

        return splitter(self.dynamic_pattern(separator), self.budget.step)

    def split_fields(self, text: str) -> list[str]:
        """Return the fields of a record."""
        return self.splitter(text)

    def split(self, text: str) -> list[str]:
        """Return the fields of a new `$0`, padded for generated code; `count` is their number."""
        fields = self.splitter(text)
        self.count = len(fields)
        missing = len(self.pad) - len(fields)
        if missing > 0:
            fields.extend([""] * missing)
        return fields

    def subscripts(self, first: int, last: int) -> list[str]:
        """Return the numbers of fields as subscripts."""
        numbers = self._subscripts
        if last > len(numbers):
            self.budget.charge(last * 16)
            numbers += map(str, range(len(numbers) + 1, last + 1))
        return numbers[first - 1 : last]

    # fields that change

    def set_record_value(self, value: Any) -> Any:
        """`$0 = value`."""
        self._record = self.text(value)
        self._fields = None
        self._stale = False
        self._typed.clear()
        if self.keeps_types:
            self._typed[0] = value
        return value

    def record(self) -> str:
        """Return `$0`, rebuilt when a field has changed."""
        if self._stale:
            self._stale = False
            self._record = self.OFS.join(self._fields or ())
            if self.keeps_types:
                self._typed[0] = self._record
            if len(self._record) > ACCOUNTED:
                self.account(len(self._record))
        return self._record

    def fields(self) -> list[str]:
        """Return the fields, which are split when first needed."""
        fields = self._fields
        if fields is None:
            if self.q:
                fields = self._record.split(self.sep) if self._record else []
            else:
                fields = self.splitter(self._record)
            self._fields = fields
        return fields

    def field(self, number: int) -> str:
        """Return a field's text; `number` is at least 1."""
        fields = self._fields
        if fields is None:
            fields = self.fields()
        return fields[number - 1] if number <= len(fields) else ""

    def field_at(self, number: float) -> str:
        """Return a field's text by any number."""
        if not number >= 1.0:
            _check(number)
            return self.record()
        return self.field(int(number)) if number < MAX_FIELDS else ""

    def field_value(self, number: float) -> Value:
        """Return a field as a value by any number."""
        if not number >= 1.0:
            _check(number)
            record = self.record()
            typed = self._typed.get(0)
            return self.from_input(record) if typed is None else typed
        return self.value_of(int(number)) if number < MAX_FIELDS else ""

    def other_field(self, number: float, record: str) -> str:
        """Return a field that is `$0` or not there."""
        if number >= 1.0:
            return ""
        _check(number)
        return record

    def other_value(self, number: float, record: str) -> Value:
        """As `other_field`, as a value."""
        return self.from_input(self.other_field(number, record))

    def value_of(self, position: int) -> Value:
        """Return a field as a value; `position` is at least 1."""
        fields = self._fields
        if fields is None:
            fields = self.fields()
        if position > len(fields):
            return ""
        if self._typed:
            typed = self._typed.get(position)
            if typed is not None:
                return typed
        return self.from_input(fields[position - 1])

    def put_field(self, value: Any, position: int) -> Any:
        """`$position = value`, for a position of at least 1."""
        fields = self._fields
        if fields is None:  # as `fields` does, without a call
            quick = self.q and self._record
            fields = self._fields = self._record.split(self.sep) if quick else self.fields()
        if position > len(fields):
            self._extend(fields, position)
        fields[position - 1] = value if type(value) is str else self.text(value)
        if self.keeps_types:
            self._typed[position] = value
        self._stale = True
        return value

    def rebuild(self, position: int) -> None:
        """`$position = $position`: the field is there, and the record is put together again."""
        fields = self._fields
        if fields is None:
            quick = self.q and self._record
            fields = self._fields = self._record.split(self.sep) if quick else self.fields()
        if position > len(fields):
            self._extend(fields, position)
        self._stale = True

    def set_field(self, value: Any, number: float) -> Any:
        """`$number = value`."""
        if not number >= 1.0:
            _check(number)
            return self.set_record_value(value)
        if number > MAX_FIELDS:
            raise LimitReached("value_bytes")
        return self.put_field(value, int(number))

    def _extend(self, fields: list[str], count: int) -> None:
        self.budget.charge(count * 16)
        fields.extend([""] * (count - len(fields)))

    def nf(self) -> float:
        """Return NF."""
        return float(len(self.fields()))

    def set_nf(self, number: float) -> None:
        """`NF = number`: the record is rebuilt."""
        if not number >= 0:  # also what is no number
            raise AwkFatal("NF set to negative value")
        if number > MAX_FIELDS:
            raise LimitReached("value_bytes")
        fields = self.fields()
        count = int(number)
        del fields[count:]
        self._extend(fields, count)
        self._stale = True


def _check(number: float) -> None:
    if number <= -1.0 or number != number:
        shown = int(number) if number >= _LOWEST else _LOWEST  # also what is no number
        raise AwkFatal(f"attempt to access field {shown}")
