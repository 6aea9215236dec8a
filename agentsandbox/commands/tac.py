"""`tac` (GNU coreutils): the lines of files, last first."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import is_regular, read_all, shown_name
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import InputError, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.regexps import PosixRegex

_WINDOW = 1 << 18
_PIECE = 1 << 12
"""Characters that a pattern is looked for in at a time; more where it was not found."""


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
    from agentsandbox.kernel.regexps import RegexError, compile_posix  # only here: most calls have no pattern

    if not text:
        raise CommandError("separator cannot be empty")
    try:
        return compile_posix(text, extended=False, dialect="emacs", newline_anchors=True)
    except RegexError as error:
        message = "Invalid regular expression" if str(error).startswith("Unmatched [") else str(error)
        raise CommandError(message) from None


def _starts(ctx: CommandContext, piece: str, first: int, stop: int, pattern: PosixRegex) -> list[int]:
    """Every place from `first` up to `stop` where the pattern matches."""
    starts: list[int] = []
    found = pattern.search(piece, first, ctx.budget)
    while found is not None and found.start() < stop:
        ctx.budget.step()
        starts.append(found.start())
        found = pattern.search(piece, found.start() + 1, ctx.budget)
    return starts


def _by_pattern(ctx: CommandContext, text: str, pattern: PosixRegex, *, before: bool) -> None:
    """Backwards: the next separator is the match that begins last before the one found already."""
    out = ctx.stdout
    end = limit = at = len(text)
    first, size = True, _PIECE
    anchored = "$" in pattern.pattern_source or "\\" in pattern.pattern_source
    while at > 0:
        start = max(0, at - size)
        base = max(0, start - 1)  # what stands before a match may matter to it
        ctx.budget.step((limit - base) // 1024 + 1)
        piece = text[base:limit]
        starts = _starts(ctx, piece, start - base, at - base, pattern)
        found_any = bool(starts)
        while starts:
            place = starts.pop()
            found = pattern.match(piece, place, ctx.budget)
            if found is not None and found.end() > limit - base:  # it must not reach into the separator that follows
                ctx.budget.step(len(piece) // 1024 + 1)
                found = pattern.match(piece[: limit - base], place, ctx.budget)
            if found is None:
                continue
            limit = base + place
            cut = limit if before else base + found.end()
            if before or not first or cut != end:
                out.write(encode(text[cut:end]))
            end, first = cut, False
            if anchored:  # the text ends here for what is before
                piece = piece[:place]
                ctx.budget.step(place // 1024 + 1)
                starts = _starts(ctx, piece, start - base, place, pattern)
        at = start
        size = _PIECE if found_any else 2 * size
    out.write(encode(text[:end]))


@command(
    "tac",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="before regex separator help version",
        read_error=("NAME: 'standard input': read error: REASON", 1),
        closing_error="NAME: -: REASON",
    ),
    late=True,
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
            source = ctx.open_input(name)
            if name == "-" and is_regular(source):  # it is read from its end, wherever it stands
                source.seek(0)  # type: ignore[attr-defined]
            data = read_all(ctx.budget, source)
        except IsADirectoryError:
            ctx.warn(f"{quote_always('standard input') if name == '-' else shown_name(name)}: read error: Invalid argument")
            continue
        except InputError:
            raise
        except OSError as error:
            ctx.warn(f"failed to open {quote_always(name)} for reading: {error.strerror}")
            continue
        if pattern is not None:
            _by_pattern(ctx, decode(data), pattern, before=args.flag("before"))
        else:
            _by_string(ctx, data, separator, before=args.flag("before"))
    return ctx.status
