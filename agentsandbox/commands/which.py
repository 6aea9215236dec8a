"""`which` (Debian's debianutils): where on the PATH a program is."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.kernel.streams import encode


@command(
    "which",
    raw=True,
    usage="""
    Usage: which [-a] NAME...
    Print the path of the program that each NAME would run. Status 1 if one is not found.

      -a      print all matches on the PATH
          --help  display this help and exit
    """,
)
def which(ctx: CommandContext, args: Arguments) -> int:
    if args.operands[:1] == ["--help"]:
        ctx.print(which.usage, end="")
        return 0
    names, every = list(args.operands), False
    while names and names[0].startswith("-") and len(names[0]) > 1:
        word = names.pop(0)
        if word == "--":
            break
        wrong = word[1:].lstrip("a")[:1]
        if wrong:
            ctx.stderr.write(encode(f"Illegal option -{wrong}\n"))
            ctx.print(f"Usage: /usr/bin/{ctx.name} [-a] args")
            return 2
        every = True
    status = 0 if names else 1
    directories = ctx.env.get("PATH", "").split(":")
    for name in names:
        ctx.budget.step()
        if "/" in name:
            found = [name] if _runs(ctx, name) else []
        elif not name:
            found = []
        else:
            found = [
                path
                for path in (f"{directory or '.'}/{name}" for directory in directories)
                if _runs(ctx, path)
            ]
        for path in found if every else found[:1]:
            ctx.print(path)
        if not found:
            status = 1
    return status


def _runs(ctx: CommandContext, name: str) -> bool:
    path = ctx.path(name)
    return ctx.fs.is_file(path) and ctx.fs.access(path, 1)
