"""`tac` (GNU coreutils): the lines of files, last first."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import read_all, shown_name
from agentsandbox.commands._quoting import quote_always
from agentsandbox.errors import CommandError
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.regexps import PosixRegex

_WINDOW = 1 << 18


def _windows(ctx: CommandContext, data: bytes, separator: bytes) -> Iterator[bytes]:
    """Pieces of the data from the end, each beginning after a separator."""
    end = len(data)
    while end:
        ctx.budget.step(64)
        start = 0
        if end > _WINDOW:
            start = data.rfind(separator, 0, end - _WINDOW) + 1
            start = start + len(separator) - 1 if start else 0
        yield data[start:end]
        end = start


def _by_string(ctx: CommandContext, data: bytes, separator: bytes, *, before: bool) -> None:
    out = ctx.stdout
    if before:
        end = len(data)
        at = data.rfind(separator)
        while at >= 0:
            ctx.budget.step()
            out.write(data[at:end])
            end = at
            at = data.rfind(separator, 0, at)
        out.write(data[:end])
        return
    for piece in _windows(ctx, data, separator):
        records = piece.split(separator)
        records.reverse()
        if not records[0]:
            del records[0]
            records.append(b"")
            out.write(separator.join(records))
        else:  # the last record of all lacks its separator
            last = records.pop(0)
            out.write(last + (separator.join([*records, b""]) if records else b""))


def _compile(text: str) -> PosixRegex:
    from agentsandbox.regexps import RegexError, compile_posix  # only here: most calls have no pattern

    if not text:
        raise CommandError("separator cannot be empty")
    try:
        return compile_posix(text, extended=False, dialect="emacs", newline_anchors=True)
    except RegexError as error:
        message = "Invalid regular expression" if str(error).startswith("Unmatched [") else str(error)
        raise CommandError(message) from None


def _by_pattern(ctx: CommandContext, text: str, pattern: PosixRegex, *, before: bool) -> None:
    """Backwards: the next separator is the match that begins last before the one found already."""
    out = ctx.stdout
    end = limit = at = len(text)
    first = True
    while at > 0:
        at -= 1
        ctx.budget.step()
        found = pattern.match(text, at, ctx.budget)
        if found is not None and found.end() > limit:  # it must not reach into the separator that follows
            ctx.budget.step(limit // 4096 + 1)
            found = pattern.match(text[:limit], at, ctx.budget)
        if found is None:
            continue
        limit = at
        cut = at if before else found.end()
        if before or not first or cut != end:
            out.write(encode(text[cut:end]))
        end, first = cut, False
    out.write(encode(text[:end]))


@command(
    "tac",
    usage="""
    Usage: tac [OPTION]... [FILE]...
    Write each FILE to standard output, last line first.

    With no FILE, or when FILE is -, read standard input.

      -b, --before             a separator stands before its record, not after it
      -r, --regex              the separator is a regular expression
      -s, --separator=STRING   records are separated by STRING, not by newlines
          --help               display this help and exit
    """,
)
def tac(ctx: CommandContext, args: Arguments) -> int:
    text = args.value("separator", "\n") or ""
    pattern = _compile(text) if args.flag("regex") else None
    separator = encode(text or "\0")
    for name in args.operands or ["-"]:
        try:
            data = read_all(ctx.budget, ctx.open_input(name))
        except IsADirectoryError:
            ctx.warn(f"{shown_name(name)}: read error: Invalid argument")
            continue
        except OSError as error:
            ctx.warn(f"failed to open {quote_always(name)} for reading: {error.strerror}")
            continue
        if pattern is not None:
            _by_pattern(ctx, decode(data), pattern, before=args.flag("before"))
        else:
            _by_string(ctx, data, separator, before=args.flag("before"))
    return ctx.status
