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
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.kernel.streams import ByteReader

_WAYS = ("lines", "bytes", "line-bytes", "number")
_DECIMAL, _HEXADECIMAL = "0123456789", "0123456789abcdef"
_CLUSTER = re.compile(r"-([deux0-9]*)(.*)\Z", re.DOTALL)
_SIZES = "bEGKkMmPTYZ0"
_TAKES_VALUE = re.compile(r"-[deux0-9]*[abClnt]\Z|--(?:additional-suffix|bytes|filter|line-bytes|lines|number|separator|suffix-length)\Z")


def _rewrite(words: Sequence[str]) -> list[str]:
    """`-100` is `-l 100`: the digits among the letters of a word, the last such word's."""
    rewritten: list[str] = []
    lines: int | None = None
    is_value = False
    for at, word in enumerate(words):
        if word == "--" and not is_value:
            return [*rewritten, *words[at:]]
        found = None if is_value else _CLUSTER.match(word)
        is_value = not is_value and _TAKES_VALUE.match(word) is not None
        digits = re.sub("[^0-9]", "", found[1]) if found is not None else ""
        if found is None or not digits:
            rewritten.append(word)
            continue
        if int(digits[:40]) >= 2**64:
            over = next(size for size in range(1, 41) if int(digits[:size]) >= 2**64)
            raise CommandError(f"line count option -{digits[:over]}... is too large")
        if lines is not None:
            rewritten[lines] = "--unbuffered"  # which makes no difference
        lines = len(rewritten)
        rewritten.append(f"-l{digits}")
        letters = re.sub("[0-9]", "", found[1]) + found[2]
        rewritten += [f"-{letters}"] if letters else []
    if lines is not None and not int(rewritten[lines][2:]):
        raise UsageError(f"invalid number of lines: {quote('0')}")
    return rewritten


# kinds of pieces


def _by_lines(ctx: CommandContext, source: ByteReader, pieces: Pieces, count: int, end: bytes) -> None:
    left = 0
    for block in blocks(ctx.budget, source):
        start = 0
        while start < len(block):
            if not left:
                pieces.open_next()
                left = count
            here = block.count(end, start)
            if here < left:
                pieces.write(block[start:])
                left -= here
                break
            cut = start
            for _ in range(left):
                cut = block.find(end, cut) + 1
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


def _by_line_bytes(ctx: CommandContext, source: ByteReader, pieces: Pieces, size: int, end: bytes) -> None:
    """As many whole lines as fit; a line that is too long is cut."""
    data = read_all(ctx.budget, source)
    start = 0
    while start < len(data):
        ctx.budget.step()
        stop = start + size
        if stop < len(data):
            cut = data.rfind(end, start, stop) + 1
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

    def bounds(self, data: bytes, end: bytes) -> Iterator[tuple[int, int]]:
        """Where each chunk begins and ends; a line belongs to the chunk that its first byte is in."""
        size = max(1, len(data) // self.count)
        start = 0
        for number in range(1, self.count + 1):
            stop = len(data) if number == self.count else min(len(data), size * number)
            if self.kind == "l" and stop < len(data):
                if stop <= start:
                    stop = start
                elif stop:
                    found = data.find(end, stop - 1)
                    stop = len(data) if found < 0 else found + 1
            stop = max(stop, start)
            yield start, stop
            start = stop


def _by_chunks(ctx: CommandContext, source: ByteReader, pieces: Pieces, chunks: _Chunks, end: bytes, *, elide: bool) -> None:
    data = read_all(ctx.budget, source)
    if chunks.kind == "r":
        found = data.split(end)
        tail = found.pop()
        records = [record + end for record in found] + ([tail] if tail else [])
        parts: Iterator[bytes] = (b"".join(records[number :: chunks.count]) for number in range(chunks.count))
    else:
        parts = (data[start:stop] for start, stop in chunks.bounds(data, end))
    for number, part in enumerate(parts, 1):
        ctx.budget.step()
        if chunks.only:
            if number == chunks.only:
                ctx.stdout.write(part)
                return
        elif part or not elide:
            pieces.open_next()
            pieces.write(part)


# options


def _way(args: Arguments) -> tuple[str, str]:
    """How to split, and the value of that option."""
    way = ("lines", "1000")
    separator: str | None = None
    for key, value in args.given:
        text = value or ""
        if key in _WAYS:
            way = key, text
        if key == "separator":
            if separator not in (None, text):
                raise CommandError("multiple separator characters specified")
            separator = text
    return way


def _check_ways(given: Sequence[tuple[str, str | None]]) -> None:
    if given[-1][0] in _WAYS and any(key in _WAYS for key, _ in given[:-1]):
        raise UsageError("cannot split in more than one way")


def _separator(text: str) -> bytes:
    if not text:
        raise CommandError("empty record separator")
    if text != "\\0" and len(encode(text)) > 1:
        raise CommandError(f"multi-character separator {quote(text)}")
    return b"\0" if text == "\\0" else encode(text)


def _additional(text: str) -> str:
    if "/" in text:
        raise UsageError(f"invalid suffix {quote(text)}, contains directory separator")
    return text


def _start(text: str, kind: str, alphabet: str) -> str:
    if text.strip(alphabet):
        raise UsageError(f"{quote(text)}: invalid start value for {kind} suffix")
    return text


_READERS: dict[str, Callable[[str], object]] = {
    "lines": lambda text: parse_size(text, "number of lines", suffixes="", low=1),
    "bytes": lambda text: parse_size(text, "number of bytes", suffixes=_SIZES, low=1),
    "line-bytes": lambda text: parse_size(text, "number of bytes", suffixes=_SIZES, low=1),
    "number": _Chunks,
    "suffix-length": lambda text: parse_number(text, "suffix length", high=4096),
    "separator": _separator,
    "additional-suffix": _additional,
    "numeric-suffixes": lambda text: _start(text, "numerical", _DECIMAL),
    "hex-suffixes": lambda text: _start(text, "hexadecimal", _HEXADECIMAL),
}


def _names(args: Arguments, prefix: str, chunks: int) -> Names:
    additional = args.value("additional-suffix", "") or ""
    alphabet, start = "abcdefghijklmnopqrstuvwxyz", None
    for key, value in args.given:
        if key in ("d", "x", "numeric-suffixes", "hex-suffixes"):
            alphabet = _DECIMAL if key in ("d", "numeric-suffixes") else _HEXADECIMAL
            start = value or start
    if start is not None and start.strip(alphabet):
        start = None  # it was meant for the digits of an option before
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
    rewrite=_rewrite,
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
      -x                              hexadecimal suffixes, from 0
          --hex-suffixes[=FROM]       the same, from FROM
      -e, --elide-empty-files         make no empty files with -n
          --filter=COMMAND            give each piece to the shell COMMAND; the name is in $FILE
      -l, --lines=NUMBER              NUMBER lines in each piece
      -n, --number=CHUNKS             N pieces, or l/N, r/N, K/N, l/K/N, r/K/N
      -t, --separator=SEP             lines end with SEP, not newline; '\\0' is NUL
      -u, --unbuffered                (output is never held back)
          --verbose                   tell of each piece
          --help                      display this help and exit

    CHUNKS: N pieces of equal size; l/N without cutting lines; r/N lines in turn; K/N only the Kth, to standard output.
    """,
)
def split(ctx: CommandContext, args: Arguments) -> int:
    way, value = _way(args)
    end = _separator(args.value("separator", "\n") or "")
    if len(args.operands) > 2:
        raise UsageError(f"extra operand {quote(args.operands[2])}")
    chunks = _Chunks(value) if way == "number" else None
    run: Callable[[ByteReader, Pieces], None]
    if chunks is not None:
        run = lambda source, pieces: _by_chunks(ctx, source, pieces, chunks, end, elide=args.flag("elide-empty-files"))  # noqa: E731
    elif way == "lines":
        lines = parse_size(value, "number of lines", suffixes="", low=1)
        run = lambda source, pieces: _by_lines(ctx, source, pieces, lines, end)  # noqa: E731
    else:
        size = parse_size(value, "number of bytes", suffixes=_SIZES, low=1)
        run = lambda source, pieces: (  # noqa: E731
            _by_bytes(ctx, source, pieces, size) if way == "bytes" else _by_line_bytes(ctx, source, pieces, size, end)
        )
    if args.flag("filter") and chunks is not None and chunks.only:
        raise UsageError("--filter does not process a chunk extracted to stdout")
    names = _names(args, args.operands[1] if len(args.operands) > 1 else "x", chunks.count if chunks is not None else 0)
    name = args.operands[0] if args.operands else "-"
    try:
        source = ctx.open_input(name)
    except IsADirectoryError as error:
        unknown = "cannot determine file size: " if chunks is not None and chunks.kind != "r" else ""
        raise CommandError(f"{shown_name(name)}: {unknown}{error.strerror}") from None
    except OSError as error:
        raise CommandError(f"cannot open {quote_always(name)} for reading: {error.strerror}") from None
    if chunks is not None and chunks.kind != "r" and not is_regular(source):
        raise CommandError(f"{shown_name(name)}: cannot determine file size")
    pieces = Pieces(ctx, names, filter_command=args.value("filter"), verbose=args.flag("verbose"))
    try:
        run(source, pieces)
    finally:
        pieces.close()
    return ctx.status
