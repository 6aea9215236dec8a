"""`rename` (util-linux): replace a text in the names of files."""

from __future__ import annotations

import posixpath

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._prompts import ask
from agentsandbox.errors import UsageError

_NOTHING, _SOME_FAILED, _ALL_FAILED = 4, 2, 1


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
        if not args.flag("no-act"):
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
    if not args.flag("no-act"):
        fs.rename(path, ctx.path(wanted))
    if args.flag("verbose"):
        ctx.print(f"`{name}' -> `{wanted}'")
    return True


@command(
    "rename",
    permute=False,
    usage="""
    Usage: rename [options] EXPRESSION REPLACEMENT FILE...
    Replace the first EXPRESSION in the names of FILEs by REPLACEMENT: `rename .htm .html *.htm`. These are plain texts.

      -v, --verbose       tell what is renamed
      -s, --symlink       change the targets of symbolic links
      -n, --no-act        change nothing
      -a, --all           replace every occurrence
      -l, --last          replace the last occurrence
      -o, --no-overwrite  leave existing files alone
      -i, --interactive   ask before overwriting
      -h, --help          display this help and exit
    """,
)
def rename(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) < 3:
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
