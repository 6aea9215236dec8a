"""`time` (GNU time 1.9): run a program and say what it used.

The shell's keyword `time` hides it; scripts call it as `/usr/bin/time` or `command time`.
"""

from __future__ import annotations

from time import process_time

from agentsandbox.commands._processes.programs import find_problem, problem_status
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

_DEFAULT = (
    "%Uuser %Ssystem %Eelapsed %PCPU (%Xavgtext+%Davgdata %Mmaxresident)k\n"
    "%Iinputs+%Ooutputs (%Fmajor+%Rminor)pagefaults %Wswaps"
)
_POSIX = "real %e\nuser %U\nsys %S"
_VERBOSE = """\
\tCommand being timed: "%C"
\tUser time (seconds): %U
\tSystem time (seconds): %S
\tPercent of CPU this job got: %P
\tElapsed (wall clock) time (h:mm:ss or m:ss): %E
\tAverage shared text size (kbytes): %X
\tAverage unshared data size (kbytes): %D
\tAverage stack size (kbytes): %p
\tAverage total size (kbytes): %K
\tMaximum resident set size (kbytes): %M
\tAverage resident set size (kbytes): %t
\tMajor (requiring I/O) page faults: %F
\tMinor (reclaiming a frame) page faults: %R
\tVoluntary context switches: %w
\tInvoluntary context switches: %c
\tSwaps: %W
\tFile system inputs: %I
\tFile system outputs: %O
\tSocket messages sent: %s
\tSocket messages received: %r
\tSignals delivered: %k
\tPage size (bytes): %Z
\tExit status: %x"""
_ZEROS = frozenset("XDMIOFRWpKtwcsrk")
"""What the sandbox does not count for a single program."""


def _elapsed(seconds: float) -> str:
    hundredths = int(seconds * 100)
    minutes, rest = divmod(hundredths, 6000)
    if minutes >= 60:
        return f"{minutes // 60}:{minutes % 60:02}:{rest // 100:02}"
    return f"{minutes}:{rest // 100:02}.{rest % 100:02}"


def _report(format: str, values: dict[str, str]) -> str:
    out: list[str] = []
    at = 0
    while at < len(format):
        letter = format[at]
        following = format[at + 1 : at + 2]
        at += 1
        if letter == "%":
            at += 1
            out.append("?" if not following else values.get(following, f"?{following}"))
        elif letter == "\\":
            at += 1
            out.append({"t": "\t", "n": "\n", "\\": "\\"}.get(following, f"?\\{following}"))
        else:
            out.append(letter)
    return "".join(out)


@command(
    "time",
    manners=Manners(Release("time (GNU Time) 1.9", "-V, --version"), unbuffered=True),
    usage="""
    Usage: time [OPTION]... COMMAND [ARG]...
    Run COMMAND, then print the time it took on standard error.

      -a, --append         append to the file of -o
      -f, --format=FORMAT  print FORMAT: %e seconds, %E minutes, %U and %S CPU seconds, %P their
                           share, %x status, %C command; what a sandbox does not count is 0
      -o, --output=FILE    write to FILE, not to standard error
      -p, --portability    print real, user and sys, a line each
      -q, --quiet          do not report a status other than 0
      -v, --verbose        print all there is
      -h, --help           display this help and exit

    The status is that of COMMAND, 126 if it cannot be run, 127 if it is not found.
    """,
    permute=False,
    usage_status=125,
)
def time(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        ctx.stderr.write(
            b"/usr/bin/time: missing program to run\n"
            b"Try '/usr/bin/time --help' for more information.\n"
        )
        return 125
    words = args.operands
    began, cpu = ctx.host.clock(), process_time()
    problem = find_problem(ctx, words[0])
    if problem:
        reason, status = problem_status(problem)
        ctx.stderr.write(encode(f"/usr/bin/time: cannot run {words[0]}: {reason}\n"))
    else:
        status = ctx.run(words)
    seconds, used = max(0.0, ctx.host.clock() - began), process_time() - cpu
    values = dict.fromkeys(_ZEROS, "0") | {
        "%": "%",
        "C": " ".join(words),
        "E": _elapsed(seconds),
        "P": f"{int(100 * used / seconds)}%" if seconds else "?%",
        "S": "0.00",
        "U": f"{used:.2f}",
        "Z": "4096",
        "e": f"{seconds:.2f}",
        "x": str(status),
    }
    kind = args.last("format", "portability", "verbose")
    format = {"portability": _POSIX, "verbose": _VERBOSE}.get(
        kind or "", args.value("format", ctx.env.get("TIME", _DEFAULT)) or ""
    )
    text = _report(format, values)
    if status and not args.flag("quiet"):
        text = f"Command exited with non-zero status {status}\n{text}"
    _write(ctx, args, f"{text}\n")
    return status


def _write(ctx: CommandContext, args: Arguments, text: str) -> None:
    name = args.value("output")
    if name is None:
        ctx.stderr.write(encode(text))
        return
    try:
        with ctx.fs.open(ctx.path(name), "a" if args.flag("append") else "w") as target:
            target.write(encode(text))
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None
