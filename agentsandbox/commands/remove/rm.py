"""`rm` (POSIX 1003.1-2017, GNU coreutils): remove files and directories."""

from __future__ import annotations

from itertools import takewhile

from agentsandbox.commands._files.prompts import ask
from agentsandbox.commands._files.removal import Remover, is_dot
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choice_of, choose
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

_INTERACTIVE = (("never", "no", "none"), ("once",), ("always", "yes"))


def _point_at_file(ctx: CommandContext, error: UsageError) -> None:
    """Add a hint to the error if an unknown option is the name of a file."""
    for word in ctx.words:
        if len(word) > 1 and word[0] == "-" and ctx.fs.exists(ctx.path(word), follow=False):
            error.message += (
                f"\nTry '{ctx.name} ./{shown_name(word)}' to remove the file {quote_always(word)}."
            )
            return


@command(
    "rm",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            force interactive one-file-system no-preserve-root preserve-root
            -presume-input-tty recursive dir verbose help version
        """,
        read_error=("NAME: error closing file", 1),
        closed_read_error=("NAME: error closing file: REASON", 1),
    ),
    values={"interactive": choice_of("--interactive", _INTERACTIVE)},
    advice=_point_at_file,
    usage="""
    Usage: rm [OPTION]... [FILE]...
    Remove the FILE(s). Directories stay unless -r or -d is given.

      -f, --force              ignore what does not exist, never ask
      -i                       ask before each removal
      -I                       ask once before more than three files or a recursive removal
          --interactive[=WHEN] never, once (-I) or always (-i)
          --one-file-system    stay on the filesystem of each operand
          --no-preserve-root   treat / like any other directory
          --preserve-root      do not remove / (default)
      -r, -R, --recursive      remove directories with all below them
      -d, --dir                remove empty directories
      -v, --verbose            say what is done
          --help               display this help and exit
    """,
)
def rm(ctx: CommandContext, args: Arguments) -> int:
    options = takewhile(lambda word: word != "--", ctx.words)
    if any(
        len(word) > 2 and word != "--no-preserve-root" and "--no-preserve-root".startswith(word)
        for word in options
    ):
        raise CommandError("you may not abbreviate the --no-preserve-root option")
    force, interactive, once = _read_prompting(args)
    recursive = args.flag("recursive")
    if not args.operands:
        if force:
            return 0
        raise UsageError("missing operand")
    preserve_root = args.last("no-preserve-root", "preserve-root") != "no-preserve-root"
    if once and (recursive or len(args.operands) > 3):
        count = len(args.operands)
        what = f"{count} argument{'' if count == 1 else 's'}{' recursively' if recursive else ''}"
        if not ask(ctx, f"remove {what}?"):
            return 0
    remover = Remover(
        ctx,
        recursive=recursive,
        empty_directories=args.flag("dir"),
        force=force,
        interactive=interactive,
        verbose=args.flag("verbose"),
    )
    for name in args.operands:
        ctx.budget.step()
        if recursive and is_dot(name):
            ctx.warn(f"refusing to remove '.' or '..' directory: skipping {quote_always(name)}")
        elif recursive and preserve_root and _is_root(ctx, name):
            shown = quote_always(name)
            same = "" if name == "/" else " (same as '/')"
            ctx.warn(f"it is dangerous to operate recursively on {shown}{same}")
            ctx.warn("use --no-preserve-root to override this failsafe")
        else:
            remover.remove(name)
    return ctx.status


def _read_prompting(args: Arguments) -> tuple[bool, bool, bool]:
    """Return (-f, -i, -I), of which the last one given counts."""
    force = interactive = once = False
    for key, value in args.given:
        if key == "force":
            force, interactive, once = True, False, False
        elif key in ("i", "I", "interactive"):
            when = {"i": "always", "I": "once"}.get(key, "always")
            if value is not None:
                when = choose(value, "--interactive", _INTERACTIVE)
            force = force and when == "never"
            interactive, once = when == "always", when == "once"
    return force, interactive, once


def _is_root(ctx: CommandContext, name: str) -> bool:
    try:
        path = ctx.path(name)
        is_link = ctx.fs.stat(path, follow=False).is_link and not name.endswith("/")
        return not is_link and ctx.fs.realpath(path) == "/"
    except OSError:
        return False
