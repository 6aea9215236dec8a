"""`cut` (POSIX 1003.1-2017, GNU coreutils): parts of lines. As in GNU's, characters are bytes."""

from __future__ import annotations

import re
from operator import itemgetter

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.cut_lists import parse_ranges
from agentsandbox.commands._text.lines import inputs, line_blocks, split_lines
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Ranges = list[tuple[int, int]]


def _bytes_kernel(ranges: Ranges, delimiter: bytes) -> Callable[[list[bytes]], list[bytes]]:
    if len(ranges) == 1:
        start, stop = ranges[0][0] - 1, ranges[0][1]
        return lambda lines: [line[start:stop] for line in lines]
    slices = [(low - 1, high) for low, high in ranges]
    if not delimiter:
        if len(slices) == 2:
            (low1, high1), (low2, high2) = slices
            return lambda lines: [line[low1:high1] + line[low2:high2] for line in lines]
        return lambda lines: [b"".join([line[low:high] for low, high in slices]) for line in lines]
    return lambda lines: [
        delimiter.join([line[low:high] for low, high in slices if low < len(line)])
        for line in lines
    ]


def _one_field(
    delimiter: bytes, number: int, only_delimited: bool
) -> Callable[[list[bytes]], list[bytes]]:
    if only_delimited:
        if number == 1:
            return lambda lines: [
                line.partition(delimiter)[0] for line in lines if delimiter in line
            ]
        at = number - 1

        def chosen(lines: list[bytes]) -> list[bytes]:
            parts = [line.split(delimiter, number) for line in lines if delimiter in line]
            return [part[at] if len(part) > at else b"" for part in parts]

        return chosen
    if number == 1:
        return lambda lines: [line.partition(delimiter)[0] for line in lines]

    def fields(lines: list[bytes]) -> list[bytes]:
        at = number - 1
        parts = [line.split(delimiter, number) for line in lines]
        return [
            part[at] if len(part) > at else (b"" if len(part) > 1 else part[0]) for part in parts
        ]

    return fields


def _joined_slices(ranges: Ranges) -> list[tuple[int, int]]:
    """Return the ranges as slices, adjacent ones joined."""
    slices: list[tuple[int, int]] = []
    for low, high in ranges:
        if slices and slices[-1][1] == low - 1:
            slices[-1] = (slices[-1][0], high)
        else:
            slices.append((low - 1, high))
    return slices


def _fields_kernel(
    ranges: Ranges, delimiter: bytes, output: bytes, only_delimited: bool
) -> Callable[[list[bytes]], list[bytes]]:
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1] and ranges[0][0] < 2**31:
        return _one_field(delimiter, ranges[0][0], only_delimited)
    slices = _joined_slices(ranges)
    last = ranges[-1][1] if ranges else 1
    whole_rest = last >= 2**31
    if len(slices) == 1 and not only_delimited:
        start, stop = slices[0]
        count = -1 if whole_rest else last

        def between(lines: list[bytes]) -> list[bytes]:
            found = [line.split(delimiter, count) for line in lines]
            return [
                output.join(parts[start:stop]) if len(parts) > 1 else parts[0] for parts in found
            ]

        return between

    def pick(line: bytes) -> bytes | None:
        parts = line.split(delimiter) if whole_rest else line.split(delimiter, last)
        if len(parts) == 1:
            return None if only_delimited else line
        chosen: list[bytes] = []
        for low, high in slices:
            chosen += parts[low:high]
        return output.join(chosen)

    if len(slices) > 1 and not whole_rest and all(low + 1 == high for low, high in slices):
        choose, join = itemgetter(*[low for low, _high in slices]), output.join

        def single(lines: list[bytes]) -> list[bytes]:
            found = [
                join(choose(parts))
                if len(parts := line.split(delimiter, last)) >= last
                else pick(line)
                for line in lines
            ]
            return [part for part in found if part is not None]

        return single
    return lambda lines: [part for part in map(pick, lines) if part is not None]


_FEW_FIELDS = 64
_LONG = 1 << 20
"""Bytes of a line whose fields are counted before they are all there at once."""


def _block_kernel(
    ranges: Ranges, delimiter: bytes, output: bytes, end: bytes, only_delimited: bool
) -> Callable[[bytes], bytes | None]:
    """A function from a block of whole lines to the chosen fields; None when a line has fewer
    fields than are asked for.

    A pattern takes at least one end of line for each line; where it found as many as there are, it
    crossed none. It fails nowhere, which would take time, when the last line has as many delimiters
    as it asks for.
    """
    slices = _joined_slices(ranges)
    last = ranges[-1][1] if ranges else 0
    rest = last >= 2**31
    least = slices[-1][0] + 1 if rest else last
    if (
        not 0 < least <= _FEW_FIELDS
        or (rest and least == 1)
        or (delimiter != output and any(high - low > 1 for low, high in slices))
    ):
        return lambda block: None
    separator, stop = b"\\x%02x" % delimiter[0], b"\\x%02x" % end[0]
    field = b"[^%b]*+" % separator
    pieces: list[bytes] = []
    at = 0
    for low, high in slices:
        pieces += [field + separator] * (low - at)
        at = low if high >= 2**31 else high
        pieces.append(
            b"([^%b]*+)" % stop
            if high >= 2**31
            else b"(%b)%b" % (separator.join([field] * (high - low)), separator)
        )
    tail = b"[^%b]*+%b" % (stop, stop)
    patterns = [(least - 1 if rest else last, re.compile(b"".join(pieces) + tail).findall)]
    if not rest and (last > 1 or not only_delimited):  # the last field may end its line
        pieces[-1] = pieces[-1].removesuffix(field + b")" + separator) + b"[^%b%b]*+)" % (
            separator,
            stop,
        )
        patterns.append((last - 1, re.compile(b"".join(pieces) + tail).findall))

    def cut_block(block: bytes) -> bytes | None:
        count = block.count(end)
        delimiters = block.count(delimiter, block.rfind(end, 0, -1) + 1)
        for needed, findall in patterns:
            if delimiters < needed:
                continue
            found = findall(block)
            if len(found) == count:
                return end.join(found if len(slices) == 1 else map(output.join, found)) + end
        return None

    return cut_block


def _cut_lines_as_fields(
    ctx: CommandContext,
    names: Sequence[str],
    ranges: Ranges,
    output: bytes,
    end: bytes,
    only_delimited: bool,
) -> int:
    """`-d` is the line terminator: the lines of a file are its fields."""
    for _name, source in inputs(ctx, names):
        found: list[bytes] = []
        size = 0
        for block in line_blocks(ctx.budget, source, end):
            size += len(block)
            ctx.budget.charge(size)
            found += split_lines(block, end)
        if not found or (only_delimited and len(found) == 1):
            continue
        chosen: list[bytes] = []
        for low, high in ranges:
            ctx.budget.step()
            chosen += found[low - 1 : high]
        ctx.stdout.write(output.join(chosen if len(found) > 1 else found) + end)
    return ctx.status


def _delimiter(args: Arguments) -> bytes:
    text = args.value("delimiter")
    if text is None:
        return b"\t"
    if not text:
        return b"\0"
    return _character(text)


def _character(text: str) -> bytes:
    found = encode(text)
    if len(found) > 1:
        raise UsageError("the delimiter must be a single character")
    return found


def _chosen_list(args: Arguments) -> tuple[str, str]:
    """Return ("bytes", "characters" or "fields", the list)."""
    lists = [
        (name, value or "")
        for name, value in args.given
        if name in ("bytes", "characters", "fields")
    ]
    if not lists:
        raise UsageError("you must specify a list of bytes, characters, or fields")
    if len(lists) > 1:
        raise UsageError("only one list may be specified")
    name, text = lists[0]
    if name != "fields":
        if args.flag("delimiter"):
            raise UsageError("an input delimiter may be specified only when operating on fields")
        if args.flag("only-delimited"):
            raise UsageError(
                "suppressing non-delimited lines makes sense\n\tonly when operating on fields"
            )
    return name, text


@command(
    "cut",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            bytes characters fields delimiter only-delimited output-delimiter complement
            zero-terminated help version
        """,
        closing_error="NAME: -: REASON",
    ),
    values={"delimiter": _character},
    usage="""
    Usage: cut OPTION... [FILE]...
    Print chosen parts of each line of each FILE.

    With no FILE, or when FILE is -, read standard input.

      -b, --bytes=LIST             choose these bytes
      -c, --characters=LIST        the same
      -d, --delimiter=DELIM        fields are separated by DELIM, not by TAB
      -f, --fields=LIST            choose these fields; lines without a delimiter are printed whole
                                   unless -s
      -n                           (ignored)
          --complement             choose everything else
      -s, --only-delimited         leave out lines without delimiters
          --output-delimiter=TEXT  write TEXT between the parts
      -z, --zero-terminated        lines end with NUL, not newline
          --help                   display this help and exit

    A LIST is ranges separated by commas: N, N-, N-M or -M, counted from 1. They are printed in the
    order of the input.
    """,
)
def cut(ctx: CommandContext, args: Arguments) -> int:
    delimiter = _delimiter(args)
    name, text = _chosen_list(args)
    ranges = parse_ranges(text, fields=name == "fields", complement=args.flag("complement"))
    given_output = args.value("output-delimiter")
    output = encode(given_output) if given_output is not None else None
    end = b"\0" if args.flag("zero-terminated") else b"\n"
    whole = None
    if name != "fields":
        kernel = _bytes_kernel(ranges, output or b"")
    else:
        between = delimiter if output is None else output
        if delimiter == end:
            return _cut_lines_as_fields(
                ctx, args.operands, ranges, between, end, args.flag("only-delimited")
            )
        kernel = _fields_kernel(ranges, delimiter, between, args.flag("only-delimited"))
        whole = _block_kernel(ranges, delimiter, between, end, args.flag("only-delimited"))
    for _name, source in inputs(ctx, args.operands):
        for block in line_blocks(ctx.budget, source, end, 1 << 16):
            if whole is not None and block.endswith(end):
                done = whole(block)
                if done is not None:
                    ctx.stdout.write(done)
                    continue
            if name == "fields" and len(block) > _LONG:
                ctx.budget.charge(16 * block.count(delimiter))
            parts = kernel(split_lines(block, end))
            if parts:
                parts.append(b"")
                ctx.stdout.write(end.join(parts))
    return ctx.status
