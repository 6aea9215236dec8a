"""The door of git: the room `agentsandbox.git` does the work, when the library for it is there."""

from __future__ import annotations

import importlib.util

from agentsandbox.contract.command import Arguments, CommandContext, command

_MISSING = "git needs the optional library dulwich: pip install 'agentsandbox[git]'"


@command(
    "git",
    raw=True,
    usage="""
    Usage: git [-C PATH] [-c NAME=VALUE] COMMAND [ARGUMENT]...
    Keep versions of files, as git 2.39 does.

    `git help` lists the commands, and `git COMMAND -h` the options of one. Repositories are real
    ones: what is written here, git reads elsewhere.
    """,
)
def git(ctx: CommandContext, args: Arguments) -> int:
    if importlib.util.find_spec("dulwich") is None:
        ctx.warn(_MISSING, 127)
        return 127
    from agentsandbox.git.command import run

    return run(ctx)
