"""`sort` (POSIX 1003.1-2017, GNU coreutils): sort, merge and check lines."""

from __future__ import annotations

import errno
import os
import re
from bisect import bisect_left, bisect_right
from itertools import chain, compress, islice
from operator import lt, ne

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._choices import choose
from agentsandbox.commands._files0 import listed_operands
from agentsandbox.commands._lines import is_regular, line_blocks, shown_name, split_lines
from agentsandbox.commands._quoting import quote, quote_always
from agentsandbox.commands._sort_keys import SortKey, parse_key
from agentsandbox.commands._sort_runs import KeySorter, LineSorter, run_size, sort_by
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import Manners
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from agentsandbox.streams import ByteReader, ByteWriter

_LONG_ORDERINGS = {
    "ignore-leading-blanks": "b",
    "dictionary-order": "d",
    "ignore-case": "f",
    "general-numeric-sort": "g",
    "human-numeric-sort": "h",
    "ignore-nonprinting": "i",
    "month-sort": "M",
    "numeric-sort": "n",
    "random-sort": "R",
    "reverse": "r",
    "version-sort": "V",
}
_SORT_WORDS = {"general-numeric": "g", "human-numeric": "h", "month": "M", "numeric": "n", "random": "R", "version": "V"}
_UNITS = frozenset("kKmMgGtTPEZY")
_BUFFER_SIZE = re.compile(r"[ \t\n\v\f\r]*\+?([0-9]+)(?:([%bkKmMgGtTPEZY]?)\Z)?")
_OBSOLETE = re.compile(r"\+([0-9]+)(?:\.([0-9]+))?([bdfghiMnRrV]*)\Z")
_OBSOLETE_END = re.compile(r"-([0-9]+)(?:\.([0-9]+))?([bdfghiMnRrV]*)\Z")
_SALT = 16
_WRITE_LINES = 1 << 13
_MERGE_BLOCK = 1 << 14
_MERGE_LINES = 1 << 9
_INPUT_SHARE = 6
"""So many values of the largest size may the input take that comes through pipes."""


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """`+1 -2` is `-k2,2`."""
    if not any(word.startswith("+") for word in words):
        return words
    rewritten: list[str] = []
    words = list(words)
    while words:
        word = words.pop(0)
        found = _OBSOLETE.match(word)
        if word == "--" or (rewritten and rewritten[-1] in ("-k", "-o", "-t", "-S", "-T")):
            rewritten += [word, *words] if word == "--" else [word]
            if word == "--":
                break
        elif found is None:
            rewritten.append(word)
        else:
            key = f"{int(found[1][:9]) + 1}.{int((found[2] or '0')[:9]) + 1}{found[3]}"
            end = _OBSOLETE_END.match(words[0]) if words else None
            if end is not None:
                words.pop(0)
                offset = int((end[2] or "0")[:9])
                key += f",{int(end[1][:9]) + (1 if offset else 0)}{f'.{offset}' if offset else ''}{end[3]}"
            rewritten += ["-k", key]
    return rewritten


class _Order:
    """How two lines compare: the keys, and whether the lines themselves decide in the end."""

    __slots__ = ("general", "keys", "random", "random_source", "reverse", "stable", "tab", "terminator", "unique")

    def __init__(self, args: Arguments) -> None:
        self.general = general = SortKey()
        """The options outside of the keys."""
        self.keys: list[SortKey] = []
        self.terminator = b"\0" if args.flag("zero-terminated") else b"\n"
        self.unique = args.flag("unique")
        self.stable = args.flag("stable") or self.unique
        for name, value in args.given:
            if name in _LONG_ORDERINGS:
                general.set_letter(_LONG_ORDERINGS[name], start=True, end=True)
            elif name == "sort":
                general.set_letter(_sort_word(value or ""), start=True, end=True)
            elif name == "key":
                self.keys.append(parse_key(value or ""))
        self.tab = _tab(args.values("field-separator"))
        for key in self.keys:
            if key.is_default() and not key.reverse:
                key.inherit(general)
        if not self.keys and not general.is_default():
            self.keys.append(general)
        self.reverse = general.reverse
        for key in self.keys:
            key.check()
        self.random = any("R" in key.flags for key in self.keys)
        sources = args.values("random-source")
        if len(set(sources)) > 1:
            raise CommandError("multiple random sources specified", 2)
        self.random_source = sources[0] if sources else None

    def values(self, ctx: CommandContext) -> Callable[[Sequence[bytes]], list[Any]]:
        """A function from lines to what they compare by, before the lines themselves."""
        salt = _salt(ctx, self.random_source) if self.random else b""
        end = b"" if ctx.is_bytewise("LC_COLLATE") else b"\0"
        columns = [key.column(self.tab, (salt, end), invert=key.reverse != self.reverse, terminator=self.terminator) for key in self.keys]
        if len(columns) == 1:
            return columns[0]
        return lambda found: list(zip(*[column(found) for column in columns], strict=True))

    def pair_values(self, ctx: CommandContext) -> Callable[[Sequence[bytes]], list[Any]]:
        """As `values`, the line itself included where it decides."""
        if not self.keys:
            return list
        values = self.values(ctx)
        if self.stable:
            return values
        return lambda found: list(zip(values(found), found, strict=True))


def _salt(ctx: CommandContext, name: str | None) -> bytes:
    """The chance of `-R`: bytes that are the same for all lines."""
    if name is None:
        return ctx.host.random.randbytes(16)
    try:
        source = ctx.fs.open(ctx.path(name), "r")
    except IsADirectoryError as error:
        raise CommandError(f"{quote(name)}: read error: {error.strerror}", 2) from None
    except OSError as error:
        raise CommandError(f"open failed: {shown_name(name)}: {error.strerror}", 2) from None
    salt = b""
    try:
        while len(salt) < _SALT and (more := source.read(_SALT - len(salt))):
            salt += more
    except OSError as error:
        raise CommandError(f"{quote(name)}: read error: {error.strerror}", 2) from None
    if len(salt) < _SALT:
        raise CommandError(f"{quote(name)}: end of file", 2)
    return salt


def _sort_word(value: str) -> str:
    return _SORT_WORDS[_choose(value, "--sort", [(word,) for word in _SORT_WORDS])]


def _choose(value: str, option: str, choices: Sequence[Sequence[str]]) -> str:
    try:
        return choose(value, option, choices)
    except UsageError as error:
        raise UsageError(error.message, 1) from None


def _tab(given: list[str]) -> bytes | None:
    tab: bytes | None = None
    for text in given:
        if not text:
            raise CommandError("empty tab", 2)
        new = b"\0" if text == "\\0" else encode(text)
        if len(new) > 1:
            raise CommandError(f"multi-character tab {quote(text)}", 2)
        if tab not in (None, new):
            raise CommandError("incompatible tabs", 2)
        tab = new
    return tab


def _check_resources(ctx: CommandContext, args: Arguments) -> None:
    """`-S` asks nothing of a sort in memory, but must be well formed."""
    for size in args.values("buffer-size"):
        found = _BUFFER_SIZE.match(f"1{size}" if size[:1] in _UNITS else size)
        option = "--buffer-size" if any(word.startswith("--b") for word in ctx.words) else "-S"
        if found is None:
            raise CommandError(f"invalid {option} argument '{size}'", 2)
        if found[2] is None:
            raise CommandError(f"invalid suffix in {option} argument '{size}'", 2)
        if len(found[1].lstrip("0")) > 19:
            raise CommandError(f"{option} argument '{size}' too large", 2)


def _check_batch_size(count: str) -> None:
    if not count.isdecimal() or not count.isascii():
        wrong = "invalid suffix in" if "0" <= count[:1] <= "9" else "invalid"
        raise CommandError(f"{wrong} --batch-size argument '{count}'", 2)
    if len(count) < 4 and int(count) < 2:
        least = f"minimum --batch-size argument is {quote('2')}"
        raise CommandError(f"invalid --batch-size argument {quote(count)}\nsort: {least}", 2)


def _check_parallel(count: str) -> None:
    if not count.isdecimal() or not count.isascii():
        raise CommandError(f"invalid --parallel argument '{count}'", 2)
    if not count.strip("0"):
        raise CommandError("number in parallel must be nonzero", 2)


def _open(ctx: CommandContext, name: str, problem: str = "cannot read") -> ByteReader:
    try:
        return ctx.open_input(name)
    except IsADirectoryError as error:
        raise CommandError(f"read failed: {shown_name(name)}: {error.strerror}", 2) from None
    except OSError as error:
        raise CommandError(f"{problem}: {shown_name(name)}: {error.strerror}", 2) from None


def _sorter(ctx: CommandContext, order: _Order) -> KeySorter | LineSorter:
    """Without keys lines are text of one character a byte, which Python compares quicker than bytes."""
    size = run_size(ctx)
    if not order.keys:
        return LineSorter(ctx.budget, size, str(order.terminator, "latin-1"), reverse=order.reverse, unique=order.unique)
    values = order.values(ctx)
    return KeySorter(ctx.budget, size, order.terminator, values, reverse=order.reverse, unique=order.unique, stable=order.stable)


def _sorted_pieces(ctx: CommandContext, sources: Sequence[ByteReader], order: _Order) -> Iterator[list[Any]]:
    """All lines of all files, which are read at once, in the wanted order."""
    sorter = _sorter(ctx, order)
    end = str(order.terminator, "latin-1")
    waiting = 0
    for source in sources:
        for block in line_blocks(ctx.budget, source, order.terminator):
            if not is_regular(source):
                waiting += len(block)
                ctx.budget.charge(waiting // _INPUT_SHARE)
            found: list[Any] = block.split(order.terminator) if order.keys else str(block, "latin-1").split(end)
            if not found[-1]:
                found.pop()
            ctx.budget.step(len(found) // 16 + 1)
            ctx.budget.breathe()
            sorter.add(found)
    return sorter.pieces()


def _write_lines(ctx: CommandContext, out: ByteWriter, found: list[Any], terminator: bytes) -> None:
    end = str(terminator, "latin-1")
    for start in range(0, len(found), _WRITE_LINES):
        part = found[start : start + _WRITE_LINES]
        ctx.budget.step(len(part) // 16 + 1)
        ctx.budget.breathe()
        if isinstance(part[0], str):
            part.append("")
            out.write(end.join(part).encode("latin-1"))
        else:
            part.append(b"")
            out.write(terminator.join(part))


class _MergeInput:
    """What is read of a file that is merged: lines, and what they compare by; those before `start` are taken."""

    __slots__ = ("_blocks", "is_sorted", "keys", "lines", "start")

    def __init__(self, blocks: Iterator[tuple[list[Any], list[bytes]]]) -> None:
        self._blocks = blocks
        self.keys: list[Any] = []
        self.lines: list[bytes] = []
        self.start = 0
        self.is_sorted = True

    def fill(self) -> bool:
        """Read on where nothing is left; false at the end."""
        if self.start == len(self.lines):
            self.keys, self.lines = next(self._blocks, ([], []))
            self.start = 0
            self.is_sorted = True not in map(lt, islice(self.keys, 1, None), self.keys)
        return bool(self.lines)

    def take(self, end: int) -> tuple[list[Any], list[bytes]]:
        """The next lines, up to a place."""
        start, self.start = self.start, end
        return self.keys[start:end], self.lines[start:end]

    def pairs(self) -> Iterator[tuple[Any, bytes]]:
        """All lines that are left, one by one."""
        while self.fill():
            yield from zip(*self.take(len(self.lines)), strict=True)


def _merge(ctx: CommandContext, sources: Sequence[ByteReader], order: _Order) -> Iterator[list[bytes]]:
    """`-m`: the files are sorted already."""
    values = order.pair_values(ctx)

    def read(source: ByteReader) -> Iterator[tuple[list[Any], list[bytes]]]:
        for block in line_blocks(ctx.budget, source, order.terminator, _MERGE_BLOCK):
            found = split_lines(block, order.terminator)
            yield values(found), found

    inputs = [_MergeInput(read(source)) for source in sources]
    last: list[Any] = []
    for keys, lines in _merged_pieces(ctx, inputs, reverse=order.reverse):
        ctx.budget.step(len(lines) // 16 + 1)
        ctx.budget.breathe()
        if order.unique:
            differs = map(ne, islice(keys, 1, None), keys)
            lines = list(compress(lines, chain([not last or last[0] != keys[0]], differs)))
            last = keys[-1:]
        if lines:
            yield lines


def _merged_pieces(ctx: CommandContext, inputs: list[_MergeInput], *, reverse: bool) -> Iterator[tuple[list[Any], list[bytes]]]:
    """What was read of all files up to where the first of them must be read on; line by line where a file is not in order."""
    while active := [one for one in inputs if one.fill()]:
        if reverse or not all(one.is_sorted for one in active):
            yield from _merged_lines(ctx, active, reverse=reverse)
            return
        first = min(range(len(active)), key=lambda at: active[at].keys[-1])
        bound = active[first].keys[-1]
        keys: list[Any] = []
        lines: list[bytes] = []
        for at, one in enumerate(active):  # of equal lines those of the first file come first, and more may follow there
            ctx.budget.step()
            part = one.take((bisect_right if at <= first else bisect_left)(one.keys, bound, one.start))
            keys += part[0]
            lines += part[1]
        yield sort_by(keys, lines)


def _merged_lines(ctx: CommandContext, inputs: list[_MergeInput], *, reverse: bool) -> Iterator[tuple[list[Any], list[bytes]]]:
    from heapq import merge

    merged = merge(*[one.pairs() for one in inputs], key=lambda pair: pair[0], reverse=reverse)
    while part := list(islice(merged, _MERGE_LINES)):
        keys, lines = zip(*part, strict=True)
        yield list(keys), list(lines)


def _check(ctx: CommandContext, name: str, order: _Order, *, quiet: bool) -> int:
    """`-c` and `-C`: whether the lines are in order; the first that is not is shown."""
    values = order.pair_values(ctx)
    line_number = 0
    last: list[Any] = []
    for block in line_blocks(ctx.budget, _open(ctx, name, "open failed"), order.terminator):
        found = split_lines(block, order.terminator)
        ctx.budget.step(len(found) // 16 + 1)
        keys = last + values(found)
        pair = (keys, keys[1:]) if order.reverse != order.unique else (keys[1:], keys)
        marks = list(map(lt, *pair))  # of -u those in order, else those out of it
        if (mark := not order.unique) in marks:
            if not quiet:
                at = marks.index(mark) + 1 - len(last)
                shown = encode(f"{ctx.name}: {name}:{line_number + at + 1}: disorder: ") + found[at]
                ctx.stderr.write(shown + b"\n")
            return 1
        line_number += len(found)
        last = keys[-1:]
    return 0


def _output(ctx: CommandContext, name: str) -> ByteWriter:
    try:
        return ctx.fs.open(ctx.path(name), "w", permissions=0o666 & ~ctx.umask)
    except OSError as error:
        raise CommandError(f"open failed: {shown_name(name)}: {error.strerror}", 2) from None


def _check_output(ctx: CommandContext, name: str) -> None:
    """Refuse an output that cannot be written before anything is read; a new one is made."""
    try:
        ctx.fs.open(ctx.path(name), "a", permissions=0o666 & ~ctx.umask).release()
    except OSError as error:
        raise CommandError(f"open failed: {shown_name(name)}: {error.strerror}", 2) from None


def _check_word(text: str) -> str:
    return _choose(text, "--check", [("quiet", "silent"), ("diagnose-first",)])


def _check_mode(args: Arguments) -> str | None:
    """ "c", "C" or None for a sort."""
    modes = []
    for name, value in args.given:
        if name in ("c", "C"):
            modes.append(name)
        elif name == "check":
            value = value and _check_word(value)
            modes.append("c" if value in (None, "diagnose-first") else "C")
    if "c" in modes and "C" in modes:
        raise CommandError("options '-cC' are incompatible", 2)
    if modes and args.flag("output"):
        raise CommandError(f"options '-{modes[0]}o' are incompatible", 2)
    return modes[0] if modes else None


def _start_debugging(ctx: CommandContext, args: Arguments, order: _Order, mode: str | None) -> Callable[[Any], bytes] | None:
    """With --debug: say what is doubtful, and return how a line is shown."""
    if not args.flag("debug"):
        return None
    if mode is not None or args.flag("output"):
        raise CommandError(f"options '-{mode or 'o'} --debug' are incompatible", 2)
    from agentsandbox.commands._sort_debug import annotated, key_warnings

    last_resort = not order.stable
    rules = "simple byte comparison" if ctx.is_bytewise("LC_COLLATE") else f"{quote('C.UTF-8')} sorting rules"
    ctx.warn(f"text ordering performed using {rules}", ctx.status)
    only_general = order.keys == [order.general]
    for message in key_warnings(order.keys, order.general, order.tab, only_general=only_general, last_resort=last_resort):
        ctx.warn(message, ctx.status)
    annotate = annotated(order.keys, order.tab, last_resort=last_resort, bytewise=ctx.is_bytewise())
    return lambda line: annotate(line.encode("latin-1") if isinstance(line, str) else line)


@command(
    "sort",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            ignore-leading-blanks check compress-program debug dictionary-order
            ignore-case files0-from general-numeric-sort ignore-nonprinting key merge
            month-sort numeric-sort human-numeric-sort version-sort random-sort
            random-source sort output reverse stable batch-size buffer-size
            field-separator temporary-directory unique zero-terminated parallel help
            version
        """,
        read_error=("NAME: read failed: -: REASON", 2),
        write_error=("NAME: fflush failed: 'standard output': REASON\nsort: write error", 2),
    ),
    values={
        "key": parse_key,
        "field-separator": lambda text: _tab([text]),
        "sort": _sort_word,
        "check": _check_word,
        "batch-size": _check_batch_size,
        "parallel": _check_parallel,
    },
    usage_status=2,
    rewrite=_rewrite,
    usage="""
    Usage: sort [OPTION]... [FILE]...
      or:  sort [OPTION]... --files0-from=F
    Write the lines of all FILEs in order to standard output.

    With no FILE, or when FILE is -, read standard input. Lines are compared byte by byte.

    Ordering options:
      -b, --ignore-leading-blanks  ignore blanks before keys
      -d, --dictionary-order       consider only blanks, letters and digits
      -f, --ignore-case            compare lower case as upper case
      -g, --general-numeric-sort   compare as floating point numbers
      -i, --ignore-nonprinting     consider only printable characters
      -M, --month-sort             compare (unknown) < 'JAN' < ... < 'DEC'
      -h, --human-numeric-sort     compare numbers with units (2K 1G)
      -n, --numeric-sort           compare by number
      -R, --random-sort            shuffle, but keep equal keys together
      -r, --reverse                reverse the result of comparisons
          --sort=WORD              general-numeric -g, human-numeric -h, month -M, numeric -n, random -R, version -V
      -V, --version-sort           compare version numbers in the text

    Other options:
      -c                           check whether the input is sorted
      -C                           like -c, but do not show the first line out of order
          --check[=WHEN]           diagnose-first (-c) or quiet (-C)
          --batch-size=NMERGE      files to merge at a time (nothing depends on it here)
          --debug                  mark what is compared, and warn of doubtful options
          --compress-program=PROG  for temporary files (none are used here)
          --files0-from=F          take the names of the files from F, each ended by NUL
      -k, --key=KEYDEF             sort by a key: F[.C][OPTS][,F[.C][OPTS]], counted from 1
      -m, --merge                  merge files that are sorted already
      -o, --output=FILE            write to FILE, which may be one of the input files
      -s, --stable                 keep the order of lines with equal keys
      -S, --buffer-size=SIZE       memory to use (nothing depends on it here)
      -t, --field-separator=SEP    SEP separates fields, not the change from non-blank to blank
      -T, --temporary-directory=D  for temporary files (none are used here)
          --random-source=FILE     take the chance of -R from the bytes of FILE
          --parallel=N             sorts to run at a time (nothing depends on it here)
      -u, --unique                 print only the first of lines with equal keys
      -z, --zero-terminated        lines end with NUL, not newline
          --help                   display this help and exit
    """,
)
def sort(ctx: CommandContext, args: Arguments) -> int:
    order = _Order(args)
    _check_resources(ctx, args)
    outputs = set(args.values("output"))
    if len(outputs) > 1:
        raise CommandError("multiple output files specified", 2)
    mode = _check_mode(args)
    annotate = _start_debugging(ctx, args, order, mode)
    listed = listed_operands(ctx, args, status=2)
    if listed is not None and not listed:
        raise CommandError(f"no input from {quote_always(args.value('files0-from') or '')}", 2)
    names = listed if listed is not None else (args.operands or ["-"])
    if mode is not None:
        if len(names) > 1:
            raise CommandError(f"extra operand {quote_always(names[1])} not allowed with -{mode}", 2)
        return _check(ctx, names[0], order, quiet=mode == "C")
    for name in names:
        if name != "-" and name and not ctx.fs.exists(ctx.path(name)):
            _open(ctx, name)  # what is missing is told before anything is read
    for name in outputs:
        _check_output(ctx, name)
    sources = [_open(ctx, name) for name in names]
    if names[0] == "-" and sources[0].unreadable == errno.EBADF and not args.flag("merge"):
        raise CommandError(f"stat failed: -: {os.strerror(errno.EBADF)}", 2)
    pieces = _merge(ctx, sources, order) if args.flag("merge") else _sorted_pieces(ctx, sources, order)
    out: ByteWriter = ctx.stdout
    if outputs:
        if args.flag("merge"):
            pieces = iter(list(pieces))  # the output may be one of the files
        out = _output(ctx, outputs.pop())
    if annotate is not None:
        pieces = ([annotate(line) for line in piece] for piece in pieces)
    for piece in pieces:
        _write_lines(ctx, out, piece, order.terminator if annotate is None else b"\n")
    if out is not ctx.stdout:
        out.release()  # type: ignore[attr-defined]
    return 0
