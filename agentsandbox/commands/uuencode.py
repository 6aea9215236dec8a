"""`uuencode` (POSIX 1003.1-2017): a file as text that survives mail."""

from __future__ import annotations

import base64
import binascii

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._lines import read_all
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.streams import encode

_LINE = 45


@command(
    "uuencode",
    usage="""
    Usage: uuencode [-m] [FILE] NAME
    Write FILE (or standard input) as text that uudecode turns into a file called NAME.

      -m, --base64  encode in base64
          --help    display this help and exit
    """,
)
def uuencode(ctx: CommandContext, args: Arguments) -> int:
    if not 1 <= len(args.operands) <= 2:
        raise UsageError("a name for the decoded file is needed" if not args.operands else f"extra operand '{args.operands[2]}'")
    *files, name = args.operands
    mode = 0o666 & ~ctx.umask
    try:
        source = ctx.open_input(files[0]) if files else ctx.stdin
        if files and files[0] != "-":
            mode = ctx.fs.stat(ctx.path(files[0])).permissions & 0o777
        data = read_all(ctx.budget, source)
    except OSError as error:
        raise CommandError(describe_os_error(error, files[0] if files else "-")) from None
    in_base64 = args.flag("base64")
    ctx.stdout.write(encode(f"begin{'-base64' if in_base64 else ''} {mode:03o} {name}\n"))
    for start in range(0, len(data), _LINE):
        ctx.budget.step()
        part = data[start : start + _LINE]
        ctx.stdout.write(base64.b64encode(part) + b"\n" if in_base64 else binascii.b2a_uu(part, backtick=True))
    ctx.stdout.write(b"====\n" if in_base64 else b"`\nend\n")
    return 0
