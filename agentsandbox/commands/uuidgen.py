"""`uuidgen` (util-linux): a universally unique identifier."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command


@command(
    "uuidgen",
    usage="""
    Usage: uuidgen [options]
    Create a new UUID value. It comes from the sandbox's own source of chance, so a fixed seed repeats it.

     -r, --random  generate random-based uuid (default)
     -h, --help    display this help
    """,
)
def uuidgen(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(uuidgen.usage, end="")
        return 0
    bits = ctx.host.random.getrandbits(128)
    bits = bits & ~(0xF << 76) | 4 << 76
    bits = bits & ~(3 << 62) | 2 << 62
    digits = f"{bits:032x}"
    ctx.print("-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]]))
    return 0
