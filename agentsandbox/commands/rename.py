"""`rename`: change the names of files, by a Perl expression (Debian) or by plain texts (util-linux)."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import read_all
from agentsandbox.commands._prompts import ask
from agentsandbox.commands._rename_expressions import ExpressionError, compile_expression, looks_like_perl
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.releases import release_of
from agentsandbox.streams import decode, encode
from agentsandbox.usage import OptionParser

_NOTHING, _SOME_FAILED, _ALL_FAILED = 4, 2, 1
_WRONG = 2
_LEAST = 3
"""Operands of the form with plain texts."""


def _replaced(name: str, old: str, new: str, args: Arguments) -> str:
    """The name with the first, the last or every occurrence replaced."""
    if args.flag("all"):
        return name.replace(old, new)
    if args.flag("last"):
        head, found, tail = name.rpartition(old)
        return head + new + tail if found else name
    return name.replace(old, new, 1)


def _rename(ctx: CommandContext, args: Arguments, name: str, old: str, new: str) -> bool | None:
    """Rename one file, or its target with -s: whether it went well, None when there was nothing to do."""
    fs, path = ctx.fs, ctx.path(name)
    if args.flag("symlink"):
        if not fs.stat(path, follow=False).is_link:
            ctx.warn(f"{name}: not a symbolic link", _ALL_FAILED)
            return False
        text = fs.readlink(path)
        wanted = _replaced(text, old, new, args)
        if wanted == text:
            return None
        if not args.flag("nono"):
            fs.unlink(path)
            fs.symlink(wanted, path)
        if args.flag("verbose"):
            ctx.print(f"{name}: `{text}' -> `{wanted}'")
        return True
    fs.stat(path, follow=False)
    directory, base = ("", name) if "/" in old else posixpath.split(name)
    wanted = posixpath.join(directory, _replaced(base, old, new, args))
    if wanted == name:
        return None
    if args.flag("no-overwrite") and fs.exists(ctx.path(wanted), follow=False):
        if args.flag("verbose"):
            ctx.print(f"Skipping existing file: `{wanted}'")
        return None
    if args.flag("interactive") and fs.exists(ctx.path(wanted), follow=False) and not ask(ctx, f"{ctx.name}: overwrite `{wanted}'? "):
        return None
    if not args.flag("nono"):
        fs.rename(path, ctx.path(wanted))
    if args.flag("verbose"):
        ctx.print(f"`{name}' -> `{wanted}'")
    return True


@command(
    "rename",
    raw=True,
    usage="""
    Usage: rename [options] PERLEXPR [FILE]...
      or:  rename [options] -e PERLEXPR... [FILE]...
      or:  rename [options] EXPRESSION REPLACEMENT FILE...
    Rename files as Debian's does, by substitutions as Perl writes them: `rename 's/\\.htm$/.html/' *.htm`, several with
    semicolons between them. Of Perl it knows s///, tr///, y///, and $_ = lc, uc, lcfirst, ucfirst; s///e knows sprintf
    and sums. The names come from standard input if there are none. Or as util-linux's does: replace the first plain
    text EXPRESSION in the names by REPLACEMENT.

      -v, --verbose        tell what is renamed
      -n, --nono, --no-act  tell what would be renamed, change nothing
      -h, --help           display this help and exit

    With PERLEXPR:
      -0, --null           names on standard input end in NUL
      -f, --force          overwrite existing files
          --path, --fullpath  change the whole path (the default)
      -d, --filename, --nopath, --nofullpath  change the last part of the path only
      -e PERLEXPR          an expression; several work together
      -E PERLEXPR          the same

    With EXPRESSION and REPLACEMENT:
      -s, --symlink        change the targets of symbolic links
      -a, --all            replace every occurrence
      -l, --last           replace the last occurrence
      -o, --no-overwrite   leave existing files alone
      -i, --interactive    ask before overwriting
    """,
)
def rename(ctx: CommandContext, args: Arguments) -> int:
    args = OptionParser(rename.usage, permute=False).parse(args.operands)
    if args.flag("help"):
        ctx.print(rename.usage, end="")
        return 1
    if args.flag("version"):
        ctx.stdout.write(encode(release_of("rename")))
        return 0
    expressions = args.values("e") + args.values("E")
    if expressions or (args.operands and (looks_like_perl(args.operands[0]) or len(args.operands) < _LEAST)):
        return _rename_by_perl(ctx, args, expressions)
    return _rename_by_text(ctx, args)


def _rename_by_perl(ctx: CommandContext, args: Arguments, expressions: list[str]) -> int:
    names = args.operands if expressions else args.operands[1:]
    for wrong in ("symlink", "all", "last", "no-overwrite", "interactive"):
        if args.flag(wrong):
            raise CommandError(f"--{wrong} goes with plain texts, not with a Perl expression", _WRONG)
    try:
        change = compile_expression(";".join(expressions or args.operands[:1]), ctx.budget)
    except ExpressionError as error:
        ctx.stderr.write(encode(f"{error}\n"))
        return _WRONG
    if not names:
        end = b"\0" if args.flag("null") else b"\n"
        names = [decode(name) for name in read_all(ctx.budget, ctx.stdin).split(end) if name]
    only_base = args.last("path", "filename") == "filename"
    for name in names:
        ctx.budget.step()
        head = name[: name.rstrip("/").rfind("/") + 1] if only_base else ""
        wanted = head + change(name[len(head) :])
        if wanted != name:
            _move(ctx, args, name, wanted)
    return 0


def _move(ctx: CommandContext, args: Arguments, name: str, wanted: str) -> None:
    if not args.flag("force") and wanted and ctx.fs.exists(ctx.path(wanted)):
        mark = "'" if re.search(r"\s", name + wanted) else ""
        ctx.stderr.write(encode(f"{mark}{name}{mark} not renamed: {mark}{wanted}{mark} already exists\n"))
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
        try:
            result = _rename(ctx, args, name, old, new) if old else None
        except OSError as error:
            ctx.warn(f"{name}: not accessible: {error.strerror}")
            result = False
        done += result is True
        failed += result is False
    if failed:
        return _SOME_FAILED if done else _ALL_FAILED
    return 0 if done else _NOTHING
