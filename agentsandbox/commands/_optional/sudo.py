"""`sudo` (1.9.13): run a command, if the host wants it to be there.

A sandbox has one user, who stays the same. So `sudo` gives no rights; it exists for scripts that
are written with it, and says on standard error that nothing changes.
"""

from __future__ import annotations

from agentsandbox.commands._processes.programs import find_problem
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

_KEPT = frozenset(
    "HOME PATH SHELL USER LOGNAME TERM LANG LANGUAGE DISPLAY COLORTERM TZ MAIL PWD".split()
)
"""The variables that a command gets without -E, besides those of the locale."""


def _environment(ctx: CommandContext, args: Arguments, words: list[str]) -> dict[str, str]:
    """Return the environment of the command; variables before it are taken from `words`."""
    keeps_all = args.flag("preserve-env") and not args.value("preserve-env")
    kept = set((args.value("preserve-env") or "").split(","))
    env = {
        name: value
        for name, value in ctx.env.items()
        if keeps_all or name in _KEPT or name in kept or name.startswith("LC_")
    }
    while words and "=" in words[0] and words[0][0] not in "=/-":
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    user = ctx.host.user
    env |= {"SUDO_USER": user, "SUDO_UID": "1000", "SUDO_GID": "1000",
            "SUDO_COMMAND": " ".join(words)}  # fmt: skip
    return env


def _check_user(ctx: CommandContext, name: str | None) -> None:
    if name is None or name in ("root", "#0", ctx.host.user):
        return
    known = [line.split(":")[0] for line in ctx.fs.read_text("/etc/passwd").splitlines()]
    if name not in known:
        ctx.warn(f"unknown user {name}")
        ctx.warn("error initializing audit plugin sudoers_audit")
        raise CommandError("", 1)


@command(
    "sudo",
    manners=Manners(Release("Sudo version 1.9.13p3", "-V, --version"), unbuffered=True),
    permute=False,
    usage="""
    Usage: sudo [OPTION]... [NAME=VALUE]... COMMAND [ARG]...
    Run COMMAND. A sandbox has one user, so it runs as that user, and sudo says so.

      -E, --preserve-env[=LIST]  keep the environment, or the variables of LIST
      -H, --set-home           the home directory stays the same here
      -i, --login              run COMMAND by a shell, in the home directory
      -k, --reset-timestamp    there is no password to forget
      -K, --remove-timestamp   the same
      -l, --list               list what may be run: everything
      -n, --non-interactive    never ask; there is nothing to ask for
      -S, --stdin              no password is read
      -s, --shell              run COMMAND by a shell
      -u, --user=USER          root or another known user; the one who runs COMMAND is the same
      -v, --validate           there is no password to ask for
      -h, --help               display this help and exit
    """,
)
def sudo(ctx: CommandContext, args: Arguments) -> int:
    _check_user(ctx, args.value("user"))
    words = list(args.operands)
    if args.flag("list"):
        ctx.print(
            f"User {ctx.host.user} may run the following commands on {ctx.host.hostname}:\n"
            "    (ALL : ALL) NOPASSWD: ALL"
        )
        return 0
    env = _environment(ctx, args, words)
    cwd = ctx.cwd
    if args.flag("login"):
        cwd = env.get("HOME", cwd) if ctx.fs.is_dir(env.get("HOME", cwd)) else cwd
    if args.flag("login") or args.flag("shell"):
        shell = env.get("SHELL", "/bin/bash")
        quoted = " ".join(["".join(_escaped(word)) for word in words])
        words = [shell, "-c", quoted] if words else [shell]
    if not words:
        if args.last("validate", "reset-timestamp", "remove-timestamp") is not None:
            return 0
        raise CommandError("a command is needed; try 'sudo --help'", 1)
    problem = find_problem(ctx, words[0], env, cwd)
    if problem:
        raise CommandError(f"{words[0]}: command not found", 1)
    ctx.stderr.write(
        encode(f"sudo: runs as {ctx.host.user}, the one user of this sandbox (D-sudo)\n")
    )
    return ctx.run(words, env=env, cwd=cwd)


def _escaped(word: str) -> list[str]:
    """Return the characters of a word as sudo passes them to a shell."""
    return [
        letter if letter.isalnum() or letter in "_-$" else f"\\{letter}" for letter in word
    ]
