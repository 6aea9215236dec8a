"""`script` (util-linux 2.38): run a shell and keep a transcript of what it writes.

A sandbox has no terminal, so the transcript is what standard output and standard error got, with
the line ends of a terminal.
"""

from __future__ import annotations

from time import gmtime, strftime

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import ByteWriter, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import File


class _Copy(ByteWriter):
    """Writes to a stream and to the transcript; as on a terminal, all goes to standard output."""

    __slots__ = ("log", "target")

    def __init__(self, target: ByteWriter, log: File) -> None:
        self.target = target
        self.log = log

    def write(self, data: bytes) -> None:
        shown = data.replace(b"\n", b"\r\n")
        self.target.write(shown)
        self.log.write(shown)


def _time(ctx: CommandContext) -> str:
    return strftime("%Y-%m-%d %H:%M:%S+00:00", gmtime(ctx.host.clock()))


@command(
    "script",
    manners=Manners(UTIL_LINUX, unbuffered=True),
    usage="""
    Usage: script [OPTION]... [FILE]
    Run a shell, and write what it prints to FILE ("typescript" by default), too.

      -a, --append           append to FILE
      -c, --command=COMMAND  run COMMAND, not a shell that reads standard input
      -e, --return           end with the status of the command
      -f, --flush            the transcript is always written at once
          --force            write to a FILE that is a link, too
      -q, --quiet            do not say when it begins and ends
      -h, --help             display this help and exit
    """,
)
def script(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) > 1:
        raise UsageError("unexpected number of arguments")
    name = args.operands[0] if args.operands else "typescript"
    path = ctx.path(name)
    if not args.flag("force") and not args.operands and ctx.fs.exists(path, follow=False):
        if not ctx.fs.exists(path) or not ctx.fs.is_file(path):
            raise CommandError(f"output file `{name}' is a link; use --force to write to it")
    try:
        log = ctx.keep(ctx.fs.open(path, "a" if args.flag("append") else "w"))
    except OSError as error:
        raise CommandError(f"cannot open {name}: {error.strerror}") from None
    text = args.value("command")
    quiet = args.flag("quiet")
    shown = "" if text is None else f'COMMAND="{text}" '
    log.write(encode(f"Script started on {_time(ctx)} [{shown}<not executed on terminal>]\n"))
    if not quiet:
        ctx.print(f"Script started, output log file is '{name}'.")
    shell = ctx.env.get("SHELL", "/bin/bash")
    both = _Copy(ctx.stdout, log)
    words = [shell] if text is None else [shell, "-c", text]
    status = ctx.run(words, stdout=both, stderr=both)
    log.write(encode(f'\nScript done on {_time(ctx)} [COMMAND_EXIT_CODE="{status}"]\n'))
    if not quiet:
        ctx.print("Script done.")
    return status if args.flag("return") else 0
