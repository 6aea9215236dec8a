"""`which` (Debian's debianutils): where on the PATH a program is."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command


@command(
    "which",
    usage_status=2,
    permute=False,
    usage="""
    Usage: which [-a] NAME...
    Print the path of the program that each NAME would run. Status 1 if one is not found.

      -a      print all matches on the PATH
          --help  display this help and exit
    """,
)
def which(ctx: CommandContext, args: Arguments) -> int:
    status = 0 if args.operands else 1
    directories = ctx.env.get("PATH", "").split(":")
    for name in args.operands:
        ctx.budget.step()
        if "/" in name:
            found = [name] if _runs(ctx, name) else []
        elif not name:
            found = []
        else:
            found = [path for path in (f"{directory or '.'}/{name}" for directory in directories) if _runs(ctx, path)]
        for path in found if args.flag("a") else found[:1]:
            ctx.print(path)
        if not found:
            status = 1
    return status


def _runs(ctx: CommandContext, name: str) -> bool:
    path = ctx.path(name)
    return ctx.fs.is_file(path) and ctx.fs.access(path, 1)
