"""`tac` (GNU coreutils): the lines of files, last first."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import is_regular, read_all, shown_name
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import InputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
      -s, --separator=STRING   records are separated by STRING, not by newlines
          --help               display this help and exit
    """,
)
def tac(ctx: CommandContext, args: Arguments) -> int:
    text = args.value("separator", "\n") or ""
    separator = encode(text or "\0")
    for name in args.operands or ["-"]:
        try:
            source = ctx.open_input(name)
            if name == "-" and is_regular(source):  # it is read from its end, wherever it stands
                source.seek(0)  # type: ignore[attr-defined]
            data = read_all(ctx.budget, source)
        except IsADirectoryError:
            shown = quote_always("standard input") if name == "-" else shown_name(name)
            ctx.warn(f"{shown}: read error: Invalid argument")
            continue
        except InputError:
            raise
        except OSError as error:
            ctx.warn(f"failed to open {quote_always(name)} for reading: {error.strerror}")
            continue
        _by_string(ctx, data, separator, before=args.flag("before"))
    return ctx.status
