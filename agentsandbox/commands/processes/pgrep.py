"""`pgrep` and `pkill` (procps): find processes by name, or send them a signal."""

from __future__ import annotations

from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._processes.listing import command_name, parent_pid, running
from agentsandbox.commands._suites import PROCPS
from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.processes import SIGNAL_NUMBERS, SIGNALS
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.processes import Process

_MISUSED = 2
_USER = 1000
_OPTIONS = """
     -c, --count           count of matching processes
     -f, --full            match the whole command line
     -i, --ignore-case     match case insensitively
     -n, --newest          select most recently started
     -o, --oldest          select least recently started
     -P, --parent=PPID,... children of these processes
     -u, --euid=ID,...     of these users
     -U, --uid=ID,...      of these users
     -v, --inverse         negates the matching
     -x, --exact           match exactly with the command name
"""


def _misuse(ctx: CommandContext, message: str) -> CommandError:
    hint = f"Try `{ctx.name} --help' for more information."
    return CommandError(f"{message}\n{hint}", _MISUSED)


def _numbers(text: str) -> list[int]:
    found = text.split(",")
    for part in found:
        if not (part.isascii() and part.isdecimal() and len(part) < 10):
            raise CommandError(f"not a number: {part}", _MISUSED)
    return [int(part) for part in found]


def _criteria(ctx: CommandContext, args: Arguments) -> list[Callable[[Process], bool]]:
    """Return the conditions that the options put on a process, apart from the pattern."""
    found: list[Callable[[Process], bool]] = []
    owners = Owners(ctx)
    for key, value in args.given:
        text = value or ""
        if key in ("euid", "uid"):
            unknown = [part for part in text.split(",") if owners.user_number(part) is None]
            if unknown:
                raise CommandError(f"invalid user name: {unknown[0]}", _MISUSED)
            ours = _USER in {owners.user_number(part) for part in text.split(",")}
            found.append(_always if ours else _never)
        elif key == "parent":
            found.append(_has_parent(ctx, _numbers(text)))
    return found


def _always(_process: Process) -> bool:
    return True


def _never(_process: Process) -> bool:
    return False


def _has_parent(ctx: CommandContext, parents: list[int]) -> Callable[[Process], bool]:
    return lambda process: parent_pid(ctx, process) in parents


def _select(ctx: CommandContext, args: Arguments) -> list[Process]:
    from agentsandbox.kernel.regexps import RegexError, compile_posix

    criteria = _criteria(ctx, args)
    if not args.operands and not criteria:
        raise _misuse(ctx, "no matching criteria specified")
    if len(args.operands) > 1:
        raise _misuse(ctx, "only one pattern can be provided")
    pattern = args.operands[0] if args.operands else ""
    try:
        regex = compile_posix(
            f"^({pattern})$" if args.flag("exact") else pattern,
            ignore_case=args.flag("ignore-case"),
        )
    except RegexError as error:
        raise CommandError(f"regex error: {error.message}", _MISUSED) from None
    current = ctx.host.scheduler.current
    inverse = args.flag("inverse")
    found = []
    for process in running(ctx):
        ctx.budget.step()
        if process is current and process is not ctx.host.scheduler.main:
            continue
        text = process.name if args.flag("full") else command_name(process)
        if (all(wants(process) for wants in criteria) and regex.test(text, ctx.budget)) != inverse:
            found.append(process)
    if args.flag("newest"):
        return found[-1:]
    return found[:1] if args.flag("oldest") else found


def _run(
    ctx: CommandContext,
    this: Command,
    words: Sequence[str],
    act: Callable[[CommandContext, Arguments], int],
) -> int:
    """Parse the words and act, in procps' words where they are wrong."""
    try:
        args = OptionParser(this.usage).parse(words)
        if args.flag("help"):
            ctx.print(this.usage, end="")
            return 0
        if args.flag("version"):
            ctx.stdout.write(encode(this.version()))
            return 0
        if args.flag("newest") and (args.flag("oldest") or args.flag("inverse")):
            raise UsageError("")
        return act(ctx, args)
    except UsageError as error:
        message = f"{ctx.name}: {error.message}\n" if error.message else ""
        ctx.stderr.write(encode(f"{message}\n{this.usage}"))
        return _MISUSED


@command(
    "pgrep",
    manners=Manners(
        PROCPS,
        long_options="""
            signal ignore-ancestors count cgroup delimiter list-name list-full full
            pgroup group ignore-case newest oldest older parent session terminal euid
            uid inverse lightweight exact pidfile logpidfile echo ns nslist queue
            runstates help version
        """,
    ),
    usage=f"""
    Usage:
     pgrep [options] <pattern>
    List the processes whose name matches an extended regular expression.

     -d, --delimiter=STRING  specify output delimiter
     -l, --list-name       list process name
     -a, --list-full       list the whole command line
    {_OPTIONS}
     -h, --help            display this help and exit
    """,
    raw=True,
)
def pgrep(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, pgrep, args.operands, _list)


def _list(ctx: CommandContext, args: Arguments) -> int:
    found = _select(ctx, args)
    if args.flag("count"):
        ctx.print(str(len(found)))
    elif found:
        lines = [str(process.pid) for process in found]
        if args.flag("list-full"):
            lines = [f"{process.pid} {process.name}" for process in found]
        elif args.flag("list-name"):
            lines = [f"{process.pid} {command_name(process)}" for process in found]
        ctx.print((args.value("delimiter", "\n") or "").join(lines))
    return 0 if found else 1


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """`-9` and `-TERM` as the first word."""
    if words and words[0].startswith("-") and len(words[0]) > 1:
        name = words[0][1:].removeprefix("SIG")
        if name in SIGNAL_NUMBERS or (
            name.isdecimal() and (int(name[:4]) in SIGNALS or name == "0")
        ):
            return [f"--signal={name}", *words[1:]]
    return words


@command(
    "pkill",
    manners=Manners(
        PROCPS,
        long_options="""
            signal ignore-ancestors count cgroup delimiter list-name list-full full
            pgroup group ignore-case newest oldest older parent session terminal euid
            uid inverse lightweight exact pidfile logpidfile echo ns nslist queue
            runstates help version
        """,
    ),
    usage=f"""
    Usage:
     pkill [options] <pattern>
    Signal the processes whose name matches an extended regular expression.

         --signal=SIG      signal to send, by name or number; also -SIG as the first word
     -e, --echo            display what is killed
    {_OPTIONS}
     -h, --help            display this help and exit
    """,
    raw=True,
)
def pkill(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, pkill, _rewrite(args.operands), _send)


def _send(ctx: CommandContext, args: Arguments) -> int:
    name = (args.value("signal", "TERM") or "").removeprefix("SIG")
    signal = SIGNAL_NUMBERS.get(name.upper(), -1)
    if name.isdecimal() and len(name) < 4:
        signal = int(name)
    found = _select(ctx, args)
    for process in found:
        if signal not in SIGNALS and signal != 0:
            ctx.warn(f"killing pid {process.pid} failed: Invalid argument")
            continue
        if args.flag("echo"):
            ctx.print(f"{command_name(process)} killed (pid {process.pid})")
        if signal:
            process.kill(signal)
    if args.flag("count"):
        ctx.print(str(len(found)))
    return 0 if found else 1
