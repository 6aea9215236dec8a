"""`sort` (POSIX 1003.1-2017, GNU coreutils): sort, merge and check lines."""

from __future__ import annotations

import errno
import os

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import is_regular, line_blocks, shown_name
from agentsandbox.commands.sort.runs import LineSorter, run_size
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Literal

    from agentsandbox.commands.sort.key_runs import KeySorter
    from agentsandbox.commands.sort.keys import SortKey
    from agentsandbox.kernel.fs.base import File
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

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
_WRITE_LINES = 1 << 13
_INPUT_SHARE = 6
"""The input from pipes may be as large as this number of largest values."""


class _Order:
    """The comparison of two lines: the keys, and whether equal keys leave it to the lines."""

    __slots__ = ("keys", "random", "reverse", "stable", "tab", "terminator", "unique")

    def __init__(self, args: Arguments) -> None:
        self.terminator = b"\0" if args.flag("zero-terminated") else b"\n"
        self.unique = args.flag("unique")
        self.stable = args.flag("stable") or self.unique
        letters = [_LONG_ORDERINGS[name] for name, _ in args.given if name in _LONG_ORDERINGS]
        definitions = args.values("key")
        self.tab = _tab(args.values("field-separator"))
        self.reverse = "r" in letters
        self.keys: list[SortKey] = []
        if definitions or set(letters) - {"r"}:
            from agentsandbox.commands.sort.keys import read_keys

            self.keys = read_keys(definitions, letters)
        self.random = any("R" in key.flags for key in self.keys)

    def values(self, ctx: CommandContext) -> Callable[[Sequence[bytes]], list[Any]]:
        """Return the function from lines to the values of their keys."""
        salt = ctx.host.random.randbytes(16) if self.random else b""
        end = b"" if ctx.is_bytewise("LC_COLLATE") else b"\0"
        columns = [
            key.column(self.tab, (salt, end), key.reverse != self.reverse, self.terminator)
            for key in self.keys
        ]
        if len(columns) == 1:
            return columns[0]
        return lambda found: list(zip(*[column(found) for column in columns], strict=True))

    def pair_values(self, ctx: CommandContext) -> Callable[[Sequence[bytes]], list[Any]]:
        """Return the same function with the line itself in the value, unless the sort is stable."""
        if not self.keys:
            return list
        values = self.values(ctx)
        if self.stable:
            return values
        return lambda found: list(zip(values(found), found, strict=True))


def _tab(given: list[str]) -> bytes | None:
    tab: bytes | None = None
    for text in given:
        if not text:
            raise CommandError("empty tab", 2)
        new = b"\0" if text == "\\0" else encode(text)
        if len(new) > 1:
            from agentsandbox.commands._text.quoting import quote

            raise CommandError(f"multi-character tab {quote(text)}", 2)
        if tab not in (None, new):
            raise CommandError("incompatible tabs", 2)
        tab = new
    return tab


def _parse_key(text: str) -> SortKey:
    from agentsandbox.commands.sort.keys import parse_key

    return parse_key(text)


_SIZE = lazily("[0-9]+[%bkKmMgGtTPEZY]?")


def _check_size(text: str) -> None:
    """Check the value of -S, which has no effect on a sort in memory."""
    if not _SIZE.fullmatch(text):
        raise CommandError(f"invalid -S argument '{text}'", 2)


def _open(ctx: CommandContext, name: str, problem: str = "cannot read") -> ByteReader:
    try:
        return ctx.open_input(name)
    except IsADirectoryError as error:
        raise CommandError(f"read failed: {shown_name(name)}: {error.strerror}", 2) from None
    except OSError as error:
        raise CommandError(f"{problem}: {shown_name(name)}: {error.strerror}", 2) from None


def _sorter(ctx: CommandContext, order: _Order) -> KeySorter | LineSorter:
    """Return the sorter. Without keys, lines are str of one character a byte, which is faster."""
    size = run_size(ctx)
    if not order.keys:
        return LineSorter(
            ctx.budget,
            size,
            str(order.terminator, "latin-1"),
            reverse=order.reverse,
            unique=order.unique,
        )
    from agentsandbox.commands.sort.key_runs import KeySorter

    values = order.values(ctx)
    return KeySorter(
        ctx.budget,
        size,
        order.terminator,
        values,
        reverse=order.reverse,
        unique=order.unique,
        stable=order.stable,
    )


def _sorted_pieces(
    ctx: CommandContext, sources: Sequence[ByteReader], order: _Order
) -> Iterator[list[Any]]:
    """Yield the sorted lines of all files."""
    sorter = _sorter(ctx, order)
    end = str(order.terminator, "latin-1")
    waiting = taken = 0
    for source in sources:
        for block in line_blocks(ctx.budget, source, order.terminator):
            if not is_regular(source):
                waiting += len(block)
                ctx.budget.charge(waiting // _INPUT_SHARE)
            found: list[Any] = (
                block.split(order.terminator) if order.keys else str(block, "latin-1").split(end)
            )
            if not found[-1]:
                found.pop()
            ctx.budget.step(len(found) // 16 + 1)
            ctx.budget.breathe()
            taken += len(block)
            if taken > LARGE:
                ctx.budget.hold_input(taken)
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


def _merge(
    ctx: CommandContext, sources: Sequence[ByteReader], order: _Order
) -> Iterator[list[bytes]]:
    """Yield the lines of sorted files in order (`-m`)."""
    from agentsandbox.commands.sort.sorted_inputs import merge_sources

    values, end = order.pair_values(ctx), order.terminator
    return merge_sources(ctx, sources, values, end, reverse=order.reverse, unique=order.unique)


def _check(ctx: CommandContext, name: str, order: _Order, *, quiet: bool) -> int:
    """Return 0 if the lines are in order (`-c`, `-C`), else 1 after showing the first disorder."""
    from agentsandbox.commands.sort.sorted_inputs import find_disorder

    values, source, end = order.pair_values(ctx), _open(ctx, name, "open failed"), order.terminator
    found = find_disorder(ctx, source, values, end, reverse=order.reverse, unique=order.unique)
    if found is None:
        return 0
    if not quiet:
        number, line = found
        shown = encode(f"{ctx.name}: {name}:{number}: disorder: ") + line
        ctx.stderr.write(shown + b"\n")
    return 1


def _output(ctx: CommandContext, name: str, mode: Literal["w", "a"]) -> File:
    try:
        return ctx.fs.open(ctx.path(name), mode, permissions=0o666 & ~ctx.umask)
    except OSError as error:
        raise CommandError(f"open failed: {shown_name(name)}: {error.strerror}", 2) from None


def _check_mode(args: Arguments) -> str | None:
    """Return "c", "C", or None for a sort."""
    names = [name for name, _ in args.given if name in ("c", "check", "C")]
    modes = ["c" if name == "check" else name for name in names]
    if "c" in modes and "C" in modes:
        raise CommandError("options '-cC' are incompatible", 2)
    if modes and args.flag("output"):
        raise CommandError(f"options '-{modes[0]}o' are incompatible", 2)
    return modes[0] if modes else None


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
        "key": _parse_key,
        "field-separator": lambda text: _tab([text]),
        "buffer-size": _check_size,
    },
    usage_status=2,
    usage="""
    Usage: sort [OPTION]... [FILE]...
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
      -V, --version-sort           compare version numbers in the text

    Other options:
      -c, --check                  check whether the input is sorted
      -C                           like -c, but do not show the first line out of order
      -k, --key=KEYDEF             sort by a key: F[.C][OPTS][,F[.C][OPTS]], counted from 1
      -m, --merge                  merge files that are sorted already
      -o, --output=FILE            write to FILE, which may be one of the input files
      -s, --stable                 keep the order of lines with equal keys
      -S, --buffer-size=SIZE       memory to use (changes nothing here)
      -t, --field-separator=SEP    SEP separates fields, not the change from non-blank to blank
      -T, --temporary-directory=D  for temporary files (none are used here)
      -u, --unique                 print only the first of lines with equal keys
      -z, --zero-terminated        lines end with NUL, not newline
          --help                   display this help and exit
    """,
)
def sort(ctx: CommandContext, args: Arguments) -> int:
    order = _Order(args)
    outputs = set(args.values("output"))
    if len(outputs) > 1:
        raise CommandError("multiple output files specified", 2)
    mode = _check_mode(args)
    names = args.operands or ["-"]
    if mode is not None:
        if len(names) > 1:
            from agentsandbox.commands._text.quoting import quote_always

            extra = f"extra operand {quote_always(names[1])} not allowed with -{mode}"
            raise CommandError(extra, 2)
        return _check(ctx, names[0], order, quiet=mode == "C")
    for name in names:
        if name != "-" and name and not ctx.fs.exists(ctx.path(name)):
            _open(ctx, name)  # report a missing file before reading the others
    for name in outputs:
        _output(ctx, name, "a").release()  # report what cannot be written before reading
    sources = [_open(ctx, name) for name in names]
    if names[0] == "-" and sources[0].unreadable == errno.EBADF and not args.flag("merge"):
        raise CommandError(f"stat failed: -: {os.strerror(errno.EBADF)}", 2)
    produce = _merge if args.flag("merge") else _sorted_pieces
    pieces = produce(ctx, sources, order)
    if outputs and args.flag("merge"):
        pieces = iter(list(pieces))  # the output may be one of the files
    file = _output(ctx, outputs.pop(), "w") if outputs else None
    for piece in pieces:
        _write_lines(ctx, file or ctx.stdout, piece, order.terminator)
    if file is not None:
        file.release()
    return 0
