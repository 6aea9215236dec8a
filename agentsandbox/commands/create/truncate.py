"""`truncate` (GNU coreutils): set the size of files."""

from __future__ import annotations

import errno
import re
import stat

from agentsandbox.commands._files.block_sizes import parse_scaled
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import os_error


@command(
    "truncate",
    manners=Manners(
        COREUTILS, bytewise=True, long_options="no-create io-blocks reference size help version"
    ),
    values={"size": lambda text: _read_size(text)},  # noqa: PLW0108 - it stands below
    usage="""
    Usage: truncate OPTION... FILE...
    Make each FILE the given size: cut it, or fill it with zeros. A FILE that is missing is made.

      -c, --no-create       do not make files
      -r, --reference=RFILE base the size on that of RFILE
      -s, --size=SIZE       set the size, in units such as K, M, KB; with a prefix change it:
                              + extend by, - reduce by, < at most, > at least,
                              / round down to, % round up to a multiple of
          --help            display this help and exit
    """,
)
def truncate(ctx: CommandContext, args: Arguments) -> int:
    text = args.value("size")
    reference = args.value("reference")
    if text is None and reference is None:
        raise UsageError(f"you must specify either {quote('--size')} or {quote('--reference')}")
    how, number = _read_size(text) if text is not None else ("+", 0)
    if reference is not None and text is not None and not how:
        raise UsageError(
            f"you must specify a relative {quote('--size')} with {quote('--reference')}"
        )
    if not args.operands:
        raise UsageError("missing file operand")
    base: int | None = None
    if reference is not None:
        try:
            info = ctx.fs.stat(ctx.path(reference))
        except OSError as error:
            raise CommandError(
                f"cannot stat {quote_always(reference)}: {describe_os_error(error, '')}"
            ) from None
        base = info.size
    for name in args.operands:
        ctx.budget.step()
        _truncate(ctx, name, how, number, base, create=not args.flag("no-create"))
    return ctx.status


def _read_size(text: str) -> tuple[str, int]:
    """Return (how the size changes, a number)."""
    found = re.fullmatch(r"\s*([<>/%]\s*|[+-](?=\S)|)(.*)", text, re.DOTALL | re.ASCII)
    assert found is not None
    how, digits = found[1].strip(), found[2]
    signed = digits[:1] in ("+", "-") or (how in ("+", "-") and not digits[:1].isdecimal())
    try:
        number = None if signed else parse_scaled(digits, "KMGTPEZYkm")
    except OverflowError:
        raise CommandError(
            f"Invalid number: {quote(text.strip())}: Value too large for defined data type"
        ) from None
    if number is None:
        if how and how in "<>/%" and digits[:1] in ("+", "-"):
            raise UsageError("multiple relative modifiers specified")
        raise CommandError(f"Invalid number: {quote(digits if how and how in '<>/%' else text)}")
    if how in ("/", "%") and not number:
        raise CommandError("division by zero")
    return how, number


def _truncate(
    ctx: CommandContext, name: str, how: str, number: int, base: int | None, *, create: bool
) -> None:
    shown = quote_always(name)
    try:
        path = ctx.path(name)
        if ctx.fs.exists(path) and stat.S_ISFIFO(ctx.fs.stat(path).mode):
            raise os_error(errno.ENXIO)  # it does not wait for a reader
        file = ctx.fs.open(path, "a" if create else "r+", permissions=0o666 & ~ctx.umask)
    except OSError as error:
        if not create and error.errno == errno.ENOENT:
            return
        ctx.warn(f"cannot open {shown} for writing: {describe_os_error(error, '')}")
        return
    try:
        size = _new_size(file.stat().size if base is None else base, how, number)
        try:
            file.truncate(size)
        except OSError as error:
            ctx.warn(f"failed to truncate {shown} at {size} bytes: {describe_os_error(error, '')}")
    finally:
        file.release()


def _new_size(size: int, how: str, number: int) -> int:
    if how == "+":
        return size + number
    if how == "-":
        return max(0, size - number)
    if how == "<":
        return min(size, number)
    if how == ">":
        return max(size, number)
    if how == "/":
        return size // number * number
    if how == "%":
        return -(-size // number) * number
    return number
