"""The last operand of `cp`, `mv`, `ln` and `install`: a directory, or a new name."""

from __future__ import annotations

from agentsandbox.commands._files.copying import base_name, join, strip_slashes
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import describe_os_error
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.contract.command import Arguments, CommandContext


def name_in(directory: str, source: str) -> str:
    """Return the place of a source in the target directory."""
    return join(strip_slashes(directory) if directory.strip("/") else directory, base_name(source))


def directory_given(args: Arguments) -> str | None:
    """Return the directory of -t."""
    return args.value("target-directory")


def check_single_directory(given: Sequence[tuple[str, str | None]]) -> None:
    """Refuse a second -t."""
    if given[-1][0] == "target-directory" and any(
        key == "target-directory" for key, _ in given[:-1]
    ):
        raise CommandError("multiple target directories specified")


def split_operands(ctx: CommandContext, args: Arguments) -> tuple[list[str], str, bool]:
    """Return (sources, target, whether the target is a directory to put them into)."""
    operands = args.operands
    directory = directory_given(args)
    exact = args.flag("no-target-directory")
    if not operands:
        raise UsageError("missing file operand")
    if directory is not None:
        if exact:
            raise CommandError(
                "cannot combine --target-directory (-t) and --no-target-directory (-T)"
            )
        check_directory(ctx, directory, f"target directory {quote_always(directory)}")
        return operands, directory, True
    if len(operands) == 1:
        raise UsageError(f"missing destination file operand after {quote_always(operands[0])}")
    *sources, target = operands
    if exact:
        if len(sources) > 1:
            raise UsageError(f"extra operand {quote_always(operands[2])}")
        return sources, target, False
    if ctx.fs.is_dir(ctx.path(target)) if target else False:
        return sources, target, True
    if len(sources) > 1:
        check_directory(ctx, target, f"target {quote_always(target)}")
    return sources, target, False


def check_directory(ctx: CommandContext, name: str, what: str, *, follow: bool = True) -> None:
    """Raise `CommandError` unless `name` is a directory; `what` is its name in messages."""
    try:
        is_dir = ctx.fs.stat(ctx.path(name), follow=follow).is_dir
    except OSError as error:
        raise CommandError(f"{what}: {describe_os_error(error, '')}") from None
    if not is_dir:
        raise CommandError(f"{what}: Not a directory")
