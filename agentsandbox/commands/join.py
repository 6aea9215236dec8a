"""`join` (POSIX, GNU coreutils): join the lines of two sorted files on a common field."""

from __future__ import annotations

import re
from itertools import islice, repeat
from operator import itemgetter, le, lt

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import line_blocks, shown_name, split_all, split_lines
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    _Line = tuple[bytes, bytes, list[bytes]]
    """The key of a line, its text and its fields."""
    _Parts = tuple[list[bytes], list[bytes]]

_UNUSUAL = re.compile(rb"[\n\v\f\r]|[ \t]\Z")
_BLANKS = re.compile(rb"[ \t\n]+")
_MAX_FIELD = 2**31
_SMALL = 1 << 22
_PIECE = 1 << 13
_AT_ONCE = 256
"""Lines that are collected before they are written."""
_MOST_ALIKE = 16
"""Lines with one key of which all pairs are made at once."""
_BLANK_BYTES = (b"\t", b"\v", b"\f", b"\r")
_SPACES = (b"\v", b"\f", b"\r")
_BLANK_PAIRS = (b"  ", b" \n", b"\n ")


class _Options:
    """What to join on, what to print."""

    __slots__ = (
        "auto", "columns", "empty", "fields", "fold", "pairs", "separator", "tab", "unpaired",
    )  # fmt: skip

    def __init__(self, args: Arguments) -> None:
        self.fields = [0, 0]
        for key, value in args.given:
            if key in ("1", "2", "j"):
                for which in (0, 1) if key == "j" else (int(key) - 1,):
                    self.fields[which] = _field_number(value or "")
        tab = args.value("t")
        self.tab = None if tab is None else _tab(tab)
        self.separator = b" " if self.tab is None else self.tab or b"\n"
        self.fold = args.flag("ignore-case")
        self.pairs = not args.flag("v")
        self.unpaired = {_file_number(value) for key in ("a", "v") for value in args.values(key)}
        self.empty = encode(args.value("e", "") or "")
        self.auto = "auto" in args.values("o")
        self.columns = [column for value in args.values("o") for column in _columns(value)]


def _tab(text: str) -> bytes:
    """Return the separator that -t gives, b"" for a newline."""
    tab = b"\0" if text == "\\0" else encode(text)
    if len(tab) > 1:
        raise CommandError(f"multi-character tab {quote(text)}")
    return tab


def _field_number(text: str) -> int:
    if re.fullmatch("0*[1-9][0-9]*", text) is None:
        raise CommandError(f"invalid field number: {quote(text)}")
    return min(int(text.lstrip("0")[:18]), _MAX_FIELD) - 1


def _file_number(text: str) -> int:
    if text not in ("1", "2"):
        raise CommandError(f"invalid field number: {quote(text)}")
    return int(text)


def _columns(text: str) -> list[tuple[int, int]]:
    """Return the columns of one value of -o, none for "auto"."""
    return [] if text == "auto" else [_column(spec) for spec in re.split("[, \t]+", text) if spec]


def _column(text: str) -> tuple[int, int]:
    if text == "0":
        return 0, 0
    if text[:2] not in ("1.", "2."):
        wrong = "field specifier" if text[:1] in ("0", "1", "2") else "file number in field spec"
        raise CommandError(f"invalid {wrong}: {quote(text)}")
    return int(text[0]), _field_number(text[2:])


def _split_blanks(text: bytes) -> list[bytes]:
    """Return the fields between runs of blanks; leading ones are skipped."""
    if _UNUSUAL.search(text) is None:
        return text.split()
    stripped = text.lstrip(b" \t\n")
    return _BLANKS.split(stripped) if stripped else []


def _split_lines_at_blanks(texts: list[bytes], block: bytes) -> list[list[bytes]]:
    usual = (
        not any(byte in block for byte in _SPACES)
        and b" \n" not in block
        and b"\t\n" not in block
        and block.endswith(b"\n")
    )
    return list(map(bytes.split if usual else _split_blanks, texts))


def _unreadable(error: OSError) -> Iterator[bytes]:
    """Return the blocks of a directory, which can be opened but not read."""

    def read() -> bytes:
        raise CommandError(f"read error: {error.strerror}")

    return iter(read, b"")


class _Input:
    """One file: lines with their fields, checked for order."""

    __slots__ = (
        "before_message", "checked", "complained", "ctx", "last", "name", "number", "options",
        "previous", "ready", "source", "total", "which",
    )  # fmt: skip

    def __init__(self, ctx: CommandContext, name: str, which: int, options: _Options) -> None:
        try:
            self.source = line_blocks(ctx.budget, ctx.open_input(name))
        except IsADirectoryError as error:
            self.source = _unreadable(error)
        except OSError as error:
            raise CommandError(describe_os_error(error, shown_name(name))) from None
        self.ctx = ctx
        self.name = name
        self.which = which
        self.options = options
        self.ready: Iterator[_Line] = iter(())
        """Lines that have been read; their order is to be checked if `checked` is set."""
        self.checked = self.complained = False
        self.number = self.total = 0
        self.previous: bytes | None = None
        self.last: bytes | None = None
        self.before_message: Callable[[], None] = lambda: None
        """Flush the output before a message."""

    def read(self, seen_unpairable: bool) -> _Line | None:
        """Return the next line, None at the end."""
        for line in self.ready:
            if self.checked:
                self._check(line, seen_unpairable)
            return line
        block = next(self.source, None)
        if block is None:
            return None
        self._make_ready(block)
        return self.read(seen_unpairable)

    def _make_ready(self, block: bytes) -> None:
        """Split the lines of a block; if their keys are in order they need not be checked."""
        options = self.options
        texts = split_lines(block)
        self.ctx.budget.step(len(texts) // 4 + 1)
        fields = self._fields_of(texts, block)
        at = options.fields[self.which]
        keys = [line[at] if len(line) > at else b"" for line in fields]
        if options.fold:
            keys = list(map(bytes.upper, keys))
        self.number = self.total
        self.total += len(texts)
        self.previous = self.last
        self.last = keys[-1]
        ordered = all(map(le, keys, islice(keys, 1, None))) and (self.previous or b"") <= keys[0]
        self.checked = not ordered and not self.complained
        self.ready = zip(keys, texts, fields, strict=True)

    def _fields_of(self, texts: list[bytes], block: bytes) -> list[list[bytes]]:
        tab = self.options.tab
        if tab is None:
            return _split_lines_at_blanks(texts, block)
        if not tab:
            return [[text] for text in texts]
        return [text.split(tab) if text else [] for text in texts]

    def _check(self, line: _Line, seen_unpairable: bool) -> None:
        self.number += 1
        key, text, _ = line
        previous, self.previous = self.previous, key
        if previous is None or self.complained or not seen_unpairable or previous <= key:
            return
        self.complained = True
        self.before_message()
        message = (
            encode(f"{self.ctx.name}: {self.name}:{self.number}: is not sorted: ")
            + text.partition(b"\0")[0]
            + b"\n"
        )
        self.ctx.stderr.write(message)


class _Joiner:
    """The merge of both files."""

    __slots__ = ("counts", "ctx", "inputs", "options", "parts", "seen")

    def __init__(
        self, ctx: CommandContext, inputs: tuple[_Input, _Input], options: _Options
    ) -> None:
        self.ctx = ctx
        self.inputs = inputs
        self.options = options
        self.parts: list[bytes] = []
        self.counts = (0, 0)
        self.seen = False
        for source in inputs:
            source.before_message = self.flush

    def _fields(self, line: _Line | None, which: int) -> list[bytes]:
        """Return all fields but the one joined on."""
        found = line[2] if line is not None else []
        skipped = self.options.fields[which]
        if self.options.auto:
            count = self.counts[which]
            found = found[:count] + [b""] * (count - len(found))
        rest = found[:skipped] + found[skipped + 1 :] if skipped else found[1:]
        empty = self.options.empty
        return [field or empty for field in rest] if empty else rest

    def print(self, first: _Line | None, second: _Line | None) -> None:
        """Print one line."""
        options = self.options
        joined, which = (first, 0) if first is not None else (second, 1)
        assert joined is not None
        at = options.fields[which]
        key = (joined[2][at] if at < len(joined[2]) else b"") or options.empty
        if options.columns:
            fields = (first[2] if first else [], second[2] if second else [])
            cells = self._columns(key, *fields)
        else:
            cells = [key, *self._fields(first, 0), *self._fields(second, 1)]
        self.parts.append(options.separator.join(cells))
        if len(self.parts) > _AT_ONCE:
            self.flush()

    def _columns(self, key: bytes, first: list[bytes], second: list[bytes]) -> list[bytes]:
        empty = self.options.empty
        found = []
        for file, field in self.options.columns:
            fields = second if file == 2 else first
            found.append(
                key if not file else ((fields[field] if field < len(fields) else b"") or empty)
            )
        return found

    def _print_pairs(self, firsts: list[_Line], seconds: list[_Line]) -> None:
        """Print all pairs of lines with the same key."""
        options = self.options
        separator = options.separator
        if options.columns:
            for line in firsts:
                self.ctx.budget.step(len(seconds))
                for other in seconds:
                    self.print(line, other)
            return
        at = options.fields[0]
        tails = [
            b"".join([separator + field for field in self._fields(line, 1)]) for line in seconds
        ]
        for line in firsts:
            self.ctx.budget.step(len(tails))
            key = (line[2][at] if at < len(line[2]) else b"") or options.empty
            head = separator.join([key, *self._fields(line, 0)])
            for start in range(0, len(tails), _AT_ONCE):
                self.parts += [head + tail for tail in tails[start : start + _AT_ONCE]]
                if len(self.parts) > _AT_ONCE:
                    self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self.parts:
            self.parts.append(b"")
            self.ctx.stdout.write(b"\n".join(self.parts))
            self.parts.clear()

    def run(self) -> None:
        """Join the files."""
        one, two = self.inputs
        first, second = one.read(self.seen), two.read(self.seen)
        self.counts = (len(first[2]) if first else 0, len(second[2]) if second else 0)
        while first is not None and second is not None:
            if first[0] < second[0]:
                first = self._unpaired(first, 0)
            elif first[0] > second[0]:
                second = self._unpaired(second, 1)
            else:
                first, second = self._pair(first, second)
        if second is not None or first is not None:
            self._tail(first, 0, second)
            self._tail(second, 1, first)

    def _unpaired(self, line: _Line, which: int) -> _Line | None:
        self._print_unpaired(line, which)
        following = self._read(which)
        self.seen = True  # from now on order matters, but not yet for the line just read
        return following

    def _read(self, which: int) -> _Line | None:
        return self.inputs[which].read(self.seen)

    def _print_unpaired(self, line: _Line, which: int) -> None:
        if which + 1 in self.options.unpaired:
            self.print(line, None) if which == 0 else self.print(None, line)

    def _pair(self, first: _Line, second: _Line) -> tuple[_Line | None, _Line | None]:
        """Print all pairs of lines with this key; return the lines after them."""
        one, two = self.inputs
        group = [second]
        size = len(second[1])
        key = first[0]
        firsts = [first]
        while (following := one.read(self.seen)) is not None and following[0] == key:
            firsts.append(following)
            size += len(following[1]) + 64
            self.ctx.budget.charge(size)
        while (after := two.read(self.seen)) is not None and after[0] == key:
            group.append(after)
            size += len(after[1]) + 64
            self.ctx.budget.charge(size)
        if self.options.pairs:
            self._print_pairs(firsts, group)
        return following, after

    def _tail(self, line: _Line | None, which: int, other: _Line | None) -> None:
        """Print the rest of one file when the other has ended, and check its order."""
        source = self.inputs[which]
        wanted = which + 1 in self.options.unpaired
        if line is None:
            return
        self._print_unpaired(line, which)
        if other is not None:
            self.seen = True
        while (line := source.read(self.seen)) is not None:
            self._print_unpaired(line, which)
            if source.complained and not wanted:
                return


def _parts_of(ctx: CommandContext, source: File, tab: bytes | None) -> _Parts | None:
    """Return the lines and first fields of a file; None if unsorted or with runs of blanks."""
    data = source.read()
    if data and not data.endswith(b"\n"):
        data += b"\n"
    if tab is None and (
        any(byte in data for byte in _BLANK_BYTES)
        or any(pair in data for pair in _BLANK_PAIRS)
        or data.startswith(b" ")
    ):
        return None
    found = split_all(ctx.budget, data)
    keys: list[bytes] = []
    for start in range(0, len(found), _PIECE):
        part = found[start : start + _PIECE]
        before = len(keys)
        keys += map(itemgetter(0), map(bytes.partition, part, repeat(tab or b" ")))
        if not all(
            map(le, islice(keys, max(before - 1, 0), None), islice(keys, max(before, 1), None))
        ):
            return None
        ctx.budget.breathe()
    return found, keys


def _rests_of(ctx: CommandContext, parts: _Parts) -> dict[bytes, list[bytes]] | None:
    """Return the rests of the lines after each key; None for too many to pair at once."""
    rests: dict[bytes, list[bytes]] = {}
    found, keys = parts
    for start in range(0, len(found), _PIECE):
        part = slice(start, start + _PIECE)
        for line, key in zip(found[part], keys[part], strict=True):
            if key in rests:
                rests[key].append(line[len(key) :])
            else:
                rests[key] = [line[len(key) :]]
        ctx.budget.step(_PIECE // 8)
        ctx.budget.breathe()
    most = max(map(len, rests.values()), default=0)
    if most > 1 and (most > _MOST_ALIKE or most * max(map(len, found)) > _PIECE):
        return None
    return rests


def _join_whole(ctx: CommandContext, names: Sequence[str], options: _Options) -> bool:
    """Join two small sorted files on their first fields; False if options or data forbid it.

    It takes a third of the time of `_Joiner`.
    """
    special = options.auto or options.columns or options.empty or options.fold
    if special or 2 in options.unpaired or options.fields != [0, 0] or options.tab == b"":
        return False
    sources = []
    for name in names:
        try:
            source = None if name == "-" else ctx.open_input(name)
        except OSError:
            return False
        if not isinstance(source, File) or not source.stat().is_file or source.stat().size > _SMALL:
            return False
        sources.append(source)
    ctx.budget.step(sum(source.stat().size for source in sources) // 256 + 1)
    first, second = [_parts_of(ctx, source, options.tab) for source in sources]
    if first is None or second is None:
        return False
    rests = _rests_of(ctx, second)
    if rests is None or (
        max(map(len, second[0]), default=0) > _PIECE
        and not all(map(lt, first[1], islice(first[1], 1, None)))
    ):
        return False
    ctx.budget.breathe()
    found, keys = first
    for start in range(0, len(found), _PIECE):
        part = slice(start, start + _PIECE)
        joined = _joined(found[part], keys[part], rests, options)
        ctx.budget.step(_PIECE // 8)
        ctx.budget.breathe()
        if joined:
            joined.append(b"")
            ctx.stdout.write(b"\n".join(joined))
    return True


def _joined(
    found: list[bytes], keys: list[bytes], rests: dict[bytes, list[bytes]], options: _Options
) -> list[bytes]:
    """Return the joined lines; `rests` holds the rests of the lines of file 2 by key."""
    pairs = zip(found, keys, strict=True)
    if not options.unpaired:
        return [line + rest for line, key in pairs if key in rests for rest in rests[key]]
    if options.pairs:
        alone = [b""]
        return [line + rest for line, key in pairs for rest in rests.get(key, alone)]
    return [line for line, key in pairs if key not in rests]


@command(
    "join",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            ignore-case check-order nocheck-order zero-terminated header help version
        """,
        read_error=("NAME: read error: REASON", 1),
    ),
    values={
        "1": _field_number,
        "2": _field_number,
        "j": _field_number,
        "a": _file_number,
        "v": _file_number,
        "t": _tab,
        "o": _columns,
    },
    usage="""
    Usage: join [OPTION]... FILE1 FILE2
    For each pair of lines with the same join field, write one line.

    The join field is the first, fields are separated by blanks. When FILE1 or FILE2 (not both) is
    -, read standard input. The files must be sorted on the join fields.

      -a FILENUM             also print unpairable lines from file FILENUM (1 or 2)
      -e STRING              put STRING for missing input fields
      -i, --ignore-case      compare fields without regard to case
      -j FIELD               as -1 FIELD -2 FIELD
      -o FORMAT              print these fields: FILENUM.FIELD or 0, separated by commas or
                               blanks, or 'auto'
      -t CHAR                fields are separated by CHAR, in the output too
      -v FILENUM             as -a FILENUM, but leave out joined lines
      -1 FIELD               join on this FIELD of file 1
      -2 FIELD               join on this FIELD of file 2
          --help             display this help and exit
    """,
)
def join(ctx: CommandContext, args: Arguments) -> int:
    options = _Options(args)
    words = args.operands
    if len(words) < 2:
        raise UsageError(
            f"missing operand after {quote(ctx.words[-1])}" if words else "missing operand"
        )
    if len(words) > 2:
        raise UsageError(f"extra operand {quote_always(words[2])}")
    if words == ["-", "-"]:
        raise CommandError("both files cannot be standard input: No such file or directory")
    if _join_whole(ctx, words, options):
        return 0
    inputs = (_Input(ctx, words[0], 0, options), _Input(ctx, words[1], 1, options))
    joiner = _Joiner(ctx, inputs, options)
    try:
        joiner.run()
    finally:
        joiner.flush()
    if inputs[0].complained or inputs[1].complained:
        raise CommandError("input is not in sorted order")
    return ctx.status
