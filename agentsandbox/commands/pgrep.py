"""`pgrep` and `pkill` (procps): find processes by name, or send them a signal."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._processes import running
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.processes import SIGNAL_NUMBERS, SIGNALS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.processes import Process

_OPTIONS = """
     -c, --count           count of matching processes
     -f, --full            use full process name to match
     -i, --ignore-case     match case insensitively
     -n, --newest          select most recently started
     -o, --oldest          select least recently started
     -u, --euid=ID         accepted: there is one user
     -v, --inverse         negates the matching
     -x, --exact           match exactly with the command name
"""


def _select(ctx: CommandContext, args: Arguments) -> list[Process]:
    from agentsandbox.regexps import RegexError, compile_posix

    if not args.operands and not args.flag("euid"):
        raise UsageError("no matching criteria specified", 2)
    if len(args.operands) > 1:
        raise UsageError("only one pattern can be provided", 2)
    pattern = args.operands[0] if args.operands else ""
    if args.flag("exact"):
        pattern = f"^({pattern})$"
    try:
        regex = compile_posix(pattern, ignore_case=args.flag("ignore-case"))
    except RegexError as error:
        raise CommandError(error.message, 2) from None
    current = ctx.host.scheduler.current
    found = [
        process
        for process in running(ctx)
        if (process is not current or process is ctx.host.scheduler.main)
        and regex.test(process.name if args.flag("full") else process.name.rpartition("/")[2], ctx.budget) != args.flag("inverse")
    ]
    if args.flag("newest"):
        return found[-1:]
    return found[:1] if args.flag("oldest") else found


@command(
    "pgrep",
    usage=f"""
    Usage: pgrep [options] <pattern>
    List the processes whose name matches an extended regular expression.

     -d, --delimiter=STRING  specify output delimiter
     -l, --list-name       list process name
     -a, --list-full       list process name, in full
    {_OPTIONS}
     -h, --help            display this help and exit
    """,
)
def pgrep(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(pgrep.usage, end="")
        return 0
    found = _select(ctx, args)
    if args.flag("count"):
        ctx.print(str(len(found)))
    elif found:
        named = args.flag("list-name") or args.flag("list-full")
        lines = [f"{process.pid} {process.name}" if named else str(process.pid) for process in found]
        ctx.print((args.value("delimiter", "\n") or "").join(lines))
    return 0 if found else 1


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """`-9` and `-TERM` as the first word."""
    if words and words[0].startswith("-") and len(words[0]) > 1:
        name = words[0][1:].removeprefix("SIG")
        if name in SIGNAL_NUMBERS or (name.isdigit() and int(name[:4]) in SIGNALS):
            return [f"--signal={name}", *words[1:]]
    return words


@command(
    "pkill",
    usage=f"""
    Usage: pkill [options] <pattern>
    Signal the processes whose name matches an extended regular expression.

     -s, --signal=SIG      signal to send, by name or number; also -SIG as the first word
     -e, --echo            display what is killed
    {_OPTIONS}
     -h, --help            display this help and exit
    """,
    rewrite=_rewrite,
)
def pkill(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(pkill.usage, end="")
        return 0
    name = (args.value("signal", "TERM") or "").removeprefix("SIG")
    signal = int(name) if name.isdigit() and len(name) < 4 else SIGNAL_NUMBERS.get(name.upper(), -1)
    if signal not in SIGNALS and signal != 0:
        raise CommandError(f"unknown signal: {name}", 2)
    found = _select(ctx, args)
    for process in found:
        if args.flag("echo"):
            ctx.print(f"{process.name} killed (pid {process.pid})")
        if signal:
            process.kill(signal)
    if args.flag("count"):
        ctx.print(str(len(found)))
    return 0 if found else 1
