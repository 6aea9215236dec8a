"""`cmp` (POSIX 1003.1-2017, GNU diffutils): compare two files byte by byte."""

from __future__ import annotations

import errno
from itertools import count
from posixpath import commonprefix

from agentsandbox.commands._files.block_sizes import parse_scaled
from agentsandbox.commands.diff.usage import with_hint
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import BLOCK, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.streams import ByteReader

_EQUAL = 4096
_OCTAL = [f" {byte:3o}" for byte in range(256)]


def _read(source: ByteReader, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end."""
    parts: list[bytes] = []
    while size and (block := source.read(size)):
        parts.append(block)
        size -= len(block)
    return b"".join(parts)


class _Comparison:
    """Two files that are compared up to `limit` bytes."""

    __slots__ = ("ctx", "limit", "names", "sources")

    def __init__(
        self, ctx: CommandContext, names: tuple[str, str], limit: int | None, *, quiet: bool
    ) -> None:
        self.ctx = ctx
        self.names = names
        self.limit = limit
        sources = []
        for name in names:
            try:
                sources.append(ctx.open_input(name))
            except OSError as error:
                silent = quiet and error.errno != errno.EISDIR
                raise CommandError("" if silent else describe_os_error(error, name), 2) from None
        self.sources = sources

    def blocks(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield pairs of blocks until one file ends."""
        left = self.limit
        while left is None or left > 0:
            self.ctx.budget.step()
            size = BLOCK if left is None else min(BLOCK, left)
            first, second = (_read(source, size) for source in self.sources)
            if first or second:
                yield first, second
            if len(first) < size or len(second) < size:
                return
            if left is not None:
                left -= size

    def quiet(self) -> int:
        """Return 0 if the files are equal, else 1 (`-s`)."""
        return int(any(first != second for first, second in self.blocks()))

    def first_difference(self) -> int:
        """Print where the files first differ; return the exit status."""
        position, newlines, last = 0, 0, 10
        for first, second in self.blocks():
            common = min(len(first), len(second))
            if first[:common] != second[:common]:
                at = len(commonprefix((first, second)))
                newlines += first.count(b"\n", 0, at)
                unit = "char" if self.ctx.is_bytewise("LC_MESSAGES") else "byte"
                place = f"{unit} {position + at + 1}, line {newlines + 1}"
                self.ctx.print(f"{self.names[0]} {self.names[1]} differ: {place}")
                return 1
            newlines += first.count(b"\n", 0, common)
            if common:
                last = first[common - 1]
            position += common
            if len(first) != len(second):
                self._report_end(0 if len(first) < len(second) else 1, position, newlines, last)
                return 1
        return 0

    def _report_end(self, shorter: int, position: int, newlines: int | None, last: int) -> None:
        name = self.names[shorter]
        if not position:
            self.ctx.warn(f"EOF on {name} which is empty")
        elif newlines is None:
            self.ctx.warn(f"EOF on {name} after byte {position}")
        elif last == 10:
            self.ctx.warn(f"EOF on {name} after byte {position}, line {newlines}")
        else:
            self.ctx.warn(f"EOF on {name} after byte {position}, in line {newlines + 1}")

    def all_differences(self) -> int:
        """Print every difference (`-l`); return the exit status."""
        width = self._offset_width()
        position, status = 0, 0
        for first, second in self.blocks():
            common = min(len(first), len(second))
            for start in range(0, common, _EQUAL):
                stop = min(start + _EQUAL, common)
                one, other = first[start:stop], second[start:stop]
                if one == other:
                    continue
                status = 1
                self.ctx.budget.step(stop - start)
                self._write_differences(position + start + 1, width, one, other)
            position += common
            if len(first) != len(second):
                self._report_end(0 if len(first) < len(second) else 1, position, None, 0)
                return 1
        return status

    def _write_differences(self, start: int, width: int, one: bytes, other: bytes) -> None:
        """Write a line for each byte that differs; both blocks begin at `start`."""
        lines = [
            f"{at:{width}d}{_OCTAL[a]}{_OCTAL[b]}\n"
            for at, a, b in zip(count(start), one, other)
            if a != b
        ]
        self.ctx.stdout.write(encode("".join(lines)))

    def _offset_width(self) -> int:
        """Return the number of digits of the largest possible offset."""
        largest = 2**63 - 1 if self.limit is None else self.limit
        for source in self.sources:
            if hasattr(source, "stat") and hasattr(source, "seek"):
                info = source.stat()
                if info.is_file:
                    largest = min(largest, max(0, info.size - source.seek(0, 1)))
        return len(str(largest))


def _limit(text: str) -> int:
    """Return a number of bytes with its suffix: 1K, 2MB."""
    try:
        value = parse_scaled(text, "kKMGTPEZY") if text == text.strip() else None
    except OverflowError:
        value = None
    if value is None:
        raise UsageError(f"invalid --bytes value '{text}'", 2)
    return value


@command(
    "cmp",
    manners=Manners(
        Release("NAME (GNU diffutils) 3.8", "-v, --version"),
        long_options="""
            ignore-initial verbose bytes silent quiet version help
        """,
        read_error=("NAME: -: REASON", 2),
        write_error=("NAME: standard output: REASON", 2),
        closed_write_error=SILENT,
    ),
    late=True,
    values={"bytes": _limit},
    raw=True,
    usage="""
    Usage: cmp [OPTION]... FILE1 [FILE2]
    Compare two files byte by byte.

    With no FILE2, or when a FILE is -, read standard input.

      -l, --verbose              print number and values of all bytes that differ
      -n, --bytes=LIMIT          compare at most LIMIT bytes
      -s, --quiet, --silent      print nothing
          --help                 display this help and exit

    The status is 0 when the files are the same, 1 when they differ, 2 for trouble.
    """,
)
def cmp(ctx: CommandContext, args: Arguments) -> int:
    if "-v" in ctx.words or "--version" in ctx.words:
        ctx.stdout.write(encode(cmp.version()))
        return 0
    return with_hint(ctx, lambda: _cmp(ctx, cmp.parser().parse(ctx.words)), cmp.usage)


def _cmp(ctx: CommandContext, args: Arguments) -> int:
    limits = [_limit(text) for text in args.values("bytes")]
    verbose, quiet = args.flag("verbose"), args.flag("quiet")
    if verbose and quiet:
        raise UsageError("options -l and -s are incompatible", 2)
    words = args.operands
    if not words:
        raise UsageError(f"missing operand after '{ctx.words[-1] if ctx.words else 'cmp'}'", 2)
    if len(words) > 2:
        raise UsageError(f"extra operand '{words[2]}'", 2)
    names = (words[0], words[1] if len(words) > 1 else "-")
    if names == ("-", "-"):
        return 0  # the same file
    comparison = _Comparison(ctx, names, min(limits) if limits else None, quiet=quiet)
    if quiet:
        return comparison.quiet()
    return comparison.all_differences() if verbose else comparison.first_difference()
