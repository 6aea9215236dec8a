"""`rename`: change names of files by a Perl expression (Debian) or a plain text (util-linux)."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.commands._text.lines import read_all
from agentsandbox.commands.rename.expressions import (
    ExpressionError,
    compile_expression,
    looks_like_perl,
)
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import bytewise, decode, encode

_NOTHING, _SOME_FAILED, _ALL_FAILED, _WRONG = 4, 2, 1, 2
_LEAST = 3
"""Operands of the form with plain texts."""
_BYTES = {byte: 0xDC00 + byte for byte in range(0x80, 0x100)}


@command(
    "rename",
    permute=False,
    manners=Manners(Release("/usr/bin/NAME using File::Rename version 2.01", "-V, --version")),
    usage="""
    Usage: rename [options] PERLEXPR [FILE]...
      or:  rename [options] -e PERLEXPR... [FILE]...
      or:  rename [options] EXPRESSION REPLACEMENT FILE...
    Rename files as Debian's does, by substitutions as Perl writes them, several with semicolons
    between them: `rename 's/\\.htm$/.html/' *.htm`. Of Perl it knows s///, tr///, y///, and
    $_ = lc, uc, lcfirst, ucfirst; s///e knows sprintf and sums. The names come from standard
    input if there are none. Or as util-linux's does: replace the plain text EXPRESSION once.

      -v, --verbose        tell what is renamed
      -n, --nono, --no-act  tell what would be renamed, change nothing
      -f, --force          overwrite existing files
      -e PERLEXPR          an expression; several work together
      -h, --help           display this help and exit
    """,
)
def rename(ctx: CommandContext, args: Arguments) -> int:
    expressions = args.values("e")
    operands = args.operands
    if expressions or (operands and (looks_like_perl(operands[0]) or len(operands) < _LEAST)):
        return _rename_by_perl(ctx, args, expressions)
    return _rename_by_text(ctx, args)


def _rename_by_perl(ctx: CommandContext, args: Arguments, expressions: list[str]) -> int:
    names = args.operands if expressions else args.operands[1:]
    text = ";".join(expressions or args.operands[:1])
    try:
        change = compile_expression(bytewise(text), ctx.budget)  # to Perl names are bytes
    except ExpressionError as error:
        ctx.stderr.write(encode(f"{error}\n"))
        return _WRONG
    if not names:
        names = [decode(name) for name in read_all(ctx.budget, ctx.stdin).split(b"\n") if name]
    for name in names:
        ctx.budget.step()
        wanted = decode(encode(change(bytewise(name)).translate(_BYTES)))
        if wanted != name:
            _move(ctx, args, name, wanted)
    return 0


def _move(ctx: CommandContext, args: Arguments, name: str, wanted: str) -> None:
    if not args.flag("force") and wanted and ctx.fs.exists(ctx.path(wanted)):
        mark = "'" if re.search(r"\s", name + wanted) else ""
        told = f"{mark}{name}{mark} not renamed: {mark}{wanted}{mark} already exists\n"
        ctx.stderr.write(encode(told))
        return
    if args.flag("nono"):
        ctx.print(f"rename({name}, {wanted})")
        return
    try:
        ctx.fs.rename(ctx.path(name), ctx.path(wanted))
    except OSError as error:
        ctx.stderr.write(encode(f"Can't rename {name} {wanted}: {error.strerror}\n"))
        return
    if args.flag("verbose"):
        ctx.print(f"{name} renamed as {wanted}")


def _rename_by_text(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) < _LEAST:
        raise UsageError("not enough arguments")
    old, new, *names = args.operands
    done = failed = 0
    for name in names:
        ctx.budget.step()
        directory, base = ("", name) if "/" in old else posixpath.split(name)
        wanted = posixpath.join(directory, base.replace(old, new, 1) if old else base)
        try:
            ctx.fs.stat(ctx.path(name), follow=False)
            if wanted == name:
                continue
            if not args.flag("nono"):
                ctx.fs.rename(ctx.path(name), ctx.path(wanted))
        except OSError as error:
            ctx.warn(f"{name}: not accessible: {error.strerror}")
            failed += 1
            continue
        done += 1
        if args.flag("verbose"):
            ctx.print(f"`{name}' -> `{wanted}'")
    if failed:
        return _SOME_FAILED if done else _ALL_FAILED
    return 0 if done else _NOTHING
