"""`free` (procps): memory, as /proc/meminfo tells it."""

from __future__ import annotations

from agentsandbox.commands._suites import PROCPS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import encode

_POWERS = {"bytes": 0, "kibi": 1, "mebi": 2, "gibi": 3}


def _human(size: int, base: int) -> str:
    """Return a size in at most five characters: "512B", "7.7Gi", "123Mi"."""
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
     -k, --kibi   show output in kibibytes (default)
     -m, --mebi   show output in mebibytes
     -g, --gibi   show output in gibibytes
     -h, --human  show human-readable output
         --si     use powers of 1000
     -t, --total  show total for RAM + swap
         --help   display this help and exit
    """,
)
def free(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        ctx.stderr.write(encode(free.usage))
        return 1
    _print(ctx, args)
    return 0


def _print(ctx: CommandContext, args: Arguments) -> None:
    values = _read(ctx)
    total, unused = values.get("MemTotal", 0), values.get("MemFree", 0)
    swap, unused_swap = values.get("SwapTotal", 0), values.get("SwapFree", 0)
    base = 1000 if args.flag("si") else 1024
    divisor = int(base ** _POWERS[args.last(*_POWERS) or "kibi"])

    def show(title: str, sizes: list[int]) -> None:
        human = args.flag("human")
        shown = [_human(size, base) if human else str(size // divisor) for size in sizes]
        ctx.print(f"{title:<9}" + " ".join([f"{text:>11}" for text in shown]))

    titles = ("total", "used", "free", "shared", "buff/cache", "available")
    ctx.print(" " * 8 + "".join([f"{title:>12}" for title in titles]))
    show("Mem:", [total, total - unused, unused, 0, 0, values.get("MemAvailable", unused)])
    show("Swap:", [swap, swap - unused_swap, unused_swap])
    if args.flag("total"):
        show("Total:", [total + swap, total - unused + swap - unused_swap, unused + unused_swap])
