"""`uniq` (POSIX 1003.1-2017, GNU coreutils): report or leave out repeated lines."""

from __future__ import annotations

import re
from itertools import compress, islice, pairwise
from operator import ne

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._choices import choose
from agentsandbox.commands._lines import line_blocks, shown_name, split_lines
from agentsandbox.commands._quoting import quote, quote_always
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.streams import ByteReader, ByteWriter

_SKIPPED_CHARS = re.compile(r"\+[0-9]+\Z")
_METHODS = {"D": ("none", "prepend", "separate"), "group": ("prepend", "append", "separate", "both")}


class _Options:
    """What to compare and what to print."""

    __slots__ = ("all_repeated", "count", "end", "group", "key", "repeated", "unique")

    def __init__(self, args: Arguments) -> None:
        self.end = b"\0" if args.flag("zero-terminated") else b"\n"
        self.count = args.flag("count")
        self.repeated = args.flag("repeated")
        self.unique = args.flag("unique")
        self.all_repeated: str | None = None
        self.group: str | None = None
        for name, value in args.given:
            if name == "D":
                self.all_repeated = self.all_repeated or "none"
            elif name == "all-repeated":
                self.all_repeated = choose(value or "none", "--all-repeated", [(word,) for word in _METHODS["D"]])
            elif name == "group":
                self.group = choose(value or "separate", "--group", [(word,) for word in _METHODS["group"]])
        if self.group is not None and (self.count or self.repeated or self.unique or self.all_repeated is not None):
            raise UsageError("--group is mutually exclusive with -c/-d/-D/-u")
        if self.count and self.all_repeated is not None:
            raise UsageError("printing all duplicated lines and repeat counts is meaningless")
        self.key = _key(args)

    def wants(self, count: int) -> bool:
        """Whether a group of `count` lines is shown."""
        if count > 1:
            return not self.unique
        return not (self.repeated or self.all_repeated is not None)


def _number(args: Arguments, option: str, what: str) -> int:
    text = args.value(option)
    if text is None:
        return 0
    if not text.isdecimal() or not text.isascii():
        raise CommandError(f"{text}: invalid number of {what}")
    return int(text[-18:]) if len(text.lstrip("0")) <= 18 else 2**62


def _key(args: Arguments) -> Callable[[bytes], bytes] | None:
    """What of a line is compared; None for all of it."""
    fields = _number(args, "skip-fields", "fields to skip")
    chars = _number(args, "skip-chars", "bytes to skip")
    width = _number(args, "check-chars", "bytes to compare") if args.flag("check-chars") else None
    for word in [word for word in args.operands if _SKIPPED_CHARS.match(word)]:
        chars = int(word[1:19])
        args.operands.remove(word)
    fold = args.flag("ignore-case")
    if not (fields or chars or fold) and width is None:
        return None
    skip = re.compile(rb"(?>(?:[ \t\n]*+[^ \t\n]++){%d}|.*)" % min(fields, 2**31), re.DOTALL).match
    stop = None if width is None else width

    def key(line: bytes) -> bytes:
        start = chars
        if fields:
            start += skip(line).end()  # type: ignore[union-attr]
        text = line[start:] if stop is None else line[start : start + stop]
        return text.upper() if fold else text

    return key


def _print_groups(ctx: CommandContext, source: ByteReader, out: ByteWriter, options: _Options) -> None:
    """One line for each group that is wanted, with its number if asked."""
    first: bytes | None = None  # line of the group that is still open
    first_key = b""
    open_count = 0
    key = options.key
    for block in line_blocks(ctx.budget, source, options.end):
        found = split_lines(block, options.end)
        ctx.budget.step(len(found) // 16 + 1)
        keys = found if key is None else [key(line) for line in found]
        if first is None:
            first, first_key = found[0], keys[0]
            heads = [0, *compress(range(1, len(found)), map(ne, keys, islice(keys, 1, None)))]
            heads = heads[1:]
        else:
            heads = [0] if keys[0] != first_key else []
            heads += compress(range(1, len(found)), map(ne, keys, islice(keys, 1, None)))
        if not heads:
            open_count += len(found)
            continue
        names = [first, *[found[at] for at in heads]]
        counts = [open_count + heads[0], *[after - before for before, after in pairwise(heads)]]
        first = names.pop()
        first_key = keys[heads[-1]]
        open_count = len(found) - heads[-1]
        _write_groups(out, names, counts, options)
    if first is not None:
        _write_groups(out, [first], [open_count], options)


def _write_groups(out: ByteWriter, names: list[bytes], counts: list[int], options: _Options) -> None:
    if options.repeated or options.unique:
        wanted = [options.wants(count) for count in counts]
        names = list(compress(names, wanted))
        counts = list(compress(counts, wanted))
    if not names:
        return
    end = options.end
    if options.count:
        out.write(b"".join([b"%7d %b%b" % (count, name, end) for count, name in zip(counts, names, strict=True)]))
    else:
        names.append(b"")
        out.write(end.join(names))


def _print_lines(ctx: CommandContext, source: ByteReader, out: ByteWriter, options: _Options) -> None:
    """`-D` and `--group`: every line of the groups, with empty lines around them."""
    method = options.group or options.all_repeated or "none"
    end, key = options.end, options.key
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
            if options.group is not None:
                if this != previous:
                    parts.append(_before_group(method, groups, end))
                    groups += 1
                parts += (line, end)
            elif this != previous:
                if repeated and held is not None and not options.unique:
                    parts += (held, end)
                repeated = False
            else:
                if not repeated:
                    parts.append(_before_group(method, groups, end))
                    groups += 1
                repeated = True
                parts += (held or b"", end)
            previous, held = this, line
        out.write(b"".join(parts))
    if repeated and held is not None and not options.unique:
        out.write(held + end)
    if groups and options.group in ("append", "both"):
        out.write(end)


def _before_group(method: str, groups: int, end: bytes) -> bytes:
    """The delimiter before a group, for the methods that have one there."""
    if method in ("prepend", "both") or (groups and method in ("separate", "append")):
        return end
    return b""


@command(
    "uniq",
    digits="skip-fields",
    usage="""
    Usage: uniq [OPTION]... [INPUT [OUTPUT]]
    Write each line of INPUT that differs from the line before it to OUTPUT.

    Without INPUT or OUTPUT, read standard input and write standard output.

      -c, --count                prefix lines by the number of times they occur
      -d, --repeated             print only lines that are repeated, one for each group
      -D                         print all repeated lines
          --all-repeated[=HOW]   like -D, with empty lines between groups: none, prepend, separate
      -f, --skip-fields=N        do not compare the first N fields
          --group[=HOW]          print all lines, with empty lines between groups: separate, prepend, append, both
      -i, --ignore-case          compare without regard to case
      -s, --skip-chars=N         do not compare the first N bytes
      -u, --unique               print only lines that are not repeated
      -z, --zero-terminated      lines end with NUL, not newline
      -w, --check-chars=N        compare at most N bytes
          --help                 display this help and exit

    A field is a run of blanks and the characters after it that are not blank. Fields are skipped before bytes.
    """,
)
def uniq(ctx: CommandContext, args: Arguments) -> int:
    options = _Options(args)
    if len(args.operands) > 2:
        raise UsageError(f"extra operand {quote(args.operands[2])}")
    names = [*args.operands, "-", "-"][:2] if args.operands else ["-", "-"]
    try:
        source = ctx.open_input(names[0])
    except IsADirectoryError:
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
    if options.group is not None or options.all_repeated is not None:
        _print_lines(ctx, source, out, options)
    else:
        _print_groups(ctx, source, out, options)
    if opened is not None:
        opened.release()
    return ctx.status
