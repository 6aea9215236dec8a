"""`timeout` (GNU coreutils): run a program with a time limit."""

from __future__ import annotations

from agentsandbox.commands._processes.programs import check_program
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands._time.durations import parse_duration
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.processes import SIGNAL_NUMBERS, SIGNALS
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.processes import Process

_KILL = 9
_CAUGHT = {SIGNAL_NUMBERS[name] for name in "INT QUIT HUP TERM ALRM CHLD TTIN TTOU".split()}
"""Signals that the command gets as usual, even if they were ignored."""


def _duration(text: str) -> float | None:
    """Seconds, None for no limit."""
    seconds = parse_duration(text)
    if seconds is None:
        raise UsageError(f"invalid time interval {quote(text)}")
    return seconds if 0 < seconds < 1e9 else None


def _signal(text: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) < 4:
        number = int(text)
        if number == 0 or number in SIGNALS:
            return number
    number = SIGNAL_NUMBERS.get(text.upper().removeprefix("SIG"), 0)
    if not number and text != "EXIT":
        raise UsageError(f"{quote(text)}: invalid signal")
    return number


@command(
    "timeout",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="kill-after signal verbose foreground preserve-status help version",
        unbuffered=True,
    ),
    values={"kill-after": _duration, "signal": _signal},
    usage="""
    Usage: timeout [OPTION] DURATION COMMAND [ARG]...
      or:  timeout [OPTION]
    Start COMMAND, and kill it if still running after DURATION.

          --preserve-status    exit with the status of COMMAND, even when it timed out
          --foreground         accepted: a sandbox has one terminal, and no groups of processes
      -k, --kill-after=DURATION  also send a KILL signal if COMMAND still runs that long after the
                                 first signal
      -s, --signal=SIGNAL      the signal to send, by name or number; TERM if not given
      -v, --verbose            tell on stderr of any signal sent
          --help               display this help and exit

    DURATION is a number with an optional suffix: s for seconds (default), m for minutes, h for
    hours, d for days. 0 is no limit. The status is 124 if COMMAND timed out, 125 if timeout itself
    fails, 126 if COMMAND cannot be run, 127 if it cannot be found, 137 if it was sent the KILL
    signal, else the status of COMMAND.
    """,
    permute=False,
    usage_status=125,
)
def timeout(ctx: CommandContext, args: Arguments) -> int:
    kill_after = args.value("kill-after")
    grace = None if kill_after is None else _duration(kill_after)
    signal = _signal(args.value("signal", "TERM") or "")
    if len(args.operands) < 2:
        ctx.stderr.write(encode(f"Try '{ctx.name} --help' for more information.\n"))
        return 125
    seconds = _duration(args.operands[0])
    words = args.operands[1:]
    check_program(ctx, words[0], f"failed to run command {quote(words[0])}")
    scheduler = ctx.host.scheduler
    ignored = scheduler.current.ignored() - _CAUGHT - {signal}
    if seconds is None:
        return ctx.run(words, ignoring=ignored)
    process = ctx.start(words, ignoring=ignored)
    try:
        finished = scheduler.wait(process, seconds)
        if finished is not None:
            return finished
        _send(ctx, args, signal, words[0], process)
        if grace is not None and scheduler.wait(process, grace) is None:
            signal = _KILL
            _send(ctx, args, signal, words[0], process)
        finished = scheduler.wait(process)
    finally:
        if process.status is None:
            process.kill(SIGNAL_NUMBERS["TERM"])
    if args.flag("preserve-status") or signal == _KILL:
        return finished if finished is not None else 128 + signal
    return 124


def _send(ctx: CommandContext, args: Arguments, signal: int, name: str, process: Process) -> None:
    if args.flag("verbose"):
        ctx.stderr.write(
            encode(
                f"{ctx.name}: sending signal {SIGNALS.get(signal, '0')} to command {quote(name)}\n"
            )
        )
    if signal:
        process.kill(signal, group=True)
