"""`split` (POSIX 1003.1-2017, GNU coreutils): a file in pieces."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import blocks, is_regular, read_all, shown_name
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.commands._text.sizes import parse_number, parse_size
from agentsandbox.commands.split.pieces import Names, Pieces
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.kernel.streams import ByteReader

_WAYS = ("lines", "bytes", "line-bytes", "number")
_SIZES = "bEGKkMmPTYZ0"


# kinds of pieces


def _by_lines(ctx: CommandContext, source: ByteReader, pieces: Pieces, count: int) -> None:
    left = 0
    for block in blocks(ctx.budget, source):
        start = 0
        while start < len(block):
            if not left:
                pieces.open_next()
                left = count
            here = block.count(b"\n", start)
            if here < left:
                pieces.write(block[start:])
                left -= here
                break
            cut = start
            for _ in range(left):
                cut = block.find(b"\n", cut) + 1
            ctx.budget.step()
            pieces.write(block[start:cut])
            start, left = cut, 0


def _by_bytes(ctx: CommandContext, source: ByteReader, pieces: Pieces, size: int) -> None:
    left = 0
    for block in blocks(ctx.budget, source):
        start = 0
        while start < len(block):
            ctx.budget.step()
            if not left:
                pieces.open_next()
                left = size
            part = block[start : start + left]
            pieces.write(part)
            start += len(part)
            left -= len(part)


def _by_line_bytes(ctx: CommandContext, source: ByteReader, pieces: Pieces, size: int) -> None:
    """Write as many whole lines as fit in each piece; a line that is too long is cut."""
    data = read_all(ctx.budget, source)
    start = 0
    while start < len(data):
        ctx.budget.step()
        stop = start + size
        if stop < len(data):
            cut = data.rfind(b"\n", start, stop) + 1
            stop = cut or stop
        pieces.open_next()
        pieces.write(data[start:stop])
        start = stop


class _Chunks:
    """`-n`: N, K/N, l/N, l/K/N, r/N, r/K/N."""

    __slots__ = ("count", "kind", "only")

    def __init__(self, text: str) -> None:
        found = re.match("([lr]?)/?(.*)", text, re.DOTALL) if text[:2] in ("l/", "r/") else None
        self.kind = found[1] if found else ""
        rest = found[2] if found else text
        only_text, slash, count_text = rest.partition("/")
        if not slash:
            only_text, count_text = "", rest
        self.count = parse_size(count_text, "number of chunks", suffixes="", low=1)
        self.only = 0
        if slash:
            self.only = parse_size(only_text, "chunk number", suffixes="", low=1, high=self.count)

    def bounds(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of each chunk; a line belongs to the chunk of its first byte."""
        size = max(1, len(data) // self.count)
        start = 0
        for number in range(1, self.count + 1):
            stop = len(data) if number == self.count else min(len(data), size * number)
            if self.kind == "l" and stop < len(data):
                if stop <= start:
                    stop = start
                elif stop:
                    found = data.find(b"\n", stop - 1)
                    stop = len(data) if found < 0 else found + 1
            stop = max(stop, start)
            yield start, stop
            start = stop


def _by_chunks(ctx: CommandContext, source: ByteReader, pieces: Pieces, chunks: _Chunks) -> None:
    data = read_all(ctx.budget, source)
    records: list[bytes] = []
    if chunks.kind == "r":
        records = (
            data.splitlines(keepends=True)
            if b"\r" not in data
            else re.findall(b"[^\n]*\n|[^\n]+", data)
        )
        parts: Iterator[bytes] = (
            b"".join(records[number :: chunks.count]) for number in range(chunks.count)
        )
    else:
        parts = (data[start:stop] for start, stop in chunks.bounds(data))
    if chunks.only:
        ctx.stdout.write(
            b"".join(records[chunks.only - 1 :: chunks.count])
            if chunks.kind == "r"
            else _chunk(ctx, data, chunks)
        )
        return
    for part in parts:
        ctx.budget.step()
        pieces.open_next()
        pieces.write(part)


def _chunk(ctx: CommandContext, data: bytes, chunks: _Chunks) -> bytes:
    """Return the chunk that `-n K/N` asks for; those behind the last byte are empty."""
    for number, (start, stop) in enumerate(chunks.bounds(data), 1):
        ctx.budget.step()
        if number == chunks.only:
            return data[start:stop]
        if start >= len(data):
            break
    return b""


# options


def _way(args: Arguments) -> tuple[str, str]:
    """Return the option that says how to split, and its value."""
    way = ("lines", "1000")
    for key, value in args.given:
        if key in _WAYS:
            way = key, value or ""
    return way


def _check_ways(given: Sequence[tuple[str, str | None]]) -> None:
    if given[-1][0] in _WAYS and any(key in _WAYS for key, _ in given[:-1]):
        raise UsageError("cannot split in more than one way")


def _additional(text: str) -> str:
    if "/" in text:
        raise UsageError(f"invalid suffix {quote(text)}, contains directory separator")
    return text


def _start(text: str) -> str:
    if text.strip("0123456789"):
        raise UsageError(f"{quote(text)}: invalid start value for numerical suffix")
    return text


_READERS: dict[str, Callable[[str], object]] = {
    "lines": lambda text: parse_size(text, "number of lines", suffixes="", low=1),
    "bytes": lambda text: parse_size(text, "number of bytes", suffixes=_SIZES, low=1),
    "line-bytes": lambda text: parse_size(text, "number of bytes", suffixes=_SIZES, low=1),
    "number": _Chunks,
    "suffix-length": lambda text: parse_number(text, "suffix length", high=4096),
    "additional-suffix": _additional,
    "numeric-suffixes": _start,
}


def _names(args: Arguments, prefix: str, chunks: int) -> Names:
    additional = args.value("additional-suffix", "") or ""
    numeric = bool(args.last("d", "numeric-suffixes"))
    alphabet = "0123456789" if numeric else "abcdefghijklmnopqrstuvwxyz"
    start = next(filter(None, reversed(args.values("numeric-suffixes"))), None)
    length = args.value("suffix-length")
    size = None if length is None else parse_number(length, "suffix length", high=4096)
    return Names(prefix, alphabet, additional, size=size, start=start, chunks=chunks)


@command(
    "split",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            bytes lines line-bytes number elide-empty-files unbuffered suffix-length
            additional-suffix numeric-suffixes hex-suffixes filter verbose separator
            -io-blksize help version
        """,
        read_error=("NAME: -: REASON", 1),
    ),
    digits="lines",
    values=_READERS,
    check=_check_ways,
    usage="""
    Usage: split [OPTION]... [FILE [PREFIX]]
    Write pieces of FILE to PREFIXaa, PREFIXab, ...; by default 1000 lines each, and PREFIX is 'x'.

    With no FILE, or when FILE is -, read standard input.

      -a, --suffix-length=N           suffixes of N characters (2)
          --additional-suffix=SUFFIX  add SUFFIX to the names
      -b, --bytes=SIZE                SIZE bytes in each piece
      -C, --line-bytes=SIZE           at most SIZE bytes of whole lines in each piece
      -d                              numeric suffixes, from 0
          --numeric-suffixes[=FROM]   the same, from FROM
          --filter=COMMAND            give each piece to the shell COMMAND; the name is in $FILE
      -l, --lines=NUMBER              NUMBER lines in each piece
      -n, --number=CHUNKS             N pieces, or l/N, r/N, K/N, l/K/N, r/K/N
          --verbose                   tell of each piece
          --help                      display this help and exit

    CHUNKS: N pieces of equal size; l/N without cutting lines; r/N lines in turn; K/N only the Kth,
    to standard output.
    """,
)
def split(ctx: CommandContext, args: Arguments) -> int:
    way, value = _way(args)
    if len(args.operands) > 2:
        raise UsageError(f"extra operand {quote(args.operands[2])}")
    chunks = _Chunks(value) if way == "number" else None
    run: Callable[[ByteReader, Pieces], None]
    if chunks is not None:
        run = lambda source, pieces: _by_chunks(ctx, source, pieces, chunks)  # noqa: E731
    elif way == "lines":
        lines = parse_size(value, "number of lines", suffixes="", low=1)
        run = lambda source, pieces: _by_lines(ctx, source, pieces, lines)  # noqa: E731
    else:
        size = parse_size(value, "number of bytes", suffixes=_SIZES, low=1)
        run = lambda source, pieces: (  # noqa: E731
            _by_bytes(ctx, source, pieces, size)
            if way == "bytes"
            else _by_line_bytes(ctx, source, pieces, size)
        )
    if args.flag("filter") and chunks is not None and chunks.only:
        raise UsageError("--filter does not process a chunk extracted to stdout")
    names = _names(
        args,
        args.operands[1] if len(args.operands) > 1 else "x",
        chunks.count if chunks is not None else 0,
    )
    name = args.operands[0] if args.operands else "-"
    try:
        source = ctx.open_input(name)
    except IsADirectoryError as error:
        unknown = (
            "cannot determine file size: " if chunks is not None and chunks.kind != "r" else ""
        )
        raise CommandError(f"{shown_name(name)}: {unknown}{error.strerror}") from None
    except OSError as error:
        raise CommandError(
            f"cannot open {quote_always(name)} for reading: {error.strerror}"
        ) from None
    if chunks is not None and chunks.kind != "r" and not is_regular(source):
        raise CommandError(f"{shown_name(name)}: cannot determine file size")
    pieces = Pieces(
        ctx, names, source, filter_command=args.value("filter"), verbose=args.flag("verbose")
    )
    try:
        run(source, pieces)
    finally:
        pieces.close()
    return ctx.status
