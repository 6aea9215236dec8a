"""Shared by `chmod`, `chown` and `chgrp`: operands, -R, and messages about errors."""

from __future__ import annotations

import errno

from agentsandbox.commands._files.copying import single_slash
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.commands.permissions.tree_walks import descend
from agentsandbox.contract.command import describe_os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.fs.base import Stat


def walk_operands(
    ctx: CommandContext,
    args: Arguments,
    names: list[str],
    *,
    follow: bool,
    quiet: bool,
    after: bool = False,
    dangling: str = "",
    failure: str = "",
) -> Iterator[tuple[str, Stat]]:
    """Yield (name, status) of each operand, and with -R of all files below it.

    With `after`, files come before their directory. `follow` follows operands that are links.
    """

    def complain(name: str, error: OSError, what: str) -> None:
        ctx.status = 1
        shown = quote_always(name)
        if dangling and args.last("changes", "verbose") == "verbose" and what == "examine":
            if not quiet:
                tell(shown, name, error, what)
            ctx.print(f"{shown} could not be accessed")
        elif not quiet:
            tell(shown, name, error, what)
        if failure and what == "examine":
            ctx.print(failure.replace("{}", shown, 1))

    def tell(shown: str, name: str, error: OSError, what: str) -> None:
        if what == "list":
            ctx.warn(f"cannot read directory {shown}: {describe_os_error(error, '')}")
        elif dangling and error.errno == errno.ENOENT and _is_link(ctx, name):
            ctx.warn(f"{dangling} {shown}")
        else:
            trouble = "dereference" if not dangling and _is_link(ctx, name) else "access"
            ctx.warn(f"cannot {trouble} {shown}: {describe_os_error(error, '')}")

    recursive = args.flag("recursive")
    for operand in names:
        name = single_slash(operand)
        ctx.budget.step()
        if recursive:
            if is_protected_root(ctx, args, name):
                continue
            how = args.last("H", "L", "P")
            follow_top = how == "H" or not after
            yield from descend(
                ctx, name, complain, follow_top=follow_top, follow_all=how == "L", after=after
            )
            continue
        try:
            yield name, ctx.fs.stat(ctx.path(name), follow=follow)
        except OSError as error:
            complain(name, error, "examine")


def _is_link(ctx: CommandContext, name: str) -> bool:
    try:
        return ctx.fs.stat(ctx.path(name), follow=False).is_link
    except OSError:
        return False


def is_protected_root(ctx: CommandContext, args: Arguments, name: str) -> bool:
    """Whether --preserve-root forbids this operand, after a message about it."""
    if args.last("preserve-root", "no-preserve-root") != "preserve-root":
        return False
    try:
        if ctx.fs.realpath(ctx.path(name)) != "/":
            return False
    except OSError:
        return False
    same = "" if name == "/" else " (same as '/')"
    ctx.warn(f"it is dangerous to operate recursively on {quote_always(name)}{same}")
    ctx.warn("use --no-preserve-root to override this failsafe")
    return True
