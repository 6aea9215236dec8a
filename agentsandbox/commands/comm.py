"""`comm` (POSIX 1003.1-2017, GNU coreutils): compare two sorted files line by line."""

from __future__ import annotations

from itertools import islice
from operator import le

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import is_regular, lines, shown_name, split_all
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentsandbox.kernel.streams import ByteReader

_BATCH, _PIECE = 256, 4096
_AT_ONCE = 1 << 24
"""Files up to this size are compared as a whole."""


class _Input:
    """One file: the line now, and the two before it, for the order check."""

    __slots__ = ("before", "checks", "complained", "ctx", "earlier", "line", "number", "source")

    def __init__(
        self, ctx: CommandContext, number: int, source: Iterator[bytes], checks: bool | None
    ) -> None:
        self.ctx = ctx
        self.number = number
        self.source = source
        self.checks = checks
        self.complained = False
        self.before: bytes | None = None
        self.earlier: bytes | None = None
        self.line = next(source, None)

    def advance(self, seen_unpairable: bool) -> None:
        """Take the next line and check the order of the lines before it.

        At the end the last pair is checked once more, for unpairable lines that came late.
        """
        self.earlier, self.before = self.before, self.line
        self.line = next(self.source, None)
        if self.checks is False or self.complained or not (self.checks or seen_unpairable):
            return
        first, second = (
            (self.before, self.line) if self.line is not None else (self.earlier, self.before)
        )
        if first is not None and second is not None and first > second:
            self.complained = True

    @property
    def message(self) -> str:
        return f"file {self.number} is not in sorted order"


class _Comparison:
    """The merge of both files into three columns."""

    __slots__ = ("end", "marks", "out", "parts", "shown", "totals")

    def __init__(
        self, ctx: CommandContext, shown: tuple[bool, bool, bool], delimiter: bytes, end: bytes
    ) -> None:
        self.out = ctx.stdout
        self.shown = shown
        self.marks = (b"", delimiter * shown[0], delimiter * (shown[0] + shown[1]))
        self.end = end
        self.totals = [0, 0, 0]
        self.parts: list[bytes] = []

    def add(self, column: int, line: bytes) -> None:
        """Count a line and print it in its column."""
        self.totals[column] += 1
        if self.shown[column]:
            self.parts += (self.marks[column], line, self.end)
            if len(self.parts) > 3 * _BATCH:
                self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self.parts:
            self.out.write(b"".join(self.parts))
            self.parts.clear()


def _compare(ctx: CommandContext, first: _Input, second: _Input, result: _Comparison) -> None:
    seen = False
    budget = ctx.budget
    while first.line is not None or second.line is not None:
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        if first.line == second.line and first.line is not None:
            result.add(2, first.line)
            steps = [first, second]
        else:
            seen = True
            if second.line is None or (first.line is not None and first.line < second.line):
                result.add(0, first.line or b"")
                steps = [first]
            else:
                result.add(1, second.line)
                steps = [second]
        for source in steps:
            complained = source.complained
            source.advance(seen)
            if source.complained and not complained:
                result.flush()
                if source.checks:
                    raise CommandError(source.message)
                ctx.warn(source.message)


def _compare_sorted(
    ctx: CommandContext, first: list[bytes], second: list[bytes], result: _Comparison
) -> None:
    """Compare two sorted files line by line, faster than `_compare`."""
    ctx.budget.step((len(first) + len(second)) // 8 + 1)
    only_first, only_second, both = [
        result.marks[column] if result.shown[column] else None for column in range(3)
    ]
    end, counts = result.end, [0, 0, 0]
    parts: list[bytes] = []
    at = other = 0
    while at < len(first) and other < len(second):
        ctx.budget.left -= 1
        if ctx.budget.left < 0:
            ctx.budget.tick()
        line, opposite = first[at], second[other]
        if line == opposite:
            counts[2] += 1
            at += 1
            other += 1
            if both is not None:
                parts.append(both + line)
        elif line < opposite:
            at += 1
            if only_first is not None:
                parts.append(line)
        else:
            other += 1
            if only_second is not None:
                parts.append(only_second + opposite)
    if only_first is not None:
        parts += first[at:]
    ctx.budget.breathe()
    for start in range(other, len(second) if only_second is not None else 0, _PIECE):
        parts += [(only_second or b"") + line for line in second[start : start + _PIECE]]
        ctx.budget.breathe()
    result.totals = [len(first) - counts[2], len(second) - counts[2], counts[2]]
    for start in range(0, len(parts), _PIECE):
        ctx.budget.step()
        ctx.stdout.write(end.join([*parts[start : start + _PIECE], b""]))


def _compare_sources(
    ctx: CommandContext, sources: list[ByteReader], result: _Comparison, checks: bool | None
) -> list[_Input]:
    """Compare the files; return readers that know the order, None for small ordered files."""
    end = result.end
    found: list[Iterable[bytes]] = []
    if sources[0] is not sources[1] and all(map(_is_small, sources)):
        one, two = [split_all(ctx.budget, source.read(), end) for source in sources]
        if _in_order(ctx, one) and _in_order(ctx, two):
            _compare_sorted(ctx, one, two, result)
            return []
        found = [one, two]
    elif sources[0] is sources[1]:
        found = [lines(ctx.budget, sources[0], end)] * 2  # each takes the next line
    else:
        found = [lines(ctx.budget, source, end) for source in sources]
    files = [_Input(ctx, number, iter(source), checks) for number, source in enumerate(found, 1)]
    _compare(ctx, files[0], files[1], result)
    return files


def _is_small(source: ByteReader) -> bool:
    return is_regular(source) and source.stat().size <= _AT_ONCE  # type: ignore[attr-defined]


def _in_order(ctx: CommandContext, found: list[bytes]) -> bool:
    for start in range(0, len(found), _PIECE):
        part = found[start : start + _PIECE + 1]
        if not all(map(le, part, islice(part, 1, None))):
            return False
        ctx.budget.breathe()
    return True


def _delimiter(args: Arguments) -> bytes:
    given = args.value("output-delimiter")
    return b"\t" if given is None else encode(given) or b"\0"


@command(
    "comm",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            check-order nocheck-order output-delimiter total zero-terminated help
            version
        """,
    ),
    usage="""
    Usage: comm [OPTION]... FILE1 FILE2
    Compare sorted files FILE1 and FILE2 line by line.

    When FILE1 or FILE2 (not both) is -, read standard input. Column one holds lines that only FILE1
    has, column two lines that only FILE2 has, column three lines that both have.

      -1                        leave out column 1
      -2                        leave out column 2
      -3                        leave out column 3
          --check-order         check that the input is sorted, even if all lines pair
          --nocheck-order       do not check that the input is sorted
          --output-delimiter=STR  separate columns with STR
          --total               print the number of lines in each column at the end
      -z, --zero-terminated     lines end with NUL, not newline
          --help                display this help and exit
    """,
)
def comm(ctx: CommandContext, args: Arguments) -> int:
    delimiter = _delimiter(args)
    words = args.operands
    if len(words) < 2:
        raise UsageError(f"missing operand after {quote(words[0])}" if words else "missing operand")
    if len(words) > 2:
        raise UsageError(f"extra operand {quote(words[2])}")
    end = b"\0" if args.flag("zero-terminated") else b"\n"
    last = args.last("check-order", "nocheck-order")
    checks = None if last is None else last == "check-order"
    sources = []
    for name in words:
        try:
            source = ctx.open_input(name)
        except OSError as error:
            raise CommandError(describe_os_error(error, shown_name(name))) from None
        sources.append(source)
    result = _Comparison(
        ctx, (not args.flag("1"), not args.flag("2"), not args.flag("3")), delimiter, end
    )
    files = _compare_sources(ctx, sources, result, checks)
    if args.flag("total"):
        between = b"" if args.value("output-delimiter") == "" else delimiter
        result.parts.append(
            between.join([b"%d" % total for total in result.totals]) + between + b"total" + end
        )
    result.flush()
    if any(file.complained for file in files):
        raise CommandError("input is not in sorted order")
    if words == ["-", "-"]:
        raise CommandError("-: Bad file descriptor")  # it is closed twice
    return ctx.status
