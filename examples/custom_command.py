"""Commands of your own in Python: a synchronous one, and one that awaits in the event loop."""

import asyncio

from agentsandbox import Arguments, CommandContext, Sandbox, UsageError, command


@command(
    "shout",
    usage="""
    Usage: shout [OPTION]... [FILE]...
    Write each FILE, or standard input, in capitals.

      -e, --exclaim=NUM  add NUM exclamation marks to each line
    """,
)
def shout(ctx: CommandContext, args: Arguments) -> int:
    number = args.value("exclaim", "0")
    if number not in ("0", "1", "2", "3"):
        raise UsageError(f"invalid number of exclamation marks: '{number}'")
    marks = b"!" * int(number)
    for _, source in ctx.inputs(args.operands):
        for line in source.lines():
            ctx.budget.step()
            ctx.stdout.write(line.rstrip(b"\n").upper() + marks + b"\n")
    return ctx.status


@command(
    "lookup",
    usage="""
    Usage: lookup WORD...
    Ask a service of the host program about each WORD.
    """,
)
async def lookup(ctx: CommandContext, args: Arguments) -> int:
    for word in args.operands:
        await asyncio.sleep(0.01)  # a request to a database, say
        ctx.print(f"{word}: {len(word)} letters")
    return 0


async def main() -> None:
    with Sandbox(commands=[shout, lookup]) as sandbox:
        print(sandbox.execute("echo hello | shout --exclaim=2").stdout, end="")
        print(sandbox.execute("shout --volume=11").stderr, end="")
        result = await sandbox.aexecute("lookup sand box | sort -r | shout")
        print(result.stdout, end="")


asyncio.run(main())
