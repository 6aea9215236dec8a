"""`uniq` (POSIX 1003.1-2017, GNU coreutils): report or leave out repeated lines."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import line_blocks, shown_name, split_lines
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_ONCE = b"      1 "
_MANY_FIELDS = 1 << 12
_SHORT = 1 << 9
"""Bytes of a block up to which lines are compared one by one."""
_LONGEST = 1 << 30
"""More bytes than any line holds."""
_METHODS = ("none", "prepend", "separate")


def _all_repeated(text: str) -> str:
    from agentsandbox.commands._text.choices import choose

    return choose(text, "--all-repeated", [(word,) for word in _METHODS])


class _Options:
    """What to compare and what to print."""

    __slots__ = ("all_repeated", "compared", "count", "end", "repeated", "unique")

    def __init__(self, args: Arguments) -> None:
        self.end = b"\0" if args.flag("zero-terminated") else b"\n"
        self.count = args.flag("count")
        self.repeated = args.flag("repeated")
        self.unique = args.flag("unique")
        self.all_repeated: str | None = None
        for name, value in args.given:
            if name == "D":
                self.all_repeated = self.all_repeated or "none"
            elif name == "all-repeated":
                self.all_repeated = _all_repeated(value or "none")
        if len(args.operands) > 2:
            from agentsandbox.commands._text.quoting import quote

            raise UsageError(f"extra operand {quote(args.operands[2])}")
        if self.count and self.all_repeated is not None:
            raise UsageError("printing all duplicated lines and repeat counts is meaningless")
        self.compared = _Compared(args)

    def wants(self, count: int) -> bool:
        """Whether a group of `count` lines is shown."""
        if count > 1:
            return not self.unique
        return not (self.repeated or self.all_repeated is not None)


def _number(text: str, what: str) -> int:
    digits = text.lstrip(" \t\n\v\f\r").removeprefix("+")
    if not digits.isdecimal() or not digits.isascii():
        raise CommandError(f"{text}: invalid number of {what}")
    return int(digits[-18:]) if len(digits.lstrip("0")) <= 18 else 2**62


class _Compared:
    """The part of a line to compare: the fields and bytes to skip, the bytes to compare."""

    __slots__ = ("chars", "fields", "fold", "width")

    def __init__(self, args: Arguments) -> None:
        self.fields = _number(args.value("skip-fields", "0") or "", "fields to skip")
        self.chars = _number(args.value("skip-chars", "0") or "", "bytes to skip")
        width = args.value("check-chars")
        self.width = None if width is None else _number(width, "bytes to compare")
        self.fold = args.flag("ignore-case")

    def is_whole(self) -> bool:
        """Whether whole lines are compared."""
        return not (self.fields or self.chars or self.fold) and self.width is None

    def key(self) -> Callable[[bytes], bytes] | None:
        """Return a function from a line to the part to compare; None for all of it."""
        fields, chars, width, fold = self.fields, self.chars, self.width, self.fold
        if self.is_whole():
            return None
        import re

        skip = re.compile(
            rb"(?>(?:[ \t\n]*+[^ \t\n]++){%d}|.*)" % min(fields, 2**31), re.DOTALL
        ).match

        def key(line: bytes) -> bytes:
            start = chars
            if fields:
                start += skip(line).end()  # type: ignore[union-attr]
            text = line[start:] if width is None else line[start : start + width]
            return text.upper() if fold else text

        return key

    def runs(self, end: bytes) -> re.Pattern[bytes]:
        """Return a pattern for two or more equal lines, with a line end before and after each."""
        stop = b"\\x%02x" % end[0]
        blank, other = (
            (b"[ \\t]", b"[^ \\t\n]") if end == b"\n" else (b"[ \\t\\n]", b"[^ \\t\\n\\x00]")
        )
        field = b"%b*+%b*+" % (blank, other)
        skipped = (
            field * self.fields
            if self.fields < 8
            else b"(?:%b){%d}+" % (field, min(self.fields, _MANY_FIELDS))
        )
        if self.chars:
            skipped += b"[^%b]{0,%d}+" % (stop, min(self.chars, _LONGEST))
        before = stop + skipped
        if self.width is None or self.width > _LONGEST:
            pattern = b"%b([^%b]*+)(?:%b\\1(?=%b))++" % (before, stop, before, stop)
        else:
            pattern = b"%b(?:([^%b]{%d})[^%b]*+(?:%b\\1[^%b]*+(?=%b))++" % (
                before,
                stop,
                self.width,
                stop,
                before,
                stop,
                stop,
            )
            if self.width:
                pattern += b"|([^%b]{0,%d}+)(?=%b)(?:%b\\2(?=%b))++" % (
                    stop,
                    self.width - 1,
                    stop,
                    before,
                    stop,
                )
            pattern += b")"
        import re

        return re.compile(pattern)


class _Groups:
    """Writes one line for each wanted group, with its count if asked, block by block."""

    def __init__(self, ctx: CommandContext, out: ByteWriter, options: _Options) -> None:
        self.budget = ctx.budget
        self.out = out
        self.options = options
        self.line = b""
        """The first line of the group that is still open, with its end."""
        self.count = 0
        """The number of its lines so far."""
        self._runs: re.Pattern[bytes] | None = None

    def read(self, source: ByteReader) -> None:
        """Read all of the input."""
        end = self.options.end
        whole_lines = self.options.compared.is_whole()
        for block in line_blocks(self.budget, source, end):
            whole = block if block.endswith(end) else block + end
            if whole_lines and len(whole) < _SHORT:
                self._short_block(whole)
            else:
                self._block(end + self.line + whole)
        if self.line:
            pieces: list[bytes] = []
            self._group(pieces, self.line, self.count)
            self.out.write(b"".join(pieces))

    def _short_block(self, text: bytes) -> None:
        """Do the same as `_block`, line by line: a pattern would not pay."""
        end = self.options.end
        pieces: list[bytes] = []
        for each in text[:-1].split(end):
            line = each + end
            if line == self.line:
                self.count += 1
                continue
            if self.line:
                self._group(pieces, self.line, self.count)
            self.line, self.count = line, 1
        self.budget.step(text.count(end) // 16 + 1)
        self.out.write(b"".join(pieces))

    def _block(self, text: bytes) -> None:
        """Write the groups of lines that have an end before and behind them; keep the last open."""
        end, last = self.options.end, len(text) - 1
        pieces: list[bytes] = []
        more = self.count - 1
        at = 0
        if self._runs is None:
            self._runs = self.options.compared.runs(end)
        runs = self._runs
        compared = text.upper() if self.options.compared.fold else text
        if more > 0 and runs.match(compared) is None:
            at = text.index(end, 1)
            self._group(pieces, self.line, self.count)
        for run in runs.finditer(compared, at):
            self.budget.left -= 1
            if self.budget.left < 0:
                self.budget.tick()
            start, stop = run.span()
            if start > at:
                self._singles(pieces, text[at + 1 : start + 1])
            line = text[start + 1 : text.index(end, start + 1) + 1]
            count = text.count(end, start, stop) + (more if not start and more > 0 else 0)
            at = stop
            if stop == last:
                self.line, self.count = line, count
                break
            self._group(pieces, line, count)
        else:
            cut = text.rfind(end, 0, last)
            if cut > at:
                self._singles(pieces, text[at + 1 : cut + 1])
            self.line, self.count = text[cut + 1 :], 1
        self.out.write(b"".join(pieces))

    def _group(self, pieces: list[bytes], line: bytes, count: int) -> None:
        if self.options.wants(count):
            pieces.append(b"%7d %b" % (count, line) if self.options.count else line)

    def _singles(self, pieces: list[bytes], text: bytes) -> None:
        """Add lines of which each is a group."""
        options = self.options
        if not options.wants(1):
            return
        if options.count:
            end = options.end
            text = _ONCE + text[:-1].replace(end, end + _ONCE) + end
        pieces.append(text)


def _print_lines(
    ctx: CommandContext, source: ByteReader, out: ByteWriter, options: _Options
) -> None:
    """Write every line of the repeated groups (`-D`), with empty lines around the groups."""
    method = options.all_repeated or "none"
    end, key = options.end, options.compared.key()
    previous: bytes | None = None
    held: bytes | None = None  # the line before, not written yet
    repeated = False  # whether it belongs to a group that was begun
    groups = 0
    for block in line_blocks(ctx.budget, source, end):
        parts: list[bytes] = []
        for line in split_lines(block, end):
            ctx.budget.left -= 1
            if ctx.budget.left < 0:
                ctx.budget.tick()
            this = line if key is None else key(line)
            if this != previous:
                if repeated and held is not None and not options.unique:
                    parts += (held, end)
                repeated = False
            else:
                if not repeated and (method == "prepend" or (groups and method == "separate")):
                    parts.append(end)
                groups += not repeated
                repeated = True
                parts += (held or b"", end)
            previous, held = this, line
        out.write(b"".join(parts))
    if repeated and held is not None and not options.unique:
        out.write(held + end)


@command(
    "uniq",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            count repeated all-repeated group ignore-case unique skip-fields skip-chars
            check-chars zero-terminated help version
        """,
        read_error=("NAME: error reading '-'", 1),
    ),
    values={
        "skip-fields": lambda text: _number(text, "fields to skip"),
        "skip-chars": lambda text: _number(text, "bytes to skip"),
        "check-chars": lambda text: _number(text, "bytes to compare"),
        "all-repeated": _all_repeated,
    },
    usage="""
    Usage: uniq [OPTION]... [INPUT [OUTPUT]]
    Write each line of INPUT that differs from the line before it to OUTPUT.

    Without INPUT or OUTPUT, read standard input and write standard output.

      -c, --count                prefix lines by the number of times they occur
      -d, --repeated             print only lines that are repeated, one for each group
      -D                         print all repeated lines
          --all-repeated[=HOW]   like -D, with empty lines between groups: none, prepend, separate
      -f, --skip-fields=N        do not compare the first N fields
      -i, --ignore-case          compare without regard to case
      -s, --skip-chars=N         do not compare the first N bytes
      -u, --unique               print only lines that are not repeated
      -z, --zero-terminated      lines end with NUL, not newline
      -w, --check-chars=N        compare at most N bytes
          --help                 display this help and exit

    A field is a run of blanks and the characters after it that are not blank. Fields are skipped
    before bytes.
    """,
)
def uniq(ctx: CommandContext, args: Arguments) -> int:
    options = _Options(args)
    names = [*args.operands, "-", "-"][:2] if args.operands else ["-", "-"]
    try:
        source = ctx.open_input(names[0])
    except IsADirectoryError:
        if names[1] != "-":
            ctx.fs.open(ctx.path(names[1]), "w", permissions=0o666 & ~ctx.umask).release()
        from agentsandbox.commands._text.quoting import quote_always

        raise CommandError(f"error reading {quote_always(names[0])}") from None
    except OSError as error:
        raise CommandError(describe_os_error(error, shown_name(names[0]))) from None
    out = ctx.stdout
    opened = None
    if names[1] != "-":
        try:
            opened = out = ctx.fs.open(ctx.path(names[1]), "w", permissions=0o666 & ~ctx.umask)
        except OSError as error:
            raise CommandError(describe_os_error(error, shown_name(names[1]))) from None
    if options.all_repeated is not None:
        _print_lines(ctx, source, out, options)
    else:
        _Groups(ctx, out, options).read(source)
    if opened is not None:
        opened.release()
    return ctx.status
