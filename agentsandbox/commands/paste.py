"""`paste` (POSIX, GNU coreutils): lines of several files side by side, or of one in a row."""

from __future__ import annotations

import errno
from itertools import chain, cycle, islice, zip_longest

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import line_blocks, shown_name, split_lines
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.kernel.streams import ByteReader

_ESCAPES = {b"0": b"", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_ROWS = 512


def _delimiters(text: str) -> list[bytes]:
    r"""Return the list of delimiters; `\0` is an empty one."""
    found: list[bytes] = []
    data = encode(text)
    at = 0
    while at < len(data):
        byte = data[at : at + 1]
        at += 1
        if byte == b"\\":
            byte = data[at : at + 1]
            if not byte:
                raise CommandError(f"delimiter list ends with an unescaped backslash: {text}")
            at += 1
            byte = _ESCAPES.get(byte, byte)
        found.append(byte)
    return found or [b""]


def _lines(ctx: CommandContext, source: ByteReader, end: bytes) -> Iterator[bytes]:
    """Yield each line without its end, reading a block at a time."""

    def parts() -> Iterator[list[bytes]]:
        for block in line_blocks(ctx.budget, source, end):
            found = split_lines(block, end)
            ctx.budget.step(len(found) // 4 + 1)
            yield found

    return chain.from_iterable(parts())


def _serial(ctx: CommandContext, names: Sequence[str], delimiters: list[bytes], end: bytes) -> int:
    for name in names:
        try:
            source = ctx.open_input(name)
        except OSError as error:
            if error.errno == errno.EISDIR:
                ctx.stdout.write(end)  # it is opened; only its reading fails
            ctx.warn_os(error, shown_name(name))
            continue
        if source.unreadable:
            ctx.stdout.write(end)
            raise source.input_error()
        if len(delimiters) == 1:
            _join_blocks(ctx, source, delimiters[0], end)
        else:
            following = chain([b""], cycle(delimiters))
            found = _lines(ctx, source, end)
            while part := list(islice(found, 4 * _ROWS)):
                ctx.stdout.write(
                    b"".join([mark + line for line, mark in zip(part, following, strict=False)])
                )
        ctx.stdout.write(end)
    return ctx.status


def _join_blocks(ctx: CommandContext, source: ByteReader, delimiter: bytes, end: bytes) -> None:
    between = b""
    for block in line_blocks(ctx.budget, source, end):
        ctx.stdout.write(between + block.removesuffix(end).replace(end, delimiter))
        between = delimiter


def _parallel(
    ctx: CommandContext, names: Sequence[str], delimiters: list[bytes], end: bytes
) -> int:
    shared: Iterator[bytes] | None = None
    columns: list[Iterator[bytes]] = []
    closed = False
    for name in names:
        if name == "-":
            if ctx.stdin.unreadable:
                ctx.warn_os(ctx.stdin.input_error(), "-")
                closed = closed or ctx.stdin.unreadable == errno.EBADF
                continue
            shared = shared or _lines(ctx, ctx.stdin, end)
            columns.append(shared)
            continue
        try:
            columns.append(_lines(ctx, ctx.open_input(name), end))
        except IsADirectoryError as error:
            ctx.warn_os(error, shown_name(name))
            columns.append(iter(()))
        except OSError as error:
            raise CommandError(describe_os_error(error, shown_name(name))) from None
    if closed:
        ctx.warn("-: Bad file descriptor")
    if not columns:
        return ctx.status
    between = list(islice(cycle(delimiters), len(columns) - 1))
    rows = zip_longest(*columns, fillvalue=b"")
    alike = len(set(between)) <= 1
    delimiter = between[0] if between else b""
    row_form = b"%b" + b"".join([mark.replace(b"%", b"%%") + b"%b" for mark in between])
    while part := list(islice(rows, _ROWS)):
        ctx.budget.step(len(columns) * _ROWS // 64)
        texts = [delimiter.join(row) for row in part] if alike else [row_form % row for row in part]
        texts.append(b"")
        ctx.stdout.write(end.join(texts))
    return ctx.status


@command(
    "paste",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="serial delimiters zero-terminated help version",
        closing_error="NAME: -: REASON",
    ),
    usage="""
    Usage: paste [OPTION]... [FILE]...
    Write lines that hold the corresponding lines of each FILE, separated by TABs.

    With no FILE, or when FILE is -, read standard input.

      -d, --delimiters=LIST   use the characters of LIST in turn, not TABs
      -s, --serial            one file at a time: all its lines in one
      -z, --zero-terminated   lines end with NUL, not newline
          --help              display this help and exit
    """,
)
def paste(ctx: CommandContext, args: Arguments) -> int:
    delimiters = _delimiters(args.value("delimiters", "\t") or "")
    end = b"\0" if args.flag("zero-terminated") else b"\n"
    run = _serial if args.flag("serial") else _parallel
    return run(ctx, args.operands or ["-"], delimiters, end)
