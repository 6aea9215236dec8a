"""`basename` (POSIX 1003.1-2017, GNU coreutils): the last component of names."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode


@command(
    "basename",
    manners=Manners(COREUTILS, pure=True, long_options="multiple suffix zero help version"),
    permute=False,
    usage="""
    Usage: basename NAME [SUFFIX]
      or:  basename OPTION... NAME...
    Print NAME without its leading directories, and without SUFFIX at its end.

      -a, --multiple       every operand is a NAME
      -s, --suffix=SUFFIX  remove SUFFIX; implies -a
      -z, --zero           end each line with NUL, not newline
          --help           display this help and exit
    """,
)
def basename(ctx: CommandContext, args: Arguments) -> int:
    names = args.operands
    if not names:
        raise UsageError("missing operand")
    suffix = args.value("suffix", "") or ""
    if not (args.flag("multiple") or args.flag("suffix")):
        if len(names) > 2:
            raise UsageError(f"extra operand {quote(names[2])}")
        suffix = names[1] if len(names) == 2 else ""
        names = names[:1]
    end = "\0" if args.flag("zero") else "\n"
    for name in names:
        ctx.budget.step()
        base = name.rstrip("/").rpartition("/")[2] or name[:1]
        if suffix and base != suffix and base.endswith(suffix):
            base = base[: -len(suffix)]
        ctx.stdout.write(encode(base + end))
    return 0
