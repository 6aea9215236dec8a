"""`mktemp` (GNU coreutils): make a file or directory with a name that nobody can guess."""

from __future__ import annotations

import string

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_as
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

_LETTERS = string.ascii_letters + string.digits
_ATTEMPTS = 1000


@command(
    "mktemp",
    manners=Manners(
        COREUTILS, bytewise=True, long_options="directory quiet dry-run suffix tmpdir help version"
    ),
    usage="""
    Usage: mktemp [OPTION]... [TEMPLATE]
    Make a temporary file and print its name. TEMPLATE holds at least three X in a row, which are
    replaced; it is tmp.XXXXXXXXXX in $TMPDIR or /tmp if not given.

      -d, --directory     make a directory
      -u, --dry-run       make nothing, only print a name
      -q, --quiet         no message when nothing can be made
          --suffix=SUFF   append SUFF to TEMPLATE
      -p DIR              TEMPLATE is relative to DIR
          --tmpdir[=DIR]  TEMPLATE is relative to DIR, or to $TMPDIR or /tmp
      -t                  TEMPLATE is one component, relative to $TMPDIR, DIR or /tmp
          --help          display this help and exit
    """,
)
def mktemp(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) > 1:
        raise UsageError("too many templates")
    whole = args.operands[0] if args.operands else "tmp.XXXXXXXXXX"
    try:
        template, suffix, count = _split(whole, args.value("suffix"))
    except CommandError as error:
        if not args.flag("t") or "X" in whole:
            raise
        ctx.warn(error.message)
        way = "mktemp -t " + quote_as(f"{whole}.XXXXXX", "shell")
        ctx.advise_macos(f"-t PREFIX is macOS's; GNU mktemp takes a template: {way}")
        return 1
    directory = _choose_directory(ctx, args, whole)
    if directory is not None:
        template = (
            f"{directory.rstrip('/') or '/'}/{template}" if directory != "/" else f"/{template}"
        )
    stem = template[: len(template) - count]
    what = "directory" if args.flag("directory") else "file"
    try:
        name = _make(ctx, stem, count, suffix, what, dry=args.flag("dry-run"))
    except OSError as error:
        if args.flag("quiet"):
            return 1
        shown = quote(f"{template}{suffix}")
        raise CommandError(
            f"failed to create {what} via template {shown}: {describe_os_error(error, '')}"
        ) from None
    ctx.print(name)
    return 0


def _choose_directory(ctx: CommandContext, args: Arguments, template: str) -> str | None:
    """Return the directory that the template is relative to; None for the current one."""
    given = bool(args.operands)
    directory = args.value(args.last("p", "tmpdir") or "p")
    tmpdir = ctx.env.get("TMPDIR") or ""
    if args.flag("t"):
        if "/" in template:
            raise CommandError(f"invalid template, {quote(template)}, contains directory separator")
        return tmpdir or directory or "/tmp"
    if directory is None and given:
        return None
    if given and template.startswith("/"):
        raise CommandError(
            f"invalid template, {quote(template)}; with --tmpdir, it may not be absolute"
        )
    return directory or tmpdir or "/tmp"


def _split(template: str, suffix: str | None) -> tuple[str, str, int]:
    """Return (template up to its last X, suffix, number of X)."""
    if suffix is None:
        cut = template.rfind("X") + 1
        suffix = template[cut:] if cut else ""
        shown = template
        template = template[:cut] if cut else template
    else:
        if not template.endswith("X"):
            raise CommandError(f"with --suffix, template {quote(template)} must end in X")
        shown = template + suffix
    if "/" in suffix:
        raise CommandError(f"invalid suffix {quote(suffix)}, contains directory separator")
    count = len(template) - len(template.rstrip("X"))
    if count < 3:
        raise CommandError(f"too few X's in template {quote(shown)}")
    return template, suffix, count


def _make(ctx: CommandContext, stem: str, count: int, suffix: str, what: str, *, dry: bool) -> str:
    for _ in range(_ATTEMPTS):
        ctx.budget.step()
        ctx.budget.charge(count * 4)
        name = stem + "".join(ctx.host.random.choices(_LETTERS, k=count)) + suffix
        path = ctx.path(name)
        try:
            ctx.fs.stat(path, follow=False)
            continue
        except FileNotFoundError:
            if dry:
                return name
        if what == "directory":
            ctx.fs.mkdir(path, 0o700 & ~ctx.umask)
        else:
            ctx.fs.open(path, "x", permissions=0o600 & ~ctx.umask).release()
        return name
    raise FileExistsError(17, "File exists")
