"""`uuencode` (POSIX 1003.1-2017, GNU sharutils): a file as text that survives mail."""

from __future__ import annotations

import base64
import binascii

from agentsandbox.commands._suites import SHARUTILS
from agentsandbox.commands._text.lines import blocks
from agentsandbox.commands.encodings.uu import FatalError, parse_words, reason
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import InputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.streams import ByteReader

_LINE = 45
_MANY = 256 * _LINE
_WRONG_CALL = 64
_HEADING = """uuencode (GNU sharutils) - encode a file into email friendly text
Usage:  uuencode [ -<flag> | --<name> ]... [<in-file>] <output-name>
Try 'uuencode --help' for more information.
"""


def _pieces(ctx: CommandContext, source: ByteReader) -> Iterator[bytes]:
    """The input in pieces of whole lines."""
    rest = b""
    for block in blocks(ctx.budget, source):
        data = rest + block
        cut = len(data) - len(data) % _LINE
        for start in range(0, cut, _MANY):
            yield data[start : min(cut, start + _MANY)]
        rest = data[cut:]
    if rest:
        yield rest


@command(
    "uuencode",
    manners=Manners(SHARUTILS),
    raw=True,
    usage="""
    Usage: uuencode [OPTION]... [FILE] NAME
    Write FILE (or standard input) as text that uudecode turns into a file called NAME.

      -m, --base64            encode in base64
      -h, --help              display this help and exit
    """,
)
def uuencode(ctx: CommandContext, args: Arguments) -> int:
    found = parse_words(ctx, uuencode, _HEADING)
    if isinstance(found, int):
        return found
    args = found
    if not 1 <= len(args.operands) <= 2:
        ctx.stderr.write(encode(_HEADING))
        return _WRONG_CALL
    *files, name = args.operands
    shown = files[0] if files else "standard input"
    in_base64 = args.flag("base64")
    mode = 0o666 & ~ctx.umask
    source: ByteReader = ctx.stdin
    failure: IsADirectoryError | None = None
    try:
        if files:
            mode = ctx.fs.stat(ctx.path(files[0])).permissions & 0o777
            source = ctx.keep(ctx.fs.open(ctx.path(files[0]), "r"))
    except IsADirectoryError as error:
        failure = error
    except OSError as error:
        return FatalError(1, reason(error, "freopen of stdin", shown)).show(ctx)
    ctx.print(f"begin{'-base64' if in_base64 else ''} {mode:03o} {name}")
    try:
        if failure is not None:
            raise failure
        for piece in _pieces(ctx, source):
            lines = [piece[at : at + _LINE] for at in range(0, len(piece), _LINE)]
            if in_base64:
                ctx.stdout.write(b"".join([base64.b64encode(line) + b"\n" for line in lines]))
            else:
                ctx.stdout.write(b"".join([binascii.b2a_uu(line, backtick=True) for line in lines]))
    except (IsADirectoryError, InputError) as error:
        return FatalError(1, reason(error, "fread", shown)).show(ctx)
    ctx.stdout.write(b"====\n" if in_base64 else b"`\nend\n")
    return 0
