"""`--files0-from=F` (GNU): operands that a file lists, each ended by NUL."""

from __future__ import annotations

from agentsandbox.commands._text.lines import read_all, shown_name
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import InputError, Null, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Arguments, CommandContext

__all__ = ["listed_operands"]


def listed_operands(ctx: CommandContext, args: Arguments, *, status: int = 1) -> list[str] | None:
    """The operands that the option names; None when it was not given. Operands beside it are refused."""
    source_name = args.value("files0-from")
    if source_name is None:
        return None
    if args.operands:
        raise UsageError(f"extra operand {quote_always(args.operands[0])}\nfile operands cannot be combined with --files0-from", status)
    try:
        data = read_all(ctx.budget, ctx.open_input(source_name))
    except (InputError, IsADirectoryError) as error:
        ctx.stdin = Null()  # a closed one is not closed once more at the end
        if ctx.name == "sort":
            raise CommandError(f"cannot read file names from {quote_always(source_name)}", status) from None
        raise CommandError(f"{source_name}: read error: {error.strerror}", status) from None
    except OSError as error:
        if ctx.name == "sort":
            raise CommandError(f"open failed: {shown_name(source_name)}: {error.strerror}", status) from None
        raise CommandError(f"cannot open {quote_always(source_name)} for reading: {error.strerror}", status) from None
    names = decode(data).split("\0")
    if not names[-1]:
        names.pop()
    kept = []
    for number, name in enumerate(names, 1):
        ctx.budget.step()
        problem = ""
        if not name:
            problem = f"{source_name}:{number}: invalid zero-length file name"
        elif name == "-" and (source_name == "-" or ctx.name == "sort"):
            problem = f"when reading file names from stdin, no file name of {quote_always('-')} allowed"
        if not problem:
            kept.append(name)
        elif ctx.name == "sort":
            raise CommandError(problem, status)
        else:
            ctx.warn(problem, status)
    return kept
