"""`free` (procps): memory, as /proc/meminfo tells it."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command

_UNITS = {"bytes": 1, "kilo": 1000, "mega": 1000**2, "giga": 1000**3, "kibi": 1024, "mebi": 1024**2, "gibi": 1024**3}


def _human(size: int) -> str:
    for unit in ("B", "Ki", "Mi", "Gi"):
        if size < 1024 or unit == "Gi":
            return f"{size}{unit}"
        size //= 1024
    raise AssertionError


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
     -t, --total  show total for RAM + swap
         --help   display this help and exit
    """,
)
def free(ctx: CommandContext, args: Arguments) -> int:
    values = _read(ctx)
    total, unused = values.get("MemTotal", 0), values.get("MemFree", 0)
    swap, unused_swap = values.get("SwapTotal", 0), values.get("SwapFree", 0)
    divisor = _UNITS[args.last(*_UNITS) or "kibi"]

    def show(name: str, sizes: list[int]) -> None:
        shown = [_human(size) if args.flag("human") else str(size // divisor) for size in sizes]
        ctx.print(f"{name:<8}" + " ".join([f"{text:>11}" for text in shown]))

    ctx.print("               total        used        free      shared  buff/cache   available")
    show("Mem:", [total, total - unused, unused, 0, 0, values.get("MemAvailable", unused)])
    show("Swap:", [swap, swap - unused_swap, unused_swap])
    if args.flag("total"):
        show("Total:", [total + swap, total - unused + swap - unused_swap, unused + unused_swap])
    return 0
