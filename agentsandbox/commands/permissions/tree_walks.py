"""Walking trees without recursion: trees may be deeper than Python's stack."""

from __future__ import annotations

from agentsandbox.commands._files.copying import join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Stat


def descend(
    ctx: CommandContext,
    top: str,
    on_error: Callable[[str, OSError, str], None],
    *,
    follow_top: bool = False,
    follow_all: bool = False,
    after: bool = False,
) -> Iterator[tuple[str, Stat]]:
    """Each file of a tree, before what is below it or `after`: (its name as an operand, its
    `Stat`).

    `on_error(name, error, what)` is told of what it could not "examine" or "list". Loops of links
    are not entered.
    """
    pending: list[tuple[str, frozenset[int], Stat | None]] = [(top, frozenset(), None)]
    first = True
    while pending:
        ctx.budget.step()
        name, above, done = pending.pop()
        if done is not None:
            yield name, done
            continue
        try:
            info = ctx.fs.stat(ctx.path(name), follow=follow_all or (first and follow_top))
        except OSError as error:
            on_error(name, error, "examine")
            first = False
            continue
        first = False
        if not after:
            yield name, info
        if not info.is_dir or info.ino in above:
            if after:
                yield name, info
            continue
        if after:
            pending.append((name, above, info))
        try:
            names = ctx.fs.listdir(ctx.path(name))
        except OSError as error:
            on_error(name, error, "list")
            continue
        inside = above | {info.ino} if follow_all else above
        pending.extend([(join(name, child), inside, None) for child in reversed(names)])
