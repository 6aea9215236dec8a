"""`free` (procps): memory, as /proc/meminfo tells it."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import PROCPS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

_UNITS = {
    "bytes": (True, 0), "kilo": (False, 1), "mega": (False, 2), "giga": (False, 3),
    "kibi": (True, 1), "mebi": (True, 2), "gibi": (True, 3),
}  # fmt: skip
"""Whether --si makes them powers of 1000, and which power."""


def _human(size: int, base: int) -> str:
    """In at most five characters: "512B", "7.7Gi", "123Mi"."""
    if size < base:
        return f"{size}B"
    for power, letter in enumerate("KMGTP", 1):
        value = size / base**power
        suffix = letter if base == 1000 else f"{letter}i"
        for shown in (f"{value:.1f}{suffix}", f"{int(value)}{suffix}"):
            if len(shown) <= (4 if base == 1000 else 5):
                return shown
    return f"{size}B"


def _read(ctx: CommandContext) -> dict[str, int]:
    values: dict[str, int] = {}
    for line in ctx.fs.read_text("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        digits = rest.split()[:1]
        if digits and digits[0].isdigit():
            values[name] = int(digits[0]) * 1024
    return values


@command(
    "free",
    manners=Manners(
        PROCPS,
        long_options="""
            bytes kilo mega giga tera peta kibi mebi gibi tebi pebi human si lohi total
            committed seconds count wide help version
        """,
        write_error=("NAME: write error", 1),
        full_write_error=("NAME: write error", 1),
    ),
    usage="""
    Usage: free [options]
    Display the amount of free and used memory.

     -b, --bytes  show output in bytes
         --kilo   show output in kilobytes
         --mega   show output in megabytes
         --giga   show output in gigabytes
     -k, --kibi   show output in kibibytes (default)
     -m, --mebi   show output in mebibytes
     -g, --gibi   show output in gibibytes
     -h, --human  show human-readable output
         --si     use powers of 1000
     -t, --total  show total for RAM + swap
     -s, --seconds=N  repeat printing every N seconds
     -c, --count=N  repeat printing N times, then exit
     -w, --wide   show buffers and cache apart
         --help   display this help and exit
    """,
)
def free(ctx: CommandContext, args: Arguments) -> int:
    pause, count = _read_pause(args), _read_count(args)
    if args.operands:
        ctx.stderr.write(encode(free.usage))
        return 1
    if pause is None and count is not None:
        pause = 1.0
    while True:
        _print(ctx, args)
        if count is not None:
            count -= 1
        if pause is None or count == 0:
            return 0
        ctx.print()
        ctx.host.scheduler.sleep(pause)


def _read_pause(args: Arguments) -> float | None:
    """Seconds between two reports, None for one report."""
    text = args.value("seconds")
    if text is None:
        return None
    if not re.fullmatch(r"\s*[-+]?([0-9]{1,9}\.?[0-9]*|\.[0-9]+)", text):
        raise CommandError(f"seconds argument failed: '{text}': Invalid argument")
    if float(text) < 0.000001:
        raise CommandError(f"seconds argument `{text}' is not positive number")
    return float(text)


def _read_count(args: Arguments) -> int | None:
    """How many reports, None for no end (or one)."""
    text = args.value("count")
    if text is None:
        return None
    if not re.fullmatch(r"\s*[-+]?[0-9]+", text):
        raise CommandError(f"failed to parse count argument: '{text}'")
    if not 1 <= int(text[:20]) < 2**31:
        raise CommandError(
            f"failed to parse count argument: '{text}': Numerical result out of range"
        )
    return int(text)


def _print(ctx: CommandContext, args: Arguments) -> None:
    values = _read(ctx)
    total, unused = values.get("MemTotal", 0), values.get("MemFree", 0)
    swap, unused_swap = values.get("SwapTotal", 0), values.get("SwapFree", 0)
    base = 1000 if args.flag("si") else 1024
    name, power = _UNITS[args.last(*_UNITS) or "kibi"]
    divisor = int((base if name else 1000) ** power)

    def show(title: str, sizes: list[int]) -> None:
        shown = [
            _human(size, base) if args.flag("human") else str(size // divisor) for size in sizes
        ]
        ctx.print(f"{title:<9}" + " ".join([f"{text:>11}" for text in shown]))

    wide = args.flag("wide")
    ctx.print(
        f"               total        used        free      shared{'     buffers       cache' if wide else '  buff/cache'}   available"
    )
    show(
        "Mem:",
        [
            total,
            total - unused,
            unused,
            0,
            *([0, 0] if wide else [0]),
            values.get("MemAvailable", unused),
        ],
    )
    show("Swap:", [swap, swap - unused_swap, unused_swap])
    if args.flag("total"):
        show("Total:", [total + swap, total - unused + swap - unused_swap, unused + unused_swap])
