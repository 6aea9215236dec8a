"""`tsort` (POSIX 1003.1-2017, GNU coreutils): a total order from pairs."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import read_all, shown_name
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import decode

_PIECE = 1024


class _Item:
    """A name, the number of names that must come before it, and the names after it."""

    __slots__ = ("after", "before", "name", "printed")

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.before = 0
        self.after: list[_Item] = []
        self.printed = False


def _read_items(ctx: CommandContext, data: bytes, shown: str) -> list[_Item]:
    """Return all items in the order of their names."""
    ctx.budget.charge(16 * (data.count(b" ") + data.count(b"\n") + data.count(b"\t")))
    words = data.split()
    if len(words) % 2:
        raise CommandError(f"{shown}: input contains an odd number of tokens")
    names = sorted(set(words))
    items: dict[bytes, _Item] = {}
    for start in range(0, len(names), _PIECE):
        ctx.budget.step(_PIECE)
        items.update([(name, _Item(name)) for name in names[start : start + _PIECE]])
    for start in range(0, len(words), _PIECE):
        ctx.budget.step(_PIECE // 2)
        named = [items[word] for word in words[start : start + _PIECE]]
        for first, second in zip(named[::2], named[1::2], strict=True):
            if first is not second:
                second.before += 1
                first.after.append(second)
    return list(items.values())


def _print_ready(ctx: CommandContext, items: list[_Item]) -> None:
    """Print every item that nothing precedes any more."""
    ready = [item for item in items if not item.before and not item.printed]
    budget = ctx.budget
    for item in ready:  # which grows
        item.printed = True
        after = item.after
        budget.left -= len(after) + 1
        if budget.left < 0:
            budget.tick()
        for other in reversed(after):
            other.before -= 1
            if not other.before:
                ready.append(other)
    if ready:
        ctx.stdout.write(b"\n".join([item.name for item in ready]) + b"\n")


def _report_loop(ctx: CommandContext, items: list[_Item]) -> None:
    """Print the members of one loop, and take the last of its pairs out of the order."""
    previous: dict[_Item, _Item] = {}
    for item in items:
        if not item.printed:
            ctx.budget.step(len(item.after) + 1)
            previous.update(dict.fromkeys(item.after, item))
    member = next(item for item in items if item.before)
    seen: dict[_Item, None] = {}
    while member not in seen:
        ctx.budget.step()
        seen[member] = None
        member = previous[member]
    members = list(seen)
    loop = members[members.index(member) :]
    for each in (loop[0], *reversed(loop[1:])):
        ctx.warn(decode(each.name))
    loop[0].before -= 1
    previous[loop[0]].after.remove(loop[0])


@command(
    "tsort",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="help version",
        read_error=("NAME: standard input: REASON", 1),
        unreadable_is_empty=("", None),
        closing_error="NAME: standard input: REASON",
    ),
    usage="""
    Usage: tsort [OPTION] [FILE]
    Write the words of FILE in an order that agrees with all its pairs of words.

    With no FILE, or when FILE is -, read standard input.

          --help   display this help and exit
    """,
)
def tsort(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) > 1:
        raise UsageError(f"extra operand {quote(args.operands[1])}")
    name = args.operands[0] if args.operands else "-"
    try:
        data = read_all(ctx.budget, ctx.open_input(name))
    except IsADirectoryError:
        data = b""
    except OSError as error:
        raise CommandError(describe_os_error(error, shown_name(name))) from None
    items = _read_items(ctx, data, name)
    while True:
        _print_ready(ctx, items)
        if all(item.printed for item in items):
            return ctx.status
        ctx.warn(f"{name}: input contains a loop:")
        _report_loop(ctx, items)
