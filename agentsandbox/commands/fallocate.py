"""`fallocate` (util-linux 2.38): make a file as long as asked for."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError

_SIZE = re.compile(r"([0-9]{1,18})(?:([KMGTPEZY])(i?B)?)?\Z", re.ASCII)


def _size(text: str, what: str) -> int:
    found = _SIZE.match(text)
    if found is None:
        raise CommandError(f"invalid {what} value specified")
    base = 1000 if found[3] == "B" else 1024
    power = "KMGTPEZY".index(found[2]) + 1 if found[2] else 0
    size: int = int(found[1]) * base**power
    return size


@command(
    "fallocate",
    manners=Manners(UTIL_LINUX),
    usage="""
    Usage: fallocate [OPTION]... FILE
    Make FILE at least as long as asked for; what is new is zeros.

      -l, --length=NUM   length of the range
      -n, --keep-size    do not change the length of the file
      -o, --offset=NUM   where the range begins
      -x, --posix        the same here
      -v, --verbose      say what was done
      -h, --help         display this help and exit

    NUM may have a suffix: KiB (or K), MiB, … of 1024, KB, MB, … of 1000.
    """,
)
def fallocate(ctx: CommandContext, args: Arguments) -> int:
    text = args.value("length")
    if text is None:
        raise CommandError("no length argument specified")
    length = _size(text, "length")
    if not length:
        raise CommandError("invalid length value specified")
    offset = _size(args.value("offset", "0") or "", "offset")
    if not args.operands:
        raise CommandError("no filename specified")
    if len(args.operands) > 1:
        raise CommandError("unexpected number of arguments")
    name = args.operands[0]
    path = ctx.path(name)
    try:
        with ctx.fs.open(path, "a") as file:
            size = file.stat().size
            if size < offset + length and not args.flag("keep-size"):
                file.truncate(offset + length)
    except OSError as error:
        raise CommandError(f"cannot open {name}: {error.strerror}") from None
    if args.flag("verbose"):
        shown = f"{length / 1024:g} KiB" if length >= 1024 else f"{length} B"
        ctx.print(f"{name}: {shown} ({length} bytes) allocated.")
    return 0
